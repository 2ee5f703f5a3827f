//! Constants of the same file: where they stand, what they are made of, and what else has their names.

#![allow(
    dead_code,
    unused,
    non_upper_case_globals,
    clippy::all,
    clippy::pedantic,
    reason = "programs as people write them"
)]

programs! {
    above: 8, above_module: 8, super_path: 8, super_glob: 8, made_of_others: 8, negative: 6, by_cast: 8,
    by_const_fn: 8, by_cfg: 6, same_names: 6, shadowed_by_local: 6, shadowed_by_parameter: 6,
    shadowed_by_generic: 6, shadowed_by_inner: 6, in_struct: 6, in_vec: 6, in_generic_argument: 6,
    in_patterns: 6, in_asserts: 6, nested_modules: 6,
}

mod above {
    const DIM: usize = 4;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut w = [0.0; DIM];
        for i in 0..x.len() / DIM {
            for k in 0..DIM {
                w[k] += x[DIM * i + k] * x[k];
            }
        }
        w[0] * w[DIM - 1] + w[1]
    }
}

mod above_module {
    const DIM: usize = 4;

    #[stratape::differentiable]
    mod inner {
        use super::DIM;

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut w = [0.0; DIM];
            for i in 0..x.len() / DIM {
                for k in 0..DIM {
                    w[k] += x[DIM * i + k] * x[k];
                }
            }
            w[0] * w[DIM - 1] + w[1]
        }
    }
    pub use inner::*;
}

mod super_path {
    const DIM: usize = 4;

    #[stratape::differentiable]
    mod inner {
        pub struct P {
            v: [f64; super::DIM],
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut p = P { v: [1.0; super::DIM] };
            for k in 0..super::DIM {
                p.v[k] *= x[k] + x[super::DIM + k];
            }
            p.v[0] * p.v[1] + p.v[super::DIM - 1]
        }
    }
    pub use inner::*;
}

mod super_glob {
    const DIM: usize = 4;
    const HALF: usize = DIM / 2;
    const SCALE: f64 = 1.5;

    #[stratape::differentiable]
    mod inner {
        use super::*;

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..HALF {
                let mut t = [0.0; DIM];
                for k in 0..DIM {
                    t[k] = x[DIM * i + k] * SCALE;
                }
                s += t[0] * t[HALF] * t[DIM - 1];
            }
            s
        }
    }
    pub use inner::*;
}

mod made_of_others {
    const N: usize = 4;
    const PAIRS: usize = N * (N - 1) / 2;
    const TOTAL: usize = PAIRS + N % 3 + (N << 1) - 7;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut p = [0.0; PAIRS];
        let mut k = 0;
        for i in 0..N {
            for j in 0..i {
                p[k] = x[i] * x[j];
                k += 1;
            }
        }
        let mut s = 0.0;
        for k in 0..PAIRS {
            s += p[k] * p[PAIRS - 1 - k];
        }
        s * TOTAL as f64 + x[TOTAL - 1]
    }
}

mod negative {
    const LOW: i32 = -2;
    const STEP: i64 = -(3 - 1);

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for k in LOW..=2 {
            s += x[(k - LOW) as usize] * (k as f64 + 0.5) * x[0];
        }
        s * x[1].powi(LOW) + STEP as f64 * x[2]
    }
}

mod by_cast {
    const N: i32 = 4;
    const M: usize = N as usize;
    const BYTE: u8 = 260_u32 as u8;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut y = [0.0; M];
        for i in 0..N as usize {
            y[i] = x[i] * x[M + i];
        }
        for i in 0..BYTE as usize {
            y[i] *= y[0] + 1.0;
        }
        y[1] * y[2] + y[3]
    }
}

mod by_const_fn {
    const fn triangle(n: usize) -> usize {
        n * (n + 1) / 2
    }
    const T: usize = triangle(3);

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..T {
            s += x[i] * x[T - 1 - i] * (s + 1.0);
        }
        s
    }
}

mod by_cfg {
    #[cfg(not(target_os = "none"))]
    const N: usize = 3;
    #[cfg(target_os = "none")]
    const N: usize = 2;
    #[cfg(target_pointer_width = "16")]
    const W: usize = 1;
    #[cfg(not(target_pointer_width = "16"))]
    const W: usize = 5;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 1.0;
        for i in 0..N {
            s *= x[i] + x[W];
        }
        s
    }
}

mod same_names {
    mod other {
        pub const N: usize = 5;
    }
    const N: usize = 2;
    mod third {
        pub const N: usize = 3;
        #[stratape::gradient]
        pub fn g(x: &[f64]) -> f64 {
            let mut s = 1.0;
            for i in 0..N {
                s *= x[i];
            }
            s
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[i];
        }
        for i in 0..other::N {
            s += x[i] * x[N];
        }
        s + third::N as f64 * x[third::N]
    }
}

