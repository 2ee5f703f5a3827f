//! Argmax: a running choice also carries the iteration of its winner, and is computed from that after the loop.
//!
//! ```text
//! for i { best = if x[i] > best then x[i] else best }   →   for i { …; at = if x[i] > best then i else at }; best = x[at]
//! ```
//!
//! So is one that is written `best = best.max(x[i])`, or with `min`: the candidate won where the result is not `best`. And so is what goes
//! with the winner, chosen by branches however deep:
//!
//! ```text
//! for i { d = |x[i] - p|;  if d < nearest { nearest = d; colour = f(x[i], d) } }
//! →  for i { …; at = i where the branch is taken };  d = |x[at] - p|; nearest = d; colour = f(x[at], d)
//! ```
//!
//! Without it the adjoint of `best` has to follow every choice, one saved bit per iteration. With it, the adjoint goes straight through one
//! iteration; the carried number serves comparisons only, and has no adjoint. The value is computed from the same numbers, and has the same bits.
//!
//! Legal where the candidate can be [computed again](super::iteration) from the counter, with the branches that led to it known to be taken,
//! and the carried value is otherwise used in comparisons and selections alone. Pays always (docs/performance.md: logsum, nn, rays), but in loops
//! of two iterations or less. Runs after `if_conversion`, which makes cheap choices selections.

use std::collections::{HashMap, HashSet};

use super::iteration::{Again, Iteration};
use crate::driver::{Context, Pass, Promise};
use crate::transform::{integers, trips};
use stratape_ir::{
    Binary, Block, Carried, Compare, Function, If, Loop, Math, Merge, Op, Range, Scalar, SourceId,
    Stmt, StmtId, Substitution, Unary, ValueId, used, walk,
};

/// The pass.
pub const ARGMAX: Pass = Pass {
    name: "argmax",
    after: &["if_conversion"],
    promise: Promise::SameBits,
    required: false,
    run: argmax,
};

/// Rewrites running choices.
fn argmax(function: &mut Function, cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let mut wanted = used(&body);
    wanted.extend(function.results.iter().copied());
    let integers = integers(&body);
    let mut substitution = Substitution::default();
    let facts = Facts { wanted, integers };
    block(function, &mut body, &facts, &mut substitution, cx);
    substitution.apply(&mut body);
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
    function.body = body;
}

struct Facts {
    /// Values that something uses.
    wanted: HashSet<ValueId>,
    integers: HashMap<ValueId, i128>,
}

fn block(
    function: &mut Function,
    nodes: &mut Block,
    facts: &Facts,
    substitution: &mut Substitution,
    cx: &mut Context<'_>,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            block(function, inner, facts, substitution, cx);
        }
        let Stmt::Loop(mut repeat) = node else {
            out.push(node);
            continue;
        };
        let choices = choices(function, facts, &repeat);
        if choices.is_empty() {
            out.push(Stmt::Loop(repeat));
            continue;
        }
        cx.applied(repeat.span, "carries the position of its running choice");
        let after = rewrite(function, &mut repeat, &choices, &mut out, substitution);
        out.push(Stmt::Loop(repeat));
        out.extend(after);
    }
    *nodes = out;
}

/// A carried value that is, after an iteration, either what it was before or a candidate.
struct Choice {
    /// Which of the carried values.
    at: usize,
    candidate: ValueId,
    /// What decides: the values that select, from the last to the first, and what they hold if the candidate wins.
    path: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// A branch or selection by a condition.
    Outcome(ValueId, bool),
    /// A minimum or maximum.
    Extreme(ValueId),
}

impl Choice {
    /// The branches and selections that are known to have gone one way.
    fn outcomes(&self) -> Vec<(ValueId, bool)> {
        let outcome = |step: &Step| match step {
            Step::Outcome(condition, outcome) => Some((*condition, *outcome)),
            Step::Extreme(_) => None,
        };
        self.path.iter().filter_map(outcome).collect()
    }
}

fn choices(function: &Function, facts: &Facts, node: &Loop) -> Vec<Choice> {
    let short = trips(&facts.integers, &node.range).is_some_and(|trips| trips < 3);
    if !matches!(node.range, Range::UpTo { .. }) || short {
        return Vec::new();
    }
    let iteration = Iteration::of(node);
    let found = (0..node.carried.len()).filter(|at| {
        let carried = node.carried[*at];
        function.ty(carried.inside).is_float() && facts.wanted.contains(&carried.after)
    });
    found.filter_map(|at| choice(&iteration, node, at)).collect()
}

