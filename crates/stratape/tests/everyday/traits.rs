//! Traits of the library that people implement for their own types.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    matrix_index: 6,
    vec3_ops: 6,
    from_into: 3,
    own_iterator: 3,
    default_config: 3,
    partial_ord: 4,
    unit_struct: 2,
    two_indices: 6,
    index_enum: 4,
    custom_order: 4,
    default_enum: 2,
    iterator_chain: 3,
    sum_refs: 6,
}

#[stratape::differentiable]
mod matrix_index {
    use std::ops::{Index, IndexMut};
    pub struct Matrix {
        rows: usize,
        cols: usize,
        data: Vec<f64>,
    }
    impl Matrix {
        fn zeros(rows: usize, cols: usize) -> Self {
            Self { rows, cols, data: vec![0.0; rows * cols] }
        }
        fn mul(&self, other: &Matrix) -> Matrix {
            let mut out = Matrix::zeros(self.rows, other.cols);
            for i in 0..self.rows {
                for j in 0..other.cols {
                    for k in 0..self.cols {
                        out[(i, j)] += self[(i, k)] * other[(k, j)];
                    }
                }
            }
            out
        }
    }
    impl Index<(usize, usize)> for Matrix {
        type Output = f64;
        fn index(&self, (i, j): (usize, usize)) -> &f64 {
            &self.data[i * self.cols + j]
        }
    }
    impl IndexMut<(usize, usize)> for Matrix {
        fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
            &mut self.data[i * self.cols + j]
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Matrix::zeros(2, 3);
        for i in 0..2 {
            for j in 0..3 {
                a[(i, j)] = x[i * 3 + j];
            }
        }
        let mut b = Matrix::zeros(3, 2);
        for i in 0..3 {
            for j in 0..2 {
                b[(i, j)] = x[j * 3 + i].sin();
            }
        }
        let c = a.mul(&b);
        c[(0, 0)] * c[(1, 1)] - c[(0, 1)] * c[(1, 0)]
    }
}

#[stratape::differentiable]
mod vec3_ops {
    use std::ops::{Add, AddAssign, Mul, Neg, Sub};
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct Vec3 {
        pub x: f64,
        pub y: f64,
        pub z: f64,
    }
    impl Vec3 {
        pub const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
        pub fn new(x: f64, y: f64, z: f64) -> Self {
            Self { x, y, z }
        }
        fn dot(self, o: Self) -> f64 {
            self.x * o.x + self.y * o.y + self.z * o.z
        }
        fn length(self) -> f64 {
            self.dot(self).sqrt()
        }
        fn normalized(self) -> Self {
            self * (1.0 / self.length())
        }
    }
    impl Add for Vec3 {
        type Output = Self;
        fn add(self, o: Self) -> Self {
            Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
        }
    }
    impl Sub for Vec3 {
        type Output = Self;
        fn sub(self, o: Self) -> Self {
            Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
        }
    }
    impl Mul<f64> for Vec3 {
        type Output = Self;
        fn mul(self, s: f64) -> Self {
            Self::new(self.x * s, self.y * s, self.z * s)
        }
    }
    impl Mul<Vec3> for f64 {
        type Output = Vec3;
        fn mul(self, v: Vec3) -> Vec3 {
            v * self
        }
    }
    impl Neg for Vec3 {
        type Output = Self;
        fn neg(self) -> Self {
            Self::new(-self.x, -self.y, -self.z)
        }
    }
    impl AddAssign for Vec3 {
        fn add_assign(&mut self, o: Self) {
            *self = *self + o;
        }
    }
    impl std::iter::Sum for Vec3 {
        fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
            iter.fold(Vec3::ZERO, |a, b| a + b)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = Vec3::new(x[0], x[1], x[2]);
        let b = Vec3::new(x[3], x[4], x[5]);
        let mut s = Vec3::default();
        s += a;
        s += 2.0 * b;
        s += -a.normalized();
        let total: Vec3 = [a, b, s].into_iter().sum();
        let t2: Vec3 = vec![a, b].iter().copied().sum();
        if a == b { 0.0 } else { total.length() + s.dot(a) + t2.x }
    }
}

