//! Loops and the jumps out of them.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::control::{LoopFrame, lv_of};
use super::exits::Exit;
use super::index::as_range;
use super::iter::Iter;
use super::mention::words_of;
use super::val::Val;
use super::{Lowerer, exits, marks, unsupported};
use stratape_ir::Range;

impl Lowerer<'_> {
    pub(super) fn while_loop(&mut self, node: &syn::ExprWhile) -> Result<Val> {
        let span = node.while_token.span();
        marks::only_on_for(&node.attrs)?;
        let found = exits::of_block(&node.body);
        if !exits::of_expr(&node.cond).is_empty() {
            // What follows a jump out of the condition is guarded as after a statement.
            let (label, cond, body) = (&node.label, &node.cond, &node.body);
            return self.endless_loop(&syn::parse_quote!(#label loop {
                if #cond #body else { break; }
            }));
        }
        self.repeat(Range::Forever, false, node.label.as_ref(), &found, span, |me, _| {
            me.branch_on(
                &node.cond,
                span,
                |me| me.block(&node.body).map(|_| Val::Unit),
                |me| {
                    let broke = me.frame().loops.last().and_then(|frame| frame.broke);
                    me.jump(broke, span);
                    Ok(Val::Unit)
                },
            )?;
            Ok(())
        })
    }

    /// `loop { … }`
    pub(super) fn endless_loop(&mut self, node: &syn::ExprLoop) -> Result<Val> {
        marks::only_on_for(&node.attrs)?;
        let found = exits::of_block(&node.body);
        let label = node.label.as_ref();
        let span = node.loop_token.span();
        let name = label.map(|label| label.name.ident.to_string());
        let result = match exits::breaks_with_value(&node.body, name.as_deref(), true) {
            true => Some(Val::Place(self.later(span)?)),
            false => None,
        };
        let val = self.repeat(Range::Forever, false, label, &found, span, |me, _| {
            if let Some(frame) = me.frame().loops.last_mut() {
                frame.result = result;
            }
            me.block(&node.body).map(|_| ())
        })?;
        let label = name;
        let ends = found.iter().any(|exit| match exit {
            Exit::Break(name) => name.is_none() || *name == label,
            _ => false,
        });
        // What is left only by a jump to somewhere else has nothing after it.
        Ok(if ends { val } else { Val::Never })
    }

    pub(super) fn loop_frame(
        &mut self,
        label: Option<&syn::Lifetime>,
        breaks: bool,
        span: Span,
    ) -> Result<usize> {
        let name = label.map(|label| label.ident.to_string());
        let found = self.frame().loops.iter().rposition(|frame| {
            let target = if breaks { frame.broke } else { frame.continued };
            let mine = if name.is_none() { !frame.is_block } else { frame.label == name };
            mine && target.is_some()
        });
        found.ok_or_else(|| Error::new(span, "there is no such loop"))
    }

    pub(super) fn break_from(&mut self, node: &syn::ExprBreak) -> Result<Val> {
        let span = node.span();
        let frame = self.loop_frame(node.label.as_ref(), true, span)?;
        if let (Some(expr), Some(result)) = (&node.expr, self.frame().loops[frame].result.clone()) {
            let val = self.expr(expr)?;
            self.write_parts(&lv_of(result), val, expr.span())?;
        }
        let broke = self.frame().loops[frame].broke;
        self.jump(broke, span);
        Ok(Val::Never)
    }

    /// `'label: { … }`, left by `break 'label`.
    pub(super) fn labelled_block(&mut self, block: &syn::Block, label: &syn::Label) -> Result<Val> {
        let span = label.span();
        let name = label.name.ident.to_string();
        if !exits::of_block(block).contains(&Exit::Break(Some(name.clone()))) {
            let val = self.block(block)?;
            return self.rvalue(val, span);
        }
        let result = match exits::breaks_with_value(block, Some(&name), false) {
            true => Some(Val::Place(self.later(span)?)),
            false => None,
        };
        let going = self.going(span);
        let no = self.b.bool(false, span);
        let broke = self.new_var(no);
        self.frame().loops.push(LoopFrame {
            label: Some(name),
            broke: Some(broke),
            continued: None,
            result: result.clone(),
            is_block: true,
        });
        let val = self.block(block);
        self.frame().loops.pop();
        let val = val?;
        if let (Some(result), false) = (&result, matches!(val, Val::Never)) {
            let now = self.get(going);
            let lv = lv_of(result.clone());
            self.branch(
                now,
                span,
                |me| me.write_parts(&lv, val, span).map(|()| Val::Unit),
                |_| Ok(Val::Unit),
            )?;
        }
        let (a, b) = (self.get(going), self.get(broke));
        let now = self.or(a, b, span);
        self.set(going, now);
        match result {
            Some(result) => self.rvalue(result, span),
            None => Ok(Val::Unit),
        }
    }

    /// `for pattern in …`
    pub(super) fn for_loop(&mut self, node: &syn::ExprForLoop) -> Result<Val> {
        let span = node.for_token.span();
        let found = exits::of_block(&node.body);
        let parallel = marks::parallel(&node.attrs)?;
        if let Some(range) = as_range(&node.expr).filter(|range| range.end.is_some()) {
            let (from, to) = self.range_bounds(range)?;
            let range = Iter::Range { from, to };
            return self.with_room(&node.body, &range, span, |me| {
                me.parallel = parallel;
                me.repeat(
                    Range::UpTo { from, to },
                    false,
                    node.label.as_ref(),
                    &found,
                    span,
                    |me, counter| {
                        me.scoped(|me| {
                            me.bind_surely(&node.pat, Val::Scalar(counter))?;
                            me.block(&node.body).map(|_| ())
                        })
                    },
                )
            });
        }
        let mut val = self.operand(&node.expr)?;
        if let (Val::Place(_), Some(name)) = (&val, root_name(&node.expr))
            && words_of(node.body.to_token_stream()).iter().any(|(word, _)| *word == name)
        {
            // The loop owns the array it runs over; what the body changes is another one.
            val = self.rvalue(val, node.expr.span())?;
        }
        let iter = self.iterator(val, node.expr.span())?;
        if let Some(mark) =
            node.attrs.iter().find(|mark| marks::is_marked(mark, &marks::LOOP_MARKS))
            && !iter.is_visited()
        {
            return Err(unsupported(
                mark.path().span(),
                "this attribute on a loop over such an iterator",
                "loop over a range or a slice",
            ));
        }
        self.with_room(&node.body, &iter, span, |me| {
            me.parallel = parallel;
            me.each(&iter, node.label.as_ref(), &found, span, &mut |me, item| {
                me.scoped(|me| {
                    me.bind_surely(&node.pat, item)?;
                    me.block(&node.body).map(|_| ())
                })
            })
        })
    }
}

/// The variable that a place is a part of.
pub(super) fn root_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(field) => root_name(&field.base),
        Expr::Index(index) => root_name(&index.expr),
        Expr::Paren(inner) => root_name(&inner.expr),
        _ => None,
    }
}
