//! Macros a function may call: `vec!`, assertions, panics.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result, Token};

use super::val::{Lv, Val};
use super::{Lowerer, unsupported};
use crate::ir::{Check, Compare, Init, Node, ObjectId, Type, ValueId};

/// Values and objects that tokens mention, by name.
type Mentioned = (Vec<(String, ValueId)>, Vec<(String, ObjectId)>);

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
            "vec" => self.vec_macro(mac, span),
            "assert" | "debug_assert" | "assert_eq" | "assert_ne" | "debug_assert_eq"
            | "debug_assert_ne" => {
                self.assertion(mac, &name, span)?;
                Ok(Val::Unit)
            }
            "panic" | "unreachable" | "unimplemented" | "todo" => {
                let condition = self.b.bool(false, span);
                self.assert_node(mac, condition, span)?;
                Ok(Val::Never)
            }
            _ => Err(unsupported(
                mac.path.span(),
                &format!("the macro `{name}!`"),
                "only `vec!`, assertions and `panic!` can be used in a differentiated function",
            )),
        }
    }

    fn vec_macro(&mut self, mac: &syn::Macro, span: Span) -> Result<Val> {
        match mac.parse_body::<VecArgs>()? {
            VecArgs::Repeat(both) => {
                let (item, count) = *both;
                let item_val = self.expr(&item)?;
                let count = self.usize_expr(&count)?;
                let (init, ty) = self.init_of(item_val, item.span())?;
                let ty = Type::Vec(Box::new(ty));
                Ok(self.new_array(ty, Init::Repeat(Box::new(init), count), span))
            }
            VecArgs::List(items) if items.is_empty() => Err(unsupported(
                span,
                "`Vec`s that grow",
                "make it as long as it will be with `vec![0.0; n]`, and write the elements",
            )),
            VecArgs::List(items) => {
                let array = syn::ExprArray {
                    attrs: Vec::new(),
                    bracket_token: syn::token::Bracket::default(),
                    elems: items,
                };
                // An array serves as well: its length is known.
                self.operand(&Expr::Array(array))
            }
        }
    }

    fn assertion(&mut self, mac: &syn::Macro, name: &str, span: Span) -> Result<()> {
        let args = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
        let binary = name.ends_with("_eq") || name.ends_with("_ne");
        let mut rest = args.iter();
        let condition = if binary {
            let (Some(a), Some(b)) = (rest.next(), rest.next()) else {
                return Err(Error::new(span, format!("`{name}!` takes two arguments")));
            };
            let (a, b) = (self.number(a)?, self.number(b)?);
            self.unify(a, b, span)?;
            let sign = if name.ends_with("_eq") { Compare::Eq } else { Compare::Ne };
            self.b.compare(sign, a, b, span)
        } else {
            match rest.next() {
                Some(condition) => self.condition(condition)?,
                None => return Err(Error::new(span, format!("`{name}!` takes a condition"))),
            }
        };
        self.assert_node(mac, condition, span)
    }

    /// The macro itself is run where the condition fails, with the names it mentions.
    fn assert_node(&mut self, mac: &syn::Macro, condition: ValueId, span: Span) -> Result<()> {
        let (names, objects) = self.names_in(&mac.tokens)?;
        let otherwise = mac.to_token_stream();
        self.b.node(Node::Check {
            check: Check::Assert { condition, otherwise, names, objects },
            span,
        });
        Ok(())
    }

    /// Scalars and whole objects that tokens mention by name.
    fn names_in(&mut self, tokens: &TokenStream) -> Result<Mentioned> {
        let mut words = Vec::new();
        collect_words(tokens.clone(), &mut words);
        let mut names: Vec<(String, ValueId)> = Vec::new();
        let mut objects: Vec<(String, ObjectId)> = Vec::new();
        for word in words {
            if names.iter().any(|(known, _)| *known == word)
                || objects.iter().any(|(known, _)| *known == word)
            {
                continue;
            }
            let Some(binding) = self.lookup(&word) else { continue };
            match binding.val.clone() {
                Val::Scalar(value) => names.push((word, value)),
                Val::Place(Lv::Var(var)) | Val::Ref(Lv::Var(var)) => {
                    names.push((word, self.get(var)));
                }
                Val::Ref(Lv::Memory(memory)) if memory.ty.scalar().is_some() => {
                    let value = self.scalar(Val::Ref(Lv::Memory(memory)), Span::call_site())?;
                    names.push((word, value));
                }
                Val::Place(Lv::Memory(memory)) | Val::Ref(Lv::Memory(memory))
                    if memory.window.is_none() && memory.place.path.is_empty() =>
                {
                    objects.push((word, memory.place.object));
                }
                Val::Closure(_) | Val::Function(_) => {}
                _ => {
                    return Err(unsupported(
                        tokens.span(),
                        &format!("`{word}` in a message or assertion"),
                        "bind the number you mean with `let` first, and name that",
                    ));
                }
            }
        }
        Ok((names, objects))
    }
}

/// Identifiers in tokens, and those captured by format strings.
fn collect_words(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Ident(ident) => words.push(ident.to_string()),
            proc_macro2::TokenTree::Group(group) => collect_words(group.stream(), words),
            proc_macro2::TokenTree::Literal(literal) => {
                let text = literal.to_string();
                for piece in text.split('{').skip(1) {
                    let name: String =
                        piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    if !name.is_empty() {
                        words.push(name);
                    }
                }
            }
            proc_macro2::TokenTree::Punct(_) => {}
        }
    }
}
