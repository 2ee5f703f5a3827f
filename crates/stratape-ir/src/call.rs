//! Calls of functions the compiler does not look into, and copies of memory on the tape for them.

use super::{Opaque, Place, SourceId, StmtId, ValueId};

/// What is passed to a function.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value.
    Value(ValueId),
    /// A slice.
    Slice(Slice),
}

/// A list in memory, or a part of it.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The list.
    pub place: Place,
    /// Start and length of the part.
    pub part: Option<(ValueId, ValueId)>,
    /// Whether it is passed as `&mut`.
    pub mutable: bool,
}

impl Slice {
    /// Calls `f` with each operand, to be changed in place.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        self.place.for_each_operand_mut(f);
        if let Some((start, len)) = &mut self.part {
            f(start);
            f(len);
        }
    }
}

/// What [`Call::recursion`] names in calls that act outside of the program: they send, receive, read or write what no parameter holds.
pub const OUTSIDE: &str = "outside";

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its number, if it has one.
    pub id: StmtId,
    /// The function.
    pub function: Opaque,
    /// What it is passed.
    pub arguments: Vec<Argument>,
    /// What it returns: nothing, a value, or a tuple of values.
    pub results: Vec<ValueId>,
    /// The function that propagates adjoints through it; none if it has no derivative.
    pub pullback: Option<Opaque>,
    /// For a function that is emitted as two halves: its name ([`OUTSIDE`], if it acts there), and which half of it is called.
    pub recursion: Option<(String, Half)>,
    /// The source it comes from.
    pub span: SourceId,
}

/// A half of a function that is emitted as two: one leaves records on the tape, the other takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Runs the function, and pushes.
    Forward,
    /// Propagates its adjoints, and pops.
    Backward,
}

impl Call {
    /// The results whose adjoints its pullback is given: the only one, or those of several that are floats.
    pub fn seeded(&self, is_float: impl Fn(ValueId) -> bool) -> Vec<ValueId> {
        seeded(&self.results, is_float)
    }

    /// Whether it acts outside of the program. What it is passed may influence results elsewhere, and what it returns may depend on inputs
    /// elsewhere.
    pub fn acts_outside(&self) -> bool {
        self.recursion.as_ref().is_some_and(|(name, _)| name == OUTSIDE)
    }

    /// The slices it is passed.
    pub fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Slice(slice) => Some(slice),
            Argument::Value(_) => None,
        })
    }

    /// Calls `f` with each operand, to be changed in place.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        for argument in &mut self.arguments {
            match argument {
                Argument::Value(value) => f(value),
                Argument::Slice(slice) => slice.for_each_operand_mut(f),
            }
        }
    }
}

/// The results of a function whose adjoints its gradient is given: the only one, or those of several that are floats.
pub fn seeded(results: &[ValueId], is_float: impl Fn(ValueId) -> bool) -> Vec<ValueId> {
    match results {
        [one] => vec![*one],
        many => many.iter().copied().filter(|value| is_float(*value)).collect(),
    }
}
