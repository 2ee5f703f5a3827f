//! Calls: functions of the module, closures and methods are expanded where they are called.

use std::rc::Rc;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::control::{Frame, lv_of};
use super::iter::Iter;
use super::mention::words_of;
use super::moves::Moves;
use super::plain;
use super::val::{Kind, LValue, Names, Val};
use super::written::{Written, scalar_named};
use super::{Lowerer, signature, unsupported, wanted};
use crate::library;
use stratape_ir::{Op, Scalar, Type};

/// How deep calls may nest before it is taken for an endless recursion.
pub(super) const DEPTH: usize = 64;

/// A function that is expanded where it is called.
struct Callee<'a> {
    label: &'a str,
    sig: &'a syn::Signature,
    block: &'a syn::Block,
    /// Its name where it is called, with the generic arguments that are written there.
    written: Option<&'a syn::PathSegment>,
    /// The type before it, with its arguments.
    owner: Option<&'a syn::PathSegment>,
    /// The parameters of the `impl` it stands in, if they are known.
    outer: Option<Rc<(syn::Generics, syn::Type)>>,
}

impl Lowerer<'_> {
    /// `f(…)`
    pub(super) fn call(&mut self, call: &syn::ExprCall) -> Result<Val> {
        let span = call.span();
        let f = match &*call.func {
            Expr::Path(path)
                if path
                    .path
                    .get_ident()
                    .is_none_or(|name| self.lookup(&name.to_string()).is_none()) =>
            {
                Val::Function(path.clone())
            }
            func => self.operand(func)?,
        };
        let types = match &f {
            Val::Function(path) => self.parameter_types(path),
            _ => Vec::new(),
        };
        let mut args = Vec::new();
        for (position, arg) in call.args.iter().enumerate() {
            let ty = types.get(position).and_then(Option::as_ref);
            args.push(self.expr_as(arg, ty)?);
        }
        self.apply(&f, args, span)
    }

    /// Runs `f` in a frame and scope of its own, on top of the names in sight.
    pub(super) fn in_frame(
        &mut self,
        names: Names,
        f: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        let live = self.live.len();
        self.scopes.push(names);
        self.frames.push(Frame::default());
        let result = f(self);
        self.frames.pop();
        self.scopes.pop();
        self.live.truncate(live);
        result
    }

    pub(super) fn apply_path(
        &mut self,
        path: &syn::ExprPath,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let name = segments.last().cloned().unwrap_or_default();
        if let Some(val) = self.kernel_call(path, &args, span)? {
            return Ok(val);
        }
        if let Some(val) = self.host_call(path, &args, span)? {
            return Ok(val);
        }
        if let Some((choice, index)) = self.variant_named(&path.path) {
            return self.variant(&choice, index, args, span);
        }
        if let Some(val) = self.reversed_key(path, &args) {
            return Ok(val);
        }
        if let [only] = segments.as_slice() {
            if let (Some(pullback), Some(function)) =
                (self.module.opaque.get(only).cloned(), self.module.functions.get(only).cloned())
            {
                return self.opaque_call(path, &function.sig, pullback, args, span);
            }
            if let Some(called) = self.module.elsewhere.get(only).cloned() {
                return self.call_elsewhere(only, &called, args, span);
            }
            if let Some(function) = self.module.functions.get(only).cloned() {
                let callee = Callee {
                    label: only,
                    sig: &function.sig,
                    block: &function.block,
                    written: path.path.segments.last(),
                    owner: None,
                    outer: None,
                };
                return self.expand_generic(&callee, args, path.span());
            }
            let name = self.module.type_name(only);
            let def = match self.module.structs.get(&name).cloned() {
                Some(def) => Some(def),
                None if path.path.segments.iter().any(|one| !one.arguments.is_none()) => {
                    match path.path.segments.last() {
                        Some(segment) => self.module.named_instance(segment)?,
                        None => None,
                    }
                }
                None => {
                    let fields: Vec<(usize, &Val)> = args.iter().enumerate().collect();
                    self.instance_of(&name, &fields)?
                }
            };
            if let Some(def) = def
                && def.tuple
                && def.fields.len() == args.len()
            {
                for (arg, (_, ty)) in args.iter().zip(&def.fields) {
                    self.expect_type(arg, ty, span)?;
                }
                let args =
                    args.into_iter().map(|arg| self.as_vec(arg, span)).collect::<Result<_>>()?;
                return Ok(Val::Parts(Kind::Struct(def), args));
            }
        }
        if let ([.., last], [_]) = (&segments[..], &args[..])
            && last == "drop"
            && (segments.len() == 1 || segments.iter().any(|one| one == "mem"))
        {
            return Ok(Val::Unit);
        }
        if let ([only], [_, _]) = (&segments[..], &args[..])
            && (only == "max" || only == "min")
        {
            return self.apply_path(&syn::parse_quote!(std::cmp::#path), args, span);
        }
        if let Some((owner, method)) = self.owner_and_method(path, &args) {
            let (owner, method) = (&owner, &method);
            let of_trait = self.trait_method(path, owner, method);
            let any = || self.module.methods.get(&(owner.clone(), method.clone())).cloned();
            if let Some(function) = of_trait.clone().or_else(any) {
                let before = path.path.segments.iter().rev().nth(1);
                let named = before.is_some_and(|before| {
                    self.module.type_name(&before.ident.to_string()) == *owner
                });
                if of_trait.is_none() {
                    self.certain(owner, method, !named, path.span())?;
                }
                // Two traits may have methods of one name that call each other.
                let label = match (&of_trait, before) {
                    (Some(_), Some(before)) => format!("{owner}::{}::{method}", before.ident),
                    _ => format!("{owner}::{method}"),
                };
                let callee = Callee {
                    label: &label,
                    sig: &function.sig,
                    block: &function.block,
                    written: path.path.segments.last(),
                    owner: path.path.segments.iter().rev().nth(1),
                    outer: None,
                };
                return self.expand_generic(&callee, args, path.span());
            }
            if (args.len() == 1 || library::is_known(owner))
                && let Some(val) = self.converted(owner, method, &args, span)?
            {
                return Ok(val);
            }
            if let Some(scalar) = scalar_named(owner) {
                return self.scalar_function(scalar, method, args, path.span(), span);
            }
            if method == "default"
                && args.is_empty()
                && let Some(ty) = self.type_before(path)
            {
                return self.default_of(&ty, span);
            }
            if owner == "mem" && ["swap", "take", "replace"].contains(&method.as_str()) {
                return match self.exchange_lists(method, &args, span)? {
                    Some(val) => Ok(val),
                    None if method == "swap" => self.swap(args, span),
                    None => self.replaced(args, span),
                };
            }
            if let ("cmp", "max" | "min", [_, _]) = (owner.as_str(), method.as_str(), &args[..]) {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.scalar(arg, span)?);
                }
                return self.number_method(method, values, path.span(), span);
            }
            if owner == "iter" && method == "zip" {
                return self.zip(args, span);
            }
            if owner == "iter"
                && let Some(val) = self.iterator_function(method, &args, span)?
            {
                return Ok(val);
            }
            if owner == "Vec" || owner == "VecDeque" {
                return self.list_function(method, args, path.span(), span);
            }
            if let ("Box", "new", [_]) = (owner.as_str(), method.as_str(), &args[..]) {
                return Ok(args.into_iter().next().unwrap_or(Val::Unit));
            }
            if matches!(
                owner.as_str(),
                "Neg" | "Add" | "Sub" | "Mul" | "Div" | "Rem" | "Ord" | "PartialOrd"
            ) {
                if args.iter().any(|arg| self.is_struct(arg)) {
                    return self.overloaded(method, args, path.span());
                }
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.scalar(arg, span)?);
                }
                if let Some(val) = self.operator(method, &values, span)? {
                    return Ok(val);
                }
                return self.number_method(method, values, path.span(), span);
            }
        }
        if segments.len() == 1 && self.names_stack.contains(&name) {
            return Err(recursion(path.span()));
        }
        // A method of slices or options as a function: `<[f64]>::to_vec`, `Option::unwrap`.
        let of_library = match &path.qself {
            Some(qself) => matches!(*qself.ty, syn::Type::Slice(_)),
            None => matches!(&segments[..], [owner, _] if owner == "Option" || owner == "Result"),
        };
        if let (true, Ok([receiver]), Some(method)) =
            (of_library, <[Val; 1]>::try_from(args), path.path.segments.last())
        {
            return self.method_as_function(receiver, &method.ident, span);
        }
        // A variant of an enum, or a function of a struct, that is refused as a whole.
        for owner in segments.iter().rev().skip(1) {
            if let Some(why) = self.module.refused.get(owner) {
                return Err(Error::new(path.span(), why));
            }
        }
        let name = segments.join("::");
        let instead = match (self.module.complete, &segments[..]) {
            (true, [_]) => "define it in this module",
            (true, _) => {
                "put `#[stratape::differentiable]` on it, or call it in a function of this module that has a \
                 `#[stratape::pullback]`, or is `#[stratape::constant]`"
            }
            (false, [_]) => "put `#[stratape::differentiable]` on it",
            (false, _) => {
                "call it in a function that has a `#[stratape::pullback]`, in a `#[stratape::differentiable] mod`"
            }
        };
        Err(Error::new(path.span(), format!("the compiler cannot see into `{name}`: {instead}")))
    }

    /// `f64::max(a, b)`, `f64::from(n)`, `usize::min(a, b)` …
    fn scalar_function(
        &mut self,
        scalar: Scalar,
        method: &str,
        args: Vec<Val>,
        at: Span,
        span: Span,
    ) -> Result<Val> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.scalar(arg, span)?);
        }
        if let ("default", []) = (method, &values[..]) {
            return Ok(Val::Scalar(self.zero(scalar, span)));
        }
        if let ("try_from", [value], Scalar::Int(_)) = (method, &values[..], scalar) {
            return Ok(self.tried_from(*value, scalar, span));
        }
        if values.is_empty() {
            return Err(Error::new(at, "an argument was expected"));
        }
        if method == "from" {
            if self.ty(values[0]) == scalar {
                return Ok(Val::Scalar(values[0]));
            }
            return Ok(Val::Scalar(self.b.emit(Op::Cast(values[0], scalar), scalar, span)));
        }
        self.expect(values[0], scalar, span)?;
        self.number_method(method, values, at, span)
    }

    fn swap(&mut self, args: Vec<Val>, span: Span) -> Result<Val> {
        let mut places = Vec::new();
        for arg in args {
            places.push(lv_of(arg));
        }
        let [a, b] = &places[..] else {
            return Err(Error::new(span, "`swap` takes two places"));
        };
        if matches!(a, LValue::Memory(memory) if memory.ty.scalar().is_none() && !memory.ty.is_fixed())
        {
            return Err(unsupported(
                span,
                "swapping slices",
                "swap `Vec`s, or swap the elements with `swap_with_slice`",
            ));
        }
        self.exchange(&a.clone(), &b.clone(), span)?;
        Ok(Val::Unit)
    }

    /// `mem::replace`, or `mem::take`, which leaves the default.
    fn replaced(&mut self, args: Vec<Val>, span: Span) -> Result<Val> {
        let mut args = args.into_iter();
        let (Some(place), new) = (args.next().map(lv_of), args.next()) else {
            return Err(Error::new(span, "a place was expected"));
        };
        let old = self.taken_out(&place, span)?;
        let new = match new {
            Some(new) => new,
            None => match self.type_of(&old) {
                Some(ty) => self.default_of(&ty, span)?,
                None => return Err(unsupported(span, "`mem::take` of this", "use `mem::replace`")),
            },
        };
        self.write_parts(&place, new, span)?;
        Ok(old)
    }

    fn zip(&mut self, args: Vec<Val>, span: Span) -> Result<Val> {
        let mut iterators = Vec::new();
        for arg in args {
            let iter = self.iterator(arg, span)?;
            iterators.push(Box::new(iter));
        }
        match <[_; 2]>::try_from(iterators) {
            Ok([a, b]) => Ok(Val::Iter(Box::new(Iter::Zip(a, b)))),
            Err(_) => Err(Error::new(span, "`zip` takes two iterators")),
        }
    }

    /// A method of a struct of the module.
    pub(super) fn method_of(
        &mut self,
        owner: &str,
        receiver: Val,
        call: &syn::ExprMethodCall,
    ) -> Result<Val> {
        let name = call.method.to_string();
        if name == "clone" {
            return self.clone_of(&lv_of(receiver), call.span());
        }
        let owner = &self.owner_with(owner, &name);
        let Some(function) = self.module.methods.get(&(owner.to_owned(), name.clone())).cloned()
        else {
            if self.module.operators.contains_key(&(owner.to_owned(), name.clone())) {
                let mut args = vec![receiver];
                for arg in &call.args {
                    args.push(self.expr(arg)?);
                }
                return self.overloaded(&name, args, call.method.span());
            }
            if let Some(iter) = self.own_iterator_of(&receiver, &name, call.span())? {
                return self.iter_method(iter, call);
            }
            if let Some(inner) = self.dereferenced(&receiver, call.span())? {
                return self.method_on(inner, call);
            }
            if library::is_known(owner) {
                return Err(unsupported(
                    call.method.span(),
                    &format!("the method `{name}` of `{owner}`"),
                    library::instead_of(&name),
                ));
            }
            return Err(Error::new(
                call.method.span(),
                format!(
                    "the compiler cannot see into the method `{name}` of `{owner}`: define it in an \
                     `impl` of this module"
                ),
            ));
        };
        self.certain(owner, &name, false, call.method.span())?;
        let by_reference = function
            .sig
            .receiver()
            .is_some_and(|receiver| !matches!(receiver.kind, syn::ReceiverKind::Value));
        let types = self.types_of(&function.sig);
        let receiver = if by_reference {
            Val::Ref(lv_of(receiver))
        } else {
            let val = match receiver {
                Val::Ref(lv) => Val::Place(lv),
                other => other,
            };
            self.rvalue(val, call.receiver.span())?
        };
        let mut args = vec![receiver];
        for (position, arg) in call.args.iter().enumerate() {
            args.push(self.expr_as(arg, types.get(position + 1).and_then(Option::as_ref))?);
        }
        let (ident, turbofish) = (&call.method, &call.turbofish);
        let written: syn::PathSegment = syn::parse_quote!(#ident #turbofish);
        let callee = Callee {
            label: &format!("{owner}::{name}"),
            sig: &function.sig,
            block: &function.block,
            written: Some(&written),
            owner: None,
            outer: None,
        };
        self.expand_generic(&callee, args, call.method.span())
    }

    /// Expands the body of a function with its arguments.
    pub(super) fn expand(
        &mut self,
        label: &str,
        sig: &syn::Signature,
        block: &syn::Block,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let callee = Callee { label, sig, block, written: None, owner: None, outer: None };
        self.expand_generic(&callee, args, span)
    }

    /// Expands a function of a struct that is known by its type alone.
    pub(super) fn expand_associated(
        &mut self,
        label: &str,
        function: &syn::ImplItemFn,
        def: &stratape_ir::Struct,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let path = syn::parse_str::<syn::Path>(&def.name).ok();
        let owner = path.as_ref().and_then(|path| path.segments.last());
        let (sig, block) = (&function.sig, &function.block);
        let callee = Callee { label, sig, block, written: None, owner, outer: None };
        self.expand_generic(&callee, args, span)
    }

    /// Expands an associated constant, written as a function.
    pub(super) fn expand_constant(
        &mut self,
        path: &syn::ExprPath,
        made: &syn::ImplItemFn,
    ) -> Result<Val> {
        let (owner, name) = (path.path.segments.iter().rev().nth(1), path.path.segments.last());
        let (Some(owner), Some(name)) = (owner, name) else {
            return Err(Error::new(path.span(), "a name was expected"));
        };
        let base = self.module.type_name(&owner.ident.to_string());
        let (sig, block) = (&made.sig, &made.block);
        let label = &format!("{base}::{}", name.ident);
        let callee = Callee { label, sig, block, written: None, owner: Some(owner), outer: None };
        self.expand_generic(&callee, Vec::new(), path.span())
    }

    /// Expands the method of an operator, of which a type may have several.
    pub(super) fn expand_operator(
        &mut self,
        label: &str,
        function: &syn::ImplItemFn,
        outer: Option<Rc<(syn::Generics, syn::Type)>>,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let (sig, block) = (&function.sig, &function.block);
        let callee = Callee { label, sig, block, written: None, owner: None, outer };
        self.expand_generic(&callee, args, span)
    }

    fn expand_generic(&mut self, callee: &Callee<'_>, args: Vec<Val>, span: Span) -> Result<Val> {
        let Callee { label, sig, block, written, owner, .. } = *callee;
        let block = &*wanted::with_result(block, &sig.output);
        let beside = plain::is_beside(label, &self.module.functions);
        if !beside && self.names_stack.iter().any(|name| name == label) {
            if label.contains("::") {
                return Err(recursion(span));
            }
            return self.recursive_call(label, sig, args, span);
        }
        if self.names_stack.len() > DEPTH {
            return Err(recursion(span));
        }
        signature::check(sig)?;
        if sig.inputs.len() != args.len() {
            return Err(Error::new(
                span,
                format!("`{label}` takes {} arguments", sig.inputs.len()),
            ));
        }
        let outer = callee.outer.clone().or_else(|| {
            let (owner, method) = label.split_once("::")?;
            let method = method.split('<').next().unwrap_or(method);
            self.module.impl_params.get(&(owner.to_owned(), method.to_owned())).cloned()
        });
        let params = self.params_of_call(outer.as_deref(), sig, (owner, written), &args)?;
        if let Some(name) = params.unknown_constant()
            && words_of(quote::quote!(#sig #block)).iter().any(|(word, _)| word == name)
        {
            return Err(unsupported(
                span,
                &format!("`{label}` whose parameter `{name}` does not show in its arguments"),
                "write it, as in `Matrix::<2, 3>::zeros()` or `zeros::<3>()`",
            ));
        }
        self.module.enter(params);
        self.names_stack.push(label.to_owned());
        self.moves.push(Moves::of_block(block));
        let scopes = std::mem::replace(&mut self.scopes, vec![Names::new()]);
        let result = self.in_frame(Names::new(), |me| {
            for (name, val) in me.constant_params(span) {
                me.bind_name(&name, val, false, span)?;
            }
            for (input, arg) in sig.inputs.iter().zip(args) {
                match input {
                    syn::FnArg::Receiver(receiver) => {
                        let mutable = receiver.mutability.is_some()
                            && matches!(receiver.kind, syn::ReceiverKind::Value);
                        me.bind_name("self", arg, mutable, span)?;
                    }
                    syn::FnArg::Typed(input) => {
                        if let Some(written) = me.module.read_helper_type(&input.ty)? {
                            me.expect_type(&arg, &written.ty, span)?;
                        }
                        me.bind_surely(&input.pat, arg)?;
                    }
                }
            }
            let output = match &sig.output {
                syn::ReturnType::Default => None,
                syn::ReturnType::Type(_, ty) => match me.module.read_helper_type(ty)? {
                    None | Some(Written { reference: Some(_), .. }) => None,
                    Some(written) if matches!(&written.ty, Type::Tuple(items) if items.is_empty()) => None,
                    Some(written) => Some(written.ty),
                },
            };
            let val = me.body(block, output.clone())?;
            if let Some(output) = &output {
                me.expect_type(&val, output, span)?;
            }
            Ok(val)
        });
        self.scopes = scopes;
        self.moves.pop();
        self.names_stack.pop();
        self.module.leave();
        // What is wrong in a text that the compiler brings is wrong where it is used.
        let brought = label.split("::").next().is_some_and(library::is_known);
        result.map_err(|error| if brought { Error::new(span, error) } else { error })
    }
}

fn recursion(span: Span) -> Error {
    unsupported(span, "recursion", "write it as a loop, with a stack in a `vec![…; n]` if need be")
}
