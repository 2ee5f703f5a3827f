//! The attributes of [stratape](https://docs.rs/stratape), a thin shell over `stratape-compiler`.
//! Use them through the `stratape` crate, which documents them.

#![forbid(unsafe_code)]

mod snapshot;

use proc_macro::TokenStream;

/// Generates the gradient of a function beside it.
#[proc_macro_attribute]
pub fn gradient(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::gradient(attribute.into(), &item.into()).into()
}

/// Marks a function of a differentiable module as one without derivative.
#[proc_macro_attribute]
pub fn constant(_: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::only_in_module("constant", &item.into()).into()
}

/// Marks a function of a differentiable module as the pullback of another.
#[proc_macro_attribute]
pub fn pullback(_: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::only_in_module("pullback", &item.into()).into()
}

/// Marks a loop whose iterations are independent.
#[proc_macro_attribute]
pub fn parallel(_: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::only_on_loops("parallel", &item.into()).into()
}

/// A module whose functions, structs and constants `#[gradient]` can see.
#[proc_macro_attribute]
pub fn differentiable(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::differentiable(&attribute.into(), &item.into()).into()
}

/// Marks a loop of a function under `#[gradient]` as one to be reversed from snapshots.
#[proc_macro_attribute]
pub fn checkpoint(_: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::only_on_loops("checkpoint", &item.into()).into()
}

/// Makes a struct or an enum a state that can be stored.
#[proc_macro_derive(Snapshot, attributes(snapshot))]
pub fn snapshot(input: TokenStream) -> TokenStream {
    snapshot::derive(input.into()).into()
}
