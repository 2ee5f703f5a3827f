//! The records of a gradient: where they are pushed, what is in them and why.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::Span;

use super::formula::{Formulas, object_name, plain_name};
use super::item_bytes;
use crate::ad::{Gradient, Purpose, Reason, StateChoice};
use crate::driver::Target;
use crate::source::Sources;
use crate::tapeflow::record_bytes;
use stratape_ir::analysis::{Affine, DefUse, Polynomial};
use stratape_ir::{
    Block, Function, Loop, Op, RecordId, Scalar, Slice, SourceId, Stmt, Type, ValueId, walk,
};

/// One kind of record.
#[derive(Debug)]
pub struct Saved {
    /// The loop whose iterations push it, by its keyword; for a copy of a list, where that was made.
    pub span: Span,
    /// Bytes of one record.
    pub bytes: u64,
    /// How many of them there are, as in the source: `n × (m - 1)`; empty for one.
    pub times: String,
    /// Whether there may be fewer: in a branch, or in a loop that can end early.
    pub at_most: bool,
    /// The list that is copied, if it is a copy.
    pub copy_of: Option<String>,
    /// What the copy is for; `None` if a function is passed the list whose pullback needs it as it was.
    pub purpose: Option<Purpose>,
    /// What the values would take that are read from the list instead of being saved one by one.
    pub instead_of: Option<String>,
    /// The values in its slots.
    pub values: Vec<SavedValue>,
    /// The keyword of a loop on which `#[checkpoint]` would have it saved in one step at a time, if there is one that may be long enough.
    pub checkpoint: Option<Span>,
    /// The outermost loop around it.
    pub(super) outer: Option<(ValueId, SourceId)>,
}

impl Saved {
    /// The bytes of all of them, as a formula.
    pub fn total(&self) -> String {
        let most = if self.at_most { "at most " } else { "" };
        let times = if self.times.is_empty() { "" } else { " × " };
        let unit = if self.bytes == 1 { "byte" } else { "bytes" };
        format!("{most}{} {unit}{times}{}", self.bytes, self.times)
    }
}

/// A value on the tape.
#[derive(Debug)]
pub struct SavedValue {
    /// The variable, if it is one.
    pub name: Option<String>,
    /// Where it is computed.
    pub span: Span,
    /// Its type.
    pub ty: Scalar,
    /// Why it is saved, if the slot can be traced to a choice.
    pub reason: Option<Reason>,
}

/// The records of a gradient.
pub(super) fn saved(gradient: &Gradient, sources: &Sources) -> Vec<Saved> {
    let function = &gradient.function;
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let mut merges = HashMap::new();
    let mut next = HashMap::new();
    walk(&function.body, &mut |node| match node {
        Stmt::If(node) => {
            merges.extend(node.merges.iter().map(|merge| (merge.value, (merge.then, merge.other))));
        }
        Stmt::Loop(node) => {
            next.extend(node.carried.iter().map(|carried| (carried.inside, carried.next)));
        }
        _ => {}
    });
    let mut collector = Collector {
        function,
        sources,
        formulas: Formulas::new(function, &definitions, &affine, sources),
        affine: &affine,
        bytes: record_bytes(function, &Target::default()),
        reasons: gradient
            .choices
            .iter()
            .filter_map(|choice| Some((choice.value, choice.saved?)))
            .collect(),
        merges,
        next,
        around: Vec::new(),
        branches: 0,
        facts: Vec::new(),
        states: gradient.states.iter().map(|state| (state.record, state)).collect(),
        loads: HashMap::new(),
        found: Vec::new(),
    };
    collector.block(&function.body);
    let Collector { states, loads, mut found, .. } = collector;
    for (saved, record) in &mut found {
        let Some(state) = states.get(record) else { continue };
        saved.purpose = Some(state.purpose);
        saved.instead_of = instead_of(state, &loads);
    }
    found.into_iter().map(|(saved, _)| saved).collect()
}

struct Collector<'a> {
    function: &'a Function,
    sources: &'a Sources,
    formulas: Formulas<'a>,
    affine: &'a Affine<'a>,
    bytes: Vec<usize>,
    reasons: HashMap<ValueId, Reason>,
    /// What comes out of branches, by what goes in.
    merges: HashMap<ValueId, (ValueId, ValueId)>,
    /// What an iteration makes of a carried value.
    next: HashMap<ValueId, ValueId>,
    around: Vec<&'a Loop>,
    branches: usize,
    /// What the branches around say: polynomials that are at least 0.
    facts: Vec<Polynomial>,
    states: HashMap<RecordId, &'a StateChoice>,
    /// What each value takes that a list spares, and how often it is read.
    loads: HashMap<ValueId, (u64, String)>,
    found: Vec<(Saved, RecordId)>,
}

/// What the values would take that are read from a list.
fn instead_of(state: &StateChoice, loads: &HashMap<ValueId, (u64, String)>) -> Option<String> {
    let mut by_times: BTreeMap<&str, u64> = BTreeMap::new();
    for (bytes, times) in state.spared.iter().filter_map(|value| loads.get(value)) {
        *by_times.entry(times).or_default() += bytes;
    }
    let part = |(times, bytes): (&str, u64)| match times {
        "" => format!("{bytes} bytes"),
        times => format!("{bytes} bytes × {times}"),
    };
    let parts: Vec<String> = by_times.into_iter().map(part).collect();
    (!parts.is_empty()).then(|| parts.join(" + "))
}

