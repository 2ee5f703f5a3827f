//! Files that go away by themselves: those without a name that tapes spill to, and those that get their name when they are whole.

#[cfg(feature = "spill")]
pub(crate) use with_tempfile::{Whole, unnamed_in};
#[cfg(not(feature = "spill"))]
pub(crate) use without::{Whole, unnamed_in};

#[cfg(feature = "spill")]
mod with_tempfile {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use tempfile::{Builder, NamedTempFile};

    /// A file without a name.
    pub(crate) fn unnamed_in(directory: &Path) -> io::Result<File> {
        tempfile::tempfile_in(directory)
    }

    /// A file that gets its name when it is whole, and goes away if it never is.
    pub(crate) struct Whole(NamedTempFile);

    impl Whole {
        /// In a directory, with the permissions any new file gets.
        pub(crate) fn create_in(directory: &Path) -> io::Result<Self> {
            let mut builder = Builder::new();
            builder.prefix(".saving-").suffix(".tape");
            #[cfg(unix)]
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            #[cfg(unix)]
            builder.permissions(permissions);
            builder.tempfile_in(directory).map(Self)
        }

        pub(crate) fn file(&mut self) -> &mut File {
            self.0.as_file_mut()
        }

        /// Gives it its name, in place of what has that name.
        pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
            self.0.persist(path).map(drop).map_err(|error| error.error)
        }
    }
}

#[cfg(any(test, not(feature = "spill")))]
#[cfg_attr(feature = "spill", allow(dead_code, reason = "tested with every feature"))]
mod without {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A file without a name: it loses the one it was made with at once.
    pub(crate) fn unnamed_in(directory: &Path) -> io::Result<File> {
        let (path, file) = named(directory, ".spill-")?;
        fs::remove_file(path)?;
        Ok(file)
    }

    /// A file that gets its name when it is whole, and goes away if it never is.
    pub(crate) struct Whole {
        path: PathBuf,
        file: File,
    }

    impl Whole {
        /// In a directory, with the permissions any new file gets.
        pub(crate) fn create_in(directory: &Path) -> io::Result<Self> {
            named(directory, ".saving-").map(|(path, file)| Self { path, file })
        }

        pub(crate) fn file(&mut self) -> &mut File {
            &mut self.file
        }

        /// Gives it its name, in place of what has that name.
        pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
            fs::rename(&self.path, path)?;
            // Nothing is left to be removed.
            self.path = PathBuf::new();
            Ok(())
        }
    }

    impl Drop for Whole {
        fn drop(&mut self) {
            if !self.path.as_os_str().is_empty() {
                // Whoever could be told has been told of the failure before this one.
                let _ = fs::remove_file(&self.path);
            }
        }
    }

    /// A new file under a name that nobody has.
    fn named(directory: &Path, prefix: &str) -> io::Result<(PathBuf, File)> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{prefix}{}-{number}.tape", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((path, file)),
                // Left behind by a process that had this one's number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::without::{Whole, unnamed_in};

    #[test]
    fn what_is_not_whole_goes_away() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let names = || fs::read_dir(directory.path()).map(Iterator::count);
        let unnamed = unnamed_in(directory.path())?;
        assert_eq!(names()?, 0);
        drop(unnamed);

        drop(Whole::create_in(directory.path())?);
        assert_eq!(names()?, 0);

        let path = directory.path().join("whole");
        for text in ["one", "two"] {
            let mut file = Whole::create_in(directory.path())?;
            file.file().write_all(text.as_bytes())?;
            file.persist(&path)?;
            assert_eq!((fs::read_to_string(&path)?.as_str(), names()?), (text, 1));
        }
        let mut lost = Whole::create_in(directory.path())?;
        lost.file().write_all(b"three")?;
        assert!(lost.persist(&directory.path().join("missing/whole")).is_err());
        assert_eq!((fs::read_to_string(&path)?.as_str(), names()?), ("two", 1));
        Ok(())
    }
}
