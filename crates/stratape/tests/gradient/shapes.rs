//! Nests of loops that the compiler reshapes: their values keep every bit, their gradients agree with differences, their panics stay.

#![allow(
    clippy::needless_range_loop,
    clippy::identity_op,
    clippy::erasing_op,
    clippy::excessive_precision,
    clippy::too_many_arguments,
    reason = "loops as people write them"
)]

use crate::common::same_panic;

both! {
    /// Pairs of points in the plane: read apart.
    #[gradient]
    pub(crate) fn pairs(x: &[T], n: usize) -> T {
        let mut energy = 0.0;
        for i in 0..n {
            for j in 0..n {
                let (dx, dy) = (x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
                energy -= 1.0 / (dx * dx + dy * dy + 0.25).sqrt();
            }
        }
        energy
    }

    /// Each pair of points in space once.
    #[gradient]
    pub(crate) fn triples(x: &[T], n: usize) -> T {
        let mut energy = 0.0;
        for i in 0..n {
            for j in i + 1..n {
                let mut square: T = 0.25;
                let (dx, dy) = (x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]);
                let dz = x[3 * i + 2] - x[3 * j + 2];
                square += dx * dx + dy * dy + dz * dz;
                energy += square.sqrt() * x[3 * j];
            }
        }
        energy
    }

    /// Sums of a row side by side.
    #[gradient]
    pub(crate) fn convolve(w: &[T], x: &[T], out: &mut [T]) {
        for i in 0..out.len() {
            let mut sum: T = 0.5;
            for k in 0..w.len() {
                sum -= w[k] * x[i + k];
            }
            out[i] = sum * sum + out.len() as T;
        }
    }

    /// A product of matrices, and what it is worth.
    #[gradient]
    pub(crate) fn product(a: &[T], b: &[T], n: usize, m: usize, l: usize) -> T {
        let mut c = vec![0.0; n * m];
        for i in 0..n {
            for j in 0..m {
                let mut sum: T = 0.0;
                for k in 0..l {
                    sum += a[i * l + k] * b[k * m + j];
                }
                c[i * m + j] = sum;
            }
        }
        let mut total: T = 0.0;
        for k in 0..n * m {
            total += c[k] * c[k];
        }
        total
    }

    /// Rows whose sums wait for themselves, and would rather wait together.
    #[gradient]
    pub(crate) fn dense(w: &[T], x: &[T], y: &mut [T], m: usize) {
        for i in 0..y.len() {
            let mut sum = x[i % m];
            for j in 0..m {
                sum += w[i * m + j] * x[j];
            }
            y[i] = (sum * y[i]).sin();
        }
        for i in 0..y.len() {
            for j in 0..m {
                y[i] -= w[i * m + j] * x[j];
            }
        }
    }

    /// Two loops through memory that are one, around one that is none.
    #[gradient]
    pub(crate) fn flat(a: &[T], b: &mut [T], n: usize, m: usize) -> T {
        let mut sum: T = 0.0;
        for i in 0..n {
            for j in 0..m {
                for k in 0..1 {
                    sum += a[i * m + j + k] * b[(i * m + j) * 1 + k];
                    b[i * m + j] = a[m * i + j] * a[m * i + j];
                }
            }
        }
        sum
    }

    /// Factors of every kind.
    #[gradient]
    pub(crate) fn factors(x: &[T], c: T) -> T {
        let mut sum: T = 0.0;
        for i in 1..x.len() {
            let t = x[i] - x[i - 1] * x[i - 1];
            let u = -(3.0 - x[i]);
            sum += 100.0 * t * t + u * u / 4.0 - (-t) * (0.5 * u) * c - (u - t) * 2.0 * -x[i];
        }
        -sum
    }

    /// Sums with a factor that all terms share: the rows are short.
    #[gradient]
    pub(crate) fn shared_factors(b: &[T], d: &[T], c: &[T], n: usize) -> T {
        let mut a = [0.0; 9];
        for i in 0..n {
            for j in 0..9 {
                a[j] -= b[i] * d[i * 9 + j] * c[j];
            }
        }
        let mut sum: T = 0.0;
        for j in 0..9 {
            sum += a[j] * a[j];
        }
        sum
    }

    /// The same, of lengths that only rustc knows: some rows are short, some are not.
    #[gradient]
    pub(crate) fn constant_factors(b: &[T], d: &[T], c: &[T]) -> T {
        let (mut a, mut e) = (vec![0.0; super::SHORT], vec![0.0; super::LONG]);
        for k in 0..b.len() / super::SHORT {
            for i in 0..super::SHORT {
                for j in 0..super::SHORT {
                    a[j] += b[k * super::SHORT + i] * d[i * super::SHORT + j] * c[j];
                }
                for j in 1..super::LONG {
                    e[j] += b[k * super::SHORT + i] * d[i + j] * c[j];
                }
            }
            for i in 0..super::SHORT {
                for j in 2..super::LONG {
                    e[j] -= b[k * super::SHORT + i] * d[i + j] * c[j];
                }
            }
        }
        let mut sum: T = 0.0;
        for j in 0..super::SHORT {
            sum += a[j] * a[j] * e[j + 2];
        }
        sum + e[1] + e[super::LONG - 1]
    }

    /// Additions three apart, and one far away.
    #[gradient]
    pub(crate) fn apart(x: &[T]) -> T {
        let mut sum: T = 0.0;
        for i in 3..x.len() {
            let t = x[i] - 2.0 * x[i - 1] * x[i - 3] + x[i - 3].sin();
            sum += t * t / (1.0 + t.abs());
        }
        for i in 20..x.len() {
            let t = x[i] * x[i - 20];
            sum += t * t;
        }
        sum
    }
}

