//! Functions in plain terms: numbers and slices of numbers.
//!
//! A call that stays a call passes nothing else. A function `f` of structs, tuples, arrays or `&mut` numbers that the compiler does not look into, or that
//! calls itself, becomes two that are written by hand no more: `f` takes its arguments apart and puts its results together, and is expanded
//! where it is called; `f__plain` takes the pieces. Below it stands the function itself: as it is, if its derivative is known by hand, or
//! as `f__body`, if it calls itself.
//!
//! ```text
//! fn f(p: &Point, y: &mut f64)            { let mut y_0 = [*y]; f__plain(p.x, p.y, &mut y_0); *y = y_0[0] }
//! fn f__plain(p_0: f64, p_1: f64, y_0: &mut [f64]) { let mut y = y_0[0]; f__body(&Point { x: p_0, y: p_1 }, &mut y); y_0[0] = y }
//! ```

use std::collections::{HashMap, HashSet};

use crate::walk::visit::{self, Visit};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Item, Result};

use super::pieces::{Whole, take_apart, zero};
use super::{Items, is_marked, pullback_of};
use stratape_ir::Type;

/// What follows the name of a function that takes the pieces.
const PLAIN: &str = "__plain";
/// What follows the name of one that calls itself, once its pieces are together again.
const BODY: &str = "__body";

/// Whether a function is one that takes pieces.
pub(crate) fn is_plain(name: &str) -> bool {
    name.ends_with(PLAIN)
}

/// Whether a function stands above or below one that takes pieces: the circle is closed there, and not here.
pub(super) fn is_beside(name: &str, functions: &HashMap<String, std::rc::Rc<syn::ItemFn>>) -> bool {
    name.ends_with(BODY) || functions.contains_key(&format!("{name}{PLAIN}"))
}

/// The items of a module as they are read, and what is emitted beside them; nothing if they are plain as they are.
pub(crate) fn in_plain_terms(
    items: &[Item],
    context: &Items,
) -> Result<Option<(Vec<Item>, TokenStream)>> {
    let by_hand = by_hand(items)?;
    let circles = circles(items);
    let (mut read, mut emitted, mut changed) = (Vec::new(), TokenStream::new(), HashSet::new());
    for item in items {
        let border = match item {
            Item::Fn(function) if function.sig.generics.type_params().next().is_none() => {
                let name = function.sig.ident.to_string();
                let known = by_hand.contains_key(&name);
                let wanted = known || circles.contains(&name);
                wanted.then(|| Border::of(function, context, !known)).flatten()
            }
            _ => None,
        };
        let (Item::Fn(function), Some(border)) = (item, border) else {
            read.push(item.clone());
            continue;
        };
        let name = &function.sig.ident;
        match by_hand.get(&name.to_string()) {
            Some(_) if !border.results.is_empty() => {
                read.push(item.clone());
                continue;
            }
            Some(pullback) => {
                let plain = border.plain(name);
                emitted.extend(plain.to_token_stream());
                let mut seen = syn::ItemFn { block: syn::parse_quote!({}), ..plain };
                match pullback {
                    None => seen.attrs.push(syn::parse_quote!(#[constant])),
                    Some(pullback) => {
                        let mut back = border.backward(pullback);
                        emitted.extend(back.to_token_stream());
                        let of = &seen.sig.ident;
                        back.attrs.push(syn::parse_quote!(#[pullback(of = #of)]));
                        *back.block = syn::parse_quote!({});
                        read.push(Item::Fn(back));
                    }
                }
                read.push(Item::Fn(seen));
            }
            None => {
                let body = format_ident!("{name}{BODY}");
                read.push(Item::Fn(border.plain(&body)));
                let mut below = function.clone();
                (below.sig.ident, below.vis) = (body, syn::Visibility::Inherited);
                read.push(Item::Fn(below));
            }
        }
        changed.insert(name.to_string());
        read.push(Item::Fn(border.wrapper()));
    }
    if changed.is_empty() {
        return Ok(None);
    }
    // What was known by hand of a function is known of its plain form.
    for item in &mut read {
        if let Item::Fn(function) = item {
            let whose = |attribute: &syn::Attribute| {
                is_marked(attribute, &["pullback"])
                    && pullback_of(attribute).is_ok_and(|of| changed.contains(&of.to_string()))
            };
            function.attrs.retain(|attribute| !whose(attribute));
        }
    }
    Ok(Some((read, emitted)))
}

/// The functions of a module that the compiler does not look into, and their pullbacks.
fn by_hand(items: &[Item]) -> Result<HashMap<String, Option<Ident>>> {
    let mut found = HashMap::new();
    for item in items {
        let Item::Fn(function) = item else { continue };
        for attribute in &function.attrs {
            if is_marked(attribute, &["constant"]) {
                found.insert(function.sig.ident.to_string(), None);
            } else if is_marked(attribute, &["pullback"]) {
                let of = pullback_of(attribute)?;
                found.insert(of.to_string(), Some(function.sig.ident.clone()));
            }
        }
    }
    Ok(found)
}

/// The functions that call themselves, directly or through others.
fn circles(items: &[Item]) -> HashSet<String> {
    /// The words of a text that are no names of its variables, or are called.
    fn words(tokens: TokenStream, own: &HashSet<String>, found: &mut HashSet<String>) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    let called = |next: &TokenTree| match next {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis,
                        _ => false,
                    };
                    if !own.contains(&word) || tokens.peek().is_some_and(called) {
                        found.insert(word);
                    }
                }
                TokenTree::Group(group) => words(group.stream(), own, found),
                _ => {}
            }
        }
    }
    let mut calls: HashMap<String, HashSet<String>> = HashMap::new();
    for item in items {
        if let Item::Fn(function) = item {
            let mut own = Variables::default();
            own.visit_item_fn(function);
            let mut found = HashSet::new();
            words(function.block.to_token_stream(), &own.0, &mut found);
            calls.insert(function.sig.ident.to_string(), found);
        }
    }
    let calls_itself = |start: &String| {
        let (mut seen, mut left) = (HashSet::new(), vec![start]);
        while let Some(at) = left.pop() {
            for called in calls.get(at).into_iter().flatten() {
                if called == start {
                    return true;
                }
                if calls.contains_key(called) && seen.insert(called) {
                    left.push(called);
                }
            }
        }
        false
    };
    calls.keys().filter(|name| calls_itself(name)).cloned().collect()
}

