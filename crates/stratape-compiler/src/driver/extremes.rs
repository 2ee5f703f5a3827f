//! Extremes that threads find together, and the thread that holds each.
//!
//! The adjoint of `atomic_max(&mut s[k], v)` goes to the lowest thread whose number became the extreme; if none is above what was there before, it stays. Threads know neither before all
//! of them are done. So a kernel of its own, the *election*, runs before the gradient, twice: to find the extremes, and with these, the thread of each. The gradient is that of a kernel
//! in which this thread alone writes.
//!
//! ```text
//! atomic max s[k], v   →   election:   if phase = 0 { atomic max s[k], v } else if v = s[k] and v ≠ first[k] { atomic max holder[k], M − thread }
//!                      →   gradient:   if holder[k] = M − thread { s[k] = v }     differentiated
//! ```
//!
//! `M` is the largest `usize`, so that 0 stands for nobody. Legal where nothing else in the kernel sees `s`, and where threads compute the same numbers in every run.

use std::collections::BTreeSet;

use syn::Result;

use super::kernel::refuse;
use crate::ad::Activity;
use crate::back::cuda::{Order, order, touched};
use crate::source::Sources;
use stratape_ir::{
    Atomic, AtomicOp, Axis, Binary, Block, Builtin, Compare, Function, Object, ObjectId, Op,
    Origin, Param, Place, Scalar, SourceId, Stmt, Type, ValueId, walk,
};

/// What runs before a gradient to find who holds the extremes.
#[derive(Clone, Debug)]
pub struct Election {
    /// The kernel, with parameters for its phase and, for each extreme, for what was there first and for who holds it.
    pub function: Function,
    /// The memory of the extremes.
    pub extremes: Vec<ObjectId>,
    /// Who holds them: parameters of the gradient, in the same order.
    pub holders: Vec<ObjectId>,
}

/// The kernel to differentiate, and the election before its gradient, if there are extremes that derivatives pass through.
pub(super) fn elected(
    function: &Function,
    activity: &Activity,
    sources: &Sources,
) -> Result<Option<(Function, Election)>> {
    let extremes = found(function, activity, sources)?;
    if extremes.is_empty() {
        return Ok(None);
    }
    if let Order::Refused(why) = order(function, false) {
        let message = format!(
            "the thread that holds an extreme cannot be found, since numbers may differ from run to run: {why}"
        );
        return refuse(sources, function.span, &message);
    }
    let mut held = function.clone();
    let mut election =
        Election { function: function.clone(), extremes: extremes.clone(), holders: Vec::new() };
    let elect = &mut election.function;
    elect.name = format!("{}_elect", function.name);
    let phase = elect.new_value(Scalar::USIZE, SourceId::NONE);
    elect.params.push(Param::Value(phase));
    for extreme in extremes {
        let known = function.objects[extreme.index()].clone();
        let list = |ty: Type, origin, name: &str| Object {
            ty,
            origin,
            name: format!("{}_{name}", known.name.trim_start_matches("r#")),
            shadow_of: None,
            span: known.span,
        };
        let indices = Type::Slice(Box::new(Type::Scalar(Scalar::USIZE)));
        let first = elect.new_object(list(known.ty.clone(), Origin::Ref, "first"));
        let holder = elect.new_object(list(indices.clone(), Origin::RefMut, "holder"));
        elect.params.extend([Param::Object(first), Param::Object(holder)]);
        let vote = |function: &mut Function, atomic: &Atomic, own: ValueId| {
            vote(function, phase, (first, holder), atomic, own)
        };
        replace(elect, extreme, &vote);

        let holder = held.new_object(list(indices, Origin::Ref, "holder"));
        held.params.push(Param::Object(holder));
        election.holders.push(holder);
        let write =
            |function: &mut Function, atomic: &Atomic, own| write(function, holder, atomic, own);
        replace(&mut held, extreme, &write);
    }
    Ok(Some((held, election)))
}

