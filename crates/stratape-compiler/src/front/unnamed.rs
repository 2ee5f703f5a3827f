//! Types of other modules that the code around a gradient has no name for.
//!
//! Such a struct is met only in the text of functions that were read from elsewhere. What is emitted holds it as a tuple; an enum is its number anyway.

use std::collections::HashSet;

use stratape_ir::{Function, Origin, Type};

use super::Items;
use super::generic::base_name;

impl Items {
    /// The number of a variant of an enum that has no name here; an error's text where its numbers are no plain literals.
    pub(super) fn unnamed_variant(
        &self,
        owner: &str,
        variant: &str,
    ) -> Option<Result<isize, String>> {
        if !self.unnamed.contains(owner) {
            return None;
        }
        let number = self.discriminants.get(owner).and_then(|all| {
            let at = self.enums.get(owner)?.iter().position(|known| known == variant)?;
            all.get(at).copied()
        });
        Some(number.ok_or_else(|| {
            format!("the numbers of `{owner}` are not literals: import it where the gradient is, and name it there")
        }))
    }
}

/// The numbers of an enum's variants, if they are written as literals or not at all.
pub(super) fn discriminants(def: &syn::ItemEnum) -> Option<Vec<isize>> {
    let mut next: isize = 0;
    let mut all = Vec::new();
    for variant in &def.variants {
        if let Some((_, written)) = &variant.discriminant {
            next = literal(written)?;
        }
        all.push(next);
        next = next.checked_add(1)?;
    }
    Some(all)
}

fn literal(expr: &syn::Expr) -> Option<isize> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(lit), .. }) => lit.base10_parse().ok(),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
            literal(expr)?.checked_neg()
        }
        _ => None,
    }
}

/// Makes tuples of the structs that have no name here, but for those inside parameters.
pub(super) fn as_tuples(function: &mut Function, unnamed: &HashSet<String>) {
    if unnamed.is_empty() {
        return;
    }
    let mut given = HashSet::new();
    for object in function.objects.iter().filter(|object| object.origin != Origin::Local) {
        structs(&object.ty, &mut given);
    }
    let turns = |name: &str| unnamed.contains(base_name(name)) && !given.contains(base_name(name));
    for object in &mut function.objects {
        let ty = tupled(&object.ty, &turns);
        object.ty = ty;
    }
}

fn structs(ty: &Type, found: &mut HashSet<String>) {
    match ty {
        Type::Struct(def) => {
            found.insert(base_name(&def.name).to_owned());
            def.fields.iter().for_each(|(_, ty)| structs(ty, found));
        }
        Type::Tuple(items) => items.iter().for_each(|ty| structs(ty, found)),
        other => other.element().into_iter().for_each(|ty| structs(ty, found)),
    }
}

fn tupled(ty: &Type, turns: &dyn Fn(&str) -> bool) -> Type {
    let boxed = |item: &Type| Box::new(tupled(item, turns));
    match ty {
        Type::Struct(def) if turns(&def.name) => {
            Type::Tuple(def.fields.iter().map(|(_, ty)| tupled(ty, turns)).collect())
        }
        Type::Tuple(items) => Type::Tuple(items.iter().map(|ty| tupled(ty, turns)).collect()),
        Type::Array(item, extent) => Type::Array(boxed(item), extent.clone()),
        Type::Slice(item) => Type::Slice(boxed(item)),
        Type::Vec(item) => Type::Vec(boxed(item)),
        other => other.clone(),
    }
}
