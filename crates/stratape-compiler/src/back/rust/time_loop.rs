//! Loops under `#[checkpoint]`: four functions for each.
//!
//! `step` is the body, `pullback` its gradient; `forward` runs the loop by the driver of snapshots, and leaves it on the tape as an
//! attachment; `backward` takes it up again and reverses it. The state is a tuple of the lists that the body writes, the carried
//! values, and whether and where the loop ended; pairs in pairs, since there may be many.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::operation::tokens;
use super::{Emitter, lints, tuple};
use crate::ad::Gradient;
use crate::driver::CompiledLoop;
use crate::front::half_name;
use crate::outline::{List, TimeLoop};
use crate::source::Sources;
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Extent, Function, ObjectId, Origin, Param, Range, Scalar, Type, Valid, ValueId, seeded,
};

/// The functions of a loop.
///
/// `all`: it and the others of the same function.
pub fn emit_time_loop(
    compiled: &CompiledLoop,
    all: &[CompiledLoop],
    (step, lowered): (Valid<'_>, Valid<'_>),
    sources: &Sources,
) -> TokenStream {
    let CompiledLoop { time_loop, gradient, on_lanes, .. } = compiled;
    let scheme = Scheme { time_loop, gradient, sources, on_lanes: *on_lanes };
    let body_function = |name: &str, function: &Function| {
        let lanes = scheme.lanes_param();
        body_function(&scheme.name(name), function, all, &lanes, sources)
    };
    let step = body_function("step", step.function());
    let pullback = body_function("pullback", lowered.function());
    let (forward, backward) = (scheme.forward(), scheme.backward());
    quote!(#step #pullback #forward #backward)
}

/// A function in the intermediate language as a Rust function on a tape.
fn body_function(
    name: &Ident,
    function: &Function,
    loops: &[CompiledLoop],
    lanes: &Option<TokenStream>,
    sources: &Sources,
) -> TokenStream {
    let definitions = DefUse::new(function);
    let emitter = Emitter::new(function, loops, &definitions, sources);
    let mut params = Vec::new();
    let mut arrays = Vec::new();
    for param in &function.params {
        match param {
            Param::Value(value) => {
                let (ident, ty) = (emitter.names.value(*value), scalar(function.ty(*value)));
                params.push(quote!(#ident: #ty));
            }
            Param::Object(object) => {
                let ident = emitter.names.object(*object);
                let known = &function.objects[object.index()];
                let item = known.ty.element().map(|item| type_tokens(item, sources));
                let exclusive = known.origin == Origin::RefMut;
                params.push(if exclusive {
                    quote!(#ident: &mut [#item])
                } else {
                    quote!(#ident: &[#item])
                });
                if let Type::Array(..) = known.ty {
                    let ty = type_tokens(&known.ty, sources);
                    arrays.push(if exclusive {
                        quote!(let #ident: &mut #ty = ::stratape::__private::array_mut(#ident);)
                    } else {
                        quote!(let #ident: &#ty = ::stratape::__private::array(#ident);)
                    });
                }
            }
        }
    }
    let body = emitter.block(&function.body);
    let results: Vec<TokenStream> =
        function.results.iter().map(|value| emitter.operand(*value)).collect();
    let types: Vec<TokenStream> =
        function.results.iter().map(|value| scalar(function.ty(*value))).collect();
    let (result, output, tape) = (tuple(&results), tuple(&types), emitter.tape());
    let lints = lints();
    quote! {
        #[doc(hidden)]
        #lints
        fn #name(#tape: &mut ::stratape::tape::RecordTape, #lanes #(#params),*)
            -> ::core::result::Result<#output, ::stratape::tape::TapeError>
        {
            #(#arrays)*
            #body
            ::core::result::Result::Ok(#result)
        }
    }
}

struct Scheme<'a> {
    sources: &'a Sources,
    time_loop: &'a TimeLoop,
    gradient: &'a Gradient,
    /// Whether its functions are handed the lanes of the tape.
    on_lanes: bool,
}

impl Scheme<'_> {
    fn name(&self, which: &str) -> Ident {
        Ident::new(&half_name(&self.time_loop.name, which), Span::call_site())
    }

    fn ty(&self, value: ValueId) -> Scalar {
        self.time_loop.plain.ty(value)
    }

    fn is_float(&self, value: ValueId) -> bool {
        self.ty(value).is_float()
    }

    /// What is passed by value: settings, the range, what enters, what is from outside.
    fn values(&self) -> Vec<(Ident, Scalar)> {
        let TimeLoop { checkpoint, node, frees, plain, .. } = self.time_loop;
        let mut values: Vec<(Ident, Scalar)> = checkpoint
            .numbers
            .iter()
            .map(|(name, value)| (format_ident!("{name}"), plain.ty(*value)))
            .collect();
        if let Range::UpTo { from, to } = node.range {
            values.extend([
                (format_ident!("from"), self.ty(from)),
                (format_ident!("to"), self.ty(to)),
            ]);
        }
        values.extend(self.carried().map(|(ident, value)| (ident, self.ty(value))));
        values.extend(frees.iter().map(|value| (free(*value), self.ty(*value))));
        values
    }

    /// The carried values, as variables of the driver's functions.
    fn carried(&self) -> impl Iterator<Item = (Ident, ValueId)> {
        let carried = self.time_loop.node.carried.iter().enumerate();
        carried.map(|(at, carried)| (format_ident!("carried{at}"), carried.inside))
    }

    fn lists(&self, mutable: bool) -> impl Iterator<Item = &List> {
        self.time_loop.lists.iter().filter(move |list| list.mutable == mutable)
    }

    /// The number of the iteration, from the number of the step.
    fn counter(&self) -> TokenStream {
        let node = &self.time_loop.node;
        let ty = scalar(self.ty(node.counter));
        match (node.range, node.reversed) {
            (Range::Forever, _) => quote!(k as #ty),
            (Range::UpTo { .. }, false) => quote!(from + k as #ty),
            (Range::UpTo { .. }, true) => quote!(to - 1 - k as #ty),
        }
    }

    /// The lanes of the tape as a parameter.
    fn lanes_param(&self) -> Option<TokenStream> {
        let lanes = lanes();
        self.on_lanes.then(|| quote!(#lanes: &mut [::stratape::__private::Lane],))
    }

    /// Puts the lanes where both closures find them: that of the steps, and the one that reverses them. They take turns.
    fn share_lanes(&self) -> Option<TokenStream> {
        let lanes = lanes();
        self.on_lanes.then(|| quote!(let #lanes = ::core::cell::RefCell::new(#lanes);))
    }

    /// The lanes as an argument in one of the closures.
    fn lanes_argument(&self) -> Option<TokenStream> {
        let lanes = lanes();
        self.on_lanes.then(|| quote!(&mut #lanes.borrow_mut()[..],))
    }

    /// Whether iterations work on devices.
    fn on_devices(&self) -> bool {
        super::signature::uses_devices(&self.time_loop.plain)
    }

    /// What comes after the lists of a state, if iterations work on devices.
    fn devices(&self, then: TokenStream) -> Option<TokenStream> {
        self.on_devices().then_some(then)
    }

    fn state_type(&self) -> TokenStream {
        let lists = nested(
            self.lists(true)
                .map(|list| {
                    let item = type_tokens(&list.item, self.sources);
                    quote!(::std::vec::Vec<#item>)
                })
                .chain(self.devices(quote!(::stratape::gpu::__private::host::World))),
        );
        let carried = nested(self.carried().map(|(_, value)| scalar(self.ty(value))));
        quote!((#lists, #carried, (bool, usize)))
    }

    /// A pattern for a state behind a reference, with the names of the lists and carried values.
    fn state_pattern(&self) -> TokenStream {
        let lists = nested(
            self.lists(true)
                .map(|list| {
                    let ident = list_name(list.object);
                    quote!(#ident)
                })
                .chain(self.devices(quote!(world))),
        );
        let carried = nested(self.carried().map(|(ident, _)| quote!(#ident)));
        quote!((#lists, #carried, (ended, done)))
    }

    fn constants_type(&self) -> TokenStream {
        nested(self.lists(false).map(|list| {
            let item = type_tokens(&list.item, self.sources);
            quote!(::std::vec::Vec<#item>)
        }))
    }

    /// The closure that runs a step.
    fn step_closure(&self) -> TokenStream {
        let (pattern, state, counter) = (self.state_pattern(), self.state_type(), self.counter());
        let step = self.name("step");
        let carried: Vec<Ident> = self.carried().map(|(ident, _)| ident).collect();
        let frees = self.time_loop.frees.iter().map(|value| free(*value));
        let lists = self.time_loop.lists.iter().map(|list| {
            let ident = list_name(list.object);
            if list.mutable { quote!(&mut *#ident) } else { quote!(&#ident[..]) }
        });
        let nexts: Vec<Ident> = (0..carried.len()).map(|at| format_ident!("next{at}")).collect();
        let exit = self.time_loop.node.exit.map(|_| format_ident!("exit"));
        let mut outcome: Vec<TokenStream> = nexts.iter().map(|next| quote!(#next)).collect();
        outcome.extend(exit.iter().map(|exit| quote!(#exit)));
        let outcome = tuple(&outcome);
        let ending = exit.map(|exit| quote!(*ended = #exit;));
        let enter = self.devices(quote!(world.enter()?;));
        let numbers = self.carried().filter(|(_, value)| self.ty(*value) == Scalar::USIZE);
        let numbers = numbers.map(|(ident, _)| quote!(*#ident));
        let lanes = self.lanes_argument();
        let leave = self.devices(quote!(world.leave(&[#(#numbers),*])?; scratch.clear();));
        quote! {
            |k: usize, state: &mut #state| {
                let #pattern = state;
                #enter
                let #outcome = #step(&mut scratch, #lanes #counter, #(*#carried,)* #(#frees,)* #(#lists),*)?;
                #(*#carried = #nexts;)*
                #leave
                #ending
                *done += 1;
                ::core::result::Result::Ok(())
            }
        }
    }

    fn forward(&self) -> TokenStream {
        let TimeLoop { node, checkpoint, lists, .. } = self.time_loop;
        let name = self.name("forward");
        let values = self.values().into_iter().map(|(ident, ty)| {
            let ty = scalar(ty);
            quote!(#ident: #ty)
        });
        let slices = lists.iter().map(|list| {
            let (ident, item) = (list_name(list.object), type_tokens(&list.item, self.sources));
            if list.mutable { quote!(#ident: &mut [#item]) } else { quote!(#ident: &[#item]) }
        });
        let mut results: Vec<TokenStream> =
            self.carried().map(|(ident, _)| quote!(*#ident)).collect();
        let mut types: Vec<TokenStream> =
            self.carried().map(|(_, value)| scalar(self.ty(value))).collect();
        if node.trips.is_some() {
            results.push(quote!(*done));
            types.push(quote!(usize));
        }
        let (result, output) = (tuple(&results), tuple(&types));
        let written: Vec<Ident> = self.lists(true).map(|list| list_name(list.object)).collect();
        let vecs = nested(
            written
                .iter()
                .map(|ident| quote!(#ident.to_vec()))
                .chain(self.devices(quote!(start.clone()))),
        );
        let start =
            self.devices(quote!(let start = ::stratape::gpu::__private::host::World::here()?;));
        let finish = self.devices(quote!(world.clone().enter()?;));
        let kept = self.devices(quote!(, start));
        let carried = nested(self.carried().map(|(ident, _)| quote!(#ident)));
        let constants = nested(self.lists(false).map(|list| {
            let ident = list_name(list.object);
            quote!(#ident.to_vec())
        }));
        let settings = settings(checkpoint, self.sources);
        let steps = match node.range {
            Range::UpTo { .. } => {
                quote!(::stratape::__private::trip_count(from as i128, to as i128))
            }
            Range::Forever => quote!(usize::MAX),
        };
        let known = node.exit.is_none();
        let (step, pattern) = (self.step_closure(), self.state_pattern());
        let (state, lints) = (self.state_type(), lints());
        let (lanes, share_lanes) = (self.lanes_param(), self.share_lanes());
        let places: Vec<Ident> = (0..written.len()).map(|at| format_ident!("place{at}")).collect();
        quote! {
            #[doc(hidden)]
            #lints
            fn #name(tape: &mut ::stratape::tape::RecordTape, #lanes #(#values,)* #(#slices),*)
                -> ::core::result::Result<#output, ::stratape::tape::TapeError>
            {
                #share_lanes
                let mut scratch = ::stratape::tape::RecordTape::default();
                let steps: usize = #steps;
                #start
                let state: #state = (#vecs, #carried, (false, 0));
                let swept = ::stratape::__private::sweep(
                    ::stratape::checkpoint::TimeLoop::new(state)#settings,
                    (steps, #known),
                    move |(_, _, (ended, done)): &#state| *ended || *done >= steps,
                    #step,
                )?;
                let result = {
                    #(let #places = #written;)*
                    let #pattern = swept.state();
                    #finish
                    #(#places.clone_from_slice(#written);)*
                    #result
                };
                tape.attach((swept, #constants #kept));
                ::core::result::Result::Ok(result)
            }
        }
    }

    fn backward(&self) -> TokenStream {
        let name = self.name("backward");
        let plain = &self.time_loop.plain;
        let mut params: Vec<TokenStream> = Vec::new();
        for (ident, ty) in self.values() {
            let ty = scalar(ty);
            params.push(quote!(#ident: #ty));
        }
        for list in self.time_loop.lists.iter().filter(|list| list.item.has_float()) {
            let (shadow, item) = (shadow_name(list.object), type_tokens(&list.item, self.sources));
            params.push(quote!(#shadow: &mut [#item]));
        }
        let mut outer: Vec<ValueId> =
            self.time_loop.node.carried.iter().map(|carried| carried.inside).collect();
        outer.extend(self.time_loop.node.trips);
        for (at, value) in seeded_positions(&outer, |value| self.is_float_or_trips(value)) {
            let (ident, ty) = (format_ident!("seed{at}"), self.outer_type(value));
            params.push(quote!(#ident: #ty));
        }
        let floats: Vec<(usize, Ident, ValueId)> = self
            .carried()
            .enumerate()
            .filter(|(_, (_, value))| self.is_float(*value))
            .map(|(at, (ident, value))| (at, ident, value))
            .collect();
        let adjoints: Vec<Ident> =
            floats.iter().map(|(_, ident, _)| format_ident!("adjoint_{ident}")).collect();
        let seeds: Vec<Ident> = floats.iter().map(|(at, ..)| format_ident!("seed{at}")).collect();
        let free_floats: Vec<ValueId> =
            self.time_loop.frees.iter().copied().filter(|value| self.is_float(*value)).collect();
        let free_adjoints: Vec<Ident> =
            free_floats.iter().map(|value| format_ident!("adjoint_{}", free(*value))).collect();
        let float_types: Vec<TokenStream> = floats
            .iter()
            .map(|(_, _, value)| *value)
            .chain(free_floats)
            .map(|value| scalar(plain.ty(value)))
            .collect();
        let output = tuple(&float_types);
        let all: Vec<TokenStream> =
            adjoints.iter().chain(&free_adjoints).map(|ident| quote!(#ident)).collect();
        let result = tuple(&all);
        let (state, constants) = (self.state_type(), self.constants_type());
        let names = nested(self.lists(false).map(|list| {
            let ident = list_name(list.object);
            quote!(#ident)
        }));
        let (step, pull) = (self.step_closure(), self.pull_closure(&adjoints, &free_adjoints));
        let lints = lints();
        let (lanes, share_lanes) = (self.lanes_param(), self.share_lanes());
        let start = self.devices(quote!(, mut start));
        let world = self.devices(quote!(, ::stratape::gpu::__private::host::World));
        let rewind = self.devices(quote!(start.enter()?;));
        quote! {
            #[doc(hidden)]
            #lints
            fn #name(tape: &mut ::stratape::tape::RecordTape, #lanes #(#params),*)
                -> ::core::result::Result<#output, ::stratape::tape::TapeError>
            {
                #share_lanes
                let mut scratch = ::stratape::tape::RecordTape::default();
                let (swept, #names #start) =
                    tape.detach::<(::stratape::checkpoint::Swept<#state>, #constants #world)>()?;
                #(let mut #adjoints = #seeds;)*
                #(let mut #free_adjoints = 0.0;)*
                ::stratape::__private::replay(swept, #step, #pull)?;
                #rewind
                ::core::result::Result::Ok(#result)
            }
        }
    }

    /// The closure that reverses a step.
    fn pull_closure(&self, adjoints: &[Ident], free_adjoints: &[Ident]) -> TokenStream {
        let (pattern, state, counter) = (self.state_pattern(), self.state_type(), self.counter());
        let pullback = self.name("pullback");
        let carried: Vec<Ident> = self.carried().map(|(ident, _)| ident).collect();
        let frees = self.time_loop.frees.iter().map(|value| free(*value));
        let function = &self.gradient.function;
        let shadowed: HashSet<ObjectId> = function
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Object(object) => function.objects[object.index()].shadow_of,
                Param::Value(_) => None,
            })
            .collect();
        let mut lists = Vec::new();
        for list in &self.time_loop.lists {
            let ident = list_name(list.object);
            lists.push(if list.mutable { quote!(&mut *#ident) } else { quote!(&#ident[..]) });
            if shadowed.contains(&list.object) {
                let shadow = shadow_name(list.object);
                lists.push(quote!(&mut *#shadow));
            }
        }
        let results = &self.time_loop.plain.results;
        let seeds = seeded_positions(results, |value| self.is_float(value)).into_iter().map(
            |(at, value)| {
                match self.is_float(value) {
                    true => {
                        let ident = format_ident!("adjoint_carried{at}");
                        quote!(#ident)
                    }
                    // Of a single result that is no float: never used.
                    false => {
                        let ty = scalar(self.ty(value));
                        quote!(<#ty as ::core::default::Default>::default())
                    }
                }
            },
        );
        let ignored = (0..results.len()).map(|_| quote!(_));
        let news: Vec<Ident> =
            (0..adjoints.len() + free_adjoints.len()).map(|at| format_ident!("new{at}")).collect();
        let outcome: Vec<TokenStream> =
            ignored.chain(news.iter().map(|new| quote!(#new))).collect();
        let outcome = tuple(&outcome);
        let (of_carried, of_frees) = news.split_at(adjoints.len());
        let enter = self.devices(quote!(world.enter()?;));
        let lanes = self.lanes_argument();
        quote! {
            |k: usize, state: &mut #state| {
                let #pattern = state;
                #enter
                let #outcome = #pullback(
                    tape, #lanes #counter, #(*#carried,)* #(#frees,)* #(#lists,)* #(#seeds),*
                )?;
                #(#adjoints = #of_carried;)*
                #(#free_adjoints += #of_frees;)*
                ::core::result::Result::Ok(())
            }
        }
    }

    /// Results of the call that stands for the loop: carried values, and the number of iterations.
    fn is_float_or_trips(&self, value: ValueId) -> bool {
        Some(value) != self.time_loop.node.trips && self.is_float(value)
    }

    fn outer_type(&self, value: ValueId) -> TokenStream {
        if Some(value) == self.time_loop.node.trips {
            quote!(usize)
        } else {
            scalar(self.ty(value))
        }
    }
}

/// The results that come with a seed, and their positions.
fn seeded_positions(
    results: &[ValueId],
    is_float: impl Fn(ValueId) -> bool,
) -> Vec<(usize, ValueId)> {
    let seeds = seeded(results, is_float);
    let positions = results.iter().copied().enumerate();
    positions.filter(|(_, value)| seeds.contains(value)).collect()
}

fn settings(checkpoint: &stratape_ir::Checkpoint, sources: &Sources) -> TokenStream {
    let mut calls = TokenStream::new();
    let disk = checkpoint.disk.as_ref().map(|disk| sources.tokens(disk));
    for (name, _) in &checkpoint.numbers {
        let ident = format_ident!("{name}");
        calls.extend(match name.as_str() {
            "disk_slots" => quote!(.disk_slots(#disk, disk_slots)),
            "disk_bytes" => quote!(.disk(#disk, disk_bytes)),
            _ => quote!(.#ident(#ident)),
        });
    }
    if let Some(schedule) = &checkpoint.schedule {
        let schedule = sources.tokens(schedule);
        calls.extend(quote!(.schedule(#schedule)));
    }
    calls
}

/// Items as pairs in pairs: `(a, (b, (c, ())))`.
fn nested(items: impl Iterator<Item = TokenStream>) -> TokenStream {
    let items: Vec<TokenStream> = items.collect();
    items.into_iter().rev().fold(quote!(()), |rest, item| quote!((#item, #rest)))
}

fn lanes() -> Ident {
    Ident::new("lanes", Span::mixed_site())
}

fn free(value: ValueId) -> Ident {
    format_ident!("free{}", value.index())
}

fn list_name(object: ObjectId) -> Ident {
    format_ident!("list{}", object.index())
}

fn shadow_name(object: ObjectId) -> Ident {
    format_ident!("shadow{}", object.index())
}

fn scalar(ty: Scalar) -> TokenStream {
    tokens(ty.name())
}

/// A type of numbers and arrays of them.
fn type_tokens(ty: &Type, sources: &Sources) -> TokenStream {
    match ty {
        Type::Array(item, extent) => {
            let item = type_tokens(item, sources);
            match extent {
                Extent::Known(len) => quote!([#item; #len]),
                Extent::Const(len) => {
                    let len = sources.tokens(len);
                    quote!([#item; #len])
                }
            }
        }
        Type::Tuple(items) => {
            let items = items.iter().map(|item| type_tokens(item, sources));
            quote!((#(#items,)*))
        }
        Type::Struct(def) => tokens(&def.name),
        ty => ty.scalar().map_or_else(TokenStream::new, scalar),
    }
}
