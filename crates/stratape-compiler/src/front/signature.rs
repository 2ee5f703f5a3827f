//! What a function's signature must look like.

use syn::spanned::Spanned;
use syn::{Error, Pat, Result, ReturnType};

use super::items::Items;
use super::unsupported;
use stratape_ir::Type;

/// Refuses what no gradient can be made of.
pub(super) fn check(sig: &syn::Signature) -> Result<()> {
    if let Some(token) = &sig.asyncness {
        return Err(unsupported(token.span(), "`async` functions", "make it a plain function"));
    }
    if let Some(param) =
        sig.generics.params.iter().find(|param| !matches!(param, syn::GenericParam::Lifetime(_)))
    {
        return Err(unsupported(
            param.span(),
            "generic functions",
            "write the function for `f64` or `f32`, or name the type with an alias",
        ));
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        return Err(unsupported(token.span(), "`unsafe` functions", "make it a safe function"));
    }
    if let Some(abi) = &sig.abi {
        return Err(unsupported(abi.span(), "`extern` functions", "wrap it in a plain function"));
    }
    Ok(())
}

/// The name of a parameter.
pub(super) fn param_name(input: &syn::PatType) -> Result<(syn::Ident, bool)> {
    match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
            Ok((pat.ident.clone(), pat.mutability.is_some()))
        }
        pat => Err(unsupported(
            pat.span(),
            "patterns as parameters",
            "give the parameter a name, and take it apart with `let` in the body",
        )),
    }
}

/// The type a function under `#[gradient]` returns; `None` for `()`.
pub(super) fn output(sig: &syn::Signature, module: &Items) -> Result<Option<Type>> {
    let ReturnType::Type(_, ty) = &sig.output else { return Ok(None) };
    if matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty()) {
        return Ok(None);
    }
    let written = module.read_type(ty)?;
    match (&written.ty, written.reference) {
        (Type::Scalar(scalar), None) if scalar.is_float() => Ok(Some(written.ty)),
        _ => Err(Error::new(
            ty.span(),
            "`#[gradient]` differentiates functions that return `f64`, `f32` or nothing: write several \
             results to a `&mut` parameter",
        )),
    }
}
