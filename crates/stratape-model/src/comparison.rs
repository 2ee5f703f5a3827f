//! [`Comparison`]: two reports of the same program, side by side.

use std::fmt;

use crate::report::{Data, Report};

/// How much better a run is than a baseline: every number is the baseline's divided by the other's, so that more is better.
///
/// ```
/// use stratape_model::{Comparison, Report};
///
/// let (mut slow, mut fast) = (Report::default(), Report::default());
/// (slow.forward.cycles, slow.reverse.cycles) = (100, 300);
/// (fast.forward.cycles, fast.reverse.cycles) = (100, 150);
/// let comparison = Comparison::new(&slow, &fast);
/// assert_eq!((comparison.forward, comparison.reverse, comparison.total), (1.0, 2.0, 1.6));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Cycles of the forward pass.
    pub forward: f64,
    /// Cycles of the reverse pass.
    pub reverse: f64,
    /// Cycles of both.
    pub total: f64,
    /// DRAM lines read and written.
    pub dram: f64,
    /// The same without the lines of the tape that the other run writes: the way in which TapeFlow's figures were counted.
    pub dram_without_tape_writes: f64,
    /// DRAM lines read.
    pub dram_read: f64,
    /// On-chip energy.
    pub energy: f64,
}

impl Comparison {
    /// Compares a run with a baseline. Where both have nothing of something, they are alike: 1.
    pub fn new(baseline: &Report, other: &Report) -> Self {
        let (before, after) = (baseline.all(), other.all());
        let untaped = after.lines() - other.of(Data::Tape).lines_written;
        Self {
            forward: ratio(baseline.forward.cycles, other.forward.cycles),
            reverse: ratio(baseline.reverse.cycles, other.reverse.cycles),
            total: ratio(baseline.cycles(), other.cycles()),
            dram: ratio(before.lines(), after.lines()),
            dram_without_tape_writes: ratio(before.lines(), untaped),
            dram_read: ratio(before.lines_read, after.lines_read),
            energy: ratio(baseline.energy, other.energy),
        }
    }
}

fn ratio(baseline: u64, other: u64) -> f64 {
    if baseline == other { 1.0 } else { baseline as f64 / other as f64 }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "forward {:.2}×, reverse {:.2}×, total {:.2}×; DRAM lines ÷ {:.2} (÷ {:.2} without the tape's writes, ÷ {:.2} of those read); \
             on-chip energy ÷ {:.2}",
            self.forward,
            self.reverse,
            self.total,
            self.dram,
            self.dram_without_tape_writes,
            self.dram_read,
            self.energy
        )
    }
}
