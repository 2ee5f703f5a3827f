//! Shapes of kernels, each with its gradient.

use crate::differences::{agree, numbers, weighted, weights};
use stratape::gpu::{Device, Grid, fresh};

#[stratape::kernel]
#[gradient]
fn square(a: &mut [f64]) {
    a[0] = a[0] * a[0];
}

#[test]
fn in_place_one_thread() {
    let gpu = Device::new().unwrap();
    let (mut a, mut da) = (gpu.upload(&[5.0]).unwrap(), gpu.upload(&[1.0]).unwrap());
    square_grad::launch(&gpu, Grid::blocks(1), (&mut a, &mut da)).unwrap();
    assert_eq!((a.download().unwrap(), da.download().unwrap()), (vec![25.0], vec![10.0]));
}

#[stratape::kernel]
#[gradient]
fn axpy(y: &mut [f64], x: &[f64], a: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        y[i] += a * x[i];
    }
}

#[test]
fn a_guard_and_a_number_that_all_threads_read() {
    let gpu = Device::new().unwrap();
    let n: usize = 1000;
    let grid = Grid::blocks(n.div_ceil(128)).threads(128);
    let (xs, ys) = (numbers(n), weights(n));
    let (x, mut y) = (gpu.upload(&xs).unwrap(), gpu.upload(&ys).unwrap());
    let mut dy = gpu.upload(&weights(n)).unwrap();
    let (mut dx, mut da) = (gpu.upload(&vec![7.0; n]).unwrap(), gpu.zeros(1).unwrap());
    // A fresh shadow is overwritten, the other one added to.
    axpy_grad::launch(&gpu, &grid, (&mut y, &mut dy, &x, fresh(&mut dx), 2.5, &mut da)).unwrap();
    let sum: f64 = xs.iter().zip(weights(n)).map(|(x, w)| x * w).sum();
    assert!((da.download().unwrap()[0] - sum).abs() < 1e-10);
    let scaled: Vec<f64> = weights(n).iter().map(|w| w * 2.5).collect();
    assert_eq!(dx.download().unwrap(), scaled);
    assert_eq!(dy.download().unwrap(), weights(n));
    let wanted: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| y + 2.5 * x).collect();
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
    assert!(y.download().unwrap().iter().zip(&wanted).all(close));
}

#[stratape::device]
fn global() -> usize {
    thread_idx().x + block_idx().x * block_dim().x
}

#[stratape::device]
fn scaled(x: &[f64], by: f64) -> f64 {
    x[global()] * by
}

#[stratape::kernel]
#[gradient]
fn with_device_functions(out: &mut [f64], x: &[f64], by: f64) {
    // The same slice twice.
    out[global()] = scaled(x, by) * scaled(x, 2.0) + x[0];
}

#[test]
fn device_functions() {
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(3).threads(4);
    let run = |numbers: &[f64]| {
        let (x, mut out) = (gpu.upload(&numbers[..12]).unwrap(), gpu.zeros(12).unwrap());
        with_device_functions::launch(&gpu, &grid, (&mut out, &x, numbers[12])).unwrap();
        weighted(&out.download().unwrap())
    };
    let at = numbers(13);
    let (x, mut out) = (gpu.upload(&at[..12]).unwrap(), gpu.zeros(12).unwrap());
    let mut dout = gpu.upload(&weights(12)).unwrap();
    let (mut dx, mut dby) = (gpu.zeros(12).unwrap(), gpu.zeros(1).unwrap());
    let arguments = (&mut out, &mut dout, &x, &mut dx, at[12], &mut dby);
    with_device_functions_grad::launch(&gpu, &grid, arguments).unwrap();
    let mut found = dx.download().unwrap();
    found.extend(dby.download().unwrap());
    agree(run, &at, &found, 1e-6);
    // What was written is overwritten: nothing of it is left.
    assert_eq!(dout.download().unwrap(), [0.0; 12]);
}

const TILE: usize = 8;

#[stratape::kernel]
#[gradient(wrt(c, a, b))]
fn matmul(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    let mut left = shared::<[[f64; TILE]; TILE]>();
    let mut right = shared::<[[f64; TILE]; TILE]>();
    let (x, y) = (thread_idx().x, thread_idx().y);
    let (column, row) = (block_idx().x * TILE + x, block_idx().y * TILE + y);
    let mut sum = 0.0;
    for k in 0..n / TILE {
        left[y][x] = a[row * n + k * TILE + x];
        right[y][x] = b[(k * TILE + y) * n + column];
        sync_threads();
        for j in 0..TILE {
            sum += left[y][j] * right[j][x];
        }
        sync_threads();
    }
    c[row * n + column] = sum;
}

#[test]
fn products_in_tiles_of_shared_memory() {
    let gpu = Device::new().unwrap();
    let n = 16;
    let grid = Grid::blocks((2, 2)).threads((8, 8));
    let (a, b) = (numbers(n * n), weights(n * n));
    let (da, db, dc) = {
        let (a, b) = (gpu.upload(&a).unwrap(), gpu.upload(&b).unwrap());
        let mut c = gpu.zeros(n * n).unwrap();
        let mut dc = gpu.upload(&weights(n * n)).unwrap();
        let (mut da, mut db) = (gpu.zeros(n * n).unwrap(), gpu.zeros(n * n).unwrap());
        let arguments = (&mut c, &mut dc, &a, &mut da, &b, &mut db, n);
        matmul_grad::launch(&gpu, &grid, arguments).unwrap();
        let product = c.download().unwrap();
        let wanted: f64 =
            (0..n).map(|k| numbers(n * n)[3 * n + k] * weights(n * n)[k * n + 5]).sum();
        assert!((product[3 * n + 5] - wanted).abs() < 1e-12);
        (da.download().unwrap(), db.download().unwrap(), weights(n * n))
    };
    for i in 0..n {
        for j in 0..n {
            let left: f64 = (0..n).map(|k| dc[i * n + k] * b[j * n + k]).sum();
            let right: f64 = (0..n).map(|k| a[k * n + i] * dc[k * n + j]).sum();
            assert!((da[i * n + j] - left).abs() < 1e-11, "{i}, {j}");
            assert!((db[i * n + j] - right).abs() < 1e-11, "{i}, {j}");
        }
    }
}

