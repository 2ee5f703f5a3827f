//! Scans and sums of groups.

use stratape::gpu::{
    Buffer, GpuError, exclusive_scan_by_key, exclusive_scan_by_key_pullback, inclusive_scan_by_key,
    inclusive_scan_by_key_pullback, reduce_by_key, reduce_by_key_pullback,
};

use crate::common::{
    LENGTHS, Number, Random, added, all_close, both, close, down, gpu, shadow, up,
};

mod of {
    use super::both;
    both!(inclusive exclusive sums);
}

/// Keys in groups of about that length, and where each group begins and ends.
fn groups(random: &mut Random, n: usize, length: usize) -> (Vec<u32>, Vec<(usize, usize)>) {
    let (mut keys, mut ranges) = (Vec::new(), Vec::new());
    let mut key = 3;
    while keys.len() < n {
        let count = (1 + random.below(2 * length) as usize).min(n - keys.len());
        ranges.push((keys.len(), keys.len() + count));
        keys.extend(vec![key; count]);
        key = (key + 1 + random.below(3)) % 10;
    }
    (keys, ranges)
}

/// Every length with groups that are shorter than a warp, longer than a block, and longer than a chunk.
fn cases<T: Number>(mut one: impl FnMut(&[u32], &[(usize, usize)], &[f64], &[f64])) {
    for n in LENGTHS.into_iter().chain([9000]) {
        for length in [1, 5, 400, 3000] {
            let mut random = Random::new(n + length);
            let (keys, ranges) = groups(&mut random, n, length);
            let (xs, weights) = (random.numbers::<T>(n), random.numbers::<T>(n));
            one(&keys, &ranges, &xs, &weights);
        }
    }
}

fn inclusive<T: Number>() {
    let gpu = gpu();
    cases::<T>(|keys, ranges, xs, weights| {
        let n = xs.len();
        let keys: Buffer<u32> = gpu.upload(keys).unwrap();
        let (x, dout) = (up::<T>(&gpu, xs), up::<T>(&gpu, weights));
        let (mut wanted, mut back) = (vec![0.0; n], vec![0.0; n]);
        for &(from, to) in ranges {
            for i in from..to {
                wanted[i] = xs[i] + if i > from { wanted[i - 1] } else { 0.0 };
            }
            for i in (from..to).rev() {
                back[i] = weights[i] + if i + 1 < to { back[i + 1] } else { 0.0 };
            }
        }
        all_close::<T>(&down(&inclusive_scan_by_key(&keys, &x).unwrap()), &wanted, 10.0);
        let mut dx = shadow::<T>(&gpu, n);
        inclusive_scan_by_key_pullback(&keys, &x, &mut dx, &dout).unwrap();
        added(&dx, &back, 10.0);
    });
}

fn exclusive<T: Number>() {
    let gpu = gpu();
    cases::<T>(|keys, ranges, xs, weights| {
        let n = xs.len();
        // Keys may be floats.
        let keys: Vec<f32> = keys.iter().map(|key| *key as f32 / 4.0 - 1.0).collect();
        let keys = gpu.upload(&keys).unwrap();
        let (x, dout) = (up::<T>(&gpu, xs), up::<T>(&gpu, weights));
        let (mut wanted, mut back) = (vec![0.25; n], vec![0.0; n]);
        for &(from, to) in ranges {
            for i in from + 1..to {
                wanted[i] = wanted[i - 1] + xs[i - 1];
            }
            for i in (from + 1..to).rev() {
                back[i - 1] = back[i] + weights[i];
            }
        }
        let out = exclusive_scan_by_key(&keys, &x, T::of(0.25)).unwrap();
        all_close::<T>(&down(&out), &wanted, 10.0);
        let mut dx = shadow::<T>(&gpu, n);
        let initial =
            exclusive_scan_by_key_pullback(&keys, &x, &mut dx, T::of(0.25), &dout).unwrap();
        added(&dx, &back, 10.0);
        close::<T>(initial.number(), weights.iter().sum());
    });
}

fn sums<T: Number>() {
    let gpu = gpu();
    cases::<T>(|keys, ranges, xs, weights| {
        let (n, weights) = (xs.len(), &weights[..ranges.len()]);
        let names: Vec<u32> = ranges.iter().map(|range| keys[range.0]).collect();
        let wanted: Vec<f64> = ranges.iter().map(|&(from, to)| xs[from..to].iter().sum()).collect();
        let keys = gpu.upload(keys).unwrap();
        let (x, dout) = (up::<T>(&gpu, xs), up::<T>(&gpu, weights));
        let (found, sums) = reduce_by_key(&keys, &x).unwrap();
        assert_eq!(found.download().unwrap(), names);
        all_close::<T>(&down(&sums), &wanted, 10.0);
        let mut back = vec![0.0; n];
        for (&(from, to), weight) in ranges.iter().zip(weights) {
            back[from..to].fill(*weight);
        }
        let mut dx = shadow::<T>(&gpu, n);
        reduce_by_key_pullback(&keys, &x, &mut dx, &dout).unwrap();
        added(&dx, &back, 1.0);
    });
}

#[test]
fn lengths_must_fit() {
    let gpu = gpu();
    let (keys, x) = (gpu.upload(&[1_u64, 1]).unwrap(), gpu.zeros::<f64>(3).unwrap());
    assert!(matches!(inclusive_scan_by_key(&keys, &x), Err(GpuError::Length { .. })));
    assert!(matches!(exclusive_scan_by_key(&keys, &x, 0.0), Err(GpuError::Length { .. })));
    assert!(matches!(reduce_by_key(&keys, &x), Err(GpuError::Length { .. })));
    let (keys, mut dx) = (gpu.upload(&[1_i32, 1, 2]).unwrap(), gpu.zeros(3).unwrap());
    let dout = gpu.zeros(3).unwrap();
    let error = reduce_by_key_pullback(&keys, &x, &mut dx, &dout).unwrap_err();
    assert!(matches!(error, GpuError::Length { expected: 2, found: 3, .. }));
}
