//! Expressions.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::call::DEPTH;
use super::infer::Class;
use super::items::type_text;
use super::mention::words_of;
use super::val::{Binding, Closure, LValue, Names, Val};
use super::written::scalar_named;
use super::{Lowerer, TEXT, hoist, left_to_rustc, unsupported};
use stratape_ir::{Extent, Float, Init, Op, Scalar, Type, ValueId};

impl Lowerer<'_> {
    /// The value of an expression: places are read.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Val> {
        match self.operand(expr)? {
            Val::Closure(closure) if is_name(expr) => self.copied_closure(&closure, expr.span()),
            val => self.rvalue(val, expr.span()),
        }
    }

    /// A closure by its name: what a `move` closure took with it changes in the copy alone.
    fn copied_closure(&mut self, closure: &std::rc::Rc<Closure>, span: Span) -> Result<Val> {
        let mut scopes = closure.scopes.clone();
        if closure.text.capture.is_none() {
            return Ok(Val::Closure(closure.clone()));
        }
        let mut taken: Vec<(&String, &mut Binding)> =
            scopes.last_mut().into_iter().flatten().collect();
        taken.sort_by_key(|(name, _)| *name);
        for (_, binding) in taken {
            let val = self.rvalue(binding.val.clone(), span)?;
            binding.val = self.variable(val, span)?;
        }
        Ok(Val::Closure(std::rc::Rc::new(Closure { text: closure.text.clone(), scopes })))
    }

    /// A number.
    pub(super) fn number(&mut self, expr: &Expr) -> Result<ValueId> {
        let val = self.operand(expr)?;
        self.scalar(val, expr.span())
    }

    /// A condition.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<ValueId> {
        let value = self.number(expr)?;
        self.expect(value, Scalar::Bool, expr.span())?;
        Ok(value)
    }

    /// The place an expression is.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<LValue> {
        match self.operand(expr)? {
            Val::Place(lv) | Val::Ref(lv) => Ok(lv),
            // A part of a variable whose shape is not known yet.
            Val::Never => Ok(LValue::Value(Box::new(Val::Never))),
            _ => Err(left_to_rustc(
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
                if let Some((a, b)) = crossed(assign)
                    && self.exchanged(a, b, span)?
                {
                    return Ok(Val::Unit);
                }
                let val = self.expr(&assign.right)?;
                self.assign(&assign.left, val)?;
                Ok(Val::Unit)
            }
            Expr::Index(index) => self.index(index),
            Expr::Field(field) => match self.field(field)? {
                None => Ok(Val::Never),
                Some((lv @ LValue::Pointer(_), _)) => self.resolved(Val::Place(lv), span),
                Some((lv, true)) => Ok(Val::Ref(lv)),
                Some((lv, false)) => Ok(Val::Place(lv)),
            },
            Expr::Reference(syn::ExprReference { mutability: Some(_), expr: inner, .. })
                if self.held_pointer(inner).is_some() =>
            {
                Ok(self.held_pointer(inner).map_or(Val::Never, Val::Ref))
            }
            Expr::Reference(syn::ExprReference { expr: inner, .. }) if matches!(&**inner, Expr::Array(array) if array.elems.is_empty()) => {
                Ok(Val::Ref(super::control::lv_of(self.fresh_list(span)?)))
            }
            Expr::Reference(reference) => Ok(match self.operand(&reference.expr)? {
                Val::Ref(_) if reference.mutability.is_some() => {
                    return Err(unsupported(
                        reference.and_token.span(),
                        "`&mut` of a reference",
                        "pass the reference itself; to swap two lists, swap the `Vec`s, not references to them",
                    ));
                }
                Val::Iter(_) if reference.mutability.is_some() => {
                    return Err(unsupported(
                        reference.and_token.span(),
                        "`&mut` of an iterator",
                        "take items with `next`, or pass the iterator itself",
                    ));
                }
                Val::Place(lv) => Val::Ref(lv),
                val @ Val::Parts(..) => Val::Ref(LValue::Value(Box::new(val))),
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
                    None => Extent::Const(self.b.opaque(repeat.len.to_token_stream())),
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
                    return self.labelled_block(&block.block, label);
                }
                let val = self.block(&block.block)?;
                self.rvalue(val, span)
            }
            Expr::If(branch) => {
                if let Some(jumps) = hoist::jumps_in_chain(&branch.cond) {
                    return Err(unsupported(
                        jumps.span(),
                        "`?` and jumps among conditions after a `let`",
                        "use a `let` statement before, or nest the `if`s",
                    ));
                }
                self.branch_on(
                    &branch.cond,
                    span,
                    |me| me.block(&branch.then_branch),
                    |me| match &branch.else_branch {
                        Some((_, other)) => me.operand(other),
                        None => Ok(Val::Unit),
                    },
                )
            }
            Expr::Match(matching) => self.matching(matching),
            Expr::ForLoop(node) => self.marked_loop(&node.attrs, |me| me.for_loop(node)),
            Expr::While(node) => self.marked_loop(&node.attrs, |me| me.while_loop(node)),
            Expr::Loop(node) => self.marked_loop(&node.attrs, |me| me.endless_loop(node)),
            Expr::Break(node) => self.break_from(node),
            Expr::Continue(node) => {
                let frame = self.loop_frame(node.label.as_ref(), false, span)?;
                let continued = self.frame().loops[frame].continued;
                self.jump(continued, span);
                Ok(Val::Never)
            }
            Expr::Return(node) => {
                if let Some(expr) = &node.expr {
                    let val = self.expr(expr)?;
                    if self.frame().result.is_none() && !matches!(val, Val::Unit | Val::Never) {
                        return Err(unsupported(
                            node.return_token.span(),
                            "`return` inside a macro",
                            "bind what it guards with `let` first",
                        ));
                    }
                    self.leave_result(val, expr.span())?;
                }
                self.jump(None, span);
                Ok(Val::Never)
            }
            Expr::Closure(closure) => {
                let mut scopes = self.scopes.clone();
                if closure.capture.is_some() {
                    scopes.push(self.captured(closure)?);
                }
                Ok(Val::Closure(std::rc::Rc::new(Closure { text: closure.clone(), scopes })))
            }
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            Expr::Macro(call) => self.macro_call(&call.mac, span),
            Expr::Range(range) => self.range_value(range),
            Expr::Try(node) => self.question(node),
            Expr::Unsafe(node) => Err(unsupported(
                node.unsafe_token.span(),
                "`unsafe` blocks",
                "move it into a function of its own, with `#[stratape::constant]` or a `#[stratape::pullback]`",
            )),
            Expr::Await(_) | Expr::Async(_) => {
                Err(unsupported(span, "`async`", "make it a plain function"))
            }
            Expr::Let(_) => {
                Err(unsupported(span, "`let` here", "use it in the condition of `if` and `while`"))
            }
            _ => Err(unsupported(
                span,
                "this expression",
                "write it with loops, branches, indexing and float methods",
            )),
        }
    }

    /// The place of a field, and whether the field is a reference to it; nothing where control does not get there.
    pub(super) fn field(&mut self, field: &syn::ExprField) -> Result<Option<(LValue, bool)>> {
        let lv = match self.operand(&field.base)? {
            Val::Place(lv) | Val::Ref(lv) => lv,
            val @ Val::Parts(..) => LValue::Value(Box::new(val)),
            Val::Never => return Ok(None),
            _ => {
                let message = "only structs and tuples have fields";
                return Err(Error::new(field.base.span(), message));
            }
        };
        let found = self.field_named(&lv, &field.member)?;
        let kind = match &lv {
            LValue::Parts(kind, _) => Some(kind),
            LValue::Value(val) => match &**val {
                Val::Parts(kind, _) => Some(kind),
                _ => None,
            },
            _ => None,
        };
        let borrows = kind.is_some_and(|kind| {
            let at = match &field.member {
                syn::Member::Named(name) => kind.field_named(&name.to_string()),
                syn::Member::Unnamed(index) => Some(index.index as usize),
            };
            at.is_some_and(|at| self.borrows(kind, at, &found))
        });
        Ok(Some((found, borrows)))
    }

    /// The variables a `move` closure takes with it: copies, which change by themselves.
    fn captured(&mut self, closure: &syn::ExprClosure) -> Result<Names> {
        let mut names = Names::new();
        for (word, span) in words_of(closure.body.to_token_stream()) {
            let Some(binding) = self.lookup(&word) else { continue };
            let val = binding.val.clone();
            let copies = match &val {
                Val::Place(LValue::Memory(memory)) => memory.ty.is_fixed(),
                Val::Place(_) => true,
                _ => false,
            };
            if copies && !names.contains_key(&word) {
                let val = self.rvalue(val, span)?;
                let val = self.variable(val, span)?;
                names.insert(word, Binding { val });
            }
        }
        Ok(names)
    }

    /// Puts what is returned where the end of the function finds it.
    pub(super) fn leave_result(&mut self, val: Val, span: Span) -> Result<()> {
        let Some(result) = self.frame().result.clone() else { return Ok(()) };
        let lv = super::control::lv_of(result);
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
            syn::Lit::Str(text) => {
                let text = text.value();
                let known = self.texts.iter().position(|known| *known == text);
                let number = known.unwrap_or(self.texts.len()) as i128;
                let number = self.b.int(number, Scalar::Int(stratape_ir::Int::Isize), span);
                if known.is_none() {
                    self.texts.push(text);
                }
                self.enums.insert(number, TEXT.to_owned());
                Ok(Val::Scalar(number))
            }
            syn::Lit::Byte(byte) => {
                let byte = i128::from(byte.value());
                Ok(Val::Scalar(self.b.int(byte, Scalar::Int(stratape_ir::Int::U8), span)))
            }
            syn::Lit::ByteStr(bytes) if !bytes.value().is_empty() => {
                let ty = Scalar::Int(stratape_ir::Int::U8);
                let bytes = bytes.value().into_iter();
                let vals = bytes.map(|byte| (Val::Scalar(self.b.int(byte.into(), ty, span)), span));
                let vals = vals.collect();
                let list = self.array_of(vals, span)?;
                Ok(Val::Ref(super::control::lv_of(list)))
            }
            syn::Lit::Char(_) => {
                Err(unsupported(span, "`char`", "use bytes, as in `b'a'`, or an enum"))
            }
            _ => Err(unsupported(span, "text", "use it in assertions only")),
        }
    }

    fn suffix(&self, suffix: &str, span: Span) -> Result<Scalar> {
        scalar_named(suffix).ok_or_else(|| Error::new(span, format!("unknown suffix `{suffix}`")))
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<Val> {
        let span = path.span();
        if let Some(name) = path.path.get_ident().filter(|_| path.qself.is_none()) {
            let name = name.to_string();
            if let Some(full) = self.imported(path) {
                return self.path(&full);
            }
            if let Some(binding) = self.lookup(&name) {
                let val = binding.val.clone();
                let val = self.retyped(val);
                return self.resolved(val, span);
            }
            if let Some(val) = self.unit_variant(path, span)? {
                return Ok(val);
            }
            if let Some(constant) = self.module.items().constants.get(&name) {
                return self.constant_item(&constant.ty, &constant.expr);
            }
            if self.module.functions.contains_key(&name) {
                return Ok(Val::Function(path.clone()));
            }
            if let Some(val) = self.unit_struct(&name) {
                return Ok(val);
            }
            if name == "PhantomData" {
                return Ok(Self::tuple(Vec::new()));
            }
            let constant = name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
            if !constant {
                return Ok(Val::Function(path.clone()));
            }
            let ty = self.fresh(Class::Any);
            return Ok(Val::Scalar(self.outer_constant(path, ty)));
        }
        if let Some(full) = self.imported(path) {
            return self.path(&full);
        }
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (owner, name) = match segments.as_slice() {
            [.., owner, name] => (owner.as_str(), name.as_str()),
            [name] if path.qself.is_some() => ("", name.as_str()),
            [none] if none == "None" => return Ok(self.none(span)),
            _ => return Err(Error::new(span, "a name was expected")),
        };
        let owner_type = match &path.qself {
            Some(qself) => self.module.type_name(&type_text(&qself.ty)),
            None => self.module.type_name(owner),
        };
        if owner == "marker" && name == "PhantomData" {
            return Ok(Self::tuple(Vec::new()));
        }
        if owner_type == "Ordering"
            && let Some(val) = self.ordering_named(name, span)
        {
            return Ok(val);
        }
        if let Some(val) = self.unit_variant(path, span)? {
            return Ok(val);
        }
        if self.module.enums.get(&owner_type).is_some_and(|all| all.iter().any(|v| v == name)) {
            let tokens = match self.module.unnamed_variant(&owner_type, name) {
                None => quote::quote!((#path as isize)),
                Some(Ok(number)) => number.to_token_stream(),
                Some(Err(why)) => return Err(Error::new(span, why)),
            };
            let ty = Scalar::Int(stratape_ir::Int::Isize);
            let value = self.b.emit(Op::Const(self.b.opaque(tokens)), ty, span);
            self.enums.insert(value, owner_type);
            return Ok(Val::Scalar(value));
        }
        let key = (owner_type.clone(), name.to_owned());
        if let Some(constant) = self.module.items().associated_constants.get(&key) {
            self.certain(&owner_type, name, false, span)?;
            // One of an `impl` with parameters is worked out for what they stand for.
            if self.module.impl_params.contains_key(&key) {
                let (ty, value) = (&constant.ty, &constant.expr);
                let made: syn::ImplItemFn = syn::parse_quote!(fn value() -> #ty { #value });
                return self.expand_constant(path, &made);
            }
            return self.constant_item(&constant.ty, &constant.expr);
        }
        let upper = name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
        if !upper {
            return Ok(Val::Function(path.clone()));
        }
        let ty = match (owner, scalar_named(&owner_type)) {
            (_, Some(Scalar::Int(_))) if name == "BITS" => Scalar::Int(stratape_ir::Int::U32),
            (_, Some(Scalar::Float(_))) if name == "DIGITS" || name == "RADIX" => {
                Scalar::Int(stratape_ir::Int::U32)
            }
            (_, Some(scalar)) => scalar,
            ("consts", None) if segments.iter().any(|s| s == "f32") => Scalar::Float(Float::F32),
            ("consts", None) => Scalar::Float(Float::F64),
            _ => self.fresh(Class::Any),
        };
        Ok(Val::Scalar(self.outer_constant(path, ty)))
    }

    /// Whether a path names a function of the module.
    pub(super) fn is_function(&self, path: &syn::ExprPath) -> bool {
        path.path.get_ident().map(ToString::to_string).is_none_or(|name| {
            self.module.functions.contains_key(&name) || self.module.elsewhere.contains_key(&name)
        })
    }

    /// A constant from outside the function.
    fn outer_constant(&mut self, path: &syn::ExprPath, ty: Scalar) -> ValueId {
        let value =
            self.b.emit(Op::Const(self.b.opaque(self.constant_tokens(path))), ty, path.span());
        self.constants.push(value);
        value
    }

    /// The value of a constant the compiler can see.
    pub(super) fn constant_item(&mut self, ty: &syn::Type, expr: &Expr) -> Result<Val> {
        // A generic struct without its arguments is what its fields are.
        let written = self.module.read_helper_type(ty)?;
        let scopes = std::mem::replace(&mut self.scopes, vec![Names::new()]);
        self.names_stack.push("a constant".to_owned());
        let val = if self.names_stack.len() > DEPTH {
            Err(left_to_rustc(expr.span(), "this constant is made of itself"))
        } else {
            self.expr(expr)
        };
        self.names_stack.pop();
        self.scopes = scopes;
        let val = val?;
        if let Some(written) = written {
            self.expect_type(&val, &written.ty, expr.span())?;
        }
        Ok(val)
    }
}

/// Whether an expression is a name.
fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_name(&inner.expr),
        Expr::Group(inner) => is_name(&inner.expr),
        Expr::Path(_) => true,
        _ => false,
    }
}

/// The two places of `(a, b) = (b, a)`.
fn crossed(assign: &syn::ExprAssign) -> Option<(&Expr, &Expr)> {
    let (Expr::Tuple(left), Expr::Tuple(right)) = (&*assign.left, &*assign.right) else {
        return None;
    };
    let (mut left, mut right) = (left.elems.iter(), right.elems.iter());
    let (a, b) = (left.next()?, left.next()?);
    let (c, d) = (right.next()?, right.next()?);
    let is_place = |expr: &Expr| matches!(expr, Expr::Path(_) | Expr::Field(_));
    let alone = left.next().is_none() && right.next().is_none();
    (alone && a == d && b == c && is_place(a) && is_place(b)).then_some((a, b))
}
