//! Iterators: chains of adapters are expanded into loops where they are consumed.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::exits::Exit;
use super::val::{LValue, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Check, Compare, Op, Range, Scalar, Stmt, ValueId};

/// An iterator, not started yet.
#[derive(Clone, Debug)]
pub(super) enum Iter {
    Range {
        from: ValueId,
        to: ValueId,
    },
    Slice(LValue),
    Chunks(LValue, ValueId),
    Windows(LValue, ValueId),
    Rev(Box<Iter>),
    StepBy(Box<Iter>, ValueId),
    Zip(Box<Iter>, Box<Iter>),
    Enumerate(Box<Iter>),
    Map(Box<Iter>, Val),
    Filter(Box<Iter>, Val),
    Take(Box<Iter>, ValueId),
    Skip(Box<Iter>, ValueId),
    Copied(Box<Iter>),
    /// One item where a condition holds, none elsewhere.
    Maybe(ValueId, Box<Val>),
}

impl Iter {
    pub(super) fn has_filter(&self) -> bool {
        match self {
            Self::Range { .. }
            | Self::Slice(_)
            | Self::Chunks(..)
            | Self::Windows(..)
            | Self::Maybe(..) => false,
            Self::Filter(..) => true,
            Self::Zip(a, b) => a.has_filter() || b.has_filter(),
            Self::Rev(inner)
            | Self::StepBy(inner, _)
            | Self::Enumerate(inner)
            | Self::Map(inner, _)
            | Self::Take(inner, _)
            | Self::Skip(inner, _)
            | Self::Copied(inner) => inner.has_filter(),
        }
    }

    /// The slice whose elements the iterator yields one by one, if that is what it does.
    pub(super) fn elements(&self) -> Option<&LValue> {
        match self {
            Self::Slice(lv) => Some(lv),
            Self::Copied(inner) => inner.elements(),
            _ => None,
        }
    }
}

type Body<'a, 'm> = &'a mut dyn FnMut(&mut Lowerer<'m>, Val) -> Result<()>;

impl<'m> Lowerer<'m> {
    /// What `for` iterates over.
    pub(super) fn iterator(&mut self, val: Val, span: Span) -> Result<Iter> {
        match val {
            Val::Iter(iter) => Ok(*iter),
            val if self.choice_of(&val).is_some_and(|choice| choice.is_library()) => {
                let by_reference = matches!(val, Val::Ref(_));
                let val = if by_reference { val } else { self.rvalue(val, span)? };
                let (some, inner) = (self.part(&val, 0, span)?, self.part(&val, 1, span)?);
                Ok(Iter::Maybe(self.scalar(some, span)?, Box::new(inner)))
            }
            Val::Ref(lv) => Ok(Iter::Slice(lv)),
            Val::Place(lv @ LValue::Memory(_)) => Ok(Iter::Copied(Box::new(Iter::Slice(lv)))),
            _ => Err(Error::new(span, "a range, a slice or an iterator was expected")),
        }
    }

