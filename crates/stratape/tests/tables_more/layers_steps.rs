//! `unroll_and_jam` beside other work: layers in loops over time, samples and layers.
use crate::oracle::*;

layer! { state_of_the_input; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let mut u = x.to_vec();
    for t in 0..3 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..m { s += w[i * m + j] * u[j]; }
            y[i] = s.tanh();
        }
        for j in 0..m { u[j] = 0.5 * u[j] + y[(j + t) % n]; }
    }
} }
layer! { state_written_while_rows_run; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let mut u = x.to_vec();
    for t in 0..3 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..m { s += w[i * m + j] * u[j]; }
            y[i] = s.tanh();
            if i < m { u[i] = y[i]; }
        }
    }
} }
layer! { rows_of_states; (w, x, b, y) {
    // All states in one list, each row computed from the one before.
    let (n, m) = (y.len(), x.len());
    let c = n.min(m);
    let mut h = vec![0.0; 4 * c];
    for i in 0..c { h[i] = x[i]; }
    for t in 0..3 {
        for i in 0..c {
            let mut s = b[i];
            for j in 0..c { s += w[i * m + j] * h[t * c + j]; }
            h[(t + 1) * c + i] = s.tanh();
        }
    }
    for i in 0..c { y[i] = h[3 * c + i] * h[c + i]; }
} }
layer! { rows_of_states_in_place; (w, x, b, y) {
    // The same row is read and written.
    let (n, m) = (y.len(), x.len());
    let c = n.min(m);
    let mut h = vec![0.2; 4 * c];
    for t in 0..4 {
        for i in 0..c {
            let mut s = b[i];
            for j in 0..c { s += w[i * m + j] * h[t * c + j]; }
            h[t * c + i] = s.tanh();
        }
    }
    for i in 0..c { y[i] = h[3 * c + i] * h[c + i]; }
} }
layer! { rows_of_states_that_overlap; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let c = n.min(m);
    let mut h = vec![0.2; 5 * c + 1];
    for t in 0..3 {
        for i in 0..c {
            let mut s = b[i];
            for j in 0..=c { s += w[(i * m + j).min(n * m - 1)] * h[t * c + j]; }
            h[(t + 1) * c + i] = s.tanh();
        }
    }
    for i in 0..c { y[i] = h[3 * c + i] * h[c + i]; }
} }
layer! { swapped_states; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let (mut u, mut v) = (x.to_vec(), vec![0.0; n.max(m)]);
    u.resize(n.max(m), 0.4);
    for t in 0..3 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..m { s += w[i * m + j] * u[j]; }
            v[i] = s.tanh();
        }
        std::mem::swap(&mut u, &mut v);
    }
    for i in 0..n { y[i] = u[i] + v[i]; }
} }
layer! { checkpointed; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let mut u = x.to_vec();
    #[checkpoint(slots = 2)]
    for t in 0..4 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..m { s += w[i * m + j] * u[j]; }
            y[i] = s.tanh();
        }
        for j in 0..m { u[j] = 0.5 * u[j] + y[(j + t) % n]; }
    }
} }
layer! { samples; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let mut h = vec![0.0; n];
    let mut all = 0.0;
    for t in 0..3 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..m { s += w[i * m + j] * x[j] * t as f64; }
            assert!(s < 50.0);
            h[i] = 1.0 / (1.0 + (-s).exp());
        }
        let mut z = 0.0;
        for i in 0..n { z += h[i] * b[i]; }
        all += z.sin();
        for i in 0..n { y[i] += z * h[i]; }
    }
    for v in y.iter_mut() { *v += all; }
} }
layer! { two_layers_of_weights; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let mut h = vec![0.0; n];
    for i in 0..n {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        h[i] = s.max(0.1 * s);
    }
    for i in 0..n {
        let mut s = -b[i];
        for j in 0..n { s -= h[j] * b[(i + j) % n]; }
        y[i] = s.tanh() * h[i];
    }
} }
layer! { index_of_the_result; (w, x, b, y) {
    // What follows the sum picks an element by its result.
    let (n, m) = (y.len(), x.len());
    for i in 0..n {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s * b[((s.abs() * 10.0) as usize) % n];
    }
} }
layer! { index_of_the_result_unguarded; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s * b[(s.abs() * 4.0) as usize];
    }
} }
layer! { sum_of_the_rest; (w, x, b, y) {
    // The rest has sums of its own, one of which starts from the first.
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        let mut t = s;
        for j in 0..3 { t += (s * j as f64).sin(); }
        y[i] = t;
    }
} }
layer! { rest_before_the_sum; (w, x, b, y) {
    let m = x.len();
    let mut u = x.to_vec();
    for i in 0..y.len() {
        let c = (b[i] * 2.0).exp();
        y[i] = c;
        if m > 1 { u[0] = c; }
        let mut s = c.ln();
        for j in 0..m { s += w[i * m + j] * u[j]; }
        y[i] += s.tanh();
    }
} }
