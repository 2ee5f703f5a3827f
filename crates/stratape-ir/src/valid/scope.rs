//! Scope: every value and every object is defined once, before its uses, in a block that encloses them.

use super::Fault;
use crate::{
    Block, Check, Function, Loop, ObjectId, Op, Param, Place, Polynomial, Range, RecordId,
    RegionId, Stmt, ValueId,
};

pub(super) fn check(function: &Function) -> Result<(), Fault> {
    let mut scope = Scope {
        function,
        values: vec![State::Unknown; function.values.len()],
        objects: vec![State::Unknown; function.objects.len()],
        open: Vec::new(),
    };
    for param in &function.params {
        match param {
            Param::Value(value) => scope.define(*value)?,
            Param::Object(object) => scope.make(*object)?,
        }
    }
    for node in &function.body {
        scope.node(node)?;
    }
    function.results.iter().try_for_each(|value| scope.visible(*value))?;
    function.kept.iter().try_for_each(|object| scope.exists(*object))
}

fn fault<T>(message: String) -> Result<T, Fault> {
    Err(Fault::new("scope", message))
}

/// Where the walk is with a value or an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not defined so far.
    Unknown,
    /// Defined, in this block or one around it.
    Visible,
    /// Defined in a block that has ended.
    Gone,
}

struct Scope<'a> {
    function: &'a Function,
    values: Vec<State>,
    objects: Vec<State>,
    /// What the blocks that are open have defined, in order.
    open: Vec<Param>,
}

