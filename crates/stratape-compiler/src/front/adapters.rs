//! The methods of iterators: adapters yield iterators, everything else consumes them.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::chain::Stage;
use super::loops::root_name;
use super::val::{Val, VarId};
use super::{Lowerer, unsupported};
use stratape_ir::{Check, Compare, Scalar, Stmt};

use super::iter::Iter;

impl Lowerer<'_> {
    /// A method that advances an iterator in a variable; `None` for the others.
    fn held_method(
        &mut self,
        iter: &Iter,
        name: &str,
        args: &[Val],
        call: &syn::ExprMethodCall,
    ) -> Result<Option<Val>> {
        let span = call.span();
        if root_name(&call.receiver).is_none()
            || !ADVANCE.contains(&name)
            || matches!(iter, Iter::Own(..))
        {
            return Ok(None);
        }
        if let Iter::Held(inner, start, end) = iter {
            match name {
                "next" => return self.advance(inner, (*start, *end), false, span).map(Some),
                "next_back" => return self.advance(inner, (*start, *end), true, span).map(Some),
                "peek" | "peek_mut" => {
                    let some = self.b.compare(Compare::Lt, self.get(*start), self.get(*end), span);
                    let (inner, at) = (inner.clone(), self.get(*start));
                    let item = self.branch(
                        some,
                        span,
                        |me| {
                            let mut found = Val::Never;
                            me.visit(&inner, at, span, &mut |_, item| {
                                found = item;
                                Ok(())
                            })?;
                            Ok(found)
                        },
                        |_| Ok(Val::Never),
                    )?;
                    let item = match item {
                        Val::Never => item,
                        item => Val::Ref(super::control::lv_of(item)),
                    };
                    return Ok(Some(Self::some_if(some, item)));
                }
                "next_if" | "next_if_eq" => {
                    let Some(asked) = args.first() else { return Ok(None) };
                    return self
                        .next_if(inner, (*start, *end), asked, name == "next_if", span)
                        .map(Some);
                }
                "nth" if !inner.calls() => {
                    if let Some(n) = args.first() {
                        let n = self.scalar(n.clone(), span)?;
                        self.expect(n, Scalar::USIZE, span)?;
                        let next =
                            self.int_method("saturating_add", vec![self.get(*start), n], span);
                        let next = self.int_method("min", vec![next, self.get(*end)], span);
                        self.set(*start, next);
                    }
                    return self.advance(inner, (*start, *end), false, span).map(Some);
                }
                _ => {}
            }
        }
        Err(unsupported(
            call.method.span(),
            &format!("`{name}` of an iterator in a variable"),
            "call it where the iterator is made; `next` and `next_back` advance one over a list or range",
        ))
    }

    /// `next_if` and `next_if_eq` of an iterator that can be looked into.
    fn next_if(
        &mut self,
        inner: &Iter,
        (start, end): (VarId, VarId),
        asked: &Val,
        by_test: bool,
        span: Span,
    ) -> Result<Val> {
        let at = self.get(start);
        let some = self.b.compare(Compare::Lt, at, self.get(end), span);
        let answer = self.branch(
            some,
            span,
            |me| {
                let mut holds = me.b.bool(false, span);
                me.visit(inner, at, span, &mut |me, item| {
                    holds = match by_test {
                        true => me.asked(asked, &item, span)?,
                        false => me.equal(&item, asked, span)?,
                    };
                    Ok(())
                })?;
                Ok(Val::Scalar(holds))
            },
            |me| Ok(Val::Scalar(me.b.bool(false, span))),
        )?;
        let holds = self.scalar(answer, span)?;
        let taken = self.branch(
            holds,
            span,
            |me| {
                let option = me.advance(inner, (start, end), false, span)?;
                me.part(&option, 1, span)
            },
            |_| Ok(Val::Never),
        )?;
        Ok(Self::some_if(holds, taken))
    }

    /// The method of an iterator: an adapter yields an iterator, a consumer a value.
    pub(super) fn iter_method(&mut self, iter: Iter, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        let name = call.method.to_string();
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        if let Some(val) = self.held_method(&iter, &name, &args, call)? {
            return Ok(val);
        }
        let boxed = Box::new(iter);
        let one = |args: &mut Vec<Val>| {
            args.pop().ok_or_else(|| Error::new(span, format!("`{name}` takes an argument")))
        };
        let adapted = match name.as_str() {
            "iter" | "into_iter" | "by_ref" | "iter_mut" => *boxed,
            "len" => return Ok(Val::Scalar(self.iter_len(&boxed, span)?)),
            "rev" => boxed.reversed(),
            "chain" => {
                let other = one(&mut args)?;
                Iter::Chain(boxed, Box::new(self.iterator(other, call.args.span())?))
            }
            "flat_map" => Iter::FlatMap(boxed, Some(one(&mut args)?), false),
            "flatten" => Iter::FlatMap(boxed, None, false),
            "filter_map" => Iter::Staged(boxed, Stage::FilterMap, one(&mut args)?),
            "map_while" => Iter::Staged(boxed, Stage::MapWhile, one(&mut args)?),
            "take_while" => Iter::Staged(boxed, Stage::TakeWhile, one(&mut args)?),
            "skip_while" => Iter::Staged(boxed, Stage::SkipWhile, one(&mut args)?),
            "inspect" => Iter::Staged(boxed, Stage::Inspect, one(&mut args)?),
            "cycle" => Iter::Cycle(boxed),
            "fuse" => *boxed,
            "peekable" if boxed.has_positions() && !boxed.calls() => *boxed,
            "peekable" => {
                return Err(unsupported(
                    call.method.span(),
                    "`peekable` of an iterator with closures, or without positions",
                    "`collect` the items, and go through the list with an index",
                ));
            }
            "clone" => match *boxed {
                Iter::Held(inner, start, end) => {
                    let (start, end) = (self.get(start), self.get(end));
                    Iter::Held(inner, self.new_var(start), self.new_var(end))
                }
                iter => iter,
            },
            "scan" => {
                let f = one(&mut args)?;
                Iter::Scan(boxed, Box::new(one(&mut args)?), f)
            }
            "enumerate" => Iter::Enumerate(boxed),
            "copied" | "cloned" => Iter::Copied(boxed),
            "map" => Iter::Map(boxed, one(&mut args)?),
            "filter" => Iter::Filter(boxed, one(&mut args)?),
            "zip" => {
                let other = one(&mut args)?;
                let other = self.iterator(other, call.args.span())?;
                Iter::Zip(boxed, Box::new(other))
            }
            "take" | "skip" | "step_by" => {
                let n = one(&mut args)?;
                let n = self.scalar(n, span)?;
                self.expect(n, Scalar::USIZE, span)?;
                match name.as_str() {
                    "take" => Iter::Take(boxed, n),
                    "skip" => Iter::Skip(boxed, n),
                    _ => {
                        let zero = self.b.usize(0, span);
                        let condition = self.b.compare(Compare::Ne, n, zero, span);
                        let message = "assertion failed: step != 0".to_owned();
                        let span = self.b.at(span);
                        self.b.node(Stmt::Check {
                            check: Check::Library { condition, message },
                            span,
                        });
                        Iter::StepBy(boxed, n)
                    }
                }
            }
            _ => return self.consume(&boxed, &name, args, call),
        };
        Ok(Val::Iter(Box::new(adapted)))
    }
}

/// Methods that take some items from an iterator and leave the rest.
const ADVANCE: [&str; 15] = [
    "peek",
    "peek_mut",
    "next_if",
    "next_if_eq",
    "next",
    "next_back",
    "nth",
    "nth_back",
    "by_ref",
    "find",
    "find_map",
    "position",
    "rposition",
    "any",
    "all",
];
