//! What the documentation claims of the driver and its passes, held against programs as users write them: whichever passes are switched off,
//! gradients agree with differences, in every order and schedule; what is printed is read back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;

use stratape_compiler::driver::{
    self, Compiled, GRADIENT, LOWERING, Options, PRIMAL, Pass, Target,
};
use stratape_compiler::front::Items;
use stratape_interp::{self as interp, Argument, Datum, Memory};
use stratape_ir::{Function, text, valid};

/// An argument of a program.
#[derive(Clone, Debug)]
enum Input {
    Float(f64),
    Int(usize),
    /// A slice of floats, behind `&` or `&mut`.
    Floats(Vec<f64>),
    Ints(Vec<usize>),
}

use Input::{Float, Floats, Int, Ints};

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.9 + 0.5 * (1.3 * i as f64).sin()).collect()
}

/// A program, and what it is run on.
struct Program {
    source: &'static str,
    inputs: Vec<Input>,
}

fn program(source: &'static str, inputs: Vec<Input>) -> Program {
    Program { source, inputs }
}

/// Loss functions as users write them: stencils, offsets that are carried, products of matrices, triangular loops, early ends, gathers and
/// scatters, maxima, parallel rows, tuples, updates in place.
fn programs() -> Vec<Program> {
    vec![
        program(
            "fn prefix(x: &[f64], y: &mut [f64]) -> f64 {
                y[0] = x[0];
                for i in 1..x.len() { y[i] = 0.9 * y[i - 1] + x[i] * x[i]; }
                y[x.len() - 1]
            }",
            vec![Floats(numbers(11)), Floats(vec![0.0; 11])],
        ),
        program(
            "fn heat(u: &mut [f64], rate: f64, steps: usize) -> f64 {
                let n = u.len();
                let mut next = vec![0.0; n];
                for _ in 0..steps {
                    for i in 1..n - 1 { next[i] = u[i] + rate * (u[i - 1] - 2.0 * u[i] + u[i + 1]); }
                    for i in 1..n - 1 { u[i] = next[i] * next[i]; }
                }
                u.iter().map(|v| v * v).sum::<f64>()
            }",
            vec![Floats(numbers(21)), Float(0.2), Int(3)],
        ),
        program(
            "fn packed(w: &[f64], x: &[f64], sizes: &[usize]) -> f64 {
                let mut a = x.to_vec();
                let mut offset = 0;
                for l in 0..sizes.len() {
                    let m = sizes[l];
                    let mut s = 0.0;
                    for j in 0..m { s += w[offset + j] * a[j % a.len()]; }
                    a[l % x.len()] = s.tanh();
                    offset += m;
                }
                a.iter().sum::<f64>()
            }",
            vec![Floats(numbers(12)), Floats(numbers(4)), Ints(vec![3, 0, 5, 4])],
        ),
        program(
            "fn offsets(w: &[f64], n: usize, m: usize) -> f64 {
                let mut at = 0;
                let mut s = 1.0;
                for i in 0..n {
                    let row = at;
                    for j in 0..m { s += s * w[row + j] * w[i]; }
                    at += m;
                }
                s
            }",
            vec![Floats(numbers(12)), Int(3), Int(4)],
        ),
        program(
            "fn matmul(a: &[f64], b: &[f64], n: usize) -> f64 {
                let mut c = vec![0.0; n * n];
                for i in 0..n { for k in 0..n { for j in 0..n { c[i * n + j] += a[i * n + k] * b[k * n + j]; } } }
                let mut s = 0.0;
                for v in &c { s += v * v; }
                s
            }",
            vec![Floats(numbers(25)), Floats(numbers(25)), Int(5)],
        ),
        program(
            "fn matvec(a: &[f64], x: &[f64], n: usize) -> f64 {
                let mut s = 0.0;
                for i in 0..n {
                    let mut r = 0.0;
                    for j in 0..n { r += a[i * n + j] * x[j].sqrt(); }
                    s += r * r;
                }
                s
            }",
            vec![Floats(numbers(81)), Floats(numbers(9)), Int(9)],
        ),
        program(
            "fn triangular(l: &[f64], b: &[f64], n: usize) -> f64 {
                let mut x = vec![0.0; n];
                for i in 0..n {
                    let mut s = b[i];
                    for j in 0..i { s -= l[i * n + j] * x[j]; }
                    x[i] = s / l[i * n + i];
                }
                x.iter().map(|v| v * v).sum::<f64>()
            }",
            vec![Floats(numbers(25)), Floats(numbers(5)), Int(5)],
        ),
        program(
            "fn early(x: &[f64], limit: f64) -> f64 {
                let mut s = 0.0;
                for i in 3..x.len() {
                    if x[i] < 0.6 { continue; }
                    s += x[i] * x[i - 3];
                    if s > limit { break; }
                }
                s
            }",
            vec![Floats(numbers(12)), Float(3.0)],
        ),
        program(
            "fn newton(a: f64, steps: f64) -> f64 {
                let mut x = a;
                let mut done = 0.0;
                while done < steps { x = 0.5 * (x + a / x); done += 1.0; }
                x
            }",
            vec![Float(2.7), Float(3.5)],
        ),
        program(
            "fn gather(x: &[f64], k: &[usize], y: &mut [f64]) -> f64 {
                let mut s = 0.0;
                for i in 0..k.len() { y[k[i]] += x[i] * x[k[i]]; s += y[k[i]].sin(); }
                s
            }",
            vec![Floats(numbers(6)), Ints(vec![2, 0, 2, 5, 2, 1]), Floats(numbers(6))],
        ),
        program(
            "fn logsumexp(x: &[f64]) -> f64 {
                let mut m = -1e30;
                for i in 0..x.len() { if x[i] > m { m = x[i]; } }
                let mut s = 0.0;
                for i in 0..x.len() { s += (x[i] - m).exp(); }
                m + s.ln()
            }",
            vec![Floats(numbers(10))],
        ),
        program(
            "fn rows(x: &[f64], y: &mut [f64], n: usize) -> f64 {
                let mut e = 0.0;
                #[parallel]
                for i in 0..n {
                    let mut r = 0.0;
                    for j in 0..n { r += x[i * n + j] * x[j]; }
                    y[i] = r;
                    e += r * r;
                }
                e
            }",
            vec![Floats(numbers(36)), Floats(vec![0.0; 6]), Int(6)],
        ),
        program(
            "fn points(p: &[f64], n: usize) -> f64 {
                let mut e = 0.0;
                for i in 0..n {
                    for j in 0..n {
                        let (dx, dy) = (p[2 * i] - p[2 * j], p[2 * i + 1] - p[2 * j + 1]);
                        e += 1.0 / (dx * dx + dy * dy + 0.1).sqrt();
                    }
                }
                e
            }",
            vec![Floats(numbers(14)), Int(7)],
        ),
        program(
            "fn in_place(u: &mut [f64], steps: usize) -> f64 {
                let n = u.len();
                for _ in 0..steps {
                    for i in 1..n { u[i] = u[i] * u[i - 1].cos(); }
                    for i in (0..n - 1).rev() { u[i] += 0.1 * u[i + 1] * u[i]; }
                }
                u[0]
            }",
            vec![Floats(numbers(9)), Int(2)],
        ),
        program(
            "fn halving(x: &[f64]) -> f64 {
                let mut a = x.to_vec();
                let mut n = x.len();
                while n > 1 {
                    let h = n / 2;
                    for i in 0..h { a[i] = a[2 * i] * a[2 * i + 1]; }
                    if n % 2 == 1 { a[h] = a[n - 1]; n = h + 1; } else { n = h; }
                }
                a[0]
            }",
            vec![Floats(numbers(11))],
        ),
        program(
            "fn clipped(x: &[f64], low: f64, high: f64) -> f64 {
                x.iter().map(|v| v.clamp(low, high)).fold(1.0, |p, v| p * (1.0 + v))
            }",
            vec![Floats(numbers(9)), Float(0.6), Float(1.2)],
        ),
        program(
            "fn edges(x: &[f64], y: &mut [f64]) -> f64 {
                let n = x.len();
                for i in 0..n {
                    let left = if i > 0 { x[i - 1] } else { x[n - 1] };
                    let right = if i + 1 < n { x[i + 1] } else { x[0] };
                    y[i] = left * right - x[i];
                }
                y.iter().map(|v| v * v).sum::<f64>()
            }",
            vec![Floats(numbers(20)), Floats(vec![0.0; 20])],
        ),
        program(
            "fn convolution(w: &[f64], x: &[f64], y: &mut [f64], m: usize) -> f64 {
                for i in 0..40 {
                    let mut s = 0.0;
                    for k in 0..m { s += w[k] * x[i + k]; }
                    y[i] = s;
                }
                y.iter().map(|v| v * v * v).sum::<f64>()
            }",
            vec![Floats(numbers(5)), Floats(numbers(44)), Floats(vec![0.0; 40]), Int(5)],
        ),
    ]
}

