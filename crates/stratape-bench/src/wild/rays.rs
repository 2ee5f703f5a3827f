//! rays: spheres lit from one side and seen through a pinhole, and the distance of their image from another.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale};
use scene::{Sphere, Vector};

#[stratape::differentiable]
mod scene {
    use std::ops::{Add, Mul, Sub};

    #[derive(Clone, Copy)]
    pub(super) struct Vector {
        pub(super) x: f64,
        pub(super) y: f64,
        pub(super) z: f64,
    }

    impl Vector {
        fn dot(self, other: Vector) -> f64 {
            self.x * other.x + self.y * other.y + self.z * other.z
        }

        fn normalized(self) -> Vector {
            self * (1.0 / self.dot(self).sqrt())
        }
    }

    impl Add for Vector {
        type Output = Vector;

        fn add(self, other: Vector) -> Vector {
            Vector { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
        }
    }

    impl Sub for Vector {
        type Output = Vector;

        fn sub(self, other: Vector) -> Vector {
            Vector { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
        }
    }

    impl Mul<f64> for Vector {
        type Output = Vector;

        fn mul(self, by: f64) -> Vector {
            Vector { x: self.x * by, y: self.y * by, z: self.z * by }
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct Sphere {
        pub(super) center: Vector,
        pub(super) radius: f64,
        pub(super) brightness: f64,
    }

    impl Sphere {
        /// How far along the ray it is hit first; infinitely far if it is not.
        fn hit(&self, origin: Vector, direction: Vector) -> f64 {
            let to_center = self.center - origin;
            let along = to_center.dot(direction);
            let discriminant = along * along - to_center.dot(to_center) + self.radius * self.radius;
            if discriminant < 0.0 {
                return f64::INFINITY;
            }
            let distance = along - discriminant.sqrt();
            if distance > 1e-6 { distance } else { f64::INFINITY }
        }
    }

    #[gradient(wrt(spheres, light))]
    pub(super) fn misfit(spheres: &[Sphere], light: Vector, image: &[f64], width: usize) -> f64 {
        let origin = Vector { x: 0.0, y: 0.0, z: 0.0 };
        let light = light.normalized();
        let height = image.len() / width;
        let mut misfit = 0.0;
        for row in 0..height {
            for column in 0..width {
                let direction = Vector {
                    x: (column as f64 + 0.5) / width as f64 - 0.5,
                    y: (row as f64 + 0.5) / height as f64 - 0.5,
                    z: 1.0,
                }
                .normalized();
                let mut nearest = f64::INFINITY;
                let mut color = 0.0;
                for sphere in spheres {
                    let distance = sphere.hit(origin, direction);
                    if distance < nearest {
                        nearest = distance;
                        let normal = (origin + direction * distance - sphere.center).normalized();
                        color = sphere.brightness * normal.dot(light).max(0.0);
                    }
                }
                misfit += (color - image[row * width + column]).powi(2);
            }
        }
        misfit
    }
}

/// How many numbers a sphere is.
const FIELDS: usize = 5;

fn vector(numbers: &[f64]) -> Vector {
    Vector { x: numbers[0], y: numbers[1], z: numbers[2] }
}

fn add_vector(vector: Vector, to: &mut [f64]) {
    to[0] += vector.x;
    to[1] += vector.y;
    to[2] += vector.z;
}

fn spheres(numbers: &[f64]) -> Vec<Sphere> {
    let sphere = |s: &[f64; FIELDS]| Sphere { center: vector(s), radius: s[3], brightness: s[4] };
    numbers.as_chunks().0.iter().map(sphere).collect()
}

pub(super) fn program(scale: Scale) -> Program {
    let (count, width) = (scale.or_small(8, 3), scale.or_small(40, 9));
    let height = scale.or_small(30, 7);
    let mut numbers = Numbers::from_seed(116);
    let mut all = Vec::new();
    for _ in 0..count {
        all.extend(numbers.array(2, -1.0, 1.0));
        all.extend([numbers.within(3.0, 5.0), numbers.within(0.4, 0.9), numbers.within(0.5, 1.0)]);
    }
    let image = numbers.array(width * height, 0.0, 1.0);
    Program::new(
        "rays",
        Inputs {
            active: vec![all, vec![0.5, -0.7, -1.0]],
            constant: vec![image],
            indices: vec![vec![width]],
            ..Inputs::default()
        },
        |inputs| {
            let ([all, light], [image]) = (inputs.active(), inputs.constant());
            let [width] = inputs.indices();
            scene::misfit(&spheres(all), vector(light), image, width[0])
        },
        |inputs, shadows| {
            let ([all, light], [image]) = (inputs.active(), inputs.constant());
            let ([width], [dall, dlight]) = (inputs.indices(), shadows.each());
            let mut dspheres = spheres(dall);
            let (value, by_light) = scene::misfit_grad(
                &spheres(all),
                &mut dspheres,
                vector(light),
                image,
                width[0],
                1.0,
            );
            for (to, from) in dall.as_chunks_mut::<FIELDS>().0.iter_mut().zip(dspheres) {
                let Vector { x, y, z } = from.center;
                *to = [x, y, z, from.radius, from.brightness];
            }
            add_vector(by_light, dlight);
            value
        },
    )
}
