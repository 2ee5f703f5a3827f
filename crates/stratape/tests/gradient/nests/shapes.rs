//! Programs that save in nests, branches and loops that end when they will, written by people who had not seen the compiler.

#![allow(warnings, clippy::all, reason = "programs as they were written")]

use super::{both_tapes, check};

both_tapes!(nest3, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..3 {
            s = (s * x[i] + b * j as f64).sin() + 0.1 * s;
        }
        y[i] = s * y[i];
    }
    s
});

both_tapes!(zero_trip, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..0 {
            s = s * x[j];
        }
        for j in 5..3 {
            s = s * x[j];
        }
        for j in 2..3 {
            s = (s * x[j] + x[i]).sin();
        }
        for j in 7..=9 {
            s = (s + b * j as f64).cos() * x[i];
        }
        y[i] = s * y[i] + x[i] * s;
    }
    s
});

both_tapes!(rev_inner, |x, y, a, b, n| {
    let mut s = a;
    for i in (0..n).rev() {
        for j in (1..4).rev() {
            s = (s * x[i] + x[j - 1] * j as f64).sin();
        }
        for j in (0..4).step_by(2) {
            s = s.exp().sin() + 0.1 * j as f64;
        }
        y[i] *= s;
    }
    s
});

both_tapes!(inner_exit, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..4 {
            s = (s * x[i] + b).sin();
            if x[i] > 0.6 && j == 1 {
                break;
            }
            s = s * s + 0.1;
        }
        y[i] += s * y[i];
    }
    s
});

both_tapes!(branch_both, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        if x[i] > 0.6 {
            s = (s * x[i]).sin();
            y[i] *= s;
        } else {
            let t = s * b;
            s = t.exp() * 0.3;
            y[i] += s * t * y[i];
        }
    }
    s
});

both_tapes!(branch_one, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        if x[i] > 1.0 {
            s = (s * x[i]).cos() * s;
            s = (s * b).sin();
            let u = s.exp();
            s = u * 0.1 + s * u;
        }
        s = s * 0.9 + 0.05;
        y[i] = s * y[i];
    }
    s
});

both_tapes!(match_in_loop, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..3 {
            s = match (i + j) % 4 {
                0 => (s * x[i]).sin(),
                1 => {
                    let t = s * s;
                    y[i] += t;
                    t * 0.5 + b
                }
                2 if x[i] > 0.6 => s.exp() * 0.3,
                2 => s,
                _ => (s + b).cos() * x[j],
            };
        }
    }
    s
});

both_tapes!(branch_in_inner, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..3 {
            if x[i + j] > 0.7 {
                s = (s * x[i + j]).sin();
            } else {
                s = s.cos() * b;
                s = s * s;
            }
            y[i + j] = y[i + j] * s;
        }
    }
    s
});

both_tapes!(while_loop, |x, y, a, b, n| {
    let mut s = a;
    let mut i = 0;
    while i < n {
        s = (s * x[i]).sin() + b;
        y[i] = s * s * y[i];
        i += 1 + (i % 3);
    }
    s
});

both_tapes!(while_inner, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        let mut c = (x[i] * 10.0) as usize;
        while c > 0 {
            s = (s * x[i] + 0.1 * c as f64).sin();
            c /= 2;
        }
        y[i] = y[i] * s;
    }
    s
});

both_tapes!(labels, |x, y, a, b, n| {
    let mut s = a;
    'rows: for i in 0..n {
        for j in 0..4 {
            s = (s * x[i] + 0.1 * j as f64).sin();
            if x[i] > 0.8 && j == 2 {
                continue 'rows;
            }
            if i > 4000 {
                break 'rows;
            }
            y[i] = y[i] * s;
        }
        s = s * s + b;
    }
    s
});

both_tapes!(rev_end_early, |x, y, a, b, n| {
    let mut s = a;
    for i in (0..n).rev() {
        s = (s * x[i]).sin() + 0.2;
        y[i] = y[i] * s;
        if i < n / 3 && x[i] > 1.0 {
            break;
        }
    }
    s
});

both_tapes!(rev_early_nest, |x, y, a, b, n| {
    let mut s = a;
    for i in (0..n).rev() {
        for j in 0..3 {
            s = (s * x[i + j]).sin() + 0.2;
            if x[i] > 0.7 {
                y[i] = y[i] * s;
            }
        }
        if n - i > 6 && x[i] < 0.4 {
            return s * b;
        }
    }
    s
});

both_tapes!(triangular, |x, y, a, b, n| {
    let m = n.min(60);
    let mut s = a;
    for i in 0..m {
        for j in 0..i {
            s = (s * x[j] + x[i]).sin();
        }
        for j in i..m {
            y[i] = (y[i] * x[j] + s).cos();
        }
    }
    s
});

