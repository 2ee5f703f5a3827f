//! Records: what a push writes to the tape, and how it lies there.

use super::{Float, Room, Scalar, ValueId};

/// What is known of a kind of record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The values that are saved, in the order of its slots.
    pub slots: Vec<ValueId>,
    /// The types of its slots.
    pub types: Vec<Scalar>,
    /// What its slots are stored as where it lies alone, once that is decided.
    pub cell: Option<Cell>,
    /// Where its instances lie, if that is in a region.
    pub room: Option<Room>,
}

impl Record {
    /// A record whose layout is not decided yet.
    pub fn new(slots: Vec<ValueId>, types: Vec<Scalar>) -> Self {
        Self { slots, types, cell: None, room: None }
    }

    /// What its slots are stored as where it lies alone.
    pub fn cell_alone(&self) -> Cell {
        self.cell.unwrap_or_else(|| Cell::of(&self.types))
    }

    /// Bytes that it takes where it lies alone: whole words.
    ///
    /// ```
    /// use stratape_ir::{Cell, Record, Scalar, ValueId};
    ///
    /// let record = Record::new(vec![ValueId(0), ValueId(1)], vec![Scalar::Bool, Scalar::Bool]);
    /// assert_eq!((record.cell_alone(), record.bytes_alone()), (Cell::U8, 8));
    /// ```
    pub fn bytes_alone(&self) -> usize {
        (self.cell_alone().bytes() * self.types.len()).next_multiple_of(8)
    }
}

/// What the slots of a record are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// `u64`: numbers as they are, floats by their bits.
    U64,
    /// `u128`: as `u64`, where a slot is an integer of 128 bits.
    U128,
    /// `u32`
    U32,
    /// `u8`: truth values.
    U8,
}

impl Cell {
    /// The narrowest that holds values of each of the types.
    pub fn of(types: &[Scalar]) -> Self {
        let all = |test: fn(&Scalar) -> bool| types.iter().all(test);
        if all(|ty| *ty == Scalar::Float(Float::F64)) {
            Self::F64
        } else if all(|ty| *ty == Scalar::Float(Float::F32)) {
            Self::F32
        } else if all(|ty| *ty == Scalar::Bool) {
            Self::U8
        } else if all(|ty| match ty {
            Scalar::Bool | Scalar::Float(Float::F32) => true,
            Scalar::Int(int) => int.bits() <= 32,
            _ => false,
        }) {
            Self::U32
        } else if Self::U64.holds(types) {
            Self::U64
        } else {
            Self::U128
        }
    }

    /// Whether it holds values of each of the types, to the bit.
    pub fn holds(self, types: &[Scalar]) -> bool {
        types.iter().all(|ty| match (self, ty) {
            (Self::F64, ty) => *ty == Scalar::Float(Float::F64),
            (Self::F32, ty) => *ty == Scalar::Float(Float::F32),
            (Self::U64, Scalar::Int(int)) => int.bits() <= 64,
            (Self::U64 | Self::U128, _) => true,
            (Self::U32, Scalar::Int(int)) => int.bits() <= 32,
            (Self::U32, ty) => matches!(ty, Scalar::Bool | Scalar::Float(Float::F32)),
            (Self::U8, ty) => *ty == Scalar::Bool,
        })
    }

    /// Its size.
    pub fn bytes(self) -> usize {
        match self {
            Self::U128 => 16,
            Self::F64 | Self::U64 => 8,
            Self::F32 | Self::U32 => 4,
            Self::U8 => 1,
        }
    }

    /// The cell with a name in Rust.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::F64, Self::F32, Self::U128, Self::U64, Self::U32, Self::U8];
        all.into_iter().find(|cell| cell.name() == name)
    }

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::U128 => "u128",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U8 => "u8",
        }
    }
}
