//! Privatisation: which marked loops run in parts, what the parts share, divide, or have private copies of.
//!
//! ```text
//! parallel for i { dx[i] += a; dk[0] += b }   →   parallel for i parts(window dx[i], private dk) { dx[i] += a; dk[0] += b }
//! ```
//!
//! The mark of a loop says that the primal's iterations are independent. Its forward half, its backward half, or the fused loop, is looked at
//! here again, each for itself. Legal where every object from outside is read only (shared), kept to [windows](stratape_ir::Window) (divided),
//! or holds adjoints and is only added to (private: zeros for each part, added up in the order of the parts). Carried sums of adjoints start from zero in each part.
//! A carried sum of the primal becomes a list of terms that a second loop adds in order, so that its bits do not depend on the number of parts.
//! All other loops lose their mark; and since what a part pushes the same part must pop, so do all loops of the same mark that use the tape.
//!
//! Runs first of the lowering passes; without lanes of the tape (in halves, and in checkpointed loops inside a parallel one) it removes all marks.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::SourceId;
use stratape_ir::analysis::{Affine, DefUse, Polynomial, Term, Use, is_sum, ordered_terms, uses};
use stratape_ir::{
    Binary, Block, Carried, Function, Half, Init, Loop, Object, ObjectId, Op, Origin, Parts, Place,
    Range, Scalar, Schedule, Step, Stmt, Type, ValueId, Window,
};

/// A loop that can be divided, and the carried sums of the primal that must be taken out of it first.
#[derive(Clone, Debug)]
struct Draft {
    windows: Vec<(ObjectId, Window)>,
    copied: Vec<ObjectId>,
    ordered: Vec<(Carried, Vec<Term>)>,
    from: Polynomial,
}

/// The pass.
pub const PRIVATIZE: Pass = Pass {
    name: "privatize",
    after: &["reorderable"],
    promise: Promise::AdjointBits,
    required: true,
    run: privatize,
};

/// Decides which marked loops run in parts; takes the marks of all others away.
fn privatize(function: &mut Function, cx: &mut Context<'_>) {
    // Without lanes of the tape, parts run one after the other.
    let drafts = if cx.lanes { drafts(function) } else { HashMap::new() };
    let mut body = std::mem::take(&mut function.body);
    rewrite(function, &mut body, &drafts, cx);
    function.body = body;
}

fn drafts(function: &Function) -> HashMap<ValueId, Draft> {
    let definitions = DefUse::new(function);
    let affine = Affine::new(function, &definitions);
    let mut banned = HashSet::new();
    loop {
        let mut survey = Survey { drafts: HashMap::new(), on_tape: HashMap::new() };
        survey.block(function, &affine, &function.body, &banned, false);
        let before = banned.len();
        for counters in survey.on_tape.values() {
            let all = counters.iter().all(|counter| survey.drafts.contains_key(counter));
            if !all {
                banned.extend(counters.iter().filter(|one| survey.drafts.contains_key(one)));
            }
        }
        if banned.len() == before {
            return survey.drafts;
        }
    }
}

struct Survey {
    drafts: HashMap<ValueId, Draft>,
    /// For each mark: the loops that use the tape.
    on_tape: HashMap<u32, Vec<ValueId>>,
}

impl Survey {
    fn block(
        &mut self,
        function: &Function,
        affine: &Affine<'_>,
        block: &Block,
        banned: &HashSet<ValueId>,
        inside: bool,
    ) {
        for node in block {
            let mut inside = inside;
            if let Stmt::Loop(repeat) = node
                && let Some(parallel) = repeat.parallel
            {
                if node.uses_tape(Half::Forward) || node.uses_tape(Half::Backward) {
                    self.on_tape.entry(parallel.number).or_default().push(repeat.counter);
                }
                if !inside
                    && !banned.contains(&repeat.counter)
                    && let Some(draft) = draft(function, affine, repeat)
                {
                    self.drafts.insert(repeat.counter, draft);
                    inside = true;
                }
            }
            for inner in node.blocks() {
                self.block(function, affine, inner, banned, inside);
            }
        }
    }
}

