//! Operators: arithmetic, comparisons, `&&` and `||`, compound assignment, casts.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::control::lv_of;
use super::impls::Implementation;
use super::val::{LValue, Val};
use super::{Lowerer, unsupported};
use crate::library;
use stratape_ir::{Binary, Compare, Op, Scalar, Stmt, Type, Unary, ValueId};

impl Lowerer<'_> {
    pub(super) fn unary(&mut self, unary: &syn::ExprUnary) -> Result<Val> {
        let span = unary.span();
        match unary.op {
            syn::UnOp::Deref(_) => Ok(match self.operand(&unary.expr)? {
                Val::Ref(lv) => Val::Place(lv),
                other => match self.dereferenced(&other, span)? {
                    Some(inner) => Val::Place(lv_of(inner)),
                    None => other,
                },
            }),
            syn::UnOp::Neg(sign) => {
                let val = self.operand(&unary.expr)?;
                if self.is_struct(&val) {
                    return self.overloaded("neg", vec![val], sign.span());
                }
                let a = self.scalar(val, unary.expr.span())?;
                if let Some(Op::Float(number, text)) = self.b.constant(a).cloned() {
                    let ty = self.b.function.ty(a);
                    let text = match text.strip_prefix('-') {
                        Some(text) => text.to_owned(),
                        None => format!("-{text}"),
                    };
                    return Ok(Val::Scalar(self.b.emit(Op::Float(-number, text), ty, span)));
                }
                if let Some(Op::Int(number)) = self.b.constant(a) {
                    let (number, ty) = (-*number, self.b.function.ty(a));
                    return Ok(Val::Scalar(self.b.int(number, ty, span)));
                }
                let ty = self.b.function.ty(a);
                Ok(Val::Scalar(self.b.emit(Op::Unary(Unary::Neg, a), ty, span)))
            }
            syn::UnOp::Not(sign) => {
                let val = self.operand(&unary.expr)?;
                if self.is_struct(&val) {
                    return self.overloaded("not", vec![val], sign.span());
                }
                let a = self.scalar(val, unary.expr.span())?;
                Ok(Val::Scalar(self.b.not(a, span)))
            }
            _ => Err(unsupported(span, "this operator", "use arithmetic and comparisons")),
        }
    }

    pub(super) fn binary(&mut self, expr: &syn::ExprBinary) -> Result<Val> {
        use syn::BinOp;
        let span = expr.span();
        if let BinOp::And(_) | BinOp::Or(_) = expr.op {
            return self.short_circuit(expr);
        }
        if let Some(sign) = compound(&expr.op) {
            return self.compound_assign(expr, sign);
        }
        let left = self.operand(&expr.left)?;
        if matches!(expr.op, BinOp::Eq(_) | BinOp::Ne(_)) && self.is_compared_by(&left, "eq") {
            let left = self.rvalue(left, expr.left.span())?;
            let right = self.operand(&expr.right)?;
            let same = self.equal(&left, &right, span)?;
            let not = matches!(expr.op, BinOp::Ne(_));
            return Ok(Val::Scalar(if not { self.b.not(same, span) } else { same }));
        }
        let sign = match expr.op {
            BinOp::Lt(_) => Some(Compare::Lt),
            BinOp::Le(_) => Some(Compare::Le),
            BinOp::Gt(_) => Some(Compare::Gt),
            BinOp::Ge(_) => Some(Compare::Ge),
            _ => None,
        };
        if let Some(sign) = sign
            && self.is_compared_by(&left, "partial_cmp")
        {
            let left = self.rvalue(left, expr.left.span())?;
            let right = self.operand(&expr.right)?;
            return Ok(Val::Scalar(self.is_ordered(sign, &left, &right, span)?));
        }
        if self.owner_of(&left).is_some_and(|name| name == super::TEXT)
            && !matches!(expr.op, BinOp::Eq(_) | BinOp::Ne(_))
        {
            return Err(unsupported(
                expr.op.span(),
                "text",
                "use it in assertions and errors only",
            ));
        }
        if self.is_struct(&left) {
            let left = self.operand_value(left, expr.left.span())?;
            let right = self.operand(&expr.right)?;
            return self.overloaded(method_of(&expr.op), vec![left, right], expr.op.span());
        }
        let a = self.scalar(left, expr.left.span())?;
        let right = self.operand(&expr.right)?;
        if self.is_struct(&right) {
            let args = vec![Val::Scalar(a), right];
            return self.overloaded(method_of(&expr.op), args, expr.op.span());
        }
        let b = self.scalar(right, expr.right.span())?;
        let sign = match expr.op {
            BinOp::Lt(_) => Err(Compare::Lt),
            BinOp::Le(_) => Err(Compare::Le),
            BinOp::Gt(_) => Err(Compare::Gt),
            BinOp::Ge(_) => Err(Compare::Ge),
            BinOp::Eq(_) => Err(Compare::Eq),
            BinOp::Ne(_) => Err(Compare::Ne),
            BinOp::Add(_) => Ok(Binary::Add),
            BinOp::Sub(_) => Ok(Binary::Sub),
            BinOp::Mul(_) => Ok(Binary::Mul),
            BinOp::Div(_) => Ok(Binary::Div),
            BinOp::Rem(_) => Ok(Binary::Rem),
            BinOp::BitAnd(_) => Ok(Binary::BitAnd),
            BinOp::BitOr(_) => Ok(Binary::BitOr),
            BinOp::BitXor(_) => Ok(Binary::BitXor),
            BinOp::Shl(_) => Ok(Binary::Shl),
            BinOp::Shr(_) => Ok(Binary::Shr),
            _ => return Err(unsupported(span, "this operator", "use arithmetic and comparisons")),
        };
        match sign {
            Err(sign) => {
                self.unify(a, b, span)?;
                Ok(Val::Scalar(self.b.compare(sign, a, b, span)))
            }
            Ok(sign @ (Binary::Shl | Binary::Shr)) => {
                Ok(Val::Scalar(self.b.binary(sign, a, b, span)))
            }
            Ok(sign) => {
                let ty = self.unify(a, b, span)?;
                Ok(Val::Scalar(self.b.emit(Op::Binary(sign, a, b), ty, span)))
            }
        }
    }

    pub(super) fn is_struct(&self, val: &Val) -> bool {
        self.owner_of(val).is_some_and(|name| {
            self.module.structs.contains_key(&name)
                || self.module.generic_structs.contains_key(&name)
        })
    }

    /// An operator on structs: the module's own implementation, expanded.
    pub(super) fn overloaded(&mut self, method: &str, args: Vec<Val>, span: Span) -> Result<Val> {
        let names: Vec<Vec<String>> = args.iter().map(|arg| self.type_names(arg)).collect();
        let (Some(left), Some(right)) = (names.first(), names.last()) else {
            return Err(Error::new(span, "an operand was expected"));
        };
        let is = |names: &[String], written: &str| {
            let spaceless = written.replace(' ', "");
            names.contains(&self.module.type_name(written)) || names.contains(&spaceless)
        };
        let mut found: Option<(&String, &Implementation)> = None;
        let number = args.first().is_some_and(|arg| !self.is_struct(arg));
        for ((owner, name), all) in &self.module.items().operators {
            // `impl<T> Mul<Point<T>> for T` is one of numbers.
            let of_numbers = number && all.iter().any(|one| one.has_param(owner));
            if name == method && (of_numbers || is(left, owner)) {
                // `impl<T> Mul<T> for …` takes whatever no other takes.
                let any = |one: &&Implementation| one.has_param(&one.right);
                let exact = all.iter().find(|one| is(right, &one.right));
                let fitting = exact.or_else(|| all.iter().find(any));
                found = found.or(fitting.map(|one| (owner, one)));
            }
        }
        let Some((owner, Implementation { right: written, function, params })) = found else {
            return Err(unsupported(
                span,
                "this operator on a struct",
                "implement it in this module, or call a function",
            ));
        };
        self.certain(owner, &format!("{method}<{written}>"), false, span)?;
        let label = format!("{owner}::{method}<{written}>");
        let mut values = Vec::new();
        for (position, arg) in args.into_iter().enumerate() {
            let changed = position == 0 && method.ends_with("_assign");
            values.push(if changed { arg } else { self.operand_value(arg, span)? });
        }
        let (function, params) = (function.clone(), params.clone());
        self.expand_operator(&label, &function, params, values, span)
    }

    /// The value of an operand. Of a list of another crate that would be a copy, which its operators do not need: it is only read.
    fn operand_value(&mut self, arg: Val, span: Span) -> Result<Val> {
        if self.type_of(&arg).is_some_and(|ty| library::dynamic(&ty).is_some()) {
            return Ok(arg);
        }
        self.value_of(arg, span)
    }

    /// What the type of a value may be called.
    fn type_names(&self, val: &Val) -> Vec<String> {
        if let Some(owner) = self.owner_of(val) {
            return vec![owner];
        }
        match self.type_of(val) {
            Some(Type::Scalar(ty)) => match self.infer.resolve(ty) {
                Scalar::Infer(_) => ["f64", "f32", "i32", "usize"].map(str::to_owned).to_vec(),
                known => vec![known.name().to_owned()],
            },
            Some(ty @ (Type::Tuple(_) | Type::Array(..))) => {
                let names = self.names_with_literals(&ty);
                names.iter().map(|name| name.replace(' ', "")).collect()
            }
            _ => Vec::new(),
        }
    }

    fn short_circuit(&mut self, expr: &syn::ExprBinary) -> Result<Val> {
        let span = expr.span();
        let a = self.condition(&expr.left)?;
        let and = matches!(expr.op, syn::BinOp::And(_));
        if !super::exits::of_expr(&expr.right).is_empty() {
            // After a jump out of it, the rest of it does not run.
            let right = [syn::Stmt::Expr((*expr.right).clone(), None)];
            let asked = if and { a } else { self.b.not(a, span) };
            let otherwise = self.b.bool(!and, span);
            return self.branch(
                asked,
                span,
                |me| me.scoped(|me| me.statements(&right, span)),
                |_| Ok(Val::Scalar(otherwise)),
            );
        }
        if simple(&expr.right) {
            let b = self.condition(&expr.right)?;
            let sign = if and { Binary::BitAnd } else { Binary::BitOr };
            return Ok(Val::Scalar(self.b.binary(sign, a, b, span)));
        }
        self.branch(
            a,
            span,
            |me| {
                if and {
                    Ok(Val::Scalar(me.condition(&expr.right)?))
                } else {
                    Ok(Val::Scalar(me.b.bool(true, span)))
                }
            },
            |me| {
                if and {
                    Ok(Val::Scalar(me.b.bool(false, span)))
                } else {
                    Ok(Val::Scalar(me.condition(&expr.right)?))
                }
            },
        )
    }

    fn compound_assign(&mut self, expr: &syn::ExprBinary, sign: Binary) -> Result<Val> {
        let span = expr.span();
        let right = self.operand(&expr.right)?;
        // For numbers, Rust evaluates the right side first.
        let b = if self.is_struct(&right) { None } else { Some(self.scalar(right.clone(), span)?) };
        let place = self.place(&expr.left)?;
        let target = Val::Ref(place.clone());
        let Some(b) = b.filter(|_| !self.is_struct(&target)) else {
            return self.overloaded(method_of(&expr.op), vec![target, right], expr.op.span());
        };
        if let (LValue::Memory(memory), Binary::Add | Binary::Sub) = (&place, sign)
            && let Some(ty) = memory.ty.scalar()
            && self.infer.is_float(ty)
        {
            self.expect(b, ty, span)?;
            let subtract = sign == Binary::Sub;
            self.b.node(Stmt::Accumulate { place: memory.place.clone(), value: b, subtract });
            return Ok(Val::Unit);
        }
        let a = self.scalar(Val::Place(place.clone()), expr.left.span())?;
        let value = match sign {
            Binary::Shl | Binary::Shr => self.b.binary(sign, a, b, span),
            _ => {
                let ty = self.unify(a, b, span)?;
                self.b.emit(Op::Binary(sign, a, b), ty, span)
            }
        };
        self.assign_place(&expr.left, &place, value)?;
        Ok(Val::Unit)
    }

    fn assign_place(&mut self, target: &Expr, place: &LValue, value: ValueId) -> Result<()> {
        self.write_parts(place, Val::Scalar(value), target.span())?;
        if let (Expr::Path(path), LValue::Var(_)) = (target, place)
            && let Some(name) = path.path.get_ident()
        {
            let known = &mut self.b.function.values[value.index()].name;
            if known.is_none() {
                *known = Some(name.to_string());
            }
        }
        Ok(())
    }

    pub(super) fn cast(&mut self, cast: &syn::ExprCast) -> Result<Val> {
        let span = cast.span();
        let a = self.number(&cast.expr)?;
        if matches!(*cast.ty, syn::Type::Infer(_)) {
            return Err(unsupported(cast.ty.span(), "`as _`", "name the type"));
        }
        let written = self.module.read_type(&cast.ty)?;
        let Some(ty) = written.ty.scalar().filter(|_| written.reference.is_none()) else {
            return Err(Error::new(cast.ty.span(), "a cast is to a number type"));
        };
        if self.ty(a) == ty {
            return Ok(Val::Scalar(a));
        }
        Ok(Val::Scalar(self.b.emit(Op::Cast(a, ty), ty, span)))
    }
}

