use stratape::gradient;

#[gradient]
fn collect_after_filter(x: &[f64]) -> f64 {
    let positive: Vec<f64> = x.iter().copied().filter(|v| *v > 0.0).collect();
    positive[0]
}

#[gradient]
fn two_without_positions(x: &[f64]) -> f64 {
    let positive = || x.iter().filter(|v| **v > 0.0);
    positive().zip(positive()).map(|(a, b)| a * b).sum()
}

#[gradient]
fn advanced(x: &[f64]) -> f64 {
    let mut values = x.iter().filter(|v| **v > 0.0);
    values.next().unwrap() * values.next().unwrap()
}

#[gradient]
fn by_reference(x: &[f64]) -> f64 {
    let mut values = x.iter();
    let first: f64 = values.by_ref().take(2).sum();
    first * values.sum::<f64>()
}

#[gradient]
fn borrowed(x: &[f64]) -> f64 {
    let mut values = x.iter();
    let mut s = 0.0;
    for v in &mut values {
        s += v;
        break;
    }
    s * values.sum::<f64>()
}

#[gradient]
fn marked(x: &[f64]) -> f64 {
    let mut s = 1.0;
    #[checkpoint]
    for v in x.iter().take_while(|v| **v > 0.0) {
        s *= v;
    }
    s
}

#[gradient]
fn unknown(x: &[f64]) -> f64 {
    if x.iter().is_sorted_by(|a, b| a < b) { x[0] } else { x[1] }
}

fn main() {}
