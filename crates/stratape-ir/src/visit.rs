//! Walks over blocks: what is used, what is defined, and replacing values.

use std::collections::{HashMap, HashSet};

use super::{Block, Check, Half, Init, ObjectId, Place, Range, Stmt, ValueId};

impl Init {
    /// The places that are copied.
    pub fn copied(&self) -> Vec<&Place> {
        match self {
            Self::Items(items) => items.iter().flat_map(Self::copied).collect(),
            Self::Fill(item) | Self::Repeat(item, _) => item.copied(),
            Self::Copy(place) => vec![place],
            Self::Value(_) | Self::ZeroLike(_) => Vec::new(),
        }
    }

    /// Whether an object is copied, or its shape is taken.
    pub fn mentions(&self, object: ObjectId) -> bool {
        match self {
            Self::Items(items) => items.iter().any(|item| item.mentions(object)),
            Self::Fill(item) | Self::Repeat(item, _) => item.mentions(object),
            Self::Copy(place) => place.object == object,
            Self::ZeroLike(other) => *other == object,
            Self::Value(_) => false,
        }
    }

    /// Calls `f` with each object that is copied, or that it is shaped like.
    pub fn for_each_object_mut(&mut self, f: &mut dyn FnMut(&mut ObjectId)) {
        match self {
            Self::Items(items) => items.iter_mut().for_each(|item| item.for_each_object_mut(f)),
            Self::Fill(item) | Self::Repeat(item, _) => item.for_each_object_mut(f),
            Self::Copy(place) => f(&mut place.object),
            Self::ZeroLike(object) => f(object),
            Self::Value(_) => {}
        }
    }

    /// Calls `f` with each operand.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        match self {
            Self::Items(items) => items.iter_mut().for_each(|item| item.for_each_operand_mut(f)),
            Self::Value(value) => f(value),
            Self::Fill(item) => item.for_each_operand_mut(f),
            Self::Repeat(item, len) => {
                item.for_each_operand_mut(f);
                f(len);
            }
            Self::Copy(place) => place.for_each_operand_mut(f),
            Self::ZeroLike(_) => {}
        }
    }
}

