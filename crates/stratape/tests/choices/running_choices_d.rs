//! Running choices in loops: a winner, and what is kept with it.

programs! {
    winner_with_count: 6, tie_average: 6, first_flag: 6, payload_only_in_one: 6, prev_best_in_payload: 6,
    clamp_winner: 6, max_of_abs: 6, bool_payload: 6, two_payload_sources: 6,
}

mod winner_with_count {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut n = 0;
        for v in x {
            if *v < best {
                best = *v;
                n += 1;
            }
        }
        best * (n as f64) + best.powi(n)
    }
}

mod tie_average {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        let mut sum = 0.0;
        let mut n = 0.0;
        for v in x {
            if *v > best {
                best = *v;
                sum = v * v;
                n = 1.0;
            } else if *v == best {
                sum += v * v;
                n += 1.0;
            }
        }
        if n > 0.0 { sum / n } else { 0.0 }
    }
}

mod first_flag {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut first = true;
        let mut best = 0.0;
        let mut c = 0.0;
        for v in x {
            let d = v * v - v;
            if first || d < best {
                best = d;
                c = v * d;
                first = false;
            }
        }
        best + c
    }
}

mod payload_only_in_one {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let (mut c, mut d) = (0.0, 0.0);
        for v in x {
            if *v < best {
                best = *v;
                if *v > 0.4 {
                    c = v * v;
                } else {
                    d = v * 3.0;
                }
            }
        }
        best * c + d
    }
}

mod prev_best_in_payload {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = 2.0;
        let mut gain = 0.0;
        for v in x {
            if *v < best {
                gain = (best - v) * (best - v);
                best = *v;
            }
        }
        gain * best
    }
}

mod clamp_winner {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = -1.0;
        let mut c = 0.0;
        for v in x {
            let d = v.clamp(0.25, 0.75) * v;
            if d > best {
                best = d;
                c = v.abs();
            }
        }
        best * c
    }
}

mod max_of_abs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = 0.0;
        for i in 1..x.len() {
            let d = (x[i] - x[i - 1]).abs();
            if d > m {
                m = d;
            }
        }
        m
    }
}

mod bool_payload {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut left = false;
        let mut n = 7_usize;
        for (i, v) in x.iter().enumerate() {
            let d = (v - 0.5) * (v - 0.5);
            if d < best {
                best = d;
                left = *v < 0.5;
                n = n * 3 + i;
            }
        }
        if left { best * 2.0 } else { best * (n % 5) as f64 + x[n % x.len()] }
    }
}

mod two_payload_sources {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        let mut c = 0.0;
        let mut last = x[0];
        for v in x {
            let t = last * v;
            last = t + 0.5;
            if t < best {
                best = t;
                c = last;
            }
        }
        c * last + best
    }
}
