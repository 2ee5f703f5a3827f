//! What the functions of loops under `#[checkpoint]` call.

use stratape_checkpoint::{CheckpointError, Snapshot, Swept, TimeLoop};
use stratape_tape::{ErrorKind, TapeError};

use crate::private::Repeating;

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
    let _again = Repeating::begin();
    let first = std::cell::RefCell::new(Ok(()));
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
    outcome.map(drop).map_err(told)
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
