//! What the compiler can see beside the function: structs, enums, constants, aliases, helper
//! functions and methods of its module.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Error, Item, Result};

use super::certain;
use super::choice::Choice;
use super::generic::{Visible, base_name};
use super::impls::Implementation;
use super::mention::words_of;
use super::moves::Moves;
use super::nested::nested;
use super::opaque::Elsewhere;
use super::unnamed::discriminants;
use super::unsupported;
use crate::library;
use crate::source::Sources;
use stratape_ir::{Scalar, Struct, Type};

/// The items of a module.
#[derive(Debug, Default)]
pub struct Items {
    pub(super) structs: HashMap<String, Arc<Struct>>,
    pub(super) enums: HashMap<String, Vec<String>>,
    /// Enums with data.
    pub(super) choices: HashMap<String, Arc<Choice>>,
    pub(super) constants: HashMap<String, syn::ItemConst>,
    pub(super) functions: HashMap<String, Rc<syn::ItemFn>>,
    pub(super) methods: HashMap<(String, String), Rc<syn::ImplItemFn>>,
    pub(super) associated_constants: HashMap<(String, String), syn::ImplItemConst>,
    pub(super) operators: HashMap<(String, String), Vec<Implementation>>,
    pub(super) aliases: HashMap<String, syn::ItemType>,
    /// Structs that hold references, functions, a `VecDeque` or a `PhantomData`: none is a parameter.
    pub(super) local: HashSet<String>,
    /// The fields of those that are references, by number.
    pub(super) borrowed: HashMap<String, Vec<usize>>,
    /// Structs that cannot be cloned.
    pub(super) not_clone: HashSet<String>,
    /// Structs with type or constant parameters.
    pub(super) generic_structs: HashMap<String, Rc<syn::ItemStruct>>,
    /// The parameters of the `impl` that a method stands in, and the type it is for.
    pub(super) impl_params: HashMap<(String, String), Rc<(syn::Generics, syn::Type)>>,
    pub(super) associated_types: HashMap<(String, String), syn::Type>,
    pub(super) traits: HashMap<String, syn::ItemTrait>,
    /// Why a struct or enum of the module cannot be used.
    pub(super) refused: HashMap<String, String>,
    /// Methods of which a type has two.
    pub(super) doubtful: HashSet<(String, String)>,
    /// Methods that a trait gives every type, and the parameter that stands for it: none where there are two.
    pub(super) blanket: HashMap<String, Option<String>>,
    /// Methods of types by the traits they are of: none where a trait has two for a type.
    pub(super) of_traits: HashMap<(String, String, String), Option<Rc<syn::ImplItemFn>>>,
    /// Methods of types themselves, not of traits.
    pub(super) own_methods: HashSet<(String, String)>,
    /// Those of them that hide one of a trait.
    pub(super) hiding: HashSet<(String, String)>,
    /// Functions the compiler does not look into, and the pullbacks of those that have one.
    pub(super) opaque: HashMap<String, Option<syn::Ident>>,
    /// The fields that some function makes longer or shorter, or assigns.
    pub(super) field_moves: Moves,
    /// Whether some function takes a `&mut Vec`: what is lent to it may grow.
    pub(super) lends_lists: bool,
    /// The variants of enums that are marked as their default.
    pub(super) default_variants: HashMap<String, String>,
    /// The numbers of the variants of enums, where they can be seen.
    pub(super) discriminants: HashMap<String, Vec<isize>>,
    /// Types of other modules that have no name where the gradient is emitted.
    pub(super) unnamed: HashSet<String>,
    /// Functions of other modules that are called, not repeated.
    pub(super) elsewhere: HashMap<String, Rc<Elsewhere>>,
    /// Whether a `VecDeque` is named anywhere, whose `remove` is another than that of a `Vec`.
    pub(super) has_deques: bool,
    /// Why the items could not be read.
    pub(super) fault: Option<Error>,
    /// Whether everything the function may call is here.
    pub(super) complete: bool,
    /// The spans and tokens of what was read.
    pub(crate) sources: Rc<Sources>,
}

impl Items {
    /// Nothing but the function itself.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Nothing but the function itself, which may call itself.
    pub fn alone(function: &syn::ItemFn) -> Self {
        let item = Item::Fn(function.clone());
        let mut module = match Self::collect(std::slice::from_ref(&item)) {
            Ok(module) => module,
            Err(error) => Self { fault: Some(error), ..Self::default() },
        };
        module.complete = false;
        module.opaque.clear();
        module
    }

