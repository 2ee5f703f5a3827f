//! Blocks, statements and patterns.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Pat, Result, Stmt};

use super::exits;
use super::generic::base_name;
use super::val::{Kind, LValue, Val};
use super::{Lowerer, left_to_rustc, unsupported};
use stratape_ir::{Extent, Int, Scalar, Type};

impl Lowerer<'_> {
    /// A block with a scope of its own.
    pub(super) fn block(&mut self, block: &syn::Block) -> Result<Val> {
        self.scoped(|me| me.statements(&block.stmts, block.span()))
    }

    /// Statements in turn. After one that may jump away, the rest runs only if it did not.
    fn statements(&mut self, mut stmts: &[Stmt], span: Span) -> Result<Val> {
        while let Some((stmt, rest)) = stmts.split_first() {
            let last = rest.is_empty();
            if !last && !exits::of_stmt(stmt).is_empty() {
                return self.statement_then(stmt, rest, span);
            }
            let val = self.statement(stmt, last)?;
            if last || matches!(val, Val::Never) {
                return Ok(val);
            }
            stmts = rest;
        }
        Ok(Val::Unit)
    }

    /// A statement that may jump, and what follows it.
    fn statement_then(&mut self, stmt: &Stmt, rest: &[Stmt], span: Span) -> Result<Val> {
        if let Stmt::Expr(Expr::If(branch), _) = stmt
            && !matches!(*branch.cond, Expr::Let(_))
            && exits::of_expr(&branch.cond).is_empty()
        {
            let other_diverges = match &branch.else_branch {
                Some((_, other)) => {
                    matches!(&**other, Expr::Block(block) if exits::diverges(&block.block))
                }
                None => false,
            };
            if exits::diverges(&branch.then_branch) || other_diverges {
                return self.branch_then(branch, other_diverges, rest, span);
            }
        }
        let val = self.statement(stmt, false)?;
        if matches!(val, Val::Never) {
            return Ok(val);
        }
        let going = self.going(span);
        let going = self.get(going);
        self.branch(going, span, |me| me.statements(rest, span), |_| Ok(Val::Never))
    }

    /// `if c { …; break } rest` is `if c { …; break } else { rest }`.
    fn branch_then(
        &mut self,
        branch: &syn::ExprIf,
        other_diverges: bool,
        rest: &[Stmt],
        span: Span,
    ) -> Result<Val> {
        let condition = self.condition(&branch.cond)?;
        let at = branch.span();
        let then_diverges = exits::diverges(&branch.then_branch);
        let other = branch.else_branch.as_ref().map(|(_, other)| &**other);
        self.branch(
            condition,
            at,
            |me| {
                let val = me.block(&branch.then_branch)?;
                if then_diverges || matches!(val, Val::Never) {
                    return Ok(Val::Never);
                }
                me.rest_if_going(exits::of_block(&branch.then_branch).is_empty(), rest, span)
            },
            |me| {
                let val = match other {
                    Some(other) => me.operand(other)?,
                    None => Val::Unit,
                };
                if other_diverges || matches!(val, Val::Never) {
                    return Ok(Val::Never);
                }
                let plain = other.is_none_or(|other| exits::of_expr(other).is_empty());
                me.rest_if_going(plain, rest, span)
            },
        )
    }

    fn rest_if_going(&mut self, plain: bool, rest: &[Stmt], span: Span) -> Result<Val> {
        if plain {
            return self.statements(rest, span);
        }
        let going = self.going(span);
        let going = self.get(going);
        self.branch(going, span, |me| me.statements(rest, span), |_| Ok(Val::Never))
    }

    fn statement(&mut self, stmt: &Stmt, last: bool) -> Result<Val> {
        match stmt {
            Stmt::Local(local) => {
                self.local(local)?;
                Ok(Val::Unit)
            }
            Stmt::Expr(expr, semicolon) => {
                let val = self.operand(expr)?;
                match (last, semicolon, &val) {
                    (_, _, Val::Never) | (true, None, _) => Ok(val),
                    _ => Ok(Val::Unit),
                }
            }
            Stmt::Macro(stmt) => {
                let val = self.macro_call(&stmt.mac, stmt.span())?;
                Ok(match (val, stmt.semi_token) {
                    (Val::Never, _) => Val::Never,
                    (val, None) => val,
                    _ => Val::Unit,
                })
            }
            Stmt::Item(syn::Item::Const(constant)) => {
                let val = self.constant_item(&constant.ty, &constant.expr)?;
                self.bind_name(&constant.ident.to_string(), val, false);
                Ok(Val::Unit)
            }
            Stmt::Item(syn::Item::Use(item)) => {
                self.import(item);
                Ok(Val::Unit)
            }
            Stmt::Item(item) => Err(unsupported(
                item.span(),
                "items inside the function",
                "move it beside the function, into a `#[stratape::differentiable] mod`",
            )),
        }
    }

    fn local(&mut self, local: &syn::Local) -> Result<()> {
        let span = local.span();
        let (pat, written) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pat => (pat, None),
        };
        let Some(init) = &local.init else {
            // The value comes later; a variable of the written type waits for it.
            let (Pat::Ident(name), Some(ty)) = (pat, written) else {
                return Err(unsupported(
                    span,
                    "`let` without a value",
                    "give the variable its value where it is declared, or at least its type (`let x: f64;`)",
                ));
            };
            let ty = self.module.read_type(ty)?.ty;
            let val = self.zero_val(&ty, span)?;
            self.bind_name(&name.ident.to_string(), val, false);
            return Ok(());
        };
        if let Some((token, _)) = &init.diverge {
            return Err(unsupported(token.span(), "`let … else`", "use `if` and `match`"));
        }
        let written = written.map(|ty| self.annotation(ty)).transpose()?.flatten();
        let val = self.expr(&init.expr)?;
        if let Some(ty) = &written {
            self.expect_type(&val, ty, init.expr.span())?;
        }
        self.bind(pat, val)
    }

    /// A written type; `_` says nothing.
    pub(super) fn annotation(&self, ty: &syn::Type) -> Result<Option<Type>> {
        match ty {
            syn::Type::Infer(_) => Ok(None),
            syn::Type::Array(array) if matches!(*array.elem, syn::Type::Infer(_)) => Ok(None),
            syn::Type::Path(path)
                if path.path.segments.last().is_some_and(|segment| {
                    segment.ident == "Vec"
                        && matches!(&segment.arguments, syn::PathArguments::AngleBracketed(args)
                            if matches!(args.args.first(), Some(syn::GenericArgument::Type(syn::Type::Infer(_)))))
                }) =>
            {
                Ok(None)
            }
            _ => Ok(self.module.read_helper_type(ty)?.map(|written| written.ty)),
        }
    }

    /// Gives a value the type that is written for it.
    pub(super) fn expect_type(&mut self, val: &Val, ty: &Type, span: Span) -> Result<()> {
        match (val, ty) {
            (Val::Scalar(value), ty) => match ty.scalar() {
                Some(scalar) => self.expect(*value, scalar, span),
                None => Err(left_to_rustc(span, format!("`{ty}` was expected, found a number"))),
            },
            (Val::Parts(Kind::Struct(def), parts), Type::Struct(wanted))
                if base_name(&def.name) == base_name(&wanted.name) =>
            {
                let types = wanted.fields.iter().map(|(_, ty)| ty);
                parts.iter().zip(types).try_for_each(|(part, ty)| self.expect_type(part, ty, span))
            }
            (Val::Parts(_, parts), Type::Tuple(types)) if parts.len() == types.len() => {
                parts.iter().zip(types).try_for_each(|(part, ty)| self.expect_type(part, ty, span))
            }
            (Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory)), ty) => {
                if let (Some(_), Type::Vec(item)) = (memory.len, ty) {
                    self.retype(memory, item, span)?;
                }
                let known = match self.retyped(val.clone()) {
                    Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory)) => {
                        memory.ty
                    }
                    _ => memory.ty.clone(),
                };
                self.unify_types(&known, ty, span)
            }
            _ => Ok(()),
        }
    }

    /// Makes two types of memory one.
    pub(super) fn unify_types(&mut self, a: &Type, b: &Type, span: Span) -> Result<()> {
        match (a, b) {
            (Type::Scalar(a), Type::Scalar(b)) => self.infer.unify(*a, *b, span).map(|_| ()),
            (Type::Array(_, Extent::Known(n)), Type::Array(_, Extent::Known(m))) if n != m => {
                Err(left_to_rustc(span, format!("an array of {m} was expected, found one of {n}")))
            }
            (
                Type::Array(a, _) | Type::Slice(a) | Type::Vec(a),
                Type::Array(b, _) | Type::Slice(b) | Type::Vec(b),
            ) => self.unify_types(a, b, span),
            (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b).try_for_each(|(a, b)| self.unify_types(a, b, span))
            }
            (a, b) if a == b => Ok(()),
            (Type::Struct(a), Type::Struct(b)) if base_name(&a.name) == base_name(&b.name) => {
                let pairs = a.fields.iter().zip(&b.fields);
                pairs.into_iter().try_for_each(|((_, a), (_, b))| self.unify_types(a, b, span))
            }
            (Type::Enum(_), other) | (other, Type::Enum(_))
                if *other == Type::Scalar(Scalar::Int(Int::Isize)) =>
            {
                Ok(())
            }
            (a, b) => Err(left_to_rustc(span, format!("`{b}` was expected, found `{a}`"))),
        }
    }
}
