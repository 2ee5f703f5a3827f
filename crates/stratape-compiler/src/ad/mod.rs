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
mod shape;

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use crate::driver::Target;
use stratape_ir::analysis::{DefUse, ReloadSafety, Versions};
use stratape_ir::{Function, ObjectId, Origin, Param, Stmt, ValueId, walk};

use self::shape::Shapes;

pub use self::activity::Activity;
pub use self::reverse::save_plan::{Choice, Purpose, Reason, StateChoice};

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
    /// What was decided for lists whose older versions it needs.
    pub states: Vec<StateChoice>,
    /// What saving and computing again costs, as the save plan reckons.
    pub saving: u64,
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

/// A function that uses the tape has no gradient: what it leaves there cannot be told apart from what the gradient would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsesTape {
    /// The function's name.
    pub name: String,
}

impl fmt::Display for UsesTape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` uses the tape: a gradient is not differentiated once more", self.name)
    }
}

impl Error for UsesTape {}

/// Only calls of functions in two halves may use the tape: those of the primal leave their records for the other half.
fn check_tapeless(function: &Function) -> Result<(), UsesTape> {
    let mut found = false;
    walk(&function.body, &mut |node| {
        found |= matches!(
            node,
            Stmt::Push { .. }
                | Stmt::Pop { .. }
                | Stmt::Save { .. }
                | Stmt::Restore { .. }
                | Stmt::Refill { .. }
        );
    });
    if found { Err(UsesTape { name: function.name.clone() }) } else { Ok(()) }
}

/// The function with numbers for what the transform keeps tables about, and with the shapes its lists have in the end.
fn prepared(function: &Function) -> (Function, Shapes) {
    let mut function = function.clone();
    function.number_statements();
    let shapes = Shapes::take(&mut function);
    (function, shapes)
}

/// The gradient of a function, as the passes for gradients will find it.
///
/// # Errors
/// If the function uses the tape: it is a gradient already.
pub fn differentiate(
    function: &Function,
    options: &Options,
    target: &Target,
) -> Result<Gradient, UsesTape> {
    check_tapeless(function)?;
    let (function, shapes) = &prepared(function);
    let inputs = inputs(function, options);
    let activity = Activity::new(function, &inputs);
    let definitions = DefUse::new(function);
    let clobbers = match function.plain {
        true => ReloadSafety::everything(function),
        false => ReloadSafety::new(function, &definitions),
    };
    // What a thread of a kernel would save as a whole belongs to all of them.
    let versions =
        (!function.plain && !function.kernel).then(|| Versions::new(function, &definitions));
    let facts = reverse::Facts {
        function,
        activity: &activity,
        definitions: &definitions,
        clobbers: &clobbers,
        versions: versions.as_ref(),
        inputs: &inputs,
        shapes,
    };
    let found = reverse::explore(&facts);
    let plan = reverse::save_plan::choose(&facts, &clobbers, &found, target);
    let name = options
        .name
        .clone()
        .unwrap_or_else(|| format!("{}_grad", function.name.trim_start_matches("r#")));
    let (mut function, outputs, states) = reverse::reverse(&facts, &plan, found.fusion);
    function.name = name;
    function.forget_numbers();
    Ok(Gradient { function, outputs, choices: plan.choices, states, inputs, saving: plan.cost })
}

/// A function as two: the first leaves on the tape what the second, which propagates adjoints, takes from it. For
/// functions that call themselves.
///
/// # Errors
/// As [`differentiate`].
pub fn split(function: &Function, target: &Target) -> Result<(Function, Function), UsesTape> {
    check_tapeless(function)?;
    let (function, shapes) = &prepared(function);
    let inputs = inputs(function, &Options::default());
    let mut activity = Activity::new(function, &inputs);
    activity.add_inputs(&inputs);
    let definitions = DefUse::new(function);
    let clobbers = ReloadSafety::everything(function);
    let facts = reverse::Facts {
        function,
        activity: &activity,
        definitions: &definitions,
        clobbers: &clobbers,
        versions: None,
        inputs: &inputs,
        shapes,
    };
    let found = reverse::halves::explore_split(&facts);
    let plan = reverse::save_plan::choose(&facts, &clobbers, &found, target);
    let (mut forward, mut backward) = reverse::halves::split(&facts, &plan);
    forward.forget_numbers();
    backward.forget_numbers();
    Ok((forward, backward))
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
