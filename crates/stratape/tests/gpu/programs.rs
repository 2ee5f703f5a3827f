//! Programs as people run them on a GPU.

use crate::differences::{agree, numbers, weighted, weights};
use stratape::gpu::{Device, Grid};

#[stratape::device]
fn normal(d: f64) -> f64 {
    // Abramowitz and Stegun, as NVIDIA's sample has it.
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let tail = 0.398_942_280_401_432_7
        * (-0.5 * d * d).exp()
        * (k * (0.31938153
            + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
    if d > 0.0 { 1.0 - tail } else { tail }
}

#[stratape::kernel]
#[gradient(wrt(call, price, rate, volatility))]
fn black_scholes(
    call: &mut [f64],
    price: &[f64],
    strike: &[f64],
    years: &[f64],
    rate: f64,
    volatility: f64,
) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < price.len() {
        let (s, x, t) = (price[i], strike[i], years[i]);
        let root = t.sqrt();
        let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        let d2 = d1 - volatility * root;
        call[i] = s * normal(d1) - x * (-rate * t).exp() * normal(d2);
    }
}

#[test]
fn the_greeks_of_options() {
    let gpu = Device::new().unwrap();
    let n = 100;
    let grid = Grid::blocks(1).threads(128);
    let prices: Vec<f64> = numbers(n).iter().map(|x| 50.0 * x + 20.0).collect();
    let (s, x) = (gpu.upload(&prices).unwrap(), gpu.upload(&vec![60.0; n]).unwrap());
    let t = gpu.upload(&numbers(n)).unwrap();
    let (mut call, mut dcall) = (gpu.zeros(n).unwrap(), gpu.upload(&vec![1.0; n]).unwrap());
    let (mut delta, mut rho, mut vega) =
        (gpu.zeros(n).unwrap(), gpu.zeros(1).unwrap(), gpu.zeros(1).unwrap());
    let (r, v) = (0.02, 0.3);
    let arguments = (&mut call, &mut dcall, &s, &mut delta, &x, &t, r, &mut rho, v, &mut vega);
    black_scholes_grad::launch(&gpu, &grid, arguments).unwrap();
    // The approximation of the normal distribution is good to seven digits; so are the closed forms.
    let (delta, mut all_vega, mut all_rho) = (delta.download().unwrap(), 0.0, 0.0);
    for (i, (s, t)) in prices.iter().zip(numbers(n)).enumerate() {
        let d1 = ((s / 60.0).ln() + (r + 0.5 * v * v) * t) / (v * t.sqrt());
        assert!((delta[i] - normal(d1)).abs() < 1e-5, "{i}: {}", delta[i]);
        all_vega += s * (-0.5 * d1 * d1).exp() / (2.0 * std::f64::consts::PI).sqrt() * t.sqrt();
        all_rho += 60.0 * t * (-r * t).exp() * normal(d1 - v * t.sqrt());
    }
    assert!((vega.download().unwrap()[0] / all_vega - 1.0).abs() < 1e-5);
    assert!((rho.download().unwrap()[0] / all_rho - 1.0).abs() < 1e-5);
}

#[stratape::kernel]
#[gradient(wrt(energy, x))]
fn n_body(energy: &mut [f64], x: &[[f64; 3]], softening: f64) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < x.len() {
        let p = x[i];
        let mut sum = 0.0;
        for j in 0..x.len() {
            let q = x[j];
            let (dx, dy, dz) = (p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            sum -= 1.0 / (dx * dx + dy * dy + dz * dz + softening).sqrt();
        }
        atomic_add(&mut energy[0], sum);
    }
}

#[test]
fn forces_from_an_energy() {
    let gpu = Device::new().unwrap();
    let (n, grid) = (20, Grid::blocks(2).threads(16));
    let points = |x: &[f64]| x.chunks(3).map(|p| [p[0], p[1], p[2]]).collect::<Vec<[f64; 3]>>();
    let run = |x: &[f64]| {
        let (x, mut e) = (gpu.upload(&points(x)).unwrap(), gpu.zeros(1).unwrap());
        n_body::launch(&gpu, &grid, (&mut e, &x, 0.01)).unwrap();
        e.download().unwrap()[0]
    };
    let at = numbers(3 * n);
    let (x, mut e) = (gpu.upload(&points(&at)).unwrap(), gpu.zeros(1).unwrap());
    let (mut de, mut dx) = (gpu.upload(&[1.0]).unwrap(), gpu.zeros(n).unwrap());
    n_body_grad::launch(&gpu, &grid, (&mut e, &mut de, &x, &mut dx, 0.01)).unwrap();
    agree(run, &at, &dx.download().unwrap().concat(), 1e-5);
}

#[stratape::kernel]
#[gradient(wrt(out, u, k))]
fn stencil(out: &mut [f64], u: &[f64], k: &[f64], n: usize) {
    let x = thread_idx().x + block_idx().x * block_dim().x + 1;
    let y = thread_idx().y + block_idx().y * block_dim().y + 1;
    let z = thread_idx().z + block_idx().z * block_dim().z + 1;
    if x < n - 1 && y < n - 1 && z < n - 1 {
        let i = (z * n + y) * n + x;
        let c = u[i];
        let l = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n] - 6.0 * c;
        out[i] = c + 0.1 * k[i] * l * c;
    }
}

