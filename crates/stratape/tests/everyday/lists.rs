//! Lists that change in their middle, queues, lists of options and of enums.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    enum_layers: 5,
    vec_remove_insert: 5,
    retain_drain: 6,
    moving_average_deque: 8,
    rows_push: 6,
    vec_option: 5,
    array_of_options: 3,
    binary_search: 3,
    argsort: 5,
    adjacency_list: 5,
    mlp_struct: 12,
    into_iterator: 4,
    deref_newtype: 4,
    not_clone: 3,
    dedup_queue: 6,
    list_of_structs_with_enum: 4,
    enum_in_vec_moves: 4,
    memo_options: 4,
    lists_in_list: 5,
}

#[stratape::differentiable]
mod enum_layers {
    enum Layer {
        Linear { w: f64, b: f64 },
        Relu,
        Scale(f64),
    }
    impl Layer {
        fn forward(&self, x: f64) -> f64 {
            match self {
                Layer::Linear { w, b } => w * x + b,
                Layer::Relu => x.max(0.0),
                Layer::Scale(s) => s * x,
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let net = vec![
            Layer::Linear { w: x[0], b: x[1] },
            Layer::Relu,
            Layer::Scale(x[2]),
            Layer::Linear { w: x[3], b: 1.0 },
        ];
        net.iter().fold(x[4], |h, l| l.forward(h))
    }
}

#[stratape::differentiable]
mod vec_remove_insert {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v: Vec<f64> = x.to_vec();
        let first = v.remove(0);
        v.insert(2, first * 2.0);
        let last = v.swap_remove(1);
        v.push(last * first);
        v.truncate(4);
        let mut s = 0.0;
        for (i, a) in v.iter().enumerate() {
            s += a * (i + 1) as f64;
        }
        s
    }
}

#[stratape::differentiable]
mod retain_drain {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        v.retain(|a| *a > 0.45);
        let mut w: Vec<f64> = v.drain(..2).collect();
        let tail = w.split_off(1);
        w.append(&mut v);
        w.extend(tail);
        w.iter().enumerate().map(|(i, a)| a.powi(i as i32 + 1)).sum()
    }
}

#[stratape::differentiable]
mod moving_average_deque {
    use std::collections::VecDeque;
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut window: VecDeque<f64> = VecDeque::with_capacity(3);
        let mut out = 0.0;
        for &v in x {
            if window.len() == 3 {
                window.pop_front();
            }
            window.push_back(v);
            let mean = window.iter().sum::<f64>() / window.len() as f64;
            out += (v - mean) * (v - mean) * window[0];
        }
        out
    }
}

#[stratape::differentiable]
mod rows_push {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); 3];
        for (i, v) in x.iter().enumerate() {
            rows[i % 3].push(v * v);
        }
        rows.iter().map(|r| r.iter().sum::<f64>().sqrt()).sum()
    }
}

#[stratape::differentiable]
mod vec_option {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let readings: Vec<Option<f64>> =
            x.iter().map(|&v| if v > 0.5 { Some(v) } else { None }).collect();
        let mut last = 1.0;
        let mut s = 0.0;
        for r in &readings {
            if let Some(v) = r {
                last = *v;
            }
            s += last * last;
        }
        s + readings.iter().flatten().sum::<f64>()
            + readings.iter().filter_map(|r| *r).fold(1.0, |a, b| a * b)
    }
}

#[stratape::differentiable]
mod array_of_options {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: [Option<f64>; 2] = [None, None];
        for (i, &v) in x.iter().enumerate() {
            let slot = &mut best[i % 2];
            *slot = match *slot {
                Some(b) if b > v => Some(b),
                _ => Some(v * 1.5),
            };
        }
        best[0].unwrap_or(0.0) * best[1].unwrap_or(1.0)
    }
}

#[stratape::differentiable]
mod binary_search {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let grid = [0.0, 0.3, 0.6, 0.9, 1.2];
        let i = match grid.binary_search_by(|g| g.partial_cmp(&x[0]).unwrap()) {
            Ok(i) => i,
            Err(i) => i.saturating_sub(1),
        };
        (x[0] - grid[i]) * x[1] + x[2] * i as f64
    }
}

#[stratape::differentiable]
mod argsort {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by(|&a, &b| x[a].partial_cmp(&x[b]).unwrap());
        let mut rank_sum = 0.0;
        for (rank, &i) in order.iter().enumerate() {
            rank_sum += (rank as f64 + 1.0) * x[i] * x[i];
        }
        order.sort_by_key(|&i| std::cmp::Reverse(i));
        rank_sum + x[order[0]]
    }
}

