//! Constants inside functions, and numbers as arguments of type parameters.

#![allow(
    dead_code,
    unused,
    non_upper_case_globals,
    clippy::all,
    clippy::pedantic,
    reason = "programs as people write them"
)]

programs! {
    in_the_function: 6, made_of_another: 6, in_a_block: 6, in_a_helper: 6, hidden: 6, in_a_module: 6, in_an_inner_module: 6,
    computed_argument: 6, own_parameter: 6, in_a_closure: 6,
}

mod in_the_function {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const S: usize = 3;
        let mut a = [0.0; S];
        for i in 0..x.len() {
            a[i % S] += x[i] * x[i];
        }
        let mut p = 1.0;
        for k in 0..S {
            p *= 1.0 + a[k];
        }
        p
    }
}

mod made_of_another {
    const OUTER: usize = 2;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const HALF: usize = OUTER / 2;
        const N: usize = HALF + OUTER;
        let mut a = [1.0; N];
        for i in 0..N {
            for j in 0..HALF + 1 {
                a[i] *= x[i + j];
            }
        }
        a[0] + a[1] * a[N - 1]
    }
}

mod in_a_block {
    const N: usize = 5;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        {
            const N: usize = 2;
            let mut a = [0.0; N];
            for i in 0..x.len() {
                a[i % N] += x[i].sin();
            }
            s += a[0] * a[1];
        }
        for i in 0..N {
            s += x[i] * x[i];
        }
        s
    }
}

mod in_a_helper {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        smooth(x, 1) * smooth(x, 2)
    }

    #[stratape::differentiable]
    fn smooth(x: &[f64], at: usize) -> f64 {
        const WIDTH: usize = 2;
        let mut window = [0.0; WIDTH + 1];
        for k in 0..=WIDTH {
            window[k] = x[at + k] * (k as f64 + 1.0);
        }
        let mut s = 0.0;
        for k in 0..WIDTH {
            s += window[k] * window[k + 1];
        }
        s
    }
}

mod hidden {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        const N: usize = 2;
        let g = |at: usize| {
            const N: usize = 3;
            x[N] * x[at]
        };
        let mut s = g(N);
        for k in 0..N {
            const N: usize = 4;
            s += x[k] * x[N];
        }
        s
    }
}

mod in_a_module {
    pub use m::f;
    #[stratape::differentiable]
    mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            const S: usize = 2;
            let mut a = [0.5; S];
            for i in 0..x.len() {
                a[i % S] = a[i % S] * x[i] + 0.1;
            }
            a[0] * a[S - 1]
        }
    }
    pub use m::f_grad;
}

mod in_an_inner_module {
    pub use m::{f, f_grad};
    #[stratape::differentiable]
    mod m {
        mod sums {
            pub fn pairs(x: &[f64]) -> f64 {
                const S: usize = 2;
                let mut a = [0.0; S];
                for i in 0..x.len() {
                    a[i % S] += x[i];
                }
                a[0] * a[1]
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            sums::pairs(x) + x[0]
        }
    }
}

mod computed_argument {
    #[stratape::differentiable]
    fn first<const K: usize>(x: &[f64]) -> f64 {
        let mut a = [0.0; K];
        for k in 0..K {
            a[k] = x[k] * x[k + 1];
        }
        a.iter().sum()
    }

    const W: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        first::<{ 1 + 1 }>(x) * first::<{ W }>(x) + first::<{ W - 2 }>(x)
    }
}

mod own_parameter {
    pub use m::{f, f_grad};
    const N: usize = 4;
    #[stratape::differentiable]
    mod m {
        use super::N;
        fn first<const N: usize>(x: &[f64; N]) -> f64 {
            let mut s = 0.0;
            for k in 0..N {
                s += x[k] * x[0];
            }
            s
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            first(&[x[0], x[1]]) + x[N] + first::<N>(&[x[0], x[1], x[2], x[3]])
        }
    }
}

mod in_a_closure {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let norm = |at: usize| {
            const K: usize = 2;
            let mut s = [0.0; K];
            for k in 0..K {
                s[k] = x[at + k] * x[at];
            }
            s[0].sqrt() + s[K - 1]
        };
        norm(0) + norm(3)
    }
}
