//! Running choices, short loops, branches of constants, constants of the file and searches, as an outsider wrote them. Their gradients are compared
//! with differences of the programs themselves.

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

mod chosen;
mod chosen_b;
mod chosen_c;
mod chosen_d;
mod chosen_e;
mod constant_arms;
mod constant_arms_b;
mod constant_arms_c;
mod file_constants;
mod file_constants_b;
mod file_constants_c;
mod file_constants_d;
mod file_constants_where;
mod halving;
mod inner_constants;
mod running_choices;
mod running_choices_b;
mod running_choices_c;
mod running_choices_d;
mod short_loops;
mod short_loops_b;
mod short_loops_c;
