//! Statements.

use super::super::lex::Token;
use super::symbols::fail;
use super::{Parser, Result};
use crate::{
    Argument, Atomic, AtomicOp, Barrier, Block, Call, Carried, Check, Exchange, Half, If, Init,
    Loop, Merge, Origin, Parallel, Range, Record, RecordId, Scalar, Shuffle, Slice, SourceId, Stmt,
    StmtId, ValueId,
};

const NOWHERE: SourceId = SourceId::NONE;

impl Parser {
    /// The statements up to the brace that closes their block, or to `return`.
    pub(super) fn statements(&mut self) -> Result<Block> {
        let mut block = Block::new();
        loop {
            while self.accept(";") {}
            let returns =
                self.is_word("return") && !matches!(self.peek_second(), Token::Sign("=" | ":"));
            if self.is_sign("}") || returns {
                return Ok(block);
            }
            block.push(self.nested(Self::statement)?);
            self.end_of_statement()?;
        }
    }

    pub(super) fn end_of_statement(&self) -> Result<()> {
        if self.goes_on() { self.expected("a new line or `;`") } else { Ok(()) }
    }

    fn block(&mut self) -> Result<Block> {
        self.expect("{")?;
        let block = self.statements()?;
        if self.is_word("return") {
            return fail(&self.here(), "`return` stands at the end of a function only");
        }
        self.expect("}")?;
        Ok(block)
    }

    fn statement(&mut self) -> Result<Stmt> {
        let defines = matches!(self.peek_second(), Token::Sign("=" | ":"));
        match self.peek().clone() {
            Token::Object { .. } => self.store(),
            Token::Value { .. } => self.definition_of_value(),
            Token::Word(_) if defines => self.definition_of_value(),
            Token::Word(word) => {
                let at = self.next();
                match word.as_str() {
                    "new" => {
                        let object = self.declaration(Origin::Local)?;
                        self.expect("=")?;
                        Ok(Stmt::New { object, init: self.init()? })
                    }
                    "swap" => {
                        let a = self.place()?;
                        self.expect(",")?;
                        Ok(Stmt::Swap { a, b: self.place()? })
                    }
                    "parallel" | "for" | "loop" => self.repeat(&word),
                    "if" => self.branch(),
                    "assert" | "unless" => self.assertion(word == "unless"),
                    "check" => self.check(),
                    "push" => self.push(),
                    "pop" => self.pop(),
                    "save" => {
                        let record = self.record()?;
                        self.mention(record);
                        Ok(Stmt::Save { record, slice: self.slice()? })
                    }
                    "restore" => {
                        let record = self.record()?;
                        self.mention(record);
                        Ok(Stmt::Restore { record, object: self.declaration(Origin::Local)? })
                    }
                    "refill" => {
                        let record = self.record()?;
                        self.mention(record);
                        Ok(Stmt::Refill { record, place: self.place()? })
                    }
                    "call" => self.call(),
                    "atomic" => self.atomic(),
                    "barrier" => {
                        let places =
                            if self.goes_on() { self.some(Self::place)? } else { Vec::new() };
                        Ok(Stmt::Barrier(Box::new(Barrier { places, span: NOWHERE })))
                    }
                    "shuffle" => self.shuffle(),
                    "record" | "region" | "declare" | "checkpoint" => {
                        fail(&at, format!("`{word}` stands at the beginning of a function"))
                    }
                    _ => {
                        fail(&at, format!("`{word}` begins no statement; `{word} = …` defines it"))
                    }
                }
            }
            _ => self.expected("a statement"),
        }
    }

    fn definition_of_value(&mut self) -> Result<Stmt> {
        let defined = self.defined()?;
        self.expect("=")?;
        let (op, found) = self.operation(defined.written.map(|(ty, _)| ty))?;
        let value = self.define(defined, found.map(|ty| (ty, false)))?;
        Ok(Stmt::Let { value, op })
    }

