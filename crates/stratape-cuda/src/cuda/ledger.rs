//! Additions in a fixed order.
//!
//! Threads of a kernel write what they would add atomically to a ledger: a place and a number for each addition, the first ones of all threads side by side, then the second ones.
//! Another kernel carries the additions out. Each of its threads has some of the places, goes through the whole ledger, and adds what is for them, in the order
//! in which it stands there. The price is 16 bytes for each addition that a thread may do, and a pass over all of them.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;

use crate::error::GpuError;
use crate::grid::Grid;
use crate::kernel::{KernelText, Order, Tape};

use super::Context;
use super::launch::{Params, TAPE_LIMIT, start};
use super::memory::Memory;
use super::module::{Loaded, Variant};
use super::stream::RawStream;

/// Bytes of an addition.
const ENTRY: usize = 16;

static CARRY_OUT: KernelText = KernelText {
    name: "stratape_carry_out",
    language: "",
    cuda: include_str!("carry_out.cu"),
    params: &[],
    tape: Tape::None,
    constants: &[],
    dynamic_shared: 1,
    order: [Order::Free; 2],
    elect: None,
    checks: &[],
};

/// The ledger of a launch.
pub(super) struct Ledger {
    pub(super) memory: Memory,
    threads: usize,
    /// Entries for each thread.
    room: usize,
    carry_out: Arc<Loaded>,
}

impl Ledger {
    /// A ledger with room for `most` additions of each thread; with what a tape of unknown size gets, if their number is not known.
    pub(super) fn new(
        context: &Arc<Context>,
        grid: &Grid,
        most: Option<usize>,
    ) -> Result<Self, GpuError> {
        let threads = usize::try_from(grid.total_threads()).unwrap_or(usize::MAX).max(1);
        let room = match most {
            Some(most) => most,
            None => {
                let free = || (context.free_bytes() / 4).min(TAPE_LIMIT);
                grid.tape_limit().unwrap_or_else(free) / ENTRY / threads
            }
        };
        let bytes = threads.checked_mul(room).and_then(|entries| entries.checked_mul(ENTRY));
        let bytes = bytes.ok_or_else(|| GpuError::OutOfMemory {
            asked: usize::MAX,
            free: context.free_bytes(),
        })?;
        let variant = Variant { checking: false, x_only: true, deterministic: false, stored: 0 };
        let carry_out = context.kernel(&CARRY_OUT, variant)?;
        let memory = match grid.chosen_stream().and_then(|stream| stream.raw()) {
            Some(stream) => Memory::on(context, bytes, stream, true)?,
            None => Memory::new(context, bytes)?,
        };
        Ok(Self { memory, threads, room, carry_out })
    }

    /// What the kernel is told of it.
    pub(super) fn words(&self) -> [CUdeviceptr; 2] {
        [self.memory.ptr(), self.room as u64]
    }

    /// Puts the additions on the stream, after the kernel.
    pub(super) fn carry_out(&self, stream: &RawStream) -> Result<(), GpuError> {
        let grid = Grid::blocks(32).threads(256);
        let mut params = Params(vec![self.memory.ptr(), self.threads as u64, self.room as u64]);
        // SAFETY: the parameters are those of the kernel in `carry_out.cu`. The ledger holds that many entries, cleared before
        // the kernel that has written them; the places in them are of buffers of that launch, which stay alive until the
        // stream has come past this one, too.
        unsafe { start(&self.carry_out, &grid, 0, stream, &mut params) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::CARRY_OUT;
    use crate::nvrtc;

    #[test]
    fn it_compiles_for_a_device() {
        if !nvrtc::is_present() {
            let _ = writeln!(std::io::stderr(), "skipped: NVRTC not found (`ci/nvrtc` fetches it)");
            return;
        }
        for arch in ["sm_80", "sm_90"] {
            let ptx = nvrtc::to_ptx(CARRY_OUT.cuda, arch, &[]).unwrap();
            assert!(ptx.contains(".entry stratape_carry_out_kernel"));
        }
    }
}
