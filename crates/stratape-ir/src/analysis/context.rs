//! The context of a statement: the loops and branches around it, and the facts that hold where it is executed.

use super::affine::Affine;
use crate::Polynomial;
use crate::{Block, Stmt, ValueId};

/// The loops and branches around a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    /// The loops, outermost first, by their counters.
    pub(super) loops: Vec<ValueId>,
    /// The conditions of the branches, and what they are there.
    pub(super) conditions: Vec<(ValueId, bool)>,
}

impl Around {
    /// The blocks inside a statement, each with its context.
    pub(super) fn blocks<'n>(&self, node: &'n Stmt) -> Vec<(Self, &'n Block)> {
        match node {
            Stmt::Loop(node) => {
                let mut inside = self.clone();
                inside.loops.push(node.counter);
                vec![(inside, &node.body)]
            }
            Stmt::If(node) => {
                let arm = |holds: bool| {
                    let mut inside = self.clone();
                    inside.conditions.push((node.condition, holds));
                    inside
                };
                vec![(arm(true), &node.then), (arm(false), &node.other)]
            }
            _ => Vec::new(),
        }
    }

    /// Polynomials that are at least 0 where the statement is executed: every loop around it runs, its branches are taken.
    pub(super) fn facts(&self, affine: &Affine<'_>) -> impl Iterator<Item = Polynomial> {
        let loops = self.loops.iter().filter_map(|counter| affine.runs(*counter));
        let branches =
            self.conditions.iter().filter_map(|(condition, holds)| affine.fact(*condition, *holds));
        loops.chain(branches)
    }
}
