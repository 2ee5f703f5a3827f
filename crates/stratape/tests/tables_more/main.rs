//! More of what `tables` holds; not part of `cargo test` without `--test tables_more`.

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
    arithmetic_overflow,
    unconditional_panic,
    non_snake_case,
    reason = "programs as people write them"
)]

#[macro_use]
#[path = "../tables/oracle.rs"]
mod oracle;

mod coefficients_single;
mod layers_in_place;
mod layers_iterators;
mod layers_offsets;
mod layers_steps;
mod tables_contexts;
mod tables_indices;
mod tables_operations;
mod tables_shapes;
