//! Two of a kind, of which rustc takes one and the compiler would take the other.

#[stratape::differentiable]
mod operators {
    use std::iter::Sum;
    use std::ops::Mul;

    #[derive(Clone, Copy)]
    struct V {
        x: f64,
    }

    impl Mul<V> for V {
        type Output = V;
        fn mul(self, other: V) -> V {
            V { x: self.x * other.x }
        }
    }

    impl Mul<&V> for &V {
        type Output = V;
        fn mul(self, other: &V) -> V {
            V { x: self.x + other.x }
        }
    }

    impl Sum for V {
        fn sum<I: Iterator<Item = V>>(iter: I) -> V {
            iter.fold(V { x: 0.0 }, |a, b| V { x: a.x + b.x })
        }
    }

    impl<'a> Sum<&'a V> for V {
        fn sum<I: Iterator<Item = &'a V>>(iter: I) -> V {
            iter.fold(V { x: 1.0 }, |a, b| V { x: a.x * b.x })
        }
    }

    #[gradient]
    pub fn product(x: f64) -> f64 {
        let v = V { x };
        (&v * &v).x
    }

    #[gradient]
    pub fn summed(x: f64) -> f64 {
        let v = [V { x }, V { x }];
        v.iter().sum::<V>().x
    }
}

#[stratape::differentiable]
mod constants {
    struct S;

    trait A {
        const K: f64;
    }

    trait B {
        const K: f64;
    }

    impl A for S {
        const K: f64 = 2.0;
    }

    impl B for S {
        const K: f64 = 3.0;
    }

    trait Small {
        const EPSILON: f64;
    }

    impl Small for f64 {
        const EPSILON: f64 = 0.125;
    }

    #[gradient]
    pub fn of_two_traits(x: f64) -> f64 {
        x * <S as A>::K
    }

    #[gradient]
    pub fn of_floats(x: f64) -> f64 {
        x * f64::EPSILON
    }
}

#[stratape::differentiable]
mod lists {
    trait N {
        fn n(&self) -> f64;
        fn len(&self) -> f64;
    }

    impl N for [f64; 2] {
        fn n(&self) -> f64 {
            self[0]
        }

        fn len(&self) -> f64 {
            7.0
        }
    }

    impl N for Vec<f64> {
        fn n(&self) -> f64 {
            self[1]
        }

        fn len(&self) -> f64 {
            8.0
        }
    }

    #[gradient]
    pub fn array_or_list(x: f64) -> f64 {
        vec![x, 2.0 * x].n()
    }

    #[gradient]
    pub fn of_lists(x: f64) -> f64 {
        let v = [x, 2.0];
        v[0] * v.len() as f64
    }
}

fn main() {}
