//! Kernels as programs write them, of many shapes and on many grids.

#![allow(
    clippy::needless_pass_by_value,
    clippy::semicolon_if_nothing_returned,
    clippy::type_complexity,
    reason = "tables of kernels, a line each"
)]

use crate::differences::{agree, weighted, weights};
use stratape::gpu::{Buffer, Device, Grid};

/// Holds the gradient of a kernel against differences, by what `y` holds before (the first `ny` of `at`) and by the rest.
#[track_caller]
fn holds(
    grids: &[Grid],
    ny: usize,
    at: &[f64],
    run: impl Fn(&Device, &Grid, &mut Buffer<f64>, &[f64]),
    grad: impl Fn(&Device, &Grid, &mut Buffer<f64>, &mut Buffer<f64>, &[f64]) -> Vec<f64>,
) {
    let gpu = Device::new().unwrap();
    for (k, grid) in grids.iter().enumerate() {
        let value = |at: &[f64]| {
            let mut y = gpu.upload(&at[..ny]).unwrap();
            run(&gpu, grid, &mut y, &at[ny..]);
            y.download().unwrap()
        };
        let mut y = gpu.upload(&at[..ny]).unwrap();
        let mut dy = gpu.upload(&weights(ny)).unwrap();
        let by_rest = grad(&gpu, grid, &mut y, &mut dy, &at[ny..]);
        let mut found = dy.download().unwrap();
        found.extend(by_rest);
        let wanted = value(at);
        for (a, b) in y.download().unwrap().iter().zip(&wanted) {
            assert!((a - b).abs() <= 1e-12 * b.abs(), "grid {k}: {a}, not {b}");
        }
        agree(|at| weighted(&value(at)), at, &found, 1e-6);
    }
}

/// Of a kernel of `y` and a slice: with a shadow that is added to, and with a fresh one, twice.
macro_rules! of_slices {
    ($kernel:ident, $grad:ident, $grids:expr, $ny:expr, $nx:expr) => {
        of_slices!($kernel, $grad, $grids, $ny, $nx, |x: &[f64]| x.to_vec(), |x: Vec<f64>| x)
    };
    ($kernel:ident, $grad:ident, $grids:expr, $ny:expr, $nx:expr, $into:expr, $from:expr) => {{
        let (ny, nx): (usize, usize) = ($ny, $nx);
        $crate::varied::holds(
            &$grids,
            ny,
            &$crate::differences::numbers(ny + nx),
            |gpu, grid, y, x| {
                let x = gpu.upload(&$into(x)).unwrap();
                $kernel::launch(gpu, grid, (y, &x)).unwrap();
            },
            |gpu, grid, y, dy, x| {
                let (start, seeds) = (y.download().unwrap(), dy.download().unwrap());
                let x = gpu.upload(&$into(x)).unwrap();
                let mut dx = gpu.upload(&$into(&vec![10.0; nx])).unwrap();
                $grad::launch(gpu, grid, (&mut *y, &mut *dy, &x, &mut dx)).unwrap();
                let added = $from(dx.download().unwrap());
                for _ in 0..2 {
                    y.write(&start).unwrap();
                    dy.write(&seeds).unwrap();
                    $grad::launch(
                        gpu,
                        grid,
                        (&mut *y, &mut *dy, &x, stratape::gpu::fresh(&mut dx)),
                    )
                    .unwrap();
                }
                let found = $from(dx.download().unwrap());
                for (a, b) in added.iter().zip(&found) {
                    assert!((a - 10.0 - b).abs() < 1e-9, "added {a}, fresh {b}");
                }
                found
            },
        );
    }};
}

fn two(x: &[f64]) -> Vec<[f64; 2]> {
    x.as_chunks().0.to_vec()
}

fn flat(x: Vec<[f64; 2]>) -> Vec<f64> {
    x.as_flattened().to_vec()
}

fn lines() -> Vec<Grid> {
    [(1, 1), (1, 32), (3, 5), (4, 16), (13, 1)]
        .map(|(blocks, threads)| Grid::blocks(blocks).threads(threads))
        .to_vec()
}

/// Grids of two axes: slices along the second.
fn planes() -> Vec<Grid> {
    [
        ((4, 1), (4, 1)),
        ((3, 3), (5, 1)),
        ((2, 5), (7, 1)),
        ((1, 17), (16, 1)),
        ((2, 2), (4, 1)),
        ((4, 2), (4, 2)),
        ((1, 3), (13, 3)),
    ]
    .map(|(blocks, threads)| Grid::blocks(blocks).threads(threads))
    .to_vec()
}

// Below the macro, which they use.
mod by_value;
mod extremes;
mod host;
mod more_pairs;
mod pairs;
mod shapes;
