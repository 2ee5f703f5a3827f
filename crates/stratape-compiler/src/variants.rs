//! Variants that are named without their enum, after `use Kind::*` or `use Kind::{Call, Put}`: spelled out before a text is read, since its names alone
//! would not tell them from structs and constants.

use std::collections::{HashMap, HashSet};

use crate::walk::visit::{self, Visit};
use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Item, UseTree};

/// The enums of a text, and their variants.
#[derive(Clone, Debug)]
pub struct Enums(HashMap<String, Option<Vec<String>>>);

impl Default for Enums {
    fn default() -> Self {
        let ordering = ["Less", "Equal", "Greater"].map(str::to_owned).to_vec();
        Self(HashMap::from([("Ordering".to_owned(), Some(ordering))]))
    }
}

impl Enums {
    /// Those of items, and of the modules and functions among them.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Self {
        let mut enums = Self::default();
        items.into_iter().for_each(|item| enums.visit_item(item));
        enums
    }

    /// These, and those of a module's own items, which come first.
    #[must_use]
    pub fn with_own(&self, items: &[Item]) -> Self {
        let mut own = Self(HashMap::new());
        for item in items {
            if let Item::Enum(item) = item {
                own.visit_item_enum(item);
            }
        }
        let mut all = self.clone();
        all.0.extend(own.0);
        all
    }

    fn variants(&self, name: &str) -> Option<&Vec<String>> {
        self.0.get(name)?.as_ref()
    }
}

impl Visit<'_> for Enums {
    fn visit_item_enum(&mut self, item: &syn::ItemEnum) {
        let variants = item.variants.iter().map(|variant| variant.ident.to_string()).collect();
        let name = item.ident.to_string();
        // Of two enums of one name neither is known.
        self.0.entry(name).and_modify(|known| *known = None).or_insert(Some(variants));
    }

    fn visit_expr(&mut self, expr: &syn::Expr) {
        if let syn::Expr::Block(_) = expr {
            visit::visit_expr(self, expr);
        }
    }
}

/// Names of variants, and the paths they stand for; none where a name stands for two.
#[derive(Clone, Debug, Default)]
pub struct Variants {
    paths: HashMap<String, Option<Vec<String>>>,
    /// Enums that are imported by `self`, which brings the type and not its answer.
    types: HashMap<String, Vec<String>>,
    /// Enums of which all variants are imported that cannot be seen.
    unseen: Vec<String>,
}

impl Variants {
    /// Those that a module with these items imports.
    pub fn of(items: &[Item], enums: &Enums) -> Self {
        let mut variants = Self::default();
        let mut own = HashSet::new();
        for item in items {
            match item {
                Item::Use(item) => drop(variants.add(&item.tree, &mut Vec::new(), enums)),
                Item::Struct(item) => drop(own.insert(item.ident.to_string())),
                Item::Enum(item) => drop(own.insert(item.ident.to_string())),
                Item::Const(item) => drop(own.insert(item.ident.to_string())),
                Item::Type(item) => drop(own.insert(item.ident.to_string())),
                _ => {}
            }
        }
        variants.paths.retain(|name, _| !own.contains(name));
        variants
    }

    /// These, and those of the module around where nothing here has their names.
    #[must_use]
    pub fn within(mut self, around: &Self) -> Self {
        for (name, path) in &around.paths {
            self.paths.entry(name.clone()).or_insert_with(|| path.clone());
        }
        for (name, path) in &around.types {
            self.types.entry(name.clone()).or_insert_with(|| path.clone());
        }
        self.unseen.extend(around.unseen.iter().cloned());
        self
    }

    /// An enum whose variants are all imported, though nobody here can see which they are.
    pub fn unseen(&self) -> Option<&str> {
        self.unseen.first().map(String::as_str)
    }

    /// Notes what a `use` names; whether that is nothing but variants.
    fn add(&mut self, tree: &UseTree, before: &mut Vec<String>, enums: &Enums) -> bool {
        let owner = before.last().filter(|last| last.starts_with(char::is_uppercase)).cloned();
        let path = |name: &str| [&before[..], &[name.to_owned()]].concat();
        match (tree, owner) {
            (UseTree::Path(path), _) => {
                before.push(path.ident.to_string());
                let only = self.add(&path.tree, before, enums);
                before.pop();
                only
            }
            (UseTree::Group(group), _) => {
                let mut only = true;
                for tree in &group.items {
                    only &= self.add(tree, before, enums);
                }
                only
            }
            (UseTree::Name(name), Some(_)) if name.ident != "self" => {
                let name = name.ident.to_string();
                let path = path(&name);
                self.note(name, &path);
                true
            }
            (UseTree::Name(_), Some(owner)) => {
                self.types.insert(owner, before.clone());
                false
            }
            (UseTree::Rename(rename), Some(_)) if rename.ident != "self" => {
                let path = path(&rename.ident.to_string());
                self.note(rename.rename.to_string(), &path);
                true
            }
            (UseTree::Glob(_), Some(owner)) => match enums.variants(&owner) {
                Some(all) => {
                    for name in all {
                        self.note(name.clone(), &path(name));
                    }
                    true
                }
                None => {
                    self.unseen.push(owner);
                    false
                }
            },
            _ => false,
        }
    }

