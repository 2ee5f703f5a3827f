//! The two halves of every operation: what a forward pass does and leaves on the tape, and what a backward pass does with it.

use stratape::tape::{RecordTape, TapeError};

use crate::error::{Fault, MpiError};
use crate::number::{Number, add};
use crate::state::{self, Combine, State, Way};

type Done<T = ()> = Result<T, TapeError>;

/// The rank of nobody: messages to it and from it are not sent.
pub(crate) fn somebody(rank: usize) -> Option<usize> {
    (rank != crate::NOBODY).then_some(rank)
}

fn run<T>(
    comm: usize,
    operation: impl FnOnce() -> String,
    work: impl FnOnce(&mut State) -> Result<T, MpiError>,
) -> Done<T> {
    state::with(comm, operation, work).map_err(TapeError::from)
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

// Messages.

pub(crate) fn send<T: Number>(comm: usize, x: &[T], to: usize, tag: usize) -> Result<(), MpiError> {
    let Some(to) = somebody(to) else { return Ok(()) };
    let operation = || format!("send to rank {to}, tag {tag}");
    state::with(comm, operation, |state| state.send(Way::Forward, x, to, tag))
}

pub(crate) fn send_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Done {
    Ok(send(comm, x, to, tag)?)
}

pub(crate) fn send_backward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    to: usize,
    tag: usize,
) -> Done {
    let Some(to) = somebody(to) else { return Ok(()) };
    let operation = || format!("adjoint of send to rank {to}, tag {tag}");
    run(comm, operation, |state| {
        let mut came = vec![T::ZERO; dx.len()];
        state.receive(Way::Backward, &mut came, Some(to), Some(tag))?;
        add(dx, &came);
        Ok(())
    })
}

pub(crate) fn receive<T: Number>(
    comm: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Result<(), MpiError> {
    let Some(from) = somebody(from) else { return Ok(()) };
    let operation = || format!("receive from rank {from}, tag {tag}");
    state::with(comm, operation, |state| {
        state.receive(Way::Forward, y, Some(from), Some(tag)).map(drop)
    })
}

pub(crate) fn receive_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    Ok(receive(comm, y, from, tag)?)
}

pub(crate) fn receive_backward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    dy: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    let Some(from) = somebody(from) else { return Ok(()) };
    let operation = || format!("adjoint of receive from rank {from}, tag {tag}");
    run(comm, operation, |state| state.send(Way::Backward, dy, from, tag))?;
    dy.fill(T::ZERO);
    Ok(())
}

pub(crate) fn receive_any<T: Number>(
    comm: usize,
    y: &mut [T],
    tag: usize,
) -> Result<usize, MpiError> {
    let operation = || format!("receive from any rank, tag {tag}");
    state::with(comm, operation, |state| Ok(state.receive(Way::Forward, y, None, Some(tag))?.0))
}

pub(crate) fn receive_any_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    y: &mut [T],
    tag: usize,
) -> Done<usize> {
    let from = receive_any(comm, y, tag)?;
    tape.push(from as u64)?;
    Ok(from)
}

pub(crate) fn receive_any_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dy: &mut [T],
    tag: usize,
    _: usize,
) -> Done {
    let from: u64 = tape.pop()?;
    receive_backward(tape, comm, dy, from as usize, tag)
}

pub(crate) fn exchange<T: Number>(
    comm: usize,
    (x, to): (&[T], usize),
    (y, from): (&mut [T], usize),
    tag: usize,
) -> Result<(), MpiError> {
    let (to, from) = (somebody(to), somebody(from));
    let operation = || format!("exchange, tag {tag}");
    state::with(comm, operation, |state| state.exchange(Way::Forward, (x, to), (y, from), tag))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn exchange_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    Ok(exchange(comm, (x, to), (y, from), tag)?)
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn exchange_backward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    to: usize,
    dy: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    let (to, from) = (somebody(to), somebody(from));
    run(
        comm,
        || format!("adjoint of exchange, tag {tag}"),
        |state| {
            let mut came = vec![T::ZERO; dx.len()];
            state.exchange(Way::Backward, (dy, from), (&mut came, to), tag)?;
            if to.is_some() {
                add(dx, &came);
            }
            if from.is_some() {
                dy.fill(T::ZERO);
            }
            Ok(())
        },
    )
}

// Messages in the background.

