//! Messages that a rank waits for.

use stratape::tape::RecordTape;

use super::{Done, run, somebody};
use crate::error::MpiError;
use crate::number::{Number, add};
use crate::state::{self, Way};

/// Sends; the tag of its adjoint.
pub(crate) fn send<T: Number>(
    way: Way,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Result<usize, MpiError> {
    let Some(to) = somebody(to) else { return Ok(0) };
    let operation = || format!("{way}send to rank {to}, tag {tag}");
    state::with(comm, operation, |state| state.send(way, x, to, tag))
}

pub(crate) fn send_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Done {
    tape.push(send(Way::Forward, comm, x, to, tag)? as u64)
}

pub(crate) fn send_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    to: usize,
    tag: usize,
) -> Done {
    let label: u64 = tape.pop()?;
    let Some(to) = somebody(to) else { return Ok(()) };
    let operation = || format!("adjoint of send to rank {to}, tag {tag}");
    run(comm, operation, |state| {
        let mut came = vec![T::ZERO; dx.len()];
        state.receive(Way::Backward, &mut came, Some(to), label as usize)?;
        add(dx, &came);
        Ok(())
    })
}

/// Receives; the tag of its adjoint.
pub(crate) fn receive<T: Number>(
    way: Way,
    comm: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Result<usize, MpiError> {
    let Some(from) = somebody(from) else { return Ok(0) };
    let operation = || format!("{way}receive from rank {from}, tag {tag}");
    state::with(comm, operation, |state| Ok(state.receive(way, y, Some(from), tag)?.1))
}

pub(crate) fn receive_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    tape.push(receive(Way::Forward, comm, y, from, tag)? as u64)
}

pub(crate) fn receive_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dy: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    let label: u64 = tape.pop()?;
    let Some(from) = somebody(from) else { return Ok(()) };
    let operation = || format!("adjoint of receive from rank {from}, tag {tag}");
    run(comm, operation, |state| state.send(Way::Backward, dy, from, label as usize))?;
    dy.fill(T::ZERO);
    Ok(())
}

/// Receives from any rank; which one it was, and the tag of the adjoint.
pub(crate) fn receive_any<T: Number>(
    way: Way,
    comm: usize,
    y: &mut [T],
    tag: usize,
) -> Result<(usize, usize), MpiError> {
    let operation = || format!("{way}receive from any rank, tag {tag}");
    state::with(comm, operation, |state| state.receive(way, y, None, tag))
}

pub(crate) fn receive_any_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    y: &mut [T],
    tag: usize,
) -> Done<usize> {
    let (from, label) = receive_any(Way::Forward, comm, y, tag)?;
    tape.push(label as u64)?;
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

/// Sends and receives; the tags of the adjoints of both.
pub(crate) fn exchange<T: Number>(
    way: Way,
    comm: usize,
    (x, to): (&[T], usize),
    (y, from): (&mut [T], usize),
    tag: usize,
) -> Result<[usize; 2], MpiError> {
    let (to, from) = (somebody(to), somebody(from));
    let operation = || format!("{way}exchange, tag {tag}");
    state::with(comm, operation, |state| state.exchange(way, (x, to, tag), (y, from, tag)))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn exchange_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    tape.push(exchange(Way::Forward, comm, (x, to), (y, from), tag)?.map(|label| label as u64))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn exchange_backward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    dx: &mut [T],
    to: usize,
    dy: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    let [sent, came_with]: [u64; 2] = tape.pop()?;
    let (to, from) = (somebody(to), somebody(from));
    run(
        comm,
        || format!("adjoint of exchange, tag {tag}"),
        |state| {
            let mut came = vec![T::ZERO; dx.len()];
            state.exchange(
                Way::Backward,
                (dy, from, came_with as usize),
                (&mut came, to, sent as usize),
            )?;
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
