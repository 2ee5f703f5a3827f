//! Strips: loops over views of just their length, and their records as regions of the tape.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::region::{OpenRegion, Slots, is_run};
use super::views::{OpenSplit, OpenView};
use crate::lower::{longest_in_triangle, matching};
use crate::tapeflow::is_counted;
use stratape_ir::analysis::{Polynomial, asked_first, checks_later};
use stratape_ir::{
    self as ir, Check, Half, Loop, Op, Place, Range, Scalar, Step, Stmt, ValueId, used,
};

/// A strip that is being emitted.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) counter: ValueId,
    pub(super) k: Ident,
    pub(super) views: Vec<OpenView>,
    pub(super) splits: Vec<OpenSplit>,
    /// The layer that is open.
    pub(super) region: Option<OpenRegion>,
    /// Index and length of checks that were made for all iterations.
    pub(super) asked: HashSet<(ValueId, ValueId)>,
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
    /// A loop as one strip, or several if it uses the tape.
    pub(super) fn strips(&self, node: &Loop, clause: &ir::Strip) -> TokenStream {
        if let Some(id) = clause.region.filter(|_| !is_counted(node)) {
            return self.open_ended(node, id);
        }
        let Some((from_tokens, to_tokens)) = self.range(node) else { return TokenStream::new() };
        let starts = node.carried.iter().map(|carried| {
            let (ident, init) = (self.names.value(carried.inside), self.entry(node, carried));
            quote!(let mut #ident = #init;)
        });
        let id = node.counter.0;
        let name = |text: &str| Ident::new(&format!("{text}{id}"), Span::mixed_site());
        let (total, first, count, k) = (name("total"), name("first"), name("count"), name("k"));
        let ty = self.function.ty(node.counter);
        let length = if ty == Scalar::USIZE {
            match node.range {
                Range::UpTo { from, .. }
                    if !self.is_part(node) && self.literal_int(from) == Some(0) =>
                {
                    quote!(#to_tokens)
                }
                _ => quote!(#to_tokens.saturating_sub(#from_tokens)),
            }
        } else {
            quote!((if #from_tokens < #to_tokens { #to_tokens.abs_diff(#from_tokens) } else { 0 }) as usize)
        };
        let half = match uses_forward(node) {
            true => Half::Forward,
            false => Half::Backward,
        };
        let (views, splits) = self.name_views(node, clause);
        let slots = name("slots");
        let region = clause.region.map(|id| self.open_region(id, &slots, &count));
        let (asked, asks) = self.ask_first(node, &first, &count);
        let strip = Strip {
            counter: node.counter,
            k: k.clone(),
            views: views.clone(),
            region: region.clone(),
            splits: splits.clone(),
            asked,
        };
        let simd = node.schedule.as_ref().and_then(|schedule| schedule.simd.as_ref());
        let in_blocks = simd.map(|simd| self.in_blocks(node, simd, &strip, &first, &count));
        self.enter_strip(strip.clone());
        let body = self.block(&node.body);
        let assigns = self.assigns(node);
        let counter = self.names.value(node.counter);
        // A range may be longer than the largest number of its type.
        let at_offset = |from: &TokenStream, offset: TokenStream| {
            if ty == Scalar::USIZE {
                quote!(#from + #offset)
            } else {
                let ty = super::operation::tokens(ty.name());
                quote!(#ty::wrapping_add(#from, #offset as #ty))
            }
        };
        let counter_let = if counter_is_named(node) {
            let here = at_offset(&quote!(#first), quote!(#k));
            quote!(let #counter = #here;)
        } else {
            quote!()
        };
        self.leave_strip();
        let mut opens = asks;
        opens.extend(splits.iter().map(|split| self.open_split(split, &first, &count)));
        opens.extend(views.iter().map(|view| self.open_view(view, &splits, &first, &count)));
        let range = if node.reversed && !node.unordered {
            quote!((0..#count).rev())
        } else {
            quote!(0..#count)
        };
        let run =
            in_blocks.unwrap_or_else(|| quote!(for #k in #range { #counter_let #body #assigns }));
        let sums = simd.is_some_and(|simd| simd.rotations.is_empty());
        let run = match self.apart(node, &strip, half).filter(|_| !sums) {
            Some(arguments) => arguments.around(&run),
            None => run,
        };
        let run = quote!(#(#opens)* #run);
        let Some(open) = region else {
            return quote! {
                #(#starts)*
                let #count = #length;
                let #first = #from_tokens;
                #run
            };
        };
        let region = &self.function.regions[open.id.index()];
        // A layer that the program was given a size for, within what the tape finds good.
        let layer = region.layer.map(|most| quote!(.min(#most)));
        let most = region.layer.map_or_else(|| quote!(usize::MAX), |most| quote!(#most));
        let frame = self.frame_type(region);
        let slices = self.slice_region(&open, &slots, &count, half);
        let tape = self.tape();
        if half == Half::Forward {
            let done = name("done");
            let begin = if node.reversed {
                at_offset(&from_tokens, quote!((#total - #done - #count)))
            } else {
                at_offset(&from_tokens, quote!(#done))
            };
            let reserve = if is_run(region, !node.reversed) {
                quote! {
                    let #slots = #tape.push_run::<#frame>(#total - #done, #most)?;
                    let #count = #slots.len();
                }
            } else {
                quote! {
                    let #count = #tape.layer::<#frame>(#total - #done)#layer;
                    let #slots = #tape.reserve::<#frame>(#count)?;
                }
            };
            quote! {
                #(#starts)*
                let #total = #length;
                let mut #done = 0_usize;
                while #done < #total {
                    #reserve
                    let #slots = &mut #slots[..#count];
                    let #first = #begin;
                    #slices
                    #run
                    #done += #count;
                }
            }
        } else {
            let left = name("left");
            let begin = if node.reversed {
                at_offset(&from_tokens, quote!((#left - #count)))
            } else {
                at_offset(&from_tokens, quote!((#total - #left)))
            };
            let take = match is_run(region, node.reversed) {
                true => quote!(pop_run::<#frame>(#left, #most)),
                false => quote!(take::<#frame>()),
            };
            quote! {
                #(#starts)*
                let #total = #length;
                let mut #left = #total;
                while #left > 0 {
                    let #slots = &*#tape.#take?;
                    let #count = #slots.len();
                    let #slots = &#slots[..#count];
                    #slices
                    let #first = #begin;
                    #run
                    #left -= #count;
                }
            }
        }
    }

    /// The checks of a strip that are made for all its iterations, before the first: which they are, and how they are made.
    fn ask_first(
        &self,
        node: &Loop,
        first: &Ident,
        count: &Ident,
    ) -> (HashSet<(ValueId, ValueId)>, Vec<TokenStream>) {
        let (mut asked, mut asks) = (HashSet::new(), Vec::new());
        if self.function.ty(node.counter) != Scalar::USIZE || checks_later(&self.affine, node) {
            return (asked, asks);
        }
        for item in &node.body {
            if let Stmt::Check { check, .. } = item
                && let Check::Bounds { index, .. } = check
                && let Some((base, len)) = asked_first(&self.affine, node.counter, check)
                && asked.insert((*index, len))
            {
                let (start, len) = (self.polynomial(&quote!(#first), &base), self.operand(len));
                asks.push(quote!(::stratape::__private::check_indices(#start, #count, #len);));
            }
        }
        (asked, asks)
    }

    /// What a strip sees of memory as arguments, where it writes to some of it and reads more. LLVM does not know that views of several objects, or
    /// of parts of one, are apart, unless they are arguments of a function. Not where
    /// something is accessed beside the views, by a list of indices or by a remainder: those loops gain nothing, and took longer (cg 1.24, fft 1.21, limiter 1.12 of the time).
    fn apart(&self, node: &Loop, strip: &Strip, half: Half) -> Option<Arguments> {
        let fits = |item: &Stmt| match item {
            Stmt::Let { .. } | Stmt::Store { .. } | Stmt::Accumulate { .. } => true,
            Stmt::Push { .. } | Stmt::Pop { .. } => strip.region.is_some(),
            Stmt::Check { check: Check::Bounds { index, len }, .. } => {
                strip.asked.contains(&(*index, *len))
            }
            _ => false,
        };
        let seen = |item: &Stmt| match item {
            Stmt::Let { op: Op::Load(place), .. }
            | Stmt::Store { place, .. }
            | Stmt::Accumulate { place, .. } => self.matching(strip, place).is_some(),
            _ => true,
        };
        // Of constant length, LLVM unrolls them as they are; told that the views are apart it would make vectors of two or three elements.
        let constant = |symbol: ValueId| matches!(self.affine.op(symbol), Some(Op::Const(_)));
        let triangle = longest_in_triangle(&self.affine, node)
            .is_some_and(|longest| longest.symbols().all(constant));
        let plain = node.carried.is_empty() && !triangle;
        if !plain || !node.body.iter().all(|item| fits(item) && seen(item)) {
            return None;
        }
        let mut arguments = Arguments::default();
        let mut written = false;
        for OpenView { view, ident } in &strip.views {
            let ty = self.function.objects[view.object.index()].ty.element()?;
            let ty = super::operation::tokens(ty.scalar()?.name());
            let ty = match view.stride {
                1 => ty,
                stride => {
                    let stride = stride as usize;
                    quote!([#ty; #stride])
                }
            };
            let mutable = view.mutable.then(|| quote!(mut));
            written |= view.mutable;
            arguments.names.push(ident.clone());
            arguments.types.push(quote!(& #mutable [#ty]));
        }
        if let Some(open) = &strip.region {
            let region = &self.function.regions[open.id.index()];
            let ty = match &open.slots {
                Slots::Frames(_) => self.frame_type(region),
                Slots::Columns(_) | Slots::Flat(..) => super::operation::tokens(region.cell.name()),
            };
            let mutable = (half == Half::Forward).then(|| quote!(mut));
            written |= half == Half::Forward;
            for slots in open.slots.slices() {
                arguments.names.push(slots.clone());
                arguments.types.push(quote!(& #mutable [#ty]));
            }
        }
        (written && arguments.names.len() > 1).then_some(arguments)
    }

    pub(super) fn enter_strip(&self, strip: Strip) {
        self.strips.borrow_mut().push(strip);
    }

    /// Whether a strip is being emitted. What it computes should be free of branches.
    pub(super) fn in_strip(&self) -> bool {
        !self.strips.borrow().is_empty()
    }

    /// Whether a check was made before the strip that it stands in.
    pub(super) fn was_asked(&self, index: ValueId, len: ValueId) -> bool {
        self.strips.borrow().iter().any(|strip| strip.asked.contains(&(index, len)))
    }

    pub(super) fn leave_strip(&self) {
        self.strips.borrow_mut().pop();
    }

    /// A place as an element of a view.
    pub(super) fn viewed(&self, place: &Place) -> Option<TokenStream> {
        let strips = self.strips.borrow();
        for strip in strips.iter().rev() {
            if let Some((view, base)) = self.matching(strip, place) {
                let (ident, k) = (&view.ident, &strip.k);
                let element = if view.is_dense() {
                    quote!(#ident[#k])
                } else {
                    let offset = base.minus(&view.view.base).as_number().unwrap_or(0) as usize;
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

    /// The view that a place is an element of, and what the place adds to `stride * counter`.
    fn matching<'s>(&self, strip: &'s Strip, place: &Place) -> Option<(&'s OpenView, Polynomial)> {
        let views = strip.views.iter().map(|open| &open.view);
        let (number, base) = matching(self.function, &self.affine, views, strip.counter, place)?;
        Some((&strip.views[number], base))
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
        if minus.is_empty() {
            return quote!(#something #(+ #plus)*);
        }
        // A loop that does not run has no place that it begins at, and may be as far below zero as it likes.
        quote!((#something #(+ #plus)*) #(.wrapping_sub(#minus))*)
    }

    pub(super) fn literal_int(&self, value: ValueId) -> Option<i128> {
        match self.literals.get(&value) {
            Some(Op::Int(number)) => Some(*number),
            _ => None,
        }
    }
}

/// Whether the iterations of a loop push.
fn uses_forward(node: &Loop) -> bool {
    node.body.iter().any(|item| item.uses_tape(Half::Forward))
}

/// Whether the body uses the loop's own number.
fn counter_is_named(node: &Loop) -> bool {
    used(&node.body).contains(&node.counter)
        || node.carried.iter().any(|carried| carried.next == node.counter)
}