impl Scope<'_> {
    fn define(&mut self, value: ValueId) -> Result<(), Fault> {
        match self.values.get_mut(value.index()) {
            None => fault(format!("{value:?} is not in the function's table")),
            Some(state) if *state != State::Unknown => fault(format!("{value:?} is defined twice")),
            Some(state) => {
                *state = State::Visible;
                self.open.push(Param::Value(value));
                Ok(())
            }
        }
    }

    fn make(&mut self, object: ObjectId) -> Result<(), Fault> {
        match self.objects.get_mut(object.index()) {
            None => fault(format!("{object:?} is not in the function's table")),
            Some(state) if *state != State::Unknown => fault(format!("{object:?} is made twice")),
            Some(state) => {
                *state = State::Visible;
                self.open.push(Param::Object(object));
                Ok(())
            }
        }
    }

    /// Ends the life of what was defined since.
    fn close(&mut self, since: usize) {
        for defined in self.open.drain(since..) {
            match defined {
                Param::Value(value) => self.values[value.index()] = State::Gone,
                Param::Object(object) => self.objects[object.index()] = State::Gone,
            }
        }
    }

    fn visible(&self, value: ValueId) -> Result<(), Fault> {
        if self.values.get(value.index()) == Some(&State::Visible) {
            return Ok(());
        }
        let known = self.function.values.get(value.index());
        let name = known.and_then(|known| known.name.as_deref()).unwrap_or("unnamed");
        fault(format!("{value:?} ({name}) is used where it is not defined"))
    }

    fn exists(&self, object: ObjectId) -> Result<(), Fault> {
        if self.objects.get(object.index()) == Some(&State::Visible) {
            return Ok(());
        }
        let name = self.function.objects.get(object.index()).map_or("", |known| &known.name);
        fault(format!("{object:?} ({name}) is used where it does not exist"))
    }

    fn place(&self, place: &Place) -> Result<(), Fault> {
        self.exists(place.object)?;
        match self.function.place_type(place) {
            Some(_) => Ok(()),
            None => fault(format!("{place:?} leads nowhere")),
        }
    }

    fn region(&self, region: RegionId) -> Result<(), Fault> {
        match region.index() < self.function.regions.len() {
            true => Ok(()),
            false => fault(format!("{region:?} is not in the function's table")),
        }
    }

    fn record(&self, record: RecordId) -> Result<(), Fault> {
        match record.index() < self.function.records.len() {
            true => Ok(()),
            false => fault(format!("{record:?} is not in the function's table")),
        }
    }

    fn block(&mut self, block: &Block, ends: &[ValueId]) -> Result<(), Fault> {
        let since = self.open.len();
        block.iter().try_for_each(|node| self.node(node))?;
        ends.iter().try_for_each(|value| self.visible(*value))?;
        self.close(since);
        Ok(())
    }

    fn node(&mut self, node: &Stmt) -> Result<(), Fault> {
        match node {
            Stmt::Loop(node) => return self.repeat(node),
            Stmt::If(node) => {
                self.visible(node.condition)?;
                let thens: Vec<_> = node.merges.iter().map(|merge| merge.then).collect();
                let others: Vec<_> = node.merges.iter().map(|merge| merge.other).collect();
                self.block(&node.then, &thens)?;
                self.block(&node.other, &others)?;
                return node.merges.iter().try_for_each(|merge| self.define(merge.value));
            }
            Stmt::Let { op: Op::Load(place) | Op::Len(place), .. }
            | Stmt::Store { place, .. }
            | Stmt::Accumulate { place, .. } => self.place(place)?,
            Stmt::New { init, .. } => {
                let mut objects = Vec::new();
                init.clone().for_each_object_mut(&mut |object| objects.push(*object));
                objects.into_iter().try_for_each(|object| self.exists(object))?;
                init.copied().into_iter().try_for_each(|place| self.place(place))?;
            }
            Stmt::Check { check: Check::Assert { objects, .. }, .. } => {
                objects.iter().try_for_each(|(_, object)| self.exists(*object))?;
            }
            Stmt::Call(_) | Stmt::Swap { .. } | Stmt::Atomic(_) | Stmt::Barrier(_) => {
                node.read().into_iter().try_for_each(|place| self.place(place))?;
            }
            Stmt::Save { record, slice } => {
                self.record(*record)?;
                self.place(&slice.place)?;
            }
            Stmt::Refill { record, place } => {
                self.record(*record)?;
                self.place(place)?;
            }
            Stmt::Push { record, .. } | Stmt::Pop { record, .. } | Stmt::Restore { record, .. } => {
                self.record(*record)?;
            }
            Stmt::Let { .. } | Stmt::Check { .. } | Stmt::Shuffle(_) => {}
        }
        let mut result = Ok(());
        node.for_each_operand(&mut |value| {
            if result.is_ok() {
                result = self.visible(value);
            }
        });
        result?;
        if let Stmt::New { object, .. } | Stmt::Restore { object, .. } = node {
            self.make(*object)?;
        }
        let mut results = Vec::new();
        node.for_each_result(&mut |value| results.push(value));
        results.into_iter().try_for_each(|value| self.define(value))
    }

    fn repeat(&mut self, node: &Loop) -> Result<(), Fault> {
        if let Range::UpTo { from, to } = node.range {
            self.visible(from)?;
            self.visible(to)?;
        }
        self.schedule(node)?;
        node.carried.iter().try_for_each(|carried| self.visible(carried.init))?;
        let since = self.open.len();
        self.define(node.counter)?;
        node.carried.iter().try_for_each(|carried| self.define(carried.inside))?;
        let mut ends: Vec<_> = node.carried.iter().map(|carried| carried.next).collect();
        ends.extend(node.exit);
        self.block(&node.body, &ends)?;
        self.close(since);
        node.carried.iter().try_for_each(|carried| self.define(carried.after))?;
        node.trips.into_iter().try_for_each(|trips| self.define(trips))
    }

    /// What a schedule computes before the loop begins.
    fn schedule(&self, node: &Loop) -> Result<(), Fault> {
        let Some(schedule) = &node.schedule else { return Ok(()) };
        let known = |object: ObjectId, polynomials: &[&Polynomial]| {
            self.exists(object)?;
            let mut symbols = polynomials.iter().flat_map(|polynomial| polynomial.symbols());
            symbols.try_for_each(|symbol| self.visible(symbol))
        };
        if let Some(strip) = &schedule.strip {
            strip.region.into_iter().try_for_each(|region| self.region(region))?;
            strip.views.iter().try_for_each(|view| known(view.object, &[&view.base]))?;
            strip.splits.iter().try_for_each(|split| known(split.object, &[&split.pivot]))?;
        }
        if let Some(simd) = &schedule.simd {
            simd.rotations.iter().try_for_each(|one| known(one.object, &[&one.base]))?;
        }
        if let Some(parts) = &schedule.parts {
            for (object, window) in &parts.windows {
                known(*object, &[&window.stride, &window.base])?;
            }
            parts.private.iter().try_for_each(|object| known(*object, &[]))?;
        }
        Ok(())
    }
}
