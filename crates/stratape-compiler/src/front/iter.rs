//! Iterators: chains of adapters are expanded into loops where they are consumed.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::chain::Stage;
use super::exits::Exit;
use super::val::{LValue, Val, VarId};
use super::{Lowerer, unsupported};
use crate::library;
use stratape_ir::{Binary, Check, Compare, Int, Op, Range, Scalar, Stmt, ValueId};

/// An iterator, not started yet.
#[derive(Clone, Debug)]
pub(super) enum Iter {
    Range {
        from: ValueId,
        to: ValueId,
    },
    /// `from..`
    Open(ValueId),
    Slice(LValue),
    /// Parts of one size; what is left over is no item.
    Chunks(LValue, ValueId),
    /// Parts of one size, the last may be shorter; from the end if the flag is set.
    Pieces(LValue, ValueId, bool),
    /// Parts of one size from the end.
    BackChunks(LValue, ValueId),
    Windows(LValue, ValueId),
    Rev(Box<Iter>),
    StepBy(Box<Iter>, ValueId),
    Zip(Box<Iter>, Box<Iter>),
    Enumerate(Box<Iter>),
    Map(Box<Iter>, Val),
    Filter(Box<Iter>, Val),
    /// An adapter that may drop items, or end.
    Staged(Box<Iter>, Stage, Val),
    Take(Box<Iter>, ValueId),
    Skip(Box<Iter>, ValueId),
    Copied(Box<Iter>),
    Chain(Box<Iter>, Box<Iter>),
    /// The items of what a closure makes of each, or of each itself; backwards if the flag is set.
    FlatMap(Box<Iter>, Option<Val>, bool),
    Scan(Box<Iter>, Box<Val>, Val),
    /// One value so many times, or without end.
    Repeat(Box<Val>, Option<ValueId>),
    Cycle(Box<Iter>),
    Successors(Box<Val>, Val),
    FromFn(Val),
    /// An iterator of the module's own: its type, and where its state is.
    Own(String, LValue),
    RepeatWith(Val),
    /// One item where a condition holds, none elsewhere.
    Maybe(ValueId, Box<Val>),
    /// An iterator that a variable holds: the positions left.
    Held(Box<Iter>, VarId, VarId),
}

impl Iter {
    /// Whether every item has a position that is known beforehand.
    pub(super) fn has_positions(&self) -> bool {
        match self {
            Self::Range { .. }
            | Self::Open(_)
            | Self::Slice(_)
            | Self::Chunks(..)
            | Self::Pieces(..)
            | Self::BackChunks(..)
            | Self::Windows(..)
            | Self::Repeat(..)
            | Self::Held(..)
            | Self::Maybe(..) => true,
            Self::Filter(..)
            | Self::Chain(..)
            | Self::FlatMap(..)
            | Self::Scan(..)
            | Self::Successors(..)
            | Self::FromFn(_)
            | Self::Own(..)
            | Self::RepeatWith(_) => false,
            Self::Staged(inner, stage, _) => *stage == Stage::Inspect && inner.has_positions(),
            Self::Zip(a, b) => a.has_positions() && b.has_positions(),
            Self::Rev(inner)
            | Self::StepBy(inner, _)
            | Self::Enumerate(inner)
            | Self::Map(inner, _)
            | Self::Take(inner, _)
            | Self::Skip(inner, _)
            | Self::Cycle(inner)
            | Self::Copied(inner) => inner.has_positions(),
        }
    }

    /// Whether items can be visited by the position of what they are made of: some may be dropped, none is counted.
    pub(super) fn is_visited(&self) -> bool {
        match self {
            Self::Filter(inner, _)
            | Self::Staged(inner, Stage::FilterMap | Stage::Inspect, _)
            | Self::Map(inner, _)
            | Self::Copied(inner) => inner.is_visited(),
            other => other.has_positions(),
        }
    }

    /// Whether making an item calls a closure.
    pub(super) fn calls(&self) -> bool {
        match self {
            Self::Range { .. }
            | Self::Open(_)
            | Self::Slice(_)
            | Self::Chunks(..)
            | Self::Pieces(..)
            | Self::BackChunks(..)
            | Self::Windows(..)
            | Self::Repeat(..)
            | Self::Maybe(..) => false,
            Self::Rev(inner)
            | Self::StepBy(inner, _)
            | Self::Enumerate(inner)
            | Self::Take(inner, _)
            | Self::Skip(inner, _)
            | Self::Cycle(inner)
            | Self::Held(inner, ..)
            | Self::Copied(inner) => inner.calls(),
            Self::Zip(a, b) | Self::Chain(a, b) => a.calls() || b.calls(),
            _ => true,
        }
    }

