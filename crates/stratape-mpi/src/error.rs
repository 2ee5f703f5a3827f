//! What can go wrong between ranks.

use std::fmt;

use stratape::tape::{ErrorKind, TapeError};

/// A message or a collective operation failed.
///
/// It names the rank, and which operation of the communicator it was: operations are counted on each rank, those of backward passes among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiError {
    /// The rank that noticed it.
    pub rank: usize,
    /// What it was doing.
    pub operation: String,
    /// How many operations of this communicator it had begun.
    pub number: u64,
    /// What went wrong.
    pub fault: Fault,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A message of another length than expected.
    Length {
        /// Numbers that were expected.
        expected: usize,
        /// Numbers that came.
        came: usize,
    },
    /// The other side did something else: found with [`Comm::checked`](crate::Comm::checked).
    Mismatch(String),
    /// An argument makes no sense.
    Argument(String),
    /// A request was finished twice, never, or belongs to another communicator.
    Request(String),
    /// The communicator was made by another thread.
    Unknown,
    /// What the MPI library says.
    Library(String),
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, operation {} ({}): ", self.rank, self.number, self.operation)?;
        match &self.fault {
            Fault::Length { expected, came } => {
                write!(f, "the message has {came} numbers, {expected} were expected")
            }
            Fault::Mismatch(what) | Fault::Argument(what) | Fault::Request(what) => {
                f.write_str(what)
            }
            Fault::Unknown => f.write_str(
                "no such communicator on this thread: use it on the thread that made it",
            ),
            Fault::Library(message) => write!(f, "MPI: {message}"),
        }
    }
}

impl std::error::Error for MpiError {}

/// In a gradient, [`_grad_in`](stratape::gradient) returns it as a [`TapeError`]; [`MpiError::of`] has it back.
impl From<MpiError> for TapeError {
    fn from(error: MpiError) -> Self {
        ErrorKind::Attached(Box::new(error)).into()
    }
}

impl MpiError {
    /// The error of a message or collective operation behind that of a gradient.
    ///
    /// ```
    /// use stratape::tape::TapeError;
    /// use stratape_mpi::{Fault, MpiError};
    ///
    /// let error = MpiError { rank: 1, operation: "barrier".to_owned(), number: 3, fault: Fault::Unknown };
    /// let behind = TapeError::from(error.clone());
    /// assert_eq!(MpiError::of(&behind), Some(&error));
    /// ```
    pub fn of(error: &TapeError) -> Option<&Self> {
        match error.kind() {
            ErrorKind::Attached(inner) => inner.downcast_ref(),
            _ => None,
        }
    }
}
