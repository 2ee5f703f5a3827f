//! Rows whose columns threads take in strides: which of them belong to one thread.

use stratape_compiler::back::cuda::{Factor, Fresh};
use stratape_interp::simt::Launch;

use crate::harness::{Given, additions, check_compiled, compile, grid, numbers, stores, zeros};

/// Compiles a kernel of `out`, `x`, `m` and `n`, and holds its gradient against differences for rows of several lengths on several grids, which emulation watches for races.
fn rows(body: &str, grids: &[Launch], sizes: &[(usize, usize)]) -> (usize, usize) {
    let text = format!(
        "#[gradient(wrt(out, x))] fn rows(out: &mut [f64], x: &[f64], m: usize, n: usize) {{ {body} }}"
    );
    let compiled = compile(&text, "rows").unwrap_or_else(|error| panic!("{error}"));
    for launch in grids {
        for (m, n) in sizes {
            let given = [zeros(1), numbers(60), Given::Int(*m as i64), Given::Int(*n as i64)];
            check_compiled(&compiled, launch, &given);
        }
    }
    additions(&compiled)
}

/// One row for each block.
const BLOCKS: &[(usize, usize)] = &[(3, 5), (3, 4), (3, 1), (3, 0), (3, 13)];

fn lines() -> Vec<Launch> {
    vec![grid(3, 4), grid(3, 1), grid(3, 7), grid(1, 3)]
}

/// Grids whose blocks have a second axis.
fn plates() -> Vec<Launch> {
    let mut all = lines();
    all.push(Launch::new([3, 1, 1], [3, 2, 1]));
    all.push(Launch::new([2, 2, 1], [2, 1, 1]));
    all
}

fn columns(index: &str, range: &str, stride: &str) -> String {
    format!(
        "let (t, b, d) = (thread_idx().x, block_idx().x, block_dim().x);
        let mut s = 0.0;
        for j in ({range}).step_by({stride}) {{ s += x[{index}] * x[{index}] * (j as f64 + 1.0); }}
        block_add(&mut out[0], s);"
    )
}

const PLAIN: (usize, usize) = (1, 1);
const ATOMIC: (usize, usize) = (1, 0);

#[test]
fn a_row_for_each_block() {
    for (index, range, stride) in [
        ("b * n + j", "t..n", "d"),
        ("j + n * b", "t..n", "block_dim().x"),
        // All rows are shifted.
        ("b * n + j", "t + 1..n + 1", "d"),
        ("b * n + j + 2", "t..n", "d"),
        // Strides may be longer.
        ("b * n + j", "t..n", "d + 1"),
        ("b * n + j", "t..n", "2 * d"),
        ("b * n + (n - 1 - j)", "t..n", "d"),
    ] {
        let found = rows(&columns(index, range, stride), &plates(), BLOCKS);
        let wanted = if index.contains('-') { ATOMIC } else { PLAIN };
        assert_eq!(found, wanted, "{index}, {range}, {stride}");
    }
}

#[test]
fn rows_of_literal_and_computed_lengths() {
    assert_eq!(rows(&columns("b * 13 + j", "t..13", "d"), &plates(), &[(3, 0)]), PLAIN);
    assert_eq!(rows(&columns("b * 13 + j", "t..11", "d"), &plates(), &[(3, 0)]), PLAIN);
    assert_eq!(rows(&columns("b * (n + 2) + j", "t..n", "d"), &plates(), BLOCKS), PLAIN);
    assert_eq!(
        rows(&columns("b * (n * m) + j", "t..n * m", "d"), &plates(), &[(2, 3), (3, 4)]),
        PLAIN
    );
    assert_eq!(
        rows(&columns("2 * (b * n + j) + 1", "t..n", "d"), &plates(), &[(3, 9), (3, 1)]),
        PLAIN
    );
    let half = "let h = n / 2;";
    let body = format!("{half} {}", columns("b * h + j", "t..h", "d"));
    assert_eq!(rows(&body, &plates(), BLOCKS), PLAIN);
}

