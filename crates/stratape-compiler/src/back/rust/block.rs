//! Statements, loops and branches.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Emitter;
use super::operation::{float_zero, tokens};
use stratape_ir::{
    Argument, Call, Carried, Check, If, Loop, ObjectId, Range, Scalar, Slice, Stmt, Type, ValueId,
};

/// Blocks of fewer nodes stand as they are.
const LONG: usize = 150;

/// The nodes of a long block that stand in a block of their own.
const PIECE: usize = 50;

impl Emitter<'_> {
    /// The statements of a block. Every `let` opens a scope that reaches to the end of the block; rustc walks through nested scopes
    /// by recursion, and a thousand of them overflow its stack in builds with full debug information. So the statements of
    /// a long block stand in blocks of their own, which hand on what is used after them.
    pub(super) fn block(&self, block: &[Stmt]) -> TokenStream {
        if block.len() < LONG {
            return block.iter().map(|node| self.node(node)).collect();
        }
        let mut out = TokenStream::new();
        let made = |node: &Stmt| matches!(node, Stmt::New { .. } | Stmt::Restore { .. });
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
    fn handed_on(&self, piece: &[Stmt]) -> Vec<Ident> {
        let mut inside: HashMap<ValueId, usize> = HashMap::new();
        walk_all(piece, &mut |node| {
            node.for_each_operand(&mut |value| *inside.entry(value).or_default() += 1);
        });
        let mut names: Vec<Ident> = Vec::new();
        for node in piece {
            // What a branch or loop leaves is not written if nobody uses it.
            let written = |value: ValueId| match node {
                Stmt::If(_) => self.used.contains(&value),
                Stmt::Loop(repeat) => repeat.trips != Some(value) || self.used.contains(&value),
                _ => true,
            };
            node.for_each_result(&mut |value| {
                let all = self.uses.get(&value).copied().unwrap_or(0);
                let here = inside.get(&value).copied().unwrap_or(0);
                // Views are opened by polynomials, whose symbols may stand far from any use.
                let needed = all > here
                    || matches!(self.function.ty(value), Scalar::Int(_))
                    || self.divided.contains(&value);
                let name = self.names.value(value);
                if needed
                    && written(value)
                    && !self.literals.contains_key(&value)
                    && !names.contains(&name)
                {
                    names.push(name);
                }
            });
        }
        names
    }

    pub(super) fn node(&self, node: &Stmt) -> TokenStream {
        match node {
            Stmt::Let { value, .. } if self.literals.contains_key(value) => TokenStream::new(),
            Stmt::Let { value, op } => {
                let ident = self.names.value(*value);
                let op = self.definition(*value, op);
                quote!(let #ident = #op;)
            }
            Stmt::Store { place, value } => {
                let (place, value) = (self.place(place), self.operand(*value));
                quote!(#place = #value;)
            }
            Stmt::Accumulate { place, value, subtract } => {
                let (place, value) = (self.place(place), self.operand(*value));
                if *subtract { quote!(#place -= #value;) } else { quote!(#place += #value;) }
            }
            Stmt::New { object, init } => {
                let ident = self.names.object(*object);
                let ty = &self.function.objects[object.index()].ty;
                let init = self.first_contents(*object, ty, init);
                if self.swapped.contains(object) {
                    return quote!(let mut #ident = #init;);
                }
                if self.is_kept_by_thread(*object) {
                    // Behind a plain slice LLVM keeps its address in a register.
                    let owner = owner(&ident);
                    return quote!(let mut #owner = #init; let #ident = &mut *#owner;);
                }
                let mutable = if self.is_written(*object) { quote!(mut) } else { quote!() };
                quote!(let #mutable #ident = #init;)
            }
            Stmt::Swap { a, b } => {
                let (a, b) = (self.place(a), self.place(b));
                quote!(::core::mem::swap(&mut #a, &mut #b);)
            }
            Stmt::Loop(node) => match node.schedule.as_ref().and_then(|known| known.parts.as_ref())
            {
                Some(parts) => self.in_parallel(node, parts),
                None => self.with_spares(|| self.scheduled(node)),
            },
            Stmt::If(node) => self.branch(node, &|arm| self.block(arm)),
            Stmt::Check { check, .. } => self.check(check),
            Stmt::Call(call) => self.call(call),
            // Only kernels have them, and these are not emitted as Rust.
            Stmt::Atomic(_) | Stmt::Barrier(_) | Stmt::Shuffle(_) => TokenStream::new(),
            Stmt::Save { slice, .. } => {
                let whole = self.slice(&Slice { part: None, ..slice.clone() });
                let tape = self.tape();
                match slice.part {
                    Some((start, len)) => {
                        let (start, len) = (self.operand(start), self.operand(len));
                        quote!(::stratape::__private::save_part(#tape, #whole, #start, #len)?;)
                    }
                    None => quote!(::stratape::__private::save(#tape, #whole)?;),
                }
            }
            Stmt::Refill { place, .. } => {
                let (tape, place) = (self.tape(), self.place(place));
                quote!(::stratape::__private::refill(#tape, &mut #place[..])?;)
            }
            Stmt::Restore { object, .. } => {
                let (tape, ident) = (self.tape(), self.names.object(*object));
                let owner = owner(&ident);
                let ty = &self.function.objects[object.index()].ty;
                let item = match ty.element().and_then(Type::scalar) {
                    Some(scalar @ (Scalar::Float(_) | Scalar::Int(_))) => tokens(scalar.name()),
                    _ => quote!(_),
                };
                let list = match self.spare(*object) {
                    Some(spare) => {
                        quote!(::stratape::__private::restore_in::<#item>(&mut #spare, #tape)?)
                    }
                    None => quote!(::stratape::__private::restore::<#item>(#tape)?),
                };
                quote!(let mut #owner = #list; let #ident = &mut *#owner;)
            }
            Stmt::Push { record, values } => self.push(*record, values),
            Stmt::Pop { record, values } => self.pop(*record, values),
        }
    }

    fn call(&self, call: &Call) -> TokenStream {
        let function = self.sources.tokens(&call.function);
        let arguments = call.arguments.iter().map(|argument| match argument {
            Argument::Value(value) => self.operand(*value),
            Argument::Slice(slice) => self.slice(slice),
        });
        let results = call.results.iter().map(|value| self.names.value(*value));
        let called = match &call.recursion {
            Some((name, _)) => {
                let tape = self.tape();
                let lanes = self.on_lanes(name).then(|| self.lanes_ident()).into_iter();
                quote!(#function(#tape, #(#lanes,)* #(#arguments),*)?)
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

    /// A loop, after the memory that its iterations need one after the other.
    pub(super) fn with_spares(&self, emit: impl FnOnce() -> TokenStream) -> TokenStream {
        if self.spares.borrow().is_some() {
            return emit();
        }
        self.spares.replace(Some(Vec::new()));
        let run = emit();
        let spares = self.spares.take().unwrap_or_default();
        quote!(#(let mut #spares = ::stratape::__private::Spare::new();)* #run)
    }

    /// The memory for an array that is made in a loop.
    pub(super) fn spare(&self, object: ObjectId) -> Option<Ident> {
        let mut spares = self.spares.borrow_mut();
        let spares = spares.as_mut()?;
        let spare = Ident::new(&format!("{}_spare", self.names.object(object)), Span::mixed_site());
        if !spares.contains(&spare) {
            spares.push(spare.clone());
        }
        Some(spare)
    }

    /// A loop as its schedule has it, parts apart.
    pub(super) fn scheduled(&self, node: &Loop) -> TokenStream {
        match node.schedule.as_ref().and_then(|known| known.strip.as_ref()) {
            Some(strip) => self.strips(node, strip),
            None => self.repeat(node),
        }
    }

    /// The ends of a loop's range: those of the part, if the loop runs in parts.
    pub(super) fn range(&self, node: &Loop) -> Option<(TokenStream, TokenStream)> {
        let Range::UpTo { from, to } = node.range else { return None };
        if !self.is_part(node) {
            return Some((self.operand(from), self.operand(to)));
        }
        let (first, end) = self.part_range(node);
        Some((quote!(#first), quote!(#end)))
    }

    /// What a carried value starts from: zero in a part.
    pub(super) fn entry(&self, node: &Loop, carried: &Carried) -> TokenStream {
        match self.is_part(node) {
            true => float_zero(self.function.ty(carried.inside)),
            false => self.operand(carried.init),
        }
    }

    fn repeat(&self, node: &Loop) -> TokenStream {
        self.repeat_with(node, &TokenStream::new(), &TokenStream::new())
    }

    /// A loop with something before and after each iteration.
    pub(super) fn repeat_with(
        &self,
        node: &Loop,
        before: &TokenStream,
        behind: &TokenStream,
    ) -> TokenStream {
        let starts = node.carried.iter().map(|carried| {
            let (ident, init) = (self.names.value(carried.inside), self.entry(node, carried));
            quote!(let mut #ident = #init;)
        });
        let counter = self.names.value(node.counter);
        self.enter_inner(node);
        let body = self.block(&node.body);
        self.leave_inner(node);
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
        match self.range(node) {
            Some((from, mut to)) => {
                if node.schedule.as_ref().is_some_and(|schedule| schedule.rolled) {
                    to = quote!(::stratape::__private::opaque(#to));
                }
                let range =
                    if node.reversed { quote!((#from..#to).rev()) } else { quote!(#from..#to) };
                quote! {
                    #(#starts)*
                    #start_trips
                    for #counter in #range { #before #body #assigns #count_trips #behind #exit }
                }
            }
            None => {
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
                    loop { #before #body #assigns #count_trips #step #behind #exit }
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

    pub(super) fn branch(&self, node: &If, emit: &dyn Fn(&[Stmt]) -> TokenStream) -> TokenStream {
        let condition = self.operand(node.condition);
        let (then, other) = (emit(&node.then), emit(&node.other));
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
            Check::Assert { condition, otherwise, names, objects, prints } => {
                let condition = self.operand(*condition);
                let otherwise = self.sources.tokens(otherwise);
                let names = names.iter().map(|(name, value)| {
                    let (name, value) = (Ident::new(name, Span::call_site()), self.operand(*value));
                    quote!(let #name = #value;)
                });
                let objects = objects.iter().map(|(name, object)| {
                    let (name, object) =
                        (Ident::new(name, Span::call_site()), self.names.object(*object));
                    quote!(let #name = &#object;)
                });
                // What is run again under `#[checkpoint]` has been printed.
                let first = prints.then(|| quote!(&&::stratape::__private::speaks()));
                quote!(if !#condition #first { #(#names)* #(#objects)* #otherwise; })
            }
            Check::Bounds { index, len } if self.was_asked(*index, *len) => quote!(),
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
fn walk_all(nodes: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
    for node in nodes {
        f(node);
        node.blocks().into_iter().for_each(|inner| walk_all(inner, f));
    }
}

/// Who owns an array whose name is that of a slice.
fn owner(array: &Ident) -> Ident {
    Ident::new(&format!("{array}_owner"), Span::mixed_site())
}