    /// The bounds of a range that is iterated over.
    pub(super) fn range_bounds(&mut self, range: &syn::ExprRange) -> Result<(ValueId, ValueId)> {
        let span = range.span();
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return Err(unsupported(range.limits.span(), "open ranges", "give both ends"));
        };
        let (from, to) = (self.number(start)?, self.number(end)?);
        self.unify(from, to, span)?;
        if !self.is_int(from) && self.is_float(from) {
            return Err(Error::new(span, "a range of integers was expected"));
        }
        match range.limits {
            syn::RangeLimits::HalfOpen(_) => Ok((from, to)),
            syn::RangeLimits::Closed(_) => {
                let ty = self.b.function.ty(to);
                let one = self.b.int(1, ty, span);
                Ok((from, self.b.binary(Binary::Add, to, one, span)))
            }
        }
    }

    /// A range as a value: the start of an iterator chain.
    pub(super) fn range_value(&mut self, range: &syn::ExprRange) -> Result<Val> {
        let (from, to) = self.range_bounds(range)?;
        Ok(Val::Iter(Box::new(Iter::Range { from, to })))
    }

    /// A loop over the items.
    pub(super) fn each(
        &mut self,
        iter: &Iter,
        label: Option<&syn::Label>,
        exits: &[Exit],
        span: Span,
        body: Body<'_, 'm>,
    ) -> Result<Val> {
        match iter {
            Iter::Range { from, to } => {
                let range = Range::UpTo { from: *from, to: *to };
                self.repeat(range, false, label, exits, span, |me, counter| {
                    body(me, Val::Scalar(counter))
                })
            }
            Iter::Rev(inner) => match &**inner {
                Iter::Range { from, to } => {
                    let range = Range::UpTo { from: *from, to: *to };
                    self.repeat(range, true, label, exits, span, |me, counter| {
                        body(me, Val::Scalar(counter))
                    })
                }
                inner => self.each_counted(inner, true, label, exits, span, body),
            },
            iter => self.each_counted(iter, false, label, exits, span, body),
        }
    }

    fn each_counted(
        &mut self,
        iter: &Iter,
        reversed: bool,
        label: Option<&syn::Label>,
        exits: &[Exit],
        span: Span,
        body: Body<'_, 'm>,
    ) -> Result<Val> {
        let len = self.iter_len(iter, span)?;
        let from = self.b.usize(0, span);
        let range = Range::UpTo { from, to: len };
        self.repeat(range, reversed, label, exits, span, |me, counter| {
            me.visit(iter, counter, span, body)
        })
    }

    pub(super) fn iter_len(&mut self, iter: &Iter, span: Span) -> Result<ValueId> {
        match iter {
            Iter::Range { from, to } => Ok(self.range_len(*from, *to, span)),
            Iter::Slice(lv) => self.len_of(lv, span),
            Iter::Maybe(some, _) => {
                Ok(self.b.emit(Op::Cast(*some, Scalar::USIZE), Scalar::USIZE, span))
            }
            Iter::Chunks(lv, size) => {
                let len = self.len_of(lv, span)?;
                Ok(self.b.binary(Binary::Div, len, *size, span))
            }
            Iter::Windows(lv, size) => {
                let len = self.len_of(lv, span)?;
                let one = self.b.usize(1, span);
                let more = self.b.binary(Binary::Add, len, one, span);
                Ok(self.int_method("saturating_sub", vec![more, *size], span))
            }
            Iter::Rev(inner)
            | Iter::Enumerate(inner)
            | Iter::Map(inner, _)
            | Iter::Filter(inner, _)
            | Iter::Copied(inner) => self.iter_len(inner, span),
            Iter::StepBy(inner, step) => {
                let len = self.iter_len(inner, span)?;
                Ok(self.int_method("div_ceil", vec![len, *step], span))
            }
            Iter::Zip(a, b) => {
                let (a, b) = (self.iter_len(a, span)?, self.iter_len(b, span)?);
                Ok(if a == b { a } else { self.int_method("min", vec![a, b], span) })
            }
            Iter::Take(inner, n) => {
                let len = self.iter_len(inner, span)?;
                Ok(self.int_method("min", vec![len, *n], span))
            }
            Iter::Skip(inner, n) => {
                let len = self.iter_len(inner, span)?;
                Ok(self.int_method("saturating_sub", vec![len, *n], span))
            }
        }
    }

    /// A method of integers, of the type of its first argument.
    pub(super) fn int_method(&mut self, name: &str, args: Vec<ValueId>, span: Span) -> ValueId {
        let ty = self.b.function.ty(args[0]);
        self.b.emit(Op::Method(name.to_owned(), args), ty, span)
    }

    /// How many integers a range holds; its type may not be known yet.
    fn range_len(&mut self, from: ValueId, to: ValueId, span: Span) -> ValueId {
        if let (Some(Op::Int(from)), Some(Op::Int(to))) =
            (self.b.constant(from), self.b.constant(to))
        {
            let len = (to - from).max(0);
            return self.b.int(len, Scalar::USIZE, span);
        }
        if self.ty(from) == Scalar::USIZE {
            return match self.b.constant(from) {
                Some(Op::Int(0)) => to,
                _ => self.int_method("saturating_sub", vec![to, from], span),
            };
        }
        let ty = self.b.function.ty(from);
        let some = self.b.compare(Compare::Gt, to, from, span);
        let len = self.int_method("wrapping_sub", vec![to, from], span);
        let zero = self.b.int(0, ty, span);
        let len = self.b.select(some, len, zero, span);
        self.b.emit(Op::Cast(len, Scalar::USIZE), Scalar::USIZE, span)
    }

    /// Hands the item at a position to the body, unless a filter drops it.
    pub(super) fn visit(
        &mut self,
        iter: &Iter,
        at: ValueId,
        span: Span,
        body: Body<'_, 'm>,
    ) -> Result<()> {
        match iter {
            Iter::Range { from, .. } => {
                let ty = self.b.function.ty(*from);
                let offset = if self.ty(*from) == Scalar::USIZE {
                    at
                } else {
                    self.b.emit(Op::Cast(at, ty), ty, span)
                };
                let item = self.b.binary(Binary::Add, *from, offset, span);
                body(self, Val::Scalar(item))
            }
            Iter::Slice(lv) => {
                let item = self.element_unchecked(lv, at, span)?;
                body(self, Val::Ref(item))
            }
            Iter::Chunks(lv, size) => {
                let start = self.b.binary(Binary::Mul, at, *size, span);
                let part = self.window_of(lv, start, *size, span)?;
                body(self, Val::Ref(part))
            }
            Iter::Maybe(_, val) => body(self, (**val).clone()),
            Iter::Windows(lv, size) => {
                let part = self.window_of(lv, at, *size, span)?;
                body(self, Val::Ref(part))
            }
            Iter::Rev(inner) => {
                let len = self.iter_len(inner, span)?;
                let one = self.b.usize(1, span);
                let last = self.b.binary(Binary::Sub, len, one, span);
                let at = self.b.binary(Binary::Sub, last, at, span);
                self.visit(inner, at, span, body)
            }
            Iter::StepBy(inner, step) => {
                let at = self.b.binary(Binary::Mul, at, *step, span);
                self.visit(inner, at, span, body)
            }
            Iter::Zip(a, b) => self.visit(a, at, span, &mut |me, first| {
                me.visit(b, at, span, &mut |me, second| {
                    body(me, Self::tuple(vec![first.clone(), second]))
                })
            }),
            Iter::Enumerate(inner) => self.visit(inner, at, span, &mut |me, item| {
                body(me, Self::tuple(vec![Val::Scalar(at), item]))
            }),
            Iter::Map(inner, f) => self.visit(inner, at, span, &mut |me, item| {
                let val = me.apply(f, vec![item], span)?;
                body(me, val)
            }),
            Iter::Filter(inner, f) => self.visit(inner, at, span, &mut |me, item| {
                let seen = Val::Ref(super::control::lv_of(item.clone()));
                let keep = me.apply(f, vec![seen], span)?;
                let keep = me.scalar(keep, span)?;
                me.branch(
                    keep,
                    span,
                    |me| {
                        body(me, item)?;
                        Ok(Val::Unit)
                    },
                    |_| Ok(Val::Unit),
                )?;
                Ok(())
            }),
            Iter::Take(inner, _) => self.visit(inner, at, span, body),
            Iter::Skip(inner, n) => {
                let at = self.b.binary(Binary::Add, at, *n, span);
                self.visit(inner, at, span, body)
            }
            Iter::Copied(inner) => self.visit(inner, at, span, &mut |me, item| {
                let val = match item {
                    Val::Ref(lv) => me.read(&lv, span)?,
                    other => other,
                };
                body(me, val)
            }),
        }
    }

    /// The method of an iterator: an adapter yields an iterator, a consumer a value.
    pub(super) fn iter_method(&mut self, iter: Iter, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        let name = call.method.to_string();
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(self.expr(arg)?);
        }
        if iter.has_filter() && NEED_POSITIONS.contains(&name.as_str()) {
            return Err(after_filter(call.method.span(), &name));
        }
        let boxed = Box::new(iter);
        let one = |args: &mut Vec<Val>| {
            args.pop().ok_or_else(|| Error::new(span, format!("`{name}` takes an argument")))
        };
        let adapted = match name.as_str() {
            "iter" | "into_iter" | "by_ref" | "iter_mut" => *boxed,
            "rev" => match *boxed {
                Iter::Rev(inner) => *inner,
                _ => Iter::Rev(boxed),
            },
            "enumerate" => Iter::Enumerate(boxed),
            "copied" | "cloned" => Iter::Copied(boxed),
            "map" => Iter::Map(boxed, one(&mut args)?),
            "filter" => Iter::Filter(boxed, one(&mut args)?),
            "zip" => {
                let other = one(&mut args)?;
                let other = self.iterator(other, call.args.span())?;
                if other.has_filter() {
                    return Err(after_filter(call.method.span(), "zip"));
                }
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

/// Methods whose loops may end early.
pub(super) const STOPS: [&str; 0] = [];

/// Methods that count the items, or ask for one of them.
const NEED_POSITIONS: [&str; 10] =
    ["enumerate", "zip", "take", "skip", "step_by", "max_by", "min_by", "max", "min", "collect"];

pub(super) fn after_filter(span: Span, name: &str) -> Error {
    unsupported(span, &format!("`{name}` after `filter`"), "write a `for` loop with `if`")
}
