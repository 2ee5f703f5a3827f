//! Local arrays, and statements that overwrite what they have read.

use super::generate::{Access, COLLECTED, Generator, Kind, TAME};

impl Generator<'_> {
    pub(super) fn let_array(&mut self) {
        let (keyword, access, bound, collects) = self.binding();
        let name = self.fresh("w");
        let ty = self.config.float;
        let len = match self.random.below(4) {
            0 => {
                let items: Vec<_> =
                    (0..self.random.within(2, 4)).map(|_| self.float(2).typed(ty)).collect();
                self.line(&format!("{keyword} {name} = [{}];", items.join(", ")));
                items.len()
            }
            1 => {
                let len = self.random.within(2, 6);
                let item = self.float(1).typed(ty);
                self.line(&format!("{keyword} {name} = [{item}; {len}];"));
                len
            }
            _ => {
                let ends = self.ends().into_iter();
                let known: Vec<_> = ends.filter(|(_, from, to)| from == to && *to > 1).collect();
                let (text, len, _) = self.random.pick(&known).clone();
                let item = self.float(1).typed(ty);
                self.line(&format!("{keyword} {name} = vec![{item}; {text}];"));
                len
            }
        };
        self.declare(&name, Kind::Floats { len, bound, collects }, access);
    }

    /// Elements of one array made from each other, and used as they are at that time: what
    /// was read is soon overwritten, by this iteration or by a later one.
    pub(super) fn recurrence(&mut self) {
        let Some((name, len, ..)) = self.array(Access::Write) else { return self.let_array() };
        let mut indices = [(); 3].map(|()| self.index(len, None));
        if len > 1 && self.random.chance(35) {
            // Neighbours, where a number that changes in its own way says where.
            let (at, index) = (self.fresh("j"), self.index(len - 1, None));
            self.line(&format!("let {at}: usize = {index};"));
            let ends = [format!("{at} + 1"), at.clone()];
            let first = self.random.below(2);
            (indices[0], indices[1]) = (ends[first].clone(), ends[1 - first].clone());
        }
        let [a, b, c] = indices.map(|index| format!("{name}[{index}]"));
        let sum = self.choose(Access::Write, |variable| match variable.kind {
            Kind::Float { collects: true, .. } => Some(variable.name.clone()),
            _ => None,
        });
        match (self.random.below(6), sum) {
            (0, Some(sum)) => {
                let value = self.float(2);
                self.line(&format!("{a} = {};", value.text));
                self.line(&format!("{sum} += {a}.sin() * {b}.tanh();"));
            }
            (1, Some(sum)) => {
                self.line(&format!("{sum} *= {a}.cos();"));
                self.line(&format!("{a} = ({b} * {sum}).sin();"));
            }
            (2, Some(sum)) => self.line(&format!("{sum} = {sum}.sin() * {a}.cos() + {b}.atan();")),
            (3, _) => self.line(&format!("{a} = {a}.sin() * {b}.cos() + {c}.tanh();")),
            (4, _) => {
                let t = self.fresh("t");
                self.line(&format!("let {t} = {a};"));
                self.line(&format!("{a} = ({b} * 0.7).cos();"));
                self.line(&format!("{b} = {t}.sin() * {a};"));
            }
            _ => self.line(&format!("{a} = ({b} * {c}).sin();")),
        }
    }

    /// A loop that writes an array first and reads it then, and nobody writes it after that: what
    /// was read is overwritten by later iterations only.
    pub(super) fn scratch(&mut self, depth: usize) {
        let Some((range, from, to, trips)) = self.range() else { return self.assign_element() };
        let ty = self.config.float;
        let (name, counter, sum) = (self.fresh("w"), self.fresh("i"), self.fresh("v"));
        let len = self.random.within(1, 4);
        self.line(&format!("let mut {name} = [0.5_{ty}; {len}];"));
        self.line(&format!("let mut {sum}: {ty} = 1.0;"));
        self.declare(&name, Kind::Floats { len, bound: TAME, collects: false }, Access::Read);
        self.declare(&sum, Kind::Float { bound: COLLECTED, collects: true }, Access::Write);
        let mark = self.variables.len();
        let label = self.enter(true, false);
        self.open(&format!("{label}for {counter} in {range} {{"));
        self.declare(&counter, Kind::Int { from, to }, Access::Read);
        for _ in 0..self.random.within(1, 2) {
            let (index, value) = (self.index(len, None), self.float(2));
            self.line(&format!("{name}[{index}] = {};", value.text));
        }
        if self.random.chance(50) {
            // In a block of its own, so that no name of it hides the sum.
            self.open("{");
            self.body(depth - 1, trips);
            self.close("}");
        }
        let index = self.index(len, None);
        match self.random.below(3) {
            0 => self.line(&format!("{sum} *= {name}[{index}].cos();")),
            1 => self.line(&format!("{sum} += {name}[{index}].sin();")),
            _ => self.line(&format!("{sum} = ({sum} * {name}[{index}]).sin();")),
        }
        self.close("}");
        self.loops.pop();
        self.variables.truncate(mark);
    }
}
