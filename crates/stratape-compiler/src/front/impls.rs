//! What the `impl`s of a module give its types: methods, operators, constants, and what their traits supply.

use std::rc::Rc;

use crate::walk::visit_mut::VisitMut;

use super::certain;
use super::items::{Items, is_generic, type_text};
use super::naming::NamesSelf;
use crate::library;
use stratape_ir::Type;

/// An operator for a type on the left, found by that type and the method: the type on the right,
/// and the function.
#[derive(Clone, Debug)]
pub(super) struct Implementation {
    pub(super) right: String,
    pub(super) function: Rc<syn::ImplItemFn>,
    /// The parameters of the `impl`, and the type it is for.
    pub(super) params: Option<Rc<(syn::Generics, syn::Type)>>,
}

/// What follows the names of `Sum::sum` and `Product::product`, beside methods of these names.
pub(super) const SUMMED: &str = " of iterators";

impl Implementation {
    /// Whether a name is a type parameter of the `impl`.
    pub(super) fn has_param(&self, name: &str) -> bool {
        let params = self.params.iter().flat_map(|params| params.0.type_params());
        params.into_iter().any(|param| param.ident == name)
    }
}

impl Items {
    /// What the trait of an `impl` supplies.
    pub(super) fn collect_defaults(&mut self, block: &syn::ItemImpl) {
        let Some((path, _)) = &block.trait_ else { return };
        let name = path.segments.last().map(|last| last.ident.to_string());
        let Some(def) = name.and_then(|name| self.traits.get(&name)) else { return };
        let supplied = syn::ItemImpl { items: defaults(def, block), ..block.clone() };
        let known = (self.methods.clone(), self.associated_constants.clone());
        self.collect_impl(&supplied);
        self.methods.extend(known.0);
        self.associated_constants.extend(known.1);
    }

    pub(super) fn collect_impl(&mut self, block: &syn::ItemImpl) {
        // Numbers and lists have methods of the module's traits, under the names of their types.
        let owner = match self.read_type(&block.self_ty).map(|written| written.ty) {
            Ok(
                ty @ (Type::Scalar(_)
                | Type::Slice(_)
                | Type::Array(..)
                | Type::Vec(_)
                | Type::Tuple(_)),
            ) => ty.to_string(),
            _ => type_text(&block.self_ty),
        };
        let of_float = owner == "f64" || owner == "f32";
        let of_list = owner.starts_with('[') || owner.starts_with("Vec<");
        if let Some((path, _)) = &block.trait_
            && path.segments.last().is_some_and(|last| last.ident == "Clone")
            && !certain::copies(block)
        {
            let why = "has a `Clone` written by hand: derive it";
            self.refused.insert(owner.clone(), format!("`{owner}` {why}"));
        }
        let mut names = NamesSelf::new(&owner, block);
        let traits = block.trait_.as_ref().map(|(path, _)| operator_trait(path, &owner));
        let params = is_generic(&block.generics)
            .then(|| Rc::new((block.generics.clone(), (*block.self_ty).clone())));
        for item in &block.items {
            match item {
                syn::ImplItem::Fn(method) => {
                    let mut method = method.clone();
                    names.visit_impl_item_fn_mut(&mut method);
                    let _ = super::failures::without_errors_in(&mut method.sig, &mut method.block);
                    let key = (owner.clone(), method.sig.ident.to_string());
                    if let Some(params) = &params {
                        self.impl_params.insert(key.clone(), Rc::clone(params));
                    }
                    match &traits {
                        Some(Some(right)) => {
                            let one = Implementation {
                                right: right.clone(),
                                function: Rc::new(method),
                                params: params.clone(),
                            };
                            self.add_operator(key, one);
                        }
                        // What floats and lists have comes before what traits give them.
                        Some(None)
                            if (of_float && certain::floats_have(&key.1))
                                || (of_list && certain::lists_have(&key.1)) =>
                        {
                            if !certain::passes_on(&method) {
                                self.doubtful.insert(key.clone());
                                self.methods.insert(key, Rc::new(method));
                            }
                        }
                        // A type's own methods come before those of its traits.
                        Some(None) => {
                            self.note_method(&key, false);
                            let method = Rc::new(method);
                            self.note_trait_method(block, &key, &method);
                            self.note_blanket(block, &key);
                            if ["sum", "product"].contains(&key.1.as_str()) {
                                let of_iterators = (key.0.clone(), format!("{}{SUMMED}", key.1));
                                self.add_sum(of_iterators, &method);
                            }
                            self.methods.entry(key).or_insert(method);
                        }
                        None => {
                            self.note_method(&key, true);
                            self.methods.insert(key, Rc::new(method));
                        }
                    }
                }
                syn::ImplItem::Const(constant) => {
                    let mut constant = constant.clone();
                    names.visit_impl_item_const_mut(&mut constant);
                    let key = (owner.clone(), constant.ident.to_string());
                    if let Some(params) = &params {
                        self.impl_params.insert(key.clone(), Rc::clone(params));
                    }
                    self.add_constant(key, constant);
                }
                syn::ImplItem::Type(alias) => {
                    let key = (owner.clone(), alias.ident.to_string());
                    self.associated_types.insert(key, alias.ty.clone());
                }
                _ => {}
            }
        }
    }
}

/// What a trait supplies that an `impl` of it does not.
pub(crate) fn defaults(def: &syn::ItemTrait, block: &syn::ItemImpl) -> Vec<syn::ImplItem> {
    let has = |name: &syn::Ident| {
        block.items.iter().any(|item| match item {
            syn::ImplItem::Fn(method) => method.sig.ident == *name,
            syn::ImplItem::Const(constant) => constant.ident == *name,
            _ => false,
        })
    };
    let supplied = def.items.iter().filter_map(|item| match item {
        syn::TraitItem::Fn(method) if !has(&method.sig.ident) => {
            let (sig, body) = (&method.sig, method.default.as_ref()?);
            syn::parse2(quote::quote!(#sig #body)).ok()
        }
        syn::TraitItem::Const(constant) if !has(&constant.ident) => {
            let (name, ty, (_, value)) =
                (&constant.ident, &constant.ty, constant.default.as_ref()?);
            syn::parse2(quote::quote!(const #name: #ty = #value;)).ok()
        }
        _ => None,
    });
    supplied.collect()
}

/// The type on the right of an operator that a trait stands for, of an index, or of what is converted; `None` for other traits.
fn operator_trait(path: &syn::Path, owner: &str) -> Option<String> {
    let segment = path.segments.last()?;
    let name = segment.ident.to_string();
    let known = ["Add", "Sub", "Mul", "Div", "Rem", "Neg", "Not"].iter().any(|operator| {
        name.strip_prefix(operator).is_some_and(|rest| rest.is_empty() || rest == "Assign")
    }) || ["Index", "IndexMut", "From", "TryFrom"].contains(&name.as_str());
    // What the texts for other crates do differs by an argument, as operators do.
    let written = matches!(segment.arguments, syn::PathArguments::AngleBracketed(_));
    let known = known || (written && library::is_known(owner));
    known.then(|| match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => match args.args.first() {
            Some(syn::GenericArgument::Type(ty)) => match type_text(ty).as_str() {
                "Self" => owner.to_owned(),
                other => other.to_owned(),
            },
            _ => owner.to_owned(),
        },
        _ => owner.to_owned(),
    })
}
