//! Random programs of the accepted language, as Rust source text, with inputs to run them on.
//!
//! A program is made from a seed and a [`Config`], always the same one. On its own inputs it never panics:
//! the lengths are known while it is written, every integer has an interval, and an index is
//! written only where its interval fits. Floats stay in sane ranges: every expression has
//! a bound, and where a bound would grow too large the expression is passed through a function that
//! tames it.

#![allow(dead_code, unused_imports, reason = "each test uses a part")]

pub(crate) mod build;
mod dense;
mod expression;
pub(crate) mod features;
mod forms;
mod generate;
mod helper;
mod idiom;
mod iterate;
pub(crate) mod judge;
mod library;
mod lists;
mod measure;
mod memory;
mod nest;
mod parameter;
pub(crate) mod rewrite;
pub(crate) mod shrink;
mod statement;
pub(crate) mod value;
mod variant;

pub(crate) use self::generate::generate;
pub(crate) use self::value::{Input, Passing, Value};

/// Which constructs a program may use.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// Statements in a block, about.
    pub(crate) statements: usize,
    /// How deep blocks may nest.
    pub(crate) depth: usize,
    /// `f64` or `f32`.
    pub(crate) float: &'static str,
    /// `for` over ranges.
    pub(crate) loops: bool,
    /// `while`, and `loop` with `break`.
    pub(crate) whiles: bool,
    /// `break`, `continue`, and those with labels.
    pub(crate) exits: bool,
    /// `break` with a value.
    pub(crate) break_values: bool,
    /// `return` on a condition.
    pub(crate) returns: bool,
    /// `if` as a statement and as an expression.
    pub(crate) branches: bool,
    /// `match` on integers.
    pub(crate) matches: bool,
    /// Local arrays and vectors.
    pub(crate) arrays: bool,
    /// A parameter `y: &mut [f64]`, updated in place.
    pub(crate) outputs: bool,
    /// A parameter `k: &[usize]` that holds indices.
    pub(crate) indirect: bool,
    /// Tuples in `let` and in assignments.
    pub(crate) tuples: bool,
    /// Functions with kinks and jumps: `abs`, `max`, `floor`, `%`, …
    pub(crate) rough: bool,
    /// Closures.
    pub(crate) closures: bool,
    /// Iterators over arrays.
    pub(crate) iterators: bool,
    /// How many statements of a hundred are loops as people write them: sums, recurrences, stencils, …
    pub(crate) idioms: usize,
    /// Parameters of every type.
    pub(crate) parameters: bool,
    /// Lengths from none to more than a block of lanes, and values where floats are special.
    pub(crate) extremes: bool,
    /// The library of slices, integers and checks.
    pub(crate) library: bool,
    /// Functions, structs, constants of a module around the program.
    pub(crate) modules: bool,
}

impl Config {
    /// Straight lines, assignments and smooth functions.
    pub(crate) fn straight() -> Self {
        Self {
            statements: 6,
            depth: 2,
            float: "f64",
            loops: false,
            whiles: false,
            exits: false,
            break_values: false,
            returns: false,
            branches: false,
            matches: false,
            arrays: false,
            outputs: false,
            indirect: false,
            tuples: false,
            rough: false,
            closures: false,
            iterators: false,
            idioms: 0,
            parameters: false,
            extremes: false,
            library: false,
            modules: false,
        }
    }

    /// Loops, branches and arrays as well.
    pub(crate) fn core() -> Self {
        Self { loops: true, branches: true, arrays: true, outputs: true, ..Self::straight() }
    }

    /// Every kind of control flow.
    pub(crate) fn control() -> Self {
        Self {
            depth: 3,
            whiles: true,
            exits: true,
            returns: true,
            matches: true,
            indirect: true,
            tuples: true,
            rough: true,
            ..Self::core()
        }
    }

    /// Everything.
    pub(crate) fn full() -> Self {
        Self { closures: true, iterators: true, ..Self::control() }
    }

    /// What people write: every construct, every type, and idioms among them.
    pub(crate) fn everyday() -> Self {
        Self {
            statements: 4,
            depth: 2,
            idioms: 15,
            parameters: true,
            extremes: true,
            library: true,
            modules: true,
            ..Self::full()
        }
    }

    /// A few loops and little else, so that passes that look for whole loops find them.
    pub(crate) fn loops() -> Self {
        Self { statements: 2, depth: 1, idioms: 80, extremes: true, ..Self::core() }
    }

    /// The same in single precision.
    pub(crate) fn single(self) -> Self {
        Self { float: "f32", ..self }
    }
}

/// A program and its inputs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The function `program`, and the items of its module if it has any.
    pub(crate) source: String,
    /// An argument for each parameter, in order.
    pub(crate) inputs: Vec<Input>,
}

/// splitmix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is above zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// A number of a closed range.
    pub(crate) fn within(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// True in so many cases of a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A float of a range.
    pub(crate) fn float(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
