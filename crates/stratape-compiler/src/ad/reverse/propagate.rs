//! Sends adjoints through the [table of partial derivatives](super::super::partials), from a result to its operands.

use super::Reverse;
use crate::ad::partials::{Condition, Expr, Factor, partials};
use stratape_ir::{Binary, Math, Op, Scalar, SourceId, Unary, ValueId};

impl Reverse<'_> {
    /// Adds what the adjoint `d` of `value = op` contributes to the adjoints of its operands.
    pub(super) fn propagate(&mut self, value: ValueId, op: &Op, d: ValueId) {
        let integer = |value: ValueId| match self.literal(value) {
            Some(Op::Int(number)) => Some(*number),
            _ => None,
        };
        for (operand, factors) in partials(value, op, integer) {
            if !self.active(operand) {
                continue;
            }
            let ends =
                Ends { operand: self.ty(operand), result: self.ty(value), span: self.span(value) };
            let part = factors.iter().fold(d, |d, factor| self.factor(factor, d, ends));
            self.add(operand, part);
        }
    }

    fn factor(&mut self, factor: &Factor, d: ValueId, ends: Ends) -> ValueId {
        match factor {
            Factor::Times(factor) => {
                let factor = self.expr(factor, ends);
                self.mul(d, factor)
            }
            Factor::Over(divisor) => {
                let divisor = self.expr(divisor, ends);
                self.div(d, divisor)
            }
            Factor::Twice => {
                let twice = self.b.binary(Binary::Add, d, d, SourceId::NONE);
                self.is_adjoint(twice)
            }
            Factor::Minus => {
                let opposite = self.b.emit(Op::Unary(Unary::Neg, d), ends.result, SourceId::NONE);
                self.is_adjoint(opposite)
            }
            Factor::Where(condition) => {
                let (condition, zero) = (self.condition(condition, ends), self.zero(ends.result));
                self.b.select(condition, d, zero, ends.span)
            }
            Factor::Except(condition) => {
                let (condition, zero) = (self.condition(condition, ends), self.zero(ends.result));
                self.b.select(condition, zero, d, ends.span)
            }
            Factor::Same(function) => self.math(*function, vec![d]),
            Factor::Cast => self.b.emit(Op::Cast(d, ends.operand), ends.operand, ends.span),
        }
    }

    fn expr(&mut self, expr: &Expr, ends: Ends) -> ValueId {
        match expr {
            Expr::Primal(value) => self.primal(*value),
            Expr::Number(number) => self.b.float(*number, ends.result, ends.span),
            Expr::Exponent(number, like) => {
                let ty = self.ty(*like);
                self.b.int(*number, ty, ends.span)
            }
            Expr::Less(exponent) => {
                let (ty, exponent) = (self.ty(*exponent), self.primal(*exponent));
                let one = self.b.int(1, ty, ends.span);
                let less = Op::Method("saturating_sub".to_owned(), vec![exponent, one]);
                self.b.emit(less, ty, ends.span)
            }
            Expr::Float(exponent) => {
                let exponent = self.primal(*exponent);
                self.b.emit(Op::Cast(exponent, ends.result), ends.result, ends.span)
            }
            Expr::Binary(sign, a, b) => {
                let (a, b) = (self.expr(a, ends), self.expr(b, ends));
                match sign {
                    Binary::Mul => self.mul(a, b),
                    Binary::Div => self.div(a, b),
                    sign => self.b.binary(*sign, a, b, ends.span),
                }
            }
            Expr::Ratio(a, b) => {
                let (a, b) = (self.primal(*a), self.primal(*b));
                self.b.binary(Binary::Div, a, b, ends.span)
            }
            Expr::Math(function, args) => {
                let args = args.iter().map(|arg| self.expr(arg, ends)).collect();
                self.math(*function, args)
            }
            Expr::ZeroIf(condition, number) => {
                let (condition, number) =
                    (self.condition(condition, ends), self.expr(number, ends));
                let zero = self.zero(ends.result);
                self.b.select(condition, zero, number, ends.span)
            }
        }
    }

    fn condition(&mut self, condition: &Condition, ends: Ends) -> ValueId {
        match condition {
            Condition::Primal(value) => self.primal(*value),
            Condition::Compare(sign, a, b) => {
                let (a, b) = (self.expr(a, ends), self.expr(b, ends));
                self.b.compare(*sign, a, b, ends.span)
            }
        }
    }

    fn math(&mut self, function: Math, args: Vec<ValueId>) -> ValueId {
        let ty = self.b.function.ty(args[0]);
        self.b.emit(Op::Math(function, args), ty, SourceId::NONE)
    }

    fn mul(&mut self, a: ValueId, b: ValueId) -> ValueId {
        for (one, other) in [(a, b), (b, a)] {
            if matches!(self.b.constant(one), Some(Op::Float(1.0, _))) {
                return other;
            }
        }
        let product = self.b.binary(Binary::Mul, a, b, SourceId::NONE);
        self.is_adjoint(product)
    }

    fn div(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let quotient = self.b.binary(Binary::Div, a, b, SourceId::NONE);
        self.is_adjoint(quotient)
    }

    /// Zero of a type.
    pub(super) fn zero(&mut self, ty: Scalar) -> ValueId {
        match ty {
            Scalar::Int(_) => self.b.int(0, ty, SourceId::NONE),
            Scalar::Bool => self.b.bool(false, SourceId::NONE),
            ty => self.b.float(0.0, ty, SourceId::NONE),
        }
    }
}

/// The two ends of a partial derivative: the types of the operand and of the result, and where the operation is written.
#[derive(Clone, Copy)]
struct Ends {
    operand: Scalar,
    result: Scalar,
    span: SourceId,
}
