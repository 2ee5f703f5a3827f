//! The shapes of kernels that users of CUDA write.

use crate::harness::{Given, additions, check, grid, numbers, zeros};
use stratape_interp::simt::Launch;

#[test]
fn in_place_one_thread() {
    check(
        "#[gradient] fn square(a: &mut [f64]) { a[0] = a[0] * a[0]; }",
        "square",
        &grid(1, 1),
        &[numbers(1)],
    );
}

#[test]
fn elementwise_by_thread_and_by_grid() {
    let text = "#[gradient] fn add(out: &mut [f64], x: &[f64]) { let i = thread_idx().x; out[i] += x[i]; }";
    check(text, "add", &grid(1, 5), &[numbers(5), numbers(5)]);
    let text = "#[gradient] fn add(out: &mut [f64], x: &[f64]) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        out[i] += x[i].sin();
    }";
    check(text, "add", &grid(5, 1), &[numbers(5), numbers(5)]);
    check(text, "add", &grid(2, 3), &[numbers(6), numbers(6)]);
}

#[test]
fn strided_by_warps_and_by_grids() {
    let text = "#[gradient] fn sums(out: &mut [f64], x: &[f64], n: usize) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        if i < n {
            let mut sum = 0.0;
            let mut k = i;
            while k < n {
                sum += x[k] * x[k];
                k += warp_size();
            }
            out[i] = sum;
            return;
        }
    }";
    check(text, "sums", &grid(1, 40), &[numbers(70), numbers(70), Given::Int(70)]);
    let text = "#[gradient] fn squares(out: &mut [f64], x: &[f64]) {
        let stride = block_dim().x * grid_dim().x;
        let first = thread_idx().x + block_idx().x * block_dim().x;
        for i in (first..x.len()).step_by(stride) {
            out[i] = x[i] * x[i] * x[i];
        }
    }";
    let compiled = check(text, "squares", &grid(2, 3), &[numbers(17), numbers(17)]);
    println!("{}", compiled.gradient.as_ref().unwrap().function);
    assert_eq!(additions(&compiled).0, 1, "atomic only on grids of several axes");
}

#[test]
fn broadcast_and_several_writes() {
    let text = "#[gradient] fn spread(a: &mut [f64], b: &[f64]) {
        let i = thread_idx().x;
        a[2 * i] = b[0];
        a[2 * i + 1] = b[0] * b[1];
    }";
    let compiled = check(text, "spread", &grid(1, 5), &[zeros(10), numbers(2)]);
    assert_eq!(additions(&compiled).1, 0);
}

#[test]
fn device_functions_by_value_by_slice_and_nested() {
    let text = "
        #[device] fn global() -> usize { thread_idx().x + block_idx().x * block_dim().x }
        #[device] fn scaled(x: &[f64], by: f64) -> f64 { x[global()] * by }
        #[device] fn both(x: &[f64], y: &[f64], by: f64) -> f64 { scaled(x, by) + scaled(y, by) * x[0] }
        #[gradient] fn kernel(out: &mut [f64], x: &[f64], by: f64) {
            out[global()] = both(x, x, by);
        }";
    check(text, "kernel", &grid(2, 4), &[zeros(8), numbers(8), Given::Float(0.7)]);
}

#[test]
fn numbers_that_all_threads_read() {
    let text = "#[gradient] fn affine(y: &mut [f64], x: &[f64], a: f64, b: f64) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        if i < y.len() { y[i] = a * x[i] + b * b; }
    }";
    check(
        text,
        "affine",
        &grid(3, 4),
        &[zeros(10), numbers(10), Given::Float(1.5), Given::Float(-0.5)],
    );
    let single = text.replace("f64", "f32");
    check(
        &single,
        "affine",
        &grid(3, 4),
        &[zeros(10), numbers(10), Given::Float(1.5), Given::Float(-0.5)],
    );
}

