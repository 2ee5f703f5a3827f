//! [`Grid`]: the blocks and threads of a launch, and its other settings.

use crate::error::GpuError;
use crate::stream::Stream;

/// An extent in up to three dimensions; those left out are 1.
///
/// Made from a number or a tuple of numbers wherever a [`Grid`] asks for one. A negative number counts as 0, which no launch
/// accepts.
///
/// ```
/// use stratape_cuda::Dim3;
///
/// assert_eq!(Dim3::from(7), Dim3 { x: 7, y: 1, z: 1 });
/// assert_eq!(Dim3::from((4, 2)), Dim3 { x: 4, y: 2, z: 1 });
/// assert_eq!(Dim3::from((4usize, 2u32, 3)).count(), 24);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the axes")]
pub struct Dim3 {
    pub x: u64,
    pub y: u64,
    pub z: u64,
}

impl Dim3 {
    /// The product of the three, or `u64::MAX` if it does not fit.
    ///
    /// ```
    /// # use stratape_cuda::Dim3;
    /// assert_eq!(Dim3::from((2, 3, 4)).count(), 24);
    /// ```
    pub fn count(self) -> u64 {
        self.x.saturating_mul(self.y).saturating_mul(self.z)
    }

    pub(crate) fn axes(self) -> [(char, u64); 3] {
        [('x', self.x), ('y', self.y), ('z', self.z)]
    }
}

/// A number of blocks or threads: the integers that literals and lengths have.
pub trait Count {
    #[doc(hidden)]
    fn count(self) -> u64;
}

macro_rules! count {
    ($($int:ty),*) => {$(
        impl Count for $int {
            fn count(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }
        }

        impl From<$int> for Dim3 {
            fn from(x: $int) -> Self {
                Self { x: x.count(), y: 1, z: 1 }
            }
        }
    )*};
}
count!(u32, u64, usize, i32);

impl<X: Count, Y: Count> From<(X, Y)> for Dim3 {
    fn from((x, y): (X, Y)) -> Self {
        Self { x: x.count(), y: y.count(), z: 1 }
    }
}

impl<X: Count, Y: Count, Z: Count> From<(X, Y, Z)> for Dim3 {
    fn from((x, y, z): (X, Y, Z)) -> Self {
        Self { x: x.count(), y: y.count(), z: z.count() }
    }
}

/// How a kernel is launched: blocks, threads of a block, and optional settings.
///
/// ```
/// use stratape_cuda::Grid;
///
/// let n = 1000usize;
/// let grid = Grid::blocks(n.div_ceil(256)).threads(256);
/// assert_eq!(grid.block_count().count(), 4);
///
/// let tiles = Grid::blocks((8, 8)).threads((16, 16)).shared(16 * 16 * 8).deterministic();
/// assert_eq!(tiles.thread_count().count(), 256);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a grid is an argument of a launch"]
pub struct Grid {
    blocks: Dim3,
    threads: Dim3,
    shared: usize,
    stream: Option<Stream>,
    deterministic: bool,
    tape_bytes: Option<usize>,
}

impl Grid {
    /// So many blocks, of one thread each until [`threads`](Self::threads) says otherwise.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert_eq!(Grid::blocks((3, 2)).block_count().y, 2);
    /// ```
    pub fn blocks(blocks: impl Into<Dim3>) -> Self {
        Self {
            blocks: blocks.into(),
            threads: Dim3 { x: 1, y: 1, z: 1 },
            shared: 0,
            stream: None,
            deterministic: false,
            tape_bytes: None,
        }
    }

    /// So many threads in every block.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert_eq!(Grid::blocks(1).threads((8, 8, 4)).thread_count().count(), 256);
    /// ```
    pub fn threads(mut self, threads: impl Into<Dim3>) -> Self {
        self.threads = threads.into();
        self
    }

    /// Bytes of dynamic shared memory for every block.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert_eq!(Grid::blocks(1).shared(4096).shared_bytes(), 4096);
    /// ```
    pub fn shared(mut self, bytes: usize) -> Self {
        self.shared = bytes;
        self
    }

    /// The launch is put on this stream instead of the device's own.
    ///
    /// ```
    /// # use stratape_cuda::{Device, Grid, Stream};
    /// let device = Device::emulator();
    /// let stream = Stream::new(&device)?;
    /// let grid = Grid::blocks(4).threads(64).stream(&stream);
    /// # let _ = grid;
    /// # Ok::<(), stratape_cuda::GpuError>(())
    /// ```
    pub fn stream(mut self, stream: &Stream) -> Self {
        self.stream = Some(stream.clone());
        self
    }

    /// Sums over threads are added in a fixed order instead of by atomics: the same bits in every run.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert!(Grid::blocks(4).deterministic().is_deterministic());
    /// ```
    pub fn deterministic(mut self) -> Self {
        self.deterministic = true;
        self
    }

    /// Bytes of device tape for the whole launch, for kernels whose threads save a number of values that is not known before
    /// they run.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// let grid = Grid::blocks(64).threads(128).tape_bytes(256 << 20);
    /// # let _ = grid;
    /// ```
    pub fn tape_bytes(mut self, bytes: usize) -> Self {
        self.tape_bytes = Some(bytes);
        self
    }

    /// The blocks.
    ///
    /// ```
    /// # use stratape_cuda::{Dim3, Grid};
    /// assert_eq!(Grid::blocks((3, 2)).block_count(), Dim3 { x: 3, y: 2, z: 1 });
    /// ```
    pub fn block_count(&self) -> Dim3 {
        self.blocks
    }

