//! Sharing across arms of branches with the same condition, loads after stores, NaN conditions.
use crate::oracle::*;
use stratape::gradient;

// 1: memory is overwritten between two branches of one condition.
#[gradient]
fn overwritten(x: &mut [f64], y: &[f64], c: bool) -> f64 {
    let mut s = 0.0;
    for i in 0..y.len() {
        if c {
            s += (x[i] * x[i] + 1.0).sqrt() * y[i];
        }
        x[i] *= y[i];
        if c {
            s += s / (x[i] * x[i] + 1.0).sqrt();
        } else {
            s -= (x[i] * x[i] + 1.0).sqrt();
        }
        x[i] += 0.5;
        if c {
            x[i] = (x[i] * x[i] + 1.0).sqrt();
        }
    }
    s
}
#[test]
fn cse_overwritten_between() {
    for n in SIZES {
        for c in [false, true] {
            outputs(
                &format!("{n} {c}"),
                2 * n,
                (-1.2, 1.2),
                |v| {
                    let mut x = v[..n].to_vec();
                    let r = overwritten(&mut x, &v[n..], c);
                    x.push(r);
                    x
                },
                |v, dv, w| {
                    let mut x = v[..n].to_vec();
                    let mut dx = w[..n].to_vec();
                    let r = overwritten_grad(&mut x, &mut dx, &v[n..], &mut dv[n..], c, w[n]);
                    for (a, b) in dv.iter_mut().zip(&dx) {
                        *a += b;
                    }
                    x.push(r);
                    x
                },
            );
        }
    }
}

// 2: the condition is changed inside the first arm.
#[gradient]
fn changed(x: &[f64], a: f64, b: f64) -> f64 {
    let mut c = a > b;
    let mut m = a;
    let mut s = 0.0;
    for v in x {
        if c {
            let e = (v * v + a).exp().sqrt();
            s += e * v;
            c = *v > 0.0;
            m = v * m;
        }
        if c {
            s += s / (v * v + a).exp().sqrt() + m;
        } else {
            s -= (v * v + a).exp().sqrt() * b;
            c = !(m > b);
        }
        if m > 0.0 {
            s += (m + 1.0).sqrt();
            m -= 0.5;
        }
        if m > 0.0 {
            s += b / (m + 1.0).sqrt();
        }
    }
    s + m
}
#[test]
fn cse_condition_changed_in_first_arm() {
    for n in SIZES {
        scalar(
            &format!("{n}"),
            n + 2,
            |v| changed(&v[..n], v[n], v[n + 1]),
            |v, dv, w| {
                let (r, a, b) = changed_grad(&v[..n], &mut dv[..n], v[n], v[n + 1], w);
                dv[n] += a;
                dv[n + 1] += b;
                r
            },
        );
    }
}

// 3: the first branch is in a loop that may not run, or is left before it.
#[gradient]
fn in_a_loop(x: &[f64], y: &[f64], n: usize, at: usize, c: bool) -> f64 {
    let mut s = 0.5;
    for i in 0..n {
        if i == at {
            break;
        }
        if c {
            s += 0.1 * y[i] * (x[0] / x[1]).exp().sin() * (x[2] * s).sin();
        }
    }
    if c {
        s += s * (x[0] / x[1]).exp() / (x[2] + 4.0).sqrt();
    }
    let mut k = 0;
    while k < n && k < at {
        if !c {
            s *= 1.0 + 0.1 * (x[2] + 4.0).sqrt();
        } else {
            s += (x[2] + 4.0).sqrt();
        }
        k += 1;
    }
    if c && n > 2 {
        s * (x[2] + 4.0).sqrt()
    } else if !c {
        s / (x[2] + 4.0).sqrt()
    } else {
        s
    }
}
#[test]
fn cse_first_arm_in_a_loop() {
    for n in SIZES {
        for at in [0, 1, 2, 99] {
            for c in [false, true] {
                positive(
                    &format!("{n} {at} {c}"),
                    n + 3,
                    |v| in_a_loop(&v[..3], &v[3..], n, at, c),
                    |v, dv, w| {
                        let (a, b) = dv.split_at_mut(3);
                        in_a_loop_grad(&v[..3], a, &v[3..], b, n, at, c, w)
                    },
                );
            }
        }
    }
}

