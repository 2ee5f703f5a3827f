//! The logarithm of a sum of exponentials.

#[stratape::differentiable]
mod program {
    #[gradient]
    fn logsum(x: &[f64]) -> f64 {
        let mut max = x[0];
        for i in 1..x.len() {
            if x[i] > max {
                max = x[i];
            }
        }
        let mut total = 0.0;
        for i in 0..x.len() {
            total += (x[i] - max).exp();
        }
        total.ln() + max
    }
}
