//! What all ranks of a communicator do together.

use std::ffi::c_int;

use mpi::ffi;

use super::checks::Collective;
use super::{Combine, Done, State, Way};
use crate::error::Fault;
use crate::number::Number;

impl State {
    /// Combines numbers of all ranks on all ranks.
    pub(crate) fn all_reduce<T: Number>(
        &mut self,
        way: Way,
        how: Combine,
        x: &[T],
        y: &mut [T],
    ) -> Done {
        let fits = self.expect("result", y.len(), x.len());
        let what = Collective { name: how.all_reduce(), root: 0, len: x.len(), counts: &[] };
        self.agree::<T>(way, what, fits)?;
        let (count, comm) = (self.length(x.len())?, self.raw(way));
        // SAFETY: both lists have `count` numbers of the datatype, and are apart.
        self.call(unsafe {
            ffi::MPI_Allreduce(
                x.as_ptr().cast(),
                y.as_mut_ptr().cast(),
                count,
                T::datatype(),
                how.raw(),
                comm,
            )
        })?;
        self.count::<T>(way, 1, x.len());
        Ok(())
    }

    /// Combines numbers of all ranks on one.
    pub(crate) fn reduce<T: Number>(
        &mut self,
        way: Way,
        how: Combine,
        (x, y): (&[T], &mut [T]),
        root: usize,
    ) -> Done {
        let result = if self.rank == root { y.len() } else { x.len() };
        let fits = self.expect("result", result, x.len());
        let fits = fits.and_then(|()| self.peer(root).map(drop));
        let what = Collective { name: how.reduce(), root, len: x.len(), counts: &[] };
        self.agree::<T>(way, what, fits)?;
        let root_rank = self.peer(root)?;
        let (count, comm) = (self.length(x.len())?, self.raw(way));
        // SAFETY: `x` has `count` numbers of the datatype, and so has `y` on the root, where alone it is written.
        self.call(unsafe {
            ffi::MPI_Reduce(
                x.as_ptr().cast(),
                y.as_mut_ptr().cast(),
                count,
                T::datatype(),
                how.raw(),
                root_rank,
                comm,
            )
        })?;
        self.count::<T>(way, 1, x.len());
        Ok(())
    }

    /// Copies the root's numbers to all ranks.
    pub(crate) fn broadcast<T: Number>(&mut self, way: Way, x: &mut [T], root: usize) -> Done {
        let fits = self.peer(root).map(drop);
        let what = Collective { name: "broadcast", root, len: x.len(), counts: &[] };
        self.agree::<T>(way, what, fits)?;
        let root_rank = self.peer(root)?;
        let (count, comm) = (self.length(x.len())?, self.raw(way));
        // SAFETY: `x` has `count` numbers of the datatype on every rank.
        self.call(unsafe {
            ffi::MPI_Bcast(x.as_mut_ptr().cast(), count, T::datatype(), root_rank, comm)
        })?;
        self.count::<T>(way, 1, x.len());
        Ok(())
    }

    /// Each rank's numbers on the root, one rank after the other.
    pub(crate) fn gather<T: Number>(
        &mut self,
        way: Way,
        (x, all): (&[T], &mut [T]),
        counts: &[usize],
        root: usize,
    ) -> Done {
        let parts = self.parts(counts, x.len(), (self.rank == root).then_some(all.len()));
        let fits = parts.as_ref().map(drop).map_err(Clone::clone);
        let fits = fits.and_then(|()| self.peer(root).map(drop));
        self.agree::<T>(way, Collective { name: "gather", root, len: 0, counts }, fits)?;
        let (root_rank, (counts, starts)) = (self.peer(root)?, parts?);
        let (count, comm) = (self.length(x.len())?, self.raw(way));
        // SAFETY: `x` has this rank's count of numbers; on the root `all` has room for all of them, where the starts say.
        self.call(unsafe {
            ffi::MPI_Gatherv(
                x.as_ptr().cast(),
                count,
                T::datatype(),
                all.as_mut_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                T::datatype(),
                root_rank,
                comm,
            )
        })?;
        self.count::<T>(way, 1, x.len());
        Ok(())
    }

    /// The reverse of [`gather`](Self::gather).
    pub(crate) fn scatter<T: Number>(
        &mut self,
        way: Way,
        (all, y): (&[T], &mut [T]),
        counts: &[usize],
        root: usize,
    ) -> Done {
        let parts = self.parts(counts, y.len(), (self.rank == root).then_some(all.len()));
        let fits = parts.as_ref().map(drop).map_err(Clone::clone);
        let fits = fits.and_then(|()| self.peer(root).map(drop));
        self.agree::<T>(way, Collective { name: "scatter", root, len: 0, counts }, fits)?;
        let (root_rank, (counts, starts)) = (self.peer(root)?, parts?);
        let (count, comm) = (self.length(y.len())?, self.raw(way));
        // SAFETY: `y` has room for this rank's count of numbers; on the root `all` has all of them, where the starts say.
        self.call(unsafe {
            ffi::MPI_Scatterv(
                all.as_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                T::datatype(),
                y.as_mut_ptr().cast(),
                count,
                T::datatype(),
                root_rank,
                comm,
            )
        })?;
        self.count::<T>(way, 1, y.len());
        Ok(())
    }

