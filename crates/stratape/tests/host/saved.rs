//! Versions of buffers that do not fit on the device.

use std::process::Command;

use stratape::gpu::{self, Device, GpuError, Grid};
use stratape::gradient;

#[stratape::kernel]
#[gradient]
fn bend(u: &mut [f64], k: f64) {
    let i = thread_idx().x;
    u[i] += k * (u[i] * u[i]).sin();
}

#[gradient]
fn bent(gpu: &Device, u: &[f64], k: f64, steps: usize) -> Result<f64, GpuError> {
    let mut u = gpu.upload(u)?;
    for _ in 0..steps {
        bend::launch(gpu, Grid::blocks(1).threads(u.len()), (&mut u, k))?;
    }
    gpu::sum(&u)
}

#[test]
fn a_long_loop() {
    let gpu = Device::new().unwrap();
    let (at, mut du) = ([0.3, 0.8, 1.1], [0.0; 3]);
    let (_, dk) = bent_grad(&gpu, &at, &mut du, 0.1, 40, 1.0).unwrap();
    // Tangents, forward.
    let (mut dk_wanted, k) = (0.0, 0.1);
    for (u, du) in at.into_iter().zip(du) {
        let (mut u, mut by_u, mut by_k): (f64, f64, f64) = (u, 1.0, 0.0);
        for _ in 0..40 {
            let slope = 1.0 + 2.0 * k * u * (u * u).cos();
            (by_u, by_k) = (slope * by_u, slope * by_k + (u * u).sin());
            u += k * (u * u).sin();
        }
        dk_wanted += by_k;
        assert!((du - by_u).abs() < 1e-13, "{du} for {by_u}");
    }
    assert!((dk - dk_wanted).abs() < 1e-12, "{dk} for {dk_wanted}");
}

/// Tests of this file and of others, in a process in which no version stays on the device.
#[test]
fn all_versions_on_the_host() {
    if std::env::var_os("STRATAPE_GPU_SAVED_BYTES").is_some() {
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .env("STRATAPE_GPU_SAVED_BYTES", "0")
        .args(["programs::", "shapes::", "saved::", "--test-threads=2"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}");
}
