//! Branches with a constant in one arm, and symmetric expressions that are shared.

programs! {
    sparse_skip: 6, step_gate: 6, dropout_like: 6, first_hit: 6, wall: 6, piecewise_three: 6, nested_cut: 9,
    reach_back: 6, abs_by_hand: 5, sign_by_hand: 5, triple_and: 7, either_or: 7, xor_arms: 6, zero_length_vec:
    6,
}

mod sparse_skip {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = vec![0.0; x.len()];
        for i in 0..x.len() {
            let a = x[i];
            if a == 0.0 {
                continue;
            }
            for j in 0..x.len() {
                y[j] += a * x[(i + j) % x.len()];
            }
        }
        let mut s = 0.0;
        for v in y {
            s += v.tanh();
        }
        s
    }
}

mod step_gate {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h = 0.0;
        let mut c = 0.5;
        for v in x {
            let g = if h + v > 0.7 { 1.0 } else { 0.0 };
            c = c * (1.0 - g) + g * v * c;
            h = c * v;
        }
        h + c
    }
}

mod dropout_like {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let keep = (i * 7 + 3) % 5 > 1;
            let v = if keep { x[i] / 0.6 } else { 0.0 };
            s += v * v + if keep { 0.0 } else { v * x[0] };
        }
        s
    }
}

mod first_hit {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut t = 0.0;
        let mut hit = 0.0;
        let mut done = false;
        for v in x {
            if done {
                continue;
            }
            t += v * 0.4;
            if t > 0.7 {
                hit = t * v;
                done = true;
            }
        }
        if done { hit } else { 0.0 }
    }
}

mod wall {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut q, mut v) = (x[0], x[1]);
        for i in 2..x.len() {
            v -= 0.3 * x[i];
            q += 0.3 * v;
            if q < 0.0 {
                q = 0.0;
                v = -0.8 * v;
            } else if q > 1.0 {
                q = 1.0;
                v = 0.0;
            }
        }
        q * q + v
    }
}

mod piecewise_three {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let t = v * v;
            if t < 0.1 {
                s += 0.0;
            } else if t < 0.3 {
                s += t * s;
            } else if t < 0.6 {
                s = 1.0;
            } else {
                s += t.sqrt();
            }
        }
        s
    }
}

mod nested_cut {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut e = 0.0;
        for i in 0..n {
            for j in 0..n {
                if j == i {
                    continue;
                }
                let a = x[3 * i] - x[3 * j];
                if a.abs() > 0.5 {
                    continue;
                }
                let b = x[3 * i + 1] - x[3 * j + 1];
                let r = a * a + b * b;
                if r > 0.3 {
                    continue;
                }
                for k in 0..n {
                    if k == i || k == j {
                        continue;
                    }
                    let c = x[3 * k + 2] * r;
                    e += if c > 0.05 { c * a } else { 0.0 };
                }
                e += r;
            }
        }
        e
    }
}

mod reach_back {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = vec![0.0; x.len()];
        let mut s = 0.0;
        for i in 0..x.len() {
            y[i] = if x[i] > 0.5 { x[i] * x[i] } else { 0.0 };
            let back = if i >= 2 { y[i - 2] } else { 0.0 };
            s += if back > 0.3 { back * y[i] } else { back };
        }
        s
    }
}

mod abs_by_hand {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let d = v - 0.5;
            s += if d < 0.0 { -d } else { d };
            s *= if d == 0.0 { 0.0 } else { 1.1 };
        }
        s
    }
}

mod sign_by_hand {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let g = if *v > 0.5 {
                1.0
            } else if *v < 0.3 {
                -1.0
            } else {
                0.0
            };
            s += g * v * v - g * 0.2 + v.signum() * 0.1;
        }
        s
    }
}

mod triple_and {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 2..x.len() {
            let (a, b, c) = (x[i], x[i - 1] * x[i], x[i - 2]);
            s += if a > 0.3 && b > 0.2 && c < 0.9 { a * b * c } else { 0.0 };
            if a + b > 0.5 && !(c > 0.6) {
                s += b.sqrt();
            }
        }
        s
    }
}

mod either_or {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() {
            let (a, b) = (x[i].exp(), x[i - 1].sin());
            let t = if a > 2.0 || b > 0.6 { a * b } else { 0.0 };
            let u = if t == 0.0 || i % 2 == 0 { a + b } else { t };
            s += t * u;
        }
        s
    }
}

mod xor_arms {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() {
            let flip = (x[i] > 0.5) ^ (x[i - 1] > 0.5);
            let same = (x[i] > 0.5) == (x[0] > 0.5);
            s += if flip { x[i] * x[i - 1] } else { 0.0 };
            s += if same & flip { 0.0 } else { x[i].sqrt() };
        }
        s
    }
}

mod zero_length_vec {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let y: Vec<f64> = x.iter().copied().filter(|v| *v > 0.6).collect();
        let m = if y.is_empty() { 0.0 } else { y.iter().sum::<f64>() / y.len() as f64 };
        let mut s = 0.0;
        for v in &y {
            s += (v - m) * (v - m);
        }
        if y.len() > 1 { (s / (y.len() - 1) as f64).sqrt() } else { m }
    }
}
