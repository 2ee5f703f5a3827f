//! A module under `#[differentiable]`: what its gradients ask for outside it, and what its items answer.
//!
//! Inside the module everything is seen at once. Asked for is only what the functions under `#[gradient]` reach: other functions of the module may
//! call what they like.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Error, Item, Path, Result};

use super::answer::{Called, Set};
use super::names::{self, Kind};
use super::nested;
use super::reach::Reach;
use super::words;
use super::{
    Constants, Host, Questions, called, export, export_called, export_halves, prepare, with_imports,
};
use crate::expand::{self, Opened};
use crate::front::{How, Items, is_marked};
use crate::library::{Adopted, Imports};
use crate::variants;

/// `#[differentiable]` on a module.
pub(super) fn begin(
    attribute: &TokenStream,
    tokens: &TokenStream,
    host: &Host<'_>,
) -> Result<TokenStream> {
    let whole = nested::with_inner_attributes(tokens);
    let (read, shown) = read(tokens, host, whole.is_some());
    let mut opened = expand::open(attribute, read.as_ref().unwrap_or(tokens).clone())?;
    if read.is_some() || whole.is_some() {
        let whole = whole.unwrap_or_else(|| tokens.clone());
        opened = opened.standing_for(expand::open(attribute, whole)?);
    }
    let tokens = read.as_ref().unwrap_or(tokens);
    let reach = Reach::new(opened.items());
    let methods = opened.methods().first().map(|method| &method.owner);
    let own = opened.wanted().next().or(methods).or(opened.kernels().next()).cloned();
    let imports = Imports::of(opened.items());
    let find = |path: &Path| {
        let around = || own.as_ref().and_then(|own| (host.adopted)(&own.to_string(), path));
        imports.find(path).or_else(around)
    };
    let questions = questions(&reach, &opened, &find);
    let unique = export::unique(host.crate_name, tokens, Span::call_site());
    if questions.paths.is_empty() {
        let inside = inside(&mut opened, &reach, &questions, &Set::default(), unique)?;
        return Ok(opened.with(quote!(#shown #inside)));
    }
    if own.as_ref().is_some_and(|own| questions.missing(own, host).is_some()) {
        // Those who need it are told so, as if there were nothing outside the module.
        let none = Questions { adopted: questions.adopted, ..Questions::default() };
        let inside = inside(&mut opened, &reach, &none, &Set::default(), unique)?;
        return Ok(opened.with(quote!(#shown #inside)));
    }
    let number = Literal::u64_unsuffixed(unique);
    let asks = questions.ask(unique, &quote!(module { #number } { #tokens }));
    Ok(opened.with(quote!(#shown #asks)))
}

/// The module as it is read, if that is not as it is written: the items of inner modules stand in it, and the variants of enums have the names of
/// their enums before them. Also what emitted code imports.
fn read(
    tokens: &TokenStream,
    host: &Host<'_>,
    inner_ask: bool,
) -> (Option<TokenStream>, TokenStream) {
    let none = (None, TokenStream::new());
    let Ok(mut module) = syn::parse2::<syn::ItemMod>(tokens.clone()) else { return none };
    let enums = (host.enums)(&module.ident.to_string());
    let Some((_, items)) = &mut module.content else { return none };
    if inner_ask {
        nested::answering_inside(items);
    }
    let (read, imports) = match nested::flattened(items, &enums) {
        Some(flat) => (Some(flat.items), flat.imports),
        None => (None, TokenStream::new()),
    };
    let spelled = variants::spelled_items(read.as_deref().unwrap_or(items), &enums);
    let mut read = spelled.or(read);
    // Names of inner modules may mean constants of their own.
    let nested = items.iter().any(|item| matches!(item, Item::Mod(_)));
    let constants = if nested { Constants::default() } else { (host.constants)() };
    let mut numbers = read.clone().unwrap_or_else(|| items.clone());
    let asserted = constants.replace_inside(&mut numbers);
    if numbers != *read.as_ref().unwrap_or(items) {
        read = Some(numbers);
    }
    match read {
        Some(read) => *items = read,
        None if inner_ask => {}
        None => return (None, imports),
    }
    (Some(module.into_token_stream()), quote!(#imports #asserted))
}

/// What goes into a module whose questions are answered.
pub(super) fn resume(
    tokens: TokenStream,
    set: &Set,
    unique: u64,
    find: &dyn Fn(&Path) -> Option<Adopted>,
) -> Result<TokenStream> {
    let mut opened = expand::open(&TokenStream::new(), tokens)?;
    let reach = Reach::new(opened.items());
    let questions = questions(&reach, &opened, find);
    let inside = inside(&mut opened, &reach, &questions, set, unique)?;
    let errors = opened.take_errors();
    Ok(quote!(#inside #errors))
}

/// What the gradients of a module need from outside it.
fn questions(reach: &Reach, opened: &Opened, find: &dyn Fn(&Path) -> Option<Adopted>) -> Questions {
    let named = opened.wanted().chain(opened.kernels());
    let mut from: Vec<usize> = named.filter_map(|name| reach.item(name)).collect();
    for method in opened.methods() {
        let all = reach.methods(&method.owner).into_iter();
        from.extend(all.filter(|at| reach.texts[*at].name == method.name));
    }
    let mut paths: Vec<(Kind, Path)> = Vec::new();
    for at in reach.reached(&from) {
        for (kind, path) in &reach.texts[at].outside {
            if *kind != Kind::Constant && !paths.iter().any(|(_, known)| known == path) {
                paths.push((*kind, path.clone()));
            }
        }
    }
    let mut questions = Questions { paths, ..Questions::default() }.adopting(find);
    // What is known by heart need not be asked for: all functions of the module may name it.
    for (kind, path) in reach.texts.iter().flat_map(|text| &text.outside) {
        let known = questions.adopted.iter().any(|(known, _)| known == path);
        let takes = matches!(kind, Kind::Type | Kind::Function | Kind::Macro);
        if let (false, true, Some(adopted)) = (known, takes, find(path)) {
            questions.adopted.push((path.clone(), adopted));
        }
    }
    questions.forget_launches();
    questions
}

/// The gradients of a module, and the answers of its items.
fn inside(
    opened: &mut Opened,
    reach: &Reach,
    questions: &Questions,
    set: &Set,
    unique: u64,
) -> Result<TokenStream> {
    if !questions.paths.is_empty() || !questions.adopted.is_empty() {
        let (context, read) = linked(opened.items(), questions, set)?;
        opened.relink(context, read);
    }
    let mut recursive = BTreeSet::new();
    let exports = exports(opened, reach, questions, set, unique, &mut recursive)?;
    let added = opened.added(recursive)?;
    let mut added = with_imports(added, questions, set)?;
    added.extend(opened.launches(&|text| super::imports_of(text, questions, set)));
    let checks = questions.checks();
    Ok(quote!(#checks #added #exports))
}

/// What the functions of a module see, all of it and what it asked for; and its items as they are read.
fn linked(items: &[Item], questions: &Questions, set: &Set) -> Result<(Items, Vec<Item>)> {
    let known = questions.known(set);
    let mut all = Vec::new();
    for item in items {
        let mut item = item.clone();
        let mut answer =
            |_: Kind, path: &Path| known.get(&path.to_token_stream().to_string()).cloned();
        names::replace(&mut item, false, &mut answer);
        all.push(item);
    }
    let read = all.clone();
    for (_, item) in set.entries() {
        all.push(syn::parse2(item)?);
    }
    // Text from elsewhere means the library by these names.
    for (name, _) in items.iter().filter_map(|item| super::head(item).ok()) {
        if words::LIBRARY.iter().any(|known| name == known) && set.mentions(&name) {
            let message = format!(
                "what this module calls outside of it means the library's `{name}`: rename this one"
            );
            return Err(Error::new(name.span(), message));
        }
    }
    let mut items = Items::linked(&all, questions.unnamed(set), true)?;
    called::note(&mut items, set, &questions.all_paths())?;
    Ok((items, read))
}

/// The answers of the items that can be seen from outside.
fn exports(
    opened: &Opened,
    reach: &Reach,
    questions: &Questions,
    set: &Set,
    unique: u64,
    recursive: &mut BTreeSet<String>,
) -> Result<TokenStream> {
    let known = questions.known(set);
    let mut answers =
        Answers { opened, reach, questions, set, unique, known, compiled: BTreeMap::new() };
    let mut tokens = TokenStream::new();
    for item in opened.items() {
        let Ok((name, vis)) = super::head(item) else { continue };
        let (Some(at), false) = (reach.item(&name), answers.is_hidden(item, &vis)) else {
            continue;
        };
        tokens.extend(answers.export(at, &name, &vis, recursive)?);
    }
    let compiled = answers.compiled.into_values().flatten().map(|compiled| compiled.beside);
    tokens.extend(compiled);
    Ok(tokens)
}

/// A function that goes by halves.
#[derive(Clone)]
struct Compiled {
    how: How,
    signature: TokenStream,
    /// The halves, and a hidden module that shows them.
    beside: TokenStream,
}

/// What is known when the items of a module answer.
struct Answers<'a> {
    opened: &'a Opened,
    reach: &'a Reach,
    questions: &'a Questions,
    set: &'a Set,
    unique: u64,
    /// What stands for names from outside.
    known: HashMap<String, Path>,
    /// Functions that go by halves, or why they cannot.
    compiled: BTreeMap<usize, Result<Compiled>>,
}

impl Answers<'_> {
    /// Whether an item does not answer: nobody outside can name it, or it answers by itself.
    fn is_hidden(&self, item: &Item, vis: &syn::Visibility) -> bool {
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Const(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            _ => return true,
        };
        // Under `#[cfg]` there may be two of a name.
        let own = attributes.iter().any(|one| {
            is_marked(one, &["differentiable", "pullback", "kernel"]) || one.path().is_ident("cfg")
        });
        own || matches!(vis, syn::Visibility::Inherited)
    }

    /// The unique name of a text.
    fn id(&self, at: usize) -> Ident {
        let number = self.unique.wrapping_add(at as u64);
        export::id(&self.reach.texts[at].name, number)
    }

    fn export(
        &mut self,
        at: usize,
        name: &Ident,
        vis: &syn::Visibility,
        recursive: &mut BTreeSet<String>,
    ) -> Result<TokenStream> {
        let id = self.id(at);
        if self.reach.by_halves.contains(&at) {
            return Ok(match self.called(at, recursive) {
                Ok((how, signature)) => {
                    let shown = called::hidden(&id);
                    let inside = quote!(pub use super::#shown::*;);
                    export_called(name, vis, &id, how, signature, &inside)
                }
                Err(error) => export::refuse(name, vis, &id, &error.to_string()),
            });
        }
        let mut texts = self.reach.reached_before(&[at], &self.reach.by_halves);
        if matches!(self.reach.texts[at].item, Item::Struct(_) | Item::Enum(_)) {
            for method in self.reach.methods(name) {
                let more = self.reach.reached(&[method]);
                if self.why_not(&more).is_none() && more.is_disjoint(&self.reach.by_halves) {
                    texts.extend(more);
                }
            }
        }
        let called: Vec<usize> = texts.intersection(&self.reach.by_halves).copied().collect();
        texts.retain(|at| !called.contains(at));
        let is_function = matches!(self.reach.texts[at].item, Item::Fn(_));
        if !called.is_empty() && !is_function {
            let why = "what it uses goes by halves, which only functions can call";
            return Ok(export::refuse(name, vis, &id, why));
        }
        if let Some(why) = self.why_not(&texts) {
            return Ok(export::refuse(name, vis, &id, &why));
        }
        let mut answer = Set::of(&id, texts.iter().map(|at| (self.id(*at), self.text(*at))));
        self.set.clone().needed_by(&mut answer);
        if is_function
            && called::is_large(&answer)
            && let Ok((_, signature)) = self.called(at, recursive)
        {
            return Ok(export_halves(name, vis, &id, signature));
        }
        let paths = self.questions.all_paths();
        let mut needed = Set::default();
        for called in &self.set.called {
            if answer.mentions(&called.id) {
                needed.add_called(called.clone());
            }
        }
        let (beside, mut inside, passed_on) = called::passed_on(&id, &needed, &paths)?;
        passed_on.into_iter().for_each(|called| answer.add_called(called));
        for at in called {
            let theirs = self.id(at);
            match self.called(at, recursive) {
                Ok((how, signature)) => {
                    let theirs = Ident::new(&theirs.to_string(), Span::call_site());
                    let shown = called::hidden(&theirs);
                    inside.extend(quote!(pub use super::#shown as #theirs;));
                    let after = quote!(::#theirs);
                    answer.add_called(Called { id: theirs, how, number: 0, after, signature });
                }
                Err(error) => return Ok(export::refuse(name, vis, &id, &error.to_string())),
            }
        }
        let exported = export::export(name, vis, &answer, &inside);
        Ok(quote!(#beside #exported))
    }

    /// Why texts cannot be read elsewhere.
    fn why_not(&self, texts: &BTreeSet<usize>) -> Option<String> {
        for text in texts.iter().map(|at| &self.reach.texts[*at]) {
            for (kind, path) in &text.outside {
                let path = path.to_token_stream().to_string();
                if *kind != Kind::Macro && !self.known.contains_key(&path) {
                    let path = path.replace(' ', "");
                    return Some(format!(
                        "it uses `{path}`, which no gradient of its module asked for; put `#[stratape::differentiable]` on it \
                         inside the module as well"
                    ));
                }
            }
            if text.bound_to_its_place {
                return Some(format!(
                    "`{}` has a message or an import that is only valid there",
                    text.name
                ));
            }
        }
        None
    }

    /// A text under unique names.
    fn text(&self, at: usize) -> TokenStream {
        let mut item = self.reach.texts[at].item.clone();
        prepare(&mut item, &self.id(at));
        let mut answer = |_: Kind, path: &Path| {
            if let Some(name) = path.get_ident()
                && let Some(at) = self.reach.item(name)
            {
                return Some(self.id(at).into());
            }
            let known = self.known.get(&path.to_token_stream().to_string()).cloned();
            known.or_else(|| self.reach.in_library(path))
        };
        names::replace(&mut item, false, &mut answer);
        item.into_token_stream()
    }

    /// The signature of a function that is called, of which the halves are compiled once; an error where that cannot be.
    fn called(
        &mut self,
        at: usize,
        recursive: &mut BTreeSet<String>,
    ) -> Result<(How, TokenStream)> {
        if !self.compiled.contains_key(&at) {
            let compiled = self.compile(at, recursive);
            self.compiled.insert(at, compiled);
        }
        self.compiled[&at].clone().map(|compiled| (compiled.how, compiled.signature))
    }

    fn compile(&self, at: usize, recursive: &mut BTreeSet<String>) -> Result<Compiled> {
        let (context, name, id) = (self.opened.context(), &self.reach.texts[at].name, self.id(at));
        let Some(function) = context.function(&name.to_string()) else {
            return Err(Error::new(name.span(), "there is no function of this name"));
        };
        let signature = called::signature(&id, &function, context)?;
        let (hidden, lints) = (called::hidden(&id), called::lints());
        if self.reach.opaque.contains(&name.to_string()) {
            let pullback = context.pullback(name);
            let shown = called::by_hand(&signature, name, pullback, 1)?;
            let how = if pullback.is_some() { How::Pullback } else { How::Constant };
            return Ok(Compiled {
                how,
                signature,
                beside: quote!(#lints pub mod #hidden { #shown }),
            });
        }
        let mut written = (*function).clone();
        // What is emitted for its loops is named after it, and stands beside that of its gradient.
        written.sig.ident = id.clone();
        let (halves, others) = called::compile(&id, &written, &written, context)?;
        recursive.extend(others);
        let halves = with_imports(halves, self.questions, self.set)?;
        let shown = called::halves(&id);
        let beside = quote!(#halves #lints pub mod #hidden { #shown });
        Ok(Compiled { how: How::Halves, signature, beside })
    }
}
