use stratape::elementwise;

#[elementwise]
struct Point {
    x: f64,
}

#[elementwise(wrt(x))]
fn with_arguments(x: f64) -> f64 {
    x
}

#[elementwise]
fn without_result(x: f64) {
    let _ = x;
}

#[elementwise]
fn without_elements(a: &f64) -> f64 {
    2.0 * a
}

#[elementwise]
fn that_writes(x: f64, y: &mut f64) -> f64 {
    *y = x;
    x
}

#[elementwise]
fn with_a_pattern((x, y): (f64, f64)) -> f64 {
    x * y
}

#[elementwise]
fn of_any_type<T>(x: T) -> f64 {
    let _ = x;
    0.0
}

#[elementwise]
fn of_two_results(x: f64) -> (f64, f64) {
    (x, x)
}

#[elementwise]
async fn later(x: f64) -> f64 {
    x
}

#[elementwise]
fn of_another_type(x: f64) -> f64 {
    let twice: f32 = x * 2.0;
    x
}

fn main() {
    // Calls of what was refused have no errors of their own.
    let _ = of_two_results::map((1.0,));
}
