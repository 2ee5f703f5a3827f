//! What the tests share: gradients of the two objectives, comparisons, and random numbers.

#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

use stratape::Workspace;
use stratape_lulesh::{Problem, Vec3, evolve, evolve_grad};

/// What is differentiated, a weighted sum of the last energies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// The energy of the element at the origin.
    Origin,
    /// The sum of all energies.
    Total,
}

impl Objective {
    pub const BOTH: [Objective; 2] = [Objective::Origin, Objective::Total];

    pub fn weights(self, elements: usize) -> Vec<f64> {
        match self {
            Objective::Origin => {
                let mut weights = vec![0.0; elements];
                weights[0] = 1.0;
                weights
            }
            Objective::Total => vec![1.0; elements],
        }
    }

    pub fn of(self, energies: &[f64]) -> f64 {
        match self {
            Objective::Origin => energies[0],
            Objective::Total => energies.iter().sum(),
        }
    }

    /// The objective after a run.
    pub fn value(self, problem: &Problem, steps: usize) -> f64 {
        let mut energies = problem.energy.clone();
        evolve(&problem.mesh, &problem.position, &mut energies, steps);
        self.of(&energies)
    }
}

/// A run and its gradient.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The time reached.
    pub time: f64,
    /// The last energies.
    pub energies: Vec<f64>,
    pub by_position: Vec<Vec3>,
    pub by_energy: Vec<f64>,
}

impl Gradient {
    /// The gradient of the objective after a run.
    pub fn new(problem: &Problem, objective: Objective, steps: usize) -> Self {
        Self::weighted(problem, objective.weights(problem.energy.len()), steps, 0.0)
    }

    /// The gradient of any weighted sum of the last energies and the time.
    pub fn weighted(problem: &Problem, weights: Vec<f64>, steps: usize, of_time: f64) -> Self {
        Self::by(problem, weights, |position, energies, by_energy| {
            let (mesh, start) = (&problem.mesh, &problem.position);
            evolve_grad(mesh, start, position, energies, by_energy, steps, of_time)
        })
    }

    /// What `gradient` makes of the shadows of the coordinates, the first energies, and the weights of the last ones.
    pub fn by(
        problem: &Problem,
        weights: Vec<f64>,
        gradient: impl FnOnce(&mut [Vec3], &mut [f64], &mut [f64]) -> f64,
    ) -> Self {
        let mut energies = problem.energy.clone();
        let mut by_position = vec![Vec3::ZERO; problem.position.len()];
        let mut by_energy = weights;
        let time = gradient(&mut by_position, &mut energies, &mut by_energy);
        Self { time, energies, by_position, by_energy }
    }

    pub fn along_position(&self, direction: &[Vec3]) -> f64 {
        self.by_position.iter().zip(direction).map(|(d, by)| d.dot(*by)).sum()
    }

    pub fn along_energy(&self, direction: &[f64]) -> f64 {
        self.by_energy.iter().zip(direction).map(|(d, by)| d * by).sum()
    }

    pub fn position_norm(&self) -> f64 {
        self.by_position.iter().map(|d| d.dot(*d)).sum::<f64>().sqrt()
    }

    pub fn energy_norm(&self) -> f64 {
        self.by_energy.iter().map(|d| d * d).sum::<f64>().sqrt()
    }

    /// Fails unless another gradient of the objective is this one: values to the bit, derivatives but for an error relative to their norms.
    #[track_caller]
    pub fn agrees(&self, found: &Self, objective: Objective, relative: f64) {
        assert_eq!(found.time.to_bits(), self.time.to_bits());
        assert_eq!(found.energies, self.energies);
        let size = self.position_norm() + objective.of(&self.energies);
        for (a, b) in found.by_position.iter().zip(&self.by_position) {
            for (a, b) in [(a.x, b.x), (a.y, b.y), (a.z, b.z)] {
                near("an entry of ∂r", a, b, relative * size);
            }
        }
        for (a, b) in found.by_energy.iter().zip(&self.by_energy) {
            near("an entry of ∂e", *a, *b, relative * self.energy_norm());
        }
    }

    /// All bits, to tell two gradients apart.
    pub fn bits(&self) -> Vec<u64> {
        let coordinates = self.by_position.iter().flat_map(|d| [d.x, d.y, d.z]);
        let numbers = [self.time].into_iter().chain(self.energies.iter().copied());
        numbers.chain(coordinates).chain(self.by_energy.iter().copied()).map(f64::to_bits).collect()
    }
}

/// A workspace with so many lanes.
pub fn on_lanes(lanes: usize) -> Workspace {
    let mut workspace = Workspace::new();
    workspace.set_lanes(lanes);
    workspace
}

/// Fails unless the number is the expected one, but for a relative error. An expected 0 must be exact.
#[track_caller]
pub fn close(what: &str, number: f64, expected: f64, relative: f64) {
    near(what, number, expected, relative * expected.abs());
}

/// Fails unless the number is the expected one, but for an absolute error.
#[track_caller]
pub fn near(what: &str, number: f64, expected: f64, error: f64) {
    assert!(
        (number - expected).abs() <= error,
        "{what}: {number:.16e} instead of {expected:.16e}, off by {:.1e}, allowed are {error:.1e}",
        (number - expected).abs()
    );
}

/// Uniform numbers, the same in every run (a 64-bit linear congruence).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number in [low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// The next whole number in low..high.
    pub fn below(&mut self, low: usize, high: usize) -> usize {
        self.within(low as f64, high as f64) as usize
    }
}
