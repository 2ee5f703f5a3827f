//! What is no kernel, and what the error says.

use crate::harness::compile;

fn refused(text: &str) -> String {
    compile(text, "kernel").map(|_| ()).unwrap_err()
}

#[test]
fn barriers_that_not_all_threads_reach() {
    let texts = [
        "#[gradient] fn kernel(x: &mut [f64]) { let i = thread_idx().x; if i < 3 { sync_threads(); } x[i] = 1.0; }",
        "#[gradient] fn kernel(x: &mut [f64]) { let i = thread_idx().x; if i >= x.len() { return; } sync_threads(); x[i] *= 2.0; }",
        "#[gradient] fn kernel(x: &mut [f64]) { for k in 0..thread_idx().x { sync_threads(); x[k] = 1.0; } }",
        "#[gradient] fn kernel(x: &mut [f64]) { if x[0] > 1.0 { sync_threads(); } x[thread_idx().x] = 1.0; }",
    ];
    for text in texts {
        let error = refused(text);
        assert!(
            error.contains("not all threads of a block come to this `sync_threads()`"),
            "{error}"
        );
    }
}

#[test]
fn results_and_lists() {
    let error = refused("fn kernel(x: &[f64]) -> f64 { x[0] }");
    assert!(error.contains("returns nothing"), "{error}");
    let error = refused("fn kernel(x: &mut [f64]) { let v = vec![0.0; x.len()]; x[0] = v[0]; }");
    assert!(error.contains("no lists of its own"), "{error}");
    let error = refused("fn kernel(x: &mut Vec<f64>) { x[0] = 1.0; }");
    assert!(error.contains("slices of numbers"), "{error}");
}

#[test]
fn shared_memory_inside_a_loop() {
    let error = refused(
        "fn kernel(x: &mut [f64]) { for _ in 0..2 { let mut t = shared::<[f64; 4]>(); t[0] = 1.0; x[0] = t[0]; } }",
    );
    assert!(error.contains("at the top of the kernel"), "{error}");
}

#[test]
fn what_atomics_return_has_no_derivative() {
    let error = refused(
        "#[gradient] fn kernel(x: &mut [f64], s: &mut [f64]) { let i = thread_idx().x; x[i] = atomic_add(&mut s[0], x[i]); }",
    );
    assert!(error.contains("which thread comes first"), "{error}");
}

#[test]
fn extremes_that_threads_find_together_with_something_else() {
    let cases = [
        ("for k in 0..2 { atomic_max(&mut s[0], x[k]); }", "in a loop"),
        ("atomic_max(&mut s[0], x[0]); atomic_min(&mut s[0], x[1]);", "nothing else happens"),
        ("atomic_max(&mut s[0], x[0]); s[1] = 2.0 * s[1];", "nothing else happens"),
        ("let old = atomic_max(&mut s[0], x[0]); y[0] = old;", "which thread comes first"),
        (
            "let mut t = shared::<[f64; 4]>(); t[0] = 0.0; sync_threads(); atomic_max(&mut t[0], x[0]); sync_threads(); y[0] = t[0];",
            "in shared memory",
        ),
        (
            "atomic_add(&mut y[0], x[0]); sync_threads(); atomic_max(&mut s[0], y[0]);",
            "differ from run to run",
        ),
    ];
    for (body, wanted) in cases {
        let error = refused(&format!(
            "#[gradient] fn kernel(x: &[f64], s: &mut [f64], y: &mut [f64]) {{ {body} }}"
        ));
        assert!(error.contains(wanted), "{body}: {error}");
    }
}

#[test]
fn shadows_that_are_missing() {
    let error = refused(
        "#[gradient(wrt(x))] fn kernel(y: &mut [f64], x: &[f64]) { let i = thread_idx().x; y[i] = x[i]; }",
    );
    assert!(error.contains("`wrt(…)`"), "{error}");
    let error = refused(
        "#[gradient(wrt(x, z))] fn kernel(y: &mut [f64], x: &[f64], z: &mut [f64]) { let i = thread_idx().x; y[i] = x[i]; sync_threads(); z[i] = y[0]; }",
    );
    assert!(error.contains("`y`"), "{error}");
}

#[test]
fn exchanges_over_other_distances_for_each_thread() {
    // Lanes may read one and the same: the exchange back would lose what they add.
    for exchange in ["shuffle_down", "shuffle_up", "shuffle_xor"] {
        let text = format!(
            "#[gradient] fn kernel(y: &mut [f64], x: &[f64]) {{ let t = thread_idx().x; y[t] = {exchange}(x[t], t % 4); }}"
        );
        let error = refused(&text);
        assert!(error.contains("distance on which threads differ"), "{error}");
        assert!(compile(&text.replace("#[gradient]", ""), "kernel").is_ok());
    }
}

#[test]
fn sums_of_a_block_that_not_all_threads_reach() {
    let error = refused(
        "#[gradient] fn kernel(s: &mut [f64], x: &[f64]) { let i = thread_idx().x; if i < x.len() { block_add(&mut s[0], x[i]); } }",
    );
    assert!(error.contains("give it 0.0"), "{error}");
    let error = refused(
        "#[gradient] fn kernel(s: &mut [f64], x: &[f64]) { let i = thread_idx().x; block_add(&mut s[i], x[i]); }",
    );
    assert!(error.contains("differ on where"), "{error}");
}

#[test]
fn atomics_on_what_has_none() {
    let error = refused("fn kernel(s: &mut [u8]) { atomic_add(&mut s[0], 1); }");
    assert!(error.contains("32 and 64 bits"), "{error}");
    let error = refused(
        "fn kernel(s: &mut [f64]) { let mut a = [0.0; 2]; atomic_add(&mut a[0], 1.0); s[0] = a[0]; }",
    );
    assert!(error.contains("memory that threads share"), "{error}");
    let error = refused(
        "fn kernel(s: &mut [f64]) { let a = dynamic_shared::<f64>(thread_idx().x + 1); a[0] = 1.0; s[0] = a[0]; }",
    );
    assert!(error.contains("differ on the length"), "{error}");
    let error = refused("fn kernel(s: &mut [f64], n: u128) { s[0] = n as f64; }");
    assert!(error.contains("64 bits"), "{error}");
}
