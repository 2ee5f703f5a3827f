//! The one way from a function as written to a gradient that can be emitted.
//!
//! ```text
//! syntax ─ front ─▶ primal ─ PRIMAL ─▶ primal ─ ad ─▶ gradient ─ GRADIENT ─▶ gradient ─ LOWERING ─▶ lowered
//! ```
//! `expand` (the attributes), `explain` and the tests all come through here. Passes are data ([`pipeline`]): they run in the
//! order of their sequence, each is told the [`Target`] and leaves [`Remark`]s, and any of them can be switched off. The validator runs after each pass
//! where [`Options::verify`] asks for it, which debug builds do by default (the attributes do not: users' builds would pay), and after the
//! last one always. Where it refuses what the optional passes made, the function is compiled once more without them.

mod by_value;
mod extremes;
mod kernel;
pub mod pipeline;
pub mod target;

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};
use syn::{Error, Result};

use crate::ad::{self, Gradient};
use crate::front::{self, Items};
use crate::outline::{TimeLoop, outline};
use crate::source::Sources;
use crate::tapeflow::regions;
use crate::transform::memory::SWAP_COPIES;
use stratape_ir::analysis::{self, Conflict};
use stratape_ir::valid::{self, Fault, Valid};
use stratape_ir::{Function, Param, Stmt, walk};

pub use self::by_value::{ByValue, Part};
pub use self::extremes::Election;
pub use self::kernel::{CompiledKernel, KernelGradient, compile_kernel, compile_kernel_function};
pub use self::pipeline::{
    Context, GRADIENT, KERNEL, KERNEL_GRADIENT, LOWERING, PRIMAL, Pass, Promise, Remark, STATES,
};
pub use self::target::{Saving, TapeSettings, Target};

/// What to compile, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parameters to differentiate with respect to; all that hold floats, if `None`.
    pub wrt: Option<Vec<Ident>>,
    /// The gradient's name; `f_grad` for `f`, if `None`.
    pub name: Option<Ident>,
    /// What the type parameters of the function stand for.
    pub types: Vec<(Ident, syn::Type)>,
    /// Where every independent loop was asked to run in parallel.
    pub parallel: Option<Span>,
    /// Whether only the required passes run.
    pub plain: bool,
    /// Whether the gradient of a kernel writes what the kernel writes.
    pub results: bool,
    /// The machine.
    pub target: Target,
    /// Names of passes that do not run.
    pub disabled: BTreeSet<String>,
    /// Whether the validator runs after every pass.
    pub verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wrt: None,
            name: None,
            types: Vec::new(),
            parallel: None,
            plain: false,
            results: true,
            target: Target::default(),
            disabled: BTreeSet::new(),
            verify: cfg!(debug_assertions),
        }
    }
}

/// A function and its gradient, before they are emitted.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The function before them, without its loops under `#[checkpoint]`.
    pub written: Function,
    /// The function after the passes that simplify it.
    pub primal: Function,
    /// Its gradient.
    pub gradient: Gradient,
    /// The gradient with schedules: what is emitted.
    pub lowered: Function,
    /// Its loops under `#[checkpoint]`, inner ones first.
    pub loops: Vec<CompiledLoop>,
    /// Functions that call themselves it needs the halves of.
    pub recursive: BTreeSet<String>,
    /// What the validator found in the gradient that the optional passes made: this is one without the pass at fault, or without any.
    pub fault: Option<String>,
    /// What the passes did.
    pub remarks: Vec<Remark>,
    /// What goes on the tape, and in which pieces.
    pub tape: TapeSettings,
}

impl Compiled {
    /// The lowered gradient, as back ends take it.
    ///
    /// # Errors
    /// Where the validator refuses it; not of what [`compile`] returns.
    pub fn valid(&self) -> std::result::Result<Valid<'_>, Fault> {
        valid::validate(&self.lowered)
    }

    /// What saving costs in it and in its loops.
    fn saving(&self) -> u64 {
        let loops = self.loops.iter().map(|one| one.gradient.saving);
        loops.fold(self.gradient.saving, u64::saturating_add)
    }

    /// What the validator finds.
    fn check(&self) -> Option<String> {
        let loops = self.loops.iter().find_map(|one| one.valid().err());
        self.valid().err().or(loops).map(|fault| fault.to_string())
    }
}

