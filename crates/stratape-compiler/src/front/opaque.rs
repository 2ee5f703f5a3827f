//! Calls of functions the compiler does not look into: those with a derivative supplied by hand,
//! and those without one.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::val::{LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Argument, Call, Half, OUTSIDE, ObjectId, Op, Scalar, Slice, Stmt, StmtId, Type};

/// What is called.
struct Callee {
    function: TokenStream,
    pullback: Option<TokenStream>,
    recursion: Option<(String, Half)>,
}

/// A function of another module that is called there: `path::forward`, and `path::backward` for its adjoint.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) signature: syn::Signature,
    pub(crate) path: TokenStream,
    pub(crate) how: How,
}

/// What stands behind a function that is called, not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The two halves of its gradient.
    Halves,
    /// The function itself, and its pullback.
    Pullback,
    /// The function itself: it has no derivative.
    Constant,
    /// Two halves written by hand, of a function that acts outside of the program.
    Effect,
}

impl How {
    /// Whether both functions are given the tape.
    pub(crate) fn is_taped(self) -> bool {
        matches!(self, Self::Halves | Self::Effect)
    }

    /// The way with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Halves, Self::Pullback, Self::Constant, Self::Effect];
        all.into_iter().find(|how| format!("{how:?}") == name)
    }
}

/// The name of a half of a function that calls itself.
pub(crate) fn half_name(name: &str, half: &str) -> String {
    format!("__{name}_{half}")
}

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
        let pullback = pullback.map(ToTokens::into_token_stream);
        self.call_node(
            Callee { function: path.to_token_stream(), pullback, recursion: None },
            sig,
            args,
            span,
        )
    }

    /// A call of a function from within itself: its two halves are functions of their own.
    pub(super) fn recursive_call(
        &mut self,
        name: &str,
        sig: &syn::Signature,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        self.b.function.recursive.insert(name.to_owned());
        let half = |half: &str| {
            syn::Ident::new(&half_name(name, half), Span::call_site()).into_token_stream()
        };
        let callee = Callee {
            function: half("forward"),
            pullback: Some(half("backward")),
            recursion: Some((name.to_owned(), Half::Forward)),
        };
        self.call_node(callee, sig, args, span)
    }

    /// A call of a function that stays in its module.
    pub(super) fn call_elsewhere(
        &mut self,
        name: &str,
        called: &Elsewhere,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let path = &called.path;
        let name = if called.how == How::Effect { OUTSIDE } else { name };
        let callee = Callee {
            function: quote!(#path::forward),
            pullback: (called.how != How::Constant).then(|| quote!(#path::backward)),
            recursion: called.how.is_taped().then(|| (name.to_owned(), Half::Forward)),
        };
        self.call_node(callee, &called.signature, args, span)
    }

    /// A copy of a part of a list.
    fn copied(&mut self, memory: Memory, span: Span) -> Result<Memory> {
        let lv = LValue::Memory(memory);
        let len = self.len_of(&lv, span)?;
        let zero = self.b.usize(0, span);
        let LValue::Memory(part) = self.window_of(&lv, zero, len, span)? else {
            return Err(Error::new(span, "a slice was expected"));
        };
        match self.copy_array(&part, span)? {
            Val::Place(LValue::Memory(copy)) | Val::Ref(LValue::Memory(copy)) => Ok(copy),
            _ => Err(Error::new(span, "a slice was expected")),
        }
    }

    fn call_node(
        &mut self,
        callee: Callee,
        sig: &syn::Signature,
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
        let mut written_back = Vec::new();
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
                (Type::Slice(item), Some(mutable))
                    if matches!(**item, Type::Scalar(_))
                        || callee.recursion.is_some() && item.is_fixed() =>
                {
                    self.expect_type(&arg, &written.ty, span)?;
                    let (Val::Ref(LValue::Memory(memory)) | Val::Place(LValue::Memory(memory))) =
                        arg
                    else {
                        return Err(Error::new(span, "a slice was expected"));
                    };
                    let twice = taken.iter().any(|(other, _)| *other == memory.place.object);
                    let exclusive = mutable || taken.contains(&(memory.place.object, true));
                    // Two parts of one list cannot both be handed out if one is written, and their shadows cannot in any case: one is a copy.
                    let floats = item.has_float();
                    let memory = match twice && (exclusive || floats) {
                        true => {
                            let copy = self.copied(memory.clone(), span)?;
                            if mutable {
                                written_back.push((memory, copy.clone()));
                            }
                            copy
                        }
                        false => memory,
                    };
                    taken.push((memory.place.object, mutable));
                    let extent = self.extent(&memory, span);
                    let mut part = extent.map(|window| (window.start, window.len));
                    if callee.recursion.is_some() && part.is_none() {
                        // The backward half can have the length when the list itself is gone.
                        let len = self.b.emit(Op::Len(memory.place.clone()), Scalar::USIZE, span);
                        part = Some((self.b.usize(0, span), len));
                    }
                    arguments.push(Argument::Slice(Slice { place: memory.place, part, mutable }));
                }
                _ => {
                    return Err(unsupported(
                        input.ty.span(),
                        "this type in a function with a `#[pullback]`, with `#[constant]`, or that calls itself",
                        "pass numbers, slices of numbers, and structs, tuples and arrays of them",
                    ));
                }
            }
        }
        let (output, output_span) = match &sig.output {
            syn::ReturnType::Default => (None, span),
            syn::ReturnType::Type(_, ty) => (Some(self.module.read_type(ty)?), ty.span()),
        };
        let results = match output {
            None => Vec::new(),
            Some(written) => match (written.ty.scalar(), written.reference) {
                (Some(ty), None) => vec![self.b.new_value(ty, span)],
                _ => {
                    return Err(unsupported(
                        output_span,
                        "this result of a function with a `#[pullback]`, with `#[constant]`, or that calls itself",
                        "return a number or nothing, and write arrays to a `&mut` slice",
                    ));
                }
            },
        };
        let result = results.first().copied();
        self.b.node(Stmt::Call(Box::new(Call {
            id: StmtId::NONE,
            function: self.module.sources.opaque(callee.function),
            arguments,
            results,
            pullback: callee.pullback.map(|tokens| self.module.sources.opaque(tokens)),
            recursion: callee.recursion,
            span: self.module.sources.id(span),
        })));
        for (part, copy) in written_back {
            let (part, copy) = (LValue::Memory(part), LValue::Memory(copy));
            let len = self.len_of(&copy, span)?;
            self.copy_elements(&part, &copy, len, span)?;
        }
        Ok(result.map_or(Val::Unit, Val::Scalar))
    }
}
