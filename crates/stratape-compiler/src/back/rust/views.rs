//! Which views a strip opens: what its accesses have in common.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use super::strip::Strip;
use crate::analysis::{Polynomial, Split};
use crate::ir::{Block, Loop, Node, ObjectId, Op, Place, Scalar, Type, ValueId, made, walk};

/// A view of an object in a strip.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) object: ObjectId,
    pub(super) ident: Ident,
    /// What is added to `stride * k`, at the strip's first iteration, less that iteration's own part.
    pub(super) base: Polynomial,
    /// Elements from one iteration to the next; more than one: the view is of arrays of that length.
    pub(super) stride: i128,
    pub(super) mutable: bool,
    /// The part of a split object it looks at.
    pub(super) within: Option<Side>,
}

/// A part of an object that was split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

/// An object that is split for a strip, so that one part can be written while the other is read.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) object: ObjectId,
    pub(super) low: Ident,
    pub(super) high: Ident,
    /// Where it is split.
    pub(super) at: Ident,
    pub(super) split: Split,
}

impl Parts {
    /// The part the pivot lies in, or the others.
    pub(super) fn side(&self, pivot: bool) -> Side {
        if pivot == self.split.others_below { Side::High } else { Side::Low }
    }

    pub(super) fn ident(&self, side: Side) -> &Ident {
        match side {
            Side::Low => &self.low,
            Side::High => &self.high,
        }
    }
}

impl View {
    /// Whether it steps from element to element.
    pub(super) fn is_dense(&self) -> bool {
        self.stride == 1
    }
}

/// An access to a list by its first index.
struct Access<'a> {
    place: &'a Place,
    written: bool,
    /// Executed in every iteration.
    always: bool,
}

