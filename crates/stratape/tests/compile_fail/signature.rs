use stratape::gradient;

#[gradient]
async fn asynchronous(x: f64) -> f64 {
    x
}

#[gradient]
fn generic<T: Into<f64>>(x: T) -> f64 {
    x.into()
}

#[gradient]
fn of_any_length<const N: usize>(x: &[f64; N]) -> f64 {
    x[0]
}

#[gradient]
extern "C" fn foreign(x: f64) -> f64 {
    x
}

#[gradient]
fn pattern((a, b): (f64, f64)) -> f64 {
    a * b
}

#[gradient]
fn two_results(x: f64) -> (f64, f64) {
    (x, x)
}

#[gradient]
fn a_list(x: &[f64]) -> Vec<f64> {
    x.to_vec()
}

#[gradient]
fn an_integer(x: f64) -> usize {
    x as usize
}

#[gradient]
fn a_reference(x: &[f64]) -> &f64 {
    &x[0]
}

fn main() {}
