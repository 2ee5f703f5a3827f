//! Small games, models and numerics, as people write them.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    platformer: 4,
    ode_trait: 4,
    kalman_matrix: 6,
    transformer_head: 12,
    em_mixture: 6,
    particles: 8,
    spline: 8,
    quaternion: 7,
    soa_physics: 8,
}

#[stratape::differentiable]
mod platformer {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Ground {
        Air,
        Floor,
        Ice { slip: f64 },
    }
    #[derive(Clone, Copy, Debug)]
    struct Player {
        x: f64,
        y: f64,
        vx: f64,
        vy: f64,
        ground: Ground,
    }
    impl Player {
        fn step(&mut self, push: f64, dt: f64) {
            let drag = match self.ground {
                Ground::Air => 0.02,
                Ground::Floor => 0.3,
                Ground::Ice { slip } => 0.3 * slip,
            };
            self.vx += (push - drag * self.vx) * dt;
            if self.ground == Ground::Air {
                self.vy -= 9.8 * dt;
            }
            self.x += self.vx * dt;
            self.y += self.vy * dt;
            if self.y <= 0.0 {
                self.y = 0.0;
                self.vy = 0.0;
                self.ground =
                    if self.x > 0.3 { Ground::Ice { slip: 0.1 + self.x } } else { Ground::Floor };
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = Player { x: 0.0, y: 0.2 * x[0], vx: x[1], vy: 0.0, ground: Ground::Air };
        for i in 0..30 {
            p.step(x[2] + x[3] * (i as f64 * 0.1).cos(), 0.02);
        }
        p.x + 0.5 * p.vx * p.vx
    }
}

#[stratape::differentiable]
mod ode_trait {
    pub trait System<const N: usize> {
        fn rhs(&self, t: f64, y: &[f64; N]) -> [f64; N];
    }
    struct Oscillator {
        k: f64,
        c: f64,
    }
    impl System<2> for Oscillator {
        fn rhs(&self, t: f64, y: &[f64; 2]) -> [f64; 2] {
            [y[1], -self.k * y[0] - self.c * y[1] + t.sin()]
        }
    }
    fn axpy<const N: usize>(a: f64, x: &[f64; N], y: &[f64; N]) -> [f64; N] {
        let mut out = *y;
        for i in 0..N {
            out[i] += a * x[i];
        }
        out
    }
    fn rk4<S: System<N>, const N: usize>(
        s: &S,
        mut y: [f64; N],
        t1: f64,
        steps: usize,
    ) -> [f64; N] {
        let h = t1 / steps as f64;
        for i in 0..steps {
            let t = i as f64 * h;
            let k1 = s.rhs(t, &y);
            let k2 = s.rhs(t + h / 2.0, &axpy(h / 2.0, &k1, &y));
            let k3 = s.rhs(t + h / 2.0, &axpy(h / 2.0, &k2, &y));
            let k4 = s.rhs(t + h, &axpy(h, &k3, &y));
            for j in 0..N {
                y[j] += h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
            }
        }
        y
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let y = rk4(&Oscillator { k: x[0], c: x[1] }, [x[2], x[3]], 1.0, 8);
        y[0] * y[0] + y[1]
    }
}

#[stratape::differentiable]
mod kalman_matrix {
    use std::ops::{Add, Mul, Sub};
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct M2([[f64; 2]; 2]);
    #[derive(Clone, Copy)]
    struct C2([f64; 2]);
    impl M2 {
        const I: M2 = M2([[1.0, 0.0], [0.0, 1.0]]);
        fn t(&self) -> M2 {
            let m = &self.0;
            M2([[m[0][0], m[1][0]], [m[0][1], m[1][1]]])
        }
        fn map<F: Fn(f64) -> f64>(self, f: F) -> M2 {
            M2(self.0.map(|row| row.map(&f)))
        }
    }
    impl Mul for M2 {
        type Output = M2;
        fn mul(self, o: M2) -> M2 {
            let mut r = [[0.0; 2]; 2];
            for (i, row) in r.iter_mut().enumerate() {
                for (j, v) in row.iter_mut().enumerate() {
                    *v = (0..2).map(|k| self.0[i][k] * o.0[k][j]).sum();
                }
            }
            M2(r)
        }
    }
    impl Mul<C2> for M2 {
        type Output = C2;
        fn mul(self, v: C2) -> C2 {
            C2(std::array::from_fn(|i| self.0[i][0] * v.0[0] + self.0[i][1] * v.0[1]))
        }
    }
    impl Add for M2 {
        type Output = M2;
        fn add(self, o: M2) -> M2 {
            let mut r = self;
            for i in 0..2 {
                for j in 0..2 {
                    r.0[i][j] += o.0[i][j];
                }
            }
            r
        }
    }
    impl Sub for M2 {
        type Output = M2;
        fn sub(self, o: M2) -> M2 {
            self + o.map(|v| -v)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let dt = 0.1;
        let fm = M2([[1.0, dt], [0.0, 1.0]]);
        let q = M2::I.map(|v| v * x[0] * 0.1);
        let r = x[1];
        let (mut s, mut p) = (C2([x[2], x[3]]), M2::I);
        let mut ll = 0.0;
        for z in [x[4], x[5], x[4] + 0.1] {
            s = fm * s;
            p = fm * p * fm.t() + q;
            let y = z - s.0[0];
            let sv = p.0[0][0] + r;
            let k = C2([p.0[0][0] / sv, p.0[1][0] / sv]);
            s = C2([s.0[0] + k.0[0] * y, s.0[1] + k.0[1] * y]);
            let kh = M2([[k.0[0], 0.0], [k.0[1], 0.0]]);
            p = (M2::I - kh) * p;
            ll -= 0.5 * (sv.ln() + y * y / sv);
        }
        ll + p.0[1][1]
    }
}

#[stratape::differentiable]
mod transformer_head {
    #[derive(Clone, Debug)]
    struct Tensor {
        shape: (usize, usize),
        data: Vec<f64>,
    }
    impl Tensor {
        fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
            let mut data = Vec::with_capacity(rows * cols);
            for i in 0..rows {
                for j in 0..cols {
                    data.push(f(i, j));
                }
            }
            Tensor { shape: (rows, cols), data }
        }
        fn at(&self, i: usize, j: usize) -> f64 {
            self.data[i * self.shape.1 + j]
        }
        fn matmul(&self, o: &Tensor) -> Tensor {
            assert_eq!(self.shape.1, o.shape.0);
            Tensor::from_fn(self.shape.0, o.shape.1, |i, j| {
                (0..self.shape.1).map(|k| self.at(i, k) * o.at(k, j)).sum()
            })
        }
        fn transposed(&self) -> Tensor {
            Tensor::from_fn(self.shape.1, self.shape.0, |i, j| self.at(j, i))
        }
        fn softmax_rows(mut self) -> Tensor {
            let cols = self.shape.1;
            for row in self.data.chunks_mut(cols) {
                let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut sum = 0.0;
                for v in row.iter_mut() {
                    *v = (*v - max).exp();
                    sum += *v;
                }
                row.iter_mut().for_each(|v| *v /= sum);
            }
            self
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let tokens = Tensor::from_fn(3, 2, |i, j| x[i * 2 + j]);
        let wq = Tensor { shape: (2, 2), data: x[6..10].to_vec() };
        let q = tokens.matmul(&wq);
        let scores = q.matmul(&tokens.transposed());
        let attn = scores.softmax_rows();
        let out = attn.matmul(&tokens);
        out.data.iter().zip(out.data.iter().skip(1)).map(|(a, b)| a * b).sum::<f64>()
            + x[10] * x[11]
    }
}

#[stratape::differentiable]
mod em_mixture {
    #[derive(Clone, Copy, Default, Debug)]
    struct Component {
        weight: f64,
        mean: f64,
        var: f64,
    }
    impl Component {
        fn pdf(&self, x: f64) -> f64 {
            (-(x - self.mean).powi(2) / (2.0 * self.var)).exp()
                / (2.0 * std::f64::consts::PI * self.var).sqrt()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut mix = [
            Component { weight: 0.5, mean: x[0], var: 0.1 + x[1] },
            Component { weight: 0.5, mean: x[2] + 1.0, var: 0.2 + x[3] },
        ];
        let data = [0.1, 0.3, 0.9, x[4], 1.5, 1.2 + x[5]];
        for _ in 0..3 {
            let resp: Vec<[f64; 2]> = data
                .iter()
                .map(|&d| {
                    let p: [f64; 2] = std::array::from_fn(|k| mix[k].weight * mix[k].pdf(d));
                    let s: f64 = p.iter().sum();
                    p.map(|v| v / s)
                })
                .collect();
            for (k, c) in mix.iter_mut().enumerate() {
                let nk: f64 = resp.iter().map(|r| r[k]).sum();
                c.weight = nk / data.len() as f64;
                c.mean = resp.iter().zip(&data).map(|(r, d)| r[k] * d).sum::<f64>() / nk;
                let m = c.mean;
                c.var = 0.01
                    + resp
                        .iter()
                        .zip(data.iter())
                        .map(|(r, d)| r[k] * (d - m).powi(2))
                        .sum::<f64>()
                        / nk;
            }
        }
        data.iter().map(|&d| mix.iter().map(|c| c.weight * c.pdf(d)).sum::<f64>().ln()).sum()
    }
}

#[stratape::differentiable]
mod particles {
    #[derive(Debug, Clone, Default)]
    struct Particle {
        pos: [f64; 2],
        vel: [f64; 2],
    }
    struct World {
        particles: Vec<Particle>,
        gravity: f64,
        time: f64,
    }
    impl World {
        fn new(gravity: f64) -> Self {
            World { particles: Vec::new(), gravity, time: 0.0 }
        }
        fn add(&mut self, p: Particle) -> &mut Self {
            self.particles.push(p);
            self
        }
        fn step(&mut self, dt: f64) {
            for p in self.particles.iter_mut() {
                p.vel[1] -= self.gravity * dt;
                for k in 0..2 {
                    p.pos[k] += p.vel[k] * dt;
                }
                if p.pos[1] < 0.0 {
                    p.pos[1] = -p.pos[1];
                    p.vel[1] *= -0.8;
                }
            }
            self.time += dt;
        }
        fn energy(&self) -> f64 {
            self.particles
                .iter()
                .map(|p| 0.5 * p.vel.iter().map(|v| v * v).sum::<f64>() + self.gravity * p.pos[1])
                .sum()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut w = World::new(9.81);
        w.add(Particle { pos: [x[0], x[1]], vel: [x[2], x[3]] })
            .add(Particle { pos: [x[4], x[5]], ..Default::default() });
        while w.time < 0.5 {
            w.step(0.05);
        }
        w.energy() + w.particles[0].pos[0] * x[6] + w.particles[1].pos[1] * x[7]
    }
}

#[stratape::differentiable]
mod spline {
    #[derive(Debug, Clone, Copy)]
    struct Knot {
        x: f64,
        y: f64,
    }
    struct Spline {
        knots: Vec<Knot>,
        slopes: Vec<f64>,
    }
    impl Spline {
        fn through(mut knots: Vec<Knot>) -> Self {
            knots.sort_by(|a, b| a.x.partial_cmp(&b.x).expect("no NaN"));
            let n = knots.len();
            let slopes = (0..n)
                .map(|i| {
                    let (a, b) = (i.saturating_sub(1), (i + 1).min(n - 1));
                    (knots[b].y - knots[a].y) / (knots[b].x - knots[a].x)
                })
                .collect();
            Spline { knots, slopes }
        }
        fn eval(&self, x: f64) -> f64 {
            let i = self
                .knots
                .partition_point(|k| k.x <= x)
                .saturating_sub(1)
                .min(self.knots.len() - 2);
            let (a, b) = (self.knots[i], self.knots[i + 1]);
            let h = b.x - a.x;
            let t = (x - a.x) / h;
            let (t2, t3) = (t * t, t * t * t);
            (2.0 * t3 - 3.0 * t2 + 1.0) * a.y
                + (t3 - 2.0 * t2 + t) * h * self.slopes[i]
                + (-2.0 * t3 + 3.0 * t2) * b.y
                + (t3 - t2) * h * self.slopes[i + 1]
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let s = Spline::through(
            (0..4).map(|i| Knot { x: i as f64 * 0.7 + 0.1 * x[i], y: x[4 + i] }).collect(),
        );
        [0.2, 0.9, 1.7].iter().map(|&t| s.eval(t)).sum()
    }
}

#[stratape::differentiable]
mod quaternion {
    use std::ops::{Mul, MulAssign, Neg};
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Quat {
        w: f64,
        v: [f64; 3],
    }
    impl Quat {
        pub const IDENTITY: Self = Self { w: 1.0, v: [0.0; 3] };
        fn from_axis(axis: [f64; 3], angle: f64) -> Self {
            let (s, c) = (0.5 * angle).sin_cos();
            let n = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
            Self { w: c, v: axis.map(|a| s * a / n) }
        }
        fn conj(self) -> Self {
            Self { v: self.v.map(Neg::neg), ..self }
        }
        fn rotate(self, p: [f64; 3]) -> [f64; 3] {
            (self * Quat { w: 0.0, v: p } * self.conj()).v
        }
    }
    fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }
    impl Mul for Quat {
        type Output = Quat;
        fn mul(self, o: Quat) -> Quat {
            let c = cross(self.v, o.v);
            let d: f64 = self.v.iter().zip(o.v).map(|(a, b)| a * b).sum();
            Quat {
                w: self.w * o.w - d,
                v: [0, 1, 2].map(|i| self.w * o.v[i] + o.w * self.v[i] + c[i]),
            }
        }
    }
    impl MulAssign for Quat {
        fn mul_assign(&mut self, o: Quat) {
            *self = *self * o;
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut q = Quat::IDENTITY;
        q *= Quat::from_axis([x[0], x[1], x[2]], x[3]);
        q *= Quat::from_axis([0.0, 0.0, 1.0], x[4]);
        let [a, b, c] = q.rotate([x[5], 1.0, x[6]]);
        a * b + c * c
    }
}

#[stratape::differentiable]
mod soa_physics {
    #[derive(Default, Clone)]
    struct Bodies {
        x: Vec<f64>,
        v: Vec<f64>,
        m: Vec<f64>,
    }
    impl Bodies {
        fn add(&mut self, x: f64, v: f64, m: f64) -> usize {
            self.x.push(x);
            self.v.push(v);
            self.m.push(m);
            self.x.len() - 1
        }
        fn forces(&self) -> Vec<f64> {
            let n = self.x.len();
            let mut f = vec![0.0; n];
            for i in 0..n {
                for j in i + 1..n {
                    let d = self.x[j] - self.x[i];
                    let g = self.m[i] * self.m[j] * d / (d.abs().powi(3) + 0.1);
                    f[i] += g;
                    f[j] -= g;
                }
            }
            f
        }
        fn leapfrog(&mut self, dt: f64) {
            let f = self.forces();
            let Bodies { x, v, m } = self;
            for ((x, v), (f, m)) in x.iter_mut().zip(v.iter_mut()).zip(f.iter().zip(m.iter())) {
                *v += dt * f / m;
                *x += dt * *v;
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut b = Bodies::default();
        for c in x.chunks_exact(2) {
            b.add(c[0] * 3.0, c[1], 1.0 + c[0]);
        }
        for _ in 0..5 {
            b.leapfrog(0.05);
        }
        b.x.iter().zip(&b.m).map(|(x, m)| x * m).sum::<f64>()
            + b.v.iter().map(|v| v * v).sum::<f64>()
    }
}
