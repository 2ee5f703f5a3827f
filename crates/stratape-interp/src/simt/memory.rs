//! The memory that threads of a block see: where a place lies, what it holds, and who races for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use super::cells::{cells, extent};
use super::machine::{Machine, Mask};
use super::races::{Kind, Races, Who};
use super::{Fault, FaultKind, malformed};
use stratape_ir::{Function, Init, ObjectId, Place, Scalar, Step, Stmt, Type, ValueId, WARP, walk};

/// Memory of one object.
#[derive(Debug)]
pub(super) enum Memory<'a> {
    Global(&'a [AtomicU64]),
    /// One for the block; which cells were written, if that is checked.
    Shared(Vec<u64>, Vec<bool>),
    /// One for each thread, cell by cell.
    Own(Vec<u64>),
}

/// How the cell of a place is found.
#[derive(Debug)]
pub(super) struct Way {
    object: ObjectId,
    offset: usize,
    /// Where the registers of an index begin, how many elements there are, and how many cells an element has.
    steps: Vec<(usize, u64, usize)>,
}

/// Bytes of a number on a device.
fn bytes(ty: Scalar) -> usize {
    match ty {
        Scalar::Int(int) => int.bits() as usize / 8,
        Scalar::Bool => 1,
        Scalar::Float(stratape_ir::Float::F32) => 4,
        _ => 8,
    }
}

/// Bytes of shared memory that a kernel declares itself: its arrays, and on a device what sums over a block take.
///
/// # Errors
/// If a constant in the type of an array is not known.
pub fn static_shared(kernel: &Function, constants: &HashMap<String, f64>) -> Result<usize, Fault> {
    let mut sum = 0_usize;
    for object in &kernel.shared {
        let mut item = &kernel.objects[object.index()].ty;
        if matches!(item, Type::Vec(_)) {
            continue;
        }
        let count = cells(item, constants)?;
        while let Some(inner) = item.element() {
            item = inner;
        }
        let own = count.saturating_mul(item.scalar().map_or(8, bytes));
        sum = sum.saturating_add(own.next_multiple_of(8));
    }
    let mut summed = BTreeSet::new();
    walk(&kernel.body, &mut |node| {
        if let Stmt::Atomic(atomic) = node
            && atomic.block
        {
            summed.insert(bytes(kernel.ty(atomic.value)));
        }
    });
    Ok(summed.into_iter().fold(sum, |sum, bytes| sum.saturating_add(bytes * WARP)))
}

