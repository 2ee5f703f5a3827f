//! Local arrays of arrays and of structs, and numbers behind references.

#![allow(clippy::all, reason = "the constructs under test, also in ways nobody should write them")]

both! {
    #[gradient]
    fn scalars_behind_references(a: &T, y: &mut T, n: &usize) -> T {
        *y *= *a;
        *y += a.exp() * (*n as T);
        *y * a
    }

    #[test]
    fn scalars_behind_references_have_shadows() {
        check(
            (0.0, 0.0),
            |(a, y)| scalars_behind_references(a, y, &2),
            |(a, y), (da, dy), seed| scalars_behind_references_grad(a, da, y, dy, &2, seed),
        );
    }

    #[gradient]
    fn arrays_of_arrays(x: &[T; 4]) -> T {
        let table: [[T; 2]; 2] = [[x[0], 1.0], [2.0, x[1]]];
        let mut cube = [[[0.0; 2]; 3]; 2];
        for i in 0..2 {
            for j in 0..3 {
                cube[i][j][i] = table[i][j % 2] * x[j];
                cube[i][j][1 - i] += x[3];
            }
        }
        let copy = cube;
        cube[0] = copy[1];
        cube[1][2] = [x[0], cube[0][0][1]];
        let rows = table.iter().map(|row| row.iter().product::<T>()).sum::<T>();
        rows * cube[0][1][1] + copy[0][2][0] * cube[1][2][1] * cube[1][2][0]
    }

    #[test]
    fn arrays_of_arrays_hold_derivatives() {
        check([0.0; 4], |x| arrays_of_arrays(x), |x, dx, seed| arrays_of_arrays_grad(x, dx, seed));
    }

    #[derive(Clone, Copy, Debug)]
    struct Vector {
        x: T,
        y: [T; 2],
        n: usize,
    }

    impl Vector {
        fn dot(self, other: Vector) -> T {
            self.x * other.x + self.y[self.n] * other.y[0]
        }
    }

    #[gradient]
    fn arrays_of_structs(x: &[T; 4]) -> T {
        let v = Vector { x: x[0], y: [x[1], 1.0], n: 1 };
        let mut all = [v, Vector { n: 0, ..v }, Vector { x: 0.0, y: [x[2]; 2], n: 1 }];
        all[2].y[1] = v.dot(all[1]);
        all[1] = Vector { x: 2.0 * x[3], ..all[1] };
        for i in 0..2 {
            all[i].x += all[i + 1].y[all[i].n];
        }
        let pairs = [(x[0], [x[1], 2.0]), (1.0, [x[2], x[3]])];
        let Vector { x: a, y: [b, _], .. } = all[0];
        let tail: T = pairs.iter().map(|(p, q)| p * q[1]).sum();
        a * b * tail + all.iter().map(|w| w.dot(v)).sum::<T>()
    }

    #[test]
    fn arrays_of_structs_hold_derivatives() {
        check([0.0; 4], |x| arrays_of_structs(x), |x, dx, seed| arrays_of_structs_grad(x, dx, seed));
    }
}

/// Arrays that a helper returns early, and at its end.
#[stratape::differentiable]
mod returned {
    fn scaled(a: f64, c: f64) -> [f64; 2] {
        if a > c {
            return [a * a, c];
        }
        if a > 0.5 * c {
            return [c, a * c];
        }
        let b = a * c;
        [b, a.sin()]
    }

    fn turned(a: f64, b: f64) -> ([[f64; 2]; 2], f64) {
        if a > b {
            return ([[a, b], [b, a]], 1.0);
        }
        ([[a.cos(), -a.sin()], [a.sin(), a.cos()]], b)
    }

    #[gradient]
    pub(crate) fn early(x: &[f64], c: f64) -> f64 {
        let mut sum = 0.0;
        for v in x {
            let pair = scaled(*v, c);
            sum += pair[0] * pair[1];
        }
        let ((m, s), (n, t)) = (turned(x[0], c), turned(c, x[0]));
        sum + m[0][0] * n[1][0] * s + m[1][1] * n[0][1] * t
    }
}

#[test]
fn arrays_are_returned_early() {
    let report = stratape::check::gradient(
        [("x", &[0.2, 0.9, 0.4, 0.35]), ("c", &[0.6])],
        |[x, c]| returned::early(x, c[0]),
        |[x, c], [dx, dc]| {
            let (value, d) = returned::early_grad(x, dx, c[0], 1.0);
            dc[0] += d;
            value
        },
    );
    assert!(report.is_ok_and(|report| report.worst() < 1e-7));
}

/// Arrays that are filled from others, made on the way or around: those that are gone are filled again in the backward half.
#[stratape::gradient]
fn filled_from_others(x: &[f64], k: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut weights = [0.0; 4];
        for j in 0..4 {
            let pair = [x[i] * (j as f64 + 0.5), x[(i + j) % x.len()]];
            weights[j] = pair[(i + j + k) % 2] + 0.1 * pair[(j + k) % 2];
        }
        let mut sums = [0.0; 4];
        for j in 0..4 {
            for l in 0..=j {
                sums[j] += weights[l] * weights[(l + k) % 4];
            }
            if sums[j] > 1.0 {
                sums[j] = sums[j].ln() + weights[j];
            }
        }
        for j in 0..4 {
            total += (sums[j] * weights[3 - j]).sin() * sums[(j + k) % 4];
        }
    }
    total
}

/// Elements that are written after they were read are not what was read.
#[stratape::gradient]
fn written_after_it_was_read(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut row = [x[i], 2.0 * x[i], x[i] * x[i]];
        let early = row[1].sin() * row[2];
        for j in 0..2 {
            row[j + 1] = (row[j] * row[j + 1]).cos();
        }
        total += early * row[1] * row[2] + row[0];
    }
    total
}

#[test]
fn locals_that_are_filled_again() {
    for n in [1, 2, 5, 9] {
        let x: Vec<f64> = (0..n).map(|i| 0.4 + 0.35 * (i as f64 * 1.7).sin()).collect();
        for k in 0..3 {
            let mut dx = vec![0.0; n];
            let value = filled_from_others_grad(&x, &mut dx, k, 1.0);
            assert_eq!(value.to_bits(), filled_from_others(&x, k).to_bits());
            against_differences(&x, &dx, &|x| filled_from_others(x, k));
        }
        let mut dx = vec![0.0; n];
        let value = written_after_it_was_read_grad(&x, &mut dx, 1.0);
        assert_eq!(value.to_bits(), written_after_it_was_read(&x).to_bits());
        against_differences(&x, &dx, &written_after_it_was_read);
    }
}

fn against_differences(x: &[f64], dx: &[f64], function: &dyn Fn(&[f64]) -> f64) {
    for i in 0..x.len() {
        let at = |h: f64| {
            let mut x = x.to_vec();
            x[i] += h;
            function(&x)
        };
        let h = 1e-4;
        let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        assert!((dx[i] - slope).abs() <= 1e-7 * (1.0 + slope.abs()), "{i}: {} {slope}", dx[i]);
    }
}
