//! wave: a wave in a rod of varying speed, and the distance of what a receiver hears from a record.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

const SOURCE: usize = 3;

#[gradient(wrt(speed, wavelet))]
fn misfit(speed: &[f64], wavelet: &[f64], record: &[f64], receiver: usize) -> f64 {
    let n = speed.len();
    let mut before = vec![0.0; n];
    let mut now = vec![0.0; n];
    let mut misfit = 0.0;
    for t in 0..record.len() {
        let mut next = vec![0.0; n];
        for i in 1..n - 1 {
            let courant = speed[i] * speed[i];
            next[i] = 2.0 * now[i] - before[i] + courant * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
        if t < wavelet.len() {
            next[SOURCE] += wavelet[t];
        }
        before.copy_from_slice(&now);
        now.copy_from_slice(&next);
        let residual = now[receiver] - record[t];
        misfit += 0.5 * residual * residual;
    }
    misfit
}

/// Keeps every state, the two before the first step included.
fn by_hand(
    speed: &[f64],
    dspeed: &mut [f64],
    wavelet: &[f64],
    dwavelet: &mut [f64],
    record: &[f64],
    receiver: usize,
    seed: f64,
) -> f64 {
    let n = speed.len();
    let mut states = vec![vec![0.0; n]; 2];
    let mut misfit = 0.0;
    for t in 0..record.len() {
        let (before, now) = (&states[t], &states[t + 1]);
        let mut next = vec![0.0; n];
        for i in 1..n - 1 {
            let bend = now[i - 1] - 2.0 * now[i] + now[i + 1];
            next[i] = 2.0 * now[i] - before[i] + speed[i] * speed[i] * bend;
        }
        if t < wavelet.len() {
            next[SOURCE] += wavelet[t];
        }
        let residual = next[receiver] - record[t];
        misfit += 0.5 * residual * residual;
        states.push(next);
    }
    let (mut dnext, mut dnow) = (vec![0.0; n], vec![0.0; n]);
    for t in (0..record.len()).rev() {
        dnext[receiver] += seed * (states[t + 2][receiver] - record[t]);
        if t < wavelet.len() {
            dwavelet[t] += dnext[SOURCE];
        }
        let now = &states[t + 1];
        let mut dbefore = vec![0.0; n];
        for i in 1..n - 1 {
            let bend = now[i - 1] - 2.0 * now[i] + now[i + 1];
            dspeed[i] += 2.0 * speed[i] * bend * dnext[i];
            let dbend = speed[i] * speed[i] * dnext[i];
            dnow[i - 1] += dbend;
            dnow[i] += 2.0 * (dnext[i] - dbend);
            dnow[i + 1] += dbend;
            dbefore[i] -= dnext[i];
        }
        dnext = dnow;
        dnow = dbefore;
    }
    misfit
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], usize, f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([speed, wavelet], [record]) = (inputs.active(), inputs.constant());
        let ([receiver], [dspeed, dwavelet]) = (inputs.indices(), shadows.each());
        adjoint(speed, dspeed, wavelet, dwavelet, record, receiver[0], 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (n, steps) = (scale.or_small(200, 23), scale.or_small(300, 40));
    let mut numbers = Numbers::from_seed(111);
    let speed = numbers.array(n, 0.5, 0.9);
    let wavelet = (0..20).map(|t| (-0.1 * f64::from(t - 10).powi(2)).exp()).collect();
    let record = numbers.array(steps, -0.5, 0.5);
    let inputs = Inputs {
        active: vec![speed, wavelet],
        constant: vec![record],
        indices: vec![vec![n - 5]],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([speed, wavelet], [record]) = (inputs.active(), inputs.constant());
        let [receiver] = inputs.indices();
        misfit(speed, wavelet, record, receiver[0])
    };
    Program::new("wave", inputs, primal, calling(misfit_grad)).with_by_hand(calling(by_hand))
}
