//! Solvers, fits, filters, ordinary differential equations, as they were first written by someone who had read the guide alone.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    newton: [[2.0, 0.5, 1.0], [3.0, 1.5, 0.2]],
    bisect: [[2.0, 0.5], [1.3, 2.5]],
    cg: [[2.0, 0.5, 3.0, 1.0, -1.0], [4.0, 1.5, 2.0, 0.3, 0.8]],
    rk4adapt: [[1.0, 0.1, 2.0], [0.4, -0.2, 3.5]],
    kalman: [[0.1, 0.5, 1.0, 1.3, 0.7, 1.1], [0.02, 1.5, -1.0, 0.3, 0.7, 0.4]],
    odesys: [[0.8, 0.3, 1.0, 0.5], [1.2, 0.6, 0.4, 0.9]],
    linreg: [[0.5, -0.2, 1.0, 2.0, 3.0, 1.1, 1.9, 3.2], [1.5, 0.2, -1.0, 2.0, 0.5, 1.1, -1.9, 0.2]],
    gp: [[1.0, 0.8, 0.1, 0.0, 1.0, 2.5, 0.3, -0.4, 0.9], [2.0, 1.5, 0.4, 0.2, 0.9, 1.5, 1.3, -0.4, 0.1]],
    spline: [[0.5, 1.0, 2.0, 0.5, 1.5, 0.0], [2.3, 1.0, -2.0, 0.5, 1.5, 0.7]],
    nn: [[0.5, -1.0, 0.2, 0.7, 0.1, -0.3, 0.9, 0.4, 0.3, -0.6, 1.2], [-0.5, 1.0, 0.2, -0.7, 0.1, 0.3, -0.9, 0.4, 0.3, 0.6, -1.2]],
    tree: [[100.0, 105.0, 0.3, 0.05], [100.0, 95.0, 0.25, 0.02]],
    markov: [[0.3, 0.2, 0.5, 0.1], [0.7, 0.4, 0.1, 0.6]],
}

#[stratape::differentiable]
pub mod newton {
    #[derive(Debug, Clone, Copy)]
    pub struct NewtonOptions {
        tol: f64,
        max_iter: usize,
    }
    impl Default for NewtonOptions {
        fn default() -> Self {
            Self { tol: 1e-13, max_iter: 50 }
        }
    }
    #[derive(Debug)]
    pub enum SolveError {
        Diverged(usize),
        FlatDerivative,
    }
    fn newton(a: f64, b: f64, x0: f64, opts: NewtonOptions) -> Result<f64, SolveError> {
        let mut x = x0;
        for _ in 0..opts.max_iter {
            let fx = x * x * x + b * x - a;
            let dfx = 3.0 * x * x + b;
            if dfx.abs() < 1e-14 {
                return Err(SolveError::FlatDerivative);
            }
            let step = fx / dfx;
            x -= step;
            if step.abs() < opts.tol {
                return Ok(x);
            }
        }
        Err(SolveError::Diverged(opts.max_iter))
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let opts = NewtonOptions { max_iter: 80, ..Default::default() };
        match newton(x[0], x[1], 1.0, opts) {
            Ok(root) => root * root + x[2] * root,
            Err(SolveError::FlatDerivative) => 0.0,
            Err(_) => -1.0,
        }
    }
}

#[stratape::differentiable]
pub mod bisect {
    fn bisect<F: Fn(f64) -> f64>(g: F, mut lo: f64, mut hi: f64) -> Option<f64> {
        let mut glo = g(lo);
        if glo * g(hi) > 0.0 {
            return None;
        }
        for _ in 0..60 {
            let mid = 0.5 * (lo + hi);
            let gm = g(mid);
            if glo * gm <= 0.0 {
                hi = mid;
            } else {
                lo = mid;
                glo = gm;
            }
        }
        Some(0.5 * (lo + hi))
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = (x[0], x[1]);
        let target = |t: f64| t.exp() + a * t - b - 2.0;
        let Some(root) = bisect(&target, -5.0, 5.0) else { return f64::NAN };
        // one Newton step makes the result smooth in the parameters
        let polished = root - target(root) / (root.exp() + a);
        polished.powi(2) + a * b
    }
}

