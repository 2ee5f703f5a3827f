//! Traits of the library that the module's types implement: `Index`, `Deref`, `From`, `Default`, `Iterator`.
//!
//! What a trait's method does is expanded where Rust would call it. A type may implement `Index` and `From` several times: the one
//! whose parameter the argument fits is taken.

use std::rc::Rc;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, Result};

use super::control::lv_of;
use super::generic::base_name;
use super::items::type_text;
use super::iter::Iter;
use super::val::{Kind, LValue, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Scalar, Type};

impl Lowerer<'_> {
    /// The module's own method for a type.
    pub(super) fn own_method(&self, owner: &str, method: &str) -> Option<Rc<syn::ImplItemFn>> {
        self.module.methods.get(&(owner.to_owned(), method.to_owned())).cloned()
    }

    /// Expands a method that was found.
    pub(super) fn expand_method(
        &mut self,
        owner: &str,
        function: &syn::ImplItemFn,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let label = format!("{owner}::{}", function.sig.ident);
        self.expand(&label, &function.sig, &function.block, args, span)
    }

    /// The implementation of `Index` or `From` whose parameter an argument fits.
    fn implementation(
        &self,
        owner: &str,
        method: &str,
        arg: &Val,
    ) -> Option<(String, Rc<syn::ImplItemFn>)> {
        let all = self.module.operators.get(&(owner.to_owned(), method.to_owned()))?;
        let typed = |function: &syn::ImplItemFn| {
            function.sig.inputs.iter().find_map(|input| match input {
                syn::FnArg::Typed(input) => Some(input.clone()),
                syn::FnArg::Receiver(_) => None,
            })
        };
        let fits = |function: &syn::ImplItemFn| match typed(function) {
            Some(input) => match self.module.read_type(&input.ty) {
                Ok(written) => self.could_be(arg, &written.ty),
                // Its parameters are not known yet.
                Err(_) => {
                    let name = type_text(&input.ty);
                    let generic = self.module.generic_structs.contains_key(&name);
                    !generic || self.owner_of(arg).is_some_and(|owner| owner == name)
                }
            },
            _ => true,
        };
        let found = all.iter().find(|one| fits(&one.function));
        found.map(|one| (format!("{owner}::{method}<{}>", one.right), one.function.clone()))
    }

    /// Whether a value may be of a type, as far as both are known.
    fn could_be(&self, val: &Val, ty: &Type) -> bool {
        match (val, ty) {
            (Val::Parts(Kind::Tuple, parts), Type::Tuple(types)) => {
                parts.len() == types.len()
                    && parts.iter().zip(types).all(|(part, ty)| self.could_be(part, ty))
            }
            _ => match self.type_of(val) {
                Some(found) => self.types_agree(&found, ty),
                None => true,
            },
        }
    }

    fn types_agree(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Scalar(a), Type::Scalar(b)) => match (self.infer.resolve(*a), *b) {
                (open @ Scalar::Infer(_), known) => match known {
                    Scalar::Float(_) => !self.infer.is_int(open),
                    Scalar::Int(_) => !self.infer.is_float(open),
                    _ => false,
                },
                (known, other) => known == other,
            },
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.types_agree(a, b))
            }
            (Type::Struct(a), Type::Struct(b)) => base_name(&a.name) == base_name(&b.name),
            (Type::Array(a, m), Type::Array(b, n)) => m == n && self.types_agree(a, b),
            (Type::Vec(a) | Type::Slice(a) | Type::Array(a, _), Type::Slice(b))
            | (Type::Vec(a), Type::Vec(b)) => self.types_agree(a, b),
            (a, b) => a == b,
        }
    }

    /// `base[index]` of a struct with `Index`; `None` for everything else.
    pub(super) fn indexed(
        &mut self,
        base: &Val,
        index: &syn::Expr,
        span: Span,
    ) -> Result<Option<Val>> {
        let Some(owner) = self.owner_of(base) else { return Ok(None) };
        let has =
            |method: &str| self.module.operators.contains_key(&(owner.clone(), method.to_owned()));
        if !has("index") {
            return match self.dereferenced(base, span)? {
                Some(inner) => self.index_into(inner, index, span).map(Some),
                None => Ok(None),
            };
        }
        let index = self.expr(index)?;
        let Some((label, function)) = self.implementation(&owner, "index", &index) else {
            return Ok(None);
        };
        if let Some((_, other)) = self.implementation(&owner, "index_mut", &index)
            && !same_but_for_mut(&function, &other)
        {
            return Err(differs(span, "index_mut", "index"));
        }
        let args = vec![Val::Ref(lv_of(base.clone())), index];
        let val = self.expand(&label, &function.sig, &function.block, args, span)?;
        Ok(Some(Val::Place(lv_of(val))))
    }

    /// What a struct with `Deref` stands for; `None` for everything else.
    pub(super) fn dereferenced(&mut self, val: &Val, span: Span) -> Result<Option<Val>> {
        let Some(owner) = self.owner_of(val) else { return Ok(None) };
        let Some(function) = self.own_method(&owner, "deref") else { return Ok(None) };
        if let Some(other) = self.own_method(&owner, "deref_mut")
            && !same_but_for_mut(&function, &other)
        {
            return Err(differs(span, "deref_mut", "deref"));
        }
        let args = vec![Val::Ref(lv_of(val.clone()))];
        self.expand_method(&owner, &function, args, span).map(Some)
    }

    /// `T::from(val)`, for types of the module and for what they become, and functions of other crates that differ by their first argument;
    /// `None` if there is no such.
    pub(super) fn converted(
        &mut self,
        owner: &str,
        method: &str,
        args: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some(first) = args.first() else { return Ok(None) };
        let Some((label, function)) = self.implementation(owner, method, first) else {
            return Ok(None);
        };
        self.expand(&label, &function.sig, &function.block, args.to_vec(), span).map(Some)
    }

    /// An iterator of the module's own, or what a collection of its own is iterated over by; `None` for everything else.
    pub(super) fn own_iterator(&mut self, val: &Val, span: Span) -> Result<Option<Iter>> {
        let Some(owner) = self.owner_of(val) else { return Ok(None) };
        if self.own_method(&owner, "next").is_some() {
            let state = match val {
                Val::Ref(lv) => lv.clone(),
                val => {
                    let val = self.rvalue(val.clone(), span)?;
                    lv_of(self.variable(val, span)?)
                }
            };
            return Ok(Some(Iter::Own(owner, state)));
        }
        let Some(function) = self.own_method(&owner, "into_iter") else { return Ok(None) };
        let inner = self.expand_method(&owner, &function, vec![val.clone()], span)?;
        self.iterator(inner, span).map(Some)
    }

    /// The iterator that a struct is, where a method is called that all iterators have. One behind a reference is only borrowed.
    pub(super) fn own_iterator_of(
        &mut self,
        val: &Val,
        method: &str,
        span: Span,
    ) -> Result<Option<Iter>> {
        let Some(owner) = self.owner_of(val) else { return Ok(None) };
        if self.own_method(&owner, "next").is_none() {
            return Ok(None);
        }
        let lent = matches!(val, Val::Ref(_)) || BY_REFERENCE.contains(&method);
        let val = if lent { Val::Ref(lv_of(val.clone())) } else { val.clone() };
        self.own_iterator(&val, span)
    }

    /// The next item of an iterator of the module's own, as an option.
    pub(super) fn own_next(&mut self, owner: &str, state: &LValue, span: Span) -> Result<Val> {
        let Some(function) = self.own_method(owner, "next") else {
            return Err(Error::new(span, format!("`{owner}` is no iterator")));
        };
        self.expand_method(owner, &function, vec![Val::Ref(state.clone())], span)
    }

    /// A struct without fields, by its name.
    pub(super) fn unit_struct(&self, name: &str) -> Option<Val> {
        let def = self.module.structs.get(&self.module.type_name(name))?;
        def.fields.is_empty().then(|| Val::Parts(Kind::Struct(def.clone()), Vec::new()))
    }
}

