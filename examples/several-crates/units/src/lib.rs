//! A library that others differentiate through: vectors and constants.

#![forbid(unsafe_code)]
#![deny(warnings)]

mod numbers;

pub use numbers::{GRAVITY, sq};

/// Vectors in the plane. The struct brings its methods and operators along.
#[stratape::differentiable]
pub mod plane {
    use std::ops::{Add, Mul};

    /// A vector.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Vector {
        /// Across.
        pub x: f64,
        /// Up.
        pub y: f64,
    }

    impl Vector {
        /// The length.
        pub fn norm(&self) -> f64 {
            self.x.hypot(self.y)
        }
    }

    impl Add for Vector {
        type Output = Self;

        fn add(self, other: Self) -> Self {
            Vector { x: self.x + other.x, y: self.y + other.y }
        }
    }

    impl Mul<Vector> for f64 {
        type Output = Vector;

        fn mul(self, v: Vector) -> Vector {
            Vector { x: self * v.x, y: self * v.y }
        }
    }
}
