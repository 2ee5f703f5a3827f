//! Kernels: from a function that many threads run to what a device compiles, and to its gradient.
//!
//! ```text
//! syntax ─ front ─▶ kernel ─ KERNEL ─▶ kernel ─ ad ─▶ gradient ─ KERNEL_GRADIENT ─▶ gradient
//! ```
//! A thread is differentiated as any function is; what threads do together is mirrored (barriers, exchanges) or made atomic (additions to adjoints that several of
//! them may reach). The adjoint of a number that all threads are given is summed up in an element of memory.

use std::collections::HashSet;

use syn::{Error, Result};

use super::by_value::{self, ByValue};
use super::extremes::{self, Election};
use super::pipeline::{KERNEL, KERNEL_GRADIENT};
use super::{Options, Remark, Run, check_wrt};
use crate::ad::{self, Choice, Output};
use crate::front::{self, Items};
use crate::source::Sources;
use stratape_ir::analysis::Uniform;
use stratape_ir::valid::{self, Fault, Valid};
use stratape_ir::{
    Atomic, AtomicOp, Block, Float, Function, Init, Int, Object, ObjectId, Op, Origin, Param,
    Place, Scalar, SourceId, Step, Stmt, Type, used, walk,
};

/// A kernel, and its gradient if that was asked for.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// The kernel after the passes that simplify it.
    pub primal: Function,
    /// Its gradient.
    pub gradient: Option<KernelGradient>,
    /// The parameters that are several numbers.
    pub by_value: Vec<ByValue>,
    /// What the passes did.
    pub remarks: Vec<Remark>,
}

/// The gradient of a kernel.
#[derive(Clone, Debug)]
pub struct KernelGradient {
    /// The kernel that propagates adjoints.
    pub function: Function,
    /// What was decided for the values that its backward half needs.
    pub choices: Vec<Choice>,
    /// What runs before it, if threads find extremes together.
    pub election: Option<Election>,
}

impl CompiledKernel {
    /// The kernel and its gradient, as back ends take them.
    ///
    /// # Errors
    /// Where the validator refuses them; not of what [`compile_kernel`] returns.
    pub fn valid(&self) -> std::result::Result<(Valid<'_>, Option<Valid<'_>>), Fault> {
        let gradient = self.gradient.as_ref().map(|one| valid::validate(&one.function));
        Ok((valid::validate(&self.primal)?, gradient.transpose()?))
    }
}

/// Compiles a kernel, and its gradient where `options` are given for one.
///
/// # Errors
/// At the first token that a kernel cannot hold, at a parameter that cannot be differentiated with respect to.
pub fn compile_kernel(
    item: &syn::ItemFn,
    items: &Items,
    gradient: Option<&Options>,
) -> Result<CompiledKernel> {
    let in_kernels = |error: Error| {
        let words = |error: Error| {
            let (text, _) = front::message_of(&error);
            let text = text.replace("`#[gradient]` does not", "a kernel does not");
            Error::new(error.span(), text.replace("stratape::differentiable", "stratape::device"))
        };
        error.into_iter().map(words).reduce(|mut all, one| {
            all.combine(one);
            all
        })
    };
    let lowered = front::lower_kernel(item, items);
    let function = match lowered {
        Ok(function) => function,
        Err(error) => return Err(in_kernels(error.clone()).unwrap_or(error)),
    };
    compile_kernel_function(&function, &items.sources, gradient)
}

/// Compiles a kernel of the language.
///
/// # Errors
/// As [`compile_kernel`], the syntax apart.
pub fn compile_kernel_function(
    function: &Function,
    sources: &Sources,
    gradient: Option<&Options>,
) -> Result<CompiledKernel> {
    let mut function = function.clone();
    let by_value = by_value::take_apart(&mut function);
    let function = &function;
    check(function, sources)?;
    let fault = |fault: Fault| {
        let message =
            format!("this kernel failed the compiler's own check, please report it: {fault}");
        Error::new(sources.span(function.span), message)
    };
    // Once more with the required passes alone, where the validator refuses what the others made.
    let options = gradient.cloned().unwrap_or_default();
    let attempt = |plain: bool| {
        let options = Options { plain, ..options.clone() };
        attempt(function, &by_value, sources, (&options, gradient.is_some()), &fault)
    };
    match attempt(false)? {
        (compiled, None) => Ok(compiled),
        (_, Some(_)) => match attempt(true)? {
            (compiled, None) => Ok(compiled),
            (_, Some(found)) => Err(fault(found)),
        },
    }
}

