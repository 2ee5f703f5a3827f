//! The tier of a tape that continues from a saved file: old slabs are read from the file, which is
//! never changed; new ones go to the tier below.

use std::fs::File;
use std::sync::Arc;

use crate::block::Block;
use crate::error::{TapeError, TierError};
use crate::key::SlabKey;
use crate::tier::{DiskOptions, DiskReader, Done, Tier};

/// Where a slab lies in the file.
pub(super) struct Extent {
    pub(super) offset: u64,
    /// Bytes, whole pages.
    pub(super) len: u64,
}

pub(crate) struct SavedTier {
    reader: DiskReader,
    slabs: Vec<Extent>,
    below: Arc<dyn Tier>,
}

impl SavedTier {
    /// `file` is the one whose table was read, not another that has its name by now.
    pub(super) fn start(
        file: File,
        options: &DiskOptions,
        slabs: Vec<Extent>,
        below: Arc<dyn Tier>,
    ) -> Result<Self, TapeError> {
        Ok(Self { reader: DiskReader::start(file, options)?, slabs, below })
    }

    /// Where the slab lies, if it is one of the file's: they have the first serial numbers.
    fn extent(&self, key: SlabKey) -> Option<&Extent> {
        self.slabs.get(usize::try_from(key.serial).ok()?)
    }
}

impl Tier for SavedTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        self.below.write(key, block, done);
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        match self.extent(key) {
            None => self.below.read(key, block, done),
            Some(extent) if extent.len != block.len() as u64 => {
                let expected = block.len() as u64;
                let found = extent.len;
                done(block, Err(TierError::CutShort { expected, found }));
            }
            Some(extent) => self.reader.read(extent.offset, block, done),
        }
    }

    fn forget(&self, key: SlabKey) {
        if self.extent(key).is_none() {
            self.below.forget(key);
        }
    }

    fn tidy(&self) -> bool {
        self.below.tidy()
    }

    fn stored_bytes(&self) -> u64 {
        self.below.stored_bytes()
    }

    fn describe(&self) -> String {
        format!("{} over {}", self.reader.describe(), self.below.describe())
    }
}
