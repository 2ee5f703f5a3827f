//! Lists in options, results and enums, kept and restored.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    restored_1: [[0.3, 1.2], [-0.3, 1.2]],
    restored_2: [[0.3, 1.2], [-0.3, 1.2]],
    restored_3: [[0.3, 1.2], [-0.3, 1.2]],
    restored_4: [[0.3, 1.2], [-0.3, 1.2]],
    restored_5: [[0.3, 1.2], [-0.3, 1.2]],
    restored_6: [[0.3, 1.2], [-0.3, 1.2]],
    restored_7: [[0.3, 1.2], [-0.3, 1.2]],
    restored_8: [[0.3, 1.2], [-0.3, 1.2]],
    restored_9: [[0.3, 1.2], [-0.3, 1.2]],
    restored_10: [[0.3, 1.2], [-0.3, 1.2]],
    restored_11: [[0.3, 1.2], [-0.3, 1.2]],
    restored_12: [[0.3, 1.2], [-0.3, 1.2]],
    restored_13: [[0.3, 1.2], [-0.3, 1.2]],
    restored_14: [[0.3, 1.2], [-0.3, 1.2]],
    restored_15: [[0.3, 1.2], [-0.3, 1.2]],
    restored_16: [[0.3, 1.2], [-0.3, 1.2]],
    restored_17: [[0.3, 1.2]],
    restored_18: [[0.3, 1.2], [-0.3, 1.2]],
    restored_19: [[0.3, 1.2], [-0.3, 1.2]],
    restored_20: [[0.3, 1.2], [-0.3, 1.2]],
}

#[stratape::differentiable]
pub mod restored_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = Some(x.to_vec());
        let saved = best.clone();
        if let Some(b) = best.as_mut() {
            b[0] += x[1];
        }
        let score: f64 = best.as_ref().unwrap().iter().sum();
        if score > 2.5 {
            best = saved;
        }
        best.unwrap().iter().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
pub mod restored_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<f64>> = None;
        for i in 0..2 {
            let saved = best.clone();
            best = Some(x.iter().map(|v| v * x[i]).collect());
            if best.as_ref().unwrap()[0] < 0.2 {
                best = saved;
            }
        }
        best.map_or(x[0] * x[1], |b| b.iter().map(|v| v * v).sum())
    }
}

#[stratape::differentiable]
pub mod restored_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let q = Some(x.to_vec());
        let mut p: Option<Vec<f64>> = None;
        p = match q {
            Some(v) if v[0] > 0.0 => Some(v),
            Some(v) => Some(vec![v[1]]),
            None => None,
        };
        p.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod restored_4 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        o = if let Some(v) = o
            && x[0] > 0.0
        {
            Some(v)
        } else {
            Some(vec![x[1]])
        };
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod restored_5 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        match o {
            Some(v) if v[0] > 0.0 => {
                o = Some(v);
            }
            Some(v) => {
                o = Some(vec![v[1]]);
            }
            None => {}
        }
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod restored_6 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        o = match o.take() {
            Some(v) if v[0] > 0.0 => Some(v),
            Some(v) => Some(vec![v[1]]),
            None => None,
        };
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod restored_7 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = (x.to_vec(), x[0]);
        p = match p {
            (v, k) if k > 0.0 => (v, k * 2.0),
            (v, k) => (v, k - 1.0),
        };
        p.0.iter().sum::<f64>() * p.1
    }
}

#[stratape::differentiable]
pub mod restored_8 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        v = match v {
            w if w[0] > 0.0 => w,
            mut w => {
                w[0] *= 2.0;
                w
            }
        };
        v.iter().sum::<f64>() * x[1]
    }
}

#[stratape::differentiable]
pub mod restored_9 {
    struct S {
        v: Vec<f64>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { v: x.to_vec(), k: x[0] };
        s = match s {
            S { v, k } if k > 0.0 => S { v, k: k * 2.0 },
            S { v, .. } => S { k: v[1], v },
        };
        s.v.iter().sum::<f64>() * s.k
    }
}

#[stratape::differentiable]
pub mod restored_10 {
    enum E {
        A(f64, f64),
        B(f64),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(x[0], x[1]);
        for _ in 0..2 {
            e = match e {
                E::A(a, b) if a > 0.0 => E::B(a * b),
                E::A(a, b) => E::A(b, a),
                E::B(c) => E::A(c, c * c),
            };
        }
        match e {
            E::A(a, b) => a * b * b,
            E::B(c) => c,
        }
    }
}

