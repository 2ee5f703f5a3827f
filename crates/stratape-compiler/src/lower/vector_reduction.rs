//! Vector reductions: strips in blocks of iterations, so that the terms of sums are computed with vector instructions.
//!
//! LLVM does not reorder sums of floats, so a loop that carries one runs an element at a time. A sum of adjoints has no order to keep: each
//! place in a block has a partial sum of its own, added up at the end. A sum of the primal keeps its order: the terms of a block are computed
//! side by side, then added one after the other.
//!
//! ```text
//! for i in 0..n strip(view x), s = 0.0 { t = x[i] * x[i]; next = s + t } carry s <- next
//! →  for i in 0..n strip(view x) simd 8 (reduce + t), s = 0.0 { … }
//! ```
//!
//! Legal where every carried value is such a sum that nothing in the loop reads, and every statement is arithmetic, an access through a view,
//! or a push or pop of the strip's record: then blocks cannot be told from iterations. Pays where the terms take long (a division, a root),
//! where memory is written as well, or where a sum may be reassociated (docs/performance.md: gravity, gaussian). Widths are
//! `Target::simd_width` and its variants, or a divisor of a known number of iterations. Runs after `strip_mine`; additions that overlap are in
//! `rotating_accumulate`.

use std::collections::HashMap;

use super::rotating_accumulate::{rotations, scattered};
use super::{Enclosing, Facts, each_loop, reschedule};
use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::analysis::{DefUse, asked_first, only_term};
use stratape_ir::{
    Binary, Carried, Float, Function, Loop, Math, ObjectId, Op, Place, Reduction, Rotation, Scalar,
    Simd, Step, Stmt, Strip, defined,
};

/// The pass.
pub const VECTOR_REDUCTION: Pass = Pass {
    name: "vector_reduction",
    after: &["strip_mine"],
    promise: Promise::AdjointBits,
    required: false,
    run: vector_reduction,
};

/// Decides which strips run in blocks.
fn vector_reduction(function: &mut Function, cx: &mut Context<'_>) {
    let mut found = HashMap::new();
    {
        let definitions = DefUse::new(function);
        let facts = Facts::new(function, &definitions);
        each_loop(&function.body, &mut Enclosing::default(), &mut |node, around| {
            let strip = node.schedule.as_ref()?.strip.as_ref()?;
            if let Some(simd) = blocks(&facts, node, strip, around, cx.target) {
                let what = if simd.rotations.is_empty() { "" } else { ", with rotating sums" };
                cx.applied(node.span, format!("runs in blocks of {}{what}", simd.width));
                found.insert(node.counter, simd);
            }
            Some(strip.clone())
        });
    }
    reschedule(&mut function.body, &mut |counter, schedule| {
        schedule.simd = found.remove(&counter);
    });
}

/// A strip in blocks, if it is one that gains by it.
fn blocks(
    facts: &Facts<'_>,
    node: &Loop,
    strip: &Strip,
    around: &Enclosing,
    target: &Target,
) -> Option<Simd> {
    let function = facts.function;
    if (node.reversed && !node.unordered) || function.ty(node.counter) != Scalar::USIZE {
        return None;
    }
    let reductions = reductions(function, node)?;
    let scattered = scattered(facts, node, strip, around);
    let fits = |(at, item): (usize, &Stmt)| {
        fits(facts, node, strip, item) || scattered.iter().any(|one| one.at == at)
    };
    let slow = is_slow(function, node);
    let writes = node.body.iter().any(|item| !item.written().is_empty());
    let free = reductions.iter().any(|sum| sum.reassociate);
    // Ordered sums alone gain only where their terms take long.
    let gains = !scattered.is_empty() || (!reductions.is_empty() && (slow || writes || free));
    if !gains || !node.body.iter().enumerate().all(fits) {
        return None;
    }
    let dense = strip.views.iter().all(|view| view.stride == 1);
    if !dense && scattered.is_empty() && !slow {
        // Fields make pairs of their own.
        return None;
    }
    let narrow = !node.carried.is_empty()
        && node
            .carried
            .iter()
            .all(|carried| function.ty(carried.inside) == Scalar::Float(Float::F32));
    let delayed = if dense && scattered.is_empty() { delayed(function, node) } else { Vec::new() };
    let rotations = rotations(scattered, target);
    let mut simd = Simd { width: 0, reductions, rotations, delayed };
    let rotates = simd.rotations.iter().any(|rotation| !simd.waits(rotation));
    let usual = match dense {
        true if narrow || rotates || slow => target.simd_width_wide,
        true => target.simd_width,
        false => target.simd_width_strided,
    };
    let width = facts.trips(node).map_or(usual, |trips| even_width(usual, trips, target));
    // What rotates reaches into the next block, not beyond it.
    let farthest = simd.rotations.iter().map(Rotation::farthest).max().unwrap_or(0);
    simd.width = if width < farthest { usual } else { width };
    Some(simd)
}

