//! Back ends: what becomes of a function in the end.

pub mod cuda;
pub mod rust;
