//! Functions that are called where they stand.
//!
//! Their answer is a signature and the way to name what is called, not their text. Some are compiled by themselves, into the two functions that recursion uses as
//! well: those that call themselves, those whose text has become too long to be repeated wherever they are called, and those that ask for it,
//! `#[differentiable(halves)]`. Of others the derivative is known by hand.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Path, Result};

use super::answer::{Called, Set};
use crate::expand;
use crate::front::{Elsewhere, How, Items};

/// The number of tokens above which a function is called rather than repeated.
const LONGEST: usize = 4000;

/// How deep calls nest in a text that is repeated.
const DEEPEST: usize = 24;

/// Whether a text is to be called rather than repeated.
pub(super) fn is_large(answer: &Set) -> bool {
    answer.size() > LONGEST || answer.depth() > DEEPEST
}

/// The signature of a function in words that mean the same everywhere; an error where halves cannot have it.
pub(super) fn signature(id: &Ident, read: &syn::ItemFn, items: &Items) -> Result<TokenStream> {
    let refuse = |span| {
        Error::new(
            span,
            "a function that gradients call instead of inlining takes numbers and slices of numbers, and returns a number or nothing: pass the \
             fields one by one, or put it into a `#[stratape::differentiable] mod` together with its types",
        )
    };
    let mut inputs = Vec::new();
    for (at, input) in read.sig.inputs.iter().enumerate() {
        let syn::FnArg::Typed(typed) = input else { return Err(refuse(input.span())) };
        let ty = items.plain_type(&typed.ty).ok_or_else(|| refuse(typed.ty.span()))?;
        let name = format_ident!("a{at}");
        inputs.push(quote!(#name: #ty));
    }
    let output = match &read.sig.output {
        syn::ReturnType::Default => None,
        syn::ReturnType::Type(_, ty) => {
            let plain = items.plain_type(ty).filter(|_| !matches!(**ty, syn::Type::Reference(_)));
            let ty = plain.ok_or_else(|| refuse(ty.span()))?;
            Some(quote!(-> #ty))
        }
    };
    Ok(quote!(fn #id(#(#inputs),*) #output;))
}

/// Tells the compiler of the functions that a text calls.
pub(super) fn note(items: &mut Items, set: &Set, paths: &[&Path]) -> Result<()> {
    for Called { id, how, number, after, signature } in &set.called {
        let Some(path) = paths.get(*number) else { continue };
        let signature: syn::TraitItemFn = syn::parse2(signature.clone())?;
        let path = quote!(#path #after);
        items.add_elsewhere(id, Elsewhere { signature: signature.sig, path, how: *how });
    }
    Ok(())
}

/// The halves of a function, which stand beside it, and the functions that call themselves they need.
pub(super) fn compile(
    id: &Ident,
    written: &syn::ItemFn,
    read: &syn::ItemFn,
    items: &Items,
) -> Result<(TokenStream, BTreeSet<String>)> {
    let mut emitted = written.clone();
    emitted.sig.ident = Ident::new(&id.to_string(), written.sig.ident.span());
    // The module of the function's name shows them to whoever sees the function.
    emitted.vis = syn::parse_quote!(pub);
    emitted.attrs.clear();
    expand::one_by_halves((&emitted, read), items, false)
}

/// The module that shows the halves of a function to texts of its own module, which whoever reads them calls.
pub(super) fn hidden(id: &Ident) -> Ident {
    format_ident!("__stratape_called_{}", id, span = Span::call_site())
}

/// What the module of a function's name shows of its halves.
pub(super) fn halves(id: &Ident) -> TokenStream {
    let name =
        |half: &str| Ident::new(&crate::front::half_name(&id.to_string(), half), Span::call_site());
    let (forward, backward) = (name("forward"), name("backward"));
    quote!(pub use super::{#forward as forward, #backward as backward};)
}

/// What a module, so deep in that of the function, shows of what is known by hand.
pub(super) fn by_hand(
    signature: &TokenStream,
    function: &Ident,
    pullback: Option<&Ident>,
    depth: usize,
) -> Result<TokenStream> {
    let signature: syn::TraitItemFn = syn::parse2(signature.clone())?;
    let here = |name: &Ident| Ident::new(&name.to_string(), Span::call_site());
    let function = here(function);
    let up = vec![quote!(super::); depth];
    let forward = Calls::of(How::Pullback, &signature.sig).forward;
    let mut shown = forward.calling(&format_ident!("forward"), &quote!(#(#up)*#function));
    if let Some(pullback) = pullback.map(here) {
        let backward = Calls::of(How::Pullback, &signature.sig).backward;
        let name = format_ident!("backward");
        shown.extend(backward.calling(&name, &quote!(#(#up)*#pullback)));
    }
    Ok(shown)
}

/// What a module shows of the two halves of a function that acts outside of the program.
pub(super) fn effect(
    signature: &TokenStream,
    [forward, backward]: [&Path; 2],
) -> Result<TokenStream> {
    let signature: syn::TraitItemFn = syn::parse2(signature.clone())?;
    let calls = Calls::of(How::Effect, &signature.sig);
    let mut shown = calls.forward.calling(&format_ident!("forward"), &from_inside(forward));
    shown.extend(calls.backward.calling(&format_ident!("backward"), &from_inside(backward)));
    Ok(shown)
}

/// A path as it is written in a module one deeper.
fn from_inside(path: &Path) -> TokenStream {
    let absolute = path.leading_colon.is_some()
        || path.segments.first().is_some_and(|first| first.ident == "crate");
    if absolute { quote!(#path) } else { quote!(super::#path) }
}

/// The two functions behind one that is called.
struct Calls {
    forward: Caller,
    backward: Caller,
}

/// A function that calls another with what it is given.
#[derive(Default)]
struct Caller {
    params: Vec<(Ident, TokenStream)>,
    output: TokenStream,
}

impl Calls {
    fn of(how: How, signature: &syn::Signature) -> Self {
        let (mut forward, mut backward) = (Caller::default(), Caller::default());
        let halves = how.is_taped();
        if halves {
            let tape = quote!(&mut ::stratape::tape::RecordTape);
            forward.params.push((format_ident!("tape"), tape.clone()));
            backward.params.push((format_ident!("tape"), tape));
        }
        let mut adjoints = Vec::new();
        for input in &signature.inputs {
            let syn::FnArg::Typed(input) = input else { continue };
            let (name, ty) = (format_ident!("p{}", forward.params.len()), &input.ty);
            forward.params.push((name.clone(), quote!(#ty)));
            let list = match &**ty {
                syn::Type::Reference(list) => Some(&list.elem),
                _ => None,
            };
            if list.is_none() || !halves {
                backward.params.push((name.clone(), quote!(#ty)));
            }
            match list {
                Some(list) if matches!(&**list, syn::Type::Slice(slice) if is_float(&slice.elem)) =>
                {
                    backward.params.push((format_ident!("d{name}"), quote!(&mut #list)));
                }
                None if is_float(ty) => adjoints.push(ty),
                _ => {}
            }
        }
        let result = match &signature.output {
            syn::ReturnType::Default => quote!(()),
            syn::ReturnType::Type(_, ty) => {
                backward.params.push((format_ident!("seed"), quote!(#ty)));
                quote!(#ty)
            }
        };
        let adjoints = match &adjoints[..] {
            [one] => quote!(#one),
            many => quote!((#(#many),*)),
        };
        let output = |value: TokenStream| match halves {
            true => quote!(::core::result::Result<#value, ::stratape::tape::TapeError>),
            false => value,
        };
        (forward.output, backward.output) = (output(result), output(adjoints));
        Self { forward, backward }
    }
}

impl Caller {
    fn calling(&self, name: &Ident, called: &TokenStream) -> TokenStream {
        let (names, types): (Vec<_>, Vec<_>) = self.params.iter().cloned().unzip();
        let (output, lints) = (&self.output, lints());
        quote! {
            #lints
            #[inline]
            pub fn #name(#(#names: #types),*) -> #output {
                #called(#(#names),*)
            }
        }
    }
}

fn is_float(ty: &syn::Type) -> bool {
    matches!(ty.to_token_stream().to_string().as_str(), "f64" | "f32")
}

/// What is emitted beside people's items does not trouble them.
pub(super) fn lints() -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(unused_imports, unreachable_pub, non_snake_case, dead_code, clippy::all, clippy::pedantic)]
    }
}

/// For a text that calls functions: what stands beside it and what the module of its name shows, so that whoever reads the text can
/// call them as well, and how its answer says so.
///
/// The text may name them by an import that nobody else sees: they are called from beside it.
pub(super) fn passed_on(
    id: &Ident,
    set: &Set,
    paths: &[&Path],
) -> Result<(TokenStream, TokenStream, Vec<Called>)> {
    let (mut beside, mut inside, mut all) = (TokenStream::new(), TokenStream::new(), Vec::new());
    for called in &set.called {
        let Some(path) = paths.get(called.number) else { continue };
        let (after, theirs) =
            (&called.after, Ident::new(&called.id.to_string(), Span::call_site()));
        let signature: syn::TraitItemFn = syn::parse2(called.signature.clone())?;
        let calls = Calls::of(called.how, &signature.sig);
        let mut shown = TokenStream::new();
        for (half, caller) in [("forward", calls.forward), ("backward", calls.backward)] {
            if half == "backward" && called.how == How::Constant {
                continue;
            }
            let (half, span) = (format_ident!("{half}"), Span::call_site());
            let name = format_ident!("__stratape_{}_{}_{}", id, theirs, half, span = span);
            beside.extend(caller.calling(&name, &quote!(#path #after::#half)));
            shown.extend(quote!(pub use super::super::#name as #half;));
        }
        let lints = lints();
        inside.extend(quote!(#lints pub mod #theirs { #shown }));
        let after = quote!(::#theirs);
        all.push(Called { number: 0, after, ..called.clone() });
    }
    Ok((beside, inside, all))
}
