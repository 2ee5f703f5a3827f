//! Rotations: additions to neighbours, through memory once.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::strip::Strip;
use stratape_ir::{Loop, Rotation, Simd, Stmt};

/// The names of a block and of what is in it.
pub(super) struct Blocks<'a> {
    pub(super) width: &'a Literal,
    pub(super) count: &'a Ident,
    pub(super) block: &'a Ident,
    pub(super) within: &'a Ident,
}

/// Statements around a loop over blocks, and around the loop over what is left.
#[derive(Default)]
pub(super) struct Aside {
    /// Before the loop.
    pub(super) starts: Vec<TokenStream>,
    /// Before the loop, within its scope.
    pub(super) opens: Vec<TokenStream>,
    /// At the beginning of a block.
    pub(super) picks: Vec<TokenStream>,
    pub(super) block_starts: Vec<TokenStream>,
    /// At its end.
    pub(super) block_ends: Vec<TokenStream>,
    /// After the loop.
    pub(super) ends: Vec<TokenStream>,
    /// What statements of the body are in a block, by their positions.
    pub(super) within: Vec<(usize, TokenStream)>,
    /// What they are in the loop over what is left.
    pub(super) left: Vec<(usize, TokenStream)>,
    /// At the end of its iterations.
    pub(super) left_steps: Vec<TokenStream>,
    /// After it.
    pub(super) left_ends: Vec<TokenStream>,
}

