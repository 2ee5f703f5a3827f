//! The exchange of ghost layers between neighbours in a grid of ranks, for arrays in one, two and three dimensions.
//!
//! The adjoints add what has gathered in the ghost layers to the cells that these are copies of.

/// Makes the functions for a type of number, whose `exchange` they call.
macro_rules! halos {
    ($number:ident) => {
        use crate::cartesian::Cartesian;

        /// Fills the ghost layers of a line along the first axis of the grid: `width` cells before and after the inner cells of `u`, which has at least `3 * width`
        /// cells with them. Beyond the edge of a grid that is not periodic they stay as they are. All ranks must call it.
        ///
        /// The adjoint adds what is in the ghost layers to the cells they are copies of, and leaves zeros there.
        ///
        /// # Panics
        /// If the array does not have the cells it should have, or fewer inner cells than ghost layers are wide.
        ///
        /// ```no_run
        /// use stratape_mpi::{Cartesian, Comm, halo_1d};
        ///
        /// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
        /// let comm = Comm::new(&universe.world())?;
        /// let ring = Cartesian::new(&comm, [comm.size, 1, 1], [true, false, false])?;
        /// let mut u = [0.0, 1.0, 2.0, 3.0, 0.0]; // three inner cells
        /// halo_1d(&ring, &mut u, 1);
        /// assert_eq!(u, [3.0, 1.0, 2.0, 3.0, 1.0]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[differentiable]
        pub fn halo_1d(grid: &Cartesian, u: &mut [$number], width: usize) {
            layers(grid, u, 0, [1, u.len(), 1], width);
        }

        /// Fills the ghost layers of a plane, corners included: `u` has `(nx + 2 * width) * (ny + 2 * width)` cells, those of the second axis next to each other, and `(nx, ny)` are the
        /// inner ones. See [`halo_1d`].
        #[differentiable]
        pub fn halo_2d(
            grid: &Cartesian,
            u: &mut [$number],
            (nx, ny): (usize, usize),
            width: usize,
        ) {
            let (mx, my) = (nx + 2 * width, ny + 2 * width);
            layers(grid, u, 0, [1, mx, my], width);
            layers(grid, u, 1, [mx, my, 1], width);
        }

        /// Fills the ghost layers of a block, edges and corners included: `u` has `(nx + 2 * width) * (ny + 2 * width) * (nz + 2 * width)` cells, those of the third axis next to each other. See [`halo_1d`].
        #[differentiable]
        pub fn halo_3d(
            grid: &Cartesian,
            u: &mut [$number],
            (nx, ny, nz): (usize, usize, usize),
            width: usize,
        ) {
            let (mx, my, mz) = (nx + 2 * width, ny + 2 * width, nz + 2 * width);
            layers(grid, u, 0, [1, mx, my * mz], width);
            layers(grid, u, 1, [mx, my, mz], width);
            layers(grid, u, 2, [mx * my, mz, 1], width);
        }

        /// The ghost layers along one axis, of an array of `outer` blocks of `cells` along the axis, each of `inner` numbers.
        #[differentiable]
        fn layers(
            grid: &Cartesian,
            u: &mut [$number],
            axis: usize,
            [outer, cells, inner]: [usize; 3],
            width: usize,
        ) {
            assert!(
                u.len() == outer * cells * inner,
                "the array does not have the cells of the grid with its ghost layers"
            );
            assert!(cells >= 3 * width, "fewer inner cells than ghost layers are wide");
            let lower = grid.neighbours[axis][0];
            let upper = grid.neighbours[axis][1];
            let run = width * inner;
            let block = cells * inner;
            let mut out = vec![0.0; outer * run];
            let mut came = vec![0.0; outer * run];
            for i in 0..outer {
                for j in 0..run {
                    out[i * run + j] = u[i * block + block - 2 * run + j];
                    came[i * run + j] = u[i * block + j];
                }
            }
            exchange(&grid.comm, &out, upper, &mut came, lower, 2 * axis);
            for i in 0..outer {
                for j in 0..run {
                    u[i * block + j] = came[i * run + j];
                    out[i * run + j] = u[i * block + run + j];
                    came[i * run + j] = u[i * block + block - run + j];
                }
            }
            exchange(&grid.comm, &out, lower, &mut came, upper, 2 * axis + 1);
            for i in 0..outer {
                for j in 0..run {
                    u[i * block + block - run + j] = came[i * run + j];
                }
            }
        }
    };
}
pub(crate) use halos;

/// The functions for structs.
pub(crate) mod of_structs {
    use crate::cartesian::Cartesian;
    use crate::structs::{Plain, exchange};
    use stratape::differentiable;

    /// As [`halo_1d`](crate::halo_1d).
    #[differentiable]
    pub fn halo_1d<S: Plain>(grid: &Cartesian, u: &mut [S], width: usize) {
        layers(grid, u, 0, [1, u.len(), 1], width);
    }

    /// As [`halo_2d`](crate::halo_2d).
    #[differentiable]
    pub fn halo_2d<S: Plain>(
        grid: &Cartesian,
        u: &mut [S],
        (nx, ny): (usize, usize),
        width: usize,
    ) {
        let (mx, my) = (nx + 2 * width, ny + 2 * width);
        layers(grid, u, 0, [1, mx, my], width);
        layers(grid, u, 1, [mx, my, 1], width);
    }

    /// As [`halo_3d`](crate::halo_3d).
    #[differentiable]
    pub fn halo_3d<S: Plain>(
        grid: &Cartesian,
        u: &mut [S],
        (nx, ny, nz): (usize, usize, usize),
        width: usize,
    ) {
        let (mx, my, mz) = (nx + 2 * width, ny + 2 * width, nz + 2 * width);
        layers(grid, u, 0, [1, mx, my * mz], width);
        layers(grid, u, 1, [mx, my, mz], width);
        layers(grid, u, 2, [mx * my, mz, 1], width);
    }

    /// The ghost layers along one axis, of an array of `outer` blocks of `cells` along the axis, each of `inner` numbers.
    #[differentiable]
    fn layers<S: Plain>(
        grid: &Cartesian,
        u: &mut [S],
        axis: usize,
        [outer, cells, inner]: [usize; 3],
        width: usize,
    ) {
        assert!(
            u.len() == outer * cells * inner,
            "the array does not have the cells of the grid with its ghost layers"
        );
        assert!(cells >= 3 * width, "fewer inner cells than ghost layers are wide");
        let lower = grid.neighbours[axis][0];
        let upper = grid.neighbours[axis][1];
        let run = width * inner;
        let block = cells * inner;
        let mut out = Vec::with_capacity(outer * run);
        let mut came = Vec::with_capacity(outer * run);
        for i in 0..outer {
            for j in 0..run {
                out.push(u[i * block + block - 2 * run + j]);
                came.push(u[i * block + j]);
            }
        }
        exchange(&grid.comm, &out, upper, &mut came, lower, 2 * axis);
        for i in 0..outer {
            for j in 0..run {
                u[i * block + j] = came[i * run + j];
                out[i * run + j] = u[i * block + run + j];
                came[i * run + j] = u[i * block + block - run + j];
            }
        }
        exchange(&grid.comm, &out, lower, &mut came, upper, 2 * axis + 1);
        for i in 0..outer {
            for j in 0..run {
                u[i * block + block - run + j] = came[i * run + j];
            }
        }
    }
}
