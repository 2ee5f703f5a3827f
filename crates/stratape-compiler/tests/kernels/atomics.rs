//! Which additions to adjoints are atomic.

use crate::harness::{Given, additions, check, compile, grid, numbers, zeros};

/// Additions, atomic and plain, of a kernel that reads `x` at some indices.
fn read_at(indices: &[&str]) -> (usize, usize) {
    let reads: Vec<String> = indices.iter().map(|index| format!("x[{index}]")).collect();
    let text = format!(
        "#[gradient] fn reads(out: &mut [f64], x: &[f64], n: usize) {{
            let idx = thread_idx().x + block_idx().x * block_dim().x;
            out[idx] = {};
        }}",
        reads.join(" * ")
    );
    let given = [zeros(6), numbers(40), Given::Int(4)];
    additions(&check(&text, "reads", &grid(2, 3), &given))
}

#[test]
fn indices_in_any_order_of_their_terms() {
    let same = [
        "idx",
        "block_idx().x * block_dim().x + thread_idx().x",
        "block_dim().x * block_idx().x + thread_idx().x",
        "thread_idx().x + block_dim().x * block_idx().x",
    ];
    for index in same {
        assert_eq!(read_at(&[index]), (1, 1), "atomic on grids of several axes only: {index}");
    }
    // They are one element, however it is written.
    assert_eq!(read_at(&same), (1, 1));
}

#[test]
fn linear_combinations() {
    assert_eq!(read_at(&["2 * idx", "2 * idx + 1"]), (2, 2));
    assert_eq!(read_at(&["3 * idx + 1", "3 * idx"]), (2, 2));
    // Two threads meet in 2 · 2 and 3 + 1.
    assert_eq!(read_at(&["2 * idx", "idx + 1"]), (2, 0));
    assert_eq!(read_at(&["idx", "idx + 1"]), (2, 0));
    assert_eq!(read_at(&["2"]), (1, 0));
    assert_eq!(read_at(&["idx / 2"]), (1, 0));
    assert_eq!(read_at(&["idx * n", "idx * n + 1"]), (2, 0), "nobody says that n is not 0");
    assert_eq!(read_at(&["thread_idx().x"]).0, 1);
    assert_eq!(read_at(&["block_idx().x"]), (1, 0));
}

#[test]
fn indices_that_are_assigned() {
    let text = "#[gradient] fn again(a: &mut [f64], x: &[f64]) {
        let mut i = thread_idx().x + block_idx().x * block_dim().x;
        let v = x[i];
        i = i / 2;
        a[thread_idx().x] += v * x[i];
    }";
    let compiled = check(text, "again", &grid(1, 4), &[numbers(4), numbers(4)]);
    assert_eq!(additions(&compiled).1, 0);
}

#[test]
fn rows_of_a_thread() {
    let text = "#[gradient] fn rows(out: &mut [f64], x: &[f64]) {
        let i = thread_idx().x + block_idx().x * block_dim().x;
        let mut s = 0.0;
        for k in 0..3 { s += x[i * 3 + k] * x[i * 3 + k]; }
        out[i] = s;
    }";
    let compiled = check(text, "rows", &grid(2, 2), &[zeros(4), numbers(12)]);
    assert_eq!(additions(&compiled), (1, 1));
}

#[test]
fn a_second_axis_makes_plain_additions_atomic() {
    let text = "#[gradient(wrt(x, out))] fn sums(out: &mut [f64], x: &[f64]) {
        let i = thread_idx().x;
        atomic_add(&mut out[0], x[i] * x[i]);
    }";
    let compiled = compile(text, "sums").unwrap();
    let launch = stratape_interp::simt::Launch::new([1, 2, 1], [3, 2, 1]);
    crate::harness::check_compiled(&compiled, &launch, &[zeros(1), numbers(3)]);
    assert_eq!(additions(&compiled), (1, 1));
}

#[test]
fn results_that_nobody_wants() {
    let text = |arguments: &str| {
        format!(
            "#[gradient({arguments})] fn squares(s: &mut [f64], y: &mut [f64], x: &[f64]) {{
                let i = thread_idx().x;
                y[i] = x[i] * x[i];
                atomic_add(&mut s[0], y[i] * x[i]);
            }}"
        )
    };
    let stores = |text: &str| {
        let compiled = check(text, "squares", &grid(1, 4), &[zeros(1), zeros(4), numbers(4)]);
        let function = &compiled.gradient.as_ref().unwrap().function;
        let mut stores = 0;
        stratape_ir::walk(&function.body, &mut |node| {
            let places = node.written();
            stores += places.iter().filter(|place| !function.holds_adjoints(place.object)).count();
        });
        stores
    };
    assert_eq!(stores(&text("wrt(s, y, x)")), 2);
    assert_eq!(stores(&text("wrt(s, y, x), no_results")), 0);
}
