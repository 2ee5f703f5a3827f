//! Parameters of types whose fields cannot be named: vectors and arrays of other crates whose sizes are known when the program runs.
//!
//! Inside a gradient such a parameter is a struct of a list and its shape, under the parameter's own name; at the end what was changed is written back.
//! Lists that lie in order are borrowed; others, as those of views with strides, are copied in the order of their indices, and so are those that the
//! function may replace as a whole.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::library::{self, Dynamic, OnDevice};
use stratape_ir::{Origin, Type};

/// What stands before and after the code of a gradient.
#[derive(Default)]
pub(super) struct Border {
    pub(super) before: TokenStream,
    pub(super) after: TokenStream,
}

impl Border {
    /// Gives a parameter that lives on a device, or is one, its number in the gradient's session.
    pub(super) fn add_device(
        &mut self,
        ty: &Type,
        ident: &Ident,
        origin: Origin,
        shadow: Option<&Ident>,
    ) {
        let Type::Struct(def) = ty else { return };
        let name = |end: &str| format_ident!("{ident}_{end}", span = Span::mixed_site());
        let (parts, whole) = (name("parts"), name("whole"));
        let host = quote!(::stratape::gpu::__private::host);
        match library::on_device(&def.name) {
            Some(OnDevice::Device) => self.before.extend(quote! {
                struct #parts { id: usize }
                let #ident = #parts { id: #host::adopt_device(#ident)? };
            }),
            Some(OnDevice::Stream) => self.before.extend(quote! {
                struct #parts { id: usize }
                let #ident = #parts { id: #host::adopt_stream(#ident)? };
            }),
            Some(OnDevice::Buffer) => {
                let adopt = format_ident!(
                    "adopt{}{}",
                    if origin == Origin::RefMut { "_mut" } else { "" },
                    if shadow.is_some() { "_with" } else { "" }
                );
                let mark =
                    def.fields.last().and_then(|(_, ty)| ty.element()).and_then(Type::scalar);
                let mark: TokenStream =
                    mark.map_or("f64", |scalar| scalar.name()).parse().unwrap_or_default();
                let zero = quote!([<#mark as ::core::default::Default>::default(); 1]);
                let passed = shadow.map(|shadow| quote!(, &mut *#shadow));
                self.before.extend(quote! {
                    struct #parts { id: usize, len: usize, mark: [#mark; 1] }
                    let #whole = #ident.len();
                    let mut #ident = #parts { id: #host::#adopt(#ident #passed)?, len: #whole, mark: #zero };
                });
                if let Some(shadow) = shadow {
                    self.before.extend(
                        quote!(let mut #shadow = #parts { id: 0, len: #whole, mark: #zero };),
                    );
                }
            }
            Some(OnDevice::Grid) | None => {}
        }
    }

    /// Takes a parameter apart, or its shadow; nothing happens to those of other types.
    pub(super) fn add(&mut self, ty: &Type, ident: &Ident, origin: Origin, shadow: bool) {
        let Some(dynamic) = library::dynamic(ty) else { return };
        let name = |end: &str| format_ident!("{ident}_{end}", span = Span::mixed_site());
        let (parts, whole, copy, copied) =
            (name("parts"), name("whole"), name("copy"), name("copied"));
        let vec = quote!(::std::vec::Vec);
        let (declared, shape) = match dynamic.dimensions() {
            1 => (quote!(), quote!()),
            _ => (
                quote!(nrows: usize, ncols: usize,),
                quote!(nrows: #whole.nrows(), ncols: #whole.ncols(),),
            ),
        };
        self.before.extend(quote! {
            struct #parts<D> { #declared data: D }
            let mut #whole = #ident;
        });
        let write_back = |from: TokenStream| quote!(for (to, from) in #whole.iter_mut().zip(#from.iter()) { *to = *from; });
        let (data, after) = match (dynamic, origin, shadow) {
            (_, Origin::RefMut | Origin::Owned, _) => {
                let back = write_back(quote!(#ident.data));
                let text = ident.to_string();
                let after = quote! {
                    ::stratape::__private::same_length(#text, #whole.len(), #ident.data.len());
                    #back
                };
                (quote!(#whole.iter().copied().collect::<#vec<_>>()), after)
            }
            (Dynamic::Vector | Dynamic::Matrix, _, false) => (quote!(#whole.as_slice()), quote!()),
            (Dynamic::Vector | Dynamic::Matrix, _, true) => {
                (quote!(#whole.as_mut_slice()), quote!())
            }
            (_, _, shadow) => {
                let back = write_back(quote!(#copy));
                self.before.extend(quote! {
                    let #copied = !#whole.is_standard_layout();
                    let mut #copy = if #copied { #whole.iter().copied().collect() } else { #vec::new() };
                });
                if shadow {
                    let data = quote!(match #whole.as_slice_mut() {
                        ::core::option::Option::Some(data) => data,
                        ::core::option::Option::None => &mut #copy[..],
                    });
                    (data, quote!(if #copied { #back }))
                } else {
                    let data = quote!(match #whole.as_slice() {
                        ::core::option::Option::Some(data) => data,
                        ::core::option::Option::None => &#copy[..],
                    });
                    (data, quote!())
                }
            }
        };
        self.before.extend(quote!(let mut #ident = #parts { #shape data: #data };));
        self.after.extend(after);
    }
}
