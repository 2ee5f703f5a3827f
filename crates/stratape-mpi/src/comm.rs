//! Communicators, as differentiated code has them.

use mpi::ffi::MPI_Comm;
use mpi::raw::AsRaw;
use mpi::topology::Communicator;

use crate::error::{Fault, MpiError};
use crate::state::{self, Combine, Way};
use crate::traffic::Traffic;

pub use self::plain::Comm;

#[stratape::differentiable]
mod plain {
    /// A communicator for code under [`#[gradient]`](stratape::gradient): a number, a rank and a size, to be passed by reference or by value.
    ///
    /// It is made beside one of rsmpi's and has messages of its own, so that the program may go on using the other. It belongs to the thread
    /// that made it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Comm {
        /// Which communicator of this thread it is. A function that takes nothing but numbers can make the communicator of its three fields.
        pub id: usize,
        /// The number of this rank, from 0.
        pub rank: usize,
        /// How many ranks there are.
        pub size: usize,
    }
}

impl Comm {
    /// Makes one beside a communicator of rsmpi's. All its ranks must do so.
    ///
    /// # Errors
    /// What the MPI library says.
    ///
    /// ```no_run
    /// use stratape_mpi::Comm;
    ///
    /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let comm = Comm::new(&universe.world())?;
    /// println!("rank {} of {}", comm.rank, comm.size);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<C: Communicator + AsRaw<Raw = MPI_Comm>>(beside: &C) -> Result<Self, MpiError> {
        Self::adopted(beside.as_raw())
    }

    fn adopted(raw: MPI_Comm) -> Result<Self, MpiError> {
        let id = state::adopt(raw)?;
        state::with(
            id,
            || "new communicator".to_owned(),
            |state| Ok(Self { id, rank: state.rank, size: state.size }),
        )
    }

    /// The ranks that give the same colour, as a communicator of their own, in the order of their keys and then of their ranks.
    /// All ranks must call it, outside of differentiated code.
    ///
    /// # Errors
    /// If a number exceeds 32 bits; what the MPI library says.
    pub fn split(&self, colour: usize, key: usize) -> Result<Self, MpiError> {
        let raw = state::with(
            self.id,
            || "split".to_owned(),
            |state| {
                let fits = |value: usize| {
                    i32::try_from(value)
                        .map_err(|_| state.fault(Fault::Argument(format!("{value} is too large"))))
                };
                state.split(fits(colour)?, fits(key)?)
            },
        )?;
        Self::adopted(raw)
    }

    /// The same communicator, with checks: lengths, tags and types are sent along, and a rank whose partner does something else gets an error
    /// that says so instead of wrong numbers or an endless wait.
    ///
    /// Messages between two ranks must then be received in the order in which they are sent, whatever their tags. All ranks must call it.
    ///
    /// # Errors
    /// If the communicator belongs to another thread.
    pub fn checked(&self) -> Result<Self, MpiError> {
        state::with(
            self.id,
            || "checked".to_owned(),
            |state| {
                state.checking = true;
                Ok(*self)
            },
        )
    }

    /// What this rank has sent since the communicator was made, or since the last call of [`reset_traffic`](Self::reset_traffic).
    ///
    /// # Errors
    /// If the communicator belongs to another thread.
    pub fn traffic(&self) -> Result<Traffic, MpiError> {
        state::with(self.id, || "traffic".to_owned(), |state| Ok(state.traffic))
    }

    /// Counts from zero.
    ///
    /// # Errors
    /// If the communicator belongs to another thread.
    pub fn reset_traffic(&self) -> Result<(), MpiError> {
        state::with(
            self.id,
            || "traffic".to_owned(),
            |state| {
                state.traffic = Traffic::default();
                Ok(())
            },
        )
    }

    /// Ends all ranks if this one panics while the guard lives, as MPI does if one dies.
    ///
    /// Without it a rank that panics drops rsmpi's universe, which waits for all ranks, of which some may wait for this one. Hold the guard in `main`, after the universe. (With `panic = "abort"` in
    /// the profile it is not needed.) A panic that is caught before it gets there does nothing.
    ///
    /// ```no_run
    /// use stratape_mpi::Comm;
    ///
    /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let comm = Comm::new(&universe.world())?;
    /// let _guard = comm.abort_on_panic();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn abort_on_panic(&self) -> AbortOnPanic {
        AbortOnPanic { rank: self.rank }
    }

    /// The seed for a result that all ranks share: 1 on rank 0, and 0 elsewhere.
    ///
    /// What a gradient differentiates is the sum over ranks of seed · result. Where every rank returns the same total, a seed of 1 on each of them would
    /// count it once for every rank.
    pub fn seed(&self) -> f64 {
        if self.rank == 0 { 1.0 } else { 0.0 }
    }

    /// The least of a number over all ranks: of budgets, or of snapshots that a rank can store. All ranks must call it.
    ///
    /// # Errors
    /// What the MPI library says.
    pub fn agree_on_least(&self, number: u64) -> Result<u64, MpiError> {
        state::with(
            self.id,
            || "agree on the least".to_owned(),
            |state| {
                let mut least = [0_u64];
                state.all_reduce(Way::Forward, Combine::Min, &[number], &mut least)?;
                Ok(least[0])
            },
        )
    }
}

/// What [`Comm::abort_on_panic`] returns.
#[derive(Debug)]
#[must_use = "hold it until the end of `main`: `let _guard = comm.abort_on_panic();`"]
pub struct AbortOnPanic {
    rank: usize,
}

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            state::end_all(&format!("rank {} panicked", self.rank));
        }
    }
}
