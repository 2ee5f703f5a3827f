//! Statements, loops and branches.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use crate::ir::{Argument, Call, Check, If, Loop, Node, Range, Scalar, Slice, ValueId};

/// Blocks of fewer nodes stand as they are.
const LONG: usize = 150;

/// The nodes of a long block that stand in a block of their own.
const PIECE: usize = 50;

impl Emitter<'_> {
    /// The statements of a block. Every `let` opens a scope that reaches to the end of the block; rustc walks through nested scopes
    /// by recursion, and a thousand of them overflow its stack in builds with full debug information. So the statements of
    /// a long block stand in blocks of their own, which hand on what is used after them.
    pub(super) fn block(&self, block: &[Node]) -> TokenStream {
        let is_plain = self.replaced.borrow().is_empty() && self.replaced_nodes.borrow().is_empty();
        if block.len() < LONG || !is_plain {
            return block.iter().map(|node| self.node(node)).collect();
        }
        let mut out = TokenStream::new();
        let made = |node: &Node| matches!(node, Node::New { .. } | Node::Restore { .. });
        for piece in block.chunk_by(|a, b| !made(a) && !made(b)).flat_map(|run| run.chunks(PIECE)) {
            let nodes: TokenStream = piece.iter().map(|node| self.node(node)).collect();
            if piece.len() < 2 {
                out.extend(nodes);
                continue;
            }
            let handed_on = self.handed_on(piece);
            out.extend(match handed_on[..] {
                [] => quote!({ #nodes }),
                _ => quote!(let (#(#handed_on,)*) = { #nodes (#(#handed_on,)*) };),
            });
        }
        out
    }

    /// The names of what nodes define and others use.
    fn handed_on(&self, piece: &[Node]) -> Vec<Ident> {
        let mut inside: HashMap<ValueId, usize> = HashMap::new();
        walk_all(piece, &mut |node| {
            node.for_each_operand(&mut |value| *inside.entry(value).or_default() += 1);
        });
        let divided: HashSet<ValueId> =
            self.divisions.values().flat_map(super::division::Division::operands).collect();
        let mut names: Vec<Ident> = Vec::new();
        for node in piece {
            node.for_each_result(&mut |value| {
                let all = self.uses.get(&value).copied().unwrap_or(0);
                let here = inside.get(&value).copied().unwrap_or(0);
                // Views are opened by polynomials, whose symbols may stand far from any use.
                let needed = all > here
                    || matches!(self.function.ty(value), Scalar::Int(_))
                    || divided.contains(&value);
                let name = self.names.value(value);
                if needed && !self.literals.contains_key(&value) && !names.contains(&name) {
                    names.push(name);
                }
            });
        }
        names
    }

    fn node(&self, node: &Node) -> TokenStream {
        if let Some(statement) = self.replaced_nodes.borrow().get(&std::ptr::from_ref(node).addr())
        {
            return statement.clone();
        }
        match node {
            Node::Let { value, .. } if self.literals.contains_key(value) => TokenStream::new(),
            Node::Let { value, .. } if self.replaced.borrow().contains_key(value) => {
                self.replaced.borrow().get(value).cloned().unwrap_or_default()
            }
            Node::Let { value, op } => {
                let ident = self.names.value(*value);
                let op = self.operation(op, self.function.ty(*value));
                quote!(let #ident = #op;)
            }
            Node::Store { place, value } => {
                let (place, value) = (self.place(place), self.operand(*value));
                quote!(#place = #value;)
            }
            Node::Accumulate { place, value, subtract } => {
                let (place, value) = (self.place(place), self.operand(*value));
                if *subtract { quote!(#place -= #value;) } else { quote!(#place += #value;) }
            }
            Node::New { object, init } => {
                let ident = self.names.object(*object);
                let ty = &self.function.objects[object.index()].ty;
                let init = self.first_contents(*object, ty, init);
                if self.is_kept_by_thread(*object) {
                    // Behind a plain slice LLVM keeps its address in a register.
                    let owner = Ident::new(&format!("{ident}_owner"), Span::mixed_site());
                    return quote!(let mut #owner = #init; let #ident = &mut *#owner;);
                }
                let mutable = if self.is_written(*object) { quote!(mut) } else { quote!() };
                quote!(let #mutable #ident = #init;)
            }
            Node::Loop(node) if self.divisions.contains_key(&node.counter) => self
                .divisions
                .get(&node.counter)
                .map(|division| self.in_parallel(node, division))
                .unwrap_or_default(),
            Node::Loop(node) if self.is_strip(node) => self.strips(node),
            Node::Loop(node) => self.repeat(node),
            Node::If(node) => self.branch(node),
            Node::Check { check, .. } => self.check(check),
            Node::Call(call) => self.call(call),
            Node::Save { slice, .. } => {
                let (tape, slice) = (self.tape(), self.slice(slice));
                quote!(::stratape::__private::save(#tape, #slice)?;)
            }
            Node::Restore { object, .. } => {
                let (tape, ident) = (self.tape(), self.names.object(*object));
                let owner = Ident::new(&format!("{ident}_owner"), Span::mixed_site());
                quote! {
                    let mut #owner = ::stratape::__private::restore(#tape)?;
                    let #ident = &mut *#owner;
                }
            }
            Node::Push { record, values } => {
                let cells = self.record(*record, values);
                match self.region(*record) {
                    Some(slot) => quote!(#slot = #cells;),
                    None => {
                        let tape = self.tape();
                        quote!(#tape.push(#cells)?;)
                    }
                }
            }
            Node::Pop { record, values } => {
                let ty = self.record_type(*record);
                let cells = Ident::new("cells", Span::mixed_site());
                let unpack = self.unpack(*record, values, &quote!(#cells));
                match self.region(*record) {
                    Some(slot) => quote!(let #cells = &#slot; #unpack),
                    None => {
                        let tape = self.tape();
                        quote!(let #cells = &#tape.pop::<#ty>()?; #unpack)
                    }
                }
            }
        }
    }

    fn call(&self, call: &Call) -> TokenStream {
        let function = &call.function;
        let arguments = call.arguments.iter().map(|argument| match argument {
            Argument::Value(value) => self.operand(*value),
            Argument::Slice(slice) => self.slice(slice),
        });
        let results = call.results.iter().map(|value| self.names.value(*value));
        let called = match &call.recursion {
            Some(_) => {
                let tape = self.tape();
                quote!(#function(#tape, #(#arguments),*)?)
            }
            None => quote!(#function(#(#arguments),*)),
        };
        match call.results.len() {
            0 => quote!(#called;),
            1 => quote!(let #(#results)* = #called;),
            _ => quote!(let (#(#results),*) = #called;),
        }
    }

    /// A slice as an argument.
    fn slice(&self, slice: &Slice) -> TokenStream {
        let place = self.place(&slice.place);
        let piece = self.piece_of(&slice.place).filter(|_| slice.place.path.is_empty());
        let range = match slice.part {
            Some((start, len)) => {
                let (mut start, len) = (self.operand(start), self.operand(len));
                if let Some(piece) = piece {
                    start = self.start_within(&piece, &start, &len);
                }
                quote!(#start..#start + #len)
            }
            None => quote!(..),
        };
        if slice.mutable { quote!(&mut #place[#range]) } else { quote!(&#place[#range]) }
    }

    pub(super) fn repeat(&self, node: &Loop) -> TokenStream {
        let starts = node.carried.iter().map(|carried| {
            let (ident, init) = (self.names.value(carried.inside), self.operand(carried.init));
            quote!(let mut #ident = #init;)
        });
        let counter = self.names.value(node.counter);
        let body = self.block(&node.body);
        let assigns = self.assigns(node);
        let trips = node
            .trips
            .filter(|trips| self.used.contains(trips))
            .map(|trips| self.names.value(trips));
        let (start_trips, count_trips) = match &trips {
            Some(ident) => (quote!(let mut #ident = 0_usize;), quote!(#ident += 1;)),
            None => (quote!(), quote!()),
        };
        let exit = node.exit.map(|exit| {
            let exit = self.operand(exit);
            quote!(if #exit { break; })
        });
        match node.range {
            Range::UpTo { from, to } => {
                let (from, mut to) = (self.operand(from), self.operand(to));
                if self.stays_rolled(node) {
                    to = quote!(::stratape::__private::opaque(#to));
                }
                let range =
                    if node.reversed { quote!((#from..#to).rev()) } else { quote!(#from..#to) };
                quote! {
                    #(#starts)*
                    #start_trips
                    for #counter in #range { #body #assigns #count_trips #exit }
                }
            }
            Range::Forever => {
                let counted = self.used.contains(&node.counter);
                let (start, step) = if counted {
                    (quote!(let mut #counter = 0_usize;), quote!(#counter += 1;))
                } else {
                    (quote!(), quote!())
                };
                quote! {
                    #(#starts)*
                    #start_trips
                    #start
                    loop { #body #assigns #count_trips #step #exit }
                }
            }
        }
    }

    /// The end of an iteration: all carried variables at once.
    pub(super) fn assigns(&self, node: &Loop) -> TokenStream {
        let insides: Vec<ValueId> = node.carried.iter().map(|carried| carried.inside).collect();
        let crossed = node
            .carried
            .iter()
            .any(|carried| carried.next != carried.inside && insides.contains(&carried.next))
            || node.exit.is_some_and(|exit| insides.contains(&exit));
        if crossed {
            let next = node.carried.iter().map(|carried| self.operand(carried.next));
            let inside = insides.iter().map(|inside| self.names.value(*inside));
            return quote!((#(#inside,)*) = (#(#next,)*););
        }
        node.carried
            .iter()
            .filter(|carried| carried.next != carried.inside)
            .map(|carried| {
                let (inside, next) = (self.names.value(carried.inside), self.operand(carried.next));
                quote!(#inside = #next;)
            })
            .collect()
    }

    fn branch(&self, node: &If) -> TokenStream {
        let condition = self.operand(node.condition);
        let (then, other) = (self.block(&node.then), self.block(&node.other));
        let merges: Vec<_> =
            node.merges.iter().filter(|merge| self.used.contains(&merge.value)).collect();
        if merges.is_empty() {
            if node.other.is_empty() {
                return quote!(if #condition { #then });
            }
            return quote!(if #condition { #then } else { #other });
        }
        let idents = merges.iter().map(|merge| self.names.value(merge.value));
        let thens = merges.iter().map(|merge| self.operand(merge.then));
        let others = merges.iter().map(|merge| self.operand(merge.other));
        if merges.len() == 1 {
            return quote! {
                let #(#idents)* = if #condition { #then #(#thens)* } else { #other #(#others)* };
            };
        }
        quote! {
            let (#(#idents),*) = if #condition { #then (#(#thens),*) } else { #other (#(#others),*) };
        }
    }

    fn check(&self, check: &Check) -> TokenStream {
        match check {
            Check::Assert { condition, otherwise, names, objects } => {
                let condition = self.operand(*condition);
                let names = names.iter().map(|(name, value)| {
                    let (name, value) = (Ident::new(name, Span::call_site()), self.operand(*value));
                    quote!(let #name = #value;)
                });
                let objects = objects.iter().map(|(name, object)| {
                    let (name, object) =
                        (Ident::new(name, Span::call_site()), self.names.object(*object));
                    quote!(let #name = &#object;)
                });
                quote!(if !#condition { #(#names)* #(#objects)* #otherwise; })
            }
            Check::Bounds { index, len } => {
                let (index, len) = (self.operand(*index), self.operand(*len));
                quote!(::stratape::__private::check_index(#index, #len);)
            }
            Check::Range { from, to, len } => {
                let (from, to, len) = (self.operand(*from), self.operand(*to), self.operand(*len));
                quote!(::stratape::__private::check_range(#from, #to, #len);)
            }
            Check::Library { condition, message } => {
                let condition = self.operand(*condition);
                quote!(if !#condition { ::core::panic!("{}", #message); })
            }
        }
    }
}

/// Calls `f` with every node, outer ones first.
fn walk_all(nodes: &[Node], f: &mut dyn FnMut(&Node)) {
    for node in nodes {
        f(node);
        node.blocks().into_iter().for_each(|inner| walk_all(inner, f));
    }
}
