//! Kernels and their gradients on a device: six programs whose gradients JAX and PyTorch compute too, the equation of state of LULESH, and a tape of buffers beside
//! plain copies.
//!
//! Each case is the gradient, with shadows that are overwritten, beside the kernel itself. What the peers take is measured apart, on the same card. Without a device
//! (or with `--emulator`) the emulator runs small sizes: that shows that it runs, and nothing about speed.

mod kernels;
mod lulesh;
mod tape;

use stratape::gpu::{Buffer, Device, GpuError, Grid, fresh, matmul};

use self::kernels::{
    axpy_sum, axpy_sum_grad, contraction, contraction_grad, many_squares, n_body, n_body_grad,
    softmax, softmax_grad, squares, squares_grad, stencil, stencil_grad,
};
use crate::error::BenchError;
use crate::measure::try_time;
use crate::runner::{Line, Runner};

/// Measures a program on a device, at a small size if asked to.
type Case = fn(&Device, bool) -> Result<Times, GpuError>;

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    let cases: [(&str, Case); 9] = [
        ("axpy_sum", axpy_case),
        ("n_body", n_body_case),
        ("stencil", stencil_case),
        ("contraction", product_case),
        ("contraction_by_threads", contraction_case),
        ("softmax", softmax_case),
        ("squares", squares_case),
        ("equation of state, size 50", lulesh::size_50),
        ("equation of state, size 100", lulesh::size_100),
    ];
    let mut device = None;
    for (name, case) in cases {
        if !runner.wants(name) {
            continue;
        }
        let gpu = open(&mut device, name, runner)?;
        let small = runner.quick() || gpu.is_emulator();
        let times = case(&gpu, small).map_err(|error| runner.failed(name, 0, error))?;
        runner.tell(&Line {
            bench: "gpu",
            case: name,
            ours: times.gradient * 1e6,
            against: "the kernel itself",
            theirs: times.kernel * 1e6,
            unit: "us",
            aim: None,
        })?;
    }
    if runner.wants(tape::CASE) {
        let gpu = open(&mut device, tape::CASE, runner)?;
        tape::run(&gpu, runner)?;
    }
    Ok(())
}

/// The device of all cases.
fn open(
    device: &mut Option<Device>,
    case: &str,
    runner: &mut Runner<'_>,
) -> Result<Device, BenchError> {
    if let Some(gpu) = device {
        return Ok(gpu.clone());
    }
    let opened = match runner.emulator() {
        true => Ok(Device::emulator()),
        false => Device::new(),
    };
    let gpu = opened.map_err(|error| runner.failed(case, 0, error))?;
    let gpu = if gpu.is_emulator() { gpu.checking(false) } else { gpu };
    runner.remark(&format!("on {gpu}"));
    *device = Some(gpu.clone());
    Ok(gpu)
}

/// Seconds of a launch that is waited for, medians.
struct Times {
    kernel: f64,
    gradient: f64,
}

