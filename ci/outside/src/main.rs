//! Functions as users write them, each checked against differences. Nothing may warn.

#![deny(warnings)]

use stratape::{check, gradient};

/// Functions of about a thousand lines.
mod long {
    use stratape::gradient;

    include!(concat!(env!("OUT_DIR"), "/long.rs"));
}

/// Functions that call hundreds of others.
mod many {
    use stratape::{differentiable, gradient};

    include!(concat!(env!("OUT_DIR"), "/many.rs"));
}

const STEPS: usize = 5;

#[gradient]
fn prefix(u: &[f64]) -> f64 {
    let (mut x, mut v) = (0.0, 0.0);
    for &a in u {
        v += a;
        x += v;
    }
    x
}

#[gradient]
fn early(x: &[f64], out: &mut [f64], w: f64) -> f64 {
    let mut s = 0.0;
    for v in x {
        s += v * v;
    }
    for i in 0..x.len() {
        out[i] = (w * x[i]).tanh();
    }
    s
}

#[gradient]
fn sold(stock: &mut [f64], k: &[usize], price: &[f64]) -> f64 {
    let mut income = 0.0;
    for i in 0..k.len() {
        income += stock[k[i]] * price[i];
        stock[k[i]] = 0.0;
    }
    income
}

#[gradient]
fn edges(z: &[f64], n: usize, m: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        if i > 0 {
            let mut b = 0.0;
            for j in 0..m {
                if j == 0 {
                    b = z[i * m];
                } else {
                    b = f64::max(b, z[i * m + j]);
                }
            }
            s += b * b;
        }
    }
    s
}

#[gradient]
fn imports(x: &[f64]) -> f64 {
    use std::f64::consts::{PI, SQRT_2 as ROOT};
    let mut s = 0.0;
    for v in x {
        use std::f64::consts;
        s += (PI * v).sin() * ROOT + consts::E;
    }
    s
}

#[gradient]
fn globs(x: &[f64]) -> f64 {
    use std::f64::consts::*;
    x.iter().map(|v| TAU * v * v).sum()
}

#[gradient]
fn bounded_by_a_constant(x: f64) -> f64 {
    let mut s = x;
    for t in 0..STEPS {
        s += (s * t as f64).sin();
    }
    s
}

#[gradient(wrt(p))]
fn table_under_checkpoint(p: &[f64], c: &[[f64; 2]], n: usize) -> f64 {
    let mut s = p[0];
    #[checkpoint(slots = 4)]
    for i in 0..n {
        s = (s * c[i % 2][0] + c[i % 2][1]).sin() + 0.1 * p[1];
    }
    s
}

#[stratape::differentiable]
mod pairs {
    fn pair(a: &[f64], b: &[f64]) -> f64 {
        a[0] * b[0].exp()
    }

    #[stratape::pullback(of = pair)]
    fn pair_back(a: &[f64], da: &mut [f64], b: &[f64], db: &mut [f64], seed: f64) {
        da[0] += b[0].exp() * seed;
        db[0] += a[0] * b[0].exp() * seed;
    }

    #[gradient]
    pub fn parts(p: &[f64]) -> f64 {
        pair(&p[0..1], &p[1..2]) + pair(p, p)
    }
}

#[gradient(plain)]
fn plainly(u: &[f64], w: f64) -> f64 {
    let (mut s, mut t) = (0.0, 0.0);
    for v in u {
        s += w * v;
        t += s.exp();
    }
    t
}

#[gradient]
fn rows(rows: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    for row in rows {
        for v in row {
            s += v * v;
        }
    }
    s
}

