//! What the backward half needs of the forward half, as a graph: who is made of whom.
//!
//! The nodes are floats, whatever is saved, and memory that is read again. Indices are left out: they are made again everywhere, at no
//! cost worth a node. An edge leads from a value to one that is made again from it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proc_macro2::Span;

use super::formula::{object_name, plain_name};
use super::{Reason, Subject};
use crate::ad::Activity;
use crate::ad::Gradient;
use crate::source::Sources;
use stratape_ir::analysis::{DefUse, Definition};
use stratape_ir::{Block, Function, ObjectId, Op, Stmt, ValueId, walk};

/// What the backward half needs of a function, or of the body of a time loop.
///
/// ```
/// use stratape_compiler::explain::{graphs, survey};
///
/// let text = "#[gradient] fn f(x: f64, n: usize) -> f64 { let mut y = x; for _ in 0..n { y = y.sin(); } y }";
/// let subjects = survey(&syn::parse_str(text)?).subjects;
/// let graph = &graphs(&subjects[0])[0];
/// assert!(graph.time_loop.is_none());
/// assert_eq!(graph.loops.len(), 1);
/// # Ok::<(), syn::Error>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    /// The attribute of the time loop whose body it is, if it is one.
    pub time_loop: Option<Span>,
    /// The values and the memory, in the order of their definition.
    pub nodes: Vec<GraphNode>,
    /// From the first node to the second, which is made again from it.
    pub edges: Vec<(usize, usize)>,
    /// The loops that hold a node, outer ones first.
    pub loops: Vec<GraphLoop>,
}

/// A value, or memory.
///
/// ```
/// use stratape_compiler::explain::{graphs, survey};
///
/// let text = "#[gradient] fn f(x: f64, n: usize) -> f64 { let mut y = x; for _ in 0..n { y = y.sin(); } y }";
/// let subjects = survey(&syn::parse_str(text)?).subjects;
/// let graph = &graphs(&subjects[0])[0];
/// let y = &graph.nodes[0];
/// assert_eq!((y.made_by.as_str(), y.active, y.inside), ("carried", true, Some(0)));
/// # Ok::<(), syn::Error>(())
/// ```
#[derive(Debug)]
pub struct GraphNode {
    /// The variable, if it is one.
    pub name: Option<String>,
    /// How it comes to be, in a word: `sin`, `*`, `carried`, `parameter`, `memory`.
    pub made_by: String,
    /// Where.
    pub span: Span,
    /// What becomes of it.
    pub fate: Fate,
    /// Whether the backward half asks for it; otherwise others are made again from it.
    pub asked_for: bool,
    /// Whether derivatives flow through it.
    pub active: bool,
    /// The innermost of [`Graph::loops`] that holds it.
    pub inside: Option<usize>,
}

/// How the backward half comes by a value.
///
/// ```
/// use stratape_compiler::explain::{Fate, graphs, survey};
///
/// let text = "#[gradient] fn f(x: f64, n: usize) -> f64 { let mut y = x; for _ in 0..n { y = y.sin(); } y }";
/// let subjects = survey(&syn::parse_str(text)?).subjects;
/// let graph = &graphs(&subjects[0])[0];
/// assert!(graph.nodes.iter().any(|node| matches!(node.fate, Fate::Saved(_))));
/// # Ok::<(), syn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// From the tape.
    Saved(Reason),
    /// By computing it again.
    Recomputed,
    /// By reading it again.
    Reread,
    /// It is still there.
    There,
}

/// A loop.
///
/// ```
/// use stratape_compiler::explain::{graphs, survey};
///
/// let text = "#[gradient] fn f(x: f64, n: usize) -> f64 { let mut y = x; for _ in 0..n { y = y.sin(); } y }";
/// let subjects = survey(&syn::parse_str(text)?).subjects;
/// let graph = &graphs(&subjects[0])[0];
/// assert_eq!(graph.loops[0].inside, None);
/// # Ok::<(), syn::Error>(())
/// ```
#[derive(Debug)]
pub struct GraphLoop {
    /// Its keyword.
    pub span: Span,
    /// The loop around it.
    pub inside: Option<usize>,
}

