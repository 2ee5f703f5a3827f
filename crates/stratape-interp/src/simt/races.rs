//! Races: who accessed a number last, and whether a barrier lies between two accesses.
//!
//! Of every cell that threads share, the last thread that wrote it is remembered, and the last that read it, each with the number of barriers that its block had passed. Two
//! accesses of one block with a barrier between them are in order; those of different blocks never are.

use std::collections::HashMap;

use super::Arg;
use stratape_ir::{Function, ObjectId, Param};

/// An access: which thread, in which block, after how many of the block's barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) lane: u32,
    pub(super) block: u32,
    pub(super) epoch: u32,
}

impl Who {
    /// Whether nothing orders two accesses of different threads.
    fn meets(self, other: Self) -> bool {
        let same = self.lane == other.lane && self.block == other.block;
        !same && (self.block != other.block || self.epoch == other.epoch)
    }
}

/// How a number is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    read: Option<Who>,
    /// Another that read it, if there is one: the one above alone would hide it.
    other: Option<Who>,
    written: Option<(Who, Kind)>,
}

/// What is remembered of the accesses of a launch.
#[derive(Debug, Default)]
pub(super) struct Races {
    objects: HashMap<ObjectId, Vec<Cell>>,
}

impl Races {
    pub(super) fn new(kernel: &Function, args: &[Arg<'_>]) -> Self {
        let mut objects = HashMap::new();
        for (param, arg) in kernel.params.iter().zip(args) {
            if let (Param::Object(object), Arg::Memory(cells)) = (param, arg) {
                objects.insert(*object, vec![Cell::default(); cells.len()]);
            }
        }
        Self { objects }
    }

    /// Forgets what was known of an object of another block.
    pub(super) fn make(&mut self, object: ObjectId, len: usize) {
        self.objects.insert(object, vec![Cell::default(); len]);
    }

    /// Notes an access; the one that it races with, if any.
    pub(super) fn access(
        &mut self,
        object: ObjectId,
        cell: usize,
        who: Who,
        kind: Kind,
    ) -> Option<(Who, Kind)> {
        let cell = self.objects.get_mut(&object)?.get_mut(cell)?;
        let written = cell.written.filter(|(other, before)| {
            who.meets(*other) && !(*before == Kind::Atomic && kind == Kind::Atomic)
        });
        let read = [cell.read, cell.other].into_iter().flatten().find(|other| who.meets(*other));
        let read = read.filter(|_| kind != Kind::Read).map(|other| (other, Kind::Read));
        match kind {
            Kind::Read if cell.read.is_some_and(|known| known != who) => {
                cell.other = cell.read.replace(who);
            }
            Kind::Read => cell.read = Some(who),
            kind => cell.written = Some((who, kind)),
        }
        written.or(read)
    }
}
