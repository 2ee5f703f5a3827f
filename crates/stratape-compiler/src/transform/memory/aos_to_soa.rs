//! Array of structs to struct of arrays, by copying before a nest over pairs.
//!
//! ```text
//! for i { for j { … p[2 * i] … p[2 * i + 1] … p[2 * j] … p[2 * j + 1] … } }
//! →  p_0 = every second of p from 0; p_1 = every second of p from 1;  for i { for j { … p_0[i] … p_1[i] … p_0[j] … p_1[j] … } }
//! ```
//!
//! In `x y x y …` fields, not neighbours, lie side by side, and vector instructions would have to shuffle them. The copies cost one pass and
//! are read as often as there are points; the adjoint keeps its sums apart in the same way, without a rule of its own.
//!
//! Legal for arrays that the nest does not write, read at `k * counter + 0 … k * counter + k - 1` by two loops, one inside the other. The
//! copies hold what the array holds and no more: an index is out of bounds where it was before. Pays up to `Target::soa_fields` fields
//! (docs/performance.md: gravity, nbody). Runs after `cse`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::driver::{Context, Pass, Promise, Target};
use stratape_ir::SourceId;
use stratape_ir::analysis::{Affine, DefUse};
use stratape_ir::{
    Binary, Block, Check, Compare, Function, If, Init, Loop, Object, ObjectId, Op, Origin, Place,
    Scalar, Step, Stmt, StmtId, StridedCopy, Type, ValueId,
};

/// The pass.
pub const AOS_TO_SOA: Pass = Pass {
    name: "aos_to_soa",
    after: &["cse"],
    promise: Promise::SameBits,
    required: false,
    run: aos_to_soa,
};

/// Copies arrays of records to one array per field.
fn aos_to_soa(function: &mut Function, cx: &mut Context<'_>) {
    let plans = {
        let definitions = DefUse::new(function);
        let affine = Affine::new(function, &definitions);
        let mut plans = HashMap::new();
        find(function, &affine, &function.body, cx.target, &mut plans);
        plans
    };
    for plan in plans.values() {
        for split in &plan.objects {
            let known = &function.objects[split.object.index()];
            cx.applied(
                known.span,
                format!("`{}` is copied to {} arrays", known.name, split.fields),
            );
        }
    }
    if !plans.is_empty() {
        let mut body = std::mem::take(&mut function.body);
        rewrite(function, &plans, &mut body);
        function.body = body;
    }
}

/// What is copied before a nest.
#[derive(Default)]
struct Plan {
    objects: Vec<Split>,
    /// For the indices of loads: the counter and the field they are.
    places: Places,
}

type Places = HashMap<ValueId, (ValueId, usize)>;

struct Split {
    object: ObjectId,
    ty: Scalar,
    fields: usize,
}

/// The outermost nests that gain, by the counters of their outermost loops.
fn find(
    function: &Function,
    affine: &Affine<'_>,
    block: &Block,
    target: &Target,
    plans: &mut HashMap<ValueId, Plan>,
) {
    for node in block {
        if let Stmt::Loop(nest) = node {
            let plan = plan(function, affine, nest, target);
            if !plan.objects.is_empty() {
                plans.insert(nest.counter, plan);
                continue;
            }
        }
        for inner in node.blocks() {
            find(function, affine, inner, target, plans);
        }
    }
}

/// What is known of a nest's accesses.
#[derive(Default)]
struct Seen {
    /// The arrays that are only read, at elements; for each, its indices.
    loads: BTreeMap<ObjectId, Vec<Access>>,
    /// Arrays that are used otherwise.
    others: BTreeSet<ObjectId>,
    /// The counters of the loops around each loop, by its own.
    around: HashMap<ValueId, Vec<ValueId>>,
}

struct Access {
    index: ValueId,
    /// Whether it happens in every iteration of the loops around it.
    always: bool,
}

