//! Expressions: floats with their bounds, indices with their intervals, conditions.

use super::generate::{Access, Generator, Kind, TAME};

/// A float expression.
#[derive(Clone, Debug)]
pub(super) struct Float {
    pub(super) text: String,
    /// Its absolute value is never above.
    pub(super) bound: f64,
    /// Whether it can be an operand or a receiver without parentheses.
    atom: bool,
    /// A literal has no type of its own, and no methods.
    literal: bool,
}

impl Float {
    pub(super) fn atom(text: impl Into<String>, bound: f64) -> Self {
        Self { text: text.into(), bound, atom: true, literal: false }
    }

    pub(super) fn compound(text: String, bound: f64) -> Self {
        Self { text, bound, atom: false, literal: false }
    }

    /// The text as an operand.
    pub(super) fn operand(&self) -> String {
        if self.atom { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The text where the type must be known.
    pub(super) fn typed(&self, float: &str) -> String {
        if self.literal { format!("{}_{float}", self.text) } else { self.text.clone() }
    }

    /// The text as the receiver of a method.
    pub(super) fn receiver(&self, float: &str) -> String {
        if self.literal { self.typed(float) } else { self.operand() }
    }
}

impl Generator<'_> {
    /// A float that is never above [`TAME`].
    pub(super) fn float(&mut self, depth: usize) -> Float {
        let float = self.wild(depth);
        if float.bound <= TAME { float } else { self.tamed(&float) }
    }

    /// A float that is never above a bound of one or more.
    pub(super) fn float_below(&mut self, depth: usize, bound: f64) -> Float {
        let float = self.wild(depth);
        if float.bound <= bound { float } else { self.tamed(&float) }
    }

    /// Something of an expression that is never above one.
    fn tamed(&mut self, float: &Float) -> Float {
        let receiver = float.receiver(self.config.float);
        match self.random.below(5) {
            0 => Float::atom(format!("{receiver}.sin()"), 1.0),
            1 => Float::atom(format!("{receiver}.cos()"), 1.0),
            2 => Float::atom(format!("{receiver}.tanh()"), 1.0),
            3 => Float::compound(format!("{receiver}.atan() * 0.5"), 1.0),
            _ => {
                let ty = self.config.float;
                Float::compound(
                    format!("{{ let t: {ty} = {}; t / (1.0 + t * t) }}", float.text),
                    0.5,
                )
            }
        }
    }

    pub(super) fn literal(&mut self) -> Float {
        let (text, bound) = *self.random.pick(&[
            ("0.25", 0.25),
            ("0.5", 0.5),
            ("0.7", 0.7),
            ("1.25", 1.25),
            ("1.5", 1.5),
            ("2.0", 2.0),
            ("0.1", 0.1),
            ("1e-1", 0.1),
            ("3.0", 3.0),
            ("1.0", 1.0),
        ]);
        Float { text: text.to_owned(), bound, atom: true, literal: true }
    }

    fn leaf(&mut self) -> Float {
        let choice = self.random.below(10);
        let float = self.config.float;
        let found = match choice {
            0..=3 => self.scalar(Access::Read).map(|(name, bound, _)| Float::atom(name, bound)),
            4..=7 => self.element(Access::Read).map(|(text, bound, _)| Float::atom(text, bound)),
            8 => self
                .integer()
                .map(|(name, _, to)| Float::atom(format!("({name} as {float})"), to as f64)),
            _ => None,
        };
        found.unwrap_or_else(|| self.literal())
    }

    fn wild(&mut self, depth: usize) -> Float {
        if depth == 0 {
            return self.leaf();
        }
        if self.config.library && self.random.chance(6) {
            return self.library_float(depth);
        }
        if self.config.modules && self.random.chance(6) {
            return self.called(depth);
        }
        match self.random.below(if self.config.rough { 13 } else { 11 }) {
            0 => self.leaf(),
            1..=4 => self.arithmetic(depth),
            5..=7 => self.smooth(depth),
            8 if self.config.branches => self.choice(depth),
            9 if self.config.closures || self.config.iterators => self.higher(depth),
            10 => {
                let (first, second) = (self.float(depth - 1), self.float(depth - 1));
                let ty = self.config.float;
                Float::compound(
                    format!("{{ let t: {ty} = {}; t * {} }}", first.text, second.operand()),
                    first.bound * second.bound,
                )
            }
            8..=9 => self.arithmetic(depth),
            _ => self.rough(depth),
        }
    }

    fn arithmetic(&mut self, depth: usize) -> Float {
        let (a, mut b) = (self.float(depth - 1), self.float(depth - 1));
        if a.literal && b.literal {
            b.text = b.typed(self.config.float);
            b.literal = false;
        }
        let (left, right) = (a.operand(), b.operand());
        match self.random.below(7) {
            0..=1 => Float::compound(format!("{left} + {right}"), a.bound + b.bound),
            2 => Float::compound(format!("{left} - {right}"), a.bound + b.bound),
            3..=4 => Float::compound(format!("{left} * {right}"), a.bound * b.bound),
            5 => Float::compound(format!("{left} / (1.0 + {right} * {right})"), a.bound),
            _ => Float::compound(format!("-{}", a.receiver(self.config.float)), a.bound),
        }
    }

    /// A function that is smooth, its argument shifted to where it is defined.
    fn smooth(&mut self, depth: usize) -> Float {
        let ty = self.config.float;
        let a = self.float(depth - 1);
        let (x, operand, bound) = (a.receiver(ty), a.operand(), a.bound);
        let positive = format!("({operand} * {operand} + 0.5)");
        // A square of two literals alone would have no type.
        let positive = if a.literal { format!("({x} * {x} + 0.5)") } else { positive };
        let square = bound * bound + 0.5;
        match self.random.below(26) {
            0..=1 => Float::atom(format!("{x}.sin()"), 1.0),
            2 => Float::atom(format!("{x}.cos()"), 1.0),
            3 => Float::atom(format!("{x}.tanh()"), 1.0),
            4 => Float::atom(format!("{x}.atan()"), 1.6),
            5 => Float::atom(format!("{positive}.sqrt()"), bound + 1.0),
            6 => Float::atom(format!("{positive}.ln()"), square.ln().abs() + 0.7),
            7 => Float::atom(format!("{positive}.cbrt()"), square.cbrt()),
            8 => Float::atom(format!("{x}.tanh().exp()"), 2.8),
            9 => Float::atom(format!("{x}.sin().exp2()"), 2.0),
            10 => Float::atom(format!("{x}.cos().exp_m1()"), 2.0),
            11 => Float::atom(format!("{positive}.ln_1p()"), square + 1.0),
            12 => Float::atom(format!("{positive}.log2()"), square.log2().abs() + 1.0),
            13 => Float::atom(format!("{positive}.log10()"), square.log10().abs() + 1.0),
            14 => Float::atom(format!("{x}.powi(2)"), bound * bound),
            15 => Float::atom(format!("{x}.powi(3)"), bound * bound * bound),
            16 => Float::atom(format!("{positive}.powf(1.5)"), square.powf(1.5)),
            17 => {
                let b = self.float_below(depth - 1, 1.0);
                let most = square.max(2.0).powf(b.bound);
                Float::atom(format!("{positive}.powf({})", b.text), most)
            }
            18 => {
                let b = self.float(depth - 1);
                Float::atom(format!("{x}.hypot({})", b.text), bound + b.bound)
            }
            19 => {
                let b = self.float(depth - 1);
                let (receiver, b) = (b.receiver(ty), b.operand());
                Float::atom(format!("{x}.atan2(1.5 + {receiver} * {b})"), 3.2)
            }
            20 => {
                let (b, c) = (self.float(depth - 1), self.float(depth - 1));
                let text = format!("{x}.mul_add({}, {})", b.text, c.text);
                Float::atom(text, bound * b.bound + c.bound)
            }
            21 => Float::atom(format!("{positive}.recip()"), 2.0),
            22 => Float::atom(format!("{x}.sin().sinh()"), 1.2),
            23 => Float::atom(format!("({x}.tanh() * 0.9).asin()"), 1.2),
            24 => Float::atom(format!("({x}.sin() * 0.9).atanh()"), 1.5),
            _ => Float::atom(format!("{x}.asinh()"), bound),
        }
    }

    /// A function with kinks or jumps.
    fn rough(&mut self, depth: usize) -> Float {
        let ty = self.config.float;
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        let (x, y, larger) = (a.receiver(ty), &b.text, a.bound.max(b.bound));
        match self.random.below(13) {
            0..=1 => Float::atom(format!("{x}.abs()"), a.bound),
            2..=3 => Float::atom(format!("{x}.max({y})"), larger),
            4..=5 => Float::atom(format!("{x}.min({y})"), larger),
            6 => Float::atom(format!("{x}.clamp(-1.0, 1.5)"), 1.5),
            7 => Float::atom(format!("{x}.fract()"), 1.0),
            8 => Float::compound(format!("{x} % 1.5"), 1.5),
            9 => Float::atom(format!("{x}.rem_euclid(2.0)"), 2.0),
            10 => Float::atom(format!("{x}.copysign({y})"), a.bound),
            11 => Float::atom(format!("{x}.signum()"), 1.0),
            _ => {
                let method = *self.random.pick(&["floor", "ceil", "round", "trunc"]);
                Float::atom(format!("{x}.{method}()"), a.bound + 1.0)
            }
        }
    }

    /// `if` or `match` as an expression.
    fn choice(&mut self, depth: usize) -> Float {
        let ty = self.config.float;
        let (a, b, c) = (self.float(depth - 1), self.float(depth - 1), self.float(depth - 1));
        let bound = a.bound.max(b.bound).max(c.bound);
        let (a, b, c) = (a.typed(ty), b.text, c.text);
        let integer = if self.config.matches { self.integer() } else { None };
        let text = match (self.random.below(4), integer) {
            (0..=1, Some((name, ..))) => {
                format!("match {name} % 3 {{ 0 => {a}, 1 => {b}, _ => {c} }}")
            }
            (2, Some((name, ..))) if self.config.library => {
                if self.random.chance(50) {
                    format!("match {name} {{ m if m > 2 => {a}, 0 | 1 => {b}, _ => {c} }}")
                } else {
                    format!("match {name} % 2 == 0 {{ true => {a}, false => {b} }}")
                }
            }
            (2, _) => {
                let (first, second) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("if {first} {{ {a} }} else if {second} {{ {b} }} else {{ {c} }}")
            }
            _ => format!("if {} {{ {a} }} else {{ {b} }}", self.condition(depth - 1)),
        };
        Float::compound(text, bound)
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        let integer = self.integer();
        let bool = self.choose(Access::Read, |variable| match variable.kind {
            Kind::Bool => Some(variable.name.clone()),
            _ => None,
        });
        match (self.random.below(10), integer, bool) {
            (0..=2, Some((name, from, to)), _) => {
                let sign = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                match self.random.below(if self.config.library { 5 } else { 3 }) {
                    3 => format!("{name} & 1 == {}", self.random.below(2)),
                    4 => format!("{name} >> 1 == {}", self.random.below(2)),
                    0 => format!("{name} % 2 == {}", self.random.below(2)),
                    1 => format!("{name} {sign} {}", self.random.within(from, to)),
                    _ => format!("{name} * {name} {sign} {}", self.random.within(from, to)),
                }
            }
            (3, _, Some(name)) => {
                if self.random.chance(50) {
                    format!("!{name}")
                } else {
                    name
                }
            }
            (4..=5, ..) if depth > 0 => {
                let sign = *self.random.pick(&["&&", "||"]);
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("({a}) {sign} ({b})")
            }
            _ => {
                let sign = *self.random.pick(&["<", "<=", ">", ">="]);
                let (a, b) = (self.float(depth.min(1)), self.float(depth.min(1)));
                format!("{} {sign} {}", a.operand(), b.operand())
            }
        }
    }

    /// An element of an array of floats; its bound, and whether sums are collected.
    pub(super) fn element(&mut self, access: Access) -> Option<(String, f64, bool)> {
        if self.random.chance(25)
            && let Some(found) = self.element_of_rows(access)
        {
            return Some(found);
        }
        let (name, len, bound, collects) = self.array(access)?;
        // A vector that is indexed to be written cannot be asked for its length inside the index.
        let index = self.index(len, (access == Access::Read).then_some(&name));
        Some((format!("{name}[{index}]"), bound, collects))
    }

    /// A float in an array of arrays, tuples or structs.
    fn element_of_rows(&mut self, access: Access) -> Option<(String, f64, bool)> {
        let (name, len, fields, inner, bound, collects) =
            self.choose(access, |variable| match &variable.kind {
                Kind::Rows { len, fields, inner, bound, collects } if *len > 0 => {
                    Some((variable.name.clone(), *len, fields.clone(), *inner, *bound, *collects))
                }
                _ => None,
            })?;
        let row = self.index(len, None);
        let field = if fields.is_empty() {
            format!("[{}]", self.index(inner, None))
        } else {
            self.random.pick(&fields).clone()
        };
        Some((format!("{name}[{row}]{field}"), bound, collects))
    }

    /// An index below a length; `of` is the array it is for.
    pub(super) fn index(&mut self, len: usize, of: Option<&str>) -> String {
        if self.random.chance(15) {
            return self.random.below(len).to_string();
        }
        if self.random.chance(25)
            && let Some(text) = self.indirect(len)
        {
            return text;
        }
        let Some((name, from, to)) = self.integer() else {
            return self.random.below(len).to_string();
        };
        let mut forms = vec![format!("{name} % {len}")];
        if to < len {
            for _ in 0..4 {
                forms.push(name.clone());
            }
            forms.push(format!("{} - {name}", len - 1));
            if let Some(of) = of {
                forms.push(format!("{of}.len() - 1 - {name}"));
            }
        }
        for shift in 1..=2 {
            if to + shift < len {
                forms.push(format!("{name} + {shift}"));
            }
            if from >= shift && to - shift < len {
                forms.push(format!("{name} - {shift}"));
                forms.push(format!("{name} - {shift}"));
            }
        }
        if to * 2 < len {
            forms.push(format!("{name} * 2"));
            forms.push(format!("2 * {name}"));
        }
        if to / 2 < len {
            forms.push(format!("{name} / 2"));
        }
        self.random.pick(&forms).clone()
    }

    /// An index that is read from memory.
    fn indirect(&mut self, below: usize) -> Option<String> {
        let (name, len, most) = self.choose(Access::Read, |variable| match variable.kind {
            Kind::Indices { len, below } if len > 0 => Some((variable.name.clone(), len, below)),
            _ => None,
        })?;
        // The inner index is direct, so that the text stays readable.
        let inner = match self.integer() {
            Some((name, _, to)) if to < len => name,
            Some((name, ..)) => format!("{name} % {len}"),
            None => self.random.below(len).to_string(),
        };
        let text = format!("{name}[{inner}]");
        Some(if most <= below { text } else { format!("{text} % {below}") })
    }

    /// Something of every variable a result can depend on.
    pub(super) fn summary(&mut self) -> String {
        let mut parts = vec![self.float(2).operand()];
        let found: Vec<_> = self.visible(Access::Read).into_iter().cloned().collect();
        for variable in found {
            let part = match variable.kind {
                Kind::Float { .. } if self.random.chance(70) => variable.name,
                Kind::Floats { len, .. } if len > 0 && self.random.chance(70) => {
                    format!("{}[{}]", variable.name, self.random.below(len))
                }
                _ => continue,
            };
            parts.push(match self.random.below(3) {
                0 => format!("{part}.sin()"),
                1 => format!("{part} * 0.3"),
                _ => part,
            });
        }
        parts.join(" + ")
    }
}
