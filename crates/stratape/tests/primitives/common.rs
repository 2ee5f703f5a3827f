//! Numbers, lengths and comparisons.

use stratape::gpu::{Buffer, Device, Real};

/// Lengths around the borders of warps, blocks and chunks.
pub(crate) const LENGTHS: [usize; 11] = [0, 1, 31, 32, 33, 255, 256, 257, 1000, 2049, 5000];

pub(crate) fn gpu() -> Device {
    Device::new().unwrap()
}

/// A type of numbers, and how well it computes.
pub(crate) trait Number: Real + std::fmt::Debug {
    const TOLERANCE: f64;
    fn of(number: f64) -> Self;
    fn number(self) -> f64;
}

impl Number for f64 {
    const TOLERANCE: f64 = 1e-11;
    fn of(number: f64) -> Self {
        number
    }
    fn number(self) -> f64 {
        self
    }
}

impl Number for f32 {
    const TOLERANCE: f64 = 1e-4;
    fn of(number: f64) -> Self {
        number as f32
    }
    fn number(self) -> f64 {
        f64::from(self)
    }
}

/// Numbers that look random: a linear congruential generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: usize) -> Self {
        Self(seed as u64 ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn bits(&mut self) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// Less than a bound.
    pub(crate) fn below(&mut self, bound: usize) -> u32 {
        (self.bits() as usize % bound) as u32
    }

    /// Between −1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        f64::from(self.bits()) / f64::from(1u32 << 30) - 1.0
    }

    /// Numbers that the type holds without rounding.
    pub(crate) fn numbers<T: Number>(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| T::of(self.number()).number()).collect()
    }

    pub(crate) fn indices(&mut self, n: usize, bound: usize) -> Vec<u32> {
        (0..n).map(|_| self.below(bound)).collect()
    }
}

pub(crate) fn up<T: Number>(gpu: &Device, numbers: &[f64]) -> Buffer<T> {
    gpu.upload(&numbers.iter().map(|number| T::of(*number)).collect::<Vec<_>>()).unwrap()
}

pub(crate) fn down<T: Number>(buffer: &Buffer<T>) -> Vec<f64> {
    buffer.download().unwrap().into_iter().map(Number::number).collect()
}

/// A shadow, which is added to.
pub(crate) fn shadow<T: Number>(gpu: &Device, n: usize) -> Buffer<T> {
    up(gpu, &vec![START; n])
}

/// What shadows hold before.
pub(crate) const START: f64 = 0.5;

#[track_caller]
pub(crate) fn close<T: Number>(found: f64, wanted: f64) {
    assert!(
        (found - wanted).abs() <= T::TOLERANCE * (1.0 + wanted.abs()),
        "{found}, and not {wanted}"
    );
}

/// Compares with tolerances that grow with `scale`, the largest of the sums on the way.
#[track_caller]
pub(crate) fn all_close<T: Number>(found: &[f64], wanted: &[f64], scale: f64) {
    assert_eq!(found.len(), wanted.len());
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!(
            (found - wanted).abs() <= T::TOLERANCE * (scale + wanted.abs()),
            "element {i}: {found}, and not {wanted}"
        );
    }
}

/// Compares a shadow with the adjoints that should have been added to it.
#[track_caller]
pub(crate) fn added<T: Number>(shadow: &Buffer<T>, wanted: &[f64], scale: f64) {
    let wanted: Vec<f64> = wanted.iter().map(|wanted| START + wanted).collect();
    all_close::<T>(&down(shadow), &wanted, scale);
}

/// Runs a test for both types.
macro_rules! both {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            super::$name::<f64>();
            super::$name::<f32>();
        }
    )*};
}
pub(crate) use both;