impl Machine<'_> {
    /// The elements of a list.
    pub(super) fn len(&self, place: &Place) -> Result<usize, Fault> {
        match (self.kernel.place_type(place), place.path.is_empty()) {
            (Some(Type::Array(_, n)), _) => extent(n, &self.launch.constants),
            (Some(Type::Slice(_) | Type::Vec(_)), true) => Ok(self.lens[place.object.index()]),
            _ => malformed(format!("{place:?} has no length")),
        }
    }

    /// How the cell is found that a path leads to: the same for all threads.
    pub(super) fn way(&self, place: &Place) -> Result<Way, Fault> {
        let constants = &self.launch.constants;
        let mut ty = &self.kernel.objects[place.object.index()].ty;
        let mut way = Way { object: place.object, offset: 0, steps: Vec::with_capacity(2) };
        for (depth, step) in place.path.iter().enumerate() {
            match step {
                Step::Index(index) => {
                    let (len, item) = match ty {
                        Type::Array(item, n) => (extent(n, constants)?, &**item),
                        Type::Slice(item) | Type::Vec(item) if depth == 0 => {
                            (self.lens[place.object.index()], &**item)
                        }
                        _ => return malformed(format!("{place:?} leads nowhere")),
                    };
                    way.steps.push((self.start(*index), len as u64, cells(item, constants)?));
                    ty = item;
                }
                Step::Field(field) => {
                    for earlier in (0..*field).filter_map(|earlier| ty.field(earlier)) {
                        way.offset += cells(earlier, constants)?;
                    }
                    let Some(inner) = ty.field(*field) else {
                        return malformed(format!("{place:?} leads nowhere"));
                    };
                    ty = inner;
                }
            }
        }
        Ok(way)
    }

    /// The cell of a thread.
    pub(super) fn cell(&self, way: &Way, lane: u32) -> Result<usize, Fault> {
        let mut at = way.offset;
        for (index, len, stride) in &way.steps {
            let index = self.registers[index + lane as usize];
            if index >= *len {
                let name = &self.kernel.objects[way.object.index()].name;
                let name = if name.is_empty() { "an array" } else { name };
                let message =
                    format!("index {index} is out of bounds: `{name}` has {len} elements");
                return Err(self.fault(FaultKind::OutOfBounds, lane, message));
            }
            at += index as usize * stride;
        }
        Ok(at)
    }

    pub(super) fn read(&self, object: ObjectId, at: usize, lane: u32) -> Result<u64, Fault> {
        match &self.objects[object.index()] {
            Some(Memory::Global(cells)) => Ok(cells[at].load(Ordering::Relaxed)),
            Some(Memory::Own(cells)) => Ok(cells[at * self.width + lane as usize]),
            Some(Memory::Shared(cells, written)) => {
                if written.get(at) == Some(&false) {
                    let name = &self.kernel.objects[object.index()].name;
                    let message =
                        format!("shared memory `{name}` is read at {at}, where nobody wrote");
                    return Err(self.fault(FaultKind::Uninitialised, lane, message));
                }
                Ok(cells[at])
            }
            None => malformed(format!("{object:?} does not exist")),
        }
    }

    pub(super) fn write(&mut self, object: ObjectId, at: usize, lane: u32, cell: u64) {
        match &mut self.objects[object.index()] {
            Some(Memory::Global(cells)) => cells[at].store(cell, Ordering::Relaxed),
            Some(Memory::Own(cells)) => cells[at * self.width + lane as usize] = cell,
            Some(Memory::Shared(cells, written)) => {
                cells[at] = cell;
                if let Some(written) = written.get_mut(at) {
                    *written = true;
                }
            }
            None => {}
        }
    }

    pub(super) fn load(&mut self, value: ValueId, place: &Place, mask: &Mask) -> Result<(), Fault> {
        let way = self.way(place)?;
        for &lane in mask.lanes() {
            let at = self.cell(&way, lane)?;
            let cell = self.read(place.object, at, lane)?;
            self.set(value, lane, cell);
        }
        Ok(())
    }

    /// Reports an access that races with another.
    pub(super) fn watch(
        &self,
        place: &Place,
        kind: Kind,
        mask: &Mask,
        races: &mut Option<&mut Races>,
    ) -> Result<(), Fault> {
        let Some(races) = races else { return Ok(()) };
        if matches!(&self.objects[place.object.index()], Some(Memory::Own(_))) {
            return Ok(());
        }
        let way = self.way(place)?;
        for &lane in mask.lanes() {
            let at = self.cell(&way, lane)?;
            let who = Who { lane, block: self.number, epoch: self.epoch };
            if let Some((other, before)) = races.access(place.object, at, who, kind) {
                let verb = |kind| match kind {
                    Kind::Read => "reads",
                    Kind::Write => "writes",
                    Kind::Atomic => "changes atomically",
                };
                let [x, y, z] = self.coordinates(other.lane);
                let name = &self.kernel.objects[place.object.index()].name;
                let message = format!(
                    "a race: `{name}` at {at}, which this thread {}, thread ({x}, {y}, {z}) of block number {} {}, with no barrier between them",
                    verb(kind),
                    other.block,
                    verb(before)
                );
                return Err(self.fault(FaultKind::Race, lane, message));
            }
        }
        Ok(())
    }

    pub(super) fn make(
        &mut self,
        object: ObjectId,
        init: &Init,
        mask: &Mask,
        races: &mut Option<&mut Races>,
    ) -> Result<(), Fault> {
        let known = &self.kernel.objects[object.index()];
        if !self.kernel.shared.contains(&object) {
            let size = cells(&known.ty, &self.launch.constants)?;
            if !matches!(&self.objects[object.index()], Some(Memory::Own(_))) {
                self.objects[object.index()] = Some(Memory::Own(vec![0; size * self.width]));
            }
            for &lane in mask.lanes() {
                self.contents(object, &known.ty, init, 0, lane)?;
            }
            return Ok(());
        }
        let first = mask.lanes().first().copied().unwrap_or(0);
        let count = match (&known.ty, init) {
            (Type::Vec(_), Init::Repeat(_, len)) => self.get(*len, first) as usize,
            (Type::Vec(_), Init::ZeroLike(other)) => self.lens[other.index()],
            (ty, _) => cells(ty, &self.launch.constants)?,
        };
        if let Type::Vec(item) = &known.ty {
            self.shared_bytes += count * item.scalar().map_or(8, bytes);
            if self.shared_bytes > self.launch.shared_bytes {
                let message = format!(
                    "the block takes {} bytes of dynamic shared memory, and the launch has {}",
                    self.shared_bytes, self.launch.shared_bytes
                );
                return Err(self.fault(FaultKind::SharedMemory, first, message));
            }
            self.lens[object.index()] = count;
        }
        let unfilled = self.kernel.unfilled.contains(&object);
        let written = match self.launch.check {
            true => vec![!unfilled; count],
            false => Vec::new(),
        };
        self.objects[object.index()] = Some(Memory::Shared(vec![0; count], written));
        if let Some(races) = races {
            races.make(object, count);
        }
        if !unfilled {
            self.barrier(mask)?;
        }
        Ok(())
    }

    /// The first contents of a thread's own object, from a cell on.
    pub(super) fn contents(
        &mut self,
        object: ObjectId,
        ty: &Type,
        init: &Init,
        at: usize,
        lane: u32,
    ) -> Result<(), Fault> {
        let size = |ty: &Type| cells(ty, &self.launch.constants);
        match init {
            Init::Value(value) => {
                let cell = self.get(*value, lane);
                self.write(object, at, lane, cell);
            }
            Init::Items(items) => {
                let mut at = at;
                for (index, item) in items.iter().enumerate() {
                    let Some(inner) = ty.element().or_else(|| ty.field(index)) else {
                        return malformed("contents of another shape");
                    };
                    self.contents(object, inner, item, at, lane)?;
                    at += cells(inner, &self.launch.constants)?;
                }
            }
            Init::Fill(item) => {
                let (Some(inner), whole) = (ty.element(), size(ty)?) else {
                    return malformed("contents of another shape");
                };
                let step = size(inner)?.max(1);
                for at in (at..at + whole).step_by(step) {
                    self.contents(object, inner, item, at, lane)?;
                }
            }
            Init::Copy(place) => {
                let from = self.cell(&self.way(place)?, lane)?;
                for offset in 0..size(ty)? {
                    let cell = self.read(place.object, from + offset, lane)?;
                    self.write(object, at + offset, lane, cell);
                }
            }
            Init::ZeroLike(_) => {
                for offset in 0..size(ty)? {
                    self.write(object, at + offset, lane, 0);
                }
            }
            Init::Repeat(..) => return malformed("a kernel has no lists of its own"),
        }
        Ok(())
    }
}
