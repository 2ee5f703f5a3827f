//! Rotating accumulation: additions to neighbouring elements that overlap from one iteration to the next.
//!
//! ```text
//! for i { d[i] += a; d[i + 1] += b }   →   for i simd(16, rotation d: a at 0, b at 1) { … }
//! ```
//!
//! Such additions fit no view: the element that one iteration adds to last is the one that the next adds to first. In a block of iterations the
//! terms are kept aside. Of additions that are a known distance apart the nearest goes to memory at once, the others follow
//! when the block reaches their elements, and what reaches beyond the block is carried to the next: memory is read and written once. The
//! rows that a stencil reaches in a plate are an unknown distance apart: each has a rotation of its own, which goes to memory at the end of
//! the block, as does an addition that is alone.
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

/// Additions to one object a small, known distance apart rotate together: the cells of a row that a stencil adds to. Those to other rows
/// rotate by themselves.
pub(super) fn rotations(scattered: Vec<Scattered>, target: &Target) -> Vec<Rotation> {
    let mut groups: Vec<Vec<Scattered>> = Vec::new();
    for one in scattered {
        // What rotates together is summed up before it is added: other bits than those of one addition after the other.
        let near = |other: &Scattered| {
            let apart = one.base.minus(&other.base).as_number();
            other.object == one.object
                && one.adjoint
                && apart.is_some_and(|apart| apart.abs() <= target.rotate_distance)
        };
        match groups.iter_mut().find(|group| group.iter().all(near)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| rotation(group)).collect()
}

/// A group with its distances from the nearest element.
fn rotation(group: &[Scattered]) -> Rotation {
    let first = group[0].base.clone();
    let offset = |one: &Scattered| one.base.minus(&first).as_number().unwrap_or(0);
    let nearest = group.iter().map(offset).min().unwrap_or(0);
    let mut additions: Vec<(usize, usize, Polynomial)> = group
        .iter()
        .map(|one| (one.at, (offset(one) - nearest) as usize, one.base.clone()))
        .collect();
    additions.sort_by_key(|(_, distance, _)| *distance);
    let base = additions[0].2.clone();
    let additions = additions.into_iter().map(|(at, distance, _)| (at, distance)).collect();
    Rotation { object: group[0].object, base, additions }
}
