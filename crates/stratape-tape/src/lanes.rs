//! [`Lanes`]: one tape per worker, with one budget and one I/O engine for all.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

use crate::layered::LayeredTape;
use crate::stats::TapeStats;

/// Tapes for a fixed number of workers, opened with
/// [`TapeOptions::open_lanes`](crate::TapeOptions::open_lanes).
///
/// Each lane is a [`LayeredTape`] of its own: pushing and popping share nothing with the other
/// lanes. They share the spill file and its engine, and the memory budget in equal parts. Lanes
/// are a slice, so they work with `rayon`'s `par_iter_mut` and with scoped threads; a
/// lane can also leave the set, with its contents, for another thread.
///
/// ```
/// use std::thread;
/// use stratape_tape::TapeOptions;
///
/// let mut lanes = TapeOptions::new().memory(4 << 20).open_lanes::<f64>(2)?;
/// thread::scope(|scope| {
///     for (number, lane) in lanes.iter_mut().enumerate() {
///         scope.spawn(move || lane.push(number as f64));
///     }
/// });
/// // Results are combined in the order of the lanes, whichever finished first.
/// let mut tops = Vec::new();
/// for lane in lanes.iter_mut() {
///     tops.extend(lane.pop()?);
/// }
/// assert_eq!(tops, [0.0, 1.0]);
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
#[derive(Debug)]
pub struct Lanes<T: Pod> {
    lanes: Vec<LayeredTape<T>>,
}

impl<T: Pod> Lanes<T> {
    pub(crate) fn new(lanes: Vec<LayeredTape<T>>) -> Self {
        Self { lanes }
    }

    /// The counters of all lanes together. Peaks are summed, so the true common peak may be less.
    pub fn stats(&self) -> TapeStats {
        let mut lanes = self.lanes.iter().map(LayeredTape::stats);
        let mut total = lanes.next().unwrap_or_default();
        lanes.for_each(|lane| total.add(&lane));
        total
    }
}

impl<T: Pod> Deref for Lanes<T> {
    type Target = [LayeredTape<T>];

    fn deref(&self) -> &Self::Target {
        &self.lanes
    }
}

impl<T: Pod> DerefMut for Lanes<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.lanes
    }
}

impl<T: Pod> IntoIterator for Lanes<T> {
    type Item = LayeredTape<T>;
    type IntoIter = std::vec::IntoIter<LayeredTape<T>>;

    /// The lanes one by one; each keeps its share of the budget and the engine.
    fn into_iter(self) -> Self::IntoIter {
        self.lanes.into_iter()
    }
}

impl<'a, T: Pod> IntoIterator for &'a mut Lanes<T> {
    type Item = &'a mut LayeredTape<T>;
    type IntoIter = std::slice::IterMut<'a, LayeredTape<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.lanes.iter_mut()
    }
}