#[stratape::differentiable]
pub mod cg {
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }
    fn matvec(a: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
        a.iter().map(|row| dot(row, v)).collect()
    }
    fn conjugate_gradient(a: &[Vec<f64>], b: &[f64], max_iter: usize) -> Vec<f64> {
        let mut x = vec![0.0; b.len()];
        let mut r = b.to_vec();
        let mut p = r.clone();
        let mut rs_old = dot(&r, &r);
        for _ in 0..max_iter {
            let ap = matvec(a, &p);
            let alpha = rs_old / dot(&p, &ap);
            for i in 0..x.len() {
                x[i] += alpha * p[i];
                r[i] -= alpha * ap[i];
            }
            let rs_new = dot(&r, &r);
            if rs_new.sqrt() < 1e-14 {
                break;
            }
            let beta = rs_new / rs_old;
            p = r.iter().zip(&p).map(|(ri, pi)| ri + beta * pi).collect();
            rs_old = rs_new;
        }
        x
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = vec![vec![x[0] + 2.0, x[1]], vec![x[1], x[2] + 2.0]];
        let sol = conjugate_gradient(&a, &x[3..], 2);
        sol.iter().enumerate().map(|(i, s)| (i as f64 + 1.0) * s * s).sum()
    }
}

#[stratape::differentiable]
pub mod rk4adapt {
    #[derive(Clone, Copy, Debug)]
    struct State {
        q: f64,
        v: f64,
    }
    impl std::ops::Add for State {
        type Output = State;
        fn add(self, o: State) -> State {
            State { q: self.q + o.q, v: self.v + o.v }
        }
    }
    impl std::ops::Mul<f64> for State {
        type Output = State;
        fn mul(self, k: f64) -> State {
            State { q: self.q * k, v: self.v * k }
        }
    }
    fn deriv(s: State, k: f64) -> State {
        State { q: s.v, v: -k * s.q.sin() }
    }
    fn rk4(s: State, h: f64, k: f64) -> State {
        let k1 = deriv(s, k);
        let k2 = deriv(s + k1 * (h / 2.0), k);
        let k3 = deriv(s + k2 * (h / 2.0), k);
        let k4 = deriv(s + k3 * h, k);
        s + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = State { q: x[0], v: x[1] };
        let (mut t, mut h) = (0.0, 0.25);
        let t_end = 2.0;
        while t < t_end {
            if t + h > t_end {
                h = t_end - t;
            }
            let big = rk4(s, h, x[2]);
            let half = rk4(rk4(s, 0.5 * h, x[2]), 0.5 * h, x[2]);
            let err = (big.q - half.q).abs().max((big.v - half.v).abs());
            if err > 1e-4 && h > 1e-3 {
                h *= 0.5;
                continue;
            }
            s = half;
            t += h;
            if err < 1e-6 {
                h *= 2.0;
            }
        }
        s.q * s.q + 0.5 * s.v
    }
}

