//! Functions: what stands around their statements.

use super::super::lex::Token;
use super::symbols::{Symbols, fail};
use super::{Parser, Result};
use crate::{
    Cell, Checkpoint, Function, Layout, Offset, Origin, Param, Record, Region, RegionId, Room,
    SourceId,
};

impl Parser {
    /// What stands after `fn`.
    pub(super) fn function(&mut self) -> Result<Function> {
        let end = self.end_of_function();
        self.symbols = Symbols::of(&self.tokens[self.at..end])?;
        self.records.clear();
        self.function = Function::new(&self.path()?);
        self.expect("(")?;
        self.function.params = self.list(")", Self::param)?;
        self.function.parallel = self.accept_word("parallel");
        self.function.plain = self.accept_word("plain");
        self.function.kernel = self.accept_word("kernel");
        if self.accept_word("recursive") {
            self.expect("(")?;
            self.function.recursive = self.list(")", Self::path)?.into_iter().collect();
        }
        self.expect("{")?;
        while self.head()? {}
        self.function.body = self.statements()?;
        if self.accept_word("return") {
            self.results()?;
        }
        self.accept(";");
        self.expect("}")?;
        let mut function = std::mem::replace(&mut self.function, Function::new(""));
        (function.values, function.objects) = std::mem::take(&mut self.symbols).tables()?;
        let last = self.records.last_key_value().map_or(0, |(last, _)| last + 1);
        for number in 0..last {
            let record = self.records.remove(&number);
            let unused = || Record::new(Vec::new(), Vec::new());
            function.records.push(record.unwrap_or_else(unused));
        }
        Ok(function)
    }

    /// The token after the brace that closes the function, or the last.
    fn end_of_function(&self) -> usize {
        let mut depth = 0_usize;
        for (position, placed) in self.tokens.iter().enumerate().skip(self.at) {
            match placed.token {
                Token::Sign("{") => depth += 1,
                Token::Sign("}") if depth <= 1 => return position + 1,
                Token::Sign("}") => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn param(&mut self) -> Result<Param> {
        if matches!(self.peek(), Token::Object { .. }) {
            return self.declaration(Origin::Owned).map(Param::Object);
        }
        let defined = self.defined()?;
        self.define(defined, None).map(Param::Value)
    }

    fn results(&mut self) -> Result<()> {
        if !self.goes_on() {
            return Ok(());
        }
        loop {
            if matches!(self.peek(), Token::Object { .. }) {
                let object = self.object()?;
                self.function.kept.push(object);
            } else if self.function.kept.is_empty() {
                let value = self.value()?;
                self.function.results.push(value);
            } else {
                return fail(&self.here(), "values are returned before objects");
            }
            if !self.accept(",") {
                return Ok(());
            }
        }
    }

    /// A line at the beginning of a function that is no statement.
    fn head(&mut self) -> Result<bool> {
        if self.accept_word("record") {
            self.record_line()?;
        } else if self.accept_word("region") {
            self.region_line()?;
        } else if self.accept_word("declare") {
            if matches!(self.peek(), Token::Object { .. }) {
                self.declaration(Origin::Local)?;
            } else {
                let defined = self.defined()?;
                self.define(defined, None)?;
            }
        } else if self.accept_word("checkpoint") {
            self.checkpoint()?;
        } else {
            return Ok(false);
        }
        self.end_of_statement()?;
        Ok(true)
    }

    /// The number of a region.
    pub(super) fn region(&mut self) -> Result<RegionId> {
        self.number().map(RegionId)
    }

    fn cell(&mut self) -> Result<Cell> {
        let cell = match self.peek() {
            Token::Word(word) => Cell::from_name(word),
            _ => None,
        };
        let Some(cell) = cell else {
            return self.expected("`f64`, `f32`, `u128`, `u64`, `u32` or `u8`");
        };
        self.next();
        Ok(cell)
    }

    fn region_line(&mut self) -> Result<()> {
        let at = self.here();
        if self.region()?.index() != self.function.regions.len() {
            return fail(&at, "regions are numbered from 0, in their order");
        }
        self.expect_word("of")?;
        let (cells, cell) = (self.number()?, self.cell()?);
        let layout = if self.accept_word("columns") { Layout::Columns } else { Layout::Frames };
        let layer = if self.accept_word("layer") { Some(self.number()?) } else { None };
        self.function.regions.push(Region { cell, cells, layout, layer });
        Ok(())
    }

    fn record_line(&mut self) -> Result<()> {
        let at = self.here();
        let id = self.record()?;
        self.expect("(")?;
        let slots = self.list(")", |parser| {
            let slot = parser.value()?;
            let ty = if parser.accept(":") { Some(parser.scalar()?) } else { None };
            Ok((slot, ty))
        })?;
        let types = if self.accept_word("of") {
            self.expect("(")?;
            self.list(")", Self::scalar)?
        } else {
            let types: Option<Vec<_>> = slots.iter().map(|(_, ty)| *ty).collect();
            let Some(types) = types else {
                return fail(&at, "each slot has a type, as in `record #0 (x.1: f64)`");
            };
            types
        };
        for (slot, ty) in &slots {
            ty.iter().for_each(|ty| self.symbols.slot(slot.0, *ty));
        }
        let mut record = Record::new(slots.into_iter().map(|(slot, _)| slot).collect(), types);
        if self.accept_word("as") {
            record.cell = Some(self.cell()?);
        }
        if self.accept_word("in") {
            self.expect_word("region")?;
            let region = self.region()?;
            let mut offset = None;
            if self.accept_word("at") {
                let (at, mut steps) = (self.number()?, Vec::new());
                while self.accept_word("step") {
                    steps.push(self.number()?);
                }
                offset = Some(Offset { at, steps });
            }
            record.room = Some(Room { region, offset });
        }
        match self.records.insert(id.0, record) {
            Some(_) => fail(&at, format!("the record {id:?} is defined twice")),
            None => Ok(()),
        }
    }

    fn checkpoint(&mut self) -> Result<()> {
        let counter = self.value()?;
        self.expect("(")?;
        let numbers = self.list(")", |parser| {
            let name = parser.name()?;
            parser.expect("=")?;
            Ok((name, parser.value()?))
        })?;
        let disk = if self.accept_word("disk") { Some(self.opaque()?) } else { None };
        let schedule = if self.accept_word("schedule") { Some(self.opaque()?) } else { None };
        let checkpoint = Checkpoint { numbers, disk, schedule, span: SourceId::NONE };
        self.function.checkpoints.push((counter, checkpoint));
        Ok(())
    }
}
