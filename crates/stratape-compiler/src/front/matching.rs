//! `match`, `if let`, `while let`, `let … else`, `matches!`: tests of patterns in turn, names bound where they hold.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Pat, Result, Token};

use super::Lowerer;
use super::val::{LValue, Memory, Val};
use stratape_ir::ValueId;

/// The arguments of `matches!`.
struct Matches {
    value: Expr,
    pat: Pat,
    guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { value, pat, guard })
    }
}

/// Names that patterns bind, what they are bound to, and whether they are mutable.
type Bound = Vec<(String, Val, bool)>;

impl Lowerer<'_> {
    /// `match value { … }`
    pub(super) fn matching(&mut self, node: &syn::ExprMatch) -> Result<Val> {
        let val = self.matched(&node.expr)?;
        if matches!(val, Val::Never) {
            // The value of a variable whose shape is not known: the arms may tell it.
            self.read_unknown = true;
        }
        self.arms(&node.arms, &val)
    }

    /// What a pattern is held against: a number is read once, of everything else parts are read as they are needed.
    fn matched(&mut self, expr: &Expr) -> Result<Val> {
        let span = expr.span();
        let val = self.operand(expr)?;
        let number = match &val {
            Val::Place(LValue::Var(_)) | Val::Ordering(..) => true,
            Val::Place(LValue::Memory(Memory { ty, .. })) => ty.scalar().is_some(),
            _ => false,
        };
        if number {
            return Ok(Val::Scalar(self.scalar(val, span)?));
        }
        match val {
            Val::Place(lv) => Ok(Val::Place(lv)),
            other => self.settled(other, span),
        }
    }

    fn arms(&mut self, arms: &[syn::Arm], val: &Val) -> Result<Val> {
        let Some((arm, rest)) = arms.split_first() else {
            // The arms before were exhaustive, rustc has seen to it.
            return Ok(Val::Never);
        };
        let span = arm.pat.span();
        let (pat, guard) = match &arm.pat {
            Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            pat => (pat, None),
        };
        // The last arm of an exhaustive match needs no test.
        let fits = if rest.is_empty() && guard.is_none() { None } else { self.fits(pat, val)? };
        let body = |me: &mut Self| {
            me.scoped(|me| {
                me.bind(pat, val.clone())?;
                me.arm(&arm.body)
            })
        };
        let condition = match (fits, guard) {
            (fits, None) => fits,
            (fits, Some(guard)) => Some(self.guarded(fits, pat, val, guard, span)?),
        };
        match condition {
            None => body(self),
            Some(condition) => self.branch(condition, span, body, |me| me.arms(rest, val)),
        }
    }

    /// Whether a pattern and its guard hold; the guard is asked only where the pattern fits.
    fn guarded(
        &mut self,
        fits: Option<ValueId>,
        pat: &Pat,
        val: &Val,
        guard: &Expr,
        span: Span,
    ) -> Result<ValueId> {
        let ask = |me: &mut Self| {
            me.scoped(|me| {
                let before = std::mem::replace(&mut me.looking, true);
                let bound = me.bind(pat, val.clone());
                me.looking = before;
                bound?;
                me.condition(guard)
            })
        };
        let Some(fits) = fits else { return ask(self) };
        let both = self.branch(
            fits,
            span,
            |me| Ok(Val::Scalar(ask(me)?)),
            |me| Ok(Val::Scalar(me.b.bool(false, span))),
        )?;
        self.scalar(both, span)
    }

    fn arm(&mut self, body: &Expr) -> Result<Val> {
        match body {
            Expr::Block(block) if block.label.is_none() => self.block(&block.block),
            body => {
                let stmts = [syn::Stmt::Expr(body.clone(), None)];
                self.scoped(|me| me.statements(&stmts, body.span()))
            }
        }
    }

    /// `matches!(value, pattern if guard)`
    pub(super) fn matches_macro(&mut self, mac: &syn::Macro, span: Span) -> Result<Val> {
        let Matches { value, pat, guard } = mac.parse_body()?;
        let val = self.matched(&value)?;
        let fits = self.fits(&pat, &val)?;
        let condition = match (fits, guard) {
            (None, None) => self.b.bool(true, span),
            (Some(fits), None) => fits,
            (fits, Some(guard)) => self.guarded(fits, &pat, &val, &guard, span)?,
        };
        Ok(Val::Scalar(condition))
    }

    /// A branch on conditions joined by `&&`, some of which are `let`s whose names the first arm sees.
    pub(super) fn branch_on(
        &mut self,
        condition: &Expr,
        span: Span,
        then: impl FnOnce(&mut Self) -> Result<Val>,
        other: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        let mut conditions = Vec::new();
        conjuncts(condition, &mut conditions);
        if let [Expr::Let(node)] = conditions[..] {
            let val = self.matched(&node.expr)?;
            let then = |me: &mut Self| {
                me.scoped(|me| {
                    me.bind(&node.pat, val.clone())?;
                    then(me)
                })
            };
            return match self.fits(&node.pat, &val)? {
                None => then(self),
                Some(fits) => self.branch(fits, span, then, other),
            };
        }
        if !conditions.iter().any(|condition| matches!(condition, Expr::Let(_))) {
            let condition = self.condition(condition)?;
            return self.branch(condition, span, then, other);
        }
        let (holds, names) = self.chain(&conditions, span)?;
        self.branch(
            holds,
            span,
            |me| {
                me.scoped(|me| {
                    for (name, val, mutable) in names {
                        me.bind_name(&name, val, mutable, span)?;
                    }
                    then(me)
                })
            },
            other,
        )
    }

    /// Whether all conditions hold, asked in turn, and the names their patterns bind.
    fn chain(&mut self, conditions: &[&Expr], span: Span) -> Result<(ValueId, Bound)> {
        let mut names = Vec::new();
        for condition in conditions {
            if let Expr::Let(node) = condition {
                names_of(&node.pat, &mut |pat| {
                    if self.is_binding(pat) {
                        names.push((pat.ident.to_string(), pat.mutability.is_some()));
                    }
                });
            }
        }
        let val = self.links(conditions, &names, span)?;
        let Val::Parts(_, parts) = val else { return Ok((self.b.bool(false, span), Vec::new())) };
        let mut parts = parts.into_iter();
        let holds = match parts.next() {
            Some(first) => self.scalar(first, span)?,
            None => self.b.bool(false, span),
        };
        let names = names.into_iter().zip(parts);
        Ok((holds, names.map(|((name, mutable), val)| (name, val, mutable)).collect()))
    }

    fn links(&mut self, conditions: &[&Expr], names: &[(String, bool)], span: Span) -> Result<Val> {
        let Some((first, rest)) = conditions.split_first() else {
            let mut parts = vec![Val::Scalar(self.b.bool(true, span))];
            for (name, _) in names {
                let val = self.lookup(name).map_or(Val::Never, |binding| binding.val.clone());
                parts.push(self.settled(val, span)?);
            }
            return Ok(Self::tuple(parts));
        };
        let missing = |me: &mut Self| {
            let mut parts = vec![Val::Scalar(me.b.bool(false, span))];
            parts.extend(names.iter().map(|_| Val::Never));
            Ok(Self::tuple(parts))
        };
        let Expr::Let(node) = first else {
            let condition = self.condition(first)?;
            return self.branch(condition, span, |me| me.links(rest, names, span), missing);
        };
        let val = self.matched(&node.expr)?;
        let then = |me: &mut Self| {
            me.scoped(|me| {
                me.bind(&node.pat, val.clone())?;
                me.links(rest, names, span)
            })
        };
        match self.fits(&node.pat, &val)? {
            None => then(self),
            Some(fits) => self.branch(fits, span, then, missing),
        }
    }
}

/// The conditions that `&&` joins.
pub(super) fn conjuncts<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) && has_let(expr) => {
            conjuncts(&binary.left, found);
            conjuncts(&binary.right, found);
        }
        Expr::Group(inner) => conjuncts(&inner.expr, found),
        other => found.push(other),
    }
}

/// Whether a condition has a `let` among those that `&&` joins.
pub(super) fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        Expr::Group(inner) => has_let(&inner.expr),
        _ => false,
    }
}

/// The identifiers in a pattern.
pub(super) fn names_of(pat: &Pat, f: &mut dyn FnMut(&syn::PatIdent)) {
    struct Names<'a>(&'a mut dyn FnMut(&syn::PatIdent));
    impl<'ast> crate::walk::visit::Visit<'ast> for Names<'_> {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            (self.0)(pat);
            crate::walk::visit::visit_pat_ident(self, pat);
        }

        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    crate::walk::visit::Visit::visit_pat(&mut Names(f), pat);
}
