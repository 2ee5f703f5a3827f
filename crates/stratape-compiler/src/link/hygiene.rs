//! Names that rustc may understand otherwise than a compiler of text: variables of a macro and of its caller, names of the language that a file
//! gives away, and patterns that are constants.

use std::collections::{BTreeMap, HashMap};

use crate::walk::visit::{self, Visit};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Error, Item};

use super::Host;
use crate::front::words_of;

/// An error if a function that a macro wrote binds one name in the macro and in what it was handed, or if a name of the language means something
/// else in the file.
pub(super) fn check(item: &Item, host: &Host<'_>) -> Option<Error> {
    let mut bound = Bound::default();
    bound.visit_item(item);
    if let Some((name, span)) = bound.twice {
        let message = format!(
            "`#[gradient]` cannot tell two variables `{name}` apart, one of a macro and one of its caller: rename one of them"
        );
        return Some(Error::new(span, message));
    }
    let hidden = (host.hidden)();
    let words = if hidden.is_empty() { Vec::new() } else { words_of(item.to_token_stream()) };
    words.into_iter().find(|(word, _)| hidden.contains(word)).map(|(word, span)| {
        let message = format!(
            "`#[gradient]` takes `{word}` to be that of the library, but this file defines its own: rename it"
        );
        Error::new(span, message)
    })
}

/// What makes rustc complain if a name that a pattern seems to bind is that of a constant or a variant, which it would compare with.
pub(super) fn patterns(item: &Item) -> Option<TokenStream> {
    let Item::Fn(function) = item else { return None };
    let mut found = Patterns::default();
    found.visit_block(&function.block);
    let (names, own) = (found.names.values(), &function.sig.ident);
    let check = format_ident!("__stratape_names_in_{}", own, span = Span::call_site());
    (!found.names.is_empty()).then(|| {
        quote!(
            #[doc(hidden)]
            #[allow(warnings, unused, nonstandard_style, clippy::all, clippy::pedantic, clippy::nursery)]
            fn #check(#(#names: ()),*) {}
        )
    })
}

/// The names that patterns bind which need not fit.
#[derive(Default)]
struct Patterns {
    names: BTreeMap<String, Ident>,
    inside: bool,
}

impl Patterns {
    fn may_fail(&mut self, pattern: &syn::Pat) {
        let inside = std::mem::replace(&mut self.inside, true);
        self.visit_pat(pattern);
        self.inside = inside;
    }
}

impl Visit<'_> for Patterns {
    fn visit_arm(&mut self, arm: &syn::Arm) {
        self.may_fail(&arm.pat);
        self.visit_expr(&arm.body);
    }

    fn visit_expr_let(&mut self, node: &syn::ExprLet) {
        self.may_fail(&node.pat);
        self.visit_expr(&node.expr);
    }

    fn visit_local(&mut self, local: &syn::Local) {
        match &local.init {
            Some(init) if init.diverge.is_some() => self.may_fail(&local.pat),
            _ => {}
        }
        visit::visit_local(self, local);
    }

    fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
        let plain = pattern.by_ref.is_none() && pattern.mutability.is_none();
        let name = pattern.ident.to_string();
        // One with a capital is asked for.
        if self.inside && plain && pattern.subpat.is_none() && !name.starts_with(char::is_uppercase)
        {
            self.names.entry(name).or_insert_with(|| pattern.ident.clone());
        }
        visit::visit_pat_ident(self, pattern);
    }

    // Its own functions may have their own constants.
    fn visit_item(&mut self, _: &Item) {}
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
