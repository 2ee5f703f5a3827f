//! Types as they are written.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::call::DEPTH;
use super::choice::Choice;
use super::generic::{Visible, arguments, base_name};
use super::items::Items;
use crate::library;
use stratape_ir::{Extent, Float, Int, Scalar, Type};

const USE_TYPES: &str = "use floats, integers, bool, slices, arrays, tuples, `Vec`, or structs under \
                         `#[stratape::differentiable]`";

/// Types everyone knows, which no module of the user's could show to the compiler.
const LIBRARY_TYPES: [&str; 12] = [
    "String", "str", "char", "Box", "Rc", "Arc", "Cell", "RefCell", "HashMap", "BTreeMap",
    "HashSet", "BTreeSet",
];

/// The iterators of the library, whose types people write where a function returns one.
const LIBRARY_ITERATORS: [&str; 16] = [
    "IntoIter",
    "Iter",
    "IterMut",
    "Map",
    "Filter",
    "Zip",
    "Chain",
    "Rev",
    "Enumerate",
    "Take",
    "Skip",
    "Copied",
    "Cloned",
    "StepBy",
    "Chunks",
    "Windows",
];

/// A type as it is written: what it is, and whether behind a reference.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) ty: Type,
    pub(super) reference: Option<bool>,
}

impl Items {
    /// Reads a type outside of any function.
    pub(super) fn read_type(&self, ty: &syn::Type) -> Result<Written> {
        Visible::new(self).read_type(ty)
    }
}

