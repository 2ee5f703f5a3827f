//! Modules inside a module: names, imports inside functions, traits of one name, gradients of their own.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    program_h1: [[0.3, 1.2, 0.9]],
    program_s8: [[0.3, 1.2, 0.9, 0.3]],
    program_d5: [[0.3, 1.2, 0.9], [1.5, -0.7, 0.3]],
    program_g1: [[0.3, 1.2, 0.9]],
    program_ag1: [[0.3]],
    program_g9: [[0.3, 1.2, 0.9, 0.1], [1.5, 0.7, 0.3, 0.2]],
    program_g3: [[0.3, 1.2, 0.9], [1.5, -0.7, 0.3]],
    program_g4: [[0.3, 1.2, 0.9], [1.5, -0.7, 0.3]],
    program_g10: [[0.3, 1.2, 0.9], [1.5, -0.7, 0.3]],
    program_d8: [[0.3, 1.2, 0.9], [1.5, -0.7, 0.3]],
    program_h2: [[0.3, 1.2, 0.9]],
    program_p5: [[0.3, 1.2, 0.9]],
    program_p7: [[0.3, 1.2, 0.9]],
}

mod program_h1 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub fn g(v: f64) -> f64 {
                v.cos()
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let g = |v: f64| v * v * 10.0;
            m::g(x[0]) + g(x[1])
        }
    }
    pub use m::*;
}

mod program_s8 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub fn rate(v: f64) -> f64 {
                v.cos()
            }
            pub fn go(rate: impl Fn(f64) -> f64, v: f64) -> f64 {
                rate(v)
            }
            pub fn twice(rate: &dyn Fn(f64) -> f64, v: f64) -> f64 {
                self::rate(v) * rate(v)
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let rate = |v: f64| v * v;
            m::go(rate, x[0]) + m::rate(x[1]) * m::go(m::rate, x[2]) + m::twice(&rate, x[0])
        }
    }
    pub use m::*;
}

mod program_d5 {
    #[stratape::differentiable]
    pub mod m {
        pub mod a {
            pub mod b {
                pub mod c {
                    use super::super::super::top;
                    #[gradient]
                    pub fn f(x: &[f64]) -> f64 {
                        x.iter().map(|v| top(*v)).sum::<f64>() * super::helper(x[0])
                    }
                }
                fn helper(v: f64) -> f64 {
                    v.exp()
                }
                #[gradient]
                pub fn f(x: &[f64]) -> f64 {
                    helper(x[0]) * c::f(x) + self::c::f(&x[1..])
                }
            }
            pub use b::f as inner_f;
            #[gradient]
            pub fn f(x: &[f64]) -> f64 {
                inner_f(x) * 2.0 + b::c::f(x)
            }
        }
        fn top(v: f64) -> f64 {
            v * v + 1.0
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            a::f(x) + a::b::f(x)
        }
    }
    pub use m::*;
}

mod program_g1 {
    #[stratape::differentiable]
    pub mod m {
        pub mod a {
            #[gradient]
            pub fn f(x: &[f64]) -> f64 {
                x.iter().map(|v| super::top(*v)).sum::<f64>()
            }
        }
        fn top(v: f64) -> f64 {
            v * v + 1.0
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            a::f(x) * 2.0
        }
    }
    pub use m::*;
}

mod program_ag1 {
    #[stratape::differentiable]
    pub mod m {
        mod a {
            pub trait V {
                fn v(&self) -> f64;
            }
            pub fn sq(x: f64) -> f64 {
                x * x
            }
        }
        mod b {
            pub trait V {
                fn v(&self) -> f64;
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            a::sq(x[0])
        }
    }
    pub use m::*;
}

mod program_g9 {
    #[stratape::differentiable]
    pub mod m {
        #[derive(Clone, Default)]
        pub struct Model {
            pub w: Vec<Vec<f64>>,
            pub b: f64,
        }
        pub mod eval {
            use super::Model;
            impl Model {
                pub fn loss(&self, t: f64) -> f64 {
                    self.w.iter().map(|r| r.iter().product::<f64>()).sum::<f64>() * t
                        + regular::l2(self)
                }
            }
            mod regular {
                pub(super) fn l2(m: &super::super::Model) -> f64 {
                    m.w.iter().flatten().map(|v| v * v).sum::<f64>() + m.b * m.b
                }
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let m = Model { w: x.chunks(2).map(|c| c.to_vec()).collect(), b: x[0] };
            m.loss(x[1])
        }
    }
    pub use m::*;
}

mod program_g3 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub fn h(x: f64) -> f64 {
                x + 100.0 * x * x
            }
            pub fn k(x: f64) -> f64 {
                3.0 * x
            }
            pub const C: f64 = 7.0;
            pub fn x(v: f64) -> f64 {
                v.cos()
            }
        }
        use m::k as kk;
        use m::*;
        fn h(x: f64) -> f64 {
            x.sin()
        }
        const C: f64 = 2.0;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            use std::f64::consts::PI;
            fn local(t: f64) -> f64 {
                h(t) * C
            }
            let m = x[2];
            local(x[0]) + kk(x[1]) * PI + m::h(m) + m::x(m) + k(m) * m::C
        }
    }
    pub use m::*;
}

