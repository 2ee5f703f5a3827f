//! `Self` in the text of an `impl`.

use std::collections::HashMap;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};

/// Writes the type's name for `Self`, so that the text means the same outside its `impl`.
pub(super) struct NamesSelf<'a> {
    owner: &'a str,
    /// What `Self::Output` and its like are.
    types: HashMap<String, syn::Type>,
}

impl<'a> NamesSelf<'a> {
    pub(super) fn new(owner: &'a str, block: &syn::ItemImpl) -> Self {
        let types = block.items.iter().filter_map(|item| match item {
            syn::ImplItem::Type(alias) => Some((alias.ident.to_string(), alias.ty.clone())),
            _ => None,
        });
        Self { owner, types: types.collect() }
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

impl VisitMut for NamesSelf<'_> {
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
        if let Some(first) = path.segments.first_mut() {
            self.rename(&mut first.ident);
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.rename_in(std::mem::take(&mut mac.tokens));
    }
}
