//! What an item answers when it is asked for: a set of items in which every name is unique.
//!
//! As tokens a set is `{ 0 drag_1f… 1 Point_2e… } { drag_1f… { fn drag_1f…(…) … } … } { solve_3d… 0 Halves { ::solve_3d… } { fn solve_3d…(…); } … }`: for
//! each question its answer; the items of all of them, each once; and the functions that are called, not repeated, with the way to name
//! these: what is to be written after the path of the item that gave the answer of a number.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Error, Result};

use crate::front::How;

/// Items under unique names, and which of them answers which question.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    /// The number of each question, and the item that answers it.
    pub(super) answers: Vec<(usize, Ident)>,
    entries: Vec<(Ident, TokenStream)>,
    /// The functions that are called.
    pub(super) called: Vec<Called>,
    known: HashSet<String>,
}

/// A function that is called, not repeated.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub(super) id: Ident,
    pub(super) how: How,
    /// The question whose answer needs it.
    pub(super) number: usize,
    /// What follows the path of that answer.
    pub(super) after: TokenStream,
    /// Its signature, with a semicolon.
    pub(super) signature: TokenStream,
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
        let (
            Some(TokenTree::Group(answers)),
            Some(TokenTree::Group(entries)),
            Some(TokenTree::Group(called)),
        ) = (groups.next(), groups.next(), groups.next())
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
        let mut called = called.stream().into_iter();
        while let Some(id) = called.next() {
            let (
                TokenTree::Ident(id),
                Some(number),
                Some(how),
                Some(TokenTree::Group(after)),
                Some(TokenTree::Group(signature)),
            ) = (id, called.next(), called.next(), called.next(), called.next())
            else {
                return Err(garbled());
            };
            let number = number.to_string().parse().map_err(|_| garbled())?;
            let how = How::named(&how.to_string()).ok_or_else(garbled)?;
            let (after, signature) = (after.stream(), signature.stream());
            set.add_called(Called { id, how, number, after, signature });
        }
        Ok(set)
    }

    /// One called function more, unless it is here already.
    pub(super) fn add_called(&mut self, called: Called) {
        if self.known.insert(called.id.to_string()) {
            self.called.push(called);
        }
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
        other.called.into_iter().for_each(|called| self.add_called(called));
        self
    }

    /// The set as the answer to a question of a number.
    pub(super) fn numbered(mut self, number: usize) -> Self {
        self.answers.iter_mut().for_each(|(known, _)| *known = number);
        self.called.iter_mut().for_each(|called| called.number = number);
        self
    }

    /// The items.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Ident, TokenStream)> {
        self.entries.iter().map(|(id, item)| (id, item.clone()))
    }

    /// The names of the items.
    pub(super) fn ids(&self) -> impl Iterator<Item = &Ident> {
        self.entries.iter().map(|(id, _)| id)
    }

    /// The items as they are.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (Ident, TokenStream)> {
        self.entries.into_iter()
    }

    /// Adds to an answer what it mentions of this set, and what that mentions.
    pub(super) fn needed_by(mut self, answer: &mut Self) {
        loop {
            let (needed, rest): (Vec<_>, Vec<_>) =
                self.entries.into_iter().partition(|(id, _)| answer.mentions(id));
            if needed.is_empty() {
                return;
            }
            needed.into_iter().for_each(|(id, item)| answer.add(id, item));
            self.entries = rest;
        }
    }

    /// Whether an item of the set mentions a name.
    pub(super) fn mentions(&self, id: &Ident) -> bool {
        fn within(tokens: TokenStream, id: &str) -> bool {
            tokens.into_iter().any(|token| match token {
                TokenTree::Group(group) => within(group.stream(), id),
                TokenTree::Ident(ident) => ident == id,
                _ => false,
            })
        }
        let id = id.to_string();
        self.entries.iter().any(|(_, item)| within(item.clone(), &id))
    }

    /// How many tokens it has.
    pub(super) fn size(&self) -> usize {
        self.entries.iter().map(|(_, item)| count(item.clone())).sum()
    }

    /// How deep calls nest in it.
    pub(super) fn depth(&self) -> usize {
        let items: HashMap<String, &TokenStream> =
            self.entries.iter().map(|(id, item)| (id.to_string(), item)).collect();
        let mut depths = HashMap::new();
        self.entries
            .iter()
            .map(|(id, _)| depth(&id.to_string(), &items, &mut depths))
            .max()
            .unwrap_or(0)
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
        let called = self.called.iter().map(|Called { id, how, number, after, signature }| {
            let (number, how) = (Literal::usize_unsuffixed(*number), format_ident!("{how:?}"));
            quote!(#id #number #how { #after } { #signature })
        });
        tokens.extend(quote!({ #(#answers)* } { #(#entries)* } { #(#called)* }));
    }
}

/// How deep an item's calls nest.
fn depth(
    id: &str,
    items: &HashMap<String, &TokenStream>,
    depths: &mut HashMap<String, usize>,
) -> usize {
    if let Some(known) = depths.get(id) {
        return *known;
    }
    // Whoever calls itself is met here again.
    depths.insert(id.to_owned(), 1);
    let mut found = Vec::new();
    if let Some(item) = items.get(id) {
        mentioned((*item).clone(), items, &mut found);
    }
    let deepest = found.iter().map(|other| depth(other, items, depths)).max().unwrap_or(0);
    depths.insert(id.to_owned(), 1 + deepest);
    1 + deepest
}

fn mentioned(tokens: TokenStream, items: &HashMap<String, &TokenStream>, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => mentioned(group.stream(), items, found),
            TokenTree::Ident(ident) if items.contains_key(&ident.to_string()) => {
                found.push(ident.to_string());
            }
            _ => {}
        }
    }
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
