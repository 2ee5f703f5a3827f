//! Compares the gradient of a program with its forward derivative, both interpreted.
//!
//! The outputs of a program are its result and what it leaves in `y`. With weights on the outputs and
//! a direction of the inputs, both chosen at random, the forward derivative and the gradient
//! must give one number: the weighted sum of the outputs' changes along the direction.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use stratape_compiler::back::interp::{self, Argument, Datum, Dual, Memory, Number, Outcome};
use stratape_compiler::ir::Function;
use stratape_compiler::{adjoint, front, ir, passes};

use super::{Input, Random};

/// Where a comparison failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The source is not accepted.
    Front,
    /// The compiler panicked.
    Compiler,
    /// The checker refuses the gradient.
    Checker,
    /// The program itself traps, or leaves the sane range.
    Primal,
    /// The gradient traps.
    Gradient,
    /// The gradient computes other outputs.
    Value,
    /// The derivatives differ.
    Derivative,
}

/// What failed, and how.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.stage, self.message)
    }
}

fn fail<T>(stage: Stage, message: impl fmt::Display) -> Result<T, Failure> {
    Err(Failure { stage, message: message.to_string() })
}

/// What a comparison can tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// Records the gradient pushed.
    pub(crate) pushes: u64,
    /// Values on its tape at the most.
    pub(crate) peak: usize,
}

thread_local! {
    static COMPILING: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the compiler's panics from printing: they are caught and reported.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !COMPILING.get() {
                usual(info);
            }
        }));
    });
}

/// The gradient of a source as the macro makes it.
#[allow(clippy::unwrap_used, reason = "the source of a test")]
pub(crate) fn optimised(source: &str) -> Function {
    let item = syn::parse_str(source).unwrap();
    let mut function = front::lower(&item, &front::Options::default()).unwrap();
    passes::simplify(&mut function);
    let gradient = adjoint::gradient(&function, &adjoint::Options::default());
    ir::check(&gradient).unwrap();
    gradient
}

/// Compiles a source to a function and its gradient.
pub(crate) fn compile(source: &str) -> Result<(Function, Function), Failure> {
    let item = match syn::parse_str::<syn::ItemFn>(source) {
        Ok(item) => item,
        Err(error) => return fail(Stage::Front, error),
    };
    silence();
    COMPILING.set(true);
    let compiled = catch_unwind(AssertUnwindSafe(|| {
        let function = front::lower(&item, &front::Options::default())?;
        let mut simple = function.clone();
        // Most go through the passes, as with the macro; some show what the adjoint does without them.
        if !source.len().is_multiple_of(4) {
            passes::simplify(&mut simple);
        }
        let gradient = adjoint::gradient(&simple, &adjoint::Options::default());
        Ok((function, gradient))
    }));
    COMPILING.set(false);
    let (function, gradient) = match compiled {
        Ok(Ok(functions)) => functions,
        Ok(Err(error)) => {
            let error: syn::Error = error;
            return fail(Stage::Front, error);
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            return fail(Stage::Compiler, text.unwrap_or("a panic"));
        }
    };
    match ir::check(&gradient) {
        Ok(()) => Ok((function, gradient)),
        Err(message) => fail(Stage::Checker, message),
    }
}

/// The outputs of a run: the result, if there is one, then what is left in each `y`.
fn outputs<N: Number>(
    inputs: &[Input],
    outcome: &Outcome<N>,
    result: bool,
    shadows: bool,
) -> Vec<N> {
    let mut outputs = Vec::new();
    if result {
        outputs.extend(outcome.results.first().and_then(|datum| datum.float()));
    }
    let mut memory = outcome.memory.iter();
    for input in inputs {
        match input {
            Input::Float(_) | Input::Int(_) => {}
            Input::Indices(_) => drop(memory.next()),
            Input::Shared(_) | Input::Exclusive(_) => {
                let contents = memory.next();
                if shadows {
                    memory.next();
                }
                if let (Input::Exclusive(_), Some(contents)) = (input, contents) {
                    outputs.extend(contents.to_floats());
                }
            }
        }
    }
    outputs
}