    /// The threads of one block.
    ///
    /// ```
    /// # use stratape_cuda::{Dim3, Grid};
    /// assert_eq!(Grid::blocks(3).thread_count(), Dim3 { x: 1, y: 1, z: 1 });
    /// ```
    pub fn thread_count(&self) -> Dim3 {
        self.threads
    }

    /// Bytes of dynamic shared memory for a block.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert_eq!(Grid::blocks(3).shared_bytes(), 0);
    /// ```
    pub fn shared_bytes(&self) -> usize {
        self.shared
    }

    /// Whether [`deterministic`](Self::deterministic) was asked for.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert!(!Grid::blocks(3).is_deterministic());
    /// ```
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// What [`tape_bytes`](Self::tape_bytes) was given.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert_eq!(Grid::blocks(3).tape_bytes(4096).tape_limit(), Some(4096));
    /// ```
    pub fn tape_limit(&self) -> Option<usize> {
        self.tape_bytes
    }

    /// The stream, if it is not the device's own.
    ///
    /// ```
    /// # use stratape_cuda::Grid;
    /// assert!(Grid::blocks(3).chosen_stream().is_none());
    /// ```
    pub fn chosen_stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Whether blocks and threads extend along x alone, for which kernels have simpler indices.
    pub(crate) fn is_x_only(&self) -> bool {
        [self.blocks.y, self.blocks.z, self.threads.y, self.threads.z] == [1; 4]
    }

    /// Threads of the whole launch.
    pub(crate) fn total_threads(&self) -> u64 {
        self.blocks.count().saturating_mul(self.threads.count())
    }

    /// Refuses what the device cannot launch. After it, every extent fits in 32 bits.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), GpuError> {
        for (what, dim, bounds) in
            [("blocks", self.blocks, limits.blocks), ("threads", self.threads, limits.threads)]
        {
            for ((axis, asked), limit) in dim.axes().into_iter().zip(bounds) {
                if asked == 0 {
                    return Err(GpuError::EmptyGrid { what: format!("{what} along {axis}") });
                }
                if asked > limit {
                    let what = if what == "threads" { "threads of a block" } else { "blocks" };
                    return Err(GpuError::GridLimit {
                        what: format!("{what} along {axis}"),
                        asked,
                        limit,
                    });
                }
            }
        }
        if self.threads.count() > limits.threads_of_block {
            return Err(GpuError::GridLimit {
                what: "threads of a block".to_owned(),
                asked: self.threads.count(),
                limit: limits.threads_of_block,
            });
        }
        if self.shared > limits.shared {
            return Err(GpuError::SharedMemory { asked: self.shared, limit: limits.shared });
        }
        Ok(())
    }
}

/// A grid with a thread for each of `n` elements; none if there are no elements.
pub fn over(n: usize) -> Option<Grid> {
    (n > 0).then(|| Grid::blocks(n.div_ceil(256)).threads(256))
}

/// What a device can launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Blocks along x, y and z.
    pub(crate) blocks: [u64; 3],
    /// Threads of a block along x, y and z.
    pub(crate) threads: [u64; 3],
    /// Threads of a block.
    pub(crate) threads_of_block: u64,
    /// Bytes of dynamic shared memory for a block, if the kernel declares none itself.
    pub(crate) shared: usize,
}

impl Limits {
    /// Those of the emulator: of compute capability 9.0, so that what it runs will run on such a device.
    pub(crate) const EMULATOR: Self = Self {
        blocks: [(1 << 31) - 1, 65_535, 65_535],
        threads: [1024, 1024, 64],
        threads_of_block: 1024,
        shared: 227 << 10,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(grid: &Grid) -> String {
        grid.check(&Limits::EMULATOR).unwrap_err().to_string()
    }

    #[test]
    fn limits_are_inclusive() {
        let largest = Grid::blocks(((1u32 << 31) - 1, 65_535u32, 65_535u32)).threads((16, 1, 64));
        assert_eq!(largest.shared(227 << 10).check(&Limits::EMULATOR), Ok(()));
    }

    #[test]
    fn each_limit_is_named() {
        assert!(refused(&Grid::blocks(1usize << 31)).contains("blocks along x"));
        assert!(refused(&Grid::blocks((1, 65_536))).contains("blocks along y"));
        assert!(refused(&Grid::blocks((1, 1, 65_536))).contains("blocks along z"));
        assert!(refused(&Grid::blocks(1).threads(1025)).contains("threads of a block along x"));
        assert!(refused(&Grid::blocks(1).threads((1, 1, 65))).contains("along z"));
        assert!(refused(&Grid::blocks(1).threads((64, 64))).contains("4096 threads of a block"));
        assert!(refused(&Grid::blocks(1).shared((227 << 10) + 1)).contains("shared memory"));
    }

    #[test]
    fn empty_grids_are_refused() {
        assert!(refused(&Grid::blocks(0)).contains("blocks along x"));
        assert!(refused(&Grid::blocks(-3)).contains("blocks along x"));
        assert!(refused(&Grid::blocks(1).threads((2, 0))).contains("threads along y"));
    }

    #[test]
    fn x_only_needs_one_in_all_others() {
        assert!(Grid::blocks(9).threads(32).is_x_only());
        assert!(!Grid::blocks((9, 2)).threads(32).is_x_only());
        assert!(!Grid::blocks(9).threads((32, 1, 2)).is_x_only());
    }
}