#[test]
fn rows_that_meet() {
    for (index, range, stride) in [
        // The bound is not the length of a row, or more than that.
        ("b * n + j", "t..m", "d"),
        ("b * n + j", "t..n + 1", "d"),
        ("b * n + j + 1", "t..n + 1", "d"),
        ("b * n + j", "t + 1..n + 2", "d"),
        ("b * 12 + j", "t..13", "d"),
        // Threads that meet within a row.
        ("b * n + j", "t..n", "1"),
        ("b * n + j", "t..n", "2"),
        ("b * n + j", "0..n", "d"),
        ("b * n + j / 2", "t..n", "d"),
        ("b * n + j * j % n", "t..n", "d"),
        // Rows that may be one.
        ("if x[b] > 1.0 { 0 } else { b } * n + j", "t..n", "d"),
    ] {
        let found =
            rows(&columns(index, range, stride), &plates(), &[(2, 5), (2, 4), (2, 1), (2, 13)]);
        assert_eq!(found.1, 0, "{index}, {range}, {stride}");
    }
}

#[test]
fn columns_that_change_in_the_loop() {
    let text = "let (t, b, d) = (thread_idx().x, block_idx().x, block_dim().x);
        let mut s = 0.0;
        for j in (t..n).step_by(d) {
            let mut k = j;
            if x[b * n + j] > 1.0 { k = n - 1; }
            s += x[b * n + k] * x[b * n + k];
        }
        block_add(&mut out[0], s);";
    assert_eq!(rows(text, &plates(), &[(3, 5), (3, 13)]).1, 0);
}

#[test]
fn lengths_that_differ_between_rows() {
    let text = "let (t, b, d) = (thread_idx().x, block_idx().x, block_dim().x);
        let len = n + b;
        let mut s = 0.0;
        for j in (t..len).step_by(d) { s += x[b * len + j] * x[b * len + j]; }
        block_add(&mut out[0], s);";
    assert_eq!(rows(text, &plates(), &[(3, 2), (3, 5)]), ATOMIC);
}

#[test]
fn threads_of_two_axes_that_take_columns_together() {
    let body = |thread: &str, stride: &str| {
        format!(
            "let b = block_idx().x;
            let t = {thread};
            let mut s = 0.0;
            for j in (t..n).step_by({stride}) {{ s += x[b * n + j] * x[b * n + j]; }}
            block_add(&mut out[0], s);"
        )
    };
    let linear = "thread_idx().x + thread_idx().y * block_dim().x";
    let grids = [
        Launch::new([3, 1, 1], [3, 2, 1]),
        Launch::new([2, 1, 1], [2, 5, 1]),
        Launch::new([2, 1, 1], [2, 2, 2]),
        grid(3, 4),
    ];
    assert_eq!(rows(&body(linear, "block_dim().x * block_dim().y"), &grids, BLOCKS), PLAIN);
    assert_eq!(
        rows(&body(linear, "block_dim().x"), &grids, BLOCKS),
        PLAIN,
        "if the blocks have one axis"
    );
    assert_eq!(rows(&body("thread_idx().x", "block_dim().x"), &grids, BLOCKS), PLAIN);
    assert_eq!(rows(&body("thread_idx().y", "block_dim().y"), &grids, BLOCKS), ATOMIC);
}

#[test]
fn rows_in_strides_of_the_grid() {
    let body = |rows: &str, index: &str| {
        format!(
            "let t = thread_idx().x;
            let mut s = 0.0;
            for row in {rows} {{
                for j in (t..n).step_by(block_dim().x) {{ s += x[{index}] * x[{index}]; }}
            }}
            block_add(&mut out[0], s);"
        )
    };
    let sizes = [(5, 4), (1, 7), (7, 3), (0, 3), (4, 0)];
    let all = "(block_idx().x..m).step_by(grid_dim().x)";
    assert_eq!(rows(&body(all, "row * n + j"), &plates(), &sizes), PLAIN);
    assert_eq!(rows(&body(all, "row * row * n + j"), &plates(), &[(2, 9), (3, 5)]), ATOMIC);
    assert_eq!(
        rows(&body("(block_idx().x..m).step_by(2)", "row * n + j"), &plates(), &sizes),
        ATOMIC
    );
    assert_eq!(
        rows(&body("0..m", "row * n + j"), &plates(), &sizes),
        PLAIN,
        "if there is one block"
    );
    let slices = "0..m";
    assert_eq!(
        rows(&body(slices, "(block_idx().x * m + row) * n + j"), &plates(), &[(2, 3), (1, 7)]),
        PLAIN
    );
    assert_eq!(
        rows(&body(slices, "(block_idx().x * n + row) * n + j"), &plates(), &[(2, 3), (1, 4)]),
        ATOMIC
    );
}

