use stratape::gradient;

#[gradient(wrt(x))]
#[gradient(wrt(y), name = by_y)]
fn product(x: f64, y: f64) -> f64 {
    x * y
}

fn main() {}
