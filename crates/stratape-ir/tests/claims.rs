//! What the reference of the language claims, put to the test in the text form: what is read and what is not, which functions the validator
//! refuses and which it accepts, what the interpreter computes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use stratape_interp::{
    self as interp, Access, Argument, Class, Datum, Memory, Observer, Options, Outcome, Trap,
};
use stratape_ir::text::parse;
use stratape_ir::{Op, ValueId};

use common::{accepted, all_refused, read, refused};

fn float(number: f64) -> Argument<f64> {
    Argument::Float(number)
}

fn int(number: i128) -> Argument<f64> {
    Argument::Int(number)
}

fn floats(numbers: &[f64]) -> Argument<f64> {
    Argument::Memory(Memory::floats(numbers.iter().copied()))
}

fn run(text: &str, args: Vec<Argument<f64>>, options: &Options) -> Result<Outcome<f64>, Trap> {
    interp::run(&read(text), args, options)
}

/// The panic that ends a run.
fn panics(text: &str, args: Vec<Argument<f64>>) -> String {
    match run(text, args, &Options::default()) {
        Err(Trap::Panic(message)) => message,
        other => panic!("{other:?}\n{text}"),
    }
}

// The text form.

#[test]
fn what_the_grammar_allows_is_read_and_printed_the_same() {
    let texts = [
        "fn f() { }",
        "fn a::b::f() parallel plain recursive(g) { }",
        "fn f(größe: f64) { a = größe * größe; return a }",
        "fn f(%\"odd name\".3: f64) { return %\"odd name\".3 }",
        "fn f(%\"a\\nb\\u{1F600}\".0: f64) { return %\"a\\nb\\u{1F600}\".0 }",
        "fn f(for.0: f64, %if: bool) { a: f64 = if %if then for.0 else for.0; return a }",
        "fn f(x: f64) {\r\n a = x * x // squared\r\n return a\r\n}",
        "fn f() { a: i128 = -170141183460469231731687303715884105728; return a }",
        "fn f() { a: f64 = -0.0; b: f64 = 1e999; c: f64 = 5e-324; return a, b, c }",
        "fn f(x: f64) { a = x <total x; b = x >total x; return a, b }",
        "fn f(c: bool, x: f64) { if c { } merge m = x | x; return m }",
        "struct P { x: f64, y: f64 } fn f(@p: &[P], i: usize) { a = @p[i].1; return a }",
        "struct P(f64, f64) fn f(a: f64) { new @p.0: P = [a, a]; b = @p.0.1; return b, @p.0 }",
        "fn f(@p.0: &(enum Norm, f64)) { a = @p.0.0; return a }",
        "fn f(@p: &[f64; `a::N + 1`]) { }",
        "fn f(@x: &[f64], n: usize) { for i in n..n strip view @x from -n * 2 + 3 - n step 4 { } }",
        "fn f(c: bool, @x: &[f64], n: usize) { assert c else `panic!(\"{n}\")` with (n = n, x = @x) }",
        "fn f(c: bool) { check c or \"a \\\"quoted\\\" message\" }",
        "fn f(@x: &mut [f64], n: usize, a: f64) { call r: f64 = `m::g`(a, &mut @x[n for n]) pullback h }",
        "fn f(n: usize) { checkpoint i (slots = n) disk d schedule s\n for i in n..n { } }",
        "fn f(a: f64) { region 0 of 3 f64 columns layer 5\n record #2 (a: f64) as f64 in region 0 at 1 step 1 step 0\n record #3 (a: f64) in region 0\n push #2 a; pop #2 b restores nothing }",
        "fn f() { declare x: f64\n return x }",
        "fn f(@x: &mut [f64], n: usize) { save #0 &@x[n for n]; refill #0 @x }",
    ];
    for text in texts {
        let printed = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).to_string();
        assert_eq!(parse(&printed).unwrap().to_string(), printed, "{text}");
    }
}

