//! The launch of a kernel on a CUDA device.
//!
//! A kernel is a C function of these parameters: for a slice its address and its length in elements, for a value the value;
//! after all of them the address of the device tape (0 if it has none), the bytes of it for each thread, and the address of the
//! eight words of the [fault](super::stream::FaultPage). Where additions have a fixed order, the address of the [ledger](super::ledger) and its entries
//! for each thread follow.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdeviceptr};

use crate::buffer::{RawBuffer, Store};
use crate::error::{FaultKind, GpuError, KernelFault};
use crate::grid::Grid;
use crate::kernel::{Arg, Factor, Fresh, Kernel, KernelText, Order, Param, Tape};

use super::Context;
use super::driver::check;
use super::ledger::Ledger;
use super::memory::Memory;
use super::module::{Loaded, Variant};
use super::order::Access;
use super::stream::{RawStream, TapeMemory, WORDS};

/// The most that a tape of unknown size takes by itself.
pub(super) const TAPE_LIMIT: usize = 1 << 30;

impl Context {
    /// Launches a kernel whose arguments and grid were checked.
    pub(crate) fn launch(
        self: &Arc<Self>,
        kernel: &Kernel,
        grid: &Grid,
        checking: bool,
        args: &[Arg<'_>],
    ) -> Result<(), GpuError> {
        self.bind()?;
        let text = kernel.text();
        let x_only = grid.is_x_only();
        let stored = |at: usize| match (args.get(at), text.params.get(at)) {
            (Some(arg), Some(Param::Slice { fresh, .. }))
                if x_only && at < 64 && arg.is_fresh() =>
            {
                *fresh
            }
            _ => Fresh::Added,
        };
        let bits = (0..args.len()).filter(|at| stored(*at) != Fresh::Added);
        let bits = bits.fold(0, |bits, at| bits | 1_u64 << at);
        let order = match text.order[usize::from(!x_only)] {
            _ if !grid.is_deterministic() => Order::Free,
            Order::Refused(why) => {
                return Err(GpuError::Unsupported(format!(
                    "`Grid::deterministic` for kernel `{}`: {why}",
                    text.name
                )));
            }
            order => order,
        };
        let deterministic = order != Order::Free;
        let covered = |at: usize, arg: &Arg<'_>| {
            let elements = arg.buffer().map_or(0, RawBuffer::len) as u64;
            let Fresh::Covered(products) = stored(at) else { return false };
            let of = |product: &&[Factor]| {
                product.iter().fold(1_u64, |all, one| all.saturating_mul(one.of(grid, args)))
            };
            products.iter().all(|product| of(product) >= elements)
        };
        let loaded =
            self.kernel(text, Variant { checking, x_only, deterministic, stored: bits })?;
        loaded.check_threads(text.name, grid.thread_count().count())?;
        let shared = grid.shared_bytes() * text.dynamic_shared;
        loaded.allow_shared(shared, self.limits.shared)?;

        let stream = grid.chosen_stream().and_then(|s| s.raw()).map_or(&self.stream, |s| s.raw());
        let ledger = match order {
            Order::Logged(most) => Some(Ledger::new(self, grid, most)?),
            _ => None,
        };
        let reports = checking || text.tape == Tape::Unknown || order == Order::Logged(None);
        // Held until the launch is on the stream: another thread may want a larger tape.
        let mut tape = (reports || text.tape != Tape::None).then(|| stream.tape());
        let (tape, bytes) = match &mut tape {
            Some(tape) => self.tape(text.tape, grid, stream, tape)?,
            None => (0, 0),
        };
        let mut params = Params::new(args);
        params.extend(&[tape, bytes, stream.faults().device()]);
        let mut accesses: Vec<_> = args.iter().filter_map(access).collect();
        if let Some(ledger) = &ledger {
            params.extend(&ledger.words());
            accesses.push((&ledger.memory, Access::Write));
        }
        self.enqueue(stream, &accesses, || {
            for (at, arg) in args.iter().enumerate().filter(|(_, arg)| arg.is_fresh()) {
                if let Some((memory, _)) = access(arg).filter(|_| !covered(at, arg)) {
                    memory.clear_on(stream)?;
                }
            }
            if reports {
                stream.faults().clear(stream)?;
            }
            if let Some(ledger) = &ledger {
                ledger.memory.clear_on(stream)?;
            }
            // SAFETY: the parameters are those of the kernel, as the launch has checked them against what the compiler
            // wrote about it; buffers stay alive until the stream has come past this launch.
            unsafe { start(&loaded, grid, shared, stream, &mut params)? };
            ledger.as_ref().map_or(Ok(()), |ledger| ledger.carry_out(stream))
        })?;
        if !reports {
            return Ok(());
        }
        let ended = stream.synchronize();
        match fault(text, stream.faults().read(), ended.is_err()) {
            Some(fault) => Err(GpuError::Fault(fault)),
            None => ended,
        }
    }

    /// The tape of a launch, and its bytes for each thread.
    fn tape(
        &self,
        tape: Tape,
        grid: &Grid,
        stream: &RawStream,
        memory: &mut TapeMemory,
    ) -> Result<(CUdeviceptr, u64), GpuError> {
        let threads = usize::try_from(grid.total_threads()).unwrap_or(usize::MAX).max(1);
        let each = match tape {
            Tape::None => 0,
            Tape::PerThread(bytes) => bytes.next_multiple_of(8),
            Tape::Unknown => {
                // What is the tape's already can be had as well.
                let free = || (self.free_bytes() + memory.bytes()) / 4;
                let total = grid.tape_limit().unwrap_or_else(|| free().min(TAPE_LIMIT));
                (total / threads) & !7
            }
        };
        let total = each.checked_mul(threads);
        let total = total
            .ok_or_else(|| GpuError::OutOfMemory { asked: usize::MAX, free: self.free_bytes() })?;
        let ptr = if total == 0 { 0 } else { memory.reserve(total, self, stream)? };
        Ok((ptr, each as u64))
    }
}

