//! Single operations at special points, with derivatives in closed form.
use crate::oracle::*;
use stratape::gradient;

const N: f64 = f64::NAN;
const I: f64 = f64::INFINITY;

#[gradient]
fn max(a: f64, b: f64) -> f64 {
    a.max(b)
}
#[gradient]
fn min(a: f64, b: f64) -> f64 {
    a.min(b)
}
#[gradient]
fn powi(a: f64, k: i32) -> f64 {
    a.powi(k)
}
#[gradient]
fn powf(a: f64, b: f64) -> f64 {
    a.powf(b)
}
#[gradient]
fn hypot(a: f64, b: f64) -> f64 {
    a.hypot(b)
}
#[gradient]
fn clamp(a: f64, lo: f64, hi: f64) -> f64 {
    a.clamp(lo, hi)
}
#[gradient]
fn copysign(a: f64, b: f64) -> f64 {
    a.copysign(b)
}
#[gradient]
fn abs(a: f64) -> f64 {
    a.abs() * 2.0
}
#[gradient]
fn fract(a: f64) -> f64 {
    a.fract() * a
}
#[gradient]
fn rem(a: f64, b: f64) -> f64 {
    a % b
}
#[gradient]
fn rem_euclid(a: f64, b: f64) -> f64 {
    a.rem_euclid(b)
}
#[gradient]
fn atan2(a: f64, b: f64) -> f64 {
    a.atan2(b)
}
#[gradient]
fn mul_zero(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { a * 2.0 }
}
#[gradient]
fn sum_inf(a: f64, b: f64) -> f64 {
    let c = a + b;
    if c < f64::INFINITY { c * a } else { b }
}

