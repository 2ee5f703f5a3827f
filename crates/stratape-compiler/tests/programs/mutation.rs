//! Faults put into valid gradients: the validator refuses each, or the gradient is right in spite of it.
//!
//! What a fault of a pass would look like: slots of a record mixed up, a pop or a push that is lost, a loop that pops another number of
//! times or in another direction, a branch that pops on another condition, a value of another type, a value used in another's place where
//! the tape is concerned.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::random::judge::is_right;
use crate::random::{Config, Random, generate};
use stratape_ir::{Block, Float, Function, Half, Int, Range, Scalar, Stmt, ValueId, valid, walk};

/// Calls `f` with every statement, to be changed.
fn each(block: &mut Block, f: &mut dyn FnMut(&mut Stmt)) {
    for node in block {
        f(node);
        node.blocks_mut().into_iter().for_each(|inner| each(inner, f));
    }
}

/// Whether a statement is in one half: both halves in one may do as they like, as long as they agree.
fn uses_tape(node: &Stmt) -> bool {
    node.uses_tape(Half::Forward) != node.uses_tape(Half::Backward)
}

/// Changes the statement of a number, among those that `is_one` picks.
fn change(
    function: &mut Function,
    random: &mut Random,
    is_one: &dyn Fn(&Stmt) -> bool,
    f: &mut dyn FnMut(&mut Stmt, &mut Random),
) -> bool {
    let mut count = 0;
    walk(&function.body, &mut |node| count += usize::from(is_one(node)));
    if count == 0 {
        return false;
    }
    let (chosen, mut at) = (random.below(count), 0);
    each(&mut function.body, &mut |node| {
        if is_one(node) {
            if at == chosen {
                f(node, random);
            }
            at += 1;
        }
    });
    true
}

/// Some `usize` of the function.
fn other_number(function: &Function, random: &mut Random) -> ValueId {
    let numbers: Vec<ValueId> = (0..function.values.len() as u32)
        .map(ValueId)
        .filter(|value| function.ty(*value) == Scalar::USIZE)
        .collect();
    numbers[random.below(numbers.len())]
}

fn swap_slots(function: &mut Function, random: &mut Random) -> bool {
    let fits = |node: &Stmt| matches!(node, Stmt::Push { values, .. } | Stmt::Pop { values, .. } if values.len() > 1);
    change(function, random, &fits, &mut |node, random| {
        if let Stmt::Push { values, .. } | Stmt::Pop { values, .. } = node {
            let a = random.below(values.len());
            let b = (a + 1 + random.below(values.len() - 1)) % values.len();
            values.swap(a, b);
        }
    })
}

fn drop_tape(function: &mut Function, random: &mut Random) -> bool {
    fn remove(block: &mut Block, left: &mut usize) {
        block.retain(|node| {
            let own = matches!(node, Stmt::Push { .. } | Stmt::Pop { .. });
            *left = left.wrapping_sub(usize::from(own));
            !(own && *left == usize::MAX)
        });
        block.iter_mut().flat_map(Stmt::blocks_mut).for_each(|inner| remove(inner, left));
    }
    let mut count = 0;
    walk(&function.body, &mut |node| {
        count += usize::from(matches!(node, Stmt::Push { .. } | Stmt::Pop { .. }));
    });
    if count == 0 {
        return false;
    }
    remove(&mut function.body, &mut random.below(count));
    true
}

fn shift_bound(function: &mut Function, random: &mut Random) -> bool {
    let other = other_number(function, random);
    let fits = |node: &Stmt| matches!(node, Stmt::Loop(_)) && uses_tape(node);
    change(function, random, &fits, &mut |node, random| {
        if let Stmt::Loop(node) = node
            && let Range::UpTo { from, to } = &mut node.range
        {
            *(if random.below(2) == 0 { from } else { to }) = other;
        }
    })
}

fn turn_loop(function: &mut Function, random: &mut Random) -> bool {
    let fits = |node: &Stmt| matches!(node, Stmt::Loop(_)) && uses_tape(node);
    change(function, random, &fits, &mut |node, _| {
        if let Stmt::Loop(node) = node {
            node.reversed = !node.reversed;
        }
    })
}

