//! Modules inside a module under `#[differentiable]`: their items are read as if they stood in that module.
//!
//! A name means what it means in the module it is written in: paths, `super`, `self` and imports are followed before the items come together. Functions
//! and constants get names of their own, types and traits where there are two of one name. What rustc sees is the text as it was written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Item, Path, Stmt, UseTree, Visibility};

use super::export;
use super::names::{self, Kind};
use super::words::is_library;
use crate::front::is_marked;
use crate::variants::{Enums, spelled_items};

/// A module with its inner modules read as part of it.
pub(crate) struct Flat {
    /// Its items, and those of the inner modules.
    pub(crate) items: Vec<Item>,
    /// Imports under which emitted code finds items of the inner modules.
    pub(crate) imports: TokenStream,
}

/// The items of a module together with those of its inner modules; `None` if no item names anything in them.
pub(crate) fn flattened(items: &[Item], enums: &Enums) -> Option<Flat> {
    let mut house = House::default();
    house.add(items, Vec::new(), true, &enums.with_own(items));
    if house.levels.len() < 2 {
        return None;
    }
    house.name()?;
    let root = house.levels.get(&Vec::new())?;
    let mut named =
        root.uses.values().chain(&root.globs).any(|path| {
            matches!(house.find(&[], path, 0), Some(Found::Item(..) | Found::Module(_)))
        });
    named |= house.has_methods_for_others();
    let mut all = Vec::new();
    let places: Vec<Vec<String>> = house.levels.keys().cloned().collect();
    for at in &places {
        for mut item in house.levels[at].items.clone() {
            let before = house.with_uses_inside(at, &mut item);
            let mut answer = |_: Kind, path: &Path| {
                let found = house.path(at, path)?;
                named |= at.is_empty();
                Some(found)
            };
            names::replace_known(&mut item, &mut answer);
            Traits { house: &house, at }.visit_item_mut(&mut item);
            if let Some(before) = before
                && let Some(level) = house.levels.get_mut(at)
            {
                level.uses = before;
                named |= at.is_empty();
            }
            if let (false, Some(name)) = (at.is_empty(), own_name(&mut item)) {
                let known = house.levels[at].names.get(&name.to_string());
                *name = known.map_or(name.clone(), |known| Ident::new(&known.flat, name.span()));
            }
            all.push(item);
        }
    }
    // Those of inner modules have been followed.
    let root = house.levels.get(&Vec::new())?;
    root.imports.iter().for_each(|item| all.extend(house.import(item)));
    let imports = house.imports();
    named.then_some(Flat { items: all, imports })
}

/// An item of an inner module: its gradient, if it has one, is not made here, nor does it answer from here.
fn as_inner(mut item: Item) -> Item {
    let unmarked = |attrs: &mut Vec<syn::Attribute>| {
        attrs.retain(|one| !is_marked(one, &["gradient", "kernel"]));
    };
    match &mut item {
        Item::Fn(function) => unmarked(&mut function.attrs),
        Item::Impl(block) => {
            for item in &mut block.items {
                if let syn::ImplItem::Fn(method) = item {
                    unmarked(&mut method.attrs);
                }
            }
        }
        _ => {}
    }
    if let Some(vis) = visibility(&mut item) {
        *vis = Visibility::Inherited;
    }
    item
}

/// Whether the items of an inner module are read here: those of others answer for themselves, or are not always there.
fn is_plain(module: &syn::ItemMod) -> bool {
    let apart =
        |one: &syn::Attribute| is_marked(one, &["differentiable"]) || one.path().is_ident("cfg");
    module.content.is_some() && !module.attrs.iter().any(apart)
}

/// An item of the house.
struct Known {
    /// Its name among all items.
    flat: String,
    /// Whether it is a function or a constant.
    is_value: bool,
    /// Whether the outermost module can name it.
    visible: bool,
}