#[test]
fn points_max_min() {
    for (a, b, da) in [
        (1.0, 2.0, 0.0),
        (2.0, 1.0, 1.0),
        (1.0, 1.0, 1.0),
        (N, 1.0, 0.0),
        (1.0, N, 1.0),
        (I, 1.0, 1.0),
        (-I, 1.0, 0.0),
        (0.0, -0.0, 1.0),
        (-0.0, 0.0, 1.0),
    ] {
        let (r, x, y) = max_grad(a, b, 1.0);
        assert_eq!(r.to_bits(), max(a, b).to_bits());
        close(&format!("max {a} {b}"), &[x, y], &[da, 1.0 - da]);
    }
    for (a, b, da) in [
        (1.0, 2.0, 1.0),
        (2.0, 1.0, 0.0),
        (1.0, 1.0, 1.0),
        (N, 1.0, 0.0),
        (1.0, N, 1.0),
        (I, 1.0, 0.0),
        (-I, 1.0, 1.0),
        (0.0, -0.0, 1.0),
        (-0.0, 0.0, 1.0),
    ] {
        let (r, x, y) = min_grad(a, b, 1.0);
        assert_eq!(r.to_bits(), min(a, b).to_bits());
        close(&format!("min {a} {b}"), &[x, y], &[da, 1.0 - da]);
    }
}
#[test]
fn points_powers() {
    for (a, k, d) in [
        (0.0, 0, 0.0),
        (0.0, 1, 1.0),
        (0.0, 2, 0.0),
        (-2.0, 3, 12.0),
        (2.0, -1, -0.25),
        (I, 0, 0.0),
        (I, 1, 1.0),
        (1.0, i32::MAX, i32::MAX as f64),
        (-1.0, i32::MAX, i32::MAX as f64),
        (2.0, -1074, 0.0),
        (0.5, 1074, 1074.0 * 0.5_f64.powi(1073)),
    ] {
        let (r, x) = powi_grad(a, k, 1.0);
        assert_eq!(r.to_bits(), powi(a, k).to_bits());
        close(&format!("powi {a} {k}"), &[x], &[d]);
    }
    for (a, b, da, db) in [
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 2.0, 0.0, 0.0),
        (2.0, 0.0, 0.0, 2_f64.ln()),
        (1.0, I, I, 0.0),
        (I, 0.0, 0.0, I),
    ] {
        let (r, x, y) = powf_grad(a, b, 1.0);
        assert_eq!(r.to_bits(), powf(a, b).to_bits());
        if a.is_finite() && b.is_finite() {
            close(&format!("powf {a} {b}"), &[x, y], &[da, db]);
        }
    }
}
#[test]
fn points_power_of_the_least_integer() {
    let (_, d) = powi_grad(1.5, i32::MIN, 1.0);
    close("1.5.powi(i32::MIN)", &[d], &[0.0]);
    let (_, d) = powi_grad(1.0, i32::MIN, 1.0);
    close("1.0.powi(i32::MIN)", &[d], &[i32::MIN as f64]);
}
#[test]
fn points_signs() {
    for (a, b, da, db) in [
        (0.0, 0.0, 0.0, 0.0),
        (-0.0, 0.0, 0.0, 0.0),
        (3.0, 4.0, 0.6, 0.8),
        (-3.0, 0.0, -1.0, 0.0),
        (0.0, -2.0, 0.0, -1.0),
    ] {
        let (_, x, y) = hypot_grad(a, b, 1.0);
        close(&format!("hypot {a} {b}"), &[x, y], &[da, db]);
    }
    for (a, b, da) in [
        (2.0, -1.0, -1.0),
        (-2.0, -1.0, 1.0),
        (-2.0, -0.0, 1.0),
        (-2.0, 0.0, -1.0),
        (2.0, 3.0, 1.0),
    ] {
        let (_, x, y) = copysign_grad(a, b, 1.0);
        close(&format!("copysign {a} {b}"), &[x, y], &[da, 0.0]);
    }
    for (a, d) in [(0.0, 0.0), (-0.0, 0.0), (1.0, 2.0), (-1.0, -2.0), (I, 2.0)] {
        close(&format!("abs {a}"), &[abs_grad(a, 1.0).1], &[d]);
    }
    for a in [1.25_f64, -1.25, 2.0, -2.0, 1e300] {
        close(&format!("fract {a}"), &[fract_grad(a, 1.0).1], &[a.fract() + a]);
    }
}
#[test]
fn points_clamp() {
    for (a, lo, hi, d) in [
        (0.5, 0.0, 1.0, [1.0, 0.0, 0.0]),
        (-1.0, 0.0, 1.0, [0.0, 1.0, 0.0]),
        (2.0, 0.0, 1.0, [0.0, 0.0, 1.0]),
        (0.0, 0.0, 1.0, [1.0, 0.0, 0.0]),
        (1.0, 0.0, 1.0, [1.0, 0.0, 0.0]),
        (1.0, 1.0, 1.0, [1.0, 0.0, 0.0]),
    ] {
        let (r, x, y, z) = clamp_grad(a, lo, hi, 1.0);
        assert_eq!(r, clamp(a, lo, hi));
        close(&format!("clamp {a} {lo} {hi}"), &[x, y, z], &d);
    }
    for (a, lo, hi) in [(0.5, 1.0, 0.0), (0.5, N, 1.0), (0.5, 0.0, N)] {
        assert!(caught(|| clamp(a, lo, hi)).is_err());
        assert!(caught(|| clamp_grad(a, lo, hi, 1.0)).is_err(), "clamp {a} {lo} {hi}");
    }
    assert!(clamp_grad(N, 0.0, 1.0, 1.0).0.is_nan());
}
#[test]
fn points_remainders_away_from_jumps() {
    for (a, b, d) in
        [(7.5, 2.0, -3.0), (-7.5, 2.0, 3.0), (7.5, -2.0, 3.0), (1.0, I, 0.0), (1.0, 0.3, -3.0)]
    {
        close(&format!("{a} % {b}"), &[rem_grad(a, b, 1.0).1, rem_grad(a, b, 1.0).2], &[1.0, d]);
    }
    for (a, b, d) in [(7.5, 2.0, -3.0), (-7.5, 2.0, 4.0), (7.5, -2.0, 3.0), (-7.5, -2.0, -4.0)] {
        close(
            &format!("{a} rem_euclid {b}"),
            &[rem_euclid_grad(a, b, 1.0).1, rem_euclid_grad(a, b, 1.0).2],
            &[1.0, d],
        );
    }
}
#[test]
fn points_branches_and_infinities() {
    let (_, x, y) = mul_zero_grad(3.0, 0.0, 1.0);
    close("guarded quotient", &[x, y], &[2.0, 0.0]);
    let (_, x, y) = sum_inf_grad(I, 2.0, 1.0);
    close("infinite sum", &[x, y], &[0.0, 1.0]);
}
