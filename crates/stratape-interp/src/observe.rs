//! Observers: what a run does, told as it happens.

use stratape_ir::{Half, ObjectId, Op, RecordId, RegionId, ValueId};

/// What an operation or an access serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Values of the program itself.
    Primal,
    /// Adjoints.
    Adjoint,
}

/// An access to memory or to the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access<'a> {
    /// An element of an object is read: the indices and fields on the way to it.
    Read(ObjectId, &'a [usize]),
    /// An element of an object is written: the value, unless it is a whole list.
    Write(ObjectId, &'a [usize], Option<ValueId>),
    /// A value is added to an element of an object, which is read first.
    Add(ObjectId, &'a [usize], ValueId),
    /// A record of values is pushed.
    Push(RecordId, &'a [ValueId]),
    /// A record is popped, to these values.
    Pop(RecordId, &'a [ValueId]),
    /// So many elements of a list, from an index on, are copied to the tape.
    Save(RecordId, ObjectId, usize, usize),
    /// So many elements of a list, from an index on, are copied from the tape.
    Restore(RecordId, ObjectId, usize, usize),
}

/// Is told what a run does. `()` is told nothing, at no cost.
///
/// ```
/// use stratape_interp::{self as interp, Argument, Class, Observer};
/// use stratape_ir::{Binary, Builder, Float, Function, Op, Param, Scalar, SourceId, ValueId};
///
/// #[derive(Default)]
/// struct Count(usize);
/// impl Observer for Count {
///     fn operation(&mut self, _: ValueId, _: &Op, _: Class) {
///         self.0 += 1;
///     }
/// }
///
/// let mut b = Builder::new(Function::new("square"));
/// let x = b.function.new_value(Scalar::Float(Float::F64), SourceId::NONE);
/// b.function.params.push(Param::Value(x));
/// let y = b.binary(Binary::Mul, x, x, SourceId::NONE);
/// b.function.results.push(y);
/// let mut count = Count::default();
/// let args = vec![Argument::Float(3.0)];
/// let outcome = interp::run_observed(&b.finish(), args, &interp::Options::default(), &mut count)?;
/// assert_eq!((outcome.results[0].float(), count.0), (Some(9.0), 1));
/// # Ok::<(), interp::Trap>(())
/// ```
pub trait Observer {
    /// Whether it is to be told anything.
    const LISTENS: bool = true;

    /// A value is computed by an operation. A load is told as an access too, after it.
    fn operation(&mut self, value: ValueId, op: &Op, class: Class) {
        let _ = (value, op, class);
    }

    /// Values become what others are, all at once: what a loop carries, what a branch yields.
    fn handed_on(&mut self, to: &[ValueId], from: &[ValueId]) {
        let _ = (to, from);
    }

    /// An object is there from now on: how many numbers an item has at each level, the whole first. Lists of a list are taken to be of one length.
    fn object(&mut self, object: ObjectId, sizes: &[usize]) {
        let _ = (object, sizes);
    }

    /// A layer of so many frames is handed to the tape, or taken from it.
    fn layer(&mut self, region: RegionId, frames: usize, half: Half) {
        let _ = (region, frames, half);
    }

    /// Memory or the tape is accessed.
    fn access(&mut self, access: Access<'_>, class: Class) {
        let _ = (access, class);
    }
}

impl Observer for () {
    const LISTENS: bool = false;
}
