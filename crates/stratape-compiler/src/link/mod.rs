//! Items of other files and other crates.
//!
//! An attribute sees the tokens it stands on. An item under `#[differentiable]` therefore answers to a macro of its own name (`export.rs`)
//! with its text, and whoever calls the item asks that macro. A name in a text means what it means where the text stands, so an item
//! first asks, in its own module, for what it uses, and answers with *closed* text: a set of items in which every name from outside has been
//! replaced by the unique name of the item it stands for (`answer.rs`). Two modules with different functions of one name never meet.
//!
//! ```text
//! #[gradient] fn f → fn f, drag! { take A 0 }, lift! { take B 1 }, A! { with B J }, J! { resume … }
//!             drag! → __link! { {answer} take A 0 } → macro_rules! A { … {answer 0} … }
//!                A! → __link! { {answer 0} with B J } → B! { and {answer 0} J } → macro_rules! J { … {answers 0, 1} … }
//!                J! → __link! { {answers} resume … }   → fn f_grad
//! ```
//!
//! The steps stand side by side, so that the depth of expansion does not grow with the number of questions, nor with the length of a chain of
//! calls. rustc runs a macro when it has found it, in whatever order the files come: a question waits for its answer.

mod answer;
mod by_hand;
mod called;
mod constants;
mod export;
mod hygiene;
mod module;
mod names;
mod nested;
mod offer;
mod questions;
mod reach;
mod words;

use std::collections::HashSet;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Item, Path, Result};

use self::answer::{Called, Set, garbled};
pub use self::by_hand::{constant, effect, pullback};
pub use self::constants::Constants;
pub use self::export::shown;
use self::names::{Kind, Noticed};
pub(crate) use self::nested::flattened;
use self::questions::{Purpose, Questions};
pub use self::words::is_of_the_language;
use crate::expand;
use crate::front::{How, Items, is_marked, spell_assertions, with_paths};
use crate::kernels;
use crate::library::{Adopted, Imports};
use crate::variants::{Enums, Variants};

/// Where an attribute stands.
pub struct Host<'a> {
    /// The crate, its version included.
    pub crate_name: &'a str,
    /// What is wrong with a name that an item asks for, as far as it can be seen beforehand.
    pub missing: &'a dyn Fn(&str, &Path) -> Option<String>,
    /// The whole path of a name that an item's file imports from the standard library.
    pub library: &'a dyn Fn(&str, &Ident) -> Option<Path>,
    /// The variants that an item's module imports.
    pub variants: &'a dyn Fn(&str) -> Variants,
    /// The enums of an item's file, as its module has them.
    pub enums: &'a dyn Fn(&str) -> Enums,
    /// Names of the language that mean something else in the file.
    pub hidden: &'a dyn Fn() -> Vec<String>,
    /// Whether a function is known to stand among the items of a file, and not in an `impl`.
    pub is_free: &'a dyn Fn(&str) -> bool,
    /// The constants that stand beside the attribute.
    pub constants: &'a dyn Fn() -> Constants,
    /// The type of a crate known by heart that an item seems to name.
    pub adopted: &'a dyn Fn(&str, &Path) -> Option<Adopted>,
}

impl Noticed {
    /// Refuses what would mean something else where the text is read.
    fn check(&self) -> Result<()> {
        if let Some(span) = self.in_messages.first() {
            return Err(Error::new(
                *span,
                "a message in a function that is inlined elsewhere can name variables only: bind it with `let` first",
            ));
        }
        match self.imports.first() {
            Some(span) => Err(Error::new(
                *span,
                "an import inside a function that is inlined elsewhere: move the `use` out of the function",
            )),
            None => Ok(()),
        }
    }
}

/// An item with unique names for what it asked for.
fn linked(item: &Item, questions: &Questions, set: &Set, own: (&Ident, &Ident)) -> Item {
    let mut known = questions.known(set);
    known.insert(own.0.to_string(), own.1.clone().into());
    let mut item = item.clone();
    let mut answer = |_: Kind, path: &Path| known.get(&path.to_token_stream().to_string()).cloned();
    names::replace(&mut item, false, &mut answer);
    item
}

/// Items in which the types of crates known by heart, as imports tell them, have the names of their texts.
pub(crate) fn with_library(items: &[Item], imports: &Imports) -> Vec<Item> {
    let mut answer =
        |_: Kind, path: &Path| imports.find(path).map(|found| found.id().clone().into());
    let named = |item: &Item| {
        let mut item = item.clone();
        names::replace(&mut item, false, &mut answer);
        item
    };
    items.iter().map(named).collect()
}

