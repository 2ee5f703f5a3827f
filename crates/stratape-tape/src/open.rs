//! The calls that open a tape, a set of lanes or a stash, from [`TapeOptions`] or from a saved file.

use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;

use crate::codec::Packing;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::TapeError;
use crate::lanes::Lanes;
use crate::layered::LayeredTape;
use crate::options::TapeOptions;
use crate::record::RecordTape;
use crate::saved::SavedReader;
use crate::setup;
use crate::stash::Stash;

impl TapeOptions {
    /// Opens a tape of `T`.
    ///
    /// # Errors
    /// [`ErrorKind::Options`] for settings that cannot work, [`ErrorKind::SpillDirectory`] when
    /// no file can be made there, [`ErrorKind::EngineUnavailable`] for a named engine.
    pub fn open<T: Pod>(self) -> Result<LayeredTape<T>, TapeError> {
        setup::check_elements::<T>()?;
        let depot = setup::depot(&self, setup::packing::<T>(&self)?)?;
        let per_slab = setup::per_slab::<T>(&self);
        Ok(LayeredTape::on(setup::ladder::<T>(&self, depot, per_slab)?, per_slab))
    }

    /// Opens a record tape.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_records(self) -> Result<RecordTape, TapeError> {
        let depot = setup::depot(&self, setup::record_packing(&self)?)?;
        let words = setup::per_slab::<u64>(&self);
        Ok(RecordTape::on(setup::ladder::<u64>(&self, depot, words)?, words))
    }

    /// Opens `count` tapes for as many workers, under one budget and one I/O engine.
    ///
    /// # Errors
    /// As [`open`](Self::open); also for zero lanes, and when the budget does not reach.
    pub fn open_lanes<T: Pod>(self, count: usize) -> Result<Lanes<T>, TapeError> {
        setup::check_elements::<T>()?;
        let lane = setup::share(self, count)?;
        let depot = setup::depot(&lane, setup::packing::<T>(&lane)?)?;
        let per_slab = setup::per_slab::<T>(&lane);
        let open_lane = |_| {
            let ladder = setup::ladder::<T>(&lane, Arc::clone(&depot), per_slab)?;
            Ok(LayeredTape::on(ladder, per_slab))
        };
        Ok(Lanes::new((0..count).map(open_lane).collect::<Result<_, TapeError>>()?))
    }

    /// Opens `count` record tapes, under one budget and one I/O engine.
    ///
    /// # Errors
    /// As [`open_lanes`](Self::open_lanes).
    pub fn open_record_lanes(self, count: usize) -> Result<Vec<RecordTape>, TapeError> {
        let packing = setup::record_packing(&self)?;
        let lane = setup::share(self, count)?;
        let depot = setup::depot(&lane, packing)?;
        let words = setup::per_slab::<u64>(&lane);
        let open_lane = |_| {
            let ladder = setup::ladder::<u64>(&lane, Arc::clone(&depot), words)?;
            Ok(RecordTape::on(ladder, words))
        };
        (0..count).map(open_lane).collect()
    }
}

impl<T: Pod> LayeredTape<T> {
    /// Opens a saved tape. Its slabs are read from the file as the reverse pass needs them; the
    /// file is not changed.
    ///
    /// The options are those of [`TapeOptions::open`], except that the slab size is the file's.
    ///
    /// # Errors
    /// [`ErrorKind::NotThisTape`](crate::ErrorKind::NotThisTape) for a file that is damaged, cut
    /// short, of another version or of another element type; also as [`TapeOptions::open`].
    ///
    /// ```
    /// # use stratape_tape::{LayeredTape, TapeOptions};
    /// # let directory = std::env::temp_dir();
    /// let path = directory.join(format!("{}.tape", std::process::id()));
    /// let mut tape: LayeredTape<f64> = TapeOptions::new().memory(1 << 20).open()?;
    /// tape.extend_from_slice(&[1.0, 2.0])?;
    /// tape.save(&path)?;
    ///
    /// let mut tape = LayeredTape::<f64>::load(&path, TapeOptions::new())?;
    /// assert_eq!(tape.pop()?, Some(2.0));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), stratape_tape::TapeError>(())
    /// ```
    #[allow(clippy::needless_pass_by_value, reason = "options are given away, as to `open`")]
    pub fn load(path: impl AsRef<Path>, options: TapeOptions) -> Result<Self, TapeError> {
        setup::check_elements::<T>()?;
        let saved = SavedReader::open::<T>(path.as_ref())?;
        let (per_slab, filled) = (saved.per_slab(), saved.last_used() / size_of::<T>());
        Self::continued(setup::saved_ladder::<T>(&options, saved)?, per_slab, filled)
    }
}

impl RecordTape {
    /// Opens a saved tape of records. See [`LayeredTape::load`](crate::LayeredTape::load).
    ///
    /// A file does not say which types its records have, so debug builds check only what is
    /// pushed from here on.
    ///
    /// # Errors
    /// As there.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "options are given away, as to `open_records`"
    )]
    pub fn load(path: impl AsRef<Path>, options: TapeOptions) -> Result<Self, TapeError> {
        let saved = SavedReader::open_records(path.as_ref())?;
        let (per_slab, used) = (saved.per_slab(), saved.last_used());
        Self::continued(setup::saved_ladder::<u64>(&options, saved)?, per_slab, used)
    }
}

impl Stash {
    /// Opens a stash on the tier, directory, engine and limits of the options; their memory budget and slab size mean nothing here.
    ///
    /// # Errors
    /// When the directory cannot take a file, or the engine asked for is not to be had.
    pub fn open(options: &TapeOptions) -> Result<Self, TapeError> {
        let depot = setup::depot(options, Packing::Plain)?;
        Ok(Self::on(depot, setup::pool(options), options.patience))
    }
}
