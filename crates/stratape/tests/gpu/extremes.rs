//! Extremes that threads find together: the adjoint goes to the lowest thread that holds one.

use crate::differences::{agree, numbers, weighted, weights};
use crate::ptx::ptx;
use stratape::gpu::{self, Device, GpuError, Grid, Stream};

#[stratape::kernel]
#[gradient]
fn largest(most: &mut [f64], y: &mut [f64], x: &[f64], groups: usize) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let square = x[i] * x[i];
        atomic_max(&mut most[i % groups], square);
        y[i] += square;
    }
}

#[test]
fn the_largest_of_groups() {
    let gpu = Device::new().unwrap();
    let (n, groups) = (50, 4);
    // Blocks of which the last is not full; the third group begins above all.
    let grid = Grid::blocks(4).threads(16);
    let start = [0.0, f64::NEG_INFINITY, 100.0, 1.0];
    let run = |at: &[f64]| {
        let x = gpu.upload(at).unwrap();
        let (mut most, mut y) = (gpu.upload(&start).unwrap(), gpu.upload(&vec![1.0; n]).unwrap());
        largest::launch(&gpu, &grid, (&mut most, &mut y, &x, groups)).unwrap();
        weighted(&most.download().unwrap()) + weighted(&y.download().unwrap())
    };
    let at = numbers(n);
    let (x, mut most) = (gpu.upload(&at).unwrap(), gpu.upload(&start).unwrap());
    let (mut y, mut dy) = (gpu.upload(&vec![1.0; n]).unwrap(), gpu.upload(&weights(n)).unwrap());
    let (mut dmost, mut dx) = (gpu.upload(&weights(groups)).unwrap(), gpu.zeros(n).unwrap());
    let arguments = (&mut most, &mut dmost, &mut y, &mut dy, &x, &mut dx, groups);
    largest_grad::launch(&gpu, &grid, arguments).unwrap();
    agree(run, &at, &dx.download().unwrap(), 1e-6);
    // What was above all keeps its adjoint, and the others have handed theirs on.
    assert_eq!(dmost.download().unwrap(), [0.0, 0.0, weights(groups)[2], 0.0]);
    assert_eq!(dy.download().unwrap(), weights(n));
    // Results are those of the kernel, once.
    let wanted: Vec<f64> = at.iter().map(|x| 1.0 + x * x).collect();
    assert_eq!(y.download().unwrap(), wanted);
    let third = at.iter().skip(3).step_by(groups).fold(1.0, |most: f64, x| most.max(x * x));
    assert_eq!(most.download().unwrap()[3], third);
}

#[stratape::kernel]
#[gradient(wrt(least, x, scale))]
fn smallest(least: &mut [f32], x: &[f32], scale: f32) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    // Two for each thread.
    atomic_min(&mut least[0], scale * x[2 * i]);
    atomic_min(&mut least[0], scale * x[2 * i + 1]);
}

#[test]
fn the_first_of_equals() {
    let gpu = Device::new().unwrap();
    let stream = Stream::new(&gpu).unwrap();
    let xs = [3.0f32, 1.5, 2.0, 0.5, 0.5, 0.5, 7.0, 0.5];
    for grid in [Grid::blocks(2).threads(2), Grid::blocks(4).stream(&stream).deterministic()] {
        let (x, mut least) = (gpu.upload(&xs).unwrap(), gpu.upload(&[9.0f32]).unwrap());
        let (mut dleast, mut dx) = (gpu.upload(&[2.0f32]).unwrap(), gpu.zeros(8).unwrap());
        let mut dscale = gpu.zeros(1).unwrap();
        let arguments = (&mut least, &mut dleast, &x, &mut dx, 4.0, &mut dscale);
        smallest_grad::launch(&gpu, &grid, arguments).unwrap();
        assert_eq!(least.download().unwrap(), [2.0]);
        assert_eq!(dx.download().unwrap(), [0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(dscale.download().unwrap(), [1.0]);
        assert_eq!(dleast.download().unwrap(), [0.0]);
    }
    // What was there before is first of all.
    let (x, mut least) = (gpu.upload(&xs).unwrap(), gpu.upload(&[2.0f32]).unwrap());
    let (mut dleast, mut dx) = (gpu.upload(&[2.0f32]).unwrap(), gpu.zeros(8).unwrap());
    let mut dscale = gpu.zeros(1).unwrap();
    let arguments = (&mut least, &mut dleast, &x, &mut dx, 4.0, &mut dscale);
    smallest_grad::launch(&gpu, Grid::blocks(4), arguments).unwrap();
    assert_eq!((dleast.download().unwrap(), dx.download().unwrap()), (vec![2.0], vec![0.0; 8]));
}

#[stratape::kernel]
#[gradient(wrt(x))]
fn at_least(x: &mut [f64], limit: f64) {
    atomic_max(&mut x[thread_idx().x], limit);
}

#[test]
fn a_constant_that_is_above() {
    // What was overwritten kept its adjoint.
    let gpu = Device::new().unwrap();
    let (mut x, mut dx) = (gpu.upload(&[1.0, 3.0]).unwrap(), gpu.upload(&[5.0, 7.0]).unwrap());
    at_least_grad::launch(&gpu, Grid::blocks(1).threads(2), (&mut x, &mut dx, 2.0)).unwrap();
    assert_eq!(x.download().unwrap(), [2.0, 3.0]);
    assert_eq!(dx.download().unwrap(), [0.0, 7.0]);
}

#[stratape::gradient]
fn spread(gpu: &Device, x: &[f64]) -> Result<f64, GpuError> {
    let (x, mut y) = (gpu.upload(x)?, gpu.zeros(x.len())?);
    let mut most = gpu.zeros(3)?;
    largest::launch(gpu, Grid::blocks(3).threads(8), (&mut most, &mut y, &x, 3))?;
    gpu::sum(&most)
}

#[test]
fn in_a_host_function() {
    let gpu = Device::new().unwrap();
    let (at, mut dx) = (numbers(20), vec![0.0; 20]);
    spread_grad(&gpu, &at, &mut dx, 1.0).unwrap();
    agree(|x| spread(&gpu, x).unwrap(), &at, &dx, 1e-6);
}

#[test]
fn lengths_are_checked_before() {
    let gpu = Device::new().unwrap();
    let (x, mut least) = (gpu.zeros::<f32>(2).unwrap(), gpu.zeros(1).unwrap());
    let (mut dleast, mut dx, mut dscale) =
        (gpu.zeros(1).unwrap(), gpu.zeros(3).unwrap(), gpu.zeros(1).unwrap());
    let arguments = (&mut least, &mut dleast, &x, &mut dx, 4.0, &mut dscale);
    let error = smallest_grad::launch(&gpu, Grid::blocks(1), arguments).unwrap_err();
    assert!(error.to_string().contains("shadow"), "{error}");
}

#[test]
fn they_compile_for_a_device() {
    let elect = |kernel: &'static gpu::__private::Kernel| {
        let elect = kernel.text().elect.unwrap().kernel.text();
        (elect.language, elect.cuda)
    };
    ptx(&[largest_grad::texts(), smallest_grad::texts()]);
    ptx(&[elect(largest_grad::__kernel()), elect(smallest_grad::__kernel())]);
}
