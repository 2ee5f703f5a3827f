//! The check behind a record tape in debug builds: what was pushed, so that a wrong pop is named.
//! In release builds all of this is empty.

use std::any::TypeId;
use std::fmt;

use crate::error::{ErrorKind, TapeError};

/// Something on a record tape: a value, or a region of records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    type_id: TypeId,
    name: &'static str,
    region: bool,
    count: usize,
}

impl Entry {
    #[inline(always)]
    pub(super) fn value<R: 'static>() -> Self {
        Self {
            type_id: TypeId::of::<R>(),
            name: std::any::type_name::<R>(),
            region: false,
            count: 1,
        }
    }

    #[inline(always)]
    pub(super) fn region<R: 'static>(count: usize) -> Self {
        Self { region: true, count, ..Self::value::<R>() }
    }

    /// The same kind of thing, whatever the count.
    #[cfg(debug_assertions)]
    fn is_like(&self, other: &Self) -> bool {
        self.type_id == other.type_id && self.region == other.region
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.region {
            write!(f, "a region of {} `{}`", self.count, self.name)
        } else {
            write!(f, "a `{}`", self.name)
        }
    }
}

/// One thing was asked for where another is on the tape.
pub(super) fn mismatch(asked: Entry, found: Entry) -> TapeError {
    ErrorKind::Mismatch { asked: asked.to_string(), found: found.to_string() }.into()
}

/// A height of the audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AuditMark {
    entries: usize,
    last_count: usize,
}

/// The entries of a tape. Values of one type in a row share an entry.
#[cfg(debug_assertions)]
#[derive(Default)]
pub(super) struct Audit {
    entries: Vec<Entry>,
}

#[cfg(debug_assertions)]
impl Audit {
    pub(super) fn push(&mut self, entry: Entry) {
        match self.entries.last_mut() {
            Some(last) if !entry.region && last.is_like(&entry) => last.count += 1,
            _ => self.entries.push(entry),
        }
    }

    pub(super) fn pop(&mut self) {
        match self.entries.last_mut() {
            Some(last) if !last.region && last.count > 1 => last.count -= 1,
            _ => drop(self.entries.pop()),
        }
    }

    /// Pushes so many values of one type.
    pub(super) fn push_many(&mut self, entry: Entry, count: usize) {
        match self.entries.last_mut() {
            Some(last) if !entry.region && last.is_like(&entry) => last.count += count,
            _ => self.entries.push(Entry { count, ..entry }),
        }
    }

    /// Pops so many values of one type.
    pub(super) fn pop_many(&mut self, entry: Entry, count: usize) -> Result<(), TapeError> {
        self.check(entry)?;
        let only = self.entries.len() == 1;
        match self.entries.last_mut() {
            Some(last) if last.count > count => last.count -= count,
            Some(last) if last.count == count => drop(self.entries.pop()),
            // Below the first may lie what was loaded from a file that names no types.
            Some(last) if !only => {
                return Err(mismatch(Entry { count, ..entry }, *last));
            }
            Some(_) => self.entries.clear(),
            None => {}
        }
        Ok(())
    }

    /// Whether popping `asked` is right.
    pub(super) fn check(&self, asked: Entry) -> Result<(), TapeError> {
        match self.entries.last() {
            Some(last) if last.is_like(&asked) => Ok(()),
            Some(last) if last.region => Err(mismatch(asked, *last)),
            Some(last) => Err(mismatch(asked, Entry { count: 1, ..*last })),
            // Empty, which the tape finds out itself, or loaded from a file that names no types.
            None => Ok(()),
        }
    }

    pub(super) fn check_region<R: 'static>(&self) -> Result<(), TapeError> {
        let held = self.entries.last().map_or(0, |last| last.count);
        self.check(Entry::region::<R>(held))
    }

    pub(super) fn mark(&self) -> AuditMark {
        AuditMark {
            entries: self.entries.len(),
            last_count: self.entries.last().map_or(0, |last| last.count),
        }
    }

    pub(super) fn rewind(&mut self, mark: AuditMark) {
        self.entries.truncate(mark.entries);
        if let Some(last) = self.entries.last_mut() {
            last.count = last.count.min(mark.last_count);
        }
    }
}

/// In release builds nothing is recorded and everything is right.
#[cfg(not(debug_assertions))]
#[derive(Default)]
pub(super) struct Audit;

#[cfg(not(debug_assertions))]
#[allow(clippy::unused_self, reason = "the face of the debug audit")]
impl Audit {
    #[inline(always)]
    pub(super) fn push(&mut self, _: Entry) {}

    #[inline(always)]
    pub(super) fn pop(&mut self) {}

    #[inline(always)]
    pub(super) fn push_many(&mut self, _: Entry, _: usize) {}

    #[inline(always)]
    pub(super) fn pop_many(&mut self, _: Entry, _: usize) -> Result<(), TapeError> {
        Ok(())
    }

    #[inline(always)]
    pub(super) fn check(&self, _: Entry) -> Result<(), TapeError> {
        Ok(())
    }

    #[inline(always)]
    pub(super) fn check_region<R: 'static>(&self) -> Result<(), TapeError> {
        Ok(())
    }

    pub(super) fn mark(&self) -> AuditMark {
        AuditMark::default()
    }

    pub(super) fn rewind(&mut self, _: AuditMark) {}
}
