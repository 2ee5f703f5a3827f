//! Branches and loops over variables: where the value of a variable depends on the way taken, a
//! merge or a carried value is made for it.

use std::collections::HashMap;

use proc_macro2::Span;
use syn::Result;

use super::exits::{self, Exit};
use super::join::{Joiner, replace_in};
use super::val::{Kind, LValue, Memory, Val, VarId};
use super::{Lowerer, unsupported};
use stratape_ir::{
    Binary, Carried, If, Init, Loop, Merge, Object, Op, Origin, Parallel, Range, Scalar, Stmt,
    StmtId, Substitution, Type, ValueId,
};

/// A loop that encloses what is being lowered.
#[derive(Debug)]
pub(super) struct LoopFrame {
    pub(super) label: Option<String>,
    /// Set when the loop was left by `break`.
    pub(super) broke: Option<VarId>,
    /// Set when the iteration was left by `continue`.
    pub(super) continued: Option<VarId>,
    /// What `break` with a value hands out.
    pub(super) result: Option<Val>,
    /// Whether it is a block with a label, which only `break` with that label leaves.
    pub(super) is_block: bool,
}

/// A function or closure that is being lowered.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Whether control is on its normal way; false after a jump, until its target.
    pub(super) going: Option<VarId>,
    /// Where `return` leaves the value.
    pub(super) result: Option<Val>,
    /// The type returned, where it is written.
    pub(super) output: Option<Type>,
    pub(super) loops: Vec<LoopFrame>,
}

