//! A tour: one inverse problem, from a first gradient to an optimiser, each step measured.
//!
//! Somewhere under a plate there are heaters. Which, is to be found from the temperatures after some time. The page `docs/tour.md` goes
//! through it step by step.
//!
//! ```text
//! cargo run --release --example tour -p stratape
//! cargo run --release --example tour -p stratape --features argmin -- [SIDE [STEPS [PICTURES]]]
//! ```
//!
//! PICTURES is a directory for what `stratape::picture` draws.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use stratape::tape::TapeOptions;
use stratape::{Workspace, check, picture};

use self::plate::{
    misfit, misfit_checkpointed_grad_in, misfit_grad, misfit_grad_in, misfit_parallel_grad_in,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Snapshots of the time loop under `#[checkpoint]`.
const SLOTS: usize = 10;
const ITERATIONS: usize = 40;

#[stratape::differentiable]
mod plate {
    /// Time step over the square of the mesh width.
    const RATE: f64 = 0.04;
    /// What a heater of strength 1 adds in a step.
    const HEATING: f64 = 4e-3;

    /// What flows into a cell: the conductivity grows with the temperature.
    fn flow(u: &[f64], at: usize, side: usize) -> f64 {
        let here = u[at];
        let (left, right, above, below) = (u[at - 1], u[at + 1], u[at - side], u[at + side]);
        let k = 1.0 + here * here;
        (k + left * left) * (left - here)
            + (k + right * right) * (right - here)
            + (k + above * above) * (above - here)
            + (k + below * below) * (below - here)
    }

    fn step(u: &mut [f64], heaters: &[f64], side: usize) {
        let old = u.to_vec();
        for i in 1..side - 1 {
            for j in 1..side - 1 {
                let at = side * i + j;
                u[at] = old[at] + RATE * flow(&old, at, side) + HEATING * heaters[at];
            }
        }
    }

    fn distance(u: &[f64], data: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..data.len() {
            sum += (u[i] - data[i]) * (u[i] - data[i]);
        }
        sum / data.len() as f64
    }

    /// The temperatures after some steps.
    pub(crate) fn heated(heaters: &[f64], side: usize, steps: usize) -> Vec<f64> {
        let mut u = vec![0.0; heaters.len()];
        for _ in 0..steps {
            step(&mut u, heaters, side);
        }
        u
    }

    /// The mean square distance from the data.
    #[gradient(wrt(heaters))]
    pub(crate) fn misfit(heaters: &[f64], data: &[f64], side: usize, steps: usize) -> f64 {
        let mut u = vec![0.0; heaters.len()];
        for _ in 0..steps {
            step(&mut u, heaters, side);
        }
        distance(&u, data)
    }

    /// The same, its time loop recomputed from snapshots.
    #[gradient(wrt(heaters))]
    pub(crate) fn misfit_checkpointed(
        heaters: &[f64],
        data: &[f64],
        side: usize,
        steps: usize,
        slots: usize,
    ) -> f64 {
        let mut u = vec![0.0; heaters.len()];
        #[checkpoint(slots = slots, schedule = Revolve)]
        for _ in 0..steps {
            step(&mut u, heaters, side);
        }
        distance(&u, data)
    }

    /// The same, the rows of each step on all cores.
    #[gradient(wrt(heaters))]
    pub(crate) fn misfit_parallel(heaters: &[f64], data: &[f64], side: usize, steps: usize) -> f64 {
        let mut u = vec![0.0; heaters.len()];
        for _ in 0..steps {
            let old = u.to_vec();
            #[parallel]
            for i in 1..side - 1 {
                for j in 1..side - 1 {
                    let at = side * i + j;
                    u[at] = old[at] + RATE * flow(&old, at, side) + HEATING * heaters[at];
                }
            }
        }
        distance(&u, data)
    }
}

/// The plate, and what is known of it.
struct Problem {
    side: usize,
    steps: usize,
    truth: Vec<f64>,
    data: Vec<f64>,
}

impl Problem {
    fn new(side: usize, steps: usize) -> Self {
        let heater = |at: usize| {
            let place = |cell: usize| (cell as f64 + 0.5) / side as f64;
            let (x, y) = (place(at % side), place(at / side));
            let bump = |cx: f64, cy: f64, r: f64| (-((x - cx).hypot(y - cy) / r).powi(2)).exp();
            bump(0.3, 0.35, 0.12) + 0.7 * bump(0.7, 0.6, 0.15)
        };
        let truth: Vec<f64> = (0..side * side).map(heater).collect();
        let data = plate::heated(&truth, side, steps);
        Self { side, steps, truth, data }
    }

    /// Root mean square distance from the true heaters, relative to these.
    fn error(&self, heaters: &[f64]) -> f64 {
        let norm =
            |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
        norm(&mut heaters.iter().zip(&self.truth).map(|(h, t)| h - t))
            / norm(&mut self.truth.iter().copied())
    }
}

/// Prints what a way took, and compares its gradient with another.
fn report(name: &str, seconds: f64, held: u64, gradient: &[f64], reference: &[f64]) -> Outcome<()> {
    let most = reference.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
    let apart = gradient.iter().zip(reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let same = if apart == 0.0 {
        "the same bits".to_owned()
    } else {
        format!("agrees to {:.0e}", apart / most)
    };
    println!("{name:<32} {:>9.1} ms {:>9.2} MiB   {same}", 1e3 * seconds, mib(held));
    if apart > 1e-10 * most {
        return Err(format!("{name}: the gradient is another").into());
    }
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let side = arguments.next().map_or(Ok(96), |text| text.parse())?;
    let steps = arguments.next().map_or(Ok(400), |text| text.parse())?;
    let pictures = arguments.next();
    let pictures = pictures.as_deref().map(Path::new);
    let problem = Problem::new(side, steps);
    let Problem { data, .. } = &problem;
    let guess = vec![0.0; side * side];
    println!("a plate of {side} × {side} cells, {steps} steps\n");

    println!("1. A first gradient: #[gradient], checked against finite differences");
    let begun = Instant::now();
    let value = misfit(&guess, data, side, steps);
    let function = begun.elapsed().as_secs_f64();
    let mut reference = vec![0.0; guess.len()];
    let begun = Instant::now();
    let same = misfit_grad(&guess, &mut reference, data, side, steps, 1.0);
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(value, same, "the gradient returns the function's value, bit for bit");
    let checked = check::gradient(
        [("heaters", guess.as_slice())],
        |[heaters]| misfit(heaters, data, side, steps),
        |[heaters], [shadow]| misfit_grad(heaters, shadow, data, side, steps, 1.0),
    )?;
    println!(
        "function {:.1} ms, gradient with respect to {} heaters {:.1} ms\n{checked}\n",
        1e3 * function,
        guess.len(),
        1e3 * seconds
    );

    println!(
        "2. What it saves: `stratape explain crates/stratape/examples/tour.rs misfit` tells the same without a run"
    );
    let mut workspace = Workspace::new();
    let mut gradient = vec![0.0; guess.len()];
    // The first call pays for fresh memory, as the first call of every program does.
    let mut seconds = 0.0;
    for _ in 0..2 {
        gradient.fill(0.0);
        let begun = Instant::now();
        misfit_grad_in(&mut workspace, &guess, &mut gradient, data, side, steps, 1.0)?;
        seconds = begun.elapsed().as_secs_f64();
    }
    let tape = workspace.last_bytes();
    println!(
        "the state before each step: {:.2} MiB, {:.1} bytes a cell and step\n",
        mib(tape),
        tape as f64 / (guess.len() * steps) as f64
    );

    println!("3.–5. The same gradient with less memory, or on all cores");
    let held = workspace.stats().resident_peak;
    report("on a tape in memory", seconds, held, &gradient, &reference)?;

    let mut workspace = Workspace::with(TapeOptions::new().record(true))?;
    gradient.fill(0.0);
    let begun = Instant::now();
    misfit_checkpointed_grad_in(
        &mut workspace,
        &guess,
        &mut gradient,
        data,
        side,
        steps,
        SLOTS,
        1.0,
    )?;
    let seconds = begun.elapsed().as_secs_f64();
    let loops = workspace.loops();
    let course = loops.first().ok_or("the loop has left no report")?;
    let held = course.memory_peak as u64 + workspace.stats().resident_peak;
    report("3. #[checkpoint], ten snapshots", seconds, held, &gradient, &reference)?;
    if let Some(directory) = pictures {
        picture::time_loop(course).save(directory.join("tour-loop.svg"))?;
    }

    let budget = (tape as usize / 8).max(512 << 10);
    let options = TapeOptions::new().memory(budget).spill_to(std::env::temp_dir()).record(true);
    let mut workspace = Workspace::with(options)?;
    gradient.fill(0.0);
    let begun = Instant::now();
    misfit_grad_in(&mut workspace, &guess, &mut gradient, data, side, steps, 1.0)?;
    let seconds = begun.elapsed().as_secs_f64();
    let held = workspace.stats().resident_peak;
    report("4. spilled, a part in memory", seconds, held, &gradient, &reference)?;
    if let Some(directory) = pictures {
        picture::tape(&workspace).save(directory.join("tour-tape.svg"))?;
    }

    let mut workspace = Workspace::new();
    gradient.fill(0.0);
    // The first call opens the tapes of the lanes.
    for warm in [false, true] {
        gradient.fill(0.0);
        let begun = Instant::now();
        misfit_parallel_grad_in(&mut workspace, &guess, &mut gradient, data, side, steps, 1.0)?;
        if warm {
            let name = format!("5. #[parallel], {} lanes", workspace.lanes());
            let held = workspace.stats().resident_peak;
            report(&name, begun.elapsed().as_secs_f64(), held, &gradient, &reference)?;
        }
    }

    println!("\n6. The heaters, found by {}", optimiser::NAME);
    let begun = Instant::now();
    let (found, history) = optimiser::minimise(&problem, guess.clone())?;
    let least = history.iter().copied().fold(value, f64::min);
    println!(
        "misfit {value:.2e} → {least:.2e} in {} gradients and {:.2} s; heaters off by {:.0} % → {:.1} %",
        history.len(),
        begun.elapsed().as_secs_f64(),
        100.0 * problem.error(&guess),
        100.0 * problem.error(&found)
    );
    if let Some(directory) = pictures {
        picture::descent(&history).title("The misfit").save(directory.join("tour-descent.svg"))?;
    }
    if least > 0.01 * value || problem.error(&found) > 0.5 * problem.error(&guess) {
        return Err("the heaters should have been found".into());
    }
    println!("the heaters are found");
    Ok(())
}

/// L-BFGS of the crate `argmin`.
#[cfg(feature = "argmin")]
mod optimiser {
    use std::cell::RefCell;

    use argmin::core::{Executor, State};
    use argmin::solver::linesearch::MoreThuenteLineSearch;
    use argmin::solver::quasinewton::LBFGS;
    use stratape::argmin::Objective;

    use super::{ITERATIONS, Outcome, Problem, misfit, misfit_grad};

    pub(super) const NAME: &str = "L-BFGS of argmin";

    /// What was found, and the misfit of each gradient that was taken.
    pub(crate) fn minimise(problem: &Problem, guess: Vec<f64>) -> Outcome<(Vec<f64>, Vec<f64>)> {
        let Problem { data, side, steps, .. } = problem;
        let history = RefCell::new(Vec::new());
        let objective = Objective::new(
            |heaters: &[f64]| misfit(heaters, data, *side, *steps),
            |heaters: &[f64], shadow: &mut [f64]| {
                let value = misfit_grad(heaters, shadow, data, *side, *steps, 1.0);
                history.borrow_mut().push(value);
            },
        );
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10);
        let result = Executor::new(objective, solver)
            .configure(|state| state.param(guess).max_iters(ITERATIONS as u64))
            .run()?;
        let found = result.state().get_best_param().ok_or("no parameters")?.clone();
        drop(result);
        Ok((found, history.into_inner()))
    }
}

/// Gradient descent with the step lengths of Barzilai and Borwein; the feature `argmin` has better ones.
#[cfg(not(feature = "argmin"))]
mod optimiser {
    use super::{ITERATIONS, Outcome, Problem, misfit_grad};

    pub(super) const NAME: &str = "gradient descent (L-BFGS with the feature `argmin`)";

    /// What was found, and the misfit of each gradient that was taken.
    pub(crate) fn minimise(problem: &Problem, guess: Vec<f64>) -> Outcome<(Vec<f64>, Vec<f64>)> {
        let Problem { data, side, steps, .. } = problem;
        let gradient_at = |heaters: &[f64]| {
            let mut shadow = vec![0.0; heaters.len()];
            let value = misfit_grad(heaters, &mut shadow, data, *side, *steps, 1.0);
            (value, shadow)
        };
        let (mut here, (value, mut gradient)) = (guess.clone(), gradient_at(&guess));
        let steepest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        // The first step changes no heater by more than a tenth.
        let mut rate = 0.1 / steepest.max(f64::MIN_POSITIVE);
        let mut history = vec![value];
        let mut best = (value, guess);
        for _ in 0..ITERATIONS {
            let next: Vec<f64> =
                here.iter().zip(&gradient).map(|(h, g)| (h - rate * g).clamp(0.0, 2.0)).collect();
            let (value, turned) = gradient_at(&next);
            let (mut along, mut across) = (0.0, 0.0);
            for i in 0..next.len() {
                let (s, y) = (next[i] - here[i], turned[i] - gradient[i]);
                (along, across) = (along + s * y, across + s * s);
            }
            rate = if along > 0.0 { across / along } else { 2.0 * rate };
            (here, gradient) = (next, turned);
            if value < best.0 {
                best = (value, here.clone());
            }
            history.push(value);
        }
        Ok((best.1, history))
    }
}
