//! Short loops of a known count inside other loops.

programs! {
    iter_array: 8, short_steps: 8, min_in_short: 9, prefix: 6, swap_short: 6, rotate: 6, newton: 4,
    short_then_short: 9, short_in_short_in_long: 8, short_with_index_math: 8, checkpoint_short: 6,
    parallel_short: 9, fibonacci: 4, matpow: 4, deep_four: 4, carried_array: 8, tuple_carried: 6,
    short_cond_bounds: 8, sum_method: 9, moving_pair: 7, short_of_const_list: 6, jacobi: 6, gram_schmidt: 9,
}

mod iter_array {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for c in x.chunks_exact(4) {
            for (k, v) in c.iter().enumerate() {
                s += v * c[3 - k];
            }
            for w in [0.5, 1.5, -0.5] {
                s += (w * c[0]).sin();
            }
            for (a, b) in [(c[0], c[1]), (c[2], c[3])] {
                s *= a - b + 1.0;
            }
        }
        s
    }
}

mod short_steps {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() - 3 {
            for k in (0..4).step_by(2) {
                s += x[i + k] * x[i + k + if k > 0 { 0 } else { 1 }];
            }
            for k in (0..4).rev().step_by(3) {
                s *= 1.0 + 0.1 * x[i + k];
            }
        }
        s
    }
}

mod min_in_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for c in x.chunks_exact(3) {
            let mut m = c[0];
            let mut w = 1.0;
            for k in 1..3 {
                if c[k] < m {
                    m = c[k];
                    w = c[k - 1];
                }
            }
            let mut b = f64::NEG_INFINITY;
            for k in 0..3 {
                b = b.max(c[k] * w);
            }
            s += m * w + b;
        }
        s
    }
}

mod prefix {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let mut a = [x[i]; 4];
            for k in 1..4 {
                a[k] = a[k] * a[k - 1] + x[k % x.len()];
            }
            for k in 0..3 {
                a[k] = a[k + 1] - a[k];
            }
            s += a[0] * a[1] * a[2] + a[3];
        }
        s
    }
}

mod swap_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for i in 0..y.len() - 1 {
            for k in 0..2 {
                y.swap(i, i + 1 - k);
                y[i] *= 1.0 + 0.2 * y[i + 1];
            }
        }
        let mut s = 0.0;
        for (i, v) in y.iter().enumerate() {
            s += v * i as f64;
        }
        s
    }
}

mod rotate {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut a, mut b, mut c) = (x[0], x[1], x[2]);
        for v in x {
            for _ in 0..2 {
                (a, b, c) = (b * v, c + a, a);
            }
        }
        a + b * c
    }
}

mod newton {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let t = v * v + 0.5;
            let mut r = 1.0;
            for _ in 0..4 {
                r = 0.5 * (r + t / r);
            }
            s += r;
        }
        s
    }
}

mod short_then_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for c in x.chunks(3) {
            let mut a = 0.0;
            for k in 0..3 {
                if k < c.len() {
                    a += c[k] * c[k];
                }
            }
            let a = a.sqrt();
            for k in 0..3 {
                if k < c.len() {
                    s += if a > 0.0 { c[k] / a } else { 0.0 };
                }
            }
        }
        s
    }
}

mod short_in_short_in_long {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = [[0.0; 2]; 2];
        for i in 0..x.len() {
            for a in 0..2 {
                for b in 0..2 {
                    y[a][b] = y[b][a] * x[i] + (a + b) as f64 * x[(i + a) % x.len()];
                    for c in 0..2 {
                        y[c][b] += 0.1 * y[a][c] * x[i];
                    }
                }
            }
        }
        y[0][0] * y[1][1] - y[0][1] * y[1][0]
    }
}

mod short_with_index_math {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        let n = x.len();
        for i in 0..n {
            let mut at = i;
            for k in 0..3 {
                at = (at * 2 + k) % n;
                s += x[at] * x[i];
            }
            s *= 1.0 - 0.1 * x[at];
        }
        s
    }
}

mod checkpoint_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = [x[0], x[1], x[2]];
        let mut s = 0.0;
        #[checkpoint(slots = 3)]
        for _ in 0..10 {
            let old = u;
            for k in 0..3 {
                let mut t = 0.0;
                for j in 0..2 {
                    t += old[(k + j) % 3] * x[3 + j];
                }
                u[k] = t.sin() + 0.1 * x[5];
                s += u[k] * u[k];
            }
        }
        s
    }
}

