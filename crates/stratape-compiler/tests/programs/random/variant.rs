//! Ways to compute one gradient: by the attribute, with loops under `#[checkpoint]`, in parallel, from outside its module.

#![allow(clippy::unwrap_used, reason = "a test")]

use proc_macro2::{Span, TokenStream};
use quote::quote;
use stratape_compiler::driver::{self, Options, Target};
use stratape_compiler::{back, expand, front, outline};
use syn::Item;

use super::judge::guarded;
use super::rewrite;

/// A way to compute the gradient.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// The module's items, with the gradient among them; those of the first variant, if empty.
    pub(crate) items: String,
    /// The workspace it runs on; one of the thread's own, if `None`.
    pub(crate) workspace: Option<&'static str>,
}

impl Variant {
    /// What the attributes make of a source.
    pub(crate) fn expanded(name: &'static str, source: &str) -> Result<Self, String> {
        Ok(Self { name, items: expanded(source, "")?, workspace: None })
    }

    /// The program with other settings of its tape.
    pub(crate) fn taped(source: &str, seed: u64) -> Result<Self, String> {
        const SETTINGS: [&str; 4] = [
            "tape(layout = \"soa\")",
            "tape(saved = \"all\")",
            "tape(saved = \"all\", layout = \"soa\", layer_bytes = 128)",
            "tape(saved = \"all\", layout = \"none\")",
        ];
        let settings = SETTINGS[(seed % 4) as usize];
        Ok(Self { name: "other tape", items: expanded(source, settings)?, workspace: None })
    }

    /// The program with marks on some loops, if what they carry can be stored.
    pub(crate) fn checkpointed(source: &str, seed: u64) -> Option<Self> {
        let marked = rewrite::checkpointed(source, seed)?;
        let file = syn::parse_file(&marked).ok()?;
        let item = rewrite::program(&file)?;
        let module = front::Items::collect(&file.items).ok()?;
        let mut function = front::lower(&item, &module).ok()?;
        if function.checkpoints.is_empty() || outline::outline(&mut function).is_err() {
            return None;
        }
        Self::expanded("checkpointed", &marked).ok()
    }

    /// The program called from a gradient outside its module, whose items answer one by one, or together where there are methods.
    pub(crate) fn linked(source: &str, together: bool) -> Option<Self> {
        let mut file = syn::parse_file(source).ok()?;
        let together = together || file.items.iter().any(|item| matches!(item, Item::Impl(_)));
        let mut outer = rewrite::program(&file)?;
        for item in &mut file.items {
            let (vis, attrs) = match item {
                Item::Fn(item) => (&mut item.vis, &mut item.attrs),
                Item::Struct(item) => (&mut item.vis, &mut item.attrs),
                Item::Enum(item) => (&mut item.vis, &mut item.attrs),
                Item::Const(item) => (&mut item.vis, &mut item.attrs),
                Item::Type(item) => (&mut item.vis, &mut item.attrs),
                _ => continue,
            };
            *vis = syn::parse_quote!(pub);
            if !together {
                attrs.push(syn::parse_quote!(#[stratape::differentiable]));
            }
        }
        let mut arguments = Vec::new();
        for input in &mut outer.sig.inputs {
            let syn::FnArg::Typed(input) = input else { return None };
            let syn::Pat::Ident(name) = &mut *input.pat else { return None };
            name.mutability = None;
            arguments.push(name.ident.clone());
        }
        let name = &outer.sig.ident;
        *outer.block = syn::parse_quote!({ inner::#name(#(#arguments),*) });
        outer.vis = syn::parse_quote!(pub);
        let items = &file.items;
        let mark = together.then(|| quote!(#[stratape::differentiable]));
        let text = quote! {
            #mark
            pub mod inner { #(#items)* }
            #[allow(unused_imports)]
            pub use inner::*;
            #[stratape::gradient]
            #outer
        };
        let name = if together { "linked module" } else { "linked items" };
        Some(Self { name, items: in_lines(text.to_string()), workspace: None })
    }

    /// The program with every loop that can be cut into as many parts as it has iterations, if one can.
    pub(crate) fn parallel(source: &str) -> Result<Option<Self>, String> {
        // These need functions of their own beside the gradient.
        if source.contains("rec_") || source.contains("#[checkpoint") {
            return Ok(None);
        }
        let source = source.replacen("fn program(", "pub fn program(", 1).replace("pub pub", "pub");
        let made = guarded(|| {
            let file = syn::parse_file(&source)?;
            let Some(item) = rewrite::program(&file) else { return Ok(None) };
            let items = front::Items::collect(&file.items)?;
            // A part for every iteration, if there are lanes for it.
            let target = Target { part_operations: 1, ..Target::default() };
            let parallel = Some(Span::call_site());
            let options = Options { parallel, target, ..Options::default() };
            front::lower(&item, &items)?;
            let Ok(compiled) = driver::compile(&item, &items, &options) else { return Ok(None) };
            if let Some(fault) = &compiled.fault {
                return Err(syn::Error::new(Span::call_site(), fault));
            }
            let fault = |fault| syn::Error::new(Span::call_site(), fault);
            let valid = compiled.valid().map_err(fault)?;
            let emitted = back::rust::emit(&item, &compiled, valid, items.sources());
            Ok(Some(emitted.to_string()))
        });
        let emitted = made.map_err(|failure| failure.to_string())?;
        Ok(emitted.filter(|emitted| emitted.contains("begin_lanes")).map(|emitted| {
            let items = format!("{}\n{emitted}", source.replace("#[parallel]", ""));
            Self { name: "parallel", items: in_lines(items), workspace: Some("lanes") }
        }))
    }
}

/// The items of a source and of the gradient of its program.
fn expanded(source: &str, arguments: &str) -> Result<String, String> {
    let source = if source.contains("pub fn program(") {
        source.to_owned()
    } else {
        source.replacen("fn program(", "pub fn program(", 1)
    };
    let text = if rewrite::has_module(&source) {
        let mark = format!("#[gradient({arguments})] pub fn program(");
        let marked = source.replacen("pub fn program(", &mark, 1);
        let module: TokenStream = format!("mod inner {{ {marked} }}").parse().unwrap();
        let module = guarded(|| Ok(expand::differentiable(&TokenStream::new(), &module)));
        format!("{} pub use inner::*;", module.map_err(|failure| failure.to_string())?)
    } else {
        let item: TokenStream = source.parse().unwrap();
        let arguments: TokenStream = arguments.parse().unwrap();
        let function = guarded(|| Ok(expand::gradient(arguments, &item)));
        function.map_err(|failure| failure.to_string())?.to_string()
    };
    if text.contains("compile_error !") {
        return Err(format!("the attribute refuses the program: {text}"));
    }
    Ok(in_lines(text))
}

/// One statement a line, so that rustc's messages have lines.
fn in_lines(text: String) -> String {
    syn::parse_file(&text).map_or(text, |file| prettyplease::unparse(&file))
}