impl<'a> Collector<'a> {
    fn block(&mut self, block: &'a Block) {
        for node in block {
            match node {
                Stmt::Push { record, .. } => self.push(*record),
                Stmt::Save { record, slice } => self.copy(*record, slice),
                Stmt::Let { value, op: Op::Load(_) }
                    if self.states.values().any(|state| state.spared.contains(value)) =>
                {
                    let bytes = item_bytes(&Type::Scalar(self.function.ty(*value)));
                    let times = self.formulas.trips(&self.around, &self.facts);
                    self.loads.insert(*value, (bytes.unwrap_or(8), times));
                }
                Stmt::Loop(node) => {
                    self.around.push(node);
                    self.block(&node.body);
                    self.around.pop();
                }
                Stmt::If(node) => {
                    self.branches += 1;
                    for (holds, block) in [(true, &node.then), (false, &node.other)] {
                        let known = self.facts.len();
                        self.facts.extend(self.affine.fact(node.condition, holds));
                        self.block(block);
                        self.facts.truncate(known);
                    }
                    self.branches -= 1;
                }
                _ => {}
            }
        }
    }

    fn at_most(&self) -> bool {
        self.branches > 0
            || self.around.iter().any(|node| {
                node.exit.is_some() && matches!(node.range, stratape_ir::Range::UpTo { .. })
            })
    }

    fn outer(&self) -> Option<(ValueId, SourceId)> {
        self.around.first().map(|node| (node.counter, node.span))
    }

    fn push(&mut self, record: RecordId) {
        let mut values = Vec::new();
        for slot in &self.function.records[record.index()].slots {
            self.slot(*slot, 16, &mut values);
        }
        let saved = Saved {
            span: self.sources.span(self.around.last().map_or(SourceId::NONE, |node| node.span)),
            bytes: self.bytes[record.index()] as u64,
            times: self.formulas.trips(&self.around, &self.facts),
            at_most: self.at_most(),
            copy_of: None,
            purpose: None,
            instead_of: None,
            values,
            checkpoint: None,
            outer: self.outer(),
        };
        self.found.push((saved, record));
    }

    /// A slot may serve several values: one of each arm of a branch.
    fn slot(&self, slot: ValueId, fuel: usize, values: &mut Vec<SavedValue>) {
        let before = values.len();
        if !self.reasons.contains_key(&slot)
            && fuel > 0
            && let Some((then, other)) = self.merges.get(&slot)
        {
            let literal = |value: ValueId| self.formulas.is_literal(value);
            for arm in [*then, *other].into_iter().filter(|arm| !literal(*arm)) {
                self.slot(arm, fuel - 1, values);
            }
        }
        if values.len() == before {
            let known = &self.function.values[slot.index()];
            values.push(SavedValue {
                name: plain_name(self.function, slot),
                // A carried value has the span of what it was before the loop; where it changes says more.
                span: self.sources.span(
                    self.next
                        .get(&slot)
                        .map_or(known.span, |next| self.function.values[next.index()].span),
                ),
                ty: known.ty,
                reason: self.reasons.get(&slot).copied(),
            });
        }
    }

    /// A number of elements, as the hull of what is overwritten: the sums and products are exact.
    fn hull(&self, value: ValueId) -> Polynomial {
        match self.affine.op(value) {
            Some(Op::Method(name, operands)) if operands.len() == 2 => {
                let (a, b) = (self.hull(operands[0]), self.hull(operands[1]));
                match name.as_str() {
                    "wrapping_add" => a.plus(&b),
                    "wrapping_sub" => a.minus(&b),
                    "wrapping_mul" => a.times(&b),
                    _ => self.affine.of(value),
                }
            }
            _ => self.affine.of(value),
        }
    }

    fn copy(&mut self, record: RecordId, slice: &Slice) {
        let object = &self.function.objects[slice.place.object.index()];
        let name = object_name(self.function, slice.place.object);
        let item = self.function.place_type(&slice.place).and_then(|ty| ty.element());
        let len = match slice.part {
            Some((_, len)) => {
                let hull = self.hull(len);
                let text = hull.text(&|symbol| self.formulas.number(symbol));
                text.map(|text| if hull.terms().count() > 1 { format!("({text})") } else { text })
            }
            None => Some(format!("{name}.len()")),
        };
        let mut times = self.formulas.trips(&self.around, &self.facts);
        if !times.is_empty() {
            times.push_str(" × ");
        }
        times.push_str(&len.unwrap_or_else(|| format!("(elements of `{name}`)")));
        let saved = Saved {
            span: self.sources.span(object.span),
            bytes: item.and_then(item_bytes).unwrap_or(8),
            times,
            at_most: self.at_most(),
            copy_of: Some(name),
            purpose: None,
            instead_of: None,
            values: Vec::new(),
            checkpoint: None,
            outer: self.outer(),
        };
        self.found.push((saved, record));
    }
}
