//! Lists of structs, tuples and short arrays, one list for each field.
//!
//! ```text
//! new @p = vec![(x, y); n];  for i { … @p[i].0 … @p[i].1 = z }   →   new @p0 = vec![x; n];  new @p1 = vec![y; n];  for i { … @p0[i] … @p1[i] = z }
//! ```
//!
//! A list of numbers can go to the tape as it is, when it is about to be overwritten, and a loop over it fills vectors; of a list of structs a field is saved
//! where it is used. A field that nobody reads is gone.
//!
//! Legal for a local list that is only made, measured, exchanged with another such list, and read, written and copied field by field; the fields of an array by numbers. One that begins as a copy of
//! a list of structs from outside is filled by a loop.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::DefUse;
use stratape_ir::{
    Block, Extent, Function, Init, Loop, Object, ObjectId, Op, Origin, Place, Scalar, SourceId,
    Step, Stmt, Type, made_twice, walk,
};

/// The pass.
pub const SPLIT_STRUCTS: Pass = Pass {
    name: "split_structs",
    after: &["forward_copies"],
    promise: Promise::SameBits,
    required: false,
    run: split_structs,
};

fn split_structs(function: &mut Function, cx: &mut Context<'_>) {
    // A field may be a struct again.
    loop {
        let definitions = DefUse::new(function);
        let lists = fit(function, &definitions);
        if lists.is_empty() {
            return;
        }
        let mut split = Split { definitions, parts: HashMap::new() };
        for list in lists {
            let known = function.objects[list.index()].clone();
            let Some((item, fields)) = fields(&known.ty) else { continue };
            let part = |(at, ty): (usize, Type)| {
                let name = format!("{}_{}", known.name, field_name(item, at));
                let ty = Type::Vec(Box::new(ty));
                let origin = Origin::Local;
                function.new_object(Object { ty, origin, name, shadow_of: None, span: known.span })
            };
            let parts = fields.into_iter().enumerate().map(part).collect();
            split.parts.insert(list, parts);
            cx.applied(known.span, format!("`{}` is a list for each field", known.name));
        }
        let body = std::mem::take(&mut function.body);
        function.body = split.block(function, body);
    }
}

/// The item of a list of structs or tuples, and the types of its fields.
fn fields(ty: &Type) -> Option<(&Type, Vec<Type>)> {
    let Type::Vec(item) = ty else { return None };
    let fields: Vec<Type> = match &**item {
        Type::Struct(def) => def.fields.iter().map(|(_, ty)| ty.clone()).collect(),
        Type::Tuple(items) => items.clone(),
        Type::Array(item, Extent::Known(len)) if *len <= FIELDS => vec![(**item).clone(); *len],
        _ => return None,
    };
    (!fields.is_empty() && fields.iter().all(is_plain)).then_some((item, fields))
}

/// The longest array whose elements are fields: a vector in space, a row of a small matrix.
const FIELDS: usize = 8;

/// Whether a type holds numbers, and no lists of a length that can change.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => true,
        Type::Array(item, _) => is_plain(item),
        Type::Tuple(items) => items.iter().all(is_plain),
        Type::Struct(def) => def.fields.iter().all(|(_, ty)| is_plain(ty)),
        Type::Slice(_) | Type::Vec(_) => false,
    }
}

fn field_name(item: &Type, at: usize) -> String {
    match item {
        Type::Struct(def) => def.fields[at].0.clone(),
        _ => at.to_string(),
    }
}

/// The lists that can be split.
fn fit(function: &Function, definitions: &DefUse) -> BTreeSet<ObjectId> {
    let twice = made_twice(&function.body);
    let mut made: BTreeMap<ObjectId, &Init> = BTreeMap::new();
    walk(&function.body, &mut |node| {
        if let Stmt::New { object, init } = node
            && fields(&function.objects[object.index()].ty).is_some()
            && !twice.contains(object)
            && !function.kept.contains(object)
        {
            made.insert(*object, init);
        }
    });
    let mut fit: BTreeSet<ObjectId> = made.keys().copied().collect();
    loop {
        let before = fit.len();
        fit.retain(|list| is_made_in_parts(function, made[list], *list));
        let mut refused: BTreeSet<ObjectId> = BTreeSet::new();
        walk(&function.body, &mut |node| {
            let uses = Uses { function, definitions, fit: &fit };
            refused.extend(fit.iter().filter(|list| !uses.is_in_parts(node, **list)));
        });
        fit.retain(|list| !refused.contains(list));
        if fit.len() == before {
            return fit;
        }
    }
}

