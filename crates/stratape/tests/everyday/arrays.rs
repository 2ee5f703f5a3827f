//! Programs as users of `ndarray` write them.

use ndarray::prelude::*;
use ndarray::{Zip, concatenate, stack};
use stratape::{differentiable, gradient};

use crate::common::arrays::{START, close, differences, flat, matrix, vector};

of_arrays! {
    linear_regression: least_squares least_squares_grad;
    ridge_regression: ridge ridge_grad;
    logistic_regression: logistic logistic_grad;
    softmax_classifier: softmax_layer softmax_layer_grad;
    k_means: clusters clusters_grad;
    principal_components: reconstruction reconstruction_grad;
    attention_weights: attention attention_grad;
    heat_equation: heat heat_grad;
    convolution: convolved convolved_grad;
    batch_norm: normalized normalized_grad;
    autoregression: autoregressive autoregressive_grad;
    two_layers: perceptron perceptron_grad;
    total_variation: variation variation_grad;
    cosine_similarities: similarity similarity_grad;
    power_iteration: dominant dominant_grad;
    kernel_matrix: kernel kernel_grad;
    recurrent_cell: recurrent recurrent_grad;
    image_gradient: sobel sobel_grad;
    spline: interpolated interpolated_grad;
    huber: robust robust_grad;
    moving_average: averaged averaged_grad;
    markov_chain: stationary stationary_grad;
}

#[gradient]
fn least_squares(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let y = array![1.0, -0.5, 2.0];
    let residual = x.dot(w) - &y;
    residual.mapv(|r| r.powi(2)).mean().unwrap()
}

#[gradient]
fn ridge(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let y: Array1<f64> = Array::linspace(0., 1., x.nrows());
    let error = &y - &x.dot(w);
    error.dot(&error) / (2.0 * y.len() as f64) + 0.1 * w.iter().map(|w| w * w).sum::<f64>()
}

#[gradient]
fn logistic(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let labels = array![1.0, 0.0, 1.0];
    let design = concatenate![Axis(1), *x, Array2::<f64>::ones((x.nrows(), 1))];
    let weights = concatenate![Axis(0), *w, array![0.25]];
    let p = design.dot(&weights).mapv(|z| 1.0 / (1.0 + (-z).exp()));
    let losses = &labels * &p.mapv(f64::ln) + (1.0 - &labels) * (1.0 - &p).mapv(f64::ln);
    -losses.sum() / labels.len() as f64
}

#[gradient]
fn softmax_layer(weights: &Array2<f64>, input: &Array1<f64>) -> f64 {
    let logits = weights.dot(input);
    let largest = logits.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    let exponentials = logits.mapv(|z| (z - largest).exp());
    let total = exponentials.sum();
    let p = exponentials / total;
    -p[1].ln()
}

#[gradient]
fn clusters(points: &Array2<f64>, centre: &Array1<f64>) -> f64 {
    let centres = stack![Axis(0), *centre, Array1::<f64>::zeros(3)];
    let mut loss = 0.0;
    for point in points.outer_iter() {
        let mut best = f64::INFINITY;
        for c in centres.outer_iter() {
            let d = &point - &c;
            best = best.min(d.dot(&d));
        }
        loss += best;
    }
    loss / points.nrows() as f64
}

#[gradient]
fn reconstruction(data: &Array2<f64>, direction: &Array1<f64>) -> f64 {
    let centred = data - &data.mean_axis(Axis(0)).unwrap();
    let unit = direction / direction.dot(direction).sqrt();
    let scores = centred.dot(&unit);
    let rebuilt = scores.insert_axis(Axis(1)).dot(&unit.insert_axis(Axis(0)));
    (&centred - &rebuilt).mapv(|d| d * d).sum()
}

#[gradient]
fn attention(x: &Array2<f64>, scale: &Array1<f64>) -> f64 {
    let (q, k, v) = (x * scale, x.to_owned(), x.mapv(f64::tanh));
    let scores = q.dot(&k.t()) / (k.ncols() as f64).sqrt();
    let mut weights = scores.clone();
    for mut row in weights.rows_mut() {
        let largest = row.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        row.mapv_inplace(|s| (s - largest).exp());
        let total = row.sum();
        row /= total;
    }
    weights.dot(&v).sum_axis(Axis(0)).dot(scale)
}

