//! Types of values and of memory.

use std::fmt;
use std::sync::Arc;

use super::TokensId;

/// Widths of floating point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// `f32`
    F32,
    /// `f64`
    F64,
}

/// Integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in Rust")]
pub enum Int {
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
}

impl Int {
    /// Every integer type, with its name in Rust.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::I8, "i8"),
        (Self::I16, "i16"),
        (Self::I32, "i32"),
        (Self::I64, "i64"),
        (Self::I128, "i128"),
        (Self::Isize, "isize"),
        (Self::U8, "u8"),
        (Self::U16, "u16"),
        (Self::U32, "u32"),
        (Self::U64, "u64"),
        (Self::U128, "u128"),
        (Self::Usize, "usize"),
    ];

    /// Bits of the type; `usize` counts as 64.
    pub fn bits(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 => 32,
            Self::I64 | Self::U64 | Self::Isize | Self::Usize => 64,
            Self::I128 | Self::U128 => 128,
        }
    }

    /// The type of as many bits without a sign.
    #[must_use]
    pub fn unsigned(self) -> Self {
        match self {
            Self::I8 => Self::U8,
            Self::I16 => Self::U16,
            Self::I32 => Self::U32,
            Self::I64 => Self::U64,
            Self::I128 => Self::U128,
            Self::Isize => Self::Usize,
            other => other,
        }
    }

    /// Whether the type has negative numbers.
    pub fn signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::I128 | Self::Isize)
    }

    /// Least and greatest number of the type (`u128` is cut at `i128::MAX`).
    pub fn bounds(self) -> (i128, i128) {
        match (self.signed(), self.bits()) {
            (_, 128) if self.signed() => (i128::MIN, i128::MAX),
            (_, 128) => (0, i128::MAX),
            (true, bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (false, bits) => (0, (1 << bits) - 1),
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// An integer.
    Int(Int),
    /// A floating point number.
    Float(Float),
    /// Not known yet: a literal without suffix, a constant of another module. Only the front
    /// makes them, and none is left when it has finished, except for constants that nothing
    /// gives a type to.
    Infer(u32),
}

impl Scalar {
    /// `usize`, the type of lengths and indices.
    pub const USIZE: Self = Self::Int(Int::Usize);

    /// Whether a derivative can flow through values of the type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }

    /// The type with a name in Rust.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "bool" => Some(Self::Bool),
            "f32" => Some(Self::Float(Float::F32)),
            "f64" => Some(Self::Float(Float::F64)),
            _ => Int::ALL.iter().find(|(_, known)| *known == name).map(|(int, _)| Self::Int(*int)),
        }
    }

    /// The name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Float(Float::F32) => "f32",
            Self::Float(Float::F64) => "f64",
            Self::Int(int) => {
                Int::ALL.iter().find(|(other, _)| *other == int).map_or("int", |(_, name)| name)
            }
            Self::Infer(_) => "_",
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Rust text that the language does not look into: a constant expression, a function's path, a panic. Two are equal if their
/// texts are.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// The text.
    pub text: Arc<str>,
    /// The same with its spans, if it came from source text.
    pub tokens: Option<TokensId>,
}

impl Opaque {
    /// Text that comes from no source.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), tokens: None }
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Opaque {}

impl std::hash::Hash for Opaque {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The length of an array in its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A literal.
    Known(usize),
    /// A constant expression the compiler does not look into.
    Const(Opaque),
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(n) => write!(f, "{n}"),
            Self::Const(text) => write!(f, "{text}"),
        }
    }
}

/// A struct of the module under the compiler's eyes.
#[derive(Debug, PartialEq)]
pub struct Struct {
    /// Its name, as a path that is valid where the gradient is emitted.
    pub name: String,
    /// Names (positions, for a tuple struct) and types of its fields, in order.
    pub fields: Vec<(String, Type)>,
    /// Whether it is declared as `struct S(…)`.
    pub tuple: bool,
}

/// The type of memory: what a parameter refers to, or a local aggregate.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// One value.
    Scalar(Scalar),
    /// An enum without data; its values are `isize` discriminants.
    Enum(String),
    /// `[T; n]`
    Array(Box<Type>, Extent),
    /// `[T]`, behind a reference.
    Slice(Box<Type>),
    /// `Vec<T>`
    Vec(Box<Type>),
    /// `(A, B, …)`
    Tuple(Vec<Type>),
    /// A struct.
    Struct(Arc<Struct>),
}

impl Type {
    /// Whether a derivative can flow through memory of the type.
    pub fn has_float(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.is_float(),
            Self::Enum(_) => false,
            Self::Array(item, _) | Self::Slice(item) | Self::Vec(item) => item.has_float(),
            Self::Tuple(items) => items.iter().any(Self::has_float),
            Self::Struct(def) => def.fields.iter().any(|(_, ty)| ty.has_float()),
        }
    }

    /// The type of the elements of an array, slice or `Vec`.
    pub fn element(&self) -> Option<&Self> {
        match self {
            Self::Array(item, _) | Self::Slice(item) | Self::Vec(item) => Some(item),
            _ => None,
        }
    }

    /// The type of a field by its position.
    pub fn field(&self, index: usize) -> Option<&Self> {
        match self {
            Self::Tuple(items) => items.get(index),
            Self::Struct(def) => def.fields.get(index).map(|(_, ty)| ty),
            _ => None,
        }
    }

    /// The value type, where one value is held.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            Self::Enum(_) => Some(Scalar::Int(Int::Isize)),
            _ => None,
        }
    }

    /// How many numbers the memory holds, if it holds nothing else and the type says how many.
    pub fn numbers(&self) -> Option<usize> {
        match self {
            Self::Scalar(_) => Some(1),
            Self::Array(item, Extent::Known(len)) => item.numbers()?.checked_mul(*len),
            Self::Tuple(items) => items.iter().map(Self::numbers).sum(),
            Self::Struct(def) => def.fields.iter().map(|(_, ty)| ty.numbers()).sum(),
            Self::Array(_, Extent::Const(_)) | Self::Enum(_) | Self::Slice(_) | Self::Vec(_) => {
                None
            }
        }
    }

    /// Whether the length of the memory is written in the type at every level.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Scalar(_) | Self::Enum(_) => true,
            Self::Array(item, _) => item.is_fixed(),
            Self::Slice(_) | Self::Vec(_) => false,
            Self::Tuple(items) => items.iter().all(Self::is_fixed),
            Self::Struct(def) => def.fields.iter().all(|(_, ty)| ty.is_fixed()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => write!(f, "{scalar}"),
            Self::Enum(name) => f.write_str(name),
            Self::Array(item, extent) => write!(f, "[{item}; {extent}]"),
            Self::Slice(item) => write!(f, "[{item}]"),
            Self::Vec(item) => write!(f, "Vec<{item}>"),
            Self::Tuple(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str(")")
            }
            Self::Struct(def) => f.write_str(&def.name),
        }
    }
}
