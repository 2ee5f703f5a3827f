//! The compiler behind `#[gradient]`: reverse-mode gradients of Rust functions by source
//! transformation.
//!
//! It has no I/O and no `unsafe`, and is of use without the macros: to tests, to tools that explain
//! what is saved and why, to other back ends. A function goes through it room by room:
//!
//! | module | in | out |
//! |---|---|---|
//! | [`front`] | syntax (`syn`) | a function of the [intermediate language](ir), or an error at a token |
//! | [`analysis`] | a function | tables: what is active, what is overwritten |
//! | [`adjoint`] | a function | its gradient, in the same language, with tape operations |
//! | [`back::rust`] | a gradient | Rust tokens |
//! | [`back::interp`] | any function, and arguments | its results: the oracle of the tests |
//!
//! [`compile`] puts them together, [`expand`] for the attributes, [`explain`] for people who ask what is saved and why.

#![forbid(unsafe_code)]

pub mod adjoint;
pub mod analysis;
pub mod back;
pub mod compile;
pub mod expand;
pub mod explain;
pub mod front;
pub mod ir;
pub mod outline;
pub mod passes;
