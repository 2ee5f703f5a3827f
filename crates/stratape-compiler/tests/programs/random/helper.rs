//! A module around the program: functions it calls, structs with methods and operators, constants, aliases, an enum.

use super::expression::Float;
use super::generate::{Access, COLLECTED, Generator, Kind, TAME};

/// What the module holds beside the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    pub(super) points: bool,
    pub(super) enumeration: bool,
    pub(super) constants: bool,
    /// Functions that the program calls.
    pub(super) functions: Vec<String>,
    /// How they are called.
    callable: Vec<Callable>,
    /// Functions that call themselves, by their names.
    recursive: Vec<&'static str>,
}

/// A function that was written, and what its result never exceeds.
#[derive(Clone, Debug)]
struct Callable {
    name: String,
    params: Vec<Taken>,
    bound: f64,
    returns: bool,
}

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    Float,
    /// A list of so many elements.
    Shared(usize),
    Exclusive(usize),
    Updated,
}

const POINT: &str = "
#[derive(Clone, Copy)]
pub struct Point { pub x: Real, pub y: Real }

trait Measure { fn measure(&self) -> Real; }

impl Measure for Point { fn measure(&self) -> Real { self.x.sin() * self.y } }

impl Point {
    const ORIGIN: Point = Point { x: 0.0, y: 0.5 };
    fn new(x: Real, y: Real) -> Self { Self { x, y } }
    fn scaled(self, by: Real) -> Self { Point { x: by * self.x, y: by * self.y } }
    fn dot(&self, other: &Point) -> Real { self.x * other.x + self.y * other.y }
    fn norm(&self) -> Real { (self.x * self.x + self.y * self.y + 0.1).sqrt() }
    fn shift(&mut self, by: Real) { self.x += by; self.y = self.y * 0.5 - self.x.sin(); }
}

impl Add for Point { type Output = Point; fn add(self, other: Point) -> Point { Point { x: self.x + other.x, y: self.y + other.y } } }
impl Sub for Point { type Output = Point; fn sub(self, other: Point) -> Point { Point { x: self.x - other.x, y: self.y - other.y } } }
impl Neg for Point { type Output = Point; fn neg(self) -> Point { Point { x: -self.x, y: -self.y } } }
impl Mul<Real> for Point { type Output = Point; fn mul(self, by: Real) -> Point { Point { x: self.x * by, y: self.y * by } } }
impl AddAssign for Point { fn add_assign(&mut self, other: Point) { self.x += other.x; self.y += other.y; } }
";

const NORM: &str = "
#[derive(Clone, Copy, PartialEq)]
pub enum Norm { Sum, Largest, Smooth }

fn length(x: Real, y: Real, norm: Norm) -> Real {
    match norm {
        Norm::Sum => x.abs() + y.abs(),
        Norm::Largest => x.abs().max(y.abs()),
        Norm::Smooth => (x * x + y * y + 0.1).sqrt(),
    }
}
";

/// Functions that call themselves. On lists of up to nine elements, and numbers up to six, they go no deeper than eight calls.
const RECURSIVE: [(&str, &str); 4] = [
    (
        "rec_halves",
        "fn rec_halves(x: &[Real]) -> Real {
    if x.len() < 2 { return x.iter().map(|v| v.sin()).sum::<Real>(); }
    let (left, right) = x.split_at(x.len() / 2);
    rec_halves(left) * 0.7 + rec_halves(right)
}
",
    ),
    (
        "rec_power",
        "fn rec_power(a: Real, n: usize) -> Real {
    if n == 0 { return 1.0; }
    a.cos() * rec_power(a * 0.9, n - 1) + 0.1
}
",
    ),
    (
        "rec_horner",
        "fn rec_horner(x: &[Real], a: Real) -> Real {
    if x.is_empty() { return 0.5; }
    x[0].sin() + a.cos() * rec_horner(&x[1..], a)
}
",
    ),
    (
        "rec_spread",
        "fn rec_spread(y: &mut [Real], a: Real, n: usize) {
    if n == 0 || y.len() < 2 { return; }
    y[1] = y[1] * 0.5 + a * y[0].sin();
    y[0] = y[0].cos();
    rec_spread(&mut y[1..], a.sin(), n - 1);
}
",
    ),
];

