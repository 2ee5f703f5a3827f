//! A layered tape for reverse-mode differentiation: as fast as a raw array while it is small.
//! It never moves an element, and spills to disk in the background when it outgrows memory.
//!
//! # Which tape do I need?
//!
//! | you have | use |
//! |---|---|
//! | values of any type, in memory | [`Tape`] |
//! | plain numbers, possibly more than memory holds | [`LayeredTape`], opened with [`TapeOptions`] |
//! | records of different plain types, emitted by a compiler | [`RecordTape`], in memory or in layers |
//! | several workers, each recording its own part | [`Lanes`] |
//! | several threads that must share one stack | [`SharedTape`] |
//! | elements whose type only another language knows | [`RawTape`] |
//! | blocks that are not used in stack order | [`Stash`] |
//! | a place to spill to other than a disk | your own [`Tier`](tier::Tier) |
//! | slabs in another kind of memory (such as page-locked) | your own [`BlockSource`](source::BlockSource) |
//!
//! ```
//! use stratape_tape::{LayeredTape, Tape, TapeOptions};
//!
//! let mut tape = Tape::new(); // in memory; push and pop cannot fail
//! tape.push(1.0);
//! assert_eq!(tape.pop(), Some(1.0));
//!
//! let mut tape: LayeredTape<f64> = TapeOptions::new()
//!     .memory(1 << 20) // bytes of slabs kept in RAM
//!     .spill_to(std::env::temp_dir())
//!     .open()?;
//! tape.push(1.0)?; // may wait for the disk, or return its error
//! assert_eq!(tape.pop()?, Some(1.0));
//! println!("{}", tape.stats());
//! # Ok::<(), stratape_tape::TapeError>(())
//! ```
//!
//! # Your own elements
//!
//! Only plain data spills: the trait [`Pod`], derived for `#[repr(C)]` structs without padding. The
//! derives need to know where `bytemuck` is, unless you depend on it yourself:
//!
//! ```
//! use stratape_tape::{Pod, Zeroable};
//!
//! #[derive(Clone, Copy, Pod, Zeroable)]
//! #[bytemuck(crate = "stratape_tape::bytemuck")]
//! #[repr(C)]
//! struct State {
//!     position: f64,
//!     velocity: f64,
//! }
//! ```
//!
//! # Layers
//!
//! A tape starts in a buffer inside the object, continues in slabs, and, if it is layered, writes
//! its deepest slabs to a [`tier`] in the background once the memory budget fills up. In the
//! backward pass slabs are read before they are needed. [`TapeStats`] counts transfers and
//! waits; `tracing` events report them as they happen (`trace` for every slab moved, `debug` for
//! stalls, `warn` for failures).
//!
//! # Feature flags
//!
//! - `spill` (default): what tapes spill with: `io_uring`, checksums with vector instructions, files without a name, and `tracing` events. Without
//!   it they spill on threads, with slower checksums, and tell nobody; nothing else changes.
//! - `compression`: `TapeOptions::compression`, which packs slabs of `f32` and `f64` with `pco`.
//!
//! # Platforms
//!
//! Performance is tuned for Linux: `io_uring`, direct I/O, disk space freed as the tape shrinks. If
//! one of these is missing, the tape works without it and its statistics say so.

#![cfg_attr(not(feature = "spill"), allow(unused_variables, reason = "events that nobody hears"))]

mod block;
mod codec;
mod crc;
mod crew;
mod depot;
mod error;
mod events;
mod geometry;
mod head;
mod inbox;
mod key;
mod ladder;
mod lanes;
mod layered;
mod open;
mod options;
mod pool;
mod raw;
mod record;
mod recorder;
mod registry;
mod saved;
mod setup;
mod shared;
pub mod source;
mod stash;
mod stats;
mod sync;
mod tape;
mod temporary;
pub mod tier;

pub use bytemuck::{self, Pod, Zeroable};

pub use crc::checksum;
pub use error::{ErrorKind, OutOfMemory, TapeError};
pub use lanes::Lanes;
pub use layered::{Iter as LayeredIter, LayeredTape};
pub use options::{DEFAULT_IN_FLIGHT, DEFAULT_MEMORY, DEFAULT_PATIENCE, DEFAULT_SLAB, TapeOptions};
pub use pool::{DEFAULT_POOL_LIMIT, Pool};
pub use raw::{RawCursor, RawElement, RawTape};
pub use record::{RecordMark, RecordTape};
pub use recorder::Sample;
pub use saved::{SavedInfo, inspect};
pub use shared::{Owner, SharedTape, Writer};
pub use stash::{Stash, StashStats, Stored, Ticket};
pub use stats::TapeStats;
pub use tape::{DEFAULT_INLINE, IntoIter, Iter, IterMut, Mark, Slices, Tape};
pub use tier::IoEngine;
