//! Statements and control flow.

#![allow(
    clippy::all,
    unused_assignments,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    #[gradient]
    fn let_patterns(x: &[T; 3]) -> T {
        let (a, b) = (x[0], x[1] * 2.0);
        let [c, d, _] = *x;
        let ((e, _), f): ((T, T), T) = ((a * d, 1.0), b);
        let &[_, .., g] = x;
        let (first, .., last) = (g, 1.0, 2.0, c);
        let g = first * last;
        let mut h = e;
        h *= f;
        a * b + c * h + g
    }

    #[gradient]
    fn shadowing(x: &[T; 3]) -> T {
        let a = x[0];
        let a = a * x[1];
        let a = {
            let a = a * a;
            a + x[2]
        };
        a.sin()
    }

    #[gradient]
    fn late_values(x: &[T; 3]) -> T {
        let a: T;
        let b: T;
        if x[0] > 0.1 {
            a = x[1] * 2.0;
            b = 1.0;
        } else {
            a = x[2];
            b = x[1] * x[1];
        }
        a * b
    }

    #[gradient]
    fn assignments(x: &[T; 3]) -> T {
        let mut a = x[0];
        let mut pair = (x[1], 1.0);
        let mut list = [0.0; 3];
        a = a * a;
        pair.1 = a * pair.0;
        list[1] = pair.1;
        list[0] = list[1] * x[2];
        (a, pair.0) = (pair.0, a);
        (list[2], _) = pair;
        (.., list[2]) = (1.0, 2.0, list[2]);
        [list[0], list[1]] = [list[1], list[0]];
        a * list[0] + list[2] * pair.0 + list[1]
    }

    #[gradient]
    fn compound_assignments(x: &[T; 3]) -> T {
        let mut a = x[0] + 3.0;
        let mut pair = (x[1], 2.0);
        let mut list = [1.0, x[2]];
        a += x[1];
        a -= 2.0 * x[2];
        a *= a;
        a /= x[1] + 4.0;
        a %= 1.0e3;
        pair.0 += a;
        pair.1 *= pair.0;
        list[0] -= pair.1;
        list[1] /= 3.0 + x[0];
        list[1] *= list[0];
        let mut n = 7_usize;
        n += 5;
        n -= 1;
        n *= 6;
        n /= 4;
        n %= 9;
        n <<= 2;
        n >>= 1;
        n ^= 5;
        n &= 14;
        n |= 1;
        a * pair.1 + list[1] * (n as T)
    }

    #[gradient]
    fn for_over_ranges(x: &[T; 3]) -> T {
        let mut s = 0.0;
        for i in 0..3 {
            s += x[i] * (i as T);
        }
        for i in 0..=2 {
            s *= x[i];
        }
        for i in (0..3).rev() {
            s = s * x[i] + x[i];
        }
        for i in (1..=2).rev() {
            s -= x[i] * s;
        }
        for i in (0..3).step_by(2) {
            s += x[i] * x[i];
        }
        for i in (0..3).rev().step_by(2) {
            s += s * x[i];
        }
        for k in -1..2_i32 {
            s += x[(k + 1) as usize] * (k as T);
        }
        for _ in 0..2_u8 {
            s *= 0.5;
        }
        s
    }

    #[gradient]
    fn for_over_slices(x: &[T; 3]) -> T {
        let mut s = 0.0;
        let mut y = [0.0; 3];
        for v in x {
            s += v * v;
        }
        for v in x.iter() {
            s += *v;
        }
        for &v in x.iter() {
            s *= v;
        }
        for v in y.iter_mut() {
            *v = s + 1.0;
            *v *= 2.0;
        }
        for v in &mut y {
            *v += s;
        }
        for (i, v) in x.iter().enumerate() {
            s += (i as T) * v;
        }
        for (a, b) in x.iter().zip(&y) {
            s += a * b;
        }
        for (i, (a, b)) in x.iter().zip(y.iter_mut()).enumerate().rev() {
            *b = *a * (i as T);
            s -= *b;
        }
        for ((a, b), c) in x.iter().zip(y.iter()).zip(x.iter().skip(1)).take(2) {
            s += a * b * c;
        }
        for v in y {
            s += v;
        }
        for v in [1.0, x[0]] {
            s += v * v;
        }
        s
    }

    #[gradient]
    fn while_loops(x: &[T; 3]) -> T {
        let (mut a, mut i) = (x[0], 0);
        while i < 3 {
            a = a * 0.5 + x[i];
            i += 1;
        }
        let mut b = 1.0;
        while b < 20.0 {
            b *= 2.0 + 0.01 * a;
        }
        a * b
    }

    #[gradient]
    fn while_loops_with_break_and_continue(x: &[T; 3]) -> T {
        let (mut a, mut i) = (x[0], 0);
        while i < 20 {
            i += 1;
            if i % 3 == 0 {
                continue;
            }
            a = a * 0.5 + x[i % 3];
            if i > 11 {
                break;
            }
        }
        a * a
    }

    #[gradient]
    fn endless_loops(x: &[T; 3]) -> T {
        let (mut a, mut n) = (x[0], 0);
        loop {
            a = (a + x[1]) * 0.5;
            n += 1;
            if n == 4 {
                break;
            }
            a *= x[2];
        }
        a
    }

    #[gradient]
    fn break_and_continue_in_for(x: &[T; 3], last: usize) -> T {
        let mut s = 1.0;
        for i in 0..10 {
            if i == 1 {
                continue;
            }
            if i > last {
                break;
            }
            s = s * x[i % 3] + x[0];
        }
        for v in x.iter() {
            if *v > 10.0 {
                break;
            }
            s += v * v;
        }
        s
    }

    #[gradient]
    fn labels(x: &[T; 3]) -> T {
        let mut s = 1.0;
        'outer: for i in 0..4 {
            for j in 0..4 {
                if j == 2 {
                    continue 'outer;
                }
                if i == 3 {
                    break 'outer;
                }
                s += s * x[i % 3] * x[j];
            }
            s *= 100.0;
        }
        let mut n = 0;
        'again: loop {
            while n < 9 {
                n += 1;
                s *= 0.5 + 0.1 * x[n % 3];
                if n == 5 {
                    break 'again;
                }
                if n == 3 {
                    continue 'again;
                }
            }
        }
        s
    }

    #[gradient]
    fn early_return(x: &[T; 3], n: usize) -> T {
        if n == 0 {
            return x[0] * x[1];
        }
        let mut s = x[2];
        for i in 0..n {
            s *= x[i % 3];
            if i == 4 {
                return s * x[1];
            }
            let mut k = 0;
            while k < 3 {
                if i + k == 3 {
                    return s.sin();
                }
                s += x[0];
                k += 2;
            }
        }
        if n > 1 { s } else { return -s }
    }

    #[gradient]
    fn return_of_nothing(y: &mut [T; 3], n: usize) {
        y[0] *= y[1];
        if n == 0 {
            return;
        }
        for i in 0..n {
            if i == 2 {
                return;
            }
            y[2] += y[0] * y[i];
        }
        y[1] = y[2] * y[0];
    }

    #[gradient]
    fn if_as_statement(x: &[T; 3]) -> T {
        let mut s = x[0];
        if x[1] > 0.0 {
            s *= x[1];
        }
        if x[2] > 0.0 && x[1] < 1.0 {
            s += x[2];
        } else if x[0] > 0.5 || !(x[1] >= x[2]) {
            s -= x[1] * x[2];
        } else {
            s = s * s;
        }
        s
    }

    #[gradient]
    fn if_as_expression(x: &[T; 3]) -> T {
        let a = if x[0] > x[1] { x[0] * 2.0 } else { x[1] };
        let (b, c) = if x[2] > 0.0 { (x[2], a * a) } else { (a, 1.0) };
        let list = if x[0] < 0.0 { [a, b] } else { [b * c, 0.5] };
        a * b + c * list[0] * list[1]
    }

    #[gradient]
    fn match_on_integers(x: &[T; 3], n: u32, k: i8) -> T {
        let a = match n {
            0 => x[0],
            1 | 2 => x[1] * x[1],
            3..=5 => x[2],
            6..10 => x[0] * x[1],
            k @ (10 | 11) => x[2] * (k as T),
            other => x[0] * (other as T),
        };
        let mut s = a;
        match k {
            -1 => s *= x[0],
            i8::MIN..=-2 => s *= x[2],
            0 => {}
            1.. => {
                s += x[1];
                s *= s;
            }
        }
        s
    }

    #[gradient]
    fn match_with_guards(x: &[T; 3], n: usize) -> T {
        match n {
            0 if x[0] > 0.0 => x[0] * x[1],
            0 => x[2],
            m if m % 2 == 0 => x[m % 3] * x[0],
            _ if x[1] > 0.0 => return x[1] * x[2],
            _ => x[1],
        }
    }

    #[gradient]
    fn match_that_jumps(x: &[T; 3], n: usize) -> T {
        let mut s = x[0];
        for i in 0..n {
            let v = match i {
                0 => continue,
                4 => break,
                5.. => return s,
                k => x[k % 3] * x[0],
            };
            s += match i {
                2 => v,
                _ => 2.0 * v,
            };
        }
        s
    }

    #[gradient]
    fn match_on_bool(x: &[T; 3], flag: bool) -> T {
        let a = match flag {
            true => x[0],
            false => x[1] * x[2],
        };
        match x[0] > 0.0 {
            true if flag => a * a,
            true => a,
            false => a * 3.0,
        }
    }

    #[gradient]
    fn blocks_as_expressions(x: &[T; 3]) -> T {
        let a = {
            let b = x[0] * x[1];
            let c = { b * b };
            c + x[2]
        };
        let d = if a > 0.0 {
            let e = a * a;
            e + 1.0
        } else {
            a
        };
        d * { x[0] + a }
    }

    #[gradient]
    fn swaps(x: &[T; 3]) -> T {
        let (mut a, mut b) = (x[0], x[1] * x[1]);
        std::mem::swap(&mut a, &mut b);
        let mut y = *x;
        y.swap(0, 2);
        let mut z = [0.0; 3];
        z.copy_from_slice(&y);
        z[1..].fill(a);
        a * y[0] + z[0] * z[2] + b
    }

    #[gradient]
    fn arrays_moved_into_loops(x: &[T; 3]) -> T {
        let (mut y, mut s) = (*x, 0.0);
        for v in y {
            y[2] *= v;
            s += v * v;
        }
        for (i, v) in y.into_iter().enumerate() {
            y[i] = 0.5 * v;
            y[2] += v;
        }
        s * y[2]
    }

    #[gradient]
    fn references_to_locals(x: &[T; 3]) -> T {
        let mut a = x[0];
        let mut list = [x[1], 1.0];
        let r = &mut a;
        *r *= 2.0;
        let e = &mut list[1];
        *e += x[2];
        let whole = &list;
        a * whole[0] * whole[1]
    }

    macro_rules! checked {
        ($($test:ident: $call:expr, $gradient:expr;)*) => {
            $(#[test]
            fn $test() {
                check([0.0; 3], $call, $gradient);
            })*
        };
    }

    checked! {
        let_with_patterns: |x| let_patterns(x), |x, dx, seed| let_patterns_grad(x, dx, seed);
        let_shadows: |x| shadowing(x), |x, dx, seed| shadowing_grad(x, dx, seed);
        let_without_value: |x| late_values(x), |x, dx, seed| late_values_grad(x, dx, seed);
        assign: |x| assignments(x), |x, dx, seed| assignments_grad(x, dx, seed);
        for_ranges: |x| for_over_ranges(x), |x, dx, seed| for_over_ranges_grad(x, dx, seed);
        for_slices: |x| for_over_slices(x), |x, dx, seed| for_over_slices_grad(x, dx, seed);
        while_condition: |x| while_loops(x), |x, dx, seed| while_loops_grad(x, dx, seed);
        while_break_continue:
            |x| while_loops_with_break_and_continue(x),
            |x, dx, seed| while_loops_with_break_and_continue_grad(x, dx, seed);
        loop_break: |x| endless_loops(x), |x, dx, seed| endless_loops_grad(x, dx, seed);
        for_break_continue:
            |x| break_and_continue_in_for(x, 5),
            |x, dx, seed| break_and_continue_in_for_grad(x, dx, 5, seed);
        labelled_loops: |x| labels(x), |x, dx, seed| labels_grad(x, dx, seed);
        if_statement: |x| if_as_statement(x), |x, dx, seed| if_as_statement_grad(x, dx, seed);
        if_expression: |x| if_as_expression(x), |x, dx, seed| if_as_expression_grad(x, dx, seed);
        block_expression:
            |x| blocks_as_expressions(x),
            |x, dx, seed| blocks_as_expressions_grad(x, dx, seed);
        loops_own_their_array:
            |x| arrays_moved_into_loops(x),
            |x, dx, seed| arrays_moved_into_loops_grad(x, dx, seed);
        match_jumps:
            |x| match_that_jumps(x, 6),
            |x, dx, seed| match_that_jumps_grad(x, dx, 6, seed);
        swap: |x| swaps(x), |x, dx, seed| swaps_grad(x, dx, seed);
        local_references:
            |x| references_to_locals(x),
            |x, dx, seed| references_to_locals_grad(x, dx, seed);
    }

    #[test]
    fn assign_with_operators() {
        check_within(
            0.1..0.9,
            [0.0; 3],
            |x| compound_assignments(x),
            |x, dx, seed| compound_assignments_grad(x, dx, seed),
        );
    }

    #[test]
    fn return_early() {
        for n in [0, 1, 2, 3, 9] {
            check(
                [0.0; 3],
                |x| early_return(x, n),
                |x, dx, seed| early_return_grad(x, dx, n, seed),
            );
        }
    }

    #[test]
    fn return_early_with_nothing() {
        for n in [0, 1, 2, 3] {
            check(
                [0.0; 3],
                |y| return_of_nothing(y, n),
                |y, dy, ()| return_of_nothing_grad(y, dy, n),
            );
        }
    }

    #[test]
    fn match_integers() {
        for n in 0..13 {
            let k = n as i8 % 4 - 2;
            check(
                [0.0; 3],
                |x| match_on_integers(x, n, k),
                |x, dx, seed| match_on_integers_grad(x, dx, n, k, seed),
            );
        }
    }

    #[test]
    fn match_guards() {
        for n in 0..4 {
            check(
                [0.0; 3],
                |x| match_with_guards(x, n),
                |x, dx, seed| match_with_guards_grad(x, dx, n, seed),
            );
        }
    }

    #[test]
    fn match_bools() {
        for flag in [false, true] {
            check(
                [0.0; 3],
                |x| match_on_bool(x, flag),
                |x, dx, seed| match_on_bool_grad(x, dx, flag, seed),
            );
        }
    }

    fn rk4(y: [T; 2], h: T, d: impl Fn([T; 2]) -> [T; 2]) -> [T; 2] {
        let add = |p: [T; 2], q: [T; 2], s: T| [p[0] + s * q[0], p[1] + s * q[1]];
        let k1 = d(y);
        let k2 = d(add(y, k1, h / 2.0));
        let k3 = d(add(y, k2, h / 2.0));
        let k4 = d(add(y, k3, h));
        let mut o = y;
        for i in 0..2 {
            o[i] += h * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0;
        }
        o
    }

    #[gradient]
    fn names_of_values_and_arrays(x: &[T; 4], a: T) -> T {
        let mut y = [x[0], x[1]];
        for i in 2..x.len() {
            y = rk4(y, 0.1, |[q, p]| [p, -a * q.sin() + x[i]]);
        }
        y[0] * y[1]
    }

    #[test]
    fn values_and_arrays_may_have_one_name() {
        check(
            ([0.0; 4], 0.0),
            |(x, a)| names_of_values_and_arrays(x, *a),
            |(x, a), (dx, da), seed| {
                let (value, d) = names_of_values_and_arrays_grad(x, dx, *a, seed);
                *da += d;
                value
            },
        );
    }
}

#[stratape::gradient(name = r#loop)]
fn with_a_raw_name(x: f64) -> f64 {
    x.sin()
}

#[test]
fn a_gradient_may_have_a_raw_name() {
    assert_eq!(r#loop(0.5, 1.0), (0.5_f64.sin(), 0.5_f64.cos()));
}
