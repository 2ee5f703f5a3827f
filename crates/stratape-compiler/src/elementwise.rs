//! What `#[elementwise]` does: a function of numbers becomes a kernel that computes it for each element of its buffers.
//!
//! ```text
//! #[elementwise]                                  #[kernel]
//! fn axpy(x: f64, y: f64, a: &f64) -> f64 {       #[gradient]
//!     a * x + y                             →     fn axpy(out: &mut [f64], x: &[f64], y: &[f64], a: f64) {
//! }                                                   let i = thread_idx().x + block_idx().x * block_dim().x;
//!                                                     if i < out.len() {
//!                                                         let element = |x: f64, y: f64, a: &f64| -> f64 { a * x + y };
//!                                                         out[i] = element(x[i], y[i], &a);
//!                                                     }
//!                                                 }
//! ```
//!
//! The body is that of a closure, so that a `return` in it is one of the element. The kernel goes the way of any other ([`link::kernel`]); beside it stand `map`, which makes the buffer of the results and
//! chooses the grid, and `pullback`, if the gradient is the usual one.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Error, Result};

use crate::expand::reported;
use crate::front::is_marked;
use crate::link::{self, Host};

/// A parameter, as the function has it.
struct Taken<'f> {
    pattern: &'f syn::PatIdent,
    ty: &'f syn::Type,
    how: How<'f>,
}

/// How the elements share a parameter.
enum How<'f> {
    /// By value: each element has its own.
    Element,
    /// Behind a reference: all have the same number.
    Number(&'f syn::Type),
    /// A slice: all have the same list.
    List(&'f syn::Type),
}

/// `#[elementwise]` on a function.
pub fn elementwise(attribute: &TokenStream, item: &TokenStream, host: &Host<'_>) -> TokenStream {
    let function = match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let message = "`#[elementwise]` goes on a function with a body";
            let error = Error::new(Span::call_site(), message).to_compile_error();
            return quote!(#item #error);
        }
    };
    match rewritten(attribute, &function) {
        Ok((kernel, beside)) => {
            let kernel = link::kernel(&TokenStream::new(), &kernel, host);
            quote!(#kernel #beside)
        }
        Err(error) => {
            // Calls of what is not there would be errors of their own.
            let (error, vis, name) = (reported(error), &function.vis, &function.sig.ident);
            let gradient = format_ident!("{}_grad", plain(name));
            let result = match &function.sig.output {
                syn::ReturnType::Type(_, ty) if matches!(&**ty, syn::Type::Path(_)) => quote!(#ty),
                _ => quote!(f64),
            };
            let launch = quote! {
                pub fn launch<A>(
                    _: &::stratape::gpu::Device,
                    _: impl ::core::borrow::Borrow<::stratape::gpu::Grid>,
                    _: A,
                ) -> ::core::result::Result<(), ::stratape::gpu::GpuError> {
                    ::core::unreachable!()
                }
            };
            quote! {
                #error
                #[doc(hidden)] #[allow(non_camel_case_types, dead_code)] #vis enum #name {}
                #[allow(dead_code)] impl #name {
                    #launch
                    pub fn map<A>(_: A) -> ::core::result::Result<::stratape::gpu::Buffer<#result>, ::stratape::gpu::GpuError> {
                        ::core::unreachable!()
                    }
                    pub fn pullback<A, B>(_: A, _: B) -> ::core::result::Result<(), ::stratape::gpu::GpuError> {
                        ::core::unreachable!()
                    }
                }
                #[doc(hidden)] #[allow(non_camel_case_types, dead_code)] #vis enum #gradient {}
                #[allow(dead_code)] impl #gradient { #launch }
            }
        }
    }
}

