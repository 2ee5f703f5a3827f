//! Sums in lanes: eight iterations at a time, so that the work between the sums vectorises.
//!
//! LLVM does not reorder sums of floats, so a loop that carries one runs an element at a time. A sum of
//! adjoints has no order to keep: each lane sums on its own, and the lanes are added at the end. A
//! sum of the primal keeps its order: the terms of eight iterations are computed side by side, then added one
//! after the other.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::scatter::{Width, groups_of, sign};
use super::strip::Strip;
use super::views::View;
use crate::ir::{
    Binary, Carried, Float, Loop, Math, Node, ObjectId, Op, Range, Scalar, Type, ValueId,
};

/// A carried sum: `next = inside + term`.
struct Sum {
    carried: Carried,
    term: ValueId,
    subtract: bool,
    /// Whether its order is free.
    free: bool,
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
        if self.function.plain
            || (node.reversed && !node.unordered)
            || self.function.ty(node.counter) != Scalar::USIZE
        {
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
        let dense = strip.views.iter().all(View::is_dense);
        if !dense && scattered.is_empty() && !self.is_slow(node) {
            // Fields make pairs of their own.
            return None;
        }
        let groups = groups_of(&scattered);
        let carries = groups.iter().any(|group| group.len() > 1);
        let usual = match dense {
            true if narrow || carries || self.is_slow(node) => 16,
            true => 8,
            // Neighbours would be paired across fields, not lanes, were the loop unrolled: keep it a loop.
            false => 32,
        };
        let lanes =
            Literal::usize_unsuffixed(self.trips(node).map_or(usual, |trips| width(usual, trips)));
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
            let sign = sign(sum.subtract);
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
        let width = Width { lanes: &lanes, blocks: &blocks, block: &block, lane: &lane };
        let (mut left, mut left_steps, mut left_ends) = (Vec::new(), Vec::new(), Vec::new());
        for (number, group) in groups.iter().enumerate() {
            let aside = self.aside(group, strip, &width, (first, count), (node.counter, number));
            opens.extend(aside.opens);
            picks.extend(aside.picks);
            starts.extend(aside.starts);
            block_starts.extend(aside.block_starts);
            block_ends.extend(aside.block_ends);
            ends.extend(aside.ends);
            left.extend(aside.left);
            left_steps.extend(aside.left_steps);
            left_ends.extend(aside.left_ends);
        }
        let inner = Strip { k: lane.clone(), views, region, ..strip.clone() };
        self.enter_strip(inner);
        let added = if dense && scattered.is_empty() { self.added_only(node) } else { Vec::new() };
        for (number, item) in added.iter().enumerate() {
            let Node::Accumulate { place, value, subtract } = item else { continue };
            let part = name(&format!("sent{number}_"));
            let (place, value) = (self.place(place), self.operand(*value));
            let sign = sign(*subtract);
            block_starts.push(quote!(let mut #part = [0.0; #lanes];));
            self.replace_node(item, quote!(#part[#lane] = #value;));
            block_ends.push(quote!(for #lane in 0..#lanes { #place #sign #part[#lane]; }));
        }
        let body = self.block(&node.body);
        self.leave_strip();
        added.iter().for_each(|item| self.restore_node(item));
        for one in &scattered {
            self.restore_node(one.node);
        }
        for sum in &sums {
            let ident = self.names.value(sum.carried.inside);
            let sign = sign(sum.subtract);
            let term = self.operand(sum.term);
            self.replace(sum.carried.next, quote!(#ident #sign #term;));
        }
        for (item, tokens) in &left {
            self.replace_node(item, tokens.clone());
        }
        self.enter_strip(strip.clone());
        let rest = self.block(&node.body);
        self.leave_strip();
        for (item, _) in &left {
            self.restore_node(item);
        }
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
                #(#left_steps)*
            }
            #(#left_ends)*
        })
    }

    /// The carried values of a loop, if all of them are sums that nothing else looks at.
    fn sums(&self, node: &Loop) -> Option<Vec<Sum>> {
        let mut sums = Vec::new();
        for carried in &node.carried {
            let (term, subtract) = node.term_of(carried)?;
            let mut uses = 0;
            for item in &node.body {
                item.for_each_operand(&mut |value| {
                    uses += usize::from(value == carried.inside || value == carried.next);
                });
            }
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
        let writes = node.body.iter().any(|item| !item.written().is_empty());
        self.is_slow(node) || writes || sums.iter().any(|sum| sum.free)
    }

    /// Whether a short loop does nothing but add a short row to an array, again and again. LLVM would unroll both, tear the row
    /// into numbers, and shuffle them between the iterations.
    pub(super) fn stays_rolled(&self, node: &Loop) -> bool {
        let Some((Node::Loop(row), before)) = node.body.split_last() else { return false };
        let sums = |item: &Node| match item {
            Node::Accumulate { place, .. } => {
                matches!(self.function.objects[place.object.index()].ty, Type::Array(..))
            }
            item => matches!(item, Node::Let { .. }),
        };
        self.trips(node).is_some_and(|trips| trips <= 8)
            && self.trips(row).is_some_and(|trips| (6..=16).contains(&trips))
            && node.carried.is_empty()
            && row.carried.is_empty()
            && before.iter().all(|item| matches!(item, Node::Let { .. }))
            && row.body.iter().all(sums)
    }

    /// How often a loop runs, if literals say so.
    fn trips(&self, node: &Loop) -> Option<usize> {
        let Range::UpTo { from, to } = node.range else { return None };
        let trips = self.literal_int(to)? - self.literal_int(from)?;
        usize::try_from(trips).ok().filter(|trips| *trips > 0)
    }

    /// The additions to objects that the loop neither reads nor stores to. They can wait for the end of a block: LLVM, which does not
    /// know that what is read lies elsewhere, then has all loads before the first store.
    fn added_only<'n>(&self, node: &'n Loop) -> Vec<&'n Node> {
        let touched: Vec<ObjectId> = node
            .body
            .iter()
            .filter_map(|item| match item {
                Node::Let { op: Op::Load(place), .. } | Node::Store { place, .. } => {
                    Some(place.object)
                }
                _ => None,
            })
            .collect();
        let is_added = |item: &&Node| match item {
            Node::Accumulate { place, value, .. } => {
                !touched.contains(&place.object) && self.function.ty(*value).is_float()
            }
            _ => false,
        };
        node.body.iter().filter(is_added).collect()
    }

    /// Whether something in a loop takes long, but not as long as a function call.
    fn is_slow(&self, node: &Loop) -> bool {
        node.body.iter().any(|item| {
            matches!(item, Node::Let { op: Op::Math(Math::Sqrt, _) | Op::Binary(Binary::Div, ..), value }
                if self.function.ty(*value).is_float())
        })
    }
}

/// The width at which nothing is left over of a loop, if there is one near the usual.
fn width(usual: usize, trips: usize) -> usize {
    let fits = |width: &usize| trips.is_multiple_of(*width);
    let most = usual.max(16).min(trips);
    let even = (4..=most).rev().filter(|width| width.is_multiple_of(2)).find(fits);
    if trips.is_multiple_of(usual) { usual } else { even.unwrap_or(usual) }
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
