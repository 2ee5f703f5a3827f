//! Each pass does what it is for, in the driver: with the pass switched on the stage has the structure, with it switched off it has not.
//!
//! A pass without a case here fails [`every_pass_has_a_case`]: nobody would notice if it stopped firing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;

use stratape_compiler::driver::{
    self, Compiled, GRADIENT, LOWERING, Options, PRIMAL, Pass, Promise, TapeSettings, Target,
};
use stratape_compiler::front::Items;
use stratape_ir::{Binary, Block, Check, Function, Loop, Math, Op, Stmt, walk};

/// The size of layers.
const LAYER_BYTES: usize = 4096;

/// A program on which a pass shows.
struct Case {
    pass: &'static str,
    source: &'static str,
    /// The structure it makes.
    holds: fn(&Compiled) -> bool,
}

fn count(function: &Function, mut is_one: impl FnMut(&Stmt) -> bool) -> usize {
    let mut found = 0;
    walk(&function.body, &mut |node| found += usize::from(is_one(node)));
    found
}

fn ops(function: &Function, is_one: impl Fn(&Op) -> bool) -> usize {
    count(function, |node| matches!(node, Stmt::Let { op, .. } if is_one(op)))
}

fn any_loop(function: &Function, is_one: impl Fn(&Loop) -> bool) -> bool {
    count(function, |node| matches!(node, Stmt::Loop(node) if is_one(node))) > 0
}

fn loops(function: &Function) -> usize {
    count(function, |node| matches!(node, Stmt::Loop(_)))
}

/// Operations inside loops.
fn in_loops(block: &Block, is_one: &dyn Fn(&Stmt) -> bool) -> usize {
    let mut found = 0;
    walk(block, &mut |node| {
        if let Stmt::Loop(node) = node {
            found += node.body.iter().filter(|item| is_one(item)).count();
        }
    });
    found
}

fn is_math(node: &Stmt) -> bool {
    matches!(node, Stmt::Let { op: Op::Math(..), .. })
}

const HEAT: &str = "fn f(x: &[f64], n: usize) -> f64 {
    let mut u = vec![0.0; 4 * n];
    for i in 0..n { u[i] = x[i]; }
    for t in 0..3 {
        for i in 0..n {
            let mut flow = 0.0;
            if i > 0 { flow += u[t * n + i - 1] - u[t * n + i]; }
            if i + 1 < n { flow -= u[t * n + i] - u[t * n + i + 1]; }
            u[(t + 1) * n + i] = u[t * n + i] + 0.2 * flow;
        }
    }
    let mut sum = 0.0;
    for i in 0..n { sum += x[i] * u[3 * n + i]; }
    sum
}";

