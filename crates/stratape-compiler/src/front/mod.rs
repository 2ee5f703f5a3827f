//! From Rust syntax to the intermediate language.
//!
//! In: a function as `syn` parsed it, and what can be seen of its module. Out: an [`ir::Function`](Function)
//! with the same meaning, or an error at the token that is not in the language, saying what to
//! write instead.
//!
//! The lowerer walks the syntax once and executes it symbolically: an expression yields a `Val`,
//! in which tuples, structs, references, closures and iterators are compile-time things made of
//! scalars and places. Calls, closures and iterator adapters are expanded where they are used. Scalar
//! variables are renamed to values as they are assigned; `control` makes merges and carried values.

mod adapters;
mod aggregate;
mod apply;
mod block;
mod build;
mod call;
mod certain;
mod chain;
mod checkpoint;
mod choice;
mod comparison;
mod consume;
mod control;
mod edits;
mod either;
mod equality;
mod exchange;
mod exits;
mod expr;
mod failures;
mod filled;
mod fits;
mod generic;
mod growth;
mod hoist;
mod host;
mod impls;
mod imports;
mod index;
mod infer;
mod integers;
mod items;
mod iter;
mod join;
mod kernel;
mod later;
mod loops;
mod macros;
mod marks;
mod matching;
mod mention;
mod method;
mod moves;
mod naming;
mod nested;
mod opaque;
mod operator;
mod option;
mod ordering;
mod pattern;
mod pieces;
mod place;
mod plain;
mod receiver;
mod references;
mod search;
mod signature;
mod slices;
mod sorting;
mod traits;
mod tries;
mod twins;
mod unnamed;
mod val;
mod wanted;
mod written;

use std::collections::{HashMap, HashSet};

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Result};

pub(crate) use self::certain::MACROS;
use self::control::Frame;
pub(crate) use self::failures::fallible;
use self::generic::Visible;
pub(crate) use self::host::GPU;
pub(crate) use self::impls::defaults;
use self::infer::{Class, Infer};
pub use self::items::Items;
pub(crate) use self::items::{as_constant, pullback_of};
pub(crate) use self::kernel::{is_of_kernels, with_paths};
use self::later::Shape;
pub(crate) use self::macros::spell_assertions;
pub(crate) use self::marks::{is_marked, strip_marks};
pub(crate) use self::mention::words_of;
use self::moves::Moves;
pub(crate) use self::naming::replace_type;
pub(crate) use self::opaque::{Elsewhere, How, half_name};
pub(crate) use self::plain::{in_plain_terms, is_plain};
use self::val::{Binding, Kind, LValue, Memory, Names, Val, VarId};
use crate::library;
use stratape_ir::{Function, Object, ObjectId, Op, Origin, Param, Scalar, Type, ValueId};

/// Lowers a function of a module.
///
/// # Errors
/// At the first token outside the language.
pub fn lower(item: &syn::ItemFn, items: &Items) -> Result<Function> {
    lower_as(item, items, false)
}

/// Lowers a kernel: a function that many threads run.
///
/// # Errors
/// As [`lower`].
pub fn lower_kernel(item: &syn::ItemFn, items: &Items) -> Result<Function> {
    let mut function = lower_as(item, items, true)?;
    function.complete_barriers();
    Ok(function)
}

fn lower_as(item: &syn::ItemFn, items: &Items, kernel: bool) -> Result<Function> {
    let mut unfailing = item.clone();
    failures::without_errors(&mut unfailing)?;
    let item = &unfailing;
    signature::check(&item.sig)?;
    signature::check_params(&item.sig)?;
    if let Some(fault) = &items.fault {
        return Err(fault.clone());
    }
    let mut lowerer = lower_until_known(item, items, kernel)?;
    lowerer.settle_empty_lists();
    let Lowerer { b, mut infer, constants, .. } = lowerer;
    let mut function = b.finish();
    function.span = items.sources.id(item.sig.ident.span());
    for constant in constants {
        infer.assume_usize(function.ty(constant));
    }
    infer.finish(&mut function);
    unnamed::as_tuples(&mut function, items);
    stratape_ir::valid::validate_scope(&function).map_err(|fault| {
        Error::new(
            item.sig.ident.span(),
            format!("`#[gradient]` cannot follow where a value is made in this function ({fault})"),
        )
    })?;
    Ok(function)
}

