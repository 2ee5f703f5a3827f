//! Values of one of several variants: `Option`, `Result`, and enums with data.
//!
//! Such a value is held as its parts: a tag, then the fields of every variant in turn. The fields of the variants it is not are
//! [`Val::Never`]; where control joins, zeros stand for them. The tag of `Option` and `Result` is a bool, true for `Some` and `Ok`; that
//! of an enum is the position of the variant, an `isize`.

use std::sync::Arc;

use proc_macro2::Span;
use syn::{Error, Result};

use super::generic::base_name;
use super::items::Items;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Compare, Int, Scalar, Struct, Type, ValueId};

/// The variants of a type.
#[derive(Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) variants: Vec<Variant>,
}

/// One of the variants.
#[derive(Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) name: String,
    /// The fields: their names, or their positions.
    pub(super) fields: Vec<String>,
    /// The types of the fields, where the declaration says them.
    pub(super) types: Vec<Type>,
    /// The position of the first field among the parts of the value.
    pub(super) first: usize,
}

/// What marks the type of a value with variants among the structs.
pub(super) const MARK: char = '?';

impl Choice {
    /// A type by its variants.
    pub(super) fn new(name: &str, variants: Vec<(String, Vec<(String, Type)>)>) -> Self {
        let mut first = 1;
        let variants = variants.into_iter().map(|(name, fields)| {
            let (fields, types): (Vec<String>, Vec<Type>) = fields.into_iter().unzip();
            let variant = Variant { name, fields, types, first };
            first += variant.fields.len();
            variant
        });
        Self { name: name.to_owned(), variants: variants.collect() }
    }

    fn library(name: &str, variants: [(&str, usize); 2]) -> Arc<Self> {
        let mut first = 1;
        let variants = variants.map(|(name, count)| {
            let fields = (0..count).map(|index| index.to_string()).collect();
            let variant = Variant { name: name.to_owned(), fields, types: Vec::new(), first };
            first += count;
            variant
        });
        Arc::new(Self { name: name.to_owned(), variants: variants.into() })
    }

    /// `Option`
    pub(super) fn option() -> Arc<Self> {
        Self::library("Option", [("None", 0), ("Some", 1)])
    }

    /// `Result`
    pub(super) fn result() -> Arc<Self> {
        Self::library("Result", [("Err", 1), ("Ok", 1)])
    }

    /// Whether it is a type of the library, whose tag is a bool.
    pub(super) fn is_library(&self) -> bool {
        self.name == "Option" || self.name == "Result"
    }

    /// The position of the variant with a name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name == name)
    }

    /// How many parts a value has.
    fn parts(&self) -> usize {
        1 + self.variants.iter().map(|variant| variant.fields.len()).sum::<usize>()
    }

    /// The type of the tag.
    fn tag(&self) -> Scalar {
        if self.is_library() { Scalar::Bool } else { Scalar::Int(Int::Isize) }
    }

    /// A type of such values, with the types of all fields in turn. In memory it is a tuple (`unnamed.rs`).
    pub(super) fn typed(&self, fields: Vec<Type>) -> Type {
        let mut parts = vec![("tag".to_owned(), Type::Scalar(self.tag()))];
        for (index, ty) in fields.into_iter().enumerate() {
            parts.push((index.to_string(), ty));
        }
        let name = format!("{MARK}{}", self.name);
        Type::Struct(Arc::new(Struct { name, fields: parts, tuple: true }))
    }
}

/// Whether a type holds values with variants, which a parameter cannot hold.
pub(super) fn has_choice(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => false,
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => has_choice(item),
        Type::Tuple(items) => items.iter().any(has_choice),
        Type::Struct(def) => {
            def.name.starts_with(MARK) || def.fields.iter().any(|(_, ty)| has_choice(ty))
        }
    }
}

/// The error where a parameter would have to hold values with variants.
pub(super) fn choice_in_memory(span: Span) -> Error {
    unsupported(
        span,
        "an `Option`, `Result` or enum with data in a parameter",
        "take numbers, and a `bool` or integer that selects the variant; build the value in the function",
    )
}

impl Items {
    /// The kind of a value whose type is a struct, or stands for one with variants.
    pub(super) fn kind_of(&self, def: &Arc<Struct>) -> Kind {
        match def.name.strip_prefix(MARK).and_then(|name| self.choice(name)) {
            Some(choice) => Kind::Choice(choice),
            None => Kind::Struct(def.clone()),
        }
    }

