//! A model of a run: how long a schedule takes, with steps, copies and a disk beside them that take so long each.
//!
//! The model does what a run does. A store to disk copies the state and waits only when as many are being written as may be; loads are
//! read ahead within the same window and the same number; the disk does one thing after the other. It knows nothing of caches, of other
//! programs, or of steps that differ.

use std::collections::{HashMap, VecDeque};

use super::Room;
use crate::run::LOOK_AHEAD;
use crate::schedule::{Action, Level, Schedule, Told};

/// What was measured, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) forward: f64,
    pub(crate) copy: f64,
    pub(crate) write: f64,
    pub(crate) read: f64,
}

impl Costs {
    /// When nothing could be measured: a step takes as long as moving its state.
    pub(crate) const UNKNOWN: Self = Self { forward: 1.0, copy: 0.3, write: 1.0, read: 1.0 };

    /// A pullback takes about as long as three steps: it is not measured, since that would need an adjoint.
    pub(crate) fn backward(&self) -> f64 {
        3.0 * self.forward
    }

    /// Steps in the time of writing and reading one snapshot.
    pub(super) fn period(&self) -> usize {
        ((self.write + self.read) / self.forward.max(1e-12)).ceil().clamp(1.0, 1e9) as usize
    }
}

/// How long a run takes, and what of it is waiting for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Time {
    pub(super) total: f64,
    pub(super) waited: f64,
    pub(super) advanced: f64,
}

/// Goes through a schedule of `steps`; nothing, once it takes longer than `bound`.
pub(super) fn simulate(
    schedule: impl Schedule,
    steps: usize,
    room: Room,
    costs: Costs,
    bound: f64,
) -> Option<Time> {
    let mut actions = Told { schedule, steps };
    let mut machine = Machine::new(room, costs);
    let (mut ahead, mut seen) = (VecDeque::new(), 0);
    let mut forward = true;
    loop {
        while ahead.len() < LOOK_AHEAD
            && let Some(action) = actions.next()
        {
            ahead.push_back(action);
        }
        let Some(action) = ahead.pop_front() else { break };
        seen = usize::saturating_sub(seen, 1);
        if !forward && !room.synchronous {
            seen = machine.read_ahead(action, &ahead, seen);
        }
        forward &= action != Action::EndForward;
        machine.carry_out(action, ahead.front().copied());
        if matches!(action, Action::Load { level: Level::DISK, .. }) {
            // It may be asked for again.
            seen = 0;
        }
        if machine.time.total > bound {
            return None;
        }
    }
    Some(machine.time)
}

struct Machine {
    room: Room,
    costs: Costs,
    time: Time,
    /// When the disk has done all it was asked for.
    disk: f64,
    /// When the writes on their way will be done, the first first.
    writing: VecDeque<f64>,
    /// When each snapshot on disk is written.
    written: HashMap<usize, f64>,
    /// When each snapshot that is being read ahead will be here.
    fetched: HashMap<usize, f64>,
}

impl Machine {
    fn new(room: Room, costs: Costs) -> Self {
        Self {
            room,
            costs,
            time: Time::default(),
            disk: 0.0,
            writing: VecDeque::new(),
            written: HashMap::new(),
            fetched: HashMap::new(),
        }
    }

    fn wait(&mut self, until: f64) {
        let waited = (until - self.time.total).max(0.0);
        self.time.waited += waited;
        self.time.total += waited;
    }

    /// Asks for the snapshots that the next actions load; `seen` of those have been looked at.
    fn read_ahead(&mut self, now: Action, ahead: &VecDeque<Action>, mut seen: usize) -> usize {
        if matches!(now, Action::Store { level: Level::DISK, .. }) {
            return seen;
        }
        while let Some(action) = ahead.get(seen) {
            match *action {
                Action::Store { level: Level::DISK, .. } => break,
                Action::Load { step, level: Level::DISK } if !self.fetched.contains_key(&step) => {
                    if self.fetched.len() >= self.room.staged.reads {
                        break;
                    }
                    let ready = self.read(step);
                    self.fetched.insert(step, ready);
                }
                _ => {}
            }
            seen += 1;
        }
        seen
    }

    /// When a snapshot will be here that is asked for now.
    fn read(&mut self, step: usize) -> f64 {
        match self.written.get(&step) {
            // It is kept when it is written.
            Some(written) if *written > self.time.total && !self.room.synchronous => *written,
            _ => {
                self.disk = self.disk.max(self.time.total) + self.costs.read;
                self.disk
            }
        }
    }

    fn carry_out(&mut self, action: Action, next: Option<Action>) {
        let Costs { forward, copy, write, .. } = self.costs;
        match action {
            Action::Advance { from, to } => {
                self.time.total += (to - from) as f64 * forward;
                self.time.advanced += (to - from) as f64;
            }
            Action::Tape { step, keep } => {
                // A step that is reversed at once is run by its pullback.
                if keep || next != Some(Action::Reverse { step }) {
                    self.time.total += copy + forward;
                    self.time.advanced += 1.0;
                }
            }
            Action::Reverse { .. } => self.time.total += self.costs.backward(),
            Action::Store { level: Level::MEMORY, .. } => self.time.total += copy,
            Action::Store { step, .. } => {
                while self.writing.front().is_some_and(|done| *done <= self.time.total) {
                    self.writing.pop_front();
                }
                while self.writing.len() >= self.room.staged.writes.max(1)
                    && let Some(done) = self.writing.pop_front()
                {
                    self.wait(done);
                }
                self.time.total += copy;
                self.disk = self.disk.max(self.time.total) + write;
                self.writing.push_back(self.disk);
                self.written.insert(step, self.disk);
                if self.room.synchronous {
                    self.wait(self.disk);
                }
            }
            // The last load from memory changes places.
            Action::Load { step, level: Level::MEMORY } => {
                if next != Some(Action::Drop { step, level: Level::MEMORY }) {
                    self.time.total += copy;
                }
            }
            Action::Load { step, .. } => {
                let ready = self.fetched.remove(&step);
                let ready = ready.unwrap_or_else(|| self.read(step));
                self.wait(ready);
                self.time.total += copy;
            }
            Action::Drop { step, level } => {
                if level != Level::MEMORY {
                    self.written.remove(&step);
                    self.fetched.remove(&step);
                }
            }
            Action::EndForward | Action::EndReverse => {}
        }
    }
}
