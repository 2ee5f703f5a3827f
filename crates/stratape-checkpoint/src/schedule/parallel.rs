//! What several cores can gain.

/// Times of a step, in any unit, and the shape of a run with workers ahead of the adjoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunAhead {
    /// Running a step.
    pub forward: f64,
    /// Running and recording it.
    pub record: f64,
    /// Reversing it from its record.
    pub reverse: f64,
    /// Steps of the loop.
    pub steps: usize,
    /// Segments it is divided into.
    pub segments: usize,
    /// Threads beside the one that carries the adjoint.
    pub workers: usize,
    /// Recorded segments that may exist at once.
    pub lanes: usize,
}

impl RunAhead {
    /// The time on one core: the loop up to the last segment, then each segment recorded and reversed.
    pub fn serial(&self) -> f64 {
        let segment = self.segment();
        let all = self.steps as f64;
        (all - segment) * self.forward + all * (self.record + self.reverse)
    }

    /// The time with workers: the first thread runs the loop, records the last segment and then carries the adjoint, while the workers
    /// record the others, the last first.
    ///
    /// ```
    /// use stratape_checkpoint::schedule::RunAhead;
    ///
    /// let run = RunAhead {
    ///     forward: 1.0, record: 2.0, reverse: 2.0, steps: 1600, segments: 64, workers: 1, lanes: 3,
    /// };
    /// assert_eq!(run.serial() / run.parallel(), 7975.0 / 4825.0);
    /// ```
    pub fn parallel(&self) -> f64 {
        let segment = self.segment();
        let begin = (self.steps as f64 - segment) * self.forward;
        let mut workers = vec![begin; self.workers.max(1)];
        // When each segment was reversed, the last first: it frees a lane.
        let mut reversed = vec![begin + segment * (self.record + self.reverse)];
        for number in 1..self.segments {
            let worker =
                (0..workers.len()).min_by(|a, b| workers[*a].total_cmp(&workers[*b])).unwrap_or(0);
            let lane_free = match number.checked_sub(self.lanes.max(1)) {
                Some(freed) => reversed[freed],
                None => begin,
            };
            let recorded = workers[worker].max(lane_free) + segment * self.record;
            workers[worker] = recorded;
            reversed.push(recorded.max(reversed[number - 1]) + segment * self.reverse);
        }
        reversed.last().copied().unwrap_or(0.0)
    }

    /// The gain that no number of workers exceeds, since the loop and the adjoint each go step by step.
    pub fn limit(&self) -> f64 {
        (self.forward + self.record + self.reverse) / (self.forward + self.reverse)
    }

    fn segment(&self) -> f64 {
        self.steps as f64 / self.segments.max(1) as f64
    }
}

/// The most steps that can be reversed in twice their number of time units, every step, recording and reversal taking one, when so many
/// processors and snapshots together are in use at a time: the reversal never waits (Walther).
///
/// ```
/// use stratape_checkpoint::schedule::steps_without_waiting;
///
/// assert_eq!(steps_without_waiting(20), 10_946);
/// ```
pub fn steps_without_waiting(resources: u32) -> u64 {
    let (mut before, mut steps) = (1_u64, 1_u64);
    for _ in 1..resources {
        (before, steps) = (steps, steps.saturating_add(before));
    }
    if resources == 0 { 0 } else { steps }
}
