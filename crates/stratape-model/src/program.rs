//! [`Program`]: a gradient and its arguments, ready to run on a machine.

use stratape_compiler::ad::Output;
use stratape_compiler::driver::Saving;
use stratape_compiler::explain;
use stratape_interp::{self as interp, Argument, Memory, Observer, Trap};
use stratape_ir::{Extent, Function, Origin, Param, Scalar, Stmt, Type, walk};
use syn::visit_mut::VisitMut;

use crate::fingerprint::Fingerprint;
use crate::trace::Fan;
use crate::{ColumnLengths, Layout, Machine, ModelError, Report};

/// How long lists are, and what integers are, where nothing is said.
const LENGTH: usize = 64;

/// Most numbers that a list may have: the interpreter keeps it as values, in some hundred bytes each with its shadow and what the model knows of it.
const MOST: f64 = (1 << 22) as f64;

/// Steps that the interpreter takes in a second, and the model with it.
const STEPS_A_SECOND: u64 = 5_000_000;

/// Steps that a program may take, unless more are allowed: half a minute, and some gigabytes if most of them save.
const STEPS: u64 = 100_000_000;

/// A gradient and its arguments.
///
/// ```
/// use stratape_compiler::driver::Saving;
/// use stratape_model::{Layout, Machine, Program};
///
/// let source = "#[gradient] fn product(x: &[f64]) -> f64 {
///     let mut p = 1.0;
///     for v in x { p *= v * v; }
///     p
/// }";
/// let program = Program::compile(source, "product", Saving::All, &[("x", 1000.0)])?;
/// let report = program.run(&Machine::default(), Layout::Records)?;
/// assert!(report.forward.cycles > 1000);
/// # Ok::<(), stratape_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    function: Function,
    arguments: Vec<Argument<f64>>,
    /// Steps of the interpreter it may take.
    pub steps: u64,
}

impl Program {
    /// The gradient of a function in a source text. Parameters that are named are so long, if they are lists, and what is said, if they are numbers.
    ///
    /// # Errors
    /// If there is no such function under `#[gradient]`, if it is not accepted, or if a name is not that of a parameter.
    pub fn compile(
        source: &str,
        name: &str,
        saved: Saving,
        settings: &[(&str, f64)],
    ) -> Result<Self, ModelError> {
        let outside = |message: String| ModelError::Program { name: name.to_owned(), message };
        let mut file = syn::parse_file(source).map_err(|error| outside(error.to_string()))?;
        if saved == Saving::All {
            AsOthersDo.visit_file_mut(&mut file);
        }
        let survey = explain::survey_of(&file, name);
        if let Some(error) = survey.errors.first() {
            return Err(outside(error.to_string()));
        }
        let Some(subject) = survey.subjects.iter().find(|subject| subject.item.sig.ident == name)
        else {
            let known = match survey.names.is_empty() {
                true => "there are none".to_owned(),
                false => format!("there are {}", survey.names.join(", ")),
            };
            return Err(outside(format!("no such function under `#[gradient]`: {known}")));
        };
        let compiled = &subject.compiled;
        if !compiled.loops.is_empty() || !compiled.recursive.is_empty() {
            let message = "loops under `#[checkpoint]` and functions that call themselves are not modelled: take the mark away, or model the step alone";
            return Err(outside(message.to_owned()));
        }
        let mut function = compiled.gradient.function.clone();
        if calls(&function) {
            let message = "it calls a function with a `#[pullback]`, which the model cannot run: take the mark away, or model what is around it";
            return Err(outside(message.to_owned()));
        }
        for output in &compiled.gradient.outputs {
            if let Output::Object(object) = output {
                function.params.push(Param::Object(*object));
            }
        }
        let arguments = arguments(&function, settings).map_err(outside)?;
        Ok(Self { name: name.to_owned(), function, arguments, steps: STEPS })
    }

    /// Gives a list its numbers, by its name.
    pub fn fill(&mut self, name: &str, numbers: &[f64]) {
        let params = self.function.params.iter().zip(&mut self.arguments);
        for (param, argument) in params {
            if let Param::Object(object) = param {
                let object = &self.function.objects[object.index()];
                if object.name == name && object.shadow_of.is_none() {
                    let items = numbers.iter().map(|number| Memory::Float(*number));
                    *argument = Argument::Memory(Memory::List(items.collect()));
                }
            }
        }
    }

    /// The gradient in the intermediate language.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Runs it on a machine.
    ///
    /// # Errors
    /// If the machine cannot be built, or the program panics or takes too many steps.
    pub fn run(&self, machine: &Machine, layout: Layout) -> Result<Report, ModelError> {
        let mut reports = self.run_on(&[(*machine, layout)])?;
        Ok(reports.pop().unwrap_or_default())
    }

