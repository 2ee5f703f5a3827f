//! The parser: recursive descent over the tokens, one token of lookahead and a second one for names that are also keywords.

mod function;
mod operation;
mod schedule;
mod statement;
mod symbols;
mod types;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::symbols::{Symbols, fail};
use super::ParseError;
use super::lex::{Placed, Token};
use crate::{
    Function, Module, ObjectId, Opaque, Place, Polynomial, Record, RecordId, Step, Struct, ValueId,
};

type Result<T> = std::result::Result<T, ParseError>;

/// How deep blocks, types and first contents may nest: what is deeper would overflow the stack.
const DEEPEST: usize = 100;

/// Reads a module.
pub(super) fn module(tokens: Vec<Placed>) -> Result<Module> {
    let mut module = Module::new();
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        structs: Vec::new(),
        function: Function::new(""),
        symbols: Symbols::default(),
        records: BTreeMap::new(),
    };
    loop {
        let at = parser.here();
        if parser.accept_word("struct") {
            let def = Arc::new(parser.definition()?);
            if parser.structs.iter().any(|known| known.name == def.name) {
                return fail(&at, format!("the struct `{}` is defined twice", def.name));
            }
            module.add_struct(&def);
            parser.structs.push(def);
        } else if parser.accept_word("fn") {
            let function = parser.function()?;
            if module.function(&function.name).is_some() {
                return fail(&at, format!("the function `{}` is defined twice", function.name));
            }
            module.add(function);
        } else if parser.peek() == &Token::End {
            return Ok(module);
        } else {
            return parser.expected("`struct` or `fn`");
        }
    }
}

struct Parser {
    /// Not empty: the last is the end.
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    structs: Vec<Arc<Struct>>,
    /// The function that is being read, without its tables of values, objects and records.
    function: Function,
    symbols: Symbols,
    records: BTreeMap<u32, Record>,
}

