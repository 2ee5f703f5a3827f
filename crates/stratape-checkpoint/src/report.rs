//! Reports and plans of runs.

use std::fmt;
use std::time::Duration;

use crate::course::Course;

/// A number of bytes for people.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB"];
        let mut size = self.0 as f64;
        let mut unit = "B";
        for larger in units {
            if size < 1024.0 {
                break;
            }
            (size, unit) = (size / 1024.0, larger);
        }
        if unit == "B" { write!(f, "{size} B") } else { write!(f, "{size:.1} {unit}") }
    }
}

/// A number of things, with their name in the singular.
pub(crate) struct Count(pub(crate) usize, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, name) = self;
        write!(f, "{count} {name}{}", if *count == 1 { "" } else { "s" })
    }
}

/// The report of a reversal.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The number of steps of the loop.
    pub steps: usize,
    /// A description of the schedule.
    pub schedule: String,
    /// Why it was chosen, if `Auto` chose it.
    pub why: String,
    /// Steps run without being reversed at once: the loop itself, and what was recomputed. One more than the plan said, where a
    /// schedule records the last step: it is run to know the last state.
    pub advanced: u64,
    /// Steps reversed.
    pub reversed: u64,
    /// Bytes of one snapshot.
    pub snapshot_bytes: usize,
    /// Snapshots written to memory and to disk.
    pub writes: [u64; 2],
    /// Snapshots loaded from memory and from disk.
    pub reads: [u64; 2],
    /// The most bytes of snapshots in memory at once, those on their way to disk not included.
    pub memory_peak: usize,
    /// The most bytes on their way to and from disk at once.
    pub staging_peak: usize,
    /// The most snapshots on disk at once.
    pub disk_peak: usize,
    /// The most bytes of snapshots on disk at once.
    pub disk_bytes_peak: u64,
    /// Bytes written to disk.
    pub bytes_written: u64,
    /// Bytes read from disk.
    pub bytes_read: u64,
    /// Time in steps.
    pub step_time: Duration,
    /// Time in pullbacks.
    pub pullback_time: Duration,
    /// Time in copying states.
    pub copy_time: Duration,
    /// Time spent waiting for the disk, storing and loading.
    pub waited: [Duration; 2],
    /// Time in choosing the schedule: measuring, and filling the table of one that has a table.
    pub planning_time: Duration,
    /// The total time.
    pub total_time: Duration,
    /// The disk and how it is reached; empty when none was used.
    pub tier: String,
    /// Failures from which the run recovered: failed writes, damaged snapshots.
    pub mended: Vec<String>,
    /// Failed saves of a run to be resumed: between one of them and the next successful one, a crash would have cost more than
    /// promised. `mended` says why.
    pub failed_saves: u64,
    /// Steps that had been reversed by an earlier process.
    pub resumed: Option<usize>,
    /// Threads that ran ahead of the adjoint.
    pub workers: usize,
    /// What was done when, if [`TimeLoop::record`](crate::TimeLoop::record) was set and no threads ran ahead.
    pub course: Option<Course>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} reversed by {}", Count(self.steps, "step"), self.schedule)?;
        if !self.why.is_empty() {
            writeln!(f, "  chosen because {}", self.why)?;
        }
        writeln!(
            f,
            "  steps run {} ({:.2} a step), reversed {}",
            self.advanced,
            self.advanced as f64 / (self.steps.max(1)) as f64,
            self.reversed
        )?;
        writeln!(
            f,
            "  snapshots of {}: {} to memory, {} to disk; peak {} in memory, {} on the way, {} on disk",
            Size(self.snapshot_bytes as u64),
            self.writes[0],
            self.writes[1],
            Size(self.memory_peak as u64),
            Size(self.staging_peak as u64),
            Count(self.disk_peak, "snapshot")
        )?;
        if !self.tier.is_empty() {
            writeln!(
                f,
                "  {}: wrote {}, read {}, waited {:.3} s to store and {:.3} s to load",
                self.tier,
                Size(self.bytes_written),
                Size(self.bytes_read),
                self.waited[0].as_secs_f64(),
                self.waited[1].as_secs_f64()
            )?;
        }
        for mended in &self.mended {
            writeln!(f, "  mended: {mended}")?;
        }
        if let Some(resumed) = self.resumed {
            writeln!(f, "  resumed with {} reversed before", Count(resumed, "step"))?;
        }
        write!(
            f,
            "  {:.3} s: planning {:.3}, steps {:.3}, pullbacks {:.3}, copies {:.3}",
            self.total_time.as_secs_f64(),
            self.planning_time.as_secs_f64(),
            self.step_time.as_secs_f64(),
            self.pullback_time.as_secs_f64(),
            self.copy_time.as_secs_f64()
        )
    }
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// A description of the schedule.
    pub schedule: String,
    /// Why it was chosen, if `Auto` chose it.
    pub why: String,
    /// Steps run without being reversed at once.
    pub advanced: u64,
    /// Steps run in all, counting those that a pullback runs itself.
    pub forward: u64,
    /// Steps reversed.
    pub reversed: u64,
    /// Bytes of one snapshot.
    pub snapshot_bytes: usize,
    /// The most bytes of snapshots in memory at once, those on their way to disk included.
    pub memory_peak: usize,
    /// The most bytes on disk at once.
    pub disk_peak: usize,
    /// Bytes written to disk.
    pub bytes_written: u64,
    /// Bytes read from disk.
    pub bytes_read: u64,
    /// The time over that of one plain gradient (each step run once and reversed once), when reversing a step takes twice as long as
    /// running it and the disk is never waited for.
    pub ratio: f64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forward = Count(self.forward as usize, "step");
        writeln!(f, "{}: {forward} run, {} reversed", self.schedule, self.reversed)?;
        if !self.why.is_empty() {
            writeln!(f, "  chosen because {}", self.why)?;
        }
        writeln!(
            f,
            "  snapshots of {}, at most {} in memory and {} on disk; {} written, {} read",
            Size(self.snapshot_bytes as u64),
            Size(self.memory_peak as u64),
            Size(self.disk_peak as u64),
            Size(self.bytes_written),
            Size(self.bytes_read)
        )?;
        write!(f, "  about {:.2} times one plain gradient", self.ratio)
    }
}

/// How far a run is; see [`TimeLoop::on_progress`](crate::TimeLoop::on_progress).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of steps of the loop, once it is known.
    pub steps: Option<usize>,
    /// The current step; in the reversal, the step being recomputed.
    pub at: usize,
    /// Steps reversed.
    pub reversed: usize,
    /// Steps run so far, all counted.
    pub advanced: u64,
    /// The total number of steps to run, if known.
    pub advanced_in_all: Option<u64>,
    /// Time since the start.
    pub elapsed: Duration,
}

impl Progress {
    /// How much of the work is done, from 0 to 1, when reversing a step takes twice as long as running it; nothing while the number
    /// of steps is unknown.
    pub fn fraction(&self) -> Option<f64> {
        let (steps, all) = (self.steps?, self.advanced_in_all?);
        let work = |advanced: u64, reversed: usize| advanced as f64 + 2.0 * reversed as f64;
        let whole = work(all, steps);
        if whole == 0.0 {
            Some(1.0)
        } else {
            Some((work(self.advanced, self.reversed) / whole).min(1.0))
        }
    }
}
