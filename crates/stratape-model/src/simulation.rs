//! [`Simulation`]: a machine that is fed a run, node by node.

mod layers;
#[cfg(test)]
mod tests;

use crate::cache::Cache;
use crate::calendar::{Calendar, first_free_of};
use crate::dram::Dram;
use crate::grid::{Grid, Node, Waits};
use crate::report::{Data, Pass, PassReport, Report};
use crate::scratchpad::Scratchpad;
use crate::{Machine, ModelError, Unit, energy};

use layers::Layers;

/// Past cycles are forgotten so many at a time, since that costs more than a node.
const FORGET: u64 = 64;

/// A run of a program on a [`Machine`].
///
/// The caller tells what the program does, in program order, and passes to each node those it depends upon. That a load reads what a store
/// wrote is a dependence as well, and the caller's to tell. A read-modify-write is a load, a computation and a store.
///
/// ```
/// use stratape_model::{Data, Machine, Simulation, Unit};
///
/// let mut run = Simulation::new(&Machine::default())?;
/// let a = run.load(Data::Input, 0x1000, 8, &[]);
/// let b = run.compute(Unit::Multiply, &[a, a]);
/// run.store(Data::Tape, 0, 8, &[b]);
/// run.layer_end(8);
/// let report = run.finish();
/// // Cache 2, DRAM 107, product 4, scratchpad 1, and a cycle in which 8 bytes leave.
/// assert_eq!(report.forward.cycles, 2 + 107 + 4 + 1 + 1);
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    machine: Machine,
    grid: Grid,
    cache: Cache,
    ports: Calendar,
    /// Lines on their way from DRAM.
    misses: Calendar,
    scratchpad: Option<Scratchpad>,
    dram: Dram,
    layers: Layers,
    pass: Pass,
    /// The floor when cycles before it were last forgotten.
    forgotten: u64,
    /// The cycle at which the pass began.
    began: u64,
    report: Report,
}