mod parallel_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut y = vec![[0.0; 3]; n];
        let mut e = 0.0;
        #[parallel]
        for i in 0..n {
            let mut a = 0.0;
            for j in 0..n {
                let mut r = 0.1;
                for k in 0..3 {
                    let d = x[3 * i + k] - x[3 * j + k];
                    r += d * d;
                    y[i][k] += d * r;
                }
                a += r.sqrt();
            }
            e += a;
        }
        for v in &y {
            for k in 0..3 {
                e += v[k] * v[(k + 1) % 3];
            }
        }
        e
    }
}

mod fibonacci {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut a, mut b) = (x[0], x[1]);
        for i in 2..x.len() {
            for _ in 0..2 {
                let c = a * b + x[i];
                a = b;
                b = c;
            }
        }
        b
    }
}

mod matpow {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = [[x[0], x[1]], [x[2], x[3]]];
        let mut p = [[1.0, 0.0], [0.0, 1.0]];
        for _ in 0..5 {
            let q = p;
            for i in 0..2 {
                for j in 0..2 {
                    p[i][j] = 0.0;
                    for k in 0..2 {
                        p[i][j] += q[i][k] * m[k][j];
                    }
                }
            }
        }
        p[0][0] + p[0][1] * p[1][0]
    }
}

mod deep_four {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.1;
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..2 {
                    for l in 0..2 {
                        s += x[i] * x[j] * x[k + l] * (1.0 + 0.01 * s);
                    }
                    s *= 0.95;
                }
            }
        }
        s
    }
}

mod carried_array {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut z = [0.0; 4];
        for v in x {
            for k in (1..4).rev() {
                z[k] = z[k - 1];
            }
            z[0] = v * 1.0;
            let mut o = 0.0;
            for k in 0..4 {
                o += z[k] * x[k];
            }
            z[0] += 0.2 * o;
        }
        z[0] * z[3] + z[1]
    }
}

mod tuple_carried {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut t = (1.0, [0.5, 0.2]);
        for v in x {
            for k in 0..2 {
                t.1[k] += v * t.0;
                t.0 = t.1[1 - k] * 0.5 + 0.1;
            }
        }
        t.0 * t.1[0] + t.1[1]
    }
}

mod short_cond_bounds {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len();
        let mut s = 0.0;
        for i in 0..n {
            for k in 0..3 {
                if i + k >= 1 && i + k - 1 < n {
                    s += x[i + k - 1] * x[i];
                }
            }
        }
        s
    }
}

mod sum_method {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() / 3 {
            let n: f64 = (0..3).map(|k| x[3 * i + k] * x[k]).sum();
            let p: f64 = (0..2).map(|k| x[3 * i + k] + 1.0).product();
            let q = (0..3).fold(0.0, |a, k| a * 0.5 + x[3 * i + k] * n);
            s += n.sin() * p + q;
        }
        s
    }
}

mod moving_pair {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for i in 1..y.len() - 1 {
            for k in 0..2 {
                let d = y[i + k] - y[i + k - 1];
                y[i + k] -= 0.2 * d;
                y[i + k - 1] += 0.2 * d * d;
            }
        }
        y[0] * y[y.len() - 1] + y[1]
    }
}

mod short_of_const_list {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = [-0.7745966692414834, 0.0, 0.7745966692414834];
        let w = [0.5555555555555556, 0.8888888888888888, 0.5555555555555556];
        let mut s = 0.0;
        for i in 1..x.len() {
            let (a, b) = (x[i - 1], x[i]);
            for k in 0..3 {
                let t = 0.5 * (a + b) + 0.5 * (b - a) * n[k];
                s += 0.5 * (b - a) * w[k] * (t * t).exp();
            }
        }
        s
    }
}

mod jacobi {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = [0.0; 3];
        for _ in 0..8 {
            let mut v = u;
            for i in 0..3 {
                let mut r = x[i];
                for j in 0..3 {
                    if j != i {
                        r -= 0.2 * x[3 + (i + j) % 3] * u[j];
                    }
                }
                v[i] = r / (1.0 + x[3 + i] * x[3 + i]);
            }
            u = v;
        }
        u[0] + u[1] * u[2]
    }
}

mod gram_schmidt {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut q = [[0.0; 3]; 3];
        for i in 0..3 {
            for k in 0..3 {
                q[i][k] = x[3 * i + k] + if i == k { 1.0 } else { 0.0 };
            }
            for j in 0..i {
                let mut d = 0.0;
                for k in 0..3 {
                    d += q[i][k] * q[j][k];
                }
                for k in 0..3 {
                    q[i][k] -= d * q[j][k];
                }
            }
            let mut n = 0.0;
            for k in 0..3 {
                n += q[i][k] * q[i][k];
            }
            for k in 0..3 {
                q[i][k] /= n.sqrt();
            }
        }
        q[0][1] * q[1][2] + q[2][0] * q[2][2]
    }
}
