//! Which lists a body makes longer or shorter, assigns as wholes, and exchanges: found in its text, before it is lowered.

use std::collections::HashSet;

use crate::walk::visit::{self, Visit};
use syn::Expr;

/// Methods that change the length of a `Vec`.
pub(super) const LENGTH_METHODS: [&str; 22] = [
    "push",
    "pop",
    "extend",
    "extend_from_slice",
    "truncate",
    "clear",
    "resize",
    "append",
    "swap_remove",
    "insert",
    "remove",
    "retain",
    "retain_mut",
    "dedup",
    "dedup_by",
    "dedup_by_key",
    "drain",
    "split_off",
    "push_back",
    "push_front",
    "pop_back",
    "pop_front",
];

/// Methods that lend out a part of a value.
const IN_PLACE: [&str; 6] =
    ["as_mut", "as_deref_mut", "iter_mut", "insert", "get_or_insert", "get_or_insert_with"];

/// The variables and fields that hold such lists, by their names.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Their length changes.
    pub(super) resized: HashSet<String>,
    /// They are assigned or exchanged as wholes.
    pub(super) assigned: HashSet<String>,
    /// They are lent out as `&mut`.
    pub(super) lent: HashSet<String>,
    /// Whether parts of values are changed in their place: behind `&mut` in a pattern, `as_mut` and their like.
    pub(super) in_place: bool,
}

impl Moves {
    /// Those of a block.
    pub(super) fn of_block(block: &syn::Block) -> Self {
        let mut moves = Self::default();
        moves.visit_block(block);
        moves
    }

    /// Those of an expression.
    pub(super) fn of_expr(expr: &Expr) -> Self {
        let mut moves = Self::default();
        moves.visit_expr(expr);
        moves
    }

    /// Those of fields alone, in one block more.
    pub(super) fn add_fields_of(&mut self, block: &syn::Block) {
        struct Fields<'m>(&'m mut Moves);
        impl<'ast> Visit<'ast> for Fields<'_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::Assign(assign) if matches!(*assign.left, Expr::Field(_)) => {
                        self.0.assigned.extend(name_of(&assign.left));
                    }
                    Expr::MethodCall(call)
                        if matches!(*call.receiver, Expr::Field(_))
                            && LENGTH_METHODS.iter().any(|method| call.method == method) =>
                    {
                        self.0.resized.extend(name_of(&call.receiver));
                    }
                    _ => {}
                }
                visit::visit_expr(self, expr);
            }
        }
        Fields(self).visit_block(block);
    }

    /// Those of an assignment's left side.
    fn assign(&mut self, target: &Expr) {
        match target {
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|item| self.assign(item)),
            Expr::Array(array) => array.elems.iter().for_each(|item| self.assign(item)),
            target => self.assigned.extend(name_of(target)),
        }
    }
}

impl<'ast> Visit<'ast> for Moves {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(assign) => self.assign(&assign.left),
            Expr::Let(node) => self.in_place |= is_lent(&node.expr),
            Expr::Match(node) => self.in_place |= is_lent(&node.expr),
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                self.in_place |= IN_PLACE.contains(&method.as_str());
                if LENGTH_METHODS.contains(&method.as_str()) {
                    // What a call lends out has no name.
                    let lent = matches!(*call.receiver, Expr::MethodCall(_)).then(String::new);
                    self.resized.extend(name_of(&call.receiver).or(lent));
                }
                if method == "clone_from" {
                    self.assigned.extend(name_of(&call.receiver));
                }
                self.lent.extend(call.args.iter().filter_map(lent));
            }
            Expr::Call(call) => {
                let exchanges = matches!(&*call.func, Expr::Path(path)
                if path.path.segments.last().is_some_and(|last| {
                    ["swap", "take", "replace"].iter().any(|name| last.ident == name)
                }));
                if exchanges {
                    self.assigned.extend(call.args.iter().filter_map(name_of));
                } else {
                    self.lent.extend(call.args.iter().filter_map(lent));
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.in_place |= pat.by_ref.is_some() && pat.mutability.is_some();
        visit::visit_pat_ident(self, pat);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The variable or field that a place is.
fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => Some(name.to_string()),
            syn::Member::Unnamed(index) => Some(index.index.to_string()),
        },
        Expr::Paren(inner) => name_of(&inner.expr),
        Expr::Group(inner) => name_of(&inner.expr),
        Expr::Reference(inner) => name_of(&inner.expr),
        Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => name_of(&inner.expr),
        _ => None,
    }
}

fn lent(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Reference(inner) if inner.mutability.is_some() => name_of(&inner.expr),
        _ => None,
    }
}

fn is_lent(expr: &Expr) -> bool {
    matches!(expr, Expr::Reference(inner) if inner.mutability.is_some())
}
