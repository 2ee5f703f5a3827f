//! Variables of a macro and of its caller that have one name: rustc tells them apart, a compiler of text cannot.

use std::collections::HashMap;

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Error, Item};

/// An error if a function that a macro wrote binds one name in the macro and in what it was handed.
pub(super) fn check(item: &Item) -> Option<Error> {
    let mut bound = Bound::default();
    bound.visit_item(item);
    bound.twice.map(|(name, span)| {
        let message = format!(
            "`#[gradient]` cannot tell two variables `{name}` apart, one of a macro and one of its caller: rename one of them"
        );
        Error::new(span, message)
    })
}

#[derive(Default)]
struct Bound {
    contexts: HashMap<String, String>,
    twice: Option<(String, Span)>,
}

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
        let span = pattern.ident.span();
        // rustc shows a span as `#7 bytes(3..5)`, whose first part is what it belongs to.
        let shown = format!("{span:?}");
        if let Some((context, _)) = shown.split_once(' ')
            && context.starts_with('#')
        {
            let name = pattern.ident.to_string();
            let known = self.contexts.entry(name.clone()).or_insert_with(|| context.to_owned());
            if known != context {
                self.twice.get_or_insert((name, span));
            }
        }
        visit::visit_pat_ident(self, pattern);
    }
}
