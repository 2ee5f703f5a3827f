//! The intermediate language: structured control flow over scalar values and memory.
//!
//! # Values
//! A [`ValueId`] names one scalar, defined once: by a [`Node::Let`], as a loop's counter or carried
//! value, as a merge of an `if`, as a parameter. It is visible from its definition to the end of the
//! block that holds it, and in the blocks inside. Operations have no side effect; some can panic
//! (integer arithmetic, indexing), exactly as the same operation in Rust.
//!
//! # Memory
//! An [`ObjectId`] names an array, slice, `Vec`, struct or tuple: a parameter, or a local made by
//! [`Node::New`], which lives to the end of its block. Objects never overlap. A [`Place`] is a
//! path into an object down to one value or to a part of it. Slices of slices, iterators and references
//! have been resolved by the front to places of their base object, so that two accesses can be
//! compared by their objects and indices alone.
//!
//! # Control flow
//! A block is a list of nodes, executed in order. A [`Loop`] runs its body for each number of
//! a range, or until told to stop; values that change from one iteration to the next are *carried*:
//! `init` enters the first iteration as `inside`, each iteration hands `next` to the following, and
//! the loop leaves `after` (equal to `init` when it ran zero times). If `exit` is given and true at the
//! end of an iteration, the loop ends. An [`If`] runs one of two blocks, and each [`Merge`] takes
//! its value from the one that ran. There is no other jump: `break`, `continue` and `return` have become
//! conditions.
//!
//! A loop marked [`Parallel`] has iterations that do not wait for each other: what one writes no other reads or
//! writes, and nothing is carried but sums. The mark changes nothing of what the loop computes. A back
//! end may run parts of the range side by side, each part in order; records pushed by a part must be popped
//! by the same part of the loop with the same mark in the other half. The interpreter runs it as any loop.
//!
//! # The tape
//! A gradient is a function of the same language. [`Node::Push`] writes the values of one record,
//! [`Node::Pop`] defines values from it; both name the [`RecordId`], and the pops of a run meet the
//! pushes in reverse order.

mod build;
mod call;
mod check;
mod checkpoint;
mod copy;
mod op;
mod print;
mod types;
mod visit;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proc_macro2::{Span, TokenStream};

pub use self::build::Builder;
pub use self::call::{Argument, Call, Half, Slice, seeded};
pub use self::check::{check, check_definitions, check_halves};
pub use self::checkpoint::Checkpoint;
pub use self::copy::copy;
pub use self::op::{Binary, Compare, Math, Op, Unary};
pub use self::types::{Extent, Float, Int, Scalar, Struct, Type};
pub use self::visit::{Substitution, defined, made, used, walk};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the function's list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A scalar, defined once.
    ValueId "%"
);
id!(
    /// A piece of memory.
    ObjectId "@"
);
id!(
    /// A kind of record on the tape.
    RecordId "#"
);

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Scalar,
    /// The variable it was bound to, if any.
    pub name: Option<String>,
    /// Whether it is an adjoint: its last bits are free, sums may be reordered.
    pub adjoint: bool,
    /// The source it comes from.
    pub span: Span,
}

/// How an object came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A parameter behind `&`.
    Shared,
    /// A parameter behind `&mut`.
    Exclusive,
    /// A parameter passed by value.
    Owned,
    /// A local.
    Local,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub origin: Origin,
    /// The variable it was bound to.
    pub name: String,
    /// The object whose adjoint this one holds.
    pub shadow_of: Option<ObjectId>,
    /// The source it comes from.
    pub span: Span,
}

/// One step of a path into an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// An element.
    Index(ValueId),
    /// A field of a struct or tuple, by position.
    Field(usize),
}

/// A path into an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// The way in.
    pub path: Vec<Step>,
}

impl Place {
    /// The whole object.
    pub fn whole(object: ObjectId) -> Self {
        Self { object, path: Vec::new() }
    }

