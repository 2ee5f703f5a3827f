//! The derivative rules: one table of partial derivatives, for every transform that differentiates.
//!
//! A partial derivative is a chain of [`Factor`]s. Reverse mode sends the adjoint of the result through the chain, to the operand; a tangent
//! transform would send the tangent of the operand through the same chain, to the result. What the factors are made of is written as
//! [`Expr`]essions over values of the primal, so that a transform asks only for those it uses.
//!
//! ```text
//! y = sqrt(x)        x: × 0.5, ÷ y
//! y = a / b          a: ÷ b                 b: ÷ b, × y, negated
//! y = max(a, b)      a: where y == a        b: except where y == a
//! ```
//!
//! At kinks: `abs` at 0 has derivative 0; equal arguments of `max` and `min` pass it to the first; at its
//! bounds `clamp` passes it to the number; `signum`, `floor`, `ceil`, `round`, `trunc` have derivative 0,
//! `fract` 1. Where an argument is NaN, the derivative goes where the value came from.

use std::f64::consts::{LN_2, LN_10};

use stratape_ir::{Binary, Compare, Math, Op, Unary, ValueId};

/// The derivative of an operation with respect to one operand: the factors, in the order in which they are applied. None: 1.
pub(super) type Partial = (ValueId, Vec<Factor>);

/// What a derivative goes through on its way between an operand and the result. All are linear.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Factor {
    /// Multiplied.
    Times(Expr),
    /// Divided.
    Over(Expr),
    /// Added to itself.
    Twice,
    /// Negated.
    Minus,
    /// Zero unless this holds.
    Where(Condition),
    /// Zero if this holds.
    Except(Condition),
    /// The operation itself, which is linear.
    Same(Math),
    /// To the type of the other side.
    Cast,
}

/// A number, computed from the primal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// A value of the primal: an operand, or the result.
    Primal(ValueId),
    /// A literal of the result's type.
    Number(f64),
    /// An exponent, in the type of this one.
    Exponent(i128, ValueId),
    /// One less than an exponent; the least stays.
    Less(ValueId),
    /// An exponent as a float.
    Float(ValueId),
    /// Of two numbers. Products and quotients may be rearranged with the derivatives around them.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A quotient that must be computed as it stands: it is at most 1, but its parts may be out of range.
    Ratio(ValueId, ValueId),
    /// A function.
    Math(Math, Vec<Expr>),
    /// Zero if something holds.
    ZeroIf(Box<Condition>, Box<Expr>),
}

/// When a derivative passes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// A condition of the primal.
    Primal(ValueId),
    /// A comparison.
    Compare(Compare, Expr, Expr),
}

