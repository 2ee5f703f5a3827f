//! `Self` in the text of an `impl`, and type parameters that an attribute gives a type.

use std::collections::HashMap;

use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// Writes the type's name for `Self`, so that the text means the same outside its `impl`.
pub(super) struct NamesSelf<'a> {
    owner: &'a str,
    /// The arguments of the type, where it has some.
    arguments: Option<syn::AngleBracketedGenericArguments>,
    /// What `Self::Output` and its like are.
    types: HashMap<String, syn::Type>,
}

impl<'a> NamesSelf<'a> {
    pub(super) fn new(owner: &'a str, block: &syn::ItemImpl) -> Self {
        let types = block.items.iter().filter_map(|item| match item {
            syn::ImplItem::Type(alias) => Some((alias.ident.to_string(), alias.ty.clone())),
            _ => None,
        });
        let arguments = match &*block.self_ty {
            syn::Type::Path(path) => match path.path.segments.last() {
                Some(syn::PathSegment {
                    arguments: syn::PathArguments::AngleBracketed(written),
                    ..
                }) => Some(syn::AngleBracketedGenericArguments {
                    colon2_token: Some(Default::default()),
                    ..written.clone()
                }),
                _ => None,
            },
            _ => None,
        };
        Self { owner, arguments, types: types.collect() }
    }

    fn rename(&self, ident: &mut Ident) {
        if let ("Self", Ok(owner)) =
            (ident.to_string().as_str(), syn::parse_str::<Ident>(self.owner))
        {
            let span = ident.span();
            *ident = owner;
            ident.set_span(span);
        }
    }

    /// Writes the arguments of the type after a `Self` that something is made with.
    fn with_arguments(&self, path: &mut syn::Path) {
        if let (Some(first), Some(arguments)) = (path.segments.first_mut(), &self.arguments)
            && first.ident == "Self"
        {
            first.arguments = syn::PathArguments::AngleBracketed(arguments.clone());
        }
    }

    fn rename_in(&self, tokens: TokenStream) -> TokenStream {
        let rename = |token| match token {
            TokenTree::Ident(mut ident) => {
                self.rename(&mut ident);
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) => {
                let mut renamed = Group::new(group.delimiter(), self.rename_in(group.stream()));
                renamed.set_span(group.span());
                TokenTree::Group(renamed)
            }
            other => other,
        };
        tokens.into_iter().map(rename).collect()
    }
}

impl VisitMut<'_> for NamesSelf<'_> {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let syn::Type::Path(path) = ty
            && path.path.segments.len() == 2
            && path.path.segments[0].ident == "Self"
            && let Some(known) = self.types.get(&path.path.segments[1].ident.to_string())
        {
            *ty = known.clone();
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.segments.len() > 1 {
            self.with_arguments(path);
        }
        if let Some(first) = path.segments.first_mut() {
            self.rename(&mut first.ident);
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_expr_struct_mut(&mut self, literal: &mut syn::ExprStruct) {
        self.with_arguments(&mut literal.path);
        visit_mut::visit_expr_struct_mut(self, literal);
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        if let syn::Expr::Path(path) = &mut *call.func {
            self.with_arguments(&mut path.path);
        }
        visit_mut::visit_expr_call_mut(self, call);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.rename_in(std::mem::take(&mut mac.tokens));
    }
}

/// Writes a type for a type parameter of a function, which then is none any more.
pub(crate) fn replace_type(item: &mut syn::ItemFn, name: &Ident, ty: &syn::Type) {
    struct Replace<'a>(&'a Ident, &'a syn::Type);

    impl VisitMut<'_> for Replace<'_> {
        fn visit_type_mut(&mut self, ty: &mut syn::Type) {
            if matches!(ty, syn::Type::Path(path) if path.path.is_ident(self.0)) {
                *ty = self.1.clone();
                return;
            }
            visit_mut::visit_type_mut(self, ty);
        }

        fn visit_path_mut(&mut self, path: &mut syn::Path) {
            // `T::MAX`, `T::sqrt(x)`
            if path.segments.len() > 1
                && path.segments[0].ident == *self.0
                && let syn::Type::Path(known) = self.1
                && let Some(last) = known.path.segments.last()
            {
                path.segments[0] = last.clone();
            }
            visit_mut::visit_path_mut(self, path);
        }
    }

    let generics = &mut item.sig.generics;
    let others = std::mem::take(&mut generics.params).into_iter();
    generics.params = others
        .filter(|param| !matches!(param, syn::GenericParam::Type(param) if param.ident == *name))
        .collect();
    generics.where_clause = None;
    if generics.params.is_empty() {
        (generics.lt_token, generics.gt_token) = (None, None);
    }
    Replace(name, ty).visit_item_fn_mut(item);
}
