//! Iterators whose items have no positions: what is dropped, or where the end is, shows only while they run.
//!
//! Such a chain is driven from its source: each item is handed on through the adapters, which keep what they count in variables.
//! An adapter that ends the iteration does so by a jump out of it, as `break` would.

use proc_macro2::Span;
use syn::{Error, Result};

use super::control::{Frame, LoopFrame, lv_of};
use super::exits::Exit;
use super::iter::{Body, Iter};
use super::join::holds_list;
use super::val::{Val, VarId};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Compare, Range, ValueId};

/// What the closure of an adapter says to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// `filter_map`: an option, dropped where it is `None`.
    FilterMap,
    /// `map_while`: an option, the end where it is `None`.
    MapWhile,
    /// `take_while`: the end where it does not hold.
    TakeWhile,
    /// `skip_while`: dropped until it does not hold.
    SkipWhile,
    /// `inspect`: nothing.
    Inspect,
}

impl<'m> Lowerer<'m> {
    /// A loop over the items of a chain without positions.
    pub(super) fn each_driven(
        &mut self,
        iter: &Iter,
        label: Option<&syn::Label>,
        exits: &[Exit],
        span: Span,
        body: Body<'_, 'm>,
    ) -> Result<Val> {
        if exits.is_empty() {
            self.in_own_frame(span, |me| me.drive(iter, false, span, body))?;
            return Ok(Val::Unit);
        }
        let label = label.map(|label| label.name.ident.to_string());
        self.ending(span, |me, broke| {
            let frame = |broke, continued| LoopFrame {
                label: label.clone(),
                broke,
                continued,
                result: None,
                is_block: false,
            };
            me.frame().loops.push(frame(Some(broke), None));
            let driven = me.drive(iter, true, span, &mut |me, item| {
                me.ending(span, |me, continued| {
                    me.frame().loops.push(frame(None, Some(continued)));
                    let lowered = body(me, item);
                    me.frame().loops.pop();
                    lowered
                })
            });
            me.frame().loops.pop();
            driven
        })?;
        Ok(Val::Unit)
    }

    /// Runs over the items until `body` jumps to the variable it is handed.
    pub(super) fn each_until(
        &mut self,
        iter: &Iter,
        span: Span,
        body: &mut dyn FnMut(&mut Self, Val, VarId) -> Result<()>,
    ) -> Result<()> {
        self.in_own_frame(span, |me| {
            me.ending(span, |me, end| {
                me.drive(iter, true, span, &mut |me, item| body(me, item, end))
            })
        })
    }

    /// Runs `f` where no jump of the user's leads out of.
    fn in_own_frame(&mut self, span: Span, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.frames.push(Frame::default());
        self.going(span);
        let result = f(self);
        self.frames.pop();
        result
    }

    /// Runs `f`, which may jump to its end by the variable it is handed.
    fn ending(&mut self, span: Span, f: impl FnOnce(&mut Self, VarId) -> Result<()>) -> Result<()> {
        let going = self.going(span);
        let no = self.b.bool(false, span);
        let end = self.new_var(no);
        f(self, end)?;
        let (a, b) = (self.get(going), self.get(end));
        let now = self.or(a, b, span);
        self.set(going, now);
        Ok(())
    }

    /// What follows something that may have jumped away.
    fn if_going(&mut self, span: Span, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let going = self.going(span);
        let going = self.get(going);
        self.branch(going, span, |me| f(me).map(|()| Val::Unit), |_| Ok(Val::Unit))?;
        Ok(())
    }

    /// One of two things, neither of which yields anything.
    fn either(
        &mut self,
        condition: ValueId,
        span: Span,
        then: impl FnOnce(&mut Self) -> Result<()>,
        other: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.branch(
            condition,
            span,
            |me| then(me).map(|()| Val::Unit),
            |me| other(me).map(|()| Val::Unit),
        )?;
        Ok(())
    }

    /// The next number of a variable that counts, which is then one more.
    fn count(&mut self, var: VarId, span: Span) -> ValueId {
        let (now, one) = (self.get(var), self.b.usize(1, span));
        let next = self.b.binary(Binary::Add, now, one, span);
        self.set(var, next);
        now
    }

