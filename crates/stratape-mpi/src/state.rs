//! What a rank knows of its communicators, and the calls of the MPI library.
//!
//! A [`Comm`](crate::Comm) is a number; behind it, on the thread that made it, are three communicators: one for the messages of the program, one for those of backward
//! passes, and one for what is checked. So no adjoint is ever taken for a message of a rank that is still in its forward pass.

mod checks;
mod collective;
mod messages;

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::fmt;

use mpi::ffi::{self, MPI_Comm, MPI_Op, MPI_Request};

use crate::error::{Fault, MpiError};
use crate::traffic::{Count, Traffic};

pub(crate) type Done<T = ()> = Result<T, MpiError>;

/// What a message is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// The program; its adjoint goes backward.
    Forward,
    /// The program; it has no adjoint.
    Constant,
    /// Adjoints.
    Backward,
}

/// Before the name of an operation.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "",
            Self::Constant => "constants: ",
            Self::Backward => "adjoint of ",
        })
    }
}

/// An operation that combines numbers of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combine {
    Sum,
    Product,
    Max,
    Min,
}

impl Combine {
    fn raw(self) -> MPI_Op {
        // SAFETY: constants of the MPI library, set when it is loaded.
        unsafe {
            match self {
                Self::Sum => ffi::RSMPI_SUM,
                Self::Product => ffi::RSMPI_PROD,
                Self::Max => ffi::RSMPI_MAX,
                Self::Min => ffi::RSMPI_MIN,
            }
        }
    }
}

/// Something that is under way, with the memory that the library uses meanwhile.
struct Pending {
    raw: MPI_Request,
    buffer: Option<Box<dyn Any>>,
    peer: usize,
    tag: usize,
    adjoint: usize,
    receives: bool,
    /// Whether it was begun in the forward pass of a gradient.
    taped: bool,
}

impl Drop for Pending {
    fn drop(&mut self) {
        // It is taken out when the request is complete. Otherwise the library may still write to it.
        std::mem::forget(self.buffer.take());
    }
}

/// A rank's view of a communicator.
pub(crate) struct State {
    forward: MPI_Comm,
    backward: MPI_Comm,
    checks: MPI_Comm,
    /// The same ranks in reverse order.
    reversed: Option<MPI_Comm>,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) checking: bool,
    pub(crate) traffic: Traffic,
    operation: String,
    number: u64,
    next: usize,
    pending: HashMap<(Way, usize), Pending>,
    /// How many messages were sent to (false) and received from (true) a rank with a tag.
    begun: HashMap<(bool, usize, usize), usize>,
    /// How many tags of adjoints there are for each tag of the program.
    adjoint_tags: usize,
}

/// The largest tag of a message: the least that every MPI library allows.
const LARGEST_TAG: usize = 32767;

thread_local! {
    static STATES: RefCell<Vec<State>> = const { RefCell::new(Vec::new()) };
}

/// Runs an operation on a communicator.
pub(crate) fn with<T>(
    id: usize,
    operation: impl FnOnce() -> String,
    run: impl FnOnce(&mut State) -> Done<T>,
) -> Done<T> {
    STATES.with_borrow_mut(|states| match states.get_mut(id) {
        Some(state) => {
            state.number += 1;
            state.operation = operation();
            run(state)
        }
        None => Err(MpiError { rank: 0, operation: operation(), number: 0, fault: Fault::Unknown }),
    })
}

/// As [`with`], as part of the operation before.
pub(crate) fn with_same<T>(id: usize, run: impl FnOnce(&mut State) -> Done<T>) -> Done<T> {
    STATES.with_borrow_mut(|states| match states.get_mut(id) {
        Some(state) => run(state),
        None => {
            let operation = "request".to_owned();
            Err(MpiError { rank: 0, operation, number: 0, fault: Fault::Unknown })
        }
    })
}

/// Adds a communicator of ours beside one of the program's; its number.
pub(crate) fn adopt(raw: MPI_Comm) -> Done<usize> {
    let mut state = State {
        forward: raw,
        backward: raw,
        checks: raw,
        reversed: None,
        rank: 0,
        size: 1,
        checking: false,
        traffic: Traffic::default(),
        operation: "new communicator".to_owned(),
        number: 0,
        next: 0,
        pending: HashMap::new(),
        begun: HashMap::new(),
        adjoint_tags: 1,
    };
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the communicator is one of rsmpi's, which is alive; both pointers are to variables of ours.
    state.call(unsafe { ffi::MPI_Comm_rank(raw, &raw mut rank) })?;
    // SAFETY: as above.
    state.call(unsafe { ffi::MPI_Comm_size(raw, &raw mut size) })?;
    (state.rank, state.size) = (rank as usize, size as usize);
    state.forward = state.duplicate(raw)?;
    state.backward = state.duplicate(raw)?;
    state.checks = state.duplicate(raw)?;
    state.adjoint_tags = (state.largest_tag()? + 1) / (LARGEST_TAG + 1);
    Ok(STATES.with_borrow_mut(|states| {
        states.push(state);
        states.len() - 1
    }))
}

/// Ends all ranks, as MPI does when an operation fails.
pub(crate) fn abort(error: &MpiError) -> ! {
    end_all(&error.to_string())
}

/// Ends all ranks with a message.
pub(crate) fn end_all(message: &str) -> ! {
    eprintln!("stratape-mpi: {message}");
    // SAFETY: MPI is initialised: there was a communicator.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    std::process::exit(1)
}

