//! Passes as data, and the sequences they run in.

use stratape_ir::{Function, SourceId};

use super::target::Target;
use crate::transform::{adjoint, canonical, loops, memory};
use crate::{lower, tapeflow};

/// What a pass may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Not a bit of any value, nor whether a run panics. Of several panics another may come first.
    SameBits,
    /// The last bits of adjoints, and the order in which they are summed.
    AdjointBits,
}

/// A pass over one function.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name, as in docs/compiler/passes.md.
    pub name: &'static str,
    /// Passes that must have run before it for it to find what it looks for.
    pub after: &'static [&'static str],
    /// What it promises.
    pub promise: Promise,
    /// Whether it runs in a plain compilation as well: later stages need it.
    pub required: bool,
    /// The pass itself.
    pub run: fn(&mut Function, &mut Context<'_>),
}

/// What a pass is handed beside the function.
#[derive(Debug)]
pub struct Context<'t> {
    /// The machine.
    pub target: &'t Target,
    /// What passes did, and what they left alone.
    pub remarks: Vec<Remark>,
    /// Whether there are lanes of the tape to run parts of loops on.
    pub lanes: bool,
    /// The regions, where two halves of a function must agree on them.
    pub regions: Option<Vec<tapeflow::Found>>,
    pass: &'static str,
}

/// What a pass did at a place, or why it did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// The loop or operation.
    pub span: SourceId,
    /// Whether the rewrite was done.
    pub applied: bool,
    /// What was done, or why not.
    pub message: String,
}

impl<'t> Context<'t> {
    /// A context without remarks.
    pub fn new(target: &'t Target) -> Self {
        Self { target, remarks: Vec::new(), lanes: true, regions: None, pass: "" }
    }

    /// Notes a rewrite.
    pub fn applied(&mut self, span: SourceId, message: impl Into<String>) {
        self.remark(span, true, message.into());
    }

    /// Notes why a rewrite that looked possible was not done.
    pub fn missed(&mut self, span: SourceId, message: impl Into<String>) {
        self.remark(span, false, message.into());
    }

    fn remark(&mut self, span: SourceId, applied: bool, message: String) {
        let remark = Remark { pass: self.pass, span, applied, message };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    pub(super) fn enter(&mut self, pass: &'static str) {
        self.pass = pass;
    }
}

/// What a function with loops under `#[checkpoint]` goes through first: snapshots hold lists of numbers.
pub static STATES: &[Pass] = &[
    memory::FORWARD_COPIES,
    canonical::CSE,
    memory::SMALL_ARRAYS,
    canonical::CSE,
    memory::SPLIT_STRUCTS,
];

/// What a function goes through before it is differentiated.
pub static PRIMAL: &[Pass] = &[
    memory::FORWARD_COPIES,
    canonical::CSE,
    loops::ROTATE,
    // Before arrays become values, which those of an iteration can, and before lengths are taken out of loops.
    memory::LOCALIZE,
    memory::SWAP_COPIES,
    memory::SMALL_ARRAYS,
    // Small arrays of structs are values by now, and indices into them numbers.
    canonical::CSE,
    memory::SPLIT_STRUCTS,
    canonical::INDUCTION,
    canonical::CSE,
    canonical::BOUNDS,
    loops::UNROLL,
    canonical::CSE,
    loops::PEEL,
    canonical::CSE,
    loops::COALESCE,
    memory::SCALAR_PROMOTION,
    loops::INTERCHANGE,
    memory::AOS_TO_SOA,
    canonical::LICM,
    canonical::CSE,
    canonical::IF_CONVERSION,
    canonical::CSE,
    memory::ARGMAX,
    memory::TABULATE,
    memory::PRECOMPUTE,
    canonical::CSE,
    // After what looks for the shape of a single sum.
    loops::LOOP_FUSION,
    canonical::CSE,
    canonical::DCE,
];

/// What a gradient goes through before it is lowered.
pub static GRADIENT: &[Pass] = &[
    // The reverse pass leaves index arithmetic behind for adjoints that turned out to be zero; where halves are fused, it may even stand
    // before what it is computed from.
    canonical::DCE,
    canonical::GRADIENT_CSE,
    // What both halves share is known by now.
    adjoint::FREE_BITS,
    adjoint::RECIPROCAL,
    adjoint::COMMON_FACTORS,
    adjoint::FOLD_COEFFICIENTS,
    canonical::DCE,
    adjoint::SINK,
    memory::DEAD_STORES,
    // For the loops that are gathered; once more in the end for those that were made.
    loops::REORDERABLE,
    adjoint::SCATTER_TO_GATHER,
    memory::DEAD_INIT,
    adjoint::INVARIANT_FACTOR,
    loops::UNROLL_AND_JAM,
    adjoint::COMBINE_TERMS,
    canonical::GRADIENT_CSE,
    canonical::DCE,
    loops::REORDERABLE,
];

/// What a kernel goes through before it is differentiated. What many threads run is left in its order: the compiler of the device has its own loops passes.
pub static KERNEL: &[Pass] = &[
    memory::FORWARD_COPIES,
    canonical::CSE,
    memory::SMALL_ARRAYS,
    canonical::CSE,
    loops::COUNTED,
    canonical::INDUCTION,
    canonical::CSE,
    canonical::IF_CONVERSION,
    canonical::CSE,
    memory::ARGMAX,
    canonical::CSE,
    canonical::DCE,
];

/// What the gradient of a kernel goes through.
pub static KERNEL_GRADIENT: &[Pass] = &[
    canonical::DCE,
    canonical::GRADIENT_CSE,
    adjoint::RECIPROCAL,
    adjoint::FOLD_COEFFICIENTS,
    canonical::GRADIENT_CSE,
    canonical::DCE,
    adjoint::GATHER_PAIRS,
    lower::ATOMICS,
];

/// How the loops of a gradient are to run.
pub static LOWERING: &[Pass] = &[
    lower::PRIVATIZE,
    tapeflow::REGIONS,
    tapeflow::LAYERS,
    lower::STRIP_MINE,
    tapeflow::STREAMS,
    tapeflow::SCRATCHPAD,
    lower::VECTOR_REDUCTION,
];
