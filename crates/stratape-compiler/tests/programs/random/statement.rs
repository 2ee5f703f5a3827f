//! Statements.

use super::generate::{Access, COLLECTED, Enclosing, Generator, Kind, TAME};

/// An end of a range: its text, and the interval it lies in.
pub(super) type End = (String, usize, usize);

impl Generator<'_> {
    /// Writes one statement; blocks in it nest no deeper than `depth`.
    pub(super) fn statement(&mut self, depth: usize) {
        self.work += self.multiplicity;
        let config = self.config;
        let nested = depth > 0;
        if self.random.chance(config.idioms) {
            return self.idiom();
        }
        if config.library && self.random.chance(15) {
            return self.library(depth);
        }
        if config.modules && self.random.chance(12) {
            return self.use_of_module(depth);
        }
        match self.random.below(51) {
            0..=4 => self.let_float(),
            5 if nested && config.branches => self.let_block(depth),
            6 => self.let_bool_or_integer(),
            7..=8 if config.arrays => self.let_array(),
            9 if config.tuples => self.tuple(),
            10..=14 => self.assign_scalar(),
            15..=20 => self.assign_element(),
            21 => self.swap(),
            22..=25 if nested && config.loops => self.for_loop(depth),
            26..=27 if nested && config.whiles => self.while_loop(depth),
            28..=30 if nested && config.branches => self.branch(depth),
            31 if nested && config.branches => self.guard(depth),
            32 if nested && config.matches => self.match_integer(depth),
            33..=35 if config.exits && !self.loops.is_empty() => self.exit(depth),
            36 if config.returns && (!self.loops.is_empty() || self.random.chance(30)) => {
                self.early_return();
            }
            37 if config.closures => self.let_closure(),
            38 if nested && config.iterators => self.for_iterator(depth),
            39 if nested => {
                self.open("{");
                self.body(depth - 1, 1);
                self.close("}");
            }
            40..=43 if config.arrays => self.recurrence(),
            44..=45 if nested && config.arrays && config.loops => self.scratch(depth),
            46..=48 if nested && config.arrays && config.loops => self.nest(),
            49..=50 if nested && config.arrays && config.loops => self.buffers(depth),
            _ => {
                if self.random.chance(50) {
                    self.assign_scalar();
                } else {
                    self.assign_element();
                }
            }
        }
    }

    /// The statements of an inner block that runs `trips` times as often as this one.
    pub(super) fn body(&mut self, depth: usize, trips: usize) {
        let mark = self.variables.len();
        let outside = self.multiplicity;
        self.multiplicity *= trips.max(1);
        let most = self.config.statements.div_ceil(2);
        for _ in 0..self.random.within(1, most) {
            self.statement(depth);
        }
        self.multiplicity = outside;
        self.variables.truncate(mark);
    }

    /// A name for a new float: one that is used already, or a new one.
    fn float_name(&mut self) -> String {
        if self.random.chance(25)
            && let Some((name, ..)) = self.scalar(Access::Read)
            && name.chars().all(char::is_alphanumeric)
        {
            return name;
        }
        self.fresh("v")
    }

    /// `let` or `let mut`, and what the new variable may hold.
    pub(super) fn binding(&mut self) -> (&'static str, Access, f64, bool) {
        match self.random.below(4) {
            0 => ("let", Access::Read, TAME, false),
            1 => ("let mut", Access::Write, TAME, false),
            _ => ("let mut", Access::Write, COLLECTED, true),
        }
    }

    fn let_float(&mut self) {
        let (keyword, access, bound, collects) = self.binding();
        let value = self.float(3);
        let name = self.float_name();
        let ty = self.config.float;
        if self.random.chance(30) {
            self.line(&format!("{keyword} {name}: {ty} = {};", value.text));
        } else {
            self.line(&format!("{keyword} {name} = {};", value.typed(ty)));
        }
        self.declare(&name, Kind::Float { bound, collects }, access);
    }

    /// `let v = if … { …; e } else { …; e };` and its like: blocks with statements and a value.
    fn let_block(&mut self, depth: usize) {
        let (keyword, access, bound, collects) = self.binding();
        let name = self.fresh("v");
        let ty = self.config.float;
        let head = format!("{keyword} {name}: {ty} =");
        match self.random.below(4) {
            0 => {
                self.open(&format!("{head} {{"));
                self.value_body(depth);
            }
            1 if self.config.matches => {
                let Some((integer, ..)) = self.integer() else { return };
                self.open(&format!("{head} match {integer} % 3 {{"));
                for arm in ["0", "1", "_"] {
                    self.open(&format!("{arm} => {{"));
                    self.value_body(depth);
                    self.close("}");
                }
            }
            _ => {
                let condition = self.condition(1);
                self.open(&format!("{head} if {condition} {{"));
                self.value_body(depth);
                if self.random.chance(30) {
                    let condition = self.condition(1);
                    self.reopen(&format!("}} else if {condition} {{"));
                    self.value_body(depth);
                }
                self.reopen("} else {");
                self.value_body(depth);
            }
        }
        self.close("};");
        self.declare(&name, Kind::Float { bound, collects }, access);
    }

    fn value_body(&mut self, depth: usize) {
        let mark = self.variables.len();
        for _ in 0..self.random.below(3) {
            self.statement(depth - 1);
        }
        let value = self.float(2);
        self.line(&value.text);
        self.variables.truncate(mark);
    }

    fn let_bool_or_integer(&mut self) {
        if self.random.chance(40) {
            let condition = self.condition(1);
            let name = self.fresh("c");
            self.line(&format!("let {name} = {condition};"));
            self.declare(&name, Kind::Bool, Access::Read);
            return;
        }
        let name = self.fresh("j");
        if self.random.chance(30) {
            let start = self.random.below(3);
            self.line(&format!("let mut {name}: usize = {start};"));
            // So often statements are not run: steps of three stay far below.
            self.declare(&name, Kind::Int { from: 0, to: 100_000 }, Access::Write);
            return;
        }
        let Some((other, from, to)) = self.integer() else { return };
        let (text, from, to) = match self.random.below(4) {
            0 => (format!("{other} % 3"), 0, 2.min(to)),
            1 => (format!("{other} + 1"), from + 1, to + 1),
            2 if from > 0 => (format!("{other} - 1"), from - 1, to - 1),
            _ => (self.index(4, None), 0, 3),
        };
        self.line(&format!("let {name}: usize = {text};"));
        self.declare(&name, Kind::Int { from, to }, Access::Read);
    }

    fn tuple(&mut self) {
        let ty = self.config.float;
        let (first, second) = (self.float(2), self.float(2));
        let pair = self.scalar(Access::Write).zip(self.scalar(Access::Write));
        match pair {
            Some(((a, ..), (b, ..))) if a != b && self.random.chance(40) => {
                self.line(&format!("({a}, {b}) = ({}, {});", first.text, second.text));
            }
            _ => {
                let (a, b) = (self.fresh("p"), self.fresh("q"));
                let (first, second) = (first.typed(ty), second.typed(ty));
                self.line(&format!("let ({a}, mut {b}) = ({first}, {second});"));
                let kind = Kind::Float { bound: TAME, collects: false };
                self.declare(&a, kind.clone(), Access::Read);
                self.declare(&b, kind, Access::Write);
            }
        }
    }

    pub(super) fn assign_scalar(&mut self) {
        if self.random.chance(10)
            && let Some((name, to)) = self.choose(Access::Write, |variable| match variable.kind {
                Kind::Int { to, .. } => Some((variable.name.clone(), to)),
                _ => None,
            })
        {
            debug_assert_eq!(to, 100_000);
            let text = match self.random.below(3) {
                0 => format!("{name} += 1;"),
                1 => format!("{name} = ({name} + 2) % 5;"),
                _ => format!("{name} = {};", self.index(5, None)),
            };
            return self.line(&text);
        }
        match self.scalar(Access::Write) {
            Some((name, _, collects)) => self.assign(&name, collects),
            None => self.let_float(),
        }
    }

    pub(super) fn assign_element(&mut self) {
        match self.element(Access::Write) {
            Some((place, _, collects)) => self.assign(&place, collects),
            None => self.assign_scalar(),
        }
    }

    /// Assigns, so that no bound is exceeded: sums only where they are collected, products
    /// only with factors up to one.
    fn assign(&mut self, place: &str, collects: bool) {
        let text = match self.random.below(if self.config.library { 11 } else { 10 }) {
            10 => format!("{place} %= 3.5;"),
            0..=2 if collects => {
                let value = self.float_below(3, 10.0);
                format!("{place} += {};", value.text)
            }
            3 if collects => {
                let value = self.float_below(3, 10.0);
                format!("{place} -= {};", value.text)
            }
            4 => {
                let factor = self.float_below(2, 1.0);
                format!("{place} *= {};", factor.text)
            }
            5 => {
                let value = self.float(1).operand();
                format!("{place} /= 1.0 + {value} * {value};")
            }
            6 => {
                let value = self.float_below(1, 5.0);
                format!("{place} = {place} * 0.5 + {};", value.operand())
            }
            7 => {
                let value = self.float(1);
                format!("{place} = ({place} * {}).sin();", value.operand())
            }
            _ => {
                let value = self.float(3);
                format!("{place} = {};", value.text)
            }
        };
        self.line(&text);
    }

    fn swap(&mut self) {
        let (a, b) = (self.scalar(Access::Write), self.scalar(Access::Write));
        let (Some((a, _, true)), Some((b, _, true))) = (a, b) else {
            return self.assign_element();
        };
        let t = self.fresh("t");
        self.line(&format!("let {t} = {a};"));
        self.line(&format!("{a} = {b};"));
        self.line(&format!("{b} = {t};"));
    }

    /// What a range can end with.
    pub(super) fn ends(&self) -> Vec<End> {
        let mut ends: Vec<End> = (2..=4).map(|n| (n.to_string(), n, n)).collect();
        for variable in self.visible(Access::Read) {
            let name = &variable.name;
            match variable.kind {
                Kind::Int { from, to } => {
                    ends.push((name.clone(), from, to));
                    ends.push((format!("{name} + 1"), from + 1, to + 1));
                    if from > 0 {
                        ends.push((format!("{name} - 1"), from - 1, to - 1));
                    }
                }
                Kind::Floats { len, .. } => {
                    ends.push((format!("{name}.len()"), len, len));
                    if len > 0 {
                        ends.push((format!("{name}.len() - 1"), len - 1, len - 1));
                    }
                }
                _ => {}
            }
        }
        ends
    }

    /// A range: its text, the interval of its numbers, and how many they are at most.
    pub(super) fn range(&mut self) -> Option<(String, usize, usize, usize)> {
        let ends = self.ends();
        for _ in 0..10 {
            let start = match self.random.below(4) {
                0 => ("1".to_owned(), 1, 1),
                1 => self.random.pick(&ends).clone(),
                _ => ("0".to_owned(), 0, 0),
            };
            let end = self.random.pick(&ends).clone();
            let inclusive = self.random.chance(15);
            let stop = end.2 + usize::from(inclusive);
            // Now and then a loop that never runs.
            let empty = stop <= start.1;
            if (empty && !self.random.chance(20)) || !self.affords(stop.saturating_sub(start.1)) {
                continue;
            }
            let sign = if inclusive { "..=" } else { ".." };
            let range = format!("{}{sign}{}", start.0, end.0);
            let text = match self.random.below(8) {
                0..=1 => format!("({range}).rev()"),
                2 => format!("({range}).step_by(2)"),
                // An inclusive range of `usize` has no exact size, which the last form asks for.
                3 if inclusive || self.random.chance(50) => {
                    format!("({range}).rev().step_by(2)")
                }
                3 => format!("({range}).step_by(2).rev()"),
                _ => range,
            };
            return Some((
                text,
                start.1,
                (stop.max(1) - 1).max(start.1),
                stop.saturating_sub(start.1),
            ));
        }
        None
    }

    /// Enters a loop; the text of its label.
    pub(super) fn enter(&mut self, continues: bool, breaks_with_value: bool) -> String {
        let labelled = self.config.exits && self.random.chance(40);
        let label = labelled.then(|| self.fresh("'l"));
        let text = label.as_ref().map_or_else(String::new, |label| format!("{label}: "));
        self.loops.push(Enclosing { label, continues, breaks_with_value });
        text
    }

    fn for_loop(&mut self, depth: usize) {
        let Some((range, from, to, trips)) = self.range() else { return self.assign_element() };
        let mark = self.variables.len();
        let counter = self.fresh("i");
        let label = self.enter(true, false);
        self.open(&format!("{label}for {counter} in {range} {{"));
        self.declare(&counter, Kind::Int { from, to }, Access::Read);
        self.body(depth - 1, trips);
        self.close("}");
        self.loops.pop();
        self.variables.truncate(mark);
    }

    /// `while` or `loop` with a counter.
    fn while_loop(&mut self, depth: usize) {
        let trips = self.random.within(1, 4);
        if !self.affords(trips) {
            return self.assign_element();
        }
        let counter = self.fresh("m");
        let early = self.random.chance(50);
        let forever = self.random.chance(50);
        let with_value = forever && self.config.break_values && self.random.chance(40);
        let mark = self.variables.len();
        self.line(&format!("let mut {counter}: usize = 0;"));
        self.declare(&counter, Kind::Int { from: 0, to: trips }, Access::Read);
        let result = self.fresh("v");
        let ty = self.config.float;
        let label = self.enter(early, with_value);
        if forever {
            let head = if with_value { format!("let {result}: {ty} = ") } else { String::new() };
            self.open(&format!("{head}{label}loop {{"));
            let condition = if self.random.chance(50) {
                format!("{counter} >= {trips}")
            } else {
                format!("{counter} >= {trips} || {}", self.condition(0))
            };
            let value = if with_value { format!(" {}", self.float(2).text) } else { String::new() };
            self.line(&format!("if {condition} {{ break{value}; }}"));
        } else if self.random.chance(50) {
            self.open(&format!("{label}while {counter} < {trips} {{"));
        } else {
            let condition = self.condition(1);
            self.open(&format!("{label}while {counter} < {trips} && ({condition}) {{"));
        }
        let inside = if early {
            self.line(&format!("{counter} += 1;"));
            Kind::Int { from: 1, to: trips }
        } else {
            Kind::Int { from: 0, to: trips - 1 }
        };
        self.declare(&counter, inside, Access::Read);
        self.body(depth - 1, trips);
        if !early {
            self.line(&format!("{counter} += 1;"));
        }
        self.close(if with_value { "};" } else { "}" });
        self.loops.pop();
        self.variables.truncate(mark + 1);
        if with_value {
            self.declare(&result, Kind::Float { bound: TAME, collects: false }, Access::Read);
        }
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.condition(2);
        self.open(&format!("if {condition} {{"));
        self.body(depth - 1, 1);
        if self.random.chance(30) {
            let condition = self.condition(1);
            self.reopen(&format!("}} else if {condition} {{"));
            self.body(depth - 1, 1);
        }
        if self.random.chance(50) {
            self.reopen("} else {");
            self.body(depth - 1, 1);
        }
        self.close("}");
    }

    /// A branch after which an integer is known better.
    fn guard(&mut self, depth: usize) {
        let Some((name, from, to)) = self.integer() else { return self.branch(depth) };
        if from == to {
            return self.branch(depth);
        }
        let limit = self.random.within(from, to - 1);
        let (sign, inside) = if self.random.chance(50) {
            (">", Kind::Int { from: limit + 1, to })
        } else {
            ("<=", Kind::Int { from, to: limit })
        };
        let mark = self.variables.len();
        self.open(&format!("if {name} {sign} {limit} {{"));
        self.declare(&name, inside, Access::Read);
        self.body(depth - 1, 1);
        self.variables.truncate(mark);
        self.close("}");
    }

    fn match_integer(&mut self, depth: usize) {
        let Some((name, _, to)) = self.integer() else { return self.branch(depth) };
        let arms: &[&str] = match self.random.below(3) {
            0 => &["0", "1", "_"],
            1 => &["0 | 2", "1", "_"],
            _ => &["0..=1", "3", "_"],
        };
        let modulus = self.random.within(2, 4);
        if to < 6 && self.random.chance(50) {
            self.open(&format!("match {name} {{"));
        } else {
            self.open(&format!("match {name} % {modulus} {{"));
        }
        for arm in arms {
            if *arm == "_" && self.random.chance(30) {
                self.line("_ => {}");
                continue;
            }
            self.open(&format!("{arm} => {{"));
            self.body(depth - 1, 1);
            self.close("}");
        }
        self.close("}");
    }

    /// `break` or `continue` on a condition, of this loop or of one around it.
    fn exit(&mut self, depth: usize) {
        let condition = self.condition(1);
        let Some(innermost) = self.loops.last().cloned() else { return };
        let labelled: Vec<_> =
            self.loops.iter().filter(|around| around.label.is_some()).cloned().collect();
        let target = if !labelled.is_empty() && self.random.chance(40) {
            self.random.pick(&labelled).clone()
        } else {
            Enclosing { label: None, ..innermost }
        };
        let label = target.label.map_or_else(String::new, |label| format!(" {label}"));
        let jump = if target.continues && self.random.chance(50) {
            format!("continue{label};")
        } else if target.breaks_with_value {
            format!("break{label} {};", self.float(2).operand())
        } else {
            format!("break{label};")
        };
        self.open(&format!("if {condition} {{"));
        if self.random.chance(40) {
            let mark = self.variables.len();
            self.statement(depth.min(1));
            self.variables.truncate(mark);
        }
        self.line(&jump);
        self.close("}");
    }

    fn early_return(&mut self) {
        let condition = self.condition(1);
        let value =
            if self.returns_value { format!(" {}", self.float(2).text) } else { String::new() };
        self.open(&format!("if {condition} {{"));
        self.line(&format!("return{value};"));
        self.close("}");
    }
}