fn other_condition(function: &mut Function, random: &mut Random) -> bool {
    let conditions: Vec<ValueId> = (0..function.values.len() as u32)
        .map(ValueId)
        .filter(|value| function.ty(*value) == Scalar::Bool)
        .collect();
    if conditions.is_empty() {
        return false;
    }
    let other = conditions[random.below(conditions.len())];
    let fits = |node: &Stmt| matches!(node, Stmt::If(_)) && uses_tape(node);
    change(function, random, &fits, &mut |node, _| {
        if let Stmt::If(node) = node {
            node.condition = other;
        }
    })
}

fn other_type(function: &mut Function, random: &mut Random) -> bool {
    let types = [
        Scalar::Bool,
        Scalar::Int(Int::I32),
        Scalar::USIZE,
        Scalar::Float(Float::F32),
        Scalar::Float(Float::F64),
    ];
    let at = random.below(function.values.len());
    function.values[at].ty = types[random.below(types.len())];
    true
}

fn other_slot_value(function: &mut Function, random: &mut Random) -> bool {
    let other = ValueId(random.below(function.values.len()) as u32);
    change(function, random, &|node| matches!(node, Stmt::Push { .. }), &mut |node, random| {
        if let Stmt::Push { values, .. } = node {
            let at = random.below(values.len());
            values[at] = other;
        }
    })
}

fn unordered_loop(function: &mut Function, random: &mut Random) -> bool {
    let fits = |node: &Stmt| matches!(node, Stmt::Loop(node) if !node.unordered);
    change(function, random, &fits, &mut |node, _| {
        if let Stmt::Loop(node) = node {
            node.unordered = true;
        }
    })
}

fn other_block(function: &mut Function, random: &mut Random) -> bool {
    let fits = |node: &Stmt| {
        matches!(node, Stmt::Loop(node)
            if node.schedule.as_ref().is_some_and(|schedule| schedule.strip.is_some()))
    };
    change(function, random, &fits, &mut |node, random| {
        let Stmt::Loop(node) = node else { return };
        let Some(schedule) = &mut node.schedule else { return };
        match (&mut schedule.simd, &mut schedule.strip) {
            (Some(simd), _) if random.below(2) == 0 && !simd.reductions.is_empty() => {
                let at = random.below(simd.reductions.len());
                let sum = &mut simd.reductions[at];
                match random.below(2) {
                    0 => sum.reassociate = true,
                    _ => sum.subtract = !sum.subtract,
                }
            }
            (Some(simd), _) => match simd.rotations.first_mut() {
                Some(rotation) => rotation.additions.iter_mut().for_each(|one| one.1 += 1),
                None => simd.reductions.clear(),
            },
            (None, Some(strip)) => match strip.views.first_mut() {
                Some(view) => view.stride += 1,
                None => strip.region = None,
            },
            _ => {}
        }
    })
}

type Fault = fn(&mut Function, &mut Random) -> bool;

const FAULTS: [(&str, Fault); 9] = [
    ("slots swapped", swap_slots),
    ("a push or pop dropped", drop_tape),
    ("a loop bound shifted", shift_bound),
    ("a loop turned", turn_loop),
    ("another condition", other_condition),
    ("another type", other_type),
    ("another value pushed", other_slot_value),
    ("a loop unordered", unordered_loop),
    ("another schedule", other_block),
];

#[test]
fn faults_are_refused_or_harmless() {
    let mut refused = [0; FAULTS.len()];
    let mut harmful = Vec::new();
    for seed in 0..40 {
        let config = if seed % 2 == 0 { Config::core() } else { Config::control() };
        let program = generate(seed, &config);
        for (number, (name, fault)) in FAULTS.iter().enumerate() {
            let mut random = Random::new(seed ^ ((number as u64) << 32));
            let mut accepted = false;
            let outcome =
                is_right(&program.source, &program.inputs, seed, &mut |function: &mut Function| {
                    let before = format!("{function:?}");
                    if !fault(function, &mut random) || format!("{function:?}") == before {
                        return false;
                    }
                    accepted = valid::validate(function).is_ok();
                    refused[number] += usize::from(!accepted);
                    accepted
                });
            if let Ok(Some(false)) = outcome
                && accepted
            {
                harmful.push(format!("seed {seed}, {name}:\n{}", program.source));
            }
        }
    }
    assert!(harmful.is_empty(), "{} accepted\n{}", harmful.len(), harmful.join("\n"));
    for ((name, _), refused) in FAULTS.iter().zip(refused) {
        assert!(refused > 0, "{name} was never tried");
    }
}
