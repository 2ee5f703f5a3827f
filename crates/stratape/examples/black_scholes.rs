//! Prices of European options by the formula of Black and Scholes, a thread for each, and their Greeks, which are the gradient of one kernel: delta for each option, rho and
//! vega summed over all of them.
//!
//! `cargo run --release --example black_scholes -p stratape` runs on the first CUDA device, or on the emulator; `-- OPTIONS` chooses how many.

use std::f64::consts::PI;

use stratape::gpu::{Device, Grid, fresh};

/// What all options share: a kernel takes it by value.
#[stratape::device]
#[derive(Clone, Copy)]
struct Market {
    rate: f64,
    volatility: f64,
}

/// The distribution function of the normal distribution, by the polynomial of Abramowitz and Stegun: good to seven digits.
#[stratape::device]
fn normal(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial = k
        * (0.31938153
            + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    let tail = 0.398_942_280_401_432_7 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

#[stratape::kernel]
#[gradient(wrt(call, price, market))]
fn black_scholes(call: &mut [f64], price: &[f64], strike: &[f64], years: &[f64], market: Market) {
    let i = thread_idx().x + block_idx().x * block_dim().x;
    if i < price.len() {
        let (s, x, t) = (price[i], strike[i], years[i]);
        let deviation = market.volatility * t.sqrt();
        let d1 = (s / x).ln() / deviation + market.rate * t / deviation + 0.5 * deviation;
        let d2 = d1 - deviation;
        call[i] = s * normal(d1) - x * (-market.rate * t).exp() * normal(d2);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Device::new()?;
    let usual = if gpu.is_emulator() { 10_000 } else { 4_000_000 };
    let n: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => usual,
    };
    println!("on {gpu}: {n} options");
    let between = |low: f64, high: f64, seed: usize| -> Vec<f64> {
        (0..n).map(|k| low + (high - low) * ((k * 7919 + seed) % 1009) as f64 / 1009.0).collect()
    };
    let (prices, strikes, years) =
        (between(5.0, 30.0, 1), between(1.0, 100.0, 2), between(0.25, 10.0, 3));
    let market = Market { rate: 0.02, volatility: 0.3 };

    let (price, strike, time) = (gpu.upload(&prices)?, gpu.upload(&strikes)?, gpu.upload(&years)?);
    let (mut call, mut dcall) = (gpu.zeros(n)?, gpu.upload(&vec![1.0; n])?);
    // Of two elements: rate and volatility.
    let (mut delta, mut dmarket) = (gpu.zeros(n)?, gpu.zeros(2)?);
    let grid = Grid::blocks(n.div_ceil(256)).threads(256);
    let arguments =
        (&mut call, &mut dcall, &price, fresh(&mut delta), &strike, &time, market, &mut dmarket);
    black_scholes_grad::launch(&gpu, &grid, arguments)?;

    let delta = delta.download()?;
    let (mut rho, mut vega, mut worst) = (0.0, 0.0, 0.0_f64);
    let Market { rate: r, volatility: v } = market;
    for i in 0..n {
        let (s, x, t) = (prices[i], strikes[i], years[i]);
        let d1 = ((s / x).ln() + (r + 0.5 * v * v) * t) / (v * t.sqrt());
        rho += x * t * (-r * t).exp() * normal(d1 - v * t.sqrt());
        vega += s * (-0.5 * d1 * d1).exp() / (2.0 * PI).sqrt() * t.sqrt();
        worst = worst.max((delta[i] - normal(d1)).abs());
    }
    let found = dmarket.download()?;
    for (name, found, wanted) in [("rho", found[0], rho), ("vega", found[1], vega)] {
        println!("{name}: {found:.6}, in closed form {wanted:.6}");
        worst = worst.max((found / wanted - 1.0).abs());
    }
    println!("largest difference from the closed form: {worst:.1e}");
    // As good as the polynomial.
    if worst > 5e-5 {
        return Err("the gradient is wrong".into());
    }
    Ok(())
}
