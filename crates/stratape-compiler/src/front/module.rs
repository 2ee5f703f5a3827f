//! What the compiler can see beside the function: structs, enums, constants, aliases, helper
//! functions and methods of its module.

use std::collections::HashMap;
use std::rc::Rc;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Error, Expr, Item, Result};

use super::naming::NamesSelf;
use crate::ir::{Extent, Float, Int, Scalar, Struct, Type};

/// The items of a module.
#[derive(Debug, Default)]
pub struct Module {
    pub(super) structs: HashMap<String, Rc<Struct>>,
    pub(super) enums: HashMap<String, Vec<String>>,
    pub(super) constants: HashMap<String, syn::ItemConst>,
    pub(super) functions: HashMap<String, Rc<syn::ItemFn>>,
    pub(super) methods: HashMap<(String, String), Rc<syn::ImplItemFn>>,
    pub(super) associated_constants: HashMap<(String, String), syn::ImplItemConst>,
    aliases: HashMap<String, syn::Type>,
    /// Functions the compiler does not look into, and the pullbacks of those that have one.
    pub(super) opaque: HashMap<String, Option<syn::Ident>>,
    /// Whether everything the function may call is here.
    pub(super) complete: bool,
}

/// A type as it is written: what it is, and whether behind a reference.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) ty: Type,
    pub(super) reference: Option<bool>,
}

impl Module {
    /// Nothing but the function itself.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Nothing but the function itself, which may call itself.
    pub fn alone(function: &syn::ItemFn) -> Self {
        let functions =
            HashMap::from([(function.sig.ident.to_string(), Rc::new(function.clone()))]);
        Self { functions, ..Self::default() }
    }

    /// The function with a name.
    pub(crate) fn function(&self, name: &str) -> Option<Rc<syn::ItemFn>> {
        self.functions.get(name).cloned()
    }

    /// Collects the items of a module.
    ///
    /// # Errors
    /// A struct with a type outside the language.
    pub fn collect(items: &[Item]) -> Result<Self> {
        let mut module = Self { complete: true, ..Self::default() };
        for item in items {
            match item {
                Item::Type(alias) => {
                    module.aliases.insert(alias.ident.to_string(), (*alias.ty).clone());
                }
                Item::Const(constant) => {
                    module.constants.insert(constant.ident.to_string(), constant.clone());
                }
                Item::Enum(def) if def.variants.iter().all(|v| v.fields.is_empty()) => {
                    let variants = def.variants.iter().map(|v| v.ident.to_string()).collect();
                    module.enums.insert(def.ident.to_string(), variants);
                }
                Item::Fn(function) => {
                    module.note_opaque(function)?;
                    module
                        .functions
                        .insert(function.sig.ident.to_string(), Rc::new(function.clone()));
                }
                Item::Impl(block) if block.trait_.is_none() => module.collect_impl(block),
                _ => {}
            }
        }
        // A struct may hold another that is declared later: go round until nothing new is found.
        let mut left: Vec<&syn::ItemStruct> = items
            .iter()
            .filter_map(|item| match item {
                Item::Struct(def) if def.generics.params.is_empty() => Some(def),
                _ => None,
            })
            .collect();
        while !left.is_empty() {
            let before = left.len();
            let mut failed = None;
            left.retain(|def| match module.read_struct(def) {
                Ok(read) => {
                    module.structs.insert(read.name.clone(), Rc::new(read));
                    false
                }
                Err(error) => {
                    failed = Some(error);
                    true
                }
            });
            if left.len() == before {
                // Used nowhere, it does no harm; where it is used, its name will be unknown.
                drop(failed);
                break;
            }
        }
        Ok(module)
    }

