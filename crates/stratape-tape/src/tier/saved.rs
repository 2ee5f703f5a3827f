//! The tier of a tape that continues from a saved file: old slabs are read from the file, which is
//! never changed; new ones go to the tier below.

use std::fs::File;
use std::sync::Arc;

use super::disk::DiskReader;
use super::{Block, DiskOptions, Done, SlabKey, Tier, TierError};
use crate::error::TapeError;
use crate::saved::Line;

pub(crate) struct SavedTier {
    reader: DiskReader,
    lines: Vec<Line>,
    below: Arc<dyn Tier>,
}

impl SavedTier {
    /// `file` is the one the lines were read from, not another that has its name by now.
    pub(crate) fn start(
        file: File,
        options: &DiskOptions,
        lines: Vec<Line>,
        below: Arc<dyn Tier>,
    ) -> Result<Self, TapeError> {
        Ok(Self { reader: DiskReader::start(file, options)?, lines, below })
    }

    /// The slab's line, if it is one of the file's: they have the first serial numbers.
    fn line(&self, key: SlabKey) -> Option<&Line> {
        self.lines.get(usize::try_from(key.serial).ok()?)
    }
}

impl Tier for SavedTier {
    fn write(&self, key: SlabKey, block: Block, done: Done) {
        self.below.write(key, block, done);
    }

    fn read(&self, key: SlabKey, block: Block, done: Done) {
        match self.line(key) {
            None => self.below.read(key, block, done),
            Some(line) if line.len != block.len() as u64 => {
                let expected = block.len() as u64;
                let found = line.len;
                done(block, Err(TierError::CutShort { expected, found }));
            }
            Some(line) => self.reader.read(line.offset, block, done),
        }
    }

    fn forget(&self, key: SlabKey) {
        if self.line(key).is_none() {
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
