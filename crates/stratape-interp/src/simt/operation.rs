//! One operation, for all threads of a mask.

use super::cells::{from_float, from_int, to_float, to_int, wrap};
use super::machine::{Machine, Mask};
use super::{Fault, FaultKind, malformed};
use crate::numbers::{Operation, apply, from_float as int_of, literal, method, predicate};
use stratape_ir::{Binary, Builtin, Compare, Float, Int, Math, Op, Scalar, Unary, ValueId, WARP};

const F64: Scalar = Scalar::Float(Float::F64);
const F32: Scalar = Scalar::Float(Float::F32);

impl Machine<'_> {
    /// Computes an operation for every thread of the mask.
    pub(super) fn evaluate(&mut self, value: ValueId, op: &Op, mask: &Mask) -> Result<(), Fault> {
        let ty = self.ty(value);
        match op {
            Op::Float(number, text) => {
                self.fill(value, from_float(literal(*number, text, ty), ty), mask);
            }
            Op::Int(number) => self.fill(value, from_int(*number, ty), mask),
            Op::Bool(holds) => self.fill(value, u64::from(*holds), mask),
            Op::Const(text) => {
                let Some(number) = self.launch.constants.get(&*text.text).copied() else {
                    return malformed(format!("the constant `{text}` is not known"));
                };
                let cell = match ty {
                    Scalar::Float(_) => from_float(number, ty),
                    _ => from_int(number as i128, ty),
                };
                self.fill(value, cell, mask);
            }
            Op::Unary(sign, a) => self.unary(value, *sign, *a, ty, mask)?,
            Op::Binary(sign, a, b) => self.binary(value, *sign, *a, *b, mask)?,
            Op::Compare(sign, a, b) => self.compare(value, *sign, *a, *b, mask),
            Op::TotalCmp { less, a, b } => {
                let of = self.ty(*a);
                self.map(value, [*a, *b], mask, |[a, b]| {
                    let order = to_float(a, of).total_cmp(&to_float(b, of));
                    u64::from(if *less { order.is_lt() } else { order.is_gt() })
                });
            }
            Op::Math(function, args) => self.math(value, *function, args, mask)?,
            Op::Method(name, args) => self.method(value, name, args, mask)?,
            Op::Cast(a, to) => {
                let from = self.ty(*a);
                self.map(value, [*a], mask, |[a]| cast(a, from, *to));
            }
            Op::Select(c, a, b) => {
                self.map(value, [*c, *a, *b], mask, |[c, a, b]| if c != 0 { a } else { b });
            }
            Op::Load(place) => self.load(value, place, mask)?,
            Op::Len(place) => {
                let len = self.len(place)?;
                self.fill(value, len as u64, mask);
            }
            Op::Builtin(builtin) => self.builtin(value, *builtin, mask),
        }
        Ok(())
    }

    fn builtin(&mut self, value: ValueId, builtin: Builtin, mask: &Mask) {
        match builtin {
            Builtin::ThreadIdx(axis) => {
                let at = self.start(value);
                for &lane in mask.lanes() {
                    self.registers[at + lane as usize] =
                        u64::from(self.coordinates(lane)[axis.index()]);
                }
            }
            Builtin::BlockIdx(axis) => self.fill(value, self.block[axis.index()].into(), mask),
            Builtin::BlockDim(axis) => {
                self.fill(value, self.launch.block[axis.index()].into(), mask);
            }
            Builtin::GridDim(axis) => self.fill(value, self.launch.grid[axis.index()].into(), mask),
            Builtin::WarpSize => self.fill(value, WARP as u64, mask),
        }
    }

    /// The same for all threads of the mask.
    pub(super) fn fill(&mut self, value: ValueId, cell: u64, mask: &Mask) {
        let at = self.start(value);
        for &lane in mask.lanes() {
            self.registers[at + lane as usize] = cell;
        }
    }

    /// A function of operands, thread by thread.
    fn map<const N: usize>(
        &mut self,
        value: ValueId,
        operands: [ValueId; N],
        mask: &Mask,
        f: impl Fn([u64; N]) -> u64,
    ) {
        let at = self.start(value);
        let from = operands.map(|operand| self.start(operand));
        for &lane in mask.lanes() {
            let lane = lane as usize;
            let args = from.map(|from| self.registers[from + lane]);
            self.registers[at + lane] = f(args);
        }
    }

    fn try_map<const N: usize>(
        &mut self,
        value: ValueId,
        operands: [ValueId; N],
        mask: &Mask,
        f: impl Fn([u64; N]) -> Result<u64, String>,
    ) -> Result<(), Fault> {
        let at = self.start(value);
        let from = operands.map(|operand| self.start(operand));
        for &lane in mask.lanes() {
            let args = from.map(|from| self.registers[from + lane as usize]);
            match f(args) {
                Ok(cell) => self.registers[at + lane as usize] = cell,
                Err(message) => return Err(self.fault(FaultKind::Arithmetic, lane, message)),
            }
        }
        Ok(())
    }

    fn unary(
        &mut self,
        value: ValueId,
        sign: Unary,
        a: ValueId,
        ty: Scalar,
        mask: &Mask,
    ) -> Result<(), Fault> {
        match (sign, ty) {
            (Unary::Neg, F64) => self.map(value, [a], mask, |[a]| (-f64::from_bits(a)).to_bits()),
            (Unary::Neg, F32) => {
                self.map(value, [a], mask, |[a]| u64::from((-f32::from_bits(a as u32)).to_bits()));
            }
            (Unary::Not, Scalar::Bool) => self.map(value, [a], mask, |[a]| a ^ 1),
            (Unary::Not, ty) => self.map(value, [a], mask, |[a]| from_int(!to_int(a, ty), ty)),
            (Unary::Neg, ty) => {
                let check = self.launch.check;
                return self.try_map(value, [a], mask, |[a]| {
                    held(-to_int(a, ty), ty, check, "attempt to negate with overflow")
                });
            }
        }
        Ok(())
    }

    fn binary(
        &mut self,
        value: ValueId,
        sign: Binary,
        a: ValueId,
        b: ValueId,
        mask: &Mask,
    ) -> Result<(), Fault> {
        let ty = self.ty(a);
        let f64s = |f: fn(f64, f64) -> f64| {
            move |[a, b]: [u64; 2]| f(f64::from_bits(a), f64::from_bits(b)).to_bits()
        };
        match (sign, ty) {
            (Binary::Add, F64) => self.map(value, [a, b], mask, f64s(|a, b| a + b)),
            (Binary::Sub, F64) => self.map(value, [a, b], mask, f64s(|a, b| a - b)),
            (Binary::Mul, F64) => self.map(value, [a, b], mask, f64s(|a, b| a * b)),
            (Binary::Div, F64) => self.map(value, [a, b], mask, f64s(|a, b| a / b)),
            (Binary::Rem, F64) => self.map(value, [a, b], mask, f64s(|a, b| a % b)),
            (sign, F32) => {
                let f: fn(f32, f32) -> f32 = match sign {
                    Binary::Add => |a, b| a + b,
                    Binary::Sub => |a, b| a - b,
                    Binary::Mul => |a, b| a * b,
                    Binary::Div => |a, b| a / b,
                    Binary::Rem => |a, b| a % b,
                    _ => return malformed(format!("{sign:?} of floats")),
                };
                self.map(value, [a, b], mask, |[a, b]| {
                    u64::from(f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
                });
            }
            (Binary::BitAnd, _) => self.map(value, [a, b], mask, |[a, b]| a & b),
            (Binary::BitOr, _) => self.map(value, [a, b], mask, |[a, b]| a | b),
            (Binary::BitXor, _) => self.map(value, [a, b], mask, |[a, b]| a ^ b),
            (sign, Scalar::Int(int)) => {
                let (check, of) = (self.launch.check, self.ty(b));
                return self.try_map(value, [a, b], mask, |[a, b]| {
                    integer(sign, to_int(a, ty), to_int(b, of), int, check)
                });
            }
            (sign, ty) => return malformed(format!("{sign:?} of {ty}")),
        }
        Ok(())
    }

    fn compare(&mut self, value: ValueId, sign: Compare, a: ValueId, b: ValueId, mask: &Mask) {
        let ty = self.ty(a);
        match ty {
            Scalar::Float(_) => self.map(value, [a, b], mask, |[a, b]| {
                u64::from(sign.holds(&to_float(a, ty), &to_float(b, ty)))
            }),
            Scalar::Int(int) if int.signed() => self
                .map(value, [a, b], mask, |[a, b]| u64::from(sign.holds(&(a as i64), &(b as i64)))),
            _ => self.map(value, [a, b], mask, |[a, b]| u64::from(sign.holds(&a, &b))),
        }
    }

    fn math(
        &mut self,
        value: ValueId,
        function: Math,
        args: &[ValueId],
        mask: &Mask,
    ) -> Result<(), Fault> {
        let Some((first, rest)) = args.split_first() else {
            return malformed(format!("{function:?} of nothing"));
        };
        let (ty, width) = match self.ty(*first) {
            ty @ Scalar::Float(width) => (ty, width),
            ty => return malformed(format!("{function:?} of {ty}")),
        };
        if function == Math::Powi {
            let [n] = rest else { return malformed("powi takes one exponent") };
            return self.try_map(value, [*first, *n], mask, |[a, n]| {
                let number = apply(Operation::Powi(n as i32), &[to_float(a, ty)], width);
                number.map(|number| from_float(number, ty)).map_err(|trap| trap.to_string())
            });
        }
        let computed = |args: &[f64]| {
            let number = apply(Operation::Math(function), args, width);
            number.map(|number| from_float(number, ty)).map_err(|trap| trap.to_string())
        };
        match *rest {
            [] => self.try_map(value, [*first], mask, |[a]| computed(&[to_float(a, ty)])),
            [b] => self.try_map(value, [*first, b], mask, |[a, b]| {
                computed(&[to_float(a, ty), to_float(b, ty)])
            }),
            [b, c] => self.try_map(value, [*first, b, c], mask, |[a, b, c]| {
                computed(&[to_float(a, ty), to_float(b, ty), to_float(c, ty)])
            }),
            _ => malformed(format!("{function:?} of {} numbers", args.len())),
        }
    }

    fn method(
        &mut self,
        value: ValueId,
        name: &str,
        args: &[ValueId],
        mask: &Mask,
    ) -> Result<(), Fault> {
        let Some(first) = args.first() else {
            return malformed(format!("method `{name}` of nothing"));
        };
        let ty = self.ty(*first);
        let at = self.start(value);
        let types: Vec<Scalar> = args.iter().map(|arg| self.ty(*arg)).collect();
        let starts: Vec<usize> = args.iter().map(|arg| self.start(*arg)).collect();
        let result = self.ty(value);
        let mut numbers = Vec::new();
        for &lane in mask.lanes() {
            let cell = |at: usize| self.registers[at + lane as usize];
            let answer = match ty {
                Scalar::Float(_) => predicate(name, to_float(cell(starts[0]), ty), ty),
                Scalar::Int(int) => {
                    numbers.clear();
                    numbers
                        .extend(starts.iter().zip(&types).map(|(at, ty)| to_int(cell(*at), *ty)));
                    method(name, &numbers, int)
                }
                ty => return malformed(format!("method `{name}` of {ty}")),
            };
            match answer {
                Ok(number) => self.registers[at + lane as usize] = from_int(number, result),
                Err(trap) => {
                    return Err(self.fault(FaultKind::Arithmetic, lane, trap.to_string()));
                }
            }
        }
        Ok(())
    }
}

