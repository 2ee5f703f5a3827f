//! Expressions.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::infer::Class;
use super::module::scalar_named;
use super::place::as_range;
use super::val::{Closure, Kind, Lv, Memory, Val};
use super::{Lowerer, exits, unsupported};
use crate::ir::{
    Binary, Compare, Extent, Float, Init, Node, Op, Range, Scalar, Type, Unary, ValueId,
};

impl Lowerer<'_> {
    /// The value of an expression: places are read.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Val> {
        let val = self.operand(expr)?;
        self.rvalue(val, expr.span())
    }

    /// The value of an expression whose type is known; it tells literals what they are.
    pub(super) fn expr_as(&mut self, expr: &Expr, ty: &Type) -> Result<Val> {
        if let (Expr::Call(call), Type::Vec(item)) = (expr, ty)
            && let Expr::Path(path) = &*call.func
        {
            let name = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            if path.path.segments.len() == 2 && (name == "new" || name == "with_capacity") {
                let _ = item;
                return Err(unsupported(
                    expr.span(),
                    "`Vec`s that grow",
                    "make it as long as it will be with `vec![0.0; n]`, and write the elements",
                ));
            }
        }
        self.expr(expr)
    }

    /// A number.
    pub(super) fn number(&mut self, expr: &Expr) -> Result<ValueId> {
        let val = self.operand(expr)?;
        self.scalar(val, expr.span())
    }

    /// A condition.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<ValueId> {
        if let Expr::Let(_) = expr {
            return Err(unsupported(
                expr.span(),
                "`if let` and `while let`",
                "use `match` on integers, or `if`",
            ));
        }
        let value = self.number(expr)?;
        self.expect(value, Scalar::Bool, expr.span())?;
        Ok(value)
    }

    /// The place an expression is.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<Lv> {
        match self.operand(expr)? {
            Val::Place(lv) | Val::Ref(lv) => Ok(lv),
            _ => Err(Error::new(
                expr.span(),
                "this cannot be assigned to: it is not a mutable variable, element or field",
            )),
        }
    }

    /// What an expression stands for; places are not read yet.
    pub(super) fn operand(&mut self, expr: &Expr) -> Result<Val> {
        let span = expr.span();
        match expr {
            Expr::Paren(inner) => self.operand(&inner.expr),
            Expr::Group(inner) => self.operand(&inner.expr),
            Expr::Lit(lit) => self.literal(&lit.lit),
            Expr::Path(path) => self.path(path),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => {
                let val = self.expr(&assign.right)?;
                self.assign(&assign.left, val)?;
                Ok(Val::Unit)
            }
            Expr::Index(index) => self.index(index),
            Expr::Field(field) => {
                let base = self.operand(&field.base)?;
                let lv = match base {
                    Val::Place(lv) | Val::Ref(lv) => lv,
                    val @ Val::Parts(..) => Lv::Value(Box::new(val)),
                    _ => {
                        return Err(Error::new(
                            field.base.span(),
                            "only structs and tuples have fields",
                        ));
                    }
                };
                Ok(Val::Place(self.field_named(&lv, &field.member)?))
            }
            Expr::Reference(reference) => Ok(match self.operand(&reference.expr)? {
                Val::Place(lv) => Val::Ref(lv),
                val @ Val::Parts(..) => Val::Ref(Lv::Value(Box::new(val))),
                other => other,
            }),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Tuple(tuple) if tuple.elems.is_empty() => Ok(Val::Unit),
            Expr::Tuple(tuple) => {
                let parts =
                    tuple.elems.iter().map(|item| self.expr(item)).collect::<Result<_>>()?;
                Ok(Self::tuple(parts))
            }
            Expr::Array(array) => self.array(array),
            Expr::Repeat(repeat) => {
                let item = self.expr(&repeat.expr)?;
                let extent = match self.module.integer(&repeat.len) {
                    Some(n) => Extent::Known(n),
                    None => Extent::Const(repeat.len.to_token_stream()),
                };
                let (init, item) = self.init_of(item, span)?;
                Ok(self.new_array(
                    Type::Array(Box::new(item), extent),
                    Init::Fill(Box::new(init)),
                    span,
                ))
            }
            Expr::Struct(literal) => self.struct_literal(literal),
            Expr::Block(block) => {
                if let Some(label) = &block.label {
                    return Err(unsupported(
                        label.span(),
                        "labelled blocks",
                        "use a loop, or a helper function",
                    ));
                }
                let val = self.block(&block.block)?;
                self.rvalue(val, span)
            }
            Expr::If(branch) => {
                let condition = self.condition(&branch.cond)?;
                self.branch(
                    condition,
                    span,
                    |me| me.block(&branch.then_branch),
                    |me| match &branch.else_branch {
                        Some((_, other)) => me.operand(other),
                        None => Ok(Val::Unit),
                    },
                )
            }
            Expr::Match(matching) => self.matching(matching),
            Expr::ForLoop(node) => self.for_loop(node),
            Expr::While(node) => self.while_loop(node),
            Expr::Loop(node) => {
                let found = exits::of_block(&node.body);
                self.repeat(Range::Forever, false, node.label.as_ref(), &found, span, |me, _| {
                    me.block(&node.body).map(|_| ())
                })
            }
            Expr::Break(node) => self.break_from(node),
            Expr::Continue(node) => {
                let frame = self.loop_frame(node.label.as_ref(), span)?;
                let continued = self.frame().loops[frame].continued;
                self.jump(continued, span);
                Ok(Val::Never)
            }
            Expr::Return(node) => {
                if let Some(expr) = &node.expr {
                    let val = self.expr(expr)?;
                    self.leave_result(val, expr.span())?;
                }
                self.jump(None, span);
                Ok(Val::Never)
            }
            Expr::Closure(closure) => {
                let scopes = self.scopes.clone();
                Ok(Val::Closure(std::rc::Rc::new(Closure { text: closure.clone(), scopes })))
            }
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            Expr::Macro(call) => self.macro_call(&call.mac, span),
            Expr::Range(range) => self.range_value(range),
            Expr::Try(node) => Err(unsupported(
                node.question_token.span(),
                "`?`",
                "check before, and `assert!` what must hold",
            )),
            Expr::Unsafe(node) => Err(unsupported(
                node.unsafe_token.span(),
                "`unsafe` blocks",
                "move it into a function of its own, with `#[stratape::constant]` or a `#[stratape::pullback]`",
            )),
            Expr::Await(_) | Expr::Async(_) => {
                Err(unsupported(span, "`async`", "make it a plain function"))
            }
            Expr::Let(_) => Err(unsupported(span, "`if let`", "use `match` on integers, or `if`")),
            _ => Err(unsupported(
                span,
                "this expression",
                "write it with loops, branches, indexing and float methods",
            )),
        }
    }

    /// Puts what is returned where the end of the function finds it.
    fn leave_result(&mut self, val: Val, span: Span) -> Result<()> {
        let Some(result) = self.frame().result.clone() else { return Ok(()) };
        let lv = super::control::lv_of(result);
        if matches!((&lv, &val), (Lv::Var(_), Val::Parts(..) | Val::Place(_) | Val::Ref(_))) {
            return Err(unsupported(
                span,
                "an early `return` of this",
                "return a number, or write the type that is returned (`-> (f64, f64)`), without references",
            ));
        }
        self.write_parts(&lv, val, span)
    }

    fn literal(&mut self, lit: &syn::Lit) -> Result<Val> {
        let span = lit.span();
        match lit {
            syn::Lit::Bool(lit) => Ok(Val::Scalar(self.b.bool(lit.value, span))),
            syn::Lit::Float(lit) => {
                let ty = match lit.suffix() {
                    "" => self.fresh(Class::Float),
                    suffix => self.suffix(suffix, span)?,
                };
                let number: f64 = lit.base10_parse()?;
                let text = lit.base10_digits().to_owned();
                Ok(Val::Scalar(self.b.emit(Op::Float(number, text), ty, span)))
            }
            syn::Lit::Int(lit) => {
                let ty = match lit.suffix() {
                    "" => self.fresh(Class::Int),
                    suffix => self.suffix(suffix, span)?,
                };
                if self.infer.is_float(ty) {
                    let number: f64 = lit
                        .base10_digits()
                        .parse()
                        .map_err(|_| Error::new(span, "not a number"))?;
                    return Ok(Val::Scalar(self.b.float(number, ty, span)));
                }
                Ok(Val::Scalar(self.b.int(lit.base10_parse()?, ty, span)))
            }
            _ => Err(unsupported(span, "text", "use it in assertions only")),
        }
    }

    fn suffix(&self, suffix: &str, span: Span) -> Result<Scalar> {
        scalar_named(suffix).ok_or_else(|| Error::new(span, format!("unknown suffix `{suffix}`")))
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<Val> {
        let span = path.span();
        if let Some(name) = path.path.get_ident() {
            let name = name.to_string();
            if let Some(binding) = self.lookup(&name) {
                return Ok(binding.val.clone());
            }
            if let Some(constant) = self.module.constants.get(&name) {
                return self.constant_item(&constant.ty, &constant.expr);
            }
            if self.module.functions.contains_key(&name) {
                return Ok(Val::Function(path.clone()));
            }
            let constant = name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
            if !constant {
                return Ok(Val::Function(path.clone()));
            }
            let ty = self.fresh(Class::Any);
            return Ok(Val::Scalar(self.b.emit(Op::Const(path.to_token_stream()), ty, span)));
        }
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (owner, name) = match segments.as_slice() {
            [.., owner, name] => (owner.as_str(), name.as_str()),
            _ => return Err(Error::new(span, "a name was expected")),
        };
        let owner_type = self.module.type_name(owner);
        if self.module.enums.get(&owner_type).is_some_and(|all| all.iter().any(|v| v == name)) {
            let tokens = quote::quote!((#path as isize));
            let ty = Scalar::Int(crate::ir::Int::Isize);
            let value = self.b.emit(Op::Const(tokens), ty, span);
            self.enums.insert(value, owner_type);
            return Ok(Val::Scalar(value));
        }
        let key = (owner_type.clone(), name.to_owned());
        if let Some(constant) = self.module.associated_constants.get(&key) {
            return self.constant_item(&constant.ty, &constant.expr);
        }
        let upper = name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
        if !upper {
            return Ok(Val::Function(path.clone()));
        }
        let ty = match (owner, scalar_named(&owner_type)) {
            (_, Some(Scalar::Int(_))) if name == "BITS" => Scalar::Int(crate::ir::Int::U32),
            (_, Some(Scalar::Float(_))) if name == "DIGITS" || name == "RADIX" => {
                Scalar::Int(crate::ir::Int::U32)
            }
            (_, Some(scalar)) => scalar,
            ("consts", None) if segments.iter().any(|s| s == "f32") => Scalar::Float(Float::F32),
            ("consts", None) => Scalar::Float(Float::F64),
            _ => self.fresh(Class::Any),
        };
        Ok(Val::Scalar(self.b.emit(Op::Const(path.to_token_stream()), ty, span)))
    }

    /// The value of a constant the compiler can see.
    pub(super) fn constant_item(&mut self, ty: &syn::Type, expr: &Expr) -> Result<Val> {
        let ty = self.module.read_type(ty)?.ty;
        let scopes = std::mem::replace(&mut self.scopes, vec![super::Names::new()]);
        let val = self.expr(expr);
        self.scopes = scopes;
        let val = val?;
        self.expect_type(&val, &ty, expr.span())?;
        Ok(val)
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Result<Val> {
        let span = unary.span();
        match unary.op {
            syn::UnOp::Deref(_) => Ok(match self.operand(&unary.expr)? {
                Val::Ref(lv) => Val::Place(lv),
                other => other,
            }),
            syn::UnOp::Neg(_) => {
                let a = self.number(&unary.expr)?;
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
            syn::UnOp::Not(_) => {
                let a = self.number(&unary.expr)?;
                Ok(Val::Scalar(self.b.not(a, span)))
            }
            _ => Err(unsupported(span, "this operator", "use arithmetic and comparisons")),
        }
    }

    fn binary(&mut self, expr: &syn::ExprBinary) -> Result<Val> {
        use syn::BinOp;
        let span = expr.span();
        if let BinOp::And(_) | BinOp::Or(_) = expr.op {
            return self.short_circuit(expr);
        }
        if let Some(sign) = compound(&expr.op) {
            return self.compound_assign(expr, sign);
        }
        let left = self.operand(&expr.left)?;
        if let Val::Ordering(..) = left {
            return Err(unsupported(
                span,
                "comparing an `Ordering`",
                "compare the numbers with `<` and `>`",
            ));
        }
        let a = self.scalar(left, expr.left.span())?;
        let b = self.number(&expr.right)?;
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

    fn short_circuit(&mut self, expr: &syn::ExprBinary) -> Result<Val> {
        let span = expr.span();
        let a = self.condition(&expr.left)?;
        let and = matches!(expr.op, syn::BinOp::And(_));
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
        // For numbers, Rust evaluates the right side first.
        let b = self.number(&expr.right)?;
        let place = self.place(&expr.left)?;
        if let (Lv::Memory(memory), Binary::Add | Binary::Sub) = (&place, sign)
            && let Some(ty) = memory.ty.scalar()
            && self.infer.is_float(ty)
        {
            self.expect(b, ty, span)?;
            let subtract = sign == Binary::Sub;
            self.b.node(Node::Accumulate { place: memory.place.clone(), value: b, subtract });
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

    fn assign_place(&mut self, target: &Expr, place: &Lv, value: ValueId) -> Result<()> {
        self.write_parts(place, Val::Scalar(value), target.span())?;
        if let (Expr::Path(path), Lv::Var(_)) = (target, place)
            && let Some(name) = path.path.get_ident()
        {
            let known = &mut self.b.function.values[value.index()].name;
            if known.is_none() {
                *known = Some(name.to_string());
            }
        }
        Ok(())
    }

    fn cast(&mut self, cast: &syn::ExprCast) -> Result<Val> {
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

    fn array(&mut self, array: &syn::ExprArray) -> Result<Val> {
        let span = array.span();
        let mut items = Vec::new();
        let mut item_type: Option<Type> = None;
        for item in &array.elems {
            let val = self.expr(item)?;
            let (init, ty) = self.init_of(val, item.span())?;
            match &item_type {
                Some(known) => self.unify_types(&ty, &known.clone(), item.span())?,
                None => item_type = Some(ty),
            }
            items.push(init);
        }
        let Some(item) = item_type else {
            return Err(unsupported(span, "empty arrays", "leave it out"));
        };
        let ty = Type::Array(Box::new(item), Extent::Known(items.len()));
        Ok(self.new_array(ty, Init::Items(items), span))
    }

    /// A new object with given contents, as a value.
    pub(super) fn new_array(&mut self, ty: Type, init: Init, span: Span) -> Val {
        let object = self.new_local(ty.clone(), span);
        self.b.node(Node::New { object, init });
        Val::Place(Lv::Memory(Memory::whole(object, ty)))
    }

    /// A value as the contents of memory, and its type.
    pub(super) fn init_of(&mut self, val: Val, span: Span) -> Result<(Init, Type)> {
        match val {
            Val::Scalar(value) => {
                let ty = match self.enums.get(&value) {
                    Some(name) => Type::Enum(name.clone()),
                    None => Type::Scalar(self.b.function.ty(value)),
                };
                Ok((Init::Value(value), ty))
            }
            Val::Parts(kind, parts) => {
                let mut inits = Vec::new();
                let mut types = Vec::new();
                for part in parts {
                    let (init, ty) = self.init_of(part, span)?;
                    if let (Kind::Struct(_), Type::Enum(_)) = (&kind, &ty) {
                        return Err(stored_enum(span));
                    }
                    inits.push(init);
                    types.push(ty);
                }
                let ty = match kind {
                    Kind::Tuple => Type::Tuple(types),
                    Kind::Struct(def) => Type::Struct(def),
                };
                Ok((Init::Items(inits), ty))
            }
            Val::Place(Lv::Memory(memory)) | Val::Ref(Lv::Memory(memory))
                if memory.window.is_none() && !matches!(memory.ty, Type::Slice(_)) =>
            {
                Ok((Init::Copy(memory.place), memory.ty))
            }
            Val::Place(lv) | Val::Ref(lv) => {
                let val = self.read(&lv, span)?;
                match val {
                    Val::Place(_) | Val::Ref(_) => Err(unsupported(
                        span,
                        "references inside arrays",
                        "copy the numbers, or use an index",
                    )),
                    val => self.init_of(val, span),
                }
            }
            _ => Err(unsupported(
                span,
                "this as an element",
                "use numbers, tuples, structs and arrays",
            )),
        }
    }

    fn struct_literal(&mut self, literal: &syn::ExprStruct) -> Result<Val> {
        let span = literal.span();
        let name = literal.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let name = self.module.type_name(&name);
        let Some(def) = self.module.structs.get(&name).cloned() else {
            return Err(Error::new(
                literal.path.span(),
                format!(
                    "the compiler does not know the struct `{name}`: declare it in the same `#[stratape::differentiable] mod`"
                ),
            ));
        };
        let mut parts: Vec<Option<Val>> = vec![None; def.fields.len()];
        for field in &literal.fields {
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            let Some(index) = def.fields.iter().position(|(known, _)| *known == name) else {
                return Err(Error::new(
                    field.member.span(),
                    format!("`{}` has no field `{name}`", def.name),
                ));
            };
            let val = self.expr(&field.expr)?;
            self.expect_type(&val, &def.fields[index].1, field.expr.span())?;
            parts[index] = Some(val);
        }
        if let Some(rest) = &literal.rest {
            let base = self.operand(rest)?;
            for (index, part) in parts.iter_mut().enumerate() {
                if part.is_none() {
                    let val = self.part(&base, index, span)?;
                    *part = Some(match val {
                        Val::Ref(lv) | Val::Place(lv) => self.read(&lv, span)?,
                        val => val,
                    });
                }
            }
        }
        let parts = parts.into_iter().collect::<Option<Vec<_>>>();
        match parts {
            Some(parts) => Ok(Val::Parts(Kind::Struct(def), parts)),
            None => Err(Error::new(span, "some fields are missing")),
        }
    }

    fn while_loop(&mut self, node: &syn::ExprWhile) -> Result<Val> {
        let span = node.while_token.span();
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

    fn loop_frame(&mut self, label: Option<&syn::Lifetime>, span: Span) -> Result<usize> {
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

    fn break_from(&mut self, node: &syn::ExprBreak) -> Result<Val> {
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
    fn for_loop(&mut self, node: &syn::ExprForLoop) -> Result<Val> {
        let span = node.for_token.span();
        let found = exits::of_block(&node.body);
        if let Some(range) = as_range(&node.expr) {
            let (from, to) = self.range_bounds(range)?;
            return self.repeat(
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
        }
        let val = self.operand(&node.expr)?;
        let iter = self.iterator(val, node.expr.span())?;
        self.each(&iter, node.label.as_ref(), &found, span, &mut |me, item| {
            me.scoped(|me| {
                me.bind(&node.pat, item)?;
                me.block(&node.body).map(|_| ())
            })
        })
    }
}

/// An enum that would have to be made from its number again.
pub(super) fn stored_enum(span: Span) -> Error {
    unsupported(
        span,
        "an enum stored in an array of structs or in a parameter",
        "keep an integer there (`law as usize`), or branch where the enum is at hand",
    )
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
