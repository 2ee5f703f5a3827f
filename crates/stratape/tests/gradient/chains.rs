//! Iterators whose items have no positions, and what asks for one item.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::pedantic,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    macro_rules! checked {
        ($($name:ident $gradient:ident;)*) => {
            mod checks {
                use super::*;

                $(#[test]
                fn $name() {
                    check([0.0; 6], |x| super::$name(x), |x, dx, seed| super::$gradient(x, dx, seed));
                })*
            }
        };
    }

    #[gradient]
    fn chains(x: &[T; 6]) -> T {
        let a: T = x.iter().chain(x[2..4].iter()).map(|v| v * v).sum();
        let mut sum = 0.0;
        for (i, v) in x[..2].iter().chain(&x[3..]).enumerate() {
            if i == 1 {
                continue;
            }
            if i == 4 {
                break;
            }
            sum += v * (i as T + 1.0);
        }
        a * sum + x.iter().chain(std::iter::once(&2.0)).rev().fold(0.5, |s, v| s * 0.5 + v)
    }

    #[gradient]
    fn filter_maps(x: &[T; 6]) -> T {
        let half = |v: &T| if *v > 0.0 { Some(v * 0.5) } else { None };
        let a: T = x.iter().filter_map(half).sum();
        let b: T = x.iter().filter_map(half).enumerate().map(|(i, v)| v * i as T).sum();
        let c = x.iter().rev().filter_map(|v| (*v < 0.5).then(|| v.sin())).product::<T>();
        a + b * c + x.iter().filter_map(half).rev().fold(0.0, |s, v| s * 0.3 + v)
    }

    #[gradient]
    fn flat_maps(x: &[T; 6]) -> T {
        let pairs = [[x[0], x[1]], [x[2], x[3]]];
        let a: T = pairs.iter().flatten().sum();
        let b: T = x.chunks(4).flat_map(|c| c.iter().map(|v| v * v)).sum();
        let c: T = (0..3).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x[i] * x[j]).sum();
        let mut sum = 0.0;
        for v in x.chunks(2).flat_map(|c| c.iter().rev()) {
            if *v > 1.3 {
                break;
            }
            sum = sum * 0.5 + v;
        }
        a + b * c + sum + x.iter().map(|v| if *v > 0.1 { Some(*v) } else { None }).flatten().sum::<T>()
    }

    #[gradient]
    fn whiles(x: &[T; 6]) -> T {
        let a: T = x.iter().take_while(|v| **v < 1.0).sum();
        let b: T = x.iter().skip_while(|v| **v < 0.3).map(|v| v * v).sum();
        let c: T = x.iter().map_while(|v| if *v > -1.0 { Some(v.cos()) } else { None }).sum();
        let d: T = x.iter().scan(1.0, |s, v| { *s = *s * 0.5 + v; if *s > 2.0 { None } else { Some(*s) } }).sum();
        let e: T = x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).take(4).skip(1).step_by(2).sum();
        a + b * c + d * e + x.iter().take_while(|v| v.abs() < 1.47).zip(x.iter().rev()).map(|(a, b)| a * b).sum::<T>()
    }

    #[gradient]
    fn after_filter(x: &[T; 6]) -> T {
        let positive = || x.iter().filter(|v| **v > -0.2);
        let a: T = positive().enumerate().map(|(i, v)| v * i as T).sum();
        let b: T = positive().take(2).sum();
        let c: T = positive().skip(1).map(|v| v * v).sum();
        let d: T = positive().step_by(2).sum();
        let e: T = positive().zip(x.iter().rev()).map(|(v, w)| v * w).sum();
        let f: T = x.iter().zip(positive()).map(|(v, w)| v * w * w).sum();
        let g = positive().copied().max_by(|a, b| a.total_cmp(b)).unwrap_or(x[0]);
        let h = positive().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap_or(&x[1]);
        a + b * c + d * e + f * g + h * positive().count() as T
    }

    #[gradient]
    fn searches(x: &[T; 6]) -> T {
        let mut sum = 0.0;
        if let Some(v) = x.iter().find(|v| **v > 0.2) {
            sum += v * v;
        }
        if let Some(i) = x.iter().position(|v| *v < 0.0) {
            sum += x[i] * i as T;
        }
        if let Some(i) = x.iter().rposition(|v| *v < 0.0) {
            sum += x[i] * x[0];
        }
        sum += x.iter().find_map(|v| if *v > 0.4 { Some(v.sin()) } else { None }).unwrap_or(x[3]);
        sum += x.iter().copied().reduce(|a, b| a * 0.5 + b).unwrap();
        sum += *x.iter().reduce(|a, b| if a > b { a } else { b }).unwrap() * x[1];
        sum += x.iter().last().unwrap() * x.iter().nth(2).unwrap();
        sum += x.iter().filter(|v| **v > 0.0).last().unwrap_or(&1.0) * x[4];
        sum += x.iter().map(|v| v * 2.0).nth(1).unwrap_or(0.0) * x.iter().filter(|v| **v < 0.9).next().unwrap_or(&x[2]);
        let (i, _) = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        sum += x[i] * 3.0;
        sum += x.iter().min_by_key(|v| (v.abs() * 1000.0) as i64).unwrap() * 2.0;
        sum += *x.iter().max_by_key(|v| (v.abs() * 1000.0) as i64).unwrap();
        if x.iter().filter(|v| **v > 0.0).any(|v| *v > 1.0) && x.iter().skip_while(|v| **v < 0.0).all(|v| *v < 1.47) {
            sum *= x[5];
        }
        sum
    }

    #[gradient]
    fn sources(x: &[T; 6]) -> T {
        let a: T = std::iter::successors(Some(x[0]), |v| Some(v * 0.5 + 1.0)).take(4).sum();
        let b: T = std::iter::successors(Some(x[1]), |v| if *v > 2.0 { None } else { Some(v + 0.7) }).sum();
        let c: T = std::iter::repeat(x[2]).take(3).zip(x).map(|(v, w)| v * w).sum();
        let d: T = std::iter::repeat_n(x[3], 2).chain(std::iter::once(x[4])).chain(std::iter::empty()).product();
        let e: T = x[..3].iter().cycle().take(7).enumerate().map(|(i, v)| v * i as T).sum();
        let f: T = (1..).zip(x.iter()).map(|(i, v)| v / i as T).sum();
        let mut n = 0;
        let g: T = std::iter::from_fn(|| { n += 1; if n < 4 { Some(x[n] * n as T) } else { None } }).sum();
        let mut sum = 0.0;
        for i in 2.. {
            if i == 5 {
                break;
            }
            sum += x[i] * x[i - 1];
        }
        let mut seen = 0.0;
        let h: T = x.iter().inspect(|v| seen += **v).take(2).sum();
        a + b * c + d * e + f * g + sum + h * seen
    }

    #[gradient]
    fn explicit(x: &[T; 6]) -> T {
        let mut values = x.iter();
        let mut sum = *values.next().unwrap();
        while let Some(v) = values.next() {
            sum = sum * 0.5 + v;
            if sum > 1.5 {
                break;
            }
        }
        let mut ends = x.iter().enumerate();
        while let (Some((i, a)), Some((j, b))) = (ends.next(), ends.next_back()) {
            sum += a * b * (i + 2 * j) as T;
        }
        let mut left = x.chunks(2);
        let first = left.next().unwrap();
        sum * first[1] + left.map(|c| c[0] * c[1]).sum::<T>()
    }

    #[gradient]
    fn nested_closures(x: &[T; 6]) -> T {
        let mut sum = 0.0;
        'outer: for c in x.chunks(3) {
            for v in c.iter().filter(|v| **v > -1.0).map(|v| v * 2.0) {
                if v > 2.6 {
                    continue 'outer;
                }
                if v < -1.9 {
                    return sum + v;
                }
                sum += v;
            }
            sum *= 1.5;
        }
        sum
    }

    checked! {
        chains chains_grad;
        filter_maps filter_maps_grad;
        flat_maps flat_maps_grad;
        whiles whiles_grad;
        after_filter after_filter_grad;
        searches searches_grad;
        sources sources_grad;
        explicit explicit_grad;
        nested_closures nested_closures_grad;
    }
}
