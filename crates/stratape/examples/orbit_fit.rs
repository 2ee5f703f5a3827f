//! An orbit fitted to observations: `cargo run --release --example orbit_fit -p stratape`.
//!
//! A small body passes a star and a planet. From where it was seen, its initial velocity and the mass of the planet are found.
//! The simulation is made of structs and methods: with `#[stratape::differentiable]` on the module, `#[gradient]` sees them all.

use std::error::Error;

#[stratape::differentiable]
mod gravity {
    const STEP: f64 = 0.01;
    /// Steps from one observation to the next.
    const BETWEEN: usize = 20;

    #[derive(Clone, Copy)]
    pub(super) struct Vector {
        pub(super) x: f64,
        pub(super) y: f64,
    }

    #[derive(Clone, Copy)]
    pub(super) struct Body {
        pub(super) position: Vector,
        pub(super) velocity: Vector,
        pub(super) mass: f64,
    }

    /// What is not known.
    #[derive(Clone, Copy)]
    pub(super) struct Unknown {
        pub(super) velocity: Vector,
        pub(super) planet: f64,
    }

    impl Vector {
        fn plus(&self, length: f64, other: &Vector) -> Vector {
            Vector { x: self.x + length * other.x, y: self.y + length * other.y }
        }
    }

    impl Body {
        /// The acceleration that this body causes at a place.
        fn pull(&self, at: &Vector) -> Vector {
            let (x, y) = (self.position.x - at.x, self.position.y - at.y);
            let square = x * x + y * y + 1e-4;
            let strength = self.mass / (square * square.sqrt());
            Vector { x: strength * x, y: strength * y }
        }
    }

    /// The star, the planet on its way around it, and the small body.
    fn bodies(unknown: &Unknown) -> [Body; 3] {
        let rest = Vector { x: 0.0, y: 0.0 };
        [
            Body { position: rest, velocity: rest, mass: 1.0 },
            Body {
                position: Vector { x: 2.0, y: 0.0 },
                velocity: Vector { x: 0.0, y: 0.7 },
                mass: unknown.planet,
            },
            Body { position: Vector { x: 1.0, y: 0.0 }, velocity: unknown.velocity, mass: 0.0 },
        ]
    }

    /// All velocities first, then all positions: orbits stay closed.
    fn step(bodies: &mut [Body; 3]) {
        for i in 0..3 {
            let here = bodies[i].position;
            for j in 0..3 {
                if j != i {
                    let pull = bodies[j].pull(&here);
                    bodies[i].velocity = bodies[i].velocity.plus(STEP, &pull);
                }
            }
        }
        for body in bodies.iter_mut() {
            body.position = body.position.plus(STEP, &body.velocity);
        }
    }

    /// Where the small body is seen.
    pub(super) fn observe(unknown: &Unknown, seen: &mut [f64]) {
        let mut bodies = bodies(unknown);
        for k in 0..seen.len() / 2 {
            for _ in 0..BETWEEN {
                step(&mut bodies);
            }
            seen[2 * k] = bodies[2].position.x;
            seen[2 * k + 1] = bodies[2].position.y;
        }
    }

    /// The mean square distance between where it should be seen and where it was.
    #[gradient(wrt(unknown))]
    pub(super) fn misfit(unknown: &Unknown, observed: &[f64]) -> f64 {
        let mut seen = vec![0.0; observed.len()];
        observe(unknown, &mut seen);
        let mut sum = 0.0;
        for i in 0..seen.len() {
            sum += (seen[i] - observed[i]) * (seen[i] - observed[i]);
        }
        sum / seen.len() as f64
    }
}

use gravity::{Unknown, Vector};

/// The unknowns as a list, for arithmetic.
fn list(u: &Unknown) -> [f64; 3] {
    [u.velocity.x, u.velocity.y, u.planet]
}

fn unknown([x, y, planet]: [f64; 3]) -> Unknown {
    Unknown { velocity: Vector { x, y }, planet }
}

fn main() -> Result<(), Box<dyn Error>> {
    let truth = [0.1, 1.1, 0.05];
    let mut observed = [0.0; 40];
    gravity::observe(&unknown(truth), &mut observed);

    let gradient_at = |at: [f64; 3]| {
        let mut shadow = unknown([0.0; 3]);
        let value = gravity::misfit_grad(&unknown(at), &mut shadow, &observed, 1.0);
        (value, list(&shadow))
    };
    // Gradient descent with the step lengths of Barzilai and Borwein.
    let guess = [0.0, 1.0, 0.0];
    let (first, mut slope) = gradient_at(guess);
    let (mut at, mut value, mut rate, mut iterations) = (guess, first, 1e-3, 0);
    while value > 1e-14 && iterations < 400 {
        let next: [f64; 3] = std::array::from_fn(|i| at[i] - rate * slope[i]);
        let (next_value, next_slope) = gradient_at(next);
        let (mut along, mut turned) = (0.0, 0.0);
        for i in 0..3 {
            let (s, y) = (next[i] - at[i], next_slope[i] - slope[i]);
            (along, turned) = (along + s * y, turned + y * y);
        }
        rate = if along > 0.0 { along / turned } else { rate };
        (at, value, slope, iterations) = (next, next_value, next_slope, iterations + 1);
    }
    println!("misfit {first:.1e} → {value:.1e} in {iterations} iterations");
    println!("velocity ({:.6}, {:.6}), mass of the planet {:.6}", at[0], at[1], at[2]);
    println!("  truth  ({:.6}, {:.6}),                    {:.6}", truth[0], truth[1], truth[2]);
    let furthest = at.iter().zip(truth).map(|(a, t)| (a - t).abs()).fold(0.0, f64::max);
    if furthest > 1e-5 {
        return Err(format!("off by {furthest:e}").into());
    }
    Ok(())
}
