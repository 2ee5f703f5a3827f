//! `vec![…]` inside tuples, structs and lists, and numbers that slice patterns copy.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    program_j9: [[0.3, 1.2]],
    program_l12: [[0.3, 1.2, 0.7]],
    program_j6: [[0.3, 1.2]],
    program_j7: [[0.3, 1.2]],
    program_j8: [[0.3, 1.2]],
    program_v2: [[0.3, 1.2]],
    program_v3: [[0.3, 1.2]],
    program_v5: [[0.3, 1.2]],
    program_v6: [[0.3, 1.2]],
    program_w5: [[0.3, 0.4, 0.5], [1.0, 2.0, 0.7, 0.2]],
    program_w6: [[0.3, 0.4, 0.5], [1.0, 2.0]],
    program_x7: [[0.3, 1.2, 0.7]],
    program_x8: [[0.3, 1.2, 0.7]],
    program_x9: [[0.3, 1.2, 0.7]],
    program_v7: [[0.3, 1.2, 0.9]],
    program_v8: [[0.3, 1.2, 0.9]],
    program_v10: [[0.3, 1.2, 0.9], [0.7, 1.2, 0.9]],
    program_v11: [[0.3, 1.2, 0.9]],
    program_t1: [[0.3, 1.2, 0.9]],
    program_t2: [[0.3, 1.2, 0.9]],
    program_t3: [[0.3, 1.2, 0.9]],
    program_f8: [[0.3, 1.2, 0.9]],
    program_q3: [[0.3, 1.2, 0.9]],
    program_r7: [[0.3, 1.2, 0.9]],
    program_y8: [[0.3, 1.2, 0.7]],
    program_s1: [[0.3, 1.2, 0.9, 0.3]],
    program_s2: [[0.3, 1.2, 0.9, 0.3]],
    program_s4: [[0.3, 1.2, 0.9, 0.3]],
    program_s5: [[0.3, 1.2, 0.9, 0.3]],
    program_u1: [[100.0, 0.04, 2.0, 0.05, 0.1, -0.5]],
}

mod program_j6 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let mut y = x.to_vec();
            let [a, b] = y[..] else { return 0.0 };
            y[0] = b;
            a
        }
    }
    pub use m::*;
}

mod program_j7 {
    #[stratape::differentiable]
    pub mod m {
        fn swap(p: &mut [f64]) {
            if let [a, b] = *p {
                p[0] = b;
                p[1] = a;
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut y = x.to_vec();
            swap(&mut y);
            y[0] * 10.0 + y[1]
        }
    }
    pub use m::*;
}

mod program_j8 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let p = vec![(1, vec![x[0], x[1]]), (2, vec![x[1]])];
            x[0] * p[1].1.len() as f64
        }
    }
    pub use m::*;
}

mod program_v2 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let [a, b] = *x else { unreachable!() };
            let mut s = a;
            s *= b;
            s * a
        }
    }
    pub use m::*;
}

mod program_v3 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let &[a, b] = x else { unreachable!() };
            let (mut s, mut v) = (a, b);
            for _ in 0..2 {
                s *= v;
                v += 1.0;
            }
            s * v + a
        }
    }
    pub use m::*;
}

mod program_v5 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut y = x.to_vec();
            let [a, b] = y[..] else { return 0.0 };
            y[0] = 5.0 * x[1];
            y[1] *= y[0];
            a * b + y[0] * y[1] + a
        }
    }
    pub use m::*;
}

mod program_v6 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut y = x.to_vec();
            match y[..] {
                [a, b, ..] => {
                    y[0] = 5.0 * x[1];
                    y[1] *= y[0];
                    a * b + y[0] * y[1] + a
                }
                _ => 0.0,
            }
        }
    }
    pub use m::*;
}

mod program_w5 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for w in x.windows(2) {
                let [mut a, b] = *w else { continue };
                a += b * b;
                a *= a;
                s += a * w[0];
            }
            for c in x.chunks_exact(2) {
                if let [mut p, q] = *c {
                    p *= q;
                    s += p + c[0];
                }
            }
            s
        }
    }
    pub use m::*;
}

mod program_w6 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            match x {
                [a] => a * a,
                [a, b] => {
                    let mut s = *a;
                    s *= b;
                    s + a
                }
                &[a, ref rest @ ..] => {
                    let mut s = a;
                    for r in rest {
                        s *= r;
                    }
                    s + a
                }
                [] => 0.0,
            }
        }
    }
    pub use m::*;
}

