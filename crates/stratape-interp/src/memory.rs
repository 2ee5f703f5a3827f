//! Single values, and memory as a tree of them.

use super::number::round;
use super::{Argument, Number, Trap, fault};
use stratape_ir::{Scalar, Type};

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<N> {
    /// A float.
    Float(N),
    /// An integer.
    Int(i128),
    /// A boolean.
    Bool(bool),
}

impl<N: Number> Datum<N> {
    /// The float, if it is one.
    pub fn float(self) -> Option<N> {
        match self {
            Self::Float(number) => Some(number),
            Self::Int(_) | Self::Bool(_) => None,
        }
    }

    /// The same value, rounded to its type; a fault if it is of another kind.
    pub(super) fn fit(self, ty: Scalar) -> Result<Self, Trap> {
        match (self, ty) {
            (Self::Float(number), Scalar::Float(width)) => {
                let value = number.value();
                let rounded = round(value, width);
                if value.to_bits() == rounded.to_bits() || value.is_nan() {
                    Ok(self)
                } else {
                    let args = [number];
                    Ok(Self::Float(N::result(rounded, super::Operation::Cast, &args)))
                }
            }
            (Self::Int(number), Scalar::Int(int)) => {
                let (least, greatest) = int.bounds();
                if (least..=greatest).contains(&number) {
                    Ok(self)
                } else {
                    fault(format!("{number} is not of type {ty}"))
                }
            }
            (Self::Bool(_), Scalar::Bool) | (_, Scalar::Infer(_)) => Ok(self),
            _ => fault(format!("{self:?} is not of type {ty}")),
        }
    }
}

/// The contents of an object, or of a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory<N> {
    /// A float.
    Float(N),
    /// An integer.
    Int(i128),
    /// A boolean.
    Bool(bool),
    /// The elements of an array, slice or `Vec`, the fields of a struct or tuple.
    List(Vec<Memory<N>>),
}

impl<N> From<Datum<N>> for Memory<N> {
    fn from(datum: Datum<N>) -> Self {
        match datum {
            Datum::Float(number) => Self::Float(number),
            Datum::Int(number) => Self::Int(number),
            Datum::Bool(value) => Self::Bool(value),
        }
    }
}

impl<N> From<Datum<N>> for Argument<N> {
    fn from(datum: Datum<N>) -> Self {
        match datum {
            Datum::Float(number) => Self::Float(number),
            Datum::Int(number) => Self::Int(number),
            Datum::Bool(value) => Self::Bool(value),
        }
    }
}

impl<N: Number> Memory<N> {
    /// How many numbers it holds, how many its first item, the first item of that, and so on.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let inner = match self {
            Self::List(items) => items.first().map(Self::sizes).unwrap_or_default(),
            _ => Vec::new(),
        };
        [self.count()].into_iter().chain(inner).collect()
    }

    /// How many numbers it holds.
    fn count(&self) -> usize {
        match self {
            Self::List(items) => items.iter().map(Self::count).sum(),
            _ => 1,
        }
    }

    /// An array of floats.
    pub fn floats(numbers: impl IntoIterator<Item = N>) -> Self {
        Self::List(numbers.into_iter().map(Self::Float).collect())
    }

    /// An array of integers.
    pub fn ints(numbers: impl IntoIterator<Item = i128>) -> Self {
        Self::List(numbers.into_iter().map(Self::Int).collect())
    }

    /// Every float, in order.
    pub fn to_floats(&self) -> Vec<N> {
        match self {
            Self::Float(number) => vec![*number],
            Self::Int(_) | Self::Bool(_) => Vec::new(),
            Self::List(items) => items.iter().flat_map(Self::to_floats).collect(),
        }
    }

    /// The value, if there is just one.
    pub(super) fn datum(&self) -> Option<Datum<N>> {
        match self {
            Self::Float(number) => Some(Datum::Float(*number)),
            Self::Int(number) => Some(Datum::Int(*number)),
            Self::Bool(value) => Some(Datum::Bool(*value)),
            Self::List(_) => None,
        }
    }

    /// The same shape, every float zero.
    pub fn zeroed(&self) -> Self {
        self.filled(0.0)
    }

    /// The same shape, every float the same.
    pub(super) fn filled(&self, number: f64) -> Self {
        match self {
            Self::Float(_) => Self::Float(N::constant(number)),
            Self::Int(number) => Self::Int(*number),
            Self::Bool(value) => Self::Bool(*value),
            Self::List(items) => Self::List(items.iter().map(|item| item.filled(number)).collect()),
        }
    }

    /// The same contents with every value rounded to its type; a fault if the shape is another.
    /// Arrays whose length is a constant may have any.
    pub(super) fn fit(self, ty: &Type) -> Result<Self, Trap> {
        if let (Some(datum), Some(scalar)) = (self.datum(), ty.scalar()) {
            return Ok(datum.fit(scalar)?.into());
        }
        let Self::List(items) = self else {
            return fault(format!("one value where {ty} is expected"));
        };
        let count = items.len();
        let expected = match ty {
            Type::Array(_, stratape_ir::Extent::Known(len)) => *len,
            Type::Tuple(items) => items.len(),
            Type::Struct(def) => def.fields.len(),
            Type::Array(..) | Type::Slice(_) | Type::Vec(_) => count,
            Type::Scalar(_) | Type::Enum(_) => {
                return fault(format!("a list where {ty} is expected"));
            }
        };
        if count != expected {
            return fault(format!("{count} items where {ty} is expected"));
        }
        let inner = |index| ty.element().or_else(|| ty.field(index));
        let items = items.into_iter().enumerate().map(|(index, item)| match inner(index) {
            Some(ty) => item.fit(ty),
            None => fault(format!("{ty} has no item {index}")),
        });
        Ok(Self::List(items.collect::<Result<_, _>>()?))
    }
}
