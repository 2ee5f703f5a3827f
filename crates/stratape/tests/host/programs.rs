//! Whole host functions, against differences.

use stratape::gpu::{self, Buffer, Device, GpuError, Grid, Stream};
use stratape::gradient;

use crate::{close, differences};

#[stratape::kernel]
#[gradient]
fn heat(next: &mut [f64], now: &[f64], k: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    let n = now.len();
    if i < n {
        let left = if i > 0 { now[i - 1] } else { 0.0 };
        let right = if i + 1 < n { now[i + 1] } else { 0.0 };
        next[i] = now[i] + k * (left - 2.0 * now[i] + right) * now[i];
    }
}

#[stratape::kernel]
#[gradient]
fn product(z: &mut [f64], x: &[f64], y: &[f64]) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i + 1 < z.len() {
        z[i] = x[i] * y[i + 1];
    }
}

fn grid(n: usize) -> Grid {
    Grid::blocks(n.div_ceil(4)).threads(4)
}

/// A time loop: two buffers change places.
#[gradient]
fn diffused(gpu: &Device, start: &[f64], k: f64, steps: usize) -> Result<f64, GpuError> {
    let n = start.len();
    let mut now = gpu.upload(start)?;
    let mut next = gpu.zeros(n)?;
    for _ in 0..steps {
        heat::launch(gpu, Grid::blocks(n.div_ceil(4)).threads(4), (&mut next, &now, k))?;
        std::mem::swap(&mut now, &mut next);
    }
    let end = now.download()?;
    Ok(end.iter().enumerate().map(|(i, v)| v * v * (i + 1) as f64).sum())
}

#[test]
fn a_time_loop() {
    let gpu = Device::new().unwrap();
    let x = [0.3, 0.9, -0.4, 0.7, 0.2, 1.1];
    let mut dx = [0.0; 6];
    for steps in [0, 1, 2, 5] {
        dx.fill(0.0);
        let (value, dk) = diffused_grad(&gpu, &x, &mut dx, 0.1, steps, 2.0).unwrap();
        assert_eq!(value, diffused(&gpu, &x, 0.1, steps).unwrap());
        close(&dx, &differences(&x, |x| 2.0 * diffused(&gpu, x, 0.1, steps).unwrap()));
        close(&[dk], &differences(&[0.1], |k| 2.0 * diffused(&gpu, &x, k[0], steps).unwrap()));
    }
}

/// One buffer in two places of a launch, and a buffer per iteration.
#[gradient]
fn twice(gpu: &Device, x: &[f64]) -> Result<f64, GpuError> {
    let buffer = gpu.upload(x)?;
    let mut sum = 0.0;
    for k in 0..3 {
        let mut z = gpu.zeros::<f64>(x.len())?;
        product::launch(gpu, Grid::blocks(2).threads(4), (&mut z, &buffer, &buffer))?;
        let mut list = vec![0.0; x.len()];
        z.download_into(&mut list)?;
        sum += list[k] * list[k + 1];
    }
    Ok(sum)
}

#[test]
fn the_same_buffer_twice() {
    let gpu = Device::new().unwrap();
    let x = [0.3, 0.9, -0.4, 0.7, 0.2, 1.1];
    let mut dx = [0.0; 6];
    let value = twice_grad(&gpu, &x, &mut dx, 1.0).unwrap();
    assert_eq!(value, twice(&gpu, &x).unwrap());
    close(&dx, &differences(&x, |x| twice(&gpu, x).unwrap()));
}

/// Copies, clearing, writing again, streams.
#[gradient]
fn copies(gpu: &Device, x: &[f64], y: &[f64]) -> Result<f64, GpuError> {
    let (left, right) = (Stream::new(gpu)?, Stream::new(gpu)?);
    let n = x.len();
    let (a, mut b) = (gpu.upload(x)?, gpu.upload(y)?);
    let mut c = gpu.alloc_like(&a)?;
    heat::launch(gpu, Grid::blocks(n).stream(&left), (&mut c, &a, 0.5))?;
    let mut d = gpu.alloc_like(&a)?;
    heat::launch(gpu, Grid::blocks(n).stream(&right), (&mut d, &b, 0.25))?;
    gpu.synchronize()?;
    b.copy_from(&c)?;
    product::launch(gpu, &Grid::blocks(n), (&mut c, &b, &d))?;
    d.fill_zero()?;
    heat::launch(gpu, Grid::blocks(n), (&mut d, &c, 1.0))?;
    let first: f64 = d.download()?.iter().sum();
    b.write(y)?;
    product::launch(gpu, &Grid::blocks(n), (&mut d, &b, &c))?;
    left.synchronize()?;
    let list = d.download()?;
    println!("this says nothing");
    Ok(first * list[0] + list[n - 1])
}

