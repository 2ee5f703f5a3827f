//! Tables, dynamic programming, statistics, graphs, as they were first written by someone who had read the guide alone.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    viterbi: [[0.2, 0.9, 0.1, 0.5, 0.7]],
    softdtw: [[0.1, 0.5, 0.9, 0.2, 0.7, 1.0, 0.3], [1.1, 0.5, -0.9, 0.2, 1.7, 1.0, 0.6]],
    interp2: [[0.4, 1.3, 1.0, 2.0, 0.5, 0.3, 1.7, 0.9], [1.6, 0.3, 1.0, -2.0, 0.5, 0.3, -1.7, 0.9]],
    springs: [[1.0, 0.2, 0.9, 5.0, 0.3], [0.5, -0.2, 1.4, 8.0, 0.1]],
    portfolio: [[0.2, 0.5, 0.1, 0.05, 0.08, 0.03], [1.2, -0.5, 0.3, 0.15, 0.02, 0.07]],
    quantiles: [[0.3, 1.2, -0.7, 2.5, 0.9], [3.3, 1.25, 0.7, -2.5, 0.4]],
    ranks: [[0.3, 1.2, -0.7, 2.5, 0.9, 0.1], [3.3, 1.25, 0.7, -2.5, 0.4, 0.9]],
    bellman: [[1.0, 4.0, 2.0, 0.5, 3.0], [5.0, 1.0, 0.2, 0.6, 3.3]],
    pagerank: [[0.85, 1.0, 0.5, 2.0], [0.6, 0.3, 1.5, 0.7]],
    thermostat: [[18.0, 0.3, 21.0], [23.0, 0.5, 20.0]],
    builder: [[0.3, 1.2, 0.7], [-0.5, 2.2, 0.1]],
    generic: [[0.3, 1.2, 0.7, 1.1], [-0.5, 2.2, 0.1, 0.4]],
}

