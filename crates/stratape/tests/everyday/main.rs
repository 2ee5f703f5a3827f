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
mod models_with_states;
mod nested;
mod networks_and_chains;
mod options_of_lists;
mod options_of_lists_assigned;
mod options_of_lists_borrowed;
mod options_of_lists_handed_out;
mod options_of_lists_looked_at;
mod options_of_lists_moved;
mod options_of_lists_restored;
mod references;
mod rows;
mod signals_and_mechanics;
mod single;
mod small;
mod solvers;
mod states;
mod tables_and_paths;
mod traits;
mod twins;
mod types;
mod variants;
