//! One addition for several: what an iteration adds to a carried sum of adjoints is added up first.
//!
//! ```text
//! s1 = s - a;  s2 = s1 + b          →   t = b - a;  s2 = s + t
//! ```
//!
//! A sum waits for each of its additions (4 cycles). A scalar that a loop uses twice has two in its adjoint; with one, the wait is half as long, and the loop can run in
//! blocks (`vector_reduction`).
//!
//! Legal for sums of adjoints, whose order is free, that nothing else in the loop reads. Always pays. Runs before the last `gradient_cse`.

use std::collections::{HashMap, HashSet};

use crate::driver::{Context, Pass, Promise};
use stratape_ir::analysis::{Term, ordered_terms};
use stratape_ir::{Binary, Block, Carried, Function, Loop, Op, Stmt, ValueId};

/// The pass.
pub const COMBINE_TERMS: Pass = Pass {
    name: "combine_terms",
    after: &["fold_coefficients"],
    promise: Promise::AdjointBits,
    required: false,
    run: combine_terms,
};

fn combine_terms(function: &mut Function, _cx: &mut Context<'_>) {
    let mut body = std::mem::take(&mut function.body);
    blocks(function, &mut body);
    function.body = body;
}

fn blocks(function: &mut Function, block: &mut Block) {
    for node in block {
        if let Stmt::Loop(inner) = node {
            combine(function, inner);
        }
        for inner in node.blocks_mut() {
            blocks(function, inner);
        }
    }
}

fn combine(function: &mut Function, node: &mut Loop) {
    let several = |carried: &Carried| {
        let terms = ordered_terms(node, carried).filter(|terms| terms.len() > 1)?;
        let free = terms.iter().all(|term| function.values[term.sum.index()].adjoint);
        (free && function.is_free(carried)).then_some((carried.inside, terms))
    };
    let found: Vec<(ValueId, Vec<Term>)> = node.carried.iter().filter_map(several).collect();
    let mut dropped: HashSet<ValueId> = HashSet::new();
    let mut sums: HashMap<ValueId, (ValueId, Vec<Term>)> = HashMap::new();
    for (inside, terms) in found {
        let Some((last, before)) = terms.split_last() else { continue };
        dropped.extend(before.iter().map(|term| term.sum));
        sums.insert(last.sum, (inside, terms.clone()));
    }
    if sums.is_empty() {
        return;
    }
    let mut out = Block::new();
    for item in std::mem::take(&mut node.body) {
        match item {
            Stmt::Let { value, .. } if dropped.contains(&value) => {}
            Stmt::Let { value, .. } if sums.contains_key(&value) => {
                let (inside, terms) = &sums[&value];
                let (together, subtract) = total(function, terms, &mut out);
                let sign = if subtract { Binary::Sub } else { Binary::Add };
                out.push(Stmt::Let { value, op: Op::Binary(sign, *inside, together) });
            }
            item => out.push(item),
        }
    }
    node.body = out;
}

/// The terms added up, and whether the whole is to be subtracted.
fn total(function: &mut Function, terms: &[Term], out: &mut Block) -> (ValueId, bool) {
    let first = terms.iter().position(|term| !term.subtract);
    let subtract = first.is_none();
    let first = first.unwrap_or(0);
    let mut sum = terms[first].value;
    for (at, term) in terms.iter().enumerate() {
        if at == first {
            continue;
        }
        let sign = if term.subtract == subtract { Binary::Add } else { Binary::Sub };
        let value = function.new_value_like(term.sum);
        out.push(Stmt::Let { value, op: Op::Binary(sign, sum, term.value) });
        sum = value;
    }
    (sum, subtract)
}
