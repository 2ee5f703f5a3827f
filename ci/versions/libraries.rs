//! The tests of other libraries' types, for versions of these that the workspace does not use.

#![allow(clippy::all, clippy::pedantic, dead_code, unused, reason = "programs as people write them")]

#[macro_use]
#[path = "../../crates/stratape/tests/common/mod.rs"]
mod common;

#[path = "../../crates/stratape/tests/gradient/ndarray_slices.rs"]
mod ndarray_slices;

#[path = "../../crates/stratape/tests/everyday/arrays.rs"]
mod everyday_arrays;

#[path = "../../crates/stratape/tests/gradient/nalgebra.rs"]
mod nalgebra_whole;

#[path = "../../crates/stratape/tests/gradient/nalgebra_parts.rs"]
mod nalgebra_parts;

#[path = "../../crates/stratape/tests/everyday/matrices.rs"]
mod everyday_matrices;

#[path = "../../crates/stratape/tests/gradient/complex.rs"]
mod complex;
