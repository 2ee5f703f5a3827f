//! Groups, sorting and scattering in host functions; and what becomes of failures in them.

use crate::{close, differences};
use stratape::gpu::{self, Device, GpuError, Grid, Order};
use stratape::gradient;

/// Numbers between 0.5 and 1.5, no two of which are close.
fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.5 + ((k * 37 + 11) % 101) as f64 / 101.0).collect()
}

#[track_caller]
fn agree(f: impl Fn(&[f64]) -> f64, at: &[f64], found: &[f64]) {
    close(found, &differences(at, f));
}

#[gradient]
fn grouped(
    gpu: &Device,
    keys: &[u32],
    x: &[f64],
    weights: &[f64],
    initial: f64,
) -> Result<f64, GpuError> {
    let (keys, x, w) = (gpu.upload(keys)?, gpu.upload(x)?, gpu.upload(weights)?);
    let inclusive = gpu::inclusive_scan_by_key(&keys, &x)?;
    let exclusive = gpu::exclusive_scan_by_key(&keys, &x, initial)?;
    let (_, sums) = gpu::reduce_by_key(&keys, &x)?;
    Ok(gpu::dot(&inclusive, &w)? * gpu::dot(&exclusive, &w)? + gpu::dot(&sums, &sums)?)
}

#[test]
fn groups() {
    let gpu = Device::new().unwrap();
    let keys = [3, 3, 1, 1, 1, 3, 7];
    let at = numbers(15);
    let run = |at: &[f64]| grouped(&gpu, &keys, &at[..7], &at[7..14], at[14]).unwrap();
    let (mut dx, mut dw) = (vec![0.0; 7], vec![0.0; 7]);
    let (value, dinitial) =
        grouped_grad(&gpu, &keys, &at[..7], &mut dx, &at[7..14], &mut dw, at[14], 1.0).unwrap();
    assert_eq!(value, run(&at));
    agree(run, &at, &[&dx[..], &dw, &[dinitial]].concat());
}

#[gradient]
fn sorted(
    gpu: &Device,
    keys: &[f64],
    x: &[f64],
    weights: &[f64],
    numbers: &[u32],
) -> Result<f64, GpuError> {
    let (keys, x, w) = (gpu.upload(keys)?, gpu.upload(x)?, gpu.upload(weights)?);
    let numbers = gpu.upload(numbers)?;
    let up = gpu::sort_by_key(&keys, &x, Order::Ascending)?;
    let down = gpu::sort_by_key(&numbers, &keys, Order::Descending)?;
    // Keys that are sorted are the keys still, and so have derivatives.
    let picked = gpu::gather(&w, &down.permutation)?;
    Ok(gpu::dot(&up.values, &w)? + gpu::dot(&up.keys, &picked)? * gpu::dot(&down.values, &w)?)
}

#[test]
fn sorting() {
    let gpu = Device::new().unwrap();
    let (at, order) = (numbers(9), [7, 9, 8]);
    let run = |at: &[f64]| sorted(&gpu, &at[..3], &at[3..6], &at[6..], &order).unwrap();
    let (mut dk, mut dx, mut dw) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; 3]);
    let (k, x, w) = (&at[..3], &at[3..6], &at[6..]);
    sorted_grad(&gpu, k, &mut dk, x, &mut dx, w, &mut dw, &order, 1.0).unwrap();
    agree(run, &at, &[dk, dx, dw].concat());
}

#[allow(unused_qualifications)]
#[gradient]
fn scattered(gpu: &Device, x: &[f64], y: &[f64], index: &[u32]) -> Result<f64, GpuError> {
    let (x, y, index) = (gpu.upload(x)?, gpu.upload(y)?, gpu.upload(index)?);
    let out = stratape::gpu::scatter(&x, &index, &y)?;
    // By its whole path.
    Ok(stratape::gpu::max(&out)? * gpu::product(&out)?)
}

#[test]
fn scattering_and_whole_paths() {
    let gpu = Device::new().unwrap();
    let at = numbers(8);
    let index = [4, 0, 4];
    let run = |at: &[f64]| scattered(&gpu, &at[..3], &at[3..], &index).unwrap();
    let (mut dx, mut dy) = (vec![0.0; 3], vec![0.0; 5]);
    scattered_grad(&gpu, &at[..3], &mut dx, &at[3..], &mut dy, &index, 1.0).unwrap();
    agree(run, &at, &[&dx[..], &dy].concat());
    assert_eq!(dx[0], 0.0);
}

#[gradient]
fn keys_of_groups(gpu: &Device, keys: &[f64], x: &[f64]) -> Result<f64, GpuError> {
    let (keys, x) = (gpu.upload(keys)?, gpu.upload(x)?);
    let (names, sums) = gpu::reduce_by_key(&keys, &x)?;
    gpu::dot(&names, &sums)
}

#[test]
fn keys_of_groups_have_no_derivative() {
    let gpu = Device::new().unwrap();
    let (mut dk, mut dx) = ([0.0; 3], [0.0; 3]);
    let found = keys_of_groups_grad(&gpu, &[1.0, 1.0, 2.0], &mut dk, &[3.0; 3], &mut dx, 1.0);
    assert!(found.unwrap_err().to_string().contains("several elements"));
}

#[stratape::kernel]
#[gradient]
fn squares(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x;
    y[i] = x[i] * x[i];
}

#[allow(clippy::question_mark)]
#[gradient]
fn matched(gpu: &Device, x: &[f64]) -> Result<f64, GpuError> {
    let x = match gpu.upload(x) {
        Ok(x) => x,
        Err(error) => return Err(error),
    };
    let mut y = gpu.alloc_like(&x)?;
    let grid = Grid::blocks(1).threads(x.len());
    match squares::launch(gpu, &grid, (&mut y, &x)) {
        Ok(()) => {}
        Err(error) => {
            println!("the launch has failed: {error}");
            return Err(error);
        }
    }
    let z = y.clone();
    if let Err(error) = squares::launch(gpu, grid, (&mut y, &z)) {
        return Err(error);
    }
    gpu::sum(&y)
}

#[test]
fn failures_that_are_matched() {
    let gpu = Device::new().unwrap();
    let mut dx = [0.0; 2];
    assert_eq!(matched_grad(&gpu, &[2.0, 3.0], &mut dx, 1.0).unwrap(), 97.0);
    assert_eq!(dx, [32.0, 108.0]);
    // A grid of no threads: both return the error.
    assert!(matched(&gpu, &[]).is_err());
    assert!(matched_grad(&gpu, &[], &mut [], 1.0).is_err());
}