#[gradient]
fn heat(m: &Array2<f64>, rates: &Array1<f64>) -> f64 {
    let mut u = m.clone();
    for step in 0..3 {
        let rate = 0.1 * rates[step % rates.len()];
        let laplacian = &u.slice(s![..-2, 1..-1])
            + &u.slice(s![2.., 1..-1])
            + &u.slice(s![1..-1, ..-2])
            + &u.slice(s![1..-1, 2..])
            - &(&u.slice(s![1..-1, 1..-1]) * 4.0);
        let mut inner = u.slice_mut(s![1..-1, 1..-1]);
        inner.scaled_add(rate, &laplacian);
    }
    u.mapv(|t| t * t).sum()
}

#[gradient]
fn convolved(image: &Array2<f64>, kernel: &Array1<f64>) -> f64 {
    let signal = Array1::from_iter(image.iter().cloned());
    let n = signal.len() + 1 - kernel.len();
    let mut out = Array1::<f64>::zeros(n);
    for i in 0..n {
        out[i] = signal.slice(s![i..i + kernel.len()]).dot(kernel);
    }
    out.mapv(|v| v.max(0.0)).sum()
        + out.windows(2).into_iter().map(|w| (w[1] - w[0]).powi(2)).sum::<f64>()
}

#[gradient]
fn normalized(x: &Array2<f64>, gamma: &Array1<f64>) -> f64 {
    let mean = x.mean_axis(Axis(0)).unwrap();
    let variance = x.var_axis(Axis(0), 0.0);
    let scaled = (x - &mean) / &variance.mapv(|v| (v + 1e-5).sqrt());
    let out = &scaled * gamma + 0.5;
    out.mapv(|v| v.powi(3)).sum()
}

#[gradient]
fn autoregressive(m: &Array2<f64>, phi: &Array1<f64>) -> f64 {
    let series = m.iter().cloned().collect::<Array1<f64>>();
    let order = phi.len();
    let mut loss = 0.0;
    for t in order..series.len() {
        let past = series.slice(s![t - order..t; -1]);
        let error = series[t] - past.dot(phi);
        loss += error * error;
    }
    loss
}

#[gradient]
fn perceptron(w: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = array![[0.5, -1.0, 0.25], [1.5, 0.3, -0.7]];
    let hidden = (x.dot(&w.t()) + b).mapv(|v| if v > 0.0 { v } else { 0.01 * v });
    let out = hidden.dot(w) - b;
    out.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[gradient]
fn variation(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let dx = &m.slice(s![.., 1..]) - &m.slice(s![.., ..-1]);
    let dy = &m.slice(s![1.., ..]) - &m.slice(s![..-1, ..]);
    let smooth = |d: &Array2<f64>| d.mapv(|x| (x * x + 1e-3).sqrt()).sum();
    smooth(&dx) + smooth(&dy) + v.sum()
}

#[gradient]
fn similarity(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let norms = m.map_axis(Axis(1), |row| row.dot(&row).sqrt());
    let length = v.dot(v).sqrt();
    let cosines = m.dot(v) / &(&norms * length);
    cosines.fold(0.0, |sum, c| sum + (1.0 - c))
}

#[gradient]
fn dominant(m: &Array2<f64>, start: &Array1<f64>) -> f64 {
    let symmetric = (m + &m.t()) / 2.0;
    let mut x = start.clone();
    for _ in 0..5 {
        let y = symmetric.dot(&x);
        x = &y / y.dot(&y).sqrt();
    }
    x.dot(&symmetric.dot(&x))
}

#[gradient]
fn kernel(x: &Array2<f64>, scale: &Array1<f64>) -> f64 {
    let n = x.nrows();
    let mut gram = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            let d = (&x.row(i) - &x.row(j)) / scale;
            gram[[i, j]] = (-0.5 * d.dot(&d)).exp();
        }
    }
    gram += &(Array2::<f64>::eye(n) * 0.1);
    gram.sum() + gram.diag().sum()
}

#[gradient]
fn recurrent(w: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let mut h = Array1::<f64>::zeros(w.nrows());
    for t in 0..4 {
        let input = x * (t as f64 + 1.0) * 0.3;
        h = (w.dot(&h) * 0.2 + &input).mapv(f64::tanh);
    }
    h.sum()
}