/// The partial derivatives of `y = op`: of each operand that can have one. `integer` gives the number of an integer literal.
pub(super) fn partials(
    y: ValueId,
    op: &Op,
    integer: impl Fn(ValueId) -> Option<i128>,
) -> Vec<Partial> {
    match op {
        Op::Unary(Unary::Neg, a) => vec![(*a, vec![Factor::Minus])],
        Op::Binary(sign, a, b) => of_binary(y, *sign, *a, *b),
        Op::Cast(a, _) => vec![(*a, vec![Factor::Cast])],
        Op::Select(c, a, b) => {
            let chosen = Condition::Primal(*c);
            vec![(*a, vec![Factor::Where(chosen.clone())]), (*b, vec![Factor::Except(chosen)])]
        }
        Op::Math(Math::Powi, args) => match args[..] {
            [x, n] => of_powi(x, n, integer(n)),
            _ => Vec::new(),
        },
        Op::Math(function, args) => match args[..] {
            [x] => of_one(y, *function, x).map(|chain| (x, chain)).into_iter().collect(),
            [a, b] => of_two(y, *function, a, b),
            [a, b, c] => of_three(*function, a, b, c),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn of_binary(y: ValueId, sign: Binary, a: ValueId, b: ValueId) -> Vec<Partial> {
    match sign {
        Binary::Add => vec![(a, vec![]), (b, vec![])],
        Binary::Sub => vec![(a, vec![]), (b, vec![Factor::Minus])],
        Binary::Mul if a == b => vec![(a, vec![times(a), Factor::Twice])],
        Binary::Mul => vec![(a, vec![times(b)]), (b, vec![times(a)])],
        Binary::Div => vec![(a, vec![over(b)]), (b, vec![over(b), times(y), Factor::Minus])],
        Binary::Rem => {
            vec![(a, vec![]), (b, vec![times(whole(y, a, b)), Factor::Minus])]
        }
        _ => Vec::new(),
    }
}

/// Of a function of one argument; none where it is zero everywhere.
fn of_one(y: ValueId, function: Math, x: ValueId) -> Option<Vec<Factor>> {
    let number = Expr::Number;
    let of_x = |function: Math| Expr::Math(function, vec![x.into()]);
    let root = |of: Expr| Expr::Math(Math::Sqrt, vec![of]);
    Some(match function {
        Math::Sqrt => vec![times(number(0.5)), over(y)],
        Math::Cbrt => vec![over(mul(number(3.0), mul(y, y)))],
        Math::Exp => vec![times(y)],
        Math::Exp2 => vec![times(mul(y, number(LN_2)))],
        Math::ExpM1 => vec![times(add(y, number(1.0)))],
        Math::Ln => vec![over(x)],
        Math::Ln1p => vec![over(add(x, number(1.0)))],
        Math::Log2 => vec![over(mul(x, number(LN_2)))],
        Math::Log10 => vec![over(mul(x, number(LN_10)))],
        Math::Sin => vec![times(of_x(Math::Cos))],
        Math::Cos => vec![times(of_x(Math::Sin)), Factor::Minus],
        Math::Tan => vec![times(add(number(1.0), mul(y, y)))],
        Math::Asin => vec![over(root(sub(number(1.0), mul(x, x))))],
        Math::Acos => vec![over(root(sub(number(1.0), mul(x, x)))), Factor::Minus],
        Math::Atan => vec![over(add(number(1.0), mul(x, x)))],
        Math::Sinh => vec![times(of_x(Math::Cosh))],
        Math::Cosh => vec![times(of_x(Math::Sinh))],
        Math::Tanh => vec![times(sub(number(1.0), mul(y, y)))],
        Math::Asinh => vec![over(root(add(mul(x, x), number(1.0))))],
        Math::Acosh => vec![over(root(sub(mul(x, x), number(1.0))))],
        Math::Atanh => vec![over(sub(number(1.0), mul(x, x)))],
        Math::Abs => vec![times(of_x(Math::Signum)), Factor::Except(equal(x, number(0.0)))],
        Math::Fract => vec![],
        Math::Recip => vec![times(mul(y, y)), Factor::Minus],
        Math::ToRadians | Math::ToDegrees => vec![Factor::Same(function)],
        _ => return None,
    })
}

fn of_two(y: ValueId, function: Math, a: ValueId, b: ValueId) -> Vec<Partial> {
    let number = Expr::Number;
    match function {
        Math::Min | Math::Max => {
            let first = equal(y, a);
            vec![(a, vec![Factor::Where(first.clone())]), (b, vec![Factor::Except(first)])]
        }
        Math::Hypot => {
            let side = |side: ValueId| {
                let ratio = Expr::Ratio(side, y);
                (side, vec![times(zero_if(equal(y, number(0.0)), ratio))])
            };
            vec![side(a), side(b)]
        }
        Math::Atan2 => {
            let square = || over(add(mul(a, a), mul(b, b)));
            vec![(a, vec![square(), times(b)]), (b, vec![square(), times(a), Factor::Minus])]
        }
        Math::Log => {
            let ln = || Expr::Math(Math::Ln, vec![b.into()]);
            let base = vec![over(mul(b, ln())), times(y), Factor::Minus];
            vec![(a, vec![over(mul(a, ln()))]), (b, base)]
        }
        Math::Powf => {
            let less = sub(b, number(1.0));
            let power = Expr::Math(Math::Powf, vec![a.into(), less]);
            let base = zero_if(equal(b, number(0.0)), mul(b, power));
            let ln = Expr::Math(Math::Ln, vec![a.into()]);
            let exponent = zero_if(equal(a, number(0.0)), mul(y, ln));
            vec![(a, vec![times(base)]), (b, vec![times(exponent)])]
        }
        Math::Copysign => {
            let sign = |of: ValueId| Expr::Math(Math::Copysign, vec![number(1.0), of.into()]);
            vec![(a, vec![times(mul(sign(a), sign(b)))])]
        }
        Math::RemEuclid => {
            vec![(a, vec![]), (b, vec![times(whole(y, a, b)), Factor::Minus])]
        }
        _ => Vec::new(),
    }
}

/// How often `b` was subtracted from `a` to leave the remainder `y`. A quotient of floats may be the next integer already where the remainder, which is exact, is not 0
/// yet; what is left without the remainder is next to an integer, and stays so if its last bits change.
fn whole(y: ValueId, a: ValueId, b: ValueId) -> Expr {
    Expr::Math(Math::Round, vec![div(sub(a, y), b)])
}

fn of_three(function: Math, a: ValueId, b: ValueId, c: ValueId) -> Vec<Partial> {
    match function {
        Math::MulAdd => vec![(a, vec![times(b)]), (b, vec![times(a)]), (c, vec![])],
        Math::Clamp => {
            let below = Condition::Compare(Compare::Lt, a.into(), b.into());
            let above = Condition::Compare(Compare::Gt, a.into(), c.into());
            vec![
                (a, vec![Factor::Except(below.clone()), Factor::Except(above.clone())]),
                (b, vec![Factor::Where(below)]),
                (c, vec![Factor::Where(above)]),
            ]
        }
        _ => Vec::new(),
    }
}

fn of_powi(x: ValueId, n: ValueId, known: Option<i128>) -> Vec<Partial> {
    let power = |less: Expr| Expr::Math(Math::Powi, vec![x.into(), less]);
    let chain = match known {
        Some(0) => return Vec::new(),
        Some(1) => vec![],
        Some(2) => vec![times(Expr::Number(2.0)), times(x)],
        Some(known) => {
            let less = Expr::Exponent(known - 1, n);
            vec![times(Expr::Number(known as f64)), times(power(less))]
        }
        None => {
            let slope = mul(Expr::Float(n), power(Expr::Less(n)));
            vec![times(zero_if(equal(n, Expr::Exponent(0, n)), slope))]
        }
    };
    vec![(x, chain)]
}

impl From<ValueId> for Expr {
    fn from(value: ValueId) -> Self {
        Self::Primal(value)
    }
}

fn times(factor: impl Into<Expr>) -> Factor {
    Factor::Times(factor.into())
}

fn over(divisor: impl Into<Expr>) -> Factor {
    Factor::Over(divisor.into())
}

fn add(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::Binary(Binary::Add, Box::new(a.into()), Box::new(b.into()))
}

fn sub(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::Binary(Binary::Sub, Box::new(a.into()), Box::new(b.into()))
}

fn mul(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::Binary(Binary::Mul, Box::new(a.into()), Box::new(b.into()))
}

fn div(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::Binary(Binary::Div, Box::new(a.into()), Box::new(b.into()))
}

fn equal(a: impl Into<Expr>, b: impl Into<Expr>) -> Condition {
    Condition::Compare(Compare::Eq, a.into(), b.into())
}

fn zero_if(condition: Condition, number: Expr) -> Expr {
    Expr::ZeroIf(Box::new(condition), Box::new(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operands and the result, by number.
    struct Point<'p>(&'p [f64], f64);

    impl Point<'_> {
        fn primal(&self, value: ValueId) -> f64 {
            self.0.get(value.index()).copied().unwrap_or(self.1)
        }

        fn expr(&self, expr: &Expr) -> f64 {
            match expr {
                Expr::Primal(value) => self.primal(*value),
                Expr::Number(number) => *number,
                Expr::Exponent(number, _) => *number as f64,
                Expr::Less(exponent) => self.primal(*exponent) - 1.0,
                Expr::Float(exponent) => self.primal(*exponent),
                Expr::Binary(sign, a, b) => binary(*sign, self.expr(a), self.expr(b)),
                Expr::Ratio(a, b) => self.primal(*a) / self.primal(*b),
                Expr::Math(function, args) => {
                    math(*function, &args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>())
                }
                Expr::ZeroIf(condition, _) if self.holds(condition) => 0.0,
                Expr::ZeroIf(_, number) => self.expr(number),
            }
        }

        fn holds(&self, condition: &Condition) -> bool {
            match condition {
                Condition::Primal(value) => self.primal(*value) != 0.0,
                Condition::Compare(sign, a, b) => {
                    let (a, b) = (self.expr(a), self.expr(b));
                    match sign {
                        Compare::Eq => a == b,
                        Compare::Lt => a < b,
                        Compare::Gt => a > b,
                        sign => panic!("{sign:?} is not in the table"),
                    }
                }
            }
        }

        fn slope(&self, chain: &[Factor]) -> f64 {
            chain.iter().fold(1.0, |d, factor| match factor {
                Factor::Times(factor) => d * self.expr(factor),
                Factor::Over(divisor) => d / self.expr(divisor),
                Factor::Twice => d + d,
                Factor::Minus => -d,
                Factor::Where(condition) => {
                    if self.holds(condition) {
                        d
                    } else {
                        0.0
                    }
                }
                Factor::Except(condition) => {
                    if self.holds(condition) {
                        0.0
                    } else {
                        d
                    }
                }
                Factor::Same(function) => math(*function, &[d]),
                Factor::Cast => d,
            })
        }
    }

    fn binary(sign: Binary, a: f64, b: f64) -> f64 {
        match sign {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Rem => a % b,
            sign => panic!("{sign:?} is not of floats"),
        }
    }

    fn math(function: Math, x: &[f64]) -> f64 {
        match (function, x) {
            (Math::Powi, [x, n]) => x.powi(*n as i32),
            (Math::Powf, [x, n]) => x.powf(*n),
            (Math::Log, [x, base]) => x.log(*base),
            (Math::Hypot, [a, b]) => a.hypot(*b),
            (Math::Atan2, [a, b]) => a.atan2(*b),
            (Math::Copysign, [a, b]) => a.copysign(*b),
            (Math::Min, [a, b]) => a.min(*b),
            (Math::Max, [a, b]) => a.max(*b),
            (Math::DivEuclid, [a, b]) => a.div_euclid(*b),
            (Math::RemEuclid, [a, b]) => a.rem_euclid(*b),
            (Math::Clamp, [x, low, high]) => x.clamp(*low, *high),
            (Math::MulAdd, [a, b, c]) => a.mul_add(*b, *c),
            (function, [x]) => of_one_argument(function, *x),
            (function, x) => panic!("{function:?} of {} arguments", x.len()),
        }
    }

    fn of_one_argument(function: Math, x: f64) -> f64 {
        match function {
            Math::Sqrt => x.sqrt(),
            Math::Cbrt => x.cbrt(),
            Math::Exp => x.exp(),
            Math::Exp2 => x.exp2(),
            Math::ExpM1 => x.exp_m1(),
            Math::Ln => x.ln(),
            Math::Ln1p => x.ln_1p(),
            Math::Log2 => x.log2(),
            Math::Log10 => x.log10(),
            Math::Sin => x.sin(),
            Math::Cos => x.cos(),
            Math::Tan => x.tan(),
            Math::Asin => x.asin(),
            Math::Acos => x.acos(),
            Math::Atan => x.atan(),
            Math::Sinh => x.sinh(),
            Math::Cosh => x.cosh(),
            Math::Tanh => x.tanh(),
            Math::Asinh => x.asinh(),
            Math::Acosh => x.acosh(),
            Math::Atanh => x.atanh(),
            Math::Abs => x.abs(),
            Math::Signum => x.signum(),
            Math::Floor => x.floor(),
            Math::Ceil => x.ceil(),
            Math::Round => x.round(),
            Math::RoundTiesEven => x.round_ties_even(),
            Math::Trunc => x.trunc(),
            Math::Fract => x.fract(),
            Math::Recip => x.recip(),
            Math::ToRadians => x.to_radians(),
            Math::ToDegrees => x.to_degrees(),
            function => panic!("{function:?} takes more than one argument"),
        }
    }

    /// Every row of the table against central differences.
    fn check(op: &Op, x: &[f64], f: impl Fn(&[f64]) -> f64, integer: Option<i128>) {
        let result = ValueId(x.len() as u32);
        let table = partials(result, op, |_| integer);
        let point = Point(x, f(x));
        for at in 0..x.len() {
            // The exponent of powi is not differentiated.
            if matches!(op, Op::Math(Math::Powi, _)) && at == 1 {
                continue;
            }
            let chains = table.iter().filter(|(operand, _)| operand.index() == at);
            let slope: f64 = chains.map(|(_, chain)| point.slope(chain)).sum();
            let step = 1e-6;
            let moved = |by: f64| {
                let mut x = x.to_vec();
                x[at] += by;
                f(&x)
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            let error = (slope - difference).abs();
            assert!(
                error <= 1e-6 * (1.0 + slope.abs()),
                "{op:?} at {x:?}, operand {at}: {slope} for {difference}"
            );
        }
    }

    #[test]
    fn every_rule_agrees_with_differences() {
        let id = ValueId;
        for sign in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Rem] {
            for x in [[1.3, 0.7], [-2.1, 0.8], [5.2, -1.6]] {
                check(&Op::Binary(sign, id(0), id(1)), &x, |x| binary(sign, x[0], x[1]), None);
            }
        }
        check(&Op::Binary(Binary::Mul, id(0), id(0)), &[0.4], |x| x[0] * x[0], None);
        check(&Op::Unary(Unary::Neg, id(0)), &[0.4], |x| -x[0], None);
        for name in ["sqrt cbrt exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh \
            atanh abs signum floor ceil round round_ties_even trunc fract recip to_radians to_degrees"]
            .iter()
            .flat_map(|names| names.split_whitespace())
        {
            let function = Math::from_method(name).expect("a function");
            let op = Op::Math(function, vec![id(0)]);
            [0.31, 0.77].iter().for_each(|x| check(&op, &[*x], |x| math(function, x), None));
        }
        check(&Op::Math(Math::Acosh, vec![id(0)]), &[1.7], |x| x[0].acosh(), None);
        for name in "log hypot atan2 powf copysign min max rem_euclid".split_whitespace() {
            let function = Math::from_method(name).expect("a function");
            let op = Op::Math(function, vec![id(0), id(1)]);
            for x in [[1.9, 2.3], [2.5, 1.2]] {
                check(&op, &x, |x| math(function, x), None);
            }
        }
        for function in [Math::MulAdd, Math::Clamp] {
            let op = Op::Math(function, vec![id(0), id(1), id(2)]);
            for x in [[0.5, 1.0, 2.0], [1.5, 1.0, 2.0], [2.5, 1.0, 2.0]] {
                check(&op, &x, |x| math(function, x), None);
            }
        }
        for n in [-2_i32, -1, 0, 1, 2, 3, 5] {
            let op = Op::Math(Math::Powi, vec![id(0), id(1)]);
            for known in [None, Some(i128::from(n))] {
                check(&op, &[-1.4, f64::from(n)], |x| x[0].powi(n), known);
            }
        }
    }
}
