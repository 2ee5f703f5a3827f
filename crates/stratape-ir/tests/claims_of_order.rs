//! What the reference claims of loops without an order, in parallel, and with schedules: which of them the validator refuses, and that those it
//! accepts compute what they compute without.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use stratape_interp::{self as interp, Argument, Memory, Options};
use stratape_ir::{Block, Stmt, valid};

use common::{accepted, all_refused, read, refused};

/// The same function, its loops one iteration after the other.
fn without_schedules(block: &mut Block) {
    for statement in block {
        if let Stmt::Loop(node) = statement {
            (node.schedule, node.unordered, node.parallel) = (None, false, None);
        }
        statement.blocks_mut().into_iter().for_each(without_schedules);
    }
}

/// Accepted, and the same with schedules as without, in any number of parts and strips, in any order.
fn runs_the_same(text: &str, args: &[Argument<f64>]) {
    let function = read(text);
    valid::validate(&function).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let mut plain = function.clone();
    without_schedules(&mut plain.body);
    let expected = interp::run(&plain, args.to_vec(), &Options::default()).unwrap();
    for (parts, strip, shuffle) in [(1, 2, None), (3, 3, None), (2, 64, None), (2, 2, Some(3))] {
        let options = Options { parts, strip, shuffle, ..Options::default() };
        let outcome = interp::run(&function, args.to_vec(), &options);
        let outcome = outcome.unwrap_or_else(|trap| panic!("{trap:?}\n{text}"));
        assert_eq!(
            (&outcome.results, &outcome.memory),
            (&expected.results, &expected.memory),
            "{text}"
        );
    }
}

fn floats(n: usize) -> Argument<f64> {
    Argument::Memory(Memory::floats((0..n).map(|i| i as f64 + 1.0)))
}

fn zeros(n: usize) -> Argument<f64> {
    Argument::Memory(Memory::floats(vec![0.0; n]))
}

fn int(n: usize) -> Argument<f64> {
    Argument::Int(n as i128)
}

// Loops without an order.