    /// The items that a function or a module asked for, each under a unique name, and the function or module itself. `unnamed` are those that
    /// have no name where the function stands.
    ///
    /// # Errors
    /// As [`collect`](Self::collect).
    pub(crate) fn linked(items: &[Item], unnamed: HashSet<String>, complete: bool) -> Result<Self> {
        let mut linked = Self { complete, ..Self::collect(items)? };
        linked.unnamed.extend(unnamed);
        Ok(linked)
    }

    /// Notes a function of another module that is called.
    pub(crate) fn add_elsewhere(&mut self, id: &syn::Ident, function: Elsewhere) {
        self.elsewhere.insert(id.to_string(), Rc::new(function));
    }

    /// The pullback of a function, if it has one.
    pub(crate) fn pullback(&self, function: &syn::Ident) -> Option<&syn::Ident> {
        self.opaque.get(&function.to_string())?.as_ref()
    }

    /// Whether a parameter of the type is followed by its shadow.
    pub(crate) fn has_shadow(&self, ty: &syn::Type) -> bool {
        self.read_type(ty).is_ok_and(|read| read.reference.is_some() && read.ty.has_float())
    }

    /// Whether the adjoint of a parameter of the type is returned.
    pub(crate) fn has_adjoint(&self, ty: &syn::Type) -> bool {
        self.read_type(ty).is_ok_and(|read| read.reference.is_none() && read.ty.has_float())
    }

