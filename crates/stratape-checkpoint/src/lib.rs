//! The gradient of a time loop that is too long to tape.
//!
//! A simulation of a million steps cannot keep the tape of each. [`TimeLoop`] stores some states (*snapshots*), in memory and on
//! disk, and recomputes the steps between them when the reversal needs them, following the [`schedule`](mod@schedule) with the
//! fewest steps for the available room. Snapshots are written and read in the background; a run can be
//! [resumed](TimeLoop::resume) after a crash, with bit for bit the same result.
//!
//! ```
//! use stratape_checkpoint::{Strategy, TimeLoop};
//!
//! // A damped oscillator, 100 000 steps, on 1 KiB.
//! let h = 1e-3;
//! let (state, adjoint, report) = TimeLoop::new((1.0_f64, 0.0_f64))
//!     .steps(100_000)
//!     .memory(1 << 10)
//!     .gradient(
//!         |_, (x, v)| {
//!             *v -= h * (*x + 0.1 * *v);
//!             *x += h * *v;
//!         },
//!         |(x, _)| (2.0 * x, 0.0), // of x²
//!         |_, _, (dx, dv)| {
//!             *dv += h * *dx;
//!             *dx -= h * *dv;
//!             *dv -= 0.1 * h * *dv;
//!         },
//!     )?;
//! assert!(adjoint.0.is_finite());
//! println!("{state:?}\n{report}");
//! # Ok::<(), stratape_checkpoint::CheckpointError>(())
//! ```
//!
//! # Which part do I need?
//! | you have | use |
//! |---|---|
//! | a step and its gradient | [`TimeLoop::gradient`] |
//! | a step that writes to your own tape | [`TimeLoop::gradient_taped`] |
//! | the loop inside a function under `#[gradient]` | `#[checkpoint]` on the loop |
//! | a loop in the middle of something larger | [`TimeLoop::forward`], then [`Swept::reverse`] |
//! | several cores | [`TimeLoop::gradient_on`], [`TimeLoop::gradient_taped_on`] |
//! | a place for snapshots other than memory and disk | your own [`SnapshotStore`](store::SnapshotStore) |
//! | your own driver | the iterators of [`schedule`](mod@schedule) |
//!
//! # Feature flags
//! - `serde`: snapshots of states that `serde` can serialise, wrapped in `Serde`.

#![forbid(unsafe_code)]

mod ahead;
mod course;
mod durable;
mod error;
mod report;
mod reruns;
mod run;
pub mod schedule;
#[cfg(feature = "serde")]
mod serde;
mod slots;
pub mod snapshot;
pub mod store;
mod strategy;
mod time_loop;

#[doc(hidden)]
pub use stratape_tape::bytemuck;

#[cfg(feature = "serde")]
pub use crate::serde::Serde;
pub use course::{Course, Doing, Span};
pub use durable::RunPlace;
pub use error::CheckpointError;
pub use report::{Plan, Progress, Report};
pub use snapshot::Snapshot;
pub use strategy::Strategy;
pub use time_loop::{Swept, TimeLoop};
