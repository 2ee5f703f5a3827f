//! Pairs of two lists, and partners that conditions and lists choose.

use crate::differences::numbers;
use stratape::gpu::{Grid, fresh};

use super::{flat, holds, planes, two};

/// Bounds of slices from memory.
#[stratape::kernel]
#[gradient]
fn listed(y: &mut [f64], x: &[f64], starts: &[u32]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let mut sum = 0.0;
    if i < x.len() {
        for j in starts[block_idx().y] as usize..starts[block_idx().y + 1] as usize {
            sum += x[i] * x[j] * x[j];
        }
    }
    block_add(&mut y[0], sum);
}

/// Slices that depend on the block of the point.
#[stratape::kernel]
#[gradient]
fn diagonal(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = (block_idx().y + block_idx().x) * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += x[i] * x[j] * x[j];
        }
    }
    block_add(&mut y[0], sum);
}

/// The condition on the point takes more than its index, and the first is left out.
#[stratape::kernel]
#[gradient]
fn conditions(y: &mut [f64], x: &[f64], cut: f64) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i > 0 && i < x.len() && x[i] > 0.8 {
        let own = x[i] + 0.1 * x[i - 1];
        for j in from..to {
            let d = own - x[j];
            if d.abs() < cut {
                sum += (cut - d.abs()) * x[j];
            }
        }
        sum *= own;
    }
    block_add(&mut y[block_idx().x % 2], sum);
}

/// Every other point only; partners from 1.
#[stratape::kernel]
#[gradient]
fn every_other(y: &mut [f64], x: &[f64]) {
    let i = 2 * (block_idx().x * block_dim().x + thread_idx().x);
    let mut sum = 0.0;
    if i < x.len() {
        for j in 1..x.len() {
            sum += x[i] * x[j] * x[j] + x[j - 1] * x[i].sin();
        }
    }
    block_add(&mut y[0], sum);
}

/// Threads run through several points each.
#[stratape::kernel]
#[gradient]
fn strided_points(y: &mut [f64], x: &[f64]) {
    let mut i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    while i < x.len() {
        for j in from..to {
            sum += x[i] * x[j] * x[j];
        }
        i += grid_dim().x * block_dim().x;
    }
    block_add(&mut y[0], sum);
}

/// An accumulator that is squared for each slice, and a count of partners that were near.
#[stratape::kernel]
#[gradient]
fn squared(y: &mut [f64], x: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    if i < x.len() {
        let (mut sum, mut near) = (0.0, 0);
        for j in from..to {
            if (x[i] - x[j]).abs() < 0.4 {
                near += 1;
                sum += x[i] * x[j] * near as f64;
            }
        }
        atomic_add(&mut y[i], sum * sum);
    }
}

#[test]
fn more_pairs() {
    of_slices!(diagonal, diagonal_grad, planes(), 1, 13);
    of_slices!(every_other, every_other_grad, planes(), 1, 13);
    of_slices!(strided_points, strided_points_grad, planes(), 1, 13);
    of_slices!(squared, squared_grad, planes(), 13, 13);
}

#[test]
fn slices_from_lists() {
    let starts = [0u32, 4, 4, 9, 13, 13, 13, 2, 5, 5, 5, 5, 5, 13, 0, 13, 13, 13];
    holds(
        &planes(),
        1,
        &numbers(14),
        |gpu, grid, y, x| {
            listed::launch(gpu, grid, (y, &gpu.upload(x).unwrap(), &gpu.upload(&starts).unwrap()))
                .unwrap()
        },
        |gpu, grid, y, dy, x| {
            let (x, mut dx) = (gpu.upload(x).unwrap(), gpu.zeros(13).unwrap());
            listed_grad::launch(
                gpu,
                grid,
                (y, dy, &x, fresh(&mut dx), &gpu.upload(&starts).unwrap()),
            )
            .unwrap();
            dx.download().unwrap()
        },
    );
}