/// What a launch does with the memory of an argument.
fn access<'a>(arg: &Arg<'a>) -> Option<(&'a Memory, Access)> {
    let access = if arg.is_mutable() { Access::Write } else { Access::Read };
    match arg.buffer()?.store() {
        Store::Cuda(memory) => Some((memory, access)),
        Store::Cells(_) | Store::Failed(_) => None,
    }
}

/// The parameters of a launch, each in the low bytes of a word: hosts of CUDA devices are little-endian.
pub(super) struct Params(pub(super) Vec<u64>);

const _: () =
    assert!(cfg!(target_endian = "little"), "parameters are taken from the low bytes of words");

impl Params {
    fn new(args: &[Arg<'_>]) -> Self {
        let mut words = Vec::with_capacity(2 * args.len() + 3);
        for arg in args {
            match arg {
                Arg::Value { bits, .. } => words.push(*bits),
                other => {
                    let address = access(other).map_or(0, |(memory, _)| memory.ptr());
                    let len = other.buffer().map_or(0, RawBuffer::len);
                    words.extend([address, len as u64]);
                }
            }
        }
        Self(words)
    }

    fn extend(&mut self, words: &[u64]) {
        self.0.extend(words);
    }
}

/// Puts a kernel on a stream.
///
/// # Safety
/// The parameters must be those of the kernel, and the memory they point to be alive until the stream has come past it.
pub(super) unsafe fn start(
    loaded: &Loaded,
    grid: &Grid,
    shared: usize,
    stream: &RawStream,
    params: &mut Params,
) -> Result<(), GpuError> {
    // The grid was checked against limits that are less than this.
    let word = |extent: u64| u32::try_from(extent).unwrap_or(u32::MAX);
    let (blocks, threads) = (grid.block_count(), grid.thread_count());
    let mut pointers: Vec<*mut c_void> =
        params.0.iter_mut().map(|word| (&raw mut *word).cast()).collect();
    // SAFETY: the caller's. The driver copies the parameters before it returns.
    let result = unsafe {
        sys::cuLaunchKernel(
            loaded.function(),
            word(blocks.x),
            word(blocks.y),
            word(blocks.z),
            word(threads.x),
            word(threads.y),
            word(threads.z),
            word(shared as u64),
            stream.raw(),
            pointers.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    check("cuLaunchKernel", result)
}

/// The fault that a kernel has written, if any. `lost`: the device was lost with it.
fn fault(text: &KernelText, words: [u32; WORDS], lost: bool) -> Option<KernelFault> {
    let [kind, tx, ty, tz, bx, by, bz, number] = words;
    let kind = match kind {
        0 => return None,
        1 => FaultKind::OutOfBounds,
        3 => FaultKind::TapeExhausted,
        4 => FaultKind::Arithmetic,
        _ => FaultKind::Assertion,
    };
    let known = usize::try_from(number).ok().and_then(|number| text.checks.get(number));
    let mut detail = match (known, kind) {
        (Some(check), _) => (*check).to_owned(),
        (None, FaultKind::TapeExhausted) => String::new(),
        (None, _) => format!("check {number}"),
    };
    if lost {
        detail.push_str("; the device was lost with it, start the program again to use it");
    }
    let detail = detail.trim_start_matches("; ").to_owned();
    Some(KernelFault {
        kernel: text.name.to_owned(),
        kind,
        thread: [tx, ty, tz],
        block: [bx, by, bz],
        detail,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    static TEXT: KernelText = KernelText {
        name: "k",
        language: "",
        cuda: "",
        params: &[],
        tape: Tape::None,
        constants: &[],
        dynamic_shared: 1,
        order: [Order::Free; 2],
        elect: None,
        checks: &["index of `x` at line 3"],
    };

    #[test]
    fn faults_are_read_from_their_words() {
        assert_eq!(fault(&TEXT, [0; WORDS], false), None);
        let found = fault(&TEXT, [1, 1, 2, 3, 4, 5, 6, 0], false).unwrap();
        assert_eq!(found.kind, FaultKind::OutOfBounds);
        assert_eq!((found.thread, found.block), ([1, 2, 3], [4, 5, 6]));
        assert_eq!(found.detail, "index of `x` at line 3");
        assert_eq!(fault(&TEXT, [2, 0, 0, 0, 0, 0, 0, 9], false).unwrap().detail, "check 9");
        assert_eq!(fault(&TEXT, [3, 0, 0, 0, 0, 0, 0, 9], false).unwrap().detail, "");
        assert!(fault(&TEXT, [4, 0, 0, 0, 0, 0, 0, 0], true).unwrap().detail.contains("lost"));
    }

    #[test]
    fn values_lie_in_the_low_bytes() {
        let device = Device::emulator();
        let x = device.zeros::<f64>(5).unwrap();
        let params = Params::new(&[Arg::from(1.0f32), Arg::from(&x), Arg::from(true)]);
        assert_eq!(params.0, [0x3f80_0000, 0, 5, 1]);
    }
}
