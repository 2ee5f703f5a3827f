//! [`Kept`]: reports of earlier runs, in files named after what was run.
//!
//! A report is a few hundred numbers that took seconds. What cannot be read or written is told once and done without: nothing depends on it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stratape_model::Report;

/// The first line of each file.
const HEAD: &str = "stratape model 1";

/// A folder of reports, or none.
#[derive(Debug, Default)]
pub(super) struct Kept {
    folder: Option<PathBuf>,
    /// Whether trouble has been told.
    told: AtomicBool,
}

impl Kept {
    /// Reports in a folder; `None` to keep none.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, told: AtomicBool::new(false) }
    }

    /// The user's own folder for what can be computed again.
    pub(super) fn usual() -> Option<PathBuf> {
        let set =
            |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        caches.map(|path| path.join("stratape").join("model"))
    }

    /// The report of this name, if there is one.
    pub(super) fn get(&self, name: &str) -> Option<Report> {
        let path = self.folder.as_ref()?.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let found = read(&text);
                if found.is_none() {
                    self.tell(&format!("{} is damaged and will be written again", path.display()));
                }
                found
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.tell(&format!("{} cannot be read: {error}", path.display()));
                None
            }
        }
    }

    /// Keeps a report under a name.
    pub(super) fn put(&self, name: &str, report: &Report) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write(folder, name, report) {
            self.tell(&format!("results cannot be kept in {}: {error}", folder.display()));
        }
    }

    fn tell(&self, message: &str) {
        if !self.told.swap(true, Ordering::Relaxed) {
            eprintln!("note: {message}");
        }
    }
}

/// A number that depends on all others (FNV-1a), so that a file that was cut or changed is noticed.
fn checksum(numbers: &[u64]) -> u64 {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn read(text: &str) -> Option<Report> {
    let mut lines = text.lines();
    if lines.next()? != HEAD {
        return None;
    }
    let numbers: Vec<u64> =
        lines.next()?.split(' ').map(|text| text.parse().ok()).collect::<Option<_>>()?;
    let sum: u64 = lines.next()?.parse().ok()?;
    if sum != checksum(&numbers) {
        return None;
    }
    Report::from_numbers(&numbers)
}

/// Writes beside the name and renames, so that two commands at a time do not meet half a file.
fn write(folder: &Path, name: &str, report: &Report) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let numbers = report.numbers();
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let text = format!("{HEAD}\n{}\n{}\n", texts.join(" "), checksum(&numbers));
    let beside = folder.join(format!("{name}.{}", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, folder.join(name)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_kept_and_damage_is_noticed() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let kept = Kept::new(Some(directory.path().join("deep/er")));
        let report = Report { energy: 42, ..Report::default() };
        assert_eq!(kept.get("a"), None);
        kept.put("a", &report);
        assert_eq!(kept.get("a"), Some(report.clone()));
        let path = directory.path().join("deep/er/a");
        let text = fs::read_to_string(&path)?;
        for damaged in
            [text.replace(" 42 ", " 43 "), text[..text.len() / 2].to_owned(), String::new()]
        {
            assert_ne!(damaged, text);
            fs::write(&path, damaged)?;
            assert_eq!(kept.get("a"), None);
        }
        assert_eq!(Kept::new(None).get("a"), None);
        Ok(())
    }
}
