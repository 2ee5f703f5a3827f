//! The save plan: which values the backward half recomputes, reloads, or takes from the tape.
//!
//! Values of home blocks are still available: both halves share the block.
//! For the others, a minimum cut weighs saving a value against recomputing it from values that
//! are available, which may have to be saved or recomputed in turn. Two nodes stand for a value: *available*
//! and *recomputed*. Being available without being recomputed costs a save; being recomputed costs the
//! operation and demands that its operands be available.
//!
//! ```text
//! source ──∞ if needed──▶ available(v) ──save·w──▶ recomputed(v) ──operation·w──▶ sink        w: how often it is computed
//!                               ▲─────────∞───────────┘   └──∞──▶ available(each operand)
//! ```
//!
//! Lists that can be had again as a whole ([`Recipe`], [`State`]) are nodes too: a load from one is recomputed if the list is there. Of the states that
//! a list can be in, each is tried, and the one with the cheapest cut is taken.
//!
//! Costs are in [`Target`]. A value that was stored to memory which still holds it ([`ReloadSafety`]) can be reloaded from there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::again::{Recipe, recipes};
use super::min_cut::{INFINITE, Network, SINK, SOURCE};
use super::outcomes::outcomes;
use super::rewind;
use super::states::{State, states};
use super::weights::Weights;
use super::{Facts, Findings};
use crate::driver::{Saving, Target};
use stratape_ir::analysis::{Definition, ReloadSafety};
use stratape_ir::{Binary, ObjectId, Op, RecordId, Scalar, Stmt, ValueId};

/// Why a value is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It comes from the iteration before.
    Carried,
    /// It was read from memory that is overwritten later.
    Overwritten,
    /// It was read from memory that is gone by then.
    Gone,
    /// It is the outcome of a loop or branch.
    Outcome,
    /// Saving costs less than recomputing it.
    Cheaper,
}

/// What was decided for a value.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The value, of the forward half.
    pub value: ValueId,
    /// Why it is saved; `None` if it is recomputed.
    pub saved: Option<Reason>,
    /// Whether the backward half needs it itself; otherwise other values are recomputed from it.
    pub asked_for: bool,
}

/// A list that is saved as a whole, or in parts.
#[derive(Clone, Debug)]
pub struct StateChoice {
    /// The record of a copy of it.
    pub record: RecordId,
    /// What the copy is for.
    pub purpose: Purpose,
    /// The values, of the forward half, that were read from the list and would be saved one by one without it.
    pub spared: Vec<ValueId>,
}

/// What a copy of a list on the tape is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The list is gone when the backward half asks for what it held in the end.
    Kept,
    /// A part is about to be overwritten, and is put back when the backward half has come so far.
    Rewound,
}

/// The save plan.
#[derive(Debug, Default)]
pub(in crate::ad) struct Plan {
    pub(in crate::ad) saved: HashSet<ValueId>,
    pub(in crate::ad) recomputed: HashSet<ValueId>,
    /// Recomputed values that are read from where they were stored.
    pub(in crate::ad) reloads: HashMap<ValueId, Op>,
    /// Outcomes of branches that are recomputed, perhaps.
    pub(in crate::ad) outcomes: HashMap<ValueId, Op>,
    /// Locals that are made again.
    pub(in crate::ad) again: HashMap<ObjectId, Recipe>,
    /// Lists that are kept or rewound.
    pub(in crate::ad) states: Vec<Rc<State>>,
    /// The loads that read such a list.
    pub(in crate::ad) versions: HashSet<ValueId>,
    /// The values that would be saved if there were no states.
    pub(in crate::ad) without_states: HashSet<ValueId>,
    pub(in crate::ad) choices: Vec<Choice>,
    /// What all that costs.
    pub(in crate::ad) cost: u64,
}

