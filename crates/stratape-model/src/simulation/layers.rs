//! Layers: barriers at their ends, and the streams between them.

use super::Simulation;
use crate::Barrier;
use crate::dram::Dram;
use crate::report::{Data, Pass};
use crate::stream::Engine;

/// Bytes of a line of DRAM, in which streams are counted.
const LINE: u64 = 64;

/// The tape in memory, and how far the streams have come.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// The engine of the pass; in both passes only one of the two has anything to do.
    engine: Engine,
    /// Bytes that the program has given to the engine, or wanted from it, in this pass.
    streamed: u64,
    /// Bytes on the tape, of layers that have ended and have not been read back.
    on_tape: u64,
    /// Bytes of the layer that ended last.
    last: u64,
    /// Bytes of the reverse pass's first layer that are in the scratchpad when it begins.
    kept: u64,
    /// The cycle at which all accesses to the scratchpad so far are done.
    pub(super) accessed: u64,
    /// The cycle from which the layer may access the scratchpad.
    pub(super) open: u64,
}

impl Layers {
    /// Starts the engine of another pass. What is kept in the scratchpad it need not bring.
    pub(super) fn turn(&mut self, from: u64, ahead: u64, pass: Pass) {
        self.kept = if pass == Pass::Reverse { self.last.min(self.on_tape) } else { 0 };
        self.engine = Engine::from(self.kept);
        (self.streamed, self.last) = (0, 0);
        if pass == Pass::Reverse {
            self.engine.grant(from, self.kept + ahead.min(self.on_tape - self.kept));
        }
    }

    pub(super) fn run_until(&mut self, dram: &mut Dram, cycle: u64) {
        if !self.engine.idle() {
            self.engine.run_until(dram, cycle);
        }
    }

    /// Counts bytes that go on along the stream. Returns how many more lines it has then touched.
    fn count(&mut self, bytes: u64) -> u64 {
        let lines = |bytes: u64| bytes.saturating_sub(self.kept).div_ceil(LINE);
        let before = lines(self.streamed);
        let after = lines(self.streamed.saturating_add(bytes));
        self.streamed = self.streamed.saturating_add(bytes);
        after - before
    }
}

impl Simulation {
    /// Ends a layer that has written so many bytes of tape, once all of it is done. In the forward pass the bytes leave the scratchpad in the
    /// background; the next layer starts when those on the way fit the engine's buffer. In the reverse pass this is the boundary alone. What
    /// waits at it is [`Machine::barrier`](crate::Machine::barrier).
    ///
    /// On a machine without a scratchpad there are no layers, and this does nothing.
    pub fn layer_end(&mut self, bytes: u64) {
        if self.scratchpad.is_none() {
            return;
        }
        let now = self.boundary(0);
        if self.pass == Pass::Reverse {
            return;
        }
        self.count_layer(bytes);
        let lines = self.layers.count(bytes);
        self.tally().of_mut(Data::Tape).lines_written += lines;
        self.layers.on_tape = self.layers.on_tape.saturating_add(bytes);
        self.layers.last = bytes;
        let streamed = self.layers.streamed;
        self.layers.engine.grant(now, streamed);
        self.boundary(streamed.saturating_sub(self.machine.stream_ahead()));
    }

    /// Starts a layer that reads so many bytes of tape, once all before it is done. In the reverse pass it waits until the bytes are there; the
    /// engine has been bringing them in, and goes on ahead of the program as far as its buffer allows. In the forward pass this is the
    /// boundary alone. What waits at it is [`Machine::barrier`](crate::Machine::barrier).
    ///
    /// On a machine without a scratchpad there are no layers, and this does nothing.
    pub fn layer_start(&mut self, bytes: u64) {
        if self.scratchpad.is_none() {
            return;
        }
        let now = self.boundary(0);
        if self.pass == Pass::Forward {
            return;
        }
        self.count_layer(bytes);
        let lines = self.layers.count(bytes);
        self.tally().of_mut(Data::Tape).lines_read += lines;
        self.layers.on_tape = self.layers.on_tape.saturating_sub(bytes);
        let wanted = self.layers.streamed;
        let ahead = self.machine.stream_ahead().min(self.layers.on_tape);
        self.layers.engine.grant(now + self.dram.latency, wanted.saturating_add(ahead));
        self.boundary(wanted);
    }

    /// Waits at the boundary of two layers, until the engine has moved so many bytes since the start of the pass. Returns the cycle at which the
    /// next layer may access the scratchpad.
    fn boundary(&mut self, bytes: u64) -> u64 {
        match self.machine.barrier {
            Barrier::Everything => {
                self.wait_for_stream(bytes);
                self.grid.end
            }
            Barrier::Tape => {
                let now = self.layers.accessed.max(self.layers.open);
                // Nodes yet to come may ask for memory before this cycle; the stream is then ahead of them.
                self.layers.open = self.layers.engine.wait(&mut self.dram, now, bytes);
                self.layers.open
            }
        }
    }

    /// The scratchpad is spilled when there is no room for the next layer. There is none after the last one before the reverse pass: under double
    /// buffering its half stays as it is, and is read from there.
    pub(super) fn keep_last(&mut self) {
        let room = if self.machine.streams.double_buffer { self.machine.layer_bytes() } else { 0 };
        if self.layers.last > room || self.pass == Pass::Reverse {
            self.layers.last = 0;
        }
        let before = self.layers.streamed - self.layers.last;
        let lines = self.layers.streamed.div_ceil(LINE) - before.div_ceil(LINE);
        self.tally().of_mut(Data::Tape).lines_written -= lines;
        self.layers.streamed = before;
    }

    /// Waits until everything is done and all streams have ended.
    pub(super) fn flush(&mut self) {
        let all = if self.pass == Pass::Forward { self.layers.streamed } else { 0 };
        self.wait_for_stream(all);
    }

    /// Waits until everything is done and the engine has moved so many bytes since the start of the pass.
    pub(super) fn wait_for_stream(&mut self, bytes: u64) {
        let end = self.layers.engine.wait(&mut self.dram, self.grid.end, bytes);
        let stalls = &mut self.report[self.pass].stalls;
        self.grid.barrier(end, stalls);
        self.advance();
    }

    fn count_layer(&mut self, bytes: u64) {
        let oversized = bytes > self.machine.layer_bytes();
        let tally = self.tally();
        tally.layers += 1;
        tally.oversized_layers += u64::from(oversized);
    }
}
