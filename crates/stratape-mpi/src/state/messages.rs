//! Messages between two ranks.

use std::any::Any;
use std::mem::MaybeUninit;

use mpi::ffi::{self, MPI_Status};

use super::{Done, Pending, State, Way};
use crate::error::{Fault, MpiError};
use crate::number::Number;

impl State {
    /// Sends numbers to a rank; the tag of the adjoint.
    pub(crate) fn send<T: Number>(
        &mut self,
        way: Way,
        x: &[T],
        to: usize,
        tag: usize,
    ) -> Done<usize> {
        let (count, peer, label) = (self.length(x.len())?, self.peer(to)?, self.tag(way, tag)?);
        self.announce::<T>(way, x.len(), to, tag)?;
        let raw = self.raw(way);
        // SAFETY: `x` has `count` numbers of the datatype; the call returns when it may be used again.
        self.call(unsafe {
            ffi::MPI_Send(x.as_ptr().cast(), count, T::datatype(), peer, label, raw)
        })?;
        self.count::<T>(way, 1, x.len());
        Ok(self.adjoint_tag(way, false, to, tag))
    }

    /// Receives numbers: from whom, and the tag of the adjoint.
    pub(crate) fn receive<T: Number>(
        &mut self,
        way: Way,
        y: &mut [T],
        from: Option<usize>,
        tag: usize,
    ) -> Done<(usize, usize)> {
        let (count, label) = (self.length(y.len())?, self.tag(way, tag)?);
        let mut source = match from {
            Some(rank) => self.peer(rank)?,
            // SAFETY: a constant of the library.
            None => unsafe { ffi::RSMPI_ANY_SOURCE },
        };
        if let Some(found) = self.announced::<T>(way, y.len(), source, tag, None)? {
            source = found;
        }
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        let raw = self.raw(way);
        // SAFETY: `y` has room for `count` numbers of the datatype, and any bytes make one; the library writes no more than that.
        self.call(unsafe {
            ffi::MPI_Recv(
                y.as_mut_ptr().cast(),
                count,
                T::datatype(),
                source,
                label,
                raw,
                status.as_mut_ptr(),
            )
        })?;
        // SAFETY: zeroed bytes are a status, and the library has filled it in.
        let status = unsafe { status.assume_init() };
        let source = status.MPI_SOURCE as usize;
        let adjoint = self.adjoint_tag(way, true, source, tag);
        self.came::<T>(&status, y.len())?;
        Ok((source, adjoint))
    }

    /// An error if a message had another length than its buffer.
    fn came<T: Number>(&self, status: &MPI_Status, expected: usize) -> Done {
        let mut count = 0;
        // SAFETY: a status that the library has filled in, and a variable of ours.
        self.call(unsafe { ffi::MPI_Get_count(status, T::datatype(), &raw mut count) })?;
        match usize::try_from(count) {
            Ok(came) if came == expected => Ok(()),
            came => Err(self.fault(Fault::Length { expected, came: came.unwrap_or(0) })),
        }
    }

    /// Sends and receives at once, each with its tag; the tags of the adjoints.
    pub(crate) fn exchange<T: Number>(
        &mut self,
        way: Way,
        (x, to, out): (&[T], Option<usize>, usize),
        (y, from, back): (&mut [T], Option<usize>, usize),
    ) -> Done<[usize; 2]> {
        match (to, from) {
            (None, None) => Ok([0; 2]),
            (Some(to), None) => Ok([self.send(way, x, to, out)?, 0]),
            (None, Some(from)) => Ok([0, self.receive(way, y, Some(from), back)?.1]),
            (Some(to), Some(from)) => {
                let number = self.begin_send(way, x, to, out, None)?;
                let received = self.receive(way, y, Some(from), back);
                // After a mismatch the message has been taken in, and ours will be on the other side. After other errors nobody may be there to wait for.
                let waits = |error: &MpiError| matches!(error.fault, Fault::Mismatch(_));
                if let Err(error) = &received
                    && !waits(error)
                {
                    return Err(error.clone());
                }
                let (_, sent, _) = self.finish_send::<T>(way, number)?;
                Ok([sent, received?.1])
            }
        }
    }

    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Begins to send a copy of `x`; its number, which is a new one if none is given.
    pub(crate) fn begin_send<T: Number>(
        &mut self,
        way: Way,
        x: &[T],
        to: usize,
        tag: usize,
        number: Option<usize>,
    ) -> Done<usize> {
        let (count, peer, label) = (self.length(x.len())?, self.peer(to)?, self.tag(way, tag)?);
        self.announce::<T>(way, x.len(), to, tag)?;
        let (copy, comm) = (x.to_vec(), self.raw(way));
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the copy has `count` numbers of the datatype, and lives on its place in memory until the request is complete, or for ever.
        self.call(unsafe {
            ffi::MPI_Isend(
                copy.as_ptr().cast(),
                count,
                T::datatype(),
                peer,
                label,
                comm,
                raw.as_mut_ptr(),
            )
        })?;
        self.count::<T>(way, 1, x.len());
        // SAFETY: the call succeeded, and has written the request.
        let raw = unsafe { raw.assume_init() };
        let adjoint = self.adjoint_tag(way, false, to, tag);
        let buffer: Option<Box<dyn Any>> = Some(Box::new(copy));
        Ok(self.keep(
            way,
            number,
            Pending { raw, buffer, peer: to, tag, adjoint, receives: false, taped: false },
        ))
    }

