//! What could mean one thing here and another to rustc, and is refused for that: code under a condition of the build, two methods of one name.

use std::rc::Rc;

use crate::walk::visit::{self, Visit};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Item, Result};

use super::impls::{Implementation, SUMMED};
use super::twins::{self, Twins};
use super::val::Val;
use super::{Items, Lowerer, unsupported};
use crate::library;
use stratape_ir::Type;

/// Refuses code under `#[cfg]` inside a function: only rustc knows whether it is there.
pub(super) fn no_conditions(block: &syn::Block) -> Result<()> {
    struct Conditions(Option<Span>);

    impl Visit<'_> for Conditions {
        fn visit_attribute(&mut self, attribute: &syn::Attribute) {
            if is_condition(attribute) {
                self.0 = self.0.or(Some(attribute.span()));
            }
        }

        // Items inside a function are met again where they are used.
        fn visit_item(&mut self, item: &Item) {
            if let Item::Fn(function) = item {
                visit::visit_item_fn(self, function);
            }
        }
    }

    let mut found = Conditions(None);
    found.visit_block(block);
    match found.0 {
        Some(span) => Err(unsupported(
            span,
            "`#[cfg]` inside a function",
            "put it on the function, and write one function for each case",
        )),
        None => Ok(()),
    }
}

const TYPES: [&str; 6] = ["Option", "Result", "Vec", "VecDeque", "Box", "String"];
/// Macros of the library that are known by heart.
pub(crate) const MACROS: [&str; 9] = [
    "vec",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "panic",
    "matches",
    "unreachable",
    "format",
];

