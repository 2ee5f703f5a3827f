//! Functions of other files, called from a gradient.

#![deny(warnings)]
#![allow(unreachable_pub)]

#[path = "several_files/air.rs"]
mod air;
#[path = "several_files/shapes.rs"]
mod shapes;
#[path = "several_files/water.rs"]
mod water;

use air::{drag, line};
use shapes::{Norm, Point};
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

#[gradient]
fn outline(corners: &[Point], norm: Norm) -> f64 {
    let m = shapes::middle(corners[0], corners[1]);
    let list = [m, corners[2]];
    let mut sum = 0.0;
    for i in 0..2 {
        sum += list[i].x * list[1 - i].y;
    }
    shapes::perimeter(corners, norm) + shapes::round(corners) + sum
}

#[test]
fn structs_of_another_file_have_shadows() {
    let corners = [(0.1, 0.2), (1.5, -0.3), (0.7, 2.0), (-0.4, 1.1)];
    let corners = corners.map(|(x, y)| Point { x, y });
    for norm in [Norm::Sum, Norm::Largest, Norm::Length] {
        let mut shadows = [Point::default(); 4];
        let value = outline_grad(&corners, &mut shadows, norm, 1.0);
        assert_eq!(value, outline(&corners, norm));
        for i in 0..4 {
            let at = |dx: f64, dy: f64| {
                let mut moved = corners;
                (moved[i].x, moved[i].y) = (moved[i].x + dx, moved[i].y + dy);
                outline(&moved, norm)
            };
            close(shadows[i].x, (at(1e-6, 0.0) - at(-1e-6, 0.0)) / 2e-6);
            close(shadows[i].y, (at(0.0, 1e-6) - at(0.0, -1e-6)) / 2e-6);
        }
    }
}