    fn store(&mut self) -> Result<Stmt> {
        let place = self.place()?;
        if self.accept("=") {
            return Ok(Stmt::Store { place, value: self.value()? });
        }
        let subtract = self.is_sign("-=");
        if !subtract && !self.is_sign("+=") {
            return self.expected("`=`, `+=` or `-=`");
        }
        self.next();
        Ok(Stmt::Accumulate { place, value: self.value()?, subtract })
    }

    fn atomic(&mut self) -> Result<Stmt> {
        let block = self.accept_word("block");
        let warp = !block && self.accept_word("warp");
        let at = self.here();
        let word = self.name()?;
        let Some((op, _)) = AtomicOp::ALL.into_iter().find(|(_, known)| *known == word) else {
            return fail(&at, "an atomic operation is `add`, `min` or `max`");
        };
        let place = self.place()?;
        self.expect(",")?;
        let value = self.value()?;
        let mut old = None;
        if self.on_line() && self.accept_word("old") {
            let defined = self.defined()?;
            old = Some(self.define(defined, None)?);
        }
        Ok(Stmt::Atomic(Box::new(Atomic { op, place, value, old, block, warp })))
    }

    fn shuffle(&mut self) -> Result<Stmt> {
        let at = self.here();
        let word = self.name()?;
        let Some((exchange, _)) = Exchange::ALL.into_iter().find(|(_, known)| *known == word)
        else {
            return fail(&at, "an exchange is `down`, `up` or `xor`");
        };
        let defined = self.defined()?;
        self.expect("=")?;
        let operand = self.value()?;
        self.expect(",")?;
        let by = self.value()?;
        let value = self.define(defined, self.symbols.known(operand.0))?;
        Ok(Stmt::Shuffle(Box::new(Shuffle { value, exchange, operand, by })))
    }

    fn repeat(&mut self, keyword: &str) -> Result<Stmt> {
        let mut parallel = None;
        let mut endless = keyword == "loop";
        if keyword == "parallel" {
            self.expect("(")?;
            let number = self.number()?;
            self.expect(",")?;
            self.expect_word("grain")?;
            parallel = Some(Parallel { number, grain: self.number()?, span: NOWHERE });
            self.expect(")")?;
            endless = self.is_word("loop");
            if !endless && !self.is_word("for") {
                return self.expected("`for` or `loop`");
            }
            self.next();
        }
        let counter = self.defined()?;
        let (range, ty) = if endless {
            (Range::Forever, Some(Scalar::USIZE))
        } else {
            self.expect_word("in")?;
            let from = self.value()?;
            self.expect("..")?;
            let ty = self.symbols.known(from.0).map(|(ty, _)| ty);
            (Range::UpTo { from, to: self.value()? }, ty)
        };
        let counter = self.define(counter, ty.map(|ty| (ty, false)))?;
        let reversed = self.accept_word("reversed");
        let unordered = self.accept_word("unordered");
        let mut carried = Vec::new();
        while self.accept(",") {
            let inside = self.defined()?;
            self.expect("=")?;
            let init = self.value()?;
            let inside = self.define(inside, self.symbols.known(init.0))?;
            carried.push(Carried { init, inside, next: inside, after: inside });
        }
        let schedule = self.schedule()?;
        let body = self.block()?;
        let mut node = Loop {
            range,
            reversed,
            unordered,
            carried,
            parallel,
            schedule,
            ..Loop::over(counter, (counter, counter), body, NOWHERE)
        };
        self.end_of_loop(&mut node)?;
        Ok(Stmt::Loop(Box::new(node)))
    }

