//! Branches with a constant in one arm, and symmetric expressions that are shared.

programs! {
    cutoff_pairs: 8, hinge: 7, relu_net: 9, used_after: 6, sqrt_not_taken: 6, ln_not_taken: 6,
    division_not_taken: 6, clamp_by_hand: 6, both_constant: 5, nested_constants: 7, leaky: 6, let_else_zero:
    6, match_zero: 6, accumulate_then_zero: 6, zero_product: 6, mask_multiply: 6, relu_sum_of_products: 8,
    two_hinges_shared: 6, condition_from_arm: 6, early_zero_return: 5, smoothstep: 6, dead_arm_overwrites: 6,
    tuple_arm: 6, array_arm: 6, early_exit_in_list: 6, cut_force: 9, hypot_zero: 6,
}

mod cutoff_pairs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const CUT: f64 = 0.5;
        let mut e = 0.0;
        for i in 0..x.len() {
            for j in 0..i {
                let d = x[i] - x[j];
                let r2 = d * d;
                e += if r2 < CUT * CUT { (CUT * CUT - r2) * (CUT * CUT - r2) * x[i] } else { 0.0 };
            }
        }
        e
    }
}

mod hinge {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (w, rest) = x.split_at(x.len() / 2);
        let mut loss = 0.0;
        for i in 0..w.len() {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            let m = 1.0 - y * (w[i] * rest[i] + rest[0]);
            loss += if m > 0.0 { m } else { 0.0 };
        }
        let mut n = 0.0;
        for v in w {
            n += v * v;
        }
        loss + 0.1 * n
    }
}

mod relu_net {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h = [0.0; 3];
        for i in 0..3 {
            let mut a = x[3 + i];
            for j in 0..3 {
                a += x[j] * x[6 + (i + j) % 3] - 0.4;
            }
            h[i] = if a > 0.0 { a } else { 0.0 };
        }
        let mut o = 0.0;
        for i in 0..3 {
            o += h[i] * h[i] * x[i];
        }
        o
    }
}

mod used_after {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() {
            let d = x[i] * x[i - 1];
            let e = d.exp();
            let w = if d > 0.3 { e * d } else { 0.0 };
            s += w * e + d;
        }
        s
    }
}

mod sqrt_not_taken {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() {
            let d = x[i] - x[i - 1];
            let q = d * d;
            s += if q > 0.0 { q.sqrt() * x[0] } else { 0.0 };
        }
        s
    }
}

mod ln_not_taken {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h = 0.0;
        for v in x {
            if *v > 0.0 {
                h -= v * v.ln();
            }
        }
        h
    }
}

mod division_not_taken {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut n = 0.0;
        for v in x {
            n += v * v;
        }
        let r = n.sqrt();
        let scale = if r > 1.0 { 1.0 / r } else { 1.0 };
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate() {
            s += v * scale * i as f64;
        }
        let g = if n == 0.0 { 0.0 } else { s / n };
        s + g
    }
}

mod clamp_by_hand {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 1.0;
        for v in x {
            let t = v * 2.0 - 0.5;
            let c = if t < 0.0 {
                0.0
            } else if t > 1.0 {
                1.0
            } else {
                t
            };
            s = s * 0.8 + c * c * (3.0 - 2.0 * c);
        }
        s
    }
}

mod both_constant {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let g = if v * v > 0.3 { 1.0 } else { 0.0 };
            s += g * v + g;
        }
        s
    }
}

mod nested_constants {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(2) {
            let u = w[0] * w[1];
            s += if u > 0.1 {
                let q = u.sqrt();
                if w[0] > w[1] { if q > 0.7 { q * u } else { 0.0 } } else { 1.0 }
            } else {
                0.0
            };
            s *= 1.0 + 0.1 * u;
        }
        s
    }
}

mod leaky {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h = x[0];
        for i in 1..x.len() {
            let a = h * x[i] - 0.2;
            h = if a >= 0.0 { a } else { 0.01 * a };
            h += x[i];
        }
        h
    }
}

mod let_else_zero {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let Some(w) = (*v > 0.5).then(|| v * v) else {
                s += 0.0;
                continue;
            };
            s += w * v;
        }
        s
    }
}