#[test]
fn a_stencil_in_three_dimensions() {
    let gpu = Device::new().unwrap();
    let n = 5;
    let all = n * n * n;
    let grid = Grid::blocks((2, 2, 2)).threads((2, 2, 2));
    let run = |x: &[f64]| {
        let (u, k) = (gpu.upload(&x[..all]).unwrap(), gpu.upload(&x[all..]).unwrap());
        let mut out = gpu.zeros(all).unwrap();
        stencil::launch(&gpu, &grid, (&mut out, &u, &k, n)).unwrap();
        weighted(&out.download().unwrap())
    };
    let at = numbers(2 * all);
    let (u, k) = (gpu.upload(&at[..all]).unwrap(), gpu.upload(&at[all..]).unwrap());
    let (mut out, mut dout) = (gpu.zeros(all).unwrap(), gpu.upload(&weights(all)).unwrap());
    let (mut du, mut dk) = (gpu.zeros(all).unwrap(), gpu.zeros(all).unwrap());
    let arguments = (&mut out, &mut dout, &u, &mut du, &k, &mut dk, n);
    stencil_grad::launch(&gpu, &grid, arguments).unwrap();
    let mut found = du.download().unwrap();
    found.extend(dk.download().unwrap());
    agree(run, &at, &found, 1e-6);
}

/// Binary search in a table, then interpolation: a lookup as in neutron transport.
#[stratape::device]
fn lookup(grid: &[f64], values: &[f64], at: f64) -> f64 {
    let (mut low, mut high) = (0, grid.len() - 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if grid[middle] > at {
            high = middle;
        } else {
            low = middle;
        }
    }
    let f = (grid[high] - at) / (grid[high] - grid[low]);
    values[high] - f * (values[high] - values[low])
}

#[stratape::kernel]
#[gradient(wrt(out, values, density))]
fn cross_sections(
    out: &mut [f64],
    energies: &[f64],
    grid: &[f64],
    values: &[f64],
    density: &[f64],
) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < energies.len() {
        let mut sum = 0.0;
        for k in 0..density.len() {
            sum += density[k]
                * lookup(grid, &values[k * grid.len()..(k + 1) * grid.len()], energies[i]);
        }
        out[i] = sum;
    }
}

#[test]
fn lookups_in_tables() {
    let gpu = Device::new().unwrap();
    let launch = Grid::blocks(2).threads(4);
    let grid: Vec<f64> = (0..9).map(|k| f64::from(k) * 0.2).collect();
    let energies = numbers(7);
    let run = |x: &[f64]| {
        let (e, g) = (gpu.upload(&energies).unwrap(), gpu.upload(&grid).unwrap());
        let (v, d) = (gpu.upload(&x[..18]).unwrap(), gpu.upload(&x[18..]).unwrap());
        let mut out = gpu.zeros(7).unwrap();
        cross_sections::launch(&gpu, &launch, (&mut out, &e, &g, &v, &d)).unwrap();
        weighted(&out.download().unwrap())
    };
    let at = numbers(20);
    let (e, g) = (gpu.upload(&energies).unwrap(), gpu.upload(&grid).unwrap());
    let (v, d) = (gpu.upload(&at[..18]).unwrap(), gpu.upload(&at[18..]).unwrap());
    let (mut out, mut dout) = (gpu.zeros(7).unwrap(), gpu.upload(&weights(7)).unwrap());
    let (mut dv, mut dd) = (gpu.zeros(18).unwrap(), gpu.zeros(2).unwrap());
    let arguments = (&mut out, &mut dout, &e, &g, &v, &mut dv, &d, &mut dd);
    cross_sections_grad::launch(&gpu, &launch, arguments).unwrap();
    let mut found = dv.download().unwrap();
    found.extend(dd.download().unwrap());
    agree(run, &at, &found, 1e-6);
}