mod program_x7 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut y = x.to_vec();
            for i in 0..y.len() - 1 {
                if let [a, b] = y[i..i + 2] {
                    y[i] = b * 2.0;
                    y[i + 1] = a * b;
                }
            }
            y[0] * y[1] * y[y.len() - 1]
        }
    }
    pub use m::*;
}

mod program_x8 {
    #[stratape::differentiable]
    pub mod m {
        fn sw(p: &mut [f64]) {
            let [a, b] = *p else { return };
            p[0] = b;
            p[1] = a;
        }
        fn sw3(p: &mut [f64; 3]) {
            let [a, b, c] = *p;
            *p = [c, a, b * a];
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut y = x.to_vec();
            sw(&mut y[..2]);
            let mut z = [x[0], x[1], 1.5];
            sw3(&mut z);
            y[0] * 10.0 + y[1] + z[0] + 3.0 * z[1] * z[2]
        }
    }
    pub use m::*;
}

mod program_x9 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut rows = vec![x.to_vec(), x.to_vec()];
            for r in rows.iter_mut() {
                if let &mut [a, b, ..] = &mut r[..] {
                    r[0] = a * b;
                    r[1] = a + b;
                }
            }
            let [ref p, ref q] = rows[..] else { return 0.0 };
            p[0] * q[1]
        }
    }
    pub use m::*;
}

mod program_v7 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let p = vec![(vec![x[0], x[1]], x[1]), (vec![x[2]], x[0])];
            p.iter().map(|(v, s)| s * v.iter().sum::<f64>() * v.len() as f64).sum()
        }
    }
    pub use m::*;
}

mod program_v8 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p = Vec::new();
            p.push((vec![x[0], x[1]], x[1]));
            for v in x {
                p.push((vec![*v], v * v));
            }
            p.iter().map(|(v, s)| s * v.iter().sum::<f64>() * v.len() as f64).sum()
        }
    }
    pub use m::*;
}

mod program_v10 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p = [vec![x[0], x[1]], vec![x[2]]];
            p[0] = vec![x[0]; 4];
            p[1].push(x[0]);
            let mut o = Some(vec![x[0], x[1]]);
            if x[0] > 0.5 {
                o = Some(vec![x[2]]);
            }
            p.iter().map(|v| v.iter().product::<f64>() * v.len() as f64).sum::<f64>()
                + o.unwrap().iter().sum::<f64>()
        }
    }
    pub use m::*;
}

mod program_v11 {
    #[stratape::differentiable]
    pub mod m {
        struct G {
            edges: Vec<(Vec<f64>, f64)>,
            pts: Vec<[Vec<f64>; 2]>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut g = G {
                edges: vec![(vec![x[0], x[1]], x[1])],
                pts: vec![[vec![x[0]], vec![x[1], x[2]]]],
            };
            g.edges.push((vec![x[2]], x[0]));
            g.pts.push([vec![x[2], x[1]], vec![]]);
            g.edges.iter().map(|(v, s)| s * v.iter().sum::<f64>() * v.len() as f64).sum::<f64>()
                + g.pts
                    .iter()
                    .map(|[a, b]| a.iter().sum::<f64>() * (b.len() as f64 + b.iter().sum::<f64>()))
                    .sum::<f64>()
        }
    }
    pub use m::*;
}

mod program_t1 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<(Vec<f64>, f64)> = vec![(vec![x[0]], x[1])];
            p.push((vec![x[2], x[1]], x[0]));
            p.iter().map(|(v, s)| s * v.iter().sum::<f64>() * v.len() as f64).sum()
        }
    }
    pub use m::*;
}

mod program_t2 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<(Vec<f64>, f64)> = vec![(vec![x[0], x[1]], x[1])];
            p.insert(0, (vec![x[2]], x[0]));
            p.iter().map(|(v, s)| s * v.iter().sum::<f64>() * v.len() as f64).sum()
        }
    }
    pub use m::*;
}

mod program_t3 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<(Vec<f64>, f64)> = vec![(vec![x[0]], x[1]); 3];
            p[1] = (vec![x[2], x[1] * x[2]], x[0]);
            p[2].0 = vec![];
            let q = std::mem::replace(&mut p[0], (vec![1.0, x[0], x[1]], 2.0));
            p.iter().map(|(v, s)| s * v.iter().sum::<f64>() * v.len() as f64).sum::<f64>()
                + q.0[0] * q.1
        }
    }
    pub use m::*;
}

mod program_f8 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut t: Vec<Vec<Vec<f64>>> = vec![vec![vec![x[0]]]];
            t.insert(0, vec![vec![x[1], x[2]], vec![]]);
            t[0][1].push(x[0] * x[1]);
            let mut p: Vec<(Vec<f64>, f64)> = vec![(vec![x[0]], x[1])];
            p.insert(1, (vec![x[2]; 2], x[0]));
            t[0][0][1] * t[1][0][0] + t[0][1][0] + p[1].0[1] * p[1].1 * p[0].1
        }
    }
    pub use m::*;
}