impl Emitter<'_> {
    pub(super) fn find_views(&self, node: &Loop) -> (Vec<View>, Vec<Parts>) {
        let mut parts = Vec::new();
        if self.function.ty(node.counter) != Scalar::USIZE {
            return (Vec::new(), parts);
        }
        // A view is sliced before the loop; a check inside it must come in its own time.
        let mut checks = false;
        walk(&node.body, &mut |node| checks |= matches!(node, Node::Check { .. }));
        if checks {
            return (Vec::new(), parts);
        }
        let mut accesses = Vec::new();
        collect(&node.body, true, &mut accesses);
        let made_here = made(&node.body);
        let mut views: Vec<View> = Vec::new();
        let mut objects: Vec<ObjectId> =
            accesses.iter().map(|access| access.place.object).collect();
        objects.sort_unstable();
        objects.dedup();
        for object in objects {
            let ty = &self.function.objects[object.index()].ty;
            if made_here.contains(&object)
                || !matches!(ty, Type::Slice(_) | Type::Vec(_) | Type::Array(..))
            {
                continue;
            }
            // A view of a whole that is viewed already would borrow it twice.
            if self
                .strips
                .borrow()
                .iter()
                .any(|strip| strip.views.iter().any(|view| view.object == object))
            {
                continue;
            }
            let mine: Vec<&Access<'_>> =
                accesses.iter().filter(|access| access.place.object == object).collect();
            let mutable = mine.iter().any(|access| access.written);
            let whole = mine.iter().any(|access| access.place.path.is_empty());
            let mut found = self.groups(&mine, object, node.counter, mutable, views.len());
            if mutable {
                // Exclusive: one view must serve every access.
                let all = found.len() == 1
                    && !whole
                    && mine
                        .iter()
                        .all(|access| self.matching(&found, node.counter, access.place).is_some());
                if !all {
                    if let Some((part, mut found)) = self.split(node, &mine, object, views.len()) {
                        parts.push(part);
                        views.append(&mut found);
                    }
                    continue;
                }
            }
            views.append(&mut found);
        }
        (views, parts)
    }

    /// Views of an object that is read in one part and written in another.
    fn split(
        &self,
        node: &Loop,
        accesses: &[&Access<'_>],
        object: ObjectId,
        number: usize,
    ) -> Option<(Parts, Vec<View>)> {
        if self.pieces.borrow().contains_key(&object) {
            return None;
        }
        let split = Split::find(&self.affine, node, object)?;
        let name = self.names.object(object);
        let id = node.counter.0;
        let ident = |text: &str| Ident::new(&format!("{name}_{text}{id}"), Span::mixed_site());
        let parts =
            Parts { object, low: ident("low"), high: ident("high"), at: ident("split"), split };
        let mut views: Vec<View> = Vec::new();
        let mut pivot_seen = false;
        for access in accesses {
            let (1, base) = self.first_index(access.place, node.counter)? else { return None };
            if !access.always {
                return None;
            }
            let pivot = base == parts.split.pivot;
            pivot_seen |= pivot;
            if (!pivot && !parts.split.others_read) || views.iter().any(|view| view.base == base) {
                continue;
            }
            let ident = ident(&format!("view{}_", number + views.len()));
            let within = Some(parts.side(pivot));
            views.push(View { object, ident, base, stride: 1, mutable: pivot, within });
        }
        pivot_seen.then_some((parts, views))
    }

    /// Splits an object.
    pub(super) fn open_parts(&self, parts: &Parts, first: &Ident, count: &Ident) -> TokenStream {
        let Parts { object, low, high, at, split } = parts;
        let object = self.names.object(*object);
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
        let parts = strip.parts.iter().find(|parts| parts.object == object)?;
        let side = parts.side(false);
        let at = &parts.at;
        let lacking = if side == Side::High { quote!(- #at) } else { quote!() };
        Some((parts.ident(side).clone(), lacking))
    }

    /// The views that accesses of one object ask for.
    fn groups(
        &self,
        accesses: &[&Access<'_>],
        object: ObjectId,
        counter: ValueId,
        mutable: bool,
        number: usize,
    ) -> Vec<View> {
        let mut found: Vec<(i128, Polynomial)> = Vec::new();
        for access in accesses.iter().filter(|access| access.always) {
            if let Some(index) = self.first_index(access.place, counter)
                && !found.contains(&index)
            {
                found.push(index);
            }
        }
        let mut views = Vec::new();
        let name = self.names.object(object);
        for (stride, base) in &found {
            let offsets: Vec<i128> = found
                .iter()
                .filter(|(other, _)| other == stride)
                .filter_map(|(_, other)| other.minus(base).as_number())
                .collect();
            // Of a group of neighbours the lowest makes the view, and the highest must reach its end.
            let lowest = offsets.iter().all(|offset| *offset >= 0 || *offset <= -*stride);
            let reaches = *stride == 1 || offsets.contains(&(*stride - 1));
            let covered =
                *stride > 1 && offsets.iter().any(|offset| *offset < 0 && *offset > -*stride);
            if lowest && reaches && !covered && *stride <= 64 {
                let ident = format_ident!(
                    "{}_view{}_{}",
                    name,
                    number + views.len(),
                    counter.0,
                    span = Span::mixed_site()
                );
                views.push(View {
                    object,
                    ident,
                    base: base.clone(),
                    stride: *stride,
                    mutable,
                    within: None,
                });
            }
        }
        views
    }

    /// What a copy of fields is a copy of: length, stride and offset, as arguments.
    pub(super) fn field_of(&self, object: ObjectId) -> TokenStream {
        let Some(field) = self.function.fields.get(&object) else { return quote!() };
        let (of, stride, offset) = (self.names.object(field.of), field.stride, field.offset);
        quote!((#of.len(), #stride, #offset))
    }

    pub(super) fn open_view(
        &self,
        view: &View,
        parts: &[Parts],
        first: &Ident,
        count: &Ident,
    ) -> TokenStream {
        let ident = &view.ident;
        let mut object = self.names.object(view.object);
        let stride = view.stride as usize;
        let mut start = match stride {
            1 => self.polynomial(&quote!(#first), &view.base),
            _ => self.polynomial(&quote!(#stride * #first), &view.base),
        };
        let split = parts.iter().find(|parts| parts.object == view.object);
        if let (Some(parts), Some(side)) = (split, view.within) {
            object = parts.ident(side).clone();
            let at = &parts.at;
            if side == Side::High {
                start = quote!(#start - #at);
            }
        }
        if let Some(piece) = self.pieces.borrow().get(&view.object) {
            start = self.start_within(piece, &start, &quote!(#stride * #count));
        }
        match (stride, view.mutable) {
            (1, false) if self.function.fields.contains_key(&view.object) => {
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

fn collect<'a>(block: &'a Block, always: bool, accesses: &mut Vec<Access<'a>>) {
    for node in block {
        match node {
            Node::Let { op: Op::Load(place) | Op::Len(place), .. } => {
                accesses.push(Access { place, written: false, always });
            }
            Node::Store { place, .. } | Node::Accumulate { place, .. } => {
                accesses.push(Access { place, written: true, always });
            }
            Node::New { init: crate::ir::Init::Copy(place), .. } => {
                accesses.push(Access { place, written: false, always });
            }
            _ => {}
        }
        for inner in node.blocks() {
            collect(inner, false, accesses);
        }
    }
}
