//! What the panic of an assertion says.
//!
//! The tokens of an assertion are Rust that the language does not look into. Of these the interpreter knows `panic!` and its like with a format
//! string and arguments that are names or literals; of any other text it gives the text itself.

use super::{Datum, Number};

/// The message of `panic!("…", a, b)`, if the tokens are that; `named` knows the values that they mention.
pub(super) fn message<N: Number>(
    tokens: &str,
    named: &dyn Fn(&str) -> Option<Datum<N>>,
) -> Option<String> {
    let (path, rest) = tokens.trim().split_once('!')?;
    let name = path.rsplit("::").next()?.trim();
    if name != "panic" {
        return None;
    }
    let inner = rest.trim().trim_end_matches(';').trim().strip_prefix('(')?.strip_suffix(')')?;
    let (format, mut rest) = literal(inner.trim())?;
    let mut args = Vec::new();
    while let Some(after) = rest.trim().strip_prefix(',') {
        let after = after.trim();
        if after.is_empty() {
            break;
        }
        let arg;
        (arg, rest) = match literal(after) {
            Some((text, rest)) => (text, rest),
            None => {
                let end = after.find(',').unwrap_or(after.len());
                (shown(named(after[..end].trim())?), &after[end..])
            }
        };
        args.push(arg);
    }
    if !rest.trim().is_empty() {
        return None;
    }
    fill(&format, &args, named)
}

/// A format string with its holes filled.
fn fill<N: Number>(
    format: &str,
    args: &[String],
    named: &dyn Fn(&str) -> Option<Datum<N>>,
) -> Option<String> {
    let mut text = String::new();
    let mut next = args.iter();
    let mut chars = format.chars().peekable();
    while let Some(one) = chars.next() {
        match one {
            '{' | '}' if chars.peek() == Some(&one) => {
                chars.next();
                text.push(one);
            }
            '{' => {
                let hole: String = chars.by_ref().take_while(|one| *one != '}').collect();
                let hole = hole.trim_end_matches(":?").trim();
                match hole.parse::<usize>() {
                    Ok(number) => text.push_str(args.get(number)?),
                    Err(_) if hole.is_empty() => text.push_str(next.next()?),
                    Err(_) => text.push_str(&shown(named(hole)?)),
                }
            }
            one => text.push(one),
        }
    }
    Some(text)
}

fn shown<N: Number>(datum: Datum<N>) -> String {
    match datum {
        Datum::Float(number) => number.value().to_string(),
        Datum::Int(number) => number.to_string(),
        Datum::Bool(value) => value.to_string(),
    }
}

/// The string literal that a text begins with, and what comes after it.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('"')?.char_indices();
    let mut out = String::new();
    while let Some((at, one)) = chars.next() {
        match one {
            '"' => return Some((out, &text[at + 2..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                same @ ('"' | '\'' | '\\') => out.push(same),
                _ => return None,
            },
            one => out.push(one),
        }
    }
    None
}
