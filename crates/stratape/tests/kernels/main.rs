//! Kernels as outsiders wrote them from the guide alone: gradients on the emulator, with and without checking, against central differences on several grids.

#![allow(
    missing_docs,
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
mod shared_numbers;
mod strides;
mod tiles_and_scans;
mod whole_programs;
