//! Places of memory: where they lead, and what is wrong where they lead nowhere.

use std::slice;

use super::machine::Machine;
use super::{Datum, Memory, Number, Observer, Trap, fault};
use stratape_ir::{ObjectId, Place, Scalar, Step, Type};

impl<N: Number, O: Observer> Machine<'_, N, O> {
    pub(super) fn place_scalar(&self, place: &Place) -> Result<Scalar, Trap> {
        let exists = place.object.index() < self.function.objects.len();
        let ty = if exists { self.function.place_type(place) } else { None };
        match ty.and_then(Type::scalar) {
            Some(scalar) => Ok(scalar),
            None => fault(format!("{place:?} is not one value")),
        }
    }

    /// What a place holds.
    pub(super) fn memory(&self, place: &Place) -> Result<&Memory<N>, Trap> {
        let Some(Some(memory)) = self.objects.get(place.object.index()) else {
            return fault(format!("{:?} is used before it is made", place.object));
        };
        let mut memory = memory;
        let path = self.path(place)?;
        self.keeps_to_window(place, &path)?;
        for (step, index) in place.path.iter().zip(path) {
            let items = match memory {
                Memory::List(items) => items.as_slice(),
                _ => return fault(format!("{place:?} leads into a single value")),
            };
            memory = match items.get(index) {
                Some(item) => item,
                None => return Err(self.missing(place.object, step, index, items.len())),
            };
        }
        Ok(memory)
    }

    pub(super) fn store(&mut self, place: &Place, datum: Datum<N>) -> Result<(), Trap> {
        match self.memory_mut(place)? {
            Memory::List(_) => fault(format!("{place:?} is not one value")),
            slot => {
                *slot = datum.into();
                Ok(())
            }
        }
    }

    /// What a place holds, to be changed.
    pub(super) fn memory_mut(&mut self, place: &Place) -> Result<&mut Memory<N>, Trap> {
        // Whether there is such a place.
        self.memory(place)?;
        let path = self.path(place)?;
        let Some(Some(memory)) = self.objects.get_mut(place.object.index()) else {
            return fault(format!("{:?} is used before it is made", place.object));
        };
        let mut target = slice::from_mut(memory);
        let mut at = 0;
        for index in path {
            target = match target.get_mut(at) {
                Some(Memory::List(items)) => items.as_mut_slice(),
                _ => return fault(format!("{place:?} leads into a single value")),
            };
            at = index;
        }
        match target.get_mut(at) {
            Some(slot) => Ok(slot),
            None => fault(format!("{place:?} leads nowhere")),
        }
    }

    /// Why there is no item: a missing element is the program's fault, a missing field ours.
    fn missing(&self, object: ObjectId, step: &Step, index: usize, len: usize) -> Trap {
        match step {
            Step::Index(_) => self.no_element(object, index as i128, len as i128),
            Step::Field(_) => Trap::Fault(format!("there is no field {index}")),
        }
    }

    /// The panic of an index out of bounds; that of a copy of every so many elements is one of the original.
    pub(super) fn no_element(&self, object: ObjectId, index: i128, len: i128) -> Trap {
        let copy = self.function.strided_copies.get(&object);
        let original = copy.and_then(|copy| {
            let list = self.objects.get(copy.of.index())?.as_ref()?;
            let Memory::List(items) = list else { return None };
            let index = index.checked_mul(copy.stride as i128)?.checked_add(copy.offset as i128)?;
            Some((index, items.len() as i128))
        });
        let (index, len) = original.unwrap_or((index, len));
        Trap::Panic(out_of_bounds(index, len))
    }

    pub(super) fn path(&self, place: &Place) -> Result<Vec<usize>, Trap> {
        let number = |step: &Step| match step {
            Step::Field(index) => Ok(*index),
            Step::Index(value) => match usize::try_from(self.int(*value)?) {
                Ok(index) => Ok(index),
                Err(_) => fault(format!("{value:?} is no index")),
            },
        };
        place.path.iter().map(number).collect()
    }
}

pub(super) fn out_of_bounds(index: i128, len: i128) -> String {
    format!("index out of bounds: the len is {len} but the index is {index}")
}
