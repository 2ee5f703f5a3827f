//! State machines, splines, particles, optimisers, as they were first written by someone who had read the guide alone.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    ekf: [[0.5, 0.2, 0.9, 1.1, 0.05], [-0.5, 0.6, 0.4, 1.7, 0.15]],
    logistic: [[0.5, -0.2, 0.1, 1.0, 2.0, -1.0, 0.5], [1.5, 0.2, -0.1, -1.0, 0.2, 1.3, 0.5]],
    bspline: [[0.3, 1.0, 2.0, 0.5, 1.5, 0.7], [1.6, 1.0, -2.0, 0.5, 1.5, 0.3]],
    deboor: [[0.3, 1.0, 2.0, 0.5, 1.5, 0.7], [1.6, 1.0, -2.0, 0.5, 1.5, 0.3]],
    knapsack: [[1.0, 2.0, 0.5, 1.7], [2.0, 0.3, 1.5, 0.9]],
    particles: [[0.3, 0.5, 1.0, -0.4], [0.9, -0.5, 0.6, 0.8]],
    bfgs: [[1.0, 2.0, 0.5], [-0.4, 1.3, 2.5]],
    exprtree: [[0.3, 1.2, 0.7], [-0.5, 2.2, 0.1]],
    yieldcurve: [[0.02, 0.03, 0.035, 0.05], [0.01, 0.005, 0.025, 0.04]],
    tridiag: [[2.0, 0.3, 0.5, 1.0, 0.2], [3.0, -0.3, 0.7, -1.0, 0.9]],
}

#[stratape::differentiable]
pub mod ekf {
    type Mat2 = [[f64; 2]; 2];
    fn mul(a: &Mat2, b: &Mat2) -> Mat2 {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..2).map(|k| a[i][k] * b[k][j]).sum()))
    }
    fn transpose(a: &Mat2) -> Mat2 {
        [[a[0][0], a[1][0]], [a[0][1], a[1][1]]]
    }
    #[derive(Clone, Copy)]
    struct Filter {
        x: [f64; 2],
        p: Mat2,
    }
    impl Filter {
        fn predict(self, dt: f64, q: f64) -> Filter {
            let fm = [[1.0, dt], [0.0, 1.0]];
            let mut p = mul(&mul(&fm, &self.p), &transpose(&fm));
            p[0][0] += q;
            p[1][1] += q;
            Filter { x: [self.x[0] + dt * self.x[1], self.x[1]], p }
        }
        fn correct(self, z: Option<f64>, r: f64) -> Filter {
            let Some(z) = z else { return self };
            let s = self.p[0][0] + r;
            let k = [self.p[0][0] / s, self.p[1][0] / s];
            let y = z - self.x[0];
            let mut out = self;
            for i in 0..2 {
                out.x[i] += k[i] * y;
                for j in 0..2 {
                    out.p[i][j] -= k[i] * self.p[0][j];
                }
            }
            out
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let obs = [Some(x[0]), None, Some(x[2]), Some(x[3])];
        let init = Filter { x: [0.0, x[1]], p: [[1.0, 0.0], [0.0, 1.0]] };
        let end = obs.into_iter().fold(init, |kf, z| kf.predict(0.5, x[4]).correct(z, 0.3));
        end.x[0] + end.x[1] * end.p[0][1]
    }
}

#[stratape::differentiable]
pub mod logistic {
    pub struct Dataset {
        rows: Vec<(Vec<f64>, bool)>,
    }
    impl Dataset {
        fn iter(&self) -> impl Iterator<Item = (&[f64], bool)> + '_ {
            self.rows.iter().map(|(f, l)| (f.as_slice(), *l))
        }
        fn len(&self) -> usize {
            self.rows.len()
        }
    }
    fn log1pexp(z: f64) -> f64 {
        if z > 0.0 { z + (-z).exp().ln_1p() } else { z.exp().ln_1p() }
    }
    fn nll(w: &[f64], b: f64, data: &Dataset) -> f64 {
        data.iter()
            .map(|(features, label)| {
                let z = features.iter().zip(w).map(|(a, c)| a * c).sum::<f64>() + b;
                if label { log1pexp(-z) } else { log1pexp(z) }
            })
            .sum::<f64>()
            / data.len() as f64
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let data = Dataset {
            rows: vec![
                (vec![x[3], x[4]], true),
                (vec![x[5], x[6]], false),
                (vec![0.3, -0.8], true),
            ],
        };
        nll(&x[..2], x[2], &data)
    }
}

