//! Rust tokens from a gradient.
//!
//! In: the function as its author wrote it (for types, visibility and attributes) and its gradient in
//! the intermediate language. Out: two safe functions, `f_grad` and `f_grad_in`. A gradient that uses
//! neither tape nor buffers has its code in `f_grad`; the others in `f_grad_in`, which `f_grad` calls with the
//! thread's own workspace.

mod block;
mod border;
mod names;
mod operation;
mod parallel;
mod region;
mod rotation;
mod signature;
mod simd;
mod strip;
mod tape;
mod time_loop;
mod views;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use self::names::Names;
pub use self::time_loop::emit_time_loop;
use crate::driver::{Compiled, CompiledLoop};
use crate::source::Sources;
use crate::tapeflow::uses_tape;
use stratape_ir::analysis::{Affine, DefUse};
use stratape_ir::{
    Function, Half, ObjectId, Op, Place, Range, Stmt, Valid, ValueId, swapped, used, walk,
};

/// The tokens of a gradient, from its lowered form.
pub fn emit(
    item: &syn::ItemFn,
    compiled: &Compiled,
    lowered: Valid<'_>,
    sources: &Sources,
) -> TokenStream {
    let (Compiled { primal, gradient, .. }, lowered) = (compiled, lowered.function());
    let definitions = DefUse::new(lowered);
    let emitter = Emitter::new(lowered, &compiled.loops, &definitions, sources);
    let signature = signature::Signature::new(item, primal, gradient, &emitter.names);
    let needs = match (emitter.needs_lanes(), uses_tape(&lowered.body)) {
        (true, _) => signature::Needs::Lanes,
        (false, true) => signature::Needs::Tape,
        (false, false) => signature::Needs::Nothing,
    };
    let body = emitter.halves(&emitter.function.body);
    let result = signature.result(gradient, &emitter);
    let (checks, border) = (signature.checks(), signature.border());
    let (before, after) = (&border.before, &border.after);
    signature.functions(needs, &quote!(#before #checks #body #after), &result)
}

/// The tokens of a function that calls itself, or goes by halves, as its two halves.
pub fn emit_halves(
    item: &syn::ItemFn,
    primal: &Function,
    (forward, backward): (Valid<'_>, Valid<'_>),
    sources: &Sources,
) -> TokenStream {
    let forward = half(item, primal, forward.function(), "forward", sources);
    let backward = half(item, primal, backward.function(), "backward", sources);
    // What nobody calls costs no code.
    quote!(#[doc(hidden)] #[inline] #forward #[doc(hidden)] #[inline] #backward)
}

fn half(
    item: &syn::ItemFn,
    primal: &Function,
    function: &Function,
    which: &str,
    sources: &Sources,
) -> TokenStream {
    let definitions = DefUse::new(function);
    let emitter = Emitter::new(function, &[], &definitions, sources);
    let name = crate::front::half_name(&item.sig.ident.to_string(), which);
    let name = Ident::new(&name, item.sig.ident.span());
    let params = signature::half_params(item, primal, function, &emitter.names);
    let output = signature::half_output(function);
    let body = emitter.block(&function.body);
    let results: Vec<TokenStream> =
        function.results.iter().map(|value| emitter.operand(*value)).collect();
    let result = tuple(&results);
    let (tape, lints, vis) = (emitter.tape(), lints(), &item.vis);
    quote! {
        #lints
        #vis fn #name(#tape: &mut ::stratape::tape::RecordTape, #(#params),*)
            -> ::core::result::Result<#output, ::stratape::tape::TapeError>
        {
            #body
            ::core::result::Result::Ok(#result)
        }
    }
}

/// The state of emission.
struct Emitter<'a> {
    function: &'a Function,
    /// The loops under `#[checkpoint]` that it may call.
    loops: &'a [CompiledLoop],
    sources: &'a Sources,
    names: Names,
    used: HashSet<ValueId>,
    /// How often each value is used.
    uses: HashMap<ValueId, usize>,
    literals: HashMap<ValueId, Op>,
    affine: Affine<'a>,
    /// The strips around what is being emitted, innermost last.
    strips: RefCell<Vec<strip::Strip>>,
    /// The loops around what is being emitted that are no strips, innermost last: their counters, and the lower ends of their ranges.
    inner: RefCell<Vec<(ValueId, ValueId)>>,
    /// Whether loops run in parts.
    has_parts: bool,
    /// Values that windows of parts are computed from.
    divided: HashSet<ValueId>,
    /// Selections that no processor foresees.
    halving: HashSet<ValueId>,
    /// Lists that are exchanged with others.
    swapped: HashSet<ObjectId>,
    /// Those of them that change places with a part of another object, which is a plain `Vec`.
    unpooled: HashSet<ObjectId>,
    /// The loop whose part is being emitted, by its counter.
    part: Cell<Option<ValueId>>,
    /// The arrays that iterations of the loops around make, if there are such loops: their memory is kept from one to the next.
    spares: RefCell<Option<Vec<Ident>>>,
    /// Lists of which the part of a loop that is being emitted sees a piece.
    pieces: RefCell<HashMap<ObjectId, parallel::Piece>>,
}

impl<'a> Emitter<'a> {
    fn new(
        function: &'a Function,
        loops: &'a [CompiledLoop],
        definitions: &'a DefUse,
        sources: &'a Sources,
    ) -> Self {
        let mut used = used(&function.body);
        used.extend(function.results.iter().copied());
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        let mut literals = HashMap::new();
        let (mut has_parts, mut divided) = (false, HashSet::new());
        walk(&function.body, &mut |node| {
            node.for_each_operand(&mut |value| *uses.entry(value).or_default() += 1);
            if let Stmt::Let { value, op } = node
                && op.is_constant()
            {
                literals.insert(*value, op.clone());
            }
        });
        walk(&function.body, &mut |node| {
            let Stmt::Loop(node) = node else { return };
            let Some(parts) = node.schedule.as_ref().and_then(|known| known.parts.as_ref()) else {
                return;
            };
            has_parts = true;
            if let Range::UpTo { from, to } = node.range {
                divided.extend([from, to]);
            }
            divided.extend(node.carried.iter().map(|carried| carried.init));
            for (_, window) in &parts.windows {
                divided.extend(window.stride.symbols().chain(window.base.symbols()));
            }
        });
        used.extend(divided.iter().copied());
        for result in &function.results {
            *uses.entry(*result).or_default() += 1;
        }
        Self {
            function,
            loops,
            sources,
            names: Names::new(function),
            used,
            uses,
            literals,
            affine: Affine::new(function, definitions),
            strips: RefCell::default(),
            inner: RefCell::default(),
            has_parts,
            divided,
            halving: operation::halving(function),
            swapped: swapped(&function.body),
            unpooled: unpooled(function),
            part: Cell::new(None),
            spares: RefCell::default(),
            pieces: RefCell::default(),
        }
    }

    /// The function's own block. Before the first node that takes from the tape, its length is noted: in the branch where both halves are, if one holds both.
    fn halves(&self, block: &[Stmt]) -> TokenStream {
        let both = |node: &Stmt| node.uses_tape(Half::Forward);
        let turn = block.iter().position(|node| {
            node.uses_tape(Half::Backward) && (matches!(node, Stmt::If(_)) || !both(node))
        });
        let Some(turn) = turn else { return self.block(block) };
        if let Stmt::If(node) = &block[turn]
            && both(&block[turn])
        {
            let (forward, rest) = (self.block(&block[..turn]), self.block(&block[turn + 1..]));
            let branch = self.branch(node, &|arm| self.halves(arm));
            return quote!(#forward #branch #rest);
        }
        let (forward, backward) = block.split_at(turn);
        let (forward, backward) = (self.block(forward), self.block(backward));
        let (tape, length) = (self.tape(), Ident::new("length", Span::mixed_site()));
        if !self.needs_lanes() {
            return quote!(#forward *#length = #tape.bytes() as u64; #backward);
        }
        let lanes = self.lanes_ident();
        quote!(#forward *#length = ::stratape::__private::bytes(#tape, #lanes); #backward)
    }

    /// Whether a loop under `#[checkpoint]` is handed the lanes of the tape.
    fn on_lanes(&self, name: &str) -> bool {
        self.loops.iter().any(|one| one.on_lanes && one.time_loop.name == name)
    }

    /// Whether loops of the function, or of those that it calls, run in parts.
    fn needs_lanes(&self) -> bool {
        self.has_parts || self.loops.iter().any(|one| one.on_lanes)
    }

    /// The tape's name.
    fn tape(&self) -> Ident {
        Ident::new("tape", Span::mixed_site())
    }
}

/// What is allowed in emitted code. Operations that always fail are the program's, where it never gets to them.
fn lints() -> TokenStream {
    quote!(#[allow(
        unused, unreachable_pub, non_snake_case, arithmetic_overflow, unconditional_panic, clippy::all, clippy::pedantic, clippy::panic
    )])
}

/// What a function returns: nothing, one thing alone, or a tuple.
fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        many => quote!((#(#many),*)),
    }
}

/// Lists that change places with a part of another object, or with such a list: plain `Vec`s, as that part is.
fn unpooled(function: &Function) -> HashSet<ObjectId> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        walk(&function.body, &mut |node| {
            let Stmt::Swap { a, b } = node else { return };
            let plain = |place: &Place| !place.path.is_empty() || found.contains(&place.object);
            if plain(a) || plain(b) {
                found.extend([a.object, b.object]);
            }
        });
        if found.len() == before {
            return found;
        }
    }
}
