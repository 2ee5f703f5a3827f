//! The validator: proves what passes and back ends rely on.
//!
//! It believes nothing that a pass claims; each rule is proved of the function as it stands, from its statements alone. A back end demands
//! the witness, [`Valid`], so that nothing else can be emitted. The driver asks after every pass in debug builds, and after the last one
//! always: a gradient that breaks a rule is not emitted.
//!
//! # Rules
//!
//! **Scope** (`scope`): every value and every object is defined once, before its uses, in a block that encloses them. Ids name something.
//! A place leads somewhere.
//!
//! **Types** (`types`): operands and results of operations have the types that the operation asks for: casts and negations that Rust has,
//! literals in the range of their type, methods on operands of one type; both sides of a store, a merge, a carried value and a record's slot agree;
//! conditions are `bool`, indices and lengths `usize`. A new object has contents of its own shape, a shadow the shape of the object it belongs to; a
//! copy or a shadow may keep a list otherwise, as a `Vec` instead of a slice. The cell of a record holds each of its slots to the bit
//! ([`Cell::holds`](crate::Cell::holds)).
//!
//! **Memory** (`memory`): an object behind `&` is not stored to, added to, passed as `&mut`, or viewed as mutable.
//!
//! **Tape** (`tape`): what a block does to the tape is read as a sequence of pushes and pops, where a loop or a branch that only pushes, or
//! only pops, counts as one item. Items that push go on a stack; an item that pops must *mirror* the top of the stack:
//! - a pop names the record of the push; the value it defines from a slot stands for the value that the push put there; a copy is restored
//!   as a list of what was saved;
//! - a loop pops as often as its mirror has pushed, in the opposite direction: the ends of the two ranges are the same numbers, or the
//!   range has the length that the other counted;
//! - it runs like its mirror: in parts if that does, with the same number and grain where both are marked, and with its records in the same region, if
//!   that has one, from which a layer is streamed if it was streamed there;
//! - a branch pops under the same condition, its arms mirror the other's arms;
//! - their blocks mirror each other, last to first.
//!
//! At the end of the function the stack is empty. Two values are the same number if they are one value, if one restores the other from a
//! record, or if they are computed by the same operation from the same numbers; counters of loops that mirror each other over the same range are
//! the same. Two loads of one place are the same number only if no write may come between them ([`Changes`](crate::analysis::Changes)): a
//! store, an addition or a call that may hit that place later than the first load and before the second. Where the two halves are two functions,
//! their callers may write anything in between, and no load of one is a load of the other.
//!
//! **Order** (`order`): a loop that is marked unordered may run in any order ([`is_reorderable`]).
//!
//! **Parallel loops** (`parallel`): a loop that is marked has independent iterations ([`is_independent`]): what one writes no other reads or
//! writes, up to additions to memory of adjoints, and nothing is carried but sums of floats.
//!
//! **Schedules** (`schedule`):
//! - *Regions.* What is pushed or popped in a loop with a region lies in that region, whose loop uses the tape for nothing else; what lies in a region is
//!   pushed and popped in its loops alone. Each instance of a record has cells of its own in the frame, shared at most with what the other arm of a branch
//!   leaves. Inner loops with records run as often each time. A layer that is streamed out is streamed in.
//! - *Strips.* Every iteration accesses the first and the last
//!   element that a view has for it, so that slicing it panics only where an access would. A loop with views holds no check but those that
//!   can be asked for all iterations before the first: it would come
//!   after views that are sliced early. An object that is written has one view, which is mutable, and every access to the object in the loop goes
//!   through it; other views are not written through. The sides of a split are those that the accesses prove
//!   ([`Split::find`](crate::Split::find)): the pivot is seen through a mutable view, others through views of the other side or not at all.
//! - *Blocks.* A loop in blocks has the reductions, rotations and delayed additions that its schedule lists, and no statement that a block cannot hold. A
//!   reduction is reassociated only if what is carried is an adjoint inside the loop, at the end of an iteration, and after the loop. An object to
//!   which an addition waits is neither read nor stored to in the block, but for the other side of a split. If it belongs to the
//!   primal, no element is added to by two iterations, additions of one iteration to one element arrive in their order, and each rotates alone.
//! - *Parts.* A loop in parts touches memory as its clauses say: each object has one at most; what has none is only read; a window is the one that the
//!   accesses prove, whatever they do; what is private holds adjoints and is only added to; what is carried are sums of adjoints.
//!
//! **Kernels** (`kernel`): only a kernel has builtins, barriers, atomic operations, exchanges and shared memory. It returns nothing, calls nothing, and saves no lists.
//! Shared objects are made at its top, with lengths that all threads agree on ([`Uniform`](crate::analysis::Uniform)). A barrier names all memory that threads share
//! and may write; it and what a block combines stand under conditions and in loops on which the threads of a block agree.
//!
//! Sums of the primal keep their order.
//!
//! # What is not proved
//!
//! That the arithmetic of a gradient is right: that its adjoints are those of the program. That a view which does not fit panics with the message of the
//! access, and before or after other panics of the same iterations (of integers, of indices that no view covers): checks alone are ruled
//! out. That integers do not wrap: polynomials of indices and bounds are those without overflow, as in debug builds. That memory of a
//! list marked [`unfilled`](crate::Function::unfilled) is written before it is read, and that a
//! [strided copy](crate::Function::strided_copies) holds what it is said to. That functions that are called keep to what they are passed.

