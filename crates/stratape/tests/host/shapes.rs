//! The shapes of host functions: uploads, launches, copies, downloads, parameters that are buffers.

use stratape::gpu::{Buffer, Device, GpuError, Grid};
use stratape::gradient;

#[stratape::kernel]
#[gradient]
fn square(y: &mut [f64], x: &[f64], a: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        y[i] += a * x[i] * x[i];
    }
}

#[gradient]
fn energy(gpu: &Device, xs: &[f64], a: f64) -> Result<f64, GpuError> {
    let x = gpu.upload(xs)?;
    let mut y = gpu.zeros(xs.len())?;
    square::launch(gpu, Grid::blocks(xs.len().div_ceil(4)).threads(4), (&mut y, &x, a))?;
    let mut sum = 0.0;
    for v in y.download()? {
        sum += v * v;
    }
    Ok(sum)
}

#[test]
fn upload_launch_download() -> Result<(), GpuError> {
    let gpu = Device::new()?;
    let (x, mut dx) = ([1.0, 2.0, -3.0, 0.5, 4.0], [0.0; 5]);
    let (value, da) = energy_grad(&gpu, &x, &mut dx, 1.5, 1.0)?;
    assert_eq!(value, energy(&gpu, &x, 1.5)?);
    for (x, dx) in x.iter().zip(dx) {
        assert!((dx - 4.0 * 1.5 * 1.5 * x * x * x).abs() < 1e-12, "{dx}");
    }
    let expected: f64 = x.iter().map(|x| 2.0 * 1.5 * x.powi(4)).sum();
    assert!((da - expected).abs() < 1e-12 * expected, "{da} {expected}");
    Ok(())
}

#[gradient]
fn on_buffers(gpu: &Device, y: &mut Buffer<f64>, x: &Buffer<f64>) -> Result<(), GpuError> {
    let grid = Grid::blocks(x.len().div_ceil(4)).threads(4);
    square::launch(gpu, &grid, (&mut *y, x, 2.0))?;
    square::launch(gpu, &grid, (y, x, 1.0))?;
    Ok(())
}

#[test]
fn buffers_as_parameters() -> Result<(), GpuError> {
    let gpu = Device::new()?;
    let x = gpu.upload(&[1.0, 2.0, 3.0])?;
    let mut y = gpu.upload(&[1.0, 1.0, 1.0])?;
    let mut dy = gpu.upload(&[1.0, 10.0, 100.0])?;
    let mut dx = gpu.upload(&[0.5, 0.5, 0.5])?;
    on_buffers_grad(&gpu, &mut y, &mut dy, &x, &mut dx)?;
    assert_eq!(y.download()?, [4.0, 13.0, 28.0]);
    assert_eq!(dy.download()?, [1.0, 10.0, 100.0]);
    assert_eq!(dx.download()?, [6.5, 120.5, 1800.5]);
    Ok(())
}