impl Visible<'_> {
    /// Reads a type.
    pub(super) fn read_type(&self, ty: &syn::Type) -> Result<Written> {
        let plain = |ty| Written { ty, reference: None };
        match ty {
            syn::Type::Paren(inner) => self.read_type(&inner.elem),
            syn::Type::Group(inner) => self.read_type(&inner.elem),
            syn::Type::Reference(reference) => {
                let inner = self.read_type(&reference.elem)?;
                // A view is a reference already.
                if inner.reference.is_some() && library::dynamic(&inner.ty).is_some() {
                    return Ok(inner);
                }
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
            syn::Type::TraitObject(_) => Err(Error::new(
                ty.span(),
                "a trait object in a list, a field or a variable is not supported: make an enum with a variant for each type that implements \
                 the trait, and `match` in its methods",
            )),
            _ => {
                Err(Error::new(ty.span(), format!("this type is not supported here: {USE_TYPES}")))
            }
        }
    }

    /// The type of a helper's parameter or result; nothing where only the compiler's own
    /// reading of the body can tell, as for closures and for references inside tuples.
    pub(super) fn read_helper_type(&self, ty: &syn::Type) -> Result<Option<Written>> {
        if self.holds_unknown(ty) {
            return Ok(None);
        }
        match ty {
            syn::Type::ImplTrait(_) | syn::Type::Infer(_) | syn::Type::FnPtr(_) => Ok(None),
            // A struct without its arguments.
            syn::Type::Path(path)
                if path
                    .path
                    .get_ident()
                    .is_some_and(|name| self.generic_structs.contains_key(&name.to_string())) =>
            {
                Ok(None)
            }
            // An iterator of the library is what its methods are.
            syn::Type::Path(path) if self.is_library_iterator(path) => Ok(None),
            // How two values compare is what the body finds.
            syn::Type::Path(path) if self.is_ordering(path) => Ok(None),
            // A text is a number that stands for it.
            syn::Type::Path(path) if is_text(path) => Ok(None),
            // What they hold may be a reference, or a text.
            syn::Type::Path(path) if is_library_choice(path) => Ok(self.read_type(ty).ok()),
            syn::Type::TraitObject(_) => Ok(None),
            syn::Type::Paren(inner) => self.read_helper_type(&inner.elem),
            syn::Type::Reference(reference) => match self.read_helper_type(&reference.elem)? {
                None => Ok(None),
                Some(_) => self.read_type(ty).map(Some),
            },
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

    fn is_ordering(&self, path: &syn::TypePath) -> bool {
        path.path.segments.last().is_some_and(|last| last.ident == "Ordering")
            && !self.enums.contains_key("Ordering")
            && !self.choices.contains_key("Ordering")
    }

    /// Whether a type is one of the library's iterators.
    fn is_library_iterator(&self, path: &syn::TypePath) -> bool {
        let Some(last) = path.path.segments.last() else { return false };
        let name = last.ident.to_string();
        if self.structs.contains_key(&name) || self.generic_structs.contains_key(&name) {
            return false;
        }
        let boxed = matches!(
            arguments(last).first(),
            Some(syn::GenericArgument::Type(syn::Type::TraitObject(_)))
        );
        LIBRARY_ITERATORS.contains(&name.as_str()) || (name == "Box" && boxed)
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
        if let Some(ty) = self.type_param(&name).filter(|_| path.path.segments.len() == 1) {
            return plain(ty.clone());
        }
        if let Some(ty) = self.associated_type(path) {
            return self.read_type(&ty);
        }
        if let Some(def) = self.named_instance(segment)? {
            return plain(Type::Struct(def));
        }
        if (name == "Vec" || name == "VecDeque")
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
        if name == "Box"
            && let syn::PathArguments::AngleBracketed(args) = &segment.arguments
            && let Some(syn::GenericArgument::Type(item)) = args.args.first()
        {
            return match self.read_type(item)? {
                Written { ty: Type::Slice(item), reference: None } => plain(Type::Vec(item)),
                inner => Ok(inner),
            };
        }
        if let Some(scalar) = scalar_named(&name) {
            return plain(Type::Scalar(scalar));
        }
        if name == "PhantomData" && !self.structs.contains_key(&name) {
            return plain(Type::Tuple(Vec::new()));
        }
        if is_library_choice(path) {
            return plain(self.read_library_choice(segment)?);
        }
        if let Some(choice) = self.choices.get(&name) {
            let types = choice.variants.iter().flat_map(|variant| variant.types.clone());
            return plain(choice.typed(types.collect()));
        }
        if let Some(def) = self.structs.get(&name) {
            return plain(Type::Struct(def.clone()));
        }
        if self.enums.contains_key(&name) {
            return plain(Type::Enum(name));
        }
        if let (Some(alias), Some(_)) = (self.aliased(segment), self.follow(&name)) {
            return self.read_type(&alias);
        }
        if self.aliases.contains_key(&name) {
            return Err(Error::new(
                span,
                format!(
                    "the alias `{name}` refers to a type outside this module: name the type itself"
                ),
            ));
        }
        if let Some(why) = self.refused.get(&name) {
            return Err(Error::new(span, why));
        }
        if ["HashMap", "BTreeMap", "HashSet", "BTreeSet"].contains(&name.as_str()) {
            return Err(Error::new(
                span,
                format!(
                    "`{name}` of the library is not supported: number the keys, and keep a `Vec` with an element for each"
                ),
            ));
        }
        if LIBRARY_TYPES.contains(&name.as_str()) {
            return Err(Error::new(
                span,
                format!("`{name}` of the library is not supported here: {USE_TYPES}"),
            ));
        }
        Err(Error::new(
            span,
            if self.complete {
                format!(
                    "the compiler cannot see into the type `{name}`: declare it in this module as \
                     a struct of floats, integers, arrays or `Vec`s, or as an enum without data"
                )
            } else {
                format!(
                    "the compiler cannot see into `{name}`: put `#[stratape::differentiable]` on it"
                )
            },
        ))
    }

    /// `Option<T>` and `Result<T, E>`.
    fn read_library_choice(&self, segment: &syn::PathSegment) -> Result<Type> {
        let mut types = Vec::new();
        if let syn::PathArguments::AngleBracketed(args) = &segment.arguments {
            for arg in &args.args {
                if let syn::GenericArgument::Type(ty) = arg {
                    types.push(self.owned(ty)?);
                }
            }
        }
        match (segment.ident == "Option", types.len()) {
            (true, 1) => Ok(Choice::option().typed(types)),
            (false, 2) => {
                // The error comes first among the parts.
                types.reverse();
                Ok(Choice::result().typed(types))
            }
            _ => Err(Error::new(segment.span(), "name the types in it, as in `Option<f64>`")),
        }
    }

    pub(super) fn extent(&self, len: &Expr) -> Extent {
        if let Expr::Path(path) = len
            && let Some(name) = path.path.get_ident()
            && let Some(extent) = self.constant_param(&name.to_string())
        {
            return extent.clone();
        }
        match self.integer(len) {
            Some(n) => Extent::Known(n),
            None => Extent::Const(self.sources.opaque(len.to_token_stream())),
        }
    }

    /// The number an integer constant expression stands for, as far as it can be seen.
    pub(super) fn integer(&self, expr: &Expr) -> Option<usize> {
        self.integer_within(expr, DEPTH)
    }

    /// The number, if no more constants than that stand for one another.
    fn integer_within(&self, expr: &Expr, depth: usize) -> Option<usize> {
        match expr {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(lit), .. }) => lit.base10_parse().ok(),
            Expr::Paren(inner) => self.integer_within(&inner.expr, depth),
            Expr::Group(inner) => self.integer_within(&inner.expr, depth),
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                if let Some(Extent::Known(n)) = self.constant_param(&name) {
                    return Some(*n);
                }
                self.integer_within(&self.constants.get(&name)?.expr, depth.checked_sub(1)?)
            }
            Expr::Binary(binary) => {
                let inner = |expr: &Expr| self.integer_within(expr, depth);
                let (a, b) = (inner(&binary.left)?, inner(&binary.right)?);
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

    /// What `T::Name` or `<T as Trait>::Name` stands for.
    fn associated_type(&self, path: &syn::TypePath) -> Option<syn::Type> {
        let name = path.path.segments.last()?.ident.to_string();
        let owner = match (&path.qself, path.path.segments.len()) {
            (Some(qself), _) => qself.ty.to_token_stream().to_string(),
            (None, 2) => path.path.segments[0].ident.to_string(),
            _ => return None,
        };
        self.associated_types.get(&(self.type_name(&owner), name)).cloned()
    }

    /// The struct, enum or number type that a name or alias stands for.
    pub(super) fn type_name(&self, name: &str) -> String {
        match self.type_param(name) {
            Some(Type::Scalar(Scalar::Infer(_))) => return "f64".to_owned(),
            Some(ty) => return base_name(&ty.to_string()).to_owned(),
            None => {}
        }
        self.follow(name).unwrap_or_else(|| name.to_owned())
    }

    /// Follows aliases to their end; `None` if they go round in a circle.
    pub(super) fn follow(&self, name: &str) -> Option<String> {
        self.follow_until(name, |_| false)
    }

    /// Follows aliases to their end, or to the first that is looked for.
    pub(super) fn follow_until(
        &self,
        name: &str,
        found: impl Fn(&String) -> bool,
    ) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..=self.aliases.len() {
            if found(&name) {
                return Some(name);
            }
            let Some(syn::ItemType { ty, .. }) = self.aliases.get(&name) else { return Some(name) };
            let syn::Type::Path(path) = &**ty else { return Some(name) };
            name = path.path.segments.last()?.ident.to_string();
        }
        None
    }
}

/// Whether a type is one of texts.
fn is_text(path: &syn::TypePath) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident == "str" || last.ident == "String")
}

/// Whether a type is an `Option` or a `Result`.
fn is_library_choice(path: &syn::TypePath) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident == "Option" || last.ident == "Result")
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
