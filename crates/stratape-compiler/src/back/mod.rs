//! Back ends: what becomes of a function in the end.

pub mod interp;
pub mod rust;
