//! limiter: Burgers' equation by a scheme of second order with a flux limiter, and the distance of its end from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[stratape::differentiable]
mod scheme {
    fn minmod(a: f64, b: f64) -> f64 {
        if a * b <= 0.0 {
            0.0
        } else if a.abs() < b.abs() {
            a
        } else {
            b
        }
    }

    /// The flux of Lax and Friedrichs between two cells.
    fn flux(left: f64, right: f64) -> f64 {
        let speed = left.abs().max(right.abs());
        0.25 * (left * left + right * right) - 0.5 * speed * (right - left)
    }

    #[gradient(wrt(initial))]
    pub(super) fn misfit(initial: &[f64], target: &[f64], ratio: f64, steps: usize) -> f64 {
        let n = initial.len();
        let mut u = initial.to_vec();
        for _ in 0..steps {
            let slopes: Vec<f64> = (0..n)
                .map(|i| {
                    let (left, right) = (u[(i + n - 1) % n], u[(i + 1) % n]);
                    minmod(u[i] - left, right - u[i])
                })
                .collect();
            let fluxes: Vec<f64> = (0..n)
                .map(|i| {
                    let next = (i + 1) % n;
                    flux(u[i] + 0.5 * slopes[i], u[next] - 0.5 * slopes[next])
                })
                .collect();
            for i in 0..n {
                u[i] -= ratio * (fluxes[i] - fluxes[(i + n - 1) % n]);
            }
        }
        u.iter().zip(target).map(|(u, t)| (u - t).powi(2)).sum()
    }
}

const RATIO: f64 = 0.2;

/// The differences of a cell from the one before and of the one after from it, and which of them is its slope.
fn slope(left: f64, here: f64, right: f64) -> (f64, f64, f64) {
    let (a, b) = (here - left, right - here);
    let (chosen, by_a) = if a.abs() < b.abs() { (a, 1.0) } else { (b, 0.0) };
    if a * b <= 0.0 { (0.0, 0.0, 0.0) } else { (chosen, by_a, 1.0 - by_a) }
}

/// What goes round: two cells more at each end of `all`, copies of those at the other.
fn close(all: &mut [f64]) {
    let n = all.len() - 4;
    all.copy_within(n..n + 2, 0);
    all.copy_within(2..4, n + 2);
}

/// Keeps the state before every step, with two more cells at each end so that nothing need be counted round.
fn by_hand(
    initial: &[f64],
    dinitial: &mut [f64],
    target: &[f64],
    ratio: f64,
    steps: usize,
    seed: f64,
) -> f64 {
    let n = initial.len();
    let mut u = vec![0.0; n + 4];
    u[2..n + 2].copy_from_slice(initial);
    let mut states = Vec::with_capacity(steps * (n + 4));
    // Of the cells from the last before the first to the first after the last, and of the faces between them.
    let (mut slopes, mut fluxes) = (vec![0.0; n + 2], vec![0.0; n + 1]);
    for _ in 0..steps {
        close(&mut u);
        states.extend_from_slice(&u);
        for (s, u) in slopes.iter_mut().zip(u.array_windows::<3>()) {
            (*s, _, _) = slope(u[0], u[1], u[2]);
        }
        for ((f, u), s) in
            fluxes.iter_mut().zip(u[1..].array_windows::<2>()).zip(slopes.array_windows::<2>())
        {
            let (left, right) = (u[0] + 0.5 * s[0], u[1] - 0.5 * s[1]);
            let (a, b) = (left.abs(), right.abs());
            let speed = if a > b { a } else { b };
            *f = 0.25 * (left * left + right * right) - 0.5 * speed * (right - left);
        }
        for (u, f) in u[2..].iter_mut().zip(fluxes.array_windows::<2>()) {
            *u -= ratio * (f[1] - f[0]);
        }
    }

    let mut misfit = 0.0;
    // As `u`, with as many cells more at each end.
    let mut du = vec![0.0; n + 4];
    for ((du, u), target) in du[2..].iter_mut().zip(&u[2..]).zip(target) {
        misfit += (u - target) * (u - target);
        *du = 2.0 * seed * (u - target);
    }
    // Of the cells from the last before the first to the first after the last: how the slope follows the differences
    // of its cell; and the adjoints of the values to the left of the face after a cell and to the right of that before.
    let (mut by_a, mut by_b) = (vec![0.0; n + 2], vec![0.0; n + 2]);
    let (mut dlefts, mut drights) = (vec![0.0; n + 4], vec![0.0; n + 4]);
    let (mut das, mut dbs) = (vec![0.0; n + 4], vec![0.0; n + 4]);
    for u in states.chunks_exact(n + 4).rev() {
        close(&mut du);
        for i in 0..n + 2 {
            (slopes[i], by_a[i], by_b[i]) = slope(u[i], u[i + 1], u[i + 2]);
        }
        let (slopes, next_slopes) = (&slopes[..n + 1], &slopes[1..][..n + 1]);
        let (cells, next_cells) = (&u[1..][..n + 1], &u[2..][..n + 1]);
        let (dcells, next_dcells) = (&du[1..][..n + 1], &du[2..][..n + 1]);
        let (lefts, rights) = (&mut dlefts[1..][..n + 1], &mut drights[2..][..n + 1]);
        for i in 0..n + 1 {
            let dflux = 0.5 * ratio * (next_dcells[i] - dcells[i]);
            let (left, right) = (cells[i] + 0.5 * slopes[i], next_cells[i] - 0.5 * next_slopes[i]);
            let (a, b, apart) = (left.abs(), right.abs(), right - left);
            let by_left = if a > b { apart.copysign(apart * left) } else { 0.0 };
            let by_right = if a > b { 0.0 } else { apart.copysign(apart * right) };
            let speed = if a > b { a } else { b };
            lefts[i] = dflux * (left + speed - by_left);
            rights[i] = dflux * (right - speed - by_right);
        }
        close(&mut dlefts);
        close(&mut drights);
        for i in 0..n + 2 {
            let dslope = 0.5 * (dlefts[i + 1] - drights[i + 1]);
            das[i + 1] = dslope * by_a[i];
            dbs[i + 1] = dslope * by_b[i];
        }
        for i in 2..n + 2 {
            du[i] += dlefts[i] + drights[i] + (das[i] - das[i + 1]) + (dbs[i - 1] - dbs[i]);
        }
    }
    for (dinitial, du) in dinitial.iter_mut().zip(&du[2..]) {
        *dinitial += du;
    }
    misfit
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], f64, usize, f64) -> f64;

fn calling(adjoint: Adjoint, steps: usize) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([initial], [target]) = (inputs.active(), inputs.constant());
        let [dinitial] = shadows.each();
        adjoint(initial, dinitial, target, RATIO, steps, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (n, steps) = (scale.or_small(200, 17), scale.or_small(50, 6));
    let mut numbers = Numbers::from_seed(120);
    let wave = |i: usize| (i as f64 / n as f64 * std::f64::consts::TAU).sin();
    let initial = (0..n).map(|i| 1.0 + 0.5 * wave(i) + numbers.within(-0.1, 0.1)).collect();
    let target = numbers.array(n, 0.5, 1.5);
    let inputs = Inputs { active: vec![initial], constant: vec![target], ..Inputs::default() };
    let primal = move |inputs: &mut Inputs| {
        let ([initial], [target]) = (inputs.active(), inputs.constant());
        scheme::misfit(initial, target, RATIO, steps)
    };
    Program::new("limiter", inputs, primal, calling(scheme::misfit_grad, steps))
        .with_by_hand(calling(by_hand, steps))
        .with_state((steps - 1) * n * size_of::<f64>())
}
