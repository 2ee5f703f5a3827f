//! fft: an iterative Fourier transform of a signal, and the distance of its power spectrum from a target.

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};
use spectrum::{Complex, transform};

#[stratape::differentiable]
mod spectrum {
    use std::f64::consts::PI;
    use std::ops::{Add, Mul, Sub};

    #[derive(Clone, Copy)]
    pub(super) struct Complex {
        pub(super) re: f64,
        pub(super) im: f64,
    }

    impl Add for Complex {
        type Output = Complex;

        fn add(self, other: Complex) -> Complex {
            Complex { re: self.re + other.re, im: self.im + other.im }
        }
    }

    impl Sub for Complex {
        type Output = Complex;

        fn sub(self, other: Complex) -> Complex {
            Complex { re: self.re - other.re, im: self.im - other.im }
        }
    }

    impl Mul for Complex {
        type Output = Complex;

        fn mul(self, other: Complex) -> Complex {
            Complex {
                re: self.re * other.re - self.im * other.im,
                im: self.re * other.im + self.im * other.re,
            }
        }
    }

    pub(super) fn transform(data: &mut [Complex]) {
        let n = data.len();
        let mut j = 0;
        for i in 1..n {
            let mut bit = n >> 1;
            while j & bit != 0 {
                j ^= bit;
                bit >>= 1;
            }
            j ^= bit;
            if i < j {
                data.swap(i, j);
            }
        }
        let mut half = 1;
        while half < n {
            let angle = -PI / half as f64;
            let step = Complex { re: angle.cos(), im: angle.sin() };
            for start in (0..n).step_by(2 * half) {
                let mut w = Complex { re: 1.0, im: 0.0 };
                for k in start..start + half {
                    let even = data[k];
                    let odd = w * data[k + half];
                    data[k] = even + odd;
                    data[k + half] = even - odd;
                    w = w * step;
                }
            }
            half *= 2;
        }
    }

    #[gradient(wrt(signal))]
    pub(super) fn misfit(signal: &[f64], target: &[f64]) -> f64 {
        let mut data = vec![Complex { re: 0.0, im: 0.0 }; signal.len()];
        for (z, x) in data.iter_mut().zip(signal) {
            z.re = *x;
        }
        transform(&mut data);
        let n = signal.len() as f64;
        data.iter()
            .zip(target)
            .map(|(z, t)| {
                let power = (z.re * z.re + z.im * z.im) / n;
                (power - t) * (power - t)
            })
            .sum::<f64>()
            / n
    }
}

/// The adjoint of a transform is a transform.
fn by_hand(signal: &[f64], dsignal: &mut [f64], target: &[f64], seed: f64) -> f64 {
    let n = signal.len() as f64;
    let mut data: Vec<Complex> = signal.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    transform(&mut data);
    let mut misfit = 0.0;
    for (z, target) in data.iter_mut().zip(target) {
        let error = (z.re * z.re + z.im * z.im) / n - target;
        misfit += error * error;
        let scale = 4.0 * seed * error / (n * n);
        *z = Complex { re: scale * z.re, im: -scale * z.im };
    }
    transform(&mut data);
    for (dx, z) in dsignal.iter_mut().zip(&data) {
        *dx += z.re;
    }
    misfit / n
}

fn calling(
    adjoint: fn(&[f64], &mut [f64], &[f64], f64) -> f64,
) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let ([signal], [target]) = (inputs.active(), inputs.constant());
        let [dsignal] = shadows.each();
        adjoint(signal, dsignal, target, 1.0)
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let n = scale.or_small(2048, 32);
    let mut numbers = Numbers::from_seed(108);
    let signal = numbers.array(n, -1.0, 1.0);
    let target = numbers.array(n, 0.0, 1.0);
    let inputs = Inputs { active: vec![signal], constant: vec![target], ..Inputs::default() };
    let primal = |inputs: &mut Inputs| {
        let ([signal], [target]) = (inputs.active(), inputs.constant());
        spectrum::misfit(signal, target)
    };
    Program::new("fft", inputs, primal, calling(spectrum::misfit_grad))
        .with_by_hand(calling(by_hand))
        .with_state(0)
}