    /// Runs it once, on several machines at a time: one report for each, in their order.
    ///
    /// # Errors
    /// If a machine cannot be built, or the program panics or takes too many steps.
    ///
    /// ```
    /// use stratape_compiler::driver::Saving;
    /// use stratape_model::{Layout, Machine, Program};
    ///
    /// let source = "#[gradient] fn square(x: f64) -> f64 { x * x }";
    /// let program = Program::compile(source, "square", Saving::All, &[])?;
    /// let machines = [(Machine::baseline(), Layout::Columns), (Machine::default(), Layout::Records)];
    /// let reports = program.run_on(&machines)?;
    /// assert_eq!(reports[1], program.run(&machines[1].0, machines[1].1)?);
    /// # Ok::<(), stratape_model::ModelError>(())
    /// ```
    pub fn run_on(&self, machines: &[(Machine, Layout)]) -> Result<Vec<Report>, ModelError> {
        let options = interp::Options { fuel: self.steps, ..interp::Options::default() };
        let mut fan = Fan::new(&self.function, machines)?;
        if machines.iter().any(|(_, layout)| *layout == Layout::Columns) {
            let mut lengths = ColumnLengths::default();
            self.observed(&options, &mut lengths)?;
            fan = fan.with_columns(&lengths);
        }
        self.observed(&options, &mut fan)?;
        Ok(fan.finish())
    }

    /// A text that is another one for another gradient, other arguments, another machine or another version of the model: a name for a result that is
    /// kept.
    pub fn fingerprint(&self, machine: &Machine, layout: Layout) -> String {
        let mut print = Fingerprint::default();
        let version = (env!("CARGO_PKG_VERSION"), env!("STRATAPE_MODEL_SOURCES"));
        print.add(&format!("{version:?} {machine:?} {layout:?} {}", self.steps));
        print.add(&self.function.to_string());
        print.add(&format!("{:?}", self.arguments));
        print.to_string()
    }

    fn observed(
        &self,
        options: &interp::Options,
        observer: &mut impl Observer,
    ) -> Result<(), ModelError> {
        let outside = |message: String| ModelError::Program { name: self.name.clone(), message };
        match interp::run_observed(&self.function, self.arguments.clone(), options, observer) {
            Ok(_) => Ok(()),
            Err(Trap::Panic(message)) => Err(outside(format!(
                "with these inputs it panics: {message}. Say how long its lists are, and what its numbers are"
            ))),
            Err(Trap::Fuel) => Err(outside(format!(
                "it takes more than {} million steps, {} s or longer: take smaller inputs, or allow more steps",
                self.steps.div_ceil(1_000_000),
                self.steps.div_ceil(STEPS_A_SECOND)
            ))),
            Err(trap) => Err(outside(trap.to_string())),
        }
    }
}

/// Puts `plain` and `tape(saved = "all")` on every `#[gradient]`.
struct AsOthersDo;

impl VisitMut for AsOthersDo {
    fn visit_attribute_mut(&mut self, attribute: &mut syn::Attribute) {
        if attribute.path().segments.last().is_none_or(|last| last.ident != "gradient") {
            return;
        }
        let path = attribute.path().clone();
        let given = match &attribute.meta {
            syn::Meta::List(list) => without_tape(list.tokens.clone()),
            _ => quote::quote!(),
        };
        *attribute = syn::parse_quote!(#[#path(#given plain, tape(saved = "all"))]);
    }
}

/// The arguments of an attribute, each followed by a comma, but for `plain` and what it says of the tape.
fn without_tape(tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut kept = proc_macro2::TokenStream::new();
    let mut one: Vec<proc_macro2::TokenTree> = Vec::new();
    let comma = |token: &proc_macro2::TokenTree| matches!(token, proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ',');
    let end = proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone);
    for token in tokens.into_iter().chain([end.clone().into()]) {
        if !comma(&token) {
            one.push(token);
            continue;
        }
        let first = one.first().map(ToString::to_string);
        if !matches!(first.as_deref(), None | Some("tape" | "plain")) {
            kept.extend(one.drain(..));
            kept.extend([proc_macro2::TokenTree::from(end.clone())]);
        }
        one.clear();
    }
    kept
}

/// Whether a function calls others that are not looked into.
fn calls(function: &Function) -> bool {
    let mut calls = false;
    walk(&function.body, &mut |node| calls |= matches!(node, Stmt::Call(_)));
    calls
}

/// The largest integer an argument can be: more iterations than anything runs here.
const MOST_NUMBER: f64 = 9e15;

