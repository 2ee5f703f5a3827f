//! Elements by index.

use stratape::gpu::{
    Buffer, Device, FaultKind, GpuError, gather, gather_pullback, scatter, scatter_add,
    scatter_add_pullback, scatter_pullback,
};

use crate::common::{LENGTHS, Number, Random, added, all_close, both, down, gpu, shadow, up};

mod of {
    use super::both;
    both!(gathered scattered scattered_and_added);
}

/// Numbers, indices below `bound`, and weights for `results` results.
fn inputs<T: Number>(
    gpu: &Device,
    (n, count, bound): (usize, usize, usize),
) -> (Vec<f64>, Vec<u32>, Buffer<T>, Buffer<u32>) {
    let mut random = Random::new(n);
    let (xs, indices) = (random.numbers::<T>(n), random.indices(count, bound));
    let (x, index) = (up(gpu, &xs), gpu.upload(&indices).unwrap());
    (xs, indices, x, index)
}

fn gathered<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        // From a few elements, so that indices meet; and none of none.
        let len = n / 3 + usize::from(n > 0);
        let (xs, indices, x, index) = inputs::<T>(&gpu, (len, n, len.max(1)));
        let wanted: Vec<f64> = indices.iter().map(|i| xs[*i as usize]).collect();
        assert_eq!(down(&gather(&x, &index).unwrap()), wanted);
        let weights = Random::new(n + 1).numbers::<T>(n);
        let (dout, mut dx) = (up::<T>(&gpu, &weights), shadow::<T>(&gpu, len));
        gather_pullback(&x, &mut dx, &index, &dout).unwrap();
        let mut wanted = vec![0.0; len];
        for (i, weight) in indices.iter().zip(&weights) {
            wanted[*i as usize] += weight;
        }
        added(&dx, &wanted, 5.0);
    }
}

fn scattered_and_added<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let len = n / 2 + 1;
        let (xs, indices, x, index) = inputs::<T>(&gpu, (n, n, len));
        let mut wanted = vec![0.0; len];
        for (i, x) in indices.iter().zip(&xs) {
            wanted[*i as usize] += x;
        }
        all_close::<T>(&down(&scatter_add(&x, &index, len).unwrap()), &wanted, 5.0);
        let weights = Random::new(n + 1).numbers::<T>(len);
        let (dout, mut dx) = (up::<T>(&gpu, &weights), shadow::<T>(&gpu, n));
        scatter_add_pullback(&x, &mut dx, &index, &dout).unwrap();
        let wanted: Vec<f64> = indices.iter().map(|i| weights[*i as usize]).collect();
        added(&dx, &wanted, 1.0);
    }
}

fn scattered<T: Number>() {
    let gpu = gpu();
    for n in LENGTHS {
        let len = n + 5;
        let (xs, indices, x, index) = inputs::<T>(&gpu, (n, n, len));
        let mut random = Random::new(n + 1);
        let (mut wanted, weights) = (random.numbers::<T>(len), random.numbers::<T>(len));
        let y = up::<T>(&gpu, &wanted);
        let mut last = vec![None; len];
        for (k, (i, x)) in indices.iter().zip(&xs).enumerate() {
            wanted[*i as usize] = *x;
            last[*i as usize] = Some(k);
        }
        assert_eq!(down(&scatter(&x, &index, &y).unwrap()), wanted);
        let (mut to_x, mut to_y) = (vec![0.0; n], vec![0.0; len]);
        for (place, last) in last.iter().enumerate() {
            match last {
                Some(k) => to_x[*k] = weights[place],
                None => to_y[place] = weights[place],
            }
        }
        let dout = up::<T>(&gpu, &weights);
        let (mut dx, mut dy) = (shadow::<T>(&gpu, n), shadow::<T>(&gpu, len));
        scatter_pullback(&x, &mut dx, &index, &y, &mut dy, &dout).unwrap();
        added(&dx, &to_x, 1.0);
        added(&dy, &to_y, 1.0);
    }
}

#[test]
fn a_checked_launch_reports_an_index_that_is_out_of_bounds() {
    let gpu = gpu().checking(true);
    let (x, index) = (gpu.zeros::<f64>(3).unwrap(), gpu.upload(&[0, 3, 1]).unwrap());
    let outside = |error: GpuError| match error {
        GpuError::Fault(fault) => fault.kind == FaultKind::OutOfBounds && fault.thread == [1, 0, 0],
        _ => false,
    };
    assert!(outside(gather(&x, &index).unwrap_err()));
    assert!(outside(scatter_add(&x, &index, 3).unwrap_err()));
    assert!(outside(scatter(&x, &index, &x).unwrap_err()));
}

#[test]
fn lengths_and_devices_must_fit() {
    let gpu = gpu();
    let (x, index) = (gpu.zeros::<f64>(3).unwrap(), gpu.upload(&[0, 1]).unwrap());
    let mut dx = gpu.zeros(3).unwrap();
    let refused = |error: GpuError| matches!(error, GpuError::Length { .. });
    assert!(refused(scatter_add(&x, &index, 3).unwrap_err()));
    assert!(refused(scatter(&x, &index, &x).unwrap_err()));
    assert!(refused(gather_pullback(&x, &mut dx, &index, &x).unwrap_err()));
    let other = Device::emulator().zeros::<u32>(3).unwrap();
    assert!(matches!(gather(&x, &other), Err(GpuError::WrongDevice { .. })));
}
