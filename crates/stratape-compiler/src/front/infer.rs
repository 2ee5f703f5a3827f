//! Widths of literals: whether `0.5` is an `f32` is known only from what it meets.

use proc_macro2::Span;
use syn::Result;

use super::left_to_rustc;

use stratape_ir::{Float, Function, Int, Op, Scalar};

/// What is known of a type that is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Any,
    Float,
    Int,
}

/// Types found so far.
#[derive(Debug, Default)]
pub(super) struct Infer {
    slots: Vec<(Class, Option<Scalar>)>,
}

impl Infer {
    pub(super) fn fresh(&mut self, class: Class) -> Scalar {
        self.slots.push((class, None));
        Scalar::Infer((self.slots.len() - 1) as u32)
    }

    /// The type as far as it is known.
    pub(super) fn resolve(&self, ty: Scalar) -> Scalar {
        let mut ty = ty;
        while let Scalar::Infer(slot) = ty {
            match self.slots[slot as usize].1 {
                Some(next) => ty = next,
                None => return ty,
            }
        }
        ty
    }

    pub(super) fn class(&self, ty: Scalar) -> Option<Class> {
        match self.resolve(ty) {
            Scalar::Bool => None,
            Scalar::Int(_) => Some(Class::Int),
            Scalar::Float(_) => Some(Class::Float),
            Scalar::Infer(slot) => Some(self.slots[slot as usize].0),
        }
    }

    pub(super) fn is_float(&self, ty: Scalar) -> bool {
        self.class(ty) == Some(Class::Float)
    }

    pub(super) fn is_int(&self, ty: Scalar) -> bool {
        self.class(ty) == Some(Class::Int)
    }

    /// Makes two types one.
    pub(super) fn unify(&mut self, a: Scalar, b: Scalar, span: Span) -> Result<Scalar> {
        let (a, b) = (self.resolve(a), self.resolve(b));
        if a == b {
            return Ok(a);
        }
        let mismatch = || {
            left_to_rustc(span, format!("expected `{}`, found `{}`", self.name(a), self.name(b)))
        };
        match (a, b) {
            (Scalar::Infer(slot), known) | (known, Scalar::Infer(slot)) => {
                let class = self.slots[slot as usize].0;
                let fits = match (class, self.class(known)) {
                    (Class::Any, _) | (_, Some(Class::Any)) => true,
                    (wanted, found) => found == Some(wanted),
                };
                if !fits {
                    return Err(mismatch());
                }
                if let Scalar::Infer(other) = known
                    && self.slots[other as usize].0 == Class::Any
                {
                    self.slots[other as usize].0 = class;
                }
                self.slots[slot as usize].1 = Some(known);
                Ok(known)
            }
            _ => Err(mismatch()),
        }
    }

    fn name(&self, ty: Scalar) -> &'static str {
        match (ty, self.class(ty)) {
            (Scalar::Infer(_), Some(Class::Float)) => "a float",
            (Scalar::Infer(_), Some(Class::Int)) => "an integer",
            (ty, _) => ty.name(),
        }
    }

    /// Where nothing else decides the type of a constant that is an integer, it counts something.
    pub(super) fn assume_usize(&mut self, ty: Scalar) {
        if let Scalar::Infer(slot) = self.resolve(ty)
            && self.slots[slot as usize].0 == Class::Int
        {
            self.slots[slot as usize].1 = Some(Scalar::USIZE);
        }
    }

    /// Gives every value of a function its type; what nothing decides takes Rust's defaults.
    pub(super) fn finish(&self, function: &mut Function) {
        let last = |ty: Scalar| match self.resolve(ty) {
            Scalar::Infer(slot) => match self.slots[slot as usize].0 {
                Class::Float => Scalar::Float(Float::F64),
                Class::Int => Scalar::Int(Int::I32),
                Class::Any => ty,
            },
            known => known,
        };
        for value in &mut function.values {
            value.ty = last(value.ty);
        }
        for object in &mut function.objects {
            settle(&mut object.ty, &last);
        }
        let types: Vec<Scalar> = function.values.iter().map(|value| value.ty).collect();
        settle_casts(&mut function.body, &last, &types);
    }
}

fn settle(ty: &mut stratape_ir::Type, last: &dyn Fn(Scalar) -> Scalar) {
    use stratape_ir::Type;
    match ty {
        Type::Scalar(scalar) => *scalar = last(*scalar),
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => settle(item, last),
        Type::Tuple(items) => items.iter_mut().for_each(|item| settle(item, last)),
        Type::Struct(def) => {
            let mut settled = def.fields.clone();
            settled.iter_mut().for_each(|(_, ty)| settle(ty, last));
            if settled != def.fields {
                *def = std::sync::Arc::new(stratape_ir::Struct {
                    name: def.name.clone(),
                    fields: settled,
                    tuple: def.tuple,
                });
            }
        }
        Type::Enum(_) => {}
    }
}

/// The types of casts, and zeros of a type that was not known when they were written.
fn settle_casts(block: &mut stratape_ir::Block, last: &dyn Fn(Scalar) -> Scalar, types: &[Scalar]) {
    for node in block {
        if let stratape_ir::Stmt::Let { value, op } = node {
            match (op, types[value.index()]) {
                (Op::Cast(_, ty), _) => *ty = last(*ty),
                (op @ Op::Float(..), Scalar::Int(_)) => *op = Op::Int(0),
                (op @ Op::Float(..), Scalar::Bool) => *op = Op::Bool(false),
                _ => {}
            }
        }
        for inner in node.blocks_mut() {
            settle_casts(inner, last, types);
        }
    }
}
