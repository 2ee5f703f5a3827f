use stratape::gradient;

#[gradient]
fn grows(x: f64) -> f64 {
    let mut list = Vec::new();
    list.push(x);
    list[0]
}

#[gradient]
fn with_capacity(x: f64) -> f64 {
    let mut list: Vec<f64> = Vec::with_capacity(3);
    list.push(x);
    list[0]
}

#[gradient]
fn empty(x: f64) -> f64 {
    let mut list = vec![];
    list.push(x);
    list[0]
}

#[gradient]
fn pushes(x: f64) -> f64 {
    let mut list = vec![x; 2];
    list.push(x);
    list[2]
}

#[gradient]
fn swaps(x: &[f64]) -> f64 {
    let (mut a, mut b) = (x.to_vec(), vec![0.0; 2]);
    std::mem::swap(&mut a, &mut b);
    a[0] + b[0]
}

#[gradient]
fn replaces(x: &[f64]) -> f64 {
    let mut a = vec![0.0; 2];
    a = x.to_vec();
    a[0]
}

fn main() {}
