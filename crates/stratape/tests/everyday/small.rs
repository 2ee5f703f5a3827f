//! Small things that people write without a thought.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

#![deny(unused_variables)]

programs! {
    methods_of_lists_as_functions: 4,
    lists_of_lists_in_a_loop: 2,
    ranges_that_contain: 4,
    names_with_capitals: 4,
    enums_of_another_module: 2,
    structs_inside_a_function: 3,
    operators_with_tuples: 4,
    aliases_with_parameters: 2,
    dropped: 2,
    bound_by_patterns: 2,
    arrays_made_in_closures: 3,
    defaults_of_options: 2,
}

mod lists_of_lists_in_a_loop {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = x[0];
        for _ in 0..3 {
            let mut next = vec![vec![0.0; 2]; 2];
            for i in 0..2 {
                next[i][0] = s * x[0];
                next[i][1] = s * s * x[1];
            }
            for i in 0..2 {
                s += 0.1 * next[i][0] * next[1 - i][1];
            }
        }
        s
    }
}

mod ranges_that_contain {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut total = 0.0;
        for (i, v) in x.iter().enumerate() {
            if (0.3..0.7).contains(v) && (1..=2).contains(&i) {
                total += v * v;
            } else if (..3).contains(&i) {
                total += v.sin();
            }
        }
        total
    }
}

mod names_with_capitals {
    #[stratape::differentiable]
    fn norm(A: &[f64]) -> f64 {
        A.iter().map(|V| V * V).sum::<f64>() + A.len() as f64 * A[0]
    }

    #[stratape::gradient]
    pub fn f(X: &[f64]) -> f64 {
        let W: Vec<f64> = X.iter().map(|v| v * 2.0).collect();
        let (P, Q) = W.split_at(2);
        let mut S = 0.0;
        for K in Q {
            S += K * P[0];
        }
        S + norm(&W) + norm(P) * X[1]
    }
}

mod laws {
    #[stratape::differentiable]
    #[derive(Clone, Copy, PartialEq)]
    pub enum Law {
        Hooke,
        Off,
    }
}

mod enums_of_another_module {
    use super::laws::Law;
    use super::laws::Law::Off;

    #[stratape::differentiable]
    fn energy(k: f64, law: Law) -> f64 {
        match law {
            Law::Hooke => k * k,
            Off => 0.5,
        }
    }

    #[stratape::gradient]
    fn with(k: f64, law: Law) -> f64 {
        if matches!(law, Law::Hooke) { energy(k, law) * k } else { energy(k, Off) + k }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        with(x[0], Law::Hooke) * with(x[1], Off)
    }
}

mod structs_inside_a_function {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        #[derive(Clone, Copy)]
        struct P {
            w: f64,
            k: usize,
        }
        let mut ps = vec![P { w: 0.5, k: 1 }; 2];
        ps[1].w = x[0];
        let qs: Vec<P> = x.iter().enumerate().map(|(k, w)| P { w: *w, k }).collect();
        let last = qs.iter().map(|q| q.w * q.k as f64).sum::<f64>();
        ps[0].w * ps[1].w * last + ps[1].k as f64 * x[1]
    }
}

#[stratape::differentiable]
mod operators_with_tuples {
    use std::ops::Mul;

    #[derive(Clone, Copy)]
    struct M2(f64, f64);

    impl Mul<(f64, f64)> for M2 {
        type Output = f64;
        fn mul(self, v: (f64, f64)) -> f64 {
            self.0 * v.0 + self.1 * v.1
        }
    }

    impl Mul<[f64; 2]> for M2 {
        type Output = f64;
        fn mul(self, v: [f64; 2]) -> f64 {
            self.0 * v[1] - self.1 * v[0]
        }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = M2(x[0], x[1]);
        let v = (x[2], x[3]);
        m * v + m * (1.5, x[2]) + m * [x[3], 2.0]
    }
}

#[stratape::differentiable]
mod aliases_with_parameters {
    type Pair<T> = (T, T);
    type Fallible<T> = Result<T, usize>;

    fn root(x: f64) -> Fallible<f64> {
        if x < 0.0 { Err(1) } else { Ok(x.sqrt()) }
    }

    fn swapped(p: Pair<f64>) -> Pair<f64> {
        (p.1, p.0 * p.1)
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = swapped((x[0], x[1]));
        p.0 * root(p.1).unwrap_or(0.0)
    }
}

mod dropped {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let v = x.to_vec();
        let s: f64 = v.iter().map(|a| a * a).sum();
        drop(v);
        s * x[0]
    }
}

mod bound_by_patterns {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let v: Vec<f64> = x.iter().map(|v| v * v).collect();
        if let Some(first) = v.first() { first * 2.0 + x[1] } else { 0.0 }
    }
}

mod arrays_made_in_closures {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = [x[0], x[1], x[2]];
        let add = |a: &[f64; 3], b: &[f64; 3], h: f64| -> [f64; 3] {
            std::array::from_fn(|i| a[i] + h * b[i])
        };
        let k = add(&p, &p, x[1]);
        k[0] * k[1] + add(&k, &p, 0.5)[2]
    }
}

#[stratape::differentiable]
mod defaults_of_options {
    #[derive(Clone, Copy, Default)]
    struct Meters(f64, f64);

    fn some(x: f64) -> Option<Meters> {
        if x > 0.5 { Some(Meters(x, x * x)) } else { None }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let m = some(x[0]).unwrap_or_default();
        m.0 * x[1] + m.1 + x[0]
    }
}

mod methods_of_lists_as_functions {
    #[stratape::differentiable]
    mod m {
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let rows: Vec<Vec<f64>> = x.chunks(3).map(<[f64]>::to_vec).collect();
            let copies: Vec<Vec<f64>> = rows.iter().map(Vec::clone).collect();
            let lengths: Vec<usize> = copies.iter().map(Vec::len).collect();
            let squares: [[f64; 2]; 2] =
                std::array::from_fn(|i| std::array::from_fn(|j| x[i] * x[j]));
            let pair = (copies[0].clone(), squares[0][1]).clone();
            pair.0[2] * lengths[0] as f64 + pair.1 * copies[1][0]
        }
    }
    pub use m::{f, f_grad};
}
