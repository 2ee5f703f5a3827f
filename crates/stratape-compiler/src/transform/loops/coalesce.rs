//! Loop coalescing: two nested loops that walk through memory as one loop would become that loop. Loops that run once become their body.
//!
//! ```text
//! for i in 0..n { for j in 0..m { a[i * m + j] = v } }   →   for j in 0..n*m { a[j] = v }
//! ```
//!
//! Legal where both loops start at 0 and run in the same direction, carried values pass straight through the outer one, the counters are used
//! in indices alone, and every index depends on `i * m + j` as a whole. The order of the iterations is the same. Pays where `m` is small: the
//! coalesced loop is long enough to vectorise. Runs after `cse`.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Binary, Block, Function, Loop, Op, Range, Scalar, Step, Stmt, Substitution, ValueId, walk,
};

/// The pass.
pub const COALESCE: Pass = Pass {
    name: "coalesce",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: coalesce,
};

/// Coalesces loops, from the innermost outwards.
fn coalesce(function: &mut Function, cx: &mut Context<'_>) {
    once(function);
    loop {
        let literals = crate::transform::integers(&function.body);
        let found = {
            let definitions = DefUse::new(function);
            let affine = Affine::new(function, &definitions);
            let mut found = None;
            walk(&function.body, &mut |node| {
                if let Stmt::Loop(node) = node
                    && fits(function, &affine, &literals, node)
                {
                    found = Some((node.counter, node.span));
                }
            });
            found
        };
        let Some((counter, span)) = found else { return };
        cx.applied(span, "coalesced with the loop inside");
        let mut body = std::mem::take(&mut function.body);
        block(function, counter, &literals, &mut body);
        function.body = body;
    }
}

/// Replaces loops that run once by their bodies.
fn once(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let literals = crate::transform::integers(&body);
    let mut substitution = Substitution::default();
    unwrap(&literals, &mut body, &mut substitution);
    substitution.apply(&mut body);
    function.body = body;
    for result in &mut function.results {
        *result = substitution.get(*result);
    }
}

fn unwrap(literals: &HashMap<ValueId, i128>, nodes: &mut Block, substitution: &mut Substitution) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        for inner in node.blocks_mut() {
            unwrap(literals, inner, substitution);
        }
        match node {
            Stmt::Loop(node) if runs_once(literals, &node) => {
                if let Range::UpTo { from, .. } = node.range {
                    substitution.value(node.counter, from);
                }
                for carried in &node.carried {
                    substitution.value(carried.inside, carried.init);
                    substitution.value(carried.after, carried.next);
                }
                out.extend(node.body);
            }
            node => out.push(node),
        }
    }
    *nodes = out;
}

fn runs_once(literals: &HashMap<ValueId, i128>, node: &Loop) -> bool {
    let Range::UpTo { from, to } = node.range else { return false };
    let trips = literals.get(&from).zip(literals.get(&to)).map(|(from, to)| to - from);
    trips == Some(1) && node.is_plain()
}

/// The position of the loop inside, if the outer one does nothing else but compute integers.
fn inside(function: &Function, outer: &Loop) -> Option<usize> {
    let mut at = None;
    for (number, node) in outer.body.iter().enumerate() {
        match node {
            Stmt::Loop(_) if at.is_none() => at = Some(number),
            Stmt::Let { op, .. } if op.is_constant() => {}
            Stmt::Let { value, op: Op::Binary(Binary::Add | Binary::Mul, ..) }
                if matches!(function.ty(*value), Scalar::Int(_)) => {}
            _ => return None,
        }
    }
    at
}

fn fits(
    function: &Function,
    affine: &Affine<'_>,
    literals: &HashMap<ValueId, i128>,
    outer: &Loop,
) -> bool {
    let Some(at) = inside(function, outer) else { return false };
    let Stmt::Loop(inner) = &outer.body[at] else { return false };
    let counts = |node: &Loop| {
        let from_zero =
            affine.counted(node.counter).is_some_and(|counted| counted.from.as_number() == Some(0));
        from_zero
            && node.is_plain()
            && node.reversed == outer.reversed
            && function.ty(node.counter) == Scalar::USIZE
    };
    // What is carried goes straight through.
    let through = outer.carried.len() == inner.carried.len()
        && outer
            .carried
            .iter()
            .zip(&inner.carried)
            .all(|(outer, inner)| inner.init == outer.inside && inner.after == outer.next);
    let Range::UpTo { to, .. } = inner.range else { return false };
    let length = affine.of(to);
    let fixed = literals.contains_key(&to) || affine.is_invariant(to, outer.counter);
    let leaf = !inner.body.iter().any(|node| !node.blocks().is_empty());
    if !(counts(outer) && counts(inner) && through && fixed && leaf) {
        return false;
    }
    indices_only(function, affine, outer, inner, &length)
}

