//! Types with several methods, operators or constants of one name, and closures of which there are two.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    copied_closures: 3,
    traits_by_name: 3,
    lists_with_traits: 3,
    operators_of_references: 6,
    sums_of_references: 4,
    constants_of_floats: 2,
    names_in_patterns: 3,
}

mod copied_closures {
    #[stratape::differentiable]
    fn twice(mut h: impl FnMut() -> f64) -> f64 {
        h() + 2.0 * h()
    }

    #[stratape::differentiable]
    fn borrowed(h: &mut impl FnMut() -> f64) -> f64 {
        h() * 3.0
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut c = x[0];
        let step = x[1];
        let mut h = move || {
            c = c * c + step;
            c
        };
        let mut other = h;
        let a = other() + other();
        let b = h();
        let d = twice(h) + twice(h);
        let e = borrowed(&mut h) + h();
        a * b + d * e + c * x[2]
    }
}

#[stratape::differentiable]
mod traits_by_name {
    pub trait Prior {
        fn log_prob(&self, x: f64) -> f64;
    }

    pub trait Likelihood {
        fn log_prob(&self, x: f64) -> f64;
        fn scale(&self) -> f64 {
            2.0
        }
    }

    #[derive(Clone, Copy)]
    pub struct Model {
        mean: f64,
        width: f64,
    }

    impl Prior for Model {
        fn log_prob(&self, x: f64) -> f64 {
            -x * x * self.width
        }
    }

    impl Likelihood for Model {
        fn log_prob(&self, x: f64) -> f64 {
            -(x - self.mean).powi(2) * self.scale() + Prior::log_prob(self, x)
        }
    }

    fn total<M: Prior + Likelihood>(m: &M, x: f64) -> f64 {
        Prior::log_prob(m, x) * 3.0 + Likelihood::log_prob(m, x)
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = Model { mean: x[0], width: x[1] };
        total(&m, x[2]) + <Model as Likelihood>::log_prob(&m, x[0] * x[2])
    }
}

#[stratape::differentiable]
mod lists_with_traits {
    trait Norm {
        fn norm(&self) -> f64;
    }

    impl Norm for Vec<f64> {
        fn norm(&self) -> f64 {
            self.iter().map(|v| v * v).sum::<f64>().sqrt()
        }
    }

    fn of(v: Vec<f64>) -> f64 {
        v.norm()
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        vec![x[0], x[1]].norm() + of(vec![x[1], x[2], 1.0]) * x.to_vec().norm()
    }
}

#[stratape::differentiable]
mod operators_of_references {
    use std::ops::{Add, Mul, Neg, Sub};

    #[derive(Clone, Copy)]
    pub struct V {
        x: f64,
        y: f64,
    }

    impl Add for V {
        type Output = V;
        fn add(self, o: V) -> V {
            &self + &o
        }
    }

    impl Add<&V> for &V {
        type Output = V;
        fn add(self, other: &V) -> V {
            V { x: self.x + other.x, y: self.y + other.y }
        }
    }

    impl Add<&V> for V {
        type Output = V;
        fn add(self, o: &V) -> V {
            self + *o
        }
    }

    impl Sub for V {
        type Output = V;
        fn sub(self, o: V) -> V {
            V { x: self.x - o.x, y: self.y - o.y }
        }
    }

    impl<'a> Sub<&'a V> for &'a V {
        type Output = V;
        fn sub(self, b: &'a V) -> V {
            V { x: self.x - b.x, y: self.y - b.y }
        }
    }

    impl Mul<&V> for f64 {
        type Output = V;
        fn mul(self, v: &V) -> V {
            self * v.clone()
        }
    }

    impl Mul<V> for f64 {
        type Output = V;
        fn mul(self, v: V) -> V {
            V { x: self * v.x, y: self * v.y }
        }
    }

    impl Neg for &V {
        type Output = V;
        fn neg(self) -> V {
            -*self
        }
    }

    impl Neg for V {
        type Output = V;
        fn neg(self) -> V {
            V { x: -self.x, y: -self.y }
        }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b, c) = (V { x: x[0], y: x[1] }, V { x: x[2], y: x[3] }, V { x: x[4], y: x[5] });
        let s = &a + &b + c + &a - (&b - &c);
        let t = 2.0 * &s - 3.0 * (-&a) + -b;
        s.x * t.y + t.x * t.x * s.y
    }
}

#[stratape::differentiable]
mod sums_of_references {
    use std::iter::Sum;

    #[derive(Clone, Copy)]
    pub struct S {
        a: f64,
    }

    impl<'a> Sum<&'a S> for S {
        fn sum<I: Iterator<Item = &'a S>>(iter: I) -> S {
            iter.copied().sum()
        }
    }

    impl Sum for S {
        fn sum<I: Iterator<Item = S>>(iter: I) -> S {
            iter.fold(S { a: 1.0 }, |t, s| S { a: t.a * s.a + 1.0 })
        }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let all: Vec<S> = x.iter().map(|v| S { a: *v }).collect();
        let one: S = all.iter().sum();
        let two: S = all.into_iter().sum();
        one.a * two.a
    }
}

#[stratape::differentiable]
mod constants_of_floats {
    trait Real {
        const EPSILON: Self;
        const HALF: Self;
    }

    impl Real for f64 {
        const EPSILON: f64 = f64::EPSILON;
        const HALF: f64 = 0.5;
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        x[0] * f64::HALF * x[1] + f64::EPSILON
    }
}

mod names_in_patterns {
    #[stratape::differentiable]
    fn first(v: Option<f64>) -> f64 {
        match v {
            Some(zero) if zero > 0.5 => zero * 2.0,
            Some(one) => one * one,
            None => 0.0,
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let Some(last) = x.last() else { return 0.0 };
        if let [a, rest @ ..] = x {
            return a * last + first(rest.first().copied()) + rest.len() as f64;
        }
        *last
    }
}
