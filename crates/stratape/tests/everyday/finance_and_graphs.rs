//! Finance, graphs, images, parsing and statistics, as people write them.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    asian_option: 3,
    dijkstra: 7,
    sobel: 12,
    event_log: 4,
    tuple_returns_struct: 4,
    peek_tokens: 3,
    yield_curve: 5,
    gol_soft: 9,
    heap_like: 6,
    black_scholes: 5,
    kalman: 4,
    hash_free_graph: 6,
    binomial_tree: 4,
}

#[stratape::differentiable]
mod asian_option {
    struct Xorshift {
        s: u32,
    }
    impl Xorshift {
        fn next(&mut self) -> f64 {
            self.s ^= self.s << 13;
            self.s ^= self.s >> 17;
            self.s ^= self.s << 5;
            f64::from(self.s) / f64::from(u32::MAX)
        }
    }
    impl Iterator for Xorshift {
        type Item = f64;
        fn next(&mut self) -> Option<f64> {
            Some(Xorshift::next(self))
        }
    }
    fn gauss(u: f64, v: f64) -> f64 {
        (-2.0 * u.max(1e-9).ln()).sqrt() * (6.283185307179586 * v).cos()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (s0, vol, r) = (1.0 + x[0], 0.2 + 0.3 * x[1], 0.05 * x[2]);
        let (paths, steps) = (8, 5);
        let dt = 1.0 / steps as f64;
        let mut rng = Xorshift { s: 2463534242 };
        let mut payoff = 0.0;
        for _ in 0..paths {
            let mut s = s0;
            let mut avg = 0.0;
            for _ in 0..steps {
                let z = gauss(rng.next(), rng.next());
                s *= ((r - 0.5 * vol * vol) * dt + vol * dt.sqrt() * z).exp();
                avg += s / steps as f64;
            }
            payoff += (avg - 1.3_f64).max(0.0);
        }
        (-r).exp() * payoff / paths as f64
    }
}

