//! What the commands `stratape` and `stratape-bench` share: how a command ends ([`failure`]), what the terminal can show
//! ([`terminal`]), and files that appear under their name only when they are complete ([`saving`]).

#![forbid(unsafe_code)]

pub mod failure;
pub mod saving;
pub mod terminal;