fn plan(function: &Function, affine: &Affine<'_>, nest: &Loop, target: &Target) -> Plan {
    let mut seen = Seen::default();
    if !seen.enter(function, nest, &mut Vec::new(), true) {
        return Plan::default();
    }
    let mut plan = Plan::default();
    for (object, accesses) in &seen.loads {
        let scalar = function.objects[object.index()].ty.element().and_then(Type::scalar);
        if let Some(ty) = scalar.filter(|scalar| scalar.is_float())
            && !seen.others.contains(object)
            && let Some((split, places)) = split(affine, &seen, (*object, ty), accesses, target)
        {
            plan.objects.push(split);
            plan.places.extend(places);
        }
    }
    plan
}

impl Seen {
    /// Reads a loop; false if it is none of a plain nest.
    fn enter(
        &mut self,
        function: &Function,
        node: &Loop,
        around: &mut Vec<ValueId>,
        always: bool,
    ) -> bool {
        let counts = function.ty(node.counter) == Scalar::USIZE;
        if node.exit.is_some() || node.parallel.is_some() || !counts {
            return false;
        }
        if always {
            self.around.insert(node.counter, around.clone());
        }
        around.push(node.counter);
        let read = self.block(function, &node.body, around, always);
        around.pop();
        read
    }

    fn block(
        &mut self,
        function: &Function,
        block: &Block,
        around: &mut Vec<ValueId>,
        always: bool,
    ) -> bool {
        for node in block {
            match node {
                Stmt::Let { op: Op::Len(_), .. } => {}
                Stmt::Let { op: Op::Load(place), .. } => match place.path[..] {
                    [Step::Index(index)] => {
                        let access = Access { index, always };
                        self.loads.entry(place.object).or_default().push(access);
                    }
                    _ => {
                        self.others.insert(place.object);
                    }
                },
                Stmt::Let { .. } => {}
                Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
                    self.others.insert(place.object);
                }
                Stmt::Loop(node) => {
                    if !self.enter(function, node, around, always) {
                        return false;
                    }
                }
                Stmt::If(node) => {
                    for inner in [&node.then, &node.other] {
                        if !self.block(function, inner, around, false) {
                            return false;
                        }
                    }
                }
                Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                    self.others.extend(objects.iter().map(|(_, object)| *object));
                }
                Stmt::Check { .. } => {}
                _ => return false,
            }
        }
        true
    }
}

/// How an array is taken apart, and what its indices are, if all of them are of the form.
fn split(
    affine: &Affine<'_>,
    seen: &Seen,
    (object, ty): (ObjectId, Scalar),
    accesses: &[Access],
    target: &Target,
) -> Option<(Split, Places)> {
    let mut places = Places::new();
    let mut stride = None;
    // The fields of each counter that are always read.
    let mut fields: BTreeMap<ValueId, BTreeSet<i128>> = BTreeMap::new();
    for access in accesses {
        let index = affine.of(access.index);
        let mut symbols = index.symbols();
        let (Some(counter), None) = (symbols.next(), symbols.next()) else { return None };
        let (factor, rest) = index.split(counter)?;
        let (factor, field) = (factor.as_number()?, rest.as_number()?);
        if !(2..=target.soa_fields).contains(&factor)
            || *stride.get_or_insert(factor) != factor
            || !(0..factor).contains(&field)
            || !seen.around.contains_key(&counter)
        {
            return None;
        }
        places.insert(access.index, (counter, field as usize));
        let known = fields.entry(counter).or_default();
        if access.always {
            known.insert(field);
        }
    }
    let stride = stride?;
    let whole = fields.values().all(|fields| fields.len() == stride as usize);
    let nested = fields.keys().any(|inner| {
        seen.around[inner].iter().any(|outer| outer != inner && fields.contains_key(outer))
    });
    (whole && nested).then_some((Split { object, ty, fields: stride as usize }, places))
}