/// The graphs of a function: its own, then those of the bodies of its loops under `#[checkpoint]`.
///
/// ```
/// use stratape_compiler::explain::{Fate, graphs, survey};
///
/// let file: syn::File = syn::parse_str("#[gradient] fn f(x: f64) -> f64 { x.sin() }")?;
/// let graph = &graphs(&survey(&file).subjects[0])[0];
/// // The derivative is cos(x), and x is still there.
/// assert_eq!(graph.nodes[0].name.as_deref(), Some("x"));
/// assert_eq!(graph.nodes[0].fate, Fate::There);
/// # Ok::<(), syn::Error>(())
/// ```
pub fn graphs(subject: &Subject) -> Vec<Graph> {
    let (compiled, sources) = (&subject.compiled, &*subject.sources);
    let mut graphs = vec![graph(&compiled.primal, &compiled.gradient, None, sources)];
    for one in compiled.loops.iter().rev() {
        let span = sources.span(one.time_loop.checkpoint.span);
        graphs.push(graph(&one.time_loop.body, &one.gradient, Some(span), sources));
    }
    graphs
}

fn graph(
    primal: &Function,
    gradient: &Gradient,
    time_loop: Option<Span>,
    sources: &Sources,
) -> Graph {
    let definitions = DefUse::new(primal);
    let activity = Activity::new(primal, &gradient.inputs);
    let fates = fates(primal, gradient, &definitions);
    let mut nest = Nest::default();
    nest.block(&primal.body, None, sources);
    let mut graph = Graph { time_loop, nodes: Vec::new(), edges: Vec::new(), loops: Vec::new() };
    let read = |value: ValueId, fate: Fate| match definitions.op(value) {
        Some(Op::Load(place)) if fate == Fate::Reread => Some(place.object),
        _ => None,
    };
    let objects: BTreeSet<ObjectId> =
        fates.iter().filter_map(|(value, (fate, _))| read(*value, *fate)).collect();
    let mut of_object = HashMap::new();
    for object in objects {
        of_object.insert(object, graph.nodes.len());
        graph.nodes.push(GraphNode {
            name: Some(object_name(primal, object)),
            made_by: "memory".to_owned(),
            span: sources.span(primal.objects[object.index()].span),
            fate: Fate::There,
            asked_for: false,
            active: activity.object(object),
            inside: None,
        });
    }
    let mut of_value = HashMap::new();
    let mut kept = Kept::default();
    for (value, (fate, asked_for)) in &fates {
        let around = nest.around.get(value).copied().flatten();
        of_value.insert(*value, graph.nodes.len());
        graph.nodes.push(GraphNode {
            name: plain_name(primal, *value),
            made_by: made_by(primal, definitions.of(*value)),
            span: sources
                .span(primal.values[nest.changes.get(value).unwrap_or(value).index()].span),
            fate: *fate,
            asked_for: *asked_for,
            active: activity.value(*value),
            inside: around.map(|at| kept.keep(at, &nest, &mut graph.loops)),
        });
    }
    for (value, (fate, _)) in &fates {
        let to = of_value[value];
        if let Some(object) = read(*value, *fate) {
            graph.edges.push((of_object[&object], to));
        }
        if *fate == Fate::Recomputed
            && let Some(op) = definitions.op(*value)
        {
            let mut operands = BTreeSet::new();
            op.for_each_operand(&mut |operand| {
                operands.insert(operand);
            });
            let known = operands.iter().filter_map(|operand| of_value.get(operand));
            graph.edges.extend(known.map(|from| (*from, to)));
        }
    }
    graph
}

/// What becomes of the values that the backward half needs, and whether it asks for them itself.
fn fates(
    primal: &Function,
    gradient: &Gradient,
    definitions: &DefUse,
) -> BTreeMap<ValueId, (Fate, bool)> {
    let mut fates = BTreeMap::new();
    let mut made_from = BTreeSet::new();
    let is_float = |value: ValueId| primal.ty(value).is_float();
    // The backward half decides on values of its own as well, those of what it runs once more to rewind a list.
    let is_of_primal = |value: &ValueId| value.index() < primal.values.len();
    for choice in gradient.choices.iter().filter(|choice| is_of_primal(&choice.value)) {
        let op = definitions.op(choice.value);
        let fate = match (choice.saved, op) {
            (Some(reason), _) => Fate::Saved(reason),
            (None, Some(Op::Load(_) | Op::Len(_))) => Fate::Reread,
            (None, _) => Fate::Recomputed,
        };
        if is_float(choice.value) || choice.saved.is_some() {
            fates.insert(choice.value, (fate, choice.asked_for));
        }
        if let (Fate::Recomputed, Some(op)) = (fate, op) {
            op.for_each_operand(&mut |operand| {
                made_from.insert(operand);
            });
        }
    }
    let there =
        |value: &ValueId| is_float(*value) && !definitions.op(*value).is_some_and(Op::is_constant);
    let used = used_backwards(primal, gradient);
    for value in used.union(&made_from).filter(|value| there(value)) {
        // What is used by what is made again may well be asked for too; that it is used is all that can be seen.
        let asked_for = used.contains(value) && !made_from.contains(value);
        fates.entry(*value).or_insert((Fate::There, asked_for));
    }
    fates
}

