//! Kernels and their gradients, run by `simt`: values against what is computed here, gradients against central differences.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod adjoints;
mod atomics;
mod harness;
mod random;
mod random_rows;
mod refusals;
mod rows;
mod shapes;