/// Decides what is saved, recomputed and reloaded, by minimum cuts.
pub(in crate::ad) fn choose(
    facts: &Facts<'_>,
    clobbers: &ReloadSafety,
    found: &Findings,
    target: &Target,
) -> Plan {
    let weights = Weights::new(facts);
    let recipes = match target.remakes_lists {
        true => recipes(facts, clobbers, found, target, &weights),
        false => HashMap::new(),
    };
    let outcomes = outcomes(facts, target);
    let mut arms = HashSet::new();
    in_arms(&facts.function.body, found, false, &mut arms);
    let ask = Ask {
        arms: &arms,
        facts,
        clobbers,
        found,
        target,
        weights: &weights,
        recipes: &recipes,
        outcomes: &outcomes,
    };
    let mut picked = BTreeMap::new();
    let (mut best, mut least) = ask.plan(&picked);
    let without_states = best.saved.clone();
    if target.tape.saved == Saving::All {
        return Plan { outcomes, cost: least, ..best };
    }
    for (object, ways) in states(facts, found, target, &weights) {
        for way in ways {
            if way.cost > ask.at_stake(&best, &way).saturating_mul(2) {
                continue;
            }
            let mut trial = picked.clone();
            trial.retain(|_, other: &mut Rc<State>| other.objects.is_disjoint(&way.objects));
            trial.insert(object, way);
            let (plan, cost) = ask.plan(&trial);
            if cost < least && rewind::fits(facts, &plan) {
                (best, least, picked) = (plan, cost, trial);
            }
        }
    }
    Plan { without_states, outcomes, cost: least, ..best }
}

/// Finds the values of arms of branches in home blocks, and of arms within these: saved, they are outcomes of the branches.
fn in_arms(block: &[Stmt], found: &Findings, is_arm: bool, arms: &mut HashSet<ValueId>) {
    let mut is_home = false;
    for node in block {
        node.for_each_result(&mut |value| {
            is_home |= found.homes.contains(&value);
            if is_arm && !found.homes.contains(&value) {
                arms.insert(value);
            }
        });
    }
    for node in block {
        let is_arm = matches!(node, Stmt::If(_)) && (is_home || is_arm);
        for inner in node.blocks() {
            in_arms(inner, found, is_arm, arms);
        }
    }
}

/// What is asked: which plan is the cheapest, given the states that lists can be had in.
struct Ask<'a> {
    arms: &'a HashSet<ValueId>,
    facts: &'a Facts<'a>,
    clobbers: &'a ReloadSafety,
    found: &'a Findings,
    target: &'a Target,
    weights: &'a Weights,
    recipes: &'a HashMap<ObjectId, Recipe>,
    outcomes: &'a HashMap<ValueId, Op>,
}

impl Ask<'_> {
    /// What a plan pays for loads that a state serves.
    fn at_stake(&self, plan: &Plan, state: &State) -> u64 {
        let each = |load: &ValueId| {
            let weight = self.weights.of(*load);
            let saved = plan.saved.contains(load);
            u64::from(saved) * self.target.saving_cost(self.facts.function.ty(*load)) * weight
        };
        let again = state.objects.iter().filter_map(|object| plan.again.get(object));
        let loads = state.loads.iter().map(each);
        // What they are saved with, or for: indices, what is computed from them.
        let values = loads.fold(0, u64::saturating_add).saturating_mul(3);
        again.map(|recipe| recipe.cost).fold(values, u64::saturating_add)
    }

    /// The cheapest plan, and what it costs.
    fn plan(&self, picked: &BTreeMap<ObjectId, Rc<State>>) -> (Plan, u64) {
        let mut graph = Graph {
            arms: self.arms,
            facts: self.facts,
            target: self.target,
            clobbers: self.clobbers,
            found: self.found,
            weights: self.weights,
            network: Network::new(),
            nodes: HashMap::new(),
            order: Vec::new(),
            reloads: HashMap::new(),
            recipes: self.recipes,
            outcomes: self.outcomes,
            locals: HashMap::new(),
            states: picked.values().map(|state| (Rc::clone(state), None)).collect(),
            versions: HashSet::new(),
        };
        let mut sorted: Vec<_> = self.found.needed.iter().copied().collect();
        sorted.sort_unstable();
        for value in sorted {
            if let Some((available, _)) = graph.add(value) {
                graph.network.edge(SOURCE, available, INFINITE);
            }
        }
        let Graph { network, nodes, order, reloads, locals, states, versions, .. } = graph;
        let (sides, cost) = network.cut();
        let mut plan = Plan { reloads, ..Plan::default() };
        for (object, node) in locals {
            if sides[node] {
                plan.again.extend(self.recipes.get(&object).map(|recipe| (object, recipe.clone())));
            }
        }
        for (state, node) in states {
            if node.is_some_and(|node| sides[node]) {
                plan.states.push(state);
            }
        }
        for value in order {
            let (available, recomputed) = nodes[&value];
            if !sides[available] {
                continue;
            }
            let saved = !sides[recomputed];
            if saved {
                plan.saved.insert(value);
            } else {
                plan.recomputed.insert(value);
                plan.versions.extend(versions.get(&value));
            }
            let reason = saved.then(|| reason(self.facts, self.clobbers, self.found, value));
            let asked_for = self.found.needed.contains(&value);
            plan.choices.push(Choice { value, saved: reason, asked_for });
        }
        (plan, cost)
    }
}