/// Methods of iterators that leave the rest of the items in place.
const BY_REFERENCE: [&str; 9] =
    ["by_ref", "nth", "find", "find_map", "position", "any", "all", "try_fold", "try_for_each"];

/// Whether two methods do the same, one of them by `&mut`.
fn same_but_for_mut(shared: &syn::ImplItemFn, exclusive: &syn::ImplItemFn) -> bool {
    let text = |function: &syn::ImplItemFn| {
        let (inputs, block) = (&function.sig.inputs, &function.block);
        let mut words = Vec::new();
        without_mut(quote::quote!(#inputs #block), &mut words);
        words
    };
    text(shared) == text(exclusive)
}

/// The words of a text, with `mut` left out of it and of names.
fn without_mut(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                words.push(format!("{:?}", group.delimiter()));
                without_mut(group.stream(), words);
                words.push("end".to_owned());
            }
            TokenTree::Ident(name) => {
                let name = name.to_string();
                if name != "mut" {
                    words.push(name.strip_suffix("_mut").unwrap_or(&name).to_owned());
                }
            }
            other => words.push(other.to_token_stream().to_string()),
        }
    }
}

fn differs(span: Span, exclusive: &str, shared: &str) -> Error {
    unsupported(
        span,
        &format!("an `{exclusive}` that differs from `{shared}`"),
        "write the same body in both, except for `mut`",
    )
}
