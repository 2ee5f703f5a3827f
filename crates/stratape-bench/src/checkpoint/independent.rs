//! A loop of independent iterations on two lanes, against the same loop without the mark.

use stratape::{Workspace, gradient};

use super::{Figure, Scale};
use crate::error::BenchError;
use crate::measure::{best_of, sink};
use crate::runner::Runner;

#[gradient]
fn divided(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        let mut part = 0.1 * (x[i] * x[i] + y[i] * y[i]);
        for j in 0..x.len() {
            let (dx, dy) = (x[i] - x[j], y[i] - y[j]);
            part += 0.5 * (-(dx * dx + dy * dy)).exp();
        }
        sum += part;
    }
    sum
}

#[gradient]
fn serial(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        let mut part = 0.1 * (x[i] * x[i] + y[i] * y[i]);
        for j in 0..x.len() {
            let (dx, dy) = (x[i] - x[j], y[i] - y[j]);
            part += 0.5 * (-(dx * dx + dy * dy)).exp();
        }
        sum += part;
    }
    sum
}

pub(super) fn run(runner: &mut Runner<'_>, scale: Scale) -> Result<(), BenchError> {
    let bodies = scale.small_side * 20;
    let case = format!("independent_loop_{bodies}_bodies_two_lanes");
    if !runner.wants(&case) {
        return Ok(());
    }
    let x: Vec<f64> = (0..bodies).map(|i| (i as f64).sin()).collect();
    let y: Vec<f64> = (0..bodies).map(|i| (0.7 * i as f64).cos()).collect();
    let (mut dx, mut dy) = (vec![0.0; bodies], vec![0.0; bodies]);
    let (mut ex, mut ey) = (dx.clone(), dy.clone());
    let (mut lanes, mut alone) = (Workspace::new(), Workspace::new());
    lanes.set_lanes(2);
    let mut on_lanes = || {
        sink(divided_grad_in(&mut lanes, &x, &mut dx, &y, &mut dy, 1.0));
    };
    let mut by_itself = || {
        sink(serial_grad_in(&mut alone, &x, &mut ex, &y, &mut ey, 1.0));
    };
    let [ours, theirs] = best_of(2 * scale.rounds + 1, [&mut on_lanes, &mut by_itself]);
    let (ours, theirs) = (1.0 / ours, 1.0 / theirs);
    let against = "the same loop without `#[parallel]`".to_owned();
    let (unit, aim) = ("gradients/s", Some(">= 1.8"));
    Figure { case, ours, against, theirs, unit, aim }.tell(runner)
}