fn choice(iteration: &Iteration<'_>, node: &Loop, at: usize) -> Option<Choice> {
    let Carried { inside, next, .. } = node.carried[at];
    let mut search = Search { iteration, inside, selecting: HashSet::new() };
    let Origin::Candidate(candidate, mut path) = search.origin(next)? else { return None };
    path.reverse();
    // Its other uses must be comparisons, or its adjoint has to go through the iterations all the same.
    let mut others = path.is_empty();
    walk(&node.body, &mut |item| match item {
        Stmt::Let { op: Op::Compare(..) | Op::TotalCmp { .. } | Op::Select(..), .. } => {}
        Stmt::Let { value, .. } if search.selecting.contains(value) => {}
        Stmt::If(branch) => {
            let mut unrelated =
                branch.merges.iter().filter(|merge| !search.selecting.contains(&merge.value));
            others |= unrelated.any(|merge| [merge.then, merge.other].contains(&inside));
        }
        _ => item.for_each_operand(&mut |value| others |= value == inside),
    });
    let choice = Choice { at, candidate, path };
    (!others && iteration.can_compute(candidate, &choice.outcomes())).then_some(choice)
}

/// Where a value comes from.
enum Origin {
    /// From the iteration before.
    Kept,
    /// From this one, by what selects it, the first choice first.
    Candidate(ValueId, Vec<Step>),
}

struct Search<'a> {
    iteration: &'a Iteration<'a>,
    inside: ValueId,
    /// The values that are selected from what was carried and the candidate.
    selecting: HashSet<ValueId>,
}

impl Search<'_> {
    /// None if there are several candidates.
    fn origin(&mut self, value: ValueId) -> Option<Origin> {
        if value == self.inside {
            return Some(Origin::Kept);
        }
        if let Some((candidate, _)) = extreme(self.iteration, self.inside, value) {
            self.selecting.insert(value);
            return Some(Origin::Candidate(candidate, vec![Step::Extreme(value)]));
        }
        let Some((condition, then, other)) = selection(self.iteration, value) else {
            return Some(Origin::Candidate(value, Vec::new()));
        };
        let origin = match (self.origin(then)?, self.origin(other)?) {
            (Origin::Kept, Origin::Kept) => Origin::Kept,
            (Origin::Candidate(candidate, mut path), Origin::Kept) => {
                path.push(Step::Outcome(condition, true));
                Origin::Candidate(candidate, path)
            }
            (Origin::Kept, Origin::Candidate(candidate, mut path)) => {
                path.push(Step::Outcome(condition, false));
                Origin::Candidate(candidate, path)
            }
            // Neither is what was carried: the candidate is the selection.
            (Origin::Candidate(_, a), Origin::Candidate(_, b)) if a.is_empty() && b.is_empty() => {
                return Some(Origin::Candidate(value, Vec::new()));
            }
            _ => return None,
        };
        self.selecting.insert(value);
        Some(origin)
    }
}

/// What a value is selected from, by a branch or by a selection.
fn selection(iteration: &Iteration<'_>, value: ValueId) -> Option<(ValueId, ValueId, ValueId)> {
    match iteration.definition(value)? {
        Stmt::Let { op: Op::Select(condition, then, other), .. } => {
            Some((*condition, *then, *other))
        }
        Stmt::If(branch) => {
            let merge = branch.merges.iter().find(|merge| merge.value == value)?;
            Some((branch.condition, merge.then, merge.other))
        }
        _ => None,
    }
}

/// The candidate of a minimum or maximum with what was carried, and whether it wins if both are equal: the first operand does.
fn extreme(iteration: &Iteration<'_>, inside: ValueId, value: ValueId) -> Option<(ValueId, bool)> {
    match iteration.definition(value)? {
        Stmt::Let { op: Op::Math(Math::Min | Math::Max, operands), .. }
            if operands.contains(&inside) =>
        {
            let candidate = *operands.iter().find(|operand| **operand != inside)?;
            Some((candidate, operands[0] == candidate))
        }
        _ => None,
    }
}

