//! Where numbers lie: how many cells a type has, which cell a path leads to, and what cells mean.

use std::collections::HashMap;

use super::{Fault, malformed};
use stratape_ir::{Extent, Float, Int, Scalar, Type};

/// The number of elements of an array.
pub(super) fn extent(extent: &Extent, constants: &HashMap<String, f64>) -> Result<usize, Fault> {
    match extent {
        Extent::Known(n) => Ok(*n),
        Extent::Const(text) => match constants.get(&*text.text) {
            Some(number) => Ok(*number as usize),
            None => malformed(format!("the constant `{text}` is not known")),
        },
    }
}

/// The cells of a type of fixed size.
pub(super) fn cells(ty: &Type, constants: &HashMap<String, f64>) -> Result<usize, Fault> {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => Ok(1),
        Type::Array(item, n) => Ok(cells(item, constants)? * extent(n, constants)?),
        Type::Tuple(items) => items.iter().map(|item| cells(item, constants)).sum(),
        Type::Struct(def) => def.fields.iter().map(|(_, ty)| cells(ty, constants)).sum(),
        Type::Slice(_) | Type::Vec(_) => malformed("a list inside another"),
    }
}

/// An integer as a cell.
pub(super) fn from_int(number: i128, ty: Scalar) -> u64 {
    match ty {
        Scalar::Int(int) if !int.signed() => wrap(number, int) as u64,
        Scalar::Int(int) => wrap(number, int) as i64 as u64,
        _ => number as u64,
    }
}

/// An integer cut to its type.
pub(super) fn wrap(number: i128, int: Int) -> i128 {
    match int {
        Int::I8 => i128::from(number as i8),
        Int::I16 => i128::from(number as i16),
        Int::I32 => i128::from(number as i32),
        Int::I64 | Int::Isize => i128::from(number as i64),
        Int::U8 => i128::from(number as u8),
        Int::U16 => i128::from(number as u16),
        Int::U32 => i128::from(number as u32),
        Int::U64 | Int::Usize => i128::from(number as u64),
        Int::I128 | Int::U128 => number,
    }
}

/// The integer that a cell is.
pub(super) fn to_int(cell: u64, ty: Scalar) -> i128 {
    match ty {
        Scalar::Int(int) if int.signed() => i128::from(cell as i64),
        _ => i128::from(cell),
    }
}

/// A float as a cell.
pub(super) fn from_float(number: f64, ty: Scalar) -> u64 {
    match ty {
        Scalar::Float(Float::F32) => u64::from((number as f32).to_bits()),
        _ => number.to_bits(),
    }
}

/// The float that a cell is.
pub(super) fn to_float(cell: u64, ty: Scalar) -> f64 {
    match ty {
        Scalar::Float(Float::F32) => f64::from(f32::from_bits(cell as u32)),
        _ => f64::from_bits(cell),
    }
}
