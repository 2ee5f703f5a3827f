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
//! **Types** (`types`): operands and results of operations have the types that the operation asks for; both sides of a store, a merge, a carried
//! value and a record's slot agree; conditions are `bool`, indices and lengths `usize`.
//!
//! **Tape** (`tape`): what a block does to the tape is read as a sequence of pushes and pops, where a loop or a branch that only pushes, or
//! only pops, counts as one item. Items that push go on a stack; an item that pops must *mirror* the top of the stack:
//! - a pop names the record of the push; the value it defines from a slot stands for the value that the push put there;
//! - a loop pops as often as its mirror has pushed, in the opposite direction: the ends of the two ranges are the same numbers, or the
//!   range has the length that the other counted;
//! - a branch pops under the same condition, its arms mirror the other's arms;
//! - their blocks mirror each other, last to first.
//!
//! At the end of the function the stack is empty. Two values are the same number if they are one value, if one restores the other from a
//! record, or if they are computed by the same operation from the same numbers; counters of loops that mirror each other are the same.
//!
//! **Order** (`order`): a loop that is marked unordered may run in any order ([`is_reorderable`]).
//!
//! **Schedules** (`schedule`): a strip has records in a region exactly if the record says so, and both of its loops do; views are written by one
//! name only; a loop in blocks has the reductions, rotations and delayed additions that its schedule lists, and no statement that a
//! block cannot hold; a loop in parts touches memory as its clause says: shared memory is only read, windows are kept, private memory is
//! only added to. Sums of the primal keep their order.

mod same;
mod schedule;
mod scope;
mod tape;
mod types;

use std::error::Error;
use std::fmt;

use crate::analysis::{Affine, DefUse, is_reorderable};
use crate::{Function, Half, Stmt, walk};

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
    scope::check(function)?;
    types::check(function)?;
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let mut fault = None;
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && node.unordered
            && fault.is_none()
            && !is_reorderable(function, &affine, node)
        {
            let message = format!("the loop over {:?} does not run in any order", node.counter);
            fault = Some(Fault::new("order", message));
        }
    });
    fault.map_or(Ok(()), Err)?;
    schedule::check(function, &affine)
}

/// Validates the definitions of a function alone: types may not be known yet.
///
/// # Errors
/// The first value or object that is not there where it is used.
pub fn validate_scope(function: &Function) -> Result<(), Fault> {
    scope::check(function)
}
