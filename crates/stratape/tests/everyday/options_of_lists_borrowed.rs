//! Lists in options and results, borrowed, grown and matched.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    borrowed_1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_9: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_10: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_12: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_13: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_14: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_15: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_16: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
    borrowed_17: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7], [2.0, 0.17, 0.43]],
}

#[stratape::differentiable]
pub mod borrowed_1 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Some(x.to_vec());
        let mut b = Some(vec![x[1], x[2]]);
        for i in 0..3 {
            let t = a;
            a = b;
            b = t;
            if x[i] > 0.5 {
                b = a.clone();
            }
        }
        a.unwrap().iter().sum::<f64>() * b.unwrap().iter().map(|v| v * v).sum::<f64>()
    }
}

#[stratape::differentiable]
pub mod borrowed_2 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut prev: Option<Vec<f64>> = None;
        let mut s = 0.0;
        for i in 0..3 {
            let cur: Vec<f64> = x.iter().map(|v| v * x[i]).collect();
            if let Some(p) = &prev {
                s += p.iter().zip(&cur).map(|(a, b)| a * b).sum::<f64>();
            }
            prev = if cur[0] > 0.1 { Some(cur) } else { prev };
        }
        s + prev.map_or(x[0], |p| p[1])
    }
}

#[stratape::differentiable]
pub mod borrowed_3 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut cur = vec![x[0]];
        let mut best = cur.clone();
        for i in 0..4 {
            let next: Vec<f64> =
                cur.iter().chain(std::iter::once(&x[i % 3])).map(|v| v * 0.9).collect();
            if next.iter().sum::<f64>() > best.iter().sum::<f64>() {
                best = next.clone();
            }
            cur = next;
        }
        best.iter().map(|v| v * v).sum::<f64>() * best.len() as f64 + cur[0]
    }
}

#[stratape::differentiable]
pub mod borrowed_4 {
    enum Shape {
        Poly(Vec<(f64, f64)>),
        Circle(f64),
    }
    impl Shape {
        fn grow(self, k: f64) -> Shape {
            match self {
                Shape::Poly(p) => Shape::Poly(p.into_iter().map(|(a, b)| (a * k, b * k)).collect()),
                Shape::Circle(r) => Shape::Circle(r * k),
            }
        }
        fn area(&self) -> f64 {
            match self {
                Shape::Poly(p) => {
                    (0..p.len())
                        .map(|i| {
                            let (a, b) = (p[i], p[(i + 1) % p.len()]);
                            a.0 * b.1 - a.1 * b.0
                        })
                        .sum::<f64>()
                        / 2.0
                }
                Shape::Circle(r) => 3.0 * r * r,
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = if x[0] > 0.0 {
            Shape::Poly(vec![(x[0], 0.0), (x[1], x[2]), (0.1, x[1])])
        } else {
            Shape::Circle(x[0] * x[1])
        };
        s = s.grow(1.0 + x[2]);
        s = s.grow(x[1]);
        s.area()
    }
}

#[stratape::differentiable]
pub mod borrowed_5 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut q: Vec<Vec<f64>> = vec![x.to_vec()];
        let mut s = 0.0;
        while let Some(v) = q.pop() {
            if v.len() == 1 {
                s += v[0] * v[0] * (q.len() + 1) as f64;
                continue;
            }
            let (l, r) = v.split_at(1);
            q.push(r.iter().map(|a| a * l[0]).collect());
            if l[0] > 0.2 {
                q.push(l.to_vec());
            }
        }
        s + x[0]
    }
}

#[stratape::differentiable]
pub mod borrowed_6 {
    fn split(x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        x.iter().partition(|v| **v > 0.5)
    }
    fn parse(x: &[f64]) -> Result<(Vec<f64>, f64), f64> {
        let (hi, lo) = split(x);
        let first = *lo.first().ok_or(hi[0] * 2.0)?;
        if first < 0.0 {
            return Err(first * hi[1]);
        }
        Ok((hi, first))
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        match parse(x) {
            Ok((v, k)) => v.iter().map(|a| a * k).sum::<f64>() * v.len() as f64,
            Err(e) => e * e,
        }
    }
}

