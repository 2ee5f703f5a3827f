//! What an iteration saves lies in one frame: short inner loops, branches, loops that end when they will. Each with every layout, in memory and on a
//! tape that leaves it, against differences.

#![allow(clippy::needless_range_loop, reason = "loops as people write them")]
#![allow(clippy::expect_used, reason = "tests")]

use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient};

/// A function with each layout of its tape; the test compares them, and their slopes with differences.
macro_rules! with_layouts {
    ($test:ident, |$x:ident, $n:ident| $body:block) => {
        mod $test {
            use super::*;

            #[gradient(wrt($x), tape(layout = "aos"))]
            fn frames($x: &[f64], $n: usize) -> f64 $body

            #[gradient(wrt($x), tape(layout = "soa"))]
            fn columns($x: &[f64], $n: usize) -> f64 $body

            #[gradient(wrt($x), tape(layout = "none"))]
            fn alone($x: &[f64], $n: usize) -> f64 $body

            #[gradient(wrt($x), name = all_grad, tape(saved = "all", layer_bytes = 128))]
            fn all($x: &[f64], $n: usize) -> f64 $body

            #[gradient(wrt($x), name = all_columns_grad, tape(saved = "all", layout = "soa"))]
            fn all_columns($x: &[f64], $n: usize) -> f64 $body

            #[test]
            fn $test() {
                check(frames, &[
                    frames_grad_in,
                    columns_grad_in,
                    alone_grad_in,
                    all_grad_in,
                    all_columns_grad_in,
                ]);
            }
        }
    };
}

type Gradient =
    fn(&mut Workspace, &[f64], &mut [f64], usize, f64) -> Result<f64, stratape::tape::TapeError>;

fn check(function: fn(&[f64], usize) -> f64, gradients: &[Gradient]) {
    for n in [0, 1, 2, 5, 6, 17, 64, 129] {
        let x: Vec<f64> = (0..n.max(4)).map(|i| 0.6 + 0.3 * (i as f64 * 1.3).sin()).collect();
        let mut expected = vec![0.0; x.len()];
        for (i, slope) in expected.iter_mut().enumerate() {
            let at = |h: f64| {
                let mut x = x.clone();
                x[i] += h;
                function(&x, n)
            };
            let h = 1e-3;
            *slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        }
        for (number, gradient) in gradients.iter().enumerate() {
            let tiny =
                TapeOptions::new().memory(16384).slab_bytes(4096).spill_to(std::env::temp_dir());
            for mut workspace in [Workspace::new(), Workspace::with(tiny).expect("a tape")] {
                let mut dx = vec![0.0; x.len()];
                let value = gradient(&mut workspace, &x, &mut dx, n, 1.0).expect("a gradient");
                assert_eq!(value.to_bits(), function(&x, n).to_bits(), "layout {number}, n = {n}");
                for (i, (d, e)) in dx.iter().zip(&expected).enumerate() {
                    assert!(
                        (d - e).abs() <= 1e-6 * (1.0 + e.abs()),
                        "layout {number}, n = {n}, x[{i}]: {d} {e}"
                    );
                }
            }
        }
    }
}

with_layouts!(short_loops_inside, |x, n| {
    let mut state = [0.3, 0.5, 0.7];
    for i in 0..n {
        let push = x[i].sin();
        for a in 0..3 {
            let mut sum = push * state[a];
            for b in 0..2 {
                sum = (sum * state[(a + b) % 3] + 0.1).cos();
            }
            state[a] = sum;
        }
        state[0] *= 1.0 + 0.1 * state[2] * push;
    }
    state[0] + state[1] * state[2]
});

with_layouts!(both_arms_save, |x, n| {
    let (mut a, mut b) = (0.4, 0.8);
    for i in 0..n {
        a = (a * x[i]).sin() + 0.3;
        if b > 0.5 {
            b = (b * a).cos() * 0.9;
        } else {
            let c = (b + a).exp();
            b = c / (1.0 + c * a);
        }
    }
    a * b
});

with_layouts!(one_arm_saves, |x, n| {
    let (mut a, mut b) = (0.4, 0.8);
    for i in 0..n {
        a = (a * x[i]).sin() + b;
        b *= (a + x[i]).cos();
        if a > 0.9 {
            b = (b * a).tanh() + 0.4;
        }
    }
    a * b
});

with_layouts!(until_it_is_enough, |x, n| {
    let mut total = 0.0;
    for i in 0..n {
        let (mut y, mut left) = (x[i], 1.0);
        while left > 0.05 {
            y = 0.7 * (y * (1.0 + 0.1 * x[i])).sin();
            left *= 0.4 + 0.05 * (i % 11) as f64;
        }
        total += y * x[i];
    }
    total
});

with_layouts!(ends_early, |x, n| {
    let (mut state, mut sum) = (0.2, 0.0);
    for i in 0..n {
        state = (state + x[i]).sin();
        sum += state * state;
        if sum > 9.5 {
            break;
        }
    }
    sum + state
});

with_layouts!(a_table_and_its_rows, |x, n| {
    let mut last = 0.5;
    let mut sum = 0.0;
    for i in 0..n {
        let mut row = 0.0;
        for j in 0..i % 7 {
            last = (last * x[j % 4] + 0.2).sin();
            row += last * last;
        }
        sum = (sum * 0.5 + row).sin();
    }
    sum + last
});

with_layouts!(whole_numbers_and_choices, |x, n| {
    let (mut state, mut index) = (0.4, 1);
    for i in 0..n {
        index = (index * 5 + 3) % x.len();
        let larger = x[index] > state;
        for c in 0..2 {
            state = if larger {
                (state * x[index]).sin()
            } else {
                (state + 0.1 * x[(index + c) % x.len()]).cos()
            };
        }
        state += 0.01 * x[i % x.len()];
    }
    state
});

/// A loop whose range is longer than the largest number of its type.
#[gradient(wrt(x))]
fn from_end_to_end(x: f64, low: i8, high: i8) -> f64 {
    let mut state = x;
    for j in low..high {
        state = (state + 0.01 * f64::from(j)).sin() + 0.3 * x;
    }
    for (k, j) in (low..high).enumerate() {
        state += 1e-4 * f64::from(j) * k as f64 * state;
    }
    state
}

#[test]
fn a_range_may_be_longer_than_its_type() {
    for (low, high) in [(-128, 127), (-100, 100), (-5, 6), (3, 3), (4, -4)] {
        let (value, slope) = from_end_to_end_grad(0.3, low, high, 1.0);
        let at = |x: f64| from_end_to_end(x, low, high);
        assert_eq!(value.to_bits(), at(0.3).to_bits());
        let expected = (at(0.3 + 1e-5) - at(0.3 - 1e-5)) / 2e-5;
        assert!((slope - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{slope} {expected}");
    }
}

#[gradient]
fn up_to_the_last(x: f64, last: u8) -> f64 {
    let mut state = x;
    for j in 250..=last {
        state = (state * f64::from(j)).sin();
    }
    state
}

#[test]
fn a_range_that_ends_at_the_largest_number_is_no_shorter() {
    let (value, _) = up_to_the_last_grad(0.3, 254, 1.0);
    assert_eq!(value.to_bits(), up_to_the_last(0.3, 254).to_bits());
    let told = std::panic::catch_unwind(|| up_to_the_last_grad(0.3, 255, 1.0)).unwrap_err();
    let told =
        told.downcast_ref::<String>().map(String::as_str).or(told.downcast_ref::<&str>().copied());
    assert!(told.is_some_and(|told| told.contains("count in a larger type")), "{told:?}");
}
