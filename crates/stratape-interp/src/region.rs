//! Regions of the tape: layers that are filled and taken, frame by frame.
//!
//! That records lie apart from each other, and in their frames, is checked as they are written.

use super::machine::{Entry, Iteration, Machine};
use super::{Datum, Number, Observer, Trap, fault};
use stratape_ir::{Half, Loop, RecordId, RegionId};

/// A record in a frame.
#[derive(Clone)]
struct Saved<N> {
    record: RecordId,
    /// The places of the iterations of inner loops that left it.
    inner: Vec<usize>,
    /// Its first cell, and the one behind its last, if that is decided.
    cells: Option<(usize, usize)>,
    iterations: Vec<Iteration>,
    values: Vec<Datum<N>>,
}

/// What an iteration leaves.
type Frame<N> = Vec<Saved<N>>;

/// A layer on the tape.
#[derive(Clone)]
pub(super) struct Frames<N> {
    region: RegionId,
    frames: Vec<Frame<N>>,
}

/// A layer that is being filled or taken.
pub(super) struct Open<N> {
    region: RegionId,
    frames: Vec<Frame<N>>,
    /// The frame of the iteration that is being run.
    at: usize,
    /// Loops around the region's iterations, its own included.
    depth: usize,
}

impl<N: Number, O: Observer> Machine<'_, N, O> {
    /// Opens a layer for the next iterations of a loop, `left` at most, to be filled or taken. Returns how many it has room for.
    pub(super) fn open_layer(
        &mut self,
        node: &Loop,
        region: RegionId,
        left: i128,
    ) -> Result<i128, Trap> {
        let frames = match half(node) {
            Half::Forward => {
                vec![Frame::new(); left.min(self.most_frames(region) as i128) as usize]
            }
            Half::Backward => match self.tape.pop() {
                Some((None, _, Entry::Layer(layer))) if layer.region == region => {
                    self.tell_layer(region, layer.frames.len(), Half::Backward);
                    layer.frames
                }
                other => {
                    let found = other.and_then(|(found, ..)| found);
                    return fault(format!("a layer of {region:?} is taken where {found:?} lies"));
                }
            },
        };
        let count = frames.len() as i128;
        if count > left || count == 0 {
            return fault(format!("a layer of {count} frames of {region:?} for {left} iterations"));
        }
        self.open = Some(Open { region, frames, at: 0, depth: self.iterations.len() + 1 });
        Ok(count)
    }

    /// Hands a layer that is full to the tape, or sees that one was taken to the last record.
    pub(super) fn close_layer(&mut self, node: &Loop) -> Result<(), Trap> {
        let Some(Open { region, frames, .. }) = self.open.take() else { return Ok(()) };
        match half(node) {
            Half::Forward => {
                self.tell_layer(region, frames.len(), Half::Forward);
                self.tape.push((None, Vec::new(), Entry::Layer(Frames { region, frames })));
                Ok(())
            }
            Half::Backward => match frames.iter().flatten().next() {
                None => Ok(()),
                Some(left) => fault(format!("{:?} of {region:?} is not popped", left.record)),
            },
        }
    }

    /// Makes room for one more iteration of a loop that ends when it will.
    pub(super) fn next_frame(&mut self, node: &Loop, region: RegionId) -> Result<(), Trap> {
        let most = self.most_frames(region);
        if self.open.as_ref().is_some_and(|open| open.frames.len() == most) {
            self.close_layer(node)?;
        }
        let depth = self.iterations.len() + 1;
        let open =
            self.open.get_or_insert_with(|| Open { region, frames: Vec::new(), at: 0, depth });
        open.at = open.frames.len();
        open.frames.push(Frame::new());
        Ok(())
    }

    /// The iteration of a strip that is run next.
    pub(super) fn enter_frame(&mut self, k: i128) {
        if let Some(open) = &mut self.open {
            open.at = k as usize;
        }
    }

    fn most_frames(&self, region: RegionId) -> usize {
        let layer = self.function.regions.get(region.index()).and_then(|known| known.layer);
        self.options.strip.min(layer.unwrap_or(usize::MAX)).max(1)
    }

    /// The iterations of the loops inside the region's, and the cells that a record of theirs takes.
    #[expect(clippy::type_complexity, reason = "a place and an interval")]
    fn place_in_frame(
        &self,
        record: RecordId,
        open: &Open<N>,
    ) -> Result<(Vec<usize>, Option<(usize, usize)>), Trap> {
        let known = self.function.records.get(record.index());
        let Some((known, room)) = known.and_then(|known| Some((known, known.room.as_ref()?)))
        else {
            return fault(format!("{record:?} has no room in {:?}", open.region));
        };
        if room.region != open.region {
            return fault(format!(
                "{record:?} lies in {:?}, not in {:?}",
                room.region, open.region
            ));
        }
        let inner = self.iterations.get(open.depth..).unwrap_or_default();
        let inner: Vec<usize> = inner.iter().map(|iteration| iteration.place as usize).collect();
        let Some(offset) = &room.offset else { return Ok((inner, None)) };
        let cells = offset.cell(&inner).map(|first| (first, first + known.types.len()));
        let region = &self.function.regions[open.region.index()];
        match cells {
            Some((_, end)) if end <= region.cells => Ok((inner, cells)),
            _ => fault(format!("{record:?} at {cells:?} is not in its frame")),
        }
    }

    /// Writes a record to the frame of the iteration.
    pub(super) fn fill(&mut self, record: RecordId, values: Vec<Datum<N>>) -> Result<(), Trap> {
        let Some(open) = &self.open else { return fault("no layer is open") };
        let (inner, cells) = self.place_in_frame(record, open)?;
        let iterations = self.iterations.clone();
        let saved = Saved { record, inner, cells, iterations, values };
        let Some(open) = &mut self.open else { return fault("no layer is open") };
        let frame = &mut open.frames[open.at];
        let on = frame.iter().find(|other| match (other.cells, cells) {
            (Some((from, to)), Some((first, end))) => from < end && first < to,
            _ => (other.record, &other.inner) == (record, &saved.inner),
        });
        if let Some(other) = on {
            return fault(format!("{record:?} is pushed on {:?}", other.record));
        }
        frame.push(saved);
        Ok(())
    }

    /// Takes a record from the frame of the iteration.
    pub(super) fn take_out(
        &mut self,
        record: RecordId,
    ) -> Result<(Vec<Iteration>, Vec<Datum<N>>), Trap> {
        let Some(open) = &self.open else { return fault("no layer is open") };
        let (inner, _) = self.place_in_frame(record, open)?;
        let Some(open) = &mut self.open else { return fault("no layer is open") };
        let frame = &mut open.frames[open.at];
        let found = frame.iter().position(|saved| (saved.record, &saved.inner) == (record, &inner));
        match found {
            Some(position) => {
                let saved = frame.swap_remove(position);
                Ok((saved.iterations, saved.values))
            }
            None => fault(format!("{record:?} is popped, and was not pushed")),
        }
    }
}

/// Whether a loop fills layers or takes them.
fn half(node: &Loop) -> Half {
    match node.body.iter().any(|item| item.uses_tape(Half::Forward)) {
        true => Half::Forward,
        false => Half::Backward,
    }
}
