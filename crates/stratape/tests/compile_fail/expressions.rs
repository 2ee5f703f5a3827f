use stratape::gradient;

#[gradient]
fn unsafe_block(x: &[f64]) -> f64 {
    unsafe { *x.get_unchecked(0) }
}

#[gradient]
fn cast_to_whatever(x: f64, n: i32) -> f64 {
    let k: i64 = n as _;
    x * k as f64
}

#[gradient]
fn no_elements(x: f64) -> f64 {
    let none: [f64; 0] = [];
    x * none.len() as f64
}

#[gradient]
fn references_in_an_array(x: &[f64], y: &[f64]) -> f64 {
    let both = [x, y];
    both[0][0] * both[1][0]
}

#[gradient]
fn a_text(x: f64) -> f64 {
    let name = "x";
    x * name.len() as f64
}

#[gradient]
fn bits(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !1)
}

#[gradient]
fn unknown_method(x: f64) -> f64 {
    x.next_up()
}

#[gradient]
fn a_boxed_number(x: f64) -> f64 {
    let boxed = Box::new(x);
    *boxed
}

fn main() {}
