//! What the attributes do: from the tokens of an item to the tokens that replace it.
//!
//! An error never loses the item: it is emitted as it was, with the error beside it, so that the
//! compiler does not go on to complain of a missing function.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use stratape_ir::valid::Fault;
use syn::parse::{Parse, Parser};
use syn::spanned::Spanned;
use syn::{Error, Item, Result};

use crate::arguments::{Arguments, attribute_options};
use crate::back::rust;
use crate::driver::{Compiled, CompiledHalves, CompiledLoop, Options, compile, compile_halves};
use crate::front::{self, Items, is_marked, strip_marks};
use crate::kernels::{self, is_kernel};
use crate::link::shown;
use crate::methods::{self, Method};
use crate::source::Sources;

const MARKS: [&str; 3] = ["gradient", "constant", "pullback"];

/// `#[gradient]` on a function.
pub fn gradient(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(function) => gradient_of(attribute, item, &function),
        Err(_) => no_function(item),
    }
}

/// The gradient of a function as it was read, beside the function as it was written.
pub(crate) fn gradient_of(
    attribute: TokenStream,
    item: &TokenStream,
    function: &syn::ItemFn,
) -> TokenStream {
    let item = &without_loop_marks(item);
    match alone(attribute.clone(), function) {
        // Whoever calls the gradient uses the function.
        Ok((_, tokens, _)) => quote!(#[allow(dead_code)] #item #tokens),
        Err(error) => {
            let tokens = refused(error, attribute, (function, function), &Items::alone(function));
            quote!(#item #tokens)
        }
    }
}

/// `#[gradient]` on what is no function.
pub(crate) fn no_function(item: &TokenStream) -> TokenStream {
    // What rustc cannot read either, it reports.
    if syn::parse2::<Item>(item.clone()).is_err() && !is_bodiless(item) {
        return item.clone();
    }
    let message = "`#[gradient]` goes on a function with a body";
    let error = Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

/// The gradient of a function that was `read` with unique names for what it takes from elsewhere: what is emitted beside it.
pub(crate) fn linked_gradient(
    attribute: TokenStream,
    written: &syn::ItemFn,
    read: &syn::ItemFn,
    items: &Items,
) -> TokenStream {
    match among(attribute.clone(), (written, read), items) {
        Ok((_, tokens)) => tokens,
        Err(error) => refused(error, attribute, (written, read), items),
    }
}

/// What stands for a gradient that there is none of.
fn refused(
    error: Error,
    attribute: TokenStream,
    function: (&syn::ItemFn, &syn::ItemFn),
    items: &Items,
) -> TokenStream {
    let refusal = Arguments::parse
        .parse2(attribute)
        .ok()
        .and_then(|arguments| refusal(&error, function, &arguments, items));
    refusal.unwrap_or_else(|| reported(error))
}

/// Whether an item is a function without a body, as in a trait.
fn is_bodiless(item: &TokenStream) -> bool {
    syn::parse2::<syn::TraitItemFn>(item.clone()).is_ok()
}

/// Errors as rustc will show them.
pub(crate) fn reported(error: Error) -> TokenStream {
    error
        .into_iter()
        .map(|error| {
            Error::new(error.span(), shown(&front::message_of(&error).0)).to_compile_error()
        })
        .collect()
}

/// What stands for a gradient where the program itself has an error that rustc reports: the same signature, so that callers have
/// no errors of their own, and a body that refuses to be compiled, should rustc have nothing to report. An error in its
/// place would keep rustc from saying what it knows.
fn refusal(
    error: &Error,
    (written, read): (&syn::ItemFn, &syn::ItemFn),
    arguments: &Arguments,
    module: &Items,
) -> Option<TokenStream> {
    if !error.clone().into_iter().all(|error| front::message_of(&error).1) {
        return None;
    }
    let message = shown(&front::message_of(error).0);
    let empty = |function: &syn::ItemFn| {
        let mut empty = function.clone();
        *empty.block = match &function.sig.output {
            syn::ReturnType::Default => syn::parse_quote!({}),
            syn::ReturnType::Type(..) => syn::parse_quote!({ 0.0 }),
        };
        empty
    };
    let (_, tokens) = one((&empty(written), &empty(read)), arguments, module).ok()?;
    let mut made: syn::File = syn::parse2(tokens).ok()?;
    let panics = quote::quote_spanned!(error.span()=> ::core::panic!(#message));
    for made in &mut made.items {
        if let Item::Fn(function) = made {
            // Of a generic function such a constant is evaluated when code is generated: after all other errors.
            *function.block = syn::parse_quote!({
                fn refused<T>() -> ! {
                    const { #panics }
                }
                refused::<()>()
            });
        }
    }
    Some(made.into_token_stream())
}

/// A function by itself: what became of it, and what is emitted beside it.
fn alone(
    attribute: TokenStream,
    function: &syn::ItemFn,
) -> Result<(Compiled, TokenStream, Rc<Sources>)> {
    let module = Items::alone(function);
    let (compiled, tokens) = among(attribute, (function, function), &module)?;
    Ok((compiled, tokens, module.sources))
}

/// A function beside others of its file that it may call.
pub(crate) fn beside(
    attribute: TokenStream,
    function: &syn::ItemFn,
    others: &[Item],
) -> Result<(Compiled, TokenStream, Rc<Sources>)> {
    let other =
        |item: &&Item| !matches!(item, Item::Fn(other) if other.sig.ident == function.sig.ident);
    let mut items: Vec<Item> = others.iter().filter(other).cloned().collect();
    if items.is_empty() {
        return alone(attribute, function);
    }
    items.push(Item::Fn(function.clone()));
    let module = Items::linked(&items, HashSet::new(), false)?;
    let (compiled, tokens) = among(attribute, (function, function), &module)?;
    Ok((compiled, tokens, module.sources))
}

/// A function among the items that it uses, as it was written and as it was read.
fn among(
    attribute: TokenStream,
    function: (&syn::ItemFn, &syn::ItemFn),
    module: &Items,
) -> Result<(Compiled, TokenStream)> {
    let arguments = Arguments::parse.parse2(attribute)?;
    let (compiled, tokens) = one(function, &arguments, module)?;
    let halves = halves(compiled.recursive.clone(), module, arguments.0.plain)?;
    Ok((compiled, quote!(#tokens #halves)))
}

/// An item without the attributes that mean something only to its gradient; the tokens as they were, if there are none.
pub(crate) fn without_loop_marks(item: &TokenStream) -> TokenStream {
    let Ok(mut parsed) = syn::parse2::<Item>(item.clone()) else { return item.clone() };
    if strip_marks(&mut parsed) { parsed.into_token_stream() } else { item.clone() }
}

/// `#[differentiable]` on a module.
pub fn differentiable(attribute: &TokenStream, item: &TokenStream) -> TokenStream {
    match module(attribute, item.clone()) {
        Ok(tokens) => tokens,
        Err(error) => {
            let (item, error) = (without_marks(item), reported(error));
            quote!(#item #error)
        }
    }
}

/// A module without the attributes that mean something only to this one.
pub(crate) fn without_marks(item: &TokenStream) -> TokenStream {
    let Ok(mut module) = syn::parse2::<syn::ItemMod>(item.clone()) else { return item.clone() };
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        strip_marks(item);
        if let Item::Fn(function) = item {
            function.attrs.retain(|attribute| !is_marked(attribute, &MARKS));
        }
    }
    module.into_token_stream()
}

/// `#[parallel]` where no gradient reads it.
pub fn only_on_loops(name: &str, item: &TokenStream) -> TokenStream {
    let message = format!(
        "`#[{name}]` is only valid on a loop in a function under `#[gradient]`, or in a \
         `#[stratape::differentiable] mod`"
    );
    let error = Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

/// A module under `#[differentiable]`, read.
pub(crate) struct Opened {
    module: syn::ItemMod,
    /// The functions under `#[gradient]`, with that attribute.
    wanted: Vec<(syn::ItemFn, syn::Attribute)>,
    /// The methods under `#[gradient]`.
    methods: Vec<Method>,
    /// The kernels, which have a place of their own in what is emitted.
    kernels: Vec<syn::ItemFn>,
    /// Its items, with the attributes that mean something to the compiler.
    items: Vec<Item>,
    /// The same as they are read: with unique names for what comes from outside. Nothing, if they are the same.
    read: Option<Vec<Item>>,
    /// What functions of structs and the like are called through.
    plain: TokenStream,
    context: Items,
    errors: Option<Error>,
    /// Errors that rustc reports, and what stands for the gradients meanwhile.
    refusals: Vec<(Error, TokenStream)>,
}

/// Reads a module, and takes off the attributes that mean something only to this one.
pub(crate) fn open(attribute: &TokenStream, item: TokenStream) -> Result<Opened> {
    if !attribute.is_empty() {
        return Err(Error::new(attribute.span(), "`#[differentiable]` takes no arguments"));
    }
    let mut module: syn::ItemMod = syn::parse2(item).map_err(|_| {
        Error::new(Span::call_site(), "`#[differentiable]` goes on a module: `mod physics { … }`")
    })?;
    let Some((_, items)) = &mut module.content else {
        return Err(Error::new(
            module.ident.span(),
            "`#[differentiable]` must see the module's text: write it here, in braces",
        ));
    };
    let kernels = take_kernels(items);
    let mut wanted = Vec::new();
    for item in items.iter_mut() {
        if let Item::Use(import) = item {
            // The attribute is read here, so that rustc sees no use of it.
            if names_gradient(&import.tree) {
                import.attrs.push(syn::parse_quote!(#[allow(unused_imports)]));
            }
        }
        if let Item::Fn(function) = item
            && !is_kernel(function)
        {
            let at =
                function.attrs.iter().position(|attribute| is_marked(attribute, &["gradient"]));
            if let Some(at) = at {
                let attribute = function.attrs.remove(at);
                wanted.push((function.clone(), attribute));
                // Whoever calls the gradient uses the function.
                function.attrs.push(syn::parse_quote!(#[allow(dead_code)]));
            }
        }
    }
    let mut errors: Option<Error> = None;
    let mut wanted_methods = Vec::new();
    for item in items.iter_mut() {
        if let Item::Impl(block) = item {
            for taken in methods::take(block) {
                match taken {
                    Ok(method) => wanted_methods.push(method),
                    Err(error) => add(&mut errors, error),
                }
            }
        }
    }
    let mut context = Items::collect(items)?;
    check_pullbacks(items, &context)?;
    let (read, plain) = match front::in_plain_terms(items, &context)? {
        Some((read, plain)) => {
            context = Items::collect(&read)?;
            (read, plain)
        }
        None => (items.clone(), TokenStream::new()),
    };
    for item in items.iter_mut() {
        strip_marks(item);
        if let Item::Fn(function) = item {
            function.attrs.retain(|attribute| !is_marked(attribute, &["constant", "pullback"]));
        }
    }
    items.retain(|item| !matches!(item, Item::Fn(function) if is_kernel(function)));
    let (methods, refusals) = (wanted_methods, Vec::new());
    Ok(Opened {
        module,
        wanted,
        methods,
        kernels,
        items: read,
        read: None,
        plain,
        context,
        errors,
        refusals,
    })
}

/// The kernels of a module; they and what is under `#[device]` call the functions of kernels without a path. Everything in the module sees
/// each other, so that `#[device]` says nothing more.
fn take_kernels(items: &mut [Item]) -> Vec<syn::ItemFn> {
    let mut kernels = Vec::new();
    for item in items {
        if let Item::Fn(function) = item
            && function.attrs.iter().any(|one| is_marked(one, &["kernel", "device"]))
        {
            front::with_paths(function);
            if is_kernel(function) {
                kernels.push(function.clone());
            }
        }
        let attributes = match item {
            Item::Fn(item) => &mut item.attrs,
            Item::Struct(item) => &mut item.attrs,
            Item::Enum(item) => &mut item.attrs,
            Item::Const(item) => &mut item.attrs,
            Item::Type(item) => &mut item.attrs,
            _ => continue,
        };
        attributes.retain(|one| !is_marked(one, &["device"]));
    }
    kernels
}

impl Opened {
    /// What was read, to be emitted as another text of the same module.
    pub(crate) fn standing_for(self, whole: Self) -> Self {
        Self { module: whole.module, ..self }
    }

    /// Leaves the gradients of one function.
    pub(crate) fn keep(&mut self, name: &str) {
        self.methods.retain(|method| method.name == name);
        self.wanted.retain(|(function, _)| function.sig.ident == name);
    }

    /// The spans of its functions.
    pub(crate) fn sources(&self) -> Rc<Sources> {
        Rc::clone(&self.context.sources)
    }

    /// Whether there is no gradient to make.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.methods.is_empty()
    }

    /// Its items, with the attributes that mean something to the compiler.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The names of the functions under `#[gradient]`.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &Ident> {
        self.wanted.iter().map(|(function, _)| &function.sig.ident)
    }

    /// The names of the kernels.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = &Ident> {
        self.kernels.iter().map(|kernel| &kernel.sig.ident)
    }

    /// What stands for the kernels; `imports` tells what types with unique names in a text stand for.
    pub(crate) fn launches(&self, imports: &dyn Fn(&str) -> TokenStream) -> TokenStream {
        let one = |written: &syn::ItemFn| {
            let read = self.context.function(&written.sig.ident.to_string());
            kernels::kernel(written, read.as_deref().unwrap_or(written), &self.context, imports)
        };
        self.kernels.iter().map(one).collect()
    }

    /// The methods under `#[gradient]`.
    pub(crate) fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// What its functions see.
    pub(crate) fn context(&self) -> &Items {
        &self.context
    }

    /// Lets its functions see more than the module.
    pub(crate) fn relink(&mut self, context: Items, read: Vec<Item>) {
        self.context = context;
        self.read = Some(read);
    }

    /// The gradients, and the halves that they need and those of `recursive`.
    pub(crate) fn added(&mut self, recursive: BTreeSet<String>) -> Result<TokenStream> {
        let (done, halves) = self.compile_with(recursive);
        let mut added: TokenStream = done.into_iter().map(|(_, _, tokens)| tokens).collect();
        added.extend(halves?);
        added.extend(self.plain.clone());
        added.extend(std::mem::take(&mut self.refusals).into_iter().map(|(_, tokens)| tokens));
        Ok(added)
    }

    /// The errors so far, as rustc will show them.
    pub(crate) fn take_errors(&mut self) -> Option<TokenStream> {
        self.errors.take().map(reported)
    }

    /// The module with more in it, and the errors beside it.
    pub(crate) fn with(mut self, added: TokenStream) -> TokenStream {
        if let Some((_, items)) = &mut self.module.content {
            items.push(Item::Verbatim(added));
        }
        let errors = self.take_errors();
        let module = self.module.into_token_stream();
        quote!(#module #errors)
    }

    /// Compiles the functions one after the other: what became of each, and what else is added to the module.
    pub(crate) fn compile(
        &mut self,
    ) -> (Vec<(syn::ItemFn, Compiled, TokenStream)>, Result<TokenStream>) {
        self.compile_with(BTreeSet::new())
    }

    fn compile_with(
        &mut self,
        mut recursive: BTreeSet<String>,
    ) -> (Vec<(syn::ItemFn, Compiled, TokenStream)>, Result<TokenStream>) {
        let mut done = Vec::new();
        // The halves of a function that calls itself serve all gradients: they are plain if one of these is.
        let mut plain = false;
        for (function, attribute) in std::mem::take(&mut self.wanted) {
            let arguments = match Arguments::parse.parse2(arguments_of(&attribute)) {
                Ok(arguments) => arguments,
                Err(error) => {
                    add(&mut self.errors, error);
                    continue;
                }
            };
            // As the module's context has it: with unique names for what comes from outside.
            let read = self.context.function(&function.sig.ident.to_string());
            let read = read.as_deref().unwrap_or(&function);
            match one((&function, read), &arguments, &self.context) {
                Ok((compiled, tokens)) => {
                    plain |= compiled.primal.plain && compiled.fault.is_none();
                    recursive.extend(compiled.recursive.iter().cloned());
                    done.push((function, compiled, tokens));
                }
                Err(error) => match refusal(&error, (&function, read), &arguments, &self.context) {
                    Some(tokens) => self.refusals.push((error, tokens)),
                    None => add(&mut self.errors, error),
                },
            }
        }
        for method in std::mem::take(&mut self.methods) {
            match self.method(&method) {
                Ok((function, compiled, tokens)) => {
                    plain |= compiled.primal.plain && compiled.fault.is_none();
                    recursive.extend(compiled.recursive.iter().cloned());
                    done.push((function, compiled, tokens));
                }
                Err(error) => add(&mut self.errors, error),
            }
        }
        (done, halves(recursive, &self.context, plain))
    }

    /// The gradient of a method: that of the function it is.
    fn method(&self, method: &Method) -> Result<(syn::ItemFn, Compiled, TokenStream)> {
        let mut arguments = Arguments::parse.parse2(arguments_of(&method.attribute))?;
        let names = method.gradient_names(arguments.0.name.as_ref());
        arguments.0.name = Some(names.0.clone());
        let missing = || Error::new(method.name.span(), "this method cannot be read as a function");
        let function = method.function(&self.items).ok_or_else(missing)?;
        let read = self
            .read
            .as_ref()
            .map_or_else(|| Some(function.clone()), |items| method.function(items));
        let read = read.ok_or_else(missing)?;
        let (compiled, tokens) = one((&function, &read), &arguments, &self.context)?;
        Ok((function, compiled, method.placed(tokens, &names)?))
    }

    /// The errors so far.
    pub(crate) fn into_errors(self) -> Option<Error> {
        let mut errors = self.errors;
        self.refusals.into_iter().for_each(|(error, _)| add(&mut errors, error));
        errors
    }
}

/// The tokens in the parentheses of an attribute.
pub(crate) fn arguments_of(attribute: &syn::Attribute) -> TokenStream {
    match &attribute.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

fn module(attribute: &TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut opened = open(attribute, item)?;
    let mut added = opened.added(BTreeSet::new())?;
    added.extend(opened.launches(&|_| TokenStream::new()));
    Ok(opened.with(added))
}

/// One error more.
fn add(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

/// Whether an import brings the attribute into scope.
fn names_gradient(tree: &syn::UseTree) -> bool {
    match tree {
        syn::UseTree::Path(path) => names_gradient(&path.tree),
        syn::UseTree::Group(group) => group.items.iter().any(names_gradient),
        syn::UseTree::Name(name) => name.ident == "gradient",
        _ => false,
    }
}

/// Every pullback belongs to a function of the module, and has the parameters it will be called with.
fn check_pullbacks(items: &[Item], context: &Items) -> Result<()> {
    let functions = || {
        items
            .iter()
            .filter_map(|item| if let Item::Fn(function) = item { Some(function) } else { None })
    };
    for pullback in functions() {
        for attribute in
            pullback.attrs.iter().filter(|attribute| is_marked(attribute, &["pullback"]))
        {
            let of = front::pullback_of(attribute)?;
            let Some(function) = functions().find(|function| function.sig.ident == of) else {
                return Err(Error::new(
                    of.span(),
                    format!("there is no function `{of}` in this module"),
                ));
            };
            let mut wanted = function.sig.inputs.len();
            for input in &function.sig.inputs {
                wanted += usize::from(
                    matches!(input, syn::FnArg::Typed(input) if context.has_shadow(&input.ty)),
                );
            }
            wanted += usize::from(matches!(function.sig.output, syn::ReturnType::Type(..)));
            if pullback.sig.inputs.len() != wanted {
                return Err(Error::new(
                    pullback.sig.ident.span(),
                    format!(
                        "the pullback of `{of}` takes {wanted} arguments: those of `{of}`, each reference to floats followed by \
                         its shadow (`&mut`), and the adjoint of the result last"
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Where the function is left out by `#[cfg]`, so are those made from it.
fn under_conditions(attributes: &[syn::Attribute], tokens: TokenStream) -> Result<TokenStream> {
    let conditions: Vec<_> =
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    if conditions.is_empty() {
        return Ok(tokens);
    }
    let made: syn::File = syn::parse2(tokens)?;
    Ok(made.items.iter().map(|item| quote!(#(#conditions)* #item)).collect())
}

/// The halves of functions that call themselves.
fn halves(names: BTreeSet<String>, module: &Items, plain: bool) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut done = BTreeSet::new();
    let mut left: Vec<String> = names.into_iter().collect();
    while let Some(name) = left.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        let Some(item) = module.function(&name) else { continue };
        let private = syn::ItemFn { vis: syn::Visibility::Inherited, ..(*item).clone() };
        let (more, recursive) = one_by_halves((&private, &item), module, plain)?;
        left.extend(recursive);
        tokens.extend(more);
    }
    Ok(tokens)
}

/// A function as its two halves, compiled as it was read and emitted as it was written, and the functions that call themselves it needs.
pub(crate) fn one_by_halves(
    (item, read): (&syn::ItemFn, &syn::ItemFn),
    module: &Items,
    plain: bool,
) -> Result<(TokenStream, BTreeSet<String>)> {
    let options = Options { plain, ..attribute_options() };
    let halves = compile_halves(read, module, &options)?;
    let both = valid(item, halves.valid())?;
    let CompiledHalves { primal: function, loops, recursive, .. } = &halves;
    let mut tokens = emit_loops(item, loops, &module.sources)?;
    tokens.extend(rust::emit_halves(item, function, both, &module.sources));
    Ok((tokens, recursive.clone()))
}

/// The gradient of one function, compiled as it was read and emitted as it was written.
fn one(
    (item, read): (&syn::ItemFn, &syn::ItemFn),
    arguments: &Arguments,
    module: &Items,
) -> Result<(Compiled, TokenStream)> {
    if let Some(second) = item.attrs.iter().find(|attribute| is_marked(attribute, &["gradient"])) {
        let message =
            "a function has one `#[gradient]`: for another, write a function that calls this one";
        return Err(Error::new_spanned(second, message));
    }
    if !arguments.0.results {
        let message = "`no_results` is for kernels: the gradient of a function returns its value";
        return Err(Error::new(item.sig.ident.span(), message));
    }
    let item = &concrete(item, &arguments.0.types)?;
    let read = &concrete(read, &arguments.0.types)?;
    let compiled = compile(read, module, &arguments.0)?;
    let tokens = rust::emit(item, &compiled, valid(item, compiled.valid())?, &module.sources);
    let loops = emit_loops(item, &compiled.loops, &module.sources)?;
    let tokens = under_conditions(&item.attrs, quote!(#tokens #loops))?;
    Ok((compiled, tokens))
}

/// A function with types for its type parameters.
fn concrete(item: &syn::ItemFn, types: &[(Ident, syn::Type)]) -> Result<syn::ItemFn> {
    let mut item = item.clone();
    for (name, ty) in types {
        let declared = item.sig.generics.type_params().any(|param| param.ident == *name);
        if !declared {
            return Err(Error::new(name.span(), format!("there is no type parameter `{name}`")));
        }
        front::replace_type(&mut item, name, ty);
    }
    Ok(item)
}

fn emit_loops(
    item: &syn::ItemFn,
    loops: &[CompiledLoop],
    sources: &Sources,
) -> Result<TokenStream> {
    let emit = |one: &CompiledLoop| {
        Ok(rust::emit_time_loop(one, loops, valid(item, one.valid())?, sources))
    };
    loops.iter().map(emit).collect()
}

/// What the validator accepted; the driver returns nothing else.
fn valid<T>(item: &syn::ItemFn, outcome: std::result::Result<T, Fault>) -> Result<T> {
    outcome.map_err(|fault| Error::new(item.sig.ident.span(), fault))
}
