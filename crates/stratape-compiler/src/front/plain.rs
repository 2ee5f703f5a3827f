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

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Item, Result};

use super::{Items, is_marked, pullback_of};
use stratape_ir::{Scalar, Type};

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
                let wanted = by_hand.contains_key(&name) || circles.contains(&name);
                wanted.then(|| Border::of(function, context)).flatten()
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
    fn words(tokens: TokenStream, found: &mut HashSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => drop(found.insert(ident.to_string())),
                TokenTree::Group(group) => words(group.stream(), found),
                _ => {}
            }
        }
    }
    let mut calls: HashMap<String, HashSet<String>> = HashMap::new();
    for item in items {
        if let Item::Fn(function) = item {
            let mut found = HashSet::new();
            words(function.block.to_token_stream(), &mut found);
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

/// One piece of an argument or a result.
struct Piece {
    name: Ident,
    /// Where it is in the whole, after the name of the whole.
    after: TokenStream,
    scalar: Scalar,
    list: bool,
}

impl Piece {
    fn float(&self) -> bool {
        self.scalar.is_float()
    }

    fn scalar(&self) -> Ident {
        format_ident!("{}", self.scalar.name())
    }

    fn shadow(&self) -> Ident {
        format_ident!("d{}", self.name)
    }
}

/// An argument of a function, or its result.
struct Whole {
    name: Ident,
    ty: syn::Type,
    read: Type,
    /// Whether it is behind a reference, and behind one that writes.
    reference: Option<bool>,
    pieces: Vec<Piece>,
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
    fn of(function: &syn::ItemFn, context: &Items) -> Option<Self> {
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
            if context.plain_type(ty).is_none() {
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
        for whole in &self.arguments {
            let name = &whole.name;
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
        let mut result = quote!(value);
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
        let value = if self.results.is_empty() { quote!(let value =) } else { quote!() };
        let mut function = self.function.clone();
        function.attrs.clear();
        for (input, whole) in function.sig.inputs.iter_mut().zip(&self.arguments) {
            if let syn::FnArg::Typed(input) = input {
                let name = &whole.name;
                *input.pat = syn::parse_quote!(#name);
            }
        }
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

impl Whole {
    /// A piece of something of this type, by its name or through a reference.
    fn at(&self, piece: &Piece, name: &Ident) -> TokenStream {
        let after = &piece.after;
        match (after.is_empty(), self.reference) {
            (true, Some(_)) => quote!((*#name)),
            _ => quote!(#name #after),
        }
    }

    /// A piece of a variable of this type.
    fn inside(&self, piece: &Piece, name: &Ident) -> TokenStream {
        let after = &piece.after;
        quote!(#name #after)
    }

    /// The parameters of its pieces.
    fn params(&self) -> Vec<TokenStream> {
        if self.pieces.is_empty() {
            let (name, ty) = (&self.name, &self.ty);
            return vec![quote!(#name: #ty)];
        }
        let mutable = self.reference == Some(true);
        let one = |piece: &Piece| {
            let (part, scalar) = (&piece.name, piece.scalar());
            match (mutable, piece.list) {
                (true, _) => quote!(#part: &mut [#scalar]),
                (false, true) => quote!(#part: &[#scalar]),
                (false, false) => quote!(#part: #scalar),
            }
        };
        self.pieces.iter().map(one).collect()
    }

    /// The parameters of its pieces, and the shadows of those that have one.
    fn params_with_shadows(&self) -> Vec<TokenStream> {
        let mut params = self.params();
        if self.pieces.is_empty() {
            if let (Some(_), Some(item), true) =
                (self.reference, self.read.element(), self.read.has_float())
            {
                let scalar = format_ident!("{}", item.scalar().map_or("f64", Scalar::name));
                let shadow = format_ident!("d{}", self.name);
                params.push(quote!(#shadow: &mut [#scalar]));
            }
            return params;
        }
        let mutable = self.reference == Some(true);
        let mut all = Vec::new();
        for (param, piece) in params.into_iter().zip(&self.pieces) {
            all.push(param);
            if piece.float() && (mutable || piece.list) {
                let (shadow, scalar) = (piece.shadow(), piece.scalar());
                all.push(quote!(#shadow: &mut [#scalar]));
            }
        }
        all
    }

    /// Makes the whole of its pieces, and gives back what is written to it.
    fn put_together(&self, before: &mut Vec<TokenStream>, after: &mut Vec<TokenStream>) {
        if self.pieces.is_empty() {
            return;
        }
        let (name, mutable) = (&self.name, self.reference == Some(true));
        let value = self.together(&|piece| {
            let part = &piece.name;
            match (piece.list, mutable) {
                (true, _) => self.owned(piece, part),
                (false, true) => quote!(#part[0]),
                (false, false) => quote!(#part),
            }
        });
        if !mutable {
            before.push(quote!(let #name = #value;));
            return;
        }
        before.push(quote!(let mut #name = #value;));
        for piece in &self.pieces {
            let (part, at) = (&piece.name, self.inside(piece, name));
            after.push(match piece.list {
                true => quote!(#part.copy_from_slice(&#at);),
                false => quote!(#part[0] = #at;),
            });
        }
    }

    /// A shadow of the whole, from those of its pieces; what has none is as it is in the whole.
    fn shadow_together(&self, shadow: &Ident) -> TokenStream {
        let mutable = self.reference == Some(true);
        let value = self.together(&|piece| {
            let own = self.inside(piece, &self.name);
            let (part, zero) = (piece.shadow(), zero(piece.scalar));
            match (piece.float(), piece.list, mutable) {
                (false, false, _) => own,
                (false, true, _) => quote!(#own.clone()),
                (true, true, _) => self.owned(piece, &part),
                (true, false, true) => quote!(#part[0]),
                (true, false, false) => zero,
            }
        });
        quote!(let mut #shadow = #value;)
    }

    /// How the function takes it.
    fn passed(&self) -> TokenStream {
        let name = &self.name;
        match (self.pieces.is_empty(), self.reference) {
            (true, _) | (false, None) => quote!(#name),
            (false, Some(true)) => quote!(&mut #name),
            (false, Some(false)) => quote!(&#name),
        }
    }

    /// A list of its own, of the type that the whole has there.
    fn owned(&self, piece: &Piece, part: &Ident) -> TokenStream {
        match list_of(&self.read, &mut self.pieces.iter(), piece) {
            Some(Type::Array(_, len)) => {
                let zero = zero(piece.scalar);
                let len = tokens(&len.to_string());
                quote!({ let mut list = [#zero; #len]; list.copy_from_slice(&#part[..]); list })
            }
            _ => quote!(#part.to_vec()),
        }
    }

    /// How long an array is.
    fn len(&self, piece: &Piece) -> TokenStream {
        match list_of(&self.read, &mut self.pieces.iter(), piece) {
            Some(Type::Array(_, len)) => tokens(&len.to_string()),
            _ => quote!(0),
        }
    }

    /// The whole of its pieces.
    fn together(&self, piece: &dyn Fn(&Piece) -> TokenStream) -> TokenStream {
        together(&self.read, &mut self.pieces.iter(), piece)
    }
}

/// Finds the pieces of a type; `None` if it has what cannot be passed.
fn take_apart(
    ty: &Type,
    after: &TokenStream,
    fixed: bool,
    whole: &Ident,
    pieces: &mut Vec<Piece>,
) -> Option<()> {
    let mut push = |scalar: Scalar, list: bool| {
        let name = format_ident!("{whole}_{}", pieces.len());
        pieces.push(Piece { name, after: after.clone(), scalar, list });
    };
    match ty {
        Type::Scalar(scalar) => push(*scalar, false),
        Type::Array(item, _) => push(item.scalar()?, true),
        // What is written keeps its length.
        Type::Vec(item) if !fixed => push(item.scalar()?, true),
        Type::Tuple(items) => {
            for (at, item) in items.iter().enumerate() {
                let at = syn::Index::from(at);
                take_apart(item, &quote!(#after.#at), fixed, whole, pieces)?;
            }
        }
        Type::Struct(def) => {
            for (field, ty) in &def.fields {
                let field = tokens(field);
                take_apart(ty, &quote!(#after.#field), fixed, whole, pieces)?;
            }
        }
        Type::Enum(_) | Type::Slice(_) | Type::Vec(_) => return None,
    }
    Some(())
}

/// Something of a type, of its pieces in order.
fn together<'a>(
    ty: &Type,
    pieces: &mut dyn Iterator<Item = &'a Piece>,
    one: &dyn Fn(&Piece) -> TokenStream,
) -> TokenStream {
    match ty {
        Type::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|item| together(item, pieces, one)).collect();
            quote!((#(#items,)*))
        }
        Type::Struct(def) => {
            let name = tokens(&def.name);
            let fields = def.fields.iter().map(|(field, ty)| {
                let (field, value) = (tokens(field), together(ty, pieces, one));
                quote!(#field: #value)
            });
            let fields: Vec<_> = fields.collect();
            quote!(#name { #(#fields),* })
        }
        _ => pieces.next().map(one).unwrap_or_default(),
    }
}

/// The type of a piece that is a list.
fn list_of<'a>(
    ty: &Type,
    pieces: &mut dyn Iterator<Item = &'a Piece>,
    wanted: &Piece,
) -> Option<Type> {
    match ty {
        Type::Tuple(items) => items.iter().find_map(|item| list_of(item, pieces, wanted)),
        Type::Struct(def) => def.fields.iter().find_map(|(_, ty)| list_of(ty, pieces, wanted)),
        _ => pieces.next().is_some_and(|piece| piece.name == wanted.name).then(|| ty.clone()),
    }
}

fn zero(scalar: Scalar) -> TokenStream {
    let name = scalar.name();
    match name {
        "bool" => quote!(false),
        _ if scalar.is_float() => tokens(&format!("0.0_{name}")),
        _ => tokens(&format!("0_{name}")),
    }
}

/// Text of ours as tokens.
fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

fn lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code, unused_mut, unused_variables, non_snake_case, clippy::all, clippy::pedantic
        )]
    }
}
