//! Lists in options, results and enums: cloned, replaced, taken, matched with guards.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    held_1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_9: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_10: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_12: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_13: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_14: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_15: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_16: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_17: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_18: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    held_19: [[0.3, 1.2]],
    held_20: [[0.3, 1.2]],
    held_21: [[0.3, 1.2], [-0.3, 1.2]],
    held_22: [[0.3, 1.2], [-0.3, 1.2]],
    held_23: [[0.3, 1.2], [-0.3, 1.2]],
    held_24: [[0.3, 1.2], [-0.3, 1.2]],
    held_25: [[0.3, 1.2], [-0.3, 1.2]],
    held_26: [[0.3, 1.2], [-0.3, 1.2]],
    held_27: [[0.3, 1.2], [-0.3, 1.2]],
}

#[stratape::differentiable]
pub mod held_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let old = a.replace(vec![x[0] * x[1]]);
        old.unwrap()[2] * x[0]
    }
}

#[stratape::differentiable]
pub mod held_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let old = a.take();
        a = Some(vec![x[0] * x[1]]);
        old.unwrap()[2] * x[0] + a.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod held_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let old = std::mem::replace(&mut a, None);
        a = Some(vec![x[0] * x[1]]);
        old.unwrap()[2] * x[0] + a.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod held_4 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let old = std::mem::replace(&mut a, Some(vec![x[0] * x[1]]));
        old.unwrap()[2] * x[0] + a.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod held_5 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let old = a.clone();
        let o2 = if x[0] > 0.0 { std::mem::replace(&mut a, None) } else { a.take() };
        a = old.clone();
        a.unwrap()[0] * o2.unwrap()[1] + old.unwrap()[2]
    }
}

#[stratape::differentiable]
pub mod held_6 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a: Option<Vec<f64>> = Some(x.to_vec());
        let old = a.replace(vec![x[0] * x[1]]);
        old.unwrap()[2] * x[0] + a.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod held_7 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a: Option<Vec<f64>> = Some(x.to_vec());
        let old = a.replace(vec![x[0] * x[1], x[1], x[0]]);
        old.unwrap()[2] * x[0] + a.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod held_8 {
    enum E {
        One(Vec<f64>),
        Two { a: Vec<f64>, b: f64 },
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        e = match e {
            E::One(v) => E::Two { b: v[1] * 2.0, a: v },
            E::Two { a, b } => E::One(a),
        };
        match e {
            E::One(v) => v[0],
            E::Two { a, b } => a[0] * b,
        }
    }
}