#[stratape::differentiable]
pub mod kalman {
    struct Kalman {
        mean: f64,
        var: f64,
        q: f64,
        r: f64,
    }
    impl Kalman {
        fn new(q: f64, r: f64) -> Self {
            Kalman { mean: 0.0, var: 1.0, q, r }
        }
        fn predict(&mut self) -> &mut Self {
            self.var += self.q;
            self
        }
        fn update(&mut self, z: f64) -> f64 {
            let s = self.var + self.r;
            let gain = self.var / s;
            let innovation = z - self.mean;
            self.mean += gain * innovation;
            self.var *= 1.0 - gain;
            -0.5 * (innovation * innovation / s + s.ln())
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let [q, r, obs @ ..] = x else { panic!("too few") };
        let mut kf = Kalman::new(*q, *r);
        let mut log_lik = 0.0;
        for &z in obs {
            log_lik += kf.predict().update(z);
        }
        log_lik + kf.mean
    }
}

#[stratape::differentiable]
pub mod odesys {
    #[derive(Clone, Copy)]
    struct Params {
        alpha: f64,
        beta: f64,
    }
    trait System<const N: usize> {
        fn rhs(&self, t: f64, y: &[f64; N]) -> [f64; N];
    }
    struct LotkaVolterra(Params);
    impl System<2> for LotkaVolterra {
        fn rhs(&self, _t: f64, y: &[f64; 2]) -> [f64; 2] {
            let Params { alpha, beta } = self.0;
            [alpha * y[0] - beta * y[0] * y[1], beta * y[0] * y[1] - 0.7 * y[1]]
        }
    }
    fn heun<const N: usize, S: System<N>>(sys: &S, y0: [f64; N], h: f64, steps: usize) -> [f64; N] {
        let mut y = y0;
        for n in 0..steps {
            let t = n as f64 * h;
            let k1 = sys.rhs(t, &y);
            let mut pred = y;
            for i in 0..N {
                pred[i] += h * k1[i];
            }
            let k2 = sys.rhs(t + h, &pred);
            for i in 0..N {
                y[i] += 0.5 * h * (k1[i] + k2[i]);
            }
        }
        y
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let sys = LotkaVolterra(Params { alpha: x[0], beta: x[1] });
        let end = heun(&sys, [x[2], x[3]], 0.05, 30);
        end.iter().map(|v| v * v).sum::<f64>().sqrt()
    }
}

#[stratape::differentiable]
pub mod linreg {
    struct Sample {
        x: f64,
        y: f64,
    }
    #[derive(Clone, Copy)]
    enum Loss {
        Squared,
        Huber { delta: f64 },
    }
    impl Loss {
        fn eval(self, r: f64) -> f64 {
            match self {
                Loss::Squared => 0.5 * r * r,
                Loss::Huber { delta } if r.abs() <= delta => 0.5 * r * r,
                Loss::Huber { delta } => delta * (r.abs() - 0.5 * delta),
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (slope, intercept) = (x[0], x[1]);
        let samples: Vec<Sample> =
            x[2..5].iter().zip(x[5..].iter()).map(|(&x, &y)| Sample { x, y }).collect();
        let total: f64 = [Loss::Squared, Loss::Huber { delta: 0.7 }]
            .iter()
            .map(|loss| {
                samples.iter().map(|s| loss.eval(s.y - slope * s.x - intercept)).sum::<f64>()
            })
            .sum();
        let ridge = 0.01 * (slope.powi(2) + intercept.powi(2));
        total / samples.len() as f64 + ridge
    }
}

#[stratape::differentiable]
pub mod gp {
    type Matrix = Vec<Vec<f64>>;
    fn rbf(a: f64, b: f64, variance: f64, length: f64) -> f64 {
        let d = (a - b) / length;
        variance * (-0.5 * d * d).exp()
    }
    fn cholesky(a: &Matrix) -> Option<Matrix> {
        let n = a.len();
        let mut l = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let s: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                if i == j {
                    let d = a[i][i] - s;
                    if d <= 0.0 {
                        return None;
                    }
                    l[i][j] = d.sqrt();
                } else {
                    l[i][j] = (a[i][j] - s) / l[j][j];
                }
            }
        }
        Some(l)
    }
    fn forward_sub(l: &Matrix, b: &[f64]) -> Vec<f64> {
        let mut y = Vec::with_capacity(b.len());
        for i in 0..b.len() {
            let s: f64 = l[i].iter().zip(&y).map(|(a, b)| a * b).sum();
            y.push((b[i] - s) / l[i][i]);
        }
        y
    }
    fn log_marginal(var: f64, len: f64, noise: f64, xs: &[f64], ys: &[f64]) -> Option<f64> {
        let k: Matrix = xs
            .iter()
            .enumerate()
            .map(|(i, &a)| {
                xs.iter()
                    .enumerate()
                    .map(|(j, &b)| rbf(a, b, var, len) + if i == j { noise } else { 0.0 })
                    .collect()
            })
            .collect();
        let l = cholesky(&k)?;
        let z = forward_sub(&l, ys);
        let logdet: f64 = (0..xs.len()).map(|i| l[i][i].ln()).sum();
        Some(-0.5 * z.iter().map(|v| v * v).sum::<f64>() - logdet)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        log_marginal(x[0], x[1], x[2], &x[3..6], &x[6..9]).unwrap_or(-1e9)
    }
}

#[stratape::differentiable]
pub mod spline {
    struct CubicSpline {
        knots: Vec<f64>,
        a: Vec<f64>,
        m: Vec<f64>,
    }
    impl CubicSpline {
        fn natural(knots: Vec<f64>, values: Vec<f64>) -> Self {
            let n = knots.len();
            let h: Vec<f64> = knots.windows(2).map(|w| w[1] - w[0]).collect();
            let mut m = vec![0.0; n];
            let mut c = vec![0.0; n];
            let mut d = vec![0.0; n];
            for i in 1..n - 1 {
                let rhs = 6.0
                    * ((values[i + 1] - values[i]) / h[i] - (values[i] - values[i - 1]) / h[i - 1]);
                let diag = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * c[i - 1];
                c[i] = h[i] / diag;
                d[i] = (rhs - h[i - 1] * d[i - 1]) / diag;
            }
            for i in (1..n - 1).rev() {
                m[i] = d[i] - c[i] * m[i + 1];
            }
            Self { knots, a: values, m }
        }
        fn find(&self, t: f64) -> usize {
            let i = self.knots.partition_point(|&k| k <= t);
            i.saturating_sub(1).min(self.knots.len() - 2)
        }
        fn eval(&self, t: f64) -> f64 {
            let i = self.find(t);
            let h = self.knots[i + 1] - self.knots[i];
            let (l, r) = ((self.knots[i + 1] - t) / h, (t - self.knots[i]) / h);
            l * self.a[i]
                + r * self.a[i + 1]
                + ((l.powi(3) - l) * self.m[i] + (r.powi(3) - r) * self.m[i + 1]) * h * h / 6.0
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let knots: Vec<f64> = (0..5).map(|i| i as f64 * 0.8).collect();
        let s = CubicSpline::natural(knots, x[1..].to_vec());
        s.eval(x[0]) + 0.3 * s.eval(1.7)
    }
}

#[stratape::differentiable]
pub mod nn {
    #[derive(Clone, Copy, PartialEq)]
    enum Activation {
        Relu,
        Tanh,
        Identity,
    }
    impl Activation {
        fn apply(&self, v: f64) -> f64 {
            match self {
                Self::Relu => v.max(0.0),
                Self::Tanh => v.tanh(),
                Self::Identity => v,
            }
        }
    }
    struct Dense {
        weights: Vec<Vec<f64>>,
        bias: Vec<f64>,
        act: Activation,
    }
    impl Dense {
        fn from_slice(p: &[f64], inputs: usize, outputs: usize, act: Activation) -> (Self, &[f64]) {
            let (w, rest) = p.split_at(inputs * outputs);
            let (b, rest) = rest.split_at(outputs);
            let weights = w.chunks(inputs).map(|c| c.to_vec()).collect();
            (Dense { weights, bias: b.to_vec(), act }, rest)
        }
        fn forward(&self, input: &[f64]) -> Vec<f64> {
            self.weights
                .iter()
                .zip(&self.bias)
                .map(|(row, b)| {
                    self.act.apply(row.iter().zip(input).map(|(w, i)| w * i).sum::<f64>() + b)
                })
                .collect()
        }
    }
    struct Network {
        layers: Vec<Dense>,
    }
    impl Network {
        fn forward(&self, input: &[f64]) -> Vec<f64> {
            self.layers.iter().fold(input.to_vec(), |h, layer| layer.forward(&h))
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (l1, rest) = Dense::from_slice(&x[2..], 2, 2, Activation::Tanh);
        let (l2, _) = Dense::from_slice(rest, 2, 1, Activation::Identity);
        let net = Network { layers: vec![l1, l2] };
        let out = net.forward(&x[..2]);
        (out[0] - 0.5).powi(2)
    }
}

#[stratape::differentiable]
pub mod tree {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OptionKind {
        Call,
        Put,
    }
    pub struct Contract {
        strike: f64,
        expiry: f64,
        kind: OptionKind,
        american: bool,
    }
    impl Contract {
        fn payoff(&self, spot: f64) -> f64 {
            match self.kind {
                OptionKind::Call => (spot - self.strike).max(0.0),
                OptionKind::Put => (self.strike - spot).max(0.0),
            }
        }
    }
    fn binomial(c: &Contract, spot: f64, vol: f64, rate: f64, steps: usize) -> f64 {
        let dt = c.expiry / steps as f64;
        let u = (vol * dt.sqrt()).exp();
        let d = 1.0 / u;
        let p = ((rate * dt).exp() - d) / (u - d);
        let disc = (-rate * dt).exp();
        let price_at =
            |step: usize, ups: usize| spot * u.powi(ups as i32) * d.powi((step - ups) as i32);
        let mut values: Vec<f64> = (0..=steps).map(|j| c.payoff(price_at(steps, j))).collect();
        for step in (0..steps).rev() {
            for j in 0..=step {
                let hold = disc * (p * values[j + 1] + (1.0 - p) * values[j]);
                values[j] = if c.american { hold.max(c.payoff(price_at(step, j))) } else { hold };
            }
        }
        values[0]
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let put = Contract { strike: x[1], expiry: 1.0, kind: OptionKind::Put, american: true };
        let call = Contract { kind: OptionKind::Call, american: false, ..put };
        binomial(&put, x[0], x[2], x[3], 10) + binomial(&call, x[0], x[2], x[3], 7)
    }
}

#[stratape::differentiable]
pub mod markov {
    const N: usize = 3;
    type Mat = [[f64; N]; N];
    fn softmax_rows(m: Mat) -> Mat {
        m.map(|row| {
            let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let e = row.map(|v| (v - top).exp());
            let s: f64 = e.iter().sum();
            e.map(|v| v / s)
        })
    }
    fn stationary(p: &Mat) -> [f64; N] {
        let mut pi = [1.0 / N as f64; N];
        for _ in 0..100 {
            let mut next = [0.0; N];
            for (i, w) in pi.iter().enumerate() {
                for (j, n) in next.iter_mut().enumerate() {
                    *n += w * p[i][j];
                }
            }
            let change: f64 = pi.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
            pi = next;
            if change < 1e-15 {
                break;
            }
        }
        pi
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = softmax_rows([[x[0], x[1], 0.0], [x[2], 0.2, x[3]], [0.1, x[0] * x[3], 0.4]]);
        let pi = stationary(&p);
        pi.iter().filter(|&&v| v > 0.0).map(|v| -v * v.ln()).sum()
    }
}
