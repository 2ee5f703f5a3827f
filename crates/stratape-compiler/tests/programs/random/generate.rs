//! The state of a program that is being written: its text, its variables, its loops.

use super::helper::Items;
use super::parameter::Parameter;
use super::{Config, Input, Program, Random};

/// Bound of what is used in further arithmetic.
pub(super) const TAME: f64 = 20.0;
/// Bound of variables that sums are collected in.
pub(super) const COLLECTED: f64 = 1e6;
/// How often statements may be run, all together; and where lists are long.
const WORK: usize = 2500;
const MORE_WORK: usize = 6000;

/// What a variable holds.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A float, never above the bound; a sum is collected in it where `collects`.
    Float { bound: f64, collects: bool },
    /// A `usize` of a closed interval.
    Int { from: usize, to: usize },
    /// An integer of another type.
    Signed { from: i64, to: i64 },
    /// A condition.
    Bool,
    /// An array of floats.
    Floats { len: usize, bound: f64, collects: bool },
    /// An array of arrays, tuples or structs of floats: what is written after its index, or how long its arrays are.
    Rows { len: usize, fields: Vec<String>, inner: usize, bound: f64, collects: bool },
    /// A struct of two floats.
    Point,
    /// An enum.
    Norm,
    /// An array of indices, each below a number.
    Indices { len: usize, below: usize },
    /// A closure of floats, its result never above the bound.
    Closure { arity: usize, bound: f64 },
}

/// How a variable may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// Not at all: it is borrowed.
    None,
    /// Read only.
    Read,
    /// Read and written.
    Write,
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) access: Access,
}

/// A loop around the statement being written.
#[derive(Clone, Debug)]
pub(super) struct Enclosing {
    pub(super) label: Option<String>,
    /// Whether `continue` still makes progress.
    pub(super) continues: bool,
    /// Whether `break` needs a value.
    pub(super) breaks_with_value: bool,
}

pub(super) struct Generator<'c> {
    pub(super) random: Random,
    pub(super) config: &'c Config,
    pub(super) variables: Vec<Variable>,
    pub(super) loops: Vec<Enclosing>,
    pub(super) returns_value: bool,
    /// How often the current block runs at most.
    pub(super) multiplicity: usize,
    pub(super) work: usize,
    /// What the module holds beside the program.
    pub(super) items: Items,
    names: usize,
    pub(super) text: String,
    pub(super) indent: usize,
}

/// The program of a seed.
pub(crate) fn generate(seed: u64, config: &Config) -> Program {
    let mut generator = Generator {
        random: Random::new(seed),
        config,
        variables: Vec::new(),
        loops: Vec::new(),
        returns_value: true,
        multiplicity: 1,
        work: 0,
        items: Items::default(),
        names: 0,
        text: String::new(),
        indent: 0,
    };
    let inputs = generator.signature();
    let statements = generator.random.within(config.statements.div_ceil(2), config.statements * 2);
    for _ in 0..statements {
        generator.statement(config.depth);
    }
    if generator.returns_value {
        let result = generator.summary();
        generator.line(&result);
    }
    generator.close("}");
    let source = format!("{}{}", generator.items.text(config.float), generator.text);
    Program { source, inputs }
}

