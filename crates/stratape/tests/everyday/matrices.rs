//! Programs as users of `nalgebra` write them.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the constructs under test"
)]

use stratape::differentiable;

const START: [f64; 12] = [0.7, -0.4, 0.3, 0.6, 0.8, 1.5, -0.2, 0.9, 0.1, 0.7, 1.4, 0.35];

/// A function of numbers against differences.
macro_rules! of_numbers {
    ($($test:ident: $module:ident $f:ident $grad:ident;)*) => { $(
        #[test]
        fn $test() {
            let mut found = [0.0; 12];
            let (value, wanted) = ($module::$grad(&START, &mut found, 1.0), $module::$f(&START));
            assert!((value - wanted).abs() <= 1e-12 * value.abs().max(1.0), "{value} is not {wanted}");
            for i in 0..12 {
                let at = |by: f64| {
                    let mut x = START;
                    x[i] += by;
                    $module::$f(&x)
                };
                let wanted = (at(1e-6) - at(-1e-6)) / 2e-6;
                let scale = wanted.abs().max(1.0);
                assert!((found[i] - wanted).abs() < 1e-6 * scale, "{i}: {} is not {wanted}", found[i]);
            }
        }
    )* };
}

of_numbers! {
    a_rigid_body: geometry rotated rotated_grad;
    a_camera: geometry projected projected_grad;
    bundle_adjustment: geometry adjusted adjusted_grad;
    aligned_points: geometry aligned aligned_grad;
    a_robot_arm: geometry reached reached_grad;
    gaussian_process: models likelihood likelihood_grad;
    kalman_filter: models filtered filtered_grad;
    normal_equations: models fitted fitted_grad;
    mahalanobis: models distance distance_grad;
    springs: models swinging swinging_grad;
    gauss_newton: models newton newton_grad;
    covariances: models spread spread_grad;
}

#[differentiable]
#[allow(unreachable_pub)]
mod geometry {
    use na::{Matrix3, Point2, Point3, Vector2, Vector3, matrix, vector};
    use nalgebra as na;

    /// Rodrigues' formula.
    fn rotation(axis: &Vector3<f64>) -> Matrix3<f64> {
        let angle = axis.norm();
        let k = (axis / angle).cross_matrix();
        Matrix3::identity() + k * angle.sin() + k * k * (1.0 - angle.cos())
    }

    #[gradient]
    pub fn rotated(x: &[f64]) -> f64 {
        let inertia = Matrix3::from_diagonal(&vector![1.0, 2.0, 3.0]);
        let mut momentum = Vector3::new(x[0], x[1], x[2]);
        let r = rotation(&vector![x[3], x[4], x[5]]);
        for _ in 0..3 {
            let omega = inertia.try_inverse().unwrap() * momentum;
            momentum += momentum.cross(&omega) * 0.1;
        }
        let world = r * momentum;
        world.dot(&vector![x[6], x[7], x[8]]) + (r.transpose() * r).trace() * x[9] + x[10] * x[11]
    }

    struct Camera {
        focal: f64,
        centre: Vector2<f64>,
        rotation: Matrix3<f64>,
        translation: Vector3<f64>,
    }

    impl Camera {
        fn project(&self, p: &Point3<f64>) -> Point2<f64> {
            let seen = self.rotation * p.coords + self.translation;
            let flat = Vector2::new(seen.x / seen.z, seen.y / seen.z);
            let r2 = flat.norm_squared();
            Point2::from(flat * (1.0 + 0.1 * r2) * self.focal + self.centre)
        }
    }

    fn camera(x: &[f64]) -> Camera {
        Camera {
            focal: 1.0 + x[0],
            centre: Vector2::new(x[1], x[2]),
            rotation: rotation(&Vector3::new(x[3], x[4], x[5])),
            translation: Vector3::new(x[6], x[7], 5.0 + x[8]),
        }
    }

    #[gradient]
    pub fn projected(x: &[f64]) -> f64 {
        let p = camera(x).project(&Point3::new(x[9], x[10], x[11]));
        p.x * p.x + 2.0 * p.y
    }

    #[gradient]
    pub fn adjusted(x: &[f64]) -> f64 {
        let camera = camera(x);
        let points = [
            Point3::new(0.5, -0.5, x[9]),
            Point3::new(1.0, x[10], 0.3),
            Point3::new(-0.4, 0.7, x[11]),
        ];
        let seen = [Point2::new(0.1, 0.2), Point2::new(0.3, -0.1), Point2::new(0.0, 0.4)];
        points
            .iter()
            .zip(&seen)
            .map(|(p, q)| {
                let residual = (camera.project(p) - q).norm();
                if residual < 1.0 { 0.5 * residual * residual } else { residual - 0.5 }
            })
            .sum()
    }

    #[gradient]
    pub fn aligned(x: &[f64]) -> f64 {
        let r = rotation(&Vector3::from_column_slice(&x[0..3]));
        let t = Vector3::from_row_slice(&x[3..6]);
        let source =
            vec![vector![x[6], x[7], x[8]], vector![1.0, 0.0, 0.5], vector![x[9], x[10], x[11]]];
        let target = [vector![0.0, 1.0, 0.0], vector![0.3, 0.3, 0.3], vector![1.0, 1.0, 0.0]];
        let mut error = 0.0;
        for (p, q) in source.iter().zip(target.iter()) {
            error += (r * p + t - q).norm_squared();
        }
        let mean: Vector3<f64> = source.iter().sum::<Vector3<f64>>() / source.len() as f64;
        error + mean.dot(&t)
    }