#[test]
fn what_is_wrong_is_an_error_at_its_place() {
    let texts = [
        ("fn f()", 1, 7),
        ("fn () { }", 1, 4),
        ("fn f(x: f64, x: f64) { }", 1, 14),
        ("fn f(x.0: f64, y.0: f64) { }", 1, 16),
        ("fn f(x: f64) { a = x * x; a = x + x }", 1, 27),
        ("fn f(x.1: f64, x.2: f64) {\n a = x * x }", 2, 6),
        ("fn f() { a: f64 = b * b }", 1, 19),
        ("fn f(i: usize) { a: f64 = @z[i] }", 1, 27),
        ("fn f(x.99999999999999999999: f64) { }", 1, 8),
        ("fn f(x: f64) { push #4294967295 x }", 1, 22),
        ("fn f() { a: i128 = 170141183460469231731687303715884105728 }", 1, 20),
        ("fn f() { a: f64 = NaN }", 1, 23),
        ("fn f() { a: f64 = 1e }", 1, 19),
        ("fn f() { a = 3 }", 1, 10),
        ("fn f(x: float) { }", 1, 9),
        ("fn f(%\"a\\qb\".0: f64) { }", 1, 11),
        ("fn f(%\"\\u{D800}\".0: f64) { }", 1, 10),
        ("fn f(%\"abc", 1, 7),
        ("fn f() { a: f64 = const `abc", 1, 25),
        ("fn f(é😀: f64) { }", 1, 7),
        ("fn f(n: usize, x: f64) { for i in n..n, s = x { } }", 1, 51),
        ("fn f(n: usize, x: f64) { for i in n..n { } carry s <- x -> y }", 1, 50),
        ("fn f(x: f64) { return x; a = x * x }", 1, 26),
        ("fn f(x: f64) { a = x * x b = a * a }", 1, 26),
        ("struct P { x: P } fn f(@p: &P) { }", 1, 15),
        ("fn f(@p: &[f64; 99999999999999999999]) { }", 1, 17),
        ("fn f(@x: &[f64], n: usize) { for i in n..n view @x { } }", 1, 44),
        ("fn f(n: usize) { for i in n..n strip simd -4 { } }", 1, 43),
    ];
    for (text, line, column) in texts {
        let error = parse(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{error}\n{text}");
    }
}

#[test]
fn a_text_that_ends_anywhere_or_nests_too_deep_is_an_error() {
    let whole = "struct P { x: f64 } fn f(@x.0: &[f64; 3], c.1: bool, n.0: usize) { region 0 of 2 f64 columns layer 3\n record #0 (a.2: f64) as f64 in region 0 at 1 step 1\n \
        for i.3 in n.0..n.0 unordered strip region 0 stream out view @x.0 from 2 * n.0 simd 4 { if c.1 { check i.3 < n.0 } else { } } trips t.4\n \
        return t.4 }";
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        drop(parse(&whole[..end]));
    }
    for (open, close) in [("if c {", "}"), ("loop i {", "}")] {
        let text = format!("fn f(c: bool) {{ {}{} }}", open.repeat(20_000), close.repeat(20_000));
        parse(&text).unwrap_err();
    }
    let text = format!("fn f(@x: &{}f64{}) {{ }}", "[".repeat(20_000), "]".repeat(20_000));
    parse(&text).unwrap_err();
}

