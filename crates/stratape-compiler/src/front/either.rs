//! References to one of several places: which of them, shows when the program runs.
//!
//! `if c { &a } else { &b }` is a place that is `a` where `c` holds, and `b` elsewhere. What is done with it is done in a branch. A variable that
//! holds now one reference, now another (`std::mem::swap(&mut current, &mut next)`) carries the number of the one it holds.

use proc_macro2::Span;
use syn::Result;

use super::join::Joiner;
use super::later::Pointer;
use super::val::{LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Compare, ValueId, made};

impl<'m> Lowerer<'m> {
    /// Does something with whichever of two places it is.
    pub(super) fn with_either(
        &mut self,
        condition: ValueId,
        (a, b): (&LValue, &LValue),
        span: Span,
        f: &mut dyn FnMut(&mut Self, &LValue) -> Result<Val>,
    ) -> Result<Val> {
        // Both arms are lowered by the same closure, in turn.
        let f = std::cell::RefCell::new(f);
        self.branch(condition, span, |me| (*f.borrow_mut())(me, a), |me| (*f.borrow_mut())(me, b))
    }

    /// A part of whichever of two places it is.
    pub(super) fn part_of_either(
        &mut self,
        condition: ValueId,
        (a, b): (&LValue, &LValue),
        f: &mut dyn FnMut(&mut Self, &LValue) -> Result<LValue>,
    ) -> Result<LValue> {
        let (a, b) = (f(self, a)?, f(self, b)?);
        Ok(LValue::Either(condition, Box::new(a), Box::new(b)))
    }

    /// What a variable refers to that holds one of several references.
    pub(super) fn among(
        &mut self,
        which: ValueId,
        slots: &[Pointer],
        span: Span,
    ) -> Result<LValue> {
        if let Some(stratape_ir::Op::Int(known)) = self.b.constant(which)
            && let Some(slot) = slots.get(usize::try_from(*known).unwrap_or(0))
        {
            return self.target_of(slot, span);
        }
        let mut target = None;
        for (number, slot) in slots.iter().enumerate().rev() {
            let place = self.target_of(slot, span)?;
            target = Some(match target {
                None => place,
                Some(others) => {
                    let number = self.b.usize(number, span);
                    let is = self.b.compare(Compare::Eq, which, number, span);
                    LValue::Either(is, Box::new(place), Box::new(others))
                }
            });
        }
        target.ok_or_else(|| syn::Error::new(span, "what this refers to is not known"))
    }

    /// The one of two places that is as good as both for what does not depend on which it is: their types.
    pub(super) fn representative(lv: &LValue) -> &LValue {
        match lv {
            LValue::Either(_, a, _) => Self::representative(a),
            lv => lv,
        }
    }
}

impl Joiner<'_> {
    /// One reference from those of the two arms.
    pub(super) fn either(
        &mut self,
        lower: &mut Lowerer<'_>,
        condition: ValueId,
        a: &LValue,
        b: &LValue,
    ) -> Result<Val> {
        let a = self.handed_out(lower, a, true)?;
        let b = self.handed_out(lower, b, false)?;
        Ok(Val::Ref(LValue::Either(condition, Box::new(a), Box::new(b))))
    }

    /// A place that an arm refers to, for use behind the branch.
    pub(super) fn handed_out(
        &mut self,
        lower: &mut Lowerer<'_>,
        lv: &LValue,
        from_then: bool,
    ) -> Result<LValue> {
        Ok(match lv {
            LValue::Memory(memory) => {
                LValue::Memory(self.handed_out_memory(lower, memory, from_then)?)
            }
            LValue::Parts(kind, parts) => {
                let parts = parts.iter().map(|part| self.handed_out(lower, part, from_then));
                LValue::Parts(kind.clone(), parts.collect::<Result<_>>()?)
            }
            LValue::Either(condition, a, b) => {
                let condition = self.alone(lower, Val::Scalar(*condition), from_then)?;
                let condition = lower.scalar(condition, self.span)?;
                let a = self.handed_out(lower, a, from_then)?;
                let b = self.handed_out(lower, b, from_then)?;
                LValue::Either(condition, Box::new(a), Box::new(b))
            }
            LValue::Value(val) => {
                LValue::Value(Box::new(self.alone(lower, (**val).clone(), from_then)?))
            }
            lv => lv.clone(),
        })
    }

    pub(super) fn handed_out_memory(
        &mut self,
        lower: &mut Lowerer<'_>,
        memory: &Memory,
        from_then: bool,
    ) -> Result<Memory> {
        let block = if from_then { &*self.then } else { &*self.other };
        if made(block).contains(&memory.place.object) {
            return Err(unsupported(
                self.span,
                "a reference to what a branch makes",
                "make it before the branch",
            ));
        }
        self.alone_in_place(lower, memory, from_then)
    }
}
