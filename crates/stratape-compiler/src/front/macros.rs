//! Macros a function may call: `vec!`, assertions, panics, what prints.

use crate::walk::visit_mut::VisitMut;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result, Token};

use super::mention::Mentioned;
use super::val::{LValue, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Check, Compare, Init, Op, Scalar, Stmt, Type, ValueId};

/// `value; count` or a list.
enum VecArgs {
    Repeat(Box<(Expr, Expr)>),
    List(Punctuated<Expr, Token![,]>),
}

impl Parse for VecArgs {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Ok(Self::List(Punctuated::new()));
        }
        let first: Expr = input.parse()?;
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(Self::Repeat(Box::new((first, input.parse()?))));
        }
        let mut list = Punctuated::new();
        list.push_value(first);
        while input.peek(Token![,]) {
            list.push_punct(input.parse()?);
            if !input.is_empty() {
                list.push_value(input.parse()?);
            }
        }
        Ok(Self::List(list))
    }
}

impl Lowerer<'_> {
    /// `name!(…)`
    pub(super) fn macro_call(&mut self, mac: &syn::Macro, span: Span) -> Result<Val> {
        let name =
            mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "vec" => self.vec_macro(mac, None, span),
            "assert" | "debug_assert" | "assert_eq" | "assert_ne" | "debug_assert_eq"
            | "debug_assert_ne" => {
                self.assertion(mac, &name, span)?;
                Ok(Val::Unit)
            }
            "matches" => self.matches_macro(mac, span),
            "panic" | "unreachable" | "unimplemented" | "todo" => {
                self.panic(mac, span)?;
                Ok(Val::Never)
            }
            _ if prints(mac) => {
                self.print(&mac.path, &mac.tokens, span)?;
                Ok(Val::Unit)
            }
            "format" => {
                // Nobody looks at it but a message, which says so.
                let text = self.b.int(0, Scalar::Int(stratape_ir::Int::Isize), span);
                self.enums.insert(text, super::FORMATTED.to_owned());
                Ok(Val::Scalar(text))
            }
            "dbg" => self.debug(mac, span),
            "s" => Err(unsupported(
                mac.path.span(),
                "`s!` here",
                "use it as the only argument of `slice` and `slice_mut`, with at least one range and with literal steps, which must be positive in a slice that is \
                 written to",
            )),
            "azip" => Err(unsupported(
                mac.path.span(),
                "`azip!`",
                "write `Zip::from(&mut a).and(&b).for_each(|a, &b| …)`",
            )),
            _ => Err(unsupported(
                mac.path.span(),
                &format!("the macro `{name}!`"),
                "`vec!`, assertions, `panic!`, `println!` and its like, `dbg!`, `log::…!` and `tracing::…!` can be used in a differentiated \
                 function",
            )),
        }
    }

    /// `vec![…]`, of items of a type that is known from where the list goes, if it is.
    pub(super) fn vec_macro(
        &mut self,
        mac: &syn::Macro,
        ty: Option<&Type>,
        span: Span,
    ) -> Result<Val> {
        match mac.parse_body::<VecArgs>()? {
            VecArgs::Repeat(parts) => {
                let (item, count) = *parts;
                let item_val = self.item_as(&item, ty)?;
                let item_val = self.as_vec(item_val, item.span())?;
                let count = self.usize_expr(&count)?;
                let (init, ty) = self.init_of(item_val, item.span())?;
                self.no_buffers(&ty, item.span())?;
                let ty = Type::Vec(Box::new(ty));
                Ok(self.new_array(ty, Init::Repeat(Box::new(init), count), span))
            }
            VecArgs::List(items) if items.is_empty() => self.fresh_list(span),
            VecArgs::List(items) => {
                let mut vals = Vec::new();
                for item in &items {
                    let val = self.item_as(item, ty)?;
                    vals.push(self.as_vec(val, item.span())?);
                }
                if !vals.iter().all(|val| matches!(val, Val::Scalar(_))) {
                    return self.list_of(vals, span);
                }
                // An array serves as well: its length is known.
                let spans = items.iter().map(Spanned::span);
                let val = self.array_of(vals.into_iter().zip(spans).collect(), span)?;
                if let Val::Place(LValue::Memory(memory)) = &val {
                    self.written_as_vec.insert(memory.place.object);
                }
                Ok(val)
            }
        }
    }

    /// A `Vec` of values that are no numbers.
    fn list_of(&mut self, vals: Vec<Val>, span: Span) -> Result<Val> {
        let known = vals.iter().find_map(|val| self.type_of(val));
        let item = match (known, vals.first()) {
            (None, Some(val)) => self.type_in_memory(val),
            (known, _) => known,
        };
        let Some(item) = item else {
            return Err(unsupported(
                span,
                "a list of this",
                "use numbers, tuples, structs, arrays and lists",
            ));
        };
        let len = self.b.usize(vals.len(), span);
        let list = LValue::Memory(self.zeros(&Type::Vec(Box::new(item)), len, span)?);
        for (at, val) in vals.into_iter().enumerate() {
            let at = self.b.usize(at, span);
            let place = self.element_unchecked(&list, at, span)?;
            self.write_parts(&place, val, span)?;
        }
        Ok(Val::Place(list))
    }

    /// An assertion: where its condition does not hold, the panic it would have been is run.
    fn assertion(&mut self, mac: &syn::Macro, name: &str, span: Span) -> Result<()> {
        if let Some(plain) = name.strip_prefix("debug_") {
            let tokens = quote!(::core::cfg!(debug_assertions));
            let enabled = self.b.emit(Op::Const(self.b.opaque(tokens)), Scalar::Bool, span);
            self.branch(
                enabled,
                span,
                |me| me.assertion(mac, plain, span).map(|()| Val::Unit),
                |_| Ok(Val::Unit),
            )?;
            return Ok(());
        }
        let args = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
        let mut args = args.into_iter();
        let missing = || Error::new(span, format!("`{name}!` takes more arguments"));
        let first = args.next().ok_or_else(missing)?;
        if name == "assert" {
            let condition = self.condition(&first)?;
            let message: Vec<Expr> = args.collect();
            if message.is_empty() {
                let text = format!("assertion failed: {}", text_of(mac, &first));
                self.fail_unless(
                    condition,
                    &quote!(::core::panic!("{}", #text)),
                    Mentioned::default(),
                    span,
                );
                return Ok(());
            }
            let mentioned = self.mentioned(&quote!(#(#message),*))?;
            let message = mentioned.rewritten(quote!(#(#message),*));
            // Of the edition of its text.
            let panic = quote_spanned!(mac.path.span()=> ::core::panic!(#message));
            self.fail_unless(condition, &panic, mentioned, span);
            return Ok(());
        }
        let second = args.next().ok_or_else(missing)?;
        let (left, right) = (self.compared(&first)?, self.compared(&second)?);
        self.unify(left, right, span)?;
        let (sign, check) = match name {
            "assert_eq" => (Compare::Eq, quote!(::core::assert_eq!)),
            _ => (Compare::Ne, quote!(::core::assert_ne!)),
        };
        let condition = self.b.compare(sign, left, right, span);
        let message: TokenStream = args.map(|arg| quote!(, #arg)).collect();
        let mut mentioned = self.mentioned(&message)?;
        let message = mentioned.rewritten(message);
        mentioned.names.push(("__left".to_owned(), left));
        mentioned.names.push(("__right".to_owned(), right));
        self.fail_unless(condition, &quote!(#check(__left, __right #message)), mentioned, span);
        Ok(())
    }

    /// A side of `assert_eq!`.
    fn compared(&mut self, expr: &Expr) -> Result<ValueId> {
        let val = self.operand(expr)?;
        if matches!(self.owner_of(&val), Some(name) if self.module.enums.contains_key(&name)) {
            return Err(unsupported(
                expr.span(),
                "`assert_eq!` of enums",
                "use `assert!(a == b)`, which need not print them",
            ));
        }
        match self.scalar(val, expr.span()) {
            Ok(value) => Ok(value),
            Err(_) => Err(unsupported(
                expr.span(),
                "`assert_eq!` of anything but numbers",
                "use `assert!(a == b)`, which need not print them",
            )),
        }
    }

    /// `println!(…)` and its like: run once, in the forward half.
    fn print(&mut self, path: &syn::Path, tokens: &TokenStream, span: Span) -> Result<()> {
        let mentioned = self.mentioned(tokens)?;
        let tokens = mentioned.rewritten(tokens.clone());
        let Mentioned { names, objects, bindings } = mentioned;
        let otherwise = quote!(#(#bindings)* #path!(#tokens));
        let condition = self.b.bool(false, span);
        let otherwise = self.module.sources.opaque(otherwise);
        let check = Check::Assert { condition, otherwise, names, objects, prints: true };
        let span = self.module.sources.id(span);
        self.b.node(Stmt::Check { check, span });
        Ok(())
    }

    /// `dbg!(…)`: prints the expression and its value, and is that value.
    fn debug(&mut self, mac: &syn::Macro, span: Span) -> Result<Val> {
        let args = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
        let mut vals = Vec::new();
        for arg in &args {
            let val = self.expr(arg)?;
            let name = "__debugged";
            self.scoped(|me| {
                me.bind_name(name, val.clone(), false, span)?;
                let text = text_of(mac, arg);
                let name = proc_macro2::Ident::new(name, Span::call_site());
                let path: syn::Path = syn::parse_quote!(::std::eprintln);
                let tokens = quote::quote_spanned! {span=>
                    "[{}:{}:{}] {} = {:#?}", ::core::file!(), ::core::line!(), ::core::column!(), #text, #name
                };
                me.print(&path, &tokens, span)
            })?;
            vals.push(val);
        }
        Ok(match vals.len() {
            0 => Val::Unit,
            1 => vals.remove(0),
            _ => Self::tuple(vals),
        })
    }

    /// `panic!(…)` and its like, where control gets there.
    fn panic(&mut self, mac: &syn::Macro, span: Span) -> Result<()> {
        let never = self.b.bool(false, span);
        let mentioned = self.mentioned(&mac.tokens)?;
        let (path, tokens) = (&mac.path, mentioned.rewritten(mac.tokens.clone()));
        self.fail_unless(never, &quote!(#path!(#tokens)), mentioned, span);
        Ok(())
    }

    /// Runs tokens that panic, where a condition does not hold.
    pub(super) fn fail_unless(
        &mut self,
        condition: ValueId,
        panic: &TokenStream,
        mentioned: Mentioned,
        span: Span,
    ) {
        let Mentioned { names, objects, bindings } = mentioned;
        let otherwise = quote!(#(#bindings)* #panic);
        self.b.node(Stmt::Check {
            check: Check::Assert {
                condition,
                otherwise: self.module.sources.opaque(otherwise),
                names,
                objects,
                prints: false,
            },
            span: self.module.sources.id(span),
        });
    }
}

/// Whether a macro prints, or hands something to a log.
fn prints(mac: &syn::Macro) -> bool {
    const PRINT: [&str; 4] = ["println", "eprintln", "print", "eprint"];
    const LOG: [&str; 5] = ["trace", "debug", "info", "warn", "error"];
    mac.path
        .segments
        .last()
        .is_some_and(|last| PRINT.iter().chain(&LOG).any(|known| last.ident == known))
}

/// The only argument of a macro as its author wrote it, on one line.
fn text_of(mac: &syn::Macro, argument: &Expr) -> String {
    let Some(source) = mac.delimiter.span().join().source_text() else {
        return argument.to_token_stream().to_string();
    };
    let inner = source.get(1..source.len().saturating_sub(1)).unwrap_or_default();
    let words: Vec<&str> = inner.trim().trim_end_matches(',').split_whitespace().collect();
    words.join(" ").replace(" .", ".")
}

/// Gives every `assert!` without a message the one it has: where its text is read from elsewhere, the names in it are others.
pub(crate) fn spell_assertions(block: &mut syn::Block) {
    struct Spell;

    impl VisitMut<'_> for Spell {
        fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
            let known = ["assert", "debug_assert"];
            if !mac
                .path
                .segments
                .last()
                .is_some_and(|last| known.iter().any(|name| last.ident == name))
            {
                return;
            }
            let arguments = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
            if let Ok(arguments) = arguments
                && arguments.len() == 1
                && let Some(condition) = arguments.first()
            {
                let text = format!("assertion failed: {}", text_of(mac, condition));
                mac.tokens = quote!(#condition, "{}", #text);
            }
        }
    }

    Spell.visit_block_mut(block);
}
