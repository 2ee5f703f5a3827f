//! A minimum found by a solver of `argmin`: `cargo run --release --example argmin -p stratape --features argmin`.
//!
//! Along which slide does a ball get down fastest? The slide is a line through a hundred points, whose depths are unknown; L-BFGS
//! finds them. The answer is known: a cycloid, and how long it takes.

use std::f64::consts::PI;

use argmin::core::{Error, Executor, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use stratape::argmin::Objective;
use stratape::gradient;

const WIDTH: f64 = PI;
const DEPTH: f64 = 2.0;
const GRAVITY: f64 = 9.81;
const PIECES: usize = 100;

/// The time down the slide. The speed at a depth is √(2·g·depth); unknown are the roots of the depths, which may have any sign.
#[gradient]
fn duration(roots: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut before = 0.0;
    for k in 0..=roots.len() {
        let root = if k < roots.len() { roots[k].abs() } else { DEPTH.sqrt() };
        let across = WIDTH / (roots.len() + 1) as f64;
        let down = root * root - before * before;
        let speed = 0.5 * (2.0 * GRAVITY).sqrt() * (before + root);
        sum += (across * across + down * down).sqrt() / speed;
        before = root;
    }
    sum
}

fn main() -> Result<(), Error> {
    let line: Vec<f64> = (1..PIECES).map(|k| (DEPTH * k as f64 / PIECES as f64).sqrt()).collect();
    let straight = duration(&line);
    let objective = Objective::new(
        |roots: &[f64]| duration(roots),
        |roots: &[f64], shadow: &mut [f64]| {
            duration_grad(roots, shadow, 1.0);
        },
    );
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10).with_tolerance_grad(1e-7)?;
    let result = Executor::new(objective, solver)
        .configure(|state| state.param(line).max_iters(1000))
        .run()?;
    let (found, iterations) = (result.state().get_best_cost(), result.state().get_iter());
    let cycloid = PI / GRAVITY.sqrt();
    println!("straight {straight:.4} s, found {found:.4} s in {iterations} iterations");
    println!("a cycloid takes {cycloid:.4} s");
    if !(cycloid..1.01 * cycloid).contains(&found) {
        return Err(Error::msg("that is not the fastest slide"));
    }
    Ok(())
}
