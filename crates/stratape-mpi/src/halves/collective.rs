//! What all ranks do together.

use stratape::tape::RecordTape;

use super::{
    Done, adjoint, pop_all, pop_counts, pop_floats, push_all, push_counts, push_floats, run,
};
use crate::error::MpiError;
use crate::number::{Number, add};
use crate::state::{self, Combine, Way};

pub(crate) fn broadcast<T: Number>(
    way: Way,
    comm: usize,
    x: &mut [T],
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("{way}broadcast from rank {root}"),
        |state| state.broadcast(way, x, root),
    )
}

pub(crate) fn broadcast_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &mut [T],
    root: usize,
) -> Done {
    Ok(broadcast(Way::Forward, comm, x, root)?)
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
    way: Way,
    comm: usize,
    how: Combine,
    x: &[T],
    y: &mut [T],
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("{way}all-reduce ({how:?})"),
        |state| state.all_reduce(way, how, x, y),
    )
}

pub(crate) fn reduce<T: Number>(
    way: Way,
    comm: usize,
    how: Combine,
    (x, y): (&[T], &mut [T]),
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("{way}reduce ({how:?}) to rank {root}"),
        |state| state.reduce(way, how, (x, y), root),
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
            let others = state::with(
                comm,
                || "product of other ranks".to_owned(),
                |state| state.others(Way::Forward, x),
            )?;
            push_floats(tape, &others)
        }
        Combine::Max | Combine::Min => {
            let winners = state::with(
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
    all_reduce(Way::Forward, comm, how, x, y)?;
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
    reduce(Way::Forward, comm, how, (x, y), root)?;
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
    way: Way,
    comm: usize,
    (x, all): (&[T], &mut [T]),
    counts: &[usize],
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("{way}gather on rank {root}"),
        |state| state.gather(way, (x, all), counts, root),
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
    gather(Way::Forward, comm, (x, all), counts, root)?;
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
    way: Way,
    comm: usize,
    (all, y): (&[T], &mut [T]),
    counts: &[usize],
    root: usize,
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("{way}scatter from rank {root}"),
        |state| state.scatter(way, (all, y), counts, root),
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
    scatter(Way::Forward, comm, (all, y), counts, root)?;
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
    way: Way,
    comm: usize,
    (x, all): (&[T], &mut [T]),
    counts: &[usize],
) -> Result<(), MpiError> {
    state::with(
        comm,
        || format!("{way}all-gather"),
        |state| state.all_gather(way, (x, all), counts),
    )
}

pub(crate) fn all_gather_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    all: &mut [T],
    counts: &[usize],
) -> Done {
    all_gather(Way::Forward, comm, (x, all), counts)?;
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

pub(crate) fn all_to_all<T: Number>(
    way: Way,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Result<(), MpiError> {
    state::with(comm, || format!("{way}all-to-all"), |state| state.all_to_all(way, x, y))
}

pub(crate) fn all_to_all_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Done {
    Ok(all_to_all(Way::Forward, comm, x, y)?)
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
