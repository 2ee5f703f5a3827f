//! `match` on integers, booleans and enums: a chain of branches.

use syn::spanned::Spanned;
use syn::{Error, Expr, Pat, Result};

use super::val::Val;
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Compare, ValueId};

impl Lowerer<'_> {
    /// `match value { … }`
    pub(super) fn matching(&mut self, node: &syn::ExprMatch) -> Result<Val> {
        let val = self.expr(&node.expr)?;
        if let Val::Parts(..) = val {
            return Err(unsupported(
                node.expr.span(),
                "`match` on tuples and structs",
                "match on one integer, or use `if`",
            ));
        }
        let value = self.scalar(val, node.expr.span())?;
        if self.is_float(value) {
            return Err(unsupported(node.expr.span(), "`match` on floats", "use `if`"));
        }
        self.arms(&node.arms, value)
    }

    fn arms(&mut self, arms: &[syn::Arm], value: ValueId) -> Result<Val> {
        let Some((arm, rest)) = arms.split_first() else {
            // The arms before were exhaustive, rustc has seen to it.
            return Ok(Val::Never);
        };
        let span = arm.pat.span();
        let (pat, guard) = match &arm.pat {
            Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            pat => (pat, None),
        };
        let (binds, pat) = match pat {
            Pat::Ident(name) if self.is_binding(&name.ident.to_string()) => {
                (Some(name), name.subpat.as_ref().map(|(_, pat)| &**pat))
            }
            pat => (None, Some(pat)),
        };
        let fits = match pat {
            Some(pat) => self.fits(pat, value)?,
            None => None,
        };
        self.scoped(|me| {
            if let Some(name) = binds {
                me.bind_name(
                    &name.ident.to_string(),
                    Val::Scalar(value),
                    name.mutability.is_some(),
                );
            }
            let condition = match (fits, guard) {
                // The last arm of an exhaustive match needs no test.
                (Some(_), None) if rest.is_empty() => None,
                (fits, None) => fits,
                (None, Some(guard)) => Some(me.condition(guard)?),
                (Some(fits), Some(guard)) => {
                    let both = me.branch(
                        fits,
                        span,
                        |me| Ok(Val::Scalar(me.condition(guard)?)),
                        |me| Ok(Val::Scalar(me.b.bool(false, span))),
                    )?;
                    Some(me.scalar(both, span)?)
                }
            };
            match condition {
                None => me.arm(&arm.body),
                Some(condition) => {
                    me.branch(condition, span, |me| me.arm(&arm.body), |me| me.arms(rest, value))
                }
            }
        })
    }

    fn arm(&mut self, body: &Expr) -> Result<Val> {
        match body {
            Expr::Block(block) if block.label.is_none() => self.block(&block.block),
            body => self.scoped(|me| me.expr(body)),
        }
    }

    /// Whether an identifier in a pattern is a new name, not a constant.
    fn is_binding(&self, name: &str) -> bool {
        !self.module.constants.contains_key(name)
            && !name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_')
    }

    /// Whether a value fits a pattern; `None` if it always does.
    fn fits(&mut self, pat: &Pat, value: ValueId) -> Result<Option<ValueId>> {
        let span = pat.span();
        match pat {
            Pat::Wild(_) => Ok(None),
            Pat::Paren(inner) => self.fits(&inner.pat, value),
            Pat::Lit(lit) => self.equals(&Expr::Lit(lit.clone()), value).map(Some),
            Pat::Path(path) => self.equals(&Expr::Path(path.clone()), value).map(Some),
            Pat::Ident(name) => {
                let ident = &name.ident;
                self.equals(&syn::parse_quote!(#ident), value).map(Some)
            }
            Pat::Or(or) => {
                let mut any: Option<ValueId> = None;
                for case in &or.cases {
                    let Some(fits) = self.fits(case, value)? else { return Ok(None) };
                    any = Some(match any {
                        Some(any) => self.b.binary(Binary::BitOr, any, fits, span),
                        None => fits,
                    });
                }
                Ok(any)
            }
            Pat::Range(range) => {
                let mut condition: Option<ValueId> = None;
                if let Some(start) = &range.start {
                    let from = self.number(start)?;
                    self.unify(value, from, span)?;
                    condition = Some(self.b.compare(Compare::Ge, value, from, span));
                }
                if let Some(end) = &range.end {
                    let to = self.number(end)?;
                    self.unify(value, to, span)?;
                    let sign = match range.limits {
                        syn::RangeLimits::HalfOpen(_) => Compare::Lt,
                        syn::RangeLimits::Closed(_) => Compare::Le,
                    };
                    let below = self.b.compare(sign, value, to, span);
                    condition = Some(match condition {
                        Some(condition) => self.b.binary(Binary::BitAnd, condition, below, span),
                        None => below,
                    });
                }
                Ok(condition)
            }
            _ => Err(Error::new(
                span,
                "`#[gradient]` does not support this pattern: match on integers, ranges, booleans and enums \
                 without data",
            )),
        }
    }

    fn equals(&mut self, expr: &Expr, value: ValueId) -> Result<ValueId> {
        let span = expr.span();
        let other = self.number(expr)?;
        self.unify(value, other, span)?;
        Ok(self.b.compare(Compare::Eq, value, other, span))
    }
}
