//! Programs on which passes show that run on a gradient.

use super::{Case, HEAT, LAYER_BYTES, any_loop, count, in_loops, ops};
use stratape_ir::{Binary, Carried, Math, Op, Stmt};

pub(super) const CASES: &[Case] = &[
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
        pass: "gradient_cse",
        source: "fn f(a: f64) -> f64 { a.sin() * a.cos() }",
        holds: |compiled| {
            ops(&compiled.gradient.function, |op| matches!(op, Op::Math(Math::Cos, ..))) == 1
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
        pass: "common_factors",
        source: "fn f(x: &[f64], c: f64) -> f64 {
            let n = x.len();
            let mut s = 0.0;
            for i in 0..n {
                let (u, v, w) = (i as f64, (n - i) as f64, (i * i) as f64);
                s += (x[i] * u * c).sin() + (x[i] * v * c).cos() + (x[i] * w * c).exp();
            }
            s
        }",
        holds: |compiled| {
            let product = |node: &Stmt| {
                matches!(node, Stmt::Let { value, op: Op::Binary(Binary::Mul, ..) }
                    if compiled.gradient.function.values[value.index()].adjoint)
            };
            in_loops(&compiled.gradient.function.body, &product) <= 9
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
            in_loops(&compiled.gradient.function.body, &product) == 5
        },
    },
    Case {
        pass: "dead_stores",
        source: "fn f(x: &[f64], steps: usize) -> f64 {
            let n = x.len();
            let mut now = vec![0.5; n];
            for _ in 0..steps {
                let mut next = vec![0.0; n];
                for i in 1..n { next[i] = x[i] * now[i - 1].sin(); }
                now.copy_from_slice(&next);
            }
            now[n - 1]
        }",
        holds: |compiled| {
            let objects = &compiled.gradient.function.objects;
            let left = |node: &Stmt| {
                matches!(node, Stmt::Store { place, .. }
                    if objects[place.object.index()].name == "dnext")
            };
            count(&compiled.gradient.function, left) == 0
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
    Case {
        pass: "combine_terms",
        source: "fn f(x: &[f64], y: &[f64], a: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() { s += (a * x[i]).sin() * (a * y[i]).cos(); }
            s
        }",
        holds: |compiled| {
            any_loop(&compiled.gradient.function, |node| {
                let added = |carried: &Carried| {
                    let next = |item: &Stmt| {
                        matches!(item, Stmt::Let { value, op: Op::Binary(Binary::Add | Binary::Sub, a, _) }
                            if *value == carried.next && *a == carried.inside)
                    };
                    node.body.iter().any(next)
                };
                let adjoint =
                    |it: &Carried| compiled.gradient.function.values[it.inside.index()].adjoint;
                node.carried.iter().any(|it| adjoint(it) && added(it))
            })
        },
    },
    Case {
        pass: "gradient_cse",
        source: "fn f(x: &[f64], y: &[f64], most: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                if y[i] < most { s += (x[i] * y[i]).sin() * (x[i] * y[i]).cos(); }
            }
            s
        }",
        holds: |compiled| {
            ops(&compiled.gradient.function, |op| matches!(op, Op::Math(Math::Sin, _))) == 1
        },
    },
    Case {
        pass: "free_bits",
        source: "fn f(x: &[f64], y: &[f64], d: &[f64], k: &[usize], n: usize) -> f64 {
            let mut r = vec![0.0; n];
            for i in 0..x.len() { r[k[i]] += (x[i] / d[i]) * (y[i] / d[i]); }
            let mut s = 0.0;
            for i in 0..n { s += r[i] * r[i]; }
            s
        }",
        holds: |compiled| {
            ops(&compiled.gradient.function, |op| matches!(op, Op::Binary(Binary::Div, ..))) == 3
        },
    },
];