#[test]
fn iterations_that_meet_have_an_order() {
    for text in [
        // A stride that may be zero, casts that cut, remainders, squares of both signs.
        "fn f(@y: &mut [f64], n: usize, s: usize) { z: usize = 0; for i in z..n unordered { a = i as f64; k = i * s; @y[k] = a } }",
        "fn f(@y: &mut [f64], n: usize) { z: usize = 0; for i in z..n unordered { a = i as f64; k8 = i as u8; k = k8 as usize; @y[k] = a } }",
        "fn f(@y: &mut [f64], n: usize) { z: usize = 0; two: usize = 2; for i in z..n unordered { a = i as f64; k = i % two; @y[k] = a } }",
        "fn f(@y: &mut [f64], n: i64) { m = -n; for i in m..n unordered { q = i * i; k = q as usize; a = i as f64; @y[k] = a } }",
        "fn f(@y: &mut [f64], n: usize) { z: usize = 0; s: u32 = 65536
           for i in z..n unordered { j = i as u32; a = j * s; b = a * s; k = b as usize; v = i as f64; @y[k] = v } }",
        "fn f(@y: &mut [f64], n: usize, h: f64) { z: usize = 0; for i in z..n unordered { t = i as f64; u = t * h; k = u as usize; @y[k] = t } }",
        // Neighbours, rows that overlap, diagonals.
        "fn f(@y: &mut [f64], n: usize) { one: usize = 1; for i in one..n unordered { k = i - one; a = @y[k]; @y[i] = a } }",
        "fn f(@y: &mut [f64], n: usize, m: usize, q: usize) { z: usize = 0
           for i in z..n unordered { r = i * m; a = i as f64; for j in z..q { k = r + j; @y[k] = a } } }",
        "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0; for i in z..n unordered { for j in z..n { k = i + j; @y[k] = v } } }",
        // Sums of the primal, sums that are read, what is no sum.
        "fn f(@y: &mut [f64], @x: &[f64], n: usize) { z: usize = 0; for i in z..n unordered { a = @x[i]; @y[z] += a } }",
        "fn f(n: usize, @x: &[f64], s0: f64) { z: usize = 0; for i in z..n unordered, s = s0 { a = @x[i]; t = s + a } carry s <- t -> u; return u }",
        "fn f(n: usize, @x: &[f64], s0: ~f64) { z: usize = 0
           for i in z..n unordered, s: ~f64 = s0 { a = @x[i]; t: ~f64 = a - s } carry s <- t -> u: ~f64\n return u }",
        "fn f(n: usize, @x: &[f64], @dx: &mut [f64] shadow of @x, s0: ~f64) { z: usize = 0
           for i in z..n unordered, s: ~f64 = s0 { a = @x[i]; t: ~f64 = s + a; @dx[i] += t } carry s <- t -> u: ~f64\n return u }",
        "fn f(n: usize, s0: ~f64, r0: ~f64) { z: usize = 0
           for i in z..n unordered, s: ~f64 = s0, r: ~f64 = r0 { } carry s <- r -> u: ~f64, r <- s -> v: ~f64\n return u, v }",
        // Memory outside that iterations use in turn; shadows that are read or stored to as well.
        "fn f(n: usize, @x: &[f64], q: f64) { z: usize = 0; new @t: [f64; 1] = [q]
           for i in z..n unordered { a = @x[i]; @t[z] = a; b = @t[z] }\n r = @t[z]; return r }",
        "fn f(n: usize, @x: &[f64], @dx: &mut [f64] shadow of @x) { z: usize = 0; one: usize = 1
           for i in z..n unordered { k = i + one; a: ~f64 = @dx[k]; @dx[i] += a } }",
        "fn f(n: usize, @x: &[f64], @dx: &mut [f64] shadow of @x, v: ~f64) { z: usize = 0; one: usize = 1
           for i in z..n unordered { k = i + one; @dx[i] = v; @dx[k] += v } }",
        "fn f(@y: &mut [f64], @x: &[f64], n: usize) { z: usize = 0
           for i in z..n unordered { new @t: Vec<f64> = copy of @y; k = @t[z]; a = @x[i]; b = k + a; @y[i] = b } }",
        // Calls and pushes.
        "fn f(n: usize, @x: &mut [f64]) { z: usize = 0; for i in z..n unordered { call v: f64 = g(i); @x[i] = v } }",
        "fn f(n: usize, a: f64) { z: usize = 0; for i in z..n unordered { push #0 a }; for k in z..n reversed { pop #0 b } }",
    ] {
        refused("order", text);
    }
}

#[test]
fn iterations_that_keep_apart_run_in_any_order() {
    let add =
        "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize) { z: usize = 0; two: usize = 2
        for i in z..n unordered { a: ~f64 = @x[i]; k = i / two; @dx[k] += a } }";
    runs_the_same(add, &[floats(8), zeros(8), int(8)]);
    let own = "fn f(@x: &mut [[f64; 3]], n: usize) { z: usize = 0; for i in z..n unordered { v = i as f64; @x[i][z] = v } }";
    let rows = Memory::List(vec![Memory::floats([1.0; 3]); 4]);
    runs_the_same(own, &[Argument::Memory(rows), int(4)]);
    let popped = "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize) { z: usize = 0
        for i in z..n { a = @x[i]; push #0 a }\n for k in z..n reversed unordered { pop #0 b; @dx[k] += b } }";
    runs_the_same(popped, &[floats(5), zeros(5), int(5)]);
}

// Strips and blocks.

#[test]
fn a_view_is_filled_by_every_iteration_and_written_by_one_name() {
    for text in [
        "fn f(@x: &[f64], @y: &mut [f64], n: usize) { z: usize = 0; for i in z..n strip view @x from 1 view mut @y { a = @x[i]; @y[i] = a } }",
        "fn f(@x: &[f64], @y: &mut [f64], n: usize, c: bool, o: f64) { z: usize = 0
           for i in z..n strip view @x view mut @y { if c { a = @x[i] } merge b = a | o\n @y[i] = b } }",
        "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0; one: usize = 1
           for i in z..n strip view mut @y view mut @y from 1 { k = i + one; @y[i] = v; @y[k] = v } }",
        "fn f(@y: &[f64], @w: &mut [f64], n: usize) { z: usize = 0; two: usize = 2
           for i in z..n strip view @y step 2 view mut @w { k = two * i; l = k + two; a = @y[l]; @w[i] = a } }",
        "fn f(@y: &[f64], @w: &mut [f64], n: usize) { z: usize = 0; for i in z..n strip view @y step 0 view mut @w { a = @y[z]; @w[i] = a } }",
        "fn f(@x: &[f64], n: usize, m: usize) { z: usize = 0; for i in z..n strip view @x { a = @x[i]; c = i == m } exit if c }",
        "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0
           for i in z..n strip view mut @y { @y[i] = v; for j in z..n strip view mut @y { @y[j] = v } } }",
    ] {
        refused("schedule", text);
    }
}

