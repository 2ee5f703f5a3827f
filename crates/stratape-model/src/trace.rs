//! [`Trace`]: a run of a gradient in the interpreter, told to a machine.
//!
//! Floats are nodes of the machine; integers are taken to be known beforehand, as on an accelerator whose loops are unrolled. A load depends on the
//! store that wrote its element. Objects lie where `malloc` places them; one that is made again in each iteration lies where it lay before.

mod fan;
mod heap;
mod tape;

use stratape_interp::{Access, Class, Observer};
use stratape_ir::{Binary, Function, Math, ObjectId, Op, Origin, Scalar, ValueId};

use crate::lifetimes::{Histogram, Lifetimes};
use crate::{Data, Machine, ModelError, Node, Pass, Report, Simulation, Unit};

pub(crate) use fan::Fan;
use heap::Heap;
use tape::Tape;
pub use tape::{ColumnLengths, Layout};

/// Bytes of a number.
const NUMBER: u64 = 8;

/// An object in the machine's memory.
#[derive(Debug)]
struct Object {
    base: u64,
    /// How many numbers an item has at each level, the whole first.
    sizes: Vec<usize>,
    /// The stores that wrote its elements.
    writers: Vec<Option<Node>>,
}

impl Object {
    /// The number of an element among all.
    fn element(&self, path: &[usize]) -> usize {
        let strides = self.sizes.iter().skip(1);
        path.iter().zip(strides).map(|(index, stride)| index * stride).sum()
    }
}

/// Tells a machine what the interpreter runs.
///
/// ```
/// use stratape_interp::{self as interp, Argument, Memory};
/// use stratape_ir::text::parse_function;
/// use stratape_model::{Layout, Machine, Trace};
///
/// let text = "fn f(@x: &[f64], @dx: &mut [f64] shadow of @x, n: usize) { z: usize = 0
///     for i in z..n { a = @x[i]; push #0 a }
///     for k in z..n reversed { pop #0 b; @dx[k] += b } }";
/// let function = parse_function(text).unwrap();
/// let list = |n| Argument::Memory(Memory::List(vec![Memory::Float(1.0); n]));
/// let mut trace = Trace::new(&function, &Machine::default(), Layout::Records)?;
/// let args = vec![list(100), list(100), Argument::Int(100)];
/// interp::run_observed(&function, args, &interp::Options::default(), &mut trace).unwrap();
/// let report = trace.finish();
/// assert_eq!(report.of(stratape_model::Data::Tape).scratchpad, 200);
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Trace<'f> {
    function: &'f Function,
    run: Simulation,
    tape: Tape,
    /// The nodes that computed values.
    values: Vec<Option<Node>>,
    objects: Vec<Option<Object>>,
    heap: Heap,
    pass: Pass,
    /// The value of the load that is about to be told.
    loading: Option<ValueId>,
    /// Bytes of the objects of each class.
    footprint: [u64; 5],
    /// How long values that are not on the tape live.
    lifetimes: Histogram,
}

impl<'f> Trace<'f> {
    /// Nothing has run yet.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn new(
        function: &'f Function,
        machine: &Machine,
        layout: Layout,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            function,
            run: Simulation::new(machine)?,
            tape: Tape::new(machine, layout),
            values: vec![None; function.values.len()],
            objects: function.objects.iter().map(|_| None).collect(),
            heap: Heap::new(0x10_0000, 1 << 38),
            pass: Pass::Forward,
            loading: None,
            footprint: [0; 5],
            lifetimes: Histogram::default(),
        })
    }

    /// The columns of the tape lie one after the other, each as long as it gets.
    #[must_use]
    pub fn with_columns(mut self, lengths: &ColumnLengths) -> Self {
        self.tape.lay_out(lengths);
        self
    }

    /// What the run has cost.
    pub fn finish(mut self) -> Report {
        self.tape.close(&mut self.run, self.pass);
        let mut report = self.run.finish();
        report.footprint = self.footprint;
        report.footprint[Data::Tape as usize] = NUMBER * self.tape.most;
        report.lifetimes =
            Lifetimes { tape: self.tape.lifetimes.fifths(), others: self.lifetimes.fifths() };
        report
    }

    fn node(&self, value: ValueId) -> Option<Node> {
        self.values.get(value.index()).copied().flatten()
    }

    fn set(&mut self, value: ValueId, node: Option<Node>) {
        if let Some(known) = self.values.get_mut(value.index()) {
            *known = node;
        }
    }

    /// The reverse pass begins with the first adjoint, or the first record that is taken.
    fn reverse(&mut self) {
        if self.pass == Pass::Forward {
            self.tape.close(&mut self.run, self.pass);
            self.pass = Pass::Reverse;
            self.run.pass(Pass::Reverse);
        }
    }

    fn data(&self, object: ObjectId) -> Data {
        if self.function.holds_adjoints(object) {
            return Data::Adjoint;
        }
        match self.function.objects[object.index()].origin {
            Origin::Ref | Origin::Owned => Data::Input,
            Origin::RefMut => Data::Output,
            Origin::Local => Data::Local,
        }
    }

    /// Where an element lies, and which store wrote it.
    fn element(&self, object: ObjectId, path: &[usize]) -> (u64, usize, Option<Node>) {
        let Some(Some(known)) = self.objects.get(object.index()) else { return (0, 0, None) };
        let element = known.element(path);
        let writer = known.writers.get(element).copied().flatten();
        (known.base + NUMBER * element as u64, element, writer)
    }

    fn written(&mut self, object: ObjectId, element: usize, by: Node) {
        if let Some(Some(known)) = self.objects.get_mut(object.index())
            && let Some(writer) = known.writers.get_mut(element)
        {
            *writer = Some(by);
        }
    }

    /// Notes how long values had lived when a node used them.
    fn used(&mut self, values: &[Node], by: Node) {
        for value in values {
            self.lifetimes.add(by.done().saturating_sub(value.done()));
        }
    }

    fn is_float(&self, value: ValueId) -> bool {
        matches!(self.function.ty(value), Scalar::Float(_))
    }
}

