//! Near misses of the passes that reorder, fuse, exchange and recompute, and faults at the edges of lists and numbers, as an outsider wrote them from the documentation. Gradients are compared
//! with differences of the programs themselves or with closed forms, values bit for bit, and panics with those of the programs.

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

mod oracle;

mod bounds;
mod cse;
mod free_bits;
mod free_bits_more;
mod fusion;
mod inclusive;
mod induction;
mod panics_a;
mod panics_b;
mod panics_c;
mod points;
mod remainder;
mod remainder_single;
mod swap;
mod time_loops;
