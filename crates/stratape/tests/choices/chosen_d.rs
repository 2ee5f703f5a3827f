//! Choices whose payload is a struct, an enum or a list, in programs as people write them.

programs! {
    chunk_argmax: 9, two_level_break: 9, keep_two_lists: 8, winner_then_loop: 8, flags: 7, carry_option_pair:
    7, winner_negated: 7, running_ratio: 6, last_above: 6, first_above: 6, closest_zero_cross: 7,
    winner_by_ints: 8, winner_const_payload: 6, three_way: 7, nested_if_update: 7, double_update: 7,
    update_then_use: 7, payload_swap: 7, shared_square: 7, winner_from_array: 8, best_of_calls: 6,
    early_out_all: 6, weights_by_rank: 6,
}

mod chunk_argmax {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut out = 0.0;
        for c in x.chunks_exact(3) {
            let mut k = 0;
            for j in 1..3 {
                if c[j] > c[k] {
                    k = j;
                }
            }
            out += c[k] * c[(k + 1) % 3] * x[k];
        }
        out
    }
}

mod two_level_break {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut p = x[0];
        'all: for i in 0..x.len() / 3 {
            for j in 0..3 {
                let d = (x[3 * i + j] - p).abs() + 0.1 * x[j];
                if d < best {
                    best = d;
                    p = p * 0.5 + x[3 * i + j];
                }
                if best < 0.12 {
                    break 'all;
                }
            }
        }
        best * p
    }
}

mod keep_two_lists {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let mut lo = vec![0.0; n];
        let mut hi = vec![0.0; n];
        let (mut a, mut b) = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..n {
            a = if x[i] < a { x[i] } else { a };
            b = if x[n - 1 - i] > b { x[n - 1 - i] } else { b };
            lo[i] = a;
            hi[n - 1 - i] = b;
        }
        let mut s = 0.0;
        for i in 0..n {
            s += (hi[i] - lo[i]) * x[i];
        }
        s
    }
}

mod winner_then_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let mut shift = 0.0;
        for w in x.windows(2) {
            let d = w[0] - w[1];
            if d > best {
                best = d;
                shift = w[0] * w[1];
            }
        }
        let mut s = 0.0;
        for v in x {
            let e = v - shift;
            s += if e > 0.0 { e * e } else { 0.1 * best };
        }
        s
    }
}

mod flags {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut up = x[0] > 0.5;
        let mut s = 0.0;
        let mut turn = x[0];
        for i in 1..x.len() {
            let now = x[i] > x[i - 1];
            if now != up {
                s += (x[i - 1] - turn).abs() * x[i];
                turn = x[i - 1];
                up = now;
            }
        }
        s + turn
    }
}

mod carry_option_pair {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<(f64, Option<f64>)> = None;
        for v in x {
            let s = (v - 0.4) * (v - 0.4);
            best = match best {
                None => Some((s, None)),
                Some((b, p)) if s < b => Some((s, Some(b * v + p.unwrap_or(0.1)))),
                other => other,
            };
        }
        best.map_or(0.0, |(b, p)| b + p.unwrap_or(1.0))
    }
}

mod winner_negated {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for v in x {
            let d = -v;
            if best > d {
                best = d;
                c = -d * v;
            }
        }
        -best * c
    }
}

mod running_ratio {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut num = x[0];
        let mut den = 1.0;
        for v in x {
            if v * den > num {
                num = *v;
                den = 1.0 + v * v * 0.2;
            }
        }
        num / den
    }
}

mod last_above {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut c = 0.0;
        let mut t = 0.0;
        for v in x {
            t += v * 0.2;
            if *v > 0.5 {
                c = v * t;
            }
        }
        c * c + t
    }
}

mod first_above {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut c = None;
        for v in x {
            if *v > 0.5 && c.is_none() {
                c = Some(v * v);
            }
        }
        c.unwrap_or(0.0) * x[0]
    }
}

mod closest_zero_cross {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 10.0;
        let mut at = 0.0;
        for (i, w) in x.windows(2).enumerate() {
            let (a, b) = (w[0] - 0.6, w[1] - 0.6);
            if a * b >= 0.0 {
                continue;
            }
            let t = i as f64 + a / (a - b);
            let d = (t - 2.5).abs();
            if d < best {
                best = d;
                at = t;
            }
        }
        at * best
    }
}

