//! Text as tokens.

use super::ParseError;
use super::word::{continues_identifier, is_identifier, starts_identifier};

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word: a keyword, a type, a value without a number.
    Word(String),
    /// `x.3`, `%3`, `%x`, `%"odd".3`
    Value { name: Option<String>, number: Option<u32> },
    /// `@x.3`, `@.3`, `@x`
    Object { name: String, number: Option<u32> },
    /// `#3`
    Record(u32),
    /// Digits, or `0x` and digits.
    Int(String),
    /// A float literal without a sign.
    Float(String),
    /// A message or a name that is no word.
    String(String),
    /// Text that the language does not look into.
    Opaque(String),
    /// `.3` in a place.
    Field(usize),
    /// A sign.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs; one that another begins with stands after it.
const SIGNS: [&str; 36] = [
    "<total", ">total", "->", "<-", "<=", ">=", "==", "!=", "<<", ">>", "+=", "-=", "..", "::",
    "(", ")", "[", "]", "{", "}", ",", ":", ";", "=", "+", "-", "*", "/", "%", "&", "|", "^", "<",
    ">", "!", "~",
];

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Whether a text is one float literal.
pub(super) fn is_float(text: &str) -> bool {
    let one = |tokens: Vec<Placed>| match &tokens[..] {
        [Placed { token: Token::Float(read), .. }, _] => read == text,
        _ => false,
    };
    lex(text).is_ok_and(one)
}

