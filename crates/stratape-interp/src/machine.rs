//! The state of a run, and how nodes change it.

use super::access::out_of_bounds;
use super::message::message;
use super::operation::binary;
use super::region::{Frames, Open};
use super::{Access, Argument, Datum, Memory, Number, Observer, Options, Outcome, Trap, fault};
use stratape_ir::{
    Binary, Block, Check, Extent, Function, Init, Loop, ObjectId, Param, Place, Range, RecordId,
    Scalar, Slice, Stmt, Type, ValueId,
};

/// What a record on the tape holds.
#[derive(Clone)]
pub(super) enum Entry<N> {
    Values(Vec<Datum<N>>),
    /// A copy of a list, or of a part that begins at an index.
    Copy(usize, Vec<Memory<N>>),
    /// What the iterations of a strip have left.
    Layer(Frames<N>),
}

/// An iteration that is being run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Iteration {
    /// The loop's counter.
    pub(super) counter: i128,
    /// How many were run before it.
    number: i128,
    /// Its place in the range.
    pub(super) place: i128,
}

/// Whether a record of some iterations is popped in others: they have the same counters, or count what the loop that pushed had run.
fn belong(pushed: &[Iteration], popped: &[Iteration]) -> bool {
    pushed.len() == popped.len()
        && pushed
            .iter()
            .zip(popped)
            .all(|(from, to)| to.counter == from.counter || to.counter == from.number)
}

/// What lies on the tape: the kind of record, if it is one, the iterations of the loops around it that left it there, its contents.
pub(super) type Record<N> = (Option<RecordId>, Vec<Iteration>, Entry<N>);

/// A run of a function.
pub(super) struct Machine<'a, N, O> {
    pub(super) function: &'a Function,
    pub(super) options: &'a Options,
    pub(super) observer: &'a mut O,
    /// Whether a run is only tried: its observer is told nothing.
    pub(super) tried: bool,
    pub(super) values: Vec<Option<Datum<N>>>,
    pub(super) objects: Vec<Option<Memory<N>>>,
    pub(super) tape: Vec<Record<N>>,
    /// The tapes of the parts of loops.
    pub(super) lanes: Vec<Vec<Record<N>>>,
    /// The layer that is being filled or taken.
    pub(super) open: Option<Open<N>>,
    /// What a part may access of objects that are divided: from, to.
    pub(super) windows: Vec<(ObjectId, i128, i128)>,
    /// The iterations that are being run, outermost first.
    pub(super) iterations: Vec<Iteration>,
    pub(super) on_tape: usize,
    pub(super) peak: usize,
    pub(super) pushes: u64,
    fuel: u64,
    /// What decides the orders of loops that have none.
    pub(super) random: u64,
}

impl<'a, N: Number, O: Observer> Machine<'a, N, O> {
    pub(super) fn new(function: &'a Function, options: &'a Options, observer: &'a mut O) -> Self {
        Self {
            function,
            options,
            observer,
            tried: false,
            values: vec![None; function.values.len()],
            objects: vec![None; function.objects.len()],
            tape: Vec::new(),
            lanes: Vec::new(),
            open: None,
            windows: Vec::new(),
            iterations: Vec::new(),
            on_tape: 0,
            peak: 0,
            pushes: 0,
            fuel: options.fuel,
            random: options.shuffle.unwrap_or(0),
        }
    }

    /// Binds the parameters.
    pub(super) fn enter(&mut self, args: Vec<Argument<N>>) -> Result<(), Trap> {
        let params = &self.function.params;
        if args.len() != params.len() {
            return fault(format!("{} arguments for {} parameters", args.len(), params.len()));
        }
        for (param, arg) in params.iter().zip(args) {
            let memory = match arg {
                Argument::Float(number) => Memory::Float(number),
                Argument::Int(number) => Memory::Int(number),
                Argument::Bool(value) => Memory::Bool(value),
                Argument::Memory(memory) => memory,
            };
            match (param, memory.datum()) {
                (Param::Value(value), Some(datum)) => self.set(*value, datum)?,
                (Param::Value(value), None) => {
                    return fault(format!("memory for the value parameter {value:?}"));
                }
                (Param::Object(object), _) => {
                    self.set_object(*object, memory)?;
                    self.tell_object(*object);
                }
            }
        }
        Ok(())
    }

