//! One remainder of f32, and of what is divided twice.
use crate::oracle::*;
use stratape::gradient;
#[gradient]
fn f32s(x: f32, m: f32) -> f32 {
    (x % m) + (2.0 * x) % m
}
#[gradient]
fn wrapped(t: &[f64], period: f64) -> f64 {
    // Phases of samples on a grid, in parts of the period.
    let mut s = 0.0;
    for v in t {
        let phase = v % period / period;
        s += phase * phase + 0.5 * phase;
    }
    s
}
#[test]
fn remainder_f32() {
    for k in 1..200_u32 {
        for m in [3.0_f32, 7.0, 41.0, 47.0] {
            let x = k as f32 * m;
            let (_, _, dm) = f32s_grad(x, m, 1.0);
            assert_eq!(dm, -(x / m).trunc() - (2.0 * x / m).trunc(), "{x} {m}");
        }
    }
}
#[test]
fn remainder_phases_on_a_grid() {
    let period = 49.0;
    let t: Vec<f64> = (0..200).map(|k| k as f64 * 7.0).collect();
    let mut dt = vec![0.0; t.len()];
    let (_, d) = wrapped_grad(&t, &mut dt, period, 1.0);
    let h = 1e-7;
    let want: f64 = t
        .iter()
        .map(|v| {
            let p = v % period / period;
            (2.0 * p + 0.5) * (-(v / period).trunc() / period - (v % period) / period / period)
        })
        .sum();
    let right = |p: f64| {
        t.iter()
            .map(|v| {
                let q = (v - (v / period).floor() * period) / p
                    + (v / period).floor() * (period - p) / p;
                q * q + 0.5 * q
            })
            .sum::<f64>()
    };
    let fd = (right(period + h) - right(period - h)) / (2.0 * h);
    println!("by hand {want}, differences of the continued branch {fd}, gradient {d}");
    close("period", &[d], &[want]);
}
