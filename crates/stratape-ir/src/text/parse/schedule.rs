//! Schedules.

use super::super::lex::Token;
use super::symbols::fail;
use super::{Parser, Result};
use crate::{
    Parts, Polynomial, Reduction, Rotation, Schedule, Side, Simd, Split, Stream, Strip, View,
    Window,
};

impl Parser {
    /// The clauses between a loop's head and its block.
    pub(super) fn schedule(&mut self) -> Result<Option<Box<Schedule>>> {
        let mut schedule = None;
        while let Token::Word(word) = self.peek().clone() {
            let known: &mut Schedule = schedule.get_or_insert_with(Box::default);
            self.clause(&word, known)?;
        }
        Ok(schedule)
    }

    fn clause(&mut self, word: &str, schedule: &mut Schedule) -> Result<()> {
        let misplaced = |parser: &Self, before: &str| {
            parser.expected(&format!("`{before}` before this clause"))
        };
        let again = match word {
            "strip" => schedule.strip.is_some(),
            "simd" => schedule.simd.is_some(),
            "parts" => schedule.parts.is_some(),
            _ => false,
        };
        if again {
            return fail(&self.here(), format!("a loop has one `{word}`"));
        }
        match word {
            "sequential" => drop(self.next()),
            "rolled" => {
                self.next();
                schedule.rolled = true;
            }
            "strip" => {
                self.next();
                let region = if self.accept_word("region") { Some(self.region()?) } else { None };
                let stream = if !self.accept_word("stream") {
                    None
                } else if self.either("out", "in")? {
                    Some(Stream::Out)
                } else {
                    Some(Stream::In)
                };
                schedule.strip = Some(Strip { region, stream, ..Strip::default() });
            }
            "simd" => {
                self.next();
                let width = self.number()?;
                let (reductions, rotations, delayed) = (Vec::new(), Vec::new(), Vec::new());
                schedule.simd = Some(Simd { width, reductions, rotations, delayed });
            }
            "parts" => {
                self.next();
                schedule.parts = Some(Parts::default());
            }
            "view" | "split" => match &mut schedule.strip {
                None => return misplaced(self, "strip"),
                Some(strip) => self.clause_of_strip(word, strip)?,
            },
            "reduce" | "rotation" | "delayed" => match &mut schedule.simd {
                None => return misplaced(self, "simd"),
                Some(simd) => self.clause_of_simd(word, simd)?,
            },
            "window" | "private" => match &mut schedule.parts {
                None => return misplaced(self, "parts"),
                Some(parts) => self.clause_of_parts(word, parts)?,
            },
            _ => return self.expected("`{` or a clause of a schedule"),
        }
        Ok(())
    }

    fn from(&mut self) -> Result<Polynomial> {
        if self.accept_word("from") { self.polynomial() } else { Ok(Polynomial::number(0)) }
    }

    fn clause_of_strip(&mut self, word: &str, strip: &mut Strip) -> Result<()> {
        self.next();
        if word == "view" {
            let mutable = self.accept_word("mut");
            let object = self.object()?;
            let base = self.from()?;
            let stride = if self.accept_word("step") { self.signed()? } else { 1 };
            let side = if self.accept_word("low") {
                Some(Side::Low)
            } else if self.accept_word("high") {
                Some(Side::High)
            } else {
                None
            };
            strip.views.push(View { object, base, stride, mutable, side });
            return Ok(());
        }
        let object = self.object()?;
        self.expect_word("at")?;
        let pivot = self.polynomial()?;
        self.expect_word("others")?;
        let others_below = self.either("below", "above")?;
        let others_read = self.either("read", "added")?;
        strip.splits.push(Split { object, pivot, others_below, others_read });
        Ok(())
    }

    /// One of two words: whether it is the first.
    fn either(&mut self, first: &str, second: &str) -> Result<bool> {
        if self.accept_word(first) {
            Ok(true)
        } else if self.accept_word(second) {
            Ok(false)
        } else {
            self.expected(&format!("`{first}` or `{second}`"))
        }
    }

    fn clause_of_simd(&mut self, word: &str, simd: &mut Simd) -> Result<()> {
        self.next();
        match word {
            "reduce" => {
                let subtract = self.is_sign("-");
                if !subtract && !self.is_sign("+") {
                    return self.expected("`+` or `-`");
                }
                self.next();
                let term = self.value()?;
                let reassociate = !self.accept_word("ordered");
                simd.reductions.push(Reduction { term, subtract, reassociate });
            }
            "rotation" => {
                let object = self.object()?;
                let base = self.from()?;
                self.expect(":")?;
                let mut additions = Vec::new();
                if matches!(self.peek(), Token::Int(_)) {
                    additions = self.some(|parser| {
                        let position = parser.number()?;
                        parser.expect_word("at")?;
                        Ok((position, parser.number()?))
                    })?;
                }
                simd.rotations.push(Rotation { object, base, additions });
            }
            _ => simd.delayed.extend(self.some(Self::number::<usize>)?),
        }
        Ok(())
    }

    fn clause_of_parts(&mut self, word: &str, parts: &mut Parts) -> Result<()> {
        self.next();
        if word == "window" {
            let object = self.object()?;
            let base = self.from()?;
            let one = Polynomial::number(1);
            let stride = if self.accept_word("step") { self.polynomial()? } else { one };
            parts.windows.push((object, Window { stride, base }));
        } else {
            parts.private.extend(self.some(Self::object)?);
        }
        Ok(())
    }
}
