//! Names in the message of a panic: what they stand for is spelled out where the panic is emitted.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::Result;

use super::generic::base_name;
use super::integers::CONVERSION;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, TEXT, unsupported};
use stratape_ir::{ObjectId, Step, Type, ValueId};

/// What tokens mention.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    /// Values, by the names they are to be bound to.
    pub(super) names: Vec<(String, ValueId)>,
    /// Objects, by the names of references to them.
    pub(super) objects: Vec<(String, ObjectId)>,
    /// Bindings of everything else, made of these.
    pub(super) bindings: Vec<TokenStream>,
}

impl Mentioned {
    /// The tokens, to be run outside of the method they come from.
    pub(super) fn rewritten(&self, tokens: TokenStream) -> TokenStream {
        replace_self(tokens)
    }

    fn value(&mut self, value: ValueId) -> TokenStream {
        let name = format!("__value{}", self.names.len());
        let ident = Ident::new(&name, Span::call_site());
        self.names.push((name, value));
        quote!(#ident)
    }

    fn object(&mut self, object: ObjectId) -> TokenStream {
        let name = format!("__object{}", self.objects.len());
        let ident = Ident::new(&name, Span::call_site());
        self.objects.push((name, object));
        quote!(#ident)
    }
}

impl Lowerer<'_> {
    /// The variables that tokens mention.
    pub(super) fn mentioned(&mut self, tokens: &TokenStream) -> Result<Mentioned> {
        let mut mentioned = Mentioned::default();
        let mut known: Vec<String> = Vec::new();
        for (word, span) in words_of(tokens.clone()) {
            if known.contains(&word) {
                continue;
            }
            let Some(binding) = self.lookup(&word) else { continue };
            let val = binding.val.clone();
            let Some(spelled) = self.spell(&val, &mut mentioned) else {
                return Err(unsupported(
                    span,
                    &format!("`{word}` in a message"),
                    "bind the number you mean with `let` first, and name that",
                ));
            };
            // As the message has it, which may come from another macro's text.
            let ident = match word.as_str() {
                "self" => Ident::new("__self", span),
                word => Ident::new(word, span),
            };
            mentioned.bindings.push(quote!(let #ident = #spelled;));
            known.push(word);
        }
        Ok(mentioned)
    }

    /// An expression that is a value, made of scalars and objects.
    pub(super) fn spell(&self, val: &Val, mentioned: &mut Mentioned) -> Option<TokenStream> {
        match val {
            Val::Scalar(value) if self.enums.get(value).is_some_and(|name| name == TEXT) => {
                let (texts, number) = (&self.texts, mentioned.value(*value));
                Some(quote!([#(#texts),*][#number as usize]))
            }
            Val::Scalar(value) if self.enums.get(value).is_some_and(|name| name == CONVERSION) => {
                Some(quote!(<i8 as ::core::convert::TryFrom<i32>>::try_from(300_i32).unwrap_err()))
            }
            Val::Scalar(value) if self.enums.contains_key(value) => None,
            Val::Scalar(value) => Some(mentioned.value(*value)),
            Val::Unit => Some(quote!(())),

            Val::Parts(kind, parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.spell(part, mentioned))
                    .collect::<Option<Vec<_>>>()?;
                self.spell_aggregate(kind, &parts)
            }
            Val::Place(lv) => self.spell_place(lv, mentioned),
            Val::Ref(lv) => match lv {
                LValue::Memory(Memory { window: Some(_), .. } | Memory { len: Some(_), .. }) => {
                    self.spell_place(lv, mentioned)
                }
                _ => {
                    let place = self.spell_place(lv, mentioned)?;
                    Some(quote!(&#place))
                }
            },
            _ => None,
        }
    }

    fn spell_place(&self, lv: &LValue, mentioned: &mut Mentioned) -> Option<TokenStream> {
        match lv {
            LValue::Var(var) => self.spell(&Val::Scalar(self.get(*var)), mentioned),
            LValue::Value(val) => self.spell(val, mentioned),
            LValue::Later(_) | LValue::Pointer(_) | LValue::Either(..) => None,
            LValue::Parts(kind, parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.spell_place(part, mentioned))
                    .collect::<Option<Vec<_>>>()?;
                self.spell_aggregate(kind, &parts)
            }
            LValue::Memory(memory) => {
                let mut tokens = mentioned.object(memory.place.object);
                let mut ty = Some(&self.b.function.objects[memory.place.object.index()].ty);
                if self.module.holds_unnameable(&memory.ty) {
                    return None;
                }
                for step in &memory.place.path {
                    match step {
                        Step::Index(index) => {
                            let index = mentioned.value(*index);
                            tokens = quote!(#tokens[#index]);
                            ty = ty.and_then(Type::element);
                        }
                        Step::Field(index) => {
                            let member = match ty {
                                Some(ty @ Type::Struct(_)) if self.module.holds_unnameable(ty) => {
                                    return None;
                                }
                                Some(Type::Struct(def)) => member(&def.fields.get(*index)?.0)?,
                                _ => member(&index.to_string())?,
                            };
                            tokens = quote!(#tokens.#member);
                            ty = ty.and_then(|ty| ty.field(*index));
                        }
                    }
                }
                match (memory.window, memory.len) {
                    (None, Some(var)) => {
                        let len = mentioned.value(self.get(var));
                        Some(quote!(&#tokens[..#len]))
                    }
                    (Some(window), _) => {
                        let (start, len) =
                            (mentioned.value(window.start), mentioned.value(window.len));
                        Some(quote!(&#tokens[#start..][..#len]))
                    }
                    (None, None) if memory.place.path.is_empty() => Some(tokens),
                    (None, None) => Some(quote!(#tokens.clone())),
                }
            }
        }
    }

    fn spell_aggregate(&self, kind: &Kind, parts: &[TokenStream]) -> Option<TokenStream> {
        match kind {
            Kind::Choice(_) => None,
            Kind::Tuple => Some(quote!((#(#parts,)*))),
            Kind::Struct(def) if self.module.unnamed.contains(base_name(&def.name)) => None,
            Kind::Struct(def) => {
                let name: TokenStream = def.name.parse().ok()?;
                let members =
                    def.fields.iter().map(|(name, _)| member(name)).collect::<Option<Vec<_>>>()?;
                Some(quote!(#name { #(#members: #parts),* }))
            }
        }
    }
}

fn member(name: &str) -> Option<syn::Member> {
    syn::parse_str(name).ok()
}

/// Identifiers in tokens that may be variables.
pub(crate) fn words_of(tokens: TokenStream) -> Vec<(String, Span)> {
    let mut words = Vec::new();
    collect_words(tokens, &mut words);
    words
}

/// Identifiers in tokens that may be variables, and those captured by format strings.
fn collect_words(tokens: TokenStream, words: &mut Vec<(String, Span)>) {
    let mut after_dot = false;
    for token in tokens {
        let was_after_dot = std::mem::take(&mut after_dot);
        match token {
            TokenTree::Ident(ident) if was_after_dot => drop(ident),
            TokenTree::Ident(ident) => words.push((ident.to_string(), ident.span())),
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                for piece in text.split(['{', '$']).skip(1) {
                    let name: String =
                        piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    if !name.is_empty() {
                        words.push((name, literal.span()));
                    }
                }
            }
            TokenTree::Punct(punct) => {
                after_dot =
                    punct.as_char() == '.' && punct.spacing() == proc_macro2::Spacing::Alone;
            }
        }
    }
}

/// `self` is no name that can be bound.
fn replace_self(tokens: TokenStream) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(ident) if ident == "self" => {
            TokenTree::Ident(Ident::new("__self", ident.span()))
        }
        TokenTree::Group(group) => {
            let mut replaced =
                proc_macro2::Group::new(group.delimiter(), replace_self(group.stream()));
            replaced.set_span(group.span());
            TokenTree::Group(replaced)
        }
        other => other,
    };
    tokens.into_iter().map(replace).collect()
}
