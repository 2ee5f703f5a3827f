//! Places: paths into objects. Initial contents of objects.

use super::{ObjectId, ValueId};

/// One step of a path into an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// An element.
    Index(ValueId),
    /// A field of a struct or tuple, by position.
    Field(usize),
}

/// A path into an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// The way in.
    pub path: Vec<Step>,
}

impl Place {
    /// The whole object.
    pub fn whole(object: ObjectId) -> Self {
        Self { object, path: Vec::new() }
    }

    /// The place one step further in.
    pub fn with(&self, step: Step) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { object: self.object, path }
    }

    /// The same path in another object.
    pub fn of(&self, object: ObjectId) -> Self {
        Self { object, path: self.path.clone() }
    }

    /// Calls `f` with each index.
    pub fn for_each_operand(&self, f: &mut dyn FnMut(ValueId)) {
        for step in &self.path {
            if let Step::Index(index) = step {
                f(*index);
            }
        }
    }

    /// Calls `f` with each index, to be changed in place.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut ValueId)) {
        for step in &mut self.path {
            if let Step::Index(index) = step {
                f(index);
            }
        }
    }
}

/// The initial contents of an object.
#[derive(Clone, Debug)]
pub enum Init {
    /// Items in order: of an array, a tuple or a struct.
    Items(Vec<Init>),
    /// One value.
    Value(ValueId),
    /// `[item; extent]`, the extent from the type.
    Fill(Box<Init>),
    /// `vec![item; n]`
    Repeat(Box<Init>, ValueId),
    /// What another place holds.
    Copy(Place),
    /// The shape of another object, every float zero.
    ZeroLike(ObjectId),
}
