//! States that are lists: of `successors` and folds, and arrays of lists that branches yield.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    program_r5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_r9: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_b3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_f2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_f3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_f4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_f5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_f6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_f11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_h4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_h5: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_h11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j3: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j11: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_l4: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_l6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_l7: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_l13: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_n2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_n8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_p14: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
}

mod program_r5 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = x[0];
            for v in std::iter::successors(Some(vec![x[0]]), |v| Some(vec![v[0] * x[1]])).take(2) {
                s += v[0];
            }
            s
        }
    }
    pub use m::*;
}

mod program_r6 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let (_, b) = (0..1).fold((vec![x[0]], vec![x[1]]), |(a, b), _| (b, a));
            b[0]
        }
    }
    pub use m::*;
}

mod program_r1 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let c = if x[0] > 0.0 {
                [vec![x[0]], vec![x[1], x[2]]]
            } else {
                [vec![x[1]; 3], vec![x[0]]]
            };
            c[0].iter().sum::<f64>() + 2.0 * c[1].iter().sum::<f64>() + x[0]
        }
    }
    pub use m::*;
}

mod program_r2 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = [vec![x[0]], vec![x[1]]];
            for k in 0..2 {
                a = [vec![x[k]], vec![x[2]]];
            }
            x[0] + a.iter().flatten().sum::<f64>()
        }
    }
    pub use m::*;
}

mod program_r3 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let c =
                if x[0] > 0.0 { [x.to_vec(), x.to_vec()] } else { [vec![x[1]; 3], vec![x[0]; 3]] };
            c[0][0] + 2.0 * c[1][2]
        }
    }
    pub use m::*;
}

mod program_r7 {
    #[stratape::differentiable]
    pub mod m {
        struct S {
            a: [Vec<f64>; 2],
            k: f64,
        }
        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let s = if x[0] > 0.0 {
                S { a: [vec![x[0]], vec![x[1]]], k: 1.0 }
            } else {
                S { a: [vec![x[1]; 2], vec![x[2]]], k: x[0] }
            };
            s.k * s.a[0].iter().sum::<f64>() + s.a[1].iter().sum::<f64>() + x[0]
        }
    }
    pub use m::*;
}

mod program_r8 {
    #[stratape::differentiable]
    pub mod m {
        fn g(x: &[f64]) -> [Vec<f64>; 2] {
            let v: Vec<f64> = x.iter().map(|t| t * t).collect();
            if x[0] > 0.0 { [v, x.to_vec()] } else { [x.to_vec(), v] }
        }
        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let [p, q] = g(x);
            p.iter().sum::<f64>() + 3.0 * q.iter().sum::<f64>() + x[0]
        }
    }
    pub use m::*;
}

mod program_r9 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            let o = if x[0] > 0.0 { Some([vec![x[0]], vec![x[1], x[2]]]) } else { None };
            match &o {
                Some([a, b]) => a[0] * b[1] * b.len() as f64,
                None => x[1],
            }
        }
    }
    pub use m::*;
}

mod program_b3 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let v = std::iter::successors(Some(x.to_vec()), |v| {
                if v.len() > 1 {
                    Some(v.windows(2).map(|w| w[0] * w[1] + w[1]).collect())
                } else {
                    None
                }
            });
            v.map(|r| r.iter().sum::<f64>() * r.len() as f64).sum::<f64>()
        }
    }
    pub use m::*;
}

mod program_f2 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for r in
                std::iter::successors(Some(x.to_vec()), |v| (v.len() > 1).then(|| v[1..].to_vec()))
            {
                s += r[0] * r.len() as f64;
            }
            s
        }
    }
    pub use m::*;
}

mod program_f3 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            std::iter::successors(Some(vec![x[0]]), |v| {
                let mut w = v.clone();
                w.push(v[0] * x[1]);
                Some(w)
            })
            .take(3)
            .map(|v| v.iter().sum::<f64>() * v.len() as f64)
            .sum()
        }
    }
    pub use m::*;
}

mod program_f4 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            std::iter::successors(Some((x.to_vec(), 0)), |(v, k)| {
                if *k < 2 {
                    Some((v.iter().skip(1).map(|t| t * x[1]).collect(), k + 1))
                } else {
                    None
                }
            })
            .map(|(v, k)| v.iter().sum::<f64>() * (v.len() + k) as f64)
            .sum()
        }
    }
    pub use m::*;
}

mod program_f5 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let rows: Vec<Vec<f64>> = std::iter::successors(Some(x.to_vec()), |v| {
                if v.len() > 1 { Some(v.windows(2).map(|w| w[1] - w[0]).collect()) } else { None }
            })
            .collect();
            rows.iter().map(|r| r[0] * r.len() as f64).sum::<f64>() * rows.len() as f64
        }
    }
    pub use m::*;
}

mod program_f6 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            std::iter::successors(Some(vec![x[0], x[1]]), |v| Some(vec![v[1], v[0] * v[1]]))
                .take(4)
                .map(|v| v[0] + 2.0 * v[1])
                .sum()
        }
    }
    pub use m::*;
}

mod program_f11 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, n) = std::iter::successors(Some(x.to_vec()), |v| {
                if v.len() > 1 { Some(v[1..].to_vec()) } else { None }
            })
            .fold((0.0, 0), |(a, n), v| (a + v[0] * v.len() as f64, n + v.len()));
            a * n as f64
        }
    }
    pub use m::*;
}

