//! References where control joins: two into one object become one, whose indices depend on the way taken.

use syn::Result;

use super::Lowerer;
use super::join::Joiner;
use super::val::{LValue, Memory, Val, Window};
use stratape_ir::{Place, Step, ValueId};

/// Whether two references differ in indices alone.
pub(super) fn alike(a: &Memory, b: &Memory) -> bool {
    let steps = |place: &Place| -> Vec<Option<usize>> {
        let steps = place.path.iter().map(|step| match step {
            Step::Index(_) => None,
            Step::Field(index) => Some(*index),
        });
        steps.collect()
    };
    a.place.object == b.place.object && steps(&a.place) == steps(&b.place)
}

impl Joiner<'_> {
    fn in_block<T>(
        &mut self,
        lower: &mut Lowerer<'_>,
        in_then: bool,
        f: impl FnOnce(&mut Lowerer<'_>) -> Result<T>,
    ) -> Result<T> {
        let block = if in_then { &mut *self.then } else { &mut *self.other };
        lower.b.reopen(std::mem::take(block));
        let result = f(lower);
        let block = if in_then { &mut *self.then } else { &mut *self.other };
        *block = lower.b.close();
        result
    }

    /// Reads what is referred to at the end of an arm.
    pub(super) fn read_in(
        &mut self,
        lower: &mut Lowerer<'_>,
        lv: &LValue,
        in_then: bool,
    ) -> Result<Val> {
        let span = self.span;
        self.in_block(lower, in_then, |lower| lower.read(lv, span))
    }

    /// One reference from two that are alike.
    pub(super) fn join_references(
        &mut self,
        lower: &mut Lowerer<'_>,
        a: Memory,
        b: Memory,
    ) -> Result<Memory> {
        let window = match (a.window, b.window) {
            (None, None) if a.len.is_none() && b.len.is_none() => None,
            _ => {
                let x = self.window_in(lower, &a, true)?;
                let y = self.window_in(lower, &b, false)?;
                let start = lower.merge(x.start, y.start, &mut self.merges, self.span)?;
                let len = lower.merge(x.len, y.len, &mut self.merges, self.span)?;
                Some(Window { start, len })
            }
        };
        let ty = if a.window.is_some() { a.ty } else { b.ty };
        let mut place = Place::whole(a.place.object);
        for (a, b) in a.place.path.iter().zip(&b.place.path) {
            place = place.with(match (a, b) {
                (Step::Index(a), Step::Index(b)) => {
                    Step::Index(lower.merge(*a, *b, &mut self.merges, self.span)?)
                }
                (step, _) => step.clone(),
            });
        }
        Ok(Memory { place, ty, window, len: None })
    }

    fn window_in(
        &mut self,
        lower: &mut Lowerer<'_>,
        memory: &Memory,
        in_then: bool,
    ) -> Result<Window> {
        let span = self.span;
        match memory.window {
            Some(window) => Ok(window),
            None => self.in_block(lower, in_then, |lower| {
                let start = lower.b.usize(0, span);
                let len = lower.len_of(&LValue::Memory(memory.clone()), span)?;
                Ok(Window { start, len })
            }),
        }
    }

    /// A reference that exists only where one arm ran: its indices are zero elsewhere.
    pub(super) fn alone_in_place(
        &mut self,
        lower: &mut Lowerer<'_>,
        memory: &Memory,
        from_then: bool,
    ) -> Result<Memory> {
        let mut place = Place::whole(memory.place.object);
        for step in &memory.place.path {
            place = place.with(match step {
                Step::Index(index) => Step::Index(self.alone_index(lower, *index, from_then)?),
                step => step.clone(),
            });
        }
        let window = match memory.window {
            None => None,
            Some(Window { start, len }) => Some(Window {
                start: self.alone_index(lower, start, from_then)?,
                len: self.alone_index(lower, len, from_then)?,
            }),
        };
        Ok(Memory { place, ty: memory.ty.clone(), window, len: memory.len })
    }

    fn alone_index(
        &mut self,
        lower: &mut Lowerer<'_>,
        index: ValueId,
        from_then: bool,
    ) -> Result<ValueId> {
        let block = if from_then { &*self.then } else { &*self.other };
        if !stratape_ir::defined(block).contains(&index) {
            return Ok(index);
        }
        match self.alone(lower, Val::Scalar(index), from_then)? {
            Val::Scalar(value) => Ok(value),
            _ => Ok(index),
        }
    }
}
