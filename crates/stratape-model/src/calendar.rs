//! [`Calendar`]: how much of a resource is taken in each cycle from now on.
//!
//! Cycles before a floor are forgotten. Cycles that are full point to a later one that may not be, and the pointers are shortened as they
//! are followed (as in union-find), so that a reservation takes constant time in the long run however many cycles are full.

use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Calendar {
    room: u32,
    floor: u64,
    cells: VecDeque<Cell>,
}

#[derive(Debug)]
struct Cell {
    used: u32,
    /// If the cell is full: a later cycle, with no room in between.
    next: u64,
}

impl Calendar {
    /// A resource that `room` nodes can have in each cycle.
    pub(crate) fn new(room: u32) -> Self {
        Self { room, floor: 0, cells: VecDeque::new() }
    }

    /// The first cycle from `at` on with room.
    pub(crate) fn first_free(&mut self, at: u64) -> u64 {
        let mut at = at.max(self.floor);
        loop {
            let Some(next) = self.full(at) else { return at };
            if let Some(after) = self.full(next)
                && let Some(cell) = self.cells.get_mut((at - self.floor) as usize)
            {
                cell.next = after;
            }
            at = next;
        }
    }

    /// The first cycle from `at` on with room for `length` cycles.
    pub(crate) fn first_free_for(&mut self, at: u64, length: u64) -> u64 {
        let mut at = self.first_free(at);
        loop {
            match (at + 1..at + length).find(|cycle| self.full(*cycle).is_some()) {
                Some(full) => at = self.first_free(full),
                None => return at,
            }
        }
    }

    /// Where a full cycle points to; `None` if it has room.
    fn full(&self, at: u64) -> Option<u64> {
        let cell = self.cells.get((at.checked_sub(self.floor)?) as usize)?;
        (cell.used >= self.room).then_some(cell.next)
    }

    /// Takes one of the resource for `length` cycles, whether there is room or not.
    pub(crate) fn take(&mut self, at: u64, length: u64) {
        let first = at.max(self.floor);
        for cycle in first..(at + length).max(first) {
            let index = (cycle - self.floor) as usize;
            while self.cells.len() <= index {
                let next = self.floor + self.cells.len() as u64 + 1;
                self.cells.push_back(Cell { used: 0, next });
            }
            if let Some(cell) = self.cells.get_mut(index) {
                cell.used += 1;
            }
        }
    }

    /// Forgets the cycles before `floor`. Nothing is asked about them from now on.
    pub(crate) fn advance(&mut self, floor: u64) {
        if floor > self.floor {
            let gone = (floor - self.floor).min(self.cells.len() as u64) as usize;
            self.cells.drain(..gone);
            self.floor = floor;
        }
    }
}

/// The first cycle from `at` on at which all of several resources have room, and how many cycles each of them held it up.
pub(crate) fn first_free_of<const N: usize>(
    mut at: u64,
    mut calendars: [&mut Calendar; N],
) -> (u64, [u64; N]) {
    let mut waits = [0; N];
    loop {
        let before = at;
        for (calendar, wait) in calendars.iter_mut().zip(&mut waits) {
            let free = calendar.first_free(at);
            *wait += free - at;
            at = free;
        }
        if at == before {
            return (at, waits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_nodes_fill_gaps() {
        // Two a cycle: 0 0 1 1 2, then one at 0 that finds room at 2, one from 10, and one at 0 that finds it at 3.
        let mut calendar = Calendar::new(2);
        let mut cycles = Vec::new();
        for at in [0, 0, 0, 0, 0, 0, 10, 0] {
            let cycle = calendar.first_free(at);
            calendar.take(cycle, 1);
            cycles.push(cycle);
        }
        assert_eq!(cycles, [0, 0, 1, 1, 2, 2, 10, 3]);
    }

    #[test]
    fn intervals_and_floors() {
        let mut calendar = Calendar::new(1);
        calendar.take(4, 3);
        // 0..4 has room for four cycles, not for five; 7 is the first after 4..7.
        assert_eq!(calendar.first_free_for(0, 4), 0);
        assert_eq!(calendar.first_free_for(0, 5), 7);
        calendar.advance(5);
        assert_eq!(calendar.first_free(0), 7);
        calendar.advance(100);
        assert_eq!(calendar.first_free(0), 100);
    }
}
