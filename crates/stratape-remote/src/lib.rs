//! Object stores below Stratape's tape: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure Blob Storage, directories, memory.
//!
//! | you want | use |
//! |---|---|
//! | slabs of a tape in a bucket | [`RemoteTier`], given to [`TapeOptions::tier`](stratape_tape::TapeOptions::tier) |
//! | a local disk between RAM and the bucket | [`StackedTier`](stratape_tape::tier::StackedTier) of a `DiskTier` over a [`RemoteTier`] |
//! | snapshots of a time loop in a bucket | [`RemoteStore`], given to [`TimeLoop::store`](stratape_checkpoint::TimeLoop::store) |
//! | a time loop that another machine can go on with | [`RemoteRun`], given to [`TimeLoop::resume_in`](stratape_checkpoint::TimeLoop::resume_in) |
//! | to find and remove what a killed process left | [`Sweep`], or `stratape tape sweep URL` |
//!
//! ```
//! use std::sync::Arc;
//! use stratape_remote::RemoteTier;
//! use stratape_tape::{LayeredTape, TapeOptions};
//! use stratape_tape::tier::{DiskOptions, DiskTier, StackedTier};
//!
//! // 256 KiB in RAM, 1 MiB on a local disk, the rest in the store.
//! let disk = Arc::new(DiskTier::open(DiskOptions::new(std::env::temp_dir()))?);
//! let remote = Arc::new(RemoteTier::open("memory:///stacked")?);
//! let tier = StackedTier::new(disk, 1 << 20, remote.clone());
//! let mut tape: LayeredTape<f64> =
//!     TapeOptions::new().memory(256 << 10).slab_bytes(32 << 10).tier(Arc::new(tier)).open()?;
//! for i in 0..300_000 {
//!     tape.push(f64::from(i))?;
//! }
//! assert_eq!(tape.pop()?, Some(299_999.0));
//! drop(tape);
//! remote.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Feature flags
//!
//! Directories and memory are always there. `s3`, `gcs` and `azure` add the clients of the clouds; in `stratape` they are called
//! `remote-s3`, `remote-gcs` and `remote-azure`.

#![forbid(unsafe_code)]

mod client;
mod counters;
mod engine;
mod error;
mod loan;
mod options;
mod owner;
mod place;
mod run;
mod store;
mod sweep;
mod tier;

pub use object_store;

pub use counters::RemoteStats;
pub use error::RemoteError;
pub use options::RemoteOptions;
pub use run::RemoteRun;
pub use store::RemoteStore;
pub use sweep::{DEFAULT_OLDER_THAN, Leftover, Removed, Sweep};
pub use tier::RemoteTier;
