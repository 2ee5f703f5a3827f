//! `#[constant]` and `#[pullback]` outside a module: a function answers with what is known of it by hand.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Error, Item, Path, Result, Token};

use super::answer::{Called, Set};
use super::names::{self, Kind};
use super::{Host, called, export, export_called, prepare};
use crate::expand;
use crate::front::{How, Items, in_plain_terms, is_plain};

/// `#[constant]` on a function.
pub fn constant(item: &TokenStream, host: &Host<'_>) -> TokenStream {
    let added =
        function_under("constant", item).and_then(|function| answer(&function, None, item, host));
    let added = added.unwrap_or_else(expand::reported);
    quote!(#item #added)
}

/// `#[pullback(of = f)]` on a function.
pub fn pullback(attribute: TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    let added = function_under("pullback", item).and_then(|pullback| {
        let of = of.parse2(attribute)?;
        let Some(name) = of.segments.last().map(|last| last.ident.clone()) else {
            return Err(Error::new(of.span(), WRITE));
        };
        let mut function = pulled_back(&pullback, &name)?;
        function.vis = pullback.vis.clone();
        let answer = answer(&function, Some(&pullback.sig.ident), item, host)?;
        // A function of another module is called through this one, where its derivative is known.
        let import = (of.segments.len() > 1).then(|| {
            let vis = &function.vis;
            quote!(#[allow(unused_imports)] #vis use #of;)
        });
        Ok(quote!(#import #answer))
    });
    let added = added.unwrap_or_else(expand::reported);
    quote!(#[allow(dead_code)] #item #added)
}

/// `#[effect(forward = f, backward = g)]` on a function.
pub fn effect(attribute: TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    let added = function_under("effect", item).and_then(|function| {
        let [forward, backward] = both_halves.parse2(attribute)?;
        let name = &function.sig.ident;
        let id = export::id(name, export::unique(host.crate_name, item, name.span()));
        let signature = called::signature(&id, &function, &Items::empty())?;
        let inside = called::effect(&signature, [&forward, &backward])?;
        Ok(export_called(name, &function.vis, &id, How::Effect, signature, &inside))
    });
    let added = added.unwrap_or_else(expand::reported);
    quote!(#item #added)
}

/// The arguments of `#[effect]`.
fn both_halves(input: ParseStream<'_>) -> Result<[Path; 2]> {
    const WRITE: &str =
        "write both halves: `#[stratape::effect(forward = f_forward, backward = f_backward)]`";
    let (mut forward, mut backward) = (None, None);
    while !input.is_empty() {
        let key: Ident = input.parse().map_err(|error| Error::new(error.span(), WRITE))?;
        let half = match key.to_string().as_str() {
            "forward" => &mut forward,
            "backward" => &mut backward,
            _ => return Err(Error::new(key.span(), WRITE)),
        };
        if half.is_some() {
            return Err(Error::new(key.span(), format!("`{key}` is given twice")));
        }
        input.parse::<Token![=]>().map_err(|error| Error::new(error.span(), WRITE))?;
        *half = Some(input.parse().map_err(|error| Error::new(error.span(), WRITE))?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    match (forward, backward) {
        (Some(forward), Some(backward)) => Ok([forward, backward]),
        _ => Err(Error::new(Span::call_site(), WRITE)),
    }
}

const WRITE: &str = "write the function it belongs to: `#[stratape::pullback(of = f)]`";

fn of(input: ParseStream<'_>) -> Result<Path> {
    let refuse = |span| Error::new(span, WRITE);
    let key: Ident = input.parse().map_err(|_| refuse(Span::call_site()))?;
    if key != "of" {
        return Err(refuse(key.span()));
    }
    input.parse::<Token![=]>().map_err(|error| refuse(error.span()))?;
    input.parse().map_err(|error| refuse(error.span()))
}

fn function_under(name: &str, item: &TokenStream) -> Result<syn::ItemFn> {
    let refuse =
        |_| Error::new(Span::call_site(), format!("`#[{name}]` goes on a function with a body"));
    syn::parse2(item.clone()).map_err(refuse)
}

/// The answer of a function that the compiler does not look into.
fn answer(
    function: &syn::ItemFn,
    pullback: Option<&Ident>,
    tokens: &TokenStream,
    host: &Host<'_>,
) -> Result<TokenStream> {
    let name = &function.sig.ident;
    let unique = export::unique(host.crate_name, tokens, name.span());
    let id = export::id(name, unique);
    let how = if pullback.is_some() { How::Pullback } else { How::Constant };
    if let Some(parts) = in_parts(function, pullback)? {
        let signature = |id: &Ident| called::signature(id, &parts.plain, &Items::empty());
        let plain = export::id(&parts.plain.sig.ident, unique);
        let shown =
            called::by_hand(&signature(&plain)?, &parts.plain.sig.ident, parts.back.as_ref(), 2)?;
        // What takes the arguments apart is text, and calls the other.
        let mut text = Item::Fn(syn::ItemFn { vis: syn::Visibility::Inherited, ..parts.wrapper });
        prepare(&mut text, &id);
        let mut answer = |_: Kind, path: &Path| {
            path.is_ident(&parts.plain.sig.ident).then(|| plain.clone().into())
        };
        names::replace(&mut text, false, &mut answer);
        let mut set = Set::of(&id, [(id.clone(), text.into_token_stream())]);
        let after = quote!(::#plain);
        let signature = signature(&plain)?;
        set.add_called(Called { id: plain.clone(), how, number: 0, after, signature });
        let lints = called::lints();
        let plain = Ident::new(&plain.to_string(), Span::call_site());
        let exported =
            export::export(name, &function.vis, &set, &quote!(#lints pub mod #plain { #shown }));
        let emitted = parts.emitted;
        return Ok(quote!(#emitted #exported));
    }
    let signature = called::signature(&id, function, &Items::empty())?;
    let inside = called::by_hand(&signature, name, pullback, 1)?;
    Ok(export_called(name, &function.vis, &id, how, signature, &inside))
}

/// A function of arrays, tuples or `&mut` numbers, as it is called.
struct Parts {
    wrapper: syn::ItemFn,
    plain: syn::ItemFn,
    back: Option<Ident>,
    emitted: TokenStream,
}

fn in_parts(function: &syn::ItemFn, pullback: Option<&Ident>) -> Result<Option<Parts>> {
    let name = &function.sig.ident;
    let mut marked = function.clone();
    marked.attrs.clear();
    let mut items = Vec::new();
    match pullback {
        Some(pullback) => {
            items.push(syn::parse_quote!(#[pullback(of = #name)] fn #pullback() {}));
        }
        None => marked.attrs.push(syn::parse_quote!(#[constant])),
    }
    items.push(Item::Fn(marked));
    let Some((read, emitted)) = in_plain_terms(&items, &Items::empty())? else { return Ok(None) };
    let (mut wrapper, mut plain, mut back) = (None, None, None);
    for item in read {
        let Item::Fn(read) = item else { continue };
        if read.sig.ident == *name {
            wrapper = Some(read);
        } else if is_plain(&read.sig.ident.to_string()) {
            plain = Some(read);
        } else if Some(&read.sig.ident) != pullback {
            back = Some(read.sig.ident);
        }
    }
    let whole = |(wrapper, plain)| Parts { wrapper, plain, back, emitted };
    Ok(wrapper.zip(plain).map(whole))
}

/// The function that a pullback belongs to, as far as its signature tells: each list of floats is followed by its shadow, the seed comes last,
/// and what is returned are the adjoints of the floats.
fn pulled_back(pullback: &syn::ItemFn, name: &Ident) -> Result<syn::ItemFn> {
    let mut types: Vec<&syn::Type> = Vec::new();
    let mut inputs = pullback.sig.inputs.iter();
    while let Some(input) = inputs.next() {
        let syn::FnArg::Typed(input) = input else {
            return Err(Error::new(input.span(), "a pullback is a function, no method"));
        };
        if Items::empty().has_shadow(&input.ty) {
            let shadow = inputs.next();
            if !matches!(shadow, Some(syn::FnArg::Typed(shadow)) if is_shadow(&shadow.ty)) {
                let message = "each reference to floats is followed by its shadow, `&mut`";
                return Err(Error::new(input.ty.span(), message));
            }
        }
        types.push(&input.ty);
    }
    let floats = types.iter().filter(|ty| Items::empty().has_adjoint(ty)).count();
    let returned = match &pullback.sig.output {
        syn::ReturnType::Default => 0,
        syn::ReturnType::Type(_, ty) => match &**ty {
            // The adjoint of a tuple alone is that tuple.
            syn::Type::Tuple(tuple) if types.iter().all(|known| *known != &**ty) => {
                tuple.elems.len()
            }
            _ => 1,
        },
    };
    let seed = match (floats == returned + 1, types.last()) {
        (true, Some(last)) if is_float(last) => types.pop(),
        _ if floats == returned => None,
        _ => {
            return Err(Error::new(
                pullback.sig.ident.span(),
                "a pullback takes the arguments of its function, each list of floats followed by its shadow (`&mut`), and the \
                 adjoint of the result last; it returns the adjoints of the arguments that are floats",
            ));
        }
    };
    let inputs = types.iter().enumerate().map(|(at, ty)| {
        let name = format_ident!("a{at}");
        quote!(#name: #ty)
    });
    let output = seed.map(|ty| quote!(-> #ty));
    syn::parse2(quote!(fn #name(#(#inputs),*) #output {}))
}

fn is_float(ty: &syn::Type) -> bool {
    matches!(ty.to_token_stream().to_string().as_str(), "f64" | "f32")
}

fn is_shadow(ty: &syn::Type) -> bool {
    Items::empty().has_shadow(ty)
        && matches!(ty, syn::Type::Reference(list) if list.mutability.is_some())
}