/// One way through the passes, and what the validator says of the gradient.
fn attempt(
    function: &Function,
    by_value: &[ByValue],
    sources: &Sources,
    (options, gradient): (&Options, bool),
    fault: &dyn Fn(Fault) -> Error,
) -> Result<(CompiledKernel, Option<Fault>)> {
    let mut run = Run::new(sources, options);
    let mut function = function.clone();
    function.plain = options.plain;
    run.passes(&mut function, KERNEL);
    forget_unused(&mut function);
    together(&function, &Uniform::new(&function), &function.body, true, sources)?;
    // What is behind `&` and written rustc reports, and better.
    let written = |found: &Fault| found.rule == "memory";
    valid::validate(&function).map_err(|found| match written(&found) {
        true => Error::new(sources.span(function.span), "a slice that the kernel writes is `&mut`"),
        false => fault(found),
    })?;
    let gradient =
        gradient.then(|| run.kernel_gradient(&function, by_value, options)).transpose()?;
    let found = gradient.as_ref().and_then(|one| {
        let election = one.election.as_ref().map(|election| &election.function);
        [Some(&one.function), election]
            .into_iter()
            .flatten()
            .find_map(|function| valid::validate(function).err())
    });
    let (by_value, remarks) = (by_value.to_vec(), run.cx.remarks);
    Ok((CompiledKernel { primal: function, gradient, by_value, remarks }, found))
}

impl Run<'_> {
    fn kernel_gradient(
        &mut self,
        function: &Function,
        by_value: &[ByValue],
        options: &Options,
    ) -> Result<KernelGradient> {
        if let Some(wrt) = &options.wrt {
            check_wrt(wrt, function)?;
        }
        let wanted = ad::Options {
            wrt: options.wrt.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
            name: options.name.as_ref().map(ToString::to_string),
        };
        let inputs = ad::inputs(function, &wanted);
        if inputs.is_empty() {
            return Err(Error::new(
                self.sources.span(function.span),
                "there is nothing to differentiate with respect to: no parameter is or holds a float",
            ));
        }
        let activity = ad::Activity::new(function, &inputs);
        check_active(function, &activity, &inputs, self.sources)?;
        let taped = |error| Error::new(self.sources.span(function.span), error);
        let elected = extremes::elected(function, &activity, self.sources)?;
        let (held, election) = elected.map_or((None, None), |(a, b)| (Some(a), Some(b)));
        let function = held.as_ref().unwrap_or(function);
        let gradient =
            ad::differentiate(function, &wanted, &options.target.of_kernels()).map_err(taped)?;
        let mut made = gradient.function;
        if !options.results {
            drop_results(&mut made);
        }
        hand_out(&mut made, function, by_value, &gradient.inputs, &gradient.outputs);
        made.complete_barriers();
        self.passes(&mut made, KERNEL_GRADIENT);
        Ok(KernelGradient { function: made, choices: gradient.choices, election })
    }
}

/// Turns the adjoints of numbers, which a function returns, into sums in memory: behind each parameter by value a list of as many elements as it has floats.
fn hand_out(
    gradient: &mut Function,
    primal: &Function,
    by_value: &[ByValue],
    inputs: &HashSet<Param>,
    outputs: &[Output],
) {
    let mut outputs = outputs.iter();
    let (mut params, mut adjoints) = (Vec::new(), Vec::new());
    for param in std::mem::take(&mut gradient.params) {
        params.push(param);
        let Param::Value(value) = param else { continue };
        if inputs.contains(&param)
            && let Some(Output::Value(adjoint)) = outputs.next()
        {
            adjoints.push(*adjoint);
        }
        let whole = by_value.iter().find(|one| one.values.contains(&value));
        let is_last = whole.is_none_or(|whole| whole.values.last() == Some(&value));
        if !is_last || adjoints.is_empty() {
            continue;
        }
        let is_wide = adjoints.iter().any(|one| gradient.ty(*one) == Scalar::Float(Float::F64));
        let ty = if is_wide { Scalar::Float(Float::F64) } else { gradient.ty(adjoints[0]) };
        let name = primal.values[value.index()].name.clone().unwrap_or_default();
        let object = gradient.new_object(Object {
            ty: Type::Slice(Box::new(Type::Scalar(ty))),
            origin: Origin::RefMut,
            name: format!("d{}", name.trim_start_matches("r#")),
            shadow_of: None,
            span: primal.values[value.index()].span,
        });
        gradient.sums.insert(object);
        params.push(Param::Object(object));
        for (at, adjoint) in adjoints.drain(..).enumerate() {
            let index = gradient.new_value(Scalar::USIZE, SourceId::NONE);
            gradient.body.push(Stmt::Let { value: index, op: Op::Int(at as i128) });
            let place = Place::whole(object).with(Step::Index(index));
            let value = match gradient.ty(adjoint) == ty {
                true => adjoint,
                false => {
                    let value = gradient.new_value(ty, SourceId::NONE);
                    gradient.body.push(Stmt::Let { value, op: Op::Cast(adjoint, ty) });
                    value
                }
            };
            let op = AtomicOp::Add;
            let atomic = Atomic { op, place, value, old: None, block: true, warp: false };
            gradient.body.push(Stmt::Atomic(Box::new(atomic)));
        }
    }
    gradient.params = params;
    gradient.results.clear();
}

