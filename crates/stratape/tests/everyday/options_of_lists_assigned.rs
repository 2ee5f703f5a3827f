//! Lists in variables that are assigned later, moved out of them and borrowed.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    assigned_1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [0.9, -0.2, 0.4]],
    assigned_2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [0.9, -0.2, 0.4]],
    assigned_3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    assigned_4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    assigned_5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.3, 1.2, 0.7]],
    assigned_6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    assigned_7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    assigned_8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    assigned_9: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_10: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_12: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_13: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_14: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_15: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_16: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_17: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_18: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    assigned_19: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
}

#[stratape::differentiable]
pub mod assigned_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<f64>> = None;
        for i in 0..3 {
            let cand: Vec<f64> = x.iter().map(|v| v * (i as f64 + 0.5) - x[i]).collect();
            let s: f64 = cand.iter().map(|v| v * v).sum();
            if best.as_ref().is_none_or(|b| s < b.iter().map(|v| v * v).sum::<f64>()) {
                best = Some(cand);
            }
        }
        let b = best.unwrap();
        b[0] * b[1] + b[2] * 3.0
    }
}

#[stratape::differentiable]
pub mod assigned_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<(f64, Vec<f64>)> = None;
        for i in 0..4 {
            let v: Vec<f64> = x.iter().map(|t| (t * i as f64 + x[0]).sin()).collect();
            let s = v.iter().sum::<f64>();
            match &best {
                Some((b, _)) if *b >= s => {}
                _ => best = Some((s, v)),
            }
        }
        let Some((s, v)) = best else { return 0.0 };
        s * v[0] + v[1] * v[2]
    }
}

#[stratape::differentiable]
pub mod assigned_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let v;
        if x[0] > 0.0 {
            v = vec![x[0], x[1] * x[2]];
        } else {
            v = x.to_vec();
        }
        let n = v.len();
        v.iter().map(|a| a * a).sum::<f64>() * n as f64 + v[n - 1]
    }
}

#[stratape::differentiable]
pub mod assigned_4 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut k = 0;
        let mut cur = vec![x[0]];
        let v = loop {
            k += 1;
            cur.push(cur[k - 1] * x[1] + x[2]);
            if cur[k] > 1.5 || k > 4 {
                break cur;
            }
        };
        v.iter().enumerate().map(|(i, a)| a * (i + 1) as f64).sum()
    }
}

#[stratape::differentiable]
pub mod assigned_5 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let v: Vec<f64> = 'out: {
            if x[0] < 0.0 {
                break 'out vec![x[1] * x[0]];
            }
            let w: Vec<f64> = x.iter().map(|a| a * a).collect();
            if w[0] > 1.0 {
                break 'out w;
            }
            w.iter().zip(x).map(|(a, b)| a * b + x[2]).collect()
        };
        v.iter().sum::<f64>() * v[0] * v.len() as f64
    }
}

#[stratape::differentiable]
pub mod assigned_6 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let lists = vec![vec![x[0], x[1]], vec![x[1], x[2]], vec![x[2], x[0]]];
        let r = lists
            .into_iter()
            .reduce(|a, b| if a[0] * b[1] > 0.2 { vec![a[0] * b[1], a[1] + b[0]] } else { b })
            .unwrap();
        r[0] + 3.0 * r[1]
    }
}

#[stratape::differentiable]
pub mod assigned_7 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let r: Vec<f64> = x.iter().fold(Vec::new(), |mut acc: Vec<f64>, &v| {
            if v > 0.5 {
                acc.push(v * v);
            } else {
                acc.push(v);
                acc.push(v * x[1]);
            }
            acc
        });
        r.iter().enumerate().map(|(i, v)| v * (i * i + 1) as f64).sum()
    }
}

#[stratape::differentiable]
pub mod assigned_8 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let rows: Vec<Vec<f64>> = x
            .iter()
            .scan(vec![1.0, x[0]], |st, &v| {
                st[0] *= v;
                let t = st[0] + st[1];
                st[1] = t * 0.5;
                Some(st.clone())
            })
            .collect();
        rows.iter().enumerate().map(|(i, r)| r[0] * r[1] * (i + 1) as f64).sum()
    }
}

#[stratape::differentiable]
pub mod assigned_9 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let lists = vec![vec![x[0], x[1]], vec![x[1], x[2], x[0]], vec![x[2] * 2.0]];
        let m = lists
            .iter()
            .max_by(|a, b| a.iter().sum::<f64>().total_cmp(&b.iter().sum::<f64>()))
            .unwrap();
        m.iter().map(|v| v * v).sum::<f64>() + m.len() as f64 * m[0]
    }
}

#[stratape::differentiable]
pub mod assigned_10 {
    fn make(x: &[f64], k: usize) -> Result<Vec<f64>, String> {
        if x[0] < 0.0 && k == 1 {
            return Err("neg".into());
        }
        Ok(x.iter().map(|v| v * k as f64 + x[k]).collect())
    }
    fn both(x: &[f64]) -> Result<Vec<f64>, String> {
        let a = make(x, 2)?;
        let b = make(&a, 1)?;
        let c = make(x, 1)?;
        Ok(a.iter().zip(&b).zip(&c).map(|((p, q), r)| p * q + r).collect())
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        match both(x) {
            Ok(v) => v.iter().map(|t| t * t).sum(),
            Err(_) => x[1] * x[2],
        }
    }
}

