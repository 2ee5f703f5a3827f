//! Calls of values: closures, and functions by their names.

use std::rc::Rc;

use proc_macro2::Span;
use syn::{Error, Expr, Result};

use super::control::has_jumps;
use super::moves::Moves;
use super::val::{Closure, LValue, Names, Val};
use super::{Lowerer, wanted};
use stratape_ir::Type;

impl Lowerer<'_> {
    /// Calls a function or closure with values.
    pub(super) fn apply(&mut self, f: &Val, args: Vec<Val>, span: Span) -> Result<Val> {
        match f {
            Val::Closure(closure) => self.apply_closure(&closure.clone(), args, None, span),
            Val::Function(path) => self.apply_path(&path.clone(), args, span),
            Val::Ref(LValue::Value(val)) | Val::Place(LValue::Value(val)) => {
                self.apply(&val.clone(), args, span)
            }
            _ => Err(Error::new(span, "a function or closure was expected")),
        }
    }

    /// Calls a closure whose result has a type that is known from where it goes.
    pub(super) fn apply_as(
        &mut self,
        f: &Val,
        args: Vec<Val>,
        ty: &Type,
        span: Span,
    ) -> Result<Val> {
        match f {
            Val::Closure(closure) => self.apply_closure(&closure.clone(), args, Some(ty), span),
            f => self.apply(f, args, span),
        }
    }

    /// Calls a method without arguments that is named as a function.
    pub(super) fn method_as_function(
        &mut self,
        receiver: Val,
        method: &syn::Ident,
        span: Span,
    ) -> Result<Val> {
        self.method_on(receiver, &syn::parse_quote_spanned!(span=> it.#method()))
    }

    fn apply_closure(
        &mut self,
        closure: &Rc<Closure>,
        args: Vec<Val>,
        ty: Option<&Type>,
        span: Span,
    ) -> Result<Val> {
        if closure.text.inputs.len() != args.len() {
            return Err(Error::new(
                span,
                format!("the closure takes {} arguments", closure.text.inputs.len()),
            ));
        }
        let output = match &closure.text.output {
            syn::ReturnType::Type(_, ty) => self.annotation(ty)?,
            syn::ReturnType::Default => None,
        };
        let scopes = std::mem::replace(&mut self.scopes, closure.scopes.clone());
        self.moves.push(Moves::of_expr(&closure.text.body));
        let result = self.in_frame(Names::new(), |me| {
            for (pat, arg) in closure.text.inputs.iter().zip(args) {
                me.bind_surely(pat, arg)?;
            }
            match &*closure.text.body {
                Expr::Block(block) if block.label.is_none() => {
                    let block = wanted::with_result(&block.block, &closure.text.output);
                    me.body(&block, output.clone())
                }
                body => {
                    let block: syn::Block = syn::parse_quote!({ #body });
                    if has_jumps(&block) {
                        return me.body(&block, output.clone());
                    }
                    me.expr_as(body, ty)
                }
            }
        });
        self.scopes = scopes;
        self.moves.pop();
        let val = result?;
        if let Some(output) = &output {
            self.expect_type(&val, output, span)?;
        }
        Ok(val)
    }
}
