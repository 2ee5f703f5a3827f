use stratape::gradient;

#[gradient(tape(layer_bytes = 16))]
fn too_small(x: f64) -> f64 {
    x * x
}

#[gradient(tape(saved = "some"))]
fn no_such_choice(x: f64) -> f64 {
    x * x
}

#[gradient(tape(layout = "rows"))]
fn no_such_layout(x: f64) -> f64 {
    x * x
}

#[gradient(tape(layout = 3))]
fn no_layout(x: f64) -> f64 {
    x * x
}

#[gradient(tape(layer_bytes = 4 * 1024))]
fn a_product(x: f64) -> f64 {
    x * x
}

#[gradient(tape(layer_bytes = -1))]
fn below_zero(x: f64) -> f64 {
    x * x
}

#[gradient(tape(lines = 3))]
fn no_such_argument(x: f64) -> f64 {
    x * x
}

#[gradient(tape())]
fn nothing(x: f64) -> f64 {
    x * x
}

#[gradient(tape(saved = "all"), tape(saved = "all"))]
fn twice(x: f64) -> f64 {
    x * x
}

#[gradient(tape(saved = "all", saved = "all"))]
fn twice_inside(x: f64) -> f64 {
    x * x
}

fn main() {}