impl Items {
    /// The module's text, without the program.
    pub(super) fn text(&self, float: &str) -> String {
        let mut text = String::new();
        let any = self.points || self.enumeration || self.constants || !self.recursive.is_empty();
        if self.points {
            text += "use std::ops::{Add, AddAssign, Mul, Neg, Sub};\n";
        }
        if any {
            text += &format!("type Real = {float};\n");
        }
        if self.constants {
            text += "const SCALE: Real = 0.75;\nconst COUNT: usize = 3;\nconst WEIGHTS: [Real; COUNT] = [0.5, -1.0, 0.25];\n";
        }
        if self.points {
            text += POINT;
        }
        if self.enumeration {
            text += NORM;
        }
        for (name, function) in RECURSIVE {
            if self.recursive.contains(&name) {
                text += function;
            }
        }
        text + &self.functions.concat()
    }
}

impl Generator<'_> {
    /// A statement that uses the module.
    pub(super) fn use_of_module(&mut self, depth: usize) {
        match self.random.below(10) {
            0..=1 => self.let_point(),
            2..=4 => self.change_point(),
            5..=7 => self.call_statement(depth),
            8 => self.spread(),
            _ => {
                let value = self.called(2);
                let name = self.fresh("v");
                self.line(&format!("let {name} = {};", value.text));
                self.declare(
                    &name,
                    Kind::Float { bound: value.bound, collects: false },
                    Access::Read,
                );
            }
        }
    }

    fn point_named(&mut self, access: Access) -> Option<String> {
        self.choose(access, |variable| match variable.kind {
            Kind::Point => Some(variable.name.clone()),
            _ => None,
        })
    }

    fn point_value(&mut self) -> String {
        self.items.points = true;
        let (a, b) = (self.float(1).text, self.float(1).text);
        match (self.random.below(7), self.point_named(Access::Read)) {
            (0, Some(p)) => format!("{p}.scaled({})", self.float_below(1, 1.0).text),
            (1, Some(p)) => format!("{p} + Point::new({a}, {b})"),
            (2, Some(p)) => format!("-{p}"),
            (3, Some(p)) => format!("{p} * {}", self.float_below(1, 1.0).operand()),
            (4, Some(p)) => format!("Point {{ y: {a}, ..{p} }}"),
            (5, _) => "Point::ORIGIN".to_owned(),
            (6, _) => format!("Point::new({a}, {b})"),
            _ => format!("Point {{ x: {a}, y: {b} }}"),
        }
    }

    fn let_point(&mut self) {
        let value = self.point_value();
        let name = self.fresh("p");
        self.line(&format!("let mut {name} = {value};"));
        self.declare(&name, Kind::Point, Access::Write);
        for field in ["x", "y"] {
            let kind = Kind::Float { bound: COLLECTED, collects: true };
            self.declare(&format!("{name}.{field}"), kind, Access::Write);
        }
    }

    fn change_point(&mut self) {
        let Some(p) = self.point_named(Access::Write) else { return self.let_point() };
        let value = self.point_value();
        let by = self.float_below(1, 2.0).text;
        let text = match self.random.below(4) {
            0 => format!("{p}.shift({by});"),
            1 => format!("{p} += {value};"),
            2 => format!("{p} = {value};"),
            _ => format!("{p} = ({value}) - Point::ORIGIN;"),
        };
        self.line(&text);
    }

    /// A float that something of the module gives.
    pub(super) fn called(&mut self, depth: usize) -> Float {
        let depth = depth.max(1);
        match self.random.below(12) {
            0..=1 => {
                let Some(p) = self.point_named(Access::Read) else {
                    return self.helper_call(depth);
                };
                self.items.points = true;
                let other = self.point_named(Access::Read).unwrap_or_else(|| p.clone());
                let text = match self.random.below(4) {
                    0 => format!("{p}.norm()"),
                    1 => format!("{p}.dot(&{other})"),
                    2 => format!("{p}.measure()"),
                    _ => format!("({p} - {other}).norm()"),
                };
                Float::atom(text, COLLECTED * COLLECTED)
            }
            2..=3 => {
                self.items.enumeration = true;
                let (a, b) = (self.float(depth - 1), self.float(depth - 1));
                let norm = self.choose(Access::Read, |variable| match variable.kind {
                    Kind::Norm => Some(variable.name.clone()),
                    _ => None,
                });
                let norm = norm.unwrap_or_else(|| {
                    (*self.random.pick(&["Norm::Sum", "Norm::Largest", "Norm::Smooth"])).to_owned()
                });
                let bound = a.bound + b.bound + 1.0;
                Float::atom(format!("length({}, {}, {norm})", a.text, b.text), bound)
            }
            4..=5 => {
                self.items.constants = true;
                match self.random.below(3) {
                    0 => Float::atom("SCALE", 0.75),
                    1 => Float::atom(format!("WEIGHTS[{}]", self.index(3, None)), 1.0),
                    _ => Float::atom(
                        format!("(0..COUNT).map(|i| WEIGHTS[i]).sum::<{}>()", self.config.float),
                        3.0,
                    ),
                }
            }
            6 => {
                let (name, text) = match (self.random.below(3), self.array_below(9)) {
                    (0, Some(list)) => ("rec_halves", format!("rec_halves(&{list}[..])")),
                    (1, Some(list)) => {
                        let a = self.float(depth - 1);
                        ("rec_horner", format!("rec_horner(&{list}[..], {})", a.text))
                    }
                    _ => {
                        let (a, n) = (self.float(depth - 1), self.random.below(7));
                        ("rec_power", format!("rec_power({}, {n})", a.text))
                    }
                };
                self.note_recursive(name);
                Float::atom(text, 9.0)
            }
            _ => self.helper_call(depth),
        }
    }

    fn note_recursive(&mut self, name: &'static str) {
        if !self.items.recursive.contains(&name) {
            self.items.recursive.push(name);
        }
    }

    /// A list with fewer elements than that.
    fn array_below(&mut self, end: usize) -> Option<String> {
        self.choose(Access::Read, |variable| match variable.kind {
            Kind::Floats { len, .. } if len < end => Some(variable.name.clone()),
            _ => None,
        })
    }

    fn spread(&mut self) {
        let list = self.choose(Access::Write, |variable| match variable.kind {
            Kind::Floats { len, .. } if len < 9 => Some(variable.name.clone()),
            _ => None,
        });
        let Some(list) = list else { return self.let_array() };
        self.note_recursive("rec_spread");
        let (a, n) = (self.float_below(1, 2.0), self.random.below(6));
        let ty = self.config.float;
        self.line(&format!(
            "{{ let by: {ty} = {}; rec_spread(&mut {list}[..], by, {n}); }}",
            a.text
        ));
    }

    /// The arguments of a call, if there are lists for it.
    fn arguments_of(&mut self, callable: &Callable, depth: usize) -> Option<String> {
        let mut lists: Vec<String> = Vec::new();
        let mut arguments = Vec::new();
        for taken in &callable.params {
            arguments.push(match *taken {
                Taken::Float => self.float(depth.min(1)).text,
                Taken::Shared(len) | Taken::Exclusive(len) => {
                    let access = if matches!(taken, Taken::Shared(_)) {
                        Access::Read
                    } else {
                        Access::Write
                    };
                    let used = lists.clone();
                    let (name, known) = self.choose(access, |variable| match variable.kind {
                        Kind::Floats { len: known, .. }
                            if known >= len && !used.contains(&variable.name) =>
                        {
                            Some((variable.name.clone(), known))
                        }
                        _ => None,
                    })?;
                    lists.push(name.clone());
                    let sign = if access == Access::Read { "&" } else { "&mut " };
                    if known == len {
                        format!("{sign}{name}[..]")
                    } else {
                        format!("{sign}{name}[..{len}]")
                    }
                }
                Taken::Updated => {
                    let used = lists.clone();
                    let name = self.choose(Access::Write, |variable| match variable.kind {
                        Kind::Float { .. } if !used.contains(&variable.name) => {
                            Some(variable.name.clone())
                        }
                        _ => None,
                    })?;
                    lists.push(name.clone());
                    format!("&mut {name}")
                }
            });
        }
        // What is written cannot be read by another argument.
        let clash = |name: &String, at: usize| {
            arguments.iter().enumerate().any(|(i, text)| i != at && mentions(text, name))
        };
        let mut list = lists.iter();
        for (at, taken) in callable.params.iter().enumerate() {
            if matches!(taken, Taken::Float) {
                continue;
            }
            let name = list.next()?;
            if !matches!(taken, Taken::Shared(_)) && clash(name, at) {
                return None;
            }
        }
        Some(arguments.join(", "))
    }

    fn helper_call(&mut self, depth: usize) -> Float {
        let callable = self.callable(true);
        match self.arguments_of(&callable, depth - 1) {
            Some(arguments) => {
                Float::atom(format!("{}({arguments})", callable.name), callable.bound)
            }
            None => self.float(depth - 1),
        }
    }

    fn call_statement(&mut self, depth: usize) {
        let callable = self.callable(false);
        match self.arguments_of(&callable, depth.min(1)) {
            Some(arguments) => self.line(&format!("{}({arguments});", callable.name)),
            None => self.assign_element(),
        }
    }

    /// A function, an old one or a new one; one without a result changes its arguments.
    fn callable(&mut self, returns: bool) -> Callable {
        let known: Vec<_> =
            self.items.callable.iter().filter(|one| one.returns == returns).cloned().collect();
        if known.len() > 1 || (!known.is_empty() && self.random.chance(60)) {
            return self.random.pick(&known).clone();
        }
        self.new_function(returns)
    }

    /// Writes a function of its own beside the program.
    fn new_function(&mut self, returns: bool) -> Callable {
        let ty = self.config.float;
        let name = self.fresh("helper");
        let outside = self.variables.split_off(0);
        let loops = std::mem::take(&mut self.loops);
        let (text, indent) =
            (std::mem::take(&mut self.text), std::mem::replace(&mut self.indent, 0));
        let outer_result = std::mem::replace(&mut self.returns_value, returns);
        let mut params = Vec::new();
        let mut list = Vec::new();
        let lists = outside.iter().filter_map(|variable| match variable.kind {
            Kind::Floats { len, .. } => Some((len, variable.access)),
            _ => None,
        });
        let mut lists: Vec<_> = lists.collect();
        for at in 0..self.random.within(1, 3) {
            let name = self.fresh("u");
            let kind =
                if !returns && at == 0 { self.random.within(2, 3) } else { self.random.below(2) };
            let found =
                (!lists.is_empty()).then(|| lists.swap_remove(self.random.below(lists.len())));
            match (kind, found) {
                (1, Some((len, _))) => {
                    params.push(Taken::Shared(len));
                    list.push(format!("{name}: &[{ty}]"));
                    self.declare(
                        &name,
                        Kind::Floats { len, bound: COLLECTED, collects: false },
                        Access::Read,
                    );
                }
                (2, Some((len, Access::Write))) => {
                    params.push(Taken::Exclusive(len));
                    list.push(format!("{name}: &mut [{ty}]"));
                    self.declare(
                        &name,
                        Kind::Floats { len, bound: COLLECTED, collects: true },
                        Access::Write,
                    );
                }
                (2..=3, _) => {
                    params.push(Taken::Updated);
                    list.push(format!("{name}: &mut {ty}"));
                    self.declare(
                        &format!("(*{name})"),
                        Kind::Float { bound: COLLECTED, collects: true },
                        Access::Write,
                    );
                }
                _ => {
                    params.push(Taken::Float);
                    list.push(format!("{name}: {ty}"));
                    self.declare(&name, Kind::Float { bound: TAME, collects: false }, Access::Read);
                }
            }
        }
        let result = if returns { format!(" -> {ty}") } else { String::new() };
        self.open(&format!("fn {name}({}){result} {{", list.join(", ")));
        // Called from a loop, it runs as often.
        let multiplicity = self.multiplicity;
        self.multiplicity = multiplicity.max(4);
        for _ in 0..self.random.within(usize::from(!returns), 3) {
            self.statement(1);
        }
        self.multiplicity = multiplicity;
        let mut bound = 0.0;
        if returns {
            let value = self.float(2);
            bound = value.bound.max(TAME);
            self.line(&value.text);
        }
        self.close("}");
        let function = std::mem::replace(&mut self.text, text);
        self.items.functions.push(function);
        self.indent = indent;
        self.variables = outside;
        self.loops = loops;
        self.returns_value = outer_result;
        let callable = Callable { name, params, bound, returns };
        self.items.callable.push(callable.clone());
        callable
    }
}

/// Whether a text names a variable.
fn mentions(text: &str, name: &str) -> bool {
    let root = name.trim_matches(|c| c == '(' || c == ')' || c == '*');
    let root = root.split(['.', '[']).next().unwrap_or(root);
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == root)
}
