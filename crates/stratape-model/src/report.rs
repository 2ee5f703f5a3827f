//! [`Report`]: what a run cost.

mod numbers;
mod show;

use std::ops::{Index, IndexMut};

use crate::lifetimes::Lifetimes;

/// What a piece of memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Data {
    /// Arguments, which are only read.
    Input,
    /// Results.
    Output,
    /// Arrays of the function's own.
    Local,
    /// Adjoints.
    Adjoint,
    /// Values that the forward pass saves for the reverse pass.
    Tape,
}

impl Data {
    /// Every class, in the order of [`PassReport::traffic`].
    pub const ALL: [Self; 5] = [Self::Input, Self::Output, Self::Local, Self::Adjoint, Self::Tape];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Local => "local",
            Self::Adjoint => "adjoint",
            Self::Tape => "tape",
        }
    }
}

/// The part of a gradient that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// Computes values and writes the tape.
    Forward,
    /// Computes adjoints and reads the tape.
    Reverse,
}

/// What happened to one class of data in one pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Loads; one that touches two lines or words counts twice, here and below.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Accesses that the cache answered.
    pub hits: u64,
    /// Accesses for which the cache fetched a line.
    pub misses: u64,
    /// Accesses to the scratchpad.
    pub scratchpad: u64,
    /// Lines read from DRAM, by the cache or a stream.
    pub lines_read: u64,
    /// Lines written to DRAM, by the cache or a stream.
    pub lines_written: u64,
}

impl Traffic {
    /// Loads and stores.
    pub fn accesses(&self) -> u64 {
        self.loads + self.stores
    }

    /// Lines read and written.
    pub fn lines(&self) -> u64 {
        self.lines_read + self.lines_written
    }

    fn add(&mut self, other: &Self) {
        self.loads += other.loads;
        self.stores += other.stores;
        self.hits += other.hits;
        self.misses += other.misses;
        self.scratchpad += other.scratchpad;
        self.lines_read += other.lines_read;
        self.lines_written += other.lines_written;
    }
}

/// The cycles of a pass by what held the program up. They add up to [`PassReport::cycles`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Lines on their way from DRAM.
    pub dram: u64,
    /// No port of the cache was free.
    pub ports: u64,
    /// The bank of the scratchpad was in use.
    pub banks: u64,
    /// A layer was not there yet, or the one before not yet gone.
    pub streams: u64,
    /// No issue slot or no functional unit was free.
    pub issue: u64,
    /// The rest: operations that ran, one after the other.
    pub dependence: u64,
}

impl Stalls {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.dram + self.ports + self.banks + self.streams + self.issue + self.dependence
    }
}

/// What one pass cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassReport {
    /// Cycles.
    pub cycles: u64,
    /// Computations, in the order of [`Unit::ALL`](crate::Unit::ALL).
    pub operations: [u64; 6],
    /// What happened to each class of data, in the order of [`Data::ALL`]; see also [`PassReport::of`].
    pub traffic: [Traffic; 5],
    /// What the cycles went to.
    pub stalls: Stalls,
    /// Layers.
    pub layers: u64,
    /// Layers of more than [`Machine::layer_bytes`](crate::Machine::layer_bytes): no hardware could run these.
    pub oversized_layers: u64,
}

impl PassReport {
    /// What happened to one class of data.
    pub fn of(&self, data: Data) -> &Traffic {
        &self.traffic[data as usize]
    }

    pub(crate) fn of_mut(&mut self, data: Data) -> &mut Traffic {
        &mut self.traffic[data as usize]
    }

    /// What happened to all data.
    pub fn all(&self) -> Traffic {
        let mut sum = Traffic::default();
        self.traffic.iter().for_each(|traffic| sum.add(traffic));
        sum
    }
}

/// What a run cost.
///
/// ```
/// use stratape_model::{Data, Machine, Pass, Simulation};
///
/// let mut run = Simulation::new(&Machine::baseline())?;
/// run.load(Data::Input, 0, 8, &[]);
/// run.load(Data::Input, 8, 8, &[]);
/// let report = run.finish();
/// assert_eq!(report[Pass::Forward].of(Data::Input).misses, 1);
/// assert_eq!(report.cycles(), report[Pass::Forward].stalls.total());
/// assert_eq!(report.energy, 2 * 2990);
/// println!("{report}");
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The forward pass.
    pub forward: PassReport,
    /// The reverse pass.
    pub reverse: PassReport,
    /// On-chip energy of all accesses, in the unit of [`energy`](crate::energy).
    pub energy: u64,
    /// Dirty lines that the cache still held at the end, in the order of [`Data::ALL`]. They are not among the lines written.
    pub left_dirty: [u64; 5],
    /// Bytes of the arrays of each class, and of the tape at its longest, in the order of [`Data::ALL`]; known of a [`Trace`](crate::Trace) alone.
    pub footprint: [u64; 5],
    /// How long values live; known of a [`Trace`](crate::Trace) alone.
    pub lifetimes: Lifetimes,
}

impl Report {
    /// Cycles of both passes.
    pub fn cycles(&self) -> u64 {
        self.forward.cycles + self.reverse.cycles
    }

    /// What happened to one class of data in both passes.
    pub fn of(&self, data: Data) -> Traffic {
        let mut sum = *self.forward.of(data);
        sum.add(self.reverse.of(data));
        sum
    }

    /// What happened to all data in both passes.
    pub fn all(&self) -> Traffic {
        let mut sum = self.forward.all();
        sum.add(&self.reverse.all());
        sum
    }
}

impl Index<Pass> for Report {
    type Output = PassReport;

    fn index(&self, pass: Pass) -> &PassReport {
        match pass {
            Pass::Forward => &self.forward,
            Pass::Reverse => &self.reverse,
        }
    }
}

impl IndexMut<Pass> for Report {
    fn index_mut(&mut self, pass: Pass) -> &mut PassReport {
        match pass {
            Pass::Forward => &mut self.forward,
            Pass::Reverse => &mut self.reverse,
        }
    }
}