/// Lowers a function as often as shapes of variables are found that were not known before.
fn lower_until_known<'m>(
    item: &syn::ItemFn,
    items: &'m Items,
    kernel: bool,
) -> Result<Lowerer<'m>> {
    let mut shapes: HashMap<u32, Shape> = HashMap::new();
    for _ in 0..later::PASSES {
        let mut lowerer = Lowerer::new(items, &item.sig.ident.to_string());
        lowerer.b.function.kernel = kernel;
        lowerer.shapes.clone_from(&shapes);
        lowerer.names_stack.push(item.sig.ident.to_string());
        match (lowerer.function(item), lowerer.found.take()) {
            (_, Some((number, shape))) => {
                if shape.is_open() {
                    // Its own parts take the numbers after it.
                    shapes.retain(|known, _| *known < number);
                }
                shapes.insert(number, shape);
            }
            (Ok(()), None) => match lowerer.unknown_written {
                None => return Ok(lowerer),
                // What is written is made of what was there before, and nothing says what that is.
                Some(span) => {
                    return Err(unsupported(
                        span,
                        "a variable whose type shows only in what is made of itself",
                        "write its type, as in `let mut best: Option<Vec<f64>> = None`",
                    ));
                }
            },
            (Err(error), None) => return Err(error),
        }
    }
    Err(unsupported(
        item.sig.ident.span(),
        "so many variables without a type",
        "write their types, as in `let best: Option<f64> = None`",
    ))
}

/// The error of `#[gradient]` on a method.
pub(crate) fn methods_alone(span: Span) -> Error {
    unsupported(
        span,
        "methods by themselves",
        "put the struct and its `impl` into a `#[stratape::differentiable] mod`",
    )
}

/// What marks an error that rustc will report in words of its own.
const LEFT_TO_RUSTC: char = '\u{2063}';

/// An error in the program itself, which rustc reports as well, and better: a name that does not exist, a type that is another.
fn left_to_rustc(span: Span, message: impl std::fmt::Display) -> Error {
    Error::new(span, format!("{LEFT_TO_RUSTC}{message}"))
}

/// The text of an error, and whether rustc reports it as well.
pub(crate) fn message_of(error: &Error) -> (String, bool) {
    let text = error.to_string();
    match text.strip_prefix(LEFT_TO_RUSTC) {
        Some(text) => (text.to_owned(), true),
        None => (text, false),
    }
}

/// An error that names a construct and what to write instead.
fn unsupported(span: Span, what: &str, instead: &str) -> Error {
    Error::new(span, format!("`#[gradient]` does not support {what}: {instead}"))
}

/// The error of a chain of rayon's.
fn threads_elsewhere(span: Span, name: &str) -> Error {
    unsupported(
        span,
        &format!("rayon's `{name}`"),
        "write a `for` loop, or a chain without it, and put `#[parallel]` on the loop or `#[gradient(parallel)]` on the function: the gradient then runs \
         its iterations on rayon",
    )
}

/// The name of the type of texts, which are numbers of those in the function.
const TEXT: &str = "str";

/// The name of the type of texts that `format!` makes, of which nothing is known.
const FORMATTED: &str = "String";

