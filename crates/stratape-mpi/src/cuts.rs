//! Files of a rank: the cuts of a run.
//!
//! Each is written beside its name, synced and renamed, and begins with a line that says which run and which cut it is and has a checksum of the rest. A file that is not
//! whole is one that is not there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stratape::tape::checksum;

/// A point of a run that it can go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The state at the beginning of a segment.
    State(usize),
    /// The last state, after so many steps.
    End(usize),
    /// The adjoint at the beginning of a segment.
    Adjoint(usize),
}

impl Cut {
    fn file(self) -> String {
        match self {
            Self::State(segment) => format!("state-{segment}"),
            Self::End(_) => "end".to_owned(),
            Self::Adjoint(segment) => format!("adjoint-{segment}"),
        }
    }

    /// How many cuts come before it.
    pub(crate) fn number(self, ended: Option<usize>, segment: usize) -> u64 {
        let segments = ended.unwrap_or(0).div_ceil(segment) as u64;
        match self {
            Self::State(at) => at as u64,
            Self::End(_) => segments.max(1),
            Self::Adjoint(at) => 2 * segments - at as u64,
        }
    }

    /// The cut that so many come before.
    pub(crate) fn numbered(number: u64, ended: Option<usize>, segment: usize) -> Self {
        let segments = ended.map(|steps| (steps.div_ceil(segment) as u64).max(1));
        match (segments, ended) {
            (Some(segments), Some(steps)) if number == segments => Self::End(steps),
            (Some(segments), _) if number > segments => {
                Self::Adjoint((2 * segments - number) as usize)
            }
            _ => Self::State(number as usize),
        }
    }
}

/// The directory of a rank.
pub(crate) struct Directory {
    path: PathBuf,
    identity: String,
    ended: Option<usize>,
}

const HEAD: &str = "stratape distributed run, format 1";

impl Directory {
    /// Takes the directory for a run; says why it cannot be used.
    pub(crate) fn open(path: &Path, identity: &str) -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        fs::create_dir_all(path).map_err(failed)?;
        let mut directory =
            Self { path: path.to_owned(), identity: identity.to_owned(), ended: None };
        let known = path.join("run");
        match fs::read_to_string(&known) {
            Ok(text) if text == directory.head() => {}
            Ok(_) => {
                return Err(format!(
                    "it holds another run: give this one ({identity}) another directory, or delete it"
                ));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let empty = fs::read_dir(path).map_err(failed)?.next().is_none();
                if !empty {
                    return Err(
                        "it holds files that are not of a run: give the run another directory"
                            .to_owned(),
                    );
                }
                write(&known, &[directory.head().as_bytes()]).map_err(failed)?;
            }
            Err(error) => return Err(error.to_string()),
        }
        directory.ended = directory.read_end();
        Ok(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of steps, once the loop has ended.
    pub(crate) fn ended(&self) -> Option<usize> {
        self.ended
    }

    fn head(&self) -> String {
        format!("{HEAD}\n{}\n", self.identity)
    }

    fn read_end(&self) -> Option<usize> {
        let bytes = fs::read(self.path.join("end")).ok()?;
        let line = bytes.split(|byte| *byte == b'\n').next()?;
        let steps = std::str::from_utf8(line).ok()?.split(' ').nth(1)?.parse().ok()?;
        self.read(Cut::End(steps)).ok().map(|_| steps)
    }

    /// The newest cut that is whole, with all that a run needs to go on from it.
    pub(crate) fn newest(&self, segment: usize) -> Option<Cut> {
        let whole = |cut: Cut| self.read(cut).is_ok();
        let states = (0..).take_while(|at| whole(Cut::State(*at))).count();
        let Some(steps) = self.ended else {
            return states.checked_sub(1).map(Cut::State);
        };
        let segments = steps.div_ceil(segment);
        for left in 0..segments {
            // All segments before it are reversed from their first states.
            if whole(Cut::Adjoint(left)) && states >= left {
                return Some(Cut::Adjoint(left));
            }
        }
        if states >= segments {
            Some(Cut::End(steps))
        } else {
            states.checked_sub(1).map(Cut::State)
        }
    }

    /// The line that a file begins with.
    fn line(cut: Cut, bytes: &[u8]) -> String {
        let which = match cut {
            Cut::State(at) | Cut::End(at) | Cut::Adjoint(at) => at,
        };
        format!("{} {which} {} {:08x}\n", cut.file(), bytes.len(), checksum(bytes))
    }

    pub(crate) fn write(&mut self, cut: Cut, bytes: &[u8]) -> io::Result<()> {
        write(&self.path.join(cut.file()), &[Self::line(cut, bytes).as_bytes(), bytes])?;
        if let Cut::End(steps) = cut {
            self.ended = Some(steps);
        }
        Ok(())
    }

    /// The bytes of a cut; says what is wrong with its file.
    pub(crate) fn read(&self, cut: Cut) -> Result<Vec<u8>, String> {
        let mut bytes = fs::read(self.path.join(cut.file())).map_err(|error| error.to_string())?;
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("its file is cut short")?;
        let rest = bytes.split_off(end + 1);
        if bytes != Self::line(cut, &rest).as_bytes() {
            return Err("its file is damaged".to_owned());
        }
        Ok(rest)
    }

    pub(crate) fn delete(&mut self, cut: Cut) {
        let _ = fs::remove_file(self.path.join(cut.file()));
        if matches!(cut, Cut::End(_)) {
            self.ended = None;
        }
    }

    /// Deletes what is of the run, and the directories that are empty then.
    pub(crate) fn remove(self) {
        if let Ok(entries) = fs::read_dir(&self.path) {
            for entry in entries.flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let ours = name == "run"
                    || name == "end"
                    || name.ends_with(".new")
                    || name
                        .strip_prefix("state-")
                        .or(name.strip_prefix("adjoint-"))
                        .is_some_and(|at| at.parse::<usize>().is_ok());
                if ours {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        let _ = fs::remove_dir(&self.path);
        if let Some(run) = self.path.parent() {
            let _ = fs::remove_dir(run);
        }
    }
}

/// Writes a file as a whole, or not at all.
fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let written = (|| {
        let mut file = File::create(&beside)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)?;
        match path.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_cuts_are_one_to_one() {
        for steps in [0, 1, 9, 10, 11, 95] {
            let segments = usize::div_ceil(steps, 10).max(1);
            let states = (0..segments).map(Cut::State);
            let back = (0..usize::div_ceil(steps, 10)).rev().map(Cut::Adjoint);
            for (number, cut) in states.chain([Cut::End(steps)]).chain(back).enumerate() {
                assert_eq!(cut.number(Some(steps), 10), number as u64, "{cut:?}");
                assert_eq!(Cut::numbered(number as u64, Some(steps), 10), cut);
            }
        }
    }
}