/// The median of several launches, each waited for.
fn median(gpu: &Device, mut launch: impl FnMut() -> Result<(), GpuError>) -> Result<f64, GpuError> {
    let rounds = if gpu.is_emulator() { 1 } else { 15 };
    for _ in 0..if gpu.is_emulator() { 0 } else { 3 } {
        launch()?;
        gpu.synchronize()?;
    }
    let mut times = Vec::new();
    for _ in 0..rounds {
        times.push(try_time(|| {
            launch()?;
            gpu.synchronize()
        })?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Numbers in [0, 1).
fn uniform(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

fn upload(gpu: &Device, n: usize, seed: u64) -> Result<Buffer<f64>, GpuError> {
    gpu.upload(&uniform(n, seed))
}

fn one(gpu: &Device) -> Result<Buffer<f64>, GpuError> {
    gpu.upload(&[1.0])
}

fn axpy_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let n = if small { 1 << 12 } else { 1 << 24 };
    let grid = Grid::blocks(n / 256).threads(256);
    let (x, y) = (upload(gpu, n, 1)?, upload(gpu, n, 2)?);
    let (mut out, mut dout) = (gpu.zeros(1)?, one(gpu)?);
    let (mut dx, mut dy) = (gpu.zeros(n)?, gpu.zeros(n)?);
    let kernel = median(gpu, || axpy_sum::launch(gpu, &grid, (&mut out, &x, &y)))?;
    let gradient = median(gpu, || {
        let shadows = (&mut out, &mut dout, &x, fresh(&mut dx), &y, fresh(&mut dy));
        axpy_sum_grad::launch(gpu, &grid, shadows)
    })?;
    Ok(Times { kernel, gradient })
}

fn n_body_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let n = if small { 128 } else { 16384 };
    // There are fewer points than the device has room for threads.
    let slices = if small { 4 } else { 64 };
    let grid = Grid::blocks((n / 64, slices)).threads(64);
    let points: Vec<[f64; 3]> =
        uniform(3 * n, 3).chunks(3).map(|point| [point[0], point[1], point[2]]).collect();
    let x = gpu.upload(&points)?;
    let (mut out, mut dout, mut dx) = (gpu.zeros(1)?, one(gpu)?, gpu.zeros(n)?);
    let kernel = median(gpu, || n_body::launch(gpu, &grid, (&mut out, &x, 1e-3)))?;
    let gradient = median(gpu, || {
        n_body_grad::launch(gpu, &grid, (&mut out, &mut dout, &x, fresh(&mut dx), 1e-3))
    })?;
    Ok(Times { kernel, gradient })
}

fn stencil_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let n: usize = if small { 12 } else { 256 };
    let all = n * n * n;
    let grid = Grid::blocks((n.div_ceil(32), n.div_ceil(4), n.div_ceil(2))).threads((32, 4, 2));
    let (u, k) = (upload(gpu, all, 4)?, upload(gpu, all, 5)?);
    let (mut out, mut dout) = (gpu.zeros(1)?, one(gpu)?);
    let (mut du, mut dk) = (gpu.zeros(all)?, gpu.zeros(all)?);
    let kernel = median(gpu, || stencil::launch(gpu, &grid, (&mut out, &u, &k, n)))?;
    let gradient = median(gpu, || {
        let shadows = (&mut out, &mut dout, &u, fresh(&mut du), &k, fresh(&mut dk), n);
        stencil_grad::launch(gpu, &grid, shadows)
    })?;
    Ok(Times { kernel, gradient })
}

fn contraction_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let n: usize = if small { 6 } else { 64 };
    let (all, side) = (n * n * n, (n * n).div_ceil(16));
    let grid = Grid::blocks((side, side)).threads((16, 16));
    let (a, b) = (upload(gpu, all, 6)?, upload(gpu, all, 7)?);
    let (mut out, mut dout) = (gpu.zeros(1)?, one(gpu)?);
    let (mut da, mut db) = (gpu.zeros(all)?, gpu.zeros(all)?);
    let kernel = median(gpu, || contraction::launch(gpu, &grid, (&mut out, &a, &b, n)))?;
    let gradient = median(gpu, || {
        let shadows = (&mut out, &mut dout, &a, fresh(&mut da), &b, fresh(&mut db), n);
        contraction_grad::launch(gpu, &grid, shadows)
    })?;
    Ok(Times { kernel, gradient })
}

/// The contraction as a function of the host, on a ready-made product of matrices.
fn product_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let n: usize = if small { 6 } else { 64 };
    let all = n * n * n;
    let (a, b) = (upload(gpu, all, 6)?, upload(gpu, all, 7)?);
    let kernel = median(gpu, || contracted(gpu, &a, &b, n).map(drop))?;
    let gradient = median(gpu, || {
        let (mut da, mut db) = (gpu.zeros(all)?, gpu.zeros(all)?);
        contracted_grad(gpu, &a, &mut da, &b, &mut db, n, 1.0).map(drop)
    })?;
    Ok(Times { kernel, gradient })
}

/// Σ C², where C[i, j, l, m] = Σₖ A[i, j, k]·B[k, l, m].
#[stratape::gradient]
fn contracted(gpu: &Device, a: &Buffer<f64>, b: &Buffer<f64>, n: usize) -> Result<f64, GpuError> {
    let side = n * n;
    let c = matmul(a, b, (side, n, side))?;
    let mut out = gpu.zeros(1)?;
    let blocks = (side * side).div_ceil(256).min(2048);
    many_squares::launch(gpu, Grid::blocks(blocks).threads(256), (&mut out, &c))?;
    Ok(out.download()?[0])
}

fn softmax_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let (rows, n) = if small { (4, 300) } else { (8192, 4096) };
    let grid = Grid::blocks(rows).threads(256);
    let (x, s) = (upload(gpu, rows * n, 8)?, upload(gpu, rows * n, 9)?);
    let (mut out, mut dout, mut dx) = (gpu.zeros(1)?, one(gpu)?, gpu.zeros(rows * n)?);
    let kernel = median(gpu, || softmax::launch(gpu, &grid, (&mut out, &x, &s, n)))?;
    let gradient = median(gpu, || {
        softmax_grad::launch(gpu, &grid, (&mut out, &mut dout, &x, fresh(&mut dx), &s, n))
    })?;
    Ok(Times { kernel, gradient })
}

fn squares_case(gpu: &Device, small: bool) -> Result<Times, GpuError> {
    let n = if small { 1 << 12 } else { 1 << 26 };
    let grid = Grid::blocks(n / 256).threads(256);
    let x = upload(gpu, n, 10)?;
    let (mut out, mut dout, mut dx) = (gpu.zeros(1)?, one(gpu)?, gpu.zeros(n)?);
    let kernel = median(gpu, || squares::launch(gpu, &grid, (&mut out, &x)))?;
    let gradient = median(gpu, || {
        squares_grad::launch(gpu, &grid, (&mut out, &mut dout, &x, fresh(&mut dx)))
    })?;
    Ok(Times { kernel, gradient })
}
