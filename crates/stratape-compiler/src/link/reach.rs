//! Who uses whom in a module under `#[differentiable]`.

use std::collections::{BTreeSet, HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, Path};

use super::names::{self, Kind};
use crate::front::{as_constant, defaults, is_marked, is_plain, pullback_of};

/// A piece of the module that is reached as a whole: an item, or a method or constant of an `impl`.
pub(super) struct Text {
    /// The type whose method it is.
    owner: Option<String>,
    pub(super) name: Ident,
    /// Whether it is reached with its type, and not by its name.
    always: bool,
    /// The piece as an item: a method in an `impl` of its own.
    pub(super) item: Item,
    /// Names of the module that it uses.
    pub(super) own: BTreeSet<String>,
    /// Names from outside.
    pub(super) outside: Vec<(Kind, Path)>,
    /// All words in it.
    words: HashSet<String>,
    /// Whether it says something that means something else elsewhere.
    pub(super) bound_to_its_place: bool,
}

/// The texts of a module, by number.
pub(super) struct Reach {
    pub(super) texts: Vec<Text>,
    /// What is imported from the library, by name.
    library: HashMap<String, Path>,
    /// Functions the compiler does not look into.
    pub(super) opaque: HashSet<String>,
    /// Functions that are called, not repeated.
    pub(super) by_halves: BTreeSet<usize>,
    traits: HashMap<String, syn::ItemTrait>,
}

impl Reach {
    pub(super) fn new(items: &[Item]) -> Self {
        let mut module = Self {
            texts: Vec::new(),
            library: HashMap::new(),
            opaque: HashSet::new(),
            by_halves: BTreeSet::new(),
            traits: HashMap::new(),
        };
        for item in items {
            if let Item::Trait(def) = item {
                module.traits.insert(def.ident.to_string(), def.clone());
            }
        }
        for item in items {
            match item {
                Item::Use(import) => library(&import.tree, &mut Vec::new(), &mut module.library),
                Item::Impl(block) => module.add_impl(block),
                Item::Fn(function) => {
                    module.note_opaque(function);
                    module.add(None, function.sig.ident.clone(), false, item.clone());
                }
                Item::Static(item) => {
                    if let Some(constant) = as_constant(item) {
                        module.add(None, item.ident.clone(), false, Item::Const(constant));
                    }
                }
                Item::Const(constant) => {
                    module.add(None, constant.ident.clone(), false, item.clone());
                }
                Item::Type(alias) => module.add(None, alias.ident.clone(), false, item.clone()),
                Item::Struct(def) => module.add(None, def.ident.clone(), false, item.clone()),
                Item::Enum(def) => module.add(None, def.ident.clone(), false, item.clone()),
                _ => {}
            }
        }
        let known: HashSet<String> = module
            .texts
            .iter()
            .filter(|text| text.owner.is_none())
            .map(|text| text.name.to_string())
            .collect();
        for at in 0..module.texts.len() {
            module.read(at, &known);
        }
        module.by_halves = Self::by_halves(&module.texts, &module.opaque);
        module
    }

    fn note_opaque(&mut self, function: &syn::ItemFn) {
        for attribute in &function.attrs {
            if is_marked(attribute, &["constant"]) {
                self.opaque.insert(function.sig.ident.to_string());
            }
            if is_marked(attribute, &["pullback"])
                && let Ok(of) = pullback_of(attribute)
            {
                self.opaque.insert(of.to_string());
            }
        }
    }

    fn add(&mut self, owner: Option<String>, name: Ident, always: bool, item: Item) {
        let mut all = HashSet::new();
        words(item.to_token_stream(), &mut all);
        self.texts.push(Text {
            owner,
            name,
            always,
            item,
            own: BTreeSet::new(),
            outside: Vec::new(),
            words: all,
            bound_to_its_place: false,
        });
    }

    /// The methods of an `impl` one by one, each with its head and its types.
    fn add_impl(&mut self, block: &syn::ItemImpl) {
        let syn::Type::Path(owner) = &*block.self_ty else { return };
        let Some(owner) = owner.path.segments.last().map(|last| last.ident.to_string()) else {
            return;
        };
        let is_type = |item: &&syn::ImplItem| matches!(item, syn::ImplItem::Type(_));
        let types: Vec<syn::ImplItem> = block.items.iter().filter(is_type).cloned().collect();
        // What the trait supplies is the type's own elsewhere.
        let of = block.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        let def = of.and_then(|last| self.traits.get(&last.ident.to_string()));
        let supplied = def.map(|def| defaults(def, block)).unwrap_or_default();
        for item in block.items.iter().chain(&supplied) {
            let (name, always) = match item {
                syn::ImplItem::Fn(method) => (&method.sig.ident, is_operator(block)),
                syn::ImplItem::Const(constant) => (&constant.ident, true),
                _ => continue,
            };
            let mut alone = block.clone();
            alone.items = types.clone();
            alone.items.push(item.clone());
            self.add(Some(owner.clone()), name.clone(), always, Item::Impl(alone));
        }
    }

