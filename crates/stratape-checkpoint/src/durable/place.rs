//! The directory of a run: which files in it are ours, how they are made, and how they are deleted.
//!
//! The directory belongs to the user and may hold files of any name. So every file of a run carries the run's token, 32 random
//! hexadecimal digits that `stratape.lock` and the manifest hold as well, and nothing else is ever written or deleted: files are
//! created and never opened for writing when they exist, symbolic links are not followed, and a directory is left alone.
//!
//! In another place than a directory ([`RunPlace`](super::RunPlace)) files have the same names; only the token stands in the manifest alone.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use stratape_tape::tier::TierError;

use super::run_place::{At, RunPlace};

const LOCK: &str = "stratape.lock";
const LOCK_HEAD: &str = "stratape run ";
const MANIFEST: &str = "stratape.manifest";
const TOKEN_LEN: usize = 32;
/// The first words of a manifest of the layout before this one, whose files had no token.
const OLD: (&str, &str) = ("manifest", "stratape checkpointed run, format 1");
/// More text than the manifest of any run has: a line is some eighty bytes, and there is one a snapshot.
const MOST_TEXT: u64 = 1 << 28;

/// Files up to this length are read without asking how much of them is on disk.
const HOLLOW: u64 = 1 << 30;

/// Where the files of a run are, and how they are called.
#[derive(Clone, Debug)]
pub(super) struct Names {
    at: At,
    token: String,
}

impl Names {
    /// The name of a file: `kind` says what it is, and which.
    fn name(&self, kind: &str) -> String {
        format!("stratape-{}-{kind}", self.token)
    }

    fn path(&self, directory: &Path, kind: &str) -> PathBuf {
        directory.join(self.name(kind))
    }

    /// Writes and syncs a file that must not be there yet; leaves none when that fails.
    pub(super) fn write(&self, kind: &str, bytes: &[u8]) -> io::Result<()> {
        let directory = match &self.at {
            At::Directory(directory) => directory,
            At::Elsewhere(place) => return place.write(&self.name(kind), bytes),
        };
        let path = self.path(directory, kind);
        let mut file = File::create_new(&path)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        written
    }

    /// Whether a file is there that was written with so many bytes. Says so before anything is allocated for it, and without opening
    /// what is not a file: a pipe would be waited for.
    pub(super) fn has(&self, kind: &str, len: u64) -> Result<(), TierError> {
        let directory = match &self.at {
            At::Directory(directory) => directory,
            At::Elsewhere(place) => return has(&**place, &self.name(kind), len),
        };
        let data = fs::symlink_metadata(self.path(directory, kind))?;
        let found = data.len();
        if !data.is_file() {
            let why = io::Error::new(io::ErrorKind::InvalidData, "not a file");
            return Err(TierError::Io(why));
        }
        if found != len {
            return Err(TierError::CutShort { expected: len, found });
        }
        if is_hollow(&data) {
            let why = io::Error::new(io::ErrorKind::InvalidData, "an empty file of a great length");
            return Err(TierError::Io(why));
        }
        Ok(())
    }

    /// The contents of a file that was written with so many bytes.
    pub(super) fn read(&self, kind: &str, len: u64) -> Result<Vec<u8>, TierError> {
        let directory = match &self.at {
            At::Directory(directory) => directory,
            At::Elsewhere(place) => return read(&**place, &self.name(kind), len),
        };
        self.has(kind, len)?;
        let mut bytes = Vec::new();
        let room = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory.into());
        let room = room.and_then(|len| bytes.try_reserve_exact(len).map_err(io::Error::from));
        room?;
        File::open(self.path(directory, kind))?.take(len).read_to_end(&mut bytes)?;
        match bytes.len() as u64 {
            found if found != len => Err(TierError::CutShort { expected: len, found }),
            _ => Ok(bytes),
        }
    }

    /// Fills memory with the contents of a file that was written with as many bytes.
    pub(super) fn read_into(&self, kind: &str, bytes: &mut [u8]) -> Result<(), TierError> {
        let len = bytes.len() as u64;
        match &self.at {
            At::Directory(directory) => {
                self.has(kind, len)?;
                Ok(File::open(self.path(directory, kind))?.read_exact(bytes)?)
            }
            At::Elsewhere(place) => {
                bytes.copy_from_slice(&read(&**place, &self.name(kind), len)?);
                Ok(())
            }
        }
    }

    pub(super) fn delete(&self, kind: &str) {
        let _ = match &self.at {
            At::Directory(directory) => fs::remove_file(self.path(directory, kind)),
            At::Elsewhere(place) => place.delete(&self.name(kind)),
        };
    }

    /// The files of the run, the manifest and the lock not included: their kinds, and their lengths.
    pub(super) fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let prefix = self.name("");
        let mut found = Vec::new();
        let directory = match &self.at {
            At::Directory(directory) => directory,
            At::Elsewhere(place) => {
                let ours = |(name, len): (String, u64)| {
                    Some((name.strip_prefix(&prefix)?.to_owned(), len))
                };
                return Ok(place.list()?.into_iter().filter_map(ours).collect());
            }
        };
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let Some(kind) = name.strip_prefix(&prefix)
                && let Ok(data) = fs::symlink_metadata(entry.path())
                && data.is_file()
            {
                found.push((kind.to_owned(), data.len()));
            }
        }
        Ok(found)
    }
}

