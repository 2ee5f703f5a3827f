//! Tape: every pop meets its push.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::Fault;
use super::same::Same;
use crate::analysis::{Affine, DefUse};
use crate::{
    Binary, Block, Call, Function, Half, If, Loop, Op, Range, RecordId, Scalar, Schedule, Stmt,
    Stream, Type, ValueId, walk,
};

/// What a statement leaves on the tape.
#[derive(Debug)]
enum Effect<'a> {
    Record(RecordId),
    Copy(RecordId, Option<&'a Type>),
    Loop(&'a Loop, Vec<Effect<'a>>),
    If(&'a If, Vec<Effect<'a>>, Vec<Effect<'a>>),
    Call(&'a str),
}

impl Effect<'_> {
    fn name(&self) -> String {
        match self {
            Self::Record(record) | Self::Copy(record, _) => format!("{record:?}"),
            Self::Loop(node, _) => format!("the loop over {:?}", node.counter),
            Self::If(node, ..) => format!("the branch on {:?}", node.condition),
            Self::Call(name) => format!("the call of `{name}`"),
        }
    }
}

fn fault<T>(message: String) -> Result<T, Fault> {
    Err(Fault::new("tape", message))
}

/// Whether a function takes all that it leaves on the tape.
pub(super) fn balanced(function: &Function) -> Result<(), Fault> {
    slots(function)?;
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let side = (function, &definitions, &affine);
    let mut tape = Tape::new(side, side);
    let mut stack = Vec::new();
    tape.block(&function.body, &mut stack)?;
    empty(&stack)
}

/// Whether one function leaves on the tape what the other takes.
pub(super) fn mirrored(forward: &Function, backward: &Function) -> Result<(), Fault> {
    slots(forward)?;
    slots(backward)?;
    let rooms = |function: &Function| -> Vec<_> {
        function.records.iter().map(|record| record.room.clone()).collect()
    };
    if forward.regions != backward.regions || rooms(forward) != rooms(backward) {
        return fault("the two halves have other regions".to_owned());
    }
    let (pushes, pops) = (DefUse::new(forward), DefUse::new(backward));
    let (first, second) = (Affine::new(forward, &pushes), Affine::new(backward, &pops));
    let (push, pop) = ((forward, &pushes, &first), (backward, &pops, &second));
    let mut stack = Vec::new();
    Tape::new(push, push).block(&forward.body, &mut stack)?;
    Tape::new(push, pop).block(&backward.body, &mut stack)?;
    empty(&stack)
}

fn empty(stack: &[Effect<'_>]) -> Result<(), Fault> {
    match stack.last() {
        None => Ok(()),
        Some(left) => fault(format!("{} stays on the tape", left.name())),
    }
}

/// Whether every push puts the values of a record in their slots, and every pop restores them from there.
fn slots(function: &Function) -> Result<(), Fault> {
    let mut outcome = Ok(());
    walk(&function.body, &mut |node| {
        let fits = match node {
            Stmt::Push { record, values } => function.records[record.index()].slots == *values,
            Stmt::Pop { record, values } => {
                let slots = function.records[record.index()].slots.iter().map(|slot| Some(*slot));
                values.iter().map(|value| function.values[value.index()].stands_for).eq(slots)
            }
            _ => true,
        };
        if !fits && outcome.is_ok() {
            outcome = fault(format!("the slots of a record are mixed up: {node:?}"));
        }
    });
    outcome
}

/// A function, and what is known of its values.
type Side<'a> = (&'a Function, &'a DefUse, &'a Affine<'a>);

struct Tape<'a> {
    same: Same<'a>,
}

impl<'a> Tape<'a> {
    fn new(push: Side<'a>, pop: Side<'a>) -> Self {
        Self {
            same: Same {
                push: (push.0, push.1),
                pop: (pop.0, pop.1),
                affine: (push.2, pop.2),
                changes: OnceCell::new(),
                outcomes: OnceCell::new(),
                seen: RefCell::default(),
                counters: HashMap::new(),
                arms: Vec::new(),
            },
        }
    }

    /// Goes through a block: what it pushes goes on the stack, what it pops is taken from there.
    fn block(&mut self, block: &'a Block, stack: &mut Vec<Effect<'a>>) -> Result<(), Fault> {
        for node in block {
            let (pushes, pops) = (node.uses_tape(Half::Forward), node.uses_tape(Half::Backward));
            match (pushes, pops) {
                (false, false) => {}
                (true, false) => stack.push(self.pushed(node)?),
                (false, true) => match stack.pop() {
                    Some(top) => self.mirror(&top, node)?,
                    None => return fault(format!("{node:?} pops from an empty tape")),
                },
                // Both halves in one: each block takes what it leaves.
                (true, true) => {
                    for inner in node.blocks() {
                        let mut own = Vec::new();
                        self.block(inner, &mut own)?;
                        empty(&own)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What a statement that only pushes leaves.
    fn pushed(&self, node: &'a Stmt) -> Result<Effect<'a>, Fault> {
        let all = |block: &'a Block| -> Result<Vec<Effect<'a>>, Fault> {
            block
                .iter()
                .filter(|node| node.uses_tape(Half::Forward))
                .map(|node| self.pushed(node))
                .collect()
        };
        Ok(match node {
            Stmt::Push { record, .. } => Effect::Record(*record),
            Stmt::Save { record, slice } => {
                let items = self.same.push.0.place_type(&slice.place).and_then(Type::element);
                Effect::Copy(*record, items)
            }
            Stmt::Loop(node) => Effect::Loop(node, all(&node.body)?),
            Stmt::If(node) => Effect::If(node, all(&node.then)?, all(&node.other)?),
            Stmt::Call(call) => Effect::Call(recursive(call)),
            node => return fault(format!("{node:?} pushes nothing")),
        })
    }

    /// Whether a statement pops just what an item pushed.
    fn mirror(&mut self, pushed: &Effect<'a>, node: &'a Stmt) -> Result<(), Fault> {
        match (pushed, node) {
            (Effect::Record(a), Stmt::Pop { record: b, .. }) if a == b => Ok(()),
            (Effect::Copy(a, items), Stmt::Restore { record: b, object }) if a == b => {
                let found = self.same.pop.0.objects[object.index()].ty.element();
                match found == *items {
                    true => Ok(()),
                    false => fault(format!("{object:?} is restored from items of another type")),
                }
            }
            (Effect::Copy(a, items), Stmt::Refill { record: b, place }) if a == b => {
                let found = self.same.pop.0.place_type(place).and_then(Type::element);
                match found == *items {
                    true => Ok(()),
                    false => fault(format!("{place:?} is refilled from items of another type")),
                }
            }
            (Effect::Call(name), Stmt::Call(call)) if *name == recursive(call) => Ok(()),
            (Effect::Loop(pushes, effects), Stmt::Loop(pops)) => {
                let counts_alike = self.ranges(pushes, pops)?;
                ways(pushes, pops)?;
                if counts_alike {
                    self.same.counters.insert(pops.counter, pushes.counter);
                }
                let outcome = self.blocks(effects, &pops.body);
                self.same.counters.remove(&pops.counter);
                outcome
            }
            (Effect::If(pushes, then, other), Stmt::If(pops)) => {
                if !self.same.values(pushes.condition, pops.condition) {
                    return fault(format!(
                        "a branch pops on {} what was pushed on {}",
                        self.same.describe(pops.condition, true),
                        self.same.describe(pushes.condition, false)
                    ));
                }
                for (arm, effects, block) in [(true, then, &pops.then), (false, other, &pops.other)]
                {
                    self.same.arms.push((pushes, pops, arm));
                    let outcome = self.blocks(effects, block);
                    self.same.arms.pop();
                    outcome?;
                }
                Ok(())
            }
            _ => fault(format!("{} was pushed last where another item is popped", pushed.name())),
        }
    }

    fn blocks(&mut self, pushed: &[Effect<'a>], block: &'a Block) -> Result<(), Fault> {
        let mut left = pushed.iter();
        for node in block.iter().filter(|node| node.uses_tape(Half::Backward)) {
            match left.next_back() {
                Some(top) => self.mirror(top, node)?,
                None => return fault("a block pops more than was pushed".to_owned()),
            }
        }
        match left.next_back() {
            None => Ok(()),
            Some(top) => fault(format!("{} is not popped", top.name())),
        }
    }

    /// Whether one loop pops as often as the other has pushed, in the opposite direction. Returns whether their counters are the same.
    fn ranges(&self, pushes: &Loop, pops: &Loop) -> Result<bool, Fault> {
        let wrong = |what: &str| {
            fault(format!(
                "the loop over {:?} pops {what} the loop over {:?} pushes",
                pops.counter, pushes.counter
            ))
        };
        let Range::UpTo { from, to } = pops.range else { return wrong("without end what") };
        if pops.exit.is_some() || pops.reversed == pushes.reversed {
            return wrong("in another order than the opposite of that in which");
        }
        let zero = self.same.is_zero(from);
        let counted = pushes.trips.is_some_and(|trips| zero && self.same.values(trips, to));
        let fits = match (pushes.range, pushes.trips) {
            (Range::UpTo { from: first, to: end }, _)
                if pushes.exit.is_none()
                    && self.same.values(first, from)
                    && self.same.values(end, to) =>
            {
                true
            }
            (Range::UpTo { from: first, .. }, Some(trips)) if !pushes.reversed => {
                self.same.values(first, from) && self.is_sum(to, Binary::Add, from, trips)
            }
            (Range::UpTo { to: end, .. }, Some(trips)) => {
                self.same.values(end, to) && self.is_sum(from, Binary::Sub, to, trips)
            }
            (Range::Forever, Some(_)) => counted,
            _ => false,
        };
        // As many as were run, counted from 0: the counters are others.
        if fits || (counted && !pushes.reversed) {
            return Ok(fits);
        }
        let ends = match pushes.range {
            Range::UpTo { from, to } => vec![from, to],
            Range::Forever => Vec::new(),
        };
        let pushed: Vec<String> =
            ends.into_iter().map(|value| self.same.describe(value, false)).collect();
        let popped = [from, to].map(|value| self.same.describe(value, true));
        wrong(&format!("another number of times ({popped:?}) than ({pushed:?})"))
    }

    /// Whether a bound of the loop that pops is the other one plus or minus the number of iterations that were counted.
    fn is_sum(&self, bound: ValueId, sign: Binary, other: ValueId, trips: ValueId) -> bool {
        // Zero plus a number is folded to the number.
        if sign == Binary::Add && self.same.is_zero(other) && self.is_count(trips, bound) {
            return true;
        }
        match self.same.pop.1.op(bound) {
            Some(Op::Binary(found, a, b)) if *found == sign && *a == other => {
                self.is_count(trips, *b)
            }
            _ => false,
        }
    }

    fn is_count(&self, trips: ValueId, value: ValueId) -> bool {
        let plain = match self.same.pop.1.op(value) {
            Some(Op::Cast(inner, Scalar::Int(_))) => *inner,
            _ => value,
        };
        self.same.values(trips, value) || self.same.values(trips, plain)
    }
}

/// Whether two loops that mirror each other run alike: in the same parts, with their records in regions or not.
fn ways(pushes: &Loop, pops: &Loop) -> Result<(), Fault> {
    let schedules = [pushes, pops].map(|node| node.schedule.as_deref());
    let lanes = |node: &Loop, schedule: Option<&Schedule>| {
        schedule.and_then(|known| known.parts.as_ref())?;
        Some(node.parallel.map(|mark| (mark.number, mark.grain)))
    };
    let marks = pushes.parallel.zip(pops.parallel);
    let differ =
        marks.is_some_and(|(one, other)| (one.number, one.grain) != (other.number, other.grain));
    if differ || lanes(pushes, schedules[0]) != lanes(pops, schedules[1]) {
        return fault(format!(
            "the loop over {:?} pops in other parts than the loop over {:?} pushes",
            pops.counter, pushes.counter
        ));
    }
    let strips = schedules.map(|schedule| schedule.and_then(|known| known.strip.as_ref()));
    let [pushed, popped] = strips.map(|strip| strip.and_then(|strip| strip.region));
    if pushed != popped {
        return fault(format!(
            "the loop over {:?} takes its records from {popped:?}, the loop over {:?} leaves them in {pushed:?}",
            pops.counter, pushes.counter
        ));
    }
    match strips.map(|strip| strip.and_then(|strip| strip.stream)) {
        [None, None] | [Some(Stream::Out), Some(Stream::In)] => Ok(()),
        [out, back] => {
            fault(format!("a layer of {pushed:?} is streamed {out:?}, and {back:?} for it"))
        }
    }
}

fn recursive(call: &Call) -> &str {
    call.recursion.as_ref().map_or("", |(name, _)| name.as_str())
}
