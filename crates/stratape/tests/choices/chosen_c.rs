//! Choices whose payload is a struct, an enum or a list, in programs as people write them.

programs! {
    superbee: 7, contact: 6, friction: 6, plastic: 6, relu_bias: 9, attention_max: 9, dropout_mask: 8,
    batch_norm: 7, lstm_gate: 6, ctc: 8, hinge_multi: 9, triplet: 9, contrastive: 8, iou: 8, nms: 9,
    gated_sum: 7, quantile: 7, epsilon_svr: 7, poisson_nll: 7, ordinal: 6, tukey: 7, winner_in_while_let: 7,
    peek_best: 7,
}

mod superbee {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(3) {
            let r = (w[1] - w[0]) / (w[2] - w[1]);
            let p = if r.is_finite() { (2.0 * r).min(1.0).max(r.min(2.0)).max(0.0) } else { 0.0 };
            s += p * w[1];
        }
        s
    }
}

mod contact {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut q, mut v, mut e) = (x[0], x[1] - 1.0, 0.0);
        for i in 0..12 {
            let gap = q - 0.1 * x[2];
            let force = if gap < 0.0 { -x[3] * 20.0 * gap } else { 0.0 };
            v += 0.1 * (force - x[4]);
            q += 0.1 * v;
            e += if i % 3 == 0 { force * force * 0.01 } else { 0.0 };
        }
        q + e * x[5]
    }
}

mod friction {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = x[0];
        let mut q = 0.0;
        for i in 1..x.len() {
            let push = x[i] - 0.5;
            if v.abs() < 0.05 && push.abs() < 0.2 {
                v = 0.0;
                continue;
            }
            let mu = if v > 0.0 {
                0.1
            } else if v < 0.0 {
                -0.1
            } else {
                0.0
            };
            v += 0.5 * (push - mu * (1.0 + v * v));
            q += v;
        }
        q * q + v
    }
}

mod plastic {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut ep, mut alpha, mut s) = (0.0, 0.0, 0.0);
        for v in x {
            let strain = v * 0.8 - 0.2;
            let trial = 10.0 * (strain - ep);
            let y = 2.0 + alpha;
            let g = trial.abs() - y;
            if g > 0.0 {
                let d = g / 11.0;
                let sign = if trial > 0.0 { 1.0 } else { -1.0 };
                ep += d * sign;
                alpha += d;
                s += (trial - 10.0 * d * sign) * strain;
            } else {
                s += trial * strain;
            }
        }
        s + alpha
    }
}

mod relu_bias {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const IN: usize = 2;
        const HID: usize = 2;
        let (w, rest) = x.split_at(IN * HID);
        let mut loss = 0.0;
        for s in 0..3 {
            let input = [0.3 * s as f64, rest[s]];
            let mut out = rest[3];
            for h in 0..HID {
                let mut a = rest[4] - 0.5;
                for i in 0..IN {
                    a += w[IN * h + i] * input[i];
                }
                out += if a > 0.0 { a * w[h] } else { 0.0 };
            }
            loss += (out - 0.7) * (out - 0.7);
        }
        loss
    }
}

mod attention_max {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const D: usize = 3;
        let n = x.len() / D;
        let mut o = 0.0;
        for q in 0..n {
            let mut s = vec![0.0; n];
            let mut m = f64::NEG_INFINITY;
            for k in 0..n {
                for d in 0..D {
                    s[k] += x[D * q + d] * x[D * k + d];
                }
                if s[k] > m {
                    m = s[k];
                }
            }
            let mut z = 0.0;
            for k in 0..n {
                s[k] = (s[k] - m).exp();
                z += s[k];
            }
            for k in 0..n {
                o += s[k] / z * x[D * k + q % D];
            }
        }
        o
    }
}

mod dropout_mask {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mask = [true, false, true, true];
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate() {
            if !mask[i % 4] {
                continue;
            }
            s += v * x[(i + 1) % x.len()];
        }
        s
    }
}

mod batch_norm {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() as f64;
        let m = x.iter().sum::<f64>() / n;
        let var = x.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / n;
        let sd = if var > 1.0e-12 { var.sqrt() } else { 1.0 };
        x.iter().enumerate().map(|(i, v)| ((v - m) / sd).max(0.0) * i as f64).sum()
    }
}

mod lstm_gate {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut h, mut c) = (0.0, 0.0);
        for v in x {
            let mut g = [0.0; 4];
            for k in 0..4 {
                g[k] = x[k % x.len()] * v + (0.5 - 0.2 * k as f64) * h;
            }
            for k in 0..3 {
                g[k] = 1.0 / (1.0 + (-g[k]).exp());
            }
            c = g[0] * c + g[1] * g[3].tanh();
            h = g[2] * c.tanh();
        }
        h + c
    }
}