/// Makes the loop carry the winners' counters; returns what follows the loop.
fn rewrite(
    function: &mut Function,
    node: &mut Loop,
    choices: &[Choice],
    before: &mut Block,
    substitution: &mut Substitution,
) -> Block {
    let original = node.clone();
    let iteration = Iteration::of(&original);
    let span = node.span;
    let ty = function.ty(node.counter);
    let none = function.define(before, Scalar::Bool, Op::Bool(false), span);
    let start = function.define(before, ty, Op::Int(0), span);
    let mut constants = Block::new();
    let mut constant = |function: &mut Function, value| {
        function.define(&mut constants, Scalar::Bool, Op::Bool(value), span)
    };
    let (yes, no) = (constant(function, true), constant(function, false));
    let mut after = Block::new();
    let mut left: Vec<&Choice> = choices.iter().collect();
    let mut flags = Flags { yes, no, known: HashMap::new(), added: HashMap::new() };
    while let Some(first) = left.first().copied() {
        // What is chosen together is computed together.
        let (group, others) = left.iter().partition(|choice| choice.path == first.path);
        left = others;
        let group: Vec<&Choice> = group;
        let carried = node.carried[first.at];
        flags.known = HashMap::from([(carried.inside, no), (first.candidate, yes)]);
        let taken = flags.taken(function, &iteration, carried.inside, carried.next);
        // Whether there is a winner, and its counter.
        let mut carry = |function: &mut Function, init, ty, won| {
            let [inside, next, after] = [(); 3].map(|()| function.new_value(ty, span));
            node.body.push(Stmt::Let { value: next, op: Op::Select(taken, won, inside) });
            node.carried.push(Carried { init, inside, next, after });
            after
        };
        let some = carry(function, none, Scalar::Bool, yes);
        let best = carry(function, start, ty, original.counter);
        let outcomes = first.outcomes();
        let mut again = Again::new(&iteration, best, &outcomes);
        let mut merges = Vec::new();
        for choice in group {
            let carried = original.carried[choice.at];
            let then = again.value(function, choice.candidate);
            let value = function.new_value_like(carried.after);
            substitution.value(carried.after, value);
            merges.push(Merge { value, then, other: carried.init });
        }
        let (id, condition, then, other) = (StmtId::NONE, some, again.block, Block::new());
        after.push(Stmt::If(Box::new(If { id, condition, then, other, merges, span })));
    }
    flags.add(&mut node.body);
    node.body.splice(0..0, constants);
    after
}

/// Whether the candidate was taken, beside each value that is selected on the way.
struct Flags {
    yes: ValueId,
    no: ValueId,
    known: HashMap<ValueId, ValueId>,
    /// What comes beside the definition of a value: statements, or a merge.
    added: HashMap<ValueId, (Block, Vec<Merge>)>,
}

impl Flags {
    fn taken(
        &mut self,
        function: &mut Function,
        iteration: &Iteration<'_>,
        inside: ValueId,
        value: ValueId,
    ) -> ValueId {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let flag = if let Some((_, takes)) = extreme(iteration, inside, value) {
            let (block, _) = self.added.entry(value).or_default();
            let first = takes_first(function, iteration, block, value);
            if takes { first } else { not(function, block, first) }
        } else if let Some((condition, then, other)) = selection(iteration, value) {
            let then = self.taken(function, iteration, inside, then);
            let other = self.taken(function, iteration, inside, other);
            let (block, merges) = self.added.entry(value).or_default();
            let branches = matches!(iteration.definition(value), Some(Stmt::If(_)));
            if then == other {
                then
            } else if branches {
                let value = function.new_value(Scalar::Bool, SourceId::NONE);
                merges.push(Merge { value, then, other });
                value
            } else if (then, other) == (self.yes, self.no) {
                condition
            } else {
                let select = Op::Select(condition, then, other);
                function.define(block, Scalar::Bool, select, SourceId::NONE)
            }
        } else {
            self.no
        };
        self.known.insert(value, flag);
        flag
    }

    /// Puts the flags where they belong.
    fn add(&mut self, block: &mut Block) {
        for mut node in std::mem::take(block) {
            for inner in node.blocks_mut() {
                self.add(inner);
            }
            let mut results = Vec::new();
            node.for_each_result(&mut |value| results.push(value));
            let mut beside = Block::new();
            for value in results {
                let Some((statements, merges)) = self.added.remove(&value) else { continue };
                beside.extend(statements);
                if let Stmt::If(branch) = &mut node {
                    branch.merges.extend(merges);
                }
            }
            block.push(node);
            block.extend(beside);
        }
    }
}

fn not(function: &mut Function, out: &mut Block, flag: ValueId) -> ValueId {
    function.define(out, Scalar::Bool, Op::Unary(Unary::Not, flag), SourceId::NONE)
}

/// Whether a minimum or maximum is its first operand: the same number, and the same bits, since zeros have signs.
fn takes_first(
    function: &mut Function,
    iteration: &Iteration<'_>,
    out: &mut Block,
    value: ValueId,
) -> ValueId {
    let first = match iteration.definition(value) {
        Some(Stmt::Let { op: Op::Math(_, operands), .. }) => operands[0],
        _ => value,
    };
    let mut emit = |op| function.define(out, Scalar::Bool, op, SourceId::NONE);
    let equal = emit(Op::Compare(Compare::Eq, value, first));
    let sides = [(value, first), (first, value)];
    let [less, greater] = sides.map(|(a, b)| emit(Op::TotalCmp { less: true, a, b }));
    let differ = emit(Op::Binary(Binary::BitOr, less, greater));
    let same = emit(Op::Unary(Unary::Not, differ));
    emit(Op::Binary(Binary::BitAnd, equal, same))
}
