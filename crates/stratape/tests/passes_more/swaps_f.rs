//! `swap_copies`: lists of `vec!` of one length, copied by whole loops; who fills them next, and how.
use crate::oracle::*;
use stratape::gradient;

#[gradient]
fn time_breaks_after(x: &[f64], steps: usize) -> f64 {
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
            if now[0] > 0.8 {
                break;
            }
            now[0] += 0.2;
            if now[n - 1] < 0.0 {
                continue;
            }
            now[n - 1] *= 0.7;
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {
        s += next.len() as f64;
    }
    s
}
#[test]
fn checkpoint_breaks_after() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_breaks_after(v, steps),
                |v, dv, w| time_breaks_after_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_back_at_once(x: &[f64], steps: usize) -> f64 {
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
            for i in 0..n {
                next[i] = now[n - 1 - i] * 0.8;
            }
            for i in 0..n {
                now[i] = next[i] * next[i];
            }
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {
        s += next.iter().sum::<f64>();
    }
    s
}
#[test]
fn checkpoint_back_at_once() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_back_at_once(v, steps),
                |v, dv, w| time_back_at_once_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_third_list(x: &[f64], steps: usize) -> f64 {
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
            let mut old = vec![0.0; n];
            for i in 0..n {
                old[i] = now[i];
            }
            for i in 0..n {
                next[i] = old[i] * 1.1 + x[i];
                now[i] = 0.0;
            }
            for i in 0..n {
                s += old[i] * 0.1;
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
fn checkpoint_third_list() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_third_list(v, steps),
                |v, dv, w| time_third_list_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_exchanged_too(x: &[f64], steps: usize) -> f64 {
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
            std::mem::swap(&mut now, &mut next);
            if n > 0 {
                next[0] *= 0.5;
            }
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn checkpoint_exchanged_too() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_exchanged_too(v, steps),
                |v, dv, w| time_exchanged_too_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_dest_partly_kept(x: &[f64], steps: usize) -> f64 {
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
            let keep = now[n - 1];
            for i in 0..n {
                next[i] = now[i] * 1.1 + x[i];
            }
            s += keep;
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {
            now[n - 1] += (t as f64 * 0.1) * now[0];
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {}
    s
}
#[test]
fn checkpoint_dest_partly_kept() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_dest_partly_kept(v, steps),
                |v, dv, w| time_dest_partly_kept_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_inner_steps(x: &[f64], steps: usize) -> f64 {
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
            for k in 0..t {
                for i in 0..n {
                    next[i] = now[i] * 0.9 + 0.1 * k as f64 * now[n - 1 - i];
                }
                for i in 0..n {
                    now[i] = next[i];
                }
                now[0] += x[0];
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
fn checkpoint_inner_steps() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_inner_steps(v, steps),
                |v, dv, w| time_inner_steps_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_while_steps(x: &[f64], steps: usize) -> f64 {
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
            let mut k = 0;
            while k < 2 && now[0] < 1.0 {
                for i in 0..n {
                    next[i] = now[i] * 1.2 + 0.1;
                }
                for i in 0..n {
                    now[i] = next[i];
                }
                k += 1;
            }
            for i in 0..n {
                next[i] *= now[i];
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
fn checkpoint_while_steps() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_while_steps(v, steps),
                |v, dv, w| time_while_steps_grad(v, dv, steps, w),
            );
        }
    }
}

#[gradient]
fn time_enumerate_zip(x: &[f64], steps: usize) -> f64 {
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
            for (i, (a, b)) in next.iter_mut().zip(&now).enumerate() {
                *a = *b * x[i] + 0.2;
            }
        }
        for j in 0..n {
            now[j] = next[j];
        }
        {
            for (a, b) in next.iter_mut().zip(now.iter().rev()) {
                *a = *b;
            }
            for (a, b) in now.iter_mut().zip(&next) {
                *a = *b * 0.9;
            }
        }
    }
    for i in 0..n {
        s += now[i] * now[i] * (i + 1) as f64;
    }
    {
        for (a, b) in now.iter().zip(&next) {
            s += a * b;
        }
    }
    s
}
#[test]
fn checkpoint_enumerate_zip() {
    for n in SIZES {
        for steps in [0, 1, 2, 3, 6] {
            scalar(
                &format!("{n} {steps}"),
                n,
                |v| time_enumerate_zip(v, steps),
                |v, dv, w| time_enumerate_zip_grad(v, dv, steps, w),
            );
        }
    }
}
