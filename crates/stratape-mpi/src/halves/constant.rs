//! Operations without an adjoint. Their forward halves leave nothing on the tape; their backward halves send nothing, and zero the shadows of what was overwritten.

use stratape::tape::RecordTape;

use super::{Done, must_finish};
use crate::number::Number;
use crate::state::{Combine, Way};

const WAY: Way = Way::Constant;

pub(crate) fn send_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Done {
    super::send(WAY, comm, x, to, tag)?;
    Ok(())
}

pub(crate) fn receive_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    y: &mut [T],
    from: usize,
    tag: usize,
) -> Done {
    super::receive(WAY, comm, y, from, tag)?;
    Ok(())
}

pub(crate) fn receive_any_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    y: &mut [T],
    tag: usize,
) -> Done<usize> {
    Ok(super::receive_any(WAY, comm, y, tag)?.0)
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
    super::exchange(WAY, comm, (x, to), (y, from), tag)?;
    Ok(())
}

pub(crate) fn begin_send_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    to: usize,
    tag: usize,
) -> Done<usize> {
    let request = super::begin_send(WAY, comm, x, to, tag)?;
    must_finish(WAY, comm, request)?;
    Ok(request)
}

pub(crate) fn finish_send_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    request: usize,
) -> Done {
    super::finish_send::<T>(WAY, comm, request)?;
    Ok(())
}

pub(crate) fn begin_receive_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    len: usize,
    from: usize,
    tag: usize,
) -> Done<usize> {
    let request = super::begin_receive::<T>(WAY, comm, len, from, tag)?;
    must_finish(WAY, comm, request)?;
    Ok(request)
}

pub(crate) fn finish_receive_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    request: usize,
    y: &mut [T],
) -> Done {
    super::finish_receive(WAY, comm, request, y)?;
    Ok(())
}

pub(crate) fn broadcast_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &mut [T],
    root: usize,
) -> Done {
    Ok(super::broadcast(WAY, comm, x, root)?)
}

pub(crate) fn sum_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Done {
    Ok(super::all_reduce(WAY, comm, Combine::Sum, x, y)?)
}

pub(crate) fn max_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Done {
    Ok(super::all_reduce(WAY, comm, Combine::Max, x, y)?)
}

pub(crate) fn min_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Done {
    Ok(super::all_reduce(WAY, comm, Combine::Min, x, y)?)
}

pub(crate) fn gather_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    all: &mut [T],
    counts: &[usize],
    root: usize,
) -> Done {
    Ok(super::gather(WAY, comm, (x, all), counts, root)?)
}

pub(crate) fn scatter_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    all: &[T],
    y: &mut [T],
    counts: &[usize],
    root: usize,
) -> Done {
    Ok(super::scatter(WAY, comm, (all, y), counts, root)?)
}

pub(crate) fn all_gather_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    all: &mut [T],
    counts: &[usize],
) -> Done {
    Ok(super::all_gather(WAY, comm, (x, all), counts)?)
}

pub(crate) fn all_to_all_forward<T: Number>(
    _: &mut RecordTape,
    comm: usize,
    x: &[T],
    y: &mut [T],
) -> Done {
    Ok(super::all_to_all(WAY, comm, x, y)?)
}

pub(crate) fn finish_send_backward(_: &mut RecordTape, _: usize, _: usize) -> Done {
    Ok(())
}

pub(crate) fn begin_receive_backward(
    _: &mut RecordTape,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
) -> Done {
    Ok(())
}

/// Backward halves for lists of floats, which have shadows.
pub(crate) mod float {
    use super::super::{Done, somebody};
    use crate::number::Number;
    use crate::state;
    use stratape::tape::RecordTape;

    pub(crate) fn send<T: Number>(
        _: &mut RecordTape,
        _: usize,
        _: &mut [T],
        _: usize,
        _: usize,
    ) -> Done {
        Ok(())
    }

    pub(crate) fn receive<T: Number>(
        _: &mut RecordTape,
        _: usize,
        dy: &mut [T],
        from: usize,
        _: usize,
    ) -> Done {
        if somebody(from).is_some() {
            dy.fill(T::ZERO);
        }
        Ok(())
    }

    pub(crate) fn receive_any<T: Number>(
        _: &mut RecordTape,
        _: usize,
        dy: &mut [T],
        _: usize,
        _: usize,
    ) -> Done {
        dy.fill(T::ZERO);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn exchange<T: Number>(
        tape: &mut RecordTape,
        comm: usize,
        _: &mut [T],
        _: usize,
        dy: &mut [T],
        from: usize,
        tag: usize,
    ) -> Done {
        receive(tape, comm, dy, from, tag)
    }

    pub(crate) fn begin_send<T: Number>(
        _: &mut RecordTape,
        _: usize,
        _: &mut [T],
        _: usize,
        _: usize,
        _: usize,
    ) -> Done {
        Ok(())
    }

    pub(crate) fn finish_receive<T: Number>(
        tape: &mut RecordTape,
        comm: usize,
        request: usize,
        dy: &mut [T],
    ) -> Done {
        receive(tape, comm, dy, request, 0)
    }

    pub(crate) fn broadcast<T: Number>(
        _: &mut RecordTape,
        _: usize,
        dx: &mut [T],
        _: usize,
    ) -> Done {
        dx.fill(T::ZERO);
        Ok(())
    }

    pub(crate) fn combine<T: Number>(
        _: &mut RecordTape,
        _: usize,
        _: &mut [T],
        dy: &mut [T],
    ) -> Done {
        dy.fill(T::ZERO);
        Ok(())
    }

    pub(crate) fn gather<T: Number>(
        _: &mut RecordTape,
        comm: usize,
        _: &mut [T],
        dall: &mut [T],
        root: usize,
    ) -> Done {
        // On other ranks the result is left as it was.
        if state::with_same(comm, |state| Ok(state.rank == root))? {
            dall.fill(T::ZERO);
        }
        Ok(())
    }

    pub(crate) fn scatter<T: Number>(
        _: &mut RecordTape,
        _: usize,
        _: &mut [T],
        dy: &mut [T],
        _: usize,
    ) -> Done {
        dy.fill(T::ZERO);
        Ok(())
    }
}

/// Backward halves for lists of whole numbers, which have no shadows.
pub(crate) mod whole {
    use super::super::Done;
    use stratape::tape::RecordTape;

    pub(crate) fn send(_: &mut RecordTape, _: usize, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn receive(_: &mut RecordTape, _: usize, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn receive_any(_: &mut RecordTape, _: usize, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn exchange(_: &mut RecordTape, _: usize, _: usize, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn begin_send(_: &mut RecordTape, _: usize, _: usize, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn finish_receive(_: &mut RecordTape, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn broadcast(_: &mut RecordTape, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn combine(_: &mut RecordTape, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn gather(_: &mut RecordTape, _: usize, _: usize) -> Done {
        Ok(())
    }

    pub(crate) fn scatter(_: &mut RecordTape, _: usize, _: usize) -> Done {
        Ok(())
    }
}
