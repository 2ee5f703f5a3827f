//! Loops under `#[checkpoint]` become functions of their own.
//!
//! A loop whose backward half starts from snapshots cannot leave values behind for it like any other loop. So its body is taken out: a
//! function of the number of the iteration, the carried values, the values and lists from outside that it uses, with the
//! carried values as its results. What it carries from one iteration to the next is *all* of that: the carried values and the lists
//! it writes. Nothing else can be changed by an iteration, so that a snapshot that holds too little cannot be.
//!
//! In the place of the loop stands a call in two halves, as of a function that calls itself: the forward half runs the loop and stores
//! snapshots, the backward half runs iterations again and reverses each by the gradient of the body.
//!
//! Lists are passed as slices. A number in memory (a field of a struct) goes through a list of one.

mod exchange;
mod rotation;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use stratape_ir::analysis::{Conflict, DefUse};

use self::exchange::exchange_elements;
use self::rotation::close_gaps;
use crate::front::half_name;
use stratape_ir::{
    Argument, Block, Call, Check, Checkpoint, Extent, Function, Half, Init, Loop, Object, ObjectId,
    Op, Origin, Param, Place, Range, Scalar, Slice, Step, Stmt, StmtId, Type, ValueId, defined,
    made, swapped, used, walk,
};
use stratape_ir::{Opaque, SourceId};

/// A loop that was taken out.
#[derive(Clone, Debug)]
pub struct TimeLoop {
    /// What its functions' names begin with.
    pub name: String,
    /// What the attribute says.
    pub checkpoint: Checkpoint,
    /// The loop as it was, without its body.
    pub node: Loop,
    /// Values from outside.
    pub frees: Vec<ValueId>,
    /// The lists, as parameters of the body.
    pub lists: Vec<List>,
    /// The body as a function, loops inside it taken out as well: what is differentiated.
    pub body: Function,
    /// The body as a function that is only run.
    pub plain: Function,
    /// Loops inside it.
    pub inner: Vec<TimeLoop>,
}

/// A list that the body uses.
#[derive(Clone, Debug)]
pub struct List {
    /// The body's parameter.
    pub object: ObjectId,
    /// The type of its elements.
    pub item: Type,
    /// Whether the body writes to it.
    pub mutable: bool,
}

/// Takes the marked loops of a function out.
///
/// # Errors
/// At what cannot be carried from one iteration to the next.
pub fn outline(function: &mut Function) -> Result<Vec<TimeLoop>, Conflict> {
    let checkpoints = std::mem::take(&mut function.checkpoints);
    if checkpoints.is_empty() {
        return Ok(Vec::new());
    }
    let zeros = zeros(&function.body);
    let mut outliner = Outliner { checkpoints, zeros, loops: Vec::new() };
    let mut body = std::mem::take(&mut function.body);
    let outcome = outliner.block(function, &mut body);
    function.body = body;
    outcome.map(|()| outliner.loops)
}

struct Outliner {
    checkpoints: Vec<(ValueId, Checkpoint)>,
    /// The values that are 0.
    zeros: HashSet<ValueId>,
    loops: Vec<TimeLoop>,
}

impl Outliner {
    fn block(&mut self, function: &mut Function, block: &mut Block) -> Result<(), Conflict> {
        for mut node in std::mem::take(block) {
            if let Stmt::Loop(marked) = &mut node
                && let Some(checkpoint) = self.checkpoint_of(marked.counter)
            {
                let instead = self.take_out(function, marked, checkpoint, block)?;
                block.extend(instead);
                continue;
            }
            for inner in node.blocks_mut() {
                self.block(function, inner)?;
            }
            block.push(node);
        }
        Ok(())
    }

    fn checkpoint_of(&mut self, counter: ValueId) -> Option<Checkpoint> {
        let at = self.checkpoints.iter().position(|(marked, _)| *marked == counter)?;
        Some(self.checkpoints.swap_remove(at).1)
    }

