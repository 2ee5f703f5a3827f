//! Regions: what the iterations of a loop save, side by side.
//!
//! An iteration of a loop with a region leaves one *frame*: room for all records that are pushed in it, those of short inner loops and of branches
//! included. A record knows where in the frame it lies; inside the loop an access to the tape is the frame's place plus a constant, plus a constant
//! for each iteration of the inner loops around it. Frames are handed to the tape many at once: a *layer*.

use super::{Cell, RegionId};

/// The frames of a loop's iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What all slots are stored as.
    pub cell: Cell,
    /// Cells of a frame.
    pub cells: usize,
    /// How the frames of a layer lie.
    pub layout: Layout,
    /// The most frames in a layer, which are on the way at once; as many as the tape finds good, if `None`.
    pub layer: Option<usize>,
}

/// How the frames of a layer lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One frame after the other: an array of structs.
    #[default]
    Frames,
    /// One cell of all frames after the other: a struct of arrays.
    Columns,
}

/// Where the instances of a record lie: in the frames of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The region.
    pub region: RegionId,
    /// Where in a frame, once that is decided.
    pub offset: Option<Offset>,
}

/// A place in a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// The first cell.
    pub at: usize,
    /// Cells from one iteration to the next, for each of the loops between the region's loop and the record, outermost first.
    pub steps: Vec<usize>,
}

impl Offset {
    /// The first cell of the instance that some iterations of the inner loops leave, which are counted from 0.
    ///
    /// ```
    /// use stratape_ir::Offset;
    ///
    /// let offset = Offset { at: 1, steps: vec![6, 2] };
    /// assert_eq!(offset.cell(&[2, 1]), Some(1 + 2 * 6 + 2));
    /// assert_eq!(offset.cell(&[2]), None);
    /// ```
    pub fn cell(&self, iterations: &[usize]) -> Option<usize> {
        if iterations.len() != self.steps.len() {
            return None;
        }
        self.steps.iter().zip(iterations).try_fold(self.at, |cell, (step, iteration)| {
            cell.checked_add(step.checked_mul(*iteration)?)
        })
    }
}

impl Region {
    /// Bytes of a frame.
    ///
    /// ```
    /// use stratape_ir::{Cell, Layout, Region};
    ///
    /// let region = Region { cell: Cell::F64, cells: 3, layout: Layout::Frames, layer: None };
    /// assert_eq!(region.frame_bytes(), 24);
    /// ```
    pub fn frame_bytes(&self) -> usize {
        self.cell.bytes() * self.cells
    }
}
