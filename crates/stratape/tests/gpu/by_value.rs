//! Structs, tuples and arrays that kernels take by value.

use crate::differences::{agree, numbers, weighted, weights};
use crate::ptx::ptx;
use stratape::gpu::{self, Device, GpuError, Grid, fresh};

#[stratape::device]
#[derive(Clone, Copy)]
struct Axis {
    scale: f64,
    shift: f64,
}

#[stratape::device]
#[derive(Clone, Copy)]
struct Map {
    x: Axis,
    power: u32,
    weights: [f64; 3],
    half: f32,
}

#[stratape::device]
fn along(axis: &Axis, x: f64) -> f64 {
    axis.scale * x + axis.shift
}

#[stratape::kernel]
#[gradient]
fn mapped(y: &mut [f64], x: &[f64], map: Map) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let along = along(&map.x, x[i]).powi(map.power as i32);
        y[i] = map.weights[i % 3] * along + f64::from(map.half) * x[i];
    }
}

fn map_of(numbers: &[f64]) -> Map {
    let x = Axis { scale: numbers[0], shift: numbers[1] };
    Map { x, power: 3, weights: [numbers[2], numbers[3], numbers[4]], half: numbers[5] as f32 }
}

#[test]
fn a_nested_struct() {
    let gpu = Device::new().unwrap();
    let n: usize = 70;
    // Several blocks, the last of them not full.
    let grid = Grid::blocks(n.div_ceil(32)).threads(32);
    let run = |numbers: &[f64]| {
        let (x, mut y) = (gpu.upload(&numbers[6..]).unwrap(), gpu.zeros(n).unwrap());
        mapped::launch(&gpu, &grid, (&mut y, &x, map_of(numbers))).unwrap();
        weighted(&y.download().unwrap())
    };
    let mut at = numbers(6 + n);
    at[5] = 0.75;
    let (x, mut y) = (gpu.upload(&at[6..]).unwrap(), gpu.zeros(n).unwrap());
    let (mut dy, mut dx) = (gpu.upload(&weights(n)).unwrap(), gpu.zeros(n).unwrap());
    // It is added to.
    let mut dmap = gpu.upload(&[100.0; 6]).unwrap();
    let arguments = (&mut y, &mut dy, &x, &mut dx, map_of(&at), &mut dmap);
    mapped_grad::launch(&gpu, &grid, arguments).unwrap();
    let mut found: Vec<f64> = dmap.download().unwrap().iter().map(|sum| sum - 100.0).collect();
    let half: f64 = at[6..].iter().zip(weights(n)).map(|(x, w)| x * w).sum();
    // The adjoint of an f32, in a buffer of f64.
    assert!((found[5] - half).abs() < 1e-5, "{}, not {half}", found[5]);
    found.extend(dx.download().unwrap());
    // Differences of what is rounded to an f32 say nothing.
    let skipping = |numbers: &[f64]| {
        let numbers: Vec<f64> = [&numbers[..5], &[0.75], &numbers[5..]].concat();
        run(&numbers)
    };
    at.remove(5);
    found.remove(5);
    agree(skipping, &at, &found, 1e-6);
}

#[test]
fn an_adjoint_of_another_length() {
    let gpu = Device::new().unwrap();
    let (x, mut y) = (gpu.zeros(4).unwrap(), gpu.zeros(4).unwrap());
    let (mut dy, mut dx) = (gpu.zeros(4).unwrap(), gpu.zeros(4).unwrap());
    let mut dmap = gpu.zeros(5).unwrap();
    let map = map_of(&numbers(6));
    let arguments = (&mut y, &mut dy, &x, fresh(&mut dx), map, fresh(&mut dmap));
    let error = mapped_grad::launch(&gpu, Grid::blocks(1).threads(4), arguments).unwrap_err();
    assert!(error.to_string().contains('6') && error.to_string().contains('5'), "{error}");
}

#[stratape::kernel]
#[gradient]
fn of_a_tuple(y: &mut [f32], (a, (k, b)): (f32, (usize, f32)), c: [f32; 2]) {
    let i = thread_idx().x;
    y[i] = a * b * y[i] + c[(i + k) % 2];
}

