//! Passes that make a function simpler, or a gradient faster, without changing a bit of the value, nor a panic.

pub mod adjoint;
pub mod canonical;
mod facts;
pub mod loops;
pub mod memory;

pub(crate) use self::facts::{integers, is_cheap, is_product, is_total, literals, runs};
