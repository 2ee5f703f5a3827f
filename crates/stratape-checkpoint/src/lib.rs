//! Checkpointed reversal of time loops.

pub mod schedule;
