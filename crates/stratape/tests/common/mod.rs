//! What the tests of gradients share: a comparison with differences of the program itself, and the
//! messages of panics.
//!
//! A test sees a program as a change of a *point*, the floats of all its parameters, that may also
//! return a number. With a seed for the number and weights for the floats the program leaves in
//! the point, there is one number to differentiate. Its gradient is what the shadow must
//! hold after the call, if it held the weights before: what is only read passes its weight on, so
//! that adding to the shadow and replacing it are told apart.

#![allow(dead_code, unused_macros, reason = "no test file uses all of it")]
#![allow(clippy::expect_used, clippy::panic, clippy::needless_pass_by_value)]

#[macro_use]
pub(crate) mod arrays;

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// A test for every program, with the length of its list.
macro_rules! programs {
    ($($name:ident: $len:literal),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let shape = vec![0.0; $len];
                crate::common::check_within(0.2..1.0, shape, |x| $name::f(x), |x, dx, seed| $name::f_grad(x, dx, seed));
            }
        )*
    };
}

/// A test for each module of a name: its function `f` of a list at the inputs given, and the gradient.
#[allow(unused_macros, reason = "not every file has programs")]
macro_rules! programs_at {
    ($($name:ident: [$($input:expr),* $(,)?]),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                for input in [$($input.to_vec()),*] {
                    crate::common::check_at(&input, |x| $name::f(x), |x, dx, seed| $name::f_grad(x, dx, seed));
                }
            }
        )*
    };
}

/// The same items twice: with `T` as `f64` and as `f32`.
macro_rules! both {
    ($($item:tt)*) => {
        #[stratape::differentiable]
        mod double {
            #[allow(unused_imports, reason = "not every file compares")]
            use crate::common::*;

            type T = f64;
            $($item)*
        }

        #[stratape::differentiable]
        mod single {
            #[allow(unused_imports, reason = "not every file compares")]
            use crate::common::*;

            type T = f32;
            $($item)*
        }
    };
}

/// Numbers that look random and are the same in every run (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of a range.
    pub(crate) fn within(&mut self, range: &Range<f64>) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        range.start + (range.end - range.start) * unit
    }
}

/// A float that remembers how wide it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Float {
    Single(f32),
    Double(f64),
}

impl Float {
    fn wide(self) -> f64 {
        match self {
            Self::Single(number) => f64::from(number),
            Self::Double(number) => number,
        }
    }

    fn same_bits(self, other: Self) -> bool {
        match (self, other) {
            (Self::Single(a), Self::Single(b)) => a.to_bits() == b.to_bits(),
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

/// The floats of a program's parameters.
pub(crate) trait Point: Clone {
    /// Hands out every float, and takes the number that replaces it.
    fn each(&mut self, f: &mut dyn FnMut(Float) -> f64);
}

impl Point for f64 {
    fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
        *self = f(Float::Double(*self));
    }
}

impl Point for f32 {
    fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
        *self = f(Float::Single(*self)) as f32;
    }
}

impl<P: Point, const N: usize> Point for [P; N] {
    fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
        self.iter_mut().for_each(|item| item.each(f));
    }
}

impl<P: Point> Point for Vec<P> {
    fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
        self.iter_mut().for_each(|item| item.each(f));
    }
}

macro_rules! point_of_parts {
    ($($name:ident)*) => {
        impl<$($name: Point),*> Point for ($($name,)*) {
            #[allow(non_snake_case, reason = "parts are named after their types")]
            fn each(&mut self, f: &mut dyn FnMut(Float) -> f64) {
                let ($($name,)*) = self;
                $($name.each(f);)*
            }
        }
    };
}

point_of_parts!(A);
point_of_parts!(A B);
point_of_parts!(A B C);
point_of_parts!(A B C D);

/// What a program returns: a float or nothing.
pub(crate) trait Output: Copy {
    /// A number to weigh the output with.
    fn seed(random: &mut Random) -> Self;

    /// The number, as a list of one or none.
    fn floats(self) -> Vec<Float>;
}

impl Output for () {
    fn seed(_: &mut Random) -> Self {}

    fn floats(self) -> Vec<Float> {
        Vec::new()
    }
}

impl Output for f64 {
    fn seed(random: &mut Random) -> Self {
        random.within(&(0.5..1.5))
    }

    fn floats(self) -> Vec<Float> {
        vec![Float::Double(self)]
    }
}

impl Output for f32 {
    fn seed(random: &mut Random) -> Self {
        random.within(&(0.5..1.5)) as f32
    }

    fn floats(self) -> Vec<Float> {
        vec![Float::Single(self)]
    }
}

fn floats(point: &impl Point) -> Vec<Float> {
    let mut found = Vec::new();
    point.clone().each(&mut |float| {
        found.push(float);
        float.wide()
    });
    found
}

