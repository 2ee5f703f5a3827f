//! Running choices in loops: a winner, and what is kept with it.

programs! {
    nearest_colour: 9, argmin_late: 6, argmax_struct_tuple: 6, option_winner: 6, max_pool: 8, ray_cast: 9,
    else_if_chain: 6, with_continue: 7, early_return: 6, by_match: 6, two_places: 6, payload_of_last: 6,
    arithmetic_too: 6, best_and_second: 6, min_and_max: 6, by_method_min: 6, by_fold: 6, by_partial_cmp: 6,
    literal_zero: 3, literal_one: 3, literal_two: 4, literal_three: 4, literal_four: 5,
}

mod nearest_colour {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = x[0];
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        let mut d2 = 1.0;
        for i in 0..(x.len() - 1) / 2 {
            let d = (x[1 + 2 * i] - p) * (x[1 + 2 * i] - p);
            if d < best {
                best = d;
                c = x[2 + 2 * i];
                d2 = x[2 + 2 * i] * x[1 + 2 * i];
            }
        }
        c * best + d2
    }
}

mod argmin_late {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = x[0] * x[1];
        let mut at = 0;
        for i in 1..x.len() {
            let v = x[i] * x[i - 1];
            if v < best {
                best = v;
                at = i;
            }
        }
        best * x[at] + x[at].sin()
    }
}

mod argmax_struct_tuple {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = (f64::NEG_INFINITY, 0.0, [0.0, 0.0]);
        for i in 0..x.len() {
            let s = x[i].sin() * 2.0;
            if s > best.0 {
                best = (s, x[i] * x[0], [x[i].exp(), s * x[1]]);
            }
        }
        best.0 * best.1 + best.2[0] * best.2[1]
    }
}

mod option_winner {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<(f64, f64)> = None;
        for i in 0..x.len() {
            let v = (x[i] - 0.5) * (x[i] - 0.5);
            match best {
                Some((b, _)) if b <= v => {}
                _ => best = Some((v, x[i] * v)),
            }
        }
        match best {
            Some((a, b)) => a + 3.0 * b,
            None => 0.0,
        }
    }
}

mod max_pool {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut out = 0.0;
        for i in 0..x.len() / 2 {
            let mut m = f64::NEG_INFINITY;
            for j in 0..2 {
                let v = x[2 * i + j] * x[j];
                if v > m {
                    m = v;
                }
            }
            out += m * m * (i as f64 + 1.0);
        }
        out
    }
}

mod ray_cast {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (o, d) = (x[0], x[1]);
        let mut t = 1.0e9;
        let mut shade = 0.1;
        let mut normal = 0.0;
        for k in 0..(x.len() - 2) / 2 {
            let c = x[2 + 2 * k];
            let r = x[3 + 2 * k];
            let b = (o - c) * d;
            let disc = b * b - (o - c) * (o - c) + r * r;
            if disc > 0.0 {
                let s = disc.sqrt();
                let t0 = s - b;
                if t0 > 1.0e-4 && t0 < t {
                    t = t0;
                    shade = r * c;
                    normal = (o + t0 * d - c) / r;
                } else {
                    let t1 = s + b;
                    if t1 > 1.0e-4 && t1 < t {
                        t = t1;
                        shade = r + c;
                        normal = o * d;
                    }
                }
            }
        }
        if t < 1.0e8 { shade * normal.max(0.0) + t } else { 0.0 }
    }
}

mod else_if_chain {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut a, mut b) = (f64::INFINITY, f64::INFINITY);
        let mut p = 1.0;
        let mut q = 2.0;
        for &v in x {
            let w = v * v;
            if w < a {
                b = a;
                q = p;
                a = w;
                p = v.sin();
            } else if w < b {
                b = w;
                q = v.cos();
            } else if v > 0.7 {
                p = p * 0.9;
            }
        }
        if b.is_finite() { a * p + b * q } else { p - q }
    }
}

mod with_continue {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 10.0;
        let mut keep = x[0];
        for i in 0..x.len() {
            if x[i] < 0.3 {
                continue;
            }
            let d = (x[i] - x[0] * 0.5).abs() + 0.01 * x[i];
            if d >= best {
                continue;
            }
            best = d;
            keep = x[i] * d;
        }
        best * keep
    }
}

mod early_return {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = x[0];
        for i in 0..x.len() {
            let v = (x[i] - 0.4) * (x[i] - 0.4) * x[0];
            if v < best {
                best = v;
                c = x[i] * v;
                if best < 0.001 {
                    return c * 100.0 + x[1];
                }
            }
        }
        best + c
    }
}