#[stratape::differentiable]
mod dijkstra {
    #[derive(Clone, Copy, Debug)]
    struct Edge {
        to: usize,
        w: f64,
    }
    struct Graph {
        adj: Vec<Vec<Edge>>,
    }
    impl Graph {
        fn new(n: usize) -> Self {
            Graph { adj: vec![Vec::new(); n] }
        }
        fn edge(&mut self, a: usize, b: usize, w: f64) {
            self.adj[a].push(Edge { to: b, w });
            self.adj[b].push(Edge { to: a, w });
        }
        fn shortest(&self, from: usize) -> Vec<f64> {
            let n = self.adj.len();
            let mut dist = vec![f64::INFINITY; n];
            let mut done = vec![false; n];
            dist[from] = 0.0;
            for _ in 0..n {
                let mut u = None;
                for v in 0..n {
                    if !done[v] && u.map_or(true, |u: usize| dist[v] < dist[u]) {
                        u = Some(v);
                    }
                }
                let Some(u) = u else { break };
                done[u] = true;
                for e in &self.adj[u] {
                    let alt = dist[u] + e.w;
                    if alt < dist[e.to] {
                        dist[e.to] = alt;
                    }
                }
            }
            dist
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut g = Graph::new(5);
        for (i, &(a, b)) in
            [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4)].iter().enumerate()
        {
            g.edge(a, b, x[i]);
        }
        let d = g.shortest(0);
        d.iter().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
mod sobel {
    struct Image<'a> {
        w: usize,
        h: usize,
        px: &'a [f64],
    }
    impl<'a> Image<'a> {
        fn new(w: usize, h: usize, px: &'a [f64]) -> Option<Self> {
            if px.len() == w * h { Some(Image { w, h, px }) } else { None }
        }
        fn get(&self, x: usize, y: usize) -> f64 {
            self.px[y * self.w + x]
        }
        fn gradient_at(&self, x: usize, y: usize) -> (f64, f64) {
            const SX: [[f64; 3]; 3] = [[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]];
            let mut gx = 0.0;
            let mut gy = 0.0;
            for j in 0..3 {
                for i in 0..3 {
                    let p = self.get(x + i - 1, y + j - 1);
                    gx += SX[j][i] * p;
                    gy += SX[i][j] * p;
                }
            }
            (gx, gy)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let Some(img) = Image::new(4, 3, x) else { return 0.0 };
        let mut edges = Vec::new();
        for y in 1..img.h - 1 {
            for xx in 1..img.w - 1 {
                let (gx, gy) = img.gradient_at(xx, y);
                edges.push(gx.hypot(gy));
            }
        }
        let max = edges.iter().cloned().fold(f64::MIN, f64::max);
        edges.iter().map(|e| e / max).sum::<f64>() + edges.len() as f64 * 0.1
    }
}

#[stratape::differentiable]
mod event_log {
    #[derive(Debug, Clone)]
    enum Event {
        Deposit { t: f64, amount: f64 },
        Rate(f64),
        Close,
    }
    fn apply(events: &[Event]) -> Result<f64, &'static str> {
        let (mut balance, mut rate, mut last) = (0.0_f64, 0.0_f64, 0.0_f64);
        for e in events {
            match e {
                Event::Deposit { t, .. } if *t < last => return Err("time goes back"),
                Event::Deposit { t, amount } => {
                    balance = balance * (rate * (t - last)).exp() + amount;
                    last = *t;
                }
                Event::Rate(r) => rate = *r,
                Event::Close => return Ok(balance),
            }
        }
        Err("never closed")
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut log = vec![Event::Rate(x[0])];
        for i in 0..3 {
            log.push(Event::Deposit { t: i as f64 + x[1], amount: x[i + 1] });
            if i == 1 {
                log.push(Event::Rate(x[2] * 2.0));
            }
        }
        log.push(Event::Close);
        log.push(Event::Rate(5.0));
        apply(&log).unwrap_or(0.0)
    }
}

#[stratape::differentiable]
mod tuple_returns_struct {
    #[derive(Debug, Clone, Copy)]
    struct Fit {
        slope: f64,
        intercept: f64,
        r2: f64,
    }
    fn regress(pts: &[(f64, f64)]) -> Option<Fit> {
        let n = pts.len() as f64;
        let (sx, sy) = pts.iter().fold((0.0, 0.0), |(a, b), &(x, y)| (a + x, b + y));
        let (mx, my) = (sx / n, sy / n);
        let sxy = pts.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
        let (sxx, syy): (f64, f64) = pts
            .iter()
            .map(|(x, y)| ((x - mx).powi(2), (y - my).powi(2)))
            .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        if sxx == 0.0 {
            return None;
        }
        let slope = sxy / sxx;
        Some(Fit { slope, intercept: my - slope * mx, r2: sxy * sxy / (sxx * syy) })
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let pts: Vec<(f64, f64)> =
            x.iter().enumerate().map(|(i, &y)| (i as f64 + 0.1 * y, y * y)).collect();
        if let Some(Fit { slope, intercept, r2 }) = regress(&pts) {
            slope * intercept + r2
        } else {
            f64::NAN
        }
    }
}

#[stratape::differentiable]
mod peek_tokens {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Tok {
        Num(f64),
        Plus,
        Times,
    }
    fn term(toks: &[Tok], pos: &mut usize) -> f64 {
        let Tok::Num(mut v) = toks[*pos] else { panic!("number expected") };
        *pos += 1;
        while *pos < toks.len() && toks[*pos] == Tok::Times {
            if let Tok::Num(r) = toks[*pos + 1] {
                v *= r;
            }
            *pos += 2;
        }
        v
    }
    fn expr(toks: &[Tok]) -> f64 {
        let mut pos = 0;
        let mut v = term(toks, &mut pos);
        while pos < toks.len() {
            assert!(toks[pos] == Tok::Plus);
            pos += 1;
            v += term(toks, &mut pos);
        }
        v
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        expr(&[
            Tok::Num(x[0]),
            Tok::Times,
            Tok::Num(x[1]),
            Tok::Plus,
            Tok::Num(x[2]),
            Tok::Times,
            Tok::Num(x[0]),
            Tok::Times,
            Tok::Num(3.0),
        ])
    }
}

#[stratape::differentiable]
mod yield_curve {
    #[derive(Clone)]
    struct Curve {
        times: Vec<f64>,
        rates: Vec<f64>,
    }
    impl Curve {
        fn zero(&self, t: f64) -> f64 {
            match self.times.binary_search_by(|probe| probe.partial_cmp(&t).unwrap()) {
                Ok(i) => self.rates[i],
                Err(0) => self.rates[0],
                Err(i) if i == self.times.len() => *self.rates.last().unwrap(),
                Err(i) => {
                    let w = (t - self.times[i - 1]) / (self.times[i] - self.times[i - 1]);
                    self.rates[i - 1] * (1.0 - w) + self.rates[i] * w
                }
            }
        }
        fn discount(&self, t: f64) -> f64 {
            (-self.zero(t) * t).exp()
        }
    }
    struct Bond {
        coupon: f64,
        maturity: u32,
    }
    impl Bond {
        fn price(&self, c: &Curve) -> f64 {
            (1..=self.maturity).map(|k| self.coupon * c.discount(f64::from(k))).sum::<f64>()
                + c.discount(self.maturity as f64)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let c =
            Curve { times: vec![0.5, 2.0, 4.5], rates: x[..3].iter().map(|r| 0.05 * r).collect() };
        let bonds = [Bond { coupon: x[3], maturity: 3 }, Bond { coupon: x[4], maturity: 6 }];
        bonds.iter().map(|b| b.price(&c)).sum()
    }
}

#[stratape::differentiable]
mod gol_soft {
    type Grid = [[f64; 3]; 3];
    fn neighbours(g: &Grid, r: usize, c: usize) -> f64 {
        let mut s = 0.0;
        for dr in [-1_i32, 0, 1] {
            for dc in [-1_i32, 0, 1] {
                if dr == 0 && dc == 0 {
                    continue;
                }
                let (rr, cc) = (
                    (r as i32 + dr).rem_euclid(3) as usize,
                    (c as i32 + dc).rem_euclid(3) as usize,
                );
                s += g[rr][cc];
            }
        }
        s
    }
    fn step(g: &Grid) -> Grid {
        let mut out = [[0.0; 3]; 3];
        for (r, row) in g.iter().enumerate() {
            for (c, &v) in row.iter().enumerate() {
                let n = neighbours(g, r, c);
                out[r][c] = 1.0 / (1.0 + (-(v + n - 3.0)).exp());
            }
        }
        out
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut g: Grid = [[0.0; 3]; 3];
        for (i, v) in x.iter().enumerate() {
            g[i / 3][i % 3] = *v;
        }
        for _ in 0..3 {
            g = step(&g);
        }
        g.iter().flat_map(|r| r.iter()).enumerate().map(|(i, v)| v * i as f64).sum()
    }
}

#[stratape::differentiable]
mod heap_like {
    #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
    struct Item {
        key: f64,
        val: f64,
    }
    struct MinHeap {
        items: Vec<Item>,
    }
    impl MinHeap {
        fn push(&mut self, it: Item) {
            self.items.push(it);
            let mut i = self.items.len() - 1;
            while i > 0 {
                let p = (i - 1) / 2;
                if self.items[i] < self.items[p] {
                    self.items.swap(i, p);
                    i = p;
                } else {
                    break;
                }
            }
        }
        fn pop(&mut self) -> Option<Item> {
            if self.items.is_empty() {
                return None;
            }
            let top = self.items.swap_remove(0);
            let mut i = 0;
            loop {
                let (l, r) = (2 * i + 1, 2 * i + 2);
                let mut m = i;
                if l < self.items.len() && self.items[l] < self.items[m] {
                    m = l;
                }
                if r < self.items.len() && self.items[r] < self.items[m] {
                    m = r;
                }
                if m == i {
                    break;
                }
                self.items.swap(i, m);
                i = m;
            }
            Some(top)
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h = MinHeap { items: vec![] };
        for (i, &v) in x.iter().enumerate() {
            h.push(Item { key: v, val: v * (i + 1) as f64 });
        }
        let mut s = 0.0;
        let mut w = 1.0;
        while let Some(Item { key, val }) = h.pop() {
            s += w * key * val;
            w *= 0.7;
        }
        s
    }
}

#[stratape::differentiable]
mod black_scholes {
    #[derive(Clone, Copy, Debug)]
    pub enum OptionKind {
        Call,
        Put,
    }
    pub struct Market {
        spot: f64,
        rate: f64,
        vol: f64,
    }
    fn norm_cdf(x: f64) -> f64 {
        let t = 1.0 / (1.0 + 0.2316419 * x.abs());
        let d = 0.3989423 * (-x * x / 2.0).exp();
        let p = d
            * t
            * (0.3193815 + t * (-0.3565638 + t * (1.781478 + t * (-1.821256 + t * 1.330274))));
        if x > 0.0 { 1.0 - p } else { p }
    }
    pub fn price(kind: OptionKind, m: &Market, strike: f64, t: f64) -> f64 {
        let d1 = ((m.spot / strike).ln() + (m.rate + 0.5 * m.vol.powi(2)) * t) / (m.vol * t.sqrt());
        let d2 = d1 - m.vol * t.sqrt();
        let df = (-m.rate * t).exp();
        match kind {
            OptionKind::Call => m.spot * norm_cdf(d1) - strike * df * norm_cdf(d2),
            OptionKind::Put => strike * df * norm_cdf(-d2) - m.spot * norm_cdf(-d1),
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = Market { spot: 1.0 + x[0], rate: 0.1 * x[1], vol: x[2] };
        [OptionKind::Call, OptionKind::Put].iter().map(|&k| price(k, &m, 1.0 + x[3], x[4])).sum()
    }
}

#[stratape::differentiable]
mod kalman {
    #[derive(Clone, Copy)]
    struct State {
        mean: f64,
        var: f64,
    }
    struct Kalman {
        q: f64,
        r: f64,
        state: State,
    }
    impl Kalman {
        fn predict(&mut self) {
            self.state.var += self.q;
        }
        fn update(&mut self, z: f64) -> f64 {
            let innovation = z - self.state.mean;
            let s = self.state.var + self.r;
            let gain = self.state.var / s;
            self.state = State {
                mean: self.state.mean + gain * innovation,
                var: (1.0 - gain) * self.state.var,
            };
            -0.5 * (innovation.powi(2) / s + s.ln() + std::f64::consts::TAU.ln())
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let obs = [1.0, 1.2, 0.9, 1.4];
        let mut kf = Kalman { q: x[0], r: x[1], state: State { mean: x[2], var: x[3] } };
        obs.iter()
            .map(|&z| {
                kf.predict();
                kf.update(z)
            })
            .sum()
    }
}

#[stratape::differentiable]
mod hash_free_graph {
    #[derive(Clone, Copy)]
    struct Edge {
        from: usize,
        to: usize,
        weight: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let edges = vec![
            Edge { from: 0, to: 1, weight: x[0] },
            Edge { from: 0, to: 2, weight: x[1] },
            Edge { from: 1, to: 2, weight: x[2] },
            Edge { from: 1, to: 3, weight: x[3] },
            Edge { from: 2, to: 3, weight: x[4] },
        ];
        let mut dist = [f64::INFINITY; 4];
        dist[0] = 0.0;
        for _ in 0..dist.len() - 1 {
            for &Edge { from, to, weight } in &edges {
                if dist[from] + weight < dist[to] {
                    dist[to] = dist[from] + weight;
                }
            }
        }
        dist[3] * x[5]
    }
}

#[stratape::differentiable]
mod binomial_tree {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = 10usize;
        let (s, k, r, sigma) = (1.0 + x[0], 1.0 + x[1], 0.05 * x[2], x[3]);
        let dt = 1.0 / n as f64;
        let u = (sigma * dt.sqrt()).exp();
        let d = u.recip();
        let p = ((r * dt).exp() - d) / (u - d);
        let disc = (-r * dt).exp();
        let mut values: Vec<f64> =
            (0..=n).map(|i| (k - s * u.powi(i as i32) * d.powi((n - i) as i32)).max(0.0)).collect();
        for step in (0..n).rev() {
            for i in 0..=step {
                let cont = disc * (p * values[i + 1] + (1.0 - p) * values[i]);
                let exercise = k - s * u.powi(i as i32) * d.powi(step as i32 - i as i32);
                values[i] = cont.max(exercise);
            }
            values.pop();
        }
        values[0]
    }
}
