//! What can fail on a device: the gradient is left where it does, so that functions of the host are read as if nothing did.
//!
//! `?`, `unwrap`, and a `match` whose failure leaves the function are taken off; the result is what stands in `Ok(…)`.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::unsupported;
use crate::library;
use crate::walk::visit_mut::{self, VisitMut};

/// Methods and functions that return a `Result` of a device's error.
const FALLIBLE: [&str; 10] = [
    "upload",
    "zeros",
    "alloc_like",
    "download",
    "download_into",
    "write",
    "fill_zero",
    "copy_from",
    "synchronize",
    "new",
];

/// The type in a `Result` with an error of a device.
pub(crate) fn fallible(output: &syn::ReturnType) -> Option<&syn::Type> {
    let syn::ReturnType::Type(_, ty) = output else { return None };
    let syn::Type::Path(path) = &**ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match &arguments.args.iter().collect::<Vec<_>>()[..] {
        [syn::GenericArgument::Type(ty), syn::GenericArgument::Type(syn::Type::Path(error))] => {
            let name = error.path.segments.last()?.ident.to_string();
            let named = name.split("__at").next() == Some("GpuError");
            named.then_some(ty)
        }
        _ => None,
    }
}

/// A function in which what can fail on a device does not: the gradient is left where it does.
///
/// # Errors
/// Where a failure is handled otherwise than by leaving the function, or where its type is another.
pub(super) fn without_errors(item: &mut syn::ItemFn) -> Result<()> {
    without_errors_in(&mut item.sig, &mut item.block)
}

/// The same for a method.
pub(super) fn without_errors_in(sig: &mut syn::Signature, block: &mut syn::Block) -> Result<()> {
    let inner = fallible(&sig.output).cloned();
    if !library::names_devices(&sig.to_token_stream())
        && !library::names_devices(&block.to_token_stream())
    {
        return Ok(());
    }
    if let (None, syn::ReturnType::Type(_, ty)) = (&inner, &sig.output)
        && let syn::Type::Path(path) = &**ty
        && path.path.segments.last().is_some_and(|last| last.ident == "Result")
    {
        return Err(unsupported(
            ty.span(),
            "this error of a function that uses a device",
            "return `Result<f64, GpuError>`, and turn the error into another one in the function that calls it",
        ));
    }
    let mut unfailing = Unfailing { result: inner.is_some(), errors: Vec::new() };
    unfailing.visit_block_mut(block);
    if let Some(error) = unfailing.errors.into_iter().reduce(|mut all, one| {
        all.combine(one);
        all
    }) {
        return Err(error);
    }
    if let Some(inner) = inner {
        sig.output = match inner {
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => syn::ReturnType::Default,
            inner => syn::parse_quote!(-> #inner),
        };
    }
    Ok(())
}

struct Unfailing {
    /// Whether the function returns a `Result`.
    result: bool,
    errors: Vec<Error>,
}

impl VisitMut<'_> for Unfailing {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        // What zeros are, is written before them, after them, or nowhere: then it shows in no kernel that the compiler sees, and does not matter to any.
        if let syn::Pat::Type(pat) = &local.pat
            && let syn::Type::Path(path) = &*pat.ty
            && let Some(segment) = path.path.segments.last()
            && let [syn::GenericArgument::Type(item)] = &super::generic::arguments(segment)[..]
            && let Some(init) = &mut local.init
        {
            Zeros(item.clone()).visit_expr_mut(&mut init.expr);
        }
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        Zeros(syn::parse_quote!(f64)).write(call);
        visit_mut::visit_expr_method_call_mut(self, call);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let inner = match expr {
            Expr::Try(tried) if self.result => Some((*tried.expr).clone()),
            Expr::Call(call) if self.result && call.args.len() == 1 => match &*call.func {
                Expr::Path(path) if path.path.is_ident("Ok") => call.args.first().cloned(),
                _ => None,
            },
            Expr::MethodCall(call)
                if (call.method == "unwrap" || call.method == "expect")
                    && fails(&call.receiver) =>
            {
                Some((*call.receiver).clone())
            }
            Expr::Match(chosen) if fails(&chosen.expr) => Some(self.only_success(chosen)),
            Expr::If(branch) => match &*branch.cond {
                Expr::Let(tested) if fails(&tested.expr) => {
                    Some(self.failure_alone(branch, tested))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(inner) = inner {
            *expr = inner;
        }
    }
}

/// Whether a call can fail on a device.
fn fails(call: &Expr) -> bool {
    let name = match call {
        Expr::MethodCall(call) => call.method.to_string(),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => match path.path.segments.last() {
                Some(last) => last.ident.to_string(),
                None => return false,
            },
            _ => return false,
        },
        _ => return false,
    };
    FALLIBLE.contains(&name.as_str())
        || name == "launch"
        || name == "map"
        || library::is_known(&name)
}

/// Whether an expression leaves the function, or the program.
fn leaves(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) => true,
        Expr::Macro(call) => {
            let name = call.mac.path.segments.last().map(|last| last.ident.to_string());
            matches!(name.as_deref(), Some("panic" | "unreachable" | "todo" | "unimplemented"))
        }
        Expr::Block(block) => block.block.stmts.last().is_some_and(|last| match last {
            syn::Stmt::Expr(last, _) => leaves(last),
            syn::Stmt::Macro(call) => {
                let name = call.mac.path.segments.last().map(|last| last.ident.to_string());
                name.as_deref() == Some("panic")
            }
            _ => false,
        }),
        _ => false,
    }
}

