//! Tiles, exchanges, axes, and faults.

use crate::differences::numbers;
use stratape::gpu::{Device, GpuError, Grid, fresh};

use super::{flat, holds, two};

#[stratape::kernel]
#[gradient]
fn tiles(y: &mut [[f64; 2]], x: &[[f64; 2]], m: [[f64; 2]; 2], gain: f32) {
    let mut tile = shared::<[[[f64; 2]; 5]; 4]>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let width = grid_dim().x * block_dim().x;
    let (i, j) = (tx + block_idx().x * block_dim().x, ty + block_idx().y * block_dim().y);
    let own = j * width + i;
    tile[ty][tx] = if own < x.len() { x[own] } else { [m[0][0], 0.5] };
    sync_threads();
    let right = tile[ty][(tx + 1) % block_dim().x];
    let below = tile[(ty + 1) % block_dim().y][tx];
    sync_threads();
    tile[ty][tx] = [right[1] * m[1][0], below[0] + right[0]];
    sync_threads();
    let again = tile[(ty + 1) % block_dim().y][tx];
    if own >= y.len() {
        return;
    }
    y[own][0] += f64::from(gain) * again[0] * again[1] + m[0][1] * right[0];
    y[own][1] *= below[1] * m[1][1];
}

#[test]
fn tiles_of_two_axes() {
    let n = 30;
    holds(
        &[((2, 2), (4, 4)), ((3, 4), (4, 3)), ((1, 1), (1, 1)), ((1, 2), (2, 1))]
            .map(|(b, t)| Grid::blocks(b).threads(t)),
        2 * n,
        &numbers(2 * n + 4 + 2 * n),
        |gpu, grid, y, v| {
            let (mut out, x) = (
                gpu.upload(&two(&y.download().unwrap())).unwrap(),
                gpu.upload(&two(&v[4..])).unwrap(),
            );
            tiles::launch(gpu, grid, (&mut out, &x, [[v[0], v[1]], [v[2], v[3]]], 0.75)).unwrap();
            y.write(&flat(out.download().unwrap())).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (mut out, x) = (
                gpu.upload(&two(&y.download().unwrap())).unwrap(),
                gpu.upload(&two(&v[4..])).unwrap(),
            );
            let (mut dout, mut dx) =
                (gpu.upload(&two(&dy.download().unwrap())).unwrap(), gpu.alloc_like(&x).unwrap());
            let (mut dm, mut dgain) = (gpu.zeros(4).unwrap(), gpu.zeros(1).unwrap());
            let arguments = (
                &mut out,
                &mut dout,
                &x,
                fresh(&mut dx),
                [[v[0], v[1]], [v[2], v[3]]],
                fresh(&mut dm),
                0.75f32,
                fresh(&mut dgain),
            );
            tiles_grad::launch(gpu, grid, arguments).unwrap();
            y.write(&flat(out.download().unwrap())).unwrap();
            dy.write(&flat(dout.download().unwrap())).unwrap();
            [dm.download().unwrap(), flat(dx.download().unwrap())].concat()
        },
    );
}

/// A warp sums up with exchanges, then the first lane goes on by itself in a loop; others end early.
#[stratape::kernel]
#[gradient]
fn warps(y: &mut [f64], x: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let own = if i < x.len() { x[i] * x[i] } else { 0.0 };
    let mut sum = own;
    let mut by = 16;
    while by > 0 {
        sum += shuffle_down(sum, by);
        by /= 2;
    }
    let first = shuffle_xor(own, 3) * shuffle_up(own, 1);
    let unused = sum * first;
    if thread_idx().x % 32 != 0 {
        if i < y.len() {
            y[i] += first;
        }
        return;
    }
    let mut v = 0.1 * sum;
    for k in 0..3 {
        v = (v + k as f64 * own).sin();
    }
    if i < y.len() {
        y[i] *= v;
    }
    let _ = unused;
}

#[test]
fn exchanges() {
    of_slices!(
        warps,
        warps_grad,
        [Grid::blocks(1).threads(32), Grid::blocks(2).threads(32), Grid::blocks(1).threads(96)],
        40,
        50
    );
}

#[stratape::kernel]
#[gradient]
fn in_space(y: &mut [f64], x: &[f64], size: [u32; 3]) {
    let [i, j, k] = [
        thread_idx().x + block_idx().x * block_dim().x,
        thread_idx().y + block_idx().y * block_dim().y,
        thread_idx().z + block_idx().z * block_dim().z,
    ];
    let [nx, ny, nz] = size.map(|n| n as usize);
    if i < nx && j < ny && k < nz {
        let at = |i: usize, j: usize, k: usize| (k * ny + j) * nx + i;
        let own = at(i, j, k);
        let mut v = x[own] * y[own];
        if i > 0 {
            v += x[at(i - 1, j, k)].sin();
        }
        if k + 1 < nz {
            v *= x[at(i, j, k + 1)];
        }
        y[own] = v;
    }
}