impl Stmt {
    /// Calls `f` with each value the node itself uses (not the nodes inside it); a loop's `next`
    /// and `exit` and a branch's merged values count, they are used at the end of the inner blocks.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        match self {
            Self::Let { op, .. } => op.for_each_operand_mut(f),
            Self::Store { place, value } | Self::Accumulate { place, value, .. } => {
                place.for_each_operand_mut(f);
                f(value);
            }
            Self::New { init, .. } => init.for_each_operand_mut(f),
            Self::Loop(node) => {
                if let Range::UpTo { from, to } = &mut node.range {
                    f(from);
                    f(to);
                }
                for carried in &mut node.carried {
                    f(&mut carried.init);
                    f(&mut carried.next);
                }
                if let Some(exit) = &mut node.exit {
                    f(exit);
                }
            }
            Self::If(node) => {
                f(&mut node.condition);
                for merge in &mut node.merges {
                    f(&mut merge.then);
                    f(&mut merge.other);
                }
            }
            Self::Check { check, .. } => match check {
                Check::Assert { condition, names, .. } => {
                    f(condition);
                    names.iter_mut().for_each(|(_, value)| f(value));
                }
                Check::Bounds { index, len } => {
                    f(index);
                    f(len);
                }
                Check::Range { from, to, len } => {
                    f(from);
                    f(to);
                    f(len);
                }
                Check::Library { condition, .. } => f(condition),
            },
            Self::Swap { a, b } => {
                a.for_each_operand_mut(f);
                b.for_each_operand_mut(f);
            }
            Self::Push { values, .. } => values.iter_mut().for_each(f),
            Self::Call(call) => call.for_each_operand_mut(f),
            Self::Save { slice, .. } => slice.for_each_operand_mut(f),
            Self::Refill { place, .. } => place.for_each_operand_mut(f),
            Self::Atomic(atomic) => {
                atomic.place.for_each_operand_mut(f);
                f(&mut atomic.value);
            }
            Self::Shuffle(shuffle) => {
                f(&mut shuffle.operand);
                f(&mut shuffle.by);
            }
            Self::Barrier(barrier) => {
                barrier.places.iter_mut().for_each(|place| place.for_each_operand_mut(f));
            }
            Self::Pop { .. } | Self::Restore { .. } => {}
        }
    }

    /// Calls `f` with each value the node itself uses.
    pub fn for_each_operand(&self, f: &mut dyn FnMut(ValueId)) {
        // One walk to maintain; nodes are small, their blocks stay behind.
        match self {
            Self::Let { op, .. } => op.for_each_operand(f),
            Self::Store { place, value } | Self::Accumulate { place, value, .. } => {
                place.for_each_operand(f);
                f(*value);
            }
            Self::Loop(node) => {
                if let Range::UpTo { from, to } = node.range {
                    f(from);
                    f(to);
                }
                for carried in &node.carried {
                    f(carried.init);
                    f(carried.next);
                }
                if let Some(exit) = node.exit {
                    f(exit);
                }
            }
            Self::If(node) => {
                f(node.condition);
                for merge in &node.merges {
                    f(merge.then);
                    f(merge.other);
                }
            }
            Self::New { .. }
            | Self::Swap { .. }
            | Self::Check { .. }
            | Self::Push { .. }
            | Self::Pop { .. }
            | Self::Call(_)
            | Self::Atomic(_)
            | Self::Barrier(_)
            | Self::Shuffle(_)
            | Self::Save { .. }
            | Self::Restore { .. }
            | Self::Refill { .. } => {
                self.clone().for_each_operand_mut(&mut |value| f(*value));
            }
        }
    }

    /// Calls `f` with each value the node itself defines outside its inner blocks.
    pub fn for_each_result(&self, f: &mut dyn FnMut(ValueId)) {
        match self {
            Self::Let { value, .. } => f(*value),
            Self::Loop(node) => {
                node.carried.iter().for_each(|carried| f(carried.after));
                node.trips.into_iter().for_each(f);
            }
            Self::If(node) => node.merges.iter().for_each(|merge| f(merge.value)),
            Self::Pop { values, .. } => values.iter().copied().for_each(f),
            Self::Call(call) => call.results.iter().copied().for_each(f),
            Self::Atomic(atomic) => atomic.old.into_iter().for_each(f),
            Self::Shuffle(shuffle) => f(shuffle.value),
            Self::Store { .. }
            | Self::Accumulate { .. }
            | Self::New { .. }
            | Self::Swap { .. }
            | Self::Check { .. }
            | Self::Save { .. }
            | Self::Restore { .. }
            | Self::Refill { .. }
            | Self::Barrier(_)
            | Self::Push { .. } => {}
        }
    }

    /// The blocks inside the node.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Self::Loop(node) => vec![&node.body],
            Self::If(node) => vec![&node.then, &node.other],
            _ => Vec::new(),
        }
    }

    /// The blocks inside the node, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Self::Loop(node) => vec![&mut node.body],
            Self::If(node) => vec![&mut node.then, &mut node.other],
            _ => Vec::new(),
        }
    }

    /// Whether the node, or one inside it, pushes to the tape (`Forward`) or pops from it (`Backward`).
    pub fn uses_tape(&self, half: Half) -> bool {
        match self {
            Self::Call(call) => matches!(&call.recursion, Some((_, called)) if *called == half),
            Self::Push { .. } | Self::Save { .. } => half == Half::Forward,
            Self::Pop { .. } | Self::Restore { .. } | Self::Refill { .. } => half == Half::Backward,
            _ => self.blocks().into_iter().flatten().any(|node| node.uses_tape(half)),
        }
    }

    /// The places the node itself writes.
    pub fn written(&self) -> Vec<&Place> {
        match self {
            Self::Store { place, .. }
            | Self::Accumulate { place, .. }
            | Self::Refill { place, .. } => vec![place],
            Self::Swap { a, b } => vec![a, b],
            Self::Atomic(atomic) => vec![&atomic.place],
            Self::Barrier(barrier) => barrier.places.iter().collect(),
            Self::Call(call) => {
                call.slices().filter(|slice| slice.mutable).map(|slice| &slice.place).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the node itself needs an object as a whole: it copies it or takes its shape, exchanges, passes or saves it, or prints
    /// it.
    pub fn uses_whole(&self, object: ObjectId) -> bool {
        match self {
            Self::New { init, .. } => init.mentions(object),
            Self::Swap { a, b } => a.object == object || b.object == object,
            Self::Barrier(barrier) => barrier.places.iter().any(|place| place.object == object),
            Self::Call(call) => call.slices().any(|slice| slice.place.object == object),
            Self::Save { slice, .. } => slice.place.object == object,
            Self::Refill { place, .. } => place.object == object,
            Self::Check { check: Check::Assert { objects, .. }, .. } => {
                objects.iter().any(|(_, other)| *other == object)
            }
            _ => false,
        }
    }

    /// The places the node itself reads.
    pub fn read(&self) -> Vec<&Place> {
        match self {
            Self::Let { op: super::Op::Load(place), .. } => vec![place],
            Self::Swap { a, b } => vec![a, b],
            Self::Atomic(atomic) => vec![&atomic.place],
            Self::Barrier(barrier) => barrier.places.iter().collect(),
            Self::Call(call) => call.slices().map(|slice| &slice.place).collect(),
            Self::Save { slice, .. } => vec![&slice.place],
            _ => Vec::new(),
        }
    }
}

/// Calls `f` with every node of a block and of the blocks inside, outer nodes first.
pub fn walk<'a>(block: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for node in block {
        f(node);
        for inner in node.blocks() {
            walk(inner, f);
        }
    }
}