/// The carried values of a loop, if all of them are sums that nothing else looks at.
fn reductions(function: &Function, node: &Loop) -> Option<Vec<Reduction>> {
    let reduction = |carried: &Carried| {
        let term = only_term(node, carried)?;
        let reassociate = function.is_free(carried);
        Some(Reduction { term: term.value, subtract: term.subtract, reassociate })
    };
    node.carried.iter().map(reduction).collect()
}

fn fits(facts: &Facts<'_>, node: &Loop, strip: &Strip, item: &Stmt) -> bool {
    match item {
        Stmt::Let { op: Op::Load(place), .. } => facts.sees(strip, node.counter, place),
        Stmt::Let { op: Op::Math(function, _), .. } => vectorises(*function),
        Stmt::Let { .. } => true,
        Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
            facts.sees(strip, node.counter, place)
        }
        Stmt::Push { .. } | Stmt::Pop { .. } => strip.region.is_some(),
        Stmt::Check { check, .. } => asked_first(&facts.affine, node.counter, check).is_some(),
        _ => false,
    }
}

/// The additions to objects that the loop neither reads nor stores to. They can wait for the end of a block: LLVM, which does not
/// know that what is read lies elsewhere, then has all loads before the first store.
fn delayed(function: &Function, node: &Loop) -> Vec<usize> {
    let touched: Vec<ObjectId> = node
        .body
        .iter()
        .filter_map(|item| match item {
            Stmt::Let { op: Op::Load(place), .. } | Stmt::Store { place, .. } => Some(place.object),
            _ => None,
        })
        .collect();
    let inside = defined(&node.body);
    // After the block there is the view's element, and what the loop does not compute.
    let is_known = |place: &Place| {
        let further = place.path.iter().skip(1);
        further
            .into_iter()
            .all(|step| !matches!(step, Step::Index(index) if inside.contains(index)))
    };
    let is_added = |item: &Stmt| match item {
        Stmt::Accumulate { place, value, .. } => {
            !touched.contains(&place.object) && function.ty(*value).is_float() && is_known(place)
        }
        _ => false,
    };
    let body = node.body.iter().enumerate();
    body.filter(|(_, item)| is_added(item)).map(|(at, _)| at).collect()
}

/// Whether something in a loop takes long, but not as long as a function call.
fn is_slow(function: &Function, node: &Loop) -> bool {
    node.body.iter().any(|item| {
        matches!(item, Stmt::Let { op: Op::Math(Math::Sqrt, _) | Op::Binary(Binary::Div, ..), value }
            if function.ty(*value).is_float())
    })
}

/// The width at which nothing is left over of a loop, if there is one near the usual.
fn even_width(usual: usize, trips: usize, target: &Target) -> usize {
    let fits = |width: &usize| trips.is_multiple_of(*width);
    let most = usual.max(target.simd_width_wide).min(trips);
    let even = (4..=most).rev().filter(|width| width.is_multiple_of(2)).find(fits);
    if trips.is_multiple_of(usual) { usual } else { even.unwrap_or(usual) }
}

/// Whether a function of floats becomes vector instructions.
fn vectorises(function: Math) -> bool {
    matches!(
        function,
        Math::Sqrt
            | Math::Abs
            | Math::Min
            | Math::Max
            | Math::Copysign
            | Math::Signum
            | Math::Recip
            | Math::ToRadians
            | Math::ToDegrees
    )
}
