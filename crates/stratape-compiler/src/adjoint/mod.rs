//! From a function to its gradient: one function of the same language that runs the program
//! forward, then backward.
//!
//! 1. [`Activity`] finds what derivatives flow through.
//! 2. A first, dry run of `reverse` writes the backward half as if every value of the forward
//!    half were still there, and notes which ones it asks for.
//!    In the same run `home` finds the loops whose two halves can be run as one.
//! 3. `choose` decides for each of them: it is still there, it is recomputed, or it is saved.
//! 4. The second run of `reverse` writes the backward half with pops and recomputation, after a
//!    forward half to which `save` has added the pushes.

mod call;
mod choose;
mod control;
mod cut;
mod halves;
mod home;
mod reverse;
mod rules;
mod save;
mod shadow;

use std::collections::HashSet;

use crate::analysis::{Activity, Clobbers, Definitions};
use crate::ir::{Function, ObjectId, Origin, Param, ValueId};

pub use self::choose::{Choice, Reason};

/// What to differentiate.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Names of the parameters to differentiate by; all that can be, if `None`.
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
    /// The parameters it differentiates by.
    pub inputs: HashSet<Param>,
    /// What was decided for values of the forward half that the backward half asks for.
    pub choices: Vec<Choice>,
}

/// The gradient of a function.
pub fn differentiate(function: &Function, options: &Options) -> Gradient {
    let inputs = inputs(function, options);
    let activity = Activity::new(function, &inputs);
    let definitions = Definitions::new(function);
    let clobbers = match function.plain {
        true => Clobbers::everything(),
        false => Clobbers::new(function, &definitions),
    };
    let facts = reverse::Facts {
        function,
        activity: &activity,
        definitions: &definitions,
        clobbers: &clobbers,
        inputs: &inputs,
    };
    let found = reverse::explore(&facts);
    let plan = choose::choose(&facts, &clobbers, &found);
    let name = options.name.clone().unwrap_or_else(|| format!("{}_grad", function.name));
    let primal_results = function.results.len();
    let (mut function, mut outputs) = reverse::reverse(&facts, &plan, found.fusion);
    function.name = name;
    crate::passes::finish(&mut function);
    // The passes may have put other values in the place of adjoints.
    let mut adjoints = function.results.iter().skip(primal_results);
    for output in &mut outputs {
        if let Output::Value(value) = output {
            *value = adjoints.next().copied().unwrap_or(*value);
        }
    }
    Gradient { function, outputs, choices: plan.choices, inputs }
}

/// A function as two: the first leaves on the tape what the second, which propagates adjoints, takes from it. For
/// functions that call themselves.
pub fn split(function: &Function) -> (Function, Function) {
    let inputs = inputs(function, &Options::default());
    let mut activity = Activity::new(function, &inputs);
    activity.add_inputs(&inputs);
    let definitions = Definitions::new(function);
    let clobbers = Clobbers::everything();
    let facts = reverse::Facts {
        function,
        activity: &activity,
        definitions: &definitions,
        clobbers: &clobbers,
        inputs: &inputs,
    };
    let found = halves::explore_split(&facts);
    let plan = choose::choose(&facts, &clobbers, &found);
    let (mut forward, mut backward) = halves::split(&facts, &plan);
    for half in [&mut forward, &mut backward] {
        crate::passes::finish(half);
    }
    (forward, backward)
}

/// The gradient of a function, as a function alone.
pub fn gradient(function: &Function, options: &Options) -> Function {
    differentiate(function, options).function
}

/// The parameters to differentiate by.
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
