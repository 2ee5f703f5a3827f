//! Short loops of a known count inside other loops.

programs! {
    dot_then_scale: 9, det3: 9, last_iteration_special: 8, write_own_row: 9, shadow_in_loop: 6, zip_arrays: 6,
    odd_even: 8, alternating: 8, short_after_long: 6, reuse_name: 8, accumulate_outside: 6, option_in_short:
    6, closure_in_short: 6, u8_loop: 8, i32_neg_loop: 8,
}

mod dot_then_scale {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for i in 1..y.len() / 3 {
            let mut d = 0.0;
            for k in 0..3 {
                d += y[3 * i + k] * y[3 * (i - 1) + k];
            }
            for k in 0..3 {
                y[3 * i + k] -= d * y[3 * (i - 1) + k];
            }
        }
        y.iter().map(|v| v * v * v).sum()
    }
}

mod det3 {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut d = 0.0;
        for i in 0..3 {
            let mut m = 1.0;
            let mut w = 1.0;
            for k in 0..3 {
                m *= x[3 * k + (i + k) % 3];
                w *= x[3 * k + (i + 3 - k) % 3];
            }
            d += m - w;
        }
        d * d
    }
}

mod last_iteration_special {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for c in x.chunks_exact(4) {
            let mut t = 0.0;
            for k in 0..4 {
                t += c[k] * c[k];
                if k == 3 {
                    t = t.sqrt();
                } else {
                    t *= x[k];
                }
            }
            s += t;
        }
        s
    }
}

mod write_own_row {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut y = vec![0.0; 3 * n];
        for i in 0..n {
            for k in 0..3 {
                y[3 * i + k] = x[3 * i + k] * x[k];
            }
            for k in 0..2 {
                y[3 * i + k] *= y[3 * i + k + 1];
            }
        }
        let mut s = 0.0;
        for i in (0..n).rev() {
            for k in 0..3 {
                s = s * y[3 * i + k] + x[3 * i];
            }
        }
        s
    }
}

mod shadow_in_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let s = 0.5;
        let mut total = 0.0;
        for v in x {
            let s = s * v;
            for k in 0..3 {
                let s = s + k as f64;
                let v = v * s;
                total += v * v;
            }
            total += s;
        }
        total * s
    }
}

mod zip_arrays {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let a = [v * 1.0, v * v, v * v * v];
            let b = [1.0, x[0], x[1]];
            for (p, q) in a.iter().zip(b.iter()) {
                s += p * q;
            }
            for (p, q) in a.iter().zip(&b).rev().take(2) {
                s = s * q * 0.5 + p;
            }
        }
        s
    }
}

mod odd_even {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for t in 0..4 {
            for i in ((t % 2)..y.len() - 1).step_by(2) {
                if y[i] > y[i + 1] {
                    y.swap(i, i + 1);
                }
            }
        }
        let mut s = 0.0;
        for i in 0..y.len() {
            s += y[i] * y[i] * (i as f64 + 1.0);
        }
        s
    }
}

mod alternating {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for c in x.chunks_exact(2) {
            let mut sign = 1.0;
            for k in 0..2 {
                s += sign * c[k] * s + c[k];
                sign = -sign;
            }
        }
        s
    }
}

mod short_after_long {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = [0.0; 3];
        for v in x {
            let mut p = 1.0;
            for k in 0..3 {
                p *= v;
                m[k] += p;
            }
        }
        let n = x.len() as f64;
        for k in 0..3 {
            m[k] /= n + 1.0;
        }
        m[2] - 3.0 * m[0] * m[1] + 2.0 * m[0] * m[0] * m[0]
    }
}

mod reuse_name {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut acc = 0.0;
        for i in 0..x.len() / 2 {
            let mut t = 0.0;
            for k in 0..2 {
                t += x[2 * i + k];
            }
            let mut t = t * t;
            for k in 0..2 {
                t -= x[2 * i + k] * x[2 * i + k];
            }
            acc += t * 0.5 * x[i];
        }
        acc
    }
}

mod accumulate_outside {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut a, mut b, mut n) = (0.0, 1.0, 0);
        for v in x {
            for k in 0..3 {
                a += v * k as f64;
                if k != 1 {
                    b *= 1.0 + 0.1 * v * a;
                    n += 1;
                }
            }
        }
        a * b + n as f64
    }
}

mod option_in_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let mut last = None;
            for k in 0..3 {
                if let Some(v) = x.get(i + k) {
                    s += last.map_or(0.5, |l: f64| l * v);
                    last = Some(v * v);
                }
            }
            s += last.unwrap_or(0.0);
        }
        s
    }
}

mod closure_in_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let w = |k: usize, t: f64| if k == 0 { 1.0 - t } else { t };
        let mut s = 0.0;
        for i in 1..x.len() {
            let t = x[i] * x[0];
            for a in 0..2 {
                for b in 0..2 {
                    s += w(a, t) * w(b, x[i]) * x[i - 1 + a] * (1.0 + b as f64);
                }
            }
        }
        s
    }
}

mod u8_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() / 3 {
            for k in 0..3_u8 {
                s += x[3 * i + k as usize] * (k as f64 + 0.5) * x[i];
            }
        }
        s
    }
}

mod i32_neg_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            for k in -2..2_i32 {
                let j = i as i32 + k;
                if j < 0 || j >= x.len() as i32 {
                    continue;
                }
                s += x[i] * x[j as usize] * (k as f64 + 0.5);
            }
        }
        s
    }
}