mod match_zero {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate() {
            let t = v * x[0];
            s += match i % 4 {
                0 => 0.0,
                1 if t > 0.2 => t,
                1 => 2.0,
                2 => t.sin(),
                _ => 0.0,
            } * t;
        }
        s
    }
}

mod accumulate_then_zero {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = 0.0;
        let mut s = 0.0;
        for v in x {
            a += v * v;
            if a > 0.8 {
                s += a * v;
                a = 0.0;
            }
        }
        s + a
    }
}

mod zero_product {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = 1.0;
        let mut q = 0.0;
        for v in x {
            p *= if *v > 0.3 { *v } else { 0.0 };
            q += p;
        }
        q + p
    }
}

mod mask_multiply {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let m = if i % 2 == 0 { 0.0 } else { 1.0 };
            let e = (x[i] * 3.0).exp();
            s += m * e + (1.0 - m) * x[i];
        }
        s
    }
}

mod relu_sum_of_products {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 2;
        let mut s = 0.0;
        for i in 0..n {
            let mut a = 0.0;
            for j in 0..n {
                a += x[j] * x[n + (i + j) % n] - 0.3;
            }
            if a > 0.0 {
                s += a * a;
            }
        }
        s
    }
}

mod two_hinges_shared {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() {
            let d = (x[i] - x[i - 1]).sin();
            let a = if d > 0.1 { d - 0.1 } else { 0.0 };
            let b = if d < -0.1 { -0.1 - d } else { 0.0 };
            s += a * a + b * b * x[i] + a * x[0];
        }
        s
    }
}

mod condition_from_arm {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut gate = 0.0;
        let mut s = 0.0;
        for v in x {
            gate = if gate > 0.3 { gate * 0.5 } else { v * v };
            s += if gate > 0.2 { gate * v } else { 0.0 };
        }
        s + gate
    }
}

mod early_zero_return {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            s += v;
        }
        if s < 1.5 {
            return 0.0;
        }
        s * s.ln()
    }
}

mod smoothstep {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        x.iter()
            .map(|v| {
                let t = (v - 0.3) / 0.5;
                if t <= 0.0 {
                    0.0
                } else if t >= 1.0 {
                    1.0
                } else {
                    t * t * (3.0 - 2.0 * t)
                }
            })
            .fold(0.5, |a, b| a * 0.7 + b * b)
    }
}

mod dead_arm_overwrites {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let mut t = v.exp();
            if *v < 0.5 {
                t = 0.0;
            }
            s += t * v;
            if s > 3.0 {
                s = 1.0;
            }
        }
        s
    }
}

mod tuple_arm {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let (a, b) = if *v > 0.6 { (v * v, v.sqrt()) } else { (0.0, 1.0) };
            s += a * b + b;
        }
        s
    }
}

mod array_arm {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let a = if *v > 0.5 { [*v, v * v, 0.0] } else { [0.0, 1.0, *v] };
            for k in 0..3 {
                s += a[k] * a[(k + 1) % 3] * x[0];
            }
        }
        s
    }
}

mod early_exit_in_list {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = Vec::new();
        for v in x {
            y.push(if *v > 0.4 { v.ln() } else { 0.0 });
            if y.len() > 4 {
                break;
            }
        }
        let mut s = 0.0;
        for i in 0..y.len() {
            s += y[i] * x[i];
        }
        s
    }
}

mod cut_force {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut f = vec![[0.0; 3]; n];
        let mut e = 0.0;
        for i in 0..n {
            for j in i + 1..n {
                let mut d = [0.0; 3];
                let mut r2 = 0.0;
                for k in 0..3 {
                    d[k] = x[3 * i + k] - x[3 * j + k];
                    r2 += d[k] * d[k];
                }
                if r2 < 0.6 && r2 > 0.001 {
                    let g = 1.0 / (r2 + 0.1);
                    e += g;
                    for k in 0..3 {
                        f[i][k] += g * d[k];
                        f[j][k] -= g * d[k];
                    }
                }
            }
        }
        for v in &f {
            e += 0.1 * (v[0] * v[0] + v[1] * v[2]);
        }
        e
    }
}

mod hypot_zero {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(2) {
            let r = w[0].hypot(w[1]);
            s += if r > 0.0 { w[0] / r } else { 0.0 };
        }
        s
    }
}
