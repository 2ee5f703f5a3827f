//! Programs that save in nests, branches and loops that end when they will, written by people who had not seen the compiler, more of them.

#![allow(warnings, clippy::all, reason = "programs as they were written")]

use super::{both_tapes, check};

both_tapes!(swap_elements, |x, y, a, b, n| {
    let mut w = [a, b, 0.3, 0.9];
    for i in 0..n {
        for j in 0..3 {
            w[j] = (w[j] * w[j + 1] * x[i]).sin() + 0.4;
        }
        w.swap(0, i % 4);
        if x[i] > 0.8 {
            w.reverse();
        }
        w.rotate_left(1);
        y[i] = y[i] * w[0] * w[3];
    }
    w[0] * w[1] + w[2] * w[3]
});

both_tapes!(tuple_state, |x, y, a, b, n| {
    let (mut p, mut q, mut c) = (a, b, 0_usize);
    for i in 0..n {
        (p, q, c) = ((p * q + x[i]).sin(), (q * x[c % (n + 1)]).cos(), c + i % 3);
        for j in 0..2 {
            (p, q) = (q * p, p + q * 0.1 + 0.01 * j as f64);
        }
        y[i] = y[i] * p;
    }
    p * q
});

both_tapes!(inner_exit_value, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        let v = 'found: {
            for j in 0..3 {
                s = (s * x[i + j]).sin() + 0.2;
                if x[i + j] > 0.9 {
                    break 'found s * b;
                }
            }
            s * s
        };
        y[i] = y[i] * v;
        s = (s + v).cos();
    }
    s
});

both_tapes!(frame_over_512, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n.min(300) {
        for j in 0..4 {
            for k in 0..4 {
                for l in 0..4 {
                    for m in 0..4 {
                        s = (s * x[i] + 0.01 * (j + k + l + m) as f64).sin() + b * 0.1;
                        y[i] = (y[i] * s).cos();
                        s = s * y[i] + 0.1;
                    }
                }
            }
        }
    }
    s
});

both_tapes!(two_inner_same_frame_branches, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        if i % 2 == 0 {
            for j in 0..3 {
                s = (s * x[i + j]).sin() + 0.2;
                y[i] = y[i] * s;
            }
        } else {
            for j in 0..2 {
                for k in 0..2 {
                    s = (s + x[i + j] * x[i + k]).cos();
                }
            }
            y[i] *= s;
        }
    }
    s + b
});

both_tapes!(while_pages, |x, y, a, b, n| {
    let mut s = a;
    let mut i = 0;
    while i < n.min(400) {
        for j in 0..4 {
            for k in 0..4 {
                for l in 0..4 {
                    for m in 0..4 {
                        s = (s * x[i] + 0.01 * (j * k + l + m) as f64).sin() + b * 0.1;
                        s = s * s + 0.1;
                    }
                }
            }
        }
        y[i] = y[i] * s;
        i += 1;
    }
    s
});

both_tapes!(bools_only, |x, y, a, b, n| {
    let mut w = x.to_vec();
    let mut s = a;
    for i in 0..n {
        if w[i] > 0.6 {
            s += b * i as f64;
        } else {
            s += a;
        }
        w[i] = 0.0;
        w[i + 1] *= 1.0;
        y[i] += s * b;
    }
    s + w[n]
});

both_tapes!(step_by_var, |x, y, a, b, n| {
    let mut s = a;
    let k = 2 + n % 3;
    for i in (0..n).step_by(k) {
        for j in (0..=4).step_by(2) {
            s = (s * x[i] + j as f64 * b).sin();
        }
        for j in (0..3).rev().step_by(2) {
            s = (s + x[i + j]).cos();
        }
        y[i] = y[i] * s;
    }
    s
});

both_tapes!(u8_outer, |x, y, a, b, n| {
    let mut s = a;
    let m = n.min(200) as u8;
    for i in 0..m {
        for j in (0..3_u8).rev() {
            s = (s * x[i as usize + j as usize % 2]).sin() + 0.2;
        }
        y[i as usize] = y[i as usize] * s;
    }
    for i in (0..=m).rev() {
        s = (s * x[i as usize]).cos() * b;
    }
    s
});

both_tapes!(closure_capture_mut_nest, |x, y, a, b, n| {
    let mut hist = [0.0; 3];
    let mut at = 0_usize;
    let mut push = |v: f64| {
        hist[at] = (hist[at] * v).sin() + v;
        at = (at + 1) % 3;
        hist[(at + 1) % 3]
    };
    let mut s = a;
    for i in 0..n {
        for j in 0..3 {
            let q = push(s * x[i + j]);
            if x[i] > 0.5 {
                s = (s + q).cos();
            }
        }
        y[i] = y[i] * s;
    }
    s * b
});

both_tapes!(while_let_stack, |x, y, a, b, n| {
    let mut s = a;
    let mut st = vec![n.min(60)];
    while let Some(k) = st.pop() {
        for j in 0..2 {
            s = (s * x[k + j]).sin() + b;
        }
        y[k] = y[k] * s;
        if k > 1 {
            st.push(k / 2);
            if k % 3 == 0 {
                st.push(k - 1);
            }
        }
    }
    s
});