mod winner_by_ints {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let keys = [3, 1, 4, 1, 5, 9, 2, 6];
        let mut best = 0;
        let mut c = 0.0;
        for i in 0..x.len() {
            let k = keys[i % 8] * if x[i] > 0.5 { 2 } else { 1 };
            if k > best {
                best = k;
                c = x[i] * x[i] + c * 0.1;
            }
        }
        c * best as f64
    }
}

mod winner_const_payload {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.4;
        let mut c = 0.0;
        for v in x {
            if *v > best {
                best = *v;
                c = 2.0;
            }
        }
        best * c
    }
}

mod three_way {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.5;
        let mut c = 1.0;
        for v in x {
            match v.partial_cmp(&best) {
                Some(std::cmp::Ordering::Greater) => {
                    best = *v;
                    c += v * v;
                }
                Some(std::cmp::Ordering::Equal) => c *= 2.0,
                Some(std::cmp::Ordering::Less) => c -= 0.1 * v,
                None => c = 0.0,
            }
        }
        best * c
    }
}

mod nested_if_update {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.5;
        for (i, v) in x.iter().enumerate() {
            if i % 2 == 0 {
                let d = v * v;
                if d < best {
                    if *v > 0.3 {
                        best = d;
                        c = *v;
                    } else if c > 0.4 {
                        best = d * 1.1;
                        c = d;
                    }
                }
            } else if *v < best {
                best = v * 0.9;
            }
        }
        best * c
    }
}

mod double_update {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for v in x {
            if *v < best {
                best = *v;
                c = v * v;
            }
            if c < best {
                best = c;
                c = v.sqrt();
            }
        }
        best + c
    }
}

mod update_then_use {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut s = 0.0;
        let mut p = 1.0;
        for v in x {
            let d = v * p;
            if d < best {
                best = d;
            }
            p = best * 0.5 + 0.8;
            s += p * d;
        }
        s * best
    }
}

mod payload_swap {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let (mut a, mut b) = (x[0], x[1]);
        for v in x {
            if *v > best {
                best = *v;
                std::mem::swap(&mut a, &mut b);
                a *= v;
            }
        }
        a - b * best
    }
}

mod shared_square {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        let m = x[0] * x[1];
        for i in 0..x.len() - 1 {
            let d = x[i] * x[i + 1];
            if x[i + 1] * x[i] < best {
                best = d;
                c = x[i + 1] * x[i] + x[1] * x[0];
            }
        }
        best * c + m
    }
}

mod winner_from_array {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for c in x.chunks_exact(4) {
            let d = [c[0] * c[1], c[1] * c[2], c[2] * c[3], c[3] * c[0]];
            let mut k = 0;
            for j in 0..4 {
                if d[j] > d[k] {
                    k = j;
                }
            }
            let mut m = d[0];
            for j in 1..4 {
                m = if d[j] < m { d[j] } else { m };
            }
            s += d[k] * m + c[k];
        }
        s
    }
}

mod best_of_calls {
    #[stratape::differentiable]
    fn energy(v: f64, w: f64) -> f64 {
        let mut e = v;
        for _ in 0..3 {
            e = (e * w).sin() + 0.3;
        }
        e
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        for i in 1..x.len() {
            let e = energy(x[i], x[i - 1]);
            let g = energy(x[i - 1], x[i]);
            if e < best {
                best = e;
                c = g;
            } else if g < best {
                best = g;
                c = e * g;
            }
        }
        best * c
    }
}

mod early_out_all {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 0.0;
        for v in x {
            if *v > 0.97 {
                return best * v;
            }
            if *v > best {
                best = *v;
            }
        }
        if best < 0.5 {
            return x[0];
        }
        best * best
    }
}

mod weights_by_rank {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let mut rank = 0;
            for j in 0..x.len() {
                if x[j] < x[i] || x[j] == x[i] && j < i {
                    rank += 1;
                }
            }
            s += x[i] * x[i] * rank as f64;
        }
        s
    }
}
