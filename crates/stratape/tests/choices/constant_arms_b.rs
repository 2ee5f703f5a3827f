//! Branches with a constant in one arm, and symmetric expressions that are shared.

programs! {
    nan_guard: 5, inf_guard: 5, max_zero_sum: 6, closure_zero: 6, triangular: 6, assigned_in_arm_then_read: 6,
    add_zero_or: 6, mul_one_or: 6, divide_arm: 6, sym_product: 4, sym_branches: 4, sym_loops: 6,
    sym_difference: 4, sym_nested: 4, sym_mixed_signs: 4, sym_matrix: 6, sym_conditions: 5, sym_min_max: 4,
    sym_across_iterations: 6, sym_after_write: 6, sym_dividing: 4, sym_list: 6, sym_zero_signs: 4,
    sym_functions: 4, constant_then_branch: 6, sigmoid_stable: 5, log1pexp: 5, pool_relu: 8, both_arms_same:
    5, arm_reads_other: 6,
}

mod nan_guard {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let l = (v - 0.3).ln();
            s += if l.is_nan() { 0.0 } else { l * v };
        }
        s
    }
}

mod inf_guard {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let r = 1.0 / v;
            if r.is_finite() {
                s += r * r * 0.01;
            } else {
                s += v;
            }
        }
        s
    }
}

mod max_zero_sum {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += (x[i] - 0.5).max(0.0) * (0.8 - x[i]).max(0.0) + f64::max(0.0, x[i] * s - 0.1);
        }
        s
    }
}

mod closure_zero {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let relu = |v: f64| if v > 0.0 { v } else { 0.0 };
        let knots = [0.2, 0.5, 0.8];
        let mut s = 0.0;
        for v in x {
            for k in 0..3 {
                let b = relu(v - knots[k]);
                s += b * b * b * x[k % x.len()];
            }
        }
        s
    }
}

mod triangular {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate() {
            let c = i as f64 * 0.2;
            let d = (v - c).abs();
            s += if d < 0.2 { 1.0 - d / 0.2 } else { 0.0 };
        }
        s * x[0]
    }
}

mod assigned_in_arm_then_read {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = 0.0;
        let mut s = 0.0;
        for v in x {
            if *v > 0.5 {
                u = v * v;
            }
            s += u * v;
            if s > 1.0 {
                u = 0.0;
            }
        }
        s + u
    }
}

mod add_zero_or {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x[0];
        for v in x {
            s += if s > 0.8 { 0.0 } else { v * s };
        }
        s
    }
}

mod mul_one_or {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x[0];
        for v in x {
            s *= if s < 0.5 { 1.0 } else { *v };
        }
        s
    }
}

mod divide_arm {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 2.0;
        for v in x {
            s /= if *v > 0.5 { 1.0 + v } else { 1.0 };
            s += if *v != 0.0 { 1.0 / (1.0 + v * v) } else { 1.0 };
        }
        s
    }
}

mod sym_product {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = x[0] * x[1];
        let q = x[1] * x[0];
        let a = x[2] + x[3];
        let b = x[3] + x[2];
        p.sin() * q.cos() + a * b + (p + a) * (b + q)
    }
}

mod sym_branches {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b, c, d) = (x[0], x[1], x[2], x[3]);
        let u = if a > b { a * b + c } else { b * a - c };
        let v = if c > d { (b * a).exp() } else { d + c };
        u * v + (c + d) * (a * b)
    }
}

mod sym_loops {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        let n = x.len();
        for i in 0..n {
            for j in 0..n {
                let k = x[i] * x[j];
                let l = x[j] * x[i];
                let m = x[i] + x[j];
                let o = x[j] + x[i];
                s += k.sin() * l + m * o * (x[j] - x[i]) * (x[i] - x[j]);
            }
        }
        s
    }
}

mod sym_difference {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let d = x[0] - x[1];
        let e = x[1] - x[0];
        let q = x[2] / x[3];
        let r = x[3] / x[2];
        d.exp() * e + q * r * q + e * e * d
    }
}

mod sym_nested {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = (x[0] * x[1]) * (x[2] + x[3]);
        let q = (x[3] + x[2]) * (x[1] * x[0]);
        let r = x[1] * x[0] * (x[3] + x[2]);
        p.sqrt() * q + r * q
    }
}

mod sym_mixed_signs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = -x[0] * x[1];
        let q = x[1] * -x[0];
        let r = -(x[0] * x[1]);
        let s = x[2] + -x[3];
        let t = -x[3] + x[2];
        (p + q * r).exp() + s * t * (x[2] - x[3])
    }
}

mod sym_matrix {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] = x[i] * x[j] + x[3 + i] * x[3 + j] + (x[i] + x[j]).sin();
            }
        }
        m[0][1] * m[1][2] * m[2][0] - m[0][0] * m[1][1] + m[2][2] * m[0][2]
    }
}