    fn counter(&mut self, span: Span) -> VarId {
        let zero = self.b.usize(0, span);
        self.new_var(zero)
    }

    /// A loop without end that only jumps leave.
    fn forever(&mut self, span: Span, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.repeat(Range::Forever, false, None, &[Exit::Return], span, |me, _| {
            if let Some(frame) = me.frame().loops.last_mut() {
                frame.is_block = true;
            }
            body(me)
        })?;
        Ok(())
    }

    /// The parts of an option that a closure has made.
    fn tag_and_val(&mut self, option: &Val, span: Span) -> Result<(ValueId, Val)> {
        let is_option = |choice: &super::choice::Choice| choice.name == "Option";
        if !self.choice_of(option).is_some_and(|choice| is_option(&choice)) {
            return Err(Error::new(span, "the closure must yield an `Option`"));
        }
        let tag = self.part(option, 0, span)?;
        Ok((self.scalar(tag, span)?, self.part(option, 1, span)?))
    }

    /// Hands every item to the body. `jumps` says whether the body, or what is around, may jump away.
    fn drive(&mut self, iter: &Iter, jumps: bool, span: Span, body: Body<'_, 'm>) -> Result<()> {
        if iter.is_visited() {
            let exits: &[Exit] = if jumps { &[Exit::Return] } else { &[] };
            return self.each(iter, None, exits, span, body).map(|_| ());
        }
        match iter {
            Iter::Map(inner, f) => self.drive(inner, jumps, span, &mut |me, item| {
                let val = me.apply(f, vec![item], span)?;
                body(me, val)
            }),
            Iter::Copied(inner) => self.drive(inner, jumps, span, &mut |me, item| {
                let val = me.copied_item(item, span)?;
                body(me, val)
            }),
            Iter::Filter(inner, f) => self.drive(inner, jumps, span, &mut |me, item| {
                let keep = me.asked(f, &item, span)?;
                me.either(keep, span, |me| body(me, item), |_| Ok(()))
            }),
            Iter::Staged(inner, stage, f) => self.staged(inner, *stage, f, jumps, span, body),
            Iter::Enumerate(inner) => {
                let var = self.counter(span);
                self.drive(inner, jumps, span, &mut |me, item| {
                    let at = me.count(var, span);
                    body(me, Self::tuple(vec![Val::Scalar(at), item]))
                })
            }
            Iter::Take(inner, n) => {
                let zero = self.b.usize(0, span);
                let some = self.b.compare(Compare::Gt, *n, zero, span);
                let run = |me: &mut Self| {
                    let var = me.counter(span);
                    me.ending(span, |me, end| {
                        me.drive(inner, true, span, &mut |me, item| {
                            me.count(var, span);
                            body(me, item)?;
                            // The next item is not asked for.
                            me.if_going(span, |me| {
                                let last = me.b.compare(Compare::Ge, me.get(var), *n, span);
                                me.either(last, span, |me| me.end(end, span), |_| Ok(()))
                            })
                        })
                    })
                };
                self.either(some, span, run, |_| Ok(()))
            }
            Iter::Skip(inner, n) => {
                let var = self.counter(span);
                self.drive(inner, jumps, span, &mut |me, item| {
                    let early = me.b.compare(Compare::Lt, me.get(var), *n, span);
                    let count = |me: &mut Self| {
                        me.count(var, span);
                        Ok(())
                    };
                    me.either(early, span, count, |me| body(me, item))
                })
            }
            Iter::StepBy(inner, step) => {
                let var = self.counter(span);
                self.drive(inner, jumps, span, &mut |me, item| {
                    let now = me.count(var, span);
                    let (zero, next) = (me.b.usize(0, span), me.get(var));
                    let round = me.b.compare(Compare::Eq, next, *step, span);
                    let next = me.b.select(round, zero, next, span);
                    me.set(var, next);
                    let here = me.b.compare(Compare::Eq, now, zero, span);
                    me.either(here, span, |me| body(me, item), |_| Ok(()))
                })
            }
            Iter::Chain(a, b) => {
                self.drive(a, jumps, span, body)?;
                if jumps {
                    self.if_going(span, |me| me.drive(b, jumps, span, body))
                } else {
                    self.drive(b, jumps, span, body)
                }
            }
            Iter::FlatMap(inner, f, reversed) => self.drive(inner, jumps, span, &mut |me, item| {
                let val = match f {
                    Some(f) => me.apply(f, vec![item], span)?,
                    None => item,
                };
                let mut iter = me.iterator(val, span)?;
                if *reversed {
                    iter = iter.reversed();
                }
                me.drive(&iter, jumps, span, body)
            }),
            Iter::Scan(inner, init, f) => {
                let init = self.as_vec((**init).clone(), span)?;
                let state = self.variable(init, span)?;
                let state = lv_of(state);
                self.ending(span, |me, end| {
                    me.drive(inner, true, span, &mut |me, item| {
                        let option = me.apply(f, vec![Val::Ref(state.clone()), item], span)?;
                        let (some, val) = me.tag_and_val(&option, span)?;
                        me.either(some, span, |me| body(me, val), |me| me.end(end, span))
                    })
                })
            }
            Iter::Zip(a, b) => self.drive_zip(a, b, span, body),
            Iter::Successors(first, f) => {
                let first = self.as_vec((**first).clone(), span)?;
                let state = self.variable(first, span)?;
                let state = lv_of(state);
                self.ending(span, |me, end| {
                    me.forever(span, |me| {
                        let now = me.read(&state, span)?;
                        let (some, item) = me.tag_and_val(&now, span)?;
                        let go_on = |me: &mut Self| {
                            // The state goes on while the item is still in use.
                            let item = match holds_list(&item) {
                                true => me.clone_of(&lv_of(item), span)?,
                                false => item,
                            };
                            let seen = Val::Ref(lv_of(item.clone()));
                            let next = me.apply(f, vec![seen], span)?;
                            me.write_parts(&state, next, span)?;
                            body(me, item)
                        };
                        me.either(some, span, go_on, |me| me.end(end, span))
                    })
                })
            }
            Iter::FromFn(f) => self.ending(span, |me, end| {
                me.forever(span, |me| {
                    let option = me.apply(f, Vec::new(), span)?;
                    let (some, val) = me.tag_and_val(&option, span)?;
                    me.either(some, span, |me| body(me, val), |me| me.end(end, span))
                })
            }),
            Iter::Own(owner, state) => self.ending(span, |me, end| {
                me.forever(span, |me| {
                    let option = me.own_next(owner, state, span)?;
                    let (some, val) = me.tag_and_val(&option, span)?;
                    me.either(some, span, |me| body(me, val), |me| me.end(end, span))
                })
            }),
            Iter::RepeatWith(f) => self.forever(span, |me| {
                let val = me.apply(f, Vec::new(), span)?;
                body(me, val)
            }),
            _ => Err(unsupported(
                span,
                "this iterator backwards, or again and again",
                "`collect` it first",
            )),
        }
    }

