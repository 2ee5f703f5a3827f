use stratape::gradient;

#[gradient]
fn another_number(a: f64, b: f64) -> f64 {
    let (mut p, mut q) = (a, b);
    let mut chosen = &mut p;
    if b > 3.0 {
        chosen = &mut q;
    }
    *chosen *= 2.0;
    p * q
}

fn main() {}
