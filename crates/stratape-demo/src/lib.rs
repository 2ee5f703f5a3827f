//! The inverse problem of `stratape demo`: heat in a square plate whose conductivity grows with its temperature, held cold at its edges.
//!
//! A package of its own, so that it alone is optimised where the command that shows it need not be.
//!
//! ```
//! use stratape_demo::{Problem, plate};
//!
//! let problem = Problem { side: 8, steps: 5, slots: 2, iterations: 1, quick: true };
//! let (start, data) = (problem.truth(), vec![0.0; problem.cells()]);
//! let mut gradient = vec![0.0; problem.cells()];
//! let misfit = plate::misfit_grad(&start, &mut gradient, &data, problem.side, problem.steps, 1.0);
//! assert_eq!(misfit, plate::misfit(&start, &data, problem.side, problem.steps));
//! assert!(gradient.iter().any(|slope| *slope > 0.0));
//! ```

#![forbid(unsafe_code)]

/// This file, to be shown.
pub const SOURCE: &str = include_str!("lib.rs");

/// How a problem is set.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Cells along an edge.
    pub side: usize,
    /// Time steps.
    pub steps: usize,
    /// Snapshots of the time loop.
    pub slots: usize,
    /// Iterations of the descent.
    pub iterations: usize,
    /// Whether it is the small one.
    pub quick: bool,
}

impl Problem {
    /// The problem of the demo, or of its `--quick`.
    pub fn new(quick: bool) -> Self {
        if quick {
            Self { side: 48, steps: 500, slots: 12, iterations: 10, quick }
        } else {
            Self { side: 128, steps: 600, slots: 24, iterations: 60, quick }
        }
    }

    /// Cells of the plate.
    pub fn cells(&self) -> usize {
        self.side * self.side
    }

    /// The field that is looked for: a bar, a disc and a ring.
    pub fn truth(&self) -> Vec<f64> {
        let at = |index: usize| (index as f64 + 0.5) / self.side as f64;
        (0..self.cells())
            .map(|index| {
                let (x, y) = (at(index % self.side), at(index / self.side));
                let bar = (0.15..0.85).contains(&x) && (0.15..0.27).contains(&y);
                let disc = (x - 0.28).hypot(y - 0.62) < 0.13;
                let ring = ((x - 0.68).hypot(y - 0.62) - 0.16).abs() < 0.05;
                if bar || disc || ring { 1.0 } else { 0.1 }
            })
            .collect()
    }

    /// Where a start ends.
    pub fn run(&self, start: &[f64]) -> Vec<f64> {
        let mut u = start.to_vec();
        for _ in 0..self.steps {
            plate::step(&mut u, self.side);
        }
        u
    }
}

/// One step, and the misfit after many, with its gradients.
#[stratape::differentiable]
pub mod plate {
    /// Time step over the square of the mesh width.
    pub const RATE: f64 = 0.04;

    /// One step: what flows between two cells is their difference times the mean of their conductivities, 1 + 2u².
    pub fn step(u: &mut [f64], side: usize) {
        let old = u.to_vec();
        for i in 1..side - 1 {
            for j in 1..side - 1 {
                let at = side * i + j;
                let here = old[at];
                let (left, right) = (old[at - 1], old[at + 1]);
                let (above, below) = (old[at - side], old[at + side]);
                let k = 1.0 + here * here;
                let flow = (k + left * left) * (left - here)
                    + (k + right * right) * (right - here)
                    + (k + above * above) * (above - here)
                    + (k + below * below) * (below - here);
                u[at] = here + RATE * flow;
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

    /// The mean square distance of where `start` ends from `data`, every step on the tape.
    #[gradient(wrt(start))]
    pub fn misfit(start: &[f64], data: &[f64], side: usize, steps: usize) -> f64 {
        let mut u = start.to_vec();
        for _ in 0..steps {
            step(&mut u, side);
        }
        distance(&u, data)
    }

    /// The same, its time loop run again from snapshots.
    #[gradient(wrt(start))]
    pub fn misfit_again(
        start: &[f64],
        data: &[f64],
        side: usize,
        steps: usize,
        slots: usize,
    ) -> f64 {
        let mut u = start.to_vec();
        #[checkpoint(slots = slots, schedule = Revolve)]
        for _ in 0..steps {
            step(&mut u, side);
        }
        distance(&u, data)
    }
}
