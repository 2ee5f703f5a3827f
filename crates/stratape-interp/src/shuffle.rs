//! Loops without an order, run in one that is not their own.
//!
//! An iteration keeps the records that are its own: what it pops in the loop's own order, it pops in any; what it pushes lies where
//! the loop's own order would have put it. To know what each pops, the loop is run once in its own order, and all is put back as it was.

use super::machine::{Machine, Record};
use super::{Datum, Number, Observer, Trap, fault};
use stratape_ir::{Carried, Loop, Range, ValueId};

/// The records of an iteration.
type Records<N> = Vec<Record<N>>;

impl<N: Number, O: Observer> Machine<'_, N, O> {
    /// Whether the iterations of a loop can be run in any order.
    pub(super) fn has_no_order(&self, node: &Loop) -> bool {
        // A sum of the primal is added in order by whoever divides a parallel loop.
        let free = |carried: &Carried| self.function.is_free(carried);
        let parallel = node.parallel.is_some() && node.carried.iter().all(free);
        (node.unordered || parallel)
            && node.exit.is_none()
            && matches!(node.range, Range::UpTo { .. })
    }

    /// Runs a loop in a shuffled order.
    pub(super) fn shuffled(&mut self, node: &Loop) -> Result<(), Trap> {
        let Range::UpTo { from, to } = node.range else { return fault("a loop without end") };
        let (from, to) = (self.int(from)?, self.int(to)?);
        let mut counters: Vec<i128> = (from..to).collect();
        if node.reversed {
            counters.reverse();
        }
        let inits: Vec<ValueId> = node.carried.iter().map(|carried| carried.init).collect();
        let first = self.get_all(&inits)?;

        let (values, objects, tape, on_tape) =
            (self.values.clone(), self.objects.clone(), self.tape.clone(), self.on_tape);
        let (pushes, peak, tried) = (self.pushes, self.peak, self.tried);
        self.tried = true;
        let mut lengths = vec![tape.len()];
        let mut state = first.clone();
        for counter in &counters {
            (state, _) = self.iteration(node, *counter, state)?;
            lengths.push(self.tape.len());
        }
        (self.values, self.objects, self.on_tape) = (values, objects, on_tape);
        (self.pushes, self.peak, self.tried) = (pushes, peak, tried);
        let falls = lengths.windows(2).all(|pair| pair[1] <= pair[0]);
        let grows = lengths.windows(2).all(|pair| pair[1] >= pair[0]);
        if !falls && !grows {
            return fault("iterations of a loop without order both push and pop");
        }

        // What each iteration finds on the tape, and what it leaves there.
        let mut own: Vec<Records<N>> = Vec::new();
        let mut left = tape;
        for pair in lengths.windows(2) {
            own.push(if falls { left.split_off(pair[1]) } else { Vec::new() });
        }
        let mut order: Vec<usize> = (0..counters.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.draw(at + 1));
        }
        state = first;
        for at in order {
            self.tape = std::mem::take(&mut own[at]);
            (state, _) = self.iteration(node, counters[at], state)?;
            own[at] = std::mem::take(&mut self.tape);
            if falls && !own[at].is_empty() {
                return fault("an iteration leaves records that it pops in another order");
            }
        }
        self.tape = left;
        self.tape.extend(own.into_iter().flatten());
        self.set_all(node.carried.iter().map(|carried| carried.after), state)?;
        match node.trips {
            Some(value) => self.set(value, Datum::Int(counters.len() as i128)),
            None => Ok(()),
        }
    }

    /// A number below another.
    fn draw(&mut self, below: usize) -> usize {
        // splitmix64
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % below as u64) as usize
    }
}