/// Indices that analyses must not misread: remainders, casts that cut, offsets below zero, permutations; ends that depend on data; loops that do not run.
fn awkward_programs() -> Vec<Program> {
    let ring = "fn ring(x: &[f64], n: usize, steps: usize) -> f64 {
        let mut u = vec![0.0; 2 * n];
        for i in 0..n { u[i] = x[i]; }
        for t in 0..steps {
            for i in 0..n { u[(t + 1) % 2 * n + i] = u[t % 2 * n + i] * u[t % 2 * n + (i + 1) % n]; }
        }
        u[steps % 2 * n]
    }";
    let signed = "fn signed(x: &[f64], y: &mut [f64]) -> f64 {
        let n = x.len() as isize;
        for i in -2..n {
            let j = (i + 2) as usize;
            let k = if i < 0 { (i + n) as usize } else { i as usize };
            y[j % x.len()] += x[k] * x[j % x.len()] * y[k];
        }
        y[0] + y[1] * y[2]
    }";
    let truncated = "fn truncated(x: &[f64], y: &mut [f64], n: usize) -> f64 {
        for i in 0..n { let k = (3 * i) as u8 as usize; y[k % 8] = 0.5 * y[k % 8] + x[i] * x[i]; }
        y.iter().map(|v| v * v).sum::<f64>()
    }";
    let mirrored = "fn mirrored(x: &mut [f64]) -> f64 {
        let n = x.len();
        for i in 0..n / 2 { x.swap(i, n - 1 - i); x[i] *= x[n - 1 - i]; }
        for i in (0..n).step_by(3).rev() { x[i] = x[i] * x[n - 1 - i] + 0.1; }
        x[0] * x[n / 2]
    }";
    let wandering = "fn wandering(a: &mut [f64], n: usize) -> f64 {
        let mut at = 1;
        let mut s = 1.0;
        let mut left = n;
        while left > 0 {
            s += a[at] * s;
            a[at] *= 0.3 * s;
            at = (at * 5 + 3) % a.len();
            left -= 1;
        }
        s + a[0]
    }";
    let permuted = "fn permuted(x: &mut [f64], k: &[usize]) -> f64 {
        for i in 0..k.len() { let v = x[i]; x[k[i]] = v * x[k[i]]; x[i] += 0.5 * v; }
        x.iter().map(|v| v * v).sum::<f64>()
    }";
    let filter = "fn filter(x: &[f64], y: &mut [f64]) -> f64 {
        let n = x.len();
        for i in 0..n - 2 { y[i] += x[i]; y[i + 1] -= 0.5 * y[i] * x[i + 2]; y[i + 2] += 0.25 * y[i + 1]; }
        for i in 0..n - 1 { y[i] = y[i + 1] - y[i]; }
        y.iter().map(|v| v * v).sum::<f64>()
    }";
    let pooled = "fn pooled(x: &[f64], n: usize) -> f64 {
        let mut s = 0.0;
        for i in 0..n / 2 { for j in 0..n / 2 {
            let mut m = x[2 * i * n + 2 * j];
            for a in 0..2 { for b in 0..2 { let v = x[(2 * i + a) * n + 2 * j + b]; if v > m { m = v; } } }
            s += m * m;
        } }
        s
    }";
    let labelled = "fn labelled(x: &[f64], n: usize, limit: f64) -> f64 {
        let mut s = 0.0;
        'rows: for i in 0..n {
            for j in i..n {
                if x[i * n + j] > 1.35 { continue 'rows; }
                s += x[i * n + j] * x[j];
                if s > limit { break 'rows; }
            }
            s *= 1.1;
        }
        s
    }";
    let turns = "fn turns(a: &mut [f64], b: &mut [f64], steps: usize) -> f64 {
        let n = a.len();
        for t in 0..steps {
            if t % 2 == 0 { for i in 1..n { b[i] = a[i] * a[i - 1]; } } else { for i in 1..n { a[i] = b[i] + 0.2 * b[i - 1]; } }
        }
        a[n - 1] + b[n - 1]
    }";
    vec![
        program(ring, vec![Floats(numbers(5)), Int(5), Int(3)]),
        program(ring, vec![Floats(numbers(1)), Int(1), Int(0)]),
        program(signed, vec![Floats(numbers(7)), Floats(numbers(7))]),
        program(truncated, vec![Floats(numbers(200)), Floats(numbers(8)), Int(200)]),
        program(mirrored, vec![Floats(numbers(10))]),
        program(mirrored, vec![Floats(numbers(3))]),
        program(wandering, vec![Floats(numbers(8)), Int(9)]),
        program(wandering, vec![Floats(numbers(8)), Int(0)]),
        program(permuted, vec![Floats(numbers(6)), Ints(vec![3, 3, 0, 5, 1, 3])]),
        program(filter, vec![Floats(numbers(20)), Floats(numbers(20))]),
        program(filter, vec![Floats(numbers(2)), Floats(numbers(2))]),
        program(pooled, vec![Floats(numbers(36)), Int(6)]),
        program(labelled, vec![Floats(numbers(36)), Int(6), Float(9.0)]),
        program(turns, vec![Floats(numbers(9)), Floats(numbers(9)), Int(4)]),
    ]
}

