//! Lists that branches, loops and helpers hand out, in options and in results.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    handed_out_1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_9: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_10: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    handed_out_12: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_13: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_14: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    handed_out_15: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
}

#[stratape::differentiable]
pub mod handed_out_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<Vec<f64>>> = None;
        for i in 0..3 {
            let g: Vec<Vec<f64>> =
                (0..2).map(|j| x.iter().map(|v| v * x[i] + j as f64).collect()).collect();
            if let Some(b) = &best {
                if b[0][0] > g[0][0] {
                    continue;
                }
            }
            best = Some(g);
        }
        if let Some(b) = best.as_mut() {
            let r = b[0].clone();
            b[1].extend(r);
            b.push(vec![x[0]]);
        }
        best.iter().flatten().flatten().enumerate().map(|(i, v)| v * (i + 1) as f64 * v).sum()
    }
}

#[stratape::differentiable]
pub mod handed_out_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = x.to_vec();
        let mut b = vec![x[0] * x[1]];
        if x[0] > 0.0 {
            std::mem::swap(&mut a, &mut b);
        }
        let c = std::mem::take(&mut a);
        a.push(b[0]);
        let d = std::mem::replace(&mut b, c);
        a.iter().sum::<f64>()
            + 2.0 * b.iter().map(|v| v * v).sum::<f64>()
            + d.iter().product::<f64>()
    }
}

#[stratape::differentiable]
pub mod handed_out_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<f64>> = None;
        let mut second: Option<Vec<f64>> = None;
        for i in 0..3 {
            let c = vec![x[i], x[(i + 1) % 3] * x[i]];
            match best.take() {
                None => best = Some(c),
                Some(b) if c[0] > b[0] => {
                    second = Some(b);
                    best = Some(c);
                }
                Some(b) => {
                    if second.as_ref().map_or(true, |s| c[0] > s[0]) {
                        second = Some(c);
                    }
                    best = Some(b);
                }
            }
        }
        let (b, s) = (best.unwrap(), second.unwrap());
        b[0] * s[1] + b[1] * 3.0 + s[0]
    }
}

#[stratape::differentiable]
pub mod handed_out_4 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v: Vec<f64>;
        let mut s = 0.0;
        for i in 0..3 {
            v = if x[i] > 0.5 { vec![x[i]; i + 1] } else { x[i..].to_vec() };
            v.push(s);
            s += v.iter().map(|a| a * a).sum::<f64>() * v[0];
        }
        s
    }
}

#[stratape::differentiable]
pub mod handed_out_5 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let opt = x.iter().position(|&v| v > 1.0).map(|i| x[i..].to_vec());
        let alt = vec![x[0] * 2.0, x[1]];
        let used = opt.as_ref().unwrap_or(&alt);
        let s = used[0] * used[1];
        let mut own = opt.unwrap_or(alt);
        own.push(s);
        own.iter().map(|v| v * v).sum()
    }
}

#[stratape::differentiable]
pub mod handed_out_6 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let best = if x[0] > 0.0 { Some(vec![x[0], x[1]]) } else { None };
        let r = match best {
            Some(ref v) if v[0] > 1.0 => v[0] * v[1],
            Some(ref v) => v.iter().sum(),
            None => x[2],
        };
        let m = match &best {
            Some(v) => v.as_slice(),
            None => x,
        };
        r * m[0] + m[1]
    }
}

#[stratape::differentiable]
pub mod handed_out_7 {
    fn pick<'a>(a: &'a [f64], b: &'a [f64]) -> &'a [f64] {
        if a[0] > b[0] { a } else { b }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = vec![x[0], x[1]];
        let q = vec![x[1] * x[2], x[0], x[2]];
        let r = pick(&p, &q);
        let s = pick(r, x);
        r.iter().sum::<f64>() * s[1] + s.len() as f64 * r[0]
    }
}

#[stratape::differentiable]
pub mod handed_out_8 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<f64>> = None;
        for i in 0..3 {
            best.get_or_insert_with(|| vec![x[2]]).push(x[i] * x[0]);
            if x[i] > 1.0 {
                best = None;
            }
        }
        let v = best.unwrap_or_else(|| vec![x[1] * x[1]]);
        v.iter().enumerate().map(|(i, a)| a * (i + 2) as f64).sum::<f64>() + v[0] * v[0]
    }
}