impl Parser {
    fn here(&self) -> Placed {
        self.tokens[self.at].clone()
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].token
    }

    fn next(&mut self) -> Placed {
        let placed = self.here();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        placed
    }

    /// Whether the next token stands on the line of the one before it.
    fn on_line(&self) -> bool {
        self.at
            .checked_sub(1)
            .is_some_and(|before| self.tokens[before].line == self.tokens[self.at].line)
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Int(text) | Token::Float(text) => format!("`{text}`"),
            Token::Value { name: Some(name), number: Some(number) } => format!("`{name}.{number}`"),
            Token::Value { name, number } => match (name, number) {
                (Some(name), _) => format!("`%{name}`"),
                (None, number) => format!("`%{}`", number.unwrap_or_default()),
            },
            Token::Object { name, number: Some(number) } => format!("`@{name}.{number}`"),
            Token::Object { name, .. } => format!("`@{name}`"),
            Token::Record(number) => format!("`#{number}`"),
            Token::Field(number) => format!("`.{number}`"),
            Token::String(_) => "a string".to_owned(),
            Token::Opaque(_) => "a text in backticks".to_owned(),
            Token::End => "the end of the text".to_owned(),
        };
        fail(&self.tokens[self.at], format!("{what} is expected, not {found}"))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.accept(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    /// Takes a keyword; the name of a value that is being defined is none.
    fn accept_word(&mut self, word: &str) -> bool {
        let name = matches!(self.peek_second(), Token::Sign("=" | ":" | "<-"));
        let found = self.is_word(word) && !name;
        if found {
            self.next();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// Items with commas between them, a last one behind them if need be, up to a sign, which is taken.
    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.accept(close) {
            items.push(item(self)?);
            if !self.accept(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// Items with commas between them, on one line.
    fn some<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Whether a statement goes on: its line and its block do.
    fn goes_on(&self) -> bool {
        self.on_line() && !matches!(self.peek(), Token::Sign("}" | ";") | Token::End)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return fail(&self.tokens[self.at], "nested too deep");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A name, or one that is no identifier as a string.
    fn name(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Word(name) | Token::String(name) => {
                self.next();
                Ok(name)
            }
            _ => self.expected("a name"),
        }
    }

    /// The name of a function or a type.
    fn path(&mut self) -> Result<String> {
        if let Token::Opaque(name) = self.peek().clone() {
            self.next();
            return Ok(name);
        }
        let Token::Word(mut name) = self.peek().clone() else { return self.expected("a name") };
        self.next();
        while self.accept("::") {
            let Token::Word(segment) = self.peek().clone() else { return self.expected("a name") };
            self.next();
            name = format!("{name}::{segment}");
        }
        Ok(name)
    }

    fn opaque(&mut self) -> Result<Opaque> {
        match self.peek().clone() {
            Token::Word(text) | Token::Opaque(text) => {
                self.next();
                Ok(Opaque::new(&text))
            }
            _ => self.expected("a text in backticks"),
        }
    }

    fn value(&mut self) -> Result<ValueId> {
        let at = self.here();
        if !matches!(at.token, Token::Value { .. } | Token::Word(_)) {
            return self.expected("a value");
        }
        self.next();
        self.symbols.value(&at).map(ValueId)
    }

    fn object(&mut self) -> Result<ObjectId> {
        let at = self.here();
        if !matches!(at.token, Token::Object { .. }) {
            return self.expected("an object");
        }
        self.next();
        self.symbols.object(&at).map(ObjectId)
    }

    fn record(&mut self) -> Result<RecordId> {
        let &Token::Record(number) = self.peek() else {
            return self.expected("a record, as `#0`,");
        };
        self.next();
        Ok(RecordId(number))
    }

    /// Digits without a sign.
    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let Token::Int(digits) = self.peek() else { return self.expected("a number") };
        match digits.replace('_', "").parse() {
            Ok(number) => {
                self.next();
                Ok(number)
            }
            Err(_) => self.expected("a number in range"),
        }
    }

    /// A number that may be negative.
    fn signed(&mut self) -> Result<i128> {
        let negative = self.accept("-");
        self.magnitude(negative)
    }

    fn magnitude(&mut self, negative: bool) -> Result<i128> {
        let at = self.here();
        let size: u128 = self.number()?;
        match (negative, i128::try_from(size)) {
            (false, Ok(number)) => Ok(number),
            (true, Ok(number)) => Ok(-number),
            (true, Err(_)) if size == i128::MIN.unsigned_abs() => Ok(i128::MIN),
            _ => fail(&at, "the number does not fit in 128 bits"),
        }
    }

    /// A place; and the part of it, `[start for length]`, that a slice may end with.
    fn place_and_part(&mut self) -> Result<(Place, Option<(ValueId, ValueId)>)> {
        let mut place = Place::whole(self.object()?);
        loop {
            if self.is_sign("[") {
                self.next();
                let index = self.value()?;
                if self.accept_word("for") {
                    let len = self.value()?;
                    self.expect("]")?;
                    return Ok((place, Some((index, len))));
                }
                self.expect("]")?;
                place.path.push(Step::Index(index));
            } else if let Token::Field(field) = *self.peek() {
                self.next();
                place.path.push(Step::Field(field));
            } else {
                return Ok((place, None));
            }
        }
    }

    fn place(&mut self) -> Result<Place> {
        let at = self.here();
        match self.place_and_part()? {
            (place, None) => Ok(place),
            (_, Some(_)) => fail(&at, "a part of a list can only be passed or saved"),
        }
    }

    fn polynomial(&mut self) -> Result<Polynomial> {
        let mut sum = self.term(false)?;
        loop {
            let negative = self.is_sign("-");
            if !negative && !self.is_sign("+") {
                return Ok(sum);
            }
            let at = self.next();
            sum = small(&at, sum.checked_plus(&self.term(negative)?))?;
        }
    }

    fn term(&mut self, negative: bool) -> Result<Polynomial> {
        let negative = self.accept("-") != negative;
        let mut product = match self.peek() {
            Token::Int(_) => Polynomial::number(self.magnitude(negative)?),
            _ => {
                let sign = Polynomial::number(if negative { -1 } else { 1 });
                sign.times(&Polynomial::symbol(self.value()?))
            }
        };
        while self.is_sign("*") {
            let at = self.next();
            let factor = match self.peek() {
                Token::Int(_) => Polynomial::number(self.magnitude(false)?),
                _ => Polynomial::symbol(self.value()?),
            };
            product = small(&at, product.checked_times(&factor))?;
        }
        Ok(product)
    }
}

/// A polynomial whose factors fit in their type.
fn small(at: &Placed, polynomial: Option<Polynomial>) -> Result<Polynomial> {
    match polynomial {
        Some(polynomial) => Ok(polynomial),
        None => fail(at, "a factor does not fit in 128 bits"),
    }
}
