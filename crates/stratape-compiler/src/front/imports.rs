//! `use` inside a function: a name stands for its whole path, since what is emitted stands elsewhere.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Result;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

use super::Lowerer;
use super::val::Val;

impl Lowerer<'_> {
    /// Binds the names of an import.
    pub(super) fn import(&mut self, item: &syn::ItemUse) -> Result<()> {
        let path = syn::Path { leading_colon: item.leading_colon, segments: Punctuated::new() };
        self.import_tree(&item.tree, &path)
    }

    fn import_tree(&mut self, tree: &syn::UseTree, before: &syn::Path) -> Result<()> {
        let with = |ident: &syn::Ident| {
            let mut path = before.clone();
            // `use a::{self}` names `a`.
            if ident != "self" || path.segments.is_empty() {
                path.segments.push(ident.clone().into());
            }
            path
        };
        let (name, path) = match tree {
            syn::UseTree::Path(tree) => return self.import_tree(&tree.tree, &with(&tree.ident)),
            syn::UseTree::Group(group) => {
                return group.items.iter().try_for_each(|tree| self.import_tree(tree, before));
            }
            syn::UseTree::Glob(_) => {
                self.globs.push(quote!(#before::*));
                return Ok(());
            }
            syn::UseTree::Name(name) => {
                let path = with(&name.ident);
                (path.segments.last().map(|segment| segment.ident.to_string()), path)
            }
            syn::UseTree::Rename(rename) => (Some(rename.rename.to_string()), with(&rename.ident)),
        };
        let item_span = path.span();
        let path = syn::ExprPath { attrs: Vec::new(), qself: None, path };
        match name {
            Some(name) => self.bind_name(&name, Val::Function(path), false, item_span),
            None => Ok(()),
        }
    }

    /// A path with its first name as it was imported in this function; `None` if it was not.
    pub(super) fn imported(&self, path: &syn::ExprPath) -> Option<syn::ExprPath> {
        let first = path.path.segments.first()?;
        let Val::Function(full) = &self.lookup(&first.ident.to_string())?.val else { return None };
        if full.path.segments.len() < 2 || path.path.leading_colon.is_some() {
            return None;
        }
        let mut full = full.clone();
        full.path.segments.extend(path.path.segments.iter().skip(1).cloned());
        Some(full)
    }

    /// The tokens of a constant that the compiler does not look into.
    pub(super) fn constant_tokens(&self, path: &syn::ExprPath) -> TokenStream {
        if self.globs.is_empty() || path.path.segments.len() > 1 {
            return path.to_token_stream();
        }
        let globs = &self.globs;
        quote!({ #(#[allow(unused_imports)] use #globs;)* #path })
    }
}