    /// Collects what the function leaves.
    pub(super) fn leave(mut self) -> Result<Outcome<N>, Trap> {
        let left = self.tape.len() + self.lanes.iter().map(Vec::len).sum::<usize>();
        if left > 0 {
            return fault(format!("{left} records stay on the tape"));
        }
        let results = self.get_all(&self.function.results)?;
        let mut memory = Vec::new();
        for param in &self.function.params {
            if let Param::Object(object) = param {
                match self.objects.get_mut(object.index()).and_then(Option::take) {
                    Some(contents) => memory.push(contents),
                    None => return fault(format!("the parameter {object:?} is gone")),
                }
            }
        }
        Ok(Outcome { results, memory, pushes: self.pushes, peak: self.peak })
    }

    /// Runs a block.
    pub(super) fn block(&mut self, block: &Block) -> Result<(), Trap> {
        block.iter().try_for_each(|node| self.node(node))
    }

    pub(super) fn node(&mut self, node: &Stmt) -> Result<(), Trap> {
        self.burn()?;
        match node {
            Stmt::Let { value, op } => {
                let datum = self.evaluate(op, self.ty(*value)?)?;
                self.tell_operation(*value, op)?;
                self.set(*value, datum)
            }
            Stmt::Store { place, value } => {
                let datum = self.get(*value)?.fit(self.place_scalar(place)?)?;
                self.tell_write(place, Some(*value), false)?;
                self.store(place, datum)
            }
            Stmt::Accumulate { place, value, subtract } => {
                let ty = self.place_scalar(place)?;
                let Some(old) = self.memory(place)?.datum() else {
                    return fault(format!("{place:?} holds more than one value"));
                };
                let sign = if *subtract { Binary::Sub } else { Binary::Add };
                let new = binary(sign, old, self.get(*value)?, ty)?;
                self.tell_write(place, Some(*value), true)?;
                self.store(place, new)
            }
            Stmt::New { object, init } => {
                let Some(known) = self.function.objects.get(object.index()) else {
                    return fault(format!("{object:?} does not exist"));
                };
                let mut memory = self.initial(init, &known.ty)?;
                if self.function.unfilled.contains(object) {
                    // Whoever reads it before it is written shall notice.
                    memory = memory.filled(f64::NAN);
                }
                self.set_object(*object, memory)?;
                self.tell_object(*object);
                Ok(())
            }
            Stmt::Swap { a, b } => {
                let (first, second) = (self.memory(a)?.clone(), self.memory(b)?.clone());
                self.tell_write(a, None, false)?;
                self.tell_write(b, None, false)?;
                *self.memory_mut(a)? = second;
                *self.memory_mut(b)? = first;
                Ok(())
            }
            Stmt::Loop(node) => self.repeat(node),
            Stmt::If(node) => {
                let condition = self.bool(node.condition)?;
                self.block(if condition { &node.then } else { &node.other })?;
                let chosen = |merge: &stratape_ir::Merge| {
                    if condition { merge.then } else { merge.other }
                };
                let sources: Vec<_> = node.merges.iter().map(chosen).collect();
                let data = self.get_all(&sources)?;
                self.forget(if condition { &node.then } else { &node.other });
                let merged = node.merges.iter().map(|merge| merge.value);
                self.tell_handed_on(merged.clone(), sources.into_iter());
                self.set_all(merged, data)
            }
            Stmt::Check { check, .. } => self.check(check),
            Stmt::Push { record, values: names } => {
                let values = self.get_all(names)?;
                self.pushes += 1;
                self.on_tape += values.len();
                self.peak = self.peak.max(self.on_tape);
                self.tell_tape(Access::Push(*record, names));
                if self.open.is_some() {
                    return self.fill(*record, values);
                }
                self.tape.push((Some(*record), self.iterations.clone(), Entry::Values(values)));
                Ok(())
            }
            Stmt::Pop { record, values } => self.pop(*record, values),
            Stmt::Save { record, slice } => {
                let (start, items) = self.part(slice)?;
                self.pushes += 1;
                self.on_tape += items.len();
                self.peak = self.peak.max(self.on_tape);
                self.tell_tape(Access::Save(*record, slice.place.object, start, items.len()));
                let entry = Entry::Copy(start, items);
                self.tape.push((Some(*record), self.iterations.clone(), entry));
                Ok(())
            }
            Stmt::Restore { record, object } => {
                let (_, items) = self.copy(*record)?;
                let count = items.len();
                self.set_object(*object, Memory::List(items))?;
                self.tell_object(*object);
                self.tell_tape(Access::Restore(*record, *object, 0, count));
                Ok(())
            }
            Stmt::Refill { record, place } => {
                let (start, items) = self.copy(*record)?;
                self.tell_tape(Access::Restore(*record, place.object, start, items.len()));
                let Memory::List(list) = self.memory_mut(place)? else {
                    return fault(format!("{place:?} has no items"));
                };
                match list.get_mut(start..start + items.len()) {
                    Some(part) => {
                        part.clone_from_slice(&items);
                        Ok(())
                    }
                    None => fault(format!("{record:?} does not fit {place:?}")),
                }
            }
            Stmt::Call(call) => Err(Trap::Unknown(format!("function `{}`", call.function))),
            Stmt::Atomic(_) | Stmt::Barrier(_) | Stmt::Shuffle(_) => {
                Err(Trap::Unknown("a kernel, which `simt` runs".to_owned()))
            }
        }
    }