mod shadowed_by_local {
    const n: usize = 2;
    const k: usize = 9;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..n {
            s += x[i] * x[i];
        }
        let g = |m: usize| x[m % x.len()] * x[0];
        s + g(k)
    }
}

mod shadowed_by_parameter {
    const SIZE: usize = 2;

    #[stratape::differentiable]
    fn sum_of<const SIZE: usize>(x: &[f64; SIZE]) -> f64 {
        let mut s = 0.0;
        for i in 0..SIZE {
            s += x[i] * x[i];
        }
        s
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a: [f64; 4] = [x[0], x[1], x[2], x[3]];
        sum_of(&a) * x[SIZE] + sum_of(&[x[4], x[5]])
    }
}

mod shadowed_by_generic {
    const N: usize = 2;

    #[stratape::differentiable]
    fn of<N: Copy + Into<f64>>(v: N) -> f64 {
        let w: f64 = v.into();
        w * w
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += of(x[i]) * x[N + i];
        }
        s
    }
}

mod shadowed_by_inner {
    const N: usize = 5;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const N: usize = 3;
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[i];
        }
        {
            const N: usize = 2;
            for i in 0..N {
                s *= x[i] + 1.0;
            }
        }
        s + N as f64 * x[N]
    }
}

#[stratape::differentiable]
mod in_struct {
    const N: usize = 3;

    #[derive(Clone, Copy)]
    struct S {
        v: [f64; N],
        m: [[f64; N]; N - 1],
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = S { v: [0.5; N], m: [[0.0; N]; N - 1] };
        for i in 0..N {
            s.v[i] *= x[i];
            s.m[i % (N - 1)][i] = x[N + i] * s.v[0];
        }
        let t = s;
        t.v[0] * t.m[0][2] + t.m[1][1] * t.v[2]
    }
}

mod in_vec {
    const N: usize = 3;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = vec![x[0]; N];
        let mut w = vec![vec![0.0; N]; N];
        for i in 0..N {
            v[i] *= x[i];
            w[i][N - 1 - i] = v[i] * x[N + i];
        }
        v.resize(N + 2, x[1]);
        v.truncate(N + 1);
        let c: Vec<f64> = Vec::with_capacity(N);
        v[N] * w[0][2] + w[1][1] * w[2][0] + c.len() as f64
    }
}

#[stratape::differentiable]
mod in_generic_argument {
    const N: usize = 3;

    fn dot<const K: usize>(a: &[f64; K], b: &[f64; K]) -> f64 {
        let mut s = 0.0;
        for i in 0..K {
            s += a[i] * b[i];
        }
        s
    }

    fn first<const K: usize>(x: &[f64]) -> f64 {
        x.iter().take(K).product()
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a: [f64; N] = [x[0], x[1], x[2]];
        let b: [f64; N] = x[N..2 * N].try_into().unwrap();
        dot::<N>(&a, &b) * first::<N>(x) + first::<{ N - 1 }>(x)
    }
}

mod in_patterns {
    const ZERO: usize = 0;
    const TWO: usize = 2;
    const LOW: i32 = -1;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += match i {
                ZERO => x[i] * x[1],
                1 | TWO => x[i] * x[i],
                _ => x[i],
            };
            s += match i as i32 - 2 {
                LOW => x[0],
                LOW..=TWO_I => x[1] * x[2],
                _ => 0.0,
            };
            if let ZERO = i % 3 {
                s *= x[0];
            }
            if matches!((i, i % 2), (_, ZERO)) {
                s += x[3];
            }
        }
        s
    }
    const TWO_I: i32 = 2;
}

mod in_asserts {
    const N: usize = 3;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        assert!(x.len() >= N, "at least {N} numbers, not {}", x.len());
        assert_eq!(N, 3, "N is {N}");
        debug_assert!(N < 10, "{}", N);
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N - 1 - i];
        }
        if s < -1.0e9 {
            panic!("{N} {}", N + 1);
        }
        s
    }
}

mod nested_modules {
    const N: usize = 2;

    #[stratape::differentiable]
    mod outer {
        const N: usize = 3;

        mod inner {
            const N: usize = 1;
            pub fn g(x: &[f64]) -> f64 {
                let mut s = 0.0;
                for i in 0..N {
                    s += x[i] * x[super::N] * x[super::super::N];
                }
                s
            }
            pub mod deep {
                use super::super::super::N as OUTERMOST;
                use super::super::N;
                pub fn h(x: &[f64]) -> f64 {
                    x[N] * x[OUTERMOST] + N as f64 * x[0]
                }
            }
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            inner::g(x) + inner::deep::h(x) * x[N] * x[super::N]
        }
    }
    pub use outer::*;
}
