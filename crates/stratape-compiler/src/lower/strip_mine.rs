//! Strip-mining: innermost loops, and loops with records in a region, run over views of just their length.
//!
//! Inside a strip the iteration number counts from 0, and memory that is accessed at `i` plus something invariant is seen through a view
//! that is sliced beforehand and is as long as the strip. No bounds check is left in the loop, and it vectorises. A loop that saves a
//! record in each iteration runs in several strips, so that the tape's memory can be smaller than the loop's records.
//!
//! ```text
//! for i in a..b { y[i] = 2 * x[i + 1] }
//! →  for i in a..b strip(view x from 1, view mut y) { y[i] = 2 * x[i + 1] }
//! ```
//!
//! Legal where the number of iterations is known when the loop begins and every access of a view happens in every iteration: then the slice
//! panics if and only if an access would. A check inside the loop would have to come before the slice's panic: such loops have no views, unless all that
//! they check can be asked before the first iteration. An object that is written must be seen through one view alone, or be split in two sides that do not meet. Pays from `Target::strip_iterations`: LLVM
//! unrolls shorter loops (docs/performance.md). Strides beyond `Target::widest_stride` are not viewed. Runs after `regions`.

use std::collections::HashMap;

use super::{Enclosing, Facts, each_loop, matching, reschedule};
use crate::driver::{Context, Pass, Promise, Target};
use crate::tapeflow::{Frames, contains, is_counted, is_short, uses_tape};
use stratape_ir::analysis::{Affine, DefUse, Polynomial, checks_later};
use stratape_ir::{
    Block, Function, Init, Loop, ObjectId, Op, Place, RegionId, Scalar, Split, Stmt, Strip, Type,
    View, made,
};

/// The pass.
pub const STRIP_MINE: Pass = Pass {
    name: "strip_mine",
    after: &["regions"],
    promise: Promise::SameBits,
    required: true,
    run: strip_mine,
};

/// Decides which loops run in strips.
fn strip_mine(function: &mut Function, cx: &mut Context<'_>) {
    let mut strips = HashMap::new();
    let mut rolled = HashMap::new();
    {
        let definitions = DefUse::new(function);
        let facts = Facts::new(function, &definitions);
        let target = cx.target;
        let frames = Frames::new(function, target);
        each_loop(&function.body, &mut Enclosing::default(), &mut |node, around| {
            rolled.insert(node.counter, stays_rolled(&facts, node, target));
            let region = region_of(&frames, function, node);
            let short = is_short(node, &facts.integers, target)
                || (region.is_none() && is_short_triangle(&facts, node, target));
            if short || !(region.is_some() || is_strip(node)) {
                return None;
            }
            let (views, splits) = match is_counted(node) {
                true => Finder { facts: &facts, target, around, node }.views(),
                // It ends when it will: nothing is accessed in every iteration of a strip.
                false => (Vec::new(), Vec::new()),
            };
            let strip = Strip { region, stream: None, views, splits };
            strips.insert(node.counter, strip.clone());
            Some(strip)
        });
    }
    reschedule(&mut function.body, &mut |counter, schedule| {
        schedule.strip = strips.remove(&counter);
        schedule.rolled = schedule.strip.is_none() && rolled.get(&counter) == Some(&true);
    });
}

/// Whether a loop without a region runs as a strip: it is innermost, counted, calls nothing and does not use the tape.
fn is_strip(node: &Loop) -> bool {
    let plain =
        |item: &Stmt| !contains(item, &|node| matches!(node, Stmt::Loop(_) | Stmt::Call(_)));
    is_counted(node) && node.body.iter().all(plain) && !uses_tape(&node.body)
}

/// Whether a loop whose length depends on the counters around it runs for few iterations on average, as literals say.
fn is_short_triangle(facts: &Facts<'_>, node: &Loop, target: &Target) -> bool {
    let longest = longest_in_triangle(&facts.affine, node);
    longest
        .and_then(|longest| longest.as_number())
        .is_some_and(|longest| longest < 2 * target.strip_iterations)
}

/// How long a loop is at most whose length depends on the counters around it.
pub(crate) fn longest_in_triangle(affine: &Affine<'_>, node: &Loop) -> Option<Polynomial> {
    let counter =
        |longest: &Polynomial| longest.symbols().find(|symbol| affine.counted(*symbol).is_some());
    let mut longest = affine.counted(node.counter)?.extent.clone()?;
    counter(&longest)?;
    while let Some(counter) = counter(&longest) {
        longest = affine.extreme(&longest, counter, true)?;
    }
    Some(longest)
}

/// The region that a loop's iterations leave their frames in, or take them from.
fn region_of(frames: &Frames<'_>, function: &Function, node: &Loop) -> Option<RegionId> {
    let records = frames.of(node).ok()?.records();
    let first = function.region_of(*records.first()?)?;
    records.iter().all(|record| function.region_of(*record) == Some(first)).then_some(first)
}

/// Whether a short loop does nothing but add a short row to an array, again and again. LLVM would unroll both, tear the row
/// into numbers, and shuffle them between the iterations.
fn stays_rolled(facts: &Facts<'_>, node: &Loop, target: &Target) -> bool {
    let Some((Stmt::Loop(row), before)) = node.body.split_last() else { return false };
    let sums = |item: &Stmt| match item {
        Stmt::Accumulate { place, .. } => {
            matches!(facts.function.objects[place.object.index()].ty, Type::Array(..))
        }
        item => matches!(item, Stmt::Let { .. }),
    };
    let (fewest, most) = target.rolled_row;
    facts.trips(node).is_some_and(|trips| trips <= target.rolled_outer)
        && facts.trips(row).is_some_and(|trips| (fewest..=most).contains(&trips))
        && node.carried.is_empty()
        && row.carried.is_empty()
        && before.iter().all(|item| matches!(item, Stmt::Let { .. }))
        && row.body.iter().all(sums)
}

