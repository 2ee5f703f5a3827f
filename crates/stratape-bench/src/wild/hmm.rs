//! hmm: the log-likelihood of symbols under a hidden Markov model, by the forward algorithm.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient]
fn log_likelihood(
    start: &[f64],
    transition: &[f64],
    emission: &[f64],
    symbols: usize,
    observed: &[usize],
) -> f64 {
    let states = start.len();
    let mut alpha: Vec<f64> =
        (0..states).map(|s| start[s] * emission[s * symbols + observed[0]]).collect();
    let mut log_likelihood = 0.0;
    for &symbol in &observed[1..] {
        let scale: f64 = alpha.iter().sum();
        log_likelihood += scale.ln();
        let mut next = vec![0.0; states];
        for to in 0..states {
            for from in 0..states {
                next[to] += alpha[from] / scale * transition[from * states + to];
            }
            next[to] *= emission[to * symbols + symbol];
        }
        alpha.copy_from_slice(&next);
    }
    log_likelihood + alpha.iter().sum::<f64>().ln()
}

/// Keeps what the states weigh at every time, divided by their sum, and the sums.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    start: &[f64],
    dstart: &mut [f64],
    transition: &[f64],
    dtransition: &mut [f64],
    emission: &[f64],
    demission: &mut [f64],
    symbols: usize,
    observed: &[usize],
    seed: f64,
) -> f64 {
    let states = start.len();
    let mut alpha: Vec<f64> =
        (0..states).map(|s| start[s] * emission[s * symbols + observed[0]]).collect();
    let mut log_likelihood = 0.0;
    let (mut weights, mut arrived, mut scales) = (Vec::new(), Vec::new(), Vec::new());
    for &symbol in &observed[1..] {
        let scale: f64 = alpha.iter().sum();
        log_likelihood += scale.ln();
        let normalised: Vec<f64> = alpha.iter().map(|a| a / scale).collect();
        let mut sums = vec![0.0; states];
        for to in 0..states {
            for from in 0..states {
                sums[to] += normalised[from] * transition[from * states + to];
            }
            alpha[to] = sums[to] * emission[to * symbols + symbol];
        }
        weights.push(normalised);
        arrived.push(sums);
        scales.push(scale);
    }
    let last: f64 = alpha.iter().sum();

    let mut dalpha = vec![seed / last; states];
    for (t, &symbol) in observed.iter().enumerate().skip(1).rev() {
        let (normalised, sums, scale) = (&weights[t - 1], &arrived[t - 1], scales[t - 1]);
        let mut dnormalised = vec![0.0; states];
        for to in 0..states {
            demission[to * symbols + symbol] += dalpha[to] * sums[to];
            let dsum = dalpha[to] * emission[to * symbols + symbol];
            for from in 0..states {
                dtransition[from * states + to] += dsum * normalised[from];
                dnormalised[from] += dsum * transition[from * states + to];
            }
        }
        let mut dscale = seed / scale;
        for from in 0..states {
            dscale -= dnormalised[from] * normalised[from] / scale;
        }
        for from in 0..states {
            dalpha[from] = dnormalised[from] / scale + dscale;
        }
    }
    for s in 0..states {
        dstart[s] += dalpha[s] * emission[s * symbols + observed[0]];
        demission[s * symbols + observed[0]] += dalpha[s] * start[s];
    }
    log_likelihood + last.ln()
}

type Adjoint =
    fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], &mut [f64], usize, &[usize], f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([s, t, e], [symbols, observed]) = (inputs.active(), inputs.indices());
        let [ds, dt, de] = shadows.each();
        adjoint(s, ds, t, dt, e, de, symbols[0], observed, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (states, symbols) = (scale.or_small(16, 5), scale.or_small(10, 4));
    let length = scale.or_small(200, 9);
    let mut numbers = Numbers::from_seed(119);
    let mut distributions = |rows: usize, columns: usize| -> Vec<f64> {
        let mut all = numbers.array(rows * columns, 0.1, 1.0);
        for row in all.chunks_exact_mut(columns) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
        all
    };
    let active = vec![
        distributions(1, states),
        distributions(states, states),
        distributions(states, symbols),
    ];
    let observed = (0..length).map(|t| t * t * 7 % 11 % symbols).collect();
    let inputs = Inputs { active, indices: vec![vec![symbols], observed], ..Inputs::default() };
    let primal = |inputs: &mut Inputs| {
        let ([start, transition, emission], [symbols, observed]) =
            (inputs.active(), inputs.indices());
        log_likelihood(start, transition, emission, symbols[0], observed)
    };
    Program::new("hmm", inputs, primal, calling(log_likelihood_grad))
        .with_by_hand(calling(by_hand))
        .with_state((length - 1) * (2 * states + 1) * size_of::<f64>())
}
