//! The shapes that lists have in the end.
//!
//! A list that changes places with others may end its block with another length than it was made with, and its rows may as well. The shadow begins
//! where the list ends, so it begins with the shape of that moment: the lengths are taken at the end of the block that makes the list.
//!
//! ```text
//! new c = …                           new dc = [[]; n]
//! … swap c[k], row …                  for i { n_i = …;  new row = [0; n_i];  swap dc[i], row }
//! for i { n_i = len c[i] }            … swap dc[k], drow …
//! n = len c
//! ```
//!
//! What is taken are values like any other: the save plan decides whether they are on the tape.

use std::collections::{HashMap, HashSet};

use stratape_ir::{
    Block, Extent, Function, Init, Loop, ObjectId, Op, Place, Range, Scalar, SourceId, Step, Stmt,
    Type, ValueId, swapped,
};

/// The lengths taken at the ends of blocks.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// Of locals.
    pub(super) lengths: HashMap<ObjectId, ValueId>,
    /// Of lists in lists: the place whose length a value is.
    pub(super) rows: HashMap<ValueId, Place>,
}

impl Shapes {
    /// Adds to a function what takes the shapes of the locals that are exchanged with others, copied into rows of another, or copies of such lists or
    /// of lists of lists.
    pub(super) fn take(function: &mut Function) -> Self {
        let swapped = swapped(&function.body);
        let mut wanted = swapped.clone();
        copies(function, &function.body, &swapped, &mut wanted);
        let mut shapes = Self::default();
        let mut body = std::mem::take(&mut function.body);
        shapes.of_block(function, &mut body, &wanted);
        function.body = body;
        shapes
    }

    fn of_block(&mut self, function: &mut Function, block: &mut Block, wanted: &HashSet<ObjectId>) {
        let mut taken = Block::new();
        for node in block.iter_mut() {
            if let Stmt::New { object, .. } = node
                && wanted.contains(object)
            {
                let place = Place::whole(*object);
                let ty = function.objects[object.index()].ty.clone();
                // The rows of some are known to be empty.
                if !function.emptied.contains(object) {
                    self.of_elements(function, &place, &ty, &mut taken);
                }
                if let Type::Vec(_) = ty {
                    let value = length(function, &place, &mut taken);
                    self.lengths.insert(*object, value);
                }
            }
            for inner in node.blocks_mut() {
                self.of_block(function, inner, wanted);
            }
        }
        block.extend(taken);
    }

    /// A list in a list: its elements, then itself, since the backward half makes it first.
    fn of_inner(&mut self, function: &mut Function, place: &Place, ty: &Type, block: &mut Block) {
        self.of_elements(function, place, ty, block);
        if let Type::Vec(_) = ty {
            let value = length(function, place, block);
            self.rows.insert(value, place.clone());
        }
    }

    fn of_elements(
        &mut self,
        function: &mut Function,
        place: &Place,
        ty: &Type,
        block: &mut Block,
    ) {
        let span = function.objects[place.object.index()].span;
        match ty {
            ty if ty.is_fixed() => {}
            Type::Vec(item) | Type::Slice(item) | Type::Array(item, _) => {
                if item.is_fixed() {
                    return;
                }
                let mut number = |op| {
                    let value = function.new_value(Scalar::USIZE, span);
                    block.push(Stmt::Let { value, op });
                    value
                };
                let from = number(Op::Int(0));
                let to = number(match ty {
                    Type::Array(_, Extent::Known(n)) => Op::Int(*n as i128),
                    Type::Array(_, Extent::Const(tokens)) => Op::Const(tokens.clone()),
                    _ => Op::Len(place.clone()),
                });
                let counter = function.new_value(Scalar::USIZE, span);
                let mut body = Block::new();
                self.of_inner(function, &place.with(Step::Index(counter)), item, &mut body);
                block.push(Stmt::Loop(Box::new(Loop {
                    counter,
                    range: Range::UpTo { from, to },
                    reversed: false,
                    unordered: false,
                    carried: Vec::new(),
                    exit: None,
                    trips: None,
                    parallel: None,
                    schedule: None,
                    body,
                    span: SourceId::NONE,
                })));
            }
            Type::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.of_inner(function, &place.with(Step::Field(index)), item, block);
                }
            }
            Type::Struct(def) => {
                for (index, (_, item)) in def.fields.iter().enumerate() {
                    self.of_inner(function, &place.with(Step::Field(index)), item, block);
                }
            }
            Type::Scalar(_) | Type::Enum(_) => {}
        }
    }
}

fn length(function: &mut Function, place: &Place, block: &mut Block) -> ValueId {
    let span = function.objects[place.object.index()].span;
    let value = function.new_value(Scalar::USIZE, span);
    block.push(Stmt::Let { value, op: Op::Len(place.clone()) });
    value
}

/// The lists that rows of other lists are copies of, the copies of lists of lists, what has copies of lists as its parts, and the copies of what may have
/// another shape in the end.
fn copies(
    function: &Function,
    block: &Block,
    swapped: &HashSet<ObjectId>,
    wanted: &mut HashSet<ObjectId>,
) {
    fn copied(init: &Init, f: &mut dyn FnMut(&Place)) {
        match init {
            Init::Copy(place) => f(place),
            Init::Items(items) => items.iter().for_each(|item| copied(item, f)),
            Init::Fill(item) | Init::Repeat(item, _) => copied(item, f),
            Init::Value(_) | Init::ZeroLike(_) => {}
        }
    }
    for node in block.iter() {
        if let Stmt::New { object, init } = node {
            copied(init, &mut |place| {
                let is_row = matches!(init, Init::Repeat(..)) && place.path.is_empty();
                if is_row {
                    wanted.insert(place.object);
                }
                let flat = function.place_type(place).is_none_or(|ty| match ty {
                    Type::Vec(item) => item.is_fixed(),
                    ty => ty.is_fixed(),
                });
                let is_part = matches!(init, Init::Items(_) | Init::Fill(_))
                    && function.place_type(place).is_some_and(|ty| !ty.is_fixed());
                if !flat || is_part || swapped.contains(&place.object) {
                    wanted.insert(*object);
                }
            });
        }
        node.blocks().iter().for_each(|inner| copies(function, inner, swapped, wanted));
    }
}