    fn end(&mut self, end: VarId, span: Span) -> Result<()> {
        self.jump(Some(end), span);
        Ok(())
    }

    /// What a closure says to an item it is shown.
    pub(super) fn asked(&mut self, f: &Val, item: &Val, span: Span) -> Result<ValueId> {
        let seen = Val::Ref(lv_of(item.clone()));
        let answer = self.apply(f, vec![seen], span)?;
        self.scalar(answer, span)
    }

    /// An item that was referred to.
    pub(super) fn copied_item(&mut self, item: Val, span: Span) -> Result<Val> {
        match item {
            Val::Ref(lv) => self.read(&lv, span),
            other => Ok(other),
        }
    }

    fn staged(
        &mut self,
        inner: &Iter,
        stage: Stage,
        f: &Val,
        jumps: bool,
        span: Span,
        body: Body<'_, 'm>,
    ) -> Result<()> {
        match stage {
            Stage::FilterMap => self.drive(inner, jumps, span, &mut |me, item| {
                let option = me.apply(f, vec![item], span)?;
                let (some, val) = me.tag_and_val(&option, span)?;
                me.either(some, span, |me| body(me, val), |_| Ok(()))
            }),
            Stage::Inspect => self.drive(inner, jumps, span, &mut |me, item| {
                me.apply(f, vec![Val::Ref(lv_of(item.clone()))], span)?;
                body(me, item)
            }),
            Stage::MapWhile => self.ending(span, |me, end| {
                me.drive(inner, true, span, &mut |me, item| {
                    let option = me.apply(f, vec![item], span)?;
                    let (some, val) = me.tag_and_val(&option, span)?;
                    me.either(some, span, |me| body(me, val), |me| me.end(end, span))
                })
            }),
            Stage::TakeWhile => self.ending(span, |me, end| {
                me.drive(inner, true, span, &mut |me, item| {
                    let holds = me.asked(f, &item, span)?;
                    me.either(holds, span, |me| body(me, item), |me| me.end(end, span))
                })
            }),
            Stage::SkipWhile => {
                let yes = self.b.bool(true, span);
                let skipping = self.new_var(yes);
                self.drive(inner, jumps, span, &mut |me, item| {
                    let now = me.get(skipping);
                    let skips = me.branch(
                        now,
                        span,
                        |me| Ok(Val::Scalar(me.asked(f, &item, span)?)),
                        |me| Ok(Val::Scalar(me.b.bool(false, span))),
                    )?;
                    let skips = me.scalar(skips, span)?;
                    me.set(skipping, skips);
                    me.either(skips, span, |_| Ok(()), |me| body(me, item))
                })
            }
        }
    }