#[stratape::differentiable]
pub mod held_9 {
    enum E {
        One(Vec<f64>),
        Two(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        for i in 0..3 {
            e = match e {
                E::One(v) => E::Two(v),
                E::Two(a) => E::One(a),
            };
        }
        match e {
            E::One(v) => v[0],
            E::Two(a) => a[0] * a[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_10 {
    enum E {
        One(Vec<f64>),
        Two(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        for i in 0..3 {
            e = match e {
                E::One(mut v) => {
                    v.push(x[i]);
                    E::One(v)
                }
                E::Two(a) => E::One(a),
            };
        }
        match e {
            E::One(v) => v[0] * v[5],
            E::Two(a) => a[0] * a[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_11 {
    enum E {
        One(Vec<f64>),
        Zero,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        for i in 0..3 {
            e = match e {
                E::One(v) => E::Zero,
                E::Zero => E::One(vec![x[2], x[1]]),
            };
        }
        match e {
            E::One(v) => v[0],
            E::Zero => x[0],
        }
    }
}

#[stratape::differentiable]
pub mod held_12 {
    enum E {
        One(Vec<f64>),
        Two { a: Vec<f64>, b: f64 },
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        for i in 0..2 {
            e = match e {
                E::One(v) => E::Two { b: v[1] * 2.0, a: v },
                E::Two { mut a, b } => {
                    a.push(b);
                    E::Two { b: a[0] * b, a }
                }
            };
        }
        match e {
            E::One(v) => v[0],
            E::Two { a, b } => a[0] * b + a[3],
        }
    }
}

#[stratape::differentiable]
pub mod held_13 {
    enum E {
        One(Vec<f64>),
        Two(f64, Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::One(x.to_vec());
        for i in 0..2 {
            e = match e {
                E::One(v) if v[0] > 0.0 => E::Two(v[1], v),
                E::One(mut v) => {
                    v[0] += 0.6;
                    E::One(v)
                }
                E::Two(b, a) => E::One(a),
            };
        }
        match e {
            E::One(v) => v[0] * v[1],
            E::Two(b, a) => a[0] * b,
        }
    }
}

#[stratape::differentiable]
pub mod held_14 {
    struct S {
        buf: Option<Vec<f64>>,
    }
    impl S {
        fn feed(&mut self, v: f64) {
            let mut b = self.buf.take().unwrap_or_default();
            b.push(v);
            self.buf = Some(b);
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { buf: None };
        for &v in x {
            s.feed(v);
        }
        s.buf.map(|b| b[0] * b.len() as f64).unwrap_or(x[0] * x[1])
    }
}

#[stratape::differentiable]
pub mod held_15 {
    struct S {
        out: Vec<f64>,
    }
    impl S {
        fn feed(&mut self, v: f64) {
            let b = vec![v, v * v];
            if b[0] > 0.5 {
                self.out.push(b.iter().map(|t| t * t).sum());
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { out: vec![] };
        for &v in x {
            s.feed(v);
        }
        s.out.iter().sum::<f64>() * 2.0 + x[0]
    }
}

#[stratape::differentiable]
pub mod held_16 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut buf: Option<Vec<f64>> = None;
        for &v in x {
            let mut b = buf.take().unwrap_or_default();
            b.push(v);
            buf = Some(b);
        }
        buf.map(|b| b[0] * b.len() as f64).unwrap_or(x[0] * x[1])
    }
}

#[stratape::differentiable]
pub mod held_17 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut buf: Option<Vec<f64>> = None;
        for &v in x {
            let mut b = match buf.take() {
                Some(b) => b,
                None => Vec::new(),
            };
            b.push(v);
            buf = Some(b);
        }
        buf.map(|b| b[0] * b.len() as f64).unwrap_or(x[0] * x[1])
    }
}

#[stratape::differentiable]
pub mod held_18 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut buf: Option<Vec<f64>> = None;
        let mut out = vec![];
        for &v in x {
            let mut b = buf.take().unwrap_or_default();
            b.push(v);
            if b.iter().sum::<f64>() > 1.0 {
                out.push(b[0] * b[0]);
            } else {
                buf = Some(b);
            }
        }
        out.iter().sum::<f64>() * 2.0 + buf.map(|b| b[0] * b.len() as f64).unwrap_or(x[0] * x[1])
    }
}

#[stratape::differentiable]
pub mod held_19 {
    enum E {
        A(Vec<f64>),
        B(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let e = E::A(vec![x[0]]);
        let e = match e {
            E::A(v) if v[0] > 0.0 => E::B(v),
            E::A(v) => E::A(v),
            E::B(v) => E::A(v),
        };
        match e {
            E::A(v) => v[0] * x[1],
            E::B(v) => v[0] + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_20 {
    enum E {
        A(Vec<f64>),
        B(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(vec![x[0]]);
        e = match e {
            E::A(v) if v[0] > 0.0 => E::B(v),
            E::A(v) => E::A(v),
            E::B(v) => E::A(v),
        };
        match e {
            E::A(v) => v[0] * x[1],
            E::B(v) => v[0] + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_21 {
    enum E {
        A(Vec<f64>),
        B(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(vec![x[0]]);
        for _ in 0..2 {
            e = match e {
                E::A(v) if v[0] > 0.0 => E::B(v),
                E::A(mut v) => {
                    v[0] += 1.0;
                    E::A(v)
                }
                E::B(v) => E::A(v),
            };
        }
        match e {
            E::A(v) => v[0] * x[1],
            E::B(v) => v[0] + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_22 {
    enum E {
        A(Vec<f64>),
        B(f64, Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(vec![x[0]]);
        e = match e {
            E::A(v) => E::B(v[0], v),
            E::B(_, v) => E::A(v),
        };
        match e {
            E::A(v) => v[0] * x[1],
            E::B(b, v) => v[0] * b + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_23 {
    enum E {
        A(Vec<f64>),
        B(f64, Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(vec![x[0]]);
        for _ in 0..2 {
            e = match e {
                E::A(v) => E::B(v[0], v),
                E::B(_, v) => E::A(v),
            };
        }
        match e {
            E::A(v) => v[0] * x[1],
            E::B(b, v) => v[0] * b + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_24 {
    enum E {
        A(Vec<f64>),
        B(f64, Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(vec![x[0]]);
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
            E::A(v) => v[0] * x[1],
            E::B(b, v) => v[0] * b + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_25 {
    enum E {
        A(Vec<f64>),
        B(Vec<f64>),
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut e = E::A(vec![x[0]]);
        for _ in 0..2 {
            e = match e {
                E::A(v) if x[0] > 0.0 => E::B(v),
                E::A(v) => E::A(v),
                E::B(v) => E::A(v),
            };
        }
        match e {
            E::A(v) => v[0] * x[1],
            E::B(v) => v[0] + x[1],
        }
    }
}

#[stratape::differentiable]
pub mod held_26 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(vec![x[0]]);
        for _ in 0..2 {
            o = match o {
                Some(v) if v[0] > 0.0 => Some(v),
                Some(mut v) => {
                    v[0] += 1.0;
                    Some(v)
                }
                None => None,
            };
        }
        o.unwrap()[0] * x[1]
    }
}

#[stratape::differentiable]
pub mod held_27 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Ok(vec![x[0]]);
        for _ in 0..2 {
            o = match o {
                Ok(v) if x[1] > 0.0 => Err(v),
                Ok(v) => Ok(v),
                Err(v) => Ok(v),
            };
        }
        match o {
            Ok(v) => v[0] * x[1],
            Err(v) => v[0] + x[1],
        }
    }
}
