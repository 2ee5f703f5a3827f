//! Arrays of `ndarray` for many arguments, vectors of `nalgebra` for two.

#![allow(
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::panic,
    clippy::unwrap_used,
    reason = "as people write them"
)]

use nalgebra::{Matrix2, Vector2};
use ndarray::{Array1, ArrayView1, ArrayViewMut1};
use std::f64::consts::{E, PI};
use stratape::{differentiable, gradient};

mod written {
    use super::*;

    #[gradient]
    pub fn zero(x: ArrayView1<f64>) -> f64 {
        (&x * 0.0).sum()
    }

    #[gradient]
    pub fn sphere(x: ArrayView1<f64>) -> f64 {
        x.dot(&x)
    }

    #[gradient]
    pub fn ackley(x: ArrayView1<f64>) -> f64 {
        let n = x.len() as f64;
        let squares = x.mapv(|v| v.powi(2)).sum() / n;
        let cosines = x.mapv(|v| (2.0 * PI * v).cos()).sum() / n;
        -20.0 * (-0.2 * squares.sqrt()).exp() - cosines.exp() + 20.0 + E
    }

    #[gradient]
    pub fn rastrigin(x: ArrayView1<f64>) -> f64 {
        let waves = (&x * (2.0 * PI)).mapv(f64::cos) * 10.0;
        10.0 * x.len() as f64 + (&x * &x - waves).sum()
    }

    #[gradient]
    pub fn rosenbrock(x: ArrayView1<f64>) -> f64 {
        let n = x.len();
        let mut sum = 0.0;
        for i in 0..n - 1 {
            sum += 100.0 * (x[i + 1] - x[i] * x[i]).powi(2) + (1.0 - x[i]).powi(2);
        }
        sum
    }

    #[gradient]
    pub fn styblinski_tang(x: ArrayView1<f64>) -> f64 {
        let squares = &x * &x;
        0.5 * (&squares * &squares - &squares * 16.0 + &x * 5.0).sum()
    }