impl Generator<'_> {
    /// The head of the function; its parameters become variables.
    fn signature(&mut self) -> Vec<Input> {
        let float = self.config.float;
        let n = self.length_of_array();
        let mut params: Vec<Parameter> = Vec::new();
        let mut add = |name: &str, kind: Kind, access, ty: String, input| {
            let variables = vec![Variable { name: name.to_owned(), kind, access }];
            params.push(Parameter { text: format!("{name}: {ty}"), input, variables });
        };
        let equal = self.config.extremes && self.random.chance(60);
        let more = if equal { 1 } else { 3 };
        let (x_len, y_len) = (n + self.random.below(more), n + self.random.below(more));
        let has_y = self.config.outputs && self.random.chance(60);
        let shared = Kind::Floats { len: x_len, bound: 2.0, collects: false };
        if self.random.chance(80) {
            let values = self.floats(x_len);
            add("x", shared, Access::Read, format!("&[{float}]"), Input::Shared(values));
        }
        if has_y {
            let collects = self.random.chance(60);
            let bound = if collects { COLLECTED } else { TAME };
            let kind = Kind::Floats { len: y_len, bound, collects };
            let input = Input::Exclusive(self.floats(y_len));
            add("y", kind, Access::Write, format!("&mut [{float}]"), input);
        }
        for name in ["a", "b"] {
            if self.random.chance(60) || (name == "b" && !has_y) {
                let kind = Kind::Float { bound: 2.0, collects: false };
                let input = Input::Float(self.floats(1)[0]);
                add(name, kind, Access::Read, float.to_owned(), input);
            }
        }
        if self.config.indirect && self.random.chance(50) {
            let below = x_len.min(y_len);
            let len = if below == 0 { 0 } else { n + self.random.below(2) };
            let indices = (0..len).map(|_| self.random.below(below)).collect();
            let kind = Kind::Indices { len, below };
            add("k", kind, Access::Read, "&[usize]".to_owned(), Input::Indices(indices));
        }
        if self.random.chance(70) {
            let kind = Kind::Int { from: n, to: n };
            add("n", kind, Access::Read, "usize".to_owned(), Input::Int(n as i64));
        }
        if self.config.parameters {
            for i in 0..self.random.below(4) {
                params.push(self.parameter(&format!("r{i}")));
            }
        }
        for i in (1..params.len()).rev() {
            let j = self.random.below(i + 1);
            params.swap(i, j);
        }
        self.returns_value = !has_y || self.random.chance(60);
        let list: Vec<_> = params.iter().map(|param| param.text.clone()).collect();
        let result = if self.returns_value { format!(" -> {float}") } else { String::new() };
        let public = if self.config.modules { "pub " } else { "" };
        self.open(&format!("{public}fn program({}){result} {{", list.join(", ")));
        let mut inputs = Vec::new();
        for param in params {
            self.variables.extend(param.variables);
            inputs.push(param.input);
        }
        inputs
    }

    /// A name that is not used yet.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    pub(super) fn reopen(&mut self, text: &str) {
        self.close(text);
        self.indent += 1;
    }

    pub(super) fn declare(&mut self, name: &str, kind: Kind, access: Access) {
        self.variables.push(Variable { name: name.to_owned(), kind, access });
    }

    /// Whether a block that runs `trips` times as often as this one may be written.
    pub(super) fn affords(&self, trips: usize) -> bool {
        let (most, work) = if self.config.extremes { (300, MORE_WORK) } else { (80, WORK) };
        self.multiplicity * trips <= most && self.work + self.multiplicity * trips * 4 <= work
    }

    /// Variables that are not shadowed and may be used so.
    pub(super) fn visible(&self, access: Access) -> Vec<&Variable> {
        let mut seen: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for variable in self.variables.iter().rev() {
            if seen.contains(&variable.name.as_str()) {
                continue;
            }
            seen.push(&variable.name);
            if variable.access >= access {
                found.push(variable);
            }
        }
        found
    }

    /// One of the visible variables for which `choose` gives something.
    pub(super) fn choose<T: Clone>(
        &mut self,
        access: Access,
        choose: impl Fn(&Variable) -> Option<T>,
    ) -> Option<T> {
        let found: Vec<T> = self.visible(access).into_iter().filter_map(choose).collect();
        if found.is_empty() { None } else { Some(self.random.pick(&found).clone()) }
    }

    /// Name, length, bound and whether sums are collected, of an array of floats that is not empty.
    pub(super) fn array(&mut self, access: Access) -> Option<(String, usize, f64, bool)> {
        self.array_of(access, 1)
    }

    /// The same of an array that has so many elements at least.
    pub(super) fn array_of(
        &mut self,
        access: Access,
        least: usize,
    ) -> Option<(String, usize, f64, bool)> {
        self.choose(access, |variable| match variable.kind {
            Kind::Floats { len, bound, collects } if len >= least => {
                Some((variable.name.clone(), len, bound, collects))
            }
            _ => None,
        })
    }

    /// Name, bound and whether sums are collected, of a float.
    pub(super) fn scalar(&mut self, access: Access) -> Option<(String, f64, bool)> {
        self.choose(access, |variable| match variable.kind {
            Kind::Float { bound, collects } => Some((variable.name.clone(), bound, collects)),
            _ => None,
        })
    }

    /// Name and interval of an integer.
    pub(super) fn integer(&mut self) -> Option<(String, usize, usize)> {
        self.choose(Access::Read, |variable| match variable.kind {
            Kind::Int { from, to } => Some((variable.name.clone(), from, to)),
            _ => None,
        })
    }
}
