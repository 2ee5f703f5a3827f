//! Sinking: what only adds zeros where a branch was not taken is done where it was.
//!
//! ```text
//! d = if far { 0.0 } else { … };  t = d * r;  @dx[i] += t;  @dx[j] -= t   →   d = …;  if !far { t = d * r;  @dx[i] += t;  @dx[j] -= t }
//! ```
//!
//! The adjoint of what is computed before a branch, and used in one arm alone, is zero if the other arm was taken. So is everything that is
//! proportional to it.
//!
//! Legal for additions to memory of what is then zero, as long as nothing between them and their new place looks at that memory, and for
//! operations that cannot panic and whose results are used there alone. An infinite derivative no longer makes a NaN of such a zero. Pays
//! wherever there is a branch: what is cheap was made a selection before (`if_conversion`; docs/performance.md: cutoff).

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use crate::transform::is_total;
use stratape_ir::{
    Binary, Block, Function, If, Merge, ObjectId, Op, SourceId, Stmt, StmtId, Substitution, Unary,
    ValueId, walk,
};

/// The pass.
pub const SINK: Pass =
    Pass { name: "sink", after: &[], promise: Promise::AdjointBits, required: false, run: sink };

fn sink(function: &mut Function, cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    let mut uses = HashMap::new();
    let mut zeros = HashSet::new();
    walk(&body, &mut |node| {
        node.for_each_operand(&mut |value| *uses.entry(value).or_default() += 1);
        if let Stmt::Let { value, op: Op::Float(number, _) } = node
            && *number == 0.0
        {
            zeros.insert(*value);
        }
    });
    for result in &function.results {
        *uses.entry(*result).or_default() += 1;
    }
    let mut sinking = Sinking { function, uses, zeros };
    sinking.block(&mut body, cx);
    function.body = body;
}

struct Sinking<'a> {
    function: &'a mut Function,
    /// How often each value is used.
    uses: HashMap<ValueId, usize>,
    /// The literals that are zero.
    zeros: HashSet<ValueId>,
}

/// Statements that are done in one arm of a branch, where the last of them stands.
struct Run {
    condition: ValueId,
    /// The outcome with which they are done.
    outcome: bool,
    members: Vec<usize>,
    /// Sums that get another addend there: what they are with it, and without.
    sums: HashMap<ValueId, ValueId>,
}

