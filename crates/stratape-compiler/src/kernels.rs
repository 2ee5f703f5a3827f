//! What `#[kernel]` does: from the tokens of a function to those that replace it.
//!
//! A kernel is no function of the host any more. In its place stands a type of its name, with a function that launches it, and one for its gradient. The function itself is emitted
//! where nobody can call it, so that rustc reports what is wrong with it.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, Parser};
use syn::{Error, Result};

use crate::arguments::Arguments;
use crate::back::cuda::{self, Factor, Fresh, Order};
use crate::driver::{ByValue, CompiledKernel, Election, Part, compile_kernel};
use crate::expand::{arguments_of, reported};
use crate::front::{Items, is_marked, with_paths};
use stratape_ir::{Extent, Function, Origin, Param, Scalar, Type, Valid};

/// Whether a function is a kernel.
pub fn is_kernel(function: &syn::ItemFn) -> bool {
    function.attrs.iter().any(|attribute| is_marked(attribute, &["kernel"]))
}

/// Compiles a kernel among the items of its file, device functions among them; and its gradient, if there is a `#[gradient]` on it.
///
/// # Errors
/// If there is no kernel of that name, and as [`compile_kernel`].
pub fn compile_in(items: &[syn::Item], name: &str) -> Result<CompiledKernel> {
    let mut all = items.to_vec();
    for item in &mut all {
        if let syn::Item::Fn(function) = item {
            with_paths(function);
        }
    }
    let named = |item: &&syn::Item| matches!(item, syn::Item::Fn(one) if one.sig.ident == name);
    let Some(syn::Item::Fn(kernel)) = all.iter().find(named) else {
        return Err(Error::new(Span::call_site(), format!("there is no kernel `{name}`")));
    };
    let arguments = gradient_of(kernel)?;
    let context = Items::linked(&all, HashSet::new(), false)?;
    compile_kernel(kernel, &context, arguments.as_ref().map(|arguments| &arguments.0))
}

/// The kernel that was `read` with unique names for what it takes from elsewhere: what stands for the one that was `written`.
pub(crate) fn kernel(
    written: &syn::ItemFn,
    read: &syn::ItemFn,
    items: &Items,
    imports: &dyn Fn(&str) -> TokenStream,
) -> TokenStream {
    match launches(written, read, items, imports) {
        Ok(tokens) => tokens,
        Err(error) => {
            // Calls of what is not there would be errors of their own.
            let (error, vis, name) = (reported(error), &written.vis, &written.sig.ident);
            let checked = checked(written);
            let wanted = gradient_of(written).ok().flatten();
            let names = [Some(name.clone()), wanted.map(|wanted| gradient_name(name, &wanted))];
            let stubs = names.into_iter().flatten().map(|name| {
                quote! {
                    #[doc(hidden)] #[allow(non_camel_case_types, dead_code)] #vis enum #name {}
                    #[allow(dead_code)] impl #name {
                        pub fn launch<A>(
                            _: &::stratape::gpu::Device,
                            _: impl ::core::borrow::Borrow<::stratape::gpu::Grid>,
                            _: A,
                        ) -> ::core::result::Result<(), ::stratape::gpu::GpuError> {
                            ::core::unreachable!()
                        }
                    }
                }
            });
            quote!(#error #checked #(#stubs)*)
        }
    }
}

/// The arguments of the `#[gradient]` on a kernel, if there is one.
fn gradient_of(function: &syn::ItemFn) -> Result<Option<Arguments>> {
    let attribute = function.attrs.iter().find(|attribute| is_marked(attribute, &["gradient"]));
    attribute.map(|attribute| Arguments::parse.parse2(arguments_of(attribute))).transpose()
}

fn gradient_name(kernel: &Ident, arguments: &Arguments) -> Ident {
    let usual = || format_ident!("{}_grad", kernel.to_string().trim_start_matches("r#"));
    arguments.0.name.clone().unwrap_or_else(usual)
}

