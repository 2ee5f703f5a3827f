//! The text form of the language: printing, and reading back.
//!
//! [`Function`] and [`Module`] implement `Display`; [`parse`] and [`parse_function`] read what they print. The text shows every table and
//! flag but source positions, so that a printed function can be run, compiled or emitted as the original: ids, names, types and marks are the
//! same after a round trip. Entries of the tables of values and objects that nothing refers to are not printed; ids that do not occur in the text are filled with
//! entries that nothing refers to either.
//!
//! ```
//! use stratape_interp::{self as interp, Argument, Datum, Memory};
//! use stratape_ir::text;
//!
//! let function = text::parse_function(
//!     "fn energy(@x: &[f64], k: f64) {
//!        zero: f64 = 0.0
//!        first: usize = 0
//!        n = @x.len()                       // the operation determines the type
//!        for i in first..n, s = zero {
//!          a = @x[i]
//!          b = a * a
//!          next = s + b
//!        } carry s <- next -> sum
//!        e = k * sum
//!        return e
//!      }",
//! )?;
//! let x = Memory::floats([1.0, 2.0, 3.0]);
//! let args = vec![Argument::Memory(x), Argument::Float(0.5)];
//! let outcome = interp::run(&function, args, &interp::Options::default())?;
//! assert_eq!(outcome.results, [Datum::Float(7.0)]);
//!
//! // Printed, every name has its number, and every value its type.
//! let printed = function.to_string();
//! assert!(printed.contains("for i.4 in first.2..n.3, s.5 = zero.1 {"));
//! assert_eq!(text::parse_function(&printed)?.to_string(), printed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Words
//! A value is written `x.3`: its name, and its id; without a name, `%3`. An object is written `@x.3` or `@.3`, a record `#3`. A value or
//! object may be written without a number, `x`, `%x` or `@x`: it is the one that is written with that name and a number elsewhere in the function, if
//! there is exactly one, and otherwise gets the smallest number that is free. A name without a number can be defined once. A name
//! that is no identifier is quoted: `%"odd name".3`. A keyword can be used as a value's name with a number or after `%`. A number right
//! after an object's name is always that of the object: `@p.0` is the object `p` with the number 0, its first field is `@p.0.0`. An object that
//! is written without its number can be followed by an index, as in `@p[i].1`, and not by a field.
//!
//! Text that the language does not look into stands between backticks, or bare if it is an identifier. In it and in strings, `\` begins an escape:
//! `\n`, `\r`, `\t`, `\\`, `\u{…}`, and the delimiter. A comment begins with `//`. A statement ends with its line, or with `;`.
//!
//! # Grammar
//! `a*` is any number of `a`, `a,*` the same with commas between them, `a?` one or none.
//!
//! ```text
//! module     = struct* function*
//! struct     = "struct" path ( "{" (name ":" type),* "}" | "(" ((name ":")? type),* ")" )
//! function   = "fn" path "(" param,* ")" "parallel"? "plain"? "kernel"? ("recursive" "(" path,* ")")?
//!              "{" head* statement* return? "}"
//! param      = value ":" mark | object
//! head       = "region" int "of" int cell "columns"? ("layer" int)?  -- cells of a frame, frames of a layer
//!            | "record" record "(" (value ":" scalar),* ")" ("as" cell)? room?
//!            | "record" record "(" value,* ")" "of" "(" scalar,* ")" ("as" cell)? room?
//!            | "declare" (value ":" mark | object)         -- what is mentioned, and defined nowhere
//!            | "checkpoint" value "(" (name "=" value),* ")" ("disk" opaque)? ("schedule" opaque)?
//! room       = "in" "region" int ("at" int ("step" int)*)?
//! return     = "return" value,* (@object),*                -- results, then local objects that are kept
//!
//! mark       = "~"? scalar                                 -- "~" marks an adjoint
//! object     = @object ":" origin? type shadow? copy? "sums"? "unfilled"? "shared"? "emptied"?
//! origin     = "&" | "&mut" | "owned" | "local"            -- a parameter is owned, any other object local
//! shadow     = "shadow" "of" @object
//! copy       = "every" int "of" @object "from" int
//! type       = scalar | "enum" path | path | "[" type "]" | "[" type ";" (int | opaque) "]"
//!            | "Vec" "<" type ">" | "(" type,* ")"
//! scalar     = "bool" | "f32" | "f64" | "i8" | … | "usize" | "_7"
//! place      = @object ( "[" value "]" | "." int )*
//! slice      = "&" "mut"? place ( "[" value "for" value "]" )?
//! defined    = value (":" mark)?
//!
//! statement  = defined "=" operation
//!            | place ("=" | "+=" | "-=") value
//!            | "new" object "=" init
//!            | loop
//!            | "if" value block ("else" block)? ("merge" (defined "=" value "|" value),*)?
//!            | ("assert" value "else" | "unless" value "print") opaque ("with" "(" (name "=" (value | @object)),* ")")?
//!            | "check" value "<" value                     -- index, length
//!            | "check" value "<=" value "<=" value         -- start, end, length
//!            | "check" value "or" string
//!            | "push" record value,*
//!            | "pop" record (defined restored?),*
//!            | "save" record slice
//!            | "restore" record object
//!            | "refill" record place
//!            | "atomic" ("block" | "warp")? ("add" | "min" | "max") place "," value ("old" defined)?
//!            | "barrier" place,*
//!            | "shuffle" ("down" | "up" | "xor") defined "=" value "," value
//!            | "call" (defined,* "=")? opaque "(" (value | slice),* ")" ("pullback" opaque)? half?
//! restored   = "restores" (value | "nothing")            -- what it stands for, if not the slot's value
//! half       = ("forward" | "backward") "of" path
//! block      = "{" statement* "}"
//! init       = value | "[" init,* "]" | "[" init ";" "_" "]" | "vec" "!" "[" init ";" value "]"
//!            | "copy" "of" place | "zeros" "like" @object
//! operation  = int | "true" | "false" | "const" opaque
//!            | float ("~" float)?                          -- its text, and its number if that is another
//!            | "float" string (int | hex)                  -- text and bits of any other float
//!            | ("-" | "!") value | value sign value | value "as" scalar
//!            | value ("<total" | ">total") value | "if" value "then" value "else" value
//!            | ("math" | "method")? name "(" value,* ")" | place | place "." "len" "(" ")"
//!            | "builtin" name
//!
//! loop       = ("parallel" "(" int "," "grain" int ")")?
//!              ("for" defined "in" value ".." value | "loop" defined)
//!              "reversed"? "unordered"? ("," defined "=" value)* clause* block end?
//! end        = ("exit" "if" value | "carry" (value "<-" value "->" defined),* | "trips" defined),*
//! clause     = "sequential" | "rolled"
//!            | "strip" ("region" int)? ("stream" ("out" | "in"))?
//!            | "view" "mut"? @object ("from" polynomial)? ("step" int)? ("low" | "high")?
//!            | "split" @object "at" polynomial "others" ("below" | "above") ("read" | "added")
//!            | "simd" int
//!            | "reduce" ("+" | "-") value "ordered"?
//!            | "rotation" @object ("from" polynomial)? ":" (int "at" int),*
//!            | "delayed" int,*
//!            | "parts"
//!            | "window" @object ("from" polynomial)? ("step" polynomial)?
//!            | "private" (@object),*
//! polynomial = "-"? term (("+" | "-") term)*
//! term       = (int | value) ("*" (int | value))*
//! ```
//!
//! `int` is decimal digits with `_` between them, `hex` is `0x` and hexadecimal digits. A clause that can be given once is not given twice: `strip`,
//! `simd` and `parts` of a loop, `exit if` and `trips` at its end. The factors of a polynomial, once its products are multiplied out, fit in 128 bits.
//!
//! A type after a defined value may be left out where something determines it: the operation, the start of a loop for its counter, the first value for what
//! is carried, the record for what is popped. `name(…)` with a float result and the right number of arguments is a float function if there is one
//! of that name, and a method otherwise; `math` and `method` say which is meant. A record without a `record` line is that of the first push.

mod lex;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod word;

use std::error::Error;
use std::fmt;

use crate::{Function, Module};

/// Numbers of values, objects and records are smaller: a misprint must not fill the memory with empty tables.
const MOST: u32 = 1 << 20;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Error for ParseError {}

/// Reads a module.
///
/// # Errors
/// At the first token that does not fit, at a name that may mean two values, at a value or object that is defined nowhere. Whether the functions obey the
/// rules of the language is for [`validate`](crate::valid::validate) to say.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse::module(lex::lex(text)?)
}

/// Reads one function, and the structs before it.
///
/// # Errors
/// As [`parse`], and if there is not exactly one function.
pub fn parse_function(text: &str) -> Result<Function, ParseError> {
    let mut functions = parse(text)?.into_functions();
    match (functions.pop(), functions.len()) {
        (Some(function), 0) => Ok(function),
        (_, others) => {
            let found = if others == 0 { 0 } else { others + 1 };
            let message = format!("one function is expected, there are {found}");
            Err(ParseError { line: 1, column: 1, message })
        }
    }
}
