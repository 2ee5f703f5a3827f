//! Programs on which passes show that run before differentiation.

use super::{Case, HEAT, any_loop, count, in_loops, is_math, loops, ops};
use stratape_ir::{Binary, Check, Loop, Math, Op, Stmt, walk};

pub(super) const CASES: &[Case] = &[
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
        pass: "tabulate",
        source: "fn f(w: &[[f64; 2]], k: &[usize], x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                let [a, b] = w[k[i]];
                s += if a > 0.0 { x[i] * (a.sqrt() * b).exp() } else { x[i] * b };
            }
            s
        }",
        holds: |compiled| {
            any_loop(&compiled.primal, |node| {
                let mut math = 0;
                walk(&node.body, &mut |item| math += usize::from(is_math(item)));
                !node.carried.is_empty() && math == 0
            })
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
        pass: "swap_copies",
        source: "fn f(x: &[f64], steps: usize) -> f64 {
            let n = x.len();
            let mut before = vec![0.0; n];
            let mut now = vec![0.0; n];
            for _ in 0..steps {
                let mut next = vec![0.0; n];
                for i in 1..n { next[i] = x[i] + (now[i - 1] * before[i]).sin(); }
                before.copy_from_slice(&now);
                now.copy_from_slice(&next);
            }
            now[n - 1]
        }",
        holds: |compiled| count(&compiled.primal, |node| matches!(node, Stmt::Swap { .. })) == 2,
    },
    Case {
        pass: "loop_fusion",
        source: "fn f(a: &[f64], b: &[f64], x: &[f64], n: usize, m: usize) -> f64 {
            let mut t = 0.0;
            for i in 0..n {
                let (mut p, mut q) = (0.0, 0.0);
                for j in 0..m { p += a[i * m + j] * x[j]; }
                let p = p.tanh();
                for j in 0..m { q += b[i * m + j] * x[j]; }
                t += p * q;
            }
            t
        }",
        holds: |compiled| loops(&compiled.primal) == 2,
    },
    Case {
        pass: "induction",
        source: "fn f(x: &[f64], n: usize) -> f64 {
            let (mut s, mut at) = (0.0, 0);
            for j in 0..n {
                for i in j + 1..n { s += (x[at + i - j - 1] * s).sin(); }
                at += n - j - 1;
            }
            s
        }",
        holds: |compiled| {
            !any_loop(&compiled.primal, |node| {
                node.carried.iter().any(|it| !compiled.primal.ty(it.inside).is_float())
            })
        },
    },
];