/// What a function of the program does where there is no tape to report an error to.
pub(crate) fn or_abort<T>(done: Done<T>) -> T {
    done.unwrap_or_else(|error| abort(&error))
}

impl State {
    pub(crate) fn fault(&self, fault: Fault) -> MpiError {
        MpiError { rank: self.rank, operation: self.operation.clone(), number: self.number, fault }
    }

    /// Turns a code of the library into an error.
    fn call(&self, code: c_int) -> Done {
        if code == 0 {
            return Ok(());
        }
        let mut text = [0_u8; 4096];
        let mut length: c_int = 0;
        // SAFETY: the library writes at most MPI_MAX_ERROR_STRING bytes, which is less than the array has, and their number.
        let known =
            unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &raw mut length) };
        let end = usize::try_from(length).unwrap_or(0).min(text.len());
        let text = match known {
            0 => String::from_utf8_lossy(&text[..end]).into_owned(),
            _ => format!("error {code}"),
        };
        Err(self.fault(Fault::Library(text)))
    }

    fn duplicate(&self, raw: MPI_Comm) -> Done<MPI_Comm> {
        let mut copy = raw;
        // SAFETY: a living communicator, and a variable for its copy. All ranks do this.
        self.call(unsafe { ffi::MPI_Comm_dup(raw, &raw mut copy) })?;
        self.returns_errors(copy)
    }

    fn returns_errors(&self, raw: MPI_Comm) -> Done<MPI_Comm> {
        // SAFETY: a communicator of ours, and a constant of the library.
        self.call(unsafe { ffi::MPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN) })?;
        Ok(raw)
    }

    /// A part of the communicator: ranks of the same colour, ordered by key.
    pub(crate) fn split(&self, colour: i32, key: i32) -> Done<MPI_Comm> {
        let mut part = self.forward;
        // SAFETY: a communicator of ours, and a variable for the new one. All ranks do this.
        self.call(unsafe { ffi::MPI_Comm_split(self.forward, colour, key, &raw mut part) })?;
        Ok(part)
    }

    fn raw(&self, way: Way) -> MPI_Comm {
        match way {
            Way::Forward | Way::Constant => self.forward,
            Way::Backward => self.backward,
        }
    }

    fn count<T>(&mut self, way: Way, messages: usize, numbers: usize) {
        let count: &mut Count = match way {
            Way::Forward | Way::Constant => &mut self.traffic.forward,
            Way::Backward => &mut self.traffic.backward,
        };
        count.messages += messages as u64;
        count.bytes += (numbers * size_of::<T>()) as u64;
    }

    fn length(&self, numbers: usize) -> Done<c_int> {
        let message =
            || format!("{numbers} numbers are more than a message holds: send it in parts");
        c_int::try_from(numbers).map_err(|_| self.fault(Fault::Argument(message())))
    }

    pub(crate) fn expect(&self, name: &str, found: usize, expected: usize) -> Done {
        if found == expected {
            return Ok(());
        }
        let message = format!("`{name}` has {found} elements, {expected} are needed");
        Err(self.fault(Fault::Argument(message)))
    }

    pub(crate) fn peer(&self, rank: usize) -> Done<c_int> {
        if rank < self.size {
            return Ok(rank as c_int);
        }
        let message = format!("there is no rank {rank}: the communicator has {} ranks", self.size);
        Err(self.fault(Fault::Argument(message)))
    }

    fn tag(&self, way: Way, tag: usize) -> Done<c_int> {
        if way == Way::Backward || tag <= LARGEST_TAG {
            return Ok(tag as c_int);
        }
        let message = format!("tag {tag} is too large: the largest is {LARGEST_TAG}");
        Err(self.fault(Fault::Argument(message)))
    }

    /// The largest tag of this library.
    fn largest_tag(&self) -> Done<usize> {
        let (mut value, mut known) = (std::ptr::null_mut::<c_int>(), 0);
        // Only the communicator of all ranks is sure to have it: those that are split off have not.
        // SAFETY: a communicator of the library's, and variables for a pointer and a flag. The attribute is a number that the library owns.
        self.call(unsafe {
            ffi::MPI_Comm_get_attr(
                ffi::RSMPI_COMM_WORLD,
                ffi::MPI_TAG_UB as c_int,
                (&raw mut value).cast(),
                &raw mut known,
            )
        })?;
        if known == 0 || value.is_null() {
            return Ok(LARGEST_TAG);
        }
        // SAFETY: the library has set it to its number, which lives as long as MPI does.
        Ok(usize::try_from(unsafe { *value }).unwrap_or(LARGEST_TAG).max(LARGEST_TAG))
    }

    /// The tag of the adjoint of a message that is begun now, the same on both sides.
    ///
    /// Messages with one tag between two ranks match in the order in which they are begun. Their adjoints are begun in another order, that in which the
    /// messages were finished, and this order may differ between the two sides. So each message has a number, the same on both sides, and its adjoint has a tag of its own.
    fn adjoint_tag(&mut self, way: Way, receives: bool, peer: usize, tag: usize) -> usize {
        if way == Way::Backward {
            return tag;
        }
        let begun = self.begun.entry((receives, peer, tag)).or_insert(0);
        *begun += 1;
        tag * self.adjoint_tags + *begun % self.adjoint_tags
    }
}
