//! An earlier run, and how the ratios have changed since.

use std::path::Path;

use stratape_bench::{Measurement, Size};
use stratape_console::failure::Failure;

/// What an earlier run has saved.
pub(crate) struct Earlier {
    /// The file, as it was named.
    pub(super) name: String,
    found: Vec<Measurement>,
}

/// How a case compares with the earlier run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// The new ratio over the old one.
    Times(f64),
    /// There was none before.
    New,
    /// The old ratio was nothing, so that no factor leads from it to the new one.
    FromNothing,
}

/// Whether two measurements are of the same case.
fn same(one: &Measurement, other: &Measurement) -> bool {
    one.bench == other.bench && one.case == other.case && one.against == other.against
}

impl Earlier {
    /// Reads a file, and keeps what this run measures as well.
    pub(crate) fn read(
        path: &Path,
        wanted: impl Fn(&Measurement) -> bool,
    ) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let advice = "name a file that `stratape-bench --save` has written, or save one now";
        let failed = |what: String| Failure::new(format!("{name} {what}; {advice}"));
        if path.is_dir() {
            return Err(failed("is a directory".to_owned()));
        }
        let bytes =
            std::fs::read(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            failed(format!("holds no measurements: line {line} is not text"))
        })?;
        let found = Measurement::read(&text)
            .map_err(|error| failed(format!("does not hold measurements: {error}")))?;
        Ok(Self { name, found: found.into_iter().filter(wanted).collect() })
    }

    /// How a case has changed. Of several measurements the last counts: files may be put together.
    pub(super) fn change(&self, now: &Measurement) -> Change {
        match self.found.iter().rev().find(|then| same(then, now)) {
            None => Change::New,
            Some(then) if then.ratio == now.ratio => Change::Times(1.0),
            Some(then) if then.ratio == 0.0 => Change::FromNothing,
            Some(then) => Change::Times(now.ratio / then.ratio),
        }
    }

    /// The cases that this run does not have.
    pub(super) fn missing<'a>(
        &'a self,
        now: &'a [Measurement],
    ) -> impl Iterator<Item = &'a Measurement> {
        let is_first = |at: usize| !self.found[..at].iter().any(|one| same(one, &self.found[at]));
        self.found
            .iter()
            .enumerate()
            .filter(move |(at, then)| is_first(*at) && !now.iter().any(|now| same(then, now)))
            .map(|(_, then)| then)
    }

    /// The sizes it was measured at, if they are others than these.
    pub(super) fn other_size(&self, now: Size) -> Option<Size> {
        self.found.iter().filter_map(|then| then.size).find(|then| *then != now)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    type Outcome = Result<(), Box<dyn std::error::Error>>;

    pub(in crate::report) fn one(case: &str, ratio: f64, aim: Option<&str>) -> Measurement {
        Measurement {
            bench: "tape".to_owned(),
            case: case.to_owned(),
            ours: ratio,
            against: "raw array".to_owned(),
            theirs: 1.0,
            ratio,
            unit: "ns".to_owned(),
            aim: aim.map(ToOwned::to_owned),
            size: Some(Size::Quick),
        }
    }

    pub(in crate::report) fn earlier(found: Vec<Measurement>) -> Earlier {
        Earlier { name: "old.json".to_owned(), found }
    }

    #[test]
    fn changes_are_ratios_of_ratios() {
        let then = earlier(vec![one("a", 9.0, None), one("a", 2.0, None), one("gone", 1.0, None)]);
        assert_eq!(then.change(&one("a", 1.0, None)), Change::Times(0.5));
        assert_eq!(then.change(&one("b", 1.0, None)), Change::New);
        let now = [one("a", 1.0, None), one("b", 1.0, None)];
        assert_eq!(then.missing(&now).map(|one| &one.case[..]).collect::<Vec<_>>(), ["gone"]);
        assert_eq!(then.other_size(Size::Full), Some(Size::Quick));
        assert_eq!(then.other_size(Size::Quick), None);
    }

    #[test]
    fn nothing_has_no_factor() {
        let then = earlier(vec![one("a", 0.0, None)]);
        assert_eq!(then.change(&one("a", 0.0, None)), Change::Times(1.0));
        assert_eq!(then.change(&one("a", 0.5, None)), Change::FromNothing);
    }

    #[test]
    fn what_is_no_such_file_is_told_by_its_line() -> Outcome {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("old.json");
        let good = one("a", 1.0, None).line();
        let cases: [(Vec<u8>, &str); 6] = [
            (Vec::new(), "there are no measurements"),
            (b"fn main() {}".to_vec(), "line 1 is no measurement"),
            (
                format!("{good}\n{{\"bench\":\"tape\"}}\n").into_bytes(),
                "line 2 is no measurement: missing field `case`",
            ),
            (format!("{good}\n{}", &good[..30]).into_bytes(), "line 2 is no measurement: EOF"),
            (
                good.replace("\"ratio\":1.0", "\"ratio\":-1").into_bytes(),
                "line 1 is no measurement: a ratio of -1",
            ),
            (b"{\n\xff\xfe".to_vec(), "line 2 is not text"),
        ];
        for (bytes, why) in cases {
            std::fs::write(&path, bytes)?;
            let Err(Failure::Message(told)) = Earlier::read(&path, |_| true) else {
                return Err(why.into());
            };
            assert!(told.contains(why) && told.contains("stratape-bench --save"), "{told}");
        }
        std::fs::write(&path, format!("{good}\n\n"))?;
        let read = Earlier::read(&path, |_| true).map_err(|_| "a good file")?;
        assert_eq!(read.change(&one("a", 3.0, None)), Change::Times(3.0));
        assert!(Earlier::read(directory.path(), |_| true).is_err());
        Ok(())
    }
}
