//! What becomes of a function, for people: what is saved on the tape and why, what is computed again, which loops are
//! independent.
//!
//! [`survey`] finds the functions under `#[gradient]` in a file and compiles them as the attribute does, with the same errors;
//! [`explain`] makes a table of one of them. Positions are spans: outside a macro they lead to lines and columns if
//! `proc-macro2` has its feature `span-locations`.

mod formula;
mod graph;
mod layered;
mod saved;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::walk::visit::{self, Visit};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Error};

use crate::ad::{Gradient, Reason};
use crate::driver::{Compiled, CompiledLoop, Remark, Target, simplified_without};
use crate::expand;
use crate::front::{self, is_marked};
use crate::kernels::is_kernel;
use crate::library::Imports;
use crate::link;
use crate::source::Sources;
use crate::transform::loops::{COALESCE, INTERCHANGE};
use crate::variants::{self, Enums};
use stratape_ir::analysis::{Affine, DefUse, Definition, independence, mark_parallel};
use stratape_ir::{Function, Loop, Op, Param, Scalar, SourceId, Stmt, Type, ValueId, walk};

pub use crate::link::shown;

pub use self::graph::{Fate, Graph, GraphLoop, GraphNode, graphs};
pub use self::layered::{Layered, Slot, TapeEvent, TapeSchedule, TapeUse};
pub use self::saved::{Saved, SavedValue};
pub use crate::ad::Purpose;

/// Iterations from which snapshots of a loop may be worth their time.
const LONG: u64 = 64;

/// A function under `#[gradient]`.
#[derive(Debug)]
pub struct Subject {
    /// The function as written.
    pub item: syn::ItemFn,
    /// What became of it.
    pub compiled: Compiled,
    /// What the attribute emits beside it.
    pub tokens: TokenStream,
    /// The spans of both.
    pub sources: Rc<Sources>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Survey {
    /// The functions under `#[gradient]` that are accepted, in the order of the file.
    pub subjects: Vec<Subject>,
    /// What the attributes complain of.
    pub errors: Vec<Error>,
    /// The names of all functions under `#[gradient]`.
    pub names: Vec<String>,
    /// Only this function is compiled.
    only: Option<String>,
    /// The items under `#[differentiable]` beside what is looked at.
    beside: Vec<syn::Item>,
    /// The constants there.
    constants: link::Constants,
}

/// Finds and compiles the functions under `#[gradient]` of a file, those in a `#[differentiable] mod` with what they can see.
pub fn survey(file: &syn::File) -> Survey {
    let mut survey = Survey::default();
    survey.visit_file(&with_library(file));
    survey
}

/// As [`survey`], of the functions of one name alone: what others are refused for is not told.
pub fn survey_of(file: &syn::File, name: &str) -> Survey {
    let mut survey = Survey { only: Some(name.to_owned()), ..Survey::default() };
    survey.visit_file(&with_library(file));
    survey
}

/// A file in which the types of crates known by heart have the names of their texts, and variants those of their enums before them.
fn with_library(file: &syn::File) -> syn::File {
    fn level(items: &[syn::Item], around: Option<&Imports>, enums: &Enums) -> Vec<syn::Item> {
        let spelled = variants::spelled_items(items, enums);
        let items = spelled.as_deref().unwrap_or(items);
        let imports = Imports::of(items).within(around);
        let mut named = Vec::new();
        for item in items {
            match item {
                syn::Item::Mod(module) => {
                    let mut module = module.clone();
                    if let Some((_, items)) = &mut module.content {
                        *items = level(items, Some(&imports), enums);
                    }
                    named.push(syn::Item::Mod(module));
                }
                item => named.extend(link::with_library(std::slice::from_ref(item), &imports)),
            }
        }
        named
    }
    let enums = Enums::of(&file.items);
    syn::File { items: level(&file.items, None, &enums), ..file.clone() }
}

impl Survey {
    /// Notes errors; those at no token stand at the attribute, as rustc has it.
    fn fail(&mut self, error: Error, attribute: &Attribute) {
        for error in error {
            let nowhere = error.span().source_text().is_none_or(|text| text.is_empty());
            let span = if nowhere { attribute.span() } else { error.span() };
            self.errors.push(Error::new(span, shown(&front::message_of(&error).0)));
        }
    }