fn is_condition(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

/// Refuses two items of one name of which the build has one, and items with names of the library that are known by heart.
pub(super) fn no_alternatives(items: &[Item]) -> Result<()> {
    let mut seen: Vec<(String, bool)> = Vec::new();
    for item in items {
        let known = match item {
            Item::Struct(item) => Some((&item.ident, &TYPES[..])),
            Item::Enum(item) => Some((&item.ident, &TYPES[..])),
            Item::Macro(item) => item.ident.as_ref().map(|name| (name, &MACROS[..])),
            _ => None,
        };
        if let Some((name, known)) = known
            && known.iter().any(|known| name == known)
        {
            return Err(unsupported(
                name.span(),
                &format!("a type of your own called `{name}`"),
                "rename it",
            ));
        }
        let (name, attributes) = match item {
            Item::Fn(item) => (&item.sig.ident, &item.attrs),
            Item::Const(item) => (&item.ident, &item.attrs),
            Item::Static(item) => (&item.ident, &item.attrs),
            Item::Type(item) => (&item.ident, &item.attrs),
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            _ => continue,
        };
        let condition = attributes.iter().find(|attribute| is_condition(attribute));
        let name = name.to_string();
        let other = seen
            .iter()
            .any(|(known, conditional)| *known == name && (*conditional || condition.is_some()));
        if let (true, Some(condition)) = (other, condition) {
            return Err(unsupported(
                condition.span(),
                &format!("two `{name}` under `#[cfg]`"),
                "put the condition on two modules under `#[stratape::differentiable]`, each with one of them",
            ));
        }
        seen.push((name, condition.is_some()));
    }
    Ok(())
}

impl Items {
    /// Notes that a type has a method, one of its own or one of a trait. Of its own and one of a trait, its own is meant, unless the trait is named;
    /// of two others none is certain.
    pub(super) fn note_method(&mut self, (owner, method): &(String, String), own: bool) {
        // Those of references are made of those of values.
        let often = ["sum", "product", "into_iter"].contains(&method.as_str());
        let key = (owner.clone(), method.clone());
        let first = !self.methods.contains_key(&key);
        if often || library::is_known(owner) {
            return;
        }
        match (first, own, self.own_methods.contains(&key)) {
            (true, true, _) => drop(self.own_methods.insert(key)),
            (true, false, _) => {}
            (false, true, false) => {
                self.own_methods.insert(key.clone());
                self.hiding.insert(key);
            }
            (false, false, true) => drop(self.hiding.insert(key)),
            (false, ..) => drop(self.doubtful.insert(key)),
        }
    }

    /// Notes a method of a trait, which can be called by the trait's name.
    pub(super) fn note_trait_method(
        &mut self,
        block: &syn::ItemImpl,
        (owner, method): &(String, String),
        function: &Rc<syn::ImplItemFn>,
    ) {
        let Some(name) = block.trait_.as_ref().and_then(|(path, _)| path.segments.last()) else {
            return;
        };
        let key = (owner.clone(), name.ident.to_string(), method.clone());
        // The parameters of an `impl` are known by the method's name alone.
        let alone = block.generics.params.is_empty() && !self.of_traits.contains_key(&key);
        self.of_traits.insert(key, alone.then(|| Rc::clone(function)));
    }

    /// Notes a method of `impl<T> Trait for T`.
    pub(super) fn note_blanket(&mut self, block: &syn::ItemImpl, key: &(String, String)) {
        if block.generics.type_params().any(|param| param.ident == key.0) {
            let known = self.blanket.entry(key.1.clone());
            known.and_modify(|known| *known = None).or_insert_with(|| Some(key.0.clone()));
        }
    }

    /// Notes an associated constant of a type. Of two that differ, and of one that floats have themselves, none is certain.
    pub(super) fn add_constant(&mut self, key: (String, String), constant: syn::ImplItemConst) {
        let value = |constant: &syn::ImplItemConst| constant.expr.to_token_stream().to_string();
        let differs = self
            .associated_constants
            .get(&key)
            .is_some_and(|known| value(known) != value(&constant));
        let of_float = key.0 == "f64" || key.0 == "f32";
        let hidden = of_float && FLOAT_CONSTANTS.contains(&key.1.as_str());
        // One that stands for that of floats needs no name of its own.
        if hidden && value(&constant).ends_with(&format!(":: {}", key.1)) {
            return;
        }
        if differs || hidden {
            self.doubtful.insert(key.clone());
        }
        self.associated_constants.insert(key, constant);
    }

    /// Notes an operator of a type: one, if it is there for values and references alike.
    pub(super) fn add_operator(&mut self, key: (String, String), one: Implementation) {
        let doubtful = (key.0.clone(), format!("{}<{}>", key.1, one.right));
        let known = library::is_known(&key.0);
        let all = self.operators.entry(key).or_default();
        match all.iter_mut().find(|other| !known && other.right == one.right) {
            None => all.push(one),
            Some(other) => match twins::compare(&other.function, &one.function) {
                Twins::First => {}
                Twins::Second => *other = one,
                Twins::Different => drop(self.doubtful.insert(doubtful)),
            },
        }
    }

    /// Notes `Sum` or `Product` of a type: one, if it is there for values and references alike.
    pub(super) fn add_sum(&mut self, key: (String, String), method: &Rc<syn::ImplItemFn>) {
        let Some(other) = self.methods.get(&key).filter(|_| !library::is_known(&key.0)) else {
            self.methods.entry(key).or_insert_with(|| Rc::clone(method));
            return;
        };
        match twins::compare(other, method) {
            Twins::First => {}
            Twins::Second => drop(self.methods.insert(key, Rc::clone(method))),
            Twins::Different => drop(self.doubtful.insert(key)),
        }
    }
}

/// Associated constants that floats have themselves.
const FLOAT_CONSTANTS: [&str; 14] = [
    "DIGITS",
    "EPSILON",
    "INFINITY",
    "MANTISSA_DIGITS",
    "MAX",
    "MAX_10_EXP",
    "MAX_EXP",
    "MIN",
    "MIN_10_EXP",
    "MIN_EXP",
    "MIN_POSITIVE",
    "NAN",
    "NEG_INFINITY",
    "RADIX",
];

impl Lowerer<'_> {
    /// Refuses a method that arrays or slices have and `Vec`s have, on what may be either: `vec![a, b]` is held as an array.
    pub(super) fn certain_list(&self, receiver: &Val, method: &str, span: Span) -> Result<()> {
        let Some(Type::Array(item, extent)) = self.type_of(receiver) else { return Ok(()) };
        let has = |owner: String| self.module.methods.contains_key(&(owner, method.to_owned()));
        if has(format!("Vec<{item}>"))
            && (has(format!("[{item}]")) || has(format!("[{item}; {extent}]")))
        {
            return Err(Error::new(
                span,
                format!(
                    "`#[gradient]` cannot tell which `{method}` is meant, that of arrays or that of `Vec`s: rename one of them"
                ),
            ));
        }
        Ok(())
    }

    /// Under which name the module has a method of a type: that of the type, or of a parameter that stands for every type.
    pub(super) fn owner_with(&self, owner: &str, method: &str) -> String {
        let items = self.module.items();
        let is_type = items.structs.contains_key(owner)
            || items.generic_structs.contains_key(owner)
            || items.enums.contains_key(owner)
            || items.choices.contains_key(owner);
        // What numbers and lists have themselves comes first, and is not all known.
        let own = !is_type || items.methods.contains_key(&(owner.to_owned(), method.to_owned()));
        let blanket = || self.module.blanket.get(method).cloned().flatten();
        let found = if own { None } else { blanket() };
        found.unwrap_or_else(|| owner.to_owned())
    }

    /// The method of a trait that a path names: `Trait::method`, `<Type as Trait>::method`.
    pub(super) fn trait_method(
        &self,
        path: &syn::ExprPath,
        owner: &str,
        method: &str,
    ) -> Option<Rc<syn::ImplItemFn>> {
        let before = path.path.segments.iter().rev().nth(1)?.ident.to_string();
        let key = (owner.to_owned(), before, method.to_owned());
        self.module.of_traits.get(&key).cloned().flatten()
    }

    /// Refuses a method of which the type has two, in several traits or for several of its parameters, or one of its own where that of a trait may be meant.
    pub(super) fn certain(
        &self,
        owner: &str,
        method: &str,
        by_trait: bool,
        span: Span,
    ) -> Result<()> {
        let key = (owner.to_owned(), method.to_owned());
        let hidden = self.module.hiding.contains(&key) && (by_trait || self.module.is_generic());
        if !self.module.doubtful.contains(&key) && !hidden {
            return Ok(());
        }
        let method = method.trim_end_matches(SUMMED);
        let method = method.split('<').next().unwrap_or(method);
        Err(Error::new(
            span,
            format!(
                "`#[gradient]` cannot tell which `{method}` of `{owner}` is meant, there are two: rename one of them"
            ),
        ))
    }
}

