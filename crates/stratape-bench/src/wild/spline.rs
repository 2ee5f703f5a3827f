//! spline: the squared distance of points from the natural cubic spline through given values at knots.

use stratape::gradient;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[gradient(wrt(values))]
fn misfit(knots: &[f64], values: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let n = knots.len();
    // The second derivatives at the knots, by elimination from the left.
    let mut second = vec![0.0; n];
    let mut slope = vec![0.0; n];
    for i in 1..n - 1 {
        let left = knots[i] - knots[i - 1];
        let right = knots[i + 1] - knots[i];
        let ratio = left / (left + right);
        let pivot = ratio * second[i - 1] + 2.0;
        second[i] = (ratio - 1.0) / pivot;
        let bend = (values[i + 1] - values[i]) / right - (values[i] - values[i - 1]) / left;
        slope[i] = (6.0 * bend / (left + right) - ratio * slope[i - 1]) / pivot;
    }
    second[n - 1] = 0.0;
    for i in (0..n - 1).rev() {
        second[i] = second[i] * second[i + 1] + slope[i];
    }

    let mut misfit = 0.0;
    for (x, y) in x.iter().zip(y) {
        let (mut left, mut right) = (0, n - 1);
        while right - left > 1 {
            let middle = (left + right) / 2;
            if knots[middle] > *x {
                right = middle;
            } else {
                left = middle;
            }
        }
        let h = knots[right] - knots[left];
        let a = (knots[right] - x) / h;
        let b = 1.0 - a;
        let bend = (a.powi(3) - a) * second[left] + (b.powi(3) - b) * second[right];
        let value = a * values[left] + b * values[right] + bend * h * h / 6.0;
        misfit += (value - y).powi(2);
    }
    misfit / x.len() as f64
}

/// Keeps what the elimination leaves, which depends on the knots alone, and goes back through it after all points.
fn by_hand(
    knots: &[f64],
    values: &[f64],
    dvalues: &mut [f64],
    x: &[f64],
    y: &[f64],
    seed: f64,
) -> f64 {
    let n = knots.len();
    let mut eliminated = vec![0.0; n];
    let mut second = vec![0.0; n];
    for i in 1..n - 1 {
        let (left, right) = (knots[i] - knots[i - 1], knots[i + 1] - knots[i]);
        let ratio = left / (left + right);
        let pivot = ratio * eliminated[i - 1] + 2.0;
        eliminated[i] = (ratio - 1.0) / pivot;
        let bend = (values[i + 1] - values[i]) / right - (values[i] - values[i - 1]) / left;
        second[i] = (6.0 * bend / (left + right) - ratio * second[i - 1]) / pivot;
    }
    for i in (0..n - 1).rev() {
        second[i] += eliminated[i] * second[i + 1];
    }

    let scale = 2.0 * seed / x.len() as f64;
    let mut dsecond = vec![0.0; n];
    let mut misfit = 0.0;
    for (x, y) in x.iter().zip(y) {
        let left = knots[1..n - 1].partition_point(|knot| knot <= x);
        let h = knots[left + 1] - knots[left];
        let a = (knots[left + 1] - x) / h;
        let b = 1.0 - a;
        let square = h * h / 6.0;
        let (bend_left, bend_right) = ((a * a * a - a) * square, (b * b * b - b) * square);
        let error = a * values[left]
            + b * values[left + 1]
            + (bend_left * second[left] + bend_right * second[left + 1])
            - y;
        misfit += error * error;
        let dvalue = scale * error;
        dvalues[left] += dvalue * a;
        dvalues[left + 1] += dvalue * b;
        dsecond[left] += dvalue * bend_left;
        dsecond[left + 1] += dvalue * bend_right;
    }

    for i in 0..n - 1 {
        dsecond[i + 1] += eliminated[i] * dsecond[i];
    }
    for i in (1..n - 1).rev() {
        let (left, right) = (knots[i] - knots[i - 1], knots[i + 1] - knots[i]);
        let ratio = left / (left + right);
        let dsum = dsecond[i] / (ratio * eliminated[i - 1] + 2.0);
        dsecond[i - 1] -= ratio * dsum;
        let dbend = 6.0 * dsum / (left + right);
        dvalues[i + 1] += dbend / right;
        dvalues[i] -= dbend / right + dbend / left;
        dvalues[i - 1] += dbend / left;
    }
    misfit / x.len() as f64
}

type Adjoint = fn(&[f64], &[f64], &mut [f64], &[f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([values], [knots, x, y]) = (inputs.active(), inputs.constant());
        let [dvalues] = shadows.each();
        adjoint(knots, values, dvalues, x, y, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (count, samples) = (scale.or_small(40, 6), scale.or_small(2000, 19));
    let mut numbers = Numbers::from_seed(115);
    let knots: Vec<f64> = (0..count).map(|i| i as f64 + numbers.within(0.0, 0.5)).collect();
    let values = numbers.array(count, -1.0, 1.0);
    let x = numbers.array(samples, 0.0, count as f64);
    let y = numbers.array(samples, -1.0, 1.0);
    let inputs = Inputs { active: vec![values], constant: vec![knots, x, y], ..Inputs::default() };
    let primal = |inputs: &mut Inputs| {
        let ([values], [knots, x, y]) = (inputs.active(), inputs.constant());
        misfit(knots, values, x, y)
    };
    Program::new("spline", inputs, primal, calling(misfit_grad))
        .with_by_hand(calling(by_hand))
        .with_state((count - 2) * size_of::<f64>())
}
