//! How full each layer was, over time, to be drawn later.

use std::time::{Duration, Instant};

/// Samples kept before every other one is dropped and the rest taken half as often.
const MOST_SAMPLES: usize = 4096;

/// What each layer held at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Since the tape was opened.
    pub at: Duration,
    /// Bytes of slabs in RAM that exist only there.
    pub unsaved: u64,
    /// Bytes of slabs in RAM that the tier below has too.
    pub saved: u64,
    /// Bytes on their way down.
    pub writing: u64,
    /// Bytes on their way up.
    pub reading: u64,
    /// Bytes of slabs that are only in the tier below.
    pub below: u64,
    /// Time lost waiting so far, in both directions.
    pub waited: Duration,
}

/// Collects samples at slab boundaries, thinning them out as they become many.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    start: Instant,
    samples: Vec<Sample>,
    every: usize,
    skipped: usize,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), samples: Vec::new(), every: 1, skipped: 0 }
    }

    pub(crate) fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Forgets what was recorded. The clock goes on.
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        (self.every, self.skipped) = (1, 0);
    }

    /// `true` when the next sample is due; the caller then makes one for [`add`](Self::add).
    pub(crate) fn is_due(&mut self) -> bool {
        self.skipped += 1;
        self.skipped >= self.every
    }

    pub(crate) fn add(&mut self, sample: Sample) {
        self.skipped = 0;
        self.samples.push(Sample { at: self.start.elapsed(), ..sample });
        if self.samples.len() == MOST_SAMPLES {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_bounded_and_ordered() {
        let mut recorder = Recorder::new();
        for below in 0..100_000 {
            if recorder.is_due() {
                recorder.add(Sample { below, ..Sample::default() });
            }
        }
        let samples = recorder.samples();
        assert!(samples.len() < MOST_SAMPLES && samples.len() >= MOST_SAMPLES / 2);
        assert!(samples.windows(2).all(|pair| pair[0].below < pair[1].below));
        assert!(samples.windows(2).all(|pair| pair[0].at <= pair[1].at));
        recorder.clear();
        assert!(recorder.samples().is_empty() && recorder.is_due(), "each is due again");
    }
}
