//! Iterators that end early, look ahead, or go several ways.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    peekable: 6,
    min_by: 5,
    try_fold: 4,
    partition: 6,
    from_fn_successors: 2,
    zip3_windows: 6,
    flat_map_nested: 4,
    chunks_remainder: 7,
    any_all_position: 5,
    chunk_stats: 9,
    try_iterators: 5,
    peeking: 6,
    partitions: 7,
    fold_vec: 4,
    dyn_trait_arg: 3,
    shadowed_generic: 3,
    early_none: 4,
    bool_arrays: 6,
}

#[stratape::differentiable]
mod peekable {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut it = x.iter().peekable();
        let mut s = 0.0;
        while let Some(v) = it.next() {
            if let Some(next) = it.peek() {
                s += (**next - v) * v;
            } else {
                s += v.sin();
            }
        }
        s
    }
}

#[stratape::differentiable]
mod min_by {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let min = x.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        let max = x.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
        let (i, far) = x
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| (*a - 0.5).abs().partial_cmp(&(*b - 0.5).abs()).unwrap())
            .unwrap();
        let m2 = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        (max - min) * m2 + far * i as f64
    }
}

#[stratape::differentiable]
mod try_fold {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let r = x.iter().try_fold(1.0, |acc, &v| if v > 0.0 { Some(acc * v) } else { None });
        let s: Option<f64> = x.iter().map(|v| if *v > 0.0 { Some(v.ln()) } else { None }).sum();
        r.unwrap_or(0.0) + s.unwrap_or(0.0)
    }
}

#[stratape::differentiable]
mod partition {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (low, high): (Vec<f64>, Vec<f64>) = x.iter().partition(|v| **v < 0.6);
        let p: f64 = low.iter().product();
        p + high.iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
mod from_fn_successors {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut t = x[0];
        let mut n = 0;
        let s: f64 = std::iter::from_fn(|| {
            n += 1;
            t *= x[1];
            if n < 6 { Some(t) } else { None }
        })
        .sum();
        let u: f64 = std::iter::successors(Some(x[0]), |v| Some(v.sin())).take(5).sum();
        s + u
    }
}

#[stratape::differentiable]
mod zip3_windows {
    #[derive(Clone, Copy)]
    struct Pt {
        x: f64,
        y: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let pts: Vec<Pt> = x.chunks(2).map(|c| Pt { x: c[0], y: c[1] }).collect();
        let len: f64 = pts
            .windows(2)
            .map(|w| ((w[1].x - w[0].x).powi(2) + (w[1].y - w[0].y).powi(2)).sqrt())
            .sum();
        let d: f64 = x
            .iter()
            .zip(x.iter().skip(1))
            .zip(x.iter().rev().take(4))
            .map(|((a, b), c)| a * b * c)
            .sum();
        let last = pts.last().unwrap();
        let (mut sx, mut sy) = pts.iter().fold((0.0, 1.0), |(a, b), p| (a + p.x, b * p.y));
        sx *= 2.0;
        sy += 1.0;
        len + d + last.x * last.y + sx * sy
    }
}

#[stratape::differentiable]
mod flat_map_nested {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let pairs: f64 = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .map(|(i, j)| (x[i] - x[j]).powi(2))
            .sum();
        let m: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| x[i] * x[j]).collect()).collect();
        let total = m.iter().flatten().sum::<f64>();
        let tr = (0..n).map(|i| m[i][i]).sum::<f64>();
        let s2: f64 = m.iter().map(|r| r.iter().sum::<f64>()).sum();
        pairs + total * tr + s2
    }
}

#[stratape::differentiable]
mod chunks_remainder {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let chunks = x.chunks_exact(3);
        let rest = chunks.remainder();
        let mut s = 0.0;
        for c in chunks {
            s += c[0] * c[1] - c[2];
        }
        for r in rest {
            s += r * r;
        }
        s += x.iter().step_by(2).sum::<f64>() + x.iter().rev().skip(1).step_by(3).product::<f64>();
        s
    }
}

#[stratape::differentiable]
mod any_all_position {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let k = x.iter().position(|&v| v > 0.5).unwrap_or(0);
        let n = x.iter().filter(|v| **v > 0.4).count();
        let flag = x.iter().any(|v| *v > 0.9) && x.iter().all(|&v| v > 0.0);
        let tail = x.iter().skip_while(|v| **v < 0.5).take_while(|v| **v < 5.0).sum::<f64>();
        let s = x.iter().rev().take(2).map(|v| v.exp()).sum::<f64>()
            + x.iter().take(3).rev().last().unwrap();
        let lex = x.iter().partial_cmp(x.iter().rev()) == Some(std::cmp::Ordering::Less);
        if flag && lex { s * n as f64 + x[k] } else { tail * x[k] + s }
    }
}

