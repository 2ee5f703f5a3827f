//! Schedules: a lowered loop runs as its clauses say, and its body allows it.

mod blocks;
mod parts;
mod strip;

use std::collections::BTreeMap;

use super::Fault;
use crate::analysis::Affine;
use crate::{Function, Loop, Range, RecordId, Stmt, walk};

pub(super) fn check(function: &Function, affine: &Affine<'_>) -> Result<(), Fault> {
    let checker = Checker { function, affine };
    let mut outcome = Ok(());
    let mut lowered = false;
    let mut in_regions: BTreeMap<RecordId, usize> = BTreeMap::new();
    walk(&function.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        if let Some(schedule) = &node.schedule
            && outcome.is_ok()
        {
            lowered |= schedule.strip.is_some();
            let region = schedule.strip.as_ref().and_then(|strip| strip.region);
            region.into_iter().for_each(|record| *in_regions.entry(record).or_default() += 1);
            outcome = checker.repeat(node);
        }
    });
    outcome?;
    let mut outcome = Ok(());
    // What is pushed to a region is popped from one, and the other way round.
    walk(&function.body, &mut |node| {
        if let Stmt::Push { record, .. } | Stmt::Pop { record, .. } = node {
            let claimed = function.records[record.index()].region;
            if lowered && claimed != in_regions.contains_key(record) && outcome.is_ok() {
                outcome =
                    fault(format!("{record:?} lies in a region in one place, not in another"));
            }
        }
    });
    outcome
}

fn fault<T>(message: String) -> Result<T, Fault> {
    Err(Fault::new("schedule", message))
}

struct Checker<'a> {
    function: &'a Function,
    affine: &'a Affine<'a>,
}

impl Checker<'_> {
    fn repeat(&self, node: &Loop) -> Result<(), Fault> {
        let Some(schedule) = &node.schedule else { return Ok(()) };
        let counted = matches!(node.range, Range::UpTo { .. });
        if !counted || node.exit.is_some() || node.trips.is_some() {
            return fault(format!("the loop over {:?} ends when it will", node.counter));
        }
        match (&schedule.strip, &schedule.simd) {
            (Some(strip), None) => self.strip(node, strip)?,
            (Some(strip), Some(simd)) => {
                self.strip(node, strip)?;
                self.simd(node, strip, simd)?;
            }
            (None, Some(_)) => return fault("blocks without strips".to_owned()),
            (None, None) => {}
        }
        schedule.parts.as_ref().map_or(Ok(()), |parts| self.parts(node, parts))
    }
}