#[stratape::kernel]
#[gradient]
fn block_sums(out: &mut [f64], x: &[f64]) {
    let part = dynamic_shared::<f64>(block_dim().x);
    let t = thread_idx().x;
    let i = global();
    part[t] = if i < x.len() { x[i] * x[i] } else { 0.0 };
    sync_threads();
    let mut by = block_dim().x / 2;
    while by > 0 {
        if t < by {
            part[t] += part[t + by];
        }
        sync_threads();
        by /= 2;
    }
    if t == 0 {
        atomic_add(&mut out[0], part[0]);
    }
}

#[test]
fn a_tree_of_sums_with_barriers_in_a_loop() {
    let gpu = Device::new().unwrap();
    let n = 700;
    let grid = Grid::blocks(3).threads(256).shared(256 * 8);
    let x = gpu.upload(&numbers(n)).unwrap();
    let (mut out, mut dout) = (gpu.zeros(1).unwrap(), gpu.upload(&[3.0]).unwrap());
    let mut dx = gpu.zeros(n).unwrap();
    block_sums_grad::launch(&gpu, &grid, (&mut out, &mut dout, &x, &mut dx)).unwrap();
    let sum: f64 = numbers(n).iter().map(|x| x * x).sum();
    assert!((out.download().unwrap()[0] - sum).abs() < 1e-9);
    let wanted = numbers(n).iter().map(|x| 6.0 * x).collect::<Vec<_>>();
    let found = dx.download().unwrap();
    assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[stratape::kernel]
#[gradient]
fn warp_sums(out: &mut [f32], x: &[f32]) {
    let i = global();
    let mut sum = x[i] * x[i];
    let mut by = warp_size() / 2;
    while by > 0 {
        sum += shuffle_down(sum, by);
        by /= 2;
    }
    if thread_idx().x % warp_size() == 0 {
        out[i / warp_size()] = sum;
    }
}

#[test]
fn exchanges_in_a_warp_in_single_precision() {
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(2).threads(64);
    let numbers: Vec<f32> = numbers(128).iter().map(|x| *x as f32).collect();
    let x = gpu.upload(&numbers).unwrap();
    let (mut out, mut dx) = (gpu.zeros(4).unwrap(), gpu.zeros(128).unwrap());
    let mut dout = gpu.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    warp_sums_grad::launch(&gpu, &grid, (&mut out, &mut dout, &x, &mut dx)).unwrap();
    for (i, (found, x)) in dx.download().unwrap().iter().zip(&numbers).enumerate() {
        let wanted = 2.0 * x * (i / 32 + 1) as f32;
        assert!((found - wanted).abs() < 1e-5, "{i}: {found} and {wanted}");
    }
}

#[stratape::kernel]
#[gradient]
fn iterate(x: &mut [f64], n: usize, a: f64) {
    let i = global();
    if i >= x.len() {
        return;
    }
    let mut v = x[i];
    for _ in 0..n {
        v = a * v.sin() + 0.1 * v * v;
    }
    x[i] = v;
}

#[test]
fn a_loop_with_a_tape() {
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(3).threads(32);
    let run = |numbers: &[f64]| {
        let mut x = gpu.upload(&numbers[..70]).unwrap();
        iterate::launch(&gpu, &grid, (&mut x, 20, numbers[70])).unwrap();
        weighted(&x.download().unwrap())
    };
    let at = numbers(71);
    let (mut x, mut da) = (gpu.upload(&at[..70]).unwrap(), gpu.zeros(1).unwrap());
    let mut dx = gpu.upload(&weights(70)).unwrap();
    iterate_grad::launch(&gpu, &grid, (&mut x, &mut dx, 20, at[70], &mut da)).unwrap();
    let mut found = dx.download().unwrap();
    found.extend(da.download().unwrap());
    agree(run, &at, &found, 1e-5);
}

#[stratape::kernel]
#[gradient(wrt(out, x))]
fn pick(out: &mut [f64], x: &[[f64; 3]], at: &[u32]) {
    let i = global();
    let p = x[at[i] as usize];
    out[i] = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
}

#[test]
fn points_by_an_index_list() {
    let gpu = Device::new().unwrap();
    let grid = Grid::blocks(1).threads(5);
    let at = [1_u32, 0, 1, 1, 2];
    let run = |numbers: &[f64]| {
        let points: Vec<[f64; 3]> = numbers.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
        let (x, at) = (gpu.upload(&points).unwrap(), gpu.upload(&at).unwrap());
        let mut out = gpu.zeros(5).unwrap();
        pick::launch(&gpu, &grid, (&mut out, &x, &at)).unwrap();
        weighted(&out.download().unwrap())
    };
    let numbers = numbers(9);
    let points: Vec<[f64; 3]> = numbers.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
    let (x, at) = (gpu.upload(&points).unwrap(), gpu.upload(&at).unwrap());
    let (mut out, mut dx) = (gpu.zeros(5).unwrap(), gpu.zeros(3).unwrap());
    let mut dout = gpu.upload(&weights(5)).unwrap();
    pick_grad::launch(&gpu, &grid, (&mut out, &mut dout, &x, &mut dx, &at)).unwrap();
    let found: Vec<f64> = dx.download().unwrap().concat();
    agree(run, &numbers, &found, 1e-6);
}