// 4: a < b and !(a >= b) are not the same for NaN; a division and a logarithm behind each.
#[gradient]
fn nan_conditions(x: &[f64], a: f64, b: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if x[i] < b {
            s += (x[i] * a).exp().sqrt() * a;
        }
        if !(x[i] >= b) {
            s += a / (a * 2.0).exp().sqrt();
            s += if x[i] < b { (x[i] * a).exp().sqrt() } else { 1.0 };
        } else {
            s += 3.0 * a;
        }
        if x[i] == x[i] {
            s += x[i] * a;
        }
        if x[i] >= b {
            s += x[i] * x[i];
        }
    }
    s
}
#[test]
fn cse_nan_conditions() {
    let b = 0.3;
    for nan in 0..5 {
        let mut v = Rng(7 + nan as u64).fill(5, -1.0, 1.0);
        v[nan] = f64::NAN;
        let at = |v: &[f64], a: f64| nan_conditions(v, a, b);
        let mut dx = vec![0.0; 5];
        let (r, da, _) = nan_conditions_grad(&v, &mut dx, 0.7, b, 1.0);
        assert_eq!(r.to_bits(), at(&v, 0.7).to_bits());
        assert!(r.is_finite());
        let h = 1e-5;
        let fd = (at(&v, 0.7 + h) - at(&v, 0.7 - h)) / (2.0 * h);
        assert!((fd - da).abs() < 1e-7, "{nan}: da {da}, {fd}");
        for k in 0..5 {
            let mut u = v.clone();
            u[k] += h;
            let p = at(&u, 0.7);
            u[k] -= 2.0 * h;
            let fd = (p - at(&u, 0.7)) / (2.0 * h);
            assert!((fd - dx[k]).abs() < 1e-7, "{nan}: dx[{k}] {dx:?}, {fd}");
        }
    }
}

// 5: arms that return, panic, continue; nested conditions; the else arm of the second uses what the first's then arm computed.
#[gradient]
fn arms(x: &[f64], y: &[f64], c: bool, d: bool, most: f64) -> f64 {
    let mut s = 0.1;
    for i in 0..x.len() {
        if c && d {
            s += (y[i] + 2.0).ln() * x[i];
            if s > most {
                return s * (y[i] + 2.0).ln();
            }
        }
        if c {
            if d {
                s -= 0.5 / (y[i] + 2.0).ln();
            } else {
                s += (y[i] + 2.0).ln();
                if x[i] < 0.0 {
                    continue;
                }
            }
            s *= 1.0 + 0.1 * (y[i] + 2.0).ln();
        }
        if d {
            s += x[i];
        } else {
            s -= (y[i] + 2.0).ln() * s * 0.1;
        }
        match (c, d, i % 3) {
            (true, _, 0) => s += (y[i] + 2.0).ln(),
            (true, true, _) => s *= (y[i] + 2.0).ln().cos(),
            (false, true, 2) => assert!(x[i] > -0.9, "too small: {i}"),
            _ => s += 0.5,
        }
    }
    s
}
#[test]
fn cse_arms_that_end() {
    for n in SIZES {
        for (c, d) in [(false, false), (false, true), (true, false), (true, true)] {
            for most in [0.5, 100.0] {
                scalar(
                    &format!("{n} {c} {d} {most}"),
                    2 * n,
                    |v| arms(&v[..n], &v[n..], c, d, most),
                    |v, dv, w| {
                        let (a, b) = dv.split_at_mut(n);
                        arms_grad(&v[..n], a, &v[n..], b, c, d, most, w).0
                    },
                );
            }
        }
    }
}

// 6: one condition in every iteration, the value from the iteration before; two lists that may be one another's copy.
#[gradient]
fn iterations(x: &[f64], k: &[usize], c: bool) -> f64 {
    let mut z = x.to_vec();
    let mut last = 1.0;
    let mut s = 0.0;
    for i in 0..k.len() {
        let j = k[i];
        if c {
            last = (z[j] * z[j] + 0.3).sqrt();
            z[i] = last * 0.5;
        }
        s += z[j] * last;
        if c {
            s += (z[j] * z[j] + 0.3).sqrt() / last;
            z[j] += 0.1;
            last *= z[i];
        }
        if !c {
            z[k[k.len() - 1 - i]] *= 1.1 + s * 0.01;
        }
    }
    s + z.iter().product::<f64>()
}
#[test]
fn cse_iterations_and_aliases() {
    for n in SIZES {
        for seed in 0..4 {
            for c in [false, true] {
                let mut rng = Rng(31 + seed);
                rng.next();
                let k: Vec<usize> = (0..n)
                    .map(|_| (rng.next() % (n as u64 + (seed == 3) as u64)) as usize)
                    .collect();
                scalar(
                    &format!("{n} {k:?} {c}"),
                    n,
                    |v| iterations(v, &k, c),
                    |v, dv, w| iterations_grad(v, dv, &k, c, w),
                );
            }
        }
    }
}

// 7: shadowed names, closures that capture what is changed later, blocks.
#[gradient]
fn shadows(x: &[f64], a: f64) -> f64 {
    let c = a > 0.0;
    let f = |v: f64| if c { (v + a * a + 2.0).sqrt() * v } else { v.exp() };
    let mut a = a;
    let mut s = 0.0;
    for (i, x) in x.iter().enumerate() {
        let y = f(*x) * a;
        let x = x * y;
        a = a * 0.9 + 0.01 * x;
        let c = a > 0.5;
        if c {
            s += f(x) + (a + 3.0).sqrt();
        }
        let a = a + i as f64;
        if c {
            s += f(x) * (a + 3.0).sqrt();
        }
    }
    s + a
}
#[test]
fn cse_shadowing_and_closures() {
    for n in SIZES {
        scalar(
            &format!("{n}"),
            n + 1,
            |v| shadows(&v[..n], v[n]),
            |v, dv, w| {
                let (r, a) = shadows_grad(&v[..n], &mut dv[..n], v[n], w);
                dv[n] += a;
                r
            },
        );
    }
}
