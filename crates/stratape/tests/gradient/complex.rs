//! Complex numbers of `num_complex` in differentiated code.

#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, reason = "the constructs under test")]

use num_complex::{Complex, Complex32, Complex64};
use stratape::{differentiable, gradient};

/// The derivatives of a function of numbers, by central differences.
fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-6;
    let at = |i: usize, by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        f(&x)
    };
    (0..x.len()).map(|i| (at(i, step) - at(i, -step)) / (2.0 * step)).collect()
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        let scale = 1.0_f64.max(wanted.abs());
        assert!((found - wanted).abs() < 1e-6 * scale, "{found} is not {wanted}");
    }
}

const START: [f64; 6] = [0.7, -0.4, 1.3, 0.6, -0.8, 0.5];

fn numbers(x: &[f64]) -> Vec<Complex64> {
    x.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

fn flat(z: &[Complex64]) -> Vec<f64> {
    z.iter().flat_map(|z| [z.re, z.im]).collect()
}

/// A function of three complex numbers in a list.
macro_rules! of_a_list {
    ($($test:ident: $f:ident $grad:ident;)*) => { $(
        #[test]
        fn $test() {
            let z = numbers(&START);
            let mut dz = vec![Complex::new(0.0, 0.0); 3];
            let value = $grad(&z, &mut dz, 1.0);
            assert_eq!(value, $f(&z));
            close(&flat(&dz), &differences(&START, |x| $f(&numbers(x))));
        }
    )* };
}

of_a_list! {
    a_mandelbrot_orbit: orbit orbit_grad;
    a_polynomial_by_horner: horner horner_grad;
    every_operator: operators operators_grad;
    elementary_functions: functions functions_grad;
    powers_of_all_kinds: powers powers_grad;
    polar_form: polar polar_grad;
    sums_of_iterators: sums sums_grad;
    a_fourier_transform: spectrum spectrum_grad;
    lists_and_arrays: lists lists_grad;
}

#[gradient]
fn orbit(c: &[Complex<f64>]) -> f64 {
    let mut z = Complex::new(0.0, 0.0);
    let mut sum = 0.0;
    for _ in 0..4 {
        z = z * z + c[0] * 0.3;
        sum += z.norm_sqr();
    }
    sum * c[1].norm() + c[2].im
}

#[gradient]
fn horner(z: &[Complex64]) -> f64 {
    let coefficients = [Complex64::new(1.0, -1.0), Complex64::i(), Complex64::from(2.0)];
    let mut value = Complex64::ZERO;
    for c in &coefficients {
        value = value * z[0] + c;
    }
    value += z[1];
    value *= z[2];
    value.norm()
}

#[gradient]
fn operators(z: &[Complex64]) -> f64 {
    let (a, b, c) = (z[0], z[1], &z[2]);
    let mut s = a + b - c * a / b + 2.0 * a - a * 3.0 + (a + 1.0) / 2.0 - (1.5 - b) + 1.0 / c;
    s += a;
    s -= b;
    s *= c;
    s /= a;
    s += 0.5;
    s -= 0.25;
    s *= 2.0;
    s /= 3.0;
    s = -s + 4.0;
    let t = &a * &b + a.scale(2.0) - b.unscale(4.0) + c.conj() + c.inv();
    s.re * t.im - t.re + s.im * if a == b { 0.0 } else { 1.0 }
}

#[gradient]
fn functions(z: &[Complex64]) -> f64 {
    let [a, b, c] = [z[0], z[1], z[2]];
    let s =
        a.exp() + b.ln() * c.sqrt() + a.sin() * b.cos() - c.tan() + a.sinh() / b.cosh() + c.tanh();
    let t = a.expf(2.0) + b.log(3.0);
    s.re + 2.0 * s.im + t.re * t.im
}

#[gradient]
fn powers(z: &[Complex64]) -> f64 {
    let p = z[0].powi(3)
        + z[1].powi(-2)
        + z[2].powu(5)
        + z[0].powf(1.5)
        + z[1].powc(z[2])
        + z[0].powi(0);
    p.re - p.im
}

#[gradient]
fn polar(z: &[Complex64]) -> f64 {
    let (r, theta) = z[0].to_polar();
    let w = Complex::from_polar(r * 2.0, theta / 3.0) + Complex64::cis(z[1].arg());
    let Complex { re, im } = w;
    re * im + z[2].l1_norm()
}

#[gradient]
fn sums(z: &[Complex64]) -> f64 {
    let s: Complex64 = z.iter().sum();
    let t = z.iter().map(|z| z * z).sum::<Complex<f64>>();
    let p: Complex64 = z.iter().product();
    let q =
        z.iter().zip(z.iter().rev()).fold(Complex64::new(1.0, 0.0), |q, (a, b)| q * a + b.conj());
    (s * t + p).norm_sqr() + q.re
}

#[gradient]
fn spectrum(signal: &[Complex64]) -> f64 {
    let n = signal.len();
    let mut power = 0.0;
    for k in 0..n {
        let mut sum = Complex::new(0.0, 0.0);
        for (j, z) in signal.iter().enumerate() {
            let angle = -2.0 * std::f64::consts::PI * (j * k) as f64 / n as f64;
            sum += z * Complex::new(angle.cos(), angle.sin());
        }
        power += (1.0 + k as f64) * sum.norm_sqr();
    }
    power
}

#[gradient]
fn lists(z: &[Complex64]) -> f64 {
    let mut v = vec![Complex64::new(0.0, 0.0); z.len()];
    for i in 0..z.len() {
        v[i] = z[i] * z[(i + 1) % z.len()];
        v[i].im += 0.5 * z[i].re;
    }
    let squares: Vec<Complex64> = v.iter().map(|v| v * v).collect();
    let table = [squares[0], squares[1], z[2]];
    table.iter().map(|t| t.norm()).sum::<f64>() + v[1].re
}

#[gradient]
fn by_value(z: Complex64, w: Complex<f64>, k: f64) -> f64 {
    (z * w * k).exp().re
}

#[test]
fn adjoints_of_values_come_back_in_their_type() {
    let f = |x: &[f64]| by_value(Complex::new(x[0], x[1]), Complex::new(x[2], x[3]), x[4]);
    let (value, dz, dw, dk) =
        by_value_grad(Complex::new(0.7, -0.4), Complex::new(1.3, 0.6), -0.8, 1.0);
    assert_eq!(value, f(&START));
    let found = [dz.re, dz.im, dw.re, dw.im, dk];
    close(&found, &differences(&START[..5], f));
}

#[gradient]
fn in_place(z: &mut [Complex64], w: &Complex64) {
    for z in z.iter_mut() {
        *z = *z * w + 1.0;
    }
}

#[test]
fn what_is_written_in_place() {
    let f = |x: &[f64]| {
        let mut z = numbers(&x[..4]);
        in_place(&mut z, &Complex::new(x[4], x[5]));
        z[0].re + 2.0 * z[1].im
    };
    let (mut z, mut dz) =
        (numbers(&START[..4]), vec![Complex::new(1.0, 0.0), Complex::new(0.0, 2.0)]);
    let mut dw = Complex::new(0.0, 0.0);
    in_place_grad(&mut z, &mut dz, &Complex::new(START[4], START[5]), &mut dw);
    let mut found = flat(&dz);
    found.extend([dw.re, dw.im]);
    close(&found, &differences(&START, f));
}

#[gradient]
fn single(z: &[Complex32], k: f32) -> f32 {
    let w = Complex::new(k, 1.0) * z[0] + z[1].exp() * 0.5;
    (w / Complex32::new(2.0, k)).norm()
}

#[test]
fn single_precision() {
    let z = [Complex32::new(0.7, -0.4), Complex32::new(0.3, 0.6)];
    let mut dz = [Complex32::new(0.0, 0.0); 2];
    let (value, dk) = single_grad(&z, &mut dz, 0.9, 1.0);
    assert_eq!(value, single(&z, 0.9));
    let wide = |x: &[f64]| {
        let (z, k) = (numbers(&x[..4]), x[4]);
        let w = Complex::new(k, 1.0) * z[0] + z[1].exp() * 0.5;
        (w / Complex::new(2.0, k)).norm()
    };
    let wanted = differences(&[0.7, -0.4, 0.3, 0.6, 0.9], wide);
    let found = [dz[0].re, dz[0].im, dz[1].re, dz[1].im, dk];
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!((f64::from(*found) - wanted).abs() < 1e-5, "{found} is not {wanted}");
    }
}

