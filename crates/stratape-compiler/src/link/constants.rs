//! Constants that stand beside an item in its file: `const DIM: usize = 6;` above the module that uses it.
//!
//! An attribute sees the tokens it stands on, and `DIM` alone would be a number that nobody knows: a loop over it of any length, an array of it in
//! memory. Where the file shows what it is, its number is read in its place. What was read is asserted beside the item, so that rustc refuses
//! what would not be so. Constants inside a block are read in the same way, and need no assertion: nothing is between them and their uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::walk::visit::{self, Visit};
use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{BinOp, Expr, Item, Lit, UnOp, UseTree};

/// The constants of a module that are integers, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants(BTreeMap<String, (String, i128)>);

impl Constants {
    /// Those among the items of a module whose numbers can be worked out.
    pub fn of(items: &[Item]) -> Self {
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        let mut found = Vec::new();
        for item in items {
            if let Item::Const(item) = item {
                *named.entry(item.ident.to_string()).or_default() += 1;
                let inert = |one: &syn::Attribute| {
                    ["doc", "allow", "expect"].iter().any(|name| one.path().is_ident(name))
                };
                if item.attrs.iter().all(inert) && item.generics.params.is_empty() {
                    found.push(item);
                }
            }
        }
        let mut constants = Self::default();
        // One may be computed from others, wherever these stand.
        for _ in 0..found.len() {
            let before = constants.0.len();
            for item in &found {
                let (name, syn::Type::Path(ty)) = (item.ident.to_string(), &*item.ty) else {
                    continue;
                };
                let Some(ty) = ty.path.get_ident().map(ToString::to_string) else { continue };
                if named[&name] == 1
                    && let Some(range) = range(&ty)
                    && let Some(number) = constants.number(&item.expr)
                    && range.contains(&number)
                {
                    constants.0.insert(name, (ty, number));
                }
            }
            if constants.0.len() == before {
                break;
            }
        }
        constants
    }

