//! Partial derivatives of operations.
//!
//! At kinks: `abs` at 0 has derivative 0; equal arguments of `max` and `min` pass it to the first; at its
//! bounds `clamp` passes it to the number; `signum`, `floor`, `ceil`, `round`, `trunc` have derivative 0,
//! `fract` 1. Where an argument is NaN, the derivative goes where the value came from.

use super::reverse::Reverse;
use stratape_ir::SourceId;
use stratape_ir::{Binary, Compare, Math, Op, Scalar, Unary, ValueId};

impl Reverse<'_> {
    /// Adds what the adjoint `d` of `value = op` contributes to the adjoints of its operands.
    pub(super) fn propagate(&mut self, value: ValueId, op: &Op, d: ValueId) {
        let span = self.span(value);
        match op {
            Op::Unary(Unary::Neg, a) => {
                let c = self.neg(d);
                self.add(*a, c);
            }
            Op::Binary(sign, a, b) => self.propagate_binary(value, *sign, *a, *b, d),
            Op::Math(function, args) => self.propagate_math(value, *function, args, d),
            Op::Cast(a, _) if self.active(*a) => {
                let ty = self.ty(*a);
                let c = self.b.emit(Op::Cast(d, ty), ty, span);
                self.add(*a, c);
            }
            Op::Select(c, a, b) => {
                let zero = self.zero(self.ty(value));
                if self.active(*a) {
                    let c = self.primal(*c);
                    let part = self.b.select(c, d, zero, span);
                    self.add(*a, part);
                }
                if self.active(*b) {
                    let c = self.primal(*c);
                    let part = self.b.select(c, zero, d, span);
                    self.add(*b, part);
                }
            }
            _ => {}
        }
    }

    fn propagate_binary(
        &mut self,
        value: ValueId,
        sign: Binary,
        a: ValueId,
        b: ValueId,
        d: ValueId,
    ) {
        match sign {
            Binary::Add => {
                self.add(a, d);
                self.add(b, d);
            }
            Binary::Sub => {
                self.add(a, d);
                if self.active(b) {
                    let c = self.neg(d);
                    self.add(b, c);
                }
            }
            Binary::Mul if a == b => {
                let other = self.primal(a);
                let half = self.mul(d, other);
                let c = self.b.binary(Binary::Add, half, half, SourceId::NONE);
                let c = self.is_adjoint(c);
                self.add(a, c);
            }
            Binary::Mul => {
                if self.active(a) {
                    let other = self.primal(b);
                    let c = self.mul(d, other);
                    self.add(a, c);
                }
                if self.active(b) {
                    let other = self.primal(a);
                    let c = self.mul(d, other);
                    self.add(b, c);
                }
            }
            Binary::Div => {
                let divisor = self.primal(b);
                let c = self.div(d, divisor);
                self.add(a, c);
                if self.active(b) {
                    let quotient = self.primal(value);
                    let c = self.mul(c, quotient);
                    let c = self.neg(c);
                    self.add(b, c);
                }
            }
            Binary::Rem => {
                self.add(a, d);
                if self.active(b) {
                    let (x, y) = (self.primal(a), self.primal(b));
                    let quotient = self.div(x, y);
                    let whole = self.math(Math::Trunc, vec![quotient]);
                    let c = self.mul(d, whole);
                    let c = self.neg(c);
                    self.add(b, c);
                }
            }
            _ => {}
        }
    }

    fn propagate_math(&mut self, value: ValueId, function: Math, args: &[ValueId], d: ValueId) {
        let ty = self.ty(value);
        let span = self.span(value);
        match function {
            Math::MulAdd => {
                let [a, b, c] = args[..] else { return };
                if self.active(a) {
                    let other = self.primal(b);
                    let part = self.mul(d, other);
                    self.add(a, part);
                }
                if self.active(b) {
                    let other = self.primal(a);
                    let part = self.mul(d, other);
                    self.add(b, part);
                }
                self.add(c, d);
            }
            Math::Min | Math::Max => {
                let [a, b] = args[..] else { return };
                let (y, x) = (self.primal(value), self.primal(a));
                let first = self.b.compare(Compare::Eq, y, x, span);
                let zero = self.zero(ty);
                if self.active(a) {
                    let part = self.b.select(first, d, zero, span);
                    self.add(a, part);
                }
                if self.active(b) {
                    let part = self.b.select(first, zero, d, span);
                    self.add(b, part);
                }
            }
            Math::Clamp => {
                let [x, low, high] = args[..] else { return };
                let (vx, vl, vh) = (self.primal(x), self.primal(low), self.primal(high));
                let below = self.b.compare(Compare::Lt, vx, vl, span);
                let above = self.b.compare(Compare::Gt, vx, vh, span);
                let zero = self.zero(ty);
                if self.active(x) {
                    let part = self.b.select(below, zero, d, span);
                    let part = self.b.select(above, zero, part, span);
                    self.add(x, part);
                }
                if self.active(low) {
                    let part = self.b.select(below, d, zero, span);
                    self.add(low, part);
                }
                if self.active(high) {
                    let part = self.b.select(above, d, zero, span);
                    self.add(high, part);
                }
            }
            Math::Powf => self.propagate_powf(value, args, d),
            Math::Powi => self.propagate_powi(args[0], args[1], d),
            Math::Hypot | Math::Atan2 | Math::Log | Math::RemEuclid => {
                self.propagate_two(value, function, args, d);
            }
            _ => {
                let a = args[0];
                if self.active(a)
                    && let Some(c) = self.derivative(value, function, args, d)
                {
                    self.add(a, c);
                }
            }
        }
    }

    fn propagate_two(&mut self, value: ValueId, function: Math, args: &[ValueId], d: ValueId) {
        let [a, b] = args[..] else { return };
        let span = self.span(value);
        match function {
            Math::Hypot => {
                let y = self.primal(value);
                let zero = self.zero(self.ty(value));
                let origin = self.b.compare(Compare::Eq, y, zero, span);
                for side in [a, b] {
                    if self.active(side) {
                        let x = self.primal(side);
                        // At most 1, but its two factors need not be: it is a value of its own, not an adjoint to be rearranged.
                        let ratio = self.b.binary(Binary::Div, x, y, span);
                        let ratio = self.b.select(origin, zero, ratio, span);
                        let c = self.mul(d, ratio);
                        self.add(side, c);
                    }
                }
            }
            Math::Atan2 => {
                let (y, x) = (self.primal(a), self.primal(b));
                let (yy, xx) = (self.mul(y, y), self.mul(x, x));
                let square = self.b.binary(Binary::Add, yy, xx, span);
                let part = self.div(d, square);
                if self.active(a) {
                    let c = self.mul(part, x);
                    self.add(a, c);
                }
                if self.active(b) {
                    let c = self.mul(part, y);
                    let c = self.neg(c);
                    self.add(b, c);
                }
            }
            Math::Log => {
                let (x, base) = (self.primal(a), self.primal(b));
                let ln = self.math(Math::Ln, vec![base]);
                if self.active(a) {
                    let below = self.mul(x, ln);
                    let c = self.div(d, below);
                    self.add(a, c);
                }
                if self.active(b) {
                    let y = self.primal(value);
                    let below = self.mul(base, ln);
                    let part = self.div(d, below);
                    let c = self.mul(part, y);
                    let c = self.neg(c);
                    self.add(b, c);
                }
            }
            _ => {
                self.add(a, d);
                if self.active(b) {
                    let (x, y) = (self.primal(a), self.primal(b));
                    let whole = self.math(Math::DivEuclid, vec![x, y]);
                    let c = self.mul(d, whole);
                    let c = self.neg(c);
                    self.add(b, c);
                }
            }
        }
    }

    fn propagate_powf(&mut self, value: ValueId, args: &[ValueId], d: ValueId) {
        let [a, b] = args[..] else { return };
        let span = self.span(value);
        let ty = self.ty(value);
        let (x, n) = (self.primal(a), self.primal(b));
        let zero = self.zero(ty);
        if self.active(a) {
            let one = self.b.float(1.0, ty, span);
            let less = self.b.binary(Binary::Sub, n, one, span);
            let power = self.math(Math::Powf, vec![x, less]);
            let slope = self.mul(n, power);
            let flat = self.b.compare(Compare::Eq, n, zero, span);
            let slope = self.b.select(flat, zero, slope, span);
            let c = self.mul(d, slope);
            self.add(a, c);
        }
        if self.active(b) {
            let y = self.primal(value);
            let ln = self.math(Math::Ln, vec![x]);
            let slope = self.mul(y, ln);
            let origin = self.b.compare(Compare::Eq, x, zero, span);
            let slope = self.b.select(origin, zero, slope, span);
            let c = self.mul(d, slope);
            self.add(b, c);
        }
    }

    fn propagate_powi(&mut self, a: ValueId, n: ValueId, d: ValueId) {
        if !self.active(a) {
            return;
        }
        let ty = self.ty(a);
        let span = self.span(a);
        let x = self.primal(a);
        if let Some(Op::Int(known)) = self.literal(n) {
            let (known, exponent_type) = (*known, self.ty(n));
            let slope = match known {
                0 => return,
                1 => {
                    self.add(a, d);
                    return;
                }
                2 => x,
                _ => {
                    let less = self.b.int(known - 1, exponent_type, span);
                    self.math(Math::Powi, vec![x, less])
                }
            };
            let times = self.b.float(known as f64, ty, span);
            let c = self.mul(d, times);
            let c = self.mul(c, slope);
            self.add(a, c);
            return;
        }
        let exponent = self.primal(n);
        let exponent_type = self.ty(n);
        let one = self.b.int(1, exponent_type, span);
        let less = self.b.emit(
            Op::Method("wrapping_sub".to_owned(), vec![exponent, one]),
            exponent_type,
            span,
        );
        let power = self.math(Math::Powi, vec![x, less]);
        let times = self.b.emit(Op::Cast(exponent, ty), ty, span);
        let slope = self.mul(times, power);
        let none = self.b.int(0, exponent_type, span);
        let flat = self.b.compare(Compare::Eq, exponent, none, span);
        let zero = self.zero(ty);
        let slope = self.b.select(flat, zero, slope, span);
        let c = self.mul(d, slope);
        self.add(a, c);
    }

    /// `d` times the derivative of a function of one argument.
    fn derivative(
        &mut self,
        value: ValueId,
        function: Math,
        args: &[ValueId],
        d: ValueId,
    ) -> Option<ValueId> {
        let ty = self.ty(value);
        let span = self.span(value);
        let a = args[0];
        let number = |me: &mut Self, n: f64| me.b.float(n, ty, span);
        Some(match function {
            Math::Sqrt => {
                let (half, y) = (number(self, 0.5), self.primal(value));
                let c = self.mul(d, half);
                self.div(c, y)
            }
            Math::Cbrt => {
                let (y, three) = (self.primal(value), number(self, 3.0));
                let square = self.mul(y, y);
                let below = self.mul(three, square);
                self.div(d, below)
            }
            Math::Exp => {
                let y = self.primal(value);
                self.mul(d, y)
            }
            Math::Exp2 => {
                let (y, ln) = (self.primal(value), number(self, std::f64::consts::LN_2));
                let slope = self.mul(y, ln);
                self.mul(d, slope)
            }
            Math::ExpM1 => {
                let (y, one) = (self.primal(value), number(self, 1.0));
                let slope = self.b.binary(Binary::Add, y, one, span);
                self.mul(d, slope)
            }
            Math::Ln => {
                let x = self.primal(a);
                self.div(d, x)
            }
            Math::Ln1p => {
                let (x, one) = (self.primal(a), number(self, 1.0));
                let below = self.b.binary(Binary::Add, x, one, span);
                self.div(d, below)
            }
            Math::Log2 | Math::Log10 => {
                let ln = if function == Math::Log2 {
                    std::f64::consts::LN_2
                } else {
                    std::f64::consts::LN_10
                };
                let (x, ln) = (self.primal(a), number(self, ln));
                let below = self.mul(x, ln);
                self.div(d, below)
            }
            Math::Sin => {
                let x = self.primal(a);
                let slope = self.math(Math::Cos, vec![x]);
                self.mul(d, slope)
            }
            Math::Cos => {
                let x = self.primal(a);
                let slope = self.math(Math::Sin, vec![x]);
                let c = self.mul(d, slope);
                self.neg(c)
            }
            Math::Tan => {
                let (y, one) = (self.primal(value), number(self, 1.0));
                let square = self.mul(y, y);
                let slope = self.b.binary(Binary::Add, one, square, span);
                self.mul(d, slope)
            }
            Math::Asin | Math::Acos => {
                let (x, one) = (self.primal(a), number(self, 1.0));
                let square = self.mul(x, x);
                let rest = self.b.binary(Binary::Sub, one, square, span);
                let root = self.math(Math::Sqrt, vec![rest]);
                let c = self.div(d, root);
                if function == Math::Acos { self.neg(c) } else { c }
            }
            Math::Atan => {
                let (x, one) = (self.primal(a), number(self, 1.0));
                let square = self.mul(x, x);
                let below = self.b.binary(Binary::Add, one, square, span);
                self.div(d, below)
            }
            Math::Sinh | Math::Cosh => {
                let x = self.primal(a);
                let other = if function == Math::Sinh { Math::Cosh } else { Math::Sinh };
                let slope = self.math(other, vec![x]);
                self.mul(d, slope)
            }
            Math::Tanh => {
                let (y, one) = (self.primal(value), number(self, 1.0));
                let square = self.mul(y, y);
                let slope = self.b.binary(Binary::Sub, one, square, span);
                self.mul(d, slope)
            }
            Math::Asinh | Math::Acosh => {
                let (x, one) = (self.primal(a), number(self, 1.0));
                let square = self.mul(x, x);
                let sign = if function == Math::Asinh { Binary::Add } else { Binary::Sub };
                let sum = self.b.binary(sign, square, one, span);
                let root = self.math(Math::Sqrt, vec![sum]);
                self.div(d, root)
            }
            Math::Atanh => {
                let (x, one) = (self.primal(a), number(self, 1.0));
                let square = self.mul(x, x);
                let below = self.b.binary(Binary::Sub, one, square, span);
                self.div(d, below)
            }
            Math::Abs => {
                let (x, zero) = (self.primal(a), number(self, 0.0));
                let sign = self.math(Math::Signum, vec![x]);
                let c = self.mul(d, sign);
                let kink = self.b.compare(Compare::Eq, x, zero, span);
                self.b.select(kink, zero, c, span)
            }
            Math::Copysign => {
                let (x, other) = (self.primal(a), self.primal(args[1]));
                let one = number(self, 1.0);
                let mine = self.math(Math::Copysign, vec![one, x]);
                let theirs = self.math(Math::Copysign, vec![one, other]);
                let slope = self.mul(mine, theirs);
                self.mul(d, slope)
            }
            Math::Fract => d,
            Math::Recip => {
                let y = self.primal(value);
                let square = self.mul(y, y);
                let c = self.mul(d, square);
                self.neg(c)
            }
            Math::ToRadians | Math::ToDegrees => self.math(function, vec![d]),
            _ => return None,
        })
    }

    fn math(&mut self, function: Math, args: Vec<ValueId>) -> ValueId {
        let ty = self.b.function.ty(args[0]);
        self.b.emit(Op::Math(function, args), ty, SourceId::NONE)
    }

    fn neg(&mut self, a: ValueId) -> ValueId {
        let ty = self.b.function.ty(a);
        let opposite = self.b.emit(Op::Unary(Unary::Neg, a), ty, SourceId::NONE);
        self.is_adjoint(opposite)
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

    /// Zero of a float type.
    pub(super) fn zero(&mut self, ty: Scalar) -> ValueId {
        match ty {
            Scalar::Int(_) => self.b.int(0, ty, SourceId::NONE),
            Scalar::Bool => self.b.bool(false, SourceId::NONE),
            ty => self.b.float(0.0, ty, SourceId::NONE),
        }
    }
}
