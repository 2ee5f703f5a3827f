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
    let error = refused(
        "#[gradient] fn kernel(x: &[f64], s: &mut [f64]) { atomic_max(&mut s[0], x[thread_idx().x]); }",
    );
    assert!(error.contains("reduce"), "{error}");
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
