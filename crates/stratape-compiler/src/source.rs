//! The tables that translate ids of the language to spans and tokens, and back.
//!
//! The language knows nothing of Rust's tokens: a statement has a [`SourceId`], a constant expression is an [`Opaque`] text. The front
//! enters spans and tokens here as it meets them, errors and the Rust back end look them up.

use std::cell::RefCell;

use proc_macro2::{Span, TokenStream};
use stratape_ir::{Opaque, SourceId, TokensId};

/// Spans and tokens, by their ids.
#[derive(Debug, Default)]
pub struct Sources {
    spans: RefCell<Vec<Span>>,
    tokens: RefCell<Vec<TokenStream>>,
}

impl Sources {
    /// The id of a span.
    pub fn id(&self, span: Span) -> SourceId {
        let mut spans = self.spans.borrow_mut();
        spans.push(span);
        // The first id stands for no span in particular.
        SourceId(spans.len() as u32)
    }

    /// The span of an id.
    pub fn span(&self, id: SourceId) -> Span {
        let position = id.index().checked_sub(1);
        let spans = self.spans.borrow();
        position.and_then(|position| spans.get(position).copied()).unwrap_or_else(Span::call_site)
    }

    /// Tokens that the language carries along as text.
    pub fn opaque(&self, tokens: TokenStream) -> Opaque {
        let text = tokens.to_string().into();
        let mut all = self.tokens.borrow_mut();
        all.push(tokens);
        Opaque { text, tokens: Some(TokensId(all.len() as u32 - 1)) }
    }

    /// The tokens of such a text; text that comes from no source is read.
    pub fn tokens(&self, opaque: &Opaque) -> TokenStream {
        let known = opaque.tokens.and_then(|id| self.tokens.borrow().get(id.index()).cloned());
        known.unwrap_or_else(|| opaque.text.parse().unwrap_or_default())
    }
}
