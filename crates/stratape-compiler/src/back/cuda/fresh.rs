//! Shadows that can be stored to instead of added to, where the caller wants them overwritten.
//!
//! A shadow that one statement adds to, outside loops and by an index that no two threads share, gets at most one addition an element: where it starts as zeros, a store does the same,
//! and reads nothing. If the index is the number of the thread, and nothing but `if i < x.len()` stands around it, all elements are stored to by a grid with enough threads: then the zeros need not be
//! written, either. Both hold for grids along one axis, which the launch knows.

use std::collections::{HashMap, HashSet};

use stratape_ir::{
    Axis, Binary, Block, Builtin, Compare, Function, Loop, ObjectId, Op, Origin, Param, Place,
    Step, Stmt, ValueId, walk,
};

/// How a shadow is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// Every element at most once.
    Stored,
    /// Every element that has a thread, once.
    Covered,
}

/// The shadows of a gradient that can be stored to.
pub(super) fn fresh(function: &Function) -> HashMap<ObjectId, Fresh> {
    let mut ops: HashMap<ValueId, &Op> = HashMap::new();
    let mut additions: HashMap<ObjectId, usize> = HashMap::new();
    let mut others: HashSet<ObjectId> = HashSet::new();
    let mut inside: Vec<&Loop> = Vec::new();
    walk(&function.body, &mut |node| match node {
        Stmt::Accumulate { place, .. } => *additions.entry(place.object).or_default() += 1,
        // The other way, for grids of several axes.
        Stmt::Atomic(_) => {}
        Stmt::Loop(node) => inside.push(node),
        node => {
            if let Stmt::Let { value, op } = node {
                ops.insert(*value, op);
            }
            others.extend(node.written().into_iter().map(|place| place.object));
            others.extend(node.read().into_iter().map(|place| place.object));
        }
    });
    let finder = Finder { ops: &ops, shadow: ObjectId(0), of: ObjectId(0) };
    for node in inside {
        walk(&node.body, &mut |inner| match inner {
            // The threads of a grid take turns: no two iterations of any meet.
            Stmt::Accumulate { place, .. } if finder.strides(place, node) => {}
            Stmt::Atomic(_) => {}
            inner => others.extend(inner.written().into_iter().map(|place| place.object)),
        });
    }
    let mut found = HashMap::new();
    for param in &function.params {
        let Param::Object(object) = param else { continue };
        let Some(of) = function.objects[object.index()].shadow_of else { continue };
        let once = additions.get(object) == Some(&1) && !others.contains(object);
        if once && function.objects[of.index()].origin == Origin::Ref {
            let finder = Finder { ops: &ops, shadow: *object, of };
            if let Some(fresh) = finder.block(&function.body, Fresh::Covered) {
                found.insert(*object, fresh);
            }
        }
    }
    found
}

struct Finder<'a> {
    ops: &'a HashMap<ValueId, &'a Op>,
    shadow: ObjectId,
    of: ObjectId,
}

impl Finder<'_> {
    /// The addition in a block, which runs for all threads, or for some.
    fn block(&self, block: &Block, reach: Fresh) -> Option<Fresh> {
        for node in block {
            match node {
                Stmt::Accumulate { place, subtract: false, .. } if place.object == self.shadow => {
                    return Some(match (reach, &place.path[..]) {
                        (Fresh::Covered, [Step::Index(index)]) if self.is_thread(*index) => {
                            Fresh::Covered
                        }
                        _ => Fresh::Stored,
                    });
                }
                Stmt::Loop(node) => {
                    if let Some(found) = self.block(&node.body, Fresh::Stored) {
                        return Some(found);
                    }
                }
                Stmt::If(branch) => {
                    let then = match self.is_certain(branch.condition) {
                        true => reach,
                        false => Fresh::Stored,
                    };
                    let found = self.block(&branch.then, then);
                    if let Some(found) = found.or_else(|| self.block(&branch.other, Fresh::Stored))
                    {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn builtin(&self, value: ValueId) -> Option<Builtin> {
        match self.ops.get(&value)? {
            Op::Builtin(builtin) => Some(*builtin),
            _ => None,
        }
    }

    /// `thread_idx().x + block_idx().x * block_dim().x`
    fn is_thread(&self, value: ValueId) -> bool {
        let Some(Op::Binary(Binary::Add, a, b)) = self.ops.get(&value) else { return false };
        let start = |value: ValueId| {
            let Some(Op::Binary(Binary::Mul, a, b)) = self.ops.get(&value) else { return false };
            let found = [self.builtin(*a), self.builtin(*b)];
            let (block, threads) =
                (Some(Builtin::BlockIdx(Axis::X)), Some(Builtin::BlockDim(Axis::X)));
            found == [block, threads] || found == [threads, block]
        };
        let own = |value: ValueId| self.builtin(value) == Some(Builtin::ThreadIdx(Axis::X));
        (own(*a) && start(*b)) || (own(*b) && start(*a))
    }

    /// Whether an index is `thread + counter * (block_dim().x * grid_dim().x)`.
    fn strides(&self, place: &Place, node: &Loop) -> bool {
        let [Step::Index(index)] = place.path[..] else { return false };
        let Some(Op::Binary(Binary::Add, a, b)) = self.ops.get(&index) else { return false };
        let all = |value: ValueId| {
            let Some(Op::Binary(Binary::Mul, a, b)) = self.ops.get(&value) else { return false };
            let found = [self.builtin(*a), self.builtin(*b)];
            let (threads, blocks) =
                (Some(Builtin::BlockDim(Axis::X)), Some(Builtin::GridDim(Axis::X)));
            found == [threads, blocks] || found == [blocks, threads]
        };
        let step = |value: ValueId| match self.ops.get(&value) {
            Some(Op::Binary(Binary::Mul, a, b)) => {
                (*a == node.counter && all(*b)) || (*b == node.counter && all(*a))
            }
            _ => false,
        };
        (self.is_thread(*a) && step(*b)) || (self.is_thread(*b) && step(*a))
    }

    /// Whether a number is made of extents along other axes than the first.
    fn is_other_extent(&self, value: ValueId) -> bool {
        match self.ops.get(&value) {
            Some(Op::Builtin(Builtin::BlockDim(axis) | Builtin::GridDim(axis))) => *axis != Axis::X,
            Some(Op::Binary(Binary::Mul, a, b)) => {
                self.is_other_extent(*a) && self.is_other_extent(*b)
            }
            _ => false,
        }
    }

    /// Whether a condition holds for every thread that has an element, in a grid along one axis.
    fn is_certain(&self, condition: ValueId) -> bool {
        match self.ops.get(&condition) {
            Some(Op::Bool(holds)) => *holds,
            Some(Op::Compare(Compare::Lt, index, len)) if self.is_thread(*index) => {
                let whole = |place: &Place| {
                    place.path.is_empty() && [self.of, self.shadow].contains(&place.object)
                };
                matches!(self.ops.get(len), Some(Op::Len(place)) if whole(place))
            }
            Some(Op::Compare(Compare::Eq, extent, one)) => {
                matches!(self.ops.get(one), Some(Op::Int(1))) && self.is_other_extent(*extent)
            }
            Some(Op::Binary(Binary::BitAnd, a, b)) => self.is_certain(*a) && self.is_certain(*b),
            _ => false,
        }
    }
}