/// The function where nobody can call it.
fn checked(written: &syn::ItemFn) -> TokenStream {
    let mut function = written.clone();
    function.attrs.retain(|attribute| {
        !is_marked(attribute, &["gradient", "kernel"]) && !attribute.path().is_ident("doc")
    });
    function.vis = syn::Visibility::Inherited;
    let name = &function.sig.ident;
    let uses = quote!(let _ = #name;);
    quote! {
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        const _: () = { #function fn __stratape_uses() { #uses } };
    }
}

fn launches(
    written: &syn::ItemFn,
    read: &syn::ItemFn,
    items: &Items,
    imports: &dyn Fn(&str) -> TokenStream,
) -> Result<TokenStream> {
    let arguments = gradient_of(written)?;
    let mut marks = written.attrs.iter().filter(|one| is_marked(one, &["gradient"]));
    if let Some(second) = marks.nth(1) {
        let message = "a kernel has one `#[gradient]`: for another, write a kernel that calls the same function";
        return Err(Error::new_spanned(second, message));
    }
    let named = |param: &&syn::GenericParam| !matches!(param, syn::GenericParam::Lifetime(_));
    if let Some(param) = written.sig.generics.params.iter().find(named) {
        let message = "a kernel is not generic: write one for each type";
        return Err(Error::new_spanned(param, message));
    }
    let compiled = compile_kernel(read, items, arguments.as_ref().map(|arguments| &arguments.0))?;
    let fault = |fault| Error::new(written.sig.ident.span(), fault);
    let (kernel, gradient) = compiled.valid().map_err(fault)?;
    let name = &written.sig.ident;
    let mut tokens = checked(written);
    let election = compiled.gradient.as_ref().and_then(|one| one.election.as_ref());
    let primal = kernel.function();
    let of = |gradient_of: Option<_>| Emitted {
        written,
        by_value: &compiled.by_value,
        gradient_of,
        election: election.filter(|_| gradient_of.is_some()),
        primal,
    };
    tokens.extend(launch(of(None), name, kernel, imports)?);
    if let (Some(gradient), Some(arguments)) = (gradient, &arguments) {
        let name = gradient_name(name, arguments);
        tokens.extend(launch(of(Some(&written.sig.ident)), &name, gradient, imports)?);
        tokens.extend(launched(written, Some(&name)));
    } else if !writes_floats(kernel.function()) {
        tokens.extend(launched(written, None));
    }
    Ok(tokens)
}

/// What host functions under `#[gradient]` need of a kernel.
fn launched(written: &syn::ItemFn, gradient: Option<&Ident>) -> TokenStream {
    let name = &written.sig.ident;
    let conditions = written.attrs.iter().filter(|one| one.path().is_ident("cfg"));
    let gradient = match gradient {
        Some(gradient) => quote!(::core::option::Option::Some(#gradient::__kernel())),
        None => quote!(::core::option::Option::None),
    };
    let kernel = quote!(&'static ::stratape::gpu::__private::Kernel);
    quote! {
        #(#conditions)*
        impl ::stratape::gpu::__private::host::Launched for #name {
            fn kernel() -> #kernel {
                #name::__kernel()
            }
            fn gradient() -> ::core::option::Option<#kernel> {
                #gradient
            }
        }
    }
}

/// Whether adjoints may flow through what a kernel writes.
fn writes_floats(function: &Function) -> bool {
    function.params.iter().any(|param| match param {
        Param::Object(object) => {
            let known = &function.objects[object.index()];
            known.origin == Origin::RefMut && known.ty.has_float()
        }
        Param::Value(_) => false,
    })
}

/// A parameter of a launch: its name, the type it is passed as, and what becomes of it, which is several arguments if it holds several numbers.
struct Passed {
    name: Ident,
    ty: TokenStream,
    arguments: Vec<TokenStream>,
    /// What the kernel says of them.
    params: Vec<TokenStream>,
}

/// What a kernel, or its gradient, is made of.
#[derive(Clone, Copy)]
struct Emitted<'a> {
    written: &'a syn::ItemFn,
    by_value: &'a [ByValue],
    /// The kernel that it is the gradient of.
    gradient_of: Option<&'a Ident>,
    /// What runs before it.
    election: Option<&'a Election>,
    primal: &'a Function,
}

impl Emitted<'_> {
    /// The parameter of several numbers that a number belongs to, and its position there.
    fn whole(&self, param: &Param) -> Option<(&ByValue, usize)> {
        let Param::Value(value) = param else { return None };
        self.by_value.iter().find_map(|one| {
            let at = one.values.iter().position(|part| part == value)?;
            Some((one, at))
        })
    }

    /// Whether a parameter is one that was written, or the first number of one.
    fn begins(&self, function: &Function, param: &Param) -> bool {
        match param {
            Param::Value(_) => self.whole(param).is_none_or(|(_, at)| at == 0),
            Param::Object(object) => {
                let known = &function.objects[object.index()];
                known.shadow_of.is_none() && !function.sums.contains(object)
            }
        }
    }

    /// The type of the parameter, as it is written, that the one at a position stands for.
    fn written_at(&self, function: &Function, at: Option<usize>) -> Result<&syn::Type> {
        let before = function.params.iter().take(at.unwrap_or(0));
        let before = before.filter(|param| self.begins(function, param)).count();
        written_type(self.written.sig.inputs.iter().nth(before), &self.written.sig)
    }
}

