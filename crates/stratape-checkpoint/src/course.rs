//! The course of a run over time: which steps were run and reversed when, and which snapshots were held, to be drawn later.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::schedule::Level;

/// Spans kept before those that are too short to be seen are dropped or merged.
const MOST_SPANS: usize = 4096;
/// Snapshots held at once before every other one is left out of the course, and the rest taken half as often.
const MOST_HELD: usize = 1024;
/// A span is too short to be seen if so many of it fit into the run.
const FINENESS: u32 = 2048;

/// What a run did, over time; see [`TimeLoop::record`](crate::TimeLoop::record).
///
/// ```
/// use stratape_checkpoint::{Doing, Strategy, TimeLoop};
///
/// let (_, _, report) = TimeLoop::new(0.5_f64)
///     .steps(10)
///     .slots(2)
///     .schedule(Strategy::Revolve)
///     .record(true)
///     .gradient(|_, x| *x = x.sin(), |_| 1.0, |_, x, dx| *dx *= x.cos())?;
/// let course = report.course.unwrap_or_default();
/// let first = course.spans.iter().find(|span| span.doing == Doing::Run);
/// assert_eq!(first.map(|span| span.from), Some(0));
/// assert!(course.turn <= course.end);
/// # Ok::<(), stratape_checkpoint::CheckpointError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Course {
    /// In the order in which they ended. Of long runs, those that are too short to be seen in a drawing are missing, or merged with their neighbours.
    pub spans: Vec<Span>,
    /// When the loop had been run, and its reversal began.
    pub turn: Duration,
    /// When the first step had been reversed.
    pub end: Duration,
}

/// Something that took a time, and some steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// What was done.
    pub doing: Doing,
    /// The first step.
    pub from: usize,
    /// The step after the last; for a snapshot, the same as `from`.
    pub to: usize,
    /// When it began, since the start of the run.
    pub begun: Duration,
    /// When it ended.
    pub ended: Duration,
}

/// What a run spends its time with, or its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Runs steps, for the first time or again.
    Run,
    /// Reverses steps, the last one first.
    Reverse,
    /// Holds the snapshot of a step.
    Hold(Level),
}

/// Collects the spans, thinning them out as they become many.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    course: Course,
    /// Snapshots that are held, and since when.
    held: BTreeMap<(usize, Level), Duration>,
    /// Of these, so many are left out for each that is taken, and have been since the last.
    left_out: (usize, usize),
    /// Shorter spans are not seen.
    grain: Duration,
}

impl Recorder {
    /// Steps were run or reversed.
    pub(crate) fn did(&mut self, doing: Doing, steps: (usize, usize), times: (Duration, Duration)) {
        let span = Span { doing, from: steps.0, to: steps.1, begun: times.0, ended: times.1 };
        self.add(span);
        self.course.end = times.1;
    }

    pub(crate) fn stored(&mut self, step: usize, level: Level, now: Duration) {
        if self.left_out.1 < self.left_out.0 {
            self.left_out.1 += 1;
            return;
        }
        self.left_out.1 = 0;
        self.held.insert((step, level), now);
        if self.held.len() >= MOST_HELD {
            let mut keep = false;
            self.held.retain(|_, _| {
                keep = !keep;
                keep
            });
            self.left_out.0 = 2 * self.left_out.0 + 1;
        }
    }

    pub(crate) fn freed(&mut self, step: usize, level: Level, now: Duration) {
        if let Some(begun) = self.held.remove(&(step, level)) {
            self.add(Span { doing: Doing::Hold(level), from: step, to: step, begun, ended: now });
        }
    }

    pub(crate) fn turned(&mut self, now: Duration) {
        self.course.turn = now;
    }

    pub(crate) fn finish(&mut self) -> Course {
        let end = self.course.end;
        for ((step, level), begun) in std::mem::take(&mut self.held) {
            let doing = Doing::Hold(level);
            self.add(Span { doing, from: step, to: step, begun, ended: end.max(begun) });
        }
        std::mem::take(&mut self.course)
    }

    fn add(&mut self, span: Span) {
        if !merge(&mut self.course.spans, span, self.grain) {
            return;
        }
        self.course.spans.push(span);
        if self.course.spans.len() >= MOST_SPANS {
            self.thin();
        }
    }

