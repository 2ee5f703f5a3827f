//! A panic of the program is the same panic in its gradient.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    unconditional_panic,
    arithmetic_overflow,
    unreachable_code,
    unused_variables,
    reason = "the constructs under test, also in ways nobody should write them"
)]

use crate::common::{panic_message, same_panic};
use stratape::gradient;

/// Two functions of one signature that must end with the same panic.
macro_rules! alike {
    ($function:ident, $gradient:ident, $x:expr, $n:expr) => {{
        let x: &[f64] = &$x;
        same_panic(|| $function(x, $n), || $gradient(x, &mut vec![0.0; x.len()], $n, 1.0))
    }};
}

#[gradient]
fn assertions(x: &[f64], n: usize) -> f64 {
    assert!(n > 0);
    assert!(x.len() >= n && n != 7, "{n} of {} elements, first {:.1}", x.len(), x[0]);
    assert_eq!(n % 2, 1);
    assert_ne!(n, 5, "not {n}");
    let last = x[n - 1];
    debug_assert!(last > 0.0);
    debug_assert_eq!(last, last.abs(), "of {x:?}");
    last * x[0]
}

#[test]
fn assertions_run_in_the_forward_pass() {
    assert_eq!(alike!(assertions, assertions_grad, [1.0], 0), "assertion failed: n > 0");
    assert_eq!(alike!(assertions, assertions_grad, [1.0], 2), "2 of 1 elements, first 1.0");
    alike!(assertions, assertions_grad, [1.0, 2.0], 2);
    alike!(assertions, assertions_grad, [1.0; 5], 5);
    if cfg!(debug_assertions) {
        assert_eq!(alike!(assertions, assertions_grad, [-1.0], 1), "assertion failed: last > 0.0");
    }
    let mut dx = [0.0; 3];
    assert_eq!(assertions_grad(&[2.0, 1.0, 3.0], &mut dx, 3, 1.0), 6.0);
    assert_eq!(dx, [3.0, 0.0, 2.0]);
}

#[gradient]
fn panics(x: &[f64], n: usize) -> f64 {
    if n == 0 {
        panic!("n is {n}, and x begins with {}", x[0]);
    }
    match n {
        1 => x[0] * x[0],
        2 => unreachable!("two"),
        3 => unreachable!(),
        4 => todo!(),
        5 => unimplemented!("five"),
        6 => panic!("plain"),
        _ => panic!(),
    }
}

#[test]
fn panics_have_the_same_message() {
    assert_eq!(alike!(panics, panics_grad, [1.5], 0), "n is 0, and x begins with 1.5");
    for n in 2..8 {
        alike!(panics, panics_grad, [1.5], n);
    }
    let mut dx = [0.0];
    assert_eq!((panics_grad(&[3.0], &mut dx, 1, 1.0), dx), (9.0, [6.0]));
}

#[gradient]
fn indices(x: &[f64], n: usize) -> f64 {
    let table = [x[0], 2.0, 3.0];
    let part = &x[1..3];
    match n {
        0 => x[100],
        1 => table[n + 2],
        2 => part[n],
        3 => {
            let _ = x[200];
            x[0]
        }
        4 => {
            let unused = part[77] * x[1];
            x[0]
        }
        5 => {
            let mut list = vec![0.0; n];
            list[n] = x[0];
            list[0]
        }
        6 => x[n..n + 3][0],
        7 => {
            let mut list = x.to_vec();
            list.swap(0, n);
            list[0]
        }
        _ => (0..n).map(|i| x[i] * x[i]).sum(),
    }
}

#[test]
fn indices_out_of_bounds() {
    let message = alike!(indices, indices_grad, [1.0; 4], 0);
    assert_eq!(message, "index out of bounds: the len is 4 but the index is 100");
    for n in 1..9 {
        alike!(indices, indices_grad, [1.0; 4], n);
    }
}

#[gradient]
fn checks_in_a_loop(x: &[f64], n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        assert!(i < 3, "at most three");
        s += x[i] * x[i];
    }
    s + x.windows(2).map(|w| w[n]).sum::<f64>()
}

