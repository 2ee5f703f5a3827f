//! Frames: what one iteration of a loop leaves on the tape, as a tree of records, short loops and branches.

use std::collections::{BTreeMap, HashMap};

use super::regions::is_short;
use crate::driver::Target;
use crate::transform::{integers, trips};
use stratape_ir::{
    Block, Cell, Function, Half, Loop, Offset, Range, RecordId, Scalar, Stmt, ValueId, walk,
};

/// Why a short loop has no frames: those around it may have room for what it saves.
pub(crate) const SHORT: &str = "it runs a few times";

/// A part of a frame.
#[derive(Debug)]
enum Piece {
    Record(RecordId),
    /// As often as the loop runs.
    Loop(usize, Vec<Piece>),
    /// One or the other.
    Branch(Vec<Piece>, Vec<Piece>),
}

/// What an iteration leaves on the tape, or takes from there.
#[derive(Debug)]
pub(crate) struct Frame {
    /// In the order in which the backward half uses them.
    pieces: Vec<Piece>,
    /// Whether it is left or taken.
    pub(crate) half: Half,
    /// Its cells.
    pub(crate) cells: usize,
    /// What all slots are stored as.
    pub(crate) cell: Cell,
    /// Whether the loop's number of iterations is known when it begins.
    pub(crate) counted: bool,
}

/// Finds the frames of a function's loops.
pub(crate) struct Frames<'a> {
    function: &'a Function,
    integers: HashMap<ValueId, i128>,
    target: &'a Target,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(function: &'a Function, target: &'a Target) -> Self {
        Self { function, integers: integers(&function.body), target }
    }

    /// All loops whose iterations leave frames.
    pub(crate) fn all(&self) -> Vec<Frame> {
        let mut found = Vec::new();
        walk(&self.function.body, &mut |item| {
            if let Stmt::Loop(node) = item {
                found.extend(self.of(node).ok());
            }
        });
        found
    }

    /// The frame of a loop, or why it has none: `None` if there is nothing to say, because it leaves nothing or is not the loop to ask.
    pub(crate) fn of(&self, node: &Loop) -> Result<Frame, Option<&'static str>> {
        let (pushes, pops) = halves(&node.body);
        if pushes == pops {
            return Err(None);
        }
        if is_short(node, &self.integers, self.target) {
            return Err(Some(SHORT));
        }
        let counted = is_counted(node);
        if pops && !counted {
            return Err(None);
        }
        // Its frames would lie in the order in which they are filled, which is not that of the range.
        if !counted && node.reversed {
            return Err(Some("it runs downwards, and ends when it will"));
        }
        let mut beside = None;
        walk(&node.body, &mut |item| match item {
            Stmt::Call(_) => beside = Some("it calls a function that may use the tape"),
            Stmt::Save { .. } | Stmt::Restore { .. } | Stmt::Refill { .. } => {
                beside = Some("it saves copies of lists");
            }
            // A loop in parts asks for what strips around it have viewed.
            Stmt::Loop(inner) if inner.parallel.is_some() => {
                beside = Some("it is around a parallel loop");
            }
            _ => {}
        });
        if beside.is_some() {
            return Err(beside);
        }
        let mut pieces = self.pieces(&node.body)?;
        if pushes {
            turn(&mut pieces);
        }
        let (certain, cells) = self.size(&pieces);
        if cells == 0 {
            return Err(None);
        }
        let plain = matches!(pieces[..], [Piece::Record(_)]);
        if !plain && cells > self.target.frame_cells {
            return Err(Some("an iteration saves too much for a frame"));
        }
        if cells > 2 * certain {
            return Err(Some("most of what an iteration may save is in branches"));
        }
        let mut types: Vec<Scalar> = Vec::new();
        let records = records(&pieces);
        for (position, record) in records.iter().enumerate() {
            if records[..position].contains(record) {
                return Err(Some("a record is pushed in two places"));
            }
            types.extend(&self.function.records[record.index()].types);
        }
        let half = if pushes { Half::Forward } else { Half::Backward };
        Ok(Frame { pieces, half, cells, cell: Cell::of(&types), counted })
    }

    fn pieces(&self, block: &Block) -> Result<Vec<Piece>, Option<&'static str>> {
        let mut pieces = Vec::new();
        for item in block {
            match item {
                Stmt::Push { record, .. } | Stmt::Pop { record, .. } => {
                    pieces.push(Piece::Record(*record));
                }
                Stmt::Loop(node) if halves(&node.body) != (false, false) => {
                    let trips = trips(&self.integers, &node.range).filter(|_| is_counted(node));
                    let Some(trips) = trips else {
                        return Err(Some("an inner loop saves too, and runs as often as it will"));
                    };
                    if !is_short(node, &self.integers, self.target) {
                        // The inner loop has frames of its own.
                        return Err(Some("an inner loop saves too, and is long"));
                    }
                    pieces.push(Piece::Loop(trips.max(0) as usize, self.pieces(&node.body)?));
                }
                Stmt::If(node) => {
                    let (then, other) = (self.pieces(&node.then)?, self.pieces(&node.other)?);
                    if !(then.is_empty() && other.is_empty()) {
                        pieces.push(Piece::Branch(then, other));
                    }
                }
                _ => {}
            }
        }
        Ok(pieces)
    }

    /// Cells that are surely filled, and cells there are.
    fn size(&self, pieces: &[Piece]) -> (usize, usize) {
        let (mut certain, mut cells) = (0_usize, 0_usize);
        for piece in pieces {
            let (surely, at_most) = match piece {
                Piece::Record(record) => {
                    let slots = self.function.records[record.index()].types.len();
                    (slots, slots)
                }
                Piece::Loop(trips, inner) => {
                    let (surely, at_most) = self.size(inner);
                    (surely.saturating_mul(*trips), at_most.saturating_mul(*trips))
                }
                Piece::Branch(then, other) => {
                    let (then, other) = (self.size(then), self.size(other));
                    (then.0.min(other.0), then.1.max(other.1))
                }
            };
            certain = certain.saturating_add(surely);
            cells = cells.saturating_add(at_most);
        }
        (certain, cells)
    }

    /// Where the records of a frame lie: in the order of their use, the arms of a branch in the same place.
    pub(crate) fn offsets(&self, frame: &Frame) -> BTreeMap<RecordId, Offset> {
        let mut offsets = BTreeMap::new();
        self.lay(&frame.pieces, 0, &mut Vec::new(), &mut offsets);
        offsets
    }

    fn lay(
        &self,
        pieces: &[Piece],
        mut at: usize,
        steps: &mut Vec<usize>,
        offsets: &mut BTreeMap<RecordId, Offset>,
    ) {
        for piece in pieces {
            match piece {
                Piece::Record(record) => {
                    offsets.insert(*record, Offset { at, steps: steps.clone() });
                }
                Piece::Loop(_, inner) => {
                    steps.push(self.size(inner).1);
                    self.lay(inner, at, steps, offsets);
                    steps.pop();
                }
                Piece::Branch(then, other) => {
                    self.lay(then, at, steps, offsets);
                    self.lay(other, at, steps, offsets);
                }
            }
            at += self.size(std::slice::from_ref(piece)).1;
        }
    }
}