fn compile(source: &str, disabled: &[&str]) -> Compiled {
    let item = syn::parse_str(source).unwrap();
    let disabled: BTreeSet<String> = disabled.iter().map(|name| (*name).to_owned()).collect();
    let target = Target { part_operations: 1, ..Target::default() };
    let options = Options { disabled, target, ..Options::default() };
    let compiled = driver::compile(&item, &Items::empty(), &options).unwrap();
    assert_eq!(compiled.fault, None, "{source}");
    compiled
}

fn argument(input: &Input) -> Argument<f64> {
    match input {
        Float(number) => Argument::Float(*number),
        Int(number) => Argument::Int(*number as i128),
        Floats(numbers) => Argument::Memory(Memory::floats(numbers.iter().copied())),
        Ints(numbers) => Argument::Memory(Memory::ints(numbers.iter().map(|n| *n as i128))),
    }
}

fn value(function: &Function, inputs: &[Input]) -> f64 {
    let args = inputs.iter().map(argument).collect();
    let outcome = interp::run(function, args, &interp::Options::default()).unwrap();
    outcome.results[0].float().unwrap()
}

/// The value and the adjoints of all floats, in order.
fn gradient(function: &Function, inputs: &[Input], options: &interp::Options) -> (f64, Vec<f64>) {
    let mut args = Vec::new();
    for input in inputs {
        args.push(argument(input));
        if let Floats(numbers) = input {
            args.push(Argument::Memory(Memory::floats(numbers.iter().map(|_| 0.0))));
        }
    }
    args.push(Argument::Float(1.0));
    let outcome =
        interp::run(function, args, options).unwrap_or_else(|trap| panic!("{trap:?}\n{function}"));
    let mut scalars = outcome.results.iter().copied().filter_map(Datum::float);
    let mut memory = outcome.memory.iter();
    let value = scalars.next().unwrap();
    let mut adjoints = Vec::new();
    for input in inputs {
        match input {
            Float(_) => adjoints.extend(scalars.next()),
            Floats(_) => {
                memory.next();
                adjoints.extend(memory.next().unwrap().to_floats());
            }
            Ints(_) => drop(memory.next()),
            Int(_) => {}
        }
    }
    (value, adjoints)
}

