//! Patterns: names bound to the parts of a value, and places assigned from them.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, Result};

use super::val::{Kind, Lv, Memory, Val};
use super::{Lowerer, unsupported};
use crate::ir::Type;

impl Lowerer<'_> {
    /// Binds the names of a pattern that always fits.
    pub(super) fn bind(&mut self, pat: &Pat, val: Val) -> Result<()> {
        let span = pat.span();
        match pat {
            Pat::Wild(_) => Ok(()),
            Pat::Ident(name) => {
                if let Some((token, _)) = &name.subpat {
                    return Err(unsupported(
                        token.span(),
                        "`@` patterns",
                        "bind the name with `let`",
                    ));
                }
                let val = match name.by_ref {
                    Some(_) => Val::Ref(super::control::lv_of(val)),
                    None => self.rvalue(val, span)?,
                };
                self.bind_name(&name.ident.to_string(), val, name.mutability.is_some());
                Ok(())
            }
            Pat::Type(typed) => {
                if let Some(ty) = self.annotation(&typed.ty)? {
                    self.expect_type(&val, &ty, span)?;
                }
                self.bind(&typed.pat, val)
            }
            Pat::Paren(inner) => self.bind(&inner.pat, val),
            Pat::Reference(inner) => {
                let val = match val {
                    Val::Ref(lv) => Val::Place(lv),
                    other => other,
                };
                self.bind(&inner.pat, val)
            }
            Pat::Tuple(tuple) => self.bind_items(tuple.elems.iter(), tuple.elems.len(), &val, span),
            Pat::TupleStruct(tuple) => {
                self.bind_items(tuple.elems.iter(), tuple.elems.len(), &val, span)
            }
            Pat::Struct(fields) => self.bind_fields(fields, &val),
            Pat::Slice(slice) => {
                let lv = super::control::lv_of(val);
                if !matches!(&lv, Lv::Memory(Memory { ty: Type::Array(..), .. })) {
                    return Err(unsupported(span, "slice patterns", "take the elements by index"));
                }
                for (position, item) in slice.elems.iter().enumerate() {
                    if let Pat::Rest(rest) = item {
                        return Err(unsupported(
                            rest.span(),
                            "`..` in patterns",
                            "take the elements by index",
                        ));
                    }
                    let index = self.b.usize(position, span);
                    let place = self.element(&lv, index, span)?;
                    self.bind(item, Val::Place(place))?;
                }
                Ok(())
            }
            _ => Err(unsupported(
                span,
                "this pattern",
                "bind names, tuples and structs, and use `match` on integers",
            )),
        }
    }

    fn bind_items<'a>(
        &mut self,
        items: impl Iterator<Item = &'a Pat>,
        count: usize,
        val: &Val,
        span: Span,
    ) -> Result<()> {
        let expected = match val {
            Val::Parts(_, parts) => Some(parts.len()),
            Val::Place(Lv::Parts(_, parts)) | Val::Ref(Lv::Parts(_, parts)) => Some(parts.len()),
            _ => None,
        };
        if expected.is_some_and(|expected| expected != count) {
            return Err(Error::new(span, "the pattern has another number of parts than the value"));
        }
        for (index, item) in items.enumerate() {
            if let Pat::Rest(rest) = item {
                return Err(unsupported(
                    rest.span(),
                    "`..` in tuple patterns",
                    "name each part, or `_`",
                ));
            }
            let part = self.part(val, index, span)?;
            self.bind(item, part)?;
        }
        Ok(())
    }

    fn bind_fields(&mut self, fields: &syn::PatStruct, val: &Val) -> Result<()> {
        let span = fields.span();
        let (lv, reference) = match val {
            Val::Ref(lv) => (lv.clone(), true),
            Val::Place(lv) => (lv.clone(), false),
            Val::Parts(..) => (Lv::Value(Box::new(val.clone())), false),
            _ => return Err(Error::new(span, "a struct was expected")),
        };
        for field in &fields.fields {
            let place = self.field_named(&lv, &field.member)?;
            let val = if reference { Val::Ref(place) } else { Val::Place(place) };
            self.bind(&field.pat, val)?;
        }
        Ok(())
    }

    /// Assigns to an expression that is a place, or to a pattern of them.
    pub(super) fn assign(&mut self, target: &Expr, val: Val) -> Result<()> {
        let span = target.span();
        match target {
            Expr::Infer(_) => Ok(()),
            Expr::Paren(inner) => self.assign(&inner.expr, val),
            Expr::Group(inner) => self.assign(&inner.expr, val),
            Expr::Tuple(tuple) => self.assign_items(tuple.elems.iter(), &val),
            Expr::Call(call) => self.assign_items(call.args.iter(), &val),
            Expr::Struct(fields) => {
                let lv = super::control::lv_of(val);
                for field in &fields.fields {
                    let part = self.field_named(&lv, &field.member)?;
                    let part = self.read(&part, span)?;
                    self.assign(&field.expr, part)?;
                }
                Ok(())
            }
            Expr::Array(array) => {
                let lv = super::control::lv_of(val);
                for (position, item) in array.elems.iter().enumerate() {
                    refuse_rest(item)?;
                    let index = self.b.usize(position, span);
                    let part = self.element(&lv, index, span)?;
                    let part = self.read(&part, span)?;
                    self.assign(item, part)?;
                }
                Ok(())
            }
            _ => {
                let place = self.place(target)?;
                if let (Lv::Parts(Kind::Struct(_) | Kind::Tuple, _), Val::Scalar(_)) =
                    (&place, &val)
                {
                    return Err(Error::new(span, "a struct or tuple was expected"));
                }
                self.write_parts(&place, val, span)?;
                self.name_assigned(target, &place);
                Ok(())
            }
        }
    }

    fn assign_items<'a>(&mut self, items: impl Iterator<Item = &'a Expr>, val: &Val) -> Result<()> {
        for (index, item) in items.enumerate() {
            refuse_rest(item)?;
            let part = self.part(val, index, item.span())?;
            self.assign(item, part)?;
        }
        Ok(())
    }

    /// A value assigned to a variable takes its name, for the reader of what is emitted.
    fn name_assigned(&mut self, target: &Expr, place: &Lv) {
        if let (Expr::Path(path), Lv::Var(var)) = (target, place) {
            let value = self.get(*var);
            let known = &mut self.b.function.values[value.index()].name;
            if let (None, Some(name)) = (&known, path.path.get_ident()) {
                *known = Some(name.to_string());
            }
        }
    }
}

/// `..` on the left side of an assignment.
fn refuse_rest(item: &Expr) -> Result<()> {
    match item {
        Expr::Range(range) if range.start.is_none() && range.end.is_none() => {
            Err(unsupported(range.span(), "`..` in patterns", "write `_` for each part to skip"))
        }
        _ => Ok(()),
    }
}