    /// The same items from the last to the first.
    pub(super) fn reversed(self) -> Self {
        let turned = |inner: Box<Self>| Box::new(inner.reversed());
        match self {
            Self::Rev(inner) => *inner,
            iter if iter.has_positions() => Self::Rev(Box::new(iter)),
            Self::Map(inner, f) => Self::Map(turned(inner), f),
            Self::Filter(inner, f) => Self::Filter(turned(inner), f),
            Self::Copied(inner) => Self::Copied(turned(inner)),
            Self::Staged(inner, stage @ (Stage::FilterMap | Stage::Inspect), f) => {
                Self::Staged(turned(inner), stage, f)
            }
            Self::Chain(a, b) => Self::Chain(turned(b), turned(a)),
            Self::FlatMap(inner, f, reversed) => Self::FlatMap(turned(inner), f, !reversed),
            other => Self::Rev(Box::new(other)),
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

/// What is done with each item.
pub(super) type Body<'a, 'm> = &'a mut dyn FnMut(&mut Lowerer<'m>, Val) -> Result<()>;

impl<'m> Lowerer<'m> {
    /// What `for` iterates over.
    pub(super) fn iterator(&mut self, val: Val, span: Span) -> Result<Iter> {
        match val {
            Val::Iter(iter) => Ok(*iter),
            Val::Never => {
                let none = self.b.usize(0, span);
                Ok(Iter::Repeat(Box::new(Val::Never), Some(none)))
            }
            val if self.choice_of(&val).is_some_and(|choice| choice.is_library()) => {
                let by_reference = matches!(val, Val::Ref(_));
                let val = if by_reference { val } else { self.rvalue(val, span)? };
                let (some, inner) = (self.part(&val, 0, span)?, self.part(&val, 1, span)?);
                Ok(Iter::Maybe(self.scalar(some, span)?, Box::new(inner)))
            }
            val if self.owner_of(&val).is_some_and(|owner| library::is_known(&owner)) => {
                self.elements_of(val, span)
            }
            val if self.owner_of(&val).is_some() => match self.own_iterator(&val, span)? {
                Some(iter) => Ok(iter),
                None => match self.dereferenced(&val, span)? {
                    Some(inner) => self.iterator(inner, span),
                    None => Err(Error::new(
                        span,
                        "this is no iterator: iterate over one of its fields, or implement `Iterator` or `IntoIterator` for it in this module",
                    )),
                },
            },
            Val::Ref(lv) => Ok(Iter::Slice(lv)),
            Val::Place(lv @ LValue::Memory(_)) => Ok(Iter::Copied(Box::new(Iter::Slice(lv)))),
            _ => Err(Error::new(span, "a range, a slice or an iterator was expected")),
        }
    }

    /// The elements of a type of another crate.
    fn elements_of(&mut self, val: Val, span: Span) -> Result<Iter> {
        let owner = self.owner_of(&val).unwrap_or_default();
        let key = (owner.clone(), "iter".to_owned());
        let Some(function) = self.module.methods.get(&key).cloned() else {
            return Err(Error::new(span, "a range, a slice or an iterator was expected"));
        };
        let args = vec![Val::Ref(super::control::lv_of(val))];
        let label = format!("{owner}::iter");
        match self.expand(&label, &function.sig, &function.block, args, span)? {
            Val::Iter(iter) => Ok(*iter),
            _ => Err(Error::new(span, "a range, a slice or an iterator was expected")),
        }
    }

    /// The bounds of a range that is iterated over.
    pub(super) fn range_bounds(&mut self, range: &syn::ExprRange) -> Result<(ValueId, ValueId)> {
        let span = range.span();
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return Err(unsupported(
                range.limits.span(),
                "a range without start",
                "give both ends",
            ));
        };
        let (from, to) = (self.number(start)?, self.number(end)?);
        self.unify(from, to, span)?;
        if !self.is_int(from) && self.is_float(from) {
            return Err(Error::new(span, "a range of integers was expected"));
        }
        match range.limits {
            syn::RangeLimits::HalfOpen(_) => Ok((from, to)),
            syn::RangeLimits::Closed(_) => {
                self.check_end(to, span);
                Ok((from, self.next(to, span)))
            }
        }
    }

    /// The number after the last of a closed range. If there is none it panics, also where overflow is not checked: an empty range in its place would be wrong without a word.
    pub(super) fn next(&mut self, last: ValueId, span: Span) -> ValueId {
        let ty = self.b.function.ty(last);
        let one = self.b.int(1, ty, span);
        if self.b.function.kernel || self.b.has_next(last) || self.b.constant(last).is_some() {
            return self.b.binary(Binary::Add, last, one, span);
        }
        self.int_method("strict_add", vec![last, one], span)
    }

    /// The end of a closed range is not the largest number of its type: the number behind it must be one as well. Types of 64 bits are
    /// not run through to their end.
    fn check_end(&mut self, to: ValueId, span: Span) {
        let Scalar::Int(int) = self.ty(to) else { return };
        let name = self.ty(to).name();
        let signed = name.starts_with('i');
        let largest = (1_i128 << (int.bits().min(126) - u32::from(signed))) - 1;
        let near = match self.b.constant(to) {
            Some(Op::Int(number)) => *number == largest,
            _ => true,
        };
        if int.bits() >= 64 || !near {
            return;
        }
        let ty = self.b.function.ty(to);
        let last = self.b.int(largest, ty, span);
        let condition = self.b.compare(Compare::Lt, to, last, span);
        let message = format!(
            "a range of a gradient ends before the largest `{name}`: count in a larger type"
        );
        let span = self.b.at(span);
        self.b.node(Stmt::Check { check: Check::Library { condition, message }, span });
    }

    /// A range as a value: the start of an iterator chain.
    pub(super) fn range_value(&mut self, range: &syn::ExprRange) -> Result<Val> {
        if let (Some(start), None) = (&range.start, &range.end) {
            let from = self.number(start)?;
            return Ok(Val::Iter(Box::new(Iter::Open(from))));
        }
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
                inner if inner.is_visited() => {
                    self.each_counted(inner, true, label, exits, span, body)
                }
                _ => self.each_driven(iter, label, exits, span, body),
            },
            iter if !iter.is_visited() => self.each_driven(iter, label, exits, span, body),
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
            Iter::Pieces(lv, size, _) => {
                let len = self.len_of(lv, span)?;
                Ok(self.int_method("div_ceil", vec![len, *size], span))
            }
            Iter::BackChunks(lv, size) => {
                let len = self.len_of(lv, span)?;
                Ok(self.b.binary(Binary::Div, len, *size, span))
            }
            Iter::Open(_) | Iter::Repeat(_, None) => Ok(self.endless(span)),
            Iter::Repeat(_, Some(n)) => Ok(*n),
            Iter::Cycle(inner) => {
                let (len, zero) = (self.iter_len(inner, span)?, self.b.usize(0, span));
                let some = self.b.compare(Compare::Gt, len, zero, span);
                let endless = self.endless(span);
                Ok(self.b.select(some, endless, zero, span))
            }
            Iter::Held(_, start, end) => {
                Ok(self.b.binary(Binary::Sub, self.get(*end), self.get(*start), span))
            }
            Iter::Chain(..)
            | Iter::FlatMap(..)
            | Iter::Scan(..)
            | Iter::Successors(..)
            | Iter::FromFn(_)
            | Iter::Own(..)
            | Iter::RepeatWith(_) => Err(unsupported(
                span,
                "the length of this iterator",
                "count its items, or `collect` them first",
            )),
            Iter::Rev(inner)
            | Iter::Enumerate(inner)
            | Iter::Map(inner, _)
            | Iter::Filter(inner, _)
            | Iter::Staged(inner, ..)
            | Iter::Copied(inner) => self.iter_len(inner, span),
            Iter::StepBy(inner, step) => {
                let len = self.iter_len(inner, span)?;
                Ok(self.int_method("div_ceil", vec![len, *step], span))
            }
            Iter::Zip(a, b) => {
                let (a, b) = (self.iter_len(a, span)?, self.iter_len(b, span)?);
                Ok(self.lesser(a, b, span))
            }
            Iter::Take(inner, n) => {
                let len = self.iter_len(inner, span)?;
                Ok(self.lesser(len, *n, span))
            }
            Iter::Skip(inner, n) => {
                let len = self.iter_len(inner, span)?;
                Ok(self.int_method("saturating_sub", vec![len, *n], span))
            }
        }
    }

    /// A length that nothing reaches.
    fn endless(&mut self, span: Span) -> ValueId {
        self.b.int(i128::from(u64::MAX), Scalar::USIZE, span)
    }

    /// The lesser of two lengths.
    fn lesser(&mut self, a: ValueId, b: ValueId, span: Span) -> ValueId {
        let endless = |me: &Self, value| matches!(me.b.constant(value), Some(Op::Int(n)) if *n == i128::from(u64::MAX));
        if a == b || endless(self, b) {
            return a;
        }
        if endless(self, a) {
            return b;
        }
        self.int_method("min", vec![a, b], span)
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
        // The difference may be larger than the largest number of the type.
        let wide = Scalar::Int(Int::I128);
        let some = self.b.compare(Compare::Gt, to, from, span);
        let [to, from] = [to, from].map(|end| self.b.emit(Op::Cast(end, wide), wide, span));
        let len = self.int_method("wrapping_sub", vec![to, from], span);
        let zero = self.b.int(0, wide, span);
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
            Iter::Range { from, .. } | Iter::Open(from) => {
                let ty = self.b.function.ty(*from);
                let offset = if self.ty(*from) == Scalar::USIZE {
                    at
                } else {
                    self.b.emit(Op::Cast(at, ty), ty, span)
                };
                // A range may be longer than the largest number of its type.
                let narrow = matches!(self.ty(*from), Scalar::Int(int) if int.bits() < 32);
                let item = match narrow {
                    true => self.int_method("wrapping_add", vec![*from, offset], span),
                    false => self.b.binary(Binary::Add, *from, offset, span),
                };
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
            Iter::Pieces(lv, size, false) => {
                let start = self.b.binary(Binary::Mul, at, *size, span);
                let len = self.len_of(lv, span)?;
                let left = self.b.binary(Binary::Sub, len, start, span);
                let count = self.int_method("min", vec![left, *size], span);
                let part = self.window_of(lv, start, count, span)?;
                body(self, Val::Ref(part))
            }
            Iter::Pieces(lv, size, true) => {
                let before = self.b.binary(Binary::Mul, at, *size, span);
                let len = self.len_of(lv, span)?;
                let end = self.b.binary(Binary::Sub, len, before, span);
                let start = self.int_method("saturating_sub", vec![end, *size], span);
                let count = self.b.binary(Binary::Sub, end, start, span);
                let part = self.window_of(lv, start, count, span)?;
                body(self, Val::Ref(part))
            }
            Iter::BackChunks(lv, size) => {
                let before = self.b.binary(Binary::Mul, at, *size, span);
                let len = self.len_of(lv, span)?;
                let end = self.b.binary(Binary::Sub, len, before, span);
                let start = self.b.binary(Binary::Sub, end, *size, span);
                let part = self.window_of(lv, start, *size, span)?;
                body(self, Val::Ref(part))
            }
            Iter::Repeat(val, _) => {
                let item = self.cloned((**val).clone(), span)?;
                body(self, item)
            }
            Iter::Cycle(inner) => {
                let len = self.iter_len(inner, span)?;
                let at = self.b.binary(Binary::Rem, at, len, span);
                self.visit(inner, at, span, body)
            }
            Iter::Held(inner, start, _) => {
                let at = self.b.binary(Binary::Add, self.get(*start), at, span);
                self.visit(inner, at, span, body)
            }
            Iter::Staged(inner, stage @ (Stage::FilterMap | Stage::Inspect), f) => {
                let stage = *stage;
                self.visit(inner, at, span, &mut |me, item| {
                    if stage == Stage::Inspect {
                        me.apply(f, vec![Val::Ref(super::control::lv_of(item.clone()))], span)?;
                        return body(me, item);
                    }
                    let option = me.apply(f, vec![item], span)?;
                    let (some, val) = (me.part(&option, 0, span)?, me.part(&option, 1, span)?);
                    let some = me.scalar(some, span)?;
                    me.branch(
                        some,
                        span,
                        |me| {
                            body(me, val)?;
                            Ok(Val::Unit)
                        },
                        |_| Ok(Val::Unit),
                    )?;
                    Ok(())
                })
            }
            Iter::Staged(..)
            | Iter::Chain(..)
            | Iter::FlatMap(..)
            | Iter::Scan(..)
            | Iter::Successors(..)
            | Iter::FromFn(_)
            | Iter::Own(..)
            | Iter::RepeatWith(_) => {
                Err(unsupported(span, "this iterator here", "`collect` it first"))
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
                let keep = me.asked(f, &item, span)?;
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
                let val = me.copied_item(item, span)?;
                body(me, val)
            }),
        }
    }
}
