//! Warm slabs, shared between tapes and between calls.
//!
//! The first write to fresh memory costs a page fault for every 4 KiB, several times the cost of
//! the store itself. A [`Pool`] keeps the slabs of dropped tapes, up to a byte limit, and
//! gives them to the next tape. Further slabs come from the system, or from a [source](crate::source).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use crate::block::{BLOCK_ALIGN, Block};
use crate::error::SourceError;
use crate::source::{self, BlockSource};
use crate::sync::lock;

/// How many idle bytes the [global](Pool::global) pool keeps by default.
pub const DEFAULT_POOL_LIMIT: usize = 256 << 20;

/// A stock of idle slabs. Cloning makes another handle to the same stock.
///
/// ```
/// use stratape_tape::{Pool, Tape};
///
/// let pool = Pool::new(64 << 20);
/// for _ in 0..3 {
///     let mut tape: Tape<f64> = Tape::with_pool(&pool);
///     tape.extend((0..10_000).map(f64::from));
/// } // each round reuses the memory of the previous one
/// assert!(pool.idle_bytes() >= 10_000 * 8 - 64 * 8);
/// pool.trim(0);
/// assert_eq!(pool.idle_bytes(), 0);
/// ```
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    stock: Mutex<Stock>,
    /// Where new blocks come from; the system's memory, if there is none.
    source: Option<Arc<dyn BlockSource>>,
}

struct Stock {
    by_len: HashMap<usize, Vec<Block>>,
    idle_bytes: usize,
    limit: usize,
}

static GLOBAL: LazyLock<Pool> = LazyLock::new(|| Pool::new(DEFAULT_POOL_LIMIT));

impl Pool {
    /// A pool that keeps at most `limit` idle bytes and returns the rest to the
    /// system. A limit of zero keeps nothing.
    pub fn new(limit: usize) -> Self {
        Self::of(None, limit)
    }

    /// A pool that takes its blocks from the user's source, and returns those beyond `limit` idle bytes to it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stratape_tape::source::SystemMemory;
    /// use stratape_tape::{Pool, RecordTape};
    ///
    /// let pool = Pool::with_source(Arc::new(SystemMemory), 64 << 20);
    /// let mut tape = RecordTape::with_pool(&pool);
    /// tape.push(1.0)?;
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    pub fn with_source(source: Arc<dyn BlockSource>, limit: usize) -> Self {
        Self::of(Some(source), limit)
    }

    fn of(source: Option<Arc<dyn BlockSource>>, limit: usize) -> Self {
        let stock = Mutex::new(Stock { by_len: HashMap::new(), idle_bytes: 0, limit });
        Self { shared: Arc::new(Shared { stock, source }) }
    }

    /// The pool that tapes use by default.
    pub fn global() -> &'static Self {
        &GLOBAL
    }

    /// Bytes kept for the next tape.
    pub fn idle_bytes(&self) -> usize {
        self.stock().idle_bytes
    }

    /// The most idle bytes this pool keeps.
    pub fn limit(&self) -> usize {
        self.stock().limit
    }

    /// Changes the limit, and frees what exceeds it.
    pub fn set_limit(&self, limit: usize) {
        self.stock().limit = limit;
        self.trim(limit);
    }

    /// Gives idle memory back to the system until at most `bytes` are left.
    pub fn trim(&self, bytes: usize) {
        let mut released = Vec::new();
        {
            let mut stock = self.stock();
            while stock.idle_bytes > bytes {
                // Large slabs first: few calls, much memory.
                let Some(len) = stock.by_len.keys().max().copied() else {
                    break;
                };
                released.extend(stock.take(len));
            }
        }
        // The memory is unmapped here, outside the lock.
        drop(released);
    }

    /// A block of at least `len` bytes, for uses beside tapes; contents are arbitrary.
    ///
    /// ```
    /// use stratape_tape::Pool;
    ///
    /// let pool = Pool::new(1 << 20);
    /// let block = pool.block(5000)?;
    /// assert_eq!(block.len(), 8192);
    /// pool.recycle(block);
    /// assert_eq!(pool.idle_bytes(), 8192);
    /// # Ok::<(), stratape_tape::source::SourceError>(())
    /// ```
    ///
    /// # Errors
    /// [`SourceError`] when there is no memory, or the pool's source gives none.
    pub fn block(&self, len: usize) -> Result<Block, SourceError> {
        self.take(len)
    }

    /// Returns a block's memory for the next one. See [`block`](Self::block).
    pub fn recycle(&self, block: Block) {
        self.give(block);
    }

    /// An initialised block of `len` bytes (rounded up to whole pages); contents are arbitrary.
    pub(crate) fn take(&self, len: usize) -> Result<Block, SourceError> {
        match (self.reuse(len), &self.shared.source) {
            (Some(mut block), _) => {
                block.cleanse();
                Ok(block)
            }
            (None, Some(source)) => source::obtain(&**source, len, BLOCK_ALIGN),
            (None, None) => Ok(Block::zeroed(len)?),
        }
    }

    /// A block whose bytes may be uninitialised.
    pub(crate) fn take_raw(&self, len: usize, align: usize) -> Result<Block, SourceError> {
        if align <= BLOCK_ALIGN
            && let Some(block) = self.reuse(len)
        {
            return Ok(block);
        }
        match &self.shared.source {
            Some(source) => source::obtain(&**source, len, align),
            None => Ok(Block::uninit(len, align)?),
        }
    }

    /// Takes a block back, or releases it when the pool is full.
    pub(crate) fn give(&self, block: Block) {
        // Others' memory goes back to them, unless it is what this pool is for.
        if self.shared.source.is_none() && !block.is_ordinary() {
            return;
        }
        let mut stock = self.stock();
        if stock.idle_bytes + block.len() <= stock.limit {
            stock.idle_bytes += block.len();
            stock.by_len.entry(block.len()).or_default().push(block);
        } else {
            drop(stock);
            drop(block);
        }
    }

    fn reuse(&self, len: usize) -> Option<Block> {
        let len = len.max(1).checked_next_multiple_of(BLOCK_ALIGN)?;
        self.stock().take(len)
    }

    fn stock(&self) -> MutexGuard<'_, Stock> {
        lock(&self.shared.stock)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("idle_bytes", &self.idle_bytes())
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}

impl Stock {
    fn take(&mut self, len: usize) -> Option<Block> {
        let blocks = self.by_len.get_mut(&len)?;
        let block = blocks.pop();
        if blocks.is_empty() {
            self.by_len.remove(&len);
        }
        let block = block?;
        self.idle_bytes -= block.len();
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_up_to_its_limit_and_reuses() {
        let pool = Pool::new(3 * 4096);
        for block in (0..5).map(|_| pool.take(4096).unwrap()).collect::<Vec<_>>() {
            pool.give(block);
        }
        assert_eq!(pool.idle_bytes(), 3 * 4096);
        let again = pool.take(100).unwrap();
        assert_eq!(pool.idle_bytes(), 2 * 4096);
        pool.give(again);
        pool.set_limit(4096);
        assert_eq!(pool.idle_bytes(), 4096);
    }

    #[test]
    fn bytes_of_other_tapes_never_show_uninitialised() {
        let pool = Pool::new(1 << 20);
        let mut block = pool.take_raw(4096, 8).unwrap();
        block.taint();
        pool.give(block);
        assert!(pool.take(4096).unwrap().bytes().iter().all(|&byte| byte == 0));
    }
}
