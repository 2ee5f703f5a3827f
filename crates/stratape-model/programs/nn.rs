//! A layer of neurons and softmax: how surprising an image is.

#[stratape::differentiable]
mod program {
    const CLASSES: usize = 10;
    const PIXELS: usize = 784;
    const LABEL: usize = 1;

    #[gradient(wrt(w, b))]
    fn nn(w: &[f64], b: &[f64], img: &[f64]) -> f64 {
        let mut a = vec![0.0; CLASSES];
        for i in 0..CLASSES {
            a[i] = b[i];
            for j in 0..PIXELS {
                a[i] += w[i * PIXELS + j] * (img[j] / 255.0);
            }
        }
        let mut max = a[0];
        for i in 1..CLASSES {
            if a[i] > max {
                max = a[i];
            }
        }
        let mut e = vec![0.0; CLASSES];
        let mut total = 0.0;
        for i in 0..CLASSES {
            e[i] = (a[i] - max).exp();
            total += e[i];
        }
        -(e[LABEL] / total).ln()
    }
}
