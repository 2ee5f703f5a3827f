//! Programs that save in nests, branches and loops that end when they will, written by people who had not seen the compiler, the last of them.

#![allow(warnings, clippy::all, reason = "programs as they were written")]

use super::{both_tapes, check};

both_tapes!(fem, |x, y, a, b, n| {
    let mut e = 0.0;
    for i in 0..n {
        let idx = [i, i + 1, i + 2];
        let mut k = [[0.0; 3]; 3];
        for p in 0..3 {
            for q in 0..3 {
                k[p][q] = (x[idx[p]] * x[idx[q]] * a).exp();
            }
        }
        for p in 0..3 {
            let mut t = 0.0;
            for q in 0..3 {
                t += k[p][q] * y[idx[q]];
            }
            y[idx[p]] = (t * b).sin();
            e += t * t * 0.001;
        }
    }
    e
});

both_tapes!(scratch_across, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        let mut t = [0.0; 4];
        for j in 0..4 {
            t[j] = (s * x[i] + j as f64 * 0.1).sin();
            if j > 0 {
                t[j] *= t[j - 1];
            }
        }
        for j in (1..4).rev() {
            t[j - 1] += t[j] * t[j];
        }
        s = t[0].cos() + b * t[3];
        y[i] = y[i] * t[1] * s;
    }
    s
});

both_tapes!(empty_body_and_unused, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for _ in 0..3 {}
        for j in 0..3 {
            let _unused = (s * x[i + j]).exp();
        }
        for j in 0..2 {
            let t = s * x[i + j];
            if j == 5 {
                s = t;
            }
        }
        s = (s * x[i]).sin() + b;
    }
    y[0] *= s;
    s
});

both_tapes!(inclusive_empty, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 3..=2 {
            s = s * x[j];
        }
        for j in 1..=1 {
            s = (s * x[j]).sin() + b;
        }
        for j in (0..=2).rev() {
            s = (s * x[i + j]).cos();
        }
        for j in 5_i32..=-5 {
            s = s * j as f64;
        }
        y[i] = y[i] * s;
    }
    s
});
