//! Programs nobody tuned for: loss functions as users write them.
//!
//! The other side of the reference programs. Each file holds one function in the plain form that its author would give it
//! without knowing how gradients are generated, its inputs, and for some a plain adjoint by hand. Nobody changes the function,
//! or the compiler, to make one of them look better: they say how it does on code that it has never seen.

// Loops over indices are how much of numerics is written.
#![allow(clippy::needless_range_loop)]

mod attention;
mod gmm;
mod hmm;
mod kalman;
mod logistic;
mod lstm;
mod mlp;
mod mlp_indexed;
mod mlp_iterators;
mod mlp_offset;
#[cfg(test)]
mod tests;

use crate::programs::Entry;

/// The programs, by name.
pub(crate) const ENTRIES: &[Entry] = &[
    ("mlp_offset", mlp_offset::program),
    ("mlp_indexed", mlp_indexed::program),
    ("mlp_iterators", mlp_iterators::program),
    ("gmm", gmm::program),
    ("lstm", lstm::program),
    ("kalman", kalman::program),
    ("attention", attention::program),
    ("hmm", hmm::program),
    ("logistic", logistic::program),
];
