//! Stratape: gradients of ordinary Rust programs on stable Rust, on a tape that goes on past the
//! size of memory.
//!
//! This is the crate to depend on. At present it holds the tape:
//!
//! ```
//! use stratape::tape::{LayeredTape, TapeOptions};
//!
//! let mut tape: LayeredTape<f64> = TapeOptions::new().memory(1 << 20).open()?;
//! for i in 0..1_000_000 {
//!     tape.push(f64::from(i))?; // 8 MB through 1 MiB of RAM
//! }
//! assert_eq!(tape.pop()?, Some(999_999.0));
//! # Ok::<(), stratape::tape::TapeError>(())
//! ```
//!
//! See [`tape`] for which tape to choose.

#![forbid(unsafe_code)]

mod buffer;
mod private;
mod workspace;

pub use stratape_macros::{constant, differentiable, gradient, pullback};
pub use stratape_tape as tape;
pub use workspace::Workspace;

#[doc(hidden)]
pub mod __private {
    pub use crate::private::*;
}

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/tape.md")]
struct TapeGuide;
