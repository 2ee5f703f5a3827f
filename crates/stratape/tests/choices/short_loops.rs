//! Short loops of a known count inside other loops.

programs! {
    distance3: 9, product4: 8, carried_many: 6, nested_short: 9, short_ifs: 6, reversed_short: 8,
    arrays_of_arrays: 9, shadowed: 6, writes_memory: 8, zero_iterations: 4, one_iteration: 4, inclusive: 8,
    by_const: 9, horner: 8, stencil: 8, matvec: 9, rk4: 5, cross: 6, conv: 9, local_list: 8, short_while: 6,
    short_of_outer: 8,
}

mod distance3 {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / 3;
        let mut e = 0.0;
        for i in 0..n {
            for j in 0..i {
                let mut r2 = 0.01;
                for k in 0..3 {
                    let d = x[3 * i + k] - x[3 * j + k];
                    r2 += d * d;
                }
                e += 1.0 / r2.sqrt();
            }
        }
        e
    }
}

mod product4 {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() / 4 {
            let mut p = 1.0;
            for k in 0..4 {
                p *= x[4 * i + k] + 0.1 * p;
            }
            s += p * p;
        }
        s
    }
}

mod carried_many {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (mut a, mut b, mut c) = (1.0, 0.5, 0.25);
        for i in 0..x.len() {
            for k in 0..3 {
                let t = a * x[i] + b;
                a = b * 0.9;
                b = c + t.sin();
                c = t * (k as f64 + 1.0) * 0.2;
            }
        }
        a * b + c
    }
}

mod nested_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            for j in 0..2 {
                let mut t = x[i];
                for k in 0..3 {
                    t = t * x[(i + j + k) % x.len()] + 0.1;
                }
                s += t * (j as f64 + 1.0);
            }
            s *= 0.9;
        }
        s
    }
}

mod short_ifs {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let mut t = *v;
            for k in 0..4 {
                if t > 0.5 {
                    t = t * t;
                } else if k == 2 {
                    t += 0.3;
                } else {
                    t = 1.0 - t;
                }
            }
            s += t;
        }
        s
    }
}

mod reversed_short {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() / 4 {
            let mut h = 0.0;
            for k in (0..4).rev() {
                h = h * x[0] + x[4 * i + k];
            }
            for k in (1..=3).rev() {
                h -= x[k] * h * 0.1;
            }
            s += h * h;
        }
        s
    }
}

mod arrays_of_arrays {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] = x[3 * i + j];
            }
        }
        let mut p = m;
        for _ in 0..3 {
            let mut q = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    for k in 0..3 {
                        q[i][j] += p[i][k] * m[k][j];
                    }
                }
            }
            p = q;
        }
        p[0][0] + p[1][1] * p[2][0] + p[2][2]
    }
}

mod shadowed {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            let t = x[i];
            for i in 0..2 {
                let t = t * t + i as f64;
                let s2 = s;
                for i in 0..2 {
                    let t = t + i as f64;
                    s += t.sin();
                }
                s += t + s2 * 0.1;
            }
            s += t * i as f64;
        }
        s
    }
}

mod writes_memory {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        for i in 0..y.len() - 2 {
            for k in 0..3 {
                y[i + k] = y[i + k] * y[i] + 0.1;
            }
        }
        y.iter().map(|v| v * v).sum()
    }
}

mod zero_iterations {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const N: usize = 0;
        let mut s = 0.0;
        for v in x {
            let mut t = *v;
            for k in 0..N {
                t *= x[k];
            }
            for k in 3..2 {
                t += x[k];
            }
            for k in (0..0).rev() {
                t = x[k] * s;
            }
            s += t * t;
        }
        s
    }
}

mod one_iteration {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 1.0;
        for v in x {
            let mut t = *v;
            for k in 0..1 {
                t *= x[k] + s;
            }
            for _ in 2..=2 {
                t = t.sin();
            }
            s += t * t;
        }
        s
    }
}

mod inclusive {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 1..x.len() - 1 {
            let mut t = 0.0;
            for k in -1..=1_i32 {
                let j = (i as i32 + k) as usize;
                t += x[j] * (2.0 - (k * k) as f64);
            }
            s += t * t * x[i];
        }
        s
    }
}

