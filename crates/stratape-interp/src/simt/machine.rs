//! A block of threads that run in step.

use std::sync::atomic::Ordering;

use super::cells::{cells, from_float, to_float, to_int};
use super::memory::Memory;
use super::races::{Kind, Races};
use super::{Arg, Fault, FaultKind, Launch, malformed};
use stratape_ir::{
    Atomic, AtomicOp, Block, Check, Exchange, Function, Loop, ObjectId, Param, Range, Scalar,
    Shuffle, Stmt, ValueId, WARP,
};

/// The threads that take part.
#[derive(Clone, Debug)]
pub(super) struct Mask(Vec<u32>);

impl Mask {
    pub(super) fn lanes(&self) -> &[u32] {
        &self.0
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The state of one block.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) kernel: &'a Function,
    pub(super) launch: &'a Launch,
    /// The values of all threads, one after the other for each value.
    pub(super) registers: Vec<u64>,
    pub(super) width: usize,
    pub(super) block: [u32; 3],
    pub(super) number: u32,
    /// Barriers that the block has passed.
    pub(super) epoch: u32,
    /// By the numbers of the objects.
    pub(super) objects: Vec<Option<Memory<'a>>>,
    /// Elements of lists, by the numbers of the objects.
    pub(super) lens: Vec<usize>,
    tapes: Vec<Vec<u64>>,
    pub(super) shared_bytes: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        kernel: &'a Function,
        launch: &'a Launch,
        args: &[Arg<'a>],
    ) -> Result<Self, Fault> {
        let width = launch.threads();
        let mut machine = Self {
            kernel,
            launch,
            registers: vec![0; kernel.values.len() * width],
            width,
            block: [0; 3],
            number: 0,
            epoch: 0,
            objects: kernel.objects.iter().map(|_| None).collect(),
            lens: vec![0; kernel.objects.len()],
            tapes: vec![Vec::new(); width],
            shared_bytes: 0,
        };
        let all = machine.all();
        for (param, arg) in kernel.params.iter().zip(args) {
            match (param, arg) {
                (Param::Value(value), Arg::Value(cell)) => machine.fill(*value, *cell, &all),
                (Param::Object(object), Arg::Memory(memory)) => {
                    let Some(item) = kernel.objects[object.index()].ty.element() else {
                        return malformed("a kernel takes slices");
                    };
                    let size = cells(item, &launch.constants)?;
                    machine.lens[object.index()] = memory.len() / size.max(1);
                    machine.objects[object.index()] = Some(Memory::Global(memory));
                }
                _ => return malformed("arguments of other kinds"),
            }
        }
        Ok(machine)
    }

    fn all(&self) -> Mask {
        Mask((0..self.width as u32).collect())
    }

    /// Runs a block of the grid.
    pub(super) fn run(&mut self, number: usize, races: Option<&mut Races>) -> Result<(), Fault> {
        let [x, y, _] = self.launch.grid.map(|one| one as usize);
        self.block = [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32];
        self.number = number as u32;
        (self.epoch, self.shared_bytes) = (0, 0);
        let (kernel, all) = (self.kernel, self.all());
        self.body(&kernel.body, &all, &mut { races })?;
        match self.tapes.iter().any(|tape| !tape.is_empty()) {
            true => malformed("something is left on the tape"),
            false => Ok(()),
        }
    }

    pub(super) fn ty(&self, value: ValueId) -> Scalar {
        self.kernel.ty(value)
    }

    /// Where the registers of a value begin.
    pub(super) fn start(&self, value: ValueId) -> usize {
        value.index() * self.width
    }

    pub(super) fn get(&self, value: ValueId, lane: u32) -> u64 {
        self.registers[self.start(value) + lane as usize]
    }

    pub(super) fn set(&mut self, value: ValueId, lane: u32, cell: u64) {
        let at = self.start(value);
        self.registers[at + lane as usize] = cell;
    }

    /// The thread of a lane.
    pub(super) fn coordinates(&self, lane: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block;
        [lane % x, lane / x % y, lane / x / y]
    }

    pub(super) fn fault(&self, kind: FaultKind, lane: u32, message: String) -> Fault {
        Fault { kind, thread: self.coordinates(lane), block: self.block, message }
    }

