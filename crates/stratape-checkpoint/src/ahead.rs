//! Several cores: workers run earlier parts of the loop again and record them, ahead of the thread that carries the adjoint.
//!
//! The unit is a *segment*: some consecutive steps, recorded on one *lane* (a tape of the user's, one a segment) and handed over
//! whole. A lane belongs to one thread at a time, so that recording and reversing share nothing and take no lock. The
//! adjoint goes through the steps in the same order from the same records as without workers: the result has the same bits.
//!
//! - With a slot for the start of every segment, any number of workers record segments, the last ones first. A worker
//!   takes a free lane before it takes the next segment: so the segment needed next always has a lane, and nobody waits in a circle.
//! - With fewer slots, one worker runs the whole schedule (Revolve over segments) and hands over lane by lane.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::error::CheckpointError;
use crate::report::Report;
use crate::schedule::{Action, Level, Revolve};
use crate::slots::Slots;
use crate::snapshot::Snapshot;

/// The steps of a run that is done ahead, and what they are done with.
pub(crate) struct Ahead<'a, S, L> {
    pub(crate) steps: usize,
    pub(crate) segment: usize,
    pub(crate) workers: usize,
    /// Slots in memory and on disk for the starts of segments.
    pub(crate) memory: usize,
    pub(crate) disk: usize,
    pub(crate) step: &'a (dyn Fn(usize, &mut S) + Sync),
    pub(crate) record: &'a (dyn Fn(usize, &mut S, &mut L) + Sync),
}

/// A recorded segment, or a panic of the user's code.
type Recorded<L> = Result<(usize, L, Worked), Box<dyn Any + Send>>;

/// What a worker did.
#[derive(Clone, Copy, Default)]
struct Worked {
    advanced: u64,
    seconds: f64,
}