    /// What an expression of integers is, if nothing in it could overflow.
    fn number(&self, expr: &Expr) -> Option<i128> {
        match expr {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(number) => number.base10_parse().ok(),
                _ => None,
            },
            Expr::Paren(inner) => self.number(&inner.expr),
            Expr::Block(inner) if inner.label.is_none() => match inner.block.stmts.as_slice() {
                [syn::Stmt::Expr(inner, None)] => self.number(inner),
                _ => None,
            },
            Expr::Group(inner) => self.number(&inner.expr),
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                self.0.get(&name).map(|(_, number)| *number)
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                self.number(&unary.expr)?.checked_neg()
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.number(&binary.left)?, self.number(&binary.right)?);
                match binary.op {
                    BinOp::Add(_) => a.checked_add(b),
                    BinOp::Sub(_) => a.checked_sub(b),
                    BinOp::Mul(_) => a.checked_mul(b),
                    BinOp::Div(_) => a.checked_div(b),
                    BinOp::Rem(_) => a.checked_rem(b),
                    BinOp::Shl(_) => u32::try_from(b)
                        .ok()
                        .filter(|by| *by < 63)
                        .and_then(|by| a.checked_mul(1 << by)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Those that a module sees of the module around it.
    fn seen_from(&self, items: &[Item]) -> Self {
        let mut own = BTreeSet::new();
        let (mut imported, mut all) = (BTreeSet::new(), false);
        for item in items {
            match item {
                Item::Use(item) => {
                    if let UseTree::Path(path) = &item.tree
                        && path.ident == "super"
                        && item.leading_colon.is_none()
                    {
                        imports(&path.tree, &mut imported, &mut all);
                    }
                }
                Item::Const(item) => drop(own.insert(item.ident.to_string())),
                Item::Static(item) => drop(own.insert(item.ident.to_string())),
                // What they bring is not known.
                Item::Macro(_) => return Self::default(),
                _ => {}
            }
        }
        let seen = |name: &String| imported.contains(name) || all && !own.contains(name);
        let seen = self.0.iter().filter(|(name, _)| seen(name));
        Self(seen.map(|(name, known)| (name.clone(), known.clone())).collect())
    }

    /// Puts numbers in the place of names in items, and of the constants of their own blocks; what is left to be asserted where the names are in sight.
    fn replace(&self, items: &mut [Item]) -> TokenStream {
        let mut used = BTreeSet::new();
        for item in items {
            let mut bound = Bound(BTreeSet::new());
            bound.visit_item(item);
            let mut known = self.clone();
            known.0.retain(|name, _| !bound.0.contains(name));
            let mut numbers = Numbers { constants: &known, used: BTreeSet::new() };
            numbers.visit_item_mut(item);
            used.append(&mut numbers.used);
        }
        let asserted = used.iter().filter_map(|name| {
            let (ty, number) = self.0.get(name)?;
            let (name, number) = (Ident::new(name, Span::call_site()), literal(ty, *number)?);
            let message = "stratape read another number for this constant: is it defined twice?";
            Some(quote!(
                const _: () = ::core::assert!(#name == #number, #message);
            ))
        });
        asserted.collect()
    }

    /// Replaces in an item that stands beside them.
    pub(crate) fn replace_in(&self, item: &mut Item) -> TokenStream {
        self.replace(std::slice::from_mut(item))
    }

    /// Replaces in the items of a module that stands beside them.
    pub(crate) fn replace_inside(&self, items: &mut [Item]) -> TokenStream {
        self.seen_from(items).replace(items)
    }
}

/// The names that a `use` of the module around brings.
fn imports(tree: &UseTree, names: &mut BTreeSet<String>, all: &mut bool) {
    match tree {
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Glob(_) => *all = true,
        UseTree::Group(group) => group.items.iter().for_each(|tree| imports(tree, names, all)),
        UseTree::Path(_) | UseTree::Rename(_) => {}
    }
}

/// The numbers of a type.
fn range(ty: &str) -> Option<std::ops::RangeInclusive<i128>> {
    Some(match ty {
        "u8" => 0..=u8::MAX.into(),
        "u16" => 0..=u16::MAX.into(),
        "u32" | "usize" => 0..=u32::MAX.into(),
        "u64" => 0..=u64::MAX.into(),
        "i8" => i8::MIN.into()..=i8::MAX.into(),
        "i16" => i16::MIN.into()..=i16::MAX.into(),
        "i32" | "isize" => i32::MIN.into()..=i32::MAX.into(),
        "i64" => i64::MIN.into()..=i64::MAX.into(),
        _ => return None,
    })
}

/// A number with its type, as an expression.
fn literal(ty: &str, number: i128) -> Option<Expr> {
    syn::parse_str(&format!("{number}{ty}")).ok()
}

/// Names that text binds itself, or gives to what it defines.
struct Bound(BTreeSet<String>);

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, pat: &syn::PatIdent) {
        self.0.insert(pat.ident.to_string());
        visit::visit_pat_ident(self, pat);
    }

    fn visit_type_param(&mut self, param: &syn::TypeParam) {
        self.0.insert(param.ident.to_string());
    }

    fn visit_const_param(&mut self, param: &syn::ConstParam) {
        self.0.insert(param.ident.to_string());
    }

    fn visit_block(&mut self, block: &syn::Block) {
        for stmt in &block.stmts {
            match stmt {
                syn::Stmt::Item(Item::Const(item)) => drop(self.0.insert(item.ident.to_string())),
                syn::Stmt::Item(Item::Static(item)) => drop(self.0.insert(item.ident.to_string())),
                _ => {}
            }
        }
        visit::visit_block(self, block);
    }
}

/// Puts numbers in the place of constants.
struct Numbers<'a> {
    constants: &'a Constants,
    used: BTreeSet<String>,
}