mod by_match {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.0;
        let mut who = 0.0;
        for (i, v) in x.iter().enumerate() {
            let s = match i % 3 {
                0 => v * 2.0,
                1 => v * v * 3.0,
                _ => v.sin() + 0.3,
            };
            match s > best {
                true => {
                    best = s;
                    who = v * s;
                }
                false => who += 0.01 * v,
            }
        }
        who * best
    }
}

mod two_places {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for i in 0..x.len() {
            let a = x[i] * x[i];
            if a < best {
                best = a;
                c = x[i];
            }
            let b = (x[i] - 0.6) * (x[i] - 0.6) + 0.1;
            if b < best {
                best = b;
                c = x[i] * 2.0;
            }
        }
        c + best * 3.0
    }
}

mod payload_of_last {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = -1.0;
        let mut c = 1.0;
        for i in 0..x.len() {
            let s = x[i].cos() * x[i];
            if s > best {
                c = c * 0.5 + x[i];
                best = s;
            }
        }
        c * c + best
    }
}

mod arithmetic_too {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 3.0;
        let mut c = 0.0;
        let mut sum = 0.0;
        for i in 0..x.len() {
            let s = x[i] * 1.5 + 0.1 * best;
            if s < best {
                best = s;
                c = x[i] * best;
            }
            sum += best * x[i] + c;
        }
        sum + best * c
    }
}

mod best_and_second {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut b1, mut b2) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let (mut p1, mut p2) = (0.0, 0.0);
        for i in 0..x.len() {
            let s = x[i] * (1.0 + 0.2 * x[0]);
            if s > b1 {
                b2 = b1;
                p2 = p1;
                b1 = s;
                p1 = x[i] * x[i];
            } else if s > b2 {
                b2 = s;
                p2 = x[i] * x[i] * x[i];
            }
        }
        if x.len() > 1 { (b1 - b2) * p1 + p2 } else { p1 }
    }
}

mod min_and_max {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut a, mut b) = (1.0, 1.0);
        for i in 0..x.len() {
            let v = x[i] + 0.3 * x[(i + 1) % x.len()];
            if v < lo {
                lo = v;
                a = v * x[i];
            }
            if v > hi {
                hi = v;
                b = v - x[i] * 0.5;
            }
        }
        (hi - lo) * a * b
    }
}

mod by_method_min {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = f64::INFINITY;
        let mut s = 0.0;
        for v in x {
            m = m.min(v * v + 0.1 * v);
            s += m;
        }
        s * m.min(1.0)
    }
}

mod by_fold {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = x.iter().copied().fold(f64::INFINITY, f64::min);
        let n = x.iter().map(|v| v * v).fold(-3.0, |a: f64, b| a.max(b));
        m * n + x.iter().fold(0.0, |a, b| if *b > a { b * b } else { a * 0.9 })
    }
}

mod by_partial_cmp {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut at = 0;
        for i in 1..x.len() {
            if x[i].partial_cmp(&x[at]).unwrap().is_gt() {
                at = i;
            }
        }
        let m = x.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        x[at] * x[at] - m
    }
}

mod literal_zero {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 5.0;
        let mut c = x[0];
        for i in 0..0 {
            if x[i] < best {
                best = x[i];
                c = best * x[i];
            }
        }
        best * c + x[1]
    }
}

mod literal_one {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.5;
        let mut c = x[2];
        for i in 0..1 {
            if x[i] < best {
                best = x[i] * x[1];
                c = best * x[i];
            }
        }
        best * c
    }
}

mod literal_two {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for i in 0..2 {
            let d = x[i] * x[i + 2];
            if d < best {
                best = d;
                c = x[i];
            }
        }
        best * c
    }
}

mod literal_three {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let (mut c, mut k) = (0.0, 0);
        for i in (0..3).rev() {
            let d = x[i] - x[i + 1] * x[0];
            if d >= best {
                best = d;
                c = x[i] * d;
                k = i;
            }
        }
        best * c + x[k] * (k as f64)
    }
}

mod literal_four {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const OFFSETS: [f64; 4] = [0.1, 0.4, 0.7, 0.95];
        let mut s = 0.0;
        for v in x {
            let mut best = 1.0e30;
            let mut w = 0.0;
            for k in 0..4 {
                let d = (v - OFFSETS[k]) * (v - OFFSETS[k]);
                if d < best {
                    best = d;
                    w = d * OFFSETS[k] + v;
                }
            }
            s += best * 2.0 + w * w;
        }
        s
    }
}
