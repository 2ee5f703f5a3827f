//! Statements in which something is evaluated after a part that may jump away.
//!
//! After `?` or `return` has jumped, nothing more of the statement may run. So the parts of an expression up to the last that may
//! jump become statements of their own, in the order of evaluation; what follows a statement is guarded already (`block.rs`):
//!
//! ```text
//! let y = f(a)? + g(b)?;   →   let t0 = f(a)?; let t1 = g(b)?; let y = t0 + t1;
//! ```

use crate::walk::visit::{self, Visit};
use quote::{ToTokens, format_ident};
use syn::{Expr, Stmt};

use super::exits;
use super::matching::{conjuncts, has_let};

/// The statements that stand for one, if it has to be taken apart.
pub(super) fn taken_apart(stmt: &Stmt, names: &mut usize) -> Option<Vec<Stmt>> {
    let mut stmt = stmt.clone();
    let expr = match &mut stmt {
        Stmt::Expr(expr, _) => expr,
        Stmt::Local(local) => &mut *local.init.as_mut()?.expr,
        _ => return None,
    };
    let mut before = Vec::new();
    lift(expr, names, &mut before);
    if before.is_empty() {
        return None;
    }
    before.push(stmt);
    Some(before)
}

/// Moves the operands of an expression up to the last that may jump in front of it.
fn lift(expr: &mut Expr, names: &mut usize, before: &mut Vec<Stmt>) {
    let mut operands = operands(expr);
    let jumps = |expr: &Expr| !exits::of_expr(expr).is_empty();
    let Some(last) = operands.iter().rposition(|operand| jumps(operand)) else { return };
    let changes = operands[..=last].iter().any(|operand| assigns(operand));
    for (index, operand) in operands.iter_mut().take(last + 1).enumerate() {
        lift(operand, names, before);
        let stays = match &**operand {
            operand if jumps(operand) => false,
            _ if index == last => true,
            Expr::Lit(_) | Expr::Closure(_) => true,
            operand => is_place(operand) && !changes,
        };
        if !stays {
            let name = format_ident!("__lifted{}", *names);
            *names += 1;
            let value = std::mem::replace(&mut **operand, syn::parse_quote!(#name));
            before.push(syn::parse_quote!(let #name = #value;));
        }
    }
}

/// What is evaluated before an expression itself, always and in this order.
fn operands(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::Paren(node) => operands(&mut node.expr),
        Expr::Group(node) => operands(&mut node.expr),
        Expr::Unary(node) => vec![&mut *node.expr],
        Expr::Cast(node) => vec![&mut *node.expr],
        Expr::Field(node) => within_place(&mut node.base),
        Expr::Reference(node) => within_place(&mut node.expr),
        Expr::Try(node) => vec![&mut *node.expr],
        Expr::Repeat(node) => vec![&mut *node.expr],
        Expr::Assign(node) => {
            let mut all = vec![&mut *node.right];
            all.extend(within_place(&mut node.left));
            all
        }
        Expr::Match(node) => vec![&mut *node.expr],
        Expr::ForLoop(node) => vec![&mut *node.expr],
        Expr::Index(node) => {
            let mut all = within_place(&mut node.expr);
            all.push(&mut node.index);
            all
        }
        Expr::Tuple(node) => node.elems.iter_mut().collect(),
        Expr::Array(node) => node.elems.iter_mut().collect(),
        Expr::Call(node) => node.args.iter_mut().collect(),
        Expr::Struct(node) => node.fields.iter_mut().map(|field| &mut field.expr).collect(),
        Expr::MethodCall(node) => {
            let mut all = within_place(&mut node.receiver);
            all.extend(node.args.iter_mut());
            all
        }
        Expr::Return(node) => node.expr.iter_mut().map(|expr| &mut **expr).collect(),
        Expr::Break(node) => node.expr.iter_mut().map(|expr| &mut **expr).collect(),
        Expr::Range(node) => {
            let ends = node.start.iter_mut().chain(node.end.iter_mut());
            ends.map(|expr| &mut **expr).collect()
        }
        Expr::Binary(node) => match node.op {
            syn::BinOp::And(_) | syn::BinOp::Or(_) => Vec::new(),
            // For numbers, Rust evaluates the right side of `a += b` first.
            op if op.to_token_stream().to_string().ends_with('=')
                && !matches!(
                    op,
                    syn::BinOp::Eq(_) | syn::BinOp::Le(_) | syn::BinOp::Ge(_) | syn::BinOp::Ne(_)
                ) =>
            {
                let mut all = vec![&mut *node.right];
                all.extend(within_place(&mut node.left));
                all
            }
            _ => vec![&mut *node.left, &mut *node.right],
        },
        Expr::If(node) => match &mut *node.cond {
            Expr::Let(node) => vec![&mut *node.expr],
            condition if has_let(condition) => Vec::new(),
            condition => vec![condition],
        },
        _ => Vec::new(),
    }
}

/// What is evaluated to find a place; a place itself is not read, and stays where it is. Anything else is an operand.
fn within_place(expr: &mut Expr) -> Vec<&mut Expr> {
    let inner = match expr {
        Expr::Path(_) => return Vec::new(),
        Expr::Index(_) | Expr::Field(_) => return operands(expr),
        Expr::Paren(_) => true,
        Expr::Unary(node) => matches!(node.op, syn::UnOp::Deref(_)),
        _ => false,
    };
    match (inner, expr) {
        (true, Expr::Paren(node)) => within_place(&mut node.expr),
        (true, Expr::Unary(node)) => within_place(&mut node.expr),
        (_, other) => vec![other],
    }
}

/// Whether an expression is a variable or a part of one.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Field(node) => is_place(&node.base),
        Expr::Paren(node) => is_place(&node.expr),
        Expr::Reference(node) => is_place(&node.expr),
        _ => false,
    }
}

/// Whether an expression may change a variable.
fn assigns(expr: &Expr) -> bool {
    struct Assigns(bool);
    impl<'ast> Visit<'ast> for Assigns {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= match expr {
                Expr::Assign(_) | Expr::Macro(_) => true,
                Expr::Reference(node) => node.mutability.is_some(),
                Expr::Binary(node) => {
                    let op = node.op.to_token_stream().to_string();
                    op.ends_with('=') && !matches!(op.as_str(), "==" | "<=" | ">=" | "!=")
                }
                // A method may change what it is called on.
                Expr::MethodCall(_) => true,
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let mut assigns = Assigns(false);
    assigns.visit_expr(expr);
    assigns.0
}

/// A condition joined by `&&` with a `let`, after the first, that may jump.
pub(super) fn jumps_in_chain(condition: &Expr) -> Option<&Expr> {
    let mut all = Vec::new();
    conjuncts(condition, &mut all);
    let later = if has_let(condition) { all.into_iter().skip(1).collect() } else { Vec::new() };
    later.into_iter().find(|condition: &&Expr| !exits::of_expr(condition).is_empty())
}
