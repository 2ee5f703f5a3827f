//! The answers of functions under `#[gradient]` alone: their text, if it can be read elsewhere as it is.
//!
//! Nobody may ever ask for it, so that nothing is asked for its sake, and what cannot be answered is an error of whoever asks.

use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Item, Path, Result};

use super::answer::{Set, garbled};
use super::{Host, Purpose, Questions, Way, export, finish, group, head};
use crate::front::is_marked;
use crate::library::Adopted;

/// An argument of `#[gradient]` that says that the function answers already.
const ANSWERED: &str = "__answered";

/// The attribute without the mark, and whether it had one.
pub(super) fn without_mark(attribute: TokenStream) -> (TokenStream, bool) {
    let mut tokens = attribute.clone().into_iter();
    match tokens.next() {
        Some(TokenTree::Ident(first)) if first == ANSWERED => (tokens.skip(1).collect(), true),
        _ => (attribute, false),
    }
}

/// A function whose `#[gradient]` has the mark.
pub(super) fn with_mark(item: &Item) -> TokenStream {
    let mut item = item.clone();
    let mark = Ident::new(ANSWERED, proc_macro2::Span::call_site());
    if let Item::Fn(function) = &mut item {
        for attribute in &mut function.attrs {
            if is_marked(attribute, &["gradient"]) {
                let path = attribute.path().clone();
                let rest = match &attribute.meta {
                    syn::Meta::List(list) => list.tokens.clone(),
                    _ => TokenStream::new(),
                };
                attribute.meta = syn::parse_quote!(#path(#mark, #rest));
            }
        }
    }
    item.into_token_stream()
}

/// What a function under `#[gradient]` can answer.
pub(super) struct Offer {
    item: TokenStream,
    unique: u64,
    /// Why it has no answer.
    refused: Option<String>,
}

/// What a function answers whose gradient asks these questions; nothing if it stands where it cannot, or has `#[differentiable]` as well.
pub(super) fn of(
    function: &syn::ItemFn,
    tokens: &TokenStream,
    questions: &Questions,
    host: &Host<'_>,
) -> Option<Offer> {
    let own = &function.sig.ident;
    let name = own.to_string();
    let differentiable =
        function.attrs.iter().any(|attribute| is_marked(attribute, &["differentiable"]));
    if differentiable || !(host.is_free)(&name) {
        return None;
    }
    let elsewhere = Questions::of(&Item::Fn(function.clone()), own, Purpose::Elsewhere)
        .adopting(&host.finds(own));
    let asked = |path| questions.paths.iter().any(|(_, known)| known == path);
    let more = elsewhere.paths.iter().find(|(_, path)| !asked(path));
    let refused = match (elsewhere.noticed.check(), more) {
        (Err(error), _) => Some(error.to_string()),
        _ if elsewhere.recursive => Some(
            "it calls itself: put `#[stratape::differentiable]` on it as well as `#[gradient]`"
                .to_owned(),
        ),
        (_, Some((_, path))) => Some(format!(
            "it uses `{}`: put `#[stratape::differentiable]` on that, and on `{name}` as well as `#[gradient]`",
            path.to_token_stream().to_string().replace(' ', "")
        )),
        _ => None,
    };
    let unique = export::unique(host.crate_name, tokens, own.span());
    Some(Offer { item: function.to_token_stream(), unique, refused })
}

impl Offer {
    /// What stands in a question, for the one that resumes it.
    pub(super) fn parse(
        mut tokens: impl Iterator<Item = TokenTree>,
        item: TokenStream,
    ) -> Result<Option<Self>> {
        let Some(offer) = tokens.next() else { return Ok(None) };
        let mut offer = group(Some(offer))?.stream().into_iter();
        let unique = offer.next().ok_or_else(garbled)?.to_string();
        let refused = offer.next().map(|why| syn::parse2::<syn::LitStr>(why.into()));
        Ok(Some(Self {
            item,
            unique: unique.parse().map_err(|_| garbled())?,
            refused: refused.transpose()?.map(|why| why.value()),
        }))
    }

    /// The macro that answers.
    pub(super) fn answer(self, set: &Set, find: &dyn Fn(&Path) -> Option<Adopted>) -> TokenStream {
        let Ok((name, vis)) = syn::parse2(self.item.clone()).and_then(|item: Item| head(&item))
        else {
            return TokenStream::new();
        };
        let answer = match self.refused {
            Some(why) => Err(why),
            None => finish(self.item, set, self.unique, Way::Offered, find)
                .map_err(|error| error.to_string()),
        };
        answer.unwrap_or_else(|why| {
            export::refuse(&name, &vis, &export::id(&name, self.unique), &why)
        })
    }
}

impl ToTokens for Offer {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (unique, refused) = (Literal::u64_unsuffixed(self.unique), &self.refused);
        tokens.extend(quote!({ #unique #refused }));
    }
}
