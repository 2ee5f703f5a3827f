//! What an iteration computes from one element of some lists, and from nothing else that changes.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Tables, entry};
use crate::driver::Target;
use crate::transform::canonical::written;
use crate::transform::{is_cheap, is_total};
use stratape_ir::{
    Binary, Block, Function, If, Loop, ObjectId, Op, Place, Scalar, Step, Stmt, StmtId, Type,
    ValueId, defined, made, swapped, used, walk,
};

/// The values of an iteration that depend on the element at an index alone.
pub(super) struct Picked {
    pub(super) index: ValueId,
    /// The lists of which every iteration reads the element: an index beyond one of them panics. Others are read in branches.
    pub(super) lists: BTreeSet<ObjectId>,
    /// Those that go into tables.
    pub(super) wanted: BTreeSet<ValueId>,
    /// Their operations, and those of the index; none for what a branch merges.
    members: HashMap<ValueId, Option<Op>>,
    indices: HashMap<ValueId, Op>,
    /// What the values in tables are computed from, and the conditions of the branches in which they are.
    needed: HashSet<ValueId>,
}

/// What a loop computes, and what of it may be computed elsewhere.
struct Body<'a> {
    function: &'a Function,
    node: &'a Loop,
    target: &'a Target,
    inside: HashSet<ValueId>,
    changed: HashSet<ObjectId>,
    made: HashSet<ObjectId>,
    swapped: HashSet<ObjectId>,
    /// Integers that depend on the counter and on memory that does not change.
    indices: HashMap<ValueId, Op>,
    /// Those of them that differ from one iteration to the next.
    moving: HashSet<ValueId>,
    /// Those that may then be the same in several iterations: read from a list, a quotient or a remainder, or computed from such.
    repeating: HashSet<ValueId>,
}

impl Picked {
    /// The index of a loop by which most is saved.
    pub(super) fn best(function: &Function, node: &Loop, target: &Target) -> Option<Self> {
        let mut inside = defined(&node.body);
        inside.insert(node.counter);
        inside.extend(node.carried.iter().map(|carried| carried.inside));
        let (changed, made, swapped) = (written(&node.body), made(&node.body), swapped(&node.body));
        let mut body = Body {
            function,
            node,
            target,
            inside,
            changed,
            made,
            swapped,
            indices: HashMap::new(),
            moving: HashSet::from([node.counter]),
            repeating: HashSet::new(),
        };
        body.read_indices();
        let mut best: Option<(u64, Self)> = None;
        for index in body.candidates() {
            if let Some((saved, picked)) = body.picked_by(index)
                && best.as_ref().is_none_or(|(most, _)| saved > *most)
            {
                best = Some((saved, picked));
            }
        }
        best.map(|(_, picked)| picked)
    }

    /// Computes an index once more, for another counter.
    pub(super) fn index_again(
        &self,
        function: &mut Function,
        value: ValueId,
        known: &mut HashMap<ValueId, ValueId>,
        out: &mut Block,
    ) -> ValueId {
        if let Some(known) = known.get(&value) {
            return *known;
        }
        let Some(op) = self.indices.get(&value) else { return value };
        let mut op = op.clone();
        op.for_each_operand_mut(&mut |operand| {
            *operand = self.index_again(function, *operand, known, out);
        });
        let new = function.new_value_like(value);
        out.push(Stmt::Let { value: new, op });
        known.insert(value, new);
        new
    }

