//! Lists in options, results and enums, looked at and then moved.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    looked_at_1: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_2: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_3: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_4: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_5: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_6: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_7: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_8: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_9: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_10: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_11: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_12: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_13: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_14: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_15: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_16: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_17: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_18: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_19: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_20: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_21: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_22: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_23: [[0.3, 1.2], [-0.3, 1.2]],
    looked_at_24: [[0.3, 1.2], [-0.3, 1.2]],
}

#[stratape::differentiable]
pub mod looked_at_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let b = a.clone();
        a = b;
        a.unwrap().iter().sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod looked_at_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let b = a.clone();
        if x[0] > 0.0 {
            a = b;
        }
        a.unwrap().iter().sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod looked_at_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let b = a.clone();
        a.unwrap()[0] * b.unwrap()[1]
    }
}

#[stratape::differentiable]
pub mod looked_at_4 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let b = a.clone();
        if let Some(v) = a.as_mut() {
            v[0] = x[1] * 3.0;
        }
        a.unwrap()[0] * b.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod looked_at_5 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let b = a.clone();
        if let Some(v) = a.as_mut() {
            v[0] = x[1] * 3.0;
        }
        if x[0] > 0.0 {
            a = b;
        }
        a.unwrap()[0] * x[1]
    }
}

#[stratape::differentiable]
pub mod looked_at_6 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a: Option<Vec<f64>> = Some(x.to_vec());
        let b: Option<Vec<f64>> = a.clone();
        a = Some(vec![x[1]]);
        if x[0] > 0.0 {
            a = b;
        }
        a.unwrap()[0] * x[1]
    }
}

#[stratape::differentiable]
pub mod looked_at_7 {
    #[derive(Clone)]
    struct S {
        v: Vec<f64>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { v: x.to_vec(), k: x[0] };
        let saved = s.clone();
        s.v[0] += x[1];
        s.k *= 2.0;
        if x[0] > 0.0 {
            s = saved;
        }
        s.v.iter().sum::<f64>() * s.k
    }
}

#[stratape::differentiable]
pub mod looked_at_8 {
    #[derive(Clone)]
    struct S {
        v: Vec<f64>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = Some(S { v: x.to_vec(), k: x[0] });
        let saved = s.clone();
        if let Some(t) = &mut s {
            t.v[0] += x[1];
            t.k *= 2.0;
        }
        if x[0] > 0.0 {
            s = saved;
        }
        s.map_or(0.0, |s| s.v.iter().sum::<f64>() * s.k)
    }
}

#[stratape::differentiable]
pub mod looked_at_9 {
    #[derive(Clone)]
    enum E {
        A(Vec<f64>),
        B(f64),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = E::A(x.to_vec());
        let saved = s.clone();
        s = E::B(x[1]);
        if x[0] > 0.0 {
            s = saved;
        }
        match s {
            E::A(v) => v.iter().sum::<f64>() * x[0],
            E::B(k) => k * x[0],
        }
    }
}

#[stratape::differentiable]
pub mod looked_at_10 {
    #[derive(Clone)]
    struct S {
        v: Option<Vec<f64>>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { v: Some(x.to_vec()), k: x[0] };
        let saved = s.clone();
        s.v = None;
        s.k *= 2.0;
        if x[0] > 0.0 {
            s = saved;
        }
        s.v.map_or(x[1], |v| v.iter().sum::<f64>()) * s.k
    }
}

#[stratape::differentiable]
pub mod looked_at_11 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = vec![x.to_vec(), vec![x[0]]];
        let saved = s.clone();
        s[0][0] += x[1];
        s[1].push(x[1]);
        if x[0] > 0.0 {
            s = saved;
        }
        s.iter().flatten().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
pub mod looked_at_12 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x.to_vec();
        let saved = s.clone();
        s.push(x[1]);
        if x[0] > 0.0 {
            s = saved;
        }
        s.iter().map(|v| v * v).sum::<f64>() * s.len() as f64
    }
}

