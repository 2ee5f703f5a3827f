//! The attributes of [stratape](https://docs.rs/stratape), a thin shell over `stratape-compiler`.
//! Use them through the `stratape` crate, which documents them.

#![forbid(unsafe_code)]

mod host;
mod position;
mod snapshot;

use proc_macro::TokenStream;
use stratape_compiler::link;

/// Generates the gradient of a function beside it.
#[proc_macro_attribute]
pub fn gradient(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::gradient(attribute.into(), &item.into(), host)).into()
}

/// Marks a function as one without derivative.
#[proc_macro_attribute]
pub fn constant(_: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::constant(&item.into(), host)).into()
}

/// Marks a function that acts outside of the program, with the two halves of its gradient.
#[proc_macro_attribute]
pub fn effect(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::effect(attribute.into(), &item.into(), host)).into()
}

/// Marks a function as the pullback of another.
#[proc_macro_attribute]
pub fn pullback(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::pullback(attribute.into(), &item.into(), host)).into()
}

/// A function that all threads of a grid run.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::kernel(&attribute.into(), &item.into(), host)).into()
}

/// A function of numbers that a kernel computes for each element of buffers.
#[proc_macro_attribute]
pub fn elementwise(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| {
        stratape_compiler::elementwise::elementwise(&attribute.into(), &item.into(), host)
    })
    .into()
}

/// An item that kernels use.
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::device(&attribute.into(), &item.into(), host)).into()
}

/// Marks a loop whose iterations are independent.
#[proc_macro_attribute]
pub fn parallel(_: TokenStream, item: TokenStream) -> TokenStream {
    stratape_compiler::expand::only_on_loops("parallel", &item.into()).into()
}

/// An item that `#[gradient]` can see: a function, a struct, a constant, or a module of them.
#[proc_macro_attribute]
pub fn differentiable(attribute: TokenStream, item: TokenStream) -> TokenStream {
    host::with(|host| link::differentiable(&attribute.into(), &item.into(), host)).into()
}

/// What the answers of items under `#[differentiable]` go through.
#[doc(hidden)]
#[proc_macro]
pub fn __link(tokens: TokenStream) -> TokenStream {
    link::link(tokens.into()).into()
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
