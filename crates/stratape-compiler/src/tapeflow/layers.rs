//! Layers: how many records of a region are on the way at once.
//!
//! A loop whose records lie in regions runs in *layers*: it fills room for so many records, hands the layer to the tape and goes on with the next;
//! the backward half takes layer after layer in the opposite order. Each layer knows how many records it holds, so that the last one may be shorter
//! and a count need not be known beforehand.
//!
//! ```text
//! record #0 (a: f64, b: f64) region as f64            tape(layer_bytes = 4096)
//! →  record #0 (a: f64, b: f64) region of 256 as f64   256 records of 16 bytes
//! ```
//!
//! Without a size the tape itself decides when it runs: at most 64 KiB, and what fits a slab, which is what was measured to pay on a CPU
//! (docs/tapeflow.md). A size is for machines with less room, and for comparisons. A record that is larger than a layer has layers of its own: one
//! record each. Changes no bit.

use crate::driver::{Context, Pass, Promise};
use stratape_ir::{Cell, Function};

/// The pass.
pub const LAYERS: Pass = Pass {
    name: "layers",
    after: &["regions"],
    promise: Promise::SameBits,
    required: true,
    run: assign,
};

/// Decides for each record in regions how many of them make a layer.
fn assign(function: &mut Function, cx: &mut Context<'_>) {
    let Some(bytes) = cx.target.tape.layer_bytes else { return };
    for record in function.records.iter_mut().filter(|record| record.region) {
        let cell = record.cell.unwrap_or_else(|| Cell::of(&record.types));
        let each = cell.bytes() * record.types.len();
        record.layer = Some((bytes / each.max(1)).max(1));
    }
}
