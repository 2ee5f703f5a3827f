//! The face of a gradient: parameters, results, checks at entry.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::border::Border;
use super::names::Names;
use super::{Emitter, tuple};
use crate::ad::{Gradient, Output};
use crate::library;
use stratape_ir::{Function, ObjectId, Origin, Param, Type};

/// What a gradient needs of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    Tape,
    /// Tapes for the parts of parallel loops as well.
    Lanes,
}

/// The face.
pub(super) struct Signature<'a> {
    item: &'a syn::ItemFn,
    name: Ident,
    params: Vec<TokenStream>,
    args: Vec<Ident>,
    output: TokenStream,
    checks: Vec<TokenStream>,
    border: Border,
    /// Whether the function, and so its gradient, returns a `Result` of a device's error.
    fallible: bool,
    /// What the documentation says of each argument, and of the result.
    doc: String,
}

impl<'a> Signature<'a> {
    pub(super) fn new(
        item: &'a syn::ItemFn,
        primal: &Function,
        gradient: &Gradient,
        names: &Names,
    ) -> Self {
        let function = &gradient.function;
        let name = super::names::raw(&function.name, item.sig.ident.span());
        let mut params = Vec::new();
        let mut args = Vec::new();
        let mut outputs = Vec::new();
        let mut checks = Vec::new();
        let mut border = Border::default();
        let mut doc = Doc::default();
        for (param, input) in primal.params.iter().zip(&item.sig.inputs) {
            let is_input = gradient.inputs.contains(param);
            let syn::FnArg::Typed(input) = input else { continue };
            let ty = &input.ty;
            match param {
                Param::Value(value) => {
                    let ident = names.value(*value);
                    params.push(quote!(#ident: #ty));
                    doc.own(&ident, is_input);
                    args.push(ident);
                    if is_input {
                        outputs.push(quote!(#ty));
                    }
                }
                Param::Object(object) => {
                    let ident = names.object(*object);
                    let known = &primal.objects[object.index()];
                    let mutable =
                        if known.origin == Origin::Owned { quote!(mut) } else { quote!() };
                    params.push(quote!(#mutable #ident: #ty));
                    doc.own(&ident, is_input && known.origin == Origin::Owned);
                    args.push(ident.clone());
                    border.add(&known.ty, &ident, known.origin, false);
                    let shadow = shadow_param(function, *object).map(|shadow| names.object(shadow));
                    border.add_device(&known.ty, &ident, known.origin, shadow.as_ref());
                    if let Some(shadow) = shadow_param(function, *object) {
                        let shadow_ident = names.object(shadow);
                        border.add(&known.ty, &shadow_ident, known.origin, true);
                        let shadow_type = match library::exclusive_view(&known.ty) {
                            Some(view) if !is_reference(ty) && known.origin == Origin::Ref => view,
                            _ if !is_reference(ty) && known.origin == Origin::RefMut => quote!(#ty),
                            _ => exclusive(ty),
                        };
                        if library::dynamic(&known.ty).is_some_and(|known| known.dimensions() == 2)
                        {
                            let text = format!("{}.nrows", known.name);
                            checks.push(quote! {
                                ::stratape::__private::same_length(#text, #ident.nrows, #shadow_ident.nrows);
                            });
                        }
                        params.push(quote!(#shadow_ident: #shadow_type));
                        doc.shadow(&shadow_ident, &ident, known.origin);
                        args.push(shadow_ident.clone());
                        length_checks(
                            &known.ty,
                            &quote!(#ident),
                            &quote!(#shadow_ident),
                            &known.name,
                            &mut checks,
                        );
                    }
                    if is_input && known.origin == Origin::Owned {
                        outputs.push(quote!(#ty));
                    }
                }
            }
        }
        let mut all = Vec::new();
        let inner = crate::front::fallible(&item.sig.output);
        if let syn::ReturnType::Type(_, ty) = &item.sig.output
            && !primal.results.is_empty()
        {
            let ty = inner.unwrap_or(ty);
            if let Some(Param::Value(seed)) = function.params.last() {
                let ident = names.value(*seed);
                params.push(quote!(#ident: #ty));
                doc.seed(&ident);
                args.push(ident);
            }
            all.push(quote!(#ty));
        }
        let doc = doc.text(&item.sig.ident.to_string(), !all.is_empty());
        all.extend(outputs);
        let output = tuple(&all);
        let on_device = |object: &ObjectId| {
            matches!(&primal.objects[object.index()].ty,
            Type::Struct(def) if library::on_device(&def.name).is_some())
        };
        let takes = primal
            .params
            .iter()
            .any(|param| matches!(param, Param::Object(object) if on_device(object)));
        if takes || uses_devices(primal) {
            let before = &border.before;
            let scope = Ident::new("scope", Span::mixed_site());
            border.before =
                quote!(let #scope = ::stratape::gpu::__private::host::Scope::open(); #before);
        }
        Self { item, name, params, args, output, checks, border, fallible: inner.is_some(), doc }
    }

    /// What takes parameters apart, and writes them back.
    pub(super) fn border(&self) -> &Border {
        &self.border
    }

    /// What is checked before anything is touched.
    pub(super) fn checks(&self) -> TokenStream {
        let checks = &self.checks;
        quote!(#(#checks)*)
    }

    /// The expression that is returned.
    pub(super) fn result(&self, gradient: &Gradient, emitter: &Emitter<'_>) -> TokenStream {
        let values =
            gradient.outputs.iter().filter(|output| matches!(output, Output::Value(_))).count();
        let primal = gradient.function.results.len() - values;
        let mut all: Vec<TokenStream> = gradient.function.results[..primal]
            .iter()
            .map(|value| emitter.operand(*value))
            .collect();
        for output in &gradient.outputs {
            all.push(match output {
                Output::Value(value) => emitter.operand(*value),
                Output::Object(object) => {
                    let ident = emitter.names.object(*object);
                    quote!(#ident)
                }
            });
        }
        tuple(&all)
    }

    /// Both functions.
    pub(super) fn functions(
        &self,
        needs: Needs,
        body: &TokenStream,
        result: &TokenStream,
    ) -> TokenStream {
        let Self { item, name, params, args, output, .. } = self;
        let doc: Vec<&str> = self.doc.lines().collect();
        let vis = &item.vis;
        let generics = &item.sig.generics;
        let name_in = format_ident!("{}_in", name, span = name.span());
        let doc_in = format!(
            "[`{name}`] on a workspace of the caller's, the first argument; the others are the same."
        );
        let lints = super::lints();
        let workspace = Ident::new("workspace", Span::mixed_site());
        let tape = Ident::new("tape", Span::mixed_site());
        let length = Ident::new("length", Span::mixed_site());
        let error = quote!(::stratape::tape::TapeError);
        let lanes = Ident::new("lanes", Span::mixed_site());
        let begin = match needs {
            Needs::Lanes => quote! {
                let (#tape, #lanes, #length) = ::stratape::__private::begin_lanes(#workspace)?;
            },
            _ => quote!(let (#tape, #length) = ::stratape::__private::begin(#workspace);),
        };
        if self.fallible {
            let (result_type, error) =
                (quote!(::core::result::Result), quote!(::stratape::gpu::GpuError));
            quote! {
                #(#[doc = #doc])*
                ///
                /// # Errors
                /// If the device fails, or a kernel faults. What was added to shadows by then is unspecified.
                #lints
                #vis fn #name #generics (#(#params),*) -> #result_type<#output, #error> {
                    let mut #workspace = ::stratape::__private::Borrowed::new();
                    #name_in(::stratape::__private::Borrowed::get(&mut #workspace), #(#args),*)
                }

                #[doc = #doc_in]
                ///
                /// # Errors
                /// If the device or the tape fails, or a kernel faults.
                #lints
                #vis fn #name_in #generics (
                    #workspace: &mut ::stratape::Workspace, #(#params),*
                ) -> #result_type<#output, #error> {
                    #begin
                    #body
                    ::core::result::Result::Ok(#result)
                }
            }
        } else if needs != Needs::Nothing {
            quote! {
                #(#[doc = #doc])*
                #lints
                #vis fn #name #generics (#(#params),*) -> #output {
                    let mut #workspace = ::stratape::__private::Borrowed::new();
                    let result = #name_in(::stratape::__private::Borrowed::get(&mut #workspace), #(#args),*);
                    ::stratape::__private::settle(result)
                }

                #[doc = #doc_in]
                #lints
                #vis fn #name_in #generics (
                    #workspace: &mut ::stratape::Workspace, #(#params),*
                ) -> ::core::result::Result<#output, #error> {
                    #begin
                    #body
                    ::core::result::Result::Ok(#result)
                }
            }
        } else {
            quote! {
                #(#[doc = #doc])*
                #lints
                #vis fn #name #generics (#(#params),*) -> #output {
                    #body
                    #result
                }

                #[doc = #doc_in]
                #lints
                #vis fn #name_in #generics (
                    #workspace: &mut ::stratape::Workspace, #(#params),*
                ) -> ::core::result::Result<#output, #error> {
                    ::core::result::Result::Ok(#name(#(#args),*))
                }
            }
        }
    }
}

/// The documentation of a gradient: what is added, returned and seeded.
#[derive(Default)]
struct Doc {
    rows: Vec<String>,
    returned: Vec<String>,
}

impl Doc {
    fn row(&mut self, name: &Ident, text: &str) {
        self.rows.push(format!("| `{name}` | {text} |"));
    }

    /// An argument of the function itself.
    fn own(&mut self, name: &Ident, returned: bool) {
        if returned {
            self.row(
                name,
                "an argument of the function; the derivative with respect to it is returned",
            );
            self.returned.push(format!("`{name}`"));
        } else {
            self.row(name, "an argument of the function");
        }
    }

    fn shadow(&mut self, name: &Ident, of: &Ident, origin: Origin) {
        let text = if origin == Origin::RefMut {
            format!(
                "shadow of `{of}`: on entry the seed, the derivatives with respect to what `{of}` holds in the end; on return those with respect to what it held at first"
            )
        } else {
            format!(
                "shadow of `{of}`: the derivatives with respect to it are added to what it holds"
            )
        };
        self.row(name, &text);
    }

    fn seed(&mut self, name: &Ident) {
        self.row(name, "the weight of the result, usually 1: all derivatives are multiplied by it");
    }

    fn text(&self, function: &str, has_value: bool) -> String {
        let mut returned = self.returned.clone();
        let value = if has_value { "its value" } else { "" };
        let derivatives = match returned.pop() {
            None => String::new(),
            Some(only) if returned.is_empty() => format!("the derivative with respect to {only}"),
            Some(last) => {
                format!("the derivatives with respect to {} and {last}", returned.join(", "))
            }
        };
        let result = match (value, derivatives.as_str()) {
            ("", "") => "Returns nothing.".to_owned(),
            (value, "") => format!("Returns {value}."),
            ("", derivatives) => format!("Returns {derivatives}."),
            (value, derivatives) => format!("Returns {value}, then {derivatives}."),
        };
        format!(
            "The gradient of [`{function}`]: runs it, and takes derivatives of its result back to its arguments.\n\n\
             | argument | |\n|---|---|\n{}\n\n{result}",
            self.rows.join("\n")
        )
    }
}

/// Whether a function works on devices.
pub(super) fn uses_devices(function: &Function) -> bool {
    let mut uses = false;
    stratape_ir::walk(&function.body, &mut |node| {
        uses |= matches!(node, stratape_ir::Stmt::Call(call)
            if call.recursion.as_ref().is_some_and(|(name, _)| name == crate::front::GPU));
    });
    uses
}

/// The parameter that is an object's shadow.
fn shadow_param(function: &Function, object: ObjectId) -> Option<ObjectId> {
    function.params.iter().find_map(|param| match param {
        Param::Object(shadow) if function.objects[shadow.index()].shadow_of == Some(object) => {
            Some(*shadow)
        }
        _ => None,
    })
}

fn is_reference(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(_) => true,
        syn::Type::Paren(inner) => is_reference(&inner.elem),
        syn::Type::Group(inner) => is_reference(&inner.elem),
        _ => false,
    }
}

/// The type behind `&mut`.
fn exclusive(ty: &syn::Type) -> TokenStream {
    match ty {
        syn::Type::Reference(reference) => {
            let (lifetime, inner) = (&reference.lifetime, &reference.elem);
            quote!(&#lifetime mut #inner)
        }
        syn::Type::Paren(inner) => exclusive(&inner.elem),
        syn::Type::Group(inner) => exclusive(&inner.elem),
        ty => quote!(&mut #ty),
    }
}

/// Shadows must have the lengths of what they shadow.
fn length_checks(
    ty: &Type,
    place: &TokenStream,
    shadow: &TokenStream,
    name: &str,
    checks: &mut Vec<TokenStream>,
) {
    match ty {
        Type::Slice(item) | Type::Vec(item) => {
            checks.push(quote! {
                ::stratape::__private::same_length(#name, #place.len(), #shadow.len());
            });
            elements_checks(item, place, shadow, name, checks);
        }
        Type::Array(item, _) => elements_checks(item, place, shadow, name, checks),
        Type::Struct(def) => {
            for (field, ty) in &def.fields {
                if ty.has_float() {
                    let member = member(field);
                    length_checks(
                        ty,
                        &quote!(#place.#member),
                        &quote!(#shadow.#member),
                        &format!("{name}.{field}"),
                        checks,
                    );
                }
            }
        }
        Type::Tuple(items) => {
            for (index, ty) in items.iter().enumerate() {
                if ty.has_float() {
                    let member = member(&index.to_string());
                    length_checks(
                        ty,
                        &quote!(#place.#member),
                        &quote!(#shadow.#member),
                        &format!("{name}.{index}"),
                        checks,
                    );
                }
            }
        }
        Type::Scalar(_) | Type::Enum(_) => {}
    }
}

/// A field's name or number.
pub(super) fn member(name: &str) -> syn::Member {
    match name.parse::<u32>() {
        Ok(index) => syn::Member::Unnamed(syn::Index { index, span: Span::mixed_site() }),
        Err(_) => syn::Member::Named(
            syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site())),
        ),
    }
}

/// The parameters of a half of a function that calls itself.
pub(super) fn half_params(
    item: &syn::ItemFn,
    primal: &Function,
    half: &Function,
    names: &Names,
) -> Vec<TokenStream> {
    let mut params = Vec::new();
    for param in &half.params {
        let own = primal.params.iter().position(|other| other == param);
        let input = own.and_then(|at| match item.sig.inputs.iter().nth(at) {
            Some(syn::FnArg::Typed(input)) => Some(&*input.ty),
            _ => None,
        });
        params.push(match (param, input) {
            (Param::Value(value), Some(ty)) => {
                let ident = names.value(*value);
                quote!(#ident: #ty)
            }
            (Param::Value(value), None) => {
                let (ident, ty) =
                    (names.value(*value), super::operation::tokens(half.ty(*value).name()));
                quote!(#ident: #ty)
            }
            (Param::Object(object), Some(ty)) => {
                let ident = names.object(*object);
                quote!(#ident: #ty)
            }
            (Param::Object(object), None) => {
                let ident = names.object(*object);
                // The shadow of a list has the list's type.
                let of = half.objects[object.index()].shadow_of.map(Param::Object);
                let own = primal.params.iter().position(|other| Some(*other) == of);
                match own.and_then(|at| item.sig.inputs.iter().nth(at)) {
                    Some(syn::FnArg::Typed(syn::PatType { ty, .. })) => match &**ty {
                        syn::Type::Reference(list) => {
                            let list = &list.elem;
                            quote!(#ident: &mut #list)
                        }
                        ty => quote!(#ident: &mut #ty),
                    },
                    _ => quote!(#ident: &mut [f64]),
                }
            }
        });
    }
    params
}

/// What a half returns.
pub(super) fn half_output(half: &Function) -> TokenStream {
    let types: Vec<TokenStream> =
        half.results.iter().map(|value| super::operation::tokens(half.ty(*value).name())).collect();
    tuple(&types)
}

/// So must those of their elements, where these have lengths.
fn elements_checks(
    item: &Type,
    place: &TokenStream,
    shadow: &TokenStream,
    name: &str,
    checks: &mut Vec<TokenStream>,
) {
    let mut inner = Vec::new();
    if item.has_float() {
        let name = format!("{name}[…]");
        length_checks(item, &quote!(element), &quote!(shadow), &name, &mut inner);
    }
    if !inner.is_empty() {
        checks.push(quote! {
            for (element, shadow) in #place.iter().zip(#shadow.iter()) { #(#inner)* }
        });
    }
}
