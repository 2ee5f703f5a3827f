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
    const_in_checkpoint: 6, const_in_parallel: 6, closure_len: 6, macro_const: 6, scoped_consts: 6,
    underscore_const: 6,
}

mod const_in_checkpoint {
    const STEPS: usize = 7;
    const SLOTS: usize = 2;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = x.to_vec();
        #[checkpoint(slots = SLOTS)]
        for t in 0..STEPS {
            u[t % SLOTS] = u[SLOTS] * u[t % SLOTS] + 0.1 * t as f64;
            u[SLOTS] = u[0].sin() * STEPS as f64 * 0.1;
        }
        u[0] * u[SLOTS]
    }
}

mod const_in_parallel {
    const W: usize = 2;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let n = x.len() / W;
        let mut y = vec![0.0; W * n];
        #[parallel]
        for i in 0..n {
            for k in 0..W {
                y[W * i + k] = x[W * i + k] * x[k];
            }
        }
        y.iter().map(|v| v * v).sum()
    }
}

mod closure_len {
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let g = |v: [f64; N]| v[0] * v[N - 1];
        let h = |i: usize| [x[i]; N];
        g([x[0], x[1], x[2]]) + g(h(3)) * h(1)[N - 1]
    }
}

mod macro_const {
    macro_rules! size {
        ($name:ident = $v:expr) => {
            const $name: usize = $v;
        };
    }
    size!(N = 3);
    const PLAIN: usize = 2;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[PLAIN];
        }
        s
    }
}

mod scoped_consts {
    const N: usize = 4;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = N as f64;
        if x[0] > 0.5 {
            const N: usize = 2;
            s += x[N] * x[0];
        } else {
            const N: usize = 1;
            s += x[N] * x[N];
        }
        for i in 0..2 {
            const M: f64 = 3.0;
            s += M * x[i] * x[N];
        }
        s
    }
}

mod underscore_const {
    const _: () = assert!(N > 1);
    const _N: usize = 2;
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[_N];
        }
        s
    }
}
