//! Variants of enums that are named without their enums.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    all_of_a_module: 3,
    some_of_a_module: 3,
    inside_a_function: 3,
    beside_a_function: 3,
    from_around: 3,
    orderings: 3,
}

#[stratape::differentiable]
mod all_of_a_module {
    use Kind::*;
    use Shape::*;

    #[derive(Clone, Copy, PartialEq)]
    pub enum Kind {
        Call,
        Put,
    }

    pub enum Shape {
        Circle(f64),
        Square { side: f64 },
        Empty,
    }

    impl Shape {
        fn area(&self) -> f64 {
            match self {
                Circle(r) => 3.0 * r * r,
                Square { side } => side * side,
                Empty => 0.25,
            }
        }
    }

    fn payoff(kind: Kind, s: f64) -> f64 {
        match kind {
            Call => s * s,
            Put => s.exp(),
        }
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let kinds = [Call, Put, Call];
        let mut total = Circle(x[0]).area() * Square { side: x[1] }.area() + Empty.area();
        for (i, kind) in kinds.iter().enumerate() {
            total += payoff(*kind, x[i]);
            if matches!(kind, Put | Call) && *kind == Call {
                total += x[i];
            }
        }
        total
    }
}

#[stratape::differentiable]
mod some_of_a_module {
    use self::Kind::{Call, Put as Sell};

    #[derive(Clone, Copy)]
    pub enum Kind {
        Call,
        Put,
        Both,
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut kind = Call;
        let mut total = 0.0;
        for v in x {
            total += match kind {
                Call => v * v,
                Sell => v.sin(),
                Kind::Both => v.exp() * total,
            };
            kind = match kind {
                Call => Sell,
                _ => Kind::Both,
            };
        }
        total
    }
}

mod inside_a_function {
    #[derive(Clone, Copy)]
    #[stratape::differentiable]
    pub enum Kind {
        Call,
        Put,
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        use Kind::*;
        let kind = if x[0] > 0.5 { Call } else { Put };
        match kind {
            Call => x[0] * x[1],
            Put => x[1] * x[2].sin(),
        }
    }
}

mod beside_a_function {
    use Kind::{Call, Put};

    #[derive(Clone, Copy)]
    #[stratape::differentiable]
    pub enum Kind {
        Call,
        Put,
    }

    #[stratape::differentiable]
    pub fn payoff(kind: Kind, s: f64) -> f64 {
        match kind {
            Call => s * s,
            Put => s.exp(),
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        payoff(Call, x[0]) * payoff(Put, x[1]) + payoff(if x[2] > 0.6 { Call } else { Put }, x[2])
    }
}

#[stratape::differentiable]
pub enum Around {
    Steep(f64),
    Flat,
}

mod from_around {
    use super::Around::{self, *};

    #[stratape::differentiable]
    fn slope(of: &Around, x: f64) -> f64 {
        match of {
            Steep(by) => by * x * x,
            Flat => x,
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        slope(&Steep(x[0]), x[1]) + slope(&Flat, x[2])
    }
}

mod orderings {
    use std::cmp::Ordering::*;

    #[stratape::differentiable]
    pub fn by_size(a: f64, b: f64) -> f64 {
        match a.total_cmp(&b) {
            Less => a * a,
            Equal => 0.0,
            Greater => b * a,
        }
    }

    #[stratape::gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut sorted = x.to_vec();
        sorted.sort_by(|a, b| match a.partial_cmp(b) {
            Some(Less) => Greater,
            Some(Greater) => Less,
            _ => Equal,
        });
        by_size(x[0], x[1]) + sorted[0] * sorted[1].sin() + by_size(x[2], x[1])
    }
}