/// Arguments of the program: the direction gives each float its tangent.
fn arguments<N: Number>(
    inputs: &[Input],
    direction: &[f64],
    number: impl Fn(f64, f64) -> N,
) -> Vec<Argument<N>> {
    let mut direction = direction.iter().copied();
    let mut float = |value: &f64| number(*value, direction.next().unwrap_or(0.0));
    let argument = |input: &Input| match input {
        Input::Float(value) => Argument::Float(float(value)),
        Input::Shared(values) | Input::Exclusive(values) => {
            Argument::Memory(Memory::floats(values.iter().map(&mut float)))
        }
        Input::Int(number) => Argument::Int(*number as i128),
        Input::Indices(numbers) => {
            Argument::Memory(Memory::ints(numbers.iter().map(|number| *number as i128)))
        }
    };
    inputs.iter().map(argument).collect()
}

/// Compares one program on one set of inputs.
pub(crate) fn judge(source: &str, inputs: &[Input], seed: u64) -> Result<Report, Failure> {
    let single = source.contains("f32");
    let (function, gradient) = compile(source)?;
    let options = interp::Options { constants: constants(), fuel: 2_000_000, ..Default::default() };
    let primal = match interp::run(&function, arguments(inputs, &[], |value, _| value), &options) {
        Ok(outcome) => outcome,
        Err(trap) => return fail(Stage::Primal, trap),
    };
    let has_result = !function.results.is_empty();
    let values = outputs(inputs, &primal, has_result, false);

    let mut random = Random::new(seed ^ 0x5eed);
    let mut weight = || {
        let number = random.float(-1.0, 1.0);
        if single { f64::from(number as f32) } else { number }
    };
    let weights: Vec<f64> = values.iter().map(|_| weight()).collect();
    let mut weights_of_memory = weights.iter().copied().skip(usize::from(has_result));
    let mut args = Vec::new();
    let mut before = Vec::new();
    for (argument, input) in arguments(inputs, &[], |value, _| value).into_iter().zip(inputs) {
        args.push(argument);
        match input {
            Input::Shared(values) => {
                let shadow: Vec<f64> = values.iter().map(|_| weight()).collect();
                args.push(Argument::Memory(Memory::floats(shadow.iter().copied())));
                before.extend(shadow);
            }
            Input::Exclusive(values) => {
                let shadow = weights_of_memory.by_ref().take(values.len());
                args.push(Argument::Memory(Memory::floats(shadow)));
                before.extend(values.iter().map(|_| 0.0));
            }
            Input::Float(_) => before.push(0.0),
            Input::Int(_) | Input::Indices(_) => {}
        }
    }
    if has_result {
        args.push(Argument::Float(weights[0]));
    }
    let outcome = match interp::run(&gradient, args, &options) {
        Ok(outcome) => outcome,
        Err(trap) => return fail(Stage::Gradient, trap),
    };

    let again = outputs(inputs, &outcome, has_result, true);
    if !values.iter().all(|value| value.is_finite()) {
        return fail(Stage::Primal, format!("outputs {values:?}"));
    }
    if values.iter().map(|v| v.to_bits()).ne(again.iter().map(|v| v.to_bits())) {
        return fail(Stage::Value, format!("{values:?} of the program, {again:?} of the gradient"));
    }
    let after = adjoints(inputs, &outcome, usize::from(has_result));
    let adjoint: Vec<f64> =
        after.iter().zip(&before).map(|(after, before)| after - before).collect();

    let forward = |direction: &[f64]| -> Result<Vec<f64>, Failure> {
        match interp::run(&function, arguments(inputs, direction, Dual::new), &options) {
            Ok(outcome) => {
                let duals = outputs(inputs, &outcome, has_result, false);
                Ok(duals.iter().zip(&weights).map(|(dual, weight)| weight * dual.tangent).collect())
            }
            Err(trap) => fail(Stage::Primal, trap),
        }
    };
    let tolerance = if single { 1e-3 } else { 1e-9 };
    let direction: Vec<f64> = before.iter().map(|_| weight()).collect();
    let forwards = forward(&direction)?;
    let backwards: Vec<f64> = adjoint.iter().zip(&direction).map(|(a, d)| a * d).collect();
    if adjoint.len() != before.len() {
        return fail(Stage::Derivative, format!("{} adjoints of {}", adjoint.len(), before.len()));
    }
    let sum = |terms: &[f64]| terms.iter().sum::<f64>();
    let size = |terms: &[f64]| terms.iter().map(|term| term.abs()).sum::<f64>();
    let scale = 1.0 + size(&forwards).max(size(&backwards));
    if !size(&forwards).is_finite() {
        return fail(Stage::Primal, "the forward derivative is not finite");
    }
    // Written so that a NaN fails.
    if (sum(&forwards) - sum(&backwards)).abs() <= tolerance * scale {
        return Ok(Report { pushes: outcome.pushes, peak: outcome.peak });
    }
    let mut message = String::from("forward and backward derivative by each input:");
    for (i, backward) in adjoint.iter().enumerate() {
        let mut unit = vec![0.0; adjoint.len()];
        unit[i] = 1.0;
        message += &format!("\n    {:?} | {backward:?}", sum(&forward(&unit)?));
    }
    fail(Stage::Derivative, message)
}

