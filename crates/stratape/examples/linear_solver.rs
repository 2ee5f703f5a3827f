//! A solver whose derivative is written by hand: `cargo run --release --example linear_solver -p stratape`.
//!
//! The potentials in a network of resistors solve a linear system. Differentiating the elimination would save all of it on
//! the tape; the pullback of x = A⁻¹·b is known better: w = A⁻ᵀ·dx, then db += w and dA −= w·xᵀ. The gradient says how the
//! power changes with each conductance; it is checked by central differences.

use std::error::Error;

#[stratape::differentiable]
mod network {
    pub(super) const NODES: usize = 6;

    /// Solves A·x = b by elimination with pivots. The compiler does not look into it: it may be any code.
    fn solve(a: &[f64], b: &[f64], x: &mut [f64]) {
        let n = b.len();
        let mut a = a.to_vec();
        x.copy_from_slice(b);
        for k in 0..n {
            let largest = |i: &usize, j: &usize| a[n * i + k].abs().total_cmp(&a[n * j + k].abs());
            let pivot = (k..n).max_by(largest).unwrap_or(k);
            (0..n).for_each(|j| a.swap(n * k + j, n * pivot + j));
            x.swap(k, pivot);
            for i in k + 1..n {
                let factor = a[n * i + k] / a[n * k + k];
                (k..n).for_each(|j| a[n * i + j] -= factor * a[n * k + j]);
                x[i] -= factor * x[k];
            }
        }
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|j| a[n * k + j] * x[j]).sum();
            x[k] = (x[k] - known) / a[n * k + k];
        }
    }

    #[stratape::pullback(of = solve)]
    fn solve_back(
        a: &[f64],
        da: &mut [f64],
        _b: &[f64],
        db: &mut [f64],
        x: &mut [f64],
        dx: &mut [f64],
    ) {
        let n = x.len();
        let transposed: Vec<f64> = (0..n * n).map(|k| a[n * (k % n) + k / n]).collect();
        let mut w = vec![0.0; n];
        solve(&transposed, dx, &mut w);
        for i in 0..n {
            db[i] += w[i];
            for j in 0..n {
                da[n * i + j] -= w[i] * x[j];
            }
        }
        // What x held before the call was overwritten: nothing depends on it.
        dx.fill(0.0);
    }

    /// The power that the resistors turn into heat. Each joins two nodes; node 0 is fed, and the last one grounded.
    #[gradient(wrt(conductance))]
    pub(super) fn power(conductance: &[f64], from: &[usize], to: &[usize], current: f64) -> f64 {
        let mut a = vec![0.0; NODES * NODES];
        for k in 0..conductance.len() {
            let (i, j, g) = (from[k], to[k], conductance[k]);
            a[NODES * i + i] += g;
            a[NODES * j + j] += g;
            a[NODES * i + j] -= g;
            a[NODES * j + i] -= g;
        }
        a[NODES * NODES - 1] += 1e3;
        let mut feed = vec![0.0; NODES];
        feed[0] = current;
        let mut potential = vec![0.0; NODES];
        solve(&a, &feed, &mut potential);
        let mut sum = 0.0;
        for k in 0..conductance.len() {
            let drop = potential[from[k]] - potential[to[k]];
            sum += conductance[k] * drop * drop;
        }
        sum
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (from, to) = ([0, 0, 1, 1, 2, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5, 5]);
    let conductance = [1.0, 0.5, 2.0, 0.3, 1.5, 0.7, 0.9, 1.1];
    let mut slope = [0.0; 8];
    let power = network::power_grad(&conductance, &mut slope, &from, &to, 2.0, 1.0);

    let (h, mut error) = (1e-5, 0.0_f64);
    for k in 0..conductance.len() {
        let moved = |by: f64| {
            let mut conductance = conductance;
            conductance[k] += by;
            network::power(&conductance, &from, &to, 2.0)
        };
        let expected = (moved(h) - moved(-h)) / (2.0 * h);
        error = error.max((slope[k] - expected).abs());
    }
    println!("{} resistors turn {power:.4} W into heat", conductance.len());
    let most = (0..slope.len()).max_by(|&i, &j| slope[i].abs().total_cmp(&slope[j].abs()));
    let k = most.unwrap_or(0);
    println!(
        "the one between nodes {} and {} counts most: {:.4} W per siemens",
        from[k], to[k], slope[k]
    );
    if error > 1e-7 {
        return Err(format!("central differences are off by {error:e}").into());
    }
    println!("central differences agree to {error:.1e}");
    Ok(())
}