#[stratape::differentiable]
mod adjacency_list {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut adj: Vec<Vec<(usize, f64)>> = vec![vec![]; 4];
        let mut add = |a: usize, b: usize, w: f64| {
            adj[a].push((b, w));
            adj[b].push((a, w));
        };
        add(0, 1, x[0]);
        add(1, 2, x[1]);
        add(2, 3, x[2]);
        add(3, 0, x[3]);
        let mut rank = vec![0.25; 4];
        for _ in 0..3 {
            let mut next = vec![0.0; 4];
            for (u, nbrs) in adj.iter().enumerate() {
                let total: f64 = nbrs.iter().map(|(_, w)| w).sum();
                for &(v, w) in nbrs {
                    next[v] += 0.85 * rank[u] * w / total;
                }
            }
            for r in next.iter_mut() {
                *r += 0.15 / 4.0;
            }
            rank = next;
        }
        rank[0] * x[4] + rank[2]
    }
}

#[stratape::differentiable]
mod mlp_struct {
    pub struct Dense {
        weights: Vec<Vec<f64>>,
        bias: Vec<f64>,
        activation: fn(f64) -> f64,
    }
    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }
    fn identity(x: f64) -> f64 {
        x
    }
    impl Dense {
        fn forward(&self, input: &[f64]) -> Vec<f64> {
            self.weights
                .iter()
                .zip(&self.bias)
                .map(|(row, b)| {
                    let z = row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>() + b;
                    (self.activation)(z)
                })
                .collect()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let l1 = Dense {
            weights: vec![x[0..2].to_vec(), x[2..4].to_vec()],
            bias: x[4..6].to_vec(),
            activation: sigmoid,
        };
        let l2 = Dense { weights: vec![x[6..8].to_vec()], bias: vec![x[8]], activation: identity };
        let h = l1.forward(&x[9..11]);
        let y = l2.forward(&h);
        (y[0] - x[11]).powi(2)
    }
}

#[stratape::differentiable]
mod into_iterator {
    struct Path {
        points: Vec<(f64, f64)>,
    }
    impl IntoIterator for Path {
        type Item = (f64, f64);
        type IntoIter = std::vec::IntoIter<(f64, f64)>;
        fn into_iter(self) -> Self::IntoIter {
            self.points.into_iter()
        }
    }
    struct Ring {
        data: Vec<f64>,
    }
    impl<'a> IntoIterator for &'a Ring {
        type Item = &'a f64;
        type IntoIter = std::slice::Iter<'a, f64>;
        fn into_iter(self) -> Self::IntoIter {
            self.data.iter()
        }
    }
    impl Ring {
        fn pairs(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
            let n = self.data.len();
            (0..n).map(move |i| (self.data[i], self.data[(i + 1) % n]))
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = Path { points: x.chunks(2).map(|c| (c[0], c[1])).collect() };
        let mut s = 0.0;
        for (a, b) in p {
            s += a * b * b;
        }
        let r = Ring { data: x.to_vec() };
        for v in &r {
            s += v.sin();
        }
        s + r.pairs().map(|(a, b)| a * b).sum::<f64>()
    }
}

#[stratape::differentiable]
mod deref_newtype {
    use std::ops::{Deref, DerefMut};
    struct Weights(Vec<f64>);
    impl Deref for Weights {
        type Target = Vec<f64>;
        fn deref(&self) -> &Vec<f64> {
            &self.0
        }
    }
    impl DerefMut for Weights {
        fn deref_mut(&mut self) -> &mut Vec<f64> {
            &mut self.0
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut w = Weights(x.to_vec());
        w[0] *= 2.0;
        w.push(1.5);
        w.iter().map(|v| v * v).sum::<f64>() * w.len() as f64
    }
}

#[stratape::differentiable]
mod not_clone {
    struct Rocket {
        mass: f64,
        fuel: f64,
        v: f64,
    }
    fn burn(r: &mut Rocket, rate: f64) -> bool {
        if r.fuel <= 0.0 {
            return false;
        }
        r.fuel -= rate;
        r.mass -= rate;
        r.v += 2.0 * rate / r.mass;
        true
    }
    fn launch(mut r: Rocket, rate: f64) -> Rocket {
        let mut n = 0;
        while n < 5 && burn(&mut r, rate) {
            n += 1;
        }
        r
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let fleet: Vec<Rocket> =
            x.iter().map(|&m| launch(Rocket { mass: 2.0 + m, fuel: 1.0, v: m }, 0.1 * m)).collect();
        let fastest = fleet.iter().map(|r| r.v).fold(0.0, f64::max);
        fleet.into_iter().map(|r| r.mass * r.v).sum::<f64>() + fastest
    }
}

#[stratape::differentiable]
mod dedup_queue {
    use std::collections::VecDeque;
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut q: VecDeque<(usize, f64)> = VecDeque::new();
        q.push_back((0, 1.0));
        let mut s = 0.0;
        while let Some((i, w)) = q.pop_front() {
            s += w * x[i];
            if 2 * i + 1 < x.len() {
                q.push_back((2 * i + 1, w * x[i].sin()));
            }
            if 2 * i + 2 < x.len() {
                q.push_front((2 * i + 2, w * 0.5));
            }
        }
        let mut v: Vec<f64> = x.to_vec();
        v.push(x[5]);
        v.dedup();
        v.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
        v.dedup_by_key(|a| (*a * 2.7) as i64);
        let front = q.front().copied().unwrap_or((0, 2.0));
        let mut d: VecDeque<f64> = v.iter().copied().collect();
        d.rotate_left(1);
        let last = *d.back().unwrap();
        s * front.1
            + v.iter().sum::<f64>()
            + last * d[0]
            + d.iter().rev().take(2).product::<f64>()
            + d.len() as f64
    }
}

#[stratape::differentiable]
mod list_of_structs_with_enum {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Long,
        Short,
    }
    #[derive(Clone)]
    struct Trade {
        kind: Kind,
        size: f64,
        fees: Vec<f64>,
        stop: Option<f64>,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut book: Vec<Trade> = Vec::new();
        for (i, &v) in x.iter().enumerate() {
            let kind = if i % 2 == 0 { Kind::Long } else { Kind::Short };
            book.push(Trade {
                kind,
                size: v,
                fees: vec![0.1 * v; i],
                stop: if i > 1 { Some(v * v) } else { None },
            });
        }
        book[0].fees.push(x[3]);
        book[1].stop = Some(x[0]);
        book.retain(|t| t.size > 0.0);
        book.swap(0, 1);
        let t = book.remove(0);
        book.insert(1, t);
        let mut pnl = 0.0;
        for t in &book {
            pnl += match t.kind {
                Kind::Long => t.size,
                Kind::Short => -t.size * 0.5,
            };
            pnl -= t.fees.iter().sum::<f64>();
            if let Some(s) = t.stop {
                pnl += s;
            }
        }
        let longs = book.iter().filter(|t| t.kind == Kind::Long).count();
        pnl * longs as f64
    }
}