mod ctc {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = [f64::NEG_INFINITY; 3];
        a[0] = 0.0;
        for t in 0..x.len() / 2 {
            let mut b = [f64::NEG_INFINITY; 3];
            for s in 0..3 {
                let mut m = a[s];
                if s > 0 && a[s - 1] > m {
                    m = a[s - 1];
                }
                if m == f64::NEG_INFINITY {
                    continue;
                }
                let mut z = (a[s] - m).exp();
                if s > 0 {
                    z += (a[s - 1] - m).exp();
                }
                b[s] = m + z.ln() + x[2 * t + s % 2];
            }
            a = b;
        }
        a[2] + a[0] * a[1]
    }
}

mod hinge_multi {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut loss = 0.0;
        for (s, c) in x.chunks_exact(3).enumerate() {
            let y = s % 3;
            let mut worst = 0.0;
            for j in 0..3 {
                if j == y {
                    continue;
                }
                let m = c[j] - c[y] + 0.5;
                if m > worst {
                    worst = m;
                }
            }
            loss += worst * worst;
        }
        loss
    }
}

mod triplet {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, rest) = x.split_at(3);
        let (p, n) = rest.split_at(3);
        let (mut dp, mut dn) = (0.0, 0.0);
        for k in 0..3 {
            dp += (a[k] - p[k]).powi(2);
            dn += (a[k] - n[k]).powi(2);
        }
        let l = dp.sqrt() - dn.sqrt() + 0.2;
        if l > 0.0 { l } else { 0.0 }
    }
}

mod contrastive {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut loss = 0.0;
        for i in 0..x.len() {
            for j in 0..i {
                let d2 = (x[i] - x[j]) * (x[i] - x[j]);
                loss += if (i + j) % 2 == 0 {
                    d2
                } else {
                    let d = d2.sqrt();
                    if d < 0.4 { (0.4 - d) * (0.4 - d) } else { 0.0 }
                };
            }
        }
        loss
    }
}

mod iou {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut inter, mut a, mut b) = (1.0, 1.0, 1.0);
        for k in 0..2 {
            let (l, r) = (x[k], x[k] + x[2 + k]);
            let (m, q) = (x[4 + k], x[4 + k] + x[6 + k]);
            let w = r.min(q) - l.max(m);
            inter *= if w > 0.0 { w } else { 0.0 };
            a *= r - l;
            b *= q - m;
        }
        let u = a + b - inter;
        if u > 0.0 { inter / u } else { 0.0 }
    }
}

mod nms {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut keep: Vec<f64> = Vec::new();
        let mut total = 0.0;
        for v in x {
            let mut clash = false;
            for k in &keep {
                if (v - k).abs() < 0.15 {
                    clash = true;
                    break;
                }
            }
            if clash {
                continue;
            }
            keep.push(*v);
            total += v * v * keep.len() as f64;
        }
        total
    }
}

mod gated_sum {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        let mut run = 0.0;
        for v in x {
            run = if *v > 0.5 { run + v } else { 0.0 };
            s += run * run;
        }
        s
    }
}

mod quantile {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let q = x[0];
        let mut s = 0.0;
        for v in &x[1..] {
            let e = v - q;
            s += if e >= 0.0 { 0.9 * e } else { -0.1 * e };
        }
        s
    }
}

mod epsilon_svr {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.windows(2) {
            let e = (w[1] - w[0]).abs() - 0.1;
            if e <= 0.0 {
                continue;
            }
            s += e * w[0];
        }
        s
    }
}

mod poisson_nll {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for (i, v) in x.iter().enumerate() {
            let rate = v.exp() * x[0];
            let k = (i % 3) as f64;
            s += rate - if k > 0.0 { k * rate.ln() } else { 0.0 };
        }
        s
    }
}

mod ordinal {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let cuts = [-0.5, x[0], x[0] + x[1] * x[1]];
        let cdf = |t: f64| 1.0 / (1.0 + (-t).exp());
        let mut nll = 0.0;
        for (i, v) in x.iter().enumerate() {
            let k = i % 4;
            let hi = if k == 3 { 1.0 } else { cdf(cuts[k] - v) };
            let lo = if k == 0 { 0.0 } else { cdf(cuts[k - 1] - v) };
            nll -= (hi - lo + 1.0e-3).abs().ln();
        }
        nll
    }
}

mod tukey {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let c = 0.5;
        let m = x[0];
        let (mut s, mut w) = (0.0, 0.0);
        for v in x {
            let u = (v - m * 0.9) / c;
            let u2 = u * u;
            let k = if u2 < 1.0 { (1.0 - u2) * (1.0 - u2) } else { 0.0 };
            s += k * v;
            w += k;
        }
        if w > 0.0 { s / w } else { m }
    }
}

mod winner_in_while_let {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut it = x.iter();
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        while let Some(v) = it.next() {
            let d = v * v - v;
            if d < best {
                best = d;
                if let Some(w) = it.next() {
                    c = w * v;
                }
            }
        }
        best * 2.0 + c
    }
}

mod peek_best {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut it = x.iter().peekable();
        let mut best = 0.0;
        let mut c = 1.0;
        while let Some(v) = it.next() {
            let d = match it.peek() {
                Some(w) => v * **w,
                None => v * 0.5,
            };
            if d > best {
                best = d;
                c = *v;
            }
        }
        best * c
    }
}