/// Central differences by all floats, in order.
fn differences(function: &Function, inputs: &[Input]) -> Vec<f64> {
    let mut all = Vec::new();
    let step = 1e-6;
    let slope = |change: &dyn Fn(&mut Vec<Input>, f64)| {
        let (mut more, mut less) = (inputs.to_vec(), inputs.to_vec());
        change(&mut more, step);
        change(&mut less, -step);
        (value(function, &more) - value(function, &less)) / (2.0 * step)
    };
    for (at, input) in inputs.iter().enumerate() {
        match input {
            Float(_) => all.push(slope(&|inputs, by| {
                if let Float(number) = &mut inputs[at] {
                    *number += by;
                }
            })),
            Floats(numbers) => all.extend((0..numbers.len()).map(|k| {
                slope(&|inputs, by| {
                    if let Floats(numbers) = &mut inputs[at] {
                        numbers[k] += by;
                    }
                })
            })),
            Int(_) | Ints(_) => {}
        }
    }
    all
}

fn assert_close(one: &[f64], other: &[f64], tolerance: f64, what: &str) {
    assert_eq!(one.len(), other.len(), "{what}");
    for (at, (a, b)) in one.iter().zip(other).enumerate() {
        let scale = a.abs().max(b.abs()).max(1.0);
        assert!((a - b).abs() <= tolerance * scale, "{what}: {at}: {a} and {b}");
    }
}

