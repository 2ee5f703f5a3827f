use std::collections::HashMap;

use stratape::gradient;

struct Point {
    x: f64,
}

#[gradient]
fn a_struct_outside(p: &Point) -> f64 {
    p.x
}

#[gradient]
fn rows_behind_references(m: &[&[f64]]) -> f64 {
    m[0][0]
}

#[gradient]
fn two_references(x: &&[f64]) -> f64 {
    x[0]
}

#[gradient]
fn an_option(x: Option<f64>) -> f64 {
    x.unwrap_or(0.0)
}

#[gradient]
fn a_map(x: &HashMap<usize, f64>) -> f64 {
    x[&0]
}

#[gradient]
fn a_closure(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[gradient]
fn an_object(f: &dyn Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[gradient]
fn a_pointer(p: *const f64, x: f64) -> f64 {
    if p.is_null() { x } else { 2.0 * x }
}

#[gradient]
fn text(name: &str, x: f64) -> f64 {
    x * name.len() as f64
}

#[gradient]
fn boxed(x: Box<[f64]>) -> f64 {
    x[0]
}

fn main() {}