    fn repeat(&mut self, node: &Loop) -> Result<(), Trap> {
        if self.options.shuffle.is_some() && self.has_no_order(node) {
            return self.shuffled(node);
        }
        let counted = node.exit.is_none() && node.trips.is_none();
        let schedule = node.schedule.as_ref().filter(|_| self.options.shuffle.is_none());
        if let Some(schedule) = schedule.filter(|_| counted) {
            return self.scheduled(node, schedule);
        }
        let strip = schedule.and_then(|schedule| schedule.strip.as_ref());
        let region = strip.and_then(|strip| strip.region);
        let inits: Vec<_> = node.carried.iter().map(|carried| carried.init).collect();
        let (from, count) = match node.range {
            Range::UpTo { from, to } => {
                let (from, to) = (self.int(from)?, self.int(to)?);
                (from, Some(to.saturating_sub(from)))
            }
            Range::Forever if node.reversed => return fault("a reversed loop without end"),
            Range::Forever => (0, None),
        };
        let mut state = self.get_all(&inits)?;
        let insides = node.carried.iter().map(|carried| carried.inside);
        self.tell_handed_on(insides.clone(), inits.into_iter());
        let mut trips = 0;
        while count.is_none_or(|count| trips < count) {
            let counter = match count {
                Some(count) if node.reversed => from + (count - 1 - trips),
                _ => from + trips,
            };
            if let Some(region) = region {
                self.next_frame(node, region)?;
            }
            let ends;
            (state, ends) = self.iteration(node, counter, state)?;
            trips += 1;
            if ends {
                break;
            }
        }
        if region.is_some() {
            self.close_layer(node)?;
        }
        let afters = node.carried.iter().map(|carried| carried.after);
        self.tell_handed_on(afters.clone(), insides);
        self.set_all(afters, state)?;
        match node.trips {
            Some(value) => self.set(value, Datum::Int(trips)),
            None => Ok(()),
        }
    }

    /// One iteration: what it is handed; what it hands on, and whether it ends the loop.
    pub(super) fn iteration(
        &mut self,
        node: &Loop,
        counter: i128,
        state: Vec<Datum<N>>,
    ) -> Result<(Vec<Datum<N>>, bool), Trap> {
        self.burn()?;
        self.set(node.counter, Datum::Int(counter))?;
        self.set_all(node.carried.iter().map(|carried| carried.inside), state)?;
        self.begin_iteration(node, counter)?;
        self.block(&node.body)?;
        self.iterations.pop();
        let nexts: Vec<ValueId> = node.carried.iter().map(|carried| carried.next).collect();
        let state = self.get_all(&nexts)?;
        let insides = node.carried.iter().map(|carried| carried.inside);
        self.tell_handed_on(insides, nexts.into_iter());
        let ends = node.exit.map(|exit| self.bool(exit)).transpose()?;
        self.forget(&node.body);
        Ok((state, ends == Some(true)))
    }

    pub(super) fn begin_iteration(&mut self, node: &Loop, counter: i128) -> Result<(), Trap> {
        let place = match node.range {
            Range::UpTo { from, .. } => counter - self.int(from)?,
            Range::Forever => counter,
        };
        let number = match node.range {
            Range::UpTo { to, .. } if node.reversed => self.int(to)? - 1 - counter,
            _ => place,
        };
        self.iterations.push(Iteration { counter, number, place });
        Ok(())
    }

