use stratape::gradient;

#[gradient]
fn reads_the_environment(x: f64) -> f64 {
    let path = env!("PATH");
    x
}

#[gradient]
fn compares_slices(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x, y);
    x[0]
}

#[gradient]
fn names_a_closure(x: f64) -> f64 {
    let f = |v: f64| v * v;
    assert!(x > 0.0, "{}", f(x));
    x
}

fn main() {}