#[test]
fn tuples_and_arrays_of_f32() {
    let gpu = Device::new().unwrap();
    let at: Vec<f32> = numbers(8).iter().map(|x| *x as f32).collect();
    let mut y = gpu.upload(&at).unwrap();
    let w: Vec<f32> = weights(8).iter().map(|x| *x as f32).collect();
    let mut dy = gpu.upload(&w).unwrap();
    let (mut dab, mut dc) = (gpu.zeros(2).unwrap(), gpu.zeros(2).unwrap());
    let arguments = (&mut y, &mut dy, (1.5, (1, 0.5)), &mut dab, [2.0, 3.0], &mut dc);
    of_a_tuple_grad::launch(&gpu, Grid::blocks(1).threads(8), arguments).unwrap();
    let sum: f32 = at.iter().zip(&w).map(|(x, w)| x * w).sum();
    let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-5, "{a}, not {b}");
    let dab = dab.download().unwrap();
    close(dab[0], 0.5 * sum);
    close(dab[1], 1.5 * sum);
    let dc = dc.download().unwrap();
    close(dc[0], w[1] + w[3] + w[5] + w[7]);
    close(dc[1], w[0] + w[2] + w[4] + w[6]);
    for (found, w) in dy.download().unwrap().iter().zip(&w) {
        close(*found, 0.75 * w);
    }
}

#[stratape::kernel]
#[gradient(wrt(y, map))]
fn only_the_struct(y: &mut [f64], a: f64, map: Axis, b: f64) {
    let i = thread_idx().x;
    y[i] = a * map.scale + b * map.shift;
}

#[stratape::kernel]
#[gradient(wrt(y, b))]
fn only_the_last(y: &mut [f64], a: f64, map: Axis, b: f64) {
    let i = thread_idx().x;
    y[i] = a * map.scale + b * map.shift;
}

#[test]
fn numbers_that_are_left_out_have_no_shadow() {
    // The shadow of a number stood behind the first number, whether that was chosen or not.
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(1).threads(4);
    let (mut y, mut dy) = (gpu.zeros(4).unwrap(), gpu.upload(&[1.0; 4]).unwrap());
    let (mut dmap, axis) = (gpu.zeros(2).unwrap(), Axis { scale: 5.0, shift: 7.0 });
    only_the_struct_grad::launch(&gpu, &grid, (&mut y, &mut dy, 2.0, axis, &mut dmap, 3.0))
        .unwrap();
    assert_eq!(dmap.download().unwrap(), [8.0, 12.0]);
    let (mut dy, mut db) = (gpu.upload(&[1.0; 4]).unwrap(), gpu.zeros(1).unwrap());
    only_the_last_grad::launch(&gpu, &grid, (&mut y, &mut dy, 2.0, axis, 3.0, &mut db)).unwrap();
    assert_eq!(db.download().unwrap(), [28.0]);
}

#[stratape::gradient]
fn of_the_host(gpu: &Device, x: &[f64], scale: f64, shift: f64) -> Result<f64, GpuError> {
    let x = gpu.upload(x)?;
    let mut y = gpu.alloc_like(&x)?;
    let axis = Axis { scale, shift: shift * shift };
    let map = Map { x: axis, power: 2, weights: [1.0, scale, 0.5], half: 0.25 };
    mapped::launch(gpu, Grid::blocks(2).threads(4), (&mut y, &x, map))?;
    gpu::sum(&y)
}

#[test]
fn host_functions_hand_them_over() {
    let gpu = Device::new().unwrap();
    let at = numbers(9);
    let run = |at: &[f64]| of_the_host(&gpu, &at[2..], at[0], at[1]).unwrap();
    let mut dx = vec![0.0; 7];
    let (_, dscale, dshift) = of_the_host_grad(&gpu, &at[2..], &mut dx, at[0], at[1], 1.0).unwrap();
    agree(run, &at, &[&[dscale, dshift], &dx[..]].concat(), 1e-6);
}

#[test]
fn they_compile_for_a_device() {
    ptx(&[mapped::texts(), mapped_grad::texts(), of_a_tuple::texts(), of_a_tuple_grad::texts()]);
}
