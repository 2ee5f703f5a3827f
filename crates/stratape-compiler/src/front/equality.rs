//! `==` of tuples, structs, arrays, slices, options and enums: part by part.

use proc_macro2::Span;
use syn::Result;

use super::Lowerer;
use super::control::lv_of;
use super::iter::Iter;
use super::method::list_of;
use super::pattern::part_count;
use super::val::{Kind, LValue, Val};
use stratape_ir::{Binary, Compare, ValueId};

impl Lowerer<'_> {
    /// Whether a value is compared part by part.
    pub(super) fn has_parts(&self, val: &Val) -> bool {
        match val {
            Val::Parts(..) => true,
            Val::Place(LValue::Parts(..)) | Val::Ref(LValue::Parts(..)) => true,
            Val::Place(LValue::Value(val)) | Val::Ref(LValue::Value(val)) => self.has_parts(val),
            Val::Place(LValue::Memory(memory)) | Val::Ref(LValue::Memory(memory)) => {
                memory.ty.scalar().is_none()
            }
            Val::Place(LValue::Either(_, a, _)) | Val::Ref(LValue::Either(_, a, _)) => {
                self.has_parts(&Val::Place((**a).clone()))
            }
            _ => false,
        }
    }

    /// `a == b`
    pub(super) fn equal(&mut self, a: &Val, b: &Val, span: Span) -> Result<ValueId> {
        let (a, b) = (&self.resolved(a.clone(), span)?, &self.resolved(b.clone(), span)?);
        if matches!((a, b), (Val::Never, _) | (_, Val::Never)) {
            return Ok(self.b.bool(true, span));
        }
        if let (Some(choice), Some(_)) = (self.choice_of(a), self.choice_of(b)) {
            let (tag_a, tag_b) = (self.part(a, 0, span)?, self.part(b, 0, span)?);
            let (tag_a, tag_b) = (self.scalar(tag_a, span)?, self.scalar(tag_b, span)?);
            let mut same = self.b.compare(Compare::Eq, tag_a, tag_b, span);
            for (index, variant) in choice.variants.iter().enumerate() {
                for part in variant.first..variant.first + variant.fields.len() {
                    let is = self.is_variant(&choice, a, index, span)?;
                    let asked = self.b.binary(Binary::BitAnd, same, is, span);
                    let (part_a, part_b) = (self.part(a, part, span)?, self.part(b, part, span)?);
                    same = self.unless_different(same, asked, &part_a, &part_b, span)?;
                }
            }
            return Ok(same);
        }
        if let (Some(a), Some(b)) = (list_of(a), list_of(b)) {
            return self.equal_lists(&a, &b, span);
        }
        if let Some(owner) = self.owner_of(a)
            && let Some(function) = self.module.methods.get(&(owner.clone(), "eq".to_owned()))
        {
            let function = function.clone();
            let args = vec![Val::Ref(lv_of(a.clone())), Val::Ref(lv_of(b.clone()))];
            let label = format!("{owner}::eq");
            let same = self.expand(&label, &function.sig, &function.block, args, span)?;
            return self.scalar(same, span);
        }
        if self.has_parts(a) {
            let mut same = self.b.bool(true, span);
            for index in 0..part_count(a, 0) {
                let (part_a, part_b) = (self.part(a, index, span)?, self.part(b, index, span)?);
                same = self.unless_different(same, same, &part_a, &part_b, span)?;
            }
            return Ok(same);
        }
        if matches!(a, Val::Unit) {
            return Ok(self.b.bool(true, span));
        }
        let (a, b) = (self.scalar(a.clone(), span)?, self.scalar(b.clone(), span)?);
        self.unify(a, b, span)?;
        Ok(self.b.compare(Compare::Eq, a, b, span))
    }

    /// What was known, and where it is `asked`, whether two parts are equal too.
    fn unless_different(
        &mut self,
        known: ValueId,
        asked: ValueId,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Result<ValueId> {
        let val = self.branch(
            asked,
            span,
            |me| Ok(Val::Scalar(me.equal(a, b, span)?)),
            |_| Ok(Val::Scalar(known)),
        )?;
        self.scalar(val, span)
    }

    fn equal_lists(&mut self, a: &LValue, b: &LValue, span: Span) -> Result<ValueId> {
        let (len_a, len_b) = (self.len_of(a, span)?, self.len_of(b, span)?);
        let same = self.b.compare(Compare::Eq, len_a, len_b, span);
        let live = self.live.len();
        let var = self.new_var(same);
        let pairs = Iter::Zip(Box::new(Iter::Slice(a.clone())), Box::new(Iter::Slice(b.clone())));
        self.each(&pairs, None, &[], span, &mut |me, item| {
            let Val::Parts(Kind::Tuple, parts) = item else { return Ok(()) };
            let now = me.get(var);
            let next = me.unless_different(now, now, &parts[0], &parts[1], span)?;
            me.set(var, next);
            Ok(())
        })?;
        let same = self.get(var);
        self.live.truncate(live);
        Ok(same)
    }
}
