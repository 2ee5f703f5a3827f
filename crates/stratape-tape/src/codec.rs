//! What happens to a slab's bytes between RAM and a tier: a checksum, and compression if asked.
//!
//! Runs on the background threads. crc32c is several times faster than any disk, so it is on by
//! default; `pco` packs floats three to four times denser, far slower than a disk, and pays for
//! capacity or slow remote tiers only.

use crate::block::{Block, Stamp};
use crate::crc::checksum;
use crate::error::TierError;
use crate::pool::Pool;

/// How slabs are encoded on their way down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    pub(crate) checksum: bool,
    #[cfg_attr(not(feature = "compression"), allow(dead_code))]
    pub(crate) packing: Packing,
}

/// What the bytes of a slab are, for the compressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Not compressed.
    Plain,
    #[cfg(feature = "compression")]
    F32,
    #[cfg(feature = "compression")]
    F64,
}

/// What must be known to read a slab back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipt {
    /// Bytes of the slab that mean something.
    pub(crate) used: usize,
    /// Checksum of those, before packing.
    pub(crate) checksum: Option<u32>,
    /// Bytes of the packed form, if the slab was packed.
    pub(crate) packed: Option<usize>,
}

impl Codec {
    pub(crate) fn receipt(self, block: &Block, used: usize) -> Receipt {
        let checksum = self.checksum.then(|| checksum(&block.bytes()[..used]));
        Receipt { used, checksum, packed: None }
    }

    /// A packed copy of the block, if packing is on and makes it smaller on disk.
    #[cfg(feature = "compression")]
    pub(crate) fn pack(self, block: &Block, receipt: &mut Receipt, pool: &Pool) -> Option<Block> {
        let bytes = &block.bytes()[..receipt.used];
        let config = pco::ChunkConfig::default();
        let packed = match self.packing {
            Packing::Plain => return None,
            Packing::F32 => pco::standalone::simple_compress(
                bytemuck::try_cast_slice::<u8, f32>(bytes).ok()?,
                &config,
            ),
            Packing::F64 => pco::standalone::simple_compress(
                bytemuck::try_cast_slice::<u8, f64>(bytes).ok()?,
                &config,
            ),
        };
        let packed = packed.ok()?;
        let mut out = pool.take(packed.len()).ok()?;
        if out.len() >= block.len() {
            pool.give(out);
            return None;
        }
        out.bytes_mut()[..packed.len()].copy_from_slice(&packed);
        receipt.packed = Some(packed.len());
        Some(out)
    }

    #[cfg(not(feature = "compression"))]
    pub(crate) fn pack(self, _: &Block, _: &mut Receipt, _: &Pool) -> Option<Block> {
        None
    }

    #[cfg(feature = "compression")]
    pub(crate) fn unpack(
        self,
        packed: &[u8],
        used: usize,
        block: &mut Block,
    ) -> Result<(), TierError> {
        let bytes = &mut block.bytes_mut()[..used];
        let undecodable = |what: &dyn std::fmt::Display| TierError::Undecodable(what.to_string());
        let progress = match self.packing {
            Packing::Plain => Err(undecodable(&"the slab is packed, but packing is off")),
            Packing::F32 => {
                let out: &mut [f32] = bytemuck::cast_slice_mut(bytes);
                pco::standalone::simple_decompress_into(packed, out)
                    .map(|progress| (progress.n_processed, out.len()))
                    .map_err(|error| undecodable(&error))
            }
            Packing::F64 => {
                let out: &mut [f64] = bytemuck::cast_slice_mut(bytes);
                pco::standalone::simple_decompress_into(packed, out)
                    .map(|progress| (progress.n_processed, out.len()))
                    .map_err(|error| undecodable(&error))
            }
        };
        match progress? {
            (found, expected) if found == expected => Ok(()),
            (found, expected) => {
                Err(undecodable(&format_args!("{found} numbers where {expected} were packed")))
            }
        }
    }

    #[cfg(not(feature = "compression"))]
    pub(crate) fn unpack(self, _: &[u8], _: usize, _: &mut Block) -> Result<(), TierError> {
        Err(TierError::Undecodable("built without the `compression` feature".to_owned()))
    }
}

impl Receipt {
    /// Whether a block that a tier hands back after a write can stand for the one it was given.
    /// Only a checksum can tell for one that is another, or was changed.
    pub(crate) fn accepts(&self, handed: Stamp, len: usize, block: &Block) -> bool {
        let found = block.stamp();
        let proved = || self.checksum.is_some() && self.verify(block).is_ok();
        block.len() == len
            && (found == handed
                || (found.same_block(handed) && self.checksum.is_none())
                || proved())
    }

    /// Whether the block holds what was written.
    pub(crate) fn verify(&self, block: &Block) -> Result<(), TierError> {
        let Some(expected) = self.checksum else {
            return Ok(());
        };
        let Some(bytes) = block.bytes().get(..self.used) else {
            let (expected, found) = (self.used as u64, block.len() as u64);
            return Err(TierError::CutShort { expected, found });
        };
        let found = checksum(bytes);
        if found == expected { Ok(()) } else { Err(TierError::Damaged { expected, found }) }
    }
}
