//! `#[derive(Snapshot)]`: a state is copied and written field by field.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Index, Path, Result};

/// What `#[snapshot(…)]` says.
struct Settings {
    /// Where the crate is.
    krate: Path,
    /// Whether the type is plain data.
    plain: bool,
}

impl Settings {
    fn of(input: &DeriveInput) -> Result<Self> {
        let mut settings = Self { krate: syn::parse_quote!(::stratape::checkpoint), plain: false };
        for attribute in
            input.attrs.iter().filter(|attribute| attribute.path().is_ident("snapshot"))
        {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("plain") {
                    settings.plain = true;
                    Ok(())
                } else if meta.path.is_ident("crate") {
                    let path: syn::LitStr = meta.value()?.parse()?;
                    settings.krate = path.parse()?;
                    Ok(())
                } else {
                    Err(meta.error("`plain` and `crate = \"path\"` are known"))
                }
            })?;
        }
        Ok(settings)
    }
}

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    syn::parse2(input).and_then(|input| expand(&input)).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Settings { krate, plain } = Settings::of(input)?;
    let name = &input.ident;
    if plain {
        if !input.generics.params.is_empty() {
            let message = "plain data with parameters: write the type out, or leave `plain` away";
            return Err(Error::new(input.generics.span(), message));
        }
        return Ok(quote!(#krate::plain_snapshot!(#name);));
    }
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(#krate::Snapshot));
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let methods = match &input.data {
        Data::Struct(data) => of_struct(&krate, &data.fields),
        Data::Enum(data) => of_enum(&krate, data)?,
        Data::Union(data) => {
            let message = "a union does not say which of its fields is there";
            return Err(Error::new(data.union_token.span(), message));
        }
    };
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #krate::Snapshot for #name #arguments #conditions {
            #methods
        }
    })
}

/// The fields as they are named after `self.`.
fn members(fields: &Fields) -> Vec<TokenStream> {
    let name = |(at, field): (usize, &syn::Field)| match &field.ident {
        Some(ident) => ident.to_token_stream(),
        None => Index::from(at).to_token_stream(),
    };
    fields.iter().enumerate().map(name).collect()
}

fn of_struct(krate: &Path, fields: &Fields) -> TokenStream {
    let members = members(fields);
    quote! {
        fn encoded_len(&self) -> usize {
            0 #(+ #krate::Snapshot::encoded_len(&self.#members))*
        }
        fn encode(&self, out: &mut #krate::snapshot::Encoder<'_>) {
            #(#krate::Snapshot::encode(&self.#members, out);)*
            let _ = out;
        }
        fn decode(
            from: &mut #krate::snapshot::Decoder<'_>,
        ) -> ::core::result::Result<Self, #krate::snapshot::Malformed> {
            let _ = &from;
            Ok(Self { #(#members: #krate::Snapshot::decode(from)?,)* })
        }
        fn decode_into(
            &mut self,
            from: &mut #krate::snapshot::Decoder<'_>,
        ) -> ::core::result::Result<(), #krate::snapshot::Malformed> {
            let _ = &from;
            #(#krate::Snapshot::decode_into(&mut self.#members, from)?;)*
            Ok(())
        }
        fn copy_from(&mut self, other: &Self) {
            let _ = other;
            #(#krate::Snapshot::copy_from(&mut self.#members, &other.#members);)*
        }
    }
}

fn of_enum(krate: &Path, data: &syn::DataEnum) -> Result<TokenStream> {
    if data.variants.is_empty() {
        return Err(Error::new(
            data.enum_token.span(),
            "an enum without variants has no value to store",
        ));
    }
    let (mut lengths, mut writes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for (number, variant) in data.variants.iter().enumerate() {
        let (number, name) = (number as u32, &variant.ident);
        let members = members(&variant.fields);
        let bound: Vec<Ident> = (0..members.len()).map(|at| format_ident!("field_{at}")).collect();
        let pattern = quote!(Self::#name { #(#members: #bound,)* });
        lengths.push(quote!(#pattern => 4 #(+ #krate::Snapshot::encoded_len(#bound))*));
        writes.push(quote! {
            #pattern => {
                #krate::Snapshot::encode(&#number, out);
                #(#krate::Snapshot::encode(#bound, out);)*
            }
        });
        reads.push(
            quote!(#number => Self::#name { #(#members: #krate::Snapshot::decode(from)?,)* }),
        );
    }
    Ok(quote! {
        fn encoded_len(&self) -> usize {
            match self { #(#lengths,)* }
        }
        fn encode(&self, out: &mut #krate::snapshot::Encoder<'_>) {
            match self { #(#writes)* }
        }
        fn decode(
            from: &mut #krate::snapshot::Decoder<'_>,
        ) -> ::core::result::Result<Self, #krate::snapshot::Malformed> {
            let variant: u32 = #krate::Snapshot::decode(from)?;
            Ok(match variant {
                #(#reads,)*
                _ => return Err(from.malformed("preceded by the number of a variant")),
            })
        }
    })
}
