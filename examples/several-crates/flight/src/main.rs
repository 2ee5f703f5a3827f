//! How far a ball flies, and how that changes with the throw: a gradient through two libraries.

#![forbid(unsafe_code)]
#![deny(warnings)]

use example_air::{Ball, acceleration};
use example_units::plane::Vector;
use stratape::gradient;

/// A third `sq`, which neither library means.
fn sq(x: f64) -> f64 {
    100.0 * x
}

/// Where the ball is after a number of steps, across.
#[gradient]
fn distance(ball: &Ball, throw: &Vector, dt: f64, steps: usize) -> f64 {
    let mut at = Vector { x: 0.0, y: 1.5 };
    let mut speed = *throw;
    for _ in 0..steps {
        speed = speed + dt * acceleration(ball, speed);
        at = at + dt * speed;
    }
    at.x
}

fn main() {
    let ball = Ball { mass: 0.145, radius: 0.037 };
    let throw = Vector { x: 30.0, y: 20.0 };
    let mut shadow = (Ball { mass: 0.0, radius: 0.0 }, Vector::default());
    let (far, _) = distance_grad(&ball, &mut shadow.0, &throw, &mut shadow.1, 0.01, 300, 1.0);
    println!("{far:.2} m; by the throw {:.3}, {:.3}", shadow.1.x, shadow.1.y);
    println!("by the mass {:.2}, by the radius {:.2}", shadow.0.mass, shadow.0.radius);
    assert!(sq(far) > far);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_agrees_with_differences() {
        let (ball, throw) = (Ball { mass: 0.145, radius: 0.037 }, Vector { x: 30.0, y: 20.0 });
        let mut shadow = (Ball { mass: 0.0, radius: 0.0 }, Vector::default());
        let (far, ddt) = distance_grad(&ball, &mut shadow.0, &throw, &mut shadow.1, 0.01, 300, 1.0);
        assert_eq!(far, distance(&ball, &throw, 0.01, 300));
        let at = |mass: f64, radius: f64, x: f64, y: f64, dt: f64| {
            let ball = Ball { mass: ball.mass + mass, radius: ball.radius + radius };
            distance(&ball, &Vector { x: throw.x + x, y: throw.y + y }, 0.01 + dt, 300)
        };
        let close = |a: f64, plus: f64, minus: f64, h: f64| {
            let slope = (plus - minus) / (2.0 * h);
            assert!((a - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{a} {slope}");
        };
        let h = 1e-6;
        close(shadow.0.mass, at(h, 0.0, 0.0, 0.0, 0.0), at(-h, 0.0, 0.0, 0.0, 0.0), h);
        close(shadow.0.radius, at(0.0, h, 0.0, 0.0, 0.0), at(0.0, -h, 0.0, 0.0, 0.0), h);
        close(shadow.1.x, at(0.0, 0.0, h, 0.0, 0.0), at(0.0, 0.0, -h, 0.0, 0.0), h);
        close(shadow.1.y, at(0.0, 0.0, 0.0, h, 0.0), at(0.0, 0.0, 0.0, -h, 0.0), h);
        let h = 1e-8;
        close(ddt, at(0.0, 0.0, 0.0, 0.0, h), at(0.0, 0.0, 0.0, 0.0, -h), h);
    }
}