    /// The nodes that stand for a loop.
    fn take_out(
        &mut self,
        function: &mut Function,
        node: &mut Loop,
        checkpoint: Checkpoint,
        before: &[Stmt],
    ) -> Result<Vec<Stmt>, Conflict> {
        let name = format!("{}_loop{}", function.name.trim_start_matches("r#"), self.loops.len());
        let mut body = std::mem::take(&mut node.body);
        let own = made(&body);
        close_gaps(&mut body, &own, &self.zeros);
        exchange_elements(function, &mut body, &own, checkpoint.span);
        let lists = Lists::new(function, &body, checkpoint.span)?;
        let outer = Function { body: before.to_vec(), ..function.clone() };
        let mut plain = Function {
            name: format!("{name}_body"),
            params: Vec::new(),
            results: node.carried.iter().map(|carried| carried.next).chain(node.exit).collect(),
            body,
            ..function.clone()
        };
        plain.checkpoints.clear();
        lists.rewrite(&mut plain);
        let frees = free_values(node, &mut plain, &outer, &lists);
        name_params(&mut plain, node, &frees);
        plain.params = std::iter::once(node.counter)
            .chain(node.carried.iter().map(|carried| carried.inside))
            .chain(frees.iter().copied())
            .map(Param::Value)
            .chain(lists.known.values().map(|known| Param::Object(known.param)))
            .collect();
        let mut body = plain.clone();
        let mut inner = Self {
            checkpoints: std::mem::take(&mut self.checkpoints),
            zeros: self.zeros.clone(),
            loops: Vec::new(),
        };
        let mut nodes = std::mem::take(&mut body.body);
        inner.block(&mut body, &mut nodes)?;
        body.body = nodes;
        self.checkpoints = inner.checkpoints;
        let nodes = lists.call(function, &name, node, &checkpoint, &frees);
        self.loops.push(TimeLoop {
            name,
            checkpoint,
            node: node.clone(),
            frees,
            lists: lists.known.into_values().map(Known::list).collect(),
            body,
            plain,
            inner: inner.loops,
        });
        Ok(nodes)
    }
}

/// Parameters must have names that differ.
fn name_params(function: &mut Function, node: &Loop, frees: &[ValueId]) {
    let all = std::iter::once(node.counter)
        .chain(node.carried.iter().map(|carried| carried.inside))
        .chain(frees.iter().copied());
    for value in all {
        let known = &mut function.values[value.index()];
        let name = known.name.as_deref().unwrap_or("t");
        known.name = Some(format!("{name}_{}", value.index()));
    }
}

/// Values from outside that the body uses. Literals and lengths of lists are computed again inside.
fn free_values(node: &Loop, body: &mut Function, outer: &Function, lists: &Lists) -> Vec<ValueId> {
    let mut inside: HashSet<ValueId> = defined(&body.body);
    inside.insert(node.counter);
    inside.extend(node.carried.iter().map(|carried| carried.inside));
    let mut wanted: BTreeSet<ValueId> = used(&body.body).into_iter().collect();
    wanted.extend(body.results.iter().copied());
    let (definitions, swapped) = (DefUse::new(outer), swapped(&outer.body));
    let mut frees = Vec::new();
    let mut again = Vec::new();
    for value in wanted.difference(&inside.into_iter().collect()) {
        let inside = match definitions.op(*value) {
            Some(op) if op.is_constant() => Some(op.clone()),
            Some(Op::Len(place)) if place.path.is_empty() && !swapped.contains(&place.object) => {
                lists.param(place.object).map(|list| Op::Len(Place::whole(list)))
            }
            _ => None,
        };
        match inside {
            Some(op) => again.push(Stmt::Let { value: *value, op }),
            None => frees.push(*value),
        }
    }
    body.body.splice(0..0, again);
    frees
}

/// A list or a number in memory: an object and fields down to it.
type Leaf = (ObjectId, Vec<usize>);

struct Known {
    param: ObjectId,
    item: Type,
    mutable: bool,
    /// Whether it is one number, passed in a list of one.
    single: Option<Scalar>,
    span: SourceId,
}

impl Known {
    fn list(self) -> List {
        List { object: self.param, item: self.item, mutable: self.mutable }
    }
}

/// The memory from outside that a body uses.
struct Lists {
    known: BTreeMap<Leaf, Known>,
    /// Objects that the body makes itself.
    own: HashSet<ObjectId>,
    span: SourceId,
}

