//! Every function of the float library, as a method and as a path, and casts.

#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the constructs under test, also in ways nobody should write them"
)]

both! {
    #[gradient]
    fn sqrt(x: T) -> T {
        x.sqrt() + x * T::sqrt(x)
    }

    #[gradient]
    fn cbrt(x: T) -> T {
        x.cbrt() + x * T::cbrt(x)
    }

    #[gradient]
    fn exp(x: T) -> T {
        x.exp() + x * T::exp(x)
    }

    #[gradient]
    fn exp2(x: T) -> T {
        x.exp2() + x * T::exp2(x)
    }

    #[gradient]
    fn exp_m1(x: T) -> T {
        x.exp_m1() + x * T::exp_m1(x)
    }

    #[gradient]
    fn ln(x: T) -> T {
        x.ln() + x * T::ln(x)
    }

    #[gradient]
    fn ln_1p(x: T) -> T {
        x.ln_1p() + x * T::ln_1p(x)
    }

    #[gradient]
    fn log2(x: T) -> T {
        x.log2() + x * T::log2(x)
    }

    #[gradient]
    fn log10(x: T) -> T {
        x.log10() + x * T::log10(x)
    }

    #[gradient]
    fn sin(x: T) -> T {
        x.sin() + x * T::sin(x)
    }

    #[gradient]
    fn cos(x: T) -> T {
        x.cos() + x * T::cos(x)
    }

    #[gradient]
    fn tan(x: T) -> T {
        x.tan() + x * T::tan(x)
    }

    #[gradient]
    fn asin(x: T) -> T {
        x.asin() + x * T::asin(x)
    }

    #[gradient]
    fn acos(x: T) -> T {
        x.acos() + x * T::acos(x)
    }

    #[gradient]
    fn atan(x: T) -> T {
        x.atan() + x * T::atan(x)
    }

    #[gradient]
    fn sinh(x: T) -> T {
        x.sinh() + x * T::sinh(x)
    }

    #[gradient]
    fn cosh(x: T) -> T {
        x.cosh() + x * T::cosh(x)
    }

    #[gradient]
    fn tanh(x: T) -> T {
        x.tanh() + x * T::tanh(x)
    }

    #[gradient]
    fn asinh(x: T) -> T {
        x.asinh() + x * T::asinh(x)
    }

    #[gradient]
    fn acosh(x: T) -> T {
        x.acosh() + x * T::acosh(x)
    }

    #[gradient]
    fn atanh(x: T) -> T {
        x.atanh() + x * T::atanh(x)
    }

    #[gradient]
    fn abs(x: T) -> T {
        x.abs() + x * T::abs(x)
    }

    #[gradient]
    fn signum(x: T) -> T {
        x.signum() + x * T::signum(x)
    }

    #[gradient]
    fn floor(x: T) -> T {
        x.floor() + x * T::floor(x)
    }

    #[gradient]
    fn ceil(x: T) -> T {
        x.ceil() + x * T::ceil(x)
    }

    #[gradient]
    fn round(x: T) -> T {
        x.round() + x * T::round(x)
    }

    #[gradient]
    fn round_ties_even(x: T) -> T {
        x.round_ties_even() + x * T::round_ties_even(x)
    }

    #[gradient]
    fn trunc(x: T) -> T {
        x.trunc() + x * T::trunc(x)
    }

    #[gradient]
    fn fract(x: T) -> T {
        x.fract() + x * T::fract(x)
    }

    #[gradient]
    fn recip(x: T) -> T {
        x.recip() + x * T::recip(x)
    }

    #[gradient]
    fn to_radians(x: T) -> T {
        x.to_radians() + x * T::to_radians(x)
    }

    #[gradient]
    fn to_degrees(x: T) -> T {
        x.to_degrees() + x * T::to_degrees(x)
    }

    #[gradient]
    fn sin_cos(x: T) -> T {
        let (s, c) = x.sin_cos();
        s * c * c
    }

    #[gradient]
    fn negation(x: T) -> T {
        let y = -x;
        -(y * y) * -y
    }

    #[gradient]
    fn powi(x: T) -> T {
        x.powi(3) + T::powi(x, -2) + x.powi(0) + x.powi(1) * x.powi(2)
    }

    #[gradient]
    fn constants(x: T) -> T {
        x * T::MAX.min(3.0) + x * x * T::EPSILON.sqrt() + (x * 1e-3 + 2.5e0).sin() * 1_000.0
    }

    #[gradient]
    fn arithmetic(x: T, y: T) -> T {
        (x + y) * (x - y) / (x * y + 1.0) - 2.0 * x + y / 4.0
    }

    #[gradient]
    fn remainder(x: T, y: T) -> T {
        x % 1.0 + (x + 10.0) % (y + 3.0) + x * (2.0 % y)
    }

    #[gradient]
    fn rem_euclid(x: T, y: T) -> T {
        x.rem_euclid(1.0) + T::rem_euclid(-x, y) * y
    }

    #[gradient]
    fn div_euclid(x: T, y: T) -> T {
        x.div_euclid(1.0) * x + T::div_euclid(x, 5.0) * y
    }

    #[gradient]
    fn powf(x: T, y: T) -> T {
        x.powf(y) + T::powf(y, 1.5) + x.powf(-0.5)
    }

    #[gradient]
    fn log(x: T, y: T) -> T {
        x.log(y) + T::log(y, 3.0)
    }

    #[gradient]
    fn hypot(x: T, y: T) -> T {
        x.hypot(y) + T::hypot(x, 3.0)
    }

    #[gradient]
    fn atan2(x: T, y: T) -> T {
        y.atan2(x) + x * T::atan2(x, y)
    }

    #[gradient]
    fn copysign(x: T, y: T) -> T {
        x.copysign(y) * y + T::copysign(x, 1.0)
    }

    #[gradient]
    fn min(x: T, y: T) -> T {
        x.min(y) * x + T::min(x, 0.35)
    }

    #[gradient]
    fn max(x: T, y: T) -> T {
        x.max(y) * x + T::max(x, 0.35)
    }

    #[gradient]
    fn clamp(x: T, y: T) -> T {
        x.clamp(-1.1, 1.1) * y + T::clamp(y, x - 5.0, x + 0.5)
    }

    #[gradient]
    fn mul_add(x: T, y: T) -> T {
        x.mul_add(y, x) + T::mul_add(2.0, x, y)
    }

    #[gradient]
    fn comparisons(x: T, y: T) -> T {
        let mut s = x;
        if x < y && x <= 3.0 && x.is_finite() {
            s *= y;
        }
        if x > 0.3 || y >= 0.4 || x == 7.0 || x.is_nan() || y.is_sign_negative() {
            s += x * x;
        }
        if x != y && !y.is_infinite() && y.is_sign_positive() {
            s -= y * y;
        }
        s
    }

    #[gradient]
    fn casts(x: T, y: T) -> T {
        let c = (x as f64 * y as f64) as T;
        let whole = -y as i32;
        let index = (x + 1.0) as usize;
        c + x * (whole as T) + y * (index as T) + x * T::from(3_u8) + x * (true as u8 as T)
    }

    #[gradient]
    fn references(x: T, y: T) -> T {
        let (a, b) = (&x, &y);
        a * b + *a / b - a.powi(2) + (-b).exp() * a.max(*b) + a.clone()
    }

    mod tests {
        use super::*;

        /// A function of one float: as a method in one factor, as a path in the other.
        macro_rules! unary {
            ($($name:ident $gradient:ident $range:expr;)*) => {
                $(#[test]
                fn $name() {
                    check_within($range, 0.0, |x| super::$name(*x), |x, dx, seed| {
                        let (value, adjoint) = super::$gradient(*x, seed);
                        *dx += adjoint;
                        value
                    });
                })*
            };
        }

        unary! {
            sqrt sqrt_grad 0.3..4.0;
            cbrt cbrt_grad 0.3..4.0;
            exp exp_grad -1.5..1.5;
            exp2 exp2_grad -1.5..1.5;
            exp_m1 exp_m1_grad -1.5..1.5;
            ln ln_grad 0.3..4.0;
            ln_1p ln_1p_grad -0.5..3.0;
            log2 log2_grad 0.3..4.0;
            log10 log10_grad 0.3..4.0;
            sin sin_grad -3.0..3.0;
            cos cos_grad -3.0..3.0;
            tan tan_grad -1.2..1.2;
            asin asin_grad -0.8..0.8;
            acos acos_grad -0.8..0.8;
            atan atan_grad -3.0..3.0;
            sinh sinh_grad -1.5..1.5;
            cosh cosh_grad -1.5..1.5;
            tanh tanh_grad -1.5..1.5;
            asinh asinh_grad -2.0..2.0;
            acosh acosh_grad 1.4..3.0;
            atanh atanh_grad -0.7..0.7;
            abs abs_grad 0.1..2.0;
            signum signum_grad -2.0..-0.1;
            floor floor_grad 1.1..1.9;
            ceil ceil_grad -1.9..-1.1;
            round round_grad 1.55..2.4;
            round_ties_even round_ties_even_grad 1.55..2.4;
            trunc trunc_grad -1.9..-1.1;
            fract fract_grad 1.1..1.9;
            recip recip_grad 0.5..2.0;
            to_radians to_radians_grad -90.0..90.0;
            to_degrees to_degrees_grad -1.0..1.0;
            sin_cos sin_cos_grad -3.0..3.0;
            negation negation_grad -2.0..2.0;
            powi powi_grad 0.5..2.0;
            constants constants_grad 0.5..2.0;
        }

        /// A function of two floats.
        macro_rules! binary {
            ($($name:ident $gradient:ident $range:expr;)*) => {
                $(#[test]
                fn $name() {
                    check_within($range, (0.0, 0.0), |(x, y)| super::$name(*x, *y), |(x, y), (dx, dy), seed| {
                        let (value, x, y) = super::$gradient(*x, *y, seed);
                        *dx += x;
                        *dy += y;
                        value
                    });
                })*
            };
        }

        binary! {
            arithmetic arithmetic_grad 0.5..2.0;
            remainder remainder_grad 1.2..1.9;
            rem_euclid rem_euclid_grad 1.2..1.9;
            div_euclid div_euclid_grad 1.2..1.9;
            powf powf_grad 0.4..2.0;
            log log_grad 1.5..4.0;
            hypot hypot_grad -2.0..2.0;
            atan2 atan2_grad 0.2..2.0;
            copysign copysign_grad -2.0..-0.1;
            min min_grad -2.0..2.0;
            max max_grad -2.0..2.0;
            clamp clamp_grad -2.0..2.0;
            mul_add mul_add_grad -2.0..2.0;
            comparisons comparisons_grad -2.0..2.0;
            casts casts_grad 1.1..1.9;
            references references_grad 0.5..2.0;
        }
    }
}

#[stratape::gradient]
fn narrow(x: f64, y: f32) -> f32 {
    let narrow = x as f32;
    let wide = f64::from(y);
    (narrow * narrow) * (wide * x) as f32
}

#[test]
fn casts_between_widths_carry_derivatives() {
    let (x, y) = (1.3, 0.7_f32);
    let (value, dx, dy) = narrow_grad(x, y, 1.0);
    assert_eq!(value.to_bits(), narrow(x, y).to_bits());
    assert!((dx - 3.0 * x * x * f64::from(y)).abs() < 1e-5, "{dx}");
    assert!((f64::from(dy) - x * x * x).abs() < 1e-5, "{dy}");
}
