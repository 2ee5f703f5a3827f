//! Grids of ranks. A [`Cartesian`] is made outside of differentiated code and passed to it by reference, like a [`Comm`].

use stratape::differentiable;

use crate::NOBODY;
use crate::comm::Comm;
use crate::error::{Fault, MpiError};
use crate::state;

/// A grid of ranks in one to three dimensions. The last axis varies fastest with the rank; axes that are not used have one rank.
#[differentiable]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cartesian {
    /// The communicator of all ranks of the grid.
    pub comm: Comm,
    /// How many ranks there are along each axis.
    pub dimensions: [usize; 3],
    /// Where this rank is along each axis.
    pub coordinates: [usize; 3],
    /// The ranks before and after this one along each axis; [`NOBODY`](crate::NOBODY) beyond an edge.
    pub neighbours: [[usize; 2]; 3],
}

impl Cartesian {
    /// Arranges the ranks of a communicator in a grid of `[px, py, pz]` ranks, each axis periodic or not. Give 1 for axes that are not used.
    ///
    /// # Errors
    /// If the product of the dimensions is not the number of ranks.
    ///
    /// ```no_run
    /// use stratape::gradient;
    /// use stratape_mpi::{Cartesian, Comm, halo_2d};
    ///
    /// /// The energy of a membrane, of which each rank has 8 × 8 cells.
    /// #[gradient(wrt(u))]
    /// fn energy(grid: &Cartesian, u: &[f64]) -> f64 {
    ///     let mut v = u.to_vec();
    ///     halo_2d(grid, &mut v, (8, 8), 1);
    ///     let mut sum = 0.0;
    ///     for i in 1..9 {
    ///         for j in 1..9 {
    ///             let (a, b) = (v[(i + 1) * 10 + j] - v[i * 10 + j], v[i * 10 + j + 1] - v[i * 10 + j]);
    ///             sum += a * a + b * b;
    ///         }
    ///     }
    ///     sum
    /// }
    ///
    /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let comm = Comm::new(&universe.world())?;
    /// let grid = Cartesian::new(&comm, [comm.size, 1, 1], [true, true, false])?;
    /// let (u, mut du) = (vec![1.0; 100], vec![0.0; 100]);
    /// energy_grad(&grid, &u, &mut du, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(comm: &Comm, dimensions: [usize; 3], periodic: [bool; 3]) -> Result<Self, MpiError> {
        let ranks = dimensions.iter().try_fold(1_usize, |all, one| all.checked_mul(*one));
        if ranks != Some(comm.size) {
            let [x, y, z] = dimensions;
            return Err(refused(
                comm,
                format!(
                    "a grid of {x} × {y} × {z} does not have the {} ranks of the communicator: choose factors of this number, or use `Cartesian::balanced`",
                    comm.size
                ),
            ));
        }
        let [_, py, pz] = dimensions;
        let coordinates = [comm.rank / (py * pz), comm.rank / pz % py, comm.rank % pz];
        let rank_at = |[x, y, z]: [usize; 3]| (x * py + y) * pz + z;
        let mut neighbours = [[NOBODY; 2]; 3];
        for axis in 0..3 {
            let (here, count) = (coordinates[axis], dimensions[axis]);
            let mut place = coordinates;
            if here > 0 || periodic[axis] {
                place[axis] = (here + count - 1) % count;
                neighbours[axis][0] = rank_at(place);
            }
            if here + 1 < count || periodic[axis] {
                place[axis] = (here + 1) % count;
                neighbours[axis][1] = rank_at(place);
            }
        }
        Ok(Self { comm: *comm, dimensions, coordinates, neighbours })
    }

    /// Arranges the ranks of a communicator in 1 to 3 dimensions, no axis periodic, with factors as close to each other as there are, the largest first.
    ///
    /// # Errors
    /// If `axes` is not 1, 2 or 3.
    ///
    /// ```no_run
    /// use stratape_mpi::{Cartesian, Comm};
    ///
    /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let comm = Comm::new(&universe.world())?;
    /// let grid = Cartesian::balanced(&comm, 2)?; // of 6 ranks, 3 × 2
    /// println!("rank {} is at {:?} of {:?}", comm.rank, grid.coordinates, grid.dimensions);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn balanced(comm: &Comm, axes: usize) -> Result<Self, MpiError> {
        if !(1..=3).contains(&axes) {
            let message = format!("a grid has 1, 2 or 3 dimensions, not {axes}");
            return Err(refused(comm, message));
        }
        Self::new(comm, factors(comm.size, axes), [false; 3])
    }

    /// Which of `cells` cells along an axis this rank has, in parts whose sizes differ by at most one: the first, and how many.
    ///
    /// # Errors
    /// If there is no such axis.
    ///
    /// ```no_run
    /// use stratape_mpi::{Cartesian, Comm};
    ///
    /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let grid = Cartesian::balanced(&Comm::new(&universe.world())?, 1)?;
    /// let (first, count) = grid.part(0, 1000)?;
    /// let own: Vec<f64> = (first..first + count).map(|i| i as f64).collect();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn part(&self, axis: usize, cells: usize) -> Result<(usize, usize), MpiError> {
        let (Some(count), Some(here)) = (self.dimensions.get(axis), self.coordinates.get(axis))
        else {
            return Err(refused(&self.comm, format!("there is no axis {axis}: use 0, 1 or 2")));
        };
        let start = |at: usize| at * (cells / count) + at.min(cells % count);
        Ok((start(*here), start(here + 1) - start(*here)))
    }
}

fn refused(comm: &Comm, message: String) -> MpiError {
    let refuse =
        |state: &mut state::State| -> state::Done { Err(state.fault(Fault::Argument(message))) };
    match state::with(comm.id, || "new grid of ranks".to_owned(), refuse) {
        Err(error) => error,
        Ok(()) => {
            MpiError { rank: comm.rank, operation: String::new(), number: 0, fault: Fault::Unknown }
        }
    }
}

/// The factors of a number whose sum is the least, the largest first.
fn factors(number: usize, axes: usize) -> [usize; 3] {
    let mut best = [number, 1, 1];
    if axes == 1 {
        return best;
    }
    let divisors = |of: usize| (1..=of.isqrt()).filter(move |factor| of.is_multiple_of(*factor));
    for small in divisors(number) {
        let rest = number / small;
        let lasts = if axes == 2 { 1..=1 } else { 1..=rest.isqrt() };
        for last in lasts.filter(|last| rest.is_multiple_of(*last)) {
            let mut found = [rest / last, small, last];
            found.sort_unstable_by(|a, b| b.cmp(a));
            if found.iter().sum::<usize>() < best.iter().sum() {
                best = found;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::factors;

    #[test]
    fn factors_are_as_close_as_they_can_be() {
        let cases = [
            (1, [[1, 1, 1], [1, 1, 1], [1, 1, 1]]),
            (7, [[7, 1, 1], [7, 1, 1], [7, 1, 1]]),
            (8, [[8, 1, 1], [4, 2, 1], [2, 2, 2]]),
            (12, [[12, 1, 1], [4, 3, 1], [3, 2, 2]]),
            (36, [[36, 1, 1], [6, 6, 1], [4, 3, 3]]),
            (100_000, [[100_000, 1, 1], [400, 250, 1], [50, 50, 40]]),
        ];
        for (number, expected) in cases {
            for axes in 1..=3 {
                assert_eq!(factors(number, axes), expected[axes - 1], "{number} in {axes}");
            }
        }
    }
}