/// Whether a method does what the method of its name does that a number or a list has anyway: `fn sqrt(self) -> f64 { f64::sqrt(self) }`.
pub(super) fn passes_on(method: &syn::ImplItemFn) -> bool {
    let name = &method.sig.ident;
    let [syn::Stmt::Expr(body, None)] = &method.block.stmts[..] else { return false };
    match body {
        syn::Expr::MethodCall(call) => call.method == *name && is_self(&call.receiver),
        syn::Expr::Call(call) => {
            let first = call.args.first().is_some_and(is_self);
            let path = call.func.to_token_stream().to_string().replace(' ', "");
            let of_number = ["f64::", "f32::", "<f64>::", "<f32>::", "Self::"];
            first && of_number.iter().any(|owner| path == format!("{owner}{name}"))
        }
        _ => false,
    }
}

fn is_self(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Paren(inner) => is_self(&inner.expr),
        syn::Expr::Unary(inner) => is_self(&inner.expr),
        syn::Expr::Path(path) => path.path.is_ident("self"),
        _ => false,
    }
}

/// Methods that floats have anyway, which come before those of traits.
pub(super) fn floats_have(method: &str) -> bool {
    const OWN: &[&str] = &[
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "clamp",
        "copysign",
        "cos",
        "cosh",
        "div_euclid",
        "exp",
        "exp2",
        "exp_m1",
        "floor",
        "fract",
        "hypot",
        "is_finite",
        "is_infinite",
        "is_nan",
        "is_normal",
        "is_sign_negative",
        "is_sign_positive",
        "ln",
        "ln_1p",
        "log",
        "log10",
        "log2",
        "max",
        "min",
        "mul_add",
        "powf",
        "powi",
        "recip",
        "rem_euclid",
        "round",
        "round_ties_even",
        "signum",
        "sin",
        "sin_cos",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "to_bits",
        "to_degrees",
        "to_radians",
        "total_cmp",
        "trunc",
    ];
    OWN.contains(&method)
}

/// Methods that slices and lists have anyway, which come before those of traits.
pub(super) fn lists_have(method: &str) -> bool {
    const OWN: &[&str] = &[
        "append",
        "as_slice",
        "binary_search",
        "chunks",
        "chunks_exact",
        "clear",
        "concat",
        "contains",
        "copy_from_slice",
        "dedup",
        "drain",
        "ends_with",
        "extend_from_slice",
        "fill",
        "first",
        "get",
        "insert",
        "is_empty",
        "is_sorted",
        "iter",
        "iter_mut",
        "join",
        "last",
        "len",
        "pop",
        "push",
        "remove",
        "repeat",
        "resize",
        "retain",
        "reverse",
        "rotate_left",
        "rotate_right",
        "sort",
        "sort_by",
        "split",
        "split_at",
        "split_first",
        "split_last",
        "starts_with",
        "swap",
        "to_vec",
        "truncate",
        "windows",
    ];
    OWN.contains(&method)
}

/// Whether a `Clone` written by hand is a copy.
pub(super) fn copies(block: &syn::ItemImpl) -> bool {
    block.items.iter().all(|item| match item {
        syn::ImplItem::Fn(method) if method.sig.ident == "clone" => {
            method.block.to_token_stream().to_string().replace(' ', "") == "{*self}"
        }
        _ => true,
    })
}
