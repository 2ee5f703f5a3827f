use stratape::gradient;

#[gradient(wrt(z))]
fn unknown_parameter(x: f64) -> f64 {
    x
}

#[gradient(wrt(x, x))]
fn named_twice(x: f64) -> f64 {
    x
}

#[gradient(wrt(n))]
fn an_integer(x: f64, n: usize) -> f64 {
    x * n as f64
}

#[gradient(wrt())]
fn nothing_named(x: f64) -> f64 {
    x
}

#[gradient(mode = forward)]
fn unknown_argument(x: f64) -> f64 {
    x
}

#[gradient(name = a, name = b)]
fn given_twice(x: f64) -> f64 {
    x
}

#[gradient]
fn no_float(n: usize, flags: &[bool]) -> f64 {
    if flags[n] { 1.0 } else { 2.0 }
}

fn main() {}
