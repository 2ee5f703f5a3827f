//! Compares the gradient of a program with its forward derivative, both interpreted.
//!
//! The outputs of a program are its result and what it leaves in `&mut` parameters. With weights on the outputs, chosen at
//! random, the forward derivative along a direction of the inputs and the gradient must give one number: the weighted sum of
//! the outputs' changes. The directions are one chosen at random, and inputs one by one: in a sum over all inputs
//! errors can cancel.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use stratape_compiler::ad::Output;
use stratape_compiler::driver::{self, Compiled, Options, Saving, TapeSettings, Target};
use stratape_compiler::front;
use stratape_compiler::source::Sources;
use stratape_interp::{self as interp, Argument, Datum, Memory, Number, Outcome, Trap};
use stratape_ir::{Function, Param};

use super::Random;
use super::measure::{Measured, was_steep};
use super::rewrite;
use super::value::{Input, Passing, Value};

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
    /// The outputs are not finite, or the program runs too long: nothing was compared.
    pub(crate) skipped: bool,
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
    let compiled = driver::compile(&item, &front::Items::empty(), &Options::default()).unwrap();
    assert_eq!(compiled.fault, None);
    compiled.gradient.function
}

/// How a gradient is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As the macro makes it.
    Optimised,
    /// With schedules, and every loop that can be in parts.
    Parallel,
    /// As `#[gradient(plain)]` makes it: no pass reorders or fuses anything.
    Plain,
}

/// The function of a source, with what is in its module.
pub(crate) fn lowered(source: &str) -> syn::Result<Function> {
    let file = rewrite::unrolled(&syn::parse_file(source)?);
    let item = rewrite::program(&file)
        .ok_or_else(|| syn::Error::new(proc_macro2::Span::call_site(), "no function"))?;
    let items = front::Items::collect(&file.items)?;
    let mut function = front::lower(&item, &items)?;
    // The interpreter does not know time loops that are functions of their own.
    function.checkpoints.clear();
    Ok(function)
}

/// Runs a part of the compiler; its errors and its panics are failures.
pub(crate) fn guarded<T>(f: impl FnOnce() -> syn::Result<T>) -> Result<T, Failure> {
    silence();
    COMPILING.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    COMPILING.set(false);
    match result {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => fail(Stage::Front, error),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            fail(Stage::Compiler, text.unwrap_or("a panic"))
        }
    }
}

/// The gradient of a function. What it returns of arguments passed by value is added to its parameters, where the
/// interpreter shows it.
pub(crate) fn gradient_of(function: &Function, manner: Manner) -> Result<Function, Failure> {
    let compiled = compiled(function, manner)?;
    let gradient = compiled.gradient.function.clone();
    Ok(shown(
        &compiled,
        if manner == Manner::Optimised { gradient } else { compiled.lowered.clone() },
    ))
}

fn compiled(function: &Function, manner: Manner) -> Result<Compiled, Failure> {
    let parallel = (manner == Manner::Parallel).then(proc_macro2::Span::call_site);
    let plain = manner == Manner::Plain;
    // In a share, always the same programs, all is saved that can be, so that frames are large.
    let saved = match function.values.len() % 5 {
        2 => Saving::All,
        3 => Saving::Compact,
        _ => Saving::Minimal,
    };
    let tape = TapeSettings { saved, ..TapeSettings::default() };
    let target = Target { part_operations: 1, tape, ..Target::default() };
    let options = Options {
        plain,
        parallel,
        target,
        verify: manner == Manner::Optimised,
        ..Options::default()
    };
    let compiled = guarded(|| driver::compile_function(function, &Sources::default(), &options))?;
    match compiled.fault {
        Some(message) => fail(Stage::Checker, message),
        None => Ok(compiled),
    }
}

/// A gradient with what it returns of arguments passed by value among its parameters.
fn shown(compiled: &Compiled, mut function: Function) -> Function {
    for output in &compiled.gradient.outputs {
        if let Output::Object(object) = output {
            function.params.push(Param::Object(*object));
        }
    }
    function
}

/// Compiles a source to a function and its gradient.
pub(crate) fn compile(source: &str) -> Result<(Function, Function), Failure> {
    let function = guarded(|| lowered(source))?;
    let gradient = gradient_of(&function, Manner::Optimised)?;
    Ok((function, gradient))
}

