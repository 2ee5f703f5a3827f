//! cg: conjugate gradients on a sparse matrix in compressed rows, and the distance of the solution from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[stratape::differentiable]
mod solver {
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn multiply(starts: &[usize], columns: &[usize], values: &[f64], x: &[f64], y: &mut [f64]) {
        for i in 0..y.len() {
            let mut sum = 0.0;
            for k in starts[i]..starts[i + 1] {
                sum += values[k] * x[columns[k]];
            }
            y[i] = sum;
        }
    }

    #[gradient(wrt(values, rhs))]
    pub(super) fn misfit(
        values: &[f64],
        rhs: &[f64],
        target: &[f64],
        starts: &[usize],
        columns: &[usize],
        iterations: usize,
    ) -> f64 {
        let n = rhs.len();
        let mut x = vec![0.0; n];
        let mut r = rhs.to_vec();
        let mut p = r.clone();
        let mut ap = vec![0.0; n];
        let mut rr = dot(&r, &r);
        for _ in 0..iterations {
            multiply(starts, columns, values, &p, &mut ap);
            let alpha = rr / dot(&p, &ap);
            for i in 0..n {
                x[i] += alpha * p[i];
                r[i] -= alpha * ap[i];
            }
            let rr_new = dot(&r, &r);
            if rr_new.sqrt() < 1e-10 {
                break;
            }
            let beta = rr_new / rr;
            for i in 0..n {
                p[i] = r[i] + beta * p[i];
            }
            rr = rr_new;
        }
        x.iter().zip(target).map(|(x, t)| (x - t).powi(2)).sum()
    }
}

/// Eight sums side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// Keeps the residual, the direction and its image of every iteration, their squares and curvatures.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    values: &[f64],
    dvalues: &mut [f64],
    rhs: &[f64],
    drhs: &mut [f64],
    target: &[f64],
    starts: &[usize],
    columns: &[usize],
    iterations: usize,
    seed: f64,
) -> f64 {
    let n = rhs.len();
    let mut x = vec![0.0; n];
    let (mut r, mut p, mut ap) = (rhs.to_vec(), rhs.to_vec(), vec![0.0; n]);
    let mut kept: Vec<f64> = Vec::with_capacity(3 * n * iterations);
    let (mut squares, mut curvatures) = (vec![dot(&r, &r)], Vec::with_capacity(iterations));
    while curvatures.len() < iterations {
        let rr = squares[curvatures.len()];
        for (ap, range) in ap.iter_mut().zip(starts.array_windows::<2>()) {
            let row = values[range[0]..range[1]].iter().zip(&columns[range[0]..range[1]]);
            *ap = row.map(|(value, column)| value * p[*column]).sum();
        }
        for vector in [&r, &p, &ap] {
            kept.extend_from_slice(vector);
        }
        let curvature = dot(&p, &ap);
        curvatures.push(curvature);
        let alpha = rr / curvature;
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        let after = dot(&r, &r);
        if after.sqrt() < 1e-10 {
            break;
        }
        squares.push(after);
        let beta = after / rr;
        for i in 0..n {
            p[i] = r[i] + beta * p[i];
        }
    }

    let mut misfit = 0.0;
    let mut dx = vec![0.0; n];
    for i in 0..n {
        misfit += (x[i] - target[i]) * (x[i] - target[i]);
        dx[i] = 2.0 * seed * (x[i] - target[i]);
    }
    // What the last iteration makes of r, p and the square of r is not used.
    let (mut dr, mut dp, mut dsquare) = (vec![0.0; n], vec![0.0; n], 0.0);
    for (k, &curvature) in curvatures.iter().enumerate().rev() {
        let vectors = &kept[3 * k * n..];
        let (direction, image) = (&vectors[n..][..n], &vectors[2 * n..][..n]);
        let square = squares[k];
        let alpha = square / curvature;
        let mut dbefore = 0.0;
        if k + 1 < curvatures.len() {
            let residual = &vectors[3 * n..][..n];
            let beta = squares[k + 1] / square;
            let dbeta = dot(&dp, direction);
            let twice = 2.0 * (dsquare + dbeta / square);
            dbefore = -dbeta * beta / square;
            for i in 0..n {
                dr[i] += dp[i] + twice * residual[i];
                dp[i] *= beta;
            }
        }
        let dalpha = dot(&dx, direction) - dot(&dr, image);
        dsquare = dbefore + dalpha / curvature;
        let dcurvature = -dalpha * alpha / curvature;
        for i in 0..n {
            dp[i] += alpha * dx[i] + dcurvature * image[i];
        }
        for (i, range) in starts.array_windows::<2>().enumerate() {
            let dimage = dcurvature * direction[i] - alpha * dr[i];
            let range = range[0]..range[1];
            let (row, drow) = (&values[range.clone()], &mut dvalues[range.clone()]);
            for ((value, dvalue), &column) in row.iter().zip(drow).zip(&columns[range]) {
                *dvalue += dimage * direction[column];
                dp[column] += dimage * value;
            }
        }
    }
    for i in 0..n {
        drhs[i] += dr[i] + dp[i] + 2.0 * dsquare * rhs[i];
    }
    misfit
}

type Adjoint =
    fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], &[usize], &[usize], usize, f64) -> f64;

fn calling(adjoint: Adjoint, iterations: usize) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([values, rhs], [target]) = (inputs.active(), inputs.constant());
        let ([starts, columns], [dvalues, drhs]) = (inputs.indices(), shadows.each());
        adjoint(values, dvalues, rhs, drhs, target, starts, columns, iterations, 1.0)
    }
}

/// The Laplacian of a square grid, with a little more on its diagonal.
pub(super) fn program(scale: Scale) -> Program {
    let (side, iterations) = (scale.or_small(24, 5), scale.or_small(25, 6));
    let mut numbers = Numbers::from_seed(107);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..side * side {
        let (row, column) = (i / side, i % side);
        let neighbours = [
            (row > 0).then(|| i - side),
            (column > 0).then(|| i - 1),
            (column + 1 < side).then(|| i + 1),
            (row + 1 < side).then(|| i + side),
        ];
        for neighbour in neighbours.into_iter().flatten() {
            columns.push(neighbour);
            values.push(-1.0);
        }
        columns.push(i);
        values.push(4.0 + numbers.within(0.1, 0.5));
        starts.push(columns.len());
    }
    let rhs = numbers.array(side * side, -1.0, 1.0);
    let target = numbers.array(side * side, -1.0, 1.0);
    let inputs = Inputs {
        active: vec![values, rhs],
        constant: vec![target],
        indices: vec![starts, columns],
        ..Inputs::default()
    };
    let primal = move |inputs: &mut Inputs| {
        let ([values, rhs], [target]) = (inputs.active(), inputs.constant());
        let [starts, columns] = inputs.indices();
        solver::misfit(values, rhs, target, starts, columns, iterations)
    };
    Program::new("cg", inputs, primal, calling(solver::misfit_grad, iterations))
        .with_by_hand(calling(by_hand, iterations))
        .with_state((3 * side * side * (iterations - 1) + 2 * iterations) * size_of::<f64>())
}