/// The values of the forward half that the backward half uses as they are: those in operations that the gradient has and the function has
/// not.
fn used_backwards(primal: &Function, gradient: &Gradient) -> BTreeSet<ValueId> {
    let is_old = |value: ValueId| value.index() < primal.values.len();
    let mut used = BTreeSet::new();
    walk(&gradient.function.body, &mut |node| {
        let new = match node {
            Stmt::Let { value, .. }
            | Stmt::Store { value, .. }
            | Stmt::Accumulate { value, .. } => !is_old(*value),
            _ => false,
        };
        if new {
            node.for_each_operand(&mut |operand| {
                if is_old(operand) {
                    used.insert(operand);
                }
            });
        }
    });
    used
}

fn made_by(primal: &Function, definition: &Definition) -> String {
    let op = match definition {
        Definition::Param => return "parameter".to_owned(),
        Definition::Counter => return "counter".to_owned(),
        Definition::Inside => return "carried".to_owned(),
        Definition::Outcome | Definition::Popped => return "outcome".to_owned(),
        Definition::Op(op) => op,
    };
    match op {
        Op::Float(_, text) => text.clone(),
        Op::Int(number) => number.to_string(),
        Op::Bool(value) => value.to_string(),
        Op::Const(tokens) => tokens.to_string(),
        Op::Unary(stratape_ir::Unary::Neg, _) => "-".to_owned(),
        Op::Unary(stratape_ir::Unary::Not, _) => "!".to_owned(),
        Op::Binary(sign, ..) => sign.sign().to_owned(),
        Op::Compare(sign, ..) => sign.sign().to_owned(),
        Op::TotalCmp { .. } => "total_cmp".to_owned(),
        Op::Math(function, _) => function.method().to_owned(),
        Op::Method(name, _) => name.clone(),
        Op::Cast(_, ty) => format!("as {ty}"),
        Op::Select(..) => "if".to_owned(),
        Op::Load(place) => format!("{}[…]", object_name(primal, place.object)),
        Op::Len(place) => format!("{}.len()", object_name(primal, place.object)),
        Op::Builtin(builtin) => builtin.word(),
    }
}

/// The loops of a function, and which of them is the innermost around each value.
#[derive(Default)]
struct Nest {
    loops: Vec<GraphLoop>,
    around: HashMap<ValueId, Option<usize>>,
    /// What an iteration makes of a carried value: it says more than what there was before the loop.
    changes: HashMap<ValueId, ValueId>,
}

impl Nest {
    fn block(&mut self, block: &Block, inside: Option<usize>, sources: &Sources) {
        for node in block {
            node.for_each_result(&mut |value| {
                self.around.insert(value, inside);
            });
            let mut within = inside;
            if let Stmt::Loop(node) = node {
                within = Some(self.loops.len());
                self.loops.push(GraphLoop { span: sources.span(node.span), inside });
                self.around.insert(node.counter, within);
                for carried in &node.carried {
                    self.around.insert(carried.inside, within);
                    self.changes.insert(carried.inside, carried.next);
                }
            }
            for inner in node.blocks() {
                self.block(inner, within, sources);
            }
        }
    }
}

/// The loops that are drawn: those that hold something.
#[derive(Default)]
struct Kept(HashMap<usize, usize>);

impl Kept {
    fn keep(&mut self, at: usize, nest: &Nest, loops: &mut Vec<GraphLoop>) -> usize {
        if let Some(known) = self.0.get(&at) {
            return *known;
        }
        let GraphLoop { span, inside } = &nest.loops[at];
        let inside = inside.map(|outer| self.keep(outer, nest, loops));
        loops.push(GraphLoop { span: *span, inside });
        self.0.insert(at, loops.len() - 1);
        loops.len() - 1
    }
}
