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
    shifts: 6, cast_chain: 6, block_value: 6, if_value: 6, match_value: 6, renamed: 6, grouped: 6, glob_twice:
    6, self_path: 6, crate_path: 6, struct_consts: 6, enum_cast: 6, const_array_len: 6, const_tuple: 6,
    const_struct: 6, const_ref: 6, helper_with_const: 6, method_const_len: 6, trait_const: 6, inferred_length:
    6, repeat_nested: 6,
}

const ABOVE: usize = 4;

mod shifts {
    const BITS: u32 = 2;
    const N: usize = 1 << BITS;
    const MASK: usize = N - 1;
    const HEX: usize = 0x0F & 0b0101;
    const BIG: u64 = 1_000_000;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += x[i] * x[i & MASK] * x[HEX ^ 4];
        }
        s * N as f64 / BIG as f64 * 1.0e6
    }
}

mod cast_chain {
    const A: f64 = 3.7;
    const N: usize = A as usize;
    const M: i64 = -3 as i64;
    const K: usize = (M + 5) as usize;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[K] * 3.7;
        }
        s
    }
}

mod block_value {
    const N: usize = {
        let mut n = 1;
        while n < 4 {
            n += 2;
        }
        n
    };

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N - i];
        }
        s
    }
}

mod if_value {
    const FAST: bool = false;
    const N: usize = if FAST { 1 } else { 3 };

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = [0.0; N];
        for i in 0..N {
            s[i] = x[i] * x[N];
        }
        s[0] + s[N - 1] * s[1]
    }
}

mod match_value {
    const KIND: u8 = 2;
    const N: usize = match KIND {
        0 => 1,
        2 => 3,
        _ => 5,
    };

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
}

mod renamed {
    mod sizes {
        pub const WIDTH: usize = 3;
    }
    use sizes::WIDTH as N;

    #[stratape::differentiable]
    mod inner {
        use super::N as M;
        use super::sizes::WIDTH;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..M {
                s += x[i] * x[WIDTH + i];
            }
            s
        }
    }
    pub use inner::*;
}

mod grouped {
    const A: usize = 2;
    const B: usize = 3;

    #[stratape::differentiable]
    mod inner {
        use super::{A, B as C};
        use std::f64::consts::{LN_2, PI as P};
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..A {
                for j in 0..C {
                    s += x[i] * x[i + j] * LN_2 - P * x[j];
                }
            }
            s
        }
    }
    pub use inner::*;
}

mod glob_twice {
    mod p {
        pub const N: usize = 2;
        pub const M: usize = 9;
    }
    const M: usize = 3;

    #[stratape::differentiable]
    mod inner {
        use super::p::N;
        use super::*;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..N {
                s += x[i] * x[M];
            }
            s
        }
    }
    pub use inner::*;
}

#[stratape::differentiable]
mod self_path {
    const N: usize = 3;
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = [1.0; self::N];
        for i in 0..self::N {
            s[i] *= x[i] * x[self::N];
        }
        s[0] * s[1] + s[2]
    }
}

mod crate_path {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..super::ABOVE {
            s += x[i] * x[super::ABOVE];
        }
        s
    }
}

mod struct_consts {
    #[stratape::differentiable]
    mod inner {
        #[derive(Clone, Copy)]
        pub struct V {
            pub a: f64,
        }
        impl V {
            pub const ZERO: V = V { a: 0.0 };
            pub const N: usize = 3;
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut v = [V::ZERO; V::N];
            for i in 0..V::N {
                v[i].a += x[i] * x[V::N];
            }
            v[0].a * v[1].a + v[2].a
        }
    }
    pub use inner::*;
}

#[stratape::differentiable]
mod enum_cast {
    #[derive(Clone, Copy, PartialEq)]
    enum K {
        A = 1,
        B = 3,
    }
    const N: usize = K::B as usize;
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[K::A as usize];
        }
        s
    }
}

mod const_array_len {
    const TABLE: [usize; 3] = [4, 0, 2];
    const N: usize = TABLE.len();

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
}

