//! lenet: a small convolutional network on an image of 32 by 32, 61706 parameters.

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

use network::lenet;

#[stratape::differentiable]
mod network {
    //! The primal, a function for each kind of layer.

    const LABEL: usize = 3;

    #[expect(clippy::too_many_arguments, reason = "each layer has weights and biases")]
    #[gradient(wrt(w1, b1, w2, b2, w3, b3, w4, b4, w5, b5))]
    pub(super) fn lenet(
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
        let mut c1 = vec![0.0; 6 * 28 * 28];
        convolve(w1, b1, image, &mut c1, 1, 6, 32);
        let mut p1 = vec![0.0; 6 * 14 * 14];
        pool(&c1, &mut p1, 6, 28);
        let mut c2 = vec![0.0; 16 * 10 * 10];
        convolve(w2, b2, &p1, &mut c2, 6, 16, 14);
        let mut p2 = vec![0.0; 16 * 5 * 5];
        pool(&c2, &mut p2, 16, 10);
        let mut c3 = vec![0.0; 120];
        convolve(w3, b3, &p2, &mut c3, 16, 120, 5);
        let mut h = vec![0.0; 84];
        dense(w4, b4, &c3, &mut h, 120, 84);
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

mod layers {
    //! The layers of the hand-written gradient: sizes fixed at compile time, rows as vectors.
    //!
    //! Each sum keeps the primal's order; only loops over independent sums change places.

    pub(super) const KERNEL: usize = 5;
    const PATCH: usize = KERNEL * KERNEL;

    /// `NEXT` is `SIDE - 4`: the row of results that stays in registers.
    pub(super) fn convolve<const INS: usize, const SIDE: usize, const NEXT: usize>(
        w: &[f64],
        b: &[f64],
        input: &[[[f64; SIDE]; SIDE]; INS],
        output: &mut [[[f64; NEXT]; NEXT]],
    ) {
        for ((plane, w), &bias) in output.iter_mut().zip(w.chunks_exact(INS * PATCH)).zip(b) {
            let (w, _) = w.as_chunks::<PATCH>();
            for (y, row) in plane.iter_mut().enumerate() {
                let mut sums = [bias; NEXT];
                for (input, w) in input.iter().zip(w) {
                    for ky in 0..KERNEL {
                        let line = &input[y + ky];
                        for kx in 0..KERNEL {
                            let w = w[ky * KERNEL + kx];
                            for (sum, value) in sums.iter_mut().zip(&line[kx..]) {
                                *sum += w * value;
                            }
                        }
                    }
                }
                for (result, sum) in row.iter_mut().zip(sums) {
                    *result = sum.tanh();
                }
            }
        }
    }

    /// The adjoints of weights and biases; `adjoint` turns from that of the results into that of
    /// the sums before tanh.
    pub(super) fn convolve_back<const INS: usize, const SIDE: usize, const NEXT: usize>(
        dw: &mut [f64],
        db: &mut [f64],
        input: &[[[f64; SIDE]; SIDE]; INS],
        output: &[[[f64; NEXT]; NEXT]],
        adjoint: &mut [[[f64; NEXT]; NEXT]],
    ) {
        let parameters = dw.chunks_exact_mut(INS * PATCH).zip(db);
        for ((plane, adjoint), (dw, db)) in output.iter().zip(adjoint).zip(parameters) {
            through_tanh(plane.as_flattened(), adjoint.as_flattened_mut());
            let mut lanes = [0.0; NEXT];
            for row in &*adjoint {
                for (lane, value) in lanes.iter_mut().zip(row) {
                    *lane += value;
                }
            }
            *db += lanes.iter().sum::<f64>();
            for (input, dw) in input.iter().zip(dw.as_chunks_mut::<PATCH>().0) {
                for ky in 0..KERNEL {
                    for kx in 0..KERNEL {
                        let mut lanes = [0.0; NEXT];
                        for (line, row) in input[ky..].iter().zip(&*adjoint) {
                            for ((lane, value), a) in lanes.iter_mut().zip(&line[kx..]).zip(row) {
                                *lane += value * a;
                            }
                        }
                        dw[ky * KERNEL + kx] += lanes.iter().sum::<f64>();
                    }
                }
            }
        }
    }

    /// The adjoint of the input, from that of the sums.
    pub(super) fn convolve_to_input<const INS: usize, const SIDE: usize, const NEXT: usize>(
        w: &[f64],
        adjoint: &[[[f64; NEXT]; NEXT]],
        dinput: &mut [[[f64; SIDE]; SIDE]; INS],
    ) {
        for (adjoint, w) in adjoint.iter().zip(w.chunks_exact(INS * PATCH)) {
            for (dinput, w) in dinput.iter_mut().zip(w.as_chunks::<PATCH>().0) {
                for (y, row) in adjoint.iter().enumerate() {
                    for ky in 0..KERNEL {
                        let line = &mut dinput[y + ky];
                        for kx in 0..KERNEL {
                            let w = w[ky * KERNEL + kx];
                            for (value, a) in line[kx..].iter_mut().zip(row) {
                                *value += w * a;
                            }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn pool<const SIDE: usize, const NEXT: usize>(
        input: &[[[f64; SIDE]; SIDE]],
        output: &mut [[[f64; NEXT]; NEXT]],
    ) {
        for (input, output) in input.iter().zip(output) {
            for (pair, row) in input.chunks_exact(2).zip(output) {
                for x in 0..NEXT {
                    row[x] = 0.25
                        * (pair[0][2 * x]
                            + pair[0][2 * x + 1]
                            + pair[1][2 * x]
                            + pair[1][2 * x + 1]);
                }
            }
        }
    }

    pub(super) fn pool_back<const SIDE: usize, const NEXT: usize>(
        adjoint: &[[[f64; NEXT]; NEXT]],
        dinput: &mut [[[f64; SIDE]; SIDE]],
    ) {
        for (adjoint, dinput) in adjoint.iter().zip(dinput) {
            for (row, pair) in adjoint.iter().zip(dinput.chunks_exact_mut(2)) {
                for line in pair {
                    for x in 0..NEXT {
                        line[2 * x] = 0.25 * row[x];
                        line[2 * x + 1] = 0.25 * row[x];
                    }
                }
            }
        }
    }

    pub(super) fn dense<const INS: usize>(
        w: &[f64],
        b: &[f64],
        input: &[f64; INS],
        output: &mut [f64],
    ) {
        for ((output, w), b) in output.iter_mut().zip(w.as_chunks::<INS>().0).zip(b) {
            let mut sum = *b;
            for (w, value) in w.iter().zip(input) {
                sum += w * value;
            }
            *output = sum;
        }
    }

    pub(super) fn dense_back<const INS: usize>(
        w: &[f64],
        dw: &mut [f64],
        db: &mut [f64],
        input: &[f64; INS],
        adjoint: &[f64],
    ) -> [f64; INS] {
        let mut dinput = [0.0; INS];
        let weights = w.as_chunks::<INS>().0.iter().zip(dw.as_chunks_mut::<INS>().0);
        for (((w, dw), db), adjoint) in weights.zip(db).zip(adjoint) {
            *db += adjoint;
            for i in 0..INS {
                dw[i] += adjoint * input[i];
                dinput[i] += adjoint * w[i];
            }
        }
        dinput
    }

    pub(super) fn tanh(values: &mut [f64]) {
        for value in values {
            *value = value.tanh();
        }
    }

    pub(super) fn through_tanh(results: &[f64], adjoints: &mut [f64]) {
        for (result, adjoint) in results.iter().zip(adjoints) {
            *adjoint *= 1.0 - result * result;
        }
    }
}

/// The activations are the tape: tanh and the pools need nothing else. A convolution of 5 by 5 on
/// 5 by 5 is a dense layer.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn shaped(
    w1: &[f64],
    dw1: &mut [f64],
    b1: &[f64],
    db1: &mut [f64],
    w2: &[f64],
    dw2: &mut [f64],
    b2: &[f64],
    db2: &mut [f64],
    w3: &[f64],
    dw3: &mut [f64],
    b3: &[f64],
    db3: &mut [f64],
    w4: &[f64],
    dw4: &mut [f64],
    b4: &[f64],
    db4: &mut [f64],
    w5: &[f64],
    dw5: &mut [f64],
    b5: &[f64],
    db5: &mut [f64],
    image: &[f64],
    seed: f64,
) -> f64 {
    const LABEL: usize = 3;
    let image = image.as_chunks::<32>().0.as_array::<32>().expect("an image of 32 by 32");
    let image = std::array::from_ref(image);
    let mut c1 = [[[0.0; 28]; 28]; 6];
    layers::convolve(w1, b1, image, &mut c1);
    let mut p1 = [[[0.0; 14]; 14]; 6];
    layers::pool(&c1, &mut p1);
    let mut c2 = [[[0.0; 10]; 10]; 16];
    layers::convolve(w2, b2, &p1, &mut c2);
    let mut p2 = [[[0.0; 5]; 5]; 16];
    layers::pool(&c2, &mut p2);
    let flat: &[f64; 400] = p2.as_flattened().as_flattened().as_array().expect("16 by 5 by 5");
    let mut c3 = [0.0; 120];
    layers::dense(w3, b3, flat, &mut c3);
    layers::tanh(&mut c3);
    let mut h = [0.0; 84];
    layers::dense(w4, b4, &c3, &mut h);
    layers::tanh(&mut h);
    let mut a = [0.0; 10];
    layers::dense(w5, b5, &h, &mut a);
    let mut largest = 0;
    for i in 1..10 {
        if a[i] > a[largest] {
            largest = i;
        }
    }
    let max = a[largest];
    let mut total = 0.0;
    let e = a.map(|a| (a - max).exp());
    for e in e {
        total += e;
    }
    let value = total.ln() + max - a[LABEL];

    let mut da = e.map(|e| seed * e / total);
    da[largest] += seed - da.iter().sum::<f64>();
    da[LABEL] -= seed;
    let mut dh = layers::dense_back(w5, dw5, db5, &h, &da);
    layers::through_tanh(&h, &mut dh);
    let mut dc3 = layers::dense_back(w4, dw4, db4, &c3, &dh);
    layers::through_tanh(&c3, &mut dc3);
    let dflat = layers::dense_back(w3, dw3, db3, flat, &dc3);
    let dp2 = dflat.as_chunks::<5>().0.as_chunks::<5>().0;
    let mut dc2 = [[[0.0; 10]; 10]; 16];
    layers::pool_back(dp2, &mut dc2);
    layers::convolve_back(dw2, db2, &p1, &c2, &mut dc2);
    let mut dp1 = [[[0.0; 14]; 14]; 6];
    layers::convolve_to_input(w2, &dc2, &mut dp1);
    let mut dc1 = [[[0.0; 28]; 28]; 6];
    layers::pool_back(&dp1, &mut dc1);
    layers::convolve_back(dw1, db1, image, &c1, &mut dc1);
    value
}

type Adjoint = fn(
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    &[f64],
    f64,
) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let [w1, b1, w2, b2, w3, b3, w4, b4, w5, b5] = inputs.active();
        let [dw1, db1, dw2, db2, dw3, db3, dw4, db4, dw5, db5] = shadows.each();
        let [image] = inputs.constant();
        adjoint(
            w1, dw1, b1, db1, w2, dw2, b2, db2, w3, dw3, b3, db3, w4, dw4, b4, db4, w5, dw5, b5,
            db5, image, 1.0,
        )
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(7);
    let sizes = [6 * 25, 6, 16 * 6 * 25, 16, 120 * 16 * 25, 120, 84 * 120, 84, 10 * 84, 10];
    let active = sizes.iter().map(|&n| numbers.array(n, -0.1, 0.1)).collect();
    let image = numbers.array(32 * 32, 0.0, 1.0);
    Program {
        name: "lenet",
        inputs: Inputs { active, constant: vec![image], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let [w1, b1, w2, b2, w3, b3, w4, b4, w5, b5] = inputs.active();
            let [image] = inputs.constant();
            lenet(w1, b1, w2, b2, w3, b3, w4, b4, w5, b5, image)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(network::lenet_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: 2.402_369_088_153_467,
            sum: 2.926_875_638_669_269_4,
            norm: 2.003_754_569_605_326,
            weighted: -1.468_047_957_511_201_8,
        }),
    }
}
