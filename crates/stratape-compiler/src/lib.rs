//! The compiler behind `#[gradient]`: reverse-mode gradients of Rust functions by source
//! transformation.
//!
//! It has no I/O and no `unsafe`, and is of use without the macros: to tests, to tools that explain
//! what is saved and why, to other back ends. The language it works on is [`stratape_ir`]; a function goes through it room by room:
//!
//! | module | in | out |
//! |---|---|---|
//! | [`front`] | syntax (`syn`) | a function of the [intermediate language](stratape_ir), or an error at a token |
//! | [`transform`] | a function | the same function, simpler or faster |
//! | [`ad`] | a function | its gradient, in the same language, with tape operations |
//! | [`back::rust`] | a gradient | Rust tokens |
//!
//! [`driver`] puts them together, [`expand`] for the attributes, [`link`] for what they take from other files and crates, [`library`] for types of crates that are known by heart, [`kernels`] and [`elementwise`] for functions that run on a device, [`explain`] for people who ask what is saved and why.

#![forbid(unsafe_code)]

pub mod ad;
mod arguments;
pub mod back;
pub mod driver;
pub mod elementwise;
pub mod expand;
pub mod explain;
pub mod front;
pub mod kernels;
pub mod library;
pub mod link;
pub mod lower;
mod methods;
pub mod outline;
pub mod source;
pub mod tapeflow;
pub mod transform;
pub mod variants;
mod walk;
