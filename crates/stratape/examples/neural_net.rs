//! A small network, trained: `cargo run --release --example neural_net -p stratape`.
//!
//! Two layers of tanh and one output learn to tell two spirals apart. The network is loops over one slice of weights; its
//! gradient is `loss_grad`, and the training (Adam) is a dozen lines.

use std::error::Error;
use std::f64::consts::PI;

const POINTS: usize = 100;
const EPOCHS: usize = 300;

#[stratape::differentiable]
mod network {
    pub(super) const WIDTH: usize = 10;
    pub(super) const WEIGHTS: usize = 3 * WIDTH + (WIDTH + 1) * WIDTH + WIDTH + 1;

    /// The network at one point of the plane: above zero for one spiral, below for the other.
    pub(super) fn answer(w: &[f64], x: f64, y: f64) -> f64 {
        let (mut first, mut second) = ([0.0; WIDTH], [0.0; WIDTH]);
        for i in 0..WIDTH {
            first[i] = (w[3 * i] * x + w[3 * i + 1] * y + w[3 * i + 2]).tanh();
        }
        let mut at = 3 * WIDTH;
        for unit in second.iter_mut() {
            let mut sum = w[at + WIDTH];
            for j in 0..WIDTH {
                sum += w[at + j] * first[j];
            }
            *unit = sum.tanh();
            at += WIDTH + 1;
        }
        let mut sum = w[at + WIDTH];
        for i in 0..WIDTH {
            sum += w[at + i] * second[i];
        }
        sum
    }

    /// The mean of the logistic loss; labels are +1 and −1.
    #[gradient(wrt(w))]
    pub(super) fn loss(w: &[f64], points: &[[f64; 2]], labels: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..points.len() {
            sum += (-labels[i] * answer(w, points[i][0], points[i][1])).exp().ln_1p();
        }
        sum / points.len() as f64
    }
}

/// Points on two spirals, half a turn apart, with their labels.
fn spirals(shift: f64) -> (Vec<[f64; 2]>, Vec<f64>) {
    let arm = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let point = |i: usize| {
        let t = (i as f64 + shift) / POINTS as f64;
        let (angle, radius) = (3.0 * PI * t, arm(i) * (0.1 + t));
        [radius * angle.cos(), radius * angle.sin()]
    };
    ((0..POINTS).map(point).collect(), (0..POINTS).map(arm).collect())
}

fn accuracy(w: &[f64], points: &[[f64; 2]], labels: &[f64]) -> f64 {
    let right = |(p, label): &(&[f64; 2], &f64)| network::answer(w, p[0], p[1]) * **label > 0.0;
    points.iter().zip(labels).filter(right).count() as f64 / labels.len() as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let (points, labels) = spirals(0.0);
    // Numbers that look random and are the same in every run.
    let mut w: Vec<f64> = (1..=network::WEIGHTS).map(|i| (1e4 * (i as f64).sin()).sin()).collect();

    let (mut mean, mut square) = (vec![0.0; w.len()], vec![0.0; w.len()]);
    for epoch in 0..=EPOCHS {
        let mut dw = vec![0.0; w.len()];
        let loss = network::loss_grad(&w, &mut dw, &points, &labels, 1.0);
        if epoch % 60 == 0 {
            let correct = 100.0 * accuracy(&w, &points, &labels);
            println!("epoch {epoch:3}: loss {loss:.4}, {correct:3.0} % correct");
        }
        let power = epoch as i32 + 1;
        for i in 0..w.len() {
            mean[i] = 0.9 * mean[i] + 0.1 * dw[i];
            square[i] = 0.99 * square[i] + 0.01 * dw[i] * dw[i];
            let (m, s) =
                (mean[i] / (1.0 - 0.9_f64.powi(power)), square[i] / (1.0 - 0.99_f64.powi(power)));
            w[i] -= 0.05 * m / (s.sqrt() + 1e-8);
        }
    }

    // Points between those it was trained on.
    let (points, labels) = spirals(0.5);
    let correct = accuracy(&w, &points, &labels);
    println!("of {POINTS} points it has not seen, {:.0} % correct", 100.0 * correct);
    if correct < 0.95 {
        return Err("the network has not learned the spirals".into());
    }
    Ok(())
}
