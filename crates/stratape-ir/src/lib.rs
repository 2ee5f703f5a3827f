//! The intermediate language of Stratape: structured control flow over scalar values and memory, with a tape.
//!
//! A [`Function`] is what the front end makes of Rust syntax, what every pass reads and writes, what differentiation turns into another
//! function of the same language, and what back ends print. This page defines what a function means. `docs/compiler/language.md` of the
//! repository explains the same with pictures.
//!
//! | module | is |
//! |---|---|
//! | the crate root | the language: [`Function`] and what it is made of, [`Builder`], walks and substitutions |
//! | [`text`] | the text form |
//! | [`valid`] | the validator: rules that passes and back ends rely on |
//! | [`analysis`] | what passes ask about a function |
//!
//! The crate `stratape-interp` runs functions, as the oracle of the tests, and kernels, as their oracle and emulator.
//!
//! The crate knows nothing of tokens. Source positions are [`SourceId`]s, Rust text that the language does not look into is an [`Opaque`];
//! whoever made the function has the tables.
//!
//! # Functions
//!
//! A function has [parameters](Param) (values and objects), [results](Function::results) (values), a [body](Function::body), and tables of what
//! is known of its values, objects and records. Ids ([`ValueId`], [`ObjectId`], [`RecordId`]) are positions in these tables. Entries of the
//! tables that no statement refers to mean nothing.
//!
//! A [`Block`] is a list of [statements](Stmt), executed in order. Side effects are in statements only: an [`Op`] computes a value and does
//! nothing else, except that it may panic.
//!
//! # Values
//!
//! A [`ValueId`] names one scalar ([`Scalar`]): a `bool`, an integer or a float. It is defined exactly once, as
//!
//! - a parameter,
//! - the result of a [`Stmt::Let`],
//! - a loop's [counter](Loop::counter), the [`inside`](Carried::inside) or [`after`](Carried::after) of a carried value, the number of
//!   [`trips`](Loop::trips),
//! - a [`Merge`] of an [`If`],
//! - a result of a [`Call`],
//! - a value of a [`Stmt::Pop`],
//!
//! and is visible from there to the end of the block that holds the definition, and in the blocks inside. `counter` and `inside` are defined at
//! the start of the loop's body; `after`, `trips` and merges in the block that holds the loop or branch. A loop's `next` and `exit` and the
//! operands of merges are used at the end of the inner blocks.
//!
//! Operations mean what the same operation means in Rust, to the bit. A float literal is defined by its text. `f32` is computed in `f32`. An
//! enum without data is its discriminant, an `isize`. [`Op::Select`] evaluates both operands. [`Op::Const`] is a constant expression whose
//! number is unknown here.
//!
//! # Memory
//!
//! An [`ObjectId`] names an array, slice, `Vec`, struct or tuple: a parameter, or a local made by [`Stmt::New`] or [`Stmt::Restore`], which
//! lives to the end of its block. **Two objects never overlap**, and there are no pointers. An object behind `&` ([`Origin::Ref`]) is never
//! written. The length of an object does not change.
//!
//! A [`Place`] is an object and a path of indices and fields, down to one scalar or to a part. Slices of slices, iterators and references have
//! been resolved by the front end to places of their base object, so that two accesses are compared by their objects and indices alone.
//!
//! [`Op::Load`] reads one scalar, [`Stmt::Store`] writes one, [`Stmt::Accumulate`] adds to one or subtracts from one. All three panic if an
//! index is out of bounds. [`Init`] says what a new object holds: given values, a fill, a copy of a place, or zeros in the shape of another
//! object.
//!
//! # Control flow
//!
//! A [`Loop`] runs its body for each integer of a range ([`Range::UpTo`]), from the least or, if [`reversed`](Loop::reversed), from the
//! greatest; or without end ([`Range::Forever`]), counting from 0. An empty or inverted range runs zero iterations. A [`Carried`] value changes
//! from one iteration to the next: `init` enters the first iteration as `inside`, each iteration hands `next` to the following one, and the
//! loop leaves `after`: the last `next`, or `init` if it ran zero times. If [`exit`](Loop::exit) is given, the loop ends after an iteration in
//! which it is true. `trips` counts the iterations that were run.
//!
//! An [`If`] runs one of two blocks, and each [`Merge`] takes its value from the one that ran.
//!
//! There is no other jump: `break`, `continue` and `return` have become conditions, calls of visible functions have been inlined.
//!
//! ## Order and panics
//!
//! Statements are executed in the order of their block, iterations in the order of their loop. Observable are the results, what memory of
//! parameters holds at the end, and whether and with which message the function panics. Integer arithmetic panics as it does in Rust (overflow
//! in debug builds, division by zero), as do indexing and `clamp`; a [`Check`] panics unless its condition holds. A run panics after a
//! transformation if and only if it did before; of several panics another may come first. What memory holds after a panic is unspecified.
//!
//! # Floats and their freedom
//!
//! Every float is either of the *primal* (the program as written) or an *adjoint*.
//!
//! - Primal values, and memory that holds them, have exactly the bits that the program's operations in the program's order give.
//! - Adjoints are values with [`Value::adjoint`], and the contents of objects with [`Object::shadow_of`] or in [`Function::sums`]
//!   ([`Function::holds_adjoints`]). Their last bits are free: factors may be folded, divisions replaced by products.
//! - The *order* of sums of adjoints is free in a loop that is [`unordered`](Loop::unordered): its iterations, each run once and with its own
//!   records, leave the same memory and results in any order, up to rounding of adjoints. The mark is a claim that [`valid`] proves
//!   ([`analysis::is_reorderable`]). Schedules say where else a sum of adjoints is reassociated.
//!
//! # Calls
//!
//! A [`Call`] is one of a function that the compiler does not look into. It is passed values and [slices](Slice), may write the mutable ones,
//! and returns values. [`Call::pullback`] names the function that propagates adjoints through it; a call without one has no derivative. It may
//! do anything to what it is passed and nothing else.
//!
//! A call with [`Call::recursion`] is one of a [`Half`] of a function that is emitted as two: the forward half leaves records on the tape, the
//! backward half takes them.
//!
//! # The tape
//!
//! [`Stmt::Push`] writes the values of one record, [`Stmt::Pop`] defines values from the topmost one, which must be of the same kind; both name
//! the [`RecordId`]. [`Record::slots`] are the values that are pushed, in order. A popped value [stands for](Value::stands_for) the value of
//! its slot and is equal to it. [`Stmt::Save`] and [`Stmt::Restore`] do the same for a copy of a slice; [`Stmt::Refill`] puts the copy into a list that is there.
//!
//! A gradient is a function that runs the program and pushes (its forward half), then propagates adjoints and pops (its backward half); the two
//! may be one loop. What a function pushes it pops; the halves of a recursive function do so together. Inside an unordered loop, records are
//! popped by the number of the iteration, not by the order of the run.
//!
//! # Parallel loops
//!
//! A loop marked [`Parallel`] has independent iterations: what one writes no other reads or writes, and nothing is carried but sums. The mark
//! changes nothing of what the loop computes. Records pushed by a part of the loop are popped by the same part of the loop with the same
//! [number](Parallel::number) in the other half.
//!
//! # Schedules
//!
//! [`Loop::schedule`] says how a lowered loop runs: in strips over views, in blocks, in parts on several lanes of the tape. It changes nothing
//! of what the loop computes, up to rounding of adjoints. [`Schedule`] and its clauses define the meaning; the interpreter obeys it.
//!
//! # Kernels
//!
//! A function that is marked as a [kernel](Function::kernel) is run by all threads of a grid of blocks (`stratape_interp::simt` runs it). Objects behind references
//! are global memory, which all threads share; objects in [`Function::shared`] are one for each block, made at the top of the function; a thread has every other
//! local for itself. [`Op::Builtin`] tells a thread who it is. Threads run independently of each other but for
//! [`Stmt::Barrier`], which all threads of a block pass together, [`Stmt::Atomic`] and [`Stmt::Shuffle`]. Two threads that access one number, one of
//! which writes, do so atomically, or in one block with a barrier between the two: anything else is a race, and means nothing.
//! A new shared object that is not [`unfilled`](Function::unfilled) is filled by the threads of the block together, followed by a barrier.
//!
//! # Side tables
//!
//! | table | claim |
//! |---|---|
//! | [`Function::kept`] | locals that are returned |
//! | [`Function::unfilled`] | locals whose initial contents are never read; a back end need not write them |
//! | [`Function::emptied`] | lists of lists whose rows have all been moved elsewhere in the end |
//! | [`Function::sums`] | locals, shadows of nothing, that hold sums of adjoints |
//! | [`Function::strided_copies`] | locals that hold every *k*-th element of another object; an index out of bounds is reported as one of that object |
//! | [`Function::recursive`] | functions that are called in halves |
//! | [`Function::checkpoints`] | loops to be reversed from snapshots, by their counters; gone once they are outlined |
//! | [`Function::kernel`] | run by many threads |
//! | [`Function::shared`] | locals that the threads of a block share |
//! | [`Function::plain`] | optional passes do nothing |
//! | [`Function::parallel`] | independent loops are to be marked without being asked one by one |
//!
//! # Rules
//!
//! A function that keeps the rules of [`valid`] is a [`Valid`] one, and back ends take nothing else: scope, types, the pairing of pushes and
//! pops, the marks of unordered loops, and schedules. While the front end works, types may still be [`Scalar::Infer`]; afterwards only
//! constants that nothing gives a type to are.
//!
//! # Example
//!
//! ```
//! use stratape_interp::{self as interp, Argument};
//! use stratape_ir::{Binary, Builder, Float, Function, Param, Scalar, SourceId, valid};
//!
//! // fn square(x: f64) -> f64 { x * x }
//! let mut b = Builder::new(Function::new("square"));
//! let x = b.function.new_value(Scalar::Float(Float::F64), SourceId::NONE);
//! b.function.params.push(Param::Value(x));
//! let y = b.binary(Binary::Mul, x, x, SourceId::NONE);
//! b.function.results.push(y);
//! let square = b.finish();
//!
//! valid::validate(&square)?;
//! let outcome = interp::run(&square, vec![Argument::Float(3.0)], &interp::Options::default())?;
//! assert_eq!(outcome.results[0].float(), Some(9.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod analysis;
mod build;
mod call;
mod checkpoint;
mod copy;
mod function;
mod ids;
mod kernel;
mod module;
mod op;
mod place;
mod polynomial;
mod record;
mod region;
mod schedule;
mod stmt;
pub mod text;
mod types;
pub mod valid;
mod visit;

pub use self::build::Builder;
pub use self::call::{Argument, Call, Half, OUTSIDE, Slice, seeded};
pub use self::checkpoint::Checkpoint;
pub use self::copy::copy;
pub use self::function::{Function, Object, Origin, Param, StridedCopy, Value};
pub use self::ids::{ObjectId, RecordId, RegionId, SourceId, StmtId, TokensId, ValueId};
pub use self::kernel::{Atomic, AtomicOp, Axis, Barrier, Builtin, Exchange, Shuffle, WARP};
pub use self::module::{Module, Position};
pub use self::op::{Binary, Compare, Math, Op, Unary};
pub use self::place::{Init, Place, Step};
pub use self::polynomial::Polynomial;
pub use self::record::{Cell, Record};
pub use self::region::{Layout, Offset, Region, Room};
pub use self::schedule::{
    Parts, Reduction, Rotation, Schedule, Side, Simd, Split, Stream, Strip, View, Window,
};
pub use self::stmt::{Block, Carried, Check, If, Loop, Merge, Parallel, Range, Stmt};
pub use self::types::{Extent, Float, Int, Opaque, Scalar, Struct, Type};
pub use self::valid::Valid;
pub use self::visit::{Substitution, defined, made, made_twice, swapped, used, walk};