#[stratape::differentiable]
mod chunk_stats {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let it = x.chunks_exact(4);
        let tail: f64 = it.remainder().iter().sum();
        let energy =
            it.map(|c| c.iter().map(|v| v * v).sum::<f64>()).fold(0.0, |a, e| a + e.sqrt());
        let ok = x
            .iter()
            .try_fold(0.0, |s: f64, &v| if s < 100.0 { Ok(s + v) } else { Err(s) })
            .unwrap_or_else(|e| e);
        let (small, large): (Vec<f64>, Vec<f64>) = x.iter().copied().partition(|v| *v < 0.6);
        let best = x.iter().copied().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        let worst = x.iter().min_by(|a, b| a.total_cmp(b)).copied().unwrap_or(0.0);
        let last = x.iter().rev().skip(2).step_by(3).last().unwrap();
        tail * energy + ok + small.len() as f64 * best - worst * large.iter().product::<f64>()
            + last
    }
}

#[stratape::differentiable]
mod try_iterators {
    fn logs(x: &[f64]) -> Option<Vec<f64>> {
        x.iter().map(|v| if *v > 0.0 { Some(v.ln()) } else { None }).collect()
    }
    fn roots(x: &[f64]) -> Result<f64, usize> {
        x.iter()
            .enumerate()
            .try_fold(0.0, |s, (i, v)| if *v >= 0.0 { Ok(s + v.sqrt()) } else { Err(i) })
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let l = logs(x).map_or(0.0, |l| l.iter().sum::<f64>());
        let shifted: Vec<f64> = x.iter().map(|v| v - 0.5).collect();
        let bad = match roots(&shifted) {
            Ok(v) => v,
            Err(i) => x[i] * 3.0,
        };
        let all: Result<Vec<f64>, String> = x
            .iter()
            .map(|v| if v.is_finite() { Ok(v * v) } else { Err("no".to_string()) })
            .collect();
        let good = all.map(|v| v.iter().sum::<f64>()).unwrap_or(0.0);
        let p: Option<f64> = x.iter().map(|v| v.checked()).product();
        l + bad
            + good
            + p.unwrap_or(1.0)
            + x.iter().map(|v| (*v > -1.0).then_some(*v)).sum::<Option<f64>>().unwrap()
    }
    trait Checked {
        fn checked(&self) -> Option<f64>;
    }
    impl Checked for f64 {
        fn checked(&self) -> Option<f64> {
            if *self > 0.0 { Some(*self) } else { None }
        }
    }
}

#[stratape::differentiable]
mod peeking {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut it = x.iter().copied().enumerate().peekable();
        let mut s = 0.0;
        while let Some((i, v)) = it.next() {
            if let Some((j, w)) = it.peek() {
                s += v * w * *j as f64;
            }
            if let Some((_, skipped)) = it.next_if(|(_, w)| *w > v) {
                s += skipped.sin() * i as f64;
            }
        }
        let mut r = x.iter().peekable();
        while r.peek().is_some() {
            let v = r.next().unwrap();
            s *= 1.0 + 0.1 * v;
            if r.peek().map_or(false, |n| **n > 0.9) {
                break;
            }
        }
        s
    }
}

#[stratape::differentiable]
mod partitions {
    use std::cmp::{max, min};
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b): (Vec<f64>, Vec<f64>) = x.iter().map(|v| v * 2.0).partition(|v| *v > 1.1);
        let (i, j): (Vec<usize>, Vec<usize>) = (0..x.len()).partition(|&i| x[i] > 0.55);
        let (c, d): (Vec<f64>, Vec<f64>) =
            x.iter().filter(|v| **v > 0.3).map(|v| (v * v, v.sin())).unzip();
        let k = max(i.len(), 1) + min(j.len(), 2) + max(2, 3);
        let r = x.rchunks_exact(3).fold(0.0, |s, c| s * 0.5 + c[0])
            + x.iter().rfold(0.1, |s, v| s * 0.3 + v);
        let far = x.iter().copied().min_by_key(|v| ((v - 0.5).abs() * 1e6) as i64).unwrap();
        let same = x.iter().eq(x.iter()) && x.iter().lt(x.iter().skip(1)) == (x[0] < x[1]);
        let words = if same { 1.0 } else { 2.0 };
        a.iter().sum::<f64>() * b.len() as f64
            + c.iter().zip(&d).map(|(c, d)| c * d).sum::<f64>()
            + r * k as f64
            + far * words
    }
}

