//! Scratchpad: inside a layer an access to the tape is a base and a constant offset.
//!
//! Each record gets its place in the frames of its region. What an iteration pushes is then a plain store, and what it pops a plain load: at the frame,
//! which moves along with the loop, plus a constant, plus a constant for each iteration of short inner loops.
//!
//! ```text
//! region 0 of 7 f64; record #1 (y, z) in region 0; record #0 (x) in region 0
//! →  record #1 (y, z) in region 0 at 0 step 2; record #0 (x) in region 0 at 6
//! ```
//!
//! The order is that of use in the backward half. The arms of a branch have the same place: an iteration leaves one of them. Both halves see the same
//! tree of loops and branches, so that they come to the same places. Changes no bit; runs after `regions`.

use std::collections::BTreeSet;

use super::frame::Frames;
use crate::driver::{Context, Pass, Promise};
use stratape_ir::{Function, RecordId};

/// The pass.
pub const SCRATCHPAD: Pass = Pass {
    name: "scratchpad",
    after: &["regions"],
    promise: Promise::SameBits,
    required: true,
    run: assign,
};

/// Gives each record in a region its place in a frame.
fn assign(function: &mut Function, cx: &mut Context<'_>) {
    let mut places = Vec::new();
    {
        let frames = Frames::new(function, cx.target);
        for frame in frames.all() {
            let records: BTreeSet<RecordId> = frame.records().into_iter().collect();
            // Of all loops with a frame, those that were given a region.
            if records.iter().all(|record| function.region_of(*record).is_some()) {
                places.extend(frames.offsets(&frame));
            }
        }
    }
    for (record, offset) in places {
        if let Some(room) = &mut function.records[record.index()].room {
            room.offset = Some(offset);
        }
    }
}
