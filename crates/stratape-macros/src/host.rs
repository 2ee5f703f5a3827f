//! What an attribute can find out about the place where it stands.
//!
//! The file it stands in is read for the sake of errors: a function that is not under `#[differentiable]` has no macro to ask, and rustc
//! would complain of a missing macro. What a name means is decided here in one case: a module that imports it from the standard library
//! itself can mean nothing else by it. Its `use` lines also tell which names seem to be types of crates that the compiler knows by heart; whether they
//! are is left to rustc, which checks what is emitted.

use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use stratape_compiler::library::{Adopted, Imports};
use stratape_compiler::link::{Constants, Host, is_of_the_language};
use stratape_compiler::variants::{Enums, Variants};
use syn::{Attribute, Item, UseTree};

use crate::position::position;

/// Runs `f` with the crate that is being compiled.
pub(crate) fn with<T>(f: impl FnOnce(&Host<'_>) -> T) -> T {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let crate_name = format!(
        "{} {} {}",
        variable("CARGO_PKG_NAME"),
        variable("CARGO_PKG_VERSION"),
        variable("CARGO_CRATE_NAME")
    );
    let here = LazyCell::new(|| {
        let span = proc_macro::Span::call_site();
        Some(position(&file()?.text, span.line(), span.column()))
    });
    let is_here = |level: &&Level| here.as_ref().is_some_and(|at| at.modules == level.path);
    let missing = |own: &str, path: &syn::Path| {
        let File { levels, made, .. } = &*file()?;
        // Where items come out of macros, nothing can be told.
        if *made {
            return None;
        }
        // Which module it is, if several have an item of that name, cannot be seen: then all must lack what is asked for.
        let mut complaint = None;
        for level in levels.iter().filter(|level| level.is_asker(own)) {
            complaint = Some(level.complaint(path, levels)?);
        }
        complaint
    };
    let library = |own: &str, name: &syn::Ident| {
        let File { levels, made, .. } = &*file()?;
        // Where items come out of macros, only one that stands in the file itself is certain.
        if *made && !here.as_ref().is_some_and(|at| at.among_items) {
            return None;
        }
        let name = name.to_string();
        let certain = levels.iter().filter(is_here).any(|level| level.is_asker(own));
        let mut found =
            levels.iter().filter(|level| level.is_asker(own) && (!certain || is_here(level)));
        let path = found.next()?.library(&name, levels)?;
        found.all(|level| level.library(&name, levels).as_ref() == Some(&path)).then_some(path)
    };
    let variants_and_enums = |own: &str| {
        let file = file()?;
        let level = file.levels.iter().find(is_here);
        let level = level.or_else(|| file.levels.iter().find(|level| level.is_asker(own)));
        level.map(|level| (level.variants.clone(), level.enums.clone()))
    };
    let constants = || {
        let (Some(file), Some(here)) = (file(), &*here) else { return Constants::default() };
        let mut levels = file.levels.iter().filter(|level| level.path == here.modules);
        // Of two modules of one name it is not known which it is.
        match (levels.next(), levels.next()) {
            (Some(level), None) if here.among_items => level.constants.clone(),
            _ => Constants::default(),
        }
    };
    let is_free = |own: &str| {
        let (Some(file), Some(here)) = (file(), &*here) else { return false };
        let mut levels = file.levels.iter().filter(|level| level.path == here.modules);
        here.among_items && levels.any(|level| level.once.get(own) == Some(&true))
    };
    let adopted = |own: &str, path: &syn::Path| {
        let file = file();
        let levels = file.as_ref().map(|file| &file.levels[..]).unwrap_or_default();
        let mut askers = levels.iter().filter(|level| level.is_asker(own)).peekable();
        let found = match askers.peek() {
            Some(_) => askers.find_map(|level| level.adopted(path, levels)),
            // It stands inside a function, or comes out of a macro.
            None => levels.iter().find_map(|level| level.adopted(path, levels)),
        };
        found.or_else(|| Imports::default().find(path))
    };
    f(&Host {
        crate_name: &crate_name,
        missing: &missing,
        library: &library,
        is_free: &is_free,
        variants: &|own| variants_and_enums(own).unwrap_or_default().0,
        enums: &|own| variants_and_enums(own).unwrap_or_default().1,
        hidden: &|| file().map(|file| file.hidden.clone()).unwrap_or_default(),
        constants: &constants,
        adopted: &adopted,
    })
}

impl Level {
    /// Whether an item that asks may stand here: one under an attribute of ours, or a module's.
    fn is_asker(&self, own: &str) -> bool {
        matches!(self.names.get(own), Some(Known::Perhaps))
            || self.inside && self.names.contains_key(own)
    }

    /// The type of a crate known by heart that a path seems to name here.
    fn adopted(&self, path: &syn::Path, levels: &[Self]) -> Option<Adopted> {
        let parent = || {
            let parent = levels.get(self.parent.filter(|_| self.imports.sees_parent())?)?;
            parent.adopted(path, levels)
        };
        self.imports.find(path).or_else(parent)
    }

