//! kalman: the log-likelihood of a track under a filter of constant velocity in the plane.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

const DT: f64 = 0.1;

#[stratape::differentiable]
mod filter {
    use super::DT;

    /// Position x, y, velocity x, y.
    type Vector = [f64; 4];
    type Matrix = [[f64; 4]; 4];

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

/// One step, as the way back needs it: the covariance and the innovation before the measurement is taken in.
#[derive(Clone, Copy)]
struct Step {
    covariance: [[f64; 4]; 4],
    innovation: [f64; 2],
}

/// The determinant and the inverse of what the innovation may be, and the gain.
fn gain(covariance: &[[f64; 4]; 4], r: f64) -> (f64, [[f64; 2]; 2], [[f64; 2]; 4]) {
    let s = [[covariance[0][0] + r, covariance[0][1]], [covariance[1][0], covariance[1][1] + r]];
    let det = s[0][0] * s[1][1] - s[0][1] * s[1][0];
    let one = 1.0 / det;
    let inverse = [[s[1][1] * one, -s[0][1] * one], [-s[1][0] * one, s[0][0] * one]];
    let gain =
        covariance.map(|row| [0, 1].map(|j| row[0] * inverse[0][j] + row[1] * inverse[1][j]));
    (det, inverse, gain)
}

/// Keeps one covariance a step. The transition adds velocities to positions, and is not multiplied out.
fn by_hand(
    start: &[f64; 4],
    dstart: &mut [f64; 4],
    track: &[[f64; 2]],
    dtrack: &mut [[f64; 2]],
    log_acceleration: f64,
    log_noise: f64,
    seed: f64,
) -> (f64, f64, f64) {
    let (q, r) = (log_acceleration.exp(), log_noise.exp());
    // Of two positions, of a position and its velocity, of two velocities.
    let noise = [DT.powi(4) / 4.0, DT.powi(3) / 2.0, DT.powi(2)];
    let mut kept = Vec::with_capacity(track.len());
    let mut state = *start;
    let mut p = [[0.0; 4]; 4];
    for i in 0..4 {
        p[i][i] = 1.0;
    }
    let (mut squares, mut logs) = (0.0, 0.0);
    for measured in track {
        for axis in 0..2 {
            state[axis] += DT * state[axis + 2];
        }
        for axis in 0..2 {
            for j in 0..4 {
                p[axis][j] += DT * p[axis + 2][j];
            }
        }
        for row in &mut p {
            row[0] += DT * row[2];
            row[1] += DT * row[3];
        }
        for axis in 0..2 {
            p[axis][axis] += q * noise[0];
            p[axis][axis + 2] += q * noise[1];
            p[axis + 2][axis] += q * noise[1];
            p[axis + 2][axis + 2] += q * noise[2];
        }
        let v = [measured[0] - state[0], measured[1] - state[1]];
        kept.push(Step { covariance: p, innovation: v });
        let (det, w, k) = gain(&p, r);
        squares +=
            v[0] * (w[0][0] * v[0] + w[0][1] * v[1]) + v[1] * (w[1][0] * v[0] + w[1][1] * v[1]);
        logs += det.ln();
        let [top, bottom, ..] = p;
        for i in 0..4 {
            state[i] += k[i][0] * v[0] + k[i][1] * v[1];
            for j in 0..4 {
                p[i][j] -= k[i][0] * top[j] + k[i][1] * bottom[j];
            }
        }
    }
    let constant = track.len() as f64 * 2.0 * (2.0 * std::f64::consts::PI).ln();
    let total = -0.5 * (squares + logs + constant);

    let half = -0.5 * seed;
    let (mut dq, mut dr) = (0.0, 0.0);
    let (mut dstate, mut dp) = ([0.0; 4], [[0.0; 4]; 4]);
    for (Step { covariance: p, innovation: v }, dmeasured) in kept.iter().zip(dtrack).rev() {
        let (_, w, k) = gain(p, r);
        let mut dw = [[0.0; 2]; 2];
        let mut dv = [0.0; 2];
        for i in 0..2 {
            for j in 0..2 {
                dw[i][j] = half * v[i] * v[j];
                dv[i] += half * (w[i][j] + w[j][i]) * v[j];
            }
        }
        let mut dbefore = dp;
        for i in 0..4 {
            let mut dk = [0.0; 2];
            for n in 0..2 {
                let mut sum = 0.0;
                for j in 0..4 {
                    sum += dp[i][j] * p[n][j];
                    dbefore[n][j] -= k[i][n] * dp[i][j];
                }
                dk[n] = dstate[i] * v[n] - sum;
                dv[n] += k[i][n] * dstate[i];
            }
            for n in 0..2 {
                dbefore[i][n] += dk[0] * w[n][0] + dk[1] * w[n][1];
                dw[n][0] += p[i][n] * dk[0];
                dw[n][1] += p[i][n] * dk[1];
            }
        }
        // The adjoint of an inverse W of S is -Wᵀ dW Wᵀ; the logarithm of the determinant of S has Wᵀ.
        for i in 0..2 {
            for j in 0..2 {
                let mut ds = half * w[j][i];
                for a in 0..2 {
                    ds -= w[a][i] * (dw[a][0] * w[j][0] + dw[a][1] * w[j][1]);
                }
                dbefore[i][j] += ds;
                if i == j {
                    dr += ds;
                }
            }
        }
        for axis in 0..2 {
            dmeasured[axis] += dv[axis];
            dstate[axis] -= dv[axis];
            dstate[axis + 2] += DT * dstate[axis];
            dq += noise[0] * dbefore[axis][axis]
                + noise[1] * (dbefore[axis][axis + 2] + dbefore[axis + 2][axis])
                + noise[2] * dbefore[axis + 2][axis + 2];
        }
        for row in &mut dbefore {
            row[2] += DT * row[0];
            row[3] += DT * row[1];
        }
        for axis in 0..2 {
            for j in 0..4 {
                dbefore[axis + 2][j] += DT * dbefore[axis][j];
            }
        }
        dp = dbefore;
    }
    for i in 0..4 {
        dstart[i] += dstate[i];
    }
    (total, dq * q, dr * r)
}

type Adjoint =
    fn(&[f64; 4], &mut [f64; 4], &[[f64; 2]], &mut [[f64; 2]], f64, f64, f64) -> (f64, f64, f64);

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([start, track, q, r], [dstart, dtrack, dq, dr]) = (inputs.active(), shadows.each());
        let (track, dtrack) = (track.as_chunks().0, dtrack.as_chunks_mut().0);
        let start = start.as_array().expect("two positions, two velocities");
        let dstart = dstart.as_mut_array().expect("as many");
        let (value, by_q, by_r) = adjoint(start, dstart, track, dtrack, q[0], r[0], 1.0);
        dq[0] += by_q;
        dr[0] += by_r;
        value
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
    let primal = |inputs: &mut Inputs| {
        let [start, track, q, r] = inputs.active();
        let start = start.as_array().expect("two positions, two velocities");
        filter::log_likelihood(start, track.as_chunks().0, q[0], r[0])
    };
    Program::new("kalman", inputs, primal, calling(filter::log_likelihood_grad))
        .with_by_hand(calling(by_hand))
        .with_state(steps * size_of::<Step>())
}
