//! Statements as text.

use super::Printer;
use crate::text::word;
use crate::{
    Argument, Block, Call, Check, Half, If, Init, Loop, Op, Origin, Range, Scalar, Slice, Stmt,
    Unary, ValueId,
};

impl Printer<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn inner(&mut self, block: &Block) {
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Stmt) {
        let text = match statement {
            Stmt::Let { value, op } => {
                let ty = self.function.values.get(value.index()).map(|known| known.ty);
                // The operands come first: a value that is its own operand has no type yet.
                let op = self.op(op, ty.unwrap_or(Scalar::Bool));
                format!("{} = {op}", self.definition(*value))
            }
            Stmt::Store { place, value } => {
                format!("{} = {}", self.place(place), self.value(*value))
            }
            Stmt::Accumulate { place, value, subtract } => {
                let sign = if *subtract { "-=" } else { "+=" };
                format!("{} {sign} {}", self.place(place), self.value(*value))
            }
            Stmt::New { object, init } => {
                let init = self.init(init);
                format!("new {} = {init}", self.declaration(*object, Origin::Local))
            }
            Stmt::Swap { a, b } => format!("swap {}, {}", self.place(a), self.place(b)),
            Stmt::Loop(node) => return self.repeat(node),
            Stmt::If(node) => return self.branch(node),
            Stmt::Check { check, .. } => self.check(check),
            Stmt::Push { record, values } => format!("push {record:?} {}", self.values(values)),
            Stmt::Pop { record, values } => {
                let known = self.function.records.get(record.index()).cloned();
                let types = known.as_ref().map(|known| known.types.clone()).unwrap_or_default();
                let slots = known.map(|known| known.slots).unwrap_or_default();
                let known_values = &self.function.values;
                let mut texts = Vec::new();
                for (position, value) in values.iter().enumerate() {
                    let expected = types.get(position).map(|ty| (*ty, false));
                    let mut text = self.definition_or(*value, expected);
                    let slot = slots.get(position).copied();
                    let restored = known_values.get(value.index()).and_then(|one| one.stands_for);
                    if restored != slot {
                        let of = restored.map(|value| self.value(value));
                        text +=
                            &format!(" restores {}", of.unwrap_or_else(|| "nothing".to_owned()));
                    }
                    texts.push(text);
                }
                format!("pop {record:?} {}", texts.join(", "))
            }
            Stmt::Call(call) => self.call(call),
            Stmt::Save { record, slice } => format!("save {record:?} {}", self.slice(slice)),
            Stmt::Restore { record, object } => {
                format!("restore {record:?} {}", self.declaration(*object, Origin::Local))
            }
            Stmt::Refill { record, place } => format!("refill {record:?} {}", self.place(place)),
            Stmt::Atomic(atomic) => {
                let block = match (atomic.block, atomic.warp) {
                    (true, _) => "block ",
                    (false, true) => "warp ",
                    (false, false) => "",
                };
                let (op, value) = (atomic.op.word(), self.value(atomic.value));
                let mut text = format!("atomic {block}{op} {}, {value}", self.place(&atomic.place));
                if let Some(old) = atomic.old {
                    text += &format!(" old {}", self.definition(old));
                }
                text
            }
            Stmt::Barrier(barrier) => {
                let places: Vec<_> = barrier.places.iter().map(|one| self.place(one)).collect();
                format!("barrier {}", places.join(", "))
            }
            Stmt::Shuffle(shuffle) => {
                let (operand, by) = (self.value(shuffle.operand), self.value(shuffle.by));
                let value = self.definition(shuffle.value);
                format!("shuffle {} {value} = {operand}, {by}", shuffle.exchange.word())
            }
        };
        self.line(text.trim_end());
    }

    fn repeat(&mut self, node: &Loop) {
        let (range, expected) = match node.range {
            Range::UpTo { from, to } => {
                let range = format!(" in {}..{}", self.value(from), self.value(to));
                (range, self.if_typed(from).map(|(ty, _)| (ty, false)))
            }
            Range::Forever => (String::new(), Some((Scalar::USIZE, false))),
        };
        let keyword = if range.is_empty() { "loop" } else { "for" };
        let mut text = String::new();
        if let Some(parallel) = &node.parallel {
            text += &format!("parallel({}, grain {}) ", parallel.number, parallel.grain);
        }
        text += &format!("{keyword} {}{range}", self.definition_or(node.counter, expected));
        if node.reversed {
            text += " reversed";
        }
        if node.unordered {
            text += " unordered";
        }
        for carried in &node.carried {
            let init = self.value(carried.init);
            let expected = self.if_typed(carried.init);
            text += &format!(", {} = {init}", self.definition_or(carried.inside, expected));
        }
        match &node.schedule {
            None => self.line(&format!("{text} {{")),
            Some(schedule) => {
                self.line(&text);
                self.indent += 2;
                self.schedule(schedule);
                self.indent -= 2;
                self.line("{");
            }
        }
        self.inner(&node.body);
        let mut ends = Vec::new();
        if let Some(exit) = node.exit {
            ends.push(format!("exit if {}", self.value(exit)));
        }
        for (position, carried) in node.carried.iter().enumerate() {
            let (inside, next) = (self.value(carried.inside), self.value(carried.next));
            let expected = self.known(carried.inside);
            let after = self.definition_or(carried.after, expected);
            let keyword = if position == 0 { "carry " } else { "" };
            ends.push(format!("{keyword}{inside} <- {next} -> {after}"));
        }
        if let Some(trips) = node.trips {
            let trips = self.definition_or(trips, Some((Scalar::USIZE, false)));
            ends.push(format!("trips {trips}"));
        }
        self.line(format!("}} {}", ends.join(", ")).trim_end());
    }

    fn branch(&mut self, node: &If) {
        let text = format!("if {} {{", self.value(node.condition));
        self.line(&text);
        self.inner(&node.then);
        if !node.other.is_empty() {
            self.line("} else {");
            self.inner(&node.other);
        }
        let mut merges = Vec::new();
        for merge in &node.merges {
            let (then, other) = (self.value(merge.then), self.value(merge.other));
            merges.push(format!("{} = {then} | {other}", self.definition(merge.value)));
        }
        if merges.is_empty() {
            self.line("}");
        } else {
            self.line(&format!("}} merge {}", merges.join(", ")));
        }
    }

    fn check(&self, check: &Check) -> String {
        let v = |value: &ValueId| self.value(*value);
        match check {
            Check::Assert { condition, otherwise, names, objects, prints } => {
                let mut with: Vec<_> = names
                    .iter()
                    .map(|(name, value)| format!("{} = {}", word::name(name), v(value)))
                    .collect();
                with.extend(objects.iter().map(|(name, object)| {
                    format!("{} = {}", word::name(name), self.object(*object))
                }));
                let with = match &with[..] {
                    [] => String::new(),
                    some => format!(" with ({})", some.join(", ")),
                };
                let (keyword, then) =
                    if *prints { ("unless", "print") } else { ("assert", "else") };
                format!("{keyword} {} {then} {}{with}", v(condition), word::opaque(otherwise))
            }
            Check::Bounds { index, len } => format!("check {} < {}", v(index), v(len)),
            Check::Range { from, to, len } => {
                format!("check {} <= {} <= {}", v(from), v(to), v(len))
            }
            Check::Library { condition, message } => {
                format!("check {} or {}", v(condition), word::string(message))
            }
        }
    }

    fn call(&mut self, call: &Call) -> String {
        let arguments: Vec<_> = call
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Value(value) => self.value(*value),
                Argument::Slice(slice) => self.slice(slice),
            })
            .collect();
        let results: Vec<_> = call.results.iter().map(|value| self.definition(*value)).collect();
        let equals = if results.is_empty() { "" } else { " = " };
        let mut text = format!(
            "call {}{equals}{}({})",
            results.join(", "),
            word::opaque(&call.function),
            arguments.join(", ")
        );
        if let Some(pullback) = &call.pullback {
            text += &format!(" pullback {}", word::opaque(pullback));
        }
        if let Some((name, half)) = &call.recursion {
            let half = match half {
                Half::Forward => "forward",
                Half::Backward => "backward",
            };
            text += &format!(" {half} of {}", word::path(name));
        }
        text
    }

    fn slice(&self, slice: &Slice) -> String {
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

    fn op(&self, op: &Op, ty: Scalar) -> String {
        let v = |value: &ValueId| self.value(*value);
        match op {
            Op::Float(number, text) => float(*number, text),
            Op::Int(number) => number.to_string(),
            Op::Bool(value) => value.to_string(),
            Op::Const(text) => format!("const {}", word::opaque(text)),
            Op::Unary(Unary::Neg, a) => format!("-{}", v(a)),
            Op::Unary(Unary::Not, a) => format!("!{}", v(a)),
            Op::Binary(sign, a, b) => format!("{} {} {}", v(a), sign.sign(), v(b)),
            Op::Compare(sign, a, b) => format!("{} {} {}", v(a), sign.sign(), v(b)),
            Op::TotalCmp { less, a, b } => {
                format!("{} {} {}", v(a), if *less { "<total" } else { ">total" }, v(b))
            }
            Op::Math(function, args) => {
                let name = function.method();
                let usual = word::math(name, args.len(), ty) == Some(*function);
                let keyword = if usual { "" } else { "math " };
                format!("{keyword}{name}({})", self.values(args))
            }
            Op::Method(name, args) => {
                let plain = word::is_identifier(name) && !word::OPERATIONS.contains(&name.as_str());
                let usual = plain && word::math(name, args.len(), ty).is_none();
                let keyword = if usual { "" } else { "method " };
                format!("{keyword}{}({})", word::name(name), self.values(args))
            }
            Op::Cast(a, ty) => format!("{} as {}", v(a), word::scalar(*ty)),
            Op::Select(c, a, b) => format!("if {} then {} else {}", v(c), v(a), v(b)),
            Op::Load(place) => self.place(place),
            Op::Len(place) => format!("{}.len()", self.place(place)),
            Op::Builtin(builtin) => format!("builtin {}", builtin.word()),
        }
    }
}

/// A float literal. Its text decides the bits in Rust; its number, which passes compute with, is written where the text does not say it.
fn float(number: f64, text: &str) -> String {
    let plain = crate::text::lex::is_float(text.strip_prefix('-').unwrap_or(text));
    let said = word::float(text).filter(|_| plain).map(f64::to_bits);
    let shown = format!("{number:?}");
    if said == Some(number.to_bits()) {
        text.to_owned()
    } else if said.is_some() && number.is_finite() {
        format!("{text} ~ {shown}")
    } else {
        format!("float {} {:#x}", word::string(text), number.to_bits())
    }
}