/// The memory of extremes that derivatives pass through: what was there before has none where another number is the extreme, whatever that is.
fn found(function: &Function, activity: &Activity, sources: &Sources) -> Result<Vec<ObjectId>> {
    let mut extremes: Vec<ObjectId> = Vec::new();
    walk(&function.body, &mut |node| {
        if let Stmt::Atomic(atomic) = node
            && atomic.op != AtomicOp::Add
            && activity.object(atomic.place.object)
            && !extremes.contains(&atomic.place.object)
        {
            extremes.push(atomic.place.object);
        }
    });
    for extreme in &extremes {
        let known = &function.objects[extreme.index()];
        if function.shared.contains(extreme) {
            let message = "an extreme in shared memory has no derivative: find it by exchanges in a warp or by a tree of `max`, or in a `&mut` slice of the kernel";
            return refuse(sources, known.span, message);
        }
        if !matches!(&known.ty, Type::Slice(item) if item.scalar().is_some()) {
            let message = "an extreme in a list of arrays has no derivative: use a `&mut` slice of numbers for it";
            return refuse(sources, known.span, message);
        }
        check(function, &function.body, *extreme, false, &mut BTreeSet::new(), sources)?;
    }
    Ok(extremes)
}

/// Refuses a kernel that does anything else to the memory of an extreme.
fn check(
    function: &Function,
    block: &Block,
    extreme: ObjectId,
    repeated: bool,
    seen: &mut BTreeSet<&'static str>,
    sources: &Sources,
) -> Result<()> {
    for node in block {
        if let Stmt::Atomic(atomic) = node
            && atomic.place.object == extreme
        {
            let at = function.values[atomic.value.index()].span;
            seen.insert(atomic.op.word());
            if repeated {
                let message = "an extreme in a loop has no derivative: find the extreme of the thread first, and hand that over once";
                return refuse(sources, at, message);
            }
            if atomic.old.is_some() || seen.len() > 1 {
                let message = "an extreme has a derivative only if nothing else happens to its memory in the kernel: use a slice of its own";
                return refuse(sources, at, message);
            }
            continue;
        }
        let is_touched = !matches!(node, Stmt::Barrier(_) | Stmt::If(_) | Stmt::Loop(_))
            && touched(node).contains(&extreme);
        if is_touched {
            let message = "an extreme has a derivative only if nothing else happens to its memory in the kernel: use a slice of its own, and read it in another kernel";
            return refuse(sources, function.objects[extreme.index()].span, message);
        }
        let repeated = repeated || matches!(node, Stmt::Loop(_));
        for inner in node.blocks() {
            check(function, inner, extreme, repeated, seen, sources)?;
        }
    }
    Ok(())
}

/// Puts something else in the place of the atomic operations on an object; it is told the number of the thread and of the operation in it, from above.
fn replace(
    function: &mut Function,
    object: ObjectId,
    with: &dyn Fn(&mut Function, &Atomic, ValueId) -> Block,
) {
    let mut count = 0;
    walk(&function.body, &mut |node| {
        count += i128::from(matches!(node, Stmt::Atomic(atomic) if atomic.place.object == object));
    });
    let mut number = 0;
    let mut body = std::mem::take(&mut function.body);
    replace_in(function, &mut body, object, (&mut number, count), with);
    function.body = body;
}

fn replace_in(
    function: &mut Function,
    block: &mut Block,
    object: ObjectId,
    (number, count): (&mut i128, i128),
    with: &dyn Fn(&mut Function, &Atomic, ValueId) -> Block,
) {
    let mut made = Block::new();
    for mut node in std::mem::take(block) {
        match &node {
            Stmt::Atomic(atomic) if atomic.place.object == object => {
                let own = from_above(function, &mut made, *number, count);
                *number += 1;
                made.extend(with(function, atomic, own));
                continue;
            }
            _ => {}
        }
        for inner in node.blocks_mut() {
            replace_in(function, inner, object, (&mut *number, count), with);
        }
        made.push(node);
    }
    *block = made;
}

