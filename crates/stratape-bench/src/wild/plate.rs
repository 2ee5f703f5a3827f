//! plate: explicit steps of heat conduction in a plate that conducts better where it is hot.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

const RATE: f64 = 0.1;

#[stratape::differentiable]
mod conduction {
    use super::RATE;

    fn conductivity(u: f64) -> f64 {
        1.0 + u * u
    }

    #[gradient(wrt(initial))]
    pub(super) fn heat(initial: &[f64], weights: &[f64], width: usize, steps: usize) -> f64 {
        let height = initial.len() / width;
        let mut u = initial.to_vec();
        let mut next = vec![0.0; initial.len()];
        for _ in 0..steps {
            for y in 1..height - 1 {
                for x in 1..width - 1 {
                    let i = y * width + x;
                    let here = conductivity(u[i]);
                    let left = 0.5 * (here + conductivity(u[i - 1]));
                    let right = 0.5 * (here + conductivity(u[i + 1]));
                    let above = 0.5 * (here + conductivity(u[i - width]));
                    let below = 0.5 * (here + conductivity(u[i + width]));
                    let flow = left * (u[i - 1] - u[i])
                        + right * (u[i + 1] - u[i])
                        + above * (u[i - width] - u[i])
                        + below * (u[i + width] - u[i]);
                    next[i] = u[i] + RATE * flow;
                }
            }
            for y in 1..height - 1 {
                let (start, end) = (y * width + 1, (y + 1) * width - 1);
                u[start..end].copy_from_slice(&next[start..end]);
            }
        }
        u.iter().zip(weights).map(|(u, s)| s * u).sum()
    }
}

/// Keeps the state after every step; the edges of the plate stay as they are. What flows from one cell to another is
/// half of (a² + b² + 2)(a − b).
fn by_hand(
    initial: &[f64],
    dinitial: &mut [f64],
    weights: &[f64],
    width: usize,
    steps: usize,
    seed: f64,
) -> f64 {
    let cells = initial.len();
    let (height, inner) = (cells / width, width - 2);
    let mut states: Vec<f64> = Vec::with_capacity(steps * cells);
    let mut next = initial.to_vec();
    for step in 0..steps {
        let u = if step == 0 { initial } else { &states[(step - 1) * cells..] };
        for row in (1..height - 1).map(|y| y * width) {
            let out = &mut next[row + 1..][..inner];
            let here = &u[row + 1..][..inner];
            let (left, right) = (&u[row..][..inner], &u[row + 2..][..inner]);
            let (above, below) = (&u[row + 1 - width..][..inner], &u[row + 1 + width..][..inner]);
            for x in 0..inner {
                let a = here[x];
                let own = 2.0 + a * a;
                let from = |b: f64| (own + b * b) * (b - a);
                let flow = (from(left[x]) + from(right[x])) + (from(above[x]) + from(below[x]));
                out[x] = a + 0.5 * RATE * flow;
            }
        }
        states.extend_from_slice(&next);
    }
    let heat = next.iter().zip(weights).map(|(u, s)| s * u).sum();

    // The edges have their adjoints in `dinitial`, and zeros here.
    let mut du = vec![0.0; cells];
    for (dinitial, weight) in dinitial.iter_mut().zip(weights) {
        *dinitial += seed * weight;
    }
    for row in (1..height - 1).map(|y| y * width + 1) {
        for i in row..row + inner {
            du[i] = seed * weights[i];
            dinitial[i] -= du[i];
        }
    }
    let mut dbefore = vec![0.0; cells];
    for step in (0..steps).rev() {
        let u = if step == 0 { initial } else { &states[(step - 1) * cells..][..cells] };
        for row in (1..height - 1).map(|y| y * width) {
            let out = &mut dbefore[row + 1..][..inner];
            let here = &u[row + 1..][..inner];
            let (left, right) = (&u[row..][..inner], &u[row + 2..][..inner]);
            let (above, below) = (&u[row + 1 - width..][..inner], &u[row + 1 + width..][..inner]);
            let dhere = &du[row + 1..][..inner];
            let (dleft, dright) = (&du[row..][..inner], &du[row + 2..][..inner]);
            let (dabove, dbelow) =
                (&du[row + 1 - width..][..inner], &du[row + 1 + width..][..inner]);
            for x in 0..inner {
                let (a, da) = (here[x], dhere[x]);
                let (own, twice) = (2.0 + 3.0 * a * a, 2.0 * a);
                let to = |b: f64, db: f64| (da - db) * (own + b * (b - twice));
                let across = to(left[x], dleft[x]) + to(right[x], dright[x]);
                let along = to(above[x], dabove[x]) + to(below[x], dbelow[x]);
                out[x] = da - 0.5 * RATE * (across + along);
            }
        }
        let mut from_edge = |edge: usize, inside: usize| {
            let (a, b) = (u[inside], u[edge]);
            dinitial[edge] += 0.5 * RATE * du[inside] * (2.0 + a * a + b * (3.0 * b - 2.0 * a));
        };
        for x in 1..width - 1 {
            from_edge(x, x + width);
            from_edge(cells - width + x, cells - 2 * width + x);
        }
        for row in (1..height - 1).map(|y| y * width) {
            from_edge(row, row + 1);
            from_edge(row + width - 1, row + width - 2);
        }
        std::mem::swap(&mut du, &mut dbefore);
    }
    for (dinitial, du) in dinitial.iter_mut().zip(&du) {
        *dinitial += du;
    }
    heat
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], usize, usize, f64) -> f64;

fn calling(adjoint: Adjoint) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([u], [weights], [sizes]) = (inputs.active(), inputs.constant(), inputs.indices());
        let [du] = shadows.each();
        adjoint(u, du, weights, sizes[0], sizes[1], 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let (width, height) = (scale.or_small(128, 9), scale.or_small(128, 7));
    let steps = scale.or_small(50, 5);
    let mut numbers = Numbers::from_seed(127);
    let initial = numbers.array(width * height, 0.0, 1.0);
    let weights = numbers.array(width * height, 0.0, 1.0);
    let inputs = Inputs {
        active: vec![initial],
        constant: vec![weights],
        indices: vec![vec![width, steps]],
        ..Inputs::default()
    };
    let primal = |inputs: &mut Inputs| {
        let ([u], [weights], [sizes]) = (inputs.active(), inputs.constant(), inputs.indices());
        conduction::heat(u, weights, sizes[0], sizes[1])
    };
    Program::new("plate", inputs, primal, calling(conduction::heat_grad))
        .with_by_hand(calling(by_hand))
        .with_state((steps - 1) * (width - 2) * (height - 2) * size_of::<f64>())
}