/// A directory, or another place, that this process has for itself.
pub(super) struct Place {
    pub(super) names: Names,
    /// Of a directory.
    lock: Option<Lock>,
}

struct Lock {
    file: File,
    /// Whether it holds the token.
    marked: bool,
}

impl Place {
    /// Takes the place, and reads the manifest in it, if there is one.
    pub(super) fn open(at: &At) -> io::Result<(Self, Option<String>)> {
        match at {
            At::Directory(directory) => Self::in_directory(directory),
            At::Elsewhere(place) => {
                place.lock()?;
                let names = Names { at: at.clone(), token: String::new() };
                // From here on it is given up whatever happens.
                let taken = Self { names, lock: None };
                let text = place.read(MANIFEST, MOST_TEXT)?;
                let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                Ok((taken, text))
            }
        }
    }

    fn in_directory(directory: &Path) -> io::Result<(Self, Option<String>)> {
        fs::create_dir_all(directory)?;
        refuse_old_layout(directory)?;
        let path = directory.join(LOCK);
        is_plain(&path)?;
        let mut lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        lock.try_lock().map_err(|_| {
            io::Error::new(io::ErrorKind::ResourceBusy, "another process is at work there")
        })?;
        let mut text = String::new();
        let most = LOCK_HEAD.len() + TOKEN_LEN + 2;
        let read = Read::by_ref(&mut lock).take(most as u64).read_to_string(&mut text);
        let token = match text.strip_prefix(LOCK_HEAD).map(str::trim_end) {
            Some(token) if read.is_ok() && is_token(token) => token.to_owned(),
            _ if read.is_ok() && text.is_empty() => String::new(),
            _ => {
                let why =
                    format!("its `{LOCK}` is not one of ours; give the run another directory");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        };
        let manifest = read_manifest(&directory.join(MANIFEST))?;
        let marked = !token.is_empty();
        let names = Names { at: directory.into(), token };
        let lock = Some(Lock { file: lock, marked });
        Ok((Self { names, lock }, manifest))
    }

    pub(super) fn at(&self) -> &At {
        &self.names.at
    }

    /// The token of the run; none if this is the first process, or the lock was lost.
    pub(super) fn token(&self) -> Option<&str> {
        Some(self.names.token.as_str()).filter(|token| !token.is_empty())
    }

    /// Sets the token, where the lock holds none.
    pub(super) fn set_token(&mut self, token: impl FnOnce() -> String) {
        if self.names.token.is_empty() {
            self.names.token = token();
        }
    }

    /// Writes the token into the lock, where that has not been done.
    pub(super) fn mark(&mut self) -> io::Result<()> {
        if let Some(lock) = self.lock.as_mut().filter(|lock| !lock.marked) {
            let text = format!("{LOCK_HEAD}{}\n", self.names.token);
            lock.file.set_len(0)?;
            io::Seek::rewind(&mut lock.file)?;
            lock.file.write_all(text.as_bytes())?;
            lock.file.sync_all()?;
            lock.marked = true;
        }
        Ok(())
    }

    /// Replaces the manifest in one piece.
    pub(super) fn replace_manifest(&self, text: &str) -> io::Result<()> {
        const BESIDE: &str = "manifest.new";
        let directory = match self.at() {
            At::Directory(directory) => directory,
            At::Elsewhere(place) => return place.write(MANIFEST, text.as_bytes()),
        };
        // Left by an attempt that failed.
        self.names.delete(BESIDE);
        self.names.write(BESIDE, text.as_bytes())?;
        let renamed = fs::rename(self.names.path(directory, BESIDE), directory.join(MANIFEST));
        if renamed.is_err() {
            self.names.delete(BESIDE);
        }
        renamed
    }

    /// Makes the names in the directory durable, the manifest's among them.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.at() {
            At::Directory(directory) => File::open(directory)?.sync_all(),
            At::Elsewhere(_) => Ok(()),
        }
    }

    /// Deletes the files of the run that `wanted` picks.
    pub(super) fn delete(&self, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
        if self.token().is_some() {
            for (kind, _) in self.names.list()?.iter().filter(|(kind, _)| wanted(kind)) {
                self.names.delete(kind);
            }
        }
        Ok(())
    }

    /// Leaves nothing of the run behind, nor the directory, unless the user keeps something in it.
    pub(super) fn remove(self) {
        match self.at() {
            At::Directory(directory) => {
                let _ = fs::remove_file(directory.join(MANIFEST));
                let _ = self.delete(|_| true);
                let _ = fs::remove_file(directory.join(LOCK));
                let _ = fs::remove_dir(directory);
            }
            At::Elsewhere(place) => {
                let _ = place.delete(MANIFEST);
                let _ = self.delete(|_| true);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let At::Elsewhere(place) = self.at() {
            place.unlock();
        }
        // Closing is not enough: a child that another thread is just forking holds the file open until it runs its program.
        if let Some(lock) = &self.lock {
            let _ = lock.file.unlock();
        }
    }
}

/// Whether another place has a file that was written with so many bytes.
fn has(place: &dyn RunPlace, name: &str, len: u64) -> Result<(), TierError> {
    match place.size(name)? {
        Some(found) if found == len => Ok(()),
        Some(found) => Err(TierError::CutShort { expected: len, found }),
        None => Err(io::Error::from(io::ErrorKind::NotFound).into()),
    }
}

/// The contents of a file of another place that was written with so many bytes.
fn read(place: &dyn RunPlace, name: &str, len: u64) -> Result<Vec<u8>, TierError> {
    match place.read(name, len)? {
        Some(bytes) if bytes.len() as u64 == len => Ok(bytes),
        Some(bytes) => Err(TierError::CutShort { expected: len, found: bytes.len() as u64 }),
        None => Err(io::Error::from(io::ErrorKind::NotFound).into()),
    }
}

/// A token that no other run has.
pub(super) fn new_token() -> String {
    // Keyed by the system's random numbers, once a thread; the clock tells two runs of a thread apart.
    let half = |salt: u128| {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u128(salt);
        hasher.finish()
    };
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos());
    format!("{:016x}{:016x}", half(now), half(u128::from(std::process::id())))
}

