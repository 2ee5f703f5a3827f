//! Types, and what is said of values and objects where they are defined.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::lex::{Placed, Token};
use super::super::word;
use super::symbols::fail;
use super::{Parser, Result};
use crate::{Extent, ObjectId, Origin, Scalar, StridedCopy, Struct, Type, ValueId};

/// A value where it is defined, its type and mark if they are written, and the place to complain of.
pub(super) struct Defined {
    pub(super) value: ValueId,
    pub(super) written: Option<(Scalar, bool)>,
    pub(super) at: Placed,
}

impl Parser {
    /// What stands after `struct`.
    pub(super) fn definition(&mut self) -> Result<Struct> {
        let name = self.path()?;
        let tuple = self.is_sign("(");
        let close = if self.accept("(") {
            ")"
        } else {
            self.expect("{")?;
            "}"
        };
        let (mut position, mut known) = (0, BTreeSet::new());
        let fields = self.list(close, |parser| {
            let at = parser.here();
            let named = matches!(parser.peek_second(), Token::Sign(":"));
            let field = if tuple && !named {
                position.to_string()
            } else {
                let name = parser.name()?;
                parser.expect(":")?;
                name
            };
            position += 1;
            if !known.insert(field.clone()) {
                return fail(&at, format!("the field `{field}` is defined twice"));
            }
            Ok((field, parser.ty()?))
        })?;
        Ok(Struct { name, fields, tuple })
    }

    pub(super) fn scalar(&mut self) -> Result<Scalar> {
        let named = match self.peek() {
            Token::Word(word) => word::scalar_named(word),
            _ => None,
        };
        let Some(scalar) = named else { return self.expected("a scalar type") };
        self.next();
        Ok(scalar)
    }

    /// A scalar type, and whether an adjoint is marked.
    fn mark(&mut self) -> Result<(Scalar, bool)> {
        let adjoint = self.accept("~");
        Ok((self.scalar()?, adjoint))
    }

    pub(super) fn ty(&mut self) -> Result<Type> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Result<Type> {
        if self.accept("[") {
            let item = Box::new(self.ty()?);
            let ty = if self.accept(";") {
                let extent = match self.peek() {
                    Token::Int(_) => Extent::Known(self.number()?),
                    _ => Extent::Const(self.opaque()?),
                };
                Type::Array(item, extent)
            } else {
                Type::Slice(item)
            };
            self.expect("]")?;
            return Ok(ty);
        }
        if self.accept("(") {
            return Ok(Type::Tuple(self.list(")", Self::ty)?));
        }
        if let Token::Word(word) = self.peek() {
            if let Some(scalar) = word::scalar_named(word) {
                self.next();
                return Ok(Type::Scalar(scalar));
            }
            if word == "enum" {
                self.next();
                return Ok(Type::Enum(self.path()?));
            }
            if word == "Vec" {
                self.next();
                self.expect("<")?;
                let item = self.ty()?;
                self.close_angle()?;
                return Ok(Type::Vec(Box::new(item)));
            }
        }
        let at = self.here();
        if !matches!(at.token, Token::Word(_) | Token::Opaque(_)) {
            return self.expected("a type");
        }
        let name = self.path()?;
        match self.structs.iter().find(|def| def.name == name) {
            Some(def) => Ok(Type::Struct(Arc::clone(def))),
            None => fail(&at, format!("there is no struct `{name}` above")),
        }
    }

    /// Takes `>`, or one half of `>>`.
    fn close_angle(&mut self) -> Result<()> {
        if self.is_sign(">>") {
            let placed = &mut self.tokens[self.at];
            placed.token = Token::Sign(">");
            placed.column += 1;
            return Ok(());
        }
        self.expect(">")
    }

    /// A value where it is defined.
    pub(super) fn defined(&mut self) -> Result<Defined> {
        let at = self.here();
        let value = self.value()?;
        let written = if self.accept(":") { Some(self.mark()?) } else { None };
        Ok(Defined { value, written, at })
    }

    /// Enters what a value is: as written, or as it is expected to be.
    pub(super) fn define(
        &mut self,
        Defined { value, written, at }: Defined,
        expected: Option<(Scalar, bool)>,
    ) -> Result<ValueId> {
        let Some(known) = written.or(expected) else {
            return fail(&at, "the type of this value must be written, as in `x: f64`");
        };
        self.symbols.define(value.0, known, &at)?;
        Ok(value)
    }

    /// An object where it comes from.
    pub(super) fn declaration(&mut self, usual: Origin) -> Result<ObjectId> {
        let at = self.here();
        let object = self.object()?;
        self.expect(":")?;
        let origin = if self.accept("&") {
            if self.accept_word("mut") { Origin::RefMut } else { Origin::Ref }
        } else if self.accept_word("owned") {
            Origin::Owned
        } else if self.accept_word("local") {
            Origin::Local
        } else {
            usual
        };
        let ty = self.ty()?;
        let mut shadow_of = None;
        if self.accept_word("shadow") {
            self.expect_word("of")?;
            shadow_of = Some(self.object()?);
        }
        if self.accept_word("every") {
            let stride = self.number()?;
            self.expect_word("of")?;
            let of = self.object()?;
            self.expect_word("from")?;
            let copy = StridedCopy { of, stride, offset: self.number()? };
            self.function.strided_copies.insert(object, copy);
        }
        if self.flag("sums") {
            self.function.sums.insert(object);
        }
        if self.flag("unfilled") {
            self.function.unfilled.insert(object);
        }
        if self.flag("shared") {
            self.function.shared.insert(object);
        }
        if self.flag("emptied") {
            self.function.emptied.insert(object);
        }
        self.symbols.declare(object.0, (ty, origin, shadow_of), &at)?;
        Ok(object)
    }

    /// Takes a word that `=` may follow.
    fn flag(&mut self, word: &str) -> bool {
        let found = self.on_line() && self.is_word(word);
        if found {
            self.next();
        }
        found
    }
}
