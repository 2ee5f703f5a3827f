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
    after_use: 6, statics: 6, associated: 6, methods: 6, documented: 6, shadowed_in_closure: 6,
    shadowed_by_loop: 6, locals_of_type: 6, slices: 8, floats: 6, bools: 6, chars_and_text: 6, of_two_modules:
    6, inner_module_const: 6, module_shadows_super: 6, field_of_name: 6, function_of_name: 6, type_of_name: 6,
    label_and_name: 6, ranges: 8, max_min: 6,
}

const ABOVE: usize = 4;

mod after_use {
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        let mut v = [0.0; LATER];
        for i in 0..LATER {
            v[i] = x[i] * x[0];
            s += v[i] * LAST_SCALE;
        }
        s * s
    }

    const LATER: usize = LAST - 1;
    const LAST: usize = 4;
    const LAST_SCALE: f64 = 0.25 * LAST as f64;
}

mod statics {
    static N: usize = 3;
    static SCALE: f64 = 1.25;

    #[stratape::differentiable]
    mod inner {
        static M: usize = 2;
        static TABLE: [f64; 3] = [1.0, 2.0, 0.5];
        #[gradient]
        pub fn g(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..M {
                s += x[i] * TABLE[i] * x[2];
            }
            s
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[i + 1] * SCALE;
        }
        s + inner::g(x)
    }
}

#[stratape::differentiable]
mod associated {
    const N: usize = 5;
    struct A;
    struct B;
    impl A {
        const N: usize = 2;
        const SCALE: f64 = 0.5;
        fn g(&self, x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..Self::N {
                s += x[i] * Self::SCALE * x[N];
            }
            s
        }
    }
    impl B {
        const N: usize = 3;
        const SCALE: f64 = A::SCALE * 4.0;
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = A.g(x);
        for i in 0..B::N {
            s += x[i] * x[N - i] * B::SCALE;
        }
        let w = [x[1]; A::N];
        s * w[0] + A::N as f64 + x[N]
    }
}

#[stratape::differentiable]
mod methods {
    use super::ABOVE;
    const W: usize = 3;

    #[derive(Clone, Copy)]
    pub struct Net {
        w: [f64; W],
    }

    impl Net {
        pub const SIZE: usize = W * 2;

        fn new(x: &[f64]) -> Net {
            let mut w = [0.0; W];
            for i in 0..W {
                w[i] = x[i];
            }
            Net { w }
        }

        fn run(&self, x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..W {
                s += self.w[i] * x[(i + ABOVE) % Self::SIZE];
            }
            s
        }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        Net::new(x).run(x) * x[ABOVE]
    }
}

mod documented {
    /// The number of points.
    ///
    /// ```text
    /// const N: usize = 99;
    /// ```
    #[allow(dead_code)]
    pub(crate) const N: usize = 3;
    /* const N: usize = 7; */
    // const N: usize = 8;
    const TEXT: &str = "const N: usize = 6;";

    #[stratape::gradient]
    pub(crate) fn f(x: &[f64]) -> f64 {
        // const N: usize = 5;
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[i + 1];
        }
        s
    }
}

mod shadowed_in_closure {
    const N: usize = 2;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let g = |i: usize| x[i] * x[N];
        let h = |n: usize| (0..n).map(|i| x[i] * N as f64).sum::<f64>();
        (0..N).map(g).sum::<f64>() * h(N + 1)
    }
}

mod shadowed_by_loop {
    const i: usize = 4;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        x[i] * x[i - 1] + (0..i).map(|j| x[j]).product::<f64>()
    }
}

mod locals_of_type {
    type Real = f64;
    const N: usize = 3;
    const H: Real = 0.1;
    type Row = [f64; N];

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut r: [f64; N] = [0.0; N];
        let z = [[0.0_f64; N]; 2];
        for i in 0..N {
            r[i] = x[i] + 0.1 * x[N + i] * r[(i + 1) % N];
        }
        r[0] * r[1] * r[2] + z[1][N - 1]
    }
}

mod slices {
    const FROM: usize = 2;
    const TO: usize = 5;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let p = &x[FROM..TO];
        let (a, b) = x.split_at(TO);
        let mut s = p.iter().map(|v| v * v).sum::<f64>() + a[FROM] * b[0];
        for c in x.chunks(FROM) {
            s += c[0] * x[TO];
        }
        for w in x.windows(TO - FROM) {
            s += w[FROM] * w[0];
        }
        for v in x.iter().skip(FROM).step_by(FROM).take(TO) {
            s *= v + 1.0;
        }
        s
    }
}

