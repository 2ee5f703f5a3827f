//! The intermediate language: structured control flow over scalar values and memory.
//!
//! # Values
//! A [`ValueId`] names one scalar, defined once: by a [`Stmt::Let`], as a loop's counter or carried
//! value, as a merge of an `if`, as a parameter. It is visible from its definition to the end of the
//! block that holds it, and in the blocks inside. Operations have no side effect; some can panic
//! (integer arithmetic, indexing), exactly as the same operation in Rust.
//!
//! # Memory
//! An [`ObjectId`] names an array, slice, `Vec`, struct or tuple: a parameter, or a local made by
//! [`Stmt::New`], which lives to the end of its block. Objects never overlap. A [`Place`] is a
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
//! A gradient is a function of the same language. [`Stmt::Push`] writes the values of one record,
//! [`Stmt::Pop`] defines values from it; both name the [`RecordId`], and the pops of a run meet the
//! pushes in reverse order.

#![forbid(unsafe_code)]

pub mod analysis;
mod build;
mod call;
mod checkpoint;
mod copy;
mod function;
mod ids;
pub mod interp;
mod module;
mod op;
mod place;
mod polynomial;
mod record;
mod schedule;
mod stmt;
pub mod text;
mod types;
pub mod valid;
mod visit;

pub use self::build::Builder;
pub use self::call::{Argument, Call, Half, Slice, seeded};
pub use self::checkpoint::Checkpoint;
pub use self::copy::copy;
pub use self::function::{Function, Object, Origin, Param, StridedCopy, Value};
pub use self::ids::{ObjectId, RecordId, SourceId, TokensId, ValueId};
pub use self::module::{Module, Position};
pub use self::op::{Binary, Compare, Math, Op, Unary};
pub use self::place::{Init, Place, Step};
pub use self::polynomial::Polynomial;
pub use self::record::{Cell, Record};
pub use self::schedule::{
    Parts, Reduction, Rotation, Schedule, Side, Simd, Split, Strip, View, Window,
};
pub use self::stmt::{Block, Carried, Check, If, Loop, Merge, Parallel, Range, Stmt};
pub use self::types::{Extent, Float, Int, Opaque, Scalar, Struct, Type};
pub use self::valid::Valid;
pub use self::visit::{Substitution, defined, made, used, walk};
