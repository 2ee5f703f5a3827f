//! Rust tokens from a gradient.
//!
//! In: the function as its author wrote it (for types, visibility and attributes) and its gradient in
//! the intermediate language. Out: two safe functions, `f_grad` and `f_grad_in`. A gradient that uses
//! neither tape nor buffers has its code in `f_grad`; the others in `f_grad_in`, which `f_grad` calls with the
//! thread's own workspace.

mod block;
mod division;
mod lanes;
mod names;
mod operation;
mod parallel;
mod scatter;
mod signature;
mod strip;
mod tape;
mod time_loop;
mod views;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use self::names::Names;
pub use self::tape::record_bytes;
pub use self::time_loop::emit_time_loop;
use crate::adjoint::Gradient;
use crate::analysis::{Affine, Definitions};
use crate::ir::{Function, Half, Node, ObjectId, Op, RecordId, ValueId, used, walk};

/// The tokens of a gradient.
pub fn emit(item: &syn::ItemFn, primal: &Function, gradient: &Gradient) -> TokenStream {
    let (function, divisions) = division::divide(&gradient.function);
    let function = &function;
    let definitions = Definitions::new(function);
    let regions = strip::regions(&[function]);
    let mut emitter = Emitter::new(function, &definitions, regions);
    emitter.used.extend(divisions.values().flat_map(division::Division::operands));
    emitter.divisions = divisions;
    let signature = signature::Signature::new(item, primal, gradient, &emitter.names);
    let needs = match (emitter.divisions.is_empty(), uses_tape(&function.body)) {
        (false, _) => signature::Needs::Lanes,
        (true, true) => signature::Needs::Tape,
        (true, false) => signature::Needs::Nothing,
    };
    let body = emitter.halves();
    let result = signature.result(gradient, &emitter);
    let checks = signature.checks();
    signature.functions(needs, &quote!(#checks #body), &result)
}

/// The tokens of a function that calls itself, as its two halves.
pub fn emit_halves(
    item: &syn::ItemFn,
    primal: &Function,
    halves: (&Function, &Function),
) -> TokenStream {
    let halves = (division::undivided(halves.0), division::undivided(halves.1));
    let regions = strip::regions(&[&halves.0, &halves.1]);
    let forward = half(item, primal, &halves.0, "forward", regions.clone());
    let backward = half(item, primal, &halves.1, "backward", regions);
    quote!(#forward #backward)
}

fn half(
    item: &syn::ItemFn,
    primal: &Function,
    function: &Function,
    which: &str,
    regions: HashSet<RecordId>,
) -> TokenStream {
    let definitions = Definitions::new(function);
    let emitter = Emitter::new(function, &definitions, regions);
    let name = crate::front::half_name(&item.sig.ident.to_string(), which);
    let name = Ident::new(&name, item.sig.ident.span());
    let params = signature::half_params(item, primal, function, &emitter.names);
    let output = signature::half_output(function);
    let body = emitter.block(&function.body);
    let results: Vec<TokenStream> =
        function.results.iter().map(|value| emitter.operand(*value)).collect();
    let result = tuple(&results);
    let (tape, lints) = (emitter.tape(), lints());
    quote! {
        #[doc(hidden)]
        #lints
        fn #name(#tape: &mut ::stratape::tape::RecordTape, #(#params),*)
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
    names: Names,
    used: HashSet<ValueId>,
    /// How often each value is used.
    uses: HashMap<ValueId, usize>,
    literals: HashMap<ValueId, Op>,
    affine: Affine<'a>,
    /// The strips around what is being emitted, innermost last.
    strips: RefCell<Vec<strip::Strip>>,
    /// Values whose definition is written in another way at present.
    replaced: RefCell<HashMap<ValueId, TokenStream>>,
    /// Other nodes that are, by their addresses.
    replaced_nodes: RefCell<HashMap<usize, TokenStream>>,
    /// Records that lie in regions of the tape.
    regions: HashSet<RecordId>,
    /// Loops that run in parallel, by their counters.
    divisions: HashMap<ValueId, division::Division>,
    /// Lists of which the part of a loop that is being emitted sees a piece.
    pieces: RefCell<HashMap<ObjectId, parallel::Piece>>,
}

impl<'a> Emitter<'a> {
    fn new(
        function: &'a Function,
        definitions: &'a Definitions,
        regions: HashSet<RecordId>,
    ) -> Self {
        let mut used = used(&function.body);
        used.extend(function.results.iter().copied());
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        let mut literals = HashMap::new();
        walk(&function.body, &mut |node| {
            node.for_each_operand(&mut |value| *uses.entry(value).or_default() += 1);
            if let Node::Let { value, op } = node
                && op.is_constant()
            {
                literals.insert(*value, op.clone());
            }
        });
        for result in &function.results {
            *uses.entry(*result).or_default() += 1;
        }
        Self {
            function,
            names: Names::new(function),
            used,
            uses,
            literals,
            affine: Affine::new(function, definitions),
            strips: RefCell::default(),
            replaced: RefCell::default(),
            replaced_nodes: RefCell::default(),
            regions,
            divisions: HashMap::new(),
            pieces: RefCell::default(),
        }
    }

    fn replace(&self, value: ValueId, statement: TokenStream) {
        self.replaced.borrow_mut().insert(value, statement);
    }

    fn replace_node(&self, node: &Node, statement: TokenStream) {
        self.replaced_nodes.borrow_mut().insert(std::ptr::from_ref(node).addr(), statement);
    }

    fn restore_node(&self, node: &Node) {
        self.replaced_nodes.borrow_mut().remove(&std::ptr::from_ref(node).addr());
    }

    fn restore(&self, value: ValueId) {
        self.replaced.borrow_mut().remove(&value);
    }

    /// The function's own block. Before the first node that takes from the tape, its length is noted.
    fn halves(&self) -> TokenStream {
        let turn = self
            .function
            .body
            .iter()
            .position(|node| node.uses_tape(Half::Backward) && !node.uses_tape(Half::Forward));
        let Some(turn) = turn else { return self.block(&self.function.body) };
        let (forward, backward) = self.function.body.split_at(turn);
        let (forward, backward) = (self.block(forward), self.block(backward));
        let (tape, length) = (self.tape(), Ident::new("length", Span::mixed_site()));
        if self.divisions.is_empty() {
            return quote!(#forward *#length = #tape.bytes() as u64; #backward);
        }
        let lanes = self.lanes_ident();
        quote!(#forward *#length = ::stratape::__private::bytes(#tape, #lanes); #backward)
    }

    /// The tape's name.
    fn tape(&self) -> Ident {
        Ident::new("tape", Span::mixed_site())
    }
}

/// What is allowed in emitted code. Operations that always fail are the program's, where it never gets to them.
fn lints() -> TokenStream {
    quote!(#[allow(
        unused, arithmetic_overflow, unconditional_panic, clippy::all, clippy::pedantic, clippy::panic
    )])
}

/// Whether one of the nodes uses the tape.
fn uses_tape(block: &[Node]) -> bool {
    block.iter().any(|node| node.uses_tape(Half::Forward) || node.uses_tape(Half::Backward))
}

/// What a function returns: nothing, one thing alone, or a tuple.
fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        many => quote!((#(#many),*)),
    }
}
