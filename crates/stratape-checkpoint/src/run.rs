//! Carrying a schedule out: the loop forward, later the way back.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use stratape_tape::tier::TierError;

use crate::course::{Doing, Recorder};
use crate::durable::Durable;
use crate::error::CheckpointError;
use crate::report::{Count, Progress, Report};
use crate::reruns::Reruns;
use crate::schedule::{Action, Entry, Level, Salvage, Schedule};
use crate::slots::Slots;
use crate::snapshot::Snapshot;

/// How far the actions ahead are looked through for snapshots to read.
pub(crate) const LOOK_AHEAD: usize = 64;
/// Time between two calls of the user's progress function.
const PROGRESS: Duration = Duration::from_millis(50);

/// Runs a step on a state.
pub(crate) type StepFn<'a, S> = &'a mut dyn FnMut(usize, &mut S);
pub(crate) type OnProgress = Box<dyn FnMut(&Progress) + Send>;

/// A run: the current state, the snapshots, and what is left to do.
pub(crate) struct Run<S: Snapshot> {
    pub(crate) schedule: Box<dyn Schedule>,
    /// Actions looked at and not done.
    ahead: VecDeque<Action>,
    pub(crate) slots: Slots<S>,
    pub(crate) state: S,
    /// Steps whose records are kept, as the states they start from, the last on top; whether they are kept beyond the next action.
    records: Vec<(usize, S, bool)>,
    /// The number of steps, where the user gave it and the schedule need not know.
    pub(crate) known: Option<usize>,
    /// Slots in memory, to go on with when the disk fails.
    pub(crate) memory_slots: usize,
    pub(crate) reruns: Option<Reruns>,
    pub(crate) durable: Option<Durable>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) advanced_in_all: Option<u64>,
    pub(crate) report: Report,
    /// Steps not reversed yet.
    pub(crate) left: usize,
    /// Where the current state is; none after a reversal, which may have used it up.
    at: usize,
    current: bool,
    /// A write has failed, and the schedule is to be given up at the next good moment.
    failed: bool,
    forward: bool,
    pub(crate) start: Instant,
    told: Option<Instant>,
}

/// What the user gave to run a step, to record one, and to know the end.
pub(crate) struct Steps<'a, S> {
    pub(crate) step: StepFn<'a, S>,
    /// Runs a step and leaves a record of it, where the user keeps records.
    pub(crate) record: Option<StepFn<'a, S>>,
}

/// The end of a loop of unknown length.
pub(crate) struct End<'a, S> {
    pub(crate) until: &'a mut dyn FnMut(&S) -> bool,
    pub(crate) limit: usize,
}

