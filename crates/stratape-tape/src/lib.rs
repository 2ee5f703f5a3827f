//! A layered tape for reverse-mode differentiation: as fast as a raw array while it is small,
//! never moving an element, and going on past the size of memory without the reverse pass
//! noticing.
//!
//! # Which tape do I need?
//!
//! | you have | use |
//! |---|---|
//! | values of any type, in memory | [`Tape`] |
//! | plain numbers, perhaps more than memory holds | [`LayeredTape`], opened with [`TapeOptions`] |
//! | records of different plain types, emitted by a compiler | [`RecordTape`], in memory or in layers |
//! | several workers, each recording its own part | [`Lanes`] |
//! | several threads that must share one stack | [`SharedTape`] |
//! | elements that only another language knows the type of | [`RawTape`] |
//! | blocks that come and go in another order than a stack's | [`Stash`] |
//! | another place to spill to than a disk | a [`Tier`](tier::Tier) of your own |
//! | slabs in memory of another kind (page-locked, say) | a [`BlockSource`](source::BlockSource) of your own |
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
//! tape.push(1.0)?; // may have to wait for, or hear of, the disk
//! assert_eq!(tape.pop()?, Some(1.0));
//! println!("{}", tape.stats());
//! # Ok::<(), stratape_tape::TapeError>(())
//! ```
//!
//! # Your own elements
//!
//! What spills is plain data: the trait [`Pod`], derived for `#[repr(C)]` structs without padding. The
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
//! A tape begins in a buffer inside the object, goes on over slabs, and, if it is layered, writes
//! its deepest slabs to a [`tier`] in the background once the memory budget fills up. On the way
//! back the next slabs are read before they are needed. [`TapeStats`] tells what happened and what
//! it cost; `tracing` events tell it as it happens (`trace` for every slab moved, `debug` for
//! stalls, `warn` for failures).
//!
//! # Feature flags
//!
//! - `compression`: `TapeOptions::compression`, which packs slabs of `f32` and `f64` with `pco`.
//!
//! # Platforms
//!
//! Linux is where it is fast: `io_uring`, direct I/O, space given back as the tape shrinks. Where
//! one of these is missing the tape does without, and says so in its statistics.

mod block;
mod codec;
mod crew;
mod depot;
mod error;
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
pub mod tier;

pub use bytemuck::{self, Pod, Zeroable};

pub use codec::checksum;
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