/// What stands in `Ok(…)` or `Err(…)`.
fn inside<'p>(pat: &'p syn::Pat, name: &str) -> Option<&'p syn::Pat> {
    let syn::Pat::TupleStruct(pat) = pat else { return None };
    let named = pat.path.segments.last().is_some_and(|last| last.ident == name);
    pat.elems.first().filter(|_| named && pat.elems.len() == 1)
}

impl Unfailing {
    /// A `match` of what can fail, in which the failure leaves the function, as its success alone.
    fn only_success(&mut self, chosen: &syn::ExprMatch) -> Expr {
        let [a, b] = &chosen.arms[..] else { return self.refuse(&chosen.expr) };
        let (ok, err) = if inside(&a.pat, "Ok").is_some() { (a, b) } else { (b, a) };
        let fails = inside(&err.pat, "Err").is_some() || matches!(err.pat, syn::Pat::Wild(_));
        let Some(pat) = inside(&ok.pat, "Ok").filter(|_| fails && leaves(&err.body)) else {
            return self.refuse(&chosen.expr);
        };
        let (value, body) = (&chosen.expr, &ok.body);
        match pat {
            syn::Pat::Tuple(tuple) if tuple.elems.is_empty() => {
                syn::parse_quote!({ #value; #body })
            }
            pat => syn::parse_quote!({ let #pat = #value; #body }),
        }
    }

    /// `if let Err(…) = … { return … }` as what can fail alone.
    fn failure_alone(&mut self, branch: &syn::ExprIf, tested: &syn::ExprLet) -> Expr {
        let value = &tested.expr;
        let then = Expr::Block(syn::parse_quote!({}));
        let then = match &branch.then_branch.stmts[..] {
            [] => then,
            _ => Expr::Block(syn::ExprBlock {
                attrs: Vec::new(),
                label: None,
                block: branch.then_branch.clone(),
            }),
        };
        if inside(&tested.pat, "Err").is_none() || !leaves(&then) {
            return self.refuse(value);
        }
        match &branch.else_branch {
            None => syn::parse_quote!({ #value; }),
            Some((_, other)) => syn::parse_quote!({ #value; #other }),
        }
    }

    /// Notes that a failure is not left to the gradient.
    fn refuse(&mut self, call: &Expr) -> Expr {
        self.errors.push(unsupported(
            call.span(),
            "going on after a device has failed",
            "use `?`, `unwrap`, or `return` the error: the gradient is left with it",
        ));
        call.clone()
    }
}

/// Writes the type of zeros where it is not written.
struct Zeros(syn::Type);

impl Zeros {
    fn write(&self, call: &mut syn::ExprMethodCall) {
        if call.method == "zeros" && call.turbofish.is_none() && call.args.len() == 1 {
            let item = &self.0;
            call.turbofish = Some(syn::parse_quote!(::<#item>));
        }
    }
}

impl VisitMut<'_> for Zeros {
    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        self.write(call);
        visit_mut::visit_expr_method_call_mut(self, call);
    }
}