/// A loop under `#[checkpoint]`, and the gradient of its body.
#[derive(Clone, Debug)]
pub struct CompiledLoop {
    /// The loop; those inside it stand before it in the list.
    pub time_loop: TimeLoop,
    /// The gradient of its body.
    pub gradient: Gradient,
    /// That gradient with schedules.
    pub lowered: Function,
    /// The body that is only run, with schedules.
    pub step: Function,
    /// Whether its functions are handed the lanes of the tape: one of the function's loops under `#[checkpoint]` has parts in its body.
    pub on_lanes: bool,
}

impl CompiledLoop {
    fn has_parts(&self) -> bool {
        has_parts(&self.step) || has_parts(&self.lowered)
    }

    /// The step that is only run, and the gradient of the body, as back ends take them.
    ///
    /// # Errors
    /// Where the validator refuses them; not of what [`compile`] returns.
    pub fn valid(&self) -> std::result::Result<(Valid<'_>, Valid<'_>), Fault> {
        Ok((valid::validate_forward(&self.step)?, valid::validate(&self.lowered)?))
    }
}

/// A function that calls itself, as two.
#[derive(Clone, Debug)]
pub struct CompiledHalves {
    /// The function after the passes that simplify it.
    pub primal: Function,
    /// Its loops under `#[checkpoint]`, inner ones first.
    pub loops: Vec<CompiledLoop>,
    /// Functions that call themselves it needs the halves of.
    pub recursive: BTreeSet<String>,
    /// Runs the function, and leaves records on the tape.
    pub forward: Function,
    /// Propagates adjoints, and takes them.
    pub backward: Function,
}

impl CompiledHalves {
    /// Both halves, as back ends take them.
    ///
    /// # Errors
    /// Where the validator refuses them; not of what [`compile_halves`] returns.
    pub fn valid(&self) -> std::result::Result<(Valid<'_>, Valid<'_>), Fault> {
        valid::validate_halves(&self.forward, &self.backward)
    }

    fn check(&self) -> Option<String> {
        let loops = self.loops.iter().find_map(|one| one.valid().err());
        self.valid().err().or(loops).map(|fault| fault.to_string())
    }
}

/// Compiles a function of a module.
///
/// # Errors
/// At the first token outside the language, at a loop that is not what its mark claims, at a parameter that cannot be
/// differentiated with respect to.
pub fn compile(item: &syn::ItemFn, items: &Items, options: &Options) -> Result<Compiled> {
    compile_function(&front::lower(item, items)?, &items.sources, options)
}

/// Compiles a function of the language.
///
/// # Errors
/// As [`compile`], the syntax apart.
pub fn compile_function(
    function: &Function,
    sources: &Sources,
    options: &Options,
) -> Result<Compiled> {
    let compile = |options: &Options| {
        let (compiled, fault) = with_fallback(function, sources, options, |run| {
            let mut compiled = run.gradient(function.clone())?;
            compiled.remarks = std::mem::take(&mut run.cx.remarks);
            let fault = compiled.check();
            Ok((compiled, fault))
        })?;
        Ok::<_, Error>(Compiled { fault, ..compiled })
    };
    let compiled = compile(options)?;
    let exchanges = SWAP_COPIES.name;
    if !compiled.remarks.iter().any(|remark| remark.pass == exchanges && remark.applied) {
        return Ok(compiled);
    }
    // A list that is exchanged is saved use by use where one that is copied to is saved as a whole: what pays is known when both are planned.
    let mut copying = options.clone();
    copying.disabled.insert(exchanges.to_owned());
    let copying = compile(&copying)?;
    // The copies and their adjoints cost something, too.
    let less = copying.saving() < compiled.saving() / 5 * 4;
    Ok(if less { copying } else { compiled })
}