    fn drive_zip(&mut self, a: &Iter, b: &Iter, span: Span, body: Body<'_, 'm>) -> Result<()> {
        if b.has_positions() {
            let (var, len) = (self.counter(span), self.iter_len(b, span)?);
            return self.ending(span, |me, end| {
                me.drive(a, true, span, &mut |me, first| {
                    let at = me.get(var);
                    let more = me.b.compare(Compare::Lt, at, len, span);
                    let pair = |me: &mut Self| {
                        me.count(var, span);
                        me.visit(b, at, span, &mut |me, second| {
                            body(me, Self::tuple(vec![first.clone(), second]))
                        })
                    };
                    me.either(more, span, pair, |me| me.end(end, span))
                })
            });
        }
        if !a.has_positions() || a.calls() {
            return Err(unsupported(
                span,
                "`zip` of two such iterators",
                "`collect` one of them first, or put the one that is plain second",
            ));
        }
        let (var, len) = (self.counter(span), self.iter_len(a, span)?);
        let zero = self.b.usize(0, span);
        let some = self.b.compare(Compare::Gt, len, zero, span);
        let run = |me: &mut Self| {
            me.ending(span, |me, end| {
                me.drive(b, true, span, &mut |me, second| {
                    let at = me.count(var, span);
                    me.visit(a, at, span, &mut |me, first| {
                        body(me, Self::tuple(vec![first, second.clone()]))
                    })?;
                    me.if_going(span, |me| {
                        let last = me.b.compare(Compare::Ge, me.get(var), len, span);
                        me.either(last, span, |me| me.end(end, span), |_| Ok(()))
                    })
                })
            })
        };
        self.either(some, span, run, |_| Ok(()))
    }

    /// `std::iter::once` and its like; `None` if there is no such.
    pub(super) fn iterator_function(
        &mut self,
        name: &str,
        args: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let boxed = |val: &Val| Box::new(val.clone());
        let iter = match (name, args) {
            ("once", [val]) => {
                let one = self.b.usize(1, span);
                Iter::Repeat(boxed(val), Some(one))
            }
            ("empty", []) => {
                let none = self.b.usize(0, span);
                Iter::Repeat(Box::new(Val::Never), Some(none))
            }
            ("repeat", [val]) => Iter::Repeat(boxed(val), None),
            ("repeat_n", [val, n]) => {
                let n = self.scalar(n.clone(), span)?;
                self.expect(n, stratape_ir::Scalar::USIZE, span)?;
                Iter::Repeat(boxed(val), Some(n))
            }
            ("repeat_with", [f]) => Iter::RepeatWith(f.clone()),
            ("from_fn", [f]) => Iter::FromFn(f.clone()),
            ("successors", [first, f]) => Iter::Successors(boxed(first), f.clone()),
            _ => return Ok(None),
        };
        Ok(Some(Val::Iter(Box::new(iter))))
    }
}