#[stratape::differentiable]
pub mod looked_at_13 {
    #[derive(Clone)]
    enum E {
        A(Vec<f64>),
        B(f64),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let s = E::A(x.to_vec());
        let t = s.clone();
        let m = |e: E| match e {
            E::A(v) => v.iter().sum::<f64>() * x[0],
            E::B(k) => k * x[0],
        };
        m(s) + 2.0 * m(t)
    }
}

#[stratape::differentiable]
pub mod looked_at_14 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x.to_vec();
        s = match s.len() {
            2 if s[0] > 0.0 => s,
            _ => vec![x[1]],
        };
        s.iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod looked_at_15 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x.to_vec();
        s = match s {
            w => w,
        };
        s.iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod looked_at_16 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x.to_vec();
        s = match s {
            w if x[0] > 0.0 => w,
            _ => vec![x[1]],
        };
        s.iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod looked_at_17 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let s = x.to_vec();
        let t = match s {
            w if x[0] > 0.0 => w,
            w => w.iter().map(|v| v * 2.0).collect(),
        };
        t.iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod looked_at_18 {
    enum E {
        A(Vec<f64>),
        B(Vec<f64>),
    }
    struct M {
        e: E,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = M { e: E::A(x.to_vec()) };
        m.e = match m.e {
            E::A(v) if x[0] > 0.0 => E::B(v),
            E::A(v) => E::A(v),
            E::B(v) => E::A(v),
        };
        match m.e {
            E::A(v) => v.iter().sum::<f64>() * x[1],
            E::B(v) => v.iter().sum::<f64>() + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod looked_at_19 {
    struct M {
        e: Option<Vec<f64>>,
    }
    impl M {
        fn step(&mut self, k: f64) {
            self.e = match self.e.take() {
                Some(v) if v[0] > 0.0 => Some(v.iter().map(|a| a - k).collect()),
                Some(v) => Some(v),
                None => Some(vec![k]),
            };
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = M { e: None };
        m.step(x[0]);
        m.step(x[1]);
        m.step(x[0]);
        m.e.unwrap()[0] * x[1]
    }
}

#[stratape::differentiable]
pub mod looked_at_20 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a: Option<Vec<f64>> = None;
        for &v in x {
            let mut b = a.clone().unwrap_or_default();
            b.push(v);
            a = Some(b);
        }
        a.unwrap().iter().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
pub mod looked_at_21 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a: Option<Vec<f64>> = None;
        let v = a.unwrap_or_default();
        v.iter().sum::<f64>() + x[0]
    }
}

#[stratape::differentiable]
pub mod looked_at_22 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a: Option<Vec<f64>> = None;
        for &t in x {
            let mut v = a.unwrap_or(Vec::new());
            v.push(t);
            a = Some(v);
        }
        a.unwrap().iter().map(|v| v * v).sum::<f64>() + x[0]
    }
}

#[stratape::differentiable]
pub mod looked_at_23 {
    enum E {
        A(Vec<f64>),
        B(f64, Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(x.to_vec());
        e = match e {
            E::A(v) => {
                if v[0] > 0.0 {
                    E::B(v[0], v)
                } else {
                    E::A(v)
                }
            }
            E::B(_, v) => E::A(v),
        };
        match e {
            E::A(v) => v.iter().sum::<f64>() * x[1],
            E::B(b, v) => v.iter().sum::<f64>() * b,
        }
    }
}

#[stratape::differentiable]
pub mod looked_at_24 {
    enum E {
        A(Vec<f64>),
        B(f64, Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(x.to_vec());
        for _ in 0..2 {
            e = match e {
                E::A(v) => {
                    if v[0] > 0.0 {
                        E::B(v[0], v)
                    } else {
                        E::A(v)
                    }
                }
                E::B(_, v) => E::A(v),
            };
        }
        match e {
            E::A(v) => v.iter().sum::<f64>() * x[1],
            E::B(b, v) => v.iter().sum::<f64>() * b,
        }
    }
}
