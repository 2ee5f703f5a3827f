//! Arguments of programs: as text for rustc, as memory for the interpreter, and as a list of floats.

use stratape_interp::{Argument, Memory, Number};

/// An argument.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// `a: f64`
    Float(f64),
    /// `x: &[f64]`
    Shared(Vec<f64>),
    /// `y: &mut [f64]`
    Exclusive(Vec<f64>),
    /// `n: usize`, or an integer of another type.
    Int(i64),
    /// `flag: bool`
    Bool(bool),
    /// `k: &[usize]`
    Indices(Vec<usize>),
    /// A variant of an enum, by its path and its number.
    Variant(String, i64),
    /// Anything else with floats in it.
    Data(Passing, Value),
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// `[f64; 3]`
    Owned,
    /// `&[f64; 3]`
    Shared,
    /// `&mut [f64; 3]`
    Exclusive,
}

/// A value with parts.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Float(f64),
    Int(i64),
    /// An array, or what a slice shows.
    Array(Vec<Self>),
    Tuple(Vec<Self>),
    /// A struct of the program's module: its name, and its fields.
    Struct(String, Vec<(String, Self)>),
}

impl Value {
    pub(crate) fn floats(numbers: &[f64]) -> Self {
        Self::Array(numbers.iter().copied().map(Self::Float).collect())
    }

    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Float(_) | Self::Int(_) => Vec::new(),
            Self::Array(items) | Self::Tuple(items) => items.iter().collect(),
            Self::Struct(_, fields) => fields.iter().map(|(_, value)| value).collect(),
        }
    }

    /// How many floats there are in it.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Float(_) => 1,
            Self::Int(_) => 0,
            _ => self.parts().into_iter().map(Self::count).sum(),
        }
    }

    /// The same with other floats, in order.
    pub(crate) fn map(&self, float: &mut dyn FnMut(f64) -> f64) -> Self {
        let mut all =
            |items: &[Self]| -> Vec<Self> { items.iter().map(|item| item.map(float)).collect() };
        match self {
            Self::Float(number) => Self::Float(float(*number)),
            Self::Int(number) => Self::Int(*number),
            Self::Array(items) => Self::Array(all(items)),
            Self::Tuple(items) => Self::Tuple(all(items)),
            Self::Struct(name, fields) => Self::Struct(
                name.clone(),
                fields.iter().map(|(field, value)| (field.clone(), value.map(float))).collect(),
            ),
        }
    }

    pub(crate) fn memory<N: Number>(&self, float: &mut dyn FnMut(f64) -> N) -> Memory<N> {
        match self {
            Self::Float(number) => Memory::Float(float(*number)),
            Self::Int(number) => Memory::Int(i128::from(*number)),
            _ => Memory::List(self.parts().into_iter().map(|part| part.memory(float)).collect()),
        }
    }

    /// As an expression; structs are found in a module.
    pub(crate) fn text(&self, module: &str, float: &str) -> String {
        let list = |items: &[Self]| {
            items.iter().map(|item| item.text(module, float)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Float(number) => literal(*number, float),
            Self::Int(number) => number.to_string(),
            Self::Array(items) => format!("[{}]", list(items)),
            Self::Tuple(items) => format!("({},)", list(items)),
            Self::Struct(name, fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(field, value)| format!("{field}: {}", value.text(module, float)))
                    .collect();
                format!("{module}::{name} {{ {} }}", fields.join(", "))
            }
        }
    }

    /// Expressions of all floats in a place that holds such a value.
    pub(crate) fn places(&self, place: &str, found: &mut Vec<String>) {
        match self {
            Self::Float(_) => found.push(place.to_owned()),
            Self::Int(_) => {}
            Self::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    item.places(&format!("{place}[{i}]"), found);
                }
            }
            Self::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    item.places(&format!("{place}.{i}"), found);
                }
            }
            Self::Struct(_, fields) => {
                for (field, value) in fields {
                    value.places(&format!("{place}.{field}"), found);
                }
            }
        }
    }
}

/// A float as a literal that is this float to the bit.
pub(crate) fn literal(number: f64, float: &str) -> String {
    if number.is_sign_negative() {
        format!("-{:?}_{float}", number.abs())
    } else {
        format!("{number:?}_{float}")
    }
}

impl Input {
    /// What the input is made of, if it has parts, and how it is passed.
    pub(crate) fn data(&self) -> Option<(Passing, Value)> {
        match self {
            Self::Shared(numbers) => Some((Passing::Shared, Value::floats(numbers))),
            Self::Exclusive(numbers) => Some((Passing::Exclusive, Value::floats(numbers))),
            Self::Data(passing, value) => Some((*passing, value.clone())),
            _ => None,
        }
    }

    /// How many floats there are in it.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Float(_) => 1,
            _ => self.data().map_or(0, |(_, value)| value.count()),
        }
    }

    pub(crate) fn argument<N: Number>(&self, float: &mut dyn FnMut(f64) -> N) -> Argument<N> {
        match self {
            Self::Float(number) => Argument::Float(float(*number)),
            Self::Int(number) | Self::Variant(_, number) => Argument::Int(i128::from(*number)),
            Self::Bool(value) => Argument::Bool(*value),
            Self::Indices(numbers) => {
                Argument::Memory(Memory::ints(numbers.iter().map(|number| *number as i128)))
            }
            Self::Shared(_) | Self::Exclusive(_) | Self::Data(..) => match self.data() {
                Some((_, value)) => Argument::Memory(value.memory(float)),
                None => Argument::Bool(false),
            },
        }
    }
}
