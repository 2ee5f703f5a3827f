//! What TapeFlow's passes are worth on this processor: layouts, layers and streams, on programs that do save.

mod plate;
mod settings;
mod streams;

use crate::error::BenchError;
use crate::runner::Runner;

/// Runs the suite.
pub(crate) fn run(runner: &mut Runner<'_>) -> Result<(), BenchError> {
    settings::run(runner)?;
    plate::run(runner)?;
    streams::run(runner)
}
