//! Kernels: what many threads run together.

use super::Fault;
use crate::analysis::Uniform;
use crate::{Block, Function, Init, ObjectId, Op, Stmt, walk};

/// Whether a kernel keeps its rules, and another function has nothing of a kernel.
pub(super) fn check(function: &Function) -> Result<(), Fault> {
    let mut outcome = Ok(());
    let mut refuse = |message: String| {
        if outcome.is_ok() {
            outcome = Err(Fault::new("kernel", message));
        }
    };
    if !function.kernel {
        walk(&function.body, &mut |node| {
            let own = matches!(node, Stmt::Atomic(_) | Stmt::Barrier(_) | Stmt::Shuffle(_))
                || matches!(node, Stmt::Let { op: Op::Builtin(_), .. });
            if own {
                refuse(format!("only a kernel has this: {node:?}"));
            }
        });
        if !function.shared.is_empty() {
            refuse("only a kernel has shared memory".to_owned());
        }
        return outcome;
    }
    if !function.results.is_empty() || !function.kept.is_empty() {
        refuse("a kernel returns nothing".to_owned());
    }
    let mut communal: Vec<ObjectId> = function.shared_params().collect();
    walk(&function.body, &mut |node| match node {
        Stmt::New { object, .. } if function.shared.contains(object) => communal.push(*object),
        Stmt::Call(_) | Stmt::Swap { .. } => refuse(format!("no kernel has this: {node:?}")),
        Stmt::Save { .. } | Stmt::Restore { .. } | Stmt::Refill { .. } => {
            refuse(format!("no kernel saves lists: {node:?}"));
        }
        Stmt::Barrier(barrier) => {
            let named = |object: &&ObjectId| {
                barrier.places.iter().any(|place| place.object == **object && place.path.is_empty())
            };
            if let Some(object) = communal.iter().find(|object| !named(object)) {
                refuse(format!("a barrier does not name {object:?}, which threads share"));
            }
        }
        _ => {}
    });
    outcome?;
    shared_at_the_top(function)?;
    together(&Uniform::new(function), &function.body, true)
}

/// Shared objects are made at the top of a function, with a length that all threads agree on.
fn shared_at_the_top(function: &Function) -> Result<(), Fault> {
    let uniform = Uniform::new(function);
    let mut made = Vec::new();
    for node in &function.body {
        let Stmt::New { object, init } = node else { continue };
        if !function.shared.contains(object) {
            continue;
        }
        made.push(*object);
        if let Init::Repeat(_, len) = init
            && !uniform.value(*len)
        {
            let message = format!("threads disagree on the length of {object:?}");
            return Err(Fault::new("kernel", message));
        }
    }
    match function.shared.iter().find(|object| !made.contains(object)) {
        None => Ok(()),
        Some(object) => {
            let message = format!("{object:?} is shared and not made at the top of the kernel");
            Err(Fault::new("kernel", message))
        }
    }
}

/// Whether what threads do together is done by all of them: under conditions and in loops on which the threads of a block agree.
fn together(uniform: &Uniform, block: &Block, all: bool) -> Result<(), Fault> {
    for node in block {
        match node {
            Stmt::Barrier(_) if !all => {
                return Err(Fault::new("kernel", "not all threads come to a barrier"));
            }
            Stmt::Atomic(atomic) if atomic.block && !all => {
                return Err(Fault::new("kernel", "not all threads combine their numbers"));
            }
            Stmt::If(branch) => {
                let all = all && uniform.value(branch.condition);
                together(uniform, &branch.then, all)?;
                together(uniform, &branch.other, all)?;
            }
            Stmt::Loop(repeat) => {
                together(uniform, &repeat.body, all && uniform.loops(repeat))?;
            }
            _ => {}
        }
    }
    Ok(())
}
