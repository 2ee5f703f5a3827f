use stratape::gradient;

fn square(x: f64) -> f64 {
    x * x
}

#[gradient]
fn a_function_outside(x: f64) -> f64 {
    square(x) + 1.0
}

#[gradient]
fn a_function_by_name(x: &[f64]) -> f64 {
    x.iter().copied().map(square).sum()
}

#[gradient]
fn a_library_function(x: f64) -> f64 {
    std::hint::black_box(x)
}

#[gradient]
fn a_constant_of_unknown_type(x: f64) -> f64 {
    x * LIMIT.max(1.0)
}

const LIMIT: f64 = 3.0;

fn main() {}