    /// Takes a coarser grain until half of the spans are left.
    fn thin(&mut self) {
        let end = self.course.spans.last().map_or(Duration::ZERO, |span| span.ended);
        self.grain = (2 * self.grain).max(end / FINENESS).max(Duration::from_nanos(1));
        while self.course.spans.len() > MOST_SPANS / 2 {
            let spans = std::mem::take(&mut self.course.spans);
            for span in spans {
                if merge(&mut self.course.spans, span, self.grain) {
                    self.course.spans.push(span);
                }
            }
            self.grain *= 2;
        }
    }
}

/// Makes a span part of one before it, or drops it; whether it is still to be added.
fn merge(spans: &mut [Span], span: Span, grain: Duration) -> bool {
    let near = |last: &Span| span.begun.saturating_sub(last.ended) <= grain;
    match span.doing {
        Doing::Run => {
            if let Some(last) = spans.last_mut().filter(|last| last.doing == Doing::Run)
                && last.to == span.from
                && near(last)
            {
                (last.to, last.ended) = (span.to, span.ended);
                return false;
            }
        }
        Doing::Reverse => {
            // Steps that are run again in between are short, and not in the way.
            let last = spans.iter_mut().rev().take(8).find(|last| last.doing == Doing::Reverse);
            if let Some(last) = last
                && last.from == span.to
                && near(last)
            {
                (last.from, last.ended) = (span.from, span.ended);
                return false;
            }
            return true;
        }
        Doing::Hold(_) => {}
    }
    span.ended - span.begun >= grain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Action, Revolve};

    /// The course of a schedule in which each step takes a microsecond.
    fn course(steps: usize, slots: usize) -> Result<Course, crate::schedule::ScheduleError> {
        let (mut recorder, mut now) = (Recorder::default(), Duration::ZERO);
        let mut did = |recorder: &mut Recorder, doing, from: usize, to: usize| {
            let begun = now;
            now += Duration::from_micros((to - from) as u64);
            recorder.did(doing, (from, to), (begun, now));
            now
        };
        let mut now = Duration::ZERO;
        for action in Revolve::new(steps, slots)? {
            match action {
                Action::Advance { from, to } => now = did(&mut recorder, Doing::Run, from, to),
                Action::Store { step, level } => recorder.stored(step, level, now),
                Action::Drop { step, level } => recorder.freed(step, level, now),
                Action::Tape { step, .. } => {
                    now = did(&mut recorder, Doing::Reverse, step, step + 1);
                }
                Action::EndForward => recorder.turned(now),
                _ => {}
            }
        }
        Ok(recorder.finish())
    }

    #[test]
    fn a_short_course_is_whole() -> Result<(), crate::schedule::ScheduleError> {
        let course = course(10, 3)?;
        let steps = |doing: Doing| {
            let spans = course.spans.iter().filter(move |span| span.doing == doing);
            spans.map(|span| span.to - span.from).sum::<usize>()
        };
        assert_eq!(steps(Doing::Reverse), 10);
        // `count(Revolve::new(10, 3)?, 10).forward()` is 25: ten of them are run as they are reversed.
        assert_eq!(steps(Doing::Run), 15);
        let held = course.spans.iter().filter(|span| matches!(span.doing, Doing::Hold(_)));
        assert!(held.clone().count() >= 3 && held.clone().any(|span| span.from == 0));
        Ok(())
    }

    #[test]
    fn a_long_course_stays_bounded_and_keeps_its_outline()
    -> Result<(), crate::schedule::ScheduleError> {
        let steps = 100_000;
        let course = course(steps, 20)?;
        assert!(course.spans.len() < MOST_SPANS, "{}", course.spans.len());
        let reversed: Vec<&Span> =
            course.spans.iter().filter(|span| span.doing == Doing::Reverse).collect();
        assert_eq!(reversed.first().map(|span| span.to), Some(steps));
        assert_eq!(reversed.last().map(|span| span.from), Some(0));
        assert!(
            course.spans.iter().all(|span| span.begun <= span.ended && span.ended <= course.end)
        );
        let first =
            course.spans.iter().find(|span| matches!(span.doing, Doing::Hold(_)) && span.from == 0);
        assert!(first.is_some(), "the first state is held to the end");
        Ok(())
    }
}