/// An access to a list by its first index.
struct Access<'a> {
    place: &'a Place,
    written: bool,
    /// Executed in every iteration.
    always: bool,
}

/// Finds the views of a loop: what its accesses have in common.
struct Finder<'a> {
    facts: &'a Facts<'a>,
    target: &'a Target,
    around: &'a Enclosing,
    node: &'a Loop,
}

impl Finder<'_> {
    fn views(&self) -> (Vec<View>, Vec<Split>) {
        let (node, function) = (self.node, self.facts.function);
        let (mut views, mut splits): (Vec<View>, Vec<Split>) = (Vec::new(), Vec::new());
        // A view is sliced before the loop. A check inside it must come in its own time, unless all its iterations can be asked for
        // before; and a list must stay the same one.
        let swaps = |item: &Stmt| contains(item, &|item| matches!(item, Stmt::Swap { .. }));
        let waits = checks_later(&self.facts.affine, node) || node.body.iter().any(swaps);
        if waits || function.ty(node.counter) != Scalar::USIZE {
            return (views, splits);
        }
        let mut accesses = Vec::new();
        collect(&node.body, true, &mut accesses);
        let made_here = made(&node.body);
        let mut objects: Vec<ObjectId> =
            accesses.iter().map(|access| access.place.object).collect();
        objects.sort_unstable();
        objects.dedup();
        for object in objects {
            let ty = &function.objects[object.index()].ty;
            let is_list = matches!(ty, Type::Slice(_) | Type::Vec(_) | Type::Array(..));
            // A view of a whole that is viewed already would borrow it twice.
            if made_here.contains(&object) || !is_list || self.around.viewed.contains(&object) {
                continue;
            }
            let mine: Vec<&Access<'_>> =
                accesses.iter().filter(|access| access.place.object == object).collect();
            let mutable = mine.iter().any(|access| access.written);
            let whole = mine.iter().any(|access| access.place.path.is_empty());
            let mut found = self.groups(&mine, object, mutable);
            if mutable {
                // Exclusive: one view must serve every access.
                let all = found.len() == 1
                    && !whole
                    && mine.iter().all(|access| {
                        let affine = &self.facts.affine;
                        matching(function, affine, found.iter(), node.counter, access.place)
                            .is_some()
                    });
                if !all {
                    if let Some((split, mut found)) = self.split(&mine, object) {
                        splits.push(split);
                        views.append(&mut found);
                    }
                    continue;
                }
            }
            views.append(&mut found);
        }
        (views, splits)
    }

    /// Views of an object that is read on one side and written on the other.
    fn split(&self, accesses: &[&Access<'_>], object: ObjectId) -> Option<(Split, Vec<View>)> {
        if self.around.divided.contains(&object) {
            return None;
        }
        let split = Split::find(&self.facts.affine, self.node, object)?;
        let mut views: Vec<View> = Vec::new();
        let mut pivot_seen = false;
        for access in accesses {
            let (1, base) = self.facts.first_index(access.place, self.node.counter)? else {
                return None;
            };
            if !access.always {
                return None;
            }
            let pivot = base == split.pivot;
            pivot_seen |= pivot;
            if (!pivot && !split.others_read) || views.iter().any(|view| view.base == base) {
                continue;
            }
            let side = Some(split.side(pivot));
            views.push(View { object, base, stride: 1, mutable: pivot, side });
        }
        pivot_seen.then_some((split, views))
    }

    /// The views that accesses of one object ask for.
    fn groups(&self, accesses: &[&Access<'_>], object: ObjectId, mutable: bool) -> Vec<View> {
        let mut found: Vec<(i128, Polynomial)> = Vec::new();
        for access in accesses.iter().filter(|access| access.always) {
            if let Some(index) = self.facts.first_index(access.place, self.node.counter)
                && !found.contains(&index)
            {
                found.push(index);
            }
        }
        let mut views = Vec::new();
        for (stride, base) in &found {
            let offsets: Vec<i128> = found
                .iter()
                .filter(|(other, _)| other == stride)
                .filter_map(|(_, other)| other.minus(base).as_number())
                .collect();
            // Of a group of neighbours the lowest makes the view, and the highest must reach its end.
            let lowest = offsets.iter().all(|offset| *offset >= 0 || *offset <= -*stride);
            let reaches = *stride == 1 || offsets.contains(&(*stride - 1));
            let covered =
                *stride > 1 && offsets.iter().any(|offset| *offset < 0 && *offset > -*stride);
            if lowest && reaches && !covered && *stride <= self.target.widest_stride {
                let (base, stride) = (base.clone(), *stride);
                views.push(View { object, base, stride, mutable, side: None });
            }
        }
        views
    }
}

fn collect<'a>(block: &'a Block, always: bool, accesses: &mut Vec<Access<'a>>) {
    for node in block {
        match node {
            Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
            | Stmt::New { init: Init::Copy(place), .. } => {
                accesses.push(Access { place, written: false, always });
            }
            Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
                accesses.push(Access { place, written: true, always });
            }
            _ => {}
        }
        for inner in node.blocks() {
            collect(inner, false, accesses);
        }
    }
}
