//! Vectors in space.

use stratape::differentiable;

pub use self::vector::Vec3;

#[differentiable]
#[expect(
    clippy::module_inception,
    reason = "a struct and its operators are differentiated as one module"
)]
mod vector {
    use std::ops::{Add, AddAssign, Mul, Neg, Sub};
    use stratape::checkpoint::Snapshot;

    /// A vector in space.
    ///
    /// ```
    /// use stratape_lulesh::Vec3;
    ///
    /// let (a, b) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 1.0, 0.0));
    /// assert_eq!(a.dot(b), 2.0);
    /// assert_eq!(a.cross(b), Vec3::new(-3.0, 0.0, 1.0));
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Snapshot)]
    pub struct Vec3 {
        /// Along the first axis.
        pub x: f64,
        /// Along the second axis.
        pub y: f64,
        /// Along the third axis.
        pub z: f64,
    }

    impl Vec3 {
        /// The origin.
        pub const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

        /// A vector by its components.
        pub fn new(x: f64, y: f64, z: f64) -> Vec3 {
            Vec3 { x, y, z }
        }

        /// The scalar product.
        pub fn dot(self, other: Vec3) -> f64 {
            self.x * other.x + self.y * other.y + self.z * other.z
        }

        /// The vector product.
        pub fn cross(self, other: Vec3) -> Vec3 {
            Vec3 {
                x: self.y * other.z - self.z * other.y,
                y: self.z * other.x - self.x * other.z,
                z: self.x * other.y - self.y * other.x,
            }
        }
    }

    impl Add for Vec3 {
        type Output = Vec3;
        fn add(self, other: Vec3) -> Vec3 {
            Vec3 { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
        }
    }

    impl AddAssign for Vec3 {
        fn add_assign(&mut self, other: Vec3) {
            self.x += other.x;
            self.y += other.y;
            self.z += other.z;
        }
    }

    impl Sub for Vec3 {
        type Output = Vec3;
        fn sub(self, other: Vec3) -> Vec3 {
            Vec3 { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
        }
    }

    impl Mul<f64> for Vec3 {
        type Output = Vec3;
        fn mul(self, factor: f64) -> Vec3 {
            Vec3 { x: self.x * factor, y: self.y * factor, z: self.z * factor }
        }
    }

    impl Neg for Vec3 {
        type Output = Vec3;
        fn neg(self) -> Vec3 {
            Vec3 { x: -self.x, y: -self.y, z: -self.z }
        }
    }
}
