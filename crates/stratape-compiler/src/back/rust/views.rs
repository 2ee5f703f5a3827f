//! Views of memory that a strip opens, and objects that it cuts in two.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use super::strip::Strip;
use stratape_ir::{self as ir, Loop, ObjectId, Side, Split, View};

/// A view and its name.
#[derive(Clone, Debug)]
pub(super) struct OpenView {
    pub(super) view: View,
    pub(super) ident: Ident,
}

impl OpenView {
    /// Whether it steps from element to element.
    pub(super) fn is_dense(&self) -> bool {
        self.view.stride == 1
    }
}

/// An object that is cut in two, and the names of its sides.
#[derive(Clone, Debug)]
pub(super) struct OpenSplit {
    pub(super) split: Split,
    low: Ident,
    high: Ident,
    /// Where it is cut.
    at: Ident,
}

impl OpenSplit {
    fn ident(&self, side: Side) -> &Ident {
        match side {
            Side::Low => &self.low,
            Side::High => &self.high,
        }
    }
}

impl Emitter<'_> {
    /// The views and splits of a loop, with names.
    pub(super) fn name_views(
        &self,
        node: &Loop,
        strip: &ir::Strip,
    ) -> (Vec<OpenView>, Vec<OpenSplit>) {
        let id = node.counter.0;
        let views = strip.views.iter().enumerate().map(|(number, view)| {
            let object = self.names.object(view.object);
            let ident = format_ident!("{object}_view{number}_{id}", span = Span::mixed_site());
            OpenView { view: view.clone(), ident }
        });
        let splits = strip.splits.iter().map(|split| {
            let object = self.names.object(split.object);
            let ident =
                |text: &str| Ident::new(&format!("{object}_{text}{id}"), Span::mixed_site());
            let (low, high, at) = (ident("low"), ident("high"), ident("split"));
            OpenSplit { split: split.clone(), low, high, at }
        });
        (views.collect(), splits.collect())
    }

    /// Splits an object.
    pub(super) fn open_split(
        &self,
        split: &OpenSplit,
        first: &Ident,
        count: &Ident,
    ) -> TokenStream {
        let OpenSplit { low, high, at, split } = split;
        let object = self.names.object(split.object);
        let pivot = self.polynomial(&quote!(#first), &split.pivot);
        let end = if split.others_below { quote!(#pivot) } else { quote!(#pivot + #count) };
        quote! {
            let #at = #end;
            let (#low, #high) = ::stratape::__private::split(&mut #object[..], #at);
        }
    }

    /// Where the others of a split object are, for additions to them: the part, and what its indices lack.
    pub(super) fn other_part(
        &self,
        strip: &Strip,
        object: ObjectId,
    ) -> Option<(Ident, TokenStream)> {
        let open = strip.splits.iter().find(|open| open.split.object == object)?;
        let side = open.split.side(false);
        let at = &open.at;
        let lacking = if side == Side::High { quote!(- #at) } else { quote!() };
        Some((open.ident(side).clone(), lacking))
    }

    /// What a copy of fields is a copy of: length, stride and offset, as arguments.
    pub(super) fn field_of(&self, object: ObjectId) -> TokenStream {
        let Some(field) = self.function.strided_copies.get(&object) else { return quote!() };
        let (of, stride, offset) = (self.names.object(field.of), field.stride, field.offset);
        quote!((#of.len(), #stride, #offset))
    }

    pub(super) fn open_view(
        &self,
        open: &OpenView,
        splits: &[OpenSplit],
        first: &Ident,
        count: &Ident,
    ) -> TokenStream {
        let OpenView { view, ident } = open;
        let mut object = self.names.object(view.object);
        let stride = view.stride as usize;
        let mut start = match stride {
            1 => self.polynomial(&quote!(#first), &view.base),
            _ => self.polynomial(&quote!(#stride * #first), &view.base),
        };
        let split = splits.iter().find(|open| open.split.object == view.object);
        if let (Some(open), Some(side)) = (split, view.side) {
            object = open.ident(side).clone();
            let at = &open.at;
            if side == Side::High {
                start = quote!(#start - #at);
            }
        }
        if let Some(piece) = self.pieces.borrow().get(&view.object) {
            start = self.start_within(piece, &start, &quote!(#stride * #count));
        }
        match (stride, view.mutable) {
            (1, false) if self.function.strided_copies.contains_key(&view.object) => {
                let of = self.field_of(view.object);
                quote!(let #ident = ::stratape::__private::view_field(&#object[..], #start, #count, #of);)
            }
            (1, false) => {
                quote!(let #ident = ::stratape::__private::view(&#object[..], #start, #count);)
            }
            (1, true) => {
                quote!(let #ident = ::stratape::__private::view_mut(&mut #object[..], #start, #count);)
            }
            (_, false) => quote! {
                let #ident = ::stratape::__private::view_chunks::<_, #stride>(&#object[..], #start, #count);
            },
            (_, true) => quote! {
                let #ident = ::stratape::__private::view_chunks_mut::<_, #stride>(&mut #object[..], #start, #count);
            },
        }
    }
}
