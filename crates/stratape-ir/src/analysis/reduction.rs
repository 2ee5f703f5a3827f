//! Reductions: values that a loop carries only to add to them.
//!
//! | question | for |
//! |---|---|
//! | [`is_sum`] | additions anywhere, in branches and inner loops too: a sum whose order is free may be split between iterations |
//! | [`ordered_terms`] | additions on every way through an iteration: the terms can be kept, and added in order later |
//! | [`only_term`] | one addition an iteration: the loop can run in blocks, or side by side with others |
//!
//! Whether the order is free is not asked here: it is for sums of adjoints, never for those of the primal.

use std::collections::{HashMap, HashSet};

use crate::{Binary, Block, Carried, Loop, Op, Range, Stmt, ValueId, walk};

/// One addition to a sum.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The sum after it.
    pub sum: ValueId,
    /// What is added.
    pub value: ValueId,
    /// Whether it is subtracted instead.
    pub subtract: bool,
}

/// The additions of an iteration to a carried sum, in order, if they are all that is done with it, on every way.
pub fn ordered_terms(node: &Loop, carried: &Carried) -> Option<Vec<Term>> {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    walk(&node.body, &mut |item| {
        item.for_each_operand(&mut |value| *uses.entry(value).or_default() += 1);
    });
    for other in &node.carried {
        *uses.entry(other.next).or_default() += 1;
    }
    let mut terms = Vec::new();
    let mut sum = carried.inside;
    for item in &node.body {
        let Stmt::Let { value, op: Op::Binary(sign, a, b) } = item else { continue };
        let (term, subtract) = match sign {
            Binary::Add if *a == sum => (*b, false),
            Binary::Add if *b == sum => (*a, false),
            Binary::Sub if *a == sum => (*b, true),
            _ => continue,
        };
        if uses.get(&sum) != Some(&1) || term == sum {
            return None;
        }
        terms.push(Term { sum: *value, value: term, subtract });
        sum = *value;
    }
    (sum == carried.next && uses.get(&sum) == Some(&1) && !terms.is_empty()).then_some(terms)
}

/// The addition of an iteration to a carried sum, if there is just one, and nothing else is done with the sum.
pub fn only_term(node: &Loop, carried: &Carried) -> Option<Term> {
    let [term] = ordered_terms(node, carried)?[..] else { return None };
    Some(term)
}

/// Whether a loop does nothing with a carried value but add to it, on any way.
pub fn is_sum(node: &Loop, carried: &Carried) -> bool {
    let mut sums = HashSet::from([carried.inside]);
    adds(&node.body, &mut sums).is_some()
        && node
            .carried
            .iter()
            .all(|other| sums.contains(&other.next) == (other.inside == carried.inside))
}

fn adds(block: &Block, sums: &mut HashSet<ValueId>) -> Option<()> {
    for node in block {
        match node {
            Stmt::Let { value, op: Op::Binary(sign @ (Binary::Add | Binary::Sub), a, b) } => {
                match (sums.contains(a), sums.contains(b)) {
                    (false, false) => {}
                    (true, false) => {
                        sums.insert(*value);
                    }
                    (false, true) if *sign == Binary::Add => {
                        sums.insert(*value);
                    }
                    _ => return None,
                }
            }
            Stmt::Loop(node) => inner_loop(node, sums)?,
            Stmt::If(node) => {
                adds(&node.then, sums)?;
                adds(&node.other, sums)?;
                if sums.contains(&node.condition) {
                    return None;
                }
                for merge in &node.merges {
                    match (sums.contains(&merge.then), sums.contains(&merge.other)) {
                        (false, false) => {}
                        (true, true) => {
                            sums.insert(merge.value);
                        }
                        _ => return None,
                    }
                }
            }
            node => {
                let mut used = false;
                node.for_each_operand(&mut |value| used |= sums.contains(&value));
                if used {
                    return None;
                }
            }
        }
    }
    Some(())
}

fn inner_loop(node: &Loop, sums: &mut HashSet<ValueId>) -> Option<()> {
    for carried in &node.carried {
        if sums.contains(&carried.init) {
            sums.insert(carried.inside);
        }
    }
    adds(&node.body, sums)?;
    for carried in &node.carried {
        if sums.contains(&carried.inside) != sums.contains(&carried.next) {
            return None;
        }
        if sums.contains(&carried.inside) {
            sums.insert(carried.after);
        }
    }
    let bounds = match node.range {
        Range::UpTo { from, to } => sums.contains(&from) || sums.contains(&to),
        Range::Forever => false,
    };
    (!bounds && node.exit.is_none_or(|exit| !sums.contains(&exit))).then_some(())
}