#[test]
fn points_by_conditions() {
    holds(
        &planes(),
        2,
        &[&[1.0, 2.0, 0.35], &numbers(13)[..]].concat(),
        |gpu, grid, y, v| {
            conditions::launch(gpu, grid, (y, &gpu.upload(&v[1..]).unwrap(), v[0])).unwrap()
        },
        |gpu, grid, y, dy, v| {
            let (x, mut dx, mut d) =
                (gpu.upload(&v[1..]).unwrap(), gpu.zeros(13).unwrap(), gpu.zeros(1).unwrap());
            conditions_grad::launch(gpu, grid, (y, dy, &x, fresh(&mut dx), v[0], &mut d)).unwrap();
            [d.download().unwrap(), dx.download().unwrap()].concat()
        },
    );
}

/// Points with masses in a list of their own, and a law by value.
#[stratape::kernel]
#[gradient]
fn masses(y: &mut [f64], x: &[[f64; 2]], mass: &[f64], law: (f64, i32, [f64; 2])) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        let p = x[i];
        for j in from..to {
            let q = x[j];
            if i != j && (p[0] - q[1]).abs() < law.2[1] {
                let r = (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2) + law.0;
                sum += mass[i] * mass[j].powi(law.1) * p[1] / r.sqrt() + law.2[0] * q[0] * mass[j];
            }
        }
    }
    block_add(&mut y[0], sum);
}

/// Targets and sources in two lists, of two lengths.
#[stratape::kernel]
#[gradient]
fn targets(y: &mut [f64], t: &[f64], s: &[f64]) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    let slice = s.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(s.len());
    let mut sum = 0.0;
    if i < t.len() {
        for j in from..to {
            sum += t[i] * s[j] * s[j] + (t[i] - s[j]).sin() * s[i % s.len()];
        }
        atomic_add(&mut y[i], sum);
    }
}

#[test]
fn lists_beside_points() {
    let grids: Vec<Grid> =
        planes().into_iter().flat_map(|g| [g.clone(), g.deterministic()]).collect();
    holds(
        &grids,
        1,
        &[&[0.7, 0.3, 0.2], &[0.61][..], &numbers(39)].concat(),
        |gpu, grid, y, v| {
            let (x, m) = (gpu.upload(&two(&v[3..29])).unwrap(), gpu.upload(&v[29..]).unwrap());
            masses::launch(gpu, grid, (y, &x, &m, (v[0], 3, [v[1], v[2]]))).unwrap();
        },
        |gpu, grid, y, dy, v| {
            let (x, m) = (gpu.upload(&two(&v[3..29])).unwrap(), gpu.upload(&v[29..]).unwrap());
            let (mut dx, mut dm, mut dl) =
                (gpu.alloc_like(&x).unwrap(), gpu.alloc_like(&m).unwrap(), gpu.zeros(3).unwrap());
            masses_grad::launch(
                gpu,
                grid,
                (y, dy, &x, fresh(&mut dx), &m, &mut dm, (v[0], 3, [v[1], v[2]]), fresh(&mut dl)),
            )
            .unwrap();
            [dl.download().unwrap(), flat(dx.download().unwrap()), dm.download().unwrap()].concat()
        },
    );
    for (nt, ns) in [(13, 7), (5, 13), (1, 3), (3, 1)] {
        holds(
            &grids,
            nt,
            &numbers(2 * nt + ns),
            |gpu, grid, y, v| {
                targets::launch(
                    gpu,
                    grid,
                    (y, &gpu.upload(&v[..nt]).unwrap(), &gpu.upload(&v[nt..]).unwrap()),
                )
                .unwrap()
            },
            |gpu, grid, y, dy, v| {
                let (t, s) = (gpu.upload(&v[..nt]).unwrap(), gpu.upload(&v[nt..]).unwrap());
                let (mut dt, mut ds) = (gpu.zeros(nt).unwrap(), gpu.zeros(ns).unwrap());
                targets_grad::launch(gpu, grid, (y, dy, &t, fresh(&mut dt), &s, fresh(&mut ds)))
                    .unwrap();
                [dt.download().unwrap(), ds.download().unwrap()].concat()
            },
        );
    }
}
