//! A function as text, for people and for golden tests.

use std::fmt::{self, Write};

use crate::{
    Block, Check, Function, Init, Object, ObjectId, Op, Origin, Param, Place, Range, Step, Stmt,
    Unary, ValueId,
};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { function: self, out: String::new(), indent: 1 };
        printer.header()?;
        printer.block(&self.body)?;
        let results: Vec<_> = self.results.iter().map(|value| printer.value(*value)).collect();
        writeln!(printer.out, "  return {}", results.join(", "))?;
        f.write_str(&printer.out)
    }
}

struct Printer<'a> {
    function: &'a Function,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn value(&self, value: ValueId) -> String {
        match &self.function.values[value.index()].name {
            Some(name) => format!("{name}.{}", value.0),
            None => format!("%{}", value.0),
        }
    }

    fn object(&self, object: ObjectId) -> String {
        format!("@{}.{}", self.function.objects[object.index()].name, object.0)
    }

    fn place(&self, place: &Place) -> String {
        let mut text = self.object(place.object);
        for step in &place.path {
            match step {
                Step::Index(index) => text += &format!("[{}]", self.value(*index)),
                Step::Field(index) => text += &format!(".{index}"),
            }
        }
        text
    }

    fn header(&mut self) -> fmt::Result {
        write!(self.out, "fn {}(", self.function.name)?;
        for (i, param) in self.function.params.iter().enumerate() {
            if i > 0 {
                self.out += ", ";
            }
            match param {
                Param::Value(value) => {
                    let text = format!("{}: {}", self.value(*value), self.function.ty(*value));
                    self.out += &text;
                }
                Param::Object(object) => {
                    let Object { ty, origin, .. } = &self.function.objects[object.index()];
                    let sign = match origin {
                        Origin::Ref => "&",
                        Origin::RefMut => "&mut ",
                        Origin::Owned | Origin::Local => "",
                    };
                    let text = format!("{}: {sign}{ty}", self.object(*object));
                    self.out += &text;
                }
            }
        }
        writeln!(self.out, ")")
    }

    fn line(&mut self, text: &str) {
        self.out += &"  ".repeat(self.indent);
        self.out += text;
        self.out.push('\n');
    }

    fn inner(&mut self, block: &Block) -> fmt::Result {
        self.indent += 1;
        self.block(block)?;
        self.indent -= 1;
        Ok(())
    }

    fn values(&self, values: &[ValueId]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        for node in block {
            self.node(node)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Stmt) -> fmt::Result {
        match node {
            Stmt::Let { value, op } => {
                let text = format!(
                    "{}: {} = {}",
                    self.value(*value),
                    self.function.ty(*value),
                    self.op(op)
                );
                self.line(&text);
            }
            Stmt::Store { place, value } => {
                let text = format!("{} = {}", self.place(place), self.value(*value));
                self.line(&text);
            }
            Stmt::Accumulate { place, value, subtract } => {
                let sign = if *subtract { "-=" } else { "+=" };
                let text = format!("{} {sign} {}", self.place(place), self.value(*value));
                self.line(&text);
            }
            Stmt::New { object, init } => {
                let ty = &self.function.objects[object.index()].ty;
                let unfilled = self.function.unfilled.contains(object);
                let note = if unfilled { ", unfilled" } else { "" };
                let text =
                    format!("new {}: {ty} = {}{note}", self.object(*object), self.init(init));
                self.line(&text);
            }
            Stmt::Loop(node) => {
                let mut text = match node.range {
                    Range::UpTo { from, to } => format!(
                        "for {} in {}..{}{}",
                        self.value(node.counter),
                        self.value(from),
                        self.value(to),
                        if node.reversed { " reversed" } else { "" }
                    ),
                    Range::Forever => format!("loop {}", self.value(node.counter)),
                };
                if node.parallel.is_some() {
                    text.insert_str(0, "parallel ");
                }
                for carried in &node.carried {
                    write!(
                        text,
                        ", {} = {}",
                        self.value(carried.inside),
                        self.value(carried.init)
                    )?;
                }
                self.line(&text);
                self.inner(&node.body)?;
                let mut ends = String::new();
                if let Some(exit) = node.exit {
                    write!(ends, "exit if {} ", self.value(exit))?;
                }
                for carried in &node.carried {
                    write!(
                        ends,
                        "{} <- {} -> {}  ",
                        self.value(carried.inside),
                        self.value(carried.next),
                        self.value(carried.after)
                    )?;
                }
                if let Some(trips) = node.trips {
                    write!(ends, "trips {}", self.value(trips))?;
                }
                let ends = format!("end {}", ends.trim_end());
                self.line(ends.trim_end());
            }
            Stmt::If(node) => {
                let text = format!("if {}", self.value(node.condition));
                self.line(&text);
                self.inner(&node.then)?;
                if !node.other.is_empty() {
                    self.line("else");
                    self.inner(&node.other)?;
                }
                let merges: Vec<_> = node
                    .merges
                    .iter()
                    .map(|merge| {
                        format!(
                            "{}: {} = {} | {}",
                            self.value(merge.value),
                            self.function.ty(merge.value),
                            self.value(merge.then),
                            self.value(merge.other)
                        )
                    })
                    .collect();
                let text = format!("end {}", merges.join(", "));
                self.line(text.trim_end());
            }
            Stmt::Check { check, .. } => {
                let text = match check {
                    Check::Assert { condition, .. } => format!("assert {}", self.value(*condition)),
                    Check::Bounds { index, len } => {
                        format!("check {} < {}", self.value(*index), self.value(*len))
                    }
                    Check::Range { from, to, len } => format!(
                        "check {} <= {} <= {}",
                        self.value(*from),
                        self.value(*to),
                        self.value(*len)
                    ),
                    Check::Library { condition, message } => {
                        format!("check {} or {message:?}", self.value(*condition))
                    }
                };
                self.line(&text);
            }
            Stmt::Push { record, values } => {
                let text = format!("push {record:?} {}", self.values(values));
                self.line(&text);
            }
            Stmt::Call(call) => {
                let arguments: Vec<_> = call
                    .arguments
                    .iter()
                    .map(|argument| match argument {
                        crate::Argument::Value(value) => self.value(*value),
                        crate::Argument::Slice(slice) => self.slice(slice),
                    })
                    .collect();
                let results = self.values(&call.results);
                let text = format!("call {results} = {}({})", call.function, arguments.join(", "));
                self.line(&text);
            }
            Stmt::Save { record, slice } => {
                let text = format!("save {record:?} {}", self.slice(slice));
                self.line(&text);
            }
            Stmt::Restore { record, object } => {
                let text = format!("restore {record:?} {}", self.object(*object));
                self.line(&text);
            }
            Stmt::Pop { record, values } => {
                let text = format!("pop {record:?} {}", self.values(values));
                self.line(&text);
            }
        }
        Ok(())
    }

    fn slice(&self, slice: &crate::Slice) -> String {
        let sign = if slice.mutable { "&mut " } else { "&" };
        let part = match slice.part {
            Some((start, len)) => format!("[{} for {}]", self.value(start), self.value(len)),
            None => String::new(),
        };
        format!("{sign}{}{part}", self.place(&slice.place))
    }

    fn init(&self, init: &Init) -> String {
        match init {
            Init::Items(items) => {
                let items: Vec<_> = items.iter().map(|item| self.init(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Init::Value(value) => self.value(*value),
            Init::Fill(item) => format!("[{}; _]", self.init(item)),
            Init::Repeat(item, len) => format!("vec![{}; {}]", self.init(item), self.value(*len)),
            Init::Copy(place) => format!("copy of {}", self.place(place)),
            Init::ZeroLike(object) => format!("zeros like {}", self.object(*object)),
        }
    }

    fn op(&self, op: &Op) -> String {
        let v = |value: &ValueId| self.value(*value);
        match op {
            Op::Float(_, text) => text.clone(),
            Op::Int(number) => number.to_string(),
            Op::Bool(value) => value.to_string(),
            Op::Const(tokens) => format!("const {tokens}"),
            Op::Unary(Unary::Neg, a) => format!("-{}", v(a)),
            Op::Unary(Unary::Not, a) => format!("!{}", v(a)),
            Op::Binary(sign, a, b) => format!("{} {} {}", v(a), sign.sign(), v(b)),
            Op::Compare(sign, a, b) => format!("{} {} {}", v(a), sign.sign(), v(b)),
            Op::TotalCmp { less, a, b } => {
                format!("{} {} {}", v(a), if *less { "<total" } else { ">total" }, v(b))
            }
            Op::Math(function, args) => format!("{}({})", function.method(), self.values(args)),
            Op::Method(name, args) => format!("{name}({})", self.values(args)),
            Op::Cast(a, ty) => format!("{} as {ty}", v(a)),
            Op::Select(c, a, b) => format!("if {} then {} else {}", v(c), v(a), v(b)),
            Op::Load(place) => self.place(place),
            Op::Len(place) => format!("{}.len()", self.place(place)),
        }
    }
}