impl Aside {
    /// Keeps what a statement adds until the end of the block, and what of it reaches beyond until that of the next one. Returns what is done there.
    fn wait(
        &mut self,
        (at, apart): (usize, usize),
        (value, sign): (&TokenStream, &TokenStream),
        (part, carried): (&Ident, &Ident),
        target: &Ident,
        names: &Blocks<'_>,
    ) -> TokenStream {
        let Blocks { width, within, .. } = names;
        self.block_starts.push(quote!(let mut #part = [0.0; #width];));
        self.within.push((at, quote!(#part[#within] = #value;)));
        if apart == 0 {
            return quote!(for #within in 0..#width { #target[#within] #sign #part[#within]; });
        }
        let distance = Literal::usize_unsuffixed(apart);
        self.starts.push(quote!(let mut #carried = [0.0; #distance];));
        quote! {
            for #within in 0..#distance { #target[#within] #sign #carried[#within]; }
            for #within in #distance..#width { #target[#within] #sign #part[#within - #distance]; }
            for #within in 0..#distance { #carried[#within] = #part[#width - #distance + #within]; }
        }
    }
}

/// `-=` or `+=`
pub(super) fn sign(subtract: bool) -> TokenStream {
    if subtract { quote!(-=) } else { quote!(+=) }
}

impl Emitter<'_> {
    /// What a rotation becomes.
    pub(super) fn aside(
        &self,
        (node, simd, rotation): (&Loop, &Simd, &Rotation),
        strip: &Strip,
        names: &Blocks<'_>,
        (first, count): (&Ident, &Ident),
        number: usize,
    ) -> Aside {
        let counter = node.counter;
        let Blocks { width, count: blocks, block, within } = names;
        let name =
            |text: &str| Ident::new(&format!("{text}{number}of{}", counter.0), Span::mixed_site());
        let (target, all) = (name("target"), name("targets"));
        let mut aside = Aside::default();
        let (object, lacking) = self
            .other_part(strip, rotation.object)
            .unwrap_or_else(|| (self.names.object(rotation.object), quote!()));
        if simd.waits(rotation) {
            return self.at_the_end(node, rotation, (&object, &lacking), names, first, number);
        }
        let start = self.polynomial(&quote!(#first), &rotation.base);
        let farthest = rotation.farthest();
        let far = Literal::usize_unsuffixed(farthest);
        // Numbers, not an array: they must stay in registers.
        let waiting: Vec<Ident> = (0..=farthest).map(|at| name(&format!("waiting{at}_"))).collect();
        let k = &strip.k;
        aside.ends.push(quote! {
            let #target = if #count > 0 {
                ::stratape::__private::view_mut(&mut #object[..], #start #lacking, #count + #far)
            } else {
                &mut []
            };
            #(let mut #waiting = 0.0;)*
        });
        aside.opens.push(quote! {
            let #all = if #blocks > 0 {
                let all = ::stratape::__private::view_mut(&mut #object[..], #start #lacking, #blocks * #width);
                &mut all.as_chunks_mut::<#width>().0[..#blocks]
            } else {
                &mut []
            };
        });
        aside.picks.push(quote!(let #target = &mut #all[#block];));
        for (place, (at, apart)) in rotation.additions.iter().copied().enumerate() {
            let Some((value, sign)) = self.addition(node, at) else { continue };
            let here = &waiting[apart];
            aside.left.push((at, quote!(#here #sign #value;)));
            if apart == 0 {
                aside.within.push((at, quote!(#target[#within] #sign #value;)));
                continue;
            }
            let (part, carried) =
                (name(&format!("part{place}_")), name(&format!("carried{place}_")));
            let end = aside.wait((at, apart), (&value, &sign), (&part, &carried), &target, names);
            aside.block_ends.push(end);
            let at = (0..apart).map(Literal::usize_unsuffixed);
            let before = &waiting[..apart];
            aside.ends.push(quote!(#(#before #sign #carried[#at];)*));
        }
        let (now, later, last) = (&waiting[0], &waiting[1..], &waiting[farthest]);
        let sooner = &waiting[..farthest];
        aside.left_steps.push(quote! {
            #target[#k] += #now;
            #(#sooner = #later;)*
            #last = 0.0;
        });
        let at = (0..farthest).map(Literal::usize_unsuffixed);
        aside.left_ends.push(quote!(if #count > 0 { #(#target[#count + #at] += #sooner;)* }));
        aside
    }

    /// What a rotation becomes that [waits](Simd::waits).
    fn at_the_end(
        &self,
        node: &Loop,
        rotation: &Rotation,
        (object, lacking): (&Ident, &TokenStream),
        names: &Blocks<'_>,
        first: &Ident,
        number: usize,
    ) -> Aside {
        let counter = node.counter;
        let Blocks { width, count: blocks, block, within } = names;
        let name =
            |text: &str| Ident::new(&format!("{text}{number}of{}", counter.0), Span::mixed_site());
        let target = name("target");
        let mut aside = Aside::default();
        let mut adds = TokenStream::new();
        let mut last = TokenStream::new();
        for (place, (at, apart)) in rotation.additions.iter().copied().enumerate() {
            let Some((value, sign)) = self.addition(node, at) else { continue };
            let numbered = |text: &str| match rotation.additions.len() {
                1 => name(text),
                _ => name(&format!("{text}{place}_")),
            };
            let (part, carried) = (numbered("part"), numbered("carried"));
            let end = aside.wait((at, apart), (&value, &sign), (&part, &carried), &target, names);
            adds.extend(end);
            if apart > 0 {
                let distance = Literal::usize_unsuffixed(apart);
                last.extend(
                    quote!(for #within in 0..#distance { #target[#within] #sign #carried[#within]; }),
                );
            }
        }
        let start = self.polynomial(&quote!(#first + #block * #width), &rotation.base);
        aside.block_ends.push(quote! {
            let #target = ::stratape::__private::view_mut(&mut #object[..], #start #lacking, #width);
            #adds
        });
        let farthest = rotation.farthest();
        if farthest > 0 {
            let far = Literal::usize_unsuffixed(farthest);
            let start = self.polynomial(&quote!(#first + #blocks * #width), &rotation.base);
            aside.ends.push(quote! {
                if #blocks > 0 {
                    let #target = ::stratape::__private::view_mut(&mut #object[..], #start #lacking, #far);
                    #last
                }
            });
        }
        aside
    }

    /// The value that a statement adds, and its sign.
    fn addition(&self, node: &Loop, at: usize) -> Option<(TokenStream, TokenStream)> {
        match &node.body[at] {
            Stmt::Accumulate { value, subtract, .. } => {
                Some((self.operand(*value), sign(*subtract)))
            }
            _ => None,
        }
    }
}