    fn end_of_loop(&mut self, node: &mut Loop) -> Result<()> {
        let at = self.here();
        let mut ended = 0;
        let mut carrying = false;
        while self.goes_on() {
            let clause = self.here();
            if self.accept_word("exit") {
                if node.exit.is_some() {
                    return fail(&clause, "a loop has one `exit if`");
                }
                self.expect_word("if")?;
                node.exit = Some(self.value()?);
            } else if self.accept_word("trips") {
                if node.trips.is_some() {
                    return fail(&clause, "a loop has one `trips`");
                }
                let trips = self.defined()?;
                node.trips = Some(self.define(trips, Some((Scalar::USIZE, false)))?);
            } else if self.accept_word("carry") || carrying {
                carrying = true;
                let at = self.here();
                let inside = self.value()?;
                let carried = node.carried.get_mut(ended).filter(|known| known.inside == inside);
                let Some(carried) = carried else {
                    return fail(&at, "the loop's head has another value, or none, in this place");
                };
                self.expect("<-")?;
                carried.next = self.value()?;
                self.expect("->")?;
                let after = self.defined()?;
                carried.after = self.define(after, self.symbols.known(inside.0))?;
                ended += 1;
            } else {
                return self.expected("`exit if`, `carry` or `trips`");
            }
            if !self.accept(",") {
                break;
            }
        }
        if ended < node.carried.len() {
            return fail(&at, "a value that the loop carries has no `carry x <- next -> after`");
        }
        Ok(())
    }

    fn branch(&mut self) -> Result<Stmt> {
        let condition = self.value()?;
        let then = self.block()?;
        let other = if self.accept_word("else") { self.block()? } else { Block::new() };
        let mut merges = Vec::new();
        if self.goes_on() {
            self.expect_word("merge")?;
            merges = self.some(|parser| {
                let value = parser.defined()?;
                parser.expect("=")?;
                let then = parser.value()?;
                parser.expect("|")?;
                let other = parser.value()?;
                let value = parser.define(value, parser.symbols.known(then.0))?;
                Ok(Merge { value, then, other })
            })?;
        }
        Ok(Stmt::If(Box::new(If {
            id: StmtId::NONE,
            condition,
            then,
            other,
            merges,
            span: NOWHERE,
        })))
    }

    fn assertion(&mut self, prints: bool) -> Result<Stmt> {
        let condition = self.value()?;
        self.expect_word(if prints { "print" } else { "else" })?;
        let otherwise = self.opaque()?;
        let (mut names, mut objects) = (Vec::new(), Vec::new());
        if self.accept_word("with") {
            self.expect("(")?;
            self.list(")", |parser| {
                let name = parser.name()?;
                parser.expect("=")?;
                if matches!(parser.peek(), Token::Object { .. }) {
                    objects.push((name, parser.object()?));
                } else {
                    names.push((name, parser.value()?));
                }
                Ok(())
            })?;
        }
        let check = Check::Assert { condition, otherwise, names, objects, prints };
        Ok(Stmt::Check { check, span: NOWHERE })
    }

    fn check(&mut self) -> Result<Stmt> {
        let first = self.value()?;
        let check = if self.accept("<") {
            Check::Bounds { index: first, len: self.value()? }
        } else if self.accept("<=") {
            let to = self.value()?;
            self.expect("<=")?;
            Check::Range { from: first, to, len: self.value()? }
        } else if self.accept_word("or") {
            let Token::String(message) = self.peek().clone() else {
                return self.expected("a string");
            };
            self.next();
            Check::Library { condition: first, message }
        } else {
            return self.expected("`<`, `<=` or `or`");
        };
        Ok(Stmt::Check { check, span: NOWHERE })
    }

    /// Makes room for a record that no line has told of.
    pub(super) fn mention(&mut self, record: RecordId) {
        self.records.entry(record.0).or_insert_with(|| Record::new(Vec::new(), Vec::new()));
    }

    fn values(&mut self) -> Result<Vec<ValueId>> {
        if self.goes_on() { self.some(Self::value) } else { Ok(Vec::new()) }
    }

    fn push(&mut self) -> Result<Stmt> {
        let at = self.here();
        let record = self.record()?;
        let values = self.values()?;
        if !self.records.contains_key(&record.0) {
            let types = values.iter().map(|value| self.symbols.known(value.0).map(|(ty, _)| ty));
            let Some(types) = types.collect() else {
                return fail(&at, "a value of a type that is not known yet is pushed");
            };
            self.records.insert(record.0, Record::new(values.clone(), types));
        }
        Ok(Stmt::Push { record, values })
    }