    /// Each rank's numbers on all ranks.
    pub(crate) fn all_gather<T: Number>(
        &mut self,
        way: Way,
        (x, all): (&[T], &mut [T]),
        counts: &[usize],
    ) -> Done {
        let parts = self.parts(counts, x.len(), Some(all.len()));
        let fits = parts.as_ref().map(drop).map_err(Clone::clone);
        self.agree::<T>(way, Collective { name: "all-gather", root: 0, len: 0, counts }, fits)?;
        let (counts, starts) = parts?;
        let (count, comm) = (self.length(x.len())?, self.raw(way));
        // SAFETY: `x` has this rank's count of numbers, and `all` has room for all of them, where the starts say.
        self.call(unsafe {
            ffi::MPI_Allgatherv(
                x.as_ptr().cast(),
                count,
                T::datatype(),
                all.as_mut_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                T::datatype(),
                comm,
            )
        })?;
        self.count::<T>(way, 1, x.len());
        Ok(())
    }

    /// The sum over ranks of `all`, each rank's part on that rank: the adjoint of [`all_gather`](Self::all_gather).
    pub(crate) fn reduce_scatter<T: Number>(
        &mut self,
        way: Way,
        (all, y): (&[T], &mut [T]),
        counts: &[usize],
    ) -> Done {
        let parts = self.parts(counts, y.len(), Some(all.len()));
        let fits = parts.as_ref().map(drop).map_err(Clone::clone);
        self.agree::<T>(way, Collective { name: "reduce-scatter", root: 0, len: 0, counts }, fits)?;
        let (counts, _) = parts?;
        let comm = self.raw(way);
        // SAFETY: `all` has the numbers of all ranks, and `y` room for this rank's count.
        self.call(unsafe {
            ffi::MPI_Reduce_scatter(
                all.as_ptr().cast(),
                y.as_mut_ptr().cast(),
                counts.as_ptr(),
                T::datatype(),
                Combine::Sum.raw(),
                comm,
            )
        })?;
        self.count::<T>(way, 1, y.len());
        Ok(())
    }

    /// Block `q` of `x` goes to rank `q`, as block `rank` of its `y`.
    pub(crate) fn all_to_all<T: Number>(&mut self, way: Way, x: &[T], y: &mut [T]) -> Done {
        let mut fits = self.expect("result", y.len(), x.len());
        if !x.len().is_multiple_of(self.size) {
            let message =
                format!("{} numbers are no equal blocks for {} ranks", x.len(), self.size);
            fits = Err(self.fault(Fault::Argument(message)));
        }
        let what = Collective { name: "all-to-all", root: 0, len: x.len(), counts: &[] };
        self.agree::<T>(way, what, fits)?;
        let (block, comm) = (self.length(x.len() / self.size)?, self.raw(way));
        // SAFETY: both lists have a block for each rank, and are apart.
        self.call(unsafe {
            ffi::MPI_Alltoall(
                x.as_ptr().cast(),
                block,
                T::datatype(),
                y.as_mut_ptr().cast(),
                block,
                T::datatype(),
                comm,
            )
        })?;
        self.count::<T>(way, self.size, x.len());
        Ok(())
    }

    /// Waits for all ranks.
    pub(crate) fn barrier(&mut self, way: Way) -> Done {
        let what = Collective { name: "barrier", root: 0, len: 0, counts: &[] };
        self.agree::<u64>(way, what, Ok(()))?;
        let comm = self.raw(way);
        // SAFETY: a communicator of ours.
        self.call(unsafe { ffi::MPI_Barrier(comm) })?;
        self.count::<u8>(way, 1, 0);
        Ok(())
    }

    /// The product of the numbers of all other ranks, without a division.
    pub(crate) fn others<T: Number>(&mut self, way: Way, x: &[T]) -> Done<Vec<T>> {
        let reversed = match self.reversed {
            Some(reversed) => reversed,
            None => {
                let key = (self.size - 1 - self.rank) as i32;
                let part = self.split(0, key)?;
                self.returns_errors(part)?
            }
        };
        self.reversed = Some(reversed);
        let count = self.length(x.len())?;
        let mut product = vec![T::ONE; x.len()];
        for comm in [self.raw(way), reversed] {
            let mut before = vec![T::ONE; x.len()];
            // SAFETY: both lists have `count` numbers of the datatype, and are apart. On the first rank nothing is written.
            self.call(unsafe {
                ffi::MPI_Exscan(
                    x.as_ptr().cast(),
                    before.as_mut_ptr().cast(),
                    count,
                    T::datatype(),
                    Combine::Product.raw(),
                    comm,
                )
            })?;
            let first = if comm == reversed { self.rank + 1 == self.size } else { self.rank == 0 };
            if !first {
                product.iter_mut().zip(&before).for_each(|(p, b)| *p = p.times(*b));
            }
            self.count::<T>(way, 1, x.len());
        }
        Ok(product)
    }

    /// Counts and starts of the parts of all ranks, as the library takes them.
    fn parts(
        &self,
        counts: &[usize],
        own: usize,
        all: Option<usize>,
    ) -> Done<(Vec<c_int>, Vec<c_int>)> {
        self.expect("counts", counts.len(), self.size)?;
        self.expect("part", own, counts[self.rank])?;
        let (mut starts, mut sum) = (Vec::with_capacity(counts.len()), 0_usize);
        for count in counts {
            starts.push(self.length(sum)?);
            sum = sum.saturating_add(*count);
        }
        if let Some(all) = all {
            self.expect("whole", all, sum)?;
        }
        let counts = counts.iter().map(|count| self.length(*count)).collect::<Done<Vec<_>>>()?;
        Ok((counts, starts))
    }
}