/// The type that launches a kernel.
fn launch(
    emitted: Emitted<'_>,
    name: &Ident,
    kernel: Valid<'_>,
    imports: &dyn Fn(&str) -> TokenStream,
) -> Result<TokenStream> {
    let Emitted { written, gradient_of: of, .. } = emitted;
    let function = kernel.function();
    let cuda = cuda::emit(kernel);
    let (passed, holders) = passed(emitted, function, &cuda.fresh)?;
    let (election, elect) = elected(emitted, function)?;
    let (names, types): (Vec<_>, Vec<_>) = passed.iter().map(|one| (&one.name, &one.ty)).unzip();
    let arguments: Vec<_> = passed.iter().flat_map(|one| &one.arguments).collect();
    let params = passed.iter().flat_map(|one| &one.params).chain(&holders);
    let params: Vec<_> = params.collect();
    let text = kernel_text(function, &cuda, &quote!(&[#(#params),*]), &elect);
    let (language, cuda_text) = (function.to_string(), &cuda.text);
    let vis = &written.vis;
    let docs: Vec<TokenStream> = match of {
        None => {
            let docs = written.attrs.iter().filter(|one| one.path().is_ident("doc"));
            docs.map(ToTokens::to_token_stream).collect()
        }
        Some(of) => {
            let doc = format!("Gradient of the kernel [`{of}`].");
            vec![quote!(#[doc = #doc])]
        }
    };
    let conditions = written.attrs.iter().filter(|one| one.path().is_ident("cfg"));
    let conditions: Vec<_> = conditions.collect();
    let about = match of {
        None => format!("Launches the kernel `{name}`."),
        Some(of) => format!(
            "Launches the gradient of the kernel `{of}`: adds to the shadow behind each argument what a change of the argument changes, weighted by the shadows of what the kernel \
             writes. A shadow of what is written holds these weights before, and the adjoint of what was there afterwards."
        ),
    };
    // Constants may name types that have unique names here.
    let imports = imports(&quote!(#election #text).to_string());
    Ok(quote! {
        #(#conditions)*
        #(#docs)*
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #name {}
        #(#conditions)*
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        impl #name {
            #[doc = #about]
            ///
            /// # Errors
            /// If the grid, a length or a buffer does not fit, if the device fails, or if the kernel faults.
            pub fn launch<'a>(
                device: &::stratape::gpu::Device,
                grid: impl ::core::borrow::Borrow<::stratape::gpu::Grid>,
                arguments: (#(#types,)*),
            ) -> ::core::result::Result<(), ::stratape::gpu::GpuError> {
                let (#(#names,)*) = arguments;
                ::stratape::gpu::__private::launch(
                    Self::__kernel(),
                    device,
                    ::core::borrow::Borrow::borrow(&grid),
                    &mut [#(#arguments),*],
                )
            }

            #[doc(hidden)]
            pub fn __kernel() -> &'static ::stratape::gpu::__private::Kernel {
                #imports
                #election
                static TEXT: ::stratape::gpu::__private::KernelText = #text;
                static KERNEL: ::stratape::gpu::__private::Kernel =
                    ::stratape::gpu::__private::Kernel::new(&TEXT);
                &KERNEL
            }

            /// The kernel in the intermediate language, and as CUDA C++.
            pub const fn texts() -> (&'static str, &'static str) {
                (#language, #cuda_text)
            }
        }
    })
}

/// What a launch is told of a kernel.
fn kernel_text(
    function: &Function,
    cuda: &cuda::Kernel,
    params: &TokenStream,
    elect: &TokenStream,
) -> TokenStream {
    let of = quote!(::stratape::gpu::__private);
    let constants = cuda.constants.iter().map(|(text, ty)| {
        let number: TokenStream = text.parse().unwrap_or_default();
        let number = match ty {
            Scalar::Float(stratape_ir::Float::F32) => quote!(F32(#number)),
            Scalar::Float(_) => quote!(F64(#number)),
            _ => quote!(Int((#number) as i128)),
        };
        quote!((#text, #of::Constant::#number))
    });
    let tape = if cuda.uses_tape { quote!(Unknown) } else { quote!(None) };
    let dynamic = Literal::usize_unsuffixed(cuda.dynamic_shared);
    let (language, text, c_name) = (function.to_string(), &cuda.text, cuda::c_name(&function.name));
    let (checks, order) = (&cuda.checks, cuda.order.iter().map(ordered));
    quote!(#of::KernelText {
        name: #c_name,
        language: #language,
        cuda: #text,
        params: #params,
        tape: #of::Tape::#tape,
        constants: &[#(#constants),*],
        dynamic_shared: #dynamic,
        order: [#(#order),*],
        elect: #elect,
        checks: &[#(#checks),*],
    })
}

/// The election before a gradient: its statics, and what the gradient says of it.
fn elected(emitted: Emitted<'_>, function: &Function) -> Result<(TokenStream, TokenStream)> {
    let none = (TokenStream::new(), quote!(::core::option::Option::None));
    let Some(election) = emitted.election else { return Ok(none) };
    let fault = |fault| Error::new(emitted.written.sig.ident.span(), fault);
    let kernel = stratape_ir::valid::validate(&election.function).map_err(fault)?;
    let cuda = cuda::emit(kernel);
    let of = quote!(::stratape::gpu::__private);
    let params = election.function.params.iter().map(|param| {
        let (ty, memory) = match param {
            Param::Value(value) => (election.function.ty(*value), None),
            Param::Object(object) => {
                let known = &election.function.objects[object.index()];
                let (scalar, arity) = numbers(known.ty.element().unwrap_or(&known.ty));
                (scalar, Some((arity, known.origin == Origin::RefMut)))
            }
        };
        let scalar = scalar_type(ty);
        match memory {
            None => quote!(#of::Param::Value(#of::ScalarType::#scalar)),
            Some((arity, mutable)) => slice(&scalar, &arity, mutable),
        }
    });
    let text = kernel_text(&election.function, &cuda, &quote!(&[#(#params),*]), &none.1);
    let position = |param: &Param| function.params.iter().position(|one| one == param);
    let own = emitted.primal.params.iter().filter_map(position).map(Literal::usize_unsuffixed);
    let extremes = election.extremes.iter().filter_map(|object| {
        let own = &emitted.primal.params;
        own.iter().position(|param| *param == Param::Object(*object))
    });
    let extremes = extremes.map(Literal::usize_unsuffixed);
    let statics = quote! {
        static ELECTION: #of::KernelText = #text;
        static ELECT: #of::Elect = #of::Elect {
            kernel: #of::Kernel::new(&ELECTION),
            own: &[#(#own),*],
            extremes: &[#(#extremes),*],
        };
    };
    Ok((statics, quote!(::core::option::Option::Some(&ELECT))))
}

/// What the kernel says of a slice that is no shadow.
fn slice(scalar: &Ident, arity: &TokenStream, mutable: bool) -> TokenStream {
    let of = quote!(::stratape::gpu::__private);
    quote!(#of::Param::Slice {
        scalar: #of::ScalarType::#scalar,
        arity: #arity,
        mutable: #mutable,
        shadow_of: ::core::option::Option::None,
        fresh: #of::Fresh::Added,
    })
}

/// What a launch that asks for an order is told.
fn ordered(order: &Order) -> TokenStream {
    let of = quote!(::stratape::gpu::__private::Order);
    match order {
        Order::Free => quote!(#of::Free),
        Order::Logged(Some(most)) => {
            let most = Literal::usize_unsuffixed(*most);
            quote!(#of::Logged(::core::option::Option::Some(#most)))
        }
        Order::Logged(None) => quote!(#of::Logged(::core::option::Option::None)),
        Order::Refused(why) => quote!(#of::Refused(#why)),
    }
}

/// A number that a launch knows.
fn factor(factor: &Factor) -> TokenStream {
    let of = quote!(::stratape::gpu::__private::Factor);
    match factor {
        Factor::Threads => quote!(#of::Threads),
        Factor::Blocks => quote!(#of::Blocks),
        Factor::Number(number) => {
            let number = Literal::u64_unsuffixed(*number);
            quote!(#of::Number(#number))
        }
        Factor::Value(at) => {
            let at = Literal::usize_unsuffixed(*at);
            quote!(#of::Value(#at))
        }
        Factor::Len(at) => {
            let at = Literal::usize_unsuffixed(*at);
            quote!(#of::Len(#at))
        }
    }
}

/// What a launch takes for the parameters of a kernel, and what the kernel says of those that only the election knows.
fn passed(
    emitted: Emitted<'_>,
    function: &Function,
    fresh: &HashMap<usize, Fresh>,
) -> Result<(Vec<Passed>, Vec<TokenStream>)> {
    let mut passed: Vec<Passed> = Vec::new();
    let mut holders = Vec::new();
    let arg = quote!(::stratape::gpu::__private::Arg);
    let of = quote!(::stratape::gpu::__private);
    for (at, param) in function.params.iter().enumerate() {
        let name = format_ident!("argument_{at}", span = Span::mixed_site());
        let object = match param {
            Param::Object(object) => object,
            Param::Value(value) => {
                let scalar = scalar_type(function.ty(*value));
                let param_of = quote!(#of::Param::Value(#of::ScalarType::#scalar));
                let (path, first) = match emitted.whole(param) {
                    Some((whole, part)) => (path(&whole.paths[part]), part == 0),
                    None => (TokenStream::new(), true),
                };
                if first {
                    let ty = emitted.written_at(function, Some(at))?.to_token_stream();
                    let (arguments, params) = (Vec::new(), Vec::new());
                    passed.push(Passed { name, ty, arguments, params });
                }
                if let Some(Passed { name, arguments, params, .. }) = passed.last_mut() {
                    arguments.push(quote!(#arg::from(#name #path)));
                    params.push(param_of);
                }
                continue;
            }
        };
        let known = &function.objects[object.index()];
        let item = known.ty.element();
        let (scalar, arity) = numbers(item.unwrap_or(&known.ty));
        if emitted.election.is_some_and(|election| election.holders.contains(object)) {
            holders.push(slice(&scalar_type(scalar), &arity, false));
            continue;
        }
        let number = format_ident!("{}", scalar.name());
        let scalar = scalar_type(scalar);
        let mutable = known.origin == Origin::RefMut;
        let is_sum = function.sums.contains(object);
        let shadow_of = match known.shadow_of {
            Some(of) => function.params.iter().position(|one| *one == Param::Object(of)),
            // The first number of the parameter before.
            None if is_sum => {
                let before = &function.params[..at];
                before.iter().rposition(|param| emitted.begins(function, param))
            }
            None => None,
        };
        let weights =
            known.shadow_of.is_some_and(|of| function.objects[of.index()].origin == Origin::RefMut);
        let written = || element(emitted.written_at(function, shadow_of.or(Some(at)))?);
        let ty = match known.shadow_of {
            None if is_sum => {
                quote!(impl ::core::convert::Into<::stratape::gpu::Shadow<'a, ::core::primitive::#number>>)
            }
            None => {
                let (ty, mutable) = (written()?, mutable.then(|| quote!(mut)));
                quote!(&'a #mutable ::stratape::gpu::Buffer<#ty>)
            }
            // It holds the weights of the results: nobody wants it overwritten before.
            Some(_) if weights => {
                let ty = written()?;
                quote!(&'a mut ::stratape::gpu::Buffer<#ty>)
            }
            Some(_) => {
                let ty = written()?;
                quote!(impl ::core::convert::Into<::stratape::gpu::Shadow<'a, #ty>>)
            }
        };
        let argument = match (known.shadow_of.is_some() && !weights) || is_sum {
            true => {
                quote!(#arg::from(::core::convert::Into::<::stratape::gpu::Shadow<'a, _>>::into(#name)))
            }
            false => quote!(#arg::from(#name)),
        };
        let shadow_of = match shadow_of.map(Literal::usize_unsuffixed) {
            Some(at) => quote!(::core::option::Option::Some(#at)),
            None => quote!(::core::option::Option::None),
        };
        let kept = match fresh.get(&at) {
            None => quote!(#of::Fresh::Added),
            Some(Fresh::Stored) => quote!(#of::Fresh::Stored),
            Some(Fresh::Covered(products)) => {
                let products = products.iter().map(|product| {
                    let factors = product.iter().map(factor);
                    quote!(&[#(#factors),*])
                });
                quote!(#of::Fresh::Covered(&[#(#products),*]))
            }
        };
        let param = quote!(#of::Param::Slice {
            scalar: #of::ScalarType::#scalar,
            arity: #arity,
            mutable: #mutable,
            shadow_of: #shadow_of,
            fresh: #kept,
        });
        passed.push(Passed { name, ty, arguments: vec![argument], params: vec![param] });
    }
    Ok((passed, holders))
}

/// The way to a number in a parameter.
fn path(parts: &[Part]) -> TokenStream {
    let step = |part: &Part| match part {
        Part::Named(name) => {
            let name: TokenStream = name.parse().unwrap_or_default();
            quote!(.#name)
        }
        Part::Numbered(at) => {
            let at = Literal::usize_unsuffixed(*at);
            quote!(.#at)
        }
        Part::Element(at) => {
            let at = Literal::usize_unsuffixed(*at);
            quote!([#at])
        }
    };
    parts.iter().map(step).collect()
}

fn written_type<'w>(input: Option<&'w syn::FnArg>, sig: &syn::Signature) -> Result<&'w syn::Type> {
    match input {
        Some(syn::FnArg::Typed(input)) => Ok(&input.ty),
        _ => Err(Error::new(sig.ident.span(), "a kernel takes slices and numbers")),
    }
}

/// The elements of a slice behind a reference.
fn element(ty: &syn::Type) -> Result<&syn::Type> {
    if let syn::Type::Reference(reference) = ty
        && let syn::Type::Slice(slice) = &*reference.elem
    {
        return Ok(&slice.elem);
    }
    Err(Error::new_spanned(ty, "a kernel takes slices as `&[f64]` and `&mut [f64]`"))
}

/// The numbers that an element is made of, and how many.
fn numbers(ty: &Type) -> (Scalar, TokenStream) {
    match ty {
        Type::Array(item, extent) => {
            let (scalar, inner) = numbers(item);
            let extent: TokenStream = match extent {
                Extent::Known(n) => {
                    let n = Literal::usize_unsuffixed(*n);
                    quote!(#n)
                }
                Extent::Const(text) => text.text.parse().unwrap_or_default(),
            };
            (scalar, quote!((#extent) * #inner))
        }
        ty => (ty.scalar().unwrap_or(Scalar::Bool), quote!(1)),
    }
}

fn scalar_type(scalar: Scalar) -> Ident {
    let name = scalar.name();
    let (first, rest) = name.split_at(1);
    Ident::new(&format!("{}{rest}", first.to_uppercase()), Span::call_site())
}