impl Frame {
    /// Its records, in the order of their use.
    pub(crate) fn records(&self) -> Vec<RecordId> {
        records(&self.pieces)
    }
}

/// Whether a loop's number of iterations is known when it begins.
pub(crate) fn is_counted(node: &Loop) -> bool {
    node.exit.is_none() && node.trips.is_none() && matches!(node.range, Range::UpTo { .. })
}

/// Whether a block pushes, and whether it pops.
fn halves(block: &Block) -> (bool, bool) {
    let (mut pushes, mut pops) = (false, false);
    walk(block, &mut |item| {
        pushes |= matches!(item, Stmt::Push { .. });
        pops |= matches!(item, Stmt::Pop { .. });
    });
    (pushes, pops)
}

/// From the order in which things are pushed to that in which they are popped.
fn turn(pieces: &mut Vec<Piece>) {
    pieces.reverse();
    for piece in pieces {
        match piece {
            Piece::Record(_) => {}
            Piece::Loop(_, inner) => turn(inner),
            Piece::Branch(then, other) => {
                turn(then);
                turn(other);
            }
        }
    }
}

fn records(pieces: &[Piece]) -> Vec<RecordId> {
    let mut found = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Record(record) => found.push(*record),
            Piece::Loop(_, inner) => found.extend(records(inner)),
            Piece::Branch(then, other) => {
                found.extend(records(then));
                found.extend(records(other));
            }
        }
    }
    found
}
