//! The programs, each once with its loops marked and once without.

/// Every program, with or without the mark.
macro_rules! programs {
    ($module:ident $($mark:tt)*) => {
        #[stratape::differentiable]
        pub(crate) mod $module {
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct Body {
                pub(crate) at: [f64; 2],
                pub(crate) mass: f64,
                pub(crate) kind: usize,
            }

            pub(crate) struct Law {
                pub(crate) strength: f64,
                pub(crate) soft: (f64, [f64; 2]),
            }

            /// Saves on the tape: the second loop needs what the first leaves, so their halves cannot be fused.
            #[gradient]
            pub(crate) fn map(x: &[f64], y: &mut [f64], a: f64) {
                $($mark)*
                for i in 0..x.len() {
                    let mut v = a * x[i];
                    for _ in 0..6 {
                        v = (v * a).exp().sin() + 0.1 * v * v;
                    }
                    y[i] *= v;
                }
                for i in 0..x.len() {
                    y[i] = y[i].sin();
                }
            }

            /// Rows of a matrix times a vector they share.
            #[gradient]
            pub(crate) fn rows(m: &[f64], x: &[f64], y: &mut [f64]) {
                let n = x.len();
                $($mark)*
                for i in 0..y.len() {
                    let mut sum = 0.0;
                    for j in 0..n {
                        sum += m[i * n + j] * x[j];
                    }
                    y[i] = sum.tanh();
                }
            }

            /// Rows whose first and last elements have one neighbour.
            #[gradient]
            pub(crate) fn smooth(x: &[f64], y: &mut [f64], n: usize) {
                $($mark)*
                for i in 0..x.len() / n {
                    for j in 0..n {
                        let mut sum = x[i * n + j];
                        if j > 0 {
                            sum += 0.5 * x[i * n + j - 1];
                        }
                        if j < n - 1 {
                            sum -= 0.3 * x[i * n + j + 1] * sum;
                        }
                        y[i * n + j] = sum.sin();
                    }
                }
            }

            /// All pairs, and a sum whose order counts.
            #[gradient]
            pub(crate) fn pairs(x: &[f64], k: f64) -> f64 {
                let mut sum = 0.3;
                let mut other = 0.0;
                $($mark)*
                for i in 0..x.len() {
                    let mut part = 0.0;
                    for j in 0..x.len() {
                        part += (k * (x[i] - x[j])).cos();
                    }
                    sum += part;
                    sum -= part * part * 0.01;
                    other -= part * x[i];
                }
                sum * other
            }

            /// The terms are of very different size: another order would show.
            #[gradient]
            pub(crate) fn ordered(x: &[f64]) -> f64 {
                let mut sum = 0.0;
                $($mark)*
                for i in (3..x.len()).rev() {
                    let mut term = x[i] * x[i - 3];
                    for k in 0..2 {
                        for _ in 0..3 {
                            term *= 1.0 + 10.0 * (x[i] + k as f64).sin();
                        }
                    }
                    sum += term;
                }
                sum
            }

            /// A loop that is run again and again: the tapes of all steps lie on each other.
            #[gradient]
            pub(crate) fn steps(y: &mut [f64], a: f64, n: usize) -> f64 {
                let m = y.len();
                let mut next = vec![0.0; m];
                let mut seen = 0.0;
                for step in 0..n {
                    $($mark)*
                    for i in 1..m - 1 {
                        let mut v = y[i];
                        for _ in 0..3 {
                            v = (a * v).sin() + 0.2 * (y[i - 1] + y[i + 1]);
                        }
                        next[i] = v;
                    }
                    $($mark)*
                    for i in 1..m - 1 {
                        let mut v = next[i];
                        for k in 0..2 {
                            v += 0.1 * (v * next[i] * k as f64).cos();
                        }
                        y[i] = v * (1.0 + 0.1 * step as f64);
                    }
                    seen += y[1] * y[m / 2];
                }
                seen
            }

            /// Windows of iterators, and arrays inside the loop.
            /// Rows of a product of matrices: loops that would be exchanged, were it not for the mark.
            #[gradient]
            pub(crate) fn product(a: &[f64], b: &[f64], c: &mut [f64], n: usize, m: usize) {
                $($mark)*
                for i in 0..n {
                    for j in 0..m {
                        let mut sum = 0.1;
                        for k in 0..m {
                            sum += a[i * m + k] * b[k * m + j];
                        }
                        c[i * m + j] = sum.sin();
                    }
                }
            }

            /// Many layers at once: sums that would be taken together.
            #[gradient]
            pub(crate) fn layers(w: &[f64], x: &[f64], y: &mut [f64], n: usize, m: usize) {
                $($mark)*
                for p in 0..y.len() / n {
                    for i in 0..n {
                        let mut sum = 0.0;
                        for j in 0..m {
                            sum += w[i * m + j] * x[p * m + j];
                        }
                        y[p * n + i] = sum.tanh();
                    }
                }
            }

            /// Rows whose length is a difference.
            #[gradient]
            pub(crate) fn narrow_rows(x: &[f64], y: &mut [f64], w: usize) {
                $($mark)*
                for row in y.chunks_exact_mut(w - 2) {
                    for (j, v) in row.iter_mut().enumerate() {
                        *v = (*v * x[j]).sin();
                    }
                }
            }

            #[gradient]
            pub(crate) fn triples(x: &[f64], y: &mut [f64]) {
                $($mark)*
                for (to, from) in y.chunks_exact_mut(3).zip(x.chunks_exact(2)) {
                    let mut local = vec![0.0; 4];
                    for k in 0..4 {
                        for _ in 0..2 {
                            local[k] += (from[k % 2] * (k + 1) as f64).sin();
                        }
                    }
                    to[0] = local[0] * local[3];
                    to[1] += local[1];
                    to[2] *= to[0] * local[2];
                }
            }

            /// Structs in lists and alone, elements that are arrays, branches, a function.
            #[gradient]
            pub(crate) fn forces(bodies: &[Body], law: &Law, force: &mut [[f64; 2]]) -> f64 {
                let mut energy = 0.0;
                $($mark)*
                for (i, f) in force.iter_mut().enumerate() {
                    let mut part = 0.0;
                    for j in 0..bodies.len() {
                        if i != j && bodies[j].kind > 0 {
                            let d = distance(&bodies[i], &bodies[j], law);
                            f[0] += law.strength * bodies[j].mass * (bodies[j].at[0] - bodies[i].at[0]) / d;
                            f[1] += law.strength * bodies[j].mass * (bodies[j].at[1] - bodies[i].at[1]) / d;
                            part -= bodies[i].mass * bodies[j].mass / d;
                        }
                    }
                    energy += part;
                }
                energy
            }

            fn distance(a: &Body, b: &Body, law: &Law) -> f64 {
                let (x, y) = (a.at[0] - b.at[0], a.at[1] - b.at[1]);
                (x * x + y * y + law.soft.0 * law.soft.0 + law.soft.1[1].exp()).sqrt()
            }

            /// Elements that only some iterations have.
            #[gradient]
            pub(crate) fn guarded(x: &[f64], y: &mut [f64], n: usize) -> f64 {
                let mut sum = 0.0;
                $($mark)*
                for i in 0..n {
                    let mut v = 0.5;
                    if i >= 2 && i - 2 < y.len() {
                        for j in 0..3 {
                            for _ in 0..2 {
                                v = (v + x[i - 2] * j as f64).sin();
                            }
                        }
                        y[i - 2] *= v;
                    }
                    sum += v;
                }
                sum
            }

            /// The lower triangle of a matrix, from a helper with the mark.
            fn triangle(x: &[f64], l: &mut [f64], n: usize) {
                $($mark)*
                for i in 0..n {
                    for j in 0..i + 1 {
                        let mut v = x[i] * x[j];
                        for _ in 0..2 {
                            v = v.cos() * x[j];
                        }
                        l[i * n + j] = v;
                    }
                }
            }

            #[gradient]
            pub(crate) fn lower(x: &[f64]) -> f64 {
                let n = x.len();
                let mut l = vec![0.0; n * n];
                triangle(x, &mut l, n);
                let mut sum = 0.0;
                for v in &l {
                    sum += v * v;
                }
                sum
            }

            fn norm(x: &[f64]) -> f64 {
                x.iter().map(|v| v * v).sum::<f64>().sqrt()
            }

            #[stratape::pullback(of = norm)]
            fn norm_back(x: &[f64], dx: &mut [f64], seed: f64) {
                let length = norm(x);
                for (d, v) in dx.iter_mut().zip(x) {
                    *d += seed * v / length;
                }
            }

            fn power(x: f64, n: usize) -> f64 {
                if n == 0 { 1.0 } else { x * power(x.sin() + x, n - 1) }
            }

            /// Functions with a derivative of their own, and functions that call themselves.
            #[gradient]
            pub(crate) fn calls(x: &[f64], y: &mut [f64]) -> f64 {
                let mut sum = 0.0;
                $($mark)*
                for i in 0..y.len() {
                    let n = norm(&x[3 * i..3 * i + 3]);
                    y[i] = n * y[i] + power(n * y[i], i % 4);
                    sum += y[i] * n;
                }
                sum
            }

            pub(crate) struct Series {
                pub(crate) values: Vec<f64>,
            }

            /// A shadow that is neither divided nor copied: both halves run serially, since they share a tape.
            #[gradient]
            pub(crate) fn inside(series: &Series, y: &mut [f64]) {
                $($mark)*
                for i in 0..y.len() {
                    let mut v = series.values[i];
                    for k in 0..3 {
                        for _ in 0..2 {
                            v = (v + series.values[k]).sin();
                        }
                    }
                    y[i] = v;
                }
            }

            /// A loop in a loop, both marked: the outer one is divided.
            #[gradient]
            pub(crate) fn grid(x: &[f64], y: &mut [f64]) -> f64 {
                let n = x.len();
                let mut sum = 0.0;
                $($mark)*
                for i in 0..n {
                    let mut part = 0.0;
                    $($mark)*
                    for j in 0..n {
                        let mut v = x[i];
                        for _ in 0..3 {
                            v = (v * x[j]).sin();
                        }
                        y[i * n + j] += v;
                        part += v * y[i * n + j];
                    }
                    sum += part;
                }
                sum
            }

            /// Single precision.
            #[gradient]
            pub(crate) fn single(x: &[f32], a: f32, y: &mut [f32]) -> f32 {
                let mut sum = 0.0;
                $($mark)*
                for i in 0..x.len() {
                    let mut v = x[i];
                    for j in 0..x.len() {
                        v += 0.1 * (a * x[j] * v).sin();
                    }
                    y[i] = v;
                    sum += v * a;
                }
                sum
            }
        }
    };
}

programs!(serial);
programs!(marked #[parallel]);
