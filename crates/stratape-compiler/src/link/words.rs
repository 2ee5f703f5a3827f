//! Words of the language and its library that a text means by themselves.

use crate::front::MACROS;
use crate::library;

/// Names of the prelude, and of the traits behind operators.
pub(super) const LIBRARY: [&str; 37] = [
    "drop",
    "PhantomData",
    "Vec",
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "String",
    "Box",
    "Self",
    "Neg",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "RemAssign",
    "Ord",
    "PartialOrd",
    "Ordering",
    "PartialEq",
    "Eq",
    "Iterator",
    "IntoIterator",
    "Default",
    "Clone",
    "Copy",
    "From",
    "Into",
    "Fn",
    "FnMut",
];

/// Types of the language itself, whose names are modules of the library as well.
pub(super) const PRIMITIVE: [&str; 17] = [
    "f32", "f64", "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
    "i32", "i64", "i128", "isize",
];

/// Functions of the library that are called by the last names of their paths.
pub(super) const CALLED: [(&str, &str); 5] =
    [("mem", "swap"), ("mem", "replace"), ("mem", "take"), ("iter", "zip"), ("iter", "repeat")];

/// Methods of arrays and slices that tell a table from a number.
pub(super) const OF_TABLES: [&str; 10] = [
    "iter",
    "len",
    "windows",
    "chunks_exact",
    "chunks",
    "to_vec",
    "first",
    "last",
    "split_at",
    "is_empty",
];

/// Macros whose arguments are expressions that a gradient reads.
pub(super) const CONDITIONS: [(&str, usize); 8] = [
    ("dbg", usize::MAX),
    ("vec", usize::MAX),
    ("assert", 1),
    ("debug_assert", 1),
    ("assert_eq", 2),
    ("assert_ne", 2),
    ("debug_assert_eq", 2),
    ("debug_assert_ne", 2),
];

/// Macros that are nothing but a message.
pub(super) const MESSAGES: [&str; 8] =
    ["panic", "unreachable", "unimplemented", "todo", "println", "eprintln", "print", "eprint"];

/// Macros of other crates, which may not be there where the text arrives.
pub(super) const LOGS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];

/// Whether a name is written as constants are.
pub(super) fn is_constant(name: &str) -> bool {
    name.starts_with(|c: char| c.is_uppercase() || c == '_')
        && !name.chars().any(char::is_lowercase)
}

pub(super) fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Whether a path that begins so is one of the library.
pub(super) fn is_root(first: &syn::Ident) -> bool {
    ["std", "core", "alloc"].iter().any(|name| first == name)
}

pub(super) fn is_library(name: &str) -> bool {
    LIBRARY.contains(&name) || PRIMITIVE.contains(&name) || library::is_known(name)
}

/// Whether a name is that of a macro or a type of the language whose meaning is known by heart.
pub fn is_of_the_language(name: &str) -> bool {
    MACROS.contains(&name) || PRIMITIVE.contains(&name)
}