#[stratape::differentiable]
pub mod assigned_11 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut cur: Option<Vec<f64>> = Some(x.to_vec());
        let mut s = 0.0;
        let mut n = 0;
        while let Some(v) = cur {
            n += 1;
            s += v[0] * v[v.len() - 1] * n as f64;
            cur = if v.len() > 1 { Some(v[1..].iter().map(|a| a * 1.5).collect()) } else { None };
        }
        s
    }
}

#[stratape::differentiable]
pub mod assigned_12 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut cur = Some(x.to_vec());
        let mut s = 0.0;
        while let Some(mut v) = cur.take() {
            let t = v.pop().unwrap();
            s += t * t * v.len() as f64 + t;
            if !v.is_empty() {
                v[0] *= t;
                cur = Some(v);
            }
        }
        s
    }
}

#[stratape::differentiable]
pub mod assigned_13 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let old = a.replace(vec![x[0] * x[1]]);
        let old2 = if x[0] > 0.0 { std::mem::replace(&mut a, None) } else { a.take() };
        a = old.clone();
        if let (Some(p), Some(q)) = (&a, &old2) {
            return p[2] * q[0] + old.unwrap()[1];
        }
        x[0]
    }
}

#[stratape::differentiable]
pub mod assigned_14 {
    enum E {
        One(Vec<f64>),
        Two { a: Vec<f64>, b: f64 },
        Zero,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        for i in 0..3 {
            e = match e {
                E::One(v) if v[0] > 0.5 => E::Two { b: v[1] * 2.0, a: v },
                E::One(mut v) => {
                    v[0] += 0.6;
                    v.push(x[i]);
                    E::One(v)
                }
                E::Two { mut a, b } => {
                    a.push(b);
                    if a.len() > 4 { E::Zero } else { E::Two { b: a[0] * b, a } }
                }
                E::Zero => E::One(vec![x[2], x[1]]),
            };
        }
        match e {
            E::One(v) => v.iter().sum::<f64>() * v[0],
            E::Two { a, b } => a.iter().map(|t| t * b).sum::<f64>(),
            E::Zero => x[0],
        }
    }
}

#[stratape::differentiable]
pub mod assigned_15 {
    struct S {
        cache: Option<Vec<f64>>,
        hits: usize,
    }
    impl S {
        fn get(&mut self, x: &[f64]) -> &Vec<f64> {
            if self.cache.is_none() {
                self.cache = Some(x.iter().map(|v| v * v).collect());
            } else {
                self.hits += 1;
            }
            self.cache.as_ref().unwrap()
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { cache: None, hits: 0 };
        let a = s.get(x)[0];
        let b = s.get(x)[1];
        s.cache = None;
        let y = [x[2], x[0]];
        let c = s.get(&y)[0];
        a * b + c * s.hits as f64
    }
}

#[stratape::differentiable]
pub mod assigned_16 {
    struct S {
        buf: Option<Vec<f64>>,
        out: Vec<f64>,
    }
    impl S {
        fn feed(&mut self, v: f64) {
            let mut b = self.buf.take().unwrap_or_default();
            b.push(v);
            if b.iter().sum::<f64>() > 1.0 {
                self.out.push(b.iter().map(|t| t * t).sum());
            } else {
                self.buf = Some(b);
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { buf: None, out: vec![] };
        for &v in x {
            s.feed(v);
        }
        s.out.iter().sum::<f64>() * 2.0
            + s.buf.map(|b| b[0] * b.len() as f64).unwrap_or(x[0] * x[1])
    }
}

#[stratape::differentiable]
pub mod assigned_17 {
    fn find(x: &[f64], lim: f64) -> Option<Vec<f64>> {
        let mut acc = Vec::new();
        for &v in x {
            if v < 0.0 {
                return None;
            }
            acc.push(v * v);
            if acc.iter().sum::<f64>() > lim {
                return Some(acc);
            }
        }
        if acc.len() < 2 { None } else { Some(acc.iter().rev().map(|v| v * x[0]).collect()) }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = find(x, 1.0);
        let b = find(&x[1..], 5.0);
        a.unwrap_or(vec![x[1]]).iter().sum::<f64>() * b.as_deref().map_or(x[0], |v| v[0])
            + b.unwrap_or_else(|| x.to_vec())[1]
    }
}

#[stratape::differentiable]
pub mod assigned_18 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut cur = x.to_vec();
        let mut hist: Vec<Vec<f64>> = vec![];
        for i in 0..3 {
            let prev = cur;
            cur = prev.iter().map(|v| v * 0.5 + x[i]).collect();
            if cur[0] > 0.4 {
                hist.push(prev);
            }
        }
        hist.iter().map(|h| h[0] * h[2]).sum::<f64>() + cur[1] * cur[0]
    }
}

#[stratape::differentiable]
pub mod assigned_19 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<(f64, usize)>> = None;
        for i in (0..3).rev() {
            let mut c: Vec<(f64, usize)> =
                x.iter().enumerate().map(|(k, &v)| (v * x[i], k)).collect();
            c.sort_by(|a, b| a.0.total_cmp(&b.0));
            best = match best {
                Some(b) if b[0].0 < c[0].0 => Some(b),
                _ => Some(c),
            };
        }
        best.unwrap().into_iter().map(|(v, k)| v * (k + 1) as f64 * x[k]).sum()
    }
}