/// Whether what a list begins as can be written field by field.
fn is_made_in_parts(function: &Function, init: &Init, list: ObjectId) -> bool {
    let ty = &function.objects[list.index()].ty;
    let Some((item, fields)) = fields(ty) else { return false };
    match init {
        Init::Repeat(init, _) => match &**init {
            Init::Items(items) => items.len() == fields.len(),
            Init::Fill(_) => true,
            Init::Copy(place) => place.object != list,
            _ => false,
        },
        Init::Copy(place) => {
            let same =
                |ty: &Type| matches!(ty, Type::Vec(other) | Type::Slice(other) if **other == *item);
            let numbers = fields.iter().all(|field| field.scalar().is_some());
            numbers && function.place_type(place).is_some_and(same)
        }
        _ => false,
    }
}

/// Which field of an item a step leads to.
fn field(definitions: &DefUse, step: &Step) -> Option<usize> {
    match step {
        Step::Field(field) => Some(*field),
        Step::Index(index) => match definitions.op(*index)? {
            Op::Int(field) => usize::try_from(*field).ok(),
            _ => None,
        },
    }
}

struct Uses<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    fit: &'a BTreeSet<ObjectId>,
}

impl Uses<'_> {
    /// Whether a statement uses a list in none but the ways that are known here.
    fn is_in_parts(&self, node: &Stmt, list: ObjectId) -> bool {
        match node {
            Stmt::Swap { a, b } if a.object == list || b.object == list => {
                let types = [a, b].map(|place| &self.function.objects[place.object.index()].ty);
                let whole =
                    |place: &&Place| place.path.is_empty() && self.fit.contains(&place.object);
                types[0] == types[1] && [a, b].iter().all(whole)
            }
            Stmt::New { object, init: Init::Copy(place) } if place.object == list => {
                self.by_field(place, list) || (place.path.is_empty() && self.fit.contains(object))
            }
            Stmt::Let { op: Op::Len(place), .. } => {
                self.by_field(place, list) || place.path.is_empty()
            }
            Stmt::Let { op: Op::Load(place), .. }
            | Stmt::Store { place, .. }
            | Stmt::Accumulate { place, .. } => self.by_field(place, list),
            node => {
                let places = node.written().into_iter().chain(node.read());
                !node.uses_whole(list) && places.into_iter().all(|place| place.object != list)
            }
        }
    }

    /// Whether a place is not in the list, or in one field of it.
    fn by_field(&self, place: &Place, list: ObjectId) -> bool {
        let known = |step: &Step| {
            let (_, fields) = fields(&self.function.objects[list.index()].ty)?;
            field(self.definitions, step).filter(|at| *at < fields.len())
        };
        place.object != list
            || matches!(&place.path[..], [Step::Index(_), step, ..] if known(step).is_some())
    }
}

struct Split {
    definitions: DefUse,
    parts: HashMap<ObjectId, Vec<ObjectId>>,
}

impl Split {
    fn block(&self, function: &mut Function, block: Block) -> Block {
        let mut out = Block::new();
        for mut node in block {
            match &mut node {
                Stmt::New { object, init } if self.parts.contains_key(object) => {
                    let (object, init) = (*object, init.clone());
                    self.make(function, object, &init, &mut out);
                    continue;
                }
                Stmt::Swap { a, b } => {
                    if let (Some(a), Some(b)) =
                        (self.parts.get(&a.object), self.parts.get(&b.object))
                    {
                        let pairs = a.iter().zip(b);
                        out.extend(
                            pairs.map(|(a, b)| Stmt::Swap {
                                a: Place::whole(*a),
                                b: Place::whole(*b),
                            }),
                        );
                        continue;
                    }
                }
                Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
                | Stmt::Store { place, .. }
                | Stmt::Accumulate { place, .. }
                | Stmt::New { init: Init::Copy(place), .. } => self.place(place),
                _ => {}
            }
            for inner in node.blocks_mut() {
                *inner = self.block(function, std::mem::take(inner));
            }
            out.push(node);
        }
        out
    }

