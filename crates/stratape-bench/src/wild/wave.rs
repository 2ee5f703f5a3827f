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

/// Keeps every state. The way back is the same wave, with the residuals for its source; the ends of the rod rest.
fn by_hand(
    speed: &[f64],
    dspeed: &mut [f64],
    wavelet: &[f64],
    dwavelet: &mut [f64],
    record: &[f64],
    receiver: usize,
    seed: f64,
) -> f64 {
    let (n, inner) = (speed.len(), speed.len() - 2);
    let courant: Vec<f64> = speed[1..].iter().take(inner).map(|speed| speed * speed).collect();
    let mut states = Vec::with_capacity((record.len() + 1) * n);
    let (mut before, mut now) = (vec![0.0; n], vec![0.0; n]);
    states.extend_from_slice(&now);
    let mut misfit = 0.0;
    for (t, record) in record.iter().enumerate() {
        // The next state takes the place of the one before.
        let next = &mut before[1..][..inner];
        let (left, here, right) = (&now[..inner], &now[1..][..inner], &now[2..][..inner]);
        for i in 0..inner {
            let bend = left[i] - 2.0 * here[i] + right[i];
            next[i] = 2.0 * here[i] - next[i] + courant[i] * bend;
        }
        if t < wavelet.len() {
            before[SOURCE] += wavelet[t];
        }
        std::mem::swap(&mut before, &mut now);
        states.extend_from_slice(&now);
        let residual = now[receiver] - record;
        misfit += 0.5 * residual * residual;
    }

    let (mut dnext, mut dnow) = (vec![0.0; n], vec![0.0; n]);
    let (mut dbends, mut dcourant) = (vec![0.0; n], vec![0.0; inner]);
    for t in (0..record.len()).rev() {
        dnext[receiver] += seed * (states[(t + 1) * n + receiver] - record[t]);
        if t < wavelet.len() {
            dwavelet[t] += dnext[SOURCE];
        }
        let now = &states[t * n..][..n];
        let (left, here, right) = (&now[..inner], &now[1..][..inner], &now[2..][..inner]);
        let (dhere, dbend) = (&dnext[1..][..inner], &mut dbends[1..][..inner]);
        for i in 0..inner {
            dcourant[i] += (left[i] - 2.0 * here[i] + right[i]) * dhere[i];
            dbend[i] = courant[i] * dhere[i];
        }
        let (left, here, right) = (&dbends[..inner], &dbends[1..][..inner], &dbends[2..][..inner]);
        let (dnext_inner, dnow_inner) = (&mut dnext[1..][..inner], &mut dnow[1..][..inner]);
        for i in 0..inner {
            dnow_inner[i] += 2.0 * dnext_inner[i] + (left[i] - 2.0 * here[i] + right[i]);
            dnext_inner[i] = -dnext_inner[i];
        }
        std::mem::swap(&mut dnext, &mut dnow);
    }
    for i in 0..inner {
        dspeed[i + 1] += 2.0 * speed[i + 1] * dcourant[i];
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
    Program::new("wave", inputs, primal, calling(misfit_grad))
        .with_by_hand(calling(by_hand))
        .with_state((steps - 2) * (n - 2) * size_of::<f64>())
}
