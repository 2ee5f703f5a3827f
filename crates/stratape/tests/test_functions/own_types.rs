//! Structs with operators, traits with parameters, alternatives.

#![allow(
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::panic,
    clippy::unwrap_used,
    reason = "as people write them"
)]

#[stratape::differentiable]
mod with_traits {
    use std::f64::consts::{E, PI};
    use std::ops::{Add, Mul, Neg, Sub};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Vec2 {
        x: f64,
        y: f64,
    }

    impl Vec2 {
        const ONES: Vec2 = Vec2 { x: 1.0, y: 1.0 };

        fn new(x: f64, y: f64) -> Self {
            Self { x, y }
        }

        fn of([x, y]: [f64; 2]) -> Self {
            Vec2 { x, y }
        }

        fn dot(self, other: Self) -> f64 {
            self.x * other.x + self.y * other.y
        }

        fn norm(&self) -> f64 {
            self.dot(*self).sqrt()
        }

        fn sum(&self) -> f64 {
            self.dot(Self::ONES)
        }

        fn map<F: Fn(f64) -> f64>(self, f: F) -> Self {
            Self { x: f(self.x), y: f(self.y) }
        }

        fn swapped(self) -> Self {
            Self { x: self.y, y: self.x }
        }
    }

    impl Add for Vec2 {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            Self::new(self.x + other.x, self.y + other.y)
        }
    }

    impl Sub for Vec2 {
        type Output = Vec2;
        fn sub(self, other: Vec2) -> Vec2 {
            self + -other
        }
    }

    impl Neg for Vec2 {
        type Output = Self;
        fn neg(self) -> Self {
            -1.0 * self
        }
    }

    impl Mul<Vec2> for f64 {
        type Output = Vec2;
        fn mul(self, v: Vec2) -> Vec2 {
            v.map(|c| self * c)
        }
    }

    /// A sum over the arguments.
    trait Separable {
        const SCALE: f64 = 1.0;
        fn term(&self, x: f64) -> f64;
        fn total(&self, x: &[f64]) -> f64 {
            let mut sum = 0.0;
            for &v in x {
                sum += self.term(v);
            }
            Self::SCALE * sum
        }
    }

    struct Squares;
    impl Separable for Squares {
        fn term(&self, x: f64) -> f64 {
            x * x
        }
    }

    struct Nothing;
    impl Separable for Nothing {
        const SCALE: f64 = 0.0;
        fn term(&self, x: f64) -> f64 {
            x
        }
    }

    struct Waves {
        amplitude: f64,
        number: f64,
    }
    impl Separable for Waves {
        fn term(&self, x: f64) -> f64 {
            self.amplitude * (self.number * x).cos()
        }
    }

    struct Polynomial<const N: usize> {
        coefficients: [f64; N],
    }
    impl<const N: usize> Polynomial<N> {
        fn at(&self, x: f64) -> f64 {
            let mut value = 0.0;
            for c in self.coefficients.iter().rev() {
                value = value * x + c;
            }
            value
        }
    }
    impl Separable for Polynomial<5> {
        const SCALE: f64 = 0.5;
        fn term(&self, x: f64) -> f64 {
            self.at(x)
        }
    }

    struct Both<A, B>(A, B);
    impl<A: Separable, B: Separable> Separable for Both<A, B> {
        fn term(&self, x: f64) -> f64 {
            self.0.term(x) + self.1.term(x)
        }
    }

    #[gradient]
    pub fn zero(x: &[f64]) -> f64 {
        Nothing.total(x)
    }

    #[gradient]
    pub fn sphere(x: &[f64]) -> f64 {
        Squares.total(x)
    }

    #[gradient]
    pub fn ackley(x: &[f64]) -> f64 {
        let n = x.len() as f64;
        let waves = Waves { amplitude: 1.0, number: 2.0 * PI };
        -20.0 * (-0.2 * (Squares.total(x) / n).sqrt()).exp() - (waves.total(x) / n).exp() + 20.0 + E
    }

    #[gradient]
    pub fn rastrigin(x: &[f64]) -> f64 {
        10.0 * x.len() as f64 + Both(Squares, Waves { amplitude: -10.0, number: 2.0 * PI }).total(x)
    }

    #[gradient]
    pub fn styblinski_tang(x: &[f64]) -> f64 {
        let term = Polynomial { coefficients: [0.0, 5.0, -16.0, 0.0, 1.0] };
        term.total(x)
    }

    #[gradient]
    pub fn rosenbrock(x: &[f64]) -> f64 {
        match x {
            [a, rest @ ..] if !rest.is_empty() => {
                let b = rest[0];
                100.0 * (b - a * a).powi(2) + (1.0 - a).powi(2) + rosenbrock(rest)
            }
            _ => 0.0,
        }
    }

    enum Place {
        First,
        Middle,
        Last,
    }

    fn place(i: usize, n: usize) -> Place {
        match i {
            0 => Place::First,
            i if i + 1 == n => Place::Last,
            _ => Place::Middle,
        }
    }

    #[gradient]
    pub fn levy(x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, v) in x.iter().enumerate() {
            let w = 1.0 + (v - 1.0) / 4.0;
            let hump =
                |phase: f64, height: f64| (w - 1.0).powi(2) * (1.0 + height * phase.sin().powi(2));
            sum += match place(i, x.len()) {
                Place::First => (PI * w).sin().powi(2),
                Place::Middle => hump(PI * w + 1.0, 10.0),
                Place::Last => hump(2.0 * PI * w, 1.0),
            };
        }
        sum
    }

    #[gradient]
    pub fn levy_n13(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let sin2 = |v: f64| v.sin() * v.sin();
        let d = p - Vec2::ONES;
        let waves = Vec2::new(3.0 * PI * p.y, 2.0 * PI * p.y).map(sin2);
        sin2(3.0 * PI * p.x) + d.map(|d| d * d).dot(Vec2::ONES + waves)
    }

    #[gradient]
    pub fn beale(p: &[f64; 2]) -> f64 {
        let Vec2 { x, y } = Vec2::of(*p);
        let residual = |c: f64, n: i32| c - x * (1.0 - y.powi(n));
        let (a, b, c) = (residual(1.5, 1), residual(2.25, 2), residual(2.625, 3));
        a * a + b * b + c * c
    }

    #[gradient]
    pub fn booth(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let r = p + 2.0 * p.swapped() - Vec2::new(7.0, 5.0);
        r.dot(r)
    }

    /// The root of a distance, on either side.
    fn root(d: f64) -> Option<f64> {
        (d > 0.0).then(|| d.sqrt())
    }

    #[gradient]
    pub fn bukin_n6(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let d = p.y - 0.01 * p.x * p.x;
        let root = root(d).or_else(|| root(-d)).unwrap_or(0.0);
        100.0 * root + 0.01 * (p.x + 10.0).abs()
    }

    #[gradient]
    pub fn cross_in_tray(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let Vec2 { x, y } = p.map(f64::sin);
        -0.0001 * ((x * y * (100.0 - p.norm() / PI).abs().exp()).abs() + 1.0).powf(0.1)
    }

    #[gradient]
    pub fn easom(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let d = p - PI * Vec2::ONES;
        let c = p.map(|v| v.cos());
        -(c.x * c.y) * (-d.dot(d)).exp()
    }

    #[gradient]
    pub fn eggholder(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p) + Vec2::new(0.0, 47.0);
        let at = Vec2::new(p.x - p.y, p.y + 0.5 * p.x).map(|v| v.abs().sqrt().sin());
        -p.dot(at)
    }

    fn price(p: Vec2) -> f64 {
        let Vec2 { x, y } = p;
        let s = p.sum();
        let first = 1.0 + (s + 1.0).powi(2) * (19.0 - 14.0 * s + 3.0 * s * s);
        let d = 2.0 * x - 3.0 * y;
        let second = 30.0 + d * d * (18.0 - 16.0 * d + 3.0 * d * d);
        first * second
    }

    #[gradient]
    pub fn goldsteinprice(p: &[f64; 2]) -> f64 {
        price(Vec2::of(*p))
    }

    #[gradient]
    pub fn picheny(p: &[f64; 2]) -> f64 {
        (price(4.0 * Vec2::of(*p) - 2.0 * Vec2::ONES).log10() - 8.693) / 2.427
    }

    #[gradient]
    pub fn himmelblau(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let r = p.map(|v| v * v) + p.swapped() - Vec2::new(11.0, 7.0);
        r.dot(r)
    }

    #[gradient]
    pub fn holder_table(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let height = p.x.sin() * p.y.cos() * (1.0 - p.norm() / PI).abs().exp();
        match height {
            ..0.0 => height,
            _ => -height,
        }
    }

    #[gradient]
    pub fn matyas(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        0.26 * p.dot(p) - 0.24 * p.dot(p.swapped())
    }

    #[gradient]
    pub fn mccormick(p: &[f64; 2]) -> f64 {
        let p = Vec2::of(*p);
        let d = p.dot(Vec2::new(1.0, -1.0));
        p.sum().sin() + d * d + p.dot(Vec2::new(-1.5, 2.5)) + 1.0
    }

    struct Schaffer<F> {
        wave: F,
    }

    impl<F: Fn(f64) -> f64> Schaffer<F> {
        fn at(&self, p: Vec2) -> f64 {
            let squares = p.map(|v| v * v);
            let wave = (self.wave)(squares.x - squares.y);
            0.5 + (wave.powi(2) - 0.5) / (1.0 + 0.001 * squares.sum()).powi(2)
        }
    }

    #[gradient]
    pub fn schaffer_n2(p: &[f64; 2]) -> f64 {
        Schaffer { wave: f64::sin }.at(Vec2::of(*p))
    }

    #[gradient]
    pub fn schaffer_n4(p: &[f64; 2]) -> f64 {
        Schaffer { wave: |v: f64| v.abs().sin().cos() }.at(Vec2::of(*p))
    }

    #[gradient]
    pub fn threehumpcamel(p: &[f64; 2]) -> f64 {
        let Vec2 { x, y } = Vec2::of(*p);
        let humps = Polynomial { coefficients: [0.0, 2.0, -1.05, 1.0 / 6.0] };
        humps.at(x * x) + y * (x + y)
    }
}

pub use with_traits::*;
