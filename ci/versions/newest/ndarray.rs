//! What older versions of `ndarray` do not have.

#![allow(clippy::all, clippy::pedantic, dead_code, unused, reason = "programs as people write them")]

#[macro_use]
#[path = "../../../crates/stratape/tests/common/mod.rs"]
mod common;

#[path = "../../../crates/stratape/tests/gradient/ndarray.rs"]
mod whole;
