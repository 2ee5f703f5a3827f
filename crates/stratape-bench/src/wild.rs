//! Programs nobody tuned for: loss functions as users write them.
//!
//! The other side of the reference programs. Each file holds one function in the plain form that its author would give it
//! without knowing how gradients are generated, its inputs, and the best adjoint by hand in plain safe Rust. The functions are
//! not reshaped for a better figure: they say how the compiler does on code that was not written for it.

// Loops over indices are how much of numerics is written.
#![allow(clippy::needless_range_loop)]

mod attention;
mod black_scholes;
mod blur;
mod bundle;
mod cg;
mod cholesky;
mod cutoff;
mod fem;
mod fft;
mod gmm;
mod heat;
mod hmm;
mod kalman;
mod limiter;
mod logistic;
mod lstm;
mod mixture;
mod mlp;
mod mlp_indexed;
mod mlp_iterators;
mod mlp_offset;
mod plate;
mod rays;
mod spline;
#[cfg(test)]
mod tests;
mod tetrahedra;
mod tridiagonal;
mod wave;
mod xy;

use crate::programs::Entry;

/// The programs, by name.
pub(crate) const ENTRIES: &[Entry] = &[
    ("mlp_offset", mlp_offset::program),
    ("mlp_indexed", mlp_indexed::program),
    ("mlp_iterators", mlp_iterators::program),
    ("gmm", gmm::program),
    ("lstm", lstm::program),
    ("kalman", kalman::program),
    ("cg", cg::program),
    ("fft", fft::program),
    ("cholesky", cholesky::program),
    ("heat", heat::program),
    ("wave", wave::program),
    ("black_scholes", black_scholes::program),
    ("bundle", bundle::program),
    ("attention", attention::program),
    ("spline", spline::program),
    ("rays", rays::program),
    ("cutoff", cutoff::program),
    ("xy", xy::program),
    ("hmm", hmm::program),
    ("limiter", limiter::program),
    ("logistic", logistic::program),
    ("tridiagonal", tridiagonal::program),
    ("blur", blur::program),
    ("fem", fem::program),
    ("mixture", mixture::program),
    ("tetrahedra", tetrahedra::program),
    ("plate", plate::program),
];
