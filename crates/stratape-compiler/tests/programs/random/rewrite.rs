//! Other texts of one program: what calls itself copied out as deep as it goes, helpers put where they are called.

use std::collections::HashMap;

use quote::{ToTokens, format_ident};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, File, Item, ItemFn, Stmt};

/// No function of a program calls itself deeper than this.
const DEPTH: usize = 9;
/// Nor the one that halves its list deeper than this; each level doubles the text.
const HALVINGS: usize = 5;

fn deepest(name: &str) -> usize {
    if name == "rec_halves" { HALVINGS } else { DEPTH }
}

/// The function that is differentiated: the one called `program`, or the last.
pub(crate) fn program(file: &File) -> Option<ItemFn> {
    let mut functions = file.items.iter().filter_map(|item| match item {
        Item::Fn(function) => Some(function),
        _ => None,
    });
    let found = functions.clone().find(|function| function.sig.ident == "program");
    found.or_else(|| functions.next_back()).cloned()
}

/// Whether a text is more than one function: it needs a module around it.
pub(crate) fn has_module(source: &str) -> bool {
    syn::parse_file(source).is_ok_and(|file| file.items.len() > 1)
}

fn is_recursive(name: &str) -> bool {
    name.starts_with("rec_")
}

fn callee(call: &syn::ExprCall) -> Option<String> {
    match &*call.func {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// Renames calls of functions that call themselves, or cuts them off where it is deep enough.
struct Deeper {
    level: usize,
}

impl VisitMut for Deeper {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let Expr::Call(call) = expr else { return };
        let Some(name) = callee(call).filter(|name| is_recursive(name)) else { return };
        let replaced = if self.level > deepest(&name) {
            syn::parse_str(if name == "rec_spread" { "{}" } else { "0.0" })
        } else {
            let name = format_ident!("{name}_{}", self.level);
            syn::parse_str(&name.to_string()).map(|path| {
                *call.func = path;
                Expr::Call(call.clone())
            })
        };
        if let Ok(replaced) = replaced {
            *expr = replaced;
        }
    }
}

/// The program with functions that call themselves as copies, each of which calls the next: the interpreter knows no calls.
pub(crate) fn unrolled(file: &File) -> File {
    let mut out = file.clone();
    out.items.clear();
    for item in &file.items {
        match item {
            Item::Fn(function) if is_recursive(&function.sig.ident.to_string()) => {
                for level in 0..=deepest(&function.sig.ident.to_string()) {
                    let mut copy = function.clone();
                    // The first keeps its name: calls of it stand in macros too.
                    if level > 0 {
                        copy.sig.ident = format_ident!("{}_{level}", function.sig.ident);
                    }
                    Deeper { level: level + 1 }.visit_block_mut(&mut copy.block);
                    out.items.push(Item::Fn(copy));
                }
            }
            _ => out.items.push(item.clone()),
        }
    }
    out
}

/// Puts the bodies of helpers where they are called.
struct Inline<'f> {
    functions: &'f HashMap<String, ItemFn>,
    done: usize,
}

impl VisitMut for Inline<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let Expr::Call(call) = expr else { return };
        let Some(function) = callee(call).and_then(|name| self.functions.get(&name)) else {
            return;
        };
        let mut body = function.block.clone();
        self.visit_block_mut(&mut body);
        let mut lets: Vec<Stmt> = Vec::new();
        for (input, arg) in function.sig.inputs.iter().zip(&call.args) {
            let syn::FnArg::Typed(input) = input else { return };
            let (pat, ty) = (&input.pat, &input.ty);
            lets.push(syn::parse_quote!(let #pat: #ty = #arg;));
        }
        lets.extend(body.stmts);
        self.done += 1;
        let block: Expr = syn::parse_quote!({ #(#lets)* });
        // In parentheses, so that what follows a block belongs to it.
        *expr = if matches!(function.sig.output, syn::ReturnType::Default) {
            block
        } else {
            syn::parse_quote!((#block))
        };
    }
}

/// The program with its helpers written out by hand; nothing if there are none, or one of them returns early.
pub(crate) fn inlined(source: &str) -> Option<String> {
    let file = syn::parse_file(source).ok()?;
    let is_helper = |item: &Item| matches!(item, Item::Fn(function) if function.sig.ident.to_string().starts_with("helper"));
    let functions: HashMap<String, ItemFn> = file
        .items
        .iter()
        .filter(|item| is_helper(item))
        .filter_map(|item| match item {
            Item::Fn(function) => Some((function.sig.ident.to_string(), function.clone())),
            _ => None,
        })
        .collect();
    let returns =
        |function: &ItemFn| function.block.to_token_stream().to_string().contains("return");
    if functions.is_empty() || functions.values().any(returns) {
        return None;
    }
    let mut out = file;
    out.items.retain(|item| !is_helper(item));
    let mut inline = Inline { functions: &functions, done: 0 };
    inline.visit_file_mut(&mut out);
    let text = prettyplease::unparse(&out);
    // Calls in macros are not seen as such.
    (inline.done > 0 && !text.contains("helper")).then_some(text)
}

/// Whether a line starts a loop, after its label.
fn starts_loop(line: &str) -> bool {
    let words = line.trim_start();
    let words = words
        .split_once(": ")
        .filter(|(label, _)| label.starts_with('\''))
        .map_or(words, |(_, rest)| rest);
    ["for ", "while ", "loop {"].iter().any(|word| words.starts_with(word))
}

/// The program with `#[checkpoint]` on some of its loops, chosen by the seed; nothing if it has none.
pub(crate) fn checkpointed(source: &str, seed: u64) -> Option<String> {
    // A list from outside such a loop keeps its length.
    let changes = [
        "mem::take",
        "width",
        ".push",
        ".pop",
        ".insert(",
        ".remove(",
        ".extend",
        ".append",
        ".retain",
    ];
    if changes.iter().any(|change| source.contains(change)) {
        return None;
    }
    // One statement a line, whatever the templates wrote.
    let source = prettyplease::unparse(&syn::parse_file(source).ok()?);
    let mut marked = String::new();
    let mut marks = 0;
    for (number, line) in source.lines().enumerate() {
        if starts_loop(line) && !(seed + number as u64 * 7).is_multiple_of(3) {
            marked += &format!("#[checkpoint(slots = {})]\n", 1 + seed % 4);
            marks += 1;
        }
        marked += line;
        marked.push('\n');
    }
    (marks > 0).then_some(marked)
}
