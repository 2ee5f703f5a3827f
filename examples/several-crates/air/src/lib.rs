//! A library over another: forces on what flies.

#![forbid(unsafe_code)]
#![deny(warnings)]

pub mod drag;

use example_units::GRAVITY;
use example_units::plane::Vector;
use stratape::differentiable;

/// Not that of `example_units`.
#[differentiable]
fn sq(x: f64) -> f64 {
    -x
}

/// What flies.
#[differentiable]
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    /// In kg.
    pub mass: f64,
    /// In m.
    pub radius: f64,
}

/// The acceleration of a ball.
#[differentiable]
pub fn acceleration(ball: &Ball, speed: Vector) -> Vector {
    let slowed = drag::force(speed.norm(), ball.radius) / ball.mass;
    slowed * speed + Vector { x: 0.0, y: sq(GRAVITY) }
}