#[test]
fn batches_of_rows() {
    let text = "let (t, row, batch) = (thread_idx().x, block_idx().x, block_idx().y);
        let mut s = 0.0;
        if row < m {
            for j in (t..n).step_by(block_dim().x) {
                let i = (batch * m + row) * n + j;
                s += x[i] * x[i];
            }
        }
        block_add(&mut out[0], s);";
    let grids = [Launch::new([3, 2, 1], [4, 1, 1]), Launch::new([2, 3, 1], [2, 2, 1])];
    assert_eq!(rows(text, &grids, &[(3, 4), (2, 5), (1, 1)]), PLAIN);
    let weak = text.replace("row < m", "row < n");
    assert_eq!(rows(&weak, &grids, &[(3, 4), (2, 5), (1, 1)]), ATOMIC);
}

#[test]
fn a_row_for_each_warp() {
    let body = |warp: &str, lane: &str, stride: &str| {
        format!(
            "let (t, b, d) = (thread_idx().x, block_idx().x, block_dim().x);
            let (warp, lane) = ({warp}, {lane});
            let mut s = 0.0;
            if warp < m {{
                for j in (lane..n).step_by({stride}) {{ s += x[warp * n + j] * x[warp * n + j]; }}
            }}
            block_add(&mut out[0], s);"
        )
    };
    let grids =
        [grid(1, 64), grid(2, 32), grid(2, 48), grid(3, 7), Launch::new([1, 1, 1], [32, 2, 1])];
    let sizes = [(2, 20), (1, 45), (1, 33), (2, 0)];
    for (warp, lane, stride) in [
        ("(t + b * d) / 32", "(t + b * d) % 32", "32"),
        ("(t + b * d) / 32", "t % 32", "32"),
        ("(t + b * d) / warp_size()", "t % warp_size()", "warp_size()"),
        ("(t + b * d) >> 5", "t & 31", "32"),
        ("b * (d / 32) + t / 32", "t % 32", "32"),
        ("b * 2 + t / 32", "t % 32", "32"),
        // If there is one block.
        ("t / 32", "t % 32", "32"),
    ] {
        assert_eq!(rows(&body(warp, lane, stride), &grids, &sizes), PLAIN, "{warp}, {lane}");
    }
    for (warp, lane, stride) in [
        ("(t + b * d) / 32", "t % 16", "16"),
        ("(t + b * d) / 16", "t % 32", "32"),
        ("(t + b * d) / 32", "t % 32", "31"),
        ("(t + b) / 32", "t % 32", "32"),
    ] {
        assert_eq!(rows(&body(warp, lane, stride), &grids, &sizes), ATOMIC, "{warp}, {lane}");
    }
}

#[test]
fn blocks_of_literal_sizes() {
    let body = "let i = block_idx().x * 4 + thread_idx().x;
        let mut s = 0.0;
        if i < n { s = x[i] * x[i]; }
        block_add(&mut out[0], s);";
    assert_eq!(rows(body, &plates(), &[(0, 12), (0, 9)]), PLAIN);
    let strides = "let (b, t) = (block_idx().x, thread_idx().x);
        let mut s = 0.0;
        for j in (t..n).step_by(4) { s += x[b * n + j] * x[b * n + j]; }
        block_add(&mut out[0], s);";
    assert_eq!(rows(strides, &plates(), BLOCKS), PLAIN);
}

