//! [`RunPlace`]: where a run that can be resumed is kept, if that is not a directory.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place for the files of a run that another process can go on with: [`TimeLoop::resume_in`](crate::TimeLoop::resume_in).
///
/// Files have names of letters, digits, dots and dashes. They are called from several threads at once. Whatever is read is held against checksums, so
/// that a place that returns something else than was written costs time, or is an error, but no wrong result.
///
/// This one keeps them in memory, for a loop that panics and is started again:
///
/// ```
/// use std::collections::BTreeMap;
/// use std::io;
/// use std::sync::{Arc, Mutex};
/// use stratape_checkpoint::{RunPlace, TimeLoop};
///
/// #[derive(Clone, Default)]
/// struct Shelf(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);
///
/// impl RunPlace for Shelf {
///     fn lock(&self) -> io::Result<()> {
///         Ok(())
///     }
///     fn unlock(&self) {}
///     fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
///         self.0.lock().unwrap().insert(name.to_owned(), bytes.to_owned());
///         Ok(())
///     }
///     fn read(&self, name: &str, _most: u64) -> io::Result<Option<Vec<u8>>> {
///         Ok(self.0.lock().unwrap().get(name).cloned())
///     }
///     fn delete(&self, name: &str) -> io::Result<()> {
///         self.0.lock().unwrap().remove(name);
///         Ok(())
///     }
///     fn list(&self) -> io::Result<Vec<(String, u64)>> {
///         let files = self.0.lock().unwrap();
///         Ok(files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64)).collect())
///     }
///     fn describe(&self) -> String {
///         "a shelf".to_owned()
///     }
/// }
///
/// let shelf = Shelf::default();
/// let (_, dx, _) = TimeLoop::new(0.5_f64)
///     .steps(100)
///     .slots(3)
///     .disk_slots("", 10)
///     .resume_in(shelf.clone())
///     .gradient(|_, x| *x = x.sin(), |_| 1.0_f64, |_, x, dx| *dx *= x.cos())?;
/// assert!(shelf.0.lock().unwrap().is_empty()); // a complete run leaves nothing
/// # assert!(dx > 0.0);
/// # Ok::<(), stratape_checkpoint::CheckpointError>(())
/// ```
pub trait RunPlace: Send + Sync {
    /// Takes the place for this process alone, or says who has it.
    ///
    /// # Errors
    /// When another process works there, or the place cannot be reached.
    fn lock(&self) -> io::Result<()>;

    /// Gives the place up; nothing more is written.
    fn unlock(&self);

    /// Writes a file, in the place of one of the same name. When this returns it is there whole and durable; before, or if it fails, the one before is.
    ///
    /// # Errors
    /// What the place says.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// The bytes of a file; `None` if there is none. Those of one with more than `most` are not asked for.
    ///
    /// # Errors
    /// What the place says; also for a file that is longer.
    fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>>;

    /// Deletes a file. One that is not there is deleted.
    ///
    /// # Errors
    /// What the place says.
    fn delete(&self, name: &str) -> io::Result<()>;

    /// All files, and their lengths.
    ///
    /// # Errors
    /// What the place says.
    fn list(&self) -> io::Result<Vec<(String, u64)>>;

    /// The length of a file; `None` if there is none.
    ///
    /// # Errors
    /// What the place says.
    fn size(&self, name: &str) -> io::Result<Option<u64>> {
        Ok(self.list()?.into_iter().find(|(found, _)| found == name).map(|(_, len)| len))
    }

    /// What this is, in a few words, for errors: its address, most often.
    fn describe(&self) -> String;
}

/// A directory, or another place.
#[derive(Clone)]
pub(crate) enum At {
    Directory(PathBuf),
    Elsewhere(Arc<dyn RunPlace>),
}

impl At {
    /// For errors, which name a path.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Directory(directory) => directory.clone(),
            Self::Elsewhere(place) => PathBuf::from(place.describe()),
        }
    }
}

impl From<&Path> for At {
    fn from(directory: &Path) -> Self {
        Self::Directory(directory.to_owned())
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("At").field(&self.path()).finish()
    }
}