#[test]
fn copies_streams_and_buffers_used_again() {
    let gpu = Device::new().unwrap();
    let (x, y) = ([0.3, 0.9, -0.4, 0.7, 0.2], [0.5, -0.6, 0.8, 0.1, 0.4]);
    let (mut dx, mut dy) = ([0.0; 5], [0.0; 5]);
    let value = copies_grad(&gpu, &x, &mut dx, &y, &mut dy, 1.0).unwrap();
    assert_eq!(value, copies(&gpu, &x, &y).unwrap());
    close(&dx, &differences(&x, |x| copies(&gpu, x, &y).unwrap()));
    close(&dy, &differences(&y, |y| copies(&gpu, &x, y).unwrap()));
}

#[stratape::kernel]
#[gradient]
fn gathered(y: &mut [f32], x: &[[f32; 2]], at: &[u32], n: u32, scale: f32) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if (i as u32) < n {
        let from = at[i] as usize;
        y[i] = scale * x[from][0] * x[from][1];
    }
}

/// Integers, elements that are arrays, `f32`, literals that are other types in the kernel.
#[gradient]
fn mixed(gpu: &Device, x: &[[f32; 2]], at: &[u32], scale: f32) -> Result<f32, GpuError> {
    let (points, index) = (gpu.upload(x)?, gpu.upload(at)?);
    let mut y = gpu.zeros::<f32>(at.len())?;
    gathered::launch(
        gpu,
        Grid::blocks((2, 1)).threads((4, 1, 1)),
        (&mut y, &points, &index, 5, scale),
    )?;
    let mut sum = 0.0;
    for v in y.download()? {
        sum += v;
    }
    Ok(sum)
}

#[test]
fn other_types() {
    let gpu = Device::new().unwrap();
    let (x, at) = ([[0.5_f32, 2.0], [1.0, 3.0], [4.0, 0.25]], [0_u32, 2, 2, 1, 0]);
    let mut dx = [[0.0_f32; 2]; 3];
    let (value, dscale) = mixed_grad(&gpu, &x, &mut dx, &at, 2.0, 1.0).unwrap();
    assert_eq!(value, 2.0 * (1.0 + 1.0 + 1.0 + 3.0 + 1.0));
    assert_eq!(dscale, 7.0);
    assert_eq!(dx, [[8.0, 2.0], [6.0, 2.0], [1.0, 16.0]]);
}

/// No `Result`, a device of its own, a branch around a launch.
#[gradient]
fn unwrapped(x: &[f64], flag: bool) -> f64 {
    let gpu = Device::emulator();
    let a = gpu.upload(x).unwrap();
    let mut b = gpu.upload(x).expect("room");
    if flag {
        heat::launch(&gpu, Grid::blocks(x.len()), (&mut b, &a, 0.5)).unwrap();
    } else {
        product::launch(&gpu, Grid::blocks(x.len()), (&mut b, &a, &a)).unwrap();
    }
    b.download().unwrap().iter().map(|v| v.sin()).sum()
}

#[test]
fn no_results() {
    let x = [0.3, 0.9, -0.4, 0.7, 0.2];
    for flag in [false, true] {
        let mut dx = [0.0; 5];
        let value = unwrapped_grad(&x, &mut dx, flag, 1.0);
        assert_eq!(value, unwrapped(&x, flag));
        close(&dx, &differences(&x, |x| unwrapped(x, flag)));
    }
}

/// A function of another that does a part.
#[stratape::differentiable]
fn smoothed(gpu: &Device, x: &Buffer<f64>, k: f64) -> Result<Buffer<f64>, GpuError> {
    let mut y = gpu.alloc_like(x)?;
    heat::launch(gpu, Grid::blocks(x.len()), (&mut y, x, k))?;
    Ok(y)
}

struct Pair {
    left: Buffer<f64>,
    right: Buffer<f64>,
}

#[gradient]
fn composed(gpu: &Device, x: &[f64], k: f64) -> Result<f64, GpuError> {
    let a = gpu.upload(x)?;
    let once = smoothed(gpu, &a, k)?;
    let again = smoothed(gpu, &once, 2.0 * k)?;
    let (first, second) = (once.download()?, again.download()?);
    Ok(first.iter().zip(&second).map(|(a, b)| a * b).sum())
}

