//! Kernels and their gradients, run by `simt`: values against what is computed here, gradients against central differences.

mod adjoints;
mod atomics;
mod harness;
mod random;
mod refusals;
mod shapes;
