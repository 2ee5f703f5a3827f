//! bundle: the reprojection error of points seen by cameras, as in bundle adjustment.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

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

type Matrix = [[f64; 3]; 3];

/// The matrix that takes the cross product with an axis.
fn crossing(axis: [f64; 3]) -> Matrix {
    let [x, y, z] = axis;
    [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
}

/// The adjoint of [`crossing`].
fn dcrossing(dmatrix: &Matrix) -> [f64; 3] {
    let d = dmatrix;
    [d[2][1] - d[1][2], d[0][2] - d[2][0], d[1][0] - d[0][1]]
}

/// The angle of a rotation and its axis, of length one.
fn angle_and_axis(rotation: [f64; 3]) -> (f64, [f64; 3]) {
    let angle = rotation.iter().map(|r| r * r).sum::<f64>().sqrt();
    (angle, rotation.map(|r| r / angle))
}

fn rotation_matrix(rotation: [f64; 3]) -> Matrix {
    let mut matrix = crossing(rotation);
    let (angle, w) = angle_and_axis(rotation);
    if angle == 0.0 {
        for i in 0..3 {
            matrix[i][i] += 1.0;
        }
        return matrix;
    }
    let (sin, cos) = angle.sin_cos();
    let cross = crossing(w);
    for i in 0..3 {
        for j in 0..3 {
            matrix[i][j] = sin * cross[i][j] + (1.0 - cos) * w[i] * w[j];
        }
        matrix[i][i] += cos;
    }
    matrix
}

/// The adjoint of [`rotation_matrix`].
fn drotation(rotation: [f64; 3], dmatrix: &Matrix) -> [f64; 3] {
    let along_cross = dcrossing(dmatrix);
    let (angle, w) = angle_and_axis(rotation);
    if angle == 0.0 {
        return along_cross;
    }
    let (sin, cos) = angle.sin_cos();
    let (mut dsin, mut dcos) = (0.0, 0.0);
    let mut dw = [0.0; 3];
    for i in 0..3 {
        dsin += along_cross[i] * w[i];
        dcos += dmatrix[i][i];
        for j in 0..3 {
            dcos -= dmatrix[i][j] * w[i] * w[j];
            dw[i] += (1.0 - cos) * (dmatrix[i][j] + dmatrix[j][i]) * w[j];
        }
        dw[i] += sin * along_cross[i];
    }
    let dangle = cos * dsin - sin * dcos;
    let along: f64 = dw.iter().zip(&w).map(|(dw, w)| dw * w).sum();
    [0, 1, 2].map(|i| (dw[i] - along * w[i]) / angle + dangle * w[i])
}

/// Turns each camera's rotation into a matrix once; then one feature after the other, forward and back at once.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    cameras: &[[f64; 9]],
    dcameras: &mut [[f64; 9]],
    points: &[[f64; 3]],
    dpoints: &mut [[f64; 3]],
    weights: &[f64],
    dweights: &mut [f64],
    features: &[[f64; 2]],
    camera_of: &[usize],
    point_of: &[usize],
    seed: f64,
) -> f64 {
    let matrices: Vec<Matrix> =
        cameras.iter().map(|camera| rotation_matrix([camera[0], camera[1], camera[2]])).collect();
    let mut dmatrices = vec![[[0.0; 3]; 3]; cameras.len()];
    let mut total = 0.0;
    for (i, feature) in features.iter().enumerate() {
        let camera = &cameras[camera_of[i]];
        let (matrix, point) = (&matrices[camera_of[i]], &points[point_of[i]]);
        let &[_, _, _, _, _, _, focal, k1, k2] = camera;
        let centred = [point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]];
        let seen =
            matrix.map(|row| row[0] * centred[0] + row[1] * centred[1] + row[2] * centred[2]);
        let inverse = 1.0 / seen[2];
        let (x, y) = (seen[0] * inverse, seen[1] * inverse);
        let square = x * x + y * y;
        let distortion = 1.0 + square * (k1 + square * k2);
        let scaled = focal * distortion;
        let weight = weights[i];
        let (off_x, off_y) = (scaled * x - feature[0], scaled * y - feature[1]);
        let off = off_x * off_x + off_y * off_y;
        let zach = 1.0 - weight * weight;
        total += weight * weight * off + zach * zach;

        dweights[i] += 2.0 * seed * weight * (off - 2.0 * zach);
        let share = 2.0 * seed * weight * weight;
        let (du, dv) = (share * off_x, share * off_y);
        let dscaled = du * x + dv * y;
        let ddistortion = dscaled * focal;
        let dsquare = ddistortion * (k1 + 2.0 * square * k2);
        let dx = scaled * du + 2.0 * x * dsquare;
        let dy = scaled * dv + 2.0 * y * dsquare;
        let dseen = [dx * inverse, dy * inverse, -(dx * x + dy * y) * inverse];
        let dmatrix = &mut dmatrices[camera_of[i]];
        let mut dcentred = [0.0; 3];
        for row in 0..3 {
            for column in 0..3 {
                dmatrix[row][column] += dseen[row] * centred[column];
                dcentred[column] += dseen[row] * matrix[row][column];
            }
        }
        let (dcamera, dpoint) = (&mut dcameras[camera_of[i]], &mut dpoints[point_of[i]]);
        for axis in 0..3 {
            dpoint[axis] += dcentred[axis];
            dcamera[3 + axis] -= dcentred[axis];
        }
        dcamera[6] += dscaled * distortion;
        dcamera[7] += ddistortion * square;
        dcamera[8] += ddistortion * square * square;
    }
    for ((camera, dcamera), dmatrix) in cameras.iter().zip(dcameras).zip(&dmatrices) {
        let drotation = drotation([camera[0], camera[1], camera[2]], dmatrix);
        for axis in 0..3 {
            dcamera[axis] += drotation[axis];
        }
    }
    total
}

type Adjoint = fn(
    &[[f64; 9]],
    &mut [[f64; 9]],
    &[[f64; 3]],
    &mut [[f64; 3]],
    &[f64],
    &mut [f64],
    &[[f64; 2]],
    &[usize],
    &[usize],
    f64,
) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([c, p, w], [features]) = (inputs.active(), inputs.constant());
        let ([camera_of, point_of], [dc, dp, dw]) = (inputs.indices(), shadows.each());
        let (c, dc) = (c.as_chunks().0, dc.as_chunks_mut().0);
        let (p, dp) = (p.as_chunks().0, dp.as_chunks_mut().0);
        adjoint(c, dc, p, dp, w, dw, features.as_chunks().0, camera_of, point_of, 1.0)
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
    let inputs = Inputs {
        active: vec![all_cameras, all_points, weights],
        constant: vec![features],
        indices: vec![camera_of, point_of],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([cameras, points, weights], [features]) = (inputs.active(), inputs.constant());
        let [camera_of, point_of] = inputs.indices();
        let (cameras, points) = (cameras.as_chunks().0, points.as_chunks().0);
        scene::error(cameras, points, weights, features.as_chunks().0, camera_of, point_of)
    };
    Program::new("bundle", inputs, primal, calling(scene::error_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