    /// The place one step further in.
    pub fn with(&self, step: Step) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { object: self.object, path }
    }

    /// The same path in another object.
    pub fn of(&self, object: ObjectId) -> Self {
        Self { object, path: self.path.clone() }
    }

    /// Calls `f` with each index.
    pub fn for_each_operand(&self, f: &mut dyn FnMut(ValueId)) {
        for step in &self.path {
            if let Step::Index(index) = step {
                f(*index);
            }
        }
    }

    /// Calls `f` with each index, to be changed in place.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        for step in &mut self.path {
            if let Step::Index(index) = step {
                f(index);
            }
        }
    }
}

/// The first contents of an object.
#[derive(Clone, Debug)]
pub enum Init {
    /// Items in order: of an array, a tuple or a struct.
    Items(Vec<Init>),
    /// One value.
    Value(ValueId),
    /// `[item; extent]`, the extent from the type.
    Fill(Box<Init>),
    /// `vec![item; n]`
    Repeat(Box<Init>, ValueId),
    /// What another place holds.
    Copy(Place),
    /// The shape of another object, every float zero.
    ZeroLike(ObjectId),
}

/// A condition that must hold, or the program panics as the primal does.
#[derive(Clone, Debug)]
pub enum Check {
    /// A user's assertion: when the condition is false, the tokens run and panic. Values the
    /// tokens mention are passed by name.
    Assert {
        /// What must hold.
        condition: ValueId,
        /// The macro to run instead, complete.
        otherwise: TokenStream,
        /// Names of values the tokens use, and what they stand for.
        names: Vec<(String, ValueId)>,
        /// Names of objects the tokens use, and what they stand for.
        objects: Vec<(String, ObjectId)>,
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
pub enum Node {
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
    /// A loop.
    Loop(Box<Loop>),
    /// A branch.
    If(Box<If>),
    /// A check.
    Check {
        /// What is checked.
        check: Check,
        /// The source it comes from.
        span: Span,
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
    /// Writes a copy of a slice to the tape, as a record of its own.
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
    /// Takes a record from the tape.
    Pop {
        /// The kind of record.
        record: RecordId,
        /// The values it defines, in the order of its slots.
        values: Vec<ValueId>,
    },
}

/// A list of nodes, executed in order.
pub type Block = Vec<Node>;

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
    /// Whether the order does not matter: sums of adjoints may be reassociated.
    pub unordered: bool,
    /// Values that change.
    pub carried: Vec<Carried>,
    /// Ends the loop after an iteration that computes it as true.
    pub exit: Option<ValueId>,
    /// The number of iterations that were run, as `usize`.
    pub trips: Option<ValueId>,
    /// Whether its iterations can be run in parallel.
    pub parallel: Option<Parallel>,
    /// What is run.
    pub body: Block,
    /// The source it comes from.
    pub span: Span,
}

impl Loop {
    /// A loop over a range that carries nothing.
    pub fn over(counter: ValueId, (from, to): (ValueId, ValueId), body: Block, span: Span) -> Self {
        Self {
            counter,
            range: Range::UpTo { from, to },
            reversed: false,
            unordered: false,
            carried: Vec::new(),
            exit: None,
            trips: None,
            parallel: None,
            body,
            span,
        }
    }

    /// What a carried value is summed from, where its next is itself plus a term, or minus one: the term, and whether it is subtracted.
    pub fn term_of(&self, carried: &Carried) -> Option<(ValueId, bool)> {
        self.body.iter().find_map(|node| match node {
            Node::Let { value, op: Op::Binary(sign, a, b) } if *value == carried.next => match sign
            {
                Binary::Add if *a == carried.inside => Some((*b, false)),
                Binary::Add if *b == carried.inside => Some((*a, false)),
                Binary::Sub if *a == carried.inside => Some((*b, true)),
                _ => None,
            },
            _ => None,
        })
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
    pub span: Span,
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

/// A branch.
#[derive(Clone, Debug)]
pub struct If {
    /// The condition.
    pub condition: ValueId,
    /// Run when it is true.
    pub then: Block,
    /// Run when it is false.
    pub other: Block,
    /// What comes out.
    pub merges: Vec<Merge>,
    /// The source it comes from.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Param {
    /// A value.
    Value(ValueId),
    /// Memory.
    Object(ObjectId),
}

/// What is known of a kind of record.
#[derive(Clone, Debug)]
pub struct Record {
    /// The values that are saved, in the order of its slots.
    pub slots: Vec<ValueId>,
    /// The types of its slots.
    pub types: Vec<Scalar>,
}

/// What an object is a copy of: element `stride * i + offset` of another, at `i`. An index out of bounds is one of that other.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The other object.
    pub of: ObjectId,
    /// Every so many elements.
    pub stride: usize,
    /// The first of them.
    pub offset: usize,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// What it returns.
    pub results: Vec<ValueId>,
    /// Its statements.
    pub body: Block,
    /// What is known of its values.
    pub values: Vec<Value>,
    /// What is known of its objects.
    pub objects: Vec<Object>,
    /// What is known of its records.
    pub records: Vec<Record>,
    /// Local objects that are returned.
    pub kept: Vec<ObjectId>,
    /// Whether loops are to run in parallel wherever they can.
    pub parallel: bool,
    /// Local objects that are copies of every so many elements of others.
    pub fields: BTreeMap<ObjectId, Field>,
    /// Local lists whose first contents do not matter: each element is written before it is read.
    pub unfilled: BTreeSet<ObjectId>,
    /// Locals, shadows of nothing, that hold sums of adjoints: their last bits are free.
    pub sums: BTreeSet<ObjectId>,
    /// Whether nothing is to be reordered or fused: the optional passes do nothing.
    pub plain: bool,
    /// Functions it calls that call themselves.
    pub recursive: BTreeSet<String>,
    /// Loops to be reversed from snapshots, by their counters; `outline` makes functions of them.
    pub checkpoints: Vec<(ValueId, Checkpoint)>,
}

impl Function {
    /// An empty function.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            params: Vec::new(),
            results: Vec::new(),
            body: Block::new(),
            values: Vec::new(),
            objects: Vec::new(),
            records: Vec::new(),
            kept: Vec::new(),
            parallel: false,
            fields: BTreeMap::new(),
            unfilled: BTreeSet::new(),
            sums: BTreeSet::new(),
            plain: false,
            recursive: BTreeSet::new(),
            checkpoints: Vec::new(),
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Scalar {
        self.values[value.index()].ty
    }

    /// Whether an object holds adjoints: what is added to it may be added in any order.
    pub fn holds_adjoints(&self, object: ObjectId) -> bool {
        self.objects[object.index()].shadow_of.is_some() || self.sums.contains(&object)
    }

    /// A new value, not defined yet.
    pub fn new_value(&mut self, ty: Scalar, span: Span) -> ValueId {
        self.values.push(Value { ty, name: None, adjoint: false, span });
        ValueId((self.values.len() - 1) as u32)
    }

    /// A new value of the type, name and source of another.
    pub fn new_value_like(&mut self, other: ValueId) -> ValueId {
        self.values.push(self.values[other.index()].clone());
        ValueId((self.values.len() - 1) as u32)
    }

    /// A new value, defined at the end of a block.
    pub fn define(&mut self, out: &mut Block, ty: Scalar, op: Op, span: Span) -> ValueId {
        let value = self.new_value(ty, span);
        out.push(Node::Let { value, op });
        value
    }

    /// A new object.
    pub fn new_object(&mut self, object: Object) -> ObjectId {
        self.objects.push(object);
        ObjectId((self.objects.len() - 1) as u32)
    }

    /// The type of what a place holds.
    pub fn place_type(&self, place: &Place) -> Option<&Type> {
        let mut ty = &self.objects[place.object.index()].ty;
        for step in &place.path {
            ty = match step {
                Step::Index(_) => ty.element()?,
                Step::Field(index) => ty.field(*index)?,
            };
        }
        Some(ty)
    }
}