#[stratape::differentiable]
mod enum_in_vec_moves {
    #[derive(Clone, Debug)]
    enum Shape {
        Circle { r: f64 },
        Rect { w: f64, h: f64 },
        Poly(Vec<f64>),
    }
    impl Shape {
        fn area(&self) -> f64 {
            match self {
                Shape::Circle { r } => 3.14 * r * r,
                Shape::Rect { w, h } => w * h,
                Shape::Poly(p) => p.iter().sum::<f64>().sqrt(),
            }
        }
        fn grow(&mut self, k: f64) {
            match self {
                Shape::Circle { r } => *r *= k,
                Shape::Rect { w, .. } => *w *= k,
                Shape::Poly(p) => p.push(k),
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut shapes = vec![Shape::Circle { r: x[0] }, Shape::Rect { w: x[1], h: x[2] }];
        shapes.push(Shape::Poly(vec![x[3], x[0]]));
        for (i, s) in shapes.iter_mut().enumerate() {
            s.grow(1.0 + x[i]);
        }
        let last = shapes.pop().unwrap();
        let big =
            shapes.iter().filter(|s| matches!(s, Shape::Rect { .. })).map(Shape::area).sum::<f64>();
        shapes.iter().map(|s| s.area()).sum::<f64>() * big + last.area()
    }
}

#[stratape::differentiable]
mod memo_options {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut memo = vec![None; 8];
        let mut total = 0.0;
        for i in 0..8 {
            let v = match memo[i] {
                Some(v) => v,
                None => {
                    let v = (x[i % 4] * (i + 1) as f64).sin();
                    memo[i] = Some(v);
                    v
                }
            };
            if i + 2 < 8 && i % 3 == 0 {
                memo[i + 2] = Some(v * x[0]);
            }
            total += v;
        }
        let filled = memo.iter().filter(|m| m.is_some()).count();
        let taken = memo[3].take().unwrap_or(0.0);
        total * filled as f64 + taken + memo.iter().flatten().fold(0.0, |a, b| a + b * b)
    }
}

#[stratape::differentiable]
mod lists_in_list {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut layers = Vec::new();
        layers.push(x.to_vec());
        while layers.last().unwrap().len() > 1 {
            let prev = &layers[layers.len() - 1];
            let next: Vec<f64> = prev.windows(2).map(|w| w[0] * w[1] + 0.1).collect();
            layers.push(next);
        }
        let mut buckets: Vec<Vec<f64>> = (0..3).map(|_| Vec::new()).collect();
        for (i, v) in x.iter().enumerate() {
            let b = ((v * 2.7) as usize).min(2);
            buckets[b].push(*v * (i + 1) as f64);
        }
        buckets[0].extend_from_slice(&x[..2]);
        let popped = buckets[0].pop().unwrap();
        buckets[0].insert(0, popped * 2.0);
        buckets[2].clear();
        layers.last().unwrap()[0]
            + buckets.iter().map(|b| b.iter().map(|v| v * v).sum::<f64>()).sum::<f64>()
    }
}
