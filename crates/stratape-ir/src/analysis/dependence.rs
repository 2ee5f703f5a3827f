//! Dependence between iterations: whether a loop can run in parallel.
//!
//! It can if nothing is carried from one iteration to the next but sums of floats, and if all memory from outside is only read or
//! divided among the iterations in [windows](super::Window). The terms of a sum are added in the loop's own order afterwards, so that it
//! keeps its bits; for this each iteration must add to it unconditionally, the same number of times.

use std::collections::HashMap;

use super::DefUse;
use super::affine::Affine;
use super::footprint::{Access, Kind, Use, accesses, classify};
use super::reduction::{is_sum, ordered_terms};
use crate::SourceId;
use crate::{
    Binary, Block, Carried, Function, Loop, ObjectId, Op, Parallel, Range, Stmt, ValueId, defined,
    walk,
};

/// Why iterations are not independent.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What is wrong, and what to write instead.
    pub message: String,
    /// Where.
    pub span: SourceId,
}

/// Proves what `#[parallel]` claims, and marks every other outermost loop that is independent if that was asked for; whether one must be, comes with it. `part` is
/// what a part must cost at least, in operations, `inner` how often an inner loop is assumed to run.
///
/// # Errors
/// The first loop that is marked and not independent; where one must be, that none is.
pub fn mark_parallel(
    function: &mut Function,
    everywhere: Option<(SourceId, bool)>,
    (part, inner): (usize, usize),
) -> Result<(), Conflict> {
    let marked = has_parallel(function);
    if !marked && everywhere.is_none() {
        return Ok(());
    }
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let prover = Prover { function, affine: &affine };
    let mut refused = None;
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && node.parallel.is_some()
            && refused.is_none()
        {
            refused = prover.prove(node).err();
        }
    });
    if let Some(conflict) = refused {
        return Err(conflict);
    }
    let mut marks = HashMap::new();
    let mut first = None;
    if let Some((span, must)) = everywhere {
        prover.find(&function.body, span, &mut marks, &mut first);
        if must && marks.is_empty() && !marked {
            let why = first
                .map_or_else(|| "it has no loop".to_owned(), |conflict: Conflict| conflict.message);
            let message = format!("no loop of this function can run in parallel: {why}");
            return Err(Conflict { message, span });
        }
    }
    set(&mut function.body, &marks, (part, inner));
    Ok(())
}

/// Whether loops of a function are marked.
pub fn has_parallel(function: &Function) -> bool {
    let mut marked = false;
    walk(&function.body, &mut |node| {
        marked |= matches!(node, Stmt::Loop(node) if node.parallel.is_some());
    });
    marked
}

/// Takes all marks away: every loop runs one iteration after the other.
pub fn unmark_parallel(function: &mut Function) {
    fn unmark(block: &mut Block) {
        for node in block {
            if let Stmt::Loop(node) = node {
                node.parallel = None;
            }
            node.blocks_mut().into_iter().for_each(unmark);
        }
    }
    function.parallel = false;
    unmark(&mut function.body);
}

/// For each loop of a function, outer ones first: whether its iterations are independent, or what keeps them from it.
pub fn independence(function: &Function) -> Vec<(&Loop, Result<(), Conflict>)> {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let prover = Prover { function, affine: &affine };
    let mut found = Vec::new();
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node {
            found.push((&**node, prover.prove(node)));
        }
    });
    found
}

/// Whether the iterations of a loop are independent but for sums of adjoints: of the primal as [`independence`] says; memory of adjoints may
/// be added to by all of them, and carried sums of adjoints anywhere in an iteration.
///
/// # Errors
/// What keeps them from it.
pub fn is_independent(
    function: &Function,
    affine: &Affine<'_>,
    node: &Loop,
) -> Result<(), Conflict> {
    Prover { function, affine }.prove(node)
}

/// Writes marks, and how many iterations are worth a part.
fn set(block: &mut Block, marks: &HashMap<ValueId, SourceId>, (part, trips): (usize, usize)) {
    for node in block {
        if let Stmt::Loop(node) = node {
            if let Some(span) = marks.get(&node.counter) {
                node.parallel = Some(Parallel { number: node.counter.0, grain: 1, span: *span });
            }
            let grain = part.div_ceil(cost(&node.body, (part, trips))).max(1);
            if let Some(parallel) = &mut node.parallel {
                parallel.grain = grain;
            }
        }
        node.blocks_mut().into_iter().for_each(|inner| set(inner, marks, (part, trips)));
    }
}

/// Roughly how many operations a block is, its gradient included.
fn cost(block: &Block, (part, inner): (usize, usize)) -> usize {
    let mut sum = 1_usize;
    for node in block {
        sum = sum.saturating_add(match node {
            Stmt::Let { op, .. } if op.is_constant() => 0,
            Stmt::Let { op: Op::Math(..) | Op::Binary(Binary::Div | Binary::Rem, ..), .. } => 30,
            Stmt::Loop(node) => cost(&node.body, (part, inner)).saturating_mul(inner),
            Stmt::If(node) => cost(&node.then, (part, inner)).max(cost(&node.other, (part, inner))),
            Stmt::Call(_) => part,
            _ => 3,
        });
    }
    sum
}

struct Prover<'a> {
    function: &'a Function,
    affine: &'a Affine<'a>,
}

