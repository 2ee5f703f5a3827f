use stratape::{constant, pullback};

#[constant]
struct NoFunction {}

#[constant]
fn constant_of_pairs(x: &[(f64, f64)]) -> f64 {
    x[0].0
}

fn alone(x: f64) -> f64 {
    x
}

#[pullback(of = alone)]
fn pullback_without_result(_x: f64, _seed: f64) {}

#[pullback(of = alone)]
fn pullback_without_shadow(x: &[f64], seed: f64) -> f64 {
    x[0] * seed
}

#[pullback(for = alone)]
fn pullback_of_nothing(x: f64, seed: f64) -> f64 {
    x * seed
}

#[stratape::differentiable]
mod of_nothing {
    #[stratape::pullback]
    fn back(x: f64, seed: f64) -> f64 {
        x * seed
    }
}

#[stratape::differentiable]
mod of_the_unknown {
    #[stratape::pullback(of = missing)]
    fn back(x: f64, seed: f64) -> f64 {
        x * seed
    }
}

#[stratape::differentiable]
mod with_too_few_arguments {
    fn f(x: f64, y: &[f64]) -> f64 {
        x * y[0]
    }

    #[stratape::pullback(of = f)]
    fn back(x: f64, y: &[f64], seed: f64) -> f64 {
        x * seed * y[0]
    }
}

#[stratape::differentiable]
mod of_other_types {
    pub struct Point {
        pub x: f64,
    }

    #[stratape::constant]
    fn takes_structs(p: &[Point]) -> f64 {
        p[0].x
    }

    #[stratape::constant]
    fn returns_a_pair(x: f64) -> (f64, f64) {
        (x, x)
    }

    fn descend(p: &[Vec<f64>], n: usize) -> f64 {
        if n == 0 { p[0][0] } else { descend(p, n - 1) }
    }

    #[gradient]
    pub fn structs(p: &[Point]) -> f64 {
        takes_structs(p)
    }

    #[gradient]
    pub fn a_pair(x: f64) -> f64 {
        returns_a_pair(x).0
    }

    #[gradient]
    pub fn lists_going_round(p: &[Vec<f64>]) -> f64 {
        descend(p, 3)
    }
}

fn main() {}
