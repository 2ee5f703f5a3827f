//! Files that appear under their name only when they are complete, also when the user interrupts.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The exit code of a command that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// The file that is being written and has another name yet.
static UNDER_WAY: Mutex<Option<PathBuf>> = Mutex::new(None);

fn under_way() -> MutexGuard<'static, Option<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on Ctrl-C removes what is half written and ends the process. Spill files have no name: they go with it.
///
/// ```
/// stratape_console::saving::leave_nothing_when_interrupted();
/// ```
pub fn leave_nothing_when_interrupted() {
    let handler = || {
        // Held to the end: no file can come into being between its removal and the exit.
        let file = under_way();
        if let Some(path) = &*file {
            let _ = fs::remove_file(path);
        }
        if io::stderr().is_terminal() {
            let _ = writeln!(io::stderr());
        }
        std::process::exit(INTERRUPTED);
    };
    // Where no handler can be set, the system's own ends the process as well.
    let _ = ctrlc::set_handler(handler);
}

/// A file beside the one to be written, removed unless it takes its place.
struct Beside(PathBuf);

impl Beside {
    fn create(path: &Path) -> io::Result<(Self, File)> {
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}", std::process::id()));
        let beside = path.with_file_name(hidden);
        let mut file = under_way();
        let opened = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        *file = Some(beside.clone());
        Ok((Self(beside), opened))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let mut file = under_way();
        // After the renaming there is nothing of this name.
        let _ = fs::remove_file(&self.0);
        *file = None;
    }
}

/// Whether a path leads to what can be written but not replaced: a device, a pipe.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

/// Whether a file could be written, before the work is done that is to fill it.
///
/// # Errors
/// What would keep it from being written: no such directory, no right to write there, a directory of that name.
///
/// ```
/// use std::path::Path;
///
/// assert!(stratape_console::saving::check(Path::new("no such directory/file")).is_err());
/// ```
pub fn check(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_special(path) {
        return Ok(());
    }
    Beside::create(path).map(|_| ())
}

/// Writes a file; it appears when it is complete.
///
/// # Errors
/// What [`check`] reports, and a disk that is full.
///
/// ```
/// let path = std::env::temp_dir().join(format!("stratape-console-{}", std::process::id()));
/// stratape_console::saving::write(&path, b"whole")?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_special(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let (beside, mut file) = Beside::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside.0, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_leave_nothing_beside() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("file");
        check(&path)?;
        assert_eq!(fs::read_dir(directory.path())?.count(), 0);
        write(&path, b"first")?;
        write(&path, b"second")?;
        assert_eq!(fs::read(&path)?, b"second");
        assert_eq!(fs::read_dir(directory.path())?.count(), 1);
        assert!(write(directory.path(), b"").is_err() && check(directory.path()).is_err());
        assert!(check(&directory.path().join("none/file")).is_err());
        Ok(())
    }

    /// A device is written to: renaming over `/dev/null` would have replaced it for everyone.
    #[test]
    #[cfg(unix)]
    fn devices_stay_devices() -> io::Result<()> {
        let null = Path::new("/dev/null");
        check(null)?;
        write(null, b"gone")?;
        assert!(!fs::metadata(null)?.is_file());
        Ok(())
    }
}
