//! `Self` in the text of an `impl`.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};

/// Writes the type's name for `Self`, so that the text means the same outside its `impl`.
pub(super) struct NamesSelf<'a> {
    pub(super) owner: &'a str,
}

impl NamesSelf<'_> {
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
