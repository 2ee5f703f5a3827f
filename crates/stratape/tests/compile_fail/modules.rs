#[stratape::differentiable]
mod model {
    pub enum Shape {
        Disc(f64),
        Square { side: f64 },
    }

    pub struct Wrapper<T> {
        pub inner: T,
    }

    pub struct Borrowed<'a> {
        pub x: &'a [f64],
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Law {
        Linear,
        Square,
    }

    #[derive(Clone, Copy)]
    pub struct Spring {
        pub k: f64,
        pub law: Law,
    }

    pub trait Energy {
        fn energy(&self) -> f64 {
            1.0
        }
    }

    impl Energy for Spring {}

    impl PartialOrd for Spring {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            self.k.partial_cmp(&other.k)
        }
    }

    impl PartialEq for Spring {
        fn eq(&self, other: &Self) -> bool {
            self.k == other.k
        }
    }

    fn generic<T: Copy>(x: T) -> T {
        x
    }

    fn of_any_length<const N: usize>(x: [f64; N]) -> f64 {
        x[0]
    }

    #[gradient]
    pub fn enum_with_data(shape: &Shape) -> f64 {
        match shape {
            Shape::Disc(r) => r * r,
            Shape::Square { side } => side * side,
        }
    }

    #[gradient]
    pub fn generic_struct(w: &Wrapper<f64>) -> f64 {
        w.inner
    }

    #[gradient]
    pub fn struct_with_references(b: &Borrowed<'_>) -> f64 {
        b.x[0]
    }

    #[gradient]
    pub fn trait_method(spring: &Spring) -> f64 {
        spring.energy()
    }

    #[gradient]
    pub fn operator(spring: &Spring, other: &Spring) -> f64 {
        (*spring - *other).k
    }

    #[gradient]
    pub fn enum_written(spring: &mut Spring) -> f64 {
        spring.law = Law::Square;
        spring.k
    }

    #[gradient]
    pub fn enum_compared(spring: &Spring) -> f64 {
        assert_eq!(spring.law, Law::Linear);
        spring.k
    }

    #[gradient]
    pub fn generic_helper(x: f64) -> f64 {
        generic(x)
    }

    #[gradient]
    pub fn generic_length(x: f64) -> f64 {
        of_any_length([x, 1.0])
    }

    #[gradient]
    pub fn unknown_function(x: f64) -> f64 {
        super::outside(x)
    }

    #[gradient]
    pub fn unknown_type(x: &super::Outside) -> f64 {
        x.0
    }

    type Real = super::Real;

    #[gradient]
    pub fn alias_of_an_alias(x: Real) -> f64 {
        x
    }
}

fn outside(x: f64) -> f64 {
    x
}

pub struct Outside(f64);

type Real = f64;

fn main() {}