/// One module.
#[derive(Default)]
struct Level {
    items: Vec<Item>,
    imports: Vec<syn::ItemUse>,
    names: HashMap<String, Known>,
    /// Imported names, and the paths they stand for.
    uses: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// All modules, by their paths from the outermost.
#[derive(Default)]
struct House {
    levels: BTreeMap<Vec<String>, Level>,
}

/// What a path names.
enum Found {
    /// An item of the house, and how many segments name it.
    Item(String, usize),
    Module(Vec<String>),
    /// Something outside of it, as the outermost module would call it.
    Outside(Vec<String>),
}

impl House {
    fn add(&mut self, items: &[Item], at: Vec<String>, visible: bool, enums: &Enums) {
        let spelled = if at.is_empty() { None } else { spelled_items(items, enums) };
        let mut level = Level::default();
        for item in spelled.as_deref().unwrap_or(items) {
            match item {
                Item::Mod(module) if is_plain(module) => {
                    let mut path = at.clone();
                    path.push(module.ident.to_string());
                    let visible = visible && (at.is_empty() || is_public(&module.vis));
                    let inner = module.content.as_ref().map(|(_, items)| items.as_slice());
                    self.add(inner.unwrap_or_default(), path, visible, enums);
                }
                Item::Use(item) => {
                    let mut path = Vec::new();
                    level.import(&item.tree, &mut path);
                    level.imports.push(item.clone());
                }
                item => {
                    let mut item = item.clone();
                    level.note(&mut item, visible);
                    level.items.push(if at.is_empty() { item } else { as_inner(item) });
                }
            }
        }
        self.levels.insert(at, level);
    }

    /// Gives each item its name among all; `None` where that cannot be. Functions and constants of inner modules always get one of their own: a
    /// variable may be called like them.
    fn name(&mut self) -> Option<()> {
        let mut taken: HashMap<String, usize> = HashMap::new();
        for level in self.levels.values() {
            level.names.keys().for_each(|name| *taken.entry(name.clone()).or_default() += 1);
        }
        // What the outermost module imports from outside the house has its name, too.
        let foreign: HashSet<String> = match self.levels.get(&Vec::new()) {
            Some(root) => root
                .uses
                .iter()
                .filter(|(_, path)| !matches!(self.find(&[], path, 0), Some(Found::Item(..))))
                .map(|(name, _)| name.clone())
                .collect(),
            None => HashSet::new(),
        };
        for (at, level) in self.levels.iter_mut().filter(|(at, _)| !at.is_empty()) {
            let mut hasher = DefaultHasher::new();
            at.hash(&mut hasher);
            let unique = hasher.finish();
            for (name, known) in &mut level.names {
                let shared = taken[name] > 1 || foreign.contains(name);
                match is_library(name) {
                    // Such a name is not asked about where it stands alone.
                    true if shared => return None,
                    true => {}
                    false if shared || known.is_value => {
                        known.flat = export::id(&format_ident!("{name}"), unique).to_string();
                    }
                    false => {}
                }
            }
        }
        Some(())
    }

    /// Whether an inner module has methods for a type of another: they are found without being named.
    fn has_methods_for_others(&self) -> bool {
        let mut inner = self.levels.iter().filter(|(at, _)| !at.is_empty());
        inner.any(|(at, level)| {
            level.items.iter().any(|item| {
                let Item::Impl(block) = item else { return false };
                let syn::Type::Path(ty) = &*block.self_ty else { return false };
                let names: Vec<String> =
                    ty.path.segments.iter().map(|one| one.ident.to_string()).collect();
                !names.first().is_some_and(|name| level.names.contains_key(name))
                    && matches!(self.find(at, &names, 0), Some(Found::Item(..)))
            })
        })
    }

