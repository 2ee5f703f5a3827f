//! What the commands `stratape`, `stratape-bench` and `stratape-model` share: how a command ends ([`failure`]), what the terminal can show
//! ([`terminal`]), files that appear under their name only when they are complete ([`saving`]), and pages of HTML ([`page`]).

#![forbid(unsafe_code)]

pub mod failure;
pub mod page;
pub mod saving;
pub mod terminal;
