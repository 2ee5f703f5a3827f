//! Additions to memory whose neighbours overlap from one iteration to the next, so that no view serves them: `d[i] += a;
//! d[i + 1] += b`.
//!
//! The parts of a block of iterations are kept aside. Where all additions to an object are a known distance apart, the
//! nearest goes to a view of the block at once, the others follow after it, and what reaches beyond the block is carried to the
//! next: memory is read and written once. The iterations left over go on so, one by one. Otherwise each addition is done after the
//! block, one after the other.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::strip::Strip;
use crate::analysis::Polynomial;
use crate::ir::{Loop, Node, ObjectId, Op, Scalar, ValueId};

/// The farthest that parts of a block reach beyond it.
const FAR: i128 = 8;

/// An addition to memory.
#[derive(Clone)]
pub(super) struct Scattered<'n> {
    pub(super) node: &'n Node,
    object: ObjectId,
    base: Polynomial,
    value: ValueId,
    subtract: bool,
    /// How far from the nearest of its group.
    distance: usize,
}

/// The names of a block and of what is in it.
pub(super) struct Width<'a> {
    pub(super) lanes: &'a Literal,
    pub(super) blocks: &'a Ident,
    pub(super) block: &'a Ident,
    pub(super) lane: &'a Ident,
}

/// Statements around a loop over blocks, and around the loop over what is left.
#[derive(Default)]
pub(super) struct Aside<'n> {
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
    /// What nodes are in the loop over what is left.
    pub(super) left: Vec<(&'n Node, TokenStream)>,
    /// At the end of its iterations.
    pub(super) left_steps: Vec<TokenStream>,
    /// After it.
    pub(super) left_ends: Vec<TokenStream>,
}

/// `-=` or `+=`
pub(super) fn sign(subtract: bool) -> TokenStream {
    if subtract { quote!(-=) } else { quote!(+=) }
}