#[test]
fn what_is_written_twice_is_an_error() {
    for text in [
        "fn f(c: bool, d: bool) { loop i { } exit if c, exit if d }",
        "fn f(c: bool) { loop i { } exit if c, trips t, trips u }",
        "fn f(@x: &[f64], @x: &[f64]) { }",
        "struct P { x: f64, x: f64 } fn f(@p: &P) { }",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_polynomial_is_what_is_written_or_an_error() {
    let text = "fn f(@x: &[f64], n: usize) { for i in n..n strip view @x from 170141183460469231731687303715884105727 * 2 * n { } }";
    assert!(parse(text).is_err());
}

#[test]
fn bits_of_a_float_are_an_int_as_the_grammar_says() {
    read("fn f() { a: f64 = float \"nan\" 9221120237041090560; return a }");
}

// The validator: scope and types.

#[test]
fn values_and_objects_are_used_where_they_are() {
    for text in [
        "fn f(c: bool, x: f64) { if c { a = x * x } else { b = a + x } merge m = a | b; return m }",
        "fn f(c: bool, x: f64) { if c { a = x * x } else { b = x + x } merge m = b | a; return m }",
        "fn f(n: usize, x: f64) { for i in n..n, s = x { t: f64 = s + o } carry s <- t -> o; return o }",
        "fn f(n: usize) { for i in n..n { q: usize = t + n } trips t; return t }",
        "fn f(c: bool, x: f64, z: usize) { if c { new @t: [f64; 1] = [x] }; a = @t[z]; return a }",
        "fn f(c: bool, x: f64) { if c { new @t: [f64; 1] = [x] }; return @t }",
        "fn f(@y: &[f64], n: usize) { for i in n..n strip view @y from q { q = i * i; k = i + q; a = @y[k] } }",
        "fn f(x: f64) { a.3 = x * x; a.3 = x + x }",
        "fn f(@x: &(f64, f64), i: usize) { v: f64 = @x[i]; return v }",
    ] {
        refused("scope", text);
    }
}

#[test]
fn operands_have_the_types_of_their_operations() {
    for text in [
        "fn f(@x: &[f64], i: i32) { v: f64 = @x[i]; return v }",
        "fn f(@x: &mut [[f64; 2]], v: f64, z: usize) { @x[z] = v }",
        "fn f(a: i32, b: usize) { for i in a..b { } }",
        "fn f(a: f64, b: f64) { for i in a..b { } }",
        "fn f(a: f64) { v: f32 = a as usize; return v }",
        "fn f(a: f64) { v = !a; return v }",
        "fn f(a: bool, b: bool) { v: bool = a + b; return v }",
        "fn f(a: f64, b: f32) { v: bool = a < b; return v }",
        "fn f(a: i32, b: i32) { v: bool = a <total b; return v }",
        "fn f() { v: usize = 3.5; return v }",
        "fn f(c: bool, a: f64, b: f32) { v: f64 = if c then a else b; return v }",
        "fn f(a: f64) { v: f64 = math sin(a, a); return v }",
        "fn f(a: f64, n: usize) { v: f64 = math powi(a, n); return v }",
        "fn f(x: f64, n: usize) { new @t: [f64; 2] = [x, n] }",
        "fn f(x: f64) { new @t: Vec<f64> = [x; _] }",
        "fn f(c: bool, a: f64, b: f32) { if c { } merge m: f64 = a | b; return m }",
        "fn f(n: usize, a: f64, b: f32) { for i in n..n, s: f64 = a { } carry s <- b -> t; return t }",
        "fn f(n: usize) { loop i { } exit if n }",
        "fn f(n: usize) { for i in n..n { } trips t: i32; return t }",
        "fn f(n: i32) { check n < n }",
        "fn f(a: f64) { record #0 (a: f64)\n push #0 a, a; pop #0 b }",
        "fn f(a: f64) { record #0 (a) of (f32)\n push #0 a; pop #0 b }",
    ] {
        refused("types", text);
    }
}

#[test]
fn types_fit_in_casts_literals_methods_and_contents() {
    all_refused(&[
        "fn f(a: bool) { v: f64 = a as f64; return v }",
        "fn f(a: u8) { v: bool = a as bool; return v }",
        "fn f(a: usize) { v = -a; return v }",
        "fn f() { v: u8 = 300; return v }",
        "fn f() { v: usize = -1; return v }",
        "fn f(a: u8, b: i64) { v: u8 = method max(a, b); return v }",
        "fn f(x: f64) { new @t: [f64; 3] = [x, x] }",
        "fn f(x: f64, n: usize) { new @t: [f64; 2] = vec![x; n] }",
        "fn f(@x: &[f32]) { new @t: Vec<f64> = copy of @x }",
        "fn f(@x: &[f64; 3]) { new @t: [f64; 2] = copy of @x }",
        "fn f(@x: &[(f64, f64)]) { new @t: Vec<f64> = zeros like @x }",
        "fn f(@x: &[f64]) { record #0 () of ()\n save #0 &@x; restore #0 @t: Vec<f32> }",
        "fn f(@x: &[f64], @dx: &mut [f32] shadow of @x) { }",
    ]);
}

#[test]
fn memory_behind_a_shared_reference_is_never_written() {
    all_refused(&[
        "fn f(@x: &[f64], v: f64, z: usize) { @x[z] = v }",
        "fn f(@x: &[f64], v: f64, z: usize) { @x[z] += v }",
        "fn f(@x: &[f64]) { call g(&mut @x) }",
        "fn f(@x: &[f64], n: usize) { for i in n..n strip view mut @x { a = @x[i] } }",
    ]);
}

#[test]
fn a_cell_holds_its_slots() {
    all_refused(&[
        "fn f(@y: &mut [f64], n: usize) { region 0 of 1 u32\n record #0 (c: u64) in region 0\n z: usize = 0
           for i in z..n strip region 0 { c = i as u64; push #0 c }
           for k in z..n reversed strip region 0 view mut @y { pop #0 b; d = b as f64; @y[k] += d } }",
        "fn f(a: f64) { record #0 (a: f64) as f32\n push #0 a; pop #0 b; return b }",
        "fn f(a: f64) { record #0 (a: f64) as u8\n push #0 a; pop #0 b; return b }",
    ]);
}

// The validator: the tape.

#[test]
fn pops_mirror_pushes() {
    for text in [
        "fn f() { record #0 () of ()\n pop #0 }",
        "fn f(a: f64) { push #0 a }",
        "fn f(a: f64) { record #0 (a: f64)\n pop #0 b; push #0 a }",
        "fn f(a: f64, b: f64) { push #0 a; push #1 b; pop #0 c; pop #1 d }",
        "fn f(a: f64, b: f64) { push #0 a, b; pop #0 c restores b, d restores a }",
        "fn f(a: f64, b: f64) { record #0 (a: f64, b: f64)\n push #0 b, a; pop #0 c, d }",
        "fn f(a: f64) { push #0 a; pop #0 c restores nothing }",
        "fn f(n: usize, a: f64) { z: usize = 0; for i in z..n { push #0 a }; for k in z..n { pop #0 b } }",
        "fn f(n: usize, a: f64) { z: usize = 0; for i in z..n { push #0 a }; for k in z..n unordered { pop #0 b } }",
        "fn f(n: usize, a: f64) { z: usize = 0; one: usize = 1; m = n + one
           for i in z..n { push #0 a }; for k in one..m reversed { pop #0 b } }",
        "fn f(n: usize, a: f64, stop: bool) { z: usize = 0
           for i in z..n { push #0 a } exit if stop, trips t\n for k in z..n reversed { pop #0 b } }",
        "fn f(n: usize, a: f64, stop: bool) { z: usize = 0; one: usize = 1
           for i in one..n { c = i > one; if c { push #0 a } } exit if stop, trips t
           for k in z..t reversed { d = k > one; if d { pop #0 b } } }",
        "fn f(n: usize, a: f64, stop: bool) { z: usize = 0
           for i in z..n { push #0 a }; for k in z..n reversed { pop #0 b } exit if stop }",
        "fn f(n: usize, a: f64) { z: usize = 0; o: f64 = 0.0; one: f64 = 1.0
           for i in z..n, s = a { c = s > o; if c { push #0 a }; sn = s - one } carry s <- sn -> e
           for k in z..n reversed, r = a { d = r > o; if d { pop #0 b }; rn = r - one } carry r <- rn -> g }",
        "fn f(c: bool, a: f64) { if c { push #0 a } else { push #0 a }; if c { pop #0 b } }",
        "fn f(c: bool, a: f64, e: f64) { if c { push #0 a } else { push #1 e }; if c { pop #1 g } else { pop #0 b } }",
        "fn f(n: usize, m: usize, a: f64) { z: usize = 0
           for i in z..n { for j in z..m { push #0 a } }; for k in z..m reversed { for l in z..n reversed { pop #0 b } } }",
        "fn f(n: usize, a: f64) { z: usize = 0; for i in z..n { push #0 a; push #0 a; pop #0 w } }",
        "fn f(@x: &[f64]) { record #0 () of ()\n save #0 &@x; pop #0 }",
        "fn f(a: f64) recursive(g, h) { call b: f64 = g(a) forward of g; call c: f64 = h(a) backward of h }",
        "fn f(n: usize, a: f64) { z: usize = 0; m8 = n as u8; m = m8 as usize
           for i in z..n { push #0 a }; for k in z..m reversed { pop #0 b } }",
    ] {
        refused("tape", text);
    }
}

#[test]
fn what_mirrors_is_accepted() {
    for text in [
        "fn f(n: usize, a: f64) { z: usize = 0; for i in z..n { push #0 a }; for k in z..n reversed { pop #0 b } }",
        "fn f(n: usize, a: f64) { z: usize = 0; for i in z..n reversed { push #0 a }; for k in z..n { pop #0 b } }",
        "fn f(n: usize, a: f64) { z: usize = 0; one: usize = 1
           loop i { nx = i + one; stop = nx >= n; push #0 i } exit if stop, trips t\n for k in z..t reversed { pop #0 b } }",
        "fn f(n: usize, a: f64) { z: usize = 0
           for i in z..n { for j in z..i { push #0 a } }; for k in z..n reversed { for l in z..k reversed { pop #0 b } } }",
        "fn f(n: usize, @x: &[f64]) { z: usize = 0; o: f64 = 0.0
           for i in z..n { v = @x[i]; c = v > o; if c { push #0 v }; push #1 v }
           for k in z..n reversed { pop #1 w; d = w > o; if d { pop #0 b } } }",
        "fn f(n: usize, m: usize, a: f64) { z: usize = 0; p = n / m; q = n / m
           for i in z..p { push #0 a }; for k in z..q reversed { pop #0 b } }",
        "fn f(n: usize, @x: &[f64], @dx: &mut [f64] shadow of @x) { z: usize = 0
           for i in z..n { v = @x[i]; push #0 v; pop #0 w; @dx[i] += w } }",
    ] {
        accepted(text);
    }
}

/// A record stays on the tape, or another one is taken, and nobody notices.
#[test]
fn a_load_is_another_number_once_its_memory_is_written() {
    all_refused(&[
        "fn f(@x: &mut [f64], a: f64) { z: usize = 0; o: f64 = 0.0
           v = @x[z]; c = v > o; if c { push #0 a }
           @x[z] = o
           w = @x[z]; d = w > o; if d { pop #0 b } }",
        "fn f(@k: &mut [usize], two: usize) { z: usize = 0
           n = @k[z]; for i in z..n { push #0 i }
           @k[z] = two
           m = @k[z]; for j in z..m reversed { pop #0 b } }",
        "fn f(@x: &mut [f64], a: f64) { z: usize = 0; o: f64 = 0.0
           v = @x[z]; c = v > o; if c { push #0 a }
           call g(&mut @x)
           w = @x[z]; d = w > o; if d { pop #0 b } }",
        "fn f(@x: &mut [f64], n: usize, a: f64) { z: usize = 0; o: f64 = 0.0
           for i in z..n { v = @x[z]; c = v > o; if c { push #0 a }; @x[z] = o }
           for k in z..n reversed { w = @x[z]; d = w > o; if d { pop #0 b } } }",
    ]);
}

#[test]
fn a_loop_over_as_many_as_were_counted_is_accepted() {
    accepted(
        "fn f(a0: usize, n: usize, a: f64) { z: usize = 0
           for i in a0..n { push #0 a } trips t\n for k in z..t reversed { pop #0 b } }",
    );
}

// The interpreter.

#[test]
fn integers_panic_as_they_do_in_rust() {
    let cases = [
        (
            "fn f(a: i32, b: i32) { c = a + b; return c }",
            [i128::from(i32::MAX), 1],
            "attempt to add with overflow",
        ),
        (
            "fn f(a: i32, b: i32) { c = a / b; return c }",
            [i128::from(i32::MIN), -1],
            "attempt to divide with overflow",
        ),
        ("fn f(a: i32, b: i32) { c = a / b; return c }", [1, 0], "attempt to divide by zero"),
        (
            "fn f(a: i32, b: i32) { c = a % b; return c }",
            [i128::from(i32::MIN), -1],
            "attempt to calculate the remainder with overflow",
        ),
        (
            "fn f(a: i32, b: i32) { c = a << b; return c }",
            [1, 32],
            "attempt to shift left with overflow",
        ),
        (
            "fn f(a: i32, b: i32) { c = a >> b; return c }",
            [1, -1],
            "attempt to shift right with overflow",
        ),
        (
            "fn f(a: usize, b: usize) { c = a - b; return c }",
            [1, 2],
            "attempt to subtract with overflow",
        ),
        (
            "fn f(a: usize, b: usize) { check a < b }",
            [5, 2],
            "index out of bounds: the len is 2 but the index is 5",
        ),
    ];
    for (text, [a, b], message) in cases {
        assert_eq!(panics(text, vec![int(a), int(b)]), message, "{text}");
    }
}

#[test]
fn the_first_panic_ends_the_run_and_both_sides_of_a_selection_are_computed() {
    let load = "fn f(@x: &[f64], i: usize, n: usize) { a = @x[i]; b = n / n; return a }";
    let message = "index out of bounds: the len is 2 but the index is 5";
    assert_eq!(panics(load, vec![floats(&[1.0, 2.0]), int(5), int(0)]), message);
    let both = "fn f(c: bool, n: usize, m: usize) { a = n / m; b = if c then n else a; return b }";
    let args = vec![Argument::Bool(true), int(3), int(0)];
    assert_eq!(panics(both, args), "attempt to divide by zero");
}

#[test]
fn casts_saturate_and_cut_as_in_rust() {
    let text = "fn f(a: f64) { b = a as i32; c = a as u8; d = c as i8; e = a as usize; return b, c, d, e }";
    for (number, expected) in [
        (f64::NAN, [0, 0, 0, 0]),
        (-1.5, [-1, 0, 0, 0]),
        (1e300, [i128::from(i32::MAX), 255, -1, i128::from(u64::MAX)]),
    ] {
        let outcome = run(text, vec![float(number)], &Options::default()).unwrap();
        assert_eq!(outcome.results, expected.map(Datum::Int), "{number}");
    }
}

#[test]
fn loops_run_as_often_and_in_the_order_the_reference_says() {
    let text = "fn f(a: i64, b: i64, ten: f64, s0: f64) {
        for i in a..b reversed, s = s0 { v = i as f64; p = s * ten; q = p + v } carry s <- q -> after, trips t
        return after, t
    }";
    for (range, result) in
        [((-1, 2), (1.0 * 100.0 - 1.0, 3)), ((5, -5), (0.0, 0)), ((3, 3), (0.0, 0))]
    {
        let args = vec![int(range.0), int(range.1), float(10.0), float(0.0)];
        let outcome = run(text, args, &Options::default()).unwrap();
        assert_eq!(outcome.results, [Datum::Float(result.0), Datum::Int(result.1)]);
    }
}

#[derive(Default, PartialEq, Debug)]
struct Count {
    operations: usize,
    reads: usize,
    writes: usize,
    pushes: usize,
    pops: usize,
}

impl Observer for Count {
    fn operation(&mut self, _: ValueId, _: &Op, _: Class) {
        self.operations += 1;
    }

    fn access(&mut self, access: Access<'_>, _: Class) {
        match access {
            Access::Read(..) => self.reads += 1,
            Access::Write(..) | Access::Add(..) => self.writes += 1,
            Access::Push(..) | Access::Save(..) => self.pushes += 1,
            Access::Pop(..) | Access::Restore(..) => self.pops += 1,
        }
    }
}

const TAPED: &str = "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize) { z: usize = 0
    for i in z..n { a = @x[i]; push #0 a }
    for k in z..n reversed unordered { pop #0 b; @dx[k] += b } }";

fn counted(options: &Options) -> Count {
    let mut count = Count::default();
    let args = vec![floats(&[1.0, 2.0, 3.0]), floats(&[0.0; 3]), int(3)];
    interp::run_observed(&read(TAPED), args, options, &mut count).unwrap();
    count
}

#[test]
fn an_observer_is_told_everything_once() {
    let count = counted(&Options::default());
    assert_eq!((count.writes, count.pushes, count.pops), (3, 3, 3), "{count:?}");
}

#[test]
fn an_observer_is_told_everything_once_in_any_order() {
    let shuffled = Options { shuffle: Some(1), ..Options::default() };
    assert_eq!(counted(&shuffled), counted(&Options::default()));
}

#[test]
fn a_trap_has_the_message_of_the_panic() {
    let strided = "fn f(@x: &[f64], n: usize, z: f64, i: usize) {
        new @t: Vec<f64> every 2 of @x from 1 = vec![z; n]; a = @t[i]; return a }";
    let args = vec![floats(&[0.0; 6]), int(3), float(0.0), int(3)];
    assert_eq!(panics(strided, args), "index out of bounds: the len is 6 but the index is 7");
    let assertion =
        "fn f(c: bool, n: usize) { assert c else `panic!(\"n is {n}\")` with (n = n)\n }";
    assert_eq!(panics(assertion, vec![Argument::Bool(false), int(7)]), "n is 7");
}

#[test]
fn a_malformed_function_is_a_trap_and_not_a_panic() {
    let text = "fn f(@y: &mut [f64], n: usize, v: f64) { z: usize = 0
        parallel(0, grain 1) for i in z..n parts window @y step 170141183460469231731687303715884105727 { @y[i] = v } }";
    let args = vec![floats(&[0.0; 6]), int(6), float(1.0)];
    let outcome = catch_unwind(AssertUnwindSafe(|| run(text, args, &Options::default())));
    assert!(outcome.is_ok());
}

#[test]
fn a_part_of_a_list_goes_back_to_where_it_was() {
    let text = "fn f(@x: &mut [f64], @y: &mut [f64], from: usize, n: usize, v: f64) { z: usize = 0; e: usize = @x.len()
        save #0 &@x[from for n]
        for i in z..e { @x[i] = v }
        refill #0 @y }";
    let lists = || (floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.0; 4]));
    for (from, n, expected) in [
        (1, 2, [0.0, 2.0, 3.0, 0.0]),
        (0, 4, [1.0, 2.0, 3.0, 4.0]),
        (3, 2, [0.0; 4]),
        (9, 0, [0.0; 4]),
    ] {
        let (x, y) = lists();
        let outcome = run(text, vec![x, y, int(from), int(n), float(9.0)], &Options::default());
        let Argument::Memory(expected) = floats(&expected) else { unreachable!("a list") };
        let found = outcome.unwrap();
        assert_eq!(format!("{:?}", found.memory[1]), format!("{expected:?}"), "{from} {n}");
    }
}
