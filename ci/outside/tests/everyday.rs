//! Two hundred functions such as numerical programmers write (the folder `everyday`). Each gradient is made in several ways: optimised, plain, on
//! a tape that spills, and where it applies parallel and checkpointed. The value and what is left in `&mut` arguments must have the bits of the
//! function; derivatives must be those of the other ways and of extrapolated differences.

#![allow(
    non_snake_case,
    unused,
    clippy::all,
    unpredictable_function_pointer_comparisons,
    reason = "as people write, and glue that serves all signatures"
)]

mod check;

use check::*;

include!(concat!(env!("OUT_DIR"), "/everyday.rs"));
