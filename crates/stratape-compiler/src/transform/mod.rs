//! Passes from the language to the language. Before differentiation they change no bit of the value and no panic; on a gradient they may change
//! the last bits of adjoints.
//!
//! | module | holds |
//! |---|---|
//! | [`canonical`] | the classical scalar passes: CSE, bounds-check elimination, LICM, if-conversion, DCE |
//! | [`loops`] | the shape of loops: peeling, coalescing, interchange, unroll-and-jam; which loops may run in any order |
//! | [`memory`] | what lies in memory, and how: AoS to SoA, scalar promotion, argmax, precomputed tables, dead initialisation |
//! | [`adjoint`] | what is legal on adjoints only: reciprocals, coefficients, invariant factors, scatter to gather |
//!
//! Every pass has a section in docs/compiler/passes.md.

pub mod adjoint;
pub mod canonical;
mod facts;
mod index;
pub mod loops;
pub mod memory;

pub(crate) use self::facts::{integers, is_cheap, is_product, is_total, literals, runs, trips};
pub(crate) use self::index::index;
