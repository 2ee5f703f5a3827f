//! More near misses of `swap_copies`, as an outsider wrote them; not part of `cargo test` without `--test passes_more`.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::todo,
    dead_code,
    unused,
    unreachable_pub,
    unused_qualifications,
    non_snake_case,
    reason = "programs as people write them"
)]

#[path = "../passes/oracle.rs"]
mod oracle;

mod swaps_a;
mod swaps_b;
mod swaps_c;
mod swaps_d;
mod swaps_e;
mod swaps_f;
