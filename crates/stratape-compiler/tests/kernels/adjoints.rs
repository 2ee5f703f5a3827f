//! Gradients of what threads do together.

use crate::harness::{Given, check, grid, numbers, zeros};
use stratape_interp::simt::Launch;

#[test]
fn a_block_reversed_through_shared_memory() {
    let text = "#[gradient] fn reverse(out: &mut [f64], x: &[f64]) {
        let mut tile = shared::<[f64; 16]>();
        let t = thread_idx().x;
        let base = block_idx().x * block_dim().x;
        tile[t] = x[base + t] * x[base + t];
        sync_threads();
        out[base + t] = tile[block_dim().x - 1 - t] * tile[t];
    }";
    check(text, "reverse", &grid(2, 5), &[zeros(10), numbers(10)]);
}

#[test]
fn a_tree_of_sums_in_a_block() {
    let text = "#[gradient] fn sum(out: &mut [f64], x: &[f64]) {
        let mut part = shared::<[f64; 8]>();
        let t = thread_idx().x;
        let i = t + block_idx().x * block_dim().x;
        part[t] = if i < x.len() { x[i] * x[i] } else { 0.0 };
        sync_threads();
        let mut by = block_dim().x / 2;
        while by > 0 {
            if t < by { part[t] += part[t + by]; }
            sync_threads();
            by /= 2;
        }
        if t == 0 { atomic_add(&mut out[0], part[0]); }
    }";
    check(text, "sum", &grid(2, 8), &[numbers(1), numbers(13)]);
}

#[test]
fn products_in_tiles() {
    let text = "
        const T: usize = 2;
        #[gradient] fn matmul(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
            let mut left = shared::<[[f64; 2]; 2]>();
            let mut right = shared::<[[f64; 2]; 2]>();
            let (x, y) = (thread_idx().x, thread_idx().y);
            let column = block_idx().x * T + x;
            let row = block_idx().y * T + y;
            let mut sum = 0.0;
            for k in 0..n / T {
                left[y][x] = a[row * n + k * T + x];
                right[y][x] = b[(k * T + y) * n + column];
                sync_threads();
                for j in 0..T { sum += left[y][j] * right[j][x]; }
                sync_threads();
            }
            c[row * n + column] = sum;
        }";
    let launch = Launch::new([2, 2, 1], [2, 2, 1]);
    check(text, "matmul", &launch, &[zeros(16), numbers(16), numbers(16), Given::Int(4)]);
}

#[test]
fn dynamic_shared_memory() {
    let text = "#[gradient] fn rotate(x: &mut [f64], w: &[f64]) {
        let n = block_dim().x;
        let tile = dynamic_shared::<f64>(n);
        let t = thread_idx().x;
        tile[t] = x[t] * w[0];
        sync_threads();
        x[t] = tile[(t + 1) % n] * tile[t];
    }";
    check(text, "rotate", &grid(1, 5), &[numbers(5), numbers(1)]);
}

#[test]
fn exchanges_in_a_warp() {
    let text = "#[gradient] fn sums(out: &mut [f64], x: &[f64]) {
        let t = thread_idx().x;
        let mut sum = x[t] * x[t];
        let mut by = warp_size() / 2;
        while by > 0 {
            sum += shuffle_down(sum, by);
            by /= 2;
        }
        if t == 0 { out[0] = sum; }
    }";
    check(text, "sums", &grid(1, 32), &[zeros(1), numbers(32)]);
    for exchange in ["shuffle_up(v, 3)", "shuffle_down(v, 5)", "shuffle_xor(v, 6)"] {
        let text = format!(
            "#[gradient] fn one(out: &mut [f64], x: &[f64]) {{
                let t = thread_idx().x;
                let v = x[t] * x[t];
                out[t] = {exchange} * v;
            }}"
        );
        check(&text, "one", &grid(1, 64), &[zeros(64), numbers(64)]);
    }
}

#[test]
fn sums_by_atomics_of_many_blocks() {
    let text = "#[gradient] fn energy(e: &mut [f64], x: &[f64], k: f64) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        if i < x.len() {
            let mut s = 0.0;
            for j in 0..x.len() {
                let d = x[i] - x[j];
                s += 1.0 / (d * d + k).sqrt();
            }
            atomic_add(&mut e[0], s);
        }
    }";
    check(text, "energy", &grid(2, 4), &[zeros(1), numbers(7), Given::Float(0.3)]);
}

