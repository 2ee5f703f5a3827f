//! Lists whose lengths differ from branch to branch and from round to round, and lists of lists that are returned early.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    program_j1: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j2: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_j10: [[20.0, 2.0]],
    program_i4: [[0.3, 1.2, 0.7]],
    program_i6: [[0.3, 1.2, 0.7], [-0.3, 1.0, 2.0]],
    program_i8: [[0.3, 1.2, 0.7], [-0.3, 1.0, 2.0, 0.4]],
    program_o6: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_o8: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_o9: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_o10: [[0.3, 1.2, 0.7], [-0.3, 1.2, 0.7]],
    program_k4: [[0.3, 1.2, 0.7]],
    program_k1: [[0.3, 1.2, 0.7]],
    program_k2: [[0.3, 1.2, 0.7]],
    program_k6: [[0.3, 1.2, 0.7]],
    program_k9: [[0.3, 1.2, 0.7]],
    program_l10: [[0.3, 1.2, 0.7]],
    program_w7: [[0.3, 0.4, 0.5], [1.0, 2.0, 0.7]],
    program_y14: [[20.0, 2.0], [1.0, 1.0]],
    program_n4: [[20.0, 2.0]],
    program_c3: [[0.0, 0.1, 1.0, 0.2, 1.1, 1.3, -0.2, 0.9], [0.3, 0.1, 1.0, 0.0, 0.5, 1.2]],
    program_t7: [[0.3, 1.2, 0.9], [3.0, 0.5, 1.0, 0.7]],
    program_r3: [[0.3, 1.2, 0.9, 0.3]],
    program_r6: [[0.3, 1.2, 0.9, 0.3]],
}

mod program_j1 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = x.to_vec();
            a = if x[0] > 0.0 {
                let mut b = vec![];
                b.push(a[0] * 2.0);
                b
            } else {
                a.clone()
            };
            a[0]
        }
    }
    pub use m::*;
}

mod program_j2 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = x.to_vec();
            let b = if x[0] > 0.0 {
                let mut b = vec![];
                b.push(a[0] * 2.0);
                b
            } else {
                a.clone()
            };
            a = b;
            a[0]
        }
    }
    pub use m::*;
}

mod program_j10 {
    #[stratape::differentiable]
    pub mod m {
        fn grow(x: &[f64]) -> Vec<Vec<f64>> {
            let mut out = vec![x.to_vec()];
            for k in 0..3 {
                let last = out[k].clone();
                let next: Vec<f64> = last.iter().map(|v| v * 1.1).collect();
                if x[0] > 9.0 {
                    return out;
                }
                out.push(next);
            }
            out
        }
        #[gradient(plain)]
        pub fn f(x: &[f64]) -> f64 {
            grow(x)[0][0].sin()
        }
    }
    pub use m::*;
}

mod program_i4 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = x.to_vec();
            for k in 0..3 {
                let b = if k == 1 {
                    let mut b = a.clone();
                    b.push(x[0]);
                    b
                } else {
                    a.iter().map(|v| v * 2.0).collect()
                };
                a = b;
            }
            a.iter().sum::<f64>() * a.len() as f64
        }
    }
    pub use m::*;
}

mod program_i6 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = x.to_vec();
            a = if x[0] > 0.0 {
                let mut b = Vec::new();
                for v in &a {
                    b.push(v * a[0]);
                }
                b
            } else {
                let mut c = a.clone();
                c.reverse();
                c
            };
            a.iter().enumerate().map(|(i, v)| v * i as f64).sum()
        }
    }
    pub use m::*;
}

mod program_i8 {
    #[stratape::differentiable]
    pub mod m {
        fn refine(p: &[(f64, f64)], tol: f64) -> Vec<(f64, f64)> {
            if p.len() > 6 {
                let mut q = Vec::new();
                for c in p.chunks(2) {
                    q.push(c[0]);
                }
                q
            } else {
                let mut q = vec![p[0]];
                for w in p.windows(2) {
                    if (w[1].1 - w[0].1).abs() > tol {
                        q.push(((w[0].0 + w[1].0) / 2.0, (w[0].1 * w[1].1)));
                    }
                    q.push(w[1]);
                }
                q
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<(f64, f64)> =
                x.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
            for _ in 0..4 {
                p = refine(&p, 0.3);
            }
            p.windows(2).map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0).sum()
        }
    }
    pub use m::*;
}

mod program_o6 {
    #[stratape::differentiable]
    pub mod m {
        fn step(a: &[f64], k: usize) -> Vec<f64> {
            if k % 2 == 0 {
                let mut b = a.to_vec();
                b.push(a[0] * a[1]);
                b
            } else {
                a.iter().skip(1).copied().collect()
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut a = x.to_vec();
            for k in 0..3 {
                a = step(&a, k);
            }
            a.iter().sum::<f64>() * a.len() as f64
        }
    }
    pub use m::*;
}

mod program_o8 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut m = vec![x.to_vec(), x.to_vec()];
            for k in 0..2 {
                m = if k == 0 {
                    let mut b = m.clone();
                    b.push(vec![x[0]; 2]);
                    b
                } else {
                    vec![m[0].clone(), m[m.len() - 1].clone()]
                };
            }
            m.iter().map(|r| r.iter().sum::<f64>() * r.len() as f64).sum()
        }
    }
    pub use m::*;
}

