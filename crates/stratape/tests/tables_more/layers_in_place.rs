//! `unroll_and_jam` beside other work: the list that is written is also read by the sum.
use crate::oracle::*;

layer! { gauss_seidel; (w, x, b, y) {
    let n = y.len().min(x.len());
    for _ in 0..2 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..n { s += 0.1 * w[(i * n + j) % w.len()] * y[j]; }
            y[i] = s.tanh();
        }
    }
} }
layer! { gauss_seidel_of_all; (w, x, b, y) {
    let n = y.len();
    for i in 0..n {
        let mut s = b[i];
        for j in 0..n { s -= 0.2 * y[j] * b[j]; }
        y[i] = s.sin();
    }
} }
layer! { forward_substitution; (w, x, b, y) {
    let n = y.len();
    for i in 0..n {
        let mut s = b[i];
        for j in 0..i { s -= 0.3 * b[j] * y[j]; }
        y[i] = s / (2.0 + b[i]);
    }
} }
layer! { back_substitution; (w, x, b, y) {
    let n = y.len();
    for i in (0..n).rev() {
        let mut s = b[i];
        for j in i + 1..n { s -= 0.3 * b[j] * y[j]; }
        y[i] = s / (2.0 + b[i]);
    }
} }
layer! { first_elements_read; (w, x, b, y) {
    // Rows read the first three elements, and write from the fourth on: apart.
    let n = y.len();
    if n < 4 { return; }
    for i in 3..n {
        let mut s = b[i];
        for j in 0..3 { s += y[j] * b[j] * b[i]; }
        y[i] = s.tanh();
    }
} }
layer! { one_element_overlaps; (w, x, b, y) {
    // Rows write from the third on, which later rows read.
    let n = y.len();
    if n < 4 { return; }
    for i in 2..n {
        let mut s = b[i];
        for j in 0..3 { s += y[j] * b[j] * b[i]; }
        y[i] = s.tanh();
    }
} }
layer! { last_elements_read; (w, x, b, y) {
    let n = y.len();
    let h = n / 2;
    for i in 0..h {
        let mut s = b[i];
        for j in 0..n - h { s += y[h + j] * b[j]; }
        y[i] = s.tanh();
    }
} }
layer! { last_elements_read_and_one; (w, x, b, y) {
    let n = y.len();
    let h = n / 2;
    for i in 0..h {
        let mut s = b[i];
        for j in 0..n - h { s += y[h + j - usize::from(h > 0)] * b[j]; }
        y[i] = s.tanh();
    }
} }
layer! { window; (w, x, b, y) {
    // A filter in place: each row reads what the last rows wrote.
    let n = y.len();
    for i in 3..n {
        let mut s = b[i];
        for j in 0..3 { s += 0.4 * y[i - 1 - j] * b[j]; }
        y[i] = s.sin();
    }
} }
layer! { window_ahead; (w, x, b, y) {
    // Each row reads what later rows write afterwards.
    let n = y.len();
    for i in 0..n.saturating_sub(3) {
        let mut s = b[i];
        for j in 0..3 { s += 0.4 * y[i + 1 + j] * b[j]; }
        y[i] = s.sin();
    }
} }
layer! { layers_in_one_buffer; (w, x, b, y) {
    // Three layers, each behind the one before.
    let (n, m) = (y.len(), x.len());
    let mut h = x.to_vec();
    h.resize(m + 3 * n, 0.0);
    let (mut from, mut width, mut to) = (0, m, m);
    for l in 0..3 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..width { s += w[(i * width + j + l) % w.len()] * h[from + j]; }
            h[to + i] = s.tanh();
        }
        (from, width, to) = (to, n, to + n);
    }
    for i in 0..n { y[i] += h[from + i]; }
} }
layer! { layers_that_overlap; (w, x, b, y) {
    // The second layer is written over the end of what it reads.
    let (n, m) = (y.len(), x.len());
    let mut h = x.to_vec();
    h.resize(m + 3 * n, 0.1);
    for l in 0..3 {
        let to = m + l * (n / 2);
        for i in 0..n {
            let mut s = b[i];
            for j in 0..to + l { s += w[(i + j) % w.len()] * h[j]; }
            h[to + i] = s.tanh();
        }
    }
    for i in 0..n { y[i] += h[m + n / 2 * 2 + i]; }
} }
layer! { two_buffers; (w, x, b, y) {
    let n = y.len();
    let (mut h, mut g) = (y.to_vec(), vec![0.0; n]);
    for t in 0..4 {
        for i in 0..n {
            let mut s = b[i];
            for j in 0..n { s += 0.3 * w[(i * n + j + t) % w.len()] * h[j]; }
            g[i] = s.tanh();
        }
        std::mem::swap(&mut h, &mut g);
    }
    y.copy_from_slice(&h);
} }
layer! { steps_of_time; (w, x, b, y) {
    // A recurrent network: the state is written from a copy.
    let (n, m) = (y.len(), x.len());
    for t in 0..3 {
        let old = y.to_vec();
        for i in 0..n {
            let mut s = b[i] * (t as f64 + 1.0);
            for j in 0..n { s += 0.2 * w[(i + j) % w.len()] * old[j]; }
            y[i] = s.tanh() + 0.5 * old[i];
        }
    }
} }
layer! { steps_under_checkpoint; (w, x, b, y) {
    let n = y.len();
    #[checkpoint(slots = 2)]
    for t in 0..5 {
        let old = y.to_vec();
        for i in 0..n {
            let mut s = b[i];
            for j in 0..n { s += 0.2 * w[(i + j) % w.len()] * old[j]; }
            y[i] = s.tanh();
        }
    }
} }
layer! { parallel_rows; (w, x, b, y) {
    let m = x.len();
    #[parallel]
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { input_changed_by_a_row; (w, x, b, y) {
    // Each row scales the input of the next ones.
    let m = x.len();
    let mut u = x.to_vec();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * u[j]; }
        y[i] = s.tanh();
        if m > 0 { u[i % m] *= 0.9 + 0.1 * s; }
    }
} }
layer! { weights_changed_by_a_row; (w, x, b, y) {
    let m = x.len();
    let mut u = w.to_vec();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += u[i * m + j] * x[j]; }
        y[i] = s.tanh();
        if (i + 1) * m < u.len() { u[(i + 1) * m] = s * s; }
    }
} }
layer! { own_row_changed_after; (w, x, b, y) {
    let m = x.len();
    let mut u = w.to_vec();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += u[i * m + j] * x[j]; }
        for j in 0..m { u[i * m + j] *= s; }
        y[i] = s.tanh();
    }
    for (y, u) in y.iter_mut().zip(&u) { *y += u * u; }
} }
layer! { own_row_changed_before; (w, x, b, y) {
    let m = x.len();
    let mut u = w.to_vec();
    for i in 0..y.len() {
        for j in 0..m { u[i * m + j] = (u[i * m + j] * b[i]).exp(); }
        let mut s = b[i];
        for j in 0..m { s += u[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { bias_changed_by_a_row; (w, x, b, y) {
    let (n, m) = (y.len(), x.len());
    let mut c = b.to_vec();
    for i in 0..n {
        let mut s = c[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
        if i + 1 < n { c[i + 1] += 0.5 * s; }
    }
} }
layer! { list_that_grows; (w, x, b, y) {
    let m = x.len();
    let mut h = Vec::new();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        h.push(s.tanh());
        if s > 0.4 { h.push(s * s); }
    }
    for (y, h) in y.iter_mut().zip(&h) { *y *= h; }
} }
