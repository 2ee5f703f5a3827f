//! Values in pieces: the numbers and the lists of numbers that structs, tuples and arrays are made of.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::choice::MARK;
use stratape_ir::{Scalar, Type};

/// One piece of an argument or a result.
pub(super) struct Piece {
    pub(super) name: Ident,
    /// Where it is in the whole, after the name of the whole.
    pub(super) after: TokenStream,
    pub(super) scalar: Scalar,
    pub(super) list: bool,
}

impl Piece {
    pub(super) fn float(&self) -> bool {
        self.scalar.is_float()
    }

    pub(super) fn scalar(&self) -> Ident {
        format_ident!("{}", self.scalar.name())
    }

    pub(super) fn shadow(&self) -> Ident {
        format_ident!("d{}", self.name)
    }
}

/// An argument of a function, or its result.
pub(super) struct Whole {
    pub(super) name: Ident,
    pub(super) ty: syn::Type,
    pub(super) read: Type,
    /// Whether it is behind a reference, and behind one that writes.
    pub(super) reference: Option<bool>,
    pub(super) pieces: Vec<Piece>,
}

impl Whole {
    /// A piece of something of this type, by its name or through a reference.
    pub(super) fn at(&self, piece: &Piece, name: &Ident) -> TokenStream {
        let after = &piece.after;
        match (after.is_empty(), self.reference) {
            (true, Some(_)) => quote!((*#name)),
            _ => quote!(#name #after),
        }
    }

    /// A piece of a variable of this type.
    pub(super) fn inside(&self, piece: &Piece, name: &Ident) -> TokenStream {
        let after = &piece.after;
        quote!(#name #after)
    }

    /// The parameters of its pieces.
    pub(super) fn params(&self) -> Vec<TokenStream> {
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
    pub(super) fn params_with_shadows(&self) -> Vec<TokenStream> {
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
    pub(super) fn put_together(&self, before: &mut Vec<TokenStream>, after: &mut Vec<TokenStream>) {
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
    pub(super) fn shadow_together(&self, shadow: &Ident) -> TokenStream {
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
    pub(super) fn passed(&self) -> TokenStream {
        let name = &self.name;
        match (self.pieces.is_empty(), self.reference) {
            (true, _) | (false, None) => quote!(#name),
            (false, Some(true)) => quote!(&mut #name),
            (false, Some(false)) => quote!(&#name),
        }
    }

    /// A list of its own, of the type that the whole has there.
    pub(super) fn owned(&self, piece: &Piece, part: &Ident) -> TokenStream {
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
    pub(super) fn len(&self, piece: &Piece) -> TokenStream {
        match list_of(&self.read, &mut self.pieces.iter(), piece) {
            Some(Type::Array(_, len)) => tokens(&len.to_string()),
            _ => quote!(0),
        }
    }

    /// The whole of its pieces.
    pub(super) fn together(&self, piece: &dyn Fn(&Piece) -> TokenStream) -> TokenStream {
        together(&self.read, &mut self.pieces.iter(), piece)
    }
}

/// Finds the pieces of a type; `None` if it has what cannot be passed.
pub(super) fn take_apart(
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
        // An enum with data is not taken apart.
        Type::Struct(def) if def.name.starts_with(MARK) => return None,
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
pub(super) fn together<'a>(
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
pub(super) fn list_of(
    ty: &Type,
    pieces: &mut dyn Iterator<Item = &Piece>,
    wanted: &Piece,
) -> Option<Type> {
    match ty {
        Type::Tuple(items) => items.iter().find_map(|item| list_of(item, pieces, wanted)),
        Type::Struct(def) => def.fields.iter().find_map(|(_, ty)| list_of(ty, pieces, wanted)),
        _ => pieces.next().is_some_and(|piece| piece.name == wanted.name).then(|| ty.clone()),
    }
}

pub(super) fn zero(scalar: Scalar) -> TokenStream {
    let name = scalar.name();
    match name {
        "bool" => quote!(false),
        _ if scalar.is_float() => tokens(&format!("0.0_{name}")),
        _ => tokens(&format!("0_{name}")),
    }
}

/// Text of ours as tokens.
pub(super) fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}