    /// What is under `#[gradient]`, which may be no function.
    fn marked(&mut self, attributes: &[Attribute], item: &dyn ToTokens) {
        let mark = attributes.iter().find(|attribute| is_marked(attribute, &["gradient"]));
        let Some(attribute) = mark else { return };
        // Another attribute reads it there.
        if attributes.iter().any(|attribute| is_marked(attribute, &["kernel"])) {
            return;
        }
        let parsed = syn::parse2::<syn::ItemFn>(item.to_token_stream());
        let Ok(mut item) = parsed else {
            if self.only.is_some() {
                return;
            }
            let message = "`#[gradient]` goes on a function with a body";
            return self.fail(Error::new(Span::call_site(), message), attribute);
        };
        // The attribute itself is not among what it is handed.
        let at = item.attrs.iter().position(|attribute| is_marked(attribute, &["gradient"]));
        at.map(|at| item.attrs.remove(at));
        self.names.push(item.sig.ident.to_string());
        if self.only.as_ref().is_some_and(|only| item.sig.ident != only) {
            return;
        }
        let written = item.clone();
        let mut read = syn::Item::Fn(item);
        self.constants.replace_in(&mut read);
        let syn::Item::Fn(item) = read else { return };
        match expand::beside(expand::arguments_of(attribute), &item, &self.beside) {
            Ok((compiled, tokens, sources)) => {
                self.subjects.push(Subject { item: written, compiled, tokens, sources });
            }
            Err(error) => self.fail(error, attribute),
        }
    }

    /// Visits the items of a module or file, which see each other if they are under an attribute of ours.
    fn level(&mut self, items: &[syn::Item]) {
        let seen = |item: &&syn::Item| {
            !matches!(item, syn::Item::Mod(_))
                && attributes(item)
                    .iter()
                    .any(|attribute| is_marked(attribute, &["differentiable", "gradient"]))
        };
        let beside = items.iter().filter(seen).cloned().collect();
        let constants = link::Constants::of(items);
        let before = (
            std::mem::replace(&mut self.beside, beside),
            std::mem::replace(&mut self.constants, constants),
        );
        items.iter().for_each(|item| self.visit_item(item));
        (self.beside, self.constants) = before;
    }

    /// A module under `#[differentiable]`.
    fn differentiable(&mut self, attributes: &[Attribute], item: &syn::Item) -> bool {
        let mark = attributes.iter().find(|attribute| is_marked(attribute, &["differentiable"]));
        let (Some(attribute), syn::Item::Mod(_)) = (mark, item) else { return false };
        let mut item = item.clone();
        if let syn::Item::Mod(module) = &mut item {
            module.attrs.retain(|attribute| !is_marked(attribute, &["differentiable"]));
            if let Some((_, items)) = &mut module.content {
                match link::flattened(items, &Enums::default()) {
                    Some(flat) => *items = flat.items,
                    None => drop(self.constants.replace_inside(items)),
                }
            }
            for item in module.content.iter().flat_map(|(_, items)| items) {
                if let syn::Item::Fn(function) = item
                    && function.attrs.iter().any(|attribute| is_marked(attribute, &["gradient"]))
                    && !is_kernel(function)
                {
                    self.names.push(function.sig.ident.to_string());
                }
            }
        }
        let opened = expand::open(&expand::arguments_of(attribute), item.into_token_stream());
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.fail(error, attribute);
                return true;
            }
        };
        if let Some(only) = &self.only {
            opened.keep(only);
            if opened.is_empty() {
                return true;
            }
        }
        let (done, halves) = opened.compile();
        for (item, compiled, tokens) in done {
            let sources = opened.sources();
            self.subjects.push(Subject { item, compiled, tokens, sources });
        }
        for error in halves.err().into_iter().chain(opened.into_errors()) {
            self.fail(error, attribute);
        }
        true
    }
}