/// The state of lowering.
struct Lowerer<'m> {
    module: Visible<'m>,
    b: build::Builder<'m>,
    infer: Infer,
    /// The current value of each variable.
    vars: Vec<ValueId>,
    /// What each variable is called.
    var_names: Vec<Option<String>>,
    /// Variables in scope, innermost last.
    live: Vec<VarId>,
    scopes: Vec<Names>,
    frames: Vec<Frame>,
    /// Functions that are being expanded, to find recursion.
    names_stack: Vec<String>,
    /// The enum that a value is a discriminant of.
    enums: HashMap<ValueId, String>,
    /// Where the next loop was asked to be parallel.
    parallel: Option<Span>,
    /// What was imported whole inside the function.
    globs: Vec<proc_macro2::TokenStream>,
    /// Constants the compiler does not look into, whose type it has to find.
    constants: Vec<ValueId>,
    /// What the bodies that are being lowered do with lists, innermost last.
    moves: Vec<Moves>,
    /// Lists that are assigned or exchanged as wholes: moved from, they leave an empty one behind.
    reassigned: HashSet<ObjectId>,
    /// Arrays that are written as `vec![…]`.
    written_as_vec: HashSet<ObjectId>,
    /// Lists of variables that may be assigned while what they held is in use: they are copied when they leave.
    copied_out: HashSet<ObjectId>,
    /// Whether patterns are bound for a guard, which moves nothing.
    looking: bool,
    /// Lists that have room for what is pushed.
    reserved: HashSet<ObjectId>,
    /// The elements of lists that were made empty, before their type was known.
    untyped: Vec<(ValueId, Scalar)>,
    /// How many variables of unknown shape were made.
    laters: u32,
    /// The shapes of those, found in earlier passes.
    shapes: HashMap<u32, Shape>,
    /// The shape that this pass has found.
    found: Option<(u32, Shape)>,
    /// The texts in the function that are values.
    texts: Vec<String>,
    /// How many parts of expressions became statements.
    lifted: usize,
    /// Whether one was read whose shape is not known.
    read_unknown: bool,
    /// Where something was written that depends on one.
    unknown_written: Option<Span>,
    /// Objects made for variables of once unknown shape.
    made_later: Vec<ObjectId>,
    /// Whether the pattern that is being bound fits whatever comes.
    certainly_fits: bool,
    /// What stands for the memory of all devices.
    world: Option<Memory>,
    /// Parameters that are buffers, before and after they were seen to.
    passed: Vec<host::Passed>,
    kept: Vec<host::Passed>,
}

