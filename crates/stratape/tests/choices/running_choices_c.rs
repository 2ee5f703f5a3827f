//! Running choices in loops: a winner, and what is kept with it.

programs! {
    viterbi: 9, dtw: 8, negated_condition: 6, and_condition: 8, or_condition: 8, winner_reset: 8,
    winner_of_two_lists: 8, keep_previous: 6, payload_accumulates: 6, payload_expression_after: 6,
    break_on_winner: 6, while_loop: 6, loop_loop: 6, labelled: 9, is_some_and: 6, map_or: 6, min_by_total: 6,
    reduce_pairs: 6, fold_tuple: 6, softmax_shift: 6, hard_tanh_pool: 8, running_max_list: 6,
    checkpoint_winner_list: 8, parallel_nearest: 8,
}

mod viterbi {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const S: usize = 3;
        let mut v = [x[0], x[1], x[2]];
        let mut back = [0.0; 3];
        for t in 1..x.len() / S {
            let mut w = [0.0; 3];
            for s in 0..S {
                let mut best = f64::NEG_INFINITY;
                for p in 0..S {
                    let c = v[p] * (1.0 + 0.1 * x[p]) - 0.2 * (s as f64 - p as f64).abs();
                    if c > best {
                        best = c;
                        back[s] = x[p];
                    }
                }
                w[s] = best + x[S * t + s] * back[s];
            }
            v = w;
        }
        v[0].max(v[1]).max(v[2]) + back[0] * back[1]
    }
}

mod dtw {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 2;
        let (a, b) = x.split_at(n);
        let mut d = vec![vec![f64::INFINITY; n + 1]; n + 1];
        d[0][0] = 0.0;
        for i in 1..=n {
            for j in 1..=n {
                let c = (a[i - 1] - b[j - 1]) * (a[i - 1] - b[j - 1]);
                let mut m = d[i - 1][j - 1];
                if d[i - 1][j] < m {
                    m = d[i - 1][j];
                }
                if d[i][j - 1] < m {
                    m = d[i][j - 1];
                }
                d[i][j] = c + m;
            }
        }
        d[n][n].sqrt()
    }
}

mod negated_condition {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 3.0;
        for v in x {
            let d = v * v - v;
            if !(d >= best) {
                best = d;
                c = v * 2.0;
            }
        }
        best * c
    }
}

mod and_condition {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 3.0;
        for w in x.chunks_exact(2) {
            if w[0] > 0.3 && w[1] < best {
                best = w[1];
                c = w[0] * w[1];
            }
        }
        if c < 2.5 { best * c } else { x[0] }
    }
}

mod or_condition {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.7;
        let mut c = 3.0;
        for w in x.chunks_exact(2) {
            if w[0] > 0.8 || w[1] < best {
                best = w[1] * w[0];
                c = w[0] + c * 0.1;
            }
        }
        best * c
    }
}

mod winner_reset {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        let mut s = 0.0;
        for i in 0..x.len() {
            if i % 3 == 0 && i > 0 {
                s += best * c;
                best = f64::INFINITY;
                c = 0.0;
            }
            if x[i] < best {
                best = x[i];
                c = x[i] * x[0];
            }
        }
        s + c
    }
}

mod winner_of_two_lists {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = x.split_at(x.len() / 2);
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for v in a {
            if *v < best {
                best = *v;
                c = v * 3.0;
            }
        }
        for v in b {
            if *v < best {
                best = *v;
                c = v.sin() * c;
            }
        }
        best * c + c
    }
}

mod keep_previous {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = x[0];
        let mut last = 0.0;
        for i in 1..x.len() {
            if x[i] > best {
                last = best;
                best = x[i];
            }
        }
        best * best - last * x[0]
    }
}

mod payload_accumulates {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = -1.0;
        let mut sum = 0.0;
        let mut n = 0.0;
        for v in x {
            if *v > best {
                best = *v;
                sum += v * v;
                n += 1.0;
            }
        }
        if n > 0.0 { sum / n } else { sum }
    }
}

mod payload_expression_after {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for v in x {
            let e = v.exp();
            let d = (e - 2.0) * (e - 2.0);
            if d < best {
                best = d;
                c = e;
            }
        }
        (c * best).sin() + c.ln() * x[0]
    }
}

mod break_on_winner {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut c = x[0] * 0.5;
        let mut t = 0.0;
        for v in x {
            t += v * 0.3;
            if t > 0.6 {
                c = v * t;
                break;
            }
            c += 0.1 * t;
        }
        c * t
    }
}