    fn check(&self, check: &Check) -> Result<(), Trap> {
        let message = match check {
            Check::Assert { condition, otherwise, names, prints, .. } => {
                if self.bool(*condition)? || *prints {
                    return Ok(());
                }
                let value = |name: &str| {
                    let named = names.iter().find(|(known, _)| known == name);
                    named.and_then(|(_, value)| self.get(*value).ok())
                };
                message(&otherwise.text, &value).unwrap_or_else(|| otherwise.to_string())
            }
            Check::Bounds { index, len } => {
                let (index, len) = (self.int(*index)?, self.int(*len)?);
                if index < len {
                    return Ok(());
                }
                out_of_bounds(index, len)
            }
            Check::Range { from, to, len } => {
                let (from, to, len) = (self.int(*from)?, self.int(*to)?, self.int(*len)?);
                if from > to {
                    format!("slice index starts at {from} but ends at {to}")
                } else if to > len {
                    format!("range end index {to} out of range for slice of length {len}")
                } else {
                    return Ok(());
                }
            }
            Check::Library { condition, message } => {
                if self.bool(*condition)? {
                    return Ok(());
                }
                message.clone()
            }
        };
        Err(Trap::Panic(message))
    }

    fn pop(&mut self, record: RecordId, values: &[ValueId]) -> Result<(), Trap> {
        self.tell_tape(Access::Pop(record, values));
        let top = if self.open.is_some() {
            let (iterations, saved) = self.take_out(record)?;
            Some((Some(record), iterations, Entry::Values(saved)))
        } else {
            self.tape.pop()
        };
        let (found, iterations, saved) = match top {
            Some((found, iterations, Entry::Values(saved))) => (found, iterations, saved),
            Some((found, ..)) => {
                return fault(format!(
                    "{record:?} is popped where {found:?} lies, a copy or a layer"
                ));
            }
            None => return fault(format!("{record:?} is popped from an empty tape")),
        };
        if found != Some(record) || saved.len() != values.len() {
            return fault(format!(
                "{record:?} with {} slots is popped where {found:?} with {} lies",
                values.len(),
                saved.len()
            ));
        }
        if !belong(&iterations, &self.iterations) {
            return fault(format!(
                "{record:?} of the iterations {iterations:?} is popped in {:?}",
                self.iterations
            ));
        }
        self.on_tape -= saved.len();
        self.set_all(values.iter().copied(), saved)
    }

    /// The items of a slice.
    /// What of a list goes to the tape, and where it begins: nothing, if the part does not lie in the list.
    fn part(&self, slice: &Slice) -> Result<(usize, Vec<Memory<N>>), Trap> {
        let Memory::List(items) = self.memory(&slice.place)? else {
            return fault(format!("{:?} has no items", slice.place));
        };
        let Some((start, len)) = slice.part else { return Ok((0, items.clone())) };
        let (Ok(start), Ok(len)) =
            (usize::try_from(self.int(start)?), usize::try_from(self.int(len)?))
        else {
            return fault(format!("{:?} is negative", slice.part));
        };
        let part = start.checked_add(len).and_then(|end| items.get(start..end));
        Ok(part.map_or((0, Vec::new()), |part| (start, part.to_vec())))
    }

    /// Takes a copy of a list from the tape.
    fn copy(&mut self, record: RecordId) -> Result<(usize, Vec<Memory<N>>), Trap> {
        match self.tape.pop() {
            Some((found, iterations, Entry::Copy(start, items)))
                if found == Some(record) && belong(&iterations, &self.iterations) =>
            {
                self.on_tape -= items.len();
                Ok((start, items))
            }
            other => {
                let found = other.and_then(|(found, ..)| found);
                fault(format!("{record:?} is restored where {found:?} lies"))
            }
        }
    }

