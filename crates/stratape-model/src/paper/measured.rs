//! What the machines made of a program, beside what was published.

use stratape_compiler::driver::Saving;

use super::{Benchmark, Results, Run};
use crate::{Comparison, Data, Layout, ModelError, Pass, Report};

/// What the paper and its data say of a program: TapeFlow over the baseline, both with 32k of cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Speed-up of the forward pass.
    pub forward: f64,
    /// Speed-up of the reverse pass.
    pub reverse: f64,
    /// Speed-up of both.
    pub total: f64,
    /// How many times less DRAM traffic.
    pub dram: f64,
    /// How many times less on-chip energy, with 2k of cache against 32k.
    pub energy: f64,
    /// The share of accesses that go to the tape.
    pub tape: f64,
    /// Speed-up of both passes and how many times less DRAM traffic, both with 1k of cache, where published.
    pub smallest: Option<(f64, f64)>,
}

impl Published {
    pub(super) const fn new(
        [forward, reverse, total, dram, energy, tape]: [f64; 6],
        smallest: Option<(f64, f64)>,
    ) -> Self {
        Self { forward, reverse, total, dram, energy, tape, smallest }
    }
}

/// A program on the machines that the figures compare.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The program.
    pub name: &'static str,
    /// The machine without a scratchpad, with 32k of cache, and the tape as a struct of arrays.
    pub baseline: Report,
    /// The same with the tape as an array of structs.
    pub records: Report,
    /// With a scratchpad of 512 bytes.
    pub tapeflow: Report,
    /// With a scratchpad, and 2k of cache.
    pub small: Report,
    /// Without and with a scratchpad, and 1k of cache.
    pub smallest: (Report, Report),
}

impl Measured {
    /// Gathers the reports of a program. Those that are not there are wanted from now on.
    pub fn new(benchmark: &Benchmark, saved: Saving, quick: bool, results: &mut Results) -> Self {
        let mut get = |machine, layout: Option<Layout>| {
            let mut run = Run::new(benchmark.name, (saved, quick), machine);
            run.layout = layout.unwrap_or(run.layout);
            results.get(run)
        };
        Self {
            name: benchmark.name,
            baseline: get(("32k", 0), None),
            records: get(("32k", 0), Some(Layout::Records)),
            tapeflow: get(("32k", 512), None),
            small: get(("2k", 512), None),
            smallest: (get(("1k", 0), None), get(("1k", 512), None)),
        }
    }

    /// TapeFlow over the baseline, both with 32k of cache.
    pub fn comparison(&self) -> Comparison {
        Comparison::new(&self.baseline, &self.tapeflow)
    }

    /// TapeFlow with 2k of cache over the baseline with 32k.
    pub fn small_comparison(&self) -> Comparison {
        Comparison::new(&self.baseline, &self.small)
    }

    /// The array of structs over the struct of arrays, both without a scratchpad.
    pub fn layout_comparison(&self) -> Comparison {
        Comparison::new(&self.baseline, &self.records)
    }

    /// TapeFlow over the baseline, both with 1k of cache.
    pub fn smallest_comparison(&self) -> Comparison {
        Comparison::new(&self.smallest.0, &self.smallest.1)
    }

    /// The share of accesses that go to the tape.
    pub fn tape_share(&self) -> f64 {
        let tape = self.baseline.of(Data::Tape);
        let all = self.baseline.all();
        (tape.loads + tape.stores) as f64 / (all.loads + all.stores).max(1) as f64
    }

    /// Layers of the reverse pass.
    pub fn layers(&self) -> u64 {
        self.tapeflow[Pass::Reverse].layers
    }
}

/// Runs a program on the machines that the figures compare.
///
/// # Errors
/// If the compiler refuses it.
///
/// ```
/// use stratape_compiler::driver::Saving;
/// use stratape_model::paper::{Benchmark, measure};
///
/// let measured = measure(Benchmark::named("mttkrp")?, Saving::All, true)?;
/// let found = measured.comparison();
/// assert!(found.total > 1.0, "{found}");
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
pub fn measure(benchmark: &Benchmark, saved: Saving, quick: bool) -> Result<Measured, ModelError> {
    let mut results = Results::default();
    Measured::new(benchmark, saved, quick, &mut results);
    results.complete()?;
    Ok(Measured::new(benchmark, saved, quick, &mut results))
}
