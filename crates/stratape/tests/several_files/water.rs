//! Another file, with another `sq`.

#[stratape::differentiable]
pub fn sq(v: f64) -> f64 {
    100.0 * v
}

pub mod deep {
    use stratape::differentiable;

    /// Twice what the file above says.
    #[differentiable]
    pub fn twice(v: f64) -> f64 {
        2.0 * super::sq(v)
    }
}

/// A variable of a function's name, which is called before and after.
#[stratape::differentiable]
pub fn shadowed(v: f64) -> f64 {
    let before = sq(v);
    let inside = {
        let sq = |x: f64| x * x * x;
        sq(v)
    };
    before + inside + sq(1.0)
}

/// Complains.
#[stratape::differentiable]
pub fn checked(v: f64, limit: f64) -> f64 {
    let twice = 2.0 * v;
    assert!(v < limit, "{v} and {twice:.1} of {}", limit);
    assert!(sq(v) < 300.0);
    v
}
