//! Loops and the jumps out of them.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::exits::Exit;
use super::iter::Iter;
use super::mention::words_of;
use super::place::as_range;
use super::val::Val;
use super::{Lowerer, exits, marks, unsupported};
use stratape_ir::Range;

impl Lowerer<'_> {
    pub(super) fn while_loop(&mut self, node: &syn::ExprWhile) -> Result<Val> {
        let span = node.while_token.span();
        marks::only_on_for(&node.attrs)?;
        let found = exits::of_block(&node.body);
        self.repeat(Range::Forever, false, node.label.as_ref(), &found, span, |me, _| {
            let condition = me.condition(&node.cond)?;
            me.branch(
                condition,
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
        let val = self.repeat(Range::Forever, false, label, &found, span, |me, _| {
            me.block(&node.body).map(|_| ())
        })?;
        let label = label.map(|label| label.name.ident.to_string());
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
        span: Span,
    ) -> Result<usize> {
        let loops = &self.frame().loops;
        let found = match label {
            None => loops.len().checked_sub(1),
            Some(label) => {
                let name = Some(label.ident.to_string());
                loops.iter().rposition(|frame| frame.label == name)
            }
        };
        found.ok_or_else(|| Error::new(span, "there is no such loop"))
    }

    pub(super) fn break_from(&mut self, node: &syn::ExprBreak) -> Result<Val> {
        let span = node.span();
        if let Some(expr) = &node.expr {
            return Err(unsupported(
                expr.span(),
                "`break` with a value",
                "assign the value to a variable before the loop ends",
            ));
        }
        let frame = self.loop_frame(node.label.as_ref(), span)?;
        let broke = self.frame().loops[frame].broke;
        self.jump(broke, span);
        Ok(Val::Never)
    }

    /// `for pattern in …`
    pub(super) fn for_loop(&mut self, node: &syn::ExprForLoop) -> Result<Val> {
        let span = node.for_token.span();
        let found = exits::of_block(&node.body);
        let parallel = marks::parallel(&node.attrs)?;
        if let Some(range) = as_range(&node.expr) {
            let (from, to) = self.range_bounds(range)?;
            let range = Iter::Range { from, to };
            let reserved = self.reserve_for(&node.body, &range, span)?;
            self.parallel = parallel;
            let val = self.repeat(
                Range::UpTo { from, to },
                false,
                node.label.as_ref(),
                &found,
                span,
                |me, counter| {
                    me.scoped(|me| {
                        me.bind(&node.pat, Val::Scalar(counter))?;
                        me.block(&node.body).map(|_| ())
                    })
                },
            );
            reserved.iter().for_each(|object| _ = self.reserved.remove(object));
            return val;
        }
        let mut val = self.operand(&node.expr)?;
        if let (Val::Place(_), Some(name)) = (&val, root_name(&node.expr))
            && words_of(node.body.to_token_stream()).iter().any(|(word, _)| *word == name)
        {
            // The loop owns the array it runs over; what the body changes is another one.
            val = self.rvalue(val, node.expr.span())?;
        }
        let iter = self.iterator(val, node.expr.span())?;
        let reserved = self.reserve_for(&node.body, &iter, span)?;
        self.parallel = parallel;
        let val = self.each(&iter, node.label.as_ref(), &found, span, &mut |me, item| {
            me.scoped(|me| {
                me.bind(&node.pat, item)?;
                me.block(&node.body).map(|_| ())
            })
        });
        reserved.iter().for_each(|object| _ = self.reserved.remove(object));
        val
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
