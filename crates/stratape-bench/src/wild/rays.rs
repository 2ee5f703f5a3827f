//! rays: spheres lit from one side and seen through a pinhole, and the distance of their image from another.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};
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
        pub(super) fn dot(self, other: Vector) -> f64 {
            self.x * other.x + self.y * other.y + self.z * other.z
        }

        pub(super) fn normalized(self) -> Vector {
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

/// Finds what each pixel sees, then goes forward and back through that sphere alone.
fn by_hand(
    spheres: &[Sphere],
    dspheres: &mut [Sphere],
    light: Vector,
    image: &[f64],
    width: usize,
    seed: f64,
) -> (f64, Vector) {
    let brightest = light;
    let light = light.normalized();
    let mut dlight = Vector { x: 0.0, y: 0.0, z: 0.0 };
    let height = image.len() / width;
    // Of each sphere: its centre, and the squares of the distance of the centre and of the radius.
    let squares: Vec<(Vector, f64, f64)> =
        spheres.iter().map(|s| (s.center, s.center.dot(s.center), s.radius * s.radius)).collect();
    let mut misfit = 0.0;
    for (row, pixels) in image.chunks_exact(width).enumerate() {
        let y = (row as f64 + 0.5) / height as f64 - 0.5;
        for (column, pixel) in pixels.iter().enumerate() {
            let x = (column as f64 + 0.5) / width as f64 - 0.5;
            let direction = Vector { x, y, z: 1.0 }.normalized();
            let mut nearest = f64::INFINITY;
            let mut seen = None;
            for (which, &(center, distance_squared, radius_squared)) in squares.iter().enumerate() {
                let along = center.dot(direction);
                let discriminant = along * along - distance_squared + radius_squared;
                if discriminant < 0.0 {
                    continue;
                }
                let root = discriminant.sqrt();
                let distance = along - root;
                if distance > 1e-6 && distance < nearest {
                    nearest = distance;
                    seen = Some((which, along, root));
                }
            }
            let Some((which, along, root)) = seen else {
                misfit += pixel * pixel;
                continue;
            };
            let (sphere, dsphere) = (&spheres[which], &mut dspheres[which]);
            let from_center = direction * nearest - sphere.center;
            let inverse = 1.0 / from_center.dot(from_center).sqrt();
            let normal = from_center * inverse;
            let facing = normal.dot(light).max(0.0);
            let error = sphere.brightness * facing - pixel;
            misfit += error * error;
            if facing > 0.0 {
                let dcolor = 2.0 * seed * error;
                dsphere.brightness += dcolor * facing;
                let dfacing = dcolor * sphere.brightness;
                dlight = dlight + normal * dfacing;
                // What of the light lies along the normal does not turn it.
                let dfrom_center = (light - normal * facing) * (dfacing * inverse);
                let ddistance = dfrom_center.dot(direction);
                let by_root = ddistance / root;
                dsphere.radius -= by_root * sphere.radius;
                dsphere.center = dsphere.center - dfrom_center
                    + direction * (ddistance - by_root * along)
                    + sphere.center * by_root;
            }
        }
    }
    let length = brightest.dot(brightest).sqrt();
    (misfit, (dlight - light * light.dot(dlight)) * (1.0 / length))
}

type Adjoint = fn(&[Sphere], &mut [Sphere], Vector, &[f64], usize, f64) -> (f64, Vector);

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([all, light], [image]) = (inputs.active(), inputs.constant());
        let ([width], [dall, dlight]) = (inputs.indices(), shadows.each());
        let mut dspheres = spheres(dall);
        let (value, by_light) =
            adjoint(&spheres(all), &mut dspheres, vector(light), image, width[0], 1.0);
        for (to, from) in dall.as_chunks_mut::<FIELDS>().0.iter_mut().zip(dspheres) {
            let Vector { x, y, z } = from.center;
            *to = [x, y, z, from.radius, from.brightness];
        }
        add_vector(by_light, dlight);
        value
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
    let inputs = Inputs {
        active: vec![all, vec![0.5, -0.7, -1.0]],
        constant: vec![image],
        indices: vec![vec![width]],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([all, light], [image]) = (inputs.active(), inputs.constant());
        let [width] = inputs.indices();
        scene::misfit(&spheres(all), vector(light), image, width[0])
    };
    Program::new("rays", inputs, primal, calling(scene::misfit_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