#[stratape::differentiable]
pub mod bspline {
    fn basis(i: usize, degree: usize, t: f64, knots: &[f64]) -> f64 {
        if degree == 0 {
            return if knots[i] <= t && t < knots[i + 1] { 1.0 } else { 0.0 };
        }
        let mut v = 0.0;
        let left = knots[i + degree] - knots[i];
        if left > 0.0 {
            v += (t - knots[i]) / left * basis(i, degree - 1, t, knots);
        }
        let right = knots[i + degree + 1] - knots[i + 1];
        if right > 0.0 {
            v += (knots[i + degree + 1] - t) / right * basis(i + 1, degree - 1, t, knots);
        }
        v
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let knots = [0.0, 0.0, 0.0, 0.5 + x[5], 1.4, 2.0, 2.0, 2.0];
        x[1..].iter().enumerate().map(|(i, c)| c * basis(i, 2, x[0], &knots)).sum::<f64>().powi(2)
    }
}

#[stratape::differentiable]
pub mod deboor {
    #[derive(Clone, Copy)]
    struct P2 {
        x: f64,
        y: f64,
    }
    impl P2 {
        fn lerp(self, o: P2, t: f64) -> P2 {
            P2 { x: self.x + (o.x - self.x) * t, y: self.y + (o.y - self.y) * t }
        }
    }
    struct Bezier {
        control: Vec<P2>,
    }
    impl Bezier {
        fn at(&self, t: f64) -> P2 {
            let mut pts = self.control.clone();
            while pts.len() > 1 {
                pts = pts.windows(2).map(|w| w[0].lerp(w[1], t)).collect();
            }
            pts[0]
        }
        fn length(&self, n: usize) -> f64 {
            let samples: Vec<P2> = (0..=n).map(|i| self.at(i as f64 / n as f64)).collect();
            samples.windows(2).map(|w| (w[1].x - w[0].x).hypot(w[1].y - w[0].y)).sum()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let b = Bezier { control: x.chunks(2).map(|c| P2 { x: c[0], y: c[1] }).collect() };
        b.length(6) + b.at(0.3).y
    }
}

#[stratape::differentiable]
pub mod knapsack {
    struct Item {
        weight: usize,
        value: f64,
    }
    fn best_value(items: &[Item], capacity: usize) -> f64 {
        let mut table = vec![0.0_f64; capacity + 1];
        for Item { weight, value } in items {
            for c in (*weight..=capacity).rev() {
                table[c] = table[c].max(table[c - weight] + value);
            }
        }
        table.last().copied().unwrap_or_default()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let weights = [2, 3, 1, 4];
        let items: Vec<_> =
            weights.iter().zip(x).map(|(&weight, &v)| Item { weight, value: v * v }).collect();
        (3..=7).map(|cap| best_value(&items, cap)).sum()
    }
}

#[stratape::differentiable]
pub mod particles {
    #[derive(Clone, Debug)]
    struct Particle {
        state: f64,
        weight: f64,
    }
    fn normalize(ps: &mut [Particle]) {
        let total: f64 = ps.iter().map(|p| p.weight).sum();
        for p in ps.iter_mut() {
            p.weight /= total;
        }
    }
    fn resample(ps: &[Particle]) -> Vec<Particle> {
        let n = ps.len();
        let mut out = Vec::with_capacity(n);
        let mut cumulative = ps[0].weight;
        let mut j = 0;
        for i in 0..n {
            let u = (i as f64 + 0.5) / n as f64;
            while u > cumulative && j + 1 < n {
                j += 1;
                cumulative += ps[j].weight;
            }
            out.push(Particle { weight: 1.0 / n as f64, ..ps[j].clone() });
        }
        out
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut ps: Vec<Particle> =
            (0..6).map(|i| Particle { state: x[0] + 0.3 * i as f64, weight: 1.0 }).collect();
        for &z in &x[2..] {
            for p in &mut ps {
                p.state = 0.9 * p.state + x[1] * p.state.sin();
                p.weight *= (-0.5 * (z - p.state).powi(2)).exp();
            }
            normalize(&mut ps);
            let ess = 1.0 / ps.iter().map(|p| p.weight.powi(2)).sum::<f64>();
            if ess < 5.5 {
                ps = resample(&ps);
            }
        }
        ps.iter().map(|p| p.weight * p.state).sum()
    }
}

#[stratape::differentiable]
pub mod bfgs {
    fn rosen(p: [f64; 2], a: f64) -> (f64, [f64; 2]) {
        let (u, v) = (a - p[0], p[1] - p[0] * p[0]);
        (u * u + 5.0 * v * v, [-2.0 * u - 20.0 * p[0] * v, 10.0 * v])
    }
    fn line_search(p: [f64; 2], dir: [f64; 2], a: f64) -> f64 {
        let (f0, g0) = rosen(p, a);
        let slope = g0[0] * dir[0] + g0[1] * dir[1];
        let mut t = 1.0;
        while t > 1e-8 {
            let q = [p[0] + t * dir[0], p[1] + t * dir[1]];
            if rosen(q, a).0 <= f0 + 1e-4 * t * slope {
                return t;
            }
            t *= 0.5;
        }
        t
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = [x[1], x[2]];
        let mut h = [[1.0, 0.0], [0.0, 1.0]];
        for _ in 0..6 {
            let (_, g) = rosen(p, x[0]);
            let dir = [-(h[0][0] * g[0] + h[0][1] * g[1]), -(h[1][0] * g[0] + h[1][1] * g[1])];
            let t = line_search(p, dir, x[0]);
            let s = dir.map(|d| t * d);
            let q = [p[0] + s[0], p[1] + s[1]];
            let (_, gq) = rosen(q, x[0]);
            let y = [gq[0] - g[0], gq[1] - g[1]];
            let sy = s[0] * y[0] + s[1] * y[1];
            if sy > 1e-10 {
                let hy = [h[0][0] * y[0] + h[0][1] * y[1], h[1][0] * y[0] + h[1][1] * y[1]];
                let yhy = y[0] * hy[0] + y[1] * hy[1];
                for (i, row) in h.iter_mut().enumerate() {
                    for (j, e) in row.iter_mut().enumerate() {
                        *e += (1.0 + yhy / sy) * s[i] * s[j] / sy
                            - (hy[i] * s[j] + s[i] * hy[j]) / sy;
                    }
                }
            }
            p = q;
        }
        p[0] + p[1] * 0.5
    }
}

#[stratape::differentiable]
pub mod exprtree {
    #[derive(Clone, Copy)]
    enum Op {
        Push(usize),
        Const(f64),
        Add,
        Mul,
        Sin,
        Dup,
    }
    #[derive(Debug)]
    enum VmError {
        StackUnderflow,
        Empty,
    }
    fn run(program: &[Op], inputs: &[f64]) -> Result<f64, VmError> {
        let mut stack: Vec<f64> = Vec::new();
        for op in program {
            match op {
                Op::Push(i) => stack.push(inputs[*i]),
                Op::Const(c) => stack.push(*c),
                Op::Add | Op::Mul => {
                    let b = stack.pop().ok_or(VmError::StackUnderflow)?;
                    let a = stack.pop().ok_or(VmError::StackUnderflow)?;
                    stack.push(if matches!(op, Op::Add) { a + b } else { a * b });
                }
                Op::Sin => {
                    let top = stack.last_mut().ok_or(VmError::StackUnderflow)?;
                    *top = top.sin();
                }
                Op::Dup => {
                    let top = *stack.last().ok_or(VmError::StackUnderflow)?;
                    stack.push(top);
                }
            }
        }
        stack.pop().ok_or(VmError::Empty)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let program = [
            Op::Push(0),
            Op::Push(1),
            Op::Mul,
            Op::Sin,
            Op::Dup,
            Op::Push(2),
            Op::Add,
            Op::Mul,
            Op::Const(2.5),
            Op::Mul,
        ];
        run(&program, x).unwrap_or(0.0)
    }
}

#[stratape::differentiable]
pub mod yieldcurve {
    use std::collections::BTreeMap;
    #[derive(Clone, Copy)]
    struct Bond {
        coupon: f64,
        maturity: usize,
    }
    struct Curve {
        pillars: Vec<(f64, f64)>,
    }
    impl Curve {
        fn rate(&self, t: f64) -> f64 {
            if let Some(&(t0, r0)) = self.pillars.first()
                && t <= t0
            {
                return r0;
            }
            for pair in self.pillars.windows(2) {
                let [(t0, r0), (t1, r1)] = [pair[0], pair[1]];
                if t <= t1 {
                    return r0 + (r1 - r0) * (t - t0) / (t1 - t0);
                }
            }
            self.pillars[self.pillars.len() - 1].1
        }
        fn discount(&self, t: f64) -> f64 {
            (-self.rate(t) * t).exp()
        }
    }
    impl Bond {
        fn cashflows(&self) -> impl Iterator<Item = (f64, f64)> + use<> {
            let Bond { coupon, maturity } = *self;
            (1..=maturity)
                .map(move |y| (y as f64, if y == maturity { 1.0 + coupon } else { coupon }))
        }
        fn price(&self, curve: &Curve) -> f64 {
            self.cashflows().map(|(t, cf)| cf * curve.discount(t)).sum()
        }
        fn duration(&self, curve: &Curve) -> f64 {
            self.cashflows().map(|(t, cf)| t * cf * curve.discount(t)).sum::<f64>()
                / self.price(curve)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let curve = Curve { pillars: [1.0, 3.0, 7.0].into_iter().zip(x.iter().copied()).collect() };
        let bond = Bond { coupon: x[3], maturity: 9 };
        100.0 * bond.price(&curve) + bond.duration(&curve)
    }
}

#[stratape::differentiable]
pub mod tridiag {
    struct Tridiagonal {
        lower: Vec<f64>,
        diag: Vec<f64>,
        upper: Vec<f64>,
    }
    impl Tridiagonal {
        fn solve(&self, rhs: &[f64]) -> Vec<f64> {
            let n = rhs.len();
            let (mut c, mut d) = (vec![0.0; n], vec![0.0; n]);
            c[0] = self.upper[0] / self.diag[0];
            d[0] = rhs[0] / self.diag[0];
            for i in 1..n {
                let m = self.diag[i] - self.lower[i - 1] * c[i - 1];
                if i < n - 1 {
                    c[i] = self.upper[i] / m;
                }
                d[i] = (rhs[i] - self.lower[i - 1] * d[i - 1]) / m;
            }
            let mut out = d;
            for i in (0..n - 1).rev() {
                let next = out[i + 1];
                out[i] -= c[i] * next;
            }
            out
        }
    }
    fn crank_nicolson(u: &[f64], r: f64) -> Vec<f64> {
        let n = u.len();
        let sys = Tridiagonal {
            lower: vec![-r / 2.0; n - 1],
            diag: vec![1.0 + r; n],
            upper: vec![-r / 2.0; n - 1],
        };
        let at = |i: usize, d: i64| -> f64 {
            let k = i as i64 + d;
            if k < 0 || k >= n as i64 { 0.0 } else { u[k as usize] }
        };
        let rhs: Vec<f64> =
            (0..n).map(|i| u[i] + r / 2.0 * (at(i, -1) - 2.0 * u[i] + at(i, 1))).collect();
        sys.solve(&rhs)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = x[1..].to_vec();
        for _ in 0..4 {
            u = crank_nicolson(&u, 0.3 * x[0]);
        }
        u.iter().map(|v| v * v).sum()
    }
}
