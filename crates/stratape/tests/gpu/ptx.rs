//! The texts of kernels, compiled by NVRTC where it can be had; no device is needed.

use stratape::gpu::nvrtc;

#[stratape::device]
fn everything(x: f64, n: i32) -> f64 {
    let a = x.sqrt()
        + x.cbrt()
        + x.exp()
        + x.exp2()
        + x.exp_m1()
        + x.ln()
        + x.ln_1p()
        + x.log2()
        + x.log10();
    let b = x.sin()
        + x.cos()
        + x.tan()
        + x.asin()
        + x.acos()
        + x.atan()
        + x.sinh()
        + x.cosh()
        + x.tanh();
    let c = x.asinh()
        + x.atanh()
        + x.hypot(a)
        + x.atan2(b)
        + x.powi(n)
        + x.powf(b)
        + x.abs()
        + x.signum();
    let d =
        x.min(a).max(b).clamp(-1.0, 1.0) + x.floor() + x.ceil() + x.round() + x.trunc() + x.fract();
    let e = x.recip()
        + x.to_radians()
        + x.to_degrees()
        + x.mul_add(a, b)
        + x.rem_euclid(2.0)
        + x.copysign(a)
        + x % 3.0;
    a + b + c + d + e + (x as i32 as f64) + (x as u8 as f64) + (x as usize as f64)
}

#[stratape::kernel]
#[gradient(wrt(y, x))]
fn functions(y: &mut [f64], x: &[f64], n: i32, k: &mut [i64], c: &mut [u32]) {
    let i = thread_idx().x;
    y[i] = everything(x[i], n);
    let m = (n as i64).wrapping_mul(3).rem_euclid(7).max(2).min(5).abs().pow(2) << 1;
    atomic_add(&mut k[0], m);
    atomic_max(&mut k[1], -m);
    let old = atomic_add(&mut c[0], 1);
    atomic_min(&mut c[1], old & 3);
    if x[i].is_nan() || !x[i].is_finite() || x[i].total_cmp(&1.0).is_lt() {
        y[i] += 1.0;
    }
}

/// Compiles texts for two architectures, with and without checks.
pub(crate) fn ptx(texts: &[(&'static str, &'static str)]) {
    if !nvrtc::is_present() {
        eprintln!("skipped: NVRTC not found (`ci/nvrtc` fetches it)");
        return;
    }
    for (_, cuda) in texts {
        for arch in ["sm_80", "sm_90"] {
            for defines in [&[][..], &["STRATAPE_CHECK=1"][..], &["STRATAPE_DETERMINISTIC=1"][..]] {
                let ptx =
                    nvrtc::to_ptx(cuda, arch, defines).unwrap_or_else(|error| panic!("{error}"));
                assert!(ptx.contains(".entry"));
            }
        }
    }
}

#[test]
fn functions_of_numbers() {
    ptx(&[functions::texts(), functions_grad::texts()]);
}
