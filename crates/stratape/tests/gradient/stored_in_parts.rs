//! Parallel loops inside loops under `#[checkpoint]`, and lists that such loops hand on: the value to the last bit, the gradient of the same program without
//! marks, and the same bits for any number of snapshots.

#![allow(
    clippy::needless_range_loop,
    clippy::unwrap_used,
    clippy::type_complexity,
    clippy::useless_vec,
    missing_docs
)]

use stratape::tape::TapeOptions;
use stratape::{Workspace, gradient};

/// A stencil, with lists that are handed on.
#[gradient]
fn wave(x: &[f64], a: f64, steps: usize, slots: usize) -> f64 {
    let n = x.len();
    let (mut before, mut now) = (x.to_vec(), x.to_vec());
    let mut t = 0;
    #[checkpoint(slots = slots)]
    while t < steps {
        let mut next = vec![0.0; n];
        #[parallel]
        for i in 0..n {
            let (left, right) = (now[(i + n - 1) % n], now[(i + 1) % n]);
            next[i] = 2.0 * now[i] - before[i] + 0.1 * a * (left - 2.0 * now[i] + right).sin();
        }
        before = now;
        now = next;
        t += 1;
    }
    let mut sum = 0.0;
    for i in 0..n {
        sum += now[i] * before[i];
    }
    sum
}

#[gradient]
fn wave_bare(x: &[f64], a: f64, steps: usize, _slots: usize) -> f64 {
    let n = x.len();
    let (mut before, mut now) = (x.to_vec(), x.to_vec());
    let mut t = 0;
    while t < steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            let (left, right) = (now[(i + n - 1) % n], now[(i + 1) % n]);
            next[i] = 2.0 * now[i] - before[i] + 0.1 * a * (left - 2.0 * now[i] + right).sin();
        }
        before = now;
        now = next;
        t += 1;
    }
    let mut sum = 0.0;
    for i in 0..n {
        sum += now[i] * before[i];
    }
    sum
}

/// Points in space, forces of all on all, a step that depends on the state.
#[gradient]
fn cloud(x: &[f64], a: f64, steps: usize, slots: usize) -> f64 {
    let n = x.len() / 3;
    let (mut p, mut v) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
    for i in 0..n {
        p[i] = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
    }
    let (mut time, mut t) = (0.0, 0);
    #[checkpoint(slots = slots)]
    while t < steps && time < 2.0 {
        let mut force = vec![[0.0; 3]; n];
        #[parallel]
        for i in 0..n {
            let mut sum = [0.0; 3];
            for j in 0..n {
                let d = [p[j][0] - p[i][0], p[j][1] - p[i][1], p[j][2] - p[i][2]];
                let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.3;
                for k in 0..3 {
                    sum[k] += d[k] / (r * r.sqrt());
                }
            }
            force[i] = sum;
        }
        let mut fastest: f64 = 1.0;
        for i in 0..n {
            fastest = fastest.max(v[i][0] * v[i][0]);
        }
        let dt = 0.01 * a / fastest;
        #[parallel]
        for i in 0..n {
            for k in 0..3 {
                v[i][k] += dt * force[i][k];
                p[i][k] += dt * v[i][k];
            }
        }
        time += dt;
        t += 1;
    }
    let mut sum = time;
    for i in 0..n {
        sum += p[i][0] * p[i][1] - v[i][2];
    }
    sum
}

#[gradient]
fn cloud_bare(x: &[f64], a: f64, steps: usize, _slots: usize) -> f64 {
    let n = x.len() / 3;
    let (mut p, mut v) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
    for i in 0..n {
        p[i] = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
    }
    let (mut time, mut t) = (0.0, 0);
    while t < steps && time < 2.0 {
        let mut force = vec![[0.0; 3]; n];
        for i in 0..n {
            let mut sum = [0.0; 3];
            for j in 0..n {
                let d = [p[j][0] - p[i][0], p[j][1] - p[i][1], p[j][2] - p[i][2]];
                let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.3;
                for k in 0..3 {
                    sum[k] += d[k] / (r * r.sqrt());
                }
            }
            force[i] = sum;
        }
        let mut fastest: f64 = 1.0;
        for i in 0..n {
            fastest = fastest.max(v[i][0] * v[i][0]);
        }
        let dt = 0.01 * a / fastest;
        for i in 0..n {
            for k in 0..3 {
                v[i][k] += dt * force[i][k];
                p[i][k] += dt * v[i][k];
            }
        }
        time += dt;
        t += 1;
    }
    let mut sum = time;
    for i in 0..n {
        sum += p[i][0] * p[i][1] - v[i][2];
    }
    sum
}

/// A sum over all, which the next step uses.
#[gradient]
fn relaxed(x: &[f64], a: f64, steps: usize, slots: usize) -> f64 {
    let n = x.len();
    let mut u = x.to_vec();
    let mut mean = a;
    #[checkpoint(slots = slots)]
    for _ in 0..steps {
        let mut sum = 0.0;
        #[parallel]
        for i in 0..n {
            sum += u[i] * u[i];
        }
        mean = 0.5 * mean + (sum / n as f64).sqrt();
        #[parallel]
        for i in 0..n {
            u[i] -= 0.1 * (u[i] - mean).tanh();
        }
    }
    mean * u[0]
}

#[gradient]
fn relaxed_bare(x: &[f64], a: f64, steps: usize, _slots: usize) -> f64 {
    let n = x.len();
    let mut u = x.to_vec();
    let mut mean = a;
    for _ in 0..steps {
        let mut sum = 0.0;
        for i in 0..n {
            sum += u[i] * u[i];
        }
        mean = 0.5 * mean + (sum / n as f64).sqrt();
        for i in 0..n {
            u[i] -= 0.1 * (u[i] - mean).tanh();
        }
    }
    mean * u[0]
}