pub(super) fn is_token(text: &str) -> bool {
    text.len() == TOKEN_LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether next to nothing of a very long file is on disk. Ours are written in full; even where a file system compresses them they leave more
/// behind than a file that was only ever made long.
#[cfg(unix)]
fn is_hollow(data: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    data.len() > HOLLOW && data.blocks().saturating_mul(512) < data.len() / 4096
}

#[cfg(not(unix))]
fn is_hollow(_: &fs::Metadata) -> bool {
    false
}

/// Nothing, or a file: opening a pipe would wait for ever, and a link leads to a file of somebody else's.
fn is_plain(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_file() => Ok(true),
        Ok(_) => {
            let why = format!("{} is not a file; give the run another directory", path.display());
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_manifest(path: &Path) -> io::Result<Option<String>> {
    if !is_plain(path)? {
        return Ok(None);
    }
    let file = File::open(path)?;
    if file.metadata()?.len() > MOST_TEXT {
        let why = format!("{} is too long to be a manifest", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut bytes = Vec::new();
    file.take(MOST_TEXT).read_to_end(&mut bytes)?;
    // What is not text fails the checksum.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Files without a token cannot be told from the user's, so that such a run is not taken up, and nothing of it deleted.
fn refuse_old_layout(directory: &Path) -> io::Result<()> {
    let (name, head) = OLD;
    let path = directory.join(name);
    let mut found = Vec::new();
    if fs::symlink_metadata(&path).is_ok_and(|data| data.is_file())
        && let Ok(file) = File::open(&path)
    {
        let _ = file.take(head.len() as u64).read_to_end(&mut found);
    }
    if found != head.as_bytes() {
        return Ok(());
    }
    let why = "an earlier version of Stratape began a run there, whose files are not told from others by their names. End the \
               run with that version, or delete its `manifest`, `lock`, `snapshot-*`, `final-*` and `adjoint-*`";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