    fn body(
        &mut self,
        block: &'a Block,
        mask: &Mask,
        races: &mut Option<&mut Races>,
    ) -> Result<(), Fault> {
        block.iter().try_for_each(|node| self.node(node, mask, races))
    }

    fn node(
        &mut self,
        node: &'a Stmt,
        mask: &Mask,
        races: &mut Option<&mut Races>,
    ) -> Result<(), Fault> {
        match node {
            Stmt::Let { value, op } => {
                if let stratape_ir::Op::Load(place) = op {
                    self.watch(place, Kind::Read, mask, races)?;
                }
                self.evaluate(*value, op, mask)
            }
            Stmt::Store { place, value } => {
                self.watch(place, Kind::Write, mask, races)?;
                let way = self.way(place)?;
                for &lane in mask.lanes() {
                    let (cell, at) = (self.get(*value, lane), self.cell(&way, lane)?);
                    self.write(place.object, at, lane, cell);
                }
                Ok(())
            }
            Stmt::Accumulate { place, value, subtract } => {
                self.watch(place, Kind::Read, mask, races)?;
                self.watch(place, Kind::Write, mask, races)?;
                let (ty, way) = (self.ty(*value), self.way(place)?);
                for &lane in mask.lanes() {
                    let (cell, at) = (self.get(*value, lane), self.cell(&way, lane)?);
                    let old = self.read(place.object, at, lane)?;
                    let new = added(old, cell, ty, *subtract);
                    self.write(place.object, at, lane, new);
                }
                Ok(())
            }
            Stmt::New { object, init } => self.make(*object, init, mask, races),
            Stmt::Loop(node) => self.repeat(node, mask, races),
            Stmt::If(node) => {
                let holds = |lane: &&u32| self.get(node.condition, **lane) != 0;
                let then = Mask(mask.lanes().iter().filter(holds).copied().collect());
                let other = Mask(mask.lanes().iter().filter(|one| !holds(one)).copied().collect());
                if !then.is_empty() {
                    self.body(&node.then, &then, races)?;
                }
                if !other.is_empty() {
                    self.body(&node.other, &other, races)?;
                }
                let chosen: Vec<_> = node.merges.iter().map(|one| (one.value, one.then)).collect();
                self.hand_on(&chosen, &then);
                let chosen: Vec<_> = node.merges.iter().map(|one| (one.value, one.other)).collect();
                self.hand_on(&chosen, &other);
                Ok(())
            }
            Stmt::Check { check, .. } => self.check(check, mask),
            Stmt::Push { values, .. } => {
                for &lane in mask.lanes() {
                    for value in values {
                        let cell = self.get(*value, lane);
                        self.tapes[lane as usize].push(cell);
                    }
                }
                Ok(())
            }
            Stmt::Pop { values, .. } => {
                for &lane in mask.lanes() {
                    for value in values.iter().rev() {
                        let Some(cell) = self.tapes[lane as usize].pop() else {
                            return malformed("a pop from an empty tape");
                        };
                        self.set(*value, lane, cell);
                    }
                }
                Ok(())
            }
            Stmt::Atomic(atomic) => self.atomic(atomic, mask, races),
            Stmt::Barrier(_) => self.barrier(mask),
            Stmt::Shuffle(shuffle) => self.shuffle(shuffle, mask),
            Stmt::Call(_)
            | Stmt::Swap { .. }
            | Stmt::Save { .. }
            | Stmt::Restore { .. }
            | Stmt::Refill { .. } => malformed(format!("no kernel has this: {node:?}")),
        }
    }

    /// Copies values to others, all at once.
    fn hand_on(&mut self, pairs: &[(ValueId, ValueId)], mask: &Mask) {
        let mut held = Vec::with_capacity(pairs.len());
        for &lane in mask.lanes() {
            held.clear();
            held.extend(pairs.iter().map(|(_, from)| self.get(*from, lane)));
            for ((to, _), cell) in pairs.iter().zip(&held) {
                self.set(*to, lane, *cell);
            }
        }
    }

