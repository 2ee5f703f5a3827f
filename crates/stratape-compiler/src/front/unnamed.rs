//! Types that what is emitted cannot name, or not as the function holds them.
//!
//! A struct of another module that the code around a gradient has no name for is met only in the text of functions that were read from elsewhere.
//! What is emitted holds it as a tuple; so it does with values of one of several variants, whose tag and fields are the parts, and with structs that
//! hold an enum, which is its number, or a `VecDeque`, which is a `Vec`, or that cannot be cloned.

use std::collections::HashSet;

use stratape_ir::{Function, Int, Origin, Scalar, Struct, Type};

use super::Items;
use super::choice::MARK;
use super::generic::base_name;

impl Items {
    /// Whether what is emitted holds a struct of the function's own as a tuple.
    fn is_unnameable(&self, def: &Struct) -> bool {
        def.name.starts_with(MARK)
            || self.unnamed.contains(base_name(&def.name))
            || self.local.contains(base_name(&def.name))
            || self.not_clone.contains(base_name(&def.name))
            || def.fields.iter().any(|(_, ty)| holds_enum(ty))
    }

    /// Whether a type holds, or is, such a struct.
    pub(super) fn holds_unnameable(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) | Type::Enum(_) => false,
            Type::Tuple(items) => items.iter().any(|ty| self.holds_unnameable(ty)),
            Type::Struct(def) => {
                self.is_unnameable(def)
                    || def.fields.iter().any(|(_, ty)| self.holds_unnameable(ty))
            }
            Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => {
                self.holds_unnameable(item)
            }
        }
    }

    /// The number of a variant of an enum that has no name here; an error's text where its numbers are no plain literals.
    pub(super) fn unnamed_variant(
        &self,
        owner: &str,
        variant: &str,
    ) -> Option<Result<isize, String>> {
        if !self.unnamed.contains(owner) {
            return None;
        }
        let number = self.discriminants.get(owner).and_then(|all| {
            let at = self.enums.get(owner)?.iter().position(|known| known == variant)?;
            all.get(at).copied()
        });
        Some(number.ok_or_else(|| {
            format!("the numbers of `{owner}` are not literals: import it where the gradient is, and name it there")
        }))
    }
}

/// The numbers of an enum's variants, if they are written as literals or not at all.
pub(super) fn discriminants(def: &syn::ItemEnum) -> Option<Vec<isize>> {
    let mut next: isize = 0;
    let mut all = Vec::new();
    for variant in &def.variants {
        if let Some((_, written)) = &variant.discriminant {
            next = literal(written)?;
        }
        all.push(next);
        next = next.checked_add(1)?;
    }
    Some(all)
}

fn literal(expr: &syn::Expr) -> Option<isize> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(lit), .. }) => lit.base10_parse().ok(),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
            literal(expr)?.checked_neg()
        }
        _ => None,
    }
}

/// Makes tuples of the structs that cannot be named here, but for those inside parameters.
pub(super) fn as_tuples(function: &mut Function, items: &Items) {
    let given = given(function);
    // Snapshots hold tuples.
    let stored = !function.checkpoints.is_empty();
    let turns = |def: &Struct| {
        (stored || items.is_unnameable(def)) && !given.contains(base_name(&def.name))
    };
    for object in function.objects.iter_mut().filter(|object| object.origin == Origin::Local) {
        object.ty = tupled(&object.ty, &turns);
    }
}

/// The structs inside parameters.
pub(super) fn given(function: &Function) -> HashSet<String> {
    let mut given = HashSet::new();
    for object in function.objects.iter().filter(|object| object.origin != Origin::Local) {
        structs(&object.ty, &mut given);
    }
    given
}

/// Whether a type is an enum without data, or holds one.
fn holds_enum(ty: &Type) -> bool {
    match ty {
        Type::Enum(_) => true,
        Type::Scalar(_) => false,
        Type::Tuple(items) => items.iter().any(holds_enum),
        Type::Struct(def) => {
            def.name.starts_with(MARK) || def.fields.iter().any(|(_, ty)| holds_enum(ty))
        }
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => holds_enum(item),
    }
}

pub(super) fn structs(ty: &Type, found: &mut HashSet<String>) {
    match ty {
        Type::Struct(def) => {
            found.insert(base_name(&def.name).to_owned());
            def.fields.iter().for_each(|(_, ty)| structs(ty, found));
        }
        Type::Tuple(items) => items.iter().for_each(|ty| structs(ty, found)),
        other => other.element().into_iter().for_each(|ty| structs(ty, found)),
    }
}

fn tupled(ty: &Type, turns: &dyn Fn(&Struct) -> bool) -> Type {
    let boxed = |item: &Type| Box::new(tupled(item, turns));
    let part = |ty: &Type| match ty {
        Type::Enum(_) => Type::Scalar(Scalar::Int(Int::Isize)),
        ty => tupled(ty, turns),
    };
    match ty {
        Type::Struct(def) if turns(def) => {
            Type::Tuple(def.fields.iter().map(|(_, ty)| part(ty)).collect())
        }
        Type::Tuple(items) => Type::Tuple(items.iter().map(part).collect()),
        Type::Array(item, extent) => Type::Array(boxed(item), extent.clone()),
        Type::Slice(item) => Type::Slice(boxed(item)),
        Type::Vec(item) => Type::Vec(boxed(item)),
        other => other.clone(),
    }
}
