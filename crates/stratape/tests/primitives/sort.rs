//! Sorting by keys.

use std::cmp::Ordering;

use stratape::gpu::{GpuError, Key, Order, sort_by_key, sort_by_key_pullback};

use crate::common::{Number, Random, added, both, down, gpu, shadow, up};

mod of {
    use super::both;
    both!(values);
}

/// Sorts by these keys, and holds the result against a stable sort on the host.
fn held<K: Key + PartialEq + std::fmt::Debug, T: Number>(
    keys: &[K],
    order: Order,
    compare: impl Fn(&K, &K) -> Ordering,
) {
    let (gpu, n) = (gpu(), keys.len());
    let mut random = Random::new(n);
    let (xs, weights) = (random.numbers::<T>(n), random.numbers::<T>(n));
    let mut wanted: Vec<u32> = (0..n as u32).collect();
    wanted.sort_by(|i, j| {
        let found = compare(&keys[*i as usize], &keys[*j as usize]);
        if order == Order::Descending { found.reverse() } else { found }
    });
    let device_keys = gpu.upload(keys).unwrap();
    let sorted = sort_by_key(&device_keys, &up::<T>(&gpu, &xs), order).unwrap();
    assert_eq!(sorted.permutation.download().unwrap(), wanted);
    let by = |i: &u32| xs[*i as usize];
    assert_eq!(down(&sorted.values), wanted.iter().map(by).collect::<Vec<_>>());
    let by = |i: &u32| keys[*i as usize];
    assert_eq!(sorted.keys.download().unwrap(), wanted.iter().map(by).collect::<Vec<_>>());
    let mut dx = shadow::<T>(&gpu, n);
    sort_by_key_pullback(&sorted.permutation, &mut dx, &up::<T>(&gpu, &weights)).unwrap();
    let mut back = vec![0.0; n];
    for (i, weight) in wanted.iter().zip(&weights) {
        back[*i as usize] = *weight;
    }
    added(&dx, &back, 1.0);
}

const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

fn values<T: Number>() {
    for order in ORDERS {
        for n in [0, 1, 2, 33, 257, 2048, 2049, 5000] {
            let mut random = Random::new(n);
            // Few keys, so that many are equal: those stay in their order.
            held::<u32, T>(&random.indices(n, 50), order, Ord::cmp);
        }
        let mut random = Random::new(9);
        let keys: Vec<u32> = (0..1000).map(|_| random.bits() << 1).collect();
        held::<u32, T>(&keys, order, Ord::cmp);
        held::<i32, T>(&keys.iter().map(|key| *key as i32).collect::<Vec<_>>(), order, Ord::cmp);
    }
}

#[test]
fn by_floats_and_wide_numbers() {
    for order in ORDERS {
        let mut random = Random::new(3);
        let mut keys: Vec<f64> =
            (0..3000).map(|_| random.number() * f64::from(random.below(300)).exp2()).collect();
        keys[5] = 0.0;
        keys[6] = -0.0;
        keys[7] = 0.0;
        keys[100] = f64::INFINITY;
        keys[200] = f64::NEG_INFINITY;
        held::<f64, f64>(&keys, order, |a, b| a.partial_cmp(b).unwrap());
        let small: Vec<f32> = keys.iter().map(|key| (*key).clamp(-9.0, 9.0) as f32).collect();
        held::<f32, f64>(&small, order, |a, b| a.partial_cmp(b).unwrap());
        let wide: Vec<i64> = keys.iter().map(|key| key.to_bits() as i64).collect();
        held::<i64, f64>(&wide, order, Ord::cmp);
        let wide: Vec<u64> = keys.iter().map(|key| key.to_bits()).collect();
        held::<u64, f64>(&wide, order, Ord::cmp);
    }
}

#[test]
fn nan_goes_behind_all_others() {
    let gpu = gpu();
    let keys = gpu.upload(&[f64::NAN, 2.0, f64::INFINITY, 1.0]).unwrap();
    let values = gpu.zeros::<f32>(4).unwrap();
    let sorted = sort_by_key(&keys, &values, Order::Ascending).unwrap();
    assert_eq!(sorted.permutation.download().unwrap(), [3, 1, 2, 0]);
}

#[test]
fn lengths_must_fit() {
    let gpu = gpu();
    let (keys, values) = (gpu.zeros::<u32>(3).unwrap(), gpu.zeros::<f64>(2).unwrap());
    let refused = sort_by_key(&keys, &values, Order::Ascending);
    assert!(matches!(refused, Err(GpuError::Length { .. })));
    let mut dx = gpu.zeros::<f64>(3).unwrap();
    let refused = sort_by_key_pullback(&keys, &mut dx, &values);
    assert!(matches!(refused, Err(GpuError::Length { .. })));
}
