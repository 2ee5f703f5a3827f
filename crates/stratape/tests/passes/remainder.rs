use crate::oracle::*;
use stratape::gradient;

/// How often `m` goes into `x`, exactly: the quotient may have been rounded to the next integer.
fn whole(x: f64, m: f64) -> f64 {
    let mut times = (x / m).floor() + 1.0;
    while times.mul_add(m, -x) > 0.0 {
        times -= 1.0;
    }
    times
}

#[gradient]
fn two_remainders(x: f64, y: f64, m: f64) -> f64 {
    (x % m) + 2.0 * (y % m)
}
#[gradient]
fn two_euclid(x: f64, y: f64, m: f64) -> f64 {
    x.rem_euclid(m) + 2.0 * y.rem_euclid(m)
}
#[gradient]
fn remainder_and_quotient(x: f64, y: f64, m: f64) -> f64 {
    (x % m) * y + y / m
}
#[gradient]
fn two_remainders_loop(x: &[f64], m: f64) -> f64 {
    let mut s = 0.0;
    for i in 1..x.len() {
        s += (x[i] % m) * x[i - 1] + x[i - 1] % m;
    }
    s
}
#[test]
fn remainders_of_one_divisor() {
    for k in 1..200_u32 {
        for m in [3.0, 7.0, 0.1, 0.3, 49.0, 1.1, 0.7, 10.0, 41.0] {
            let x = k as f64 * m;
            let y = (k + 3) as f64 * m;
            let tag = format!("{k} {m}");
            close(
                &tag,
                &[two_remainders_grad(x, y, m, 1.0).3],
                &[-whole(x, m) - 2.0 * whole(y, m)],
            );
        }
    }
}
#[test]
fn euclidean_remainders_of_one_divisor() {
    for k in 1..200_u32 {
        for m in [3.0, 7.0, 0.1, 0.3, 49.0, 1.1, 0.7, 10.0, 41.0] {
            let x = k as f64 * m;
            let y = (k + 3) as f64 * m;
            let tag = format!("{k} {m}");
            close(&tag, &[two_euclid_grad(x, y, m, 1.0).3], &[-whole(x, m) - 2.0 * whole(y, m)]);
        }
    }
}
#[test]
fn remainder_and_quotient_of_one_divisor() {
    for k in 1..200_u32 {
        for m in [3.0, 7.0, 0.1, 0.3, 49.0, 1.1, 0.7, 10.0, 41.0] {
            let x = k as f64 * m;
            let tag = format!("{k} {m}");
            close(
                &tag,
                &[remainder_and_quotient_grad(x, 2.0, m, 1.0).3],
                &[-whole(x, m) * 2.0 - 2.0 / (m * m)],
            );
        }
    }
}
#[test]
fn remainders_of_one_divisor_in_a_loop() {
    for m in [3.0, 7.0, 0.1, 0.3, 49.0, 1.1, 0.7, 10.0, 41.0] {
        let x: Vec<f64> = (1..200).map(|k| k as f64 * m).collect();
        let want: f64 = (1..x.len()).map(|i| -whole(x[i], m) * x[i - 1] - whole(x[i - 1], m)).sum();
        let mut dx = vec![0.0; x.len()];
        close(&format!("{m}"), &[two_remainders_loop_grad(&x, &mut dx, m, 1.0).1], &[want]);
    }
}

#[gradient(plain)]
fn two_remainders_plain(x: f64, y: f64, m: f64) -> f64 {
    (x % m) + 2.0 * (y % m)
}
#[test]
fn remainders_of_one_divisor_plain() {
    for k in 1..200_u32 {
        for m in [3.0, 7.0, 0.1, 0.3, 49.0, 1.1, 0.7, 10.0, 41.0] {
            let x = k as f64 * m;
            let y = (k + 3) as f64 * m;
            close(
                &format!("{k} {m}"),
                &[two_remainders_plain_grad(x, y, m, 1.0).3],
                &[-whole(x, m) - 2.0 * whole(y, m)],
            );
        }
    }
}
#[gradient]
fn one_remainder(x: f64, m: f64) -> f64 {
    (x % m) / m
}
#[test]
fn remainder_over_its_divisor() {
    for k in 1..200_u32 {
        for m in [3.0, 7.0, 49.0, 41.0] {
            let x = k as f64 * m;
            close(
                &format!("{k} {m}"),
                &[one_remainder_grad(x, m, 1.0).2],
                &[-(x / m).trunc() / m - (x % m) / m / m],
            );
        }
    }
}
