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
use crate::raw::{Below, RawElement, RawTape};
use crate::record::RecordTape;
use crate::saved::{ElementType, SavedReader};
use crate::setup;
use crate::stash::Stash;
use crate::tier::IoEngine;

impl TapeOptions {
    /// Opens a tape of `T`.
    ///
    /// # Errors
    /// [`ErrorKind::Options`] for settings that cannot work, [`ErrorKind::SpillDirectory`] when
    /// no file can be made there, [`ErrorKind::EngineUnavailable`] for a named engine.
    pub fn open<T: Pod>(self) -> Result<LayeredTape<T>, TapeError> {
        setup::check_elements::<T>()?;
        let depot = setup::depot(&self, setup::packing::<T>(&self)?)?;
        let per_slab = setup::per_slab(&self, size_of::<T>());
        let ladder = setup::ladder(&self, Some(depot), size_of::<T>(), per_slab)?;
        Ok(LayeredTape::on(ladder, per_slab))
    }

    /// Opens a record tape.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_records(self) -> Result<RecordTape, TapeError> {
        let depot = setup::depot(&self, setup::record_packing(&self)?)?;
        let words = setup::per_slab(&self, size_of::<u64>());
        let ladder = setup::ladder(&self, Some(depot), size_of::<u64>(), words)?;
        Ok(RecordTape::on(ladder, words))
    }

    /// Opens `count` tapes for as many workers, under one budget and one I/O engine.
    ///
    /// # Errors
    /// As [`open`](Self::open); also for zero lanes, and when the budget does not reach.
    pub fn open_lanes<T: Pod>(self, count: usize) -> Result<Lanes<T>, TapeError> {
        setup::check_elements::<T>()?;
        let lane = setup::share(self, count)?;
        let depot = setup::depot(&lane, setup::packing::<T>(&lane)?)?;
        let per_slab = setup::per_slab(&lane, size_of::<T>());
        let open_lane = |_| {
            let depot = Some(Arc::clone(&depot));
            let ladder = setup::ladder(&lane, depot, size_of::<T>(), per_slab)?;
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
        let words = setup::per_slab(&lane, size_of::<u64>());
        let open_lane = |_| {
            let depot = Some(Arc::clone(&depot));
            let ladder = setup::ladder(&lane, depot, size_of::<u64>(), words)?;
            Ok(RecordTape::on(ladder, words))
        };
        (0..count).map(open_lane).collect()
    }
}

impl TapeOptions {
    /// Opens a tape of elements whose type only another language knows.
    ///
    /// The spill file is made when the budget begins to fill, so that a tape that stays small costs none; for an engine that
    /// is named, and for a directory that is missing, the failure comes here.
    ///
    /// # Errors
    /// As [`open`](Self::open). The budget must hold three slabs.
    pub fn open_raw(self, element: RawElement) -> Result<RawTape, TapeError> {
        setup::record_packing(&self)?;
        check_slab(&self)?;
        let per_slab = setup::per_slab(&self, element.size());
        let lazy = self.tier.is_none() && self.engine == IoEngine::Auto;
        let depot = if lazy {
            setup::check_directory(&self)?;
            None
        } else {
            Some(setup::depot(&self, Packing::Plain)?)
        };
        let ladder = setup::ladder(&self, depot, element.size(), per_slab)?;
        let below: Below = Box::new(move || setup::depot(&self, Packing::Plain));
        RawTape::on(ladder, per_slab, element, lazy.then_some(below))
    }

    /// Opens `count` raw tapes, under one budget and one I/O engine.
    ///
    /// # Errors
    /// As [`open_lanes`](Self::open_lanes); each lane's part of the budget must hold three slabs.
    pub fn open_raw_lanes(
        self,
        element: RawElement,
        count: usize,
    ) -> Result<Vec<RawTape>, TapeError> {
        let packing = setup::record_packing(&self)?;
        let lane = setup::share(self, count)?;
        check_slab(&lane)?;
        let depot = setup::depot(&lane, packing)?;
        let per_slab = setup::per_slab(&lane, element.size());
        let open_lane = |_| {
            let depot = Some(Arc::clone(&depot));
            let ladder = setup::ladder(&lane, depot, element.size(), per_slab)?;
            RawTape::on(ladder, per_slab, element, None)
        };
        (0..count).map(open_lane).collect()
    }
}

/// Slabs of C come as any number; beyond this one sizes could no longer be counted.
fn check_slab(options: &TapeOptions) -> Result<(), TapeError> {
    if options.slab.is_some_and(|bytes| bytes > isize::MAX as usize / 4) {
        return Err(setup::refused("slabs of more bytes than there can be memory"));
    }
    Ok(())
}

impl RawTape {
    /// Opens a saved tape of equal elements, whichever language has saved it. See [`LayeredTape::load`].
    ///
    /// Size and alignment must be those of the file; what else is to be known of the elements, the caller knows.
    ///
    /// # Errors
    /// As there. The budget must hold three of the file's slabs.
    #[allow(clippy::needless_pass_by_value, reason = "options are given away, as to `open_raw`")]
    pub fn load(
        path: impl AsRef<Path>,
        options: TapeOptions,
        element: RawElement,
    ) -> Result<Self, TapeError> {
        setup::record_packing(&options)?;
        check_slab(&options)?;
        let saved = SavedReader::open(path.as_ref(), &element.description())?;
        let (per_slab, filled) = (saved.per_slab(), saved.last_used() / element.size());
        let ladder = setup::saved_ladder(&options, saved, element.size())?;
        Self::continued(ladder, per_slab, element, filled)
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
        let saved = SavedReader::open(path.as_ref(), &ElementType::of::<T>())?;
        let (per_slab, filled) = (saved.per_slab(), saved.last_used() / size_of::<T>());
        let ladder = setup::saved_ladder(&options, saved, size_of::<T>())?;
        Self::continued(ladder, per_slab, filled)
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
        let ladder = setup::saved_ladder(&options, saved, size_of::<u64>())?;
        Self::continued(ladder, per_slab, used)
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
