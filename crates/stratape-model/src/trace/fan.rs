//! [`Fan`]: one run of the interpreter, told to several machines.

use stratape_interp::{Access, Class, Observer};
use stratape_ir::{Function, ObjectId, Op, ValueId};

use crate::{ColumnLengths, Layout, Machine, ModelError, Report, Trace};

/// Traces of the same run.
#[derive(Debug)]
pub(crate) struct Fan<'f>(Vec<Trace<'f>>);

impl<'f> Fan<'f> {
    pub(crate) fn new(
        function: &'f Function,
        machines: &[(Machine, Layout)],
    ) -> Result<Self, ModelError> {
        let traces =
            machines.iter().map(|(machine, layout)| Trace::new(function, machine, *layout));
        traces.collect::<Result<_, _>>().map(Self)
    }

    /// See [`Trace::with_columns`].
    pub(crate) fn with_columns(self, lengths: &ColumnLengths) -> Self {
        Self(self.0.into_iter().map(|trace| trace.with_columns(lengths)).collect())
    }

    pub(crate) fn finish(self) -> Vec<Report> {
        self.0.into_iter().map(Trace::finish).collect()
    }
}

impl Observer for Fan<'_> {
    fn operation(&mut self, value: ValueId, op: &Op, class: Class) {
        self.0.iter_mut().for_each(|trace| trace.operation(value, op, class));
    }

    fn handed_on(&mut self, to: &[ValueId], from: &[ValueId]) {
        self.0.iter_mut().for_each(|trace| trace.handed_on(to, from));
    }

    fn object(&mut self, object: ObjectId, sizes: &[usize]) {
        self.0.iter_mut().for_each(|trace| trace.object(object, sizes));
    }

    fn access(&mut self, access: Access<'_>, class: Class) {
        self.0.iter_mut().for_each(|trace| trace.access(access, class));
    }
}
