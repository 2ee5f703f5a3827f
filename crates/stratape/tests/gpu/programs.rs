//! Programs as people run them on a GPU. More of them are among the examples.

use crate::differences::{agree, numbers, weighted, weights};
use stratape::gpu::{Device, Grid};

/// Points along an edge of an element.
const POINTS: usize = 4;

/// The volume integral of a discontinuous Galerkin method: an element for each block, a column of it for each thread. The operator and the fluxes of a plane are shared; fluxes
/// along the column go to an array of the thread.
#[stratape::kernel]
#[gradient(wrt(rhs, q, metric, d))]
fn volume(rhs: &mut [f64], q: &[f64], metric: &[f64], d: &[f64]) {
    let mut operator = shared::<[[f64; POINTS]; POINTS]>();
    let mut along_x = shared::<[[f64; POINTS]; POINTS]>();
    let mut along_y = shared::<[[f64; POINTS]; POINTS]>();
    let (i, j) = (thread_idx().x, thread_idx().y);
    operator[j][i] = d[j * POINTS + i];
    let column = block_idx().x * POINTS * POINTS * POINTS + j * POINTS + i;
    let mut own = [0.0; POINTS];
    for k in 0..POINTS {
        sync_threads();
        let at = column + k * POINTS * POINTS;
        let (u, m) = (q[at], metric[at]);
        along_x[j][i] = m * 0.5 * u * u;
        along_y[j][i] = m * u * u * u / 3.0;
        for n in 0..POINTS {
            own[n] += operator[k][n] * m * u.sin();
        }
        sync_threads();
        let mut sum = 0.0;
        for n in 0..POINTS {
            sum += operator[n][i] * along_x[j][n] + operator[n][j] * along_y[n][i];
        }
        own[k] += sum;
    }
    for k in 0..POINTS {
        rhs[column + k * POINTS * POINTS] += own[k];
    }
}

#[test]
fn fluxes_of_small_elements() {
    let gpu = Device::new().unwrap();
    let (elements, operator) = (2, POINTS * POINTS);
    let n = elements * POINTS * operator;
    let grid = Grid::blocks(elements).threads((POINTS, POINTS));
    let run = |at: &[f64]| {
        let (q, m) = (gpu.upload(&at[..n]).unwrap(), gpu.upload(&at[n..2 * n]).unwrap());
        let (d, mut rhs) = (gpu.upload(&at[2 * n..]).unwrap(), gpu.zeros(n).unwrap());
        volume::launch(&gpu, &grid, (&mut rhs, &q, &m, &d)).unwrap();
        weighted(&rhs.download().unwrap())
    };
    let at = numbers(2 * n + operator);
    let (q, m) = (gpu.upload(&at[..n]).unwrap(), gpu.upload(&at[n..2 * n]).unwrap());
    let (d, mut rhs) = (gpu.upload(&at[2 * n..]).unwrap(), gpu.zeros(n).unwrap());
    let mut drhs = gpu.upload(&weights(n)).unwrap();
    let (mut dq, mut dm) = (gpu.zeros(n).unwrap(), gpu.zeros(n).unwrap());
    let mut dd = gpu.zeros(operator).unwrap();
    let arguments = (&mut rhs, &mut drhs, &q, &mut dq, &m, &mut dm, &d, &mut dd);
    volume_grad::launch(&gpu, &grid, arguments).unwrap();
    let found = [dq.download().unwrap(), dm.download().unwrap(), dd.download().unwrap()];
    agree(run, &at, &found.concat(), 1e-6);
    assert_eq!(drhs.download().unwrap(), weights(n));
}

#[stratape::device]
#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

