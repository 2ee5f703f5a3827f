//! Kernels of a file: what their gradients add to atomically, what they save, and what is emitted for a device.

use std::fmt::Write as _;

use stratape_compiler::back::cuda;
use stratape_compiler::driver::CompiledKernel;
use stratape_compiler::kernels::{compile_in, is_kernel};

use super::{Stage, source::Source};
use crate::failure::Failure;

/// A kernel of the file.
pub(super) struct Kernel {
    pub(super) name: String,
    compiled: Result<CompiledKernel, syn::Error>,
}

/// The kernels of a file, those of its modules included; only that of a name, if one is given.
pub(super) fn kernels(file: &syn::File, only: Option<&str>) -> Vec<Kernel> {
    let mut found = Vec::new();
    collect(&file.items, &[], only, &mut found);
    found
}

fn collect(items: &[syn::Item], around: &[syn::Item], only: Option<&str>, found: &mut Vec<Kernel>) {
    let mut all = items.to_vec();
    all.extend(around.iter().filter(|item| !matches!(item, syn::Item::Mod(_))).cloned());
    for item in items {
        match item {
            syn::Item::Fn(function) if is_kernel(function) => {
                let name = function.sig.ident.to_string();
                if only.is_none_or(|only| only == name) {
                    found.push(Kernel { compiled: compile_in(&all, &name), name });
                }
            }
            syn::Item::Mod(syn::ItemMod { content: Some((_, items)), .. }) => {
                collect(items, &all, only, found);
            }
            _ => {}
        }
    }
}

/// The errors of kernels that are refused.
pub(super) fn errors(kernels: &[Kernel]) -> Vec<syn::Error> {
    kernels.iter().filter_map(|kernel| kernel.compiled.as_ref().err().cloned()).collect()
}

/// A stage of the compilation of kernels, or what there is to say of them.
pub(super) fn report(
    kernels: &[Kernel],
    stage: Option<Stage>,
    source: &Source,
) -> Result<String, Failure> {
    let mut text = String::new();
    for kernel in kernels {
        let Ok(compiled) = &kernel.compiled else { continue };
        let written = match stage {
            Some(Stage::Ir) => writeln!(text, "{}", compiled.primal),
            Some(Stage::Adjoint | Stage::Lowered) => match &compiled.gradient {
                Some(gradient) => writeln!(text, "{}", gradient.function),
                None => Ok(()),
            },
            Some(Stage::Cuda) => {
                let (primal, gradient) = compiled.valid().map_err(Failure::new)?;
                let shown = gradient.unwrap_or(primal);
                writeln!(text, "{}", cuda::emit(shown).function())
            }
            None => told(kernel, compiled, source, &mut text),
            // What is left speaks of the host's tape, or of Rust.
            Some(_) => Ok(()),
        };
        written.map_err(Failure::new)?;
    }
    Ok(text)
}

fn told(
    kernel: &Kernel,
    compiled: &CompiledKernel,
    source: &Source,
    text: &mut String,
) -> std::fmt::Result {
    writeln!(text, "kernel {} ({})", kernel.name, source.path())?;
    let Some(gradient) = &compiled.gradient else {
        return writeln!(text, "  no gradient: put `#[gradient]` below `#[kernel]`\n");
    };
    for remark in compiled.remarks.iter().filter(|remark| remark.pass == "atomics") {
        writeln!(text, "  {}", remark.message)?;
    }
    let saved: Vec<String> = gradient
        .choices
        .iter()
        .filter(|choice| choice.saved.is_some())
        .map(|choice| {
            let known = &compiled.primal.values[choice.value.index()];
            format!("`{}`", known.name.as_deref().unwrap_or("a value without a name"))
        })
        .collect();
    match saved.is_empty() {
        true => writeln!(text, "  nothing is saved on the device tape\n"),
        false => writeln!(text, "  each iteration saves {} on the device tape\n", saved.join(", ")),
    }
}
