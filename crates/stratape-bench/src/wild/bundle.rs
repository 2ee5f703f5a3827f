//! bundle: the reprojection error of points seen by cameras, as in bundle adjustment.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale};

#[stratape::differentiable]
mod scene {
    /// Rotation (axis times angle), position, focal length, two coefficients of distortion.
    type Camera = [f64; 9];
    type Point = [f64; 3];

    fn dot(a: &Point, b: &Point) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    fn cross(a: &Point, b: &Point) -> Point {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    /// Rodrigues' formula.
    fn rotate(axis: &Point, p: &Point) -> Point {
        let square = dot(axis, axis);
        if square == 0.0 {
            let turned = cross(axis, p);
            [p[0] + turned[0], p[1] + turned[1], p[2] + turned[2]]
        } else {
            let angle = square.sqrt();
            let (sin, cos) = angle.sin_cos();
            let w = [axis[0] / angle, axis[1] / angle, axis[2] / angle];
            let turned = cross(&w, p);
            let along = dot(&w, p) * (1.0 - cos);
            let mut rotated = [0.0; 3];
            for i in 0..3 {
                rotated[i] = cos * p[i] + sin * turned[i] + along * w[i];
            }
            rotated
        }
    }

    fn project(camera: &Camera, point: &Point) -> [f64; 2] {
        let [r0, r1, r2, c0, c1, c2, focal, k1, k2] = *camera;
        let centred = [point[0] - c0, point[1] - c1, point[2] - c2];
        let seen = rotate(&[r0, r1, r2], &centred);
        let (x, y) = (seen[0] / seen[2], seen[1] / seen[2]);
        let square = x * x + y * y;
        let distortion = 1.0 + square * (k1 + square * k2);
        [focal * distortion * x, focal * distortion * y]
    }

    #[gradient(wrt(cameras, points, weights))]
    pub(super) fn error(
        cameras: &[[f64; 9]],
        points: &[[f64; 3]],
        weights: &[f64],
        features: &[[f64; 2]],
        camera_of: &[usize],
        point_of: &[usize],
    ) -> f64 {
        let mut total = 0.0;
        for i in 0..features.len() {
            let seen = project(&cameras[camera_of[i]], &points[point_of[i]]);
            let dx = weights[i] * (seen[0] - features[i][0]);
            let dy = weights[i] * (seen[1] - features[i][1]);
            let zach = 1.0 - weights[i] * weights[i];
            total += dx * dx + dy * dy + zach * zach;
        }
        total
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (cameras, points) = (scale.or_small(8, 3), scale.or_small(120, 5));
    let seen = scale.or_small(600, 11);
    let mut numbers = Numbers::from_seed(113);
    let mut all_cameras = Vec::new();
    for _ in 0..cameras {
        all_cameras.extend(numbers.array(3, -0.3, 0.3));
        all_cameras.extend(numbers.array(3, -0.5, 0.5));
        all_cameras.extend([numbers.within(0.8, 1.2), numbers.within(-0.1, 0.1), 0.01]);
    }
    let mut all_points = Vec::new();
    for _ in 0..points {
        all_points.extend(numbers.array(2, -1.0, 1.0));
        all_points.push(numbers.within(3.0, 5.0));
    }
    let weights = numbers.array(seen, 0.7, 1.0);
    let features = numbers.array(2 * seen, -0.5, 0.5);
    let camera_of = (0..seen).map(|i| i % cameras).collect();
    let point_of = (0..seen).map(|i| i * 7 % points).collect();
    Program::new(
        "bundle",
        Inputs {
            active: vec![all_cameras, all_points, weights],
            constant: vec![features],
            indices: vec![camera_of, point_of],
            ..Inputs::default()
        },
        |inputs| {
            let ([cameras, points, weights], [features]) = (inputs.active(), inputs.constant());
            let [camera_of, point_of] = inputs.indices();
            let (cameras, points) = (cameras.as_chunks().0, points.as_chunks().0);
            scene::error(cameras, points, weights, features.as_chunks().0, camera_of, point_of)
        },
        |inputs, shadows| {
            let ([c, p, w], [features]) = (inputs.active(), inputs.constant());
            let ([camera_of, point_of], [dc, dp, dw]) = (inputs.indices(), shadows.each());
            let (c, dc) = (c.as_chunks().0, dc.as_chunks_mut().0);
            let (p, dp) = (p.as_chunks().0, dp.as_chunks_mut().0);
            let features = features.as_chunks().0;
            scene::error_grad(c, dc, p, dp, w, dw, features, camera_of, point_of, 1.0)
        },
    )
}
