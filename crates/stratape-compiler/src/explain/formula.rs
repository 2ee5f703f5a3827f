//! Numbers of a function as they would be written in its source.

use crate::source::Sources;
use stratape_ir::analysis::{Affine, DefUse, Definition, Polynomial};
use stratape_ir::{Function, Loop, ObjectId, Op, Range, Step, ValueId};

/// A variable's name. `outline` adds a number to the names of the values it passes to a loop's body.
pub(super) fn plain_name(function: &Function, value: ValueId) -> Option<String> {
    let name = function.values[value.index()].name.as_deref()?;
    let plain = name.strip_suffix(&format!("_{}", value.index())).unwrap_or(name);
    Some(plain.to_owned())
}

/// An object's name, without the number that `outline` adds.
pub(super) fn object_name(function: &Function, object: ObjectId) -> String {
    let name = &function.objects[object.index()].name;
    match name.rsplit_once('_') {
        Some((plain, number))
            if !plain.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            plain.to_owned()
        }
        _ => name.clone(),
    }
}

/// Writes numbers.
pub(super) struct Formulas<'a> {
    function: &'a Function,
    definitions: &'a DefUse,
    affine: &'a Affine<'a>,
    sources: &'a Sources,
}

impl<'a> Formulas<'a> {
    pub(super) fn new(
        function: &'a Function,
        definitions: &'a DefUse,
        affine: &'a Affine<'a>,
        sources: &'a Sources,
    ) -> Self {
        Self { function, definitions, affine, sources }
    }

    /// A number, where all that it is made of has names.
    pub(super) fn number(&self, value: ValueId) -> Option<String> {
        self.affine.of(value).text(&|symbol| self.symbol(symbol, 8))
    }

    fn symbol(&self, value: ValueId, fuel: usize) -> Option<String> {
        if let Some(name) = plain_name(self.function, value) {
            return Some(name);
        }
        let Definition::Op(op) = self.definitions.of(value) else { return None };
        let inner = |value: ValueId| {
            if fuel == 0 { None } else { self.symbol(value, fuel - 1) }
        };
        match op {
            Op::Int(number) => Some(number.to_string()),
            Op::Const(tokens) => Some(tokens.to_string().replace(' ', "")),
            Op::Cast(a, _) => inner(*a),
            Op::Binary(sign, a, b) => {
                Some(format!("({} {} {})", inner(*a)?, sign.sign(), inner(*b)?))
            }
            Op::Method(name, args) => {
                let [first, rest @ ..] = &args[..] else { return None };
                let rest: Option<Vec<_>> = rest.iter().map(|value| inner(*value)).collect();
                Some(format!("{}.{name}({})", inner(*first)?, rest?.join(", ")))
            }
            Op::Len(place) => {
                let mut text = object_name(self.function, place.object);
                for step in &place.path {
                    match step {
                        Step::Index(index) => text = format!("{text}[{}]", inner(*index)?),
                        Step::Field(_) => return None,
                    }
                }
                Some(format!("{text}.len()"))
            }
            _ => None,
        }
    }

    /// Whether a value is written as it is: what stands in a slot that the other arm of a branch does not use.
    pub(super) fn is_literal(&self, value: ValueId) -> bool {
        self.definitions.op(value).is_some_and(Op::is_constant)
    }

    /// How often loops run at most, one inside the other, outermost first, as factors of a product; `facts` are at least 0.
    pub(super) fn trips(&self, around: &[&Loop], facts: &[Polynomial]) -> String {
        let mut text = String::new();
        let mut summing = false;
        for (depth, node) in around.iter().enumerate() {
            // A triangular loop: its outer one becomes a sum.
            let summed = around[depth + 1..].iter().any(|inner| self.mentions(inner, node.counter));
            let factor = match self.limit(node, facts) {
                Some(limit) => limit.to_string(),
                None => self.factor(node, summed),
            };
            if factor == "1" {
                continue;
            }
            let sign = match (text.is_empty(), summing) {
                (true, _) => "",
                (_, true) => " ",
                _ => " × ",
            };
            text = format!("{text}{sign}{factor}");
            summing = summed;
        }
        text
    }

    /// The most iterations that facts allow, if they say so in a number.
    fn limit(&self, node: &Loop, facts: &[Polynomial]) -> Option<i128> {
        let extent = self.affine.counted(node.counter)?.extent.as_ref()?;
        let limits = facts.iter().filter_map(|fact| fact.plus(extent).as_number());
        limits.min().filter(|limit| *limit > 0 && extent.as_number().is_none())
    }

    fn mentions(&self, node: &Loop, counter: ValueId) -> bool {
        let extent = self.affine.counted(node.counter).and_then(|counted| counted.extent.as_ref());
        extent.is_some_and(|extent| extent.symbols().any(|symbol| symbol == counter))
    }

    fn factor(&self, node: &Loop, summed: bool) -> String {
        let keyword =
            self.sources.span(node.span).source_text().unwrap_or_else(|| "loop".to_owned());
        let unknown = || format!("(iterations of the `{keyword}`)");
        let Range::UpTo { from, to } = node.range else { return unknown() };
        if summed {
            let bounds =
                (self.number(from), self.number(to), plain_name(self.function, node.counter));
            return match bounds {
                (Some(from), Some(to), Some(counter)) => format!("Σ({counter} in {from}..{to})"),
                _ => unknown(),
            };
        }
        let extent = self.affine.counted(node.counter).and_then(|counted| counted.extent.as_ref());
        if extent.and_then(Polynomial::as_number).is_some_and(|count| count < 0) {
            return "0".to_owned();
        }
        let text = extent.and_then(|extent| extent.text(&|symbol| self.symbol(symbol, 8)));
        match text {
            Some(text) if text.contains(" + ") || text.contains(" - ") => format!("({text})"),
            Some(text) => text.replace(" * ", " × "),
            None => unknown(),
        }
    }
}
