//! The interpreter: runs a function of the intermediate language as it stands.
//!
//! It is the oracle of the tests. A function goes in with its arguments, its results and
//! what became of its memory come out, and where the compiled program would panic, a [`Trap`]
//! with the same message (that of an assertion with a format string, of its text if it is any other). Nothing here is fast, and nothing is shared with the passes that
//! it judges: the forward derivatives of [`Dual`] are rules of its own.
//!
//! It runs what will be emitted: loops with [schedules](stratape_ir::Schedule) run in strips, blocks and parts; loops whose order is said to be free run in shuffled orders if [`Options::shuffle`] asks for it, each
//! iteration with the records that are its own. A value that is used in an iteration that has not defined it, a record popped by
//! another loop than pushed it, a list read before it is written are faults or show as numbers that are none.
//!
//! Floats are any [`Number`]: `f64` runs the program, [`Dual`] carries a derivative along. A value of type
//! `f32` is computed by the functions of `f32`, so its bits are those of the compiled program.

//! [`simt`] runs kernels: all threads of a grid.
//!
//! ```
//! use stratape_interp::{Argument, Options, run};
//! use stratape_ir::text;
//!
//! let square = text::parse_function("fn square(x: f64) { y = x * x; return y }")?;
//! let outcome = run(&square, vec![Argument::Float(3.0)], &Options::default())?;
//! assert_eq!(outcome.results[0].float(), Some(9.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod access;
mod dual;
mod integer;
mod machine;
mod memory;
mod message;
mod number;
mod numbers;
mod observe;
mod operation;
mod region;
mod rotating;
mod scheduled;
mod shuffle;
pub mod simt;
mod tell;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use stratape_ir::Function;

pub use self::dual::Dual;
pub use self::memory::{Datum, Memory};
pub use self::number::{Number, Operation, apply};
pub use self::observe::{Access, Class, Observer};

/// An argument, in the order of the function's parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<N> {
    /// A float by value.
    Float(N),
    /// An integer by value.
    Int(i128),
    /// A boolean by value.
    Bool(bool),
    /// An array, slice, struct or tuple.
    Memory(Memory<N>),
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What constant expressions stand for, by their text.
    pub constants: HashMap<String, f64>,
    /// How many nodes and iterations may be run.
    pub fuel: u64,
    /// Where loops may run in any order ([`Loop::unordered`](stratape_ir::Loop::unordered)), or in parallel, they run in one that
    /// this number decides; in their own if `None`.
    pub shuffle: Option<u64>,
    /// Iterations in a strip whose records lie in a region.
    pub strip: usize,
    /// Parts of a loop that runs in parts, if it has as many iterations.
    pub parts: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { constants: HashMap::new(), fuel: 10_000_000, shuffle: None, strip: 5, parts: 3 }
    }
}

/// What a run leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<N> {
    /// The values the function returns.
    pub results: Vec<Datum<N>>,
    /// The contents of each object parameter at the end, in order.
    pub memory: Vec<Memory<N>>,
    /// Records pushed.
    pub pushes: u64,
    /// The greatest number of values that were on the tape at one time.
    pub peak: usize,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trap {
    /// The program panics; its message.
    Panic(String),
    /// The function breaks a rule of the language: a fault of the compiler.
    Fault(String),
    /// The interpreter does not know an operation or a constant.
    Unknown(String),
    /// The fuel was used up.
    Fuel,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) => write!(f, "panic: {message}"),
            Self::Fault(message) => write!(f, "fault of the compiler: {message}"),
            Self::Unknown(message) => write!(f, "not known to the interpreter: {message}"),
            Self::Fuel => f.write_str("the program ran for too long"),
        }
    }
}

impl Error for Trap {}

fn fault<T>(message: impl Into<String>) -> Result<T, Trap> {
    Err(Trap::Fault(message.into()))
}

/// Runs a function.
///
/// # Errors
/// A [`Trap`] where the program panics, where the function or its arguments are malformed, and
/// where the fuel runs out.
pub fn run<N: Number>(
    function: &Function,
    args: Vec<Argument<N>>,
    options: &Options,
) -> Result<Outcome<N>, Trap> {
    run_observed(function, args, options, &mut ())
}

/// As [`run`], told to an observer.
///
/// # Errors
/// As [`run`].
pub fn run_observed<N: Number, O: Observer>(
    function: &Function,
    args: Vec<Argument<N>>,
    options: &Options,
    observer: &mut O,
) -> Result<Outcome<N>, Trap> {
    let mut machine = machine::Machine::new(function, options, observer);
    machine.enter(args)?;
    machine.block(&function.body)?;
    machine.leave()
}
