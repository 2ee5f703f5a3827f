//! The names that a text takes from around it: what it asks for, and where the answers are written.
//!
//! One walk serves both: what is found in one pass is what is replaced in the next.

use std::collections::HashSet;

use crate::walk::visit::{self, Visit};
use crate::walk::visit_mut::{self, VisitMut};
use proc_macro2::Span;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Path, Token};

use super::words::{
    CALLED, CONDITIONS, LOGS, MESSAGES, OF_TABLES, is_constant, is_library, is_root, is_type,
};
use crate::front::is_of_kernels;
use crate::library;

/// What a path names, as far as its spelling tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `drag`, `air::drag`
    Function,
    /// `Point`, `shapes::Point`; also where it stands before a method or a variant.
    Type,
    /// `G`, `units::G`, of which the value is used.
    Constant,
    /// `TABLE`, of which elements are used.
    Table,
    /// `array!`, of a crate that is known by heart, or of another, which nobody is asked for.
    Macro,
}

/// The names that a pattern binds, or the imports and items of a block.
#[derive(Default)]
struct Bound(HashSet<String>);

impl Bound {
    /// The names that a pattern binds: one with a capital may be a constant or a variant, where the pattern need not fit.
    fn of_pattern(pat: &syn::Pat) -> HashSet<String> {
        let mut bound = Self::default();
        bound.visit_pat(pat);
        bound.0.retain(|name| !is_type(name));
        bound.0
    }

    /// The names that a pattern binds which always fits.
    fn of_sure_pattern(pat: &syn::Pat) -> HashSet<String> {
        let mut bound = Self::default();
        bound.visit_pat(pat);
        bound.0
    }

    /// What the items inside a block are called: they are in sight in all of it.
    fn of_items(block: &syn::Block) -> HashSet<String> {
        let mut bound = Self::default();
        for stmt in &block.stmts {
            let syn::Stmt::Item(item) = stmt else { continue };
            match item {
                syn::Item::Fn(item) => drop(bound.0.insert(item.sig.ident.to_string())),
                syn::Item::Const(item) => drop(bound.0.insert(item.ident.to_string())),
                syn::Item::Static(item) => drop(bound.0.insert(item.ident.to_string())),
                syn::Item::Struct(item) => drop(bound.0.insert(item.ident.to_string())),
                syn::Item::Enum(item) => drop(bound.0.insert(item.ident.to_string())),
                syn::Item::Type(item) => drop(bound.0.insert(item.ident.to_string())),
                syn::Item::Trait(item) => drop(bound.0.insert(item.ident.to_string())),
                syn::Item::Use(item) => bound.visit_item_use(item),
                _ => {}
            }
        }
        bound.0
    }

    fn of_generics(generics: &syn::Generics) -> HashSet<String> {
        let mut bound = Self::default();
        bound.visit_generics(generics);
        bound.0
    }
}

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, pat: &syn::PatIdent) {
        self.0.insert(pat.ident.to_string());
        visit::visit_pat_ident(self, pat);
    }

    fn visit_type_param(&mut self, param: &syn::TypeParam) {
        self.0.insert(param.ident.to_string());
    }

    fn visit_const_param(&mut self, param: &syn::ConstParam) {
        self.0.insert(param.ident.to_string());
    }

    fn visit_use_name(&mut self, name: &syn::UseName) {
        self.0.insert(name.ident.to_string());
    }

    fn visit_use_rename(&mut self, name: &syn::UseRename) {
        self.0.insert(name.rename.to_string());
    }
}

/// What stands for a name that was found.
type Answer<'a> = dyn FnMut(Kind, &Path) -> Option<Path> + 'a;

/// What a walk noticed beside the names.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    /// Names from outside in the messages of panics, which are not replaced.
    pub(super) in_messages: Vec<Span>,
    /// Imports inside the function that do not begin at the library.
    pub(super) imports: Vec<Span>,
}

