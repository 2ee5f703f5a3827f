//! A number with a tangent, and how large what it was summed from was.
//!
//! Sums of adjoints have no fixed order, so a gradient differs from the forward derivative by rounding: by a few units in the
//! last place of the largest *term*, which may be far larger than their sum. The size of a number is the sum of its terms'
//! absolute values along all paths from the inputs; errors are measured by it.

use std::cell::Cell;

use stratape_interp::{Dual, Number, Operation};

/// The least slope that counts: slopes themselves have rounding errors, about a unit in the last place of one.
const LEAST_SLOPE: f64 = 1e-2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) dual: Dual,
    pub(crate) size: f64,
}

thread_local! {
    /// Whether a function was infinitely steep where the program called it, even if no output depends on it.
    static STEEP: Cell<bool> = const { Cell::new(false) };
}

/// Whether a function was infinitely steep since this was last asked.
pub(crate) fn was_steep() -> bool {
    STEEP.replace(false)
}

impl Measured {
    pub(crate) fn new(value: f64, tangent: f64) -> Self {
        Self { dual: Dual::new(value, tangent), size: tangent.abs() }
    }
}

impl Number for Measured {
    fn constant(value: f64) -> Self {
        Self::new(value, 0.0)
    }

    fn value(self) -> f64 {
        self.dual.value
    }

    fn result(value: f64, operation: Operation, args: &[Self]) -> Self {
        let duals: Vec<Dual> = args.iter().map(|arg| arg.dual).collect();
        let dual = Dual::result(value, operation, &duals);
        let mut size = 0.0;
        for (at, arg) in args.iter().enumerate() {
            let mut unit: Vec<Dual> = duals.iter().map(|dual| Dual::new(dual.value, 0.0)).collect();
            unit[at].tangent = 1.0;
            let slope = Dual::result(value, operation, &unit).tangent;
            if !slope.is_finite() {
                STEEP.set(true);
            }
            let least = if matches!(operation, Operation::Math(_)) { LEAST_SLOPE } else { 0.0 };
            if arg.size > 0.0 {
                size += arg.size * slope.abs().max(least);
            }
        }
        Self { dual, size }
    }
}
