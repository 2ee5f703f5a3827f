//! Products of matrices.

use stratape::gpu::{GpuError, Matmul, matmul, matmul_pullback};

use crate::common::{Number, Random, added, all_close, both, down, gpu, shadow, up};

mod of {
    use super::both;
    both!(products transposed);
}

const EXTENTS: [(usize, usize, usize); 9] = [
    (0, 3, 2),
    (3, 0, 2),
    (2, 3, 0),
    (1, 1, 1),
    (2, 3, 4),
    (16, 16, 16),
    (17, 33, 15),
    (40, 5, 31),
    (1, 100, 20),
];

/// Rows and columns of the one are the columns and rows of the other.
fn transpose(numbers: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..rows * columns).map(|at| numbers[at % rows * columns + at / rows]).collect()
}

fn wanted(a: &[f64], b: &[f64], (m, k, n): (usize, usize, usize)) -> Vec<f64> {
    let element = |at: usize| -> f64 {
        let (row, column) = (at / n, at % n);
        (0..k).map(|p| a[row * k + p] * b[p * n + column]).sum()
    };
    (0..m * n).map(element).collect()
}

fn products<T: Number>() {
    let gpu = gpu();
    for (m, k, n) in EXTENTS {
        let mut random = Random::new(m + k + n);
        let (a, b) = (random.numbers::<T>(m * k), random.numbers::<T>(k * n));
        let weights = random.numbers::<T>(m * n);
        let (left, right) = (up::<T>(&gpu, &a), up::<T>(&gpu, &b));
        let c = matmul(&left, &right, (m, k, n)).unwrap();
        all_close::<T>(&down(&c), &wanted(&a, &b, (m, k, n)), 5.0);
        let (mut da, mut db) = (shadow::<T>(&gpu, m * k), shadow::<T>(&gpu, k * n));
        let dc = up::<T>(&gpu, &weights);
        matmul_pullback(&left, &mut da, &right, &mut db, (m, k, n), &dc).unwrap();
        added(&da, &wanted(&weights, &transpose(&b, k, n), (m, n, k)), 5.0);
        added(&db, &wanted(&transpose(&a, m, k), &weights, (k, m, n)), 5.0);
    }
}

fn transposed<T: Number>() {
    let gpu = gpu();
    for (m, k, n) in EXTENTS {
        let mut random = Random::new(m + k + n);
        let (a, b) = (random.numbers::<T>(m * k), random.numbers::<T>(k * n));
        let scaled: Vec<f64> = wanted(&a, &b, (m, k, n)).iter().map(|c| -0.5 * c).collect();
        for (flip_a, flip_b) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut product = Matmul::new((m, k, n)).scaled(T::of(-0.5));
            let (mut left, mut right) = (a.clone(), b.clone());
            if flip_a {
                product = product.left_transposed();
                left = transpose(&a, m, k);
            }
            if flip_b {
                product = product.right_transposed();
                right = transpose(&b, k, n);
            }
            let (left, right) = (up::<T>(&gpu, &left), up::<T>(&gpu, &right));
            all_close::<T>(&down(&product.run(&left, &right).unwrap()), &scaled, 5.0);
            let mut c = shadow::<T>(&gpu, m * n);
            product.run_adding(&left, &right, &mut c).unwrap();
            added(&c, &scaled, 5.0);
        }
    }
}

#[test]
fn lengths_must_fit() {
    let gpu = gpu();
    let (a, b) = (gpu.zeros::<f64>(6).unwrap(), gpu.zeros(6).unwrap());
    let refused = |error: GpuError| matches!(error, GpuError::Length { .. });
    assert!(refused(matmul(&a, &b, (2, 2, 3)).unwrap_err()));
    assert!(refused(matmul(&a, &b, (usize::MAX, 2, 3)).unwrap_err()));
    let (mut da, mut db) = (gpu.zeros(6).unwrap(), gpu.zeros(5).unwrap());
    let dc = gpu.zeros(4).unwrap();
    assert!(refused(matmul_pullback(&a, &mut da, &b, &mut db, (2, 3, 2), &dc).unwrap_err()));
}