impl<'m> Lowerer<'m> {
    fn new(module: &'m Items, name: &str) -> Self {
        Self {
            module: Visible::new(module),
            b: build::Builder::new(name, &module.sources),
            infer: Infer::default(),
            vars: Vec::new(),
            var_names: Vec::new(),
            live: Vec::new(),
            scopes: vec![HashMap::new()],
            frames: vec![Frame::default()],
            names_stack: Vec::new(),
            enums: HashMap::new(),
            parallel: None,
            globs: Vec::new(),
            constants: Vec::new(),
            moves: Vec::new(),
            reassigned: HashSet::new(),
            written_as_vec: HashSet::new(),
            copied_out: HashSet::new(),
            looking: false,
            reserved: HashSet::new(),
            untyped: Vec::new(),
            laters: 0,
            shapes: HashMap::new(),
            found: None,
            texts: Vec::new(),
            lifted: 0,
            read_unknown: false,
            unknown_written: None,
            made_later: Vec::new(),
            certainly_fits: false,
            world: None,
            passed: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn function(&mut self, item: &syn::ItemFn) -> Result<()> {
        self.moves.push(Moves::of_block(&item.block));
        self.make_world(item)?;
        for (at, input) in item.sig.inputs.iter().enumerate() {
            let syn::FnArg::Typed(input) = input else {
                return Err(methods_alone(input.span()));
            };
            let (name, mutable) = signature::param_name(input, at);
            let written = self.module.read_type(&input.ty)?;
            let deque = |(word, _): &(String, Span)| word == "VecDeque" || word == "Box";
            if self.module.is_local_only(&written.ty)
                || words_of(input.ty.to_token_stream()).iter().any(deque)
            {
                return Err(unsupported(
                    input.ty.span(),
                    "a parameter that holds references, functions, a `Box` or a `VecDeque`",
                    "take slices and numbers as parameters, and build the rest in the function",
                ));
            }
            let span = name.span();
            if choice::has_choice(&written.ty) {
                return Err(choice::choice_in_memory(input.ty.span()));
            }
            let whole = written.reference.is_none() && library::dynamic(&written.ty).is_some();
            if whole || library::holds_dynamic(&written.ty) {
                return Err(unsupported(
                    input.ty.span(),
                    "a parameter that is or holds a vector or array of another crate whose size is not in its type",
                    "take a reference to it, or a view, as a parameter of its own",
                ));
            }
            let origin = match written.reference {
                None => Origin::Owned,
                Some(false) => Origin::Ref,
                Some(true) => Origin::RefMut,
            };
            let val = match (&written.ty, origin) {
                (Type::Struct(def), _) if let Some(kind) = library::on_device(&def.name) => {
                    self.device_param(kind, def, (&name.to_string(), span), origin)?
                }
                (Type::Scalar(_) | Type::Enum(_), Origin::Owned) => {
                    let ty = written.ty.scalar().unwrap_or(Scalar::USIZE);
                    let value = self.b.new_value(ty, span);
                    self.b.function.values[value.index()].name = Some(name.to_string());
                    self.b.function.params.push(Param::Value(value));
                    Val::Scalar(match &written.ty {
                        Type::Enum(name) => {
                            let value = self.b.emit(Op::Cast(value, ty), ty, span);
                            self.enums.insert(value, name.clone());
                            value
                        }
                        _ => value,
                    })
                }
                _ => {
                    let object = self.b.function.new_object(Object {
                        ty: written.ty.clone(),
                        origin,
                        name: name.to_string(),
                        shadow_of: None,
                        span: self.module.sources.id(span),
                    });
                    self.b.function.params.push(Param::Object(object));
                    let lv = LValue::Memory(Memory::whole(object, written.ty));
                    if origin == Origin::Owned { Val::Place(lv) } else { Val::Ref(lv) }
                }
            };
            let val = self.owned_as(&name.to_string(), val, span)?;
            match mutable {
                Some(mutable) => self.bind_name(&name.to_string(), val, mutable, span)?,
                None => self.bind_surely(&input.pat, val)?,
            }
        }
        self.borders(true, item.sig.ident.span())?;
        let output = signature::output(&item.sig, self.module.items())?;
        let block = wanted::with_result(&item.block, &item.sig.output);
        let val = self.body(&block, output.clone())?;
        self.borders(false, item.sig.ident.span())?;
        if let Some(ty) = output {
            let span = item.block.stmts.last().map_or_else(|| item.sig.span(), Spanned::span);
            let value = self.scalar(val, span)?;
            if let Some(expected) = ty.scalar() {
                self.expect(value, expected, span)?;
            }
            self.b.function.results.push(value);
        }
        Ok(())
    }

    /// Lowers a body in the frame that was opened for it. Without a written type, it is
    /// found from what the body yields.
    fn body(&mut self, block: &syn::Block, output: Option<Type>) -> Result<Val> {
        let span = block.span();
        certain::no_conditions(block)?;
        let found = exits::of_block(block);
        self.prepare_jumps(&found, block, span);
        if !found.contains(&exits::Exit::Return) {
            self.frame().output = output;
            let val = self.block(block)?;
            return self.rvalue(val, span);
        }
        if let Some(ty) = &output {
            let result = self.zero_val(ty, exits::first_return(block).unwrap_or(span))?;
            self.frame().result = Some(result);
        } else if exits::returns_value(block) {
            let result = self.later(span)?;
            self.frame().result = Some(Val::Place(result));
        }
        self.frame().output = output;
        self.body_with_returns(block, span)
    }

    /// A body with early returns, whose value goes through a variable.
    fn body_with_returns(&mut self, block: &syn::Block, span: Span) -> Result<Val> {
        let val = self.block(block)?;
        match self.frame().result.clone() {
            Some(result) => {
                if !matches!(val, Val::Never) {
                    self.return_value(val, span)?;
                }
                self.rvalue(result, span)
            }
            // Whoever returns comes back to the caller. (Whoever panics has left a check behind.)
            None if matches!(val, Val::Never) => Ok(Val::Unit),
            None => self.rvalue(val, span),
        }
    }

    /// Writes what a function returns, where control is still on its normal way.
    fn return_value(&mut self, val: Val, span: Span) -> Result<()> {
        let Some(result) = self.frame().result.clone() else { return Ok(()) };
        let lv = control::lv_of(result);
        match self.frame().going {
            Some(going) => {
                let going = self.get(going);
                self.branch(
                    going,
                    span,
                    |me| {
                        me.write_parts(&lv, val, span)?;
                        Ok(Val::Unit)
                    },
                    |_| Ok(Val::Unit),
                )?;
                Ok(())
            }
            None => self.write_parts(&lv, val, span),
        }
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn new_var(&mut self, value: ValueId) -> VarId {
        let var = VarId(self.vars.len() as u32);
        self.vars.push(value);
        self.var_names.resize(self.vars.len(), None);
        self.live.push(var);
        var
    }

    fn get(&self, var: VarId) -> ValueId {
        self.vars[var.0 as usize]
    }

    fn set(&mut self, var: VarId, value: ValueId) {
        self.vars[var.0 as usize] = value;
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Binds a name; a mutable one gets variables for its scalars.
    fn bind_name(&mut self, name: &str, val: Val, mutable: bool, span: Span) -> Result<()> {
        if let Val::Scalar(value) = val {
            let known = &mut self.b.function.values[value.index()].name;
            if known.is_none() {
                *known = Some(name.to_owned());
            }
        }
        if let Val::Place(LValue::Memory(memory)) = &val {
            let object = &mut self.b.function.objects[memory.place.object.index()];
            if object.origin == Origin::Local && object.name.is_empty() {
                name.clone_into(&mut object.name);
            }
        }
        let val = if mutable { self.variable(val, span)? } else { val };
        if let Val::Place(LValue::Var(var)) = &val {
            self.var_names[var.0 as usize] = Some(name.to_owned());
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), Binding { val });
        }
        Ok(())
    }

    /// A place that holds a value and can be written.
    fn variable(&mut self, val: Val, span: Span) -> Result<Val> {
        Ok(Val::Place(match val {
            // Variables get values of their own name, also when they begin as a parameter.
            Val::Scalar(value) => LValue::Var(self.new_var(value)),
            val @ Val::Ordering(..) => {
                let value = self.scalar(val, span)?;
                LValue::Var(self.new_var(value))
            }
            Val::Parts(kind, parts) => {
                let parts = parts
                    .into_iter()
                    .map(|part| Ok(control::lv_of(self.variable(part, span)?)))
                    .collect::<Result<_>>()?;
                LValue::Parts(kind, parts)
            }
            Val::Never => self.later(span)?,
            Val::Ref(LValue::Memory(memory)) => self.pointer(&memory, span)?,
            Val::Iter(iter) if iter.has_positions() => {
                let (zero, len) = (self.b.usize(0, span), self.iter_len(&iter, span)?);
                let (start, end) = (self.new_var(zero), self.new_var(len));
                return Ok(Val::Iter(Box::new(iter::Iter::Held(iter, start, end))));
            }
            other => return Ok(other),
        }))
    }

    /// Runs `f` with a scope of names and variables of its own.
    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let live = self.live.len();
        self.scopes.push(HashMap::new());
        let result = f(self);
        self.scopes.pop();
        self.live.truncate(live);
        result
    }

    fn ty(&self, value: ValueId) -> Scalar {
        self.infer.resolve(self.b.function.ty(value))
    }

    fn is_float(&self, value: ValueId) -> bool {
        self.infer.is_float(self.b.function.ty(value))
    }

    fn is_int(&self, value: ValueId) -> bool {
        self.infer.is_int(self.b.function.ty(value))
    }

    fn unify(&mut self, a: ValueId, b: ValueId, span: Span) -> Result<Scalar> {
        let (a, b) = (self.b.function.ty(a), self.b.function.ty(b));
        self.infer.unify(a, b, span)
    }

    fn expect(&mut self, value: ValueId, ty: Scalar, span: Span) -> Result<()> {
        let found = self.b.function.ty(value);
        self.infer.unify(ty, found, span).map(|_| ())
    }

    fn fresh(&mut self, class: Class) -> Scalar {
        self.infer.fresh(class)
    }

    /// A tuple of values.
    fn tuple(parts: Vec<Val>) -> Val {
        Val::Parts(Kind::Tuple, parts)
    }
}
