//! Parameters and locals of every type.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    #[gradient]
    fn floats_by_value(a: T, b: T) -> T {
        a * b.sin()
    }

    #[test]
    fn floats_by_value_return_adjoints() {
        check(
            (0.0, 0.0),
            |(a, b)| floats_by_value(*a, *b),
            |(a, b), (da, db), seed| {
                let (value, a, b) = floats_by_value_grad(*a, *b, seed);
                *da += a;
                *db += b;
                value
            },
        );
    }

    #[gradient]
    fn mutable_parameters(mut a: T, mut n: u32) -> T {
        while n > 0 {
            a = a * a + 0.25;
            n -= 1;
        }
        a
    }

    #[test]
    fn mutable_parameters_are_variables() {
        check(
            0.0,
            |a| mutable_parameters(*a, 3),
            |a, da, seed| {
                let (value, adjoint) = mutable_parameters_grad(*a, 3, seed);
                *da += adjoint;
                value
            },
        );
    }

    #[gradient]
    fn integers_and_bools(x: &[T], n: usize, shift: i32, wide: u64, small: u8, flag: bool) -> T {
        let mut s = 0.0;
        for i in 0..n {
            let scale = (i as i32 + shift) as T;
            s += if flag { scale * x[i] * x[i] } else { x[i] };
        }
        s * (wide as T) + (small as T) * x[0]
    }

    #[test]
    fn integers_and_bools_have_no_shadow() {
        for flag in [false, true] {
            check(
                [0.0; 4],
                |x| integers_and_bools(x, 4, -2, 3, 5, flag),
                |x, dx, seed| integers_and_bools_grad(x, dx, 4, -2, 3, 5, flag, seed),
            );
        }
    }

    #[gradient]
    fn index_slices(x: &[T], at: &[usize], signs: &[i8], keep: &[bool]) -> T {
        let mut s = 0.0;
        for k in 0..at.len() {
            if keep[k] {
                s += x[at[k]] * x[at[k]] * (signs[k] as T);
            }
        }
        s
    }

    #[test]
    fn index_slices_have_no_shadow() {
        let (at, signs, keep) = ([2, 0, 2, 3], [1, -1, 3, 1], [true, true, true, false]);
        check(
            [0.0; 4],
            |x| index_slices(x, &at, &signs, &keep),
            |x, dx, seed| index_slices_grad(x, dx, &at, &signs, &keep, seed),
        );
    }

    #[gradient]
    fn shared_and_exclusive_slices(x: &[T], y: &mut [T]) {
        for i in 1..y.len() {
            y[i] = x[i] * y[i - 1] + y[i];
        }
    }

    #[test]
    fn exclusive_slices_take_seeds_and_return_adjoints() {
        check(
            ([0.0; 4], [0.0; 4]),
            |(x, y)| shared_and_exclusive_slices(x, y),
            |(x, y), (dx, dy), ()| shared_and_exclusive_slices_grad(x, dx, y, dy),
        );
    }

    #[gradient]
    fn arrays_by_value(x: [T; 3], k: T) -> T {
        let mut s = 0.0;
        for i in 0..3 {
            s += k * x[i] * x[(i + 1) % 3];
        }
        s
    }

    #[test]
    fn arrays_by_value_return_adjoints() {
        check(
            ([0.0; 3], 0.0),
            |(x, k)| arrays_by_value(*x, *k),
            |(x, k), (dx, dk), seed| {
                let (value, x, k) = arrays_by_value_grad(*x, *k, seed);
                dx.iter_mut().zip(x).for_each(|(to, more)| *to += more);
                *dk += k;
                value
            },
        );
    }

    #[gradient]
    fn mutable_arrays_by_value(mut x: [T; 3]) -> T {
        for i in 1..3 {
            x[i] *= x[i - 1];
        }
        x[2] + x[1]
    }

    #[test]
    fn mutable_arrays_by_value_are_variables() {
        check(
            [0.0; 3],
            |x| mutable_arrays_by_value(*x),
            |x, dx, seed| {
                let (value, x) = mutable_arrays_by_value_grad(*x, seed);
                dx.iter_mut().zip(x).for_each(|(to, more)| *to += more);
                value
            },
        );
    }

    #[gradient]
    fn arrays_by_reference(x: &[T; 3], y: &mut [T; 3]) -> T {
        for i in 0..x.len() {
            y[i] = y[i] * x[2 - i];
        }
        y[0] * y[2]
    }

    #[test]
    fn arrays_by_reference_have_shadows() {
        check(
            ([0.0; 3], [0.0; 3]),
            |(x, y)| arrays_by_reference(x, y),
            |(x, y), (dx, dy), seed| arrays_by_reference_grad(x, dx, y, dy, seed),
        );
    }

    #[gradient]
    fn nested_arrays(m: &[[T; 3]; 2], rows: &mut [[T; 2]]) -> T {
        let mut s = 0.0;
        for i in 0..2 {
            for j in 0..3 {
                s += m[i][j] * m[1 - i][j];
            }
        }
        for row in 0..rows.len() {
            rows[row][1] *= rows[row][0];
        }
        s * rows[0][1]
    }

    #[test]
    fn nested_arrays_have_shadows() {
        check(
            ([[0.0; 3]; 2], [[0.0; 2]; 3]),
            |(m, rows)| nested_arrays(m, rows),
            |(m, rows), (dm, drows), seed| nested_arrays_grad(m, dm, rows, drows, seed),
        );
    }

    #[gradient]
    fn tuples_by_value(p: (T, T), q: (T, [T; 2], usize)) -> T {
        p.0 * p.1 + q.0 * q.1[q.2]
    }

    #[test]
    fn tuples_by_value_return_adjoints() {
        check(
            ((0.0, 0.0), (0.0, [0.0; 2])),
            |(p, q)| tuples_by_value(*p, (q.0, q.1, 1)),
            |(p, q), (dp, dq), seed| {
                let (value, p, q) = tuples_by_value_grad(*p, (q.0, q.1, 1), seed);
                dp.0 += p.0;
                dp.1 += p.1;
                dq.0 += q.0;
                dq.1[0] += q.1[0];
                dq.1[1] += q.1[1];
                value
            },
        );
    }

    #[gradient]
    fn tuples_by_reference(p: &(T, T), q: &mut (T, T), pairs: &[(T, T)]) -> T {
        q.0 = q.0 * p.0 + p.1;
        let mut s = q.0;
        for k in 0..pairs.len() {
            s += pairs[k].0 * pairs[k].1;
        }
        s * q.1
    }

    #[test]
    fn tuples_by_reference_have_shadows() {
        check(
            ((0.0, 0.0), (0.0, 0.0), [(0.0, 0.0); 3]),
            |(p, q, pairs)| tuples_by_reference(p, q, pairs),
            |(p, q, pairs), (dp, dq, dpairs), seed| {
                tuples_by_reference_grad(p, dp, q, dq, pairs, dpairs, seed)
            },
        );
    }

    #[gradient]
    #[allow(clippy::ptr_arg, reason = "the construct under test")]
    fn vecs_by_reference(x: &Vec<T>, y: &mut Vec<T>) -> T {
        for i in 0..x.len() {
            y[i] += x[i] * x[i];
        }
        y[0] * y[1]
    }

    #[test]
    fn vecs_by_reference_have_shadows() {
        check(
            (vec![0.0; 3], vec![0.0; 3]),
            |(x, y)| vecs_by_reference(x, y),
            |(x, y), (dx, dy), seed| vecs_by_reference_grad(x, dx, y, dy, seed),
        );
    }

    #[gradient]
    fn local_arrays(x: &[T]) -> T {
        let mut a = [0.0; 4];
        let b = [1.0, x[1], 0.5];
        for i in 0..4 {
            a[i] = x[i % x.len()] * b[i % 3];
        }
        let copy = a;
        a[0] *= copy[3];
        a[0] + copy[1] * a[2]
    }

    #[test]
    fn local_arrays_hold_derivatives() {
        check([0.0; 2], |x| local_arrays(x), |x, dx, seed| local_arrays_grad(x, dx, seed));
    }

    #[gradient]
    fn local_vecs(x: &[T], n: usize) -> T {
        let mut a = vec![0.0; n];
        let mut grid = vec![[0.0; 2]; n];
        let start: Vec<T> = vec![x[0]; n];
        let listed = vec![x[1], x[0] * x[1]];
        for i in 0..n {
            a[i] = x[i] * start[i] + listed[i % 2];
            grid[i][i % 2] = a[i] * x[i];
        }
        let copy = x.to_vec();
        a[n - 1] * grid[0][0] + grid[1][1] * copy[0] + a.len() as T
    }

    #[test]
    fn local_vecs_hold_derivatives() {
        check([0.0; 3], |x| local_vecs(x, 3), |x, dx, seed| local_vecs_grad(x, dx, 3, seed));
    }

    #[gradient]
    fn local_tuples(x: &[T]) -> T {
        let pair = (x[0] * x[1], x[1]);
        let mut state = (pair.0, (1.0, pair.1));
        state.1.0 += state.0;
        state.0 *= 2.0;
        let (a, (b, c)) = state;
        a * b + c
    }

    #[test]
    fn local_tuples_hold_derivatives() {
        check([0.0; 2], |x| local_tuples(x), |x, dx, seed| local_tuples_grad(x, dx, seed));
    }

    #[gradient]
    fn sub_slices(x: &[T], a: usize, b: usize) -> T {
        let middle = &x[a..b];
        let head = &x[..a];
        let tail = &x[b..];
        let closed = &x[a..=b];
        let all = &x[..];
        let inner = &middle[1..];
        middle[0] * head[0] + tail[tail.len() - 1] * closed[closed.len() - 1] + inner[0] * all[0]
    }

    #[test]
    fn sub_slices_pass_derivatives_on() {
        check([0.0; 6], |x| sub_slices(x, 1, 4), |x, dx, seed| sub_slices_grad(x, dx, 1, 4, seed));
    }

    #[gradient]
    fn exclusive_sub_slices(y: &mut [T], a: usize) {
        let part = &mut y[a..];
        part[0] *= part[1];
        part[1] = part[0] * 2.0;
        let (left, right) = y.split_at_mut(a);
        left[0] *= right[0];
        right[1] += left[0];
        y[1..3].fill(0.5);
    }

    #[test]
    fn exclusive_sub_slices_are_written_through() {
        check(
            [0.0; 5],
            |y| exclusive_sub_slices(y, 2),
            |y, dy, ()| exclusive_sub_slices_grad(y, dy, 2),
        );
    }

    #[gradient]
    fn split_chunks_and_windows(x: &[T]) -> T {
        let (left, right) = x.split_at(2);
        let mut s = left[0] * right[1];
        for pair in x.chunks_exact(2) {
            s += pair[0] * pair[1];
        }
        for three in x.windows(3) {
            s += three[0] * three[2] - three[1];
        }
        s
    }

    #[test]
    fn split_chunks_and_windows_pass_derivatives_on() {
        check(
            [0.0; 7],
            |x| split_chunks_and_windows(x),
            |x, dx, seed| split_chunks_and_windows_grad(x, dx, seed),
        );
    }

    const HALF: T = 0.5;
    const WEIGHTS: [T; 3] = [0.25, HALF, 2.0 * HALF];
    const COUNT: usize = 2 + 1;
    type Triple = [T; COUNT];

    #[gradient]
    fn constants_and_aliases(x: &Triple) -> T {
        const TWICE: T = 2.0 * HALF;
        let mut doubled: Triple = [TWICE; COUNT];
        for i in 0..COUNT {
            doubled[i] *= WEIGHTS[i] * x[i] * T::EPSILON.max(x[i]);
        }
        doubled[0] + doubled[1] * doubled[2] + std::f64::consts::PI as T * x[0]
    }

    #[test]
    fn constants_and_aliases_are_seen() {
        check_within(
            0.2..1.5,
            [0.0; 3],
            |x| constants_and_aliases(x),
            |x, dx, seed| constants_and_aliases_grad(x, dx, seed),
        );
    }
}
