//! [`Dram`]: bandwidth shared by requests of the cache and by streams, and a latency.
//!
//! Time is cut into slices of four cycles, each of which can move so many bytes. A request takes what it needs from the first slices with
//! room from its cycle on: a later node that asks for an earlier cycle fills slices that were left, and in a slice requests are served in the
//! order in which they come. Streams take what is left of a slice once time has passed it, when no request can ask for it any more: requests
//! go first.

use std::collections::VecDeque;

use crate::Machine;

/// Cycles of a slice.
const SLICE: u64 = 4;

/// A point in time, in thousandths of a byte that the memory could have moved since the start: finer than a cycle, so that no part of one
/// is lost between two transfers.
pub(crate) type Instant = u128;

#[derive(Debug)]
pub(crate) struct Dram {
    /// Thousandths of a byte a cycle.
    rate: u64,
    pub(crate) latency: u64,
    /// The number of the first slice that is kept.
    first: u64,
    slices: VecDeque<Slice>,
    /// Up to here streams have had their turn.
    settled: Instant,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    /// Thousandths of a byte that are taken, by requests and streams.
    used: Instant,
    /// When the last request in it is served, from its start.
    served: Instant,
}

impl Dram {
    pub(crate) fn new(machine: &Machine) -> Self {
        Self {
            rate: machine.millibytes_per_cycle(),
            latency: machine.dram.latency,
            first: 0,
            slices: VecDeque::new(),
            settled: 0,
        }
    }

    /// Requests `bytes` at a cycle. Returns the cycle at which the last one is there.
    pub(crate) fn request(&mut self, at: u64, bytes: u64) -> u64 {
        let whole = self.instant(SLICE);
        let mut left = Instant::from(bytes) * 1000;
        let mut at = self.instant(at);
        while left > 0 {
            let start = at / whole * whole;
            let slice = self.slice(at / whole);
            let from = slice.served.max(at - start);
            let taken = left.min(whole.saturating_sub(from)).min(whole.saturating_sub(slice.used));
            left -= taken;
            slice.used += taken;
            slice.served = from + taken;
            at = start + if left == 0 { slice.served } else { whole };
        }
        self.cycle(at) + self.latency
    }

    /// Moves up to `millibytes` of a stream from the given cycle on, at the earliest from where streams have had their turn. Returns how many.
    pub(crate) fn stream(&mut self, from: u64, until: u64, millibytes: u64) -> u64 {
        let whole = self.instant(SLICE);
        let until = self.instant(until);
        let mut left = Instant::from(millibytes);
        let mut at = self.settled.max(self.instant(from));
        if at >= until {
            return 0;
        }
        while left > 0 && at < until {
            let start = at / whole * whole;
            let end = (start + whole).min(until);
            let slice = self.slice(at / whole);
            let taken = left.min((end - start).saturating_sub(slice.used)).min(end - at);
            left -= taken;
            slice.used += taken;
            // Not sooner than its own bytes take, nor than all bytes of the slice.
            at = if left == 0 { (at + taken).max(start + slice.used) } else { end };
        }
        self.settled = at;
        // No more is left than was asked for.
        millibytes - left as u64
    }

    /// The first cycle that begins after streams have had their turn.
    pub(crate) fn settled(&self) -> u64 {
        self.cycle(self.settled)
    }

    /// No stream moves before this cycle any more.
    pub(crate) fn settle(&mut self, cycle: u64) {
        self.settled = self.settled.max(self.instant(cycle));
    }

    fn instant(&self, cycle: u64) -> Instant {
        Instant::from(cycle) * Instant::from(self.rate)
    }

    fn cycle(&self, instant: Instant) -> u64 {
        u64::try_from(instant.div_ceil(self.rate.into())).unwrap_or(u64::MAX)
    }

    fn slice(&mut self, number: Instant) -> &mut Slice {
        let index = number.saturating_sub(self.first.into()) as usize;
        if self.slices.len() <= index {
            self.slices.resize(index + 1, Slice::default());
        }
        &mut self.slices[index]
    }

    /// Forgets what lies before the cycle. No request is earlier from now on.
    pub(crate) fn advance(&mut self, floor: u64) {
        let first = floor / SLICE;
        if first > self.first {
            let gone = (first - self.first).min(self.slices.len() as u64) as usize;
            self.slices.drain(..gone);
            self.first = first;
        }
        self.settle(floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 9.6 bytes a cycle, 100 cycles.
    fn dram() -> Dram {
        Dram::new(&Machine::default())
    }

    #[test]
    fn a_line_takes_its_latency_and_its_bytes() {
        // 64 / 9.6 = 6.7 cycles: 7.
        assert_eq!(dram().request(1000, 64), 1107);
        // From the end of a slice into the next.
        assert_eq!(dram().request(15, 64), 15 + 7 + 100);
    }

    #[test]
    fn bandwidth_bounds_a_stream_of_lines() {
        // All asked for at cycle 0: the n-th is there after n × 64 / 9.6 cycles and the latency.
        let mut dram = dram();
        for n in 1..=1000_u64 {
            assert_eq!(dram.request(0, 64), (n * 640).div_ceil(96) + 100);
        }
    }

    #[test]
    fn requests_of_one_slice_are_served_in_turn() {
        // From cycle 2 on: 2 + 64 / 9.6 = 8.7, and 2 + 128 / 9.6 = 15.3.
        let mut dram = dram();
        assert_eq!(dram.request(2, 64), 109);
        assert_eq!(dram.request(2, 64), 116);
    }

    #[test]
    fn an_earlier_request_is_not_behind_a_later_one() {
        let mut dram = dram();
        assert_eq!(dram.request(500, 64), 607);
        assert_eq!(dram.request(0, 64), 107);
    }

    #[test]
    fn streams_take_what_is_left() {
        // 160 cycles move 1536 bytes; ten lines leave 896 of them.
        let mut dram = dram();
        for i in 0..10 {
            dram.request(16 * i, 64);
        }
        assert_eq!(dram.stream(0, 160, u64::MAX), 896_000);
    }
}
