//! What could mean one thing to the compiler and another to rustc.

use stratape::gradient;

#[gradient]
fn under_a_condition(x: f64) -> f64 {
    let mut y = x;
    #[cfg(any())]
    {
        y *= 100.0;
    }
    y
}

#[stratape::differentiable]
mod alternatives {
    #[cfg(all())]
    const K: f64 = 2.0;
    #[cfg(any())]
    const K: f64 = 100.0;

    #[gradient]
    pub fn f(x: f64) -> f64 {
        K * x
    }
}

#[stratape::differentiable]
mod methods {
    struct S {
        a: f64,
    }

    trait One {
        fn q(&self) -> f64;
    }

    trait Two {
        fn q(&self) -> f64;
    }

    impl One for S {
        fn q(&self) -> f64 {
            self.a
        }
    }

    impl Two for S {
        fn q(&self) -> f64 {
            2.0 * self.a
        }
    }

    fn generic<T: Two>(s: &T) -> f64 {
        s.q()
    }

    #[gradient]
    pub fn two_traits(x: f64) -> f64 {
        let s = S { a: x };
        generic(&s)
    }

    struct L<const N: usize> {
        a: f64,
    }

    impl L<1> {
        fn order(&self) -> f64 {
            self.a
        }
    }

    impl L<2> {
        fn order(&self) -> f64 {
            self.a * self.a
        }
    }

    #[gradient]
    pub fn two_parameters(x: f64) -> f64 {
        L::<2> { a: x }.order()
    }

    trait Wave {
        fn sin(self) -> f64;
    }

    impl Wave for f64 {
        fn sin(self) -> f64 {
            0.0
        }
    }

    #[gradient]
    pub fn a_method_of_floats(x: f64) -> f64 {
        x.sin()
    }
}

#[stratape::differentiable]
mod clones {
    struct Doubling {
        a: f64,
    }

    impl Clone for Doubling {
        fn clone(&self) -> Self {
            Doubling { a: 2.0 * self.a }
        }
    }

    #[gradient]
    pub fn cloned(x: f64) -> f64 {
        Doubling { a: x }.clone().a
    }
}

#[stratape::differentiable]
mod own_option {
    pub enum Option {
        Some(f64),
        None,
    }

    #[gradient]
    pub fn f(x: f64) -> f64 {
        x
    }
}

macro_rules! scaled {
    ($name:ident, $x:ident, $by:expr) => {
        #[gradient]
        fn $name($x: f64) -> f64 {
            let t = 2.0;
            $by * t
        }
    };
}

scaled!(hygiene, t, t * t);

fn main() {}
