//! Functions that are compiled where they stand, into the two functions that recursion uses as well.
//!
//! Their answer is a signature and the way to name the halves, not their text. So go functions that call themselves, those whose text has become too
//! long to be repeated wherever they are called, and those that ask for it, `#[differentiable(halves)]`.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Path, Result};

use super::answer::{Halves, Set};
use crate::expand;
use crate::front::Items;

/// The number of tokens above which a function is called rather than repeated.
const LONGEST: usize = 4000;

/// How deep calls nest in a text that is repeated.
const DEEPEST: usize = 24;

/// Whether a text is to be called rather than repeated.
pub(super) fn is_large(answer: &Set) -> bool {
    answer.size() > LONGEST || answer.depth() > DEEPEST
}

/// The signature of a function in words that mean the same everywhere; an error where halves cannot have it.
pub(super) fn signature(id: &Ident, read: &syn::ItemFn, items: &Items) -> Result<TokenStream> {
    let refuse = |span| {
        Error::new(
            span,
            "a function that goes by halves takes numbers and slices of numbers, and returns a number or nothing: pass \
             the fields one by one, or let the function be read as text (no `halves`, no call of itself)",
        )
    };
    let mut inputs = Vec::new();
    for (at, input) in read.sig.inputs.iter().enumerate() {
        let syn::FnArg::Typed(typed) = input else { return Err(refuse(input.span())) };
        let ty = items.plain_type(&typed.ty).ok_or_else(|| refuse(typed.ty.span()))?;
        let name = format_ident!("a{at}");
        inputs.push(quote!(#name: #ty));
    }
    let output = match &read.sig.output {
        syn::ReturnType::Default => None,
        syn::ReturnType::Type(_, ty) => {
            let plain = items.plain_type(ty).filter(|_| !matches!(**ty, syn::Type::Reference(_)));
            let ty = plain.ok_or_else(|| refuse(ty.span()))?;
            Some(quote!(-> #ty))
        }
    };
    Ok(quote!(fn #id(#(#inputs),*) #output;))
}

/// Tells the compiler of the functions that a text calls by halves.
pub(super) fn note(items: &mut Items, set: &Set, paths: &[&Path]) -> Result<()> {
    for Halves { id, number, after, signature } in &set.halves {
        let Some(path) = paths.get(*number) else { continue };
        let signature: syn::TraitItemFn = syn::parse2(signature.clone())?;
        items.add_halves(id, signature.sig, quote!(#path #after));
    }
    Ok(())
}

/// The halves of a function, which stand beside it, and the functions that call themselves they need.
pub(super) fn compile(
    id: &Ident,
    written: &syn::ItemFn,
    read: &syn::ItemFn,
    items: &Items,
) -> Result<(TokenStream, BTreeSet<String>)> {
    let mut emitted = written.clone();
    emitted.sig.ident = Ident::new(&id.to_string(), written.sig.ident.span());
    // The module of the function's name shows them to whoever sees the function.
    emitted.vis = syn::parse_quote!(pub);
    emitted.attrs.clear();
    expand::one_by_halves((&emitted, read), items, false)
}

/// The module that shows the halves of a function to texts of its own module, which whoever reads them calls.
pub(super) fn hidden(id: &Ident) -> Ident {
    format_ident!("__stratape_halves_{}", id, span = Span::call_site())
}

/// What the module of a function's name shows of its halves.
pub(super) fn shown(id: &Ident) -> TokenStream {
    let name =
        |half: &str| Ident::new(&crate::front::half_name(&id.to_string(), half), Span::call_site());
    let (forward, backward) = (name("forward"), name("backward"));
    quote!(pub use super::{#forward as forward, #backward as backward};)
}

/// For a text that calls functions by halves: what stands beside it and what the module of its name shows, so that whoever reads the text can
/// call them as well, and how its answer says so.
pub(super) fn passed_on(
    id: &Ident,
    set: &Set,
    paths: &[&Path],
) -> (TokenStream, TokenStream, Vec<Halves>) {
    let (mut beside, mut inside, mut all) = (TokenStream::new(), TokenStream::new(), Vec::new());
    for halves in &set.halves {
        let Some(path) = paths.get(halves.number) else { continue };
        let (after, theirs) =
            (&halves.after, Ident::new(&halves.id.to_string(), Span::call_site()));
        let alias = format_ident!("__stratape_{}_{}", id, theirs, span = Span::call_site());
        let lints =
            quote!(#[doc(hidden)] #[allow(unused_imports, unreachable_pub, non_snake_case)]);
        beside.extend(quote!(#lints pub use #path #after as #alias;));
        inside.extend(quote!(pub use super::#alias as #theirs;));
        let after = quote!(::#theirs);
        all.push(Halves { number: 0, after: after.into_token_stream(), ..halves.clone() });
    }
    (beside, inside, all)
}