#[test]
fn tiles_that_a_bound_cuts() {
    let body = |to: &str| {
        format!(
            "let (b, t) = (block_idx().x, thread_idx().x);
            let mut s = 0.0;
            for k in 0..{to} {{
                let j = k * block_dim().x + t;
                s += x[b * n + j] * x[b * n + j];
            }}
            block_add(&mut out[0], s);"
        )
    };
    assert_eq!(rows(&body("n / block_dim().x"), &plates(), BLOCKS), PLAIN);
    assert_eq!(rows(&body("(n / block_dim().x).min(m)"), &plates(), BLOCKS), PLAIN);
    assert_eq!(rows(&body("m"), &plates(), &[(1, 4), (2, 3)]), ATOMIC);
}

/// The greatest number of a row, which belongs to the thread that found it.
#[test]
fn what_a_loop_finds() {
    let body = |index: &str| {
        format!(
            "let (b, t) = (block_idx().x, thread_idx().x);
            let mut top = -1.0;
            for j in (t..n).step_by(block_dim().x) {{
                top = if x[b * n + j] > top {{ x[b * n + j] }} else {{ top }};
            }}
            let mut s = 0.0;
            for j in (t..n).step_by(block_dim().x) {{
                s += x[{index}] * x[{index}] * top;
            }}
            block_add(&mut out[0], s);"
        )
    };
    assert_eq!(rows(&body("b * n + j"), &plates(), BLOCKS), (2, 2));
    assert_eq!(rows(&body("b * n + j / 2"), &plates(), BLOCKS), (2, 0));
}

#[test]
fn arrays_in_rows() {
    let text = "#[gradient(wrt(out, x))] fn rows(out: &mut [f64], x: &[[f64; 5]]) {
        let (t, b) = (thread_idx().x, block_idx().x);
        let mut s = 0.0;
        for j in (t..5).step_by(block_dim().x) { s += x[b][j] * x[b][j]; }
        block_add(&mut out[0], s);
    }";
    let compiled = compile(text, "rows").unwrap();
    for launch in plates() {
        check_compiled(&compiled, &launch, &[zeros(1), numbers(15)]);
    }
    assert_eq!(additions(&compiled), PLAIN);
}

/// How the shadow of `x` is written where it is overwritten; its gradient is held against differences, and against garbage in the shadow.
fn written(body: &str, sizes: &[(usize, usize)]) -> Option<Fresh> {
    let text = format!(
        "#[gradient(wrt(out, x))] fn rows(out: &mut [f64], x: &[f64], m: usize, n: usize) {{ {body} }}"
    );
    let compiled = compile(&text, "rows").unwrap_or_else(|error| panic!("{error}"));
    for launch in lines() {
        for (m, n) in sizes {
            let given = [zeros(1), numbers(m * n), Given::Int(*m as i64), Given::Int(*n as i64)];
            check_compiled(&compiled, &launch, &given);
        }
    }
    stores(&compiled).remove(&3)
}