/// Compares a gradient with differences, on points of the given shape with floats from -1.5 to 1.5.
#[track_caller]
pub(crate) fn check<P: Point, R: Output>(
    shape: P,
    primal: impl Fn(&mut P) -> R,
    gradient: impl Fn(&mut P, &mut P, R) -> R,
) {
    check_within(-1.5..1.5, shape, primal, gradient);
}

/// As [`check`], with floats of a range.
#[track_caller]
pub(crate) fn check_within<P: Point, R: Output>(
    range: Range<f64>,
    shape: P,
    primal: impl Fn(&mut P) -> R,
    gradient: impl Fn(&mut P, &mut P, R) -> R,
) {
    let mut random = Random::new(7);
    for _ in 0..4 {
        let mut point = shape.clone();
        point.each(&mut |_| random.within(&range));
        let mut weights = point.clone();
        weights.each(&mut |_| random.within(&(-1.0..1.0)));
        compare(&point, &weights, R::seed(&mut random), &primal, &gradient);
    }
}

#[track_caller]
fn compare<P: Point, R: Output>(
    point: &P,
    weights: &P,
    seed: R,
    primal: &impl Fn(&mut P) -> R,
    gradient: &impl Fn(&mut P, &mut P, R) -> R,
) {
    let run = |point: &P| {
        let mut after = point.clone();
        let mut outputs = primal(&mut after).floats();
        outputs.extend(floats(&after));
        outputs
    };
    let outputs = run(point);
    let (mut after, mut shadow) = (point.clone(), weights.clone());
    let mut again = gradient(&mut after, &mut shadow, seed).floats();
    again.extend(floats(&after));
    assert!(
        outputs.len() == again.len() && outputs.iter().zip(&again).all(|(a, b)| a.same_bits(*b)),
        "the program computes {outputs:?}, its gradient {again:?}"
    );

    let mut all_weights = seed.floats();
    all_weights.extend(floats(weights));
    let weighted = |point: &P| -> f64 {
        run(point).iter().zip(&all_weights).map(|(a, b)| a.wide() * b.wide()).sum()
    };
    let size = 1.0 + outputs.iter().map(|output| output.wide().abs()).sum::<f64>();
    for (index, adjoint) in floats(&shadow).into_iter().enumerate() {
        let (step, tolerance) = match adjoint {
            Float::Single(_) => (1e-2, 3e-3),
            Float::Double(_) => (1e-3, 1e-8),
        };
        let at = |offset: f64| {
            let (mut moved, mut position) = (point.clone(), 0);
            moved.each(&mut |float| {
                position += 1;
                if position == index + 1 { float.wide() + offset } else { float.wide() }
            });
            weighted(&moved)
        };
        // Of fourth order, so that the step can be large and rounding small.
        let near = at(step) - at(-step);
        let far = at(2.0 * step) - at(-2.0 * step);
        let difference = (8.0 * near - far) / (12.0 * step);
        let adjoint = adjoint.wide();
        assert!(
            (adjoint - difference).abs() <= tolerance * (size + difference.abs()),
            "by float {index} of {:?}: the adjoint is {adjoint}, differences give {difference}",
            floats(point)
        );
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The message of the panic that a call ends with.
#[track_caller]
pub(crate) fn panic_message<R>(call: impl FnOnce() -> R) -> String {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let caught = catch_unwind(AssertUnwindSafe(call));
    QUIET.set(false);
    match caught {
        Ok(_) => panic!("no panic"),
        Err(payload) => match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => (*payload.downcast::<&str>().expect("a text")).to_owned(),
        },
    }
}

/// Asserts that two calls end with the same panic, and returns its message.
#[track_caller]
pub(crate) fn same_panic<A, B>(primal: impl FnOnce() -> A, gradient: impl FnOnce() -> B) -> String {
    let (expected, found) = (panic_message(primal), panic_message(gradient));
    assert_eq!(found, expected, "the gradient's panic, and the program's");
    found
}

/// Compares a gradient with differences of five points at an input, twice: the second call finds the memory of the first.
#[allow(dead_code, reason = "not every file gives inputs")]
pub(crate) fn check_at(
    x: &Vec<f64>,
    f: impl Fn(&Vec<f64>) -> f64,
    gradient: impl Fn(&Vec<f64>, &mut Vec<f64>, f64) -> f64,
) {
    let value = f(x);
    for _ in 0..2 {
        let mut dx = vec![0.0; x.len()];
        let with_gradient = gradient(x, &mut dx, 1.0);
        assert_eq!(
            value.to_bits(),
            with_gradient.to_bits(),
            "{value} and {with_gradient} at {x:?}"
        );
        for (i, d) in dx.iter().enumerate() {
            let h = 1e-5 * x[i].abs().max(1.0);
            let at = |step: f64| {
                let mut moved = x.clone();
                moved[i] += step;
                f(&moved)
            };
            let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let close = 2e-6 * (1.0 + value.abs() + difference.abs());
            assert!((difference - d).abs() <= close, "by {i}: {difference} and {d} at {x:?}");
        }
    }
}