#[test]
fn every_access_to_a_written_object_goes_through_its_view() {
    all_refused(&[
        "fn f(@y: &mut [f64], n: usize) { z: usize = 0; one: usize = 1; for i in z..n strip view mut @y { k = i + one; a = @y[k]; @y[i] = a } }",
        "fn f(@y: &mut [f64], n: usize) { z: usize = 0; for i in z..n strip view mut @y { new @t: Vec<f64> = copy of @y; k = @t[z]; @y[i] = k } }",
        "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0; for i in z..n strip view mut @y { call g(&@y); @y[i] = v } }",
        "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0; for i in z..n strip view @y { @y[i] = v } }",
    ]);
}

/// What is emitted cuts at the first element of the pivot, and panics where the function does not.
#[test]
fn the_sides_of_a_split_do_not_meet() {
    refused(
        "schedule",
        "fn f(@y: &mut [f64], n: usize) { one: usize = 1
           for i in one..n strip split @y at 0 others below read view mut @y high view @y from -1 low { k = i - one; a = @y[k]; @y[i] = a } }",
    );
}

#[test]
fn a_loop_with_checks_has_no_views() {
    refused(
        "schedule",
        "fn f(@x: &[f64], @k: &[usize], n: usize, m: usize) { z: usize = 0; for i in z..n strip view @x { q = @k[i]; check q < m; a = @x[i] } }",
    );
    // One that the first and the last iteration answer for all is asked before the views are sliced.
    accepted(
        "fn f(@x: &[f64], n: usize, m: usize) { z: usize = 0; for i in z..n strip view @x { check i < m; a = @x[i] } }",
    );
}

/// The two halves of a function that saves in loops with a region, and what they leave and take.
fn in_region(head: &str, push: &str, pop: &str) -> String {
    format!(
        "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize, c: bool) {{ {head}\n z: usize = 0; two: usize = 2; one: f64 = 1.0
           for i in z..n strip {push}\n for k in z..n reversed strip {pop} }}"
    )
}

const ONE: &str = "region 0 of 1 f64\n record #0 (a: f64) in region 0 at 0";

#[test]
fn regions_and_records_agree_in_both_halves() {
    let (push, pop) = (
        "region 0 view @x { a = @x[i]; push #0 a }",
        "region 0 view mut @dx { pop #0 b; @dx[k] += b }",
    );
    let args = [floats(7), zeros(7), int(7), Argument::Bool(true)];
    let places =
        ["", " at 0"].map(|at| format!("region 0 of 1 f64\n record #0 (a: f64) in region 0{at}"));
    for head in
        places.iter().flat_map(|head| [head.clone(), head.replace("f64\n", "f64 layer 3\n")])
    {
        runs_the_same(&in_region(&head, push, pop), &args);
    }
    for (head, push, pop) in [
        ("region 0 of 1 f64\n record #0 (a: f64) as f64", push, pop),
        (ONE, push, "view mut @dx { pop #0 b; @dx[k] += b }"),
        (
            ONE,
            "region 0 view @x { a = @x[i]; push #0 a; push #0 a }",
            "region 0 { pop #0 b; pop #0 d; @dx[k] += b }",
        ),
        (
            ONE,
            "region 0 view @x { a = @x[i]; push #1 i; push #0 a }",
            "region 0 { pop #0 b; pop #1 j; @dx[k] += b }",
        ),
        ("region 0 of 1 f64 layer 0\n record #0 (a: f64) in region 0 at 0", push, pop),
        ("region 0 of 1 f64\n record #0 (a: f64) in region 0 at 1", push, pop),
        ("region 0 of 1 f64\n record #0 (a: f64) in region 0 at 0 step 1", push, pop),
        ("region 0 of 1 f64\n region 1 of 1 f64\n record #0 (a: f64) in region 1 at 0", push, pop),
    ] {
        refused("schedule", &in_region(head, push, pop));
    }
    refused("scope", &in_region("record #0 (a: f64) in region 0 at 0", push, pop));
}

