use stratape::gradient;

#[gradient]
fn if_let(x: &[f64]) -> f64 {
    if let Some(v) = x.first() { *v } else { 0.0 }
}

#[gradient]
fn while_let(x: &[f64]) -> f64 {
    let (mut s, mut values) = (0.0, x.iter());
    while let Some(v) = values.next() {
        s += v;
    }
    s
}

#[gradient]
fn labelled_block(x: f64) -> f64 {
    'done: {
        if x > 0.0 {
            break 'done x;
        }
        -x
    }
}

#[gradient]
fn break_with_value(x: f64) -> f64 {
    let mut y = x;
    loop {
        y *= 2.0;
        if y > 10.0 {
            break y + x;
        }
    }
}

#[gradient]
fn open_range(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0.. {
        if i == x.len() {
            break;
        }
        s += x[i];
    }
    s
}

#[gradient]
fn match_on_a_tuple(x: f64, n: usize, k: usize) -> f64 {
    match (n, k) {
        (0, 0) => x,
        _ => 2.0 * x,
    }
}

#[gradient]
fn match_on_a_float(x: f64) -> f64 {
    match x {
        0.0 => 1.0,
        _ => x,
    }
}

#[gradient]
fn match_on_an_option(x: &[f64]) -> f64 {
    match x.first() {
        Some(v) => *v,
        None => 0.0,
    }
}

fn main() {}
