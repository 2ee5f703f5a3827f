//! Matrices, networks, random walks, clusters, as they were first written by someone who had read the guide alone.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    jacobi: [[4.0, 1.0, 0.5, 3.0, 2.0, -1.0], [5.0, -1.0, 1.5, 6.0, 0.3, 0.7]],
    lu: [[2.0, 1.0, 0.5, 3.0, 1.0, -1.0], [0.5, 2.0, 1.5, 0.3, 0.2, 0.9]],
    lstm: [[0.5, -0.3, 0.8, 0.2, 0.1, 0.4, 0.6, -0.5], [-0.5, 0.3, 0.1, 1.2, 0.7, 0.4, -0.6, 0.9]],
    lstm2: [[0.5, -0.3, 0.8, 0.2], [-0.5, 0.3, 0.1, 1.2]],
    quaternion: [[0.1, 0.4, -0.2, 0.9, 0.3], [0.7, -0.4, 0.2, 0.1, 1.3]],
    mcmc: [[0.3, 1.2, 0.7], [-0.5, 0.8, 1.4]],
    kmeans: [[1.1, 0.4, 3.0, -2.4, 0.2, 2.2]],
    simplex: [[1.0, 2.0, 0.5], [-0.4, 1.3, 2.5]],
    heat: [[0.2, 0.9, 0.4, 0.1, 0.7, 0.3], [1.2, -0.9, 0.4, 0.8, 0.1, 0.2]],
    mixture: [[0.3, -1.0, 1.0, 0.8, 0.2, 1.5, -0.7], [0.6, -0.5, 2.0, 1.3, 0.4, 2.5, -1.7]],
    dijkstra: [[1.0, 4.0, 2.0, 0.5, 3.0], [5.0, 1.0, 0.2, 0.6, 3.3]],
    goldenmin: [[1.0, 2.0, 0.5]],
}

