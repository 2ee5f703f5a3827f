//! Under which macro an item answers, and how it is named there.
//!
//! Functions, types and macros have namespaces of their own. A macro of the item's own name, imported by the same `use`, can be called by
//! whoever can name the item.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

use super::answer::Set;

/// Names under which a macro would hide one that its module may call. Such items answer as `name::text!`.
const TAKEN: [&str; 56] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include",
    "include_bytes",
    "include_str",
    "is_x86_feature_detected",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "r#try",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
    "gradient",
    "differentiable",
    "checkpoint",
    "parallel",
    "constant",
    "pullback",
    "test",
    "bench",
    "derive",
    "global_allocator",
    "inline",
    "cold",
    "path",
    "feature",
    "allow",
    "warn",
    "deny",
    "addr_of",
    "pin",
];

/// Whether an item of this name answers from a module of its own.
pub(super) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

/// The macro that answers for the item a path names.
pub(super) fn macro_of(path: &Path) -> TokenStream {
    match path.segments.last() {
        Some(last) if is_taken(&last.ident.to_string()) => quote!(#path::text),
        _ => path.to_token_stream(),
    }
}

/// A number that no other item has, in this crate or another.
pub(super) fn unique(crate_name: &str, item: &TokenStream, span: Span) -> u64 {
    /// Two items from one macro have the same tokens at the same place.
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let mut hasher = DefaultHasher::new();
    crate_name.hash(&mut hasher);
    item.to_string().hash(&mut hasher);
    format!("{span:?}").hash(&mut hasher);
    COUNTER.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
    hasher.finish()
}

/// The name of an item among those of other modules.
pub(super) fn id(name: &Ident, unique: u64) -> Ident {
    let plain = name.to_string();
    let plain = plain.strip_prefix("r#").unwrap_or(&plain);
    Ident::new(&format!("{plain}{MARK}{unique:016x}"), name.span())
}

/// What stands between an item's name and its number.
const MARK: &str = "__at";

/// A text with the names that authors know.
pub fn shown(text: &str) -> String {
    let mut pieces = text.split(MARK);
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.get(..16) {
            Some(number) if number.chars().all(|c| c.is_ascii_hexdigit()) => shown += &piece[16..],
            _ => {
                shown += MARK;
                shown += piece;
            }
        }
    }
    shown
}

/// The macro that answers for an item, under the item's name, and what a module of that name shows.
pub(super) fn export(
    name: &Ident,
    vis: &syn::Visibility,
    answer: &Set,
    inside: &TokenStream,
) -> TokenStream {
    let id = answer.answers.first().map(|(_, id)| id.to_string()).unwrap_or_default();
    answering(name, vis, &id, &quote!(::stratape::__link! { { #answer } $($rest)* }), inside)
}

/// A macro under an item's name that says why there is no answer.
pub(super) fn refuse(name: &Ident, vis: &syn::Visibility, id: &Ident, why: &str) -> TokenStream {
    let message =
        format!("the compiler cannot see into `{name}` from outside its module: {}", shown(why));
    let says = quote!(::core::compile_error! { #message });
    answering(name, vis, &id.to_string(), &says, &TokenStream::new())
}

fn answering(
    name: &Ident,
    vis: &syn::Visibility,
    id: &str,
    says: &TokenStream,
    inside: &TokenStream,
) -> TokenStream {
    let hidden = format_ident!("__stratape_{}", id);
    let mut name = name.clone();
    name.set_span(Span::call_site());
    let exported = match vis {
        syn::Visibility::Public(_) => Some(quote!(#[macro_export])),
        _ => None,
    };
    let rules = quote! {
        #[doc(hidden)]
        #exported
        #[allow(unused_macros, non_local_definitions)]
        macro_rules! #hidden {
            ($($rest:tt)*) => { #says };
        }
    };
    let lints = quote!(#[doc(hidden)] #[allow(unused_imports, unreachable_pub, non_snake_case)]);
    let (beside, inside) = match (is_taken(&name.to_string()), vis) {
        (true, syn::Visibility::Public(_)) => {
            (None, quote!(#rules #lints pub use #hidden as text; #inside))
        }
        (true, _) => (None, quote!(#rules #lints pub(crate) use #hidden as text; #inside)),
        (false, _) => (Some(quote!(#rules #lints #vis use #hidden as #name;)), inside.clone()),
    };
    if inside.is_empty() {
        return quote!(#beside);
    }
    // Seen by whoever reads a text that calls it, which may be more than see the function.
    quote! {
        #beside
        #lints
        pub mod #name { #inside }
    }
}