    #[gradient]
    pub fn levy(x: ArrayView1<f64>) -> f64 {
        let w: Array1<f64> = x.mapv(|v| 1.0 + (v - 1.0) / 4.0);
        let n = w.len();
        let mut sum = (PI * w[0]).sin().powi(2);
        for (i, w) in w.iter().enumerate() {
            if i > 0 && i < n - 1 {
                sum += (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2));
            }
        }
        sum + (w[n - 1] - 1.0).powi(2) * (1.0 + (2.0 * PI * w[n - 1]).sin().powi(2))
    }

    #[gradient]
    pub fn levy_n13(p: &Vector2<f64>) -> f64 {
        let waves = Vector2::new(3.0 * PI * p.y, 2.0 * PI * p.y).map(|v| v.sin().powi(2));
        let d = p - Vector2::repeat(1.0);
        (3.0 * PI * p.x).sin().powi(2) + d.component_mul(&d).dot(&(waves + Vector2::new(1.0, 1.0)))
    }

    #[gradient]
    pub fn beale(p: &Vector2<f64>) -> f64 {
        let mut sum = 0.0;
        for (k, c) in [1.5, 2.25, 2.625].iter().enumerate() {
            sum += (c - p[0] + p[0] * p[1].powi(k as i32 + 1)).powi(2);
        }
        sum
    }

    #[gradient]
    pub fn booth(p: &Vector2<f64>) -> f64 {
        let a = Matrix2::new(1.0, 2.0, 2.0, 1.0);
        (a * p - Vector2::new(7.0, 5.0)).norm_squared()
    }

    #[gradient]
    pub fn bukin_n6(p: &Vector2<f64>) -> f64 {
        100.0 * (p.y - 0.01 * p.x * p.x).abs().sqrt() + 0.01 * (p.x + 10.0).abs()
    }

    #[gradient]
    pub fn cross_in_tray(p: &Vector2<f64>) -> f64 {
        let waves = p.map(f64::sin);
        let t = waves.x * waves.y * (100.0 - p.norm() / PI).abs().exp();
        -0.0001 * (t.abs() + 1.0).powf(0.1)
    }

    #[gradient]
    pub fn easom(p: &Vector2<f64>) -> f64 {
        let center = Vector2::new(PI, PI);
        -p.x.cos() * p.y.cos() * (-(p - center).norm_squared()).exp()
    }

    #[gradient]
    pub fn eggholder(p: &Vector2<f64>) -> f64 {
        let q = p + Vector2::new(0.0, 47.0);
        let at = Matrix2::new(1.0, -1.0, 0.5, 1.0) * q;
        -at.map(|v| v.abs().sqrt().sin()).dot(&q)
    }

    #[differentiable]
    fn price(p: &Vector2<f64>) -> f64 {
        let s = p.sum();
        let d = p.dot(&Vector2::new(2.0, -3.0));
        let first = 1.0 + (s + 1.0).powi(2) * (19.0 - 14.0 * s + 3.0 * s * s);
        let second = 30.0 + d * d * (18.0 - 16.0 * d + 3.0 * d * d);
        first * second
    }

    #[gradient]
    pub fn goldsteinprice(p: &Vector2<f64>) -> f64 {
        price(p)
    }

    #[gradient]
    pub fn picheny(p: &Vector2<f64>) -> f64 {
        (price(&(p * 4.0 - Vector2::repeat(2.0))).log10() - 8.693) / 2.427
    }

    #[gradient]
    pub fn himmelblau(p: &Vector2<f64>) -> f64 {
        let swapped = Vector2::new(p.y, p.x);
        (p.component_mul(p) + swapped - Vector2::new(11.0, 7.0)).norm_squared()
    }

    #[gradient]
    pub fn holder_table(p: &Vector2<f64>) -> f64 {
        -(p.x.sin() * p.y.cos() * (1.0 - p.norm() / PI).abs().exp()).abs()
    }

    #[gradient]
    pub fn matyas(p: &Vector2<f64>) -> f64 {
        let a = Matrix2::new(0.26, -0.24, -0.24, 0.26);
        p.dot(&(a * p))
    }

    #[gradient]
    pub fn mccormick(p: &Vector2<f64>) -> f64 {
        p.sum().sin() + (p.x - p.y).powi(2) + p.dot(&Vector2::new(-1.5, 2.5)) + 1.0
    }

    #[gradient]
    pub fn schaffer_n2(p: &Vector2<f64>) -> f64 {
        let squares = p.map(|v| v.powi(2));
        0.5 + ((squares[0] - squares[1]).sin().powi(2) - 0.5)
            / (1.0 + 0.001 * squares.sum()).powi(2)
    }

    #[gradient]
    pub fn schaffer_n4(p: &Vector2<f64>) -> f64 {
        let wave = (p.x.powi(2) - p.y.powi(2)).abs().sin().cos();
        0.5 + (wave * wave - 0.5) / (1.0 + 0.001 * p.norm_squared()).powi(2)
    }

    #[gradient]
    pub fn threehumpcamel(p: &Vector2<f64>) -> f64 {
        let (x, y) = (p.x, p.y);
        2.0 * x.powi(2) - 1.05 * x.powi(4) + x.powi(6) / 6.0 + y * p.sum()
    }
}

macro_rules! from_slices {
    ($($name:ident)*) => {$(
        pub fn $name(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
            written::$name(ArrayView1::from(x), ArrayViewMut1::from(dx), seed)
        }
    )*};
}

macro_rules! from_pairs {
    ($($name:ident)*) => {$(
        pub fn $name(p: &[f64; 2], dp: &mut [f64; 2], seed: f64) -> f64 {
            let mut shadow = Vector2::zeros();
            let value = written::$name(&Vector2::from(*p), &mut shadow, seed);
            *dp = shadow.into();
            value
        }
    )*};
}

from_slices!(
    zero_grad sphere_grad ackley_grad rastrigin_grad rosenbrock_grad styblinski_tang_grad levy_grad
);
from_pairs!(
    levy_n13_grad beale_grad booth_grad bukin_n6_grad cross_in_tray_grad easom_grad eggholder_grad goldsteinprice_grad
    picheny_grad himmelblau_grad holder_table_grad matyas_grad mccormick_grad schaffer_n2_grad schaffer_n4_grad
    threehumpcamel_grad
);
