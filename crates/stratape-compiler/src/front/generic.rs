//! Generic functions and structs: read anew for each use, in which their parameters stand for what the arguments are.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::walk::visit::{self, Visit};
use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::Span;
use quote::ToTokens;
use syn::Result;

use super::Lowerer;
use super::infer::Class;
use super::items::Items;
use super::val::{Kind, LValue, Val};
use stratape_ir::{Extent, Op, Scalar, Struct, Type};

/// What parameters stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    /// Those that are declared.
    declared: Vec<String>,
    /// Those of them that are constants.
    declared_constants: Vec<String>,
    types: HashMap<String, Type>,
    constants: HashMap<String, Extent>,
}

impl Params {
    /// Those that generics declare, not known yet.
    pub(super) fn of(generics: &syn::Generics) -> Self {
        let mut params = Self::default();
        params.declare(generics);
        params
    }

    fn declare(&mut self, generics: &syn::Generics) {
        let names = generics.params.iter().filter_map(|param| match param {
            syn::GenericParam::Type(param) => Some(param.ident.to_string()),
            syn::GenericParam::Const(param) => Some(param.ident.to_string()),
            syn::GenericParam::Lifetime(_) => None,
        });
        self.declared.extend(names);
        let constants = generics.const_params().map(|param| param.ident.to_string());
        self.declared_constants.extend(constants);
    }

    /// A constant parameter that nothing is known of.
    pub(super) fn unknown_constant(&self) -> Option<&String> {
        let known =
            |name: &String| self.types.contains_key(name) || self.constants.contains_key(name);
        self.declared_constants.iter().find(|name| !known(name))
    }