fn rewrite(function: &mut Function, plans: &HashMap<ValueId, Plan>, block: &mut Block) {
    let mut out = Block::new();
    for mut node in std::mem::take(block) {
        match &mut node {
            Stmt::Loop(nest) if plans.contains_key(&nest.counter) => {
                let plan = &plans[&nest.counter];
                let mut copies = HashMap::new();
                for split in &plan.objects {
                    copies.insert(split.object, copy(function, split, nest.span, &mut out));
                }
                replace(&mut nest.body, plan, &copies);
            }
            node => {
                for inner in node.blocks_mut() {
                    rewrite(function, plans, inner);
                }
            }
        }
        out.push(node);
    }
    *block = out;
}

/// Lets loads read the copies.
fn replace(block: &mut Block, plan: &Plan, copies: &HashMap<ObjectId, Vec<ObjectId>>) {
    for node in block {
        if let Stmt::Let { op: Op::Load(place), .. } = node
            && let Some(copies) = copies.get(&place.object)
            && let [Step::Index(index)] = place.path[..]
            && let Some((counter, field)) = plan.places.get(&index)
        {
            *place = Place::whole(copies[*field]).with(Step::Index(*counter));
        }
        for inner in node.blocks_mut() {
            replace(inner, plan, copies);
        }
    }
}

/// Appends what copies an array; returns the copies, one a field.
fn copy(function: &mut Function, split: &Split, span: SourceId, out: &mut Block) -> Vec<ObjectId> {
    let (ty, name) = (split.ty, function.objects[split.object.index()].name.clone());
    let fields = split.fields;
    let define = |function: &mut Function, out: &mut Block, ty: Scalar, op: Op| {
        function.define(out, ty, op, span)
    };
    let usize = Scalar::USIZE;
    let number = |function: &mut Function, out: &mut Block, n: usize| {
        define(function, out, usize, Op::Int(n as i128))
    };
    let stride = number(function, out, fields);
    let zero = define(function, out, ty, Op::Float(0.0, "0.0".to_owned()));
    let len = define(function, out, usize, Op::Len(Place::whole(split.object)));
    let points = define(function, out, usize, Op::Binary(Binary::Div, len, stride));
    let mut copies = Vec::new();
    for field in 0..fields {
        let object = function.new_object(Object {
            ty: Type::Vec(Box::new(Type::Scalar(ty))),
            origin: Origin::Local,
            name: format!("{name}_{field}"),
            shadow_of: None,
            span,
        });
        // A last point may lack its last fields.
        let missing = number(function, out, fields - 1 - field);
        let reach = define(function, out, usize, Op::Binary(Binary::Add, len, missing));
        let count = define(function, out, usize, Op::Binary(Binary::Div, reach, stride));
        let init = Init::Repeat(Box::new(Init::Value(zero)), count);
        out.push(Stmt::New { object, init });
        let known = StridedCopy { of: split.object, stride: fields, offset: field };
        function.strided_copies.insert(object, known);
        copies.push(object);
    }
    let copy_one = |function: &mut Function, out: &mut Block, point: ValueId, field: usize| {
        let start = define(function, out, usize, Op::Binary(Binary::Mul, stride, point));
        let offset = number(function, out, field);
        let index = define(function, out, usize, Op::Binary(Binary::Add, start, offset));
        let place = Place::whole(split.object).with(Step::Index(index));
        let value = define(function, out, ty, Op::Load(place));
        let place = Place::whole(copies[field]).with(Step::Index(point));
        out.push(Stmt::Store { place, value });
    };
    let counter = function.new_value(usize, span);
    let mut body = Block::new();
    (0..fields).for_each(|field| copy_one(function, &mut body, counter, field));
    let from = number(function, out, 0);
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (from, points), body, span))));
    let rest = define(function, out, usize, Op::Binary(Binary::Rem, len, stride));
    for field in 0..fields - 1 {
        let mut then = Block::new();
        copy_one(function, &mut then, points, field);
        let field = number(function, out, field);
        let condition = define(function, out, Scalar::Bool, Op::Compare(Compare::Gt, rest, field));
        let (other, merges) = (Block::new(), Vec::new());
        out.push(Stmt::If(Box::new(If { id: StmtId::NONE, condition, then, other, merges, span })));
    }
    copies
}
