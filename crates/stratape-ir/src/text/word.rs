//! What printer and parser agree on: how names, opaque texts and types are written, and which operation a name without a keyword means.

use crate::{Extent, Math, Opaque, Scalar, Struct, Type};

/// Words that stand for a form of an operation, and so for no method.
pub(super) const OPERATIONS: [&str; 9] =
    ["builtin", "const", "else", "false", "float", "if", "math", "method", "true"];

/// Words that have a meaning where a type is expected.
const IN_TYPES: [&str; 5] = ["Vec", "enum", "local", "mut", "owned"];

pub(super) fn starts_identifier(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

pub(super) fn continues_identifier(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether a name is read as one word.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.strip_prefix("r#").unwrap_or(name).chars();
    chars.next().is_some_and(starts_identifier) && chars.all(continues_identifier)
}

/// Text between delimiters, on one line.
fn quoted(text: &str, delimiter: char) -> String {
    let mut out = String::from(delimiter);
    for c in text.chars() {
        match c {
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\\' => out += "\\\\",
            c if c == delimiter => out.extend(['\\', c]),
            c if c.is_control() => out += &c.escape_unicode().to_string(),
            c => out.push(c),
        }
    }
    out.push(delimiter);
    out
}

/// A message.
pub(super) fn string(text: &str) -> String {
    quoted(text, '"')
}

/// A name: as it is if it is an identifier.
pub(super) fn name(text: &str) -> String {
    if is_identifier(text) { text.to_owned() } else { string(text) }
}

/// Text that the language does not look into: as it is if it is an identifier.
pub(super) fn opaque(text: &Opaque) -> String {
    if is_identifier(&text.text) { text.text.to_string() } else { quoted(&text.text, '`') }
}

/// The name of a struct, an enum or a function.
pub(super) fn path(text: &str) -> String {
    let reserved = IN_TYPES.contains(&text) || scalar_named(text).is_some();
    let plain = !reserved && text.split("::").all(is_identifier);
    if plain { text.to_owned() } else { quoted(text, '`') }
}

/// A scalar type; `_7` is the seventh that is not known yet.
pub(super) fn scalar(ty: Scalar) -> String {
    match ty {
        Scalar::Infer(number) => format!("_{number}"),
        known => known.name().to_owned(),
    }
}

/// The scalar type that a word means.
pub(super) fn scalar_named(word: &str) -> Option<Scalar> {
    match word.strip_prefix('_') {
        Some("") => Some(Scalar::Infer(0)),
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.parse().ok().map(Scalar::Infer)
        }
        _ => Scalar::from_name(word),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// The type of memory.
pub(super) fn ty(ty: &Type) -> String {
    match ty {
        Type::Scalar(one) => scalar(*one),
        Type::Enum(name) => format!("enum {}", path(name)),
        Type::Array(item, Extent::Known(n)) => format!("[{}; {n}]", self::ty(item)),
        Type::Array(item, Extent::Const(text)) => format!("[{}; {}]", self::ty(item), opaque(text)),
        Type::Slice(item) => format!("[{}]", self::ty(item)),
        Type::Vec(item) => format!("Vec<{}>", self::ty(item)),
        Type::Tuple(items) if items.len() == 1 => format!("({},)", self::ty(&items[0])),
        Type::Tuple(items) => format!("({})", list(items.iter().map(self::ty))),
        Type::Struct(def) => path(&def.name),
    }
}

/// The definition of a struct.
pub(super) fn definition(def: &Struct) -> String {
    let fields = list(def.fields.iter().enumerate().map(|(position, (field, ty))| {
        if def.tuple && *field == position.to_string() {
            self::ty(ty)
        } else {
            format!("{}: {}", name(field), self::ty(ty))
        }
    }));
    match (def.tuple, fields.is_empty()) {
        (true, _) => format!("struct {}({fields})", path(&def.name)),
        (false, true) => format!("struct {} {{}}", path(&def.name)),
        (false, false) => format!("struct {} {{ {fields} }}", path(&def.name)),
    }
}

/// The float function that `name(…)` means, where it does not mean a method: for a float result and the right number of arguments.
pub(super) fn math(name: &str, arguments: usize, result: Scalar) -> Option<Math> {
    let float = matches!(result, Scalar::Float(_) | Scalar::Infer(_));
    Math::from_method(name).filter(|math| float && math.arity() == arguments)
}

/// The number a float literal stands for; `None` for what is none.
pub(super) fn float(text: &str) -> Option<f64> {
    let digits = text.strip_suffix("f64").or_else(|| text.strip_suffix("f32")).unwrap_or(text);
    digits.replace('_', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_would_not_be_read_back() {
        assert_eq!(name("x_1"), "x_1");
        assert_eq!(name("r#type"), "r#type");
        assert_eq!(name("a b"), "\"a b\"");
        assert_eq!(name(""), "\"\"");
        assert_eq!(path("a::B"), "a::B");
        assert_eq!(path("f64"), "`f64`");
        assert_eq!(path("Vec"), "`Vec`");
        assert_eq!(opaque(&Opaque::new("a `b`\n\\")), "`a \\`b\\`\\n\\\\`");
    }
}
