//! The layered tape and the reversal schedules for C and C++.
//!
//! The crate is a static and a shared library with three headers: `include/stratape.h` (C, generated from this source),
//! `include/stratape/tape.hpp` (C++14, pushes and pops inline) and `include/stratape/clad.hpp` (for code that Clad generates). The guide page
//! `docs/c-and-cpp.md` shows how to use them; `cargo run --release -p stratape-capi --example dist -- DIRECTORY` makes a
//! directory to build against.
//!
//! # The rules of this interface
//! - Every call that can fail returns a [`stratape_status`]; [`stratape_last_error`] has the text, for the calling thread.
//! - Handles are names in a table ([`handle`]), not addresses: a null handle, a closed one, one of another kind and one that
//!   another thread is using right now are statuses. What a *pointer* argument points to cannot be checked.
//! - No panic crosses the boundary. One that happens is a bug, reported as `STRATAPE_PANIC`; the object is then closed to all calls
//!   but the one that closes it.
//! - An object is used by one thread at a time. In debug builds a tape belongs to the thread that opened it, until another one
//!   adopts it.
//!
//! From Rust, use `stratape-tape` and `stratape-checkpoint` themselves.

#![allow(non_camel_case_types, reason = "the names are those that C sees")]
#![allow(
    clippy::missing_safety_doc,
    reason = "what C must promise stands at the top of each module, once"
)]

mod cursor;
pub mod handle;
mod iterate;
mod lanes;
mod options;
mod records;
mod schedule;
mod stash;
mod stats;
mod status;
mod tape;

pub use cursor::*;
pub use iterate::*;
pub use lanes::*;
pub use options::*;
pub use records::*;
pub use schedule::*;
pub use stash::*;
pub use stats::*;
pub use status::*;
pub use tape::*;
