use stratape::gradient;

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

fn main() {}
