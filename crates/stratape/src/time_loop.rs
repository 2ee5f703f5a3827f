//! What the functions of loops under `#[checkpoint]` call.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};

use stratape_checkpoint::{CheckpointError, Report, Snapshot, Swept, TimeLoop};
use stratape_tape::{ErrorKind, TapeError};

use crate::private::{Repeating, speaks};

/// Reports that a gradient leaves: more than these say nothing new.
const MOST_REPORTS: usize = 64;

thread_local! {
    /// That of the gradient that runs on this thread.
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
    /// Whether there is one: small gradients ask often.
    static LOGS: Cell<bool> = const { Cell::new(false) };
}

/// Reports of the loops of a gradient, shared by its workspace and the thread it runs on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Report>>>);

impl Log {
    pub(crate) fn reports(&self) -> Vec<Report> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A gradient begins on this thread, whose loops leave their reports here, or nowhere.
    pub(crate) fn install(log: Option<&Self>) {
        if log.is_none() && !LOGS.get() {
            return;
        }
        if let Some(log) = log {
            log.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        LOGS.set(log.is_some());
        LOG.set(log.cloned());
    }

    fn is_installed() -> bool {
        LOGS.get()
    }

    fn add(report: Report) {
        LOG.with_borrow(|log| {
            let Some(log) = log else { return };
            let mut reports = log.0.lock().unwrap_or_else(PoisonError::into_inner);
            if reports.len() < MOST_REPORTS {
                reports.push(report);
            }
        });
    }
}

/// The numbers of a range.
pub fn trip_count(from: i128, to: i128) -> usize {
    usize::try_from(to.saturating_sub(from).max(0)).unwrap_or(usize::MAX)
}

/// Runs a loop, storing snapshots. The number of steps is known, or only that there are no more than so many.
///
/// # Errors
/// What a step said first, or the driver.
pub fn sweep<S: Snapshot + 'static>(
    time_loop: TimeLoop<S>,
    (steps, known): (usize, bool),
    ended: impl FnMut(&S) -> bool + Send + 'static,
    mut step: impl FnMut(usize, &mut S) -> Result<(), TapeError>,
) -> Result<Swept<S>, TapeError> {
    let time_loop = if known { time_loop.steps(steps) } else { time_loop.until(ended) };
    // Loops inside this one are run again and again.
    let time_loop = time_loop.record(Log::is_installed() && speaks());
    let mut first = Ok(());
    let swept = time_loop.forward(|k, state| {
        if first.is_ok() {
            first = step(k, state);
        }
    });
    first?;
    swept.map_err(told)
}

/// Reverses a loop.
///
/// # Errors
/// What a step or its reversal said first, or the driver.
pub fn replay<S: Snapshot>(
    swept: Swept<S>,
    mut step: impl FnMut(usize, &mut S) -> Result<(), TapeError>,
    mut pull: impl FnMut(usize, &mut S) -> Result<(), TapeError>,
) -> Result<(), TapeError> {
    let again = Repeating::begin();
    let first = RefCell::new(Ok(()));
    let outcome = swept.reverse_with(
        |k, state| {
            if first.borrow().is_ok() {
                let _ = first.replace(step(k, state));
            }
        },
        |k, state| {
            if first.borrow().is_ok() {
                let _ = first.replace(pull(k, state));
            }
        },
    );
    first.into_inner()?;
    let report = outcome.map_err(told)?;
    drop(again);
    if report.course.is_some() {
        Log::add(report);
    }
    Ok(())
}

fn told(error: CheckpointError) -> TapeError {
    match error {
        CheckpointError::Disk(error) => error,
        error => ErrorKind::Snapshots(error.to_string()).into(),
    }
}

/// A list as the array it is.
#[track_caller]
#[expect(clippy::panic, reason = "the length is that of the array it came from")]
pub fn array<T, const N: usize>(list: &[T]) -> &[T; N] {
    match list.try_into() {
        Ok(array) => array,
        Err(_) => panic!("a list of length {} is no array of length {N}", list.len()),
    }
}

/// A list as the array it is, to be written.
#[track_caller]
#[expect(clippy::panic, reason = "the length is that of the array it came from")]
pub fn array_mut<T, const N: usize>(list: &mut [T]) -> &mut [T; N] {
    let len = list.len();
    match list.try_into() {
        Ok(array) => array,
        Err(_) => panic!("a list of length {len} is no array of length {N}"),
    }
}