#[test]
fn a_frame_has_room_for_inner_loops_and_branches() {
    let push = "region 0 { a = @x[i]; push #0 a
        for j in z..two { d = a * a; push #1 d, i }
        if c { e = a + a; push #2 e } else { f = a - one; push #3 f } }";
    let pop = "region 0 {
        if c { pop #2 e2; @dx[k] += e2 } else { pop #3 f2; @dx[k] += f2 }
        for m in z..two reversed { pop #1 d2, i2; g = i2 as f64; h = d2 * g; @dx[k] += h }
        pop #0 b; @dx[k] += b }";
    let head = |places: [&str; 4]| {
        let [a, b, c, d] = places;
        format!(
            "region 0 of 6 u64\n record #0 (a: f64) in region 0{a}\n record #1 (d: f64, i: usize) in region 0{b}
             record #2 (e: f64) in region 0{c}\n record #3 (f: f64) in region 0{d}"
        )
    };
    for c in [true, false] {
        let args = [floats(7), zeros(7), int(7), Argument::Bool(c)];
        runs_the_same(&in_region(&head([""; 4]), push, pop), &args);
        let places = [" at 5", " at 1 step 2", " at 0", " at 0"];
        runs_the_same(&in_region(&head(places), push, pop), &args);
    }
    for places in [
        [" at 5", " at 1 step 1", " at 0", " at 0"],
        [" at 5", " at 2 step 2", " at 0", " at 0"],
        [" at 0", " at 1 step 2", " at 0", " at 5"],
        [" at 5", " at 1", " at 0", " at 0"],
        [" at 5", " at 1 step 2 step 1", " at 0", " at 0"],
        [" at 6", " at 1 step 2", " at 0", " at 0"],
    ] {
        refused("schedule", &in_region(&head(places), push, pop));
    }
    // The arms of two branches are not those of one.
    let both = push.replace("} else {", "}\n if c {");
    let both_pop = "region 0 {
        if c { pop #3 f2; @dx[k] += f2 }
        if c { pop #2 e2; @dx[k] += e2 }
        for m in z..two reversed { pop #1 d2, i2; g = i2 as f64; h = d2 * g; @dx[k] += h }
        pop #0 b; @dx[k] += b }";
    refused(
        "schedule",
        &in_region(&head([" at 5", " at 1 step 2", " at 0", " at 0"]), &both, both_pop),
    );
    // How often an inner loop runs is the same each time.
    let (longer, longer_pop) = (push.replace("z..two", "z..n"), pop.replace("z..two", "z..n"));
    refused(
        "schedule",
        &in_region(&head([" at 5", " at 1 step 2", " at 0", " at 0"]), &longer, &longer_pop),
    );
}

#[test]
fn a_layer_that_is_streamed_out_is_streamed_in() {
    let push = |stream: &str| format!("region 0 {stream} view @x {{ a = @x[i]; push #0 a }}");
    let pop = |stream: &str| format!("region 0 {stream} view mut @dx {{ pop #0 b; @dx[k] += b }}");
    let args = [floats(7), zeros(7), int(7), Argument::Bool(true)];
    runs_the_same(&in_region(ONE, &push("stream out"), &pop("stream in")), &args);
    for (out, back) in [("stream in", "stream in"), ("stream out", "stream out")] {
        refused("schedule", &in_region(ONE, &push(out), &pop(back)));
    }
    for (out, back) in [("stream out", ""), ("", "stream in")] {
        refused("tape", &in_region(ONE, &push(out), &pop(back)));
    }
    refused(
        "schedule",
        "fn f(@x: &mut [f64], n: usize) { z: usize = 0; for i in z..n strip stream out view mut @x { a = @x[i]; @x[i] = a } }",
    );
}

#[test]
fn a_loop_that_ends_when_it_will_fills_layers() {
    let text = |clause: &str| {
        format!(
            "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, most: f64) {{
               region 0 of 1 f64 layer 2\n record #0 (a: f64) in region 0 at 0\n z: usize = 0; first: f64 = 0.0
               loop i, s = first strip region 0 {clause} {{ a = @x[i]; push #0 a; t = s + a; done = t > most }} exit if done, carry s <- t -> u, trips m
               for k in z..m reversed strip region 0 view mut @dx {{ pop #0 b; @dx[k] += b }}\n return u }}"
        )
    };
    for most in [0.0, 1.0, 2.5] {
        runs_the_same(&text(""), &[floats(40), zeros(40), Argument::Float(most)]);
    }
    refused("schedule", &text("view @x"));
    refused("schedule", &text("simd 4"));
}

#[test]
fn a_block_has_the_sums_its_clause_lists() {
    let sum = |adjoint: &str, clause: &str, next: &str| {
        format!(
            "fn f(@g: &[f64], n: usize, s0: {adjoint}f64) {{ z: usize = 0
               for i in z..n, s = s0 strip view @g {clause} {{ a: {adjoint}f64 = @g[i]; b: {adjoint}f64 = a + a; {next} }} carry s <- t -> u: {adjoint}f64
               return u }}"
        )
    };
    let args = [floats(11), int(11), Argument::Float(0.5)];
    runs_the_same(&sum("~", "simd 4 reduce + a", "t: ~f64 = s + a"), &args);
    runs_the_same(&sum("~", "simd 4 reduce - b", "t: ~f64 = s - b"), &args);
    runs_the_same(&sum("", "simd 4 reduce + a ordered", "t = s + a"), &args);
    for (adjoint, clause, next) in [
        ("", "simd 4 reduce + a", "t = s + a"),
        ("~", "simd 0 reduce + a", "t: ~f64 = s + a"),
        ("~", "simd 4 reduce - a", "t: ~f64 = s + a"),
        ("~", "simd 4 reduce + b", "t: ~f64 = s + a"),
        ("~", "simd 4", "t: ~f64 = s + a"),
        ("~", "simd 4 reduce + s", "t: ~f64 = s + s"),
        ("~", "simd 4 reduce + a", "t: ~f64 = s + a; for j in z..n { }"),
        ("~", "simd 4 reduce + a", "t: ~f64 = s + a; q = @g[z]"),
    ] {
        refused("schedule", &sum(adjoint, clause, next));
    }
}

#[test]
fn a_sum_that_leaves_a_loop_as_a_value_of_the_primal_keeps_its_order() {
    refused(
        "schedule",
        "fn f(@g: &[f64], n: usize, s0: f64) { z: usize = 0
           for i in z..n, s: ~f64 = s0 strip view @g simd 4 reduce + a { a = @g[i]; t: f64 = s + a } carry s <- t -> u: f64
           return u }",
    );
}

#[test]
fn rotations_and_delayed_additions_are_what_the_body_does() {
    let rotation = |clause: &str, body: &str| {
        format!(
            "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, @g: &[f64], n: usize) {{ z: usize = 0; one: usize = 1; two: usize = 2
               for i in z..n unordered strip view @g simd 4 {clause} {{ v: ~f64 = @g[i]; k = i + one; l = i + two; {body} }} }}"
        )
    };
    let args = [floats(13), zeros(13), floats(11), int(11)];
    let body = "@dx[i] += v; @dx[k] -= v; @dx[l] += v";
    runs_the_same(&rotation("rotation @dx: 3 at 0, 4 at 1, 5 at 2", body), &args);
    for clause in [
        "",
        "rotation @dx: 3 at 0, 4 at 1",
        "rotation @dx: 3 at 0, 4 at 2, 5 at 1",
        "rotation @dx: 3 at 0, 5 at 2, 4 at 1",
        "rotation @dx from 1: 3 at 0, 4 at 1, 5 at 2",
        "rotation @dx: 3 at 0, 4 at 1, 6 at 2",
        "delayed 3, 4, 5",
    ] {
        refused("schedule", &rotation(clause, body));
    }
    for text in [
        // Further than a block, in reverse, of sums of the primal, of what is read.
        "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, @g: &[f64], n: usize) { z: usize = 0; far: usize = 7
           for i in z..n unordered strip view @g simd 4 rotation @dx: 2 at 0, 3 at 7 { v: ~f64 = @g[i]; k = i + far; @dx[i] += v; @dx[k] += v } }",
        "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, @g: &[f64], n: usize) { z: usize = 0; one: usize = 1
           for i in z..n reversed strip view @g simd 4 rotation @dx: 2 at 0, 3 at 1 { v: ~f64 = @g[i]; k = i + one; @dx[i] += v; @dx[k] += v } }",
        "fn f(@y: &mut [f64], @g: &[f64], n: usize) { z: usize = 0; one: usize = 1
           for i in z..n strip view @g simd 4 rotation @y: 2 at 0, 3 at 1 { v = @g[i]; k = i + one; @y[i] += v; @y[k] += v } }",
        "fn f(@g: &[f64], @w: &mut [f64], @v: &mut [f64], n: usize) { z: usize = 0
           for i in z..n strip view @g view mut @w view mut @v simd 4 delayed 1 { a = @g[i]; @w[i] += a; b = @w[i]; @v[i] = b } }",
        "fn f(@g: &[f64], @w: &mut [f64], n: usize) { z: usize = 0; for i in z..n strip view @g view mut @w simd 4 delayed 0 { a = @g[i]; @w[i] += a } }",
    ] {
        refused("schedule", text);
    }
}

// Parallel loops.

#[test]
fn parts_touch_memory_as_their_clause_says() {
    let rows = "fn f(@y: &mut [f64], n: usize, m: usize) { z: usize = 0
        parallel(0, grain 1) for i in z..n parts window @y step m { r = m * i; for j in z..m { k = r + j; v = i as f64; @y[k] = v } } }";
    runs_the_same(rows, &[floats(12), int(6), int(2)]);
    let private = "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize, s0: ~f64) { z: usize = 0
        parallel(0, grain 1) for i in z..n, s = s0 parts private @dx { v: ~f64 = @x[i]; @dx[z] += v; t: ~f64 = s + v } carry s <- t -> u: ~f64
        return u }";
    runs_the_same(private, &[floats(7), zeros(7), int(7), Argument::Float(0.5)]);
    let part = |clause: &str, body: &str| {
        format!(
            "fn f(@x: &[f64], @y: &mut [f64], @dx: &mut [f64] shadow of @x, n: usize, s: usize, v: ~f64) {{ z: usize = 0; one: usize = 1
               parallel(0, grain 1) for i in one..n parts {clause} {{ {body} }} }}"
        )
    };
    for (clause, body) in [
        ("", "@y[i] = v"),
        ("window @y", "k = i - one; a = @y[k]; @y[i] = a"),
        ("window @y from 1", "@y[i] = v"),
        ("window @y step 2", "@y[i] = v"),
        ("window @y step s", "k = s * i; @y[k] = v"),
        ("window @y", "new @t: Vec<f64> = copy of @y; a = @t[z]; @y[i] = a"),
        ("window @y", "call g(&mut @y)"),
        ("private @dx", "@dx[z] = v"),
        ("window @y private @dx", "a: ~f64 = @dx[z]; @dx[z] += v; @y[i] = a"),
    ] {
        refused("schedule", &part(clause, body));
    }
    for text in [
        "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0; for i in z..n parts window @y { @y[i] = v } }",
        "fn f(@x: &[f64], n: usize, s0: f64) { z: usize = 0
           parallel(0, grain 1) for i in z..n, s = s0 parts { v = @x[i]; t = s + v } carry s <- t -> u\n return u }",
    ] {
        refused("schedule", text);
    }
}

