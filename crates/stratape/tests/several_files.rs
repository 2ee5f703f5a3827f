//! Functions of other files, called from a gradient.

#![deny(warnings)]
#![allow(unreachable_pub)]

#[path = "several_files/air.rs"]
mod air;
#[path = "several_files/water.rs"]
mod water;

use air::{drag, line};
use stratape::gradient;

/// A third one, which no file means.
#[allow(dead_code)]
fn sq(v: f64) -> f64 {
    -v
}

#[gradient]
fn force(v: f64, angle: f64) -> f64 {
    drag(v) + air::lift(v, angle) + water::deep::twice(v) + line(v, 1.0)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn names_mean_what_they_mean_in_their_own_file() {
    let (v, angle) = (1.5, 0.3);
    let (value, dv, dangle) = force_grad(v, angle, 1.0);
    assert_eq!(value, force(v, angle));
    close(value, 0.5 * v * v * (1.0 + 100.0 * angle) + 200.0 * v + 2.0 * v + 1.0);
    close(dv, v * (1.0 + 100.0 * angle) + 202.0);
    close(dangle, 50.0 * v * v);
}
