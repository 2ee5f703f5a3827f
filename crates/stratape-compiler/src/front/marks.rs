//! Attributes on loops. They are ours alone: the function that is emitted beside its gradient goes without.

use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Result};

/// The attributes that mean something on a loop.
pub(crate) const LOOP_MARKS: [&str; 2] = ["checkpoint", "parallel"];

/// Whether an attribute is one of ours.
pub(crate) fn is_marked(attribute: &Attribute, names: &[&str]) -> bool {
    let path = attribute.path();
    let ours = path.segments.len() == 1
        || path.segments.first().is_some_and(|first| first.ident == "stratape");
    ours && path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// Where a loop is marked as parallel.
pub(super) fn parallel(attributes: &[Attribute]) -> Result<Option<Span>> {
    let mut marks = attributes.iter().filter(|attribute| is_marked(attribute, &["parallel"]));
    let Some(mark) = marks.next() else { return Ok(None) };
    if let Some(again) = marks.next() {
        return Err(Error::new(again.path().span(), "`parallel` is given twice"));
    }
    match &mark.meta {
        syn::Meta::Path(path) => Ok(path.segments.last().map(|last| last.ident.span())),
        meta => Err(Error::new(meta.span(), "`#[parallel]` takes no arguments")),
    }
}

/// A loop without a range cannot be divided.
pub(super) fn only_on_for(attributes: &[Attribute]) -> Result<()> {
    match parallel(attributes)? {
        Some(span) => Err(Error::new(
            span,
            "`#[parallel]` goes on a `for` loop: the number of iterations of this one is not known in advance",
        )),
        None => Ok(()),
    }
}

struct Strip {
    found: bool,
    /// Whether a mark had settings, which may be all that a variable is used for.
    settings: bool,
}

impl Strip {
    fn strip(&mut self, attributes: &mut Vec<Attribute>) {
        let before = attributes.len();
        self.settings |= attributes.iter().any(|attribute| {
            is_marked(attribute, &LOOP_MARKS) && !matches!(attribute.meta, syn::Meta::Path(_))
        });
        attributes.retain(|attribute| !is_marked(attribute, &LOOP_MARKS));
        self.found |= attributes.len() < before;
    }
}

impl VisitMut<'_> for Strip {
    fn visit_item_fn_mut(&mut self, function: &mut syn::ItemFn) {
        visit_mut::visit_item_fn_mut(self, function);
        if std::mem::take(&mut self.settings) {
            function.attrs.push(syn::parse_quote!(#[allow(unused_variables)]));
        }
    }

    fn visit_expr_for_loop_mut(&mut self, node: &mut syn::ExprForLoop) {
        self.strip(&mut node.attrs);
        visit_mut::visit_expr_for_loop_mut(self, node);
    }

    fn visit_expr_while_mut(&mut self, node: &mut syn::ExprWhile) {
        self.strip(&mut node.attrs);
        visit_mut::visit_expr_while_mut(self, node);
    }

    fn visit_expr_loop_mut(&mut self, node: &mut syn::ExprLoop) {
        self.strip(&mut node.attrs);
        visit_mut::visit_expr_loop_mut(self, node);
    }
}

/// Takes the marks off the loops inside an item. False if there were none.
pub(crate) fn strip_marks(item: &mut syn::Item) -> bool {
    let mut strip = Strip { found: false, settings: false };
    strip.visit_item_mut(item);
    strip.found
}
