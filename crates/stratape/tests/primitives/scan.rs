//! Scans, and differences of neighbours.

use stratape::gpu::{
    GpuError, adjacent_difference, adjacent_difference_pullback, exclusive_scan,
    exclusive_scan_pullback, inclusive_scan, inclusive_scan_pullback,
};

use crate::common::{
    LENGTHS, Number, Random, added, all_close, both, close, down, gpu, shadow, up,
};

mod of {
    use super::both;
    both!(inclusive exclusive differences);
}

/// Sums before each element, and after all of them.
fn running(numbers: &[f64], initial: f64) -> Vec<f64> {
    let mut sums = vec![initial];
    sums.extend(numbers.iter().scan(initial, |sum, number| {
        *sum += number;
        Some(*sum)
    }));
    sums
}

/// The sums of each element and those behind it, and 0.
fn running_back(numbers: &[f64]) -> Vec<f64> {
    let reversed: Vec<f64> = numbers.iter().rev().copied().collect();
    running(&reversed, 0.0).into_iter().rev().collect()
}

fn inclusive<T: Number>() {
    let gpu = gpu();
    // The last one has more chunks than a chunk has warps.
    for n in LENGTHS.into_iter().chain([2048, 4096, 30_000]) {
        let mut random = Random::new(n);
        let (xs, weights) = (random.numbers::<T>(n), random.numbers::<T>(n));
        let (x, dout) = (up::<T>(&gpu, &xs), up::<T>(&gpu, &weights));
        let out = inclusive_scan(&x).unwrap();
        all_close::<T>(&down(&out), &running(&xs, 0.0)[1..], 10.0);
        assert_eq!(down(&out), down(&inclusive_scan(&x).unwrap()));
        let mut dx = shadow::<T>(&gpu, n);
        inclusive_scan_pullback(&x, &mut dx, &dout).unwrap();
        added(&dx, &running_back(&weights)[..n], 10.0);
    }
}

fn exclusive<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let mut random = Random::new(n);
        let (xs, weights) = (random.numbers::<T>(n), random.numbers::<T>(n));
        let (x, dout) = (up::<T>(&gpu, &xs), up::<T>(&gpu, &weights));
        let out = exclusive_scan(&x, T::of(0.25)).unwrap();
        all_close::<T>(&down(&out), &running(&xs, 0.25)[..n], 10.0);
        let mut dx = shadow::<T>(&gpu, n);
        let initial = exclusive_scan_pullback(&x, &mut dx, T::of(0.25), &dout).unwrap();
        added(&dx, &running_back(&weights)[1..], 10.0);
        close::<T>(initial.number(), weights.iter().sum());
    }
}

fn differences<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let mut random = Random::new(n);
        let (xs, weights) = (random.numbers::<T>(n), random.numbers::<T>(n));
        let (x, dout) = (up::<T>(&gpu, &xs), up::<T>(&gpu, &weights));
        let before = |i: usize| if i == 0 { 0.0 } else { xs[i - 1] };
        let wanted: Vec<f64> = (0..n).map(|i| xs[i] - before(i)).collect();
        all_close::<T>(&down(&adjacent_difference(&x).unwrap()), &wanted, 1.0);
        let mut dx = shadow::<T>(&gpu, n);
        adjacent_difference_pullback(&x, &mut dx, &dout).unwrap();
        let after = |i: usize| weights.get(i + 1).copied().unwrap_or(0.0);
        let wanted: Vec<f64> = (0..n).map(|i| weights[i] - after(i)).collect();
        added(&dx, &wanted, 1.0);
    }
}

#[test]
fn more_chunks_than_a_chunk_has_elements() {
    let gpu = gpu();
    // On the emulator the same by a few levels would take minutes.
    let n = if gpu.is_emulator() { 70_000 } else { 9_000_000 };
    let x = gpu.upload(&vec![1.0_f64; n]).unwrap();
    let out = inclusive_scan(&x).unwrap().download().unwrap();
    assert!(out.iter().enumerate().all(|(i, sum)| *sum == (i + 1) as f64));
}

#[test]
fn lengths_must_fit() {
    let gpu = gpu();
    let (x, dout, mut dx) =
        (gpu.zeros::<f64>(3).unwrap(), gpu.zeros(2).unwrap(), gpu.zeros(3).unwrap());
    let refused = |result: Result<(), GpuError>| matches!(result, Err(GpuError::Length { .. }));
    assert!(refused(inclusive_scan_pullback(&x, &mut dx, &dout)));
    assert!(refused(exclusive_scan_pullback(&x, &mut dx, 0.0, &dout).map(|_| ())));
    assert!(refused(adjacent_difference_pullback(&x, &mut dx, &dout)));
}
