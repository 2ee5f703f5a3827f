//! pathfinder: the cheapest way through 128 rows of 256 cells, a step to a neighbour at most.

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

const ROWS: usize = 128;
const COLS: usize = 256;

#[stratape::gradient(wrt(wall))]
fn pathfinder(wall: &[f64], s: &[f64]) -> f64 {
    let mut buf = vec![0.0; ROWS * COLS];
    for n in 0..COLS {
        buf[n] = wall[n];
    }
    for t in 0..ROWS - 1 {
        for n in 0..COLS {
            let mut least = buf[t * COLS + n];
            if n > 0 {
                if buf[t * COLS + n - 1] < least {
                    least = buf[t * COLS + n - 1];
                }
            }
            if n + 1 < COLS {
                if buf[t * COLS + n + 1] < least {
                    least = buf[t * COLS + n + 1];
                }
            }
            buf[(t + 1) * COLS + n] = wall[(t + 1) * COLS + n] + least;
        }
    }
    let mut sum = 0.0;
    for n in 0..COLS {
        sum += s[n] * buf[(ROWS - 1) * COLS + n];
    }
    sum
}

/// A row with one more cell at either end.
const PADDED: usize = COLS + 2;
/// No path comes from beyond the edge.
const NO_WAY: f64 = f64::INFINITY;

/// The rows are padded, so that the edges are no special case. The reverse pass repeats the
/// comparisons and gathers from the three cells that may have come from here.
fn shaped(wall: &[f64], dwall: &mut [f64], s: &[f64], seed: f64) -> f64 {
    let walls = wall.as_chunks::<COLS>().0.as_array::<ROWS>().expect("a wall of this size");
    let dwalls = dwall.as_chunks_mut::<COLS>().0.as_mut_array::<ROWS>().expect("its shadow");
    let s: &[f64; COLS] = s.as_array().expect("a weight a column");
    let mut paths = Vec::with_capacity(ROWS);
    let mut path = [NO_WAY; PADDED];
    path[1..=COLS].copy_from_slice(&walls[0]);
    for wall in &walls[1..] {
        paths.push(path);
        advance(&paths[paths.len() - 1], wall, &mut path);
    }
    let mut sum = 0.0;
    for n in 0..COLS {
        sum += s[n] * path[n + 1];
    }

    let mut adjoint = [0.0; COLS];
    for n in 0..COLS {
        adjoint[n] = seed * s[n];
    }
    let mut sent = Sent { left: [0.0; PADDED], mid: [0.0; PADDED], right: [0.0; PADDED] };
    for (from, dwall) in paths.iter().zip(&mut dwalls[1..]).rev() {
        for n in 0..COLS {
            dwall[n] += adjoint[n];
        }
        retreat(from, &mut adjoint, &mut sent);
    }
    for n in 0..COLS {
        dwalls[0][n] += adjoint[n];
    }
    sum
}

/// One row further.
fn advance(from: &[f64; PADDED], wall: &[f64; COLS], to: &mut [f64; PADDED]) {
    for n in 0..COLS {
        let (left, mid, right) = (from[n], from[n + 1], from[n + 2]);
        let least = if left < mid { left } else { mid };
        let least = if right < least { right } else { least };
        to[n + 1] = wall[n] + least;
    }
}

/// What each cell of a row sends to the three before it. The cells beyond the edge send nothing.
struct Sent {
    left: [f64; PADDED],
    mid: [f64; PADDED],
    right: [f64; PADDED],
}

/// One row back: from the adjoint of a row to that of the row before.
fn retreat(from: &[f64; PADDED], adjoint: &mut [f64; COLS], sent: &mut Sent) {
    for n in 0..COLS {
        let (left, mid, right) = (from[n], from[n + 1], from[n + 2]);
        let least = if left < mid { left } else { mid };
        let to_right = if right < least { adjoint[n] } else { 0.0 };
        let to_others = adjoint[n] - to_right;
        let to_left = if left < mid { to_others } else { 0.0 };
        sent.right[n + 1] = to_right;
        sent.left[n + 1] = to_left;
        sent.mid[n + 1] = to_others - to_left;
    }
    for n in 0..COLS {
        adjoint[n] = sent.right[n] + sent.mid[n + 1] + sent.left[n + 2];
    }
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([wall], [s]) = (inputs.active(), inputs.constant());
        let [dwall] = shadows.each();
        adjoint(wall, dwall, s, 1.0)
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(8);
    let wall = numbers.array(ROWS * COLS, 0.9, 1.1);
    let s = numbers.array(COLS, -1.0, 1.0);
    Program {
        name: "pathfinder",
        inputs: Inputs { active: vec![wall], constant: vec![s], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let ([wall], [s]) = (inputs.active(), inputs.constant());
            pathfinder(wall, s)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(pathfinder_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: -272.874_448_754_087_95,
            sum: -289.957_573_939_529_2,
            norm: 116.214_641_432_975_23,
            weighted: 20.862_799_146_994_774,
        }),
    }
}
