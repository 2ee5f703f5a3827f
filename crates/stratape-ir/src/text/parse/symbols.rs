//! Which ids the names of a function stand for, and what is known of them.

use std::collections::{BTreeMap, HashMap};

use super::super::ParseError;
use super::super::lex::{Placed, Token};
use crate::{Object, Origin, Scalar, SourceId, Type, Value};

/// Ids of values, or of objects: numbers as written, and free numbers for names without one.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every id, its name, and where it was met first.
    known: BTreeMap<u32, (Option<String>, Placed)>,
    /// Ids of names that are written with a number.
    numbered: HashMap<String, Vec<u32>>,
    /// Ids of names that are written without.
    unnumbered: HashMap<String, u32>,
    /// No smaller number is free.
    free: u32,
}

pub(super) fn fail<T>(at: &Placed, message: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError { line: at.line, column: at.column, message: message.into() })
}

impl Names {
    /// Enters a name with a number. All of a function are entered before the first is resolved.
    fn enter(&mut self, name: Option<&str>, number: u32, at: &Placed) -> Result<(), ParseError> {
        match self.known.get(&number) {
            Some((known, first)) if known.as_deref() != name => {
                let shown = |name: Option<&str>| match name {
                    Some(name) => format!("`{name}`"),
                    None => "without a name".to_owned(),
                };
                let (line, known, name) = (first.line, shown(known.as_deref()), shown(name));
                fail(at, format!("number {number} is {name} here, and {known} in line {line}"))
            }
            Some(_) => Ok(()),
            None => {
                let owned = name.map(str::to_owned);
                self.numbered.entry(owned.clone().unwrap_or_default()).or_default().push(number);
                self.known.insert(number, (owned, at.clone()));
                Ok(())
            }
        }
    }

    fn resolve(&mut self, name: &str, number: Option<u32>, at: &Placed) -> Result<u32, ParseError> {
        if let Some(number) = number.or_else(|| self.unnumbered.get(name).copied()) {
            return Ok(number);
        }
        let number = match self.numbered.get(name).map(Vec::as_slice) {
            Some([one]) => *one,
            Some([first, second, ..]) => {
                let message = format!("`{name}` may be {name}.{first} or {name}.{second}");
                return fail(at, message);
            }
            _ => {
                while self.known.contains_key(&self.free) {
                    self.free += 1;
                }
                self.known.insert(self.free, (Some(name.to_owned()), at.clone()));
                self.free
            }
        };
        self.unnumbered.insert(name.to_owned(), number);
        Ok(number)
    }

    fn is_unnumbered(&self, number: u32) -> bool {
        self.unnumbered.values().any(|known| *known == number)
            && !self.numbered.values().flatten().any(|known| *known == number)
    }

    fn len(&self) -> u32 {
        self.known.last_key_value().map_or(0, |(last, _)| last + 1)
    }
}

/// The values and objects of one function.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    values: Names,
    objects: Names,
    types: HashMap<u32, (Scalar, bool)>,
    /// Types of slots, for values that nothing else defines.
    slots: HashMap<u32, Scalar>,
    declared: HashMap<u32, Object>,
    /// What values that are popped stand for.
    restored: HashMap<u32, crate::ValueId>,
}

impl Symbols {
    /// Enters the numbers of some tokens.
    pub(super) fn of(tokens: &[Placed]) -> Result<Self, ParseError> {
        let mut symbols = Self::default();
        for placed in tokens {
            match &placed.token {
                Token::Value { name, number: Some(number) } => {
                    symbols.values.enter(name.as_deref(), *number, placed)?;
                }
                Token::Object { name, number: Some(number) } => {
                    symbols.objects.enter(Some(name), *number, placed)?;
                }
                _ => {}
            }
        }
        Ok(symbols)
    }

    /// The id of a value.
    pub(super) fn value(&mut self, at: &Placed) -> Result<u32, ParseError> {
        match &at.token {
            Token::Value { name, number } => {
                self.values.resolve(name.as_deref().unwrap_or_default(), *number, at)
            }
            Token::Word(name) => self.values.resolve(name, None, at),
            _ => fail(at, "a value is expected"),
        }
    }