#[stratape::differentiable]
pub mod viterbi {
    struct Hmm {
        start: Vec<f64>,
        trans: Vec<Vec<f64>>,
        emit: Vec<Vec<f64>>,
    }
    fn viterbi(hmm: &Hmm, obs: &[usize]) -> (f64, Vec<usize>) {
        let n = hmm.start.len();
        let mut score: Vec<f64> =
            (0..n).map(|s| hmm.start[s].ln() + hmm.emit[s][obs[0]].ln()).collect();
        let mut back: Vec<Vec<usize>> = Vec::new();
        for &o in &obs[1..] {
            let mut next = vec![f64::NEG_INFINITY; n];
            let mut ptr = vec![0; n];
            for s in 0..n {
                for p in 0..n {
                    let cand = score[p] + hmm.trans[p][s].ln() + hmm.emit[s][o].ln();
                    if cand > next[s] {
                        next[s] = cand;
                        ptr[s] = p;
                    }
                }
            }
            score = next;
            back.push(ptr);
        }
        let (mut state, best) = score
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.partial_cmp(b.1).unwrap())
            .map(|(i, &v)| (i, v))
            .unwrap();
        let mut path = vec![state];
        for ptr in back.iter().rev() {
            state = ptr[state];
            path.push(state);
        }
        path.reverse();
        (best, path)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let hmm = Hmm {
            start: vec![x[0], 1.0 - x[0]],
            trans: vec![vec![x[1], 1.0 - x[1]], vec![x[2], 1.0 - x[2]]],
            emit: vec![vec![x[3], 1.0 - x[3]], vec![x[4], 1.0 - x[4]]],
        };
        let (best, path) = viterbi(&hmm, &[0, 1, 1, 0, 1]);
        best + path.iter().map(|&s| hmm.start[s]).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod softdtw {
    fn softmin(vals: &[f64], gamma: f64) -> f64 {
        let m = vals.iter().cloned().fold(f64::INFINITY, f64::min);
        m - gamma * vals.iter().map(|v| ((m - v) / gamma).exp()).sum::<f64>().ln()
    }
    fn soft_dtw(a: &[f64], b: &[f64], gamma: f64) -> f64 {
        let (n, m) = (a.len(), b.len());
        let mut r = vec![vec![1e6; m + 1]; n + 1];
        r[0][0] = 0.0;
        for i in 1..=n {
            for j in 1..=m {
                let cost = (a[i - 1] - b[j - 1]).powi(2);
                r[i][j] = cost + softmin(&[r[i - 1][j], r[i][j - 1], r[i - 1][j - 1]], gamma);
            }
        }
        r[n][m]
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (gamma, rest) = x.split_last().unwrap();
        let (a, b) = rest.split_at(3);
        soft_dtw(a, b, *gamma)
    }
}

#[stratape::differentiable]
pub mod interp2 {
    struct Table2D {
        xs: Vec<f64>,
        ys: Vec<f64>,
        values: Vec<Vec<f64>>,
    }
    impl Table2D {
        fn bracket(axis: &[f64], v: f64) -> (usize, f64) {
            let i = match axis.iter().position(|&a| a > v) {
                Some(0) => 0,
                Some(k) => k - 1,
                None => axis.len() - 2,
            };
            (i, (v - axis[i]) / (axis[i + 1] - axis[i]))
        }
        fn lookup(&self, x: f64, y: f64) -> f64 {
            let (i, u) = Self::bracket(&self.xs, x);
            let (j, v) = Self::bracket(&self.ys, y);
            let lerp = |a: f64, b: f64, t: f64| a + (b - a) * t;
            let low = lerp(self.values[i][j], self.values[i + 1][j], u);
            let high = lerp(self.values[i][j + 1], self.values[i + 1][j + 1], u);
            lerp(low, high, v)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let table = Table2D {
            xs: vec![0.0, 1.0, 2.0],
            ys: vec![0.0, 1.0 + 0.1 * x[7]],
            values: x[2..8].chunks_exact(2).map(<[f64]>::to_vec).collect(),
        };
        table.lookup(x[0], x[1]) + table.lookup(x[1], 0.5 * x[0]).powi(2)
    }
}

#[stratape::differentiable]
pub mod springs {
    #[derive(Clone, Copy, Default)]
    struct Particle {
        pos: [f64; 2],
        vel: [f64; 2],
        fixed: bool,
    }
    #[derive(Clone, Copy)]
    struct Spring {
        a: usize,
        b: usize,
        rest: f64,
        k: f64,
    }
    struct World {
        particles: Vec<Particle>,
        springs: Vec<Spring>,
        damping: f64,
    }
    impl World {
        fn forces(&self) -> Vec<[f64; 2]> {
            let mut out: Vec<[f64; 2]> = self
                .particles
                .iter()
                .map(|p| [-self.damping * p.vel[0], -9.81 - self.damping * p.vel[1]])
                .collect();
            for &Spring { a, b, rest, k } in &self.springs {
                let (pa, pb) = (self.particles[a].pos, self.particles[b].pos);
                let d = [pb[0] - pa[0], pb[1] - pa[1]];
                let len = d[0].hypot(d[1]);
                let mag = k * (len - rest) / len;
                for c in 0..2 {
                    out[a][c] += mag * d[c];
                    out[b][c] -= mag * d[c];
                }
            }
            out
        }
        fn step(&mut self, dt: f64) {
            let forces = self.forces();
            for (p, fo) in self.particles.iter_mut().zip(forces.iter()) {
                if p.fixed {
                    continue;
                }
                for c in 0..2 {
                    p.vel[c] += dt * fo[c];
                    p.pos[c] += dt * p.vel[c];
                }
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut w = World {
            particles: vec![
                Particle { fixed: true, ..Default::default() },
                Particle { pos: [x[0], x[1]], ..Particle::default() },
                Particle { pos: [2.0 * x[0], 0.1], vel: [0.0, x[4]], fixed: false },
            ],
            springs: vec![
                Spring { a: 0, b: 1, rest: x[2], k: x[3] },
                Spring { a: 1, b: 2, rest: 0.8, k: x[3] * 0.5 },
            ],
            damping: 0.2,
        };
        for _ in 0..25 {
            w.step(0.01);
        }
        w.particles.iter().filter(|p| !p.fixed).map(|p| p.pos[0] * p.pos[1]).sum()
    }
}

#[stratape::differentiable]
pub mod portfolio {
    fn softmax(z: &[f64]) -> Vec<f64> {
        let max = z.iter().fold(f64::MIN, |a, &b| a.max(b));
        let exps: Vec<f64> = z.iter().map(|v| (v - max).exp()).collect();
        let sum = exps.iter().sum::<f64>();
        exps.into_iter().map(|e| e / sum).collect()
    }
    struct Market<'a> {
        returns: &'a [f64],
        cov: [[f64; 3]; 3],
    }
    impl<'a> Market<'a> {
        fn variance(&self, w: &[f64]) -> f64 {
            let mut v = 0.0;
            for (i, wi) in w.iter().enumerate() {
                for (j, wj) in w.iter().enumerate() {
                    v += wi * wj * self.cov[i][j];
                }
            }
            v
        }
        fn sharpe(&self, w: &[f64], rf: f64) -> f64 {
            let excess: f64 = self.returns.iter().zip(w).map(|(r, w)| (r - rf) * w).sum();
            excess / self.variance(w).sqrt()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (logits, returns) = x.split_at(3);
        let market =
            Market { returns, cov: [[0.04, 0.01, 0.0], [0.01, 0.09, -0.02], [0.0, -0.02, 0.05]] };
        let w = softmax(logits);
        let concentration: f64 = w.iter().map(|v| v * v).sum();
        -market.sharpe(&w, 0.01) + 0.1 * concentration
    }
}

#[stratape::differentiable]
pub mod quantiles {
    struct Summary {
        median: f64,
        iqr: f64,
        trimmed: f64,
    }
    fn quantile(sorted: &[f64], q: f64) -> f64 {
        let pos = q * (sorted.len() - 1) as f64;
        let lo = pos.floor() as usize;
        let hi = pos.ceil() as usize;
        let frac = pos - lo as f64;
        sorted[lo] * (1.0 - frac) + sorted[hi] * frac
    }
    impl Summary {
        fn of(data: &[f64]) -> Option<Summary> {
            if data.is_empty() {
                return None;
            }
            let mut v = data.to_vec();
            v.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let trimmed = &v[1..v.len() - 1];
            Some(Summary {
                median: quantile(&v, 0.5),
                iqr: quantile(&v, 0.75) - quantile(&v, 0.2),
                trimmed: trimmed.iter().sum::<f64>() / trimmed.len() as f64,
            })
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let Some(Summary { median, iqr, trimmed }) = Summary::of(x) else { return 0.0 };
        median * median + 2.0 * iqr + trimmed.sin()
    }
}

#[stratape::differentiable]
pub mod ranks {
    fn ranks(v: &[f64]) -> Vec<usize> {
        let mut idx: Vec<usize> = (0..v.len()).collect();
        idx.sort_unstable_by(|&a, &b| v[a].total_cmp(&v[b]));
        let mut out = vec![0; v.len()];
        for (rank, &i) in idx.iter().enumerate() {
            out[i] = rank + 1;
        }
        out
    }
    fn gini(v: &[f64]) -> f64 {
        let n = v.len() as f64;
        let r = ranks(v);
        let weighted: f64 = v.iter().zip(&r).map(|(a, &k)| a * (2.0 * k as f64 - n - 1.0)).sum();
        weighted / (n * v.iter().map(|a| a.abs()).sum::<f64>())
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = x.split_at(3);
        gini(a) + 0.5 * gini(b) * gini(x)
    }
}

#[stratape::differentiable]
pub mod bellman {
    #[derive(Debug, Clone, Copy)]
    struct Edge {
        from: usize,
        to: usize,
        weight: f64,
    }
    struct Graph {
        nodes: usize,
        edges: Vec<Edge>,
    }
    impl Graph {
        fn new(nodes: usize) -> Self {
            Graph { nodes, edges: Vec::new() }
        }
        fn with_edge(mut self, from: usize, to: usize, weight: f64) -> Self {
            self.edges.push(Edge { from, to, weight });
            self
        }
        fn shortest(&self, source: usize) -> Result<Vec<f64>, String> {
            let mut dist = vec![f64::INFINITY; self.nodes];
            dist[source] = 0.0;
            for _ in 1..self.nodes {
                for e in &self.edges {
                    let d = dist[e.from] + e.weight;
                    if d < dist[e.to] {
                        dist[e.to] = d;
                    }
                }
            }
            if self.edges.iter().any(|e| dist[e.from] + e.weight < dist[e.to] - 1e-12) {
                return Err("negative cycle".to_string());
            }
            Ok(dist)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let g = Graph::new(4)
            .with_edge(0, 1, x[0])
            .with_edge(0, 2, x[1])
            .with_edge(1, 2, x[2])
            .with_edge(2, 3, x[3])
            .with_edge(1, 3, x[4]);
        match g.shortest(0) {
            Ok(dist) => dist.iter().map(|d| d * d).sum(),
            Err(_) => -1.0,
        }
    }
}

#[stratape::differentiable]
pub mod pagerank {
    fn pagerank(links: &[Vec<(usize, f64)>], damping: f64, tol: f64) -> Vec<f64> {
        let n = links.len();
        let mut rank = vec![1.0 / n as f64; n];
        loop {
            let mut next = vec![(1.0 - damping) / n as f64; n];
            for (from, out) in links.iter().enumerate() {
                let total: f64 = out.iter().map(|(_, w)| w).sum();
                if out.is_empty() {
                    next.iter_mut().for_each(|v| *v += damping * rank[from] / n as f64);
                }
                for &(to, w) in out {
                    next[to] += damping * rank[from] * w / total;
                }
            }
            let delta = rank.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            rank = next;
            if delta < tol {
                break rank;
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let links = vec![
            vec![(1, x[1]), (2, 1.0)],
            vec![(2, x[2]), (0, 0.3)],
            vec![(0, x[3]), (3, 0.5)],
            vec![],
        ];
        let r = pagerank(&links, x[0], 1e-13);
        r.iter().enumerate().map(|(i, v)| v * (i * i + 1) as f64).sum()
    }
}

#[stratape::differentiable]
pub mod thermostat {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Mode {
        Off,
        Heating { since: usize },
        Cooling { power: f64 },
    }
    struct Thermostat {
        mode: Mode,
        temp: f64,
        setpoint: f64,
    }
    impl Thermostat {
        fn next_mode(&self, tick: usize) -> Mode {
            let err = self.temp - self.setpoint;
            match (self.mode, err) {
                (Mode::Off, e) if e < -1.0 => Mode::Heating { since: tick },
                (Mode::Off, e) if e > 1.0 => Mode::Cooling { power: 0.2 * e },
                (Mode::Heating { since }, e) if e > 0.3 || tick - since > 12 => Mode::Off,
                (Mode::Cooling { .. }, e) if e < 0.0 => Mode::Off,
                (m, _) => m,
            }
        }
        fn advance(&mut self, tick: usize, leak: f64) -> f64 {
            self.mode = self.next_mode(tick);
            let power = match self.mode {
                Mode::Off => 0.0,
                Mode::Heating { since } => 0.8 + 0.01 * (tick - since) as f64,
                Mode::Cooling { power } => -power,
            };
            self.temp += power - leak * 0.1 * (self.temp - 15.0);
            power * power
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut t = Thermostat { mode: Mode::Off, temp: x[0], setpoint: x[2] };
        let cost: f64 = (0..30).map(|tick| t.advance(tick, x[1])).sum();
        cost + 0.1 * t.temp
    }
}

#[stratape::differentiable]
pub mod builder {
    #[derive(Debug, Clone)]
    struct Config {
        rate: f64,
        momentum: Option<f64>,
        decay: f64,
        steps: usize,
    }
    #[derive(Default)]
    struct ConfigBuilder {
        rate: Option<f64>,
        momentum: Option<f64>,
        decay: Option<f64>,
        steps: Option<usize>,
    }
    impl ConfigBuilder {
        fn rate(mut self, r: f64) -> Self {
            self.rate = Some(r);
            self
        }
        fn momentum(mut self, m: f64) -> Self {
            self.momentum = Some(m);
            self
        }
        fn steps(mut self, n: usize) -> Self {
            self.steps = Some(n);
            self
        }
        fn build(self) -> Result<Config, String> {
            Ok(Config {
                rate: self.rate.ok_or_else(|| "rate missing".to_string())?,
                momentum: self.momentum,
                decay: self.decay.unwrap_or(0.01),
                steps: self.steps.unwrap_or(5),
            })
        }
    }
    fn descend(cfg: &Config, start: f64, target: f64) -> f64 {
        let (mut p, mut vel) = (start, 0.0);
        for _ in 0..cfg.steps {
            let grad = 2.0 * (p - target) + cfg.decay * p;
            match cfg.momentum {
                Some(m) => {
                    vel = m * vel - cfg.rate * grad;
                    p += vel;
                }
                None => p -= cfg.rate * grad,
            }
        }
        p
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut b = ConfigBuilder::default().rate(0.1 * x[2]).steps(8);
        if x[0] > 0.0 {
            b = b.momentum(0.5 * x[2]);
        }
        let cfg = b.build().expect("complete");
        descend(&cfg, x[0], x[1]).powi(2)
    }
}

#[stratape::differentiable]
pub mod generic {
    trait Kernel {
        const NAME: &'static str;
        fn eval(&self, a: f64, b: f64) -> f64;
        fn gram(&self, xs: &[f64]) -> Vec<Vec<f64>> {
            xs.iter().map(|&a| xs.iter().map(|&b| self.eval(a, b)).collect()).collect()
        }
    }
    struct Rbf {
        length: f64,
    }
    struct Poly {
        degree: i32,
        offset: f64,
    }
    struct Sum<A, B>(A, B);
    impl Kernel for Rbf {
        const NAME: &'static str = "rbf";
        fn eval(&self, a: f64, b: f64) -> f64 {
            (-(a - b).powi(2) / (2.0 * self.length.powi(2))).exp()
        }
    }
    impl Kernel for Poly {
        const NAME: &'static str = "poly";
        fn eval(&self, a: f64, b: f64) -> f64 {
            (a * b + self.offset).powi(self.degree)
        }
    }
    impl<A: Kernel, B: Kernel> Kernel for Sum<A, B> {
        const NAME: &'static str = "sum";
        fn eval(&self, a: f64, b: f64) -> f64 {
            self.0.eval(a, b) + self.1.eval(a, b)
        }
    }
    fn energy<K>(k: &K, xs: &[f64]) -> f64
    where
        K: Kernel,
    {
        k.gram(xs).iter().flatten().copied().sum::<f64>() / (xs.len() * xs.len()) as f64
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let k = Sum(Rbf { length: 0.5 + x[3] }, Poly { degree: 3, offset: x[3] });
        energy(&k, &x[..3]) + energy(&k.0, &x[1..])
    }
}