#[test]
fn checks_come_in_the_order_of_the_program() {
    assert_eq!(alike!(checks_in_a_loop, checks_in_a_loop_grad, [1.0; 3], 5), "at most three");
    let message = alike!(checks_in_a_loop, checks_in_a_loop_grad, [1.0; 4], 2);
    assert_eq!(message, "index out of bounds: the len is 2 but the index is 2");
}

#[gradient]
fn slices(x: &[f64], n: usize) -> f64 {
    let (a, b) = (n / 10, n % 10);
    let part = match n {
        0..=9 => return x[..b][0] + x[0],
        10..=89 => return x[a..b][0] * x[0],
        90..=99 => return x[b..][0] * x[0],
        100..=109 => return x[1..=b].iter().sum(),
        110..=119 => return x.split_at(b).1.iter().sum(),
        120..=129 => return x.chunks_exact(b).map(|c| c[0]).sum(),
        130..=139 => return x.windows(b).map(|w| w[0]).sum(),
        140..=149 => return (0..3).step_by(b).map(|i| x[i]).sum(),
        150..=159 => return x[1..][b..][0],
        _ => x[0],
    };
    let mut list = [0.0; 3];
    list.copy_from_slice(&x[..b]);
    list[0] * part
}

#[test]
fn slices_out_of_range() {
    for n in [5, 35, 32, 95, 105, 115, 120, 130, 140, 154, 162] {
        alike!(slices, slices_grad, [1.0; 4], n);
    }
    let mut dx = [0.0; 4];
    assert_eq!((slices_grad(&[2.0; 4], &mut dx, 163, 1.0), dx[0]), (4.0, 4.0));
}

#[gradient]
fn integers(x: &[f64], n: usize) -> f64 {
    let k = n as i32 - 5;
    let at = match n {
        0 => 10 / n,
        1 => 10 % (n - 1),
        2 => n - 3,
        3 => usize::MAX - 2 + n,
        4 => usize::MAX * n,
        5 => (100 / k) as usize,
        6 => (i32::MIN / -k) as usize,
        7 => (i32::MIN + k - k * 2) as usize,
        8 => 1 << (n * 8),
        9 => (-(i32::MIN + (k - 4))) as usize,
        10 => 2_usize.pow(64),
        _ => 0,
    };
    x[at.min(1)] * x[0]
}

#[test]
fn integer_arithmetic() {
    assert_eq!(alike!(integers, integers_grad, [1.0; 2], 0), "attempt to divide by zero");
    for n in [1, 5, 6] {
        alike!(integers, integers_grad, [1.0; 2], n);
    }
    if cfg!(debug_assertions) {
        for n in [2, 3, 4, 7, 8, 9, 10] {
            alike!(integers, integers_grad, [1.0; 2], n);
        }
    }
}

#[gradient]
fn options(x: &[f64], n: usize) -> f64 {
    let part = &x[..n];
    let last = if n < 2 { *part.last().unwrap() } else { x[0] };
    let first = part.first().copied().expect("some elements");
    let most = part.iter().copied().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
    last * first * most
}

#[test]
fn options_that_are_empty() {
    let message = alike!(options, options_grad, [1.0], 0);
    assert_eq!(message, "called `Option::unwrap()` on a `None` value");
    alike!(options, options_grad, [1.0, f64::NAN], 2);
}

#[gradient]
fn expected(x: &[f64], n: usize) -> f64 {
    x[..n].iter().copied().min_by(f64::total_cmp).expect("some elements")
}

#[test]
fn expectations_have_their_message() {
    assert_eq!(alike!(expected, expected_grad, [1.0], 0), "some elements");
}

#[gradient]
fn clamped(x: &[f64], n: usize) -> f64 {
    x[0].clamp(x[1], n as f64)
}

#[test]
fn clamp_with_bounds_in_the_wrong_order() {
    alike!(clamped, clamped_grad, [1.0, 2.0], 1);
    alike!(clamped, clamped_grad, [1.0, f64::NAN], 1);
}

#[stratape::differentiable]
mod model {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Spring {
        pub(crate) k: f64,
        pub(crate) rest: f64,
    }

    impl Spring {
        fn force(&self, at: f64) -> f64 {
            assert!(self.k > 0.0);
            assert!(self.rest >= 0.0, "rest length {} of {:?}", self.rest, self);
            self.k * (at - self.rest)
        }
    }