/// Compiles with the optional passes. Where the validator refuses what they made, once more without the pass at fault; if it finds none, without lists that
/// are made again, whose contents it cannot always follow; and in the end without any. Returns what it found first.
fn with_fallback<T>(
    function: &Function,
    sources: &Sources,
    options: &Options,
    mut compile: impl FnMut(&mut Run<'_>) -> Result<(T, Option<String>)>,
) -> Result<(T, Option<String>)> {
    let mut attempt = |options: &Options| {
        let mut run = Run::new(sources, options);
        let (compiled, fault) = compile(&mut run)?;
        Ok::<_, Error>((compiled, run.fault.or(fault), run.culprit))
    };
    let (compiled, fault, mut culprit) = attempt(options)?;
    let Some(first) = fault else { return Ok((compiled, None)) };
    let mut options = options.clone();
    while !options.plain {
        match culprit.take() {
            Some(pass) => {
                options.disabled.insert(pass.to_owned());
            }
            // Looking after every pass tells which it is.
            None if !options.verify => options.verify = true,
            None if options.target.remakes_lists => options.target.remakes_lists = false,
            None => options.plain = true,
        }
        match attempt(&options)? {
            (compiled, None, _) => return Ok((compiled, Some(first))),
            (_, Some(fault), _) if options.plain => return Err(faulty(function, sources, &fault)),
            (.., found) => culprit = found.filter(|pass| !options.disabled.contains(*pass)),
        }
    }
    Err(faulty(function, sources, &first))
}

/// Compiles the two halves of a function that calls itself.
///
/// # Errors
/// As [`compile`].
pub fn compile_halves(
    item: &syn::ItemFn,
    items: &Items,
    options: &Options,
) -> Result<CompiledHalves> {
    let function = front::lower(item, items)?;
    let (halves, _) = with_fallback(&function, &items.sources, options, |run| {
        let halves = run.halves(function.clone())?;
        let fault = halves.check();
        Ok((halves, fault))
    })?;
    Ok(halves)
}

/// A fault of the compiler: better an error than a wrong gradient.
fn faulty(function: &Function, sources: &Sources, fault: &str) -> Error {
    Error::new(
        sources.span(function.span),
        format!(
            "the gradient of this function failed the compiler's own check, please report it: {fault}"
        ),
    )
}

/// A refusal at its token.
fn at(conflict: &Conflict, sources: &Sources) -> Error {
    Error::new(sources.span(conflict.span), &conflict.message)
}

/// A function before the passes that simplify it, after all of them but one.
pub fn simplified_without(written: &Function, pass: &Pass) -> Function {
    let (target, mut function) = (Target::default(), written.clone());
    let mut cx = Context::new(&target);
    for other in PRIMAL.iter().filter(|other| other.name != pass.name) {
        cx.enter(other.name);
        (other.run)(&mut function, &mut cx);
    }
    function
}

/// One way through the passes.
struct Run<'a> {
    sources: &'a Sources,
    options: &'a Options,
    cx: Context<'a>,
    /// The first thing the validator found.
    fault: Option<String>,
    /// The optional pass after which it was found.
    culprit: Option<&'static str>,
}

impl<'a> Run<'a> {
    fn new(sources: &'a Sources, options: &'a Options) -> Self {
        let cx = Context::new(&options.target);
        Self { sources, options, cx, fault: None, culprit: None }
    }

    fn passes(&mut self, function: &mut Function, sequence: &[Pass]) {
        for pass in sequence {
            let off = self.options.disabled.contains(pass.name);
            if off || (self.options.plain && !pass.required) {
                continue;
            }
            self.cx.enter(pass.name);
            (pass.run)(function, &mut self.cx);
            if self.options.verify && self.fault.is_none() {
                let checked = match std::ptr::eq(sequence, PRIMAL) {
                    // What is asked to run in parallel is proved once the program is in its final form.
                    true => valid::validate_asked(function),
                    false => valid::validate_open(function),
                };
                self.fault = checked.err().map(|fault| format!("after `{}`: {fault}", pass.name));
                self.culprit = (self.fault.is_some() && !pass.required).then_some(pass.name);
            }
        }
    }