both_tapes!(array_of_arrays, |x, y, a, b, n| {
    let mut m = [[a, b, 0.1], [0.2, a * b, 0.3], [b, 0.4, 0.5]];
    let mut t = 0.0;
    for i in 0..n {
        let mut q = [[0.0; 3]; 3];
        for r in 0..3 {
            for c in 0..3 {
                for k in 0..3 {
                    q[r][c] += m[r][k] * m[k][c] * x[i + k];
                }
            }
        }
        for r in 0..3 {
            for c in 0..3 {
                m[r][c] = q[r][c].sin() * 0.5 + 0.3;
            }
        }
        t = t * 0.5 + m[i % 3][(i + 1) % 3];
        y[i] = y[i] * t;
    }
    t
});

both_tapes!(closures, |x, y, a, b, n| {
    let g = |s: f64, v: f64| (s * v + b).sin();
    let mut total = a;
    let mut h = |v: f64| {
        total = total * v + 0.1;
        total = total.cos();
        total
    };
    let mut s = 0.3;
    for i in 0..n {
        for j in 0..2 {
            s = g(s, x[i + j]) + h(s);
        }
        y[i] = y[i] * s;
    }
    s
});

both_tapes!(scan, |x, y, a, b, n| {
    let t: f64 = x
        .iter()
        .scan(a, |s, v| {
            *s = (*s * b + v).sin();
            Some(*s * v)
        })
        .sum();
    let q =
        x.iter().take(n).fold(b, |s, v| [0.1, 0.2, 0.3].iter().fold(s, |r, w| (r * v + w).cos()));
    for (i, v) in y.iter_mut().enumerate().take(n) {
        *v = *v * (q * x[i]).exp() * t;
    }
    t * 0.01 + q
});

both_tapes!(two_loops, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        s = (s * x[i]).sin() + 0.1;
        y[i] = y[i] * s;
    }
    let mut i = 0;
    while i + 1 < n {
        s = (s * y[i]).cos();
        i += 2;
    }
    for i in (0..n).rev() {
        for j in 0..2 {
            s = (s * y[i] + x[j]).sin();
        }
        y[i] = s * y[i];
    }
    s * b
});

both_tapes!(large_frame, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n.min(300) {
        for j in 0..4 {
            for k in 0..4 {
                for l in 0..4 {
                    for m in 0..4 {
                        s = (s * x[i] + 0.01 * (j + k + l + m) as f64).sin() + b * 0.1;
                    }
                }
            }
        }
        y[i] = y[i] * s;
    }
    s
});

both_tapes!(frame_in_while, |x, y, a, b, n| {
    let mut s = a;
    let mut t = 0.0;
    let mut i = 0;
    while i < n && t < 1.0e9 {
        for j in 0..3 {
            s = (s * x[i] + x[j]).sin();
            if x[i] > 0.6 {
                s = s.exp() * 0.4;
            } else if j == 1 {
                s = s * s;
            }
        }
        t += s * s;
        y[i] = y[i] * s * t / (1.0 + t);
        i += 1;
    }
    t * 0.001 + s
});

both_tapes!(loop_return, |x, y, a, b, n| {
    let mut s = a;
    let mut i = 0;
    loop {
        if i >= n {
            return s * b;
        }
        s = (s * x[i]).sin() + 0.1;
        if i > 250 && x[i] < 0.4 {
            return s * s;
        }
        for j in 0..2 {
            s = (s * x[i + j]).cos();
        }
        y[i] = y[i] * s;
        i += 1;
    }
});

both_tapes!(branch_skewed, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        if i % 7 == 0 {
            for j in 0..4 {
                for k in 0..4 {
                    s = (s * x[i] + 0.1 * (j * k) as f64).sin();
                }
            }
        } else {
            s = (s * b).cos() + 0.1 * s;
        }
        y[i] = y[i] * s;
    }
    s
});

both_tapes!(indirect, |x, y, a, b, n| {
    let mut s = a;
    let k: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % (n + 1)).collect();
    for i in 0..n {
        for j in 0..2 {
            let q = k[(i + j) % n];
            s = (s * y[q]).sin() + x[q];
            y[q] = y[q] * s * b + 0.2;
            y[q] = y[q].sin();
        }
    }
    s
});

both_tapes!(option_state, |x, y, a, b, n| {
    let mut s = a;
    let mut last: Option<f64> = None;
    for i in 0..n {
        for j in 0..3 {
            match last {
                Some(v) if x[i + j] > 0.5 => {
                    s = (s * v).sin() + b;
                    last = None;
                }
                Some(v) => last = Some(v * s),
                None => last = Some(s * x[i + j]),
            }
        }
        y[i] = y[i] * last.unwrap_or(s);
    }
    s
});

both_tapes!(inner_var_first, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n.min(400) {
        let m = i % 6;
        let t = (s * x[i]).exp() * 0.2;
        for j in 0..m {
            s = (s * x[j] + t).sin();
        }
        for j in 0..2 {
            s = (s * t + x[j]).cos();
        }
        if m == 0 {
            y[i] = y[i] * s;
        } else {
            y[i] *= t * s;
        }
    }
    s * b
});