    /// The type with variants that a name stands for.
    pub(super) fn choice(&self, name: &str) -> Option<Arc<Choice>> {
        match name {
            "Option" => Some(Choice::option()),
            "Result" => Some(Choice::result()),
            name => self.choices.get(name).cloned(),
        }
    }
}

impl Lowerer<'_> {
    /// The variant that a path names.
    pub(super) fn variant_named(&self, path: &syn::Path) -> Option<(Arc<Choice>, usize)> {
        let last = path.segments.last()?.ident.to_string();
        let owner = path.segments.iter().rev().nth(1);
        let choice = match (owner, last.as_str()) {
            (Some(owner), _) => {
                self.module.choice(&self.module.type_name(&owner.ident.to_string()))?
            }
            (None, _)
                if self
                    .lookup(&last)
                    .is_some_and(|found| !matches!(found.val, Val::Function(_))) =>
            {
                return None;
            }
            (None, "Some" | "None") => Choice::option(),
            (None, "Ok" | "Err") => Choice::result(),
            // Others have been spelled out.
            (None, _) => return None,
        };
        let position = choice.position(&last)?;
        Some((choice, position))
    }

    /// A value of a variant.
    pub(super) fn variant(
        &mut self,
        choice: &Arc<Choice>,
        index: usize,
        fields: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let Some(variant) = choice.variants.get(index) else {
            return Err(Error::new(span, "there is no such variant"));
        };
        if variant.fields.len() != fields.len() {
            let (name, count) = (&variant.name, variant.fields.len());
            return Err(super::left_to_rustc(span, format!("`{name}` has {count} fields")));
        }
        for (field, ty) in fields.iter().zip(&variant.types) {
            self.expect_type(field, ty, span)?;
        }
        let tag = if choice.is_library() {
            self.b.bool(index == 1, span)
        } else {
            self.b.int(index as i128, choice.tag(), span)
        };
        let mut parts = vec![Val::Never; choice.parts()];
        parts[0] = Val::Scalar(tag);
        for (offset, field) in fields.into_iter().enumerate() {
            parts[variant.first + offset] = field;
        }
        Ok(Val::Parts(Kind::Choice(choice.clone()), parts))
    }

    /// `Some` of what there is where a condition holds, `None` elsewhere.
    pub(super) fn some_if(some: ValueId, val: Val) -> Val {
        Val::Parts(Kind::Choice(Choice::option()), vec![Val::Scalar(some), val])
    }

    /// `None`
    pub(super) fn none(&mut self, span: Span) -> Val {
        let no = self.b.bool(false, span);
        Self::some_if(no, Val::Never)
    }

    /// `Some(val)`
    pub(super) fn some(&mut self, val: Val, span: Span) -> Val {
        let yes = self.b.bool(true, span);
        Self::some_if(yes, val)
    }

    /// The variants that a value has, or the one it refers to.
    pub(super) fn choice_of(&self, val: &Val) -> Option<Arc<Choice>> {
        match val {
            Val::Parts(Kind::Choice(choice), _) => Some(choice.clone()),
            Val::Place(lv) | Val::Ref(lv) => match lv {
                LValue::Parts(Kind::Choice(choice), _) => Some(choice.clone()),
                LValue::Memory(Memory { ty: Type::Struct(def), .. }) => {
                    match self.module.kind_of(def) {
                        Kind::Choice(choice) => Some(choice),
                        _ => None,
                    }
                }
                LValue::Value(val) => self.choice_of(val),
                LValue::Either(_, a, _) => self.choice_of(&Val::Place((**a).clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a value is of a variant.
    pub(super) fn is_variant(
        &mut self,
        choice: &Choice,
        val: &Val,
        index: usize,
        span: Span,
    ) -> Result<ValueId> {
        let tag = self.part(val, 0, span)?;
        let tag = self.scalar(tag, span)?;
        if choice.is_library() {
            return Ok(if index == 1 { tag } else { self.b.not(tag, span) });
        }
        let index = self.b.int(index as i128, choice.tag(), span);
        Ok(self.b.compare(Compare::Eq, tag, index, span))
    }

    /// `value?`
    pub(super) fn question(&mut self, node: &syn::ExprTry) -> Result<Val> {
        let span = node.question_token.spans[0];
        let val = self.expr(&node.expr)?;
        if self.frame().result.is_none() {
            return Err(unsupported(span, "`?` inside a macro", "use a `let` statement before"));
        }
        if matches!(val, Val::Never) {
            return Ok(Val::Never);
        }
        let Some(choice) = self.choice_of(&val).filter(|choice| choice.is_library()) else {
            return Err(Error::new(span, "`?` takes an `Option` or a `Result`"));
        };
        let some = self.is_variant(&choice, &val, 1, span)?;
        let inner = self.part(&val, choice.variants[1].first, span)?;
        self.branch(
            some,
            span,
            |_| Ok(inner),
            |me| {
                let fields = match choice.variants[0].fields.len() {
                    0 => Vec::new(),
                    _ => {
                        let error = me.part(&val, choice.variants[0].first, span)?;
                        vec![me.error_as_returned(&choice, error, span)?]
                    }
                };
                let early = me.variant(&choice, 0, fields, span)?;
                me.leave_result(early, span)?;
                me.jump(None, span);
                Ok(Val::Never)
            },
        )
    }

    /// The error that `?` returns: converted, where the function returns another.
    fn error_as_returned(&mut self, choice: &Arc<Choice>, error: Val, span: Span) -> Result<Val> {
        if let (Some(found), Some(Type::Struct(def))) = (self.type_of(&error), &self.frame().output)
            && let Some((_, wanted)) = def.fields.get(choice.variants[0].first)
            && *wanted != found
        {
            let wanted = wanted.to_string();
            let owner = base_name(wanted.trim_start_matches(MARK));
            if let Some(converted) =
                self.converted(owner, "from", std::slice::from_ref(&error), span)?
            {
                return self.rvalue(converted, span);
            }
        }
        self.stays_itself(&error, span)?;
        Ok(error)
    }

    /// Refuses an error that `?` would convert into what is not known.
    fn stays_itself(&mut self, error: &Val, span: Span) -> Result<()> {
        let Some(found) = self.type_of(error) else { return Ok(()) };
        let name = found.to_string();
        let name = base_name(name.trim_start_matches(MARK)).to_owned();
        let written = |right: &str| self.module.type_name(right) == name;
        let converts = self.module.items().operators.iter().any(|((owner, method), all)| {
            method == "from" && *owner != name && all.iter().any(|one| written(&one.right))
        });
        let same = matches!(&self.frame().output, Some(Type::Struct(def)) if def.fields.iter().any(|(_, ty)| *ty == found));
        match converts && !same {
            true => Err(unsupported(
                span,
                "an error that `?` converts",
                "convert it before, as in `.map_err(Error::from)?`",
            )),
            false => Ok(()),
        }
    }

    /// `Variant { field: value }`
    pub(super) fn variant_literal(
        &mut self,
        literal: &syn::ExprStruct,
        choice: &Arc<Choice>,
        index: usize,
    ) -> Result<Val> {
        use syn::spanned::Spanned;
        let names = &choice.variants[index].fields;
        let mut fields: Vec<Option<Val>> = vec![None; names.len()];
        for field in &literal.fields {
            let name = member_name(&field.member);
            let Some(position) = names.iter().position(|known| *known == name) else {
                return Err(super::left_to_rustc(
                    field.member.span(),
                    format!("there is no field `{name}`"),
                ));
            };
            fields[position] = Some(self.expr(&field.expr)?);
        }
        match fields.into_iter().collect::<Option<Vec<_>>>() {
            Some(fields) => self.variant(choice, index, fields, literal.span()),
            None => Err(super::left_to_rustc(literal.span(), "some fields are missing")),
        }
    }

    /// The value of a path to a variant without fields.
    pub(super) fn unit_variant(&mut self, path: &syn::ExprPath, span: Span) -> Result<Option<Val>> {
        let Some((choice, index)) = self.variant_named(&path.path) else { return Ok(None) };
        if !choice.variants[index].fields.is_empty() {
            return Ok(Some(Val::Function(path.clone())));
        }
        self.variant(&choice, index, Vec::new(), span).map(Some)
    }
}

/// The name of a field as it is written.
pub(super) fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}
