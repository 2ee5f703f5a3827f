//! Statements, loops and branches.

use super::{
    Atomic, Barrier, Call, Init, ObjectId, Op, Opaque, Place, RecordId, Schedule, Shuffle, Slice,
    SourceId, StmtId, ValueId,
};

/// A condition that must hold, or the program panics as the primal does.
#[derive(Clone, Debug)]
pub enum Check {
    /// A user's assertion: when the condition is false, the tokens run and panic. Values the
    /// tokens mention are passed by name. Or something to be printed: then the program goes on.
    Assert {
        /// What must hold.
        condition: ValueId,
        /// The macro to run instead, complete.
        otherwise: Opaque,
        /// Names of values the tokens use, and what they stand for.
        names: Vec<(String, ValueId)>,
        /// Names of objects the tokens use, and what they stand for.
        objects: Vec<(String, ObjectId)>,
        /// Whether the tokens print something, and do not panic.
        prints: bool,
    },
    /// `index < len`
    Bounds {
        /// The index.
        index: ValueId,
        /// The length of the slice.
        len: ValueId,
    },
    /// `from <= to && to <= len`
    Range {
        /// Start of the range.
        from: ValueId,
        /// End of the range.
        to: ValueId,
        /// The length of the slice.
        len: ValueId,
    },
    /// Any other condition the standard library asserts, with its message.
    Library {
        /// What must hold.
        condition: ValueId,
        /// The message of the panic.
        message: String,
    },
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Defines a value.
    Let {
        /// The value.
        value: ValueId,
        /// Where it comes from.
        op: Op,
    },
    /// Writes one value to memory.
    Store {
        /// Where to.
        place: Place,
        /// The value.
        value: ValueId,
    },
    /// `place += value`, or `-=`
    Accumulate {
        /// Where to.
        place: Place,
        /// What is added.
        value: ValueId,
        /// Whether it is subtracted instead.
        subtract: bool,
    },
    /// Makes a local object.
    New {
        /// The object.
        object: ObjectId,
        /// Its contents.
        init: Init,
    },
    /// Exchanges two lists, their lengths included. Nothing is copied.
    Swap {
        /// One list: an object, a field, or an element of a list of lists.
        a: Place,
        /// The other, of the same type.
        b: Place,
    },
    /// A loop.
    Loop(Box<Loop>),
    /// A branch.
    If(Box<If>),
    /// A check.
    Check {
        /// What is checked.
        check: Check,
        /// The source it comes from.
        span: SourceId,
    },
    /// Writes a record to the tape.
    Push {
        /// The kind of record.
        record: RecordId,
        /// Its values, in the order of its slots.
        values: Vec<ValueId>,
    },
    /// A call of a function the compiler does not look into.
    Call(Box<Call>),
    /// Writes a copy of a slice to the tape, as a record of its own. A part that does not lie in the list is nothing.
    Save {
        /// The kind of record.
        record: RecordId,
        /// What is copied.
        slice: Slice,
    },
    /// Makes a local object, a `Vec`, of a copy on the tape.
    Restore {
        /// The kind of record.
        record: RecordId,
        /// The object.
        object: ObjectId,
    },
    /// Puts a copy on the tape back to where in a list it was taken from, or to the same part of a list of the same length.
    Refill {
        /// The kind of record.
        record: RecordId,
        /// The list.
        place: Place,
    },
    /// An atomic operation of a kernel.
    Atomic(Box<Atomic>),
    /// A barrier of a kernel.
    Barrier(Box<Barrier>),
    /// An exchange inside a warp.
    Shuffle(Box<Shuffle>),
    /// Takes a record from the tape.
    Pop {
        /// The kind of record.
        record: RecordId,
        /// The values it defines, in the order of its slots.
        values: Vec<ValueId>,
    },
}

/// A list of statements, executed in order.
pub type Block = Vec<Stmt>;

/// How often a loop runs.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// For each integer from `from` up to `to`, exclusive.
    UpTo {
        /// First number.
        from: ValueId,
        /// End, exclusive.
        to: ValueId,
    },
    /// Until `exit` is true; the counter counts from 0.
    Forever,
}

/// A value that changes from one iteration to the next.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// What enters the first iteration.
    pub init: ValueId,
    /// What an iteration sees.
    pub inside: ValueId,
    /// What it hands on.
    pub next: ValueId,
    /// What the loop leaves.
    pub after: ValueId,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The number of the iteration.
    pub counter: ValueId,
    /// The numbers it takes.
    pub range: Range,
    /// Whether they are taken from the greatest down.
    pub reversed: bool,
    /// Whether the iterations may run in any order, and sums of adjoints be reassociated.
    pub unordered: bool,
    /// Values that change.
    pub carried: Vec<Carried>,
    /// Ends the loop after an iteration that computes it as true.
    pub exit: Option<ValueId>,
    /// The number of iterations that were run, as `usize`.
    pub trips: Option<ValueId>,
    /// Whether its iterations can be run in parallel.
    pub parallel: Option<Parallel>,
    /// How it runs, once it is lowered.
    pub schedule: Option<Box<Schedule>>,
    /// What is run.
    pub body: Block,
    /// The source it comes from.
    pub span: SourceId,
}

impl Loop {
    /// A loop over a range that carries nothing.
    pub fn over(
        counter: ValueId,
        (from, to): (ValueId, ValueId),
        body: Block,
        span: SourceId,
    ) -> Self {
        Self {
            counter,
            range: Range::UpTo { from, to },
            reversed: false,
            unordered: false,
            carried: Vec::new(),
            exit: None,
            trips: None,
            parallel: None,
            schedule: None,
            body,
            span,
        }
    }

    /// Whether it runs through a range, to its end, on one thread.
    pub fn is_plain(&self) -> bool {
        matches!(self.range, Range::UpTo { .. })
            && self.exit.is_none()
            && self.trips.is_none()
            && self.parallel.is_none()
    }
}

/// The mark of a loop whose iterations are independent.
#[derive(Clone, Copy, Debug)]
pub struct Parallel {
    /// The loop of the primal it belongs to: the same in both halves of a gradient.
    pub number: u32,
    /// The fewest iterations that are worth a part of their own.
    pub grain: usize,
    /// Where it was asked for.
    pub span: SourceId,
}

/// A value taken from the block that ran.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    /// The value.
    pub value: ValueId,
    /// What it is after the first block.
    pub then: ValueId,
    /// What it is after the second.
    pub other: ValueId,
}

impl Stmt {
    /// A branch that a pass makes, and that yields nothing.
    pub fn branch(condition: ValueId, then: Block, other: Block) -> Self {
        let (id, merges, span) = (StmtId::NONE, Vec::new(), SourceId::NONE);
        Self::If(Box::new(If { id, condition, then, other, merges, span }))
    }
}

/// A branch.
#[derive(Clone, Debug)]
pub struct If {
    /// Its number, if it has one.
    pub id: StmtId,
    /// The condition.
    pub condition: ValueId,
    /// Run when it is true.
    pub then: Block,
    /// Run when it is false.
    pub other: Block,
    /// Values taken from the block that ran.
    pub merges: Vec<Merge>,
    /// The source it comes from.
    pub span: SourceId,
}