#[stratape::differentiable]
pub mod jacobi {
    #[derive(Clone)]
    pub struct Matrix<const R: usize, const C: usize> {
        data: [[f64; C]; R],
    }
    impl<const R: usize, const C: usize> Matrix<R, C> {
        fn zeros() -> Self {
            Self { data: [[0.0; C]; R] }
        }
        fn transpose(&self) -> Matrix<C, R> {
            let mut t = Matrix::<C, R>::zeros();
            for i in 0..R {
                for j in 0..C {
                    t.data[j][i] = self.data[i][j];
                }
            }
            t
        }
        fn mul<const K: usize>(&self, o: &Matrix<C, K>) -> Matrix<R, K> {
            let mut m = Matrix::<R, K>::zeros();
            for i in 0..R {
                for j in 0..K {
                    for k in 0..C {
                        m.data[i][j] += self.data[i][k] * o.data[k][j];
                    }
                }
            }
            m
        }
    }
    impl<const R: usize, const C: usize> std::ops::Index<(usize, usize)> for Matrix<R, C> {
        type Output = f64;
        fn index(&self, (i, j): (usize, usize)) -> &f64 {
            &self.data[i][j]
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = Matrix { data: [[x[0], x[1]], [x[2], x[3]], [x[4], x[5]]] };
        let g = a.transpose().mul(&a);
        g[(0, 0)] * g[(1, 1)] - g[(0, 1)].powi(2)
    }
}

#[stratape::differentiable]
pub mod lu {
    #[derive(Debug)]
    enum LinAlgError {
        Singular { column: usize },
    }
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Result<Vec<f64>, LinAlgError> {
        let n = b.len();
        for col in 0..n {
            let pivot = (col..n)
                .max_by(|&i, &j| a[i][col].abs().partial_cmp(&a[j][col].abs()).unwrap())
                .unwrap();
            if a[pivot][col].abs() < 1e-12 {
                return Err(LinAlgError::Singular { column: col });
            }
            a.swap(col, pivot);
            b.swap(col, pivot);
            for row in col + 1..n {
                let factor = a[row][col] / a[col][col];
                for k in col..n {
                    a[row][k] -= factor * a[col][k];
                }
                b[row] -= factor * b[col];
            }
        }
        let mut x = vec![0.0; n];
        for i in (0..n).rev() {
            let s: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
            x[i] = (b[i] - s) / a[i][i];
        }
        Ok(x)
    }
    fn residual(x: &[f64]) -> Result<f64, LinAlgError> {
        let sol = solve(vec![vec![x[0], x[1]], vec![x[2], x[3]]], x[4..].to_vec())?;
        let again = solve(vec![vec![1.0, sol[0]], vec![sol[1], 3.0]], sol.clone())?;
        Ok(again.iter().zip(&sol).map(|(a, b)| a * b).sum())
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        residual(x).unwrap_or(0.0)
    }
}

#[stratape::differentiable]
pub mod lstm {
    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }
    #[derive(Clone, Copy)]
    struct Gate {
        w: f64,
        u: f64,
        b: f64,
    }
    impl Gate {
        fn apply(&self, x: f64, h: f64, act: fn(f64) -> f64) -> f64 {
            act(self.w * x + self.u * h + self.b)
        }
    }
    struct Lstm {
        forget: Gate,
        input: Gate,
        output: Gate,
        cell: Gate,
    }
    #[derive(Clone, Copy, Default)]
    struct LstmState {
        h: f64,
        c: f64,
    }
    impl Lstm {
        fn step(&self, s: LstmState, x: f64) -> LstmState {
            let fg = self.forget.apply(x, s.h, sigmoid);
            let ig = self.input.apply(x, s.h, sigmoid);
            let og = self.output.apply(x, s.h, sigmoid);
            let cand = self.cell.apply(x, s.h, f64::tanh);
            let c = fg * s.c + ig * cand;
            LstmState { h: og * c.tanh(), c }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let net = Lstm {
            forget: Gate { w: x[0], u: x[1], b: 1.0 },
            input: Gate { w: x[2], u: x[3], b: 0.0 },
            output: Gate { w: x[1], u: x[4], b: x[5] },
            cell: Gate { w: 1.0, u: x[0], b: 0.1 },
        };
        let end = x[4..].iter().fold(LstmState::default(), |s, &v| net.step(s, v));
        end.h + 0.5 * end.c
    }
}

#[stratape::differentiable]
pub mod lstm2 {
    fn attention(q: &[Vec<f64>], k: &[Vec<f64>], v: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let d = q[0].len() as f64;
        q.iter()
            .map(|qi| {
                let scores: Vec<f64> = k
                    .iter()
                    .map(|kj| qi.iter().zip(kj).map(|(a, b)| a * b).sum::<f64>() / d.sqrt())
                    .collect();
                let max = scores.iter().copied().reduce(f64::max).unwrap();
                let w: Vec<f64> = scores.iter().map(|s| (s - max).exp()).collect();
                let z: f64 = w.iter().sum();
                (0..v[0].len())
                    .map(|c| w.iter().zip(v).map(|(wj, vj)| wj / z * vj[c]).sum())
                    .collect()
            })
            .collect()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let tokens: Vec<Vec<f64>> =
            (0..3).map(|i| vec![x[0] * i as f64, x[1], x[2] - i as f64]).collect();
        let keys: Vec<Vec<f64>> =
            tokens.iter().map(|t| t.iter().map(|v| v * x[3]).collect()).collect();
        let out = attention(&tokens, &keys, &tokens);
        out.into_iter().flatten().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
pub mod quaternion {
    use std::ops::{Mul, Neg};
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Quat {
        w: f64,
        v: [f64; 3],
    }
    impl Quat {
        fn from_axis_angle(axis: [f64; 3], angle: f64) -> Self {
            let n = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
            let (s, c) = (angle / 2.0).sin_cos();
            Quat { w: c, v: axis.map(|a| a / n * s) }
        }
        fn conj(self) -> Self {
            Quat { w: self.w, v: self.v.map(Neg::neg) }
        }
        fn rotate(self, p: [f64; 3]) -> [f64; 3] {
            (self * Quat { w: 0.0, v: p } * self.conj()).v
        }
    }
    impl Mul for Quat {
        type Output = Quat;
        fn mul(self, o: Quat) -> Quat {
            let [a, b, c] = self.v;
            let [d, e, f] = o.v;
            Quat {
                w: self.w * o.w - a * d - b * e - c * f,
                v: [
                    self.w * d + o.w * a + b * f - c * e,
                    self.w * e + o.w * b + c * d - a * f,
                    self.w * f + o.w * c + a * e - b * d,
                ],
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let q = Quat::from_axis_angle([x[0], x[1], x[2] + 1.0], x[3]);
        let p = q.rotate([1.0, x[4], 0.5]);
        let r = (q * q).rotate(p);
        p[0] * r[1] - r[2]
    }
}

#[stratape::differentiable]
pub mod mcmc {
    struct Lcg(u64);
    impl Lcg {
        fn next_u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            self.0
        }
        fn uniform(&mut self) -> f64 {
            ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        }
        fn normal(&mut self) -> f64 {
            let (u, v) = (self.uniform(), self.uniform());
            (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut rng = Lcg(42);
        let (drift, vol, spot) = (x[0], 0.2 * x[1], 1.0 + x[2]);
        let paths = 20;
        let mut total = 0.0;
        for _ in 0..paths {
            let mut s = spot;
            let mut avg = 0.0;
            for _ in 0..5 {
                s *= (0.1 * (drift - 0.5 * vol * vol) + vol * rng.normal() * 0.1f64.sqrt()).exp();
                avg += s / 5.0;
            }
            total += if avg > 1.0 { avg - 1.0 } else { 0.0 };
        }
        total / paths as f64 + spot
    }
}

#[stratape::differentiable]
pub mod kmeans {
    #[derive(Clone, Copy, Debug)]
    struct Point {
        x: f64,
        y: f64,
    }
    impl Point {
        fn dist2(&self, o: &Point) -> f64 {
            (self.x - o.x).powi(2) + (self.y - o.y).powi(2)
        }
    }
    fn nearest(p: &Point, centers: &[Point]) -> usize {
        centers
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| p.dist2(a).total_cmp(&p.dist2(b)))
            .map(|(i, _)| i)
            .unwrap_or(0)
    }
    fn lloyd(points: &[Point], mut centers: Vec<Point>, iters: usize) -> Vec<Point> {
        for _ in 0..iters {
            let mut sums = vec![(0.0, 0.0, 0usize); centers.len()];
            for p in points {
                let s = &mut sums[nearest(p, &centers)];
                s.0 += p.x;
                s.1 += p.y;
                s.2 += 1;
            }
            for (c, (sx, sy, n)) in centers.iter_mut().zip(sums) {
                if n > 0 {
                    *c = Point { x: sx / n as f64, y: sy / n as f64 };
                }
            }
        }
        centers
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let points: Vec<Point> = x.windows(2).map(|w| Point { x: w[0], y: w[1] }).collect();
        let centers = lloyd(&points, vec![Point { x: 0.0, y: 0.0 }, Point { x: 2.0, y: 1.0 }], 4);
        points.iter().map(|p| p.dist2(&centers[nearest(p, &centers)])).sum()
    }
}

#[stratape::differentiable]
pub mod simplex {
    fn nelder_mead<F>(f: F, start: [f64; 2], iters: usize) -> ([f64; 2], f64)
    where
        F: Fn(&[f64; 2]) -> f64,
    {
        let mut simplex: Vec<([f64; 2], f64)> =
            vec![start, [start[0] + 0.5, start[1]], [start[0], start[1] + 0.5]]
                .into_iter()
                .map(|p| (p, f(&p)))
                .collect();
        for _ in 0..iters {
            simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
            let c = [
                (simplex[0].0[0] + simplex[1].0[0]) / 2.0,
                (simplex[0].0[1] + simplex[1].0[1]) / 2.0,
            ];
            let worst = simplex[2].0;
            let at = |k: f64| [c[0] + k * (worst[0] - c[0]), c[1] + k * (worst[1] - c[1])];
            let r = at(-1.0);
            let fr = f(&r);
            if fr < simplex[0].1 {
                let e = at(-2.0);
                let fe = f(&e);
                simplex[2] = if fe < fr { (e, fe) } else { (r, fr) };
            } else if fr < simplex[1].1 {
                simplex[2] = (r, fr);
            } else {
                let k = at(0.5);
                simplex[2] = (k, f(&k));
            }
        }
        simplex.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = (x[0], x[1]);
        let (p, v) = nelder_mead(
            |p| (p[0] - a).powi(2) + b * (p[1] - 0.3).powi(2) + 0.1 * p[0] * p[1],
            [x[2], 0.0],
            12,
        );
        v + p[0] + 2.0 * p[1]
    }
}

#[stratape::differentiable]
pub mod heat {
    #[derive(Clone, Copy)]
    enum Boundary {
        Dirichlet(f64),
        Neumann,
        Periodic,
    }
    struct Rod {
        u: Vec<f64>,
        left: Boundary,
        right: Boundary,
    }
    impl Rod {
        fn neighbor(&self, i: usize, dir: i32) -> f64 {
            let n = self.u.len();
            let (edge, bc) = if dir < 0 { (i == 0, self.left) } else { (i + 1 == n, self.right) };
            if !edge {
                return self.u[(i as i32 + dir) as usize];
            }
            match bc {
                Boundary::Dirichlet(v) => v,
                Boundary::Neumann => self.u[i],
                Boundary::Periodic => self.u[(i + n - 1) % n],
            }
        }
        fn step(&mut self, r: f64) {
            let next = (0..self.u.len())
                .map(|i| {
                    self.u[i] + r * (self.neighbor(i, -1) - 2.0 * self.u[i] + self.neighbor(i, 1))
                })
                .collect();
            self.u = next;
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut rod =
            Rod { u: x[..5].to_vec(), left: Boundary::Dirichlet(x[5]), right: Boundary::Neumann };
        for _ in 0..10 {
            rod.step(0.2 + 0.1 * x[5]);
        }
        rod.u.iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod mixture {
    #[derive(Clone, Copy)]
    struct Gaussian {
        mean: f64,
        sd: f64,
    }
    trait Density {
        fn log_pdf(&self, x: f64) -> f64;
    }
    impl Density for Gaussian {
        fn log_pdf(&self, x: f64) -> f64 {
            let z = (x - self.mean) / self.sd;
            -0.5 * z * z - self.sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
        }
    }
    struct Mixture<D: Density> {
        parts: Vec<(f64, D)>,
    }
    impl<D: Density> Density for Mixture<D> {
        fn log_pdf(&self, x: f64) -> f64 {
            log_sum_exp(self.parts.iter().map(|(w, d)| w.ln() + d.log_pdf(x)))
        }
    }
    fn log_sum_exp(it: impl Iterator<Item = f64>) -> f64 {
        let v: Vec<f64> = it.collect();
        let m = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        m + v.iter().map(|a| (a - m).exp()).sum::<f64>().ln()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let &[w, m1, m2, sd, ref data @ ..] = x else { return 0.0 };
        let mix = Mixture {
            parts: vec![(w, Gaussian { mean: m1, sd }), (1.0 - w, Gaussian { mean: m2, sd: 1.0 })],
        };
        -data.iter().map(|&d| mix.log_pdf(d)).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod dijkstra {
    fn dijkstra(adj: &[Vec<(usize, f64)>], src: usize) -> Vec<Option<f64>> {
        let mut dist: Vec<Option<f64>> = vec![None; adj.len()];
        let mut done = vec![false; adj.len()];
        dist[src] = Some(0.0);
        while let Some((u, du)) = dist
            .iter()
            .enumerate()
            .filter(|(i, _)| !done[*i])
            .filter_map(|(i, d)| d.map(|d| (i, d)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
        {
            done[u] = true;
            for &(v, w) in &adj[u] {
                let cand = du + w;
                if dist[v].map_or(true, |old| cand < old) {
                    dist[v] = Some(cand);
                }
            }
        }
        dist
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let adj = vec![
            vec![(1, x[0]), (2, x[1])],
            vec![(2, x[2]), (3, x[4])],
            vec![(3, x[3])],
            vec![],
            vec![(0, 1.0)],
        ];
        dijkstra(&adj, 0).into_iter().flatten().map(|d| d * d).sum()
    }
}

#[stratape::differentiable]
pub mod goldenmin {
    struct Bracket {
        lo: f64,
        hi: f64,
    }
    struct Golden<F: Fn(f64) -> f64> {
        objective: F,
        bracket: Bracket,
    }
    impl<F: Fn(f64) -> f64> Golden<F> {
        fn minimize(mut self, iters: usize) -> (f64, f64) {
            let phi = (5f64.sqrt() - 1.0) / 2.0;
            let mut c = self.bracket.hi - phi * (self.bracket.hi - self.bracket.lo);
            let mut d = self.bracket.lo + phi * (self.bracket.hi - self.bracket.lo);
            for _ in 0..iters {
                if (self.objective)(c) < (self.objective)(d) {
                    self.bracket.hi = d;
                } else {
                    self.bracket.lo = c;
                }
                c = self.bracket.hi - phi * (self.bracket.hi - self.bracket.lo);
                d = self.bracket.lo + phi * (self.bracket.hi - self.bracket.lo);
            }
            let mid = 0.5 * (self.bracket.lo + self.bracket.hi);
            (mid, (self.objective)(mid))
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = (x[0], x[1]);
        let g = Golden {
            objective: move |t: f64| (t - a).powi(2) + b * t.cos(),
            bracket: Bracket { lo: -3.0 + 0.1 * x[2], hi: 4.0 },
        };
        let (t, v) = g.minimize(20);
        v + 0.1 * t
    }
}