/// The operator of a compound assignment.
fn compound(op: &syn::BinOp) -> Option<Binary> {
    use syn::BinOp;
    Some(match op {
        BinOp::AddAssign(_) => Binary::Add,
        BinOp::SubAssign(_) => Binary::Sub,
        BinOp::MulAssign(_) => Binary::Mul,
        BinOp::DivAssign(_) => Binary::Div,
        BinOp::RemAssign(_) => Binary::Rem,
        BinOp::BitXorAssign(_) => Binary::BitXor,
        BinOp::BitAndAssign(_) => Binary::BitAnd,
        BinOp::BitOrAssign(_) => Binary::BitOr,
        BinOp::ShlAssign(_) => Binary::Shl,
        BinOp::ShrAssign(_) => Binary::Shr,
        _ => return None,
    })
}

/// Whether evaluating an expression needlessly does no harm: it cannot panic, and is cheap.
fn simple(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(inner) => simple(&inner.expr),
        Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Neg(_)) && simple(&unary.expr),
        Expr::Binary(binary) => {
            matches!(
                binary.op,
                syn::BinOp::Lt(_)
                    | syn::BinOp::Le(_)
                    | syn::BinOp::Gt(_)
                    | syn::BinOp::Ge(_)
                    | syn::BinOp::Eq(_)
                    | syn::BinOp::Ne(_)
                    | syn::BinOp::And(_)
                    | syn::BinOp::Or(_)
            ) && simple(&binary.left)
                && simple(&binary.right)
        }
        _ => false,
    }
}

/// The method an operator on structs calls.
pub(super) fn method_of(op: &syn::BinOp) -> &'static str {
    use syn::BinOp;
    match op {
        BinOp::Add(_) => "add",
        BinOp::Sub(_) => "sub",
        BinOp::Mul(_) => "mul",
        BinOp::Div(_) => "div",
        BinOp::Rem(_) => "rem",
        BinOp::AddAssign(_) => "add_assign",
        BinOp::SubAssign(_) => "sub_assign",
        BinOp::MulAssign(_) => "mul_assign",
        BinOp::DivAssign(_) => "div_assign",
        BinOp::RemAssign(_) => "rem_assign",
        _ => "",
    }
}
