//! How long values live: from the node that makes one to the nodes that use it.

/// Cycles from a value's making to a use of it, so that one, two, … five fifths of all uses are over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fifths(pub [u64; 5]);

/// How long values live, in cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lifetimes {
    /// Values on the tape, from their store to their load.
    pub tape: Fifths,
    /// All others: what an operation computes, and what is stored in an array and read again.
    pub others: Fifths,
}

/// Buckets of an octave: a lifetime is known to an eighth of itself.
const PARTS: usize = 8;

/// How many uses came after how many cycles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    longest: u64,
}

impl Histogram {
    pub(crate) fn add(&mut self, cycles: u64) {
        let bucket = bucket(cycles);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.longest = self.longest.max(cycles);
    }

    pub(crate) fn fifths(&self) -> Fifths {
        let mut fifths = [0; 5];
        for (part, cycles) in (1..).zip(&mut fifths) {
            let wanted = (self.total * part).div_ceil(5);
            let mut seen = 0;
            let reached = self.counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            *cycles = reached.map_or(0, largest).min(self.longest);
        }
        Fifths(fifths)
    }
}

fn bucket(cycles: u64) -> usize {
    match cycles.checked_ilog2() {
        Some(octave) if octave >= 3 => {
            (octave as usize - 2) * PARTS + (cycles >> (octave - 3)) as usize % PARTS
        }
        _ => cycles as usize,
    }
}

/// The largest number of cycles of a bucket.
fn largest(bucket: usize) -> u64 {
    match bucket / PARTS {
        0 => bucket as u64,
        // The last bucket ends where numbers end.
        octave => (((PARTS + bucket % PARTS + 1) as u64) << (octave - 1)).wrapping_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_all_numbers_once() {
        // 8..15 have buckets of their own, 16 and 17 share one, 32 to 35 the next octave's first.
        let buckets = [7, 8, 15, 16, 17, 18, 31, 32, 35, 36].map(bucket);
        assert_eq!(buckets, [7, 8, 15, 16, 16, 17, 23, 24, 24, 25]);
        for cycles in 0..5000 {
            let bucket = bucket(cycles);
            assert!(cycles <= largest(bucket) && (bucket == 0 || cycles > largest(bucket - 1)));
        }
        assert!(largest(bucket(u64::MAX)) == u64::MAX);
    }

    #[test]
    fn fifths_of_known_lifetimes() {
        // 1, 2, … 10 cycles, once each: two of them in each fifth.
        let mut histogram = Histogram::default();
        (1..=10).for_each(|cycles| histogram.add(cycles));
        assert_eq!(histogram.fifths(), Fifths([2, 4, 6, 8, 10]));
        // One use that is far longer moves the last fifth alone.
        histogram.add(1000);
        assert_eq!(histogram.fifths(), Fifths([3, 5, 7, 9, 1000]));
        assert_eq!(Histogram::default().fifths(), Fifths::default());
    }
}
