//! What the attributes do: from the tokens of an item to the tokens that replace it.
//!
//! An error never loses the item: it is emitted as it was, with the error beside it, so that the
//! compiler does not go on to complain of a missing function.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Item, Result, Token};

use crate::adjoint::{self, differentiate};
use crate::back::rust;
use crate::front::{self, Module, is_marked, strip_marks};
use crate::outline::{TimeLoop, outline};

const MARKS: [&str; 3] = ["gradient", "constant", "pullback"];

/// The arguments of `#[gradient(…)]`.
#[derive(Debug, Default)]
struct Arguments {
    wrt: Option<Vec<Ident>>,
    name: Option<Ident>,
    parallel: Option<Ident>,
    plain: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            match key.to_string().as_str() {
                "wrt" if arguments.wrt.is_none() => {
                    let list;
                    syn::parenthesized!(list in input);
                    let names = Punctuated::<Ident, Token![,]>::parse_terminated(&list)?;
                    if names.is_empty() {
                        let message = "`wrt` names no parameter: write `wrt(x)`, or leave it out";
                        return Err(Error::new(key.span(), message));
                    }
                    arguments.wrt = Some(names.into_iter().collect());
                }
                "name" if arguments.name.is_none() => {
                    input.parse::<Token![=]>()?;
                    arguments.name = Some(input.parse()?);
                }
                "parallel" if arguments.parallel.is_none() => arguments.parallel = Some(key),
                "plain" if !arguments.plain => arguments.plain = true,
                "wrt" | "name" | "parallel" | "plain" => {
                    return Err(Error::new(key.span(), format!("`{key}` is given twice")));
                }
                _ => {
                    return Err(Error::new(
                        key.span(),
                        format!(
                            "unknown argument `{key}`: `wrt(x, y)`, `name = my_grad`, `parallel` and `plain` are known"
                        ),
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

/// `#[gradient]` on a function.
pub fn gradient(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let expanded = syn::parse2(item.clone())
        .map_err(|_| Error::new(Span::call_site(), "`#[gradient]` goes on a function with a body"))
        .and_then(|function: syn::ItemFn| alone(attribute, &function));
    let item = &without_loop_marks(item);
    match expanded {
        Ok((_, tokens)) => quote!(#item #tokens),
        Err(error) => {
            let error = error.to_compile_error();
            quote!(#item #error)
        }
    }
}

/// A function by itself: what became of it, and what is emitted beside it.
pub(crate) fn alone(
    attribute: TokenStream,
    function: &syn::ItemFn,
) -> Result<(Compiled, TokenStream)> {
    let arguments = Arguments::parse.parse2(attribute)?;
    let module = Module::alone(function);
    let (compiled, tokens) = one(function, &arguments, &module)?;
    let halves = halves(compiled.recursive.clone(), &module, arguments.plain)?;
    Ok((compiled, quote!(#tokens #halves)))
}

/// An item without the attributes that mean something only to its gradient; the tokens as they were, if there are none.
fn without_loop_marks(item: &TokenStream) -> TokenStream {
    let Ok(mut parsed) = syn::parse2::<Item>(item.clone()) else { return item.clone() };
    if strip_marks(&mut parsed) { parsed.into_token_stream() } else { item.clone() }
}

/// `#[differentiable]` on a module.
pub fn differentiable(attribute: &TokenStream, item: &TokenStream) -> TokenStream {
    match module(attribute, item.clone()) {
        Ok(tokens) => tokens,
        Err(error) => {
            let (item, error) = (without_marks(item), error.to_compile_error());
            quote!(#item #error)
        }
    }
}

/// A module without the attributes that mean something only to this one.
fn without_marks(item: &TokenStream) -> TokenStream {
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
        "`#[{name}]` means something only on a loop in a function under `#[gradient]`, or in a \
         `#[stratape::differentiable] mod`"
    );
    let error = Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

/// `#[constant]` or `#[pullback]` outside a module that gives them a meaning.
pub fn only_in_module(name: &str, item: &TokenStream) -> TokenStream {
    let message = format!(
        "`#[{name}]` means something only to functions in a `#[stratape::differentiable] mod`"
    );
    let error = Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

/// A module under `#[differentiable]`, read.
pub(crate) struct Opened {
    module: syn::ItemMod,
    /// The functions under `#[gradient]`, with that attribute.
    wanted: Vec<(syn::ItemFn, syn::Attribute)>,
    context: Module,
    errors: Option<Error>,
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
    let mut wanted = Vec::new();
    for item in items.iter_mut() {
        if let Item::Use(import) = item {
            // The attribute is read here, so that rustc sees no use of it.
            if names_gradient(&import.tree) {
                import.attrs.push(syn::parse_quote!(#[allow(unused_imports)]));
            }
        }
        if let Item::Fn(function) = item {
            let at =
                function.attrs.iter().position(|attribute| is_marked(attribute, &["gradient"]));
            if let Some(at) = at {
                let attribute = function.attrs.remove(at);
                wanted.push((function.clone(), attribute));
            }
        }
    }
    let mut errors: Option<Error> = None;
    for item in items.iter_mut() {
        if let Item::Impl(block) = item {
            marked_methods(block).into_iter().for_each(|error| add(&mut errors, error));
        }
    }
    let context = Module::collect(items)?;
    check_pullbacks(items)?;
    for item in items.iter_mut() {
        strip_marks(item);
        if let Item::Fn(function) = item {
            function.attrs.retain(|attribute| !is_marked(attribute, &["constant", "pullback"]));
        }
    }
    Ok(Opened { module, wanted, context, errors })
}

impl Opened {
    /// Compiles the functions one after the other: what became of each, and what else is added to the module.
    pub(crate) fn compile(
        &mut self,
    ) -> (Vec<(syn::ItemFn, Compiled, TokenStream)>, Result<TokenStream>) {
        let mut done = Vec::new();
        let mut recursive = BTreeSet::new();
        // The halves of a function that calls itself serve all gradients: they are plain if one of these is.
        let mut plain = false;
        for (function, attribute) in std::mem::take(&mut self.wanted) {
            let result = Arguments::parse
                .parse2(arguments_of(&attribute))
                .and_then(|arguments| one(&function, &arguments, &self.context));
            match result {
                Ok((compiled, tokens)) => {
                    plain |= compiled.primal.plain && compiled.fault.is_none();
                    recursive.extend(compiled.recursive.iter().cloned());
                    done.push((function, compiled, tokens));
                }
                Err(error) => add(&mut self.errors, error),
            }
        }
        (done, halves(recursive, &self.context, plain))
    }

    /// The errors so far.
    pub(crate) fn into_errors(self) -> Option<Error> {
        self.errors
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
    let (done, halves) = opened.compile();
    let mut added: TokenStream = done.into_iter().map(|(_, _, tokens)| tokens).collect();
    added.extend(halves?);
    if let Some((_, items)) = &mut opened.module.content {
        items.push(Item::Verbatim(added));
    }
    let errors = opened.errors.map(|errors| errors.to_compile_error());
    let module = opened.module.into_token_stream();
    Ok(quote!(#module #errors))
}

/// One error more.
fn add(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

/// Takes `#[gradient]` off methods, with an error for each.
fn marked_methods(block: &mut syn::ItemImpl) -> Vec<Error> {
    let mut errors = Vec::new();
    for item in &mut block.items {
        if let syn::ImplItem::Fn(method) = item {
            method.attrs.retain(|attribute| {
                let marked = is_marked(attribute, &["gradient"]);
                if marked {
                    errors.push(front::methods_alone(attribute.path().span()));
                }
                !marked
            });
        }
    }
    errors
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
fn check_pullbacks(items: &[Item]) -> Result<()> {
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
            let floats = |ty: &syn::Type| {
                let text = ty.to_token_stream().to_string();
                matches!(ty, syn::Type::Reference(_))
                    && (text.contains("f64") || text.contains("f32"))
            };
            let mut wanted = function.sig.inputs.len();
            for input in &function.sig.inputs {
                wanted +=
                    usize::from(matches!(input, syn::FnArg::Typed(input) if floats(&input.ty)));
            }
            wanted += usize::from(matches!(function.sig.output, syn::ReturnType::Type(..)));
            if pullback.sig.inputs.len() != wanted {
                return Err(Error::new(
                    pullback.sig.ident.span(),
                    format!(
                        "the pullback of `{of}` takes {wanted} arguments: those of `{of}`, each slice of floats followed by \
                         its shadow (`&mut`), and the adjoint of the result last"
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// A fault of the compiler: better an error than a wrong gradient.
fn faulty(item: &syn::ItemFn, fault: &str) -> Error {
    Error::new(
        item.sig.ident.span(),
        format!(
            "the gradient of this function failed the compiler's own check, please report it: {fault}"
        ),
    )
}

/// The halves of functions that call themselves.
fn halves(names: BTreeSet<String>, module: &Module, plain: bool) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut done = BTreeSet::new();
    let mut left: Vec<String> = names.into_iter().collect();
    while let Some(name) = left.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        let Some(item) = module.function(&name) else { continue };
        let mut half = compile_half(&item, module, plain)?;
        if let Some(fault) = half.check() {
            half = compile_half(&item, module, true)?;
            if half.check().is_some() {
                return Err(faulty(&item, &fault));
            }
        }
        let Half { function, loops, recursive, forward, backward } = half;
        left.extend(recursive);
        tokens.extend(emit_loops(&loops));
        tokens.extend(rust::emit_halves(&item, &function, (&forward, &backward)));
    }
    Ok(tokens)
}

/// A function that calls itself, as two.
struct Half {
    function: crate::ir::Function,
    loops: Vec<CompiledLoop>,
    recursive: Vec<String>,
    forward: crate::ir::Function,
    backward: crate::ir::Function,
}

impl Half {
    /// What the checker finds in it.
    fn check(&self) -> Option<String> {
        let mut loops = self.loops.iter().map(|one| &one.gradient.function);
        let found = loops.find_map(|gradient| crate::ir::check(gradient).err());
        found.or_else(|| crate::ir::check_halves(&self.forward, &self.backward).err())
    }
}

fn compile_half(item: &syn::ItemFn, module: &Module, plain: bool) -> Result<Half> {
    let mut function = front::lower_in(item, module)?;
    function.plain = plain;
    let mut recursive = Vec::new();
    let loops = compile_loops(outline(&mut function)?, &mut recursive)?;
    crate::passes::simplify(&mut function);
    mark_parallel(&mut function, None)?;
    recursive.extend(function.recursive.iter().cloned());
    let (forward, backward) = adjoint::split(&function);
    Ok(Half { function, loops, recursive, forward, backward })
}

/// Proves what loops are marked as; in a plain function they run as any loop.
fn mark_parallel(function: &mut crate::ir::Function, everywhere: Option<Span>) -> Result<()> {
    if function.plain {
        crate::analysis::unmark_parallel(function);
        return Ok(());
    }
    crate::analysis::mark_parallel(function, everywhere)
        .map_err(|conflict| Error::new(conflict.span, conflict.message))
}

/// A function and its gradient, before they are emitted.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The function after the passes that simplify it.
    pub primal: crate::ir::Function,
    /// Its gradient.
    pub gradient: adjoint::Gradient,
    /// Its loops under `#[checkpoint]`, inner ones first.
    pub loops: Vec<CompiledLoop>,
    /// Functions that call themselves it needs the halves of.
    pub recursive: BTreeSet<String>,
    /// What the checker found in the gradient that the optional passes made: this is the one without them.
    pub fault: Option<String>,
}

impl Compiled {
    /// What the checker finds in the gradients.
    fn check(&self) -> Option<String> {
        let loops = self.loops.iter().map(|one| &one.gradient.function);
        let mut all = std::iter::once(&self.gradient.function).chain(loops);
        all.find_map(|gradient| crate::ir::check(gradient).err())
    }
}

/// A loop under `#[checkpoint]`, and the gradient of its body.
#[derive(Clone, Debug)]
pub struct CompiledLoop {
    /// The loop; those inside it stand before it in the list.
    pub time_loop: TimeLoop,
    /// The gradient of its body.
    pub gradient: adjoint::Gradient,
}

/// The gradient of one function, compiled and emitted.
fn one(
    item: &syn::ItemFn,
    arguments: &Arguments,
    module: &Module,
) -> Result<(Compiled, TokenStream)> {
    let compiled = compile(item, arguments, module)?;
    let tokens = rust::emit(item, &compiled.primal, &compiled.gradient);
    let loops = emit_loops(&compiled.loops);
    let tokens = under_conditions(&item.attrs, quote!(#tokens #loops))?;
    Ok((compiled, tokens))
}

/// Compiles a function. Where the checker finds that a pass went wrong, once more without the optional ones.
fn compile(item: &syn::ItemFn, arguments: &Arguments, module: &Module) -> Result<Compiled> {
    let compiled = attempt(item, arguments, module, arguments.plain)?;
    let Some(fault) = compiled.check() else { return Ok(compiled) };
    if arguments.plain {
        return Err(faulty(item, &fault));
    }
    let plain = attempt(item, arguments, module, true)?;
    match plain.check() {
        None => Ok(Compiled { fault: Some(fault), ..plain }),
        Some(fault) => Err(faulty(item, &fault)),
    }
}

fn attempt(
    item: &syn::ItemFn,
    arguments: &Arguments,
    module: &Module,
    plain: bool,
) -> Result<Compiled> {
    let mut function = front::lower_in(item, module)?;
    function.plain = plain;
    let mut recursive = Vec::new();
    let loops = compile_loops(outline(&mut function)?, &mut recursive)?;
    function.parallel = arguments.parallel.is_some();
    crate::passes::simplify(&mut function);
    mark_parallel(&mut function, arguments.parallel.as_ref().map(Ident::span))?;
    if let Some(wrt) = &arguments.wrt {
        check_wrt(item, wrt, &function)?;
    }
    let adjoint = adjoint::Options {
        wrt: arguments.wrt.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
        name: arguments.name.as_ref().map(ToString::to_string),
    };
    if arguments.wrt.is_none() && adjoint::inputs(&function, &adjoint).is_empty() {
        return Err(Error::new(
            item.sig.ident.span(),
            "there is nothing to differentiate by: no parameter is or holds a float",
        ));
    }
    let gradient = differentiate(&function, &adjoint);
    let recursive = function.recursive.iter().cloned().chain(recursive).collect();
    Ok(Compiled { primal: function, gradient, loops, recursive, fault: None })
}

/// Loops that are reversed from snapshots, and the gradients of their bodies.
fn compile_loops(loops: Vec<TimeLoop>, recursive: &mut Vec<String>) -> Result<Vec<CompiledLoop>> {
    let mut compiled = Vec::new();
    for mut time_loop in loops {
        compiled.extend(compile_loops(std::mem::take(&mut time_loop.inner), recursive)?);
        crate::passes::simplify(&mut time_loop.plain);
        crate::passes::simplify(&mut time_loop.body);
        mark_parallel(&mut time_loop.body, None)?;
        recursive.extend(time_loop.body.recursive.iter().cloned());
        let gradient = differentiate(&time_loop.body, &adjoint::Options::default());
        compiled.push(CompiledLoop { time_loop, gradient });
    }
    Ok(compiled)
}

fn emit_loops(loops: &[CompiledLoop]) -> TokenStream {
    loops.iter().map(|one| rust::emit_time_loop(&one.time_loop, &one.gradient)).collect()
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

fn check_wrt(item: &syn::ItemFn, wrt: &[Ident], function: &crate::ir::Function) -> Result<()> {
    for (position, name) in wrt.iter().enumerate() {
        if wrt[..position].contains(name) {
            return Err(Error::new(name.span(), format!("`{name}` is named twice")));
        }
        let known = item.sig.inputs.iter().any(|input| {
            matches!(input, syn::FnArg::Typed(input)
                if matches!(&*input.pat, syn::Pat::Ident(pat) if pat.ident == *name))
        });
        if !known {
            return Err(Error::new(name.span(), format!("there is no parameter `{name}`")));
        }
        let options = adjoint::Options { wrt: Some(vec![name.to_string()]), name: None };
        if adjoint::inputs(function, &options).is_empty() {
            return Err(Error::new(
                name.span(),
                format!("`{name}` holds no float: there is no derivative by it"),
            ));
        }
    }
    Ok(())
}
