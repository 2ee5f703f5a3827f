//! The primitives of `stratape::gpu`, on the device that is there: the emulator, or a GPU.
//!
//! Each is held against a loop on the host, and each pullback against a closed form or central differences, in both types of numbers and for lengths around the borders of warps, blocks
//! and chunks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure is a panic")]

mod by_key;
mod common;
mod elementwise;
mod gather;
mod matmul;
mod reduce;
mod scan;
mod sort;
