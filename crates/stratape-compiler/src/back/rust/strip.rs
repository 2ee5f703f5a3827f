//! Loops over ranges as strips: a run of iterations over views of just its length.
//!
//! Inside a strip the iteration number `k` counts from 0, and memory that is accessed at `k` plus something
//! fixed is seen through a view that was sliced beforehand and is as long as the strip. LLVM then
//! leaves no bounds check in the loop, and can vectorise it. A slice that does not fit panics as the first
//! access out of bounds would have.
//!
//! A loop that saves a record in each iteration reserves the records of a strip at once, as a region of
//! the tape; a long loop is cut into several strips, so that the tape's memory can be smaller than
//! the loop's records.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use crate::analysis::{Polynomial, Split};
use crate::ir::{
    Block, Function, Loop, Node, ObjectId, Op, Place, Range, RecordId, Scalar, Step, Type, ValueId,
    walk,
};

/// A view of an object in a strip.
#[derive(Clone, Debug)]
pub(super) struct View {
    object: ObjectId,
    ident: Ident,
    /// What is added to `stride * k`, at the strip's first iteration, less that iteration's own part.
    base: Polynomial,
    /// Elements from one iteration to the next; more than one: the view is of arrays of that length.
    stride: i128,
    mutable: bool,
    /// The part of a split object it looks at.
    within: Option<Side>,
}

/// A part of an object that was split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

/// An object that is split for a strip, so that one part can be written while the other is read.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    object: ObjectId,
    low: Ident,
    high: Ident,
    /// Where it is split.
    at: Ident,
    split: Split,
}

impl Parts {
    /// The part the pivot lies in, or the others.
    fn side(&self, pivot: bool) -> Side {
        if pivot == self.split.others_below { Side::High } else { Side::Low }
    }

    fn ident(&self, side: Side) -> &Ident {
        match side {
            Side::Low => &self.low,
            Side::High => &self.high,
        }
    }
}

/// A strip that is being emitted.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    counter: ValueId,
    k: Ident,
    views: Vec<View>,
    parts: Vec<Parts>,
    /// The record whose region is open, and the region.
    region: Option<(RecordId, Ident)>,
}

impl View {
    pub(super) fn ident(&self) -> &Ident {
        &self.ident
    }

    pub(super) fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// Whether it steps from element to element.
    pub(super) fn is_dense(&self) -> bool {
        self.stride == 1
    }

    /// The same view under another name.
    pub(super) fn renamed(view: &Self, ident: Ident) -> Self {
        Self { ident, ..view.clone() }
    }
}

impl Strip {
    pub(super) fn new(
        counter: ValueId,
        k: Ident,
        views: Vec<View>,
        region: Option<(RecordId, Ident)>,
        parts: Vec<Parts>,
    ) -> Self {
        Self { counter, k, views, region, parts }
    }

    pub(super) fn parts(&self) -> &[Parts] {
        &self.parts
    }

    pub(super) fn k(&self) -> &Ident {
        &self.k
    }

    pub(super) fn views(&self) -> &[View] {
        &self.views
    }