    fn mean(part: &[f64]) -> f64 {
        assert!(!part.is_empty());
        assert!(part.len() < 3, "{} elements in {part:?}", part.len());
        part.iter().sum::<f64>() / part.len() as f64
    }

    pub(crate) struct Series {
        pub(crate) values: Vec<f64>,
    }

    #[gradient]
    pub(crate) fn first(series: &Series) -> f64 {
        series.values[0]
    }

    #[gradient]
    pub(crate) fn total(springs: &[Spring], x: &[f64], n: usize) -> f64 {
        let local = Spring { k: x[0], rest: 0.25 };
        assert!(local.k < 5.0, "local {} {}", local.k, local.rest);
        let pair = (x[0], n);
        assert_ne!(pair.1, 9, "pair {pair:?}");
        let mean = mean(&x[n..]);
        springs.iter().map(|spring| spring.force(mean)).sum::<f64>() + local.force(x[1])
    }
}

#[test]
fn assertions_of_helpers_and_methods() {
    let spring = model::Spring { k: 2.0, rest: 0.5 };
    let alike = |spring: model::Spring, x: &[f64], n: usize| {
        same_panic(
            || model::total(&[spring], x, n),
            || model::total_grad(&[spring], &mut [spring], x, &mut vec![0.0; x.len()], n, 1.0),
        )
    };
    let x = [1.0, 2.0, 3.0];
    assert_eq!(alike(model::Spring { k: -1.0, ..spring }, &x, 1), "assertion failed: self.k > 0.0");
    assert_eq!(
        alike(model::Spring { rest: -1.0, ..spring }, &x, 1),
        "rest length -1 of Spring { k: 2.0, rest: -1.0 }"
    );
    assert_eq!(alike(spring, &x, 0), "3 elements in [1.0, 2.0, 3.0]");
    assert_eq!(alike(spring, &x, 3), "assertion failed: !part.is_empty()");
    assert_eq!(alike(spring, &[6.0, 1.0], 1), "local 6 0.25");
    alike(spring, &x, 9);
    model::total_grad(&[spring], &mut [spring], &x, &mut [0.0; 3], 1, 1.0);
}

#[gradient]
fn writes(y: &mut [f64], x: &[f64], n: usize) -> f64 {
    y[0] = x[0];
    x[n] * y[0]
}

#[test]
fn shadows_of_another_length_are_refused_before_anything_is_touched() {
    let (mut y, mut dy, mut dx) = ([7.0, 7.0], [1.0, 1.0], [0.0; 3]);
    let message = panic_message(|| writes_grad(&mut y, &mut dy, &[2.0, 2.0], &mut dx, 0, 1.0));
    assert_eq!(message, "the shadow of `x` has length 3, but `x` has length 2");
    let message =
        panic_message(|| writes_grad(&mut y, &mut dy[..1], &[2.0, 2.0], &mut dx[..2], 0, 1.0));
    assert_eq!(message, "the shadow of `y` has length 1, but `y` has length 2");
    assert_eq!((y, dy, dx), ([7.0, 7.0], [1.0, 1.0], [0.0; 3]));
}

#[test]
fn shadows_inside_structs_are_measured_too() {
    let series = |len| model::Series { values: vec![1.0; len] };
    let message = panic_message(|| model::first_grad(&series(2), &mut series(3), 1.0));
    assert_eq!(
        message,
        "the shadow of `series.values` has length 3, but `series.values` has length 2"
    );
    assert_eq!(model::first_grad(&series(2), &mut series(2), 1.0), model::first(&series(2)));
}

#[test]
fn a_panic_leaves_the_written_memory_as_the_program_does() {
    let (mut y, mut again, mut dy, mut dx) = ([7.0, 7.0], [7.0, 7.0], [1.0; 2], [0.0; 2]);
    same_panic(
        || writes(&mut y, &[2.0, 2.0], 5),
        || writes_grad(&mut again, &mut dy, &[2.0, 2.0], &mut dx, 5, 1.0),
    );
    assert_eq!((y, dy, dx), (again, [1.0; 2], [0.0; 2]));
}
