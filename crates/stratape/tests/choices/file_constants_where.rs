//! Where the constants of a file stand: beside others of the same name, in macros, under `cfg`, and what they are made of.

#![allow(
    dead_code,
    unused,
    non_upper_case_globals,
    clippy::all,
    clippy::pedantic,
    reason = "programs as people write them"
)]

programs! {
    raw_string: 8,
    other_fn: 8,
    impl_above: 8,
    macro_def: 8,
    macro_def2: 8,
    cfg_out: 8,
    cfg_out_module: 8,
    cfg_attr_module: 8,
    cfg_mod_module: 8,
    one_line: 8,
    inner_fn: 8,
    generic: 8,
    pattern: 8,
    deeper: 8,
    glob_conflict: 8,
    enum_variant: 8,
    underflow: 8,
    underflow_file: 8,
    twin_a: 8,
    twin_b: 8,
    twin_c: 8,
    within_function: 8,
}

mod raw_string {
    const S: &str = r#"
const N: usize = 7;
"#;
    const T: char = '"';
    const N: usize = 3;
    const Q: char = '\'';
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
}
mod other_fn {
    fn other() {
        const N: usize = 6;
        let _ = N;
    }
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
    fn later() {
        const N: usize = 5;
        let _ = N;
    }
}
mod impl_above {
    struct A;
    impl A {
        const N: usize = 6;
    }
    trait Tr {
        const N: usize = 5;
    }
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
    struct B;
    impl B {
        const N: usize = 4;
    }
}
mod macro_def {
    macro_rules! m {
        () => {
            const N: usize = 6;
        };
    }
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
}
mod macro_def2 {
    const N: usize = 3;
    macro_rules! m {
        ($v:expr) => {
            mod inner {
                pub const N: usize = $v;
                #[stratape::gradient]
                pub fn g(x: &[f64]) -> f64 {
                    let mut s = 0.0;
                    for i in 0..N {
                        s += x[i] * x[N];
                    }
                    s
                }
            }
        };
    }
    m!(5);
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
    pub use inner::{g, g_grad};
}
mod cfg_out {
    #[cfg(any())]
    mod k {
        pub const N: usize = 6;
    }
    #[cfg(any())]
    const N: usize = 5;
    #[cfg(all())]
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[N];
        }
        s
    }
}
mod cfg_out_module {
    #[cfg(any())]
    const N: usize = 5;
    #[cfg(all())]
    const N: usize = 3;
    #[stratape::differentiable]
    pub mod m {
        use super::N;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut w = [0.0; N];
            let mut s = 0.0;
            for i in 0..N {
                w[i] = x[i];
                s += w[i] * x[N];
            }
            s
        }
    }
    pub use m::*;
}
mod cfg_attr_module {
    #[cfg_attr(all(), cfg(any()))]
    const N: usize = 5;
    #[cfg_attr(any(), cfg(any()))]
    const N: usize = 3;
    #[stratape::differentiable]
    pub mod m {
        use super::*;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..N {
                s += x[i] * x[N];
            }
            s
        }
    }
    pub use m::*;
}
mod cfg_mod_module {
    #[cfg(any())]
    mod sizes {
        pub const N: usize = 5;
    }
    #[cfg(all())]
    mod sizes {
        pub const N: usize = 3;
    }
    use sizes::N;
    #[stratape::differentiable]
    pub mod m {
        use super::N;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..N {
                s += x[i] * x[N];
            }
            s
        }
    }
    pub use m::*;
}
mod twins {
    pub mod a {
        const N: usize = 2;
        #[stratape::differentiable]
        pub mod m {
            use super::*;
            #[gradient]
            pub fn f(x: &[f64]) -> f64 {
                let mut s = 0.0;
                for i in 0..N {
                    s += x[i] * x[N];
                }
                s
            }
        }
    }
    pub mod b {
        const N: usize = 5;
        #[stratape::differentiable]
        pub mod m {
            use super::*;
            #[gradient]
            pub fn f(x: &[f64]) -> f64 {
                let mut s = 0.0;
                for i in 0..N {
                    s += x[i] * x[N];
                }
                s
            }
        }
    }
    pub mod c {
        pub mod d {
            const N: usize = 4;
            #[stratape::differentiable]
            pub mod m {
                use super::N;
                #[gradient]
                pub fn f(x: &[f64]) -> f64 {
                    let mut s = 0.0;
                    for i in 0..N {
                        s += x[i] * x[N];
                    }
                    s
                }
            }
        }
        const N: usize = 6;
    }
}
mod one_line {
    const N: usize = 3;
    const M: usize = N + 1; /* const N: usize = 6; */
    const K: usize = /* 9 */ 2;
    pub(self) const L: usize = M - K; // const N: usize = 7;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for i in 0..N {
            s += x[i] * x[M] + x[K] * x[L];
        }
        s
    }
}
mod in_fn {
    pub fn run() -> (fn(&[f64]) -> f64, fn(&[f64], &mut [f64], f64) -> f64) {
        const N: usize = 3;
        #[stratape::gradient]
        fn f(x: &[f64]) -> f64 {
            let mut w = [0.0; N];
            let mut s = 0.0;
            for i in 0..N {
                w[i] = x[i];
                s += w[i] * x[N];
            }
            s
        }
        (f, f_grad)
    }
    const N: usize = 6;
}
mod inner_fn {
    const N: usize = 3;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        fn g(x: &[f64]) -> f64 {
            const N: usize = 2;
            let mut s = 0.0;
            for i in 0..N {
                s += x[i] * x[N];
            }
            s
        }
        let h = |x: &[f64]| {
            const N: usize = 4;
            x[N] * x[1]
        };
        g(x) * x[N - 1] + h(x) + x[N]
    }
}
mod generic {
    const N: usize = 7;
    #[stratape::differentiable]
    fn g<const N: usize>(x: &[f64; N]) -> f64 {
        let mut w = [0.0; N];
        for i in 0..N {
            w[i] = x[i] * x[0];
        }
        w[N - 1]
    }
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        g(&[x[0], x[1], x[2]]) + g(&[x[0], x[1]]) * x[N]
    }
}
mod pattern {
    const A: usize = 1;
    const B: usize = 2;
    #[stratape::differentiable]
    pub mod m {
        use super::A as Q;
        const A: usize = 4;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                s += match i {
                    Q => x[i] * x[i],
                    super::B => x[i].sin(),
                    A..=5 => x[i] * x[0],
                    _ => x[i],
                };
            }
            s
        }
    }
    pub use m::*;
}
mod deeper {
    pub const B: usize = super::deeper2::C + 1;
    #[stratape::differentiable]
    pub mod m {
        use super::*;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let mut w = [0.0; B];
            for i in 0..super::super::deeper2::C {
                w[i] = x[i];
            }
            w[0] * w[1] + w[B - 1] * x[B]
        }
    }
    pub use m::*;
}
mod deeper2 {
    pub const C: usize = 3;
    pub const B: usize = 6;
}
mod glob_conflict {
    use super::deeper2::*;
    const B: usize = 2;
    #[stratape::differentiable]
    pub mod m {
        use super::*;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            x[B] * x[C] + x[B + 1]
        }
    }
    pub use m::*;
}
mod enum_variant {
    #[stratape::differentiable]
    pub mod m {
        #[derive(Clone, Copy, PartialEq)]
        enum K {
            N,
            M,
        }
        use K::M;
        const N: usize = 3;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let k = if x[0] > 0.0 { K::N } else { M };
            match k {
                K::N => x[N] * x[0],
                M => x[1],
            }
        }
    }
    pub use m::*;
}
mod underflow {
    const N: usize = 3;
    const BIG: i64 = -(N as i64) / 2;
    const R: i32 = -7 % 3;
    const SH: u8 = !0xF0;
    const F: f64 = -7.5 % 2.0;
    const G: f32 = 0.1;
    const H: f64 = G as f64;
    const U: u8 = -1_i32 as u8;
    const C: u8 = b'\x03';
    const L: usize = 'a' as usize - 96;
    const SAT: usize = 300.7_f64 as u8 as usize / 255;
    #[stratape::differentiable]
    pub mod m {
        use super::*;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            x[0] * BIG as f64
                + x[1] * R as f64
                + x[2] * SH as f64
                + x[3] * F
                + x[4] * H
                + x[5] * U as f64
                + x[C as usize] * x[L]
                + x[6] * SAT as f64
        }
    }
    pub use m::*;
}
mod underflow_file {
    const N: usize = 3;
    const BIG: i64 = -(N as i64) / 2;
    const R: i32 = -7 % 3;
    const SH: u8 = !0xF0;
    const F: f64 = -7.5 % 2.0;
    const G: f32 = 0.1;
    const H: f64 = G as f64;
    const U: u8 = -1_i32 as u8;
    const C: u8 = b'\x03';
    const L: usize = 'a' as usize - 96;
    const SAT: usize = 300.7_f64 as u8 as usize / 255;
    const PREC: usize = 1 + 2 * 3 - 8 / 4 % 3;
    const SHIFT: usize = 1 << 1 + 1;
    const AND: usize = 6 & 3 | 1 ^ 1;
    const NEG: i32 = -2_i32.pow(2);
    const FF: f64 = -2.0_f64 * 3.0 - 1.0 / 4.0;
    const CMP: usize = (3 > 2) as usize;
    const E1: f64 = 1e3;
    const E2: f64 = 2.5E-1;
    const UND: usize = 1_0 - 0b11 - 0o4;
    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        x[0] * BIG as f64
            + x[1] * R as f64
            + x[2] * SH as f64
            + x[3] * F
            + x[4] * H
            + x[5] * U as f64
            + x[C as usize] * x[L]
            + x[6] * SAT as f64
            + x[PREC]
            + x[0] * x[SHIFT]
            + x[1] * x[AND]
            + x[7] * NEG as f64 * FF
            + x[CMP] * E1
            + x[0] * x[0] * E2
            + x[UND]
    }
}

mod twin_a {
    pub use super::twins::a::m::*;
}
mod twin_b {
    pub use super::twins::b::m::*;
}
mod twin_c {
    pub use super::twins::c::d::m::*;
}
mod within_function {
    const N: usize = 6;
    pub fn f(x: &[f64]) -> f64 {
        (super::in_fn::run().0)(x)
    }
    pub fn f_grad(x: &[f64], dx: &mut [f64], seed: f64) -> f64 {
        (super::in_fn::run().1)(x, dx, seed)
    }
}
