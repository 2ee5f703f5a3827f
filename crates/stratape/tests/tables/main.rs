//! Near misses of `tabulate`, of `unroll_and_jam` beside other work and of `fold_coefficients`, as an outsider wrote them from the documentation. Each gradient is compared with differences of
//! the program itself and with the plain gradient, values bit for bit, and panics with those of the programs.

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
mod oracle;

mod coefficients;
mod layers;
mod layers_rows;
mod tables_branches;
mod tables_faults;
mod tables_lists;
