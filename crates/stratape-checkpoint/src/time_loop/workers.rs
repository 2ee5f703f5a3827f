//! The loop on several cores.

use std::time::Instant;

use super::{Length, TimeLoop};
use crate::ahead::Ahead;
use crate::error::CheckpointError;
use crate::report::Report;
use crate::schedule::ScheduleError;
use crate::slots::Slots;
use crate::snapshot::Snapshot;
use crate::strategy::Room;

type WorkerStep<'a, S> = &'a (dyn Fn(usize, &mut S) + Sync);
type WorkerRecord<'a, S, L> = &'a (dyn Fn(usize, &mut S, &mut L) + Sync);

impl<S: Snapshot> TimeLoop<S> {
    /// [`gradient`](Self::gradient) on several cores: `workers` threads recompute steps, ahead of this one, which carries the adjoint. The result
    /// is bit for bit the same. The states of `workers + 1` segments are in memory besides the snapshots.
    ///
    /// ```
    /// use stratape_checkpoint::TimeLoop;
    ///
    /// let step = |n: usize, x: &mut f64| *x += 0.01 * (*x + n as f64).sin();
    /// let pullback = |n: usize, x: &f64, dx: &mut f64| *dx *= 1.0 + 0.01 * (x + n as f64).cos();
    /// let serial = TimeLoop::new(0.3_f64).steps(1000).slots(100).gradient(step, |_| 1.0, pullback)?;
    /// let ahead = TimeLoop::new(0.3_f64).steps(1000).slots(100).gradient_on(2, step, |_| 1.0, pullback)?;
    /// assert_eq!((serial.0, serial.1), (ahead.0, ahead.1));
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient). The number of steps must be known, and such a run cannot be resumed or checked. Its schedule
    /// is its own (segments, or Revolve over segments in memory when there are too few slots for all their starts), and progress is not reported.
    pub fn gradient_on<A>(
        self,
        workers: usize,
        step: impl Fn(usize, &mut S) + Sync,
        seed: impl FnOnce(&S) -> A,
        mut pullback: impl FnMut(usize, &S, &mut A),
    ) -> Result<(S, A, Report), CheckpointError>
    where
        S: Sync,
    {
        let room = self.room()?;
        let steps = self.length_known().unwrap_or(0);
        let segment = segment_of_states(steps, room, workers.max(1));
        let starts = room.memory.saturating_sub((workers.max(1) + 1) * segment).max(1);
        let record = |n: usize, state: &mut S, lane: &mut Lane<S>| {
            lane.push(state);
            step(n, state);
        };
        let reverse = |n: usize, lane: &mut Lane<S>, adjoint: &mut A| {
            if let Some(state) = lane.pop() {
                pullback(n, state, adjoint);
            }
        };
        self.ahead(workers, segment, starts, (&step, &record), seed, reverse)
    }

    /// [`gradient_taped`](Self::gradient_taped) on several cores. Each segment is recorded on a lane, a tape `L` that is passed from
    /// a worker to this thread and back: no tape is shared. `segment` is the number of steps on a lane; with 0 it is chosen so that there is
    /// a slot for the start of every segment.
    ///
    /// ```
    /// use stratape_checkpoint::TimeLoop;
    ///
    /// let (_, dx, report) = TimeLoop::new(0.5_f64).steps(1000).slots(50).gradient_taped_on(
    ///     1,
    ///     0,
    ///     |_, x| *x = x.sin(),
    ///     |_, x, lane: &mut Vec<f64>| {
    ///         lane.push(x.cos());
    ///         *x = x.sin();
    ///     },
    ///     |_| 1.0_f64,
    ///     |_, lane, dx| *dx *= lane.pop().unwrap_or(0.0),
    /// )?;
    /// assert_eq!(report.workers, 1);
    /// # assert!(dx > 0.0);
    /// # Ok::<(), stratape_checkpoint::CheckpointError>(())
    /// ```
    ///
    /// # Errors
    /// As [`gradient_on`](Self::gradient_on).
    pub fn gradient_taped_on<A, L: Default + Send>(
        self,
        workers: usize,
        segment: usize,
        step: impl Fn(usize, &mut S) + Sync,
        record: impl Fn(usize, &mut S, &mut L) + Sync,
        seed: impl FnOnce(&S) -> A,
        reverse: impl FnMut(usize, &mut L, &mut A),
    ) -> Result<(S, A, Report), CheckpointError>
    where
        S: Sync,
    {
        let room = self.room()?;
        let steps = self.length_known().unwrap_or(0);
        let slots = room.memory.saturating_add(room.disk).max(1);
        let segment = if segment == 0 { steps.div_ceil(slots).max(1) } else { segment };
        self.ahead(workers, segment, room.memory, (&step, &record), seed, reverse)
    }

    fn ahead<A, L: Default + Send>(
        mut self,
        workers: usize,
        segment: usize,
        memory: usize,
        (step, record): (WorkerStep<'_, S>, WorkerRecord<'_, S, L>),
        seed: impl FnOnce(&S) -> A,
        mut reverse: impl FnMut(usize, &mut L, &mut A),
    ) -> Result<(S, A, Report), CheckpointError>
    where
        S: Sync,
    {
        let Length::Steps(steps) = self.length else {
            return Err(CheckpointError::Settings(
                "workers must know the number of steps: give it with `steps`".to_owned(),
            ));
        };
        if self.resume.is_some() || self.check {
            return Err(CheckpointError::Settings(
                "a run with workers can be neither resumed nor checked; leave `resume` and `check` away, or the workers".to_owned(),
            ));
        }
        if memory == 0 && steps > segment {
            return Err(ScheduleError::NoSlots.into());
        }
        let started = Instant::now();
        let disk = self.room()?.disk;
        let slots = Slots::new(self.open_below(None)?.0);
        let workers = workers.max(1);
        let ahead = Ahead { steps, segment, workers, memory, disk, step, record };
        let mut report = Report::default();
        let (last, adjoint) = ahead.run(self.start, slots, seed, &mut reverse, &mut report)?;
        report.total_time = started.elapsed();
        Ok((last, adjoint, report))
    }
}

/// The states of a segment, whose memory is kept from one segment to the next.
struct Lane<S> {
    states: Vec<S>,
    used: usize,
}

impl<S> Default for Lane<S> {
    fn default() -> Self {
        Self { states: Vec::new(), used: 0 }
    }
}

impl<S: Snapshot> Lane<S> {
    fn push(&mut self, state: &S) {
        match self.states.get_mut(self.used) {
            Some(place) => place.copy_from(state),
            None => self.states.push(state.clone()),
        }
        self.used += 1;
    }

    fn pop(&mut self) -> Option<&S> {
        self.used = self.used.checked_sub(1)?;
        self.states.get(self.used)
    }
}

/// Steps of a segment, so that the starts of all segments and the states of those being worked on fit; or as many as leave half the slots
/// for starts, where that cannot be.
fn segment_of_states(steps: usize, room: Room, workers: usize) -> usize {
    let lanes = workers + 1;
    let fits = |segment: usize| {
        let states = lanes.saturating_mul(segment);
        steps.div_ceil(segment).saturating_add(states) <= room.memory.saturating_add(room.disk)
            && states < room.memory
    };
    let best = (steps as f64 / lanes as f64).sqrt().ceil().max(1.0) as usize;
    let smallest = (1..=best).find(|segment| fits(*segment));
    smallest.unwrap_or((room.memory / 2 / lanes).clamp(1, steps.max(1)))
}
