//! Operations, and the types they have where none is written.

use super::super::lex::Token;
use super::super::word;
use super::symbols::fail;
use super::{Parser, Result};
use crate::{Binary, Builtin, Compare, Float, Math, Op, Place, Scalar, Step, Unary, ValueId};

impl Parser {
    /// An operation whose result has a type if that was written; and the type the result has otherwise, if the operation tells.
    pub(super) fn operation(&mut self, written: Option<Scalar>) -> Result<(Op, Option<Scalar>)> {
        match self.peek().clone() {
            Token::Float(_) => self.float(false),
            Token::Int(_) => Ok((Op::Int(self.magnitude(false)?), None)),
            Token::Sign("-") => {
                self.next();
                match self.peek() {
                    Token::Float(_) => self.float(true),
                    Token::Int(_) => Ok((Op::Int(self.magnitude(true)?), None)),
                    _ => self.unary(Unary::Neg),
                }
            }
            Token::Sign("!") => {
                self.next();
                self.unary(Unary::Not)
            }
            Token::Object { .. } => self.load(),
            Token::Word(word) => {
                if let Some(done) = self.keyword(&word)? {
                    return Ok(done);
                }
                if matches!(self.peek_second(), Token::Sign("(")) {
                    return self.named(written);
                }
                self.binary()
            }
            Token::Value { .. } => self.binary(),
            _ => self.expected("an operation"),
        }
    }

    fn type_of(&self, value: ValueId) -> Option<Scalar> {
        self.symbols.known(value.0).map(|(ty, _)| ty)
    }

    /// A literal without its sign.
    fn float(&mut self, negative: bool) -> Result<(Op, Option<Scalar>)> {
        let (text, number) = self.float_text(negative)?;
        let ty = if text.ends_with("f32") { Float::F32 } else { Float::F64 };
        let ty = Some(Scalar::Float(ty));
        if !self.accept("~") {
            return Ok((Op::Float(number, text), ty));
        }
        let negative = self.accept("-");
        let (_, number) = self.float_text(negative)?;
        Ok((Op::Float(number, text), ty))
    }

    fn float_text(&mut self, negative: bool) -> Result<(String, f64)> {
        let Token::Float(digits) = self.peek().clone() else { return self.expected("a float") };
        let text = if negative { format!("-{digits}") } else { digits };
        match word::float(&text) {
            Some(number) => {
                self.next();
                Ok((text, number))
            }
            None => self.expected("a float"),
        }
    }

    /// The bits of a float, in decimal or in hexadecimal digits.
    fn bits(&mut self) -> Result<u64> {
        let hexadecimal = match self.peek() {
            Token::Int(digits) => digits.strip_prefix("0x"),
            _ => None,
        };
        let Some(digits) = hexadecimal else { return self.number() };
        let Ok(bits) = u64::from_str_radix(digits, 16) else {
            return self.expected("the bits of a float");
        };
        self.next();
        Ok(bits)
    }

    fn unary(&mut self, sign: Unary) -> Result<(Op, Option<Scalar>)> {
        let a = self.value()?;
        Ok((Op::Unary(sign, a), self.type_of(a)))
    }

    fn binary(&mut self) -> Result<(Op, Option<Scalar>)> {
        let a = self.value()?;
        if self.is_word("as") && self.on_line() {
            self.next();
            let ty = self.scalar()?;
            return Ok((Op::Cast(a, ty), Some(ty)));
        }
        let at = self.here();
        let sign = match at.token {
            Token::Sign(sign) if self.on_line() => sign,
            _ => "",
        };
        let total = matches!(sign, "<total" | ">total");
        let (binary, compare) = (Binary::from_sign(sign), Compare::from_sign(sign));
        if !total && binary.is_none() && compare.is_none() {
            return fail(&at, "an operation is expected: a value cannot be a copy of another");
        }
        self.next();
        let b = self.value()?;
        if let Some(binary) = binary {
            return Ok((Op::Binary(binary, a, b), self.type_of(a)));
        }
        let op = match compare {
            Some(compare) => Op::Compare(compare, a, b),
            None => Op::TotalCmp { less: sign == "<total", a, b },
        };
        Ok((op, Some(Scalar::Bool)))
    }

    fn load(&mut self) -> Result<(Op, Option<Scalar>)> {
        let place = self.place()?;
        if self.accept(".") {
            self.expect_word("len")?;
            self.expect("(")?;
            self.expect(")")?;
            return Ok((Op::Len(place), Some(Scalar::USIZE)));
        }
        let ty = self.scalar_at(&place);
        Ok((Op::Load(place), ty))
    }

    fn scalar_at(&self, place: &Place) -> Option<Scalar> {
        let mut ty = self.symbols.type_of(place.object.0)?;
        for step in &place.path {
            ty = match step {
                Step::Index(_) => ty.element()?,
                Step::Field(index) => ty.field(*index)?,
            };
        }
        ty.scalar()
    }

    /// An operation that begins with a keyword.
    fn keyword(&mut self, word: &str) -> Result<Option<(Op, Option<Scalar>)>> {
        let op = match word {
            "true" | "false" => {
                self.next();
                (Op::Bool(word == "true"), Some(Scalar::Bool))
            }
            "const" => {
                self.next();
                (Op::Const(self.opaque()?), None)
            }
            "if" => {
                self.next();
                let condition = self.value()?;
                self.expect_word("then")?;
                let then = self.value()?;
                self.expect_word("else")?;
                let other = self.value()?;
                (Op::Select(condition, then, other), self.type_of(then))
            }
            "float" if matches!(self.peek_second(), Token::String(_)) => {
                self.next();
                let text = self.name()?;
                (Op::Float(f64::from_bits(self.bits()?), text), None)
            }
            "builtin" if matches!(self.peek_second(), Token::Word(_)) => {
                self.next();
                let at = self.here();
                let Some(builtin) = Builtin::from_word(&self.name()?) else {
                    return fail(&at, "there is no builtin of this name");
                };
                (Op::Builtin(builtin), Some(Scalar::USIZE))
            }
            "math" if matches!(self.peek_second(), Token::Word(_)) => {
                self.next();
                let at = self.here();
                let Some(math) = Math::from_method(&self.name()?) else {
                    return fail(&at, "there is no float function of this name");
                };
                let args = self.arguments()?;
                let ty = args.first().and_then(|first| self.type_of(*first));
                (Op::Math(math, args), ty)
            }
            "method" if matches!(self.peek_second(), Token::Word(_) | Token::String(_)) => {
                self.next();
                let name = self.name()?;
                (Op::Method(name, self.arguments()?), None)
            }
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    fn arguments(&mut self) -> Result<Vec<ValueId>> {
        self.expect("(")?;
        self.list(")", Self::value)
    }

    /// `name(…)`
    fn named(&mut self, written: Option<Scalar>) -> Result<(Op, Option<Scalar>)> {
        let name = self.name()?;
        let args = self.arguments()?;
        let first = args.first().and_then(|first| self.type_of(*first));
        let result = written.or(first).unwrap_or(Scalar::Bool);
        match word::math(&name, args.len(), result) {
            Some(math) => Ok((Op::Math(math, args), first)),
            None => Ok((Op::Method(name, args), None)),
        }
    }
}