/// Whether the counters serve as indices alone, and these depend on `outer * length + inner`.
fn indices_only(
    function: &Function,
    affine: &Affine<'_>,
    outer: &Loop,
    inner: &Loop,
    length: &Polynomial,
) -> bool {
    let mut counted = HashSet::from([outer.counter, inner.counter]);
    let mut fits = true;
    let mut checked = |place: &stratape_ir::Place, counted: &HashSet<ValueId>| {
        for step in &place.path {
            let Step::Index(index) = step else { continue };
            if !counted.contains(index) {
                continue;
            }
            let index = affine.of(*index);
            let whole = index.split(outer.counter).and_then(|(rows, rest)| {
                let (columns, rest) = rest.split(inner.counter)?;
                let plain = |polynomial: &Polynomial| {
                    polynomial
                        .symbols()
                        .all(|symbol| symbol != outer.counter && symbol != inner.counter)
                };
                (rows == columns.times(length) && plain(&rest) && plain(&columns)).then_some(())
            });
            fits &= whole.is_some();
        }
    };
    let mut others = true;
    for node in outer.body.iter().chain(&inner.body) {
        match node {
            Stmt::Loop(_) => {}
            Stmt::Let { op: Op::Load(place), .. } => checked(place, &counted),
            Stmt::Let { value, op } => {
                let mut depends = false;
                op.for_each_operand(&mut |operand| depends |= counted.contains(&operand));
                if depends {
                    let sums = matches!(op, Op::Binary(Binary::Add | Binary::Mul, ..));
                    others &= sums && matches!(function.ty(*value), Scalar::Int(_));
                    counted.insert(*value);
                }
            }
            Stmt::Store { place, value } | Stmt::Accumulate { place, value, .. } => {
                checked(place, &counted);
                others &= !counted.contains(value);
            }
            _ => others = false,
        }
    }
    others &= inner.carried.iter().all(|carried| !counted.contains(&carried.next));
    fits && others
}

/// Coalesces the loop with a counter and the one inside it.
fn block(
    function: &mut Function,
    counter: ValueId,
    literals: &HashMap<ValueId, i128>,
    nodes: &mut Block,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        match node {
            Stmt::Loop(outer) if outer.counter == counter => {
                together(function, *outer, literals, &mut out);
            }
            _ => {
                for inner in node.blocks_mut() {
                    block(function, counter, literals, inner);
                }
                out.push(node);
            }
        }
    }
    *nodes = out;
}

fn together(
    function: &mut Function,
    mut outer: Loop,
    literals: &HashMap<ValueId, i128>,
    out: &mut Block,
) {
    let at = outer.body.iter().position(|node| matches!(node, Stmt::Loop(_)));
    let Some(Stmt::Loop(mut inner)) = at.map(|at| outer.body.remove(at)) else { return };
    let (Range::UpTo { from, to: rows }, Range::UpTo { to: columns, .. }) =
        (outer.range, inner.range)
    else {
        return;
    };
    let span = outer.span;
    let total = function.new_value(Scalar::USIZE, span);
    let mut columns_here = columns;
    // The length of a row may be a literal in the outer loop's body.
    if let Some(number) = literals.get(&columns) {
        columns_here = function.new_value(Scalar::USIZE, span);
        out.push(Stmt::Let { value: columns_here, op: Op::Int(*number) });
    }
    let op = match (literals.get(&rows), literals.get(&columns)) {
        (Some(rows), Some(columns)) => Op::Int((rows * columns).max(0)),
        // A product that wraps would lose iterations, and with them the panic they end in.
        _ => Op::Method("saturating_mul".to_owned(), vec![rows, columns_here]),
    };
    out.push(Stmt::Let { value: total, op });
    // An index that depends on `i * m + j` alone is the same at i = 0 and j = i * m + j.
    let zero = function.new_value(Scalar::USIZE, span);
    let mut body = vec![Stmt::Let { value: zero, op: Op::Int(0) }];
    body.append(&mut outer.body);
    body.append(&mut inner.body);
    let mut substitution = Substitution::default();
    substitution.value(outer.counter, zero);
    for (outer, inner) in outer.carried.iter_mut().zip(&inner.carried) {
        substitution.value(inner.inside, outer.inside);
        outer.next = inner.next;
    }
    substitution.apply(&mut body);
    let range = Range::UpTo { from, to: total };
    out.push(Stmt::Loop(Box::new(Loop { counter: inner.counter, range, body, ..outer })));
}
