//! Access groups: the accesses of a loop to one object, grouped by what is added to the counter, and whether the object can be split between them.
//!
//! `u[(t + 1) * n + i] = u[t * n + i - 1] + u[t * n + i]` accesses one array in three groups. If one group, the
//! *pivot*, lies wholly above or below the others, the array can be split between them: what is written to the pivot
//! is not seen by the others.

use super::affine::Affine;
use crate::Polynomial;
use crate::{Check, Loop, ObjectId, Op, Place, Scalar, Split, Step, Stmt, ValueId, walk};

#[derive(Default)]
struct Group {
    base: Polynomial,
    loads: bool,
    stores: bool,
    additions: bool,
}

impl Split {
    /// How a loop's accesses to an object can be split.
    pub fn find(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> Option<Self> {
        let mut groups: Vec<Group> = Vec::new();
        let mut fits = true;
        walk(&node.body, &mut |item| {
            let (place, loads, stores, additions) = match item {
                Stmt::Let { op: Op::Load(place), .. } => (place, true, false, false),
                Stmt::Store { place, .. } => (place, false, true, false),
                Stmt::Accumulate { place, .. } => (place, false, false, true),
                Stmt::Let { op: Op::Len(place), .. } => {
                    fits &= place.object != object;
                    return;
                }
                item => {
                    fits &= !item.uses_whole(object);
                    return;
                }
            };
            if place.object != object {
                return;
            }
            let Some(base) = offset(affine, node, place) else {
                fits = false;
                return;
            };
            if !groups.iter().any(|group| group.base == base) {
                groups.push(Group { base: base.clone(), ..Group::default() });
            }
            if let Some(group) = groups.iter_mut().find(|group| group.base == base) {
                group.loads |= loads;
                group.stores |= stores;
                group.additions |= additions;
            }
        });
        if !fits || groups.len() < 2 {
            return None;
        }
        // The one that is written; else the only one that is added to; else the only one that is not.
        let writes = |group: &Group| group.stores || (group.additions && group.loads);
        let pivot = if groups.iter().any(writes) {
            only(&groups, writes)?
        } else {
            only(&groups, |group| group.additions).or_else(|| only(&groups, |group| group.loads))?
        };
        let others = || groups.iter().filter(|group| group.base != pivot.base);
        let others_read = others().all(|group| group.loads && !group.additions);
        let others_added = others().all(|group| group.additions && !group.loads);
        let extent = affine.counted(node.counter)?.extent.clone()?;
        let below = others()
            .all(|group| affine.is_at_least(&pivot.base.minus(&group.base).minus(&extent), 0));
        let above = others()
            .all(|group| affine.is_at_least(&group.base.minus(&pivot.base).minus(&extent), 0));
        if !(others_read || others_added) || !(below || above) {
            return None;
        }
        Some(Self { object, pivot: pivot.base.clone(), others_below: below, others_read })
    }
}

/// The group that is like that, if there is just one.
fn only(groups: &[Group], fits: impl Fn(&Group) -> bool) -> Option<&Group> {
    let mut found = groups.iter().filter(|group| fits(group));
    found.next().filter(|_| found.next().is_none())
}

/// A list's first index as `stride * counter + base`, the base being the same in all iterations.
pub fn strided(affine: &Affine<'_>, counter: ValueId, place: &Place) -> Option<(i128, Polynomial)> {
    let Some(Step::Index(index)) = place.path.first() else { return None };
    let (factor, base) = affine.of(*index).split(counter)?;
    let fixed = base.symbols().all(|symbol| affine.is_invariant(symbol, counter));
    factor.as_number().filter(|_| fixed).map(|stride| (stride, base))
}

/// What a check of a loop's body asks of a whole strip of iterations: `counter + base < len`, the base and the length being the same in all of
/// them. Then it can be asked before the first.
pub fn asked_first(
    affine: &Affine<'_>,
    counter: ValueId,
    check: &Check,
) -> Option<(Polynomial, ValueId)> {
    let Check::Bounds { index, len } = check else { return None };
    let (factor, base) = affine.of(*index).split(counter)?;
    let fixed = base.symbols().all(|symbol| {
        affine.is_invariant(symbol, counter) && affine.function().ty(symbol) == Scalar::USIZE
    });
    let whole = factor.as_number() == Some(1) && affine.is_invariant(*len, counter);
    (fixed && whole).then_some((base, *len))
}

/// Whether a loop has checks that cannot all be asked before its first iteration: of another form, inside a branch or a loop, or beside a call, which
/// may print something before the check fails.
pub fn checks_later(affine: &Affine<'_>, node: &Loop) -> bool {
    let (mut asked, mut others, mut calls) = (0, 0, false);
    for item in &node.body {
        if let Stmt::Check { check, .. } = item
            && asked_first(affine, node.counter, check).is_some()
        {
            asked += 1;
        }
    }
    walk(&node.body, &mut |item| {
        others += usize::from(matches!(item, Stmt::Check { .. }));
        calls |= matches!(item, Stmt::Call(_));
    });
    others > asked || (calls && others > 0)
}

/// What is added to the counter in a place's only index.
fn offset(affine: &Affine<'_>, node: &Loop, place: &Place) -> Option<Polynomial> {
    match strided(affine, node.counter, place) {
        Some((1, base)) if place.path.len() == 1 => Some(base),
        _ => None,
    }
}

/// Whether no element of an object is added to by two iterations of a loop, so that each is summed in its own order.
pub fn keeps_sums(affine: &Affine<'_>, node: &Loop, object: ObjectId) -> bool {
    let Some(extent) = affine.counted(node.counter).and_then(|counted| counted.extent.clone())
    else {
        return false;
    };
    let mut found: Vec<(i128, Polynomial)> = Vec::new();
    for item in &node.body {
        let Stmt::Accumulate { place, .. } = item else { continue };
        if place.object == object {
            match strided(affine, node.counter, place) {
                Some((stride, base)) if stride > 0 => found.push((stride, base)),
                _ => return false,
            }
        }
    }
    let Some((stride, _)) = found.first().cloned() else { return true };
    let reach = extent.times(&Polynomial::number(stride));
    let apart = |a: &Polynomial, b: &Polynomial| affine.is_at_least(&a.minus(b).minus(&reach), 0);
    let between = |a: &Polynomial, b: &Polynomial| {
        a.minus(b).as_number().is_some_and(|distance| distance % stride != 0)
    };
    let meet =
        |a: &Polynomial, b: &Polynomial| a != b && !apart(a, b) && !apart(b, a) && !between(a, b);
    found.iter().all(|(other, a)| *other == stride && found.iter().all(|(_, b)| !meet(a, b)))
}
