//! Patterns: tuples, references, structs, slices, ranges, guards, `@`.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::pedantic,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    macro_rules! checked {
        ($($test:ident: $call:expr, $gradient:expr;)*) => {
            $(#[test]
            fn $test() {
                check([0.0; 5], $call, $gradient);
            })*
        };
    }

    #[derive(Clone, Copy)]
    struct Point {
        x: T,
        y: T,
        kind: usize,
    }

    #[gradient]
    fn tuples(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        for i in 0..5 {
            let n = i % 3;
            sum += match (n, x[i] > 0.0, x[i]) {
                (0, true, v) => v * v,
                (1 | 2, true, v) => 2.0 * v,
                (m, false, v) if m > 1 => v * m as T,
                (m @ 0..=1, _, _) => x[m] + 1.0,
                _ => sum * 0.5,
            };
        }
        sum
    }

    #[gradient]
    fn structs(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        for (i, w) in x.windows(2).enumerate() {
            let p = Point { x: w[0], y: w[1], kind: i };
            sum += match p {
                Point { x, kind: 0, .. } => x,
                Point { x, y, kind: 1 | 2 } if x < y => x * y,
                Point { y: z @ -0.5..=0.5, .. } => z * z * z,
                Point { x, y, .. } => x - y,
            };
            let whole @ Point { x: a, .. } = p;
            sum += whole.y * a;
        }
        sum
    }

    #[gradient]
    fn references(x: &[T; 5]) -> T {
        let pair = (x[0], x[1]);
        let by_ref = match &pair {
            (a, b) if *a < *b => a * b,
            &(a, b) => a + b,
        };
        let mut other = (x[2], [x[3], x[4]]);
        match &mut other {
            (a, [b, _]) => {
                *a += 1.0;
                *b *= *a;
            }
        }
        match other {
            (ref mut a, [ref b, c]) => {
                *a *= *b;
                *a += c;
            }
        }
        by_ref * other.0 + other.1[0]
    }

    fn total(x: &[T]) -> T {
        match x {
            [] => 1.0,
            [a] => *a,
            [a, b] => a * b,
            [a, .., z] if *a > *z => a - z,
            [a, rest @ ..] => a * 0.5 + rest.len() as T * rest[0],
        }
    }

    #[gradient]
    fn slices(x: &[T; 5]) -> T {
        let mut sum = total(x);
        for n in 0..5 {
            sum += total(&x[..n]) * (n as T) + total(&x[n..]);
        }
        if let [a, b, ..] = x[1..] {
            sum += a * b;
        }
        let [first, middle @ .., last] = x;
        sum += first * last * middle[1];
        let mut left: &[T] = x;
        while let [head, tail @ ..] = left {
            sum = sum * 0.5 + head;
            left = tail;
        }
        sum
    }

    #[gradient]
    fn floats(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        for &v in x {
            sum += match v {
                ..-1.0 => v * v,
                -1.0..=0.3 => 3.0 * v,
                0.3..1.0 => v * v * v,
                w @ 1.0.. => w.sin(),
                _ => 0.0,
            };
        }
        match 2.0 * x.len() as T { 10.0 => sum * x[0], _ => sum }
    }

    #[gradient]
    fn orderings(x: &[T; 5]) -> T {
        use std::cmp::Ordering;
        let mut sum = 0.0;
        for i in 0..4 {
            sum += match x[i].partial_cmp(&x[i + 1]) {
                Some(Ordering::Less) => x[i] * 2.0,
                Some(Ordering::Greater) => x[i + 1] * x[i],
                Some(Ordering::Equal) => 1.0,
                None => 0.0,
            };
            let order = i.cmp(&2).then_with(|| x[i].total_cmp(&0.0));
            if order == Ordering::Less {
                sum += x[i];
            } else if order.reverse().is_lt() {
                sum *= x[i];
            }
            sum += match x[i].total_cmp(&x[0]) {
                Ordering::Less => x[i] * x[0],
                o if o.is_ge() && i < 3 => x[i],
                _ => 0.25,
            };
        }
        let by_distance = x.iter().min_by(|a, b| (a.abs() - 0.5).abs().partial_cmp(&(b.abs() - 0.5).abs()).unwrap());
        sum + by_distance.unwrap() * x[1]
    }

    #[gradient]
    fn nested(x: &[T; 5]) -> T {
        let mut sum = 0.0;
        for i in 0..4 {
            let a = if x[i] > 0.0 { Some((i, x[i])) } else { None };
            sum += match (a, x[i + 1]) {
                (Some((0 | 2, v)), w) | (None, v @ w) if v < 1.0 => v * w,
                (Some((_, v)), _) => v,
                (None, w) => w * w,
            };
        }
        let Some((v, _)) = Some((x[0], 2)) else { return sum };
        sum * v
    }

    checked! {
        of_tuples: |x| tuples(x), |x, dx, seed| tuples_grad(x, dx, seed);
        of_structs: |x| structs(x), |x, dx, seed| structs_grad(x, dx, seed);
        of_references: |x| references(x), |x, dx, seed| references_grad(x, dx, seed);
        of_slices: |x| slices(x), |x, dx, seed| slices_grad(x, dx, seed);
        of_floats: |x| floats(x), |x, dx, seed| floats_grad(x, dx, seed);
        of_orderings: |x| orderings(x), |x, dx, seed| orderings_grad(x, dx, seed);
        within_others: |x| nested(x), |x, dx, seed| nested_grad(x, dx, seed);
    }
}