    /// Takes the imports of the house out of a function, and has them hold in its module for now; what held there before, if there were any.
    fn with_uses_inside(
        &mut self,
        at: &[String],
        item: &mut Item,
    ) -> Option<HashMap<String, Vec<String>>> {
        let mut inside = UsesInside { house: self, at, found: HashMap::new(), certain: true };
        let mut without = item.clone();
        inside.visit_item_mut(&mut without);
        let UsesInside { found, certain, .. } = inside;
        // A name that means something else around, or in another block, is left alone.
        let is_new = |(name, path): (&String, &Vec<String>)| {
            let around = self.find(at, std::slice::from_ref(name), 0);
            match (around, self.find(at, path, 0)) {
                (None, _) => true,
                (Some(Found::Item(a, _)), Some(Found::Item(b, _))) => a == b,
                _ => false,
            }
        };
        if found.is_empty() || !certain || !found.iter().all(is_new) {
            return None;
        }
        *item = without;
        let level = self.levels.get_mut(at)?;
        let before = level.uses.clone();
        level.uses.extend(found);
        Some(before)
    }

    /// What a path means in a module.
    fn find(&self, at: &[String], path: &[String], depth: usize) -> Option<Found> {
        let level = self.levels.get(at)?;
        let Some(first) = path.first() else { return Some(Found::Module(at.to_vec())) };
        if depth > 32 {
            return None;
        }
        match first.as_str() {
            "self" => return behind_one(self.find(at, &path[1..], depth + 1)),
            "super" => {
                let Some((_, parent)) = at.split_last() else {
                    return Some(Found::Outside(path.to_vec()));
                };
                let found = self.find(parent, &path[1..], depth + 1);
                let found =
                    found.or_else(|| parent.is_empty().then(|| Found::Outside(path[1..].to_vec())));
                return behind_one(found);
            }
            "crate" | "std" | "core" | "stratape" => return Some(Found::Outside(path.to_vec())),
            _ => {}
        }
        if let Some(known) = level.names.get(first) {
            return Some(Found::Item(known.flat.clone(), 1));
        }
        let mut inner = at.to_vec();
        inner.push(first.clone());
        if self.levels.contains_key(&inner) {
            return behind_one(self.find(&inner, &path[1..], depth + 1));
        }
        if let Some(import) = level.uses.get(first) {
            let whole: Vec<String> = import.iter().chain(&path[1..]).cloned().collect();
            return match self.find(at, &whole, depth + 1) {
                Some(Found::Item(name, len)) => {
                    Some(Found::Item(name, (len + 1).saturating_sub(import.len()).max(1)))
                }
                Some(found) => Some(found),
                None if at.is_empty() => None,
                None => Some(Found::Outside(whole)),
            };
        }
        for glob in &level.globs {
            if let Some(Found::Module(module)) = self.find(at, glob, depth + 1)
                && module != at
                && self.has(&module, first)
                && let Some(found) = self.find(&module, path, depth + 1)
            {
                return Some(found);
            }
        }
        None
    }

    fn has(&self, at: &[String], name: &str) -> bool {
        let mut inner = at.to_vec();
        inner.push(name.to_owned());
        self.levels.contains_key(&inner)
            || self.levels.get(at).is_some_and(|level| {
                level.names.contains_key(name)
                    || level.uses.contains_key(name)
                    || !level.globs.is_empty()
            })
    }

    /// What stands for a path of a module among all items; `None` for the path itself.
    fn path(&self, at: &[String], path: &Path) -> Option<Path> {
        if path.leading_colon.is_some() {
            return None;
        }
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let found = match self.find(at, &names, 0)? {
            Found::Item(name, len) if len <= names.len() => {
                let rest = names[len..].iter().cloned();
                std::iter::once(name).chain(rest).collect()
            }
            Found::Outside(found) => found,
            Found::Item(..) | Found::Module(_) => return None,
        };
        (found != names).then(|| path_of(&found))
    }

