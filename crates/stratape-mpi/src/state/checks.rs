//! What is sent along where everything is checked: before each message its length and tag, before each collective operation what it is.
//!
//! Adjoints of messages are not announced: they fit together if the messages did.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use mpi::ffi::{self, MPI_Status};

use super::{Combine, Done, Pending, State, Way};
use crate::error::Fault;
use crate::number::Number;

/// What all ranks do together.
#[derive(Clone, Copy)]
pub(super) struct Collective<'a> {
    pub(super) name: &'static str,
    pub(super) root: usize,
    pub(super) len: usize,
    /// Numbers of each rank, where they differ.
    pub(super) counts: &'a [usize],
}

/// The names of collective operations: ranks tell each other their places here.
const NAMES: [&str; 14] = [
    "all-reduce (sum)",
    "all-reduce (product)",
    "all-reduce (max)",
    "all-reduce (min)",
    "reduce (sum)",
    "reduce (product)",
    "reduce (max)",
    "reduce (min)",
    "broadcast",
    "gather",
    "scatter",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
];

impl Combine {
    pub(super) fn all_reduce(self) -> &'static str {
        NAMES[self as usize]
    }

    pub(super) fn reduce(self) -> &'static str {
        NAMES[4 + self as usize]
    }
}

fn described(code: i64) -> String {
    let (at, way) = (code / 2, if code % 2 == 0 { "" } else { "adjoint: " });
    let name = usize::try_from(at).ok().and_then(|at| NAMES.get(at)).unwrap_or(&"barrier");
    format!("{way}{name}")
}

impl State {
    pub(super) fn announce<T: Number>(
        &mut self,
        way: Way,
        len: usize,
        to: usize,
        tag: usize,
    ) -> Done {
        if !self.checking || way == Way::Backward {
            return Ok(());
        }
        let head = [size_of::<T>() as u64, len as u64, tag as u64];
        let (peer, comm) = (self.peer(to)?, self.checks);
        // SAFETY: three numbers of the datatype.
        self.call(unsafe {
            ffi::MPI_Send(head.as_ptr().cast::<c_void>(), 3, u64::datatype(), peer, 0, comm)
        })
    }

    /// Compares what the other side announced with a receive that has been `posted` already or has not; whom it is from.
    ///
    /// A message that does not fit is received all the same, and dropped: its sender may be waiting for that.
    pub(super) fn announced<T: Number>(
        &mut self,
        way: Way,
        len: usize,
        from: c_int,
        tag: usize,
        posted: Option<usize>,
    ) -> Done<Option<c_int>> {
        if !self.checking || way == Way::Backward {
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
                0,
                comm,
                status.as_mut_ptr(),
            )
        })?;
        // SAFETY: zeroed bytes are a status, and the library has filled it in.
        let from = unsafe { status.assume_init() }.MPI_SOURCE;
        let ours = [size_of::<T>() as u64, len as u64, tag as u64];
        if head == ours {
            return Ok(Some(from));
        }
        let text =
            |[size, len, tag]: [u64; 3]| format!("{len} numbers of {size} bytes with tag {tag}");
        let (theirs, ours) = (text(head), text(ours));
        self.drop_message(head, from, posted)?;
        Err(self.fault(Fault::Mismatch(format!("rank {from} sent {theirs}; expected are {ours}"))))
    }

    fn drop_message(&mut self, head: [u64; 3], from: c_int, posted: Option<usize>) -> Done {
        let [size, len, tag] = head.map(|number| number as usize);
        let takes = |pending: &Pending| {
            pending.receives && pending.peer == from as usize && pending.tag == tag
        };
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        if let Some(number) = posted
            && self.pending.get(&(Way::Forward, number)).is_some_and(takes)
        {
            let Some(mut pending) = self.pending.remove(&(Way::Forward, number)) else {
                return Ok(());
            };
            // SAFETY: a request of ours that has not been waited for, and a variable for its status. That the message may be too long is known.
            unsafe { ffi::MPI_Wait(&raw mut pending.raw, status.as_mut_ptr()) };
            return Ok(());
        }
        if self.pending.iter().any(|((way, _), pending)| *way == Way::Forward && takes(pending)) {
            return Ok(());
        }
        let datatype = if size == size_of::<f32>() { f32::datatype() } else { f64::datatype() };
        let mut room = vec![0_u64; len];
        let (count, label, comm) = (self.length(len)?, self.tag(Way::Forward, tag)?, self.forward);
        self.begun.entry((true, from as usize, tag)).and_modify(|begun| *begun += 1).or_insert(1);
        // SAFETY: there is room for as many numbers of at most eight bytes as were announced, and a variable for the status.
        self.call(unsafe {
            ffi::MPI_Recv(
                room.as_mut_ptr().cast(),
                count,
                datatype,
                from,
                label,
                comm,
                status.as_mut_ptr(),
            )
        })
    }

    /// An error if ranks differ in what they do, or if what this rank or another one passes does not fit.
    pub(super) fn agree<T: Number>(&mut self, way: Way, what: Collective, fits: Done) -> Done {
        if !self.checking {
            return fits;
        }
        let place = NAMES.iter().position(|name| *name == what.name).unwrap_or(NAMES.len());
        let counts = what
            .counts
            .iter()
            .fold(0_i64, |code, count| (code * 31 + *count as i64 % 1_000_003) % 1_000_003);
        let own = [
            2 * place as i64 + i64::from(way == Way::Backward),
            if fits.is_err() { self.rank as i64 } else { -1 },
            what.root as i64,
            size_of::<T>() as i64,
            what.len as i64,
            counts,
        ];
        let both: Vec<i64> = own.iter().flat_map(|value| [*value, -value]).collect();
        let mut most = vec![0_i64; both.len()];
        let comm = self.checks;
        // SAFETY: equally many numbers in both lists, which are apart.
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
        fits?;
        let name = what.name;
        let names = ["", "", "root", "size of the numbers", "length", "counts"];
        for (at, field) in names.iter().enumerate() {
            let (least, largest) = (-most[2 * at + 1], most[2 * at]);
            let message = match at {
                _ if least == largest => continue,
                0 => {
                    let other = if least == own[0] { largest } else { least };
                    format!("this rank does {name}, another one {}", described(other))
                }
                1 => format!("what rank {largest} passes to {name} does not fit"),
                5 => format!("ranks differ in the {field} of {name}"),
                _ => format!(
                    "ranks differ in the {field} of {name}: it is {} here, and from {least} to {largest} over all ranks",
                    own[at],
                ),
            };
            return Err(self.fault(Fault::Mismatch(message)));
        }
        Ok(())
    }
}
