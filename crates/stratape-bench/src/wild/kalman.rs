//! kalman: the log-likelihood of a track under a filter of constant velocity in the plane.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale};

#[stratape::differentiable]
mod filter {
    /// Position x, y, velocity x, y.
    type Vector = [f64; 4];
    type Matrix = [[f64; 4]; 4];

    const DT: f64 = 0.1;

    fn product(a: &Matrix, b: &Matrix) -> Matrix {
        let mut c = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..4 {
                    c[i][j] += a[i][k] * b[k][j];
                }
            }
        }
        c
    }

    fn transposed(a: &Matrix) -> Matrix {
        let mut t = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                t[i][j] = a[j][i];
            }
        }
        t
    }

    fn applied(a: &Matrix, x: &Vector) -> Vector {
        let mut y = [0.0; 4];
        for i in 0..4 {
            for j in 0..4 {
                y[i] += a[i][j] * x[j];
            }
        }
        y
    }

    #[gradient]
    pub(super) fn log_likelihood(
        start: &[f64; 4],
        track: &[[f64; 2]],
        log_acceleration: f64,
        log_noise: f64,
    ) -> f64 {
        let transition =
            [[1.0, 0.0, DT, 0.0], [0.0, 1.0, 0.0, DT], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
        let back = transposed(&transition);
        let (q, r) = (log_acceleration.exp(), log_noise.exp());
        let mut noise = [[0.0; 4]; 4];
        for axis in 0..2 {
            noise[axis][axis] = q * DT.powi(4) / 4.0;
            noise[axis][axis + 2] = q * DT.powi(3) / 2.0;
            noise[axis + 2][axis] = q * DT.powi(3) / 2.0;
            noise[axis + 2][axis + 2] = q * DT.powi(2);
        }

        let mut state = *start;
        let mut covariance = [[0.0; 4]; 4];
        for i in 0..4 {
            covariance[i][i] = 1.0;
        }
        let mut total = 0.0;
        for measured in track {
            state = applied(&transition, &state);
            covariance = product(&product(&transition, &covariance), &back);
            for i in 0..4 {
                for j in 0..4 {
                    covariance[i][j] += noise[i][j];
                }
            }

            // What is measured is the position.
            let innovation = [measured[0] - state[0], measured[1] - state[1]];
            let s = [
                [covariance[0][0] + r, covariance[0][1]],
                [covariance[1][0], covariance[1][1] + r],
            ];
            let det = s[0][0] * s[1][1] - s[0][1] * s[1][0];
            let inverse = [[s[1][1] / det, -s[0][1] / det], [-s[1][0] / det, s[0][0] / det]];
            let mut gain = [[0.0; 2]; 4];
            for i in 0..4 {
                for j in 0..2 {
                    for k in 0..2 {
                        gain[i][j] += covariance[i][k] * inverse[k][j];
                    }
                }
            }
            for i in 0..4 {
                for j in 0..2 {
                    state[i] += gain[i][j] * innovation[j];
                }
            }
            let before = covariance;
            for i in 0..4 {
                for j in 0..4 {
                    for k in 0..2 {
                        covariance[i][j] -= gain[i][k] * before[k][j];
                    }
                }
            }

            let mut square = 0.0;
            for i in 0..2 {
                for j in 0..2 {
                    square += innovation[i] * inverse[i][j] * innovation[j];
                }
            }
            total -= 0.5 * (square + det.ln() + 2.0 * (2.0 * std::f64::consts::PI).ln());
        }
        total
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let steps = scale.or_small(400, 7);
    let mut numbers = Numbers::from_seed(106);
    let mut track = Vec::new();
    for i in 0..steps {
        let t = 0.1 * i as f64;
        track.extend([t.cos() + numbers.within(-0.1, 0.1), t.sin() + numbers.within(-0.1, 0.1)]);
    }
    let inputs = Inputs {
        active: vec![vec![1.0, 0.0, 0.0, 1.0], track, vec![0.3], vec![-4.0]],
        ..Inputs::default()
    };
    Program::new(
        "kalman",
        inputs,
        |inputs| {
            let [start, track, q, r] = inputs.active();
            let start = start.as_array().expect("two positions, two velocities");
            filter::log_likelihood(start, track.as_chunks().0, q[0], r[0])
        },
        |inputs, shadows| {
            let ([start, track, q, r], [dstart, dtrack, dq, dr]) =
                (inputs.active(), shadows.each());
            let (track, dtrack) = (track.as_chunks().0, dtrack.as_chunks_mut().0);
            let start = start.as_array().expect("two positions, two velocities");
            let dstart = dstart.as_mut_array().expect("as many");
            let (value, q_adjoint, r_adjoint) =
                filter::log_likelihood_grad(start, dstart, track, dtrack, q[0], r[0], 1.0);
            dq[0] += q_adjoint;
            dr[0] += r_adjoint;
            value
        },
    )
}