    fn pop(&mut self) -> Result<Stmt> {
        let record = self.record()?;
        self.mention(record);
        let known = self.records.get(&record.0);
        let mut types = known.map(|known| known.types.clone()).unwrap_or_default().into_iter();
        let mut slots = known.map(|known| known.slots.clone()).unwrap_or_default().into_iter();
        let mut values = Vec::new();
        if self.goes_on() {
            values = self.some(|parser| {
                let value = parser.defined()?;
                let value = parser.define(value, types.next().map(|ty| (ty, false)))?;
                let mut restored = slots.next();
                if parser.goes_on() && parser.accept_word("restores") {
                    restored = match parser.accept_word("nothing") {
                        true => None,
                        false => Some(parser.value()?),
                    };
                }
                parser.symbols.restores(value, restored);
                Ok(value)
            })?;
        }
        Ok(Stmt::Pop { record, values })
    }

    fn slice(&mut self) -> Result<Slice> {
        self.expect("&")?;
        let mutable = self.accept_word("mut");
        let (place, part) = self.place_and_part()?;
        Ok(Slice { place, part, mutable })
    }

    fn call(&mut self) -> Result<Stmt> {
        let mut results = Vec::new();
        let named = matches!(self.peek_second(), Token::Sign("("));
        if !matches!(self.peek(), Token::Opaque(_)) && !named {
            results = self.some(|parser| {
                let value = parser.defined()?;
                parser.define(value, None)
            })?;
            self.expect("=")?;
        }
        let function = self.opaque()?;
        self.expect("(")?;
        let arguments = self.list(")", |parser| {
            if parser.is_sign("&") {
                parser.slice().map(Argument::Slice)
            } else {
                parser.value().map(Argument::Value)
            }
        })?;
        let pullback = if self.accept_word("pullback") { Some(self.opaque()?) } else { None };
        let half = if self.accept_word("forward") {
            Some(Half::Forward)
        } else if self.accept_word("backward") {
            Some(Half::Backward)
        } else {
            None
        };
        let mut recursion = None;
        if let Some(half) = half {
            self.expect_word("of")?;
            recursion = Some((self.path()?, half));
        }
        let call = Call {
            id: StmtId::NONE,
            function,
            arguments,
            results,
            pullback,
            recursion,
            span: NOWHERE,
        };
        Ok(Stmt::Call(Box::new(call)))
    }

    fn init(&mut self) -> Result<Init> {
        self.nested(Self::any_init)
    }

    fn any_init(&mut self) -> Result<Init> {
        if self.accept("[") {
            if self.accept("]") {
                return Ok(Init::Items(Vec::new()));
            }
            let first = self.init()?;
            if self.accept(";") {
                self.expect_word("_")?;
                self.expect("]")?;
                return Ok(Init::Fill(Box::new(first)));
            }
            let mut items = vec![first];
            if self.accept(",") {
                items.extend(self.list("]", Self::init)?);
            } else {
                self.expect("]")?;
            }
            return Ok(Init::Items(items));
        }
        if self.is_word("vec") && matches!(self.peek_second(), Token::Sign("!")) {
            self.next();
            self.expect("!")?;
            self.expect("[")?;
            let item = Box::new(self.init()?);
            self.expect(";")?;
            let len = self.value()?;
            self.expect("]")?;
            return Ok(Init::Repeat(item, len));
        }
        let second = |parser: &Self, word: &str| matches!(parser.peek_second(), Token::Word(found) if found == word);
        if self.is_word("copy") && second(self, "of") {
            self.next();
            self.next();
            return self.place().map(Init::Copy);
        }
        if self.is_word("zeros") && second(self, "like") {
            self.next();
            self.next();
            return self.object().map(Init::ZeroLike);
        }
        self.value().map(Init::Value)
    }
}