impl Sinking<'_> {
    fn block(&mut self, block: &mut Block, cx: &mut Context<'_>) {
        for node in block.iter_mut() {
            for inner in node.blocks_mut() {
                self.block(inner, cx);
            }
        }
        let mut runs: Vec<Run> = Vec::new();
        let mut of: HashMap<usize, usize> = HashMap::new();
        for (at, node) in block.iter().enumerate() {
            let Stmt::If(branch) = node else { continue };
            for outcome in [true, false] {
                self.runs(block, (at, branch, outcome), &mut runs, &mut of);
            }
        }
        if runs.is_empty() {
            return;
        }
        self.operands(block, &mut runs, &mut of);
        for run in &runs {
            if let Stmt::If(branch) = &block[of_branch(block, run.condition)] {
                cx.applied(
                    branch.span,
                    "additions of zeros are left out where a branch is not taken",
                );
            }
        }
        let mut ends: HashMap<usize, Run> = HashMap::new();
        for mut run in runs {
            run.members.sort_unstable();
            if let Some(last) = run.members.last() {
                ends.insert(*last, run);
            }
        }
        let mut slots: Vec<Option<Stmt>> = std::mem::take(block).into_iter().map(Some).collect();
        for at in 0..slots.len() {
            let Some(run) = ends.remove(&at) else {
                if !of.contains_key(&at) {
                    block.extend(slots[at].take());
                }
                continue;
            };
            let inside = run.members.iter().filter_map(|at| slots[*at].take()).collect();
            block.push(self.arm(&run, inside));
        }
    }

    /// The branch that does the statements of a run.
    fn arm(&mut self, run: &Run, mut inside: Block) -> Stmt {
        let mut substitution = Substitution::default();
        let mut merges = Vec::new();
        for node in &mut inside {
            if let Stmt::Let { value, .. } = node
                && let Some(kept) = run.sums.get(value)
            {
                let added = self.function.new_value_like(*value);
                let (then, other) = if run.outcome { (added, *kept) } else { (*kept, added) };
                merges.push(Merge { value: *value, then, other });
                substitution.value(*value, added);
                *value = added;
            }
        }
        substitution.apply(&mut inside);
        // Without the addend a sum is what it was before all of them.
        for merge in &mut merges {
            let kept = if run.outcome { &mut merge.other } else { &mut merge.then };
            while let Some(before) = run.sums.get(kept) {
                *kept = *before;
            }
        }
        let (then, other) =
            if run.outcome { (inside, Block::new()) } else { (Block::new(), inside) };
        let (id, condition, span) = (StmtId::NONE, run.condition, SourceId::NONE);
        Stmt::If(Box::new(If { id, condition, then, other, merges, span }))
    }

    /// The additions that are of zeros unless a branch has one outcome.
    fn runs(
        &self,
        block: &Block,
        (from, branch, outcome): (usize, &If, bool),
        runs: &mut Vec<Run>,
        of: &mut HashMap<usize, usize>,
    ) {
        let literal = |value: ValueId| self.zeros.contains(&value);
        let mut zero: HashSet<ValueId> = HashSet::new();
        for merge in &branch.merges {
            let idle = if outcome { merge.other } else { merge.then };
            let is_adjoint = self.function.values[merge.value.index()].adjoint;
            if literal(idle) && is_adjoint {
                zero.insert(merge.value);
            }
        }
        if zero.is_empty() {
            return;
        }
        // The memory that the run which is being collected adds to.
        let mut open: Option<HashSet<ObjectId>> = None;
        for (at, node) in block.iter().enumerate().skip(from + 1) {
            let (touched, sum) = match node {
                Stmt::Accumulate { place, value, .. } if zero.contains(value) => {
                    (Some(place.object), None)
                }
                Stmt::Let { value, op } => {
                    if self.is_zero(op, &zero) {
                        zero.insert(*value);
                    }
                    (
                        None,
                        self.sum(op, &zero)
                            .filter(|_| !zero.contains(value))
                            .map(|kept| (*value, kept)),
                    )
                }
                _ => (None, None),
            };
            if (touched.is_some() || sum.is_some()) && !of.contains_key(&at) {
                if open.is_none() {
                    let (condition, members, sums) = (branch.condition, Vec::new(), HashMap::new());
                    runs.push(Run { condition, outcome, members, sums });
                }
                open.get_or_insert_default().extend(touched);
                of.insert(at, runs.len() - 1);
                if let Some(run) = runs.last_mut() {
                    run.members.push(at);
                    run.sums.extend(sum);
                }
                continue;
            }
            let looks = |run: &Run| {
                let mut looks = false;
                walk(std::slice::from_ref(node), &mut |item| {
                    item.for_each_operand(&mut |value| looks |= run.sums.contains_key(&value));
                });
                looks
            };
            if open.as_ref().is_some_and(|touched| meets(node, touched))
                || open.is_some() && runs.last().is_some_and(looks)
            {
                open = None;
            }
        }
    }

    /// What a sum is without an addend that is zero.
    fn sum(&self, op: &Op, zero: &HashSet<ValueId>) -> Option<ValueId> {
        match op {
            Op::Binary(Binary::Add | Binary::Sub, a, b) if zero.contains(b) => Some(*a),
            Op::Binary(Binary::Add, a, b) if zero.contains(a) => Some(*b),
            _ => None,
        }
    }

    /// Whether an operation yields zero if some values are.
    fn is_zero(&self, op: &Op, zero: &HashSet<ValueId>) -> bool {
        let is = |value: &ValueId| zero.contains(value) || self.zeros.contains(value);
        match op {
            Op::Binary(Binary::Mul, a, b) => zero.contains(a) || zero.contains(b),
            Op::Binary(Binary::Div, a, _) | Op::Unary(Unary::Neg, a) => zero.contains(a),
            Op::Binary(Binary::Add | Binary::Sub, a, b) => is(a) && is(b),
            Op::Select(_, a, b) => is(a) && is(b),
            _ => false,
        }
    }

    /// What is computed for the additions of one run alone goes with them.
    fn operands(&self, block: &Block, runs: &mut [Run], of: &mut HashMap<usize, usize>) {
        // Of each value, how often it is used in which run.
        let mut used: HashMap<ValueId, HashMap<usize, usize>> = HashMap::new();
        for (at, node) in block.iter().enumerate().rev() {
            if !of.contains_key(&at)
                && let Stmt::Let { value, op } = node
                && is_total(op, self.function.ty(*value))
                && !op.is_constant()
                && let Some(by) = used.get(value)
                && let (1, Some((run, count))) = (by.len(), by.iter().next())
                && self.uses.get(value) == Some(count)
            {
                of.insert(at, *run);
                runs[*run].members.push(at);
            }
            if let Some(run) = of.get(&at) {
                // What a sum is without its addend is needed in the other arm, too.
                let kept = match node {
                    Stmt::Let { value, .. } => runs[*run].sums.get(value),
                    _ => None,
                };
                node.for_each_operand(&mut |value| {
                    if Some(&value) != kept {
                        *used.entry(value).or_default().entry(*run).or_default() += 1;
                    }
                });
            }
        }
    }
}

/// Where in a block the branch with a condition stands.
fn of_branch(block: &Block, condition: ValueId) -> usize {
    let is = |node: &Stmt| matches!(node, Stmt::If(branch) if branch.condition == condition);
    block.iter().position(is).unwrap_or_default()
}

/// Whether a statement looks at objects, or changes them.
fn meets(node: &Stmt, touched: &HashSet<ObjectId>) -> bool {
    let mut meets = false;
    walk(std::slice::from_ref(node), &mut |item| {
        let places = item.read().into_iter().chain(item.written());
        meets |= places.into_iter().any(|place| touched.contains(&place.object));
        meets |= touched.iter().any(|object| item.uses_whole(*object));
    });
    meets
}
