//! Loops under `#[checkpoint]` whose state is lists of structs and options.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    checkpoint_list_of_structs: 4,
    checkpoint_options: 4,
    checkpoint_reads_points: 6,
    checkpoint_structs: 4,
}

#[stratape::differentiable]
mod checkpoint_list_of_structs {
    #[derive(Clone, Copy)]
    struct P {
        x: f64,
        v: [f64; 2],
        hits: usize,
    }
    struct Wall {
        at: f64,
        k: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut ps: Vec<P> = x.chunks(2).map(|c| P { x: c[0], v: [c[1], 0.1], hits: 0 }).collect();
        let walls = vec![Wall { at: 0.1 * x[0], k: 2.0 }, Wall { at: 1.5, k: x[1] }];
        #[checkpoint(slots = 3)]
        for t in 0..12 {
            for p in ps.iter_mut() {
                for w in &walls {
                    p.v[0] -= 0.05 * w.k * (p.x - w.at);
                }
                p.x += 0.1 * p.v[0];
                p.v[1] += p.x.sin();
                if p.x > 1.0 {
                    p.hits += 1;
                }
            }
            if t % 4 == 3 {
                ps.swap(0, 1);
            }
        }
        ps.iter().map(|p| p.x * p.x + p.v[1] + p.hits as f64 * p.v[0]).sum()
    }
}

#[stratape::differentiable]
mod checkpoint_options {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: [Option<f64>; 2] = [None, Some(x[3])];
        let mut s = x[0];
        #[checkpoint(slots = 2)]
        for t in 0..9 {
            s = s.sin() + x[1] * 0.3;
            if t % 3 == 1 {
                best[t % 2] = Some(s * x[2]);
            }
            if let Some(b) = best[(t + 1) % 2] {
                s += 0.1 * b;
            }
        }
        s + best[0].unwrap_or(0.0) * best[1].unwrap_or(1.0)
    }
}

#[stratape::differentiable]
mod checkpoint_reads_points {
    #[derive(Clone, Copy)]
    struct Source {
        at: [f64; 2],
        q: f64,
    }
    fn go(sources: &[Source], x0: f64, steps: usize) -> f64 {
        let (mut p, mut v) = ([x0, 0.5], [0.0, 0.1]);
        #[checkpoint(slots = 4)]
        for _ in 0..steps {
            for s in sources {
                for k in 0..2 {
                    let d = s.at[k] - p[k];
                    v[k] += 0.05 * s.q * d / (d * d + 0.3);
                }
            }
            for k in 0..2 {
                p[k] += 0.1 * v[k];
            }
        }
        p[0] * p[1] + v[0]
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let sources: Vec<Source> =
            x.chunks_exact(3).map(|c| Source { at: [c[0], c[1]], q: c[2] }).collect();
        go(&sources, x[0], 15)
    }
}

#[stratape::differentiable]
mod checkpoint_structs {
    #[derive(Clone, Copy)]
    struct P {
        x: f64,
        v: f64,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut ps: Vec<P> = x.chunks(2).map(|c| P { x: c[0], v: c[1] }).collect();
        #[checkpoint(slots = 3)]
        for _ in 0..10 {
            for p in ps.iter_mut() {
                p.v -= 0.1 * p.x.sin();
                p.x += 0.1 * p.v;
            }
        }
        ps.iter().map(|p| p.x * p.x + p.v).sum()
    }
}
