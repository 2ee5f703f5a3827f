//! [`Swept`]: a loop between its forward and its backward pass.

use crate::error::CheckpointError;
use crate::report::Report;
use crate::run::{Back, Run, Steps};
use crate::snapshot::Snapshot;
#[cfg(doc)]
use crate::time_loop::TimeLoop;

/// A loop that has been run and is to be reversed.
pub struct Swept<S: Snapshot> {
    run: Run<S>,
    last: S,
}

impl<S: Snapshot> Swept<S> {
    pub(super) fn new(run: Run<S>, last: S) -> Self {
        Self { run, last }
    }

    /// The last state.
    pub fn state(&self) -> &S {
        &self.last
    }

    /// The number of steps that were run.
    pub fn steps(&self) -> usize {
        self.run.report.steps
    }

    /// Reverses the loop, from the adjoint of the last state to that of the first.
    ///
    /// # Errors
    /// As [`TimeLoop::gradient`].
    pub fn reverse<A: Snapshot>(
        mut self,
        mut step: impl FnMut(usize, &mut S),
        mut adjoint: A,
        mut pullback: impl FnMut(usize, &S, &mut A),
    ) -> Result<(A, Report), CheckpointError> {
        let mut steps = Steps { step: &mut step, record: None };
        let mut pull = |n: usize, state: &mut S, adjoint: &mut A| pullback(n, state, adjoint);
        self.run.reverse(&mut steps, &mut adjoint, Back::State(&mut pull))?;
        Ok((adjoint, self.run.finish()))
    }

    /// Reverses the loop with a function that keeps the adjoint itself, and may change the state.
    ///
    /// # Errors
    /// As [`TimeLoop::gradient`].
    #[doc(hidden)]
    pub fn reverse_with(
        mut self,
        mut step: impl FnMut(usize, &mut S),
        mut pull: impl FnMut(usize, &mut S),
    ) -> Result<Report, CheckpointError> {
        let mut steps = Steps { step: &mut step, record: None };
        let mut pull = |n: usize, state: &mut S, (): &mut ()| pull(n, state);
        self.run.reverse(&mut steps, &mut (), Back::State(&mut pull))?;
        Ok(self.run.finish())
    }
}

impl<S: Snapshot> std::fmt::Debug for Swept<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Swept").field("steps", &self.steps()).finish_non_exhaustive()
    }
}
