//! thomas: a tridiagonal system solved in place, and the square of its solution.

use super::numbers::Numbers;
use super::program::{Gradient, Inputs, Program};

#[stratape::gradient]
fn thomas(a: &[f64], b: &[f64], c: &[f64], d: &mut [f64]) -> f64 {
    let n = d.len();
    let mut ratio = vec![0.0; n];
    ratio[0] = c[0] / b[0];
    d[0] /= b[0];
    for i in 1..n {
        let pivot = b[i] - a[i] * ratio[i - 1];
        ratio[i] = c[i] / pivot;
        d[i] = (d[i] - a[i] * d[i - 1]) / pivot;
    }
    for i in (0..n - 1).rev() {
        d[i] -= ratio[i] * d[i + 1];
    }
    let mut sum = 0.0;
    for i in 0..n {
        sum += d[i] * d[i];
    }
    sum
}

/// What the elimination leaves behind for the reverse pass, a record a row.
#[derive(Clone, Copy)]
struct Row {
    ratio: f64,
    inverse: f64,
    eliminated: f64,
}

/// `dd` holds the seed of the solution on entry, the adjoint of the right-hand side on return.
/// The reciprocals of the pivots are kept, so that the reverse pass has no division in its chain;
/// the sum of squares joins the reverse of the back substitution.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn shaped(
    a: &[f64],
    da: &mut [f64],
    b: &[f64],
    db: &mut [f64],
    c: &[f64],
    dc: &mut [f64],
    d: &mut [f64],
    dd: &mut [f64],
    seed: f64,
) -> f64 {
    let n = d.len();
    let (a, da, b, db) = (&a[..n], &mut da[..n], &b[..n], &mut db[..n]);
    let (c, dc, dd) = (&c[..n], &mut dc[..n], &mut dd[..n]);
    let (mut ratio, mut eliminated) = (0.0, 0.0);
    let eliminate = |i| {
        let (pivot, rest) = match i {
            0 => (b[0], d[0]),
            _ => (b[i] - a[i] * ratio, d[i] - a[i] * eliminated),
        };
        ratio = c[i] / pivot;
        eliminated = rest / pivot;
        Row { ratio, inverse: 1.0 / pivot, eliminated }
    };
    let rows: Vec<Row> = (0..n).map(eliminate).collect();
    let mut solution = 0.0;
    for (i, (d, row)) in d.iter_mut().zip(&rows).enumerate().rev() {
        solution = if i + 1 == n { row.eliminated } else { row.eliminated - row.ratio * solution };
        *d = solution;
    }

    let mut sum = 0.0;
    let mut carried = 0.0;
    for ((row, d), dd) in rows.iter().zip(&*d).zip(&mut *dd) {
        sum += d * d;
        *dd += 2.0 * seed * d - carried;
        carried = row.ratio * *dd;
    }
    let (mut from_eliminated, mut from_ratio, mut next) = (0.0, 0.0, 0.0);
    for i in (0..n).rev() {
        let row = rows[i];
        let dratio = -(dd[i] * next + from_ratio) * row.inverse;
        let adjoint = (dd[i] - from_eliminated) * row.inverse;
        let dpivot = -(adjoint * row.eliminated + dratio * row.ratio);
        next = d[i];
        dd[i] = adjoint;
        dc[i] += dratio;
        db[i] += dpivot;
        if i > 0 {
            let before = rows[i - 1];
            da[i] -= adjoint * before.eliminated + dpivot * before.ratio;
            from_eliminated = a[i] * adjoint;
            from_ratio = a[i] * dpivot;
        }
    }
    sum
}

type Adjoint = fn(
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &mut [f64],
    &mut [f64],
    f64,
) -> f64;

/// The right-hand side is overwritten, and so is its shadow: each call starts from a copy of the
/// one and, the solution having no other use, from zeros in the other.
fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let Inputs { active, scratch, .. } = inputs;
        let [a, b, c, d] = active.as_array().expect("three diagonals and a right-hand side");
        let [da, db, dc, dd] = shadows.each();
        scratch.copy_from_slice(d);
        dd.fill(0.0);
        adjoint(a, da, b, db, c, dc, scratch, dd, 1.0)
    })
}

pub(super) fn program(n: usize) -> Program {
    let mut numbers = Numbers::from_seed(16);
    let a = numbers.array(n, -1.0, 1.0);
    let b = numbers.array(n, 3.0, 4.0);
    let c = numbers.array(n, -1.0, 1.0);
    let d = numbers.array(n, -1.0, 1.0);
    Program {
        name: "thomas",
        inputs: Inputs { active: vec![a, b, c, d], scratch: vec![0.0; n], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let Inputs { active, scratch, .. } = inputs;
            let [a, b, c, d] = active.as_array().expect("three diagonals and a right-hand side");
            scratch.copy_from_slice(d);
            thomas(a, b, c, scratch)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(thomas_grad),
        state_bytes: None,
        expected: None,
    }
}
