//! Scalar promotion: a sum in memory whose place is invariant in a loop is kept in a register while the loop runs.
//!
//! ```text
//! for j in 0..8 { a[i] += t }   →   s0 = a[i]; for j in 0..8, s = s0 { s' = s + t } carry s <- s' -> s1; a[i] = s1
//! ```
//!
//! The additions are the same, in the same order. Legal where every access of the loop to the object is an addition to this place, the loop has
//! no exit, and it is known to run, or the place was accessed just before it, or is within the list by the bounds of the loops around ([`in_bounds`]), so
//! that the load cannot introduce a panic. Runs after `coalesce`,
//! so that it sees the loops that will run, and before `licm`, which it frees from writes.

mod in_bounds;

use std::collections::{HashMap, HashSet};

use self::in_bounds::{InBounds, in_bounds};
use crate::driver::{Context, Pass, Promise};
use crate::transform::{integers, is_total, runs};
use stratape_ir::{
    Binary, Block, Carried, Function, Loop, Op, Place, Range, Scalar, Stmt, ValueId, defined,
};

/// The pass.
pub const SCALAR_PROMOTION: Pass = Pass {
    name: "scalar_promotion",
    after: &["coalesce"],
    promise: Promise::SameBits,
    required: false,
    run: scalar_promotion,
};

/// Promotes sums in memory.
fn scalar_promotion(function: &mut Function, cx: &mut Context<'_>) {
    let in_bounds = in_bounds(function);
    let mut body = std::mem::take(&mut function.body);
    let known = Known { integers: integers(&body), in_bounds };
    block(function, &mut body, &known, &mut Vec::new(), cx);
    function.body = body;
}

/// What is known of the function before any of it is changed.
struct Known {
    integers: HashMap<ValueId, i128>,
    in_bounds: HashMap<ValueId, InBounds>,
}

fn block(
    function: &mut Function,
    nodes: &mut Block,
    known: &Known,
    around: &mut Vec<(ValueId, ValueId)>,
    cx: &mut Context<'_>,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(nodes) {
        let Stmt::Loop(repeat) = &mut node else {
            for inner in node.blocks_mut() {
                block(function, inner, known, around, cx);
            }
            out.push(node);
            continue;
        };
        if let Range::UpTo { from, to } = repeat.range {
            let runs = around.contains(&(from, to)) || runs(&known.integers, from, to);
            around.push((from, to));
            block(function, &mut repeat.body, known, around, cx);
            around.pop();
            if repeat.exit.is_none() {
                let stores = sums(function, repeat, runs, known, &mut out);
                if !stores.is_empty() {
                    cx.applied(repeat.span, "sums in memory are kept in registers");
                }
                out.push(node);
                out.extend(stores);
                continue;
            }
        } else {
            block(function, &mut repeat.body, known, around, cx);
        }
        out.push(node);
    }
    *nodes = out;
}

/// Promotes the sums of a loop's own block; appends the loads, returns the stores. In a loop that may not run only those
/// are promoted whose places have been accessed before it, or are within their lists: loading from there cannot panic.
fn sums(
    function: &mut Function,
    node: &mut Loop,
    runs: bool,
    known: &Known,
    before: &mut Block,
) -> Vec<Stmt> {
    let within = known.in_bounds.get(&node.counter);
    let indices = Indices::of(function, node, runs, within);
    let mut places: Vec<Place> = Vec::new();
    for item in &node.body {
        if let Stmt::Accumulate { place, .. } = item
            && indices.are_fixed(place)
            && !places.contains(place)
        {
            places.push(place.clone());
        }
    }
    let accessed = |before: &Block, place: &Place| {
        before.iter().any(|item| match item {
            Stmt::Let { op: Op::Load(other), .. }
            | Stmt::Store { place: other, .. }
            | Stmt::Accumulate { place: other, .. } => other == place,
            _ => false,
        })
    };
    places.retain(|place| {
        (runs
            || accessed(before, place)
            || within.is_some_and(|within| within.places.contains(place)))
            && alone(&node.body, place, true)
            && function.place_type(place).and_then(stratape_ir::Type::scalar).is_some()
    });
    before.extend(indices.take(node, &places));
    places.into_iter().filter_map(|place| promote(function, node, place, before)).collect()
}

