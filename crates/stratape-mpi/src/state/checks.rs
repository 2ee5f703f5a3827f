//! What is sent along where everything is checked: before each message its type, length and tag, and whether it has an adjoint, before each collective operation what it is.
//!
//! Adjoints of messages are not announced: they fit together if the messages did.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::mem::MaybeUninit;

use mpi::ffi::{self, MPI_Datatype, MPI_Status};

use super::{Combine, Done, Pending, State, Way};
use crate::error::Fault;
use crate::number::{Number, TYPES, type_name};

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

/// What is sent before a message.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    code: u64,
    len: u64,
    tag: u64,
    constant: bool,
}

impl Head {
    fn of<T: Number>(way: Way, len: usize, tag: usize) -> Self {
        let constant = way == Way::Constant;
        Self { code: T::CODE, len: len as u64, tag: tag as u64, constant }
    }

    fn numbers(self) -> [u64; 4] {
        [self.code, self.len, self.tag, u64::from(self.constant)]
    }

    /// The type of numbers as long as those of the message.
    fn datatype(self) -> MPI_Datatype {
        match usize::try_from(self.code).ok().and_then(|at| TYPES.get(at)) {
            Some((_, 4)) => f32::datatype(),
            _ => f64::datatype(),
        }
    }
}

impl From<[u64; 4]> for Head {
    fn from([code, len, tag, constant]: [u64; 4]) -> Self {
        Self { code, len, tag, constant: constant != 0 }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { len, tag, .. }, name) = (self, type_name(self.code));
        let kind = if self.constant { "constant" } else { "active" };
        let plural = if *len == 1 { "" } else { "s" };
        write!(f, "{len} {kind} number{plural} ({name}) with tag {tag}")
    }
}

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
        let head = Head::of::<T>(way, len, tag);
        let (peer, comm) = (self.peer(to)?, self.checks);
        let numbers = head.numbers();
        // SAFETY: four numbers of the datatype.
        self.call(unsafe {
            ffi::MPI_Send(numbers.as_ptr().cast::<c_void>(), 4, u64::datatype(), peer, 0, comm)
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
        let mut numbers = [0_u64; 4];
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        let comm = self.checks;
        // SAFETY: room for four numbers of the datatype, and a variable for the status.
        self.call(unsafe {
            ffi::MPI_Recv(
                numbers.as_mut_ptr().cast::<c_void>(),
                4,
                u64::datatype(),
                from,
                0,
                comm,
                status.as_mut_ptr(),
            )
        })?;
        // SAFETY: zeroed bytes are a status, and the library has filled it in.
        let from = unsafe { status.assume_init() }.MPI_SOURCE;
        let (theirs, ours) = (Head::from(numbers), Head::of::<T>(way, len, tag));
        if theirs == ours {
            return Ok(Some(from));
        }
        self.drop_message(theirs, from, posted.map(|number| (way, number)))?;
        Err(self.fault(Fault::Mismatch(format!("rank {from} sent {theirs}; expected are {ours}"))))
    }

    fn drop_message(&mut self, head: Head, from: c_int, posted: Option<(Way, usize)>) -> Done {
        let (len, tag) = (head.len as usize, head.tag as usize);
        let takes = |pending: &Pending| {
            pending.receives && pending.peer == from as usize && pending.tag == tag
        };
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        if let Some(key) = posted
            && self.pending.get(&key).is_some_and(takes)
        {
            let Some(mut pending) = self.pending.remove(&key) else {
                return Ok(());
            };
            // SAFETY: a request of ours that has not been waited for, and a variable for its status. That the message may be too long is known.
            unsafe { ffi::MPI_Wait(&raw mut pending.raw, status.as_mut_ptr()) };
            return Ok(());
        }
        if self.pending.iter().any(|((way, _), pending)| *way != Way::Backward && takes(pending)) {
            return Ok(());
        }
        let datatype = head.datatype();
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
            T::CODE as i64,
            i64::from(way == Way::Constant),
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
        let names = ["", "", "root", "type", "", "length", "counts"];
        for (at, field) in names.iter().enumerate() {
            let (least, largest) = (-most[2 * at + 1], most[2 * at]);
            let message = match at {
                _ if least == largest => continue,
                0 => {
                    let other = if least == own[0] { largest } else { least };
                    format!("this rank does {name}, another one {}", described(other))
                }
                1 => format!("what rank {largest} passes to {name} does not fit"),
                3 => {
                    let (here, other) = (own[at], if least == own[at] { largest } else { least });
                    let [here, other] = [here, other].map(|code| type_name(code as u64));
                    format!("ranks differ in the type of {name}: {here} here, {other} elsewhere")
                }
                4 => {
                    let kinds = ["active", "constant"];
                    let here = usize::from(own[at] == 1);
                    format!(
                        "{name} is of {} numbers here, and of {} ones on another rank",
                        kinds[here],
                        kinds[1 - here]
                    )
                }
                6 => format!("ranks differ in the {field} of {name}"),
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