#[test]
fn helpers() {
    let gpu = Device::new().unwrap();
    let x = [0.3, 0.9, -0.4, 0.7];
    let mut dx = [0.0; 4];
    let (value, dk) = composed_grad(&gpu, &x, &mut dx, 0.2, 1.0).unwrap();
    assert_eq!(value, composed(&gpu, &x, 0.2).unwrap());
    close(&dx, &differences(&x, |x| composed(&gpu, x, 0.2).unwrap()));
    close(&[dk], &differences(&[0.2], |k| composed(&gpu, &x, k[0]).unwrap()));
    let pair = Pair { left: gpu.upload(&x).unwrap(), right: gpu.upload(&x).unwrap() };
    assert_eq!(pair.left.len(), pair.right.len());
    assert_eq!(grid(5).block_count().count(), 2);
}

/// Only what is asked for has a shadow, and faults are errors.
#[gradient(wrt(y, x))]
fn chosen(
    gpu: &Device,
    y: &mut Buffer<f64>,
    x: &Buffer<f64>,
    w: &Buffer<f64>,
) -> Result<(), GpuError> {
    let grid = Grid::blocks(y.len());
    product::launch(gpu, grid, (y, x, w))
}

#[test]
fn what_is_asked_for() {
    let gpu = Device::new().unwrap();
    let up = |list: &[f64]| gpu.upload(list).unwrap();
    let (x, w, mut y) = (up(&[1.0, 2.0, 3.0]), up(&[4.0, 5.0, 6.0]), up(&[7.0, 8.0, 9.0]));
    let (mut dy, mut dx) = (up(&[1.0, 1.0, 1.0]), up(&[0.0; 3]));
    chosen_grad(&gpu, &mut y, &mut dy, &x, &mut dx, &w).unwrap();
    assert_eq!(y.download().unwrap(), [5.0, 12.0, 9.0]);
    assert_eq!(dy.download().unwrap(), [0.0, 0.0, 1.0]);
    assert_eq!(dx.download().unwrap(), [5.0, 6.0, 0.0]);
    let short = up(&[1.0]);
    let mut dshort = up(&[0.0]);
    let gpu = gpu.clone().checking(true);
    assert!(chosen_grad(&gpu, &mut y, &mut dy, &short, &mut dshort, &w).is_err());
    assert_eq!(y.download().unwrap(), [5.0, 12.0, 9.0]);
    let mut wrong = up(&[0.0]);
    assert!(matches!(
        chosen_grad(&gpu, &mut y, &mut wrong, &x, &mut dx, &w),
        Err(GpuError::Length { .. })
    ));
}

/// The time loop again, from snapshots, with a buffer that each step makes for itself and one that it makes for the next.
#[gradient]
fn stored(
    gpu: &Device,
    start: &[f64],
    k: f64,
    steps: usize,
    slots: usize,
) -> Result<f64, GpuError> {
    let n = start.len();
    let weights = gpu.upload(start)?;
    let mut now = gpu.upload(start)?;
    let mut next = gpu.zeros(n)?;
    let mut sum = 0.0;
    #[checkpoint(slots = slots)]
    for t in 0..steps {
        heat::launch(gpu, Grid::blocks(n), (&mut next, &now, k))?;
        let mut own = gpu.zeros::<f64>(n)?;
        product::launch(gpu, Grid::blocks(n), (&mut own, &next, &weights))?;
        heat::launch(gpu, Grid::blocks(n), (&mut now, &own, 0.5 * k))?;
        sum += now.download()?[t % 3];
        let mut other = gpu.upload(start)?;
        product::launch(gpu, Grid::blocks(n), (&mut other, &now, &next))?;
        now = other;
    }
    let end = now.download()?;
    Ok(sum + end.iter().map(|v| v * v).sum::<f64>())
}

#[test]
fn a_time_loop_from_snapshots() {
    let gpu = Device::new().unwrap();
    let x = [0.3, 0.9, -0.4, 0.7, 0.2, 1.1];
    for (steps, slots) in [(0, 2), (1, 2), (3, 4), (7, 3), (20, 3)] {
        let mut dx = [0.0; 6];
        let (value, dk) = stored_grad(&gpu, &x, &mut dx, 0.1, steps, slots, 1.0).unwrap();
        assert_eq!(value, stored(&gpu, &x, 0.1, steps, slots).unwrap());
        close(&dx, &differences(&x, |x| stored(&gpu, x, 0.1, steps, slots).unwrap()));
        close(&[dk], &differences(&[0.1], |k| stored(&gpu, &x, k[0], steps, slots).unwrap()));
    }
}

#[stratape::elementwise]
fn bent(x: f64, y: f64, a: &f64) -> f64 {
    (a * x).sin() + x * y
}

