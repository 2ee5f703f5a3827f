//! mttkrp: a matricised tensor times a Khatri-Rao product, all sizes 8.

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

const SIZE: usize = 8;

#[stratape::gradient(wrt(b, d, c))]
fn mttkrp(b: &[f64], d: &[f64], c: &[f64], s: &[f64]) -> f64 {
    let mut a = vec![0.0; SIZE * SIZE];
    for i in 0..SIZE {
        for k in 0..SIZE {
            for l in 0..SIZE {
                for j in 0..SIZE {
                    a[i * SIZE + j] +=
                        b[(i * SIZE + k) * SIZE + l] * d[l * SIZE + j] * c[k * SIZE + j];
                }
            }
        }
    }
    let mut sum = 0.0;
    for k in 0..SIZE * SIZE {
        sum += s[k] * a[k];
    }
    sum
}

type Row = [f64; SIZE];
type Matrix = [Row; SIZE];

fn matrix(entries: &[f64]) -> &Matrix {
    entries.as_chunks().0.as_array().expect("eight rows of eight")
}

fn matrix_mut(entries: &mut [f64]) -> &mut Matrix {
    entries.as_chunks_mut().0.as_mut_array().expect("eight rows of eight")
}

/// The adjoint of the result is known beforehand, so one pass does both; a row of eight is a
/// vector. What does not depend on `l` stays out of the loop over it, on the adjoint's side, and
/// `d` is read by columns where a sum would run across a row.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn shaped(
    b: &[f64],
    db: &mut [f64],
    d: &[f64],
    dd: &mut [f64],
    c: &[f64],
    dc: &mut [f64],
    s: &[f64],
    seed: f64,
) -> f64 {
    let (d, c, s) = (matrix(d), matrix(c), matrix(s));
    let (dd, dc) = (matrix_mut(dd), matrix_mut(dc));
    let mut columns: Matrix = [[0.0; SIZE]; SIZE];
    for l in 0..SIZE {
        for j in 0..SIZE {
            columns[j][l] = d[l][j];
        }
    }
    let mut sum = 0.0;
    let slices = b.as_chunks::<{ SIZE * SIZE }>().0.iter().zip(s);
    for ((b, s), db) in slices.zip(db.as_chunks_mut::<{ SIZE * SIZE }>().0) {
        let mut a: Row = [0.0; SIZE];
        for (((b, db), c), dc) in matrix(b).iter().zip(matrix_mut(db)).zip(c).zip(&mut *dc) {
            let bd: Row = through(b, d, c, &mut a);
            let mut adjoint: Row = [0.0; SIZE];
            for j in 0..SIZE {
                adjoint[j] = seed * s[j] * c[j];
                dc[j] += seed * s[j] * bd[j];
            }
            back(b, &columns, &adjoint, db, dd);
        }
        for j in 0..SIZE {
            sum += s[j] * a[j];
        }
    }
    sum
}

/// Adds to a row of the result; returns the row of products before `c`.
fn through(b: &Row, d: &Matrix, c: &Row, a: &mut Row) -> Row {
    let mut products: Row = [0.0; SIZE];
    for l in 0..SIZE {
        for j in 0..SIZE {
            let product = b[l] * d[l][j];
            a[j] += product * c[j];
            products[j] += product;
        }
    }
    products
}

/// From the adjoint of that row to those of `b` and `d`.
fn back(b: &Row, columns: &Matrix, adjoint: &Row, db: &mut Row, dd: &mut Matrix) {
    let mut sums = *db;
    for j in 0..SIZE {
        for l in 0..SIZE {
            sums[l] += adjoint[j] * columns[j][l];
        }
    }
    *db = sums;
    for l in 0..SIZE {
        for j in 0..SIZE {
            dd[l][j] += adjoint[j] * b[l];
        }
    }
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], &mut [f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([b, d, c], [s]) = (inputs.active(), inputs.constant());
        let [db, dd, dc] = shadows.each();
        adjoint(b, db, d, dd, c, dc, s, 1.0)
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(5);
    let b = numbers.array(SIZE * SIZE * SIZE, -1.0, 1.0);
    let d = numbers.array(SIZE * SIZE, -1.0, 1.0);
    let c = numbers.array(SIZE * SIZE, -1.0, 1.0);
    let s = numbers.array(SIZE * SIZE, -1.0, 1.0);
    Program {
        name: "mttkrp",
        inputs: Inputs { active: vec![b, d, c], constant: vec![s], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let ([b, d, c], [s]) = (inputs.active(), inputs.constant());
            mttkrp(b, d, c, s)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(mttkrp_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: 2.983_387_990_774_570_4,
            sum: -13.095_919_345_855_737,
            norm: 22.001_058_426_008_06,
            weighted: 7.215_965_043_080_525_6,
        }),
    }
}
