//! `unroll_and_jam` beside other work: dense layers whose results are saved.
use crate::oracle::*;

layer! { dense; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { subtracted; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s -= w[i * m + j] * x[j]; }
        y[i] = s.exp() * y[i];
    }
} }
layer! { sum_of_what_was_there; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = y[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = (s * b[i]).tanh();
    }
} }
layer! { added_to_what_is_there; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = 0.0;
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] += (s + b[i]).sin();
    }
} }
layer! { in_the_list_itself; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        y[i] = b[i];
        for j in 0..m { y[i] += w[i * m + j] * x[j]; }
        y[i] = y[i].tanh();
    }
} }
layer! { rectified; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = if s > 0.0 { s * s } else { 0.1 * s.exp() };
    }
} }
layer! { asserted_before; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        assert!(b[i] < 0.85, "{i}: {}", b[i]);
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { asserted_after; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        assert!(s < 1.0, "{i}: {s}");
        y[i] = s.tanh();
    }
} }
layer! { panics_in_the_middle; (w, x, b, y) {
    // Row 9 is beyond the list.
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j + if i == 9 { 1000 } else { 0 }] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { stops_early; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        if s > 0.9 { break; }
        y[i] = s.tanh();
    }
} }
layer! { leaves_rows_out; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        if b[i] < 0.0 { continue; }
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { two_sums; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let (mut s, mut t) = (b[i], 1.0);
        for j in 0..m { s += w[i * m + j] * x[j]; }
        for j in 0..m { t += w[i * m + j] * w[i * m + j]; }
        y[i] = s / t.sqrt();
    }
} }
layer! { second_sum_of_the_first; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut mean = 0.0;
        for j in 0..m { mean += w[i * m + j]; }
        mean /= m.max(1) as f64;
        let mut v = 1e-3;
        for j in 0..m { v += (w[i * m + j] - mean) * (w[i * m + j] - mean); }
        y[i] = b[i] * mean / v.sqrt();
    }
} }
layer! { triangle; (w, x, b, y) {
    // The range depends on the row.
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m.min(i) { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { carried_over_rows; (w, x, b, y) {
    let m = x.len();
    let mut last = 0.1;
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        last = (s + 0.5 * last).tanh();
        y[i] = last;
    }
} }
layer! { total_of_the_rows; (w, x, b, y) {
    let m = x.len();
    let mut all = 0.0;
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
        all += y[i] * s;
    }
    for v in y.iter_mut() { *v *= all; }
} }
layer! { backwards; (w, x, b, y) {
    let m = x.len();
    for i in (0..y.len()).rev() {
        let mut s = b[i];
        for j in (0..m).rev() { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { some_rows; (w, x, b, y) {
    let m = x.len();
    let n = y.len();
    for i in n.min(2)..n.saturating_sub(1) {
        let mut s = b[i];
        for j in 1..m { s += w[i * m + j] * x[j - 1]; }
        y[i] = s.tanh() * y[i];
    }
} }
layer! { columns; (w, x, b, y) {
    let n = y.len();
    for i in 0..n {
        let mut s = b[i];
        for j in 0..x.len() { s += w[j * n + i] * x[j]; }
        y[i] = s.tanh();
    }
} }
layer! { written_elsewhere_too; (w, x, b, y) {
    let m = x.len();
    let mut z = vec![0.0; y.len()];
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        z[i] = s.exp();
        y[i] = s.tanh() * z[i];
    }
    for i in 1..y.len() { y[i] -= 0.1 * z[i - 1] * y[i - 1]; }
} }
layer! { written_where_others_are; (w, x, b, y) {
    // Each iteration writes to the next element as well: the last write counts.
    let (m, n) = (x.len(), y.len());
    for i in 0..n {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.tanh();
        if i + 1 < n { y[i + 1] = s * s; }
    }
} }
layer! { histogram; (w, x, b, y) {
    let (m, n) = (x.len(), y.len());
    for i in 0..n {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[(i * 7) % n] += s.tanh();
    }
} }
layer! { normalised_after; (w, x, b, y) {
    let m = x.len();
    let mut z = 0.0;
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m { s += w[i * m + j] * x[j]; }
        y[i] = s.exp();
    }
    for v in y.iter() { z += v; }
    for v in y.iter_mut() { *v /= z; }
} }
layer! { printed_number; (w, x, b, y) {
    let m = x.len();
    for i in 0..y.len() {
        let mut s = b[i];
        for j in 0..m {
            if w[i * m + j] > 0.3 { s += w[i * m + j] * x[j]; } else { s -= 0.5 * x[j]; }
        }
        y[i] = s.tanh();
    }
} }
