//! [`Grid`]: when nodes start and are done, and what the cycles went to.
//!
//! The end of the run so far is the latest end of any node. A node that ends later than that moves it. The cycles in between are charged to
//! what the node waited for, as far as it would have ended sooner without: DRAM first, then a bank, a port, an issue slot or unit, a
//! layer. What is left the node ran. Every cycle is charged once.

use crate::calendar::{Calendar, first_free_of};
use crate::report::Stalls;
use crate::{Machine, Timing};

/// A load, store or computation of a [`Simulation`](crate::Simulation).
///
/// Only a machine's window of nodes is remembered: one of long ago counts as done, and so does one of another simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    number: u64,
    done: u64,
}

impl Node {
    /// The cycle at which it is done.
    pub fn done(self) -> u64 {
        self.done
    }
}

/// What a node waited for between its operands and its result.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    pub(crate) issue: u64,
    pub(crate) ports: u64,
    pub(crate) banks: u64,
    /// For the layer, or the boundary before it.
    pub(crate) streams: u64,
    pub(crate) dram: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    done: u64,
    /// The latest end of any node up to this one.
    end: u64,
}

#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) issue: Calendar,
    units: Calendar,
    /// The last nodes, one window of them; node `n` at `n` modulo the window.
    recent: Vec<Entry>,
    count: u64,
    /// Nothing starts before this cycle any more.
    pub(crate) floor: u64,
    /// The latest end of any node.
    pub(crate) end: u64,
}

impl Grid {
    pub(crate) fn new(machine: &Machine) -> Self {
        Self {
            issue: Calendar::new(machine.issue_width),
            units: Calendar::new(machine.units),
            recent: vec![Entry { done: 0, end: 0 }; machine.window],
            count: 0,
            floor: 0,
            end: 0,
        }
    }

    /// Makes room in the window for another node, and returns the cycle from which it may run.
    pub(crate) fn ready(&mut self, after: &[Node]) -> u64 {
        let place = self.place(self.count);
        self.floor = self.floor.max(self.recent[place].end);
        after.iter().map(|node| self.done(*node)).fold(self.floor, u64::max)
    }

    /// Forgets what lies before the floor.
    pub(crate) fn advance(&mut self) {
        self.issue.advance(self.floor);
        self.units.advance(self.floor);
    }

    fn done(&self, node: Node) -> u64 {
        let remembered =
            node.number < self.count && self.count - node.number <= self.recent.len() as u64;
        if remembered { self.recent[self.place(node.number)].done } else { 0 }
    }

    fn place(&self, number: u64) -> usize {
        (number % self.recent.len() as u64) as usize
    }

    /// Runs a computation from the first cycle from `ready` on with an issue slot and a unit.
    pub(crate) fn compute(&mut self, ready: u64, timing: Timing) -> (u64, Waits) {
        let busy = if timing.pipelined { 1 } else { timing.latency };
        let mut start = ready;
        loop {
            start = first_free_of(start, [&mut self.issue, &mut self.units]).0;
            let free = self.units.first_free_for(start, busy);
            if free == start {
                break;
            }
            start = free;
        }
        self.issue.take(start, 1);
        self.units.take(start, busy);
        let waits = Waits { issue: start - ready, ..Waits::default() };
        (start + timing.latency, waits)
    }

    /// Notes when a node is done.
    pub(crate) fn complete(&mut self, done: u64, waits: &Waits, stalls: &mut Stalls) -> Node {
        let mut later = done.saturating_sub(self.end);
        let mut charge = |cycles: u64| {
            let charged = cycles.min(later);
            later -= charged;
            charged
        };
        stalls.dram += charge(waits.dram);
        stalls.banks += charge(waits.banks);
        stalls.ports += charge(waits.ports);
        stalls.issue += charge(waits.issue);
        stalls.streams += charge(waits.streams);
        stalls.dependence += later;
        self.end = self.end.max(done);
        let place = self.place(self.count);
        self.recent[place] = Entry { done, end: self.end };
        self.count += 1;
        Node { number: self.count - 1, done }
    }

    /// What comes after starts when everything is done, and not before the given cycle, up to which the program waits for a stream.
    pub(crate) fn barrier(&mut self, streamed: u64, stalls: &mut Stalls) {
        stalls.streams += streamed.saturating_sub(self.end);
        self.end = self.end.max(streamed);
        self.floor = self.end;
    }
}