/// The attributes of the items that one of ours could be put on.
fn attributes(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Survey {
    fn visit_file(&mut self, file: &'ast syn::File) {
        self.level(&file.items);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if let Some((_, items)) = &module.content {
            self.level(items);
        }
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = attributes(item);
        if self.differentiable(attributes, item) {
            return;
        }
        self.marked(attributes, item);
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.marked(&method.attrs, method);
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        self.marked(&method.attrs, method);
        visit::visit_trait_item_fn(self, method);
    }
}

/// What became of a function.
#[derive(Debug)]
pub struct Explanation {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub span: Span,
    /// The gradient's name.
    pub gradient: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The function itself, then the bodies of its loops under `#[checkpoint]`.
    pub parts: Vec<Part>,
    /// Functions that call themselves; what they save is not counted.
    pub recursive: Vec<String>,
    /// What the compiler's own check found in the optimised gradient, if that is not the one emitted.
    pub fault: Option<String>,
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Whether the gradient is taken with respect to it.
    pub active: bool,
}

/// A function, or the body of a loop that is reversed from snapshots.
#[derive(Debug)]
pub struct Part {
    /// The loop, if it is one.
    pub time_loop: Option<Snapshots>,
    /// What is on the tape at the end of the forward half.
    pub saved: Vec<Saved>,
    /// Where it lies there, and when it moves.
    pub tape: TapeSchedule,
    /// What the backward half computes or reads again.
    pub recomputed: Vec<Recomputed>,
    /// The loops, outer ones first.
    pub loops: Vec<LoopFinding>,
}

/// A loop that is reversed from snapshots.
#[derive(Debug)]
pub struct Snapshots {
    /// The attribute.
    pub span: Span,
    /// What a snapshot holds: a name, and how many bytes.
    pub holds: Vec<(String, String)>,
}

/// A value of the forward half that the backward half makes again.
#[derive(Debug)]
pub struct Recomputed {
    /// The variable, if it is one.
    pub name: Option<String>,
    /// Where it is computed.
    pub span: Span,
    /// Its type.
    pub ty: Scalar,
    /// Whether it is read from memory again.
    pub read: bool,
}

/// Whether a loop's iterations are independent.
#[derive(Debug)]
pub struct LoopFinding {
    /// The loop's keyword.
    pub span: Span,
    /// Whether it is marked to run in parallel.
    pub parallel: bool,
    /// Whether it lies in a loop that is independent itself: of these only the outermost is divided.
    pub inner: bool,
    /// Whether it stands for the loop written inside it as well. `#[gradient(parallel)]` divides it as it is; `#[parallel]` would ask for iterations
    /// of the outer loop alone.
    pub coalesced: bool,
    /// Why its iterations are not independent, if they are not.
    pub conflict: Option<Refused>,
    /// How many there are, if that is known.
    pub iterations: Option<u64>,
    /// From about how many on it is divided under `#[parallel]`, if they are independent.
    pub pays_from: Option<u64>,
}

/// Why a loop's iterations are not independent.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong, and what to write instead.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl Reason {
    /// The reason as text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Carried => "carried over from the previous iteration",
            Self::Overwritten => "read from memory that is overwritten later",
            Self::Gone => "read from memory that no longer exists by then",
            Self::Outcome => "the outcome of a branch or a loop",
            Self::Cheaper => "saving it costs less than recomputing it",
        }
    }

    /// What the program could do about it, if anything; of what a loop carries over, [`Saved::checkpoint`] says it.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::Overwritten => Some(
                "write to another array, if memory allows, or overwrite whole rows in a loop over a range: the old contents are then saved once",
            ),
            Self::Gone => Some(
                "create the array outside the loop, if its contents need not change there, or compute from the arrays that it is made of",
            ),
            Self::Outcome => Some("compute it without a branch or a loop, for example with `max`"),
            Self::Carried | Self::Cheaper => None,
        }
    }
}