/// The largest number less that of an operation among those of all threads.
fn from_above(function: &mut Function, block: &mut Block, number: i128, count: i128) -> ValueId {
    let mut define = |op| function.define(block, Scalar::USIZE, op, SourceId::NONE);
    let mut sum: Option<ValueId> = None;
    // Blocks from the last axis to the first, then threads.
    for (index, size) in [
        (Builtin::BlockIdx as fn(Axis) -> Builtin, Builtin::GridDim as fn(Axis) -> Builtin),
        (Builtin::ThreadIdx, Builtin::BlockDim),
    ] {
        for axis in [Axis::Z, Axis::Y, Axis::X] {
            let own = define(Op::Builtin(index(axis)));
            sum = Some(match sum {
                None => own,
                Some(sum) => {
                    let size = define(Op::Builtin(size(axis)));
                    let all = define(Op::Binary(Binary::Mul, sum, size));
                    define(Op::Binary(Binary::Add, all, own))
                }
            });
        }
    }
    let count = define(Op::Int(count));
    let thread = sum.unwrap_or(count);
    let all = define(Op::Binary(Binary::Mul, thread, count));
    let number = define(Op::Int(number));
    let own = define(Op::Binary(Binary::Add, all, number));
    let most = define(Op::Int(i128::from(u64::MAX)));
    define(Op::Binary(Binary::Sub, most, own))
}

/// The same element of another list.
fn element_of(object: ObjectId, place: &Place) -> Place {
    let mut place = place.clone();
    place.object = object;
    place
}

/// The operation in the first phase; in the second, the thread stands for election if its number is the extreme.
fn vote(
    function: &mut Function,
    phase: ValueId,
    (first, holder): (ObjectId, ObjectId),
    atomic: &Atomic,
    own: ValueId,
) -> Block {
    let at = SourceId::NONE;
    let ty = function.ty(atomic.value);
    let mut stands = Block::new();
    let found = function.define(&mut stands, ty, Op::Load(atomic.place.clone()), at);
    let before = Op::Load(element_of(first, &atomic.place));
    let before = function.define(&mut stands, ty, before, at);
    let is_found = Op::Compare(Compare::Eq, atomic.value, found);
    let is_found = function.define(&mut stands, Scalar::Bool, is_found, at);
    let is_new = Op::Compare(Compare::Ne, atomic.value, before);
    let is_new = function.define(&mut stands, Scalar::Bool, is_new, at);
    let both = Op::Binary(Binary::BitAnd, is_found, is_new);
    let both = function.define(&mut stands, Scalar::Bool, both, at);
    let elects = Atomic {
        op: AtomicOp::Max,
        place: element_of(holder, &atomic.place),
        value: own,
        old: None,
        block: false,
        warp: false,
    };
    stands.push(Stmt::branch(both, vec![Stmt::Atomic(Box::new(elects))], Block::new()));
    let mut made = Block::new();
    let zero = function.define(&mut made, Scalar::USIZE, Op::Int(0), at);
    let is_first = Op::Compare(Compare::Eq, phase, zero);
    let is_first = function.define(&mut made, Scalar::Bool, is_first, at);
    made.push(Stmt::branch(is_first, vec![Stmt::Atomic(Box::new(atomic.clone()))], stands));
    made
}

/// The thread that holds the extreme writes it.
fn write(function: &mut Function, holder: ObjectId, atomic: &Atomic, own: ValueId) -> Block {
    let at = SourceId::NONE;
    let mut made = Block::new();
    let elected = Op::Load(element_of(holder, &atomic.place));
    let elected = function.define(&mut made, Scalar::USIZE, elected, at);
    let is_own = Op::Compare(Compare::Eq, elected, own);
    let is_own = function.define(&mut made, Scalar::Bool, is_own, at);
    let store = Stmt::Store { place: atomic.place.clone(), value: atomic.value };
    made.push(Stmt::branch(is_own, vec![store], Block::new()));
    made
}