fn draft(function: &Function, affine: &Affine<'_>, node: &Loop) -> Option<Draft> {
    let Range::UpTo { from, .. } = node.range else { return None };
    let fits = node.exit.is_none() && node.trips.is_none();
    if !fits || function.ty(node.counter) != Scalar::USIZE {
        return None;
    }
    let (mut windows, mut copied) = (Vec::new(), Vec::new());
    for (object, found) in uses(function, affine, node) {
        match found {
            Use::Read => {}
            Use::Window(window) => {
                let usize_only = |polynomial: &Polynomial| {
                    polynomial.symbols().all(|symbol| function.ty(symbol) == Scalar::USIZE)
                };
                if !usize_only(&window.stride) || !usize_only(&window.base) {
                    return None;
                }
                windows.push((object, window));
            }
            // A sum of the primal keeps its order.
            Use::Sum if function.holds_adjoints(object) && can_be_copied(function, object) => {
                copied.push(object);
            }
            Use::Sum | Use::Mixed => return None,
        }
    }
    let mut ordered = Vec::new();
    for carried in &node.carried {
        let free = function.is_free(carried) && is_sum(node, carried);
        if !free {
            ordered.push((*carried, ordered_terms(node, carried)?));
        }
    }
    Some(Draft { windows, copied, ordered, from: affine.of(from) })
}

/// Whether zeros in the shape of an object can be made and added to it again.
fn can_be_copied(function: &Function, object: ObjectId) -> bool {
    let object = &function.objects[object.index()];
    match &object.ty {
        Type::Slice(item) | Type::Vec(item) => item.is_fixed(),
        // Behind a reference: a part's copy is behind one too.
        Type::Scalar(_) => object.origin == Origin::RefMut,
        ty => ty.is_fixed(),
    }
}

fn rewrite(
    function: &mut Function,
    block: &mut Block,
    drafts: &HashMap<ValueId, Draft>,
    cx: &mut Context<'_>,
) {
    let mut out = Block::new();
    for mut node in std::mem::take(block) {
        for inner in node.blocks_mut() {
            rewrite(function, inner, drafts, cx);
        }
        match node {
            Stmt::Loop(mut repeat) => match drafts.get(&repeat.counter) {
                Some(draft) => {
                    cx.applied(repeat.span, "runs in parts");
                    let after = take_apart(function, &mut repeat, draft, &mut out);
                    out.push(Stmt::Loop(repeat));
                    out.extend(after);
                }
                None => {
                    if repeat.parallel.take().is_some() && cx.lanes {
                        cx.missed(
                            repeat.span,
                            "not in parts: its memory cannot be divided, or another loop of the same mark cannot",
                        );
                    }
                    out.push(Stmt::Loop(repeat));
                }
            },
            node => out.push(node),
        }
    }
    *block = out;
}

/// Gives a loop its clause. Returns what comes after it.
fn take_apart(
    function: &mut Function,
    node: &mut Loop,
    draft: &Draft,
    before: &mut Block,
) -> Block {
    let whole = match node.range {
        Range::UpTo { from, to } => (from, to),
        Range::Forever => (node.counter, node.counter),
    };
    let mut windows = draft.windows.clone();
    let mut after = Block::new();
    for (carried, terms) in &draft.ordered {
        let (object, size) = terms_of(function, node, carried, terms, whole, before, &mut after);
        let stride = Polynomial::number(size);
        let base = Polynomial::default().minus(&stride.times(&draft.from));
        windows.push((object, Window { stride, base }));
    }
    node.carried.retain(|carried| {
        draft.ordered.iter().all(|(ordered, _)| ordered.inside != carried.inside)
    });
    let parts = Parts { windows, private: draft.copied.clone() };
    node.schedule = Some(Box::new(Schedule { parts: Some(parts), ..Schedule::default() }));
    after
}

fn literal(function: &mut Function, ty: Scalar, span: SourceId, block: &mut Block) -> ValueId {
    let value = function.new_value(ty, span);
    block.push(Stmt::Let { value, op: Op::Float(0.0, "0.0".to_owned()) });
    value
}

