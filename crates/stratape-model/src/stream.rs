//! [`Engine`]: a stream of bytes between scratchpad and DRAM, in the background.
//!
//! An engine knows how far it may go: out, as far as layers have ended; in, as far as its buffer has room for layers to come. It gets there
//! with the bandwidth that the cache leaves. The program waits at the end of a layer until the bytes on the way out fit the buffer, and at
//! the start of a layer until its bytes are there.

use std::collections::VecDeque;

use crate::dram::Dram;

#[derive(Debug, Default)]
pub(crate) struct Engine {
    /// Thousandths of a byte moved so far.
    moved: u64,
    /// From which cycle on it may go how far.
    grants: VecDeque<(u64, u64)>,
}

impl Engine {
    /// An engine that need not move the first so many bytes.
    pub(crate) fn from(bytes: u64) -> Self {
        Self { moved: bytes.saturating_mul(1000), grants: VecDeque::new() }
    }

    /// From this cycle on the stream may go as far as `bytes` from its start.
    pub(crate) fn grant(&mut self, from: u64, bytes: u64) {
        let limit = bytes.saturating_mul(1000);
        let last = self.grants.back().map_or(self.moved, |(_, limit)| *limit);
        if limit > last {
            self.grants.push_back((from, limit));
        }
    }

    pub(crate) fn idle(&self) -> bool {
        self.grants.is_empty()
    }

    /// Goes on until the given cycle.
    pub(crate) fn run_until(&mut self, dram: &mut Dram, cycle: u64) {
        self.run(dram, cycle, u64::MAX);
        dram.settle(cycle);
    }

    /// The first cycle from `now` on at which so many bytes from the start have been moved, if nobody else uses the memory.
    pub(crate) fn wait(&mut self, dram: &mut Dram, now: u64, bytes: u64) -> u64 {
        self.run_until(dram, now);
        let target = bytes.saturating_mul(1000);
        if self.moved < target {
            self.run(dram, u64::MAX, target);
        }
        dram.settled().max(now)
    }

    fn run(&mut self, dram: &mut Dram, until: u64, target: u64) {
        while let Some(&(from, limit)) = self.grants.front() {
            if self.moved >= target {
                return;
            }
            self.moved += dram.stream(from, until, limit.min(target) - self.moved);
            if self.moved < limit {
                return;
            }
            self.grants.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    #[test]
    fn a_stream_alone_moves_at_full_rate() {
        // 960 bytes at 9.6 a cycle take 100 cycles; half of them are over at 50.
        let mut dram = Dram::new(&Machine::default());
        let mut engine = Engine::default();
        engine.grant(0, 960);
        assert_eq!(engine.wait(&mut dram, 0, 480), 50);
        assert_eq!(engine.wait(&mut dram, 60, 480), 60);
        assert_eq!(engine.wait(&mut dram, 60, 960), 100);
        assert!(engine.idle());
    }

    #[test]
    fn a_grant_begins_at_its_cycle() {
        let mut dram = Dram::new(&Machine::default());
        let mut engine = Engine::default();
        engine.grant(100, 96);
        engine.grant(300, 192);
        assert_eq!(engine.wait(&mut dram, 0, 96), 110);
        assert_eq!(engine.wait(&mut dram, 0, 192), 310);
    }

    #[test]
    fn requests_go_first() {
        // Until cycle 160 the cache takes ten lines, 640 of 1536 bytes. A stream of 1536 bytes has the other 896 by then, and the last 640
        // take 66.7 cycles more.
        let mut dram = Dram::new(&Machine::default());
        let mut engine = Engine::default();
        engine.grant(0, 1536);
        for i in 0..10 {
            dram.request(16 * i, 64);
        }
        assert_eq!(engine.wait(&mut dram, 160, 1536), 160 + 67);
    }
}
