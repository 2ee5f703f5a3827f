//! Which jumps leave a piece of syntax.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
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
            Some(_) => self.loops.contains(&label),
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
    returns(block).iter().any(|node| node.expr.is_some())
}

/// Where a block first returns.
pub(super) fn first_return(block: &syn::Block) -> Option<Span> {
    returns(block).first().map(|node| node.return_token.span())
}

fn returns(block: &syn::Block) -> Vec<&syn::ExprReturn> {
    struct Returns<'ast>(Vec<&'ast syn::ExprReturn>);
    impl<'ast> Visit<'ast> for Returns<'ast> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Closure(_) => {}
                Expr::Return(inner) => {
                    self.0.push(inner);
                    visit::visit_expr_return(self, inner);
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
