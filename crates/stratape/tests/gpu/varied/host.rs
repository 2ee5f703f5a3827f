//! Host functions.

use crate::differences::{agree, numbers};
use stratape::gpu::{self, Buffer, Device, GpuError, Grid, Order};

use super::holds;

#[stratape::kernel]
#[gradient]
fn step(next: &mut [f64], now: &[f64], rate: f64) {
    let n = now.len();
    for i in
        (thread_idx().x + block_idx().x * block_dim().x..n).step_by(block_dim().x * grid_dim().x)
    {
        next[i] = now[i] + rate * (now[(i + 1) % n] - now[i]) * now[i];
    }
}

#[stratape::kernel]
#[gradient]
fn product(out: &mut [f64], a: &[f64], b: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < out.len() {
        out[i] = a[i] * b[b.len() - 1 - i].sin();
    }
}

#[stratape::gradient]
fn by_key(gpu: &Device, x: &[f64], keys: &[u32], initial: f64) -> Result<f64, GpuError> {
    let (x, keys) = (gpu.upload(x)?, gpu.upload(keys)?);
    let runs = gpu::inclusive_scan_by_key(&keys, &x)?;
    let before = gpu::exclusive_scan_by_key(&keys, &runs, initial)?;
    let mut out = gpu.alloc_like(&x)?;
    product::launch(gpu, Grid::blocks(3).threads(8), (&mut out, &before, &before))?;
    let (_, sums) = gpu::reduce_by_key(&keys, &out)?;
    gpu::dot(&sums, &sums)
}

#[stratape::gradient]
fn sorted(gpu: &Device, x: &[f64], v: &[f64], index: &[u32]) -> Result<f64, GpuError> {
    let (x, v, index) = (gpu.upload(x)?, gpu.upload(v)?, gpu.upload(index)?);
    let sorted = gpu::sort_by_key(&x, &v, Order::Descending)?;
    let (keys, values) = (sorted.keys, sorted.values);
    let spread = gpu::scatter(&values, &index, &keys)?;
    let runs = gpu::inclusive_scan(&spread)?;
    let twice = gpu::dot(&runs, &runs)?;
    Ok(twice + gpu::max(&keys)? * gpu::product(&values)?)
}

#[stratape::gradient]
fn matched(gpu: &Device, x: &[f64], rate: f64, steps: usize, kind: u32) -> Result<f64, GpuError> {
    let mut now = gpu.upload(x)?;
    let mut next = gpu.zeros(x.len())?;
    for k in 0..steps {
        let grid = Grid::blocks(1 + k).threads(4);
        match step::launch(gpu, grid, (&mut next, &now, rate * (k as f64 + 1.0))) {
            Ok(()) => {}
            Err(e) => return Err(e),
        }
        match kind {
            0 => std::mem::swap(&mut now, &mut next),
            1 => now.copy_from(&next)?,
            _ => {
                let kept = now.clone();
                product::launch(gpu, Grid::blocks(4).threads(4), (&mut now, &next, &kept))?;
            }
        }
    }
    product::launch(gpu, Grid::blocks(4).threads(4), (&mut next, &now, &now))?;
    if kind > 2 {
        next.fill_zero()?;
    }
    gpu::sum(&next)
}

#[stratape::gradient]
fn snapshots(gpu: &Device, x: &[f64], rate: f64, steps: usize) -> Result<f64, GpuError> {
    let mut now = gpu.upload(x)?;
    let mut next = gpu.zeros(x.len())?;
    let mut sum = 0.0;
    #[checkpoint(slots = 3)]
    for k in 0..steps {
        step::launch(gpu, Grid::blocks(2).threads(4), (&mut next, &now, rate))?;
        std::mem::swap(&mut now, &mut next);
        if k % 2 == 1 {
            product::launch(gpu, Grid::blocks(2).threads(8), (&mut next, &now, &now))?;
            sum += gpu::sum(&next)? * rate;
        }
    }
    Ok(sum + gpu::dot(&now, &now)?)
}

#[stratape::gradient]
fn buffers(gpu: &Device, x: &Buffer<f64>, y: &mut Buffer<f64>, a: f64) -> Result<(), GpuError> {
    let old = y.clone();
    product::launch(gpu, Grid::blocks(1).threads(16), (&mut *y, &old, x))?;
    step::launch(gpu, Grid::blocks(2).threads(3), (&mut *y, x, a))?;
    let list = [&old, x];
    let mut more = gpu.alloc_like(x)?;
    product::launch(gpu, Grid::blocks(1).threads(16), (&mut more, list[0], list[1]))?;
    product::launch(gpu, Grid::blocks(1).threads(16), (y, &more, x))?;
    Ok(())
}