/// Ready-made functions of buffers.
#[gradient]
fn of_primitives(gpu: &Device, x: &[f64], index: &[u32], a: f64) -> Result<f64, GpuError> {
    let buffer = gpu.upload(x)?;
    let ones = gpu::adjacent_difference(&buffer)?;
    let curve = bent::map((&buffer, &ones, a))?;
    let path = gpu::inclusive_scan(&curve)?;
    let shifted = gpu::exclusive_scan(&path, 2.0 * a)?;
    let picked = gpu::gather(&shifted, &gpu.upload(index)?)?;
    let back = gpu::scatter_add(&picked, &gpu.upload(index)?, x.len())?;
    let square = gpu::matmul(&back, &shifted, (2, 2, 2))?;
    let mut sum =
        gpu::sum(&square)? + gpu::dot(&back, &path)? * gpu::max(&path)? - gpu::min(&picked)?;
    sum += gpu::product(&curve)? + gpu::dot(&path, &path)?;
    Ok(sum)
}

#[test]
fn primitives_in_host_functions() {
    let gpu = Device::new().unwrap();
    let (x, index) = ([0.3, 0.9, -0.4, 0.7], [2_u32, 0, 2, 3]);
    let mut dx = [0.0; 4];
    let (value, da) = of_primitives_grad(&gpu, &x, &mut dx, &index, 0.8, 1.0).unwrap();
    assert_eq!(value, of_primitives(&gpu, &x, &index, 0.8).unwrap());
    close(&dx, &differences(&x, |x| of_primitives(&gpu, x, &index, 0.8).unwrap()));
    close(&[da], &differences(&[0.8], |a| of_primitives(&gpu, &x, &index, a[0]).unwrap()));
}

#[stratape::kernel]
#[gradient]
fn doubled(y: &mut [f64]) {
    let i = thread_idx().x;
    if i < y.len() {
        y[i] *= 2.0;
    }
}

/// A clone is a buffer of its own, also as a field.
#[gradient]
fn cloned(gpu: &Device, x: &[f64]) -> Result<f64, GpuError> {
    let mut b = gpu.upload(x)?;
    let c = b.clone();
    doubled::launch(gpu, Grid::blocks(1).threads(8), (&mut b,))?;
    let pair = (b, c);
    let (mut d, e) = pair.clone();
    doubled::launch(gpu, Grid::blocks(1).threads(8), (&mut d,))?;
    Ok(gpu::dot(&pair.0, &pair.1)? + gpu::dot(&d, &e)?)
}

#[test]
fn clones_are_their_own() {
    let gpu = Device::new().unwrap();
    let (x, mut dx) = ([3.0, 1.0], [0.0; 2]);
    assert_eq!(cloned_grad(&gpu, &x, &mut dx, 1.0).unwrap(), 60.0);
    assert_eq!(cloned(&gpu, &x).unwrap(), 60.0);
    assert_eq!(dx, [36.0, 12.0]);
}

#[stratape::differentiable]
mod methods {
    use stratape::gpu::{Buffer, Device, GpuError, Grid};

    pub(super) struct Pair {
        left: Buffer<f64>,
        right: Buffer<f64>,
    }

    impl Pair {
        fn new(gpu: &Device, x: &[f64]) -> Result<Pair, GpuError> {
            let left = gpu.upload(x)?;
            Ok(Pair { right: left.clone(), left })
        }

        fn step(&mut self, gpu: &Device) -> Result<(), GpuError> {
            super::doubled::launch(gpu, Grid::blocks(1).threads(8), (&mut self.left,))?;
            Ok(())
        }
    }

    #[gradient]
    pub(super) fn stepped(gpu: &Device, x: &[f64]) -> Result<f64, GpuError> {
        let mut pair = Pair::new(gpu, x)?;
        pair.step(gpu)?;
        pair.step(gpu)?;
        let (left, right) = (pair.left.download()?, pair.right.download()?);
        Ok(left.iter().zip(&right).map(|(a, b)| a * b).sum())
    }
}

#[test]
fn methods_of_a_module() {
    let gpu = Device::new().unwrap();
    let (x, mut dx) = ([3.0, 1.0], [0.0; 2]);
    assert_eq!(methods::stepped_grad(&gpu, &x, &mut dx, 1.0).unwrap(), 40.0);
    assert_eq!(dx, [24.0, 8.0]);
}

/// Nothing on the device after all.
#[gradient]
fn idle(gpu: &Device, x: &[f64], a: f64) -> Result<f64, GpuError> {
    let _ = gpu;
    Ok(a * x[0])
}

#[test]
fn a_device_that_is_not_used() {
    let gpu = Device::new().unwrap();
    let mut dx = [0.0];
    assert_eq!(idle_grad(&gpu, &[2.0], &mut dx, 3.0, 1.0).unwrap(), (6.0, 2.0));
}