    fn repeat(
        &mut self,
        node: &'a Loop,
        mask: &Mask,
        races: &mut Option<&mut Races>,
    ) -> Result<(), Fault> {
        let ty = self.ty(node.counter);
        let less = |a: u64, b: u64| to_int(a, ty) < to_int(b, ty);
        let enter: Vec<_> = node
            .carried
            .iter()
            .flat_map(|one| [(one.inside, one.init), (one.after, one.init)])
            .collect();
        self.hand_on(&enter, mask);
        let next: Vec<_> = node
            .carried
            .iter()
            .flat_map(|one| [(one.inside, one.next), (one.after, one.next)])
            .collect();
        let mut trips = 0;
        let mut left = match node.range {
            Range::Forever => mask.clone(),
            Range::UpTo { from, to } => {
                let runs = |lane: &&u32| less(self.get(from, **lane), self.get(to, **lane));
                Mask(mask.lanes().iter().filter(runs).copied().collect())
            }
        };
        node.trips.into_iter().for_each(|trips| self.fill(trips, 0, mask));
        while !left.is_empty() {
            for &lane in left.lanes() {
                let counter = match (node.range, node.reversed) {
                    (Range::Forever, _) => trips,
                    (Range::UpTo { from, .. }, false) => self.get(from, lane).wrapping_add(trips),
                    (Range::UpTo { to, .. }, true) => self.get(to, lane).wrapping_sub(trips + 1),
                };
                self.set(node.counter, lane, counter);
            }
            self.body(&node.body, &left, races)?;
            self.hand_on(&next, &left);
            trips += 1;
            node.trips.into_iter().for_each(|count| self.fill(count, trips, &left));
            let goes_on = |lane: &u32| {
                let exits = node.exit.is_some_and(|exit| self.get(exit, *lane) != 0);
                let more = match node.range {
                    Range::Forever => true,
                    Range::UpTo { from, to } => {
                        to_int(self.get(from, *lane), ty) + i128::from(trips)
                            < to_int(self.get(to, *lane), ty)
                    }
                };
                more && !exits
            };
            left = Mask(left.lanes().iter().filter(|lane| goes_on(lane)).copied().collect());
        }
        Ok(())
    }

    fn check(&self, check: &Check, mask: &Mask) -> Result<(), Fault> {
        let (kind, holds): (_, Box<dyn Fn(u32) -> bool + '_>) = match check {
            Check::Assert { prints: true, .. } => return Ok(()),
            Check::Assert { condition, .. } | Check::Library { condition, .. } => {
                (FaultKind::Assertion, Box::new(|lane| self.get(*condition, lane) != 0))
            }
            Check::Bounds { index, len } => {
                let fits = |lane| self.get(*index, lane) < self.get(*len, lane);
                (FaultKind::OutOfBounds, Box::new(fits))
            }
            Check::Range { from, to, len } => {
                let fits = |lane| {
                    let (from, to) = (self.get(*from, lane), self.get(*to, lane));
                    from <= to && to <= self.get(*len, lane)
                };
                (FaultKind::OutOfBounds, Box::new(fits))
            }
        };
        match mask.lanes().iter().find(|lane| !holds(**lane)) {
            None => Ok(()),
            Some(&lane) => {
                let message = match check {
                    Check::Assert { otherwise, .. } => format!("the kernel panics: {otherwise}"),
                    Check::Library { message, .. } => message.clone(),
                    Check::Bounds { index, len } => {
                        let (index, len) = (self.get(*index, lane), self.get(*len, lane));
                        format!("index {index} is out of bounds: there are {len} elements")
                    }
                    Check::Range { from, to, len } => {
                        let [from, to, len] = [from, to, len].map(|one| self.get(*one, lane));
                        format!("range {from}..{to} is out of bounds: there are {len} elements")
                    }
                };
                Err(self.fault(kind, lane, message))
            }
        }
    }

    pub(super) fn barrier(&mut self, mask: &Mask) -> Result<(), Fault> {
        if mask.lanes().len() != self.width {
            let missing = (0..self.width as u32).find(|lane| !mask.lanes().contains(lane));
            let message = "not all threads of the block come to a barrier".to_owned();
            return Err(self.fault(FaultKind::Divergence, missing.unwrap_or(0), message));
        }
        self.epoch += 1;
        Ok(())
    }