impl Numbers<'_> {
    fn of(&mut self, name: &Ident) -> Option<Expr> {
        let name = name.to_string();
        let (ty, number) = self.constants.0.get(&name)?;
        let literal = literal(ty, *number)?;
        self.used.insert(name);
        Some(literal)
    }

    /// In what a macro is handed that makes lists.
    fn tokens(&mut self, tokens: TokenStream) -> TokenStream {
        let mut out = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        let mut after = ' ';
        while let Some(token) = tokens.next() {
            let next = match tokens.peek() {
                Some(TokenTree::Punct(next)) => next.as_char(),
                Some(TokenTree::Group(_)) => '(',
                _ => ' ',
            };
            let last = match &token {
                TokenTree::Punct(punct) => punct.as_char(),
                _ => ' ',
            };
            match token {
                TokenTree::Ident(name)
                    if ![':', '.'].contains(&after) && ![':', '!', '('].contains(&next) =>
                {
                    match self.constants.0.get(&name.to_string()) {
                        Some((ty, number)) if *number >= 0 => {
                            self.used.insert(name.to_string());
                            let text = format!("{number}{ty}");
                            match text.parse::<Literal>() {
                                Ok(mut literal) => {
                                    literal.set_span(name.span());
                                    out.push(TokenTree::Literal(literal));
                                }
                                Err(_) => out.push(TokenTree::Ident(name)),
                            }
                        }
                        _ => out.push(TokenTree::Ident(name)),
                    }
                }
                TokenTree::Group(group) => {
                    let mut inner =
                        proc_macro2::Group::new(group.delimiter(), self.tokens(group.stream()));
                    inner.set_span(group.span());
                    out.push(TokenTree::Group(inner));
                }
                other => out.push(other),
            }
            after = last;
        }
        out.into_iter().collect()
    }
}

impl VisitMut<'_> for Numbers<'_> {
    /// The constants of a block are seen in all of it; a name that something else in it has, too, is left alone.
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        visit_mut::visit_block_mut(self, block);
        let (mut items, mut bound) = (Vec::new(), Bound(BTreeSet::new()));
        for stmt in &block.stmts {
            match stmt {
                syn::Stmt::Item(Item::Const(item)) => {
                    bound.visit_expr(&item.expr);
                    items.push(Item::Const(item.clone()));
                }
                stmt => bound.visit_stmt(stmt),
            }
        }
        let mut own = Constants::of(&items);
        own.0.retain(|name, _| !bound.0.contains(name));
        if !own.0.is_empty() {
            let mut numbers = Numbers { constants: &own, used: BTreeSet::new() };
            visit_mut::visit_block_mut(&mut numbers, block);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && path.qself.is_none()
            && let Some(name) = path.path.get_ident()
        {
            let span = name.span();
            if let Some(mut literal) = self.of(&name.clone()) {
                match &mut literal {
                    Expr::Lit(lit) => lit.lit.set_span(span),
                    // A negative number is an operation, which binds less than what may stand around it.
                    other => *other = Expr::Paren(syn::parse_quote!((#other))),
                }
                *expr = literal;
                return;
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut syn::GenericArgument) {
        if let syn::GenericArgument::Const(expr @ Expr::Block(_)) = argument {
            visit_mut::visit_expr_mut(self, expr);
            if let Some(number) = self.constants.number(expr)
                && let Ok(literal @ Expr::Lit(_)) = syn::parse_str(&number.to_string())
            {
                *expr = literal;
            }
            return;
        }
        if let syn::GenericArgument::Type(syn::Type::Path(path)) = argument
            && path.qself.is_none()
            && let Some(name) = path.path.get_ident()
            && let Some(literal @ Expr::Lit(_)) = self.of(&name.clone())
        {
            *argument = syn::GenericArgument::Const(literal);
            return;
        }
        visit_mut::visit_generic_argument_mut(self, argument);
    }

    fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
        if call.path.is_ident("vec") {
            call.tokens = self.tokens(std::mem::take(&mut call.tokens));
        }
        visit_mut::visit_macro_mut(self, call);
    }
}