mod floats {
    use std::f64::consts::PI;
    const TAU: f64 = 2.0 * PI;
    const THIRD: f64 = 1.0 / 3.0;
    const SMALL: f64 = -1e-3;
    const BIG: f64 = f64::MAX;
    const N: usize = 3;
    const MEAN: f64 = 1.0 / N as f64;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best = BIG;
        for v in x {
            let d = (TAU * v).sin() * THIRD + SMALL;
            if d < best {
                best = d;
            }
        }
        best * x[0] * MEAN
    }
}

mod bools {
    const ON: bool = true;
    const OFF: bool = !ON;
    const DEBUG: bool = ON && OFF;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            if ON {
                s += v * v;
            }
            if OFF || DEBUG {
                s += v;
            }
            s *= if DEBUG { *v } else { 0.9 };
        }
        s
    }
}

mod chars_and_text {
    const NAME: &str = "loss";
    const N: usize = NAME.len();
    const M: usize = b"abc".len();
    const C: char = 'c';

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        assert!(x.len() >= N, "{NAME} needs {N}");
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[M];
        }
        s
    }
}

mod of_two_modules {
    mod a {
        pub const N: usize = 2;
    }
    mod b {
        pub const N: usize = 3;
    }
    use a::N;
    use b::N as M;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            for j in 0..M {
                s += x[i] * x[i + j] * (b::N - j) as f64;
            }
        }
        s
    }
}

#[stratape::differentiable]
mod inner_module_const {
    mod sizes {
        pub const N: usize = 3;
        pub const M: usize = N + 1;
        pub const EPS: f64 = 1e-2;
    }
    use sizes::{EPS, N};

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut v = [0.0; sizes::M];
        for i in 0..N {
            v[i + 1] = v[i] * x[i] + x[sizes::M] + EPS;
        }
        v[N] * v[1]
    }
}

mod module_shadows_super {
    const N: usize = 5;

    #[stratape::differentiable]
    mod inner {
        use super::*;
        const N: usize = 2;

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 1.0;
            for i in 0..N {
                s *= x[i] + x[super::N];
            }
            s
        }
    }
    pub use inner::*;
}

#[stratape::differentiable]
mod field_of_name {
    const n: usize = 2;
    struct S {
        n: usize,
        v: f64,
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let s = S { n: 4, v: x[0] };
        let t = S { n, v: x[1] };
        let mut a = 0.0;
        for i in 0..s.n {
            a += x[i] * s.v;
        }
        for i in 0..t.n {
            a += x[i] * t.v * x[n];
        }
        a
    }
}

mod function_of_name {
    const size: usize = 2;
    mod other {
        pub fn size() -> usize {
            4
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..size {
            s += x[i] * x[i + size];
        }
        s * s
    }
}

mod type_of_name {
    const P: usize = 2;
    #[stratape::differentiable]
    mod inner {
        #[derive(Clone, Copy)]
        pub struct P {
            v: f64,
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let p = P { v: x[0] * x[super::P] };
            p.v * p.v + x[1]
        }
    }
    pub use inner::*;
}

mod label_and_name {
    const outer: usize = 3;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        'outer: for i in 0..outer {
            for j in 0..outer {
                if j > i {
                    continue 'outer;
                }
                s += x[i] * x[j];
            }
        }
        s
    }
}

mod ranges {
    const R0: usize = 1;
    const R1: usize = 4;
    const STEP: usize = 2;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in (R0..=R1).rev() {
            s += x[i] * s + x[0];
        }
        for i in (R0..x.len()).step_by(STEP) {
            s *= x[i] + 0.5;
        }
        if (R0..R1).contains(&STEP) {
            s += x[STEP];
        }
        s
    }
}

mod max_min {
    const A: usize = 3;
    const B: usize = if A > 2 { A } else { 2 };
    const NONE: usize = usize::MAX;
    const LAST: u8 = u8::MAX - 253;

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut at = NONE;
        for i in 0..x.len().min(B) {
            if x[i] > 0.5 {
                at = i;
            }
        }
        let v = if at == NONE { x[0] * x[1] } else { x[at] * x[at] };
        v * x[LAST as usize]
    }
}