mod program_q3 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<(Vec<f64>, f64)> = vec![(vec![x[0]], x[1])];
            p.insert(1, (vec![x[2]; 2], x[0]));
            p[1].0[1] * p[1].1 * p[0].1
        }
    }
    pub use m::*;
}

mod program_r7 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<(Vec<f64>, f64)> = vec![(vec![x[0]], x[1])];
            p.insert(0, (vec![x[2], x[1]], x[0]));
            p[0].0[1] * p[0].1 * p[1].1 * p[1].0[0]
        }
    }
    pub use m::*;
}

mod program_y8 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let jobs: Vec<(usize, Vec<f64>)> =
                vec![(1, vec![x[0]]), (0, vec![x[1], x[2]]), (2, vec![])];
            let mut s = 0.0;
            for (k, v) in &jobs {
                s += (*k as f64 + 1.0) * v.iter().map(|t| t * t).sum::<f64>() + v.len() as f64;
            }
            s
        }
    }
    pub use m::*;
}

mod program_s1 {
    #[stratape::differentiable]
    pub mod m {
        pub struct M {
            pub v: Vec<Vec<f64>>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<M> = Vec::new();
            for s in 0..2 {
                let v: Vec<Vec<f64>> = x.iter().map(|a| vec![*a]).collect();
                p.push(M { v });
            }
            p[0].v[0][0] * p[1].v[1][0]
        }
    }
    pub use m::*;
}

mod program_s2 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<Vec<Vec<f64>>> = Vec::new();
            for s in 0..2 {
                let v: Vec<Vec<f64>> = x.iter().map(|a| vec![*a]).collect();
                p.push(v);
            }
            p[0][0][0] * p[1][1][0]
        }
    }
    pub use m::*;
}

mod program_s4 {
    #[stratape::differentiable]
    pub mod m {
        pub struct M {
            pub v: Vec<Vec<f64>>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<M> = Vec::new();
            let v: Vec<Vec<f64>> = x.iter().map(|a| vec![*a]).collect();
            p.push(M { v });
            p[0].v[0][0] * p[0].v[1][0]
        }
    }
    pub use m::*;
}

mod program_s5 {
    #[stratape::differentiable]
    pub mod m {
        pub struct M {
            pub v: Vec<Vec<f64>>,
            b: f64,
        }
        impl M {
            fn new(x: &[f64], k: f64) -> Self {
                let v = x.iter().map(|a| vec![a * k]).collect();
                M { v, b: k }
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<M> = Vec::new();
            for s in 0..2 {
                p.push(M::new(x, s as f64 + 1.0));
            }
            let q: Vec<M> = (0..3).map(|s| M::new(x, s as f64 + 0.5)).collect();
            p[0].v[0][0] * p[1].v[1][0] + q[2].v[0][0]
        }
    }
    pub use m::*;
}

mod program_u1 {
    #[stratape::differentiable]
    pub mod m {
        struct Rng(u64);
        impl Rng {
            fn next(&mut self) -> f64 {
                self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
            }
            fn normal(&mut self) -> f64 {
                let (u, v) = (self.next(), self.next());
                (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let [s0, v0, kappa, theta, xi, rho] = *x else { unreachable!() };
            let mut rng = Rng(42);
            let (n, m) = (40, 10);
            let dt = 1.0 / m as f64;
            let mut payoff = 0.0;
            for _ in 0..n {
                let (mut s, mut v) = (s0, v0);
                for _ in 0..m {
                    let z1 = rng.normal();
                    let z2 = rho * z1 + (1.0 - rho * rho).sqrt() * rng.normal();
                    let vp = v.max(0.0);
                    s *= (-0.5 * vp * dt + (vp * dt).sqrt() * z1).exp();
                    v += kappa * (theta - vp) * dt + xi * (vp * dt).sqrt() * z2;
                }
                payoff += (s - 100.0).max(0.0);
            }
            payoff / n as f64
        }
    }
    pub use m::*;
}

mod program_l12 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let v = x.iter().fold(vec![1.0], |mut v, t| {
                v.push(t * v[v.len() - 1]);
                v
            });
            v.iter().sum::<f64>() * v.len() as f64
        }
    }
    pub use m::*;
}

mod program_j9 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let v = x.iter().fold(vec![1.0], |v, t| vec![*t, 2.0]);
            v.len() as f64 * x[0]
        }
    }
    pub use m::*;
}