#[test]
fn shadows_of_rows_are_stored_to() {
    let blocks = Factor::Blocks;
    let (one, m, n) = (Factor::Number(1), Factor::Value(4), Factor::Value(5));
    let covered = |product: &[Factor]| Some(Fresh::Covered(vec![product.to_vec()]));
    // Three rows, of which a grid of one block has but the first.
    let three = &[(3, 5), (3, 1), (3, 0), (3, 13)];
    assert_eq!(written(&columns("b * n + j", "t..n", "d"), three), covered(&[one, n, blocks]));
    let some = columns("b * n + j", "t..n", "d").replace("s +=", "if j != 2 { s += 1.0; } s +=");
    assert_eq!(written(&some, three), covered(&[one, n, blocks]));
    let skipped = columns("b * n + j", "t..n", "d")
        .replace("s +=", "if j != 2 { s +=")
        .replace("; }", "; } }");
    assert_eq!(written(&skipped, three), Some(Fresh::Stored));
    assert_eq!(written(&columns("b * n + j", "t..n", "2 * d"), three), Some(Fresh::Stored));
    assert_eq!(written(&columns("b * n + j", "t..m", "d"), &[(3, 5)]), None);
    assert_eq!(written(&columns("b * n + j", "t..n - 1", "d"), &[(3, 5)]), None);
    assert_eq!(
        written(
            &columns("b * n + j + 1", "t..n", "d").replace("..n)", "..n.saturating_sub(1))"),
            &[(3, 5)]
        ),
        Some(Fresh::Stored)
    );
    let all = "let t = thread_idx().x;
        let mut s = 0.0;
        for row in (block_idx().x..m).step_by(grid_dim().x) {
            for j in (t..n).step_by(block_dim().x) { s += x[row * n + j] * x[row * n + j]; }
        }
        block_add(&mut out[0], s);";
    assert_eq!(written(all, &[(5, 4), (1, 7), (7, 3), (2, 1)]), covered(&[one, m, n]));
    let linear = "let first = thread_idx().x + block_idx().x * block_dim().x;
        let mut s = 0.0;
        for i in (first..x.len()).step_by(block_dim().x * grid_dim().x) { s += x[i] * x[i]; }
        block_add(&mut out[0], s);";
    assert_eq!(written(linear, &[(5, 4), (1, 7)]), covered(&[one, Factor::Len(2)]));
    let guarded = "let i = thread_idx().x + block_idx().x * block_dim().x;
        let mut s = 0.0;
        if i < m * n { s = x[i] * x[i]; }
        block_add(&mut out[0], s);";
    let products = vec![vec![one, Factor::Threads, blocks], vec![one, m, n]];
    assert_eq!(written(guarded, &[(3, 4), (1, 7), (5, 9)]), Some(Fresh::Covered(products)));
}

/// What comes to an element after the first addition is added; what comes to it before must not be lost.
#[test]
fn several_additions_to_an_element() {
    let top = "let (b, t) = (block_idx().x, thread_idx().x);
        let mut top = -1.0;
        for j in (t..n).step_by(block_dim().x) {
            top = if x[b * n + j] > top { x[b * n + j] } else { top };
        }
        let mut s = 0.0;
        for j in (t..n).step_by(block_dim().x) { s += x[b * n + j] * top; }
        block_add(&mut out[0], s);";
    let product = vec![Factor::Number(1), Factor::Value(5), Factor::Blocks];
    assert_eq!(written(top, &[(3, 5), (3, 13)]), Some(Fresh::Covered(vec![product])));
    // Of another row, which the same thread stores to later: in the reverse order of rows, and of columns.
    let next = "let (b, t) = (block_idx().x, thread_idx().x);
        let mut s = 0.0;
        let mut v = 0.0;
        for j in (t..n).step_by(block_dim().x) {
            s += x[b * n + j] * v;
            v = if t + block_dim().x <= j { x[b * n + j - block_dim().x] } else { x[b * n + j] };
        }
        block_add(&mut out[0], s);";
    written(next, &[(3, 5), (3, 13)]);
    let twice = "let (b, t) = (block_idx().x, thread_idx().x);
        let mut s = 0.0;
        for k in 0..2 {
            for j in (t..n).step_by(block_dim().x) { s += x[b * n + j] * x[b * n + j] * (k as f64); }
        }
        block_add(&mut out[0], s);";
    assert_eq!(written(twice, &[(3, 5), (3, 13)]), None);
    let both = "let (b, t) = (block_idx().x, thread_idx().x);
        let mut s = 0.0;
        for j in (t..n).step_by(block_dim().x) { s += x[b * n + j] * x[b * n + j]; }
        for j in (t..n).step_by(block_dim().x) { s += x[b * n + j] * s * 0.01; }
        for j in (t..n).step_by(block_dim().x) { if s > 3.0 { s += x[b * n + j] * 0.1; } }
        block_add(&mut out[0], s);";
    assert_eq!(written(both, &[(3, 5), (3, 13)]), Some(Fresh::Stored));
}