    fn is_declared(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| declared == name)
    }

    fn bind(&mut self, name: &str, what: &Meaning) {
        if !self.is_declared(name) {
            return;
        }
        match what {
            Meaning::Type(ty) => {
                self.types.entry(name.to_owned()).or_insert_with(|| ty.clone());
            }
            Meaning::Extent(extent) => {
                self.constants.entry(name.to_owned()).or_insert_with(|| extent.clone());
            }
        }
    }

    /// Learns from a type as it is written, and as it is.
    fn learn(&mut self, items: &Items, written: &syn::Type, ty: &Type) {
        match (written, ty) {
            (syn::Type::Paren(inner), ty) => self.learn(items, &inner.elem, ty),
            (syn::Type::Group(inner), ty) => self.learn(items, &inner.elem, ty),
            (syn::Type::Reference(inner), ty) => self.learn(items, &inner.elem, ty),
            (syn::Type::Slice(slice), ty) => {
                if let Some(item) = ty.element() {
                    self.learn(items, &slice.elem, item);
                }
            }
            (syn::Type::Array(array), Type::Array(item, extent)) => {
                self.learn(items, &array.elem, item);
                if let syn::Expr::Path(path) = &array.len
                    && let Some(name) = path.path.get_ident()
                {
                    self.bind(&name.to_string(), &Meaning::Extent(extent.clone()));
                }
            }
            (syn::Type::Tuple(tuple), Type::Tuple(known)) => {
                for (written, item) in tuple.elems.iter().zip(known) {
                    self.learn(items, written, item);
                }
            }
            (syn::Type::Path(path), ty) => {
                let Some(segment) = path.path.segments.last() else { return };
                let name = segment.ident.to_string();
                if path.path.segments.len() == 1 && self.is_declared(&name) {
                    return self.bind(&name, &Meaning::Type(ty.clone()));
                }
                match ty {
                    Type::Vec(item) => {
                        if let Some(syn::GenericArgument::Type(written)) =
                            arguments(segment).first()
                        {
                            self.learn(items, written, item);
                        }
                    }
                    Type::Struct(def) => {
                        for (written, meaning) in
                            arguments(segment).iter().zip(items.arguments(def))
                        {
                            if let Some(meaning) = meaning {
                                self.learn_argument(items, written, &meaning);
                            }
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn learn_argument(&mut self, items: &Items, written: &syn::GenericArgument, meaning: &Meaning) {
        match (written, meaning) {
            (syn::GenericArgument::Type(written), Meaning::Type(ty)) => {
                self.learn(items, written, ty);
            }
            // A constant parameter looks like a type.
            (syn::GenericArgument::Type(written), Meaning::Extent(_)) => {
                self.bind(&written.to_token_stream().to_string(), meaning);
            }
            _ => {}
        }
    }
}

/// What a parameter stands for.
enum Meaning {
    Type(Type),
    Extent(Extent),
}

/// The generic arguments of a segment, lifetimes left out.
pub(super) fn arguments(segment: &syn::PathSegment) -> Vec<syn::GenericArgument> {
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => args
            .args
            .iter()
            .filter(|arg| !matches!(arg, syn::GenericArgument::Lifetime(_)))
            .cloned()
            .collect(),
        _ => Vec::new(),
    }
}

/// A struct's name without its arguments.
pub(super) fn base_name(name: &str) -> &str {
    name.split("::<").next().unwrap_or(name)
}

/// Writes arguments for the parameters of an alias.
struct Given(HashMap<String, Option<syn::GenericArgument>>);

impl VisitMut<'_> for Given {
    fn visit_generic_argument_mut(&mut self, argument: &mut syn::GenericArgument) {
        if let syn::GenericArgument::Type(syn::Type::Path(path)) = argument
            && let Some(name) = path.path.get_ident()
            && let Some(meant) = self.0.get(&name.to_string())
        {
            *argument = meant.clone().unwrap_or_else(|| syn::parse_quote!(_));
            return;
        }
        visit_mut::visit_generic_argument_mut(self, argument);
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let syn::Type::Path(path) = ty
            && let Some(name) = path.path.get_ident()
            && let Some(meant) = self.0.get(&name.to_string())
        {
            *ty = match meant {
                Some(syn::GenericArgument::Type(meant)) => meant.clone(),
                _ => syn::parse_quote!(_),
            };
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if let syn::Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident()
            && let Some(Some(meant)) = self.0.get(&name.to_string())
            && let Ok(meant) = syn::parse2(meant.to_token_stream())
        {
            *expr = meant;
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

impl Items {
    /// What the parameters of a struct stand for in an instance, in order.
    fn arguments(&self, def: &Struct) -> Vec<Option<Meaning>> {
        let Some(params) = self.params_of(def) else { return Vec::new() };
        let known = |name: &String| match (params.types.get(name), params.constants.get(name)) {
            (Some(ty), _) => Some(Meaning::Type(ty.clone())),
            (_, Some(extent)) => Some(Meaning::Extent(extent.clone())),
            _ => None,
        };
        params.declared.iter().map(known).collect()
    }

    /// What the parameters of a generic struct stand for in an instance; they show in its fields.
    fn params_of(&self, def: &Struct) -> Option<Params> {
        let declared = self.generic_structs.get(base_name(&def.name))?;
        let mut params = Params::of(&declared.generics);
        for (field, (_, ty)) in declared.fields.iter().zip(&def.fields) {
            params.learn(self, &field.ty, ty);
        }
        // Those that no field shows are part of the name.
        let path = syn::parse_str::<syn::Path>(&def.name).ok();
        let named = path.as_ref().and_then(|path| path.segments.last()).map(arguments);
        let visible = Visible::new(self);
        for (name, argument) in params.declared.clone().iter().zip(named.unwrap_or_default()) {
            if let Ok(Some(meaning)) = visible.meaning(&argument) {
                params.bind(name, &meaning);
            }
        }
        Some(params)
    }
}

/// What is seen of a module from inside a function: its items, and what type parameters stand for there.
#[derive(Debug)]
pub(super) struct Visible<'m> {
    items: &'m Items,
    params: Vec<Params>,
}

impl Deref for Visible<'_> {
    type Target = Items;

    fn deref(&self) -> &Items {
        self.items
    }
}

impl<'m> Visible<'m> {
    pub(super) fn new(items: &'m Items) -> Self {
        Self { items, params: vec![Params::default()] }
    }

    /// The items, for as long as they live.
    pub(super) fn items(&self) -> &'m Items {
        self.items
    }

    pub(super) fn enter(&mut self, params: Params) {
        self.params.push(params);
    }

    pub(super) fn leave(&mut self) {
        self.params.pop();
    }

    /// The type that a parameter stands for.
    pub(super) fn type_param(&self, name: &str) -> Option<&Type> {
        self.params.last()?.types.get(name)
    }

    /// The length that a parameter stands for.
    pub(super) fn constant_param(&self, name: &str) -> Option<&Extent> {
        self.params.last()?.constants.get(name)
    }

    /// Whether the function that is being lowered has parameters.
    pub(super) fn is_generic(&self) -> bool {
        self.params.last().is_some_and(|params| !params.declared.is_empty())
    }

    /// Whether a name is a parameter, known or not.
    pub(super) fn is_param(&self, name: &str) -> bool {
        self.params.last().is_some_and(|params| params.is_declared(name))
    }

    /// A generic struct with what its parameters stand for.
    pub(super) fn instance(&self, name: &str, params: Params) -> Result<Option<Arc<Struct>>> {
        let Some(declared) = self.generic_structs.get(name) else { return Ok(None) };
        if params.types.len() + params.constants.len() < params.declared.len() {
            return Ok(None);
        }
        let arguments = params.declared.iter().map(|name| {
            match (params.types.get(name), params.constants.get(name)) {
                (Some(ty), _) => ty.to_string(),
                (_, Some(Extent::Known(n))) => n.to_string(),
                (_, Some(Extent::Const(text))) => format!("{{ {text} }}"),
                _ => "_".to_owned(),
            }
        });
        let arguments: Vec<String> = arguments.collect();
        let inside = Visible { items: self.items, params: vec![params] };
        let mut def = inside.read_struct(declared)?;
        if !arguments.is_empty() {
            def.name = format!("{name}::<{}>", arguments.join(", "));
        }
        Ok(Some(Arc::new(def)))
    }

    /// A generic struct as a type with arguments names it; `None` if they are missing.
    pub(super) fn named_instance(&self, segment: &syn::PathSegment) -> Result<Option<Arc<Struct>>> {
        let name = segment.ident.to_string();
        let Some(declared) = self.generic_structs.get(&name) else { return Ok(None) };
        let mut params = Params::of(&declared.generics);
        let declared = params.declared.clone();
        for (name, argument) in declared.iter().zip(arguments(segment)) {
            if let Some(meaning) = self.meaning(&argument)? {
                params.bind(name, &meaning);
            }
        }
        self.instance(&name, params)
    }

    /// What an alias stands for, with its arguments in place of its parameters; `_` for those that are missing.
    pub(super) fn aliased(&self, segment: &syn::PathSegment) -> Option<syn::Type> {
        let alias = self.aliases.get(&segment.ident.to_string())?;
        let params = alias.generics.params.iter().filter_map(|param| match param {
            syn::GenericParam::Type(param) => Some(&param.ident),
            syn::GenericParam::Const(param) => Some(&param.ident),
            syn::GenericParam::Lifetime(_) => None,
        });
        let mut given = arguments(segment).into_iter();
        let meant = params.map(|param| (param.to_string(), given.next())).collect();
        let mut ty = (*alias.ty).clone();
        Given(meant).visit_type_mut(&mut ty);
        Some(ty)
    }

    /// A type before a method, as the `impl` of another type spells it: aliases are followed.
    fn spelled(&self, owner: &syn::PathSegment, of: &syn::Ident) -> syn::PathSegment {
        let mut owner = owner.clone();
        while owner.ident != *of {
            match self.aliased(&owner) {
                Some(syn::Type::Path(path)) if self.follow(&owner.ident.to_string()).is_some() => {
                    let Some(last) = path.path.segments.last() else { break };
                    owner = last.clone();
                }
                _ => break,
            }
        }
        owner
    }

    /// Whether a type holds a parameter that does not show in the arguments, as that of a closure.
    pub(super) fn holds_unknown(&self, ty: &syn::Type) -> bool {
        struct Unknown<'a, 'm>(&'a Visible<'m>, bool);
        impl Visit<'_> for Unknown<'_, '_> {
            fn visit_path(&mut self, path: &syn::Path) {
                self.1 |= path.get_ident().is_some_and(|name| {
                    let name = name.to_string();
                    self.0.is_param(&name)
                        && self.0.type_param(&name).is_none()
                        && self.0.constant_param(&name).is_none()
                });
                visit::visit_path(self, path);
            }
        }
        let mut unknown = Unknown(self, false);
        unknown.visit_type(ty);
        unknown.1
    }

    /// What a generic argument means here.
    fn meaning(&self, argument: &syn::GenericArgument) -> Result<Option<Meaning>> {
        Ok(match argument {
            syn::GenericArgument::Type(syn::Type::Infer(_)) => None,
            syn::GenericArgument::Type(syn::Type::Path(path))
                if path.path.get_ident().is_some_and(|name| {
                    self.constant_param(&name.to_string()).is_some()
                        || self.constants.contains_key(&name.to_string())
                }) =>
            {
                let len: syn::Expr = syn::parse2(path.to_token_stream())?;
                Some(Meaning::Extent(self.extent(&len)))
            }
            syn::GenericArgument::Type(ty) if self.holds_unknown(ty) => None,
            syn::GenericArgument::Type(ty) => Some(Meaning::Type(self.read_type(ty)?.ty)),
            syn::GenericArgument::Const(len) => Some(Meaning::Extent(self.extent(len))),
            _ => None,
        })
    }
}

impl Lowerer<'_> {
    /// What the parameters of a function stand for where it is called: as its arguments have it, or as they are written.
    pub(super) fn params_of_call(
        &self,
        outer: Option<&(syn::Generics, syn::Type)>,
        sig: &syn::Signature,
        (owner, written): (Option<&syn::PathSegment>, Option<&syn::PathSegment>),
        args: &[Val],
    ) -> Result<Params> {
        let mut params = Params::of(&sig.generics);
        let own = params.declared.clone();
        if let Some((generics, _)) = outer {
            params.declare(generics);
        }
        for (name, argument) in own.iter().zip(written.map(arguments).unwrap_or_default()) {
            if let Some(meaning) = self.module.meaning(&argument)? {
                params.bind(name, &meaning);
            }
        }
        if let (Some((_, syn::Type::Path(of))), Some(owner)) = (outer, owner)
            && let Some(last) = of.path.segments.last()
        {
            let owner = self.module.spelled(owner, &last.ident);
            for (declared, given) in arguments(last).iter().zip(arguments(&owner)) {
                if let Some(meaning) = self.module.meaning(&given)? {
                    params.learn_argument(self.module.items(), declared, &meaning);
                }
            }
        }
        for (input, arg) in sig.inputs.iter().zip(args) {
            let Some(ty) = self.type_of(arg) else { continue };
            match (input, outer) {
                (syn::FnArg::Typed(input), _) => {
                    params.learn(self.module.items(), &input.ty, &ty);
                }
                (syn::FnArg::Receiver(_), Some((_, of))) => {
                    params.learn(self.module.items(), of, &ty);
                }
                (syn::FnArg::Receiver(_), None) => {}
            }
        }
        Ok(params)
    }

    /// The constant parameters of the function that is being lowered, as names.
    pub(super) fn constant_params(&mut self, span: Span) -> Vec<(String, Val)> {
        let known = self.module.params.last().map(|params| params.constants.clone());
        let known = known.unwrap_or_default().into_iter();
        let value = |(name, extent): (String, Extent)| {
            let value = match extent {
                Extent::Known(n) => self.b.usize(n, span),
                Extent::Const(tokens) => self.b.emit(Op::Const(tokens), Scalar::USIZE, span),
            };
            (name, Val::Scalar(value))
        };
        known.map(value).collect()
    }

    /// A generic struct, made of fields.
    pub(super) fn instance_of(
        &self,
        name: &str,
        fields: &[(usize, &Val)],
    ) -> Result<Option<Arc<Struct>>> {
        let Some(declared) = self.module.generic_structs.get(name) else { return Ok(None) };
        let mut params = Params::of(&declared.generics);
        for (at, val) in fields {
            if let (Some(field), Some(ty)) = (declared.fields.iter().nth(*at), self.type_of(val)) {
                params.learn(self.module.items(), &field.ty, &ty);
            }
        }
        self.module.instance(name, params)
    }

    /// The type of what a value is or refers to, as far as it has one.
    pub(super) fn type_of(&self, val: &Val) -> Option<Type> {
        match val {
            Val::Scalar(value) => Some(match self.enums.get(value) {
                Some(name) => Type::Enum(name.clone()),
                None => Type::Scalar(self.ty(*value)),
            }),
            Val::Parts(Kind::Struct(def), _) => Some(Type::Struct(def.clone())),
            Val::Parts(Kind::Choice(choice), parts) => {
                let declared = choice.variants.iter().flat_map(|variant| variant.types.clone());
                let declared: Vec<Type> = declared.collect();
                if declared.is_empty() {
                    let fields = parts.iter().skip(1).map(|part| self.type_of(part));
                    return fields.collect::<Option<_>>().map(|fields| choice.typed(fields));
                }
                Some(choice.typed(declared))
            }
            Val::Parts(Kind::Tuple, parts) => {
                parts.iter().map(|part| self.type_of(part)).collect::<Option<_>>().map(Type::Tuple)
            }
            Val::Place(lv) | Val::Ref(lv) => self.type_of_place(lv),
            // A struct that holds a function holds nothing at run time.
            Val::Closure(_) | Val::Function(_) => Some(Type::Tuple(Vec::new())),
            _ => None,
        }
    }

    /// The type of a value in memory: what an absent variant holds is taken for a number.
    pub(super) fn type_in_memory(&mut self, val: &Val) -> Option<Type> {
        match val {
            Val::Parts(Kind::Choice(choice), parts)
                if choice.variants.iter().all(|variant| variant.types.is_empty()) =>
            {
                let mut fields = Vec::new();
                for part in parts.iter().skip(1) {
                    fields.push(match part {
                        Val::Never => Type::Scalar(self.fresh(Class::Any)),
                        part => self.type_in_memory(part)?,
                    });
                }
                Some(choice.typed(fields))
            }
            Val::Parts(Kind::Tuple, parts) => {
                let parts = parts.iter().map(|part| self.type_in_memory(part));
                parts.collect::<Option<_>>().map(Type::Tuple)
            }
            val if self.is_written_as_vec(val) => {
                self.type_of(val)?.element().cloned().map(|item| Type::Vec(Box::new(item)))
            }
            val => self.type_of(val),
        }
    }

    fn type_of_place(&self, lv: &LValue) -> Option<Type> {
        match lv {
            LValue::Var(var) => self.type_of(&Val::Scalar(self.get(*var))),
            LValue::Memory(memory) => Some(memory.ty.clone()),
            LValue::Parts(Kind::Struct(def), _) => Some(Type::Struct(def.clone())),
            LValue::Parts(Kind::Tuple, parts) => {
                let parts = parts.iter().map(|part| self.type_of_place(part));
                parts.collect::<Option<_>>().map(Type::Tuple)
            }
            LValue::Value(val) => self.type_of(val),
            LValue::Parts(kind @ Kind::Choice(_), parts) => {
                let parts = parts.iter().map(|part| Val::Place(part.clone())).collect();
                self.type_of(&Val::Parts(kind.clone(), parts))
            }
            LValue::Either(_, a, _) => self.type_of_place(a),
            LValue::Later(_) | LValue::Pointer(_) => None,
        }
    }
}