#[stratape::differentiable]
pub mod borrowed_7 {
    #[derive(Clone, Default)]
    struct Best {
        score: f64,
        path: Option<Vec<f64>>,
    }
    impl Best {
        fn offer(&mut self, score: f64, path: &[f64]) -> bool {
            if self.path.is_none() || score > self.score {
                *self = Best { score, path: Some(path.to_vec()) };
                true
            } else {
                false
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut b = Best::default();
        let mut n = 0;
        for i in 0..3 {
            if b.offer(x[i] * x[(i + 1) % 3], &x[i..]) {
                n += 1;
            }
        }
        let snapshot = b.clone();
        b.offer(10.0 + x[0], &[x[1]]);
        snapshot.path.unwrap().iter().sum::<f64>() * n as f64
            + snapshot.score
            + b.path.as_ref().unwrap()[0] * b.score
    }
}

#[stratape::differentiable]
pub mod borrowed_8 {
    struct S {
        cur: Vec<f64>,
        best: Option<Vec<f64>>,
    }
    impl S {
        fn commit(&mut self) {
            self.best = Some(std::mem::take(&mut self.cur));
        }
        fn restore(&mut self) {
            if let Some(b) = self.best.take() {
                self.cur = b;
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { cur: x.to_vec(), best: None };
        s.commit();
        s.cur.push(x[0] * x[1]);
        if x[0] > 0.0 {
            s.restore();
        }
        s.cur.iter().map(|v| v * v).sum::<f64>() + s.best.map_or(x[2], |b| b[1] * 2.0)
    }
}

#[stratape::differentiable]
pub mod borrowed_9 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        let saved = v.clone();
        'o: for i in 0..3 {
            for j in 0..3 {
                v = v.iter().map(|a| a + saved[i] * saved[j]).collect();
                if v[0] > 1.0 {
                    break 'o;
                }
                if v[1] > 2.0 {
                    v = saved.clone();
                    continue 'o;
                }
            }
        }
        v[0] * v[1] + v[2]
    }
}

#[stratape::differentiable]
pub mod borrowed_10 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut lo, mut hi): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
        for &v in x {
            if v > 0.5 { hi.push(v) } else { lo.push(v) }
        }
        let (big, small) = if hi.len() > lo.len() { (hi, lo) } else { (lo, hi) };
        let s = small.first().copied().unwrap_or(x[0]);
        big.iter().map(|v| v * s).sum::<f64>() + big[0] * big.len() as f64
    }
}

#[stratape::differentiable]
pub mod borrowed_11 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let make = |k: usize| -> Option<Vec<f64>> {
            if x[k] > 0.0 { Some(x.iter().map(|v| v * x[k]).collect()) } else { None }
        };
        let v = make(0).or_else(|| make(1)).unwrap_or_else(|| x.to_vec());
        let w = [make(2), make(0)].into_iter().flatten().map(|l| l[0] * l[1]).sum::<f64>();
        v.iter().sum::<f64>() * w + v[2]
    }
}

#[stratape::differentiable]
pub mod borrowed_12 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut pair: (Option<Vec<f64>>, Option<Vec<f64>>) = (Some(x.to_vec()), None);
        for i in 0..3 {
            if x[i] > 0.5 {
                pair = (pair.1, pair.0);
            }
            if let (Some(a), None) = &mut pair {
                a[0] += x[i];
            }
        }
        match pair {
            (Some(a), None) => a[0] * a[1],
            (None, Some(b)) => b[0] + b[1] * b[2],
            _ => x[0],
        }
    }
}

#[stratape::differentiable]
pub mod borrowed_13 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut last = Vec::new();
        let mut seen: Vec<Vec<f64>> = Vec::new();
        for &v in x {
            last.push(v);
            if last.iter().sum::<f64>() > 1.0 {
                seen.push(std::mem::take(&mut last));
            }
        }
        if !last.is_empty() {
            seen.push(last);
        }
        seen.iter()
            .enumerate()
            .map(|(i, s)| s.iter().product::<f64>() * (i + 1) as f64 * s.len() as f64)
            .sum()
    }
}

#[stratape::differentiable]
pub mod borrowed_14 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let groups =
            x.iter().fold((Vec::new(), Vec::new()), |(mut a, mut b): (Vec<f64>, Vec<f64>), &v| {
                if v > 0.5 {
                    a.push(v * x[0]);
                } else {
                    b.push(v);
                    b = b.iter().map(|t| t * 2.0).collect();
                }
                (a, b)
            });
        groups.0.iter().sum::<f64>() * 2.0
            + groups.1.iter().map(|v| v * v).sum::<f64>()
            + groups.0.len() as f64 * x[1]
    }
}

#[stratape::differentiable]
pub mod borrowed_15 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let r: Option<Vec<f64>> = x.iter().try_fold(Vec::new(), |mut acc: Vec<f64>, &v| {
            if v < 0.0 {
                return None;
            }
            acc.push(v * v);
            Some(acc)
        });
        match r {
            Some(v) => v.iter().enumerate().map(|(i, a)| a * (i + 1) as f64).sum(),
            None => x[0] * x[1],
        }
    }
}

#[stratape::differentiable]
pub mod borrowed_16 {

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        let w = if x[0] > 0.0 {
            let t = v.clone();
            v.push(t[0] * t[1]);
            t
        } else {
            std::mem::replace(&mut v, vec![x[2]; 4])
        };
        let u = if v.len() > 3 { v } else { w.clone() };
        u.iter().map(|a| a * a).sum::<f64>() + w[0] * w[1] * u[3]
    }
}

#[stratape::differentiable]
pub mod borrowed_17 {
    enum Msg {
        Data(Vec<f64>),
        Scale(f64),
        Stop,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let msgs = vec![
            Msg::Data(x.to_vec()),
            Msg::Scale(x[0]),
            if x[0] > 0.0 { Msg::Data(vec![x[1]]) } else { Msg::Stop },
            Msg::Scale(2.0),
            Msg::Stop,
        ];
        let mut cur: Vec<f64> = vec![];
        for m in msgs {
            match m {
                Msg::Data(d) => cur.extend(d),
                Msg::Scale(k) => cur.iter_mut().for_each(|c| *c *= k),
                Msg::Stop => break,
            }
        }
        cur.iter().enumerate().map(|(i, c)| c * c * (i + 1) as f64).sum()
    }
}
