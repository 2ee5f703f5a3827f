//! Values whose type comes from where they go: `Default::default()`, `v.into()`, `v.try_into().unwrap()`, `std::array::from_fn(…)`, sums of structs.

use std::borrow::Cow;

use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::Lowerer;
use super::generic::base_name;
use super::val::{LValue, Val};
use stratape_ir::{Extent, Type};

impl Lowerer<'_> {
    /// An expression that goes where a type is known.
    pub(super) fn expr_as(&mut self, expr: &Expr, ty: Option<&Type>) -> Result<Val> {
        if let Some(ty) = ty
            && let Some(val) = self.wanted(expr, ty)?
        {
            return Ok(val);
        }
        self.expr(expr)
    }

    /// An item of a list whose items have a type that is known.
    pub(super) fn item_as(&mut self, expr: &Expr, ty: Option<&Type>) -> Result<Val> {
        let val = self.expr_as(expr, ty)?;
        let Some(ty) = ty else { return Ok(val) };
        self.expect_type(&val, ty, expr.span())?;
        let val = self.retyped(val);
        self.completed(val, ty, expr.span())
    }

    /// A value whose type is known from where it goes. `None` for expressions that know their own.
    pub(super) fn wanted(&mut self, expr: &Expr, ty: &Type) -> Result<Option<Val>> {
        let span = expr.span();
        match expr {
            Expr::Paren(inner) => self.wanted(&inner.expr, ty),
            Expr::Tuple(tuple) if tuple.elems.iter().any(is_directed) => {
                let Type::Tuple(types) = ty else { return Ok(None) };
                let items = tuple.elems.iter().zip(types);
                let parts = items.map(|(item, ty)| self.expr_as(item, Some(ty)));
                Ok(Some(Self::tuple(parts.collect::<Result<_>>()?)))
            }
            Expr::Macro(call) if call.mac.path.is_ident("vec") => match ty {
                Type::Vec(item) => self.vec_macro(&call.mac, Some(item), span).map(Some),
                _ => Ok(None),
            },
            Expr::Array(array) if !array.elems.is_empty() => {
                let Type::Array(item, _) = ty else { return Ok(None) };
                let mut vals = Vec::new();
                for elem in &array.elems {
                    vals.push((self.item_as(elem, Some(item))?, elem.span()));
                }
                self.array_of(vals, span).map(Some)
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return Ok(None) };
                let names: Vec<String> =
                    path.path.segments.iter().map(|part| part.ident.to_string()).collect();
                match (names.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), ty) {
                    ([.., "array", "from_fn"], Type::Array(item, extent)) => {
                        let Some(arg) = call.args.first() else { return Ok(None) };
                        let f = self.operand(arg)?;
                        self.array_from_fn(extent.clone(), item, &f, span).map(Some)
                    }
                    ([.., "Default", "default"], ty) => self.default_of(ty, span).map(Some),
                    _ => Ok(None),
                }
            }
            Expr::MethodCall(call) if call.method == "into" && call.args.is_empty() => {
                let val = self.expr(&call.receiver)?;
                self.turned_into(val, ty, call).map(Some)
            }
            Expr::MethodCall(call)
                if (call.method == "sum" || call.method == "product")
                    && call.turbofish.is_none()
                    && matches!(ty, Type::Struct(_)) =>
            {
                let Val::Iter(iter) = self.operand(&call.receiver)? else {
                    return Err(Error::new(call.receiver.span(), "an iterator was expected"));
                };
                self.sum_of_structs(&iter, &call.method.to_string(), ty, span)
            }
            Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => {
                match &*call.receiver {
                    Expr::MethodCall(inner) if inner.method == "try_into" => {
                        self.tried_into(inner, call, ty, span)
                    }
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// `v.into()`: what the module says, or the library of numbers and lists.
    fn turned_into(&mut self, val: Val, ty: &Type, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        if let Some(owner) = self.owner_of(&val)
            && let Some(function) = self.own_method(&owner, "into")
        {
            return self.expand_method(&owner, &function, vec![val], span);
        }
        let found = self.type_of(&val);
        if found.as_ref() == Some(ty) {
            return Ok(val);
        }
        let name = ty.to_string();
        if let Some(made) =
            self.converted(base_name(&name), "from", std::slice::from_ref(&val), span)?
        {
            return Ok(made);
        }
        match (&found, ty) {
            (Some(Type::Scalar(_)), Type::Scalar(to)) => {
                let value = self.scalar(val, span)?;
                if self.ty(value) == *to {
                    return Ok(Val::Scalar(value));
                }
                let cast = stratape_ir::Op::Cast(value, *to);
                Ok(Val::Scalar(self.b.emit(cast, *to, span)))
            }
            (Some(Type::Array(..) | Type::Slice(_) | Type::Vec(_)), Type::Vec(_)) => {
                let list = self.own_list(&val, true, span)?;
                Ok(Val::Place(LValue::Memory(list)))
            }
            _ => Err(super::unsupported(
                call.method.span(),
                &format!("`into` to `{name}` of this"),
                "implement `From` in this module, or write the conversion out",
            )),
        }
    }

    /// The types that a function of the module takes, as far as they do not depend on its arguments.
    pub(super) fn parameter_types(&self, path: &syn::ExprPath) -> Vec<Option<Type>> {
        let names: Vec<String> =
            path.path.segments.iter().map(|part| part.ident.to_string()).collect();
        match &names[..] {
            [only] => {
                if let Some(function) = self.module.functions.get(only) {
                    return self.types_of(&function.sig);
                }
                match self.module.structs.get(&self.module.type_name(only)) {
                    Some(def) => def.fields.iter().map(|(_, ty)| Some(ty.clone())).collect(),
                    None => Vec::new(),
                }
            }
            [.., owner, method] => match self.own_method(&self.module.type_name(owner), method) {
                Some(function) => self.types_of(&function.sig),
                None => Vec::new(),
            },
            [] => Vec::new(),
        }
    }

    /// The types of a function's parameters.
    pub(super) fn types_of(&self, sig: &syn::Signature) -> Vec<Option<Type>> {
        let ty = |input: &syn::FnArg| match input {
            syn::FnArg::Typed(input) if sig.generics.type_params().next().is_none() => {
                self.module.read_type(&input.ty).ok().map(|written| written.ty)
            }
            _ => None,
        };
        sig.inputs.iter().map(ty).collect()
    }

    /// The type whose function a path names.
    pub(super) fn type_before(&self, path: &syn::ExprPath) -> Option<Type> {
        if let Some(qself) = &path.qself {
            return self.module.read_type(&qself.ty).ok().map(|written| written.ty);
        }
        let mut owner = path.path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let written = self.module.read_type(&syn::parse_quote!(#owner)).ok()?;
        Some(written.ty)
    }

    /// `v.try_into().unwrap()`: a slice as an array, or an integer of another type.
    fn tried_into(
        &mut self,
        inner: &syn::ExprMethodCall,
        call: &syn::ExprMethodCall,
        ty: &Type,
        span: Span,
    ) -> Result<Option<Val>> {
        let val = self.operand(&inner.receiver)?;
        if let Type::Array(_, extent) = ty {
            let (Val::Ref(lv) | Val::Place(lv)) = val else { return Ok(None) };
            let len = match extent {
                Extent::Known(n) => self.b.usize(*n, span),
                Extent::Const(tokens) => {
                    let op = stratape_ir::Op::Const(tokens.clone());
                    self.b.emit(op, stratape_ir::Scalar::USIZE, span)
                }
            };
            let found = self.len_of(&lv, span)?;
            let fits = self.b.compare(stratape_ir::Compare::Eq, len, found, span);
            let (method, args) = (&call.method, &call.args);
            let otherwise = quote::quote!(
                let _: [(); 1] = <[(); 1]>::try_from(&[(); 0][..]).#method(#args)
            );
            self.run_unless(fits, otherwise, &[], span);
            return self
                .built(Some(extent.clone()), len, span, &mut |me, at| {
                    let item = me.element_unchecked(&lv, at, span)?;
                    me.read(&item, span)
                })
                .map(Some);
        }
        let Some(to) = ty.scalar() else { return Ok(None) };
        let value = self.scalar(val, span)?;
        let tried = self.tried_from(value, to, span);
        let Some(choice) = self.choice_of(&tried) else { return Ok(None) };
        self.option_method(&choice, tried, call).map(Some)
    }

    /// The default of a type: what its `Default` says, or zeros.
    pub(super) fn default_of(&mut self, ty: &Type, span: Span) -> Result<Val> {
        let name = ty.to_string();
        let name = base_name(&name).trim_start_matches(super::choice::MARK);
        if let Some(function) = self.own_method(name, "default") {
            return self.expand_method(name, &function, Vec::new(), span);
        }
        if let Some(variant) = self.module.default_variants.get(name) {
            let [name, variant] = [name, variant].map(|name| syn::Ident::new(name, span));
            return self.expr(&syn::parse_quote!(#name::#variant));
        }
        match ty {
            Type::Tuple(items) => {
                let items = items.iter().map(|item| self.default_of(item, span));
                Ok(Self::tuple(items.collect::<Result<_>>()?))
            }
            Type::Struct(def) if def.name.starts_with(super::choice::MARK) && name != "Option" => {
                Err(Error::new(span, format!("`{name}` has no default")))
            }
            Type::Struct(def) => {
                let parts = def.fields.iter().map(|(_, ty)| self.default_of(ty, span));
                let parts = parts.collect::<Result<_>>()?;
                Ok(Val::Parts(self.module.kind_of(def), parts))
            }
            Type::Array(item, _) if !is_zero(item) => Err(super::unsupported(
                span,
                "the default of an array of structs",
                "write it, as in `[Item::default(); 3]`",
            )),
            Type::Enum(name) => Err(Error::new(span, format!("`{name}` has no default"))),
            _ => {
                let zero = self.zero_val(ty, span)?;
                self.rvalue(zero, span)
            }
        }
    }
}

/// Whether the default of a type is zero all over.
fn is_zero(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(item, _) => is_zero(item),
        Type::Tuple(items) => items.iter().all(is_zero),
        _ => false,
    }
}

/// Whether the type of an expression depends on where it goes.
fn is_directed(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_directed(&inner.expr),
        Expr::MethodCall(call) => match &*call.receiver {
            _ if call.method == "into" => true,
            Expr::MethodCall(inner) => {
                inner.method == "try_into" && (call.method == "unwrap" || call.method == "expect")
            }
            _ => false,
        },
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let names: Vec<&syn::Ident> =
                    path.path.segments.iter().map(|part| &part.ident).collect();
                let ends = |a: &str, b: &str| matches!(names[..], [.., x, y] if x == a && y == b);
                ends("Default", "default") || ends("array", "from_fn")
            }
            _ => false,
        },
        Expr::Tuple(tuple) => tuple.elems.iter().any(is_directed),
        _ => false,
    }
}

/// A body whose value and early returns have the type that is written for its result, where they depend on it.
pub(super) fn with_result<'a>(
    block: &'a syn::Block,
    output: &syn::ReturnType,
) -> Cow<'a, syn::Block> {
    let syn::ReturnType::Type(_, ty) = output else { return Cow::Borrowed(block) };
    if matches!(**ty, syn::Type::ImplTrait(_)) {
        return Cow::Borrowed(block);
    }
    let mut typed = block.clone();
    let mut writer = TypesTails { ty, changed: false };
    writer.tail(&mut typed);
    writer.visit_block_mut(&mut typed);
    match writer.changed {
        true => Cow::Owned(typed),
        false => Cow::Borrowed(block),
    }
}

