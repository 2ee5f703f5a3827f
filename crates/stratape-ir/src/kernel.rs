//! What kernels have beside the rest of the language: thread indices, barriers, atomic operations, and exchanges inside a warp.
//!
//! A [kernel](crate::Function::kernel) is run by every thread of a grid. Its parameters behind references are global memory, the locals in
//! [`Function::shared`](crate::Function::shared) are one for all threads of a block, every other local is one for each thread.

use super::{Block, Function, ObjectId, Origin, Param, Place, SourceId, Stmt, ValueId};

/// A coordinate of a thread, a block or a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as in CUDA")]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// Every axis, in order.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// The position of the axis.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name of the field.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }
}

/// What a thread knows of itself and of its grid. All are `usize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// `thread_idx()`: the thread in its block.
    ThreadIdx(Axis),
    /// `block_idx()`: the block in the grid.
    BlockIdx(Axis),
    /// `block_dim()`: threads of a block.
    BlockDim(Axis),
    /// `grid_dim()`: blocks of the grid.
    GridDim(Axis),
    /// `warp_size()`: threads that run in step.
    WarpSize,
}

impl Builtin {
    /// Every builtin.
    pub fn all() -> impl Iterator<Item = Self> {
        let of = |make: fn(Axis) -> Self| Axis::ALL.into_iter().map(make);
        of(Self::ThreadIdx)
            .chain(of(Self::BlockIdx))
            .chain(of(Self::BlockDim))
            .chain(of(Self::GridDim))
            .chain([Self::WarpSize])
    }

    /// The word in the text form.
    pub fn word(self) -> String {
        match self {
            Self::ThreadIdx(axis) => format!("thread_idx_{}", axis.name()),
            Self::BlockIdx(axis) => format!("block_idx_{}", axis.name()),
            Self::BlockDim(axis) => format!("block_dim_{}", axis.name()),
            Self::GridDim(axis) => format!("grid_dim_{}", axis.name()),
            Self::WarpSize => "warp_size".to_owned(),
        }
    }

    /// The builtin of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::all().find(|one| one.word() == word)
    }

    /// Whether all threads of a block see the same number.
    pub fn is_uniform(self) -> bool {
        !matches!(self, Self::ThreadIdx(_))
    }
}

/// What an atomic operation does to the number in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in CUDA")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
}

impl AtomicOp {
    /// Every operation, with its word in the text form.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Add, "add"), (Self::Min, "min"), (Self::Max, "max")];

    /// The word in the text form.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
    }
}

/// An operation on one number in memory that no other thread comes between.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// What is done.
    pub op: AtomicOp,
    /// Where.
    pub place: Place,
    /// With which number.
    pub value: ValueId,
    /// What the memory held before, if somebody asks. Which thread comes first is not said.
    pub old: Option<ValueId>,
    /// Whether the numbers of a block are combined first, by all its threads together. The place is then the same for all of them.
    pub block: bool,
    /// Whether threads of a warp that come to it together have the same place, so that a device may combine their numbers first.
    pub warp: bool,
}

/// Whose number a thread gets in an exchange inside a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// That of the lane so many above; its own, if there is none.
    Down,
    /// That of the lane so many below; its own, if there is none.
    Up,
    /// That of the lane whose number differs by these bits.
    Xor,
}

impl Exchange {
    /// Every exchange, with its word in the text form.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Down, "down"), (Self::Up, "up"), (Self::Xor, "xor")];

    /// The word in the text form.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
    }
}

/// An exchange of numbers between the threads of a warp, all of which take part.
#[derive(Clone, Debug)]
pub struct Shuffle {
    /// What a thread gets.
    pub value: ValueId,
    /// From whom.
    pub exchange: Exchange,
    /// What it gives.
    pub operand: ValueId,
    /// How many lanes, or which bits: a `usize` below 32, the same for all lanes.
    pub by: ValueId,
}

/// A point that no thread of a block passes before all have come to it.
///
/// What other threads wrote before it is seen after it: for the thread that runs through it, all memory that it shares with others may
/// change there.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// The memory that threads share and write.
    pub places: Vec<Place>,
    /// The source it comes from.
    pub span: SourceId,
}

impl Function {
    /// The parameters of a kernel that threads share and may write.
    pub fn shared_params(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let objects = self.params.iter().filter_map(|param| match param {
            Param::Object(object) => Some(*object),
            Param::Value(_) => None,
        });
        objects.filter(|object| self.objects[object.index()].origin == Origin::RefMut)
    }

    /// Makes every barrier name the memory that threads share where it stands.
    pub fn complete_barriers(&mut self) {
        let mut known: Vec<ObjectId> = self.shared_params().collect();
        let mut body = std::mem::take(&mut self.body);
        self.complete(&mut body, &mut known);
        self.body = body;
    }

    fn complete(&self, block: &mut Block, known: &mut Vec<ObjectId>) {
        for node in block {
            match node {
                Stmt::New { object, .. } if self.shared.contains(object) => known.push(*object),
                Stmt::Barrier(barrier) => {
                    barrier.places = known.iter().map(|object| Place::whole(*object)).collect();
                }
                _ => {}
            }
            for inner in node.blocks_mut() {
                self.complete(inner, known);
            }
        }
    }
}

/// The threads of a warp.
pub const WARP: usize = 32;
