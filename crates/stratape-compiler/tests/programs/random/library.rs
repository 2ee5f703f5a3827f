//! The library of slices, iterators, integers and floats; patterns; checks.

use super::expression::Float;
use super::generate::{Access, COLLECTED, Generator, Kind, TAME};

impl Generator<'_> {
    /// A statement that uses the library.
    pub(super) fn library(&mut self, depth: usize) {
        match self.random.below(17) {
            12 => self.checks(),
            13..=16 => (0..3).for_each(|_| self.form()),
            0..=2 => self.slices(),
            3..=4 => self.parts(depth),
            5..=6 => self.integers(),
            7 => self.checks(),
            8 => self.late(),
            9 => self.pattern(),
            10 => self.grid(),
            _ => self.collected(),
        }
    }

    /// A list that can be written, of any length.
    fn written_list(&mut self) -> Option<(String, usize, bool)> {
        let (name, len, _, collects) = self.array_of(Access::Write, 0)?;
        Some((name, len, collects))
    }

    fn slices(&mut self) {
        let Some((name, len, collects)) = self.written_list() else { return self.let_array() };
        let other = self.choose(Access::Read, |variable| match variable.kind {
            Kind::Floats { len: other, .. } if other >= len && variable.name != name => {
                Some(variable.name.clone())
            }
            _ => None,
        });
        // The value has a name, so that it may be made from the list that is borrowed then.
        let value = if collects { self.float(2) } else { self.float_below(2, 1.0) };
        let text = match (self.random.below(9), other) {
            (0, _) => format!("{name}.fill(value);"),
            (1, _) if len > 0 => {
                let (i, j) = (self.index(len, None), self.index(len, None));
                format!("{name}.swap({i}, {j});")
            }
            (2..=3, Some(other)) if collects => {
                format!("{name}[..{len}].copy_from_slice(&{other}[..{len}]);")
            }
            (4, Some(other)) if collects && len > 1 => {
                let cut = self.random.below(len);
                format!("{name}[{cut}..].copy_from_slice(&{other}[{cut}..{len}]);")
            }
            (5, _) => format!("{name}.iter_mut().for_each(|v| *v *= value.sin());"),
            (6, Some(other)) if collects => {
                format!("{name}.iter_mut().zip({other}.iter()).for_each(|(v, u)| *v += u * 0.5);")
            }
            (7, _) if len > 0 => {
                let cut = self.random.below(len);
                format!("let part = &mut {name}[{cut}..]; part[0] = value;")
            }
            _ => format!("if {name}.is_empty() {{ }} else {{ {name}[0] = value; }}"),
        };
        // Its own block: names in it hide nothing.
        let ty = self.config.float;
        self.line(&format!("{{ let value: {ty} = {}; {text} }}", value.text));
    }

    /// Loops over parts of lists.
    fn parts(&mut self, depth: usize) {
        let ty = self.config.float;
        let written = self.random.chance(40);
        let access = if written { Access::Write } else { Access::Read };
        let Some((name, len, ..)) = self.array_of(access, 0) else { return self.let_array() };
        if !self.affords(len.max(1)) {
            return self.assign_scalar();
        }
        self.work += self.multiplicity * len * 3;
        let sum = self.fresh("v");
        self.line(&format!("let mut {sum}: {ty} = 0.0;"));
        let size = self.random.within(1, 3);
        let last = size - 1;
        let factor = self.float_below(depth.min(1), 2.0).text;
        self.line(&format!("let factor: {ty} = {factor};"));
        let factor = "factor";
        let text = match (written, self.random.below(7)) {
            (false, 5) if name == "x" => format!("for v in x {{ {sum} += v * {factor}; }}"),
            (false, 6) if len > 1 => {
                let (from, to) = (self.random.below(len), len);
                format!(
                    "let c = &{name}[{from}..{to}]; for i in 1..c.len() {{ {sum} += c[i] * c[i - 1] * {factor}; }}"
                )
            }
            (false, 0) => {
                format!(
                    "for c in {name}.chunks_exact({size}) {{ {sum} += c[0] * c[{last}] * {factor}; }}"
                )
            }
            (false, 1) => {
                format!(
                    "for c in {name}.windows({size}) {{ {sum} += (c[0] - c[{last}] * {factor}).sin(); }}"
                )
            }
            (false, 2) => {
                let cut = self.random.below(len + 1);
                format!(
                    "let (l, r) = {name}.split_at({cut}); for i in 0..l.len().min(r.len()) {{ {sum} += l[i] * r[i] * {factor}; }}"
                )
            }
            (false, 3) => format!(
                "{name}.windows(2).for_each(|c| {sum} += c[0] * c[1]); for v in {name}.iter().rev().skip(1).step_by(2) {{ {sum} += v * {factor}; }}"
            ),
            (false, 4) => {
                format!(
                    "for (i, c) in {name}.chunks_exact({size}).enumerate() {{ {sum} += c[0] * (i as {ty}) * {factor}; }}"
                )
            }
            (false, _) => format!(
                "for (i, v) in {name}.iter().enumerate().skip(1) {{ if i % 2 == 1 {{ {sum} += v * {factor}; }} else {{ {sum} -= *v; }} }}"
            ),
            (true, 0..=1) => format!(
                "for c in {name}.chunks_exact_mut({size}) {{ {sum} += c[0]; c[0] = c[{last}] * 0.5 + {factor}; }}"
            ),
            (true, 2..=3) => {
                let cut = self.random.below(len + 1);
                format!(
                    "let (l, r) = {name}.split_at_mut({cut}); for i in 0..l.len().min(r.len()) {{ {sum} += r[i]; l[i] = r[i] * 0.5; r[i] = {sum}.sin(); }}"
                )
            }
            (true, 4) => format!(
                "let part = &mut {name}[{}..]; for v in part.iter_mut() {{ {sum} += *v; *v = {sum}.cos(); }}",
                self.random.below(len + 1)
            ),
            (true, _) => format!(
                "let half = {name}.len() / 2; for i in 0..half {{ {name}.swap(i, {name}.len() - 1 - i); {sum} += {name}[i]; }}"
            ),
        };
        let text = if text.contains(".swap(") {
            text.replace(&format!("{name}.len() - 1 - i"), &format!("{len} - 1 - i"))
        } else {
            text
        };
        self.line(&format!("{{ {text} }}"));
        self.declare(&sum, Kind::Float { bound: COLLECTED, collects: true }, Access::Write);
    }

    fn integers(&mut self) {
        let signed = self.choose(Access::Read, |variable| match variable.kind {
            Kind::Signed { from, to } => Some((variable.name.clone(), from, to)),
            _ => None,
        });
        let name = self.fresh("j");
        match (self.random.below(7), signed) {
            (0..=1, Some((other, from, to))) if from >= 0 => {
                let index = Kind::Int { from: from as usize + 1, to: to as usize + 1 };
                self.line(&format!("let {name}: usize = {other} as usize + 1;"));
                self.declare(&name, index, Access::Read);
            }
            (0..=2, Some((other, ..))) => {
                self.line(&format!(
                    "let {name} = ({other} as i64 * 3 - 2).rem_euclid(4) as usize;"
                ));
                self.declare(&name, Kind::Int { from: 0, to: 3 }, Access::Read);
            }
            (0..=2, None) => {
                let number = self.random.below(7) as i64 - 3;
                let ty = *self.random.pick(&["i32", "i64"]);
                self.line(&format!("let {name}: {ty} = {number};"));
                self.declare(&name, Kind::Signed { from: number, to: number }, Access::Read);
            }
            (3, _) => {
                let value = self.float_below(2, 5.0);
                self.line(&format!("let {name}: usize = ({} + 5.5) as usize;", value.operand()));
                self.declare(&name, Kind::Int { from: 0, to: 11 }, Access::Read);
            }
            (4, _) => {
                let value = self.float_below(2, 5.0);
                self.line(&format!("let {name}: u8 = ({} * 0.4 + 3.0) as u8;", value.operand()));
                self.declare(&name, Kind::Signed { from: 0, to: 255 }, Access::Read);
            }
            (5, _) => {
                let Some((other, ..)) = self.integer() else { return self.assign_scalar() };
                self.line(&format!("let {name} = ({other} + 3) * 2 / 3 % 5;"));
                self.declare(&name, Kind::Int { from: 0, to: 4 }, Access::Read);
            }
            _ => {
                let Some((other, ..)) = self.integer() else { return self.assign_scalar() };
                self.line(&format!("let {name} = {other}.saturating_sub(1).min(3);"));
                self.declare(&name, Kind::Int { from: 0, to: 3 }, Access::Read);
            }
        }
    }

    /// Checks that hold.
    fn checks(&mut self) {
        let list = self.array_of(Access::Read, 0);
        let number = self.integer();
        let value = self.float_below(1, 5.0);
        let text = match (self.random.below(6), list, number) {
            (0, _, Some((name, from, _))) => {
                format!("assert!({name} >= {from}, \"{{}} is too small\", {name});")
            }
            (1, Some((name, len, ..)), _) => format!("assert_eq!({name}.len(), {len});"),
            (2, ..) => format!("debug_assert!({} < 6.0);", value.operand()),
            (3, _, Some((name, _, to))) if to < 1000 => {
                format!("if {name} > {to} {{ panic!(\"{{}} is too large\", {name}); }}")
            }
            (4, _, Some((name, _, to))) if to < 1000 => {
                format!("if {name} > {to} {{ unreachable!(); }}")
            }
            _ => format!("assert!({} > -6.0);", value.operand()),
        };
        self.line(&text);
    }

    /// A variable that is set after it is declared.
    fn late(&mut self) {
        let ty = self.config.float;
        let name = self.fresh("v");
        let condition = self.condition(1);
        let (first, second) = (self.float(2), self.float(2));
        self.line(&format!("let {name}: {ty};"));
        self.line(&format!(
            "if {condition} {{ {name} = {}; }} else {{ {name} = {}; }}",
            first.text, second.text
        ));
        self.declare(&name, Kind::Float { bound: TAME, collects: false }, Access::Read);
    }

    fn pattern(&mut self) {
        let ty = self.config.float;
        let values = [(); 3].map(|()| self.float(2).typed(ty));
        let [p, q, r] = [self.fresh("p"), self.fresh("q"), self.fresh("q")];
        let [a, b, c] = values;
        match self.random.below(3) {
            0 => self.line(&format!("let ({p}, [{q}, {r}]) = ({a}, [{b}, {c}]);")),
            1 => self.line(&format!("let [{p}, {q}, {r}] = [{a}, {b}, {c}];")),
            _ => self.line(&format!("let (({p}, {q}), {r}) = (({a}, {b}), {c});")),
        }
        for name in [p, q, r] {
            let kind = Kind::Float { bound: TAME, collects: false };
            self.declare(&name, kind, Access::Read);
        }
    }

    /// A local array of arrays.
    fn grid(&mut self) {
        let ty = self.config.float;
        let (rows, columns) = (self.random.within(1, 4), self.random.within(1, 3));
        let name = self.fresh("g");
        let start = self.float(1).typed(ty);
        if self.random.chance(30) {
            self.line(&format!("let mut {name} = vec![[{start}; {columns}]; {rows}];"));
        } else {
            self.line(&format!("let mut {name} = [[{start}; {columns}]; {rows}];"));
        }
        let kind = Kind::Rows {
            len: rows,
            fields: Vec::new(),
            inner: columns,
            bound: COLLECTED,
            collects: true,
        };
        self.declare(&name, kind, Access::Write);
    }

    /// `collect`, `to_vec`, and parts of lists that are named.
    fn collected(&mut self) {
        let ty = self.config.float;
        let Some((name, len, bound, _)) = self.array_of(Access::Read, 0) else {
            return self.let_array();
        };
        if !self.affords(len.max(1)) {
            return self.assign_scalar();
        }
        self.work += self.multiplicity * len;
        let list = self.fresh("w");
        let (text, len, bound) = match self.random.below(5) {
            0 => {
                (format!("{name}.iter().map(|v| v * v - 0.5).collect()"), len, bound * bound + 0.5)
            }
            1 => (format!("{name}.iter().rev().copied().collect()"), len, bound),
            2 => (
                format!("{name}.iter().enumerate().map(|(i, v)| v.sin() * i as {ty}).collect()"),
                len,
                65.0,
            ),
            3 => (format!("(0..{name}.len()).map(|i| {name}[i].cos() * 2.0).collect()"), len, 2.0),
            _ => (format!("{name}.to_vec()"), len, bound),
        };
        let keyword = if self.random.chance(50) { "let" } else { "let mut" };
        let access = if keyword == "let" { Access::Read } else { Access::Write };
        self.line(&format!("{keyword} {list}: Vec<{ty}> = {text};"));
        let bound = if access == Access::Write { bound.max(COLLECTED) } else { bound };
        self.declare(&list, Kind::Floats { len, bound, collects: access == Access::Write }, access);
    }

    /// A float made by the library.
    pub(super) fn library_float(&mut self, depth: usize) -> Float {
        let ty = self.config.float;
        let list = self.array_of(Access::Read, 0);
        let a = self.float(depth - 1);
        let (x, small) = (a.receiver(ty), self.float_below(depth - 1, 2.0));
        match (self.random.below(22), list) {
            (0, _) => Float::compound(format!("{{ let (s, c) = {x}.sin_cos(); s * c + s }}"), 2.0),
            (1, Some((name, len, bound, _))) if len > 0 => Float::atom(
                format!("{name}.iter().copied().max_by(|v, w| v.total_cmp(w)).unwrap()"),
                bound,
            ),
            (2, Some((name, len, bound, _))) if len > 0 => Float::atom(
                format!("{name}.iter().copied().min_by(|v, w| v.total_cmp(w)).unwrap()"),
                bound,
            ),
            (3, Some((name, ..))) => Float::compound(
                format!("if {name}.iter().all(|v| *v > -0.5) {{ {} }} else {{ 0.5 }}", a.typed(ty)),
                a.bound.max(0.5),
            ),
            (4, Some((name, ..))) => Float::compound(
                format!("if {name}.iter().any(|v| *v > 0.5) {{ {} }} else {{ 0.25 }}", a.typed(ty)),
                a.bound.max(0.25),
            ),
            (5, Some((name, len, ..))) => Float::atom(
                format!("({name}.iter().filter(|v| **v > 0.0).count() as {ty})"),
                len as f64,
            ),
            (6, Some((name, len, bound, _))) => Float::atom(
                format!("{name}.iter().filter(|v| **v > 0.0).sum::<{ty}>()"),
                len as f64 * bound,
            ),
            (7, Some((name, _, bound, _))) => Float::atom(
                format!("{name}.first().copied().unwrap_or({})", small.text),
                bound.max(2.0),
            ),
            (8, Some((name, len, bound, _))) if len > 0 => {
                Float::atom(format!("(*{name}.last().unwrap())"), bound)
            }
            (9, Some((name, _, bound, _))) => Float::atom(
                format!("{name}.iter().rev().take(3).skip(1).step_by(2).copied().sum::<{ty}>()"),
                3.0 * bound,
            ),
            (10, Some((name, _, bound, _))) => {
                Float::atom(format!("{name}.iter().fold(0.0, |s, v| s * 0.5 + v)"), 2.0 * bound)
            }
            (11, Some((name, ..))) => {
                Float::atom(format!("{name}.iter().map(|v| v.sin()).product::<{ty}>()"), 1.0)
            }
            (12, Some((name, len, bound, _))) => Float::atom(
                format!("{name}.chunks_exact(2).map(|c| c[0] - c[1] * 0.5).sum::<{ty}>()"),
                len as f64 * bound,
            ),
            (13, Some((name, len, ..))) => {
                Float::atom(format!("({name}.len() as {ty})"), len as f64)
            }
            (14, _) => {
                let method = *self.random.pick(&["to_radians", "to_degrees"]);
                Float::atom(format!("{x}.{method}()"), a.bound * 60.0)
            }
            (15, _) if self.random.chance(40) => {
                Float::atom(format!("{ty}::sqrt({x} * {x} + 0.5)"), a.bound + 1.0)
            }
            (15, _) => {
                Float::atom(format!("{ty}::max({}, {})", a.text, small.text), a.bound.max(2.0))
            }
            (16, _) => {
                Float::atom(format!("{ty}::sin(std::{ty}::consts::PI * {})", a.operand()), 1.0)
            }
            (17, _) => Float::atom(format!("({x} * {x} + 1.0).log(3.0)"), a.bound.abs() + 1.0),
            (18, _) => {
                let other = if ty == "f64" && self.random.chance(20) { "f32" } else { ty };
                Float::atom(format!("(({} as {other}) as {ty})", a.operand()), a.bound)
            }
            (19, _) => Float::atom(format!("({x} * {x} + 1.5).acosh()"), a.bound + 2.0),
            (20, _) => Float::compound(
                format!("({x}.cos() * 0.9).acos() + {x}.sin().cosh() + ({x}.sin()).tan()"),
                8.0,
            ),
            _ => {
                let signed = self.choose(Access::Read, |variable| match variable.kind {
                    Kind::Signed { to, .. } => Some((variable.name.clone(), to)),
                    _ => None,
                });
                match signed {
                    Some((name, to)) => {
                        Float::atom(format!("({name} as {ty})"), (to.abs() as f64).max(255.0))
                    }
                    None => {
                        Float::atom(format!("(({} * 3.0) as i32 as {ty})", small.operand()), 6.0)
                    }
                }
            }
        }
    }
}
