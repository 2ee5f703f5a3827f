//! The file that is explained, and where in it a span lies.

use std::ops::Range;
use std::path::Path;

use proc_macro2::Span;

use crate::failure::Failure;

/// A source file.
pub(super) struct Source {
    path: String,
    text: String,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) bytes: Bytes,
    /// Counted from 1.
    pub(super) line: usize,
    /// Characters, counted from 1.
    pub(super) column: usize,
}

/// A range of bytes that can be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bytes {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl From<Bytes> for Range<usize> {
    fn from(range: Bytes) -> Self {
        range.start..range.end
    }
}

impl Place {
    /// Whether another place lies in this one.
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.bytes.start <= other.bytes.start && other.bytes.end <= self.bytes.end
    }
}

impl Source {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(Failure::new(format!(
                "{name} is a directory; name one source file, as {}",
                path.join("src/lib.rs").display()
            )));
        }
        let bytes = std::fs::read(path)
            .map_err(|error| Failure::new(format!("{name} cannot be read: {error}")))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::new(format!("{name} is not a Rust source: it is not UTF-8")))?;
        Ok(Self { path: name, text: plain(&text) })
    }

    /// A text that is no file.
    pub(super) fn of(name: &str, text: &str) -> Self {
        Self { path: name.to_owned(), text: plain(text) }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a span lies, cut at the end of its first line; `None` for what was made up by the compiler.
    pub(super) fn place(&self, span: Span) -> Option<Place> {
        let bytes = span.byte_range();
        let text = self.text.get(bytes.clone())?;
        if text.is_empty() {
            return None;
        }
        let first = text.lines().next().unwrap_or(text).trim_end();
        let bytes = Bytes { start: bytes.start, end: bytes.start + first.len() };
        Some(self.at(bytes))
    }

    /// Where an error is; the start of the file if it is nowhere, as at the end of a file that is cut off.
    pub(super) fn place_or_start(&self, span: Span) -> Place {
        self.place(span).unwrap_or_else(|| {
            let start = span.byte_range().start;
            let start = if self.text.is_char_boundary(start) { start } else { 0 };
            self.at(Bytes { start, end: start })
        })
    }

    fn at(&self, bytes: Bytes) -> Place {
        let before = &self.text[..bytes.start];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Place { bytes, line, column: before[start..].chars().count() + 1 }
    }

    /// What is written at a place.
    pub(super) fn written(&self, place: &Place) -> &str {
        &self.text[Range::from(place.bytes)]
    }
}

/// The text with what `syn` would cut off (a byte order mark, `#!/…`) blanked, so that its offsets are ours.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    let shebang = first.starts_with("#!") && !first[2..].trim_start().starts_with('[');
    if shebang {
        format!("{}{}", " ".repeat(first.len()), &text[first.len()..])
    } else {
        text.to_owned()
    }
}