fn emit(function: &mut Function, block: &mut Block, op: Op, span: SourceId) -> ValueId {
    let value = function.new_value(Scalar::USIZE, span);
    block.push(Stmt::Let { value, op });
    value
}

/// The terms of a sum as a list, `size` of them for each iteration from `from` on.
struct Terms {
    object: ObjectId,
    size: i128,
    from: ValueId,
    span: SourceId,
}

impl Terms {
    /// Where an iteration has its term of a number.
    fn place(
        &self,
        function: &mut Function,
        block: &mut Block,
        counter: ValueId,
        number: usize,
    ) -> Place {
        let mut emit = |op| emit(function, block, op, self.span);
        let index = emit(Op::Binary(Binary::Sub, counter, self.from));
        let size = emit(Op::Int(self.size));
        let index = emit(Op::Binary(Binary::Mul, index, size));
        let number = emit(Op::Int(number as i128));
        let index = emit(Op::Binary(Binary::Add, index, number));
        Place::whole(self.object).with(Step::Index(index))
    }
}

/// Makes a list of a sum's terms: it is made before the loop, written in it, and added up after it. Returns the list,
/// and how many of its elements an iteration writes.
fn terms_of(
    function: &mut Function,
    node: &mut Loop,
    carried: &Carried,
    terms: &[Term],
    (from, to): (ValueId, ValueId),
    before: &mut Block,
    after: &mut Block,
) -> (ObjectId, i128) {
    let (span, ty) = (node.span, function.ty(carried.inside));
    let size = terms.len() as i128;
    let object = function.new_object(Object {
        ty: Type::Vec(Box::new(Type::Scalar(ty))),
        origin: Origin::Local,
        name: "terms".to_owned(),
        shadow_of: None,
        span,
    });
    let zero = literal(function, ty, span, before);
    let many = emit(function, before, Op::Int(size), span);
    let trips = Op::Method("saturating_sub".to_owned(), vec![to, from]);
    let trips = emit(function, before, trips, span);
    let length = emit(function, before, Op::Binary(Binary::Mul, trips, many), span);
    before.push(Stmt::New { object, init: Init::Repeat(Box::new(Init::Value(zero)), length) });
    let list = Terms { object, size, from, span };
    let mut body = Block::new();
    for item in std::mem::take(&mut node.body) {
        let number = terms
            .iter()
            .position(|term| matches!(&item, Stmt::Let { value, .. } if *value == term.sum));
        match number {
            Some(number) => {
                let place = list.place(function, &mut body, node.counter, number);
                body.push(Stmt::Store { place, value: terms[number].value });
            }
            None => body.push(item),
        }
    }
    node.body = body;
    after.push(Stmt::Loop(Box::new(adding(function, node, carried, terms, &list, to))));
    (object, size)
}

/// The loop that adds the terms of a sum, in the order in which the loop they come from would have.
fn adding(
    function: &mut Function,
    node: &Loop,
    carried: &Carried,
    terms: &[Term],
    list: &Terms,
    to: ValueId,
) -> Loop {
    let counter = function.new_value(Scalar::USIZE, node.span);
    let inside = function.new_value_like(carried.inside);
    let mut body = Block::new();
    let mut sum = inside;
    for (number, term) in terms.iter().enumerate() {
        let place = list.place(function, &mut body, counter, number);
        let value = function.new_value(function.ty(inside), node.span);
        body.push(Stmt::Let { value, op: Op::Load(place) });
        let next = function.new_value_like(carried.inside);
        let sign = if term.subtract { Binary::Sub } else { Binary::Add };
        body.push(Stmt::Let { value: next, op: Op::Binary(sign, sum, value) });
        sum = next;
    }
    Loop {
        counter,
        range: Range::UpTo { from: list.from, to },
        reversed: node.reversed,
        unordered: false,
        carried: vec![Carried { init: carried.init, inside, next: sum, after: carried.after }],
        exit: None,
        trips: None,
        parallel: None,
        schedule: None,
        body,
        span: node.span,
    }
}
