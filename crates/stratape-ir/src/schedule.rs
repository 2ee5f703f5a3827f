//! Schedules: how a lowered loop runs.
//!
//! A schedule changes nothing of *what* a loop computes, up to the rounding of adjoints. It is decided by the lowering passes, checked by the
//! validator, obeyed by the interpreter, and printed by back ends. The clauses are those of OpenMP's loops, and mean the same:
//!
//! - [`Strip`]: the iterations run in strips, one after the other. Memory that is accessed at `stride * i + base` is seen through
//!   [`View`]s, sliced when the strip begins; a view that does not fit panics then. What the iterations of a strip push lies in
//!   one layer of a [`Region`](crate::Region): what iteration `k` of a strip has pushed, iteration `k` of the same strip pops, whatever their order. A loop that ends when
//!   it will can have a region too, and no views; its last layer is as long as it turns out to be.
//! - [`Simd`]: within a strip the iterations run in blocks of `width`, what is left over one by one. A reduction that may be reassociated has
//!   one partial sum for each place in a block, added up pairwise after the last block; an ordered one adds the terms of a block in order
//!   when the block is done. Additions to memory that are *delayed* wait for the end of the block too; those of a
//!   [`Rotation`] go through memory once, what reaches beyond a block is carried to the next.
//! - [`Parts`]: the range is cut into parts that may run at the same time, each on a lane of the tape of its own. Objects are shared, divided by
//!   [`Window`]s, or private: zeros to begin with, added up in the order of the parts. Carried sums start from zero in each part.

use super::{ObjectId, Polynomial, RegionId, ValueId};

/// How a loop runs. Without clauses: one iteration after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Whether it runs in strips.
    pub strip: Option<Strip>,
    /// Whether its strips run in blocks.
    pub simd: Option<Simd>,
    /// Whether it runs in parts.
    pub parts: Option<Parts>,
    /// Not to be unrolled by what comes after the back end.
    pub rolled: bool,
}

/// A loop in strips.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    /// The region that its iterations leave a frame in, or take it from; without one, the loop is one strip.
    pub region: Option<RegionId>,
    /// What happens at the ends of a layer, once that is said.
    pub stream: Option<Stream>,
    /// The slices of memory that its iterations access.
    pub views: Vec<View>,
    /// Objects that are cut in two, so that one side can be written while the other is read.
    pub splits: Vec<Split>,
}

/// What happens at the ends of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// A layer that is full is handed to the tape.
    Out,
    /// A layer is taken from the tape, and the one before it is asked for.
    In,
}

/// A part of an object that iterations of a strip access at `stride * i + base`, and up to `stride - 1` elements beyond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The object, a list.
    pub object: ObjectId,
    /// What is added to `stride * i`.
    pub base: Polynomial,
    /// Elements from one iteration to the next.
    pub stride: i128,
    /// Whether it is written: then every access of the loop to the object, or to its side, goes through it.
    pub mutable: bool,
    /// The side of a split object it looks at.
    pub side: Option<Side>,
}

/// A side of an object that is cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The elements before the cut.
    Low,
    /// The elements from the cut on.
    High,
}

/// An object in two sides that a loop accesses apart from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The object, a list.
    pub object: ObjectId,
    /// What the accesses of one side, the *pivot*, add to the counter. It is the side that is written.
    pub pivot: Polynomial,
    /// Whether the other accesses lie below it.
    pub others_below: bool,
    /// Whether the others are read, and never written; else they are added to, and never read.
    pub others_read: bool,
}

impl Split {
    /// The side the pivot lies in, or the others.
    pub fn side(&self, pivot: bool) -> Side {
        if pivot == self.others_below { Side::High } else { Side::Low }
    }
}

/// A loop in blocks of iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simd {
    /// Iterations in a block.
    pub width: usize,
    /// What its carried values are: one for each, in their order.
    pub reductions: Vec<Reduction>,
    /// Additions to neighbours.
    pub rotations: Vec<Rotation>,
    /// Positions in the body of additions that wait for the end of a block.
    pub delayed: Vec<usize>,
}

impl Simd {
    /// Whether a rotation of the loop goes to memory at the end of a block as a whole: it is of one addition, or others add to the same object.
    pub fn waits(&self, rotation: &Rotation) -> bool {
        let of_it = self.rotations.iter().filter(|other| other.object == rotation.object);
        rotation.additions.len() == 1 || of_it.count() > 1
    }
}

/// A carried sum: `next = inside ± term`, and no other use of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// What an iteration adds.
    pub term: ValueId,
    /// Whether it is subtracted.
    pub subtract: bool,
    /// Whether the order of additions is free.
    pub reassociate: bool,
}

/// Additions to one object at `i + base + distance`, whose pending sums move along with the iterations. One alone waits for the end of its
/// block; of several, that at distance 0 is added at once, the others when the iterations reach their elements. An object may have several
/// rotations, an unknown distance apart: [`Simd::waits`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The object.
    pub object: ObjectId,
    /// What is added to the counter at distance 0.
    pub base: Polynomial,
    /// The additions, the nearest first: their positions in the body, and their distances.
    pub additions: Vec<(usize, usize)>,
}

impl Rotation {
    /// The largest distance.
    pub fn farthest(&self) -> usize {
        self.additions.iter().map(|(_, distance)| *distance).max().unwrap_or(0)
    }
}

/// A loop in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Objects that are divided along with the iterations.
    pub windows: Vec<(ObjectId, Window)>,
    /// Objects that each part but the first has a copy of.
    pub private: Vec<ObjectId>,
}

/// The elements of a list that belong to an iteration `i`: from `stride * i + base` to that of `i + 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// From one iteration to the next.
    pub stride: Polynomial,
    /// Where the window of iteration 0 starts, or would.
    pub base: Polynomial,
}