#[gradient]
fn sobel(image: &Array2<f64>, weights: &Array1<f64>) -> f64 {
    let mut padded = Array2::<f64>::zeros((image.nrows() + 2, image.ncols() + 2));
    padded.slice_mut(s![1..-1, 1..-1]).assign(image);
    let mut sum = 0.0;
    for ((i, j), value) in image.indexed_iter() {
        let patch = padded.slice(s![i..i + 3, j..j + 3]);
        let edge = patch.dot(weights);
        sum += edge.dot(&edge).sqrt() + value * 0.1;
    }
    sum
}

#[gradient]
fn interpolated(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let knots = Array::linspace(0.0, 1.0, 3);
    let t = 0.3 + 0.1 * m[[0, 0]].sin();
    let at = (t * 2.0_f64).floor() as usize;
    let u = (t - knots[at]) * 2.0;
    v[at] * (1.0 - u) + v[at + 1] * u + m.row(at).sum()
}

#[gradient]
fn robust(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let residuals = m.dot(v) - 1.0;
    let mut losses = Array1::<f64>::zeros(residuals.len());
    Zip::from(&mut losses).and(&residuals).for_each(|loss, &r| {
        *loss = if r.abs() < 1.0 { 0.5 * r * r } else { r.abs() - 0.5 };
    });
    losses.sum()
}

#[gradient]
fn averaged(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let series = concatenate![Axis(0), m.row(0), m.row(1), *v];
    let mut smooth = series.clone();
    for i in 1..series.len() {
        smooth[i] = 0.7 * smooth[i - 1] + 0.3 * series[i];
    }
    let deviation = (&series - &smooth).std(0.0);
    deviation + smooth.mean().unwrap()
}

#[gradient]
fn stationary(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let positive = m.mapv(f64::exp);
    let rows = positive.sum_axis(Axis(1)).insert_axis(Axis(1));
    let transition = &positive / &rows;
    let mut state = v.mapv(|x| x * x);
    state /= state.sum();
    for _ in 0..4 {
        state = state.dot(&transition);
    }
    state.iter().map(|p| -p * p.ln()).sum()
}

#[differentiable]
#[allow(unreachable_pub)]
mod kalman {
    use ndarray::{Array1, Array2, ArrayView1, array};

    struct Filter {
        state: Array1<f64>,
        covariance: Array2<f64>,
    }

    impl Filter {
        fn new() -> Self {
            Self { state: Array1::zeros(2), covariance: Array2::eye(2) }
        }

        fn predict(&mut self, transition: &Array2<f64>, noise: f64) {
            self.state = transition.dot(&self.state);
            self.covariance = transition.dot(&self.covariance).dot(&transition.t())
                + Array2::<f64>::eye(2) * noise;
        }

        fn update(&mut self, measured: f64, variance: f64) -> f64 {
            let innovation = measured - self.state[0];
            let s = self.covariance[[0, 0]] + variance;
            let gain = &self.covariance.column(0) / s;
            self.state = &self.state + &(&gain * innovation);
            let row = self.covariance.row(0).to_owned();
            for i in 0..2 {
                for j in 0..2 {
                    self.covariance[[i, j]] -= gain[i] * row[j];
                }
            }
            0.5 * (s.ln() + innovation * innovation / s)
        }
    }

    #[gradient]
    pub fn likelihood(measured: ArrayView1<f64>, noise: f64, variance: f64) -> f64 {
        let transition = array![[1.0, 0.5], [0.0, 1.0]];
        let mut filter = Filter::new();
        let mut sum = 0.0;
        for z in measured.iter() {
            filter.predict(&transition, noise);
            sum += filter.update(*z, variance);
        }
        sum
    }
}

#[test]
fn a_kalman_filter() {
    let z = array![0.3, 0.7, 1.4, 1.6, 2.3];
    let mut dz = Array1::zeros(5);
    let (value, dnoise, dvariance) =
        kalman::likelihood_grad(z.view(), dz.view_mut(), 0.1, 0.4, 1.0);
    let f = |x: &[f64]| kalman::likelihood(ArrayView1::from(&x[..5]), x[5], x[6]);
    let mut x = z.to_vec();
    x.extend([0.1, 0.4]);
    assert!((value - f(&x)).abs() < 1e-12);
    let mut found = dz.to_vec();
    found.extend([dnoise, dvariance]);
    close(&found, &differences(&x, f));
}
