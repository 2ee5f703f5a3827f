use stratape::gradient;

#[gradient]
fn a_parameter_grows(x: &mut Vec<f64>) -> f64 {
    x.push(1.0);
    x[0]
}

#[gradient]
fn a_parameter_is_exchanged(x: &mut Vec<f64>, k: f64) -> f64 {
    let mut other = vec![k; 2];
    std::mem::swap(x, &mut other);
    x[0]
}

fn main() {}