    fn initial(&self, init: &Init, ty: &Type) -> Result<Memory<N>, Trap> {
        let memory = match init {
            Init::Items(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let Some(inner) = ty.element().or_else(|| ty.field(index)) else {
                        return fault(format!("{ty} has no item {index}"));
                    };
                    list.push(self.initial(item, inner)?);
                }
                Memory::List(list)
            }
            Init::Value(value) => self.get(*value)?.into(),
            Init::Fill(item) => {
                let Type::Array(inner, extent) = ty else {
                    return fault(format!("{ty} is filled, its length not known"));
                };
                let len = match extent {
                    Extent::Known(len) => *len,
                    Extent::Const(tokens) => self.constant(&tokens.to_string())? as usize,
                };
                Memory::List(vec![self.initial(item, inner)?; len])
            }
            Init::Repeat(item, len) => {
                let Some(inner) = ty.element() else {
                    return fault(format!("{ty} has no elements"));
                };
                let Ok(len) = usize::try_from(self.int(*len)?) else {
                    return fault("a negative length");
                };
                // Elements are what costs here: without it one node could ask for all memory.
                if len as u64 > self.fuel {
                    return Err(Trap::Fuel);
                }
                Memory::List(vec![self.initial(item, inner)?; len])
            }
            Init::Copy(place) => self.memory(place)?.clone(),
            Init::ZeroLike(object) => self.memory(&Place::whole(*object))?.zeroed(),
        };
        Ok(memory)
    }

    pub(super) fn burn(&mut self) -> Result<(), Trap> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Trap::Fuel)?;
        Ok(())
    }

    /// The number a constant stands for.
    pub(super) fn constant(&self, text: &str) -> Result<f64, Trap> {
        let unknown = || Trap::Unknown(format!("constant `{text}`"));
        self.options.constants.get(text).copied().ok_or_else(unknown)
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> Result<Scalar, Trap> {
        match self.function.values.get(value.index()) {
            Some(known) => Ok(known.ty),
            None => fault(format!("{value:?} does not exist")),
        }
    }

    pub(super) fn set(&mut self, value: ValueId, datum: Datum<N>) -> Result<(), Trap> {
        let datum = datum.fit(self.ty(value)?)?;
        match self.values.get_mut(value.index()) {
            Some(slot) => *slot = Some(datum),
            None => return fault(format!("{value:?} does not exist")),
        }
        Ok(())
    }

    pub(super) fn set_all(
        &mut self,
        values: impl Iterator<Item = ValueId>,
        data: Vec<Datum<N>>,
    ) -> Result<(), Trap> {
        values.zip(data).try_for_each(|(value, datum)| self.set(value, datum))
    }

    /// Ends the life of what a block has defined: whoever uses it later shall notice.
    pub(super) fn forget(&mut self, block: &Block) {
        for node in block {
            node.for_each_result(&mut |value| self.values[value.index()] = None);
            if let Stmt::New { object, .. } | Stmt::Restore { object, .. } = node {
                self.objects[object.index()] = None;
            }
        }
    }

    /// What a value holds.
    pub(super) fn get(&self, value: ValueId) -> Result<Datum<N>, Trap> {
        match self.values.get(value.index()) {
            Some(Some(datum)) => Ok(*datum),
            _ => fault(format!("{value:?} is used before it is defined")),
        }
    }

    pub(super) fn get_all(&self, values: &[ValueId]) -> Result<Vec<Datum<N>>, Trap> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    /// The float a value holds.
    pub(super) fn float(&self, value: ValueId) -> Result<N, Trap> {
        match self.get(value)? {
            Datum::Float(number) => Ok(number),
            other => fault(format!("{value:?} is {other:?} where a float is expected")),
        }
    }

    /// The integer a value holds.
    pub(super) fn int(&self, value: ValueId) -> Result<i128, Trap> {
        match self.get(value)? {
            Datum::Int(number) => Ok(number),
            other => fault(format!("{value:?} is {other:?} where an integer is expected")),
        }
    }

    /// The boolean a value holds.
    pub(super) fn bool(&self, value: ValueId) -> Result<bool, Trap> {
        match self.get(value)? {
            Datum::Bool(value) => Ok(value),
            other => fault(format!("{value:?} is {other:?} where a boolean is expected")),
        }
    }

    fn set_object(&mut self, object: ObjectId, memory: Memory<N>) -> Result<(), Trap> {
        let known = self.function.objects.get(object.index());
        let (Some(known), Some(slot)) = (known, self.objects.get_mut(object.index())) else {
            return fault(format!("{object:?} does not exist"));
        };
        *slot = Some(memory.fit(&known.ty)?);
        Ok(())
    }
}