    /// What is left of an import of the outermost module among all items: what it names outside the house.
    fn import(&self, item: &syn::ItemUse) -> Vec<Item> {
        let mut level = Level::default();
        level.import(&item.tree, &mut Vec::new());
        let own = |path: &Vec<String>| {
            matches!(self.find(&[], path, 0), Some(Found::Item(..) | Found::Module(_)))
        };
        if !level.uses.values().chain(&level.globs).any(own) {
            return vec![Item::Use(item.clone())];
        }
        let mut kept: Vec<Item> = Vec::new();
        for (name, path) in level.uses.iter().filter(|(_, path)| !own(path)) {
            let (path, name) = (path_of(path), Ident::new(name, Span::call_site()));
            kept.push(syn::parse_quote!(use #path as #name;));
        }
        for path in &level.globs {
            match self.find(&[], path, 0) {
                Some(Found::Item(name, _)) => {
                    let name = Ident::new(&name, Span::call_site());
                    kept.push(syn::parse_quote!(use #name::*;));
                }
                Some(Found::Module(_)) => {}
                _ => {
                    let path = path_of(path);
                    kept.push(syn::parse_quote!(use #path::*;));
                }
            }
        }
        kept
    }

    /// Imports into the outermost module of what it can name and does not.
    fn imports(&self) -> TokenStream {
        let mut tokens = TokenStream::new();
        for (at, level) in self.levels.iter().filter(|(at, _)| !at.is_empty()) {
            for (name, known) in level.names.iter().filter(|(_, known)| known.visible) {
                let in_sight = known.flat == *name
                    && matches!(
                        self.find(&[], std::slice::from_ref(name), 0),
                        Some(Found::Item(..))
                    );
                if in_sight {
                    continue;
                }
                let at = at.iter().map(|name| format_ident!("{name}"));
                let (name, flat) = (format_ident!("{name}"), format_ident!("{}", known.flat));
                let renamed = (name != flat).then(|| quote!(as #flat));
                tokens.extend(quote! {
                    #[allow(unused_imports)] use self::#(#at::)*#name #renamed;
                });
            }
        }
        tokens
    }
}

impl Level {
    fn note(&mut self, item: &mut Item, visible: bool) {
        let public = visibility(item).is_some_and(|vis| is_public(vis));
        let is_value = matches!(item, Item::Fn(_) | Item::Const(_) | Item::Static(_));
        if let Some(name) = own_name(item) {
            let known = Known { flat: name.to_string(), is_value, visible: visible && public };
            self.names.insert(name.to_string(), known);
        }
    }

    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.import(&tree.tree, path);
                path.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = path.last() {
                    self.uses.insert(last.clone(), path.clone());
                }
            }
            UseTree::Name(name) => {
                let whole = path.iter().cloned().chain([name.ident.to_string()]).collect();
                self.uses.insert(name.ident.to_string(), whole);
            }
            UseTree::Rename(name) => {
                let own = (name.ident != "self").then(|| name.ident.to_string());
                let whole = path.iter().cloned().chain(own).collect();
                self.uses.insert(name.rename.to_string(), whole);
            }
            UseTree::Glob(_) => self.globs.push(path.clone()),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, path));
            }
        }
    }
}

/// The traits that an item names in bounds and `impl`s.
struct Traits<'a> {
    house: &'a House,
    at: &'a [String],
}

impl Traits<'_> {
    fn replace(&self, path: &mut Path) {
        let Some(found) = self.house.path(self.at, &names_of(path)) else { return };
        if let (Some(mut last), Some(name)) = (path.segments.pop(), found.get_ident()) {
            last.ident = Ident::new(&name.to_string(), last.ident.span());
            path.segments.clear();
            path.segments.push(last);
        }
    }
}

impl VisitMut<'_> for Traits<'_> {
    fn visit_trait_bound_mut(&mut self, bound: &mut syn::TraitBound) {
        self.replace(&mut bound.path);
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        if let Some((path, _)) = &mut block.trait_ {
            self.replace(path);
        }
        visit_mut::visit_item_impl_mut(self, block);
    }
}

/// The imports inside functions that name items of the house.
struct UsesInside<'a> {
    house: &'a House,
    at: &'a [String],
    found: HashMap<String, Vec<String>>,
    /// Whether each name means one thing.
    certain: bool,
}