/// Keeps one sum of a loop in a register; returns the store behind the loop.
fn promote(
    function: &mut Function,
    node: &mut Loop,
    place: Place,
    before: &mut Block,
) -> Option<Stmt> {
    let ty = function.place_type(&place).and_then(stratape_ir::Type::scalar)?;
    let (inside, after) = (function.new_value(ty, node.span), function.new_value(ty, node.span));
    let init = match just_stored(before, &place) {
        Some((at, value)) => {
            // It is stored to again after the loop.
            before.remove(at);
            value
        }
        None => {
            let init = function.new_value(ty, node.span);
            before.push(Stmt::Let { value: init, op: Op::Load(place.clone()) });
            init
        }
    };
    let mut sum = inside;
    for item in &mut node.body {
        if let Stmt::Accumulate { place: other, value, subtract } = item
            && *other == place
        {
            let next = function.new_value(ty, node.span);
            let sign = if *subtract { Binary::Sub } else { Binary::Add };
            *item = Stmt::Let { value: next, op: Op::Binary(sign, sum, *value) };
            sum = next;
        }
    }
    node.carried.push(Carried { init, inside, next: sum, after });
    Some(Stmt::Store { place, value: after })
}

/// The values of a loop that can be indices of a place that does not change.
struct Indices {
    /// Defined in the loop, and different in each iteration as far as is known.
    varying: HashSet<ValueId>,
    /// Integers computed in the loop from what does not change: what each needs.
    fixed: HashMap<ValueId, Vec<ValueId>>,
}

impl Indices {
    /// In a loop that runs, what panics may go before it if nothing can be seen to have happened by then.
    fn of(function: &Function, node: &Loop, runs: bool, within: Option<&InBounds>) -> Self {
        let mut varying = defined(&node.body);
        varying.insert(node.counter);
        varying.extend(node.carried.iter().map(|carried| carried.inside));
        let (mut fixed, mut first) = (HashMap::new(), true);
        for item in &node.body {
            first &= matches!(item, Stmt::Let { .. } | Stmt::New { .. });
            let Stmt::Let { value, op } = item else { continue };
            let mut operands = Vec::new();
            op.for_each_operand(&mut |operand| operands.push(operand));
            let ty = function.ty(*value);
            let is_index = ty == Scalar::USIZE && !matches!(op, Op::Load(_) | Op::Len(_));
            let is_safe = within.is_some_and(|within| within.indices.contains(value));
            let can_move = is_total(op, ty) || (runs && first) || is_safe;
            if is_index && can_move && operands.iter().all(|operand| !varying.contains(operand)) {
                varying.remove(value);
                fixed.insert(*value, operands);
            }
        }
        Self { varying, fixed }
    }

    fn are_fixed(&self, place: &Place) -> bool {
        let mut fixed = true;
        place.for_each_operand(&mut |index| fixed &= !self.varying.contains(&index));
        fixed
    }

    /// Takes what places need as indices out of a loop.
    fn take(&self, node: &mut Loop, places: &[Place]) -> Block {
        let mut needed = HashSet::new();
        let mut next: Vec<ValueId> = Vec::new();
        places.iter().for_each(|place| place.for_each_operand(&mut |index| next.push(index)));
        while let Some(value) = next.pop() {
            if let Some(operands) = self.fixed.get(&value)
                && needed.insert(value)
            {
                next.extend(operands);
            }
        }
        let is_needed =
            |item: &Stmt| matches!(item, Stmt::Let { value, .. } if needed.contains(value));
        let (taken, kept) = std::mem::take(&mut node.body).into_iter().partition(is_needed);
        node.body = kept;
        taken
    }
}

/// What was stored to a place, and which node did it, if nothing has touched the object since.
fn just_stored(before: &Block, place: &Place) -> Option<(usize, ValueId)> {
    let at = before
        .iter()
        .rposition(|item| matches!(item, Stmt::Store { place: other, .. } if other == place))?;
    let Stmt::Store { value, .. } = &before[at] else { return None };
    let rest = before[at + 1..].to_vec();
    alone(&rest, place, false).then_some((at, *value))
}

/// Whether every access to an object in a block is an addition to one place, in the block itself.
fn alone(block: &Block, place: &Place, top: bool) -> bool {
    block.iter().all(|node| {
        let touches = match node {
            Stmt::Let { op: Op::Load(other), .. } => other.object == place.object,
            Stmt::Store { place: other, .. } => other.object == place.object,
            Stmt::Accumulate { place: other, .. } => {
                other.object == place.object && (!top || other != place)
            }
            Stmt::New { object, init } => *object == place.object || copies(init, place),
            Stmt::Refill { place: other, .. } => other.object == place.object,
            Stmt::Call(_) | Stmt::Save { .. } | Stmt::Swap { .. } => {
                node.read().iter().any(|other| other.object == place.object)
            }
            _ => false,
        };
        !touches && node.blocks().into_iter().all(|inner| alone(inner, place, false))
    })
}

fn copies(init: &stratape_ir::Init, place: &Place) -> bool {
    use stratape_ir::Init;
    match init {
        Init::Items(items) => items.iter().any(|item| copies(item, place)),
        Init::Fill(item) | Init::Repeat(item, _) => copies(item, place),
        Init::Copy(other) => other.object == place.object,
        Init::ZeroLike(object) => *object == place.object,
        Init::Value(_) => false,
    }
}