#[stratape::differentiable]
pub mod restored_11 {
    enum E {
        A([f64; 2]),
        B([f64; 2]),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A([x[0], x[1]]);
        for _ in 0..2 {
            e = match e {
                E::A(v) if v[0] > 0.0 => E::B(v),
                E::A(v) => E::A([v[1], v[0]]),
                E::B(v) => E::A(v),
            };
        }
        match e {
            E::A(a) => a[0] * a[1] * a[1],
            E::B(c) => c[0] + c[1] * c[1],
        }
    }
}

#[stratape::differentiable]
pub mod restored_12 {
    enum E {
        A(Vec<f64>),
        B(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut es = vec![E::A(x.to_vec()), E::B(vec![x[1]])];
        for e in es.iter_mut() {
            if let E::A(v) = e {
                v[0] *= 2.0;
                let t = v.clone();
                *e = E::B(t);
            }
        }
        es.iter()
            .map(|e| match e {
                E::A(v) => v[0],
                E::B(v) => v.iter().map(|t| t * t).sum(),
            })
            .sum()
    }
}

#[stratape::differentiable]
pub mod restored_13 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o: Option<Vec<f64>> = None;
        for i in 0..2 {
            let mut b = o.unwrap_or_default();
            b.push(x[i]);
            o = Some(b);
        }
        let v = o.unwrap_or_default();
        v.iter().map(|a| a * a).sum::<f64>() + x[0]
    }
}

#[stratape::differentiable]
pub mod restored_14 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o: Option<Vec<f64>> = None;
        let mut s = 0.0;
        for i in 0..3 {
            let w = o.clone().unwrap_or_default();
            s += w.iter().map(|a| a * a).sum::<f64>();
            o = Some(w.iter().chain(x).map(|v| v * 0.5).collect());
        }
        s + o.unwrap().len() as f64 * x[0]
    }
}

#[stratape::differentiable]
pub mod restored_15 {
    struct L {
        rows: Vec<Vec<f64>>,
        spare: Option<Vec<f64>>,
    }
    impl L {
        fn row(&mut self, k: f64) {
            let mut r = self.spare.take().unwrap_or_else(Vec::new);
            r.clear();
            r.push(k);
            r.push(k * k);
            self.rows.push(r);
            if self.rows.len() > 1 {
                self.spare = Some(self.rows.remove(0));
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut l = L { rows: vec![], spare: None };
        for i in 0..4 {
            l.row(x[i % 2] * (i + 1) as f64);
        }
        l.rows.iter().flatten().sum::<f64>() + l.spare.unwrap()[1]
    }
}

#[stratape::differentiable]
pub mod restored_16 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = vec![Some(x.to_vec()), Some(vec![x[1]])];
        let f = a.swap_remove(0);
        let g = a.pop().flatten();
        f.unwrap()[0] * g.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod restored_17 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut path: Vec<f64> = vec![];
        let mut best: Option<Vec<f64>> = None;
        let mut bs = f64::NEG_INFINITY;
        for mask in 0..4u32 {
            path.clear();
            for i in 0..2 {
                if mask >> i & 1 == 1 {
                    path.push(x[i] * (i + 1) as f64);
                }
            }
            let s = path.iter().map(|v| v * (1.5 - v)).sum::<f64>();
            if s > bs {
                bs = s;
                best = Some(path.clone());
            }
        }
        best.iter().flatten().map(|v| v * v).sum::<f64>() + bs
    }
}

#[stratape::differentiable]
pub mod restored_18 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        for i in 0..3 {
            let Some(v) = o else { break };
            o = if v[0] > 1.0 { None } else { Some(v.iter().map(|a| a + 0.4).collect()) };
        }
        o.map_or(x[0] * x[1], |v| v.iter().map(|a| a * a).sum())
    }
}

#[stratape::differentiable]
pub mod restored_19 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        for i in 0..3 {
            let Some(v) = o else { break };
            o = if v[0] > 1.0 { None } else { Some(v) };
            if let Some(v) = &mut o {
                v[0] += 0.45;
            }
        }
        o.map_or(x[0] * x[1], |v| v.iter().map(|a| a * a).sum())
    }
}

#[stratape::differentiable]
pub mod restored_20 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut cur = x.to_vec();
        let r = loop {
            let next: Vec<f64> = cur.iter().map(|v| v * 0.7 + 0.1).collect();
            if (next[1] - cur[1]).abs() < 0.1 {
                break Some(next);
            }
            if next[0] < -0.05 {
                break None;
            }
            cur = next;
        };
        r.map_or_else(|| cur[0] * cur[1], |v| v[0] * v[1] * 2.0)
    }
}
