//! Functions of elements.

use stratape::gpu::{Device, GpuError, Grid, fresh};

use crate::common::{LENGTHS, Random, gpu};

/// Documented, as kernels may be.
#[stratape::elementwise]
pub(crate) fn axpy(x: f64, y: f64, a: &f64) -> f64 {
    a * x + y
}

#[test]
fn map_and_pullback() {
    let gpu = gpu();
    for n in LENGTHS {
        let mut random = Random::new(n);
        let (xs, ys) = (random.numbers::<f64>(n), random.numbers::<f64>(n));
        let (x, y) = (gpu.upload(&xs).unwrap(), gpu.upload(&ys).unwrap());
        let out = axpy::map((&x, &y, 2.5)).unwrap();
        let wanted: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| 2.5 * x + y).collect();
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
        assert!(out.download().unwrap().iter().zip(&wanted).all(near));
        let weights = gpu.upload(&xs).unwrap();
        let (mut dx, mut dy) = (gpu.upload(&vec![1.0; n]).unwrap(), gpu.zeros(n).unwrap());
        let da = axpy::pullback((&x, &mut dx, &y, &mut dy, 2.5), &weights).unwrap();
        assert!((da - xs.iter().map(|x| x * x).sum::<f64>()).abs() < 1e-10);
        let wanted: Vec<f64> = xs.iter().map(|x| 1.0 + 2.5 * x).collect();
        assert!(dx.download().unwrap().iter().zip(&wanted).all(near));
        assert_eq!(dy.download().unwrap(), xs);
        // The weights are as they were.
        assert_eq!(weights.download().unwrap(), xs);
    }
}

#[test]
fn it_is_a_kernel_with_a_gradient() {
    let gpu = gpu();
    let (x, y) = (gpu.upload(&[1.0, 2.0]).unwrap(), gpu.upload(&[3.0, 4.0]).unwrap());
    let (mut out, grid) = (gpu.zeros(2).unwrap(), Grid::blocks(1).threads(32));
    axpy::launch(&gpu, &grid, (&mut out, &x, &y, 10.0)).unwrap();
    assert_eq!(out.download().unwrap(), [13.0, 24.0]);
    let mut dout = gpu.upload(&[1.0, 2.0]).unwrap();
    let (mut dx, mut dy) = (gpu.upload(&[7.0; 2]).unwrap(), gpu.zeros(2).unwrap());
    let mut da = gpu.zeros(1).unwrap();
    let arguments = (&mut out, &mut dout, &x, fresh(&mut dx), &y, &mut dy, 10.0, &mut da);
    axpy_grad::launch(&gpu, &grid, arguments).unwrap();
    assert_eq!((dx.download().unwrap(), da.download().unwrap()), (vec![10.0, 20.0], vec![5.0]));
}

const HALF: f32 = 0.5;

#[stratape::device]
fn cube(x: f32) -> f32 {
    x * x * x
}

/// Loops, an early return, a name that the kernel has itself, whole numbers, an array and a list.
#[stratape::elementwise]
fn rich(
    mut out: f32,
    point: [f32; 2],
    k: u32,
    scale: &f32,
    shift: &f32,
    times: &u32,
    table: &[f32],
) -> f32 {
    if k == 0 {
        return out * HALF;
    }
    for _ in 0..*times {
        out += scale * cube(point[0]) + table[k as usize] * point[1];
    }
    out + *shift
}

fn on_the_host(out: f32, point: [f32; 2], k: u32, numbers: [f32; 2], table: &[f32]) -> f32 {
    if k == 0 {
        return out * HALF;
    }
    out + 3.0 * (numbers[0] * point[0].powi(3) + table[k as usize] * point[1]) + numbers[1]
}