mod program_g4 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub fn k(x: f64) -> f64 {
                3.0 * x * x
            }
            pub enum E {
                A(f64),
                B,
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            use m::{E, k};
            let e = E::A(x[1]);
            k(x[0])
                + match e {
                    E::A(v) => v.sin(),
                    E::B => 0.0,
                }
        }
    }
    pub use m::*;
}

mod program_g10 {
    #[stratape::differentiable]
    pub mod m {
        pub mod a {
            pub use super::b::*;
            pub struct S(pub f64);
            pub enum Mode {
                X,
                Y,
            }
            pub fn go(s: &S, m: Mode) -> f64 {
                match m {
                    Mode::X => s.0,
                    Mode::Y => twice(s.0),
                }
            }
            impl S {
                pub const W: f64 = 2.0;
                pub fn new(v: f64) -> Self {
                    Self(v * Self::W)
                }
            }
        }
        pub mod b {
            pub use super::a::go as ago;
            pub struct S {
                pub v: f64,
            }
            pub enum Mode {
                Y(f64),
                X,
            }
            impl S {
                pub const W: f64 = 5.0;
                pub fn new(v: f64) -> Self {
                    S { v: v * S::W }
                }
            }
            pub fn twice(x: f64) -> f64 {
                2.0 * x * x
            }
            pub fn go(s: &S, m: Mode) -> f64 {
                match m {
                    Mode::X => s.v.sin(),
                    Mode::Y(q) => q * s.v,
                }
            }
        }
        pub mod c {
            pub use super::{a, b as bee};
            pub fn all(x: &[f64]) -> f64 {
                use bee::Mode;
                bee::go(&bee::S::new(x[0]), Mode::Y(x[1]))
                    + a::go(&a::S::new(x[1]), a::Mode::Y)
                    + bee::ago(&a::S(x[2]), a::Mode::X)
                    + bee::go(&bee::S { v: x[2] }, Mode::X)
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            c::all(x) + c::bee::S::new(x[0]).v + a::twice(x[1])
        }
    }
    pub use m::*;
}

mod program_d8 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub fn h(x: f64) -> f64 {
                x + 100.0 * x * x
            }
            pub fn k(x: f64) -> f64 {
                3.0 * x
            }
            pub const C: f64 = 7.0;
            pub fn x(v: f64) -> f64 {
                v.cos()
            }
        }
        use m::*;
        fn h(x: f64) -> f64 {
            x.sin()
        }
        const C: f64 = 2.0;
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            use self::m::k as kk;
            use std::f64::consts::PI;
            fn local(t: f64) -> f64 {
                h(t) * C
            }
            let m = x[2];
            local(x[0]) + kk(x[1]) * PI + m::h(m) + m::x(m) + k(m) * m::C
        }
    }
    pub use m::*;
}

mod program_h2 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub const c: f64 = 299.0;
            pub static k: f64 = 3.0;
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let c = x[0];
            let k = x[1] * c;
            c * m::c + self::m::k * k
        }
    }
    pub use m::*;
}

mod program_p5 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub fn max(a: f64, b: f64) -> f64 {
                a * b
            }
            pub fn swap(a: f64) -> f64 {
                a * a
            }
            pub fn drop(a: f64) -> f64 {
                3.0 * a
            }
            pub fn vec(a: f64) -> Vec<f64> {
                vec![a; 2]
            }
            pub fn take(a: f64) -> f64 {
                a.sin()
            }
        }
        use m::{drop, max, take};
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            max(x[0], x[1])
                + m::swap(x[2])
                + drop(x[0])
                + m::vec(x[1])[1]
                + take(x[2])
                + f64::max(x[0], x[1])
        }
    }
    pub use m::*;
}

mod program_p7 {
    #[stratape::differentiable]
    pub mod m {
        mod m {
            pub const c: f64 = 299.0;
            pub fn e(v: f64) -> f64 {
                c * v * v
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let c = x[0];
            c * m::e(x[1])
        }
    }
    pub use m::*;
}