/// `#[gradient]` on a function.
pub fn gradient(attribute: TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    let Ok(function) = syn::parse2::<syn::ItemFn>(item.clone()) else {
        return expand::no_function(item);
    };
    if let Some(at) =
        function.attrs.iter().position(|one| is_marked(one, &["kernel", "elementwise"]))
    {
        // The other attribute reads this one.
        let mut function = function;
        let first = function.attrs.remove(at);
        function.attrs.splice(0..0, [first, syn::parse_quote!(#[gradient(#attribute)])]);
        return function.into_token_stream();
    }
    let patterns = hygiene::patterns(&Item::Fn(function.clone()));
    if let Some(error) = hygiene::check(&Item::Fn(function.clone()), host) {
        let (emitted, error) = (expand::without_loop_marks(item), error.to_compile_error());
        return quote!(#emitted #error);
    }
    let own = function.sig.ident.clone();
    let (attribute, answered) = offer::without_mark(attribute);
    let (Item::Fn(spelled), asserted) = host.spelled_out(&Item::Fn(function), &own) else {
        return expand::no_function(item);
    };
    let patterns = quote!(#patterns #asserted);
    let questions =
        Questions::of(&Item::Fn(spelled.clone()), &own, Purpose::Here).adopting(&host.finds(&own));
    if let Some(errors) = questions.missing(&own, host) {
        let emitted = expand::without_loop_marks(item);
        return quote!(#emitted #errors);
    }
    let offer = if answered { None } else { offer::of(&spelled, item, &questions, host) };
    let find = found_in(&questions.adopted);
    let offered =
        |offer: Option<offer::Offer>| offer.map(|offer| offer.answer(&Set::default(), &find));
    if questions.paths.is_empty() && questions.adopted.is_empty() {
        let (gradient, offered) = (expand::gradient_of(attribute, item, &spelled), offered(offer));
        return quote!(#gradient #offered #patterns);
    }
    let emitted = expand::without_loop_marks(item);
    let asks = if questions.paths.is_empty() {
        let read = spelled.to_token_stream();
        let found = resume_gradient(attribute, read, &Set::default(), &find);
        let (found, offered) = (found.unwrap_or_else(expand::reported), offered(offer));
        quote!(#found #offered)
    } else {
        let unique = export::unique(host.crate_name, item, own.span());
        questions.ask(unique, &quote!(gradient { { #attribute } #offer } { #spelled }))
    };
    quote!(#[allow(dead_code)] #emitted #patterns #asks)
}

/// `#[kernel]` on a function.
pub fn kernel(attribute: &TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    let refused = |at: Span, message: &str| {
        let error = Error::new(at, message).to_compile_error();
        quote!(#item #error)
    };
    if !attribute.is_empty() {
        return refused(
            attribute.span(),
            "`#[kernel]` takes no arguments: `#[gradient(…)]` below it does",
        );
    }
    let Ok(mut function) = syn::parse2::<syn::ItemFn>(item.clone()) else {
        return refused(Span::call_site(), "`#[kernel]` goes on a function with a body");
    };
    with_paths(&mut function);
    if let Some(error) = hygiene::check(&Item::Fn(function.clone()), host) {
        return error.to_compile_error();
    }
    let own = function.sig.ident.clone();
    let (Item::Fn(spelled), asserted) = host.spelled_out(&Item::Fn(function), &own) else {
        return refused(Span::call_site(), "`#[kernel]` goes on a function with a body");
    };
    let questions =
        Questions::of(&Item::Fn(spelled.clone()), &own, Purpose::Here).adopting(&host.finds(&own));
    if let Some(errors) = questions.missing(&own, host) {
        return errors;
    }
    if questions.paths.is_empty() {
        let find = found_in(&questions.adopted);
        let read = spelled.to_token_stream();
        let kernel = resume_kernel(read, &Set::default(), &find);
        let kernel = kernel.unwrap_or_else(expand::reported);
        return quote!(#kernel #asserted);
    }
    let unique = export::unique(host.crate_name, item, own.span());
    let asks = questions.ask(unique, &quote!(kernel {} { #spelled }));
    quote!(#asks #asserted)
}

/// A kernel whose questions are answered.
fn resume_kernel(
    item: TokenStream,
    set: &Set,
    find: &dyn Fn(&Path) -> Option<Adopted>,
) -> Result<TokenStream> {
    let written: syn::ItemFn = syn::parse2(item)?;
    let own = written.sig.ident.clone();
    let questions = Questions::of(&Item::Fn(written.clone()), &own, Purpose::Here).adopting(find);
    let Item::Fn(read) = linked(&Item::Fn(written.clone()), &questions, set, (&own, &own)) else {
        return Err(garbled());
    };
    let imports = |text: &str| imports_of(text, &questions, set);
    Ok(kernels::kernel(&written, &read, &items_of(&read, &questions, set)?, &imports))
}

/// `#[device]` on an item that kernels use.
pub fn device(attribute: &TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(mut function) => {
            with_paths(&mut function);
            differentiable(attribute, &function.to_token_stream(), host)
        }
        Err(_) => differentiable(attribute, item, host),
    }
}

/// `#[differentiable]` on an item.
pub fn differentiable(attribute: &TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Mod(_)) => module::begin(attribute, item, host).unwrap_or_else(|error| {
            let (item, error) = (expand::without_marks(item), expand::reported(error));
            quote!(#item #error)
        }),
        Err(_) => expand::differentiable(attribute, item),
        Ok(parsed) => {
            let emitted = emitted(&parsed, item);
            if let Some(error) = hygiene::check(&parsed, host) {
                let error = error.to_compile_error();
                return quote!(#emitted #error);
            }
            let added = begin(attribute, &parsed, host).unwrap_or_else(expand::reported);
            // Another attribute checks them, where there is one.
            let patterns = if is_gradient(&parsed) { None } else { hygiene::patterns(&parsed) };
            quote!(#emitted #patterns #added)
        }
    }
}

/// The item itself, without the marks of its loops unless another attribute reads them.
fn emitted(parsed: &Item, item: &TokenStream) -> TokenStream {
    if is_gradient(parsed) { offer::with_mark(parsed) } else { expand::without_loop_marks(item) }
}

/// Whether an item is a function under `#[gradient]`, too.
fn is_gradient(item: &Item) -> bool {
    matches!(item, Item::Fn(function)
        if function.attrs.iter().any(|attribute| is_marked(attribute, &["gradient"])))
}

/// The name of an item that can answer, and who may see it.
fn head(item: &Item) -> Result<(Ident, syn::Visibility)> {
    match item {
        Item::Fn(item) => Ok((item.sig.ident.clone(), item.vis.clone())),
        Item::Struct(item) => Ok((item.ident.clone(), item.vis.clone())),
        Item::Enum(item) => Ok((item.ident.clone(), item.vis.clone())),
        Item::Const(item) => Ok((item.ident.clone(), item.vis.clone())),
        Item::Type(item) => Ok((item.ident.clone(), item.vis.clone())),
        Item::Impl(item) => Err(Error::new(
            item.impl_token.span(),
            "`#[differentiable]` does not work on an `impl` alone: put it and its struct into one \
             `#[stratape::differentiable] mod { … }`",
        )),
        other => Err(Error::new(
            other.span(),
            "`#[differentiable]` goes on a function, a struct, an enum, a constant, an alias, or a module",
        )),
    }
}

/// How an item under `#[differentiable]` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// With its text.
    Text,
    /// With its text, unless that is too long.
    Offered,
    /// By halves, which its signature alone told: that is known by now.
    Halves,
    /// By halves, which whoever asks hears when the types of its signature are known.
    HalvesLate,
}

fn begin(attribute: &TokenStream, item: &Item, host: &Host<'_>) -> Result<TokenStream> {
    let (name, vis) = head(item)?;
    let (item, asserted) = &host.spelled_out(item, &name);
    let tokens = &item.to_token_stream();
    let asked = match (attribute.to_string().as_str(), item) {
        ("", _) => false,
        ("halves", Item::Fn(_)) => true,
        _ => {
            let message = "`#[differentiable]` takes no arguments but `halves`, on a function";
            return Err(Error::new(attribute.span(), message));
        }
    };
    let recursive = Questions::of(item, &name, Purpose::Here).recursive;
    let by_halves = matches!(item, Item::Fn(_)) && (asked || recursive);
    let purpose = if by_halves { Purpose::Here } else { Purpose::Elsewhere };
    let questions = Questions::of(item, &name, purpose).adopting(&host.finds(&name));
    if !by_halves {
        questions.noticed.check()?;
    }
    if let Some(errors) = questions.missing(&name, host) {
        return Ok(errors);
    }
    let unique = export::unique(host.crate_name, tokens, name.span());
    let (mut way, mut exported) = (Way::Text, None);
    if let (true, Item::Fn(function)) = (by_halves, item) {
        let id = export::id(&name, unique);
        way = Way::Halves;
        match called::signature(&id, function, &Items::empty()) {
            Ok(signature) => exported = Some(export_halves(&name, &vis, &id, signature)),
            Err(error)
                if questions.adopted.is_empty()
                    && questions.paths.iter().all(|(kind, _)| *kind != Kind::Type) =>
            {
                return Err(error);
            }
            Err(_) => way = Way::HalvesLate,
        }
    }
    let rest = if questions.paths.is_empty() {
        finish(tokens.clone(), &Set::default(), unique, way, &found_in(&questions.adopted))?
    } else {
        let number = Literal::u64_unsuffixed(unique);
        let way = Ident::new(&format!("{way:?}"), Span::call_site());
        questions.ask(unique, &quote!(#way { #number } { #tokens }))
    };
    Ok(quote!(#exported #rest #asserted))
}

/// The answer of a function that goes by halves.
fn export_halves(
    name: &Ident,
    vis: &syn::Visibility,
    id: &Ident,
    signature: TokenStream,
) -> TokenStream {
    export_called(name, vis, id, How::Halves, signature, &called::halves(id))
}

/// The answer of a function that is called.
fn export_called(
    name: &Ident,
    vis: &syn::Visibility,
    id: &Ident,
    how: How,
    signature: TokenStream,
    inside: &TokenStream,
) -> TokenStream {
    let mut answer = Set::of(id, []);
    let after = TokenStream::new();
    answer.add_called(Called { id: id.clone(), how, number: 0, after, signature });
    export::export(name, vis, &answer, inside)
}

/// What an item answers, once all it asked for is known.
fn finish(
    tokens: TokenStream,
    set: &Set,
    unique: u64,
    way: Way,
    find: &dyn Fn(&Path) -> Option<Adopted>,
) -> Result<TokenStream> {
    let written: Item = syn::parse2(tokens)?;
    let (name, vis) = head(&written)?;
    let id = export::id(&name, unique);
    let as_text = matches!(way, Way::Text | Way::Offered);
    let purpose = if as_text { Purpose::Elsewhere } else { Purpose::Here };
    let questions = Questions::of(&written, &name, purpose).adopting(find);
    let mut item = written.clone();
    prepare(&mut item, &id);
    let item = linked(&item, &questions, set, (&name, &id));
    let mut answer = Set::of(&id, [(id.clone(), item.to_token_stream())]);
    set.clone().into_entries().for_each(|(id, item)| answer.add(id, item));
    let paths = questions.all_paths();
    if way == Way::Offered && called::is_large(&answer) {
        let message =
            "it is long: put `#[stratape::differentiable]` on it as well as `#[gradient]`";
        return Err(Error::new(name.span(), message));
    }
    if let (Item::Fn(written), Item::Fn(read)) = (&written, &item)
        && (!as_text || called::is_large(&answer))
    {
        let items = items_of(read, &questions, set)?;
        match (called::signature(&id, read, &items), way) {
            (Err(_), Way::Text) => {}
            (signature, _) => {
                let signature = signature?;
                let (halves, _) = called::compile(&id, written, read, &items)?;
                let halves = with_imports(halves, &questions, set)?;
                let exported =
                    (way != Way::Halves).then(|| export_halves(&name, &vis, &id, signature));
                return Ok(quote!(#halves #exported));
            }
        }
    }
    let (beside, inside, passed_on) = called::passed_on(&id, set, &paths)?;
    if let (Some(called), false) = (passed_on.first(), matches!(item, Item::Fn(_))) {
        let message = format!("`{}` is called, not repeated: only a function can do so", called.id);
        return Err(Error::new(name.span(), message));
    }
    passed_on.into_iter().for_each(|called| answer.add_called(called));
    let exported = export::export(&name, &vis, &answer, &inside);
    let checks = questions.checks();
    Ok(quote!(#checks #beside #exported))
}

/// What a function that was read can see: what it asked for, and itself.
fn items_of(read: &syn::ItemFn, questions: &Questions, set: &Set) -> Result<Items> {
    let mut items = vec![Item::Fn(read.clone())];
    for (_, item) in set.entries() {
        items.push(syn::parse2(item)?);
    }
    let mut items = Items::linked(&items, questions.unnamed(set), false)?;
    called::note(&mut items, set, &questions.all_paths())?;
    Ok(items)
}

/// Makes an item ready to be read elsewhere: under its unique name, without its attributes.
fn prepare(item: &mut Item, id: &Ident) {
    match item {
        Item::Fn(item) => {
            item.attrs.clear();
            item.sig.ident = id.clone();
            spell_assertions(&mut item.block);
        }
        Item::Impl(item) => {
            for item in &mut item.items {
                if let syn::ImplItem::Fn(method) = item {
                    spell_assertions(&mut method.block);
                }
            }
        }
        Item::Struct(item) => {
            item.attrs.clear();
            item.ident = id.clone();
            item.fields.iter_mut().for_each(|field| field.attrs.clear());
        }
        Item::Enum(item) => {
            item.attrs.clear();
            item.ident = id.clone();
            // Which variant is the default is part of what it is.
            let kept = |attribute: &syn::Attribute| attribute.path().is_ident("default");
            item.variants.iter_mut().for_each(|variant| variant.attrs.retain(kept));
        }
        Item::Const(item) => {
            item.attrs.clear();
            item.ident = id.clone();
        }
        Item::Type(item) => {
            item.attrs.clear();
            item.ident = id.clone();
        }
        _ => {}
    }
}

/// The hidden macro that every answer goes through.
pub fn link(tokens: TokenStream) -> TokenStream {
    step(tokens).unwrap_or_else(expand::reported)
}

fn step(tokens: TokenStream) -> Result<TokenStream> {
    let mut tokens = tokens.into_iter();
    let (Some(TokenTree::Group(set)), Some(TokenTree::Ident(verb))) =
        (tokens.next(), tokens.next())
    else {
        return Err(garbled());
    };
    let set = Set::parse(set.stream())?;
    let mut rest = tokens;
    match verb.to_string().as_str() {
        "take" => {
            let (name, number) = (ident(rest.next())?, rest.next().ok_or_else(garbled)?);
            let number = number.to_string().parse().map_err(|_| garbled())?;
            Ok(holder(&name, &set.numbered(number)))
        }
        "with" => {
            let (other, both) = (ident(rest.next())?, ident(rest.next())?);
            Ok(quote!(#other! { and { #set } #both }))
        }
        "and" => {
            let other = Set::parse(group(rest.next())?.stream())?;
            Ok(holder(&ident(rest.next())?, &other.join(set)))
        }
        "resume" => {
            let kind = ident(rest.next())?;
            let (with, item) = (group(rest.next())?.stream(), group(rest.next())?.stream());
            let adopted = adopted(group(rest.next())?.stream())?;
            let find = found_in(&adopted);
            match kind.to_string().as_str() {
                "gradient" => {
                    let mut with = with.into_iter();
                    let attribute = group(with.next())?.stream();
                    let gradient = resume_gradient(attribute, item.clone(), &set, &find)?;
                    let offer = offer::Offer::parse(with, item)?;
                    let offered = offer.map(|offer| offer.answer(&set, &find));
                    Ok(quote!(#gradient #offered))
                }
                "kernel" => resume_kernel(item, &set, &find),
                "module" => {
                    let unique = with.to_string().parse().map_err(|_| garbled())?;
                    module::resume(item, &set, unique, &find)
                }
                way => {
                    let way = [Way::Text, Way::Halves, Way::HalvesLate]
                        .into_iter()
                        .find(|known| format!("{known:?}") == way)
                        .ok_or_else(garbled)?;
                    let unique = with.to_string().parse().map_err(|_| garbled())?;
                    finish(item, &set, unique, way, &find)
                }
            }
        }
        _ => Err(garbled()),
    }
}

/// What was found in crates known by heart, as it was handed on.
fn adopted(tokens: TokenStream) -> Result<Vec<(Path, Adopted)>> {
    let one = |input: syn::parse::ParseStream<'_>| {
        let path: Path = input.parse()?;
        input.parse::<syn::Token![=]>()?;
        Ok((path, Adopted::of(&input.parse()?).ok_or_else(garbled)?))
    };
    let all = |input: syn::parse::ParseStream<'_>| {
        Punctuated::<_, syn::Token![,]>::parse_terminated_with(input, one)
    };
    Ok(all.parse2(tokens)?.into_iter().collect())
}

/// Finds again what was found.
fn found_in(adopted: &[(Path, Adopted)]) -> impl Fn(&Path) -> Option<Adopted> + '_ {
    |path| {
        let text = path.to_token_stream().to_string();
        let same = |one: &&(Path, Adopted)| one.0.to_token_stream().to_string() == text;
        adopted.iter().find(same).map(|(_, adopted)| adopted.clone())
    }
}

impl Host<'_> {
    /// An item in which names of the library have their whole paths, variants their enums before them, and constants are numbers; with what is to
    /// be asserted of these.
    fn spelled_out(&self, item: &Item, own: &Ident) -> (Item, TokenStream) {
        let own = own.to_string();
        let variants = (self.variants)(&own).spelled(item, &(self.enums)(&own));
        let mut spelled = variants.unwrap_or_else(|| item.clone());
        names::replace(&mut spelled, false, &mut |_, path| {
            let first = path.segments.first()?;
            let mut whole = (self.library)(&own, &first.ident)?;
            whole.segments.extend(path.segments.iter().skip(1).cloned());
            Some(whole)
        });
        let asserted = (self.constants)().replace_in(&mut spelled);
        (spelled, asserted)
    }

    /// What an item of a name finds in crates known by heart.
    fn finds(&self, own: &Ident) -> impl Fn(&Path) -> Option<Adopted> + '_ {
        let own = own.to_string();
        move |path| (self.adopted)(&own, path)
    }
}

/// A macro that holds answers.
fn holder(name: &Ident, set: &Set) -> TokenStream {
    quote! {
        macro_rules! #name {
            ($($rest:tt)*) => { ::stratape::__link! { { #set } $($rest)* } };
        }
    }
}

fn ident(token: Option<TokenTree>) -> Result<Ident> {
    match token {
        Some(TokenTree::Ident(ident)) => Ok(ident),
        _ => Err(garbled()),
    }
}

fn group(token: Option<TokenTree>) -> Result<Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Ok(group),
        _ => Err(garbled()),
    }
}

/// The gradient of a function whose questions are answered.
fn resume_gradient(
    attribute: TokenStream,
    item: TokenStream,
    set: &Set,
    find: &dyn Fn(&Path) -> Option<Adopted>,
) -> Result<TokenStream> {
    let written: syn::ItemFn = syn::parse2(item)?;
    let own = written.sig.ident.clone();
    let questions = Questions::of(&Item::Fn(written.clone()), &own, Purpose::Here).adopting(find);
    let Item::Fn(read) = linked(&Item::Fn(written.clone()), &questions, set, (&own, &own)) else {
        return Err(garbled());
    };
    let items = items_of(&read, &questions, set)?;
    let tokens = expand::linked_gradient(attribute, &written, &read, &items);
    with_imports(tokens, &questions, set)
}

/// What types with unique names, as far as a text has them, stand for.
fn imports_of(text: &str, questions: &Questions, set: &Set) -> TokenStream {
    let (mut imports, mut known) = (TokenStream::new(), HashSet::new());
    for (number, id) in &set.answers {
        let Some((Kind::Type, path)) = questions.paths.get(*number) else { continue };
        // It may have been asked for under two paths.
        if text.contains(&id.to_string()) && known.insert(id.to_string()) {
            let id = Ident::new(&id.to_string(), Span::call_site());
            imports.extend(quote!(#[allow(unused_imports)] use #path as #id;));
        }
    }
    imports
}

/// Types that were asked for have unique names in what is emitted: each function says what they stand for.
fn with_imports(tokens: TokenStream, questions: &Questions, set: &Set) -> Result<TokenStream> {
    let text = tokens.to_string();
    let mut imports = imports_of(&text, questions, set);
    for (_, adopted) in &questions.adopted {
        let more = adopted.imports(&text);
        // Those of a crate import the same.
        if !imports.to_string().contains(&more.to_string()) {
            imports.extend(more);
        }
    }
    imports.extend(questions.checks());
    if imports.is_empty() {
        return Ok(tokens);
    }
    let mut made: syn::File = syn::parse2(tokens)?;
    for made in &mut made.items {
        if let Item::Fn(function) = made {
            function.block.stmts.insert(0, syn::Stmt::Item(Item::Verbatim(imports.clone())));
            for (_, adopted) in &questions.adopted {
                let signature = adopted.spelled(function.sig.to_token_stream());
                function.sig = syn::parse2(signature)?;
            }
        }
    }
    Ok(made.into_token_stream())
}