    /// The id of an object.
    pub(super) fn object(&mut self, at: &Placed) -> Result<u32, ParseError> {
        match &at.token {
            Token::Object { name, number } => self.objects.resolve(name, *number, at),
            _ => fail(at, "an object is expected, as in `@x`"),
        }
    }

    /// The type of a value, and whether it is an adjoint, if that is known by now.
    pub(super) fn known(&self, value: u32) -> Option<(Scalar, bool)> {
        self.types.get(&value).copied()
    }

    /// The type of an object, if it is known by now.
    pub(super) fn type_of(&self, object: u32) -> Option<&Type> {
        self.declared.get(&object).map(|object| &object.ty)
    }

    /// Says what a value is. That it is defined once is for the validator to say, except for names without a number: two of them
    /// that look the same are two values in the eyes of their writer.
    pub(super) fn define(
        &mut self,
        value: u32,
        known: (Scalar, bool),
        at: &Placed,
    ) -> Result<(), ParseError> {
        match self.types.insert(value, known) {
            Some(before) if before != known => {
                fail(at, "the value was defined before, with another type")
            }
            Some(_) if self.values.is_unnumbered(value) => fail(
                at,
                "the value is defined twice: tell the two apart by numbers, `x.1` and `x.2`",
            ),
            _ => Ok(()),
        }
    }

    /// Says what a value is unless something else does.
    pub(super) fn slot(&mut self, value: u32, ty: Scalar) {
        self.slots.entry(value).or_insert(ty);
    }

    /// Says what a popped value stands for.
    pub(super) fn restores(&mut self, value: crate::ValueId, restored: Option<crate::ValueId>) {
        if let Some(restored) = restored {
            self.restored.insert(value.0, restored);
        }
    }

    /// Says what an object is. As with values, that it is made once is for the validator to say, unless it has no number.
    pub(super) fn declare(
        &mut self,
        id: u32,
        (ty, origin, shadow_of): (Type, Origin, Option<crate::ObjectId>),
        at: &Placed,
    ) -> Result<(), ParseError> {
        let name = self.objects.known.get(&id).and_then(|(name, _)| name.clone());
        let name = name.unwrap_or_default();
        let same = self.declared.get(&id).is_none_or(|before| {
            before.ty == ty && before.origin == origin && before.shadow_of == shadow_of
        });
        if !same {
            return fail(at, "the object was made before, with another type");
        }
        if self.declared.contains_key(&id) && self.objects.is_unnumbered(id) {
            return fail(
                at,
                "the object is made twice: tell the two apart by numbers, `@x.1` and `@x.2`",
            );
        }
        let span = SourceId::NONE;
        self.declared.insert(id, Object { ty, origin, name, shadow_of, span });
        Ok(())
    }

    /// The tables. Numbers that do not occur in the text are filled with entries that nothing refers to.
    pub(super) fn tables(mut self) -> Result<(Vec<Value>, Vec<Object>), ParseError> {
        let span = SourceId::NONE;
        let mut values = Vec::new();
        for id in 0..self.values.len() {
            let slot = self.slots.get(&id).map(|ty| (*ty, false));
            let known = self.types.get(&id).copied().or(slot);
            values.push(match (self.values.known.remove(&id), known) {
                (Some((name, _)), Some((ty, adjoint))) => {
                    Value { ty, name, adjoint, stands_for: self.restored.get(&id).copied(), span }
                }
                (Some((_, first)), None) => {
                    return fail(&first, "the value is defined nowhere; `declare` says its type");
                }
                (None, _) => Value {
                    ty: Scalar::Infer(u32::MAX),
                    name: None,
                    adjoint: false,
                    stands_for: None,
                    span,
                },
            });
        }
        let mut objects = Vec::new();
        for id in 0..self.objects.len() {
            objects.push(match (self.objects.known.remove(&id), self.declared.remove(&id)) {
                (_, Some(object)) => object,
                (Some((_, first)), None) => {
                    return fail(&first, "the object is made nowhere; `declare` says its type");
                }
                (None, None) => Object {
                    ty: Type::Tuple(Vec::new()),
                    origin: Origin::Local,
                    name: String::new(),
                    shadow_of: None,
                    span,
                },
            });
        }
        Ok((values, objects))
    }
}