/// Arguments for the parameters of a gradient.
fn arguments(function: &Function, settings: &[(&str, f64)]) -> Result<Vec<Argument<f64>>, String> {
    let mut names = Vec::new();
    let mut numbers = Numbers(1);
    let mut arguments = Vec::new();
    let said =
        |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    if let Some((name, value)) = settings.iter().find(|(_, value)| !value.is_finite()) {
        return Err(format!("`{name}` is {value}: write a number"));
    }
    for (position, (name, _)) in settings.iter().enumerate() {
        if settings[..position].iter().any(|(known, _)| known == name) {
            return Err(format!("`{name}` is set twice"));
        }
    }
    for param in &function.params {
        arguments.push(match param {
            Param::Value(value) => {
                let name = function.values[value.index()].name.clone().unwrap_or_default();
                let said = said(&name);
                names.push(name.clone());
                match function.ty(*value) {
                    Scalar::Float(_) if name == "seed" => Argument::Float(said.unwrap_or(1.0)),
                    Scalar::Float(_) => Argument::Float(said.unwrap_or_else(|| numbers.next())),
                    Scalar::Bool => match said.unwrap_or(0.0) {
                        value if value == 0.0 || value == 1.0 => Argument::Bool(value == 1.0),
                        value => {
                            return Err(format!(
                                "`{name}` is a `bool`: {value} is neither 1 nor 0"
                            ));
                        }
                    },
                    ty => {
                        let number = said.unwrap_or(LENGTH as f64);
                        let name = format!("`{name}` is a `{}`", ty.name());
                        let unsigned = ty.name().starts_with('u');
                        if number.fract() != 0.0 || (unsigned && number < 0.0) {
                            return Err(format!("{name}: {number} is none"));
                        }
                        if number.abs() > MOST_NUMBER {
                            return Err(format!("{name}: {number} is more than the model can run"));
                        }
                        Argument::Int(number as i128)
                    }
                }
            }
            Param::Object(object) => {
                let known = &function.objects[object.index()];
                let primal =
                    known.shadow_of.map_or(known, |primal| &function.objects[primal.index()]);
                let said = said(&primal.name);
                names.push(primal.name.clone());
                let shadow = known.shadow_of.is_some() || known.origin == Origin::Local;
                let mut next = || if shadow { 0.0 } else { numbers.next() };
                let length = said.unwrap_or(LENGTH as f64);
                if length < 0.0 || length.fract() != 0.0 {
                    return Err(format!(
                        "`{}` is a list: `{length}` is no number of elements",
                        primal.name
                    ));
                }
                let count = numbers_of(&known.ty, length);
                if count > MOST {
                    return Err(format!(
                        "`{}` would have {count} numbers, {MOST} are the most",
                        primal.name
                    ));
                }
                let length = length as usize;
                Argument::Memory(memory(&known.ty, length, &mut next)?)
            }
        });
    }
    match settings.iter().find(|(name, _)| !names.iter().any(|known| known == name)) {
        Some((name, _)) => {
            names.dedup();
            Err(format!("there is no parameter `{name}`: there are {}", names.join(", ")))
        }
        None => Ok(arguments),
    }
}

/// How many numbers memory of a type has whose lists are so long.
fn numbers_of(ty: &Type, length: f64) -> f64 {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => 1.0,
        Type::Array(item, Extent::Known(count)) => *count as f64 * numbers_of(item, length),
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => {
            length * numbers_of(item, length)
        }
        Type::Tuple(items) => items.iter().map(|item| numbers_of(item, length)).sum(),
        Type::Struct(def) => def.fields.iter().map(|(_, item)| numbers_of(item, length)).sum(),
    }
}

/// Memory of a type whose lists are so long.
fn memory(ty: &Type, length: usize, next: &mut dyn FnMut() -> f64) -> Result<Memory<f64>, String> {
    let mut list = |item: &Type, count: usize| -> Result<Memory<f64>, String> {
        Ok(Memory::List((0..count).map(|_| memory(item, length, next)).collect::<Result<_, _>>()?))
    };
    match ty {
        Type::Scalar(Scalar::Float(_)) => Ok(Memory::Float(next())),
        Type::Scalar(Scalar::Bool) => Ok(Memory::Bool(false)),
        Type::Scalar(_) | Type::Enum(_) => Ok(Memory::Int(0)),
        Type::Array(item, Extent::Known(count)) => list(item, *count),
        Type::Array(..) => Err("an array whose length is a constant of elsewhere".to_owned()),
        Type::Slice(item) | Type::Vec(item) => list(item, length),
        Type::Tuple(items) => Ok(Memory::List(
            items.iter().map(|item| memory(item, length, next)).collect::<Result<_, _>>()?,
        )),
        Type::Struct(def) => Ok(Memory::List(
            def.fields
                .iter()
                .map(|(_, item)| memory(item, length, next))
                .collect::<Result<_, _>>()?,
        )),
    }
}

/// Numbers between 0.1 and 1 that are the same in every run (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.within(0.1, 1.0)
    }

    /// A number between two.
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        low + (high - low) * ((z >> 11) as f64 * 2.0_f64.powi(-53))
    }
}
