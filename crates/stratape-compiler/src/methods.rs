//! `#[gradient]` on a method, in an `impl` of a module under `#[differentiable]`.
//!
//! A method is a function whose first parameter is called `self`. The gradient is made of that function, and an `impl` beside it gives it
//! back its place: `disc.area_grad(&mut shadow, 1.0)`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Item, Result};

use crate::front::is_marked;

/// What `self` is called in the function.
const RECEIVER: &str = "__self";

/// A method under `#[gradient]`.
#[derive(Clone)]
pub(crate) struct Method {
    /// The type, as the `impl` names it.
    pub(crate) owner: Ident,
    /// Its name.
    pub(crate) name: Ident,
    /// The attribute.
    pub(crate) attribute: syn::Attribute,
    vis: syn::Visibility,
}

/// Takes `#[gradient]` off the methods of an `impl`.
pub(crate) fn take(block: &mut syn::ItemImpl) -> Vec<Result<Method>> {
    let owner = match &*block.self_ty {
        syn::Type::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    let plain = block.trait_.is_none() && block.generics.params.is_empty();
    let mut taken = Vec::new();
    for item in &mut block.items {
        let syn::ImplItem::Fn(method) = item else { continue };
        let at = method.attrs.iter().position(|attribute| is_marked(attribute, &["gradient"]));
        let Some(at) = at else { continue };
        let attribute = method.attrs.remove(at);
        // Whoever calls the gradient uses the method.
        method.attrs.push(syn::parse_quote!(#[allow(dead_code)]));
        taken.push(match &owner {
            Some(owner) if plain && method.sig.receiver().is_some() => Ok(Method {
                owner: owner.clone(),
                name: method.sig.ident.clone(),
                attribute,
                vis: method.vis.clone(),
            }),
            _ => Err(Error::new(
                attribute.path().span(),
                "`#[gradient]` goes on methods with a `self`, in an `impl` of a struct of this module without parameters or trait; put \
                 it on a function beside the `impl`",
            )),
        });
    }
    taken
}

impl Method {
    /// The method as a function, from the items of its module.
    pub(crate) fn function(&self, items: &[Item]) -> Option<syn::ItemFn> {
        let of = |block: &&syn::ItemImpl| {
            let syn::Type::Path(path) = &*block.self_ty else { return false };
            // Its name has a number behind it where the struct comes from elsewhere.
            block.trait_.is_none() && path.path.is_ident(&self.owner)
        };
        let blocks = items.iter().filter_map(|item| match item {
            Item::Impl(block) => Some(block),
            _ => None,
        });
        let method =
            blocks.filter(of).flat_map(|block| &block.items).find_map(|item| match item {
                syn::ImplItem::Fn(method) if method.sig.ident == self.name => Some(method),
                _ => None,
            })?;
        let (owner, receiver) = (&self.owner, Ident::new(RECEIVER, Span::call_site()));
        let first = method.sig.receiver()?;
        let mutable = &first.mutability;
        let first: syn::FnArg = match &first.kind {
            syn::ReceiverKind::Value => syn::parse_quote!(#mutable #receiver: #owner),
            syn::ReceiverKind::Reference(_, lifetime, mutable) => {
                syn::parse_quote!(#receiver: &#lifetime #mutable #owner)
            }
            _ => return None,
        };
        let mut sig = method.sig.clone();
        sig.ident = self.function_name();
        if let Some(input) = sig.inputs.first_mut() {
            *input = first;
        }
        let (sig, block) = (self.renamed(sig.into_token_stream()), &method.block);
        let (attrs, block) = (&method.attrs, self.renamed(block.to_token_stream()));
        syn::parse2(quote!(#(#attrs)* #sig #block)).ok()
    }

    fn function_name(&self) -> Ident {
        format_ident!("__{}_{}", self.owner, self.name, span = self.name.span())
    }

    /// What the gradient of the function is called, if the method's is to have a name.
    pub(crate) fn gradient_names(&self, wanted: Option<&Ident>) -> (Ident, Ident) {
        let method = match wanted {
            Some(name) => name.clone(),
            None => format_ident!("{}_grad", self.name, span = self.name.span()),
        };
        (format_ident!("__{}_{}", self.owner, method, span = method.span()), method)
    }

    /// `self` and `Self` under names that mean something outside the `impl`.
    fn renamed(&self, tokens: TokenStream) -> TokenStream {
        let rename = |token| match token {
            TokenTree::Ident(ident) if ident == "self" => {
                TokenTree::Ident(Ident::new(RECEIVER, ident.span()))
            }
            TokenTree::Ident(ident) if ident == "Self" => {
                TokenTree::Ident(Ident::new(&self.owner.to_string(), ident.span()))
            }
            TokenTree::Group(group) => {
                let mut renamed = Group::new(group.delimiter(), self.renamed(group.stream()));
                renamed.set_span(group.span());
                TokenTree::Group(renamed)
            }
            other => other,
        };
        tokens.into_iter().map(rename).collect()
    }

    /// Puts the gradient into an `impl`: methods that call what was emitted.
    pub(crate) fn placed(
        &self,
        tokens: TokenStream,
        names: &(Ident, Ident),
    ) -> Result<TokenStream> {
        let made: syn::File = syn::parse2(tokens)?;
        let (free, method) = names;
        let mut methods = TokenStream::new();
        for item in &made.items {
            let Item::Fn(function) = item else { continue };
            let called = &function.sig.ident;
            let name = match called.to_string() {
                name if *free == name => method.clone(),
                name if name == format!("{free}_in") => {
                    format_ident!("{}_in", method, span = method.span())
                }
                _ => continue,
            };
            methods.extend(self.calling(function, &name));
        }
        let owner = &self.owner;
        let conditions = made.items.iter().find_map(|item| match item {
            Item::Fn(function) => {
                Some(function.attrs.iter().filter(|one| one.path().is_ident("cfg")))
            }
            _ => None,
        });
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        Ok(quote!(#made #(#conditions)* impl #owner { #methods }))
    }

    /// A method that calls a function.
    fn calling(&self, function: &syn::ItemFn, name: &Ident) -> TokenStream {
        let (mut inputs, mut arguments, mut receiver) = (Vec::new(), Vec::new(), quote!(self));
        for input in &function.sig.inputs {
            let syn::FnArg::Typed(typed) = input else { continue };
            let syn::Pat::Ident(pat) = &*typed.pat else { continue };
            if pat.ident == RECEIVER {
                receiver = match &*typed.ty {
                    syn::Type::Reference(reference) if reference.mutability.is_some() => {
                        quote!(&mut self)
                    }
                    syn::Type::Reference(_) => quote!(&self),
                    _ => quote!(self),
                };
                arguments.push(quote!(self));
                continue;
            }
            let (ident, ty) = (&pat.ident, &typed.ty);
            inputs.push(quote!(#ident: #ty));
            arguments.push(ident.to_token_stream());
        }
        let (vis, output, called) = (&self.vis, &function.sig.output, &function.sig.ident);
        let (generics, doc) = (
            &function.sig.generics,
            format!("Gradient of [`Self::{}`]: see `stratape::gradient`.", self.name),
        );
        quote! {
            #[doc = #doc]
            #[allow(unused, clippy::all, clippy::pedantic)]
            #vis fn #name #generics (#receiver, #(#inputs),*) #output {
                #called(#(#arguments),*)
            }
        }
    }
}
