//! Lists that are filled item by item: `collect`, `array.map(…)`, `std::array::from_fn`, `unzip`.

use proc_macro2::Span;
use syn::{Error, Result};

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

    /// `std::array::from_fn(f)`
    pub(super) fn array_from_fn(
        &mut self,
        extent: Extent,
        item: &Type,
        f: &Val,
        span: Span,
    ) -> Result<Val> {
        let len = match &extent {
            Extent::Known(n) => self.b.usize(*n, span),
            Extent::Const(tokens) => {
                let op = stratape_ir::Op::Const(tokens.clone());
                self.b.emit(op, stratape_ir::Scalar::USIZE, span)
            }
        };
        self.built(Some(extent), len, span, &mut |me, at| {
            me.apply_as(f, vec![Val::Scalar(at)], item, span)
        })
    }
}