pub(crate) fn begin_send<T: Number>(
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Result<usize, MpiError> {
    let Some(to) = somebody(to) else { return Ok(crate::NOBODY) };
    let operation = || format!("begin to send to rank {to}, tag {tag}");
    state::with(comm, operation, |state| state.begin_send(Way::Forward, x, to, tag, None))
}

pub(crate) fn begin_send_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Done<usize> {
    let request = begin_send(comm, x, to, tag)?;
    tape.push(request as u64)?;
    Ok(request)
}

pub(crate) fn begin_send_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    to: usize,
    tag: usize,
    _: usize,
) -> Done {
    let request: u64 = tape.pop()?;
    if somebody(request as usize).is_none() {
        return Ok(());
    }
    let operation = || format!("adjoint of begin to send to rank {to}, tag {tag}");
    run(comm, operation, |state| {
        let (_, _, came) = state.finish_receive::<T>(Way::Backward, request as usize)?;
        add(dx, &came);
        Ok(())
    })
}

pub(crate) fn finish_send<T: Number>(
    comm: usize,
    request: usize,
) -> Result<(usize, usize, usize), MpiError> {
    let Some(request) = somebody(request) else { return Ok((crate::NOBODY, 0, 0)) };
    let operation = || format!("finish send {request}");
    state::with(comm, operation, |state| state.finish_send::<T>(Way::Forward, request))
}

pub(crate) fn finish_send_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    request: usize,
) -> Done {
    let (to, tag, len) = finish_send::<T>(comm, request)?;
    tape.push([to as u64, tag as u64, len as u64])
}

pub(crate) fn finish_send_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    request: usize,
) -> Done {
    let [to, tag, len]: [u64; 3] = tape.pop()?;
    if somebody(request).is_none() {
        return Ok(());
    }
    run(
        comm,
        || format!("adjoint of finish send {request}"),
        |state| {
            let (to, tag, len) = (to as usize, tag as usize, len as usize);
            state.begin_receive::<T>(Way::Backward, len, to, tag, Some(request)).map(drop)
        },
    )
}

pub(crate) fn begin_receive<T: Number>(
    comm: usize,
    len: usize,
    from: usize,
    tag: usize,
) -> Result<usize, MpiError> {
    let Some(from) = somebody(from) else { return Ok(crate::NOBODY) };
    let operation = || format!("begin to receive from rank {from}, tag {tag}");
    state::with(comm, operation, |state| {
        state.begin_receive::<T>(Way::Forward, len, from, tag, None)
    })
}

pub(crate) fn begin_receive_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    len: usize,
    from: usize,
    tag: usize,
) -> Done<usize> {
    let request = begin_receive::<T>(comm, len, from, tag)?;
    tape.push(request as u64)?;
    Ok(request)
}

pub(crate) fn begin_receive_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    _: usize,
    from: usize,
    tag: usize,
    _: usize,
) -> Done {
    let request: u64 = tape.pop()?;
    if somebody(request as usize).is_none() {
        return Ok(());
    }
    let operation = || format!("adjoint of begin to receive from rank {from}, tag {tag}");
    run(comm, operation, |state| state.finish_send::<T>(Way::Backward, request as usize).map(drop))
}

pub(crate) fn finish_receive<T: Number>(
    comm: usize,
    request: usize,
    y: &mut [T],
) -> Result<(usize, usize), MpiError> {
    let Some(request) = somebody(request) else { return Ok((crate::NOBODY, 0)) };
    state::with(
        comm,
        || format!("finish receive {request}"),
        |state| {
            let (from, tag, came) = state.finish_receive::<T>(Way::Forward, request)?;
            if came.len() != y.len() {
                return Err(state.fault(Fault::Length { expected: y.len(), came: came.len() }));
            }
            y.copy_from_slice(&came);
            Ok((from, tag))
        },
    )
}

pub(crate) fn finish_receive_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    request: usize,
    y: &mut [T],
) -> Done {
    let (from, tag) = finish_receive(comm, request, y)?;
    tape.push([from as u64, tag as u64])
}

pub(crate) fn finish_receive_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    request: usize,
    dy: &mut [T],
) -> Done {
    let [from, tag]: [u64; 2] = tape.pop()?;
    if somebody(request).is_none() {
        return Ok(());
    }
    run(
        comm,
        || format!("adjoint of finish receive {request}"),
        |state| {
            let (from, tag) = (from as usize, tag as usize);
            state.begin_send(Way::Backward, dy, from, tag, Some(request)).map(drop)
        },
    )?;
    dy.fill(T::ZERO);
    Ok(())
}

// Collective operations.

pub(crate) fn broadcast<T: Number>(comm: usize, x: &mut [T], root: usize) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("broadcast from rank {root}"),
        |state| state.broadcast(Way::Forward, x, root),
    )
}