mod sym_conditions {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() {
            if x[i] * x[i - 1] > 0.3 {
                s += x[i - 1] * x[i];
            }
            if x[i - 1] + x[i] > 1.2 {
                s += (x[i] + x[i - 1]) * (x[i - 1] * x[i]);
            } else {
                s += x[i - 1] * x[i] * s;
            }
        }
        s
    }
}

mod sym_min_max {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = x[0].max(x[1]);
        let b = x[1].max(x[0]);
        let c = x[2].min(x[3]);
        let d = x[3].min(x[2]);
        2.0 * a + 3.0 * b + 5.0 * c + 7.0 * d + a * c + x[0].hypot(x[1]) * x[1].hypot(x[0])
    }
}

mod sym_across_iterations {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut last = 1.0;
        let mut s = 0.0;
        for i in 0..x.len() {
            let p = last * x[i];
            let q = x[i] * last;
            last = p + q;
            s += (x[i] * last) / (last * x[i] + 4.0);
        }
        s
    }
}

mod sym_after_write {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        let mut s = 0.0;
        for i in 1..y.len() {
            let a = y[i] * y[i - 1];
            y[i] += a;
            let b = y[i - 1] * y[i];
            y[i - 1] -= 0.1 * b;
            let c = y[i] * y[i - 1];
            s += a * b + c;
        }
        s
    }
}

mod sym_dividing {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = x[0] * x[1] / x[2];
        let b = x[1] * x[0] / x[2];
        let c = x[1] / x[2] * x[0];
        a * b + c * (x[2] * x[3] + 1.0).recip() - (1.0 + x[3] * x[2]).ln()
    }
}

mod sym_list {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a: Vec<f64> = x.iter().map(|v| v * x[0]).collect();
        let b: Vec<f64> = x.iter().map(|v| x[0] * v).collect();
        a.iter().zip(&b).map(|(p, q)| p * q + q * p + (p + q) * (q + p)).sum()
    }
}

mod sym_zero_signs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = x[0] + 0.0;
        let b = 0.0 + x[0];
        let c = x[1] * 1.0;
        let d = 1.0 * x[1];
        let e = x[2] - 0.0;
        let g = 0.0 - x[2];
        let h = -x[2];
        a * b + c * d.sin() + e * g + 1.0 / (h + 4.0) + (x[3] * 0.0) * a + x[3] * -1.0
    }
}

mod sym_functions {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        fn mean(a: f64, b: f64) -> f64 {
            (a + b) * 0.5
        }
        fn geo(a: f64, b: f64) -> f64 {
            (a * b + 3.0).sqrt()
        }
        mean(x[0], x[1]) * geo(x[2], x[3])
            + mean(x[1], x[0]) / geo(x[3], x[2])
            + geo(x[0], x[1]) * geo(x[1], x[0])
    }
}

mod constant_then_branch {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let a = if *v > 0.7 { 0.0 } else { v * 2.0 };
            let b = if a == 0.0 { v * v } else { a * v };
            s += b;
        }
        s
    }
}

mod sigmoid_stable {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            s += if *v >= 0.0 {
                1.0 / (1.0 + (-v).exp())
            } else {
                let e = v.exp();
                e / (1.0 + e)
            };
        }
        s * s
    }
}

mod log1pexp {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let z = 40.0 * v - 20.0;
            s += if z > 15.0 {
                z
            } else if z < -15.0 {
                0.0
            } else {
                (1.0 + z.exp()).ln()
            };
        }
        s
    }
}

mod pool_relu {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut out = vec![0.0; x.len() / 2];
        for i in 0..out.len() {
            let mut m = 0.0;
            for j in 0..2 {
                let mut c = 0.0;
                for k in 0..2 {
                    c += x[k] * x[(2 * i + j + k) % x.len()] - 0.2;
                }
                if c > m {
                    m = c;
                }
            }
            out[i] = m;
        }
        let mut s = 0.0;
        for i in 0..out.len() {
            s += out[i] * out[i] * (i as f64 + 1.0);
        }
        s
    }
}

mod both_arms_same {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let a = if *v > 0.5 { v * v } else { v * v };
            let b = if *v > 0.5 { a } else { 0.0 };
            let c = if *v > 0.5 { 0.0 } else { a };
            s += b * 2.0 + c * v;
        }
        s
    }
}

mod arm_reads_other {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        let mut p = 0.0;
        for v in x {
            let q = if p > 0.4 { p * v } else { 0.0 };
            let r = if q > 0.1 { 0.0 } else { v * v + q };
            p = if r > 0.0 { r + q } else { 0.5 * q };
            s += p * r + q;
        }
        s
    }
}
