//! What the validator's page says of memory between two loads, and of objects that are copied, split or waited for: programs on both sides of each
//! line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use stratape_ir::valid;

use common::{accepted, read, refused};

#[test]
fn a_load_is_the_same_number_while_its_place_is_not_written() {
    for text in [
        // Each element is written once it is no longer needed.
        "fn f(@x: &mut [f64], n: usize, a: f64) { z: usize = 0; o: f64 = 0.0
           for i in z..n { v = @x[i]; c = v > o; if c { push #0 a } }
           for k in z..n reversed { w = @x[k]; d = w > o; if d { pop #0 b }; @x[k] = o } }",
        // Before both, elsewhere, another field.
        "fn f(@x: &mut [f64], a: f64) { z: usize = 0; one: usize = 1; o: f64 = 0.0
           @x[z] = a; v = @x[z]; c = v > o; if c { push #0 a }
           @x[one] = o
           w = @x[z]; d = w > o; if d { pop #0 b } }",
        "fn f(@x: &mut [(f64, f64)], a: f64) { z: usize = 0; o: f64 = 0.0
           v = @x[z].0; c = v > o; if c { push #0 a }
           @x[z].1 = o
           w = @x[z].0; d = w > o; if d { pop #0 b } }",
        // Both halves in one loop; what is written at the end of an iteration is the next one's.
        "fn f(@x: &mut [f64], n: usize, a: f64) { z: usize = 0; o: f64 = 0.0
           for i in z..n { v = @x[z]; c = v > o; if c { push #0 a }; w = @x[z]; d = w > o; if d { pop #0 b }; @x[z] = o } }",
        // Rows that were filled before.
        "fn f(@x: &mut [f64], n: usize, m: usize, a: f64) { z: usize = 0; one: usize = 1; o: f64 = 0.0
           for i in one..n { r = i * m; p = i - one; q = p * m
             for j in z..m { k = q + j; v = @x[k]; c = v > o; if c { push #0 a }; l = r + j; @x[l] = v } }
           for s in one..n reversed { t = s - one; u = t * m
             for j2 in z..m reversed { k2 = u + j2; w = @x[k2]; d = w > o; if d { pop #0 b } } } }",
    ] {
        accepted(text);
    }
    for text in [
        // The half that pops has loaded first.
        "fn f(@x: &mut [f64], a: f64) { z: usize = 0; o: f64 = 0.0
           w = @x[z]; @x[z] = o; v = @x[z]; c = v > o; if c { push #0 a }
           d = w > o; if d { pop #0 b } }",
        // Added to; by another index that may be the same.
        "fn f(@x: &mut [f64], a: f64, i: usize) { z: usize = 0; o: f64 = 0.0
           v = @x[z]; c = v > o; if c { push #0 a }
           @x[i] += a
           w = @x[z]; d = w > o; if d { pop #0 b } }",
        // In the iteration of the half that pops which comes before.
        "fn f(@x: &mut [f64], n: usize, a: f64) { z: usize = 0; one: usize = 1; o: f64 = 0.0
           for i in z..n { v = @x[i]; c = v > o; if c { push #0 a } }
           for k in z..n reversed { w = @x[k]; d = w > o; if d { pop #0 b }; l = k - one; @x[l] = o } }",
        // What was saved is another load than what the condition is made of.
        "fn f(@x: &mut [f64], a: f64) { z: usize = 0; o: f64 = 0.0
           v = @x[z]; c = v > o; if c { push #0 a }
           @x[z] = o; u = @x[z]; push #1 u
           pop #1 w; d = w > o; if d { pop #0 b } }",
    ] {
        refused("tape", text);
    }
}

#[test]
fn halves_share_no_loads() {
    let forward = read(
        "fn f(@x: &mut [f64], a: f64) { z: usize = 0; o: f64 = 0.0; v = @x[z]; c = v > o; if c { push #0 a } }",
    );
    let backward = read(
        "fn g(@x: &mut [f64], a: f64) { record #0 (a: f64)\n z: usize = 0; o: f64 = 0.0; v = @x[z]; c = v > o; if c { pop #0 b } }",
    );
    assert_eq!(valid::validate_halves(&forward, &backward).unwrap_err().rule, "tape");
}

#[test]
fn a_split_object_is_accessed_through_its_sides_alone() {
    let split = |body: &str| {
        format!(
            "fn f(@y: &mut [f64], n: usize) {{ z: usize = 0
               for i in z..n strip split @y at n others below read view mut @y from n high view @y low {{
                 k = i + n; a = @y[i]; @y[k] = a; {body} }} }}"
        )
    };
    accepted(&split(""));
    for body in ["new @t: Vec<f64> = copy of @y", "m = @y.len()", "call g(&@y)", "b = @y[z]"] {
        refused("schedule", &split(body));
    }
}

#[test]
fn marks_allow_sums_of_adjoints_alone() {
    let text = |object: &str, sum: &str| {
        format!(
            "fn f(@x: &[f64], {object}, n: usize, s0: {sum}f64, v: {sum}f64) {{ z: usize = 0; two: usize = 2
               parallel(0, grain 1) for i in z..n, s: {sum}f64 = s0 {{ k = i / two; @y[k] += v; c = i > two
                 if c {{ t: {sum}f64 = s + v }} merge q: {sum}f64 = t | s }} carry s <- q -> u: {sum}f64\n return u }}"
        )
    };
    accepted(&text("@y: &mut [f64] shadow of @x", "~"));
    refused("parallel", &text("@y: &mut [f64]", "~"));
    refused("parallel", &text("@y: &mut [f64] shadow of @x", ""));
}

#[test]
fn cells_hold_integers_of_any_width() {
    accepted("fn f(a: i128) { record #0 (a: i128) as u128\n push #0 a; pop #0 b; return b }");
    refused(
        "types",
        "fn f(a: i128) { record #0 (a: i128) as u64\n push #0 a; pop #0 b; return b }",
    );
}

#[test]
fn additions_to_one_element_of_the_primal_arrive_in_their_order() {
    let text = |clause: &str| {
        format!(
            "fn f(@g: &[f64], @y: &mut [f64], n: usize, h: f64) {{ z: usize = 0
               for i in z..n strip view @g simd 4 {clause} {{ a = @g[i]; @y[i] += a; @y[i] += h }} }}"
        )
    };
    accepted(&text("rotation @y: 1 at 0 rotation @y: 2 at 0"));
    for clause in [
        "rotation @y: 2 at 0 rotation @y: 1 at 0",
        "rotation @y: 1 at 0, 2 at 0",
        "rotation @y: 2 at 0 delayed 1",
        "rotation @y: 1 at 0 rotation @y: 2 at 0 delayed 2",
    ] {
        refused("schedule", &text(clause));
    }
}