const SHORT: usize = 11;
const LONG: usize = 66;

/// Lengths around the widths of blocks and tiles.
const LENGTHS: [usize; 8] = [0, 1, 2, 5, 8, 17, 33, 260];

macro_rules! tests {
    ($($kind:ident $T:ty;)*) => {$(
        mod $kind {
            use crate::common::check;

            #[test]
            fn points() {
                for n in [0_usize, 1, 2, 7, 16, 19, 40] {
                    // A last point may be incomplete.
                    for more in 0..2 {
                        check(
                            vec![0.0 as $T; 2 * n + more],
                            |x| crate::shapes::$kind::pairs(x, n),
                            |x, dx, seed| crate::shapes::$kind::pairs_grad(x, dx, n, seed),
                        );
                        check(
                            vec![0.0 as $T; 3 * n + 2 * more],
                            |x| crate::shapes::$kind::triples(x, n),
                            |x, dx, seed| crate::shapes::$kind::triples_grad(x, dx, n, seed),
                        );
                    }
                }
            }

            #[test]
            fn rows() {
                for n in crate::shapes::LENGTHS {
                    for k in [0, 1, 3] {
                        check(
                            (vec![0.0 as $T; k], vec![0.0 as $T; n + k], vec![0.0 as $T; n]),
                            |(w, x, out)| crate::shapes::$kind::convolve(w, x, out),
                            |(w, x, out), (dw, dx, dout), ()| {
                                crate::shapes::$kind::convolve_grad(w, dw, x, dx, out, dout);
                            },
                        );
                    }
                }
            }

            #[test]
            fn matrices() {
                for (n, m, l) in [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (3, 9, 4), (2, 300, 3)] {
                    check(
                        (vec![0.0 as $T; n * l], vec![0.0 as $T; l * m]),
                        |(a, b)| crate::shapes::$kind::product(a, b, n, m, l),
                        |(a, b), (da, db), seed| {
                            crate::shapes::$kind::product_grad(a, da, b, db, n, m, l, seed)
                        },
                    );
                    check(
                        (vec![0.0 as $T; n * m], vec![0.0 as $T; n * m]),
                        |(a, b)| crate::shapes::$kind::flat(a, b, n, m),
                        |(a, b), (da, db), seed| {
                            crate::shapes::$kind::flat_grad(a, da, b, db, n, m, seed)
                        },
                    );
                }
            }

            #[test]
            fn dense_rows() {
                for n in [0_usize, 1, 7, 8, 9, 16, 23] {
                    for m in [1_usize, 2, 9, 20] {
                        check(
                            (vec![0.0 as $T; n * m], vec![0.0 as $T; m], vec![0.0 as $T; n]),
                            |(w, x, y)| crate::shapes::$kind::dense(w, x, y, m),
                            |(w, x, y), (dw, dx, dy), ()| {
                                crate::shapes::$kind::dense_grad(w, dw, x, dx, y, dy, m);
                            },
                        );
                    }
                }
            }

            #[test]
            fn factors_of_sums() {
                for n in [0_usize, 1, 2, 3, 10] {
                    check(
                        (vec![0.0 as $T; n], vec![0.0 as $T; 9 * n], vec![0.0 as $T; 9]),
                        |(b, d, c)| crate::shapes::$kind::shared_factors(b, d, c, n),
                        |(b, d, c), (db, dd, dc), seed| {
                            crate::shapes::$kind::shared_factors_grad(b, db, d, dd, c, dc, n, seed)
                        },
                    );
                    check(
                        (vec![0.0 as $T; 11 * n], vec![0.0 as $T; 121], vec![0.0 as $T; 66]),
                        |(b, d, c)| crate::shapes::$kind::constant_factors(b, d, c),
                        |(b, d, c), (db, dd, dc), seed| {
                            crate::shapes::$kind::constant_factors_grad(b, db, d, dd, c, dc, seed)
                        },
                    );
                }
            }

            #[test]
            fn sums() {
                for n in crate::shapes::LENGTHS {
                    check(
                        (vec![0.0 as $T; n], 0.0 as $T),
                        |(x, c)| crate::shapes::$kind::factors(x, *c),
                        |(x, c), (dx, dc), seed| {
                            let (value, by) = crate::shapes::$kind::factors_grad(x, dx, *c, seed);
                            *dc += by;
                            value
                        },
                    );
                    check(
                        vec![0.0 as $T; n],
                        |x| crate::shapes::$kind::apart(x),
                        |x, dx, seed| crate::shapes::$kind::apart_grad(x, dx, seed),
                    );
                }
            }
        }
    )*};
}

