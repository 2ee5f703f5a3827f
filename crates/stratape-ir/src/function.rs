//! Functions and their tables.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Block, Carried, Checkpoint, Init, ObjectId, Op, Place, Record, RecordId, Region, RegionId,
    Scalar, SourceId, Step, Stmt, StmtId, Type, ValueId,
};

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Scalar,
    /// The variable it was bound to, if any.
    pub name: Option<String>,
    /// Whether it is an adjoint: its last bits are free, sums may be reordered.
    pub adjoint: bool,
    /// The value of the forward half that it restores from a record.
    pub stands_for: Option<ValueId>,
    /// The source it comes from.
    pub span: SourceId,
}

/// How an object came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A parameter behind `&`.
    Ref,
    /// A parameter behind `&mut`.
    RefMut,
    /// A parameter passed by value.
    Owned,
    /// A local.
    Local,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub origin: Origin,
    /// The variable it was bound to.
    pub name: String,
    /// The object whose adjoint this one holds.
    pub shadow_of: Option<ObjectId>,
    /// The source it comes from.
    pub span: SourceId,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Param {
    /// A value.
    Value(ValueId),
    /// Memory.
    Object(ObjectId),
}

/// What an object is a copy of: element `stride * i + offset` of another, at `i`. An index out of bounds is one of that other.
#[derive(Clone, Copy, Debug)]
pub struct StridedCopy {
    /// The other object.
    pub of: ObjectId,
    /// Every so many elements.
    pub stride: usize,
    /// The first of them.
    pub offset: usize,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The source it comes from.
    pub span: SourceId,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// What it returns.
    pub results: Vec<ValueId>,
    /// Its statements.
    pub body: Block,
    /// What is known of its values.
    pub values: Vec<Value>,
    /// What is known of its objects.
    pub objects: Vec<Object>,
    /// What is known of its records.
    pub records: Vec<Record>,
    /// The regions that records lie in.
    pub regions: Vec<Region>,
    /// Local objects that are returned.
    pub kept: Vec<ObjectId>,
    /// Whether every independent loop is to run in parallel.
    pub parallel: bool,
    /// Local objects that are copies of every so many elements of others.
    pub strided_copies: BTreeMap<ObjectId, StridedCopy>,
    /// Local lists whose initial contents are dead: each element is written before it is read.
    pub unfilled: BTreeSet<ObjectId>,
    /// Local lists of lists that hold only empty ones when their block ends.
    pub emptied: BTreeSet<ObjectId>,
    /// Locals, shadows of nothing, that hold sums of adjoints: their last bits are free.
    pub sums: BTreeSet<ObjectId>,
    /// Whether nothing is to be reordered or fused: optional passes do nothing.
    pub plain: bool,
    /// Whether it is a kernel, which all threads of a grid run.
    pub kernel: bool,
    /// Locals of a kernel that the threads of a block share.
    pub shared: BTreeSet<ObjectId>,
    /// Functions it calls that call themselves.
    pub recursive: BTreeSet<String>,
    /// Loops to be reversed from snapshots, by their counters; `outline` makes functions of them.
    pub checkpoints: Vec<(ValueId, Checkpoint)>,
}

impl Function {
    /// An empty function.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            span: SourceId::NONE,
            params: Vec::new(),
            results: Vec::new(),
            body: Block::new(),
            values: Vec::new(),
            objects: Vec::new(),
            records: Vec::new(),
            regions: Vec::new(),
            kept: Vec::new(),
            parallel: false,
            strided_copies: BTreeMap::new(),
            unfilled: BTreeSet::new(),
            emptied: BTreeSet::new(),
            sums: BTreeSet::new(),
            plain: false,
            kernel: false,
            shared: BTreeSet::new(),
            recursive: BTreeSet::new(),
            checkpoints: Vec::new(),
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Scalar {
        self.values[value.index()].ty
    }

    /// Whether an object holds adjoints: what is added to it may be added in any order.
    pub fn holds_adjoints(&self, object: ObjectId) -> bool {
        self.objects[object.index()].shadow_of.is_some() || self.sums.contains(&object)
    }

