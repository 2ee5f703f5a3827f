//! Whether memory still holds, at the end of the function, what a load has read.

use std::collections::{HashMap, HashSet};

use super::Definitions;
use crate::ir::{Block, Function, Node, ObjectId, Op, Place, ValueId};

/// Loads whose memory may be written after them.
#[derive(Clone, Debug, Default)]
pub struct Clobbers {
    loads: HashSet<ValueId>,
}

struct Access {
    value: Option<ValueId>,
    place: Place,
    /// Position in the order of the program.
    at: usize,
    /// The loops around it, outermost first, by their counters.
    loops: Vec<ValueId>,
}

impl Clobbers {
    /// Finds them.
    pub fn new(function: &Function, definitions: &Definitions) -> Self {
        let mut finder = Finder::default();
        finder.block(&function.body, &mut Vec::new());
        let _ = definitions;
        let mut loads = HashSet::new();
        for (object, reads) in &finder.reads {
            let Some(writes) = finder.writes.get(object) else { continue };
            for read in reads {
                if writes.iter().any(|write| may_overwrite(read, write)) {
                    loads.extend(read.value);
                }
            }
        }
        Self { loads }
    }

    /// Whether what a load has read may be gone at the end.
    pub fn load(&self, value: ValueId) -> bool {
        self.loads.contains(&value)
    }
}

fn may_overwrite(read: &Access, write: &Access) -> bool {
    if write.at > read.at {
        return true;
    }
    // An earlier write comes again after the read only in a later iteration of a loop around both.
    write.loops.first().is_some_and(|outer| read.loops.first() == Some(outer))
}

#[derive(Default)]
struct Finder {
    reads: HashMap<ObjectId, Vec<Access>>,
    writes: HashMap<ObjectId, Vec<Access>>,
    at: usize,
}

impl Finder {
    fn block(&mut self, block: &Block, loops: &mut Vec<ValueId>) {
        for node in block {
            self.at += 1;
            let at = self.at;
            if let Node::Let { value, op: Op::Load(place) } = node {
                let access = Access { value: Some(*value), place: place.clone(), at, loops: loops.clone() };
                self.reads.entry(place.object).or_default().push(access);
            }
            if let Some(place) = node.written() {
                let access = Access { value: None, place: place.clone(), at, loops: loops.clone() };
                self.writes.entry(place.object).or_default().push(access);
            }
            if let Node::Loop(node) = node {
                loops.push(node.counter);
                self.block(&node.body, loops);
                loops.pop();
            } else {
                for inner in node.blocks() {
                    self.block(inner, loops);
                }
            }
        }
    }
}
