//! Overwriting: whether one access to memory may come later than another and hit the same place.
//!
//! It comes later in the same iteration of all loops around both, or in a later iteration of one of them. For each of these cases the indices are
//! compared as [polynomials](super::Affine), with the facts of the loops and branches around them:
//!
//! ```text
//! second − first = stride · steps + difference + [−down, up]      steps ≥ 1 in a later iteration, 0 in the same
//! ```
//!
//! where `down` and `up` are what inner counters can contribute. Where it cannot be proved that this is never 0, the second may hit.

use super::affine::Affine;
use super::context::Around;
use crate::{Place, Polynomial, Step, ValueId};

/// An access to memory.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) value: Option<ValueId>,
    pub(super) place: Place,
    /// Position in the order of the program.
    pub(super) at: usize,
    pub(super) around: Around,
    /// Whether it stores one value.
    pub(super) store: bool,
}

/// Whether a write may come later than an access and hit the same place, in the same iteration of the outermost loops.
pub(super) fn may_hit(
    affine: &Affine<'_>,
    first: &Access,
    write: &Access,
    outermost: usize,
) -> bool {
    let (loops, others) = (&first.around.loops, &write.around.loops);
    let common = loops.iter().zip(others).take_while(|(a, b)| a == b).count();
    // Branches that exclude each other, in all iterations of some loops.
    let exclude = |loops: &[ValueId]| {
        first.around.conditions.iter().any(|(condition, holds)| {
            write.around.conditions.contains(&(*condition, !holds))
                && loops.iter().all(|counter| affine.is_invariant(*condition, *counter))
        })
    };
    // In the same iteration of all common loops, a write that stands later in the program.
    if write.at > first.at && !exclude(&[]) && !differ(affine, first, write, common, None) {
        return true;
    }
    // In a later iteration of one of them.
    (outermost..common).any(|level| {
        !exclude(&loops[level..common]) && !differ(affine, first, write, level, Some(loops[level]))
    })
}