fn plain(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// The kernel, and what stands beside it.
fn rewritten(
    attribute: &TokenStream,
    function: &syn::ItemFn,
) -> Result<(TokenStream, TokenStream)> {
    if !attribute.is_empty() {
        let message = "`#[elementwise]` takes no arguments: `#[gradient(…)]` below it does";
        return Err(Error::new_spanned(attribute, message));
    }
    let sig = &function.sig;
    let refused = [
        sig.asyncness.as_ref().map(|one| (one.to_token_stream(), "cannot be `async`")),
        sig.abi.as_ref().map(|one| (one.to_token_stream(), "has no ABI of its own")),
        sig.generics
            .params
            .first()
            .map(|one| (one.to_token_stream(), "cannot be generic: write one for each type")),
        sig.variadic.as_ref().map(|one| (one.to_token_stream(), "has no variable arguments")),
    ];
    if let Some((at, what)) = refused.into_iter().flatten().next() {
        return Err(Error::new_spanned(at, format!("an elementwise function {what}")));
    }
    let syn::ReturnType::Type(_, result) = &sig.output else {
        let message = "an elementwise function returns a number, the element of the result";
        return Err(Error::new(sig.ident.span(), message));
    };
    if !matches!(&**result, syn::Type::Path(_) | syn::Type::Group(_)) {
        let message = "an elementwise function returns one number";
        return Err(Error::new_spanned(result, message));
    }
    let taken = sig.inputs.iter().map(taken).collect::<Result<Vec<_>>>()?;
    if !taken.iter().any(|one| matches!(one.how, How::Element)) {
        let message = "an elementwise function takes at least one parameter by value, as in `x: f64`: the elements of a buffer. \
                       Parameters behind references are the same for all elements";
        return Err(Error::new(sig.ident.span(), message));
    }
    let written =
        function.attrs.iter().find(|attribute| is_marked(attribute, &["gradient"])).cloned();
    let is_usual = written.as_ref().is_none_or(|one| match &one.meta {
        syn::Meta::Path(_) => true,
        syn::Meta::List(list) => list.tokens.is_empty(),
        syn::Meta::NameValue(_) => false,
    });
    let has_gradient = written.is_some() || !is_whole(result);
    let kernel = kernel(function, &taken, result, has_gradient && written.is_none());
    let map = map(function, &taken, result);
    let pullback = match has_gradient && is_usual {
        true => pullback(function, &taken, result),
        false => None,
    };
    Ok((kernel, quote!(#map #pullback)))
}

fn taken(input: &syn::FnArg) -> Result<Taken<'_>> {
    let syn::FnArg::Typed(input) = input else {
        let message = "an elementwise function cannot be a method: it takes numbers";
        return Err(Error::new_spanned(input, message));
    };
    let syn::Pat::Ident(pattern) = &*input.pat else {
        let message = "a parameter of an elementwise function needs a name, as in `x: f64`";
        return Err(Error::new_spanned(&input.pat, message));
    };
    if let Some(by) = &pattern.by_ref {
        let message = "a parameter of an elementwise function needs a name, as in `x: f64`";
        return Err(Error::new_spanned(by, message));
    }
    let how = match &*input.ty {
        syn::Type::Reference(reference) => {
            if let Some(mutable) = &reference.mutability {
                let message = "an elementwise function writes to no parameter: it returns the element of the result";
                return Err(Error::new_spanned(mutable, message));
            }
            match &*reference.elem {
                syn::Type::Slice(slice) => How::List(&slice.elem),
                number => How::Number(number),
            }
        }
        _ => How::Element,
    };
    Ok(Taken { pattern, ty: &input.ty, how })
}

/// The kernel as one would write it.
fn kernel(
    function: &syn::ItemFn,
    taken: &[Taken<'_>],
    result: &syn::Type,
    with_gradient: bool,
) -> TokenStream {
    let is_taken = |name: &str| taken.iter().any(|one| one.pattern.ident == name);
    let out = format_ident!("{}", if is_taken("out") { "__stratape_out" } else { "out" });
    let names: Vec<&Ident> = taken.iter().map(|one| &one.pattern.ident).collect();
    let params = taken.iter().zip(&names).map(|(one, name)| {
        let ty = one.ty;
        match one.how {
            How::Element => quote!(#name: &[#ty]),
            How::Number(number) => quote!(#name: #number),
            How::List(_) => quote!(#name: #ty),
        }
    });
    let arguments = taken.iter().zip(&names).map(|(one, name)| match one.how {
        How::Element => quote!(#name[__stratape_at]),
        How::Number(_) => quote!(&#name),
        How::List(_) => quote!(#name),
    });
    let inner = taken.iter().map(|one| {
        let (pattern, ty) = (one.pattern, one.ty);
        quote!(#pattern: #ty)
    });
    let attributes = &function.attrs;
    let gradient = with_gradient.then(|| quote!(#[gradient]));
    let (vis, name, body) = (&function.vis, &function.sig.ident, &function.block);
    quote! {
        #(#attributes)*
        #gradient
        #vis fn #name(#out: &mut [#result], #(#params),*) {
            let __stratape_at = thread_idx().x + block_idx().x * block_dim().x;
            if __stratape_at < #out.len() {
                let __stratape_element = |#(#inner),*| -> #result #body;
                #out[__stratape_at] = __stratape_element(#(#arguments),*);
            }
        }
    }
}

/// The conditions under which the function stands.
fn conditions(function: &syn::ItemFn) -> Vec<&syn::Attribute> {
    function.attrs.iter().filter(|one| one.path().is_ident("cfg")).collect()
}

/// The names of arguments, and comparisons of the lengths of their buffers with that of the first.
fn lengths(taken: &[Taken<'_>]) -> (Vec<Ident>, Option<Ident>, TokenStream) {
    let names: Vec<Ident> = (0..taken.len())
        .map(|at| format_ident!("argument_{at}", span = Span::mixed_site()))
        .collect();
    let elements = taken.iter().zip(&names).filter(|(one, _)| matches!(one.how, How::Element));
    let elements: Vec<_> = elements.collect();
    let first = elements.first().map(|(_, name)| (*name).clone());
    let checks = elements.iter().skip(1).map(|(one, name)| {
        let what = format!("the buffer of `{}`", one.pattern.ident);
        quote!(::stratape::gpu::__private::same_length(#what, #first.len(), #name.len())?;)
    });
    let checks = quote!(#(#checks)*);
    (names, first, checks)
}

/// The type of an argument of `map`.
fn passed(one: &Taken<'_>) -> TokenStream {
    let ty = one.ty;
    match one.how {
        How::Element => quote!(&::stratape::gpu::Buffer<#ty>),
        How::Number(number) => quote!(#number),
        How::List(item) => quote!(&::stratape::gpu::Buffer<#item>),
    }
}

fn map(function: &syn::ItemFn, taken: &[Taken<'_>], result: &syn::Type) -> TokenStream {
    let name = &function.sig.ident;
    let conditions = conditions(function);
    let (names, first, checks) = lengths(taken);
    let types = taken.iter().map(passed);
    quote! {
        #(#conditions)*
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        impl #name {
            /// Computes the function for each element: takes buffers of one length for parameters by value, and numbers for those behind references.
            ///
            /// # Errors
            /// If the lengths or the devices of the buffers differ, if device memory is exhausted, or if the device fails.
            pub fn map(
                arguments: (#(#types,)*),
            ) -> ::core::result::Result<::stratape::gpu::Buffer<#result>, ::stratape::gpu::GpuError> {
                let (#(#names,)*) = arguments;
                #checks
                let device = #first.device();
                let mut results = ::stratape::gpu::__private::unwritten(&device, #first.len())?;
                if let ::core::option::Option::Some(grid) = ::stratape::gpu::__private::over(#first.len()) {
                    Self::launch(&device, grid, (&mut results, #(#names,)*))?;
                }
                ::core::result::Result::Ok(results)
            }
        }
    }
}

/// The pullback, if it can be seen which parameters have shadows.
fn pullback(
    function: &syn::ItemFn,
    taken: &[Taken<'_>],
    result: &syn::Type,
) -> Option<TokenStream> {
    let name = &function.sig.ident;
    let gradient = format_ident!("{}_grad", plain(name));
    let conditions = conditions(function);
    let (names, first, checks) = lengths(taken);
    let (mut types, mut patterns, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
    let (mut sums, mut adjoints, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (one, name)) in taken.iter().zip(&names).enumerate() {
        let shadow = format_ident!("shadow_{at}", span = Span::mixed_site());
        types.push(passed(one));
        patterns.push(quote!(#name));
        arguments.push(quote!(#name));
        let item = match one.how {
            How::Element => one.ty,
            How::Number(ty) | How::List(ty) => ty,
        };
        match (is_float(item)?, &one.how) {
            (false, _) => {}
            (true, How::Number(ty)) => {
                sums.push(quote!(let mut #shadow = device.zeros::<#ty>(1)?;));
                arguments.push(quote!(&mut #shadow));
                adjoints.push((quote!(#ty), quote!(::stratape::gpu::__private::only(&#shadow)?)));
            }
            (true, _) => {
                types.push(quote!(&mut ::stratape::gpu::Buffer<#item>));
                patterns.push(quote!(#shadow));
                arguments.push(quote!(&mut *#shadow));
                let what = format!("the shadow of `{}`", one.pattern.ident);
                lengths.push(quote! {
                    ::stratape::gpu::__private::same_length(#what, #name.len(), #shadow.len())?;
                });
            }
        }
    }
    if !is_float(result)? {
        return None;
    }
    let (adjoint_types, adjoints): (Vec<_>, Vec<_>) = adjoints.into_iter().unzip();
    let (returned, adjoints) = match (&adjoint_types[..], &adjoints[..]) {
        ([ty], [adjoint]) => (ty.clone(), adjoint.clone()),
        _ => (quote!((#(#adjoint_types),*)), quote!((#(#adjoints),*))),
    };
    Some(quote! {
        #(#conditions)*
        #[allow(dead_code, unused_parens, clippy::all, clippy::pedantic)]
        impl #name {
            /// Adds to the shadow behind each buffer of floats what `map` asks for, if changes of its results count as `weights` says. Returns the adjoints of the floats behind references,
            /// each summed over all elements.
            ///
            /// # Errors
            /// If the lengths or the devices of the buffers differ, if device memory is exhausted, or if the device fails.
            pub fn pullback(
                arguments: (#(#types,)*),
                weights: &::stratape::gpu::Buffer<#result>,
            ) -> ::core::result::Result<#returned, ::stratape::gpu::GpuError> {
                let (#(#patterns,)*) = arguments;
                #checks
                #(#lengths)*
                ::stratape::gpu::__private::same_length("the buffer of weights", #first.len(), weights.len())?;
                let device = #first.device();
                #(#sums)*
                if let ::core::option::Option::Some(grid) = ::stratape::gpu::__private::over(#first.len()) {
                    let mut results = ::stratape::gpu::__private::unwritten::<#result>(&device, #first.len())?;
                    let mut spent = ::stratape::gpu::__private::unwritten::<#result>(&device, #first.len())?;
                    spent.copy_from(weights)?;
                    #gradient::launch(&device, grid, (&mut results, &mut spent, #(#arguments,)*))?;
                }
                ::core::result::Result::Ok(#adjoints)
            }
        }
    })
}

/// Whether a type is `f32` or `f64`, or an array of them; nothing if that cannot be seen.
fn is_float(ty: &syn::Type) -> Option<bool> {
    match ty {
        syn::Type::Array(array) => is_float(&array.elem),
        syn::Type::Group(group) => is_float(&group.elem),
        syn::Type::Path(path) => match path.path.get_ident()?.to_string().as_str() {
            "f32" | "f64" => Some(true),
            _ => is_whole(ty).then_some(false),
        },
        _ => None,
    }
}

/// Whether a type is an integer or `bool`.
fn is_whole(ty: &syn::Type) -> bool {
    const WHOLE: [&str; 11] =
        ["bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];
    matches!(ty, syn::Type::Path(path) if WHOLE.iter().any(|name| path.path.is_ident(name)))
}
