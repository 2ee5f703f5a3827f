//! Strips in blocks: partial sums, ordered sums a block at a time, and additions that wait for the end of a block.

use std::collections::HashMap;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::region::OpenRegion;
use super::rotation::{Blocks, sign};
use super::strip::Strip;
use super::views::OpenView;
use stratape_ir::{Loop, Simd, Stmt, Type, ValueId};

impl Emitter<'_> {
    /// A strip in blocks.
    pub(super) fn in_blocks(
        &self,
        node: &Loop,
        simd: &Simd,
        strip: &Strip,
        first: &Ident,
        count: &Ident,
    ) -> TokenStream {
        let width = Literal::usize_unsuffixed(simd.width);
        let id = node.counter.0;
        let name = |text: &str| Ident::new(&format!("{text}{id}"), Span::mixed_site());
        let (blocks, block, within) = (name("blocks"), name("block"), name("within"));
        let in_block = |ident: &Ident| Ident::new(&format!("{ident}_block"), Span::mixed_site());

        let mut opens = Vec::new();
        let mut picks = Vec::new();
        let mut views = Vec::new();
        // A block that is written might be one of those that are read, for all LLVM knows; copies on the stack are not.
        let is_number = |view: &OpenView| {
            let ty = &self.function.objects[view.view.object.index()].ty;
            ty.element().and_then(Type::scalar).is_some()
        };
        // Where sums rotate through registers and are added at once, these are all taken (wave: 1.7 of the time with copies); else they gain (heat 0.8).
        let copied = !simd.rotations.is_empty()
            && simd.rotations.iter().all(|rotation| simd.waits(rotation))
            && strip.views.iter().any(|view| view.view.mutable)
            && strip.views.iter().all(is_number);
        let mut puts = Vec::new();
        for view in &strip.views {
            let (ident, inner) = (&view.ident, in_block(&view.ident));
            let all = Ident::new(&format!("{ident}_blocks"), Span::mixed_site());
            if view.view.mutable {
                opens.push(quote!(let #all = &mut #ident.as_chunks_mut::<#width>().0[..#blocks];));
                if copied {
                    picks.push(quote!(let mut #inner = #all[#block];));
                    puts.push(quote!(#all[#block] = #inner;));
                } else {
                    picks.push(quote!(let #inner = &mut #all[#block];));
                }
            } else {
                opens.push(quote!(let #all = &#ident.as_chunks::<#width>().0[..#blocks];));
                let by_reference = (!copied).then(|| quote!(&));
                picks.push(quote!(let #inner = #by_reference #all[#block];));
            }
            views.push(OpenView { ident: inner, ..view.clone() });
        }
        let region = strip.region.as_ref().map(|open| {
            for slots in open.slots.slices() {
                let inner = in_block(slots);
                let all = Ident::new(&format!("{slots}_blocks"), Span::mixed_site());
                if node.body.iter().any(|item| matches!(item, Stmt::Push { .. })) {
                    opens.push(
                        quote!(let #all = &mut #slots.as_chunks_mut::<#width>().0[..#blocks];),
                    );
                    picks.push(quote!(let #inner = &mut #all[#block];));
                } else {
                    opens.push(quote!(let #all = &#slots.as_chunks::<#width>().0[..#blocks];));
                    picks.push(quote!(let #inner = &#all[#block];));
                }
            }
            OpenRegion { id: open.id, slots: open.slots.map(in_block) }
        });

        let mut starts = Vec::new();
        let mut block_starts = Vec::new();
        let mut block_ends = Vec::new();
        // What goes to lists that no view is of.
        let mut kept_aside = Vec::new();
        let mut ends = Vec::new();
        // What stands for statements of the body, by their positions: in a block, and in the iterations left over.
        let (mut in_block_body, mut in_rest) = (HashMap::new(), HashMap::new());
        for (carried, sum) in node.carried.iter().zip(&simd.reductions) {
            let ident = self.names.value(carried.inside);
            let sign = sign(sum.subtract);
            let Some(at) = position(node, carried.next) else { continue };
            let many = Ident::new(&format!("{ident}_terms"), Span::mixed_site());
            let zero = self.zeros_of(sum.term, &width);
            let term = self.operand(sum.term);
            if sum.reassociate {
                starts.push(quote!(let mut #many = #zero;));
                in_block_body.insert(at, quote!(#many[#within] += #term;));
                ends.push(quote!(#ident #sign ::stratape::__private::sum(#many);));
            } else {
                block_starts.push(quote!(let mut #many = #zero;));
                in_block_body.insert(at, quote!(#many[#within] = #term;));
                block_ends.push(quote!(for #within in 0..#width { #ident #sign #many[#within]; }));
            }
            in_rest.insert(at, quote!(#ident #sign #term;));
        }
        let names = Blocks { width: &width, count: &blocks, block: &block, within: &within };
        let (mut left_steps, mut left_ends) = (Vec::new(), Vec::new());
        for (number, rotation) in simd.rotations.iter().enumerate() {
            let aside = self.aside((node, simd, rotation), strip, &names, (first, count), number);
            in_block_body.extend(aside.within);
            opens.extend(aside.opens);
            picks.extend(aside.picks);
            starts.extend(aside.starts);
            block_starts.extend(aside.block_starts);
            kept_aside.extend(aside.block_ends);
            ends.extend(aside.ends);
            in_rest.extend(aside.left);
            left_steps.extend(aside.left_steps);
            left_ends.extend(aside.left_ends);
        }
        let inner = Strip { k: within.clone(), views, region, ..strip.clone() };
        self.enter_strip(inner);
        for (number, at) in simd.delayed.iter().enumerate() {
            let Stmt::Accumulate { place, value, subtract } = &node.body[*at] else { continue };
            let (part, zero) = (name(&format!("sent{number}_")), self.zeros_of(*value, &width));
            let (place, value) = (self.place(place), self.operand(*value));
            let sign = sign(*subtract);
            block_starts.push(quote!(let mut #part = #zero;));
            in_block_body.insert(*at, quote!(#part[#within] = #value;));
            block_ends.push(quote!(for #within in 0..#width { #place #sign #part[#within]; }));
        }
        let body = self.block_with(&node.body, &in_block_body);
        self.leave_strip();
        self.enter_strip(strip.clone());
        let rest = self.block_with(&node.body, &in_rest);
        self.leave_strip();
        let counter = self.names.value(node.counter);
        let k = &strip.k;
        quote! {
            let #blocks = #count / #width;
            #(#starts)*
            {
                #(#opens)*
                for #block in 0..#blocks {
                    #(#picks)*
                    #(#block_starts)*
                    for #within in 0..#width {
                        let #counter = #first + (#block * #width + #within);
                        #body
                    }
                    #(#block_ends)*
                    #(#puts)*
                    #(#kept_aside)*
                }
            }
            #(#ends)*
            for #k in #blocks * #width..#count {
                let #counter = #first + #k;
                #rest
                #(#left_steps)*
            }
            #(#left_ends)*
        }
    }

    /// What a list of terms of a block begins as: sums of integers are terms as well.
    fn zeros_of(&self, term: ValueId, width: &Literal) -> TokenStream {
        if self.function.ty(term).is_float() { quote!([0.0; #width]) } else { quote!([0; #width]) }
    }

    /// The statements of a block, some of them replaced, by their positions.
    fn block_with(&self, block: &[Stmt], replaced: &HashMap<usize, TokenStream>) -> TokenStream {
        let statements = block.iter().enumerate();
        statements
            .map(|(at, node)| match replaced.get(&at) {
                Some(tokens) => tokens.clone(),
                None => self.node(node),
            })
            .collect()
    }
}

/// Where the loop defines a value.
fn position(node: &Loop, value: ValueId) -> Option<usize> {
    node.body
        .iter()
        .position(|item| matches!(item, Stmt::Let { value: other, .. } if *other == value))
}