    fn place(&self, place: &mut Place) {
        let Some(parts) = self.parts.get(&place.object) else { return };
        let at = place.path.get(1).and_then(|step| field(&self.definitions, step));
        // The length is that of every part.
        place.object = parts[at.unwrap_or(0)];
        if at.is_some() {
            place.path.remove(1);
        }
    }

    /// Makes the parts of a list.
    fn make(&self, function: &mut Function, list: ObjectId, init: &Init, out: &mut Block) {
        let parts = &self.parts[&list];
        match init {
            Init::Repeat(item, len) => {
                for (at, part) in parts.iter().enumerate() {
                    let item = match &**item {
                        Init::Items(items) => items[at].clone(),
                        Init::Fill(item) => (**item).clone(),
                        Init::Copy(from) => field_of(function, from, (at, *part), out),
                        item => item.clone(),
                    };
                    let init = Init::Repeat(Box::new(item), *len);
                    out.push(Stmt::New { object: *part, init });
                }
            }
            Init::Copy(from) => match self.parts.get(&from.object) {
                Some(others) => {
                    for (part, other) in parts.iter().zip(others) {
                        let init = Init::Copy(Place::whole(*other));
                        out.push(Stmt::New { object: *part, init });
                    }
                }
                None => copy(function, parts, from, out),
            },
            _ => {}
        }
    }
}

/// A field of what every item of a list begins as a copy of, for the list that is its part.
fn field_of(
    function: &mut Function,
    from: &Place,
    (field, part): (usize, ObjectId),
    out: &mut Block,
) -> Init {
    let Some(item) = function.place_type(from).cloned() else { return Init::Copy(from.clone()) };
    let step = step_to(function, &item, field, out);
    let place = from.with(step);
    match scalar(function, part) {
        Some(ty) => Init::Value(function.define(out, ty, Op::Load(place), SourceId::NONE)),
        None => Init::Copy(place),
    }
}

/// What leads from a struct, tuple or array to one of its fields.
fn step_to(function: &mut Function, item: &Type, field: usize, out: &mut Block) -> Step {
    match item {
        Type::Array(..) => {
            let index = Op::Int(field as i128);
            Step::Index(function.define(out, Scalar::USIZE, index, SourceId::NONE))
        }
        _ => Step::Field(field),
    }
}

/// Fills new lists with the fields of another.
fn copy(function: &mut Function, parts: &[ObjectId], from: &Place, out: &mut Block) {
    let span = function.objects[parts[0].index()].span;
    let index = Scalar::USIZE;
    let len = function.define(out, index, Op::Len(from.clone()), span);
    let zero = function.define(out, index, Op::Int(0), span);
    let counter = function.new_value(index, span);
    let mut body = Block::new();
    for (field, part) in parts.iter().enumerate() {
        let Some(ty) = scalar(function, *part) else { continue };
        let empty = function.define(out, ty, Op::zero(ty), span);
        let init = Init::Repeat(Box::new(Init::Value(empty)), len);
        out.push(Stmt::New { object: *part, init });
        let Some(item) = function.place_type(from).and_then(Type::element).cloned() else {
            continue;
        };
        let step = step_to(function, &item, field, out);
        let read = from.with(Step::Index(counter)).with(step);
        let value = function.define(&mut body, ty, Op::Load(read), span);
        let place = Place::whole(*part).with(Step::Index(counter));
        body.push(Stmt::Store { place, value });
    }
    out.push(Stmt::Loop(Box::new(Loop::over(counter, (zero, len), body, span))));
}

fn scalar(function: &Function, part: ObjectId) -> Option<Scalar> {
    function.objects[part.index()].ty.element()?.scalar()
}
