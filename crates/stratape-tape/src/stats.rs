//! [`TapeStats`]: what a tape has done and where its data is.

use std::fmt;
use std::time::Duration;

/// A snapshot of a layered tape's counters. `Display` prints it as a table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TapeStats {
    /// Elements on the tape (for a record tape: words of eight bytes, padding included).
    pub elements: u64,
    /// Bytes those take.
    pub bytes: u64,
    /// The memory budget.
    pub memory: u64,
    /// Bytes of slabs in RAM now, spare ones and those in transit included.
    pub resident: u64,
    /// The peak of that.
    pub resident_peak: u64,
    /// The most bytes held in transfer buffers beside the slabs (packed copies).
    pub io_buffers_peak: u64,
    /// Bytes of one slab.
    pub slab_bytes: u64,
    /// Slabs whose only copy is in RAM.
    pub slabs_unsaved: u64,
    /// Slabs in RAM that the tier below has too; their memory can be taken at once.
    pub slabs_saved: u64,
    /// Slabs on their way down or up.
    pub slabs_moving: u64,
    /// Slabs that are only in the tier below.
    pub slabs_below: u64,
    /// Slabs that a tier has lost against its contract.
    pub slabs_lost: u64,
    /// Slabs written so far.
    pub slabs_spilled: u64,
    /// Their bytes.
    pub bytes_spilled: u64,
    /// Slabs read back so far.
    pub slabs_read: u64,
    /// Their bytes.
    pub bytes_read: u64,
    /// Slabs that were read before the backward pass reached them.
    pub read_ahead_hits: u64,
    /// Slabs read ahead and dropped again unused.
    pub read_ahead_wasted: u64,
    /// Slabs being kept ahead of the reverse pass at present.
    pub read_ahead_distance: u64,
    /// How often push waited for the tier below.
    pub push_waits: u64,
    /// For how long in total.
    pub push_waited: Duration,
    /// How often pop (or a random read) waited for the tier below.
    pub pop_waits: u64,
    /// For how long in total.
    pub pop_waited: Duration,
    /// Writes that failed; the slabs stayed in RAM.
    pub failed_writes: u64,
    /// Reads that failed.
    pub failed_reads: u64,
    /// Bytes stored in the tier below (for lanes: by all of them).
    pub tier_bytes: u64,
    /// A description of the tier below and its I/O engine; empty for a tape in memory.
    pub tier: String,
}

impl TapeStats {
    /// Time lost waiting in both directions.
    pub fn waited(&self) -> Duration {
        self.push_waited + self.pop_waited
    }

    /// Sums counters and sizes over lanes; words and the per-slab size are those of `self`.
    pub fn add(&mut self, other: &Self) {
        macro_rules! sum {
            ($($field:ident),*) => { $(self.$field += other.$field;)* };
        }
        sum!(
            elements,
            bytes,
            resident,
            resident_peak,
            slabs_unsaved,
            slabs_saved,
            slabs_moving,
            slabs_below,
            slabs_lost,
            slabs_spilled,
            bytes_spilled,
            slabs_read,
            bytes_read,
            read_ahead_hits,
            read_ahead_wasted,
            push_waits,
            push_waited,
            pop_waits,
            pop_waited,
            failed_writes,
            failed_reads
        );
        // A tape in memory has no budget, which is the greatest number there is.
        self.memory = self.memory.saturating_add(other.memory);
        self.read_ahead_distance = self.read_ahead_distance.max(other.read_ahead_distance);
    }
}

impl fmt::Display for TapeStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "{name:<14} {value}");
        row("elements", format!("{} ({})", self.elements, Bytes(self.bytes)))?;
        let budget = if self.memory == u64::MAX {
            "no budget".to_owned()
        } else {
            format!("budget {}", Bytes(self.memory))
        };
        row(
            "in RAM",
            format!("{}, peak {}, {budget}", Bytes(self.resident), Bytes(self.resident_peak)),
        )?;
        if self.io_buffers_peak > 0 {
            row("I/O buffers", format!("peak {}", Bytes(self.io_buffers_peak)))?;
        }
        row(
            "slabs",
            format!(
                "{} in RAM only, {} in RAM and below, {} moving, {} below; {} each",
                self.slabs_unsaved,
                self.slabs_saved,
                self.slabs_moving,
                self.slabs_below,
                Bytes(self.slab_bytes)
            ),
        )?;
        if self.tier.is_empty() {
            return row("below", "nothing: this tape stays in memory".to_owned());
        }
        row("below", format!("{}, holding {}", self.tier, Bytes(self.tier_bytes)))?;
        row("spilled", format!("{} slabs, {}", self.slabs_spilled, Bytes(self.bytes_spilled)))?;
        row(
            "read back",
            format!(
                "{} slabs, {}; {} ahead of need, {} for nothing",
                self.slabs_read,
                Bytes(self.bytes_read),
                self.read_ahead_hits,
                self.read_ahead_wasted
            ),
        )?;
        row(
            "waited",
            format!(
                "push {} times, {:.3} s; pop {} times, {:.3} s",
                self.push_waits,
                self.push_waited.as_secs_f64(),
                self.pop_waits,
                self.pop_waited.as_secs_f64()
            ),
        )?;
        row("failures", format!("{} writes, {} reads", self.failed_writes, self.failed_reads))
    }
}

/// Bytes with a binary unit.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_for_people() {
        let stats = TapeStats {
            elements: 1 << 20,
            bytes: 8 << 20,
            memory: 1 << 20,
            resident: 1 << 20,
            resident_peak: 1 << 20,
            tier: "disk (threads, direct)".to_owned(),
            pop_waited: Duration::from_millis(1500),
            ..TapeStats::default()
        };
        let table = stats.to_string();
        assert!(table.contains("1048576 (8.0 MiB)"), "{table}");
        assert!(table.contains("pop 0 times, 1.500 s"), "{table}");
        assert!(table.lines().count() == 8, "{table}");
        assert_eq!(Bytes(1000).to_string(), "1000 B");
        assert_eq!(Bytes(3 << 40).to_string(), "3.0 TiB");
    }
}
