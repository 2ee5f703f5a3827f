use stratape::gradient;

#[gradient]
fn question_mark_in_a_chain(x: &[f64]) -> f64 {
    let product = || {
        if let Some(a) = x.first() && *x.get(1)? > 0.0 {
            return Some(a * a);
        }
        Some(1.0)
    };
    product().unwrap_or(0.0)
}

#[gradient]
fn question_mark_in_a_macro(x: &[f64]) -> f64 {
    let product = || {
        assert!(*x.get(1)? > 0.0);
        Some(x[0])
    };
    product().unwrap_or(0.0)
}

fn main() {}
