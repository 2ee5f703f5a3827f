//! What ends a chain of iterators early, or takes it apart: `try_fold`, sums and lists of options, `partition`, comparisons.

use std::sync::Arc;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::choice::Choice;
use super::control::lv_of;
use super::iter::Iter;
use super::val::{Kind, LValue, Val, VarId};
use super::{Lowerer, unsupported};
use stratape_ir::{Compare, Op};

/// What ended an iteration, if anything did.
struct Failure {
    failed: VarId,
    error: LValue,
    /// Whether it is an `Option` that says so, or a `Result`, if that is known yet.
    choice: Option<Arc<Choice>>,
}

impl Lowerer<'_> {
    /// Methods of iterators that may end early by what a closure says, and others of several results; `None` for the rest.
    pub(super) fn trying_method(
        &mut self,
        iter: &Iter,
        name: &str,
        args: &[Val],
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let span = call.span();
        let arg = |index: usize| {
            let missing = || Error::new(span, format!("`{name}` takes more arguments"));
            args.get(index).cloned().ok_or_else(missing)
        };
        Ok(Some(match name {
            "try_fold" => {
                let (init, f) = (self.rvalue(arg(0)?, span)?, arg(1)?);
                let init = self.as_vec(init, span)?;
                let state = lv_of(self.variable(init, span)?);
                let mut failure = self.no_failure(span)?;
                self.each_until(iter, span, &mut |me, item, end| {
                    let now = me.read(&state, span)?;
                    let tried = me.apply(&f, vec![now, item], span)?;
                    me.go_on(&mut failure, &tried, end, span, &mut |me, next| {
                        let next = me.rvalue(next, span)?;
                        let next = me.detached(next, span)?;
                        me.write_parts(&state, next, span)
                    })
                })?;
                let val = self.read(&state, span)?;
                self.unless_failed(&failure, val, span)?
            }
            "try_for_each" => {
                let f = arg(0)?;
                let mut failure = self.no_failure(span)?;
                self.each_until(iter, span, &mut |me, item, end| {
                    let tried = me.apply(&f, vec![item], span)?;
                    me.go_on(&mut failure, &tried, end, span, &mut |_, _| Ok(()))
                })?;
                self.unless_failed(&failure, Val::Unit, span)?
            }
            "partition" => {
                let f = arg(0)?;
                let lists = [self.fresh_list(span)?, self.fresh_list(span)?];
                let memories = lists.clone().map(|list| match list {
                    Val::Place(LValue::Memory(memory)) => Some(memory),
                    _ => None,
                });
                let [Some(yes), Some(no)] = memories else { return Ok(None) };
                self.each(iter, None, &[], span, &mut |me, item| {
                    let holds = me.asked(&f, &item, span)?;
                    let item = me.value_of(item, span)?;
                    me.branch(
                        holds,
                        span,
                        |me| me.push(&yes, item.clone(), span).map(|()| Val::Unit),
                        |me| me.push(&no, item.clone(), span).map(|()| Val::Unit),
                    )?;
                    Ok(())
                })?;
                Self::tuple(lists.map(|list| self.retyped(list)).to_vec())
            }
            "cmp" | "partial_cmp" | "eq" | "ne" | "lt" | "le" | "gt" | "ge" => {
                let other = self.iterator(arg(0)?, span)?;
                if iter.calls() || other.calls() {
                    return Err(unsupported(
                        call.method.span(),
                        &format!("`{name}` of iterators with closures"),
                        "`collect` both first, and compare the lists",
                    ));
                }
                let (a, b) = (self.collect_list(iter, span)?, self.collect_list(&other, span)?);
                let sign = match name {
                    "cmp" => return self.comparison(&a, &b, span).map(Some),
                    "partial_cmp" => return self.partial_comparison(&a, &b, span).map(Some),
                    "eq" | "ne" => {
                        let same = self.equal(&a, &b, span)?;
                        let same = if name == "ne" { self.b.not(same, span) } else { same };
                        return Ok(Some(Val::Scalar(same)));
                    }
                    "lt" => Compare::Lt,
                    "le" => Compare::Le,
                    "gt" => Compare::Gt,
                    _ => Compare::Ge,
                };
                Val::Scalar(self.is_ordered(sign, &a, &b, span)?)
            }
            "rfold" => {
                let reversed = iter.clone().reversed();
                return self.consume(&reversed, "fold", args.to_vec(), call).map(Some);
            }
            "rfind" => {
                let reversed = iter.clone().reversed();
                return self.consume(&reversed, "find", args.to_vec(), call).map(Some);
            }
            "remainder" | "into_remainder" => match iter {
                Iter::Chunks(lv, size) => {
                    let len = self.len_of(lv, span)?;
                    let left = self.b.binary(stratape_ir::Binary::Rem, len, *size, span);
                    let start = self.b.binary(stratape_ir::Binary::Sub, len, left, span);
                    Val::Ref(self.window_of(lv, start, left, span)?)
                }
                Iter::Held(inner, ..) => return self.trying_method(inner, name, args, call),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    fn no_failure(&mut self, span: Span) -> Result<Failure> {
        let no = self.b.bool(false, span);
        let failed = self.new_var(no);
        Ok(Failure { failed, error: self.later(span)?, choice: None })
    }

    /// Hands on what was tried where it is `Some` or `Ok`; ends the iteration elsewhere.
    fn go_on(
        &mut self,
        failure: &mut Failure,
        tried: &Val,
        end: VarId,
        span: Span,
        then: &mut dyn FnMut(&mut Self, Val) -> Result<()>,
    ) -> Result<()> {
        if matches!(tried, Val::Never) {
            return Ok(());
        }
        let Some(choice) = self.choice_of(tried).filter(|choice| choice.is_library()) else {
            return Err(unsupported(
                span,
                "what the closure yields here",
                "let it yield an `Option` or a `Result`",
            ));
        };
        let good = self.is_variant(&choice, tried, 1, span)?;
        let val = self.part(tried, choice.variants[1].first, span)?;
        let error = match choice.variants[0].fields.len() {
            0 => None,
            _ => Some(self.part(tried, choice.variants[0].first, span)?),
        };
        let (failed, place) = (failure.failed, failure.error.clone());
        failure.choice = Some(choice);
        self.branch(
            good,
            span,
            |me| then(me, val).map(|()| Val::Unit),
            |me| {
                let yes = me.b.bool(true, span);
                me.set(failed, yes);
                if let Some(error) = error {
                    let error = me.settled(error, span)?;
                    me.write_parts(&place, error, span)?;
                }
                me.jump(Some(end), span);
                Ok(Val::Unit)
            },
        )?;
        Ok(())
    }

    /// What an iteration comes to, unless it failed.
    fn unless_failed(&mut self, failure: &Failure, val: Val, span: Span) -> Result<Val> {
        let failed = self.get(failure.failed);
        let good = self.b.not(failed, span);
        let choice = failure.choice.clone().unwrap_or_else(Choice::option);
        let mut parts = vec![Val::Scalar(good)];
        if !choice.variants[0].fields.is_empty() {
            parts.push(self.read(&failure.error, span)?);
        }
        parts.push(val);
        Ok(Val::Parts(Kind::Choice(choice), parts))
    }

    /// A sum or product of options or results: that of what they hold, if they all hold something.
    pub(super) fn sum_of_options(&mut self, iter: &Iter, product: bool, span: Span) -> Result<Val> {
        let ty = self.fresh(super::Class::Any);
        let start = self.b.new_value(ty, span);
        let var = self.new_var(start);
        let mut failure = self.no_failure(span)?;
        self.b.open();
        let looped = self.each_until(iter, span, &mut |me, item, end| {
            me.go_on(&mut failure, &item, end, span, &mut |me, item| {
                let item = me.scalar(item, span)?;
                let ty = me.unify(me.get(var), item, span)?;
                let next =
                    me.b.emit(Op::Binary(Self::sign_of_sum(product), me.get(var), item), ty, span);
                me.set(var, next);
                Ok(())
            })
        });
        let block = self.b.close();
        looped?;
        let op = self.start_of_sum(ty, product);
        self.b.node(stratape_ir::Stmt::Let { value: start, op });
        block.into_iter().for_each(|node| self.b.node(node));
        let val = Val::Scalar(self.get(var));
        self.unless_failed(&failure, val, span)
    }

    /// `collect` of options or results into one of a list.
    pub(super) fn collect_options(&mut self, iter: &Iter, span: Span) -> Result<Val> {
        let list = self.fresh_list(span)?;
        let Val::Place(LValue::Memory(memory)) = list.clone() else {
            return Err(Error::new(span, "a `Vec` was expected"));
        };
        let mut failure = self.no_failure(span)?;
        self.each_until(iter, span, &mut |me, item, end| {
            me.go_on(&mut failure, &item, end, span, &mut |me, item| {
                let item = me.value_of(item, span)?;
                me.push(&memory, item, span)
            })
        })?;
        let list = self.retyped(list);
        self.unless_failed(&failure, list, span)
    }
}
