//! What a rank has sent, and figures over all ranks.

use std::fmt;

use crate::comm::Comm;
use crate::error::MpiError;
use crate::state::{self, Combine, Done, Way};

/// What a rank has sent: in forward passes and functions, and in backward passes.
///
/// A collective operation counts as one message of what the rank contributes. What is sent along for [checks](Comm::checked) is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages of the program.
    pub forward: Count,
    /// Messages of adjoints.
    pub backward: Count,
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A figure over all ranks: the least, the mean and the most, and the ranks that have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least, and the lowest rank that has it.
    pub least: (f64, usize),
    /// The mean.
    pub mean: f64,
    /// The most, and the lowest rank that has it.
    pub most: (f64, usize),
}

impl Spread {
    /// A figure over all ranks, on each of them. All ranks must call it.
    ///
    /// # Errors
    /// What the MPI library says.
    ///
    /// ```no_run
    /// use stratape_mpi::{Comm, Spread};
    ///
    /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let comm = Comm::new(&universe.world())?;
    /// let bytes = Spread::of(&comm, comm.traffic()?.backward.bytes as f64)?;
    /// if comm.rank == 0 {
    ///     println!("bytes of adjoints: {bytes}"); // once, for all ranks
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(comm: &Comm, figure: f64) -> Result<Self, MpiError> {
        let (rank, size) = (comm.rank as f64, comm.size as f64);
        state::with(
            comm.id,
            || "statistics".to_owned(),
            |state| {
                let before = state.traffic;
                let mut combined = |how: Combine, x: f64| -> Done<f64> {
                    let mut y = [0.0];
                    state.all_reduce(Way::Forward, how, &[x], &mut y)?;
                    Ok(y[0])
                };
                let least = combined(Combine::Min, figure)?;
                let most = combined(Combine::Max, figure)?;
                let mean = combined(Combine::Sum, figure)? / size;
                let lowest = |has: bool| if has { rank } else { size };
                let at_least = combined(Combine::Min, lowest(figure == least))?;
                let at_most = combined(Combine::Min, lowest(figure == most))?;
                state.traffic = before;
                Ok(Self { least: (least, at_least as usize), mean, most: (most, at_most as usize) })
            },
        )
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, mean, most } = self;
        write!(
            f,
            "least {} (rank {}), mean {mean}, most {} (rank {})",
            least.0, least.1, most.0, most.1
        )
    }
}