    #[gradient]
    pub fn reached(x: &[f64]) -> f64 {
        let mut pose = Matrix3::<f64>::identity();
        for joint in x.chunks_exact(3) {
            let (s, c) = joint[0].sin_cos();
            let step = matrix![c, -s, joint[1];
                               s,  c, joint[2];
                               0.0, 0.0, 1.0];
            pose *= step;
        }
        let hand = pose * Vector3::new(0.0, 0.0, 1.0);
        (hand.xy() - Vector2::new(1.0, 2.0)).norm()
    }
}

#[differentiable]
#[allow(unreachable_pub)]
mod models {
    use nalgebra::{DMatrix, DVector, Matrix2, Matrix3, Vector2, Vector3, dvector, matrix};

    type State = Vector2<f64>;
    type Covariance = Matrix2<f64>;

    #[gradient]
    pub fn likelihood(x: &[f64]) -> f64 {
        let inputs = &x[..5];
        let y = DVector::from_column_slice(&x[5..10]);
        let (length, noise) = (x[10], x[11]);
        let n = inputs.len();
        let k = DMatrix::from_fn(n, n, |i, j| {
            let d = (inputs[i] - inputs[j]) / length;
            (-0.5 * d * d).exp() + if i == j { noise } else { 0.0 }
        });
        let factor = k.cholesky().expect("positive definite");
        let alpha = factor.solve(&y);
        let log_det = 2.0 * factor.l().diagonal().map(|v| v.ln()).sum();
        -0.5 * y.dot(&alpha) - 0.5 * log_det - 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln()
    }

    #[gradient]
    pub fn filtered(x: &[f64]) -> f64 {
        let f = Covariance::new(1.0, 0.5, 0.0, 1.0);
        let q = Covariance::identity() * x[10].exp() * 0.1;
        let h = matrix![1.0, 0.0];
        let mut state = State::zeros();
        let mut p = Covariance::identity();
        let mut sum = 0.0;
        for z in &x[..10] {
            state = f * state;
            p = f * p * f.transpose() + q;
            let innovation = z - (h * state)[0];
            let s = (h * p * h.transpose())[(0, 0)] + x[11];
            let gain = p * h.transpose() / s;
            state += gain * innovation;
            p = (Covariance::identity() - gain * h) * p;
            sum += s.ln() + innovation * innovation / s;
        }
        sum
    }

    #[gradient]
    pub fn fitted(x: &[f64]) -> f64 {
        let design = DMatrix::from_row_slice(4, 2, &x[..8]);
        let y = dvector![x[8], x[9], x[10], x[11]];
        let normal = design.transpose() * &design + DMatrix::identity(2, 2) * 0.1;
        let right = design.transpose() * &y;
        let w = normal.lu().solve(&right).unwrap();
        let residual = &design * &w - &y;
        residual.norm_squared() / 4.0 + w.norm()
    }

    #[gradient]
    pub fn distance(x: &[f64]) -> f64 {
        let l = Matrix3::new(x[0] + 1.0, 0.0, 0.0, x[1], x[2] + 1.0, 0.0, x[3], x[4], x[5] + 1.0);
        let covariance = l * l.transpose();
        let d = Vector3::new(x[6], x[7], x[8]) - Vector3::new(x[9], x[10], x[11]);
        let inverse = covariance.try_inverse().unwrap();
        (d.transpose() * inverse * d)[(0, 0)].sqrt() + covariance.determinant().ln()
    }

    #[gradient]
    pub fn swinging(x: &[f64]) -> f64 {
        let mut positions =
            vec![Vector2::new(x[0], x[1]), Vector2::new(x[2], x[3]), Vector2::new(x[4], x[5])];
        let mut velocities = vec![Vector2::zeros(); 3];
        for _ in 0..4 {
            let mut forces = vec![Vector2::new(0.0, -x[11]); 3];
            for i in 0..2 {
                let d = positions[i + 1] - positions[i];
                let pull = d.normalize() * (d.norm() - 1.0) * x[6 + i];
                forces[i] += pull;
                forces[i + 1] -= pull;
            }
            for ((p, v), f) in positions.iter_mut().zip(velocities.iter_mut()).zip(&forces) {
                *v += f * 0.1;
                *p += *v * 0.1;
            }
        }
        positions.iter().map(|p| p.norm_squared()).sum::<f64>() + x[8] * x[9] * x[10]
    }

    #[gradient]
    pub fn newton(x: &[f64]) -> f64 {
        let mut guess = Vector2::new(1.0, 0.5);
        for _ in 0..3 {
            let mut hessian = Matrix2::zeros();
            let mut slope = Vector2::zeros();
            for (i, y) in x.iter().enumerate() {
                let t = i as f64 * 0.1;
                let e = (-guess.y * t).exp();
                let jacobian = Vector2::new(e, -guess.x * t * e);
                let residual = guess.x * e - y;
                hessian += jacobian * jacobian.transpose();
                slope += jacobian * residual;
            }
            hessian += Matrix2::identity() * 2.0;
            guess -= hessian.try_inverse().unwrap() * slope;
        }
        guess.x * guess.y
    }

    #[gradient]
    pub fn spread(x: &[f64]) -> f64 {
        let data = DMatrix::from_row_slice(4, 3, x);
        let mean = data.row_mean();
        let mut centred = data.clone();
        for i in 0..data.nrows() {
            let mut row = centred.row_mut(i);
            row -= &mean;
        }
        let covariance = centred.transpose() * &centred / 3.0;
        let weights = dvector![0.5, 0.3, 0.2];
        (weights.transpose() * &covariance * &weights)[(0, 0)].sqrt() + covariance.trace()
    }
}