fn options() -> interp::Options {
    interp::Options { constants: constants(), fuel: 2_000_000, ..interp::Options::default() }
}

/// Arguments of the program: the direction gives each float its tangent.
fn arguments<N: Number>(
    inputs: &[Input],
    direction: &[f64],
    number: impl Fn(f64, f64) -> N,
) -> Vec<Argument<N>> {
    let mut direction = direction.iter().copied();
    let mut float = |value: f64| number(value, direction.next().unwrap_or(0.0));
    inputs.iter().map(|input| input.argument(&mut float)).collect()
}

/// What a program or its gradient leaves: outputs, and adjoints of the inputs where there are shadows.
struct Left<N> {
    outputs: Vec<N>,
    adjoints: Vec<N>,
    /// Contents and shadows as they are compared with those of the compiled gradient.
    all: Vec<N>,
}

fn left<N: Number>(inputs: &[Input], outcome: &Outcome<N>, result: bool, shadows: bool) -> Left<N> {
    let mut scalars = outcome.results.iter().copied().filter_map(Datum::float);
    let mut left = Left { outputs: Vec::new(), adjoints: Vec::new(), all: Vec::new() };
    if result {
        left.outputs.extend(scalars.next());
        left.all.extend(&left.outputs);
    }
    let owned =
        inputs.iter().filter(|input| matches!(input, Input::Data(Passing::Owned, _))).count();
    let returned = if shadows { outcome.memory.len().saturating_sub(owned) } else { 0 };
    let (memory, returned) = if shadows {
        outcome.memory.split_at(returned)
    } else {
        (outcome.memory.as_slice(), [].as_slice())
    };
    let (mut memory, mut returned) = (memory.iter(), returned.iter());
    let floats = |memory: Option<&Memory<N>>| memory.map(Memory::to_floats).unwrap_or_default();
    for input in inputs {
        match (input, input.data()) {
            (Input::Float(_), _) => {
                let adjoint = scalars.next();
                left.adjoints.extend(adjoint);
                left.all.extend(adjoint);
            }
            (Input::Indices(_), _) => drop(memory.next()),
            (_, Some((passing, _))) => {
                let contents = floats(memory.next());
                if passing == Passing::Exclusive {
                    left.outputs.extend(&contents);
                }
                let shadow = match (shadows, passing) {
                    (false, _) => Vec::new(),
                    (true, Passing::Owned) => floats(returned.next()),
                    (true, _) => {
                        left.all.extend(contents);
                        floats(memory.next())
                    }
                };
                left.all.extend(&shadow);
                left.adjoints.extend(shadow);
            }
            _ => {}
        }
    }
    left
}

/// The arguments of a gradient: each input followed by its shadow, the seed, and room for what is returned.
fn arguments_of_gradient(
    inputs: &[Input],
    seed: Option<f64>,
    shadow: &mut dyn FnMut(&Input, &Value) -> Value,
) -> Vec<Argument<f64>> {
    let mut args = Vec::new();
    let mut returned = Vec::new();
    for (argument, input) in arguments(inputs, &[], |value, _| value).into_iter().zip(inputs) {
        args.push(argument);
        match input.data() {
            Some((Passing::Owned, value)) => {
                returned.push(Argument::Memory(value.memory(&mut |_| 0.0)));
            }
            Some((_, value)) => {
                args.push(Argument::Memory(shadow(input, &value).memory(&mut |number| number)));
            }
            None => {}
        }
    }
    args.extend(seed.map(Argument::Float));
    args.extend(returned);
    args
}

/// How many inputs are looked at by themselves, at most.
const ONE_BY_ONE: usize = 12;

/// What a gradient is compared with.
struct Reference<'a> {
    function: &'a Function,
    inputs: &'a [Input],
    has_result: bool,
    single: bool,
    /// The outputs, and their weights.
    values: Vec<f64>,
    weights: Vec<f64>,
    /// What shadows hold before: nothing, so that no rounding hides small adjoints, or numbers that must stay.
    before: Vec<f64>,
    /// Derivatives along some directions.
    forwards: Vec<(Vec<f64>, Forward)>,
}

