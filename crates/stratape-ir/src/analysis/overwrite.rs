//! Overwriting: whether one access to memory may come later than another and hit the same place.
//!
//! It comes later in the same iteration of all loops around both, or in a later iteration of one of them. For each of these cases the indices are
//! compared as [polynomials](super::Affine), with the facts of the loops and branches around them:
//!
//! ```text
//! second − first = gain · steps + difference      steps ≥ 1 in a later iteration, 0 in the same
//! ```
//!
//! where the difference is at least that of the extremes which inner counters reach. Where it cannot be proved that this is never 0, the second
//! may hit.

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
    let Some((least, greatest)) = affine.extremes(column, &access.around.loops) else {
        return false;
    };
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
    let first_free = same + usize::from(later.is_some());
    let (Some((read_least, read_greatest)), Some((write_least, write_greatest))) = (
        affine.extremes(read_index, &read.around.loops[first_free..]),
        affine.extremes(write_index, &write.around.loops[first_free..]),
    ) else {
        return false;
    };
    // What the write gains with each iteration that it is later. The counter stands for the iteration of the first.
    let gain = |polynomial: &Polynomial| match later {
        None => Some(Polynomial::default()),
        Some(counter) => {
            let (factor, _) = polynomial.split(counter)?;
            match affine.counted(counter)?.reversed {
                true => Some(Polynomial::default().minus(&factor)),
                false => Some(factor),
            }
        }
    };
    let (Some(slowest), Some(fastest)) = (gain(&write_least), gain(&write_greatest)) else {
        return false;
    };
    // The symbols that are left must mean the same for both accesses, also those that cancel.
    let common: &[ValueId] = &read.around.loops[..same];
    let settled =
        |symbol: ValueId| {
            common.contains(&symbol)
                || read.around.loops.iter().chain(&write.around.loops).all(|counter| {
                    common.contains(counter) || affine.is_invariant(symbol, *counter)
                })
        };
    let known = |symbol: ValueId| Some(symbol) == later || settled(symbol);
    let all = [&read_least, &read_greatest, &write_least, &write_greatest, &slowest, &fastest];
    if !all.into_iter().flat_map(Polynomial::symbols).all(known) {
        return false;
    }
    // write - read = gain * steps + difference, with steps >= 1 (or 0, in the same iteration).
    let above = write_least.minus(&read_greatest);
    let below = read_least.minus(&write_greatest);
    if read_least == read_greatest
        && write_least == write_greatest
        && let (Some(stride), Some(difference)) = (slowest.as_number(), above.as_number())
    {
        return match (stride, later) {
            (0, _) | (_, None) => difference != 0,
            (stride, Some(_)) => difference % stride != 0 || -difference / stride < 1,
        };
    }
    let of_read = read.around.facts(affine).filter(|fact| fact.symbols().all(known));
    let of_write = write.around.facts(affine).filter(|fact| fact.symbols().all(settled));
    let last = later.and_then(|counter| {
        Some(affine.counted(counter)?.last()?.minus(&Polynomial::symbol(counter)))
    });
    let last = last.filter(|fact| fact.symbols().all(known));
    let facts: Vec<Polynomial> = of_read.chain(of_write).chain(last).collect();
    let positive = |polynomial: &Polynomial| affine.follows(polynomial, 1, &facts);
    let opposite = Polynomial::default().minus(&fastest);
    let grows = affine.is_at_least(&slowest, 0) && positive(&slowest.plus(&above));
    let shrinks = affine.is_at_least(&opposite, 0) && positive(&opposite.plus(&below));
    grows || shrinks
}