mod conditions;
mod contents;
mod kernel;
mod memory;
mod operands;
mod same;
mod schedule;
mod scope;
mod tape;
mod types;

use std::error::Error;
use std::fmt;

use crate::analysis::{Affine, DefUse, is_independent, is_reorderable};
use crate::{Function, Half, Loop, Stmt, walk};

/// A rule that is broken: a fault of the compiler, never of its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Self { rule, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.message)
    }
}

impl Error for Fault {}

/// A function that keeps the rules: what back ends take.
///
/// ```
/// use stratape_ir::{Function, valid};
///
/// let function = Function::new("nothing");
/// let valid = valid::validate(&function)?;
/// assert_eq!(valid.function().name, "nothing");
/// # Ok::<(), valid::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Valid<'a> {
    function: &'a Function,
}

impl<'a> Valid<'a> {
    /// The function.
    pub fn function(self) -> &'a Function {
        self.function
    }
}

/// Validates a function that leaves nothing on the tape.
///
/// # Errors
/// The first rule that is broken.
pub fn validate(function: &Function) -> Result<Valid<'_>, Fault> {
    validate_open(function)?;
    tape::balanced(function)?;
    Ok(Valid { function })
}

/// Validates a function that may leave something on the tape, which whoever runs it drops, and takes nothing from it: the forward half alone.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_forward(function: &Function) -> Result<Valid<'_>, Fault> {
    validate_open(function)?;
    if function.body.iter().any(|node| node.uses_tape(Half::Backward)) {
        return Err(Fault::new("tape", "a forward half pops"));
    }
    Ok(Valid { function })
}

/// Validates the two halves of a function: what the first leaves on the tape is what the second takes.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_halves<'a>(
    forward: &'a Function,
    backward: &'a Function,
) -> Result<(Valid<'a>, Valid<'a>), Fault> {
    validate_open(forward)?;
    validate_open(backward)?;
    tape::mirrored(forward, backward)?;
    Ok((Valid { function: forward }, Valid { function: backward }))
}

/// Validates all of a function but what it leaves on the tape, or takes from it: half of a gradient.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_open(function: &Function) -> Result<(), Fault> {
    validate_asked(function)?;
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    loops(function, &mut |node| match node.parallel {
        Some(_) => is_independent(function, &affine, node).map_err(|conflict| {
            let message = format!("the loop over {:?}: {}", node.counter, conflict.message);
            Fault::new("parallel", message)
        }),
        None => Ok(()),
    })
}

/// Validates a function as [`validate_open`] does, its parallel marks apart: in a program as it is written they are wishes, which
/// [`mark_parallel`](crate::analysis::mark_parallel) grants or refuses.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_asked(function: &Function) -> Result<(), Fault> {
    scope::check(function)?;
    types::check(function)?;
    memory::check(function)?;
    kernel::check(function)?;
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    loops(
        function,
        &mut |node| match node.unordered && !is_reorderable(function, &affine, node) {
            true => Err(Fault::new(
                "order",
                format!("the loop over {:?} does not run in any order", node.counter),
            )),
            false => Ok(()),
        },
    )?;
    schedule::check(function, &affine)
}

/// Asks something of every loop.
fn loops(
    function: &Function,
    ask: &mut dyn FnMut(&Loop) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut outcome = Ok(());
    walk(&function.body, &mut |node| {
        if let (Stmt::Loop(node), Ok(())) = (node, &outcome) {
            outcome = ask(node);
        }
    });
    outcome
}

/// Validates the definitions of a function alone: types may not be known yet.
///
/// # Errors
/// The first value or object that is not there where it is used.
pub fn validate_scope(function: &Function) -> Result<(), Fault> {
    scope::check(function)
}
