//! The tape of a run: where its values lie, and the layers they lie in.
//!
//! A layer is closed when the next record does not fit it any more; a record that is larger than a layer goes on in the next. How many values a layer
//! holds is noted, and the reverse pass takes the layers back in the opposite order, so that branches and loops of any length are layered alike.

use std::collections::{BTreeMap, HashMap};

use stratape_interp::{Access, Class, Observer};
use stratape_ir::RecordId;

use crate::lifetimes::Histogram;
use crate::{Data, Machine, Node, Pass, Simulation};

use super::NUMBER;
use super::heap::Heap;

/// Where the tape lies, far from everything else.
const TAPE: u64 = 1 << 40;

/// How saved values lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Records side by side, in the order in which they are saved: an array of structs.
    Records,
    /// An array for each slot of each kind of record: a struct of arrays, as compilers that save values one by one have it.
    Columns,
}

/// How many values each column of a tape holds in the end: an observer of a run that counts them, for arrays that lie one after the other.
///
/// ```
/// use stratape_interp as interp;
/// use stratape_ir::text::parse_function;
/// use stratape_model::ColumnLengths;
///
/// let text = "fn f(x: f64) { push #0 x, x; pop #0 a, b }";
/// let function = parse_function(text).unwrap();
/// let mut lengths = ColumnLengths::default();
/// let args = vec![interp::Argument::Float(1.0)];
/// interp::run_observed(&function, args, &interp::Options::default(), &mut lengths).unwrap();
/// assert_eq!(lengths.total(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ColumnLengths {
    /// For each record and slot.
    counts: BTreeMap<(RecordId, usize), u64>,
}

impl ColumnLengths {
    /// How many values all columns hold.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Where each column begins: an array of its own, which `malloc` places.
    fn bases(&self) -> HashMap<(RecordId, usize), u64> {
        let mut heap = Heap::new(TAPE, 2 * TAPE);
        let columns = self.counts.iter();
        columns.map(|(column, length)| (*column, heap.place(NUMBER * length))).collect()
    }
}

impl Observer for ColumnLengths {
    fn access(&mut self, access: Access<'_>, _: Class) {
        match access {
            Access::Push(record, values) => {
                for slot in 0..values.len() {
                    *self.counts.entry((record, slot)).or_default() += 1;
                }
            }
            Access::Save(record, _, _, count) => {
                *self.counts.entry((record, 0)).or_default() += count as u64;
            }
            _ => {}
        }
    }
}

/// The tape.
#[derive(Debug)]
pub(super) struct Tape {
    layout: Layout,
    /// Values that fit a layer; none without a scratchpad.
    room: u64,
    /// Records that a layer may span; 0 for as many as fit.
    records: u64,
    /// Records in the layer that is open.
    spanned: u64,
    /// The cycle at which each value on the tape was stored.
    stored: Vec<u64>,
    /// Most values that were on the tape.
    pub(super) most: u64,
    pub(super) lifetimes: Histogram,
    /// Values in the layer that is open.
    filled: u64,
    /// Values in each layer that is closed.
    layers: Vec<u64>,
    /// How many values each column holds, and where it begins.
    columns: HashMap<(RecordId, usize), (u64, u64)>,
    /// Where columns begin whose length is known.
    bases: HashMap<(RecordId, usize), u64>,
}

impl Tape {
    pub(super) fn new(machine: &Machine, layout: Layout) -> Self {
        Self {
            layout,
            room: machine.layer_bytes() / NUMBER,
            records: machine.streams.layer_records,
            spanned: 0,
            stored: Vec::new(),
            most: 0,
            lifetimes: Histogram::default(),
            filled: 0,
            layers: Vec::new(),
            columns: HashMap::new(),
            bases: HashMap::new(),
        }
    }

    pub(super) fn lay_out(&mut self, lengths: &ColumnLengths) {
        self.bases = lengths.bases();
    }

    /// Saves the values of a record.
    pub(super) fn push(&mut self, run: &mut Simulation, record: RecordId, nodes: &[Option<Node>]) {
        let full = self.filled + nodes.len() as u64 > self.room;
        if full || (self.records > 0 && self.spanned >= self.records) {
            self.end_layer(run);
        }
        for (slot, node) in nodes.iter().enumerate() {
            if self.filled >= self.room {
                self.end_layer(run);
            }
            let address = self.address_of_next(record, slot);
            let after: Vec<Node> = node.iter().copied().collect();
            let node = run.store(Data::Tape, address, NUMBER as u32, &after);
            self.stored.push(node.done());
            self.filled += 1;
        }
        self.spanned += 1;
        self.most = self.most.max(self.stored.len() as u64);
    }

    /// Takes the values of a record.
    pub(super) fn pop(
        &mut self,
        run: &mut Simulation,
        record: RecordId,
        count: usize,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        for slot in (0..count).rev() {
            if self.room > 0 && self.filled == 0 {
                run.layer_end(0);
                self.filled = self.layers.pop().unwrap_or(0);
                run.layer_start(NUMBER * self.filled);
            }
            let address = self.address_of_last(record, slot);
            let node = run.load(Data::Tape, address, NUMBER as u32, &[]);
            if let Some(stored) = self.stored.pop() {
                self.lifetimes.add(node.done().saturating_sub(stored));
            }
            nodes.push(node);
            self.filled = self.filled.saturating_sub(1);
        }
        nodes.reverse();
        nodes
    }

    /// Closes the layer that is open, at the end of a pass.
    pub(super) fn close(&mut self, run: &mut Simulation, pass: Pass) {
        match pass {
            Pass::Forward => self.end_layer(run),
            Pass::Reverse => run.layer_end(0),
        }
    }

    fn end_layer(&mut self, run: &mut Simulation) {
        if self.room > 0 && self.filled > 0 {
            run.layer_end(NUMBER * self.filled);
            self.layers.push(self.filled);
        }
        (self.filled, self.spanned) = (0, 0);
    }

    fn address_of_next(&mut self, record: RecordId, slot: usize) -> u64 {
        let number = self.columns.len() as u64;
        let base = self.bases.get(&(record, slot)).copied().unwrap_or_else(|| column(number));
        let (count, base) = self.columns.entry((record, slot)).or_insert((0, base));
        let address = match self.layout {
            Layout::Records => TAPE + NUMBER * self.stored.len() as u64,
            Layout::Columns => *base + NUMBER * *count,
        };
        *count += 1;
        address
    }

    fn address_of_last(&mut self, record: RecordId, slot: usize) -> u64 {
        let top = self.stored.len().saturating_sub(1) as u64;
        let Some((count, base)) = self.columns.get_mut(&(record, slot)) else { return TAPE };
        *count = count.saturating_sub(1);
        match self.layout {
            Layout::Records => TAPE + NUMBER * top,
            Layout::Columns => *base + NUMBER * *count,
        }
    }
}

/// Where a column of unknown length begins: a few lines beyond a round address, so that columns do not all meet in the same sets of a cache.
fn column(number: u64) -> u64 {
    TAPE + (number << 32) + number * 7 * 64
}
