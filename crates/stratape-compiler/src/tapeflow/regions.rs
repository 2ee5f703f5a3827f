//! Regions: the records of a loop's iterations side by side, as an array of structs.
//!
//! A record that is pushed alone costs a compare against the tape's limit and lies wherever the top of the tape is. Where the iterations of a
//! loop push one record each, and nothing else in the loop uses the tape, the records of many iterations are reserved at once: the loop runs
//! over a slice, without compares.
//!
//! ```text
//! for i in 0..n { …; push #0 x }   …   for i in 0..n reversed { pop #0 x; … }
//! →  record #0 (x) region as f64, and strip_mine writes:
//!    for i in 0..n strip #0 { …; push #0 x }   …   for i in 0..n reversed strip #0 { pop #0 x; … }
//! ```
//!
//! Legal where both loops, the one that pushes and the one that pops, have a known number of iterations, and hold no call and no parallel loop:
//! records that were pushed one by one are popped one by one. In a record all slots are stored as numbers of one width, the narrowest that
//! holds each of them. Pays from `Target::strip_iterations` (docs/performance.md); runs after `privatize`.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise, Target};
use crate::transform::{integers, trips};
use stratape_ir::{Cell, Function, Half, Loop, Range, RecordId, Stmt, ValueId, walk};

/// The pass.
pub const REGIONS: Pass = Pass {
    name: "regions",
    after: &["privatize"],
    promise: Promise::SameBits,
    required: true,
    run: assign,
};

/// Decides for each record whether it lies in regions, and what its slots are stored as.
fn assign(function: &mut Function, cx: &mut Context<'_>) {
    let found = match &cx.regions {
        // Of a function in two halves both must agree.
        Some(agreed) => agreed.clone(),
        None => regions(&[function], cx.target),
    };
    for (number, record) in function.records.iter_mut().enumerate() {
        record.region = found.contains(&RecordId(number as u32));
        record.cell = Some(Cell::of(&record.types));
    }
}

/// The records that lie in regions: those whose loops have the shape in the forward half *and* in the backward half.
pub(crate) fn regions(functions: &[&Function], target: &Target) -> HashSet<RecordId> {
    let (mut fit, mut unfit) = (HashSet::new(), HashSet::new());
    for function in functions {
        let mut in_loops = HashSet::new();
        let integers = integers(&function.body);
        walk(&function.body, &mut |node| {
            let Stmt::Loop(node) = node else { return };
            for item in &node.body {
                let (Stmt::Push { record, .. } | Stmt::Pop { record, .. }) = item else { continue };
                in_loops.insert(*record);
                let fits = is_strip_shaped(node) && !is_short(node, &integers, target);
                if fits && only_record(node) == Some(*record) {
                    fit.insert(*record);
                } else {
                    unfit.insert(*record);
                }
            }
        });
        walk(&function.body, &mut |node| {
            if let Stmt::Push { record, .. } | Stmt::Pop { record, .. } = node
                && !in_loops.contains(record)
            {
                unfit.insert(*record);
            }
        });
    }
    fit.difference(&unfit).copied().collect()
}

/// Whether the number of a loop's iterations is known beforehand, and nothing in it is called that may use the tape.
pub(crate) fn is_strip_shaped(node: &Loop) -> bool {
    // A loop in parts asks for what strips around it have viewed.
    let calls = node.body.iter().any(|item| {
        contains(item, &|node| match node {
            Stmt::Call(_) => true,
            Stmt::Loop(node) => node.parallel.is_some(),
            _ => false,
        })
    });
    node.exit.is_none()
        && node.trips.is_none()
        && matches!(node.range, Range::UpTo { .. })
        && !calls
}

/// Whether a loop is known to run so few times that a strip costs more than it saves.
pub(crate) fn is_short(node: &Loop, integers: &HashMap<ValueId, i128>, target: &Target) -> bool {
    trips(integers, &node.range).is_some_and(|trips| trips < target.strip_iterations)
}

pub(crate) fn contains(node: &Stmt, test: &dyn Fn(&Stmt) -> bool) -> bool {
    test(node) || node.blocks().into_iter().flatten().any(|inner| contains(inner, test))
}

/// The record a loop's iterations push or pop, if nothing else inside uses the tape.
pub(crate) fn only_record(node: &Loop) -> Option<RecordId> {
    let mut records = Vec::new();
    for item in &node.body {
        match item {
            Stmt::Push { record, .. } | Stmt::Pop { record, .. } => records.push(*record),
            item if uses_tape(std::slice::from_ref(item)) => return None,
            _ => {}
        }
    }
    match records[..] {
        [record] => Some(record),
        _ => None,
    }
}

/// Whether one of the statements uses the tape.
pub(crate) fn uses_tape(block: &[Stmt]) -> bool {
    block.iter().any(|node| node.uses_tape(Half::Forward) || node.uses_tape(Half::Backward))
}

/// Bytes of each kind of record on the tape. In a region they lie side by side, by themselves they take whole words; what
/// a region adds as a whole is not counted.
pub fn record_bytes(function: &Function, target: &Target) -> Vec<usize> {
    let regions = regions(&[function], target);
    let records = function.records.iter().enumerate();
    records
        .map(|(number, record)| {
            let bytes = Cell::of(&record.types).bytes() * record.types.len();
            let packed = regions.contains(&RecordId(number as u32));
            if packed { bytes } else { bytes.next_multiple_of(8) }
        })
        .collect()
}