    /// Finds the names that a text uses.
    fn read(&mut self, at: usize, known: &HashSet<String>) {
        let text = &mut self.texts[at];
        let (library, traits) = (&self.library, &self.traits);
        let (mut own, mut outside) = (BTreeSet::new(), Vec::<(Kind, Path)>::new());
        let mut note = |kind: Kind, path: &Path| {
            match path.get_ident().map(ToString::to_string) {
                Some(name) if known.contains(&name) => {
                    own.insert(name);
                }
                Some(name) if library.contains_key(&name) || traits.contains_key(&name) => {}
                _ if path.segments.first().is_some_and(|first| {
                    library.contains_key(&first.ident.to_string()) || first.ident == "self"
                }) => {}
                _ if outside.iter().any(|(_, other)| other == path) => {}
                _ => outside.push((kind, path.clone())),
            }
            None
        };
        let noticed = names::replace(&mut text.item.clone(), true, &mut note);
        text.bound_to_its_place = noticed.check().is_err();
        text.own = own;
        text.outside = outside;
    }

    /// The texts that are reached from some.
    pub(super) fn reached(&self, from: &[usize]) -> BTreeSet<usize> {
        self.reached_before(from, &BTreeSet::new())
    }

    /// The texts that are reached from some; where a call leads to one of `ends`, it is reached and nothing behind it.
    pub(super) fn reached_before(&self, from: &[usize], ends: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut left = from.to_vec();
        let (mut names, mut words) = (HashSet::new(), HashSet::new());
        while let Some(at) = left.pop() {
            if reached.insert(at) && !ends.contains(&at) {
                let text = &self.texts[at];
                names.extend(text.own.iter().cloned());
                names.extend(text.owner.clone());
                if text.owner.is_none() {
                    names.insert(text.name.to_string());
                }
                words.extend(text.words.iter().cloned());
            }
            if left.is_empty() {
                let wanted = |text: &Text| match &text.owner {
                    None => names.contains(&text.name.to_string()),
                    // `f64 * Point` is reached with `Point`.
                    Some(_) if text.always => text.own.iter().any(|name| names.contains(name)),
                    Some(owner) => names.contains(owner) && words.contains(&text.name.to_string()),
                };
                let more = self.texts.iter().enumerate();
                left = more
                    .filter(|(at, text)| !reached.contains(at) && wanted(text))
                    .map(|(at, _)| at)
                    .collect();
            }
        }
        reached
    }

    /// The number of an item.
    pub(super) fn item(&self, name: &Ident) -> Option<usize> {
        self.texts.iter().position(|text| text.owner.is_none() && text.name == *name)
    }

    /// The methods of a type.
    pub(super) fn methods(&self, of: &Ident) -> Vec<usize> {
        let of = of.to_string();
        let all = self.texts.iter().enumerate();
        all.filter(|(_, text)| text.owner.as_ref() == Some(&of)).map(|(at, _)| at).collect()
    }

    /// Functions that go by halves: those that the compiler does not look into, and those that call themselves, directly or through others.
    fn by_halves(texts: &[Text], opaque: &HashSet<String>) -> BTreeSet<usize> {
        let functions: HashMap<String, usize> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| matches!(text.item, Item::Fn(_)))
            .map(|(at, text)| (text.name.to_string(), at))
            .collect();
        let ends = |name: &String| opaque.contains(name) || is_plain(name);
        let calls_itself = |start: usize| {
            let (mut seen, mut left) = (HashSet::new(), vec![start]);
            while let Some(at) = left.pop() {
                let own = texts[at].own.iter().filter(|name| !ends(name));
                for called in own.filter_map(|name| functions.get(name)) {
                    if *called == start {
                        return true;
                    }
                    if seen.insert(*called) {
                        left.push(*called);
                    }
                }
            }
            false
        };
        let all = functions.iter();
        all.filter(|(name, at)| ends(name) || calls_itself(**at)).map(|(_, at)| *at).collect()
    }

    /// What a path from the library stands for, written out.
    pub(super) fn in_library(&self, path: &Path) -> Option<Path> {
        let first = path.segments.first()?;
        let mut whole = self.library.get(&first.ident.to_string())?.clone();
        whole.segments.extend(path.segments.iter().skip(1).cloned());
        Some(whole)
    }
}

/// Whether an `impl` is of an operator.
fn is_operator(block: &syn::ItemImpl) -> bool {
    let operators = ["Add", "Sub", "Mul", "Div", "Rem", "Neg"];
    block.trait_.as_ref().and_then(|(path, _)| path.segments.last()).is_some_and(|last| {
        operators.iter().any(|operator| last.ident.to_string().starts_with(operator))
    })
}

/// The names that an import brings from the library.
fn library(tree: &syn::UseTree, before: &mut Vec<Ident>, found: &mut HashMap<String, Path>) {
    let mut note = |name: &Ident, last: &Ident| {
        let standard = before
            .first()
            .is_some_and(|first| ["std", "core", "alloc"].iter().any(|library| first == library));
        if standard {
            let path: Path = syn::parse_quote!(#(#before::)* #last);
            found.insert(name.to_string(), path);
        }
    };
    match tree {
        syn::UseTree::Path(path) => {
            before.push(Ident::new(&path.ident.to_string(), Span::call_site()));
            library(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| library(tree, before, found));
        }
        syn::UseTree::Name(name) if name.ident == "self" => {
            if let Some(last) = before.pop() {
                library(&syn::UseTree::Name(syn::UseName { ident: last.clone() }), before, found);
                before.push(last);
            }
        }
        syn::UseTree::Name(name) => note(&name.ident, &name.ident),
        syn::UseTree::Rename(rename) => note(&rename.rename, &rename.ident),
        syn::UseTree::Glob(_) => {}
    }
}

fn words(tokens: TokenStream, found: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(found.insert(ident.to_string())),
            TokenTree::Group(group) => words(group.stream(), found),
            _ => {}
        }
    }
}
