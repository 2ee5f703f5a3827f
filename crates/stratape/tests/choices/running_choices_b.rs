//! Running choices in loops: a winner, and what is kept with it.

programs! {
    writes_what_it_reads: 6, inner_distances: 12, inner_ifs: 8, stepped: 7, zipped: 8, by_windows: 7,
    by_chunks: 8, used_next: 8, checkpointed: 8, no_winner: 5, less_or_equal: 6, winner_index_only: 6,
    winner_index_and_value: 6, nested_winners: 9, winner_of_winners: 9, running_scale: 6, decaying_best: 6,
    swap_best: 6, tuple_assign: 6, array_payload: 8, vec_payload: 8, farthest_then_nearest: 8, margin: 6,
}

mod writes_what_it_reads {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for i in 0..y.len() {
            if y[i] < best {
                best = y[i];
                c = y[i] * x[i];
            }
            if i + 1 < y.len() {
                y[i + 1] = y[i + 1] * y[i] + 0.2 * best;
            }
        }
        y.iter().sum::<f64>() * best + c
    }
}

mod inner_distances {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const DIM: usize = 3;
        let n = x.len() / DIM;
        let mut loss = 0.0;
        for i in 0..n {
            let mut best = f64::MAX;
            let mut w = 0.0;
            for j in 0..n {
                if i == j {
                    continue;
                }
                let mut d = 0.0;
                for k in 0..DIM {
                    let t = x[DIM * i + k] - x[DIM * j + k];
                    d += t * t;
                }
                if d < best {
                    best = d;
                    w = x[DIM * j];
                }
            }
            loss += if n > 1 { best.sqrt() * w } else { 0.0 };
        }
        loss
    }
}

mod inner_ifs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.0;
        let mut c = 0.0;
        for i in 0..x.len() / 2 {
            let (a, b) = (x[2 * i], x[2 * i + 1]);
            let s = if a > b {
                if a > 0.8 { a * b } else { a - b }
            } else if b > 0.6 {
                b * b
            } else {
                0.0
            };
            if s > best {
                best = s;
                c = if a > 0.5 { a * s } else { b };
            }
        }
        best + 2.0 * c * x[0]
    }
}

mod stepped {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let mut c = 0.0;
        for i in (1..x.len()).step_by(2) {
            let v = x[i] * x[i - 1];
            if v > best {
                best = v;
                c = x[i] + v * x[0];
            }
        }
        if best == f64::NEG_INFINITY { x[0] } else { best * c }
    }
}

mod zipped {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (a, b) = x.split_at(x.len() / 2);
        let mut best = f64::INFINITY;
        let mut c = 2.0;
        for (p, q) in a.iter().zip(b) {
            let v = (p - q) * (p - q) + p;
            if v < best {
                best = v;
                c = *q;
            }
        }
        best.min(100.0) * c
    }
}

mod by_windows {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = -1.0;
        let mut c = 0.0;
        for w in x.windows(3) {
            let curv = w[0] - 2.0 * w[1] + w[2];
            if curv.abs() > best {
                best = curv.abs();
                c = w[1] * curv;
            }
        }
        best * c + best
    }
}

mod by_chunks {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.1;
        let mut c = [0.0; 2];
        for w in x.chunks(3) {
            let s: f64 = w.iter().map(|v| v * v).sum();
            if s > best {
                best = s;
                c = [w[0], w[w.len() - 1] * s];
            }
        }
        best * c[0] + c[1]
    }
}

mod used_next {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = x[0];
        let mut cost = 0.0;
        for _ in 0..3 {
            let mut best = f64::INFINITY;
            let mut next = p;
            for i in 1..x.len() {
                let d = (x[i] - p) * (x[i] - p) + 0.05 * x[i];
                if d < best {
                    best = d;
                    next = x[i] * 0.8 + 0.3 * p;
                }
            }
            cost += best;
            p = next * 1.1;
        }
        cost * p
    }
}

mod checkpointed {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = x[0];
        let mut cost = 0.0;
        #[checkpoint(slots = 2)]
        for _ in 0..7 {
            let mut best = 1.0e3;
            let mut next = p;
            for i in 1..x.len() {
                let d = (x[i] - p) * (x[i] - p) + 0.05 * x[i];
                if d < best {
                    best = d;
                    next = x[i] * 0.8 + 0.3 * p;
                }
            }
            cost += best * next;
            p = next * 1.1;
        }
        cost * p
    }
}

