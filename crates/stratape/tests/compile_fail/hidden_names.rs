//! Names that mean something else in the file than they seem to: rustc finds the constants, the attribute the rest.

#![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

use stratape::gradient;

const zero: usize = 0;

#[gradient]
fn constant_in_a_pattern(x: f64, n: usize) -> f64 {
    match n {
        zero => 2.0 * x,
        _ => x.sin(),
    }
}

#[derive(Clone, Copy)]
#[stratape::differentiable]
enum Kind {
    plain,
    steep,
}

use Kind::*;

#[stratape::differentiable]
fn variant_in_a_pattern(x: f64, n: Option<usize>) -> f64 {
    match n {
        Some(plain) => 2.0 * x,
        None => x.sin(),
    }
}

macro_rules! vec {
    ($($x:expr),*) => {
        ::std::vec![$($x * 2.0),*]
    };
}

#[gradient]
fn own_macro(x: f64) -> f64 {
    vec![x][0]
}

mod renamed {
    pub struct Wide;

    impl Wide {
        pub fn sqrt(x: f64) -> f64 {
            x * 2.0
        }
    }

    use self::Wide as f32;

    #[stratape::gradient]
    pub fn own_type(x: f64) -> f64 {
        f32::sqrt(x)
    }
}

fn main() {}
