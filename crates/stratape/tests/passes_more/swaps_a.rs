//! `swap_copies`: lists of `vec!` of one length, copied by whole loops; who fills them next, and how.
use crate::oracle::*;
use stratape::gradient;

#[gradient]
fn plain_fill(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in 0..n {
                next[i] = now[i].sin() * x[i] + 0.1 * t as f64;
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_plain_fill() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| plain_fill(v, steps),
                |v, dv, w| plain_fill_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn reads_itself(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in 0..n {
                next[i] = now[i] * 0.5 + 0.3 * next[i];
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_reads_itself() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| reads_itself(v, steps),
                |v, dv, w| reads_itself_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn reads_before_in_row(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in 0..n {
                let left = if i > 0 { next[i - 1] } else { 0.5 };
                next[i] = now[i] * 0.5 + 0.3 * left;
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_reads_before_in_row() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| reads_before_in_row(v, steps),
                |v, dv, w| reads_before_in_row_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn reads_after_in_row(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in 0..n {
                let right = if i + 1 < n { next[i + 1] } else { 0.5 };
                next[i] = now[i] * 0.5 + 0.3 * right;
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_reads_after_in_row() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| reads_after_in_row(v, steps),
                |v, dv, w| reads_after_in_row_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn fills_downwards(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in (0..n).rev() {
                next[i] = now[i] * now[n - 1 - i];
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_fills_downwards() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| fills_downwards(v, steps),
                |v, dv, w| fills_downwards_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn fills_halves(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            let h = n / 2;
            for i in 0..h {
                next[i] = now[i] * now[i + h];
            }
            for i in h..n {
                next[i] = now[i] + 0.1 * now[i - h];
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_fills_halves() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| fills_halves(v, steps),
                |v, dv, w| fills_halves_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn fills_all_but_one(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in 0..n {
                if i != t {
                    next[i] = now[i] * 1.1 + x[i];
                }
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_fills_all_but_one() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| fills_all_but_one(v, steps),
                |v, dv, w| fills_all_but_one_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn fills_even(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    for t in 0..steps {
        {
            for i in (0..n).step_by(2) {
                next[i] = now[i] * 1.1 + x[i];
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {}
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn swap_fills_even() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| fills_even(v, steps),
                |v, dv, w| fills_even_grad(v, dv, steps, w),
            );
        }
    }
}
