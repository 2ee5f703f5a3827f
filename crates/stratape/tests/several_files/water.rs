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
