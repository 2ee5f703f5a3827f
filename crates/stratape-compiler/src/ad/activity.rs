//! Activity analysis: the values and objects that derivatives flow through. They depend on an active input (*varied*)
//! and influence a result (*useful*). Two fixed points over the body; objects count as wholes.

use std::collections::HashSet;

use stratape_ir::{
    Argument, Block, Function, Init, ObjectId, Op, Origin, Param, Scalar, Stmt, ValueId,
};

/// Values and objects that carry derivatives.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    values: HashSet<ValueId>,
    objects: HashSet<ObjectId>,
}

#[derive(Default)]
struct Set {
    values: HashSet<ValueId>,
    objects: HashSet<ObjectId>,
    /// Objects that are never part of it.
    never: HashSet<ObjectId>,
    grew: bool,
}

impl Set {
    fn value(&mut self, value: ValueId) {
        self.grew |= self.values.insert(value);
    }

    fn object(&mut self, object: ObjectId) {
        self.grew |= !self.never.contains(&object) && self.objects.insert(object);
    }

    fn has(&self, value: ValueId) -> bool {
        self.values.contains(&value)
    }
}

impl Activity {
    /// Finds them. `inputs` are the parameters to differentiate with respect to.
    pub fn new(function: &Function, inputs: &HashSet<Param>) -> Self {
        let never = results_apart(function, inputs);
        let mut varied = Set { never: never.clone(), ..Set::default() };
        let mut useful = Set { never, ..Set::default() };
        for param in &function.params {
            if !inputs.contains(param) {
                continue;
            }
            match param {
                Param::Value(value) if is_float(function, *value) => varied.value(*value),
                Param::Value(_) => {}
                Param::Object(object) => {
                    varied.object(*object);
                    if function.objects[object.index()].origin == Origin::RefMut {
                        useful.object(*object);
                    }
                }
            }
        }
        loop {
            varied.grew = false;
            forward(function, &function.body, &mut varied);
            if !varied.grew {
                break;
            }
        }
        function.results.iter().for_each(|value| useful.value(*value));
        loop {
            useful.grew = false;
            backward(function, &function.body, &mut useful);
            if !useful.grew {
                break;
            }
        }
        let values = varied.values.intersection(&useful.values).copied().collect();
        let objects = varied.objects.intersection(&useful.objects).copied().collect();
        Self { values, objects }
    }

    /// Takes all inputs for active, whether they influence a result or not.
    pub fn add_inputs(&mut self, inputs: &HashSet<Param>) {
        for input in inputs {
            match input {
                Param::Value(value) => self.values.insert(*value),
                Param::Object(object) => self.objects.insert(*object),
            };
        }
    }

    /// Whether a derivative flows through a value.
    pub fn value(&self, value: ValueId) -> bool {
        self.values.contains(&value)
    }

    /// Whether a derivative flows through an object.
    pub fn object(&self, object: ObjectId) -> bool {
        self.objects.contains(&object)
    }
}

/// Parameters that no derivative is asked for and that are read only before they are written: what is read is constant, and of what is written nobody knows the adjoint.
fn results_apart(function: &Function, inputs: &HashSet<Param>) -> HashSet<ObjectId> {
    let mut apart = HashSet::new();
    for param in &function.params {
        if let Param::Object(object) = param
            && !inputs.contains(param)
            && is_read_first(&function.body, *object, &mut false)
        {
            apart.insert(*object);
        }
    }
    apart
}

/// Whether nothing is read from an object where it may have been written.
fn is_read_first(block: &Block, object: ObjectId, written: &mut bool) -> bool {
    block.iter().all(|node| match node {
        Stmt::If(node) => {
            let mut other = *written;
            let fits = is_read_first(&node.then, object, written)
                && is_read_first(&node.other, object, &mut other);
            *written |= other;
            fits
        }
        // Twice: what one iteration writes, the next one may read.
        Stmt::Loop(node) => {
            is_read_first(&node.body, object, written) && is_read_first(&node.body, object, written)
        }
        Stmt::Store { place, .. } | Stmt::Accumulate { place, .. } => {
            *written |= place.object == object;
            true
        }
        Stmt::Let { op: Op::Load(place), .. } => !(*written && place.object == object),
        Stmt::New { init, .. } => !(*written && init.mentions(object)),
        // What exchanges it, passes it on, or waits for others to write it, is not looked into.
        node => {
            let others = node.read().into_iter().chain(node.written());
            others.into_iter().all(|place| place.object != object)
        }
    })
}

fn is_float(function: &Function, value: ValueId) -> bool {
    matches!(function.ty(value), Scalar::Float(_))
}

/// The operands a derivative flows to.
pub(crate) fn differentiable_operands(op: &Op) -> Vec<ValueId> {
    use stratape_ir::Math;
    match op {
        Op::Unary(_, a) | Op::Cast(a, _) => vec![*a],
        Op::Binary(_, a, b) | Op::Select(_, a, b) => vec![*a, *b],
        Op::Math(
            Math::Signum
            | Math::Floor
            | Math::Ceil
            | Math::Round
            | Math::RoundTiesEven
            | Math::Trunc
            | Math::DivEuclid,
            _,
        ) => Vec::new(),
        Op::Math(Math::Powi | Math::Copysign, args) => vec![args[0]],
        Op::Math(_, args) => args.clone(),
        _ => Vec::new(),
    }
}