impl Lists {
    fn new(function: &mut Function, body: &Block, span: SourceId) -> Result<Self, Conflict> {
        let mut lists = Self { known: BTreeMap::new(), own: made(body), span };
        let mut places: Vec<(Place, bool)> = Vec::new();
        walk(body, &mut |node| {
            places.extend(node.read().into_iter().map(|place| (place.clone(), false)));
            places.extend(node.written().into_iter().map(|place| (place.clone(), true)));
            match node {
                Stmt::Let { op: Op::Len(place), .. } => places.push((place.clone(), false)),
                Stmt::New { init, .. } => {
                    copied(init, &mut |place| places.push((place.clone(), false)));
                }
                Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                    places.extend(objects.iter().map(|(_, object)| (Place::whole(*object), false)));
                }
                _ => {}
            }
        });
        for (place, written) in places {
            lists.add(function, &place, written)?;
        }
        for ((object, _), known) in &lists.known {
            if known.mutable && !is_plain(&known.item) {
                let name = &function.objects[object.index()].name;
                return Err(lists.refuse(name, &known.item));
            }
        }
        Ok(lists)
    }

    fn add(
        &mut self,
        function: &mut Function,
        place: &Place,
        written: bool,
    ) -> Result<(), Conflict> {
        if self.own.contains(&place.object) {
            return Ok(());
        }
        let (leaf, ty) = self.leaf(function, place)?;
        if let Some(known) = self.known.get_mut(&leaf) {
            known.mutable |= written;
            return Ok(());
        }
        let object = function.objects[place.object.index()].clone();
        let (item, single, list) = match ty {
            Type::Scalar(scalar) => {
                let list = Type::Array(Box::new(ty.clone()), Extent::Known(1));
                (ty.clone(), Some(scalar), list)
            }
            Type::Array(item, extent) => ((*item).clone(), None, Type::Array(item, extent)),
            Type::Slice(item) | Type::Vec(item) => ((*item).clone(), None, Type::Slice(item)),
            other => return Err(self.refuse(&object.name, &other)),
        };
        if !is_copied(&item) {
            return Err(self.refuse(&object.name, &item));
        }
        let fields: String = leaf.1.iter().map(|field| format!("_{field}")).collect();
        let param = function.new_object(Object {
            ty: list,
            origin: Origin::Ref,
            name: format!("{}{fields}_{}", object.name, place.object.index()),
            shadow_of: None,
            span: object.span,
        });
        let known = Known { param, item, mutable: written, single, span: object.span };
        self.known.insert(leaf, known);
        Ok(())
    }

    /// The list or number that a place is in, and its type.
    fn leaf(&self, function: &Function, place: &Place) -> Result<(Leaf, Type), Conflict> {
        let object = &function.objects[place.object.index()];
        let mut ty = &object.ty;
        let mut fields = Vec::new();
        for step in &place.path {
            match (ty, step) {
                (Type::Struct(_) | Type::Tuple(_), Step::Field(field)) => {
                    fields.push(*field);
                    ty = ty.field(*field).unwrap_or(ty);
                }
                _ => break,
            }
        }
        if matches!(ty, Type::Struct(_) | Type::Tuple(_) | Type::Enum(_)) {
            return Err(self.refuse(&object.name, ty));
        }
        Ok(((place.object, fields), ty.clone()))
    }

    fn refuse(&self, name: &str, ty: &Type) -> Conflict {
        Conflict {
            span: self.span,
            message: format!(
                "a snapshot of this loop cannot hold `{name}`, which is or has a `{ty}`: numbers, fields that are numbers, and lists of \
                 numbers, of arrays and tuples of numbers, and of structs that the function makes itself can be carried from one iteration to the next"
            ),
        }
    }

    /// The parameter that stands for a list.
    fn param(&self, object: ObjectId) -> Option<ObjectId> {
        self.known.get(&(object, Vec::new())).map(|known| known.param)
    }

    /// Lets the body use its parameters instead of the memory outside.
    fn rewrite(&self, body: &mut Function) {
        for known in self.known.values() {
            if known.mutable {
                body.objects[known.param.index()].origin = Origin::RefMut;
            }
        }
        let zero = body.new_value(Scalar::USIZE, SourceId::NONE);
        let mut nodes = std::mem::take(&mut body.body);
        self.rewrite_block(&mut nodes, zero);
        nodes.insert(0, Stmt::Let { value: zero, op: Op::Int(0) });
        body.body = nodes;
    }

    fn rewrite_block(&self, block: &mut Block, zero: ValueId) {
        for node in block {
            match node {
                Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
                | Stmt::Store { place, .. }
                | Stmt::Accumulate { place, .. }
                | Stmt::Save { slice: Slice { place, .. }, .. } => self.rewrite_place(place, zero),
                Stmt::New { init, .. } => self.rewrite_init(init, zero),
                Stmt::Call(call) => {
                    for argument in &mut call.arguments {
                        if let Argument::Slice(slice) = argument {
                            self.rewrite_place(&mut slice.place, zero);
                        }
                    }
                }
                Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                    for (_, object) in objects {
                        *object = self.param(*object).unwrap_or(*object);
                    }
                }
                _ => {}
            }
            for inner in node.blocks_mut() {
                self.rewrite_block(inner, zero);
            }
        }
    }

    fn rewrite_init(&self, init: &mut Init, zero: ValueId) {
        match init {
            Init::Copy(place) => self.rewrite_place(place, zero),
            Init::Items(items) => items.iter_mut().for_each(|item| self.rewrite_init(item, zero)),
            Init::Fill(item) | Init::Repeat(item, _) => self.rewrite_init(item, zero),
            Init::ZeroLike(object) => {
                *object = self.param(*object).unwrap_or(*object);
            }
            Init::Value(_) => {}
        }
    }

    fn rewrite_place(&self, place: &mut Place, zero: ValueId) {
        let mut fields = Vec::new();
        for step in &place.path {
            match step {
                Step::Field(field) => fields.push(*field),
                Step::Index(_) => break,
            }
        }
        while !self.known.contains_key(&(place.object, fields.clone())) {
            if fields.pop().is_none() {
                return;
            }
        }
        let Some(known) = self.known.get(&(place.object, fields.clone())) else { return };
        let mut path = place.path.split_off(fields.len());
        if known.single.is_some() {
            path.insert(0, Step::Index(zero));
        }
        *place = Place { object: known.param, path };
    }

    /// The call that stands for the loop, between what takes single numbers to it and back.
    fn call(
        &self,
        function: &mut Function,
        name: &str,
        node: &Loop,
        checkpoint: &Checkpoint,
        frees: &[ValueId],
    ) -> Vec<Stmt> {
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut arguments: Vec<Argument> =
            checkpoint.numbers.iter().map(|(_, value)| Argument::Value(*value)).collect();
        if let Range::UpTo { from, to } = node.range {
            arguments.extend([from, to].map(Argument::Value));
        }
        arguments.extend(node.carried.iter().map(|carried| Argument::Value(carried.init)));
        arguments.extend(frees.iter().copied().map(Argument::Value));
        for ((object, fields), known) in &self.known {
            let path = fields.iter().map(|field| Step::Field(*field)).collect();
            let place = Place { object: *object, path };
            let passed = match known.single {
                None => place,
                Some(scalar) => {
                    let list = single(function, scalar, known, &place, &mut before);
                    if known.mutable {
                        let zero = function.new_value(Scalar::USIZE, known.span);
                        let value = function.new_value(scalar, known.span);
                        let first = Place::whole(list).with(Step::Index(zero));
                        after.push(Stmt::Let { value: zero, op: Op::Int(0) });
                        after.push(Stmt::Let { value, op: Op::Load(first) });
                        after.push(Stmt::Store { place, value });
                    }
                    Place::whole(list)
                }
            };
            // With its length as a value, which the backward half can have when the list is gone.
            let zero = function.new_value(Scalar::USIZE, known.span);
            let len = function.new_value(Scalar::USIZE, known.span);
            before.push(Stmt::Let { value: zero, op: Op::Int(0) });
            before.push(Stmt::Let { value: len, op: Op::Len(passed.clone()) });
            let part = Some((zero, len));
            arguments.push(Argument::Slice(Slice { place: passed, part, mutable: known.mutable }));
        }
        let half = |half: &str| Opaque::new(&half_name(name, half));
        before.push(Stmt::Call(Box::new(Call {
            id: StmtId::NONE,
            function: half("forward"),
            arguments,
            results: node.carried.iter().map(|carried| carried.after).chain(node.trips).collect(),
            pullback: Some(half("backward")),
            recursion: Some((name.to_owned(), Half::Forward)),
            span: node.span,
        })));
        before.extend(after);
        before
    }
}

