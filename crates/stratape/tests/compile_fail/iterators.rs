use stratape::gradient;

#[gradient]
fn chain(x: &[f64], y: &[f64]) -> f64 {
    x.iter().chain(y).sum()
}

#[gradient]
fn scan(x: &[f64]) -> f64 {
    x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).sum()
}

#[gradient]
fn take_while(x: &[f64]) -> f64 {
    x.iter().take_while(|v| **v > 0.0).sum()
}

#[gradient]
fn flat_map(x: &[[f64; 2]]) -> f64 {
    x.iter().flatten().sum()
}

#[gradient]
fn zip_after_filter(x: &[f64], y: &[f64]) -> f64 {
    x.iter().filter(|v| **v > 0.0).zip(y).map(|(a, b)| a * b).sum()
}

#[gradient]
fn collect_after_filter(x: &[f64]) -> f64 {
    let positive: Vec<f64> = x.iter().copied().filter(|v| *v > 0.0).collect();
    positive[0]
}

#[gradient]
fn enumerate_after_filter(x: &[f64]) -> f64 {
    x.iter().filter(|v| **v > 0.0).enumerate().map(|(i, v)| v * i as f64).sum()
}

#[gradient]
fn every_second_after_filter(x: &[f64]) -> f64 {
    x.iter().filter(|v| **v > 0.0).step_by(2).sum()
}

#[gradient]
fn max_after_filter(x: &[f64]) -> f64 {
    x.iter().copied().filter(|v| *v > 0.0).max_by(f64::total_cmp).unwrap()
}

#[gradient]
fn own_order(x: &[f64]) -> f64 {
    *x.iter()
        .max_by(|a, b| if a > b { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater })
        .unwrap()
}

#[gradient]
fn next(x: &[f64]) -> f64 {
    let mut values = x.iter();
    values.next().unwrap() * values.next().unwrap()
}

#[gradient]
fn an_option(x: &[f64]) -> f64 {
    x.first().copied().unwrap_or_else(|| 0.0) * x.last().copied().unwrap_or_default()
}

fn main() {}
