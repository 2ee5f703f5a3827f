//! Items inside functions: they are read as if they stood beside the function.

use std::collections::HashSet;

use crate::walk::visit::{self, Visit};
use syn::{Error, Item, Result};

use super::unsupported;

/// The items in the bodies of functions, which no other item may share its name with.
pub(super) fn nested(items: &[Item]) -> Result<Vec<Item>> {
    struct Nested(Vec<Item>);
    impl<'ast> Visit<'ast> for Nested {
        fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
            if let syn::Stmt::Item(item) = stmt {
                self.0.push(item.clone());
            }
            visit::visit_stmt(self, stmt);
        }
    }
    let mut found = Nested(Vec::new());
    for item in items {
        if matches!(item, Item::Fn(_) | Item::Impl(_)) {
            found.visit_item(item);
        }
    }
    let mut names: HashSet<String> =
        items.iter().filter_map(name).map(ToString::to_string).collect();
    let mut kept = Vec::new();
    for item in found.0 {
        match name(&item) {
            Some(name) if !names.insert(name.to_string()) => return Err(twice(name)),
            Some(_) => kept.push(item),
            None if matches!(item, Item::Impl(_)) => kept.push(item),
            None => {}
        }
    }
    Ok(kept)
}

fn twice(name: &syn::Ident) -> Error {
    unsupported(name.span(), "two items of one name", "rename one of them")
}

fn name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        _ => None,
    }
}