/// Whether two accesses hit different places, given that the first `same` loops are in the same
/// iteration, and the next one (if given) is in a later iteration for the write.
fn differ(
    affine: &Affine<'_>,
    read: &Access,
    write: &Access,
    same: usize,
    later: Option<ValueId>,
) -> bool {
    let steps = read.place.path.iter().zip(&write.place.path);
    for (a, b) in steps {
        match (a, b) {
            (Step::Field(a), Step::Field(b)) if a != b => return true,
            (Step::Index(a), Step::Index(b)) => {
                let (a, b) = (affine.of(*a), affine.of(*b));
                let differ = |a: &Polynomial, b: &Polynomial| {
                    indices_differ(affine, (a, read), (b, write), same, later)
                };
                if differ(&a, &b) || in_rows(affine, (&a, read), (&b, write), &differ) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether two indices differ that are places in rows: `row * width + column`, columns less than the width. They differ if the rows do,
/// or the columns.
fn in_rows(
    affine: &Affine<'_>,
    (a, read): (&Polynomial, &Access),
    (b, write): (&Polynomial, &Access),
    differ: &dyn Fn(&Polynomial, &Polynomial) -> bool,
) -> bool {
    let counters = [&read.around.loops, &write.around.loops];
    let mut widths: Vec<ValueId> =
        a.symbols().filter(|symbol| affine.is_natural(*symbol)).collect();
    widths.sort_unstable();
    widths.dedup();
    widths.retain(|width| {
        // The width is the same for both.
        counters
            .iter()
            .all(|loops| loops.iter().all(|c| c != width && affine.is_invariant(*width, *c)))
    });
    widths.into_iter().any(|width| {
        let (Some((row, column)), Some((other_row, other_column))) =
            (a.split(width), b.split(width))
        else {
            return false;
        };
        is_column(affine, &column, width, read)
            && is_column(affine, &other_column, width, write)
            && (differ(&row, &other_row) || differ(&column, &other_column))
    })
}

/// Whether a number is at least 0 and less than a width, while the loops around an access run.
fn is_column(affine: &Affine<'_>, column: &Polynomial, width: ValueId, access: &Access) -> bool {
    let (mut least, mut greatest) = (column.clone(), column.clone());
    for counter in access.around.loops.iter().rev() {
        let (Some(low), Some(high)) =
            (affine.extreme(&least, *counter, false), affine.extreme(&greatest, *counter, true))
        else {
            return false;
        };
        (least, greatest) = (low, high);
    }
    let facts: Vec<Polynomial> = access.around.facts(affine).collect();
    let room = Polynomial::symbol(width).minus(&greatest);
    affine.follows(&least, 0, &facts) && affine.follows(&room, 1, &facts)
}

fn indices_differ(
    affine: &Affine<'_>,
    (read_index, read): (&Polynomial, &Access),
    (write_index, write): (&Polynomial, &Access),
    same: usize,
    later: Option<ValueId>,
) -> bool {
    let mut read_rest = read_index.clone();
    let mut write_rest = write_index.clone();
    let first_free = same + usize::from(later.is_some());
    // What inner counters can add: at least `-down`, at most `up`.
    let (mut down, mut up) = (Polynomial::default(), Polynomial::default());
    for (access, rest, sign_of_read) in
        [(read, &mut read_rest, true), (write, &mut write_rest, false)]
    {
        // Innermost first: the bounds of an inner loop may use outer counters.
        for counter in access.around.loops[first_free..].iter().rev() {
            let Some((factor, without)) = rest.split(*counter) else { return false };
            if factor == Polynomial::default() {
                *rest = without;
                continue;
            }
            let Some(counted) = affine.counted(*counter) else { return false };
            let Some(extent) = &counted.extent else { return false };
            if !is_natural(affine, &factor) {
                return false;
            }
            let span = factor.times(&extent.minus(&Polynomial::number(1)));
            if sign_of_read {
                down = down.plus(&span);
            } else {
                up = up.plus(&span);
            }
            *rest = without.plus(&factor.times(&counted.from));
        }
    }
    let stride = match later {
        None => Polynomial::default(),
        Some(counter) => {
            let (Some((a, read_without)), Some((b, write_without))) =
                (read_rest.split(counter), write_rest.split(counter))
            else {
                return false;
            };
            if a != b {
                // Each moves in its own way: as if they were in any two iterations.
                return indices_differ(
                    affine,
                    (read_index, read),
                    (write_index, write),
                    same,
                    None,
                );
            }
            read_rest = read_without;
            write_rest = write_without;
            match affine.counted(counter) {
                Some(counted) if counted.reversed => Polynomial::default().minus(&a),
                Some(_) => a,
                None => return false,
            }
        }
    };
    let difference = write_rest.minus(&read_rest);
    // The symbols that are left must mean the same for both accesses, also those that cancel.
    let common: &[ValueId] = &read.around.loops[..same];
    let settled =
        |symbol: ValueId| {
            common.contains(&symbol)
                || read.around.loops.iter().chain(&write.around.loops).all(|counter| {
                    common.contains(counter) || affine.is_invariant(symbol, *counter)
                })
        };
    let all = [&read_rest, &write_rest, &stride, &down, &up];
    if !all.into_iter().flat_map(Polynomial::symbols).all(settled) {
        return false;
    }
    // write - read = stride * steps + difference + [-down, up], with steps >= 1 (or 0, in the same iteration).
    if down.as_number() == Some(0)
        && up.as_number() == Some(0)
        && let (Some(stride), Some(difference)) = (stride.as_number(), difference.as_number())
    {
        return match (stride, later) {
            (0, _) | (_, None) => difference != 0,
            (stride, Some(_)) => difference % stride != 0 || -difference / stride < 1,
        };
    }
    let facts = read.around.facts(affine).chain(write.around.facts(affine));
    let facts: Vec<Polynomial> = facts.filter(|fact| fact.symbols().all(settled)).collect();
    let positive = |polynomial: &Polynomial| affine.follows(polynomial, 1, &facts);
    let above = difference.minus(&down);
    let below = Polynomial::default().minus(&difference).minus(&up);
    let grows = affine.is_at_least(&stride, 0) && positive(&stride.plus(&above));
    let opposite = Polynomial::default().minus(&stride);
    let shrinks = affine.is_at_least(&opposite, 0) && positive(&opposite.plus(&below));
    grows || shrinks
}

fn is_natural(affine: &Affine<'_>, polynomial: &Polynomial) -> bool {
    affine.is_at_least(polynomial, 0)
}