    /// Begins to receive `len` numbers.
    pub(crate) fn begin_receive<T: Number>(
        &mut self,
        way: Way,
        len: usize,
        from: usize,
        tag: usize,
        number: Option<usize>,
    ) -> Done<usize> {
        let (count, peer, label) = (self.length(len)?, self.peer(from)?, self.tag(way, tag)?);
        let (mut buffer, comm) = (vec![T::ZERO; len], self.raw(way));
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the buffer has room for `count` numbers, and lives on its place in memory until the request is complete, or for ever.
        self.call(unsafe {
            ffi::MPI_Irecv(
                buffer.as_mut_ptr().cast(),
                count,
                T::datatype(),
                peer,
                label,
                comm,
                raw.as_mut_ptr(),
            )
        })?;
        // SAFETY: the call succeeded, and has written the request.
        let raw = unsafe { raw.assume_init() };
        let adjoint = self.adjoint_tag(way, true, from, tag);
        let buffer: Option<Box<dyn Any>> = Some(Box::new(buffer));
        Ok(self.keep(
            way,
            number,
            Pending { raw, buffer, peer: from, tag, adjoint, receives: true, taped: false },
        ))
    }

    pub(crate) fn must_finish(&mut self, way: Way, number: usize) {
        if let Some(pending) = self.pending.get_mut(&(way, number)) {
            pending.taped = true;
        }
    }

    /// An error if a backward pass begins while something of its forward pass is under way: adjoints of that would never be sent, and the other side would wait for them.
    pub(crate) fn all_finished(&mut self) -> Done {
        let number =
            self.pending.iter().filter(|(_, pending)| pending.taped).map(|(key, _)| key.1).min();
        let Some(number) = number else { return Ok(()) };
        // What the next gradient does is not to blame for it.
        self.pending.retain(|_, pending| !pending.taped);
        let message = format!(
            "request {number} was never finished: finish every send and receive that is begun"
        );
        Err(self.fault(Fault::Request(message)))
    }

    fn keep(&mut self, way: Way, number: Option<usize>, pending: Pending) -> usize {
        let number = match number {
            Some(number) => number,
            None => self.fresh(),
        };
        self.pending.insert((way, number), pending);
        number
    }

    /// Waits for a send; whom it went to, the tag of the adjoint, and how many numbers.
    pub(crate) fn finish_send<T: Number>(
        &mut self,
        way: Way,
        number: usize,
    ) -> Done<(usize, usize, usize)> {
        let (peer, tag, buffer) = self.finish::<T>(way, number, false)?;
        Ok((peer, tag, buffer.len()))
    }

    /// Waits for a receive; whom it came from, the tag of the adjoint, and the numbers.
    pub(crate) fn finish_receive<T: Number>(
        &mut self,
        way: Way,
        number: usize,
    ) -> Done<(usize, usize, Vec<T>)> {
        self.finish(way, number, true)
    }

    fn finish<T: Number>(
        &mut self,
        way: Way,
        number: usize,
        receives: bool,
    ) -> Done<(usize, usize, Vec<T>)> {
        let request = |message: &str| Fault::Request(format!("request {number} {message}"));
        let key = (way, number);
        let Some(pending) = self.pending.get(&key) else {
            let has = |way| self.pending.contains_key(&(way, number));
            let message = match way {
                Way::Forward if has(Way::Constant) => {
                    "is of constants: finish it with `constant::finish_send` or `constant::finish_receive`"
                }
                Way::Constant if has(Way::Forward) => {
                    "is of active numbers: finish it without `constant::`"
                }
                Way::Forward | Way::Constant => {
                    "is not under way: it was finished already, or begun on another communicator, or in another iteration of a `#[checkpoint]` loop"
                }
                Way::Backward => "was never finished: finish every send and receive that is begun",
            };
            return Err(self.fault(request(message)));
        };
        if pending.receives != receives {
            let message = if receives { "is a send" } else { "is a receive" };
            return Err(self.fault(request(message)));
        }
        let (peer, tag, adjoint) = (pending.peer, pending.tag, pending.adjoint);
        let buffer = pending.buffer.as_ref().and_then(|buffer| buffer.downcast_ref::<Vec<T>>());
        let Some(len) = buffer.map(Vec::len) else {
            return Err(self.fault(request("is of another type of number")));
        };
        if receives {
            let from = self.peer(peer)?;
            self.announced::<T>(way, len, from, tag, Some(number))?;
        }
        let Some(mut pending) = self.pending.remove(&key) else {
            return Err(self.fault(request("is not under way")));
        };
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        // SAFETY: a request of ours that has not been waited for, and a variable for its status.
        self.call(unsafe { ffi::MPI_Wait(&raw mut pending.raw, status.as_mut_ptr()) })?;
        // SAFETY: zeroed bytes are a status, and the library has filled it in.
        let status = unsafe { status.assume_init() };
        let buffer = pending.buffer.take().and_then(|buffer| buffer.downcast::<Vec<T>>().ok());
        let Some(buffer) = buffer else { return Err(self.fault(request("is of another type"))) };
        if receives {
            self.came::<T>(&status, buffer.len())?;
        }
        Ok((peer, adjoint, *buffer))
    }
}