/// Leaves out what the kernel itself writes to global memory and nobody reads in the gradient.
fn drop_results(gradient: &mut Function) {
    let mut read = HashSet::new();
    walk(&gradient.body, &mut |node| {
        if !matches!(node, Stmt::Barrier(_) | Stmt::Atomic(_)) {
            read.extend(node.read().iter().map(|place| place.object));
        }
        if let Stmt::New { init, .. } = node {
            read.extend(init.copied().iter().map(|place| place.object));
        }
    });
    let results: HashSet<ObjectId> = gradient
        .shared_params()
        .filter(|object| !gradient.holds_adjoints(*object) && !read.contains(object))
        .collect();
    fn drop_in(block: &mut Block, results: &HashSet<ObjectId>) {
        block.retain(|node| match node {
            Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
                !results.contains(&place.object)
            }
            Stmt::Atomic(atomic) => atomic.old.is_some() || !results.contains(&atomic.place.object),
            _ => true,
        });
        for node in block {
            node.blocks_mut().into_iter().for_each(|inner| drop_in(inner, results));
        }
    }
    drop_in(&mut gradient.body, &results);
}

/// What nobody asks of an atomic operation it does not tell.
fn forget_unused(function: &mut Function) {
    let used = used(&function.body);
    fn forget(block: &mut Block, used: &HashSet<stratape_ir::ValueId>) {
        for node in block {
            if let Stmt::Atomic(atomic) = node {
                atomic.old = atomic.old.filter(|old| used.contains(old));
            }
            node.blocks_mut().into_iter().for_each(|inner| forget(inner, used));
        }
    }
    forget(&mut function.body, &used);
}

pub(super) fn refuse<T>(sources: &Sources, at: SourceId, message: &str) -> Result<T> {
    Err(Error::new(sources.span(at), message))
}

/// Whether a kernel takes and makes only what a device can hold.
fn check(function: &Function, sources: &Sources) -> Result<()> {
    if !function.results.is_empty() {
        return refuse(
            sources,
            function.span,
            "a kernel returns nothing: write results to a `&mut` slice",
        );
    }
    for param in &function.params {
        let Param::Object(object) = param else { continue };
        let known = &function.objects[object.index()];
        let element = match (&known.ty, known.origin) {
            (Type::Slice(item), Origin::Ref | Origin::RefMut) => Some(&**item),
            _ => None,
        };
        if by_value::is_too_large(function, *object) {
            let message =
                "a kernel takes at most 256 numbers in one parameter by value: pass a slice";
            return refuse(sources, known.span, message);
        }
        if !element.is_some_and(is_numbers) {
            return refuse(
                sources,
                known.span,
                "a kernel takes slices of numbers or of arrays of numbers, and by value numbers and structs, tuples and arrays of them",
            );
        }
    }
    for param in &function.params {
        let (ty, at) = match param {
            Param::Value(value) => (function.ty(*value), function.values[value.index()].span),
            Param::Object(object) => {
                let known = &function.objects[object.index()];
                (numbers(&known.ty), known.span)
            }
        };
        if matches!(ty, Scalar::Int(Int::I128 | Int::U128)) {
            return refuse(sources, at, "a kernel takes integers of at most 64 bits");
        }
    }
    let mut outcome = Ok(());
    walk(&function.body, &mut |node| {
        if outcome.is_err() {
            return;
        }
        if let Stmt::Atomic(atomic) = node {
            let ty = function.ty(atomic.value);
            let small = matches!(ty, Scalar::Int(int) if int.bits() < 32);
            if small || ty == Scalar::Bool {
                let at = function.values[atomic.value.index()].span;
                outcome = refuse(
                    sources,
                    at,
                    "atomic operations are on floats and on integers of 32 and 64 bits",
                );
            }
        }
        let made = match node {
            Stmt::New { object, .. } => Some(*object),
            Stmt::Swap { a, .. } => Some(a.object),
            _ => None,
        };
        if let Some(object) = made
            && !function.shared.contains(&object)
            && !function.objects[object.index()].ty.is_fixed()
        {
            outcome = refuse(
                sources,
                function.objects[object.index()].span,
                "a kernel has no lists of its own: use an array of fixed length, or `dynamic_shared::<f64>(n)`",
            );
        }
        if let Stmt::Call(call) = node {
            outcome = refuse(
                sources,
                function.span,
                &format!(
                    "a kernel cannot call `{}`, which calls itself or has a derivative by hand: write it as a loop",
                    call.function
                ),
            );
        }
    });
    outcome
}