    /// Finds what is needed for what is known to be; whether anything in a block is.
    fn need(&mut self, nodes: &Block) -> bool {
        let mut found = false;
        for node in nodes.iter().rev() {
            match node {
                Stmt::Let { value, op } if self.needed.contains(value) => {
                    op.for_each_operand(&mut |operand| {
                        if self.members.contains_key(&operand) {
                            self.needed.insert(operand);
                        }
                    });
                    found = true;
                }
                Stmt::If(node) if self.members.contains_key(&node.condition) => {
                    let mut inside = false;
                    for merge in &node.merges {
                        if self.needed.contains(&merge.value) {
                            let sides = [merge.then, merge.other];
                            self.needed.extend(
                                sides.iter().filter(|side| self.members.contains_key(side)),
                            );
                            inside = true;
                        }
                    }
                    inside |= self.need(&node.then);
                    inside |= self.need(&node.other);
                    if inside {
                        self.needed.insert(node.condition);
                        found = true;
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// What is computed for an element, and put into the tables.
    pub(super) fn again(
        &self,
        function: &mut Function,
        nodes: &Block,
        tables: &Tables,
        known: &mut HashMap<ValueId, ValueId>,
    ) -> Block {
        let mut out = Block::new();
        let mut stored = Vec::new();
        for node in nodes {
            match node {
                Stmt::Let { value, op } if self.needed.contains(value) => {
                    let mut op = op.clone();
                    op.for_each_operand_mut(&mut |operand| {
                        *operand = known.get(operand).copied().unwrap_or(*operand);
                    });
                    let new = function.new_value_like(*value);
                    out.push(Stmt::Let { value: new, op });
                    known.insert(*value, new);
                    stored.push(*value);
                }
                Stmt::If(node) if self.needed.contains(&node.condition) => {
                    let condition = known[&node.condition];
                    let then = self.again(function, &node.then, tables, known);
                    let other = self.again(function, &node.other, tables, known);
                    let mut merges = node.merges.clone();
                    merges.retain(|merge| self.needed.contains(&merge.value));
                    for merge in &mut merges {
                        let new = function.new_value_like(merge.value);
                        known.insert(merge.value, new);
                        stored.push(merge.value);
                        let of = |value: ValueId| known.get(&value).copied().unwrap_or(value);
                        (merge.value, merge.then, merge.other) =
                            (new, of(merge.then), of(merge.other));
                    }
                    let (id, span) = (StmtId::NONE, node.span);
                    let node = If { id, condition, then, other, merges, span };
                    out.push(Stmt::If(Box::new(node)));
                }
                _ => {}
            }
        }
        for value in stored {
            if let Some(table) = tables.get(&value) {
                let place = entry(function, *table, known[&self.index], &mut out);
                out.push(Stmt::Store { place, value: known[&value] });
            }
        }
        out
    }

    /// Lets an iteration read the tables.
    pub(super) fn read_from(&self, function: &mut Function, nodes: &mut Block, tables: &Tables) {
        for mut node in std::mem::take(nodes) {
            let mut reads = Vec::new();
            match &mut node {
                Stmt::Let { value, .. } if tables.contains_key(value) => {
                    reads.push(*value);
                }
                Stmt::If(inner) if self.members.contains_key(&inner.condition) => {
                    self.read_from(function, &mut inner.then, tables);
                    self.read_from(function, &mut inner.other, tables);
                    inner.merges.retain(|merge| {
                        let tabled = tables.contains_key(&merge.value);
                        if tabled {
                            reads.push(merge.value);
                        }
                        !tabled
                    });
                    nodes.push(node);
                }
                _ => nodes.push(node),
            }
            for value in reads {
                let place = entry(function, tables[&value], self.index, nodes);
                nodes.push(Stmt::Let { value, op: Op::Load(place) });
            }
        }
    }
}

impl Body<'_> {
    fn read_indices(&mut self) {
        for item in &self.node.body {
            let Stmt::Let { value, op } = item else { continue };
            if !matches!(self.function.ty(*value), Scalar::Int(_)) {
                continue;
            }
            let mut fits = match op {
                Op::Load(place) => self.stays(place.object),
                Op::Len(place) => {
                    !self.made.contains(&place.object) && !self.swapped.contains(&place.object)
                }
                _ => true,
            };
            op.for_each_operand(&mut |operand| {
                fits &= operand == self.node.counter
                    || self.indices.contains_key(&operand)
                    || !self.inside.contains(&operand);
            });
            if !fits {
                continue;
            }
            let (mut moves, mut repeats) = (false, false);
            op.for_each_operand(&mut |operand| {
                moves |= self.moving.contains(&operand);
                repeats |= self.repeating.contains(&operand);
            });
            repeats |= match op {
                Op::Load(_) => moves,
                Op::Binary(Binary::Div | Binary::Rem | Binary::BitAnd | Binary::Shr, a, _) => {
                    self.moving.contains(a)
                }
                _ => false,
            };
            self.indices.insert(*value, op.clone());
            if moves {
                self.moving.insert(*value);
            }
            if repeats {
                self.repeating.insert(*value);
            }
        }
    }

    /// Whether what lies in an object is the same in all iterations.
    fn stays(&self, object: ObjectId) -> bool {
        !self.changed.contains(&object)
            && !self.made.contains(&object)
            && !self.swapped.contains(&object)
    }

    /// The indices into lists that may be the same in several iterations.
    fn candidates(&self) -> Vec<ValueId> {
        let mut found = BTreeSet::new();
        walk(&self.node.body, &mut |node| {
            if let Stmt::Let { op: Op::Load(place), .. } = node
                && let Some(Step::Index(index)) = place.path.first()
                && self.stays(place.object)
                && self.repeating.contains(index)
            {
                found.insert(*index);
            }
        });
        found.into_iter().collect()
    }

    /// What depends on the element at an index, if it pays to compute it once, and what that saves.
    fn picked_by(&self, index: ValueId) -> Option<(u64, Picked)> {
        let mut picked = Picked {
            index,
            lists: BTreeSet::new(),
            wanted: BTreeSet::new(),
            members: HashMap::new(),
            indices: self.indices.clone(),
            needed: HashSet::new(),
        };
        let mut slow = HashMap::new();
        self.read_members(&self.node.body, true, &mut picked, &mut slow);
        if picked.lists.is_empty() {
            return None;
        }
        let mut outside = HashSet::new();
        self.used_outside(&self.node.body, &picked, &mut outside);
        outside.extend(self.node.carried.iter().map(|carried| carried.next));
        let mut outside: Vec<ValueId> = outside.into_iter().collect();
        while let Some(value) = outside.pop() {
            if slow.get(&value).copied().unwrap_or(0) == 0 {
                continue;
            }
            if self.function.ty(value).is_float() {
                picked.wanted.insert(value);
            } else if let Some(Some(op)) = picked.members.get(&value) {
                // A condition: it is computed again from what it compares.
                op.for_each_operand(&mut |operand| outside.push(operand));
            } else {
                return None;
            }
        }
        // What is made cheaply of other values in the table needs no place in it.
        let is_slow = |value: &ValueId| slow.get(value).copied().unwrap_or(0) > 0;
        for value in picked.wanted.clone().into_iter().rev() {
            if let Some(Some(op)) = picked.members.get(&value)
                && is_cheap(op)
                && !matches!(op, Op::Load(_))
            {
                let mut made = true;
                op.for_each_operand(&mut |operand| {
                    made &= !is_slow(&operand) || picked.wanted.contains(&operand);
                });
                if made {
                    picked.wanted.remove(&value);
                }
            }
        }
        picked.needed = picked.wanted.iter().copied().collect();
        picked.need(&self.node.body);
        let saved = self.saved(&picked);
        let pays = !picked.wanted.is_empty()
            && saved >= self.target.tabulated_cost * picked.wanted.len() as u64;
        pays.then_some((saved, picked))
    }

    /// What depends on the element alone or on nothing that changes, and what the slow operations cost behind each value of the former.
    fn read_members(
        &self,
        nodes: &Block,
        always: bool,
        picked: &mut Picked,
        slow: &mut HashMap<ValueId, u64>,
    ) {
        for node in nodes {
            match node {
                Stmt::Let { value, op } => {
                    let mut fits = match op {
                        Op::Load(place) => self.is_element(place, picked),
                        op => is_total(op, self.function.ty(*value)) && !matches!(op, Op::Len(_)),
                    };
                    let mut cost = if is_cheap(op) {
                        0
                    } else {
                        self.target.operation_cost(op, self.function)
                    };
                    op.for_each_operand(&mut |operand| {
                        fits &= operand == picked.index
                            || picked.members.contains_key(&operand)
                            || !self.inside.contains(&operand);
                        cost = cost.saturating_add(slow.get(&operand).copied().unwrap_or(0));
                    });
                    // The index itself differs where elements are the same for different lists.
                    let of_index = !matches!(op, Op::Load(_)) && {
                        let mut found = false;
                        op.for_each_operand(&mut |operand| found |= operand == picked.index);
                        found
                    };
                    if !fits || of_index {
                        continue;
                    }
                    let mut of_element = false;
                    op.for_each_operand(&mut |operand| of_element |= slow.contains_key(&operand));
                    if let Op::Load(place) = op {
                        if always {
                            picked.lists.insert(place.object);
                        }
                        of_element = true;
                    }
                    picked.members.insert(*value, Some(op.clone()));
                    if of_element {
                        slow.insert(*value, cost);
                    }
                }
                Stmt::If(node) if picked.members.contains_key(&node.condition) => {
                    self.read_members(&node.then, false, picked, slow);
                    self.read_members(&node.other, false, picked, slow);
                    for merge in &node.merges {
                        let fits = [merge.then, merge.other].iter().all(|value| {
                            picked.members.contains_key(value) || !self.inside.contains(value)
                        });
                        if fits {
                            let costs = [merge.then, merge.other, node.condition]
                                .map(|value| slow.get(&value).copied());
                            picked.members.insert(merge.value, None);
                            if costs.iter().any(Option::is_some) {
                                let sum = costs.into_iter().flatten().fold(0, u64::saturating_add);
                                slow.insert(merge.value, sum);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a place is a number in the element at the index of a list that stays.
    fn is_element(&self, place: &Place, picked: &Picked) -> bool {
        let Some((Step::Index(index), rest)) = place.path.split_first() else { return false };
        if *index != picked.index || !self.stays(place.object) {
            return false;
        }
        let mut ty = match &self.function.objects[place.object.index()].ty {
            Type::Vec(of) | Type::Slice(of) | Type::Array(of, _) => &**of,
            _ => return false,
        };
        for step in rest {
            ty = match (ty, step) {
                (Type::Array(of, _), Step::Index(at)) if self.is_fixed(*at, picked) => of,
                (Type::Tuple(types), Step::Field(at)) => &types[*at],
                (Type::Struct(of), Step::Field(at)) => &of.fields[*at].1,
                _ => return false,
            };
        }
        matches!(ty, Type::Scalar(scalar) if scalar.is_float())
    }

    /// Whether a value is the same in all iterations.
    fn is_fixed(&self, value: ValueId, picked: &Picked) -> bool {
        let literal = matches!(picked.members.get(&value), Some(Some(Op::Int(_))));
        literal || !self.inside.contains(&value)
    }

    /// What is used by something else in the iteration.
    fn used_outside(&self, nodes: &Block, picked: &Picked, found: &mut HashSet<ValueId>) {
        for node in nodes {
            match node {
                Stmt::Let { value, .. } if picked.members.contains_key(value) => {}
                Stmt::If(node) if picked.members.contains_key(&node.condition) => {
                    self.used_outside(&node.then, picked, found);
                    self.used_outside(&node.other, picked, found);
                    found.insert(node.condition);
                    for merge in &node.merges {
                        if !picked.members.contains_key(&merge.value) {
                            found.extend([merge.then, merge.other]);
                        }
                    }
                }
                // The derivative of what a branch does not use may be infinite: it stays where it can be left out with the branch.
                Stmt::If(node) => {
                    found.insert(node.condition);
                }
                node => {
                    node.for_each_operand(&mut |value| {
                        found.insert(value);
                    });
                    node.blocks().into_iter().for_each(|inner| found.extend(used(inner)));
                }
            }
        }
        found.retain(|value| picked.members.contains_key(value));
    }

    /// The cost of the slow operations that are done for tables, each counted once.
    fn saved(&self, picked: &Picked) -> u64 {
        let mut saved = 0;
        for value in &picked.needed {
            if let Some(Some(op)) = picked.members.get(value)
                && !is_cheap(op)
            {
                saved += self.target.operation_cost(op, self.function);
            }
        }
        saved
    }
}
