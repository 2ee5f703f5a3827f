//! Lists in options, results and enums, moved while their variables are in use.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    moved_1: [[0.3, 1.2]],
    moved_2: [[0.3, 1.2]],
    moved_3: [[0.3, 1.2]],
    moved_4: [[0.3, 1.2]],
    moved_5: [[0.3, 1.2]],
    moved_6: [[0.3, 1.2]],
    moved_7: [[0.3, 1.2]],
    moved_8: [[0.3, 1.2]],
    moved_9: [[0.3, 1.2]],
    moved_10: [[0.3, 1.2]],
    moved_11: [[0.3, 1.2], [-0.3, 1.2]],
    moved_12: [[0.3, 1.2], [-0.3, 1.2]],
    moved_13: [[0.3, 1.2], [-0.3, 1.2]],
    moved_14: [[0.3, 1.2], [-0.3, 1.2]],
    moved_15: [[0.3, 1.2], [-0.3, 1.2]],
    moved_16: [[0.3, 1.2], [-0.3, 1.2]],
    moved_17: [[0.3, 1.2], [-0.3, 1.2]],
    moved_18: [[0.3, 1.2], [-0.3, 1.2]],
    moved_19: [[0.3, 1.2], [-0.3, 1.2]],
    moved_20: [[0.3, 1.2], [-0.3, 1.2]],
    moved_21: [[0.3, 1.2], [-0.3, 1.2]],
    moved_22: [[0.3, 1.2], [-0.3, 1.2]],
    moved_23: [[0.3, 1.2], [-0.3, 1.2]],
    moved_24: [[0.3, 1.2], [-0.3, 1.2]],
    moved_25: [[0.3, 1.2], [-0.3, 1.2]],
    moved_26: [[0.3, 1.2], [-0.3, 1.2]],
    moved_27: [[0.3, 1.2], [-0.3, 1.2]],
    moved_28: [[0.3, 1.2], [-0.3, 1.2]],
    moved_29: [[0.3, 1.2], [-0.3, 1.2]],
}

#[stratape::differentiable]
pub mod moved_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let mut b = Some(vec![x[1], x[1]]);
        let t = a;
        a = b;
        b = t;
        a.unwrap()[0] * 2.0 + b.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod moved_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let mut b: Option<Vec<f64>> = None;
        let t = a;
        a = b;
        b = t;
        a.map_or(x[1], |v| v[0]) * 2.0 + b.map_or(x[1] * x[1], |v| v[0] * v[1])
    }
}

#[stratape::differentiable]
pub mod moved_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = x.to_vec();
        let mut b = vec![x[1], x[1]];
        let t = a;
        a = b;
        b = t;
        a[0] * 2.0 + b[0]
    }
}

#[stratape::differentiable]
pub mod moved_4 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = (x.to_vec(), 1.0);
        let mut b = (vec![x[1], x[1]], x[0]);
        let t = a;
        a = b;
        b = t;
        a.0[0] * a.1 * 2.0 + b.0[0] * b.1
    }
}

#[stratape::differentiable]
pub mod moved_5 {
    struct S {
        v: Vec<f64>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = S { v: x.to_vec(), k: 1.0 };
        let mut b = S { v: vec![x[1], x[1]], k: x[0] };
        for _ in 0..3 {
            let t = a;
            a = b;
            b = t;
        }
        a.v[0] * a.k * 2.0 + b.v[0] * b.k
    }
}

#[stratape::differentiable]
pub mod moved_6 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let mut b = Some(vec![x[1], x[1]]);
        for _ in 0..3 {
            std::mem::swap(&mut a, &mut b);
        }
        a.unwrap()[0] * 2.0 + b.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod moved_7 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let mut b = Some(vec![x[1], x[1]]);
        for _ in 0..3 {
            (a, b) = (b, a);
        }
        a.unwrap()[0] * 2.0 + b.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod moved_8 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut prev = Some(x.to_vec());
        let mut s = 0.0;
        for i in 0..3 {
            let old = prev;
            prev = old.as_ref().map(|o| o.iter().map(|v| v * x[1]).collect());
            s += old.unwrap()[0] * prev.as_ref().unwrap()[1];
        }
        s
    }
}

#[stratape::differentiable]
pub mod moved_9 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut prev = Some(x.to_vec());
        let mut s = 0.0;
        for i in 0..3 {
            let old = prev.clone();
            prev = Some(vec![x[0] * i as f64, x[1] + s]);
            s += old.unwrap()[0] * prev.as_ref().unwrap()[1];
        }
        s
    }
}

#[stratape::differentiable]
pub mod moved_10 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut prev = Some(x.to_vec());
        let mut s = 0.0;
        for i in 0..3 {
            let old = prev.take();
            prev = Some(old.as_ref().unwrap().iter().map(|v| v * x[1]).collect());
            s += old.unwrap()[0] * prev.as_ref().unwrap()[1];
        }
        s
    }
}

#[stratape::differentiable]
pub mod moved_11 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = Some(x.to_vec());
        let b = Some(vec![x[1], x[0] * x[1]]);
        let mut c = if x[0] > 0.0 { a.clone() } else { b.clone() };
        let d = c.clone();
        c = a;
        if let Some(v) = &mut c {
            v[0] = 5.0 * x[1];
        }
        c.unwrap()[0] + d.unwrap()[0] * b.unwrap()[1]
    }
}

#[stratape::differentiable]
pub mod moved_12 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let b = a.clone();
        if let Some(v) = a.as_mut() {
            v[0] *= 7.0;
            v.swap(0, 1);
        }
        let c = a.clone();
        a = b.clone();
        a.unwrap()[0] + 2.0 * b.unwrap()[1] * c.unwrap()[1]
    }
}