#[gradient(parallel)]
fn everywhere(x: &[f64], a: f64, steps: usize, slots: usize) -> f64 {
    let n = x.len();
    let mut u = x.to_vec();
    #[checkpoint(slots = slots)]
    for _ in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = (a * u[i]).sin() + 0.1 * u[(i + 1) % n];
        }
        u = next;
    }
    u[0] + u[n - 1]
}

#[gradient]
fn nowhere(x: &[f64], a: f64, steps: usize, _slots: usize) -> f64 {
    let n = x.len();
    let mut u = x.to_vec();
    for _ in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = (a * u[i]).sin() + 0.1 * u[(i + 1) % n];
        }
        u = next;
    }
    u[0] + u[n - 1]
}

type Function = fn(&[f64], f64, usize, usize) -> f64;
type Gradient = fn(
    &mut Workspace,
    &[f64],
    &mut [f64],
    f64,
    usize,
    usize,
    f64,
) -> Result<(f64, f64), stratape::tape::TapeError>;

#[track_caller]
fn check(name: &str, function: Function, marked: Gradient, bare: Gradient, len: usize) {
    let x: Vec<f64> = (0..len).map(|i| (1.3 * i as f64 + 0.2).sin()).collect();
    for steps in [0, 1, 7] {
        let mut expected = vec![0.0; len];
        let (value, da) =
            bare(&mut Workspace::new(), &x, &mut expected, 0.8, steps, 1, 1.5).unwrap();
        let size = expected.iter().fold(da.abs().max(1.0), |most, d| most.max(d.abs()));
        for lanes in [1, 2, 5] {
            let mut first: Option<Vec<u64>> = None;
            for slots in [1, 3, 20] {
                let mut workspace = match slots {
                    3 => Workspace::with(TapeOptions::new().memory(12 << 20)).unwrap(),
                    _ => Workspace::new(),
                };
                workspace.set_lanes(lanes);
                let mut dx = vec![0.0; len];
                let (again, found) =
                    marked(&mut workspace, &x, &mut dx, 0.8, steps, slots, 1.5).unwrap();
                assert_eq!(
                    value.to_bits(),
                    again.to_bits(),
                    "{name}, {steps} steps, {lanes} lanes"
                );
                assert_eq!(value.to_bits(), function(&x, 0.8, steps, slots).to_bits());
                assert!((da - found).abs() <= 1e-12 * size, "{name}: {da} {found}");
                for (a, b) in expected.iter().zip(&dx) {
                    assert!((a - b).abs() <= 1e-12 * size, "{name}: {a} {b}");
                }
                let bits: Vec<u64> =
                    dx.iter().chain([&found]).map(|number| number.to_bits()).collect();
                assert_eq!(
                    *first.get_or_insert_with(|| bits.clone()),
                    bits,
                    "{name}, {slots} slots"
                );
            }
        }
    }
}

#[test]
fn lists_that_are_handed_on() {
    check("wave", wave, wave_grad_in, wave_bare_grad_in, 5000);
    check("wave", wave, wave_grad_in, wave_bare_grad_in, 1);
}

#[test]
fn points_in_space() {
    check("cloud", cloud, cloud_grad_in, cloud_bare_grad_in, 3 * 200);
}

#[test]
fn a_sum_of_all() {
    check("relaxed", relaxed, relaxed_grad_in, relaxed_bare_grad_in, 4000);
}

#[test]
fn marks_everywhere() {
    check("everywhere", everywhere, everywhere_grad_in, nowhere_grad_in, 3000);
}

#[gradient]
fn rotated(x: &[f64], a: f64, steps: usize, slots: usize) -> f64 {
    let (mut p, mut q, mut r) = (x.to_vec(), x.to_vec(), x.to_vec());
    #[checkpoint(slots = slots)]
    for _ in 0..steps {
        for i in 0..x.len() {
            p[i] += a * q[i] * r[i].sin();
        }
        (p, q, r) = (q, r, p);
    }
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += p[i] + 2.0 * q[i] + 3.0 * r[i];
    }
    sum
}

#[gradient]
fn rotated_bare(x: &[f64], a: f64, steps: usize, _slots: usize) -> f64 {
    let (mut p, mut q, mut r) = (x.to_vec(), x.to_vec(), x.to_vec());
    for _ in 0..steps {
        for i in 0..x.len() {
            p[i] += a * q[i] * r[i].sin();
        }
        (p, q, r) = (q, r, p);
    }
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += p[i] + 2.0 * q[i] + 3.0 * r[i];
    }
    sum
}

#[gradient]
fn replaced(x: &[f64], a: f64, steps: usize, slots: usize) -> f64 {
    let (mut before, mut now) = (x.to_vec(), x.to_vec());
    #[checkpoint(slots = slots)]
    for _ in 0..steps {
        let next: Vec<f64> = now.iter().zip(&before).map(|(n, b)| (a * n + b).sin()).collect();
        before = std::mem::replace(&mut now, next);
    }
    now[0] * before[0] + now[x.len() - 1]
}

#[gradient]
fn replaced_bare(x: &[f64], a: f64, steps: usize, _slots: usize) -> f64 {
    let (mut before, mut now) = (x.to_vec(), x.to_vec());
    for _ in 0..steps {
        let next: Vec<f64> = now.iter().zip(&before).map(|(n, b)| (a * n + b).sin()).collect();
        before = std::mem::replace(&mut now, next);
    }
    now[0] * before[0] + now[x.len() - 1]
}

#[test]
fn lists_that_go_round() {
    check("rotated", rotated, rotated_grad_in, rotated_bare_grad_in, 9);
    check("replaced", replaced, replaced_grad_in, replaced_bare_grad_in, 9);
}