/// The names of the variables of a function.
#[derive(Default)]
struct Variables(HashSet<String>);

impl<'a> Visit<'a> for Variables {
    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        self.0.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

/// The arguments of a function and its result, in pieces.
struct Border {
    function: syn::ItemFn,
    arguments: Vec<Whole>,
    /// The result, if it is not a number.
    results: Vec<Whole>,
}

impl Border {
    /// `None` for a function that is plain already, or that has what cannot be taken apart.
    fn of(function: &syn::ItemFn, context: &Items, recursive: bool) -> Option<Self> {
        let mut plain = true;
        let mut whole = |name: Ident, ty: &syn::Type, result: bool| {
            let written = context.read_type(ty).ok()?;
            let mut whole = Whole {
                name,
                ty: ty.clone(),
                read: written.ty,
                reference: written.reference,
                pieces: Vec::new(),
            };
            if result && written.reference.is_some() {
                return None;
            }
            // Lists of structs go round as they are.
            let list = matches!(&whole.read, Type::Slice(item) if recursive && item.is_fixed());
            if context.plain_type(ty).is_none() && !(list && whole.reference.is_some()) {
                plain = false;
                let growing = whole.reference == Some(true) || result;
                let (read, mut pieces) = (whole.read.clone(), Vec::new());
                take_apart(&read, &TokenStream::new(), growing, &whole.name, &mut pieces)?;
                whole.pieces = pieces;
            }
            Some(whole)
        };
        let mut arguments = Vec::new();
        for (at, input) in function.sig.inputs.iter().enumerate() {
            let syn::FnArg::Typed(input) = input else { return None };
            arguments.push(whole(format_ident!("a{at}"), &input.ty, false)?);
        }
        let results = match &function.sig.output {
            syn::ReturnType::Type(_, ty) if context.plain_type(ty).is_none() => {
                vec![whole(format_ident!("result"), ty, true)?]
            }
            _ => Vec::new(),
        };
        (!plain).then(|| Self { function: function.clone(), arguments, results })
    }

    fn plain_name(&self) -> Ident {
        format_ident!("{}{PLAIN}", self.function.sig.ident)
    }