#[test]
fn two_and_three_axes() {
    let text = "#[gradient] fn transpose(out: &mut [f64], x: &[f64], rows: usize, columns: usize) {
        let c = thread_idx().x + block_idx().x * block_dim().x;
        let r = thread_idx().y + block_idx().y * block_dim().y;
        if r < rows && c < columns {
            out[c * rows + r] = x[r * columns + c] * x[r * columns + c];
        }
    }";
    let launch = Launch::new([2, 3, 1], [3, 2, 1]);
    let given = [zeros(20), numbers(20), Given::Int(5), Given::Int(4)];
    let compiled = check(text, "transpose", &launch, &given);
    assert_eq!(additions(&compiled), (1, 1), "owned unless the grid has a third axis");
    let text = "#[gradient] fn cube(out: &mut [f64], x: &[f64]) {
        let t = thread_idx();
        let d = block_dim();
        let i = (t.z * d.y + t.y) * d.x + t.x;
        out[i] = x[i].exp();
    }";
    let launch = Launch::new([1, 1, 1], [2, 3, 2]);
    check(text, "cube", &launch, &[zeros(12), numbers(12)]);
}

#[test]
fn early_returns_and_branches_on_data() {
    let text = "#[gradient] fn relu(out: &mut [f64], x: &[f64]) {
        let i = thread_idx().x;
        if i >= x.len() { return; }
        if x[i] < 1.0 { out[i] = 0.1 * x[i]; return; }
        out[i] = x[i] * x[i];
    }";
    check(text, "relu", &grid(1, 8), &[zeros(6), numbers(6)]);
}

#[test]
fn gather_and_scatter_by_lists_of_indices() {
    let text = "#[gradient] fn gather(out: &mut [f64], x: &[f64], at: &[u32]) {
        let i = thread_idx().x;
        let k = at[i] as usize;
        out[i] = x[k] * x[k];
    }";
    check(text, "gather", &grid(1, 4), &[zeros(4), numbers(3), Given::Ints(vec![2, 0, 2, 1])]);
    let text = "#[gradient] fn scatter(out: &mut [f64], x: &[f64], at: &[usize]) {
        let i = thread_idx().x;
        atomic_add(&mut out[at[i]], x[i] * x[i]);
    }";
    check(text, "scatter", &grid(1, 4), &[numbers(3), numbers(4), Given::Ints(vec![2, 0, 2, 1])]);
}

#[test]
fn arrays_of_a_thread() {
    let text = "#[gradient] fn local(out: &mut [f64], x: &[f64]) {
        let i = thread_idx().x;
        let mut a = [0.0; 4];
        for k in 0..4 { a[k] = x[i] * (k as f64 + 1.0); }
        let mut s = 1.0;
        for k in 0..4 { s *= a[k].sin(); a[3 - k] += s; }
        out[i] = s + a[0] * a[1];
    }";
    check(text, "local", &grid(1, 3), &[zeros(3), numbers(3)]);
}

#[test]
fn elements_that_are_arrays() {
    let text = "#[gradient] fn lengths(out: &mut [f64], x: &[[f64; 3]]) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        let p = x[i];
        out[i] = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
    }";
    check(text, "lengths", &grid(2, 2), &[zeros(4), numbers(12)]);
}

#[test]
fn loops_that_need_a_tape() {
    let text = "#[gradient] fn iterate(x: &mut [f64], n: usize, a: f64) {
        let i = thread_idx().x;
        let mut v = x[i];
        for _ in 0..n { v = a * v.sin() + 0.1 * v * v; }
        x[i] = v;
    }";
    check(text, "iterate", &grid(1, 3), &[numbers(3), Given::Int(5), Given::Float(0.8)]);
    let text = "#[gradient] fn until(x: &mut [f64], a: f64) {
        let i = thread_idx().x;
        let mut v = x[i];
        while v < 3.0 { v = v * (1.0 + a * v); }
        x[i] = v;
    }";
    check(text, "until", &grid(1, 4), &[numbers(4), Given::Float(0.3)]);
}

#[test]
fn constants_and_helpers_of_the_file() {
    let text = "
        const WIDTH: usize = 4;
        const SCALE: f64 = 0.25;
        #[device] fn cube(x: f64) -> f64 { x * x * x }
        #[gradient(wrt(x, out))] fn rows(out: &mut [f64], x: &[f64], w: &[f64]) {
            let r = thread_idx().x;
            let mut s = 0.0;
            for c in 0..WIDTH { s += cube(x[r * WIDTH + c]) * w[c] * SCALE; }
            out[r] = s;
        }";
    let compiled = check(text, "rows", &grid(1, 3), &[zeros(3), numbers(12), numbers(4)]);
    assert_eq!(compiled.gradient.as_ref().unwrap().function.params.len(), 5);
}
