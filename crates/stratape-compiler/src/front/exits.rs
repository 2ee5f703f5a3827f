//! Which jumps leave a piece of syntax.

use crate::walk::visit::{self, Visit};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Stmt};

/// A jump out of the syntax looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Return,
    Break(Option<String>),
    Continue(Option<String>),
}

#[derive(Default)]
struct Finder {
    exits: Vec<Exit>,
    loops: Vec<Option<String>>,
    /// The labels of blocks around.
    blocks: Vec<String>,
}

impl Finder {
    fn inner_loop(&mut self, label: Option<&syn::Label>, visit: impl FnOnce(&mut Self)) {
        self.loops.push(label.map(|label| label.name.ident.to_string()));
        visit(self);
        self.loops.pop();
    }

    fn jump(&mut self, label: Option<&syn::Lifetime>, exit: fn(Option<String>) -> Exit) {
        let label = label.map(|label| label.ident.to_string());
        let stays = match &label {
            None => !self.loops.is_empty(),
            Some(name) => self.loops.contains(&label) || self.blocks.contains(name),
        };
        if !stays {
            self.exits.push(exit(label));
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Closure(_) => {}
            Expr::Return(inner) => {
                self.exits.push(Exit::Return);
                visit::visit_expr_return(self, inner);
            }
            Expr::Try(inner) => {
                self.exits.push(Exit::Return);
                visit::visit_expr_try(self, inner);
            }
            Expr::Block(inner) if inner.label.is_some() => {
                let label = inner.label.as_ref().map(|label| label.name.ident.to_string());
                self.blocks.extend(label);
                self.visit_block(&inner.block);
                self.blocks.pop();
            }
            Expr::Break(inner) => {
                self.jump(inner.label.as_ref(), Exit::Break);
                visit::visit_expr_break(self, inner);
            }
            Expr::Continue(inner) => self.jump(inner.label.as_ref(), Exit::Continue),
            Expr::ForLoop(inner) => {
                self.visit_expr(&inner.expr);
                self.inner_loop(inner.label.as_ref(), |me| me.visit_block(&inner.body));
            }
            Expr::While(inner) => {
                self.inner_loop(inner.label.as_ref(), |me| {
                    me.visit_expr(&inner.cond);
                    me.visit_block(&inner.body);
                });
            }
            Expr::Loop(inner) => {
                self.inner_loop(inner.label.as_ref(), |me| me.visit_block(&inner.body));
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The jumps that leave a block.
pub(super) fn of_block(block: &syn::Block) -> Vec<Exit> {
    let mut finder = Finder::default();
    finder.visit_block(block);
    finder.exits
}

/// The jumps that leave an expression.
pub(super) fn of_expr(expr: &Expr) -> Vec<Exit> {
    let mut finder = Finder::default();
    finder.visit_expr(expr);
    finder.exits
}

/// The jumps that leave a statement.
pub(super) fn of_stmt(stmt: &Stmt) -> Vec<Exit> {
    let mut finder = Finder::default();
    finder.visit_stmt(stmt);
    finder.exits
}

/// Whether a block returns something before its end.
pub(super) fn returns_value(block: &syn::Block) -> bool {
    returns(block).iter().any(|(_, value)| *value)
}

/// Where a block first returns.
pub(super) fn first_return(block: &syn::Block) -> Option<Span> {
    returns(block).first().map(|(span, _)| *span)
}

/// Where a block returns, and whether with a value.
fn returns(block: &syn::Block) -> Vec<(Span, bool)> {
    struct Returns(Vec<(Span, bool)>);
    impl<'ast> Visit<'ast> for Returns {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Closure(_) => {}
                Expr::Return(inner) => {
                    self.0.push((inner.return_token.span(), inner.expr.is_some()));
                    visit::visit_expr_return(self, inner);
                }
                Expr::Try(inner) => {
                    self.0.push((inner.question_token.span(), true));
                    visit::visit_expr_try(self, inner);
                }
                _ => visit::visit_expr(self, expr),
            }
        }

        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut returns = Returns(Vec::new());
    returns.visit_block(block);
    returns.0
}

/// Whether a loop or block is left by `break` with a value.
pub(super) fn breaks_with_value(block: &syn::Block, label: Option<&str>, is_loop: bool) -> bool {
    struct Breaks<'a> {
        label: Option<&'a str>,
        /// How many loops are between here and there; a block is left by its label alone.
        depth: usize,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Breaks<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Closure(_) => {}
                Expr::Break(node) => {
                    let mine = match &node.label {
                        None => self.depth == 0,
                        Some(label) => Some(label.ident.to_string().as_str()) == self.label,
                    };
                    self.found |= mine && node.expr.is_some();
                    visit::visit_expr_break(self, node);
                }
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                    self.depth += 1;
                    visit::visit_expr(self, expr);
                    self.depth -= 1;
                }
                _ => visit::visit_expr(self, expr),
            }
        }

        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut breaks = Breaks { label, depth: usize::from(!is_loop), found: false };
    breaks.visit_block(block);
    breaks.found
}

/// Whether control never reaches the end of a block, as can be seen from its last statement.
pub(super) fn diverges(block: &syn::Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(expr, _)) => expr_diverges(expr),
        Some(Stmt::Macro(stmt)) => {
            stmt.mac.path.is_ident("panic") || stmt.mac.path.is_ident("unreachable")
        }
        _ => false,
    }
}

fn expr_diverges(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Macro(mac) => mac.mac.path.is_ident("panic") || mac.mac.path.is_ident("unreachable"),
        Expr::Block(block) => diverges(&block.block),
        Expr::If(branch) => {
            diverges(&branch.then_branch)
                && branch.else_branch.as_ref().is_some_and(|(_, other)| expr_diverges(other))
        }
        _ => false,
    }
}