/// Compares one program on one set of inputs: its gradient optimised, with loops in several orders, and plain.
pub(crate) fn judge(source: &str, inputs: &[Input], seed: u64) -> Result<Report, Failure> {
    let function = guarded(|| lowered(source))?;
    // The compiler's faults first: they do not depend on the inputs.
    let optimised = compiled(&function, Manner::Optimised)?;
    let gradient = shown(&optimised, optimised.gradient.function.clone());
    let lowered = shown(&optimised, optimised.lowered.clone());
    let plain = gradient_of(&function, Manner::Plain)?;
    let single = source.contains("f32");
    let skipped = Report { skipped: true, ..Report::default() };
    let Some(reference) = Reference::new(&function, inputs, seed, single)? else {
        return Ok(skipped);
    };
    let Some((mut report, adjoint)) = reference.check("optimised", &gradient, None)? else {
        return Ok(skipped);
    };
    report.skipped = false;
    for shuffle in [seed, !seed] {
        reference.check("optimised, in another order", &gradient, Some(shuffle))?;
    }
    reference.check("in strips and blocks", &lowered, None)?;
    // A function none of whose loops is independent is refused.
    match gradient_of(&function, Manner::Parallel) {
        Ok(parallel) => drop(reference.check("in parts", &parallel, None)?),
        Err(failure) if failure.stage == Stage::Front => {}
        Err(failure) => return Err(failure),
    }
    if let Some((_, other)) = reference.check("plain", &plain, None)? {
        reference.agree(&adjoint, &other)?;
    }
    Ok(report)
}

/// Whether a gradient of a program, made in whatever way, is right on some inputs. Nothing if that cannot be told.
pub(crate) fn is_right(
    source: &str,
    inputs: &[Input],
    seed: u64,
    change: &mut dyn FnMut(&mut Function) -> bool,
) -> Result<Option<bool>, Failure> {
    let function = guarded(|| lowered(source))?;
    let compiled = compiled(&function, Manner::Optimised)?;
    let mut gradient = compiled.lowered.clone();
    if !change(&mut gradient) {
        return Ok(None);
    }
    agrees((&function, source), (&compiled, gradient), inputs, seed)
}

/// The same of one that is compiled already.
pub(crate) fn agrees(
    (function, source): (&Function, &str),
    (compiled, gradient): (&Compiled, Function),
    inputs: &[Input],
    seed: u64,
) -> Result<Option<bool>, Failure> {
    let gradient = shown(compiled, gradient);
    let Some(reference) = Reference::new(function, inputs, seed, source.contains("f32"))? else {
        return Ok(None);
    };
    Ok(Some(reference.check("changed", &gradient, None).is_ok()))
}

impl<'a> Reference<'a> {
    /// Runs a program forward; nothing if it runs too long, or its outputs are not finite.
    fn new(
        function: &'a Function,
        inputs: &'a [Input],
        seed: u64,
        single: bool,
    ) -> Result<Option<Self>, Failure> {
        let args = arguments(inputs, &[], |value, _| value);
        let primal = match interp::run(function, args, &options()) {
            Ok(outcome) => outcome,
            Err(Trap::Fuel) => return Ok(None),
            Err(trap) => return fail(Stage::Primal, trap),
        };
        let has_result = !function.results.is_empty();
        let values = left(inputs, &primal, has_result, false).outputs;
        if !values.iter().all(|value| value.is_finite()) {
            return Ok(None);
        }
        let mut random = Random::new(seed ^ 0x5eed);
        let mut weight = || {
            let number = random.float(-1.0, 1.0);
            if single { f64::from(number as f32) } else { number }
        };
        let weights: Vec<f64> = values.iter().map(|_| weight()).collect();
        let mut before = Vec::new();
        for input in inputs {
            let shared = matches!(input, Input::Shared(_) | Input::Data(Passing::Shared, _));
            let full = shared && seed.is_multiple_of(2);
            before.extend((0..input.count()).map(|_| if full { weight() } else { 0.0 }));
        }
        let count = before.len();
        let unit =
            |at: usize| -> Vec<f64> { (0..count).map(|i| f64::from(u8::from(i == at))).collect() };
        let mut directions = vec![vec![1.0; count], before.iter().map(|_| weight()).collect()];
        if count <= ONE_BY_ONE {
            directions.extend((0..count).map(unit));
        } else {
            directions.extend((0..ONE_BY_ONE).map(|_| unit(random.below(count))));
        }
        let mut reference = Self {
            function,
            inputs,
            has_result,
            single,
            values,
            weights,
            before,
            forwards: Vec::new(),
        };
        for direction in directions {
            let forward = reference.along(&direction)?;
            reference.forwards.push((direction, forward));
        }
        Ok(Some(reference))
    }

