//! Lists that are filled item by item: `collect`, `array.map(…)`, `std::array::from_fn`, `unzip`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

use super::Lowerer;
use super::infer::Class;
use super::iter::Iter;
use super::later::Shape;
use super::val::{LValue, Memory, Val};
use stratape_ir::{Extent, Init, Range, Stmt, Type, ValueId};

impl Lowerer<'_> {
    /// A new list of so many items, made in turn. What an item is shows when the first is made.
    pub(super) fn built(
        &mut self,
        extent: Option<Extent>,
        len: ValueId,
        span: Span,
        item: &mut dyn FnMut(&mut Self, ValueId) -> Result<Val>,
    ) -> Result<Val> {
        let number = self.laters;
        self.laters += 1;
        let known = match self.shapes.get(&number).cloned() {
            Some(Shape::Memory(ty)) => Some(self.fresh_type(&ty)),
            _ => None,
        };
        let scalar = self.fresh(Class::Any);
        let element = known.clone().unwrap_or(Type::Scalar(scalar));
        let ty = match extent {
            Some(extent) => Type::Array(Box::new(element), extent),
            None => Type::Vec(Box::new(element)),
        };
        let object = self.new_local(ty.clone(), span);
        let lv = LValue::Memory(Memory::whole(object, ty.clone()));
        let zero = self.b.new_value(scalar, span);
        self.b.open();
        let from = self.b.usize(0, span);
        let looped =
            self.repeat(Range::UpTo { from, to: len }, false, None, &[], span, |me, at| {
                let val = item(me, at)?;
                let val = me.value_of(val, span)?;
                if known.is_none()
                    && !matches!(val, Val::Scalar(_) | Val::Ordering(..) | Val::Never)
                {
                    let (_, ty) = me.init_of(val, span)?;
                    me.found = Some((number, Shape::Memory(ty)));
                    return Err(Error::new(span, "the type of the items is not known yet"));
                }
                let place = me.element_unchecked(&lv, at, span)?;
                me.write_parts(&place, val, span)
            });
        let block = self.b.close();
        looped?;
        let init = match &known {
            Some(ty) => self.zero_init(ty, span)?,
            None => {
                let op = self.zero_op(scalar);
                self.b.node(Stmt::Let { value: zero, op });
                Init::Value(zero)
            }
        };
        let init = match ty {
            Type::Array(..) => Init::Fill(Box::new(init)),
            _ => Init::Repeat(Box::new(init), len),
        };
        self.b.node(Stmt::New { object, init });
        block.into_iter().for_each(|node| self.b.node(node));
        Ok(Val::Place(lv))
    }

    /// `collect` into a `Vec`.
    pub(super) fn collect(&mut self, iter: &Iter, span: Span) -> Result<Val> {
        let len = self.iter_len(iter, span)?;
        self.built(None, len, span, &mut |me, at| me.item_of(iter, at, span))
    }

    /// `unzip` into two `Vec`s: the closures run once for each item.
    pub(super) fn unzip(&mut self, iter: &Iter, span: Span) -> Result<Val> {
        let pairs = self.collect(iter, span)?;
        let lv = super::control::lv_of(pairs);
        let len = self.len_of(&lv, span)?;
        let mut lists = Vec::new();
        for index in 0..2 {
            let list = self.built(None, len, span, &mut |me, at| {
                let pair = me.element_unchecked(&lv, at, span)?;
                Ok(Val::Place(me.field_of(&pair, index, span)?))
            })?;
            lists.push(list);
        }
        Ok(Self::tuple(lists))
    }

    /// The item at a position.
    fn item_of(&mut self, iter: &Iter, at: ValueId, span: Span) -> Result<Val> {
        let mut found = Val::Never;
        self.visit(iter, at, span, &mut |me, item| {
            found = me.value_of(item, span)?;
            Ok(())
        })?;
        Ok(found)
    }

    /// `array.map(f)`
    pub(super) fn mapped_array(&mut self, memory: &Memory, f: &Val, span: Span) -> Result<Val> {
        let Type::Array(_, extent) = &memory.ty else {
            return Err(Error::new(span, "an array was expected"));
        };
        let lv = LValue::Memory(memory.clone());
        let len = self.len_of(&lv, span)?;
        self.built(Some(extent.clone()), len, span, &mut |me, at| {
            let item = me.element_unchecked(&lv, at, span)?;
            let val = me.read(&item, span)?;
            me.apply(f, vec![val], span)
        })
    }

    /// A value whose type is known from where it goes: `std::array::from_fn(…)`, `Default::default()`, `v.into()`,
    /// `v.try_into().unwrap()`, `v.sum()` of structs. `None` for every other expression.
    pub(super) fn wanted(&mut self, expr: &Expr, ty: &Type) -> Result<Option<Val>> {
        let span = expr.span();
        match expr {
            Expr::Paren(inner) => self.wanted(&inner.expr, ty),
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return Ok(None) };
                let names: Vec<String> =
                    path.path.segments.iter().map(|part| part.ident.to_string()).collect();
                match (names.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), ty) {
                    ([.., "array", "from_fn"], Type::Array(_, extent)) => {
                        let Some(arg) = call.args.first() else { return Ok(None) };
                        let f = self.operand(arg)?;
                        self.array_from_fn(extent.clone(), &f, span).map(Some)
                    }
                    ([.., "Default", "default"], ty) => self.default_of(ty, span).map(Some),
                    _ => Ok(None),
                }
            }
            Expr::MethodCall(call) if call.method == "into" && call.args.is_empty() => {
                let Some(to) = ty.scalar() else { return Ok(None) };
                let value = self.number(&call.receiver)?;
                if self.ty(value) == to {
                    return Ok(Some(Val::Scalar(value)));
                }
                let cast = stratape_ir::Op::Cast(value, to);
                Ok(Some(Val::Scalar(self.b.emit(cast, to, span))))
            }
            Expr::MethodCall(call)
                if (call.method == "sum" || call.method == "product")
                    && call.turbofish.is_none()
                    && matches!(ty, Type::Struct(_)) =>
            {
                let Val::Iter(iter) = self.operand(&call.receiver)? else {
                    return Err(Error::new(call.receiver.span(), "an iterator was expected"));
                };
                self.sum_of_structs(&iter, ty, &call.method.to_string(), span)
            }
            Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => {
                match &*call.receiver {
                    Expr::MethodCall(inner) if inner.method == "try_into" => {
                        self.tried_into(inner, call, ty, span)
                    }
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// `std::array::from_fn(f)`
    pub(super) fn array_from_fn(&mut self, extent: Extent, f: &Val, span: Span) -> Result<Val> {
        let len = match &extent {
            Extent::Known(n) => self.b.usize(*n, span),
            Extent::Const(tokens) => {
                let op = stratape_ir::Op::Const(tokens.clone());
                self.b.emit(op, stratape_ir::Scalar::USIZE, span)
            }
        };
        self.built(Some(extent), len, span, &mut |me, at| me.apply(f, vec![Val::Scalar(at)], span))
    }

    /// `v.try_into().unwrap()`: a slice as an array, or an integer of another type.
    fn tried_into(
        &mut self,
        inner: &syn::ExprMethodCall,
        call: &syn::ExprMethodCall,
        ty: &Type,
        span: Span,
    ) -> Result<Option<Val>> {
        let val = self.operand(&inner.receiver)?;
        if let Type::Array(_, extent) = ty {
            let (Val::Ref(lv) | Val::Place(lv)) = val else { return Ok(None) };
            let len = match extent {
                Extent::Known(n) => self.b.usize(*n, span),
                Extent::Const(tokens) => {
                    let op = stratape_ir::Op::Const(tokens.clone());
                    self.b.emit(op, stratape_ir::Scalar::USIZE, span)
                }
            };
            let found = self.len_of(&lv, span)?;
            let fits = self.b.compare(stratape_ir::Compare::Eq, len, found, span);
            let (method, args) = (&call.method, &call.args);
            let otherwise = quote::quote!(
                let _: [(); 1] = <[(); 1]>::try_from(&[(); 0][..]).#method(#args)
            );
            self.run_unless(fits, otherwise, &[], span);
            return self
                .built(Some(extent.clone()), len, span, &mut |me, at| {
                    let item = me.element_unchecked(&lv, at, span)?;
                    me.read(&item, span)
                })
                .map(Some);
        }
        let Some(to) = ty.scalar() else { return Ok(None) };
        let value = self.scalar(val, span)?;
        let tried = self.tried_from(value, to, span);
        let Some(choice) = self.choice_of(&tried) else { return Ok(None) };
        self.option_method(&choice, tried, call).map(Some)
    }

    /// The default of a type: zeros, or what the type's `Default` says.
    pub(super) fn default_of(&mut self, ty: &Type, span: Span) -> Result<Val> {
        if let Type::Struct(def) = ty
            && let Some(function) =
                self.module.methods.get(&(def.name.clone(), "default".to_owned())).cloned()
        {
            let label = format!("{}::default", def.name);
            return self.expand(&label, &function.sig, &function.block, Vec::new(), span);
        }
        match ty {
            Type::Tuple(items) => {
                let items = items.iter().map(|item| self.default_of(item, span));
                Ok(Self::tuple(items.collect::<Result<_>>()?))
            }
            Type::Struct(def) => {
                let parts = def.fields.iter().map(|(_, ty)| self.default_of(ty, span));
                let parts = parts.collect::<Result<_>>()?;
                Ok(Val::Parts(self.module.kind_of(def), parts))
            }
            _ => {
                let zero = self.zero_val(ty, span)?;
                self.rvalue(zero, span)
            }
        }
    }
}