mod by_const {
    const DIM: usize = 3;
    const LAST: usize = DIM - 1;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() / DIM {
            let mut t = [0.0; 3];
            for k in 0..DIM {
                t[k] = x[DIM * i + k] * x[k];
            }
            for k in 0..LAST {
                s += t[k] * t[k + 1];
            }
        }
        s
    }
}

mod horner {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let c = [x[0], x[1], x[2], x[3]];
        let mut s = 0.0;
        for i in 4..x.len() {
            let mut h = c[3];
            for k in 1..4 {
                h = h * x[i] + c[3 - k];
            }
            s += (h - 0.5) * (h - 0.5);
        }
        s
    }
}

mod stencil {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const W: [f64; 3] = [0.25, 0.5, 0.25];
        let mut u = x.to_vec();
        for _ in 0..4 {
            let mut v = vec![0.0; u.len()];
            for i in 0..u.len() {
                for k in 0..3 {
                    let j = (i + k + u.len() - 1) % u.len();
                    v[i] += W[k] * u[j] * (1.0 + 0.1 * u[i]);
                }
            }
            u = v;
        }
        u[0] * u[1] + u[2]
    }
}

mod matvec {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = [1.0, 0.5, 0.2];
        for _ in 0..x.len() {
            let mut w = [0.0; 3];
            for i in 0..3 {
                for j in 0..3 {
                    w[i] += x[3 * i + j] * v[j];
                }
            }
            let mut n = 0.0;
            for i in 0..3 {
                n += w[i] * w[i];
            }
            let n = n.sqrt() + 0.1;
            for i in 0..3 {
                v[i] = w[i] / n;
            }
        }
        v[0] + 2.0 * v[1] * v[2]
    }
}

mod rk4 {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = [x[0], x[1]];
        let h = 0.1;
        for _ in 0..5 {
            let mut k = [[0.0; 2]; 4];
            for s in 0..4 {
                let c = if s == 0 {
                    0.0
                } else if s == 3 {
                    1.0
                } else {
                    0.5
                };
                let mut z = y;
                if s > 0 {
                    for d in 0..2 {
                        z[d] += h * c * k[s - 1][d];
                    }
                }
                k[s][0] = x[2] * z[1] + x[4];
                k[s][1] = -x[3] * z[0] * z[1];
            }
            for d in 0..2 {
                y[d] += h / 6.0 * (k[0][d] + 2.0 * k[1][d] + 2.0 * k[2][d] + k[3][d]);
            }
        }
        y[0] * y[0] + y[1]
    }
}

mod cross {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut c = [0.0; 3];
        let mut s = 0.0;
        for _ in 0..x.len() / 2 {
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                c[i] += x[j] * x[3 + k] - x[k] * x[3 + j] + 0.1 * c[j];
            }
            for i in 0..3 {
                s += c[i] * c[i];
            }
        }
        s
    }
}

mod conv {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let (w, u) = x.split_at(3);
        let mut s = 0.0;
        for i in 0..u.len() - 2 {
            let mut a = 0.1;
            for k in 0..3 {
                a += w[k] * u[i + k];
            }
            s += if a > 0.6 { a } else { 0.0 };
        }
        s
    }
}

mod local_list {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() / 2 {
            let mut l = Vec::new();
            for k in 0..2 {
                l.push(x[2 * i + k] * x[k]);
            }
            for k in 0..2 {
                s += l[k] * l[1 - k] + l[k];
            }
        }
        s
    }
}

mod short_while {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            let mut k = 0;
            let mut t = *v;
            while k < 3 {
                t = t.sin() + 0.2 * v;
                k += 1;
            }
            let mut j = 2;
            while j > 0 {
                j -= 1;
                t *= x[j];
            }
            s += t;
        }
        s
    }
}

mod short_of_outer {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for k in 0..2 {
            for i in 0..x.len() {
                s += x[i] * x[(i * 2 + k) % x.len()] * (1.0 + 0.01 * s);
            }
        }
        for k in 0..4 {
            s = s * x[k] + 1.0;
        }
        s
    }
}
