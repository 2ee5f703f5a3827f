//! Loops that do much in few statements: sums used while they are collected, elements read and cleared, edges, places
//! written one loop and read the next. Nothing keeps what they compute small, but it is finite for nearly all programs.

use super::generate::{Access, COLLECTED, Generator, Kind};

/// What the statements of such loops can name.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    /// Lists to read, each as long as the loop at least.
    pub(super) reads: Vec<String>,
    /// Lists to write, as long.
    pub(super) writes: Vec<String>,
    /// Lists of indices into all of them, as long.
    pub(super) indices: Vec<String>,
    pub(super) scalars: Vec<String>,
    /// How long the loop is, as text and as a number.
    pub(super) n: String,
    pub(super) trips: usize,
    /// The counter, and its least value.
    pub(super) i: String,
    pub(super) from: usize,
}

impl Generator<'_> {
    /// One to three loops over the same lists.
    pub(super) fn dense(&mut self) {
        let Some(mut scene) = self.scene() else { return self.assign_scalar() };
        let ty = self.config.float;
        for _ in 0..self.random.within(1, 3) {
            let (name, start) = (self.fresh("v"), self.start());
            self.line(&format!("let mut {name}: {ty} = {start};"));
            scene.scalars.push(name);
        }
        for _ in 0..*self.random.pick(&[1, 1, 2, 2, 3]) {
            let count = self.random.within(1, 4);
            self.dense_loop(&mut scene, count);
        }
        for name in &scene.scalars {
            let kind = Kind::Float { bound: COLLECTED, collects: true };
            self.declare(name, kind, Access::Write);
        }
        for (name, len) in scene.writes.iter().map(|name| (name, scene.trips)) {
            // Lists of the scene's own; those from outside are known already.
            if name.starts_with('w') && !self.variables.iter().any(|v| v.name == *name) {
                let kind = Kind::Floats { len, bound: COLLECTED, collects: true };
                self.declare(name, kind, Access::Write);
            }
        }
    }

    fn start(&mut self) -> String {
        let ty = self.config.float;
        match self.random.below(6) {
            0..=2 => "0.0".to_owned(),
            3 => "1.0".to_owned(),
            4 => self.literal().text,
            _ => self.float(1).typed(ty),
        }
    }

    /// Lists for a loop, some of them made here.
    pub(super) fn scene(&mut self) -> Option<Scene> {
        let ty = self.config.float;
        let first = self.array_of(Access::Read, 0);
        let (n, trips, source) = match first {
            Some((name, len, ..)) if self.random.chance(80) => {
                let number = self.choose(Access::Read, |variable| match variable.kind {
                    Kind::Int { from, to } if from == len && to == len => {
                        Some(variable.name.clone())
                    }
                    _ => None,
                });
                let n = match number {
                    Some(number) if self.random.chance(60) => number,
                    _ => format!("{name}.len()"),
                };
                // A name, so that the list can be written while its length is asked for.
                let length = self.fresh("m");
                self.line(&format!("let {length}: usize = {n};"));
                (length, len, Some(name))
            }
            _ => {
                let len = self.length_of_array();
                (len.to_string(), len, None)
            }
        };
        if !self.affords(trips) {
            return None;
        }
        self.work += self.multiplicity * trips * 6;
        let mut scene = Scene {
            reads: Vec::new(),
            writes: Vec::new(),
            indices: Vec::new(),
            scalars: Vec::new(),
            n: n.clone(),
            trips,
            i: String::new(),
            from: 0,
        };
        for variable in self.visible(Access::Read) {
            match variable.kind {
                Kind::Floats { len, .. } if len >= trips => {
                    scene.reads.push(variable.name.clone());
                    if variable.access == Access::Write {
                        scene.writes.push(variable.name.clone());
                    }
                }
                Kind::Indices { len, below } if len >= trips && below <= trips => {
                    scene.indices.push(variable.name.clone());
                }
                _ => {}
            }
        }
        if scene.writes.is_empty() || self.random.chance(30) {
            let name = self.fresh("w");
            let copied = source.filter(|_| self.random.chance(40));
            match (self.random.below(3), copied) {
                (_, Some(source)) => {
                    self.line(&format!("let mut {name}: Vec<{ty}> = {source}.to_vec();"));
                }
                (0, _) => {
                    let start = self.start();
                    self.line(&format!("let mut {name}: [{ty}; {trips}] = [{start}; {trips}];"));
                }
                _ => {
                    let start = self.start();
                    self.line(&format!("let mut {name}: Vec<{ty}> = vec![{start}; {n}];"));
                }
            }
            scene.reads.push(name.clone());
            scene.writes.push(name);
        }
        Some(scene)
    }

    /// One loop with so many statements.
    pub(super) fn dense_loop(&mut self, scene: &mut Scene, count: usize) {
        let i = self.fresh("i");
        let n = scene.n.clone();
        scene.i.clone_from(&i);
        scene.from = 0;
        let mut counted = false;
        match self.random.below(14) {
            0..=5 => self.open(&format!("for {i} in 0..{n} {{")),
            6..=7 => self.open(&format!("for {i} in (0..{n}).rev() {{")),
            8 => {
                scene.from = 1;
                self.open(&format!("for {i} in 1..{n} {{"));
            }
            9 => {
                scene.from = 1;
                self.open(&format!("for {i} in (1..{n}).rev() {{"));
            }
            10 => self.open(&format!("for {i} in (0..{n}).step_by(2) {{")),
            11 if self.config.whiles => {
                counted = true;
                self.line(&format!("let mut {i}: usize = 0;"));
                self.open(&format!("while {i} < {n} {{"));
            }
            12 if scene.trips > 0 => self.open(&format!("for {i} in 0..={n} - 1 {{")),
            _ => self.open(&format!("for {i} in 0..{n} {{")),
        }
        for _ in 0..count {
            self.dense_statement(scene, 2, counted);
        }
        if counted {
            self.line(&format!("{i} += 1;"));
        }
        self.close("}");
    }

    /// An index that is in range.
    pub(super) fn dense_index(&mut self, scene: &Scene) -> String {
        let (i, n) = (&scene.i, &scene.n);
        match self.random.below(20) {
            0..=10 => i.clone(),
            11 => format!("{n} - 1 - {i}"),
            12..=13 if scene.from > 0 => format!("{i} - 1"),
            12..=14 => match scene.indices.first() {
                Some(indices) => format!("{indices}[{i}]"),
                None => format!("({i} * 3 + 1) % {n}"),
            },
            15 => format!("{i} / 2"),
            16 => format!("({i} + 1) % {n}"),
            17..=18 => "0".to_owned(),
            _ => format!("{i} % 2 * {i}"),
        }
    }

    fn dense_atom(&mut self, scene: &Scene) -> String {
        let ty = self.config.float;
        match self.random.below(12) {
            0..=6 if !scene.reads.is_empty() => {
                let (list, index) =
                    (self.random.pick(&scene.reads).clone(), self.dense_index(scene));
                format!("{list}[{index}]")
            }
            7..=8 if !scene.scalars.is_empty() => self.random.pick(&scene.scalars).clone(),
            9 => format!("({} as {ty})", scene.i),
            10 => match self.scalar(Access::Read) {
                Some((name, ..)) => name,
                None => self.literal().typed(ty),
            },
            _ => self.literal().typed(ty),
        }
    }

    /// A term: mostly simple, as in real sums.
    pub(super) fn dense_term(&mut self, scene: &Scene) -> String {
        let a = self.dense_atom(scene);
        match self.random.below(18) {
            0..=4 => a,
            5..=6 => format!("{a} * {}", self.dense_atom(scene)),
            7 => format!("({a} - {})", self.dense_atom(scene)),
            8 => format!("{a} * {a}"),
            9 => format!("{a}.sin()"),
            10 => format!("{a}.tanh()"),
            11 => format!("({a} * {a} + 0.5).sqrt()"),
            12 => format!("(-{a}.abs()).exp()"),
            13 => format!("1.0 / (1.0 + (-{a}).exp())"),
            14 => format!("{a}.max({})", self.dense_atom(scene)),
            15 => format!("{a} / ({a} * {a} + 1.5)"),
            16 => format!("0.1 * {a}"),
            _ => format!("({a} * {}).cos()", self.dense_atom(scene)),
        }
    }

    fn dense_condition(&mut self, scene: &Scene) -> String {
        let (i, n) = (&scene.i, &scene.n);
        match self.random.below(9) {
            0 => format!("{i} > 0"),
            1 => format!("{i} + 1 < {n}"),
            2 => format!("{i} == 0"),
            3 => format!("{i} % 2 == {}", self.random.below(2)),
            4 => format!("{i} >= 2 && {i} + 2 < {n}"),
            5 => format!("{i} == {n} - 1"),
            _ => {
                let sign = *self.random.pick(&["<", ">", "<=", ">="]);
                format!("{} {sign} {}", self.dense_atom(scene), self.dense_term(scene))
            }
        }
    }

    /// One statement, or two that belong together.
    fn dense_statement(&mut self, scene: &Scene, depth: usize, counted: bool) {
        let s = self.random.pick(&scene.scalars).clone();
        let t = self.random.pick(&scene.scalars).clone();
        let list = self.random.pick(&scene.writes).clone();
        let place = format!("{list}[{}]", self.dense_index(scene));
        let term = self.dense_term(scene);
        let sign = *self.random.pick(&["+", "+", "-"]);
        match self.random.below(30) {
            0..=3 => self.line(&format!("{s} {sign}= {term};")),
            4..=5 => {
                // A running sum that is used as it is collected.
                self.line(&format!("{s} {sign}= {term};"));
                let used = self.of_sum(&s);
                self.line(&format!("{t} += {used};"));
            }
            6 => {
                self.line(&format!("{s} {sign}= {term};"));
                self.line(&format!("{place} = {s};"));
            }
            7 => {
                let used = self.of_sum(&s);
                self.line(&format!("{place} {sign}= {used};"));
            }
            8 => {
                let factor = self.literal_below_one();
                self.line(&format!("{s} = {s} * {factor} + {term};"));
            }
            9 => self.line(&format!("{place} = {term};")),
            10 => self.line(&format!("{place} {sign}= {term};")),
            11 => {
                // A function of an element, after a change to it, in its own place.
                if self.random.chance(60) {
                    self.line(&format!("{place} -= 0.2;"));
                }
                let used = self.of_sum(&place);
                self.line(&format!("{place} = {used};"));
            }
            12..=13 => {
                // Read, then cleared or replaced.
                let other = self.dense_atom(scene);
                self.line(&format!("{s} {sign}= {place} * {other};"));
                let next = if self.random.chance(60) { self.literal().text } else { term };
                self.line(&format!("{place} = {next};"));
            }
            14 => {
                let old = self.fresh("t");
                self.line(&format!("let {old} = {place};"));
                self.line(&format!("{place} = {term};"));
                self.line(&format!("{s} += {old} * {place};"));
            }
            15 => self.line(&format!("{s} = {s}.max({term});")),
            16 => {
                let sign = *self.random.pick(&["<", ">", ">="]);
                self.line(&format!("if {term} {sign} {s} {{ {s} = {term}; }}"));
            }
            17 => {
                let used = self.of_sum(&place);
                self.line(&format!("{s} *= {used};"));
            }
            18..=19 => self.singular(scene, &s),
            20..=22 if depth > 0 => {
                let condition = self.dense_condition(scene);
                self.open(&format!("if {condition} {{"));
                self.dense_statement(scene, depth - 1, counted);
                if self.random.chance(40) {
                    self.reopen("} else {");
                    self.dense_statement(scene, depth - 1, counted);
                }
                self.close("}");
            }
            23..=26 if depth > 0 => self.inner_loop(scene, &s, &place),
            27 if self.config.exits && !counted => {
                let jump = *self.random.pick(&["continue", "break"]);
                let condition = self.dense_condition(scene);
                self.line(&format!("if {condition} {{ {jump}; }}"));
            }
            28 => {
                let name = self.fresh("t");
                let ty = self.config.float;
                self.line(&format!("let {name}: {ty} = {term};"));
                self.line(&format!("{s} {sign}= {name} * {name};"));
                self.line(&format!("{place} = {name};"));
            }
            _ => self.line(&format!("{s} += {term} * {t};")),
        }
    }

    fn literal_below_one(&mut self) -> &'static str {
        self.random.pick::<&'static str>(&["0.5", "0.9", "0.25", "1.0"])
    }

    /// Something of a number that may be large.
    fn of_sum(&mut self, s: &str) -> String {
        match self.random.below(10) {
            0..=3 => s.to_owned(),
            4 => format!("(0.05 * {s}).sin().exp()"),
            5 => format!("{s}.tanh()"),
            6 => format!("({s} * {s} + 0.5).sqrt()"),
            7 => format!("1.0 / (1.0 + (-{s}).exp())"),
            8 => format!("0.5 * {s}"),
            _ => format!("{s}.cos()"),
        }
    }

    /// A function where it is defined, and only there: what is not taken must not leak an infinite slope.
    fn singular(&mut self, scene: &Scene, s: &str) {
        let a = self.dense_atom(scene);
        let text = match self.random.below(6) {
            0 => format!("if {a} > 0.0 {{ {s} += {a}.sqrt(); }}"),
            1 => format!("if {a} != 0.0 {{ {s} += 1.0 / {a}; }}"),
            2 => format!("if {a} > 0.0 {{ {s} += {a}.ln(); }}"),
            3 => format!("{s} += if {a} > 0.0 {{ {a}.sqrt() }} else {{ 0.0 }};"),
            4 => format!("if {a} > 0.0 {{ {s} += {a}.powf(0.5); }} else {{ {s} -= {a}; }}"),
            _ => format!("if {a}.abs() < 1.0 {{ {s} += {a}.asin(); }}"),
        };
        self.line(&text);
    }

    /// A loop inside, with a number carried through it that starts anew each time, and edges.
    fn inner_loop(&mut self, scene: &Scene, s: &str, place: &str) {
        let ty = self.config.float;
        let (i, n) = (scene.i.clone(), scene.n.clone());
        let (j, b) = (self.fresh("j"), self.fresh("b"));
        let limit = scene.trips.min(300 / scene.trips.max(1));
        let (range, fits) = match self.random.below(5) {
            0 => (format!("0..{i}"), limit == scene.trips),
            1 => (format!("{i}..{n}"), limit == scene.trips),
            2 => (format!("({i} + 1)..{n}"), limit == scene.trips),
            3 => (format!("0..{n}"), limit == scene.trips),
            _ => (format!("0..{}", scene.trips.min(3)), true),
        };
        if !fits {
            return self.line(&format!("{place} += {s};"));
        }
        self.work += self.multiplicity * scene.trips * scene.trips;
        let mut inner = scene.clone();
        inner.i.clone_from(&j);
        inner.from = 0;
        let range = if self.random.chance(20) { format!("({range}).rev()") } else { range };
        let start = *self.random.pick(&["0.0", "0.0", "1.0", "-1.0"]);
        self.line(&format!("let mut {b}: {ty} = {start};"));
        self.open(&format!("for {j} in {range} {{"));
        inner.scalars.push(b.clone());
        let (term, other) = (self.dense_term(&inner), self.dense_term(&inner));
        match self.random.below(7) {
            0..=1 => {
                let step = match self.random.below(3) {
                    0 => format!("{ty}::max({b}, {other})"),
                    1 => format!("{b} + {other}"),
                    _ => format!("{b}.min({other})"),
                };
                self.line(&format!("if {j} == 0 {{ {b} = {term}; }} else {{ {b} = {step}; }}"));
            }
            2 => self.line(&format!("{b} += {term};")),
            3 => self.line(&format!("if {j} != {i} {{ {b} += {term}; }}")),
            4 => self.line(&format!("{b} = {b} * 0.5 + {term};")),
            5 => {
                self.line(&format!("{b} += {term};"));
                self.line(&format!("{s} += {b};"));
            }
            _ => self.dense_statement(&inner, 0, false),
        }
        self.close("}");
        match self.random.below(4) {
            0 => self.line(&format!("{s} += {b};")),
            1 => self.line(&format!("{place} = {b};")),
            2 => self.line(&format!("{place} += {b};")),
            _ => self.line(&format!("{s} += {b}.tanh();")),
        }
    }
}
