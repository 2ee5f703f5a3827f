//! Messages in the background: what begins in the forward pass is waited for in the backward pass, and the other way round.

use stratape::tape::RecordTape;

use super::{Done, run, somebody};
use crate::error::{Fault, MpiError};
use crate::number::{Number, add};
use crate::state::{self, Way};

/// Notes that a request belongs to a gradient, in whose forward pass it must be finished.
pub(super) fn must_finish(way: Way, comm: usize, request: usize) -> Result<(), MpiError> {
    let Some(request) = somebody(request) else { return Ok(()) };
    state::with_same(comm, |state| {
        state.must_finish(way, request);
        Ok(())
    })
}

pub(crate) fn begin_send<T: Number>(
    way: Way,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Result<usize, MpiError> {
    let Some(to) = somebody(to) else { return Ok(crate::NOBODY) };
    let operation = || format!("{way}begin to send to rank {to}, tag {tag}");
    state::with(comm, operation, |state| state.begin_send(way, x, to, tag, None))
}

pub(crate) fn begin_send_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Done<usize> {
    let request = begin_send(Way::Forward, comm, x, to, tag)?;
    must_finish(Way::Forward, comm, request)?;
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
    way: Way,
    comm: usize,
    request: usize,
) -> Result<(usize, usize, usize), MpiError> {
    let Some(request) = somebody(request) else { return Ok((crate::NOBODY, 0, 0)) };
    let operation = || format!("{way}finish send {request}");
    state::with(comm, operation, |state| state.finish_send::<T>(way, request))
}

pub(crate) fn finish_send_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    request: usize,
) -> Done {
    let (to, tag, len) = finish_send::<T>(Way::Forward, comm, request)?;
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
    way: Way,
    comm: usize,
    len: usize,
    from: usize,
    tag: usize,
) -> Result<usize, MpiError> {
    let Some(from) = somebody(from) else { return Ok(crate::NOBODY) };
    let operation = || format!("{way}begin to receive from rank {from}, tag {tag}");
    state::with(comm, operation, |state| state.begin_receive::<T>(way, len, from, tag, None))
}

pub(crate) fn begin_receive_forward<T: Number>(
    tape: &mut RecordTape,
    comm: usize,
    len: usize,
    from: usize,
    tag: usize,
) -> Done<usize> {
    let request = begin_receive::<T>(Way::Forward, comm, len, from, tag)?;
    must_finish(Way::Forward, comm, request)?;
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
    way: Way,
    comm: usize,
    request: usize,
    y: &mut [T],
) -> Result<(usize, usize), MpiError> {
    let Some(request) = somebody(request) else { return Ok((crate::NOBODY, 0)) };
    state::with(
        comm,
        || format!("{way}finish receive {request}"),
        |state| {
            let (from, tag, came) = state.finish_receive::<T>(way, request)?;
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
    let (from, tag) = finish_receive(Way::Forward, comm, request, y)?;
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
