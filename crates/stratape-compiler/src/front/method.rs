//! Methods of numbers, slices and options.

use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Result};

use super::choice::MARK;
use super::control::lv_of;
use super::generic::base_name;
use super::iter::Iter;
use super::loops::root_name;
use super::val::{Kind, LValue, Memory, Val};
use super::{Lowerer, unsupported};
use stratape_ir::{Binary, Check, Compare, Int, Math, Op, Scalar, Stmt, Type, Unary, ValueId};

impl Lowerer<'_> {
    /// `receiver.method(…)`
    pub(super) fn method(&mut self, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        if let (Some(range), "contains", Some(item)) =
            (as_range(&call.receiver), call.method.to_string().as_str(), call.args.first())
        {
            return self.within_range(range, item, span);
        }
        let receiver = self.operand(&call.receiver)?;
        let receiver = self.resolved(receiver, span)?;
        self.method_on(receiver, call)
    }

    /// `(a..b).contains(&c)`, of integers and of floats.
    fn within_range(
        &mut self,
        range: &syn::ExprRange,
        item: &syn::Expr,
        span: proc_macro2::Span,
    ) -> Result<Val> {
        let start = range.start.as_ref().map(|start| self.number(start)).transpose()?;
        let end = range.end.as_ref().map(|end| self.number(end)).transpose()?;
        let item = self.number(item)?;
        let mut inside = self.b.bool(true, span);
        let below = match range.limits {
            syn::RangeLimits::HalfOpen(_) => Compare::Lt,
            syn::RangeLimits::Closed(_) => Compare::Le,
        };
        if let Some(start) = start {
            self.unify(start, item, span)?;
            inside = self.b.compare(Compare::Le, start, item, span);
        }
        if let Some(end) = end {
            self.unify(item, end, span)?;
            let fits = self.b.compare(below, item, end, span);
            inside = self.b.binary(Binary::BitAnd, inside, fits, span);
        }
        Ok(Val::Scalar(inside))
    }

    /// A method of what has been found to be its receiver.
    pub(super) fn method_on(&mut self, receiver: Val, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        let name = call.method.to_string();
        match receiver {
            Val::Iter(iter) => self.iter_method(*iter, call),
            Val::Never => Ok(Val::Never),
            val @ Val::Ordering(..) => self.ordering_method(val, call),
            receiver if name == "clone" && call.args.is_empty() && is_tuple(&receiver) => {
                self.clone_of(&lv_of(receiver), span)
            }
            receiver => {
                if let Some(val) = self.compared_by_method(&receiver, call)? {
                    return Ok(val);
                }
                if let Some(choice) = self.choice_of(&receiver)
                    && choice.is_library()
                {
                    return self.option_method(&choice, receiver, call);
                }
                if let Some(owner) = self.receiver_name(&receiver, &name) {
                    if owner == super::TEXT || owner == super::FORMATTED {
                        let same = ["to_string", "to_owned", "into", "clone", "as_str"];
                        return match same.contains(&name.as_str()) {
                            true => Ok(receiver),
                            false => Err(unsupported(
                                call.method.span(),
                                "text",
                                "use it in assertions and errors only",
                            )),
                        };
                    }
                    if owner == "Ordering" {
                        return self.ordering_method(receiver, call);
                    }
                    self.certain_list(&receiver, &name, call.method.span())?;
                    return self.method_of(&owner, receiver, call);
                }
                // An array that is consumed is a copy, if it is a variable.
                let moved = name == "into_iter" && root_name(&call.receiver).is_some();
                let receiver = match receiver {
                    Val::Place(_) if moved => self.rvalue(receiver, span)?,
                    receiver => receiver,
                };
                match list_of(&receiver) {
                    Some(lv) => self.slice_method(&lv, call),
                    None if matches!(name.as_str(), "into" | "try_into") => Err(unsupported(
                        call.method.span(),
                        &format!("`{name}` where the type it makes is not written"),
                        "name the type, as in `f64::from(v)`, or bind it first: `let v: f64 = v.into();`",
                    )),
                    None => {
                        let a = self.scalar(receiver, call.receiver.span())?;
                        if self.ty(a) == Scalar::Bool
                            && let Some(arg) = call.args.first()
                            && matches!(name.as_str(), "then" | "then_some")
                        {
                            let arg = self.expr(arg)?;
                            if let Some(val) = self.bool_method(&name, a, &arg, span)? {
                                return Ok(val);
                            }
                        }
                        let mut args = vec![a];
                        for arg in &call.args {
                            args.push(self.number(arg)?);
                        }
                        self.number_method(&name, args, call.method.span(), span)
                    }
                }
            }
        }
    }

    /// A method of a float, an integer or a bool, also as `f64::method(…)`.
    pub(super) fn number_method(
        &mut self,
        name: &str,
        args: Vec<ValueId>,
        at: proc_macro2::Span,
        span: proc_macro2::Span,
    ) -> Result<Val> {
        if matches!(name, "clone" | "to_owned") {
            return Ok(Val::Scalar(args[0]));
        }
        if matches!(name, "total_cmp" | "partial_cmp" | "cmp") && args.len() == 2 {
            self.unify(args[0], args[1], span)?;
            if name == "partial_cmp" {
                return Ok(self.partial_ordering(args[0], args[1], span));
            }
            return Ok(Val::Ordering(args[0], args[1], name == "total_cmp"));
        }
        if self.infer.class(self.ty(args[0])) == Some(super::Class::Any) {
            // A constant of unknown type: a method only floats have says what it is.
            if Math::from_method(name).is_some()
                && !matches!(name, "min" | "max" | "abs" | "clamp" | "signum")
            {
                let float = self.fresh(super::Class::Float);
                self.expect(args[0], float, span)?;
            }
        }
        if self.is_float(args[0]) {
            return self.float_method(name, args, at, span);
        }
        if self.is_int(args[0]) {
            return self.integer_method(name, args, at, span);
        }
        if self.infer.class(self.ty(args[0])) == Some(super::Class::Any) {
            return Err(Error::new(
                at,
                format!(
                    "the type of this constant is not known where `{name}` is called: bind it first, as in `let c: f64 = C;`"
                ),
            ));
        }
        Err(unsupported(
            at,
            &format!("the method `{name}` of `bool`"),
            "use `if`, `&&`, `||` and `!`",
        ))
    }

    fn float_method(
        &mut self,
        name: &str,
        args: Vec<ValueId>,
        at: proc_macro2::Span,
        span: proc_macro2::Span,
    ) -> Result<Val> {
        let ty = self.b.function.ty(args[0]);
        match name {
            "is_nan" | "is_finite" | "is_infinite" | "is_sign_negative" | "is_sign_positive"
            | "is_normal" => {
                return Ok(Val::Scalar(self.b.emit(
                    Op::Method(name.to_owned(), args),
                    Scalar::Bool,
                    span,
                )));
            }
            "sin_cos" => {
                let sin = self.b.emit(Op::Math(Math::Sin, args.clone()), ty, span);
                let cos = self.b.emit(Op::Math(Math::Cos, args), ty, span);
                return Ok(Self::tuple(vec![Val::Scalar(sin), Val::Scalar(cos)]));
            }
            "to_bits" => {
                return Err(unsupported(at, "`to_bits`", "compare the numbers themselves"));
            }
            _ => {}
        }
        let Some(function) = Math::from_method(name) else {
            return Err(unsupported(
                at,
                &format!("the method `{name}` of floats"),
                "put it into a function with a `#[stratape::pullback]`",
            ));
        };
        if args.len() != function.arity() {
            let takes = match function.arity() - 1 {
                1 => "one argument".to_owned(),
                many => format!("{many} arguments"),
            };
            return Err(Error::new(at, format!("`{name}` takes {takes}")));
        }
        if function == Math::Powi {
            self.expect(args[1], Scalar::Int(Int::I32), span)?;
        } else {
            for arg in &args[1..] {
                self.unify(args[0], *arg, span)?;
            }
        }
        Ok(Val::Scalar(self.b.emit(Op::Math(function, args), ty, span)))
    }

    fn integer_method(
        &mut self,
        name: &str,
        args: Vec<ValueId>,
        at: proc_macro2::Span,
        span: proc_macro2::Span,
    ) -> Result<Val> {
        let ty = self.b.function.ty(args[0]);
        if let Some(val) = self.rare_integer_method(name, &args, span)? {
            return Ok(val);
        }
        let result = match name {
            "pow" => {
                if let Some(exponent) = args.get(1) {
                    self.expect(*exponent, Scalar::Int(Int::U32), span)?;
                }
                ty
            }
            "min" | "max" | "clamp" | "rem_euclid" | "div_euclid" | "wrapping_add"
            | "wrapping_sub" | "wrapping_mul" | "saturating_add" | "saturating_sub"
            | "saturating_mul" | "div_ceil" | "next_multiple_of" | "midpoint" => {
                for arg in &args[1..] {
                    self.unify(args[0], *arg, span)?;
                }
                ty
            }
            "rotate_left" | "rotate_right" | "wrapping_shl" | "wrapping_shr" => {
                for arg in &args[1..] {
                    self.expect(*arg, Scalar::Int(Int::U32), span)?;
                }
                ty
            }
            "abs" | "signum" | "isqrt" | "wrapping_neg" | "wrapping_abs" | "next_power_of_two"
            | "reverse_bits" | "swap_bytes" => ty,
            "abs_diff" | "unsigned_abs" => {
                for arg in &args[1..] {
                    self.unify(args[0], *arg, span)?;
                }
                match self.ty(args[0]) {
                    Scalar::Int(int) => Scalar::Int(int.unsigned()),
                    _ => {
                        return Err(unsupported(
                            at,
                            &format!("`{name}` of an integer of unknown type"),
                            "write its type",
                        ));
                    }
                }
            }
            "is_multiple_of" => {
                for arg in &args[1..] {
                    self.unify(args[0], *arg, span)?;
                }
                Scalar::Bool
            }
            "is_power_of_two" | "is_positive" | "is_negative" => Scalar::Bool,
            "count_ones" | "count_zeros" | "leading_zeros" | "trailing_zeros" | "leading_ones"
            | "trailing_ones" | "ilog2" | "ilog10" => Scalar::Int(Int::U32),
            _ => {
                return Err(unsupported(
                    at,
                    &format!("the method `{name}` of integers"),
                    "use arithmetic, or a function with `#[stratape::constant]`",
                ));
            }
        };
        Ok(Val::Scalar(self.b.emit(Op::Method(name.to_owned(), args), result, span)))
    }

    fn slice_method(&mut self, lv: &LValue, call: &syn::ExprMethodCall) -> Result<Val> {
        let span = call.span();
        let name = call.method.to_string();
        let iter = |iter| Ok(Val::Iter(Box::new(iter)));
        let one = |me: &mut Self| match call.args.first() {
            Some(arg) => me.usize_expr(arg),
            None => Err(Error::new(span, format!("`{name}` takes an argument"))),
        };
        if let LValue::Memory(memory) = lv
            && let Some(val) = self.length_method(memory, call)?
        {
            return Ok(val);
        }
        match name.as_str() {
            "len" => Ok(Val::Scalar(self.len_of(lv, span)?)),
            "is_empty" => {
                let (len, zero) = (self.len_of(lv, span)?, self.b.usize(0, span));
                Ok(Val::Scalar(self.b.compare(Compare::Eq, len, zero, span)))
            }
            "iter" | "iter_mut" => iter(Iter::Slice(lv.clone())),
            "into_iter" => iter(Iter::Copied(Box::new(Iter::Slice(lv.clone())))),
            "as_slice" | "as_mut_slice" | "as_ref" | "as_mut" | "borrow" => {
                Ok(Val::Ref(lv.clone()))
            }
            "chunks_exact" | "chunks_exact_mut" | "windows" | "chunks" | "chunks_mut"
            | "rchunks" | "rchunks_mut" | "rchunks_exact" | "rchunks_exact_mut" => {
                let size = one(self)?;
                let zero = self.b.usize(0, span);
                let condition = self.b.compare(Compare::Ne, size, zero, span);
                let message = if name == "windows" {
                    "window size must be non-zero"
                } else {
                    "chunk size must be non-zero"
                };
                let check = Check::Library { condition, message: message.to_owned() };
                let span = self.b.at(span);
                self.b.node(Stmt::Check { check, span });
                let lv = lv.clone();
                iter(match name.trim_end_matches("_mut") {
                    "windows" => Iter::Windows(lv, size),
                    "chunks_exact" => Iter::Chunks(lv, size),
                    "rchunks_exact" => Iter::BackChunks(lv, size),
                    name => Iter::Pieces(lv, size, name == "rchunks"),
                })
            }
            "split_at" | "split_at_mut" => {
                let (at, zero) = (one(self)?, self.b.usize(0, span));
                let len = self.len_of(lv, span)?;
                let condition = self.b.compare(Compare::Le, at, len, span);
                let message = "mid > len".to_owned();
                let at_span = self.b.at(span);
                self.b.node(Stmt::Check {
                    check: Check::Library { condition, message },
                    span: at_span,
                });
                let left = self.window(lv, zero, at, false, span)?;
                let right = self.window(lv, at, len, false, span)?;
                Ok(Self::tuple(vec![Val::Ref(left), Val::Ref(right)]))
            }
            "first" | "last" => {
                let (len, zero) = (self.len_of(lv, span)?, self.b.usize(0, span));
                let some = self.b.compare(Compare::Gt, len, zero, span);
                let index = if name == "first" {
                    zero
                } else {
                    let one = self.b.usize(1, span);
                    self.int_method("saturating_sub", vec![len, one], span)
                };
                let place = self.element_unchecked(lv, index, span)?;
                Ok(Self::some_if(some, Val::Ref(place)))
            }
            "map" if matches!(lv, LValue::Memory(Memory { ty: Type::Array(..), .. })) => {
                let (Some(arg), LValue::Memory(memory)) = (call.args.first(), lv) else {
                    return Err(unsupported(
                        call.method.span(),
                        &format!("the method `{name}` of arrays"),
                        "use `iter`",
                    ));
                };
                let f = self.operand(arg)?;
                self.mapped_array(memory, &f, span)
            }
            "fill" => {
                let Some(arg) = call.args.first() else {
                    return Err(Error::new(span, "`fill` takes an argument"));
                };
                let val = self.expr(arg)?;
                let lv = lv.clone();
                self.each(&Iter::Slice(lv), None, &[], span, &mut |me, item| {
                    me.write_parts(&lv_of(item), val.clone(), span)
                })?;
                Ok(Val::Unit)
            }
            "copy_from_slice" | "clone_from_slice" => {
                let Some(arg) = call.args.first() else {
                    return Err(Error::new(span, format!("`{name}` takes an argument")));
                };
                let (Val::Ref(source) | Val::Place(source)) = self.operand(arg)? else {
                    return Err(Error::new(arg.span(), "a slice was expected"));
                };
                let (to, from) = (self.len_of(lv, span)?, self.len_of(&source, span)?);
                let condition = self.b.compare(Compare::Eq, to, from, span);
                let method = &call.method;
                let otherwise = quote!(::std::vec![(); __to].#method(&::std::vec![(); __from]));
                self.run_unless(condition, otherwise, &[("__to", to), ("__from", from)], span);
                // Their lengths are equal from here on.
                let source = Iter::Slice(source);
                let places = Iter::Enumerate(Box::new(Iter::Slice(lv.clone())));
                self.each(&places, None, &[], span, &mut |me, item| {
                    let Val::Parts(_, parts) = item else { return Ok(()) };
                    let Val::Scalar(at) = parts[0] else { return Ok(()) };
                    me.visit(&source, at, span, &mut |me, item| {
                        let val = me.rvalue(Val::Place(lv_of(item)), span)?;
                        me.write_parts(&lv_of(parts[1].clone()), val, span)
                    })
                })?;
                Ok(Val::Unit)
            }
            "swap" => {
                let mut indices = Vec::new();
                for arg in &call.args {
                    indices.push(self.usize_expr(arg)?);
                }
                let [a, b] = indices[..] else {
                    return Err(Error::new(span, "`swap` takes two indices"));
                };
                let (a, b) = (self.element(lv, a, span)?, self.element(lv, b, span)?);
                self.exchange(&a, &b, span)?;
                Ok(Val::Unit)
            }
            "to_vec" | "clone" | "to_owned" => match lv {
                LValue::Memory(memory) => {
                    let memory = match (&memory.ty, name.as_str()) {
                        (Type::Array(..), "to_vec") => {
                            let len = self.len_of(lv, span)?;
                            let zero = self.b.usize(0, span);
                            let LValue::Memory(part) = self.window_of(lv, zero, len, span)? else {
                                return Err(Error::new(span, "a slice was expected"));
                            };
                            part
                        }
                        _ => memory.clone(),
                    };
                    self.copy_array(&memory, span)
                }
                lv => self.clone_of(lv, span),
            },
            "clone_from" => {
                let Some(arg) = call.args.first() else {
                    return Err(Error::new(span, "`clone_from` takes an argument"));
                };
                let (Val::Ref(source) | Val::Place(source)) = self.operand(arg)? else {
                    return Err(Error::new(arg.span(), "a list was expected"));
                };
                let copy = self.clone_of(&source, span)?;
                self.write_parts(lv, copy, span)?;
                Ok(Val::Unit)
            }
            "into_boxed_slice" | "into_vec" => self.rvalue(Val::Place(lv.clone()), span),
            _ => match self.rare_slice_method(lv, call)? {
                Some(val) => Ok(val),
                None if name.contains("par_") => {
                    Err(super::threads_elsewhere(call.method.span(), &name))
                }
                None => Err(unsupported(
                    call.method.span(),
                    &format!("the method `{name}` of slices"),
                    "use indexing, `iter`, `chunks_exact`, `windows`, `split_at`",
                )),
            },
        }
    }

    /// The struct or enum a value is or refers to.
    pub(super) fn owner_of(&self, val: &Val) -> Option<String> {
        match val {
            Val::Scalar(value) => self.enums.get(value).cloned(),
            Val::Parts(Kind::Struct(def), _) => Some(base_name(&def.name).to_owned()),
            Val::Parts(Kind::Choice(choice), _) => Some(choice.name.clone()),
            Val::Place(lv) | Val::Ref(lv) => match lv {
                LValue::Parts(Kind::Struct(def), _)
                | LValue::Memory(Memory { ty: Type::Struct(def), .. }) => {
                    Some(base_name(&def.name).trim_start_matches(MARK).to_owned())
                }
                LValue::Parts(Kind::Choice(choice), _) => Some(choice.name.clone()),
                LValue::Memory(Memory { ty: Type::Enum(name), .. }) => Some(name.clone()),
                LValue::Var(var) => self.enums.get(&self.get(*var)).cloned(),
                LValue::Value(val) => self.owner_of(val),
                LValue::Either(_, a, _) => self.owner_of(&Val::Place((**a).clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Negation, for those who write `Neg::neg`.
    pub(super) fn negate(&mut self, a: ValueId, span: proc_macro2::Span) -> ValueId {
        let ty = self.b.function.ty(a);
        self.b.emit(Op::Unary(Unary::Neg, a), ty, span)
    }

    /// `a op b` as a function.
    pub(super) fn operator(
        &mut self,
        name: &str,
        args: &[ValueId],
        span: proc_macro2::Span,
    ) -> Result<Option<Val>> {
        let sign = match (name, args) {
            ("neg", [a]) => return Ok(Some(Val::Scalar(self.negate(*a, span)))),
            ("add", [_, _]) => Binary::Add,
            ("sub", [_, _]) => Binary::Sub,
            ("mul", [_, _]) => Binary::Mul,
            ("div", [_, _]) => Binary::Div,
            ("rem", [_, _]) => Binary::Rem,
            _ => return Ok(None),
        };
        let ty = self.unify(args[0], args[1], span)?;
        Ok(Some(Val::Scalar(self.b.emit(Op::Binary(sign, args[0], args[1]), ty, span))))
    }
}

/// The list a value is or refers to.
pub(super) fn list_of(val: &Val) -> Option<LValue> {
    match val {
        Val::Place(lv) | Val::Ref(lv) => match lv {
            LValue::Memory(Memory {
                ty: Type::Array(..) | Type::Slice(_) | Type::Vec(_), ..
            }) => Some(lv.clone()),
            LValue::Value(val) => list_of(val),
            LValue::Either(_, a, _) => list_of(&Val::Place((**a).clone())).map(|_| lv.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A range that is written out.
fn as_range(expr: &syn::Expr) -> Option<&syn::ExprRange> {
    match expr {
        syn::Expr::Paren(inner) => as_range(&inner.expr),
        syn::Expr::Group(inner) => as_range(&inner.expr),
        syn::Expr::Range(range) => Some(range),
        _ => None,
    }
}

fn is_tuple(val: &Val) -> bool {
    match val {
        Val::Parts(Kind::Tuple, _) => true,
        Val::Place(lv) | Val::Ref(lv) => match lv {
            LValue::Parts(Kind::Tuple, _) => true,
            LValue::Memory(memory) => matches!(memory.ty, Type::Tuple(_)),
            LValue::Value(val) => is_tuple(val),
            _ => false,
        },
        _ => false,
    }
}