    /// A function as the front made it, ready to be differentiated.
    fn primal(
        &mut self,
        function: &mut Function,
        everywhere: Option<Span>,
        lanes: bool,
    ) -> Result<(Vec<CompiledLoop>, BTreeSet<String>, Function)> {
        function.plain = self.options.plain;
        function.parallel = everywhere.is_some();
        let mut recursive = BTreeSet::new();
        if !function.checkpoints.is_empty() {
            self.passes(function, STATES);
        }
        let loops = outline(function).map_err(|conflict| at(&conflict, self.sources))?;
        let lanes =
            lanes && !divides_calls(function, everywhere) && !divide_calls(&loops, everywhere);
        let mut loops = self.loops(loops, (lanes, everywhere), &mut recursive)?;
        let on_lanes = loops.iter().any(CompiledLoop::has_parts);
        loops.iter_mut().for_each(|one| one.on_lanes = on_lanes);
        let written = function.clone();
        self.passes(function, PRIMAL);
        let marked = |one: &CompiledLoop| analysis::has_parallel(&one.time_loop.body);
        self.mark_parallel(function, everywhere.map(|span| (span, !loops.iter().any(marked))))?;
        recursive.extend(function.recursive.iter().cloned());
        Ok((loops, recursive, written))
    }

    /// Proves what loops are marked as; in a plain function they run as any loop.
    fn mark_parallel(
        &self,
        function: &mut Function,
        everywhere: Option<(Span, bool)>,
    ) -> Result<()> {
        if self.options.plain {
            analysis::unmark_parallel(function);
            return Ok(());
        }
        let everywhere = everywhere.map(|(span, must)| (self.sources.id(span), must));
        let target = &self.options.target;
        let grain = (target.part_operations, target.assumed_iterations);
        analysis::mark_parallel(function, everywhere, grain)
            .map_err(|conflict| at(&conflict, self.sources))
    }

    fn gradient(&mut self, mut function: Function) -> Result<Compiled> {
        let (loops, recursive, written) =
            self.primal(&mut function, self.options.parallel, true)?;
        let options = self.options;
        if let Some(wrt) = &options.wrt {
            check_wrt(wrt, &function)?;
        }
        let wanted = ad::Options {
            wrt: options.wrt.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
            name: options.name.as_ref().map(ToString::to_string),
        };
        if options.wrt.is_none() && ad::inputs(&function, &wanted).is_empty() {
            return Err(Error::new(
                self.sources.span(function.span),
                "there is nothing to differentiate with respect to: no parameter is or holds a float",
            ));
        }
        let gradient = self.differentiate(&function, &wanted)?;
        let lowered = self.lower(&gradient.function, true);
        let (fault, remarks) = (None, Vec::new());
        let tape = self.options.target.tape;
        Ok(Compiled {
            written,
            primal: function,
            gradient,
            lowered,
            loops,
            recursive,
            fault,
            remarks,
            tape,
        })
    }

    fn differentiate(&mut self, function: &Function, wanted: &ad::Options) -> Result<Gradient> {
        let taped = |error| Error::new(self.sources.span(function.span), error);
        let mut gradient =
            ad::differentiate(function, wanted, &self.options.target).map_err(taped)?;
        self.passes(&mut gradient.function, GRADIENT);
        gradient.settle(function.results.len());
        Ok(gradient)
    }

    /// A function with schedules; with parts, if there are lanes to run them on.
    fn lower(&mut self, function: &Function, lanes: bool) -> Function {
        let mut lowered = function.clone();
        self.cx.lanes = lanes;
        self.passes(&mut lowered, LOWERING);
        lowered
    }

