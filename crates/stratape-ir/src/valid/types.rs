//! Types: operands and results have the types that operations ask for.
//!
//! A constant that the front could not give a type ([`Scalar::Infer`]) fits everywhere.

use super::Fault;
use crate::{
    Argument, Check, Function, Loop, Param, Place, Range, RecordId, Scalar, Slice, Step, Stmt,
    Type, ValueId, walk,
};

pub(super) fn check(function: &Function) -> Result<(), Fault> {
    let types = Types { function };
    types.params()?;
    types.records()?;
    let mut fault = Ok(());
    walk(&function.body, &mut |node| {
        if fault.is_ok() {
            fault = types.node(node);
        }
    });
    fault
}

/// Whether two types may be one.
pub(super) fn agree(a: Scalar, b: Scalar) -> bool {
    a == b || matches!(a, Scalar::Infer(_)) || matches!(b, Scalar::Infer(_))
}

pub(super) fn is_int(ty: Scalar) -> bool {
    matches!(ty, Scalar::Int(_) | Scalar::Infer(_))
}

pub(super) fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::Float(_) | Scalar::Infer(_))
}

pub(super) struct Types<'a> {
    pub(super) function: &'a Function,
}

impl Types<'_> {
    pub(super) fn ty(&self, value: ValueId) -> Scalar {
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

    pub(super) fn agree(&self, a: ValueId, b: ValueId) -> bool {
        agree(self.ty(a), self.ty(b))
    }

    pub(super) fn is(&self, value: ValueId, ty: Scalar) -> bool {
        agree(self.ty(value), ty)
    }

    fn params(&self) -> Result<(), Fault> {
        for param in &self.function.params {
            if let Param::Object(object) = param {
                self.require(self.shadow(*object), param)?;
            }
        }
        Ok(())
    }

    /// Whether the cells of records hold what is put there.
    fn records(&self) -> Result<(), Fault> {
        for record in &self.function.records {
            let room = record.room.as_ref();
            let region = room.and_then(|room| self.function.regions.get(room.region.index()));
            let holds = |cell: crate::Cell| cell.holds(&record.types);
            let fits = record.cell.is_none_or(holds)
                && (room.is_none() || region.is_some_and(|region| holds(region.cell)));
            self.require(fits, record)?;
        }
        Ok(())
    }

    /// The type of the one value that a place holds.
    pub(super) fn held(&self, place: &Place) -> Option<Scalar> {
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
                self.require(self.init(init, ty) && self.shadow(*object), node)
            }
            Stmt::Swap { a, b } => {
                let (first, second) = (self.function.place_type(a), self.function.place_type(b));
                let lists = first == second && matches!(first, Some(Type::Vec(_)));
                // Two fields of one object are apart; two elements may be one.
                let fields =
                    |place: &Place| place.path.iter().all(|step| matches!(step, Step::Field(_)));
                let apart = a.object != b.object || (a != b && fields(a) && fields(b));
                self.require(lists && apart, node)
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
            Stmt::Refill { place, .. } => {
                let items = self.function.place_type(place).and_then(Type::element);
                self.require(items.is_some(), node)
            }
            Stmt::Atomic(atomic) => {
                let held = self.held(&atomic.place);
                let fits = held.is_some_and(|held| {
                    self.is(atomic.value, held)
                        && held != Scalar::Bool
                        && atomic.old.is_none_or(|old| self.is(old, held))
                });
                self.require(fits, node)
            }
            Stmt::Shuffle(shuffle) => {
                let fits = self.agree(shuffle.value, shuffle.operand)
                    && self.is(shuffle.by, Scalar::USIZE);
                self.require(fits, node)
            }
            Stmt::Barrier(_) => Ok(()),
            Stmt::Restore { object, .. } => {
                let ty = &self.function.objects[object.index()].ty;
                self.require(matches!(ty, Type::Vec(_)) && self.shadow(*object), node)
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
}