const CASES: &[Case] = &[
    Case {
        pass: "cse",
        source: "fn f(x: f64) -> f64 { x.sin() * x.sin() }",
        holds: |compiled| ops(&compiled.primal, |op| matches!(op, Op::Math(Math::Sin, _))) == 1,
    },
    Case {
        pass: "bounds",
        source: "fn f(x: &[f64], a: usize, b: usize) -> f64 {
            let row = &x[a..b];
            let mut s = 0.0;
            for j in 0..row.len() { s += row[j] * row[j]; }
            s
        }",
        holds: |compiled| {
            let bounds =
                |node: &Stmt| matches!(node, Stmt::Check { check: Check::Bounds { .. }, .. });
            count(&compiled.primal, bounds) == 0
        },
    },
    Case {
        pass: "induction",
        source: "fn f(w: &[f64], x: &[f64], n: usize) -> f64 {
            let (mut s, mut at) = (0.0, 0);
            for i in 0..n {
                s += w[at] * x[i];
                at += 3;
            }
            s
        }",
        holds: |compiled| any_loop(&compiled.primal, |node| node.carried.len() == 1),
    },
    Case {
        pass: "peel",
        source: HEAT,
        holds: |compiled| {
            any_loop(&compiled.primal, |node| {
                let plain = node.body.iter().all(|item| item.blocks().is_empty());
                plain && node.body.len() > 8
            })
        },
    },
    Case {
        pass: "peel",
        source: "fn f(x: &[f64], y: &mut [f64]) {
            let n = x.len();
            for i in 0..n { y[i] = x[(i + n - 1) % n] * x[(i + 1) % n]; }
        }",
        holds: |compiled| {
            let remainder =
                |node: &Stmt| matches!(node, Stmt::Let { op: Op::Binary(Binary::Rem, ..), .. });
            any_loop(&compiled.primal, |node| !node.body.iter().any(remainder))
        },
    },
    Case {
        pass: "coalesce",
        source: "fn f(x: &[f64], y: &mut [f64], n: usize, m: usize) {
            for i in 0..n { for j in 0..m { y[i * m + j] = x[i * m + j] * x[i * m + j]; } }
        }",
        holds: |compiled| loops(&compiled.primal) == 1,
    },
    Case {
        pass: "interchange",
        source: "fn f(x: &[f64], w: &[f64], y: &mut [f64], n: usize, m: usize) {
            for i in 0..n {
                let mut s = 0.0;
                for k in 0..m { s += w[k] * x[i + k]; }
                y[i] = s;
            }
        }",
        holds: |compiled| compiled.primal.objects.iter().any(|object| object.name == "ss"),
    },
    Case {
        pass: "aos_to_soa",
        source: "fn f(x: &[f64], n: usize) -> f64 {
            let mut s = 0.0;
            for i in 0..n {
                for j in 0..n {
                    let (a, b) = (x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
                    s += a * a + b * b;
                }
            }
            s
        }",
        holds: |compiled| compiled.primal.strided_copies.len() == 2,
    },
    Case {
        pass: "scalar_promotion",
        source: "fn f(x: &[f64], y: &mut [f64; 2]) {
            for j in 0..2 { for i in 0..8 { y[j] += x[i] * x[i]; } }
        }",
        holds: |compiled| {
            in_loops(&compiled.primal.body, &|node| matches!(node, Stmt::Accumulate { .. })) == 0
        },
    },
    Case {
        pass: "scalar_promotion",
        source: "fn f(x: &[f64], n: usize, m: usize) -> f64 {
            let mut y = vec![0.0; n * n];
            for i in 0..n { for j in 0..n { for k in 0..m { y[i * n + j] += x[k].sin(); } } }
            y.iter().sum()
        }",
        holds: |compiled| {
            in_loops(&compiled.primal.body, &|node| matches!(node, Stmt::Accumulate { .. })) == 0
        },
    },
    Case {
        pass: "vector_reduction",
        // What goes to a row rotates; what goes to the rows beside it has rotations of its own.
        source: "fn f(u: &[f64], width: usize, height: usize) -> f64 {
            let mut s = 0.0;
            for y in 1..height {
                for x in 1..width {
                    let i = y * width + x;
                    s += u[i] * u[i - 1] * u[i - width];
                }
            }
            s
        }",
        holds: |compiled| {
            let text = compiled.lowered.to_string();
            let rotations: Vec<&str> =
                text.lines().filter(|line| line.contains("rotation @du")).collect();
            rotations.len() == 2 && rotations.iter().any(|line| line.contains(" at 1"))
        },
    },
    Case {
        pass: "licm",
        source: "fn f(x: &[f64], a: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..8 { s += a.sin() * x[i]; }
            s
        }",
        holds: |compiled| in_loops(&compiled.primal.body, &is_math) == 0,
    },
    Case {
        pass: "if_conversion",
        source: "fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() { s += if x[i] > 0.0 { x[i] } else { 0.5 }; }
            s
        }",
        holds: |compiled| count(&compiled.primal, |node| matches!(node, Stmt::If(_))) == 0,
    },
    Case {
        pass: "localize",
        // Made for each `i`, so that both halves of the loop are one, and nothing is left on the tape.
        source: "fn f(p: &[f64], w: &[f64], n: usize) -> f64 {
            let mut b = vec![0.0; n];
            let mut s = 0.0;
            for i in 0..p.len() {
                for j in 0..b.len() {
                    b[j] = p[i] * w[j];
                }
                for j in 0..n {
                    s += (b[j] * b[0]).sin();
                }
            }
            s
        }",
        holds: |compiled| {
            let made = |node: &Stmt| matches!(node, Stmt::New { .. });
            in_loops(&compiled.primal.body, &made) == 1
                && compiled.primal.body.iter().all(|node| !made(node))
        },
    },
    Case {
        pass: "small_arrays",
        source: "fn f(p: &[f64], x: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..p.len() {
                let mut m = [[0.0; 2]; 2];
                for a in 0..2 {
                    for b in 0..2 {
                        m[a][b] = (p[i] + a as f64 * x).sin() * b as f64;
                    }
                }
                s += (m[0][0] * m[1][1] - m[0][1] * m[1][0]).exp();
            }
            s
        }",
        holds: |compiled| count(&compiled.lowered, |node| matches!(node, Stmt::New { .. })) == 0,
    },
    Case {
        pass: "forward_copies",
        source: "fn f(p: &[[f64; 3]], k: &[usize], x: f64) -> f64 {
            let mut s = x;
            for i in 0..p.len() {
                let row = p[i];
                s = (s * row[k[i]]).sin();
            }
            s
        }",
        holds: |compiled| count(&compiled.lowered, |node| matches!(node, Stmt::New { .. })) == 0,
    },
    Case {
        pass: "rotate",
        source: "fn f(x: f64, most: f64) -> f64 {
            let mut y = x;
            while y < most { y = y * y + x; }
            y
        }",
        holds: |compiled| {
            let is_loop = |node: &Stmt| matches!(node, Stmt::Loop(_));
            compiled
                .primal
                .body
                .iter()
                .any(|node| matches!(node, Stmt::If(node) if node.then.iter().any(is_loop)))
        },
    },
    Case {
        pass: "split_structs",
        source: "fn f(x: &[f64]) -> f64 {
            let mut p = vec![(0.0, 0.0); x.len()];
            for i in 0..x.len() { p[i] = (x[i], x[i] * x[i]); }
            let mut s = 0.0;
            for i in 0..x.len() { s += p[i].0 * p[x.len() - 1 - i].1; }
            s
        }",
        holds: |compiled| !compiled.primal.to_string().contains("Vec<(f64, f64)>"),
    },
    Case {
        pass: "argmax",
        source: "fn f(x: &[f64]) -> f64 {
            let mut best = x[0];
            for i in 1..x.len() { if x[i] > best { best = x[i]; } }
            best
        }",
        holds: |compiled| count(&compiled.lowered, |node| matches!(node, Stmt::Push { .. })) == 0,
    },
    Case {
        pass: "argmax",
        source: "fn f(x: &[f64], p: f64) -> f64 {
            let mut nearest = f64::INFINITY;
            let mut colour = 0.0;
            for i in 0..x.len() {
                let d = (x[i] - p).abs();
                if d < nearest { nearest = d; colour = d.exp() * x[i]; }
            }
            colour
        }",
        holds: |compiled| {
            let mut inside = 0;
            walk(&compiled.primal.body, &mut |node| {
                let Stmt::Loop(node) = node else { return };
                let exp = |op: &Op| matches!(op, Op::Math(Math::Exp, _));
                walk(&node.body, &mut |node| {
                    inside += usize::from(matches!(node, Stmt::Let { op, .. } if exp(op)));
                });
            });
            inside == 0
        },
    },
    Case {
        pass: "unroll",
        source: "fn f(x: &[[f64; 3]], p: [f64; 3]) -> f64 {
            let mut total = 0.0;
            for i in 0..x.len() {
                let mut square = 0.0;
                for d in 0..3 { square += (x[i][d] - p[d]) * (x[i][d] - p[d]); }
                total += square.sqrt();
            }
            total
        }",
        holds: |compiled| count(&compiled.primal, |node| matches!(node, Stmt::Loop(_))) == 1,
    },
    Case {
        pass: "sink",
        source: "fn f(x: &[f64], y: &[f64], most: f64) -> f64 {
            let mut total = 0.0;
            for i in 0..x.len() {
                let r = x[i] * y[i];
                if r < most { total += (r * r + 1.0).ln().sqrt().exp(); }
            }
            total
        }",
        holds: |compiled| {
            let bare = |node: &Stmt| matches!(node, Stmt::Accumulate { .. });
            !any_loop(&compiled.lowered, |node| node.body.iter().any(bare))
        },
    },
    Case {
        pass: "precompute",
        source: "fn f(w: &[f64], p: &[f64], n: usize, m: usize) -> f64 {
            let mut s = 0.0;
            for i in 0..n { for j in 0..m { s += w[i * m + j] * p[j].sqrt(); } }
            s
        }",
        holds: |compiled| {
            let nested = |node: &Loop| {
                node.body.iter().any(|item| match item {
                    Stmt::Loop(inner) => inner.body.iter().any(is_math),
                    _ => false,
                })
            };
            !any_loop(&compiled.primal, nested)
        },
    },
    Case {
        pass: "dce",
        source: "fn f(x: f64) -> f64 { let unused = x.exp(); x * x }",
        holds: |compiled| ops(&compiled.primal, |op| matches!(op, Op::Math(..))) == 0,
    },
    Case {
        pass: "gradient_cse",
        source: "fn f(a: f64, b: f64, c: f64) -> f64 { a / c + b / c }",
        holds: |compiled| {
            ops(&compiled.gradient.function, |op| matches!(op, Op::Binary(Binary::Mul, ..))) == 2
        },
    },
    Case {
        pass: "reciprocal",
        source: "fn f(a: f64, b: f64, c: f64) -> f64 { a / c + (b / c) * a }",
        holds: |compiled| {
            let adjoint = |node: &Stmt| {
                matches!(node, Stmt::Let { value, op: Op::Binary(Binary::Div, ..) }
                    if compiled.gradient.function.values[value.index()].adjoint)
            };
            count(&compiled.gradient.function, adjoint) <= 1
        },
    },
    Case {
        pass: "fold_coefficients",
        source: "fn f(x: &[f64], y: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                let d = x[i] - y[i];
                s += 3.0 * d * d * 0.25;
            }
            2.0 * s
        }",
        holds: |compiled| {
            let product =
                |node: &Stmt| matches!(node, Stmt::Let { op: Op::Binary(Binary::Mul, ..), .. });
            in_loops(&compiled.gradient.function.body, &product) == 6
        },
    },
    Case {
        pass: "reorderable",
        source: "fn f(x: &[f64], a: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() { s += (a * x[i]).sin(); }
            s * s
        }",
        holds: |compiled| any_loop(&compiled.gradient.function, |node| node.unordered),
    },
    Case {
        pass: "scatter_to_gather",
        source: HEAT,
        holds: |compiled| {
            any_loop(&compiled.gradient.function, |node| {
                let added = |item: &&Stmt| matches!(item, Stmt::Accumulate { .. });
                let float = |item: &&Stmt| {
                    matches!(item, Stmt::Let { op: Op::Binary(Binary::Add | Binary::Sub, ..), value }
                        if compiled.gradient.function.values[value.index()].adjoint)
                };
                node.body.iter().filter(added).count() == 1
                    && node.body.iter().filter(float).count() >= 2
            })
        },
    },
    Case {
        pass: "dead_init",
        source: "fn f(x: &[f64], n: usize) -> f64 {
            let mut y = vec![0.0; n];
            for i in 0..n { y[i] = x[i].sin(); }
            let mut s = 0.0;
            for i in 0..n { s += y[i] * y[i]; }
            s
        }",
        holds: |compiled| !compiled.gradient.function.unfilled.is_empty(),
    },
    Case {
        pass: "invariant_factor",
        source: "fn f(b: &[f64], d: &[f64], c: &[f64], n: usize) -> f64 {
            let mut a = [0.0; 4];
            for i in 0..n { for j in 0..4 { a[j] += b[i] * d[i * 4 + j] * c[j]; } }
            let mut sum = 0.0;
            for j in 0..4 { sum += a[j] * a[j]; }
            sum
        }",
        holds: |compiled| {
            compiled.gradient.function.objects.iter().any(|object| object.name == "dc_sums")
        },
    },
    Case {
        pass: "unroll_and_jam",
        source: "fn f(w: &[f64], x: &[f64], n: usize, m: usize) -> f64 {
            let mut y = vec![0.0; n];
            for i in 0..n {
                let mut s = 0.0;
                for j in 0..m { s += w[i * m + j] * x[j]; }
                y[i] = s.tanh();
            }
            let mut t = 0.0;
            for i in 0..n { t += y[i] * y[i] * y[n - 1 - i]; }
            t
        }",
        holds: |compiled| any_loop(&compiled.gradient.function, |node| node.carried.len() == 8),
    },
    Case {
        pass: "privatize",
        source: "fn f(x: &[f64], y: &mut [f64]) {
            #[parallel]
            for i in 0..x.len() { y[i] = x[i].sin(); }
        }",
        holds: |compiled| {
            any_loop(&compiled.lowered, |node| {
                node.schedule.as_ref().is_some_and(|schedule| schedule.parts.is_some())
            })
        },
    },
    Case {
        pass: "regions",
        source: "fn f(x0: f64, n: usize) -> f64 {
            let mut x = x0;
            for _ in 0..n { x = x.sin() * x; }
            x
        }",
        holds: |compiled| compiled.lowered.records.iter().any(|record| record.room.is_some()),
    },
    // Where a size is given, as here for all cases.
    Case {
        pass: "layers",
        source: "fn f(x0: f64, n: usize) -> f64 {
            let mut x = x0;
            for _ in 0..n { x = x.sin() * x; }
            x
        }",
        holds: |compiled| {
            let regions = &compiled.lowered.regions;
            regions.iter().any(|region| region.layer == Some(LAYER_BYTES / region.frame_bytes()))
        },
    },
    Case {
        pass: "streams",
        source: "fn f(x0: f64, n: usize) -> f64 {
            let mut x = x0;
            for _ in 0..n { x = x.sin() * x; }
            x
        }",
        holds: |compiled| {
            any_loop(&compiled.lowered, |node| {
                let strip = node.schedule.as_ref().and_then(|schedule| schedule.strip.as_ref());
                strip.is_some_and(|strip| strip.stream.is_some())
            })
        },
    },
    Case {
        pass: "scratchpad",
        source: "fn f(x0: f64, n: usize) -> f64 {
            let mut x = x0;
            for _ in 0..n { x = x.sin() * x; }
            x
        }",
        holds: |compiled| {
            let records = &compiled.lowered.records;
            records
                .iter()
                .any(|record| record.room.as_ref().is_some_and(|room| room.offset.is_some()))
        },
    },
    Case {
        pass: "strip_mine",
        source: "fn f(x: &[f64], y: &mut [f64]) {
            for i in 0..x.len() { y[i] = x[i] * x[i]; }
        }",
        holds: |compiled| {
            any_loop(&compiled.lowered, |node| {
                let strip = node.schedule.as_ref().and_then(|schedule| schedule.strip.as_ref());
                strip.is_some_and(|strip| strip.views.len() >= 2)
            })
        },
    },
    Case {
        pass: "vector_reduction",
        source: "fn f(x: &[f64], a: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() { s += a * x[i] * x[i]; }
            s
        }",
        holds: |compiled| {
            any_loop(&compiled.lowered, |node| {
                node.schedule.as_ref().is_some_and(|schedule| schedule.simd.is_some())
            })
        },
    },
];