/// Replaces the names that `item` takes from around it by what `answer` says, where it says anything. The messages of panics are read for
/// text that leaves its module; others are emitted where they stand.
pub(super) fn replace(item: &mut syn::Item, messages: bool, answer: &mut Answer<'_>) -> Noticed {
    let scopes = vec![HashSet::new()];
    let noticed = Noticed::default();
    let mut names = Names { scopes, answer, messages, all: false, noticed };
    names.visit_item_mut(item);
    names.noticed
}

/// The same where every name that is asked about is known to be an item or not: small letters alone make no variable.
pub(super) fn replace_known(item: &mut syn::Item, answer: &mut Answer<'_>) {
    let scopes = vec![HashSet::new()];
    let noticed = Noticed::default();
    Names { scopes, answer, messages: false, all: true, noticed }.visit_item_mut(item);
}

/// The walk over an item.
struct Names<'a, 'b> {
    /// The names that are bound around here, innermost last.
    scopes: Vec<HashSet<String>>,
    answer: &'a mut Answer<'b>,
    messages: bool,
    /// Whether names that look like variables are asked about, too.
    all: bool,
    noticed: Noticed,
}

impl Names<'_, '_> {
    fn is_bound(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(name))
    }

    /// Walks on with more names bound.
    fn within(&mut self, names: HashSet<String>, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(names);
        walk(self);
        self.scopes.pop();
    }

    fn signature_and_body(&mut self, sig: &mut syn::Signature, block: &mut syn::Block) {
        let mut bound = Bound::of_generics(&sig.generics);
        for input in &sig.inputs {
            if let syn::FnArg::Typed(input) = input {
                bound.extend(Bound::of_sure_pattern(&input.pat));
            }
        }
        self.within(bound, |me| {
            me.visit_signature_mut(sig);
            me.visit_block_mut(block);
        });
    }

    /// What an expression's path names, and how many of its segments; nothing for names that come from inside, or from the library.
    fn classify(&self, path: &Path) -> Option<(Kind, usize)> {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let (first, last) = (names.first()?, names.last()?);
        // What is known by heart is asked for as any name is.
        let ours = first == "stratape"
            && match names.get(1).map(String::as_str) {
                Some("linalg") => false,
                Some("gpu") => names.get(2).is_none_or(|name| is_of_kernels(name)),
                _ => true,
            };
        if ours || path.segments.first().is_some_and(|first| is_root(&first.ident)) {
            return None;
        }
        if let [only] = &names[..] {
            let known = only == "self" || self.is_bound(only) || is_library(only);
            let kind = match (is_constant(only), is_type(only)) {
                (true, _) => Kind::Constant,
                (false, true) => Kind::Type,
                (false, false) => Kind::Function,
            };
            return (!known).then_some((kind, 1));
        }
        if let [.., owner, name] = &names[..]
            && CALLED.contains(&(owner.as_str(), name.as_str()))
        {
            return None;
        }
        let before = &names[..names.len() - 1];
        if let Some(at) = before.iter().position(|name| is_type(name) || is_library(name)) {
            let known = is_library(&before[at]) || self.is_bound(&before[at]);
            return (!known).then_some((Kind::Type, at + 1));
        }
        let kind = match (is_constant(last), is_type(last)) {
            (true, _) => Kind::Constant,
            (false, true) => Kind::Type,
            (false, false) => Kind::Function,
        };
        Some((kind, names.len()))
    }

    /// Replaces the first segments of a path.
    fn replace(&mut self, path: &mut Path, kind: Kind, len: usize) {
        let mut asked = path.clone();
        asked.segments = path.segments.iter().take(len).cloned().collect();
        for segment in &mut asked.segments {
            segment.arguments = syn::PathArguments::None;
        }
        let Some(mut answer) = (self.answer)(kind, &asked) else { return };
        // A variable of that name would come before the item.
        if len > 1 && answer.get_ident().is_some_and(|name| self.is_bound(&name.to_string())) {
            return;
        }
        if let Some(last) = asked.segments.last() {
            // Nobody wrote the whole path of the library: what rustc says of such paths is not for them.
            let is_library = answer.segments.first().is_some_and(|first| is_root(&first.ident));
            let span = match is_library {
                true => Span::call_site().located_at(last.ident.span()),
                false => last.ident.span(),
            };
            answer.segments.iter_mut().for_each(|segment| segment.ident.set_span(span));
        }
        if let (Some(known), Some(last)) =
            (path.segments.iter().nth(len.saturating_sub(1)), answer.segments.last_mut())
        {
            last.arguments = known.arguments.clone();
        }
        let rest = path.segments.iter().skip(len).cloned();
        answer.segments.extend(rest);
        *path = answer;
    }

    fn in_expression(&mut self, path: &mut Path, called: bool) {
        match self.classify(path) {
            Some((Kind::Constant, len)) if called => self.replace(path, Kind::Type, len),
            // A variable that is misspelt is no function: rustc says so.
            Some((Kind::Function, 1)) if !called && !self.all => {}
            Some((kind, len)) => self.replace(path, kind, len),
            None => {}
        }
    }

    /// An expression that may be a function, handed on to be called.
    fn handed(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(path) if path.qself.is_none() => match self.classify(&path.path) {
                Some((Kind::Function, 1)) => self.replace(&mut path.path, Kind::Function, 1),
                _ => self.in_expression(&mut path.path, false),
            },
            other => self.visit_expr_mut(other),
        }
    }

    /// An expression of which elements are used.
    fn table(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(inner) => self.table(&mut inner.expr),
            Expr::Reference(inner) => self.table(&mut inner.expr),
            Expr::Path(path) if path.qself.is_none() => {
                if let Some((Kind::Constant, len)) = self.classify(&path.path) {
                    self.replace(&mut path.path, Kind::Table, len);
                }
            }
            _ => {}
        }
    }

    /// The name under which a macro was found that may be one of a crate known by heart.
    fn found(&mut self, mac: &syn::Macro) -> Option<syn::Ident> {
        if !library::is_macro(&mac.path) {
            return None;
        }
        let found = (self.answer)(Kind::Macro, &library::question(&mac.path))?;
        found.get_ident().cloned()
    }

    /// What stands for a macro of a crate known by heart, or for a slice by one.
    fn expanded(&mut self, expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::Macro(call) => {
                let found = self.found(&call.mac)?;
                library::expanded(&found, call.mac.tokens.clone())
            }
            Expr::MethodCall(call) => match call.args.first()? {
                Expr::Macro(at) if call.args.len() == 1 => {
                    let found = self.found(&at.mac)?;
                    library::sliced(call, &found, at.mac.tokens.clone())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The arguments of a macro, of which the first few are read as expressions.
    fn arguments(&mut self, mac: &mut syn::Macro, read: usize) {
        if read == usize::MAX
            && let Ok((mut item, mut count)) = repeat.parse2(mac.tokens.clone())
        {
            self.visit_expr_mut(&mut item);
            self.visit_expr_mut(&mut count);
            mac.tokens = quote::quote!(#item; #count);
            return;
        }
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let Ok(mut arguments) = parser.parse2(mac.tokens.clone()) else { return };
        for (at, argument) in arguments.iter_mut().enumerate() {
            if at < read {
                self.visit_expr_mut(argument);
            } else if self.messages {
                self.message(argument);
            }
        }
        mac.tokens = arguments.into_token_stream();
    }

    /// A message is emitted as it is: names from outside would mean something else there.
    fn message(&mut self, argument: &Expr) {
        let mut spans = Vec::new();
        let mut note = |_: Kind, path: &Path| {
            spans.push(path.span());
            None
        };
        let scopes = self.scopes.clone();
        let noticed = Noticed::default();
        let mut names = Names { scopes, answer: &mut note, messages: true, all: false, noticed };
        // `line = 3` in a message names nothing.
        match argument {
            Expr::Assign(named) => names.visit_expr_mut(&mut named.right.clone()),
            other => names.visit_expr_mut(&mut other.clone()),
        }
        self.noticed.in_messages.extend(spans);
    }
}

fn repeat(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, Expr)> {
    let item = input.parse()?;
    input.parse::<Token![;]>()?;
    Ok((item, input.parse()?))
}

/// The arguments of `matches!`; a guard is part of the pattern.
fn matched(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, syn::Pat)> {
    let value = input.parse()?;
    input.parse::<Token![,]>()?;
    let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
    input.parse::<Option<Token![,]>>()?;
    Ok((value, pat))
}

impl VisitMut<'_> for Names<'_, '_> {
    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        item.attrs.iter_mut().for_each(|attribute| self.visit_attribute_mut(attribute));
        self.signature_and_body(&mut item.sig, &mut item.block);
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        self.signature_and_body(&mut item.sig, &mut item.block);
    }

    fn visit_item_impl_mut(&mut self, item: &mut syn::ItemImpl) {
        let bound = Bound::of_generics(&item.generics);
        self.within(bound, |me| visit_mut::visit_item_impl_mut(me, item));
    }

    fn visit_item_struct_mut(&mut self, item: &mut syn::ItemStruct) {
        let bound = Bound::of_generics(&item.generics);
        self.within(bound, |me| visit_mut::visit_item_struct_mut(me, item));
    }

    fn visit_item_type_mut(&mut self, item: &mut syn::ItemType) {
        let bound = Bound::of_generics(&item.generics);
        self.within(bound, |me| visit_mut::visit_item_type_mut(me, item));
    }

    fn visit_item_enum_mut(&mut self, item: &mut syn::ItemEnum) {
        let bound = Bound::of_generics(&item.generics);
        self.within(bound, |me| visit_mut::visit_item_enum_mut(me, item));
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let bound = Bound::of_items(block);
        self.within(bound, |me| visit_mut::visit_block_mut(me, block));
    }

    // A variable is in sight after its `let`.
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        let sure = local.init.as_ref().is_none_or(|init| init.diverge.is_none());
        let bound = if sure { Bound::of_sure_pattern } else { Bound::of_pattern }(&local.pat);
        // Its own names are not asked for.
        let own = if sure { bound.clone() } else { HashSet::new() };
        if let Some(init) = &mut local.init {
            self.visit_local_init_mut(init);
        }
        self.within(own, |me| me.visit_pat_mut(&mut local.pat));
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(bound);
        }
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let bound = closure.inputs.iter().flat_map(Bound::of_sure_pattern).collect();
        self.within(bound, |me| visit_mut::visit_expr_closure_mut(me, closure));
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        let bound = Bound::of_pattern(&arm.pat);
        self.within(bound, |me| visit_mut::visit_arm_mut(me, arm));
    }

    // `if let` binds in the branch, and is refused later on.
    fn visit_expr_let_mut(&mut self, binding: &mut syn::ExprLet) {
        visit_mut::visit_expr_let_mut(self, binding);
        let bound = Bound::of_pattern(&binding.pat);
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(bound);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(expanded) = self.expanded(expr) {
            *expr = expanded;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_attribute_mut(&mut self, attribute: &mut syn::Attribute) {
        // The settings of a mark are expressions.
        if let syn::Meta::List(list) = &mut attribute.meta
            && self.messages
        {
            let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
            if let Ok(settings) = parser.parse2(list.tokens.clone()) {
                for setting in &settings {
                    if let Expr::Assign(setting) = setting {
                        self.message(&setting.right);
                    }
                }
            }
        }
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        match &mut *call.func {
            Expr::Path(path) if path.qself.is_none() => self.in_expression(&mut path.path, true),
            func => self.visit_expr_mut(func),
        }
        call.args.iter_mut().for_each(|arg| self.handed(arg));
    }

    fn visit_local_init_mut(&mut self, init: &mut syn::LocalInit) {
        self.handed(&mut init.expr);
        if let Some((_, otherwise)) = &mut init.diverge {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_index_mut(&mut self, index: &mut syn::ExprIndex) {
        self.table(&mut index.expr);
        visit_mut::visit_expr_index_mut(self, index);
    }

    fn visit_expr_reference_mut(&mut self, reference: &mut syn::ExprReference) {
        self.table(&mut reference.expr);
        visit_mut::visit_expr_reference_mut(self, reference);
    }

    fn visit_expr_for_loop_mut(&mut self, node: &mut syn::ExprForLoop) {
        node.attrs.iter_mut().for_each(|attribute| self.visit_attribute_mut(attribute));
        self.table(&mut node.expr);
        self.visit_expr_mut(&mut node.expr);
        let bound = Bound::of_sure_pattern(&node.pat);
        self.within(bound, |me| {
            me.visit_pat_mut(&mut node.pat);
            me.visit_block_mut(&mut node.body);
        });
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        if OF_TABLES.iter().any(|method| call.method == method) {
            self.table(&mut call.receiver);
        }
        self.visit_expr_mut(&mut call.receiver);
        if let Some(turbofish) = &mut call.turbofish {
            self.visit_angle_bracketed_generic_arguments_mut(turbofish);
        }
        call.args.iter_mut().for_each(|arg| self.handed(arg));
    }

    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if path.qself.is_none() {
            self.in_expression(&mut path.path, false);
        }
    }

    fn visit_expr_struct_mut(&mut self, literal: &mut syn::ExprStruct) {
        self.in_expression(&mut literal.path, true);
        for field in &mut literal.fields {
            self.visit_expr_mut(&mut field.expr);
        }
        if let Some(rest) = &mut literal.rest {
            self.visit_expr_mut(rest);
        }
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        let path = &mut Path::from(pat.ident.clone());
        if is_type(&pat.ident.to_string()) {
            self.in_expression(path, false);
            if let Some(ident) = path.get_ident() {
                pat.ident = ident.clone();
            }
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_pat_struct_mut(&mut self, pat: &mut syn::PatStruct) {
        self.in_expression(&mut pat.path, true);
        pat.fields.iter_mut().for_each(|field| self.visit_pat_mut(&mut field.pat));
    }

    fn visit_pat_tuple_struct_mut(&mut self, pat: &mut syn::PatTupleStruct) {
        self.in_expression(&mut pat.path, true);
        pat.elems.iter_mut().for_each(|pat| self.visit_pat_mut(pat));
    }

    fn visit_type_path_mut(&mut self, ty: &mut syn::TypePath) {
        if ty.qself.is_none()
            && let Some((_, _)) = self.classify(&ty.path)
        {
            let len = ty.path.segments.len();
            self.replace(&mut ty.path, Kind::Type, len);
        }
        for segment in &mut ty.path.segments {
            self.visit_path_arguments_mut(&mut segment.arguments);
        }
    }

    // The traits of bounds are the library's; what stands in their brackets is visited.
    fn visit_trait_bound_mut(&mut self, bound: &mut syn::TraitBound) {
        for segment in &mut bound.path.segments {
            self.visit_path_arguments_mut(&mut segment.arguments);
        }
    }

    fn visit_item_use_mut(&mut self, item: &mut syn::ItemUse) {
        let library = matches!(&item.tree, syn::UseTree::Path(path) if is_root(&path.ident));
        if !library {
            self.noticed.imports.push(item.span());
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(name) = mac.path.segments.last().map(|one| one.ident.to_string()) else { return };
        if LOGS.contains(&name.as_str()) && self.messages {
            self.noticed.in_messages.push(mac.path.span());
        }
        if MESSAGES.contains(&name.as_str()) {
            self.arguments(mac, 0);
        }
        if name == "matches"
            && let Ok((mut value, mut pat)) = matched.parse2(mac.tokens.clone())
        {
            self.visit_expr_mut(&mut value);
            self.within(Bound::of_pattern(&pat), |me| me.visit_pat_mut(&mut pat));
            mac.tokens = quote::quote!(#value, #pat);
        }
        if library::is_macro(&mac.path)
            && let Some(mut pieces) = library::pieces(mac.tokens.clone())
        {
            let joined = pieces.iter_mut().map(|(piece, after)| {
                self.visit_expr_mut(piece);
                let after =
                    after.map(|after| proc_macro2::Punct::new(after, proc_macro2::Spacing::Alone));
                quote::quote!(#piece #after)
            });
            mac.tokens = joined.collect();
        }
        if let Some((_, read)) = CONDITIONS.iter().find(|(known, _)| *known == name) {
            self.arguments(mac, *read);
        }
    }
}