/// An expression of a type that is written for it, in whose arms it shows.
pub(super) fn with_type<'a>(expr: &'a Expr, ty: &syn::Type) -> Cow<'a, Expr> {
    let mut writer = TypesTails { ty, changed: false };
    if !matches!(expr, Expr::If(_) | Expr::Match(_) | Expr::Block(_)) && !writer.collects(expr) {
        return Cow::Borrowed(expr);
    }
    let mut typed = expr.clone();
    writer.tails(&mut typed);
    match writer.changed {
        true => Cow::Owned(typed),
        false => Cow::Borrowed(expr),
    }
}

/// Writes a type where a value depends on it: `v.into()` becomes `{ let it: T = v.into(); it }`.
struct TypesTails<'a> {
    ty: &'a syn::Type,
    changed: bool,
}

impl TypesTails<'_> {
    /// Whether an expression is a `collect` into something else than a list of the library.
    fn collects(&self, expr: &Expr) -> bool {
        let list = ["Vec", "VecDeque", "Box"];
        let other = matches!(self.ty, syn::Type::Path(path) if path.path.segments.last()
            .is_some_and(|last| list.iter().all(|list| last.ident != list)));
        other
            && matches!(expr, Expr::MethodCall(call)
                if call.method == "collect" && call.turbofish.is_none())
    }

    fn tail(&mut self, block: &mut syn::Block) {
        if let Some(syn::Stmt::Expr(expr, None)) = block.stmts.last_mut() {
            self.tails(expr);
        }
    }

    fn tails(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(branch) => {
                self.tail(&mut branch.then_branch);
                if let Some((_, other)) = &mut branch.else_branch {
                    self.tails(other);
                }
            }
            Expr::Match(matching) => {
                matching.arms.iter_mut().for_each(|arm| self.tails(&mut arm.body));
            }
            Expr::Block(block) => self.tail(&mut block.block),
            Expr::MethodCall(call) if self.collects(&Expr::MethodCall(call.clone())) => {
                let ty = self.ty;
                self.changed = true;
                call.turbofish = Some(syn::parse_quote!(::<#ty>));
            }
            directed if is_directed(directed) => {
                let ty = self.ty;
                self.changed = true;
                *directed = syn::parse_quote_spanned!(directed.span()=> {
                    let __wanted: #ty = #directed;
                    __wanted
                });
            }
            _ => {}
        }
    }
}

impl VisitMut<'_> for TypesTails<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) => {}
            Expr::Return(node) => {
                if let Some(value) = &mut node.expr {
                    self.tails(value);
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