    pub(super) fn region_ident(&self) -> Option<(RecordId, &Ident)> {
        self.region.as_ref().map(|(record, slots)| (*record, slots))
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
    /// Whether a loop is emitted as strips.
    pub(super) fn is_strip(&self, node: &Loop) -> bool {
        let has_loops =
            node.body.iter().any(|item| contains(item, &|node| matches!(node, Node::Loop(_))));
        can_be_strip(node) && (self.region_of(node).is_some() || !(has_loops || uses_tape(node)))
    }

    /// The record of a loop's iterations, if it lies in regions.
    fn region_of(&self, node: &Loop) -> Option<RecordId> {
        only_record(node).filter(|record| self.regions.contains(record))
    }

    /// A loop as one strip, or several if it uses the tape.
    pub(super) fn strips(&self, node: &Loop) -> TokenStream {
        let Range::UpTo { from, to } = node.range else { return TokenStream::new() };
        let starts = node.carried.iter().map(|carried| {
            let (ident, init) = (self.names.value(carried.inside), self.operand(carried.init));
            quote!(let mut #ident = #init;)
        });
        let id = node.counter.0;
        let name = |text: &str| Ident::new(&format!("{text}{id}"), Span::mixed_site());
        let (total, first, count, k) = (name("total"), name("first"), name("count"), name("k"));
        let ty = self.function.ty(node.counter);
        let (from_tokens, to_tokens) = (self.operand(from), self.operand(to));
        let length = if ty == Scalar::USIZE {
            match self.literal_int(from) {
                Some(0) => quote!(#to_tokens),
                _ => quote!(#to_tokens.saturating_sub(#from_tokens)),
            }
        } else {
            quote!((if #from_tokens < #to_tokens { #to_tokens - #from_tokens } else { 0 }) as usize)
        };
        let region = self.region_of(node);
        let pushes = node.body.iter().any(|item| matches!(item, Node::Push { .. }));
        let (views, parts) = self.find_views(node);
        let slots = name("slots");
        let strip = Strip {
            counter: node.counter,
            k: k.clone(),
            views: views.clone(),
            region: region.map(|record| (record, slots.clone())),
            parts: parts.clone(),
        };
        let in_lanes = self.lanes(node, &strip, &first, &count);
        self.enter_strip(strip);
        let body = self.block(&node.body);
        let assigns = self.assigns(node);
        let counter = self.names.value(node.counter);
        let as_counter = |offset: TokenStream| {
            if ty == Scalar::USIZE {
                offset
            } else {
                let ty = super::operation::tokens(ty.name());
                quote!((#offset as #ty))
            }
        };
        let counter_let = if counter_is_named(node) {
            let k = as_counter(quote!(#k));
            quote!(let #counter = #first + #k;)
        } else {
            quote!()
        };
        self.leave_strip();
        let mut opens: Vec<TokenStream> =
            parts.iter().map(|parts| self.open_parts(parts, &first, &count)).collect();
        opens.extend(views.iter().map(|view| self.open_view(view, &parts, &first, &count)));
        let range = if node.reversed && !node.unordered {
            quote!((0..#count).rev())
        } else {
            quote!(0..#count)
        };
        let run = match in_lanes {
            Some(run) => quote!(#(#opens)* #run),
            None => quote! {
                #(#opens)*
                for #k in #range { #counter_let #body #assigns }
            },
        };
        let Some(record) = region else {
            return quote! {
                #(#starts)*
                let #count = #length;
                let #first = #from_tokens;
                #run
            };
        };
        let record = self.record_type(record);
        let tape = self.tape();
        if pushes {
            let done = name("done");
            let begin = if node.reversed {
                let offset = as_counter(quote!((#total - #done - #count)));
                quote!(#from_tokens + #offset)
            } else {
                let offset = as_counter(quote!(#done));
                quote!(#from_tokens + #offset)
            };
            quote! {
                #(#starts)*
                let #total = #length;
                let mut #done = 0_usize;
                while #done < #total {
                    let #count = #tape.layer::<#record>(#total - #done);
                    let #first = #begin;
                    let #slots = &mut #tape.reserve::<#record>(#count)?[..#count];
                    #run
                    #tape.commit::<#record>(#count)?;
                    #done += #count;
                }
            }
        } else {
            let left = name("left");
            let begin = if node.reversed {
                let offset = as_counter(quote!((#left - #count)));
                quote!(#from_tokens + #offset)
            } else {
                let offset = as_counter(quote!((#total - #left)));
                quote!(#from_tokens + #offset)
            };
            quote! {
                #(#starts)*
                let #total = #length;
                let mut #left = #total;
                while #left > 0 {
                    let #slots = &*#tape.take::<#record>()?;
                    let #count = #slots.len();
                    let #slots = &#slots[..#count];
                    let #first = #begin;
                    #run
                    #left -= #count;
                }
            }
        }
    }

    pub(super) fn enter_strip(&self, strip: Strip) {
        self.strips.borrow_mut().push(strip);
    }

    pub(super) fn leave_strip(&self) {
        self.strips.borrow_mut().pop();
    }

    /// Whether a place is an element of one of a strip's views.
    pub(super) fn sees(&self, strip: &Strip, place: &Place) -> bool {
        self.matching(&strip.views, strip.counter, place).is_some()
    }

    /// The region that a push or pop of a record goes to.
    pub(super) fn region(&self, record: RecordId) -> Option<TokenStream> {
        let strips = self.strips.borrow();
        let strip = strips.last()?;
        match &strip.region {
            Some((open, slots)) if *open == record => {
                let k = &strip.k;
                Some(quote!(#slots[#k]))
            }
            _ => None,
        }
    }

    /// A place as an element of a view.
    pub(super) fn viewed(&self, place: &Place) -> Option<TokenStream> {
        let strips = self.strips.borrow();
        for strip in strips.iter().rev() {
            if let Some((view, base)) = self.matching(&strip.views, strip.counter, place) {
                let (ident, k) = (&view.ident, &strip.k);
                let element = if view.stride == 1 {
                    quote!(#ident[#k])
                } else {
                    let offset = base.minus(&view.base).as_number().unwrap_or(0) as usize;
                    quote!(#ident[#k][#offset])
                };
                let rest = Place { object: place.object, path: place.path[1..].to_vec() };
                let ty = self.function.objects[place.object.index()].ty.element().cloned();
                return Some(self.follow(element, ty.as_ref(), &rest.path));
            }
            if let Some((part, lacking)) = self.other_part(strip, place.object)
                && let Some(Step::Index(index)) = place.path.first()
            {
                let index = self.operand(*index);
                let ty = self.function.objects[place.object.index()].ty.element().cloned();
                return Some(self.follow(
                    quote!(#part[#index #lacking]),
                    ty.as_ref(),
                    &place.path[1..],
                ));
            }
        }
        None
    }

    fn matching<'v>(
        &self,
        views: &'v [View],
        counter: ValueId,
        place: &Place,
    ) -> Option<(&'v View, Polynomial)> {
        if views.iter().all(|view| view.object != place.object) {
            return None;
        }
        let (stride, base) = self.first_index(place, counter)?;
        let view = views.iter().find(|view| {
            view.object == place.object && view.stride == stride && {
                let offset = base.minus(&view.base).as_number();
                offset.is_some_and(|offset| (0..stride).contains(&offset))
            }
        })?;
        Some((view, base))
    }

    /// A list's first index as `stride * counter + base`.
    pub(super) fn first_index(
        &self,
        place: &Place,
        counter: ValueId,
    ) -> Option<(i128, Polynomial)> {
        let Some(Step::Index(index)) = place.path.first() else { return None };
        let (factor, base) = self.affine.of(*index).split(counter)?;
        let stride = factor.as_number().filter(|stride| *stride >= 1)?;
        let fixed = base.symbols().all(|symbol| {
            self.affine.is_invariant(symbol, counter) && self.function.ty(symbol) == Scalar::USIZE
        });
        fixed.then_some((stride, base))
    }

    fn find_views(&self, node: &Loop) -> (Vec<View>, Vec<Parts>) {
        let mut parts = Vec::new();
        if self.function.ty(node.counter) != Scalar::USIZE {
            return (Vec::new(), parts);
        }
        let mut accesses = Vec::new();
        collect(&node.body, true, &mut accesses);
        let mut made_here = Vec::new();
        walk(&node.body, &mut |node| {
            if let Node::New { object, .. } = node {
                made_here.push(*object);
            }
        });
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
    fn open_parts(&self, parts: &Parts, first: &Ident, count: &Ident) -> TokenStream {
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

    fn open_view(&self, view: &View, parts: &[Parts], first: &Ident, count: &Ident) -> TokenStream {
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
        match (stride, view.mutable) {
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

    /// Something plus a polynomial of `usize` values, as an expression: what is subtracted comes last.
    pub(super) fn polynomial(
        &self,
        something: &TokenStream,
        polynomial: &Polynomial,
    ) -> TokenStream {
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        for (symbols, factor) in polynomial.terms() {
            let size = factor.unsigned_abs() as usize;
            let mut symbols = symbols.iter().map(|symbol| self.operand(*symbol));
            let leading = match size {
                1 => symbols.next().unwrap_or_else(|| quote!(#size)),
                _ => quote!(#size),
            };
            let term = quote!(#leading #(* #symbols)*);
            if factor > 0 { plus.push(term) } else { minus.push(term) }
        }
        quote!(#something #(+ #plus)* #(- #minus)*)
    }

    fn literal_int(&self, value: ValueId) -> Option<i128> {
        match self.literals.get(&value) {
            Some(Op::Int(number)) => Some(*number),
            _ => None,
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

fn contains(node: &Node, test: &dyn Fn(&Node) -> bool) -> bool {
    test(node) || node.blocks().into_iter().flatten().any(|inner| contains(inner, test))
}

fn visit_operands(node: &Node, f: &mut dyn FnMut(ValueId)) {
    node.for_each_operand(f);
    for inner in node.blocks() {
        for node in inner {
            visit_operands(node, f);
        }
    }
}

/// Whether the body uses the loop's own number.
fn counter_is_named(node: &Loop) -> bool {
    let mut named = node.carried.iter().any(|carried| carried.next == node.counter);
    for item in &node.body {
        visit_operands(item, &mut |value| named |= value == node.counter);
    }
    named
}

fn uses_tape(node: &Loop) -> bool {
    node.body.iter().any(|item| super::pushes(item) || super::pops(item))
}

/// Whether a loop's iterations are known beforehand, and nothing in it is called that may use the tape.
fn can_be_strip(node: &Loop) -> bool {
    let calls = node.body.iter().any(|item| contains(item, &|node| matches!(node, Node::Call(_))));
    node.exit.is_none()
        && node.trips.is_none()
        && matches!(node.range, Range::UpTo { .. })
        && !calls
}

/// The record a loop's iterations push or pop, if nothing else inside uses the tape.
fn only_record(node: &Loop) -> Option<RecordId> {
    let mut records = Vec::new();
    for item in &node.body {
        match item {
            Node::Push { record, .. } | Node::Pop { record, .. } => records.push(*record),
            item if super::pushes(item) || super::pops(item) => return None,
            _ => {}
        }
    }
    match records[..] {
        [record] => Some(record),
        _ => None,
    }
}

/// The records that lie in regions: those whose loops can be strips in the forward half *and* in
/// the backward half. What was pushed one by one must be popped one by one.
pub(super) fn regions(functions: &[&Function]) -> HashSet<RecordId> {
    let (mut fit, mut unfit) = (HashSet::new(), HashSet::new());
    for function in functions {
        let mut in_loops = HashSet::new();
        walk(&function.body, &mut |node| {
            let Node::Loop(node) = node else { return };
            for item in &node.body {
                let (Node::Push { record, .. } | Node::Pop { record, .. }) = item else { continue };
                in_loops.insert(*record);
                if can_be_strip(node) && only_record(node) == Some(*record) {
                    fit.insert(*record);
                } else {
                    unfit.insert(*record);
                }
            }
        });
        walk(&function.body, &mut |node| {
            if let Node::Push { record, .. } | Node::Pop { record, .. } = node
                && !in_loops.contains(record)
            {
                unfit.insert(*record);
            }
        });
    }
    fit.difference(&unfit).copied().collect()
}