struct Graph<'a> {
    /// Values of arms of branches in home blocks.
    arms: &'a HashSet<ValueId>,
    target: &'a Target,
    facts: &'a Facts<'a>,
    clobbers: &'a ReloadSafety,
    found: &'a Findings,
    weights: &'a Weights,
    network: Network,
    nodes: HashMap<ValueId, (usize, usize)>,
    order: Vec<ValueId>,
    reloads: HashMap<ValueId, Op>,
    recipes: &'a HashMap<ObjectId, Recipe>,
    outcomes: &'a HashMap<ValueId, Op>,
    /// The nodes of locals: whether they are made again.
    locals: HashMap<ObjectId, usize>,
    /// The states that lists can be had in, and their nodes.
    states: Vec<(Rc<State>, Option<usize>)>,
    /// The loads that would read a list in such a state.
    versions: HashSet<ValueId>,
}

impl Graph<'_> {
    /// The state that has again what a load reads.
    fn state_of(&self, value: ValueId) -> Option<usize> {
        self.states.iter().position(|(state, _)| state.loads.contains(&value))
    }

    /// The node of a state.
    fn state(&mut self, number: usize) -> usize {
        let (state, node) = &mut self.states[number];
        if let Some(node) = node {
            return *node;
        }
        let new = self.network.node();
        *node = Some(new);
        self.network.edge(new, SINK, state.cost);
        new
    }

    /// Whether memory holds in the end what a load has read.
    fn is_there(&self, value: ValueId, op: &Op) -> bool {
        match op {
            Op::Load(place) => {
                self.found.home_objects.contains(&place.object) && !self.clobbers.load(value)
            }
            Op::Len(place) => {
                self.found.home_objects.contains(&place.object)
                    && !self.clobbers.is_swapped(place.object)
            }
            _ => true,
        }
    }

    /// The node of a local that can be made again.
    fn local(&mut self, object: ObjectId) -> usize {
        let kept = |state: &State| state.kept && state.objects.contains(&object);
        if let Some(number) = self.states.iter().position(|(state, _)| kept(state)) {
            return self.state(number);
        }
        if let Some(node) = self.locals.get(&object) {
            return *node;
        }
        let node = self.network.node();
        self.locals.insert(object, node);
        let Recipe { inputs, locals, cost, .. } = self.recipes[&object].clone();
        self.network.edge(node, SINK, cost);
        for input in inputs {
            if let Some((available, _)) = self.add(input) {
                self.network.edge(node, available, INFINITE);
            }
        }
        for other in locals {
            let other = self.local(other);
            self.network.edge(node, other, INFINITE);
        }
        node
    }

    /// The local that a load reads, if that can be made again and still holds what was read.
    fn local_of(&self, value: ValueId, op: &Op) -> Option<ObjectId> {
        let Op::Load(place) = op else { return None };
        let fits = self.recipes.contains_key(&place.object)
            && self.clobbers.within_life(value)
            && !self.found.fusion.is_early(value);
        fits.then_some(place.object)
    }

    /// The nodes of a value; `None` if it is available at no cost.
    fn add(&mut self, value: ValueId) -> Option<(usize, usize)> {
        if let Some(nodes) = self.nodes.get(&value) {
            return Some(*nodes);
        }
        let mut definition = self.facts.definitions.of(value).clone();
        if let Some(outcome) = self.outcomes.get(&value) {
            definition = Definition::Op(outcome.clone());
        }
        if self.found.homes.contains(&value)
            || matches!(definition, Definition::Param | Definition::Counter)
            || matches!(&definition, Definition::Op(op) if op.is_constant())
        {
            return None;
        }
        let (available, recomputed) = (self.network.node(), self.network.node());
        self.nodes.insert(value, (available, recomputed));
        self.order.push(value);
        let weight = self.weights.of(value);
        let save = if self.found.fusion.is_early(value) {
            INFINITE
        } else if self.arms.contains(&value) {
            self.target.merging_cost * weight
        } else {
            self.target.saving_cost(self.facts.function.ty(value)) * weight
        };
        self.network.edge(available, recomputed, save);
        self.network.edge(recomputed, available, INFINITE);
        match definition {
            Definition::Op(op)
                if !self.is_saved_anyway(value)
                    && (self.can_recompute(value, &op) || self.reload(value).is_some()) =>
            {
                let op = match self.reload(value) {
                    Some(load)
                        if !self.can_recompute(value, &op)
                            || self.cost(&op) > self.target.reload_cost =>
                    {
                        self.reloads.insert(value, load.clone());
                        load
                    }
                    _ => op,
                };
                self.network.edge(recomputed, SINK, self.cost(&op) * weight);
                let is_there = self.reloads.contains_key(&value) || self.is_there(value, &op);
                if is_there {
                    // Read from where it is.
                } else if let Some(state) = self.state_of(value) {
                    self.versions.insert(value);
                    let state = self.state(state);
                    self.network.edge(recomputed, state, INFINITE);
                } else if let Some(object) = self.local_of(value, &op) {
                    let local = self.local(object);
                    self.network.edge(recomputed, local, INFINITE);
                }
                let mut operands = Vec::new();
                op.for_each_operand(&mut |operand| operands.push(operand));
                for operand in operands {
                    if let Some((operand, _)) = self.add(operand) {
                        self.network.edge(recomputed, operand, INFINITE);
                    }
                }
            }
            _ => self.network.edge(recomputed, SINK, INFINITE),
        }
        Some((available, recomputed))
    }

    /// What an operation costs. The quotient of an integer and a number is made by a product and shifts.
    fn cost(&self, op: &Op) -> u64 {
        match op {
            Op::Binary(Binary::Div | Binary::Rem, a, b)
                if matches!(self.facts.function.ty(*a), Scalar::Int(_))
                    && matches!(self.facts.definitions.op(*b), Some(Op::Int(_))) =>
            {
                8
            }
            op => self.target.operation_cost(op, self.facts.function),
        }
    }

    /// Whether a value is saved whatever it costs to have it again.
    fn is_saved_anyway(&self, value: ValueId) -> bool {
        self.target.tape.saved == Saving::All
            && matches!(self.facts.function.ty(value), Scalar::Float(_))
            && !self.found.fusion.is_early(value)
    }

    /// A load that yields a value again: from where it was stored, if it is still there.
    fn reload(&self, value: ValueId) -> Option<Op> {
        // What runs early runs before it is stored.
        if self.found.fusion.is_early(value) {
            return None;
        }
        let place = self.clobbers.kept(value)?;
        let load = Op::Load(place.clone());
        let fits =
            self.found.home_objects.contains(&place.object) && !self.depends_on(&load, value);
        fits.then_some(load)
    }

    /// Whether an operation needs a value, directly or through others.
    fn depends_on(&self, op: &Op, value: ValueId) -> bool {
        let mut seen = HashSet::new();
        let mut left = Vec::new();
        op.for_each_operand(&mut |operand| left.push(operand));
        while let Some(operand) = left.pop() {
            if operand == value {
                return true;
            }
            if seen.insert(operand)
                && let Some(op) = self.facts.definitions.op(operand)
            {
                op.for_each_operand(&mut |operand| left.push(operand));
            }
        }
        false
    }

    fn can_recompute(&self, value: ValueId, op: &Op) -> bool {
        self.is_there(value, op)
            || self.state_of(value).is_some()
            || self.local_of(value, op).is_some()
    }
}

fn reason(facts: &Facts<'_>, clobbers: &ReloadSafety, found: &Findings, value: ValueId) -> Reason {
    match facts.definitions.of(value) {
        Definition::Inside => Reason::Carried,
        Definition::Outcome | Definition::Popped => Reason::Outcome,
        Definition::Op(Op::Load(_)) if clobbers.load(value) => Reason::Overwritten,
        Definition::Op(Op::Load(place) | Op::Len(place))
            if !found.home_objects.contains(&place.object) =>
        {
            Reason::Gone
        }
        _ => Reason::Cheaper,
    }
}