    /// What is wrong with a name, seen from here.
    fn complaint(&self, path: &syn::Path, levels: &[Self]) -> Option<String> {
        if let Some(why) = self.imports.stranger(path) {
            return Some(why);
        }
        let mut names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (last, mut level) = (names.pop()?, self);
        for step in &names {
            match step.as_str() {
                "super" => level = levels.get(level.parent?)?,
                _ => return None,
            }
        }
        let unseen = level.imports.only_glob().and_then(|_| level.variants.unseen());
        match (level.names.get(&last), unseen) {
            (Some(known), _) => known.complaint(&last),
            (None, Some(owner))
                if path.get_ident().is_some() && last.starts_with(char::is_uppercase) =>
            {
                Some(format!(
                    "the compiler cannot tell what `{last}` is: if it is a variant of `{owner}`, write `{owner}::{last}`, or import it by name"
                ))
            }
            (None, _)
                if names.is_empty()
                    && last.strip_suffix("_grad").is_some_and(|of| level.is_asker(of)) =>
            {
                Some(format!(
                    "`{last}` is a gradient, of which there is no gradient yet: differentiate the function itself"
                ))
            }
            (None, _) => None,
        }
    }

    /// One more item of a name.
    fn count(&mut self, name: &syn::Ident) {
        self.once.entry(name.to_string()).and_modify(|once| *once = false).or_insert(true);
    }

    /// The path of a name that is imported from the library here.
    fn library(&self, name: &str, levels: &[Self]) -> Option<syn::Path> {
        match self.names.get(name) {
            Some(Known::Library) => syn::parse_str(&self.imports.path_of(name)?).ok(),
            Some(_) => None,
            None => {
                let glob = self.imports.only_glob()?;
                if CONSTANTS.contains(&name) && is_constants(&glob) {
                    return syn::parse_str(&format!("{glob}::{name}")).ok();
                }
                let parent = self.parent.filter(|_| glob == "super")?;
                levels.get(parent)?.library(name, levels)
            }
        }
    }
}

/// Whether a path is that of the constants of a float.
fn is_constants(path: &str) -> bool {
    ["std::f64::consts", "std::f32::consts", "core::f64::consts", "core::f32::consts"]
        .contains(&path)
}

/// What the library has there.
const CONSTANTS: [&str; 19] = [
    "PI",
    "TAU",
    "E",
    "SQRT_2",
    "LN_2",
    "LN_10",
    "LOG2_E",
    "LOG2_10",
    "LOG10_2",
    "LOG10_E",
    "FRAC_1_PI",
    "FRAC_1_SQRT_2",
    "FRAC_2_PI",
    "FRAC_2_SQRT_PI",
    "FRAC_PI_2",
    "FRAC_PI_3",
    "FRAC_PI_4",
    "FRAC_PI_6",
    "FRAC_PI_8",
];

/// What a name is at one level of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It may well answer: it has an attribute, or more than one definition.
    Perhaps,
    /// A function, constant or type without any attribute of ours.
    Plain,
    /// Imported from the standard library.
    Library,
}

impl Known {
    /// What to tell someone who needs it.
    fn complaint(self, name: &str) -> Option<String> {
        match self {
            Self::Perhaps => None,
            Self::Plain => Some(format!(
                "the compiler cannot see into `{name}`: put `#[stratape::differentiable]` on it"
            )),
            Self::Library => Some(format!(
                "`{name}` of the library is not supported here: use floats, integers, bool, slices, arrays, tuples, `Vec`, or structs \
                 under `#[stratape::differentiable]`"
            )),
        }
    }
}

/// A module that is written out in a file.
#[derive(Debug, Default)]
struct Level {
    /// The module around it, if that stands in the file.
    parent: Option<usize>,
    /// Whether it is under `#[differentiable]` as a whole.
    inside: bool,
    /// The modules around it and itself.
    path: Vec<String>,
    names: HashMap<String, Known>,
    /// The names of its functions and everything else, and whether there is one of the name.
    once: HashMap<String, bool>,
    imports: Imports,
    variants: Variants,
    enums: Enums,
    constants: Constants,
}

/// A file that an attribute stands in.
#[derive(Debug, Default)]
struct File {
    /// Its modules, the file itself first.
    levels: Vec<Level>,
    /// Whether it makes items with macros of its own.
    made: bool,
    /// Macros and types of its own that are called like those of the language.
    hidden: Vec<String>,
    text: String,
}