impl Simulation {
    /// A machine at cycle 0 of the forward pass, with nothing in its cache.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn new(machine: &Machine) -> Result<Self, ModelError> {
        Ok(Self {
            cache: Cache::new(machine)?,
            grid: Grid::new(machine),
            ports: Calendar::new(machine.cache.ports),
            misses: Calendar::new(machine.cache.misses_in_flight),
            scratchpad: Scratchpad::new(&machine.scratchpad),
            dram: Dram::new(machine),
            layers: Layers::default(),
            pass: Pass::Forward,
            forgotten: 0,
            began: 0,
            report: Report::default(),
            machine: *machine,
        })
    }

    /// Computes something.
    pub fn compute(&mut self, unit: Unit, after: &[Node]) -> Node {
        let ready = self.ready(after);
        let (done, waits) = self.grid.compute(ready, self.machine.timings.of(unit));
        self.tally().operations[unit as usize] += 1;
        self.complete(done, &waits)
    }

    /// Reads memory. The tape is read from the scratchpad if there is one, where its addresses wrap around; everything else through the cache.
    pub fn load(&mut self, data: Data, address: u64, bytes: u32, after: &[Node]) -> Node {
        self.access(data, address, bytes, after, false)
    }

    /// Writes memory, where [`load`](Self::load) reads it.
    pub fn store(&mut self, data: Data, address: u64, bytes: u32, after: &[Node]) -> Node {
        self.access(data, address, bytes, after, true)
    }

    /// What comes after starts when everything before is done.
    pub fn barrier(&mut self) {
        self.wait_for_stream(0);
    }

    /// Goes over to another pass, once everything is done and the tape is in memory; under double buffering its last layer stays in the scratchpad.
    pub fn pass(&mut self, pass: Pass) {
        self.keep_last();
        self.flush();
        let cycles = self.grid.end - self.began;
        self.tally().cycles += cycles;
        self.began = self.grid.end;
        self.pass = pass;
        if self.scratchpad.is_some() {
            let from = self.grid.end + self.dram.latency;
            self.layers.turn(from, self.machine.stream_ahead(), pass);
        }
    }

    /// Ends the run, once everything is done and the tape is in memory.
    pub fn finish(mut self) -> Report {
        self.flush();
        let cycles = self.grid.end - self.began;
        self.tally().cycles += cycles;
        for data in self.cache.dirty() {
            self.report.left_dirty[data as usize] += 1;
        }
        let all = self.report.all();
        // A checked machine has a cache whose energy is known.
        let each = energy::cache(self.machine.cache.size).unwrap_or(0);
        self.report.energy = (all.hits + all.misses) * each + all.scratchpad * energy::SCRATCHPAD;
        self.report
    }

    /// The cycle at which everything so far is done.
    pub fn cycle(&self) -> u64 {
        self.grid.end
    }

    fn tally(&mut self) -> &mut PassReport {
        &mut self.report[self.pass]
    }

    /// Lets time pass up to where the next node may start, and returns the cycle from which it may.
    fn ready(&mut self, after: &[Node]) -> u64 {
        let ready = self.grid.ready(after);
        self.advance();
        ready
    }

    fn advance(&mut self) {
        let floor = self.grid.floor;
        if floor < self.forgotten + FORGET {
            return;
        }
        self.forgotten = floor;
        self.grid.advance();
        self.ports.advance(floor);
        self.misses.advance(floor);
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.advance(floor);
        }
        self.layers.run_until(&mut self.dram, floor);
        self.dram.advance(floor);
    }

    fn complete(&mut self, done: u64, waits: &Waits) -> Node {
        let stalls = &mut self.report[self.pass].stalls;
        self.grid.complete(done, waits, stalls)
    }

    fn access(
        &mut self,
        data: Data,
        address: u64,
        bytes: u32,
        after: &[Node],
        write: bool,
    ) -> Node {
        let ready = self.ready(after);
        let (pieces, done, waits) = match self.scratchpad.take() {
            Some(mut scratchpad) if data == Data::Tape => {
                let result = self.access_scratchpad(&mut scratchpad, ready, address, bytes.into());
                self.scratchpad = Some(scratchpad);
                result
            }
            other => {
                self.scratchpad = other;
                self.access_cache(ready, data, address, bytes.into(), write)
            }
        };
        let traffic = self.tally().of_mut(data);
        *(if write { &mut traffic.stores } else { &mut traffic.loads }) += pieces;
        self.complete(done, &waits)
    }

    /// Returns the number of words, when the last one is done, and what it waited for.
    fn access_scratchpad(
        &mut self,
        scratchpad: &mut Scratchpad,
        ready: u64,
        address: u64,
        bytes: u64,
    ) -> (u64, u64, Waits) {
        let (mut pieces, mut done, mut waits) = (0, 0, Waits::default());
        let open = ready.max(self.layers.open);
        let streams = open - ready;
        for word in scratchpad.words(address, bytes) {
            let latency = scratchpad.latency;
            let bank = scratchpad.bank(word);
            let (start, [issue, banks]) = first_free_of(open, [&mut self.grid.issue, &mut *bank]);
            bank.take(start, 1);
            self.grid.issue.take(start, 1);
            if start + latency > done {
                done = start + latency;
                waits = Waits { issue, banks, streams, ..Waits::default() };
            }
            pieces += 1;
        }
        self.layers.accessed = self.layers.accessed.max(done);
        self.tally().of_mut(Data::Tape).scratchpad += pieces;
        (pieces, done, waits)
    }

    /// Returns the number of lines, when the last one is done, and what it waited for.
    fn access_cache(
        &mut self,
        ready: u64,
        data: Data,
        address: u64,
        bytes: u64,
        write: bool,
    ) -> (u64, u64, Waits) {
        let (mut pieces, mut done, mut waits) = (0, 0, Waits::default());
        let latency = self.machine.cache.latency;
        for line in self.cache.lines(address, bytes) {
            let (start, [issue, ports]) =
                first_free_of(ready, [&mut self.grid.issue, &mut self.ports]);
            self.grid.issue.take(start, 1);
            self.ports.take(start, 1);
            let looked_up = start + latency;
            let end = self.look_up(looked_up, data, line, write);
            if end > done {
                done = end;
                let dram = end - looked_up;
                waits = Waits { issue, ports, dram, ..Waits::default() };
            }
            pieces += 1;
        }
        (pieces, done, waits)
    }

    /// Accesses a line of the cache, and fetches it from this cycle on if it is not there. Returns when the access is done.
    fn look_up(&mut self, cycle: u64, data: Data, address: u64, write: bool) -> u64 {
        let posted = write && self.machine.cache.posted_stores;
        let found = self.cache.access(data, address, write);
        let line = self.machine.cache.line;
        if found.hit {
            self.tally().of_mut(data).hits += 1;
            return if posted { cycle } else { cycle.max(found.ready) };
        }
        let asked = self.misses.first_free(cycle);
        let there = self.dram.request(asked, line);
        self.misses.take(asked, there - asked);
        self.cache.arrives(address, there);
        if let Some(owner) = found.written_back {
            // Nobody waits for it, but it takes bandwidth, after the line that is waited for.
            self.dram.request(asked, line);
            self.tally().of_mut(owner).lines_written += 1;
        }
        let traffic = self.tally().of_mut(data);
        traffic.misses += 1;
        traffic.lines_read += 1;
        if posted { asked } else { there }
    }
}
