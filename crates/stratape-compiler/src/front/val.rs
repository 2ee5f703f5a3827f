//! What an expression stands for while it is lowered. Aggregates and references exist only here:
//! a tuple is its parts, a reference is the thing it refers to, a closure is its text.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::choice::Choice;
use super::iter::Iter;
use super::later::Pointer;
use stratape_ir::{ObjectId, Place, Struct, Type, ValueId};

/// A scalar variable; the lowerer knows its current value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct VarId(pub(super) u32);

/// The kind of an aggregate that is held as its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Tuple,
    Struct(Arc<Struct>),
    /// A value of one of several variants: a tag, and the fields of every variant.
    Choice(Arc<Choice>),
}

impl Kind {
    /// The number of the field with a name.
    pub(super) fn field_named(&self, name: &str) -> Option<usize> {
        match self {
            Self::Struct(def) => def.fields.iter().position(|(field, _)| field == name),
            Self::Tuple | Self::Choice(_) => None,
        }
    }
}

/// What an expression yields.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Unit,
    /// Control does not come back; or the fields of a variant that a value is not.
    Never,
    Scalar(ValueId),
    /// A place expression, not read yet.
    Place(LValue),
    /// A reference to a place.
    Ref(LValue),
    Parts(Kind, Vec<Val>),
    /// The result of `a.total_cmp(&b)` where the flag is set, or of `a.cmp(&b)`: how `a` compares with `b`.
    Ordering(ValueId, ValueId, bool),
    Closure(Rc<Closure>),
    /// A function's path used as a value.
    Function(syn::ExprPath),
    Iter(Box<Iter>),
}

/// Something that can be read, and written if the borrow checker agrees.
#[derive(Clone, Debug)]
pub(super) enum LValue {
    Var(VarId),
    Memory(Memory),
    Parts(Kind, Vec<LValue>),
    /// A value that has no place: a reference to it reads it.
    Value(Box<Val>),
    /// A variable whose shape is not known yet, by its number.
    Later(u32),
    /// A variable that holds a reference.
    Pointer(Box<Pointer>),
    /// The first place where a condition holds, the second elsewhere.
    Either(ValueId, Box<LValue>, Box<LValue>),
}

/// A part of an object.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) place: Place,
    pub(super) ty: Type,
    /// Where the place is a list: the part of it that is meant.
    pub(super) window: Option<Window>,
    /// Where it is a `Vec` whose length changes: the variable that holds the length. The object may be longer.
    pub(super) len: Option<VarId>,
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) start: ValueId,
    pub(super) len: ValueId,
}

impl Memory {
    pub(super) fn whole(object: ObjectId, ty: Type) -> Self {
        Self { place: Place::whole(object), ty, window: None, len: None }
    }
}

/// Names in scope.
pub(super) type Names = HashMap<String, Binding>;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) val: Val,
}

/// A closure: its text, and the names it can see.
#[derive(Debug)]
pub(super) struct Closure {
    pub(super) text: syn::ExprClosure,
    pub(super) scopes: Vec<Names>,
}
