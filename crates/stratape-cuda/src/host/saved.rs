//! Versions of buffers that the way back needs: on the device while there is room, then on the layers of a [`DeviceTape`](crate::DeviceTape).
//!
//! A version that nobody else holds can be moved. The first ones stay where they are; once they take half of the budget, later ones go to the layers, which have the other half, and
//! copy the deepest to the host and from there to the disk. Whoever needs a version takes it back, and whoever is dropped with one frees it: steps of a loop that run
//! again without their way back leave nothing behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::buffer::RawBuffer;
use crate::device::{Device, Kind};
use crate::device_tape::{DeviceTapeOptions, Key, Layers};
use crate::error::GpuError;

use super::session::Content;

/// Bytes of device memory for versions, if half of what is free is not meant.
const VARIABLE: &str = "STRATAPE_GPU_SAVED_BYTES";

/// Where versions are kept.
#[derive(Default)]
pub(super) struct Saved {
    budget: Option<usize>,
    /// Bytes of versions that stay where they are.
    resident: Arc<AtomicUsize>,
    /// One for each device that has needed any.
    layers: Vec<Arc<Mutex<Layers>>>,
    next: u64,
}

/// A version that is kept.
pub(super) struct Kept(Place);

enum Place {
    /// Counted as long as it stays.
    Here {
        content: Content,
        _weight: Option<Weight>,
    },
    Stored(Stored),
}

/// Bytes that count as long as this lives.
struct Weight(Arc<AtomicUsize>, usize);

struct Stored {
    layers: Arc<Mutex<Layers>>,
    key: Key,
    checking: bool,
}

fn here(content: Content) -> Kept {
    Kept(Place::Here { content, _weight: None })
}

fn lock(layers: &Mutex<Layers>) -> MutexGuard<'_, Layers> {
    layers.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Saved {
    /// Keeps a version.
    pub(super) fn keep(&mut self, content: Content) -> Kept {
        let raw = match content {
            Content::Elements(raw) => raw,
            zeros @ Content::Zeros(_) => return here(zeros),
        };
        let raw = match Arc::try_unwrap(raw) {
            Ok(raw) => raw,
            // Others hold it, so that its memory would stay.
            Err(shared) => return here(Content::Elements(shared)),
        };
        let bytes = raw.shape().bytes();
        let budget = *self.budget.get_or_insert_with(|| budget(raw.owner()));
        if self.resident.load(Ordering::Relaxed).saturating_add(bytes) <= budget / 2 {
            self.resident.fetch_add(bytes, Ordering::Relaxed);
            let weight = Some(Weight(Arc::clone(&self.resident), bytes));
            let content = Content::Elements(Arc::new(raw));
            return Kept(Place::Here { content, _weight: weight });
        }
        // What cannot be moved stays.
        let Ok(layers) = self.layers(&raw, budget / 2) else {
            return here(Content::Elements(Arc::new(raw)));
        };
        let (key, checking) = ((self.next, 0), raw.is_checking());
        self.next += 1;
        let refused = lock(&layers).insert(key, raw).err();
        match refused {
            None => Kept(Place::Stored(Stored { layers, key, checking })),
            Some(refused) => here(Content::Elements(Arc::new(refused.0))),
        }
    }

    fn layers(&mut self, raw: &RawBuffer, bytes: usize) -> Result<Arc<Mutex<Layers>>, GpuError> {
        let fits = |layers: &&Arc<Mutex<Layers>>| {
            lock(layers).owner().check(raw.owner(), "a version").is_ok()
        };
        if let Some(known) = self.layers.iter().find(fits) {
            return Ok(Arc::clone(known));
        }
        let device = Device::of(raw.owner().clone(), raw.is_checking());
        let options = DeviceTapeOptions::new().device_bytes(bytes);
        let layers = Arc::new(Mutex::new(Layers::open(&options, &device)?));
        self.layers.push(Arc::clone(&layers));
        Ok(layers)
    }

    /// A copy of a buffer; where device memory is missing, versions give theirs up first.
    pub(super) fn duplicate(&self, raw: &RawBuffer) -> Result<RawBuffer, GpuError> {
        match raw.duplicate(None) {
            Err(GpuError::OutOfMemory { .. }) if !self.layers.is_empty() => {
                for layers in &self.layers {
                    lock(layers).spill(usize::MAX)?;
                }
                raw.duplicate(None)
            }
            other => other,
        }
    }
}

/// Half of the memory that is free; all of it for an emulator, whose memory is that of the host.
fn budget(owner: &Kind) -> usize {
    let asked = std::env::var(VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
    asked.unwrap_or_else(|| match owner {
        Kind::Cuda(context) => context.free_bytes() / 2,
        Kind::Emulator(_) => usize::MAX,
    })
}

impl Kept {
    /// The version, on its device again.
    pub(super) fn back(self) -> Result<Content, GpuError> {
        match self.0 {
            Place::Here { content, .. } => Ok(content),
            Place::Stored(stored) => {
                let raw = lock(&stored.layers).take(stored.key)?;
                let raw = raw.ok_or_else(|| {
                    GpuError::Unsupported("a version of a buffer that is gone".to_owned())
                })?;
                Ok(Content::Elements(Arc::new(raw.made_with(stored.checking))))
            }
        }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        lock(&self.layers).remove(self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;

    fn version(device: &Device, number: usize) -> Content {
        Content::Elements(device.upload(&[number as f64; 100]).unwrap().shared())
    }

    fn first(content: &Content) -> f64 {
        let Content::Elements(raw) = content else { panic!("zeros") };
        Buffer::<f64>::sharing(raw).unwrap().download().unwrap()[0]
    }

    #[test]
    fn beyond_half_of_the_budget_they_are_stored() {
        let device = Device::emulator();
        let mut saved = Saved { budget: Some(8000), ..Saved::default() };
        let kept: Vec<Kept> = (0..20).map(|k| saved.keep(version(&device, k))).collect();
        let stored = kept.iter().filter(|one| matches!(one.0, Place::Stored(_))).count();
        assert_eq!(stored, 15);
        let stats = lock(&saved.layers[0]).stats();
        assert_eq!(stats.buffers, 15);
        assert!(stats.device.bytes <= 4000 && stats.host.bytes > 0, "{stats}");
        for (k, one) in kept.into_iter().enumerate().rev() {
            // Every third is dropped, as by a step that does not go back.
            if k % 3 > 0 {
                assert_eq!(first(&one.back().unwrap()), k as f64);
            }
        }
        assert_eq!(lock(&saved.layers[0]).len(), 0);
        assert_eq!(saved.resident.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_others_hold_stays() {
        let device = Device::emulator();
        let mut saved = Saved { budget: Some(0), ..Saved::default() };
        let content = version(&device, 3);
        let kept = saved.keep(content.clone());
        assert!(saved.layers.is_empty());
        assert!(kept.back().unwrap().is(&content));
    }
}
