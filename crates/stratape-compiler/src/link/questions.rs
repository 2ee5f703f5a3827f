//! What an item asks for, and how.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Item, Path};

use super::answer::Set;
use super::names::{self, Kind, Noticed};
use super::{Host, export};
use crate::library::Adopted;

/// What an item needs from around it.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) paths: Vec<(Kind, Path)>,
    /// What was found in crates that the compiler knows by heart.
    pub(super) adopted: Vec<(Path, Adopted)>,
    pub(super) noticed: Noticed,
    /// Whether the item names itself.
    pub(super) recursive: bool,
}

/// What becomes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Its gradient is made where it stands: constants and messages mean what they say.
    Here,
    /// It is read elsewhere.
    Elsewhere,
}

impl Questions {
    pub(super) fn of(item: &Item, own: &Ident, purpose: Purpose) -> Self {
        let mut paths: Vec<(Kind, Path)> = Vec::new();
        let mut recursive = false;
        let mut ask = |kind: Kind, path: &Path| {
            let here = kind == Kind::Constant && purpose == Purpose::Here;
            recursive |= path.is_ident(own);
            if !here && !path.is_ident(own) && !paths.iter().any(|(_, known)| known == path) {
                paths.push((kind, path.clone()));
            }
            None
        };
        let noticed = names::replace(&mut item.clone(), purpose == Purpose::Elsewhere, &mut ask);
        Self { paths, noticed, recursive, ..Self::default() }
    }

    /// Takes what can be found in crates that the compiler knows by heart from what is asked for.
    pub(super) fn adopting(mut self, find: &dyn Fn(&Path) -> Option<Adopted>) -> Self {
        let mut asked = Vec::new();
        for (kind, path) in std::mem::take(&mut self.paths) {
            let takes = matches!(kind, Kind::Type | Kind::Function | Kind::Macro);
            match find(&path).filter(|_| takes) {
                Some(adopted) => self.adopted.push((path, adopted)),
                None if kind == Kind::Macro => {}
                None => asked.push((kind, path)),
            }
        }
        let mut questions = Self { paths: asked, ..self };
        questions.forget_launches();
        questions
    }

    /// Kernels that a function launches stay where they are.
    pub(super) fn forget_launches(&mut self) {
        if !self.adopted.iter().any(|(_, one)| one.is_of_devices()) {
            return;
        }
        self.paths.retain(|(kind, path)| {
            let last = path.segments.last().map(|last| last.ident.to_string());
            let launches = matches!(last.as_deref(), Some("launch" | "map"));
            *kind != Kind::Function || path.segments.len() < 2 || !launches
        });
    }

    /// What stands for each path that was asked for.
    pub(super) fn known(&self, set: &Set) -> HashMap<String, Path> {
        let answered = set.answers.iter().filter_map(|(number, id)| {
            let (_, path) = self.paths.get(*number)?;
            Some((path.to_token_stream().to_string(), id.clone().into()))
        });
        let adopted = self.adopted.iter();
        let adopted = adopted
            .map(|(path, one)| (path.to_token_stream().to_string(), one.id().clone().into()));
        answered.chain(adopted).collect()
    }

    /// Items that were not asked for by name, but came with others.
    pub(super) fn unnamed(&self, set: &Set) -> HashSet<String> {
        let named = |id: &Ident| {
            let asked = set.answers.iter().find(|(_, answer)| answer == id);
            let asked = asked.and_then(|(number, _)| self.paths.get(*number));
            asked.is_some_and(|(kind, _)| *kind == Kind::Type)
        };
        set.ids().filter(|id| !named(id)).map(ToString::to_string).collect()
    }

    /// Items that rustc refuses where what was found is not what it seems.
    pub(super) fn checks(&self) -> TokenStream {
        self.adopted.iter().filter_map(|(written, adopted)| adopted.check(written)).collect()
    }

    /// What is asked for, by number.
    pub(super) fn all_paths(&self) -> Vec<&Path> {
        self.paths.iter().map(|(_, path)| path).collect()
    }

    /// Asks for all of them, and goes on with the answers: tokens that stand beside the item.
    pub(super) fn ask(&self, unique: u64, then: &TokenStream) -> TokenStream {
        let adopted = self.adopted.iter().map(|(path, adopted)| {
            let of = adopted.path();
            quote!(#path = #of,)
        });
        let then = quote!(#then { #(#adopted)* });
        if let [(_, path)] = &self.paths[..] {
            let asked = export::macro_of(path);
            return quote!(#asked! { resume #then });
        }
        let mut tokens = TokenStream::new();
        let name = |at: usize| format_ident!("__stratape_{unique:016x}_{at}");
        for (number, (_, path)) in self.paths.iter().enumerate() {
            let (asked, name) = (export::macro_of(path), name(number));
            let number = Literal::usize_unsuffixed(number);
            tokens.extend(quote!(#asked! { take #name #number }));
        }
        // Two by two, until one is left.
        let mut left: Vec<usize> = (0..self.paths.len()).collect();
        let mut next = left.len();
        while left.len() > 1 {
            let mut joined = Vec::new();
            for pair in left.chunks(2) {
                if let [a, b] = pair {
                    let (a, b, both) = (name(*a), name(*b), name(next));
                    tokens.extend(quote!(#a! { with #b #both }));
                    joined.push(next);
                    next += 1;
                } else {
                    joined.extend(pair);
                }
            }
            left = joined;
        }
        let last = name(left.first().copied().unwrap_or_default());
        quote!(#tokens #last! { resume #then })
    }

    /// Errors that can be seen before anyone is asked.
    pub(super) fn missing(&self, own: &Ident, host: &Host<'_>) -> Option<TokenStream> {
        let own = own.to_string();
        let errors: TokenStream = self
            .paths
            .iter()
            .filter_map(|(_, path)| {
                (host.missing)(&own, path)
                    .map(|why| Error::new(path.span(), why).to_compile_error())
            })
            .collect();
        (!errors.is_empty()).then_some(errors)
    }
}