#[stratape::differentiable]
pub mod moved_13 {
    struct S {
        v: Option<Vec<f64>>,
        n: usize,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { v: Some(x.to_vec()), n: 0 };
        let saved = s.v.clone();
        let o = s.v.take();
        s.v = saved.clone();
        s.n += 1;
        o.unwrap().iter().sum::<f64>() * s.v.unwrap()[0]
    }
}

#[stratape::differentiable]
pub mod moved_14 {
    #[derive(Clone)]
    struct S {
        v: Vec<f64>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = S { v: x.to_vec(), k: x[0] };
        let b = a.clone();
        let o = a;
        a = b.clone();
        o.v.iter().sum::<f64>() * a.v[0] * o.k
    }
}

#[stratape::differentiable]
pub mod moved_15 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = x.to_vec();
        let b = a.clone();
        let o = a;
        a = b.clone();
        o.iter().sum::<f64>() * a[0]
    }
}

#[stratape::differentiable]
pub mod moved_16 {
    enum E {
        A(Vec<f64>),
        B,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = E::A(x.to_vec());
        let o = a;
        a = E::A(vec![x[1]]);
        let p = a;
        a = if x[0] > 0.0 { E::B } else { E::A(vec![x[0], x[1]]) };
        let s = |e: &E| match e {
            E::A(v) => v.iter().sum::<f64>(),
            E::B => 2.0,
        };
        s(&o) * s(&p) * s(&a)
    }
}

#[stratape::differentiable]
pub mod moved_17 {
    struct S {
        v: Vec<f64>,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(S { v: x.to_vec(), k: x[0] });
        o = match o {
            Some(s) if s.k > 0.0 => Some(s),
            Some(s) => Some(S { k: 2.0, ..s }),
            None => None,
        };
        o.map_or(x[0], |s| s.v.iter().sum::<f64>() * s.k)
    }
}

#[stratape::differentiable]
pub mod moved_18 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o: Result<Vec<f64>, f64> = Ok(x.to_vec());
        o = match o {
            Ok(v) if v[0] > 0.0 => Ok(v),
            Ok(v) => Err(v[0]),
            Err(e) => Err(e),
        };
        match o {
            Ok(v) => v.iter().sum::<f64>(),
            Err(e) => e * e,
        }
    }
}

#[stratape::differentiable]
pub mod moved_19 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some((x.to_vec(), x[0]));
        o = match o {
            Some((v, k)) if k > 0.0 => Some((v, k + 1.0)),
            Some((v, k)) => Some((v, -k)),
            None => None,
        };
        o.map_or(x[0], |(v, k)| v.iter().sum::<f64>() * k)
    }
}

#[stratape::differentiable]
pub mod moved_20 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let o = Some(x.to_vec());
        let o = match o {
            Some(v) if v[0] > 0.0 => Some(v),
            Some(v) => Some(v),
            None => None,
        };
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod moved_21 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        o = match o {
            Some(v) => {
                if v[0] > 0.0 {
                    Some(v)
                } else {
                    Some(vec![v[1]])
                }
            }
            None => None,
        };
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod moved_22 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        o = match o {
            Some(v) => Some(v),
            None => Some(vec![x[1]]),
        };
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod moved_23 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        o = Some(o.unwrap());
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod moved_24 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o = Some(x.to_vec());
        o = if x[0] > 0.0 {
            Some(o.unwrap())
        } else {
            let v = o.unwrap();
            Some(v)
        };
        o.map_or(x[0], |v| v.iter().sum::<f64>() * x[1])
    }
}

#[stratape::differentiable]
pub mod moved_25 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut o: Option<Vec<f64>> = None;
        for i in 0..3 {
            let mut v = o.unwrap_or_else(Vec::new);
            v.push(x[0] + i as f64);
            o = if v.len() > 2 { None } else { Some(v) };
        }
        o.map_or(x[0] * x[1], |v| v.iter().sum::<f64>() * v[0])
    }
}

#[stratape::differentiable]
pub mod moved_26 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut stack: Vec<Vec<f64>> = vec![];
        let mut cur = x.to_vec();
        for i in 0..3 {
            if cur[0] > 0.2 {
                stack.push(cur);
                cur = vec![x[0], x[1] * i as f64];
            } else {
                cur = stack.pop().unwrap_or_else(|| vec![x[1], x[0]]);
            }
        }
        cur[0] * cur[1] + stack.iter().map(|s| s[0] * s[1]).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod moved_27 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = x.to_vec();
        let mut b = vec![x[0] * x[1]; 2];
        let mut c = vec![x[1], 2.0 * x[0]];
        for i in 0..4 {
            let t = a;
            a = b;
            b = c;
            c = t;
            if i == 2 {
                c = a.clone();
            }
        }
        a[0] + 2.0 * b[1] * c[0] + 5.0 * c[1]
    }
}

#[stratape::differentiable]
pub mod moved_28 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let o = a.replace(x.iter().map(|v| v * v).collect());
        let p = a.replace(x.iter().map(|v| v * 3.0).collect());
        a.unwrap()[0] + o.unwrap()[1] * p.unwrap()[1]
    }
}

#[stratape::differentiable]
pub mod moved_29 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h: Vec<Option<Vec<f64>>> = Vec::new();
        h.push(None);
        h.push(Some(x.to_vec()));
        let v = h[1].take();
        h[0] = v;
        h.iter().flatten().flatten().map(|v| v * v).sum()
    }
}
