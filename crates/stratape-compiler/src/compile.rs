//! From a function as written to its gradient in the intermediate language: front, passes, adjoint, and the checker, whose word is last.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};
use syn::{Error, Result};

use crate::adjoint::{self, differentiate};
use crate::expand::Arguments;
use crate::front::{self, Module};
use crate::outline::{TimeLoop, outline};

/// A fault of the compiler: better an error than a wrong gradient.
pub(crate) fn faulty(item: &syn::ItemFn, fault: &str) -> Error {
    Error::new(
        item.sig.ident.span(),
        format!(
            "the gradient of this function failed the compiler's own check, please report it: {fault}"
        ),
    )
}

/// A function that calls itself, as two.
pub(crate) struct Half {
    pub(crate) function: crate::ir::Function,
    pub(crate) loops: Vec<CompiledLoop>,
    pub(crate) recursive: Vec<String>,
    pub(crate) forward: crate::ir::Function,
    pub(crate) backward: crate::ir::Function,
}

impl Half {
    /// What the checker finds in it.
    pub(crate) fn check(&self) -> Option<String> {
        let mut loops = self.loops.iter().map(|one| &one.gradient.function);
        let found = loops.find_map(|gradient| crate::ir::check(gradient).err());
        found.or_else(|| crate::ir::check_halves(&self.forward, &self.backward).err())
    }
}

pub(crate) fn compile_half(item: &syn::ItemFn, module: &Module, plain: bool) -> Result<Half> {
    let mut function = front::lower_in(item, module)?;
    function.plain = plain;
    let mut recursive = Vec::new();
    let loops = compile_loops(outline(&mut function)?, &mut recursive)?;
    crate::passes::simplify(&mut function);
    mark_parallel(&mut function, None)?;
    recursive.extend(function.recursive.iter().cloned());
    let (forward, backward) = adjoint::split(&function);
    Ok(Half { function, loops, recursive, forward, backward })
}

/// Proves what loops are marked as; in a plain function they run as any loop.
fn mark_parallel(function: &mut crate::ir::Function, everywhere: Option<Span>) -> Result<()> {
    if function.plain {
        crate::analysis::unmark_parallel(function);
        return Ok(());
    }
    crate::analysis::mark_parallel(function, everywhere)
        .map_err(|conflict| Error::new(conflict.span, conflict.message))
}

/// A function and its gradient, before they are emitted.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The function after the passes that simplify it.
    pub primal: crate::ir::Function,
    /// Its gradient.
    pub gradient: adjoint::Gradient,
    /// Its loops under `#[checkpoint]`, inner ones first.
    pub loops: Vec<CompiledLoop>,
    /// Functions that call themselves it needs the halves of.
    pub recursive: BTreeSet<String>,
    /// What the checker found in the gradient that the optional passes made: this is the one without them.
    pub fault: Option<String>,
}

impl Compiled {
    /// What the checker finds in the gradients.
    fn check(&self) -> Option<String> {
        let loops = self.loops.iter().map(|one| &one.gradient.function);
        let mut all = std::iter::once(&self.gradient.function).chain(loops);
        all.find_map(|gradient| crate::ir::check(gradient).err())
    }
}

/// A loop under `#[checkpoint]`, and the gradient of its body.
#[derive(Clone, Debug)]
pub struct CompiledLoop {
    /// The loop; those inside it stand before it in the list.
    pub time_loop: TimeLoop,
    /// The gradient of its body.
    pub gradient: adjoint::Gradient,
}

/// Compiles a function. Where the checker finds that a pass went wrong, once more without the optional ones.
pub(crate) fn compile(
    item: &syn::ItemFn,
    arguments: &Arguments,
    module: &Module,
) -> Result<Compiled> {
    let compiled = attempt(item, arguments, module, arguments.plain)?;
    let Some(fault) = compiled.check() else { return Ok(compiled) };
    if arguments.plain {
        return Err(faulty(item, &fault));
    }
    let plain = attempt(item, arguments, module, true)?;
    match plain.check() {
        None => Ok(Compiled { fault: Some(fault), ..plain }),
        Some(fault) => Err(faulty(item, &fault)),
    }
}

fn attempt(
    item: &syn::ItemFn,
    arguments: &Arguments,
    module: &Module,
    plain: bool,
) -> Result<Compiled> {
    let mut function = front::lower_in(item, module)?;
    function.plain = plain;
    let mut recursive = Vec::new();
    let loops = compile_loops(outline(&mut function)?, &mut recursive)?;
    function.parallel = arguments.parallel.is_some();
    crate::passes::simplify(&mut function);
    mark_parallel(&mut function, arguments.parallel.as_ref().map(Ident::span))?;
    if let Some(wrt) = &arguments.wrt {
        check_wrt(item, wrt, &function)?;
    }
    let adjoint = adjoint::Options {
        wrt: arguments.wrt.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
        name: arguments.name.as_ref().map(ToString::to_string),
    };
    if arguments.wrt.is_none() && adjoint::inputs(&function, &adjoint).is_empty() {
        return Err(Error::new(
            item.sig.ident.span(),
            "there is nothing to differentiate by: no parameter is or holds a float",
        ));
    }
    let gradient = differentiate(&function, &adjoint);
    let recursive = function.recursive.iter().cloned().chain(recursive).collect();
    Ok(Compiled { primal: function, gradient, loops, recursive, fault: None })
}

/// Loops that are reversed from snapshots, and the gradients of their bodies.
fn compile_loops(loops: Vec<TimeLoop>, recursive: &mut Vec<String>) -> Result<Vec<CompiledLoop>> {
    let mut compiled = Vec::new();
    for mut time_loop in loops {
        compiled.extend(compile_loops(std::mem::take(&mut time_loop.inner), recursive)?);
        crate::passes::simplify(&mut time_loop.plain);
        crate::passes::simplify(&mut time_loop.body);
        mark_parallel(&mut time_loop.body, None)?;
        recursive.extend(time_loop.body.recursive.iter().cloned());
        let gradient = differentiate(&time_loop.body, &adjoint::Options::default());
        compiled.push(CompiledLoop { time_loop, gradient });
    }
    Ok(compiled)
}

fn check_wrt(item: &syn::ItemFn, wrt: &[Ident], function: &crate::ir::Function) -> Result<()> {
    for (position, name) in wrt.iter().enumerate() {
        if wrt[..position].contains(name) {
            return Err(Error::new(name.span(), format!("`{name}` is named twice")));
        }
        let known = item.sig.inputs.iter().any(|input| {
            matches!(input, syn::FnArg::Typed(input)
                if matches!(&*input.pat, syn::Pat::Ident(pat) if pat.ident == *name))
        });
        if !known {
            return Err(Error::new(name.span(), format!("there is no parameter `{name}`")));
        }
        let options = adjoint::Options { wrt: Some(vec![name.to_string()]), name: None };
        if adjoint::inputs(function, &options).is_empty() {
            return Err(Error::new(
                name.span(),
                format!("`{name}` holds no float: there is no derivative by it"),
            ));
        }
    }
    Ok(())
}
