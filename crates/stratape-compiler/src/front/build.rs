//! The language's builder, with spans where it has ids.

use std::ops::{Deref, DerefMut};

use proc_macro2::{Span, TokenStream};
use stratape_ir::{self as ir, Binary, Compare, Merge, Op, Opaque, Scalar, SourceId, ValueId};

use crate::source::Sources;

/// A function under construction, and the table of its spans.
#[derive(Debug)]
pub(super) struct Builder<'m> {
    inner: ir::Builder,
    sources: &'m Sources,
}

impl Deref for Builder<'_> {
    type Target = ir::Builder;

    fn deref(&self) -> &ir::Builder {
        &self.inner
    }
}

impl DerefMut for Builder<'_> {
    fn deref_mut(&mut self) -> &mut ir::Builder {
        &mut self.inner
    }
}

impl<'m> Builder<'m> {
    pub(super) fn new(name: &str, sources: &'m Sources) -> Self {
        Self { inner: ir::Builder::new(ir::Function::new(name)), sources }
    }

    pub(super) fn finish(self) -> ir::Function {
        self.inner.finish()
    }

    /// The id of a span.
    pub(super) fn at(&self, span: Span) -> SourceId {
        self.sources.id(span)
    }

    /// Tokens as the language carries them.
    pub(super) fn opaque(&self, tokens: TokenStream) -> Opaque {
        self.sources.opaque(tokens)
    }

    pub(super) fn new_value(&mut self, ty: Scalar, span: Span) -> ValueId {
        let at = self.at(span);
        self.inner.function.new_value(ty, at)
    }

    pub(super) fn emit(&mut self, op: Op, ty: Scalar, span: Span) -> ValueId {
        let at = self.at(span);
        self.inner.emit(op, ty, at)
    }

    pub(super) fn float(&mut self, number: f64, ty: Scalar, span: Span) -> ValueId {
        let at = self.at(span);
        self.inner.float(number, ty, at)
    }

    pub(super) fn int(&mut self, number: i128, ty: Scalar, span: Span) -> ValueId {
        self.emit(Op::Int(number), ty, span)
    }

    pub(super) fn usize(&mut self, number: usize, span: Span) -> ValueId {
        self.int(number as i128, Scalar::USIZE, span)
    }

    pub(super) fn bool(&mut self, value: bool, span: Span) -> ValueId {
        self.emit(Op::Bool(value), Scalar::Bool, span)
    }

    pub(super) fn binary(&mut self, sign: Binary, a: ValueId, b: ValueId, span: Span) -> ValueId {
        let at = self.at(span);
        self.inner.binary(sign, a, b, at)
    }

    pub(super) fn compare(&mut self, sign: Compare, a: ValueId, b: ValueId, span: Span) -> ValueId {
        // Constant parameters decide which part of a text is meant.
        if let (Some(Op::Int(a)), Some(Op::Int(b))) = (self.constant(a), self.constant(b)) {
            let known = match sign {
                Compare::Lt => a < b,
                Compare::Le => a <= b,
                Compare::Gt => a > b,
                Compare::Ge => a >= b,
                Compare::Eq => a == b,
                Compare::Ne => a != b,
            };
            return self.bool(known, span);
        }
        self.emit(Op::Compare(sign, a, b), Scalar::Bool, span)
    }

    pub(super) fn not(&mut self, a: ValueId, span: Span) -> ValueId {
        let at = self.at(span);
        self.inner.not(a, at)
    }

    pub(super) fn select(&mut self, c: ValueId, a: ValueId, b: ValueId, span: Span) -> ValueId {
        let at = self.at(span);
        self.inner.select(c, a, b, at)
    }

    pub(super) fn merge(&mut self, then: ValueId, other: ValueId, span: Span) -> Merge {
        let at = self.at(span);
        self.inner.merge(then, other, at)
    }
}
