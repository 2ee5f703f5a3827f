//! Differentiation: from a function to its gradient, one function of the same language that runs the program
//! forward, then backward. docs/compiler/adjoint.md explains it at length.
//!
//! 1. [`Activity`] finds what derivatives flow through.
//! 2. A dry run of `reverse` writes the backward half as if every value of the forward
//!    half were still available, and notes which ones it needs.
//!    In the same run `fuse_halves` finds the loops whose two halves can run as one.
//! 3. `save_plan` decides for each needed value by a minimum cut: it is still available, recomputed, reloaded, or saved.
//! 4. The second run of `reverse` writes the backward half with pops and recomputation, after a
//!    forward half to which `records` has added the pushes.

mod activity;
mod partials;
mod reverse;

use std::collections::HashSet;

use crate::driver::Target;
use stratape_ir::analysis::{DefUse, ReloadSafety};
use stratape_ir::{Function, ObjectId, Origin, Param, ValueId};

pub use self::activity::Activity;
pub use self::reverse::save_plan::{Choice, Reason};

/// What to differentiate.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Names of the parameters to differentiate with respect to; all that can be, if `None`.
    pub wrt: Option<Vec<String>>,
    /// The gradient's name; `f_grad` for `f`, if `None`.
    pub name: Option<String>,
}

/// What a gradient returns after the primal value, in the order of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The adjoint of a scalar.
    Value(ValueId),
    /// The adjoint of an array, tuple or struct passed by value.
    Object(ObjectId),
}

/// A gradient, and how it came about.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The function. Its results are the primal value and the adjoints of scalars.
    pub function: Function,
    /// The adjoints it returns.
    pub outputs: Vec<Output>,
    /// The parameters it differentiates with respect to.
    pub inputs: HashSet<Param>,
    /// What was decided for the forward values that the backward half needs.
    pub choices: Vec<Choice>,
}

impl Gradient {
    /// Finds the adjoints it returns again: passes may have put other values in their place. The first results are the primal's.
    pub(crate) fn settle(&mut self, primal_results: usize) {
        let mut adjoints = self.function.results.iter().skip(primal_results);
        for output in &mut self.outputs {
            if let Output::Value(value) = output {
                *value = adjoints.next().copied().unwrap_or(*value);
            }
        }
    }
}

/// The gradient of a function, as the passes for gradients will find it.
pub fn differentiate(function: &Function, options: &Options, target: &Target) -> Gradient {
    let inputs = inputs(function, options);
    let activity = Activity::new(function, &inputs);
    let definitions = DefUse::new(function);
    let clobbers = match function.plain {
        true => ReloadSafety::everything(),
        false => ReloadSafety::new(function, &definitions),
    };
    let facts = reverse::Facts {
        function,
        activity: &activity,
        definitions: &definitions,
        clobbers: &clobbers,
        inputs: &inputs,
    };
    let found = reverse::explore(&facts);
    let plan = reverse::save_plan::choose(&facts, &clobbers, &found, target);
    let name = options.name.clone().unwrap_or_else(|| format!("{}_grad", function.name));
    let (mut function, outputs) = reverse::reverse(&facts, &plan, found.fusion);
    function.name = name;
    Gradient { function, outputs, choices: plan.choices, inputs }
}

/// A function as two: the first leaves on the tape what the second, which propagates adjoints, takes from it. For
/// functions that call themselves.
pub fn split(function: &Function, target: &Target) -> (Function, Function) {
    let inputs = inputs(function, &Options::default());
    let mut activity = Activity::new(function, &inputs);
    activity.add_inputs(&inputs);
    let definitions = DefUse::new(function);
    let clobbers = ReloadSafety::everything();
    let facts = reverse::Facts {
        function,
        activity: &activity,
        definitions: &definitions,
        clobbers: &clobbers,
        inputs: &inputs,
    };
    let found = reverse::halves::explore_split(&facts);
    let plan = reverse::save_plan::choose(&facts, &clobbers, &found, target);
    reverse::halves::split(&facts, &plan)
}

/// The parameters to differentiate with respect to.
pub fn inputs(function: &Function, options: &Options) -> HashSet<Param> {
    let wanted = |name: &str| match &options.wrt {
        Some(names) => names.iter().any(|wanted| wanted == name),
        None => true,
    };
    function
        .params
        .iter()
        .filter(|param| match param {
            Param::Value(value) => {
                let known = &function.values[value.index()];
                known.ty.is_float() && wanted(known.name.as_deref().unwrap_or_default())
            }
            Param::Object(object) => {
                let known = &function.objects[object.index()];
                known.ty.has_float() && known.origin != Origin::Local && wanted(&known.name)
            }
        })
        .copied()
        .collect()
}