fn compile(case: &Case, disabled: &[&str]) -> Compiled {
    let item = syn::parse_str(case.source).unwrap();
    let disabled = disabled.iter().map(|name| (*name).to_owned()).collect();
    let tape = TapeSettings { layer_bytes: Some(LAYER_BYTES), ..TapeSettings::default() };
    let target = Target { part_operations: 1, tape, ..Target::default() };
    let options = Options { disabled, target, ..Options::default() };
    driver::compile(&item, &Items::empty(), &options)
        .unwrap_or_else(|error| panic!("{}: {error}", case.pass))
}

fn all() -> impl Iterator<Item = &'static Pass> {
    PRIMAL.iter().chain(GRADIENT).chain(LOWERING)
}

#[test]
fn each_pass_makes_its_structure() {
    let mut wrong = Vec::new();
    for case in CASES {
        let compiled = compile(case, &[]);
        assert_eq!(compiled.fault, None, "{}", case.pass);
        if !(case.holds)(&compiled) {
            wrong.push(format!(
                "{}\n{}\n{}",
                case.pass, compiled.primal, compiled.gradient.function
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_the_pass_it_is_not_there() {
    let mut there = Vec::new();
    for case in CASES {
        let compiled = compile(case, &[case.pass]);
        assert_eq!(compiled.fault, None, "{}", case.pass);
        if (case.holds)(&compiled) {
            there.push(case.pass);
        }
    }
    assert!(there.is_empty(), "switched off, {there:?} make no difference");
}

#[test]
fn every_pass_has_a_case() {
    let cases: BTreeSet<&str> = CASES.iter().map(|case| case.pass).collect();
    let passes: BTreeSet<&str> = all().map(|pass| pass.name).collect();
    assert_eq!(cases, passes);
}

#[test]
fn passes_come_after_what_they_need() {
    for sequence in [PRIMAL, GRADIENT, LOWERING] {
        for (at, pass) in sequence.iter().enumerate() {
            for needed in pass.after {
                let here = sequence.iter().any(|other| other.name == *needed);
                let before = sequence[..at].iter().any(|other| other.name == *needed);
                assert!(before || !here, "{} comes before {needed}", pass.name);
                assert!(all().any(|other| other.name == *needed), "{needed} is no pass");
            }
        }
    }
}

#[test]
fn nothing_before_the_gradient_changes_a_bit() {
    for pass in PRIMAL {
        assert_eq!(pass.promise, Promise::SameBits, "{}", pass.name);
    }
}
