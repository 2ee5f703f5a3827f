//! Modules inside a module under `#[differentiable]`.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    options: 2,
    imported: 3,
    same_names: 3,
    deeper: 2,
    traits_and_enums: 3,
    gradients_inside: 2,
    reexported: 2,
    with_tests: 2,
    imports_of_two_blocks: 2,
}

mod options {
    #[stratape::differentiable]
    mod m {
        pub mod rates {
            pub const BASE: f64 = 0.03;
            pub struct Curve {
                pub a: f64,
                pub b: f64,
            }
            impl Curve {
                pub fn at(&self, t: f64) -> f64 {
                    self.a + self.b * t * BASE
                }
            }
            pub fn discount(c: &Curve, t: f64) -> f64 {
                (-c.at(t) * t).exp() * super::unit(t)
            }
        }
        mod call {
            use super::rates::{Curve, discount};
            pub fn price(c: &Curve, s: f64, k: f64) -> f64 {
                (s - k).max(0.0) * discount(c, 2.0)
            }
        }

        fn unit(t: f64) -> f64 {
            1.0 + 0.1 * t
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let c = rates::Curve { a: x[0], b: x[1] };
            call::price(&c, 2.0 + x[1], x[0]) + rates::BASE * x[1]
        }
    }
    pub use m::{f, f_grad};
}

mod imported {
    #[stratape::differentiable]
    mod m {
        mod norms {
            use std::f64::consts::PI;
            pub fn two(x: &[f64]) -> f64 {
                x.iter().map(|v| v * v).sum::<f64>().sqrt() * PI
            }
            pub fn one(x: &[f64]) -> f64 {
                x.iter().map(|v| v.abs()).sum::<f64>() + 0.0 * two(x)
            }
        }
        mod steps {
            use super::*;
            pub(super) fn half(x: f64) -> f64 {
                two(&[x, 1.0]) * 0.5
            }
        }
        use self::norms::two;
        use norms::one as first;
        use steps::*;

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            two(x) * first(x) + half(x[2])
        }
    }
    pub use m::{f, f_grad};
}

mod same_names {
    #[stratape::differentiable]
    mod m {
        mod a {
            pub const K: f64 = 2.0;
            pub struct Law {
                pub k: f64,
            }
            pub fn value(x: f64) -> f64 {
                scale(x) * K
            }
            fn scale(x: f64) -> f64 {
                x.sin()
            }
            impl Law {
                pub fn apply(&self, x: f64) -> f64 {
                    self.k * value(x)
                }
            }
        }
        mod b {
            pub const K: f64 = 5.0;
            pub struct Law(pub f64);
            pub fn value(x: f64) -> f64 {
                scale(x) + K * x
            }
            fn scale(x: f64) -> f64 {
                x * x
            }
            impl Law {
                pub fn apply(&self, x: f64) -> f64 {
                    self.0 - value(x)
                }
            }
        }
        const K: f64 = 7.0;

        fn value(x: f64) -> f64 {
            x * K
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let (p, q) = (a::Law { k: x[2] }, b::Law(x[1]));
            value(x[0])
                + a::value(x[1]) * b::value(x[2])
                + p.apply(x[0]) * q.apply(x[0])
                + a::K * b::K * x[0] * K
        }
    }
    pub use m::{f, f_grad};
}

mod deeper {
    #[stratape::differentiable]
    mod m {
        pub mod one {
            pub fn triple(x: f64) -> f64 {
                3.0 * x * super::k()
            }
            pub mod two {
                use super::*;
                pub fn twice(x: f64) -> f64 {
                    super::triple(x) + triple(x) * super::super::k()
                }
                pub mod three {
                    pub fn up(x: f64) -> f64 {
                        super::twice(x) * super::super::triple(x)
                    }
                }
            }
        }
        fn k() -> f64 {
            0.5
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            one::two::twice(x[0]) + one::two::three::up(x[1]) + self::one::triple(x[0] * x[1])
        }
    }
    pub use m::{f, f_grad};
}

mod traits_and_enums {
    #[stratape::differentiable]
    mod m {
        pub mod shapes {
            #[derive(Clone, Copy)]
            pub enum Shape {
                Square(f64),
                Disc(f64),
                None,
            }
            pub trait Area {
                fn area(&self) -> f64;
                fn twice(&self) -> f64 {
                    2.0 * self.area()
                }
            }
            use Shape::*;
            impl Area for Shape {
                fn area(&self) -> f64 {
                    match self {
                        Square(a) => a * a,
                        Disc(r) => 3.14 * r * r,
                        Shape::None => 1.0,
                    }
                }
            }
        }
        mod more {
            use super::shapes::Area;
            pub struct Box2 {
                pub w: f64,
                pub h: f64,
            }
            impl super::shapes::Area for Box2 {
                fn area(&self) -> f64 {
                    self.w * self.h
                }
            }
            pub fn total<A: Area>(a: &A) -> f64 {
                a.twice() + a.area()
            }
        }
        use more::{Box2, total};
        use shapes::{Area, Shape};

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            let all = [Shape::Square(x[0]), Shape::Disc(x[1]), Shape::None];
            let areas: f64 = all.iter().map(|s| s.area()).sum();
            areas + total(&Box2 { w: x[2], h: x[0] }) + all[1].twice()
        }
    }
    pub use m::{f, f_grad};
}

mod gradients_inside {
    #[stratape::differentiable]
    mod m {
        pub mod inner {
            fn sq(x: f64) -> f64 {
                x * x
            }
            #[gradient]
            pub fn g(x: f64) -> f64 {
                sq(x) * 2.0
            }
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            inner::g(x[0]) * x[1]
        }
    }
    pub use m::{f, f_grad};

    #[test]
    fn has_its_own() {
        assert_eq!(m::inner::g_grad(3.0, 1.0), (18.0, 12.0));
    }
}

mod reexported {
    #[stratape::differentiable]
    mod m {
        mod parts {
            pub fn a(x: f64) -> f64 {
                x.exp()
            }
            pub mod b {
                pub fn c(x: f64) -> f64 {
                    super::a(x) + 1.0
                }
            }
            pub use self::b::c as renamed;
            pub use b::c;
        }
        pub use parts::{c, renamed};

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            c(x[0]) * renamed(x[1]) + parts::c(x[0])
        }
    }
    pub use m::{f, f_grad};
}

mod with_tests {
    #[stratape::differentiable]
    mod m {
        fn sq(x: f64) -> f64 {
            x * x
        }
        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            sq(x[0]) * x[1]
        }
        #[cfg(test)]
        mod tests {
            use super::*;
            #[test]
            fn squares() {
                assert_eq!(sq(3.0), 9.0);
                assert_eq!(f(&[1.0, 2.0]), 2.0);
            }
        }
        mod unrelated {
            use std::collections::HashMap;
            pub static NAMES: &[&str] = &["a"];
            pub fn count(m: &HashMap<String, u8>) -> usize {
                m.len()
            }
        }
    }
    pub use m::{f, f_grad};
}

mod imports_of_two_blocks {
    #[stratape::differentiable]
    mod m {
        mod a {
            pub fn k(x: f64) -> f64 {
                x.sin()
            }
        }
        mod b {
            pub fn k(x: f64) -> f64 {
                x * x
            }
            pub fn only(x: f64) -> f64 {
                3.0 * x
            }
        }

        #[gradient]
        pub fn f(x: &[f64]) -> f64 {
            use b::only;
            only(x[0]) * a::k(x[1]) + b::k(x[0])
        }
    }
    pub use m::{f, f_grad};
}