#[test]
fn keys() {
    let gpu = Device::new().unwrap();
    for n in [1, 2, 17] {
        let keys: Vec<u32> = (0..n).map(|i| [3, 3, 1, 1, 1, 7][i % 6]).collect();
        let at = numbers(n + 1);
        let mut dx = vec![0.0; n];
        let (_, d) = by_key_grad(&gpu, &at[1..], &mut dx, &keys, at[0], 1.0).unwrap();
        let found = [&[d], &dx[..]].concat();
        agree(|at| by_key(&gpu, &at[1..], &keys, at[0]).unwrap(), &at, &found, 1e-6);
    }
    let value = by_key_grad(&gpu, &[], &mut [], &[], 2.0, 1.0).unwrap();
    assert_eq!(value, (0.0, 0.0));
}

#[test]
fn sorts() {
    let gpu = Device::new().unwrap();
    let n = 12;
    // Some indices twice.
    let index: Vec<u32> = (0..n as u32).map(|i| i * 7 % 9).collect();
    let at = numbers(2 * n);
    let (mut dx, mut dv) = (vec![0.0; n], vec![0.0; n]);
    sorted_grad(&gpu, &at[..n], &mut dx, &at[n..], &mut dv, &index, 1.0).unwrap();
    agree(|at| sorted(&gpu, &at[..n], &at[n..], &index).unwrap(), &at, &[dx, dv].concat(), 1e-6);
}

#[test]
fn matches_and_swaps() {
    let gpu = Device::new().unwrap();
    let n = 9;
    let at: Vec<f64> = numbers(n + 1).iter().map(|v| 0.3 * v).collect();
    for kind in 0..4 {
        for steps in [0, 1, 2, 5] {
            let mut dx = vec![0.0; n];
            let (_, d) = matched_grad(&gpu, &at[1..], &mut dx, at[0], steps, kind, 1.0).unwrap();
            let found = [&[d], &dx[..]].concat();
            agree(|at| matched(&gpu, &at[1..], at[0], steps, kind).unwrap(), &at, &found, 1e-6);
        }
    }
}

#[test]
fn steps_from_snapshots() {
    let gpu = Device::new().unwrap();
    let n = 9;
    let at: Vec<f64> = numbers(n + 1).iter().map(|v| 0.3 * v).collect();
    for steps in [0, 1, 2, 7, 20] {
        let mut dx = vec![0.0; n];
        let (_, d) = snapshots_grad(&gpu, &at[1..], &mut dx, at[0], steps, 1.0).unwrap();
        let found = [&[d], &dx[..]].concat();
        agree(|at| snapshots(&gpu, &at[1..], at[0], steps).unwrap(), &at, &found, 1e-6);
    }
}

#[test]
fn buffers_of_the_caller() {
    holds(
        &[Grid::blocks(1)],
        8,
        &numbers(17),
        |gpu, _, y, v| buffers(gpu, &gpu.upload(&v[1..]).unwrap(), y, v[0]).unwrap(),
        |gpu, _, y, dy, v| {
            let x = gpu.upload(&v[1..]).unwrap();
            let mut dx = gpu.zeros(8).unwrap();
            let d = buffers_grad(gpu, &x, &mut dx, y, dy, v[0]).unwrap();
            [vec![d], dx.download().unwrap()].concat()
        },
    );
}

#[stratape::gradient]
fn ignored(gpu: &Device, x: &[f64]) -> Result<f64, GpuError> {
    let x = gpu.upload(x)?;
    let mut y = gpu.zeros(x.len())?;
    let _ = step::launch(gpu, Grid::blocks(1).threads(4), (&mut y, &x, 0.5));
    gpu::dot(&y, &y)
}

#[test]
fn an_ignored_result() {
    let gpu = Device::new().unwrap();
    let at = numbers(6);
    let mut dx = vec![0.0; 6];
    let value = ignored_grad(&gpu, &at, &mut dx, 1.0).unwrap();
    assert_eq!(value, ignored(&gpu, &at).unwrap());
    agree(|at| ignored(&gpu, at).unwrap(), &at, &dx, 1e-6);
}