mod while_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut i = 0;
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        while i < x.len() {
            let d = x[i] * x[i] - 0.5 * x[i];
            if d < best {
                best = d;
                c = x[i] * d;
                i += 1;
            } else {
                i += 2;
            }
        }
        best + c
    }
}

mod loop_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut i = 0;
        let mut best = 0.0;
        let mut c = 0.0;
        let out = loop {
            if i >= x.len() {
                break best * 2.0;
            }
            if x[i] > best {
                best = x[i];
                c = best * x[i];
                if best > 0.95 {
                    break c;
                }
            }
            i += 1;
        };
        out + c
    }
}

mod labelled {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        'rows: for i in 0..x.len() / 3 {
            let mut d = 0.0;
            for k in 0..3 {
                d += x[3 * i + k] * x[k];
                if d > best {
                    continue 'rows;
                }
            }
            best = d;
            c = x[3 * i] * d;
        }
        best.min(50.0) + c
    }
}

mod is_some_and {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<f64> = None;
        let mut c = 0.5;
        for v in x {
            if best.is_none_or(|b| v * v > b) {
                best = Some(v * v);
                c = v.sin();
            }
        }
        c * best.unwrap_or(0.0)
    }
}

mod map_or {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<(usize, f64)> = None;
        for (i, v) in x.iter().enumerate() {
            let s = v * (3.0 - i as f64);
            if best.map_or(true, |(_, b)| s < b) {
                best = Some((i, s));
            }
        }
        if let Some((i, s)) = best { s * x[i] } else { 0.0 }
    }
}

mod min_by_total {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a = x
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0.0, |(i, v)| v * i as f64);
        let b =
            x.iter().map(|v| (v - 0.5) * (v - 0.5)).max_by(|a, b| a.total_cmp(b)).unwrap_or(0.0);
        a + b * b
    }
}

mod reduce_pairs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let best = x.iter().map(|v| (v * v, v * 3.0)).reduce(|a, b| if b.0 < a.0 { b } else { a });
        best.map_or(0.0, |(d, c)| d * c)
    }
}

mod fold_tuple {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (m, c, n) = x.iter().fold((f64::INFINITY, 0.0, 0), |(m, c, n), v| {
            if *v < m { (*v, v * v, n + 1) } else { (m, c + 0.1 * v, n) }
        });
        m * c + n as f64
    }
}

mod softmax_shift {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = x[0];
        for i in 1..x.len() {
            if x[i] > m {
                m = x[i];
            }
        }
        let mut z = 0.0;
        for v in x {
            z += (v - m).exp();
        }
        let mut e = 0.0;
        for v in x {
            let p = (v - m).exp() / z;
            e -= p * p.ln();
        }
        e
    }
}

mod hard_tanh_pool {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for w in x.chunks_exact(4) {
            let mut m = -1.0;
            let mut a = 0.0;
            for k in 0..4 {
                let h = if w[k] > 0.8 {
                    0.8
                } else if w[k] < -0.8 {
                    -0.8
                } else {
                    w[k]
                };
                if h > m {
                    m = h;
                    a = w[k] * h;
                }
            }
            s += m * a;
        }
        s
    }
}

mod running_max_list {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = x[0];
        let mut y = vec![0.0; x.len()];
        for i in 0..x.len() {
            if x[i] > m {
                m = x[i];
            }
            y[i] = m * x[i];
        }
        let mut depth = 0.0;
        for i in 0..y.len() {
            if y[i] - x[i] > depth {
                depth = y[i] - x[i];
            }
        }
        depth + y[y.len() - 1]
    }
}

mod checkpoint_winner_list {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        let mut best = f64::NEG_INFINITY;
        let mut c = 0.0;
        #[checkpoint(slots = 2)]
        for t in 0..6 {
            let mut s = 0.0;
            for i in 0..y.len() {
                y[i] = 0.7 * y[i] + 0.3 * y[(i + 1) % y.len()].sin();
                s += y[i] * (((i + t) % 3) as f64);
            }
            if s > best {
                best = s;
                c = y[0] * s;
            }
        }
        best + c
    }
}

mod parallel_nearest {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const K: usize = 3;
        let mut y = vec![0.0; x.len()];
        #[parallel]
        for i in 0..x.len() {
            let (mut best, mut c, mut k) = (f64::INFINITY, 0.0, 0);
            for j in 0..K {
                let d = (x[i] - 0.35 * (j as f64)) * (x[i] - 0.35 * (j as f64)) + 0.01 * x[j];
                if d < best {
                    best = d;
                    c = x[j] * d;
                    k = j;
                }
            }
            y[i] = best * x[k] + c;
        }
        y.iter().zip(x).map(|(a, b)| a * b).sum()
    }
}