    fn shuffle(&mut self, shuffle: &Shuffle, mask: &Mask) -> Result<(), Fault> {
        let mut given = Vec::with_capacity(mask.lanes().len());
        for &lane in mask.lanes() {
            let by = self.get(shuffle.by, lane);
            let (warp, place) = (lane - lane % WARP as u32, u64::from(lane % WARP as u32));
            if by >= WARP as u64 {
                let message = format!("an exchange over {by} lanes: a warp has {WARP}");
                return Err(self.fault(FaultKind::OutOfBounds, lane, message));
            }
            let from = match shuffle.exchange {
                Exchange::Down if place + by < WARP as u64 => place + by,
                Exchange::Up if place >= by => place - by,
                Exchange::Xor => place ^ by,
                Exchange::Down | Exchange::Up => place,
            };
            let from = warp + from as u32;
            if mask.lanes().binary_search(&from).is_err() {
                let message =
                    format!("an exchange with lane {}, which does not take part", from % 32);
                return Err(self.fault(FaultKind::Divergence, lane, message));
            }
            given.push(self.get(shuffle.operand, from));
        }
        for (&lane, cell) in mask.lanes().iter().zip(given) {
            self.set(shuffle.value, lane, cell);
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        atomic: &Atomic,
        mask: &Mask,
        races: &mut Option<&mut Races>,
    ) -> Result<(), Fault> {
        let ty = self.ty(atomic.value);
        let combined = |op: AtomicOp, a: u64, b: u64| match op {
            AtomicOp::Add => added(a, b, ty, false),
            AtomicOp::Min => extreme(a, b, ty, true),
            AtomicOp::Max => extreme(a, b, ty, false),
        };
        if atomic.block {
            if mask.lanes().len() != self.width {
                return self.barrier(mask);
            }
            let cells = mask.lanes().iter().map(|lane| self.get(atomic.value, *lane));
            let Some(cell) = cells.reduce(|a, b| combined(atomic.op, a, b)) else { return Ok(()) };
            let at = self.cell(&self.way(&atomic.place)?, 0)?;
            self.change(atomic.place.object, at, 0, &|old| combined(atomic.op, old, cell))?;
            self.epoch += 1;
            return Ok(());
        }
        self.watch(&atomic.place, Kind::Atomic, mask, races)?;
        let way = self.way(&atomic.place)?;
        for &lane in mask.lanes() {
            let (cell, at) = (self.get(atomic.value, lane), self.cell(&way, lane)?);
            let change = |old| combined(atomic.op, old, cell);
            let old = self.change(atomic.place.object, at, lane, &change)?;
            if let Some(value) = atomic.old {
                self.set(value, lane, old);
            }
        }
        Ok(())
    }

    /// Changes a number that other workers may change; what it was before.
    fn change(
        &mut self,
        object: ObjectId,
        at: usize,
        lane: u32,
        change: &dyn Fn(u64) -> u64,
    ) -> Result<u64, Fault> {
        if let Some(Memory::Global(cells)) = &self.objects[object.index()] {
            let update = |old| Some(change(old));
            let (Ok(old) | Err(old)) =
                cells[at].fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
            return Ok(old);
        }
        let old = self.read(object, at, lane)?;
        self.write(object, at, lane, change(old));
        Ok(old)
    }
}

fn added(a: u64, b: u64, ty: Scalar, subtract: bool) -> u64 {
    match ty {
        Scalar::Float(stratape_ir::Float::F64) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            (if subtract { a - b } else { a + b }).to_bits()
        }
        Scalar::Float(stratape_ir::Float::F32) => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            u64::from((if subtract { a - b } else { a + b }).to_bits())
        }
        ty => {
            let (a, b) = (to_int(a, ty), to_int(b, ty));
            super::cells::from_int(if subtract { a - b } else { a + b }, ty)
        }
    }
}

fn extreme(a: u64, b: u64, ty: Scalar, least: bool) -> u64 {
    match ty {
        Scalar::Float(_) => {
            let (x, y) = (to_float(a, ty), to_float(b, ty));
            from_float(if least { x.min(y) } else { x.max(y) }, ty)
        }
        ty => {
            let (x, y) = (to_int(a, ty), to_int(b, ty));
            super::cells::from_int(if least { x.min(y) } else { x.max(y) }, ty)
        }
    }
}
