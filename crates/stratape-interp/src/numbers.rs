//! What [`simt`](crate::simt) takes from the interpreter: the numbers that operations give.

use super::{Trap, integer, operation};
use stratape_ir::{Int, Scalar};

pub(crate) use super::integer::from_float;
pub(crate) use super::number::{Operation, evaluate as apply};
pub(crate) use super::operation::literal;

/// A method of an integer by its name; a `bool` is 0 or 1.
pub(crate) fn method(name: &str, args: &[i128], int: Int) -> Result<i128, Trap> {
    Ok(match integer::method(name, args, int)? {
        integer::Answer::Int(number) => number,
        integer::Answer::Bool(holds) => i128::from(holds),
    })
}

/// Whether a float is what a method asks, as 0 or 1.
pub(crate) fn predicate(name: &str, number: f64, ty: Scalar) -> Result<i128, Trap> {
    operation::predicate(name, number, ty).map(i128::from)
}
