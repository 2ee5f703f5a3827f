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
use quote::quote;

use super::Emitter;
use super::views::{Parts, View};
use crate::analysis::Polynomial;
use crate::ir::{
    Function, Loop, Node, Op, Place, Range, RecordId, Scalar, Step, ValueId, used, walk,
};

/// A strip that is being emitted.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) counter: ValueId,
    pub(super) k: Ident,
    pub(super) views: Vec<View>,
    pub(super) parts: Vec<Parts>,
    /// The record whose region is open, and the region.
    pub(super) region: Option<(RecordId, Ident)>,
}

/// Arguments of a function that runs a strip.
#[derive(Default)]
struct Arguments {
    names: Vec<Ident>,
    types: Vec<TokenStream>,
}

impl Arguments {
    /// Runs something in a function of its own.
    fn around(&self, run: &TokenStream) -> TokenStream {
        let Self { names, types } = self;
        quote!((|#(#names: #types),*| { #run })(#(#names),*);)
    }
}

impl Emitter<'_> {
    /// Whether a loop is emitted as strips.
    pub(super) fn is_strip(&self, node: &Loop) -> bool {
        let has_loops =
            node.body.iter().any(|item| contains(item, &|node| matches!(node, Node::Loop(_))));
        can_be_strip(node)
            && (self.region_of(node).is_some() || !(has_loops || super::uses_tape(&node.body)))
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
        self.enter_strip(strip.clone());
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
            None => {
                let run = quote!(for #k in #range { #counter_let #body #assigns });
                let run = match self.apart(node, &strip) {
                    Some(parts) => parts.around(&run),
                    None => run,
                };
                quote!(#(#opens)* #run)
            }
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

    /// The views of a strip as arguments, where it writes to a part of an object and reads the other. LLVM does not know that
    /// the parts are apart, unless they are arguments of a function.
    fn apart(&self, node: &Loop, strip: &Strip) -> Option<Arguments> {
        let fits = |item: &Node| match item {
            Node::Let { op: Op::Load(place), .. }
            | Node::Store { place, .. }
            | Node::Accumulate { place, .. } => self.sees(strip, place),
            Node::Let { .. } => true,
            _ => false,
        };
        let plain = node.carried.is_empty() && strip.region.is_none();
        if strip.parts.is_empty() || !plain || !node.body.iter().all(fits) {
            return None;
        }
        let mut arguments = Arguments::default();
        for view in &strip.views {
            let ty = self.function.objects[view.object.index()].ty.element()?;
            let ty = super::operation::tokens(ty.scalar().filter(|_| view.is_dense())?.name());
            let mutable = view.mutable.then(|| quote!(mut));
            arguments.names.push(view.ident.clone());
            arguments.types.push(quote!(& #mutable [#ty]));
        }
        Some(arguments)
    }

    pub(super) fn enter_strip(&self, strip: Strip) {
        self.strips.borrow_mut().push(strip);
    }

    /// Whether a strip is being emitted. What it computes should be free of branches.
    pub(super) fn in_strip(&self) -> bool {
        !self.strips.borrow().is_empty()
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
                let ty = self.function.objects[place.object.index()].ty.element();
                return Some(self.follow(element, ty, &place.path[1..]));
            }
            if let Some((part, lacking)) = self.other_part(strip, place.object)
                && let Some(Step::Index(index)) = place.path.first()
            {
                let index = self.operand(*index);
                let ty = self.function.objects[place.object.index()].ty.element();
                return Some(self.follow(quote!(#part[#index #lacking]), ty, &place.path[1..]));
            }
        }
        None
    }

    pub(super) fn matching<'v>(
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

    pub(super) fn literal_int(&self, value: ValueId) -> Option<i128> {
        match self.literals.get(&value) {
            Some(Op::Int(number)) => Some(*number),
            _ => None,
        }
    }
}

fn contains(node: &Node, test: &dyn Fn(&Node) -> bool) -> bool {
    test(node) || node.blocks().into_iter().flatten().any(|inner| contains(inner, test))
}

/// Whether the body uses the loop's own number.
fn counter_is_named(node: &Loop) -> bool {
    used(&node.body).contains(&node.counter)
        || node.carried.iter().any(|carried| carried.next == node.counter)
}

/// Whether a loop's iterations are known beforehand, and nothing in it is called that may use the tape.
fn can_be_strip(node: &Loop) -> bool {
    // A loop that is divided asks for what strips around it have viewed.
    let calls = node.body.iter().any(|item| {
        contains(item, &|node| match node {
            Node::Call(_) => true,
            Node::Loop(node) => node.parallel.is_some(),
            _ => false,
        })
    });
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
            item if super::uses_tape(std::slice::from_ref(item)) => return None,
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