impl<S: Snapshot + Sync, L: Default + Send> Ahead<'_, S, L> {
    fn segments(&self) -> usize {
        self.steps.div_ceil(self.segment)
    }

    fn range(&self, segment: usize) -> std::ops::Range<usize> {
        let from = segment * self.segment;
        from..self.steps.min(from + self.segment)
    }

    fn record(&self, segment: usize, state: &mut S, lane: &mut L) -> Worked {
        let start = Instant::now();
        let steps = self.range(segment);
        let advanced = steps.len() as u64;
        steps.for_each(|n| (self.record)(n, state, lane));
        Worked { advanced, seconds: start.elapsed().as_secs_f64() }
    }

    /// Runs and reverses; the last state and the adjoint of the first.
    pub(crate) fn run<A>(
        &self,
        start: S,
        slots: Slots<S>,
        seed: impl FnOnce(&S) -> A,
        reverse: &mut dyn FnMut(usize, &mut L, &mut A),
        report: &mut Report,
    ) -> Result<(S, A), CheckpointError> {
        report.steps = self.steps;
        report.snapshot_bytes = start.encoded_len();
        if self.segments() <= self.memory.saturating_add(self.disk) {
            report.workers = self.workers;
            report.schedule = format!(
                "{} segments of {} steps on {} workers",
                self.segments(),
                self.segment,
                self.workers
            );
            self.deal(start, slots, seed, reverse, report)
        } else {
            report.workers = 1;
            report.schedule = format!(
                "Revolve over {} segments of {} steps with {} slots, on a worker",
                self.segments(),
                self.segment,
                self.memory
            );
            self.follow(start, seed, reverse, report)
        }
    }

    /// All starts are stored; workers record segments as they come.
    fn deal<A>(
        &self,
        start: S,
        slots: Slots<S>,
        seed: impl FnOnce(&S) -> A,
        reverse: &mut dyn FnMut(usize, &mut L, &mut A),
        report: &mut Report,
    ) -> Result<(S, A), CheckpointError> {
        let last = self.segments().saturating_sub(1);
        let mut state = start;
        let slots = Mutex::new(slots);
        let began = Instant::now();
        for segment in 0..last {
            // The earliest are needed last.
            let on_disk = last - segment > self.memory;
            let level = if on_disk { Level::DISK } else { Level::MEMORY };
            let stored = lock(&slots).store(self.range(segment).start, level, &state);
            stored.map_err(|error| disk_failed(&error))?;
            self.range(segment).for_each(|n| (self.step)(n, &mut state));
        }
        report.advanced += (last * self.segment) as u64;
        report.step_time += began.elapsed();
        let template = state.clone();
        let next = AtomicUsize::new(last);
        let (free, lanes) = unbounded::<L>();
        let (done, recorded) = unbounded::<Recorded<L>>();
        (0..=self.workers).for_each(|_| drop(free.send(L::default())));
        thread::scope(|scope| {
            for _ in 0..self.workers {
                let (lanes, done, mut state) = (lanes.clone(), done.clone(), template.clone());
                let (slots, next) = (&slots, &next);
                scope.spawn(move || self.work(&mut state, slots, next, &lanes, &done));
            }
            drop((lanes, done));
            let mut lane = L::default();
            if self.steps > 0 {
                let worked = self.record(last, &mut state, &mut lane);
                report.advanced += worked.advanced;
            }
            let mut adjoint = seed(&state);
            let carrier = Carrier { ahead: self, free, recorded, waiting: BTreeMap::new() };
            carrier.carry(last, lane, &mut adjoint, reverse, report)?;
            Ok((state, adjoint))
        })
        .inspect(|_| lock(&slots).fill(report))
    }

    fn work(
        &self,
        state: &mut S,
        slots: &Mutex<Slots<S>>,
        next: &AtomicUsize,
        lanes: &Receiver<L>,
        done: &Sender<Recorded<L>>,
    ) {
        while let Ok(mut lane) = lanes.recv() {
            let taken =
                next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_sub(1));
            let Ok(before) = taken else { return };
            let segment = before - 1;
            let result = catch_unwind(AssertUnwindSafe(|| {
                self.take_up(segment, state, slots)?;
                let worked = self.record(segment, state, &mut lane);
                Ok::<_, CheckpointError>((segment, lane, worked))
            }));
            let message = match result {
                Ok(Ok(recorded)) => Ok(recorded),
                Ok(Err(error)) => Err(Box::new(error) as Box<dyn Any + Send>),
                Err(panic) => Err(panic),
            };
            let failed = message.is_err();
            if done.send(message).is_err() || failed {
                return;
            }
        }
    }

    fn take_up(
        &self,
        segment: usize,
        state: &mut S,
        slots: &Mutex<Slots<S>>,
    ) -> Result<(), CheckpointError> {
        let step = self.range(segment).start;
        let mut slots = lock(slots);
        let level =
            if slots.stored(Level::MEMORY).contains(&step) { Level::MEMORY } else { Level::DISK };
        slots
            .load(step, level, state, true)
            .map_err(|source| CheckpointError::Lost { step, source })?;
        slots.free(step, level);
        if let Some(ahead) = segment.checked_sub(self.workers) {
            let _ = slots.fetch(self.range(ahead).start);
        }
        Ok(())
    }

    /// One worker follows Revolve over segments.
    fn follow<A>(
        &self,
        start: S,
        seed: impl FnOnce(&S) -> A,
        reverse: &mut dyn FnMut(usize, &mut L, &mut A),
        report: &mut Report,
    ) -> Result<(S, A), CheckpointError> {
        let schedule = Revolve::new(self.segments(), self.memory)?;
        let (free, lanes) = unbounded::<L>();
        let (done, recorded) = unbounded::<Recorded<L>>();
        let (ended, last) = unbounded::<S>();
        (0..2).for_each(|_| drop(free.send(L::default())));
        thread::scope(|scope| {
            scope.spawn(move || {
                let run = || self.produce(start, schedule, &lanes, &done, &ended);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                    let _ = done.send(Err(panic));
                }
            });
            let Ok(last) = last.recv() else {
                // The worker has gone: its panic is the first message.
                return match recorded.recv() {
                    Ok(Err(panic)) => resume_unwind(panic),
                    _ => Err(CheckpointError::Settings("a worker ended early".to_owned())),
                };
            };
            let mut adjoint = seed(&last);
            let carrier = Carrier { ahead: self, free, recorded, waiting: BTreeMap::new() };
            carrier.carry_rest(self.segments(), &mut adjoint, reverse, report)?;
            Ok((last, adjoint))
        })
    }

    fn produce(
        &self,
        start: S,
        schedule: Revolve,
        lanes: &Receiver<L>,
        done: &Sender<Recorded<L>>,
        ended: &Sender<S>,
    ) {
        let mut slots = Slots::new(None);
        let mut state = start;
        let mut worked = Worked::default();
        for action in schedule {
            match action {
                Action::Advance { from, to } => {
                    let (from, to) = (self.range(from).start, self.range(to).start);
                    (from..to).for_each(|n| (self.step)(n, &mut state));
                    worked.advanced += (to - from) as u64;
                }
                Action::Store { step, level } => drop(slots.store(step, level, &state)),
                Action::Load { step, level } => drop(slots.load(step, level, &mut state, false)),
                Action::Drop { step, level } => slots.free(step, level),
                Action::Tape { step, .. } => {
                    let Ok(mut lane) = lanes.recv() else { return };
                    let recording = self.record(step, &mut state, &mut lane);
                    worked.advanced += recording.advanced;
                    worked.seconds += recording.seconds;
                    if done.send(Ok((step, lane, std::mem::take(&mut worked)))).is_err() {
                        return;
                    }
                }
                Action::EndForward => drop(ended.send(state.clone())),
                Action::Reverse { .. } | Action::EndReverse => {}
            }
        }
        if self.steps == 0 {
            let _ = ended.send(state);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn disk_failed(error: &stratape_tape::tier::TierError) -> CheckpointError {
    CheckpointError::DiskFailed { why: error.to_string(), resumable: None }
}

/// The thread that carries the adjoint.
struct Carrier<'a, 'b, S, L> {
    ahead: &'a Ahead<'b, S, L>,
    free: Sender<L>,
    recorded: Receiver<Recorded<L>>,
    /// Segments that were recorded before it was their turn.
    waiting: BTreeMap<usize, L>,
}

impl<S: Snapshot + Sync, L: Default + Send> Carrier<'_, '_, S, L> {
    /// Reverses from the last segment, which is recorded, down.
    fn carry<A>(
        self,
        last: usize,
        mut lane: L,
        adjoint: &mut A,
        reverse: &mut dyn FnMut(usize, &mut L, &mut A),
        report: &mut Report,
    ) -> Result<(), CheckpointError> {
        self.reverse(last, &mut lane, adjoint, reverse, report);
        self.carry_rest(last, adjoint, reverse, report)
    }

    /// Reverses the segments below `end`.
    fn carry_rest<A>(
        mut self,
        end: usize,
        adjoint: &mut A,
        reverse: &mut dyn FnMut(usize, &mut L, &mut A),
        report: &mut Report,
    ) -> Result<(), CheckpointError> {
        for segment in (0..end).rev() {
            let start = Instant::now();
            let mut lane = self.receive(segment, report)?;
            report.waited[1] += start.elapsed();
            self.reverse(segment, &mut lane, adjoint, reverse, report);
            // Nobody may be left to use it.
            let _ = self.free.send(lane);
        }
        Ok(())
    }

    fn receive(&mut self, segment: usize, report: &mut Report) -> Result<L, CheckpointError> {
        loop {
            if let Some(lane) = self.waiting.remove(&segment) {
                return Ok(lane);
            }
            match self.recorded.recv() {
                Ok(Ok((number, lane, worked))) => {
                    report.advanced += worked.advanced;
                    report.step_time += std::time::Duration::from_secs_f64(worked.seconds);
                    self.waiting.insert(number, lane);
                }
                Ok(Err(panic)) => match panic.downcast::<CheckpointError>() {
                    Ok(error) => return Err(*error),
                    Err(panic) => resume_unwind(panic),
                },
                Err(_) => {
                    return Err(CheckpointError::Settings("the workers ended early".to_owned()));
                }
            }
        }
    }

    fn reverse<A>(
        &self,
        segment: usize,
        lane: &mut L,
        adjoint: &mut A,
        reverse: &mut dyn FnMut(usize, &mut L, &mut A),
        report: &mut Report,
    ) {
        let start = Instant::now();
        let steps = self.ahead.range(segment);
        report.reversed += steps.len() as u64;
        steps.rev().for_each(|n| reverse(n, lane, adjoint));
        report.pullback_time += start.elapsed();
    }
}