#[stratape::differentiable]
pub mod handed_out_9 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let o: Option<Vec<f64>> =
            x.iter().map(|&v| if v > -0.1 { Some(v.abs().sqrt()) } else { None }).collect();
        let r: Result<Vec<f64>, f64> =
            x.iter().map(|&v| if v < 1.5 { Ok(v * v) } else { Err(v) }).collect();
        let a = match &o {
            Some(v) => v[0] * v[1],
            None => x[0],
        };
        let b = match r {
            Ok(v) => v.iter().sum::<f64>(),
            Err(e) => e * e * e,
        };
        a * b + a
    }
}

#[stratape::differentiable]
pub mod handed_out_10 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut front = vec![x[0]];
        let mut back = Vec::new();
        for i in 0..4 {
            back.clear();
            for &v in &front {
                back.push(v * x[1]);
                if v > 0.1 {
                    back.push(v - x[2]);
                }
            }
            std::mem::swap(&mut front, &mut back);
        }
        front.iter().map(|v| v * v).sum::<f64>() + back.iter().sum::<f64>() * back.len() as f64
    }
}

#[stratape::differentiable]
pub mod handed_out_11 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        let w = v.clone();
        v = if w[0] > 0.0 {
            v.into_iter().filter(|a| *a > 0.5).collect()
        } else {
            w.iter().chain(v.iter()).copied().collect()
        };
        let u = v.split_off(1);
        v.iter().sum::<f64>() * u.iter().sum::<f64>() + u.len() as f64 * w[0] * v[0]
    }
}

#[stratape::differentiable]
pub mod handed_out_12 {
    struct Node {
        v: Vec<f64>,
        next: Option<usize>,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut nodes: Vec<Node> = Vec::new();
        for (i, &a) in x.iter().enumerate() {
            let next = if a > 0.5 && i > 0 { Some(i - 1) } else { None };
            nodes.push(Node { v: vec![a; i + 1], next });
        }
        let mut cur = Some(2);
        let mut s = 0.0;
        while let Some(i) = cur {
            s += nodes[i].v.iter().map(|t| t * t).sum::<f64>() * (i + 1) as f64;
            nodes[i].v.push(s);
            cur = nodes[i].next;
        }
        s * nodes[2].v[3] + nodes[0].v[0]
    }
}

#[stratape::differentiable]
pub mod handed_out_13 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut acc: Vec<Vec<f64>> = vec![vec![]];
        for &v in x {
            if v > 0.5 {
                acc.push(vec![v]);
            } else {
                acc.last_mut().unwrap().push(v * 2.0);
            }
        }
        let longest = acc.iter().enumerate().max_by_key(|(_, l)| l.len()).unwrap();
        longest.1.iter().map(|v| v * v).sum::<f64>() * (longest.0 + 1) as f64
            + acc.iter().flatten().sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod handed_out_14 {
    fn step(v: Vec<f64>, k: f64) -> Option<Vec<f64>> {
        let s: f64 = v.iter().sum();
        if s > 6.0 {
            return None;
        }
        Some(v.into_iter().map(|a| a * k + 0.3).collect())
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        let mut n = 0;
        while let Some(w) = step(v.clone(), 1.2 + x[2]) {
            v = w;
            n += 1;
            if n > 6 {
                break;
            }
        }
        let last = step(v.clone(), 0.5).and_then(|w| step(w, 0.5)).unwrap_or(vec![x[0]]);
        v[0] * v[1] + last.iter().map(|a| a * a).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod handed_out_15 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let v = if let Some(i) = x.iter().position(|a| *a > 1.0) {
            let mut t = x.to_vec();
            t.swap(0, i);
            t
        } else {
            return x[0] * x[0];
        };
        let w = match v.len() {
            3 if v[1] < 0.2 => vec![v[1], v[2]],
            3 => v.clone(),
            _ => vec![],
        };
        w.iter().zip(v.iter().rev()).map(|(a, b)| a * b).sum::<f64>() + w[0] * v[0] * v[0]
    }
}