    /// The type of a parameter or result as halves can have it, in words that mean the same everywhere; `None` for any other.
    pub(crate) fn plain_type(&self, ty: &syn::Type) -> Option<TokenStream> {
        let written = self.read_type(ty).ok()?;
        let name = |scalar: Scalar| syn::Ident::new(scalar.name(), Span::call_site());
        match (&written.ty, written.reference) {
            (Type::Scalar(scalar), None) => Some(name(*scalar).into_token_stream()),
            (Type::Slice(item), Some(mutable)) => {
                let name = name(match **item {
                    Type::Scalar(scalar) => scalar,
                    _ => return None,
                });
                Some(if mutable { quote!(&mut [#name]) } else { quote!(&[#name]) })
            }
            _ => None,
        }
    }

    /// The spans and tokens of what was read.
    pub fn sources(&self) -> &Sources {
        &self.sources
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
        let known = library::items_named_in(items);
        if known.is_empty() {
            return Self::collect_all(items);
        }
        let unnamed = known.iter().filter_map(|item| match item {
            Item::Struct(def) => Some(def.ident.to_string()),
            _ => None,
        });
        let unnamed: HashSet<String> = unnamed.collect();
        let all: Vec<Item> = items.iter().cloned().chain(known).collect();
        let mut collected = Self::collect_all(&all)?;
        collected.unnamed.extend(unnamed);
        Ok(collected)
    }

    fn collect_all(items: &[Item]) -> Result<Self> {
        let mut module = Self { complete: true, ..Self::default() };
        certain::no_alternatives(items)?;
        let inner = nested(items)?;
        let all: Vec<&Item> = items.iter().chain(&inner).collect();
        for item in all.iter().copied() {
            match item {
                Item::Type(alias) => {
                    module.aliases.insert(alias.ident.to_string(), alias.clone());
                }
                Item::Const(constant) => {
                    module.constants.insert(constant.ident.to_string(), constant.clone());
                }
                Item::Static(item) => {
                    if let Some(constant) = as_constant(item) {
                        module.constants.insert(item.ident.to_string(), constant);
                    }
                }
                // What is emitted cannot name the variants of one inside a function.
                Item::Enum(def)
                    if def.variants.iter().all(|v| v.fields.is_empty())
                        && !inner.contains(item) =>
                {
                    let variants = def.variants.iter().map(|v| v.ident.to_string()).collect();
                    module.enums.insert(def.ident.to_string(), variants);
                    if let Some(numbers) = discriminants(def) {
                        module.discriminants.insert(def.ident.to_string(), numbers);
                    }
                }
                Item::Enum(def) if !def.generics.params.is_empty() => {
                    module.refuse(&def.ident, "is generic: write it for `f64` or `f32`");
                }
                Item::Struct(def) if is_generic(&def.generics) => {
                    module.generic_structs.insert(def.ident.to_string(), Rc::new(def.clone()));
                }
                Item::Trait(def) => {
                    module.traits.insert(def.ident.to_string(), def.clone());
                }
                Item::Fn(function) => {
                    module.note_opaque(function)?;
                    let mut function = function.clone();
                    // Whoever asks for its gradient is told what is wrong.
                    let _ = super::failures::without_errors(&mut function);
                    module.functions.insert(function.sig.ident.to_string(), Rc::new(function));
                }
                _ => {}
            }
        }
        for item in all.iter().copied() {
            if let Item::Enum(def) = item
                && let Some(variant) = def.variants.iter().find(|variant| is_default(variant))
            {
                let variant = variant.ident.to_string();
                module.default_variants.insert(def.ident.to_string(), variant);
            }
            if let Item::Struct(def) = item
                && def.fields.iter().any(|field| is_local(&field.ty))
            {
                module.local.insert(def.ident.to_string());
                let fields = def.fields.iter().enumerate();
                let borrowed = fields
                    .filter(|(_, field)| matches!(field.ty, syn::Type::Reference(_)))
                    .map(|(at, _)| at);
                module.borrowed.insert(def.ident.to_string(), borrowed.collect());
            }
            if let Item::Struct(def) = item
                && !def.attrs.iter().any(derives_clone)
            {
                module.not_clone.insert(def.ident.to_string());
            }
            if let Item::Impl(block) = item {
                module.collect_impl(block);
            }
        }
        for (owner, method) in module.methods.keys() {
            if method == "clone" {
                module.not_clone.remove(owner);
            }
        }
        // What a trait supplies comes after what its types supply themselves.
        for item in all.iter().copied() {
            if let Item::Impl(block) = item {
                module.collect_defaults(block);
            }
        }
        let functions = module.functions.values().map(|f| &*f.block);
        let blocks = functions.chain(module.methods.values().map(|f| &f.block));
        let mut field_moves = Moves::default();
        blocks.for_each(|block| field_moves.add_fields_of(block));
        module.field_moves = field_moves;
        module.lends_lists = module.functions.values().any(|f| takes_list(&f.sig))
            || module.methods.values().any(|f| takes_list(&f.sig));
        let deque = |item: &Item| {
            words_of(item.to_token_stream()).iter().any(|(word, _)| word == "VecDeque")
        };
        module.has_deques = items.iter().any(deque);
        module.read_types(&all);
        // What is emitted cannot name a struct inside a function.
        module.unnamed.extend(inner.iter().filter_map(|item| match item {
            Item::Struct(def) => Some(def.ident.to_string()),
            _ => None,
        }));
        Ok(module)
    }

    /// Reads structs and enums with data. One may hold another that is declared later: goes round until nothing new is found.
    fn read_types(&mut self, all: &[&Item]) {
        let mut left: Vec<&Item> = all.to_vec();
        loop {
            let before = left.len();
            left.retain(|item| match item {
                Item::Struct(def) if !is_generic(&def.generics) => match self.read_struct(def) {
                    Ok(read) => {
                        self.accept(&read.name);
                        self.structs.insert(read.name.clone(), Arc::new(read));
                        false
                    }
                    // Used nowhere, it does no harm; where it is used, this is said.
                    Err(error) => {
                        self.refuse(&def.ident, &format!("cannot be looked into: {error}"));
                        true
                    }
                },
                Item::Enum(def)
                    if def.generics.params.is_empty()
                        && !self.enums.contains_key(&def.ident.to_string()) =>
                {
                    match self.read_enum(def) {
                        Ok(choice) => {
                            self.accept(&choice.name);
                            self.choices.insert(choice.name.clone(), Arc::new(choice));
                            false
                        }
                        Err(error) => {
                            self.refuse(&def.ident, &format!("cannot be looked into: {error}"));
                            true
                        }
                    }
                }
                _ => false,
            });
            if left.len() == before || left.is_empty() {
                break;
            }
        }
    }

    /// Whether a type holds what a parameter cannot: references, functions or a `VecDeque`.
    pub(super) fn is_local_only(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) | Type::Enum(_) => false,
            Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => self.is_local_only(item),
            Type::Tuple(items) => items.iter().any(|item| self.is_local_only(item)),
            Type::Struct(def) => {
                self.local.contains(base_name(&def.name))
                    || def.fields.iter().any(|(_, ty)| self.is_local_only(ty))
            }
        }
    }

    /// An enum with data.
    fn read_enum(&self, def: &syn::ItemEnum) -> Result<Choice> {
        let mut variants = Vec::new();
        for variant in &def.variants {
            let mut fields = Vec::new();
            for (position, field) in variant.fields.iter().enumerate() {
                let name =
                    field.ident.as_ref().map_or_else(|| position.to_string(), ToString::to_string);
                let written = self.read_type(&field.ty)?;
                if written.reference.is_some() {
                    return Err(Error::new(
                        field.ty.span(),
                        format!("its field `{name}` is behind a reference; let it own the data"),
                    ));
                }
                fields.push((name, written.ty));
            }
            variants.push((variant.ident.to_string(), fields));
        }
        Ok(Choice::new(&def.ident.to_string(), variants))
    }

    /// A type that was refused because it holds one that was not known yet.
    fn accept(&mut self, name: &str) {
        if self.refused.get(name).is_some_and(|why| why.contains("cannot be looked into")) {
            self.refused.remove(name);
        }
    }

    fn refuse(&mut self, name: &syn::Ident, why: &str) {
        // Its own name among the fields is met before it is known.
        let itself = format!("the type `{name}` is not one");
        let again = format!("`{name}` cannot be looked into");
        if why.contains(&itself) || why.contains(&again) {
            let why = "contains itself: keep all of them in a `Vec`, and store positions (`usize`) in place of the inner ones";
            self.refused.insert(name.to_string(), format!("`{name}` {why}"));
            return;
        }
        if self
            .refused
            .get(&name.to_string())
            .is_some_and(|known| known.contains("contains itself"))
        {
            return;
        }
        self.refused.insert(name.to_string(), format!("`{name}` {why}"));
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
                "effect" => {
                    return Err(unsupported(
                        attribute.span(),
                        "`#[effect]` in a `#[differentiable]` module",
                        "put the function outside of it, and call it from there",
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_struct(&self, def: &syn::ItemStruct) -> Result<Struct> {
        Visible::new(self).read_struct(def)
    }
}

impl Visible<'_> {
    /// A struct with its fields' types.
    pub(super) fn read_struct(&self, def: &syn::ItemStruct) -> Result<Struct> {
        let mut fields = Vec::new();
        for (position, field) in def.fields.iter().enumerate() {
            let name =
                field.ident.as_ref().map_or_else(|| position.to_string(), ToString::to_string);
            let ty = match &field.ty {
                // It is called where it is read: nothing of it is ever in memory.
                syn::Type::FnPtr(_) => Type::Tuple(Vec::new()),
                ty => self.read_type(ty)?.ty,
            };
            fields.push((name, ty));
        }
        let tuple = matches!(def.fields, syn::Fields::Unnamed(_));
        Ok(Struct { name: def.ident.to_string(), fields, tuple })
    }
}

/// Whether a field of a type makes its struct one that is never a parameter.
fn is_local(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(_) | syn::Type::FnPtr(_) => true,
        ty => words_of(ty.to_token_stream())
            .iter()
            .any(|(word, _)| word == "VecDeque" || word == "PhantomData"),
    }
}

/// A `static` that never changes, as the constant that it is.
pub(crate) fn as_constant(item: &syn::ItemStatic) -> Option<syn::ItemConst> {
    let (vis, name, ty, value) = (&item.vis, &item.ident, &item.ty, &item.expr);
    match item.mutability {
        syn::StaticMutability::None => Some(syn::parse_quote!(#vis const #name: #ty = #value;)),
        _ => None,
    }
}

/// Whether an attribute derives `Clone`.
fn derives_clone(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("derive")
        && words_of(attribute.meta.to_token_stream()).iter().any(|(word, _)| word == "Clone")
}

/// Whether a variant is what `#[derive(Default)]` makes.
fn is_default(variant: &syn::Variant) -> bool {
    variant.attrs.iter().any(|attribute| attribute.path().is_ident("default"))
}

/// Whether there are parameters besides lifetimes.
pub(super) fn is_generic(generics: &syn::Generics) -> bool {
    generics.params.iter().any(|param| !matches!(param, syn::GenericParam::Lifetime(_)))
}

/// The function that `#[pullback(of = f)]` names.
pub(crate) fn pullback_of(attribute: &syn::Attribute) -> Result<syn::Ident> {
    let wanted = "write the function it belongs to: `#[stratape::pullback(of = f)]`";
    let syn::Meta::List(list) = &attribute.meta else {
        return Err(Error::new(attribute.path().span(), wanted));
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

/// Whether a function takes a `&mut Vec`.
fn takes_list(sig: &syn::Signature) -> bool {
    sig.inputs.iter().any(|input| match input {
        syn::FnArg::Typed(input) => matches!(&*input.ty, syn::Type::Reference(reference)
            if reference.mutability.is_some() && ["Vec", "VecDeque"].contains(&type_text(&reference.elem).as_str())),
        syn::FnArg::Receiver(_) => false,
    })
}

/// A type's name, references and lifetimes left out.
pub(super) fn type_text(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Reference(reference) => type_text(&reference.elem),
        syn::Type::Paren(inner) => type_text(&inner.elem),
        syn::Type::Group(inner) => type_text(&inner.elem),
        syn::Type::Path(path) => {
            path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
        }
        other => other.to_token_stream().to_string(),
    }
}