/// Explains a function.
pub fn explain(subject: &Subject) -> Explanation {
    let (compiled, sources) = (&subject.compiled, &*subject.sources);
    let whole = (&compiled.primal, &compiled.gradient, &compiled.lowered);
    let mut parts = vec![part(whole, None, compiled, sources)];
    for one in compiled.loops.iter().rev() {
        let snapshots =
            Snapshots { span: sources.span(one.time_loop.checkpoint.span), holds: holds(one) };
        let body = (&one.time_loop.body, &one.gradient, &one.lowered);
        parts.push(part(body, Some(snapshots), compiled, sources));
    }
    Explanation {
        name: subject.item.sig.ident.to_string(),
        span: subject.item.sig.ident.span(),
        gradient: compiled.gradient.function.name.clone(),
        parameters: parameters(compiled, sources),
        parts,
        recursive: compiled.recursive.iter().cloned().collect(),
        fault: compiled.fault.clone(),
    }
}

fn parameters(compiled: &Compiled, sources: &Sources) -> Vec<Parameter> {
    let function = &compiled.primal;
    let mut parameters = Vec::new();
    for param in &function.params {
        let (name, span) = match param {
            Param::Value(value) => {
                let known = &function.values[value.index()];
                (known.name.clone().unwrap_or_default(), known.span)
            }
            Param::Object(object) => {
                let known = &function.objects[object.index()];
                (known.name.clone(), known.span)
            }
        };
        let active = compiled.gradient.inputs.contains(param);
        parameters.push(Parameter { name, span: sources.span(span), active });
    }
    parameters
}

fn part(
    (primal, gradient, lowered): (&Function, &Gradient, &Function),
    time_loop: Option<Snapshots>,
    compiled: &Compiled,
    sources: &Sources,
) -> Part {
    let definitions = DefUse::new(primal);
    let recomputed = gradient
        .choices
        .iter()
        // The backward half decides on values of its own as well: those of what it runs once more to rewind a list.
        .filter(|choice| choice.saved.is_none() && choice.value.index() < primal.values.len())
        .map(|choice| {
            let known = &primal.values[choice.value.index()];
            let read =
                matches!(definitions.of(choice.value), Definition::Op(Op::Load(_) | Op::Len(_)));
            let name = formula::plain_name(primal, choice.value);
            Recomputed { name, span: sources.span(known.span), ty: known.ty, read }
        })
        .collect();
    // A row in tiles is no longer seen to belong to one iteration; under `#[parallel]` loops are not interchanged.
    let moved = |remark: &Remark| remark.applied && remark.pass == INTERCHANGE.name;
    let nests = (time_loop.is_none() && compiled.remarks.iter().any(moved))
        .then(|| simplified_without(&compiled.written, &INTERCHANGE));
    let asked = nests.as_ref().unwrap_or(primal);
    let definitions = DefUse::new(asked);
    let affine = Affine::new(asked, &definitions);
    let proofs = independence(asked);
    // Snapshots pay where a step does more than to change a few elements of what would be stored with each.
    let long_steps = |counter: &ValueId| {
        let is_it = |node: &Loop| node.counter == *counter;
        proofs.iter().any(|(node, proof)| is_it(node) && proof.is_err() && !is_a_sweep(node))
    };
    let coalesced: HashSet<SourceId> = compiled
        .remarks
        .iter()
        .filter(|remark| remark.applied && remark.pass == COALESCE.name)
        .map(|remark| remark.span)
        .collect();
    let mut saved = saved::saved(gradient, sources);
    for one in &mut saved {
        // A step of a time loop saves nothing beyond itself.
        let outer = one.outer.filter(|(counter, _)| time_loop.is_none() && long_steps(counter));
        one.checkpoint = outer
            .filter(|(counter, _)| iterations(&affine, *counter).is_none_or(|count| count >= LONG))
            .map(|(_, span)| sources.span(span));
    }
    let grains = grains(asked);
    let mut inner = HashSet::new();
    for (node, _) in proofs.iter().filter(|(_, proof)| proof.is_ok()) {
        walk(&node.body, &mut |node| {
            if let Stmt::Loop(node) = node {
                inner.insert(node.counter);
            }
        });
    }
    let loops = proofs
        .into_iter()
        .map(|(node, proof)| LoopFinding {
            span: sources.span(node.span),
            parallel: node.parallel.is_some(),
            inner: inner.contains(&node.counter),
            coalesced: coalesced.contains(&node.span),
            conflict: proof.err().map(|conflict| Refused {
                message: conflict.message,
                span: sources.span(conflict.span),
            }),
            iterations: iterations(&affine, node.counter),
            // Two parts at least.
            pays_from: grains.get(&node.counter).map(|grain| 2 * *grain as u64),
        })
        .collect();
    let tape = TapeSchedule::of(lowered, &compiled.tape, sources);
    Part { time_loop, saved, tape, recomputed, loops }
}

