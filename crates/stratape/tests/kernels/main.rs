//! Kernels as outsiders wrote them from the guide alone: gradients on the emulator, with and without checking, against central differences on several grids.

#![allow(
    missing_docs,
    unused_assignments,
    unused,
    clippy::redundant_closure_for_method_calls,
    clippy::needless_pass_by_value,
    clippy::semicolon_if_nothing_returned,
    clippy::uninlined_format_args,
    unreachable_pub,
    dead_code,
    unused_macros,
    unused_imports,
    unused_variables,
    clippy::all,
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "written by others"
)]

#[macro_use]
mod common;

mod copies_and_references;
mod indices;
mod rows;
mod shared_numbers;
mod strides;
mod tiles_and_scans;
mod whole_programs;
