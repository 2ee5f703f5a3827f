//! An inline module whose items answer outside it, and which asks outside itself.

#[stratape::differentiable]
pub mod vector {
    use std::f64::consts::PI;
    use std::ops::{Add, Mul};

    #[derive(Clone, Copy, Debug, Default)]
    pub struct Vector {
        pub x: f64,
        pub y: f64,
    }

    impl Vector {
        pub const UNIT: Vector = Vector { x: 1.0, y: 0.0 };

        pub fn dot(&self, other: &Vector) -> f64 {
            self.x * other.x + self.y * other.y
        }

        pub fn scaled(self, by: f64) -> Self {
            Self { x: by * self.x, y: by * self.y }
        }

        pub fn stretch(&mut self, by: f64) {
            self.x *= by;
            self.y *= by;
        }

        /// Of no concern to gradients: nobody asks for what it calls.
        pub fn label(&self) -> String {
            super::label(self.x)
        }
    }

    impl Add for Vector {
        type Output = Self;

        fn add(self, other: Self) -> Self::Output {
            Vector { x: self.x + other.x, y: self.y + other.y }
        }
    }

    impl Mul<Vector> for f64 {
        type Output = Vector;

        fn mul(self, v: Vector) -> Vector {
            v.scaled(self)
        }
    }

    const HALF: f64 = 0.5;

    fn half(x: f64) -> f64 {
        HALF * x
    }

    pub fn energy(v: &Vector) -> f64 {
        half(v.dot(v)) + PI * v.x
    }

    /// Calls itself.
    pub fn power(x: f64, n: usize) -> f64 {
        if n == 0 { 1.0 } else { x * power(x, n - 1) }
    }

    #[stratape::constant]
    pub fn level(x: f64) -> f64 {
        10.0 * x
    }

    fn root(a: f64) -> f64 {
        a.sqrt()
    }

    /// Says that the derivative is 7: who calls `root`, directly or not, is told so.
    #[stratape::pullback(of = root)]
    fn root_back(_a: f64, seed: f64) -> f64 {
        7.0 * seed
    }

    pub fn roots(a: f64, b: f64) -> f64 {
        root(a) * b + level(b)
    }

    #[gradient]
    pub fn inside(x: f64) -> f64 {
        roots(x, 2.0)
    }
}

pub fn label(x: f64) -> String {
    format!("at {x}")
}

#[stratape::differentiable]
pub mod motion {
    use super::vector::{self, Vector};
    use crate::air::drag;
    use crate::shapes::Point;

    pub struct Body {
        pub at: Vector,
        pub speed: Vector,
    }

    #[gradient]
    pub fn kinetic(body: &Body, p: &Point) -> f64 {
        let shifted = body.at + 2.0 * body.speed;
        let corner = Point { x: p.y, y: p.x };
        let list = [*p, corner];
        vector::energy(&shifted) + drag(body.speed.x) + list[0].x * list[1].x
    }
}
