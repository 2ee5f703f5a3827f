//! What an item answers when it is asked for: a set of items in which every name is unique.
//!
//! As tokens a set is `{ 0 drag_1f… 1 Point_2e… } { drag_1f… { fn drag_1f…(…) … } … }`: for each question its answer, then the
//! items of all of them, each once.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Error, Result};

/// Items under unique names, and which of them answers which question.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    /// The number of each question, and the item that answers it.
    pub(super) answers: Vec<(usize, Ident)>,
    entries: Vec<(Ident, TokenStream)>,
    known: HashSet<String>,
}

impl Set {
    /// The answer of one item alone: itself, and what it needs.
    pub(super) fn of(id: &Ident, entries: impl IntoIterator<Item = (Ident, TokenStream)>) -> Self {
        let mut set = Self { answers: vec![(0, id.clone())], ..Self::default() };
        entries.into_iter().for_each(|(id, item)| set.add(id, item));
        set
    }

    /// Reads a set.
    pub(super) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut set = Self::default();
        let mut groups = tokens.into_iter();
        let (Some(TokenTree::Group(answers)), Some(TokenTree::Group(entries))) =
            (groups.next(), groups.next())
        else {
            return Err(garbled());
        };
        let mut answers = answers.stream().into_iter();
        while let Some(number) = answers.next() {
            let number = number.to_string().parse().map_err(|_| garbled())?;
            let Some(TokenTree::Ident(id)) = answers.next() else { return Err(garbled()) };
            set.answers.push((number, id));
        }
        let mut entries = entries.stream().into_iter();
        while let Some(id) = entries.next() {
            let (TokenTree::Ident(id), Some(TokenTree::Group(item))) = (id, entries.next()) else {
                return Err(garbled());
            };
            set.add(id, item.stream());
        }
        Ok(set)
    }

    /// One item more, unless it is here already.
    pub(super) fn add(&mut self, id: Ident, item: TokenStream) {
        if self.known.insert(id.to_string()) {
            self.entries.push((id, item));
        }
    }

    /// Both sets in one.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.answers.extend(other.answers);
        other.entries.into_iter().for_each(|(id, item)| self.add(id, item));
        self
    }

    /// The set as the answer to a question of a number.
    pub(super) fn numbered(mut self, number: usize) -> Self {
        self.answers.iter_mut().for_each(|(known, _)| *known = number);
        self
    }

    /// The items, without what macros have marked their tokens with: names mean the same in all of them.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Ident, TokenStream)> {
        self.entries.iter().map(|(id, item)| (id, unmarked(item.clone())))
    }

    /// The items as they are.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (Ident, TokenStream)> {
        self.entries.into_iter()
    }

    /// How many tokens it has.
    pub(super) fn size(&self) -> usize {
        self.entries.iter().map(|(_, item)| count(item.clone())).sum()
    }
}

impl ToTokens for Set {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let answers = self.answers.iter().map(|(number, id)| {
            let number = Literal::usize_unsuffixed(*number);
            quote!(#number #id)
        });
        let entries = self.entries.iter().map(|(id, item)| {
            let item = Group::new(Delimiter::Brace, item.clone());
            quote!(#id #item)
        });
        tokens.extend(quote!({ #(#answers)* } { #(#entries)* }));
    }
}

/// Tokens where they stand, but with names that mean what they mean at the macro's call.
fn unmarked(tokens: TokenStream) -> TokenStream {
    let here = Span::call_site();
    let unmark = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            let (open, inner) = (group.span(), unmarked(group.stream()));
            let mut group = Group::new(group.delimiter(), inner);
            group.set_span(open.resolved_at(here));
            return TokenTree::Group(group);
        }
        token.set_span(token.span().resolved_at(here));
        token
    };
    tokens.into_iter().map(unmark).collect()
}

/// The number of tokens.
fn count(tokens: TokenStream) -> usize {
    let one = |token| match token {
        TokenTree::Group(group) => 2 + count(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(one).sum()
}

/// No text of ours: someone calls a hidden macro by hand.
pub(super) fn garbled() -> Error {
    Error::new(
        Span::call_site(),
        "this macro is part of `#[stratape::differentiable]`: do not call it",
    )
}