mod elsewhere {
    #![allow(unreachable_pub)]

    use super::differentiable;

    #[differentiable]
    pub fn impedance(r: f64, l: f64, omega: f64) -> num_complex::Complex64 {
        num_complex::Complex64::new(r, omega * l)
    }

    #[differentiable]
    pub fn gain(omega: f64, r: f64) -> f64 {
        (1.0 / (1.0 + impedance(r, 0.5, omega))).norm()
    }
}

/// Never names the type.
#[gradient]
fn response(omega: f64, r: f64) -> f64 {
    elsewhere::gain(omega, r).ln()
}

#[gradient]
fn both(z: &Complex64, omega: f64) -> f64 {
    (elsewhere::impedance(2.0, 0.3, omega) * z).arg()
}

#[test]
fn functions_of_other_modules() {
    let (value, domega, dr) = response_grad(2.0, 0.7, 1.0);
    assert_eq!(value, response(2.0, 0.7));
    close(&[domega, dr], &differences(&[2.0, 0.7], |x| response(x[0], x[1])));
    let mut dz = Complex::new(0.0, 0.0);
    let (_, domega) = both_grad(&Complex::new(0.7, -0.4), &mut dz, 2.0, 1.0);
    let f = |x: &[f64]| both(&Complex::new(x[0], x[1]), x[2]);
    close(&[dz.re, dz.im, domega], &differences(&[0.7, -0.4, 2.0], f));
}

