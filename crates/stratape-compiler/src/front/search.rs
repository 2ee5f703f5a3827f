//! What asks an iterator for one of its items: `find`, `position`, `last`, `nth`, `reduce`, extremes by a key.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::Lowerer;
use super::control::lv_of;
use super::iter::Iter;
use super::val::{LValue, Val, VarId};
use stratape_ir::{Binary, Compare, Op, ValueId};

/// An item that is looked for: whether it was found, and what it is.
struct Found {
    some: VarId,
    item: LValue,
}

impl Lowerer<'_> {
    /// A method that yields one of the items; `None` if it is another.
    pub(super) fn search(
        &mut self,
        iter: &Iter,
        name: &str,
        args: &[Val],
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let span = call.span();
        let one = || {
            let missing = || Error::new(span, format!("`{name}` takes an argument"));
            args.first().cloned().ok_or_else(missing)
        };
        Ok(Some(match name {
            "find" => {
                let f = one()?;
                let found = self.nothing(span)?;
                self.each_until(iter, span, &mut |me, item, end| {
                    let keep = me.asked(&f, &item, span)?;
                    me.when(keep, span, |me| {
                        me.note(&found, item, span)?;
                        me.jump(Some(end), span);
                        Ok(())
                    })
                })?;
                self.outcome(&found, span)?
            }
            "find_map" => {
                let f = one()?;
                let found = self.nothing(span)?;
                self.each_until(iter, span, &mut |me, item, end| {
                    let option = me.apply(&f, vec![item], span)?;
                    let (tag, val) = (me.part(&option, 0, span)?, me.part(&option, 1, span)?);
                    let tag = me.scalar(tag, span)?;
                    me.when(tag, span, |me| {
                        me.note(&found, val, span)?;
                        me.jump(Some(end), span);
                        Ok(())
                    })
                })?;
                self.outcome(&found, span)?
            }
            "position" => Self::option_of(self.position(iter, &one()?, span)?),
            "rposition" => {
                let len = self.iter_len(iter, span)?;
                let (some, at) = self.position(&iter.clone().reversed(), &one()?, span)?;
                let one = self.b.usize(1, span);
                let last = self.int_method("wrapping_sub", vec![len, one], span);
                let at = self.int_method("wrapping_sub", vec![last, at], span);
                Self::option_of((some, at))
            }
            "next" => self.item_at(iter, None, span)?,
            "nth" => {
                let n = self.scalar(one()?, span)?;
                self.expect(n, stratape_ir::Scalar::USIZE, span)?;
                self.item_at(iter, Some(n), span)?
            }
            "last" => {
                let found = self.nothing(span)?;
                self.each(iter, None, &[], span, &mut |me, item| me.note(&found, item, span))?;
                self.outcome(&found, span)?
            }
            "reduce" => {
                let f = one()?;
                self.reduced(iter, span, |me, so_far, item| me.apply(&f, vec![so_far, item], span))?
            }
            "max_by_key" | "min_by_key" => {
                self.extreme_by_key(iter, &one()?, name == "max_by_key", span)?
            }
            "is_sorted" => self.is_sorted(iter, None, span)?,
            "is_sorted_by_key" => self.is_sorted(iter, Some(&one()?), span)?,
            _ => return Ok(None),
        }))
    }

    /// Runs something where a condition holds.
    fn when(
        &mut self,
        condition: ValueId,
        span: Span,
        f: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.branch(condition, span, |me| f(me).map(|()| Val::Unit), |_| Ok(Val::Unit))?;
        Ok(())
    }

    fn option_of((some, val): (ValueId, ValueId)) -> Val {
        Self::some_if(some, Val::Scalar(val))
    }

    fn nothing(&mut self, span: Span) -> Result<Found> {
        let no = self.b.bool(false, span);
        let some = self.new_var(no);
        Ok(Found { some, item: self.later(span)? })
    }

    fn note(&mut self, found: &Found, item: Val, span: Span) -> Result<()> {
        let yes = self.b.bool(true, span);
        self.set(found.some, yes);
        let item = self.settled(item, span)?;
        self.write_parts(&found.item, item, span)
    }

    fn outcome(&mut self, found: &Found, span: Span) -> Result<Val> {
        let item = self.read(&found.item, span)?;
        Ok(Self::some_if(self.get(found.some), item))
    }

    /// Whether there is an item that a test holds for, and the position of the first.
    fn position(&mut self, iter: &Iter, f: &Val, span: Span) -> Result<(ValueId, ValueId)> {
        let (no, zero) = (self.b.bool(false, span), self.b.usize(0, span));
        let (some, at) = (self.new_var(no), self.new_var(zero));
        self.each_until(iter, span, &mut |me, item, end| {
            let holds = me.apply(f, vec![item], span)?;
            let holds = me.scalar(holds, span)?;
            me.branch(
                holds,
                span,
                |me| {
                    let yes = me.b.bool(true, span);
                    me.set(some, yes);
                    me.jump(Some(end), span);
                    Ok(Val::Unit)
                },
                |me| {
                    let one = me.b.usize(1, span);
                    let next = me.b.binary(Binary::Add, me.get(at), one, span);
                    me.set(at, next);
                    Ok(Val::Unit)
                },
            )?;
            Ok(())
        })?;
        Ok((self.get(some), self.get(at)))
    }

    /// The first item, or the one after so many.
    fn item_at(&mut self, iter: &Iter, n: Option<ValueId>, span: Span) -> Result<Val> {
        if let Some(lv) = iter.elements().cloned() {
            let (at, len) = (n.unwrap_or(self.b.usize(0, span)), self.len_of(&lv, span)?);
            let some = self.b.compare(Compare::Lt, at, len, span);
            let place = self.element_unchecked(&lv, at, span)?;
            let val = match iter {
                Iter::Copied(_) => Val::Place(place),
                _ => Val::Ref(place),
            };
            return Ok(Self::some_if(some, val));
        }
        let found = self.nothing(span)?;
        let zero = self.b.usize(0, span);
        let (seen, n) = (self.new_var(zero), n.unwrap_or(zero));
        self.each_until(iter, span, &mut |me, item, end| {
            let here = me.b.compare(Compare::Eq, me.get(seen), n, span);
            let one = me.b.usize(1, span);
            let next = me.b.binary(Binary::Add, me.get(seen), one, span);
            me.set(seen, next);
            me.when(here, span, |me| {
                me.note(&found, item, span)?;
                me.jump(Some(end), span);
                Ok(())
            })
        })?;
        self.outcome(&found, span)
    }

    /// The first item, joined with each that follows.
    pub(super) fn reduced(
        &mut self,
        iter: &Iter,
        span: Span,
        join: impl Fn(&mut Self, Val, Val) -> Result<Val>,
    ) -> Result<Val> {
        let found = self.nothing(span)?;
        self.each(iter, None, &[], span, &mut |me, item| {
            let some = me.get(found.some);
            let first = me.b.not(some, span);
            me.branch(
                first,
                span,
                |me| me.note(&found, item.clone(), span).map(|()| Val::Unit),
                |me| {
                    let now = me.read(&found.item, span)?;
                    let next = join(me, now, item.clone())?;
                    let next = me.settled(next, span)?;
                    me.write_parts(&found.item, next, span)?;
                    Ok(Val::Unit)
                },
            )?;
            Ok(())
        })?;
        self.outcome(&found, span)
    }

    /// `max_by` and `min_by` of items without positions.
    pub(super) fn extreme_driven(
        &mut self,
        iter: &Iter,
        f: &Val,
        max: bool,
        span: Span,
    ) -> Result<Val> {
        self.reduced(iter, span, |me, so_far, item| {
            let seen = (Val::Ref(lv_of(so_far.clone())), Val::Ref(lv_of(item.clone())));
            let replaces = me.replaces(f, max, seen.0, seen.1, span)?;
            me.branch(replaces, span, |_| Ok(item), |_| Ok(so_far))
        })
    }

    fn extreme_by_key(&mut self, iter: &Iter, f: &Val, max: bool, span: Span) -> Result<Val> {
        let key = |me: &mut Self, item: &Val| {
            let seen = Val::Ref(lv_of(item.clone()));
            let key = me.apply(f, vec![seen], span)?;
            me.scalar(key, span)
        };
        let zero = self.fresh(super::Class::Any);
        let zero = self.zero(zero, span);
        let best = self.new_var(zero);
        let found = self.nothing(span)?;
        self.each(iter, None, &[], span, &mut |me, item| {
            let value = key(me, &item)?;
            me.unify(me.get(best), value, span)?;
            let some = me.get(found.some);
            let less = me.b.compare(Compare::Lt, value, me.get(best), span);
            let wins = if max { me.b.not(less, span) } else { less };
            let first = me.b.not(some, span);
            let wins = me.b.binary(Binary::BitOr, first, wins, span);
            me.when(wins, span, |me| {
                me.set(best, value);
                me.note(&found, item.clone(), span)
            })
        })?;
        self.outcome(&found, span)
    }

    /// Whether no item is less than the one before.
    fn is_sorted(&mut self, iter: &Iter, key: Option<&Val>, span: Span) -> Result<Val> {
        let (yes, no) = (self.b.bool(true, span), self.b.bool(false, span));
        let (sorted, some) = (self.new_var(yes), self.new_var(no));
        let zero = self.fresh(super::Class::Any);
        let zero = self.zero(zero, span);
        let before = self.new_var(zero);
        self.each(iter, None, &[], span, &mut |me, item| {
            let item = match key {
                Some(f) => me.apply(f, vec![item], span)?,
                None => item,
            };
            let value = me.scalar(item, span)?;
            me.unify(me.get(before), value, span)?;
            let fits = me.b.compare(Compare::Le, me.get(before), value, span);
            let first = me.b.not(me.get(some), span);
            let fits = me.b.binary(Binary::BitOr, first, fits, span);
            let now = me.b.binary(Binary::BitAnd, me.get(sorted), fits, span);
            me.set(sorted, now);
            me.set(before, value);
            let yes = me.b.emit(Op::Bool(true), stratape_ir::Scalar::Bool, span);
            me.set(some, yes);
            Ok(())
        })?;
        Ok(Val::Scalar(self.get(sorted)))
    }

    /// The next item of an iterator that a variable holds, from its start or its end.
    pub(super) fn advance(
        &mut self,
        iter: &Iter,
        (start, end): (VarId, VarId),
        back: bool,
        span: Span,
    ) -> Result<Val> {
        let some = self.b.compare(Compare::Lt, self.get(start), self.get(end), span);
        let one = self.b.usize(1, span);
        let item = self.branch(
            some,
            span,
            |me| {
                let at = if back {
                    let at = me.b.binary(Binary::Sub, me.get(end), one, span);
                    me.set(end, at);
                    at
                } else {
                    let at = me.get(start);
                    let next = me.b.binary(Binary::Add, at, one, span);
                    me.set(start, next);
                    at
                };
                let mut found = Val::Never;
                me.visit(iter, at, span, &mut |_, item| {
                    found = item;
                    Ok(())
                })?;
                Ok(found)
            },
            |_| Ok(Val::Never),
        )?;
        Ok(Self::some_if(some, item))
    }
}