/// How a step is reversed.
pub(crate) enum Back<'a, S, A> {
    /// From the state it starts from, which is not needed any more.
    State(&'a mut dyn FnMut(usize, &mut S, &mut A)),
    /// From the record the user made.
    Record(&'a mut dyn FnMut(usize, &mut A)),
}

impl<S: Snapshot> Run<S> {
    pub(crate) fn new(schedule: Box<dyn Schedule>, slots: Slots<S>, state: S) -> Self {
        let report = Report {
            schedule: schedule.describe(),
            snapshot_bytes: state.encoded_len(),
            ..Report::default()
        };
        Self {
            left: schedule.steps().unwrap_or(0),
            schedule,
            ahead: VecDeque::new(),
            slots,
            state,
            records: Vec::new(),
            known: None,
            memory_slots: 0,
            reruns: None,
            durable: None,
            recorder: None,
            on_progress: None,
            advanced_in_all: None,
            report,
            at: 0,
            current: true,
            failed: false,
            forward: true,
            start: Instant::now(),
            told: None,
        }
    }

    fn next(&mut self) -> Option<Action> {
        self.ahead.pop_front().or_else(|| self.schedule.next())
    }

    /// Runs the loop to its end.
    pub(crate) fn forward(
        &mut self,
        steps: &mut Steps<'_, S>,
        mut end: Option<End<'_, S>>,
    ) -> Result<(), CheckpointError> {
        while let Some(action) = self.next() {
            match action {
                Action::Advance { from, to } => {
                    self.advance(from, to, steps, end.as_mut())?;
                }
                Action::Tape { step, keep } => {
                    if self.is_end(step, end.as_mut())? {
                        self.finished(step)?;
                        continue;
                    }
                    self.tape(step, keep, steps);
                }
                Action::Store { step, level } => self.store(step, level)?,
                Action::Drop { step, level } => self.free(step, level),
                Action::Load { step, level } => self.load(step, level, steps)?,
                Action::EndForward => {
                    self.forward = false;
                    self.report.steps = self.schedule.steps().unwrap_or(self.at);
                    self.left = self.report.steps;
                    let now = self.start.elapsed();
                    if let Some(recorder) = &mut self.recorder {
                        recorder.turned(now);
                    }
                    self.save_turn();
                    return Ok(());
                }
                Action::Reverse { .. } | Action::EndReverse => {}
            }
            self.mend(action)?;
            self.save_forward();
        }
        Ok(())
    }

    /// Reverses what is left.
    pub(crate) fn reverse<A: Snapshot>(
        &mut self,
        steps: &mut Steps<'_, S>,
        adjoint: &mut A,
        mut back: Back<'_, S, A>,
    ) -> Result<(), CheckpointError> {
        while let Some(action) = self.next() {
            self.read_ahead(action);
            match action {
                Action::Advance { from, to } => {
                    self.advance(from, to, steps, None)?;
                }
                Action::Tape { step, keep } => {
                    let at_once = !keep && self.peek() == Some(Action::Reverse { step });
                    match &mut back {
                        Back::State(pullback) if at_once => {
                            self.ahead.pop_front();
                            let start = Instant::now();
                            pullback(step, &mut self.state, adjoint);
                            self.current = false;
                            self.reversed(step, start);
                            self.save_backward(adjoint);
                        }
                        _ => self.tape(step, keep, steps),
                    }
                }
                Action::Reverse { step } => {
                    self.reverse_record(step, adjoint, &mut back);
                    self.save_backward(adjoint);
                }
                Action::Store { step, level } => self.store(step, level)?,
                Action::Load { step, level } => self.load(step, level, steps)?,
                Action::Drop { step, level } => self.free(step, level),
                Action::EndForward => {}
                Action::EndReverse => break,
            }
            self.mend(action)?;
        }
        Ok(())
    }

    fn peek(&mut self) -> Option<Action> {
        if self.ahead.is_empty() {
            let next = self.schedule.next()?;
            self.ahead.push_back(next);
        }
        self.ahead.front().copied()
    }

    /// Begins to read the snapshots that the next actions load from disk.
    fn read_ahead(&mut self, current: Action) {
        if !self.slots.has_store() {
            return;
        }
        while self.ahead.len() < LOOK_AHEAD {
            match self.schedule.next() {
                Some(action) => self.ahead.push_back(action),
                None => break,
            }
        }
        for action in std::iter::once(current).chain(self.ahead.iter().copied()) {
            match action {
                // What is stored from here on is not there yet.
                Action::Store { level, .. } if level != Level::MEMORY => return,
                Action::Load { step, level }
                    if level != Level::MEMORY && !self.slots.fetch(step) =>
                {
                    return;
                }
                _ => {}
            }
        }
    }

    /// Runs steps; the loop may end in between.
    fn advance(
        &mut self,
        from: usize,
        to: usize,
        steps: &mut Steps<'_, S>,
        mut end: Option<&mut End<'_, S>>,
    ) -> Result<(), CheckpointError> {
        let mut from = self.jump(from, to);
        while from < to {
            // In pieces, so that progress is told and damage noticed.
            let piece = to.min(from + self.piece());
            let start = Instant::now();
            let mut at = from;
            let mut ended = false;
            while at < piece {
                if self.is_end(at, end.as_deref_mut())? {
                    ended = true;
                    break;
                }
                self.step(at, steps)?;
                at += 1;
            }
            self.report.step_time += start.elapsed();
            self.report.advanced += (at - from) as u64;
            self.at = at;
            self.record(Doing::Run, (from, at), start);
            self.tell_progress();
            if ended {
                return self.finished(at);
            }
            from = at;
        }
        Ok(())
    }

    /// The current state is that of a step.
    fn arrive(&mut self, step: usize) {
        self.at = step;
        self.current = true;
    }

    fn piece(&self) -> usize {
        // About a millisecond's work, as far as is known.
        let each =
            self.report.step_time.as_nanos() as usize / (self.report.advanced as usize).max(1);
        (1_000_000 / each.max(1)).clamp(1, 4096)
    }

    fn step(&mut self, at: usize, steps: &mut Steps<'_, S>) -> Result<(), CheckpointError> {
        match &mut self.reruns {
            None => (steps.step)(at, &mut self.state),
            Some(reruns) => reruns.step(at, &mut self.state, steps.step)?,
        }
        Ok(())
    }

    /// Whether the loop ends before this step. Only a schedule that does not know the number of steps asks.
    fn is_end(&self, at: usize, end: Option<&mut End<'_, S>>) -> Result<bool, CheckpointError> {
        if !self.forward || self.schedule.steps().is_some() {
            return Ok(false);
        }
        let Some(end) = end else { return Ok(self.known == Some(at)) };
        if (end.until)(&self.state) {
            return Ok(true);
        }
        let limit = end.limit;
        if at >= limit { Err(CheckpointError::TooManySteps { limit }) } else { Ok(false) }
    }

    fn finished(&mut self, steps: usize) -> Result<(), CheckpointError> {
        self.at = steps;
        self.schedule.finished(steps)?;
        Ok(())
    }

    /// A snapshot on disk that a run before this one left saves running the steps up to it.
    fn jump(&mut self, from: usize, to: usize) -> usize {
        if !self.forward || !self.durable.as_ref().is_some_and(Durable::is_resumed) {
            return from;
        }
        while let Some((step, Level::DISK)) = self.slots.before(to.saturating_add(1))
            && step > from
        {
            // The present state is needed where that one cannot be read.
            let mut state = self.slots.copy(&self.state);
            let loaded = self.slots.load(step, Level::DISK, &mut state, false);
            let other = match &loaded {
                Ok(()) => std::mem::replace(&mut self.state, state),
                Err(_) => state,
            };
            self.slots.recycle(other);
            let Err(error) = loaded else {
                self.arrive(step);
                return step;
            };
            // Not made again here: the loop may end before it.
            self.slots.free(step, Level::DISK);
            self.report
                .mended
                .push(format!("the snapshot of step {step} cannot be read ({error})"));
        }
        from
    }

    fn tape(&mut self, step: usize, keep: bool, steps: &mut Steps<'_, S>) {
        let start = Instant::now();
        match &mut steps.record {
            Some(record) => record(step, &mut self.state),
            None => {
                let copy = self.slots.copy(&self.state);
                if keep {
                    self.slots.recorded(&copy);
                    if let Some(recorder) = &mut self.recorder {
                        recorder.stored(step, Level::MEMORY, start - self.start);
                    }
                }
                self.records.push((step, copy, keep));
                (steps.step)(step, &mut self.state);
            }
        }
        self.report.step_time += start.elapsed();
        self.report.advanced += 1;
        self.at = step + 1;
        self.record(Doing::Run, (step, step + 1), start);
        self.tell_progress();
    }

    fn reverse_record<A>(&mut self, step: usize, adjoint: &mut A, back: &mut Back<'_, S, A>) {
        let start = Instant::now();
        match back {
            Back::Record(reverse) => reverse(step, adjoint),
            Back::State(pullback) => {
                let last = self.records.pop_if(|record| record.0 == step);
                if let Some((_, mut state, kept)) = last {
                    if kept {
                        self.slots.unrecorded(&state);
                    }
                    pullback(step, &mut state, adjoint);
                    self.slots.recycle(state);
                    if let Some(recorder) = self.recorder.as_mut().filter(|_| kept) {
                        recorder.freed(step, Level::MEMORY, self.start.elapsed());
                    }
                }
            }
        }
        self.reversed(step, start);
    }

    fn reversed(&mut self, step: usize, start: Instant) {
        self.report.pullback_time += start.elapsed();
        self.report.reversed += 1;
        self.left = step;
        self.record(Doing::Reverse, (step, step + 1), start);
        self.tell_progress();
    }

    fn record(&mut self, doing: Doing, steps: (usize, usize), begun: Instant) {
        if let Some(recorder) = &mut self.recorder
            && steps.0 < steps.1
        {
            recorder.did(doing, steps, (begun - self.start, self.start.elapsed()));
        }
    }

    fn free(&mut self, step: usize, level: Level) {
        self.slots.free(step, level);
        if let Some(recorder) = &mut self.recorder {
            recorder.freed(step, level, self.start.elapsed());
        }
    }

    fn store(&mut self, step: usize, level: Level) -> Result<(), CheckpointError> {
        let stored = self.slots.store(step, level, &self.state);
        if let Some(recorder) = &mut self.recorder {
            recorder.stored(step, level, self.start.elapsed());
        }
        stored.map_err(|error| self.disk_failed(error.to_string()))
    }

    fn disk_failed(&mut self, why: String) -> CheckpointError {
        if let (Some(durable), Some(disk)) = (&mut self.durable, self.slots.disk()) {
            durable.save_at_once(disk);
        }
        let saved = self.durable.as_ref().filter(|durable| durable.is_saved());
        let resumable = saved.map(Durable::path);
        CheckpointError::DiskFailed { why, resumable }
    }

    /// Takes a snapshot up; one that cannot be read is made again from the one before it.
    fn load(
        &mut self,
        step: usize,
        level: Level,
        steps: &mut Steps<'_, S>,
    ) -> Result<(), CheckpointError> {
        let last = level == Level::MEMORY && self.peek() == Some(Action::Drop { step, level });
        let Err(source) = self.slots.load(step, level, &mut self.state, last) else {
            self.arrive(step);
            return Ok(());
        };
        // What was wrong may have been the reading.
        if self.slots.load(step, level, &mut self.state, last).is_ok() {
            self.report
                .mended
                .push(format!("the snapshot of step {step} was read twice ({source})"));
            self.arrive(step);
            return Ok(());
        }
        let mut bound = step;
        loop {
            let Some((before, from)) = self.slots.before(bound) else {
                return Err(CheckpointError::Lost { step, source });
            };
            let mut try_it = || self.slots.load(before, from, &mut self.state, false).is_ok();
            if try_it() || try_it() {
                for at in before..step {
                    self.step(at, steps)?;
                }
                self.report.advanced += (step - before) as u64;
                self.report.mended.push(format!(
                    "the snapshot of step {step} could not be read ({source}); run again from step {before}"
                ));
                // What is stored there is of no use: another copy takes its place.
                self.slots.free(step, level);
                self.arrive(step);
                return self.store(step, level);
            }
            bound = before;
        }
    }

    /// When the disk has refused a snapshot: goes on with memory; after recording a step not before it is reversed.
    fn mend(&mut self, done: Action) -> Result<(), CheckpointError> {
        self.failed |= self.slots.has_failed();
        if !self.failed || matches!(done, Action::Tape { .. }) {
            return Ok(());
        }
        self.failed = false;
        self.slots.rescue(&self.state);
        let why = self.slots.why_failed();
        if self.memory_slots == 0 {
            let full = TierError::Full { needed: self.report.snapshot_bytes as u64, limit: None };
            return Err(self.disk_failed(why.unwrap_or_else(|| full.to_string())));
        }
        let (at, kept) = (self.at, self.entries().iter().any(|entry| entry.step == self.at));
        if !self.forward && self.current && at < self.left && !kept {
            // It may have left its slot, and be the only one of the steps up to here.
            self.store(at, Level::MEMORY)?;
        }
        let stored = self.entries();
        let steps = self.schedule.steps();
        let salvage = if self.forward {
            Salvage::forward(self.at, steps, stored, self.memory_slots)
        } else {
            Salvage::backward(self.left, self.report.steps, stored, self.memory_slots)
        };
        self.report.mended.push(format!(
            "the disk refused a snapshot{}; went on after step {} with {} in memory",
            why.map_or(String::new(), |why| format!(" ({why})")),
            if self.forward { self.at } else { self.left },
            Count(self.memory_slots, "slot")
        ));
        self.replace_schedule(Box::new(salvage));
        Ok(())
    }

    /// Goes on with the reversal that an earlier process began.
    pub(crate) fn take_over(&mut self, schedule: Box<dyn Schedule>, steps: usize, left: usize) {
        self.schedule = schedule;
        self.report.schedule = self.schedule.describe();
        self.report.steps = steps;
        self.report.resumed = Some(steps - left);
        self.forward = false;
        self.left = left;
    }

    fn replace_schedule(&mut self, schedule: Box<dyn Schedule>) {
        self.report.schedule = format!("{}, then {}", self.report.schedule, schedule.describe());
        self.schedule = schedule;
        self.ahead.clear();
    }

    /// All that is stored, as a schedule takes it over.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry = |level: Level| move |step| Entry::new(step, level, level == Level::MEMORY);
        let mut entries: Vec<Entry> =
            self.slots.stored(Level::MEMORY).into_iter().map(entry(Level::MEMORY)).collect();
        for step in self.slots.stored(Level::DISK) {
            if !entries.iter().any(|known| known.step == step) {
                entries.push(entry(Level::DISK)(step));
            }
        }
        entries.sort_by_key(|entry| entry.step);
        entries
    }

    fn save_forward(&mut self) {
        if let (Some(durable), Some(disk)) = (&mut self.durable, self.slots.disk()) {
            durable.save_forward(disk);
        }
    }

    fn save_turn(&mut self) {
        if let (Some(durable), Some(disk)) = (&mut self.durable, self.slots.disk()) {
            durable.save_turn(disk, self.report.steps, &self.state);
        }
    }

    fn save_backward<A: Snapshot>(&mut self, adjoint: &A) {
        if let (Some(durable), Some(disk)) = (&mut self.durable, self.slots.disk()) {
            durable.save_backward(disk, self.left, adjoint);
        }
    }

    fn tell_progress(&mut self) {
        let Some(on_progress) = &mut self.on_progress else { return };
        let now = Instant::now();
        let due = self.told.is_none_or(|told| now - told >= PROGRESS);
        if !due && self.left > 0 {
            return;
        }
        self.told = Some(now);
        on_progress(&Progress {
            steps: self.schedule.steps(),
            at: self.at,
            reversed: if self.forward { 0 } else { self.report.steps - self.left },
            advanced: self.report.advanced,
            advanced_in_all: self.advanced_in_all,
            elapsed: now - self.start,
        });
    }

    /// The report, complete.
    pub(crate) fn finish(&mut self) -> Report {
        self.slots.fill(&mut self.report);
        if let Some(durable) = &self.durable {
            durable.fill(&mut self.report);
        }
        self.report.total_time = self.start.elapsed();
        self.report.course = self.recorder.as_mut().map(Recorder::finish);
        self.report.clone()
    }
}
