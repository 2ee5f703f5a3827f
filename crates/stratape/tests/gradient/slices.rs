//! Methods of slices and arrays, and integers that yield options.

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
    fn parts(x: &[T; 6]) -> T {
        let mut sum = 0.0;
        for c in x.chunks(4) {
            sum += c[0] * c[c.len() - 1];
        }
        for c in x.rchunks(4) {
            sum = sum * 0.5 + c.iter().product::<T>();
        }
        for c in x.rchunks_exact(4) {
            sum += c[0] * c[1];
        }
        if let Some((first, rest)) = x.split_first() {
            sum += first * rest[0];
        }
        let Some((last, before)) = x.split_last() else { return sum };
        sum += last * before.len() as T;
        if let Some((l, r)) = x.split_at_checked(2) {
            sum += l[1] * r[0];
        }
        sum += x.get(1..3).map_or(0.0, |c| c[0] * c[1]) + x.get(5..9).map_or(x[0], |c| c[0]);
        sum + x.get(4).copied().unwrap_or(0.0) * x.get(6).copied().unwrap_or(2.0)
    }

    #[gradient]
    fn moved(x: &[T; 6]) -> T {
        let mut y = *x;
        y.reverse();
        y[1..5].rotate_left(1);
        y.rotate_right(2);
        y.copy_within(0..2, 3);
        let (a, b) = y.split_at_mut(3);
        a.swap_with_slice(b);
        if let Some(v) = y.get_mut(2) {
            *v *= x[0];
        }
        *y.first_mut().unwrap() += x[1];
        if let Some(v) = y.last_mut() {
            *v = v.sin();
        }
        for c in y.chunks_mut(4) {
            c[0] *= x[5];
        }
        let mut n = 0.0;
        let mut z = [0.0; 3];
        z.fill_with(|| { n += 1.0; n * x[2] });
        let joined = [[x[0], x[1]], [x[2], x[3]]].concat();
        y.iter().enumerate().map(|(i, v)| v * i as T).sum::<T>() + z[2] * joined[3]
    }

    #[gradient]
    fn integers(x: &[T; 6]) -> T {
        let k = [1_usize, 3, 4, 7];
        let mut sum = 0.0;
        if k.contains(&3) && !k.contains(&2) && k.starts_with(&[1, 3]) && k.ends_with(&[7]) {
            sum += x[0];
        }
        let p = k.partition_point(|v| *v < 4);
        sum += x[p] * if k.is_sorted() { x[1] } else { 1.0 };
        for i in 0..6_usize {
            if let Some(j) = i.checked_sub(2) {
                sum += x[j] * x[i];
            }
            let (d, over) = (i as u8).overflowing_sub(3);
            if over {
                sum += x[i] * (d >> 6) as T;
            }
            let b = (i as i32 - 3).unsigned_abs() as usize + i.abs_diff(4);
            sum += x[b % 6] * (i + 1).ilog2() as T + x[i].powi(i as i32 - 1);
            let c: i32 = i.try_into().unwrap();
            sum += x[(c.rem_euclid(3)) as usize] * (i as u8).rotate_left(3).leading_zeros() as T;
            sum += T::from((i % 2 == 0) as u8) * x[i] + i.next_power_of_two() as T * x[0];
        }
        sum + (x[0] > 0.0).then(|| x[1] * x[2]).unwrap_or(x[3]) + (x[1] < 0.3).then_some(x[4]).unwrap_or(x[5])
    }

    #[gradient]
    fn arrays(x: &[T; 6]) -> T {
        let squares = x.map(|v| v * v);
        let pairs = squares.map(|v| (v, 1.0 - v));
        let powers: [T; 4] = std::array::from_fn(|i| x[i].powi(i as i32 + 1));
        let grid: [[T; 2]; 3] = std::array::from_fn(|i| [x[i], x[i + 3]]);
        let part: [T; 3] = x[1..4].try_into().unwrap();
        let zeros: [T; 2] = Default::default();
        let both: Vec<(T, T)> = x.iter().map(|v| (*v, v * 2.0)).collect();
        let (left, right): (Vec<T>, Vec<T>) = x.iter().map(|v| (v.sin(), v.cos())).unzip();
        let mut sum = zeros[0] + T::default();
        for (i, (a, b)) in pairs.into_iter().enumerate() {
            sum += a * b * i as T;
        }
        if [x[0] > 0.0, x[1] > 0.0] == [true, false] && (1, 2) != (2, 1) && part == [x[1], x[2], x[3]] {
            sum *= x[4];
        }
        sum + powers.iter().sum::<T>() * grid[2][1] + part[1] * both[3].1 + left[0] * right[5]
    }

    #[gradient]
    fn sorted(x: &[T; 6]) -> T {
        let mut y = x.to_vec();
        y.sort_by(|a, b| a.total_cmp(b));
        let mut z = *x;
        z.sort_unstable_by(|a, b| b.abs().partial_cmp(&a.abs()).unwrap());
        let mut pairs: Vec<(usize, T)> = x.iter().copied().enumerate().collect();
        pairs.sort_by(|a, b| (b.1 * b.1).total_cmp(&(a.1 * a.1)).then(a.0.cmp(&b.0)));
        let mut order = [0_usize, 1, 2, 3, 4, 5];
        order.sort_by_key(|i| (i * 5) % 6);
        y[1..4].sort_by(|a, b| b.total_cmp(a));
        let median = 0.5 * (y[2] + y[3]);
        let weighted: T = y.iter().enumerate().map(|(i, v)| v * v * (i + 1) as T).sum();
        weighted * median + z[0] * z[5] + pairs[0].1 * pairs[1].1 + x[order[1]] * x[order[4]]
    }

    checked! {
        sorted sorted_grad;
        parts parts_grad;
        moved moved_grad;
        integers integers_grad;
        arrays arrays_grad;
    }
}
