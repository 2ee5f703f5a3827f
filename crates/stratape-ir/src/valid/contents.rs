//! Types of what objects hold: contents have the shape of the object that is made of them.

use super::types::Types;
use crate::{Extent, Init, ObjectId, Scalar, Type};

impl Types<'_> {
    /// Whether an object that holds adjoints has the shape of the object they belong to.
    pub(super) fn shadow(&self, object: ObjectId) -> bool {
        let known = &self.function.objects[object.index()];
        known.shadow_of.is_none_or(|primal| {
            let primal = self.function.objects.get(primal.index());
            primal.is_some_and(|primal| is_alike(&known.ty, &primal.ty))
        })
    }

    /// Whether contents are those of an object of a type.
    pub(super) fn init(&self, init: &Init, ty: &Type) -> bool {
        match init {
            Init::Items(items) => {
                has_items(ty, items.len())
                    && items.iter().enumerate().all(|(at, one)| {
                        let inner = ty.element().or_else(|| ty.field(at));
                        inner.is_some_and(|inner| self.init(one, inner))
                    })
            }
            Init::Value(value) => ty.scalar().is_some_and(|scalar| self.is(*value, scalar)),
            Init::Fill(item) => {
                matches!(ty, Type::Array(inner, _) if self.init(item, inner))
            }
            Init::Repeat(item, len) => {
                let list = matches!(ty, Type::Vec(_) | Type::Slice(_));
                list && self.is(*len, Scalar::USIZE)
                    && ty.element().is_some_and(|inner| self.init(item, inner))
            }
            Init::Copy(place) => {
                self.function.place_type(place).is_some_and(|copied| is_alike(ty, copied))
            }
            Init::ZeroLike(object) => is_alike(ty, &self.function.objects[object.index()].ty),
        }
    }
}

/// Whether a type can have so many items, as far as its text says.
fn has_items(ty: &Type, count: usize) -> bool {
    match ty {
        Type::Array(_, Extent::Known(len)) => *len == count,
        Type::Array(_, Extent::Const(_)) | Type::Slice(_) | Type::Vec(_) => true,
        Type::Tuple(items) => items.len() == count,
        Type::Struct(def) => def.fields.len() == count,
        Type::Scalar(_) | Type::Enum(_) => false,
    }
}

/// Whether an object of one type can have the shape of one of another: they are the same, but for how lists are kept. A list whose
/// length is in its type has that of the other.
fn is_alike(ty: &Type, other: &Type) -> bool {
    match (ty, other) {
        (Type::Array(a, x), Type::Array(b, y)) => x == y && is_alike(a, b),
        (Type::Slice(a) | Type::Vec(a), Type::Array(b, _) | Type::Slice(b) | Type::Vec(b)) => {
            is_alike(a, b)
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b))
        }
        (a, b) => a == b,
    }
}
