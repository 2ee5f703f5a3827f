//! Makes a program that fails smaller, as long as it still fails.
//!
//! Edits are tried one after the other: a statement is dropped, a branch is replaced by its
//! first block, an expression by one of its operands or by a number. Most results are not
//! programs any more; the caller's judgement must not take their errors for the failure.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, File, Item, Stmt};

/// The smallest program found for which `fails` holds.
pub(crate) fn shrink(source: &str, fails: &dyn Fn(&str) -> bool) -> String {
    let Ok(mut best) = syn::parse_file(source) else { return source.to_owned() };
    let mut improved = true;
    while improved {
        improved = false;
        let mut at = 0;
        loop {
            let mut candidate = best.clone();
            let mut edit = Edit { countdown: at, done: false };
            edit.visit_file_mut(&mut candidate);
            if !edit.done {
                break;
            }
            if candidate != best && fails(&text(&candidate)) {
                best = candidate;
                improved = true;
            } else {
                at += 1;
            }
        }
    }
    text(&best)
}

/// Every program that one edit makes of another, those first that leave out most.
pub(crate) fn candidates(source: &str) -> Vec<String> {
    let Ok(file) = syn::parse_file(source) else { return Vec::new() };
    let mut found = Vec::new();
    for at in 0.. {
        let mut candidate = file.clone();
        let mut edit = Edit { countdown: at, done: false };
        edit.visit_file_mut(&mut candidate);
        if !edit.done {
            break;
        }
        if candidate != file {
            found.push(text(&candidate));
        }
    }
    found.sort_by_key(String::len);
    found
}

fn text(file: &File) -> String {
    prettyplease::unparse(file)
}

/// Makes the edit with a given number.
struct Edit {
    countdown: usize,
    done: bool,
}

impl Edit {
    fn now(&mut self) -> bool {
        if self.done {
            return false;
        }
        self.done = self.countdown == 0;
        self.countdown = self.countdown.saturating_sub(1);
        self.done
    }
}

impl VisitMut for Edit {
    fn visit_file_mut(&mut self, file: &mut File) {
        for i in 0..file.items.len() {
            let is_program = matches!(&file.items[i], Item::Fn(f) if f.sig.ident == "program");
            if !is_program && file.items.len() > 1 && self.now() {
                file.items.remove(i);
                return;
            }
        }
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        for i in (0..block.stmts.len()).rev() {
            if self.now() {
                block.stmts.remove(i);
                return;
            }
            let inner = match &block.stmts[i] {
                Stmt::Expr(Expr::If(node), _) => Some(node.then_branch.stmts.clone()),
                Stmt::Expr(Expr::Block(node), _) => Some(node.block.stmts.clone()),
                Stmt::Expr(Expr::Match(node), _) => match node.arms.first().map(|arm| &*arm.body) {
                    Some(Expr::Block(body)) => Some(body.block.stmts.clone()),
                    _ => None,
                },
                _ => None,
            };
            if let Some(inner) = inner
                && self.now()
            {
                block.stmts.splice(i..=i, inner);
                return;
            }
        }
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_if_mut(&mut self, node: &mut syn::ExprIf) {
        if node.else_branch.is_some() && self.now() {
            node.else_branch = None;
            return;
        }
        visit_mut::visit_expr_if_mut(self, node);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.done {
            return;
        }
        let mut smaller: Vec<Expr> = Vec::new();
        match &*expr {
            Expr::Binary(node) => smaller.extend([(*node.left).clone(), (*node.right).clone()]),
            Expr::MethodCall(node) => {
                smaller.push((*node.receiver).clone());
                smaller.extend(node.args.iter().cloned());
            }
            Expr::Call(node) => smaller.extend(node.args.iter().cloned()),
            Expr::Unary(node) => smaller.push((*node.expr).clone()),
            Expr::Paren(node) => smaller.push((*node.expr).clone()),
            Expr::Block(node) => {
                if let Some(Stmt::Expr(value, None)) = node.block.stmts.last() {
                    smaller.push(value.clone());
                }
            }
            Expr::If(node) => {
                if let Some(Stmt::Expr(value, None)) = node.then_branch.stmts.last() {
                    smaller.push(value.clone());
                }
            }
            Expr::Match(node) => smaller.extend(node.arms.iter().map(|arm| (*arm.body).clone())),
            _ => {}
        }
        if !matches!(expr, Expr::Lit(_) | Expr::Path(_) | Expr::Range(_) | Expr::Assign(_)) {
            smaller.extend(syn::parse_str("0.5").ok());
            smaller.extend(syn::parse_str("true").ok());
            smaller.extend(syn::parse_str("0").ok());
        }
        for candidate in smaller {
            if self.now() {
                *expr = candidate;
                return;
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}