    fn note(&mut self, name: String, path: &[String]) {
        let known = self.paths.entry(name).or_insert_with(|| Some(path.to_vec()));
        if known.as_ref().is_some_and(|known| known != path) {
            *known = None;
        }
    }

    /// An item in which variants have their enums before them, those that its blocks import included; `None` if there are none.
    #[must_use]
    pub fn spelled(&self, item: &Item, enums: &Enums) -> Option<Item> {
        let mut inner = Imports { variants: self.clone(), enums };
        let mut spelled = item.clone();
        inner.visit_item_mut(&mut spelled);
        if inner.variants.paths.is_empty() && inner.variants.types.is_empty() {
            return None;
        }
        syn::parse2(inner.variants.spell(&spelled.into_token_stream())).ok()
    }

    fn spell(&self, tokens: &TokenStream) -> TokenStream {
        let mut spelled = TokenStream::new();
        let mut tokens = tokens.clone().into_iter().peekable();
        let (mut bare, mut before) = (true, None);
        while let Some(token) = tokens.next() {
            let follows =
                matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
            match token {
                TokenTree::Group(group) => {
                    let mut inner =
                        proc_macro2::Group::new(group.delimiter(), self.spell(&group.stream()));
                    inner.set_span(group.span());
                    spelled.extend([TokenTree::Group(inner)]);
                    bare = true;
                }
                TokenTree::Ident(name) => {
                    let key = name.to_string();
                    let variant = self.paths.get(&key).and_then(Option::as_ref);
                    let variant = variant.filter(|_| !follows);
                    match variant.or_else(|| self.types.get(&key)).filter(|_| bare) {
                        Some(path) => spelled.extend(spell_out(path, &name)),
                        None => spelled.extend([TokenTree::Ident(name)]),
                    }
                    bare = true;
                }
                TokenTree::Punct(sign) => {
                    // What follows `::` or `.` is not a name by itself; what follows `..` or `a: ` is.
                    bare = match (before, sign.as_char()) {
                        (Some(':'), ':') => false,
                        (Some('.'), '.') => true,
                        (_, sign) => sign != '.',
                    };
                    let joint = sign.spacing() == proc_macro2::Spacing::Joint;
                    before = joint.then(|| sign.as_char());
                    spelled.extend([TokenTree::Punct(sign)]);
                }
                literal @ TokenTree::Literal(_) => {
                    spelled.extend([literal]);
                    bare = true;
                }
            }
        }
        spelled
    }
}

/// A path at the place of a name.
fn spell_out(path: &[String], name: &Ident) -> TokenStream {
    // Nobody wrote the whole path: what rustc says of such paths is not for them.
    let span = Span::call_site().located_at(name.span());
    let path = path.iter().map(|step| Ident::new(step, span));
    let mut tokens = TokenStream::new();
    for (at, step) in path.enumerate() {
        tokens.extend(if at == 0 {
            quote_spanned!(span=> #step)
        } else {
            quote_spanned!(span=> ::#step)
        });
    }
    tokens
}

/// Collects the variants that blocks import, and takes the imports out.
struct Imports<'a> {
    variants: Variants,
    enums: &'a Enums,
}

impl VisitMut<'_> for Imports<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain(|stmt| match stmt {
            syn::Stmt::Item(Item::Use(item)) => {
                !self.variants.add(&item.tree, &mut Vec::new(), self.enums)
            }
            _ => true,
        });
        visit_mut::visit_block_mut(self, block);
    }
}

/// The items of a module, with the variants that they name spelled out; `None` if there is nothing to spell.
pub(crate) fn spelled_items(items: &[Item], around: &Enums) -> Option<Vec<Item>> {
    let mut enums = Enums::of(items);
    for (name, variants) in &around.0 {
        enums.0.entry(name.clone()).or_insert_with(|| variants.clone());
    }
    let enums = enums.with_own(items);
    let variants = Variants::of(items, &enums);
    let mut changed = false;
    let spelled = items
        .iter()
        .map(|item| match item {
            Item::Use(_) | Item::Enum(_) | Item::Mod(_) => item.clone(),
            item => match variants.spelled(item, &enums) {
                Some(spelled) => {
                    changed = true;
                    spelled
                }
                None => item.clone(),
            },
        })
        .collect();
    changed.then_some(spelled)
}
