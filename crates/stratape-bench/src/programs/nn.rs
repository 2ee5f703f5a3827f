//! nn: one dense layer on an image of 28 by 28, softmax, and the loss of the second class.

use super::numbers::Numbers;
use super::program::{Expected, Gradient, Inputs, Program};

const CLASSES: usize = 10;
const PIXELS: usize = 784;
const LABEL: usize = 1;

#[stratape::gradient(wrt(w, b))]
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

/// The scaled image is computed once, and the exponentials are kept.
fn shaped(w: &[f64], dw: &mut [f64], b: &[f64], db: &mut [f64], img: &[f64], seed: f64) -> f64 {
    assert!(w.len() == CLASSES * PIXELS && dw.len() == w.len(), "a weight a pixel and class");
    let mut pixels = [0.0; PIXELS];
    for (pixel, value) in pixels.iter_mut().zip(img) {
        *pixel = value / 255.0;
    }
    let mut a = [0.0; CLASSES];
    for ((a, b), row) in a.iter_mut().zip(b).zip(w.chunks_exact(PIXELS)) {
        let mut sum = *b;
        for (weight, pixel) in row.iter().zip(&pixels) {
            sum += weight * pixel;
        }
        *a = sum;
    }
    let mut largest = 0;
    for i in 1..CLASSES {
        if a[i] > a[largest] {
            largest = i;
        }
    }
    let mut e = [0.0; CLASSES];
    let mut total = 0.0;
    for i in 0..CLASSES {
        e[i] = (a[i] - a[largest]).exp();
        total += e[i];
    }
    let value = -(e[LABEL] / total).ln();

    let mut adjoints = [0.0; CLASSES];
    for i in 0..CLASSES {
        adjoints[i] = seed * e[i] / total;
    }
    adjoints[LABEL] -= seed;
    adjoints[largest] -= adjoints.iter().sum::<f64>();
    for ((adjoint, db), row) in adjoints.iter().zip(db).zip(dw.chunks_exact_mut(PIXELS)) {
        *db += adjoint;
        for (dw, pixel) in row.iter_mut().zip(&pixels) {
            *dw += adjoint * pixel;
        }
    }
    value
}

type Adjoint = fn(&[f64], &mut [f64], &[f64], &mut [f64], &[f64], f64) -> f64;

fn calling(adjoint: Adjoint) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([w, b], [img]) = (inputs.active(), inputs.constant());
        let [dw, db] = shadows.each();
        adjoint(w, dw, b, db, img, 1.0)
    })
}

pub(super) fn program() -> Program {
    let mut numbers = Numbers::from_seed(2);
    let w = numbers.array(CLASSES * PIXELS, -0.1, 0.1);
    let b = numbers.array(CLASSES, -0.1, 0.1);
    let img = (0..PIXELS).map(|_| numbers.within(0.0, 256.0).floor()).collect();
    Program {
        name: "nn",
        inputs: Inputs { active: vec![w, b], constant: vec![img], ..Inputs::default() },
        primal: Box::new(|inputs| {
            let ([w, b], [img]) = (inputs.active(), inputs.constant());
            nn(w, b, img)
        }),
        by_hand: Some(calling(shaped)),
        ours: calling(nn_grad),
        state_bytes: None,
        expected: Some(Expected {
            value: 2.623_460_721_214_389_7,
            sum: 0.0,
            norm: 16.171_721_297_758_32,
            weighted: -21.101_047_989_593_51,
        }),
    }
}
