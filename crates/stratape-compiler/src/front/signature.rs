//! What a function's signature must look like.

use quote::ToTokens;
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
    if let syn::Safety::Unsafe(token) = &sig.safety {
        return Err(unsupported(token.span(), "`unsafe` functions", "make it a safe function"));
    }
    if let Some(abi) = &sig.abi {
        return Err(unsupported(abi.span(), "`extern` functions", "wrap it in a plain function"));
    }
    Ok(())
}

/// Refuses a function under `#[gradient]` with a type parameter: there is one gradient, of one type.
pub(super) fn check_params(sig: &syn::Signature) -> Result<()> {
    match sig.generics.type_params().next() {
        Some(param) => {
            let name = &param.ident;
            Err(unsupported(
                param.span(),
                &format!("a type that is not named, `{name}`"),
                &format!("name it in the attribute, as in `#[gradient({name} = f64)]`"),
            ))
        }
        None => Ok(()),
    }
}

/// The name of a parameter, and whether it changes; one that is a pattern gets a name from where it stands.
pub(super) fn param_name(input: &syn::PatType, at: usize) -> (syn::Ident, Option<bool>) {
    match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
            (pat.ident.clone(), Some(pat.mutability.is_some()))
        }
        pat => (syn::Ident::new(&format!("argument{at}"), pat.span()), None),
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
        (Type::Slice(_), _) | (_, Some(_)) => Err(Error::new(
            ty.span(),
            "`#[gradient]` differentiates functions that return `f64`, `f32` or nothing: write the result \
             to a `&mut` parameter instead",
        )),
        (ty_read, _) if !ty_read.has_float() => Err(Error::new(
            ty.span(),
            "`#[gradient]` differentiates functions that return `f64`, `f32` or nothing: nothing depends smoothly on the arguments here",
        )),
        _ => {
            let ty_text = ty.to_token_stream().to_string().replace(" < ", "<").replace(" >", ">");
            let ty_text = ty_text.replace(" ;", ";").replace(" ,", ",");
            Err(Error::new(
                ty.span(),
                format!(
                    "`#[gradient]` differentiates functions that return `f64`, `f32` or nothing: return nothing, and write several \
                     results to a parameter, as in `result: &mut {ty_text}`"
                ),
            ))
        }
    }
}