impl VisitMut<'_> for UsesInside<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain(|stmt| {
            let Stmt::Item(Item::Use(item)) = stmt else { return true };
            let mut level = Level::default();
            level.import(&item.tree, &mut Vec::new());
            let own = |path: &Vec<String>| {
                matches!(self.house.find(self.at, path, 0), Some(Found::Item(_, len)) if len == path.len())
            };
            if !level.globs.is_empty() || !level.uses.values().all(own) {
                return true;
            }
            for (name, path) in level.uses {
                let before = self.found.insert(name, path.clone());
                self.certain &= before.is_none_or(|before| before == path);
            }
            false
        });
        visit_mut::visit_block_mut(self, block);
    }
}

/// A finding behind one more segment.
fn behind_one(found: Option<Found>) -> Option<Found> {
    match found? {
        Found::Item(name, len) => Some(Found::Item(name, len + 1)),
        found => Some(found),
    }
}

/// A path without type arguments.
fn names_of(path: &Path) -> Path {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|one| one.arguments = syn::PathArguments::None);
    path
}

fn path_of(names: &[String]) -> Path {
    let segments = names.iter().map(|name| Ident::new(name, Span::call_site()));
    syn::parse_quote!(#(#segments)::*)
}

fn is_public(vis: &Visibility) -> bool {
    !matches!(vis, Visibility::Inherited)
}

fn own_name(item: &mut Item) -> Option<&mut Ident> {
    match item {
        Item::Fn(item) => Some(&mut item.sig.ident),
        Item::Struct(item) => Some(&mut item.ident),
        Item::Enum(item) => Some(&mut item.ident),
        Item::Const(item) => Some(&mut item.ident),
        Item::Static(item) => Some(&mut item.ident),
        Item::Type(item) => Some(&mut item.ident),
        Item::Trait(item) => Some(&mut item.ident),
        _ => None,
    }
}

fn visibility(item: &mut Item) -> Option<&mut Visibility> {
    match item {
        Item::Fn(item) => Some(&mut item.vis),
        Item::Struct(item) => Some(&mut item.vis),
        Item::Enum(item) => Some(&mut item.vis),
        Item::Const(item) => Some(&mut item.vis),
        Item::Static(item) => Some(&mut item.vis),
        Item::Type(item) => Some(&mut item.vis),
        Item::Trait(item) => Some(&mut item.vis),
        _ => None,
    }
}

/// A module with the attribute on its inner modules, where one of them has gradients of its own; `None` if there are none.
pub(super) fn with_inner_attributes(tokens: &TokenStream) -> Option<TokenStream> {
    fn inner(module: &mut syn::ItemMod) -> impl Iterator<Item = &mut syn::ItemMod> {
        let items = module.content.iter_mut().flat_map(|(_, items)| items);
        items.filter_map(|item| match item {
            Item::Mod(inner) if is_plain(inner) => Some(inner),
            _ => None,
        })
    }
    fn has_gradients(module: &mut syn::ItemMod) -> bool {
        let own = module.content.iter().flat_map(|(_, items)| items).any(|item| {
            let marked = |attrs: &[syn::Attribute]| {
                attrs.iter().any(|one| is_marked(one, &["gradient", "kernel"]))
            };
            match item {
                Item::Fn(function) => marked(&function.attrs),
                Item::Impl(block) => block
                    .items
                    .iter()
                    .any(|item| matches!(item, syn::ImplItem::Fn(method) if marked(&method.attrs))),
                _ => false,
            }
        });
        own || inner(module).any(has_gradients)
    }
    let mut module: syn::ItemMod = syn::parse2(tokens.clone()).ok()?;
    if !inner(&mut module).any(has_gradients) {
        return None;
    }
    for inner in inner(&mut module) {
        inner.attrs.push(syn::parse_quote!(#[::stratape::differentiable]));
    }
    Some(module.into_token_stream())
}

/// Lets the private items of a module answer to its inner modules, which can see them.
pub(super) fn answering_inside(items: &mut [Item]) {
    for item in items {
        if let Some(vis @ Visibility::Inherited) = visibility(item) {
            *vis = syn::parse_quote!(pub(self));
        }
    }
}