    /// Whether a carried sum may be added up in any order: it is a sum of adjoints inside the loop, and leaves it as one.
    pub fn is_free(&self, carried: &Carried) -> bool {
        let ends = [carried.inside, carried.next, carried.after];
        ends.iter().all(|value| self.values[value.index()].adjoint)
    }

    /// A new value, not defined yet.
    pub fn new_value(&mut self, ty: Scalar, span: SourceId) -> ValueId {
        self.values.push(Value { ty, name: None, adjoint: false, stands_for: None, span });
        ValueId((self.values.len() - 1) as u32)
    }

    /// A new value of the type, name and source of another.
    pub fn new_value_like(&mut self, other: ValueId) -> ValueId {
        self.values.push(self.values[other.index()].clone());
        ValueId((self.values.len() - 1) as u32)
    }

    /// Gives each branch and each call a number of its own, so that tables can be kept about them. Copies keep it; they are forgotten by
    /// [`forget_numbers`](Self::forget_numbers).
    pub fn number_statements(&mut self) {
        let mut last = 0;
        set_numbers(&mut self.body, &mut || {
            last += 1;
            StmtId(last)
        });
    }

    /// Takes the numbers of statements back.
    pub fn forget_numbers(&mut self) {
        set_numbers(&mut self.body, &mut || StmtId::NONE);
    }

    /// The region that a record lies in, if it does.
    pub fn region_of(&self, record: RecordId) -> Option<RegionId> {
        self.records[record.index()].room.as_ref().map(|room| room.region)
    }

    /// Puts other values in the place of those that records hold.
    pub fn substitute_slots(&mut self, of: impl Fn(ValueId) -> ValueId) {
        for record in &mut self.records {
            record.slots.iter_mut().for_each(|slot| *slot = of(*slot));
        }
        for value in &mut self.values {
            value.stands_for = value.stands_for.map(&of);
        }
    }

    /// A new value that restores another from a record.
    pub fn new_restored(&mut self, other: ValueId) -> ValueId {
        let value = self.new_value_like(other);
        self.values[value.index()].stands_for = Some(other);
        value
    }

    /// A new value, defined at the end of a block.
    pub fn define(&mut self, out: &mut Block, ty: Scalar, op: Op, span: SourceId) -> ValueId {
        let value = self.new_value(ty, span);
        out.push(Stmt::Let { value, op });
        value
    }

    /// A local that begins as a copy of another object, and the statement that makes it.
    pub fn new_copy(&mut self, of: ObjectId) -> (ObjectId, Stmt) {
        let known = &self.objects[of.index()];
        let ty = match &known.ty {
            Type::Slice(item) => Type::Vec(item.clone()),
            ty => ty.clone(),
        };
        let (name, span) = (known.name.clone(), known.span);
        let copy = Object { ty, origin: Origin::Local, name, shadow_of: None, span };
        let object = self.new_object(copy);
        (object, Stmt::New { object, init: Init::Copy(Place::whole(of)) })
    }

    /// A new object.
    pub fn new_object(&mut self, object: Object) -> ObjectId {
        self.objects.push(object);
        ObjectId((self.objects.len() - 1) as u32)
    }

    /// The type of what a place holds.
    pub fn place_type(&self, place: &Place) -> Option<&Type> {
        let mut ty = &self.objects[place.object.index()].ty;
        for step in &place.path {
            ty = match step {
                Step::Index(_) => ty.element()?,
                Step::Field(index) => ty.field(*index)?,
            };
        }
        Some(ty)
    }
}

fn set_numbers(block: &mut Block, next: &mut impl FnMut() -> StmtId) {
    for node in block {
        match node {
            Stmt::If(node) => node.id = next(),
            Stmt::Call(call) => call.id = next(),
            _ => {}
        }
        node.blocks_mut().into_iter().for_each(|inner| set_numbers(inner, next));
    }
}