/// Whether a loop goes over lists once and writes them: it has no loop inside.
fn is_a_sweep(node: &Loop) -> bool {
    let (mut nested, mut writes) = (false, false);
    walk(&node.body, &mut |inner| match inner {
        Stmt::Loop(_) => nested = true,
        Stmt::Store { .. } | Stmt::Accumulate { .. } => writes = true,
        _ => {}
    });
    writes && !nested
}

/// The iterations of a loop, if their number is known.
fn iterations(affine: &Affine<'_>, counter: ValueId) -> Option<u64> {
    let count = affine.counted(counter)?.extent.as_ref()?.as_number()?;
    u64::try_from(count.max(0)).ok()
}

/// How many iterations of each independent loop are worth a part.
fn grains(primal: &Function) -> HashMap<ValueId, usize> {
    let (target, mut marked) = (Target::default(), primal.clone());
    let grain = (target.part_operations, target.assumed_iterations);
    // Where a mark of the program is refused there is no gradient either; where no loop is independent there is no grain.
    let _ = mark_parallel(&mut marked, Some((SourceId::NONE, false)), grain);
    let mut grains = HashMap::new();
    walk(&marked.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && let Some(parallel) = node.parallel
        {
            grains.insert(node.counter, parallel.grain);
        }
    });
    grains
}

/// What a snapshot of a loop holds.
fn holds(one: &CompiledLoop) -> Vec<(String, String)> {
    let (time_loop, body) = (&one.time_loop, &one.time_loop.body);
    let mut holds = Vec::new();
    for carried in &time_loop.node.carried {
        let name = formula::plain_name(body, carried.inside).unwrap_or_else(|| "…".to_owned());
        holds.push((name, format!("{} bytes", scalar_bytes(body.ty(carried.inside)))));
    }
    for list in time_loop.lists.iter().filter(|list| list.mutable) {
        let name = formula::object_name(body, list.object);
        let bytes = match item_bytes(&list.item) {
            Some(bytes) => format!("{bytes} bytes × {name}.len()"),
            None => format!("{name}.len() elements"),
        };
        holds.push((name, bytes));
    }
    holds
}

fn scalar_bytes(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bool => 1,
        Scalar::Int(int) => int.bits() / 8,
        Scalar::Float(stratape_ir::Float::F32) => 4,
        Scalar::Float(stratape_ir::Float::F64) | Scalar::Infer(_) => 8,
    }
}

fn item_bytes(ty: &Type) -> Option<u64> {
    match ty {
        Type::Scalar(scalar) => Some(u64::from(scalar_bytes(*scalar))),
        Type::Array(item, stratape_ir::Extent::Known(count)) => {
            item_bytes(item)?.checked_mul(*count as u64)
        }
        _ => None,
    }
}