pub(crate) fn broadcast_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &mut [T],
    root: usize,
) -> Done {
    Ok(broadcast(comm, x, root)?)
}

pub(crate) fn broadcast_backward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    root: usize,
) -> Done {
    run(comm, adjoint("broadcast"), |state| {
        let mut sum = vec![T::ZERO; dx.len()];
        state.reduce(Way::Backward, Combine::Sum, (dx, &mut sum), root)?;
        // Elsewhere these are the zeros they began as: what was there before is overwritten.
        dx.copy_from_slice(&sum);
        Ok(())
    })
}

pub(crate) fn all_reduce<T: Number>(
    comm: usize,
    how: Combine,
    x: &[T],
    y: &mut [T],
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("all-reduce ({how:?})"),
        |state| state.all_reduce(Way::Forward, how, x, y),
    )
}

pub(crate) fn reduce<T: Number>(
    comm: usize,
    how: Combine,
    (x, y): (&[T], &mut [T]),
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("reduce ({how:?}) to rank {root}"),
        |state| state.reduce(Way::Forward, how, (x, y), root),
    )
}

/// Leaves on the tape what the adjoint of a reduction needs: who won, or the product of the others.
fn remember<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    (how, root): (Combine, Option<usize>),
    x: &[T],
    y: &[T],
) -> Done {
    match how {
        Combine::Sum => Ok(()),
        Combine::Product => {
            let others = run(
                comm,
                || "product of other ranks".to_owned(),
                |state| state.others(Way::Forward, x),
            )?;
            push_floats(tape, &others)
        }
        Combine::Max | Combine::Min => {
            let winners = run(
                comm,
                || format!("winner of {how:?}"),
                |state| {
                    let mut best = vec![T::ZERO; x.len()];
                    best[..y.len().min(x.len())].copy_from_slice(&y[..y.len().min(x.len())]);
                    if let Some(root) = root {
                        state.broadcast(Way::Forward, &mut best, root)?;
                    }
                    let nobody = i64::MAX;
                    let mine: Vec<i64> = x
                        .iter()
                        .zip(&best)
                        .map(|(x, best)| if x == best { state.rank as i64 } else { nobody })
                        .collect();
                    let mut lowest = vec![nobody; x.len()];
                    state.all_reduce(Way::Forward, Combine::Min, &mine, &mut lowest)?;
                    let rank = state.rank as i64;
                    Ok(lowest
                        .into_iter()
                        .map(|winner| u64::from(winner == rank))
                        .collect::<Vec<_>>())
                },
            )?;
            push_all(tape, &winners)
        }
    }
}

/// Adds to the adjoint of what a rank contributed, given that of the result.
fn recall<T: Number>(tape: &mut RecordTape, how: Combine, dx: &mut [T], seed: &[T]) -> Done {
    match how {
        Combine::Sum => add(dx, seed),
        Combine::Product => {
            let others = pop_floats::<T>(tape, dx.len())?;
            let parts: Vec<T> = others.iter().zip(seed).map(|(o, s)| o.times(*s)).collect();
            add(dx, &parts);
        }
        Combine::Max | Combine::Min => {
            for ((d, won), seed) in dx.iter_mut().zip(pop_all(tape)?).zip(seed) {
                if won == 1 {
                    *d = d.plus(*seed);
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn all_reduce_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    how: Combine,
    x: &[T],
    y: &mut [T],
) -> Done {
    all_reduce(comm, how, x, y)?;
    remember(tape, comm, (how, None), x, y)
}

pub(crate) fn all_reduce_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    how: Combine,
    dx: &mut [T],
    dy: &mut [T],
) -> Done {
    let mut seed = vec![T::ZERO; dy.len()];
    run(comm, adjoint("all-reduce"), |state| {
        state.all_reduce(Way::Backward, Combine::Sum, dy, &mut seed)
    })?;
    dy.fill(T::ZERO);
    recall(tape, how, dx, &seed)
}

pub(crate) fn reduce_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    how: Combine,
    (x, y): (&[T], &mut [T]),
    root: usize,
) -> Done {
    reduce(comm, how, (x, y), root)?;
    remember(tape, comm, (how, Some(root)), x, y)
}

pub(crate) fn reduce_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    how: Combine,
    (dx, dy): (&mut [T], &mut [T]),
    root: usize,
) -> Done {
    let mut seed = vec![T::ZERO; dx.len()];
    run(comm, adjoint("reduce"), |state| {
        if state.rank == root {
            seed.copy_from_slice(dy);
            // On other ranks the result is left as it was.
            dy.fill(T::ZERO);
        }
        state.broadcast(Way::Backward, &mut seed, root)
    })?;
    recall(tape, how, dx, &seed)
}

pub(crate) fn gather<T: Number>(
    comm: usize,
    (x, all): (&[T], &mut [T]),
    counts: &[usize],
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("gather on rank {root}"),
        |state| state.gather(Way::Forward, (x, all), counts, root),
    )
}

