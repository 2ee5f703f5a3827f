//! Closures and iterators.

use super::expression::Float;
use super::generate::{Access, Generator, Kind, TAME};

impl Generator<'_> {
    /// `let f = |u: f64| …;` Its body reads only what nobody writes while it lives.
    pub(super) fn let_closure(&mut self) {
        let outside = self.variables.clone();
        for variable in &mut self.variables {
            if variable.access == Access::Write {
                variable.access = Access::None;
            }
        }
        let arity = self.random.within(1, 2);
        let ty = self.config.float;
        let params: Vec<_> = (0..arity).map(|_| self.fresh("u")).collect();
        for param in &params {
            self.declare(param, Kind::Float { bound: TAME, collects: false }, Access::Read);
        }
        let body = self.float(3);
        let list: Vec<_> = params.iter().map(|param| format!("{param}: {ty}")).collect();
        self.variables = outside;
        let name = self.fresh("f");
        if self.random.chance(30) {
            let block = format!("{{ let s = {} * 0.5; s + {} }}", params[0], body.operand());
            self.line(&format!("let {name} = |{}| {block};", list.join(", ")));
        } else {
            self.line(&format!("let {name} = |{}| {};", list.join(", "), body.typed(ty)));
        }
        let kind = Kind::Closure { arity, bound: body.bound + TAME };
        self.declare(&name, kind, Access::Read);
    }

    /// The call of a closure, or something of an iterator.
    pub(super) fn higher(&mut self, depth: usize) -> Float {
        let closure = self.choose(Access::Read, |variable| match variable.kind {
            Kind::Closure { arity, bound } => Some((variable.name.clone(), arity, bound)),
            _ => None,
        });
        let called = self.random.chance(60);
        if let Some((name, arity, bound)) = closure
            && called
        {
            let args: Vec<_> = (0..arity).map(|_| self.float(depth - 1).text).collect();
            return Float::atom(format!("{name}({})", args.join(", ")), bound);
        }
        let array = if self.config.iterators { self.array(Access::Read) } else { None };
        match array {
            Some((name, len, bound, _)) => self.iterated(&name, len as f64, bound),
            None => self.float(depth - 1),
        }
    }

    fn iterated(&mut self, name: &str, len: f64, bound: f64) -> Float {
        let ty = self.config.float;
        let sum = format!(".sum::<{ty}>()");
        let (text, most) = match self.random.below(12) {
            0 => (format!("{name}.iter().map(|v| v * v){sum}"), len * bound * bound),
            1 => (format!("{name}.iter().map(|v| v.sin()){sum}"), len),
            2 => (format!("{name}.iter().map(|&v| v.tanh() * 2.0){sum}"), len * 2.0),
            3 => (format!("{name}.iter(){sum}"), len * bound),
            4 => (
                format!("{name}.iter().enumerate().map(|(i, v)| v * (i as {ty})){sum}"),
                len * len * bound,
            ),
            5 => {
                let other = self.array(Access::Read);
                let (other, _, more, _) = other.unwrap_or((name.to_owned(), 0, bound, false));
                (
                    format!("{name}.iter().zip({other}.iter()).map(|(p, q)| p * q){sum}"),
                    len * bound * more,
                )
            }
            6 => (format!("{name}.iter().rev().fold(0.0_{ty}, |s, v| s * 0.5 + v)"), 2.0 * bound),
            7 => (format!("{name}.iter().map(|v| v.cos()).product::<{ty}>()"), 1.0),
            8 => (format!("{name}.iter().skip(1).map(|v| v * 0.5){sum}"), len * bound),
            9 => (format!("{name}.iter().take(2).map(|v| v.atan()){sum}"), 3.2),
            10 => (format!("{name}.windows(2).map(|w| w[1] - w[0] * 0.5){sum}"), len * bound * 2.0),
            _ => (
                format!("(0..{name}.len()).map(|i| {name}[i].sin() * (i as {ty})){sum}"),
                len * len,
            ),
        };
        Float::atom(text, most)
    }

    /// `for` over the elements of an array, to read or to write them.
    pub(super) fn for_iterator(&mut self, depth: usize) {
        let written = self.random.chance(50);
        let access = if written { Access::Write } else { Access::Read };
        let Some((name, len, bound, collects)) = self.array(access) else {
            return self.branch_or_line(depth);
        };
        if !self.affords(len) {
            return self.branch_or_line(depth);
        }
        let mark = self.variables.len();
        let item = self.fresh("e");
        let counter = self.fresh("i");
        let other = self.array(Access::Read).filter(|(other, ..)| *other != name);
        let method = if written { "iter_mut" } else { "iter" };
        let element = format!("(*{item})");
        let index = Kind::Int { from: 0, to: len - 1 };
        match (self.random.below(4), other) {
            (0, Some((other, other_len, more, _))) => {
                let second = self.fresh("e");
                self.open(&format!(
                    "for ({item}, {second}) in {name}.{method}().zip({other}.iter()) {{"
                ));
                debug_assert!(other_len > 0);
                let kind = Kind::Float { bound: more, collects: false };
                self.lock(&other, Access::Read);
                self.declare(&format!("(*{second})"), kind, Access::Read);
            }
            (1, _) => {
                self.open(&format!("for ({counter}, {item}) in {name}.{method}().enumerate() {{"));
                self.declare(&counter, index, Access::Read);
            }
            (2, _) => self.open(&format!("for {item} in {name}.{method}().rev() {{")),
            _ => self.open(&format!("for {item} in {name}.{method}() {{")),
        }
        // The array stays borrowed while the loop runs.
        self.lock(&name, if written { Access::None } else { Access::Read });
        self.declare(&element, Kind::Float { bound, collects }, access);
        self.loops.push(super::generate::Enclosing {
            label: None,
            continues: true,
            breaks_with_value: false,
        });
        self.body(depth - 1, len);
        self.loops.pop();
        self.close("}");
        self.variables.truncate(mark);
    }

    /// Shadows a variable by one that can do less.
    fn lock(&mut self, name: &str, access: Access) {
        let found = self.variables.iter().rev().find(|variable| variable.name == name).cloned();
        if let Some(mut variable) = found {
            variable.access = variable.access.min(access);
            self.variables.push(variable);
        }
    }

    fn branch_or_line(&mut self, depth: usize) {
        self.statement(depth - 1);
    }
}
