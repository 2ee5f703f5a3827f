//! Sums in lanes: eight iterations at a time, so that the work between the sums vectorises.
//!
//! LLVM does not reorder sums of floats, so a loop that carries one runs an element at a time. A sum of
//! adjoints has no order to keep: each lane sums on its own, and the lanes are added at the end. A
//! sum of the primal keeps its order: the terms of eight iterations are computed side by side, then added one
//! after the other.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::strip::Strip;
use super::views::View;
use crate::analysis::Polynomial;
use crate::ir::{Binary, Carried, Float, Loop, Math, Node, ObjectId, Op, Scalar, ValueId};

/// A carried sum: `next = inside + term`.
struct Sum {
    carried: Carried,
    term: ValueId,
    subtract: bool,
    /// Whether its order is free.
    free: bool,
}

/// An addition to memory that is done after its block.
struct Scattered<'n> {
    node: &'n Node,
    object: ObjectId,
    base: Polynomial,
    value: ValueId,
    subtract: bool,
}

fn same(a: &Node, b: &Node) -> bool {
    std::ptr::eq(a, b)
}

impl Emitter<'_> {
    /// A strip in lanes, if it is one that gains by it.
    pub(super) fn lanes(
        &self,
        node: &Loop,
        strip: &Strip,
        first: &Ident,
        count: &Ident,
    ) -> Option<TokenStream> {
        if (node.reversed && !node.unordered) || self.function.ty(node.counter) != Scalar::USIZE {
            return None;
        }
        let sums = self.sums(node)?;
        let scattered = self.scattered(node, strip);
        let fits = |item: &Node| {
            self.fits_lanes(item, strip) || scattered.iter().any(|one| same(one.node, item))
        };
        let gains = !scattered.is_empty() || (!sums.is_empty() && self.gains(node, &sums));
        if !gains || !node.body.iter().all(fits) {
            return None;
        }
        let narrow = !node.carried.is_empty()
            && node
                .carried
                .iter()
                .all(|carried| self.function.ty(carried.inside) == Scalar::Float(Float::F32));
        let lanes =
            Literal::usize_unsuffixed(match (strip.views.iter().all(View::is_dense), narrow) {
                (true, false) => 8,
                (true, true) => 16,
                // Neighbours would be paired across fields, not lanes, were the loop unrolled: keep it a loop.
                (false, _) => 32,
            });
        let id = node.counter.0;
        let name = |text: &str| Ident::new(&format!("{text}{id}"), Span::mixed_site());
        let (blocks, block, lane) = (name("blocks"), name("block"), name("lane"));
        let in_block = |ident: &Ident| Ident::new(&format!("{ident}_block"), Span::mixed_site());

        let mut opens = Vec::new();
        let mut picks = Vec::new();
        let mut views = Vec::new();
        for view in &strip.views {
            let (ident, inner) = (&view.ident, in_block(&view.ident));
            let all = Ident::new(&format!("{ident}_blocks"), Span::mixed_site());
            if view.mutable {
                opens.push(quote!(let #all = &mut #ident.as_chunks_mut::<#lanes>().0[..#blocks];));
                picks.push(quote!(let #inner = &mut #all[#block];));
            } else {
                opens.push(quote!(let #all = &#ident.as_chunks::<#lanes>().0[..#blocks];));
                picks.push(quote!(let #inner = &#all[#block];));
            }
            views.push(View { ident: inner, ..view.clone() });
        }
        let region = strip.region.as_ref().map(|(record, slots)| {
            let inner = in_block(slots);
            let all = Ident::new(&format!("{slots}_blocks"), Span::mixed_site());
            if node.body.iter().any(|item| matches!(item, Node::Push { .. })) {
                opens.push(quote!(let #all = &mut #slots.as_chunks_mut::<#lanes>().0[..#blocks];));
                picks.push(quote!(let #inner = &mut #all[#block];));
            } else {
                opens.push(quote!(let #all = &#slots.as_chunks::<#lanes>().0[..#blocks];));
                picks.push(quote!(let #inner = &#all[#block];));
            }
            (*record, inner)
        });

        let mut starts = Vec::new();
        let mut block_starts = Vec::new();
        let mut block_ends = Vec::new();
        let mut ends = Vec::new();
        for sum in &sums {
            let ident = self.names.value(sum.carried.inside);
            let sign = if sum.subtract { quote!(-=) } else { quote!(+=) };
            let many = Ident::new(&format!("{ident}_lanes"), Span::mixed_site());
            let zero = quote!([0.0; #lanes]);
            let term = self.operand(sum.term);
            if sum.free {
                starts.push(quote!(let mut #many = #zero;));
                self.replace(sum.carried.next, quote!(#many[#lane] += #term;));
                ends.push(quote!(#ident #sign ::stratape::__private::sum(#many);));
            } else {
                block_starts.push(quote!(let mut #many = #zero;));
                self.replace(sum.carried.next, quote!(#many[#lane] = #term;));
                block_ends.push(quote!(for #lane in 0..#lanes { #ident #sign #many[#lane]; }));
            }
        }
        for (number, one) in scattered.iter().enumerate() {
            let buffer = Ident::new(&format!("part{number}of{id}"), Span::mixed_site());
            let value = self.operand(one.value);
            block_starts.push(quote!(let mut #buffer = [0.0; #lanes];));
            self.replace_node(one.node, quote!(#buffer[#lane] = #value;));
            let target = Ident::new(&format!("target{number}of{id}"), Span::mixed_site());
            let (object, lacking) = self
                .other_part(strip, one.object)
                .unwrap_or_else(|| (self.names.object(one.object), quote!()));
            let start = self.polynomial(&quote!(#first + #block * #lanes), &one.base);
            let start = quote!(#start #lacking);
            let sign = if one.subtract { quote!(-=) } else { quote!(+=) };
            block_ends.push(quote! {
                let #target = ::stratape::__private::view_mut(&mut #object[..], #start, #lanes);
                for #lane in 0..#lanes { #target[#lane] #sign #buffer[#lane]; }
            });
        }
        let inner = Strip { k: lane.clone(), views, region, ..strip.clone() };
        self.enter_strip(inner);
        let body = self.block(&node.body);
        self.leave_strip();
        for one in &scattered {
            self.restore_node(one.node);
        }
        for sum in &sums {
            let ident = self.names.value(sum.carried.inside);
            let sign = if sum.subtract { quote!(-=) } else { quote!(+=) };
            let term = self.operand(sum.term);
            self.replace(sum.carried.next, quote!(#ident #sign #term;));
        }
        self.enter_strip(strip.clone());
        let rest = self.block(&node.body);
        self.leave_strip();
        for sum in &sums {
            self.restore(sum.carried.next);
        }
        let counter = self.names.value(node.counter);
        let k = &strip.k;
        Some(quote! {
            let #blocks = #count / #lanes;
            #(#starts)*
            {
                #(#opens)*
                for #block in 0..#blocks {
                    #(#picks)*
                    #(#block_starts)*
                    for #lane in 0..#lanes {
                        let #counter = #first + (#block * #lanes + #lane);
                        #body
                    }
                    #(#block_ends)*
                }
            }
            #(#ends)*
            for #k in #blocks * #lanes..#count {
                let #counter = #first + #k;
                #rest
            }
        })
    }

    /// The carried values of a loop, if all of them are sums that nothing else looks at.
    fn sums(&self, node: &Loop) -> Option<Vec<Sum>> {
        let mut sums = Vec::new();
        for carried in &node.carried {
            let mut found = None;
            let mut uses = 0;
            for item in &node.body {
                item.for_each_operand(&mut |value| {
                    uses += usize::from(value == carried.inside || value == carried.next);
                });
                if let Node::Let { value, op: Op::Binary(sign, a, b) } = item
                    && *value == carried.next
                {
                    found = match sign {
                        Binary::Add if *a == carried.inside => Some((*b, false)),
                        Binary::Add if *b == carried.inside => Some((*a, false)),
                        Binary::Sub if *a == carried.inside => Some((*b, true)),
                        _ => None,
                    };
                }
            }
            let (term, subtract) = found?;
            // One use is the sum's own.
            if uses != 1
                || term == carried.inside
                || node.carried.iter().any(|other| other.inside == term)
            {
                return None;
            }
            let free = self.function.values[carried.inside.index()].adjoint;
            sums.push(Sum { carried: *carried, term, subtract, free });
        }
        Some(sums)
    }

    /// Additions to memory whose neighbours overlap from one iteration to the next, so that no view
    /// serves them: the parts of a block are kept aside and added afterwards, one addition after the other.
    fn scattered<'n>(&self, node: &'n Loop, strip: &Strip) -> Vec<Scattered<'n>> {
        let mut found = Vec::new();
        for item in &node.body {
            let Node::Accumulate { place, value, subtract } = item else { continue };
            let in_piece = self.piece_of(place).is_some();
            if in_piece || self.sees(strip, place) || place.path.len() != 1 {
                continue;
            }
            let split = self.other_part(strip, place.object).is_some();
            let touched_otherwise = !split
                && node.body.iter().any(|other| match other {
                    Node::Let { op: Op::Load(other), .. } | Node::Store { place: other, .. } => {
                        other.object == place.object
                    }
                    _ => false,
                });
            if touched_otherwise || self.function.ty(node.counter) != Scalar::USIZE {
                continue;
            }
            if let Some((1, base)) = self.first_index(place, node.counter) {
                let (object, value) = (place.object, *value);
                found.push(Scattered { node: item, object, base, value, subtract: *subtract });
            }
        }
        found
    }

    fn fits_lanes(&self, node: &Node, strip: &Strip) -> bool {
        match node {
            Node::Let { op: Op::Load(place), .. } => self.sees(strip, place),
            Node::Let { op: Op::Math(function, _), .. } => vectorises(*function),
            Node::Let { .. } => true,
            Node::Store { place, .. } | Node::Accumulate { place, .. } => self.sees(strip, place),
            Node::Push { record, .. } | Node::Pop { record, .. } => {
                strip.region.as_ref().is_some_and(|(open, _)| open == record)
            }
            _ => false,
        }
    }

    /// Ordered sums alone gain only where their terms take long.
    fn gains(&self, node: &Loop, sums: &[Sum]) -> bool {
        let slow = node.body.iter().any(|item| {
            matches!(item, Node::Let { op: Op::Math(Math::Sqrt, _) | Op::Binary(Binary::Div, ..), value }
                if self.function.ty(*value).is_float())
        });
        let writes = node.body.iter().any(|item| !item.written().is_empty());
        slow || writes || sums.iter().any(|sum| sum.free)
    }
}

/// Whether a function of floats becomes vector instructions.
fn vectorises(function: Math) -> bool {
    matches!(
        function,
        Math::Sqrt
            | Math::Abs
            | Math::Min
            | Math::Max
            | Math::Copysign
            | Math::Signum
            | Math::Recip
            | Math::ToRadians
            | Math::ToDegrees
    )
}