/// The values that are 0.
fn zeros(block: &[Stmt]) -> HashSet<ValueId> {
    let mut zeros = HashSet::new();
    walk(block, &mut |node| {
        if let Stmt::Let { value, op: Op::Int(0) } = node {
            zeros.insert(*value);
        }
    });
    zeros
}

/// A list of one number, made before the loop.
fn single(
    function: &mut Function,
    scalar: Scalar,
    known: &Known,
    place: &Place,
    before: &mut Vec<Stmt>,
) -> ObjectId {
    let value = function.new_value(scalar, known.span);
    before.push(Stmt::Let { value, op: Op::Load(place.clone()) });
    let object = function.new_object(Object {
        ty: Type::Array(Box::new(Type::Scalar(scalar)), Extent::Known(1)),
        origin: Origin::Local,
        name: "single".to_owned(),
        shadow_of: None,
        span: known.span,
    });
    before.push(Stmt::New { object, init: Init::Items(vec![Init::Value(value)]) });
    object
}

/// Whether a snapshot can hold elements of the type.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(item, _) => is_plain(item),
        Type::Tuple(items) => (1..=MOST_PARTS).contains(&items.len()) && items.iter().all(is_plain),
        _ => false,
    }
}

/// Whether a list of such elements can be copied once.
fn is_copied(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(item, _) => is_copied(item),
        Type::Tuple(items) => items.iter().all(is_copied),
        Type::Struct(def) => def.fields.iter().all(|(_, ty)| is_copied(ty)),
        _ => false,
    }
}

/// The parts of the longest tuple that a snapshot can hold.
const MOST_PARTS: usize = 12;

fn copied(init: &Init, f: &mut dyn FnMut(&Place)) {
    match init {
        Init::Copy(place) => f(place),
        Init::Items(items) => items.iter().for_each(|item| copied(item, f)),
        Init::Fill(item) | Init::Repeat(item, _) => copied(item, f),
        Init::ZeroLike(object) => f(&Place::whole(*object)),
        Init::Value(_) => {}
    }
}
