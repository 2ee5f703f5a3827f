//! Functions and modules as text.

mod schedule;
mod statement;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use super::word;
use crate::{
    Function, Layout, Module, ObjectId, Offset, Origin, Param, Place, Polynomial, Record, RecordId,
    Region, RegionId, Room, Scalar, Step, ValueId,
};

/// Columns that a list of parameters may take on one line.
const WIDTH: usize = 100;

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for def in self.structs() {
            writeln!(f, "{}", word::definition(def))?;
        }
        for (position, function) in self.functions().iter().enumerate() {
            if position > 0 || !self.structs().is_empty() {
                writeln!(f)?;
            }
            f.write_str(&Printer::new(function).function())?;
        }
        Ok(())
    }
}

impl fmt::Display for Function {
    /// The function after the structs of its types: a whole module, which [`parse_function`](crate::text::parse_function) reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self);
        let text = printer.function();
        let mut module = Module::new();
        for object in &printer.declared {
            self.objects.get(object.index()).iter().for_each(|known| module.add_structs(&known.ty));
        }
        for def in module.structs() {
            writeln!(f, "{}", word::definition(def))?;
        }
        f.write_str(&text)
    }
}

struct Printer<'a> {
    function: &'a Function,
    out: String,
    indent: usize,
    /// Values and objects that were mentioned.
    values: RefCell<BTreeSet<ValueId>>,
    objects: RefCell<BTreeSet<ObjectId>>,
    /// Values whose types a reader knows by now.
    typed: BTreeSet<ValueId>,
    /// Objects whose types a reader knows by now.
    declared: BTreeSet<ObjectId>,
}

impl<'a> Printer<'a> {
    fn new(function: &'a Function) -> Self {
        Self {
            function,
            out: String::new(),
            indent: 1,
            values: RefCell::default(),
            objects: RefCell::default(),
            typed: BTreeSet::new(),
            declared: BTreeSet::new(),
        }
    }

    /// The whole function. What stands at its beginning depends on what the body mentions, so the body comes first.
    fn function(&mut self) -> String {
        let header = self.header();
        self.block(&self.function.body);
        let mut results: Vec<_> =
            self.function.results.iter().map(|value| self.value(*value)).collect();
        results.extend(self.function.kept.iter().map(|object| self.object(*object)));
        self.line(format!("return {}", results.join(", ")).trim_end());
        let body = std::mem::take(&mut self.out);
        let checkpoints = self.checkpoints();
        self.declare_rest();
        self.records();
        let head = std::mem::take(&mut self.out);
        format!("{header} {{\n{head}{checkpoints}{body}}}\n")
    }

    fn line(&mut self, text: &str) {
        self.out += &"  ".repeat(self.indent);
        self.out += text;
        self.out.push('\n');
    }

    fn value(&self, value: ValueId) -> String {
        self.values.borrow_mut().insert(value);
        match self.function.values.get(value.index()).and_then(|known| known.name.as_ref()) {
            Some(name) if word::is_identifier(name) => format!("{name}.{}", value.0),
            Some(name) => format!("%{}.{}", word::string(name), value.0),
            None => format!("%{}", value.0),
        }
    }

