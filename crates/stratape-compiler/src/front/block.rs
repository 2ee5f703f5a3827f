//! Blocks, statements and patterns.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Pat, Result, Stmt};

use super::generic::base_name;
use super::matching::has_let;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, left_to_rustc, unsupported};
use super::{exits, hoist, wanted};
use stratape_ir::{Extent, Int, Scalar, Type};

impl Lowerer<'_> {
    /// A block with a scope of its own.
    pub(super) fn block(&mut self, block: &syn::Block) -> Result<Val> {
        self.scoped(|me| me.statements(&block.stmts, block.span()))
    }

    /// Statements in turn. After one that may jump away, the rest runs only if it did not.
    pub(super) fn statements(&mut self, mut stmts: &[Stmt], span: Span) -> Result<Val> {
        while let Some((stmt, rest)) = stmts.split_first() {
            let last = rest.is_empty();
            let mut lifted = self.lifted;
            if let Some(mut all) = hoist::taken_apart(stmt, &mut lifted) {
                self.lifted = lifted;
                all.extend(rest.iter().cloned());
                return self.statements(&all, span);
            }
            if let Stmt::Local(syn::Local { pat, init: Some(init), .. }) = stmt
                && let Some((_, otherwise)) = &init.diverge
            {
                return self.let_else(pat, &init.expr, otherwise, rest, span);
            }
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

    /// `let pattern = value else { … };`, and what follows it.
    fn let_else(
        &mut self,
        pat: &Pat,
        value: &Expr,
        otherwise: &Expr,
        rest: &[Stmt],
        span: Span,
    ) -> Result<Val> {
        let condition: Expr = syn::parse_quote!(let #pat = #value);
        let rest = |me: &mut Self| {
            let plain = exits::of_expr(value).is_empty();
            me.rest_if_going(plain, rest, span)
        };
        self.branch_on(&condition, pat.span(), rest, |me| {
            me.operand(otherwise)?;
            Ok(Val::Never)
        })
    }

    /// A statement that may jump, and what follows it.
    fn statement_then(&mut self, stmt: &Stmt, rest: &[Stmt], span: Span) -> Result<Val> {
        if let Stmt::Expr(Expr::If(branch), _) = stmt
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
        let at = branch.span();
        let then_diverges = exits::diverges(&branch.then_branch);
        let other = branch.else_branch.as_ref().map(|(_, other)| &**other);
        if !then_diverges && has_let(&branch.cond) {
            // What follows must not see the names of the pattern.
            self.operand(&Expr::If(branch.clone()))?;
            return self.rest_if_going(false, rest, span);
        }
        self.branch_on(
            &branch.cond,
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
                self.bind_name(&constant.ident.to_string(), val, false, stmt.span())?;
                Ok(Val::Unit)
            }
            Stmt::Item(syn::Item::Static(item)) => {
                let Some(constant) = super::as_constant(item) else {
                    return Err(unsupported(
                        item.span(),
                        "a `static` that changes",
                        "keep it in a variable, or in a `&mut` parameter",
                    ));
                };
                let val = self.constant_item(&constant.ty, &constant.expr)?;
                self.bind_name(&constant.ident.to_string(), val, false, stmt.span())?;
                Ok(Val::Unit)
            }
            Stmt::Item(syn::Item::Use(item)) => {
                self.import(item)?;
                Ok(Val::Unit)
            }
            // Read with the items of the module.
            Stmt::Item(
                syn::Item::Fn(_)
                | syn::Item::Struct(_)
                | syn::Item::Enum(_)
                | syn::Item::Impl(_)
                | syn::Item::Type(_)
                | syn::Item::Trait(_),
            ) => Ok(Val::Unit),
            Stmt::Item(item) => Err(unsupported(
                item.span(),
                "this item inside the function",
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
            return self.declare(pat, written, span);
        };
        let expr = match written {
            Some(ty) => wanted::with_type(&init.expr, ty),
            None => std::borrow::Cow::Borrowed(&*init.expr),
        };
        let written = written.map(|ty| self.annotation(ty)).transpose()?.flatten();
        let mut val = self.expr_as(&expr, written.as_ref())?;
        if let Some(ty) = &written {
            self.expect_type(&val, ty, init.expr.span())?;
            val = self.completed(val, ty, span)?;
        }
        self.bind_surely(pat, val)
    }

    /// `let x;`: the value comes later; a variable waits for it.
    fn declare(&mut self, pat: &Pat, written: Option<&syn::Type>, span: Span) -> Result<()> {
        if let Pat::Tuple(tuple) = pat {
            return tuple.elems.iter().try_for_each(|pat| self.declare(pat, None, span));
        }
        let Pat::Ident(name) = pat else {
            return Err(unsupported(
                span,
                "this `let` without a value",
                "give the variables their values where they are declared",
            ));
        };
        let ty = match written {
            Some(ty) => self.annotation(ty)?,
            None => None,
        };
        let val = match &ty {
            Some(ty) if ty.is_fixed() => self.zero_val(ty, span)?,
            _ => Val::Place(self.later(span)?),
        };
        self.bind_name(&name.ident.to_string(), val, false, span)
    }

    /// A written type; `_` says nothing.
    pub(super) fn annotation(&self, ty: &syn::Type) -> Result<Option<Type>> {
        match ty {
            syn::Type::Infer(_) => Ok(None),
            syn::Type::Array(array) if matches!(*array.elem, syn::Type::Infer(_)) => Ok(None),
            syn::Type::Path(path)
                if path.path.segments.last().is_some_and(|segment| {
                    (segment.ident == "Vec" || segment.ident == "VecDeque")
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
            (Val::Parts(Kind::Choice(_), parts), Type::Struct(def))
                if parts.len() == def.fields.len() =>
            {
                let fields = parts.iter().zip(&def.fields);
                fields.into_iter().try_for_each(|(part, (_, ty))| self.expect_type(part, ty, span))
            }
            (Val::Parts(_, parts), Type::Tuple(types)) if parts.len() == types.len() => {
                parts.iter().zip(types).try_for_each(|(part, ty)| self.expect_type(part, ty, span))
            }
            (Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory)), ty) => {
                if let (Some(_), Type::Vec(item) | Type::Slice(item)) = (memory.len, ty) {
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

    /// A value with variants whose written type tells what the absent ones hold: zeros stand for them.
    pub(super) fn completed(&mut self, val: Val, ty: &Type, span: Span) -> Result<Val> {
        match (val, ty) {
            (Val::Parts(kind @ Kind::Choice(_), parts), Type::Struct(def))
                if parts.len() == def.fields.len() =>
            {
                let mut whole = Vec::new();
                for (part, (_, ty)) in parts.into_iter().zip(&def.fields) {
                    whole.push(match part {
                        Val::Never if ty.is_fixed() => {
                            let zero = self.zero_val(ty, span)?;
                            self.rvalue(zero, span)?
                        }
                        Val::Never if matches!(ty, Type::Vec(_)) => {
                            Val::Place(LValue::Memory(self.empty(ty, span)?))
                        }
                        part => self.completed(part, ty, span)?,
                    });
                }
                Ok(Val::Parts(kind, whole))
            }
            // An array or `Vec` as a slice, which a variable may come to hold a part of.
            (
                Val::Ref(lv @ LValue::Memory(Memory { window: None, ty: Type::Array(..), .. })),
                Type::Slice(_),
            ) => {
                let (zero, len) = (self.b.usize(0, span), self.len_of(&lv, span)?);
                Ok(Val::Ref(self.window_of(&lv, zero, len, span)?))
            }
            (val, _) => Ok(val),
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