#[test]
fn all_that_a_function_may_have() {
    let gpu = gpu();
    let (outs, points) = ([1.0_f32, 2.0, 3.0], [[0.5_f32, 1.0], [2.0, -1.0], [1.5, 0.25]]);
    let (ks, tables) = ([2_u32, 0, 1], [1.0_f32, 0.5, -2.0]);
    let (out, point) = (gpu.upload(&outs).unwrap(), gpu.upload(&points).unwrap());
    let (k, table) = (gpu.upload(&ks).unwrap(), gpu.upload(&tables).unwrap());
    let found = rich::map((&out, &point, &k, 0.5, 4.0, 3, &table)).unwrap().download().unwrap();
    for i in 0..3 {
        let wanted = on_the_host(outs[i], points[i], ks[i], [0.5, 4.0], &tables);
        assert!((found[i] - wanted).abs() < 1e-5, "{} and {wanted}", found[i]);
    }
    let (mut dout, mut dpoint) = (gpu.zeros(3).unwrap(), gpu.zeros(3).unwrap());
    let mut dtable = gpu.zeros(3).unwrap();
    let weights = gpu.upload(&[1.0_f32, 10.0, 100.0]).unwrap();
    let arguments = (&out, &mut dout, &point, &mut dpoint, &k, 0.5, 4.0, 3, &table, &mut dtable);
    let (dscale, dshift): (f32, f32) = rich::pullback(arguments, &weights).unwrap();
    assert_eq!(dout.download().unwrap(), [1.0, 5.0, 100.0]);
    assert_eq!(dshift, 101.0);
    assert_eq!(dscale, 3.0 * (0.125 + 100.0 * 3.375));
    assert_eq!(dtable.download().unwrap(), [0.0, 75.0, 3.0]);
    let slope = |x: f32| 3.0 * 0.5 * 3.0 * x * x;
    let wanted = [[slope(0.5), -6.0], [0.0, 0.0], [100.0 * slope(1.5), 150.0]];
    assert_eq!(dpoint.download().unwrap(), wanted);
}

#[stratape::elementwise]
fn bucket(x: f64, width: &f64) -> u32 {
    (x / width) as u32
}

#[stratape::elementwise]
#[gradient(wrt(out, x), name = power_by_x)]
fn power(x: f64, y: f64) -> f64 {
    x.powf(y)
}

#[stratape::gradient]
#[stratape::elementwise]
fn root(x: f64) -> f64 {
    x.sqrt()
}

#[test]
fn whole_results_and_gradients_of_ones_own() {
    let gpu = gpu();
    let x = gpu.upload(&[1.0, 4.0, 9.0]).unwrap();
    assert_eq!(bucket::map((&x, 2.0)).unwrap().download().unwrap(), [0, 2, 4]);
    let y = gpu.upload(&[2.0, 2.0, 2.0]).unwrap();
    let (mut out, mut dout) = (gpu.zeros(3).unwrap(), gpu.upload(&[1.0; 3]).unwrap());
    let mut dx = gpu.zeros(3).unwrap();
    let grid = Grid::blocks(1).threads(3);
    power_by_x::launch(&gpu, grid, (&mut out, &mut dout, &x, &mut dx, &y)).unwrap();
    for (found, wanted) in dx.download().unwrap().into_iter().zip([2.0, 8.0, 18.0]) {
        assert!((found - wanted).abs() < 1e-12);
    }
    let weights = gpu.upload(&[1.0; 3]).unwrap();
    let mut dx = gpu.zeros(3).unwrap();
    root::pullback((&x, &mut dx), &weights).unwrap();
    assert_eq!(dx.download().unwrap(), [0.5, 0.25, 0.5 / 3.0]);
}

#[test]
fn lengths_and_devices_must_fit() {
    let gpu = gpu();
    let (x, y) = (gpu.zeros(3).unwrap(), gpu.zeros(2).unwrap());
    let refused = axpy::map((&x, &y, 1.0)).unwrap_err();
    assert!(matches!(&refused, GpuError::Length { what, .. } if what.contains("`y`")), "{refused}");
    let (mut dx, mut dy) = (gpu.zeros(3).unwrap(), gpu.zeros(3).unwrap());
    let refused = axpy::pullback((&x, &mut dx, &x, &mut dy, 1.0), &y).unwrap_err();
    assert!(matches!(refused, GpuError::Length { .. }));
    let other = Device::emulator().zeros(3).unwrap();
    assert!(matches!(axpy::map((&x, &other, 1.0)), Err(GpuError::WrongDevice { .. })));
}
