//! Schedules: a lowered loop runs as its clauses say, and its body allows it.

mod blocks;
mod parts;
mod region;
mod strip;

use super::Fault;
use crate::analysis::Affine;
use crate::{Function, Loop, Range, Schedule, Stmt, walk};

pub(super) fn check(function: &Function, affine: &Affine<'_>) -> Result<(), Fault> {
    let checker = Checker { function, affine };
    let mut outcome = Ok(());
    walk(&function.body, &mut |node| {
        let Stmt::Loop(node) = node else { return };
        if let Some(schedule) = &node.schedule
            && outcome.is_ok()
        {
            outcome = checker.repeat(node, schedule);
        }
    });
    outcome?;
    checker.regions()
}

fn fault<T>(message: String) -> Result<T, Fault> {
    Err(Fault::new("schedule", message))
}

struct Checker<'a> {
    function: &'a Function,
    affine: &'a Affine<'a>,
}

impl Checker<'_> {
    fn repeat(&self, node: &Loop, schedule: &Schedule) -> Result<(), Fault> {
        let counted = matches!(node.range, Range::UpTo { .. });
        if !counted || node.exit.is_some() || node.trips.is_some() {
            // All that such a loop can have is a region.
            let Schedule { strip, simd, parts, rolled: _ } = schedule;
            let plain = simd.is_none() && parts.is_none() && !node.reversed;
            return match strip {
                Some(strip) if plain && strip.views.is_empty() && strip.splits.is_empty() => {
                    self.region(node, strip)
                }
                _ => fault(format!("the loop over {:?} ends when it will", node.counter)),
            };
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
