//! What an observer is told of a run.

use super::machine::Machine;
use super::{Access, Class, Number, Observer, Trap};
use stratape_ir::{Half, ObjectId, Op, Place, RegionId, ValueId};

impl<N: Number, O: Observer> Machine<'_, N, O> {
    /// What a value serves.
    fn class(&self, value: ValueId) -> Class {
        let adjoint = self.function.values.get(value.index()).is_some_and(|known| known.adjoint);
        if adjoint { Class::Adjoint } else { Class::Primal }
    }

    pub(super) fn tell_tape(&mut self, access: Access<'_>) {
        if !self.tried {
            self.observer.access(access, Class::Primal);
        }
    }

    pub(super) fn tell_layer(&mut self, region: RegionId, frames: usize, half: Half) {
        if !self.tried {
            self.observer.layer(region, frames, half);
        }
    }

    pub(super) fn tell_operation(&mut self, value: ValueId, op: &Op) -> Result<(), Trap> {
        if !O::LISTENS || self.tried {
            return Ok(());
        }
        let class = self.class(value);
        self.observer.operation(value, op, class);
        if let Op::Load(place) = op {
            let path = self.path(place)?;
            let class = self.class_of(place.object);
            self.observer.access(Access::Read(place.object, &path), class);
        }
        Ok(())
    }

    /// Tells of values that become what others are.
    pub(super) fn tell_handed_on(
        &mut self,
        to: impl Iterator<Item = ValueId>,
        from: impl Iterator<Item = ValueId>,
    ) {
        if !O::LISTENS || self.tried {
            return;
        }
        let (to, from): (Vec<_>, Vec<_>) = to.zip(from).unzip();
        if !to.is_empty() {
            self.observer.handed_on(&to, &from);
        }
    }

    /// Tells of an object that is there from now on.
    pub(super) fn tell_object(&mut self, object: ObjectId) {
        if !O::LISTENS || self.tried {
            return;
        }
        if let Some(Some(memory)) = self.objects.get(object.index()) {
            self.observer.object(object, &memory.sizes());
        }
    }

    pub(super) fn tell_write(
        &mut self,
        place: &Place,
        value: Option<ValueId>,
        adds: bool,
    ) -> Result<(), Trap> {
        if !O::LISTENS || self.tried {
            return Ok(());
        }
        let path = self.path(place)?;
        let class = self.class_of(place.object);
        let access = match value {
            Some(value) if adds => Access::Add(place.object, &path, value),
            value => Access::Write(place.object, &path, value),
        };
        self.observer.access(access, class);
        Ok(())
    }

    fn class_of(&self, object: ObjectId) -> Class {
        if self.function.holds_adjoints(object) { Class::Adjoint } else { Class::Primal }
    }
}