/// Constants of the standard library, and two lengths, by the text of their tokens.
fn constants() -> HashMap<String, f64> {
    let known = [
        ("f64 :: INFINITY", f64::INFINITY),
        ("f64 :: NEG_INFINITY", f64::NEG_INFINITY),
        ("f64 :: EPSILON", f64::EPSILON),
        ("f64 :: MAX", f64::MAX),
        ("f64 :: MIN", f64::MIN),
        ("std :: f64 :: consts :: PI", std::f64::consts::PI),
        ("SHORT", 4.0),
        ("LONG", 70.0),
    ];
    known.into_iter().map(|(text, value)| (text.to_owned(), value)).collect()
}

/// The adjoint of each float that goes in, in the order of the inputs.
fn adjoints(inputs: &[Input], outcome: &Outcome<f64>, skip: usize) -> Vec<f64> {
    let mut scalars = outcome.results.iter().copied().skip(skip).filter_map(Datum::float);
    let mut memory = outcome.memory.iter();
    let mut adjoints = Vec::new();
    for input in inputs {
        match input {
            Input::Float(_) => adjoints.extend(scalars.next()),
            Input::Int(_) => {}
            Input::Indices(_) => drop(memory.next()),
            Input::Shared(_) | Input::Exclusive(_) => {
                memory.next();
                adjoints.extend(memory.next().map(Memory::to_floats).unwrap_or_default());
            }
        }
    }
    adjoints
}

/// Runs a gradient, seeded with 1.5 and with `shadow` in every shadow: the value, then for each input its adjoint
/// (a scalar), or its contents and its shadow (memory of floats).
pub(crate) fn interpret(
    gradient: &Function,
    inputs: &[Input],
    has_result: bool,
    shadow: &dyn Fn(usize) -> Vec<f64>,
) -> Result<Vec<f64>, Failure> {
    let mut args = Vec::new();
    for (argument, input) in arguments(inputs, &[], |value, _| value).into_iter().zip(inputs) {
        args.push(argument);
        if let Input::Shared(values) | Input::Exclusive(values) = input {
            args.push(Argument::Memory(Memory::floats(shadow(values.len()))));
        }
    }
    if has_result {
        args.push(Argument::Float(1.5));
    }
    let options = interp::Options { constants: constants(), fuel: 2_000_000, ..Default::default() };
    let outcome = match interp::run(gradient, args, &options) {
        Ok(outcome) => outcome,
        Err(trap) => return fail(Stage::Gradient, trap),
    };
    let mut scalars = outcome.results.iter().copied().filter_map(Datum::float);
    let mut found: Vec<f64> = Vec::new();
    if has_result {
        found.extend(scalars.next());
    }
    let mut memory = outcome.memory.iter();
    for input in inputs {
        match input {
            Input::Float(_) => found.extend(scalars.next()),
            Input::Int(_) => {}
            Input::Indices(_) => drop(memory.next()),
            Input::Shared(_) | Input::Exclusive(_) => {
                for _ in 0..2 {
                    found.extend(memory.next().map(Memory::to_floats).unwrap_or_default());
                }
            }
        }
    }
    Ok(found)
}
