use stratape::gradient;

#[gradient]
fn no_value(x: f64) -> f64 {
    let y;
    y = x * x;
    y
}

#[gradient]
fn let_else(x: &[f64]) -> f64 {
    let Some(first) = x.first() else { return 0.0 };
    *first
}

#[gradient]
fn at(x: f64) -> f64 {
    let whole @ (a, b) = (x, 1.0);
    whole.0 * a * b
}

#[gradient]
fn slice_pattern(x: &[f64]) -> f64 {
    if let [a, b] = x { a * b } else { 0.0 }
}

#[gradient]
fn rest_of_a_slice(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for [a, ..] in [[x[0], 1.0], [x[1], 2.0]] {
        s += a;
    }
    let pair: &[f64; 2] = &[x[0], s];
    let [a, rest @ ..] = pair;
    a * rest[0]
}

#[gradient]
fn another_target(x: &[f64], y: &[f64], n: usize) -> f64 {
    let mut chosen = x;
    if n > 3 {
        chosen = y;
    }
    chosen[0]
}

#[gradient]
fn swapped_targets(x: &mut [f64; 2], y: &mut [f64; 2]) {
    let (mut old, mut new) = (x, y);
    for _ in 0..3 {
        new[0] = 2.0 * old[1];
        std::mem::swap(&mut old, &mut new);
    }
}

#[gradient]
fn an_item(x: f64) -> f64 {
    fn square(x: f64) -> f64 {
        x * x
    }
    square(x)
}

fn main() {}
