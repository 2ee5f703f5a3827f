//! Operators that a type has twice, for values and for references: `Mul<V> for V` and `Mul<&V> for &V`. One stands for both if they do the same,
//! or if one is made of the other.

use crate::walk::visit_mut::{self, VisitMut};
use quote::ToTokens;
use syn::Expr;

use super::operator;

/// What two implementations for the same types are to each other.
pub(super) enum Twins {
    /// They do the same, or the second calls the first.
    First,
    /// The first calls the second.
    Second,
    /// They differ.
    Different,
}

/// Compares two methods that differ in what is behind a reference.
pub(super) fn compare(first: &syn::ImplItemFn, second: &syn::ImplItemFn) -> Twins {
    match (Bare::of(first), Bare::of(second)) {
        (a, b) if a.text == b.text || b.passes_on => Twins::First,
        (a, _) if a.passes_on => Twins::Second,
        _ => Twins::Different,
    }
}

/// A method's body without references, and whether it does no more than call its twin.
struct Bare {
    text: String,
    passes_on: bool,
}

impl Bare {
    fn of(method: &syn::ImplItemFn) -> Self {
        let mut strip = Strip { other: name_of_other(method) };
        let mut block = method.block.clone();
        strip.visit_block_mut(&mut block);
        let passes_on = match &block.stmts[..] {
            [syn::Stmt::Expr(body, _)] => calls_twin(body, &method.sig.ident),
            _ => false,
        };
        Self { text: block.to_token_stream().to_string(), passes_on }
    }
}

/// The name of the last parameter.
fn name_of_other(method: &syn::ImplItemFn) -> Option<String> {
    match method.sig.inputs.last() {
        Some(syn::FnArg::Typed(input)) => match &*input.pat {
            syn::Pat::Ident(name) => Some(name.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a body is the operator, or the method, on the parameters themselves.
fn calls_twin(body: &Expr, method: &syn::Ident) -> bool {
    let is_param = |expr: &Expr| {
        matches!(expr, Expr::Path(path)
            if path.path.is_ident("self") || path.path.is_ident("other"))
    };
    match body {
        Expr::Binary(binary) => {
            let both = is_param(&binary.left) && is_param(&binary.right);
            both && method == operator::method_of(&binary.op)
        }
        Expr::Unary(unary) => {
            matches!(unary.op, syn::UnOp::Neg(_)) && method == "neg" && is_param(&unary.expr)
        }
        Expr::MethodCall(call) => {
            let twin = call.method == *method && call.args.iter().all(is_param);
            twin && (is_param(&call.receiver) || is_items(&call.receiver))
        }
        Expr::Call(call) => {
            let last = match &*call.func {
                Expr::Path(path) => path.path.segments.last(),
                _ => None,
            };
            last.is_some_and(|last| last.ident == *method) && call.args.iter().all(is_param)
        }
        _ => false,
    }
}

/// `iter.copied()`: the items of a parameter.
fn is_items(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call)
        if (call.method == "copied" || call.method == "cloned")
            && matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("other")))
}

/// Takes references, what follows them, and the name of the other parameter out of an expression.
struct Strip {
    other: Option<String>,
}

impl VisitMut<'_> for Strip {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let inner = match expr {
            Expr::Reference(inner) => &inner.expr,
            Expr::Paren(inner) if !matches!(*inner.expr, Expr::Binary(_)) => &inner.expr,
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr: inner, .. }) => inner,
            Expr::MethodCall(call) if call.method == "clone" && call.args.is_empty() => {
                &call.receiver
            }
            _ => return,
        };
        *expr = (**inner).clone();
    }

    fn visit_pat_mut(&mut self, pat: &mut syn::Pat) {
        visit_mut::visit_pat_mut(self, pat);
        if let syn::Pat::Reference(inner) = pat {
            *pat = (*inner.pat).clone();
        }
    }

    fn visit_ident_mut(&mut self, name: &mut syn::Ident) {
        if self.other.as_ref().is_some_and(|other| name == other) {
            *name = syn::Ident::new("other", name.span());
        }
    }
}
