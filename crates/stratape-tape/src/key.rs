//! [`SlabKey`]: the name of a slab in a tier.

use std::fmt;

/// Names one written slab. A tape never writes two slabs under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlabKey {
    /// Which tape the slab belongs to, where several share a tier.
    pub lane: u32,
    /// The slab's place in its tape, counted from the bottom. The smallest is needed last.
    pub depth: u64,
    /// Grows with every write, so that a slab written again has another key.
    pub serial: u64,
}

impl fmt::Display for SlabKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slab {} of lane {} (write {})", self.depth, self.lane, self.serial)
    }
}
