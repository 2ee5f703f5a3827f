//! Iterator expressions and closures.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::redundant_closure_for_method_calls,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    #[gradient]
    fn map_and_sum(x: &[T; 4], k: T) -> T {
        let scaled = |v: T| k * v;
        let a: T = x.iter().map(|v| v * v * k).sum();
        let b = x.iter().copied().map(scaled).sum::<T>();
        let c = (0..4).map(|i| x[i] * (i as T)).sum::<T>();
        let d: T = x.iter().map(|&v| v.sin()).map(|v| v * a).sum();
        let e: T = x.iter().sum();
        a + b * c + d * e
    }

    #[test]
    fn map_sum() {
        check(
            ([0.0; 4], 0.0),
            |(x, k)| map_and_sum(x, *k),
            |(x, k), (dx, dk), seed| {
                let (value, k) = map_and_sum_grad(x, dx, *k, seed);
                *dk += k;
                value
            },
        );
    }

    #[gradient]
    fn product(x: &[T; 4]) -> T {
        let a: T = x.iter().product();
        a + x.iter().map(|v| v + 2.0).product::<T>()
    }

    #[gradient]
    fn zip(x: &[T; 4]) -> T {
        let y = [1.0, x[3], 0.5];
        let dot = x.iter().zip(&y).map(|(a, b)| a * b).sum::<T>();
        let three: T = x.iter().zip(y.iter()).zip(0..2).map(|((a, b), i)| a * b * (i as T)).sum();
        dot * three + std::iter::zip(x, &y).map(|(a, b)| a - b).sum::<T>()
    }

    #[gradient]
    fn enumerate(x: &[T; 4]) -> T {
        x.iter().enumerate().map(|(i, v)| v * v * (i as T)).sum::<T>()
            + x.iter().skip(1).enumerate().map(|(i, v)| v * x[i]).sum::<T>()
    }

    #[gradient]
    fn rev(x: &[T; 4]) -> T {
        let pairs = x.iter().zip(x.iter().rev()).map(|(a, b)| a * b * b).sum::<T>();
        pairs * (0..4).rev().fold(0.5, |s, i| s * 0.5 + x[i])
            + x.iter().rev().enumerate().map(|(i, v)| v * (i as T)).sum::<T>()
            + x.iter().enumerate().rev().fold(0.0, |s, (i, v)| s * v + (i as T))
    }

    #[gradient]
    fn take_and_skip(x: &[T; 4]) -> T {
        let first: T = x.iter().take(2).sum();
        let last: T = x.iter().skip(3).take(9).sum();
        let odd: T = x.iter().skip(1).step_by(2).map(|v| v * v).sum();
        let back: T = x.iter().rev().take(3).rev().skip(1).product();
        first * last + odd * back
    }

    #[gradient]
    fn filter(x: &[T; 4]) -> T {
        let positive: T = x.iter().filter(|v| **v > 0.0).sum();
        let negative: T = x.iter().copied().filter(|&v| v < 0.0).map(|v| v * v).sum();
        let even: T = x.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, v)| v * 3.0).sum();
        let mut s = positive * even - negative;
        for v in x.iter().filter(|v| v.abs() > 0.2) {
            s += v * v;
        }
        s * (x.iter().filter(|&&v| v > 10.0).count() as T + 1.0)
    }

    #[gradient]
    fn fold(x: &[T; 4]) -> T {
        let horner = x.iter().fold(0.0, |s, v| s * 0.7 + v);
        let largest = x.iter().copied().fold(T::NEG_INFINITY, T::max);
        let (sum, squares) = x.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
        let both = x.iter().fold([1.0, 0.0], |s, v| [s[0] * v, s[1] + s[0]]);
        horner * largest + sum * squares + both[0] * both[1]
    }

    #[gradient]
    fn max_by_and_min_by(x: &[T; 4]) -> T {
        let largest = x.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
        let smallest = x.iter().copied().min_by(|a, b| a.total_cmp(b)).unwrap();
        let farthest = x.iter().map(|v| v * v).max_by(|a, b| a.total_cmp(b)).unwrap_or(0.0);
        let function = x.iter().copied().max_by(T::total_cmp).unwrap();
        let partial = x.iter().min_by(|a, b| a.partial_cmp(b).unwrap()).expect("some");
        let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
        let partial = partial * x.iter().copied().max_by(order).unwrap();
        largest * smallest + farthest * function + partial
    }

    #[gradient]
    fn position_of_the_largest(x: &[T; 4]) -> T {
        let (at, v) = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        let (from, _) = x.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap();
        v * x[(at + 1) % 4] + x[from] * (from as T)
    }

    #[gradient]
    fn chunks_and_windows(x: &[T; 4]) -> T {
        let pairs: T = x.chunks_exact(2).map(|pair| pair[0] * pair[1]).sum();
        let steps: T = x.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).sum();
        let inner: T = x.chunks_exact(2).map(|pair| pair.iter().sum::<T>().sin()).sum();
        pairs * steps + inner
    }

    #[gradient]
    fn captured_variables(x: &[T; 4]) -> T {
        let (a, mut count, mut total) = (x[0] * 2.0, 0, 0.0);
        let shifted = |v: T| {
            let d = v - a;
            d * d
        };
        let twice = |v: T, n: usize| if n > 1 { shifted(shifted(v)) } else { shifted(v) };
        x.iter().for_each(|v| {
            total += twice(*v, count);
            count += 1;
        });
        let mut add = |v: T| total += v;
        add(a);
        add(x[3]);
        total * (count as T)
    }

    #[gradient]
    fn moved_variables(x: &[T; 4]) -> T {
        let (mut a, mut list) = (x[0], [x[1], 2.0]);
        let mut grow = move |by: T| {
            a *= by;
            list[0] += a;
            a * list[0]
        };
        let grown = grow(x[2]) + grow(x[3]);
        a += 1.0;
        list[1] *= x[3];
        grown * a + list[0] * list[1]
    }

    #[gradient]
    fn closures_that_return_early(x: &[T; 4]) -> T {
        let soft = |v: T| {
            if v < 0.0 {
                return 0.1 * v;
            }
            v * v
        };
        x.iter().map(|v| soft(*v)).sum()
    }

    #[gradient]
    fn collect(x: &[T; 4]) -> T {
        let squares: Vec<T> = x.iter().map(|v| v * v).collect();
        let sums = x.windows(2).map(|w| w[0] + w[1]).collect::<Vec<T>>();
        squares[1] * sums[2] + squares.iter().zip(&sums).map(|(a, b)| a * b).sum::<T>()
    }

    #[gradient]
    fn any_and_all(x: &[T; 4]) -> T {
        let mut s = x[0];
        if x.iter().any(|v| *v > 0.5) {
            s *= x[1];
        }
        if x.iter().all(|v| v.abs() < 1.0) {
            s += x[2] * x[2];
        }
        s
    }

    #[gradient]
    fn integers(x: &[T; 4], n: usize) -> T {
        let triangle: usize = (1..=n).sum();
        let factorial = (1..=n).product::<usize>();
        let largest = (0..n).map(|i| i * 7 % 5).max().unwrap_or(0);
        x[triangle % 4] * x[factorial % 4] + x[largest % 4]
    }

    #[gradient]
    fn first_and_last(x: &[T; 4]) -> T {
        let a = x.first().copied().unwrap_or(0.0);
        let b = x[..2].last().unwrap();
        let c = x[4..].first().copied().unwrap_or(a * 2.0);
        let mut y = *x;
        let (kept, most) = (y.last().copied(), y.iter().copied().max_by(T::total_cmp));
        y = [0.5; 4];
        a * b + c * y[0] + kept.unwrap() * most.unwrap()
    }

    macro_rules! checked {
        ($($test:ident: $call:expr, $gradient:expr;)*) => {
            $(#[test]
            fn $test() {
                check([0.0; 4], $call, $gradient);
            })*
        };
    }

    checked! {
        products: |x| product(x), |x, dx, seed| product_grad(x, dx, seed);
        zips: |x| zip(x), |x, dx, seed| zip_grad(x, dx, seed);
        enumerated: |x| enumerate(x), |x, dx, seed| enumerate_grad(x, dx, seed);
        reversed: |x| rev(x), |x, dx, seed| rev_grad(x, dx, seed);
        take_skip: |x| take_and_skip(x), |x, dx, seed| take_and_skip_grad(x, dx, seed);
        filtered: |x| filter(x), |x, dx, seed| filter_grad(x, dx, seed);
        folds: |x| fold(x), |x, dx, seed| fold_grad(x, dx, seed);
        max_by_min_by:
            |x| max_by_and_min_by(x),
            |x, dx, seed| max_by_and_min_by_grad(x, dx, seed);
        position:
            |x| position_of_the_largest(x),
            |x, dx, seed| position_of_the_largest_grad(x, dx, seed);
        chunks_windows:
            |x| chunks_and_windows(x),
            |x, dx, seed| chunks_and_windows_grad(x, dx, seed);
        captures:
            |x| captured_variables(x),
            |x, dx, seed| captured_variables_grad(x, dx, seed);
        moved: |x| moved_variables(x), |x, dx, seed| moved_variables_grad(x, dx, seed);
        closures_return:
            |x| closures_that_return_early(x),
            |x, dx, seed| closures_that_return_early_grad(x, dx, seed);
        collected: |x| collect(x), |x, dx, seed| collect_grad(x, dx, seed);
        any_all: |x| any_and_all(x), |x, dx, seed| any_and_all_grad(x, dx, seed);
        of_integers: |x| integers(x, 3), |x, dx, seed| integers_grad(x, dx, 3, seed);
        first_last: |x| first_and_last(x), |x, dx, seed| first_and_last_grad(x, dx, seed);
    }
}