impl Emitter<'_> {
    /// The additions of a loop that no view serves.
    pub(super) fn scattered<'n>(&self, node: &'n Loop, strip: &Strip) -> Vec<Scattered<'n>> {
        let mut found = Vec::new();
        for item in &node.body {
            let Node::Accumulate { place, value, subtract } = item else { continue };
            if !self.function.ty(*value).is_float() || !self.keeps_sums(node, place.object) {
                continue;
            }
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
                let (object, value, subtract) = (place.object, *value, *subtract);
                found.push(Scattered { node: item, object, base, value, subtract, distance: 0 });
            }
        }
        found
    }

    /// Whether the additions of a loop to an object may be kept aside by blocks: adjoints always; sums of the primal if no element is
    /// added to by two iterations, so that each is summed in its own order.
    fn keeps_sums(&self, node: &Loop, object: ObjectId) -> bool {
        if self.function.holds_adjoints(object) {
            return true;
        }
        let Some(extent) = self.affine.counted(node.counter).and_then(|node| node.extent.clone())
        else {
            return false;
        };
        let mut bases: Vec<Polynomial> = Vec::new();
        for item in &node.body {
            let Node::Accumulate { place, .. } = item else { continue };
            if place.object == object {
                match self.first_index(place, node.counter) {
                    Some((1, base)) if place.path.len() == 1 => bases.push(base),
                    _ => return false,
                }
            }
        }
        let apart =
            |a: &Polynomial, b: &Polynomial| self.affine.is_at_least(&a.minus(b).minus(&extent), 0);
        bases.iter().all(|a| bases.iter().all(|b| a == b || apart(a, b) || apart(b, a)))
    }

    /// What a group becomes; its nodes are replaced until they are restored.
    pub(super) fn aside<'n>(
        &self,
        group: &[Scattered<'n>],
        strip: &Strip,
        width: &Width<'_>,
        (first, count): (&Ident, &Ident),
        (counter, number): (ValueId, usize),
    ) -> Aside<'n> {
        let Width { lanes, blocks, block, lane } = width;
        let name =
            |text: &str| Ident::new(&format!("{text}{number}of{}", counter.0), Span::mixed_site());
        let (target, all) = (name("target"), name("targets"));
        let mut aside = Aside::default();
        let Some(nearest) = group.first() else { return aside };
        let (object, lacking) = self
            .other_part(strip, nearest.object)
            .unwrap_or_else(|| (self.names.object(nearest.object), quote!()));
        if group.len() == 1 {
            let part = name("part");
            let value = self.operand(nearest.value);
            aside.block_starts.push(quote!(let mut #part = [0.0; #lanes];));
            self.replace_node(nearest.node, quote!(#part[#lane] = #value;));
            let start = self.polynomial(&quote!(#first + #block * #lanes), &nearest.base);
            let sign = sign(nearest.subtract);
            aside.block_ends.push(quote! {
                let #target = ::stratape::__private::view_mut(&mut #object[..], #start #lacking, #lanes);
                for #lane in 0..#lanes { #target[#lane] #sign #part[#lane]; }
            });
            return aside;
        }
        let start = self.polynomial(&quote!(#first), &nearest.base);
        let farthest = group.iter().map(|one| one.distance).max().unwrap_or(0);
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
                let all = ::stratape::__private::view_mut(&mut #object[..], #start #lacking, #blocks * #lanes);
                &mut all.as_chunks_mut::<#lanes>().0[..#blocks]
            } else {
                &mut []
            };
        });
        aside.picks.push(quote!(let #target = &mut #all[#block];));
        for (place, one) in group.iter().enumerate() {
            let (value, sign) = (self.operand(one.value), sign(one.subtract));
            let distance = Literal::usize_unsuffixed(one.distance);
            let here = &waiting[one.distance];
            aside.left.push((one.node, quote!(#here #sign #value;)));
            if one.distance == 0 {
                self.replace_node(one.node, quote!(#target[#lane] #sign #value;));
                continue;
            }
            let (part, carried) =
                (name(&format!("part{place}_")), name(&format!("carried{place}_")));
            aside.starts.push(quote!(let mut #carried = [0.0; #distance];));
            aside.block_starts.push(quote!(let mut #part = [0.0; #lanes];));
            self.replace_node(one.node, quote!(#part[#lane] = #value;));
            aside.block_ends.push(quote! {
                for #lane in 0..#distance { #target[#lane] #sign #carried[#lane]; }
                for #lane in #distance..#lanes { #target[#lane] #sign #part[#lane - #distance]; }
                for #lane in 0..#distance { #carried[#lane] = #part[#lanes - #distance + #lane]; }
            });
            let at = (0..one.distance).map(Literal::usize_unsuffixed);
            let before = &waiting[..one.distance];
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
}

/// Additions to one object a known distance apart are a group, the nearest first; each other one is alone.
pub(super) fn groups_of<'n>(scattered: &[Scattered<'n>]) -> Vec<Vec<Scattered<'n>>> {
    let mut groups: Vec<Vec<Scattered<'n>>> = Vec::new();
    for one in scattered {
        match groups.iter_mut().find(|group| group[0].object == one.object) {
            Some(group) => group.push(one.clone()),
            None => groups.push(vec![one.clone()]),
        }
    }
    groups.into_iter().flat_map(measured).collect()
}

/// A group with its distances, or each of its additions alone if they are not known or too far.
fn measured(mut group: Vec<Scattered<'_>>) -> Vec<Vec<Scattered<'_>>> {
    let from_first: Option<Vec<i128>> =
        group.iter().map(|one| one.base.minus(&group[0].base).as_number()).collect();
    let Some(offsets) = from_first else { return group.into_iter().map(|one| vec![one]).collect() };
    let nearest = offsets.iter().copied().min().unwrap_or(0);
    if offsets.iter().any(|offset| offset - nearest > FAR) {
        return group.into_iter().map(|one| vec![one]).collect();
    }
    for (one, offset) in group.iter_mut().zip(offsets) {
        one.distance = (offset - nearest) as usize;
    }
    group.sort_by_key(|one| one.distance);
    vec![group]
}
