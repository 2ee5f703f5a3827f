//! One gradient three ways, checked against each other and against central differences.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stratape::Workspace;
use stratape::picture::{self, Picture};
use stratape::tape::{TapeError, TapeOptions, TapeStats};
use stratape_demo::{Problem, plate};

use crate::failure::Failure;
use crate::units::bytes;

/// What one way took.
pub(super) struct Run {
    pub(super) name: &'static str,
    pub(super) time: Duration,
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Bytes on the tape at the end of the forward half.
    pub(super) tape: u64,
    /// The most bytes of tape and snapshots in memory.
    pub(super) peak: u64,
    pub(super) spilled: u64,
    /// Bytes read back from disk.
    pub(super) read: u64,
    pub(super) waits: u64,
    pub(super) waited: Duration,
    /// Steps run again, once at least to be reversed.
    pub(super) recomputed: u64,
    /// Snapshots in memory at once, and their bytes.
    pub(super) snapshots: u64,
    pub(super) snapshot_bytes: u64,
    /// What was where when.
    pub(super) picture: Picture,
}

impl Run {
    pub(super) fn empty(name: &'static str) -> Self {
        Self {
            name,
            time: Duration::ZERO,
            value: 0.0,
            gradient: Vec::new(),
            tape: 0,
            peak: 0,
            spilled: 0,
            read: 0,
            waits: 0,
            waited: Duration::ZERO,
            recomputed: 0,
            snapshots: 0,
            snapshot_bytes: 0,
            picture: picture::descent(&[]),
        }
    }

    fn new(name: &'static str, workspace: &Workspace, time: Duration, stats: &TapeStats) -> Self {
        Self {
            time,
            tape: workspace.last_bytes(),
            peak: stats.resident_peak,
            spilled: stats.bytes_spilled,
            read: stats.bytes_read,
            waits: stats.push_waits + stats.pop_waits,
            waited: stats.waited(),
            picture: picture::tape(workspace),
            ..Self::empty(name)
        }
    }

    /// Bytes that the forward pass leaves for the backward pass: on the tape, and in snapshots.
    pub(super) fn saved(&self) -> u64 {
        self.tape + self.snapshot_bytes
    }

    /// Whether no slab had to leave memory: all that do are read back.
    pub(super) fn fits(&self) -> bool {
        self.read == 0
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "seconds": self.time.as_secs_f64(),
            "value": self.value,
            "tape_bytes": self.tape,
            "snapshot_bytes": self.snapshot_bytes,
            "peak_bytes": self.peak,
            "spilled_bytes": self.spilled,
            "waits": self.waits,
            "waited_seconds": self.waited.as_secs_f64(),
            "recomputed_steps": self.recomputed,
        })
    }
}

/// The data and the start that a gradient is taken of.
pub(super) struct Setting<'a> {
    pub(super) problem: Problem,
    pub(super) start: &'a [f64],
    pub(super) data: &'a [f64],
}