    fn values(&self, values: &[ValueId]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    fn object(&self, object: ObjectId) -> String {
        self.objects.borrow_mut().insert(object);
        match self.function.objects.get(object.index()).map(|known| known.name.as_str()) {
            Some(name) if name.is_empty() || word::is_identifier(name) => {
                format!("@{name}.{}", object.0)
            }
            Some(name) => format!("@{}.{}", word::string(name), object.0),
            None => format!("@.{}", object.0),
        }
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

    fn polynomial(&self, polynomial: &Polynomial) -> String {
        polynomial.text(&|value| Some(self.value(value))).unwrap_or_default()
    }

    /// Type and mark of a value; what is not in the table has none.
    fn known(&self, value: ValueId) -> Option<(Scalar, bool)> {
        self.function.values.get(value.index()).map(|known| (known.ty, known.adjoint))
    }

    /// A value where it is defined, with its type.
    fn definition(&mut self, value: ValueId) -> String {
        self.definition_or(value, None)
    }

    /// A value where it is defined, with its type unless a reader takes it for this one.
    fn definition_or(&mut self, value: ValueId, expected: Option<(Scalar, bool)>) -> String {
        self.typed.insert(value);
        let text = self.value(value);
        match self.known(value) {
            known if known.is_none() || known == expected => text,
            Some((ty, true)) => format!("{text}: ~{}", word::scalar(ty)),
            Some((ty, false)) => format!("{text}: {}", word::scalar(ty)),
            None => text,
        }
    }

    /// Type and mark of a value that was defined before.
    fn if_typed(&self, value: ValueId) -> Option<(Scalar, bool)> {
        self.known(value).filter(|_| self.typed.contains(&value))
    }

    /// An object where it comes from, with all that is known of it.
    fn declaration(&mut self, id: ObjectId, usual: Origin) -> String {
        self.declared.insert(id);
        let mut text = self.object(id);
        let Some(object) = self.function.objects.get(id.index()) else { return text };
        text += match object.origin {
            origin if origin == usual => ": ",
            Origin::Ref => ": &",
            Origin::RefMut => ": &mut ",
            Origin::Owned => ": owned ",
            Origin::Local => ": local ",
        };
        text += &word::ty(&object.ty);
        if let Some(of) = object.shadow_of {
            text += &format!(" shadow of {}", self.object(of));
        }
        if let Some(copy) = self.function.strided_copies.get(&id) {
            let of = self.object(copy.of);
            text += &format!(" every {} of {of} from {}", copy.stride, copy.offset);
        }
        if self.function.sums.contains(&id) {
            text += " sums";
        }
        if self.function.unfilled.contains(&id) {
            text += " unfilled";
        }
        if self.function.shared.contains(&id) {
            text += " shared";
        }
        if self.function.emptied.contains(&id) {
            text += " emptied";
        }
        text
    }

    fn header(&mut self) -> String {
        let mut params = Vec::new();
        for param in &self.function.params {
            params.push(match param {
                Param::Value(value) => self.definition(*value),
                Param::Object(object) => self.declaration(*object, Origin::Owned),
            });
        }
        let name = word::path(&self.function.name);
        let line = params.join(", ");
        let mut text = if line.chars().count() <= WIDTH {
            format!("fn {name}({line})")
        } else {
            format!("fn {name}(\n    {},\n)", params.join(",\n    "))
        };
        if self.function.parallel {
            text += " parallel";
        }
        if self.function.plain {
            text += " plain";
        }
        if self.function.kernel {
            text += " kernel";
        }
        if !self.function.recursive.is_empty() {
            let names: Vec<_> =
                self.function.recursive.iter().map(|name| word::path(name)).collect();
            text += &format!(" recursive({})", names.join(", "));
        }
        text
    }

    fn checkpoints(&mut self) -> String {
        let function = self.function;
        for (counter, checkpoint) in &function.checkpoints {
            let numbers: Vec<_> = checkpoint
                .numbers
                .iter()
                .map(|(name, value)| format!("{} = {}", word::name(name), self.value(*value)))
                .collect();
            let mut text = format!("checkpoint {} ({})", self.value(*counter), numbers.join(", "));
            if let Some(disk) = &checkpoint.disk {
                text += &format!(" disk {}", word::opaque(disk));
            }
            if let Some(schedule) = &checkpoint.schedule {
                text += &format!(" schedule {}", word::opaque(schedule));
            }
            self.line(&text);
        }
        std::mem::take(&mut self.out)
    }

    /// Declares what was mentioned and is defined nowhere: a reader must know its type all the same.
    fn declare_rest(&mut self) {
        for record in &self.function.records {
            for (position, slot) in record.slots.iter().enumerate() {
                let written = record.types.get(position).map(|ty| (*ty, false));
                if record.slots.len() == record.types.len() && self.known(*slot) == written {
                    // A slot says what its value is.
                    self.typed.insert(*slot);
                }
                self.value(*slot);
            }
        }
        let values = self.values.borrow().clone();
        for value in values {
            if !self.typed.contains(&value) {
                let text = format!("declare {}", self.definition(value));
                self.line(&text);
            }
        }
        let function = self.function;
        let copies = function.strided_copies.keys();
        for object in copies
            .chain(&function.sums)
            .chain(&function.unfilled)
            .chain(&function.emptied)
            .chain(&function.shared)
        {
            self.object(*object);
        }
        let mut left = self.undeclared();
        while !left.is_empty() {
            for object in left {
                let text = format!("declare {}", self.declaration(object, Origin::Local));
                self.line(&text);
            }
            // Those that were mentioned on the way.
            left = self.undeclared();
        }
    }

    fn undeclared(&self) -> Vec<ObjectId> {
        self.objects.borrow().difference(&self.declared).copied().collect()
    }

    fn records(&mut self) {
        let function = self.function;
        for (number, region) in function.regions.iter().enumerate() {
            let Region { cell, cells, layout, layer } = region;
            let mut text = format!("{:?} of {cells} {}", RegionId(number as u32), cell.name());
            if *layout == Layout::Columns {
                text += " columns";
            }
            if let Some(frames) = layer {
                text += &format!(" layer {frames}");
            }
            self.line(&text);
        }
        for (number, record) in function.records.iter().enumerate() {
            let Record { slots, types, cell, room } = record;
            let mut text = format!("record {:?} ", RecordId(number as u32));
            if slots.len() == types.len() {
                let slots: Vec<_> = slots
                    .iter()
                    .zip(types)
                    .map(|(slot, ty)| format!("{}: {}", self.value(*slot), word::scalar(*ty)))
                    .collect();
                text += &format!("({})", slots.join(", "));
            } else {
                let types: Vec<_> = types.iter().map(|ty| word::scalar(*ty)).collect();
                text += &format!("({}) of ({})", self.values(slots), types.join(", "));
            }
            if let Some(cell) = cell {
                text += &format!(" as {}", cell.name());
            }
            if let Some(Room { region, offset }) = room {
                text += &format!(" in {region:?}");
                if let Some(Offset { at, steps }) = offset {
                    text += &format!(" at {at}");
                    steps.iter().for_each(|step| text += &format!(" step {step}"));
                }
            }
            self.line(&text);
        }
    }
}
