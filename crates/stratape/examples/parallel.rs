//! A gradient on all cores: `cargo run --release --example parallel -p stratape [-- CHARGES]`.

use std::error::Error;
use std::time::Instant;

use stratape::{Workspace, gradient};

/// Energy of charges that repel each other and sit in a common well.
#[gradient]
fn energy(x: &[f64], y: &[f64], well: f64) -> f64 {
    let mut sum = 0.0;
    #[parallel]
    for i in 0..x.len() {
        let mut part = well * (x[i] * x[i] + y[i] * y[i]);
        for j in 0..x.len() {
            let (dx, dy) = (x[i] - x[j], y[i] - y[j]);
            part += 0.5 * (-(dx * dx + dy * dy)).exp();
        }
        sum += part;
    }
    sum
}

fn main() -> Result<(), Box<dyn Error>> {
    let n: u32 = std::env::args().nth(1).map_or(Ok(3000), |text| text.parse())?;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i).sin()).collect();
    let y: Vec<f64> = (0..n).map(|i| (0.7 * f64::from(i)).cos()).collect();
    let mut workspace = Workspace::new();
    // The best time of five, and the gradient with respect to the charges' first coordinates.
    let mut once = |lanes: usize| -> Result<(f64, Vec<f64>), Box<dyn Error>> {
        workspace.set_lanes(lanes);
        let (mut seconds, mut gradient) = (f64::INFINITY, Vec::new());
        for _ in 0..5 {
            let (mut dx, mut dy) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            let start = Instant::now();
            let (value, _) = energy_grad_in(&mut workspace, &x, &mut dx, &y, &mut dy, 0.1, 1.0)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
            assert_eq!(value, energy(&x, &y, 0.1));
            gradient = dx;
        }
        Ok((seconds, gradient))
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let ((alone, serial), (together, divided)) = (once(1)?, once(cores)?);
    println!(
        "one lane {:.1} ms, {cores} lanes {:.1} ms: {:.2} times as fast",
        1e3 * alone,
        1e3 * together,
        alone / together
    );
    let apart = serial.iter().zip(&divided).map(|(s, d)| (s - d).abs()).fold(0.0, f64::max);
    if apart > 1e-9 {
        return Err(format!("the gradients differ by {apart:e}").into());
    }
    println!("the values have the same bits, the gradients agree to {apart:.0e}");
    Ok(())
}
