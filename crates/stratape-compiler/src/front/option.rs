//! Methods of `Option` and `Result`.

use std::sync::Arc;

use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::choice::Choice;
use super::control::lv_of;
use super::iter::Iter;
use super::join::owns_list;
use super::mention::Mentioned;
use super::val::{Kind, LValue, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Check, Stmt, Type, ValueId};

/// An `Option` or `Result`, taken apart.
#[derive(Clone)]
struct Opened {
    choice: Arc<Choice>,
    /// Whether it is `Some` or `Ok`.
    good: ValueId,
    /// What it then holds.
    val: Val,
    /// What it holds otherwise: the error.
    error: Val,
}

impl Opened {
    fn is_option(&self) -> bool {
        self.choice.name == "Option"
    }

    /// The same with another value.
    fn with(&self, good: ValueId, val: Val) -> Val {
        let mut parts = vec![Val::Scalar(good)];
        if !self.is_option() {
            parts.push(self.error.clone());
        }
        parts.push(val);
        Val::Parts(Kind::Choice(self.choice.clone()), parts)
    }
}

impl Lowerer<'_> {
    fn opened(&mut self, choice: &Arc<Choice>, val: &Val, span: Span) -> Result<Opened> {
        let good = self.part(val, 0, span)?;
        let good = self.scalar(good, span)?;
        let error = match choice.variants[0].fields.len() {
            0 => Val::Never,
            _ => self.part(val, choice.variants[0].first, span)?,
        };
        let inner = self.part(val, choice.variants[1].first, span)?;
        Ok(Opened { choice: choice.clone(), good, val: inner, error })
    }

    /// `receiver.method(…)` of an `Option` or a `Result`.
    pub(super) fn option_method(
        &mut self,
        choice: &Arc<Choice>,
        receiver: Val,
        call: &syn::ExprMethodCall,
    ) -> Result<Val> {
        let span = call.span();
        let name = call.method.to_string();
        if let Some(val) = self.option_place_method(choice, &receiver, call)? {
            return Ok(val);
        }
        // What is behind a reference is copied; rustc has seen that it can be.
        let value = match receiver {
            Val::Ref(lv) | Val::Place(lv) => self.read(&lv, span)?,
            value => value,
        };
        let o = self.opened(choice, &value, span)?;
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        let mut args = args.into_iter();
        let mut one =
            || args.next().ok_or_else(|| Error::new(span, format!("`{name}` takes an argument")));
        let yes = |me: &mut Self, holds: bool| Ok(Val::Scalar(me.b.bool(holds, span)));
        let failed = |o: &Opened| if o.is_option() { Vec::new() } else { vec![o.error.clone()] };
        match name.as_str() {
            "is_some" | "is_ok" => Ok(Val::Scalar(o.good)),
            "is_none" | "is_err" => Ok(Val::Scalar(self.b.not(o.good, span))),
            "is_some_and" | "is_ok_and" | "is_none_or" => {
                let f = one()?;
                let otherwise = name == "is_none_or";
                let then = |me: &mut Self| me.apply(&f, vec![o.val], span);
                self.branch(o.good, span, then, |me| yes(me, otherwise))
            }
            "is_err_and" => {
                let f = one()?;
                let then = |me: &mut Self| yes(me, false);
                self.branch(o.good, span, then, |me| me.apply(&f, vec![o.error], span))
            }
            "unwrap" | "expect" => {
                self.require_good(&o, call)?;
                Ok(o.val)
            }
            "unwrap_or" => {
                let other = one()?;
                if let Val::Ordering(..) = o.val
                    && call.args.first().is_some_and(is_equal)
                {
                    // Neither less nor greater.
                    return Ok(o.val);
                }
                self.branch(
                    o.good,
                    span,
                    |me| me.value_or_reference(o.val, &other, span),
                    |_| Ok(other.clone()),
                )
            }
            "unwrap_or_else" => {
                let f = one()?;
                let args = failed(&o);
                self.branch(o.good, span, |_| Ok(o.val), |me| me.apply(&f, args, span))
            }
            "unwrap_or_default" => {
                if !is_plain(&o.val) {
                    if let Some(ty @ Type::Struct(_)) = self.type_of(&o.val) {
                        return self.branch(
                            o.good,
                            span,
                            |_| Ok(o.val),
                            |me| me.default_of(&ty, span),
                        );
                    }
                    if let Some(ty @ Type::Vec(_)) = self.type_of(&o.val) {
                        let other =
                            |me: &mut Self| Ok(Val::Place(LValue::Memory(me.empty(&ty, span)?)));
                        return self.branch(o.good, span, |_| Ok(o.val), other);
                    }
                    return Err(unsupported(
                        call.method.span(),
                        "`unwrap_or_default` of this",
                        "use `unwrap_or(…)` with the value that is meant",
                    ));
                }
                // Where there is nothing, zeros stand for it.
                self.branch(o.good, span, |_| Ok(o.val), |_| Ok(Val::Never))
            }
            "map" | "inspect" => {
                let f = one()?;
                let inner = o.val.clone();
                let val = self.branch(
                    o.good,
                    span,
                    |me| {
                        if name == "map" {
                            return me.apply(&f, vec![inner], span);
                        }
                        let inner = me.rvalue(inner, span)?;
                        me.apply(&f, vec![Val::Ref(lv_of(inner.clone()))], span)?;
                        Ok(inner)
                    },
                    |_| Ok(Val::Never),
                )?;
                Ok(o.with(o.good, val))
            }
            "map_err" => {
                let f = one()?;
                let error = o.error.clone();
                let then = |_: &mut Self| Ok(Val::Never);
                let error =
                    self.branch(o.good, span, then, |me| me.apply(&f, vec![error], span))?;
                let o = Opened { error, ..o };
                Ok(o.with(o.good, o.val.clone()))
            }
            "map_or" => {
                let (other, f) = (one()?, one()?);
                let then = |me: &mut Self| me.apply(&f, vec![o.val], span);
                self.branch(o.good, span, then, |_| Ok(other))
            }
            "map_or_else" => {
                let (other, f) = (one()?, one()?);
                let args = failed(&o);
                let then = |me: &mut Self| me.apply(&f, vec![o.val], span);
                self.branch(o.good, span, then, |me| me.apply(&other, args, span))
            }
            "and_then" | "and" => {
                let next = one()?;
                let empty = self.variant(&o.choice, 0, failed(&o), span)?;
                let then = |me: &mut Self| match name.as_str() {
                    "and" => Ok(next),
                    _ => me.apply(&next, vec![o.val], span),
                };
                self.branch(o.good, span, then, |_| Ok(empty))
            }
            "or" | "or_else" => {
                let next = one()?;
                let args = failed(&o);
                let whole = self.variant(&o.choice, 1, vec![o.val.clone()], span)?;
                let other = |me: &mut Self| match name.as_str() {
                    "or" => Ok(next),
                    _ => me.apply(&next, args, span),
                };
                self.branch(o.good, span, |_| Ok(whole), other)
            }
            "xor" => {
                let other = one()?;
                let p = self.opened(choice, &other, span)?;
                let one_of = self.b.binary(Binary::BitXor, o.good, p.good, span);
                let val = self.branch(o.good, span, |_| Ok(o.val), |_| Ok(p.val))?;
                Ok(Self::some_if(one_of, val))
            }
            "zip" => {
                let other = one()?;
                let p = self.opened(choice, &other, span)?;
                let both = self.b.binary(Binary::BitAnd, o.good, p.good, span);
                Ok(Self::some_if(both, Self::tuple(vec![o.val, p.val])))
            }
            "filter" => {
                let f = one()?;
                let inner = self.rvalue(value, span)?;
                let o = self.opened(choice, &inner, span)?;
                let seen = Val::Ref(lv_of(o.val.clone()));
                let then = |me: &mut Self| me.apply(&f, vec![seen], span);
                let kept = self.branch(o.good, span, then, |me| yes(me, false))?;
                let kept = self.scalar(kept, span)?;
                Ok(o.with(kept, o.val.clone()))
            }
            "flatten" => {
                let empty = self.none(span);
                self.branch(o.good, span, |_| Ok(o.val), |_| Ok(empty))
            }
            "ok" => Ok(Self::some_if(o.good, o.val)),
            "err" => {
                let bad = self.b.not(o.good, span);
                Ok(Self::some_if(bad, o.error))
            }
            "ok_or" | "ok_or_else" => {
                let other = one()?;
                let then = |_: &mut Self| Ok(Val::Never);
                let error = self.branch(o.good, span, then, |me| match name.as_str() {
                    "ok_or" => Ok(other),
                    _ => me.apply(&other, Vec::new(), span),
                })?;
                let parts = vec![Val::Scalar(o.good), error, o.val];
                Ok(Val::Parts(Kind::Choice(Choice::result()), parts))
            }
            "copied" | "cloned" => {
                // Read only where there is something to read.
                let val = match o.val.clone() {
                    Val::Ref(lv) => Val::Place(lv),
                    other => other,
                };
                self.cloned_option(&o, val, span)
            }
            "clone" => match owns_list(&value) {
                true => self.cloned_option(&o, o.val.clone(), span),
                false => Ok(value),
            },
            "iter" | "into_iter" => {
                let value = self.rvalue(value, span)?;
                let o = self.opened(choice, &value, span)?;
                Ok(Val::Iter(Box::new(Iter::Maybe(o.good, Box::new(o.val)))))
            }
            _ => Err(unsupported(
                call.method.span(),
                &format!("the method `{name}` of options"),
                "use `match`, `if let`, `map`, `unwrap_or` and their like",
            )),
        }
    }

    /// An option or a result with another value of which lists are copied, where there is one.
    fn cloned_option(&mut self, o: &Opened, val: Val, span: Span) -> Result<Val> {
        if !owns_list(&val) && !owns_list(&o.error) {
            return Ok(o.with(o.good, val));
        }
        let error = o.error.clone();
        let then = |me: &mut Self| me.cloned(val, span);
        let val = self.branch(o.good, span, then, |_| Ok(Val::Never))?;
        let then = |_: &mut Self| Ok(Val::Never);
        let error = self.branch(o.good, span, then, |me| me.cloned(error, span))?;
        let o = Opened { error, ..o.clone() };
        Ok(o.with(o.good, val))
    }

    /// What there is, read if what stands for it otherwise is no reference either.
    fn value_or_reference(&mut self, val: Val, other: &Val, span: Span) -> Result<Val> {
        match (val, other) {
            (Val::Ref(lv), Val::Ref(_)) => Ok(Val::Ref(lv)),
            (Val::Ref(lv), Val::Scalar(_)) => {
                // `unwrap_or(&0.0)`: a reference to a literal is the literal.
                self.read(&lv, span)
            }
            (val, _) => Ok(val),
        }
    }

    /// Methods that change an option, or refer into it.
    fn option_place_method(
        &mut self,
        choice: &Arc<Choice>,
        receiver: &Val,
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let span = call.span();
        let name = call.method.to_string();
        let first = choice.variants[1].first;
        if matches!(name.as_str(), "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "iter_mut") {
            let lv = lv_of(receiver.clone());
            let o = self.opened(choice, &Val::Ref(lv), span)?;
            if name == "iter_mut" {
                return Ok(Some(Val::Iter(Box::new(Iter::Maybe(o.good, Box::new(o.val))))));
            }
            return Ok(Some(o.with(o.good, o.val.clone())));
        }
        let changes = ["take", "replace", "insert", "get_or_insert", "get_or_insert_with"];
        if !changes.contains(&name.as_str()) {
            return Ok(None);
        }
        let (Val::Place(lv) | Val::Ref(lv)) = receiver else {
            return Err(Error::new(span, format!("`{name}` needs a variable")));
        };
        let part = self.field_of(lv, first, span)?;
        let arg = match call.args.first() {
            Some(arg) => Some(self.expr(arg)?),
            None => None,
        };
        let missing = || Error::new(span, format!("`{name}` takes an argument"));
        match name.as_str() {
            "take" => {
                let old = self.moved(lv, span)?;
                let none = self.none(span);
                self.write_parts(lv, none, span)?;
                Ok(Some(old))
            }
            "replace" => {
                let old = self.moved(lv, span)?;
                let new = self.some(arg.ok_or_else(missing)?, span);
                self.write_parts(lv, new, span)?;
                Ok(Some(old))
            }
            "insert" => {
                let new = self.some(arg.ok_or_else(missing)?, span);
                self.write_parts(lv, new, span)?;
                Ok(Some(Val::Ref(part)))
            }
            _ => {
                let arg = arg.ok_or_else(missing)?;
                let tag = self.field_of(lv, 0, span)?;
                let some = self.scalar(Val::Place(tag), span)?;
                self.branch(
                    some,
                    span,
                    |_| Ok(Val::Unit),
                    |me| {
                        let val = match name.as_str() {
                            "get_or_insert" => arg,
                            _ => me.apply(&arg, Vec::new(), span)?,
                        };
                        let new = me.some(val, span);
                        me.write_parts(lv, new, span)?;
                        Ok(Val::Unit)
                    },
                )?;
                Ok(Some(Val::Ref(part)))
            }
        }
    }

    /// The check of `unwrap` and `expect`.
    fn require_good(&mut self, o: &Opened, call: &syn::ExprMethodCall) -> Result<()> {
        let span = call.span();
        let text = match call.args.first() {
            Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => {
                Some(text.value())
            }
            Some(arg) if call.method == "expect" => {
                return Err(unsupported(
                    arg.span(),
                    "a message that is computed",
                    "write the text itself",
                ));
            }
            _ => None,
        };
        if o.is_option() || matches!(o.error, Val::Never) {
            let message = match text {
                Some(text) => text,
                None => "called `Option::unwrap()` on a `None` value".to_owned(),
            };
            let check = Check::Library { condition: o.good, message };
            let span = self.b.at(span);
            self.b.node(Stmt::Check { check, span });
            return Ok(());
        }
        let mut mentioned = Mentioned::default();
        let Some(error) = self.spell(&o.error, &mut mentioned) else {
            return Err(unsupported(
                span,
                "`unwrap` of a `Result` with this error",
                "use `match`, or `.ok().unwrap()`",
            ));
        };
        let tokens = match text {
            Some(text) => quote!(::core::result::Result::<(), _>::Err(#error).expect(#text)),
            None => quote!(::core::result::Result::<(), _>::Err(#error).unwrap()),
        };
        self.fail_unless(o.good, &tokens, mentioned, span);
        Ok(())
    }
}

/// Whether a value is made of numbers alone, so that its default is zero.
fn is_plain(val: &Val) -> bool {
    match val {
        Val::Scalar(_) | Val::Never => true,
        Val::Place(LValue::Var(_)) => true,
        Val::Place(LValue::Memory(memory)) => memory.ty.scalar().is_some(),
        Val::Parts(Kind::Tuple, parts) => parts.iter().all(is_plain),
        _ => false,
    }
}

/// `Ordering::Equal`
fn is_equal(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Path(path)
        if path.path.segments.last().is_some_and(|segment| segment.ident == "Equal"))
}
