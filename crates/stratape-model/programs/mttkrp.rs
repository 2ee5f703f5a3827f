//! A matricised tensor times a Khatri-Rao product.

#[stratape::differentiable]
mod program {
    const SIZE: usize = 8;

    #[gradient(wrt(b, d, c))]
    fn mttkrp(b: &[f64], d: &[f64], c: &[f64], s: &[f64]) -> f64 {
        let mut a = vec![0.0; SIZE * SIZE];
        for i in 0..SIZE {
            for k in 0..SIZE {
                for l in 0..SIZE {
                    for j in 0..SIZE {
                        a[i * SIZE + j] +=
                            b[(i * SIZE + k) * SIZE + l] * d[l * SIZE + j] * c[k * SIZE + j];
                    }
                }
            }
        }
        let mut sum = 0.0;
        for k in 0..SIZE * SIZE {
            sum += s[k] * a[k];
        }
        sum
    }
}