mod program_h4 {
    #[stratape::differentiable]
    pub mod m {
        #[derive(Clone)]
        struct S {
            a: f64,
            c: Vec<f64>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            std::iter::successors(Some(S { a: x[0], c: x.to_vec() }), |s| {
                Some(S { a: s.a * s.c[0], c: s.c.iter().map(|t| t * s.a).collect() })
            })
            .take(3)
            .map(|s| s.a * s.c[1])
            .sum()
        }
    }
    pub use m::*;
}

mod program_h5 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut prev = vec![0.0; 3];
            let mut s = 0.0;
            for v in std::iter::successors(Some(x.to_vec()), |v| {
                Some(v.iter().map(|t| t * 0.5).collect())
            })
            .take(3)
            {
                s += v[0] * prev[1] + v[1];
                prev = v;
            }
            s
        }
    }
    pub use m::*;
}

mod program_h11 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) = x.iter().fold((vec![], vec![x[0]]), |(mut a, mut b), t| {
                if *t > 0.5 {
                    a.push(*t);
                } else {
                    b.push(t * t);
                }
                (b, a)
            });
            a.iter().sum::<f64>() * a.len() as f64 + b.iter().product::<f64>() * b.len() as f64
        }
    }
    pub use m::*;
}

mod program_j1 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) = x.iter().fold((vec![x[0]], vec![x[1], x[2]]), |(a, b), t| (b, a));
            a.iter().sum::<f64>() * a.len() as f64 + b.iter().product::<f64>() * b.len() as f64
        }
    }
    pub use m::*;
}

mod program_j2 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) = x.iter().fold((vec![x[0]], vec![x[1]]), |(a, b), t| (b, a));
            a[0] + 2.0 * b[0]
        }
    }
    pub use m::*;
}

mod program_j3 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) = x.iter().fold((vec![0.0; 2], vec![x[0]; 2]), |(mut a, mut b), t| {
                a[0] += t * b[1];
                b[1] *= 1.1;
                (b, a)
            });
            a[0] + 2.0 * b[0] + 3.0 * a[1] + 4.0 * b[1]
        }
    }
    pub use m::*;
}

mod program_j4 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) = x.iter().fold((vec![], vec![]), |(mut a, b), t| {
                a.push(*t);
                (b, a)
            });
            a.iter().sum::<f64>() * a.len() as f64 + b.iter().product::<f64>() * b.len() as f64
        }
    }
    pub use m::*;
}

mod program_j7 {
    #[stratape::differentiable]
    pub mod m {
        struct S {
            p: Vec<f64>,
            q: Vec<f64>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let s = x.iter().fold(S { p: vec![x[0]], q: vec![] }, |s, t| {
                let S { p, mut q } = s;
                q.push(*t);
                S { p: q, q: p }
            });
            s.p.iter().sum::<f64>() * s.p.len() as f64
                + s.q.iter().product::<f64>() * s.q.len() as f64
        }
    }
    pub use m::*;
}

mod program_j11 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let v = (0..3)
                .fold((x.to_vec(), vec![0.0; 3]), |(cur, mut next), k| {
                    for i in 0..3 {
                        next[i] = cur[i] * x[k] + cur[(i + 1) % 3];
                    }
                    (next, cur)
                })
                .0;
            v[0] + 2.0 * v[1] + 3.0 * v[2]
        }
    }
    pub use m::*;
}

mod program_l4 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = [x.to_vec(), vec![x[1]; 3]];
            for k in 0..3 {
                let [p, q] = a;
                a = [q, p];
                a[0][k] *= 2.0 + a[1][0];
                if x[k] < 0.0 {
                    a.reverse();
                }
            }
            a[0][0] + 2.0 * a[0][1] + 3.0 * a[1][0] * a[1][2]
        }
    }
    pub use m::*;
}

mod program_l6 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) = x.iter().rfold((vec![x[0]; 2], vec![x[1]; 2]), |(mut a, b), t| {
                a[0] = a[0] * t + b[1];
                (b, a)
            });
            a[0] + 2.0 * b[0] + 3.0 * a[1]
        }
    }
    pub use m::*;
}

mod program_l7 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let r = x.iter().try_fold((vec![x[0]; 2], vec![x[1]; 2]), |(mut a, b), t| {
                a[0] = a[0] * t + b[1];
                if a[0] > 50.0 { None } else { Some((b, a)) }
            });
            let (a, b) = r.unwrap();
            a[0] + 2.0 * b[0] + 3.0 * a[1]
        }
    }
    pub use m::*;
}

mod program_l13 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (v, _) = (0..2).fold((x.to_vec(), x.to_vec()), |(u, v), _| {
                (v.iter().zip(&u).map(|(a, b)| a + b * x[1]).collect::<Vec<_>>(), u)
            });
            v[0] + v[1] * v[2]
        }
    }
    pub use m::*;
}

mod program_n2 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = [x.to_vec(), vec![x[1]; 3]];
            for k in 0..3 {
                let [p, q] = a;
                a = [q, p];
            }
            a[0][0] + 2.0 * a[1][0]
        }
    }
    pub use m::*;
}

mod program_n8 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = [vec![x[0]], vec![x[1]; 3]];
            for k in 0..3 {
                a = [a[1].clone(), a[0].clone()];
                a[0][0] += x[2];
            }
            a[0][0] * a[0].len() as f64 + 2.0 * a[1][0]
        }
    }
    pub use m::*;
}

mod program_p14 {
    #[stratape::differentiable]
    pub mod m {

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (a, b) =
                x.iter().fold((vec![vec![x[0]]], vec![vec![x[1], x[2]]]), |(a, mut b), t| {
                    b.push(vec![*t]);
                    (b, a)
                });
            a.len() as f64 * a[0][0] + 2.0 * b.concat().iter().sum::<f64>()
        }
    }
    pub use m::*;
}