/// Every value a block defines, inner blocks and loops' inside values included.
pub fn defined(block: &Block) -> HashSet<ValueId> {
    let mut set = HashSet::new();
    walk(block, &mut |node| {
        node.for_each_result(&mut |value| {
            set.insert(value);
        });
        if let Stmt::Loop(node) = node {
            set.insert(node.counter);
            set.extend(node.carried.iter().map(|carried| carried.inside));
        }
    });
    set
}

/// Every object a block makes, inner blocks included.
pub fn made(block: &Block) -> HashSet<ObjectId> {
    let mut set = HashSet::new();
    walk(block, &mut |node| {
        if let Stmt::New { object, .. } | Stmt::Restore { object, .. } = node {
            set.insert(*object);
        }
    });
    set
}

/// Every object that a block makes in two places.
pub fn made_twice(block: &Block) -> HashSet<ObjectId> {
    let (mut once, mut twice) = (HashSet::new(), HashSet::new());
    walk(block, &mut |node| {
        if let Stmt::New { object, .. } = node
            && !once.insert(*object)
        {
            twice.insert(*object);
        }
    });
    twice
}

/// Every object that is exchanged with another: its length is not always the one it was made with.
pub fn swapped(block: &Block) -> HashSet<ObjectId> {
    let mut set = HashSet::new();
    walk(block, &mut |node| {
        if let Stmt::Swap { a, b } = node {
            set.extend([a.object, b.object]);
        }
    });
    set
}

/// Every value a block uses, inner blocks included.
pub fn used(block: &Block) -> HashSet<ValueId> {
    let mut set = HashSet::new();
    walk(block, &mut |node| {
        node.for_each_operand(&mut |value| {
            set.insert(value);
        });
    });
    set
}

/// Values and objects to be replaced by others.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    values: HashMap<ValueId, ValueId>,
    objects: HashMap<ObjectId, ObjectId>,
}

impl Substitution {
    /// Replaces `from` by `to` from now on.
    pub fn value(&mut self, from: ValueId, to: ValueId) {
        self.values.insert(from, to);
    }

    /// Replaces the object `from` by `to` from now on.
    pub fn object(&mut self, from: ObjectId, to: ObjectId) {
        self.objects.insert(from, to);
    }

    /// Replaces what `other` replaces, too.
    pub fn extend(&mut self, other: Self) {
        self.values.extend(other.values);
        self.objects.extend(other.objects);
    }

    /// Whether nothing is to be replaced.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.objects.is_empty()
    }

    /// What stands for a value in the end.
    pub fn get(&self, value: ValueId) -> ValueId {
        let mut value = value;
        while let Some(next) = self.values.get(&value) {
            value = *next;
        }
        value
    }

    /// Replaces in an operation.
    pub fn apply_op(&self, op: &mut super::Op) {
        op.for_each_operand_mut(&mut |value| *value = self.get(*value));
        if let super::Op::Load(place) | super::Op::Len(place) = op {
            self.apply_object(&mut place.object);
        }
    }

    fn apply_object(&self, object: &mut ObjectId) {
        if let Some(to) = self.objects.get(object) {
            *object = *to;
        }
    }

    /// Replaces in a block and all inside it (uses only, not definitions).
    pub fn apply(&self, block: &mut Block) {
        for node in block {
            node.for_each_operand_mut(&mut |value| *value = self.get(*value));
            match node {
                Stmt::Let { op: super::Op::Load(place) | super::Op::Len(place), .. }
                | Stmt::Store { place, .. }
                | Stmt::Accumulate { place, .. }
                | Stmt::Refill { place, .. } => self.apply_object(&mut place.object),
                Stmt::New { init, .. } => {
                    init.for_each_object_mut(&mut |object| self.apply_object(object));
                }
                Stmt::Swap { a, b } => {
                    self.apply_object(&mut a.object);
                    self.apply_object(&mut b.object);
                }
                Stmt::Save { slice, .. } => self.apply_object(&mut slice.place.object),
                Stmt::Atomic(atomic) => self.apply_object(&mut atomic.place.object),
                Stmt::Barrier(barrier) => {
                    barrier.places.iter_mut().for_each(|one| self.apply_object(&mut one.object));
                }
                Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                    objects.iter_mut().for_each(|(_, object)| self.apply_object(object));
                }
                Stmt::Call(call) => {
                    for argument in &mut call.arguments {
                        if let super::Argument::Slice(slice) = argument {
                            self.apply_object(&mut slice.place.object);
                        }
                    }
                }
                _ => {}
            }
            for inner in node.blocks_mut() {
                self.apply(inner);
            }
        }
    }
}
