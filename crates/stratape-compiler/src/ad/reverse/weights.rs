//! How often a statement runs, as far as the program tells: what a cost is multiplied by.

use std::collections::HashMap;

use super::Facts;
use stratape_ir::{Block, Op, Range, Stmt, ValueId};

/// How often a loop of which nothing is known is taken to run. Those that run more often count as many: what stands in a loop is compared with what
/// stands outside, and either is much.
const TRIPS: u64 = 10;

/// How often the values of a function are computed.
#[derive(Debug)]
pub(super) struct Weights {
    values: HashMap<ValueId, u64>,
    /// For each loop, by its counter.
    trips: HashMap<ValueId, u64>,
}

impl Weights {
    pub(super) fn new(facts: &Facts<'_>) -> Self {
        let mut weights = Self { values: HashMap::new(), trips: HashMap::new() };
        weights.block(facts, &facts.function.body, 1);
        weights
    }

    fn block(&mut self, facts: &Facts<'_>, block: &Block, weight: u64) {
        for node in block {
            node.for_each_result(&mut |value| {
                self.values.insert(value, weight);
            });
            let mut inside = weight;
            if let Stmt::Loop(node) = node {
                let trips = trips(facts, &node.range);
                inside = weight.saturating_mul(trips).min(MOST);
                self.trips.insert(node.counter, trips);
                self.values.insert(node.counter, inside);
                for carried in &node.carried {
                    self.values.insert(carried.inside, inside);
                }
            }
            for inner in node.blocks() {
                self.block(facts, inner, inside);
            }
        }
    }

    /// How often a value is computed.
    pub(super) fn of(&self, value: ValueId) -> u64 {
        self.values.get(&value).copied().unwrap_or(1)
    }

    /// How often the body of a loop runs, each time that the loop does.
    pub(super) fn trips(&self, counter: ValueId) -> u64 {
        self.trips.get(&counter).copied().unwrap_or(TRIPS)
    }

    /// How often what stands in all of these loops runs.
    pub(super) fn within(&self, counters: &[ValueId]) -> u64 {
        let trips = counters.iter().map(|counter| self.trips(*counter));
        trips.fold(1, u64::saturating_mul).min(MOST)
    }
}

/// More often than any other: six loops of unknown length.
const MOST: u64 = TRIPS.pow(6);

fn trips(facts: &Facts<'_>, range: &Range) -> u64 {
    let Range::UpTo { from, to } = range else { return TRIPS };
    let number = |value: &ValueId| match facts.definitions.op(*value) {
        Some(Op::Int(number)) => Some(*number),
        _ => None,
    };
    match (number(from), number(to)) {
        (Some(from), Some(to)) => {
            u64::try_from((to - from).clamp(1, i128::from(TRIPS))).unwrap_or(TRIPS)
        }
        _ => TRIPS,
    }
}