mod program_o9 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut m = vec![x.to_vec(), x.to_vec()];
            for k in 0..2 {
                let i = k;
                m[i] = if k == 0 {
                    let mut b = m[i].clone();
                    b.push(x[0]);
                    b
                } else {
                    m[i].iter().map(|v| v * v).collect()
                };
            }
            m.iter().map(|r| r.iter().sum::<f64>() * r.len() as f64).sum()
        }
    }
    pub use m::*;
}

mod program_o10 {
    #[stratape::differentiable]
    pub mod m {
        struct S {
            v: Vec<f64>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = S { v: x.to_vec() };
            for k in 0..2 {
                s.v = if k == 0 {
                    let mut b = s.v.clone();
                    b.push(x[0]);
                    b
                } else {
                    s.v.iter().map(|v| v * v).collect()
                };
            }
            for k in 0..2 {
                s = if k == 0 {
                    let mut b = s.v.clone();
                    b.push(x[1]);
                    S { v: b }
                } else {
                    S { v: s.v.iter().map(|v| v * 3.0).collect() }
                };
            }
            s.v.iter().sum::<f64>() * s.v.len() as f64
        }
    }
    pub use m::*;
}

mod program_k4 {
    #[stratape::differentiable]
    pub mod m {
        enum L {
            Pad(f64),
            Drop,
        }
        fn ap(l: &L, a: Vec<f64>) -> Vec<f64> {
            match l {
                L::Pad(v) => {
                    let mut b = a;
                    b.push(*v);
                    b
                }
                L::Drop => a[1..].to_vec(),
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let ls = [L::Pad(x[0]), L::Pad(x[1]), L::Drop];
            let mut a = vec![1.5 * x[2]];
            for l in &ls {
                a = ap(l, a);
            }
            a.iter().product()
        }
    }
    pub use m::*;
}

mod program_k1 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let out = (0..3).fold(vec![1.0, x[0]], |a, k| {
                let mut b = a.clone();
                b.push(a[k] * x[1]);
                b
            });
            out.iter().sum()
        }
    }
    pub use m::*;
}

mod program_k2 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let ws = vec![vec![x.to_vec(), x.to_vec()], vec![x.to_vec()]];
            let out = ws.iter().fold(vec![1.0, 0.5, 0.2], |a, w| {
                w.iter().map(|r| r.iter().zip(&a).map(|(p, q)| p * q).sum::<f64>()).collect()
            });
            out.iter().sum()
        }
    }
    pub use m::*;
}

mod program_k6 {
    #[stratape::differentiable]
    pub mod m {
        fn apply(w: &Vec<Vec<f64>>, a: Vec<f64>) -> Vec<f64> {
            w.iter().map(|r| r.iter().zip(&a).map(|(p, q)| p * q).sum()).collect()
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let net = vec![
                vec![vec![x[0], x[1]], vec![x[2], x[0]], vec![0.5, x[1]]],
                vec![vec![x[1], x[2], 1.0]],
            ];
            let out = net.iter().fold(vec![1.0, 0.5], |a, l| apply(l, a));
            out[0]
        }
    }
    pub use m::*;
}

mod program_k9 {
    #[stratape::differentiable]
    pub mod m {
        fn mul(a: &[f64], b: &[f64]) -> Vec<f64> {
            let mut c = vec![0.0; a.len() + b.len() - 1];
            for (i, p) in a.iter().enumerate() {
                for (j, q) in b.iter().enumerate() {
                    c[i + j] += p * q;
                }
            }
            c
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let p = x.iter().fold(vec![1.0], |acc, r| mul(&acc, &[-r, 1.0]));
            let t: f64 = std::iter::successors(Some(x[0]), |v| Some(v * 0.5)).take(4).sum();
            p.iter().enumerate().map(|(i, c)| c * (i + 1) as f64).sum::<f64>() + t
        }
    }
    pub use m::*;
}

mod program_l10 {
    #[stratape::differentiable]
    pub mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let out = (0..2).fold(vec![x[0], x[1], x[2]], |a, k| a[1..].to_vec());
            out.iter().sum::<f64>() * out.len() as f64
        }
    }
    pub use m::*;
}