impl Lowerer<'_> {
    /// A branch; the arms are lowered in turn.
    pub(super) fn branch(
        &mut self,
        condition: ValueId,
        span: Span,
        then: impl FnOnce(&mut Self) -> Result<Val>,
        other: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        if let Some(Op::Bool(known)) = self.b.constant(condition) {
            let val = if *known { then(self)? } else { other(self)? };
            return self.rvalue(val, span);
        }
        let (before, live, laters) = (self.vars.clone(), self.live.len(), self.laters);
        self.b.open();
        let val_then = match then(self).and_then(|val| self.settled(val, span)) {
            Ok(val) => val,
            // It may read a variable whose shape only the other arm shows.
            Err(error) if self.read_unknown && self.found.is_none() => {
                self.vars.clone_from(&before);
                self.vars.resize(before.len().max(self.vars.len()), ValueId(0));
                let _ = other(self);
                self.found.take_if(|(number, _)| *number >= laters);
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        let mut block_then = self.b.close();
        self.live.truncate(live);
        let vars_then = std::mem::replace(&mut self.vars, before);
        self.vars.resize(vars_then.len(), ValueId(0));
        self.b.open();
        let val_other = other(self).and_then(|val| self.settled(val, span))?;
        let mut block_other = self.b.close();
        self.live.truncate(live);

        let mut merges = Vec::new();
        for var in self.live.clone() {
            let index = var.0 as usize;
            let (a, b) = (vars_then[index], self.vars[index]);
            if a != b {
                self.vars[index] = self.merge(a, b, &mut merges, span)?;
                self.name_after(self.vars[index], var);
            }
        }
        let mut joiner =
            Joiner { condition, merges, then: &mut block_then, other: &mut block_other, span };
        let mut val = joiner.join(self, val_then, val_other)?;
        let merges = joiner.merges;
        let node = If {
            id: StmtId::NONE,
            condition,
            then: block_then,
            other: block_other,
            merges,
            span: self.b.at(span),
        };
        let replaced: HashMap<_, _> = self.b.branch(node).into_iter().collect();
        for var in &self.live {
            let value = &mut self.vars[var.0 as usize];
            *value = replaced.get(value).copied().unwrap_or(*value);
        }
        replace_in(&mut val, &replaced);
        Ok(val)
    }

    pub(super) fn merge(
        &mut self,
        then: ValueId,
        other: ValueId,
        merges: &mut Vec<Merge>,
        span: Span,
    ) -> Result<ValueId> {
        if then == other {
            return Ok(then);
        }
        self.unify(then, other, span)?;
        let merge = self.b.merge(then, other, span);
        merges.push(merge);
        let same = self.enums.get(&then).or_else(|| self.enums.get(&other)).cloned();
        self.enums.extend(same.map(|name| (merge.value, name)));
        Ok(merge.value)
    }

    /// A value that a variable takes has its name.
    fn name_after(&mut self, value: ValueId, var: VarId) {
        if let Some(name) = &self.var_names[var.0 as usize] {
            self.b.function.values[value.index()].name = Some(name.clone());
        }
    }

    /// A loop over a range, or without end. The body is handed the counter.
    pub(super) fn repeat(
        &mut self,
        range: Range,
        reversed: bool,
        label: Option<&syn::Label>,
        exits: &[Exit],
        span: Span,
        body: impl FnOnce(&mut Self, ValueId) -> Result<()>,
    ) -> Result<Val> {
        let parallel = self.parallel.take();
        let label = label.map(|label| label.name.ident.to_string());
        let mine = |name: &Option<String>| name.is_none() || *name == label;
        let breaks = exits.iter().any(|exit| matches!(exit, Exit::Break(name) if mine(name)))
            || matches!(range, Range::Forever);
        let continues = exits.iter().any(|exit| matches!(exit, Exit::Continue(name) if mine(name)));
        let outward = exits.iter().any(|exit| match exit {
            Exit::Return => true,
            Exit::Break(name) | Exit::Continue(name) => !mine(name),
        });
        let going = if breaks || continues || outward { Some(self.going(span)) } else { None };
        let scope = self.live.len();
        let no = self.b.bool(false, span);
        let broke = breaks.then(|| self.new_var(no));
        let continued = continues.then(|| self.new_var(no));
        let going_before = going.map(|var| self.get(var));

        let entering: Vec<(VarId, ValueId)> =
            self.live.iter().map(|var| (*var, self.get(*var))).collect();
        let counter_type = match range {
            Range::UpTo { from, .. } => self.b.function.ty(from),
            Range::Forever => Scalar::USIZE,
        };
        let counter = self.b.new_value(counter_type, span);
        self.b.note_next(counter);
        let mut insides = Vec::new();
        for (var, init) in &entering {
            let inside = self.value_like(*init);
            self.name_after(inside, *var);
            insides.push(inside);
            self.set(*var, inside);
        }
        self.b.open();
        if let Some(continued) = continued {
            let no = self.b.bool(false, span);
            self.set(continued, no);
        }
        self.frame().loops.push(LoopFrame {
            label,
            broke,
            continued,
            result: None,
            is_block: false,
        });
        let lowered = body(self, counter);
        let frame = self.frame().loops.pop();
        lowered?;
        if let (Some(going), Some(continued)) = (going, continued) {
            let (a, b) = (self.get(going), self.get(continued));
            let still = self.or(a, b, span);
            self.set(going, still);
        }
        let exit = match going {
            Some(going) if breaks || outward => {
                let going = self.get(going);
                Some(self.b.not(going, span))
            }
            _ => None,
        };
        let mut carried = Vec::new();
        let mut substitution = Substitution::default();
        for ((var, init), inside) in entering.iter().zip(insides) {
            let next = self.get(*var);
            if next == inside {
                substitution.value(inside, *init);
                self.set(*var, *init);
            } else {
                self.unify(*init, next, span)?;
                let after = self.value_like(*init);
                carried.push(Carried { init: *init, inside, next, after });
                self.set(*var, after);
            }
        }
        let body = self.b.close();
        let ends_early = exit.is_some() || matches!(range, Range::Forever);
        let trips = ends_early.then(|| self.b.new_value(Scalar::USIZE, span));
        let node = Loop {
            counter,
            range,
            reversed,
            unordered: false,
            carried,
            exit,
            trips,
            parallel: parallel.map(|span| Parallel {
                number: counter.0,
                grain: 1,
                span: self.b.at(span),
            }),
            schedule: None,
            body,
            span: self.b.at(span),
        };
        let mut block = vec![Stmt::Loop(Box::new(node))];
        substitution.apply(&mut block);
        if let Some(Stmt::Loop(node)) = block.pop() {
            self.b.repeat(*node);
        }
        if let (Some(going), Some(before)) = (going, going_before) {
            let now = match (outward, broke) {
                (false, _) => before,
                (true, Some(broke)) => {
                    let (a, b) = (self.get(going), self.get(broke));
                    self.or(a, b, span)
                }
                (true, None) => self.get(going),
            };
            self.set(going, now);
        }
        self.live.truncate(scope);
        Ok(frame.and_then(|frame| frame.result).unwrap_or(Val::Unit))
    }

    fn value_like(&mut self, value: ValueId) -> ValueId {
        let like = self.b.function.new_value_like(value);
        let same = self.enums.get(&value).cloned();
        self.enums.extend(same.map(|name| (like, name)));
        like
    }

    pub(super) fn or(&mut self, a: ValueId, b: ValueId, span: Span) -> ValueId {
        match (self.b.constant(a), self.b.constant(b)) {
            (Some(Op::Bool(false)), _) => b,
            (_, Some(Op::Bool(false))) => a,
            (Some(Op::Bool(true)), _) => a,
            (_, Some(Op::Bool(true))) => b,
            _ => self.b.binary(Binary::BitOr, a, b, span),
        }
    }

    /// The variable that says whether control is on its normal way.
    pub(super) fn going(&mut self, span: Span) -> VarId {
        if let Some(var) = self.frame().going {
            return var;
        }
        let yes = self.b.bool(true, span);
        let var = self.new_var(yes);
        self.frame().going = Some(var);
        var
    }

    /// Makes the `going` variable of a frame where its syntax has jumps, before anything else.
    pub(super) fn prepare_jumps(&mut self, exits: &[Exit], body: &syn::Block, span: Span) {
        let inside = !exits.is_empty() || has_jumps(body);
        if inside {
            self.going(span);
        }
    }

    /// Leaves the normal way.
    pub(super) fn jump(&mut self, reason: Option<VarId>, span: Span) {
        let (yes, no) = (self.b.bool(true, span), self.b.bool(false, span));
        let going = self.going(span);
        self.set(going, no);
        if let Some(reason) = reason {
            self.set(reason, yes);
        }
    }
}

/// Whether anything in a block may leave the normal way, if only to come back.
pub(super) fn has_jumps(body: &syn::Block) -> bool {
    struct Any(bool);
    impl<'ast> crate::walk::visit::Visit<'ast> for Any {
        fn visit_expr(&mut self, expr: &'ast syn::Expr) {
            match expr {
                syn::Expr::Closure(_) => {}
                syn::Expr::Return(_)
                | syn::Expr::Try(_)
                | syn::Expr::Break(_)
                | syn::Expr::Continue(_)
                | syn::Expr::While(_)
                | syn::Expr::Loop(_) => self.0 = true,
                _ => crate::walk::visit::visit_expr(self, expr),
            }
        }
    }
    let mut any = Any(false);
    crate::walk::visit::Visit::visit_block(&mut any, body);
    any.0 || !exits::of_block(body).is_empty()
}

impl Lowerer<'_> {
    /// Zero, or false, of a type.
    pub(super) fn zero(&mut self, ty: Scalar, span: Span) -> ValueId {
        match self.infer.resolve(ty) {
            Scalar::Bool => self.b.bool(false, span),
            _ if self.infer.is_int(ty) => self.b.int(0, ty, span),
            _ => self.b.float(0.0, ty, span),
        }
    }

    /// Zero, or false, as an operation of a type that may have become known since it was needed.
    pub(super) fn zero_op(&self, ty: Scalar) -> Op {
        match self.infer.resolve(ty) {
            Scalar::Bool => Op::Bool(false),
            _ if self.infer.is_int(ty) => Op::Int(0),
            _ => Op::Float(0.0, "0.0".to_owned()),
        }
    }

    /// Zeros of the shape of a fixed type.
    pub(super) fn zero_init(&mut self, ty: &Type, span: Span) -> Result<Init> {
        Ok(match ty {
            Type::Array(item, _) => Init::Fill(Box::new(self.zero_init(item, span)?)),
            Type::Tuple(items) => Init::Items(
                items.iter().map(|item| self.zero_init(item, span)).collect::<Result<_>>()?,
            ),
            Type::Struct(def) => Init::Items(
                def.fields.iter().map(|(_, ty)| self.zero_init(ty, span)).collect::<Result<_>>()?,
            ),
            Type::Scalar(scalar) => Init::Value(self.zero(*scalar, span)),
            Type::Vec(item) => {
                let len = self.b.usize(0, span);
                Init::Repeat(Box::new(self.zero_init(item, span)?), len)
            }
            // The zero of an enum is never read.
            Type::Enum(_) => Init::Value(self.zero(Scalar::Int(stratape_ir::Int::Isize), span)),
            Type::Slice(_) => {
                return Err(unsupported(
                    span,
                    "a value of this type from a branch or an early `return`",
                    "yield numbers or arrays of fixed length",
                ));
            }
        })
    }

    /// Variables of the shape of a fixed type, all zero.
    pub(super) fn zero_val(&mut self, ty: &Type, span: Span) -> Result<Val> {
        let parts = |me: &mut Self, items: Vec<Type>| -> Result<Vec<Val>> {
            items.iter().map(|item| me.zero_val(item, span)).collect()
        };
        Ok(match ty {
            Type::Scalar(_) | Type::Enum(_) => {
                let zero = self.zero(ty.scalar().unwrap_or(Scalar::USIZE), span);
                if let Type::Enum(name) = ty {
                    self.enums.insert(zero, name.clone());
                }
                Val::Place(LValue::Var(self.new_var(zero)))
            }
            Type::Tuple(items) => {
                let parts = parts(self, items.clone())?;
                Val::Place(LValue::Parts(Kind::Tuple, parts.into_iter().map(lv_of).collect()))
            }
            Type::Struct(def) => {
                let types = def.fields.iter().map(|(_, ty)| ty.clone()).collect();
                let parts = parts(self, types)?;
                let kind = self.module.kind_of(def);
                Val::Place(LValue::Parts(kind, parts.into_iter().map(lv_of).collect()))
            }
            Type::Array(..) => {
                let object = self.b.function.new_object(Object {
                    ty: ty.clone(),
                    origin: Origin::Local,
                    name: "result".to_owned(),
                    shadow_of: None,
                    span: self.module.sources.id(span),
                });
                let init = self.zero_init(ty, span)?;
                self.b.node(Stmt::New { object, init });
                Val::Place(LValue::Memory(Memory::whole(object, ty.clone())))
            }
            Type::Vec(_) => {
                let list = self.empty(ty, span)?;
                let len = self.b.usize(0, span);
                let len = Some(self.new_var(len));
                Val::Place(LValue::Memory(Memory { len, ..list }))
            }
            Type::Slice(_) => {
                return Err(unsupported(
                    span,
                    "an early `return` of a slice",
                    "return at the end of the function only, or write to a `&mut` parameter",
                ));
            }
        })
    }
}

/// A value as something that can be referred to.
pub(super) fn lv_of(val: Val) -> LValue {
    match val {
        Val::Place(lv) | Val::Ref(lv) => lv,
        other => LValue::Value(Box::new(other)),
    }
}
