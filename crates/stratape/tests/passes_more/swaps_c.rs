//! `swap_copies`: lists of `vec!` of one length, copied by whole loops; who fills them next, and how.
use crate::oracle::*;
use stratape::gradient;

#[gradient]
fn time_fills_in_turns(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            for _ in 0..t % 3 {
                for i in 0..n {
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
fn checkpoint_fills_in_turns() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_fills_in_turns(v, steps),
                |v, dv, w| time_fills_in_turns_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_fills_if(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            if t % 2 == 0 {
                for i in 0..n {
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
fn checkpoint_fills_if() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_fills_if(v, steps),
                |v, dv, w| time_fills_if_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_fills_by_position(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            for i in 0..n {
                next[(i * 2) % n] = now[i] * 1.1 + x[i];
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
fn checkpoint_fills_by_position() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_fills_by_position(v, steps),
                |v, dv, w| time_fills_by_position_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_read_at_the_end(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            for i in 0..n {
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
    {
        for i in 0..n {
            s -= next[i];
        }
    }
    s
}
#[test]
fn checkpoint_read_at_the_end() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_read_at_the_end(v, steps),
                |v, dv, w| time_read_at_the_end_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_read_one_at_the_end(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            for i in 0..n {
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
    {
        if n > 2 {
            s -= next[2] * now[0];
        }
    }
    s
}
#[test]
fn checkpoint_read_one_at_the_end() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_read_one_at_the_end(v, steps),
                |v, dv, w| time_read_one_at_the_end_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_copied_at_the_end(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            for i in 0..n {
                next[i] = now[i] * 1.1 + x[i];
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {
            now[0] *= 0.5;
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {
        let mut c = vec![0.0; n];
        for i in 0..n {
            c[i] = next[i];
        }
        for i in 0..n {
            s -= c[i] * now[i];
        }
    }
    s
}
#[test]
fn checkpoint_copied_at_the_end() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_copied_at_the_end(v, steps),
                |v, dv, w| time_copied_at_the_end_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_written_after(x: &[f64], steps: usize) -> f64 {
    let n = x.len();
    let mut now = vec![0.25; n];
    let mut next = vec![0.75; n];
    let mut s = 0.0;
    for i in 0..n {
        now[i] = x[i];
    }
    #[checkpoint(slots = 2)]
    for t in 0..steps {
        {
            for i in 0..n {
                next[i] = now[i] * 1.1 + x[i] * next[i];
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {
            next[t % n] = now[0] * 0.5;
            now[n - 1] += 0.2;
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn checkpoint_written_after() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_written_after(v, steps),
                |v, dv, w| time_written_after_grad(v, dv, steps, w),
            );
        }
    }
}
