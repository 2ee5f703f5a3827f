//! Layers: how many frames of a region are on the way at once.
//!
//! A loop with a region runs in *layers*: it fills room for so many frames, hands the layer to the tape and goes on with the next; the backward half takes
//! layer after layer in the opposite order. Each layer knows how many frames it holds, so that the last one may be shorter and a count need not be
//! known beforehand: that of a loop with an exit is what has been run when it ends.
//!
//! ```text
//! region 0 of 2 f64                  tape(layer_bytes = 4096)
//! →  region 0 of 2 f64 layer 256     256 frames of 16 bytes
//! ```
//!
//! Without a size the tape itself decides when it runs: at most 64 KiB, and what fits a slab, which is what was measured to pay on a CPU
//! (docs/performance.md). A size is for machines with less room, and for comparisons. A frame that is larger than a layer has layers of its own: one
//! frame each. Changes no bit.

use crate::driver::{Context, Pass, Promise};
use stratape_ir::Function;

/// The pass.
pub const LAYERS: Pass = Pass {
    name: "layers",
    after: &["regions"],
    promise: Promise::SameBits,
    required: true,
    run: assign,
};

/// Decides for each region how many frames make a layer.
fn assign(function: &mut Function, cx: &mut Context<'_>) {
    let Some(bytes) = cx.target.tape.layer_bytes else { return };
    for region in &mut function.regions {
        let frames = (bytes / region.frame_bytes().max(1)).max(1);
        region.layer = Some(region.layer.map_or(frames, |most| most.min(frames)));
    }
}