fn main() -> Result<(), check::Mismatch> {
    let x = [0.3, -0.7, 1.1, 0.2, -0.4, 0.9, 0.6];
    macro_rules! of_slice {
        ($($f:path, $grad:path;)*) => {$(
            let report = check::gradient([("x", &x)], |[x]| $f(x), |[x], [dx]| $grad(x, dx, 1.0))?;
            assert!(report.is_decided(), "{}: {report}", stringify!($f));
        )*};
    }
    of_slice! {
        prefix, prefix_grad;
        imports, imports_grad;
        globs, globs_grad;
        pairs::parts, pairs::parts_grad;
        long::straight, long::straight_grad;
    }
    check::gradient(
        [("x", &x), ("y", &[0.4; 7])],
        |[x, y]| long::loops(x, &mut y.to_vec()),
        |[x, y], [dx, dy]| long::loops_grad(x, dx, &mut y.to_vec(), dy, 1.0),
    )?;
    check::gradient(
        [("a", &[0.3]), ("b", &[0.8])],
        |[a, b]| long::branches(a[0], b[0]),
        |[a, b], [da, db]| {
            let value;
            (value, da[0], db[0]) = long::branches_grad(a[0], b[0], 1.0);
            value
        },
    )?;
    check::gradient(
        [("x", &x), ("w", &[0.7])],
        |[x, w]| early(x, &mut [0.0; 7], w[0]),
        |[x, w], [dx, dw]| {
            let value;
            (value, dw[0]) = early_grad(x, dx, &mut [0.0; 7], &mut [0.0; 7], w[0], 1.0);
            value
        },
    )?;
    let (_, dw) = early_grad(&[1.0, 2.0], &mut [0.0; 2], &mut [0.0; 2], &mut [1.0, 0.0], 1.0, 0.0);
    assert!((dw - (1.0 - 1.0_f64.tanh().powi(2))).abs() < 1e-15);
    let k = [0, 0, 2, 0, 2, 1, 1];
    check::gradient(
        [("stock", &[3.0, 1.0, 2.0]), ("price", &x)],
        |[stock, price]| sold(&mut stock.to_vec(), &k, price),
        |[stock, price], [dstock, dprice]| {
            sold_grad(&mut stock.to_vec(), dstock, &k, price, dprice, 1.0)
        },
    )?;
    check::gradient(
        [("z", &x[..6])],
        |[z]| edges(z, 3, 2),
        |[z], [dz]| edges_grad(z, dz, 3, 2, 1.0),
    )?;
    check::gradient(
        [("x", &[0.4])],
        |[x]| bounded_by_a_constant(x[0]),
        |[x], [dx]| {
            let value;
            (value, dx[0]) = bounded_by_a_constant_grad(x[0], 1.0);
            value
        },
    )?;
    for (f, grad) in [
        (many::wide as fn(f64) -> f64, many::wide_grad as fn(f64, f64) -> (f64, f64)),
        (many::deep, many::deep_grad),
    ] {
        check::gradient(
            [("x", &[0.4])],
            |[x]| f(x[0]),
            |[x], [dx]| {
                let value;
                (value, dx[0]) = grad(x[0], 1.0);
                value
            },
        )?;
    }
    let c = [[0.5, 0.1], [-0.4, 0.3]];
    check::gradient(
        [("p", &[0.2, 0.6])],
        |[p]| table_under_checkpoint(p, &c, 30),
        |[p], [dp]| table_under_checkpoint_grad(p, dp, &c, 30, 1.0),
    )?;
    check::gradient(
        [("u", &x), ("w", &[0.7])],
        |[u, w]| plainly(u, w[0]),
        |[u, w], [du, dw]| {
            let value;
            (value, dw[0]) = plainly_grad(u, du, w[0], 1.0);
            value
        },
    )?;

    // A shadow whose row is too short is found before anything is touched.
    let short = std::panic::catch_unwind(|| {
        rows_grad(&[vec![1.0; 2], vec![2.0; 3]], &mut [vec![0.0; 2], vec![0.0; 2]], 1.0)
    });
    assert!(short.is_err_and(|panic| {
        panic.downcast_ref::<String>().is_some_and(|text| text.contains("shadow of `rows[…]`"))
    }));
    println!("every gradient is what differences say");
    Ok(())
}
