//! Indices that go round: `(i + 1) % n` and `(i + n - 1) % n`.
//!
//! In a loop over `0..n` such an index is `i + 1` in all iterations but the last, and `i - 1` in all but the first. Where those are peeled, it
//! is a sum between them, which the analyses of indices understand, and a number of its own at the edges.

use std::collections::HashMap;

use super::Part;
use crate::driver::Target;
use stratape_ir::analysis::{Affine, Polynomial};
use stratape_ir::{Binary, Block, Function, Loop, Op, Scalar, Stmt, Substitution, ValueId, walk};

/// `(counter + shift) % modulus`, where the numerator may be some multiples of the modulus greater.
pub(super) struct Remainder {
    pub(super) value: ValueId,
    modulus: ValueId,
    shift: i128,
    /// The first number of the range.
    from: i128,
    /// How far the range goes beyond the modulus: zero or less.
    beyond: i128,
}

/// What a remainder is in a part of a loop.
pub(super) enum Settled {
    Shifted(ValueId, i128),
    Number(i128),
    /// So much less than the modulus.
    Below(ValueId, i128),
}

impl Remainder {
    /// How many of the first iterations are below the first number that needs no division.
    pub(super) fn head(&self) -> i128 {
        (-(self.from + self.shift)).max(0)
    }

    /// How many of the last iterations reach the modulus.
    pub(super) fn tail(&self) -> i128 {
        (self.beyond + self.shift).max(0)
    }

    /// What it is there, in a loop of at least as many iterations as are peeled. The modulus is at least that many, since the range goes from
    /// zero or more to at most the modulus; so nothing goes round twice. The modulus may be a literal of the body: `here` knows its copy.
    pub(super) fn at(
        &self,
        part: Part,
        counter: ValueId,
        here: &dyn Fn(ValueId) -> ValueId,
    ) -> Settled {
        match part {
            Part::Between => Settled::Shifted(counter, self.shift),
            Part::Head(after) => match self.from + after + self.shift {
                below @ ..0 => Settled::Below(here(self.modulus), -below),
                number => Settled::Number(number),
            },
            Part::Tail(before) => match self.beyond + self.shift - before {
                below @ ..0 => Settled::Below(here(self.modulus), -below),
                number => Settled::Number(number),
            },
        }
    }
}

/// The remainders of a loop's body that are known between its edges.
pub(super) fn find(
    affine: &Affine<'_>,
    node: &Loop,
    (from, to): (&Polynomial, &Polynomial),
    target: &Target,
) -> Vec<Remainder> {
    let mut found = Vec::new();
    let Some(first @ 0..) = from.as_number() else { return found };
    let counter = Polynomial::symbol(node.counter);
    let one = Polynomial::number(1);
    let running = [counter.minus(from), to.minus(&counter).minus(&one)];
    walk(&node.body, &mut |item| {
        let Stmt::Let { value, op: Op::Binary(Binary::Rem, a, modulus) } = item else { return };
        if affine.function().ty(*value) != Scalar::USIZE {
            return;
        }
        let divisor = affine.of(*modulus);
        let Some(beyond) = to.minus(&divisor).as_number().filter(|beyond| *beyond <= 0) else {
            return;
        };
        let rest = affine.of(*a).minus(&counter);
        let Some(shift) =
            reduced(&rest, &divisor).filter(|shift| shift.abs() <= target.peel_iterations + first)
        else {
            return;
        };
        let (value, modulus) = (*value, *modulus);
        let remainder = Remainder { value, modulus, shift, from: first, beyond };
        // The loop has as many iterations as are peeled, and runs.
        let least = (remainder.head() + remainder.tail()).max(1);
        let room = to.minus(from).minus(&Polynomial::number(least));
        let facts = [room, running[0].clone(), running[1].clone()];
        if remainder.head().max(remainder.tail()) <= target.peel_iterations
            && affine.is_exact(*a, &facts)
            && is_near(affine, *a, node.counter, &divisor)
        {
            found.push(remainder);
        }
    });
    found
}

/// A polynomial less a multiple of the modulus: a number near zero, if there is one.
fn reduced(rest: &Polynomial, modulus: &Polynomial) -> Option<i128> {
    match (rest.as_number(), modulus.as_number()) {
        (Some(rest), Some(modulus @ 1..)) => {
            let least = rest.rem_euclid(modulus);
            Some(if least > modulus / 2 { least - modulus } else { least })
        }
        _ => (0..=2)
            .find_map(|times| rest.minus(&modulus.times(&Polynomial::number(times))).as_number()),
    }
}

/// Whether a sum is made of the counter, small numbers and the modulus. It overflows only where the modulus is so great that the loop never
/// ends; what it adds stays in the body, and panics where it did.
fn is_near(affine: &Affine<'_>, value: ValueId, counter: ValueId, modulus: &Polynomial) -> bool {
    let near = |value: ValueId| is_near(affine, value, counter, modulus);
    match affine.op(value) {
        _ if value == counter => true,
        Some(Op::Int(number)) => (0..=FAR).contains(number),
        Some(Op::Binary(Binary::Add | Binary::Sub, a, b)) => near(*a) && near(*b),
        _ => {
            let value = affine.of(value);
            [1, 2].map(Polynomial::number).iter().any(|times| value == modulus.times(times))
        }
    }
}

/// The greatest number in a sum that is far from overflowing.
const FAR: i128 = 1 << 16;

/// Writes down what remainders are in a copy of the body.
pub(super) fn settle(
    function: &mut Function,
    block: &mut Block,
    known: &HashMap<ValueId, Settled>,
    settled: &mut Substitution,
) {
    if known.is_empty() {
        return;
    }
    let mut out = Block::new();
    for mut item in std::mem::take(block) {
        for inner in item.blocks_mut() {
            settle(function, inner, known, settled);
        }
        if let Stmt::Let { value, op } = &mut item
            && let Some(what) = known.get(value)
        {
            let span = function.values[value.index()].span;
            let mut sum = |sign, a, distance| {
                let distance = function.define(&mut out, Scalar::USIZE, Op::Int(distance), span);
                Op::Binary(sign, a, distance)
            };
            *op = match *what {
                Settled::Shifted(counter, 0) => {
                    settled.value(*value, counter);
                    continue;
                }
                Settled::Shifted(counter, shift @ ..0) => sum(Binary::Sub, counter, -shift),
                Settled::Shifted(counter, shift) => sum(Binary::Add, counter, shift),
                Settled::Below(modulus, distance) => sum(Binary::Sub, modulus, distance),
                Settled::Number(number) => Op::Int(number),
            };
        }
        out.push(item);
    }
    *block = out;
}
