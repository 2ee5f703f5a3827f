//! The square of a product of a matrix and a vector.

#[stratape::differentiable]
mod program {
    const SIZE: usize = 400;

    #[gradient(wrt(a))]
    fn matdescent(a: &[f64], v: &[f64]) -> f64 {
        let mut out = vec![0.0; SIZE];
        for i in 0..SIZE {
            for j in 0..SIZE {
                out[i] += a[i * SIZE + j] * v[j];
            }
        }
        let mut loss = 0.0;
        for i in 0..SIZE {
            loss += out[i] * out[i];
        }
        loss
    }
}
