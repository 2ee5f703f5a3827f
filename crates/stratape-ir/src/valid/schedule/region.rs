//! Regions: what is pushed in a loop fits the frames of its region, and nothing lies on something else.

use std::collections::BTreeMap;

use super::{Checker, fault};
use crate::valid::Fault;
use crate::{Block, Loop, Offset, Range, RecordId, RegionId, Stmt, Stream, Strip, walk};

/// The iterations of the loops inside a region's loop, and the arms of branches, that lead to an instance of a record.
#[derive(Clone, Default)]
struct Way(Vec<(usize, Step)>);

/// What a statement, which is known by its position, does on a way.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Iteration(usize),
    Arm(bool),
}

/// The cells of a frame, and by which records they are taken, on which ways.
type Frame = BTreeMap<usize, Vec<(RecordId, Way)>>;

/// More cells than any frame has: beyond, a frame would not be small.
const MOST_CELLS: usize = 1 << 16;

impl Checker<'_> {
    /// Whether a strip does to the tape what its clause says.
    pub(super) fn region(&self, node: &Loop, strip: &Strip) -> Result<(), Fault> {
        let Some(id) = strip.region else {
            return match strip.stream {
                None => Ok(()),
                Some(_) => fault(format!("the loop over {:?} has no layers", node.counter)),
            };
        };
        let region = &self.function.regions[id.index()];
        if region.layer == Some(0) || region.cells == 0 || region.cells > MOST_CELLS {
            return fault(format!("{id:?} holds nothing, or too much: {region:?}"));
        }
        let (mut pushes, mut pops) = (false, false);
        let mut misplaced = None;
        walk(&node.body, &mut |item| match item {
            Stmt::Push { record, .. } | Stmt::Pop { record, .. } => {
                pushes |= matches!(item, Stmt::Push { .. });
                pops |= matches!(item, Stmt::Pop { .. });
                if self.function.region_of(*record) != Some(id) {
                    misplaced = Some(format!("{record:?} does not lie in {id:?}"));
                }
            }
            Stmt::Save { .. } | Stmt::Restore { .. } | Stmt::Refill { .. } | Stmt::Call(_) => {
                misplaced = Some(format!("the tape is used beside {id:?}: {item:?}"));
            }
            Stmt::Loop(inner) => {
                let strip = inner.schedule.as_ref().and_then(|known| known.strip.as_ref());
                if inner.parallel.is_some() || strip.is_some_and(|strip| strip.region.is_some()) {
                    misplaced = Some(format!("{id:?} cannot be around {:?}", inner.counter));
                }
            }
            _ => {}
        });
        if let Some(message) = misplaced {
            return fault(message);
        }
        let stream = if pushes { Stream::Out } else { Stream::In };
        if pushes == pops || strip.stream.is_some_and(|found| found != stream) {
            return fault(format!(
                "the loop over {:?} both fills {id:?} and takes it",
                node.counter
            ));
        }
        self.frame(&node.body, &mut Way::default(), &mut Frame::new(), region.cells)
    }

    /// Whether what a block pushes or pops has room in a frame.
    fn frame(
        &self,
        block: &Block,
        way: &mut Way,
        frame: &mut Frame,
        cells: usize,
    ) -> Result<(), Fault> {
        for (position, item) in block.iter().enumerate() {
            match item {
                Stmt::Push { record, .. } | Stmt::Pop { record, .. } => {
                    self.instance(*record, way, frame, cells)?;
                }
                Stmt::Loop(node) if self.holds_records(&node.body) => {
                    let trips = self.constant_trips(node).filter(|trips| *trips <= cells);
                    let Some(trips) = trips else {
                        return fault(format!("a frame has no room for {:?}", node.counter));
                    };
                    for iteration in 0..trips {
                        way.0.push((position, Step::Iteration(iteration)));
                        let outcome = self.frame(&node.body, way, frame, cells);
                        way.0.pop();
                        outcome?;
                    }
                }
                Stmt::If(node) => {
                    for (arm, block) in [(true, &node.then), (false, &node.other)] {
                        way.0.push((position, Step::Arm(arm)));
                        let outcome = self.frame(block, way, frame, cells);
                        way.0.pop();
                        outcome?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn instance(
        &self,
        record: RecordId,
        way: &Way,
        frame: &mut Frame,
        cells: usize,
    ) -> Result<(), Fault> {
        let known = &self.function.records[record.index()];
        let offset = known.room.as_ref().and_then(|room| room.offset.as_ref());
        // Where the offsets are not decided yet nothing can be wrong with them.
        let Some(offset) = offset else { return Ok(()) };
        let first = offset.cell(&way.iterations());
        let end = first.and_then(|first| first.checked_add(known.types.len()));
        let (Some(first), Some(end)) = (first, end.filter(|end| *end <= cells)) else {
            let Offset { at, steps } = offset;
            return fault(format!("{record:?} at {at}, steps {steps:?}, is not in its frame"));
        };
        for cell in first..end {
            let taken = frame.entry(cell).or_default();
            if let Some((other, _)) = taken.iter().find(|(_, other)| !way.excludes(other)) {
                return fault(format!("{record:?} lies on {other:?}, at {cell}"));
            }
            taken.push((record, way.clone()));
        }
        Ok(())
    }

    /// Whether records with room are pushed to their regions and popped from them, everywhere.
    pub(super) fn regions(&self) -> Result<(), Fault> {
        let mut lowered = false;
        walk(&self.function.body, &mut |item| {
            if let Stmt::Loop(node) = item {
                let schedule = node.schedule.as_ref();
                lowered |= schedule.is_some_and(|schedule| schedule.strip.is_some());
            }
        });
        match lowered {
            true => self.opened(&self.function.body, None),
            false => Ok(()),
        }
    }

    fn opened(&self, block: &Block, open: Option<RegionId>) -> Result<(), Fault> {
        for item in block {
            if let Stmt::Push { record, .. } | Stmt::Pop { record, .. } = item {
                let wanted = self.function.region_of(*record);
                if wanted != open {
                    return fault(format!("{record:?} lies in {wanted:?}, and {open:?} is open"));
                }
            }
            let opens = match item {
                Stmt::Loop(node) => {
                    let strip = node.schedule.as_ref().and_then(|known| known.strip.as_ref());
                    strip.and_then(|strip| strip.region)
                }
                _ => None,
            };
            item.blocks().into_iter().try_for_each(|inner| self.opened(inner, opens.or(open)))?;
        }
        Ok(())
    }

    fn holds_records(&self, block: &Block) -> bool {
        let mut holds = false;
        walk(block, &mut |item| {
            holds |= matches!(item, Stmt::Push { .. } | Stmt::Pop { .. });
        });
        holds
    }

    /// How often a loop runs, if that is the same each time.
    fn constant_trips(&self, node: &Loop) -> Option<usize> {
        let Range::UpTo { from, to } = node.range else { return None };
        if node.exit.is_some() || node.trips.is_some() {
            return None;
        }
        let trips = self.affine.of(to).minus(&self.affine.of(from)).as_number()?;
        usize::try_from(trips.max(0)).ok()
    }
}

impl Way {
    /// Whether no iteration goes both ways: they part at a branch.
    fn excludes(&self, other: &Self) -> bool {
        let parts = self.0.iter().zip(&other.0).find(|(one, other)| one != other);
        parts.is_some_and(|(one, other)| {
            one.0 == other.0 && matches!((one.1, other.1), (Step::Arm(_), Step::Arm(_)))
        })
    }

    fn iterations(&self) -> Vec<usize> {
        let iteration = |(_, step): &(usize, Step)| match step {
            Step::Iteration(number) => Some(*number),
            Step::Arm(_) => None,
        };
        self.0.iter().filter_map(iteration).collect()
    }
}
