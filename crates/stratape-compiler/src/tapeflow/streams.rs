//! Streams: what happens at the ends of a layer.
//!
//! Where the forward half has filled a layer, it is handed to the tape, which moves what is deepest to lower tiers in the background: *out*. Where the backward
//! half begins a layer, it takes it from the tape and asks for the one before, so that a tape that has left memory is read layer by layer as it will be
//! needed: *in*.
//!
//! ```text
//! for i in 0..n strip region 0 { … push … }   …   for i in 0..n reversed strip region 0 { … pop … }
//! →  … strip region 0 stream out …            …   … strip region 0 stream in …
//! ```
//!
//! The validator sees that each stream in has its stream out. Runs after `strip_mine`. Changes no bit.

use crate::driver::{Context, Pass, Promise};
use crate::lower::reschedule;
use std::collections::HashSet;
use stratape_ir::{Function, Half, Stmt, Stream, ValueId, walk};

/// The pass.
pub const STREAMS: Pass = Pass {
    name: "streams",
    after: &["strip_mine"],
    promise: Promise::SameBits,
    required: true,
    run: assign,
};

/// Says for each loop with a region which way its layers go.
fn assign(function: &mut Function, _: &mut Context<'_>) {
    let mut fills: HashSet<ValueId> = HashSet::new();
    walk(&function.body, &mut |item| {
        if let Stmt::Loop(node) = item
            && item.uses_tape(Half::Forward)
        {
            fills.insert(node.counter);
        }
    });
    reschedule(&mut function.body, &mut |counter, schedule| {
        if let Some(strip) = schedule.strip.as_mut().filter(|strip| strip.region.is_some()) {
            let out = fills.contains(&counter);
            strip.stream = Some(if out { Stream::Out } else { Stream::In });
        }
    });
}