both_tapes!(peekable, |x, y, a, b, n| {
    let mut s = a;
    let mut it = x.iter().peekable();
    while let Some(v) = it.next() {
        for j in 0..2 {
            s = (s * v + 0.1 * j as f64).sin();
        }
        if let Some(w) = it.peek() {
            if **w > 0.6 {
                s = s * **w + b;
            }
        }
    }
    for v in y.iter_mut().take(n) {
        *v *= s;
        s = s.cos();
    }
    s
});

both_tapes!(vecvec, |x, y, a, b, n| {
    let mut g = vec![vec![a; 4]; 3];
    let mut h = vec![vec![0.0; 4]; 3];
    for i in 0..n {
        for r in 0..3 {
            for c in 0..4 {
                h[r][c] = (g[r][c] * x[i] + g[(r + 1) % 3][(c + 1) % 4]).sin();
            }
        }
        std::mem::swap(&mut g, &mut h);
        let k = i % 3;
        g[k][0] += b * 0.1;
        y[i] = y[i] * g[k][1];
    }
    g.iter().flatten().sum()
});

both_tapes!(five_deep_mixed_branch, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..2 {
            if (i + j) % 3 == 0 {
                for k in 0..2 {
                    if x[i + k] > 0.7 {
                        for l in 0..3 {
                            s = (s * x[i] + 0.1 * l as f64).sin();
                        }
                    } else {
                        s = s * s + b;
                        y[i + k] = (y[i + k] * s).sin();
                    }
                }
            } else if x[i + j] > 0.5 {
                s = (s * b).cos();
            }
            s = s * 0.9 + 0.05;
        }
    }
    s
});

both_tapes!(deferred_let, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        let t;
        let u: f64;
        if x[i] > 0.6 {
            t = (s * x[i]).sin();
            u = t * t;
        } else {
            u = (s + b).cos();
            t = u * s;
        }
        for j in 0..3 {
            s = (t * u + s * x[j]).sin();
        }
        y[i] = y[i] * t * u;
    }
    s
});

both_tapes!(break_outer_for_frames, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..3 {
            s = (s * x[i + j]).sin() + 0.2;
        }
        y[i] = y[i] * s;
        if i == 3 * n / 4 {
            break;
        }
        if x[i] > 0.7 {
            s = s * s;
        }
        s += b;
        s = s.sin();
    }
    s
});

both_tapes!(char_saved, |x, y, a, b, n| {
    let mut s = a;
    let mut best: Option<usize> = None;
    for i in 0..n {
        for j in 0..2 {
            if x[i + j] > 0.9 {
                best = Some(i + j);
            }
            if let Some(k) = best {
                s = (s * x[k]).sin() + b;
            } else {
                s = s * s * 0.5 + 0.2;
            }
        }
        y[i] = y[i] * s;
        if i % 11 == 10 {
            best = None;
        }
    }
    s
});

both_tapes!(bool_out_of_inner, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        let mut any = false;
        let mut at = 9_u8;
        for j in 0..3_u8 {
            if x[i + j as usize] > 1.0 {
                any = true;
                at = j;
            }
            s = (s * x[i + j as usize]).sin() + 0.1;
        }
        if any {
            s = s * x[i + at as usize] + b;
        } else if at > 8 {
            s = (s + b).cos();
        }
        y[i] = y[i] * s;
    }
    s
});

both_tapes!(i128_saved_itself, |x, y, a, b, n| {
    let mut s = a;
    let mut z = 5_i128;
    for i in 0..n {
        for _ in 0..2 {
            z = z * 3 % 1_000_000_000_000_000_000_000_000_i128;
            if z > 500_000_000_000_000_000_000_000_i128 {
                s = (s * x[i]).sin();
            } else {
                s = (s * (z as f64 * 1e-24)).cos() * x[i];
            }
        }
        y[i] = y[i] * s + b;
    }
    s
});

both_tapes!(inner_count_zero_or_const, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        let m = if x[i] > 0.6 { 3 } else { 0 };
        for j in 0..m {
            s = (s * x[i] + 0.1 * j as f64).sin();
        }
        for j in 0..(i % 2) {
            s = s * s + x[j];
            s = s.cos();
        }
        y[i] = y[i] * s + b;
    }
    s
});

both_tapes!(min_bounds, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in i..(i + 3).min(n) {
            s = (s * x[j]).sin() + 0.1;
        }
        for j in i.saturating_sub(2)..i {
            s = (s + x[j]).cos();
            y[j] = y[j] * s;
        }
        y[i] = y[i] * s + b;
    }
    s
});

both_tapes!(while_float, |x, y, a, b, n| {
    let mut s = a;
    for i in 0..n {
        for j in 0..2 {
            let c = 0.5 + x[i + j] + 0.1 * s * s;
            let mut r = 1.0_f64;
            let mut it = 0;
            while (r * r - c).abs() > 1e-13 && it < 30 {
                r = 0.5 * (r + c / r);
                it += 1;
            }
            s = (s * r).sin();
        }
        y[i] = y[i] * s + b;
    }
    s
});

both_tapes!(zip_nest, |x, y, a, b, n| {
    let mut s = a;
    for (p, q) in x.iter().zip(y.iter_mut()).take(n) {
        for (c, d) in [0.1, 0.2, 0.3].iter().zip([1.0, 2.0, 3.0]) {
            s = (s * p * d + c).sin();
            *q = *q * s;
        }
        for k in [1_usize, 2] {
            s = s * x[k] + b;
            s = s.cos();
        }
    }
    s
});