    /// Notes a function that is marked as constant, or as the pullback of another.
    fn note_opaque(&mut self, function: &syn::ItemFn) -> Result<()> {
        for attribute in &function.attrs {
            let Some(name) =
                attribute.path().segments.last().map(|segment| segment.ident.to_string())
            else {
                continue;
            };
            match name.as_str() {
                "constant" => {
                    self.opaque.insert(function.sig.ident.to_string(), None);
                }
                "pullback" => {
                    let of = pullback_of(attribute)?;
                    self.opaque.insert(of.to_string(), Some(function.sig.ident.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn collect_impl(&mut self, block: &syn::ItemImpl) {
        let owner = block.self_ty.to_token_stream().to_string();
        for item in &block.items {
            match item {
                syn::ImplItem::Fn(method) => {
                    let mut method = method.clone();
                    NamesSelf { owner: &owner }.visit_impl_item_fn_mut(&mut method);
                    let key = (owner.clone(), method.sig.ident.to_string());
                    self.methods.insert(key, Rc::new(method));
                }
                syn::ImplItem::Const(constant) => {
                    let mut constant = constant.clone();
                    NamesSelf { owner: &owner }.visit_impl_item_const_mut(&mut constant);
                    let key = (owner.clone(), constant.ident.to_string());
                    self.associated_constants.insert(key, constant);
                }
                _ => {}
            }
        }
    }

    fn read_struct(&self, def: &syn::ItemStruct) -> Result<Struct> {
        let mut fields = Vec::new();
        for (position, field) in def.fields.iter().enumerate() {
            let name =
                field.ident.as_ref().map_or_else(|| position.to_string(), ToString::to_string);
            let written = self.read_type(&field.ty)?;
            if written.reference.is_some() {
                return Err(Error::new(field.ty.span(), "a field behind a reference"));
            }
            fields.push((name, written.ty));
        }
        let tuple = matches!(def.fields, syn::Fields::Unnamed(_));
        Ok(Struct { name: def.ident.to_string(), fields, tuple })
    }

    /// Reads a type.
    pub(super) fn read_type(&self, ty: &syn::Type) -> Result<Written> {
        let plain = |ty| Written { ty, reference: None };
        match ty {
            syn::Type::Paren(inner) => self.read_type(&inner.elem),
            syn::Type::Group(inner) => self.read_type(&inner.elem),
            syn::Type::Reference(reference) => {
                let inner = self.read_type(&reference.elem)?;
                if inner.reference.is_some() {
                    return Err(Error::new(
                        ty.span(),
                        "a reference to a reference is not supported: pass the inner reference",
                    ));
                }
                Ok(Written { ty: inner.ty, reference: Some(reference.mutability.is_some()) })
            }
            syn::Type::Slice(slice) => Ok(plain(Type::Slice(Box::new(self.owned(&slice.elem)?)))),
            syn::Type::Array(array) => {
                let extent = self.extent(&array.len);
                Ok(plain(Type::Array(Box::new(self.owned(&array.elem)?), extent)))
            }
            syn::Type::Tuple(tuple) => {
                let items =
                    tuple.elems.iter().map(|item| self.owned(item)).collect::<Result<_>>()?;
                Ok(plain(Type::Tuple(items)))
            }
            syn::Type::Path(path) => self.read_path(path),
            _ => Err(Error::new(
                ty.span(),
                "this type is not supported here: use floats, integers, bool, slices, arrays, tuples, \
                 `Vec`, or structs of a `#[stratape::differentiable]` module",
            )),
        }
    }

    /// The type of a helper's parameter or result; nothing where only the compiler's own
    /// reading of the body can tell, as for closures and for references inside tuples.
    pub(super) fn read_helper_type(&self, ty: &syn::Type) -> Result<Option<Written>> {
        match ty {
            syn::Type::ImplTrait(_) | syn::Type::Infer(_) => Ok(None),
            syn::Type::Reference(reference)
                if matches!(*reference.elem, syn::Type::TraitObject(_)) =>
            {
                Ok(None)
            }
            syn::Type::Tuple(tuple) => {
                for item in &tuple.elems {
                    match self.read_helper_type(item)? {
                        Some(Written { reference: None, .. }) => {}
                        _ => return Ok(None),
                    }
                }
                self.read_type(ty).map(Some)
            }
            _ => self.read_type(ty).map(Some),
        }
    }

    fn owned(&self, ty: &syn::Type) -> Result<Type> {
        let written = self.read_type(ty)?;
        match written.reference {
            None => Ok(written.ty),
            Some(_) => Err(Error::new(
                ty.span(),
                "references inside other types are not supported: pass a flat slice, or own the data",
            )),
        }
    }

    fn read_path(&self, path: &syn::TypePath) -> Result<Written> {
        let span = path.span();
        let plain = |ty| Ok(Written { ty, reference: None });
        let Some(segment) = path.path.segments.last() else {
            return Err(Error::new(span, "a type was expected"));
        };
        let name = segment.ident.to_string();
        if name == "Vec"
            && let syn::PathArguments::AngleBracketed(args) = &segment.arguments
            && let Some(syn::GenericArgument::Type(item)) = args.args.first()
        {
            if matches!(item, syn::Type::Infer(_)) {
                return Err(Error::new(
                    item.span(),
                    "name the type of the elements, as in `Vec<f64>`",
                ));
            }
            return plain(Type::Vec(Box::new(self.owned(item)?)));
        }
        if let Some(scalar) = scalar_named(&name) {
            return plain(Type::Scalar(scalar));
        }
        if let Some(def) = self.structs.get(&name) {
            return plain(Type::Struct(def.clone()));
        }
        if self.enums.contains_key(&name) {
            return plain(Type::Enum(name));
        }
        if let Some(alias) = self.aliases.get(&name) {
            return self.read_type(alias);
        }
        Err(Error::new(
            span,
            if self.complete {
                format!(
                    "the type `{name}` is not one the compiler can look into: declare it in this module as \
                     a struct of floats, integers, arrays or `Vec`s, or as an enum without data"
                )
            } else {
                format!(
                    "the compiler does not know the type `{name}`: put it and the function into a \
                     `#[stratape::differentiable] mod`, where it can see both"
                )
            },
        ))
    }

    fn extent(&self, len: &Expr) -> Extent {
        match self.integer(len) {
            Some(n) => Extent::Known(n),
            None => Extent::Const(len.to_token_stream()),
        }
    }

    /// The number an integer constant expression stands for, as far as it can be seen.
    pub(super) fn integer(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(lit), .. }) => lit.base10_parse().ok(),
            Expr::Paren(inner) => self.integer(&inner.expr),
            Expr::Group(inner) => self.integer(&inner.expr),
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                self.integer(&self.constants.get(&name)?.expr)
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.integer(&binary.left)?, self.integer(&binary.right)?);
                match binary.op {
                    syn::BinOp::Add(_) => a.checked_add(b),
                    syn::BinOp::Sub(_) => a.checked_sub(b),
                    syn::BinOp::Mul(_) => a.checked_mul(b),
                    syn::BinOp::Div(_) => a.checked_div(b),
                    syn::BinOp::Rem(_) => a.checked_rem(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Follows an alias to the struct or enum it names.
    pub(super) fn type_name(&self, name: &str) -> String {
        match self.aliases.get(name) {
            Some(syn::Type::Path(path)) => path.path.segments.last().map_or_else(
                || name.to_owned(),
                |segment| self.type_name(&segment.ident.to_string()),
            ),
            _ => name.to_owned(),
        }
    }
}

/// The function that `#[pullback(of = f)]` names.
pub(crate) fn pullback_of(attribute: &syn::Attribute) -> Result<syn::Ident> {
    let wanted = "write the function it belongs to: `#[stratape::pullback(of = f)]`";
    let syn::Meta::List(list) = &attribute.meta else {
        return Err(Error::new(attribute.span(), wanted));
    };
    let parser = |input: syn::parse::ParseStream<'_>| {
        let key: syn::Ident = input.parse()?;
        if key != "of" {
            return Err(Error::new(key.span(), wanted));
        }
        input.parse::<syn::Token![=]>()?;
        input.parse::<syn::Ident>()
    };
    syn::parse::Parser::parse2(parser, list.tokens.clone())
        .map_err(|error| Error::new(error.span(), wanted))
}

/// The scalar type with a name.
pub(super) fn scalar_named(name: &str) -> Option<Scalar> {
    match name {
        "bool" => Some(Scalar::Bool),
        "f32" => Some(Scalar::Float(Float::F32)),
        "f64" => Some(Scalar::Float(Float::F64)),
        _ => Int::ALL.iter().find(|(_, text)| *text == name).map(|(int, _)| Scalar::Int(*int)),
    }
}
