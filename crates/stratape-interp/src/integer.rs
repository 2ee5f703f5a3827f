//! Integers as `i128` held to the bounds of their type, with the panics of a debug build.
//!
//! Numbers of `u128` above `i128::MAX` are out of bounds here, so an operation that would reach them traps.

use super::{Trap, fault};
use stratape_ir::{Binary, Int};

fn panic<T>(message: impl Into<String>) -> Result<T, Trap> {
    Err(Trap::Panic(message.into()))
}

fn fits(number: i128, ty: Int) -> bool {
    let (least, greatest) = ty.bounds();
    (least..=greatest).contains(&number)
}

fn checked(number: Option<i128>, ty: Int, action: &str) -> Result<i128, Trap> {
    match number {
        Some(number) if fits(number, ty) => Ok(number),
        _ => panic(format!("attempt to {action} with overflow")),
    }
}

/// The number that a type's lowest bits hold.
pub(super) fn wrap(number: i128, ty: Int) -> i128 {
    let bits = ty.bits();
    if bits == 128 {
        return number;
    }
    let low = number & ((1 << bits) - 1);
    if ty.signed() && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

/// The number nearest to a float: truncated, held to the bounds, zero for NaN.
pub(crate) fn from_float(value: f64, ty: Int) -> i128 {
    let (least, greatest) = ty.bounds();
    (value as i128).clamp(least, greatest)
}

/// `-a`
pub(super) fn neg(a: i128, ty: Int) -> Result<i128, Trap> {
    checked(a.checked_neg(), ty, "negate")
}

/// `!a`
pub(super) fn not(a: i128, ty: Int) -> i128 {
    wrap(!a, ty)
}

/// `a op b`
pub(super) fn binary(sign: Binary, a: i128, b: i128, ty: Int) -> Result<i128, Trap> {
    let shift = u32::try_from(b).ok().filter(|shift| *shift < ty.bits());
    match sign {
        Binary::Add => checked(a.checked_add(b), ty, "add"),
        Binary::Sub => checked(a.checked_sub(b), ty, "subtract"),
        Binary::Mul => checked(a.checked_mul(b), ty, "multiply"),
        Binary::Div if b == 0 => panic("attempt to divide by zero"),
        Binary::Div => checked(a.checked_div(b), ty, "divide"),
        Binary::Rem if b == 0 => panic("attempt to calculate the remainder with a divisor of zero"),
        Binary::Rem if ty.signed() && a == ty.bounds().0 && b == -1 => {
            panic("attempt to calculate the remainder with overflow")
        }
        Binary::Rem => Ok(a % b),
        Binary::BitAnd => Ok(a & b),
        Binary::BitOr => Ok(a | b),
        Binary::BitXor => Ok(a ^ b),
        Binary::Shl => match shift {
            Some(shift) => Ok(wrap(a << shift, ty)),
            None => panic("attempt to shift left with overflow"),
        },
        Binary::Shr => match shift {
            Some(shift) => Ok(a >> shift),
            None => panic("attempt to shift right with overflow"),
        },
    }
}

/// What a method of an integer gives.
pub(super) enum Answer {
    Int(i128),
    Bool(bool),
}

/// A method by its name.
pub(super) fn method(name: &str, args: &[i128], ty: Int) -> Result<Answer, Trap> {
    let number = match *args {
        [a] => match name {
            "is_power_of_two" => return Ok(Answer::Bool(a > 0 && a.count_ones() == 1)),
            "is_negative" => return Ok(Answer::Bool(a < 0)),
            "is_positive" => return Ok(Answer::Bool(a > 0)),
            _ => of_one(name, a, ty)?,
        },
        [a, b] if name == "is_multiple_of" => {
            return Ok(Answer::Bool(if b == 0 { a == 0 } else { a % b == 0 }));
        }
        [a, b] => of_two(name, a, b, ty)?,
        [a, least, greatest] if name == "clamp" => {
            if least > greatest {
                return panic("assertion failed: min <= max");
            }
            Some(a.clamp(least, greatest))
        }
        _ => None,
    };
    match number {
        Some(number) if fits(number, ty) || !same_type(name) => Ok(Answer::Int(number)),
        Some(number) => fault(format!("{name} gives {number}, out of the bounds of {ty:?}")),
        None => Err(Trap::Unknown(format!("method `{name}` of {} integers", args.len()))),
    }
}

/// Whether a method gives a number of the receiver's type.
fn same_type(name: &str) -> bool {
    !matches!(
        name,
        "count_ones"
            | "count_zeros"
            | "leading_zeros"
            | "trailing_zeros"
            | "leading_ones"
            | "trailing_ones"
            | "ilog2"
            | "ilog10"
            | "abs_diff"
            | "unsigned_abs"
    )
}

fn of_one(name: &str, a: i128, ty: Int) -> Result<Option<i128>, Trap> {
    let bits = ty.bits();
    let mask = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    let pattern = a as u128 & mask;
    Ok(Some(match name {
        "abs" => checked(a.checked_abs(), ty, "negate")?,
        "signum" => a.signum(),
        "isqrt" if a < 0 => {
            return panic("argument of integer square root cannot be negative");
        }
        "isqrt" => a.isqrt(),
        "ilog2" | "ilog10" if a <= 0 => {
            return panic("argument of integer logarithm must be positive");
        }
        "ilog2" => i128::from(a.ilog2()),
        "ilog10" => i128::from(a.ilog10()),
        "leading_ones" => i128::from((pattern << (128 - bits)).leading_ones()),
        "trailing_ones" => i128::from(pattern.trailing_ones()),
        "reverse_bits" => wrap((pattern << (128 - bits)).reverse_bits() as i128, ty),
        "swap_bytes" => wrap((pattern << (128 - bits)).swap_bytes() as i128, ty),
        "next_power_of_two" if !ty.signed() => checked(
            Some(a.max(1)).and_then(|a| i128::try_from((a as u128).next_power_of_two()).ok()),
            ty,
            "add",
        )?,
        "count_ones" => i128::from(pattern.count_ones()),
        "count_zeros" => i128::from(bits - pattern.count_ones()),
        "leading_zeros" => i128::from(pattern.leading_zeros() - (128 - bits)),
        "trailing_zeros" => i128::from(pattern.trailing_zeros().min(bits)),
        "wrapping_neg" => wrap(a.wrapping_neg(), ty),
        "wrapping_abs" => wrap(a.wrapping_abs(), ty),
        "unsigned_abs" => match i128::try_from(a.unsigned_abs()) {
            Ok(number) => number,
            Err(_) => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

fn of_two(name: &str, a: i128, b: i128, ty: Int) -> Result<Option<i128>, Trap> {
    let (least, greatest) = ty.bounds();
    let divided = matches!(name, "div_euclid" | "rem_euclid" | "div_ceil" | "next_multiple_of");
    if divided && b == 0 {
        return panic(match name {
            "div_euclid" | "div_ceil" => "attempt to divide by zero",
            _ => "attempt to calculate the remainder with a divisor of zero",
        });
    }
    let saturated = |exact: Option<i128>, towards: i128| match exact {
        Some(number) => number.clamp(least, greatest),
        None if towards < 0 => least,
        None => greatest,
    };
    Ok(Some(match name {
        "min" => a.min(b),
        "max" => a.max(b),
        "pow" => {
            let exponent = u32::try_from(b).ok();
            checked(exponent.and_then(|n| a.checked_pow(n)), ty, "multiply")?
        }
        "abs_diff" => match i128::try_from(a.abs_diff(b)) {
            Ok(number) => number,
            Err(_) => return Ok(None),
        },
        "div_euclid" => checked(a.checked_div_euclid(b), ty, "divide")?,
        "rem_euclid" if ty.signed() && a == least && b == -1 => {
            return panic("attempt to calculate the remainder with overflow");
        }
        "rem_euclid" => a.rem_euclid(b),
        "div_ceil" if !ty.signed() => a / b + i128::from(a % b != 0),
        "next_multiple_of" if !ty.signed() => {
            checked((a / b + i128::from(a % b != 0)).checked_mul(b), ty, "add")?
        }
        "midpoint" => match a.checked_add(b) {
            Some(sum) => sum / 2,
            None => return Ok(None),
        },
        "rotate_left" | "rotate_right" => {
            let bits = ty.bits();
            let by = (b as u32) % bits;
            let by = if name == "rotate_left" { by } else { (bits - by) % bits };
            let mask = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
            let pattern = a as u128 & mask;
            let back = if by == 0 { 0 } else { pattern >> (bits - by) };
            wrap(((pattern << by) | back) as i128, ty)
        }
        "wrapping_shl" => wrap(a << ((b as u32) % ty.bits()), ty),
        "wrapping_shr" => a >> ((b as u32) % ty.bits()),
        "strict_add" => checked(a.checked_add(b), ty, "add")?,
        "wrapping_add" => wrap(a.wrapping_add(b), ty),
        "wrapping_sub" => wrap(a.wrapping_sub(b), ty),
        "wrapping_mul" => wrap(a.wrapping_mul(b), ty),
        "saturating_add" => saturated(a.checked_add(b), b),
        "saturating_sub" => saturated(a.checked_sub(b), if b > 0 { -1 } else { 1 }),
        "saturating_mul" => saturated(a.checked_mul(b), a.signum() * b.signum()),
        _ => return Ok(None),
    }))
}
