//! Calls of functions the compiler does not look into: those with a derivative supplied by hand,
//! and those without one.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::val::{Lv, Val};
use super::{Lowerer, unsupported};
use crate::ir::{Argument, Call, Node, ObjectId, Slice, Type};

impl Lowerer<'_> {
    /// A call that stays a call.
    pub(super) fn opaque_call(
        &mut self,
        path: &syn::ExprPath,
        sig: &syn::Signature,
        pullback: Option<syn::Ident>,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        if sig.inputs.len() != args.len() {
            return Err(Error::new(
                span,
                format!("`{}` takes {} arguments", sig.ident, sig.inputs.len()),
            ));
        }
        let mut arguments = Vec::new();
        let mut taken: Vec<(ObjectId, bool)> = Vec::new();
        for (input, arg) in sig.inputs.iter().zip(args) {
            let syn::FnArg::Typed(input) = input else {
                return Err(unsupported(input.span(), "methods here", "make it a function"));
            };
            let written = self.module.read_type(&input.ty)?;
            match (&written.ty, written.reference) {
                (Type::Scalar(ty), None) => {
                    let value = self.scalar(arg, span)?;
                    self.expect(value, *ty, span)?;
                    arguments.push(Argument::Value(value));
                }
                (Type::Slice(item), Some(mutable)) if matches!(**item, Type::Scalar(_)) => {
                    self.expect_type(&arg, &written.ty, span)?;
                    let (Val::Ref(Lv::Memory(memory)) | Val::Place(Lv::Memory(memory))) = arg
                    else {
                        return Err(Error::new(span, "a slice was expected"));
                    };
                    let object = memory.place.object;
                    if taken
                        .iter()
                        .any(|(other, exclusive)| *other == object && (*exclusive || mutable))
                    {
                        return Err(unsupported(
                            span,
                            "two parts of one array as arguments of such a function",
                            "copy one of them with `to_vec()` first",
                        ));
                    }
                    taken.push((object, mutable));
                    let part = memory.window.map(|window| (window.start, window.len));
                    arguments.push(Argument::Slice(Slice { place: memory.place, part, mutable }));
                }
                _ => {
                    return Err(unsupported(
                        input.ty.span(),
                        "this type in a function with a `#[pullback]` or `#[constant]`",
                        "pass numbers, and slices of numbers",
                    ));
                }
            }
        }
        let output = match &sig.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(self.module.read_type(ty)?),
        };
        let results = match output {
            None => Vec::new(),
            Some(written) => match (written.ty.scalar(), written.reference) {
                (Some(ty), None) => vec![self.b.function.new_value(ty, span)],
                _ => {
                    return Err(unsupported(
                        sig.output.span(),
                        "this result of a function with a `#[pullback]` or `#[constant]`",
                        "return a number or nothing, and write arrays to a `&mut` slice",
                    ));
                }
            },
        };
        let result = results.first().copied();
        self.b.node(Node::Call(Box::new(Call {
            function: path.to_token_stream(),
            arguments,
            results,
            pullback: pullback.map(ToTokens::into_token_stream),
            span,
        })));
        Ok(result.map_or(Val::Unit, Val::Scalar))
    }
}
