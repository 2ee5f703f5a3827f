//! What names, paths and imports ask about the items of a text. It is kept as texts: tokens do not outlive one call of a macro.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Item, Visibility};

/// An item of the text that has a name.
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) is_public: bool,
    /// A struct or an enum.
    pub(super) is_type: bool,
    /// What stands behind its name where it takes any arguments; nothing for a function, a trait or an enum.
    pub(super) arguments: Option<String>,
}

impl Declaration {
    pub(super) fn of(item: &Item) -> Option<Self> {
        let (name, visibility) = declared(item)?;
        let generics = match item {
            Item::Struct(item) => Some(&item.generics),
            Item::Type(item) => Some(&item.generics),
            _ => None,
        };
        Some(Self {
            name: name.to_string(),
            is_public: matches!(visibility, Visibility::Public(_)),
            is_type: matches!(item, Item::Struct(_) | Item::Enum(_)),
            arguments: generics.map(|generics| any_arguments(generics).to_string()),
        })
    }
}

/// The name of a type or function, and who sees it.
pub(super) fn declared(item: &Item) -> Option<(&Ident, &Visibility)> {
    match item {
        Item::Struct(item) => Some((&item.ident, &item.vis)),
        Item::Type(item) => Some((&item.ident, &item.vis)),
        Item::Fn(item) => Some((&item.sig.ident, &item.vis)),
        Item::Trait(item) => Some((&item.ident, &item.vis)),
        Item::Enum(item) => Some((&item.ident, &item.vis)),
        _ => None,
    }
}

/// Arguments that any such item takes.
fn any_arguments(generics: &syn::Generics) -> TokenStream {
    let arguments = generics.params.iter().map(|param| match param {
        syn::GenericParam::Type(_) => quote!(f64),
        syn::GenericParam::Const(_) => quote!(1),
        syn::GenericParam::Lifetime(_) => quote!('static),
    });
    if generics.params.is_empty() { TokenStream::new() } else { quote!(<#(#arguments),*>) }
}