mod no_winner {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = -100.0;
        let mut c = x[0] * 7.0;
        for i in 0..x.len() {
            if x[i] < best {
                best = x[i];
                c = x[i] * x[i];
            }
        }
        best + c
    }
}

mod less_or_equal {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for i in 0..x.len() {
            if x[i] <= best {
                best = x[i];
                c = x[i] * (i as f64 + 1.0);
            }
        }
        best * c
    }
}

mod winner_index_only {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut at = 0;
        for i in 0..x.len() {
            if x[i] > x[at] {
                at = i;
            }
        }
        let mut s = 0.0;
        for i in 0..x.len() {
            s += (x[i] - x[at]).exp();
        }
        x[at] + s.ln()
    }
}

mod winner_index_and_value {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut at = x.len();
        let mut best = 0.5;
        for (i, &v) in x.iter().enumerate() {
            if v > best {
                best = v;
                at = i;
            }
        }
        if at < x.len() { x[at] * best } else { best * x[0] }
    }
}

mod nested_winners {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut worst = -1.0;
        let mut keep = 0.0;
        for i in 0..n {
            let mut best = f64::INFINITY;
            let mut k = 0.0;
            for j in 0..3 {
                let d = x[3 * i + j] * (1.0 + x[j]);
                if d < best {
                    best = d;
                    k = x[3 * i + j];
                }
            }
            if best > worst {
                worst = best;
                keep = k * best;
            }
        }
        worst + keep * keep
    }
}

mod winner_of_winners {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut colour = [0.0; 3];
        for i in 0..x.len() {
            for j in 0..i {
                let d = (x[i] - x[j]) * (x[i] - x[j]);
                if d < best {
                    best = d;
                    colour = [x[i], x[j], d];
                    for k in 0..3 {
                        colour[k] *= x[k];
                    }
                }
            }
        }
        colour[0] * colour[1] + colour[2] + best.min(9.0)
    }
}

mod running_scale {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = f64::NEG_INFINITY;
        let mut s = 0.0;
        for v in x {
            if *v > m {
                s = s * (m - v).exp() + 1.0;
                m = *v;
            } else {
                s += (v - m).exp();
            }
        }
        m + s.ln()
    }
}

mod decaying_best {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = x[0];
        let mut c = 0.0;
        for i in 1..x.len() {
            best *= 0.9;
            if x[i] > best {
                best = x[i];
                c = x[i] * x[i - 1];
            }
            c *= 1.1;
        }
        best * best + c
    }
}

mod swap_best {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = x[0];
        let mut b = x[1];
        for i in 2..x.len() {
            let mut v = x[i];
            if v < a {
                std::mem::swap(&mut v, &mut a);
            }
            if v < b {
                std::mem::swap(&mut v, &mut b);
            }
            b += 0.1 * v;
        }
        a * 2.0 + b * a
    }
}

mod tuple_assign {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut best, mut c, mut d) = (f64::INFINITY, 1.0, 2.0);
        for &v in x {
            (best, c, d) = if v < best { (v, v * c, d) } else { (best, c, d + v * best) };
        }
        best + c * d
    }
}

mod array_payload {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut rgb = [0.1, 0.2];
        for i in 0..x.len() - 2 {
            let d = (x[i] - 0.5).abs();
            if d < best {
                best = d;
                rgb[0] = x[i + 1];
                rgb[1] = x[i + 2] * x[i];
            }
        }
        rgb[0] * rgb[1] + best
    }
}

mod vec_payload {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut row = vec![0.0; 2];
        for w in x.chunks_exact(2) {
            let d = w[0] * w[1];
            if d < best {
                best = d;
                row.copy_from_slice(w);
            }
        }
        row[0] * row[0] + row[1] + best
    }
}

mod farthest_then_nearest {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut h = 0.0;
        let mut payload = 0.0;
        for i in 0..x.len() / 2 {
            let mut cmin = f64::INFINITY;
            for j in x.len() / 2..x.len() {
                let d = (x[i] - x[j]) * (x[i] - x[j]);
                if cmin > d {
                    cmin = d;
                }
            }
            if h < cmin {
                h = cmin;
                payload = x[i] * cmin;
            }
        }
        h.sqrt() + payload
    }
}

mod margin {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let y = 2;
        let mut rival = f64::NEG_INFINITY;
        for i in 0..x.len() {
            if i != y && x[i] > rival {
                rival = x[i];
            }
        }
        let m = 1.0 + rival - x[y];
        if m > 0.0 { m * m } else { 0.0 }
    }
}