impl Prover<'_> {
    /// The outermost loops that are independent; and what kept the first of those that are not.
    fn find(
        &self,
        block: &Block,
        span: SourceId,
        marks: &mut HashMap<ValueId, SourceId>,
        first: &mut Option<Conflict>,
    ) {
        for node in block {
            if let Stmt::Loop(node) = node {
                if node.parallel.is_some() {
                    continue;
                }
                match self.prove(node) {
                    Ok(()) => {
                        marks.insert(node.counter, span);
                        continue;
                    }
                    Err(conflict) => {
                        first.get_or_insert(conflict);
                    }
                }
            }
            node.blocks().into_iter().for_each(|inner| self.find(inner, span, marks, first));
        }
    }

    fn prove(&self, node: &Loop) -> Result<(), Conflict> {
        if node.exit.is_some() || !matches!(node.range, Range::UpTo { .. }) {
            let message =
                "iterations are not independent: one of them can end the loop. Run all of \
                           them, and move `break` and `return` to a loop of their own"
                    .to_owned();
            return Err(Conflict { message, span: node.span });
        }
        let mut outside = None;
        walk(&node.body, &mut |inner| {
            if let Stmt::Call(call) = inner
                && call.acts_outside()
            {
                outside.get_or_insert(call.span);
            }
        });
        if let Some(span) = outside {
            let message = "iterations are not independent: this call sends, receives or does something else outside of the program, \
                           which keeps its order. Make one call for all iterations, before or after the loop"
                .to_owned();
            return Err(Conflict { message, span });
        }
        for carried in &node.carried {
            self.carried(node, carried)?;
        }
        for (object, accesses) in accesses(self.function, node) {
            match classify(self.affine, node.counter, &accesses) {
                Use::Read | Use::Window(_) => {}
                Use::Sum if self.function.holds_adjoints(object) => {}
                Use::Sum | Use::Mixed => {
                    return Err(self.conflict(node.counter, object, &accesses));
                }
            }
        }
        Ok(())
    }

    fn carried(&self, node: &Loop, carried: &Carried) -> Result<(), Conflict> {
        let float = self.function.ty(carried.inside).is_float();
        let free = self.function.is_free(carried) && is_sum(node, carried);
        if float && (free || ordered_terms(node, carried).is_some()) {
            return Ok(());
        }
        let known = |value: ValueId| &self.function.values[value.index()];
        let name = match &known(carried.inside).name {
            Some(name) => format!("`{name}`"),
            None => "a value".to_owned(),
        };
        let instead = if float && is_sum(node, carried) {
            "A sum may be added to once an iteration, outside of branches and inner loops: give the iteration \
             a variable of its own, and add that at its end"
        } else {
            "Only sums of floats may be: `sum += …`, and no other use of `sum` in the loop"
        };
        let message = format!(
            "iterations are not independent: {name} is carried from one to the next. {instead}"
        );
        Err(Conflict { message, span: known(changed(&node.body, carried.next)).span })
    }

    /// Which accesses are in each other's way.
    fn conflict(&self, counter: ValueId, object: ObjectId, accesses: &[Access]) -> Conflict {
        let alone = |access: &Access| {
            matches!(classify(self.affine, counter, std::slice::from_ref(access)), Use::Window(_))
        };
        let writes = || accesses.iter().filter(|access| access.kind != Kind::Read);
        let (what, span) = if let Some(write) = writes().find(|write| !alone(write)) {
            let place = self.text(object, write);
            (format!("{place} may be written by more than one of them"), write.span)
        } else {
            let write = writes().next();
            let stride = |access: &Access| self.affine.of(access.at?.0).split(counter);
            let other = accesses.iter().find(|other| {
                !alone(other) || write.is_none_or(|write| stride(write) != stride(other))
            });
            match (write, other) {
                (Some(write), Some(other)) => {
                    let verb = if other.kind == Kind::Read { "read" } else { "written" };
                    let (a, b) = (self.text(object, write), self.text(object, other));
                    (format!("{a} is written by one, and {b} is {verb} by another"), other.span)
                }
                _ => {
                    let name = &self.function.objects[object.index()].name;
                    (
                        format!("`{name}` is written and read"),
                        self.function.objects[object.index()].span,
                    )
                }
            }
        };
        let message = format!(
            "iterations are not independent: {what}. An iteration may write to elements of its own, as \
             `y[i]` or a row `y[n * i + j]`, and to lists that are made in the loop"
        );
        Conflict { message, span }
    }

    /// A place as in the source.
    fn text(&self, object: ObjectId, access: &Access) -> String {
        let name = &self.function.objects[object.index()].name;
        let Some((index, len)) = access.at else { return format!("`{name}`") };
        let known = |symbol: ValueId| &self.function.values[symbol.index()];
        let index = self.affine.of(index).text(&|symbol| known(symbol).name.clone());
        let index = index.unwrap_or_else(|| "…".to_owned());
        let more = if len.is_some() { ".." } else { "" };
        format!("`{name}[{index}{more}]`")
    }
}

/// Where a value that inner loops and branches hand on is changed.
fn changed(block: &Block, value: ValueId) -> ValueId {
    for node in block {
        if let Stmt::Loop(node) = node
            && let Some(carried) = node.carried.iter().find(|carried| carried.after == value)
        {
            return changed(&node.body, carried.next);
        }
        if let Stmt::If(node) = node
            && let Some(merge) = node.merges.iter().find(|merge| merge.value == value)
        {
            let in_then = defined(&node.then).contains(&merge.then);
            let (arm, value) =
                if in_then { (&node.then, merge.then) } else { (&node.other, merge.other) };
            return changed(arm, value);
        }
    }
    value
}