#[stratape::differentiable]
mod from_into {
    pub struct Polar {
        r: f64,
        theta: f64,
    }
    pub struct Cartesian {
        x: f64,
        y: f64,
    }
    impl From<Polar> for Cartesian {
        fn from(p: Polar) -> Self {
            Cartesian { x: p.r * p.theta.cos(), y: p.r * p.theta.sin() }
        }
    }
    impl From<(f64, f64)> for Polar {
        fn from((r, theta): (f64, f64)) -> Self {
            Polar { r, theta }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p: Polar = (x[0], x[1]).into();
        let c: Cartesian = p.into();
        let d = Cartesian::from(Polar::from((x[1], x[2])));
        c.x * d.y + c.y * d.x * d.x
    }
}

#[stratape::differentiable]
mod own_iterator {
    struct Geometric {
        current: f64,
        ratio: f64,
        left: usize,
    }
    impl Iterator for Geometric {
        type Item = f64;
        fn next(&mut self) -> Option<f64> {
            if self.left == 0 {
                return None;
            }
            let value = self.current;
            self.current *= self.ratio;
            self.left -= 1;
            Some(value)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut total = 0.0;
        for v in (Geometric { current: x[0], ratio: x[1], left: 5 }) {
            total += v.sin();
        }
        let s: f64 = Geometric { current: x[1], ratio: x[2], left: 4 }.map(|v| v * v).sum();
        total + s
    }
}

#[stratape::differentiable]
mod default_config {
    #[derive(Clone, Default)]
    pub struct Config {
        rate: f64,
        momentum: f64,
        steps: usize,
        nesterov: bool,
    }
    struct Schedule {
        base: f64,
        decay: f64,
    }
    impl Default for Schedule {
        fn default() -> Self {
            Schedule { base: 0.1, decay: 0.9 }
        }
    }
    fn run(config: &Config, schedule: &Schedule, x0: f64) -> f64 {
        let mut x = x0;
        let mut v = 0.0;
        let mut rate = schedule.base;
        for _ in 0..config.steps {
            let at = if config.nesterov { x + config.momentum * v } else { x };
            let g = 2.0 * at + at.cos();
            v = config.momentum * v - rate * g * config.rate;
            x += v;
            rate *= schedule.decay;
        }
        x
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = Config { rate: x[0], momentum: x[1], steps: 8, ..Default::default() };
        let b = Config { nesterov: true, ..a.clone() };
        let s = Schedule::default();
        run(&a, &s, x[2]) + run(&b, &Schedule { base: 0.2, ..Default::default() }, x[2])
    }
}

#[stratape::differentiable]
mod partial_ord {
    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    struct Score(f64);
    #[derive(Clone, Copy, PartialEq)]
    struct Bid {
        price: f64,
        size: f64,
    }
    impl PartialOrd for Bid {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            self.price.partial_cmp(&other.price)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = (Score(x[0]), Score(x[1]));
        let best = if a > b { a } else { b };
        let (p, q) = (Bid { price: x[0], size: x[2] }, Bid { price: x[1], size: x[3] });
        let first = if p < q { p } else { q };
        best.0 * best.0 + first.price * first.size
    }
}

#[stratape::differentiable]
mod unit_struct {
    pub trait Activation {
        fn apply(&self, x: f64) -> f64;
    }
    struct Relu;
    struct Tanh;
    impl Activation for Relu {
        fn apply(&self, x: f64) -> f64 {
            x.max(0.0)
        }
    }
    impl Activation for Tanh {
        fn apply(&self, x: f64) -> f64 {
            x.tanh()
        }
    }
    fn layer<A: Activation>(a: &A, w: f64, x: f64) -> f64 {
        a.apply(w * x)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        layer(&Relu, x[0], x[1]) + layer(&Tanh, x[1], x[0] * 2.0)
    }
}

#[stratape::differentiable]
mod two_indices {
    use std::ops::{Index, IndexMut};
    #[derive(Clone)]
    struct Grid {
        w: usize,
        cells: Vec<f64>,
    }
    impl Index<usize> for Grid {
        type Output = f64;
        fn index(&self, i: usize) -> &f64 {
            &self.cells[i]
        }
    }
    impl IndexMut<usize> for Grid {
        fn index_mut(&mut self, i: usize) -> &mut f64 {
            &mut self.cells[i]
        }
    }
    impl Index<(usize, usize)> for Grid {
        type Output = f64;
        fn index(&self, (r, c): (usize, usize)) -> &f64 {
            assert!(c < self.w);
            &self.cells[r * self.w + c]
        }
    }
    impl IndexMut<(usize, usize)> for Grid {
        fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut f64 {
            assert!(c < self.w);
            &mut self.cells[r * self.w + c]
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut g = Grid { w: 3, cells: x.to_vec() };
        g[1] *= 2.0;
        g[(1, 2)] = g[(0, 1)] * g[4];
        g[(0, 0)] += g[5].sin();
        let h = g.clone();
        (0..2).map(|r| (0..3).map(|c| h[(r, c)] * h[r]).sum::<f64>()).sum()
    }
}

#[stratape::differentiable]
mod index_enum {
    use std::ops::Index;
    #[derive(Clone, Copy)]
    enum Axis {
        X,
        Y,
    }
    struct Point {
        c: [f64; 2],
    }
    impl Index<Axis> for Point {
        type Output = f64;
        fn index(&self, a: Axis) -> &f64 {
            &self.c[a as usize]
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = Point { c: [x[0], x[1]] };
        let q = Point { c: [x[2], x[3]] };
        p[Axis::X] * q[Axis::Y] - p[Axis::Y] * q[Axis::X].sin()
    }
}

#[stratape::differentiable]
mod custom_order {
    use std::cmp::Ordering;
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Level {
        Low,
        Mid,
        High,
    }
    impl PartialOrd for Level {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some((*other as i32).cmp(&(*self as i32)))
        }
    }
    #[derive(Clone, Copy)]
    struct Close(f64);
    impl PartialEq for Close {
        fn eq(&self, other: &Self) -> bool {
            (self.0 - other.0).abs() < 10.0
        }
    }
    fn level(v: f64) -> Level {
        if v < 0.4 {
            Level::Low
        } else if v < 0.7 {
            Level::Mid
        } else {
            Level::High
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(2) {
            let (a, b) = (level(w[0]), level(w[1]));
            s += if a < b {
                w[0] * w[1]
            } else if a == b {
                w[0]
            } else {
                w[1].sin()
            };
            if a >= Level::High {
                s *= 2.0;
            }
        }
        if Close(x[0]) == Close(x[1]) { s * x[2] } else { s }
    }
}

#[stratape::differentiable]
mod default_enum {
    #[derive(Clone, Copy, Default, PartialEq)]
    enum Mode {
        Euler,
        #[default]
        Midpoint,
    }
    #[derive(Clone, Default)]
    enum Force {
        Spring(f64),
        #[default]
        Free,
    }
    #[derive(Clone, Default)]
    struct Settings {
        mode: Mode,
        dt: f64,
        force: Force,
        log: Vec<f64>,
        limits: (f64, usize),
        k: [f64; 2],
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = Settings { dt: x[0], ..Default::default() };
        let m: Mode = Default::default();
        s.log.push(x[1]);
        s.log.push(x[0] * x[1]);
        let base = match s.mode {
            Mode::Euler => 100.0,
            Mode::Midpoint => x[1] * s.dt,
        };
        let force = match s.force {
            Force::Spring(k) => k,
            Force::Free => 0.5,
        };
        let t = Settings { force: Force::Spring(x[1]), ..s.clone() };
        let other = match t.force {
            Force::Spring(k) => k * k,
            Force::Free => 0.0,
        };
        if m == Mode::Midpoint {
            base * force + other + s.log.iter().sum::<f64>() + s.limits.0 + s.k[1]
        } else {
            0.0
        }
    }
}

#[stratape::differentiable]
mod iterator_chain {
    struct Newton {
        a: f64,
        guess: f64,
    }
    impl Iterator for Newton {
        type Item = f64;
        fn next(&mut self) -> Option<f64> {
            self.guess = 0.5 * (self.guess + self.a / self.guess);
            Some(self.guess)
        }
    }
    struct Countdown(u32);
    impl Iterator for Countdown {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            if self.0 == 0 {
                None
            } else {
                self.0 -= 1;
                Some(self.0)
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let root = Newton { a: x[0], guess: 1.0 }.skip(3).next().unwrap();
        let mut n = Newton { a: x[1], guess: x[2] };
        let first = n.next().unwrap();
        let second = n.next().unwrap();
        let tail: Vec<f64> = n.take(3).collect();
        let c: f64 = Countdown(4).zip(x.iter()).map(|(k, v)| f64::from(k) * v).sum();
        let mut m = Newton { a: x[2], guess: 1.0 };
        let two: f64 = m.by_ref().take(2).sum();
        root * first + second + tail.iter().sum::<f64>() + c + two + m.guess
    }
}

#[stratape::differentiable]
mod sum_refs {
    use std::iter::Sum;
    use std::ops::{Add, Mul};
    #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
    struct Money(f64);
    impl Add for Money {
        type Output = Money;
        fn add(self, o: Money) -> Money {
            Money(self.0 + o.0)
        }
    }
    impl Mul<f64> for Money {
        type Output = Money;
        fn mul(self, k: f64) -> Money {
            Money(self.0 * k)
        }
    }
    impl Sum for Money {
        fn sum<I: Iterator<Item = Money>>(it: I) -> Money {
            it.fold(Money(0.0), Add::add)
        }
    }
    impl<'a> Sum<&'a Money> for Money {
        fn sum<I: Iterator<Item = &'a Money>>(it: I) -> Money {
            it.copied().sum()
        }
    }
    impl From<f64> for Money {
        fn from(v: f64) -> Self {
            Money(v)
        }
    }
    impl From<Money> for f64 {
        fn from(m: Money) -> f64 {
            m.0
        }
    }
    fn pay(m: impl Into<Money>) -> Money {
        let m: Money = m.into();
        m * 1.1
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let wallet: Vec<Money> = x.iter().map(|&v| Money::from(v)).collect();
        let total: Money = wallet.iter().sum();
        let best = wallet.iter().copied().fold(Money(0.0), |a, b| if b > a { b } else { a });
        let raw: f64 = total.into();
        raw * best.0 + f64::from(pay(x[0])) + pay(Money(x[1])).0
    }
}