mod program_w7 {
    #[stratape::differentiable]
    pub mod m {
        enum Layer {
            Dense(Vec<Vec<f64>>),
            Relu,
            Scale { by: f64 },
        }
        fn apply(l: &Layer, a: Vec<f64>) -> Vec<f64> {
            match l {
                Layer::Dense(w) => {
                    w.iter().map(|r| r.iter().zip(&a).map(|(p, q)| p * q).sum()).collect()
                }
                Layer::Relu => a.into_iter().map(|v| v.max(0.0)).collect(),
                Layer::Scale { by } => a.iter().map(|v| v * by).collect(),
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let net = vec![
                Layer::Dense(vec![vec![x[0], x[1]], vec![x[2], x[0]], vec![0.5, x[1]]]),
                Layer::Relu,
                Layer::Scale { by: x[2] },
                Layer::Dense(vec![vec![x[1], x[2], 1.0]]),
            ];
            let out = net.iter().fold(vec![1.0, 0.5], |a, l| apply(l, a));
            out[0]
        }
    }
    pub use m::*;
}

mod program_y14 {
    #[stratape::differentiable]
    pub mod m {
        fn grow(x: &[f64]) -> Vec<Vec<f64>> {
            let mut out = vec![x.to_vec()];
            for k in 0..3 {
                let last = out[k].clone();
                let next: Vec<f64> = last.iter().map(|v| v * 1.1).collect();
                if x[0] > 9.0 {
                    return out;
                }
                out.push(next);
            }
            out
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            grow(x)[0][0].sin()
        }
    }
    pub use m::*;
}

mod program_n4 {
    #[stratape::differentiable]
    pub mod m {
        fn grow(x: &[f64]) -> Vec<Vec<f64>> {
            let mut out = vec![x.to_vec()];
            for k in 0..3 {
                let last = out[k].clone();
                let next: Vec<f64> = last.iter().map(|v| v * 1.1).collect();
                if next[0] > 9.0 {
                    return out;
                }
                out.push(next);
            }
            out
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let rows = grow(x);
            let mut s = 0.0;
            for r in rows.iter() {
                s += r[0].sin();
            }
            s
        }
    }
    pub use m::*;
}

mod program_c3 {
    #[stratape::differentiable]
    pub mod m {
        #[derive(Clone)]
        pub struct Mesh {
            pub verts: Vec<Vec<f64>>,
            pub faces: Vec<[usize; 3]>,
            pub scale: f64,
        }
        impl Mesh {
            fn area(&self) -> f64 {
                let mut a = 0.0;
                for &[i, j, k] in &self.faces {
                    let (p, q, r) = (&self.verts[i], &self.verts[j], &self.verts[k]);
                    a +=
                        0.5 * ((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])).abs();
                }
                a * self.scale * self.scale
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut meshes: Vec<Mesh> = Vec::new();
            for s in 1..=3 {
                let verts: Vec<Vec<f64>> = x
                    .chunks_exact(2)
                    .map(|p| vec![p[0] * s as f64, p[1] + 0.1 * p[0] * p[1]])
                    .collect();
                let faces = (2..verts.len()).map(|i| [0, i - 1, i]).collect();
                meshes.push(Mesh { verts, faces, scale: x[0].exp() });
            }
            let last = meshes.pop().unwrap();
            meshes.insert(0, last);
            meshes[1].verts[0][0] *= 2.0;
            meshes.iter().enumerate().map(|(i, m)| m.area() * (i as f64 + 1.0)).sum()
        }
    }
    pub use m::*;
}

mod program_t7 {
    #[stratape::differentiable]
    pub mod m {
        fn pair(v: f64) -> Vec<f64> {
            vec![v, v * v]
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut rows: Vec<Vec<f64>> = x.iter().map(|&v| pair(v)).collect();
            rows[0].push(x[1]);
            let m = rows.clone();
            let all = vec![rows, m.clone(), vec![pair(x[0])]];
            let flat: Vec<f64> = all.concat().concat();
            flat.iter().enumerate().map(|(i, v)| v * (i as f64).sqrt()).sum::<f64>() * all[2][0][1]
        }
    }
    pub use m::*;
}

mod program_r3 {
    #[stratape::differentiable]
    pub mod m {
        pub struct M {
            pub v: Vec<Vec<f64>>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<M> = Vec::new();
            for s in 1..=3 {
                let v: Vec<Vec<f64>> =
                    x.chunks_exact(2).map(|p| vec![p[0] * s as f64, p[1]]).collect();
                p.push(M { v });
            }
            p[0].v[0][0] * p[1].v[0][1]
        }
    }
    pub use m::*;
}

mod program_r6 {
    #[stratape::differentiable]
    pub mod m {
        pub struct M {
            pub v: Vec<Vec<f64>>,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p: Vec<M> = Vec::new();
            for s in 1..=3 {
                let v: Vec<Vec<f64>> =
                    x.chunks_exact(2).map(|p| vec![p[0] * s as f64, p[1]]).collect();
                p.push(M { v });
            }
            let last = p.pop().unwrap();
            p.insert(0, last);
            p[0].v[0][0] * p[1].v[0][1]
        }
    }
    pub use m::*;
}
