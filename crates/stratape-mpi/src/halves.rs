//! The two halves of every operation: what a forward pass does and leaves on the tape, and what a backward pass does with it.

mod background;
mod collective;
pub(crate) mod constant;
mod messages;

use stratape::tape::{RecordTape, TapeError};

use crate::error::MpiError;
use crate::number::Number;
use crate::state::{self, State};

pub(crate) use self::background::*;
pub(crate) use self::collective::*;
pub(crate) use self::messages::*;

type Done<T = ()> = Result<T, TapeError>;

/// The rank of nobody: messages to it and from it are not sent.
pub(crate) fn somebody(rank: usize) -> Option<usize> {
    (rank != crate::NOBODY).then_some(rank)
}

/// Runs an operation of a backward pass.
fn run<T>(
    comm: usize,
    operation: impl FnOnce() -> String,
    work: impl FnOnce(&mut State) -> Result<T, MpiError>,
) -> Done<T> {
    let checked = |state: &mut State| {
        state.all_finished()?;
        work(state)
    };
    state::with(comm, operation, checked).map_err(TapeError::from)
}

fn adjoint(of: &str) -> impl FnOnce() -> String + '_ {
    move || format!("adjoint of {of}")
}

fn push_all(tape: &mut RecordTape, numbers: &[u64]) -> Done {
    for number in numbers {
        tape.push(*number)?;
    }
    tape.push(numbers.len() as u64)
}

fn pop_all(tape: &mut RecordTape) -> Done<Vec<u64>> {
    let len: u64 = tape.pop()?;
    let mut numbers = Vec::new();
    for _ in 0..len {
        numbers.push(tape.pop()?);
    }
    numbers.reverse();
    Ok(numbers)
}

fn push_floats<T: Number>(tape: &mut RecordTape, numbers: &[T]) -> Done {
    for number in numbers {
        tape.push(*number)?;
    }
    Ok(())
}

fn pop_floats<T: Number>(tape: &mut RecordTape, len: usize) -> Done<Vec<T>> {
    let mut numbers = vec![T::ZERO; len];
    for number in numbers.iter_mut().rev() {
        *number = tape.pop()?;
    }
    Ok(numbers)
}

fn push_counts(tape: &mut RecordTape, counts: &[usize]) -> Done {
    let counts: Vec<u64> = counts.iter().map(|count| *count as u64).collect();
    push_all(tape, &counts)
}

fn pop_counts(tape: &mut RecordTape) -> Done<Vec<usize>> {
    Ok(pop_all(tape)?.into_iter().map(|count| count as usize).collect())
}