#[stratape::device]
fn product(a: Complex, b: Complex) -> Complex {
    Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

#[stratape::device]
fn quotient(a: Complex, b: Complex) -> Complex {
    let square = b.re * b.re + b.im * b.im;
    Complex { re: (a.re * b.re + a.im * b.im) / square, im: (a.im * b.re - a.re * b.im) / square }
}

/// A broadened line: a series near the pole, the leading terms far away from it.
#[stratape::device]
fn line(z: Complex) -> Complex {
    let square = product(z, z);
    if z.re * z.re + z.im * z.im < 4.0 {
        let shifted = Complex { re: 1.0 - 0.2 * square.re, im: 0.6 * z.re - 0.2 * square.im };
        quotient(Complex { re: 0.9, im: 0.1 * z.im }, shifted)
    } else {
        let far = Complex { re: square.re - 0.5, im: square.im };
        quotient(Complex { re: -0.56 * z.im, im: 0.56 * z.re }, far)
    }
}

/// Cross-sections by poles (the kernel of RSBench): the window of an energy has some of the poles, and a polynomial for the rest.
#[stratape::kernel]
#[gradient(wrt(found, energy, poles, fits, broadening))]
fn by_poles(
    found: &mut [[f64; 2]],
    energy: &[f64],
    windows: &[[u32; 2]],
    poles: &[[f64; 6]],
    fits: &[[f64; 3]],
    broadening: f64,
) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i >= energy.len() {
        return;
    }
    let e = energy[i];
    let root = e.sqrt();
    let window = ((e * windows.len() as f64 / 2.0) as usize).min(windows.len() - 1);
    let fit = fits[window];
    let (mut total, mut absorbed) = (fit[0] / e + fit[1] + fit[2] * root, 0.1 * fit[0]);
    for at in windows[window][0]..windows[window][1] {
        let pole = poles[at as usize];
        let z = Complex { re: (root - pole[0]) * broadening, im: -pole[1] * broadening };
        let psi = line(z);
        total += product(Complex { re: pole[2], im: pole[3] }, psi).re / e;
        absorbed += product(Complex { re: pole[4], im: pole[5] }, psi).re / e;
    }
    found[i] = [total, absorbed];
}

#[test]
fn lines_around_poles() {
    let gpu = Device::new().unwrap();
    let (n, windows) = (9, [[0, 3], [3, 3], [2, 7], [5, 8]]);
    let (poles, fits) = (8, windows.len());
    let grid = Grid::blocks(3).threads(4);
    let six = |x: &[f64]| x.chunks(6).map(|x| std::array::from_fn(|k| x[k])).collect::<Vec<_>>();
    let three = |x: &[f64]| x.chunks(3).map(|x| [x[0], x[1], x[2]]).collect::<Vec<_>>();
    let (a, b, c) = (n, n + 6 * poles, n + 6 * poles + 3 * fits);
    let w = gpu.upload(&windows).unwrap();
    let run = |at: &[f64]| {
        let (e, p) = (gpu.upload(&at[..a]).unwrap(), gpu.upload(&six(&at[a..b])).unwrap());
        let (f, mut found) = (gpu.upload(&three(&at[b..c])).unwrap(), gpu.zeros(n).unwrap());
        by_poles::launch(&gpu, &grid, (&mut found, &e, &w, &p, &f, at[c])).unwrap();
        weighted(&found.download().unwrap().concat())
    };
    let mut at = numbers(c + 1);
    // Near the poles and far from them.
    at[c] = 6.0;
    let (e, p) = (gpu.upload(&at[..a]).unwrap(), gpu.upload(&six(&at[a..b])).unwrap());
    let (f, mut found) = (gpu.upload(&three(&at[b..c])).unwrap(), gpu.zeros(n).unwrap());
    let seeds: Vec<[f64; 2]> = weights(2 * n).chunks(2).map(|x| [x[0], x[1]]).collect();
    let mut dfound = gpu.upload(&seeds).unwrap();
    let (mut de, mut dp) = (gpu.alloc_like(&e).unwrap(), gpu.alloc_like(&p).unwrap());
    let (mut df, mut dbroadening) = (gpu.alloc_like(&f).unwrap(), gpu.zeros(1).unwrap());
    let arguments = (
        &mut found,
        &mut dfound,
        &e,
        &mut de,
        &w,
        &p,
        &mut dp,
        &f,
        &mut df,
        at[c],
        &mut dbroadening,
    );
    by_poles_grad::launch(&gpu, &grid, arguments).unwrap();
    let found = [
        de.download().unwrap(),
        dp.download().unwrap().concat(),
        df.download().unwrap().concat(),
        dbroadening.download().unwrap(),
    ];
    agree(run, &at, &found.concat(), 1e-5);
}