#[test]
fn three_axes() {
    for (size, grids) in [
        ([3, 2, 4], vec![((2, 1, 2), (2, 2, 2)), ((1, 1, 1), (3, 2, 4)), ((4, 3, 5), (1, 1, 1))]),
        ([1, 1, 1], vec![((1, 1, 1), (1, 1, 1)), ((2, 2, 2), (2, 2, 2))]),
        ([0, 2, 3], vec![((1, 1, 1), (2, 2, 2))]),
    ] {
        let grids: Vec<Grid> = grids.into_iter().map(|(b, t)| Grid::blocks(b).threads(t)).collect();
        let n = size.iter().product::<u32>() as usize;
        holds(
            &grids,
            n,
            &numbers(2 * n),
            |gpu, grid, y, x| {
                in_space::launch(gpu, grid, (y, &gpu.upload(x).unwrap(), size)).unwrap()
            },
            |gpu, grid, y, dy, x| {
                let (x, mut dx) = (gpu.upload(x).unwrap(), gpu.zeros(n).unwrap());
                in_space_grad::launch(gpu, grid, (y, dy, &x, fresh(&mut dx), size)).unwrap();
                dx.download().unwrap()
            },
        );
    }
}

#[stratape::kernel]
#[gradient]
fn big(y: &mut [f64], x: &[f64]) {
    let mut tile = shared::<[f64; 4000]>();
    let i = thread_idx().x;
    tile[i] = x[i];
    sync_threads();
    y[i] = tile[(i + 1) % block_dim().x] * tile[i];
}

#[stratape::kernel]
#[gradient]
fn dynamic(y: &mut [f64], x: &[f64]) {
    let tile = dynamic_shared::<f64>(block_dim().x);
    let i = thread_idx().x;
    tile[i] = x[i];
    sync_threads();
    y[i] = tile[(i + 1) % block_dim().x] * tile[i];
}

#[stratape::kernel]
#[gradient]
fn race(y: &mut [f64], x: &[f64]) {
    y[thread_idx().x / 2] = x[thread_idx().x];
}

/// Holds what a launch says.
#[track_caller]
fn says(outcome: Result<(), GpuError>, parts: &[&str]) {
    let said = outcome.unwrap_err().to_string();
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

#[test]
fn faults() {
    let gpu = Device::new().unwrap();
    let x = gpu.upload(&numbers(8)).unwrap();
    let (mut y, mut dy, mut dx) =
        (gpu.zeros(8).unwrap(), gpu.upload(&[1.0; 8]).unwrap(), gpu.zeros(8).unwrap());
    let one = Grid::blocks(1).threads(8);
    if gpu.is_emulator() {
        big::launch(&gpu, &one, (&mut y, &x)).unwrap();
        says(big_grad::launch(&gpu, &one, (&mut y, &mut dy, &x, &mut dx)), &["64000", "49152"]);
        says(dynamic_grad::launch(&gpu, &one, (&mut y, &mut dy, &x, &mut dx)), &["dynamic"]);
        says(race_grad::launch(&gpu, &one, (&mut y, &mut dy, &x, &mut dx)), &["race", "`y`"]);
        let grid = Grid::blocks(1).threads(9).shared(72);
        let outcome = dynamic_grad::launch(&gpu, grid, (&mut y, &mut dy, &x, &mut dx));
        says(outcome, &["index 8", "8 elements"]);
    }
    let grid = one.shared(64);
    let mut short = gpu.zeros(7).unwrap();
    let outcome = dynamic_grad::launch(&gpu, &grid, (&mut y, &mut short, &x, &mut dx));
    says(outcome, &["argument 1", "7", "8"]);
    let outcome = dynamic_grad::launch(&gpu, &grid, (&mut y, &mut dy, &x, fresh(&mut short)));
    says(outcome, &["argument 3", "7", "8"]);
    let grid = Grid::blocks(1).threads(2000);
    says(dynamic_grad::launch(&gpu, grid, (&mut y, &mut dy, &x, &mut dx)), &["2000", "1024"]);
    let grid = Grid::blocks(0).threads(8);
    says(dynamic_grad::launch(&gpu, grid, (&mut y, &mut dy, &x, &mut dx)), &["no blocks"]);
}