    /// The derivative along a direction.
    fn along(&self, direction: &[f64]) -> Result<Forward, Failure> {
        let args = arguments(self.inputs, direction, Measured::new);
        match interp::run(self.function, args, &options()) {
            Ok(outcome) => {
                let numbers = left(self.inputs, &outcome, self.has_result, false).outputs;
                let mut forward = Forward { steep: was_steep(), ..Forward::default() };
                for (number, weight) in numbers.iter().zip(&self.weights) {
                    forward.tangent += weight * number.dual.tangent;
                    forward.size += weight.abs() * number.size;
                }
                Ok(forward)
            }
            Err(trap) => fail(Stage::Primal, trap),
        }
    }

    fn tolerance(&self, size: f64) -> f64 {
        let relative = if self.single { 2e-4 } else { 1e-10 };
        let full = self.before.iter().any(|before| *before != 0.0);
        let least = if self.single { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
        relative * size + if full { relative * 1e-3 } else { least }
    }

    /// Compares a gradient; what it tells, and its adjoints. Nothing if it runs too long.
    fn check(
        &self,
        manner: &str,
        gradient: &Function,
        shuffle: Option<u64>,
    ) -> Result<Option<(Report, Vec<f64>)>, Failure> {
        let mut weights = self.weights.iter().copied().skip(usize::from(self.has_result));
        let mut before = self.inputs.iter().scan(0, |at, input| {
            let from = *at;
            *at += input.count();
            Some((std::ptr::from_ref(input), from))
        });
        let seed = self.has_result.then(|| self.weights[0]);
        let args = arguments_of_gradient(self.inputs, seed, &mut |input, value| {
            let exclusive =
                matches!(input, Input::Exclusive(_) | Input::Data(Passing::Exclusive, _));
            let place = before.find(|(known, _)| *known == std::ptr::from_ref(input));
            let mut at = place.map_or(0, |(_, from)| from);
            value.map(&mut |_| {
                at += 1;
                if exclusive { weights.next().unwrap_or(0.0) } else { self.before[at - 1] }
            })
        });
        let options = interp::Options { shuffle, ..options() };
        let outcome = match interp::run(gradient, args, &options) {
            Ok(outcome) => outcome,
            Err(Trap::Fuel) => return Ok(None),
            Err(trap) => return fail(Stage::Gradient, format!("{manner}: {trap}")),
        };
        let after = left(self.inputs, &outcome, self.has_result, true);
        let (values, again) = (&self.values, after.outputs);
        if values.iter().map(|v| v.to_bits()).ne(again.iter().map(|v| v.to_bits())) {
            let message = format!("{manner}: {values:?} of the program, {again:?} of the gradient");
            return fail(Stage::Value, message);
        }
        if after.adjoints.len() != self.before.len() {
            let message = format!("{} adjoints of {}", after.adjoints.len(), self.before.len());
            return fail(Stage::Derivative, message);
        }
        let adjoint: Vec<f64> =
            after.adjoints.iter().zip(&self.before).map(|(after, before)| after - before).collect();
        for (direction, forward) in &self.forwards {
            let terms = adjoint.iter().zip(direction).filter(|(_, d)| **d != 0.0);
            let backward: f64 = terms.map(|(a, d)| a * d).sum();
            // Where a slope is infinite, so is the gradient, or not a number.
            let infinite = !forward.tangent.is_finite() || !forward.size.is_finite();
            if infinite || (forward.steep && !backward.is_finite()) {
                continue;
            }
            // Written so that a NaN fails.
            if (forward.tangent - backward).abs() <= self.tolerance(forward.size) {
                continue;
            }
            return fail(Stage::Derivative, self.by_each(manner, &adjoint)?);
        }
        Ok(Some((Report { pushes: outcome.pushes, peak: outcome.peak, skipped: false }, adjoint)))
    }

    /// Two gradients are one, up to rounding.
    fn agree(&self, adjoint: &[f64], other: &[f64]) -> Result<(), Failure> {
        let Some((_, all)) = self.forwards.first() else { return Ok(()) };
        for (a, b) in adjoint.iter().zip(other) {
            let close = (a - b).abs() <= self.tolerance(all.size);
            if !close && !all.steep && all.size.is_finite() {
                let message = format!("{a:?} optimised, {b:?} plain");
                return fail(Stage::Derivative, message);
            }
        }
        Ok(())
    }

    fn by_each(&self, manner: &str, adjoint: &[f64]) -> Result<String, Failure> {
        let mut message = format!(
            "{manner}: forward and backward derivative by inputs, and the size of the terms:"
        );
        for (i, backward) in adjoint.iter().enumerate() {
            let mut unit = vec![0.0; adjoint.len()];
            unit[i] = 1.0;
            let forward = self.along(&unit)?;
            let close = (forward.tangent - backward).abs() <= self.tolerance(forward.size);
            if !close {
                let Forward { tangent, size, .. } = forward;
                message += &format!("\n    {i}: {tangent:?} | {backward:?} | {size:e}");
            }
        }
        Ok(message)
    }
}

/// The weighted sum of the outputs' changes along a direction.
#[derive(Clone, Copy, Debug, Default)]
struct Forward {
    tangent: f64,
    size: f64,
    steep: bool,
}

/// How large the terms are that the adjoints of a gradient are summed from, seeded as for [`interpret`].
pub(crate) fn scale_of(function: &Function, inputs: &[Input]) -> Result<f64, Failure> {
    let ones = vec![1.0; inputs.iter().map(Input::count).sum()];
    match interp::run(function, arguments(inputs, &ones, Measured::new), &options()) {
        Ok(outcome) => {
            let numbers = left(inputs, &outcome, !function.results.is_empty(), false).outputs;
            Ok(numbers.iter().map(|number| 4.0 * number.size).sum())
        }
        Err(trap) => fail(Stage::Primal, trap),
    }
}

/// Constants of the standard library and of the programs, by the text of their tokens.
fn constants() -> HashMap<String, f64> {
    let known = [
        ("f64 :: INFINITY", f64::INFINITY),
        ("f64 :: NEG_INFINITY", f64::NEG_INFINITY),
        ("f64 :: EPSILON", f64::EPSILON),
        ("f64 :: MAX", f64::MAX),
        ("f64 :: MIN", f64::MIN),
        ("std :: f64 :: consts :: PI", std::f64::consts::PI),
        ("std :: f32 :: consts :: PI", f64::from(std::f32::consts::PI)),
        ("(Norm :: Sum as isize)", 0.0),
        ("(Norm :: Largest as isize)", 1.0),
        ("(Norm :: Smooth as isize)", 2.0),
        (":: core :: cfg ! (debug_assertions)", 1.0),
        ("SHORT", 4.0),
        ("LONG", 70.0),
    ];
    known.into_iter().map(|(text, value)| (text.to_owned(), value)).collect()
}

/// Runs a gradient, seeded with 1.5 and with `shadow` in every shadow: the value, then for each input its adjoint
/// (a scalar, or what is passed by value), or its contents and its shadow.
pub(crate) fn interpret(
    gradient: &Function,
    inputs: &[Input],
    has_result: bool,
    shadow: &dyn Fn(usize) -> Vec<f64>,
) -> Result<Vec<f64>, Failure> {
    let args = arguments_of_gradient(inputs, has_result.then_some(1.5), &mut |_, value| {
        let mut numbers = shadow(value.count()).into_iter();
        value.map(&mut |_| numbers.next().unwrap_or(0.0))
    });
    let outcome = match interp::run(gradient, args, &options()) {
        Ok(outcome) => outcome,
        Err(trap) => return fail(Stage::Gradient, trap),
    };
    Ok(left(inputs, &outcome, has_result, true).all)
}