/// Holds a gradient, in every order and schedule, against differences of the function as the front makes it.
fn check(program: &Program, disabled: &[&str]) {
    let item = syn::parse_str(program.source).unwrap();
    let primal = stratape_compiler::front::lower(&item, &Items::empty()).unwrap();
    let expected = (value(&primal, &program.inputs), differences(&primal, &program.inputs));
    let compiled = compile(program.source, disabled);
    let what = |way: &str| format!("{way}, without {disabled:?}\n{}", program.source);
    let agrees = |way: &str, function: &Function, options: &interp::Options| {
        let (value, adjoints) = gradient(function, &program.inputs, options);
        assert_eq!(value.to_bits(), expected.0.to_bits(), "{}", what(way));
        assert_close(&adjoints, &expected.1, 1e-6, &what(way));
    };
    let plain = interp::Options::default();
    agrees("as made", &compiled.gradient.function, &plain);
    for seed in [1, 2] {
        let shuffled = interp::Options { shuffle: Some(seed), ..interp::Options::default() };
        agrees("shuffled", &compiled.gradient.function, &shuffled);
    }
    for (strip, parts) in [(2, 3), (64, 2)] {
        let options = interp::Options { strip, parts, ..interp::Options::default() };
        agrees("lowered", &compiled.lowered, &options);
    }
}

fn all_passes() -> impl Iterator<Item = &'static Pass> {
    PRIMAL.iter().chain(GRADIENT).chain(LOWERING)
}

fn pass_names() -> Vec<&'static str> {
    let names: BTreeSet<&str> = all_passes().map(|pass| pass.name).collect();
    names.into_iter().collect()
}

#[test]
fn gradients_agree_with_differences() {
    for program in programs() {
        check(&program, &[]);
    }
}

#[test]
fn gradients_with_awkward_indices_agree_with_differences() {
    for program in awkward_programs() {
        check(&program, &[]);
    }
}

#[test]
fn each_optional_pass_can_be_switched_off() {
    let required: BTreeSet<&str> =
        all_passes().filter(|pass| pass.required).map(|pass| pass.name).collect();
    for pass in pass_names().into_iter().filter(|name| !required.contains(name)) {
        for program in programs() {
            check(&program, &[pass]);
        }
    }
}

#[test]
fn each_required_pass_can_be_switched_off() {
    for pass in all_passes().filter(|pass| pass.required).map(|pass| pass.name) {
        for program in programs() {
            check(&program, &[pass]);
        }
    }
}

#[test]
fn pairs_of_passes_can_be_switched_off() {
    let names = pass_names();
    let mut state = 7_usize;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        names[(state >> 33) % names.len()]
    };
    for program in programs() {
        for _ in 0..4 {
            check(&program, &[draw(), draw()]);
        }
    }
    for program in awkward_programs() {
        for _ in 0..2 {
            check(&program, &[draw(), draw()]);
        }
    }
}

#[test]
fn with_no_optional_pass_at_all() {
    let optional: Vec<&str> = all_passes().filter(|pass| !pass.required).map(|p| p.name).collect();
    for program in programs() {
        check(&program, &optional);
    }
}

#[test]
fn single_precision_follows_double_precision() {
    for program in programs() {
        let double = compile(program.source, &[]);
        let source = program.source.replace("f64", "f32");
        let single = compile(&source, &[]);
        let options = interp::Options::default();
        let (_, expected) = gradient(&double.lowered, &program.inputs, &options);
        let (_, adjoints) = gradient(&single.lowered, &program.inputs, &options);
        assert_close(&adjoints, &expected, 1e-3, &source);
    }
}

#[test]
fn what_is_printed_is_read_back_and_runs_the_same() {
    for program in programs() {
        let compiled = compile(program.source, &[]);
        for function in [&compiled.primal, &compiled.gradient.function, &compiled.lowered] {
            let read = text::parse_function(&function.to_string()).unwrap();
            assert_eq!(read.to_string(), function.to_string());
            valid::validate(&read).unwrap();
        }
        let read = text::parse_function(&compiled.lowered.to_string()).unwrap();
        let options = interp::Options::default();
        let (one, other) = (
            gradient(&compiled.lowered, &program.inputs, &options),
            gradient(&read, &program.inputs, &options),
        );
        assert_eq!(one, other, "{}", program.source);
    }
}
