//! Types: operands and results have the types that operations ask for.
//!
//! A constant that the front could not give a type ([`Scalar::Infer`]) fits everywhere.

use super::Fault;
use crate::{
    Argument, Binary, Check, Function, Init, Int, Loop, Math, Op, Place, Range, RecordId, Scalar,
    Slice, Step, Stmt, Type, Unary, ValueId, walk,
};

pub(super) fn check(function: &Function) -> Result<(), Fault> {
    let types = Types { function };
    let mut fault = Ok(());
    walk(&function.body, &mut |node| {
        if fault.is_ok() {
            fault = types.node(node);
        }
    });
    fault
}

/// Whether two types may be one.
fn agree(a: Scalar, b: Scalar) -> bool {
    a == b || matches!(a, Scalar::Infer(_)) || matches!(b, Scalar::Infer(_))
}

fn is_int(ty: Scalar) -> bool {
    matches!(ty, Scalar::Int(_) | Scalar::Infer(_))
}

fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::Float(_) | Scalar::Infer(_))
}

struct Types<'a> {
    function: &'a Function,
}

impl Types<'_> {
    fn ty(&self, value: ValueId) -> Scalar {
        self.function.ty(value)
    }

    fn require(&self, holds: bool, node: &dyn std::fmt::Debug) -> Result<(), Fault> {
        if holds {
            return Ok(());
        }
        let mut text = format!("{node:?}");
        if text.len() > 200 {
            let end = (0..=200).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
        }
        Err(Fault::new("types", format!("operands do not fit: {text}")))
    }

    fn agree(&self, a: ValueId, b: ValueId) -> bool {
        agree(self.ty(a), self.ty(b))
    }

    fn is(&self, value: ValueId, ty: Scalar) -> bool {
        agree(self.ty(value), ty)
    }

    /// The type of the one value that a place holds.
    fn held(&self, place: &Place) -> Option<Scalar> {
        let indices = place.path.iter().all(|step| match step {
            Step::Index(index) => self.is(*index, Scalar::USIZE),
            Step::Field(_) => true,
        });
        self.function.place_type(place).and_then(Type::scalar).filter(|_| indices)
    }

    fn node(&self, node: &Stmt) -> Result<(), Fault> {
        match node {
            Stmt::Let { value, op } => self.require(self.op(op, self.ty(*value)), node),
            Stmt::Store { place, value } => {
                let fits = self.held(place).is_some_and(|held| self.is(*value, held));
                self.require(fits, node)
            }
            Stmt::Accumulate { place, value, .. } => {
                let fits = self
                    .held(place)
                    .is_some_and(|held| self.is(*value, held) && held != Scalar::Bool);
                self.require(fits, node)
            }
            Stmt::New { object, init } => {
                let ty = &self.function.objects[object.index()].ty;
                self.require(self.init(init, ty), node)
            }
            Stmt::Loop(node) => self.repeat(node),
            Stmt::If(branch) => {
                let merges = branch.merges.iter().all(|merge| {
                    self.agree(merge.value, merge.then) && self.agree(merge.value, merge.other)
                });
                let condition = self.is(branch.condition, Scalar::Bool);
                self.require(merges && condition, &(branch.condition, &branch.merges))
            }
            Stmt::Check { check, .. } => {
                let fits = match check {
                    Check::Assert { condition, .. } | Check::Library { condition, .. } => {
                        self.is(*condition, Scalar::Bool)
                    }
                    Check::Bounds { index, len } => {
                        self.is(*index, Scalar::USIZE) && self.is(*len, Scalar::USIZE)
                    }
                    Check::Range { from, to, len } => {
                        [from, to, len].iter().all(|value| self.is(**value, Scalar::USIZE))
                    }
                };
                self.require(fits, node)
            }
            Stmt::Push { record, values } => self.require(self.slots(*record, values), node),
            Stmt::Pop { record, values } => self.require(self.slots(*record, values), node),
            Stmt::Call(call) => {
                let fits = call.arguments.iter().all(|argument| match argument {
                    Argument::Value(_) => true,
                    Argument::Slice(slice) => self.slice(slice).is_some(),
                });
                self.require(fits, node)
            }
            Stmt::Save { slice, .. } => self.require(self.slice(slice).is_some(), node),
            Stmt::Restore { object, .. } => {
                let ty = &self.function.objects[object.index()].ty;
                self.require(matches!(ty, Type::Vec(_)), node)
            }
        }
    }

    fn slots(&self, record: RecordId, values: &[ValueId]) -> bool {
        let types = &self.function.records[record.index()].types;
        types.len() == values.len()
            && values.iter().zip(types).all(|(value, ty)| self.is(*value, *ty))
    }

    /// The elements of a slice.
    fn slice(&self, slice: &Slice) -> Option<&Type> {
        let part = slice.part.is_none_or(|(start, len)| {
            self.is(start, Scalar::USIZE) && self.is(len, Scalar::USIZE)
        });
        self.function.place_type(&slice.place)?.element().filter(|_| part)
    }

    fn repeat(&self, node: &Loop) -> Result<(), Fault> {
        let counter = self.ty(node.counter);
        let range = match node.range {
            Range::UpTo { from, to } => {
                is_int(counter) && self.is(from, counter) && self.is(to, counter)
            }
            Range::Forever => agree(counter, Scalar::USIZE) && !node.reversed,
        };
        let carried = node.carried.iter().all(|carried| {
            let ends = [carried.init, carried.next, carried.after];
            ends.iter().all(|value| self.agree(*value, carried.inside))
        });
        let exit = node.exit.is_none_or(|exit| self.is(exit, Scalar::Bool));
        let trips = node.trips.is_none_or(|trips| self.is(trips, Scalar::USIZE));
        let what = (node.counter, node.range, &node.carried, node.exit, node.trips);
        self.require(range && carried && exit && trips, &what)
    }

    fn init(&self, init: &Init, ty: &Type) -> bool {
        match init {
            Init::Items(items) => match ty {
                Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => {
                    items.iter().all(|one| self.init(one, item))
                }
                _ => items
                    .iter()
                    .enumerate()
                    .all(|(at, one)| ty.field(at).is_some_and(|field| self.init(one, field))),
            },
            Init::Value(value) => ty.scalar().is_some_and(|scalar| self.is(*value, scalar)),
            Init::Fill(item) => {
                matches!(ty, Type::Array(inner, _) if self.init(item, inner))
            }
            Init::Repeat(item, len) => {
                self.is(*len, Scalar::USIZE)
                    && ty.element().is_some_and(|inner| self.init(item, inner))
            }
            Init::Copy(place) => self.function.place_type(place).is_some(),
            Init::ZeroLike(_) => true,
        }
    }

    fn op(&self, op: &Op, ty: Scalar) -> bool {
        let same = |a: &ValueId, b: &ValueId| self.agree(*a, *b) && self.is(*a, ty);
        match op {
            Op::Float(..) => is_float(ty),
            Op::Int(_) => is_int(ty),
            Op::Bool(_) => agree(ty, Scalar::Bool),
            Op::Const(_) => true,
            Op::Unary(Unary::Neg, a) => self.is(*a, ty) && ty != Scalar::Bool,
            Op::Unary(Unary::Not, a) => self.is(*a, ty) && !matches!(ty, Scalar::Float(_)),
            Op::Binary(Binary::Shl | Binary::Shr, a, b) => {
                self.is(*a, ty) && is_int(ty) && is_int(self.ty(*b))
            }
            Op::Binary(Binary::BitAnd | Binary::BitOr | Binary::BitXor, a, b) => {
                same(a, b) && !matches!(ty, Scalar::Float(_))
            }
            Op::Binary(_, a, b) => same(a, b) && ty != Scalar::Bool,
            Op::Compare(_, a, b) => self.agree(*a, *b) && agree(ty, Scalar::Bool),
            Op::TotalCmp { a, b, .. } => {
                self.agree(*a, *b) && is_float(self.ty(*a)) && agree(ty, Scalar::Bool)
            }
            Op::Math(Math::Powi, args) => {
                let [a, n] = args[..] else { return false };
                is_float(ty) && self.is(a, ty) && self.is(n, Scalar::Int(Int::I32))
            }
            Op::Math(function, args) => {
                is_float(ty)
                    && args.len() == function.arity()
                    && args.iter().all(|arg| self.is(*arg, ty))
            }
            Op::Method(name, args) => match args.first() {
                None => false,
                Some(_) if name.starts_with("is_") => agree(ty, Scalar::Bool),
                Some(first) if name.starts_with("saturating_") || name.starts_with("wrapping_") => {
                    self.is(*first, ty)
                }
                Some(_) => true,
            },
            Op::Cast(_, to) => agree(ty, *to),
            Op::Select(c, a, b) => self.is(*c, Scalar::Bool) && same(a, b),
            Op::Load(place) => self.held(place).is_some_and(|held| agree(held, ty)),
            Op::Len(place) => {
                let list = self.function.place_type(place);
                list.is_some_and(|list| list.element().is_some()) && agree(ty, Scalar::USIZE)
            }
        }
    }
}