#[stratape::differentiable]
mod fold_vec {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let prefix = x.iter().fold(Vec::new(), |mut acc: Vec<f64>, v| {
            let last = acc.last().copied().unwrap_or(0.0);
            acc.push(last + v);
            acc
        });
        let (lo, hi) = x
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &v| (lo.min(v), hi.max(v)));
        let best =
            x.iter().enumerate().fold(None, |best: Option<(usize, f64)>, (i, &v)| match best {
                Some((_, b)) if b >= v => best,
                _ => Some((i, v)),
            });
        let (bi, bv) = best.unwrap();
        prefix.iter().map(|p| p * p).sum::<f64>() + lo * hi + bv * bi as f64
    }
}

#[stratape::differentiable]
mod dyn_trait_arg {
    trait Loss {
        fn eval(&self, r: f64) -> f64;
        fn name(&self) -> &'static str {
            "loss"
        }
    }
    struct Huber {
        d: f64,
    }
    struct L2;
    impl Loss for Huber {
        fn eval(&self, r: f64) -> f64 {
            if r.abs() < self.d { 0.5 * r * r } else { self.d * (r.abs() - 0.5 * self.d) }
        }
    }
    impl Loss for L2 {
        fn eval(&self, r: f64) -> f64 {
            r * r
        }
    }
    fn total(loss: &dyn Loss, xs: &[f64]) -> f64 {
        xs.iter().map(|&v| loss.eval(v - 0.2)).sum()
    }
    fn boxed(loss: Box<dyn Loss>, x: f64) -> f64 {
        loss.eval(x)
    }
    fn apply(f: &dyn Fn(f64) -> f64, x: f64) -> f64 {
        f(f(x))
    }
    fn make(k: f64) -> impl Fn(f64) -> f64 {
        move |x| k * x.sin()
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        total(&Huber { d: 0.3 }, x)
            + total(&L2, x)
            + boxed(Box::new(L2), x[0])
            + apply(&|v| v * x[1], x[2])
            + make(x[0])(x[1])
    }
}

#[stratape::differentiable]
mod shadowed_generic {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Dual<T> {
        re: T,
        eps: T,
    }
    impl<T: std::ops::Mul<Output = T> + std::ops::Add<Output = T> + Copy> std::ops::Mul for Dual<T> {
        type Output = Self;
        fn mul(self, o: Self) -> Self {
            Dual { re: self.re * o.re, eps: self.re * o.eps + self.eps * o.re }
        }
    }
    impl<T: std::ops::Add<Output = T>> std::ops::Add for Dual<T> {
        type Output = Self;
        fn add(self, o: Self) -> Self {
            Dual { re: self.re + o.re, eps: self.eps + o.eps }
        }
    }
    impl<T: Default> From<T> for Dual<T> {
        fn from(re: T) -> Self {
            Dual { re, eps: T::default() }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = Dual { re: x[0], eps: 1.0 };
        let b: Dual<f64> = x[1].into();
        let c = Dual::from(x[2]);
        let y = a * a * b + a * c;
        y.re * y.eps
    }
}

#[stratape::differentiable]
mod early_none {
    #[derive(Clone, Debug)]
    struct Interval {
        lo: f64,
        hi: f64,
    }
    impl Interval {
        fn intersect(&self, o: &Interval) -> Option<Interval> {
            let (lo, hi) = (self.lo.max(o.lo), self.hi.min(o.hi));
            if lo <= hi { Some(Interval { lo, hi }) } else { None }
        }
        fn width(&self) -> f64 {
            self.hi - self.lo
        }
    }
    fn overlap(all: &[Interval]) -> Option<Interval> {
        let (first, rest) = all.split_first()?;
        let mut acc = first.clone();
        for i in rest {
            acc = acc.intersect(i)?;
        }
        Some(acc)
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let all: Vec<Interval> =
            x.iter().map(|&v| Interval { lo: v - 1.0, hi: 2.0 * v + 1.0 }).collect();
        let some = overlap(&all).map(|i| i.width()).unwrap_or_default();
        let none = overlap(&[]).map_or(x[0], |i| i.lo);
        some * none
    }
}

#[stratape::differentiable]
mod bool_arrays {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mask: Vec<bool> = x.iter().map(|v| *v > 0.5).collect();
        let mut order = [0usize; 6];
        let mut n = 0;
        for (i, &m) in mask.iter().enumerate() {
            if m {
                order[n] = i;
                n += 1;
            }
        }
        let table = [[1u8, 2], [3, 4]];
        let chars = b"abc";
        let t: i64 = table.iter().flatten().map(|&v| i64::from(v)).sum();
        let labels = [b'a', b'b'];
        order[..n].iter().map(|&i| x[i] * x[i]).sum::<f64>() * t as f64
            + chars.len() as f64 * x[0]
            + f64::from(chars[1]) * x[1]
            + if labels[0] == b'a' { x[2] } else { 0.0 }
    }
}
