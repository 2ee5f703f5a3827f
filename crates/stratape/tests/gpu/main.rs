//! Kernels through the attributes, on the device that is there: the emulator, or a GPU.
//!
//! `STRATAPE_GPU=emulator` and `STRATAPE_GPU=cuda` choose. Gradients are held against central differences of the kernel itself, or against closed forms.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure is a panic")]

mod by_value;
mod differences;
mod extremes;
mod faults;
mod launches;
mod modules;
mod order;
mod pairs;
mod programs;
mod ptx;
mod shapes;
mod varied;