pub(crate) fn gather_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    all: &mut [T],
    counts: &[usize],
    root: usize,
) -> Done {
    gather(comm, (x, all), counts, root)?;
    push_counts(tape, counts)
}

pub(crate) fn gather_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    dall: &mut [T],
    root: usize,
) -> Done {
    let counts = pop_counts(tape)?;
    run(comm, adjoint("gather"), |state| {
        let mut part = vec![T::ZERO; dx.len()];
        state.scatter(Way::Backward, (dall, &mut part), &counts, root)?;
        add(dx, &part);
        if state.rank == root {
            dall.fill(T::ZERO);
        }
        Ok(())
    })
}

pub(crate) fn scatter<T: Number>(
    comm: usize,
    (all, y): (&[T], &mut [T]),
    counts: &[usize],
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("scatter from rank {root}"),
        |state| state.scatter(Way::Forward, (all, y), counts, root),
    )
}

pub(crate) fn scatter_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    all: &[T],
    y: &mut [T],
    counts: &[usize],
    root: usize,
) -> Done {
    scatter(comm, (all, y), counts, root)?;
    push_counts(tape, counts)
}

pub(crate) fn scatter_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dall: &mut [T],
    dy: &mut [T],
    root: usize,
) -> Done {
    let counts = pop_counts(tape)?;
    run(comm, adjoint("scatter"), |state| {
        let mut whole = vec![T::ZERO; if state.rank == root { dall.len() } else { 0 }];
        state.gather(Way::Backward, (dy, &mut whole), &counts, root)?;
        add(dall, &whole);
        dy.fill(T::ZERO);
        Ok(())
    })
}

pub(crate) fn all_gather<T: Number>(
    comm: usize,
    (x, all): (&[T], &mut [T]),
    counts: &[usize],
) -> Result<(), MpiError> {
    state::with(
        comm,
        || "all-gather".to_owned(),
        |state| state.all_gather(Way::Forward, (x, all), counts),
    )
}

pub(crate) fn all_gather_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    all: &mut [T],
    counts: &[usize],
) -> Done {
    all_gather(comm, (x, all), counts)?;
    push_counts(tape, counts)
}

pub(crate) fn all_gather_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    dall: &mut [T],
) -> Done {
    let counts = pop_counts(tape)?;
    run(comm, adjoint("all-gather"), |state| {
        let mut part = vec![T::ZERO; dx.len()];
        state.reduce_scatter(Way::Backward, (dall, &mut part), &counts)?;
        add(dx, &part);
        dall.fill(T::ZERO);
        Ok(())
    })
}

pub(crate) fn all_to_all<T: Number>(comm: usize, x: &[T], y: &mut [T]) -> Result<(), MpiError> {
    state::with(comm, || "all-to-all".to_owned(), |state| state.all_to_all(Way::Forward, x, y))
}

pub(crate) fn all_to_all_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Done {
    Ok(all_to_all(comm, x, y)?)
}

pub(crate) fn all_to_all_backward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    dy: &mut [T],
) -> Done {
    run(comm, adjoint("all-to-all"), |state| {
        let mut came = vec![T::ZERO; dx.len()];
        state.all_to_all(Way::Backward, dy, &mut came)?;
        add(dx, &came);
        dy.fill(T::ZERO);
        Ok(())
    })
}

pub(crate) fn barrier(comm: usize) -> Result<(), MpiError> {
    state::with(comm, || "barrier".to_owned(), |state| state.barrier(Way::Forward))
}

pub(crate) fn barrier_forward(_: &mut RecordTape, comm: usize) -> Done {
    Ok(barrier(comm)?)
}

pub(crate) fn barrier_backward(_: &mut RecordTape, comm: usize) -> Done {
    run(comm, adjoint("barrier"), |state| state.barrier(Way::Backward))
}

fn push_counts(tape: &mut RecordTape, counts: &[usize]) -> Done {
    let counts: Vec<u64> = counts.iter().map(|count| *count as u64).collect();
    push_all(tape, &counts)
}

fn pop_counts(tape: &mut RecordTape) -> Done<Vec<usize>> {
    Ok(pop_all(tape)?.into_iter().map(|count| count as usize).collect())
}
