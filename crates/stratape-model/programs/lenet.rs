//! LeNet-5 on one image.

#[stratape::differentiable]
mod program {
    const FIRST: usize = 6;
    const SECOND: usize = 16;
    const THIRD: usize = 120;
    const LABEL: usize = 3;

    #[gradient(wrt(w1, b1, w2, b2, w3, b3, w4, b4, w5, b5))]
    fn lenet(
        w1: &[f64],
        b1: &[f64],
        w2: &[f64],
        b2: &[f64],
        w3: &[f64],
        b3: &[f64],
        w4: &[f64],
        b4: &[f64],
        w5: &[f64],
        b5: &[f64],
        image: &[f64],
    ) -> f64 {
        let mut c1 = vec![0.0; FIRST * 28 * 28];
        convolve(w1, b1, image, &mut c1, 1, FIRST, 32);
        let mut p1 = vec![0.0; FIRST * 14 * 14];
        pool(&c1, &mut p1, FIRST, 28);
        let mut c2 = vec![0.0; SECOND * 10 * 10];
        convolve(w2, b2, &p1, &mut c2, FIRST, SECOND, 14);
        let mut p2 = vec![0.0; SECOND * 5 * 5];
        pool(&c2, &mut p2, SECOND, 10);
        let mut c3 = vec![0.0; THIRD];
        convolve(w3, b3, &p2, &mut c3, SECOND, THIRD, 5);
        let mut h = vec![0.0; 84];
        dense(w4, b4, &c3, &mut h, THIRD, 84);
        for i in 0..84 {
            h[i] = h[i].tanh();
        }
        let mut a = vec![0.0; 10];
        dense(w5, b5, &h, &mut a, 84, 10);
        let mut max = a[0];
        for i in 1..10 {
            if a[i] > max {
                max = a[i];
            }
        }
        let mut total = 0.0;
        for i in 0..10 {
            total += (a[i] - max).exp();
        }
        total.ln() + max - a[LABEL]
    }

    /// A convolution by 5 by 5 without padding, then tanh.
    fn convolve(
        w: &[f64],
        b: &[f64],
        input: &[f64],
        output: &mut [f64],
        ins: usize,
        outs: usize,
        side: usize,
    ) {
        let next = side - 4;
        for o in 0..outs {
            for y in 0..next {
                for x in 0..next {
                    let mut sum = b[o];
                    for c in 0..ins {
                        for ky in 0..5 {
                            for kx in 0..5 {
                                sum += w[((o * ins + c) * 5 + ky) * 5 + kx]
                                    * input[(c * side + y + ky) * side + x + kx];
                            }
                        }
                    }
                    output[(o * next + y) * next + x] = sum.tanh();
                }
            }
        }
    }

    /// The mean of each square of 2 by 2.
    fn pool(input: &[f64], output: &mut [f64], channels: usize, side: usize) {
        let next = side / 2;
        for c in 0..channels {
            for y in 0..next {
                for x in 0..next {
                    let corner = (c * side + 2 * y) * side + 2 * x;
                    output[(c * next + y) * next + x] = 0.25
                        * (input[corner]
                            + input[corner + 1]
                            + input[corner + side]
                            + input[corner + side + 1]);
                }
            }
        }
    }

    fn dense(w: &[f64], b: &[f64], input: &[f64], output: &mut [f64], ins: usize, outs: usize) {
        for o in 0..outs {
            let mut sum = b[o];
            for i in 0..ins {
                sum += w[o * ins + i] * input[i];
            }
            output[o] = sum;
        }
    }
}