#[test]
fn an_index_from_an_atomic_is_recorded() {
    let text = "#[gradient(wrt(out, x))] fn compact(out: &mut [f64], x: &[f64], n: &mut [u32]) {
        let i = thread_idx().x;
        if x[i] > 1.0 {
            let k = atomic_add(&mut n[0], 1) as usize;
            out[k] = x[i] * x[i];
        }
    }";
    check(text, "compact", &grid(1, 6), &[zeros(6), numbers(6), Given::Ints(vec![0])]);
}

#[test]
fn a_row_of_soft_maximum() {
    let text = "#[gradient(wrt(y, x))] fn softmax(y: &mut [f64], x: &[f64], n: usize) {
        let mut part = shared::<[f64; 4]>();
        let (t, row) = (thread_idx().x, block_idx().x);
        let mut top = f64::NEG_INFINITY;
        let mut j = t;
        while j < n { top = top.max(x[row * n + j]); j += block_dim().x; }
        part[t] = top;
        sync_threads();
        for k in 0..block_dim().x { top = top.max(part[k]); }
        sync_threads();
        let mut sum = 0.0;
        let mut j = t;
        while j < n { sum += (x[row * n + j] - top).exp(); j += block_dim().x; }
        part[t] = sum;
        sync_threads();
        let mut total = 0.0;
        for k in 0..block_dim().x { total += part[k]; }
        let mut j = t;
        while j < n { y[row * n + j] = (x[row * n + j] - top).exp() / total; j += block_dim().x; }
    }";
    check(text, "softmax", &grid(2, 3), &[zeros(14), numbers(14), Given::Int(7)]);
}

#[test]
fn sums_of_a_block() {
    let text = "#[gradient] fn energy(e: &mut [f64], x: &[f64], k: f64) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        let mut s = 0.0;
        if i < x.len() {
            for j in 0..x.len() {
                let d = x[i] - x[j];
                s += 1.0 / (d * d + k).sqrt();
            }
        }
        block_add(&mut e[block_idx().x], s * s);
    }";
    check(text, "energy", &grid(2, 4), &[zeros(2), numbers(7), Given::Float(0.3)]);
}

#[test]
fn strides_by_the_block_inside_another_loop() {
    // How often the inner loop ran is computed again, from the size of the block.
    let text = "#[gradient] fn steps(u: &mut [f64], n: usize) {
        let t = thread_idx().x;
        for _ in 0..n {
            for i in (t..u.len()).step_by(block_dim().x) { u[i] = u[i] * u[i]; }
        }
    }";
    check(text, "steps", &grid(1, 3), &[numbers(7), Given::Int(2)]);
}

#[test]
fn arms_that_save_numbers_of_different_kinds() {
    // Both arms once shared a slot: the count of a loop with barriers, and an index on which threads differ.
    let text = "#[gradient] fn kernel(y: &mut [f64], flag: usize) {
        let mut s = shared::<[f64; 64]>();
        let t = thread_idx().x;
        let n = block_dim().x;
        let mut v = y[t];
        s[t] = v;
        sync_threads();
        if flag > 0 {
            let mut d = 1;
            while d < n {
                let w = s[(t + d) % n];
                sync_threads();
                s[t] += w * v;
                sync_threads();
                d *= 2;
            }
        } else {
            v *= s[(t + 3) % n];
        }
        y[t] = v * s[t];
    }";
    for flag in [0, 1] {
        check(text, "kernel", &grid(1, 6), &[numbers(6), Given::Int(flag)]);
    }
}

#[test]
fn a_condition_that_is_simplified_on_the_way_back() {
    // `r` and `y[i]` are the same number: the choice between them goes in the backward half alone.
    let text = "
        #[device] fn early(v: f64, w: f64, n: usize) -> f64 {
            if v > w { return v * 0.5; }
            for k in 0..n % 5 { if v * (k as f64) > 0.6 { return w.sin() * v; } }
            v + w * 0.1
        }
        #[gradient] fn kernel(y: &mut [f64], k: &[usize], a: f64) {
            let i = thread_idx().x;
            let r = y[i];
            let mut l = [a, 0.3, 0.3, y[i]];
            if i % 2 == 1 { l[k[i] % 4] -= early(l[i % 4].atan(), if a > 0.2 { r } else { y[i] }, i); }
            y[i] = l[i % 4];
        }";
    let given = [numbers(6), Given::Ints(vec![3, 1, 2, 0, 3, 1]), Given::Float(0.7)];
    check(text, "kernel", &grid(1, 6), &given);
}