    /// The function as it is called: it takes its arguments apart.
    fn wrapper(&self) -> syn::ItemFn {
        let (mut before, mut passed, mut after) = (Vec::new(), Vec::new(), Vec::new());
        // Its arguments keep their names.
        let mut function = self.function.clone();
        function.attrs.clear();
        for (input, whole) in function.sig.inputs.iter_mut().zip(&self.arguments) {
            let syn::FnArg::Typed(input) = input else { continue };
            let name = match &*input.pat {
                syn::Pat::Ident(pattern) => pattern.ident.clone(),
                _ => whole.name.clone(),
            };
            *input.pat = syn::parse_quote!(#name);
            let name = &name;
            if whole.pieces.is_empty() {
                passed.push(quote!(#name));
            }
            for piece in &whole.pieces {
                let at = whole.at(piece, name);
                let part = &piece.name;
                match (piece.list, whole.reference) {
                    (true, Some(true)) => passed.push(quote!(&mut #at[..])),
                    (true, _) => passed.push(quote!(&#at[..])),
                    (false, Some(true)) => {
                        before.push(quote!(let mut #part = [#at];));
                        passed.push(quote!(&mut #part));
                        after.push(quote!(#at = #part[0];));
                    }
                    (false, _) => passed.push(quote!(#at)),
                }
            }
        }
        let plain = self.plain_name();
        let mut result = quote!(__value);
        for whole in &self.results {
            for piece in &whole.pieces {
                let (part, zero) = (&piece.name, zero(piece.scalar));
                let len = match piece.list {
                    true => whole.len(piece),
                    false => quote!(1),
                };
                before.push(quote!(let mut #part = [#zero; #len];));
                passed.push(quote!(&mut #part));
            }
            result = whole.together(&|piece| {
                let part = &piece.name;
                if piece.list { quote!(#part) } else { quote!(#part[0]) }
            });
        }
        let value = if self.results.is_empty() { quote!(let __value =) } else { quote!() };
        *function.block =
            syn::parse_quote!({ #(#before)* #value #plain(#(#passed),*); #(#after)* #result });
        function
    }

    /// The function of the pieces, which calls another with what they make.
    fn plain(&self, called: &Ident) -> syn::ItemFn {
        let (mut params, mut before, mut passed, mut after) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for whole in &self.arguments {
            params.extend(whole.params());
            whole.put_together(&mut before, &mut after);
            passed.push(whole.passed());
        }
        let (mut output, mut value) = (self.function.sig.output.clone(), quote!(let value =));
        let mut result = quote!(value);
        for whole in &self.results {
            params.extend(whole.pieces.iter().map(|piece| {
                let (part, scalar) = (&piece.name, piece.scalar());
                quote!(#part: &mut [#scalar])
            }));
            let name = &whole.name;
            value = quote!(let #name =);
            for piece in &whole.pieces {
                let (part, at) = (&piece.name, whole.at(piece, name));
                after.push(match piece.list {
                    true => quote!(#part.copy_from_slice(&#at);),
                    false => quote!(#part[0] = #at;),
                });
            }
            (output, result) = (syn::ReturnType::Default, quote!());
        }
        let (name, lints) = (self.plain_name(), lints());
        syn::parse_quote! {
            #lints
            fn #name(#(#params),*) #output {
                #(#before)*
                #value #called(#(#passed),*);
                #(#after)*
                #result
            }
        }
    }

    /// The pullback of the function of the pieces, which calls the one by hand.
    fn backward(&self, pullback: &Ident) -> syn::ItemFn {
        let (mut params, mut before, mut passed, mut after) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        // What the pullback returns, and what is returned of it.
        let (mut returned, mut adjoints, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for whole in &self.arguments {
            let shadow = format_ident!("d{}", whole.name);
            let floats = whole.read.has_float();
            for param in whole.params_with_shadows() {
                params.push(param);
            }
            // What the pullback leaves in what the function wrote is nobody's.
            whole.put_together(&mut before, &mut Vec::new());
            passed.push(whole.passed());
            match (whole.pieces.is_empty(), whole.reference) {
                _ if !floats => {}
                (true, Some(_)) => passed.push(quote!(#shadow)),
                (true, None) => {
                    returned.push(shadow.clone());
                    types.push(whole.ty.to_token_stream());
                    adjoints.push(quote!(#shadow));
                }
                (false, reference) => {
                    if reference.is_some() {
                        before.push(whole.shadow_together(&shadow));
                        passed.push(quote!(&mut #shadow));
                    } else {
                        returned.push(shadow.clone());
                    }
                    for piece in whole.pieces.iter().filter(|piece| piece.float()) {
                        let (at, part) = (whole.inside(piece, &shadow), piece.shadow());
                        match (piece.list, reference) {
                            (true, Some(_)) => after.push(quote!(#part.copy_from_slice(&#at);)),
                            (true, None) => after.push(quote! {
                                for (sum, term) in #part.iter_mut().zip(#at.iter()) { *sum += *term; }
                            }),
                            (false, Some(true)) => after.push(quote!(#part[0] = #at;)),
                            (false, _) => {
                                types.push(piece.scalar().to_token_stream());
                                adjoints.push(at);
                            }
                        }
                    }
                }
            }
        }
        if let syn::ReturnType::Type(_, ty) = &self.function.sig.output {
            params.push(quote!(seed: #ty));
            passed.push(quote!(seed));
        }
        let bound = match &returned[..] {
            [] => quote!(),
            [one] => quote!(let #one =),
            many => quote!(let (#(#many),*) =),
        };
        let together = |all: &[TokenStream]| match all {
            [one] => one.clone(),
            many => quote!((#(#many),*)),
        };
        let (result, output) = (together(&adjoints), together(&types));
        let (name, lints) = (format_ident!("{}{PLAIN}_back", self.function.sig.ident), lints());
        syn::parse_quote! {
            #lints
            fn #name(#(#params),*) -> #output {
                #(#before)*
                #bound #pullback(#(#passed),*);
                #(#after)*
                #result
            }
        }
    }
}

fn lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code, unused_mut, unused_variables, non_snake_case, clippy::all, clippy::pedantic
        )]
    }
}
