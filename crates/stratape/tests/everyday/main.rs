//! Programs as people write them, whose gradients are compared with differences of the programs themselves.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    unused,
    unreachable_pub,
    unused_qualifications,
    non_upper_case_globals,
    non_snake_case,
    reason = "programs as people write them"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod assigned_later;
mod checkpoint;
mod finance_and_graphs;
mod games_and_models;
mod inner_modules;
mod iterators;
mod lengths;
mod lists;
mod literals;
mod matrices;
mod memory;
mod nested;
mod references;
mod rows;
mod single;
mod small;
mod states;
mod traits;
mod twins;
mod types;
mod variants;
