//! Reductions.

use stratape::gpu::{
    GpuError, dot, dot_pullback, max, max_pullback, min, min_pullback, product, product_pullback,
    sum, sum_pullback,
};

use crate::common::{LENGTHS, Number, Random, added, both, close, gpu, shadow, up};

mod of {
    use super::both;
    both!(sums dots products extremes);
}

fn sums<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let xs = Random::new(n).numbers::<T>(n);
        let x = up::<T>(&gpu, &xs);
        close::<T>(sum(&x).unwrap().number(), xs.iter().sum());
        // The same bits again.
        assert_eq!(sum(&x).unwrap(), sum(&x).unwrap());
        let mut dx = shadow::<T>(&gpu, n);
        sum_pullback(&x, &mut dx, T::of(1.5)).unwrap();
        added(&dx, &vec![1.5; n], 1.0);
    }
}

fn dots<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let mut random = Random::new(n);
        let (xs, ys) = (random.numbers::<T>(n), random.numbers::<T>(n));
        let (x, y) = (up::<T>(&gpu, &xs), up::<T>(&gpu, &ys));
        close::<T>(dot(&x, &y).unwrap().number(), xs.iter().zip(&ys).map(|(x, y)| x * y).sum());
        let (mut dx, mut dy) = (shadow::<T>(&gpu, n), shadow::<T>(&gpu, n));
        dot_pullback(&x, &mut dx, &y, &mut dy, T::of(-2.0)).unwrap();
        let scaled = |numbers: &[f64]| -> Vec<f64> { numbers.iter().map(|v| -2.0 * v).collect() };
        added(&dx, &scaled(&ys), 1.0);
        added(&dy, &scaled(&xs), 1.0);
    }
}

fn products<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        for zeros in 0..3.min(n + 1) {
            // Factors whose product stays near 1.
            let mut random = Random::new(n + zeros);
            let mut xs: Vec<f64> =
                (0..n).map(|_| T::of(1.0 + 0.01 * random.number()).number()).collect();
            for k in 0..zeros {
                xs[(n / 3 + k * (n / 2)).min(n - 1 - k)] = 0.0;
            }
            let x = up::<T>(&gpu, &xs);
            close::<T>(product(&x).unwrap().number(), xs.iter().product());
            let others = |at: usize| -> f64 {
                let left: f64 = xs.iter().take(at).product();
                left * xs.iter().skip(at + 1).product::<f64>()
            };
            // All of them by the definition would take too long.
            let wanted: Vec<f64> = match zeros {
                0 => {
                    let all: f64 = xs.iter().product();
                    xs.iter().map(|x| 0.5 * all / x).collect()
                }
                _ => (0..n).map(|i| if xs[i] == 0.0 { 0.5 * others(i) } else { 0.0 }).collect(),
            };
            let mut dx = shadow::<T>(&gpu, n);
            product_pullback(&x, &mut dx, T::of(0.5)).unwrap();
            added(&dx, &wanted, 1.0);
        }
    }
}

fn extremes<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let mut random = Random::new(n);
        // Few values, so that each comes several times.
        let xs: Vec<f64> = (0..n).map(|_| f64::from(random.below(20)) - 10.0).collect();
        let x = up::<T>(&gpu, &xs);
        let mut dx = shadow::<T>(&gpu, n);
        if n == 0 {
            assert!(matches!(max(&x), Err(GpuError::Empty { .. })));
            assert!(matches!(min_pullback(&x, &mut dx, T::of(1.0)), Err(GpuError::Empty { .. })));
            continue;
        }
        let largest = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = xs.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(max(&x).unwrap().number(), largest);
        assert_eq!(min(&x).unwrap().number(), smallest);
        max_pullback(&x, &mut dx, T::of(3.0)).unwrap();
        min_pullback(&x, &mut dx, T::of(-1.0)).unwrap();
        let mut wanted = vec![0.0; n];
        wanted[xs.iter().position(|x| *x == largest).unwrap()] += 3.0;
        wanted[xs.iter().position(|x| *x == smallest).unwrap()] -= 1.0;
        added(&dx, &wanted, 1.0);
    }
}

#[test]
fn nan_is_passed_over() {
    let gpu = gpu();
    let x = gpu.upload(&[f64::NAN, f64::NEG_INFINITY, f64::NAN]).unwrap();
    assert_eq!(max(&x).unwrap(), f64::NEG_INFINITY);
    let mut dx = gpu.zeros(3).unwrap();
    max_pullback(&x, &mut dx, 1.0).unwrap();
    assert_eq!(dx.download().unwrap(), [0.0, 1.0, 0.0]);
    let x = gpu.upload(&[f64::NAN; 2]).unwrap();
    assert!(min(&x).unwrap().is_nan());
    let mut dx = gpu.zeros(2).unwrap();
    min_pullback(&x, &mut dx, 1.0).unwrap();
    assert_eq!(dx.download().unwrap(), [0.0; 2]);
}

#[test]
fn lengths_must_fit() {
    let gpu = gpu();
    let (x, y) = (gpu.zeros::<f64>(3).unwrap(), gpu.zeros(4).unwrap());
    let mut dx = gpu.zeros(2).unwrap();
    assert!(matches!(dot(&x, &y), Err(GpuError::Length { expected: 3, found: 4, .. })));
    assert!(matches!(sum_pullback(&x, &mut dx, 1.0), Err(GpuError::Length { .. })));
    assert!(matches!(product_pullback(&x, &mut dx, 1.0), Err(GpuError::Length { .. })));
    assert!(matches!(max_pullback(&x, &mut dx, 1.0), Err(GpuError::Length { .. })));
}
