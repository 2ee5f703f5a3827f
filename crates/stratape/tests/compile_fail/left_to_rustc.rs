//! What rustc reports in words of its own is left to it: once, and without a missing gradient as a second error.

use stratape::gradient;

#[gradient]
fn unknown_name(x: f64) -> f64 {
    x * z
}

#[gradient]
fn misspelt_sum(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for v in x {
        totl += v;
    }
    total
}

#[gradient]
fn narrow_and_wide(x: f64, y: f32) -> f64 {
    let mut s: f64 = y;
    s += x;
    s
}

#[stratape::differentiable]
mod inside {
    #[gradient]
    pub fn unknown_there(x: f64) -> f64 {
        x * w
    }
}

fn main() {
    unknown_name_grad(1.0, 1.0);
    misspelt_sum_grad(&[1.0], &mut [0.0], 1.0);
    narrow_and_wide_grad(1.0, 1.0, 1.0);
    inside::unknown_there_grad(1.0, 1.0);
}