impl Setting<'_> {
    /// Bytes that a step leaves on the tape, seen on a short run.
    pub(super) fn bytes_a_step(&self) -> Result<u64, Failure> {
        let mut workspace = Workspace::new();
        let mut gradient = vec![0.0; self.start.len()];
        let Problem { side, .. } = self.problem;
        plate::misfit_grad_in(&mut workspace, self.start, &mut gradient, self.data, side, 4, 1.0)
            .map_err(Failure::new)?;
        Ok(workspace.last_bytes() / 4)
    }

    /// Runs a gradient, given as a function of the workspace and the shadow, and notes what it took.
    fn run(
        &self,
        name: &'static str,
        workspace: &mut Workspace,
        gradient_in: impl FnOnce(&mut Workspace, &mut [f64]) -> Result<f64, TapeError>,
    ) -> Result<Run, TapeError> {
        let mut gradient = vec![0.0; self.start.len()];
        let begun = Instant::now();
        let value = gradient_in(workspace, &mut gradient)?;
        let run = Run::new(name, workspace, begun.elapsed(), &workspace.stats());
        Ok(Run { value, gradient, ..run })
    }

    fn taped(&self, name: &'static str, mut workspace: Workspace) -> Result<Run, TapeError> {
        let Problem { side, steps, .. } = self.problem;
        self.run(name, &mut workspace, |workspace, gradient| {
            plate::misfit_grad_in(workspace, self.start, gradient, self.data, side, steps, 1.0)
        })
    }

    pub(super) fn in_ram(&self) -> Result<Run, Failure> {
        self.taped("all in RAM", Workspace::new()).map_err(Failure::new)
    }

    /// The most bytes that the spilled run may write: all of its slabs, which are not full where the next record does not fit. Seen on short
    /// runs; one after the other, each with slabs of its own, they would need no less than the long one.
    pub(super) fn most_on_disk(&self, memory: usize) -> Result<u64, Failure> {
        let Problem { side, steps, .. } = self.problem;
        let short = steps.min(50);
        let options = TapeOptions::new().slab_bytes(slab_bytes(memory));
        let mut workspace = Workspace::with(options).map_err(Failure::new)?;
        let mut gradient = vec![0.0; self.start.len()];
        let (start, data) = (self.start, self.data);
        plate::misfit_grad_in(&mut workspace, start, &mut gradient, data, side, short, 1.0)
            .map_err(Failure::new)?;
        Ok(workspace.stats().resident_peak * steps.div_ceil(short.max(1)) as u64)
    }

    pub(super) fn spilled(
        &self,
        memory: usize,
        disk: u64,
        directory: &Path,
    ) -> Result<Run, Failure> {
        let advise = |error: TapeError| {
            Failure::new(format!(
                "{error}\nThe spilled run needs up to {} of disk in {}; choose another directory with --dir{} more memory with \
                 --memory{}",
                bytes(disk),
                directory.display(),
                if self.problem.quick { ", or" } else { "," },
                if self.problem.quick { "" } else { ", or a small run with --quick" },
            ))
        };
        let options = TapeOptions::new()
            .memory(memory)
            .slab_bytes(slab_bytes(memory))
            .spill_to(directory)
            .record(true);
        let workspace = Workspace::with(options).map_err(advise)?;
        self.taped("spilled to disk", workspace).map_err(advise)
    }

    pub(super) fn checkpointed(&self) -> Result<Run, Failure> {
        let Problem { side, steps, slots, .. } = self.problem;
        let options = TapeOptions::new().record(true);
        let mut workspace = Workspace::with(options).map_err(Failure::new)?;
        let run = self.run("checkpointed", &mut workspace, |workspace, gradient| {
            let (start, data) = (self.start, self.data);
            plate::misfit_again_grad_in(workspace, start, gradient, data, side, steps, slots, 1.0)
        });
        let run = run.map_err(Failure::new)?;
        let loops = workspace.loops();
        let report = loops.first().ok_or_else(|| Failure::new("the time loop left no report"))?;
        let held = report.memory_peak as u64;
        Ok(Run {
            recomputed: (report.advanced + report.reversed).saturating_sub(report.steps as u64),
            peak: run.peak + held,
            snapshots: held / report.snapshot_bytes.max(1) as u64,
            snapshot_bytes: held,
            picture: picture::time_loop(report),
            ..run
        })
    }

    /// How far some components are from central differences, relatively, at most.
    pub(super) fn differences(&self, gradient: &[f64]) -> f64 {
        let Problem { side, steps, .. } = self.problem;
        let steepest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let mut worst = 0.0_f64;
        for (x, y) in [(side / 2, side / 2), (side / 3, side / 4), (side - 4, side / 2)] {
            let at = side * y + x;
            let h = 1e-5;
            let value = |by: f64| {
                let mut start = self.start.to_vec();
                start[at] += by;
                plate::misfit(&start, self.data, side, steps)
            };
            let expected = (value(h) - value(-h)) / (2.0 * h);
            worst = worst.max((gradient[at] - expected).abs() / steepest);
        }
        worst
    }
}

/// Slabs of the tape that spills: enough of them fit into its memory.
fn slab_bytes(memory: usize) -> usize {
    (memory / 64).next_power_of_two().clamp(64 << 10, 1 << 20)
}

/// The greatest difference between two gradients, relative to the greatest component.
pub(super) fn apart(a: &[f64], b: &[f64]) -> f64 {
    let most = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, f64::max);
    let size = most(&mut a.iter().map(|x| x.abs()));
    most(&mut a.iter().zip(b).map(|(a, b)| (a - b).abs())) / size.max(f64::MIN_POSITIVE)
}

/// Whether two gradients have the same bits.
pub(super) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
