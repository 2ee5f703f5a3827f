//! What is sent along where everything is checked: before each message its length and tag, before each collective operation what it is.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use mpi::ffi::{self, MPI_Status};

use super::{Combine, Done, State, Way};
use crate::error::Fault;
use crate::number::Number;

impl State {
    fn label(way: Way) -> c_int {
        c_int::from(way == Way::Backward)
    }

    pub(super) fn announce<T: Number>(
        &mut self,
        way: Way,
        len: usize,
        to: usize,
        tag: usize,
    ) -> Done {
        if !self.checking {
            return Ok(());
        }
        let head = [size_of::<T>() as u64, len as u64, tag as u64];
        let (peer, comm) = (self.peer(to)?, self.checks);
        // SAFETY: three numbers of the datatype.
        self.call(unsafe {
            ffi::MPI_Send(
                head.as_ptr().cast::<c_void>(),
                3,
                u64::datatype(),
                peer,
                Self::label(way),
                comm,
            )
        })
    }

    /// Compares what the other side announced; whom it is from.
    pub(super) fn announced<T: Number>(
        &mut self,
        way: Way,
        len: usize,
        from: c_int,
        tag: Option<usize>,
    ) -> Done<Option<c_int>> {
        if !self.checking {
            return Ok(None);
        }
        let mut head = [0_u64; 3];
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        let comm = self.checks;
        // SAFETY: room for three numbers of the datatype, and a variable for the status.
        self.call(unsafe {
            ffi::MPI_Recv(
                head.as_mut_ptr().cast::<c_void>(),
                3,
                u64::datatype(),
                from,
                Self::label(way),
                comm,
                status.as_mut_ptr(),
            )
        })?;
        // SAFETY: zeroed bytes are a status, and the library has filled it in.
        let from = unsafe { status.assume_init() }.MPI_SOURCE;
        let [size, sent, label] = head;
        let text = |len: u64, size: u64, tag: Option<u64>| {
            let tag = tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
            format!("{len} numbers of {size} bytes with {tag}")
        };
        let tag = tag.map(|tag| tag as u64);
        let same = size == size_of::<T>() as u64
            && sent == len as u64
            && tag.is_none_or(|tag| tag == label);
        if same {
            return Ok(Some(from));
        }
        let (theirs, ours) =
            (text(sent, size, Some(label)), text(len as u64, size_of::<T>() as u64, tag));
        Err(self.fault(Fault::Mismatch(format!("rank {from} sent {theirs}; expected are {ours}"))))
    }

    pub(super) fn announced_len<T: Number>(&mut self, way: Way, peer: usize, tag: usize) -> Done {
        if !self.checking {
            return Ok(());
        }
        let found = self.pending.values().find(|p| p.receives && p.peer == peer && p.tag == tag);
        let len = found
            .and_then(|pending| pending.buffer.as_ref())
            .and_then(|buffer| buffer.downcast_ref::<Vec<T>>())
            .map_or(0, Vec::len);
        let from = self.peer(peer)?;
        self.announced::<T>(way, len, from, Some(tag)).map(drop)
    }

    /// An error if ranks differ in what they do.
    pub(super) fn agree(&mut self, way: Way, what: &str, root: usize, len: usize) -> Done {
        if !self.checking {
            return Ok(());
        }
        let code = what.bytes().fold(0_i64, |code, byte| (code * 31 + i64::from(byte)) % 1_000_003);
        let known = [code + i64::from(way == Way::Backward), root as i64, len as i64];
        let both: Vec<i64> = known.iter().flat_map(|value| [*value, -value]).collect();
        let mut most = vec![0_i64; both.len()];
        let comm = self.checks;
        // SAFETY: six numbers in both lists, which are apart.
        self.call(unsafe {
            ffi::MPI_Allreduce(
                both.as_ptr().cast(),
                most.as_mut_ptr().cast(),
                both.len() as c_int,
                i64::datatype(),
                Combine::Max.raw(),
                comm,
            )
        })?;
        for (at, name) in ["operation", "root", "length"].iter().enumerate() {
            if most[2 * at] != -most[2 * at + 1] {
                let message = match at {
                    0 => format!("this rank does {what}, another rank something else"),
                    _ => format!(
                        "ranks differ in the {name} of {what}: it is {} here, and from {} to {} elsewhere",
                        known[at],
                        -most[2 * at + 1],
                        most[2 * at]
                    ),
                };
                return Err(self.fault(Fault::Mismatch(message)));
            }
        }
        Ok(())
    }
}
