//! All pairs, by more threads than there are points: blocks along the second axis take a slice of the partners each.

use crate::differences::{agree, numbers};
use stratape::gpu::{Device, Grid, fresh};

/// Not symmetric, so that what a point does to its partner is not what the partner does to it.
#[stratape::kernel]
#[gradient(wrt(out, x, scale))]
fn sliced(out: &mut [f64], x: &[[f64; 2]], scale: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        let p = x[i];
        for j in from..to {
            let q = x[j];
            let d = [p[0] - q[0], p[1] - q[1]];
            sum += (1.0 + p[1] * p[1]) * q[0] / (d[0] * d[0] + d[1] * d[1] + scale).sqrt();
        }
    }
    block_add(&mut out[0], sum);
}

/// Slices that overlap by one: a pair is taken twice where they do.
#[stratape::kernel]
#[gradient(wrt(out, x))]
fn overlapping(out: &mut [f64], x: &[[f64; 2]]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let slice = x.len().div_ceil(grid_dim().y);
    let from = block_idx().y * slice;
    let to = (from + slice + 1).min(x.len());
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += x[i][0] * x[j][1] * x[j][1];
        }
    }
    block_add(&mut out[0], sum);
}

/// Slices of a length that is given: too short, they leave pairs out.
#[stratape::kernel]
#[gradient(wrt(out, x))]
fn given(out: &mut [f64], x: &[[f64; 2]], slice: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let from = slice * block_idx().y;
    let to = x.len().min(slice + from);
    let mut sum = 0.0;
    if i < x.len() {
        for j in from..to {
            sum += (x[i][0] * x[j][1]).sin();
        }
    }
    block_add(&mut out[0], sum);
}

fn points(flat: &[f64]) -> Vec<[f64; 2]> {
    flat.as_chunks().0.to_vec()
}

/// Grids that cover 13 points, and such that do not; with one slice, several, more than there are points, and copies of everything.
fn grids() -> Vec<Grid> {
    let all = [((4, 1), (4, 1)), ((4, 3), (4, 1)), ((2, 5), (7, 1)), ((1, 20), (16, 1))];
    let odd = [((2, 2), (4, 1)), ((4, 2), (4, 2))];
    all.iter()
        .chain(&odd)
        .map(|(blocks, threads)| Grid::blocks(*blocks).threads(*threads))
        .collect()
}

#[test]
fn slices_of_partners() {
    let gpu = Device::new().unwrap();
    let at = numbers(26);
    for grid in grids() {
        let run = |at: &[f64]| {
            let x = gpu.upload(&points(&at[1..])).unwrap();
            let mut out = gpu.zeros(1).unwrap();
            sliced::launch(&gpu, &grid, (&mut out, &x, at[0])).unwrap();
            out.download().unwrap()[0]
        };
        let at: Vec<f64> = std::iter::once(0.3).chain(at.iter().copied()).collect();
        let x = gpu.upload(&points(&at[1..])).unwrap();
        let (mut out, mut dout) = (gpu.zeros(1).unwrap(), gpu.upload(&[1.0]).unwrap());
        let (mut dx, mut dscale) = (gpu.alloc_like(&x).unwrap(), gpu.zeros(1).unwrap());
        // Twice: what is fresh holds what it held before.
        for _ in 0..2 {
            let arguments = (&mut out, &mut dout, &x, fresh(&mut dx), at[0], fresh(&mut dscale));
            sliced_grad::launch(&gpu, &grid, arguments).unwrap();
        }
        let mut found = dscale.download().unwrap();
        found.extend(dx.download().unwrap().as_flattened());
        agree(run, &at, &found, 1e-6);
    }
}

#[test]
fn slices_that_overlap_or_leave_gaps() {
    let gpu = Device::new().unwrap();
    let at = numbers(26);
    let x = gpu.upload(&points(&at)).unwrap();
    for grid in grids() {
        let run = |at: &[f64]| {
            let (x, mut out) = (gpu.upload(&points(at)).unwrap(), gpu.zeros(1).unwrap());
            overlapping::launch(&gpu, &grid, (&mut out, &x)).unwrap();
            out.download().unwrap()[0]
        };
        let (mut out, mut dout) = (gpu.zeros(1).unwrap(), gpu.upload(&[1.0]).unwrap());
        let mut dx = gpu.zeros(13).unwrap();
        overlapping_grad::launch(&gpu, &grid, (&mut out, &mut dout, &x, &mut dx)).unwrap();
        agree(run, &at, dx.download().unwrap().as_flattened(), 1e-6);
        for slice in [0, 1, 3, 5, 13, 40] {
            let run = |at: &[f64]| {
                let (x, mut out) = (gpu.upload(&points(at)).unwrap(), gpu.zeros(1).unwrap());
                given::launch(&gpu, &grid, (&mut out, &x, slice)).unwrap();
                out.download().unwrap()[0]
            };
            let (mut out, mut dout) = (gpu.zeros(1).unwrap(), gpu.upload(&[1.0]).unwrap());
            let mut dx = gpu.zeros(13).unwrap();
            let arguments = (&mut out, &mut dout, &x, &mut dx, slice);
            given_grad::launch(&gpu, &grid, arguments).unwrap();
            agree(run, &at, dx.download().unwrap().as_flattened(), 1e-6);
        }
    }
}