fn forward(function: &Function, block: &Block, set: &mut Set) {
    for node in block {
        match node {
            Stmt::Let { value, op } if is_float(function, *value) => {
                let varied = match op {
                    Op::Load(place) => set.objects.contains(&place.object),
                    op => differentiable_operands(op).into_iter().any(|operand| set.has(operand)),
                };
                if varied {
                    set.value(*value);
                }
            }
            Stmt::Store { place, value } | Stmt::Accumulate { place, value, .. }
                if set.has(*value) =>
            {
                set.object(place.object);
            }
            Stmt::Atomic(atomic) if set.has(atomic.value) => set.object(atomic.place.object),
            Stmt::Shuffle(shuffle) if set.has(shuffle.operand) => set.value(shuffle.value),
            Stmt::New { object, init }
                if init_any(init, &mut |value| set.has(value), &mut |other| {
                    set.objects.contains(&other)
                }) =>
            {
                set.object(*object);
            }
            Stmt::Swap { a, b }
                if set.objects.contains(&a.object) || set.objects.contains(&b.object) =>
            {
                set.object(a.object);
                set.object(b.object);
            }
            Stmt::Call(call) if call.pullback.is_some() => {
                let varied = call.arguments.iter().any(|argument| match argument {
                    Argument::Value(value) => set.has(*value),
                    Argument::Slice(slice) => set.objects.contains(&slice.place.object),
                });
                if varied || call.acts_outside() {
                    call.results
                        .iter()
                        .filter(|v| is_float(function, **v))
                        .for_each(|v| set.value(*v));
                    node.written().iter().for_each(|place| set.object(place.object));
                }
            }
            Stmt::Loop(node) => {
                for carried in &node.carried {
                    if is_float(function, carried.inside)
                        && (set.has(carried.init) || set.has(carried.next))
                    {
                        set.value(carried.inside);
                        set.value(carried.after);
                    }
                }
                forward(function, &node.body, set);
            }
            Stmt::If(node) => {
                forward(function, &node.then, set);
                forward(function, &node.other, set);
                for merge in &node.merges {
                    if is_float(function, merge.value)
                        && (set.has(merge.then) || set.has(merge.other))
                    {
                        set.value(merge.value);
                    }
                }
            }
            _ => {}
        }
    }
}

fn backward(function: &Function, block: &Block, set: &mut Set) {
    for node in block.iter().rev() {
        match node {
            Stmt::Let { value, op } if set.has(*value) => match op {
                Op::Load(place) => set.object(place.object),
                op => differentiable_operands(op)
                    .into_iter()
                    .filter(|operand| is_float(function, *operand))
                    .for_each(|operand| set.value(operand)),
            },
            Stmt::Store { place, value } | Stmt::Accumulate { place, value, .. }
                if set.objects.contains(&place.object) && is_float(function, *value) =>
            {
                set.value(*value);
            }
            Stmt::Atomic(atomic)
                if set.objects.contains(&atomic.place.object)
                    && is_float(function, atomic.value) =>
            {
                set.value(atomic.value);
            }
            Stmt::Shuffle(shuffle)
                if set.has(shuffle.value) && is_float(function, shuffle.operand) =>
            {
                set.value(shuffle.operand);
            }
            Stmt::New { object, init } if set.objects.contains(object) => {
                let mut values = Vec::new();
                let mut objects = Vec::new();
                init_any(
                    init,
                    &mut |value| {
                        values.push(value);
                        false
                    },
                    &mut |other| {
                        objects.push(other);
                        false
                    },
                );
                values.into_iter().filter(|v| is_float(function, *v)).for_each(|v| set.value(v));
                objects.into_iter().for_each(|object| set.object(object));
            }
            Stmt::Swap { a, b }
                if set.objects.contains(&a.object) || set.objects.contains(&b.object) =>
            {
                set.object(a.object);
                set.object(b.object);
            }
            Stmt::Call(call) if call.pullback.is_some() => {
                let useful = call.results.iter().any(|value| set.has(*value))
                    || node.written().iter().any(|place| set.objects.contains(&place.object));
                if useful || call.acts_outside() {
                    for argument in &call.arguments {
                        match argument {
                            Argument::Value(value) if is_float(function, *value) => {
                                set.value(*value);
                            }
                            Argument::Value(_) => {}
                            Argument::Slice(slice) => set.object(slice.place.object),
                        }
                    }
                }
            }
            Stmt::Loop(node) => {
                for carried in &node.carried {
                    if is_float(function, carried.inside)
                        && (set.has(carried.after) || set.has(carried.inside))
                    {
                        set.value(carried.next);
                        set.value(carried.init);
                        set.value(carried.inside);
                    }
                }
                backward(function, &node.body, set);
            }
            Stmt::If(node) => {
                for merge in &node.merges {
                    if is_float(function, merge.value) && set.has(merge.value) {
                        set.value(merge.then);
                        set.value(merge.other);
                    }
                }
                backward(function, &node.then, set);
                backward(function, &node.other, set);
            }
            _ => {}
        }
    }
}

/// Whether a value or object in an object's first contents has a property.
fn init_any(
    init: &Init,
    value: &mut dyn FnMut(ValueId) -> bool,
    object: &mut dyn FnMut(ObjectId) -> bool,
) -> bool {
    match init {
        Init::Items(items) => {
            let mut any = false;
            for item in items {
                any |= init_any(item, value, object);
            }
            any
        }
        Init::Value(v) => value(*v),
        Init::Fill(item) | Init::Repeat(item, _) => init_any(item, value, object),
        Init::Copy(place) => object(place.object),
        Init::ZeroLike(_) => false,
    }
}