/// The numbers that memory of a parameter holds.
fn numbers(ty: &Type) -> Scalar {
    match ty.element() {
        Some(item) => numbers(item),
        None => ty.scalar().unwrap_or(Scalar::Bool),
    }
}

/// Whether a type is a number, or an array of such of fixed length.
fn is_numbers(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(item, _) => is_numbers(item),
        _ => false,
    }
}

/// Whether derivatives pass only through what can be differentiated.
fn check_active(
    function: &Function,
    activity: &ad::Activity,
    inputs: &HashSet<Param>,
    sources: &Sources,
) -> Result<()> {
    for param in &function.params {
        if let Param::Object(object) = param
            && activity.object(*object)
            && !inputs.contains(param)
        {
            let known = &function.objects[object.index()];
            let message = format!(
                "derivatives pass through `{}`, which needs a shadow on the device: name it in `wrt(…)`, too",
                known.name
            );
            return refuse(sources, known.span, &message);
        }
    }
    let written = |param: &Param| match param {
        Param::Object(object) => {
            let mut found = false;
            walk(&function.body, &mut |node| {
                let places = node.written();
                found |= !matches!(node, Stmt::Barrier(_))
                    && places.iter().any(|place| place.object == *object);
            });
            found && activity.object(*object)
        }
        Param::Value(_) => false,
    };
    if !inputs.iter().any(written) {
        return refuse(
            sources,
            function.span,
            "no derivative would come out: name what the kernel writes in `wrt(…)`, too, with what it is computed from",
        );
    }
    let uniform = Uniform::new(function);
    let mut outcome = Ok(());
    walk(&function.body, &mut |node| {
        if let Stmt::Shuffle(shuffle) = node
            && activity.value(shuffle.operand)
            && !uniform.value(shuffle.by)
            && outcome.is_ok()
        {
            outcome = refuse(
                sources,
                function.values[shuffle.value.index()].span,
                "an exchange over a distance on which threads differ has no derivative: several lanes may read one. Use the same distance for all, or shared memory",
            );
        }
        let Stmt::Atomic(atomic) = node else { return };
        let object: ObjectId = atomic.place.object;
        if outcome.is_err() || !activity.object(object) {
            return;
        }
        let at = function.values[atomic.value.index()].span;
        if atomic.old.is_some() {
            outcome = refuse(
                sources,
                at,
                "what an atomic operation returns has no derivative: which thread comes first is not determined",
            );
        }
    });
    outcome
}

/// Whether a place is the same for all threads of a block.
fn is_one_place(uniform: &Uniform, place: &Place) -> bool {
    let mut same = true;
    place.for_each_operand(&mut |index| same &= uniform.value(index));
    same
}

/// Whether all threads of a block come to every barrier.
fn together(
    function: &Function,
    uniform: &Uniform,
    block: &Block,
    all: bool,
    sources: &Sources,
) -> Result<()> {
    for node in block {
        match node {
            Stmt::Barrier(barrier) if !all => {
                return refuse(
                    sources,
                    barrier.span,
                    "not all threads of a block come to this `sync_threads()`: it stands under a condition, in a loop or after a `return` on which threads \
                     differ. Put the condition around what is read and written, not around the barrier",
                );
            }
            Stmt::Atomic(atomic) if atomic.block && !all => {
                return refuse(
                    sources,
                    function.values[atomic.value.index()].span,
                    "not all threads of a block come to this `block_add`: give it 0.0 where a thread has nothing to add",
                );
            }
            Stmt::Atomic(atomic) if atomic.block && !is_one_place(uniform, &atomic.place) => {
                return refuse(
                    sources,
                    function.values[atomic.value.index()].span,
                    "threads of a block differ on where this `block_add` adds: use `atomic_add`",
                );
            }
            Stmt::New { object, init: Init::Repeat(_, len) } if !uniform.value(*len) => {
                return refuse(
                    sources,
                    function.objects[object.index()].span,
                    "threads of a block differ on the length of this shared memory",
                );
            }
            Stmt::If(branch) => {
                let all = all && uniform.value(branch.condition);
                together(function, uniform, &branch.then, all, sources)?;
                together(function, uniform, &branch.other, all, sources)?;
            }
            Stmt::Loop(repeat) => {
                let all = all && uniform.loops(repeat);
                together(function, uniform, &repeat.body, all, sources)?;
            }
            _ => {}
        }
    }
    Ok(())
}