/// The tokens of a text, the last of them [`Token::End`].
pub(super) fn lex(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push(Placed { token, line, column });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl Lexer<'_> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, column: self.column, message: message.into() })
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.rest.chars().nth(1)
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn skip(&mut self, chars: usize) {
        for _ in 0..chars {
            self.next();
        }
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while self.peek().is_some_and(&test) {
            taken.extend(self.next());
        }
        taken
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("//") {
                break;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        let second = self.peek_second();
        let names = |c: Option<char>| c.is_some_and(|c| starts_identifier(c) || c == '"');
        let counts = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        match c {
            '"' => Ok(Token::String(self.quoted()?)),
            '`' => Ok(Token::Opaque(self.quoted()?)),
            '#' => {
                self.next();
                Ok(Token::Record(self.number()?))
            }
            '%' if counts(second) => {
                self.next();
                Ok(Token::Value { name: None, number: Some(self.number()?) })
            }
            '%' if names(second) => {
                self.next();
                let name = Some(self.name()?);
                Ok(Token::Value { name, number: self.suffix()? })
            }
            '@' => {
                self.next();
                let name = if names(self.peek()) { self.name()? } else { String::new() };
                match self.suffix()? {
                    None if name.is_empty() => self.fail("`@` needs a name or a number: `@x.3`"),
                    number => Ok(Token::Object { name, number }),
                }
            }
            '.' if counts(second) => {
                self.next();
                Ok(Token::Field(self.number()? as usize))
            }
            c if c.is_ascii_digit() => Ok(self.literal()),
            c if starts_identifier(c) => {
                let word = self.word();
                Ok(match self.suffix()? {
                    None => Token::Word(word),
                    number => Token::Value { name: Some(word), number },
                })
            }
            '.' if second != Some('.') => {
                self.next();
                Ok(Token::Sign("."))
            }
            c => self.sign(c),
        }
    }

    fn sign(&mut self, c: char) -> Result<Token, ParseError> {
        let found = SIGNS.iter().find(|sign| match self.rest.strip_prefix(**sign) {
            // `a <total_sum` is no comparison of all floats.
            Some(after) if sign.ends_with('l') => {
                !after.starts_with(|c| continues_identifier(c) || c == '.')
            }
            after => after.is_some(),
        });
        let Some(sign) = found else { return self.fail(format!("unexpected character `{c}`")) };
        self.skip(sign.len());
        Ok(Token::Sign(sign))
    }

    /// A word, `r#` before it included.
    fn word(&mut self) -> String {
        let mut word = String::new();
        if let Some(after) = self.rest.strip_prefix("r#")
            && after.starts_with(starts_identifier)
        {
            word.extend(self.next());
            word.extend(self.next());
        }
        word += &self.take_while(continues_identifier);
        debug_assert!(is_identifier(&word));
        word
    }

    fn name(&mut self) -> Result<String, ParseError> {
        if self.peek() == Some('"') { self.quoted() } else { Ok(self.word()) }
    }

    /// `.3` after a name.
    fn suffix(&mut self) -> Result<Option<u32>, ParseError> {
        let follows = self.peek_second().is_some_and(|c| c.is_ascii_digit());
        if self.peek() == Some('.') && follows {
            self.next();
            self.number().map(Some)
        } else {
            Ok(None)
        }
    }

    /// The number of a value, an object, a record or a field.
    fn number(&mut self) -> Result<u32, ParseError> {
        let (line, column) = (self.line, self.column);
        let digits = self.take_while(|c| c.is_ascii_digit());
        let fail = |message: String| Err(ParseError { line, column, message });
        if digits.is_empty() {
            return fail("a number is expected".to_owned());
        }
        if let Some(c) = self.peek().filter(|c| continues_identifier(*c)) {
            return fail(format!("`{c}` after the number {digits}"));
        }
        match digits.parse() {
            Ok(number) if number < super::MOST => Ok(number),
            _ => fail(format!("{digits} is too large: numbers end at {}", super::MOST)),
        }
    }

    /// An integer or a float.
    fn literal(&mut self) -> Token {
        if self.rest.starts_with("0x") {
            return Token::Int(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_'));
        }
        let digit = |c: char| c.is_ascii_digit() || c == '_';
        let mut text = self.take_while(digit);
        let mut float = false;
        let member = |c: char| c == '.' || starts_identifier(c);
        if self.peek() == Some('.') && !self.peek_second().is_some_and(member) {
            float = true;
            text.extend(self.next());
            text += &self.take_while(digit);
        }
        if self.peek().is_some_and(|c| matches!(c, 'e' | 'E')) {
            float = true;
            text.extend(self.next());
            if self.peek().is_some_and(|c| matches!(c, '+' | '-')) {
                text.extend(self.next());
            }
        }
        // What is left of an exponent, and a suffix.
        let rest = self.take_while(continues_identifier);
        float |= rest.starts_with('f');
        text += &rest;
        if float { Token::Float(text) } else { Token::Int(text) }
    }

    /// Text between two of the same delimiter, without them.
    fn quoted(&mut self) -> Result<String, ParseError> {
        let (line, column) = (self.line, self.column);
        let unfinished = || {
            let message = "the text that begins here does not end on its line".to_owned();
            ParseError { line, column, message }
        };
        let delimiter = self.next();
        let mut text = String::new();
        loop {
            match self.next().filter(|c| *c != '\n').ok_or_else(unfinished)? {
                c if Some(c) == delimiter => return Ok(text),
                '\\' => text.push(match self.next().ok_or_else(unfinished)? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '\\' => '\\',
                    c if Some(c) == delimiter => c,
                    'u' => self.unicode()?,
                    c => return self.fail(format!("`\\{c}` is no escape")),
                }),
                c => text.push(c),
            }
        }
    }

    /// `{1f600}` after `\u`.
    fn unicode(&mut self) -> Result<char, ParseError> {
        let digits = match self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((digits, _)) if digits.len() <= 6 => digits.to_owned(),
            _ => return self.fail("`\\u` is followed by `{`, up to six digits, and `}`"),
        };
        let c = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        let Some(c) = c else { return self.fail(format!("`\\u{{{digits}}}` is no character")) };
        self.skip(digits.chars().count() + 2);
        Ok(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
        let mut tokens: Vec<_> = lex(text)?.into_iter().map(|placed| placed.token).collect();
        tokens.pop();
        Ok(tokens)
    }

    fn value(name: &str, number: u32) -> Token {
        let name = (!name.is_empty()).then(|| name.to_owned());
        Token::Value { name, number: Some(number) }
    }

    #[test]
    fn values_objects_and_fields() -> Result<(), ParseError> {
        let object = Token::Object { name: "x".to_owned(), number: Some(3) };
        let close = Token::Sign("]");
        let expected =
            [object, Token::Sign("["), value("i", 5), close, Token::Field(0), Token::Field(1)];
        assert_eq!(tokens("@x.3[i.5].0.1")?, expected);
        assert_eq!(tokens("%1..b.2")?, [value("", 1), Token::Sign(".."), value("b", 2)]);
        assert_eq!(tokens("%1 % %2")?, [value("", 1), Token::Sign("%"), value("", 2)]);
        assert_eq!(tokens("%\"a b\".2 // end")?, [value("a b", 2)]);
        Ok(())
    }

    #[test]
    fn numbers() {
        for float in ["0.5", "1.", "1e3", "1.5e-3", "2_0.0_f32", "1f64", "1e+3"] {
            assert!(is_float(float), "{float}");
        }
        for other in ["1", "-0.5", "1_000", "inf", "0x1f", "1.len", "1..2", ""] {
            assert!(!is_float(other), "{other}");
        }
    }

    #[test]
    fn faults_have_a_place() {
        for (text, line, column) in
            [("a\n  \"b", 2, 3), ("`\n`", 1, 1), ("a $", 1, 3), ("%1x", 1, 2)]
        {
            let found = lex(text).map_err(|error| (error.line, error.column)).err();
            assert_eq!(found, Some((line, column)), "{text}");
        }
    }
}