/// Sums of the primal keep their order; here that of the parts is another.
#[test]
fn private_memory_holds_adjoints() {
    refused(
        "schedule",
        "fn f(@y: &mut [f64], @x: &[f64], n: usize) { z: usize = 0
           parallel(0, grain 1) for i in z..n parts private @y { v = @x[i]; @y[z] += v } }",
    );
}

#[test]
fn an_object_has_one_clause_in_parts() {
    let head = "fn f(@x: &[f64], @y: &mut [f64] shadow of @x, n: usize, v: ~f64) { z: usize = 0\n parallel(0, grain 1) for i in z..n parts";
    all_refused(&[
        &format!("{head} window @y window @y from 1 {{ @y[i] += v }} }}"),
        &format!("{head} window @y private @y {{ @y[i] += v }} }}"),
        &format!("{head} private @y, @y {{ @y[i] += v }} }}"),
    ]);
}

/// What is emitted finds its lane of the tape empty, and panics in the middle of the gradient.
#[test]
fn what_a_part_pushes_the_same_part_pops() {
    let halves = |push: &str, pop: &str| {
        format!(
            "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize) {{ z: usize = 0
               {push} {{ v = @x[i]; push #0 v }}\n {pop} {{ pop #0 b; @dx[k] += b }} }}"
        )
    };
    let (push, pop) = ("for i in z..n parts", "for k in z..n reversed parts window @dx");
    all_refused(&[
        &halves(&format!("parallel(0, grain 1) {push}"), "for k in z..n reversed"),
        &halves("for i in z..n", &format!("parallel(0, grain 1) {pop}")),
        &halves(&format!("parallel(0, grain 1) {push}"), &format!("parallel(0, grain 100) {pop}")),
        &halves(&format!("parallel(0, grain 1) {push}"), &format!("parallel(1, grain 1) {pop}")),
    ]);
}

#[test]
fn a_marked_loop_has_independent_iterations() {
    all_refused(&[
        "fn f(@y: &mut [f64], n: usize) { one: usize = 1; parallel(0, grain 1) for i in one..n { k = i - one; a = @y[k]; @y[i] = a } }",
        "fn f(n: usize, x: f64) { z: usize = 0; parallel(0, grain 1) for i in z..n, s = x { t = s * s } carry s <- t -> u; return u }",
    ]);
}

#[test]
fn private_memory_may_be_added_to_anywhere() {
    runs_the_same(
        "fn f(@x: &[f64], @y: &mut [f64] shadow of @x, n: usize, v: ~f64) { z: usize = 0
           parallel(0, grain 1) for i in z..n parts private @y { @y[i] += v } }",
        &[floats(6), zeros(6), int(6), Argument::Float(1.0)],
    );
}

/// Each is accepted, and computes something else than without its schedule.
#[test]
fn what_waits_for_the_end_of_a_block_is_neither_read_nor_overtaken() {
    all_refused(&[
        "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, @g: &[f64], @o: &mut [f64], n: usize) { z: usize = 0
           for i in z..n strip view @g view mut @dx view mut @o simd 4 rotation @dx: 1 at 0 {
             v: ~f64 = @g[i]; @dx[i] += v; w: ~f64 = @dx[i]; @o[i] = w } }",
        "fn f(@g: &[f64], @w: &mut [f64], n: usize, h: f64) { z: usize = 0
           for i in z..n strip view @g view mut @w simd 4 delayed 1 { a = @g[i]; @w[i] += a; @w[i] += h; @w[i] -= h } }",
        "fn f(@g: &[f64], @w: &mut [f64], n: usize, h: f64) { z: usize = 0
           for i in z..n strip view @g view mut @w simd 4 rotation @w: 1 at 0 { a = @g[i]; @w[i] += a; @w[i] += h; @w[i] -= h } }",
    ]);
}

#[test]
fn a_clause_in_parts_fits_what_is_only_read_or_only_added_to() {
    all_refused(&[
        // Parts read zeros of a copy.
        "fn f(@x: &[f64], @w: &mut [f64], n: usize) { z: usize = 0
           parallel(0, grain 1) for i in z..n parts window @w private @x { v = @x[i]; @w[i] = v } }",
        // An iteration leaves its window.
        "fn f(@x: &[f64], @w: &mut [f64], n: usize) { z: usize = 0; one: usize = 1
           parallel(0, grain 1) for i in z..n parts window @w window @x { k = i + one; v = @x[k]; @w[i] = v } }",
        "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize) { z: usize = 0
           parallel(0, grain 1) for i in z..n parts window @dx { v: ~f64 = @x[i]; @dx[z] += v } }",
    ]);
}
