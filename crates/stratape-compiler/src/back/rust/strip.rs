//! Strips: loops over views of just their length, and their records as regions of the tape.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::region::{OpenRegion, is_run};
use super::views::{OpenSplit, OpenView};
use crate::lower::matching;
use crate::tapeflow::is_counted;
use stratape_ir::analysis::Polynomial;
use stratape_ir::{self as ir, Half, Loop, Op, Place, Range, Scalar, Step, Stmt, ValueId, used};

/// A strip that is being emitted.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) counter: ValueId,
    pub(super) k: Ident,
    pub(super) views: Vec<OpenView>,
    pub(super) splits: Vec<OpenSplit>,
    /// The layer that is open.
    pub(super) region: Option<OpenRegion>,
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
        let strip = Strip {
            counter: node.counter,
            k: k.clone(),
            views: views.clone(),
            region: region.clone(),
            splits: splits.clone(),
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
        let mut opens: Vec<TokenStream> =
            splits.iter().map(|split| self.open_split(split, &first, &count)).collect();
        opens.extend(views.iter().map(|view| self.open_view(view, &splits, &first, &count)));
        let range = if node.reversed && !node.unordered {
            quote!((0..#count).rev())
        } else {
            quote!(0..#count)
        };
        let run = match in_blocks {
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

    /// The views of a strip as arguments, where it writes to a part of an object and reads the other. LLVM does not know that
    /// the parts are apart, unless they are arguments of a function.
    fn apart(&self, node: &Loop, strip: &Strip) -> Option<Arguments> {
        let fits = |item: &Stmt| match item {
            Stmt::Let { op: Op::Load(place), .. }
            | Stmt::Store { place, .. }
            | Stmt::Accumulate { place, .. } => self.sees(strip, place),
            Stmt::Let { .. } => true,
            _ => false,
        };
        let plain = node.carried.is_empty() && strip.region.is_none();
        if strip.splits.is_empty() || !plain || !node.body.iter().all(fits) {
            return None;
        }
        let mut arguments = Arguments::default();
        for view in &strip.views {
            let ty = self.function.objects[view.view.object.index()].ty.element()?;
            let ty = super::operation::tokens(ty.scalar().filter(|_| view.is_dense())?.name());
            let mutable = view.view.mutable.then(|| quote!(mut));
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
    fn sees(&self, strip: &Strip, place: &Place) -> bool {
        self.matching(strip, place).is_some()
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
