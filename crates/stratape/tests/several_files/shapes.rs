//! Structs, enums, aliases and constants of another file.

use stratape::differentiable;

#[differentiable]
pub type Real = f64;

#[differentiable]
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    pub x: Real,
    pub y: Real,
}

/// Is not named by those who call `perimeter`.
#[differentiable]
#[derive(Clone, Copy)]
struct Side {
    from: Point,
    to: Point,
}

#[differentiable]
#[derive(Clone, Copy, PartialEq)]
pub enum Norm {
    Sum,
    Largest = 7,
    Length,
}

#[differentiable]
const WEIGHTS: [f64; 3] = [1.0, 2.0, 4.0];

#[differentiable]
fn length(side: &Side, norm: Norm) -> Real {
    let (dx, dy) = (side.to.x - side.from.x, side.to.y - side.from.y);
    match norm {
        Norm::Sum => dx.abs() + dy.abs(),
        Norm::Largest => dx.abs().max(dy.abs()),
        Norm::Length => dx.hypot(dy),
    }
}

#[differentiable]
pub fn perimeter(corners: &[Point], norm: Norm) -> Real {
    let zero = Point { x: 0.0, y: 0.0 };
    let mut sides = vec![Side { from: zero, to: zero }; corners.len()];
    for i in 0..corners.len() {
        sides[i] = Side { from: corners[i], to: corners[(i + 1) % corners.len()] };
    }
    let mut sum = 0.0;
    for i in 0..sides.len() {
        sum += WEIGHTS[i % 3] * length(&sides[i], norm);
    }
    sum
}

/// Says which norm it takes.
#[differentiable]
pub fn round(corners: &[Point]) -> Real {
    perimeter(corners, Norm::Length)
}

#[differentiable]
pub fn middle(a: Point, b: Point) -> Point {
    Point { x: 0.5 * (a.x + b.x), y: 0.5 * (a.y + b.y) }
}