    fn halves(&mut self, mut function: Function) -> Result<CompiledHalves> {
        let (loops, recursive, _) = self.primal(&mut function, None, false)?;
        let taped = |error| Error::new(self.sources.span(function.span), error);
        let (mut forward, mut backward) =
            ad::split(&function, &self.options.target).map_err(taped)?;
        self.passes(&mut forward, GRADIENT);
        self.passes(&mut backward, GRADIENT);
        // What was pushed side by side is popped side by side.
        self.cx.regions = Some(regions(&[&forward, &backward], self.cx.target));
        let (forward, backward) = (self.lower(&forward, false), self.lower(&backward, false));
        self.cx.regions = None;
        Ok(CompiledHalves { primal: function, loops, recursive, forward, backward })
    }

    /// Loops that are reversed from snapshots, and the gradients of their bodies; with parts, if there are lanes to run them on.
    fn loops(
        &mut self,
        loops: Vec<TimeLoop>,
        (lanes, everywhere): (bool, Option<Span>),
        recursive: &mut BTreeSet<String>,
    ) -> Result<Vec<CompiledLoop>> {
        let mut compiled = Vec::new();
        for mut time_loop in loops {
            let inner = std::mem::take(&mut time_loop.inner);
            compiled.extend(self.loops(inner, (lanes, everywhere), recursive)?);
            for function in [&mut time_loop.plain, &mut time_loop.body] {
                self.passes(function, PRIMAL);
                let asked = everywhere.filter(|_| lanes).map(|span| (span, false));
                self.mark_parallel(function, asked)?;
            }
            recursive.extend(time_loop.body.recursive.iter().cloned());
            let gradient = self.differentiate(&time_loop.body, &ad::Options::default())?;
            let lowered = self.lower(&gradient.function, lanes);
            let step = self.lower(&time_loop.plain, lanes);
            compiled.push(CompiledLoop { time_loop, gradient, lowered, step, on_lanes: false });
        }
        Ok(compiled)
    }
}

/// Whether loops of a function run in parts.
fn has_parts(function: &Function) -> bool {
    let mut found = false;
    walk(&function.body, &mut |node| {
        found |= matches!(node, Stmt::Loop(node) if node.schedule.as_ref().is_some_and(|known| known.parts.is_some()));
    });
    found
}

/// As [`divides_calls`], of the bodies of loops and of those inside them.
fn divide_calls(loops: &[TimeLoop], everywhere: Option<Span>) -> bool {
    let divides = |one: &TimeLoop| {
        divides_calls(&one.body, everywhere) || divide_calls(&one.inner, everywhere)
    };
    loops.iter().any(divides)
}

/// Whether a loop that is asked to run in parallel has others under `#[checkpoint]` inside: these have no lanes left.
fn divides_calls(function: &Function, everywhere: Option<Span>) -> bool {
    let mut found = false;
    walk(&function.body, &mut |node| {
        if let Stmt::Loop(node) = node
            && (node.parallel.is_some() || everywhere.is_some())
        {
            walk(&node.body, &mut |inner| {
                found |= matches!(inner, Stmt::Call(call) if call.recursion.is_some());
            });
        }
    });
    found
}

fn check_wrt(wrt: &[Ident], function: &Function) -> Result<()> {
    for (position, name) in wrt.iter().enumerate() {
        if wrt[..position].contains(name) {
            return Err(Error::new(name.span(), format!("`{name}` is named twice")));
        }
        let known = function.params.iter().any(|param| match param {
            Param::Value(value) => {
                function.values[value.index()].name.as_ref().is_some_and(|known| name == known)
            }
            Param::Object(object) => name == &function.objects[object.index()].name,
        });
        if !known {
            return Err(Error::new(name.span(), format!("there is no parameter `{name}`")));
        }
        let options = ad::Options { wrt: Some(vec![name.to_string()]), name: None };
        if ad::inputs(function, &options).is_empty() {
            return Err(Error::new(
                name.span(),
                format!("`{name}` holds no float: there is no derivative with respect to it"),
            ));
        }
    }
    Ok(())
}