/// The file of the attribute; one without modules if it cannot be read.
fn file() -> Option<Rc<File>> {
    thread_local! {
        /// A file holds many attributes.
        static READ: RefCell<HashMap<PathBuf, Rc<File>>> = RefCell::default();
    }
    let path = proc_macro::Span::call_site().local_file()?;
    if let Some(known) = READ.with_borrow(|read| read.get(&path).cloned()) {
        return Some(known);
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let made = text.contains("macro_rules!");
    let mut file = File { made, text, ..File::default() };
    if let Ok(parsed) = syn::parse_file(&file.text) {
        let enums = Enums::of(&parsed.items);
        collect(&parsed.items, (None, false), &mut file.levels, &enums);
        file.hidden = hidden(&parsed.items);
    }
    let file = Rc::new(file);
    READ.with_borrow_mut(|read| read.insert(path, Rc::clone(&file)));
    Some(file)
}

fn collect(
    items: &[Item],
    (parent, inside): (Option<usize>, bool),
    levels: &mut Vec<Level>,
    enums: &Enums,
) {
    let at = levels.len();
    let imports = Imports::of(items);
    let enums = enums.with_own(items);
    let mut variants = Variants::of(items, &enums);
    if let Some(parent) =
        parent.and_then(|parent| levels.get(parent)).filter(|_| imports.sees_parent())
    {
        variants = variants.within(&parent.variants);
    }
    levels.push(Level {
        parent,
        inside,
        imports,
        variants,
        enums: enums.clone(),
        constants: Constants::of(items),
        ..Level::default()
    });
    for item in items {
        let (name, attributes) = match item {
            Item::Fn(item) => (&item.sig.ident, &item.attrs),
            Item::Const(item) => (&item.ident, &item.attrs),
            Item::Static(item) => (&item.ident, &item.attrs),
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            Item::Type(item) => (&item.ident, &item.attrs),
            Item::Macro(item) => {
                item.ident.iter().for_each(|name| note(&mut levels[at], name, Known::Perhaps));
                continue;
            }
            Item::Use(item) => {
                imported(&item.tree, None, item.attrs.is_empty(), &mut levels[at]);
                continue;
            }
            Item::Mod(item) => {
                levels[at].count(&item.ident);
                if let Some((_, items)) = &item.content {
                    let inside = levels.len();
                    collect(items, (Some(at), !item.attrs.iter().all(is_inert)), levels, &enums);
                    for level in &mut levels[inside..] {
                        level.path.insert(0, item.ident.to_string());
                    }
                }
                continue;
            }
            _ => continue,
        };
        // A function answers if its derivative is known by hand.
        for of in attributes.iter().filter_map(pulled_back) {
            levels[at].names.insert(of.to_string(), Known::Perhaps);
        }
        let known = if attributes.iter().all(is_inert) { Known::Plain } else { Known::Perhaps };
        note(&mut levels[at], name, known);
    }
}

/// Names of the language that items give away.
fn hidden(items: &[Item]) -> Vec<String> {
    let mut names = Vec::new();
    for item in items {
        match item {
            Item::Macro(item) => names.extend(item.ident.iter().map(ToString::to_string)),
            Item::Mod(item) => {
                let inner = item.content.iter().map(|(_, items)| &items[..]);
                names.extend(inner.flat_map(hidden));
            }
            Item::Use(item) => renamed(&item.tree, false, &mut names),
            _ => {}
        }
    }
    names.retain(|name| is_of_the_language(name));
    names
}

/// What a `use` that does not begin at the library renames things to.
fn renamed(tree: &UseTree, library: bool, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(inner) => {
            let library = library || inner.ident == "std" || inner.ident == "core";
            renamed(&inner.tree, library, names);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| renamed(tree, library, names));
        }
        UseTree::Name(name) if !library => names.push(name.ident.to_string()),
        UseTree::Rename(rename) if !library => names.push(rename.rename.to_string()),
        _ => {}
    }
}

/// The function that a pullback belongs to, if it stands in the same module.
fn pulled_back(attribute: &Attribute) -> Option<syn::Ident> {
    let last = attribute.path().segments.last()?;
    let syn::Meta::List(list) = &attribute.meta else { return None };
    let of = list.parse_args::<syn::MetaNameValue>().ok()?;
    match of.value {
        syn::Expr::Path(path) if last.ident == "pullback" => path.path.get_ident().cloned(),
        _ => None,
    }
}

/// Notes a name; of one that has several meanings nothing is known.
fn note(level: &mut Level, name: &syn::Ident, known: Known) {
    level.count(name);
    level
        .names
        .entry(name.to_string())
        .and_modify(|before| *before = Known::Perhaps)
        .or_insert(known);
}

/// Notes what a `use` brings, after a path that ends so and may be the library's.
fn imported(tree: &UseTree, last: Option<&syn::Ident>, library: bool, level: &mut Level) {
    let known = if library && last.is_some() { Known::Library } else { Known::Perhaps };
    match tree {
        UseTree::Path(inner) => {
            let root = inner.ident == "std" || inner.ident == "core";
            let library = library && (last.is_some() || root);
            imported(&inner.tree, Some(&inner.ident), library, level);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| imported(tree, last, library, level));
        }
        // `use std::mem::{self}` brings what is before it.
        UseTree::Name(name) if name.ident == "self" => {
            last.into_iter().for_each(|last| note(level, last, known));
        }
        UseTree::Name(name) => note(level, &name.ident, known),
        UseTree::Rename(rename) => note(level, &rename.rename, known),
        UseTree::Glob(_) => {}
    }
}

/// Whether an attribute is known to add nothing of its own.
fn is_inert(attribute: &Attribute) -> bool {
    let known =
        ["allow", "cold", "deny", "derive", "doc", "expect", "inline", "must_use", "repr", "warn"];
    known.iter().any(|name| attribute.path().is_ident(name))
}