/// A result that its type holds; one that it does not hold is cut, or a fault where integers are checked.
fn held(number: i128, ty: Scalar, check: bool, message: &str) -> Result<u64, String> {
    let Scalar::Int(int) = ty else { return Err(message.to_owned()) };
    let cut = wrap(number, int);
    match check && cut != number {
        true => Err(message.to_owned()),
        false => Ok(from_int(cut, ty)),
    }
}

fn integer(sign: Binary, a: i128, b: i128, int: Int, check: bool) -> Result<u64, String> {
    let ty = Scalar::Int(int);
    let (number, action) = match sign {
        Binary::Add => (a + b, "add"),
        Binary::Sub => (a - b, "subtract"),
        Binary::Mul => (a.wrapping_mul(b), "multiply"),
        Binary::Div | Binary::Rem if b == 0 => {
            return Err("attempt to divide by zero".to_owned());
        }
        Binary::Div => (a / b, "divide"),
        Binary::Rem => (a % b, "calculate the remainder"),
        Binary::Shl | Binary::Shr if check && !(0..i128::from(int.bits())).contains(&b) => {
            return Err("attempt to shift with overflow".to_owned());
        }
        Binary::Shl => {
            let by = (b as u32) & (int.bits() - 1);
            return Ok(from_int(wrap(a << by, int), ty));
        }
        Binary::Shr => (a >> ((b as u32) & (int.bits() - 1)), "shift"),
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => (a, "combine"),
    };
    held(number, ty, check, &format!("attempt to {action} with overflow"))
}

fn cast(cell: u64, from: Scalar, to: Scalar) -> u64 {
    match (from, to) {
        (Scalar::Float(_), Scalar::Int(int)) => from_int(int_of(to_float(cell, from), int), to),
        (Scalar::Float(_), Scalar::Float(_)) => from_float(to_float(cell, from), to),
        // In one step: by way of f64 a large number would be rounded twice.
        (_, Scalar::Float(Float::F32)) => u64::from((to_int(cell, from) as f32).to_bits()),
        (_, Scalar::Float(Float::F64)) => (to_int(cell, from) as f64).to_bits(),
        _ => from_int(to_int(cell, from), to),
    }
}