#[stratape::differentiable]
mod const_tuple {
    const SHAPE: (usize, usize) = (2, 3);
    const WEIGHTS: [f64; SHAPE.1] = [1.0, 0.5, 0.25];
    const AT: [usize; 3] = [4, 0, 2];
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..SHAPE.0 {
            for j in 0..SHAPE.1 {
                s += x[i * SHAPE.1 + j] * WEIGHTS[j] * x[AT[j]];
            }
        }
        s
    }
}

#[stratape::differentiable]
mod const_struct {
    #[derive(Clone, Copy)]
    struct Config {
        n: usize,
        h: f64,
    }
    const CONFIG: Config = Config { n: 3, h: 0.5 };
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..CONFIG.n {
            s += x[i] * x[CONFIG.n] * CONFIG.h;
        }
        s
    }
}

#[stratape::differentiable]
mod const_ref {
    const W: &[f64] = &[0.5, 1.5, -0.5];
    const ROWS: [[f64; 2]; 2] = [[1.0, 2.0], [3.0, 4.0]];
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..W.len() {
            s += x[i] * W[i] * x[i + 1];
        }
        for (a, b) in W.iter().zip(x) {
            s += (a * b).sin();
        }
        s + ROWS[1][0] * x[0] + ROWS[0][1] * s * x[1]
    }
}

mod helper_with_const {
    const N: usize = 3;

    #[stratape::differentiable]
    const M: usize = 2;

    #[stratape::differentiable]
    fn norm(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..M {
            s += x[i] * x[i];
        }
        s.sqrt()
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += norm(&x[i..]) * x[i];
        }
        s
    }
}

mod method_const_len {
    const N: usize = 3;

    #[stratape::differentiable]
    mod inner {
        use super::N;
        #[derive(Clone, Copy)]
        pub struct State {
            q: [f64; N],
            p: [f64; N],
        }
        impl State {
            fn step(&mut self, h: f64) {
                for i in 0..N {
                    self.p[i] -= h * self.q[(i + 1) % N];
                }
                for i in 0..N {
                    self.q[i] += h * self.p[i];
                }
            }
        }
        impl Default for State {
            fn default() -> Self {
                State { q: [1.0; N], p: [0.0; N] }
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = State::default();
            for i in 0..N {
                s.q[i] = x[i];
                s.p[i] = x[N + i];
            }
            for _ in 0..4 {
                s.step(0.1 + x[0] * 0.01);
            }
            s.q[0] * s.p[N - 1] + s.q[1]
        }
    }
    pub use inner::*;
}

#[stratape::differentiable]
mod trait_const {
    trait Shape {
        const SIDES: usize;
        const SCALE: f64 = 1.5;
        fn area(&self, x: &[f64]) -> f64;
    }
    struct T;
    struct Q;
    impl Shape for T {
        const SIDES: usize = 3;
        fn area(&self, x: &[f64]) -> f64 {
            let mut s = 1.0;
            for i in 0..Self::SIDES {
                s *= x[i] * Self::SCALE;
            }
            s
        }
    }
    impl Shape for Q {
        const SIDES: usize = 4;
        const SCALE: f64 = 0.5;
        fn area(&self, x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..Self::SIDES {
                s += x[i] * x[i] * Self::SCALE;
            }
            s
        }
    }
    fn both<S: Shape>(s: &S, x: &[f64]) -> f64 {
        s.area(x) * S::SIDES as f64
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        both(&T, x) + both(&Q, x) * x[T::SIDES]
    }
}

mod inferred_length {
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let a: [f64; N] = std::array::from_fn(|i| x[i] * x[N]);
        let b: [f64; N] = x[..N].try_into().unwrap();
        let c = a.map(|v| v * v);
        let mut s = 0.0;
        for i in 0..N {
            s += a[i] * b[i] + c[i];
        }
        s
    }
}

mod repeat_nested {
    const R: usize = 2;
    const C: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut m = [[x[0]; C]; R];
        let mut t = [(0.0, [0; R]); C];
        for i in 0..R {
            for j in 0..C {
                m[i][j] *= x[C * i + j];
                t[j].0 += m[i][j];
                t[j].1[i] = j + i;
            }
        }
        t[0].0 * t[C - 1].0 + x[t[1].1[1]]
    }
}
