//! Rotating accumulation: additions to neighbouring elements that overlap from one iteration to the next.
//!
//! ```text
//! for i { d[i] += a; d[i + 1] += b }   →   for i simd(16, rotation d: a at 0, b at 1) { … }
//! ```
//!
//! Such additions fit no view: the element that one iteration adds to last is the one that the next adds to first. In a block of iterations the
//! terms are kept aside. Where all additions to an object are a known distance apart, the nearest goes to memory at once, the others follow
//! when the block reaches their elements, and what reaches beyond the block is carried to the next: memory is read and written once. An
//! addition that is alone waits for the end of its block.
//!
//! Legal for adjoints; for memory of the primal to no element of which two iterations add, each addition alone, so that sums keep their bits. Part of `vector_reduction`;
//! `Target::rotate_distance` is the largest distance (docs/performance.md: rosenbrock).

use super::{Enclosing, Facts};
use crate::driver::Target;
use stratape_ir::analysis::{Polynomial, keeps_sums};
use stratape_ir::{Loop, ObjectId, Op, Rotation, Scalar, Stmt, Strip};

/// An addition to memory that no view serves.
#[derive(Clone)]
pub(super) struct Scattered {
    /// Its position in the body.
    pub(super) at: usize,
    object: ObjectId,
    base: Polynomial,
    /// Whether its object holds adjoints.
    adjoint: bool,
}

/// The additions of a loop that no view serves.
pub(super) fn scattered(
    facts: &Facts<'_>,
    node: &Loop,
    strip: &Strip,
    around: &Enclosing,
) -> Vec<Scattered> {
    let mut found = Vec::new();
    for (at, item) in node.body.iter().enumerate() {
        let Stmt::Accumulate { place, value, .. } = item else { continue };
        if !facts.function.ty(*value).is_float() || !may_wait(facts, node, place.object) {
            continue;
        }
        let divided = around.divided.contains(&place.object);
        if divided || facts.sees(strip, node.counter, place) || place.path.len() != 1 {
            continue;
        }
        let split = strip.splits.iter().any(|split| split.object == place.object);
        let touched_otherwise = !split
            && node.body.iter().any(|other| match other {
                Stmt::Let { op: Op::Load(other), .. } | Stmt::Store { place: other, .. } => {
                    other.object == place.object
                }
                _ => false,
            });
        if touched_otherwise || facts.function.ty(node.counter) != Scalar::USIZE {
            continue;
        }
        if let Some((1, base)) = facts.first_index(place, node.counter) {
            let adjoint = facts.function.holds_adjoints(place.object);
            found.push(Scattered { at, object: place.object, base, adjoint });
        }
    }
    found
}

/// Whether the additions of a loop to an object may be kept aside by blocks: adjoints always; sums of the primal if no element is
/// added to by two iterations.
fn may_wait(facts: &Facts<'_>, node: &Loop, object: ObjectId) -> bool {
    facts.function.holds_adjoints(object) || keeps_sums(&facts.affine, node, object)
}

/// Additions to one object a known distance apart rotate together; each other one is alone.
pub(super) fn rotations(scattered: Vec<Scattered>, target: &Target) -> Vec<Rotation> {
    let mut groups: Vec<Vec<Scattered>> = Vec::new();
    for one in scattered {
        match groups.iter_mut().find(|group| group[0].object == one.object) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.into_iter().flat_map(|group| measured(group, target)).collect()
}

/// A group with its distances, or each of its additions alone if they are not known or too far.
fn measured(group: Vec<Scattered>, target: &Target) -> Vec<Rotation> {
    let alone = |group: Vec<Scattered>| {
        let one = |Scattered { at, object, base, .. }| Rotation {
            object,
            base,
            additions: vec![(at, 0)],
        };
        group.into_iter().map(one).collect()
    };
    // What rotates together is summed up before it is added: other bits than those of one addition after the other.
    if !group[0].adjoint {
        return alone(group);
    }
    let from_first: Option<Vec<i128>> =
        group.iter().map(|one| one.base.minus(&group[0].base).as_number()).collect();
    let Some(offsets) = from_first else { return alone(group) };
    let nearest = offsets.iter().copied().min().unwrap_or(0);
    if offsets.iter().any(|offset| offset - nearest > target.rotate_distance) {
        return alone(group);
    }
    let mut additions: Vec<(usize, usize, Polynomial)> = group
        .iter()
        .zip(offsets)
        .map(|(one, offset)| (one.at, (offset - nearest) as usize, one.base.clone()))
        .collect();
    additions.sort_by_key(|(_, distance, _)| *distance);
    let base = additions[0].2.clone();
    let additions = additions.into_iter().map(|(at, distance, _)| (at, distance)).collect();
    vec![Rotation { object: group[0].object, base, additions }]
}
