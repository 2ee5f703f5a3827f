use stratape::gradient;

#[gradient]
fn reads_the_environment(x: f64) -> f64 {
    let path = env!("PATH");
    x
}

#[gradient]
fn prints_again_and_again(x: f64, n: usize) -> f64 {
    let mut y = x;
    #[checkpoint(slots = 2)]
    for _ in 0..n {
        y = y.sin();
        println!("{y}");
    }
    y
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
