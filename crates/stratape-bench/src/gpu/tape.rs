//! A tape of device buffers: states of 64 MB that go over to memory of the host while kernels run, and come back.
//!
//! A kernel of about the time of one copy runs between two pushes, and between two pops. What is told: GB/s of the tape each way, the kernels
//! included, beside plain copies from and to page-locked memory with nothing else running; and how much of the shorter of the two, copies or
//! kernels, was hidden behind the other.

use stratape::gpu::{Buffer, Device, DeviceTape, DeviceTapeOptions, GpuError, Grid, PinnedSource};
use stratape::tape::source::{BlockSource, SourceError};

use crate::error::{Any, BenchError};
use crate::measure::try_time;
use crate::runner::{Line, Runner};

pub(super) const CASE: &str = "device-tape";

/// Takes time, and leaves something that depends on all of it.
#[stratape::kernel]
fn busy(x: &mut [f64], rounds: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let mut v = x[i];
        for _ in 0..rounds {
            v = 0.5 * v + 1.0;
        }
        x[i] = v;
    }
}

/// What is measured, each way: down in the forward pass, up in the reverse pass.
struct Found {
    /// Bytes a second.
    tape: [f64; 2],
    plain: [f64; 2],
    /// Parts of 1.
    overlap: [f64; 2],
    told: String,
}

pub(super) fn run(gpu: &Device, runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let small = runner.quick() || gpu.is_emulator();
    let found = measure(gpu, small).map_err(|error| runner.failed(CASE, 0, error))?;
    runner.remark(&found.told);
    for (way, name) in ["down", "up"].into_iter().enumerate() {
        runner.tell(&Line {
            bench: "gpu",
            case: &format!("{CASE}/{name}"),
            ours: found.tape[way] / 1e9,
            against: "plain pinned copies",
            theirs: found.plain[way] / 1e9,
            unit: "GB/s",
            aim: None,
        })?;
        runner.tell(&Line {
            bench: "gpu",
            case: &format!("{CASE}/overlap-{name}"),
            ours: found.overlap[way] * 100.0,
            against: "everything hidden",
            theirs: 100.0,
            unit: "%",
            aim: None,
        })?;
    }
    Ok(())
}

fn measure(gpu: &Device, small: bool) -> Result<Found, Any> {
    let bytes: usize = if small { 64 << 10 } else { 64 << 20 };
    // Those that stay are not copied, but their kernels run: few of many.
    let (states, on_device) = if small { (16, 4) } else { (128, 8) };
    let plain = plain_copies(gpu, bytes, if small { 3 } else { 15 })?;
    let mut state = gpu.zeros::<f64>(bytes / 8)?;
    let copy = bytes as f64 / plain[0];
    let rounds = calibrate(gpu, &mut state, copy)?;

    let mut tape = DeviceTapeOptions::new()
        .device_bytes(on_device * bytes)
        // With room to spare, so that nothing goes on to the disk.
        .host_bytes(2 * states * bytes)
        .open(gpu)?;
    // Page-locked memory takes long to get; the second time it is there.
    forward(gpu, &mut tape, &mut state, states, rounds)?;
    reverse(gpu, &mut tape, rounds)?;

    let alone = try_time(|| {
        for _ in 0..states {
            compute(gpu, &mut state, rounds)?;
        }
        gpu.synchronize()
    })?;
    let before = tape.stats();
    let down = try_time(|| forward(gpu, &mut tape, &mut state, states, rounds))?;
    let between = tape.stats();
    let up = try_time(|| reverse(gpu, &mut tape, rounds))?;
    let after = tape.stats();

    let moved = [
        (between.spilled_bytes - before.spilled_bytes) as f64,
        (after.raised_bytes - between.raised_bytes) as f64,
    ];
    let took = [down, up];
    let overlap = [0, 1].map(|way: usize| {
        let copies = moved[way] / plain[way];
        let hidden = alone + copies - took[way];
        (hidden / copies.min(alone).max(1e-12)).clamp(0.0, 1.0)
    });
    let told = format!(
        "{states} states of {bytes} bytes, {on_device} on the device; kernels alone {:.3} ms, forward {:.3} ms, reverse {:.3} ms; {} waits of {:.3} ms, \
         {} blocks not page-locked",
        alone * 1e3,
        down * 1e3,
        up * 1e3,
        after.waits - before.waits,
        (after.waited - before.waited).as_secs_f64() * 1e3,
        after.unlocked_blocks,
    );
    Ok(Found { tape: [0, 1].map(|way: usize| moved[way] / took[way]), plain, overlap, told })
}

/// Bytes a second of copies that are waited for, down and up: the best of several.
fn plain_copies(gpu: &Device, bytes: usize, rounds: usize) -> Result<[f64; 2], Any> {
    let block = PinnedSource::new(gpu).allocate(bytes.next_multiple_of(4096), 4096);
    let mut block = block.map_err(|error: SourceError| Any::from(error.to_string()))?;
    let host = &mut block.bytes_mut()[..bytes];
    host.fill(1);
    let mut buffer = gpu.upload(host)?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        best[0] = best[0].min(try_time(|| buffer.download_into(host))?);
        best[1] = best[1].min(try_time(|| buffer.write(host))?);
    }
    Ok(best.map(|seconds| bytes as f64 / seconds.max(1e-9)))
}

/// Rounds for which the kernel takes this many seconds.
fn calibrate(gpu: &Device, state: &mut Buffer<f64>, seconds: f64) -> Result<usize, GpuError> {
    if gpu.is_emulator() {
        return Ok(2);
    }
    let mut rounds = 64;
    for _ in 0..6 {
        compute(gpu, state, rounds)?;
        gpu.synchronize()?;
        let took = try_time(|| {
            (0..4).try_for_each(|_| compute(gpu, state, rounds))?;
            gpu.synchronize()
        })? / 4.0;
        rounds = ((rounds as f64 * seconds / took.max(1e-9)) as usize).clamp(1, 1 << 20);
    }
    Ok(rounds)
}

fn compute(gpu: &Device, state: &mut Buffer<f64>, rounds: usize) -> Result<(), GpuError> {
    let grid = Grid::blocks(state.len().div_ceil(256)).threads(256);
    busy::launch(gpu, &grid, (state, rounds))
}

fn forward(
    gpu: &Device,
    tape: &mut DeviceTape,
    state: &mut Buffer<f64>,
    states: usize,
    rounds: usize,
) -> Result<(), GpuError> {
    for _ in 0..states {
        compute(gpu, state, rounds)?;
        tape.push_copy(state)?;
    }
    gpu.synchronize()
}

fn reverse(gpu: &Device, tape: &mut DeviceTape, rounds: usize) -> Result<(), GpuError> {
    while let Some(mut state) = tape.pop::<f64>()? {
        compute(gpu, &mut state, rounds)?;
    }
    gpu.synchronize()
}