impl Observer for Trace<'_> {
    fn operation(&mut self, value: ValueId, op: &Op, class: Class) {
        if class == Class::Adjoint {
            self.reverse();
        }
        if let Op::Load(_) = op {
            self.loading = Some(value);
            return;
        }
        let mut floats = self.is_float(value);
        let mut after = Vec::new();
        op.for_each_operand(&mut |operand| {
            floats |= self.is_float(operand);
            after.extend(self.node(operand));
        });
        let node = match unit(op) {
            Some(unit) if floats => {
                let node = self.run.compute(unit, &after);
                self.used(&after, node);
                Some(node)
            }
            _ => None,
        };
        self.set(value, node);
    }

    fn access(&mut self, access: Access<'_>, _: Class) {
        match access {
            Access::Read(object, path) => {
                let Some(value) = self.loading.take() else { return };
                if !self.is_float(value) {
                    return self.set(value, None);
                }
                let (address, _, writer) = self.element(object, path);
                let after: Vec<Node> = writer.into_iter().collect();
                let node = self.run.load(self.data(object), address, NUMBER as u32, &after);
                self.used(&after, node);
                self.set(value, Some(node));
            }
            Access::Write(object, path, Some(value)) if self.is_float(value) => {
                let (address, element, _) = self.element(object, path);
                let after: Vec<Node> = self.node(value).into_iter().collect();
                let node = self.run.store(self.data(object), address, NUMBER as u32, &after);
                self.written(object, element, node);
            }
            // Lists change places without moving.
            Access::Write(..) => {}
            Access::Add(object, path, value) => {
                let data = self.data(object);
                if data == Data::Adjoint {
                    self.reverse();
                }
                let (address, element, writer) = self.element(object, path);
                let after: Vec<Node> = writer.into_iter().collect();
                let old = self.run.load(data, address, NUMBER as u32, &after);
                self.used(&after, old);
                let after: Vec<Node> = [old].into_iter().chain(self.node(value)).collect();
                let sum = self.run.compute(Unit::Add, &after);
                let node = self.run.store(data, address, NUMBER as u32, &[sum]);
                self.written(object, element, node);
            }
            Access::Push(record, values) => {
                let nodes: Vec<Option<Node>> =
                    values.iter().map(|value| self.node(*value)).collect();
                self.tape.push(&mut self.run, record, &nodes);
            }
            Access::Save(record, object, start, count) => {
                for at in start..start + count {
                    let (address, _, writer) = self.element(object, &[at]);
                    let after: Vec<Node> = writer.into_iter().collect();
                    let node = self.run.load(self.data(object), address, NUMBER as u32, &after);
                    self.used(&after, node);
                    self.tape.push(&mut self.run, record, &[Some(node)]);
                }
            }
            Access::Restore(record, object, start, count) => {
                self.reverse();
                for at in (start..start + count).rev() {
                    let after = self.tape.pop(&mut self.run, record, 1);
                    let (address, element, _) = self.element(object, &[at]);
                    let node = self.run.store(self.data(object), address, NUMBER as u32, &after);
                    self.written(object, element, node);
                }
            }
            Access::Pop(record, values) => {
                self.reverse();
                let nodes = self.tape.pop(&mut self.run, record, values.len());
                for (value, node) in values.iter().zip(nodes) {
                    self.set(*value, Some(node));
                }
            }
        }
    }

    fn handed_on(&mut self, to: &[ValueId], from: &[ValueId]) {
        let nodes: Vec<Option<Node>> = from.iter().map(|value| self.node(*value)).collect();
        for (value, node) in to.iter().zip(nodes) {
            self.set(*value, node);
        }
    }

    fn object(&mut self, object: ObjectId, sizes: &[usize]) {
        let count = sizes.first().copied().unwrap_or(0);
        let class = self.data(object);
        let Some(slot) = self.objects.get_mut(object.index()) else { return };
        let again = slot.as_ref().filter(|known| known.writers.len() >= count);
        let base = match again {
            Some(known) => known.base,
            None => {
                let bytes = NUMBER * count as u64;
                self.footprint[class as usize] += bytes;
                self.heap.place(bytes)
            }
        };
        *slot = Some(Object { base, sizes: sizes.to_vec(), writers: vec![None; count] });
    }
}

/// The unit that computes an operation, if it is one on floats.
fn unit(op: &Op) -> Option<Unit> {
    Some(match op {
        Op::Binary(Binary::Add | Binary::Sub, ..) => Unit::Add,
        Op::Binary(Binary::Mul, ..) => Unit::Multiply,
        Op::Binary(Binary::Div | Binary::Rem, ..) => Unit::Divide,
        Op::Math(Math::Sqrt, _) => Unit::SquareRoot,
        Op::Math(Math::Recip, _) => Unit::Divide,
        Op::Math(Math::MulAdd | Math::ToRadians | Math::ToDegrees, _) => Unit::Multiply,
        Op::Math(
            Math::Abs
            | Math::Signum
            | Math::Copysign
            | Math::Min
            | Math::Max
            | Math::Clamp
            | Math::Floor,
            _,
        ) => Unit::Simple,
        Op::Math(..) => Unit::Special,
        Op::Float(..) | Op::Int(_) | Op::Bool(_) | Op::Const(_) | Op::Load(_) | Op::Len(_) => {
            return None;
        }
        _ => Unit::Simple,
    })
}