#[differentiable]
#[allow(unreachable_pub)]
mod circuit {
    use num_complex::Complex as C;

    pub struct Filter {
        pub pole: C<f64>,
        pub gain: f64,
    }

    impl Filter {
        fn at(&self, s: C<f64>) -> C<f64> {
            self.gain / (s - self.pole)
        }

        #[gradient]
        pub fn power(&self, omega: f64) -> f64 {
            self.at(C::new(0.0, omega)).norm_sqr()
        }
    }

    fn chain(filters: &[Filter], s: C<f64>) -> C<f64> {
        let mut z = C::new(1.0, 0.0);
        for filter in filters {
            z *= filter.at(s);
        }
        z
    }

    #[gradient]
    pub fn phase(filters: &[Filter], omega: f64) -> f64 {
        chain(filters, C::i() * omega).arg()
    }
}

#[test]
fn in_a_module() {
    use circuit::{Filter, phase, phase_grad};
    let filters = |x: &[f64]| {
        let one = |x: &[f64]| Filter { pole: Complex::new(x[0], x[1]), gain: x[2] };
        [one(&x[..3]), one(&x[3..6])]
    };
    let (x, mut d) = (START, filters(&[0.0; 6]));
    let (value, domega) = phase_grad(&filters(&x), &mut d, 1.2, 1.0);
    assert_eq!(value, phase(&filters(&x), 1.2));
    let mut found: Vec<f64> = d.iter().flat_map(|d| [d.pole.re, d.pole.im, d.gain]).collect();
    close(&found, &differences(&x, |x| phase(&filters(x), 1.2)));
    close(&[domega], &differences(&[1.2], |w| phase(&filters(&x), w[0])));

    let [filter, _] = filters(&x);
    let [mut shadow, _] = filters(&[0.0; 6]);
    filter.power_grad(&mut shadow, 1.2, 1.0);
    found = vec![shadow.pole.re, shadow.pole.im, shadow.gain];
    close(
        &found,
        &differences(&x[..3], |y| {
            let x = [y, &x[3..]].concat();
            filters(&x)[0].power(1.2)
        }),
    );
}

/// A type of that name which is no complex number of the library.
#[allow(unreachable_pub)]
mod mine {
    #[stratape::differentiable]
    #[derive(Clone, Copy)]
    pub struct Complex {
        pub re: f64,
        pub im: f64,
    }
}

mod uses_mine {
    use super::mine::Complex;
    use stratape::gradient;

    #[gradient]
    pub(super) fn product(z: Complex) -> f64 {
        z.re * z.im
    }
}

#[test]
fn a_type_of_the_same_name() {
    let (_, d) = uses_mine::product_grad(mine::Complex { re: 2.0, im: 5.0 }, 1.0);
    assert_eq!((d.re, d.im), (5.0, 2.0));
}