mod checks {
    tests! {
        double f64;
        single f32;
    }
}

#[test]
fn indices_out_of_bounds_are_those_of_the_program() {
    for (len, n) in [(0, 1), (10, 6), (10, 512), (100, 51)] {
        let x = vec![0.5; len];
        same_panic(|| double::pairs(&x, n), || double::pairs_grad(&x, &mut vec![0.0; len], n, 1.0));
    }
    for (len, n) in [(0, 2), (9, 4), (12, 50)] {
        let x = vec![0.5; len];
        same_panic(
            || double::triples(&x, n),
            || double::triples_grad(&x, &mut vec![0.0; len], n, 1.0),
        );
    }
    // A point alone is not looked at.
    assert_eq!(double::triples_grad(&[], &mut [], 1, 1.0), 0.0);
}

#[test]
fn a_sum_of_nothing_is_not_multiplied() {
    for c in [vec![f64::INFINITY; 9], Vec::new()] {
        let mut dc = vec![0.5; c.len()];
        let value = double::shared_factors_grad(&[], &mut [], &[], &mut [], &c, &mut dc, 0, 1.0);
        assert_eq!((value, dc), (0.0, vec![0.5; c.len()]));
    }
}

#[test]
fn rows_out_of_bounds_are_those_of_the_program() {
    for (rows, columns) in [(4, 8), (3, 9), (4, 0), (0, 9)] {
        let (b, d, c) = ([0.5; 4], vec![0.5; 9 * rows], vec![0.5; columns]);
        same_panic(
            || double::shared_factors(&b, &d, &c, 4),
            || {
                let (mut dd, mut dc) = (d.clone(), c.clone());
                double::shared_factors_grad(&b, &mut b.clone(), &d, &mut dd, &c, &mut dc, 4, 1.0)
            },
        );
    }
}
