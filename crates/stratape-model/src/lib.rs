//! A cycle-approximate model of the accelerator that TapeFlow was evaluated on.
//!
//! What goes in is a run of a gradient, told node by node: loads, stores, computations, and the ends of layers. What comes out is a
//! [`Report`]: cycles of both passes and what they were spent on, accesses, misses and DRAM lines by class of data, and on-chip energy.
//! Two reports, one of a machine with a scratchpad for the tape and one of a machine without, give a [`Comparison`].
//!
//! ```
//! use stratape_model::{Comparison, Data, Machine, Node, Pass, Simulation, Unit};
//!
//! // y = Π x[i]², with x[i] on the tape, in layers of 32 values.
//! fn run(machine: &Machine) -> Result<stratape_model::Report, stratape_model::ModelError> {
//!     let (x, dx, tape, n) = (0x10_0000, 0x20_0000, 0x30_0000, 16 * 1024_u64);
//!     let mut run = Simulation::new(machine)?;
//!     let mut product: Option<Node> = None;
//!     for i in 0..n {
//!         let value = run.load(Data::Input, x + 8 * i, 8, &[]);
//!         run.store(Data::Tape, tape + 8 * i, 8, &[value]);
//!         let square = run.compute(Unit::Multiply, &[value, value]);
//!         product = Some(match product {
//!             Some(before) => run.compute(Unit::Multiply, &[before, square]),
//!             None => square,
//!         });
//!         if i % 32 == 31 {
//!             run.layer_end(256);
//!         }
//!     }
//!     run.pass(Pass::Reverse);
//!     for i in (0..n).rev() {
//!         if i % 32 == 31 {
//!             run.layer_start(256);
//!         }
//!         let value = run.load(Data::Tape, tape + 8 * i, 8, &[]);
//!         let slope = run.compute(Unit::Divide, &[value]);
//!         run.store(Data::Adjoint, dx + 8 * i, 8, &[slope]);
//!     }
//!     Ok(run.finish())
//! }
//!
//! let baseline = run(&Machine::baseline())?;
//! let tapeflow = run(&Machine::default())?;
//! let comparison = Comparison::new(&baseline, &tapeflow);
//! assert!(comparison.reverse > 1.0 && comparison.energy > 1.0);
//! println!("{tapeflow}\n{comparison}");
//! # Ok::<(), stratape_model::ModelError>(())
//! ```
//!
//! # How time passes
//!
//! Nodes come in program order and may run in any order that their dependences allow. A node starts at the first cycle at which what it
//! depends upon is done and the machine has room: an issue slot, and a unit, a cache port or a bank. At most [`Machine::window`] nodes are
//! in flight: a node starts no sooner than everything more than a window before it is done. That bounds the model's memory, too.
//!
//! The cache is looked up in program order, also where two accesses trade places in time. Misses share the DRAM's bandwidth; a stream takes
//! what bandwidth they leave. All this makes the model approximate: good for what a change of layout, cache or scratchpad does to a program,
//! not for the last per cent.
//!
//! As in every machine that starts what it can, a node that becomes ready sooner may take the place of a more urgent one. More of a resource
//! then costs cycles, a tenth at most in the tests; without dependences between the nodes it never does.
//!
//! # Which part do I need?
//! | you want | use |
//! |---|---|
//! | to describe the hardware | [`Machine`], [`size`] |
//! | to run a function of yours on it | [`Program`] |
//! | to repeat the paper's experiments | [`paper`] |
//! | to run a gradient of the language on it | [`Trace`] |
//! | to feed it a run of your own | [`Simulation`] |
//! | figures | [`Report`], [`Comparison`] |
//! | misses alone, without time | [`Cache`] |

#![forbid(unsafe_code)]

mod cache;
mod calendar;
mod comparison;
mod dram;
pub mod energy;
mod error;
mod fingerprint;
mod grid;
mod lifetimes;
mod machine;
pub mod paper;
mod program;
mod report;
mod scratchpad;
mod simulation;
mod stream;
mod trace;

pub use cache::{Cache, Lookup};
pub use comparison::Comparison;
pub use error::ModelError;
pub use grid::Node;
pub use lifetimes::{Fifths, Lifetimes};
pub use machine::{
    Barrier, CacheSettings, DramSettings, Machine, ScratchpadSettings, StreamSettings, Timing,
    Timings, Unit, size,
};
pub use program::Program;
pub use report::{Data, Pass, PassReport, Report, Stalls, Traffic};
pub use simulation::Simulation;
pub use trace::{ColumnLengths, Layout, Trace};
